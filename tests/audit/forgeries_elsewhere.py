"""Certificates of Firth's maxima, of limits and of joint features, and what makes them false by the least amount."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from separatrix import JointClassifier, LogisticRegression
from separatrix.audit.shown import distance, fall
from separatrix.joint import Separate
from separatrix.results.verdict import Verdict

from .forgeries import BEYOND, Forgery, least
from .referee import Rows, Truth


class Found(NamedTuple):
    """What is true of weights on rows at some costs."""

    nu: float
    rho: float
    gap: float
    distance: float
    errors: Any
    """|w − w⋆| of each coefficient, as the certificate has them; NaN of those without a bound."""
    values: dict[str, Any]
    """The numbers of the verdict that follow from the rows: of the claim, and of the certificate."""


class Case(NamedTuple):
    """A verdict, its data, and how to tell what is true at other costs cᵢ or other weights."""

    verdict: Verdict
    X: Any
    y: Any
    cost: Any
    truth: Callable[[Any, Any], Found]
    weights: Any
    """Those that may be moved."""
    placed: Callable[[Verdict, Any], Verdict]
    """The verdict with other ones."""
    slip: float = 1e-13
    """What a length may be off because scores are rounded."""

    def check(self) -> bool:
        return self.verdict.check(self.X, self.y, self.cost)


def case_of(kind: str, rng: Any) -> Case | None:
    """None where the fit proved something else."""
    return {"firth": _firth, "limit": _limit, "joint": _joint}[kind](rng)


def _data(rng: Any, K: int, d: int) -> tuple[Any, Any, Any]:
    n = int(rng.integers(25, 60))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2) + rng.normal(size=d) * float(rng.choice([0, 1, 30]))
    s = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K))
    y = s.argmax(axis=1)
    y[:K] = np.arange(K)
    return X, y, rng.random(n) + 0.3


def _fitted(model: Any, *data: Any) -> Verdict:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data).verdict_


# -------------------------------------------------------------------------------------------------- Firth's likelihood


def _inverse(A: Any) -> tuple[Any, Any]:
    """A⁻¹ and log|A| of a positive definite matrix, in long double."""
    n, log = len(A), np.longdouble(0)
    M = np.hstack([A, np.eye(n, dtype=np.longdouble)])
    for i in range(n):
        log += np.log(M[i, i])
        M[i] /= M[i, i]
        for j in range(n):
            if j != i:
                M[j] -= M[j, i] * M[i]
    return M[:, n:], log


class Penalised:
    """F = −(ℓ + ½ log|A|)/C in long double, in coordinates ((x − c)/σ, 1): T takes their weights to those of x."""

    def __init__(self, X: Any, second: Any, cost: Any) -> None:
        center, size = X.mean(axis=0).astype(np.longdouble), X.std(axis=0).astype(np.longdouble)
        self.Z = np.column_stack([(X - center) / size, np.ones(len(X))])
        self.T = np.diag(np.append(1 / size, 1))
        self.T[-1, :-1] = -center / size
        self.volume = 2 * np.log(size).sum()
        self.t, self.cost = second.astype(np.longdouble), cost.astype(np.longdouble)

    def at(self, theta: Any) -> tuple[Any, Any, Any, Any]:
        """F, its slope, the mean loss and log|A|."""
        eta, C = self.Z @ theta, self.cost.sum()
        p = 1 / (1 + np.exp(-eta))
        w = self.cost * p * (1 - p)
        inverse, log = _inverse((self.Z * w[:, None]).T @ self.Z)
        log = log + self.volume
        h = w * np.einsum("ij,jk,ik->i", self.Z, inverse, self.Z)
        loss = self.cost @ np.where(self.t > 0, np.log1p(np.exp(-eta)), np.log1p(np.exp(eta))) / C
        slope = -(self.Z.T @ (self.cost * (self.t - p) + h * (0.5 - p))) / C
        return loss - log / (2 * C), slope, loss, log

    def bend(self, theta: Any) -> Any:
        """The Hessian, by differences."""
        steps = 1e-6 / np.abs(self.Z).max(axis=0)
        columns = [
            (self.at(theta + e)[1] - self.at(theta - e)[1]) / (2 * s)
            for s, e in zip(steps, np.diag(steps), strict=True)
        ]
        H = np.array(columns)
        return (H + H.T) / 2

    def found(self, theta: Any) -> Found:
        w = theta[:-1].astype(np.longdouble) / np.diag(self.T)[:-1]
        theta = np.append(w, theta[-1] - self.T[-1, :-1] @ w)
        value, g, loss, log = self.at(theta)
        H, there = self.bend(theta), theta
        inverse = _inverse(H)[0]
        for _ in range(8):
            step = (_inverse(self.bend(there))[0]) @ self.at(there)[1]
            there = there - step
            if np.abs(step * np.abs(self.Z).max(axis=0)).max() < 1e-16:
                break
        off = theta - there
        rho = np.sqrt(np.einsum("ij,jk,ik->i", self.Z, inverse, self.Z).max())
        values = {"claim": {"value": float(value)}, "proof": {"mean_loss": float(loss), "log_determinant": float(log)}}
        return Found(
            float(np.sqrt(g @ inverse @ g)), float(rho), float(value - self.at(there)[0]),
            float(np.sqrt(off @ H @ off)), np.abs(self.T @ off).astype(float), values,
        )  # fmt: skip


def _firth(rng: Any) -> Case | None:
    X, y, cost = _data(rng, 2, int(rng.integers(1, 4)))
    cost = np.ones(len(y)) if rng.random() < 0.5 else cost
    verdict = _fitted(LogisticRegression(objective="firth", tol=float(10.0 ** rng.uniform(-9, -5))), X, y, cost)
    if verdict.status != "local":
        return None

    def placed(verdict: Verdict, theta: Any) -> Verdict:
        return _with(verdict, {"weights": theta[:-1], "intercept": float(theta[-1])}, {"intercept": float(theta[-1])})

    theta = np.append(verdict.claim.weights, verdict.claim.intercept)
    return Case(verdict, X, y, cost, lambda cost, at: Penalised(X, y, cost).found(at), theta, placed)


# --------------------------------------------------------------------------------------------------------------- limits


def _limit(rng: Any) -> Case | None:
    """A column that is zero but on a few rows, all of one class: what is left is a fit to the others."""
    X, y, cost = _data(rng, 2, int(rng.integers(1, 4)))
    apart = np.zeros(len(y))
    apart[y == 1] = (rng.random((y == 1).sum()) < 0.3) * rng.random((y == 1).sum())
    place = int(rng.integers(X.shape[1] + 1))
    wide, tied = np.insert(X, place, apart, axis=1), apart == 0
    verdict = _fitted(LogisticRegression(tol=float(10.0 ** rng.uniform(-9, -5))), wide, y, cost)
    if verdict.status != "quasi-separated" or len(set(y[tied])) < 2:
        return None
    own = np.delete(np.arange(wide.shape[1] + 1), place)
    if not np.isfinite(verdict.certificate.coefficients[own]).all():
        return None

    def truth(cost: Any, at: Any) -> Found:
        part = cost[tied].sum() / cost.sum()
        rows = Rows(X[tied], cost[tied, None] * np.eye(2)[y[tied]])
        left = Truth(rows, at[:-1], at[-1])
        nu, rho = left.nu_and_rho(left.unsure())
        errors = np.full(wide.shape[1] + 1, np.nan)
        if left.step is None:
            return Found(nu, rho, math.inf, math.inf, errors, {})
        errors[own] = np.abs(left.errors()).ravel()
        value, root = float(left.value()) * part, math.sqrt(part)
        w = placed(verdict, at).claim
        s = wide.astype(np.longdouble) @ w.weights + w.intercept
        mean = float(cost @ np.logaddexp(0, np.where(y == 1, -s, s)) / cost.sum())
        values = {"claim": {"value": mean}, "proof": {"value": value, "deviance": 2 * value * float(cost.sum())}}
        way = left.distance(left.unsure())
        return Found(nu * root, rho / root, left.fall * part, way * root, errors, values)

    def placed(verdict: Verdict, at: Any) -> Verdict:
        changed = []
        for each in (verdict.claim, verdict.certificate):
            full = np.append(each.weights, each.intercept)
            full[own] = at
            changed.append({"weights": full[:-1], "intercept": float(full[-1])})
        return _with(verdict, *changed)

    proof = verdict.certificate
    at = np.append(proof.weights, proof.intercept)[own]  # to the last digit: so a little beside it
    at = at + rng.normal(size=at.size) * 10.0 ** rng.uniform(-8, -4) / np.append(np.abs(X).max(axis=0), 1)
    rows = Rows(X[tied], cost[tied, None] * np.eye(2)[y[tied]])
    left = Truth(rows, at[:-1], at[-1])
    H = left.derivatives(np.zeros(left.shape, np.longdouble), left.unsure())[1]
    found, off = truth(cost, at), np.full(wide.shape[1] + 1, math.inf)
    if not found.values:
        return None
    nu, rho = found.nu * (1 + 1e-9), found.rho * (1 + 1e-9)
    way = distance(nu, rho)
    off[own] = np.sqrt(np.diag(np.linalg.inv(H)) / (cost[tied].sum() / cost.sum())) * way * (1 + 1e-9)
    numbers = {"nu": nu, "rho": rho, "gap": fall(nu, rho), "distance": way, "coefficients": off}
    verdict = _revalued(_with(placed(verdict, at), {}, numbers), found)
    slip = 16 * at.size * np.finfo(float).eps * float((np.abs(X) @ np.abs(at[:-1])).max() + abs(at[-1]))
    return Case(verdict, wide, y, cost, truth, at, placed, slip)


# ------------------------------------------------------------------------------------------------------- joint features


def _joint(rng: Any) -> Case | None:
    """(x ⊗ e_c)·θ of three classes or four with a penalty on all of it: softmax regression without an intercept."""
    K, squared = int(rng.integers(3, 5)), bool(rng.random() < 0.3)
    X, y, cost = _data(rng, K, int(rng.integers(1, 4)))
    X = (X - X.mean(axis=0)) / X.std(axis=0) + rng.normal(size=X.shape[1])
    l2 = float(rng.choice([0.03, 0.3]))
    loss = "squared" if squared else "log"
    model = JointClassifier(Separate(intercept=False), loss=loss, l2=l2, tol=float(10.0 ** rng.uniform(-9, -4)))
    verdict = _fitted(model, X, y, cost)
    if verdict.status != ("local" if squared else "optimal"):
        return None

    def truth(cost: Any, at: Any) -> Found:
        left = Truth(Rows(X, cost[:, None] * np.eye(K)[y], l2, False, squared), at.reshape(K, -1), np.zeros(K))
        if left.step is None:
            return Found(math.inf, math.inf, math.inf, math.inf, np.full(at.size, np.nan), {})
        chosen = np.ones(len(X), bool) if squared else left.unsure()
        nu, rho = left.nu_and_rho(chosen)
        errors = np.abs(left.errors()[:, :-1]).ravel()
        return Found(nu, rho, left.fall, left.distance(chosen), errors, {"claim": {"value": float(left.value())}})

    theta = np.asarray(verdict.claim.weights, float)
    return Case(verdict, X, y, cost, truth, theta, lambda verdict, at: _with(verdict, {"weights": at}, {}))


# ------------------------------------------------------------------------------------------------------------ forgeries


def _with(verdict: Verdict, claim: dict[str, Any], proof: dict[str, Any]) -> Verdict:
    return dataclasses.replace(
        verdict,
        claim=dataclasses.replace(verdict.claim, **claim),
        certificate=dataclasses.replace(verdict.certificate, **proof),
    )


def _unit(verdict: Verdict) -> float:
    """What the relative gap is relative to."""
    proof = verdict.certificate
    return float(getattr(proof, "mean_loss", getattr(proof, "value", verdict.claim.value)))


def _revalued(verdict: Verdict, found: Found) -> Verdict:
    """The verdict with values that are true."""
    verdict = _with(verdict, found.values.get("claim", {}), found.values.get("proof", {}))
    return _with(verdict, {}, {"relative_gap": verdict.certificate.gap / _unit(verdict)})


def _needed(case: Case) -> float:
    return float(case.verdict.certificate.gap * (1 + BEYOND) + 3e-15 * _unit(case.verdict) + case.slip**2)


NUMBERS = ("nu", "rho", "gap", "distance", "relative_gap", "value", "coefficients", "weights", "cost")


def forgery_of(case: Case, rng: Any) -> Forgery | None:
    """One way or another to make the verdict false."""
    found = case.truth(case.cost, case.weights)
    for name in rng.permutation(NUMBERS):
        forged = _forged(case, found, str(name), rng)
        if forged is not None:
            return Forgery(f"{name}, {case.verdict.status}", *forged)
    return None


def _forged(case: Case, found: Found, name: str, rng: Any) -> tuple[Verdict, Any, Any, Any] | None:
    verdict, data, proof = case.verdict, (case.X, case.y, case.cost), case.verdict.certificate
    if name == "weights":
        off = rng.normal(size=case.weights.size)
        if hasattr(verdict.claim, "feature_map"):  # what all classes share is paid for by itself
            off = off.reshape(len(verdict.claim.classes), -1)
            off = (off - off.mean(axis=0)).ravel()
        t = least(_needed(case), lambda t: case.truth(case.cost, case.weights + t * off).gap, 1e-9)
        if t is None:
            return None
        at = case.weights + t * off
        return _revalued(case.placed(verdict, at), case.truth(case.cost, at)), *data
    if name == "cost":
        i = rng.integers(len(case.cost))

        def moved(t: float) -> Any:
            cost = case.cost.copy()
            cost[i] *= 1 + t
            return cost

        t = least(_needed(case), lambda t: case.truth(moved(t), case.weights).gap, 1e-9)
        if t is None:
            return None
        return _revalued(verdict, case.truth(moved(t), case.weights)), case.X, case.y, moved(t)
    if name == "value":
        values = {key: dict(each) for key, each in found.values.items()}
        key = str(rng.choice(list(values)))
        own = str(rng.choice(list(values[key])))
        values[key][own] *= 1 + float(rng.choice([-1, 1])) * 1e-8
        values[key][own] += 1e-10 * math.copysign(1, values[key][own])
        return _revalued(verdict, found._replace(values=values)), *data
    if name == "relative_gap":
        return _with(verdict, {}, {name: proof.relative_gap * (1 + BEYOND * float(rng.choice([-1, 1])))}), *data
    if name == "coefficients":
        places = np.flatnonzero(found.errors > 1e-9 * np.abs(case.weights).max())
        if not len(places):
            return None
        forged, j = proof.coefficients.copy(), rng.choice(places)
        forged[j] = found.errors[j] * (1 - BEYOND - 2 * case.slip / found.distance)
        if forged[j] < 0:
            return None
        return _with(verdict, {}, {name: forged}), *data
    slip = 3e-15 * _unit(verdict) + case.slip**2 if name == "gap" else 0.0 if name == "rho" else case.slip
    truth = getattr(found, name) * (1 - BEYOND) - slip
    if truth <= 0 or truth >= getattr(proof, name):
        return None
    changes = {name: truth, **({"relative_gap": truth / _unit(verdict)} if name == "gap" else {})}
    return _with(verdict, {}, changes), *data
