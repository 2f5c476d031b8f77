"""The penalty by cross-validation: the curve is that of a plain loop over folds and penalties, the choice its least."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rarely import examples
from sklearn.base import clone

from separatrix import BudgetWarning, CrossValidation, LogisticRegression, SeparationWarning
from separatrix.data import Rows
from separatrix.fitting.path import curve, fold_of_rows
from separatrix.fitting.risk.margin import Risk

LAW = settings(max_examples=80, deadline=None, derandomize=True)
GRID = (1.0, 0.1, 0.01, 0.001)
CLOSE = 1e-3
"""The fits along the path are loose, to a gap of 10⁻⁶: weights err by its root, and held-out losses with them."""


def overlapping(n=200, d=6, seed=0):
    """Few of the columns matter, so that a penalty helps."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] - X[:, 1] + 0.3 + 2 * rng.logistic(size=n) > 0).astype(int)


def classes(n=200, d=5, K=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, :K] + 2 * rng.gumbel(size=(n, K))).argmax(axis=1)


def seed_of(random_state):
    return 0 if random_state is None else int(np.random.RandomState(random_state).randint(2**31 - 1))


def folds_of(y, folds, random_state=None, cost=None):
    """The fold of each row, from the library: the rest of the loop is ours."""
    y = np.asarray(y)
    inside = np.where(y == 1, 1, -1).astype(np.int8) if y.ndim == 1 and y.max() < 2 else y
    nothing = np.empty(0) if cost is None else np.asarray(cost, float)
    return fold_of_rows(Rows.of(np.zeros((len(y), 1)), inside, nothing), folds, seed_of(random_state))


def log_loss(model, X, target, cost):
    log_p = model.predict_log_proba(X)
    target = np.eye(log_p.shape[1])[target] if target.ndim == 1 else target
    return np.average(-(target * log_p).sum(axis=1), weights=cost)


def plain_loop(X, y, parts, grid, cost=None, **settings):
    """A refit from scratch for every fold and penalty, on copies of the rows."""
    cost = np.ones(len(X)) if cost is None else cost
    table = np.empty((len(grid), parts.max() + 1))
    for fold in range(parts.max() + 1):
        learnt, held = parts != fold, (parts == fold) & (cost > 0)
        for i, l2 in enumerate(grid):
            model = LogisticRegression(l2=l2, tol=1e-12, **settings).fit(X[learnt], y[learnt], cost[learnt])
            table[i, fold] = log_loss(model, X[held], y[held], cost[held])
    return table


def chosen_by(grid=GRID, folds=4, one_standard_error=False, **settings):
    plan = CrossValidation(grid=grid, folds=folds, one_standard_error=one_standard_error)
    return LogisticRegression(l2=plan, **settings)


# -------------------------------------------------------------------------------------------------------- the laws


@LAW
@given(st.integers(2, 6), st.integers(2, 5), st.integers(0, 999), st.data())
def test_every_class_is_spread_evenly_over_the_folds(folds, K, seed, data):
    n = data.draw(st.integers(folds * K, 80))
    y = data.draw(arrays(np.intp, n, elements=st.integers(0, K - 1)))
    cost = data.draw(st.none() | arrays(float, n, elements=st.sampled_from([0.0, 1.0, 2.5])))
    parts = fold_of_rows(Rows.of(np.zeros((n, 1)), y, np.empty(0) if cost is None else cost), folds, seed)
    counts = np.ones(n, bool) if cost is None else cost > 0
    assert set(parts.tolist()) == set(range(folds))
    for members in (np.ones(n, bool), counts, *(counts & (y == k) for k in range(K))):
        sizes = np.bincount(parts[members], minlength=folds)
        assert sizes.max() - sizes.min() <= 1


@examples(30, 80, arrays(float, (5, 3), elements=st.floats(0.1, 2)), st.booleans())
def test_the_choice_is_the_least_loss_or_the_largest_penalty_within_one_standard_error(table, one_standard_error):
    grid = np.array([10.0, 1.0, 0.1, 0.01, 0.0])
    path = curve(grid, table, one_standard_error=one_standard_error)
    loss = table.mean(axis=1)
    best = int(np.argmin(loss))
    np.testing.assert_allclose(path.loss, loss)
    np.testing.assert_allclose(path.standard_error, table.std(axis=1, ddof=1) / np.sqrt(3))
    assert path.best == grid[best]
    allowed = loss[best] + (path.standard_error[best] if one_standard_error else 0)
    assert path.chosen == grid[loss <= allowed].max() if one_standard_error else path.chosen == path.best
    assert path.chosen >= path.best


# ------------------------------------------------------------------------------------------------------- the curve


@pytest.mark.parametrize("random_state", [None, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
def test_the_curve_is_that_of_a_plain_loop(solver, fit_intercept, random_state):
    X, y = overlapping()
    how = {"solver": solver, "fit_intercept": fit_intercept}
    model = chosen_by(random_state=random_state, **how).fit(X, y)
    expected = plain_loop(X, y, folds_of(y, 4, random_state), GRID, **how)
    np.testing.assert_allclose(model.l2_path_.folds, expected, rtol=CLOSE)
    np.testing.assert_allclose(model.l2_path_.loss, expected.mean(axis=1), rtol=CLOSE)
    error = expected.std(axis=1, ddof=1) / 2
    np.testing.assert_allclose(model.l2_path_.standard_error, error, rtol=0.01)
    assert model.l2_ == model.l2_path_.chosen == GRID[int(expected.mean(axis=1).argmin())]


def test_the_curve_is_that_of_a_plain_loop_to_five_digits():
    X, y = overlapping()
    for random_state in (None, 1, 2, 3):
        model = chosen_by(random_state=random_state).fit(X, y)
        expected = plain_loop(X, y, folds_of(y, 4, random_state), GRID)
        np.testing.assert_allclose(model.l2_path_.loss, expected.mean(axis=1), rtol=1e-5)


def test_the_curve_of_weighted_rows_is_that_of_a_plain_loop():
    X, y = overlapping()
    cost = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], size=len(y))
    model = chosen_by().fit(X, y, cost)
    expected = plain_loop(X, y, folds_of(y, 4, cost=cost), GRID, cost)
    np.testing.assert_allclose(model.l2_path_.folds, expected, rtol=CLOSE)


def test_class_weights_count_in_the_fits_and_in_the_held_out_loss():
    X, y = overlapping()
    by_class = chosen_by(class_weight={1: 4.0}).fit(X, y)
    by_row = chosen_by().fit(X, y, np.where(y == 1, 4.0, 1.0))
    np.testing.assert_allclose(by_class.l2_path_.folds, by_row.l2_path_.folds, rtol=1e-9)


@pytest.mark.parametrize("K", [3, 4])
def test_the_curve_of_many_classes_is_that_of_a_plain_loop(K):
    X, y = classes(K=K)
    model = chosen_by().fit(X, y)
    expected = plain_loop(X, y, folds_of(y, 4), GRID)
    np.testing.assert_allclose(model.l2_path_.folds, expected, rtol=CLOSE)
    assert model.verdict_.status == "optimal"


def test_the_curve_of_probabilities_is_that_of_a_plain_loop():
    X, _ = overlapping()
    t = 1 / (1 + np.exp(-(X[:, 0] + np.random.default_rng(2).normal(size=len(X)))))
    model = chosen_by().fit(X, t)
    parts = folds_of(np.ones(len(X), int), 4)  # with nothing to tell the rows apart, by chance alone
    target = np.column_stack([1 - t, t])
    np.testing.assert_allclose(model.l2_path_.folds, plain_loop(X, target, parts, GRID), rtol=CLOSE)


def test_the_curve_of_rows_of_probabilities_is_that_of_a_plain_loop():
    X, _ = classes()
    T = np.random.default_rng(2).dirichlet([1.0, 1.0, 1.0], size=len(X))
    model = chosen_by().fit(X, T)
    parts = folds_of(T.argmax(axis=1), 4)
    np.testing.assert_allclose(model.l2_path_.folds, plain_loop(X, T, parts, GRID), rtol=CLOSE)


def test_more_columns_than_rows():
    X, y = overlapping(40, 60)
    model = chosen_by().fit(X, y)
    np.testing.assert_allclose(model.l2_path_.folds, plain_loop(X, y, folds_of(y, 4), GRID), rtol=CLOSE)
    assert model.verdict_.ok


def test_the_squared_error_is_judged_by_log_loss_too():
    X, y = overlapping()
    model = chosen_by(objective="squared", starts=1).fit(X, y)
    expected = plain_loop(X, y, folds_of(y, 4), GRID, objective="squared", starts=1)
    np.testing.assert_allclose(model.l2_path_.folds, expected, rtol=CLOSE)
    assert model.verdict_.status == "local"
    assert model.l2_ in GRID


def test_a_penalty_of_zero_may_be_on_the_grid():
    X, y = overlapping()
    model = chosen_by(grid=(0.1, 0.0)).fit(X, y)
    assert model.l2_path_.l2.tolist() == [0.1, 0.0]
    expected = plain_loop(X, y, folds_of(y, 4), (0.1, 0.0))
    np.testing.assert_allclose(model.l2_path_.folds, expected, rtol=CLOSE)


# ------------------------------------------------------------------------------------------------------ the choice


def test_cv_alone_takes_fifteen_penalties_in_units_of_the_columns():
    """From 10 down to 10⁻⁶ times the mean variance of the columns, five folds."""
    X, y = overlapping()
    model = LogisticRegression(l2="cv").fit(X, y)
    path = model.l2_path_
    assert path.l2.shape == path.loss.shape == path.standard_error.shape == (15,)
    assert path.folds.shape == (15, 5)
    assert (np.diff(path.l2) < 0).all()
    assert path.l2[0] == pytest.approx(10 * X.var(axis=0).mean(), rel=1e-6)
    assert path.l2[-1] == pytest.approx(1e-6 * X.var(axis=0).mean(), rel=1e-6)
    np.testing.assert_allclose(path.folds, plain_loop(X, y, folds_of(y, 5), path.l2), rtol=CLOSE)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_the_curve_knows_no_units(scale):
    X, y = overlapping()
    plain, scaled = LogisticRegression(l2="cv").fit(X, y), LogisticRegression(l2="cv").fit(X * scale, y)
    np.testing.assert_allclose(scaled.l2_path_.loss, plain.l2_path_.loss, rtol=1e-5)
    assert scaled.l2_ == pytest.approx(plain.l2_ * scale**2, rel=1e-6)
    np.testing.assert_allclose(scaled.predict_proba(X * scale), plain.predict_proba(X), atol=1e-5)


def test_the_grid_is_taken_from_the_largest_down_whatever_its_order():
    X, y = overlapping()
    one, other = chosen_by(grid=(0.01, 1.0, 0.1)).fit(X, y), chosen_by(grid=(1.0, 0.1, 0.01)).fit(X, y)
    assert one.l2_path_.l2.tolist() == [1.0, 0.1, 0.01]
    assert one.l2_path_.loss.tolist() == other.l2_path_.loss.tolist()
    assert chosen_by(grid=[1.0, 0.1, 0.01]).fit(X, y).l2_path_.loss.tolist() == one.l2_path_.loss.tolist()
    assert chosen_by(grid=np.array([1.0, 0.1, 0.01])).fit(X, y).l2_ == one.l2_


def test_the_chosen_penalty_is_that_of_the_final_fit():
    X, y = overlapping()
    model = chosen_by(tol=1e-12).fit(X, y)
    direct = LogisticRegression(l2=model.l2_, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, direct.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, direct.intercept_, atol=1e-6)
    assert model.verdict_.claim.l2 == model.l2_
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(X, y)
    assert model.l2.grid == GRID  # the parameter stays what it was


def test_one_standard_error_prefers_the_larger_penalty():
    X, y = overlapping()
    least, wider = chosen_by(grid=tuple(np.logspace(1, -4, 12))), chosen_by(np.logspace(1, -4, 12), 4, True)
    least.fit(X, y)
    path = wider.fit(X, y).l2_path_
    assert path.loss.tolist() == least.l2_path_.loss.tolist()
    best = int(path.loss.argmin())
    within = path.loss <= path.loss[best] + path.standard_error[best]
    assert path.best == least.l2_
    assert wider.l2_ == path.chosen == path.l2[within].max()
    assert wider.l2_ > least.l2_


def test_the_penalty_helps_where_columns_are_noise():
    X, y = overlapping(60, 25, seed=2)
    model = LogisticRegression(l2="cv").fit(X, y)
    assert model.l2_ > model.l2_path_.l2[-1]
    fresh, labels = overlapping(4000, 25, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        plain = LogisticRegression(l2=1e-6).fit(X, y)
    assert log_loss(model, fresh, labels, None) < log_loss(plain, fresh, labels, None)


def test_separated_rows_get_a_finite_penalised_answer():
    X, y = overlapping()
    X[:, 0] += np.where(y == 1, 10, -10)
    model = LogisticRegression(l2="cv").fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.l2_ > 0


def test_folds_differ_by_seed_and_only_by_seed():
    X, y = overlapping()
    curves = [chosen_by(random_state=seed).fit(X, y).l2_path_.loss.tolist() for seed in (1, 1, 2)]
    assert curves[0] == curves[1] != curves[2]
    assert chosen_by().fit(X, y).l2_path_.loss.tolist() == chosen_by().fit(X, y).l2_path_.loss.tolist()


def test_steps_tell_the_fold_and_the_penalty():
    X, y = overlapping()
    steps = list(chosen_by(grid=(1.0, 0.1), folds=3).steps(X, y))
    told = list(dict.fromkeys(step.moved_by for step in steps))
    assert told[:6] == [f"fold {fold}, l2 = {l2}" for fold in (1, 2, 3) for l2 in ("1", "0.1")]
    assert told[6:] == ["start", "newton"]


def test_a_plan_survives_cloning_pickling_and_printing():
    model = chosen_by()
    assert clone(model).l2 == model.l2
    assert pickle.loads(pickle.dumps(model)).l2 == model.l2
    assert "CrossValidation(" in repr(model)


def test_a_pickled_model_keeps_its_curve():
    X, y = overlapping()
    model = chosen_by().fit(X, y)
    back = pickle.loads(pickle.dumps(model))
    assert back.l2_path_.loss.tolist() == model.l2_path_.loss.tolist()
    assert back.l2_ == model.l2_


def test_the_passes_of_the_folds_are_counted():
    X, y = overlapping()
    model = chosen_by().fit(X, y)
    passes = [record.passes for record in model.history_]
    assert model.n_passes_ >= max(passes)
    assert passes == sorted(passes)


def interrupt_after(monkeypatch, calls):
    made, undisturbed = [], Risk.__call__

    def passing(self, *arguments):
        if len(made) == calls:
            raise KeyboardInterrupt
        made.append(1)
        return undisturbed(self, *arguments)

    monkeypatch.setattr(Risk, "__call__", passing)


def test_ctrl_c_among_the_folds_leaves_a_rule_that_predicts(monkeypatch):
    X, y = overlapping()
    interrupt_after(monkeypatch, 40)
    model = chosen_by()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.verdict_.status == "interrupted"
    assert len(model.predict(X)) == len(y)
    assert not hasattr(model, "l2_path_")


def test_what_is_claimed_after_ctrl_c_among_the_folds_is_true(monkeypatch):
    X, y = overlapping()
    with monkeypatch.context() as patch:
        interrupt_after(patch, 40)
        model = chosen_by()
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert np.isnan(model.verdict_.claim.value) or model.verdict_.check(X, y)


def test_a_later_fit_without_choice_forgets_the_curve():
    X, y = overlapping()
    model = chosen_by().fit(X, y).set_params(l2=0.1).fit(X, y)
    assert not hasattr(model, "l2_path_")


def test_too_few_passes_for_the_final_fit_are_a_budget():
    X, y = overlapping()
    with pytest.warns(BudgetWarning, match="max_passes"):
        model = chosen_by(max_passes=2).fit(X, y)
    assert model.verdict_.status == "budget"
    assert model.l2_ in GRID


# ------------------------------------------------------------------------------------------------------- bad input

X60, Y60 = overlapping(60)
RARE = np.where(np.arange(60) < 3, 1, 0)


def choosing(y=Y60, sample_weight=None, **plan):
    return lambda: LogisticRegression(l2=CrossValidation(**plan)).fit(X60, y, sample_weight)


BAD = {
    "too few rows of a class": (choosing(RARE), ("l2='cv' with 5 folds", "class 1 has 3", "CrossValidation(folds=3)")),
    "too few rows of a named class": (
        choosing(np.where(RARE == 1, "ill", "well")), ("class 'ill' has 3", "CrossValidation(folds=3)")
    ),
    "a class of one row": (choosing(np.arange(60) == 0), ("has 1", "CrossValidation(folds=2)", "a number for l2")),
    "an empty grid": (choosing(grid=()), ("grid is ()", "values of l2")),
    "a negative penalty": (choosing(grid=(0.1, -1.0)), ("grid is -1.0", "at least 0")),
    "a penalty of NaN": (choosing(grid=(np.nan,)), ("grid is nan", "finite")),
    "a penalty in words": (choosing(grid=("strong",)), ("grid is 'strong'", "number")),
    "one fold": (choosing(folds=1), ("folds is 1", "at least 2")),
    "half a fold": (choosing(folds=2.5), ("folds is 2.5", "whole number")),
    "folds in words": (choosing(folds="five"), ("folds is 'five'", "number")),
    "another word": (lambda: LogisticRegression(l2="loo").fit(X60, Y60), ("l2 is 'loo'", "'cv'", "CrossValidation")),
    "one row at a time": (
        lambda: LogisticRegression(l2="cv", solver="stochastic").fit(X60, Y60),
        ("solver='stochastic'", "l2='cv'", "solver='auto'"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "words"), BAD.values(), ids=BAD)
def test_a_plan_that_cannot_be_followed_is_told_so(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    for each in words:
        assert each in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "np." not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        pytest.param(choosing(grid=0.1), "grid"),
        pytest.param(choosing(one_standard_error="yes"), "one_standard_error"),
        pytest.param(
            choosing(Y60, np.where(Y60 == 1, 0.0, 1.0) + (np.cumsum(Y60) == 1)), "class 1",
        ),
        pytest.param(
            lambda: LogisticRegression(l2="cv").fit(X60[:4], [0.2, 0.5, 0.6, 0.7]), "folds",
        ),
    ],
    ids=["a grid of one number", "one_standard_error in words", "rows of weight zero", "few soft rows"],
)  # fmt: skip
def test_what_else_cannot_be_followed_is_told_so(call, word):
    with pytest.raises(ValueError, match=word):
        call()


def test_a_whole_number_of_folds_may_be_a_float():
    assert chosen_by(folds=4.0).fit(X60, Y60).l2_ == chosen_by(folds=4).fit(X60, Y60).l2_
