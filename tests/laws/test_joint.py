"""Laws of joint features, on small problems of whole numbers where ties, copies and separations are common."""

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rarely import examples
from referees.joint import places, table

from separatrix import JointClassifier, JointPerceptron, separability


@st.composite
def problems(draw):
    K, p = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    n = draw(st.integers(K, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    F = rng.integers(-2, 3, (n, K, p)).astype(float)
    if draw(st.booleans()):
        F = np.concatenate([F, F[..., :1] - F[..., -1:]], axis=2)  # a feature that others explain
    y = np.append(np.arange(K), rng.integers(0, K, n - K))
    return F, y


def fitted(model, F, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(places(F), y)


@examples(15, 40, problems(), st.sampled_from(["log", "squared"]), st.sampled_from([0.0, 0.1]))
def test_every_verdict_passes_its_own_check(problem, loss, l2):
    F, y = problem
    model = fitted(JointClassifier(table(F), loss=loss, l2=l2, starts=2), F, y)
    assert model.verdict_.check(places(F), y)
    if loss == "log":
        assert model.verdict_.status in ("optimal", "separated", "quasi-separated")
    p = model.predict_proba(places(F))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert (p >= 0).all()


@examples(15, 40, problems())
def test_a_maximum_exists_iff_the_differences_overlap(problem):
    """z = Φ(x, y) − Φ(x, c) and −z with the other label: `separability` without an intercept says the same."""
    F, y = problem
    Z = np.array([F[i, y[i]] - F[i, k] for i in range(len(F)) for k in range(F.shape[1]) if k != y[i]])
    kind = separability(np.vstack([Z, -Z]), np.repeat([1, 0], len(Z)), fit_intercept=False).kind
    status = fitted(JointClassifier(table(F)), F, y).verdict_.status
    assert status == {"overlap": "optimal"}.get(kind, kind)


@examples(15, 40, problems(), st.sampled_from(["mistake", "positive", "negative"]))
def test_a_perceptron_that_separates_has_its_bound(problem, ties):
    F, y = problem
    model = fitted(JointPerceptron(table(F), max_passes=200, ties=ties), F, y)
    assert model.verdict_.check(places(F), y)
    bound = model.bound()
    assert bound.made == model.mistakes_.sum() <= bound.bound
    if model.verdict_.status == "separated":
        assert (model.predict(places(F)) == y).all()
        assert fitted(JointClassifier(table(F)), F, y).verdict_.status == "separated"


@settings(max_examples=30, deadline=None)
@given(problems(), st.sampled_from([0.01, 1.0]))
def test_the_order_of_rows_and_twins_change_nothing(problem, l2):
    F, y = problem
    n = len(F)
    one = fitted(JointClassifier(table(F), l2=l2, tol=1e-14), F, y)
    turned = np.append(np.arange(n), np.arange(n))[::-1]
    two = fitted(JointClassifier(table(F[turned]), l2=l2, tol=1e-14), F[turned], y[turned])
    np.testing.assert_allclose(one.theta_, two.theta_, atol=1e-6)
