"""What naive Bayes is given: families, priors, and rows, whose numbers their families must know."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.block import Block
from ...data.rows import in_threads
from ...data.source import Source
from ...errors import DataError, Refusal, SettingError
from ...fitting.closed.column_statistics import ColumnFamilies, ColumnStatistics, InfiniteError, gather
from ...fitting.closed.naive_bayes import EstimateError
from ...fitting.closed.support import Support, first_outside
from ...losses.families import ALL, Bernoulli, Categorical, Family, Gaussian
from ...numerics.arrays import Floats
from ...wording import setting
from ..checks.rows import out_of_range
from ..checks.settings import checked_choice, checked_number, checked_numbers
from ..checks.targets import class_rows

SUM_TO_ONE = 1e-9
"""How far from one given priors may sum."""


def checked_families(model: Any, columns: tuple[str, ...]) -> ColumnFamilies:
    """A family for each column."""
    variance = checked_choice("variance", model.variance, ("own", "shared"))
    given = model.families
    chosen = _by_column(given, columns) if isinstance(given, Mapping) else [family_of(given)] * len(columns)
    families = tuple(Gaussian(variance) if each == Gaussian() else each for each in chosen)
    return ColumnFamilies(families, _checked_threshold(model.threshold, families))


def family_of(given: Any) -> Any:
    """A family by its name, or as it is."""
    if isinstance(given, Family | Gaussian | Categorical):
        return given
    if isinstance(given, str) and given in ALL:
        return ALL[given]
    word = (
        f"the class {given.__name__}: give an instance, {given.__name__}()" if isinstance(given, type) else repr(given)
    )
    raise SettingError(
        "families", given, f"a family is one of {', '.join(map(repr, ALL))}, an instance of "
        "separatrix.families.Family, or a dict of these by column.", f"{setting('families')} has {word};",
    )  # fmt: skip


def _by_column(given: Mapping[Any, Any], columns: tuple[str, ...]) -> list[Any]:
    """The families of a dict: by the column's name or number, ... standing for all that are not named."""
    found: list[Any] = [None] * len(columns)
    for key, value in given.items():
        if key is ...:
            continue
        j = _place(key, columns)
        if found[j] is not None:
            twice = f"{setting('families')} names the column {columns[j]!r} twice, by its name and by its number;"
            raise SettingError("families", given, "once is enough.", twice)
        found[j] = family_of(value)
    missing = [j for j, each in enumerate(found) if each is None]
    if missing and ... not in given:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise SettingError(
            "families", given, "name every column, or add {...: family} for all others.",
            f"{setting('families')} says nothing of the column {columns[missing[0]]!r}{more}:",
        )  # fmt: skip
    return [family_of(given[...]) if each is None else each for each in found]


def _place(key: Any, columns: tuple[str, ...]) -> int:
    if isinstance(key, str) and key in columns:
        return columns.index(key)
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < len(columns):
        return int(key)
    shown = ", ".join(map(repr, columns[:5])) + (", …" if len(columns) > 5 else "")
    strange = f"{setting('families')} names {key!r}, which is no column of X:"
    raise SettingError("families", key, f"X has {len(columns)}, {shown}.", strange)


def _checked_threshold(threshold: Any, families: tuple[Any, ...]) -> float | None:
    if threshold is None:
        return None
    if not isinstance(threshold, numbers.Real) or not np.isfinite(float(threshold)):
        raise SettingError("threshold", threshold, "it must be a finite number, or None.")
    if Bernoulli() not in families:
        raise SettingError("threshold", threshold, "no column is Bernoulli: leave it out, or change families.")
    return float(threshold)


def checked_smoothing(smoothing: Any) -> float:
    """α ≥ 0."""
    return checked_number("smoothing", smoothing, least=0)


def check_priors(priors: Any) -> None:
    """None, "equal", or positive numbers that sum to one."""
    if priors is None or (isinstance(priors, str) and priors == "equal"):
        return
    if isinstance(priors, str):
        raise SettingError("priors", priors, "it must be None (learnt), 'equal', or a probability for each class.")
    given = checked_numbers("priors", priors)
    if given.ndim != 1 or (given <= 0).any():
        raise SettingError("priors", priors, "a positive number for each class, in order, is needed.")
    if abs(given.sum() - 1) > SUM_TO_ONE:
        needed = "probabilities sum to one: divide them by their sum."
        raise SettingError("priors", priors, needed, f"{setting('priors')} sum to {given.sum():.10g};")


def log_priors(priors: Any, weight: Floats, classes: NDArray[Any]) -> Floats:
    """log p(k), given, equal, or the share of the class in the rows' weight."""
    if priors is None:
        return np.log(weight) - np.log(weight.sum())  # type: ignore[no-any-return]
    if isinstance(priors, str):
        return np.full(len(classes), -np.log(len(classes)))
    given = checked_numbers("priors", priors)
    if len(given) != len(classes):
        raise EstimateError(
            f"{setting('priors')} has {len(given)} numbers; one for each of the {len(classes)} classes "
            f"{classes.tolist()} is needed."
        )
    return np.log(given)  # type: ignore[no-any-return]


def support_of(families: ColumnFamilies) -> Support:
    """What numbers the families know."""
    free = Gaussian()
    known = [free if families.threshold is not None and each == Bernoulli() else each for each in families.by_column]
    return Support(
        np.array([getattr(each, "lowest", -np.inf) for each in known], float),
        np.array([getattr(each, "highest", np.inf) for each in known], float),
        np.array([getattr(each, "whole", False) for each in known], bool),
    )


def check_values(rows: Source, families: ColumnFamilies, columns: tuple[str, ...]) -> None:
    """All numbers such as their families know."""
    if families.threshold is not None and families.threshold < 0 and rows.kind.skips_zeros:
        raise Refusal(
            f"{setting('threshold')} is {families.threshold:g} and X is sparse: every zero that is left out would "
            f"become a one. Use {setting('threshold', 0.0)} or more, or pass X.toarray()."
        )
    found = first_outside(rows, support_of(families))
    if found is None:
        return
    i, j = found
    value, family = rows.take(np.array([i])).dense()[0, j], families.by_column[j]
    if family == Bernoulli():
        raise DataError(
            f"is {value:g}; a Bernoulli column holds 0 and 1 only: set {setting('threshold')}, so that a number counts "
            "as 1 if it is larger, or choose another family.",
            array="X", row=i, column=columns[j], value=value,
        )  # fmt: skip
    negative = " (Negative values in data)" if value < 0 and family.lowest == 0 else ""
    allowed = "whole numbers" if family.whole else "numbers"
    low = "" if np.isinf(family.lowest) else f" of {family.lowest:g} or more"
    high = "" if np.isinf(family.highest) else f" {'and' if low else 'of'} {family.highest:g} or less"
    raise DataError(
        f"is {value:g}; {_article(family.name)} column holds {allowed}{low}{high}: correct it, or choose another "
        f"family for this column.{negative}",
        array="X", row=i, column=columns[j], value=value,
    )  # fmt: skip


def infinite(X: Block, columns: tuple[str, ...], model: Any) -> DataError:
    """The error that names the first infinity of X, or says that sums overflow."""
    found = X.first(lambda numbers, columns: np.isinf(numbers))
    if found is None:
        return out_of_range(X.changed(np.nan_to_num, np.arange(X.shape[1])).largest(), columns)
    i, j = found
    value = float(X[i : i + 1].dense()[0, j])
    problem = (
        f"is {value}: {type(model).__name__} needs finite numbers, or NaN for what is missing; clip it, or drop the "
        "row."
    )
    return DataError(problem, array="X", row=i, column=columns[j], value=value)


def statistics_of(
    model: Any, rows: Source, classes: int, families: ColumnFamilies, names: tuple[str, ...]
) -> ColumnStatistics:
    """What the rows say, once they are found to be such as the families know."""
    with in_threads(rows) as shared:
        check_values(shared, families, names)
        try:
            return gather(shared, classes, families)
        except InfiniteError:
            raise infinite(rows.gathered().block, names, model) from None


def joined_statistics(
    model: Any,
    before: tuple[ColumnStatistics, NDArray[Any]],
    rows: Any,
    labels: NDArray[Any],
    cost: Floats,
    families: ColumnFamilies,
    names: tuple[str, ...],
) -> tuple[ColumnStatistics, NDArray[Any]]:
    """What was known and what these rows say, over the classes of both; rows that do not count bring none."""
    (statistics, known), count = before, len(rows)
    seen = statistics.rows + count
    if cost.size and not (cost > 0).all():
        rows, labels, cost = rows[cost > 0], labels[cost > 0], cost[cost > 0]
    found = np.union1d(known, labels) if known.size else np.unique(labels)
    statistics = statistics.grown(np.searchsorted(found, known), len(found))
    if len(rows):
        target = np.searchsorted(found, labels)
        fresh = statistics_of(model, class_rows(rows, target, cost), len(found), families, names)
        try:
            statistics = statistics.merge(fresh)
        except InfiniteError:
            raise infinite(rows, names, model) from None
    return replace(statistics, rows=seen), found


def check_same(families: ColumnFamilies, before: ColumnFamilies) -> None:
    """The families of the rows before these."""
    if families.by_column != before.by_column or families.threshold != before.threshold:
        raise Refusal(
            f"{setting('families')}, {setting('variance')} or {setting('threshold')} were changed since the rows "
            "before these were learnt from: call fit, which forgets them."
        )


def _article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
