"""Surfaces of losses: their shape, their minima, and the examples of the texts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rarely import some_of
from scipy.optimize import linprog

from separatrix import LeastSquaresClassifier, LogisticRegression, Surface, losses, scenes, surface, surrogates
from separatrix.results.linear_rule import LinearRule
from separatrix.theory.surfaces import plane as planes
from separatrix.theory.surfaces.line import Line
from separatrix.theory.surfaces.mistakes import cells
from separatrix.theory.surfaces.plane import Criterion, Plane

CONVEX = ("squared", "log", "perceptron", "hinge", "squared-hinge", "exponential")
SMOOTH = ("squared", "log", "exponential", "squared-hinge")


def drawn(seed, n=30, columns=1, shift=0.8):
    """Rows that overlap, with weights."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    X = rng.standard_normal((n, columns)) + shift * y[:, None]
    return X, y, rng.uniform(0.2, 2, n)


# --------------------------------------------------------------------------------------------------------- shapes


@pytest.mark.parametrize("name", CONVEX)
@pytest.mark.parametrize("columns", [1, 2])
def test_convex_surfaces_lie_below_their_chords(name, columns):
    X, y, weight = drawn(1, columns=columns)
    found = surface(name, X, y, sample_weight=weight, size=5)
    rng = np.random.default_rng(0)
    for a, b in 3 * rng.standard_normal((200, 2, 2)):
        middle = found.at(*(a + b) / 2)
        assert middle <= (found.at(*a) + found.at(*b)) / 2 + 1e-9 * middle
    assert len(found.minima) == 1


def test_the_logistic_squared_error_is_not_convex():
    found = surface("logistic-squared", *scenes.example_4_5())
    a, b = np.array([-14.97, 3]), np.array([9.76, 3])
    assert found.at(*(a + b) / 2) > max(found.at(*a), found.at(*b))


@given(st.integers(0, 10**6), st.floats(1e-3, 1e3), st.sampled_from([1, 2]))
def test_mistakes_are_constant_along_rays_and_in_sectors(seed, factor, columns):
    X, y, weight = drawn(seed, 12, columns)
    found = surface("0-1", X, y, sample_weight=weight, size=3)
    rng = np.random.default_rng(seed)
    for theta in rng.standard_normal((20, 2)):
        assert found.at(*theta) == found.at(*(factor * theta))
    everywhere = cells(found.criterion.plane)
    unit = everywhere.rays / np.hypot(*everywhere.rays.T)[:, None]
    before = np.roll(unit, 1, axis=0)
    for share in (0.01, 0.5, 0.99):
        inside = found.criterion.values(share * unit + (1 - share) * before) * found.criterion.plane.total
        np.testing.assert_allclose(inside, everywhere.sectors, atol=1e-9)


@pytest.mark.parametrize("columns", [1, 2])
def test_values_are_those_of_the_table_of_surrogates(columns):
    X, y, weight = drawn(4, columns=columns)
    names = {"0-1": "0-1", "squared": "MSE", "logistic-squared": "LMSE", "log": "NLL", "perceptron": "perceptron",
             "hinge": "hinge", "squared-hinge": "squared hinge", "exponential": "exponential"}  # fmt: skip
    for theta in np.random.default_rng(1).standard_normal((5, 2)):
        rule = LinearRule(theta[1:], theta[0]) if columns == 1 else LinearRule(theta)
        table = surrogates(rule, X, y, weight)
        for name, other in names.items():
            found = surface(name, X, y, sample_weight=weight, theta0=[theta[0], 9.0, 10.0], theta1=[theta[1], 9, 10])
            assert found.values[0, 0] == pytest.approx(table[other].value, rel=1e-12)


def test_blocks_change_nothing_and_stay_small(monkeypatch):
    X, y, weight = drawn(5, n=3000)
    whole = surface("log", X, y, sample_weight=weight, size=21).values
    monkeypatch.setattr(planes, "BLOCK", 1 << 11)
    seen = []
    value = losses.LogLikelihood.value
    monkeypatch.setattr(losses.LogLikelihood, "value", lambda self, m: (seen.append(m.size), value(self, m))[1])
    pieces = surface("log", X, y, sample_weight=weight, size=21).values
    np.testing.assert_allclose(pieces, whole, rtol=1e-12)
    assert max(seen) <= 1 << 11


# ----------------------------------------------------------------------------------------------------- the minima


@pytest.mark.parametrize("name", [*SMOOTH, "logistic-squared"])
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("seed", some_of(range(4), 2))
def test_polished_minima_have_no_slope_and_bend_upwards(name, columns, seed):
    X, y, weight = drawn(seed, 40, columns)
    found = surface(name, X, y, sample_weight=weight)
    (lowest, *others) = found.minima
    assert lowest.kind == "minimum"
    assert found.theta0[0] < lowest.theta[0] < found.theta0[-1]
    assert found.theta1[0] < lowest.theta[1] < found.theta1[-1]
    assert lowest.value <= found.values.min() + 1e-12
    assert name == "logistic-squared" or not others
    for minimum in found.minima:
        if minimum.attained:
            assert np.abs(found.gradient(*minimum.theta)).max() < 1e-9
            assert np.linalg.eigvalsh(found.hessian(*minimum.theta))[0] > 0
            assert found.at(*minimum.theta) == pytest.approx(minimum.value, rel=1e-13)


@pytest.mark.parametrize("seed", some_of(range(8), 3))
@pytest.mark.parametrize("columns", [1, 2])
def test_the_lowest_corner_of_the_hinge_is_the_best_of_all_corners(seed, columns):
    X, y, weight = drawn(seed, 9, columns, shift=0.3)
    found = surface("hinge", X, y, sample_weight=weight, size=3)
    V = found.criterion.plane.sign[:, None] * found.criterion.plane.Z
    corners = [
        np.linalg.solve(V[[i, j]], [1, 1]) for i in range(9) for j in range(i) if abs(np.linalg.det(V[[i, j]])) > 1e-9
    ]
    assert found.minima[0].value == pytest.approx(found.criterion.values(np.array(corners)).min(), rel=1e-12)
    assert found.at(*found.minima[0].theta) == found.minima[0].value


def least_hinge(plane):
    """min Σ cξ/Σ c with ξ ≥ 0, m ≥ 1 − ξ, by linear programming in units in which the data have spread one."""
    rows = plane.whitened()[0]
    V, n = rows.sign[:, None] * rows.Z, len(rows.Z)
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return linprog(
        np.r_[0, 0, rows.weight / rows.total], np.hstack([-V, -np.eye(n)]), -np.ones(n),
        bounds=[(None, None)] * 2 + [(0, None)] * n, options=tight,
    ).fun  # fmt: skip


@pytest.mark.parametrize("offset", [0.0, 1e2, 1e4, 1e5, 1e6])
@pytest.mark.parametrize("columns", [1, 2])
def test_the_hinge_is_least_where_a_linear_programme_says_whatever_the_offset(offset, columns):
    for seed in range(20):
        X, y, weight = drawn(seed, 8 + seed, columns, shift=0.4)
        X = X + offset if columns == 1 else np.column_stack([X[:, 0] * (1 + offset), X[:, 0] * (1 + offset) + X[:, 1]])
        found = surface("hinge", X, y, sample_weight=weight if seed % 2 else None, size=3)
        (best,) = found.minima
        assert best.value == pytest.approx(least_hinge(found.criterion.plane), abs=1e-8)
        assert found.at(*best.theta) == best.value


def test_the_least_hinge_of_eight_rows_around_a_hundred_thousand():
    x = [100000.0, 100000.3, 99999.73, 99999.11, 99999.55, 99999.01, 100000.06, 100001.34]
    found = surface("hinge", np.array(x)[:, None], [0, 0, 1, 0, 0, 0, 1, 1], size=3)
    assert found.minima[0].value == pytest.approx(0.571229, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_likelihood_and_least_squares_are_the_learners(seed):
    X, y, weight = drawn(seed)
    (nll,) = surface("log", X, y, sample_weight=weight, size=3).minima
    model = LogisticRegression(tol=1e-15).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(nll.theta, [model.intercept_[0], model.coef_[0, 0]], atol=1e-8)
    (mse,) = surface("squared", X, y, sample_weight=weight, size=3).minima
    model = LeastSquaresClassifier().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(mse.theta, [model.intercept_[0], model.coef_[0, 0]], atol=1e-8)
    X, y, weight = drawn(seed, columns=2)
    (nll,) = surface("log", X, y, sample_weight=weight, size=3).minima
    model = LogisticRegression(fit_intercept=False, tol=1e-15).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(nll.theta, model.coef_[0], atol=1e-8)


@given(st.integers(0, 10**6))
def test_the_fewest_mistakes_are_those_of_all_thresholds(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-4, 5, 8).astype(float), np.append(rng.integers(0, 2, 6), [0, 1])
    x[-1] = x[0] + 1  # two places at least
    weight = rng.integers(1, 4, 8)
    found = surface("0-1", x[:, None], y, sample_weight=weight, size=3)

    def mistakes(t, sign):
        return weight[((sign * (x - t)) > 0) != (y == 1)].sum() / weight.sum()

    thresholds = np.unique(np.concatenate([x - 0.5, x, x + 0.5]))
    best = min(mistakes(t, sign) for t in thresholds for sign in (1, -1))
    assert all(minimum.value == pytest.approx(best) for minimum in found.minima)
    assert all(found.at(*minimum.theta) == pytest.approx(best) for minimum in found.minima)
    intervals = [interval for minimum in found.minima for interval in minimum.cone.thresholds]
    for t in thresholds:  # in an interval if and only if it is best
        for sign in (1, -1):
            inside = any(
                i.sign == sign and (i.low < t < i.high or (t == i.low and i.with_low) or (t == i.high and i.with_high))
                for i in intervals
            )
            assert inside == (mistakes(t, sign) == pytest.approx(best))


@given(st.integers(0, 10**6))
def test_the_fewest_mistakes_of_two_columns_are_those_of_all_directions(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (9, 2)).astype(float), np.append(rng.integers(0, 2, 7), [0, 1])
    X[:2] = [[1, 0], [1, 1]]
    found = surface("0-1", X, y, size=3)
    rays = np.column_stack([-X[:, 1], X[:, 0]])
    rays = np.vstack([rays, -rays, np.zeros((1, 2))])
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, 2000)
    tried = np.vstack([rays, np.column_stack([np.cos(angles), np.sin(angles)])])
    best = found.criterion.values(tried).min()
    assert found.minima[0].value == pytest.approx(best)
    assert all(found.at(*minimum.theta) == pytest.approx(best) for minimum in found.minima)


def test_lines_that_nearly_agree_are_told_apart():
    """Two rows whose angles are one number in floating point, and are not equal."""
    a = np.array([1.0, 1.0 + 2**-52])
    b = np.array([1.0 - 2**-53, 1.0])
    assert math.atan2(*a) == pytest.approx(math.atan2(*b), abs=1e-15)
    plane = Plane(np.array([a, b, 2 * a]), np.array([1.0, -1.0, 1.0]), np.ones(3), False, (0, 1))
    assert len(cells(plane).rays) == 4
    assert cells(plane).least() == 0


# --------------------------------------------------------------------------------------------------- at infinity


@pytest.mark.parametrize("name", ["log", "exponential", "logistic-squared"])
def test_separated_rows_have_their_minimum_at_infinity(name):
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    (found,) = surface(name, X, y).minima
    assert (found.kind, found.value, found.attained) == ("at infinity", 0.0, False)
    assert 1 < -found.theta[0] / found.theta[1] < 3
    assert np.hypot(*found.theta) == pytest.approx(1)


def test_rows_that_stay_on_the_boundary_cost_what_they_cost():
    X, y = np.array([[0.0], [1.0], [1.0], [1.0], [2.0]]), [0, 0, 1, 1, 1]
    (found,) = surface("log", X, y).minima
    assert found.kind == "at infinity"
    assert -found.theta[0] / found.theta[1] == pytest.approx(1)
    assert found.value == pytest.approx((math.log(3) * 1 + math.log(1.5) * 2) / 5, rel=1e-9)
    (lmse, *_) = surface("logistic-squared", X, y).minima
    assert lmse.kind == "at infinity"
    assert lmse.value == pytest.approx(4 * (1 * 2 / 3) / 5, abs=1e-6)


def lowest_seen(found):
    """The least J over many directions and lengths, and on lines beside the rays on which a row has margin zero."""
    angles = np.linspace(0, 2 * np.pi, 360, endpoint=False)
    ways = np.column_stack([np.cos(angles), np.sin(angles)])
    Z = found.criterion.plane.Z[found.criterion.plane.Z.any(axis=1)]
    on = np.column_stack([-Z[:, 1], Z[:, 0]]) / np.hypot(*Z.T)[:, None]
    on = np.vstack([on, -on])
    across = np.column_stack([-on[:, 1], on[:, 0]])
    points = [c * ways for c in np.geomspace(0.05, 300, 20)]
    points += [100 * on + t * across for t in np.linspace(-3, 3, 61)]
    return found.criterion.values(np.vstack(points)).min()


@pytest.mark.parametrize("name", ["log", "exponential", "logistic-squared"])
@pytest.mark.parametrize("seed", some_of(range(12), 4))
def test_nothing_is_lower_than_the_lowest_minimum_where_rows_share_places_or_are_zero(name, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (9, 1 + seed % 2)).astype(float), np.append(rng.integers(0, 2, 7), [0, 1])
    if seed % 2:
        X[:3] = [[0, 0], [1, 0], [1, 1]]
    found = surface(name, X, y, size=9)
    best = found.minima[0]
    assert best.value <= lowest_seen(found) + 1e-6
    if best.attained:
        assert found.at(*best.theta) == pytest.approx(best.value)
    else:  # and it is tended to, along the ray or beside it
        across = np.linspace(-6, 6, 4001)[:, None] * [-best.theta[1], best.theta[0]]
        there = found.criterion.values(1e3 * np.array(best.theta) + across).min()
        assert there == pytest.approx(best.value, abs=1e-4)


@pytest.mark.parametrize(("name", "at_zero"), [("log", math.log(2)), ("exponential", 1.0), ("logistic-squared", 1.0)])
def test_a_row_of_zeros_costs_what_margin_zero_costs(name, at_zero):
    (found,) = surface(name, [[0, 0], [1, 2], [2, 1], [-1, -1]], [0, 1, 1, 0]).minima
    assert found.kind == "at infinity"
    assert found.value == pytest.approx(at_zero / 4, rel=1e-12)


def test_a_row_of_zeros_is_neither_right_nor_wrong_in_the_limit():
    X, y = [[0.0, 0], [1, 1], [-1, -1], [2, -1], [1, 2]], [1, 1, 0, 0, 1]
    found = surface("logistic-squared", X, y, size=9)
    assert found.minima[0].value == pytest.approx(found.at(*(1e3 * np.array(found.minima[0].theta))), rel=1e-12)
    assert found.minima[0].value == pytest.approx(0.2)


def test_the_boundary_through_a_place_of_both_classes_may_be_the_best_way_outwards():
    """Rows a and b there: min aσ(−t)² + bσ(t)² = ab/(a + b), lower than a and than b."""
    x, y = np.array([-3.0, 1, -3, 3, 0, 2, 1, 0, 3, 0, 3]), [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    found = surface("logistic-squared", x[:, None], y)
    best = found.minima[0]
    assert best.kind == "at infinity"
    assert best.value == pytest.approx(4 * (1 + 1 / 2) / 11, rel=1e-12)  # one mistake at 3, and a tie of 1 and 1 at −3
    assert best.theta == pytest.approx((-3 / math.sqrt(10), -1 / math.sqrt(10)))
    weight = np.where((x == -3) & (np.array(y) == 1), 3.0, 1.0)
    best = surface("logistic-squared", x[:, None], y, sample_weight=weight).minima[0]
    assert best.value == pytest.approx(4 * (1 + 3 / 4) / 13, rel=1e-12)


def test_ties_of_rows_at_unequal_distances_on_one_line():
    """Rows z and −2z of one class are right on opposite sides: the least of σ(−t)² + σ(2t)² is found by looking."""
    X, y = [[1.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [1, 1, 1, 0]
    found = surface("logistic-squared", X, y)
    t = np.linspace(-5, 5, 200_001)
    least = min((4 / (1 + np.exp(t)) ** 2 + 4 / (1 + np.exp(-2 * t)) ** 2).min(), 4.0)
    assert found.minima[0].value == pytest.approx(least / 4, abs=1e-8)


@pytest.mark.parametrize(("name", "kind"), [("hinge", "flat region"), ("squared-hinge", "flat region"),
                                            ("perceptron", "flat region"), ("squared", "minimum")])  # fmt: skip
def test_other_losses_attain_theirs_on_separated_rows(name, kind):
    (found,) = surface(name, np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]).minima
    assert found.kind == kind
    assert found.value == pytest.approx(0, abs=1e-12) or name == "squared"


# ---------------------------------------------------------------------------------------------------- the examples


def test_example_4_2_mistakes_are_radial_and_flat():
    found = surface("0-1", *scenes.figure_4_1())
    (best,) = found.minima
    assert best.value == 1 / 9
    (interval,) = best.cone.thresholds
    assert (interval.sign, interval.low, interval.high) == (1, -1.75, -1.0)
    assert (interval.with_low, interval.with_high) == (True, False)  # at score zero the first class
    assert str(interval) == "[-1.75, -1) with θ₁ > 0"
    assert found.at(2.75, 2) == found.at(1375, 1000) == 1 / 9


def test_example_4_4_both_surrogates_have_one_valley_beside_the_fewest_mistakes():
    X, y = scenes.figure_4_1()
    (nll,) = surface("log", X, y).minima
    assert nll.theta == pytest.approx((1.14121, 1.40139), abs=1e-5)
    lmse, *others = surface("logistic-squared", X, y).minima
    assert lmse.kind == "at infinity"  # 4·J₀₁ is its limit in the cone of one mistake, and it comes from above
    assert lmse.value == pytest.approx(4 / 9)
    assert -1.75 < -lmse.theta[0] / lmse.theta[1] < -1
    assert not any(minimum.attained for minimum in others)
    assert all(minimum.value > 2 for minimum in others)  # far up, and narrow


def test_example_4_5_at_theta_1_of_3():
    X, y = scenes.example_4_5()
    left, right = surface("logistic-squared", X, y).slice(theta1=3.0).minima
    assert left.theta == pytest.approx((-14.97, 3), abs=0.005)
    assert right.theta == pytest.approx((9.76, 3), abs=0.005)
    assert (left.kind, right.kind) == ("minimum", "local minimum")
    (nll,) = surface("log", X, y).slice(theta1=3.0).minima
    assert nll.kind == "minimum"
    assert nll.theta[0] == pytest.approx(-0.7511, abs=1e-4)


def test_example_4_5_in_both_weights():
    """A shallow minimum, and a steeper valley that goes on for ever and ends lower: 4·J₀₁ with two mistakes."""
    X, y = scenes.example_4_5()
    found = surface("logistic-squared", X, y)
    endless, shallow, *others = found.minima
    assert endless.kind == "at infinity"
    assert endless.value == pytest.approx(8 / 9)
    assert -1.5 < -endless.theta[0] / endless.theta[1] < -0.5
    assert shallow.kind == "local minimum"
    assert shallow.theta == pytest.approx((-0.22737, -0.29952), abs=1e-5)
    assert shallow.value == pytest.approx(0.890819, abs=1e-6)
    assert {minimum.kind for minimum in others} <= {"local, at infinity"}
    steep = [found.at(*(c * np.array(endless.theta))) for c in (10, 15, 20, 30, 40)]
    assert np.all(np.diff(steep) < 0)
    assert len(surface("log", X, y).minima) == 1


# -------------------------------------------------------------------------------------------------------- slices


@pytest.mark.parametrize("name", list(planes.NAMES))
@pytest.mark.parametrize("held", ["theta0", "theta1"])
@pytest.mark.parametrize("at", [-1.3, 0.7])
def test_the_minima_of_a_slice_are_as_low_as_a_dense_grid(name, held, at):
    X, y, weight = drawn(7, 15)
    found = surface(name, X, y, sample_weight=weight, size=3)
    cut = found.slice(**{held: at}, size=2001)
    minimum = min(cut.minima, key=lambda m: m.value)
    assert minimum.attained
    assert minimum.value <= cut.values.min() + 1e-12 * (1 + abs(cut.values.min()))
    assert minimum.value >= cut.values.min() - 1e-2
    assert found.at(*minimum.theta) == pytest.approx(minimum.value, rel=1e-12)
    assert minimum.theta[0 if held == "theta0" else 1] == at
    if name in CONVEX:
        assert len(cut.minima) == 1
    if minimum.span is not None:
        low, high = minimum.span
        for t in (low + 1e-9, (low + high) / 2, high - 1e-9):
            theta = (at, t) if held == "theta0" else (t, at)
            assert found.at(*theta) == pytest.approx(minimum.value, abs=1e-9)


@pytest.mark.parametrize("name", list(planes.NAMES))
@pytest.mark.parametrize("held", ["theta0", "theta1"])
@pytest.mark.parametrize("at", [1e3, -1e6, 1e6, 1e20])
def test_slices_far_outside_the_grid(name, held, at):
    """As low as any breakpoint, any middle between two, and any place near one; flat parts are flat."""
    X, y = scenes.figure_4_1()
    found = surface(name, X, y, size=3)
    cut = found.slice(**{held: at})
    moving = np.array([0.0, 1.0] if held == "theta0" else [1.0, 0.0])
    line = Line(found.criterion, at * (1 - moving), moving)
    t = np.sort(line.breaks()[0])
    tried = np.concatenate([t, (t[1:] + t[:-1]) / 2, (t[:, None] + [-3.0, -1.0, 1.0, 3.0]).ravel(), cut.t])
    least = line.values(tried).min()
    assert np.isfinite(cut.values).all()
    if name != "exponential":  # its values are held there
        assert min(m.value for m in cut.minima) <= least * (1 + 1e-9)
    assert len(cut.minima) == 1 or name not in CONVEX
    for minimum in cut.minima:
        if minimum.span is not None and name == "logistic-squared":
            inside = np.linspace(*minimum.span, 7)
            np.testing.assert_allclose(line.values(inside), minimum.value, rtol=1e-12)


def test_a_slice_far_out_has_the_plateau_of_the_fewest_mistakes():
    X, y = scenes.figure_4_1()
    found = surface("logistic-squared", X, y)
    _, plateau = found.slice(theta0=1e6).minima
    assert plateau.kind == "flat region"
    assert plateau.value == pytest.approx(4 / 9, rel=1e-12)
    assert 1e6 / 1.75 < plateau.span[0] < 785_714 < plateau.span[1] < 1e6
    assert min(m.value for m in found.slice(theta1=1e6).minima) == pytest.approx(4 / 9, rel=1e-12)
    (left, _) = found.slice(theta0=1e20).minima
    assert left.value == pytest.approx(4 * 5 / 9, rel=1e-12)  # and not at the last breakpoint itself


def test_a_slice_far_out_of_many_rows_has_it_too():
    X, y, weight = drawn(3, 700)
    found = surface("logistic-squared", X, y, sample_weight=weight, size=3)
    fewest = surface("0-1", X, y, sample_weight=weight, size=3).slice(theta1=1e9).minima[0]
    assert min(m.value for m in found.slice(theta1=1e9).minima) == pytest.approx(4 * fewest.value, rel=1e-9)


def test_the_exponential_loss_of_a_slice_far_out_is_least_where_two_rows_balance():
    """e^(−m₁) and e^(−m₂) of one rate and opposite directions are alike halfway, plus what their weights differ."""
    found = surface("exponential", [[0.0], [1.0], [2.0], [5.0]], [0, 1, 0, 1])
    (best,) = found.slice(theta1=1e6).minima
    assert best.theta[0] == pytest.approx(-1.5e6, abs=1e-3)
    (near,) = found.slice(theta1=3.0).minima
    t = np.linspace(-8, 0, 80_001)
    assert near.theta[0] == pytest.approx(t[found.slice(theta1=3.0, over=t[::40]).values.argmin() * 40], abs=5e-3)


def test_a_slice_may_fall_for_ever():
    X, y = np.array([[-2.0], [-1.0], [1.0], [3.0]]), [0, 0, 1, 1]
    for name in ("log", "logistic-squared"):
        (found,) = surface(name, X, y).slice(theta0=0.0).minima
        assert (found.kind, found.theta) == ("at infinity", (0.0, 1.0))
        assert found.value == pytest.approx(0, abs=1e-12)
    (found,) = surface("squared-hinge", X, y).slice(theta0=0.0).minima
    assert found.span == (pytest.approx(1.0), math.inf)
    (found,) = surface("hinge", X, y).slice(theta0=0.0).minima
    assert found.span == (pytest.approx(1.0), math.inf)


# --------------------------------------------------------------------------------------------------- robust scenes


def thresholds(rows):
    found = {}
    for name in ("squared", "log", "logistic-squared"):
        best = surface(name, *rows, size=11).minima[0]
        found[name] = -best.theta[0] / best.theta[1]
    return found


def wrong(rows, threshold):
    return int(((rows.X[:, 0] > threshold) != (rows.y > 0)).sum())


def test_far_rows_on_the_right_side_move_least_squares_only():
    scene = scenes.robustness("far and right")
    before, after = thresholds(scene.before), thresholds(scene.after)
    assert [wrong(scene.before, before[name]) for name in before] == [2, 2, 1]
    assert [wrong(scene.after, after[name]) for name in after] == [4, 2, 1]
    assert before["squared"] == pytest.approx(-0.77703, abs=1e-5)
    assert after["squared"] == pytest.approx(-0.10965, abs=1e-5)
    assert abs(after["log"] - before["log"]) < 3e-4
    assert LeastSquaresClassifier().fit(*scene.after).score(*scene.after) == pytest.approx(8 / 12)


def test_one_far_row_on_the_wrong_side_moves_the_likelihood_and_not_the_squared_error():
    scene = scenes.robustness("far and wrong")
    before, after = thresholds(scene.before), thresholds(scene.after)
    assert all(abs(threshold) < 1e-6 for threshold in before.values())
    assert after["log"] == pytest.approx(-1.7417, abs=1e-4)
    assert abs(after["logistic-squared"]) < 2e-5
    assert [wrong(scene.after, after[name]) for name in after] == [4, 4, 3]


def test_a_scene_that_is_not_there():
    with pytest.raises(ValueError, match="scene is 'near'; it must be one of 'far and right', 'far and wrong'"):
        scenes.robustness("near")


# ---------------------------------------------------------------------------------------------------------- units

SETS = {
    "overlap": scenes.figure_4_1(),
    "separated": (np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]),
    "a tie": (np.array([[0.0], [1.0], [1.0], [1.0], [2.0]]), [0, 0, 1, 1, 1]),
    "two columns": drawn(0, 12, 2)[:2],
    "a row of zeros": (np.array([[0.0, 0.0], [1, 2], [2, 1], [-1, -1]]), [0, 1, 1, 0]),
}


def assert_alike(found, other, factor=1.0):
    """The same minima, θ of all columns of X, but not of the intercept, divided by the factor."""
    assert [m.kind for m in found.minima] == [m.kind for m in other.minima]
    by = np.array([1.0 if found.criterion.plane.lifted else factor, factor])
    for ours, theirs in zip(found.minima, other.minima, strict=True):
        assert ours.value == pytest.approx(theirs.value, rel=1e-9, abs=1e-12)
        theta = np.array(ours.theta) * by
        theta = theta if ours.attained else theta / np.hypot(*theta)
        if ours.cone is None:  # of a cone any θ will do
            np.testing.assert_allclose(theta, theirs.theta, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", list(planes.NAMES))
@pytest.mark.parametrize("rows", some_of(list(SETS), 2))
def test_units_of_weights_and_columns_change_nothing_else(name, rows):
    X, y = SETS[rows]
    expected = surface(name, X, y, size=5)
    for weight in (1e308, 3e40, 1e-13, 1e-310):
        assert_alike(surface(name, X, y, size=5, sample_weight=np.full(len(y), weight)), expected)
    for factor in (1e99, 2.0**300, 1e-99):
        found = surface(name, X * factor, y, size=5)
        assert_alike(found, expected, factor)
        assert np.isfinite(found.slice(theta1=1 / factor).values).all()


def test_an_offset_of_a_million_hides_no_limit():
    rng = np.random.default_rng(2)
    y = rng.permutation(np.arange(10) % 2)
    X = (np.round(rng.standard_normal(10) + 0.5 * y, 2) + 1e6)[:, None]
    best, other = (surface("logistic-squared", rows, y, size=5).minima[0] for rows in (X, X - 1e6))
    assert best.kind == other.kind == "at infinity"
    assert best.value == pytest.approx(other.value, rel=1e-9)


@pytest.mark.parametrize(
    ("X", "weight", "says"),
    [
        ([[1e160], [2e160], [3e160]], None, r"column 0 reach 3e\+160.*Change the units: X\[:, 0\] / 3e\+160"),
        ([[1e-200], [2e-200], [3e-200]], None, "column 0 differ by 2e-200"),
        ([[1.0, 1e150], [2.0, 1.0], [0.0, 1.0]], None, r"column 1 reach 1e\+150"),
        ([[0.0], [1.0], [2.0]], [1e-310, 1.0, 1.0], r"sample_weight\[0\] is 1e-310 and the largest is 1,"),
    ],
)
def test_sizes_that_no_number_can_hold_are_named(X, weight, says):
    with pytest.raises(ValueError, match=says):
        surface("log", X, [0, 1, 0], sample_weight=weight)


# ------------------------------------------------------------------------------------------------------- bad input

ROWS = ([[0.0], [1.0], [2.0]], [0, 1, 0])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"loss": "nll"}, "loss is 'nll'; give one of '0-1', 'squared'"),
        ({"X": np.zeros((3, 3))}, r"shape \(3, 3\); a surface needs rows of one column"),
        ({"X": [[0.0], [math.inf], [1.0]]}, r"X\[1, 0\] is inf"),
        ({"X": [["a"], ["b"], ["c"]]}, "X must hold numbers"),
        ({"X": [[2.0]] * 3}, "X's column is 2 in every row"),
        ({"X": [[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]]}, "multiples of each other"),
        ({"y": [0, 1, 2]}, r"y has 3 class\(es\).*compare one with the rest"),
        ({"y": [0, 1]}, "a label for each of the 3 rows"),
        ({"y": [0.0, 1.0, math.nan]}, r"y\[2\] is nan"),
        ({"sample_weight": [1, 0, 1]}, r"y has 1 class\(es\)"),
        ({"sample_weight": [0, 0, 0]}, "zero for every row"),
        ({"size": 2}, "size is 2"),
        ({"theta0": [1.0, 0.0]}, "theta0 is"),
        ({"theta1": "wide"}, "theta1 is 'wide'"),
    ],
)
def test_what_does_not_fit_is_named(given, says):
    settings = {"loss": "log", "X": ROWS[0], "y": ROWS[1], **given}
    with pytest.raises(ValueError, match=says):
        surface(settings.pop("loss"), settings.pop("X"), settings.pop("y"), **settings)


def test_slices_that_cannot_be_taken():
    found = surface("log", *ROWS, size=5)
    assert isinstance(found, Surface)
    for settings in ({}, {"theta0": 1.0, "theta1": 1.0}):
        with pytest.raises(ValueError, match=r"give theta0=… or theta1=…, and not both"):
            found.slice(**settings)
    with pytest.raises(ValueError, match="theta1 is nan; a finite number"):
        found.slice(theta1=math.nan)


def test_a_loss_of_the_library_is_taken_as_it_is():
    X, y = scenes.example_4_5()
    ours, texts = surface(losses.LogisticSquared(), X, y, size=5), surface("logistic-squared", X, y, size=5)
    np.testing.assert_allclose(4 * ours.values, texts.values)
    assert Criterion(planes.NAMES["log"], ours.criterion.plane).endless
