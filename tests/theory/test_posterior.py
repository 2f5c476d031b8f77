"""Likelihood or squared error: given features and rows enough, both learn the posterior probability.  [000 §8.1.5]

E[(y − s)²] is least at s = η(x) = P(Y = 1 | x), where it is E[η(1 − η)], the mean variance of Y given x; and
E[−y log s − (1 − y) log(1 − s)] is least there too, where it is E[H(η)], the mean entropy of Y given x. A line in x is
too poor a map for that: then each objective has its own best fit, and neither is η.
"""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from separatrix import BudgetWarning, LogisticRegression

OBJECTIVES = ["likelihood", "squared"]
DEGREE = 9
FINE = np.linspace(-1, 1, 4001)
FEW, MANY = 5_000, 200_000


def wavy(x):
    """A posterior that no logistic curve in x has."""
    return 0.2 + 0.6 * np.sin(2 * x) ** 2


def lopsided(x):
    """Rising, but late: a logistic curve must choose where to be wrong."""
    return 0.03 + 0.94 * ((x + 1) / 2) ** 5


def variance(eta):
    return eta * (1 - eta)


def entropy(eta):
    return -(eta * np.log(eta) + (1 - eta) * np.log(1 - eta))


FLOORS = {"likelihood": entropy, "squared": variance}


def powers(x, degree):
    return x[:, None] ** np.arange(1, degree + 1)


def drawn(eta, n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=n)
    return x, (rng.random(n) < eta(x)).astype(int)


@cache
def fitted(eta, objective, degree, n, seed=0):
    x, y = drawn(eta, n, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)  # what the verdict says is asked below
        return LogisticRegression(objective=objective, starts=1).fit(powers(x, degree), y)


def posterior(eta, objective, degree, n, seed=0):
    """The fit's P(Y = 1 | x) on a fine grid of x."""
    return fitted(eta, objective, degree, n, seed).predict_proba(powers(FINE, degree))[:, 1]


def rms(difference):
    return float(np.sqrt(np.mean(np.square(difference))))


def true_risk(objective, eta, s):
    """The expected loss of the prediction s(x), over x and y: the floor plus what s lacks."""
    if objective == "squared":
        return np.mean(s**2 * (1 - eta) + (1 - s) ** 2 * eta)
    return -np.mean(np.log(1 - s) * (1 - eta) + np.log(s) * eta)


# ------------------------------------------------------------------------------------------------------ a rich map


@pytest.mark.parametrize("eta", [wavy, lopsided])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_with_rich_features_and_many_rows_both_objectives_learn_the_posterior(objective, eta):
    few, many = (rms(posterior(eta, objective, DEGREE, n) - eta(FINE)) for n in (FEW, MANY))
    assert many < 0.01
    assert many < few / 2


@pytest.mark.parametrize("eta", [wavy, lopsided])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_error_falls_as_one_over_the_root_of_the_rows(objective, eta):
    """Ten weights: an error of about √(10 η(1 − η)/n), half to twice that on average over a few draws."""
    for n in (2_000, 20_000):
        error = rms([posterior(eta, objective, DEGREE, n, seed) - eta(FINE) for seed in range(4)])
        expected = np.sqrt((DEGREE + 1) * variance(eta(FINE)).mean() / n)
        assert expected / 2 < error < 2 * expected


@pytest.mark.parametrize("eta", [wavy, lopsided])
def test_with_rich_features_the_two_objectives_agree(eta):
    likelihood, squared = (posterior(eta, objective, DEGREE, MANY) for objective in OBJECTIVES)
    assert rms(likelihood - squared) < 0.005
    assert rms(likelihood - squared) < rms(likelihood - eta(FINE))


@pytest.mark.parametrize("eta", [wavy, lopsided])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_risk_achieved_is_near_its_floor(objective, eta):
    """E[η(1 − η)] or E[H(η)]; on the very same rows η itself is hardly better or worse."""
    floor = FLOORS[objective](eta(FINE)).mean()
    achieved = fitted(eta, objective, DEGREE, MANY).verdict_.claim.value
    assert achieved == pytest.approx(floor, abs=0.004)
    x, y = drawn(eta, MANY, 0)
    t = eta(x)
    likelihood = -np.mean(np.where(y == 1, np.log(t), np.log(1 - t)))
    here = likelihood if objective == "likelihood" else np.mean((y - t) ** 2)
    assert here - 20 / MANY < achieved < here + 2e-4


@pytest.mark.parametrize("eta", [wavy, lopsided])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_true_risk_exceeds_its_floor_by_next_to_nothing(objective, eta):
    floor = FLOORS[objective](eta(FINE)).mean()
    risks = [true_risk(objective, eta(FINE), posterior(eta, objective, DEGREE, n)) - floor for n in (FEW, MANY)]
    assert 0 < risks[1] < 3e-4
    assert risks[1] < risks[0] / 3
    if objective == "squared":  # the excess is the mean square of s − η itself
        assert risks[1] == pytest.approx(rms(posterior(eta, objective, DEGREE, MANY) - eta(FINE)) ** 2, rel=1e-6)


@pytest.mark.parametrize("eta", [wavy, lopsided])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_minimum_is_proved(objective, eta):
    verdict = fitted(eta, objective, DEGREE, MANY).verdict_
    assert "separat" not in str(verdict)  # 200 000 rows, every probability between 0.03 and 0.97
    assert verdict.status == ("optimal" if objective == "likelihood" else "local")


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_standardised_features_learn_the_same_posterior(objective):
    x, y = drawn(wavy, FEW, 0)
    scale = StandardScaler().fit(powers(x, DEGREE))
    model = LogisticRegression(objective=objective, starts=1).fit(scale.transform(powers(x, DEGREE)), y)
    p = model.predict_proba(scale.transform(powers(FINE, DEGREE)))[:, 1]
    np.testing.assert_allclose(p, posterior(wavy, objective, DEGREE, FEW), atol=2e-4)


def test_a_second_start_finds_nothing_better():
    x, y = drawn(wavy, FEW, 0)
    twice = LogisticRegression(objective="squared", starts=2, random_state=0).fit(powers(x, DEGREE), y)
    once = fitted(wavy, "squared", DEGREE, FEW)
    assert twice.verdict_.claim.value == pytest.approx(once.verdict_.claim.value, rel=1e-8)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_posterior_itself_as_target_is_learnt_without_noise(objective):
    x = np.linspace(-1, 1, 2001)
    model = LogisticRegression(objective=objective, starts=1).fit(powers(x, DEGREE), wavy(x))
    assert rms(model.predict_proba(powers(FINE, DEGREE))[:, 1] - wavy(FINE)) < 0.007


# ------------------------------------------------------------------------------------------------------ a poor map


@pytest.mark.parametrize("eta", [wavy, lopsided])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_line_does_not_learn_the_posterior_however_many_the_rows(objective, eta):
    few, many = (rms(posterior(eta, objective, 1, n) - eta(FINE)) for n in (FEW, MANY))
    assert many > 0.03
    assert many == pytest.approx(few, rel=0.1)
    floor = FLOORS[objective](eta(FINE)).mean()
    assert true_risk(objective, eta(FINE), posterior(eta, objective, 1, MANY)) > floor + 0.001


def test_with_a_line_each_objective_has_its_own_answer():
    likelihood, squared = (posterior(lopsided, objective, 1, MANY) for objective in OBJECTIVES)
    assert rms(likelihood - squared) > 0.01
    assert np.abs(likelihood - squared).max() > 0.02
    truth = lopsided(FINE)
    for objective, best, other in (("likelihood", likelihood, squared), ("squared", squared, likelihood)):
        assert true_risk(objective, truth, best) < true_risk(objective, truth, other)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_richer_features_come_nearer_to_the_floor(objective):
    floor = FLOORS[objective](lopsided(FINE)).mean()
    excess = [
        true_risk(objective, lopsided(FINE), posterior(lopsided, objective, degree, MANY)) - floor
        for degree in (1, 3, DEGREE)
    ]
    assert excess[0] > 3 * excess[1] > 0
    assert excess[1] > excess[2] > 0


# --------------------------------------------------------------------------------------------------- many classes


def three_posteriors(x):
    scores = np.column_stack([np.sin(3 * x), np.cos(2 * x), 0.5 * x**2])
    p = np.exp(1.5 * scores)
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_posteriors_of_many_classes_are_learnt_too(objective):
    truth, errors = three_posteriors(FINE), []
    for n in (3_000, 60_000):
        rng = np.random.default_rng(1)
        x = rng.uniform(-1, 1, size=n)
        y = (three_posteriors(x).cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
        model = LogisticRegression(objective=objective, starts=1).fit(powers(x, 6), y)
        errors.append(rms(model.predict_proba(powers(FINE, 6)) - truth))
    assert errors[1] < 0.01
    assert errors[1] < errors[0] / 2
    floor = (
        (1 - np.square(truth).sum(axis=1)).mean() if objective == "squared" else -(truth * np.log(truth)).sum(1).mean()
    )
    assert model.verdict_.claim.value == pytest.approx(floor, abs=0.006)
