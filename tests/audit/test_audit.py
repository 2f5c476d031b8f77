"""The audit of any number of classes, of soft targets and of the squared error: it believes what is true and no more.

The verdicts are made here, by a plain Newton and by formulas that share nothing with the audit: rows one at a time, in
the user's units, the last class as the pivot without a penalty and all classes with one.
"""

import dataclasses
import functools
import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq, least_squares

from separatrix import LogisticRegression
from separatrix.audit.firth import Whitened
from separatrix.audit.minimum import Point, likelihood_shown, squared_shown
from separatrix.audit.optimum import mean_loss
from separatrix.audit.rows import Table
from separatrix.results.claims import Claim
from separatrix.results.proofs import Locality, Optimality, Separation
from separatrix.results.verdict import Rank, Verdict

NAMES = ("ant", "bee", "cow", "dog")


# ------------------------------------------------------------------------------------------------- an honest referee


@dataclasses.dataclass
class Problem:
    """What is minimised. `split[i, k]` is the cost of row i as a row of class k."""

    X: Any
    split: Any
    l2: float = 0.0
    fit_intercept: bool = True
    squared: bool = False

    def __post_init__(self):
        self.K, self.d = self.split.shape[1], self.X.shape[1]
        self.Z = np.column_stack([self.X, np.ones((len(self.X), int(self.fit_intercept)))])
        self.width = self.Z.shape[1]
        self.cost = self.split.sum(axis=1) / self.split.sum()
        self.target = self.split / self.split.sum(axis=1, keepdims=True)
        self.ridge = np.append(np.full(self.d, self.l2), np.zeros(self.width - self.d))
        self.free = 1 if self.K == 2 else self.K - (self.l2 == 0)

    def probabilities(self, theta):
        s = np.zeros((len(self.Z), self.K))
        columns = slice(1, 2) if self.K == 2 else slice(0, self.free)
        s[:, columns] = self.Z @ theta.reshape(self.free, self.width).T
        s -= s.max(axis=1, keepdims=True)
        return np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)

    def value(self, theta):
        p = self.probabilities(theta)
        if not self.squared:
            losses = -(self.target * np.log(p)).sum(axis=1)
        elif self.K == 2:
            losses = self.target[:, 1] * (1 - p[:, 1]) ** 2 + self.target[:, 0] * p[:, 1] ** 2
        else:
            losses = ((self.target - p) ** 2).sum(axis=1)
        return self.cost @ losses + np.tile(self.ridge, self.free) @ theta**2 / 2

    def row_derivatives(self, p, t):
        """Gradient and Hessian of a row's loss in its scores: from the derivatives of each probability."""
        A = np.diag(p) - np.outer(p, p)
        if not self.squared:
            return p - t, A
        bends = [p[k] * (np.outer(np.eye(self.K)[k] - p, np.eye(self.K)[k] - p) - A) for k in range(self.K)]
        if self.K == 2:  # t₀p₁² + t₁p₀²
            outer = [t[1] * p[0], t[0] * p[1]]
            gradient = 2 * (outer[0] * A[0] + outer[1] * A[1])
            return gradient, 2 * sum(t[1 - k] * np.outer(A[k], A[k]) + outer[k] * bends[k] for k in range(2))
        return 2 * A @ (p - t), 2 * A @ A + 2 * sum((p - t)[k] * bends[k] for k in range(self.K))

    def derivatives(self, theta):
        picked = [1] if self.K == 2 else list(range(self.free))
        of_rows = [self.row_derivatives(*row) for row in zip(self.probabilities(theta), self.target, strict=True)]
        slopes = np.stack([slope[picked] for slope, _ in of_rows]) * self.cost[:, None]
        bends = np.stack([bend[np.ix_(picked, picked)] for _, bend in of_rows]) * self.cost[:, None, None]
        ridge = np.tile(self.ridge, self.free)
        g = ridge * theta + (slopes.T @ self.Z).ravel()
        M = np.diag(ridge) + np.einsum("nij,na,nb->iajb", bends, self.Z, self.Z).reshape(len(g), -1)
        if self.free == self.K and self.fit_intercept:  # one number added to all intercepts changes nothing
            n = np.kron(np.ones(self.K), np.eye(self.width)[-1]) / math.sqrt(self.K)
            M = M + np.outer(n, n)
        return g, M

    def fit(self, theta=None, passes=60):
        theta = np.zeros(self.free * self.width) if theta is None else theta
        for _ in range(passes):
            g, M = self.derivatives(theta)
            bent = np.linalg.eigvalsh(M)[0]
            step = -np.linalg.solve(M + max(0, 1e-3 - bent) * np.eye(len(M)) * (bent < 1e-9), g)
            t = 1.0
            while self.value(theta + t * step) > self.value(theta) + 1e-15 and t > 1e-9:
                t /= 2
            theta = theta + t * step
            if np.abs(t * step).max() < 1e-15:
                break
        return theta

    def pairs(self):
        """eₖ − eⱼ of the free classes, the pivot's left out."""
        unit = np.eye(self.K)[:, [1]] if self.K == 2 else np.eye(self.K)[:, : self.free]
        return [unit[k] - unit[j] for k in range(self.K) for j in range(k)]

    def nu_and_rho(self, theta, part=None):
        """By the curvature of all rows, or of a part of the problem."""
        g, M = self.derivatives(theta)[0], (part or self).derivatives(theta)[1]
        inverse = np.linalg.inv(M)
        directions = [np.kron(pair, z) for pair in self.pairs() for z in (part or self).Z]
        return math.sqrt(max(g @ inverse @ g, 0)), math.sqrt(max(0, *(w @ inverse @ w for w in directions)))

    def proof(self, theta, part=None):
        """ν, ρ, the gap, the distance and the bound on each coefficient."""
        spread = self.spread(np.linalg.inv((part or self).derivatives(theta)[1]))
        return bounds(*self.nu_and_rho(theta, part), spread)

    def gap(self, theta, part=None):
        return self.proof(theta, part)[2]

    def spread(self, inverse, turn=None):
        """√(TM⁻¹Tᵀ)ⱼⱼ of each coefficient as a claim has them, T = I ⊗ turn."""
        full = np.zeros((self.free, self.d + 1))
        for k in range(self.free):
            own = inverse[k * self.width : (k + 1) * self.width, k * self.width : (k + 1) * self.width]
            own = own if turn is None else turn @ own @ turn.T
            full[k, : self.width] = np.sqrt(np.diag(own))
        return full[0] if self.K == 2 else np.vstack([full, np.zeros((self.K - self.free, self.d + 1))])

    def local_proof(self, theta, sharp=False):
        """With range² ≤ 2 Σ s² of the free scores; or, sharp, of the scores less their mean."""
        nu, rho = self.nu_and_rho(theta)
        M = self.derivatives(theta)[1]
        square = np.eye(self.free) - (np.ones((self.free, self.free)) / self.K if sharp and self.K > 2 else 0)
        gram = (1 if self.K == 2 else 2) * np.kron(square, (self.Z.T * self.cost) @ self.Z)
        if np.linalg.eigvalsh(M)[0] <= 0:
            return nu, rho, math.inf, math.inf, np.inf
        q = (0.2021 if self.K == 2 else 1.1) * rho * eigh(gram, M, eigvals_only=True)[-1]
        if 2 * q * nu >= 1:
            return nu, rho, math.inf, math.inf, np.inf
        t = (1 - math.sqrt(1 - 2 * q * nu)) / q
        return nu, rho, nu * t - t**2 / 2 + q * t**3 / 6, t, t * self.spread(np.linalg.inv(M))

    def witnessed_proof(self, theta):
        """u = H⁻¹g with columns that add up to zero, and what it proves."""
        flat_g, M = self.derivatives(theta)
        flat_u = np.linalg.solve(M, flat_g)
        u, g = np.zeros((self.K, self.width)), np.zeros((self.K, self.width))
        u[: self.free], g[: self.free] = flat_u.reshape(self.free, -1), flat_g.reshape(self.free, -1)
        if self.free < self.K:
            g[-1] = -g.sum(axis=0)
        u -= u.mean(axis=0)
        p = self.probabilities(theta)
        Hu, size = u * self.ridge, (u * u * self.ridge).sum()
        for each, c, z in zip(p, self.cost, self.Z, strict=True):
            Aq = (np.diag(each) - np.outer(each, each)) @ (u @ z)
            Hu, size = Hu + c * np.outer(Aq, z), size + c * Aq @ (u @ z)
        B = (self.Z.T * (self.cost * p.min(axis=1))) @ self.Z + np.diag(self.ridge)
        left = g - Hu
        nu = math.sqrt(size) + math.sqrt(np.trace(left @ np.linalg.solve(B, left.T)))
        rho = math.sqrt(2 * max(z @ np.linalg.solve(B, z) for z in self.Z))
        full = np.column_stack([u, np.zeros((self.K, 1 - self.width + self.d))])
        spread = np.zeros((self.K, self.d + 1))
        spread[:, : self.width] = np.sqrt(np.diag(np.linalg.inv(B)))
        if self.l2 == 0:
            spread *= math.sqrt(2)
            spread[-1] = 0
        return full, bounds(nu, rho, spread)

    def weights(self, theta):
        """As a claim has them."""
        table = np.column_stack([theta.reshape(self.free, self.width), np.zeros((self.free, 1 - self.width + self.d))])
        if self.K == 2:
            return table[0, : self.d], float(table[0, self.d])
        table = np.vstack([table, np.zeros((self.K - self.free, self.d + 1))])
        return table[:, : self.d], table[:, self.d]


def fall(nu, rho):
    x = rho * nu
    if x >= 1:
        return math.inf
    return (x + (1 - x) * math.log(1 - x)) / rho**2 if x > 1e-3 else nu**2 * (1 / 2 + x / 6 + x**2 / 12 + x**3 / 20)


def bounds(nu, rho, spread):
    """Of the likelihood."""
    way = -math.log1p(-rho * nu) / rho if rho * nu < 1 else math.inf
    return nu, rho, fall(nu, rho), way, way * spread if math.isfinite(way) else np.inf


@dataclasses.dataclass
class Case:
    """A problem, data as a user has them, and a verdict on it."""

    problem: Problem
    verdict: Verdict
    X: Any
    y: Any
    cost: Any
    theta: Any

    def check(self, **changes):
        return self.lie(**changes).check(self.X, self.y, self.cost)

    def lie(self, *, gap=None, witness=None, status=None, aliased=None, certificate=None, **claim):
        """Another gap is another relative gap; another value too."""
        verdict = dataclasses.replace(self.verdict, claim=dataclasses.replace(self.verdict.claim, **claim))
        proof = verdict.certificate if certificate is None else certificate
        proof = proof if witness is None else dataclasses.replace(proof, witness=witness)
        if gap is not None or "value" in claim:
            gap = proof.gap if gap is None else gap
            proof = dataclasses.replace(proof, gap=gap, relative_gap=gap / verdict.claim.value)
        of = len(verdict.claim.columns) + verdict.claim.fit_intercept
        rank = Rank(of, of, ()) if aliased is None else Rank(of - len(aliased), of, aliased)
        return dataclasses.replace(verdict, certificate=proof, status=status or verdict.status, rank=rank)

    def proof_at(self, theta, part=None):
        """All that is true there, whatever the witness."""
        problem = self.problem
        found = (problem.local_proof if problem.squared else problem.proof)(theta, *[part] * (part is not None))
        return certified(self.verdict.status, found, float(problem.value(theta)))

    def turned(self, turn):
        """The certificate for weights turn⋅(w, b)."""
        problem, proof = self.problem, self.verdict.certificate
        if getattr(proof, "witness", None) is not None:
            B = (problem.Z.T * (problem.cost * problem.probabilities(self.theta).min(axis=1))) @ problem.Z
            inverse = np.kron(np.eye(problem.free), 2 * np.linalg.inv(B + np.diag(problem.ridge)))
        else:
            inverse = np.linalg.inv(problem.derivatives(self.theta)[1])
        return dataclasses.replace(proof, coefficients=proof.distance * problem.spread(inverse, turn))

    def at(self, theta, gap):
        """The same claim at other weights, all of it true there but the gap."""
        weights, intercept = self.problem.weights(theta)
        value, proof = float(self.problem.value(theta)), self.proof_at(theta)
        changes = {"weights": weights, "intercept": intercept, "value": value, "certificate": proof}
        return self.lie(**changes, gap=gap).check(self.X, self.y, self.cost)

    def polished(self, **changes):
        """The same verdict at the optimum itself, as near as double precision comes."""
        theta = self.problem.fit(self.theta, 3)
        weights, intercept = self.problem.weights(theta)
        value = float(self.problem.value(theta))
        return self.lie(weights=weights, intercept=intercept, value=value, **changes)


def certified(status, found, value, witness=None):
    """A certificate of these numbers."""
    nu, rho, gap, way, off = found
    if status == "optimal":
        return Optimality(nu, rho, gap, gap / value, way, off, 1.0, witness)
    return Locality(nu, rho, gap, gap / value, way, off)


def looser(proof, factor):
    """The same with larger bounds."""
    numbers = ("nu", "rho", "gap", "relative_gap", "distance", "coefficients")
    return dataclasses.replace(proof, **{name: getattr(proof, name) * factor for name in numbers})


def draw(K, n, d, soft, seed):
    """Overlapping classes; of soft targets, some are certain."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.linspace(1, 2, d) + np.linspace(0.5, -0.5, d)
    s = X @ rng.normal(size=(d, K)) / 2 + rng.normal(size=K) / 2
    if not soft:
        return X, np.eye(K)[(s + rng.gumbel(size=(n, K))).argmax(axis=1)]
    t = np.exp(s + rng.normal(size=(n, K)))
    t /= t.sum(axis=1, keepdims=True)
    t[::5] = np.eye(K)[t[::5].argmax(axis=1)]
    return X, t


def make(
    K=3, soft=False, l2=0.0, fit_intercept=True, weighted=False, squared=False, witness=False, status=None, n=50, seed=0
):
    """An honest verdict a little off the optimum, so that its gap is far above rounding."""
    X, t = draw(K, n, 2, soft, seed)
    rng = np.random.default_rng(seed + 1)
    cost = np.where(rng.random(n) < 0.1, 0, rng.random(n) + 0.2) if weighted else None
    class_weight = tuple(np.linspace(0.7, 1.6, K).tolist()) if weighted else (1.0,) * K
    split = (np.ones(n) if cost is None else cost)[:, None] * t * class_weight
    counts = split.sum(axis=1) > 0
    problem = Problem(X[counts], split[counts], l2, fit_intercept, squared)
    off = rng.normal(size=problem.free * problem.width)
    if problem.free == problem.K:  # as a fit would leave it: the weights of all classes add up to nothing
        off = off.reshape(K, -1)
        off = (off - off.mean(axis=0)).ravel()
    theta = problem.fit() + (1e-6 if squared else 1e-4) * off / np.linalg.norm(off)
    u, found = (
        problem.witnessed_proof(theta)
        if witness
        else (None, (problem.local_proof if squared else problem.proof)(theta))
    )
    status, value = status or ("local" if squared else "optimal"), float(problem.value(theta))
    proof = certified(status, found, value, u)
    claim = Claim(
        NAMES[:K], ("x0", "x1"), *problem.weights(theta), fit_intercept, l2, class_weight, value, n,
        "squared" if squared else "likelihood", soft,
    )  # fmt: skip
    y = (t[:, 1] if K == 2 and weighted else t) if soft else np.array(NAMES)[t.argmax(axis=1)]
    of = 2 + fit_intercept
    return Case(problem, Verdict(status, Rank(of, of, ()), proof, "", "", claim), X, y, cost, theta)


SETTINGS = {
    "K=3": {},
    "K=3 ridge": {"l2": 0.05},
    "K=3 no intercept": {"fit_intercept": False},
    "K=3 ridge no intercept": {"fit_intercept": False, "l2": 0.05},
    "K=3 weighted": {"weighted": True},
    "K=4 ridge weighted": {"K": 4, "weighted": True, "l2": 0.01},
    "K=3 soft": {"soft": True},
    "K=3 soft weighted ridge": {"soft": True, "weighted": True, "l2": 0.05},
    "K=4 soft weighted": {"K": 4, "soft": True, "weighted": True},
    "K=2 soft": {"K": 2, "soft": True},
    "K=2 soft weighted ridge": {"K": 2, "soft": True, "weighted": True, "l2": 0.05},
    "K=2 weighted": {"K": 2, "weighted": True},
    "witness": {"witness": True},
    "witness ridge": {"witness": True, "l2": 0.05, "K": 4},
    "witness ridge no intercept": {"witness": True, "l2": 0.05, "fit_intercept": False},
    "witness soft weighted": {"witness": True, "soft": True, "weighted": True},
    "K=2 squared": {"K": 2, "squared": True},
    "K=2 squared ridge weighted": {"K": 2, "squared": True, "l2": 0.01, "weighted": True},
    "K=2 squared soft weighted": {"K": 2, "squared": True, "soft": True, "weighted": True},
    "K=2 squared convex": {"K": 2, "squared": True, "l2": 0.8, "fit_intercept": False, "status": "optimal"},
    "K=3 squared": {"squared": True},
    "K=3 squared ridge": {"squared": True, "l2": 0.01},
    "K=3 squared weighted no intercept": {"squared": True, "weighted": True, "fit_intercept": False},
    "K=3 squared soft weighted ridge": {"squared": True, "soft": True, "weighted": True, "l2": 0.01},
    "K=4 squared soft weighted": {"K": 4, "squared": True, "soft": True, "weighted": True},
}


@functools.cache
def made(name):
    return make(**SETTINGS[name])


@pytest.fixture(params=SETTINGS)
def case(request):
    return made(request.param)


# ----------------------------------------------------------------------------------------------------- the referee


def test_the_referee_knows_its_derivatives(case):
    problem, step = case.problem, 1e-5
    theta = case.theta + 0.1 * np.sin(np.arange(len(case.theta)))
    g, M = problem.derivatives(theta)
    unit = np.eye(len(theta)) * step
    slopes = [(problem.value(theta + u) - problem.value(theta - u)) / (2 * step) for u in unit]
    np.testing.assert_allclose(g, slopes, atol=1e-9)
    bends = np.array(
        [(problem.derivatives(theta + u)[0] - problem.derivatives(theta - u)[0]) / (2 * step) for u in unit]
    )
    if problem.free == problem.K and problem.fit_intercept:
        n = np.kron(np.ones(problem.K), np.eye(problem.width)[-1]) / math.sqrt(problem.K)
        bends = bends + np.outer(n, n)
    np.testing.assert_allclose(M, bends, atol=1e-8)


def test_the_constants_of_the_squared_error_are_safe():
    m = np.linspace(-30, 30, 600_001)
    a, b = 1 / (1 + np.exp(-m)), 1 / (1 + np.exp(m))
    bend = 2 * a * b**2 * (2 * a - b)
    assert -0.1203 < bend.min() < -0.12
    assert 0.2 < np.abs(np.gradient(bend, m)).max() < 0.2021


@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_third_derivative_of_the_squared_error_is_bounded_as_is_said(K):
    """Where the slopes q of the scores range over one; off = q − E q, its moments and covariances under p.

    ‖p − t‖²‴ = 2(3 cov(p·off, off²) + cov(p − t, w)), w = off³ − 3 var(off) off, where |p·off| ≤ p(1 − p) ≤ ¼,
    var(off²) ≤ ¼ − 1/16, var(w) ≤ 1/16 + 3/64 and var(p − t) ≤ 4 · ¼ · (¾)³, which it is at p = (¼, ¾). Hence ≤ 1.1.
    """
    rng, n = np.random.default_rng(K), 50_000
    p, t = rng.dirichlet(np.full(K, 0.4), n), np.eye(K)[rng.integers(K, size=n)]
    q = np.round(rng.random((n, K)) ** 0.3, 1)
    q, p, t = (each[np.ptp(q, axis=1) > 0] for each in (q, p, t))
    q = (q - q.min(axis=1, keepdims=True)) / np.ptp(q, axis=1, keepdims=True)

    def mean(x):
        return (p * x).sum(axis=1, keepdims=True)

    def variance(x):
        return mean(x**2) - mean(x) ** 2

    off = q - mean(q)
    w = off**3 - 3 * variance(off) * off
    assert np.abs(p * off).max() <= 0.25
    assert variance(off**2).max() <= 3 / 16
    assert variance(w).max() <= 7 / 64
    assert variance(p - t).max() <= 27 / 64
    twist = 2 * (3 * mean(p * off * (off**2 - variance(off))) + mean((p - t) * (w - mean(w))))
    assert 0.3 < np.abs(twist).max() < 0.405
    assert 2 * (3 / 4 * math.sqrt(3 / 16) + math.sqrt(27 / 64 * 7 / 64)) < 1.1 < 10


# ------------------------------------------------------------------------------------------------------- the truth


def test_an_honest_verdict_checks(case):
    assert case.verdict.claim.value > 0.01
    assert case.verdict.certificate.gap > 1e-14
    assert case.check() is True


def test_the_bounds_are_those_of_the_formulas(case):
    """Near and far: as the referee has them, who knows the last class as a pivot where the audit knows contrasts."""
    direction, seen = np.cos(np.arange(len(case.theta))), []
    if case.problem.free == case.problem.K:
        direction = (direction.reshape(case.problem.K, -1) - direction.reshape(case.problem.K, -1).mean(axis=0)).ravel()
    for size in (0.0, 1e-5, 1e-3, 0.03, 0.2, 2.0):
        theta = case.theta + size * direction
        weights, intercept = case.problem.weights(theta)
        verdict = case.lie(weights=weights, intercept=intercept)
        point = Point.of(verdict, Table(verdict.claim, case.X, case.y, case.cost))
        every = np.ones(len(point.table.places), bool)
        if case.problem.squared:
            expected, shown = case.problem.local_proof(theta, sharp=True), squared_shown(point, (None,), convex=False)
            assert expected[2] <= case.problem.local_proof(theta)[2]
        elif any(case is made(name) for name, setting in SETTINGS.items() if setting.get("witness")):
            witness, expected = case.problem.witnessed_proof(theta)
            shown = likelihood_shown(point, witness, (None,), every)
        else:
            expected, shown = case.problem.proof(theta), likelihood_shown(point, None, (None,), every)
        found = next(shown, None)
        seen.append(expected[2])
        if found is None:
            assert expected[2] == math.inf
            continue
        for mine, its in zip(found[:4], expected[:4], strict=True):
            assert mine == pytest.approx(its, rel=1e-6)
        if math.isfinite(expected[2]):
            assert (found.coefficients <= np.atleast_2d(expected[4]) * (1 + 1e-6)).all()
            if case.problem.free < case.problem.K:
                np.testing.assert_allclose(found.coefficients, np.atleast_2d(expected[4]), rtol=1e-6)
    assert math.isfinite(seen[0])
    assert seen[-1] == math.inf or case.verdict.claim.l2 > 0.5


def test_in_any_order_and_container(case):
    order = np.random.default_rng(5).permutation(len(case.X))
    cost = None if case.cost is None else case.cost[order]
    assert case.verdict.check(case.X[order], case.y[order], cost)
    if np.ndim(case.y) == 1:
        assert case.verdict.check(pd.DataFrame(case.X), pd.Series(case.y), case.cost)
        assert case.verdict.check(case.X.tolist(), list(case.y), case.cost)
    else:
        assert case.verdict.check(pd.DataFrame(case.X), pd.DataFrame(case.y), case.cost)
        assert case.verdict.check(case.X.tolist(), case.y.tolist(), case.cost)


def test_the_optimum_itself_checks_with_no_gap_to_speak_of(case):
    proof, tiny = looser(case.verdict.certificate, 1.01), 1e-13
    witness = getattr(proof, "witness", None)
    numbers = {"nu": tiny, "distance": tiny, "coefficients": proof.coefficients / proof.distance * tiny}
    verdict = case.polished(
        certificate=dataclasses.replace(proof, **numbers), gap=1e-20, witness=None if witness is None else 0 * witness
    )
    assert verdict.check(case.X, case.y, case.cost)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("name", ["K=3", "K=3 soft weighted ridge", "witness", "K=2 squared", "K=3 squared ridge"])
def test_units_and_offsets_do_not_matter(name, scale):
    case = made(name)
    X = (case.X + np.array([0, 1000])) * [scale, 1 / scale]
    weights = case.verdict.claim.weights / [scale, 1 / scale]
    intercept = case.verdict.claim.intercept - case.verdict.claim.weights @ [0, 1000]
    turn = np.array([[1 / scale, 0, 0], [0, scale, 0], [0, -1000, 1]])
    changes = {"weights": weights, "intercept": intercept, "certificate": case.turned(turn)}
    if name == "witness":
        u = case.verdict.certificate.witness
        changes["witness"] = np.column_stack([u[:, :2] / [scale, 1 / scale], u[:, 2] - u[:, :2] @ [0, 1000]])
    if case.verdict.claim.l2:
        assert not case.lie(**changes).check(X, case.y, case.cost)  # the penalty is in the user's units
        return
    assert case.lie(**changes).check(X, case.y, case.cost)


@pytest.mark.parametrize("name", ["K=3", "K=4 soft weighted", "witness", "K=2 soft", "K=2 squared", "K=3 squared"])
def test_columns_that_are_nearly_equal_do_not_matter(name):
    """The second column becomes the first and a millionth of itself: the curvatures are 10¹² apart."""
    case = made(name)
    turn = np.array([[1.0, 1.0], [0.0, 1e-6]])
    back = np.linalg.inv(turn).T
    whole = np.block([[back.T, np.zeros((2, 1))], [np.zeros((1, 2)), np.ones((1, 1))]])
    changes = {"weights": case.verdict.claim.weights @ back, "certificate": looser(case.turned(whole), 1.001)}
    if name == "witness":
        u = case.verdict.certificate.witness
        changes["witness"] = np.column_stack([u[:, :2] @ back, u[:, 2]])
    assert case.lie(**changes).check(case.X @ turn, case.y, case.cost)
    gap = changes["certificate"].gap * 0.9
    assert not case.lie(**changes, gap=gap).check(case.X @ turn, case.y, case.cost)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e150, 1e300])
def test_absurd_units_are_no_reason_to_fail(size):
    """True or not, an answer."""
    for name in ("K=3", "K=3 ridge", "witness", "witness ridge", "K=2 squared", "K=3 squared ridge"):
        case = made(name)
        assert case.lie().check(case.X * size, case.y) is False
        assert case.lie(weights=case.verdict.claim.weights * 1e300).check(case.X * size, case.y) in (False, True)
        assert case.lie(weights=case.verdict.claim.weights / size).check(case.X * size, case.y) in (False, True)


def test_what_all_classes_have_in_common_matters_only_to_the_penalty():
    free, ridge = made("K=3"), made("K=3 ridge")
    for case in (free, ridge, made("witness ridge")):
        claim = case.verdict.claim
        weights, intercept = claim.weights + np.array([0.3, -0.1]), claim.intercept + 0.7
        value = claim.value + claim.l2 / 2 * (np.square(weights) - np.square(claim.weights)).sum()
        assert case.check(intercept=intercept)
        assert case.check(intercept=intercept, weights=weights, value=value) is (claim.l2 == 0)


def test_one_hot_targets_are_labels():
    for name in ("K=3", "K=4 ridge weighted", "K=3 squared", "K=2 squared", "K=2 weighted"):
        case = made(name)
        table = np.eye(len(case.verdict.claim.classes))[[NAMES.index(label) for label in case.y]]
        assert case.lie(soft=True).check(case.X, table, case.cost)
        assert case.lie(soft=True).check(case.X, pd.DataFrame(table), case.cost)
        assert not case.lie(soft=True).check(case.X, table[:, ::-1], case.cost)


@pytest.mark.parametrize("name", [name for name, setting in SETTINGS.items() if setting.get("soft")])
def test_a_soft_row_is_a_row_of_each_class(name):
    """At split costs; but not for the squared error of many classes, whose target is the mean of them."""
    case = made(name)
    classes, n = case.verdict.claim.classes, len(case.X)
    t = case.y if case.y.ndim == 2 else np.column_stack([1 - case.y, case.y])
    cost = (np.ones(n) if case.cost is None else case.cost)[:, None] * t
    X, y = np.repeat(case.X, len(classes), axis=0), np.tile(classes, n)
    mean_target = len(classes) > 2 and case.problem.squared
    assert case.lie(soft=False, rows=len(X)).check(X, y, cost.ravel()) is not mean_target


def test_two_columns_of_probabilities_are_the_second_alone():
    case = made("K=2 soft")
    assert case.y.shape == (50, 2)
    assert case.verdict.check(case.X, case.y[:, 1])
    assert case.verdict.check(case.X, pd.Series(case.y[:, 1]))
    assert case.verdict.check(case.X, case.y[:, 1:])
    assert not case.verdict.check(case.X, case.y[:, 0])
    assert not case.verdict.check(case.X, case.y[:, ::-1])


# ------------------------------------------------------------------------------------------------------------ lies


def test_a_smaller_gap_is_not_believed(case):
    for part in (0.1, 0.9, 0.0, -1.0, math.nan):
        assert not case.check(gap=case.verdict.certificate.gap * part), part


def test_a_gap_below_the_truth_is_never_believed(case):
    """Wherever the weights are, and whatever the proof could make of it."""
    rng, best = np.random.default_rng(9), case.problem.value(case.problem.fit(case.theta, 3))
    for size in (1e-5, 1e-3, 0.1, 1.0, 10.0):
        theta = case.theta + size * rng.normal(size=len(case.theta))
        truth = case.problem.value(theta) - best
        assert truth > 1e-13
        assert not case.at(theta, 0.9 * truth)


def test_nudged_weights_are_not_believed(case):
    claim = case.verdict.claim
    for j in range(len(case.theta)):
        theta = case.theta + 1e-3 * (np.arange(len(case.theta)) == j)
        assert not case.at(theta, case.verdict.certificate.gap)
        weights, intercept = case.problem.weights(theta)
        assert not case.check(weights=weights, intercept=intercept)
    assert not case.check(weights=claim.weights * 1.001)
    assert not case.check(weights=-claim.weights)
    assert not case.check(weights=np.full_like(claim.weights, np.nan))
    assert not case.check(weights=np.full_like(claim.weights, np.inf))


def test_another_value_is_not_believed(case):
    value = case.verdict.claim.value
    for factor in (1 + 1e-6, 1 - 1e-6, 0.5, math.nan, math.inf):
        assert not case.check(value=value * factor)


def test_other_data_are_not_believed(case):
    counts = np.flatnonzero(np.ones(50) if case.cost is None else case.cost)
    flipped, moved, i = case.y.copy(), case.X.copy(), counts[5]
    if not case.verdict.claim.soft:
        flipped[i] = next(name for name in case.verdict.claim.classes if name != flipped[i])
    else:
        flipped[i] = flipped[i][::-1] if flipped.ndim == 2 else 1 - flipped[i]
    moved[i, 1] += 0.01
    cost = case.cost
    assert not case.verdict.check(case.X, flipped, cost)
    assert not case.verdict.check(moved, case.y, cost)
    assert not case.verdict.check(np.delete(case.X, i, 0), np.delete(case.y, i, 0), cost if cost is None else cost[1:])
    twice = np.append(np.arange(50), i)
    assert not case.verdict.check(case.X[twice], case.y[twice], cost if cost is None else cost[twice])
    less = case.lie(rows=49)
    assert not less.check(
        np.delete(case.X, i, 0), np.delete(case.y, i, 0), cost if cost is None else np.delete(cost, i)
    )


def test_another_problem_is_not_believed(case):
    claim = case.verdict.claim
    other = "likelihood" if claim.objective == "squared" else "squared"
    assert not case.check(l2=claim.l2 + 1e-3)
    assert not case.check(l2=-1.0)
    assert not case.check(l2=math.nan)
    assert not case.check(class_weight=(claim.class_weight[0] * 1.1, *claim.class_weight[1:]))
    assert not case.check(class_weight=(math.nan, *claim.class_weight[1:]))
    assert not case.check(class_weight=(0.0, *claim.class_weight[1:]))
    assert not case.check(class_weight=claim.class_weight[1:])
    assert not case.check(objective=other)
    assert not case.check(objective="hinge")
    assert not case.check(fit_intercept=not claim.fit_intercept)
    assert not case.check(rows=51)


def test_the_costs_are_part_of_the_claim(case):
    cost = np.ones(50) if case.cost is None else case.cost
    other, bad = cost.copy(), cost.copy()
    other[np.flatnonzero(cost)[3]] *= 2
    bad[7] = np.nan
    assert case.verdict.check(case.X, case.y, cost * 7)
    assert not case.verdict.check(case.X, case.y, other)
    assert not case.verdict.check(case.X, case.y, bad)
    assert not case.verdict.check(case.X, case.y, -cost)
    assert not case.verdict.check(case.X, case.y, 0 * cost)
    assert not case.verdict.check(case.X, case.y, cost * np.inf if cost.all() else np.full(50, np.inf))
    if case.cost is not None:
        assert not case.verdict.check(case.X, case.y)
        for no_cost in (-1.0, math.nan):  # even of a row that did not count
            assert not case.verdict.check(case.X, case.y, np.where(cost == 0, no_cost, cost))


def test_another_order_of_the_classes_is_not_believed(case):
    K = len(case.verdict.claim.classes)
    for order in itertools.islice(itertools.permutations(range(K)), 1, None):
        if not case.verdict.claim.soft:
            assert not case.check(classes=tuple(NAMES[k] for k in order))
        elif case.y.ndim == 2:
            assert not case.verdict.check(case.X, case.y[:, order], case.cost)
        if K > 2:
            changes = {name: getattr(case.verdict.claim, name)[list(order)] for name in ("weights", "intercept")}
            assert not case.check(**changes)


def test_a_status_needs_its_own_proof(case):
    proof = case.verdict.certificate
    numbers = (0.0, 0.0, 1.0, 1.0, 0.0, proof.coefficients)
    for status, certificate in (
        ("optimal", Locality(*numbers)),
        ("local", Optimality(*numbers, 1.0)),
        ("optimal", Separation(case.verdict.claim.weights, case.verdict.claim.intercept, 1.0)),
        ("separated", proof),
    ):
        assert not case.check(status=status, certificate=certificate)
    for status in ("optimal", "local", "separated"):
        assert not dataclasses.replace(case.verdict, certificate=None, status=status).check(case.X, case.y, case.cost)
    assert case.check(status="budget")
    assert dataclasses.replace(case.verdict, certificate=None, status="interrupted").check(case.X, case.y, case.cost)
    assert not case.check(status="budget", value=case.verdict.claim.value * (1 + 1e-6))


def test_an_infinite_gap_is_no_proof(case):
    theta = case.theta + 30 * np.sin(np.arange(len(case.theta)))
    assert not case.at(theta, math.inf)


def test_a_local_minimum_is_a_claim_on_the_squared_error_alone():
    proof = Locality(0.0, 0.0, 1.0, 1.0, 0.0, np.zeros(3))
    assert not made("K=3").check(status="local", certificate=proof)


@pytest.mark.parametrize("name", [name for name, setting in SETTINGS.items() if setting.get("witness")])
def test_a_wrong_witness_is_not_believed(name):
    case = made(name)
    u = case.verdict.certificate.witness
    for wrong in (0 * u, -u, 2 * u, u[::-1], u[:, ::-1], u + 1e-3 * np.eye(*u.shape), u * np.nan, u[:-1], u[:, :-1]):
        assert not case.check(witness=wrong)
    assert case.check(witness=u + 0.3 * np.ones(len(u))[:, None])  # what all classes have in common is not looked at


def test_a_witness_proves_less_than_the_whole_hessian():
    case = made("witness")
    exact = case.problem.gap(case.theta)
    assert exact < case.verdict.certificate.gap
    plain = case.proof_at(case.theta)
    assert plain.gap == exact
    assert case.check(certificate=plain)
    assert not case.check(certificate=plain, gap=0.9 * exact)
    assert not case.check(certificate=plain, witness=case.verdict.certificate.witness)


def test_incoherent_claims_are_not_believed():
    case = made("K=3")
    claim = case.verdict.claim
    assert not case.check(classes=("ant", "bee", "bee"))
    assert not case.check(classes=("ant", "bee"))
    assert not case.check(weights=claim.weights[:2])
    assert not case.check(weights=claim.weights[0])
    assert not case.check(intercept=0.0)
    assert not case.check(intercept=np.append(claim.intercept, 0.0))
    assert not case.check(columns=("x0",))
    without = made("K=3 no intercept")
    assert not without.check(intercept=np.array([0.0, 0.0, 1e-3]))


# ------------------------------------------------------------------------------------------- labels, shapes, targets


@pytest.mark.parametrize("name", [name for name, setting in SETTINGS.items() if not setting.get("soft")])
def test_unknown_labels_make_the_check_fail(name):
    case = made(name)
    strange = case.y.astype(object)
    for label in ("eel", 1, None, math.nan, pd.NA, ("ant",)):
        strange[3] = label
        assert not case.verdict.check(case.X, strange, case.cost)
    assert not case.verdict.check(case.X, np.arange(50), case.cost)


@pytest.mark.parametrize("name", ["K=3 soft", "K=2 soft"])
def test_what_are_no_probabilities_make_the_check_fail(name):
    case = made(name)
    for bad in (math.nan, -0.1, 1.2):
        y = case.y.copy()
        y[3, 0] = bad
        assert not case.verdict.check(case.X, y)
    y = case.y.copy()
    y[3, 0] -= 1e-4
    assert not case.lie(value=float(case.verdict.claim.value)).check(case.X, y)
    assert not case.verdict.check(case.X, 0.999 * case.y)  # the mean loss is the same
    words = np.full(case.y.shape, "ant")
    assert not case.verdict.check(case.X, words)
    assert not case.verdict.check(case.X, np.full(case.y.shape, None))
    if name == "K=2 soft":
        assert not case.verdict.check(case.X, case.y[:, 1] + 1)
        assert not case.verdict.check(case.X, words[:, 0])


def test_shapes_that_do_not_fit_are_errors(case):
    with pytest.raises(ValueError, match="the verdict speaks of 2 columns"):
        case.verdict.check(case.X[:, :1], case.y, case.cost)
    with pytest.raises(ValueError, match="they must agree"):
        case.verdict.check(case.X[:-1], case.y, case.cost)
    with pytest.raises(ValueError, match="sample_weight 49"):
        case.verdict.check(case.X, case.y, np.ones(49))


def test_targets_of_another_shape_are_errors():
    for name in ("K=3 soft", "K=2 soft"):
        case = made(name)
        for y in (np.ones((50, 4)) / 4, np.ones((50, 1, 1))):
            with pytest.raises(ValueError, match=r"the verdict speaks of the probabilities of \d classes"):
                case.verdict.check(case.X, y)
    with pytest.raises(ValueError, match="of 3 classes"):
        made("K=3 soft").verdict.check(case.X, np.ones(50))
    with pytest.raises(ValueError, match="they must agree"):
        made("K=3").verdict.check(case.X, np.ones((50, 3)))


# -------------------------------------------------------------------------------------- aliased columns, far-out rows


def widened(case, column, weight=0.0):
    """The case with a third column, of no weight or taken from the others."""
    claim = case.verdict.claim
    zeros = np.zeros(claim.weights.shape[:-1])[..., None] + weight
    changes = {"columns": ("x0", "x1", "x2"), "weights": np.append(claim.weights, zeros, axis=-1)}
    proof = case.verdict.certificate
    proof = dataclasses.replace(proof, coefficients=np.insert(proof.coefficients, 2, 0, axis=-1))
    if getattr(proof, "witness", None) is not None:
        proof = dataclasses.replace(proof, witness=np.insert(proof.witness, 2, 0, axis=1))
    verdict, of = case.lie(**changes, certificate=proof), 3 + claim.fit_intercept
    return dataclasses.replace(verdict, rank=Rank(of - 1, of, ("x2",))), np.column_stack([case.X, column])


@pytest.mark.parametrize("name", ["K=3", "K=4 soft weighted", "witness", "K=2 soft", "K=2 squared", "K=3 squared"])
def test_aliased_columns_must_be_explained(name):
    case = made(name)
    twin, X = widened(case, case.X @ [2, -1] + 3)
    assert twin.check(X, case.y, case.cost)
    assert not dataclasses.replace(twin, rank=Rank(4, 4, ())).check(X, case.y, case.cost)
    other, X = widened(case, np.sin(np.arange(50)))
    assert not other.check(X, case.y, case.cost)


@pytest.mark.parametrize("name", ["K=3 ridge", "witness ridge", "K=3 squared ridge"])
def test_with_a_penalty_a_twin_is_a_column_like_others(name):
    """Half the weight on each would cost less."""
    case = made(name)
    twin, X = widened(case, case.X[:, 0])
    assert not twin.check(X, case.y, case.cost)
    nothing, X = widened(case, np.zeros(50))
    assert nothing.check(X, case.y, case.cost)


def test_a_witness_may_have_weights_on_aliased_columns():
    case = made("witness")
    twin, X = widened(case, case.X[:, 0])
    u = twin.certificate.witness.copy()
    u[:, [0, 2]] = u[:, [0]] / 2
    proof = dataclasses.replace(twin.certificate, witness=u)
    shared = dataclasses.replace(twin, certificate=proof)
    assert shared.check(X, case.y)
    u[:, 2] = 0
    assert not shared.check(X, case.y)


def test_without_an_intercept_a_constant_explains_nothing():
    case = made("K=3 no intercept")
    twin, X = widened(case, case.X[:, 0] + 1)
    assert not twin.check(X, case.y)
    twin, X = widened(case, case.X[:, 0] * 3)
    assert twin.check(X, case.y)


def test_nothing_but_zeros_and_no_intercept():
    X, y = np.zeros((6, 2)), list(NAMES[:3]) * 2
    for objective, status in (("likelihood", "optimal"), ("squared", "local")):
        value = math.log(3) if status == "optimal" else 2 / 3
        proof = certified(status, (0.0, 0.0, 1e-12, 0.0, np.zeros((3, 3))), value)
        claim = Claim(NAMES[:3], ("a", "b"), np.zeros((3, 2)), np.zeros(3), False, 0.0, (1.0,) * 3, value, 6, objective)
        verdict = Verdict(status, Rank(0, 2, ("a", "b")), proof, "", "", claim)
        assert verdict.check(X, y)
        bold = dataclasses.replace(claim, weights=np.eye(3, 2))
        assert not dataclasses.replace(verdict, claim=bold).check(X, y)


@pytest.mark.parametrize("witness", [False, True])
def test_a_row_far_out_on_its_own_side_does_not_spoil_the_proof(witness):
    case = made("witness" if witness else "K=3")
    lead = case.verdict.claim.weights - case.verdict.claim.weights.mean(axis=0)
    k = int(np.square(lead).sum(axis=1).argmax())
    far = lead[k] * 1e5
    assert (far @ np.delete(case.verdict.claim.weights, k, 0).T < far @ case.verdict.claim.weights[k] - 1000).all()
    changes = {"rows": 51, "value": case.verdict.claim.value * 50 / 51}
    changes["certificate"] = looser(case.verdict.certificate, 1.1)
    assert case.lie(**changes).check(np.vstack([case.X, far]), np.append(case.y, NAMES[k]))


def test_a_row_far_out_that_hardly_counts_is_left_out_of_the_proof():
    """Two classes tie there, so it is not sure; it costs next to nothing, so its leverage is enormous."""
    X, t = draw(3, 50, 2, True, 0)
    split = np.vstack([t, [5e-6, 5e-6, 0]])
    W = Problem(X, t).weights(Problem(X, t).fit())[0]
    far = 1000 * np.array([W[0, 1] - W[1, 1], W[1, 0] - W[0, 0]])
    far = far if far @ (W[0] - W[2]) > 0 else -far
    X = np.vstack([X, far])
    whole = Problem(X, split)
    rest = Problem(X[:50], split[:50] * (split.sum() / split[:50].sum()))
    rest.cost = rest.cost * (split[:50].sum() / split.sum())
    theta = whole.fit() + 1e-3 * np.sin(np.arange(6))
    found = whole.proof(theta, rest)
    assert whole.gap(theta) == math.inf
    assert found[2] < 1e-4
    case = made("K=3 soft")
    weights, intercept = whole.weights(theta)
    changes = {"weights": weights, "intercept": intercept, "value": float(whole.value(theta)), "rows": 51}
    t = np.vstack([t, [0.5, 0.5, 0]])
    cost = np.append(np.ones(50), 1e-5)
    proof = certified("optimal", found, changes["value"])
    named = dataclasses.replace(proof, share=50 / 51, sample=np.array([[0, 50]]))
    assert case.lie(**changes, certificate=named).check(X, t, cost)
    assert not case.lie(**changes, certificate=named, gap=named.gap * 0.9).check(X, t, cost)
    assert not case.lie(**changes, certificate=proof).check(X, t, cost)  # by all rows nothing is proved


# ----------------------------------------------------------------------------------------------- extreme scores


def claimed(problem, weights, intercept, value, **changes):
    """A verdict that claims no more than a mean loss."""
    n, K = problem
    claim = Claim(NAMES[:K], ("x",), weights, intercept, True, 0.0, (1.0,) * K, value, n, **changes)
    return Verdict("budget", Rank(None, 2, ()), None, "", "", claim)


def test_the_mean_loss_at_extreme_scores():
    X, y = np.array([[1.0], [-1.0], [1.0]]), ["ant", "bee", "cow"]
    W, b = np.array([[4000.0], [-3000.0], [0.0]]), np.zeros(3)
    value = 4000 / 3  # the first two are sure and right, the third is wrong by 4000
    assert claimed((3, 3), W, b, value).check(X, y)
    assert not claimed((3, 3), W, b, value * (1 + 1e-8)).check(X, y)
    assert claimed((3, 3), W, b, 2 / 3, objective="squared").check(X, y)
    assert claimed((3, 2), np.array([1e4]), 0.0, 1e4 / 3).check([[1], [1], [-1]], ["bee", "ant", "ant"])
    assert claimed((3, 2), np.array([1e4]), 0.0, 1 / 3, objective="squared").check(
        [[1], [1], [-1]], ["bee", "ant", "ant"]
    )


@pytest.mark.parametrize("far", [30.0, 200.0, 5000.0])
def test_the_mean_loss_of_sure_rows_is_not_rounded_away(far):
    """Losses of e⁻³⁰ and less, beside one row whose loss is all there is."""
    X, y = np.array([[1.0], [2.0]]), ["ant", "ant"]
    for K, objective, expected in (
        (3, "likelihood", 2 * np.exp(-np.longdouble(far))),
        (3, "squared", 6 * np.exp(-2 * np.longdouble(far))),
        (2, "likelihood", np.exp(-np.longdouble(far))),
        (2, "squared", np.exp(-2 * np.longdouble(far))),
    ):
        weights = np.array([[far], [0.0], [0.0]]) if K == 3 else np.array([-far])
        verdict = claimed((2, K), weights, np.zeros(3) if K == 3 else 0.0, 0.0, objective=objective)
        found = mean_loss(verdict.claim, Table(verdict.claim, X, y, [1.0, 1e-300]))
        assert found == pytest.approx(float(expected), rel=1e-9, abs=0)


def test_soft_targets_at_extreme_scores():
    X, t = np.array([[1.0], [-1.0]]), np.array([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]])
    W = np.array([[1000.0], [0.0], [-1000.0]])
    value = (0.25 * 1000 + 0.25 * 2000 + 0.5 * 1000) / 2
    assert claimed((2, 3), W, np.zeros(3), value, soft=True).check(X, t)
    squared = ((0.25 + 2 / 16) + (0.25 + 0.25)) / 2
    assert claimed((2, 3), W, np.zeros(3), squared, soft=True, objective="squared").check(X, t)
    assert not claimed((2, 3), W, np.zeros(3), squared + 1e-8, soft=True, objective="squared").check(X, t)


def test_quasi_separated_classes_are_never_optimal():
    """Two rows overlap and one class is beyond them: its weights want to be infinite, and the loss hardly changes."""
    X, y = np.array([[-1.0], [-1.0], [1.0], [1.0], [5.0], [6.0]]), ["ant", "bee", "ant", "bee", "cow", "cow"]
    for far in (5.0, 10.0, 20.0, 40.0, 80.0):
        W, b = np.array([[0.0], [0.0], [far]]), np.array([0.0, 0.0, -3 * far])
        claim = claimed((6, 3), W, b, 0.0).claim
        honest = claimed((6, 3), W, b, mean_loss(claim, Table(claim, X, y, None)))
        assert honest.check(X, y)
        for gap in (1e-12, 1e-3, 1.0, math.inf):
            proof = Optimality(0.0, 0.0, gap, gap, 0.0, np.zeros(6), 1.0)
            assert not dataclasses.replace(honest, status="optimal", certificate=proof).check(X, y)


# ------------------------------------------------------------------------------ minima, maxima, saddles of the square


def bent(problem, theta):
    return np.linalg.eigvalsh(problem.derivatives(theta)[1])


def test_a_maximum_of_the_squared_error_is_no_minimum():
    """Many rows far out on one side, some near on the other: beyond the minimum the error first rises, then falls."""
    X = np.append(np.full(20, 10.0), np.full(9, -1.0))[:, None]
    problem = Problem(X, np.tile([0.0, 1.0], (29, 1)), fit_intercept=False, squared=True)
    top = brentq(lambda w: problem.derivatives(np.array([w]))[0][0], -3.0, -0.3, xtol=1e-15)
    low = problem.fit(np.array([0.2]))
    assert bent(problem, np.array([top]))[0] < -1e-3
    assert bent(problem, low)[0] > 1e-3
    _, rho, _, way, off = problem.local_proof(low)
    for theta, expected in ((np.array([top]), False), (low, True)):
        value = float(problem.value(theta))
        claim = Claim(NAMES[:2], ("x",), theta, 0.0, False, 0.0, (1.0, 1.0), value, 29, "squared")
        for gap in (1e-9, 1.0):
            proof = certified("local", (1e-6, 1e3 * rho, gap, way + 1e-6, off + 1e-3), value)
            verdict = Verdict("local", Rank(1, 1, ()), proof, "", "", claim)
            assert verdict.check(X, ["bee"] * 29) is expected


@pytest.mark.parametrize(
    ("name", "seed"),
    [("K=2 squared", 1), ("K=2 squared", 8), ("K=3 squared", 1), ("K=4 squared soft weighted", 3)],
)
def test_a_saddle_of_the_squared_error_is_no_minimum(name, seed):
    case = made(name)
    start = 2 * np.random.default_rng(seed).normal(size=len(case.theta))
    slope, bend = (lambda v, k=k: case.problem.derivatives(v)[k] for k in range(2))
    theta = least_squares(slope, start, bend, max_nfev=60, xtol=1e-15, gtol=1e-15, ftol=1e-15).x
    assert np.abs(slope(theta)).max() < 1e-12
    bends = bent(case.problem, theta)
    assert bends[0] < -1e-4
    assert bends[-1] > 1e-4
    for gap in (1e-9, 1.0):
        assert not case.at(theta, gap)
    weights, intercept = case.problem.weights(theta)
    stopped = case.lie(status="budget", value=float(case.problem.value(theta)), weights=weights, intercept=intercept)
    bare = dataclasses.replace(stopped, certificate=None)
    assert bare.check(case.X, case.y, case.cost)  # the value there is as claimed, but proves nothing
    assert not stopped.check(case.X, case.y, case.cost)


def test_only_a_convex_squared_error_has_an_optimum():
    convex = made("K=2 squared convex")

    def local(case):
        proof = case.verdict.certificate
        return Locality(proof.nu, proof.rho, proof.gap, proof.relative_gap, proof.distance, proof.coefficients)

    assert convex.check(status="local", certificate=local(convex))
    gram = convex.X.T @ convex.X / 50
    limit = 0.1203 * np.linalg.eigvalsh(gram)[-1]
    assert limit < 0.8
    for l2, expected in ((limit * 1.01, True), (limit * 0.99, False), (0.01, False)):
        case = make(K=2, squared=True, l2=l2, fit_intercept=False, status="optimal")
        assert case.check() is expected
        assert case.check(status="local", certificate=local(case))


def test_an_intercept_has_no_penalty_that_could_make_the_squared_error_convex():
    for setting in ({"K": 2, "l2": 50.0}, {"K": 3, "l2": 50.0}, {"K": 3, "l2": 50.0, "fit_intercept": False}):
        assert not make(squared=True, status="optimal", **setting).check()
        assert make(squared=True, status="local", **setting).check()


def test_a_local_proof_needs_a_curvature_that_changes_slowly():
    """Some way from the minimum the Hessian is positive still, and proves nothing."""
    for name in ("K=2 squared", "K=3 squared"):
        case = made(name)
        theta = case.theta * 1.3
        assert bent(case.problem, theta)[0] > 1e-4
        assert not case.at(theta, 1e9)


# ------------------------------------------------------------------------------------------------------ separation


def separated(weights, intercept, *, K=3, n=3, soft=False, fit_intercept=True):
    weights = np.asarray(weights, dtype=float)
    columns = tuple(f"x{j}" for j in range(weights.shape[-1]))
    claim = Claim(NAMES[:K], columns, weights, intercept, fit_intercept, 0.0, (1.0,) * K, 0.0, n, soft=soft)
    return Verdict("separated", Rank(None, 3, ()), Separation(weights, intercept, 1.0), "", "", claim)


THREE = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])


def test_separated_classes():
    verdict = separated(THREE, np.zeros(3))
    assert verdict.check(THREE, NAMES[:3])
    assert not verdict.check(THREE, ["ant", "cow", "bee"])
    assert not verdict.check(-THREE, NAMES[:3])
    assert not separated(THREE[::-1], np.zeros(3)).check(THREE, NAMES[:3])
    assert not separated(THREE * np.nan, np.zeros(3)).check(THREE, NAMES[:3])
    assert not separated(THREE, np.array([0, 0, np.inf])).check(THREE, NAMES[:3])
    assert not verdict.check(np.full_like(THREE, np.inf), NAMES[:3])
    assert not verdict.check(THREE, ["ant", "bee", "eel"])
    short = dataclasses.replace(verdict, certificate=Separation(THREE[:2], np.zeros(2), 1.0))
    assert not short.check(THREE, NAMES[:3])


def test_a_row_on_the_boundary_is_not_separated():
    X = np.vstack([THREE, [2.0, 2.0]])
    for label in NAMES[:3]:
        verdict = separated(THREE, np.zeros(3), n=4)
        assert not verdict.check(X, [*NAMES[:3], label])
        assert verdict.check(X, [*NAMES[:3], label], [1, 1, 1, 0])
    tilted = separated(THREE, np.array([np.spacing(0.0), 0.0, 0.0]), n=4)  # by the least that a number can be
    assert tilted.check(X, [*NAMES[:3], "ant"])
    assert not tilted.check(X, [*NAMES[:3], "bee"])


@pytest.mark.parametrize("n", [5, 9000])
def test_a_boundary_that_rounding_hides_is_decided_by_fractions(n):
    """3 · 0.1 as rounded is more than 0.3 as rounded, by less than its last digit; 0.1 + 0.2 is more than 0.3."""
    X, y = np.tile([[-1.0], [1.0]], (n, 1)), np.tile(["ant", "cow"], n)
    X, y = np.vstack([X, [[0.1]]]), np.append(y, "cow")
    for intercept, expected in (
        (-0.3, True),
        (np.nextafter(-0.3, 0), True),
        (-0.30000000000000004, False),
        (-0.31, False),
    ):
        verdict = separated([[0.0], [0.0], [3.0]], np.array([0.0, -9.0, intercept]), n=len(X))
        assert verdict.check(X, y) is expected


def test_large_numbers_do_not_hide_the_boundary():
    """10⁸ · 10⁸ − (10¹⁶ − 2) is two, which sums of such numbers cannot tell from nothing."""
    X = np.tile([1e8, 1.0], (3, 1))
    for bump, expected in ((0.0, False), (2.0, True), (-2.0, False)):
        W = np.array([[1e8, -1e16 + bump], [-1e8, 0.0], [0.0, 0.0]])
        assert separated(W, np.zeros(3)).check(X, ["ant"] * 3) is expected


def test_a_lead_that_rounding_feigns_is_none():
    """10¹⁶ + 3 − 10¹⁶ − 3½: summed in some orders one half and more, in truth minus one half."""
    leads = set()
    for order in itertools.permutations([1e16, 3.0, -1e16, -3.5]):
        X, W = np.tile(order, (3, 1)), np.array([[1.0] * 4, [0.0] * 4, [0.0] * 4])
        leads |= set((X @ W.T)[:, 0].tolist())
        assert not separated(W, np.zeros(3)).check(X, ["ant"] * 3)
        assert separated(-W, np.zeros(3)).check(X, ["ant"] * 3)
    assert max(leads) > 0 > min(leads)


def test_scores_beyond_the_largest_number_are_compared_as_fractions():
    X, W = np.array([[1e200], [1e300], [-1e200]]), np.array([[1e200], [0.0], [-1e200]])
    assert separated(W, np.zeros(3)).check(X, ["ant", "ant", "cow"])
    assert not separated(W, np.zeros(3)).check(X, ["ant", "cow", "cow"])


def test_products_below_the_least_number_do_not_feign_a_side():
    tiny = np.array([[1.0], [-1.0], [1e-200]])
    verdict = separated([[1e-200], [0.0], [0.0]], np.array([-1e-320, 0.0, -1.0]))
    assert not verdict.check(tiny[[0, 1, 2]], ["ant", "bee", "ant"])
    assert verdict.check(tiny[[0, 1, 2]], ["ant", "bee", "bee"])


def test_soft_targets_are_separated_only_if_they_are_certain():
    t = np.eye(3)
    verdict = separated(THREE, np.zeros(3), soft=True)
    assert verdict.check(THREE, t)
    assert not verdict.check(THREE, t[[0, 2, 1]])
    t[0] = [1 - 1e-9, 1e-9, 0]
    assert not verdict.check(THREE, t)
    assert verdict.check(THREE, t, [0, 1, 1])
    two = separated([1.0, 0.0], 0.0, K=2, soft=True)
    assert two.check([[1, 0], [-1, 0], [2, 5]], [1.0, 0.0, 1.0])
    assert not two.check([[1, 0], [-1, 0], [2, 5]], [0.999, 0.0, 1.0])
    assert not two.check([[1, 0], [0, 0], [2, 5]], [1.0, 0.0, 1.0])


@pytest.mark.parametrize("n", [12, 60])
def test_the_twist_of_a_penalised_maximum_is_the_trace_of_a_square_with_few_rows_and_with_many(n):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 5)), np.arange(n) % 2
    model = LogisticRegression(objective="firth").fit(X, y)
    table = Table(model.verdict_.claim, X, y, rng.uniform(0.5, 2, n))
    white = Whitened.of(Point.of(model.verdict_, table))
    rows = list(white.rows())
    B = [sum((each.y * (each.own * each.slant * each.y[j])) @ each.y.T for each in rows) for j in range(6)]
    np.testing.assert_allclose(white.twist(), [[np.trace(a @ b) for a in B] for b in B], rtol=1e-9, atol=1e-12)
