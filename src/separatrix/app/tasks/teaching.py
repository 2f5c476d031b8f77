"""Teach a learner while somebody watches, who may stop it."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from numpy.linalg import LinAlgError

from ...data.reading import largest
from ...errors import SettingError
from ...wording import setting
from ..tables.errors import Remedy, TableError
from .learners import Learner
from .lesson import Lesson

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


def with_features(estimator: Any, texts: str, name: str) -> None:
    """Give a learner the features that a text like 'standardise,polynomial:2' names."""
    if "features" not in estimator.get_params(deep=False):
        raise SettingError("features", texts, f"{name!r} is linear in the columns.",
                           f"{setting('features')} is for the learner 'logistic';")  # fmt: skip
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
