"""What `evaluate` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation.by_group import GroupMeasures
from ..evaluation.calibration import Bin
from ..evaluation.intervals import Measure
from ..evaluation.predictions import Predictions
from ..evaluation.requirements import Check
from ..evaluation.thresholds import AtThreshold, Cheapest
from .console import table as laid_out

FEW = 10
"""Rows of a class below which its numbers say little."""


@dataclass(frozen=True, eq=False)
class Found:
    """All that was measured."""

    predictions: Predictions
    level: float
    measures: tuple[Measure, ...]
    by_class: tuple[Measure, ...]
    confusion: NDArray[np.float64]
    calibration: tuple[Bin, ...] = ()
    by: dict[str, tuple[GroupMeasures, ...]] = field(default_factory=dict)
    thresholds: tuple[AtThreshold, ...] = ()
    cheapest: Cheapest | None = None
    checks: tuple[Check, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many rows each class has."""
        found = np.bincount(self.predictions.truth, minlength=len(self.predictions.classes)).tolist()
        return dict(zip(map(str, self.predictions.classes), found, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        given = self.predictions
        two = len(given.classes) == 2
        return {
            "rows": given.rows,
            "classes": [{"class": label, "rows": rows} for label, rows in self.counts.items()],
            "positive": given.classes[given.positive] if two else None,
            "level": self.level,
            "measures": [one.to_dict() for one in self.measures],
            "by_class": [one.to_dict() for one in self.by_class],
            "confusion": self.confusion.tolist(),
            "calibration": [one.to_dict() for one in self.calibration],
            "by": [{"column": name, "groups": [part.to_dict() for part in parts]} for name, parts in self.by.items()],
            "thresholds": [one.to_dict() for one in self.thresholds],
            "cheapest": None if self.cheapest is None else self.cheapest.to_dict(),
            "requirements": [check.to_dict() for check in self.checks],
            "met": all(check.met for check in self.checks),
        }


def text(found: Found) -> str:
    """Tables for stdout: measures, confusion, and what was asked for beside them."""
    parts = [measures_table(found.measures, found.level), _confusion(found)]
    if len(found.predictions.classes) > 2:
        parts.append(measures_table(found.by_class, found.level))
    parts += [_by(name, groups, found.level) for name, groups in found.by.items()]
    parts += [_thresholds(found.thresholds)] if found.thresholds else []
    return "\n\n".join(parts)


def measures_table(measures: Sequence[Measure], level: float) -> str:
    """A line for each measure: its value, and its interval or why there is none."""
    rows = [(one.label, number(one.value), interval(one) or one.why) for one in measures]
    return laid_out(("measure", "value", f"{100 * level:g} % interval"), rows, right=(1,))


def methods(measures: Sequence[Measure]) -> str:
    """How the intervals were found, each way with its measures."""
    ways: dict[str, list[str]] = {}
    for one in measures:
        if one.method:
            ways.setdefault(one.method, []).append(one.label)
    return "; ".join(f"{way} ({', '.join(names)})" for way, names in ways.items())


def number(value: float | None) -> str:
    """Four digits; a dash for none."""
    return "–" if value is None else f"{value:.4g}"


def interval(one: Measure) -> str:
    """'0.75 to 0.86', or nothing."""
    return "" if one.low is None or one.high is None else f"{one.low:.4g} to {one.high:.4g}"


def _confusion(found: Found) -> str:
    classes = list(map(str, found.predictions.classes))
    rows = [
        (f"is {label}", *(f"{cell:.6g}" for cell in row)) for label, row in zip(classes, found.confusion, strict=True)
    ]
    header = ("", *(f"predicted {label}" for label in classes))
    return laid_out(header, rows, right=range(1, len(header)))


def _by(name: str, parts: Sequence[GroupMeasures], level: float) -> str:
    """A line for each group and measure; then those that differ from all other rows by more than chance."""
    ends, rows, apart = f"{100 * level:g} % interval", [], []
    for part in parts:
        for k, one in enumerate(part.measures):
            first = (part.group, str(part.rows)) if not k else ("", "")
            rows.append((*first, one.label, number(one.value), interval(one) or one.why))
        apart += [(part.group, one.label, f"{one.value:+.4g}", interval(one)) for one in part.flagged]
    found = laid_out((name, "rows", "measure", "value", ends), rows, right=(1, 3))
    if not apart:
        return found
    return found + "\n\n" + laid_out((name, "differs in", "less all others", ends), apart, right=(2,))


def _thresholds(table: Sequence[AtThreshold]) -> str:
    names = [one.name for one in table[0].measures]
    rows = [
        (f"{one.threshold:.4g}", f"{one.flagged:.3g}", *(number(measure.value) for measure in one.measures))
        for one in table
    ]
    return laid_out(("threshold", "flagged", *names), rows, right=range(len(names) + 2))


def words(found: Found) -> str:
    """Sentences: how many rows, what the requirements came to, which threshold costs least."""
    given = found.predictions
    shares = ", ".join(f"{rows} {label}" for label, rows in found.counts.items())
    said = [f"{given.rows} rows: {shares}."]
    if len(given.classes) == 2:
        said.append(f"The positive class is {given.classes[given.positive]!r}.")
    if given.clusters is not None:
        said.append(f"The intervals take the rows of {len(np.unique(given.clusters))} groups together.")
    if found.cheapest is not None:
        said.append(_cheapest(found.cheapest))
    said.append(f"Intervals: {methods(found.measures)}.")
    lines = [" ".join(said), *(check.sentence for check in found.checks)]
    return "\n".join(lines)


def _cheapest(best: Cheapest) -> str:
    where = "no row is predicted positive" if best.threshold is None else f"the threshold is {best.threshold:.4g}"
    true = "" if best.if_true is None else f" If the probabilities are true, take {best.if_true:.4g}."
    return (
        f"Mistakes cost least, {best.cost:.4g} a row, if {where}; as it was chosen by these very rows, expect somewhat "
        f"more on others.{true}"
    )


def notes(found: Found, seen: bool) -> tuple[str, ...]:
    """Warnings: rows that were learnt from, classes with few rows, many groups, weights."""
    said = []
    if seen:
        said.append(
            "these are the very rows that the model was learnt from: the numbers are too good, and will be worse on "
            "other rows. Take such, or separatrix fit … --cv 5."
        )
    said += [
        f"there {'is 1 row' if rows == 1 else f'are {rows} rows'} of class {label!r}: its numbers say little."
        for label, rows in found.counts.items()
        if rows < FEW
    ]
    groups = sum(len(parts) for parts in found.by.values())
    flagged = sum(len(part.flagged) for parts in found.by.values() for part in parts)
    if flagged:
        tried = sum(len(part.differences) for parts in found.by.values() for part in parts)
        said.append(
            f"{flagged} of {tried} differences of {groups} groups are marked; of as many, "
            f"{(1 - found.level) * tried:.2g} would be by chance alone."
        )
    return tuple(said)
