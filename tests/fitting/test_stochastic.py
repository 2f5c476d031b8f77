"""One row at a time: the notes' rules literally, orders, averages, schedules, and rows as they come.  [000 §8.1.3]"""

import copy
import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.logistic import newton
from sklearn.base import clone

import separatrix.fitting.scan.stochastic as stochastic_module
from separatrix import BudgetWarning, LearningRate, LogisticRegression, SeparationWarning
from separatrix.fitting.scan.online import row_order
from separatrix.results.proofs import Locality, Optimality

LAW = settings(max_examples=60, deadline=None, derandomize=True)
OBJECTIVES = ["likelihood", "squared"]
KINDS = ["two", "two soft", "many", "many soft"]


def overlapping(n=300, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ np.linspace(1, -1, d) + 0.3 + rng.logistic(size=n) > 0).astype(int)


def targets(X, kind, seed=0):
    """Labels or probabilities of two or of four classes."""
    rng = np.random.default_rng(seed + 5)
    K = 2 if kind.startswith("two") else 4
    scores = X @ rng.normal(size=(X.shape[1], K)) + rng.gumbel(size=(len(X), K))
    if not kind.endswith("soft"):
        return scores.argmax(axis=1)
    T = np.exp(scores)
    T /= T.sum(axis=1, keepdims=True)
    return T[:, 1] if K == 2 else T


def stochastic(**settings):
    return LogisticRegression(**{"solver": "stochastic", "random_state": 0, **settings})


def quietly(X, y, sample_weight=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        warnings.simplefilter("ignore", BudgetWarning)
        return stochastic(**settings).fit(X, y, sample_weight)


def walk(X, target, w, b, rates, objective, cost=None, l2=0.0, fit_intercept=True, order=None):
    """The notes' rule in plain NumPy, a row a step: the weights after each step, and the intercepts.

    Δw = η e x, or η e p(1 − p) x; of K classes Δwₖ = η eₖ x, or η pₖ(eₖ − Σⱼeⱼpⱼ) x. A row's cost multiplies η. The
    penalty's part of a step is −ηc·l2·w, half of that where the factor 2 of the squared error's slope is dropped.
    """
    w, b, trail = np.array(w, float), np.array(b, float), []
    penalty = l2 if objective == "likelihood" else l2 / 2
    rows = range(len(X)) if order is None else order
    for i, eta in zip(rows, rates, strict=True):
        step = eta * (1.0 if cost is None else cost[i])
        if w.ndim == 1:
            p = 1 / (1 + np.exp(-(X[i] @ w + b)))
            e = target[i] - p
            pull = e if objective == "likelihood" else e * p * (1 - p)
            w = w - step * penalty * w + step * pull * X[i]
        else:
            s = w @ X[i] + b
            p = np.exp(s - s.max())
            p /= p.sum()
            e = target[i] - p
            pull = e if objective == "likelihood" else p * (e - e @ p)
            w = w - step * penalty * w + step * np.outer(pull, X[i])
        b = b + step * pull * fit_intercept
        trail.append((w, b))
    return trail


def as_probabilities(y):
    return np.eye(y.max() + 1)[y] if y.ndim == 1 and y.max() > 1 else y


def start_of(X, y):
    """A start that is not zero, K × (d + 1) or d + 1 numbers."""
    T = as_probabilities(y)
    shape = (T.shape[1], X.shape[1] + 1) if T.ndim == 2 else (X.shape[1] + 1,)
    return np.random.default_rng(9).normal(size=shape) / 2


def state_after(model, X, y, sample_weight=None, passes=1):
    """The step after so many passes."""
    steps = model.steps(X, y, sample_weight)
    for _ in range(passes + 1):
        step = next(steps)
    steps.close()
    return step


def assert_at(step, weights, intercept, tol=1e-12):
    np.testing.assert_allclose(step.weights, weights, rtol=tol, atol=tol)
    np.testing.assert_allclose(step.intercept, intercept, rtol=tol, atol=tol)


# ------------------------------------------------------------------------------------------------- literal passes


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_cyclic_pass_is_the_rule_of_the_notes_row_by_row(objective, kind, fit_intercept, weighted):
    X, _ = overlapping(120)
    y, X = targets(X, kind), X * [1.0, 3.0, 0.3] + [0.0, 1.0, -1.0]
    cost = np.random.default_rng(3).random(120) if weighted else None
    start = start_of(X, y)
    w, b = start[..., :-1], start[..., -1] * fit_intercept
    init = start if fit_intercept else w
    how = {"objective": objective, "order": "cyclic", "learning_rate": 0.05, "fit_intercept": fit_intercept}
    step = state_after(stochastic(init=init, **how), X, y, cost)
    trail = walk(X, as_probabilities(y), w, b, np.full(120, 0.05), objective, cost, 0.0, fit_intercept)
    assert_at(step, *trail[-1])
    assert step.moved_by == "stochastic"


@pytest.mark.parametrize("kind", KINDS)
def test_a_cyclic_pass_shrinks_the_weights_by_the_penalty(kind):
    X, _ = overlapping(120)
    y, cost = targets(X, kind), np.random.default_rng(3).random(120)
    start = start_of(X, y)
    step = state_after(stochastic(init=start, order="cyclic", learning_rate=0.05, l2=0.3), X, y, cost)
    w, b = start[..., :-1], start[..., -1]
    trail = walk(X, as_probabilities(y), w, b, np.full(120, 0.05), "likelihood", cost, 0.3)
    assert_at(step, *trail[-1])


L2_DOUBLED = "the factor 2 of the squared error is dropped from its slope, but not from the penalty's: l2 counts twice"


@pytest.mark.parametrize("kind", KINDS)
def test_a_cyclic_pass_of_the_squared_error_shrinks_the_weights_by_the_penalty(kind):
    X, _ = overlapping(120)
    y = targets(X, kind)
    start = start_of(X, y)
    how = {"objective": "squared", "init": start, "order": "cyclic", "learning_rate": 0.05, "l2": 0.3}
    step = state_after(stochastic(**how), X, y)
    w, b = start[..., :-1], start[..., -1]
    assert_at(step, *walk(X, as_probabilities(y), w, b, np.full(120, 0.05), "squared", None, 0.3)[-1])


@pytest.mark.parametrize("kind", ["two", "many"])
def test_with_a_penalty_the_squared_error_has_the_same_minimum_row_by_row_as_all_at_once(kind):
    X, _ = overlapping()
    y = targets(X, kind)
    rate = LearningRate(1.0, power=0.75, delay=300)
    model = quietly(X, y, objective="squared", l2=0.05, learning_rate=rate, max_passes=300)
    best = LogisticRegression(objective="squared", l2=0.05).fit(X, y)
    np.testing.assert_allclose(model.coef_, best.coef_, atol=0.02)


@pytest.mark.parametrize("kind", ["two", "many"])
def test_with_a_penalty_the_likelihood_has_the_same_maximum_row_by_row_as_all_at_once(kind):
    X, _ = overlapping()
    y = targets(X, kind)
    rate = LearningRate(0.3, power=0.75, delay=300)
    model = quietly(X, y, l2=0.05, learning_rate=rate, max_passes=300)
    np.testing.assert_allclose(model.coef_, LogisticRegression(l2=0.05).fit(X, y).coef_, atol=0.02)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_fit_of_one_pass_is_one_pass(objective, kind):
    X, _ = overlapping(120)
    y = targets(X, kind)
    with pytest.warns(BudgetWarning, match="Stochastic"):
        model = stochastic(objective=objective, order="cyclic", learning_rate=0.05, max_passes=1).fit(X, y)
    zero = np.zeros_like(start_of(X, y))
    w, b = walk(X, as_probabilities(y), zero[..., :-1], zero[..., -1], np.full(120, 0.05), objective)[-1]
    np.testing.assert_allclose(model.coef_, np.atleast_2d(w), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, np.atleast_1d(b), rtol=1e-12, atol=1e-12)
    assert len(model.history_) == 2


@pytest.mark.parametrize(("passes", "taken"), [(0.5, 60), (0.1, 12), (1e-6, 1), (1.5, 180), (2, 240)])
def test_max_passes_may_be_a_fraction(passes, taken):
    X, y = overlapping(120)
    model = quietly(X, y, order="cyclic", learning_rate=0.05, max_passes=passes)
    order = np.tile(np.arange(120), 2)[:taken]
    w, b = walk(X, y, np.zeros(3), 0.0, np.full(taken, 0.05), "likelihood", order=order)[-1]
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.intercept_[0], b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "rate",
    [
        LearningRate(0.3, power=0.5),
        LearningRate(0.3, power=1.0, delay=50.0),
        LearningRate(0.05),
        lambda t: 0.2 / np.sqrt(t),
    ],
    ids=["root", "delayed", "constant", "own"],
)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_schedule_gives_the_rate_of_every_step(objective, rate):
    """η_t = initial · (1 + (t − 1)/delay)^−power, t counted over all passes."""
    X, y = overlapping(120)
    step = state_after(stochastic(objective=objective, order="cyclic", learning_rate=rate), X, y, passes=3)
    t = np.arange(1, 361)
    given = isinstance(rate, LearningRate)
    rates = rate.initial * (1 + (t - 1) / rate.delay) ** -rate.power if given else rate(t)
    order = np.tile(np.arange(120), 3)
    assert_at(step, *walk(X, y, np.zeros(3), 0.0, rates, objective, order=order)[-1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_averaging_ends_with_the_mean_of_the_weights_over_all_steps(objective, kind):
    X, _ = overlapping(120)
    y = targets(X, kind)
    start = start_of(X, y)
    how = {"objective": objective, "init": start, "order": "cyclic", "learning_rate": 0.1, "averaging": True}
    step = state_after(stochastic(**how), X, y, passes=2)
    order = np.tile(np.arange(120), 2)
    trail = walk(X, as_probabilities(y), start[..., :-1], start[..., -1], np.full(240, 0.1), objective, order=order)
    assert_at(step, np.mean([w for w, _ in trail], axis=0), np.mean([b for _, b in trail], axis=0))


# --------------------------------------------------------------------------------------------------------- orders


@pytest.mark.parametrize("order", ["permutation", "replacement"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_pass_takes_the_rows_in_the_order_of_its_seed(objective, order):
    X, y = overlapping(120)
    model = stochastic(objective=objective, order=order, learning_rate=0.05, random_state=11)
    step = state_after(model, X, y, passes=2)
    seed = int(np.random.RandomState(11).randint(2**31 - 1))
    rng = np.random.default_rng(seed)
    rows = np.concatenate([row_order(order, np.arange(120), rng) for _ in range(2)])
    assert_at(step, *walk(X, y, np.zeros(3), 0.0, np.full(240, 0.05), objective, order=rows)[-1])
    if order == "permutation":
        assert sorted(rows[:120]) == sorted(rows[120:]) == list(range(120))
        assert rows[:120].tolist() != rows[120:].tolist()
    else:
        assert len(set(rows[:120].tolist())) < 100


@pytest.mark.parametrize("order", ["permutation", "replacement"])
@pytest.mark.parametrize("kind", ["two", "many"])
def test_orders_differ_by_seed_and_only_by_seed(kind, order):
    X, _ = overlapping(120)
    y = targets(X, kind)
    fits = [quietly(X, y, order=order, random_state=seed, max_passes=3).coef_.tobytes() for seed in (1, 1, 2)]
    assert fits[0] == fits[1] != fits[2]


def test_a_cyclic_order_knows_no_chance():
    X, y = overlapping(120)
    fits = {quietly(X, y, order="cyclic", random_state=seed, max_passes=3).coef_.tobytes() for seed in (1, 2, None)}
    assert len(fits) == 1


def test_least_squares_is_no_start_row_by_row():
    """Zero stands for it; a random start and a given one are taken."""
    X, y = overlapping(120)
    assert next(stochastic().steps(X, y)).weights.tolist() == [0, 0, 0]
    assert next(stochastic(init="zero").steps(X, y)).weights.tolist() == [0, 0, 0]
    assert next(stochastic(init=[1.0, 2.0, 3.0, 4.0]).steps(X, y)).weights.tolist() == [1, 2, 3]
    assert next(stochastic(init="random").steps(X, y)).weights.any()


def test_a_warm_start_goes_on_from_the_last_fit():
    X, y = overlapping(120)
    model = quietly(X, y, warm_start=True, order="cyclic", learning_rate=0.05, max_passes=1)
    first = model.coef_[0].copy()
    np.testing.assert_array_equal(next(model.steps(X, y)).weights, first)


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda X: np.repeat(X, 2, axis=0)[::2]], ids=["F", "strided"])
def test_any_layout_in_memory_takes_the_same_steps(layout):
    X, y = overlapping(120)
    how = {"learning_rate": 0.05, "max_passes": 4}
    assert quietly(layout(X), y, **how).coef_.tobytes() == quietly(X, y, **how).coef_.tobytes()


def test_single_precision_rows_are_stepped_in_double():
    X, y = overlapping(120)
    single = X.astype(np.float32)
    how = {"learning_rate": 0.05, "max_passes": 4}
    np.testing.assert_allclose(
        quietly(single, y, **how).coef_, quietly(single.astype(float), y, **how).coef_, rtol=1e-12
    )


# ---------------------------------------------------------------------------------------------------------- costs


@pytest.mark.parametrize("order", ["cyclic", "permutation", "replacement"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_weight_zero_is_the_row_absent_to_the_last_bit(objective, kind, order):
    X, _ = overlapping(120)
    y, cost = targets(X, kind), np.ones(120)
    cost[[0, 3, 50, 119]] = 0
    far, rest = X.copy(), cost > 0
    far[~rest] = 1e6
    rate = LearningRate(0.2, power=0.5, delay=10)
    how = {"objective": objective, "order": order, "learning_rate": rate, "max_passes": 3}
    weighted, absent = quietly(far, y, cost, **how), quietly(X[rest], y[rest], **how)
    assert weighted.coef_.tobytes() == absent.coef_.tobytes()
    assert weighted.intercept_.tobytes() == absent.intercept_.tobytes()


def test_class_weights_are_factors_on_the_costs():
    X, _ = overlapping(120)
    for kind in ("two", "many"):
        y = targets(X, kind)
        how = {"learning_rate": 0.05, "max_passes": 3}
        by_class = quietly(X, y, class_weight={0: 3.0, 1: 0.5}, **how)
        by_row = quietly(X, y, np.choose(np.minimum(y, 2), [3.0, 0.5, 1.0]), **how)
        np.testing.assert_allclose(by_class.coef_, by_row.coef_, rtol=1e-13)


SHARES = "the steps of a fit take the probabilities of many classes without the factors of class_weight"


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("kind", ["two soft", "many soft"])
def test_class_weights_multiply_the_shares_of_soft_rows(kind, objective):
    """Σₖ fₖtₖ labels k: a row of cost f·t and of shares f∘t/(f·t)."""
    X, _ = overlapping(120)
    y = targets(X, kind)
    T = y if y.ndim == 2 else np.column_stack([1 - y, y])
    split = T * [3.0, 0.5, 1.0, 1.0][: T.shape[1]]
    total = split.sum(axis=1)
    shares = split / total[:, None]
    how = {"objective": objective, "learning_rate": 0.05, "max_passes": 3}
    by_class = quietly(X, y, class_weight={0: 3.0, 1: 0.5}, **how)
    by_row = quietly(X, shares if y.ndim == 2 else shares[:, 1], total, **how)
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, rtol=1e-12)


# ------------------------------------------------------------------------------------------------------- verdicts


@pytest.mark.parametrize("kind", ["two", "many"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_it_stops_when_the_weights_converge_and_says_so(objective, kind):
    X, _ = overlapping()
    y = targets(X, kind)
    model = quietly(X, y, objective=objective, tol=1e-4)
    moves = [record.step for record in model.history_[1:]]
    assert moves[-1] <= 1e-2
    assert all(move > 1e-2 for move in moves[:-1])
    assert len(moves) < 200
    if not model.verdict_.ok:
        assert "the weights hardly move any more" in str(model.verdict_)
        assert "solver='auto'" in model.verdict_.remedy


def test_it_says_when_the_weights_still_move():
    X, y = overlapping()
    with pytest.warns(BudgetWarning, match=r"the weights still move.*Raise max_passes above 3"):
        model = stochastic(max_passes=3).fit(X, y)
    assert len(model.history_) == 4


def gap_above_the_minimum(model, X, y):
    """The true distance of the value from the minimum nearby."""
    start = np.column_stack([model.coef_, model.intercept_])
    best = LogisticRegression(objective=model.objective, l2=model.l2, init=start, starts=1, tol=1e-13).fit(X, y)
    return model.verdict_.claim.value - best.verdict_.claim.value


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_what_is_proved_of_a_stochastic_fit_is_true_and_what_is_not_is_said(objective, kind, tol):
    X, _ = overlapping()
    y = targets(X, kind)
    model = quietly(X, y, objective=objective, tol=tol, max_passes=100)
    proof = model.verdict_.certificate
    if proof is None:
        assert "how far it is from a minimum is not proved" in str(model.verdict_)
        assert not model.verdict_.ok
        return
    assert isinstance(proof, Optimality if objective == "likelihood" else Locality)
    assert -1e-12 <= gap_above_the_minimum(model, X, y) <= proof.gap * (1 + 1e-6) + 1e-12
    assert model.verdict_.ok == (proof.gap <= tol * model.verdict_.claim.value)
    assert model.verdict_.status == ("optimal" if objective == "likelihood" else "local") or not model.verdict_.ok


def test_a_good_stochastic_fit_is_proved_and_can_be_checked():
    X, y = overlapping()
    model = stochastic(tol=1e-3, learning_rate=LearningRate(0.1, power=0.75, delay=300), averaging=True).fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(X, y)
    assert model.verdict_.claim.value <= float(newton(X, y).value) * 1.001
    assert model.verdict_.certificate.relative_gap <= 1e-3


def test_the_value_that_is_told_is_the_value_there():
    X, _ = overlapping()
    for kind in ("two", "many"):
        y = targets(X, kind)
        model = quietly(X, y, l2=0.1, max_passes=5)
        p = model.predict_log_proba(X)[np.arange(len(y)), y]
        expected = -p.mean() + 0.05 * np.square(model.coef_).sum()
        assert model.verdict_.claim.value == pytest.approx(expected, rel=1e-12)
        assert model.history_[-1].value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", ["two", "many"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_constant_rate_that_is_too_large_is_told_to_oscillate(objective, kind):
    X, _ = overlapping()
    y = targets(X, kind)
    with pytest.warns(BudgetWarning, match=r"Oscillating: with the constant learning_rate=0\.5"):
        model = stochastic(objective=objective, learning_rate=0.5).fit(X, y)
    assert model.verdict_.status == "budget"
    assert "Lower learning_rate" in model.verdict_.remedy
    assert "averaging=True" in model.verdict_.remedy
    assert "LearningRate(" in model.verdict_.remedy


def test_a_constant_schedule_oscillates_as_a_number_does():
    X, y = overlapping()
    by_number, by_schedule = quietly(X, y, learning_rate=0.5), quietly(X, y, learning_rate=LearningRate(0.5))
    assert by_number.coef_.tobytes() == by_schedule.coef_.tobytes()
    assert "Oscillating" in str(by_schedule.verdict_)


@pytest.mark.parametrize(
    "how", [{"averaging": True}, {"learning_rate": LearningRate(0.5, power=0.5)}], ids=["averaging", "falling"]
)
def test_averages_and_falling_rates_are_the_way_out_of_oscillation(how):
    X, y = overlapping()
    still, calm = quietly(X, y, learning_rate=0.5), quietly(X, y, **{"learning_rate": 0.5, **how})
    assert "Oscillating" in str(still.verdict_)
    assert "Oscillating" not in str(calm.verdict_)
    best = float(newton(X, y).value)
    assert calm.verdict_.claim.value - best < 0.2 * (still.verdict_.claim.value - best)


@pytest.mark.parametrize("rate", [1e-6, 1e-5, 1e-4])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_small_rate_is_slow_but_not_told_to_oscillate(objective, rate):
    X, y = overlapping()
    model = quietly(X, y, objective=objective, learning_rate=rate, max_passes=60)
    assert "scillat" not in str(model.verdict_)
    assert "the weights still move" in str(model.verdict_)


@pytest.mark.parametrize("kind", ["two", "many"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_weights_that_overflow_are_told_and_the_last_finite_ones_kept(objective, kind):
    """η·l2 = 10: every step multiplies the weights by −9."""
    X, _ = overlapping(600)
    y = targets(X, kind)
    with pytest.warns(BudgetWarning, match=r"Diverged: with learning_rate=10.*overflow"):
        model = stochastic(objective=objective, learning_rate=10.0, l2=1.0).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert "Lower learning_rate" in model.verdict_.remedy
    assert model.verdict_.certificate is None


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_weights_that_nearly_overflow_are_told_without_warnings_of_numpys(objective):
    X, y = overlapping()
    model = quietly(X, y, objective=objective, learning_rate=1e300)
    assert model.verdict_.status == "budget"
    assert "nan" not in str(model.verdict_)


@pytest.mark.parametrize("kind", ["two", "many"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_separated_rows_end_the_walk(objective, kind):
    rng = np.random.default_rng(0)
    K = 2 if kind == "two" else 3
    y = np.arange(90) % K
    X = 6 * np.column_stack([np.cos(2 * np.pi * y / K), np.sin(2 * np.pi * y / K)]) + 0.5 * rng.normal(size=(90, 2))
    model = quietly(X, y, objective=objective)
    assert model.verdict_.status == "separated"
    assert model.predict(X).tolist() == y.tolist()
    assert len(model.history_) < 200


def test_an_aliased_column_is_named():
    X, y = overlapping()
    model = quietly(np.column_stack([X, X[:, 0] + X[:, 1]]), y)
    assert model.verdict_.rank.aliased
    assert model.verdict_.rank.rank == 4


def test_more_columns_than_rows_with_a_penalty():
    X, y = overlapping(20, 40)
    model = quietly(X, y, l2=0.1, tol=1e-8, max_passes=1000)
    best = LogisticRegression(l2=0.1).fit(X, y).verdict_.claim.value
    assert model.verdict_.claim.value == pytest.approx(best, rel=0.05)


def test_one_row_of_each_class_is_enough_to_walk():
    model = quietly([[0.0], [1.0]], [0, 1], max_passes=50, l2=0.1)
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]


# ----------------------------------------------------------------------------------------------------- interruptions


def interrupt_scan(monkeypatch, calls):
    made, undisturbed = [], stochastic_module.scan

    def scanning(*arguments, **named):
        if len(made) == calls:
            raise KeyboardInterrupt
        made.append(1)
        return undisturbed(*arguments, **named)

    monkeypatch.setattr(stochastic_module, "scan", scanning)


@pytest.mark.parametrize("kind", ["two", "many"])
@pytest.mark.parametrize("calls", [0, 1, 5])
def test_ctrl_c_keeps_the_weights_of_the_last_whole_pass(monkeypatch, kind, calls):
    X, _ = overlapping(120)
    y = targets(X, kind)
    expected = state_after(stochastic(learning_rate=0.05), X, y, passes=calls)
    interrupt_scan(monkeypatch, calls)
    model = stochastic(learning_rate=0.05)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.verdict_.status == "interrupted"
    np.testing.assert_array_equal(np.squeeze(model.coef_), expected.weights)
    assert len(model.history_) == calls + 1
    assert len(model.predict(X)) == 120


def test_who_stops_reading_the_steps_finds_the_attributes_set():
    X, y = overlapping(120)
    model = stochastic()
    steps = model.steps(X, y)
    last = [next(steps) for _ in range(3)][-1]
    steps.close()
    assert model.verdict_.status == "interrupted"
    assert model.coef_[0].tolist() == last.weights.tolist()
    assert model.verdict_.check(X, y)


def test_a_bad_schedule_is_blamed_on_the_learning_rate():
    X, y = overlapping(120)
    for bad in (lambda t: -t, lambda t: 0.1, lambda t: t * np.nan):
        with pytest.raises(ValueError, match="learning rate returned"):
            stochastic(learning_rate=bad).fit(X, y)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_cell_that_is_not_finite_is_named(value):
    X, y = overlapping(120)
    X[17, 1] = value
    with pytest.raises(ValueError, match=r"X\[17, 'x1'\]"):
        stochastic(learning_rate=0.1).fit(X, y)


# ------------------------------------------------------------------------------------------------ rows as they come


def online(**settings):
    return stochastic(**{"learning_rate": 0.1, **settings})


def classes_of(y):
    return np.arange(as_probabilities(y).shape[1]) if as_probabilities(y).ndim == 2 else [0, 1]


def chopped(model, X, y, cuts, sample_weight=None):
    edges = [0, *sorted(set(cuts)), len(X)]
    for lo, hi in itertools.pairwise(edges):
        weight = None if sample_weight is None else sample_weight[lo:hi]
        if lo < hi:
            model.partial_fit(X[lo:hi], y[lo:hi], classes=classes_of(y), sample_weight=weight)
    return model


@LAW
@given(
    st.sampled_from(OBJECTIVES), st.sampled_from(KINDS), st.booleans(), st.booleans(), st.booleans(),
    st.lists(st.integers(1, 59), max_size=12), st.sampled_from([0.1, LearningRate(0.5, power=0.6, delay=3.0)]),
)  # fmt: skip
def test_any_chopping_gives_the_same_bits_as_one_call(objective, kind, averaging, weighted, fit_intercept, cuts, rate):
    X, _ = overlapping(60)
    y = targets(X, kind)
    cost = np.random.default_rng(4).random(60) + 0.1 if weighted else None
    how = {"objective": objective, "averaging": averaging, "fit_intercept": fit_intercept, "learning_rate": rate}
    how["l2"] = 0.01
    whole, parts = chopped(online(**how), X, y, [], cost), chopped(online(**how), X, y, cuts, cost)
    assert parts.coef_.tobytes() == whole.coef_.tobytes()
    assert parts.intercept_.tobytes() == whole.intercept_.tobytes()
    assert parts.n_steps_ == whole.n_steps_ == 60


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_row_by_row_is_one_call_and_the_rule_of_the_notes(objective, kind):
    X, _ = overlapping(80)
    y = targets(X, kind)
    start = start_of(X, y)
    model = chopped(online(objective=objective, init=start), X, y, range(80))
    trail = walk(X, as_probabilities(y), start[..., :-1], start[..., -1], np.full(80, 0.1), objective)
    np.testing.assert_allclose(model.coef_, np.atleast_2d(trail[-1][0]), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, np.atleast_1d(trail[-1][1]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_partial_fit_of_all_rows_is_a_cyclic_fit_of_one_pass(objective, kind):
    X, _ = overlapping(80)
    y = targets(X, kind)
    once = quietly(X, y, objective=objective, learning_rate=0.1, order="cyclic", max_passes=1)
    model = chopped(online(objective=objective), X, y, [])
    assert model.coef_.tobytes() == once.coef_.tobytes()
    assert model.intercept_.tobytes() == once.intercept_.tobytes()


def test_a_weight_of_zero_within_a_chunk_is_the_row_absent():
    X, y = overlapping(80)
    cost = np.ones(80)
    cost[[3, 40]] = 0
    rest = cost > 0
    weighted = chopped(online(), X, y, [20, 41], cost)
    assert weighted.coef_.tobytes() == chopped(online(), X[rest], y[rest], []).coef_.tobytes()
    assert weighted.n_steps_ == 78


def test_a_chunk_of_weight_zero_is_a_chunk_absent():
    X, y = overlapping(80)
    cost = np.ones(80)
    cost[40] = 0
    whole, parts = chopped(online(), X, y, [], cost), chopped(online(), X, y, range(80), cost)
    assert parts.coef_.tobytes() == whole.coef_.tobytes()


@pytest.mark.parametrize("K", [2, 3])
def test_one_hot_rows_can_be_chopped_too(K):
    X, _ = overlapping(80)
    T = np.eye(K)[np.arange(80) % K]
    whole, parts = online().partial_fit(X, T), online()
    for i in range(80):
        parts.partial_fit(X[i : i + 1], T[i : i + 1], classes=np.arange(K))
    assert parts.coef_.tobytes() == whole.coef_.tobytes()


def test_classes_may_be_named_before_they_occur():
    X, _ = overlapping(80)
    y = targets(X, "many")
    model = online().partial_fit(X[:1], y[:1], classes=[3, 1, 0, 2])
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.predict_proba(X).shape == (80, 4)
    words = np.array(["d", "c", "b", "a"])[y]
    named = online().partial_fit(X, words, classes=["a", "b", "c", "d"])
    assert named.classes_.tolist() == ["a", "b", "c", "d"]


def test_classes_need_not_be_named_if_they_all_occur():
    X, y = overlapping(80)
    assert online().partial_fit(X, y).coef_.tobytes() == online().partial_fit(X, y, classes=[0, 1]).coef_.tobytes()


def test_the_columns_of_a_frame_are_their_own_classes_in_partial_fit():
    X, _ = overlapping(80)
    T = pd.DataFrame(targets(X, "many soft"), columns=["d", "a", "c", "b"])
    model = online().partial_fit(X, T, classes=["d", "a", "c", "b"])
    expected = online().partial_fit(X, T)
    column = expected.classes_.tolist().index("d")
    found = model.predict_proba(X)[:, model.classes_.tolist().index("d")]
    np.testing.assert_allclose(found, expected.predict_proba(X)[:, column], rtol=1e-12)


def test_a_later_frame_with_its_columns_in_another_order_is_understood_or_refused():
    X, _ = overlapping(80)
    T = pd.DataFrame(targets(X, "many soft"), columns=list("abcd"))
    same = online().partial_fit(X, T).partial_fit(X, T)
    try:
        turned = online().partial_fit(X, T).partial_fit(X, T[["d", "c", "b", "a"]])
    except ValueError:
        return
    assert turned.coef_.tobytes() == same.coef_.tobytes()


def test_class_weights_multiply_the_steps_of_partial_fit():
    X, _ = overlapping(80)
    for kind in ("two", "two soft", "many"):
        y = targets(X, kind)
        by_class = chopped(online(class_weight={0: 3.0, 1: 0.5}), X, y, [30])
        fitted = quietly(X, y, class_weight={0: 3.0, 1: 0.5}, learning_rate=0.1, order="cyclic", max_passes=1)
        np.testing.assert_allclose(by_class.coef_, fitted.coef_, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pickled_model_goes_on_with_the_same_bits(kind):
    X, _ = overlapping(80)
    y = targets(X, kind)
    rate = LearningRate(0.5, power=0.5)
    model = chopped(online(averaging=True, learning_rate=rate), X[:30], y[:30], [10])
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        copied.partial_fit(X[30:], y[30:])
        expected = chopped(online(averaging=True, learning_rate=rate), X, y, [10, 30])
        assert copied.coef_.tobytes() == expected.coef_.tobytes()
        assert copied.n_steps_ == 80
    assert model.n_steps_ == 30
    assert not hasattr(clone(model), "coef_")


def test_the_verdict_of_rows_that_still_come_claims_nothing():
    X, y = overlapping(80)
    model = online().partial_fit(X, y)
    assert model.verdict_.status == "interrupted"
    assert not model.verdict_.ok
    assert model.verdict_.certificate is None
    assert "80 rows so far" in str(model.verdict_)
    assert "nothing is proved" in str(model.verdict_)
    assert model.partial_fit(X, y) is model
    assert "160 rows so far" in str(model.verdict_)
    assert model.predict_proba(X).shape == (80, 2)
    assert model.rule_.weights.tolist() == model.coef_[0].tolist()


def test_many_passes_of_partial_fit_learn():
    X, y = overlapping()
    model = online(learning_rate=LearningRate(0.3, power=0.75, delay=300))
    for _ in range(50):
        model.partial_fit(X, y)
    np.testing.assert_allclose(model.coef_[0], newton(X, y).weights.astype(float), atol=0.05)


def test_names_of_columns_are_kept_and_asked_for():
    X, y = overlapping(80)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = online().partial_fit(table, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.rule_.columns == ("a", "b", "c")
    with pytest.raises(ValueError, match="X has the column 'c' at place 0"):
        model.partial_fit(table[["c", "b", "a"]], y)


# ----------------------------------------------------------------------------------------- partial_fit: bad input


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "gradient"])
def test_solvers_of_all_rows_have_no_partial_fit(solver):
    model = LogisticRegression(solver=solver)
    assert not hasattr(model, "partial_fit")
    assert hasattr(model.set_params(solver="stochastic"), "partial_fit")
    with pytest.raises(AttributeError):
        LogisticRegression(solver=solver).partial_fit


def bad_call(**settings):
    """What goes wrong in the first call of partial_fit with these settings."""
    X, y = overlapping(80)
    arguments = {name: settings.pop(name) for name in ("X", "y", "classes", "sample_weight") if name in settings}
    return lambda: online(**settings).partial_fit(**{"X": X, "y": y, **arguments})


X80, Y80 = overlapping(80)
FIRST = {
    "no rate": (bad_call(learning_rate=None), ("learning_rate", "a number", "LearningRate(")),
    "balanced classes": (bad_call(class_weight="balanced"), ("class_weight='balanced'", "dict")),
    "a penalty to be chosen": (bad_call(l2="cv"), ("solver='stochastic'", "l2='cv'")),
    "one class named": (bad_call(classes=[1]), ("classes are [1]", "two classes")),
    "one class seen": (bad_call(y=np.zeros(80, int)), ("one class only", "0")),
    "a class that was not named": (bad_call(classes=[0, 2]), ("y[", "unknown", "[0, 2]")),
    "too few labels": (bad_call(y=Y80[1:], classes=[0, 1]), ("(79,)", "80 rows")),
    "a negative weight": (bad_call(sample_weight=-np.ones(80)), ("sample_weight[0] is -1.0",)),
    "a fraction outside": (bad_call(y=np.full(80, 1.5)), ("y[0] is 1.5", "between 0 and 1")),
    "an init of a wrong size": (bad_call(init=[1.0, 2.0]), ("init has 2 numbers", "3 weights")),
}


@pytest.mark.parametrize(("call", "words"), FIRST.values(), ids=FIRST)
def test_a_bad_first_call_says_what_is_wrong(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    for each in words:
        assert each in str(caught.value)


def with_nan(value, i=5, j=1):
    spoilt = X80.copy()
    spoilt[i, j] = value
    return spoilt


LATER = {
    "NaN": ({"X": with_nan(np.nan), "y": Y80}, ("is NaN", "X[5, 'x1']")),
    "infinity": ({"X": with_nan(np.inf), "y": Y80}, ("inf", "X[5, 'x1']")),
    "an unknown class": (
        {"X": X80, "y": np.where(np.arange(80) == 7, 2, Y80)},
        ("y[7] is 2, which is unknown", "[0, 1]"),
    ),
    "other classes": ({"X": X80, "y": Y80, "classes": [0, 1, 2]}, ("classes are [0, 1, 2]", "learns [0, 1]")),
    "fewer columns": ({"X": X80[:, :2], "y": Y80}, ("X has 2 features", "expecting 3")),
    "fewer labels": ({"X": X80, "y": Y80[1:]}, ("(79,)", "80 rows")),
    "a NaN weight": ({"X": X80, "y": Y80, "sample_weight": np.full(80, np.nan)}, ("sample_weight[0] is nan",)),
}


@pytest.mark.parametrize(("arguments", "words"), LATER.values(), ids=LATER)
@pytest.mark.parametrize("averaging", [False, True])
def test_a_bad_later_call_says_what_is_wrong_and_leaves_the_model_as_it_was(arguments, words, averaging):
    model = online(averaging=averaging).partial_fit(X80, Y80)
    before = pickle.dumps(model)
    with pytest.raises(ValueError) as caught:
        model.partial_fit(**arguments)
    for each in words:
        assert each in str(caught.value)
    assert "\n" not in str(caught.value)
    assert pickle.dumps(model) == before
    again = online(averaging=averaging).partial_fit(X80, Y80).partial_fit(X80, Y80)
    assert model.partial_fit(X80, Y80).coef_.tobytes() == again.coef_.tobytes()


def test_rows_of_many_classes_with_nan_leave_the_model_as_it_was():
    y = targets(X80, "many")
    model = online().partial_fit(X80, y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"X\[5, 'x1'\] is NaN"):
        model.partial_fit(with_nan(np.nan), y)
    assert pickle.dumps(model) == before


def test_a_rate_that_overflows_the_weights_leaves_the_model_as_it_was():
    """η·l2 = 10: every step multiplies the weights by −9, and 9³²⁴ overflows."""
    model = online(learning_rate=10.0, l2=1.0).partial_fit(X80, Y80)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"weights overflow.*learning_rate=10\.0.*as it was"):
        model.partial_fit(np.tile(X80, (5, 1)), np.tile(Y80, 5))
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("class_weight", [{7: 2.0}, {0: -1.0}, {0: np.nan}, [1.0, 2.0]], ids=str)
def test_class_weights_are_checked_as_in_fit(class_weight):
    with pytest.raises(ValueError, match="class_weight"):
        online(class_weight=class_weight).partial_fit(X80, Y80)


def test_a_fit_in_between_is_not_forgotten():
    model = online(max_passes=3)
    model.partial_fit(X80, 1 - Y80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        model.fit(X80, Y80)
    fitted = model.coef_.copy()
    model.partial_fit(X80[:1], Y80[:1], classes=[0, 1])
    afresh = online().partial_fit(X80[:1], Y80[:1], classes=[0, 1]).coef_
    continued = np.abs(model.coef_ - fitted).max() < 0.3
    assert continued or model.coef_.tobytes() == afresh.tobytes()


def test_partial_fit_after_a_fit_with_other_columns_is_possible():
    model = online(max_passes=3).partial_fit(X80[:, :2], Y80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        model.fit(X80, Y80)
    assert model.partial_fit(X80, Y80).coef_.shape == (1, 3)
