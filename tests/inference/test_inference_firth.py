"""Inference from Firth's penalised likelihood: logistf's published intervals, and laws."""

import csv
import json

import numpy as np
import pytest
from places import SHARED
from scipy.optimize import minimize
from scipy.stats import chi2

from separatrix import LogisticRegression
from separatrix.inference.constrained import constrained_maximum

needs_shared_data = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of reference data is not here")


def table(name):
    """The columns and the outcome, which is the last column of endometrial and the first of sex2."""
    with (SHARED / "separation" / f"{name}.csv").open(encoding="utf-8") as file:
        _, *lines = csv.reader(file)
    rows = np.array(lines, dtype=float)
    return (rows[:, :-1], rows[:, -1]) if name == "endometrial" else (rows[:, 1:], rows[:, 0])


def few(seed=0, n=30):
    """Few rows, and a column that separates: no row with a one in it is of the first class."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), np.arange(n) < 6])
    y = (rng.random(n) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
    y[:6] = 1
    return X, y


def penalised(X, y, beta, cost=None):
    """ℓ + ½ log|A|, by the book."""
    Z, cost = np.column_stack([np.ones(len(X)), X]), np.ones(len(X)) if cost is None else cost
    eta = Z @ beta
    p = 1 / (1 + np.exp(-eta))
    A = (Z.T * (cost * p * (1 - p))) @ Z
    return float(cost @ (y * eta - np.logaddexp(0, eta))) + np.linalg.slogdet(A)[1] / 2


def best(X, y, j, value, beta, cost=None):
    """The maximum of the others where the j-th coefficient is `value`, by scipy."""

    def loss(rest):
        return -penalised(X, y, np.insert(rest, j, value), cost)

    return -minimize(loss, np.delete(beta, j), method="BFGS", options={"gtol": 1e-8}).fun


@needs_shared_data
@pytest.mark.parametrize("objective", ["firth", "flic"])
@pytest.mark.parametrize("name", ["endometrial", "sex2"])
def test_the_intervals_of_logistf(name, objective):
    X, y = table(name)
    known = json.loads((SHARED / "ref" / "reference_results.json").read_text(encoding="utf-8"))[name]
    found = LogisticRegression(objective=objective).fit(X, y).inference(X, y)
    assert found.refused is None
    np.testing.assert_allclose(found.coefficients, known["firth_computed"]["coef"], atol=1e-6)
    np.testing.assert_allclose(found.standard_errors, known["firth_computed"]["se"], atol=1e-6)
    np.testing.assert_allclose(found.interval(method="profile"), known["firth_logistf"]["profile_ci"], atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_at_the_ends_the_penalised_likelihood_has_fallen_just_so_far(seed):
    X, y = few(seed)
    found = LogisticRegression(objective="firth").fit(X, y).inference(X, y)
    top, b = penalised(X, y, found.coefficients), found.coefficients
    for j, ends in enumerate(found.interval(0.9, method="profile")):
        assert ends[0] < b[j] < ends[1] < np.inf
        for end in ends:
            assert top - best(X, y, j, end, b) == pytest.approx(chi2.ppf(0.9, 1) / 2, rel=1e-5)


def test_a_likelihood_ratio_test_keeps_the_penalty_of_all_columns():
    X, y = few(1)
    found = LogisticRegression(objective="firth").fit(X, y).inference(X, y)
    without = best(X, y, 2, 0.0, found.coefficients)
    assert found.test("x1").statistic == pytest.approx(2 * (penalised(X, y, found.coefficients) - without), rel=1e-6)


def test_few_rows_and_separation_are_what_it_is_for():
    X, y = few()
    found = LogisticRegression(objective="firth").fit(X, y).inference(X, y)
    assert found.reasons == ()
    assert np.isfinite(found.standard_errors).all()


def test_flic_moves_the_intercept_alone():
    X, y = few()
    firth, flic = (LogisticRegression(objective=each).fit(X, y) for each in ("firth", "flic"))
    one, other = firth.inference(X, y), flic.inference(X, y)
    np.testing.assert_allclose(other.coefficients, one.coefficients, rtol=1e-12)
    assert "FLIC moves it afterwards" in other.notes[0]
    assert abs(flic.intercept_[0] - other.coefficients[0]) > 1e-3


def test_weight_two_is_a_row_twice():
    X, y = few(2)
    cost = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    cost[:6] = 1
    many = np.repeat(np.arange(len(y)), cost.astype(int))
    one = LogisticRegression(objective="firth").fit(X, y, cost).inference(X, y, cost)
    other = LogisticRegression(objective="firth").fit(X[many], y[many]).inference(X[many], y[many])
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-6)
    np.testing.assert_allclose(one.interval(method="profile"), other.interval(method="profile"), rtol=1e-6)
    assert one.test("x0").p == pytest.approx(other.test("x0").p, rel=1e-6)


def test_what_it_refuses():
    X, y = few()
    model = LogisticRegression(objective="firth").fit(X, y)
    with pytest.raises(ValueError, match=r"objective='firth' and covariance='robust' do not go together"):
        model.inference(X, y, covariance="robust")
    with pytest.raises(ValueError, match="not the rows"):
        model.inference(X, 1 - y)
    aliased = np.column_stack([X, X[:, 0] - X[:, 1]])
    refused = LogisticRegression(objective="firth").fit(aliased, y).inference(aliased, y).refused
    assert "x2 is a combination of other columns" in refused


@pytest.mark.parametrize(("n", "d"), [(8, 2), (12, 2), (20, 2), (50, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_ends_are_finite_where_classes_are_separated(n, d, seed):
    """There ℓ* is not concave, and goes to −∞ whichever way the weights go."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    y = (X.sum(axis=1) > 0).astype(int)
    y[0], y[1], X[0], X[1] = 0, 1, -1.0, 1.0
    found = LogisticRegression(objective="firth").fit(X, y).inference(X, y)
    ends = found.interval(method="profile")
    assert np.isfinite(ends).all()
    summit = found.fitted.summit
    for j in range(d + 1):
        for end in ends[j]:
            held = constrained_maximum(summit.likelihood, summit.v, found.functions[[j]], np.array([end]))
            assert 2 * (summit.value - held.value) >= chi2.ppf(0.95, 1) - 1e-5  # or higher on another path


def test_an_end_beyond_another_maximum_is_found():
    """Under a constraint ℓ* has two maxima here; the one that lies on the path from the top is not the higher."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(12, 2))
    y = (X[:, 0] > 0).astype(int)
    found = LogisticRegression(objective="firth").fit(X, y).inference(X, y)
    assert found.interval(method="profile")[1, 1] == pytest.approx(15.5198305, rel=1e-6)
