"""Logistic regression of two classes: what it predicts, where it starts, how it moves, how it is interrupted."""

import itertools
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from referees.logistic import newton
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from separatrix import BudgetWarning, LogisticRegression, SeparationWarning
from separatrix.fitting.risk.margin import Risk

SOLVERS = ["auto", "newton", "lbfgs", "gradient"]


def overlapping(n=120, d=3, seed=0):
    """Rows whose labels are drawn from a logistic model: no rule separates them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ np.linspace(1, -1, d) + 0.3 + rng.logistic(size=n) > 0).astype(int)
    return X, y


def interrupt_after(monkeypatch, calls):
    """Ctrl-C during a pass over the rows, after so many undisturbed ones."""
    made, undisturbed = [], Risk.__call__

    def passing(self, *arguments):
        if len(made) == calls:
            raise KeyboardInterrupt
        made.append(1)
        return undisturbed(self, *arguments)

    monkeypatch.setattr(Risk, "__call__", passing)


@pytest.fixture
def data():
    return overlapping()


@pytest.fixture
def model(data):
    return LogisticRegression().fit(*data)


# ---------------------------------------------------------------------------------------------------- predictions


def test_predictions_agree_with_one_another(model, data):
    X, y = data
    z = model.decision_function(X)
    np.testing.assert_allclose(z, X @ model.coef_[0] + model.intercept_[0], rtol=1e-12, atol=1e-14)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P[:, 1], 1 / (1 + np.exp(-z)), rtol=1e-13)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-15)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(P), rtol=1e-12)
    assert model.predict(X).tolist() == (z > 0).astype(int).tolist() == P.argmax(axis=1).tolist()
    assert model.score(X, y) == np.mean(model.predict(X) == y)


def test_probability_is_the_logistic_function_of_distance_times_norm(model, data):
    X, _ = data
    d, norm = model.distance(X), np.linalg.norm(model.coef_)
    np.testing.assert_allclose(d, model.rule_.distance(X), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-d * norm)), rtol=1e-12)


def test_the_rule_is_the_model(model, data):
    X, _ = data
    assert model.rule_.weights.tolist() == model.coef_[0].tolist()
    assert model.rule_.intercept == model.intercept_[0]
    assert model.rule_.classify(X).tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(model.rule_.probability(X), model.predict_proba(X)[:, 1], rtol=1e-12)


def test_log_probabilities_do_not_underflow(model):
    far = 1e4 * model.coef_ / np.linalg.norm(model.coef_)
    log_p = model.predict_log_proba(np.vstack([far, -far]))
    assert np.isfinite(log_p).all()
    assert log_p[0, 0] < -1000
    assert log_p[1, 1] < -1000
    assert log_p[0, 1] == log_p[1, 0] == 0


def test_a_row_exactly_on_the_boundary_gets_the_first_class():
    X, y = np.array([[-2.0], [-1.0], [0.0], [0.0], [1.0], [2.0]]), [0, 1, 0, 1, 0, 1]
    model = LogisticRegression(fit_intercept=False).fit(X, y)
    assert model.coef_[0, 0] > 0
    assert model.predict([[0.0], [1e-12]]).tolist() == [0, 1]
    assert model.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]


def test_mean_of_the_probabilities_is_the_share_of_the_class(model, data):
    """The intercept's equation of the maximum likelihood: Σ(y − p) = 0."""
    X, y = data
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=1e-7)


# --------------------------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("first", "second"),
    [(0, 1), (-1, 1), (1, 2), (0.0, 1.0), (-3.0, 7.0), (False, True), ("maybe", "yes"), ("b", "é")],
    ids=repr,
)
def test_classes_are_in_order_whatever_they_are_called(data, model, first, second):
    X, y = data
    labels = np.array([first, second])[y]
    named = LogisticRegression().fit(X, labels)
    assert named.classes_.tolist() == [first, second]
    assert named.coef_.tolist() == model.coef_.tolist()
    assert named.predict(X).tolist() == np.array([first, second])[model.predict(X)].tolist()
    assert named.predict(X).dtype == named.classes_.dtype == labels.dtype
    assert named.verdict_.check(X, labels)


def test_the_second_class_in_sorted_order_is_the_positive_one(data):
    X, y = data
    model = LogisticRegression(tol=1e-14).fit(X, y)
    swapped = LogisticRegression(tol=1e-14).fit(X, np.where(y == 1, "a", "z"))
    np.testing.assert_allclose(swapped.coef_, -model.coef_, rtol=1e-6)
    np.testing.assert_allclose(swapped.predict_proba(X), model.predict_proba(X)[:, ::-1], rtol=1e-6)


def test_labels_may_be_objects_or_lists(data, model):
    X, y = data
    words = ["no" if label == 0 else "yes" for label in y]
    for labels in (words, np.array(words, dtype=object), pd.Series(words), pl.Series(words)):
        fitted = LogisticRegression().fit(X, labels)
        assert fitted.classes_.tolist() == ["no", "yes"]
        assert fitted.coef_.tolist() == model.coef_.tolist()


def test_a_column_of_labels_is_taken_with_a_warning(data, model):
    X, y = data
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        fitted = LogisticRegression().fit(X, y[:, None])
    assert fitted.coef_.tolist() == model.coef_.tolist()


# ---------------------------------------------------------------------------------------------------------- costs


def test_class_weights_are_factors_on_the_costs(data):
    X, y = data
    by_class = LogisticRegression(class_weight={0: 3.0, 1: 0.5}).fit(X, y)
    by_row = LogisticRegression().fit(X, y, sample_weight=np.where(y == 0, 3.0, 0.5))
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, rtol=1e-7)
    np.testing.assert_allclose(by_class.intercept_, by_row.intercept_, rtol=1e-7)
    assert by_class.verdict_.check(X, y)
    assert not np.allclose(by_class.intercept_, LogisticRegression().fit(X, y).intercept_, atol=0.1)


def test_a_class_that_is_not_named_has_weight_one(data):
    X, y = data
    one, both = (LogisticRegression(class_weight=w).fit(X, y) for w in ({1: 2.0}, {0: 1.0, 1: 2.0}))
    assert one.coef_.tolist() == both.coef_.tolist()


def test_class_weights_know_classes_by_their_names(data):
    X, y = data
    words = np.array(["no", "yes"])[y]
    named = LogisticRegression(class_weight={"no": 3.0}).fit(X, words)
    assert named.coef_.tolist() == LogisticRegression(class_weight={0: 3.0}).fit(X, y).coef_.tolist()


def test_balanced_gives_both_classes_the_same_weight(data):
    X, y = data
    balanced = LogisticRegression(class_weight="balanced", tol=1e-14).fit(X, y)
    share = balanced.predict_proba(X)[:, 1]
    weight = np.where(y == 0, 1 / (y == 0).sum(), 1 / (y == 1).sum())
    assert np.average(share, weights=weight) == pytest.approx(0.5, abs=1e-8)


def test_balanced_with_costs_is_balanced_with_repeated_rows(data):
    X, y = data
    times = np.random.default_rng(1).integers(0, 4, size=len(y))
    weighted = LogisticRegression(class_weight="balanced").fit(X, y, sample_weight=times)
    repeated = LogisticRegression(class_weight="balanced").fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-6)


def test_one_number_as_cost_is_that_cost_for_every_row(data, model):
    X, y = data
    np.testing.assert_allclose(LogisticRegression().fit(X, y, sample_weight=3).coef_, model.coef_, rtol=1e-7)


# ------------------------------------------------------------------------------------------- starts and solvers


@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_reaches_the_same_optimum(data, solver, l2):
    X, y = data
    fitted = LogisticRegression(solver=solver, l2=l2).fit(X, y)
    truth = newton(X, y, l2=l2)
    assert fitted.verdict_.ok
    np.testing.assert_allclose(fitted.coef_[0], truth.weights.astype(float), atol=2e-5)
    assert fitted.verdict_.claim.value == pytest.approx(float(truth.value), rel=1e-10)


@pytest.mark.parametrize("init", ["least-squares", "zero", "random", [1.0, -2.0, 0.5, 3.0], [1.0, -2.0, 0.5]], ids=str)
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_every_start_reaches_the_same_optimum(data, model, solver, init):
    fitted = LogisticRegression(solver=solver, init=init, random_state=3, tol=1e-13).fit(*data)
    assert fitted.verdict_.ok
    np.testing.assert_allclose(fitted.coef_, model.coef_, atol=2e-5)


def test_a_start_that_is_given_is_where_the_fit_starts(data):
    start = [0.25, -0.5, 2.0, 1.0]
    first = next(LogisticRegression(init=start).steps(*data))
    assert first.weights.tolist() == pytest.approx(start[:3], rel=1e-12)
    assert first.intercept == pytest.approx(start[3], rel=1e-12)
    assert first.step == 0
    assert first.moved_by == "start"


def test_the_start_at_zero_has_loss_log_two(data):
    first = next(LogisticRegression(init="zero").steps(*data))
    assert first.weights.tolist() == [0, 0, 0]
    assert first.value == pytest.approx(np.log(2), rel=1e-15)


def test_the_default_start_of_newton_is_least_squares_on_zero_and_one(data):
    X, y = data
    first = next(LogisticRegression(solver="newton").steps(X, y))
    Z = np.column_stack([X, np.ones(len(X))])
    expected = np.linalg.lstsq(Z, y.astype(float), rcond=None)[0]
    np.testing.assert_allclose(np.append(first.weights, first.intercept), expected, rtol=1e-10, atol=1e-12)


def test_random_starts_differ_by_seed_and_only_by_seed(data):
    def start(seed):
        return next(LogisticRegression(init="random", random_state=seed).steps(*data)).weights.tolist()

    assert start(1) == start(1)
    assert start(1) != start(2)


def test_a_warm_start_needs_fewer_passes(data):
    X, y = data
    model = LogisticRegression(warm_start=True, init="zero").fit(X, y)
    cold, weights = model.n_passes_, model.coef_.copy()
    model.fit(X, y)
    assert model.n_passes_ < cold
    np.testing.assert_allclose(model.coef_, weights, atol=1e-6)
    assert model.verdict_.ok


def test_a_warm_start_begins_where_the_last_fit_ended(data):
    X, y = data
    model = LogisticRegression(warm_start=True).fit(X, y)
    ended = model.coef_[0].copy()
    first = next(model.set_params(l2=0.1).steps(X, y))
    np.testing.assert_allclose(first.weights, ended, rtol=1e-12)


def test_a_warm_start_with_other_columns_starts_afresh(data):
    X, y = data
    model = LogisticRegression(warm_start=True).fit(X, y).fit(X[:, :2], y)
    assert model.coef_.tolist() == LogisticRegression().fit(X[:, :2], y).coef_.tolist()


def test_without_warm_start_a_second_fit_is_the_same_fit(data):
    model = LogisticRegression().fit(*data)
    first, passes = model.coef_.tolist(), model.n_passes_
    assert model.fit(*data).coef_.tolist() == first
    assert model.n_passes_ == passes


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fewer_rows_than_columns_with_a_penalty(solver, fit_intercept):
    X, y = overlapping(n=15, d=40, seed=4)
    truth = newton(X, y, l2=0.1, fit_intercept=fit_intercept)
    fitted = LogisticRegression(l2=0.1, solver=solver, fit_intercept=fit_intercept, tol=1e-12).fit(X, y)
    assert fitted.verdict_.ok
    assert fitted.verdict_.check(X, y)
    np.testing.assert_allclose(fitted.coef_[0], truth.weights.astype(float), atol=1e-6)
    np.testing.assert_allclose(fitted.intercept_[0], float(truth.intercept), atol=5e-6)


def test_solvers_agree_where_rows_are_many_and_a_sample_steers():
    X, y = overlapping(n=30_000, d=8, seed=5)
    fits = [LogisticRegression(solver=solver, tol=1e-12).fit(X, y) for solver in ("newton", "lbfgs")]
    assert all(fitted.verdict_.ok for fitted in fits)
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, atol=1e-6)
    assert all(fitted.verdict_.check(X, y) for fitted in fits)


def test_rare_columns_do_not_mislead_the_sample():
    rng = np.random.default_rng(6)
    X = (rng.random((40_000, 12)) < np.geomspace(2e-3, 0.3, 12)).astype(float)
    y = (X @ rng.normal(size=12) + rng.logistic(size=len(X)) > 0).astype(int)
    fitted = LogisticRegression(solver="lbfgs", l2=1e-7).fit(X, y)
    assert fitted.verdict_.ok
    reference = LogisticRegression(solver="newton", l2=1e-7).fit(X, y)
    np.testing.assert_allclose(fitted.coef_, reference.coef_, atol=1e-3)


# --------------------------------------------------------------------------------------------- steps and history


def test_steps_never_climb_and_end_at_the_fit(data):
    model = LogisticRegression(solver="newton", init="zero")
    steps = list(model.steps(*data))
    values = [step.value for step in steps]
    assert len(values) > 3
    assert all(later <= earlier * (1 + 1e-14) for earlier, later in itertools.pairwise(values))
    assert steps[-1].weights.tolist() == model.coef_[0].tolist()
    assert [step.passes for step in steps] == sorted(step.passes for step in steps)
    assert {step.moved_by for step in steps[1:]} == {"newton"}


def test_history_has_a_line_for_every_step(data):
    model = LogisticRegression()
    steps = list(model.steps(*data))
    expected = [(s.passes, s.value, s.gradient_norm, s.step, s.seconds, s.negative_curvature, s.start) for s in steps]
    assert [tuple(record) for record in model.history_] == expected
    assert model.history_[-1].gradient_norm < 1e-4 * model.history_[0].gradient_norm
    assert model.n_passes_ >= model.history_[-1].passes
    seconds = [record.seconds for record in model.history_]
    assert seconds[0] > 0
    assert seconds == sorted(seconds)


def test_fit_and_steps_are_the_same_fit(data, model):
    stepped = LogisticRegression()
    for _ in stepped.steps(*data):
        pass
    assert stepped.coef_.tolist() == model.coef_.tolist()
    assert stepped.verdict_.status == "optimal"


def test_nothing_happens_before_the_first_step_is_asked_for(data):
    model = LogisticRegression(solver="no such solver")
    steps = model.steps(*data)
    assert not hasattr(model, "history_")
    with pytest.raises(ValueError, match="solver"):
        next(steps)


def assert_interrupted(model, X, y):
    assert model.verdict_.status == "interrupted"
    assert not model.verdict_.ok
    assert model.verdict_.certificate is None
    assert "nterrupted" in str(model.verdict_)
    assert model.classes_.tolist() == [0, 1]
    assert model.n_features_in_ == X.shape[1]
    assert len(model.predict(X)) == len(y)
    assert model.predict_proba(X).sum() == pytest.approx(len(y))
    assert model.n_passes_ == (model.history_[-1].passes if model.history_ else 0)


@pytest.mark.parametrize("taken", [1, 2, 3])
def test_who_stops_reading_the_steps_finds_the_attributes_set(data, taken):
    model = LogisticRegression(init="zero")
    steps = model.steps(*data)
    last = [next(steps) for _ in range(taken)][-1]
    steps.close()
    assert_interrupted(model, *data)
    assert model.coef_[0].tolist() == last.weights.tolist()
    assert model.intercept_[0] == last.intercept
    assert len(model.history_) == taken
    assert model.verdict_.check(*data)  # the loss that it names is the loss there


def test_a_loop_that_is_left_finds_the_attributes_set(data):
    model = LogisticRegression()
    for _ in model.steps(*data):
        break
    assert_interrupted(model, *data)


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient"])
@pytest.mark.parametrize("calls", [0, 1, 2, 3, 4, 5])
def test_ctrl_c_sets_the_attributes_and_goes_on_up(monkeypatch, data, solver, calls):
    interrupt_after(monkeypatch, calls)
    model = LogisticRegression(solver=solver, init="zero", tol=1e-13)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data)
    assert_interrupted(model, *data)


def test_ctrl_c_before_the_first_pass_leaves_a_rule_that_predicts(monkeypatch, data):
    interrupt_after(monkeypatch, 0)
    model = LogisticRegression()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data)
    assert_interrupted(model, *data)
    assert model.history_ == []
    assert "before the first pass" in model.verdict_.cause


def test_ctrl_c_with_fewer_rows_than_columns(monkeypatch):
    X, y = overlapping(n=15, d=40, seed=4)
    interrupt_after(monkeypatch, 3)
    model = LogisticRegression(l2=0.1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert_interrupted(model, X, y)
    assert model.coef_.shape == (1, 40)


def test_an_interrupted_fit_goes_on_with_a_warm_start(monkeypatch, data):
    with monkeypatch.context() as patch:
        interrupt_after(patch, 4)
        model = LogisticRegression(warm_start=True, init="zero")
        with pytest.raises(KeyboardInterrupt):
            model.fit(*data)
    reached = model.coef_[0].copy()
    assert reached.any()
    np.testing.assert_allclose(next(model.steps(*data)).weights, reached, rtol=1e-12)
    assert model.fit(*data).verdict_.ok


def test_ctrl_c_before_the_first_pass_keeps_the_weights_of_a_warm_start(monkeypatch, data):
    model = LogisticRegression(warm_start=True).fit(*data)
    weights = model.coef_.copy()
    interrupt_after(monkeypatch, 0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data)
    np.testing.assert_allclose(model.coef_, weights, rtol=1e-12)


# ------------------------------------------------------------------------------------------------------ influence


def test_leverages_add_up_to_the_number_of_weights(model, data):
    X, y = data
    leverage = model.influence(X, y).leverage
    assert leverage.sum() == pytest.approx(X.shape[1] + 1, rel=1e-10)
    assert (leverage > 0).all()
    assert (leverage < 1).all()
    without = LogisticRegression(fit_intercept=False).fit(X, y)
    assert without.influence(X, y).leverage.sum() == pytest.approx(X.shape[1], rel=1e-10)


def test_leverages_add_up_to_the_rank(data):
    X, y = data
    twice = np.column_stack([X, X[:, 0]])
    model = LogisticRegression().fit(twice, y)
    assert model.influence(twice, y).leverage.sum() == pytest.approx(4, rel=1e-8)


def test_a_penalty_takes_leverage_away(data):
    X, y = data
    sums = [LogisticRegression(l2=l2).fit(X, y).influence(X, y).leverage.sum() for l2 in (0, 0.01, 1, 100)]
    assert sums == sorted(sums, reverse=True)
    assert sums[-1] == pytest.approx(1, abs=0.05)  # the free intercept remains


def test_errors_are_labels_minus_probabilities_and_balance(model, data):
    X, y = data
    error = model.influence(X, y).error
    np.testing.assert_allclose(error, y - model.predict_proba(X)[:, 1], rtol=1e-12)
    np.testing.assert_allclose(error @ X, 0, atol=1e-4)


def test_the_pull_of_the_squared_error_is_at_most_four_27ths(data):
    X, y = data
    model = LogisticRegression().fit(X, y)
    pull = model.influence(X, y).squared_error_pull
    e, p = y - model.predict_proba(X)[:, 1], model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(pull, np.abs(e) * p * (1 - p), rtol=1e-12)
    assert (pull <= 4 / 27 + 1e-15).all()


def test_the_pull_is_largest_at_margin_minus_log_two():
    X, y = np.array([[-1.0], [1.0], [1.0], [-1.0], [1.0], [-1.0]]), np.array([0, 0, 1, 1, 1, 0])
    model = LogisticRegression().fit(X, y)
    slope, level = model.coef_[0, 0], model.intercept_[0]
    at = (np.array([-np.log(2), -np.log(2) - 0.1, -np.log(2) + 0.1, 0]) - level) / slope
    pull = model.influence(at[:, None], np.ones(4, int)).squared_error_pull
    assert pull[0] == pytest.approx(4 / 27, rel=1e-12)
    assert pull.argmax() == 0
    assert pull[3] == pytest.approx(1 / 8, rel=1e-12)


@pytest.mark.parametrize("l2", [0.0, 0.02])
def test_shift_foretells_the_score_after_leaving_the_row_out(l2):
    X, y = overlapping(n=300, d=2, seed=8)
    model = LogisticRegression(l2=l2, tol=1e-12).fit(X, y)
    shift = model.influence(X, y).shift
    kept = np.arange(len(y))
    for i in np.argsort(-np.abs(shift))[[0, 1, 5, 50, 200]]:
        others = kept != i
        refit = LogisticRegression(l2=l2 * len(y) / (len(y) - 1), tol=1e-12).fit(X[others], y[others])
        moved = refit.decision_function(X[[i]])[0] - model.decision_function(X[[i]])[0]
        assert shift[i] == pytest.approx(moved, rel=0.1)


def test_influence_counts_costs_as_copies(data):
    X, y = data
    times = np.random.default_rng(2).integers(1, 4, size=len(y))
    weighted, repeated = LogisticRegression().fit(X, y, times), (np.repeat(X, times, axis=0), np.repeat(y, times))
    by_row = weighted.influence(X, y, sample_weight=times).leverage
    by_copy = LogisticRegression().fit(*repeated).influence(*repeated).leverage
    np.testing.assert_allclose(by_row, np.bincount(np.repeat(np.arange(len(y)), times), by_copy), rtol=1e-4)


def test_influence_counts_class_weights_as_costs(data):
    X, y = data
    by_class = LogisticRegression(class_weight={1: 2.0}, l2=0.1).fit(X, y).influence(X, y)
    cost = np.where(y == 1, 2.0, 1.0)
    by_row = LogisticRegression(l2=0.1).fit(X, y, cost).influence(X, y, cost)
    np.testing.assert_allclose(by_class.leverage, by_row.leverage, rtol=1e-6)
    np.testing.assert_allclose(by_class.shift, by_row.shift, rtol=1e-6)


# ------------------------------------------------------------------------------------------------ frames and peers


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda X, columns: pl.DataFrame(X, schema=list(columns))])
def test_frames_keep_their_names(data, model, frame):
    X, y = data
    table = frame(X, columns=["age", "dose", "weight"])
    fitted = LogisticRegression().fit(table, y)
    assert fitted.feature_names_in_.tolist() == ["age", "dose", "weight"]
    assert fitted.rule_.columns == ("age", "dose", "weight")
    assert "·dose" in fitted.rule_.equation()
    np.testing.assert_allclose(fitted.coef_, model.coef_, rtol=1e-13)  # a frame's columns lie in Fortran order
    np.testing.assert_allclose(fitted.predict_proba(table), model.predict_proba(X), rtol=1e-14)
    assert fitted.verdict_.check(table, y)


def test_without_a_frame_columns_are_numbered(model):
    assert not hasattr(model, "feature_names_in_")
    assert model.rule_.columns == ("x0", "x1", "x2")


def test_a_fit_on_an_array_forgets_the_names_of_an_earlier_frame(data):
    X, y = data
    model = LogisticRegression().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y).fit(X, y)
    assert model.rule_.columns == ("x0", "x1", "x2")


def test_frames_of_mixed_numbers_and_booleans():
    rng = np.random.default_rng(9)
    table = pd.DataFrame({"n": rng.integers(0, 9, 80), "flag": rng.random(80) < 0.5, "x": rng.random(80, np.float32)})
    y = rng.integers(0, 2, size=80)
    fitted = LogisticRegression().fit(table, y)
    expected = LogisticRegression().fit(table.to_numpy(dtype=float), y)
    np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=1e-6)
    assert fitted.verdict_.check(table, y)


def test_parameters_survive_cloning_and_setting():
    settings = {"l2": 0.5, "solver": "lbfgs", "class_weight": {0: 2.0}, "max_passes": 7, "n_threads": 2}
    model = LogisticRegression(**settings)
    assert settings.items() <= model.get_params().items()
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(l2=0.25).l2 == 0.25


def test_parameters_are_given_by_name_only():
    with pytest.raises(TypeError):
        LogisticRegression("likelihood")


def test_cloning_forgets_the_fit(model):
    assert not hasattr(clone(model), "coef_")


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_a_pickled_model_predicts_and_checks_the_same(model, data, protocol):
    X, y = data
    back = pickle.loads(pickle.dumps(model, protocol=protocol))
    assert back.predict_proba(X).tolist() == model.predict_proba(X).tolist()
    assert back.rule_.equation() == model.rule_.equation()
    assert str(back.verdict_) == str(model.verdict_)
    assert back.verdict_.check(X, y)
    assert back.fit(X, y).coef_.tolist() == model.coef_.tolist()


def test_models_work_inside_pipelines_and_searches(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.6
    search = GridSearchCV(LogisticRegression(), {"l2": [0.0, 0.01, 1e6]}, cv=3, scoring="neg_log_loss").fit(X, y)
    assert search.best_params_["l2"] < 1e6


@pytest.mark.parametrize(
    "estimator",
    [
        pytest.param(LogisticRegression(), id="plain"),
        pytest.param(LogisticRegression(l2=0.01, solver="lbfgs", tol=1e-12), id="ridge"),
    ],
)
def test_scikit_learn_s_own_checks(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)  # iris without a penalty is quasi-separated, and it says so
        results = check_estimator(estimator, on_skip=None, on_fail=None)
    failed = [(each["check_name"], each["exception"]) for each in results if each["status"] == "failed"]
    assert failed == []
    assert sum(each["status"] == "passed" for each in results) > 40


def test_an_l2_from_scikit_learn_s_c_gives_its_weights(data):
    from sklearn.linear_model import LogisticRegression as Peer

    X, y = data
    ours = LogisticRegression(l2=1 / (0.7 * len(y))).fit(X, y)
    theirs = Peer(C=0.7, tol=1e-12, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)


def test_a_budget_can_be_a_fraction_of_a_pass(data):
    with pytest.warns(BudgetWarning):
        fitted = LogisticRegression(max_passes=0.5).fit(*data)
    assert fitted.verdict_.status == "budget"
    assert len(fitted.history_) == 1


# --------------------------------------------------------------------------------------------------------- import


def in_a_new_process(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_the_library_loads_neither_scikit_learn_nor_numba():
    loaded = in_a_new_process(
        "import sys, separatrix; dir(separatrix); separatrix.losses, separatrix.LinearRule, separatrix.Verdict; "
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'sklearn', 'numba', 'llvmlite', 'pandas'}))"
    )
    assert loaded == "[]"


def test_every_name_of_the_library_can_be_imported():
    names = in_a_new_process(
        "from separatrix import *; import separatrix; "
        "print(*(name for name in separatrix.__all__ if name not in globals()), len(separatrix.__all__))"
    )
    assert names == "56"


def test_a_name_that_does_not_exist_is_an_attribute_error():
    import separatrix

    with pytest.raises(AttributeError, match="no attribute 'LogisticRegresion'"):
        separatrix.LogisticRegresion
    assert "LogisticRegression" in dir(separatrix)


def test_a_small_fit_does_not_load_numba():
    code = (
        "import sys, separatrix; separatrix.LogisticRegression().fit([[0.], [1.], [2.], [3.]], [0, 1, 0, 1]); "
        "print('numba' in sys.modules)"
    )
    assert in_a_new_process(code) == "False"


@pytest.mark.parametrize("l2", [1.0, 1e3])
def test_a_large_penalty_makes_no_column_a_combination_of_others(l2):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 3)), rng.integers(0, 2, 600)
    X[:, 0] *= 1e-8
    verdict = LogisticRegression(l2=l2).fit(X, y).verdict_
    assert verdict.rank.rank == 4
    assert verdict.rank.aliased == ()
    assert verdict.check(X, y)


@pytest.mark.parametrize("seed", [2, 5, 6, 7, 11, 12])
def test_dependent_columns_in_units_far_apart_keep_their_digits(seed):
    """The shortest weights would move what a column of 10⁻⁸ says to columns of 10⁸, where it drowns."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((300, 5)), rng.integers(0, 2, 300)
    X *= 10.0 ** rng.choice([-8, -4, 0, 4, 8], 5)
    X[:, 0] = X[:, 1:] @ rng.integers(-1, 2, 4)
    model = LogisticRegression().fit(X, y)
    assert model.verdict_.status == "optimal"
    assert len(model.verdict_.rank.aliased) == 1
    assert model.verdict_.check(X, y)
