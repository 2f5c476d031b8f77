"""Φ(x, c) of rows and all classes, as a feature map gives it, found to be what a feature map must give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ...numerics.arrays import EPS, Floats
from .joint import written_out

HELD = 1 << 25
"""Numbers of Φ that are kept, 256 MB; of more rows the map is asked again, block by block, on each pass."""
BLOCK = 1 << 20
"""Numbers of Φ in one block."""
ALIKE = 1e-9
"""Relative: how far Φ of a row may differ when it is asked for with other rows; rounding, no more."""


class FeatureMapError(DataError):
    """A map Φ(x, c) gave something that joint features cannot be."""


@dataclass(frozen=True, eq=False)
class Features:
    """Φ of the rows X: rows × classes × p numbers, kept or asked for again."""

    feature_map: Any
    """Bound to the classes."""
    classes: tuple[Any, ...]
    X: Any
    names: tuple[str, ...]
    free: tuple[int, ...]
    kept: Floats | None = None

    @classmethod
    def of(cls, feature_map: Any, classes: tuple[Any, ...], X: Any) -> Features:
        """Φ of rows that are learnt from: the map's first look at them says how many features there are."""
        n = count(X)
        few = _evaluated(feature_map, take(X, slice(0, min(n, 2))), classes, np.arange(2), ())
        names = names_of(feature_map, few.shape[2])
        made = cls(feature_map, classes, X, names, free_of(feature_map, names))
        _check_rows_alone(made)
        if n * len(classes) * len(names) <= HELD:
            return replace(made, kept=made[slice(0, n)])
        return made

    def __len__(self) -> int:
        return count(self.X)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, classes, features."""
        return len(self), len(self.classes), len(self.names)

    def __getitem__(self, rows: slice | NDArray[Any]) -> Floats:
        """Φ of these rows: rows × classes × p."""
        if self.kept is not None:
            return self.kept[rows]
        places = np.arange(len(self))[rows]
        return _evaluated(self.feature_map, take(self.X, rows), self.classes, places, self.names)

    def on(self, X: Any) -> Features:
        """These features of other rows."""
        return replace(self, X=X, kept=None)

    def some(self, rows: NDArray[Any]) -> Features:
        """These features of some of the rows."""
        return replace(self, X=take(self.X, rows), kept=None if self.kept is None else self.kept[rows])

    def runs(self) -> Iterator[slice]:
        """The rows, a block at a time."""
        n, K, p = self.shape
        step = max(1, BLOCK // (K * p))
        return (slice(lo, min(lo + step, n)) for lo in range(0, n, step))

    def scores(self, theta: Floats) -> Floats:
        """θ·Φ(x, c), rows × classes."""
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [self[rows] @ theta for rows in self.runs()]
        return np.concatenate(parts) if parts else np.empty((0, len(self.classes)))


def count(X: Any) -> int:
    """How many rows there are."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def read_only(X: Any) -> Any:
    """The rows as a map can read them but not write into them: they are the user's."""
    if isinstance(X, np.ndarray):
        X = X.view()
        X.flags.writeable = False
    elif hasattr(X, "tocsr"):
        X = type(X)((read_only(X.data), X.indices, X.indptr), shape=X.shape)
    return X


def take(X: Any, rows: slice | NDArray[Any]) -> Any:
    """These rows: of a list, a list."""
    if hasattr(X, "shape") or isinstance(rows, slice):
        return X[rows]
    return [X[i] for i in rows.tolist()]


def names_of(feature_map: Any, p: int) -> tuple[str, ...]:
    """The names of the features; f0, f1, … where the map gives none."""
    given = getattr(feature_map, "names", ())
    if not given or callable(given):
        return tuple(f"f{j}" for j in range(p))
    if len(given) != p:
        raise FeatureMapError(
            f"The feature map has {len(given)} names and gives {p} numbers: each feature needs one name."
        )
    names = tuple(map(str, given))
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise FeatureMapError(f"Of the feature map's names two features are named {name!r}: give each its own.")
        seen.add(name)
    return names


def free_of(feature_map: Any, names: tuple[str, ...]) -> tuple[int, ...]:
    """The places of the features that no penalty touches."""
    given = getattr(feature_map, "free", ())
    wrong = [each for each in given if not (isinstance(each, int | np.integer) and 0 <= each < len(names))]
    if wrong:
        raise FeatureMapError(
            f"The feature map's free names {wrong[0]!r}; places from 0 to {len(names) - 1} are needed."
        )
    return tuple(sorted({int(each) for each in given}))


def _evaluated(
    feature_map: Any, X: Any, classes: tuple[Any, ...], places: NDArray[Any], names: tuple[str, ...]
) -> Floats:
    """Φ of these rows, which are the rows `places` of all; no names: nobody knows yet how many features there are."""
    n, out = count(X), np.empty((0, 0, 0))
    for k, c in enumerate(classes):
        found = _numbers(_called(feature_map, X, c), c, n)
        if k == 0:
            out = np.empty((n, len(classes), found.shape[1]))
        if found.shape[1] != out.shape[2]:
            raise FeatureMapError(
                f"The feature map gives {out.shape[2]} numbers for class {classes[0]!r} and {found.shape[1]} for "
                f"{c!r}: Φ(x, c) must be as long for every class. Where a class lacks a feature, give zero."
            )
        bad = ~np.isfinite(found)
        if bad.any():
            i, j = (int(at) for at in np.argwhere(bad)[0])
            called = repr(names[j]) if names else j
            raise FeatureMapError(
                f"The feature map gives {'NaN' if np.isnan(found[i, j]) else 'infinity'} for row {places[i]}, class "
                f"{c!r}, feature {called}; finite numbers are needed. Look at that row of X (Input X contains NaN or "
                "infinity there, or the map makes it).",
                row=int(places[i]),
                column=names[j] if names else j,
                value=float(found[i, j]),
            )
        out[:, k] = found
    if not out.shape[2]:
        raise FeatureMapError(
            "The feature map gives no number at all: rows × features are needed, one feature at the least."
        )
    if names and out.shape[2] != len(names):
        raise FeatureMapError(
            f"The feature map gives {out.shape[2]} numbers for these rows; it gave {len(names)} before."
        )
    return out


def _called(feature_map: Any, X: Any, c: Any) -> Any:
    try:
        return feature_map(read_only(X), c)
    except Exception as error:
        hint = " It must not write into X, which is yours: make a copy in the map." if "read-only" in str(error) else ""
        raise FeatureMapError(
            f"The feature map failed for class {c!r}, with {type(error).__name__}: {error}.{hint} It is called as "
            "feature_map(X, c), with all rows and one class; rowwise(phi) makes such a map of a function of one row."
        ) from error


def _numbers(found: Any, c: Any, n: int) -> Floats:
    """What the map gave for class c, as rows × features."""
    found = written_out(found)
    try:
        table = np.asarray(found)
    except ValueError:
        table = np.empty(0, object)
    if table.dtype.kind == "O" or table.ndim != 2:
        _check_lengths(found, c, n)
    if table.ndim != 2:
        what = f"an array of shape {table.shape}" if table.size and np.ndim(table) else repr(found)[:60]
        raise FeatureMapError(
            f"The feature map gives {what} for class {c!r}; rows × features are needed, here {n} × p, because it is "
            "called with all rows at once. If it is a function phi(x, c) of one row, write rowwise(phi)."
        )
    if len(table) != n:
        raise FeatureMapError(
            f"The feature map gives {len(table)} rows for class {c!r}, and was given {n}. If it is a function "
            "phi(x, c) of one row, write rowwise(phi)."
        )
    if table.dtype.kind == "c":
        raise FeatureMapError(f"The feature map gives complex numbers for class {c!r}; real ones are needed.")
    try:
        return np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        i, j, cell = _first_word(table)
        problem = f"The feature map gives {cell!r} for row {i}, class {c!r}, feature {j}: no number."
        raise FeatureMapError(problem, row=i, column=j, value=cell) from None


def _check_lengths(found: Any, c: Any, n: int) -> None:
    """Rows of different lengths make no table."""
    try:
        lengths = [len(row) for row in found]
    except TypeError:
        return
    if len(lengths) != n:
        return
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            raise FeatureMapError(
                f"The feature map gives {lengths[0]} numbers for row 0 and {length} for row {i}, both for class {c!r}: "
                "Φ(x, c) must have one length.",
                row=i,
            )


def _first_word(table: NDArray[Any]) -> tuple[int, int, Any]:
    for i, row in enumerate(table.tolist()):
        for j, cell in enumerate(row):
            try:
                float(cell)
            except (TypeError, ValueError):
                return i, j, cell
    raise AssertionError("every cell is a number")


def _check_rows_alone(features: Features) -> None:
    """Whether Φ of some rows is what it is among others: on a few rows, for every class."""
    n = len(features)
    if n < 2:
        return
    around = features[np.unique([0, n // 3, n // 2, n - 1])]
    alone = [features[np.array([i])] for i in (0, n - 1)]
    for i, one in zip((0, len(around) - 1), alone, strict=True):
        apart = np.abs(around[i] - one[0])
        size = np.abs(around).max(axis=(0, 1))  # of each feature by itself: a large one must not hide a small one
        strange = apart > ALIKE * np.maximum(size, np.abs(one[0]).max(axis=0)) + 4 * EPS * np.abs(around[i]).max()
        if strange.any():
            k, j = (int(at) for at in np.argwhere(strange)[0])
            raise FeatureMapError(
                f"The feature map gives row {0 if i == 0 else n - 1} another Φ when it comes with other rows (class "
                f"{features.classes[k]!r}, feature {features.names[j]!r}: {one[0, k, j]:.6g} alone, "
                f"{around[i, k, j]:.6g} among others): Φ(x, c) must depend on x and c alone. Scale or centre X before.",
                row=0 if i == 0 else n - 1,
                column=features.names[j],
                value=float(one[0, k, j]),
            )
