"""Teach a learner while somebody watches, who may stop it."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from numpy.linalg import LinAlgError

from ...data.reading import largest
from ..tables.errors import Remedy, TableError
from ..tasks.learners import LEARNERS, Learner
from ..tasks.lesson import Lesson
from ..tasks.typed_values import KINDS, option
from .answer import UsageError
from .options import Talking
from .wording import in_options

HUGE = 1e100
"""Numbers whose sums of squares may overflow on their way."""


def check_weights(name: str, learner: Learner) -> None:
    """Only some learners know weights."""
    if not learner.weights:
        able = ", ".join(known for known, each in LEARNERS.items() if each.weights)
        raise UsageError(f"The learner {name!r} knows no weights: leave --weights out, or take one of {able}.")


def teach(estimator: Any, learner: Learner, lesson: Lesson, talking: Talking, *, reduced: bool = False) -> None:
    """Fit, watched; after one Ctrl-C the verdict is *interrupted*, and the learner keeps what it has."""
    from .progress import watch

    given = (lesson.X, lesson.y) if lesson.weights is None else (lesson.X, lesson.y, lesson.weights)
    with told_by_the_verdict(), overflow_told(lesson), in_words_of_options():
        if learner.course and not reduced:
            steps: Iterable[Any] = getattr(estimator, learner.course)(*given)
            for _ in watch(steps, talking, getattr(estimator, "max_passes", None)):
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
        size = largest(lesson.X)
        j = int(size.argmax())
        if not size[j] > HUGE:
            raise
        column = next(each.name for each in lesson.encoding.columns if lesson.encoding.names[j] in each.features)
        raise TableError(
            f"its numbers reach {size[j]:.3g}, and sums of their squares overflow", column=column,
            remedies=[Remedy("give it larger units in the file, or leave it out", f"--drop {shlex.quote(column)}"),
                      Remedy("or give number columns the mean 0 and the deviation 1", "--standardise")],
        ) from error  # fmt: skip


@contextmanager
def told_by_the_verdict() -> Iterator[None]:
    """No warnings of learners: the verdict says the same, and the command prints it."""
    from ...learners.warnings import BudgetWarning, NotSeparableWarning, SeparationWarning

    with warnings.catch_warnings():
        for kind in (BudgetWarning, NotSeparableWarning, SeparationWarning):
            warnings.simplefilter("ignore", kind)
        yield


@contextmanager
def in_words_of_options() -> Iterator[None]:
    """What a learner refuses, in its own sentence, with names as they are typed: a setting, or else the rows."""
    try:
        yield
    except (ValueError, TypeError) as error:  # what NumPy's linear algebra cannot do is a ValueError
        if not _is_ours(error):
            raise
        sentence, first = in_options(str(error)), str(error).partition(" ")[0].partition("=")[0]
        if first in KINDS or first == "random_state":
            raise UsageError(sentence if sentence.startswith("--") else f"--{sentence}") from error
        raise TableError(sentence) from error


def _is_ours(error: BaseException) -> bool:
    """Whether the sentence was written here; another library's tells of a bug."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and str(trace.tb_frame.f_globals.get("__name__", "")).startswith("separatrix.")


def with_features(estimator: Any, asked: str, name: str) -> None:
    """Give a learner the features that a text like 'standardise,polynomial:2' names."""
    if "features" not in estimator.get_params(deep=False):
        raise UsageError(f"{option('features')} is for the learner 'logistic'; {name!r} is linear in the columns.")
    estimator.set_params(features=[_feature(part.strip()) for part in asked.split(",")])


def _feature(text: str) -> Any:
    from ...learners import features

    kind, _, size = text.partition(":")
    makers = {
        "polynomial": lambda: features.Polynomial(int(size or 2)),
        "interactions": features.Interactions,
        "standardise": features.Standardise,
    }
    if kind not in makers or (size and (kind != "polynomial" or not size.isdecimal())):
        raise UsageError(
            f"--features has {text!r}; it is a list of polynomial:2 (or another degree), interactions and standardise, "
            "such as standardise,polynomial:2."
        )
    return makers[kind]()
