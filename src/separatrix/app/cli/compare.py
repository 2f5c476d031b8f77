"""`separatrix compare`: several learners on the same folds, with intervals of their differences."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from ... import __version__
from ..tasks.learner_list import BASELINE, Entry, learner_list
from .answer import NO, Answer, UsageError
from .options import READING, Reading, Talking
from .tables import check_columns, decisions_of, opened
from .typed_again import typed_again

if TYPE_CHECKING:
    from ..evaluation.cross_validation import CrossValidation, Task
    from ..tasks.lesson import Lesson

COMPARING = Group("What is compared", sort_key=0)
USUAL = ("logistic", "logistic:l2=0.01", "discriminant", "naive-bayes")


def compare(
    *data: str,
    target: Annotated[str, Parameter(group=READING)],
    learners: Annotated[tuple[str, ...], Parameter(group=COMPARING, consume_multiple=False)] = (),
    cv: Annotated[int, Parameter(group=COMPARING)] = 5,
    by: Annotated[str | None, Parameter(group=COMPARING)] = None,
    level: Annotated[float, Parameter(group=COMPARING)] = 0.95,
    weights: Annotated[str | None, Parameter(group=READING)] = None,
    group: Annotated[str | None, Parameter(group=READING)] = None,
    missing: Annotated[Literal["error", "impute"], Parameter(group=READING)] = "error",
    standardise: Annotated[bool, Parameter(group=COMPARING, negative="")] = False,
    reading: Reading = Reading(),
    talking: Talking = Talking(),
) -> Answer:
    """Compare learners on the same folds.

    Each row is predicted by models that have not seen it, all learners with the same folds; the baseline predicts the
    shares of the classes. A difference counts where its interval, which knows that the rows are the same, leaves zero
    out. Exit status 1: no learner could be fitted.

    Parameters
    ----------
    data
        Files, or - for what is piped in.
    target
        The column to be predicted.
    learners
        Names, with parameters after a colon: logistic,logistic:l2=0.1,naive-bayes. May be repeated. By default
        logistic,logistic:l2=0.01,discriminant,naive-bayes.
    cv
        How many folds.
    by
        The measure to rank by: log_loss by default, error_rate where some learner has no probabilities.
    level
        How often an interval holds the truth.
    weights
        The column with the weight of each row.
    group
        Rows of a group stay together in a fold, and the intervals take them together; it is not learnt from.
    missing
        What is done about missing values: an error, or the mean or the most frequent level, with an indicator.
    standardise
        Give number columns the mean 0 and the standard deviation 1 first, by the training rows of each fold.
    reading
        How the table is read.
    talking
        How the command talks.
    """
    if not 0 < level < 1:
        raise UsageError(f"--level is {level:g}; give a number between 0 and 1, such as 0.95.")
    if cv < 2:
        raise UsageError(f"--cv is {cv}; it must be 2 folds or more.")
    entries = _entries(learners, weights is not None)
    from ..tasks.fold_learning import Encoded
    from ..tasks.lesson import lesson_of
    from .compare_words import board_of, next_command, text, words

    with opened(data, reading, talking) as table:
        single = {"weights": [weights] if weights else [], "group": [group] if group else []}
        check_columns(table, {"target": [target], **single})
        decisions = decisions_of(table, reading, target=target, weights=weights, group=[group] if group else [])
        lesson = lesson_of(table, decisions, target=target, weights=weights, group=group, missing=missing,
                           standardise=standardise)  # fmt: skip
        ranked = _measure(by, len(lesson.y.classes))
        task = _task(lesson, cv, talking.seed)
        encoded = Encoded(table, lesson, missing, standardise)
        crossed = _crossed(task, lesson, encoded, entries, talking)
    board = board_of(crossed, ranked, level, talking.seed)
    again = _options(weights, group, missing, standardise, reading, talking.seed)
    facts = {
        "target": target, "rows": len(task.truth), "classes": list(task.classes), "folds": task.count,
        "grouped": group is not None, "seed": talking.seed, "remarks": list(encoded.remarks()),
    }  # fmt: skip
    return Answer(
        {"command": "compare", "version": __version__, **facts, **board.to_dict()},
        text=text(board), words=words(board, task, group), notes=(*encoded.remarks(), *board.notes()),
        next=next_command(board, data, target, again, entries),
        status=0 if board.best is not None and any(board.learnt) else NO,
    )  # fmt: skip


def _entries(typed: tuple[str, ...], weighted: bool) -> tuple[Entry, ...]:
    """The learners; those that know no weights are refused where there are weights, and not among the usual ones."""
    found = learner_list(typed or USUAL)
    able = tuple(each for each in found if each.known.weights or not weighted)
    if typed and len(able) < len(found):
        from .teaching import check_weights

        for each in found:
            check_weights(each.name, each.known)
    return able


def _measure(by: str | None, classes: int) -> str | None:
    from ..evaluation.measures import as_name

    try:
        return None if by is None else as_name(by, classes)
    except ValueError as error:
        raise UsageError(f"--by {by}: {error}") from None


def _task(lesson: Lesson, cv: int, seed: int) -> Task:
    """The rows and their folds, the same for all."""
    import numpy as np

    from ..evaluation.cross_validation import Task, folds
    from ..tables.errors import Remedy, TableError

    truth, classes = lesson.y.codes.astype(np.intp), tuple(lesson.y.classes.tolist())
    groups = None if lesson.groups is None else np.unique(lesson.groups, return_inverse=True)[1].astype(np.intp)
    try:
        fold = folds(truth, cv, seed=seed, groups=groups, classes=classes)
    except ValueError as error:
        raise TableError(str(error), remedies=[Remedy("take fewer folds", "--cv 2")]) from None
    return Task(classes, truth, fold, lesson.weights, groups)


def _crossed(
    task: Task, lesson: Lesson, encoded: Any, entries: tuple[Entry, ...], talking: Talking
) -> dict[str, CrossValidation]:
    """Every learner on every fold, the baseline last; watched."""
    from ..evaluation.cross_validation import baseline, cross
    from ..tasks.fold_learning import learning
    from .progress import shower_of

    total = task.count * len(entries)
    shower, done = shower_of(talking, total, time.monotonic), 0

    def after(fold: int) -> None:
        nonlocal done
        done += 1
        shower.show(done, None)

    found = {}
    try:
        for each in entries:
            found[each.label] = cross(task, learning(encoded, lesson, partial(each.made, talking.seed)), after)
    finally:
        shower.close()
    return {**found, BASELINE: cross(task, baseline(task))}


def _options(
    weights: str | None, group: str | None, missing: str, standardise: bool, reading: Reading, seed: int
) -> list[str]:  # fmt: skip
    """What a fit of the best learner needs beside its name, to see the same rows in the same way."""
    words = [*(["--weights", weights] if weights else []), *(["--group", group] if group else [])]
    words += [*(["--missing", missing] if missing != "error" else []), *(["--standardise"] * standardise)]
    return [*words, *typed_again(reading), *(["--seed", str(seed)] if seed else [])]
