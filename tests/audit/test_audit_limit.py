"""The audit of a limit: it believes what is true and no more.

The verdicts are made here, by a plain Newton on the signed rows that are tied, in the user's units.
"""

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from places import SHARED
from referees.separation import small_problem
from sklearn.datasets import load_iris

from separatrix import separability
from separatrix.audit.check import audit
from separatrix.results.claims import Claim
from separatrix.results.proofs import Limit
from separatrix.results.verdict import Rank, Verdict

SEPARATION = SHARED / "separation"
NUMBERS = ["value", "deviance", "nu", "rho", "gap", "relative_gap", "distance", "coefficients"]
RANK = 1e-11
"""The curvature along a direction that is zero on all tied rows is less than this beside the largest."""


# ------------------------------------------------------------------------------------------------- an honest referee


@dataclass(eq=False)
class Problem:
    """Rows of each class at the cost split[i, k]; scores of all classes but the last, of two the second's."""

    X: Any
    y: Any
    sample_weight: Any = None
    fit_intercept: bool = True
    class_weight: tuple[float, ...] | None = None

    def __post_init__(self):
        self.X, self.result = (
            np.asarray(self.X, float),
            separability(self.X, self.y, self.sample_weight, fit_intercept=self.fit_intercept),
        )
        self.K, n = len(self.result.classes), len(self.X)
        y, known = np.asarray(self.y), np.array(self.result.classes)
        self.soft = y.ndim == 2 or (y.dtype.kind == "f" and bool(((y > 0) & (y < 1)).any()))
        if self.soft:
            share = y if y.ndim == 2 else np.column_stack([1 - y, y])
        else:
            share = (y[:, None] == known).astype(float)
        weight = np.ones(n) if self.sample_weight is None else np.asarray(self.sample_weight, float)
        self.split = weight[:, None] * share * (self.class_weight or np.ones(self.K))
        self.total = self.split.sum()
        self.Z = np.column_stack([self.X, np.ones((n, int(self.fit_intercept)))])
        proof, d = self.result.certificate, self.X.shape[1]
        self.free = [1] if self.K == 2 else list(range(self.K - 1))
        U = np.zeros((self.K, d + 1))
        U[1:] = np.append(proof.weights, proof.intercept) if self.K == 2 else U[1:]
        if self.K > 2:
            U[:, :-1], U[:, -1] = proof.weights, proof.intercept
        self.u, s = U, self.X @ U[:, :-1].T + U[:, -1]
        own = self.split.argmax(axis=1)
        self.tied = np.abs(s - s[np.arange(n), own][:, None]) < 1e-6 * np.abs(U).max()
        self.kept = [j for j in range(d) if self.result.columns[j] not in self.result.rank.aliased]
        self.kept += [d] * self.fit_intercept
        self.width, self.unit = len(self.kept), np.append(np.abs(self.X).max(axis=0), 1)
        self.unit[self.unit == 0] = 1

    def rows(self, i):
        """(e_k − e_l)⊗z of row i: those of all classes."""
        z = (np.append(self.X[i], 1) / self.unit)[self.kept]
        return np.stack([np.kron(np.eye(self.K)[k][self.free], z) for k in range(self.K)])

    def counting(self, theta, doubt=0.0):
        """Rows that count; those only whose likeliest class is in doubt."""
        rows = []
        for i in np.flatnonzero(self.split.sum(axis=1) > 0):
            s = self.rows(i)[self.tied[i]] @ theta
            others = np.sort(np.exp(s - s.max()))[:-1].sum()
            if others / (1 + others) ** 2 >= doubt:
                rows.append(i)
        return rows

    def derivatives(self, theta, doubt=0.0):
        size = len(self.free) * self.width
        value, g, H = 0.0, np.zeros(size), np.zeros((size, size))
        for i in self.counting(theta, doubt):
            A, cost, t = self.rows(i)[self.tied[i]], self.split[i].sum(), self.split[i][self.tied[i]]
            s = A @ theta
            p = np.exp(s - s.max())
            value += t @ (np.log(p.sum()) + s.max() - s)
            p /= p.sum()
            g += A.T @ (cost * p - t)
            H += cost * A.T @ (np.diag(p) - np.outer(p, p)) @ A
        return value / self.total, g / self.total, H / self.total

    def rho(self, rows, inverse):
        sizes = [0.0]
        for i in rows:
            A = self.rows(i)[self.tied[i]]
            sizes += [(a - b) @ inverse @ (a - b) for a in A for b in A]
        return math.sqrt(max(sizes))

    @cache  # noqa: B019
    def newton(self, passes=30):
        theta = np.zeros(len(self.free) * self.width)
        for _ in range(passes):
            value, g, H = self.derivatives(theta)
            step, t = -np.linalg.pinv(H, rcond=RANK) @ g, 1.0
            while self.derivatives(theta + t * step)[0] > value * (1 + 1e-15) and t > 1e-6:
                t /= 2
            theta = theta + t * step
        return theta

    def table(self, theta):
        """K × (columns, then the intercept)."""
        W = np.zeros((self.K, self.X.shape[1] + 1))
        for block, k in enumerate(self.free):
            W[k, self.kept] = theta[block * self.width : (block + 1) * self.width] / self.unit[self.kept]
        return W

    def flat(self, W):
        """The other way, in units of the columns' largest numbers."""
        return np.concatenate([(W[k] * self.unit)[self.kept] for k in self.free])

    def finite(self):
        names = [*self.result.columns, *["(intercept)"] * self.fit_intercept]
        said = self.result.coefficients
        groups = [said] if self.K == 2 else [said[c] for c in self.result.classes[:-1]]
        stay = np.ones((len(groups), self.X.shape[1] + 1), bool)
        for block, group in enumerate(groups):
            stay[block, : len(names)] = [group[name] == "finite" for name in names]
        return stay

    def mean_loss(self, W):
        s = self.X @ W[:, :-1].T + W[:, -1]
        top = s.max(axis=1, keepdims=True)
        surprise = np.log(np.exp(s - top).sum(axis=1, keepdims=True)) + top - s
        return float((self.split * surprise).sum() / self.total)

    @cache  # noqa: B019
    def verdict(self, tau=0.05, away=0.0, doubt=0.0):
        """What a fit would say: at the limit's minimum, or away from it along the finite coefficients.

        The proof is by the rows that are in doubt.
        """
        V = self.table(self.newton())
        stay = self.finite()
        V[np.ix_(self.free, self.kept)] += (away * stay / self.unit)[:, self.kept]
        theta = self.flat(V)
        (value, g, _), H = self.derivatives(theta), self.derivatives(theta, doubt)[2]
        inverse = np.linalg.pinv(H, rcond=RANK)
        nu, rho = math.sqrt(max(g @ inverse @ g, 0)), self.rho(self.counting(theta, doubt), inverse)
        x = rho * nu
        assert x < 1
        gap = (x + (1 - x) * math.log1p(-x)) / rho**2 if x > 1e-4 else nu**2 / 2 * (1 + x / 2)
        far = -math.log1p(-x) / rho if x else nu
        spread = self.table(np.sqrt(np.maximum(np.diag(inverse), 0)))[self.free] * far
        bounds = np.where(stay, spread, np.inf)
        bounds = bounds[0] if self.K == 2 else np.vstack([bounds, np.zeros(bounds.shape[1])])
        W, two, result = V + tau * self.u, self.K == 2, self.result
        parts = lambda M: (M[1, :-1], float(M[1, -1])) if two else (M[:, :-1], M[:, -1])  # noqa: E731
        proof = Limit(*parts(V), value, 2 * value * self.total, nu, rho, gap, gap / value, far, bounds)
        claim = Claim(
            result.classes, result.columns, *parts(W), self.fit_intercept, 0.0,
            tuple(self.class_weight or np.ones(self.K).tolist()), self.mean_loss(W), len(self.X), soft=self.soft,
        )  # fmt: skip
        return Verdict("quasi-separated", result.rank, proof, "", "", claim, result)

    def holds(self, verdict):
        return audit(verdict, self.X, self.y, self.sample_weight)


# ---------------------------------------------------------------------------------------------------------- the tables


def least(**how):
    return Problem(np.array([[-1.0], [0], [0], [1]]), np.array([0, 0, 1, 1]), **how)


def endometrial(**how):
    if not SEPARATION.is_dir():
        pytest.skip("the folder of reference data is not here")
    rows = pd.read_csv(SEPARATION / "endometrial.csv")
    return Problem(rows[["NV", "PI", "EH"]].to_numpy(float), rows["HG"].to_numpy(), **how)


def iris():
    return Problem(*load_iris(return_X_y=True))


def weighted():
    rng = np.random.default_rng(5)
    X = np.column_stack([np.repeat([0.0, 1], [14, 6]), rng.integers(-3, 4, 20)])
    y = np.where(X[:, 0] == 1, 1, (X[:, 1] + rng.normal(size=20) * 3 > 0).astype(int))
    return Problem(X, y, rng.choice([0, 0.5, 1, 3], size=20), class_weight=(1.0, 2.5))


def through_the_origin():
    X = np.array([[1.0, 0], [1, 1], [2, -3], [0, 1], [0, 2], [0, -1], [0, 3], [0, -2]])
    return Problem(X, np.array([1, 1, 1, 1, 0, 0, 1, 1]), fit_intercept=False)


def soft():
    X = np.array([[-1.0, 1], [0, 1], [0, 2], [0, 4], [1, 0], [2, 2]])
    return Problem(X, np.array([0, 0.3, 0.6, 0.2, 1, 1]))


def soft_of_three():
    X = np.array([[0.0], [1], [4], [5], [6]])
    return Problem(X, np.array([[1, 0, 0], [1, 0, 0], [0, 0.5, 0.5], [0, 0.25, 0.75], [0, 0.5, 0.5]]))


def three_with_ties():
    """One column of digits: class 2 leaves on one side only."""
    X = np.array([[0.0, 0], [0, 1], [0, 2], [0, 3], [0, 1], [0, 2], [1, 0], [1, 2], [1, 1], [0, 2], [0, 0], [1, 3]])
    return Problem(X, np.array([0, 1, 0, 1, 0, 2, 2, 2, 2, 1, 2, 2]))


def aliased():
    p = weighted()
    return Problem(np.column_stack([p.X, 2 * p.X[:, 1] - p.X[:, 0]]), p.y, p.sample_weight)


def far_units():
    p = weighted()
    return Problem(p.X * [1e7, 1e-6] + [0, 1e-4], p.y, p.sample_weight)


TABLES = [
    least, endometrial, iris, weighted, through_the_origin, soft, soft_of_three, three_with_ties, aliased, far_units,
]  # fmt: skip


@pytest.fixture(params=TABLES, ids=lambda make: make.__name__, scope="module")
def problem(request):
    found = request.param()
    assert found.result.kind == "quasi-separated"
    return found


# ------------------------------------------------------------------------------------------------------ what is true


def test_what_is_true_is_believed(problem):
    assert problem.holds(problem.verdict())


@pytest.mark.parametrize("tau", [0.0, 1e-9, 1.0, 1e4])
def test_any_length_along_the_direction_will_do(problem, tau):
    assert problem.holds(problem.verdict(tau=tau))


def test_a_point_that_is_not_yet_there_is_believed_with_its_own_gap(problem):
    """Where something can be moved: at the least example, only the intercept."""
    away = problem.verdict(away=1e-6)
    assert problem.holds(away)


def test_known_values():
    verdict = least().verdict()
    assert verdict.certificate.value == pytest.approx(2 * math.log(2) / 4, rel=1e-12)
    assert endometrial().verdict().certificate.deviance == pytest.approx(55.393, abs=5e-4)


def test_a_limit_where_nothing_stays_finite():
    """Without an intercept a row of zeros is tied and says nothing."""
    problem = Problem(np.array([[-1.0], [0], [1]]), np.array([0, 1, 1]), fit_intercept=False)
    far = Limit(np.zeros(1), 0.0, math.log(2) / 3, 2 * math.log(2), 0, 0, 0, 0, 0, np.array([np.inf, 0]))
    u = problem.u[1, :-1]
    claim = Claim((0, 1), ("x0",), 0.1 * u, 0.0, False, 0.0, (1.0, 1.0), problem.mean_loss(0.1 * problem.u), 3)
    verdict = Verdict("quasi-separated", Rank(1, 1, ()), far, "", "", claim, problem.result)
    assert problem.holds(verdict)
    assert not problem.holds(replace(verdict, certificate=replace(far, value=0.2)))


def with_a_sure_row():
    p = weighted()
    far = np.append(p.X, [[0, 1e4]], axis=0)
    return Problem(far / [1, 1e2], np.append(p.y, 1), np.append(p.sample_weight, 1))


def test_sure_rows_that_are_far_do_not_spoil_the_proof():
    problem = with_a_sure_row()
    assert problem.result.kind == "quasi-separated"
    with pytest.raises(AssertionError):
        problem.verdict(away=0.05)  # by all rows nothing is proved
    verdict = problem.verdict(away=0.05, doubt=1e-10)
    assert verdict.certificate.gap > 1e-8
    assert problem.holds(verdict)
    smaller = replace(verdict.certificate, gap=verdict.certificate.gap / 10, nu=0.0, relative_gap=0.0)
    smaller = replace(smaller, relative_gap=smaller.gap / smaller.value)
    assert not problem.holds(replace(verdict, certificate=smaller))


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_offsets_cost_digits_and_no_more(offset):
    p = weighted()
    shift = np.array([0, offset])
    moved = Problem(p.X + shift, p.y, p.sample_weight)
    T = Problem(p.X, p.y, p.sample_weight).verdict().certificate
    far = moved.result.certificate
    step = Limit(T.weights, T.intercept - T.weights @ shift, *[getattr(T, name) for name in NUMBERS])
    bounds = np.where(np.isfinite(T.coefficients), T.coefficients * [1, 1, 1 + offset] + [0, 0, 1e-9], np.inf)
    W = np.append(T.weights + 1e-3 * far.weights, step.intercept + 1e-3 * far.intercept)
    claim = replace(
        p.verdict().claim, weights=W[:-1], intercept=W[-1], class_weight=(1.0, 1.0),
        value=moved.mean_loss(np.stack([0 * W, W])),
    )  # fmt: skip
    proof = replace(step, coefficients=bounds)
    verdict = Verdict("quasi-separated", moved.result.rank, proof, "", "", claim, moved.result)
    assert moved.holds(verdict)
    assert not moved.holds(replace(verdict, certificate=replace(proof, intercept=step.intercept + 1e-3)))


@pytest.mark.parametrize("seeds", [range(start, start + 20) for start in range(6000, 6080, 20)], ids=str)
def test_small_problems(seeds):
    """Degenerate in several ways: what the referee finds is believed, and with other labels it is not."""
    for seed in seeds:
        drawn = small_problem(seed)
        X, y, weight = drawn.X.astype(float), drawn.y, drawn.weight
        if separability(X, y, weight, fit_intercept=drawn.fit_intercept).kind != "quasi-separated":
            continue
        problem = Problem(X, y, weight, fit_intercept=drawn.fit_intercept)
        verdict = problem.verdict()
        assert problem.holds(verdict), seed
        assert not audit(verdict, X, (y + 1) % problem.K, weight), seed


# ------------------------------------------------------------------------------------------------- what is not true


def tampered(verdict, **changes):
    return replace(verdict, certificate=replace(verdict.certificate, **changes))


def bump(problem, weights, intercept, step):
    """A finite coefficient moved, of those that are there."""
    W = np.atleast_2d(np.array(weights, float)).copy()
    b = np.atleast_1d(np.array(intercept, float)).copy()
    block, j = np.argwhere(problem.finite()[:, : None if problem.fit_intercept else -1])[0]
    if j < W.shape[1]:
        W[block, j] += step / problem.unit[j]
    else:
        b[block] += step
    return (W[0], float(b[0])) if problem.K == 2 else (W, b)


def test_another_point_is_not(problem):
    """v moved, with the losses that belong to it; and the claim moved with it, so that only the gap is wrong."""
    verdict = problem.verdict()
    proof, claim = verdict.certificate, verdict.claim
    weights, intercept = bump(problem, proof.weights, proof.intercept, 1e-3)
    assert not problem.holds(tampered(verdict, weights=weights, intercept=intercept))
    moved = bump(problem, claim.weights, claim.intercept, 1e-3)
    M = np.zeros_like(problem.u)
    V = np.zeros_like(problem.u)
    if problem.K == 2:
        M[1], V[1] = np.append(*moved), np.append(weights, intercept)
    else:
        M, V = np.column_stack(moved), np.column_stack([weights, intercept])
    value = problem.derivatives(problem.flat(V))[0]
    claim = replace(claim, weights=moved[0], intercept=moved[1], value=problem.mean_loss(M))
    other = tampered(
        replace(verdict, claim=claim), weights=weights, intercept=intercept, value=value,
        deviance=2 * value * problem.total, relative_gap=proof.gap / value,
    )  # fmt: skip
    assert not problem.holds(other)


def test_a_claim_that_is_not_on_the_ray_is_not(problem):
    verdict = problem.verdict()
    for change in (
        {"weights": verdict.claim.weights * (1 + 1e-4)},
        {"weights": 2 * verdict.certificate.weights - verdict.claim.weights},
    ):
        claim = replace(verdict.claim, **change)
        W = np.zeros_like(problem.u)
        if problem.K == 2:
            W[1] = np.append(claim.weights, claim.intercept)
        else:
            W = np.column_stack([claim.weights, claim.intercept])
        claim = replace(claim, value=problem.mean_loss(W))
        only_scaled = not np.any(verdict.certificate.weights) and not np.any(verdict.certificate.intercept)
        if "weights" in change and only_scaled and change["weights"][..., 0].flat[0] > 0:
            continue  # v = 0: every length is on the ray
        assert not problem.holds(replace(verdict, claim=claim))


@pytest.mark.parametrize("name", ["value", "deviance"])
def test_another_number_is_not(problem, name):
    verdict = problem.verdict()
    proof = verdict.certificate
    for factor in (1 + 1e-7, 1 - 1e-7, 0, -1, math.nan, math.inf):
        other = tampered(verdict, **{name: getattr(proof, name) * factor})
        if name == "value" and factor and math.isfinite(factor):
            other = tampered(other, relative_gap=proof.gap / other.certificate.value)
        assert not problem.holds(other), factor


def test_a_gap_that_is_too_small_is_not(problem):
    verdict = problem.verdict(away=1e-4)
    proof = verdict.certificate
    assert problem.holds(verdict)
    assert proof.gap > 1e-12
    for nu in (proof.nu, proof.nu / 4):
        smaller = tampered(verdict, gap=proof.gap / 10, relative_gap=proof.relative_gap / 10, nu=nu)
        assert not problem.holds(smaller)


def test_bounds_of_coefficients_that_are_too_small_are_not(problem):
    verdict = problem.verdict(away=1e-4)
    bounds = verdict.certificate.coefficients
    assert problem.holds(tampered(verdict, coefficients=2 * bounds))
    assert not problem.holds(tampered(verdict, coefficients=bounds / 2))
    assert not problem.holds(tampered(verdict, coefficients=-bounds))
    assert not problem.holds(tampered(verdict, coefficients=np.full_like(bounds, np.inf)))
    assert not problem.holds(tampered(verdict, coefficients=np.where(np.isinf(bounds), 1.0, bounds)))
    assert not problem.holds(tampered(verdict, coefficients=bounds[:-1]))


def test_another_direction_is_not(problem):
    verdict = problem.verdict()
    result = problem.result
    for change in (
        {"weights": -result.certificate.weights, "intercept": -np.asarray(result.certificate.intercept)},
        {"directions": result.certificate.directions[:0]},
        {"balance": None},
        {"balance": replace(result.certificate.balance, multipliers=-result.certificate.balance.multipliers)},
    ):
        other = replace(result, certificate=replace(result.certificate, **change))
        assert not problem.holds(replace(verdict, separability=other))
    fewer = replace(result, rows=result.rows[1:], row_names=result.row_names[1:])
    assert not problem.holds(replace(verdict, separability=fewer))


def test_weights_that_are_not_against_the_last_class_are_not():
    """They say the same of every row, but not of the coefficients."""
    problem = iris()
    verdict = problem.verdict()
    moved = tampered(verdict, weights=verdict.certificate.weights + 1)
    assert not problem.holds(replace(moved, claim=replace(verdict.claim, weights=verdict.claim.weights + 1)))


def test_a_separability_of_something_else_is_not(problem):
    verdict, other = problem.verdict(), Problem(np.array([[-1.0], [0], [0], [0], [2]]), np.array([0, 0, 1, 1, 1]))
    for given in (None, other.result, "quasi-separated", replace(problem.result, kind="overlap")):
        assert not problem.holds(replace(verdict, separability=given))
    shorter = separability(np.delete(problem.X, 0, axis=0), np.delete(problem.y, 0, axis=0), fit_intercept=True)
    assert not problem.holds(replace(verdict, separability=shorter))


def test_other_data_are_not(problem):
    verdict, X, y, w = problem.verdict(), problem.X, np.asarray(problem.y), problem.sample_weight
    other = y[:, ::-1] if y.ndim == 2 else (1 - y if problem.K == 2 else (y + 1) % problem.K)
    assert not audit(verdict, X, other, w)
    left = None if w is None else w[1:]
    assert not audit(verdict, X[1:], y[1:], left)
    assert not audit(verdict, X * np.random.default_rng(0).uniform(0.9, 1.1, X.shape) + 0.1 * problem.unit[:-1], y, w)
    assert not audit(verdict, np.where(X[0, 0] == X, np.nan, X), y, w)
    with pytest.raises(ValueError):
        audit(verdict, X[:, :0], y, w)
    with pytest.raises(ValueError):
        audit(verdict, X[1:], y, w)


def test_other_costs_are_not(problem):
    w = np.ones(len(problem.X)) if problem.sample_weight is None else problem.sample_weight
    shaken = w * np.where(np.arange(len(w)) % 2, 1, 1.5)
    assert not audit(problem.verdict(), problem.X, problem.y, shaken)


@pytest.mark.parametrize("status", ["optimal", "local", "separated"])
def test_another_status_is_not(problem, status):
    assert not problem.holds(replace(problem.verdict(), status=status))


def test_another_problem_is_not(problem):
    verdict = problem.verdict()
    claim = verdict.claim
    assert not problem.holds(replace(verdict, claim=replace(claim, l2=1e-3)))
    assert not problem.holds(replace(verdict, claim=replace(claim, objective="squared")))
    assert not problem.holds(replace(verdict, claim=replace(claim, columns=("else", *claim.columns[1:]))))
    assert not problem.holds(replace(verdict, claim=replace(claim, rows=claim.rows + 1)))


@pytest.mark.parametrize("name", ["weights", "intercept", "value", "deviance", "nu", "rho", "gap", "coefficients"])
@pytest.mark.parametrize("junk", [None, "much", [1.0, 2, 3, 4, 5, 6, 7], math.nan, {}])
def test_junk_is_no_error(name, junk):
    problem = least()
    assert not problem.holds(tampered(problem.verdict(), **{name: junk}))
