"""Checked inputs of the displays: rows, labels, a fitted model and its scores, and the range that a picture shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..errors import DataError, Refusal, SettingError, SettingTypeError
from ..fitting.closed.support import Support
from ..numerics.arrays import Floats, Indices


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as numbers, and the way back to what the model was given."""

    values: Floats
    names: tuple[str, ...]
    given: Any

    @property
    def count(self) -> int:
        """How many rows."""
        return len(self.values)

    def like(self, points: Floats) -> Any:
        """Points as the kind of table that was given, with its columns' names."""
        if not hasattr(self.given, "columns"):
            return points
        key = "schema" if hasattr(self.given, "schema") else "columns"  # Polars says schema
        return type(self.given)(points, **{key: list(self.given.columns)})

    def places(self, features: Any, most: int) -> list[int]:
        """The columns that are asked for, by name or by place."""
        asked = [features] if isinstance(features, str | int | np.integer) else list(features)
        if len(asked) > most or not asked or len(set(map(str, asked))) < len(asked):
            raise SettingError("features", features, f"name {most} different columns{' at most' * (most > 1)}.")
        return [self._place(each) for each in asked]

    def _place(self, feature: Any) -> int:
        d = len(self.names)
        if isinstance(feature, str):
            if feature in self.names:
                return self.names.index(feature)
            known = ", ".join(self.names[:8]) + (" and more" if d > 8 else "")
            raise SettingError(
                "features", feature, f"it has {known}.", f"features names {feature!r}, and X has no such column;"
            )
        if isinstance(feature, int | np.integer) and not isinstance(feature, bool) and -d <= feature < d:
            return int(feature) % d
        raise SettingError(
            "features",
            feature,
            f"X has {d} columns: give names, or places from 0 to {d - 1}.",
            f"features holds {feature!r};",
        )


def table_of(X: Any, model: Any = None) -> Table:
    """X as numbers, with the names of its columns, or those that the model knows."""
    try:
        values = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"holds something that is not a number; a picture needs numbers. ({error})", array="X"
        ) from None
    if values.ndim != 2 or not values.size:
        raise DataError(
            f"has shape {values.shape}; rows of at least one column are needed, X[:, None] if it is one.", array="X"
        )
    if not np.isfinite(values).all():
        i, j = (int(place) for place in np.argwhere(~np.isfinite(values))[0])
        raise DataError(
            f"is {values[i, j]}; a picture needs finite numbers: impute it, or drop the row.",
            array="X",
            row=i,
            column=j,
            value=values[i, j],
        )
    d = values.shape[1]
    expected = getattr(model, "n_features_in_", d)
    if expected != d:
        raise DataError(f"has {d} columns, and {type(model).__name__} was fitted to {expected}: give those.", array="X")
    names = getattr(X, "columns", getattr(model, "feature_names_in_", [f"x{j}" for j in range(d)]))
    return Table(values, tuple(map(str, names)), X)


def labels_of(y: Any, rows: int) -> NDArray[Any]:
    """y as an array of one label for each row."""
    labels = np.asarray(y)
    if labels.shape != (rows,):
        raise DataError(f"has shape {labels.shape}; a label for each of the {rows} rows is needed.", array="y")
    return labels


def check_fitted(model: Any, needs: str = "predict") -> None:
    """A model that has learnt, and has this method."""
    if isinstance(model, type):
        raise SettingTypeError(
            "model",
            model,
            f"give {model.__name__}(…).fit(X, y).",
            f"The model is the class {model.__name__}, not an object:",
        )
    if not hasattr(model, needs) and not hasattr(model, "fit"):
        raise SettingTypeError(
            "model",
            model,
            "give a fitted classifier.",
            f"The model is {type(model).__name__}, which has no {needs}(X):",
        )
    try:
        if hasattr(model, "__sklearn_tags__"):  # of others nobody can tell
            check_is_fitted(model)
    except NotFittedError:
        raise NotFittedError(
            f"This {type(model).__name__} has not learnt yet: call fit(X, y) before it is drawn."
        ) from None
    if not hasattr(model, needs):
        raise Refusal(f"{type(model).__name__} has no {needs}(X), which this picture needs.")


def classes_of(model: Any, X: Any = None) -> NDArray[Any]:
    """The classes in the model's order."""
    if hasattr(model, "classes_"):
        return np.asarray(model.classes_)
    return np.unique(model.predict(X))


def places_of(labels: Any, classes: NDArray[Any], who: str = "y") -> Indices:
    """The place of each label among the classes."""
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise DataError(f"has shape {labels.shape}; one class for each row is needed.", array=who)
    names, which = np.unique(labels, return_inverse=True)
    known = {name: k for k, name in enumerate(classes.tolist())}
    for name in names.tolist():
        if name not in known:
            row = int(np.flatnonzero(labels == name)[0])
            raise DataError(f"of row {row} is {name!r}, none of the classes {classes.tolist()}.", array=who)
    return np.array([known[name] for name in names.tolist()], np.intp)[which]


def scores_of(model: Any, X: Any) -> Floats:
    """The scores, n×K; of two classes 0 for the first, as one number says it all."""
    if not hasattr(model, "decision_function"):
        raise Refusal(
            f"{type(model).__name__} has no decision_function(X), so there are no scores to draw: "
            "draw its probabilities, or its regions by DecisionRegionsDisplay."
        )
    z = np.asarray(model.decision_function(X), dtype=np.float64)
    return np.column_stack([np.zeros(len(z)), z]) if z.ndim == 1 else z


def probabilities_of(model: Any, X: Any) -> Floats:
    """P(k | x), n×K."""
    if not hasattr(model, "predict_proba"):
        raise Refusal(
            f"{type(model).__name__} has no predict_proba(X), so there are no probabilities to draw: "
            "draw scores, or take a learner with a likelihood such as LogisticRegression."
        )
    return np.asarray(model.predict_proba(X), dtype=np.float64)


def weights_of(model: Any, d: int) -> Floats | None:
    """A row of weights for each score, where the model is linear in the d columns themselves; else None."""
    W = getattr(model, "coef_", None)
    if W is None or hasattr(W, "toarray"):
        return None
    W = np.atleast_2d(np.asarray(W, dtype=np.float64))
    return W if W.ndim == 2 and W.shape[1] == d and getattr(model, "features_", None) is None else None


def are_scores(model: Any, X: Any, rows: Floats, W: Floats) -> bool:
    """Whether XWᵀ + b are the scores that the model gives; weights of pairs of classes, say, are not."""
    if not hasattr(model, "decision_function"):
        return True
    z = np.asarray(model.decision_function(X), dtype=np.float64)
    made = rows @ W.T + np.ravel(getattr(model, "intercept_", 0.0))
    made = made[:, 0] if z.ndim == 1 else made
    return made.shape == z.shape and bool(np.allclose(made, z, rtol=1e-6, atol=1e-6 * (np.abs(z).max() or 1.0)))


PAD = 0.12
"""The free part of a column's range on each side."""
HALF = 0.5
"""In a column of whole numbers each has a cell of its own, which reaches this far to each side."""


def domain_of(model: Any, columns: int) -> Support:
    """The numbers that a model knows in each column: its own `domain_`, or what scikit-learn's tags tell."""
    found = getattr(model, "domain_", None)
    if isinstance(found, Support):
        return found
    tags = model.__sklearn_tags__() if hasattr(model, "__sklearn_tags__") else None
    lowest = 0.0 if tags is not None and tags.input_tags.positive_only else -np.inf
    return Support(np.full(columns, lowest), np.full(columns, np.inf), np.zeros(columns, np.bool_))


def ends_of(values: Floats, domain: Support, place: int | None, part: float = PAD) -> tuple[float, float]:
    """A part of their range beyond the values on each side, no further than the column may go; None is no column."""
    low, high = float(values.min()), float(values.max())
    pad = part * (high - low if high > low else 1.0)
    if place is None:
        return low - pad, high + pad
    half = HALF if domain.whole[place] else 0.0
    return max(low - pad - half, domain.lowest[place] - half), min(high + pad + half, domain.highest[place] + half)


def known(values: Floats, domain: Support) -> Floats:
    """The nearest numbers that the model knows: in columns of whole numbers the middle of each one's cell."""
    whole = np.where(domain.whole, np.round(values), values)
    return np.clip(whole, domain.lowest, domain.highest)


def checked_limits(limits: Any, names: tuple[str, str]) -> tuple[Any, Any]:
    """Two numbers for each axis, or None."""
    if limits is None:
        return None, None
    try:
        first, second = limits
        found = tuple(None if each is None else tuple(float(end) for end in each) for each in (first, second))
        right = all(each is None or len(each) == 2 for each in found)
    except (TypeError, ValueError):
        right = False
    if not right:
        raise SettingError(
            "limits",
            limits,
            "give ((left, right), (bottom, top)), with None in place of a pair that the rows are to decide.",
        )
    for name, each in zip(names, found, strict=True):
        if each is not None and not (np.isfinite(each).all() and each[0] < each[1]):
            raise SettingError(
                "limits",
                each,
                "two finite numbers are needed, the smaller one first.",
                f"limits of {name!r} are {each};",
            )
    return found[0], found[1]


def check_inside(ends: tuple[float, float], domain: Support, place: int, name: str, model: Any) -> None:
    """Refuse limits beyond the values that the model knows."""
    half = HALF if domain.whole[place] else 0.0
    low, high = domain.lowest[place] - half, domain.highest[place] + half
    if ends[0] < low or ends[1] > high:
        raise SettingError(
            "limits",
            ends,
            "keep inside.",
            f"limits of {name!r} are {ends}, and {type(model).__name__} knows that column from {low:g} to {high:g} "
            "only:",
        )
