"""What a kernel perceptron is asked for: its parameters, found to make sense."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.kernels.gram import KernelError, Objects
from ...data.kernels.tables import TableKernel
from ...fitting.scan.kernel_scan import KernelCourse
from ...fitting.scan.perceptron import TIES, NotFiniteScoreError
from ...fitting.scan.run import ORDERS
from ...numerics.arrays import Floats
from ...results.dual import JOINT, ONE_VS_REST, TWO
from ..checks.rows import check_lengths, checked_choice, checked_number, checked_numbers
from ..logistic.settings import seed_of
from ..perceptron.base import checked_labels, checked_patience
from .kernel_input import kernel_of, read

READINGS = ("last", "averaged", "voted")
WAYS = {"joint": JOINT, "one-vs-rest": ONE_VS_REST}
OVERFLOWS = ("remove", "project")


def prepared(model: Any, X: Any, y: Any) -> tuple[KernelCourse, NDArray[Any], int | None]:
    """What was given, checked: the course, the classes, the budget."""
    budget, overflow = checked_budget(model.budget), checked_choice("overflow", model.overflow, OVERFLOWS)
    check_reading(model.reading, budget, overflow)
    if model.n_threads is not None and checked_number("n_threads", model.n_threads, least=1) % 1:
        raise ValueError(f"n_threads is {model.n_threads!r}; it must be a whole number, or None.")
    way = WAYS[checked_choice("multiclass", model.multiclass, tuple(WAYS))]
    order = checked_choice("order", model.order, tuple(ORDERS))
    if not isinstance(model.fit_intercept, bool | np.bool_):
        raise ValueError(f"fit_intercept is {model.fit_intercept!r}; it must be True or False.")
    max_passes = checked_number("max_passes", model.max_passes, least=0, strict=True)
    if y is None:
        raise ValueError(
            "KernelPerceptron requires y to be passed, but the target y is None: give a label for each row."
        )
    rows = read(model, X, reset=True)
    with explained(model):
        kernel = kernel_of(model, X, rows)
    target, classes = checked_labels(model, y)
    check_lengths(rows, target)
    model._of_objects, model._learnt_by = isinstance(rows, Objects), model.kernel
    two, chance = len(classes) == 2, order != "cyclic" or (budget is not None and model.overflow == "remove")
    course = KernelCourse(
        rows, target, kernel, bool(model.fit_intercept), TWO if two else way, 1 if two else len(classes),
        checked_choice("ties", model.ties, tuple(TIES)), order, seed_of(model.random_state, needed=chance),
        max_passes, checked_patience(model.patience),
    )  # fmt: skip
    return course, classes, budget


@contextmanager
def explained(model: Any) -> Iterator[None]:
    """What goes wrong with a kernel's numbers, in a sentence."""
    try:
        yield
    except KernelError as error:
        text = str(error)
        raise ValueError(f"{text[0].upper()}{text[1:]}") from None
    except (NotFiniteScoreError, OverflowError) as error:
        named = isinstance(model.kernel, str | TableKernel)
        remedy = "Use larger units for the columns, or a smaller gamma or degree." if named else "Scale it down."
        raise ValueError(
            f"The kernel {model.kernel!r} is not finite on these rows, NaN or infinity: its numbers, or sums of "
            f"them, overflow. {remedy}"
        ) from (None if named else error)


def winners(scores: Floats) -> NDArray[np.intp]:
    """The second of two classes iff its score is > 0, of K the first of the strongest."""
    found: NDArray[np.intp] = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    return found


def check_reading(reading: Any, budget: int | None, overflow: str) -> None:
    """A reading that needs no row that a budget has removed."""
    checked_choice("reading", reading, READINGS)
    if budget is None or reading == "last" or (reading == "averaged" and overflow == "project"):
        return
    why = "the votes of all weights need all rows that were ever mistaken"
    if reading == "averaged":
        why = "the mean of all weights needs the rows that were removed"
    raise ValueError(
        f"reading={reading!r} does not go with budget={budget} and overflow={overflow!r}: {why}. "
        "reading='last' does, and with overflow='project' also reading='averaged'."
    )


def checked_passes(passes: Any) -> Floats:
    """Numbers of passes, one or more of them."""
    found = np.atleast_1d(checked_numbers("passes", passes))
    if found.ndim > 1 or (found < 0).any():
        raise ValueError(f"passes is {passes!r}; it must be a list of numbers of passes, zero or more.")
    return found


def checked_budget(budget: Any) -> int | None:
    """A whole number of rows; None is no limit."""
    if budget is None:
        return None
    if not isinstance(budget, numbers.Integral) or budget is True or budget < 1:
        raise ValueError(f"budget is {budget!r}; it must be a whole number of rows, one or more, or None for no limit.")
    return int(budget)
