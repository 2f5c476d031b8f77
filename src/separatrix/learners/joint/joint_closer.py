"""A closer look at a fit on joint features that has proved no optimum: do some weights separate the classes?

With z = Φ(x, y) − Φ(x, c) for every row and every other class c, a likelihood has no maximum iff some θ has θ·z ≥ 0 for
all z and > 0 for some. That is the question whether two classes are separated, without an intercept: every second z is
turned round and given the other label.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...fitting.joint import JointOutcome, JointProblem, minimise_joint
from ...fitting.problem import NotFiniteError
from ...fitting.risk.joint import Sample
from ...fitting.scan.joint_run import separated_by
from ...fitting.watch import NOTHING
from ...geometry.separation.search import TroubleError
from ...numerics.arrays import Floats
from ...results.separability import Separability
from ..checks.targets import Targets, rows_of
from ..geometry.separability import result_of, separation_of

MOST_WEIGHTS, MOST_NUMBERS = 1500, 1 << 25
"""Features, and numbers in all z, beyond which a fit does not look closer."""
SHARP = 1e-6
"""What is left of the likelihood is asked for a gap smaller by this: one more step of Newton's."""
SURE = 40.0
"""The log-odds that separated rows are given in the weights that stand for the limit: e⁻⁴⁰ is nothing beside 1."""


class JointCloser(NamedTuple):
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


def look_closer(problem: JointProblem, outcome: JointOutcome) -> JointCloser | None:
    """Only where maximum likelihood may have no finite answer: no optimum was proved, or a separating θ was."""
    n, K, p = problem.sample.features.shape
    unproved = outcome.status == "separated" or (outcome.status == "budget" and outcome.bounds is None)
    if problem.l2 or not problem.loss.convex or not unproved or p > MOST_WEIGHTS or n * K * p > MOST_NUMBERS:
        return None
    Z, row, other = signed_rows(problem.sample)
    turned = np.arange(len(Z)) % 2 == 1
    Z[turned] *= -1
    targets = Targets(np.array([0, 1]), (~turned).astype(np.intp), None)
    try:
        found, proved = separation_of(rows_of(Z, targets, np.empty(0), (1.0, 1.0), compiled=False), 2, False)
    except TroubleError:
        return None
    result = result_of(found, proved, (0, 1), problem.sample.features.names, None)
    u = proved.proof.weights
    if result.kind == "overlap" or u is None:
        return JointCloser(result, None, None)
    if result.kind == "separated":
        holds = separated_by(problem.sample.features, problem.sample.own.astype(np.int64), u)
        return JointCloser(result, None, u) if holds else None
    apart = np.zeros((n, K), bool)
    apart[row[result.rows], other[result.rows]] = True
    limit = _limit(problem, ~apart)
    if limit is None:
        return None
    Z[turned] *= -1
    ahead = Z[result.rows]
    t = float(((SURE - ahead @ limit.theta) / (ahead @ u)).max())
    return JointCloser(result, limit, limit.theta + max(t, 0.0) * u)


def _limit(problem: JointProblem, among: NDArray[np.bool_]) -> JointOutcome | None:
    """The maximum of the likelihood among the classes that each row is not separated from."""
    whole = problem.sample
    left = JointProblem(
        Sample(whole.features, whole.target, whole.share, among), problem.loss, 0.0, problem.free, SHARP * problem.tol,
        max(problem.max_passes, 100), np.zeros(problem.init.size), limited=True,
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
