"""The inputs of a report: a model, a table, held-out predictions, and the learner fitted again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...numerics.arrays import Floats, Indices
from ..evaluation.predictions import Predictions
from ..tables.columns import Decision
from ..tables.encoding import Encoding


class PathStep(NamedTuple):
    """Where the weights stood after a step, a row for each score."""

    at: float
    """How many passes or mistakes had gone before."""
    start: int
    """The number of the start, where there are several."""
    weights: Floats


@dataclass(frozen=True, eq=False)
class WeightPath:
    """The weights from the first step of a fit to the last; or why they are not known."""

    steps: tuple[PathStep, ...] = ()
    unit: str = "passes over the rows"
    """The unit of `at`."""
    why: str = ""


@dataclass(frozen=True, eq=False)
class Refit:
    """The model's learner, fitted to the rows of the report; or why it was not."""

    estimator: Any = None
    why: str = ""
    checked: bool | None = None
    """Whether its certificate passed the check by separate code; None: it was not asked."""
    path: WeightPath = field(default_factory=WeightPath)
    """The path of its weights."""
    difference: float | None = None
    """max |s − s'| / (1 + max |s|) of the scores of all rows, the model's against the refitted learner's."""
    summary: Any = None
    """Its `Summary`, where the model file keeps none."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """A model, the table that it is reported on, and what was predicted out of fold."""

    model: Any
    encoding: Encoding
    target: str
    table: Any
    decisions: tuple[Decision, ...]
    X: Floats
    """The rows as the model reads them, unseen levels as the reference."""
    truth: Indices
    """The class of each row, by its place among the model's."""
    unseen: dict[str, dict[str, int]]
    """By column, the levels that the model does not know, and how many rows have them."""
    held: Predictions | None
    """Each row predicted by a model that has not seen it; if None, `held_why` says why."""
    held_why: str = ""
    remarks: tuple[str, ...] = ()
    refit: Refit = field(default_factory=Refit)
    weights: Floats | None = None
    seen: bool = False
    """Whether the model was learnt from these very rows."""
    files: tuple[dict[str, Any], ...] = ()
    fingerprint: str | None = None
    command: str = ""
    """The command that makes this report again."""
    seed: int = 0
    positive: int = 1
    level: float = 0.95

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, as texts."""
        return tuple(map(str, self.model.classes))
