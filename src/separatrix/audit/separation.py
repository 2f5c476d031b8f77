"""The check of a separability: data and certificate in, yes or no out, as exact arithmetic would have it.

A rule is looked at on every signed row, `audit.cases`. Signed rows that balance, `audit.balance`, show that no rule can
do better: one that errs nowhere is zero on each of them, so on all that they span. It shares no code with what found
the certificate, so that an error there cannot confirm itself here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from ..results.separability import INTERCEPT, KINDS, Combination, LazyMapping, Separability, SeparationProof
from .balance import crosses, spans
from .cases import Cases, Rule, SignedRows, explained, signs
from .exact import independent
from .rows import largest

MOST = 2.0**-30
"""The largest relative change of the numbers of X that can still be called one of their last places."""


class CertificateParts(NamedTuple):
    """The certificate with an entry for every class, column and the intercept; of two classes, the first's are zero."""

    weights: Any
    """K × (columns, then the intercept), or None."""
    directions: Any
    keep: Any
    """The columns that are not aliased."""
    slack: float


def parts_of(result: Separability) -> CertificateParts | None:
    """The parts of the certificate, if they fit together."""
    try:
        return _read(result)
    except (TypeError, ValueError, AttributeError):  # what is no number or no list of them proves nothing
        return None


def _read(result: Separability) -> CertificateParts | None:
    proof: Any = result.certificate
    d, rank = len(result.columns), result.rank
    if not isinstance(proof, SeparationProof) or len(result.classes) < 2 or result.kind not in KINDS:
        return None
    aliased = set(rank.aliased)
    if len(aliased) < len(rank.aliased) or not aliased <= set(result.columns) or not 0 <= proof.perturbation <= MOST:
        return None
    unknown = rank.rank is None and result.kind == "separated" and not aliased  # a rule of all columns needs no rank
    if rank.of != d + result.fit_intercept or not (unknown or rank.rank == rank.of - len(aliased)):
        return None
    keep = np.array([j for j, name in enumerate(result.columns) if name not in aliased], dtype=np.intp)
    weights, directions = _weights(result, proof), _directions(result, proof)
    parts = result.kind != "overlap", result.kind == "quasi-separated", result.kind != "separated"
    if directions is None or (parts[0] != (weights is not None)) or parts[1] != bool(len(directions)):
        return None
    if any(isinstance(each, Combination) != parts[2] for each in (proof.balance, proof.crossing)):
        return None
    if not _rows_fit(result) or not np.isfinite(proof.margin) or (proof.margin > 0) != parts[0]:
        return None
    out = np.setdiff1d(np.arange(d + 1), keep)[: -1 if result.fit_intercept else None]
    entries = [directions] if weights is None else [directions, weights[None]]
    if any(each[:, :, out].any() or not np.isfinite(each).all() for each in entries):
        return None
    return CertificateParts(weights, directions, keep, float(proof.perturbation))


def _weights(result: Separability, proof: SeparationProof) -> Any:
    """K × (columns, then the intercept), or None if they are missing or of another shape."""
    classes, d = len(result.classes), len(result.columns)
    if proof.weights is None:
        return None
    w, b = np.asarray(proof.weights, dtype=float), np.asarray(proof.intercept, dtype=float).ravel()
    if w.shape != ((d,) if classes == 2 else (classes, d)) or len(b) != len(w.reshape(-1, d)):
        return None
    W = np.column_stack([w.reshape(-1, d), b])
    return np.vstack([np.zeros_like(W), W]) if classes == 2 else W


def _directions(result: Separability, proof: SeparationProof) -> Any:
    """q × K × (columns, then the intercept), or None if they are of another shape; without an intercept it may lack."""
    classes, d = len(result.classes), len(result.columns)
    U = np.asarray(proof.directions, dtype=float)
    q, blocks = (len(U), () if classes == 2 else (classes,)) if U.ndim else (0, (0,))
    if not U.size:
        return np.zeros((0, classes, d + 1))
    if not result.fit_intercept and U.shape == (q, *blocks, d):
        U = np.concatenate([U, np.zeros((*U.shape[:-1], 1))], axis=-1)
    if U.shape != (q, *blocks, d + 1):
        return None
    return np.stack([np.zeros_like(U), U], axis=1) if classes == 2 else U


def _rows_fit(result: Separability) -> bool:
    """Whether the rows are numbers in order, each once, with as many names."""
    for rows in (result.rows, result.partly):
        rows = np.asarray(rows)
        if rows.ndim != 1 or (rows.size and (rows.dtype.kind not in "iu" or (np.diff(rows) <= 0).any())):
            return False
    return len(result.row_names) == len(result.rows)


JOINT = 2.0**-20
"""How far from zero a combination of directions may be that are zero one by one, within the slack."""


@np.errstate(all="ignore")  # what is not a number proves nothing
def prove(result: Separability, X: Any, y: Any, sample_weight: Any = None) -> bool:
    """Whether the result's kind, rows and coefficients hold on these rows."""
    claim = parts_of(result)
    if claim is None:
        return False
    cases = Cases(result, X, y, sample_weight)
    if cases.X.shape[0] != result.count or not cases.known or not len(cases.rows):
        return False
    if len(claim.keep) < len(result.columns) and not explained(cases, claim.keep, result.fit_intercept):
        return False
    return _coefficients_hold(result, claim) and _separates(result, claim, cases) and _maximal(result, claim, cases)


# ------------------------------------------------------------------------------------------------- what is to be shown


def _coefficients_hold(result: Separability, claim: CertificateParts) -> bool:
    """Whether what is said of every coefficient follows from the directions and agrees with the weights."""
    classes, given = result.classes, cast(Any, result.coefficients)
    if isinstance(given, LazyMapping) and not given.known:
        return result.rank.rank is not None  # nothing has been said of them yet
    names = [*result.columns, *([INTERCEPT] if result.fit_intercept else [])]
    entries = [*range(len(result.columns)), *([-1] if result.fit_intercept else [])]
    if not isinstance(given, Mapping):
        return False
    if len(classes) > 2 and (len(given) != len(classes) - 1 or any(k not in given for k in classes[:-1])):
        return False
    aliased = set(result.rank.aliased)
    tables = [(given, 1, 0)] if len(classes) == 2 else [(given[c], k, -1) for k, c in enumerate(classes[:-1])]
    for table, own, base in tables:
        if not isinstance(table, Mapping) or len(table) != len(names) or any(name not in table for name in names):
            return False
        for name, j in zip(names, entries, strict=True):
            moves = bool((claim.directions[:, own, j] != claim.directions[:, base, j]).any())
            lead = 0.0 if claim.weights is None else float(claim.weights[own, j] - claim.weights[base, j])
            unknown = result.rank.rank is None or name in aliased
            if table[name] not in _possible(result.kind, unknown, moves, lead):
                return False
    return True


def _possible(kind: str, unknown: bool, moves: bool, lead: float) -> list[str]:
    """What may be said of a coefficient that the directions move or not, and the weights lead this way."""
    if unknown:
        return ["undetermined"]
    if kind == "overlap" or (kind == "quasi-separated" and not moves):
        return ["finite"]
    return ["undetermined", *["+inf"] * (lead > 0), *["-inf"] * (lead < 0)]


def _separates(result: Separability, claim: CertificateParts, cases: Cases) -> bool:
    """Whether the weights are positive on the rows that are called separated, zero on the others, negative nowhere;
    and every direction zero where the weights are.
    """
    if claim.weights is None:
        return not len(result.rows) and not len(result.partly)
    others = [each for each in claim.directions if not np.array_equal(each, claim.weights)]
    rules = [Rule(each[:, :-1], each[:, -1]) for each in (claim.weights, *others)]
    fully, partly, zeros = [], [], 0
    for rows, X in cases.chunks():
        i, own, other = cases.pairs(rows)
        found = signs(X, i, own, other, rules[0], claim.slack)
        zero = np.flatnonzero(found == 0)
        if (found < 0).any():
            return False
        if any(signs(X, i[zero], own[zero], other[zero], rule, claim.slack).any() for rule in rules[1:] if len(zero)):
            return False
        ahead, all_ = np.bincount(i[found > 0], minlength=len(rows)), np.bincount(i, minlength=len(rows))
        fully.append(rows[ahead == all_])
        partly.append(rows[(ahead > 0) & (ahead < all_)])
        zeros += len(zero)
    some = any(len(each) for each in (*fully, *partly))
    return bool(
        some
        and (zeros > 0) == (result.kind == "quasi-separated")
        and np.array_equal(np.concatenate(fully), result.rows)
        and np.array_equal(np.concatenate(partly), result.partly)
    )


def _maximal(result: Separability, claim: CertificateParts, cases: Cases) -> bool:
    """Whether the balance spans all that is orthogonal to the directions: then no more rows can be separated."""
    if result.kind == "separated":
        return True
    proof, width = result.certificate, (len(result.classes) - 1) * (len(claim.keep) + result.fit_intercept)
    if not _are_independent(claim.directions) or not _are_apart(claim, cases):
        return False
    for given, holds in ((proof.balance, spans), (proof.crossing, crosses)):
        signed = SignedRows.of(cases, claim.keep, result.fit_intercept, given)
        if signed is None or not _untouched(signed, claim) or (holds is crosses and len(signed) > width + 1):
            return False
        if not holds(signed, width - len(claim.directions), claim.slack):
            return False
    return True


def _untouched(signed: SignedRows, claim: CertificateParts) -> bool:
    """Whether the weights are zero on these rows, so that the directions are too."""
    if claim.weights is None or not len(signed):
        return True
    rule, every = Rule(claim.weights[:, :-1], claim.weights[:, -1]), np.arange(len(signed))
    return not bool(signs(signed.cases.at(signed.rows), every, signed.own, signed.other, rule, claim.slack).any())


def _are_independent(U: Any) -> bool:
    """Whether no combination of the directions is the same for all classes, which changes nothing."""
    q, classes, entries = U.shape
    if not q:
        return True
    for base in (0, classes - 1):
        if not U[:, base].any():  # the same for all classes is then zero for all
            rest = np.delete(U, base, axis=1).reshape(q, -1)
            return bool(len(independent(rest[:, rest.any(axis=0)], q)[0]) == q)
    same, rank = np.tile(np.eye(entries), (1, classes)), int(q + entries)
    return len(independent(np.vstack([U.reshape(q, -1), same]), rank)[0]) == rank


def _are_apart(claim: CertificateParts, cases: Cases) -> bool:
    """Whether the directions are so far from dependent, beside the slack, that their combinations are zero as they are.

    In units of the largest number of each column, against the last class.
    """
    q = len(claim.directions)
    if not claim.slack or q < 2:
        return True
    size = np.max([largest(X) for _, X in cases.chunks()], axis=0)
    U = ((claim.directions - claim.directions[:, -1:]) * np.append(size, 1)).reshape(q, -1)
    least = np.linalg.svd(U / np.linalg.norm(U, axis=1, keepdims=True), compute_uv=False)[-1]
    return bool(claim.slack * q <= JOINT * least)
