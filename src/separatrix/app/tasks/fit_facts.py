"""What a model remembers of its fit: where the rows came from, how it was asked for, what was found."""

from __future__ import annotations

import platform
import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import __version__
from ..cli.as_at_fit import to_keep
from ..cli.options import Reading
from ..cli.wording import in_options
from .lesson import Lesson
from .typed_values import option

if TYPE_CHECKING:
    from ..cli.fit import Asked
    from .crossing import Crossing


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
    crossing: Crossing | None
    interrupted: bool

    @property
    def verdict(self) -> dict[str, Any]:
        """How the fit ended, in the words of the command line."""
        found = self.estimator.verdict_
        return {
            "status": found.status,
            "ok": bool(found.ok),
            "sentence": in_options(" ".join(filter(None, (found.cause, found._alias_sentence())))),
            "remedy": in_options(found.remedy) or None,
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


def training_facts(asked: Asked, outcome: Outcome) -> dict[str, Any]:
    """What goes into the model file beside the rule."""
    table = outcome.table
    return {
        "command": command_of(asked),
        "seed": asked.seed,
        "versions": {"separatrix": __version__, "numpy": np.__version__, "python": platform.python_version()},
        "rows": table.rows,
        "columns": list(table.columns),
        "files": list(table.files),
        "fingerprint": table.fingerprint,
        "target": asked.target,
        "weights": asked.weights,
        "group": asked.group,
        "missing": asked.missing,
        "standardised": asked.standardise,
        **({"reading": kept} if (kept := to_keep(asked.reading)) else {}),
        "class_counts": outcome.lesson.counts,
        **_totals(outcome.lesson),
        "cross_validation": None if outcome.crossing is None else outcome.crossing.to_dict(),
        "summary": _summary(outcome),
    }


def _totals(lesson: Lesson) -> dict[str, list[float]]:
    """The weight of each class: base rates are made of it. None where a class has no weight at all."""
    totals = np.bincount(lesson.y.codes, lesson.weights, len(lesson.y.classes)).astype(np.float64)
    return {"class_totals": totals.tolist()} if totals.all() else {}


def command_of(asked: Asked) -> str:
    """The command again, files without their folders."""
    words = ["separatrix", "fit", *(Path(each).name for each in asked.data or ("-",)), "--target", asked.target]
    words += ["--learner", asked.learner]
    for name in ("weights", "group", "reduction", "features", "cv"):
        value = getattr(asked, name)
        words += [] if value is None else [f"--{name}", str(value)]
    words += ["--missing", asked.missing] if asked.missing != "error" else []
    words += ["--standardise"] if asked.standardise else []
    for name, value in asked.given.items():
        words += [option(name) if value else f"--no-{option(name)[2:]}"] if isinstance(value, bool) else [
            option(name), str(value)]  # fmt: skip
    return shlex.join([*words, *_reading(asked.reading), *(["--seed", str(asked.seed)] if asked.seed else [])])


def _reading(reading: Reading) -> list[str]:
    words: list[str] = []
    for entry in fields(reading):
        value = getattr(reading, entry.name)
        if value == entry.default:
            continue
        if isinstance(value, bool):
            words.append(f"--{entry.name}" if value else f"--no-{entry.name}")
            continue
        for each in value if isinstance(value, tuple) else () if value is None else (value,):
            words += [f"--{entry.name}", str(each)]
    return words


def _summary(outcome: Outcome) -> dict[str, Any] | None:
    """The summary of a logistic model, made while its rows are there."""
    if outcome.interrupted or not hasattr(outcome.estimator, "summary"):
        return None
    from ...inference.summary.stored import stored

    lesson = outcome.lesson
    return stored(outcome.estimator.summary(lesson.X, lesson.y, lesson.weights))
