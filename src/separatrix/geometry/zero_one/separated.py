"""A rule that is right on given rows, where there is one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from .counting import Kept, counted, seems_wrong
from .faces import apart, rules_on_faces
from .frame import Frame
from .problem import Problem


def firm(problem: Problem, frame: Frame, weights: Floats, intercept: float, most: int, seconds: float) -> Kept | None:
    """The rule; where rounding decides on a row, another that is right where this one seems to be, if it costs less."""
    kept = counted(problem, weights, intercept)
    if kept is not None:
        return kept
    wrong = seems_wrong(problem, weights, intercept)
    if wrong is None or problem.paid(wrong) >= most:
        return None
    return rule_for(problem, frame, ~wrong, seconds)


def rule_for(problem: Problem, frame: Frame, right: NDArray[np.bool_], seconds: float) -> Kept | None:
    """A rule for which these rows are right, with room to spare where that can be; None if none is found."""
    best: Kept | None = None
    for weights, intercept in _candidates(problem, frame, right, seconds):
        kept = counted(problem, weights, intercept)
        if kept is not None and (best is None or kept.cost < best.cost):
            best = kept
        if best is not None and not best.wrong[right].any():
            break
    return best


def _candidates(
    problem: Problem, frame: Frame, right: NDArray[np.bool_], seconds: float
) -> Iterator[tuple[Floats, float]]:
    v = apart(frame.A[right], np.ones(int(right.sum()), bool), seconds)
    if v is not None:
        yield frame.outside(v)
    if not problem.lifted:
        for weights in rules_on_faces(problem.X[right], problem.sign[right] > 0, seconds):
            yield weights, 0.0
