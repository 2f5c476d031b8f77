"""Columns that come straight out of the reader are those of the table, and so are all that is said of them."""

import numpy as np
import pytest

from separatrix.app.tables import open_table as open_table_module
from separatrix.app.tables import opening
from separatrix.app.tables.encoding import learn_encoding, pays, table_rows
from separatrix.app.tables.errors import TableError
from separatrix.app.tables.kinds import decide
from separatrix.app.tables.opening import open_table

ROWS = 1500


def lines(seed=0, gaps=True):
    """Numbers, whole numbers, levels, levels that are numbers, some of each missing."""
    rng = np.random.default_rng(seed)
    columns = [
        rng.normal(1000, 3, ROWS).round(3), rng.integers(0, 10**6, ROWS), rng.choice(["a", "b", 'c "d", e'], ROWS),
        rng.integers(1, 4, ROWS), rng.choice(["no", "yes"], ROWS),
    ]  # fmt: skip
    cells = [["" if gaps and j < 4 and rng.random() < 0.05 else str(v) for v in column]
             for j, column in enumerate(columns)]  # fmt: skip
    return [[cell if '"' not in cell else '"c ""d"", e"' for cell in row] for row in zip(*cells, strict=True)]


def written(folder, rows, name="t.csv", names=("x", "count", "kind", "level", "target")):
    (folder / name).write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    return str(folder / name)


@pytest.fixture(params=["arrays", "table"])
def way(request, monkeypatch):
    if request.param == "table":
        monkeypatch.setattr(opening, "ROOM", 0)
    return request.param


def both(monkeypatch, *sources, **options):
    straight = open_table(sources, **options)
    monkeypatch.setattr(opening, "ROOM", 0)
    return straight, open_table(sources, **options)


@pytest.mark.parametrize("many", [0, 1 << 16], ids=["by threads", "one by one"])
def test_straight_or_by_a_table_the_columns_are_the_same(tmp_path, monkeypatch, many):
    monkeypatch.setattr(open_table_module, "MANY", many)
    one, two = written(tmp_path, lines(0)), written(tmp_path, lines(1), "u.csv")
    straight, table = both(monkeypatch, one, two)
    with straight, table:
        assert straight._loaded.arrays
        assert not table._loaded.arrays
        assert straight.rows == table.rows == 2 * ROWS
        assert decide(straight, target="target") == decide(table, target="target")
        for name in straight.names:
            assert straight.profile(name) == table.profile(name)
            assert straight.coded(name).levels == table.coded(name).levels
            assert np.array_equal(straight.coded(name).codes, table.coded(name).codes)
        for name in ("x", "count", "level"):
            assert np.array_equal(straight.numbers(name), table.numbers(name), equal_nan=True)
        assert straight.place(ROWS + 3) == table.place(ROWS + 3)
        assert straight.fingerprint() == table.fingerprint()


def test_the_columns_of_a_second_file_may_stand_in_another_order(tmp_path, way):
    rows = lines(2)
    one = written(tmp_path, rows)
    two = written(tmp_path, [row[::-1] for row in rows], "u.csv", ("target", "level", "kind", "count", "x"))
    with open_table([one, two]) as table:
        assert bool(table._loaded.arrays) is (way == "arrays")
        for name in ("x", "count"):
            first, second = np.split(table.numbers(name), 2)
            assert np.array_equal(first, second, equal_nan=True)
        first, second = np.split(table.coded("kind").codes, 2)
        assert np.array_equal(first, second)


@pytest.mark.parametrize("cell", ["n/a", "inf", "nan"])
def test_a_cell_that_is_no_number_is_named_by_its_line(tmp_path, way, cell):
    rows = lines(3, gaps=False)
    rows[1200][0] = cell
    with open_table([written(tmp_path, rows)]) as table, pytest.raises(TableError) as error:
        table.numbers("x")
    assert (error.value.place.line, error.value.value) == (1202, cell)
    assert "1 499" in str(error.value.because)


def test_levels_of_which_one_is_no_number(tmp_path, way):
    rows = lines(4, gaps=False)
    for row in rows[::50]:
        row[3] = "many"
    with (
        open_table([written(tmp_path, rows)]) as table,
        pytest.raises(TableError, match="'many' is not a number") as error,
    ):
        table.numbers("level")
    assert error.value.place.line == 2
    assert "30 values of 'level' are not, the other 1 470 are numbers" in str(error.value.because)


def test_a_level_that_no_sample_saw_is_read_all_the_same(tmp_path, way):
    rows = lines(5) * 40
    rows[31_000][2] = "never seen"
    with open_table([written(tmp_path, rows)]) as table:
        codes, levels = table.coded("kind")
        assert levels[codes[31_000]] == "never seen"


def test_what_is_written_has_the_cells_as_they_stand(tmp_path, way):
    rows = lines(6)
    with open_table([written(tmp_path, rows)]) as table:
        table.write(str(tmp_path / "out.csv"), "csv", {"score": np.arange(ROWS) / 8})
        table.write(str(tmp_path / "only.csv"), "csv", {"score": np.arange(ROWS) / 8}, only=True)
    found = (tmp_path / "out.csv").read_text().splitlines()
    assert found[0] == "x,count,kind,level,target,score"
    assert found[9] == ",".join([*rows[8], "1.0"])
    assert (tmp_path / "only.csv").read_text().splitlines()[:3] == ["score", "0.0", "0.125"]


@pytest.mark.parametrize("options", [{"where": "x > 1000"}, {"sample": 100}, {"keep_text": True}])
def test_who_needs_a_table_gets_one(tmp_path, options):
    with open_table([written(tmp_path, lines(7))], **options) as table:
        assert not table._loaded.arrays
        assert 0 < table.rows <= ROWS
        assert np.isfinite(table.numbers("count")).any()


@pytest.mark.parametrize("standardise", [False, True])
def test_rows_without_zeros_are_the_matrix(tmp_path, standardise):
    rows = lines(8)
    with open_table([written(tmp_path, rows)], category=("level",)) as table:
        decisions = decide(table, target="target", category=("level",))
        encoding = learn_encoding(table, decisions, missing="impute", standardise=standardise)
        assert any(column.indicator for column in encoding.columns)
        thin = table_rows(encoding, table)
        assert thin.names == encoding.names
        assert np.array_equal(thin.dense(), encoding.matrix(table))
        assert pays(encoding, 10**7) is False  # there are nearly as many columns as features


def test_zeros_are_left_out_of_many_rows_with_many_levels(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("kind,target\n" + "".join(f"k{i % 30},{'ab'[i % 2]}\n" for i in range(300)))
    with open_table([str(path)]) as table:
        encoding = learn_encoding(table, decide(table, target="target"))
        assert len(encoding.names) == 29
        assert not pays(encoding, 1000)
        assert pays(encoding, 10**6)
