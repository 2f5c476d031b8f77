"""What a report is made of: the table as the model reads it, predictions out of fold, and the learner taught again."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from ...data.named import CodedLabels, NamedRows
from ..cli.answer import UsageError
from ..cli.known_table import KnownTable
from ..cli.options import Talking
from ..cli.progress import shower_of
from ..cli.tables import check_columns, decisions_of, opened
from ..cli.teaching import told_by_the_verdict
from ..cli.wording import in_options
from ..evaluation.cross_validation import Task, cross, folds
from ..report.checks import SAME
from ..report.inputs import Inputs, Refit
from ..report.weight_path import fit_with_path
from ..tables.columns import Column, Decision
from ..tables.encoding import Encoding
from ..tables.errors import Remedy, TableError
from .crossing import FoldDone
from .fit_facts import table_facts
from .fold_learning import Encoded, learning
from .judging import positive_of, truth_of
from .lesson import Lesson, groups_of, weights_of
from .predicting import check_columns as check_model_columns
from .refitting import CannotRefitError, learner_again


@dataclass(frozen=True)
class Asked:
    """What the command line asks for."""

    target: str | None
    cv: int
    positive: str | None
    level: float
    unseen: Literal["error", "reference"]
    talking: Talking
    typed: str


def inputs_of(model: Any, data: tuple[str, ...], reading: KnownTable, asked: Asked) -> Inputs:
    """Everything that is computed from the rows."""
    training, names = dict(model.training or {}), tuple(map(str, model.classes))
    target = asked.target or training.get("target")
    if not target:
        raise UsageError("the model does not say which column holds the classes: --target COLUMN.")
    positive = 1 if asked.positive is None else positive_of(asked.positive, names)
    with opened(data, reading.reading(model), asked.talking) as table:
        check_columns(table, {"target": [target]})
        if not table.rows:
            raise TableError("the table has no rows", remedies=[Remedy("let more rows through", '--where "…"')])
        if model.encoding is not None:
            check_model_columns(model, table)
        encoding = model.encoding or _of_numbers(model, table)
        weights, group = (name if name in table.names else None for name in map(training.get, ("weights", "group")))
        decisions = _decisions(table, reading, model, target, weights, group)
        X, truth = encoding.matrix(table, asked.unseen), truth_of(table, target, names)
        cost = None if weights is None else weights_of(table, weights)
        groups = None if group is None else groups_of(table, group)
        facts = table_facts(table)
        seen = bool(facts.fingerprint) and facts.fingerprint == training.get("fingerprint")
        inputs = Inputs(
            model, encoding, target, _Kept(table, encoding), decisions, X, truth, _unseen(table, encoding), None,
            weights=cost, seen=seen, files=facts.files, fingerprint=facts.fingerprint, command=asked.typed,
            reword=in_options,
            seed=asked.talking.seed, positive=positive, level=asked.level,
        )  # fmt: skip
        try:
            make = learner_again(model)
            if list(names) != sorted(names):
                raise CannotRefitError("its classes are not texts in order, as those of separatrix fit are.")
        except CannotRefitError as error:
            return replace(inputs, held_why=str(error), refit=Refit(why=str(error)))
        used = {column.name for column in encoding.columns}
        lesson = Lesson(
            tuple(each if each.name in used else replace(each, kind="ignored") for each in decisions), encoding,
            NamedRows.of(X, encoding.names), CodedLabels(truth, names), cost, groups,
        )  # fmt: skip
        inputs = _held(inputs, table, lesson, make, asked)
    refit = _refitted(inputs, lesson, make)
    if not inputs.seen and _unmarked(inputs) and refit.difference is not None and refit.difference <= SAME:
        inputs = replace(inputs, seen=True)  # the file does not say which rows it was learnt from; these teach it
        refit = replace(refit, why="")
    return replace(inputs, refit=refit if inputs.seen else replace(refit, checked=None))


def _unmarked(inputs: Inputs) -> bool:
    """Whether the model file has no fingerprint of its rows, but as many."""
    training = inputs.model.training or {}
    return not training.get("fingerprint") and training.get("rows") in (None, inputs.table.rows)


def _of_numbers(model: Any, table: Any) -> Encoding:
    """Of a model that was learnt in Python: the columns of its names, as numbers."""
    absent = [name for name in model.columns if name not in table.names]
    if absent:
        raise TableError(
            f"the table has no column {absent[0]!r}, which the model needs",
            because=f"It was learnt from {len(model.columns)} columns of numbers.",
        )
    return Encoding(tuple(Column(name, "number") for name in model.columns))


def _decisions(
    table: Any, reading: KnownTable, model: Any, target: str, weights: str | None, group: str | None
) -> tuple[Decision, ...]:
    """How the columns are read; those that the model leaves out with the reason that is known."""
    said = reading.reading(model)
    found = decisions_of(table, said, target=target, weights=weights, group=[group] if group else [])
    try:
        typed = shlex.split(str((model.training or {}).get("command") or ""))
    except ValueError:
        typed = []
    dropped = {name for word, name in pairwise(typed) if word == "--drop"}
    why = "--drop was said of it when the model was fitted"
    used = {column.name for column in model.encoding.columns} if model.encoding is not None else set(model.columns)
    return tuple(
        replace(each, kind="ignored", why=why) if each.name in dropped and each.name not in used else each
        for each in found
    )  # fmt: skip


def _unseen(table: Any, encoding: Encoding) -> dict[str, dict[str, int]]:
    found = {}
    for column in encoding.columns:
        if column.kind != "category":
            continue
        codes, levels = table.coded(column.name)
        counts = np.bincount(codes[codes >= 0], minlength=len(levels)).tolist()
        strange = {level: n for level, n in zip(levels, counts, strict=True) if n and level not in column.levels}
        if strange:
            found[column.name] = strange
    return found


class _Kept:
    """The columns that the model uses, when the table is closed."""

    def __init__(self, table: Any, encoding: Encoding) -> None:
        self.rows, self.names = int(table.rows), tuple(table.names)
        self._numbers = {each.name: table.numbers(each.name) for each in encoding.columns if each.kind == "number"}
        self._coded = {each.name: table.coded(each.name) for each in encoding.columns if each.kind == "category"}

    def numbers(self, name: str) -> Any:
        """A column as numbers."""
        return self._numbers[name]

    def coded(self, name: str) -> Any:
        """A column as levels."""
        return self._coded[name]


def _held(inputs: Inputs, table: Any, lesson: Lesson, make: Callable[[], Any], asked: Asked) -> Inputs:
    """Every row predicted by a learner that has not seen it, with the encoding learnt within the fold."""
    training, columns = dict(inputs.model.training or {}), inputs.encoding.columns
    impute = training.get("missing") == "impute" or any(each.fill is not None for each in columns)
    standardise = bool(training.get("standardised")) or any(each.scale != 1.0 for each in columns)
    groups = None if lesson.groups is None else np.unique(lesson.groups, return_inverse=True)[1].astype(np.intp)
    try:
        fold = folds(inputs.truth, asked.cv, seed=inputs.seed, groups=groups, classes=inputs.classes)
    except ValueError as error:
        return replace(inputs, held_why=str(error))
    encoded = Encoded(table, lesson, "impute" if impute else "error", standardise)
    task = Task(inputs.classes, inputs.truth, fold, lesson.weights, groups, inputs.positive)
    shower = shower_of(asked.talking, asked.cv, time.monotonic)
    try:
        found = cross(task, learning(encoded, lesson, make), lambda done: shower.show(done + 1, FoldDone(done + 1)))
    finally:
        shower.close()
    if found.predictions is None:
        failure = found.failures[0]
        why = f"fold {failure.fold + 1} of {asked.cv} could not be learnt: {in_options(failure.sentence)}"
        return replace(inputs, held_why=why)
    remarks = (*encoded.remarks(), *(f"In the folds: {in_options(each)}" for each in found.remarks))
    return replace(inputs, held=found.predictions, remarks=remarks)


def _refitted(inputs: Inputs, lesson: Lesson, make: Callable[[], Any]) -> Refit:
    """The learner taught all rows again: its history, its certificate checked, and how far it is from the model."""
    labels = np.asarray(lesson.y)
    given = () if lesson.weights is None else (lesson.weights,)
    try:
        with told_by_the_verdict():
            estimator, followed = fit_with_path(make, (lesson.X, lesson.y, *given))
        checked = bool(estimator.verdict_.check(lesson.X, labels, *given)) if hasattr(estimator, "verdict_") else None
    except (ValueError, TypeError) as error:
        return Refit(why=in_options(str(error)))
    difference = None
    if (inputs.seen or _unmarked(inputs)) and hasattr(estimator, "decision_function"):
        mine, other = inputs.model.scores(inputs.X), np.asarray(estimator.decision_function(lesson.X))
        if mine.shape == other.shape:
            difference = float(np.abs(mine - other).max() / (1 + np.abs(mine).max()))
    return Refit(estimator, "" if inputs.seen else "these are not the rows that it was learnt from.",
                 checked, followed, difference, _summary(inputs, estimator, lesson))  # fmt: skip


def _summary(inputs: Inputs, estimator: Any, lesson: Lesson) -> Any:
    """What the file does not keep: weights with intervals, of the learner that was taught again."""
    if "summary" in (inputs.model.training or {}) or not hasattr(estimator, "summary"):
        return None
    return estimator.summary(lesson.X, lesson.y, lesson.weights)
