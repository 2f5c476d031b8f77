"""Where a fit on joint features stood after each pass, and what its rows should be."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from ..checks.targets import Targets
from ..history import Record


class JointStep(NamedTuple):
    """Where a fit stands after a pass over the rows."""

    theta: Floats
    value: float
    gradient_norm: float
    step: float
    passes: float
    negative_curvature: bool
    start: int
    seconds: float


def record_of(step: JointStep) -> Record:
    """The line of `history_` for a step."""
    return Record(
        step.passes, step.value, step.gradient_norm, step.step, step.seconds, step.negative_curvature, step.start
    )


def target_and_cost(targets: Targets, cost: Floats, class_weight: tuple[float, ...]) -> tuple[NDArray[Any], Floats]:
    """The class of each row or its probabilities, and its cost, class weights multiplied in."""
    factors, cost = np.array(class_weight), cost if cost.size else np.ones(len(targets))
    if targets.index is not None:
        index = np.asarray(targets.index, dtype=np.intp)
        return index, cost * factors[index]
    assert targets.probability is not None
    split = targets.probability * factors * cost[:, None]
    total = split.sum(axis=1)
    share = np.where(total[:, None] > 0, split, targets.probability) / np.where(total > 0, total, 1.0)[:, None]
    return share, total
