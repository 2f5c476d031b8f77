"""The check of a limit: that the likelihood goes along a direction that separates some rows, and where to.

`audit_separation` proves the direction and that there is no better one; `audit_ties` rebuilds the likelihood that is
left and bounds how far v is from its maximum.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..results.claims import Claim
from ..results.proofs import Limit
from ..results.separability import INTERCEPT, Separability
from ..results.verdict import Verdict
from .cases import Cases
from .claim import Claim as Given
from .claim import read
from .proofs import fall
from .rows import Table, per_class
from .separation import prove
from .ties import Ties, distance, tied_classes

SLACK, PARALLEL = 1e-6, 1e-6
"""Relative: what the certificate's own rounding may make of a bound; how far the weights may be from the ray."""
EPS = float(np.finfo(float).eps)


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
    given = read(result)
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
    ignored = 1e-15 * value + slip * slip
    enough = proof.gap * (1 + SLACK) + ignored
    return ties.gap(enough, _allowed(proof, given, result), math.sqrt(2 * ignored)) <= enough


def _allowed(proof: Limit, given: Given, result: Separability) -> Any:
    """The bounds of the coefficients; none where aliased columns have weights too, which changes the others."""
    bounds, W = _bounds(proof)[: max(1, len(result.classes) - 1)], np.atleast_2d(proof.weights)
    out = np.setdiff1d(np.arange(W.shape[1]), given.keep)
    return np.full_like(bounds, np.inf) if W[:, out].any() else bounds


def _on_the_ray(claim: Claim, proof: Limit, given: Given, result: Separability, table: Table) -> bool:
    """w = v + τu, τ ≥ 0, and w = v in the coefficients that stay finite; in units of the columns' largest numbers."""
    w, v = _stacked(claim.weights, claim.intercept), _stacked(proof.weights, proof.intercept)
    size = np.append(np.max([np.abs(X).max(axis=0) for X, *_ in table.chunks()], axis=0), 1)
    own = slice(1, 2) if len(w) == 2 else slice(0, -1)
    if not (np.abs(w - v) <= 4 * EPS * (np.abs(w) + np.abs(v)))[own][_finite(result)].all():
        return False
    u, step, rounding = given.weights * size, (w - v) * size, 8 * EPS * np.linalg.norm((np.abs(w) + np.abs(v)) * size)
    tau = (step * u).sum() / np.square(u).sum()
    return bool(tau >= 0 and (np.abs(step - tau * u) <= PARALLEL * tau * np.abs(u) + rounding).all())
