"""How learners on joint features ended: from an outcome, or a run, to a verdict.

Where a fit has proved no optimum it looks closer: do some weights separate the classes? With z = Φ(x, y) − Φ(x, c) for
every row and every other class c, a likelihood has no maximum iff some θ has θ·z ≥ 0 for all z and > 0 for some. That
is the question whether two classes are separated, without an intercept: every second z is turned round and given the
other label.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...fitting.certificates.joint import weight_bounds
from ...fitting.joint import JointOutcome, JointProblem, joint_loss, minimise_joint
from ...fitting.minimise import NOTHING
from ...fitting.problem import NotFiniteError
from ...fitting.risk.joint import Sample
from ...fitting.scan.joint_scan import joint_tally, separated_by
from ...fitting.scan.perceptron import FOREVER, TIES
from ...fitting.scan.run import Run
from ...fitting.scan.tally import Tally
from ...geometry.separation.search import HiddenSeparationError
from ...losses.penalty import NoPenalty
from ...numerics.arrays import Floats
from ...results.claims import JointClaim
from ...results.proofs import Limit, Locality, Optimality, Proof, Separation
from ...results.separability import Separability
from ...results.verdict import Rank, Verdict
from ...wording import learner, setting
from ..checks.targets import Targets, rows_of
from ..geometry.separability import result_of, separation_of
from ..logistic import words
from ..logistic.words import Words
from ..perceptron.words import counted, rows_read, still_wrong, stopped
from .base import JointTraining

MOST_WEIGHTS = 1500
"""Features, beyond which a fit does not look closer."""
MOST_NUMBERS = 1 << 25
"""Numbers in all z, beyond which a fit does not look closer."""
SHARP = 1e-6
"""What is left of the likelihood is asked for a gap smaller by this: one more step of Newton's."""
SURE = 40.0
"""The log-odds that separated rows are given in the weights that stand for the limit: e⁻⁴⁰ is nothing beside 1."""


class CloserLook(NamedTuple):
    """How the z lie, and what the likelihood tends to where some of them are separated."""

    result: Separability
    limit: JointOutcome | None
    stand_in: Floats | None
    """Finite weights v + tu with which every separated z is as good as certain; if all are, u."""


def signed_rows(sample: Sample) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
    """z = Φ(x, y) − Φ(x, c), its row and its c: row by row for all c ≠ y; then −z of every c that the row may be too.

    Such a row must not be behind either way.
    """
    forth, back = [], []
    for run in sample.features.runs():
        E, target = sample.differences(run), sample.target[run]
        other = np.arange(E.shape[1]) != sample.own[run][:, None]
        i, k = np.nonzero(other)
        forth.append((-E[i, k], i + run.start, k))
        if target.ndim == 2:
            i, k = np.nonzero(other & (target > 0))
            back.append((E[i, k], i + run.start, k))
    z, row, c = (np.concatenate(parts) for parts in zip(*forth, *back, strict=True))
    return z, row, c


def look_closer(problem: JointProblem, outcome: JointOutcome) -> CloserLook | None:
    """Only where maximum likelihood may have no finite answer: no optimum was proved, or a separating θ was."""
    n, K, p = problem.sample.features.shape
    unproved = outcome.status == "separated" or (outcome.status == "budget" and outcome.bounds is None)
    if (
        not problem.penalty.idle
        or not problem.loss.convex
        or not unproved
        or p > MOST_WEIGHTS
        or n * K * p > MOST_NUMBERS
    ):
        return None
    Z, row, other = signed_rows(problem.sample)
    turned = np.arange(len(Z)) % 2 == 1
    Z[turned] *= -1
    targets = Targets(np.array([0, 1]), (~turned).astype(np.intp), None)
    try:
        found, proved = separation_of(rows_of(Z, targets, np.empty(0), (1.0, 1.0), compiled=False), 2, False)
    except HiddenSeparationError:
        return None
    result = result_of(found, proved, (0, 1), problem.sample.features.names, None)
    u = proved.proof.weights
    if result.kind == "overlap" or u is None:
        return CloserLook(result, None, None)
    if result.kind == "separated":
        holds = separated_by(problem.sample.features, problem.sample.own.astype(np.int64), u)
        return CloserLook(result, None, u) if holds else None
    apart = np.zeros((n, K), bool)
    apart[row[result.rows], other[result.rows]] = True
    limit = _limit_outcome(problem, ~apart)
    if limit is None:
        return None
    Z[turned] *= -1
    ahead = Z[result.rows]
    t = float(((SURE - ahead @ limit.theta) / (ahead @ u)).max())
    return CloserLook(result, limit, limit.theta + max(t, 0.0) * u)


def _limit_outcome(problem: JointProblem, among: NDArray[np.bool_]) -> JointOutcome | None:
    """The maximum of the likelihood among the classes that each row is not separated from."""
    whole = problem.sample
    left = JointProblem(
        Sample(whole.features, whole.target, whole.share, among), problem.loss, NoPenalty(), problem.free,
        SHARP * problem.tol, max(problem.max_passes, 100), np.zeros(problem.init.size),
    )  # fmt: skip
    try:
        ended = _last(minimise_joint(left))
    except NotFiniteError:
        return None
    enough = problem.tol * max(ended.value, NOTHING)
    return ended if ended.bounds is not None and ended.bounds.gap <= enough else None


def _last(run: Iterator[object]) -> JointOutcome:
    while True:
        try:
            next(run)
        except StopIteration as end:
            outcome: JointOutcome = end.value
            return outcome


def after_closer_look(outcome: JointOutcome, closer: CloserLook | None, problem: JointProblem) -> JointOutcome:
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
    outcome: JointOutcome, problem: JointProblem, claim: JointClaim, closer: CloserLook | None, total: float
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
    rank = Rank(p - len(names), p, names) if problem.penalty.idle else Rank(None, p, ())
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
        f"Use the weights as they are; or ask for finite ones with {setting('l2')} > 0; or leave out what gives the "
        "class away.",
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
        f"Penalise with {setting('l2')} > 0; or leave out or merge the features that give the class away.",
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
            f"Loosen {setting('tol')}."
            if outcome.stalled
            else f"Raise {setting('max_passes')} above {problem.max_passes:g}, or loosen {setting('tol')}.",
        )
    known = " No weights put a class ahead anywhere without putting one behind elsewhere, so there is a minimum." if (
        result is not None and result.kind == "overlap"
    ) else ""  # fmt: skip
    if not problem.loss.convex:
        known = " The squared error may come nearest to its least value as some weights grow for ever."
    more = f"Penalise with {setting('l2')} > 0" if problem.penalty.idle else "Penalise more"
    return Words(
        f"Not proved: {spent} the mean loss is {outcome.value:.8g}, and neither a minimum nor its absence is "
        f"certain{ended}.{known}",
        f"{more}, look for features that are nearly "
        "combinations of others"
        + ("." if outcome.stalled else f", or raise {setting('max_passes')} above {problem.max_passes:g}."),
    )


def perceptron_verdict(claim: JointClaim, found: Tally, mistakes: NDArray[np.int64], run: Run, ties: str) -> Verdict:
    """*separated*, with θ as the certificate, if it separates the rows; else *budget* or *interrupted*."""
    rank, total, passes = Rank(None, claim.weights.size, ()), int(mistakes.sum()), run.planned
    read = rows_read(run.passes, claim.rows, passes.order)
    if run.ended == "interrupted":
        return Verdict("interrupted", rank, None, *stopped(read, total, resumes=True), claim)
    if found.separated:
        cause = (
            f"The weights separate the classes: on all {claim.rows} rows the own class is the strongest, by "
            f"{found.margin:.3g} of the length of θ at the least. It took {counted(total, 'mistake')} in {read}."
        )
        return Verdict("separated", rank, Separation(claim.weights, 0.0, found.margin), cause, "", claim)
    cause = (
        f"No separating weights were found: {still_wrong(mistakes, run.passes, claim.rows, passes.order)} The weights "
        f"err on {found.mistakes} of {claim.rows} rows."
    )
    remedy = f"More passes may help; {learner('JointClassifier')} says whether any weights separate the classes."
    if run.ended == "clean" and not all(TIES[ties]):
        cause = (
            f"A whole pass made no mistake, because {setting('ties', ties)} lets a class win at equal scores; but "
            f"predict takes the first of the strongest, and errs on {found.mistakes} of {claim.rows} rows."
        )
        remedy = f"With {setting('ties', 'mistake')} equal scores move the weights."
    elif run.ended == "clean":
        cause = (
            "A whole pass made no mistake, but the weights that are kept do not part the classes beyond rounding, so "
            "no separation is claimed."
        )
    elif run.ended == "patience" and passes.patience < FOREVER:
        cause += f" It ended because θ had not changed for {counted(passes.patience, 'step')}."
    return Verdict("budget", rank, None, cause, remedy, claim)


def claim_of(training: JointTraining, theta: Floats, value: float, **more: Any) -> JointClaim:
    """What is claimed of θ."""
    return JointClaim(
        tuple(training.classes.tolist()), training.bound, theta.copy(), value=value, rows=len(training.rows),
        tabular=training.rows.tabular, **more,
    )  # fmt: skip
