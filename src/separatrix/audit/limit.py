"""The check of a limit: that the likelihood goes along a direction that separates some rows, and where to.

`audit.separation` proves the direction and that there is no better one. The likelihood that is left is that of the rows
among the classes that the direction ties: a function of the scores' differences between tied classes, so of the weights
modulo the directions that are zero on all such rows. Any complement of these directions serves as the space: leverages
and slopes are the same in each.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from ..results.claims import Claim
from ..results.proofs import Limit
from ..results.separability import INTERCEPT, Separability
from ..results.verdict import Verdict
from .cases import Cases, Rule, signs
from .exact import EPS
from .minimum import TOO_SURE, Point, doubt_of
from .objectives import Softmax, per_class, scores
from .rows import Table
from .separation import CertificateParts, parts_of, prove
from .shown import SLACK, allows, distance, fall


def tied_classes(given: CertificateParts, cases: Cases) -> Any:
    """Rows × K: sₖ = sᵧ under the direction, y the row's own classes; None if it ties k to some of these only."""
    rule, found = Rule(given.weights[:, :-1], given.weights[:, -1]), []
    for rows, X in cases.chunks():
        i, own, other = cases.pairs(rows)
        zero, pairs = np.zeros((2, len(rows), cases.classes), int)
        np.add.at(pairs, (i, other), 1)
        np.add.at(zero, (i, other), signs(X, i, own, other, rule, given.slack) == 0)
        if ((zero > 0) & (zero < pairs)).any():
            return None
        found.append(cases.own[rows] | (zero > 0))
    return np.concatenate(found)


class Look(NamedTuple):
    """Some rows as one pass sees them."""

    rows: slice
    Z: Any
    at: Softmax
    target: Any
    share: Any


@dataclass(frozen=True)
class Ties:
    """The rows that are tied to more than one class, at v, in the coordinates of a `Point` of these rows."""

    point: Point
    tied: Any
    share: Any
    """cᵢ/C, C the costs of all rows."""
    basis: Any
    """Contrasts × coordinates × m: of a complement of the directions."""

    @classmethod
    def of(cls, at_v: Verdict, table: Table, given: CertificateParts, tied: Any) -> Ties:
        """Of the rows that count, those with a tie; `at_v` claims v."""
        some, part = tied.sum(axis=1) > 1, copy.copy(table)
        part.X, part.target, part.cost, part.places = (
            each[some] for each in (table.X, table.target, table.cost, table.places)
        )
        point = replace(Point.of(at_v, part), keep=given.keep.tolist())
        return cls(point, tied[some], part.cost / table.cost.sum(), _complement(point, given.directions))

    def looks(self) -> Iterator[Look]:
        """All rows, some at a time; a class that is not tied has the score −∞."""
        start, claim = 0, self.point.claim
        for X, target, _ in self.point.table.chunks():
            rows = slice(start, start + len(X))
            s = np.where(self.tied[rows], scores(claim.weights, claim.intercept, X), -np.inf)
            yield Look(rows, self.point.coordinates(X), Softmax(s), target, self.share[rows])
            start += len(X)

    def value(self) -> float:
        """Σᵢ (cᵢ/C) Σₖ tₖ (log Σⱼ exp sⱼ − sₖ), j over the tied classes."""
        total = np.longdouble(0)
        for look in self.looks():
            total += look.share @ np.where(look.target > 0, look.target * look.at.surprise, 0).sum(axis=1)
        return float(total)

    def rounding(self) -> float:
        """How far the difference of two scores of a row can move because v is rounded to 53 bits."""
        size = np.abs(np.atleast_2d(self.point.claim.weights)).T
        tops = (np.abs(X) @ size + np.abs(np.ravel(self.point.claim.intercept)) for X, *_ in self.point.table.chunks())
        return 2 * (len(size) + 2) * float(np.finfo(float).eps * max(each.max() for each in tops))

    def slope(self) -> Any:
        """g = Σᵢ (cᵢ/C) Vᵀ(p − t) ⊗ zᵢ, in the basis."""
        V = self.point.contrasts
        g = sum((each.at.error(each.target) * each.share[:, None] @ V).T @ each.Z for each in self.looks())
        return np.einsum("fw,fwm->m", g, self.basis).astype(float)

    def along(self, look: Look) -> Any:
        """zᵢ in the basis: rows × contrasts × m."""
        return np.einsum("iw,fwm->ifm", look.Z.astype(float), self.basis, optimize=True)

    def root(self, chosen: Any) -> Any:
        """RᵀR = Σᵢ (cᵢ/C) Vᵀ(diag(p) − ppᵀ)V ⊗ zᵢzᵢᵀ in the basis, by QR of √pₖ Vᵀ(eₖ − p) ⊗ zᵢ; None if singular."""
        m, V = self.basis.shape[-1], self.point.contrasts
        R = np.zeros((0, m))
        for look in self.looks():
            p, rest, pick = look.at.p.astype(float), look.at.rest.astype(float), chosen[look.rows]
            apart = np.repeat(-p[:, None, :], p.shape[1], axis=1)
            np.einsum("ikk->ik", apart)[:] = rest
            halves = np.sqrt(p * look.share[:, None])[:, :, None] * (apart @ V)
            R = np.vstack([R, (halves[pick] @ self.along(look)[pick]).reshape(-1, m)])
            R = np.asarray(np.linalg.qr(R, mode="r"))
        length = np.linalg.norm(R, axis=0)
        steady = R.shape == (m, m) and (np.abs(np.diag(R)) > m * np.finfo(float).eps * length).all()
        return R if steady else None

    def leverages(self, R: Any) -> Any:
        """max over tied k, j of ‖(vₖ − vⱼ) ⊗ zᵢ‖² in H⁻¹: the largest range of scores, squared."""
        V, largest = self.point.contrasts, []
        for look in self.looks():
            G, tied = whiten(R, V @ self.along(look)), self.tied[look.rows]
            most = np.zeros(len(tied))
            for k, j in zip(*np.tril_indices(len(V), -1), strict=True):
                most = np.maximum(most, np.where(tied[:, k] & tied[:, j], np.square(G[:, k] - G[:, j]).sum(axis=1), 0))
            largest.append(most)
        return np.concatenate(largest)

    def coefficients(self) -> Any:
        """The coefficients in the user's units as functions of the weights, in the basis; of classes but the base.

        wₖⱼ = θₖⱼ/scaleⱼ, bₖ = θₖ₀ − Σⱼ θₖⱼ centerⱼ/scaleⱼ, less those of the base, aliased columns at zero.
        """
        point, V = self.point, self.point.contrasts
        d, width, keep = len(point.scale), self.basis.shape[1], point.keep
        units = np.zeros((d + 1, width), np.longdouble)
        units[keep, np.arange(len(keep))] = 1 / point.scale[keep]
        if point.claim.fit_intercept:
            units[d] = np.append(-point.center[keep] / point.scale[keep], 1)
        pairs = V[1:] - V[:1] if len(V) == 2 else V[:-1] - V[-1:]
        return np.einsum("kf,jw,fwm->kjm", pairs, units.astype(float), self.basis, optimize=True)

    def gap(self, claimed: Limit, enough: float, allowed: Any, slip: float) -> float:
        """[ρν + (1 − ρν) log(1 − ρν)]/ρ² if ν, ρ and the distance −log(1 − ρν)/ρ are no more than what is claimed, and
        the distance lets each coefficient be off by no more than is allowed.

        ν² = gᵀM⁻¹g, ρ² the largest leverage, M the Hessian of all rows, or of those not too sure. `slip` is how far
        scores can be off, and so a length.
        """
        if not self.basis.shape[-1]:
            return 0.0  # the loss is constant
        slope, coefficients = self.slope(), self.coefficients()
        unsure = np.concatenate([doubt_of(look.at) for look in self.looks()]) >= TOO_SURE
        for chosen in (np.ones_like(unsure), unsure):
            R = self.root(chosen)
            if R is None:
                continue
            nu, rho = float(np.linalg.norm(whiten(R, slope))), math.sqrt(self.leverages(R)[chosen].max(initial=0))
            bound, way = fall(nu, rho), distance(nu, rho)
            if bound <= enough and allows(claimed, nu, rho, way, slip):
                reach = np.linalg.norm(whiten(R, coefficients), axis=-1) * max(0, way * (1 - SLACK) - slip)
                if (reach <= allowed).all():
                    return bound
        return math.inf


def whiten(R: Any, vectors: Any) -> Any:
    """R⁻ᵀ times each vector, along the last axis."""
    length = np.linalg.norm(R, axis=0)
    columns = (vectors / length).reshape(-1, len(R)).T
    return solve_triangular(R / length, columns, trans="T", check_finite=False).T.reshape(vectors.shape)


def _complement(point: Point, directions: Any) -> Any:
    """An orthonormal basis of what is orthogonal to the directions, contrasts × coordinates × m."""
    W, b, V = directions[:, :, :-1], directions[:, :, -1:], point.contrasts
    U = np.concatenate([(W * point.scale)[:, :, point.keep], b + W @ point.center[:, None]], axis=2)
    U = U[:, :, : len(point.keep) + point.claim.fit_intercept]
    U = np.einsum("kf,qkw->qfw", V, U)
    flat = U.reshape(len(U), -1)
    flat = (flat / np.sqrt(np.square(flat).sum(axis=1, keepdims=True))).astype(float)
    return qr(flat.T)[0][:, len(U) :].reshape(*U.shape[1:], -1)


PARALLEL = 1e-6
"""How far, relative, the weights may be from the ray."""


@np.errstate(all="ignore")  # what is not a number proves nothing
def limit_holds(verdict: Verdict, table: Table, X: Any, y: Any, sample_weight: Any = None) -> bool:
    """Whether the rows prove the direction, the limit of the mean loss along it, and the gap of v."""
    proof, result = verdict.certificate, verdict.separability
    if not isinstance(proof, Limit) or not isinstance(result, Separability):
        return False
    try:
        if not _of_one_problem(verdict.claim, result) or not _fits_together(proof, verdict.claim, result):
            return False
        cases = Cases(result, X, y, sample_weight)
        return prove(result, X, y, sample_weight) and _is_the_limit(verdict, proof, result, table, cases)
    except (TypeError, ValueError, AttributeError, LookupError, np.linalg.LinAlgError):
        return (
            False  # what is no number or no list of them proves nothing; of the data's shape the table has complained
        )


def _of_one_problem(claim: Claim, result: Separability) -> bool:
    """Whether both speak of the same classes, columns and rows, and of a likelihood without a penalty."""
    return bool(
        result.kind == "quasi-separated"
        and tuple(result.classes) == tuple(claim.classes)
        and tuple(result.columns) == tuple(claim.columns)
        and result.fit_intercept == claim.fit_intercept
        and result.count == claim.rows
        and claim.objective == "likelihood"
        and claim.l2 == 0
    )


# ----------------------------------------------------------------------------------------------- the parts of the proof


def _fits_together(proof: Limit, claim: Claim, result: Separability) -> bool:
    """Whether the numbers have their shapes and signs, and follow from each other where they must."""
    many = len(claim.classes) > 2
    if np.shape(proof.weights) != np.shape(claim.weights) or np.size(proof.intercept) != np.size(claim.intercept):
        return False
    V, bounds = _stacked(proof.weights, proof.intercept), _bounds(proof)
    if not np.isfinite(V).all() or (many and V[-1].any()) or (V[:, -1].any() and not claim.fit_intercept):
        return False
    if np.shape(proof.coefficients) != ((len(V), V.shape[1]) if many else V[0].shape) or not (bounds >= 0).all():
        return False
    numbers = [proof.value, proof.deviance, proof.nu, proof.rho, proof.gap, proof.relative_gap, proof.distance]
    if not all(math.isfinite(each) and each >= 0 for each in numbers):
        return False
    if many and not np.isfinite(bounds[-1]).all():
        return False
    return (
        np.array_equal(np.isfinite(bounds[: len(V) - 1]), _finite(result))
        and proof.gap >= fall(proof.nu, proof.rho) * (1 - SLACK)
        and proof.distance >= distance(proof.nu, proof.rho) * (1 - SLACK)
        and math.isclose(proof.relative_gap * proof.value, proof.gap, rel_tol=SLACK, abs_tol=1e-300)
    )


def _stacked(weights: Any, intercept: Any) -> Any:
    """K × (columns, then the intercept); of two classes, the first's are zero."""
    return np.column_stack(per_class(weights, intercept)).astype(np.longdouble)


def _bounds(proof: Limit) -> Any:
    """The bounds of the coefficients, a row for every class that has some."""
    return np.atleast_2d(np.asarray(proof.coefficients, dtype=float))


def _finite(result: Separability) -> Any:
    """Which coefficients stay finite: classes but the base × (columns, then the intercept, finite if there is none)."""
    groups = (
        [result.coefficients] if len(result.classes) == 2 else [result.coefficients[c] for c in result.classes[:-1]]
    )
    stay = [[group[name] == "finite" for name in result.columns] for group in groups]
    return np.column_stack([stay, [not result.fit_intercept or group[INTERCEPT] == "finite" for group in groups]])


# -------------------------------------------------------------------------------------------------- what is to be shown


def _is_the_limit(verdict: Verdict, proof: Limit, result: Separability, table: Table, cases: Cases) -> bool:
    """Whether v has the loss that is claimed, is as near the minimum, and the claim's weights lie beyond it."""
    given = parts_of(result)
    if given is None or not np.array_equal(cases.rows, table.places):
        return False
    tied = tied_classes(given, cases)
    if tied is None or not _on_the_ray(verdict.claim, proof, given, result, table):
        return False
    at_v = replace(verdict, claim=replace(verdict.claim, weights=proof.weights, intercept=proof.intercept))
    ties = Ties.of(at_v, table, given, tied)
    value, slip, total = ties.value(), ties.rounding(), float(table.cost.sum())
    if not math.isclose(proof.value, value, rel_tol=1e-9, abs_tol=1e-12 + slip):
        return False
    if not math.isclose(proof.deviance, 2 * value * total, rel_tol=1e-9, abs_tol=2 * slip * total):
        return False
    enough = proof.gap * (1 + SLACK) + 1e-15 * value + slip * slip
    return ties.gap(proof, enough, _allowed(proof, given, result), slip) <= enough


def _allowed(proof: Limit, given: CertificateParts, result: Separability) -> Any:
    """The bounds of the coefficients; none where aliased columns have weights too, which changes the others."""
    bounds, W = _bounds(proof)[: max(1, len(result.classes) - 1)], np.atleast_2d(proof.weights)
    out = np.setdiff1d(np.arange(W.shape[1]), given.keep)
    return np.full_like(bounds, np.inf) if W[:, out].any() else bounds


def _on_the_ray(claim: Claim, proof: Limit, given: CertificateParts, result: Separability, table: Table) -> bool:
    """w = v + τu, τ ≥ 0, and w = v in the coefficients that stay finite; in units of the columns' largest numbers."""
    w, v = _stacked(claim.weights, claim.intercept), _stacked(proof.weights, proof.intercept)
    size = np.append(np.max([np.abs(X).max(axis=0) for X, *_ in table.chunks()], axis=0), 1)
    own = slice(1, 2) if len(w) == 2 else slice(0, -1)
    if not (np.abs(w - v) <= 4 * EPS * (np.abs(w) + np.abs(v)))[own][_finite(result)].all():
        return False
    u, step, rounding = given.weights * size, (w - v) * size, 8 * EPS * np.linalg.norm((np.abs(w) + np.abs(v)) * size)
    tau = (step * u).sum() / np.square(u).sum()
    return bool(tau >= 0 and (np.abs(step - tau * u) <= PARALLEL * tau * np.abs(u) + rounding).all())
