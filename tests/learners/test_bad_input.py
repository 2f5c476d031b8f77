"""Bad input: each error is one line that names the argument, the first offender where there is one, and a way out."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

from separatrix import CrossValidation, LearningRate, LogisticRegression
from separatrix.features import GaussianBasis

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.logistic(size=60) > 0).astype(int)
NAMES = ["age", "bmi", "dose"]
FRAME = pd.DataFrame(X, columns=NAMES)
ONES = np.ones(60)
MODEL = LogisticRegression().fit(X, Y)
NAMED = LogisticRegression().fit(FRAME, Y)


def with_cell(value: Any, i: int = 5, j: int = 1) -> Any:
    spoilt = X.astype(object) if isinstance(value, str) else X.copy()
    spoilt[i, j] = value
    return spoilt


def wide_with(value: float) -> Any:
    table = sparse.lil_array((1500, 3000))
    table[:, 0], table[7, 2900] = np.arange(1500) % 5, value
    return table.tocsr()


def with_entry(column: Any, value: Any, i: int = 7) -> Any:
    spoilt = np.array(column, dtype=object if value is None else float)
    spoilt[i] = value
    return spoilt


def framed(table: Any) -> Any:
    return pd.DataFrame(table, columns=NAMES)


def fitting(rows: Any = X, labels: Any = Y, weight: Any = None, **settings: Any) -> Callable[[], Any]:
    return lambda: LogisticRegression(**settings).fit(rows, labels, sample_weight=weight)


class Case(NamedTuple):
    call: Callable[[], Any]
    words: tuple[str, ...]
    """What the message must say."""
    error: type[Exception] = ValueError


CASES = {
    # features
    "centres of the wrong width": Case(
        fitting(features=GaussianBasis([[0.0, 1.0]])),
        ("centres has shape (1, 2)", "X has 3 columns", "for each centre"),
    ),
    "a transformer of another library": Case(
        fitting(features=StandardScaler()), ("features has StandardScaler()", "make_pipeline"), TypeError
    ),
    # X
    "NaN at fit": Case(fitting(with_cell(np.nan)), ("is NaN", "X[5, 'x1']", "impute", "drop the row")),
    "infinity at fit": Case(fitting(with_cell(np.inf)), ("is inf", "X[5, 'x1'] is inf", "clip")),
    "minus infinity": Case(fitting(with_cell(-np.inf)), ("X[5, 'x1'] is -inf", "clip")),
    "NaN in a frame": Case(fitting(framed(with_cell(np.nan))), ("is NaN", "X[5, 'bmi']")),
    "null in polars": Case(
        fitting(pl.DataFrame({"a": [1.0, 2, 3, 4], "b": [1, 2, None, 3]}), [0, 1, 0, 1]), ("is NaN", "X[2, 'b']")
    ),
    "NA in pandas": Case(
        fitting(pd.DataFrame({"a": [1.0, 2, 3], "b": pd.array([1, None, 3], dtype="Int64")}), [0, 1, 0]),
        ("is NaN", "X[1, 'b']"),
    ),
    "NaN and n < d": Case(fitting(with_cell(np.nan, 1, 2)[:3], [0, 1, 1]), ("is NaN", "X[1, 'x2']")),
    "NaN at predict": Case(lambda: MODEL.predict(with_cell(np.nan)), ("is NaN", "X[5, 'x1']", "impute")),
    "infinity at predict": Case(lambda: MODEL.predict_proba(with_cell(np.inf)), ("X[5, 'x1'] is inf",)),
    "minus infinity at predict": Case(lambda: MODEL.distance(with_cell(-np.inf)), ("X[5, 'x1'] is -inf",)),
    "NaN in a frame at predict": Case(lambda: NAMED.predict(framed(with_cell(np.nan))), ("NaN", "X[5, 'bmi']")),
    "a word": Case(fitting(with_cell("tall")), ("X[5, 1] is 'tall'", "not a number", "encode")),
    "a word in a frame": Case(fitting(framed(with_cell("tall"))), ("X[5, 'bmi'] is 'tall'", "encode")),
    "a word at predict": Case(lambda: MODEL.predict(with_cell("tall")), ("X[5, 1] is 'tall'", "encode")),
    "a column of words in polars": Case(
        fitting(pl.DataFrame({"a": [1.0, 2], "b": ["x", "y"]}), [0, 1]), ("X[0, 'b'] is 'x'", "encode")
    ),
    "too large for sums": Case(fitting(np.where(X > 1, 1e300, X)), ("overflow", "column", "1e+300", "larger units")),
    "no rows": Case(fitting(X[:0], Y[:0]), ("0 sample(s)", "a minimum of 1 is required")),
    "no columns": Case(fitting(X[:, :0]), ("0 feature(s)", "a minimum of 1 is required")),
    "one row without brackets": Case(
        lambda: MODEL.predict(X[0]), ("Expected 2D array, got 1D array", "reshape(1, -1)")
    ),
    "a column without brackets": Case(fitting(X[:, 0]), ("Expected 2D array, got 1D array", "reshape(-1, 1)")),
    "three dimensions": Case(fitting(X[None]), ("dim 3",)),
    "complex": Case(fitting(X + 1j), ("Complex data not supported",)),
    "NaN in a sparse matrix": Case(fitting(sparse.csr_array(with_cell(np.nan))), ("is NaN", "X[5, 'x1']", "impute")),
    "infinity in sparse columns": Case(
        fitting(sparse.csc_array(with_cell(np.inf))), ("is inf", "X[5, 'x1'] is inf", "clip")
    ),
    "NaN in a sparse matrix at predict": Case(
        lambda: MODEL.predict(sparse.coo_array(with_cell(np.nan))), ("is NaN", "X[5, 'x1']")
    ),
    "NaN among many sparse columns": Case(
        fitting(wide_with(np.nan), np.arange(1500) % 2, l2=0.1), ("is NaN", "X[7, 'x2900']")
    ),
    "Newton with many sparse columns": Case(
        fitting(wide_with(1.0), np.arange(1500) % 2, solver="newton"),
        ("solver='newton' needs a 3000 × 3000 matrix", "1500 rows of 3000 columns", "'lbfgs'"),
    ),
    # y
    "NaN in y": Case(fitting(labels=with_entry(Y, np.nan)), ("y[7] is NaN",)),
    "infinity in y": Case(fitting(labels=with_entry(Y, np.inf)), ("y[7] is inf",)),
    "a label beyond 64 bits": Case(
        fitting(labels=[10**30 if i == 7 else k for i, k in enumerate(Y.tolist())]), ("y[7]", "64 bits", "texts")
    ),
    "None in y": Case(fitting(labels=with_entry(Y, None)), ("y[7] is None", "y[7]", "label")),
    "no y": Case(fitting(labels=None), ("requires y to be passed",)),
    "one class": Case(fitting(labels=ONES), ("y has one class only", "needs rows of two classes")),
    "one word": Case(fitting(labels=["a"] * 60), ("y has one class only", "'a'", "needs rows of two classes")),
    "continuous y": Case(fitting(labels=RNG.normal(size=60)), ("Unknown label type: continuous",)),
    "y in two columns": Case(fitting(labels=np.column_stack([Y, Y])), ("y[0] sums to", "must sum to one", "Divide")),
    "fewer labels than rows": Case(fitting(labels=Y[:-1]), ("60", "59", "samples")),
    # sample_weight
    "a negative weight": Case(fitting(weight=with_entry(ONES, -1.0)), ("sample_weight[7] is -1.0", "zero or more")),
    "a NaN weight": Case(fitting(weight=with_entry(ONES, np.nan)), ("sample_weight[7] is nan", "NaN", "finite")),
    "an infinite weight": Case(fitting(weight=with_entry(ONES, np.inf)), ("sample_weight[7] is inf", "finite")),
    "no weight at all": Case(fitting(weight=0 * ONES), ("sample_weight is zero for every sample", "each class")),
    "a class without weight": Case(fitting(weight=Y), ("class", "sample_weight zero", "one class only")),
    "too few weights": Case(fitting(weight=ONES[1:]), ("sample_weight has shape (59,)", "each of the 60 rows")),
    "a table of weights": Case(fitting(weight=np.ones((60, 2))), ("sample_weight has shape (60, 2)", "60 rows")),
    # parameters
    "an unknown class": Case(fitting(class_weight={0: 1, 7: 2}), ("class_weight names 7", "classes [0, 1]")),
    "a negative class weight": Case(fitting(class_weight={0: -1}), ("class_weight[0] is -1", "positive")),
    "a NaN class weight": Case(fitting(class_weight={0: np.nan}), ("class_weight[0] is nan", "finite")),
    "a wrong class_weight": Case(fitting(class_weight="even"), ("class_weight is 'even'", "'balanced' or a dict")),
    "a list of class weights": Case(fitting(class_weight=[1, 2]), ("class_weight is [1, 2]", "'balanced' or a dict")),
    "a wrong solver": Case(
        fitting(solver="sag"), ("solver is 'sag'", "'auto', 'newton', 'gauss-newton', 'lbfgs', 'gradient'")
    ),
    "a wrong objective": Case(fitting(objective="hinge"), ("objective is 'hinge'", "'likelihood'")),
    "a wrong init": Case(fitting(init="ones"), ("init is 'ones'", "'least-squares', 'zero', 'random'")),
    "an init of a wrong size": Case(fitting(init=np.ones(7)), ("init has 7 numbers", "3 weights")),
    "an init of NaN": Case(fitting(init=[1.0, np.nan, 0.0]), ("init", "finite")),
    "no init": Case(fitting(init=None), ("init",)),
    "a negative l2": Case(fitting(l2=-1), ("l2 is -1", "at least 0")),
    "an l2 of NaN": Case(fitting(l2=np.nan), ("l2 is nan", "finite")),
    "an l2 in words": Case(fitting(l2="strong"), ("l2 is 'strong'", "number")),
    "a tol of zero": Case(fitting(tol=0), ("tol is 0", "above 0")),
    "no passes": Case(fitting(max_passes=0), ("max_passes is 0", "above 0")),
    "no threads": Case(fitting(n_threads=0), ("n_threads is 0", "at least 1")),
    "no starts": Case(fitting(objective="squared", starts=0), ("starts is 0", "at least 1")),
    "a start and a half": Case(fitting(objective="squared", starts=1.5), ("starts is 1.5", "whole number")),
    "starts of None": Case(fitting(objective="squared", starts=None), ("starts is None", "number")),
    "a rate of zero": Case(fitting(solver="gradient", learning_rate=0), ("learning_rate is 0", "above 0")),
    "a negative rate": Case(fitting(solver="stochastic", learning_rate=-1), ("learning_rate is -1", "above 0")),
    "a rate of NaN": Case(fitting(solver="gradient", learning_rate=np.nan), ("learning_rate is nan", "finite")),
    "an infinite rate": Case(fitting(solver="gradient", learning_rate=np.inf), ("learning_rate is inf", "finite")),
    "a rate in words": Case(
        fitting(solver="stochastic", learning_rate="fast"),
        ("learning_rate is 'fast'", "None, a number", "LearningRate("),
    ),
    "a list of rates": Case(
        fitting(solver="stochastic", learning_rate=[0.1, 0.2]), ("learning_rate is [0.1", "number")
    ),
    "a wrong order": Case(
        fitting(solver="stochastic", order="random"), ("order is 'random'", "'permutation', 'replacement', 'cyclic'")
    ),
    "an averaging in words": Case(
        fitting(solver="stochastic", averaging="yes"), ("averaging is 'yes'", "True or False")
    ),
    "a warm start in words": Case(fitting(warm_start="yes"), ("warm_start is 'yes'", "True or False")),
    # parameters that do not go together: both are named, and a way out
    "Gauss–Newton on the likelihood": Case(
        fitting(solver="gauss-newton"),
        ("solver='gauss-newton'", "objective='likelihood'", "solver='newton'", "objective='squared'"),
    ),
    "a rate for Newton": Case(
        fitting(solver="newton", learning_rate=0.1),
        ("solver='newton'", "learning_rate=0.1", "'gradient'", "'stochastic'"),
    ),
    "a rate for auto": Case(
        fitting(learning_rate=0.1), ("solver='auto'", "learning_rate=0.1", "'gradient'", "'stochastic'", "None")
    ),
    "a rate for L-BFGS": Case(fitting(solver="lbfgs", learning_rate=0.1), ("solver='lbfgs'", "learning_rate=0.1")),
    "a rate for Gauss–Newton": Case(
        fitting(objective="squared", solver="gauss-newton", learning_rate=0.1),
        ("solver='gauss-newton'", "learning_rate=0.1"),
    ),
    "a schedule for all rows": Case(
        fitting(solver="gradient", learning_rate=LearningRate(0.1, power=0.5)),
        ("solver='gradient'", "learning_rate=LearningRate(initial=0.1, power=0.5", "solver='stochastic'", "a number"),
    ),
    "averages of Newton's steps": Case(
        fitting(solver="newton", averaging=True), ("'newton'", "averaging=True", "'stochastic'")
    ),
    "averages of auto's steps": Case(fitting(averaging=True), ("solver='auto'", "averaging=True", "'stochastic'")),
    "draws for Newton": Case(
        fitting(solver="newton", order="replacement"), ("'newton'", "order='replacement'", "'stochastic'")
    ),
    "an order for auto": Case(fitting(order="cyclic"), ("solver='auto'", "order='cyclic'", "'stochastic'")),
    "a penalty to be chosen row by row": Case(
        fitting(solver="stochastic", l2="cv"), ("solver='stochastic'", "l2='cv'", "solver='auto'")
    ),
    "a plan for a penalty row by row": Case(
        fitting(solver="stochastic", l2=CrossValidation(folds=3)), ("solver='stochastic'", "l2='cv'", "solver='auto'")
    ),
    # models
    "predict before fit": Case(lambda: LogisticRegression().predict(X), ("not fitted", "fit"), NotFittedError),
    "probabilities before fit": Case(lambda: LogisticRegression().predict_proba(X), ("not fitted",), NotFittedError),
    "logs before fit": Case(lambda: LogisticRegression().predict_log_proba(X), ("not fitted",), NotFittedError),
    "distance before fit": Case(lambda: LogisticRegression().distance(X), ("not fitted",), NotFittedError),
    "influence before fit": Case(lambda: LogisticRegression().influence(X, Y), ("not fitted",), NotFittedError),
    "fewer columns at predict": Case(lambda: MODEL.predict(X[:, :2]), ("X has 2 features", "expecting 3")),
    "other names": Case(
        lambda: NAMED.predict(FRAME.rename(columns={"bmi": "mass"})), ("X lacks the column 'bmi'", "at fit")
    ),
    "another order": Case(
        lambda: NAMED.predict(FRAME[["dose", "age", "bmi"]]),
        ("X has the column 'dose' at place 0", "it was 'age'", "X[list(model.feature_names_in_)]"),
    ),
    "a missing name": Case(lambda: NAMED.predict(FRAME[["age", "bmi"]]), ("X lacks the column 'dose'", "dose")),
    "one name too many": Case(
        lambda: NAMED.predict(FRAME.assign(z=1)), ("X has a column 'z' that was not there at fit", "z")
    ),
    "another order in polars": Case(
        lambda: NAMED.predict(pl.DataFrame(FRAME[["dose", "age", "bmi"]])),
        ("X has the column 'dose' at place 0", "it was 'age'"),
    ),
    "an unknown label of influence": Case(lambda: MODEL.influence(X, Y + 1), ("y[", "[0, 1]", "60 rows")),
    "too few labels of influence": Case(lambda: MODEL.influence(X, Y[1:]), ("y has shape (59,)", "60 rows")),
}

MORE_THAN_A_LINE = {
    "one row without brackets": "scikit-learn's message prints the rows",
    "a column without brackets": "scikit-learn's message prints the rows",
    "complex": "scikit-learn's message prints the rows",
    "other names": "the tests of scikit-learn demand its own lines after ours",
    "another order": "the tests of scikit-learn demand its own lines after ours",
    "a missing name": "the tests of scikit-learn demand its own lines after ours",
    "one name too many": "the tests of scikit-learn demand its own lines after ours",
    "another order in polars": "the tests of scikit-learn demand its own lines after ours",
}


def message_of(case: Case) -> str:
    with pytest.raises(case.error) as caught:
        case.call()
    return str(caught.value)


@pytest.mark.parametrize("name", CASES)
def test_the_error_says_what_is_wrong_and_what_to_do(name):
    message = message_of(CASES[name])
    for words in CASES[name].words:
        assert words in message
    if name not in MORE_THAN_A_LINE:
        assert "\n" not in message.strip()
        assert 15 < len(message) < 250


@pytest.mark.parametrize("name", [name for name, why in MORE_THAN_A_LINE.items() if "after ours" in why])
def test_the_first_line_about_names_stands_on_its_own(name):
    first = message_of(CASES[name]).splitlines()[0]
    assert first.startswith("X")
    assert "at fit" in first


def test_the_first_offender_is_named_not_a_later_one():
    spoilt = X.copy()
    spoilt[40, 0], spoilt[12, 2], spoilt[12, 1] = np.nan, np.nan, np.inf
    with pytest.raises(ValueError, match=r"X\[12, 'x1'\] is inf"):
        LogisticRegression().fit(spoilt, Y)


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient"])
@pytest.mark.parametrize("row", [0, 70_001, 119_999])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_the_compiled_pass_finds_a_lone_offender_anywhere(solver, row, value):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(120_000, 4))
    rows[row, 3] = value
    word = "NaN" if np.isnan(value) else "inf"
    found = pytest.raises(ValueError, match=rf"X\[{row}, 'x3'\] is {word}")
    with found, np.errstate(invalid="ignore"):
        LogisticRegression(solver=solver).fit(rows, rng.integers(0, 2, size=len(rows)))


def test_an_infinity_is_our_error_without_a_warning_of_numpys():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(120_000, 4))
    rows[0, 3] = np.inf
    with pytest.raises(ValueError, match="inf"):
        LogisticRegression(solver="lbfgs").fit(rows, rng.integers(0, 2, size=len(rows)))


def test_an_offender_counts_even_where_the_weight_is_zero():
    weight = np.ones(60)
    weight[5] = 0
    with pytest.raises(ValueError, match=r"X\[5, 'x1'\] is NaN"):
        LogisticRegression().fit(with_cell(np.nan), Y, weight)


def test_a_column_that_has_weight_zero_in_the_rule_still_may_not_hold_nan():
    model = LogisticRegression(l2=1e3).fit(np.column_stack([X[:, 0], np.zeros(60)]), Y)
    assert model.coef_[0, 1] == 0
    with pytest.raises(ValueError, match="is NaN"):
        model.predict([[1.0, np.nan]])


def test_an_infinity_is_found_even_where_another_would_cancel_it():
    with pytest.raises(ValueError, match="inf"):
        MODEL.predict([[np.inf, np.inf, -np.inf]])


def test_bad_input_leaves_an_earlier_fit_in_place():
    model = LogisticRegression().fit(X, Y)
    weights = model.coef_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.fit(with_cell(np.nan), Y)
    assert model.coef_.tolist() == weights.tolist()


def test_an_array_for_a_model_that_knows_names_is_taken_with_a_warning():
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert NAMED.predict(X).tolist() == NAMED.predict(FRAME).tolist()


# ---------------------------------------------------------------------- what scikit-learn and NumPy leave unsaid


def test_nan_in_y_is_named_by_its_row():
    message = message_of(CASES["NaN in y"])
    assert "y[7]" in message
    assert "label" in message


def test_a_missing_word_in_y_is_named_by_its_row():
    words = pd.Series(np.where(Y == 1, "yes", "no"))
    words[7] = None
    with pytest.raises(ValueError, match=r"y\[7\]"):
        LogisticRegression().fit(X, words)


@pytest.mark.parametrize("name", ["one class", "a class without weight"])
def test_classes_are_printed_as_the_user_wrote_them(name):
    assert "np." not in message_of(CASES[name])


def test_words_as_weights_are_blamed_on_sample_weight():
    with pytest.raises(ValueError, match="sample_weight"):
        LogisticRegression().fit(X, Y, sample_weight=["heavy"] * 60)


def test_words_as_a_start_are_blamed_on_init():
    with pytest.raises(ValueError, match="init"):
        LogisticRegression(init=["a", "b", "c"]).fit(X, Y)


def test_a_start_with_nan_is_told_so():
    assert "NaN" in message_of(CASES["an init of NaN"])


def test_a_fraction_of_a_thread_is_refused():
    with pytest.raises(ValueError, match=r"n_threads is 1\.5"):
        LogisticRegression(n_threads=1.5).fit(X, Y)


def test_mismatching_lengths_name_both_arguments():
    message = message_of(CASES["fewer labels than rows"])
    assert "X" in message
    assert "y" in message.replace("many", "").split()


def test_a_column_of_dates_is_named():
    table = pd.DataFrame({"a": np.arange(4.0), "born": pd.date_range("2020-01-01", periods=4)})
    with pytest.raises((ValueError, TypeError), match="born"):
        LogisticRegression().fit(table, [0, 1, 0, 1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_array_of_floats_is_checked_as_scikit_learn_checks_it(dtype):
    rng = np.random.default_rng(0)
    named = pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c"])
    y, plain = (named["a"] + rng.normal(size=30) > 0).astype(int), named.to_numpy(dtype)
    model = LogisticRegression(l2=1.0).fit(named, y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(plain)
    model.fit(plain[:, :2], y)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    assert model.rule_.columns == ("x0", "x1")
    assert model.predict(plain[:, :2]).shape == (30,)
    for wrong in (plain, plain[:, :1]):
        with pytest.raises(ValueError, match=rf"X has {wrong.shape[1]} features, .* is expecting 2"):
            model.predict(wrong)
    for wrong in (plain[0], plain[:0, :2], plain[:, :0]):
        with pytest.raises(ValueError, match=r"Expected 2D array|minimum of 1"):
            model.fit(wrong, y[: len(wrong)])
    assert model.n_features_in_ == 2


@pytest.mark.parametrize("unit", [1e-200, 1e-155])
def test_numbers_whose_squares_vanish_are_named(unit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2)) * unit
    y = (rng.random(50) < 0.5).astype(int)
    with pytest.raises(ValueError, match=r"X\['x\d'\] reaches .* only, no other column more, and its squares vanish"):
        LogisticRegression().fit(X, y)


def test_a_column_of_categories_is_named():
    import pandas as pd

    X = pd.DataFrame({"a": [True, False] * 20, "c": pd.Categorical(["u", "v"] * 20)})
    with pytest.raises(ValueError, match=r"X\[0, 'c'\] is 'u', not a number"):
        LogisticRegression().fit(X, [0, 1] * 20)


def test_an_absent_row_must_be_finite_for_firth_too():
    X = np.arange(20.0).reshape(10, 2)
    X[0, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        LogisticRegression(objective="firth").fit(X, [0, 1] * 5, np.append(0, np.ones(9)))
