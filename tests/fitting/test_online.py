"""The scan is the rule of the notes, row by row, however the rows lie in memory and however they are dealt out."""

import json
import math
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import ROOT
from rarely import some_of
from scipy.sparse import csr_array

import separatrix
from separatrix import LogisticRegression
from separatrix.data import Sparse
from separatrix.data.block import Dense
from separatrix.fitting.scan.online import GATHERED, ORDERS, STEPS, LearningRate, OnlineState, row_order
from separatrix.fitting.scan.online import scan as scan_of
from separatrix.losses import ALL, LogisticSquared, LogLikelihood, MarginLoss
from separatrix.losses.softmax import SoftmaxLikelihood, SoftmaxSquared
from separatrix.numerics.functions import positive, sigmoid

NO_COST = np.empty(0)
OBJECTIVES = ("likelihood", "squared")
FADING = LearningRate(0.2, power=0.6, delay=7.0)

seeds = st.integers(0, 2**32 - 1)
every_objective = pytest.mark.parametrize("objective", OBJECTIVES)
every_order = pytest.mark.parametrize("kind", ORDERS)


LOSSES = {
    "likelihood": (LogLikelihood(), SoftmaxLikelihood()),
    "squared": (LogisticSquared(), SoftmaxSquared()),
}


def scan(state: OnlineState, *given_: Any, objective: str = "likelihood", **how: Any) -> OnlineState:
    """The scan of the loss of so many classes."""
    return scan_of(state, *given_, loss=LOSSES[objective][len(state.weights) > 1], **how)


def start(classes: int, d: int, rng: Any = None) -> OnlineState:
    """At zero, or anywhere; `classes` rows of weights."""
    if rng is None:
        return OnlineState(np.zeros((classes, d)), np.zeros(classes))
    return OnlineState(rng.standard_normal((classes, d)) / 4, rng.standard_normal(classes) / 4)


def targets(classes: int, soft: bool, n: int, rng: Any) -> Any:
    if classes == 1:
        return rng.random(n) if soft else rng.integers(0, 2, n).astype(float)
    return rng.dirichlet(np.ones(classes), n) if soft else rng.integers(0, classes, n)


def assert_same_bits(found: OnlineState, expected: OnlineState) -> None:
    assert (found.steps, found.summed) == (expected.steps, expected.summed)
    for name in ("weights", "intercept", "weight_sum", "intercept_sum"):
        mine, other = getattr(found, name), getattr(expected, name)
        assert (mine is None) == (other is None)
        assert mine is None or (mine.shape == other.shape and mine.tobytes() == other.tobytes()), name


def by_the_book(
    state: OnlineState, X: Any, target: Any, cost: Any, order: Any, *, objective: str, rate: Any, l2: float = 0.0,
    fit_intercept: bool = True,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """The rules as they are printed, in NumPy: last weights and intercepts, and the means over the steps."""
    W, b, steps = state.weights.copy(), state.intercept.copy(), [(state.weights * 0, state.intercept * 0)]
    for i in order:
        c = cost[i] if cost.size else 1.0
        if c == 0:
            continue
        eta, x = float(rate(np.array([float(len(steps))]))[0]), X[i].astype(float)
        if len(W) == 1:
            p = 1 / (1 + np.exp(-(W @ x + b)))
            e = target[i] - p
            pull = e if objective == "likelihood" else e * p * (1 - p)
        else:
            s = W @ x + b
            p = np.exp(s - s.max())
            p /= p.sum()
            t = target[i] if target.ndim == 2 else np.eye(len(W))[target[i]]
            pull = t - p if objective == "likelihood" else p * ((t - p) - ((t - p) * p).sum())
        W = W + eta * c * np.outer(pull, x) - eta * c * l2 * W
        b = b + eta * c * pull * fit_intercept
        steps.append((W, b))
    count = max(1, len(steps) - 1)
    return W, b, sum(step[0] for step in steps) / count, sum(step[1] for step in steps) / count


# The rules.


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@every_objective
@given(data=st.data(), seed=seeds)
def test_every_step_is_the_rule_of_the_notes(objective: str, dtype: str, data: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, classes = (data.draw(st.integers(*ends)) for ends in ((1, 30), (1, 37), (1, 4)))
    soft, weighted, fit_intercept = (data.draw(st.booleans()) for _ in range(3))
    l2 = data.draw(st.sampled_from([0.0, 0.3]))
    X = rng.standard_normal((n, d)).astype(dtype)
    cost = rng.integers(0, 3, n) / 2 if weighted else NO_COST
    given_ = (start(classes, d, rng), X, targets(classes, soft, n, rng), cost, rng.integers(0, n, 2 * n))
    settings = {"objective": objective, "rate": FADING, "l2": l2, "fit_intercept": fit_intercept}
    found = scan(*given_, averaging=True, **settings)
    expected = by_the_book(*given_, **settings)
    for mine, book in zip((found.weights, found.intercept, *found.averaged()), expected, strict=True):
        if found.steps:
            np.testing.assert_allclose(mine, book, rtol=1e-12, atol=1e-12 * np.abs(book).max(initial=1.0))


@pytest.mark.parametrize("d", [0, 1, 2, 3, 5, 9, 15, 16, 17, 31, 32, 48, 63, 130])
@pytest.mark.parametrize("classes", [1, 3])
def test_no_column_is_left_out_or_counted_twice(d: int, classes: int) -> None:
    """Integers: the score is an exact sum, and a sure row that is wrong moves every weight by just ηx."""
    X = np.arange(1.0, d + 1)[None, :] + 64
    before = OnlineState(np.full((classes, d), -1.0), np.full(classes, -1e3))
    if classes > 1:
        before.weights[0], before.intercept[0] = 1, 1e3
    target = np.ones(1) if classes == 1 else np.ones(1, int)
    after = scan(before, X, target, NO_COST, np.zeros(1, int), rate=LearningRate(0.5))
    gain = np.zeros((classes, 1))
    gain[[0]] = 0.5 if classes == 1 else -0.5
    gain[1:2] = 0.5
    np.testing.assert_array_equal(after.weights, before.weights + gain * X)
    np.testing.assert_array_equal(after.intercept, before.intercept + gain[:, 0])
    small = OnlineState(np.full((1, d), 1 / 64), np.zeros(1))
    p = -scan(small, X / 64, np.zeros(1), NO_COST, np.zeros(1, int), rate=LearningRate(1.0)).intercept[0]
    assert p == pytest.approx(sigmoid(X.sum() / 4096), rel=1e-15)


def test_the_probability_is_right_to_the_last_bits() -> None:
    z = np.concatenate([np.linspace(-45, 45, 3001), [-1e308, -745, -40.01, -39.99, 0, 1e-300, 39.99, 40.01, 1e308]])
    one, zero = OnlineState(np.ones((1, 1)), np.zeros(1)), np.zeros(1, int)
    for score in z:
        after = scan(one, np.array([[score]]), np.zeros(1), NO_COST, zero, rate=LearningRate(1.0))
        assert -after.intercept[0] == pytest.approx(float(sigmoid(score)), rel=2e-15, abs=5e-18)


@every_objective
@given(seed=seeds, l2=st.sampled_from([0.0, 0.2]))
def test_two_rows_of_a_softmax_are_the_rule_of_two_classes(objective: str, l2: float, seed: int) -> None:
    """With W = (−w/2, w/2) a step moves W₁ − W₀ by 2η(t − p)x, or 4η(t − p)p(1 − p)x: the rate 2η, or 4η, and the ridge
    that shrinks the weights as much at that rate."""
    rng, factor = np.random.default_rng(seed), {"likelihood": 2, "squared": 4}[objective]
    n, d = 40, 5
    X, t = rng.standard_normal((n, d)), rng.random(n)
    one = start(1, d, rng)
    two = OnlineState(np.vstack([-one.weights, one.weights]) / 2, np.concatenate([-one.intercept, one.intercept]) / 2)
    order = rng.integers(0, n, n)
    many = scan(two, X, np.stack([1 - t, t], axis=1), NO_COST, order, objective=objective, rate=FADING, l2=l2)
    faster = LearningRate(factor * FADING.initial, FADING.power, FADING.delay)
    single = scan(one, X, t, NO_COST, order, objective=objective, rate=faster, l2=l2 / factor)
    np.testing.assert_allclose(many.weights[1] - many.weights[0], single.weights[0], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(many.intercept[1] - many.intercept[0], single.intercept[0], rtol=1e-11, atol=1e-12)


@every_objective
@pytest.mark.parametrize("classes", [1, 3])
def test_a_cost_is_a_factor_on_the_rate(objective: str, classes: int) -> None:
    rng = np.random.default_rng(3)
    X, target, order = rng.standard_normal((50, 4)), targets(classes, True, 50, rng), np.arange(50)
    settings = {"objective": objective, "l2": 0.1}
    twice = scan(start(classes, 4), X, target, np.full(50, 2.0), order, rate=LearningRate(0.125), **settings)
    faster = scan(start(classes, 4), X, target, NO_COST, order, rate=LearningRate(0.25), **settings)
    assert_same_bits(twice, faster)


@every_order
def test_it_comes_near_the_optimum(kind: str) -> None:
    rng = np.random.default_rng(11)
    X = rng.standard_normal((4000, 3))
    y = rng.random(4000) < sigmoid(X @ [1.0, -2.0, 0.5] + 0.3)
    best, state = LogisticRegression().fit(X, y), start(1, 3)
    for _ in range(20):
        order = row_order(kind, len(X), rng)
        state = scan(state, X, y.astype(float), NO_COST, order, rate=LearningRate(0.5, 0.6, 50.0), averaging=True)
    W, b = state.averaged()
    np.testing.assert_allclose(W, best.coef_, atol=0.03)
    np.testing.assert_allclose(b, best.intercept_, atol=0.03)


# The same bits.


@every_objective
@given(data=st.data(), seed=seeds, classes=st.integers(1, 3))
def test_any_chopping_has_the_same_bits(objective: str, data: Any, seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = data.draw(st.integers(1, 25)), data.draw(st.integers(1, 35))
    X, cost = rng.standard_normal((n, d)), rng.integers(0, 3, n).astype(float)
    given_ = X, targets(classes, data.draw(st.booleans()), n, rng), data.draw(st.sampled_from([NO_COST, cost]))
    order = rng.integers(0, n, 3 * n)
    settings = {"objective": objective, "rate": FADING, "l2": 0.05, "averaging": True}
    whole = scan(start(classes, d, np.random.default_rng(1)), *given_, order, **settings)
    state = start(classes, d, np.random.default_rng(1))
    for part in np.split(order, sorted(data.draw(st.lists(st.integers(0, 3 * n), max_size=6)))):
        state = scan(state, *given_, part, **settings)
    assert_same_bits(state, whole)


@pytest.mark.parametrize("rate", [FADING, LearningRate(0.01), LearningRate(0.3, 0.5), lambda t: 1 / (3 + t)])
def test_many_rows_chopped_have_the_same_bits(rate: Any) -> None:
    """Beyond the rows whose rates are made at once."""
    rng = np.random.default_rng(4)
    n = 2 * STEPS + 77
    X, t, order = rng.standard_normal((n, 7)), rng.random(n), rng.permutation(n)
    whole = scan(start(1, 7), X, t, NO_COST, order, rate=rate, averaging=True)
    assert (whole.steps, whole.summed) == (n, n)
    state = start(1, 7)
    for part in np.split(order, [1, 2, 1000, STEPS - 1, STEPS, STEPS + 5000, n - 1]):
        state = scan(state, X, t, NO_COST, part, rate=rate, averaging=True)
    assert_same_bits(state, whole)


def layouts(X: Any) -> dict[str, Any]:
    """The same numbers in every way an array can hold them."""
    n, d = X.shape
    wide = np.full((2 * n, 3 * d), np.nan, X.dtype)
    wide[::2, ::3] = X
    bytes_ = np.zeros(X.nbytes + 1, np.uint8)
    unaligned = bytes_[1:].view(X.dtype).reshape(X.shape)
    unaligned[:] = X
    read_only = X.copy()
    read_only.flags.writeable = False
    return {
        "F": np.asfortranarray(X), "strided": wide[::2, ::3], "backwards": X[::-1, ::-1].copy()[::-1, ::-1],
        "rows apart": np.repeat(X, 2, axis=0)[::2], "unaligned": unaligned, "read-only": read_only,
        "other bytes": X.astype(X.dtype.newbyteorder()),
    }  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("classes", "soft"), [(1, True), (3, False), (3, True)])
def test_any_layout_has_the_same_bits(dtype: str, classes: int, soft: bool) -> None:
    rng = np.random.default_rng(5)
    n, d = GATHERED + 300, 11
    X, target, cost = rng.standard_normal((n, d)).astype(dtype), targets(classes, soft, n, rng), rng.random(n)
    cost[::7] = 0
    settings = {"objective": "squared", "rate": FADING, "averaging": True}
    for order in (rng.permutation(n), np.arange(n)):
        expected = scan(start(classes, d), X, target, cost, order, **settings)
        for name, same in layouts(X).items():
            assert (same == X).all(), name
            assert_same_bits(scan(start(classes, d), same, target, cost, order, **settings), expected)


@pytest.mark.parametrize("classes", [1, 3])
def test_single_precision_is_read_as_double(classes: int) -> None:
    rng = np.random.default_rng(6)
    X, target = rng.standard_normal((300, 21)).astype(np.float32), targets(classes, False, 300, rng)
    single, double = (
        scan(start(classes, 21), rows, target, NO_COST, np.arange(300), rate=FADING)
        for rows in (X, X.astype(np.float64))
    )
    assert_same_bits(single, double)


def test_targets_and_orders_of_any_kind_are_understood() -> None:
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
    expected = scan(start(1, 3), X, y.astype(float), NO_COST, np.arange(40), rate=FADING)
    for target in (y, y.astype(bool), y.astype(np.float32), np.repeat(y, 2)[::2]):
        for order in (np.arange(40, dtype=np.int32), np.arange(80)[::2] // 2):
            assert_same_bits(scan(start(1, 3), X, target, NO_COST, order, rate=FADING), expected)
    labels, P = rng.integers(0, 3, 40), rng.dirichlet(np.ones(3), 40)
    for same in ((labels, labels.astype(np.uint8)), (P, np.asfortranarray(P)), (labels, np.eye(3)[labels])):
        found = [scan(start(3, 3), X, target, NO_COST, np.arange(40), rate=FADING) for target in same]
        assert_same_bits(found[0], found[1])


# Rows that cost nothing, and orders.


@every_order
@given(seed=seeds, classes=st.integers(1, 3))
def test_a_row_that_costs_nothing_is_as_good_as_absent(kind: str, seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    X, cost = rng.standard_normal((20, 3)), rng.integers(0, 3, 20).astype(float)
    target, counts = targets(classes, False, 20, rng), cost > 0
    X[~counts] = np.nan
    present = row_order(kind, np.flatnonzero(counts), np.random.default_rng(seed))
    absent = row_order(kind, int(counts.sum()), np.random.default_rng(seed))
    settings = {"rate": FADING, "l2": 0.1, "averaging": True}
    expected = scan(start(classes, 3), X[counts], target[counts], cost[counts], absent, **settings)
    assert_same_bits(scan(start(classes, 3), X, target, cost, present, **settings), expected)
    assert expected.steps == counts.sum()


@pytest.mark.parametrize("classes", [1, 3])
def test_rows_that_cost_nothing_are_passed_over_in_any_order(classes: int) -> None:
    rng = np.random.default_rng(8)
    X, cost, order = rng.standard_normal((60, 4)), rng.integers(0, 2, 60).astype(float), rng.integers(0, 60, 200)
    target = targets(classes, True, 60, rng)
    found = scan(start(classes, 4), X, target, cost, order, rate=FADING, averaging=True)
    expected = scan(start(classes, 4), X, target, cost, order[cost[order] > 0], rate=FADING, averaging=True)
    assert_same_bits(found, expected)
    before = start(classes, 4, rng)
    nothing = scan(before, X, target, np.zeros(60), order, rate=FADING, l2=1.0)
    assert_same_bits(nothing, before)


@given(n=st.integers(0, 50), seed=seeds)
def test_an_order_deals_out_the_rows_it_is_given(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(rng.random(2 * n) < 0.5)
    assert row_order("cyclic", n, rng).tolist() == list(range(n))
    assert row_order("cyclic", rows, rng).tolist() == rows.tolist()
    assert sorted(row_order("permutation", n, rng).tolist()) == list(range(n))
    assert sorted(row_order("permutation", rows, rng).tolist()) == rows.tolist()
    drawn = row_order("replacement", rows, rng)
    assert drawn.size == rows.size
    assert set(drawn.tolist()) <= set(rows.tolist())


@pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState])
@pytest.mark.parametrize("kind", ["permutation", "replacement"])
def test_every_order_is_as_likely(kind: str, source: Any) -> None:
    """Each of 3! permutations, or of 3³ draws, within five standard deviations of its share."""
    rng, outcomes, trials = source(9), {"permutation": 6, "replacement": 27}[kind], 9000
    seen = np.unique([row_order(kind, 3, rng) @ [9, 3, 1] for _ in range(trials)], return_counts=True)[1]
    share = trials / outcomes
    assert seen.size == outcomes
    assert np.abs(seen - share).max() < 5 * math.sqrt(share)


def test_an_order_follows_its_seed() -> None:
    first, again, other = (row_order("permutation", 100, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first.tolist() == again.tolist() != other.tolist()
    rng = np.random.default_rng(1)
    assert row_order("permutation", 100, rng).tolist() != row_order("permutation", 100, rng).tolist()


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'random' is not known: choose one of permutation, replacement, cyclic"):
        row_order("random", 3, np.random.default_rng(0))


# Learning rates.


@given(
    initial=st.floats(1e-6, 10), power=st.floats(0, 3), delay=st.floats(1e-3, 1e6), first=st.integers(1, 10**9)
)  # fmt: skip
def test_the_rate_is_its_formula(initial: float, power: float, delay: float, first: int) -> None:
    t = np.arange(first, first + 20, dtype=float)
    expected = [initial * math.pow(1 + (s - 1) / delay, -power) for s in t]
    np.testing.assert_allclose(LearningRate(initial, power, delay)(t), expected, rtol=1e-13)
    assert LearningRate(initial, power, delay)(np.array([1.0])) == initial
    assert (LearningRate(initial)(t) == initial).all()


@pytest.mark.parametrize(
    ("given_", "named"),
    [
        ((0.0,), "initial=0.0"), ((-1.0,), "initial=-1.0"), ((math.inf,), "initial=inf"), ((math.nan,), "initial=nan"),
        ((1.0, -0.5), "power=-0.5"), ((1.0, math.nan), "power=nan"), ((1.0, math.inf), "power=inf"),
        ((1.0, 1.0, 0.0), "delay=0.0"), ((1.0, 1.0, math.inf), "delay=inf"),
    ],
)  # fmt: skip
def test_a_rate_that_makes_no_sense_is_refused(given_: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        LearningRate(*given_)


@pytest.mark.parametrize(
    ("schedule", "came"),
    [
        (lambda t: 0.1, r"float64 of shape \(\) for 3 steps"),
        (lambda t: t[:2], r"float64 of shape \(2,\) for 3 steps"),
        (lambda t: None, r"object of shape \(\)"),
        (lambda t: np.full(t.shape, "fast"), r"<U4 of shape \(3,\)"),
        (lambda t: np.where(t == 2, np.nan, 1.0), "returned nan for step 2"),
        (lambda t: np.where(t == 3, np.inf, 1.0), "returned inf for step 3"),
        (lambda t: 1.0 - t, r"returned 0\.0 for step 1"),
        (lambda t: 2.0 - t, r"returned 0\.0 for step 2"),
        (lambda t: -t, r"returned -1\.0 for step 1"),
    ],
)
def test_a_schedule_that_makes_no_rates_is_refused(schedule: Any, came: str) -> None:
    with pytest.raises(ValueError, match=came):
        scan(start(1, 2), np.ones((3, 2)), np.ones(3), NO_COST, np.arange(3), rate=schedule)


def test_a_schedule_sees_the_numbers_of_the_steps_over_all_calls() -> None:
    seen: list[float] = []

    def schedule(t: Any) -> Any:
        seen.extend(t)
        return np.ones(t.shape, np.float32)

    X, state = np.ones((5, 2)), start(1, 2)
    for order in (np.arange(5), np.arange(0), np.array([3, 3, 0])):
        state = scan(state, X, np.ones(5), np.array([1.0, 0, 2, 1, 1]), order, rate=schedule)
    assert seen == [1, 2, 3, 4, 5, 6, 7]
    assert state.steps == 7


# The state.


def test_a_scan_leaves_the_state_before_as_it_was() -> None:
    rng = np.random.default_rng(10)
    X, t = rng.standard_normal((30, 4)), rng.random(30)
    for averaging in (False, True):
        before = scan(start(1, 4), X, t, NO_COST, np.arange(30), rate=FADING, averaging=averaging)
        kept = [None if part is None else part.copy() for part in (before.weights, before.weight_sum)]
        after = scan(before, X, t, NO_COST, np.arange(30), rate=FADING, averaging=averaging)
        assert (before.weights == kept[0]).all()
        assert (before.weights != after.weights).all()
        assert before.weight_sum is None if kept[1] is None else (before.weight_sum == kept[1]).all()


def test_an_average_is_over_the_steps_it_was_asked_for() -> None:
    rng = np.random.default_rng(12)
    X, t = rng.standard_normal((9, 2)), rng.random(9)
    states = [start(1, 2)]
    for i in range(9):
        states.append(scan(states[-1], X, t, NO_COST, np.array([i]), rate=FADING))
    assert states[-1].weight_sum is None
    np.testing.assert_array_equal(states[-1].averaged()[0], states[-1].weights)
    late = scan(states[4], X, t, NO_COST, np.arange(4, 9), rate=FADING, averaging=True)
    assert (late.steps, late.summed) == (9, 5)
    np.testing.assert_allclose(late.averaged()[0], np.mean([s.weights for s in states[5:]], axis=0), rtol=1e-14)
    np.testing.assert_allclose(late.averaged()[1], np.mean([s.intercept for s in states[5:]], axis=0), rtol=1e-14)
    dropped = scan(late, X, t, NO_COST, np.arange(1), rate=FADING)
    assert (dropped.weight_sum, dropped.intercept_sum, dropped.summed) == (None, None, 0)


# At the ends of the real line.


@every_objective
@pytest.mark.parametrize("size", [1e5, 1e300])
def test_sure_rows_make_no_nan(objective: str, size: float) -> None:
    """A score of ±size: where it is right nothing moves, where it is wrong the likelihood moves by all of ηx."""
    X, order = np.array([[size], [-size]]), np.arange(2)
    one = OnlineState(np.ones((1, 1)), np.zeros(1))
    two = OnlineState(np.array([[0.0], [1.0], [0.5]]), np.zeros(3))
    for state, right, wrong in (
        (one, np.array([1.0, 0.0]), np.array([0.0, 1.0])),
        (two, np.array([1, 0]), np.array([0, 1])),
    ):
        unmoved = scan(state, X, right, NO_COST, order, objective=objective, rate=LearningRate(0.1))
        np.testing.assert_array_equal(unmoved.weights, state.weights)
        np.testing.assert_array_equal(unmoved.intercept, state.intercept)
        moved = scan(state, X, wrong, NO_COST, order[:1], objective=objective, rate=LearningRate(1e-3))
        assert np.isfinite(moved.weights).all()
        assert np.isfinite(moved.intercept).all()
        change = moved.weights - state.weights
        if objective == "likelihood":
            assert np.abs(change).max() == pytest.approx(1e-3 * size)
        else:
            np.testing.assert_array_equal(change, 0)


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("classes", [1, 3])
@every_objective
def test_what_is_not_finite_shows(objective: str, classes: int, bad: float, layout: Any) -> None:
    rng = np.random.default_rng(13)
    X = rng.standard_normal((200, 18))
    X[100, 17] = bad
    target = targets(classes, False, 200, rng)
    state = scan(start(classes, 18), layout(X), target, NO_COST, np.arange(200), objective=objective, rate=FADING)
    assert not np.isfinite(state.weights).all()


@pytest.mark.parametrize("classes", [1, 3])
def test_an_overflow_is_left_to_who_asked(classes: int) -> None:
    rng = np.random.default_rng(14)
    X, target = rng.standard_normal((50, 3)) * 1e300, targets(classes, False, 50, rng)
    state = scan(start(classes, 3), X, target, np.full(50, 1e300), np.arange(50), rate=LearningRate(1e10))
    assert not np.isfinite(state.weights).all()


# What cannot be.


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"X": Dense(np.ones((4, 2), int))}, TypeError, "X is of int64"),
        ({"X": np.ones((4, 3))}, ValueError, r"do not fit X of shape \(4, 3\)"),
        ({"X": np.ones(4)}, ValueError, r"do not fit X of shape \(4,\)"),
        ({"state": OnlineState(np.zeros((1, 2)), np.zeros(2))}, ValueError, r"intercepts of shape \(2,\)"),
        ({"state": OnlineState(np.zeros(2), np.zeros(1))}, ValueError, r"weights of shape \(2,\)"),
        ({"target": np.ones(3)}, ValueError, r"shape \(3,\), not a number for each of 4 rows"),
        ({"target": np.ones((4, 2))}, ValueError, "not a number for each of 4 rows"),
        ({"cost": np.ones(3)}, ValueError, r"cost has shape \(3,\), X has 4 rows"),
        ({"cost": np.array([1, 1, -2.0, 1])}, ValueError, r"a cost is -2\.0"),
        ({"cost": np.array([1, 1, np.nan, 1])}, ValueError, "a cost is nan"),
        ({"order": np.array([0, 4])}, ValueError, "the rows 0 to 4, X has the rows 0 to 3"),
        ({"order": np.array([-1, 2])}, ValueError, "the rows -1 to 2"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], error: type, match: str) -> None:
    given_: dict[str, Any] = {
        "state": start(1, 2), "X": np.ones((4, 2)), "target": np.ones(4), "cost": NO_COST, "order": np.arange(4),
        "rate": FADING,
    }  # fmt: skip
    scan(**given_)
    with pytest.raises(error, match=match):
        scan(**given_ | change)


@pytest.mark.parametrize(
    ("target", "match"),
    [
        (np.array([0, 1, 3]), "go from 0 to 3: the indices of 3 classes"),
        (np.array([0, -1, 2]), "go from -1 to 2"),
        (np.array([0, 1]), "not the index of a class or 3 probabilities for each of 3 rows"),
        (np.ones(3), "the index of a class or 3 probabilities"),
        (np.ones((3, 2)), "3 probabilities"),
    ],
)
def test_targets_that_are_no_classes_are_refused(target: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        scan(start(3, 2), np.ones((3, 2)), target, NO_COST, np.arange(3), rate=FADING)


def test_no_rows_are_no_steps() -> None:
    before = start(3, 2, np.random.default_rng(15))
    assert_same_bits(
        scan(before, np.ones((0, 2)), np.ones(0, int), NO_COST, np.arange(0), rate=FADING), before
    )  # fmt: skip


# The cache on disk, seen from processes of its own.

PROBE = """
import numpy as np
from separatrix.fitting.scan import online_kernels
from separatrix.losses import LogLikelihood
from separatrix.fitting.scan.online import LearningRate, OnlineState, scan

kernel = online_kernels.two_class_steps(LogLikelihood(), "float64")
state, row = OnlineState(np.ones((1, 3)), np.zeros(1)), np.full((1, 3), 0.5)
after = scan(state, row, np.ones(1), np.empty(0), np.zeros(1, int), loss=LogLikelihood(), rate=LearningRate(1.0))
print(after.weights[0, 0], sum(kernel.stats.cache_hits.values()))
"""


def run_python(script: str, **environment: str) -> str:
    command = [sys.executable, "-W", "error", "-c", script]
    ran = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


@pytest.mark.slow  # what holds for other kernels in `test_compiled`
def test_a_second_process_compiles_nothing_and_an_edited_source_is_not_stale(tmp_path: Path) -> None:
    home = tmp_path / "home"
    source = Path(separatrix.__file__).parent
    shutil.copytree(source, home / "separatrix", ignore=shutil.ignore_patterns("__pycache__"))
    settings = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(home)}
    pull = 1 - float(sigmoid(1.5))
    for hits in ("0", "1"):
        weight, found = run_python(PROBE, **settings).split()
        assert (float(weight), found) == (pytest.approx(1 + 0.5 * pull), hits)
    lanes = home / "separatrix" / "numerics" / "llvm.py"
    text = lanes.read_text(encoding="utf-8")
    assert text.count("kept = builder.fmul(") == 1
    lanes.write_text(text.replace("kept = builder.fmul(", "kept = builder.fadd("), encoding="utf-8")
    weight, found = run_python(PROBE, **settings).split()
    assert (float(weight), found) == (pytest.approx(2 + 0.5 * pull), "0")


def test_schedules_and_states_load_no_compiler() -> None:
    script = (
        "import sys, separatrix.fitting.scan.online as o; o.LearningRate(1.0); "
        "print({'numba', 'sklearn'} & set(sys.modules))"
    )
    assert run_python(script) == "set()"


@pytest.mark.slow
@pytest.mark.xdist_group("benchmarks")
def test_the_benchmark_runs_and_both_take_the_same_steps(tmp_path: Path) -> None:
    script = ROOT / "benchmarks" / "online.py"
    ran = subprocess.run(
        [sys.executable, str(script), "--quick", "--out", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-4000:]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["online.json", "online.md"]
    results = json.loads((tmp_path / "online.json").read_text(encoding="utf-8"))
    apart = {line["title"]: line["weights_apart"] for line in results["lines"]}
    assert apart["file order"] < 1e-12
    assert str(script.parent) not in (tmp_path / "online.md").read_text(encoding="utf-8")


EVERY_KERNEL = list(product(("float64", "float32"), ("int32", "int64"), OBJECTIVES))
"""The first is drawn in the quick tests, the others in the slow ones; `test_sparse_fit` compiles other indices."""


@pytest.mark.parametrize(("dtype", "index", "objective"), some_of(EVERY_KERNEL, len(EVERY_KERNEL)))
@given(
    seed=seeds, classes=st.sampled_from([1, 3]), soft=st.booleans(), averaging=st.booleans(),
    l2=st.sampled_from([0.0, 0.1, 3.0, 6.0]),
)  # fmt: skip
def test_sparse_rows_take_the_same_steps(dtype, index, objective, seed, classes, soft, averaging, l2) -> None:
    rng = np.random.default_rng(seed)
    dense = (rng.integers(-8, 9, (40, 12)) / 4 * (rng.random((40, 12)) < 0.3)).astype(dtype)
    made = csr_array(dense)
    made.indices, made.indptr = made.indices.astype(index), made.indptr.astype(index)
    rows, target, order = Sparse.of(made), targets(classes, soft, 40, rng), rng.integers(0, 40, 120)
    cost = rng.random(40) * (rng.random(40) < 0.8)
    begun = start(classes, 12, rng)
    how = {"objective": objective, "rate": FADING, "l2": l2, "averaging": averaging}
    plain, whole = scan(begun, dense, target, cost, order, **how), scan(begun, rows, target, cost, order, **how)
    for mine, other in zip(whole.last() + whole.averaged(), plain.last() + plain.averaged(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)
    state = begun
    for part in np.array_split(order, 5):
        state = scan(state, rows, target, cost, part, **how)
    assert_same_bits(state, whole)
    assert (state.scale, state.carried) == (whole.scale, whole.carried)
    mixed = scan(scan(begun, rows, target, cost, order[:50], **how), dense, target, cost, order[50:], **how)
    for mine, other in zip(mixed.last() + mixed.averaged(), plain.last() + plain.averaged(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------------------------------------------ any loss of a margin


@dataclass(frozen=True)
class Cubed(MarginLoss):
    """A loss from elsewhere: φ(m) = [s − m]₊³."""

    start: float

    def value(self, m: Any) -> Any:
        return positive(self.start - m) ** 3

    def slope(self, m: Any) -> Any:
        return -3 * positive(self.start - m) ** 2

    def curvature(self, m: Any) -> Any:
        return 6 * positive(self.start - m)


@pytest.mark.parametrize("loss", [*(each for each in ALL if each.convex), Cubed(0.5)], ids=repr)
@given(seed=seeds, soft=st.booleans(), l2=st.sampled_from([0.0, 0.3]))
def test_a_step_goes_down_the_slope_of_the_loss(loss: MarginLoss, seed: int, soft: bool, l2: float) -> None:
    rng = np.random.default_rng(seed)
    X, t, cost, eta = rng.standard_normal((30, 3)), targets(1, soft, 30, rng), rng.random(30), 0.05
    state = start(1, 3, rng)
    w, b = state.weights[0].copy(), float(state.intercept[0])
    for x, target, c in zip(X, t, cost, strict=True):
        z = x @ w + b
        pull = (1 - target) * float(loss.slope(np.array(-z))) - target * float(loss.slope(np.array(z)))
        w, b = (1 - eta * c * l2) * w + eta * c * pull * x, b + eta * c * pull
    found = scan_of(state, X, t, cost, np.arange(30), loss=loss, rate=LearningRate(eta), l2=l2)
    np.testing.assert_allclose(found.last()[0][0], w, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.last()[1], b, rtol=1e-10, atol=1e-12)
