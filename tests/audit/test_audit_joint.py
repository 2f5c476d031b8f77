"""The audit of joint features believes what is true and no more: every number of a claim that is changed is caught."""

import dataclasses
import math
import warnings

import numpy as np
import pytest
from referees.joint import mean_loss, places, table

from separatrix import JointClassifier, JointPerceptron
from separatrix.audit.joint import likelihood_gap
from separatrix.audit.joint_space import JointTable
from separatrix.joint import Separate, Shared
from separatrix.results.claims import JointClaim
from separatrix.results.proofs import Locality, Optimality
from separatrix.results.verdict import Rank, Verdict


def problem(seed=0, n=40, K=3, p=4):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, K, p))
    y = (F @ rng.normal(size=p) + rng.gumbel(size=(n, K))).argmax(axis=1)
    y[:K] = range(K)
    return F, y


def separable(seed=0):
    F = np.random.default_rng(seed).normal(size=(30, 3, 2))
    return F, (F @ [2.0, 1.0]).argmax(axis=1)


def partly(seed=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=30)
    X = np.column_stack([x, np.append(np.zeros(28), [1.0, 2.0])])
    return X, np.append(np.where(x[:28] + rng.logistic(size=28) > 0, "b", "a"), ["c", "c"])


def fitted(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data).verdict_


def claim_with(verdict, **changes):
    return dataclasses.replace(verdict, claim=dataclasses.replace(verdict.claim, **changes))


def proof_with(verdict, **changes):
    return dataclasses.replace(verdict, certificate=dataclasses.replace(verdict.certificate, **changes))


def nudged(theta, by):
    theta = theta.copy()
    theta[0] += by
    return theta


CASES = {
    "optimal": lambda: (JointClassifier(table(problem()[0]), tol=1e-3), places(problem()[0]), problem()[1]),
    "penalised": lambda: (JointClassifier(table(problem()[0]), l2=0.1, tol=1e-3), places(problem()[0]), problem()[1]),
    "local": lambda: (
        JointClassifier(table(problem(1)[0]), loss="squared", l2=0.01, tol=1e-3),
        places(problem(1)[0]),
        problem(1)[1],
    ),
    "separated": lambda: (JointClassifier(table(separable()[0])), places(separable()[0]), separable()[1]),
    "quasi-separated": lambda: (JointClassifier(tol=1e-3), *partly()),
    "mistakes": lambda: (JointPerceptron(table(problem()[0]), max_passes=5), places(problem()[0]), problem()[1]),
    "parted": lambda: (JointPerceptron(table(separable()[0]), max_passes=9999), places(separable()[0]), separable()[1]),
}


@pytest.fixture(params=CASES)
def case(request):
    model, X, y = CASES[request.param]()
    return request.param, fitted(model, X, y), X, y


def test_what_is_true_is_believed(case):
    name, verdict, X, y = case
    status = {"penalised": "optimal", "mistakes": "budget", "parted": "separated"}.get(name, name)
    assert verdict.status == status
    assert verdict.check(X, y)
    assert verdict.check(X, y, np.ones(len(y)))
    assert verdict.to_dict()["claim"]["weights"] == verdict.claim.weights.tolist()


def test_other_rows_labels_or_weights_are_not_what_was_claimed(case):
    name, verdict, X, y = case
    y = np.asarray(y)
    assert not verdict.check(X[:-1], y[:-1])
    assert not verdict.check(X, np.roll(y, 1))
    if name not in ("separated", "parted", "mistakes"):
        assert not verdict.check(X, y, np.arange(1.0, len(y) + 1))
    assert not verdict.check(X, ["unknown"] * len(y))


def test_other_weights_are_caught(case):
    name, verdict, X, y = case
    far = 40 if name in ("mistakes", "parted", "separated") else 1e-3
    assert not claim_with(verdict, weights=nudged(verdict.claim.weights, far)).check(X, y)
    if name in ("separated", "parted"):
        assert not proof_with(verdict, weights=nudged(verdict.certificate.weights, far)).check(X, y)
        assert not proof_with(verdict, weights=-verdict.certificate.weights).check(X, y)
        both = claim_with(verdict, weights=-verdict.claim.weights)
        assert not proof_with(both, weights=-verdict.claim.weights).check(X, y)
    assert not claim_with(verdict, weights=verdict.claim.weights * math.nan).check(X, y)
    assert not claim_with(verdict, weights=verdict.claim.weights[:-1]).check(X, y)


def test_another_value_is_caught(case):
    name, verdict, X, y = case
    other = verdict.claim.value + (1 / len(y) if name in ("mistakes", "parted") else 1e-6)
    assert not claim_with(verdict, value=other).check(X, y)
    assert not claim_with(verdict, value=math.nan).check(X, y)


def test_another_problem_is_caught(case):
    name, verdict, X, y = case
    assert not claim_with(verdict, rows=verdict.claim.rows + 1).check(X, y)
    assert not claim_with(verdict, l2=verdict.claim.l2 + 0.01).check(X, y)
    assert not claim_with(verdict, l2=-1.0).check(X, y)
    assert not claim_with(verdict, objective="exponential").check(X, y)
    assert not claim_with(verdict, classes=(*verdict.claim.classes[:-1], "other")).check(X, y)
    assert not claim_with(verdict, classes=verdict.claim.classes[:1]).check(X, y)
    assert not claim_with(verdict, feature_map=None).check(X, y)
    assert not claim_with(verdict, feature_map=lambda X, c: np.zeros((len(X), 1))).check(X, y)
    assert not claim_with(verdict, feature_map=lambda X, c: 1 / 0).check(X, y)
    p = verdict.claim.weights.size
    assert not claim_with(verdict, feature_map=lambda X, c: np.full((X.shape[0], p), np.nan)).check(X, y)
    assert not claim_with(verdict, free=(p,)).check(X, y)
    assert not claim_with(verdict, class_weight=(1.0,)).check(X, y)
    if name in ("optimal", "penalised", "local", "quasi-separated", "mistakes"):
        assert not claim_with(verdict, class_weight=(1.0, 2.0, 3.0)).check(X, y)
    if name in ("penalised", "local"):
        assert not claim_with(verdict, free=(0,)).check(X, y)


def test_a_proof_that_is_too_good_is_caught(case):
    name, verdict, X, y = case
    if name == "mistakes":
        assert not dataclasses.replace(verdict, status="separated").check(X, y)
        assert not dataclasses.replace(verdict, status="optimal").check(X, y)
        return
    proof = verdict.certificate
    assert not dataclasses.replace(verdict, certificate=None).check(X, y)
    if name in ("separated", "parted"):
        assert not proof_with(verdict, margin=proof.margin * 1.001).check(X, y)
        assert not proof_with(verdict, intercept=1.0).check(X, y)
        return
    part = 1e-9  # what is claimed is rounded up to a millionth of the gap asked for
    assert not proof_with(verdict, gap=proof.gap * part, relative_gap=proof.relative_gap * part).check(X, y)
    assert not proof_with(verdict, gap=proof.gap * 2).check(X, y)  # it does not agree with the relative gap
    assert not proof_with(verdict, relative_gap=proof.relative_gap * 2).check(X, y)
    assert not proof_with(verdict, gap=math.nan).check(X, y)
    if name in ("optimal", "penalised", "local"):
        assert not proof_with(verdict, coefficients=proof.coefficients * math.sqrt(part)).check(X, y)
        assert not proof_with(verdict, coefficients=proof.coefficients[1:]).check(X, y)


def test_a_minimum_is_not_claimed_where_there_is_none():
    F, y = problem()
    X = places(F)
    verdict = fitted(JointClassifier(table(F)), X, y)
    theta = verdict.claim.weights + 0.1
    value = mean_loss(theta, F, np.eye(3)[y])
    elsewhere = claim_with(verdict, weights=theta, value=value)
    assert not elsewhere.check(X, y)
    assert dataclasses.replace(elsewhere, status="budget", certificate=None).check(X, y)  # the value alone is true
    assert not dataclasses.replace(verdict, rank=Rank(3, 4, ("f3",))).check(X, y)
    local = Locality(1.0, 1.0, 1.0, 1.0 / verdict.claim.value, 1.0, np.ones(4))
    assert not dataclasses.replace(verdict, status="local", certificate=local).check(X, y)


def test_a_limit_needs_its_direction():
    X, y = partly()
    verdict = fitted(JointClassifier(), X, y)
    proof, result = verdict.certificate, verdict.separability
    assert not dataclasses.replace(verdict, separability=None).check(X, y)
    fewer = dataclasses.replace(result, rows=result.rows[1:].copy())
    assert not dataclasses.replace(verdict, separability=fewer).check(X, y)
    assert not dataclasses.replace(verdict, separability=dataclasses.replace(result, kind="separated")).check(X, y)
    turned = dataclasses.replace(result.certificate, weights=-result.certificate.weights)
    assert not dataclasses.replace(verdict, separability=dataclasses.replace(result, certificate=turned)).check(X, y)
    assert not proof_with(verdict, value=proof.value * 1.001).check(X, y)
    assert not proof_with(verdict, deviance=proof.deviance * 1.001).check(X, y)
    assert not proof_with(verdict, weights=nudged(proof.weights, 0.01)).check(X, y)
    finite = np.isfinite(proof.coefficients)
    assert not proof_with(verdict, coefficients=proof.coefficients[1:]).check(X, y)
    assert not finite.any() or not proof_with(verdict, coefficients=np.where(finite, 0, np.inf)).check(X, y)
    assert not proof_with(verdict, coefficients=np.zeros(proof.weights.size)).check(X, y)
    assert not claim_with(verdict, weights=proof.weights).check(X, y)  # there separated rows are not certain


def test_the_gap_bounds_what_can_be_gained():
    """At random points: the bound is no smaller than the true gap, and not much larger."""
    F, y = problem(5)
    X, T = places(F), np.eye(3)[y]
    best = fitted(JointClassifier(table(F), tol=1e-14), X, y).claim
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 3e-2):
        theta = best.weights + size * rng.normal(size=4)
        claim = JointClaim((0, 1, 2), table(F), theta, 0.0, 0.0, len(F))
        bound = likelihood_gap(claim, theta, JointTable(claim, X, y, None), np.eye(4), 0.0)
        gap = mean_loss(theta, F, T) - best.value
        assert gap <= bound <= 2 * gap


@pytest.mark.parametrize("feature_map", [None, Separate(intercept=False), Shared({"g": [0, 2]})])
@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_minima_with_aliased_features_are_believed_and_others_not(feature_map, l2):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2)) * [1, 100] + [0, 300]
    X = np.column_stack([X, X[:, 0] - X[:, 1]])
    y = rng.integers(0, 3, 60)
    verdict = fitted(JointClassifier(feature_map, l2=l2, tol=1e-3), X, y)
    assert isinstance(verdict.certificate, Optimality)
    assert verdict.check(X, y)
    assert not proof_with(
        verdict, gap=verdict.certificate.gap * 1e-12, relative_gap=verdict.certificate.relative_gap * 1e-12
    ).check(X, y)  # fmt: skip


def test_a_separation_by_rounding_is_decided_in_fractions():
    F = np.zeros((2, 2, 2))
    F[0, 0], F[1, 1] = [1e17, 1.0], [-1e17, -0.5]
    X, y = places(F), [0, 1]
    theta = np.array([1e-17, -1.0])  # leads 1e17·fl(1e-17) − 1 and −1e17·fl(1e-17) + 0.5: tiny, and −0.5
    claim = JointClaim((0, 1), table(F), theta, 0.0, 0.5, 2, "mistakes")
    verdict = Verdict("budget", Rank(None, 2, ()), None, "", "", claim)
    assert verdict.check(X, y)
    from separatrix.results.proofs import Separation

    claimed = dataclasses.replace(
        verdict,
        status="separated",
        certificate=Separation(theta, 0.0, 1e-17),
        claim=dataclasses.replace(claim, value=0.0),
    )
    assert not claimed.check(X, y)


def test_rows_of_other_shapes_are_an_error_as_elsewhere():
    F, y = problem()
    verdict = fitted(JointClassifier(table(F)), places(F), y)
    with pytest.raises(ValueError, match="X has 39 rows, y 40"):
        verdict.check(places(F)[:-1], y)
    with pytest.raises(ValueError, match="the verdict speaks of rows and columns"):
        verdict.check(places(F)[:, 0], y)


@pytest.mark.parametrize("loss", ["log", "squared"])
@pytest.mark.parametrize("feature_map", [None, Separate(intercept=False), Shared({"g": [0, 2]})])
@pytest.mark.parametrize("l2", [0.0, 1e-9, 0.1])
def test_bounds_on_weights_are_checked_where_scores_do_not_tell_weights_apart(feature_map, l2, loss):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(90, 2)) * [1, 100], rng.integers(0, 3, 90)
    verdict = fitted(JointClassifier(feature_map, l2=l2, loss=loss, starts=1), X, y)
    assert verdict.status in ("optimal", "local")
    assert verdict.check(X, y)
    bounds = verdict.certificate.coefficients
    assert not proof_with(verdict, coefficients=bounds * 0).check(X, y)
    assert not proof_with(verdict, coefficients=np.where(np.arange(bounds.size) == 1, bounds * 0.01, bounds)).check(
        X, y
    )
    moved = verdict.claim.weights + 100 * bounds.max() * (np.arange(bounds.size) % (bounds.size // 3) == 0)
    if feature_map is None and loss == "log":  # the same scores, so that only the bounds can tell
        assert not claim_with(verdict, weights=moved).check(X, y)


def test_no_loss_is_believed_of_scores_that_rounding_fills():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    verdict = fitted(JointClassifier(l2=1e-100), X, y)
    common = 1e19 * np.tile(rng.normal(size=3), 3)  # the same for all classes, but for rounding
    vast = verdict.claim.weights + common
    claimed = dataclasses.replace(claim_with(verdict, weights=vast, value=0.32), status="budget", certificate=None)
    assert not claimed.check(X, y)
    for value in (0.32, 1.0, verdict.claim.value):
        assert not claim_with(claimed, value=value).check(X, y)


def test_the_gap_of_a_fit_that_did_not_finish_is_checked_too():
    F, y = problem()
    verdict = fitted(JointClassifier(table(F), tol=1e-14, max_passes=4), places(F), y)
    proof = verdict.certificate
    assert verdict.status == "budget"
    assert isinstance(proof, Optimality)
    assert verdict.check(places(F), y)
    small = proof_with(verdict, gap=proof.gap * 1e-3, relative_gap=proof.relative_gap * 1e-3)
    assert not small.check(places(F), y)
    assert not proof_with(verdict, coefficients=proof.coefficients * 0).check(places(F), y)
