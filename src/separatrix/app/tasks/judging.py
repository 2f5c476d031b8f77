"""What a saved model answers for the rows of a table whose classes are known."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import SettingError
from ..evaluation.predictions import Predictions
from ..tables.errors import Remedy, TableError, did_you_mean
from .lesson import check_all_there, groups_of, weights_of
from .predicting import check_columns

Places = NDArray[np.intp]


def judge(
    model: Any, table: Any, *, target: str, weights: str | None = None, group: str | None = None,
    positive: str | None = None, unseen: Literal["error", "reference"] = "error",
) -> Predictions:  # fmt: skip
    """The model's answers for all rows, and the truth."""
    names = tuple(map(str, model.classes))
    if not table.rows:
        raise TableError("the table has no rows", remedies=[Remedy("let more rows through", '--where "…"')])
    truth = truth_of(table, target, names)
    if model.encoding is not None:
        check_columns(model, table)
    blocks = model.encoding.blocks(table, unseen) if model.encoding is not None else [_plain(model, table)]
    answers = [(np.asarray(model.labels(X)).astype(str), _scores(model, X), model.probabilities(X)) for X in blocks]
    said, scores, probabilities = (_together(each) for each in zip(*answers, strict=True))
    places = {label: place for place, label in enumerate(names)}
    labels, which = np.unique(said, return_inverse=True)
    chosen = np.array([places[label] for label in labels.tolist()], dtype=np.intp)[which]
    return Predictions(
        names, truth, chosen, scores, probabilities,
        None if weights is None else weights_of(table, weights),
        None if group is None else groups_of(table, group).astype(np.intp),
        positive=1 if positive is None else positive_of(positive, names),
    )  # fmt: skip


def _together(parts: tuple[Any, ...]) -> Any:
    """The answers for some rows after those for others; None where the model gives none."""
    return None if parts[0] is None else parts[0] if len(parts) == 1 else np.concatenate(parts)


def truth_of(table: Any, target: str, classes: tuple[str, ...]) -> Places:
    """The place of each row's class among the model's; a class that the model does not know is an error."""
    codes, levels = coded = table.coded(target)
    check_all_there(table, coded, target, "label")
    known = {label: place for place, label in enumerate(classes)}
    places = np.array([known.get(level, -1) for level in levels], dtype=np.intp)
    truth: Places = places[codes]
    strange = np.flatnonzero(truth < 0)
    if strange.size:
        row = int(strange[0])
        label = levels[codes[row]]
        raise TableError(
            f"the model does not know the class {label!r}", place=table.place(row), column=target, value=label,
            because=f"Its classes are {', '.join(classes)}; {strange.size} of {table.rows} rows are of none of them.",
            remedies=[Remedy("leave such rows out", f"--where '\"{target}\" IN (…)'"),
                      Remedy("or name another column", "--target COLUMN")],
        )  # fmt: skip
    return truth


def positive_of(label: str, classes: tuple[str, ...]) -> int:
    """The place of the positive class, of two."""
    if label not in classes:
        meant = f"the model has no such class. {did_you_mean(label, classes)}".rstrip()
        raise SettingError("positive", label, f"{meant} Its classes are {', '.join(classes)}.")
    if len(classes) != 2:
        raise SettingError("positive", label, f"it is for two classes, and the model has {len(classes)}: "
                                              f"{', '.join(classes)}.")  # fmt: skip
    return classes.index(label)


def at_threshold(found: Predictions, threshold: float | None) -> Predictions:
    """The predictions at another threshold, where one is given."""
    if threshold is None:
        return found
    try:
        return found.at(threshold)
    except ValueError as error:
        raise SettingError("threshold", threshold, str(error)) from None


def _scores(model: Any, X: Any) -> Any:
    """Scores that rank rows: one a row of two classes, one a class of more; others are of no use here."""
    found = model.scores(X)
    if found is None:
        return None
    scores, k = np.asarray(found, dtype=np.float64), len(model.classes)
    return scores if scores.shape == ((len(X),) if k == 2 else (len(X), k)) and np.isfinite(scores).all() else None


def _plain(model: Any, table: Any) -> NDArray[np.float64]:
    """Of a model that was not learnt from a table: the columns of its names, as numbers."""
    names = tuple(model.columns)
    absent = [name for name in names if name not in table.names]
    if absent:
        raise TableError(
            f"the table has no column {absent[0]!r}, which the model needs",
            because=f"It was learnt from {len(names)} columns: {', '.join(names[:12])}{', …' * (len(names) > 12)}.",
        )
    X = np.column_stack([table.numbers(name) for name in names])
    if np.isnan(X).any():
        row, column = map(int, np.argwhere(np.isnan(X))[0])
        raise TableError(
            "a value is missing", place=table.place(row), column=names[column],
            because="The model was saved without a rule for missing values.",
        )  # fmt: skip
    return X
