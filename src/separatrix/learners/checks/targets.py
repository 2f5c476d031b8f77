"""What y says: labels, or probabilities."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ...data import Rows
from ...data.block import Block
from ...data.named import CodedLabels
from ...data.rows import COMPILE_FROM
from ...errors import DataError, SettingError
from ...fitting.path import CrossValidation
from ...numerics.arrays import Floats
from ...results.prior import Prior as Prior
from ...wording import call, has, setting
from .rows import check_lengths, checked_costs, present, rows_to_learn

SUM_ROUNDING = {"float32": 1e-4, "float16": 1e-2}
"""How far from one the probabilities of a row may sum, by their precision; 10⁻⁶ in double precision."""
FEW = 1 << 12
"""Whole numbers in a row among which classes are found by counting."""
COUNTED = 1e-9
"""Relative: how far from a whole number a count may be, which is the product of a share and a weight."""


@dataclass(frozen=True)
class Targets:
    """The classes in order, and for each row the index of its class, or a probability for each class."""

    classes: NDArray[Any]
    index: NDArray[Any] | None
    probability: Floats | None

    @property
    def soft(self) -> bool:
        """Whether the targets are probabilities."""
        return self.probability is not None

    def __len__(self) -> int:
        return len(self.index) if self.index is not None else len(self.probability)  # type: ignore[arg-type]

    def totals(self, cost: Floats) -> Floats:
        """How much the rows of each class cost together; of two by counting one, which is the quickest."""
        K = len(self.classes)
        if self.index is not None and K == 2 and not cost.size:
            second = float(np.count_nonzero(self.index))
            return np.array([len(self.index) - second, second])
        if self.probability is not None:
            return (cost @ self.probability) if cost.size else self.probability.sum(axis=0)  # type: ignore[no-any-return]
        return np.bincount(self.index, weights=cost if cost.size else None, minlength=K).astype(float)  # type: ignore[arg-type]


def checked_targets(estimator: Any, y: Any) -> Targets:
    """Labels of any kind; numbers between 0 and 1 as probabilities of the second class; or a column for each class."""
    if isinstance(y, CodedLabels):
        return _several(estimator, *y.present())
    if len(getattr(y, "shape", ())) == 2 or (isinstance(y, list | tuple) and y and np.ndim(y[0]) == 1):
        given = np.asarray(y)
        if given.ndim == 2 and given.shape[1] != 1:
            return _matrix(given, getattr(y, "columns", None))
    y = labels_of(y)
    quick = _two_numbers(y)
    if quick is not None:
        return quick
    if y.dtype.kind == "f" and y.size and (y != np.floor(y)).any():
        return _probabilities(y)
    counted = _counted(y)
    if counted is None:
        try:
            check_classification_targets(y)
        except (TypeError, ValueError) as error:
            raise DataError(str(error)) from None
    classes, index = counted or np.unique(y, return_inverse=True)
    return _several(estimator, classes, index)


def _several(estimator: Any, classes: NDArray[Any], index: NDArray[Any]) -> Targets:
    """Labels of two classes or more."""
    if len(classes) < 2:
        name = type(estimator).__name__
        only = f"one class only, {classes.tolist()[0]!r}" if len(classes) else "no rows"
        raise DataError(f"has {only}; {name} needs rows of two classes or more.", array="y")
    return Targets(classes, index.ravel(), None)


def labels_of(y: Any) -> NDArray[Any]:
    """One number or name for each row."""
    if y is None:
        raise DataError(
            "is None: give a label for each row. (requires y to be passed, but the target y is None)", array="y"
        )
    try:
        y = np.asarray(y)
        y = np.ascontiguousarray(y) if y.ndim == 1 else column_or_1d(y, warn=True)
    except ValueError as error:
        raise DataError(str(error)) from None
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        i = int(np.argmin(np.isfinite(y)))
        raise DataError(f"is {_number(y[i])}; give that row a label.", array="y", row=i, value=float(y[i]))
    return _tidy_objects(y) if y.dtype.kind == "O" else y


def _number(value: Any) -> str:
    """NaN, inf or the number itself, as sentences write it."""
    return "NaN" if np.isnan(value) else f"{value}"


def _tidy_objects(y: NDArray[Any]) -> NDArray[Any]:
    labels = y.tolist()
    if all(isinstance(label, int | np.integer) for label in labels):
        large = next((i for i, label in enumerate(labels) if not -(2**63) <= label < 2**63), None)
        if large is not None:
            problem = "is a whole number that 64 bits do not hold: give texts as labels."
            raise DataError(problem, array="y", row=large, value=labels[large])
        return y.astype(np.int64)
    missing = next((i for i, label in enumerate(labels) if label is None or label != label), None)
    if missing is not None:
        problem = f"is {'None' if labels[missing] is None else 'NaN'}; give that row a label."
        raise DataError(problem, array="y", row=missing, value=labels[missing])
    if all(isinstance(label, numbers.Real) for label in labels):
        return y.astype(np.float64)
    return y


def _two_numbers(y: NDArray[Any]) -> Targets | None:
    """The common case without a sort: integers (or integral floats) of exactly two values."""
    if y.dtype.kind not in "biuf" or not y.size:
        return None
    low, high = np.minimum.reduce(y), np.maximum.reduce(y)
    if low == high or (y.dtype.kind == "f" and not (float(low).is_integer() and float(high).is_integer())):
        return None
    second = y == high
    if np.count_nonzero(second) + np.count_nonzero(y == low) < y.size:
        return None
    return Targets(np.array([low, high]), second.view(np.int8), None)


def _counted(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """The classes and the place of each label among them without a sort: whole numbers that lie close together."""
    if y.dtype.kind != "i" or not y.size or int(y.max()) - int(y.min()) >= FEW:
        return None
    low = int(y.min())
    place = y.astype(np.intp) - low
    seen = np.bincount(place) > 0
    return (np.flatnonzero(seen) + low).astype(y.dtype), (np.cumsum(seen) - 1)[place]


def _probabilities(y: NDArray[Any]) -> Targets:
    wrong = (y < 0) | (y > 1)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise DataError(
            f"is {y[i]}: fractions are read as probabilities of the second class, so they must lie between 0 and 1; "
            "for labels, use whole numbers or names. (Unknown label type: continuous)",
            array="y", row=i, value=float(y[i]),
        )  # fmt: skip
    t = y.astype(np.float64)
    return _with_mass(np.array([0, 1]), np.column_stack([1 - t, t]))


def _matrix(y: NDArray[Any], names: Any) -> Targets:
    """An n × K target: the columns are the classes, by their names if they have any."""
    return _with_mass(np.arange(y.shape[1]) if names is None else np.asarray(names), _shares(y))


def _shares(y: NDArray[Any]) -> Floats:
    """Rows of probabilities, found to be such."""
    T = _numbers(y)
    if y.shape[1] == 0 or not len(T):
        raise DataError(
            f"has shape {y.shape}: a column for each class and a row for each sample are needed.", array="y"
        )
    if not np.isfinite(T).all() or (T < 0).any():
        i, k = (int(at) for at in np.argwhere(~(np.isfinite(T) & (T >= 0)))[0])
        problem = f"is {_number(T[i, k])}; a probability is a finite number of at least zero."
        raise DataError(problem, array="y", row=i, column=k, value=float(T[i, k]))
    total = T.sum(axis=1)
    _check_sums(y, total)
    return T / total[:, None]  # type: ignore[no-any-return]


def _check_sums(y: NDArray[Any], total: Floats) -> None:
    wrong = np.abs(total - 1) > SUM_ROUNDING.get(y.dtype.name, 1e-6)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise DataError(
            f"sums to {total[i]:.6g}: a row of a target with {y.shape[1]} columns holds the probabilities of "
            f"the {y.shape[1]} classes, so it must sum to one. Divide each row by its sum; for overlapping labels "
            "learn one model a column.", array="y", row=i, value=float(total[i]),
        )  # fmt: skip


def _numbers(y: NDArray[Any]) -> Floats:
    try:
        return np.array(y, dtype=np.float64)
    except (TypeError, ValueError):
        for i, row in enumerate(y.tolist()):
            for k, cell in enumerate(row):
                if not isinstance(cell, numbers.Real):
                    problem = f"is {cell!r}: y has {len(row)} columns, so they must hold probabilities."
                    raise DataError(problem, array="y", row=i, column=k, value=cell) from None
        raise


def _with_mass(classes: NDArray[Any], T: Floats) -> Targets:
    if len(set(classes.tolist())) < len(classes):
        raise DataError(f"has the columns {classes.tolist()}: two classes have one name.", array="y")
    empty = ~(T > 0).any(axis=0)
    if empty.any():
        label = classes.tolist()[int(np.argmax(empty))]
        raise DataError(f"Class {label!r} has probability zero in every sample: leave that class out.")
    return Targets(classes, None, T)


def second_of_two(y: Any, classes: NDArray[Any], rows: int) -> Floats | None:
    """1 where a label is the second of two classes, 0 where it is the first; None if y is not such labels."""
    given = np.asarray(y)
    if len(classes) != 2 or given.shape != (rows,):
        return None
    second = given == classes[1]
    return second.astype(np.float64) if (second | (given == classes[0])).all() else None


def known_targets(y: Any, classes: NDArray[Any], rows: int) -> Floats:
    """The targets of rows, as probabilities, of a model that has seen the classes."""
    if isinstance(y, CodedLabels) and len(y) == rows and np.array_equal(y.classes, classes):
        return _indicators(y.codes, range(len(classes)))
    given = np.asarray(y)
    if given.shape == (rows, len(classes)) and len(classes) > 1:
        return _shares(_in_order(given, getattr(y, "columns", None), classes))
    known = np.isin(given, classes)
    if given.shape == (rows,) and not known.all() and given.dtype.kind == "f" and classes.tolist() == [0, 1]:
        return _probabilities(given).probability  # type: ignore[return-value]
    if given.shape != (rows,) or not known.all():
        needed = f"one label of {classes.tolist()} for each of the {rows} rows is needed."
        if given.shape != (rows,):
            raise DataError(f"has shape {given.shape}; {needed}", array="y")
        i = int(np.argmin(known))
        label = given.tolist()[i]
        raise DataError(f"is {label!r}, which is unknown; {needed}", array="y", row=i, value=label)
    return _indicators(given, classes)


def _indicators(labels: NDArray[Any], classes: Sequence[Any] | NDArray[Any]) -> Floats:
    """1[label = k], column by column in memory."""
    T = np.empty((len(labels), len(classes)), order="F")
    for k in range(len(classes)):
        T[:, k] = labels == classes[k]
    return T


def _in_order(T: NDArray[Any], names: Any, classes: NDArray[Any]) -> NDArray[Any]:
    """The columns in the order of the classes, by their names where they have any."""
    if names is None:
        return T
    found, known = list(names), classes.tolist()
    if sorted(map(str, found)) != sorted(map(str, known)):
        raise DataError(f"has the columns {found}; the classes of this model are {known}.", array="y")
    return T[:, [list(map(str, found)).index(str(label)) for label in known]]


def class_costs(class_weight: Any, targets: Targets, cost: Floats) -> tuple[float, ...]:
    """The factor on the costs of each class's rows."""
    totals, known = targets.totals(cost), targets.classes.tolist()
    for label, total in zip(known, totals, strict=True):
        if total == 0:
            raise DataError(
                f"Every sample of class {label!r} has sample_weight zero: leave them out; one class only is too few."
            )
    if isinstance(class_weight, str) and class_weight == "balanced":
        with np.errstate(over="ignore"):
            factors = tuple((totals.sum() / len(known) / totals).tolist())
    else:
        factors = given_costs(class_weight, known)
    _check_products(factors, totals, known)
    return factors


def _check_products(factors: tuple[float, ...], totals: Floats, known: list[Any]) -> None:
    """No class may be lost because its weight times those of its rows is no number any more, or none that is normal."""
    tiny, most = sys.float_info.min, sys.float_info.max / len(known)
    for label, factor, total in zip(known, factors, totals.tolist(), strict=True):
        if not tiny <= factor * total <= most:
            raise DataError(
                f"The class weight {factor:.3g} of class {label!r} times the weights of its rows, {total:.3g} in all, "
                f"is {factor * total:.3g}, out of the range of numbers: give weights of a more usual size."
            )


def given_costs(class_weight: Any, known: list[Any]) -> tuple[float, ...]:
    """The factors that a dict gives, one where it gives none."""
    if class_weight is None:
        return (1.0,) * len(known)
    if not isinstance(class_weight, dict):
        raise SettingError("class_weight", class_weight, "it must be None, 'balanced' or a dict {class: weight}.")
    for label, weight in class_weight.items():
        if label not in known:
            problem = f"{setting('class_weight')} names {label!r}, which is not a class of y;"
            raise SettingError("class_weight", class_weight, f"y has the classes {known}.", problem)
        if not (isinstance(weight, numbers.Real) and np.isfinite(float(weight)) and float(weight) > 0):
            problem = f"{setting('class_weight')}[{label!r}] is {weight!r};"
            raise SettingError("class_weight", class_weight, "a positive finite number is needed.", problem)
    return tuple(float(class_weight.get(label, 1.0)) for label in known)


class TrainingData(NamedTuple):
    """What a fit is given, checked."""

    rows: Any
    """X as the passes read it."""
    targets: Targets
    cost: Floats
    """The sample weights; empty: all one."""
    class_weight: tuple[float, ...]
    columns: Any
    """Of X, for `set_fitted`."""
    names: tuple[str, ...]
    """Of the columns."""


def training_data(model: Any, X: Any, y: Any, sample_weight: Any, class_weight: Any = None) -> TrainingData:
    """X, y and the weights, each checked, and found to go together."""
    rows, columns, names = rows_to_learn(model, X)
    cost = checked_costs(sample_weight, len(rows))
    targets = checked_targets(model, y)
    check_lengths(len(rows), len(targets))
    weights = class_costs(class_weight, targets, cost)
    return TrainingData(present(rows, cost), targets, cost, weights, columns, names)


def rows_of(X: Any, targets: Targets, cost: Floats, class_weight: tuple[float, ...], *, compiled: bool) -> Rows:
    """The rows as the passes read them, class weights multiplied into their costs."""
    factors = np.array(class_weight)
    weighted = any(factor != 1 for factor in class_weight)
    if targets.index is not None:
        if weighted:
            cost = (cost if cost.size else np.ones(len(X))) * factors[targets.index]
        if len(targets.classes) > 2:
            return Rows.of(X, targets.index.astype(np.intp), cost, compiled=compiled)
        signs = targets.index.astype(np.int8) * np.int8(2) - np.int8(1)
        return Rows.of(X, signs, cost, compiled=compiled)
    assert targets.probability is not None
    split = targets.probability * factors * (cost[:, None] if cost.size else 1.0)
    if len(targets.classes) == 2:
        signs = np.ones(len(X), np.int8)
        first, second = (np.ascontiguousarray(column) for column in split.T)
        return Rows.of(X, signs, second, compiled=compiled, other=first)
    if not weighted:
        return Rows.of(X, targets.probability, cost, compiled=compiled)
    total = split.sum(axis=1)
    share = np.where(total[:, None] > 0, split, targets.probability) / np.where(total > 0, total, 1.0)[:, None]
    return Rows.of(X, share, total, compiled=compiled)


def class_rows(X: Block, target: NDArray[Any], cost: Floats) -> Rows:
    """The rows with the numbers of their classes, or a share of each class, as moments are taken of them."""
    kind = np.int64 if target.ndim == 1 else np.float64
    return Rows.of(X, np.ascontiguousarray(target, kind), cost, compiled=X.size >= COMPILE_FROM)


def check_folds(l2: Any, targets: Targets, cost: Floats) -> None:
    """Every fold must have samples that count, of each class."""
    if not isinstance(l2, CrossValidation):
        return
    counts = cost > 0 if cost.size else np.ones(len(targets), bool)
    folds, few, who = l2.folds, int(counts.sum()), "there are"
    if targets.index is not None:
        of_class = np.bincount(targets.index[counts], minlength=len(targets.classes))
        few, who = int(of_class.min()), f"class {targets.classes.tolist()[int(of_class.argmin())]!r} has"
    if few < folds:
        fewer = f"{call(f'CrossValidation(folds={max(2, few)})')}, or " if has("CrossValidation") else ""
        problem = (
            f"{setting('l2', 'cv')} with {folds} folds needs as many samples of each class that count, and {who} {few}:"
        )
        raise SettingError("l2", l2, f"use {fewer}a number for {setting('l2')}.", problem)


def whole_counts(target: Floats, cost: Floats) -> NDArray[np.bool_]:
    """For each row, whether it stands for a whole number of rows of every class; no costs are costs of one."""
    if not cost.size:
        largest: Floats = reduce(np.maximum, target.T)  # column by column: a row has few
        return np.asarray(largest >= 1 - COUNTED)  # shares add up to 1: so the others are none
    parts = target * cost[:, None]
    near = np.abs(parts - np.round(parts)) <= COUNTED * np.maximum(parts, 1)
    return np.asarray(near.all(axis=1))


# Probabilities for classes that are as frequent as they are, not as they were weighed or sampled.

SUM_TO_ONE = 1e-9
"""How far from one the shares may sum."""


def prior_of(prior: Any, targets: Targets, cost: Floats, class_weight: tuple[float, ...]) -> Prior | None:
    """What was asked for, of these rows; None if nothing was."""
    if prior is None:
        return None
    relative = cost / cost.max() if cost.size else cost  # so that no total overflows
    totals = targets.totals(relative)
    weighed = totals * (np.array(class_weight) / max(class_weight))
    wanted = totals / totals.sum() if isinstance(prior, str) else _given(prior, targets.classes.tolist())
    return Prior(weighed / weighed.sum(), wanted)


def _given(prior: Mapping[Any, float], known: list[Any]) -> Floats:
    """The shares that a dict gives, in the order of the classes."""
    for label in prior:
        if label not in known:
            problem = f"{setting('prior')} names {label!r}, which is not a class of y;"
            raise SettingError("prior", prior, f"y has the classes {known}.", problem)
    for label in known:
        if label not in prior:
            problem = f"{setting('prior')} says nothing of class {label!r};"
            raise SettingError("prior", prior, f"give the share of each of the classes {known}.", problem)
    shares = np.array([float(prior[label]) for label in known])
    if abs(shares.sum() - 1) > SUM_TO_ONE:
        problem = f"{setting('prior')} sums to {shares.sum():.10g};"
        raise SettingError("prior", prior, "the shares of all classes sum to one: divide each by that sum.", problem)
    return shares / shares.sum()  # type: ignore[no-any-return]
