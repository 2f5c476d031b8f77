"""What the learners on joint features share: how they read X, bind the map, and score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ...data.maps.joint import Separate
from ...data.maps.joint_rows import Features
from ...errors import DataError, SettingError
from ...numerics.arrays import Floats
from ...results.linear_rule import LinearRule
from ...results.verdict import Verdict
from ..checks.rows import checked_rows, names_of, not_finite, set_fitted
from ..checks.settings import checked_numbers


@dataclass(frozen=True, eq=False)
class JointRows:
    """The rows as they were given, checked."""

    X: Any
    """A block; or the list of objects."""
    tabular: bool
    columns: tuple[str, ...] | None

    def __len__(self) -> int:
        return len(self.X)

    @property
    def for_maps(self) -> Any:
        """An array, scipy's CSR, or the list of objects."""
        return self.X.plain() if self.tabular else self.X


@dataclass(frozen=True, eq=False)
class JointTraining:
    """The training rows, their classes, and the map bound to both."""

    rows: JointRows
    classes: NDArray[Any]
    feature_map: Any
    bound: Any
    names: tuple[str, ...]
    """Of the features."""
    read: Any
    """What has the columns of X, for `set_fitted`."""


class JointModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """ŷ = argmax_c θ·Φ(x, c), the first of the strongest."""

    feature_map: Any
    init: Any
    warm_start: Any
    classes_: NDArray[Any]
    theta_: Floats
    feature_names_: tuple[str, ...]
    verdict_: Verdict
    _map: Any
    """The feature map of the last fit, whatever the parameter is now."""
    _bound: Any
    """This map bound to the classes."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def weights_(self) -> dict[str, float]:
        """θ by the names of the features."""
        check_is_fitted(self, "theta_")
        return dict(zip(self.feature_names_, self.theta_.tolist(), strict=True))

    @property
    def deciding_rule(self) -> Any:
        """A `LinearRule` of a row for each class, where each has weights of its own; else the whole of it."""
        if not is_plain(self._map):
            return self
        W, b = split(self.theta_.reshape(len(self.classes_), -1), self._map)
        likely = hasattr(self, "predict_proba") and self.verdict_.status != "separated"
        return LinearRule(W, b, tuple(self.classes_.tolist()), names_of(self, W.shape[1]), likely)

    def decision_function(self, X: Any) -> Floats:
        """s_c = θ·Φ(x, c), rows × classes; of two classes the second's less the first's."""
        s = self._scores(X)
        return s if s.shape[1] > 2 else s[:, 1] - s[:, 0]

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest score; of equals the first."""
        s = self._scores(X)
        return self.classes_[s.argmax(axis=1)]  # type: ignore[no-any-return]

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self, "theta_")
        rows = self._read(X)
        return self._scores_of(rows, self.theta_)

    def _scores_of(self, rows: JointRows, theta: Floats) -> Floats:
        if is_plain(self._map):
            W, b = split(theta.reshape(len(self.classes_), -1), self._map)
            with np.errstate(over="ignore", invalid="ignore"):
                s = rows.X @ W.T + b
        else:
            s = self._features_of(rows).scores(theta)
        if not np.isfinite(s).all():
            raise self._overflow(rows, self._map)
        return np.asarray(s)

    def _overflow(self, rows: JointRows, feature_map: Any) -> ValueError:
        """The error for scores that are not finite."""
        if is_plain(feature_map) and rows.columns is not None:
            return not_finite(rows.X, rows.columns, self)
        return DataError("The scores θ·Φ(x, c) overflow: use larger units for the features.")

    def _features_of(self, rows: JointRows) -> Features:
        """Φ of rows to be predicted."""
        return Features(self._bound, tuple(self.classes_.tolist()), rows.for_maps, self.feature_names_, ())

    def _start(self, p: int) -> Floats:
        """Where θ starts: at the last fit, at `init`, or at zero."""
        if self.warm_start and hasattr(self, "theta_") and self.theta_.shape == (p,):
            return self.theta_.copy()
        return np.zeros(p) if self.init is None else given_weights("init", self.init, p)

    def _bind(self, given: Any, classes: tuple[Any, ...], rows: JointRows) -> Any:
        """The map for these classes and columns."""
        given = Separate() if given is None else given
        bind = getattr(given, "bind", None)
        return bind(classes, rows.columns) if callable(bind) else given

    def _set(self, training: JointTraining, theta: Floats, **found: Any) -> None:
        """Set all attributes of a fit."""
        set_fitted(
            self, training.read, classes_=training.classes, theta_=theta.copy(), feature_names_=training.names,
            _map=training.feature_map, _bound=training.bound, **found,
        )  # fmt: skip

    def _check_map(self) -> None:
        given = self.feature_map
        if given is not None and (isinstance(given, type) or not (callable(given) or hasattr(given, "bind"))):
            raise SettingError(
                "feature_map", given,
                "it must be None, a map of separatrix.joint such as Separate(), or a function feature_map(X, c) that "
                "gives rows × features for the class c.",
            )  # fmt: skip

    def _read(self, X: Any, new: Any = None) -> JointRows:
        """X as a table of numbers, or as a list of objects if there is a map for them; at a fit, its `new` columns."""
        feature_map, columns = (self._map, self) if new is None else (self.feature_map, new)
        if is_plain(feature_map) or (self.verdict_.claim.tabular if new is None else is_table(X)):
            rows = checked_rows(columns, X, reset=new is not None)
            return JointRows(rows, True, names_of(columns, rows.shape[1]))
        objects = as_objects(X)
        if not objects:
            raise DataError(f"X is empty: {type(self).__name__} needs rows. (0 sample(s))")
        return JointRows(objects, False, None)


def is_plain(feature_map: Any) -> bool:
    """Whether each class has weights of its own: then Φ need not be written out."""
    return feature_map is None or isinstance(feature_map, Separate)


def has_intercept(feature_map: Separate | None) -> bool:
    """Whether a plain map has intercepts."""
    return feature_map is None or bool(feature_map.intercept)


def split(table: Floats, feature_map: Separate | None) -> tuple[Floats, Floats]:
    """W and b of K × (columns, then the intercept if there is one)."""
    if has_intercept(feature_map):
        return table[:, :-1], table[:, -1]
    return table, np.zeros(len(table))


def check_given(model: Any, y: Any) -> None:
    """A fit needs labels."""
    if y is None:
        name = type(model).__name__
        raise DataError(
            f"{name} needs y: a label for each row of X. ({name} requires y to be passed, but the target y is None)"
        )


def given_weights(name: str, values: Any, p: int) -> Floats:
    """A weight for each feature."""
    given = checked_numbers(name, values)
    if given.size != p:
        needed = f"there are {p} features, and each has one weight."
        raise SettingError(name, values, needed, f"{name} has {given.size} numbers;")
    return given.ravel().copy()


def is_table(X: Any) -> bool:
    """Whether X is rows × columns of numbers."""
    if issparse(X):
        return True
    try:
        table = np.asarray(X)
        if table.ndim == 2 and table.dtype.kind == "O":
            table = table.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return table.ndim == 2 and table.dtype.kind in "biuf"


def as_objects(X: Any) -> list[Any]:
    """One object for each row; of a data frame a dictionary by the names of its columns."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return list(X.to_dict("records"))
    if hasattr(X, "to_dicts"):
        return list(X.to_dicts())
    if isinstance(X, str | bytes) or not hasattr(X, "__len__"):
        raise DataError(f"is {X!r}; a table of numbers, or a list of objects, is needed.", array="X")
    return list(X)
