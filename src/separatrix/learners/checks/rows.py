"""Rows, names of columns and sample weights: what a learner is given, and what is wrong with it."""

from __future__ import annotations

import numbers
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ...data.block import Block, Dense, block_of
from ...data.named import NamedRows
from ...errors import DataError, DataTypeError
from ...numerics.arrays import Floats
from .settings import real_numbers

BLOCK = 1 << 20
"""Numbers of X that are looked at together."""
PLAIN = (np.dtype(np.float64), np.dtype(np.float32))
"""The numbers that the passes read as they are."""
COLUMNS = ("n_features_in_", "feature_names_in_")
"""What scikit-learn calls number and names of the columns."""


def row_count(X: Any) -> int:
    """How many rows are given: of an array, a matrix, a data frame or a list."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X if hasattr(X, "__len__") else np.asarray(X))


def rows_at(X: Any, rows: Any) -> Any:
    """These rows of an array, a matrix, a data frame or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list | tuple):
        return [X[i] for i in rows]
    return X[rows] if hasattr(X, "__getitem__") else np.asarray(X)[rows]


def columns_at(X: Any, columns: Any) -> Any:
    """These columns of an array, a matrix, a data frame or a list of rows."""
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    if isinstance(X, list | tuple):
        return [[row[j] for j in columns] for row in X]
    return X[:, columns] if hasattr(X, "__getitem__") else np.asarray(X)[:, columns]


@lru_cache
def _columns_class(learner: str) -> type:
    """Scikit-learn's checks name the class of what they write the columns on: it has the name of the learner."""
    return type(learner, (BaseEstimator,), {})


def new_columns(learner: str) -> Any:
    """What `checked_rows(…, reset=True)` writes number and names of the columns on: the learner stays as it is."""
    return _columns_class(learner)()


def rows_to_learn(model: Any, X: Any, *, new: bool = True) -> tuple[Any, Any, tuple[str, ...]]:
    """The rows, and their columns: for `set_fitted`, and by name. They are `new`, or those that the model knows."""
    columns = new_columns(type(model).__name__) if new else model
    rows = checked_rows(columns, X, reset=new)
    return rows, columns, names_of(columns, rows.shape[1])


def set_fitted(model: Any, columns: Any, **fitted: Any) -> None:
    """Set what a fit found, all at once; attributes that earlier fits left, and this one did not find, go."""
    fitted |= {name: vars(columns)[name] for name in COLUMNS if name in vars(columns)}
    vars(model).update(fitted)  # one statement: Ctrl-C comes before it or after it
    for name in vars(model).keys() - fitted.keys():
        if name.endswith("_") and name[0] != "_":
            delattr(model, name)


def checked_rows(estimator: Any, X: Any, *, reset: bool) -> Block:
    """X as a block of floats, copied only if it does not hold floats already; NaN is left to the passes."""
    if _is_plain(estimator, X, reset):
        return Dense(X)
    if isinstance(X, NamedRows):
        return _named_rows(estimator, X, reset)
    if isinstance(X, Block):
        return _ready_rows(estimator, X, reset)
    if isinstance(X, np.ma.MaskedArray):
        raise DataTypeError(
            "is a masked array, and what its mask hides would be read: fill it first, X.filled(value).", array="X"
        )
    names = [str(name) for name in getattr(X, "columns", [])]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        problem = f"has {names.count(twice)} columns named {twice!r}: give each column a name of its own."
        raise DataError(problem, array="X")
    try:
        return block_of(validate_data(
            estimator, X, reset=reset, dtype=PLAIN, ensure_all_finite=False, accept_sparse="csr"
        ))  # fmt: skip
    except DataError:
        raise
    except (TypeError, ValueError) as error:
        raise _unreadable(estimator, X, names, reset, error) from None


def _unreadable(estimator: Any, X: Any, names: list[str], reset: bool, error: Exception) -> DataError:
    """What scikit-learn's checks found wrong with X: the column or the cell where there is one, then their sentence.

    The tests of scikit-learn demand its sentence, and a TypeError where it raises one.
    """
    kind = DataTypeError if isinstance(error, TypeError) else DataError
    strange = None if reset else _first_strange_column(estimator, names)
    if strange is not None:
        return kind(f"{strange} {error}", array="X")
    for name in names:
        if np.asarray(X[name]).dtype.kind in "mM":
            return kind(
                f"holds dates or times, not numbers: turn it into numbers, for example days since a first day. "
                f"({error})", array="X", column=name,
            )  # fmt: skip
    cells = np.asarray(X, dtype=object)
    for i, row in enumerate(cells if cells.ndim == 2 else ()):
        for j, cell in enumerate(row.tolist()):
            if not _is_number(cell):
                return kind(
                    f"is {cell!r}, not a number: encode this column as numbers, or leave it out. ({error})",
                    array="X", row=i, column=names[j] if names else j, value=cell,
                )  # fmt: skip
    return kind(str(error))


def _is_plain(estimator: Any, X: Any, reset: bool) -> bool:
    """Whether X is an array of floats with which nothing can be wrong but NaN: scikit-learn's checks take 0.1 ms.

    At a fit its width is kept, and names that an earlier fit kept are forgotten, as scikit-learn does.
    """
    if type(X) is not np.ndarray or X.ndim != 2 or not X.size or X.dtype not in PLAIN:
        return False
    if reset:
        estimator.n_features_in_ = X.shape[1]
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return True
    return not hasattr(estimator, "feature_names_in_") and getattr(estimator, "n_features_in_", -1) == X.shape[1]


def _named_rows(estimator: Any, X: NamedRows, reset: bool) -> Block:
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
    return Dense(rows)


def _ready_rows(estimator: Any, X: Block, reset: bool) -> Block:
    """A block as it is; number and names of its columns are kept at a fit, and compared with those of the fit later."""
    if reset:
        if not len(X):
            raise DataError("has 0 rows: at least one is needed.", array="X")
        estimator.n_features_in_ = X.shape[1]
        if X.names:
            estimator.feature_names_in_ = np.array(X.names, dtype=object)
    elif X.names:
        _check_names(tuple(getattr(estimator, "feature_names_in_", X.names)), X.names)
    elif X.shape[1] != estimator.n_features_in_:
        raise DataError(f"has {X.shape[1]} columns; at the fit it had {estimator.n_features_in_}.", array="X")
    return X


def _check_names(known: tuple[str, ...], names: tuple[str, ...]) -> None:
    if known != names:
        at = next((j for j, (was, now) in enumerate(zip(known, names, strict=False)) if was != now), None)
        differs = f"{len(names)} columns, not {len(known)}" if at is None else f"{names[at]!r} where {known[at]!r} was"
        raise DataError(f"The columns of X are not those of the fit: it has {differs}.")


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _first_strange_column(estimator: Any, given: list[str]) -> str | None:
    """The first column that is not as at the fit; None if none is, or if columns have no names."""
    known = list(getattr(estimator, "feature_names_in_", []))
    if not known or not given:
        return None
    missing, strange = [n for n in known if n not in given], [n for n in given if n not in known]
    if missing:
        return f"lacks the column {missing[0]!r}, which was there at fit."
    if strange:
        return f"has a column {strange[0]!r} that was not there at fit: pass X[list(model.feature_names_in_)]."
    for j, (was, now) in enumerate(zip(known, given, strict=False)):
        if was != now:
            return f"has the column {now!r} at place {j}; at fit it was {was!r}: pass X[list(model.feature_names_in_)]."
    return None


def names_of(estimator: Any, width: int) -> tuple[str, ...]:
    """The columns of X as they were called at fit, or x0, x1, …"""
    names = getattr(estimator, "feature_names_in_", None)
    return _numbered(width) if names is None else tuple(map(str, names))


@lru_cache(maxsize=8)
def _numbered(width: int) -> tuple[str, ...]:
    """x0, x1, …: kept, because a learner of single rows asks at every row."""
    return tuple(f"x{j}" for j in range(width))


def not_finite(X: Block, names: tuple[str, ...], estimator: Any) -> DataError:
    """The error that names the first NaN or infinity of X, or says that there is none."""
    found = X.first(_no_number)
    if X.made_of is not None:
        return _not_finite_features(X, found, names, estimator)
    if found is None:
        return out_of_range(X.largest(), names)
    i, j = found
    value = X[i : i + 1].dense()[0, j]
    said, remedy = ("NaN", "impute it") if np.isnan(value) else (f"{value}", "clip it")
    return DataError(
        f"is {said}: {type(estimator).__name__} needs finite numbers, so {remedy}, or drop the row.",
        array="X", row=i, column=names[j], value=value,
    )  # fmt: skip


def _no_number(numbers: NDArray[Any], columns: Any) -> NDArray[np.bool_]:
    return np.asarray(~np.isfinite(numbers))


def out_of_range(sizes: Floats, names: tuple[str, ...]) -> DataError:
    """The error that names the column with the largest number, where sums over finite rows overflow or vanish."""
    j, size = int(sizes.argmax()), float(sizes.max())
    if size < 1:
        problem = f"reaches {size:.3g} only, no other column more, and its squares vanish; use smaller units."
    else:
        problem = f"reaches {size:.3g}, and sums over the rows overflow; use larger units for this column."
    return DataError(problem, array="X", column=names[j], value=size)


def _not_finite_features(X: Block, found: Any, names: tuple[str, ...], estimator: Any) -> DataError:
    """The cell of the X that is mapped, or the first feature that overflows though X is finite."""
    raw = X.made_of
    if raw is not None and not raw.finite():
        return not_finite(raw, names_of(estimator, raw.shape[1]), estimator)
    if found is not None:
        problem = (
            f"makes the feature {names[found[1]]!r} overflow: X is finite, its features are not; use larger units or "
        )
        return DataError(f"{problem}put Standardise() before the others.", array="X", row=found[0])
    sizes = X.largest()
    j = int(sizes.argmax())
    return DataError(
        f"The sums over the features overflow: {names[j]!r} reaches {sizes[j]:.3g}; use larger units, or put "
        "Standardise() before the other features.", column=names[j], value=float(sizes[j]),
    )  # fmt: skip


def checked_costs(sample_weight: Any, rows: int, *, some: bool = True) -> Floats:
    """The costs cᵢ ≥ 0, empty where every row costs one; with `some` not all zero."""
    if sample_weight is None:
        return np.empty(0)
    if isinstance(sample_weight, numbers.Real):
        sample_weight = np.full(rows, float(sample_weight))
    if isinstance(sample_weight, np.ma.MaskedArray):
        raise DataTypeError(
            "is a masked array, and what its mask hides would count: fill it, with 0 say.", array="sample_weight"
        )
    cost = real_numbers(sample_weight)
    if cost is None:
        found = "complex numbers" if np.iscomplexobj(sample_weight) else "something else"
        raise DataError(f"must hold numbers; it holds {found}.", array="sample_weight")
    if cost.ndim != 1 or cost.size != rows:
        problem = f"has shape {cost.shape}; one number for each of the {rows} rows is needed."
        raise DataError(problem, array="sample_weight")
    wrong = ~(np.isfinite(cost) & (cost >= 0))
    if wrong.any():
        i = int(np.argmax(wrong))
        why = "which is negative" if np.isfinite(cost[i]) else "NaN or infinity"
        problem = f"is {cost[i]}, {why}; a sample weight is a finite number, zero or more."
        raise DataError(problem, array="sample_weight", row=i, value=float(cost[i]))
    if some and not (cost > 0).any():
        raise DataError("is zero for every sample; at least one row of each class must count.", array="sample_weight")
    _check_range(cost)
    return cost


def _check_range(cost: Floats) -> None:
    """Weights that add up to a number, and not to one so small that its digits are gone."""
    with np.errstate(over="ignore"):
        total = float(cost.sum())
    if not np.isfinite(total):
        problem = (
            f"reaches {cost.max():.3g}, and the weights add up to more than the largest number, "
            f"{np.finfo(float).max:.3g}: divide all of them by one number."
        )
        raise DataError(problem, array="sample_weight")
    if 0 < total < np.finfo(float).tiny:
        problem = f"reaches {cost.max():.3g} only, where numbers lose their digits: multiply all of them by one number."
        raise DataError(problem, array="sample_weight")


def check_lengths(rows: int, labels: int) -> None:
    """As many labels as rows."""
    if rows != labels:
        problem = (
            f"has {rows} rows and y {labels} labels: give one label for each row. "
            f"(Found input variables with inconsistent numbers of samples: [{rows}, {labels}])"
        )
        raise DataError(problem, array="X")


# Rows of weight zero: they are not there, whatever they hold.

FAR = 1024.0
"""Ranges of the rows that count by which a row of weight zero may lie outside them and still be read as it is."""
FEW = 1 << 12
"""Rows that count which are looked at first."""


def present(X: Block, cost: Floats) -> Block:
    """X as the passes may read it, so that zero times what a row of weight zero holds is zero.

    Such a row adds nothing to a sum, unless its square overflows; but the samples that choose the units see it. Where
    one lies far from all that count, a row that counts stands in the place of each, in a copy of X: no row changes its
    place, and none of weight zero is ever seen. NaN and infinity stay, to be refused: X has to hold numbers throughout.
    """
    if not cost.size:
        return X
    counts = cost > 0
    if counts.all() or not counts.any() or not _strays(X, counts):
        return X
    return X[np.where(counts, np.arange(len(X)), int(np.argmax(counts)))]  # type: ignore[no-any-return]


def present_objects(objects: list[Any], cost: Floats) -> list[Any]:
    """`present` of objects that are no rows of numbers."""
    counts = cost > 0
    if counts.all() or not counts.any():
        return objects
    deputy = objects[int(np.argmax(counts))]
    return [each if here else deputy for each, here in zip(objects, counts, strict=True)]


def _strays(X: Block, counts: NDArray[np.bool_]) -> bool:
    """Whether a row that does not count lies far from all that do, in some column, though at a finite place."""
    least, most = _box(X, ~counts)
    for seen in (counts & (np.cumsum(counts) <= FEW), counts):  # what is near a few is near to all
        low, high = _box(X, seen)
        with np.errstate(over="ignore", invalid="ignore"):
            reach = FAR * (high - low)
            far = (least < low - reach) | (most > high + reach)
        if not far.any():
            return False
    return bool(all(np.isfinite(each).all() for each in (low, high, least, most)))


def _box(X: Block, chosen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The least and the largest number of each column in the chosen rows, NaN where there is one."""
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    for rows in X.stretches(BLOCK):
        here = chosen[rows]
        if here.any():
            part = X[rows]
            least, most = (part if here.all() else part[np.flatnonzero(here)]).extremes()
            low, high = np.minimum(low, least), np.maximum(high, most)
    return low, high
