"""Differences on the same rows."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from separatrix.app.evaluation.measures import measures, names_for
from separatrix.app.evaluation.paired import best_of, difference, mcnemar
from separatrix.app.evaluation.predictions import Predictions

from .made import many, two

SETTINGS = [{}, {"weighted": True}, {"clusters": 40}, {"weighted": True, "clusters": 40}]


def pair(made=two, n=200, noise=0.5, seed=3, **settings):
    """Two models that are nearly one: the second has some noise in its scores."""
    first = made(n, **settings)
    z = first.scores + noise * np.random.default_rng(seed).normal(size=first.scores.shape)
    full = np.column_stack([0 * z, z]) if z.ndim == 1 else z
    p = np.exp(full - full.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return first, replace(first, scores=z, probabilities=p, chosen=p.argmax(axis=1))


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("made", [two, many])
def test_every_difference_is_that_of_the_values_and_turns_with_the_order(made, settings):
    first, second = pair(made, **settings)
    for name in names_for(len(first.classes)):
        there, back = difference(first, second, name), difference(second, first, name)
        a, b = (measures(one, [name])[0].value for one in (first, second))
        assert there.value == pytest.approx(a - b, abs=1e-12)
        assert there.low < there.value < there.high, name
        assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-9), name
        assert there.method


@pytest.mark.parametrize("name", ["accuracy", "auc", "log_loss", "brier", "mcc", "average_precision"])
def test_a_paired_interval_is_narrower_than_two_by_themselves(name):
    first, second = pair()
    both = [measures(one, [name])[0] for one in (first, second)]
    found = difference(first, second, name)
    assert found.high - found.low < 0.8 * math.hypot(*(one.high - one.low for one in both))


def test_delongs_covariance_pair_by_pair():
    first, second = pair(n=60)
    yes = first.truth == 1
    m, n = yes.sum(), (~yes).sum()
    wins = [(s[yes][:, None] > s[~yes][None]).astype(float) for s in (first.scores, second.scores)]
    ten, one = (np.cov([w.mean(axis=axis) for w in wins]) for axis in (1, 0))
    S = ten / m + one / n
    variance = S[0, 0] + S[1, 1] - 2 * S[0, 1]
    found = difference(first, second, "auc")
    assert found.high - found.low == pytest.approx(2 * 1.959963984540054 * math.sqrt(variance))


def test_formulas_agree_with_the_paired_bootstrap():
    first, second = pair(n=300)
    random = np.random.default_rng(0)
    yes, no = np.flatnonzero(first.truth == 1), np.flatnonzero(first.truth == 0)
    drawn, formulas = [], ["accuracy", "auc", "log_loss", "brier", "calibration_slope", "calibration_intercept"]
    for _ in range(500):
        rows = np.concatenate([random.choice(yes, len(yes)), random.choice(no, len(no))])
        a, b = first.of(rows), second.of(rows)
        drawn.append([
            measures(a, [name])[0].value - measures(b, [name])[0].value for name in formulas
        ])  # fmt: skip
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    for k, name in enumerate(formulas):
        found, width = difference(first, second, name), high[k] - low[k]
        assert found.low == pytest.approx(low[k], abs=0.2 * width), name
        assert found.high == pytest.approx(high[k], abs=0.2 * width), name


def test_words():
    good, bad = pair(noise=5.0)
    assert difference(good, bad, "log_loss").word == "better"
    assert difference(bad, good, "log_loss").word == "worse"
    assert difference(good, bad, "auc").word == "better"
    assert difference(bad, good, "error_rate").word == "worse"
    same = difference(good, good, "log_loss")
    assert (same.value, same.low, same.high, same.word) == (0, 0, 0, "no difference shown")


def test_no_difference_is_shown_about_as_often_as_said_where_there_is_none():
    wrong = {"auc": 0, "log_loss": 0, "accuracy": 0}
    for seed in range(200):
        random = np.random.default_rng(seed)
        truth = (np.arange(80) % 2).astype(np.intp)
        z = truth - 0.5 + random.normal(size=(2, 80))
        p = 1 / (1 + np.exp(-z))
        both = [Predictions(("a", "b"), truth, (q > 0.5).astype(np.intp), s, np.column_stack([1 - q, q]))
                for s, q in zip(z, p, strict=True)]  # fmt: skip
        for name in wrong:
            wrong[name] += difference(*both, name).word != "no difference shown"
    assert all(0.005 <= times / 200 <= 0.1 for times in wrong.values()), wrong


@pytest.mark.parametrize(("b", "c"), [(0, 0), (3, 3), (1, 9), (9, 1), (40, 60), (0, 5), (900, 1100)])
def test_mcnemar_is_the_mid_p_value_of_the_sign_test(b, c):
    n, x = b + c, min(b, c)
    expected = 1.0 if b == c else min(1, 2 * binom.cdf(x, n, 0.5) - binom.pmf(x, n, 0.5))
    assert mcnemar(b, c) == pytest.approx(expected)


def test_accuracy_has_a_p_value_where_rows_are_independent_and_equal():
    assert 0 < difference(*pair(), "accuracy").p <= 1
    assert difference(*pair(weighted=True), "accuracy").p is None
    assert difference(*pair(), "auc").p is None


def test_a_measure_without_a_value_has_a_difference_without_one():
    first, second = pair()
    found = difference(first, replace(second, probabilities=None), "log_loss")
    assert (found.value, found.word, found.why) == (None, "no difference shown", "there are no probabilities")


def test_other_rows_are_refused():
    first, second = pair()
    with pytest.raises(ValueError, match="not of the same rows"):
        difference(first, second.of(np.arange(200)[::-1]), "auc")
    with pytest.raises(ValueError, match="different weights"):
        difference(first, replace(second, weights=np.ones(200)), "auc")


def test_the_best():
    first, second = pair(noise=5.0)
    found = {"worse": measures(second, ["log_loss"])[0], "good": measures(first, ["log_loss"])[0],
             "none": measures(replace(first, probabilities=None), ["log_loss"])[0]}  # fmt: skip
    assert best_of(found) == "good"
    assert best_of({"none": found["none"]}) is None
