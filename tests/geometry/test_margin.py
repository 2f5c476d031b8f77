"""The largest margin: known answers, brute force, rows that cross, proofs that can fail."""

import dataclasses
import itertools
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from separatrix import BudgetWarning, MaxMarginClassifier, NotSeparableWarning
from separatrix.geometry.margin import maximum
from separatrix.geometry.margin.hull import Hull
from separatrix.numerics.exact import null_vector, surely_balance, whole_rows
from separatrix.results.proofs import Margin
from separatrix.results.separability import Combination, Crossing

WAYS = [
    pytest.param({}, id="free"),
    pytest.param({"lifted": True}, id="lifted"),
    pytest.param({"fit_intercept": False}, id="no intercept"),
]


def separated(n=60, d=3, seed=0, gap=0.3, offset=0.4):
    """Rows on two sides of a plane, none nearer to it than the gap."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    w /= np.linalg.norm(w)
    side = np.where(X @ w + offset > 0, 1, -1)
    side[:2] = 1, -1
    X -= np.outer(X @ w + offset, w)
    return X + np.outer(side * (gap + rng.exponential(size=n)), w), (side > 0).astype(int)


def quietly(X, y, sample_weight=None, **settings):
    """A fit whose warning is of no interest: its verdict says the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotSeparableWarning)
        warnings.simplefilter("ignore", BudgetWarning)
        return MaxMarginClassifier(**settings).fit(X, y, sample_weight)


def scores(model, X, y):
    """y(xᵀw + b), y ∈ {−1, +1}."""
    return np.where(np.asarray(y) == model.classes_[1], 1, -1) * model.decision_function(X)


def brute_margin(X, y, *, fit_intercept=True, lifted=False):
    """1/‖w‖ of the shortest w, by every set of rows that could lie at score 1; 0 if no such set is feasible."""
    sign = np.where(np.asarray(y) > 0, 1.0, -1.0)
    A = sign[:, None] * (np.column_stack([X, np.ones(len(X))]) if lifted else np.asarray(X, float))
    free, (n, D) = fit_intercept and not lifted, A.shape
    best = 0.0
    for size in range(1 + free, min(n, D + 1 + free) + 1):
        for rows in itertools.combinations(range(n), size):
            at = list(rows)
            K = np.zeros((size + D + free,) * 2)
            K[:D, :D], K[:D, D : D + size], K[D : D + size, :D] = np.eye(D), -A[at].T, A[at]
            if free:
                K[-1, D : D + size], K[D : D + size, -1] = sign[at], sign[at]
            right = np.concatenate([np.zeros(D), np.ones(size), np.zeros(int(free))])
            found, *_ = np.linalg.lstsq(K, right, rcond=1e-12)
            w, alpha, b = found[:D], found[D : D + size], found[-1] if free else 0.0
            solves = np.allclose(K @ found, right, atol=1e-8 * max(1, np.abs(found).max()))
            tolerance = 1e-7 * max(1.0, np.abs(w).max())
            if solves and (alpha > -tolerance).all() and (A @ w + sign * b > 1 - tolerance).all():
                best = max(best, 1 / np.linalg.norm(w))
    return best


# --------------------------------------------------------------------------------------------------- known answers


def test_two_points_are_parted_in_the_middle():
    model = MaxMarginClassifier().fit([[0.0, 0.0], [2.0, 0.0]], [0, 1])
    assert model.coef_.tolist() == [[1.0, 0.0]]
    assert model.intercept_.tolist() == [-1.0]
    assert model.margin_ == 1.0
    assert model.support_.tolist() == [0, 1]
    np.testing.assert_allclose(model.dual_coef_, [[-0.5, 0.5]], rtol=1e-14)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check([[0.0, 0.0], [2.0, 0.0]], [0, 1])


def test_three_points():
    """The foot of the perpendicular from (0, 0) on the line through (2, 0) and (0, 3) is 6/√13 away."""
    model = MaxMarginClassifier().fit([[0.0, 0.0], [2.0, 0.0], [0.0, 3.0]], [0, 1, 1])
    assert model.margin_ == pytest.approx(3 / np.sqrt(13), rel=1e-14)
    np.testing.assert_allclose(model.coef_, [[1, 2 / 3]], rtol=1e-14)
    assert model.support_.tolist() == [0, 1, 2]


def test_the_edges_of_a_square():
    X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 0, 1, 1]
    model = MaxMarginClassifier().fit(X, y)
    assert (model.margin_, model.coef_.tolist(), model.intercept_.tolist()) == (0.5, [[2.0, 0.0]], [-1.0])


def test_without_an_intercept_the_nearest_point_of_one_hull_counts():
    model = MaxMarginClassifier(fit_intercept=False).fit([[1.0, 1.0], [-1.0, 1.0]], [1, 0])
    assert model.coef_.tolist() == [[1.0, 0.0]]  # signed rows (1, 1) and (1, −1)
    assert model.margin_ == 1.0
    assert model.intercept_.tolist() == [0.0]


def test_fewer_rows_than_columns():
    X, y = np.eye(3, 7), [0, 1, 1]
    model = MaxMarginClassifier().fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.margin_ == pytest.approx(np.linalg.norm([1, -0.5, -0.5]) / 2, rel=1e-14)
    assert not model.coef_[0, 3:].any()


@pytest.mark.parametrize("seed", range(6))
def test_scikit_learn_s_machine_with_a_large_c_agrees(seed):
    X, y = separated(80, 2 + seed, seed)
    model = MaxMarginClassifier().fit(X, y)
    theirs = SVC(kernel="linear", C=1e10, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-6 * np.abs(theirs.coef_).max())
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-5)
    assert sorted(model.support_) == sorted(theirs.support_)
    np.testing.assert_allclose(model.dual_coef_[0], theirs.dual_coef_[0][np.argsort(theirs.support_)], rtol=1e-4)


@pytest.mark.parametrize("way", WAYS)
def test_brute_force_agrees_on_small_sets(way):
    rng, kinds = np.random.default_rng(7), []
    for _ in range(70):
        n, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
        X = rng.integers(-3, 4, size=(n, d)).astype(float) if rng.random() < 0.5 else rng.normal(size=(n, d))
        y = rng.integers(0, 2, n)
        y[:2] = 0, 1
        model, best = quietly(X, y, **way), brute_margin(X, y, **way)
        kinds.append(model.verdict_.status)
        assert model.verdict_.status == ("optimal" if best else "not-separable"), (X, y)
        assert model.margin_ == pytest.approx(best, rel=1e-6)
        assert model.verdict_.check(X, y)
    assert min(kinds.count("optimal"), kinds.count("not-separable")) > 10


# ------------------------------------------------------------------------------------------------------------ laws


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(4))
def test_what_an_optimum_says_is_true(way, seed):
    X, y = separated(200, 1 + 3 * seed, seed, offset=0.0)
    model = MaxMarginClassifier(**way).fit(X, y)
    proof = model.verdict_.certificate
    assert model.verdict_.status == "optimal"
    assert proof.lower <= proof.upper
    assert proof.relative_gap <= 1e-10
    m = scores(model, X, y)
    assert m.min() >= 1 - 1e-12
    np.testing.assert_allclose(m[model.support_], 1, rtol=1e-9)
    assert len(model.support_) <= X.shape[1] + 2
    w = np.append(model.coef_[0], model.intercept_) if "lifted" in way else model.coef_[0]
    rows = np.column_stack([X, np.ones(len(X))]) if "lifted" in way else X
    assert model.margin_ == pytest.approx(1 / np.linalg.norm(w), rel=1e-9)
    np.testing.assert_allclose(model.dual_coef_[0] @ rows[model.support_], w, rtol=1e-8, atol=1e-9)
    assert np.abs(model.dual_coef_).sum() == pytest.approx(w @ w, rel=1e-9)
    if not way:
        assert model.dual_coef_.sum() == pytest.approx(0, abs=1e-9 * (w @ w))
    assert model.verdict_.check(X, y)


def test_lifted_is_a_column_of_ones_without_an_intercept():
    X, y = separated(100, 4, 1)
    lifted = MaxMarginClassifier(lifted=True).fit(X, y)
    explicit = MaxMarginClassifier(fit_intercept=False).fit(np.column_stack([X, np.ones(len(X))]), y)
    np.testing.assert_allclose(np.append(lifted.coef_, lifted.intercept_), explicit.coef_[0], rtol=1e-12)
    assert lifted.margin_ == pytest.approx(explicit.margin_, rel=1e-14)
    assert lifted.support_.tolist() == explicit.support_.tolist()
    free = MaxMarginClassifier().fit(X, y)
    assert np.linalg.norm(free.coef_) < np.linalg.norm(lifted.coef_)  # b is free to be long


def test_lifted_without_an_intercept_changes_nothing():
    X, y = separated(50, 3, 2, offset=0.0)
    one, other = (MaxMarginClassifier(fit_intercept=False, lifted=lifted).fit(X, y) for lifted in (False, True))
    assert one.coef_.tolist() == other.coef_.tolist()
    assert other.verdict_.check(X, y)


@pytest.mark.parametrize("factor", [1e-200, 1e-6, 0.25, 1e5, 1e150])
def test_the_margin_scales_with_x(factor):
    X, y = separated(80, 3, 3)
    plain, scaled = MaxMarginClassifier().fit(X, y), MaxMarginClassifier().fit(factor * X, y)
    assert scaled.verdict_.status == "optimal"
    assert scaled.margin_ == pytest.approx(factor * plain.margin_, rel=1e-9)
    assert scaled.verdict_.check(factor * X, y)


@pytest.mark.parametrize("way", WAYS)
def test_order_and_copies_of_rows_do_not_matter(way):
    X, y = separated(80, 3, 4, offset=0.0)
    model, order = MaxMarginClassifier(**way).fit(X, y), np.random.default_rng(0).permutation(240) % 80
    again = MaxMarginClassifier(**way).fit(X[order], y[order])
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-9)
    assert again.margin_ == pytest.approx(model.margin_, rel=1e-12)
    assert again.verdict_.check(X[order], y[order])


def test_offsets_of_the_columns_do_not_matter():
    X, y = separated(300, 4, 5)
    offset = np.array([1e6, -1e6, 3e5, 0])
    far = X + offset
    near = far - offset  # what the offset has left of the numbers
    model, shifted = MaxMarginClassifier().fit(near, y), MaxMarginClassifier().fit(far, y)
    assert shifted.verdict_.status == "optimal"
    assert shifted.margin_ == pytest.approx(model.margin_, rel=1e-11)
    np.testing.assert_allclose(shifted.coef_, model.coef_, rtol=1e-7)
    assert shifted.verdict_.check(far, y)


def test_a_constant_column_gets_no_weight():
    X, y = separated(60, 2, 6)
    model = MaxMarginClassifier().fit(np.column_stack([X, np.full(60, 7e5)]), y)
    assert model.coef_[0, 2] == 0
    assert model.margin_ == pytest.approx(MaxMarginClassifier().fit(X, y).margin_, rel=1e-12)


def test_rows_of_weight_zero_do_not_count():
    X, y = separated(60, 3, 7)
    wrong, label = np.vstack([X, X[:3]]), np.append(y, 1 - y[:3])
    cost = np.append(np.full(60, 2.0), np.zeros(3))
    model = MaxMarginClassifier().fit(wrong, label, sample_weight=cost)
    assert model.coef_.tolist() == MaxMarginClassifier().fit(X, y).coef_.tolist()
    assert model.verdict_.check(wrong, label, cost)
    assert not model.verdict_.check(wrong, label)
    assert quietly(wrong, label).verdict_.status == "not-separable"
    last = np.append(np.zeros(30), np.ones(30))
    part = MaxMarginClassifier().fit(X, y, sample_weight=last)
    assert part.support_.min() >= 30
    assert part.verdict_.check(X, y, last)


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 2])
def test_any_layout_and_number_of_threads(layout, dtype, threads):
    """More rows than are taken inside at once, so that passes look for them."""
    X, y = separated(30_000, 8, 8)
    X = X.astype(dtype)
    given = np.repeat(X, 2, axis=0)[::2] if layout == "strided" else np.array(X, order=layout)
    model = MaxMarginClassifier(n_threads=threads).fit(given, y)
    assert model.verdict_.status == "optimal"
    assert len(model.history_) > 1
    assert scores(model, X, y).min() >= 1 - 1e-9
    theirs = MaxMarginClassifier(n_threads=1).fit(np.ascontiguousarray(X), y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-9)
    if layout == "C":
        assert model.coef_.tolist() == theirs.coef_.tolist()  # the same bits for any number of threads


def test_a_large_fit_can_be_checked():
    X, y = separated(30_000, 8, 9)
    model = MaxMarginClassifier().fit(X, y)
    assert model.verdict_.check(X, y)
    lowers, uppers = [record.lower for record in model.history_], [record.upper for record in model.history_]
    assert lowers[0] < lowers[-1] <= model.margin_ * (1 + 1e-9)
    assert uppers == sorted(uppers, reverse=True)
    assert min(uppers) >= model.margin_ * (1 - 1e-9)


# ---------------------------------------------------------------------------------------------- rows that cross


def crossing_of(X, y, **way):
    with pytest.warns(NotSeparableWarning, match=r"Not separable: .* Use LogisticRegression"):
        model = MaxMarginClassifier(**way).fit(X, y)
    assert model.verdict_.status == "not-separable"
    assert not model.verdict_.ok
    assert isinstance(model.verdict_.certificate, Crossing)
    assert model.verdict_.check(X, y)
    assert not model.coef_.any()
    assert model.margin_ == 0
    assert model.support_.size == 0
    found = model.verdict_.certificate.combination
    signed = np.where(np.asarray(y) > 0, 1, -1)[found.rows] * found.multipliers
    lifted = np.column_stack([X, np.ones(len(X))]) if way.get("fit_intercept", True) else np.asarray(X)
    np.testing.assert_allclose(signed @ lifted[found.rows], 0, atol=1e-15 * np.abs(lifted).max())
    assert (found.multipliers > 0).all()
    assert found.multipliers.sum() == pytest.approx(1)
    assert len(found) <= lifted.shape[1] + 1
    return found


@pytest.mark.parametrize("way", WAYS[:2])
def test_exclusive_or(way):
    found = crossing_of([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], [0, 0, 1, 1], **way)
    assert found.rows.tolist() == [0, 1, 2, 3]
    assert found.multipliers.tolist() == [0.25] * 4
    assert (found.own.tolist(), found.other.tolist()) == ([0, 0, 1, 1], [1, 1, 0, 0])


@pytest.mark.parametrize("way", WAYS)
def test_one_row_with_both_labels(way):
    X, y = separated(50, 5, 10)
    X, y = np.vstack([X, X[7]]), np.append(y, 1 - y[7])
    crossing_of(X, y, **way)
    found = crossing_of([[1.0, 2.0], [5.0, 6.0], [1.0, 2.0]], [0, 1, 1], **way)
    assert found.rows.tolist() == [0, 2]
    assert found.multipliers.tolist() == [0.5, 0.5]


def test_a_zero_row_without_an_intercept():
    X, y = separated(50, 3, 11, offset=0.0)
    X[20] = 0
    found = crossing_of(X, y, fit_intercept=False)
    assert (found.rows.tolist(), found.multipliers.tolist()) == ([20], [1.0])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("n", "d"), [(20, 1), (60, 4), (400, 20), (40_000, 6)])
def test_rows_that_overlap(way, n, d):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, d)), rng.integers(0, 2, n)
    found = crossing_of(X, y, **way)
    assert len(found) == d + 1 + ("fit_intercept" not in way)  # in general position no fewer balance


def test_rows_that_cross_but_for_their_last_digits_are_not_said_to_cross():
    """qy − px = ±1 on whole numbers: separable, by less than rounding can see."""
    p, q = 59_999_999, 49_999_999
    y0 = [(sign * pow(q, -1, p)) % p + p * k for k in range(3) for sign in (-1, 1)]
    X = np.array([[(q * y - sign) // p, y] for y, sign in zip(y0, [-1, 1] * 3, strict=True)], dtype=float)
    assert [q * int(b) - p * int(a) for a, b in X] == [-1, 1] * 3
    for way in ({}, {"fit_intercept": False}):
        with pytest.warns(BudgetWarning, match="rounding allows no better"):
            model = MaxMarginClassifier(**way).fit(X, [0, 1] * 3)
        assert model.verdict_.check(X, [0, 1] * 3)


def test_a_balance_is_decided_in_whole_numbers():
    tenths = np.array([[0.1], [-0.3]])
    assert null_vector(whole_rows(tenths.T)) != [3, 1]  # 3 × 0.1 is not 0.3, as numbers of the machine
    assert null_vector(whole_rows(np.array([[0.25], [-0.75]]).T)) == [3, 1]
    assert null_vector(whole_rows(np.array([[1.0, 2.0], [-1.0, -2.0]]).T)) == [1, 1]
    assert null_vector(whole_rows(np.array([[1.0, 2.0], [-1.0, -2.0 - 1e-15]]).T)) is None
    assert null_vector(whole_rows(np.array([[1.0], [-1.0], [1.0]]).T)) is None  # two of them
    assert surely_balance(np.array([[1.0, 2.0], [-1.0, -2.0]]), np.array([0.5, 0.5]))
    assert not surely_balance(np.array([[1.0, 2.0], [-1.0, -2.0 - 1e-15]]), np.array([0.5, 0.5]))
    assert not surely_balance(np.array([[1.0, 1.0], [-1.0, 1e-17], [1.0, 0.0]]), np.array([1e-17, 0.5, 0.5]))


def test_rows_that_touch_are_not_separated():
    crossing_of([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])


def test_offsets_do_not_hide_a_crossing():
    X = np.random.default_rng(3).normal(size=(100, 3)) + 1e6
    crossing_of(X, np.arange(100) % 2)


def test_classes_one_last_digit_apart_are_separated():
    X, y = [[1.0], [np.nextafter(1.0, 2)]], [0, 1]
    model = MaxMarginClassifier().fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.margin_ == np.finfo(float).eps / 2


@pytest.mark.parametrize("way", WAYS)
def test_separable_if_and_only_if_the_certificate_verifies(way):
    rng, seen = np.random.default_rng(5), set()
    for _ in range(60):
        n, d = int(rng.integers(4, 40)), int(rng.integers(1, 12))
        X, y = rng.normal(size=(n, d)), np.arange(n) % 2
        verdict = quietly(X, y, **way).verdict_
        assert verdict.check(X, y)
        assert isinstance(verdict.certificate, {"optimal": Margin, "not-separable": Crossing}[verdict.status])
        seen.add(verdict.status)
    assert len(seen) == 2


# ---------------------------------------------------------------------------------------------------- the verdict


def changed(verdict, **fields):
    return dataclasses.replace(verdict, certificate=dataclasses.replace(verdict.certificate, **fields))


@pytest.mark.parametrize("way", WAYS)
def test_a_margin_that_was_tampered_with_is_found_out(way):
    X, y = separated(60, 3, 12, offset=0.0)
    verdict = MaxMarginClassifier(**way).fit(X, y).verdict_
    proof, claim = verdict.certificate, verdict.claim
    assert verdict.check(X, y)
    more = proof.multipliers * np.linspace(1, 1.2, len(proof.rows))
    for fields in (
        {"lower": proof.lower * (1 + 1e-9)},
        {"upper": proof.upper * (1 - 1e-9)},
        {"lower": proof.lower * 1.1, "upper": proof.upper * 1.1},
        {"gap": proof.gap + 1e-4 * claim.value},
        {"relative_gap": 0.1},
        {"multipliers": more},
        {"multipliers": proof.multipliers * 2},
        {"multipliers": -proof.multipliers},
        {"multipliers": proof.multipliers[1:]},
        {"rows": (proof.rows + 1) % len(X)},
        {"rows": proof.rows + len(X)},
        {"rows": np.full_like(proof.rows, proof.rows[0])},
    ):
        assert not changed(verdict, **fields).check(X, y), fields
    for fields in (
        {"weights": claim.weights * 0.999},
        {"weights": claim.weights * 2},
        {"value": claim.value * 2},
        {"l2": 1.0},
        {"objective": "squared"},
        {"objective": "margin" if claim.objective == "lifted margin" else "lifted margin"},
        {"class_weight": (1.0, 2.0)},
        {"soft": True},
        {"classes": (1, 0)},
        {"rows": 61},
    ):
        assert not dataclasses.replace(verdict, claim=dataclasses.replace(claim, **fields)).check(X, y), fields
    assert not dataclasses.replace(verdict, status="not-separable").check(X, y)
    assert not dataclasses.replace(verdict, status="separated").check(X, y)
    assert not dataclasses.replace(verdict, certificate=None).check(X, y)
    assert not verdict.check(X, 1 - y)
    nearer = X.copy()
    nearer[proof.rows[0]] *= 0.9
    assert not verdict.check(nearer, y)


def test_a_crossing_that_was_tampered_with_is_found_out():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    verdict = quietly(X, y).verdict_
    found = verdict.certificate.combination
    assert verdict.check(X, y)
    first = np.eye(1, len(found))[0]
    for combination in (
        dataclasses.replace(found, multipliers=found.multipliers * 2),
        dataclasses.replace(found, multipliers=found.multipliers + 1e-9 * first),
        dataclasses.replace(found, multipliers=-found.multipliers),
        dataclasses.replace(found, own=1 - found.own),
        dataclasses.replace(found, other=found.own),
        dataclasses.replace(found, rows=(found.rows + 1) % 30),
        Combination(found.rows[1:], found.own[1:], found.other[1:], found.multipliers[1:]),
        Combination(*(np.empty(0, dtype=int),) * 3, np.empty(0)),
    ):
        assert not changed(verdict, combination=combination).check(X, y), combination
    claim = dataclasses.replace(verdict.claim, weights=np.ones(3), value=1.5)
    assert not dataclasses.replace(verdict, claim=claim).check(X, y)
    assert not dataclasses.replace(verdict, certificate=None).check(X, y)


def test_a_crossing_of_a_row_that_does_not_count_is_none():
    X, y = [[0.0], [1.0], [0.0]], [0, 1, 1]
    verdict = quietly(X, y).verdict_
    assert verdict.check(X, y)
    assert not verdict.check(X, y, [1, 1, 0])


def test_the_verdict_speaks_and_can_be_stored():
    X, y = separated(60, 3, 13)
    model = MaxMarginClassifier().fit(X, y)
    text = str(model.verdict_)
    assert text.startswith("Optimal: this rule separates the classes with the margin ")
    assert f"{model.margin_:.8g}" in text
    stored = json.loads(json.dumps(model.verdict_.to_dict()))
    assert stored["certificate"]["kind"] == "margin"
    assert stored["certificate"]["rows"] == model.support_.tolist()
    back = pickle.loads(pickle.dumps(model))
    assert back.predict(X).tolist() == y.tolist()
    assert back.verdict_.check(X, y)
    crossed = json.loads(json.dumps(quietly(X, 1 - np.roll(y, 1)).verdict_.to_dict()))
    assert crossed["certificate"]["kind"] == "crossing"


def test_a_budget_that_is_spent():
    X, y = separated(30_000, 8, 8)
    with pytest.warns(BudgetWarning, match=r"Not finished: after 2 passes .* Raise max_passes above 1\."):
        model = MaxMarginClassifier(max_passes=1).fit(X, y)
    assert model.verdict_.status == "budget"
    assert model.verdict_.check(X, y)
    assert model.n_passes_ == 2


def test_a_tolerance_below_rounding_is_not_reached_and_said_so():
    X, y = separated(60, 3, 12)
    with pytest.warns(BudgetWarning, match="rounding allows no better"):
        model = MaxMarginClassifier(tol=1e-18).fit(X, y)
    assert model.verdict_.certificate.relative_gap < 1e-12
    assert model.verdict_.check(X, y)
    assert not changed(model.verdict_, upper=model.verdict_.certificate.upper * 0.99).check(X, y)
    assert scores(model, X, y).min() >= 1 - 1e-12


# ----------------------------------------------------------------------------------------------- steps and Ctrl-C


def test_steps_are_the_fit_and_may_be_left():
    X, y = separated(30_000, 8, 8)
    model, whole = MaxMarginClassifier(), MaxMarginClassifier().fit(X, y)
    steps = list(model.steps(X, y))
    assert model.coef_.tolist() == whole.coef_.tolist()
    assert len(steps) == len(model.history_) == len(whole.history_)
    assert [step.passes for step in steps] == sorted({step.passes for step in steps})
    assert steps[-1].lower == pytest.approx(model.margin_, rel=1e-9)
    left = MaxMarginClassifier()
    running = left.steps(X, y)
    first = next(running)
    running.close()
    assert left.verdict_.status == "interrupted"
    assert left.coef_[0].tolist() == first.weights.tolist()
    assert left.verdict_.check(X, y)
    assert "none has more than" in str(left.verdict_)


def test_ctrl_c_leaves_a_model(monkeypatch):
    X, y = separated(60, 3, 0)

    def stop(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(Hull, "lowest", stop)
    model = MaxMarginClassifier()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.verdict_.status == "interrupted"
    assert not model.coef_.any()
    assert "before the first pass ended" in str(model.verdict_)


# --------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tol": 0}, "tol is 0; it must be a finite number above 0"),
        ({"tol": float("nan")}, "tol is nan"),
        ({"max_passes": 0}, "max_passes is 0"),
        ({"fit_intercept": 1}, "fit_intercept is 1; it must be True or False"),
        ({"lifted": "yes"}, "lifted is 'yes'"),
        ({"n_threads": 0}, "n_threads is 0"),
        ({"n_threads": 1.5}, "n_threads is 1.5; it must be a whole number"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        MaxMarginClassifier(**settings).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.0, 1.0], [2.0, np.nan]], [0, 1], r"X\[1, 'x1'\] is NaN"),
        ([[0.0, np.inf], [2.0, 0.0]], [0, 1], r"X\[0, 'x1'\] is inf"),
        ([[0.0], [1.0]], [1, 1], "y has one class only, 1"),
        ([[0.0], [1.0], [2.0]], [0, 1, 2], r"Only binary classification is supported\. y has 3 classes: fit two"),
        ([[0.0], [1.0]], [0.2, 0.8], "Unknown label type: continuous"),
        ([[0.0], [1.0]], [[0.2, 0.8], [0.5, 0.5]], "y holds probabilities"),
        ([[0.0], [1.0]], [0, 1, 1], "X has 2 rows and y 3 labels"),
        ([0.0, 1.0], [0, 1], "Expected 2D array"),
    ],
)
def test_bad_data(X, y, message):
    with pytest.raises(ValueError, match=message):
        MaxMarginClassifier().fit(X, y)


def test_bad_weights():
    with pytest.raises(ValueError, match="Every sample of class 1 has sample_weight zero"):
        MaxMarginClassifier().fit([[0.0], [1.0]], [0, 1], sample_weight=[1, 0])


def test_names_of_columns_and_classes_are_kept():
    X, y = separated(40, 2, 14)
    frame, label = pd.DataFrame(X, columns=["height", "width"]), np.where(y == 1, "yes", "no")
    model = clone(MaxMarginClassifier()).fit(frame, label)
    assert model.rule_.columns == ("height", "width")
    assert model.predict(frame).tolist() == label.tolist()
    assert model.distance(frame)[model.support_] == pytest.approx(
        np.where(y == 1, 1, -1)[model.support_] * model.margin_, rel=1e-9
    )
    assert model.verdict_.check(frame, label)


@pytest.mark.parametrize("way", WAYS)
def test_scikit_learn_s_own_checks(way):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotSeparableWarning)
        results = check_estimator(MaxMarginClassifier(**way), on_skip=None, on_fail=None)
    failed = [(each["check_name"], each["exception"]) for each in results if each["status"] == "failed"]
    assert failed == []
    assert sum(each["status"] == "passed" for each in results) > 40


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("lifted", [True, False])
@pytest.mark.parametrize("carry", ["all", "some"])
def test_few_rows_are_seen_from_their_span(fit_intercept, lifted, carry, monkeypatch):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 700)), np.arange(60) % 2
    if carry == "some":
        X[:, 0] = np.where(y, 1, -1) * rng.uniform(1, 60, 60)
    settings = {"fit_intercept": fit_intercept, "lifted": lifted}
    plain = MaxMarginClassifier(**settings).fit(X, y)
    monkeypatch.setattr(maximum, "WIDE", 0)
    seen = MaxMarginClassifier(**settings).fit(X, y)
    assert seen.verdict_.status == plain.verdict_.status == "optimal"
    assert seen.support_.tolist() == plain.support_.tolist()
    assert (len(seen.support_) < 60) == (carry == "some")
    np.testing.assert_allclose(seen.margin_, plain.margin_, rtol=1e-9)
    np.testing.assert_allclose(seen.coef_, plain.coef_, rtol=1e-6, atol=1e-9)
    assert seen.verdict_.check(X, y)


@pytest.mark.parametrize("seeds", [range(k, k + 40) for k in range(0, 160, 40)], ids=str)
def test_it_separates_exactly_where_separability_says_so(seeds):
    from referees.separation import small_problem

    from separatrix import separability

    for seed in seeds:
        problem = small_problem(seed)
        if len(np.unique(problem.y)) > 2:
            continue
        X, kind = np.asarray(problem.X, float), separability(problem.X, problem.y, problem.weight).kind
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MaxMarginClassifier().fit(X, problem.y, problem.weight)
        assert (model.verdict_.status == "optimal") == (kind == "separated"), seed
        assert model.verdict_.status in ("optimal", "not-separable"), seed
        assert model.verdict_.check(X, problem.y, problem.weight), seed


@pytest.mark.parametrize("way", [{"lifted": True}, {"fit_intercept": False}], ids=["lifted", "without"])
def test_identical_rows_of_both_classes_far_from_the_origin_cross(way):
    X = [[998.0, 1.0], [1003, 1], [1003, 1]]
    with pytest.warns(NotSeparableWarning):
        model = MaxMarginClassifier(**way).fit(X, [0, 1, 0])
    assert model.verdict_.status == "not-separable"
    assert model.verdict_.check(X, [0, 1, 0])


def test_rows_that_cross_only_nearly_are_not_believed_to():
    with pytest.warns(NotSeparableWarning):
        verdict = MaxMarginClassifier().fit([[1.0], [1.0]], [0, 1]).verdict_
    assert not verdict.check([[1.0], [1 + 2.0**-51]], [0, 1])


def test_numbers_too_large_for_a_length_are_an_error_in_words():
    with pytest.raises(ValueError, match="overflow"):
        MaxMarginClassifier(lifted=True).fit(np.array([[0.0], [1], [3], [4]]) * 1e300, [0, 0, 1, 1])
