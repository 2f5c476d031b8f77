"""Intervals: by their equations, by published numbers, by brute force, and by how often they hold the truth."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given as law
from hypothesis import strategies as st

from separatrix.app.evaluation.calibration import calibration_intercept, calibration_slope, calibration_table
from separatrix.app.evaluation.intervals import (
    bootstrap,
    effective,
    mean_variance,
    newcombe,
    percentiles,
    quantile,
    square_and_add,
    wilson,
)
from separatrix.app.evaluation.predictions import Predictions
from separatrix.app.evaluation.ranking import (
    area,
    area_interval,
    auc,
    average,
    average_precision,
    hand_till,
    of_classes,
)

from .made import many, two


@law(st.integers(1, 500), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_wilson_ends_are_as_far_from_p_as_z_standard_errors_of_their_own(n, data, level):
    k = data.draw(st.integers(0, n))
    p, z = k / n, quantile(level)
    low, high = wilson(p, n, level)
    assert 0 <= low <= p <= high <= 1
    for end in {low, high} - {0.0, 1.0}:
        assert abs(p - end) == pytest.approx(z * math.sqrt(end * (1 - end) / n), rel=1e-9, abs=1e-12)


def test_wilson_of_published_counts():
    """Newcombe (1998), two-sided intervals for the single proportion, method 3."""
    published = {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }
    for (k, n), ends in published.items():
        assert wilson(k / n, n) == pytest.approx(ends, abs=5e-5)


def test_newcombe_of_published_counts():
    """Newcombe (1998), improved confidence intervals for paired proportions, method 10."""
    assert newcombe(36, 12, 2, 0, 0.95) == pytest.approx((0.0569, 0.3404), abs=5e-5)


@law(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(1, 30))
def test_newcombe_holds_the_difference_and_turns_with_the_order(a, b, c, d):
    n = a + b + c + d
    low, high = newcombe(a, b, c, d, 0.95)
    assert -1 - 1e-12 <= low <= (b - c) / n <= high <= 1 + 1e-12
    assert newcombe(a, c, b, d, 0.95) == pytest.approx((-high, -low))


def test_wilson_holds_the_truth_about_as_often_as_it_says():
    for p in (0.02, 0.1, 0.5):
        for n in (20, 100):
            k = np.arange(n + 1)
            chance = np.exp([math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in k])
            chance = chance * p**k * (1 - p) ** (n - k)
            held = [wilson(i / n, n)[0] <= p <= wilson(i / n, n)[1] for i in k]
            assert 0.91 <= chance @ held <= 0.99


def variance(found, yes):
    place = yes.astype(np.intp)
    return of_classes(found.parts, Predictions(("a", "b"), place, place))


@law(st.lists(st.integers(0, 4), min_size=4, max_size=25), st.lists(st.integers(0, 4), min_size=4, max_size=25))
def test_area_and_its_variance_pair_by_pair(up, down):
    """A = Σψ(x, y)/mn, and DeLong's S₁₀/m + S₀₁/n, each by two loops."""
    m, n = len(up), len(down)
    wins = np.array([[(x > y) + (x == y) / 2 for y in down] for x in up])
    expected = wins.mean(axis=1).var(ddof=1) / m + wins.mean(axis=0).var(ddof=1) / n
    scores, yes = np.array([*up, *down], float), np.arange(m + n) < m
    found = area(scores, yes, np.ones(m + n))
    assert found.value == pytest.approx(wins.mean())
    assert variance(found, yes) == pytest.approx(expected, abs=1e-15)


def test_delong_agrees_with_the_bootstrap_with_weights_and_clusters():
    for settings in ({}, {"weighted": True}, {"clusters": 60}, {"weighted": True, "clusters": 60}):
        given = two(300, ties=True, **settings)
        found = auc(given, 0.95)

        def areas(w, given=given):
            return np.array([area(given.scores, given.truth == 1, one).value for one in w])

        drawn = bootstrap(given, areas, 0.95, 3)
        assert found.low == pytest.approx(drawn.low, abs=0.015)
        assert found.high == pytest.approx(drawn.high, abs=0.015)


def test_areas_of_many_classes_agree_with_the_bootstrap():
    given = many(300)
    for find in (auc, hand_till):
        found = find(given, 0.95)

        def drawn_areas(w, find=find):
            return np.array([find(replace(given, weights=one), 0.95).value for one in w[:300]])

        drawn = bootstrap(given, drawn_areas, 0.95, 0)
        assert (found.low, found.high) == pytest.approx((drawn.low, drawn.high), abs=0.012)


def test_delong_holds_the_truth_about_as_often_as_it_says():
    """Normal scores one apart: A = Φ(1/√2). 600 tables of 30 and 50 rows."""
    random = np.random.default_rng(5)
    truth, yes, held = 0.5 * (1 + math.erf(0.5)), np.arange(80) < 30, 0
    for _ in range(600):
        found = area(random.normal(size=80) + yes, yes, np.ones(80))
        low, high, *_ = area_interval(found.value, variance(found, yes), (30, 50), 0.95)
        held += low <= truth <= high
    assert 0.93 <= held / 600 <= 0.975  # three standard errors are 0.027


def test_the_area_of_classes_in_perfect_order_has_an_interval_that_narrows():
    ends = [area_interval(1.0, 0.0, (n, n), 0.95) for n in (2, 10, 100, 1000)]
    lows = [end.low for end in ends]
    assert lows == sorted(lows)
    assert lows[0] < 0.7 < 0.995 < lows[-1]
    mirrored = area_interval(0.0, 0.0, (10, 10), 0.95)
    assert (mirrored.low, mirrored.high) == pytest.approx((0, 1 - lows[1]))


def test_the_mean_has_the_usual_standard_error_and_clusters_add_up_first():
    random = np.random.default_rng(0)
    x, w = random.normal(size=50), np.ones(50)
    assert mean_variance(x, w) == pytest.approx(x.var(ddof=1) / 50)
    clusters = np.repeat(np.arange(10), 5)
    means = x.reshape(10, 5).mean(axis=1)
    assert mean_variance(x, w, clusters) == pytest.approx(means.var(ddof=1) / 10)
    assert effective(np.array([1.0, 1, 0, 0])) == 2
    assert effective(np.full(7, 1e300)) == pytest.approx(7)


def test_square_and_add_of_symmetric_intervals_is_pythagoras():
    assert square_and_add((0.5, 0.2, 0.8), (0.1, -0.3, 0.5)) == pytest.approx((-0.1, 0.9))
    assert square_and_add((0.5, 0.2, 0.8), (0.1, -0.2, 0.4), (1, 1)) == pytest.approx((0.4, 0.4))


@pytest.mark.parametrize("ties", [False, True])
def test_the_parts_of_an_average_precision_are_its_slopes_in_the_weights(ties):
    given = two(40, ties=ties, weighted=True)
    yes, w = given.truth == 1, given.w
    parts = average(given.scores, yes, w).parts
    slopes = np.empty(40)
    for j in range(40):
        ends = [average(given.scores, yes, w + side * 1e-6 * np.eye(40)[j]).value for side in (-1, 1)]
        slopes[j] = (ends[1] - ends[0]) / 2e-6
    for side in (yes, ~yes):
        slopes[side] -= w[side] @ slopes[side] / w[side].sum()
    np.testing.assert_allclose(parts, w * slopes, atol=1e-8)


def test_average_precision_agrees_with_the_bootstrap_with_weights_and_clusters():
    for settings in ({}, {"weighted": True}, {"clusters": 60}):
        given = two(300, ties=True, **settings)
        found = average_precision(given, 0.95)

        def averages(w, given=given):
            return np.array([average(given.scores, given.truth == 1, one).value for one in w])

        drawn = bootstrap(given, averages, 0.95, 3)
        # The bootstrap of average precision is biased upwards: the widths are compared more closely than the ends.
        assert found.high - found.low == pytest.approx(drawn.high - drawn.low, rel=0.15)
        assert (found.low, found.high) == pytest.approx((drawn.low, drawn.high), abs=0.03)


def test_average_precision_holds_the_truth_about_as_often_as_it_says():
    """Normal scores 1.5 apart, 40 and 80 rows; the truth from 200 000 rows of the same shares."""
    random, yes = np.random.default_rng(7), np.arange(120) < 40
    large = np.arange(200_001) % 3 == 0
    truth = average(random.normal(size=200_001) + 1.5 * large, large, np.ones(200_001)).value
    held = 0
    for _ in range(400):
        z = random.normal(size=120) + 1.5 * yes
        one = average_precision(Predictions(("a", "b"), yes.astype(np.intp), yes.astype(np.intp), z), 0.95)
        held += one.low <= truth <= one.high
    assert 0.91 <= held / 400 <= 0.98


def test_percentiles_say_when_draws_have_no_value_or_no_spread():
    values = np.linspace(0, 1, 1001)
    assert percentiles(values, 0.9, "x")[:2] == pytest.approx((0.05, 0.95))
    assert "100 of 1001 bootstrap draws" in percentiles(np.where(np.arange(1001) < 100, np.nan, values), 0.9, "x").why
    assert "same value" in percentiles(np.ones(10), 0.9, "x").why


# ------------------------------------------------------------------------------------------------------- calibration


def of_logits(z, truth, **more):
    p = 1 / (1 + np.exp(-z))
    return Predictions(("a", "b"), truth, (p >= 0.5).astype(np.intp), None, np.column_stack([1 - p, p]), **more)


@pytest.mark.parametrize("weighted", [False, True])
def test_calibration_is_the_logistic_fit_on_the_log_odds(weighted):
    from separatrix import LogisticRegression

    random = np.random.default_rng(2)
    z = random.normal(size=400)
    truth = (random.random(400) < 1 / (1 + np.exp(-(0.5 + 0.6 * z)))).astype(np.intp)
    w = random.uniform(0.5, 2, 400) if weighted else None
    given = of_logits(z, truth, weights=w)
    model = LogisticRegression().fit(z[:, None], truth, sample_weight=w)
    found = calibration_slope(given, 0.95)
    assert found.value == pytest.approx(model.coef_.item(), rel=1e-6)
    assert found.low < 0.6 < found.high < 1
    large = calibration_intercept(given, 0.95)
    moved = 1 / (1 + np.exp(-(z + large.value)))
    assert given.w @ moved == pytest.approx(given.w @ truth)  # the moved probabilities are right on the whole


def test_true_probabilities_are_held_to_be_calibrated_about_as_often_as_said():
    random, held = np.random.default_rng(8), np.zeros(2)
    for _ in range(300):
        z = random.normal(size=120)
        given = of_logits(z, (random.random(120) < 1 / (1 + np.exp(-z))).astype(np.intp))
        slope, intercept = calibration_slope(given, 0.95), calibration_intercept(given, 0.95)
        held += [slope.low <= 1 <= slope.high, intercept.low <= 0 <= intercept.high]
    assert (held / 300 >= 0.91).all()
    assert (held / 300 <= 0.99).all()


@pytest.mark.parametrize("made", [two, many])
def test_bins_hold_every_row_once_in_order(made):
    given = made(weighted=True)
    bins = calibration_table(given)
    assert sum(one.rows for one in bins) == given.rows
    assert len(bins) == 10
    assert all(one.low <= one.predicted <= one.high for one in bins)
    assert all(a.high == b.low for a, b in pairwise(bins))
    assert all(one.observed.low <= one.observed.value <= one.observed.high for one in bins)


def test_probabilities_that_are_all_equal_are_one_bin():
    (one,) = calibration_table(of_logits(np.zeros(30), np.arange(30) % 2))
    assert (one.rows, one.predicted, one.observed.value) == (30, 0.5, 0.5)
    assert calibration_table(replace(two(), probabilities=None)) == ()
