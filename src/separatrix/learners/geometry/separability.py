"""Whether classes can be separated: the test as users call it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data import Rows
from ...data.block import Block
from ...data.rows import COMPILE_FROM, in_threads
from ...data.source import Source
from ...errors import DataError, Refusal
from ...fitting.problem import NotFiniteError
from ...geometry.separation.cases import NEAR_MEAN, Cases, ExactFrame, frame_of
from ...geometry.separation.proof import SeparationAnswer, prove, separated_by
from ...geometry.separation.search import Arrangement, HiddenSeparationError, SeparationSearch
from ...geometry.separation.signs import all_finite, coefficient_kinds
from ...geometry.separation.wide import separating_rule
from ...numerics.threads import ordered_map, thread_count
from ...results.separability import INTERCEPT, LazyMapping, Separability
from ...results.verdict import Rank
from ...wording import learner
from ..checks.rows import check_lengths, checked_costs, checked_rows, names_of, new_columns, not_finite, present
from ..checks.settings import checked_flag
from ..checks.targets import checked_targets, class_costs, rows_of

SINGLE_THREAD_BELOW = 2_000_000
"""Numbers in X from which threads pay."""
LATE = 50_000
"""Numbers in X from which signs of coefficients wait until asked for."""
CHECKED = 1 << 16
"""Numbers in X up to which every answer is checked."""
SEEN = 1024
"""Rows that tell of more numbers which columns have hardly any near the largest."""
USUAL = 1e6
"""A number is near the largest if it is no smaller by this factor."""
FEW = 10
"""Rows near the largest from which a column is usual."""
LOST = 1e10
"""In a column that is not usual a distance smaller than the largest number by this factor may be lost."""
MANY = 40
"""Directions that are left, from which on each sign takes long."""
MOST_WEIGHTS = 4000
"""Weights, beyond which the working rows alone would fill the memory."""
MOST_NUMBERS = 20_000_000
"""Numbers that sparse rows with more columns than these may have when they are all written out."""


def separability(X: Any, y: Any, sample_weight: Any = None, fit_intercept: bool = True) -> Separability:
    """∃ w, b with yᵢ(xᵢᵀw + b) ≥ 0 for all i, and > 0 for all (separated), some (quasi-separated) or none (overlap)?

    Of K classes: scores sₖ = xᵀwₖ + bₖ with s_own ≥ s_other for every row and every other class. Whether maximum
    likelihood has a finite answer hangs on this and on nothing else. The answer is proved: `result.check(X, y)` goes
    through the proof with the data, in exact arithmetic or with proven bounds on rounding. It does not depend on the
    units of the columns, the order of the rows or how often each is there.

    Parameters
    ----------
    X : array, data frame or sparse matrix of numbers, rows × columns
        It is neither copied nor changed; of sparse rows only a few are ever written out with their zeros. Columns that
        are combinations of others are left out, and named.
    y : labels of two classes or more, or probabilities as in LogisticRegression
        A row that may be of several classes counts as a row of each.
    sample_weight : array or None
        Rows of weight zero do not count; other weights do not matter here.
    fit_intercept : bool
        Whether there is an intercept b.

    Returns
    -------
    Separability
        kind, the largest set of rows that can be separated, what becomes of each coefficient, and the certificate.

    Examples
    --------
    >>> result = separability([[-1], [0], [0], [1]], ["no", "no", "yes", "yes"])
    >>> result.kind, result.rows.tolist(), result.coefficients
    ('quasi-separated', [0, 3], {'x0': '+inf', '(intercept)': 'finite'})
    >>> result.check([[-1], [0], [0], [1]], ["no", "no", "yes", "yes"])
    True
    """
    checked_flag("fit_intercept", fit_intercept)
    read = new_columns("separability")
    given = checked_rows(read, X, reset=True)
    targets = checked_targets(read, y)
    check_lengths(len(given), len(targets))
    cost = checked_costs(sample_weight, len(given))
    if cost.size:
        class_costs(None, targets, cost)  # a class whose rows all weigh nothing is not there
    columns = names_of(read, given.shape[1])
    if INTERCEPT in columns and fit_intercept:
        raise DataError(f"X has a column named {INTERCEPT!r}, as the intercept is called here: rename it.")
    source: Source = rows_of(
        present(given, cost), targets, cost, (1.0,) * len(targets.classes), compiled=given.size >= COMPILE_FROM
    )
    labels = tuple(targets.classes.tolist())
    try:
        with in_threads(source.gathered(), None, SINGLE_THREAD_BELOW) as rows:
            check_finite(rows)
            if not searchable(rows.block, len(labels), bool(fit_intercept)):
                return _wide(rows, labels, columns, bool(fit_intercept), index_of(X))
            found, proved = separation_of(rows, len(labels), bool(fit_intercept))
    except NotFiniteError:
        raise not_finite(given, columns, read) from None
    result = result_of(found, proved, labels, columns, index_of(X))
    waits = isinstance(result.coefficients, LazyMapping)  # what a check would ask for is worked out at need
    if not waits and _may_be_lost(rows.block, proved.kind) and not result.check(X, y, sample_weight):
        raise HiddenSeparationError
    return result


def _may_be_lost(block: Block, kind: str) -> bool:
    """Whether there may be differences in a column that are lost beside its largest number; of few numbers always.

    Then the answer is gone through by the check before it is given. An overlap is proved by rows that balance exactly;
    of many sparse rows, whose columns are nearly all like that, it is left to who asks.
    """
    if block.size <= CHECKED:
        return True
    if kind == "overlap" or not block.at_hand:
        return False
    X = block.dense()
    some = X[:: max(1, len(X) // SEEN)]
    middle = np.median(some, axis=0)
    apart = np.abs(some - middle)
    if ((apart >= max(X.max(), -X.min()) / USUAL).sum(axis=0) >= FEW).all():  # no number is far out: soon seen
        return False
    size = block.largest()
    usual = (apart >= size / USUAL).sum(axis=0)
    for j in np.flatnonzero((usual < FEW) & (size > 0)):  # beside the largest nearly all numbers are one
        apart = np.abs(X[:, j] - middle[j])
        if ((apart > 0) & (apart < size[j] / LOST)).any():
            return True
    return False


def searchable(X: Block, classes: int, lifted: bool) -> bool:
    """Whether weights, and numbers of sparse rows that are written out, are few enough for the search.

    No more weights count than there are rows, since all columns beyond that are combinations of others; but it takes
    all rows to see of which.
    """
    columns, rows = len(X.occurring()) + lifted, len(X)
    few = (classes - 1) * min(columns, rows) <= MOST_WEIGHTS
    return few and (columns <= MOST_WEIGHTS or rows * columns <= MOST_NUMBERS or not X.by_numbers)


def _wide(rows: Rows, labels: tuple[Any, ...], columns: tuple[str, ...], lifted: bool, index: Any) -> Separability:
    """The answer where there are too many weights for the search: *separated*, if a rule that separates is soon found.

    What becomes of each coefficient is not worked out, nor which columns are combinations of others.
    """
    K, d, n = len(labels), len(columns), len(rows)
    cases = Cases.of(rows, K, lifted, ExactFrame(np.zeros(d), np.ones(d)))
    full = separating_rule(cases)
    if full is None:
        weights = (K - 1) * min(d + lifted, n)
        size = (
            f"{K} classes and {d} columns have {weights} weights"
            if weights > MOST_WEIGHTS
            else (f"{n} sparse rows of {d} columns have {n * d} numbers when written out with their zeros")
        )
        most = f"{MOST_WEIGHTS}" if weights > MOST_WEIGHTS else f"{MOST_NUMBERS}, or {MOST_WEIGHTS} weights"
        raise Refusal(
            f"{size}; separability can tell for at most {most}, unless a descent soon finds a rule that separates "
            "all rows, and here it found none. Ask for fewer classes or columns, or fit "
            f"{learner('LogisticRegression')}: its "
            "verdict says whether its rule separates the classes or its minimum exists."
        )
    proved = separated_by(cases, full)
    names = dict.fromkeys([*columns, *([INTERCEPT] * lifted)], "undetermined")
    coefficients = names if K == 2 else {label: dict(names) for label in labels[:-1]}
    return Separability(
        proved.kind, proved.rows, proved.partly, _names(proved, index), coefficients, proved.proof,
        Rank(None, d + lifted, ()), labels, columns, lifted, n,
    )  # fmt: skip


def index_of(X: Any) -> Any:
    """The names of the rows of a data frame; None for an array."""
    return X.index if hasattr(X, "iloc") else None


def separation_of(rows: Rows, classes: int, lifted: bool) -> tuple[Arrangement, SeparationAnswer]:
    """Search and proof; where rounding stands in the way, once more with columns centred at their means."""
    for near in (NEAR_MEAN, 0.0):
        try:
            hunt = SeparationSearch(Cases.of(rows, classes, lifted, frame_of(rows, lifted, 0, near)), 0)
            for _ in hunt.steps():
                pass
            return hunt.found, prove(hunt.found)
        except HiddenSeparationError:
            if not near:
                raise
    raise AssertionError("the second try returns or raises")


def check_finite(rows: Rows) -> None:
    """One pass that finds NaN and infinity."""
    with np.errstate(over="ignore", invalid="ignore"):
        for total in rows.each(lambda part, lo, hi: part.block[lo:hi].sum()):
            if not np.isfinite(total) and not rows.block.finite():
                raise NotFiniteError


def result_of(
    found: Arrangement, proved: SeparationAnswer, classes: tuple[Any, ...], columns: tuple[str, ...], index: Any
) -> Separability:
    """The answer with its names."""
    cases = found.cases
    of = len(columns) + cases.lifted
    aliased = tuple(columns[j] for j in found.aliased)

    def coefficients() -> Mapping[Any, Any]:
        return _named(_kinds(found, proved.kind), classes, [*columns, INTERCEPT])

    late = found.directions.shape[1] > MANY or (proved.kind == "separated" and cases.block.size > LATE)
    kinds = LazyMapping(coefficients) if late else coefficients()
    return Separability(
        proved.kind, proved.rows, proved.partly, _names(proved, index), kinds, proved.proof,
        Rank(of - len(aliased), of, aliased), classes, columns, cases.lifted, len(cases.block),
    )  # fmt: skip


def _names(proved: SeparationAnswer, index: Any) -> tuple[Any, ...]:
    """The rows that are separated, as a data frame calls them."""
    rows = proved.rows.tolist()
    return tuple(rows) if index is None else tuple(index[i] for i in rows)


def _kinds(found: Arrangement, kind: str) -> NDArray[np.str_]:
    """What becomes of each coefficient, with threads of its own: the search's are gone when this is asked."""
    if kind == "overlap":
        return all_finite(found.cases)
    with ordered_map(thread_count(None) if found.cases.compiled else 1) as each:
        return coefficient_kinds(replace(found, cases=replace(found.cases, map=each)))


def _named(kinds: NDArray[np.str_], classes: tuple[Any, ...], names: list[str]) -> Mapping[Any, Any]:
    by_class = [dict(zip(names, row.tolist(), strict=False)) for row in kinds]
    return by_class[0] if len(classes) == 2 else dict(zip(classes[:-1], by_class, strict=True))
