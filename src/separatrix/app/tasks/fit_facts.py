"""What a model remembers of its fit: where the rows came from, how it was asked for, what was found."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import __version__
from .lesson import Lesson

if TYPE_CHECKING:
    from .cross_validation import FoldMeasures


@dataclass(frozen=True)
class TableFacts:
    """What is known of the table when it is closed."""

    rows: int
    columns: tuple[str, ...]
    files: tuple[dict[str, Any], ...]
    fingerprint: str | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """A learner that was taught."""

    estimator: Any
    lesson: Lesson
    table: TableFacts
    folds: FoldMeasures | None
    interrupted: bool

    @property
    def verdict(self) -> dict[str, Any]:
        """How the fit ended."""
        found = self.estimator.verdict_
        return {
            "status": found.status,
            "ok": bool(found.ok),
            "sentence": " ".join(filter(None, (found.cause, found._alias_sentence()))),
            "remedy": found.remedy or None,
        }


def table_facts(table: Any) -> TableFacts:
    """Names, sizes and a hash; no folder, no time."""
    files = tuple(
        {"name": Path(str(name)).name, "bytes": None if size is None else int(size)}
        for name, size in getattr(table, "files", ())
    )
    mark = getattr(table, "fingerprint", None)
    return TableFacts(int(table.rows), tuple(table.names), files, None if mark is None else str(mark()))


def rows_of_rule(outcome: Outcome) -> Any:
    """The rows by whose spread weights are shown: none where the rule is linear in squares of the columns too."""
    rule, X = getattr(outcome.estimator, "rule_", None), outcome.lesson.X
    width = getattr(getattr(rule, "weights", None), "shape", (X.shape[1],))[-1]
    mapped = getattr(outcome.estimator, "features_", None) is not None
    return X if mapped or width == X.shape[1] else None


def training_facts(
    outcome: Outcome, *, command: str, seed: int, target: str, weights: str | None, group: str | None, missing: str,
    standardised: bool, reading: Mapping[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """What goes into the model file beside the rule; `reading` is what was said of how cells are read."""
    table = outcome.table
    return {
        "command": command,
        "seed": seed,
        "versions": {"separatrix": __version__, "numpy": np.__version__, "python": platform.python_version()},
        "rows": table.rows,
        "columns": list(table.columns),
        "files": list(table.files),
        "fingerprint": table.fingerprint,
        "target": target,
        "weights": weights,
        "group": group,
        "missing": missing,
        "standardised": standardised,
        **({"reading": dict(reading)} if reading else {}),
        "class_counts": outcome.lesson.counts,
        **_totals(outcome.lesson),
        "cross_validation": None if outcome.folds is None else outcome.folds.to_dict(),
        "summary": _summary(outcome),
    }


def _totals(lesson: Lesson) -> dict[str, list[float]]:
    """The weight of each class: base rates are made of it. None where a class has no weight at all."""
    totals = np.bincount(lesson.y.codes, lesson.weights, len(lesson.y.classes)).astype(np.float64)
    return {"class_totals": totals.tolist()} if totals.all() else {}


def _summary(outcome: Outcome) -> dict[str, Any] | None:
    """The summary of a logistic model, made while its rows are there."""
    if outcome.interrupted or not hasattr(outcome.estimator, "summary"):
        return None
    from ...inference.summary.stored import stored

    lesson = outcome.lesson
    return stored(outcome.estimator.summary(lesson.X, lesson.y, lesson.weights))
