"""Bad input: one line that says what was given, where, and what to do."""

from __future__ import annotations

import math
import numbers
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from ...data import Sparse
from ...data.categorical import TableRows
from ...data.mapped import Mapped
from ...data.named import NamedRows
from ...data.reading import finite
from ...errors import SettingError
from ...numerics.arrays import Floats

BLOCK = 1 << 20
PLAIN = (np.dtype(np.float64), np.dtype(np.float32))
"""The numbers that the passes read as they are."""


class unchanged_on_failure:  # noqa: N801  it is used like a function
    """A fit that fails leaves the model as it was; one that is stopped by hand keeps what it has."""

    def __init__(self, model: Any) -> None:
        self.model, self.before = model, dict(vars(model))

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, Exception):
            vars(self.model).clear()
            vars(self.model).update(self.before)


def forget(model: Any, *names: str) -> None:
    """Attributes that an earlier fit left, and that no longer hold."""
    for name in names:
        if name in vars(model):
            delattr(model, name)


def checked_rows(estimator: Any, X: Any, y: Any = "none", *, reset: bool) -> Any:
    """X as an array of floats or as `Sparse`, copied only if it is not one already; NaN is left to the passes."""
    if isinstance(X, NamedRows):
        return _named_rows(estimator, X, reset)
    if isinstance(X, TableRows):
        return _table_rows(estimator, X, reset)
    extra = {} if isinstance(y, str) and y == "none" else {"y": y}
    if not extra and _is_plain(estimator, X, reset):
        return X
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError("X is a masked array, and what its mask hides would be read: fill it first, X.filled(value).")
    names = [str(name) for name in getattr(X, "columns", [])]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has {names.count(twice)} columns named {twice!r}: give each column a name of its own.")
    try:
        checked = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            accept_sparse="csr",
            **extra,
        )
    except (TypeError, ValueError) as error:
        message = str(error)
        for name in getattr(X, "columns", []):
            if np.asarray(X[name]).dtype.kind in "mM":
                raise ValueError(
                    f"X's column {str(name)!r} holds dates or times, not numbers: turn it into numbers, "
                    f"for example days since a first day. ({message})"
                ) from None
        if "could not convert string" in message:
            raise ValueError(f"{_first_word(X)} ({message})") from None
        for name in getattr(X, "columns", []):
            column = np.asarray(X[name], dtype=object)
            for i, cell in enumerate(column.tolist()):
                if not _is_number(cell):
                    raise ValueError(
                        f"X[{i}, {str(name)!r}] is {cell!r}, not a number: encode this column as numbers, or leave it "
                        f"out. ({message})"
                    ) from None
        if message.startswith("The feature names should match"):
            raise ValueError(f"{_first_strange_column(estimator, X)} {message}") from None
        raise
    rows = checked[0] if extra else checked
    return Sparse.of(rows) if issparse(rows) else rows


def _is_plain(estimator: Any, X: Any, reset: bool) -> bool:
    """Whether X is an array of floats with which nothing can be wrong but NaN: scikit-learn's checks take 0.1 ms.

    At a fit its width is kept, and names that an earlier fit kept are forgotten, as scikit-learn does.
    """
    if type(X) is not np.ndarray or X.ndim != 2 or not X.size or X.dtype not in PLAIN:
        return False
    known = vars(estimator)
    if reset:
        estimator.n_features_in_ = X.shape[1]
        known.pop("feature_names_in_", None)
        return True
    return "feature_names_in_" not in known and known.get("n_features_in_") == X.shape[1]


def _named_rows(estimator: Any, X: NamedRows, reset: bool) -> Any:
    """The plain matrix; its names are kept at a fit, and compared with those of the fit later."""
    rows, names = X.view(np.ndarray), X.names
    if names is None:
        return checked_rows(estimator, rows, reset=reset)
    if reset:
        checked = checked_rows(estimator, rows, reset=True)
        estimator.feature_names_in_ = np.array(names, dtype=object)
        return checked
    known = getattr(estimator, "feature_names_in_", None)
    if known is None or len(rows) == 0:
        return checked_rows(estimator, rows, reset=False)
    _check_names(tuple(known), names)
    return rows


def _table_rows(estimator: Any, X: TableRows, reset: bool) -> TableRows:
    """The rows of a table as they are; their names are kept at a fit, and compared with those of the fit later."""
    if reset:
        if not len(X):
            raise ValueError("X has 0 rows: at least one is needed.")
        estimator.n_features_in_, estimator.feature_names_in_ = X.shape[1], np.array(X.names, dtype=object)
    else:
        _check_names(tuple(getattr(estimator, "feature_names_in_", X.names)), X.names)
    return X


def _check_names(known: tuple[str, ...], names: tuple[str, ...]) -> None:
    if known != names:
        at = next((j for j, (was, now) in enumerate(zip(known, names, strict=False)) if was != now), None)
        differs = f"{len(names)} columns, not {len(known)}" if at is None else f"{names[at]!r} where {known[at]!r} was"
        raise ValueError(f"The columns of X are not those of the fit: it has {differs}.")


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _first_word(X: Any) -> str:
    names = [str(name) for name in getattr(X, "columns", [])]
    cells = np.asarray(X, dtype=object)
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            try:
                float(cell)
            except (TypeError, ValueError):
                where = repr(names[j]) if names else j
                return f"X[{i}, {where}] is {cell!r}, not a number: encode this column as numbers, or leave it out."
    return "X holds a value that is not a number: encode it as one."


def _first_strange_column(estimator: Any, X: Any) -> str:
    known, given = list(estimator.feature_names_in_), [str(name) for name in X.columns]
    missing, strange = [n for n in known if n not in given], [n for n in given if n not in known]
    if missing:
        return f"X lacks the column {missing[0]!r}, which was there at fit."
    if strange:
        return f"X has a column {strange[0]!r} that was not there at fit: pass X[list(model.feature_names_in_)]."
    for j, (was, now) in enumerate(zip(known, given, strict=False)):
        if was != now:
            return f"X's column {j} is {now!r}; at fit it was {was!r}: pass X[list(model.feature_names_in_)]."
    return "X's columns are not those of the fit."


def names_of(estimator: Any, width: int) -> tuple[str, ...]:
    """The columns of X as they were called at fit, or x0, x1, …"""
    names = getattr(estimator, "feature_names_in_", None)
    return _numbered(width) if names is None else tuple(map(str, names))


@lru_cache(maxsize=8)
def _numbered(width: int) -> tuple[str, ...]:
    """x0, x1, …: kept, because a learner of single rows asks at every row."""
    return tuple(f"x{j}" for j in range(width))


def not_finite(X: Any, names: tuple[str, ...], estimator: Any) -> ValueError:
    """The error that names the first NaN or infinity of X, or says that there is none."""
    if isinstance(X, TableRows):
        return not_finite(X.raw.numbers, tuple(names[j] for j in X.map.of_numbers), estimator)
    if isinstance(X, Mapped):
        return _not_finite_features(X, names, estimator)
    rows = max(1, BLOCK // max(1, X.shape[1]))
    for start in range(0, len(X), rows):
        block = X[start : start + rows]
        if isinstance(X, Sparse):
            if block.finite():
                continue
            block = block.dense()
        bad = ~np.isfinite(block)
        if bad.any():
            i, j = (int(index) for index in np.argwhere(bad)[0])
            value = block[i, j]
            word = "NaN" if np.isnan(value) else "infinity"
            remedy = "impute it, or drop the row" if np.isnan(value) else "clip it, or drop the row"
            return ValueError(
                f"Input X contains {word}: the first is X[{start + i}, {names[j]!r}] = {value}; "
                f"{type(estimator).__name__} needs finite numbers, so {remedy}."
            )
    j, size = _largest(X)
    if size < 1:
        return ValueError(
            f"The squares of X vanish: no number is larger than {size:.3g} (column {names[j]!r}); use smaller units."
        )
    return ValueError(f"The sums over X overflow: column {names[j]!r} reaches {size:.3g}; use larger units for it.")


def _not_finite_features(X: Mapped, names: tuple[str, ...], estimator: Any) -> ValueError:
    """The same where X is mapped: the cell of X itself, or the first feature that finite numbers overflow."""
    if not finite(X.raw):
        return not_finite(X.raw, names_of(estimator, X.raw.shape[1]), estimator)
    for rows, block in X.blocks():
        bad = ~np.isfinite(block)
        if bad.any():
            i, j = (int(index) for index in np.argwhere(bad)[0])
            return ValueError(
                f"The feature {names[j]!r} of row {rows.start + i} overflows: X is finite, its features are not; "
                "use larger units, or put Standardise() before the other features."
            )
    sizes = np.maximum(*map(np.abs, X.extremes()))
    j = int(sizes.argmax())
    return ValueError(
        f"The sums over the features overflow: {names[j]!r} reaches {sizes[j]:.3g}; use larger units, or put "
        "Standardise() before the other features."
    )


def _largest(X: Any) -> tuple[int, float]:
    """The column with the largest number, and that number."""
    if isinstance(X, Sparse):
        place = int(np.abs(X.numbers).argmax())
        return int(X.named[place]), float(abs(X.numbers[place]))
    sizes = np.abs(X).max(axis=0)
    return int(sizes.argmax()), float(sizes.max())


def checked_costs(sample_weight: Any, rows: int, *, some: bool = True) -> Floats:
    """The costs cᵢ ≥ 0, empty where every row costs one; with `some` not all zero."""
    if sample_weight is None:
        return np.empty(0)
    if isinstance(sample_weight, numbers.Real):
        sample_weight = np.full(rows, float(sample_weight))
    if isinstance(sample_weight, np.ma.MaskedArray):
        raise TypeError("sample_weight is a masked array, and what its mask hides would count: fill it, with 0 say.")
    cost = checked_numbers("sample_weight", sample_weight)
    if cost.ndim != 1 or cost.size != rows:
        raise ValueError(f"sample_weight has shape {cost.shape}; one number for each of the {rows} rows is needed.")
    if (cost < 0).any():
        i = int(np.flatnonzero(cost < 0)[0])
        raise ValueError(f"sample_weight[{i}] is {cost[i]}, which is negative; a row's cost is zero or more.")
    if some and not (cost > 0).any():
        raise ValueError("sample_weight is zero for every sample; at least one row of each class must count.")
    _check_range(cost)
    return cost


def _check_range(cost: Floats) -> None:
    """Weights that add up to a number, and not to one so small that its digits are gone."""
    with np.errstate(over="ignore"):
        total = float(cost.sum())
    if not np.isfinite(total):
        raise ValueError(
            f"sample_weight reaches {cost.max():.3g}, and the weights add up to more than the largest number, "
            f"{np.finfo(float).max:.3g}: divide all of them by one number."
        )
    if 0 < total < np.finfo(float).tiny:
        raise ValueError(
            f"sample_weight reaches {cost.max():.3g} only, where numbers lose their digits: multiply all of them by "
            "one number."
        )


def check_lengths(X: Any, y: Any) -> None:
    """As many labels as rows."""
    if len(X) != len(y):
        raise ValueError(
            f"X has {len(X)} rows and y {len(y)} labels: give one label for each row. "
            f"(Found input variables with inconsistent numbers of samples: [{len(X)}, {len(y)}])"
        )


def checked_numbers(name: str, values: Any) -> Floats:
    """An array of finite numbers."""
    try:
        given = np.asarray(values)
        if given.dtype.kind == "c":
            raise TypeError("it holds complex numbers")
        found = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers; it holds something else. ({error})") from None
    if not np.isfinite(found).all():
        i = int(np.flatnonzero(~np.isfinite(found.ravel()))[0])
        raise ValueError(f"{name}[{i}] is {found.ravel()[i]}, NaN or infinity; finite numbers are needed.")
    return found


def checked_number(name: str, value: Any, *, least: float, strict: bool = False) -> float:
    """A finite number that is at least (strictly: more than) `least`."""
    number = isinstance(value, numbers.Real) and math.isfinite(float(value))
    if not number or float(value) < least or (strict and float(value) == least):
        raise ValueError(
            f"{name} is {value!r}; it must be a finite number {'above' if strict else 'of at least'} {least:g}."
        )
    return float(value)


def checked_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of the choices."""
    if not isinstance(value, str) or value not in choices:
        allowed = f"one of {', '.join(map(repr, choices))}" if len(choices) > 1 else repr(choices[0])
        raise ValueError(f"{name} is {value!r}; it must be {allowed}.")
    return value


def checked_flags(model: Any, *names: str) -> None:
    """Parameters of a learner that are True or False."""
    for name in names:
        if not isinstance(getattr(model, name), bool | np.bool_):
            raise SettingError(name, getattr(model, name), "it must be True or False.")


def checked_count(name: str, value: Any, *, needed: str = "it must be a whole number.") -> int:
    """A whole number of at least one."""
    if checked_number(name, value, least=1) % 1:
        raise SettingError(name, value, needed)
    return int(value)
