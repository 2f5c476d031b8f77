"""Teach a learner while somebody watches, who may stop it."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError

from ... import __version__
from ...data.block import block_of
from ...errors import SettingError
from ...wording import setting
from ..tables.errors import Remedy, TableError
from .learners import LEARNERS, Learner
from .lesson import Lesson

if TYPE_CHECKING:
    from .cross_validation import FoldMeasures

HUGE = 1e100
"""Numbers whose sums of squares may overflow on their way."""


def teach(
    estimator: Any, learner: Learner, lesson: Lesson, watch: Callable[[Iterable[Any], float | None], Iterable[Any]],
    *, reduced: bool = False,
) -> None:  # fmt: skip
    """Fit; `watch` is given the steps and how many passes there will be at most, and hands the steps on.

    After one Ctrl-C the verdict is *interrupted*, and the learner keeps what it has.
    """
    given = (lesson.X, lesson.y) if lesson.weights is None else (lesson.X, lesson.y, lesson.weights)
    with told_by_the_verdict(), overflow_told(lesson):
        if learner.course and not reduced:
            steps: Iterable[Any] = getattr(estimator, learner.course)(*given)
            for _ in watch(steps, getattr(estimator, "max_passes", None)):
                pass
            return
        try:
            estimator.fit(*given)
        except KeyboardInterrupt:
            status = getattr(getattr(estimator, "verdict_", None), "status", "")
            if status != "interrupted" and not (reduced and status):  # all classifiers of a reduction may have ended
                raise


@contextmanager
def overflow_told(lesson: Lesson) -> Iterator[None]:
    """Where sums of squares overflow, what breaks is not the learner: the column is named."""
    try:
        yield
    except (LinAlgError, FloatingPointError, OverflowError, ZeroDivisionError) as error:
        size = block_of(lesson.X).largest()
        j = int(size.argmax())
        if not size[j] > HUGE:
            raise
        column = next(each.name for each in lesson.encoding.columns if lesson.encoding.names[j] in each.features)
        raise TableError(
            f"its numbers reach {size[j]:.3g}, and sums of their squares overflow", column=column,
            remedies=[Remedy("give it larger units in the file, or leave it out", "drop", (column,)),
                      Remedy("or give number columns the mean 0 and the deviation 1", "standardise", True)],
        ) from error  # fmt: skip


@contextmanager
def told_by_the_verdict() -> Iterator[None]:
    """No warnings of learners: the verdict says the same, and the command prints it."""
    from ...learners.warnings import BudgetWarning, NotSeparableWarning, SeparationWarning

    with warnings.catch_warnings():
        for kind in (BudgetWarning, NotSeparableWarning, SeparationWarning):
            warnings.simplefilter("ignore", kind)
        yield


def with_features(estimator: Any, texts: str, name: str) -> None:
    """Give a learner the features that a text like 'standardise,polynomial:2' names."""
    able = [known for known, each in LEARNERS.items() if "features" in each.beside]
    if name not in able:
        raise SettingError("features", texts, f"{name!r} makes none.",
                           f"{setting('features')} is for the learner {' or '.join(map(repr, able))};")  # fmt: skip
    estimator.set_params(features=[_feature(part.strip()) for part in texts.split(",")])


def _feature(text: str) -> Any:
    from ...learners import features

    kind, _, size = text.partition(":")
    makers = {
        "polynomial": lambda: features.Polynomial(int(size or 2)),
        "interactions": features.Interactions,
        "standardise": features.Standardise,
    }
    if kind not in makers or (size and (kind != "polynomial" or not size.isdecimal())):
        raise SettingError(
            "features", text, "it is a list of polynomial:2 (or another degree), interactions and standardise, such as "
            "standardise,polynomial:2.", f"{setting('features')} has {text!r};",
        )  # fmt: skip
    return makers[kind]()


# What a model remembers of its fit: where the rows came from, how it was asked for, what was found.


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
    from ...inference.summary.summary import stored

    lesson = outcome.lesson
    return stored(outcome.estimator.summary(lesson.X, lesson.y, lesson.weights))
