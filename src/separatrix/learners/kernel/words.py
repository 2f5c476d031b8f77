"""How a kernel perceptron's run ended, in a verdict."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...data.kernels.gram import CustomKernel, Matrix, Objects
from ...fitting.scan.perceptron import TIES, NotFiniteScoreError
from ...numerics.arrays import Floats
from ...numerics.linalg import EPS
from ...results.claims import KernelClaim
from ...results.proofs import KernelSeparation
from ...results.verdict import Rank, Verdict
from ...wording import setting
from ..perceptron.words import by_a_hair, counted, on_the_boundary, rows_read, still_wrong, stopped


class Standing(NamedTuple):
    """How the last weights do on the training rows."""

    mistakes: int
    leads: Floats
    """yᵢs(xᵢ); of K classes the least s_y − sₖ."""
    margin: float
    """The least lead in units of the weights' length."""
    length: float
    separated: bool
    longest: float
    """The largest k(x, x)."""


@np.errstate(over="ignore", invalid="ignore")
def standing(s: Floats, target: Any, support: Any, A: Floats, longest: float, terms: int) -> Standing:
    """From the scores of all rows: lengths of weights are ⟨wₖ, wⱼ⟩ = Σᵢ αₖᵢ sⱼ(xᵢ).

    `longest` is the largest k(x, x); `terms` is how many operations a score took, here and in the check, each of which
    may have moved it by rounding. A separation is claimed only where the check will find it too.
    """
    if not np.isfinite(s).all():
        raise NotFiniteScoreError
    inner = A @ s[:, support].T
    length = math.sqrt(max(0.0, float(np.trace(inner))))
    if len(s) == 1:
        leads = np.where(target == 1, s[0], -s[0])
        wrong = (s[0] > 0) != (target == 1)
        margin = float(leads.min()) / (length or 1.0)
    else:
        lead = s[target, np.arange(s.shape[1])] - s
        lead[target, np.arange(s.shape[1])] = math.inf
        squares = np.diagonal(inner)
        apart = np.sqrt(np.maximum(squares + squares[:, None] - inner - inner.T, 0))
        apart = np.where(apart > 0, apart, 1.0)
        leads, wrong = lead.min(axis=0), s.argmax(axis=0) != target
        margin = float((lead / apart[target].T).min())
    doubt = 10 * (terms + 8) * EPS * longest * float(np.abs(A).sum(axis=1).max(initial=0))
    return Standing(int(wrong.sum()), leads, margin, length, bool(leads.min() > doubt), longest)


def conclude(model: Any, course: Any, at: Standing, support: Any, A: Floats, ended: str) -> Verdict:
    """*separated*, if the last weights separate the rows; else *budget* or *interrupted*."""
    n, total = len(course.rows), int(model.mistakes_.sum())
    read = rows_read(model.n_passes_, n, course.passes.order)
    kernel = course.kernel
    shown = None if isinstance(kernel, Matrix) else kernel.function if isinstance(kernel, CustomKernel) else kernel
    coefficients = A[0] if len(A) == 1 else A
    claim = KernelClaim(
        tuple(model.classes_.tolist()), shown, support.astype(np.intp), coefficients, course.lifted, at.mistakes / n, n,
        tabular=not isinstance(course.rows, Objects),
    )  # fmt: skip
    rank = Rank(None, len(support), ())
    if ended == "interrupted":
        return Verdict("interrupted", rank, None, *stopped(read, total, resumes=False), claim)
    if at.separated:
        who = "The rule separates" if model.reading == "last" else "The last weights separate"
        cause = (
            f"{who} the classes: all {n} rows are on their own side in the space of the kernel, the "
            f"nearest at a distance of {at.margin:.3g}. It took {counted(total, 'mistake')} on "
            f"{counted(len(support), 'row')} in {read}.{_limited(model)}"
        )
        remedy = "" if model.reading == "last" else f"Nothing is proved of the {model.reading} reading, which predicts."
        return Verdict("separated", rank, KernelSeparation(at.margin, at.length), cause, remedy, claim)
    return Verdict("budget", rank, None, *_not_separated(model, course, at, ended), claim)


def _not_separated(model: Any, course: Any, at: Standing, ended: str) -> tuple[str, str]:
    if ended == "clean":
        return by_a_hair() if all(TIES[course.ties]) else on_the_boundary(course.ties, at.mistakes)
    stands = still_wrong(model.mistakes_, model.n_passes_, len(course.rows), course.passes.order)
    cause = f"{stands} The last weights err on {at.mistakes} of {len(course.rows)} rows.{_limited(model)}"
    if ended == "patience":
        cause += f" It ended because the weights had not changed for {counted(course.passes.patience, 'step')}."
    if model.budget_ is not None:
        return cause, "More passes or a larger budget may help."
    if model.reading != "last":
        return cause, f"Nothing is proved of the {model.reading} reading; more passes may help."
    return cause, (
        f"More passes may help, unless equal rows have different labels; {setting('reading', 'averaged')} is steadier "
        "where the classes overlap."
    )


def _limited(model: Any) -> str:
    cost = model.budget_
    if cost is None or not cost.times:
        return ""
    full = f" The budget of {cost.budget} rows was full: {cost.times}"
    if cost.overflow == "remove":
        return f"{full} rows were removed again."
    part = f"{cost.lost / cost.made:.0%} of the length of all that was learnt" if cost.made else "nothing"
    return f"{full} mistakes were projected upon the rows kept, which left out {part}."
