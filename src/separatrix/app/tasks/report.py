"""A report on a model: the table as the model reads it, predictions out of fold, and the learner taught again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from ...data.named import CodedLabels, NamedRows
from ...errors import DataTypeError, SettingError
from ...wording import setting
from ..evaluation.cross_validation import Task, cross, folds
from ..files import check_path, replace_file
from ..report.checks import SAME
from ..report.inputs import Inputs, Refit
from ..report.weights import fit_with_path
from ..tables.columns import Decision
from ..tables.encoding import Encoding
from ..tables.errors import Remedy, TableError
from ..tables.frames import Frame, is_frame
from ..tables.kinds import said_of
from ..tables.table import Table
from .cross_validation import FoldTables, fold_failure, fold_learner, fold_remarks
from .learners import LEARNERS, REDUCTIONS
from .lesson import Lesson, check_columns, decisions_of, groups_of, weights_of
from .places import told_of_the_table
from .predicting import check_columns as check_model_columns
from .predicting import encoding_of, positive_of, truth_of
from .saved import kept_reading, model_columns
from .teaching import table_facts, told_by_the_verdict

# A saved model's learner again, not yet taught: the class and the parameters that its file names.

FEATURES = ("Polynomial", "Interactions", "GaussianBasis", "Lift", "Standardise")
PLAIN = (bool, int, float, str, type(None))


class CannotRefitError(ValueError):
    """A learner that cannot be made from what its file holds: why, in a sentence."""


def learner_again(model: Any) -> Callable[[], Any]:
    """What makes the learner of a model anew; every class comes from a list of ours, never from the file."""
    _made(str(model.learner), model.parameters)  # so that what cannot be is said now
    return lambda: _made(str(model.learner), model.parameters)


def _made(name: str, parameters: Mapping[str, Any]) -> Any:
    import separatrix

    known = {each.home: each for each in (*LEARNERS.values(), *REDUCTIONS.values())}
    if name not in known:
        raise CannotRefitError(f"{name} is a learner that this command does not know how to make.")
    allowed = {*known[name].defaults, *known[name].beside} - {"warm_start", "feature_map"}
    given = {key: _value(name, key, value) for key, value in parameters.items() if key in allowed}
    return getattr(separatrix, name)(**given)


def _value(name: str, key: str, value: Any) -> Any:
    if key == "estimator" and isinstance(value, Mapping) and "kind" in value:
        return _made(str(value["kind"]), value.get("parameters", {}))
    if key == "features" and value is not None:
        return [_feature(name, each) for each in (value if isinstance(value, list) else [value])]
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, list) and all(isinstance(each, PLAIN) for each in value):
        return list(value)
    if isinstance(value, Mapping) and "kind" not in value and all(isinstance(each, PLAIN) for each in value.values()):
        return dict(value)
    raise CannotRefitError(f"the file of {name} holds its parameter {key} only by name, which is not enough to refit.")


def _feature(name: str, value: Any) -> Any:
    from ...learners import features

    if not isinstance(value, Mapping) or value.get("kind") not in FEATURES:
        raise CannotRefitError(f"the file of {name} holds its features only by name, which is not enough to refit.")
    kind = str(value["kind"])
    own = {key: _value(kind, key, each) for key, each in value.get("parameters", {}).items()}
    return getattr(features, kind)(**own)


@dataclass(frozen=True)
class ReportOptions:
    """What a report is to show."""

    target: str | None = None
    cv: int = 5
    positive: str | None = None
    level: float = 0.95
    unseen: Literal["error", "reference"] = "reference"
    na: tuple[str, ...] = ()
    seed: int = 0

    def check(self) -> None:
        """What can be said before anything is read."""
        if not 0 < self.level < 1:
            raise SettingError("level", self.level, "give a number between 0 and 1, such as 0.95.")
        if self.cv < 2:
            raise SettingError("cv", self.cv, "it must be 2 folds or more.")


class SavedModel(NamedTuple):
    """A model, its file as text where it is whole in one, and its name."""

    model: Any
    text: str | None
    name: str


def inputs_of(
    model: Any, table: Table, options: ReportOptions, command: str, after: Callable[[int], None] = lambda fold: None
) -> Inputs:
    """Everything that is computed from the rows; `after` is told of each fold that is done."""
    training, names = dict(model.training or {}), tuple(map(str, model.classes))
    target = options.target or training.get("target")
    if not target:
        raise SettingError("target", None, f"name it: {setting('target', 'COLUMN')}.",
                           "the model does not say which column holds the classes;")  # fmt: skip
    positive = 1 if options.positive is None else positive_of(options.positive, names)
    check_columns(table, {"target": [target]})
    if not table.rows:
        raise TableError("the table has no rows", remedies=[Remedy("let more rows through", "where", "…")])
    check_model_columns(model, table)
    encoding = encoding_of(model)
    weights, group = (name if name in table.names else None for name in map(training.get, ("weights", "group")))
    decisions = _decisions(table, options.na, model, target, weights, group)
    X, truth = encoding.matrix(table, options.unseen), truth_of(table, target, names)
    costs = None if weights is None else weights_of(table, weights)
    groups = None if group is None else groups_of(table, group)
    facts = table_facts(table)
    seen = bool(facts.fingerprint) and facts.fingerprint == training.get("fingerprint")
    inputs = Inputs(
        model, encoding, target, _ModelColumns(table, encoding), decisions, X, truth, _unseen(table, encoding), None,
        weights=costs, seen=seen, files=facts.files, fingerprint=facts.fingerprint, command=command,
        seed=options.seed, positive=positive, level=options.level,
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
        NamedRows.of(X, encoding.names), CodedLabels(truth, names), costs, groups,
    )  # fmt: skip
    inputs = _held(inputs, table, lesson, make, options.cv, after)
    refit = _refitted(inputs, table, lesson, make)
    if not inputs.seen and _unmarked(inputs) and refit.difference is not None and refit.difference <= SAME:
        inputs = replace(inputs, seen=True)  # the file does not say which rows it was learnt from; these teach it
        refit = replace(refit, why="")
    return replace(inputs, refit=refit if inputs.seen else replace(refit, checked=None))


def _unmarked(inputs: Inputs) -> bool:
    """Whether fingerprints cannot tell if these are the rows of the fit: the model or the table has none."""
    training = inputs.model.training or {}
    told = training.get("fingerprint") and inputs.fingerprint
    return not told and training.get("rows") in (None, inputs.table.rows)


def _decisions(
    table: Table, na: tuple[str, ...], model: Any, target: str, weights: str | None, group: str | None
) -> tuple[Decision, ...]:
    """How the columns are read; those that the model leaves out with the reason that is known."""
    found = decisions_of(
        table, target=target, weights=weights, group=[group] if group else [],
        number=model_columns(model, "number"), category=model_columns(model, "category"), na=na,
    )  # fmt: skip
    try:
        typed = shlex.split(str((model.training or {}).get("command") or ""))
    except ValueError:
        typed = []
    dropped = {name for word, name in pairwise(typed) if word == "--drop"}
    why = f"{said_of('drop')} when the model was fitted"
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


class _ModelColumns:
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


def _held(
    inputs: Inputs, table: Table, lesson: Lesson, make: Callable[[], Any], count: int, after: Callable[[int], None]
) -> Inputs:
    """Every row predicted by a learner that has not seen it, with the encoding learnt within the fold."""
    training, columns = dict(inputs.model.training or {}), inputs.encoding.columns
    impute = training.get("missing") == "impute" or any(each.fill is not None for each in columns)
    standardise = bool(training.get("standardised")) or any(each.scale != 1.0 for each in columns)
    groups = None if lesson.groups is None else np.unique(lesson.groups, return_inverse=True)[1].astype(np.intp)
    try:
        fold = folds(inputs.truth, count, seed=inputs.seed, groups=groups, classes=inputs.classes)
    except ValueError as error:
        return replace(inputs, held_why=str(error))
    tables = FoldTables(table, lesson, "impute" if impute else "error", standardise)
    task = Task(inputs.classes, inputs.truth, fold, lesson.weights, groups, inputs.positive)
    found = cross(task, fold_learner(tables, lesson, make), after)
    if found.predictions is None:
        return replace(inputs, held_why=str(fold_failure(found, count)))
    return replace(inputs, held=found.predictions, remarks=fold_remarks(tables, found))


def _refitted(inputs: Inputs, table: Table, lesson: Lesson, make: Callable[[], Any]) -> Refit:
    """The learner taught all rows again: its history, its certificate checked, and how far it is from the model."""
    labels = np.asarray(lesson.y)
    given = () if lesson.weights is None else (lesson.weights,)
    try:
        with told_by_the_verdict(), told_of_the_table(table.place, lesson.encoding, lesson.decisions):
            estimator, followed = fit_with_path(make, (lesson.X, lesson.y, *given))
        checked = bool(estimator.verdict_.check(lesson.X, labels, *given)) if hasattr(estimator, "verdict_") else None
    except (ValueError, TypeError) as error:
        return Refit(why=str(error))
    difference = None
    if (inputs.seen or _unmarked(inputs)) and hasattr(estimator, "decision_function"):
        with told_of_the_table(table.place, lesson.encoding):
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


# ------------------------------------------------------------------------------------------------------- from Python


def write_report(
    model: Any, data: Any, path: Any = "report.html", *, format: Literal["html", "md", "json"] | None = None,  # noqa: A002
    target: str | None = None, cv: int = 5, positive: str | None = None, level: float = 0.95,
    unseen: Literal["error", "reference"] = "reference", na: Sequence[str] = (), where: str | None = None,
    seed: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """Write a report on a model: one file that opens anywhere, offline, and begins with what was checked.

    It needs `pip install "separatrix[cli,report]"`. The learner is fitted anew with the parameters of the model, once
    to all rows and once without each fold; nothing in the page is fetched or sent.

    Parameters
    ----------
    model : str, Path, Model, or a fitted learner
        A model file, or what one could be made of.
    data : str, Path, sequence of them, data frame, or mapping of names to columns
        Files, or a table in memory (of pandas, polars or Arrow); its columns are those that the model was learnt from,
        and the target.
    path : str or Path
        The file to write; one that is there is replaced.
    format : {"html", "md", "json"} or None
        None: as the name of the file ends, else html.
    target : str or None
        The column with the true classes; None: the one that the model file names.
    cv : int
        How many folds are held out in turn.
    positive : str or None
        Of two classes the one that curves and points are about; None: the second.
    level : float
        How often an interval holds the truth.
    unseen : {"reference", "error"}
        What a level is that the model has not seen.
    na : sequence of str
        Texts that stand for a missing value; by default those of the fit.
    where : str or None
        Only rows for which this SQL condition holds.
    seed : int
        The seed of the folds and of the bootstrap.

    Returns
    -------
    dict
        All that the report shows, as data: what `format="json"` writes.
    """
    from ..report.facts import facts_of
    from ..report.page import FORMATS

    form = format or {".md": "md", ".json": "json"}.get(Path(path).suffix.lower(), "html")
    if form not in FORMATS:
        raise SettingError("format", format, "it must be one of 'html', 'md' and 'json'.")
    given = model_given(model)
    options = ReportOptions(target, cv, positive, level, unseen, tuple(na), seed)
    options.check()
    files = () if is_frame(data) else _files(data)
    check_path("path", str(path), files, "report.html")
    named = repr([Path(each).name for each in files]) if files else "data"
    call = f"separatrix.write_report({given.name!r}, {named}, {Path(path).name!r})"
    with _opened(given.model, data, files, tuple(na), where, seed) as table:
        inputs = inputs_of(given.model, table, options, call)
    facts = facts_of(inputs)
    replace_file(path, FORMATS[form](facts, given.text, given.name).encode("utf-8", "surrogateescape"))
    return facts


def model_given(model: Any) -> SavedModel:
    """A model from its file, or what a learner would be saved as."""
    from ..models.file import read, to_document
    from ..models.from_learner import model_of

    if not isinstance(model, str | Path):
        made = model_of(model)
        document = to_document(made)
        text = json.dumps(document, ensure_ascii=False) if document.get("side_file") is None else None
        return SavedModel(made, text, "model.json")
    learnt = read(model)  # first: it refuses what is no model, however large
    text = Path(model).read_text(encoding="utf-8")
    whole = json.loads(text).get("side_file") is None  # else half of it is elsewhere
    return SavedModel(learnt, text if whole else None, Path(model).name)


def _opened(
    model: Any, data: Any, files: tuple[str, ...], na: tuple[str, ...], where: str | None, seed: int
) -> AbstractContextManager[Any]:
    """A table in memory or in files, read as at the fit."""
    kept = kept_reading(model, files)
    na = na or tuple(kept.pop("na", ()))
    if not files:
        return nullcontext(Frame(data, na, where))
    from ..tables.opening import open_table

    numbers, categories = (model_columns(model, kind) for kind in ("number", "category"))
    return open_table(files, number=numbers, category=categories, na=na, where=where, seed=seed, **kept)


def _files(data: Any) -> tuple[str, ...]:
    """The names of files."""
    if isinstance(data, str | Path):
        return (str(data),)
    if isinstance(data, Sequence) and data and all(isinstance(each, str | Path) for each in data):
        return tuple(map(str, data))
    raise DataTypeError(f"is {type(data).__name__}; give names of files, a data frame, or a mapping of names to "
                        "columns.", array="data")  # fmt: skip
