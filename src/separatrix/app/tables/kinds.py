"""What each column is taken for, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...numerics.arrays import Floats
from ...wording import setting
from .cells import spaced
from .columns import Decision, Kind, Profile
from .errors import Remedy, TableError, did_you_mean, in_sql
from .table import Table, profile_of_levels

MOSTLY = 0.9
"""Where at least this share of a column are numbers, it is a column of numbers, and the other cells are errors."""
MOST_LEVELS = 1000
"""Levels of a category that nobody asked for, at the most."""
FEW_LEVELS = 20
"""Levels that a category may have even where hardly a value is there twice."""
FEW_NUMBERS = 20
"""Different numbers that may be meant as levels: the column is one of numbers, and it is said how to change that."""
BLOCK = 1 << 14
"""Numbers that are added up together: they stay in the cache."""


def decide(
    table: Table, *, target: str | None = None, weights: str | None = None, group: Sequence[str] = (),
    number: Sequence[str] = (), category: Sequence[str] = (), drop: Sequence[str] = (), na: Sequence[str] = (),
) -> tuple[Decision, ...]:  # fmt: skip
    """How every column of a table is read, in the order of the table.

    `na` is what the table was opened with: it is known there, and only named here so that errors can speak of it.
    """
    asked = _asked(table, target, weights, group, number, category, drop)
    fetch_ahead = getattr(table, "fetch_ahead", None)
    if fetch_ahead is not None:
        levels = ("drop", "target", "group", "category")
        fetch_ahead([name for name in table.names if asked.get(name) not in levels])
    each = getattr(table, "each", map)
    return tuple(each(lambda name: _decide(table, name, asked.get(name, ""), na), table.names))


def _asked(
    table: Table, target: str | None, weights: str | None, group: Sequence[str], number: Sequence[str],
    category: Sequence[str], drop: Sequence[str],
) -> dict[str, str]:  # fmt: skip
    """What the user said of each column; a name that is not there, or is given two parts, is an error."""
    said = {
        "target": [] if target is None else [target], "weights": [] if weights is None else [weights],
        "group": group, "number": number, "category": category, "drop": drop,
    }  # fmt: skip
    asked: dict[str, str] = {}
    for option, names in said.items():
        for name in names:
            if name not in table.names:
                raise TableError(
                    f"{setting(option, name if option in ('target', 'weights') else (name,))}: there is no such column",
                    column=name,
                    because=did_you_mean(name, table.names) or f"The columns are {', '.join(table.names[:12])}.",
                )
            other = asked.get(name, option)
            if other in ("target", "group") and option == "category":
                continue  # they are read as levels anyway
            if other != option:
                both = f"{setting(other)} and {setting(option)}"
                raise TableError(f"{both} both name {name!r}; it can be only one", column=name)
            asked[name] = option
    return asked


def _decide(table: Table, name: str, asked: str, na: Sequence[str]) -> Decision:
    if asked == "drop":
        return Decision(name, "ignored", said_of("drop"))
    if asked == "target":
        return _target(table, name)
    if asked == "weights":
        return _weights(table, name)
    if asked == "group":
        return _levels(table, name, "group", said_of("group"))
    seen = profile_of(table, name)
    if asked == "category":
        return _levels(table, name, "category", said_of("category"))
    if asked == "number":
        return _number(table, name, seen, said_of("number"))
    return _undirected(table, name, seen)


def said_of(option: str) -> str:
    """Why a column is read as it is, where the user decided it."""
    return f"{setting(option)} was said of it"


def _undirected(table: Table, name: str, seen: Profile) -> Decision:
    """A column of which the user said nothing."""
    as_levels = setting("category", (name,))
    if not seen.values:
        return _ignored(name, seen, "it holds no value")
    if seen.family == "nested":
        return _ignored(name, seen, "it holds lists, structures or bytes")
    if seen.family == "time" or seen.times == seen.values:
        return _ignored(
            name,
            seen,
            f"its values are dates or times: make numbers of them (days since a first day, say), or say {as_levels}",
        )
    if seen.numbers >= MOSTLY * seen.values:
        return _number(table, name, seen)
    if seen.commas == seen.values:
        raise _decimal_commas(table, name)
    if seen.distinct == 1:
        return _ignored(name, seen, "it has the same value in every row that has one")
    if seen.distinct == seen.values:
        return _ignored(
            name,
            seen,
            f"every value is different, as in an identifier; {as_levels} reads it as levels all the same",
        )
    count = seen.distinct or 0
    if count > MOST_LEVELS or (count > FEW_LEVELS and 2 * count > seen.values):
        return _ignored(
            name,
            seen,
            f"{spaced(count)} levels in {spaced(seen.values)} values are too many; {as_levels} reads it all the same",
        )
    return _levels(table, name, "category")


def _decimal_commas(table: Table, name: str) -> TableError:
    codes, levels = table.coded(name)
    row = int(np.argmax(codes >= 0))
    return TableError(
        f"{levels[codes[row]]!r} is written with a decimal comma",
        place=table.place(row),
        column=name,
        value=levels[codes[row]],
        because=f"all values of {name!r} are.",
        remedies=[
            Remedy("read commas as decimal signs", "decimal", ","),
            Remedy(f"or read {name} as a category", "category", (name,)),
        ],
    )


def _number_words(seen: Profile) -> str:
    if seen.numbers == seen.values:
        return "every value is a number"
    wrong = seen.values - seen.numbers
    return (
        f"{spaced(seen.numbers)} of {spaced(seen.values)} values are numbers; "
        f"{spaced(wrong)} {'is' if wrong == 1 else 'are'} not, and must be mended"
    )


def _number(table: Table, name: str, seen: Profile, said: str = "") -> Decision:
    why = said or _number_words(seen)
    if seen.numbers < seen.values:  # the cell is named by `numbers`, when a model asks for the column
        return Decision(name, "number", why, seen.missing, seen.distinct)
    values = table.numbers(name)
    summary = _moments(values, missing=seen.missing > 0)
    if summary[0] == summary[1] and not said:
        return _ignored(name, seen, "it has the same value in every row that has one")
    if seen.distinct is not None and seen.distinct <= FEW_NUMBERS and not said:
        whole = "a whole number" if _is_whole(values) else "a number"
        as_levels = setting("category", (name,))
        why = f"every value is {whole}, {seen.distinct} different ones; {as_levels} reads them as levels"
    return Decision(name, "number", why, seen.missing, seen.distinct, (), (), *summary)


def _is_whole(values: Floats) -> bool:
    return bool(np.all((values == np.rint(values)) | np.isnan(values)))


def _moments(values: Floats, *, missing: bool = False) -> tuple[float | None, float | None, float | None, float | None]:
    """Least, greatest, mean, deviation of the values that are there; NaN is where one is missing."""
    there = values[~np.isnan(values)] if missing else values
    if not len(there):
        return None, None, None, None
    blocks = [there[lo : lo + BLOCK] for lo in range(0, len(there), BLOCK)]
    with np.errstate(over="ignore", invalid="ignore"):
        each = [(float(block.min()), float(block.max()), float(block.sum())) for block in blocks]
        least, most, sums = zip(*each, strict=True)
        mean = sum(sums) / len(there)
        variance = sum(float(np.square(block - mean).sum()) for block in blocks) / len(there)
    found = min(least), max(most), mean, math.sqrt(variance) if variance >= 0 else math.nan
    if found[0] == found[1]:
        found = found[0], found[0], found[0], 0.0
    return tuple(x if math.isfinite(x) else None for x in found)  # type: ignore[return-value]


def _target(table: Table, name: str) -> Decision:
    found = _levels(table, name, "target", said_of("target"))
    if found.missing:
        row = int(np.argmax(table.coded(name).codes < 0))
        raise TableError(
            "the target is missing",
            place=table.place(row),
            column=name,
            because=f"{spaced(found.missing)} of {spaced(table.rows)} rows have no target; every row needs one.",
            remedies=[Remedy("leave those rows out", "where", f"{in_sql(name)} IS NOT NULL")],
        )
    return found


def _weights(table: Table, name: str) -> Decision:
    values = table.numbers(name)
    wrong = ~(values >= 0)
    if wrong.any():
        row = int(wrong.argmax())
        missing = bool(np.isnan(values[row]))
        raise TableError(
            "the weight is missing" if missing else f"the weight {values[row]:g} is negative",
            place=table.place(row),
            column=name,
            value=None if missing else f"{values[row]:g}",
            because="weights are numbers ≥ 0; a row of weight 0 counts for nothing.",
            remedies=[Remedy("leave such rows out", "where", f"{in_sql(name)} >= 0")],
        )
    return Decision(name, "weights", said_of("weights"), 0, None, (), (), *_moments(values))


def _levels(table: Table, name: str, kind: Kind, said: str = "") -> Decision:
    codes, levels = table.coded(name)
    counts = np.bincount(codes + 1, minlength=len(levels) + 1)
    order = sorted(range(len(levels)), key=lambda k: (-counts[k + 1], levels[k]))
    words = "1 level" if len(levels) == 1 else f"{spaced(len(levels))} levels"
    if kind == "category" and levels:
        words += f", the reference is {levels[order[0]]!r}"
    return Decision(
        name, kind, f"{said}; {words}" if said else words, int(counts[0]), len(levels), tuple(levels[k] for k in order),
        tuple(int(counts[k + 1]) for k in order),
    )  # fmt: skip


def _ignored(name: str, seen: Profile, why: str) -> Decision:
    return Decision(name, "ignored", why, seen.missing, seen.distinct)


def profile_of(table: Table, name: str) -> Profile:
    """What is seen in a column: a table that counts for itself is asked."""
    own = getattr(table, "profile", None)
    if own is not None:
        found: Profile = own(name)
        return found
    return profile_of_levels(table.coded(name))
