"""A table becomes numbers as scikit-learn makes them, in any order of its columns; what cannot be is said by name."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from separatrix.app.tables.columns import Column, Decision
from separatrix.app.tables.encoding import Encoding, learn_encoding
from separatrix.app.tables.errors import TableError
from separatrix.app.tables.table import Columns, LevelCodes


def decisions(columns, missing=True):
    found = []
    for name, values in columns.items():
        kind = "number" if isinstance(values, np.ndarray) and values.dtype.kind == "f" else "category"
        gaps = sum(v is None or v != v for v in values)
        found.append(Decision(name, kind, "as it is", gaps if missing else 0))
    return found


@st.composite
def tables(draw):
    n = draw(st.integers(2, 30))
    columns = {}
    for j in range(draw(st.integers(1, 4))):
        cells = st.floats(-1e6, 1e6) | st.just(np.nan)
        columns[f"n{j}"] = np.array([1.5, *draw(st.lists(cells, min_size=n, max_size=n))])
    for j in range(draw(st.integers(1, 4))):
        cells = st.sampled_from(["a", "b", "c", "é"]) | st.none()
        columns[f"c{j}"] = np.array(["a", *draw(st.lists(cells, min_size=n, max_size=n))], object)
    return columns


@settings(max_examples=40, deadline=None)
@given(tables(), st.booleans())
def test_the_matrix_is_that_of_scikit_learn(columns, standardise):
    encoding = learn_encoding(Columns(columns), decisions(columns), missing="impute", standardise=standardise)
    found = dict(zip(encoding.names, encoding.matrix(Columns(columns)).T, strict=True))
    expected = {}
    for column in encoding.columns:
        values = columns[column.name][:, None]
        if column.kind == "number":
            imputer = SimpleImputer(strategy="constant", fill_value=column.fill or 0.0)
            scaler = StandardScaler().fit(imputer.fit_transform(values))
            scaler.mean_, scaler.scale_ = np.array([column.center]), np.array([column.scale])
            expected[column.name] = scaler.transform(imputer.transform(values))[:, 0]
            there = values[~np.isnan(values)]
            if standardise:
                assert column.center == pytest.approx(there.mean(), rel=1e-12, abs=1e-12)
                deviation = there.std() if there.min() < there.max() else 1.0
                assert column.scale == pytest.approx(deviation, rel=1e-9)
        else:
            filled = np.array([column.reference if v is None else v for v in values[:, 0]], object)[:, None]
            made = OneHotEncoder(drop=[column.reference], sparse_output=False).fit(filled)
            for name, z in zip(made.get_feature_names_out([column.name]), made.transform(filled).T, strict=True):
                expected[name.replace(f"{column.name}_", f"{column.name}=", 1)] = z
        if column.indicator:
            gap = np.nan if column.kind == "number" else None
            shown = MissingIndicator(missing_values=gap, features="all").fit_transform(values)[:, 0]
            expected[f"{column.name} is missing"] = shown.astype(float)
    assert found.keys() == expected.keys()
    for name, z in expected.items():
        assert found[name].tobytes() == np.ascontiguousarray(z).tobytes(), name


@settings(max_examples=30, deadline=None)
@given(tables(), st.randoms())
def test_the_order_of_the_columns_and_columns_beside_them_do_not_matter(columns, chance):
    encoding = learn_encoding(Columns(columns), decisions(columns), missing="impute")
    names = [*columns, "more"]
    chance.shuffle(names)
    other = Columns({name: columns.get(name, columns["n0"]) for name in names})
    assert (encoding.matrix(other) == encoding.matrix(Columns(columns))).all()


@settings(max_examples=30, deadline=None)
@given(tables())
def test_an_encoding_is_its_dictionary(columns):
    encoding = learn_encoding(Columns(columns), decisions(columns), missing="impute", standardise=True)
    assert Encoding.from_dict(encoding.to_dict()) == encoding


def test_many_rows_and_columns_are_written_block_by_block():
    rng = np.random.default_rng(0)
    n, levels = 9000, tuple(f"l{k:02}" for k in range(40))
    columns = {f"n{j}": rng.normal(size=n) for j in range(21)}
    columns |= {f"c{j}": LevelCodes(rng.integers(0, 40, n).astype(np.int32), levels) for j in range(2)}
    encoding = Encoding((
        *(Column(f"n{j}", "number") for j in range(0, 21, 2)), Column("c1", "category", levels[::-1]),
        *(Column(f"n{j}", "number") for j in range(1, 21, 2)), Column("c0", "category", levels),
    ))  # fmt: skip
    X = encoding.matrix(Columns(columns))
    assert X.flags.c_contiguous
    assert X.dtype == np.float64
    for j, name in enumerate(encoding.names):
        if "=" in name:
            column, level = name.split("=")
            assert (X[:, j] == (columns[column].codes == levels.index(level))).all()
        else:
            assert (X[:, j] == columns[name]).all()


def test_the_most_frequent_level_is_the_reference_and_the_first_of_equals():
    columns = {"c": np.array(["b", "z", "b", "z", "a"], object)}
    assert learn_encoding(Columns(columns), decisions(columns)).columns[0].levels == ("b", "z", "a")


def test_huge_numbers_are_standardised_without_overflow():
    columns = {"n": np.array([-1e300, 1e300])}
    assert learn_encoding(Columns(columns), decisions(columns), standardise=True).columns[0].scale == 1e300


# ------------------------------------------------------------------------------------------------------- what is wrong


AGE, CITY = Column("age", "number"), Column("city", "category", ("Bonn", "Rome"))


def refused(columns, encoding, **how):
    with pytest.raises(TableError) as caught:
        Encoding(tuple(encoding)).matrix(Columns(columns, "data.csv"), **how)
    return caught.value


def test_a_missing_value_that_nothing_stands_for_is_named_with_its_place():
    error = refused({"age": np.array([1.0, np.nan, np.nan])}, [AGE])
    assert (error.column, str(error.place)) == ("age", "data.csv row 2")
    assert "2 values are missing" in str(error)
    assert "learn_encoding(table, decisions, missing='impute')" in str(error)
    error = refused({"city": ["Rome", None]}, [CITY])
    assert (error.column, str(error.place)) == ("city", "data.csv row 2")


def test_a_level_that_was_not_there_is_named_unless_it_counts_as_the_reference():
    columns = {"city": ["Rome", "Oslo", "Oslo"]}
    error = refused(columns, [CITY])
    assert (error.column, error.value, str(error.place)) == ("city", "Oslo", "data.csv row 2")
    assert "2 such values" in str(error)
    assert "unseen='reference'" in str(error)
    assert Encoding((CITY,)).matrix(Columns(columns), unseen="reference").tolist() == [[1.0], [0.0], [0.0]]


def test_a_level_that_no_row_has_is_no_error():
    coded = LevelCodes(np.array([0, 0], np.int32), ("Rome", "Oslo"))
    assert Encoding((CITY,)).matrix(Columns({"city": coded})).tolist() == [[1.0], [1.0]]


def test_a_column_that_is_not_there_is_named():
    error = refused({"city": ["Rome"]}, [AGE, CITY, Column("size", "number")])
    assert error.column == "age"
    assert "'size'" in str(error)
    assert "'city'" in str(error)


def test_infinity_is_named():
    assert refused({"age": np.array([1.0, np.inf])}, [AGE]).place.file == "data.csv row 2"
    filled = Column("age", "number", fill=1.0, indicator=True)
    assert refused({"age": np.array([np.nan, -np.inf])}, [filled]).value == "-inf"


def test_missing_values_at_fit_are_an_error_unless_they_are_filled():
    columns = {"age": np.array([1.0, np.nan, 3.0])}
    with pytest.raises(TableError, match="missing='impute'") as caught:
        learn_encoding(Columns(columns), decisions(columns))
    assert (caught.value.column, caught.value.place.file) == ("age", "the table row 2")
    encoding = learn_encoding(Columns(columns), decisions(columns), missing="impute")
    assert encoding.matrix(Columns(columns)).tolist() == [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]


def test_a_column_of_nothing_and_a_table_of_no_columns_are_refused():
    with pytest.raises(TableError, match="every value is missing"):
        learn_encoding(Columns({"a": np.array([np.nan])}), [Decision("a", "number", "", 1)], missing="impute")
    with pytest.raises(TableError, match="no column is left"):
        learn_encoding(Columns({"a": np.array([1.0])}), [Decision("a", "ignored", "")])


def test_two_features_of_one_name_are_refused():
    with pytest.raises(TableError, match="'a=b'"):
        Encoding((Column("a", "category", ("x", "b")), Column("a=b", "number")))


@pytest.mark.parametrize(("together", "many"), [(1, 1 << 40), (1 << 40, 0), (1, 0), (4000, 0)])
def test_the_matrix_is_the_same_however_many_columns_and_threads_write_it(monkeypatch, together, many):
    rng = np.random.default_rng(3)
    columns = {"a": rng.normal(size=5000), "b": rng.choice(list("xyz"), 5000), "c": rng.normal(size=5000)}
    columns["a"][7] = np.nan
    encoding = learn_encoding(Columns(columns), decisions(columns), missing="impute", standardise=True)
    alone = encoding.matrix(Columns(columns))
    monkeypatch.setattr("separatrix.app.tables.encoding.TOGETHER", together)
    monkeypatch.setattr("separatrix.app.tables.encoding.MANY", many)
    assert encoding.matrix(Columns(columns)).tobytes() == alone.tobytes()


def test_a_number_that_overflows_when_it_is_scaled_is_an_infinity_that_the_model_names():
    encoding = Encoding((Column("a", "number", center=-1e308, scale=1e-10),))
    X = encoding.matrix(Columns({"a": np.array([1.0, 1e308])}))
    assert not np.isfinite(X).any()
