"""From the outcome of a fit on joint features to its verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...fitting.certificates.joint import weight_bounds
from ...fitting.joint import JointOutcome, JointProblem, joint_loss
from ...fitting.scan.joint_run import joint_tally
from ...results.claims import JointClaim
from ...results.proofs import Limit, Locality, Optimality, Proof, Separation
from ...results.separability import Separability
from ...results.verdict import Rank, Verdict
from ..logistic import words
from ..logistic.words import Words
from .joint_closer import JointCloser


def seen_closer(outcome: JointOutcome, closer: JointCloser | None, problem: JointProblem) -> JointOutcome:
    """The outcome as it is after the closer look."""
    if closer is None or closer.stand_in is None:
        return outcome
    if closer.limit is not None:
        return replace(outcome, status="quasi-separated", theta=closer.stand_in, value=closer.limit.value, bounds=None)
    if outcome.status == "separated":
        return outcome
    value = joint_loss(problem, closer.stand_in)
    return replace(outcome, status="separated", theta=closer.stand_in, value=value)


def joint_verdict(
    outcome: JointOutcome, problem: JointProblem, claim: JointClaim, closer: JointCloser | None, total: float
) -> Verdict:
    """What a fit that came to its end can say."""
    certificate: Proof | None = None
    result = closer.result if closer is not None else None
    if outcome.status == "separated":
        margin = joint_tally(problem.sample.features, problem.sample.own.astype(np.int64), outcome.theta).margin
        certificate = Separation(outcome.theta, 0.0, margin)
        said = _separated(claim, margin, result)
    elif outcome.status == "quasi-separated":
        assert closer is not None
        assert closer.limit is not None
        certificate = _limit(closer.limit, total)
        said = _quasi(closer.result, certificate)
    else:
        certificate = _certificate(outcome)
        said = _said(outcome, problem, result)
    p, aliased = outcome.theta.size, outcome.basis.aliased
    names = tuple(problem.sample.features.names[j] for j in aliased)
    rank = Rank(p - len(names), p, names) if problem.l2 == 0 else Rank(None, p, ())
    return Verdict(outcome.status, rank, certificate, *said, claim, result)


def interrupted_joint(claim: JointClaim, passes: float) -> Verdict:
    """What a fit that was stopped can say."""
    said = words.interrupted(passes, claim.value)
    return Verdict("interrupted", Rank(None, claim.weights.size, ()), None, *said, claim)


def _certificate(outcome: JointOutcome) -> Optimality | Locality | None:
    found = outcome.bounds
    if found is None:
        return None
    relative = found.gap / outcome.value if outcome.value else 0.0
    off = weight_bounds(outcome.basis, outcome.theta, found)
    if not found.only:
        return Locality(found.nu, found.rho, found.gap, relative, found.distance, off)
    return Optimality(found.nu, found.rho, found.gap, relative, found.distance, off, found.share)


def _limit(limit: JointOutcome, total: float) -> Limit:
    found, basis = limit.bounds, limit.basis
    assert found is not None
    spread = weight_bounds(basis, limit.theta, found)
    moved = np.zeros(limit.theta.size, bool)  # by what changes no score that is left
    moved[basis.aliased] = True
    moved[basis.kept[(np.abs(basis.combination) > 1e-9).any(axis=1)]] = True
    return Limit(
        limit.theta, 0.0, limit.value, 2 * total * limit.value, found.nu, found.rho, found.gap,
        found.gap / limit.value if limit.value else 0.0, found.distance, np.where(moved, np.inf, spread),
    )  # fmt: skip


def _separated(claim: JointClaim, margin: float, result: Separability | None) -> Words:
    gone = "" if result is None else f" {_gone(result)}"
    what = "squared error has no minimum: it falls" if claim.objective == "squared" else (
        "likelihood has no maximum: it rises"
    )  # fmt: skip
    return Words(
        f"Separated: on all {claim.rows} rows the own class is the strongest, by {margin:.3g} of the length of θ at "
        f"the least. So the {what} for ever as the weights grow, and the probabilities tend to 0 and 1.{gone}",
        "Use the weights as they are; or ask for finite ones with l2 > 0; or leave out what gives the class away.",
    )


def _gone(result: Separability) -> str:
    """What becomes of each weight; of weights that are not unique, of those without the features that are aliased."""
    said = result.coefficients_in_words()
    return f"Without the features that are combinations of others: {said}" if result.rank.aliased else said


def _quasi(result: Separability, limit: Limit) -> Words:
    ahead, all_ = len(result.rows), result.count
    return Words(
        f"Quasi-separated: some weights put the own class ahead in {ahead} of {all_} comparisons of a row's own class "
        f"with another, and behind in none, so the likelihood has no maximum: it rises for ever as the weights grow "
        f"that way. {_gone(result)} The deviance falls to {limit.deviance:.6g} and never below.",
        "Penalise with l2 > 0; or leave out or merge the features that give the class away.",
    )


def _said(outcome: Any, problem: JointProblem, result: Separability | None) -> Words:
    """Of an optimum, proved or not."""
    if outcome.status == "optimal":
        return words.optimal(outcome, problem.tol)
    if outcome.status == "local":
        return words.local(outcome, problem.tol)
    spent, found = f"after {outcome.passes:.3g} passes", outcome.bounds
    ended = "; rounding allows no further step" if outcome.stalled else ""
    if found is not None:
        near = found.gap / outcome.value
        return Words(
            f"Not finished: {spent} a minimum is known to exist, and the mean loss {outcome.value:.8g} is at most "
            f"{near:.1e} of itself above it, where {problem.tol:g} was asked{ended}.",
            "Loosen tol." if outcome.stalled else f"Raise max_passes above {problem.max_passes:g}, or loosen tol.",
        )
    known = " No weights put a class ahead anywhere without putting one behind elsewhere, so there is a minimum." if (
        result is not None and result.kind == "overlap"
    ) else ""  # fmt: skip
    if not problem.loss.convex:
        known = " The squared error may come nearest to its least value as some weights grow for ever."
    return Words(
        f"Not proved: {spent} the mean loss is {outcome.value:.8g}, and neither a minimum nor its absence is "
        f"certain{ended}.{known}",
        f"Penalise {'more' if problem.l2 else 'with l2 > 0'}, look for features that are nearly combinations of others"
        + ("." if outcome.stalled else f", or raise max_passes above {problem.max_passes:g}."),
    )
