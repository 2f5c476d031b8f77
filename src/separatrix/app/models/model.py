"""A saved model: all that it takes to score rows, and all that was said of the fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import __version__
from ...data.maps.maps import FeatureMap
from ...errors import DataError, DataTypeError, Refusal
from ...inference.explanation import Explanation, Group, View
from ...numerics.arrays import Floats
from ..tables.cells import ColumnSpan, cell_of, parts_of, summed
from ..tables.encoding import Encoding
from .rules import Linear, Rule, mapped

FITTED = "fitted"
"""The status of a fit that came to its end."""
INTERRUPTED = "interrupted"
"""The status of a fit that was stopped before."""
MANY_SIGNS = 1 << 18
"""Of an array of texts, four bytes each."""


@dataclass(frozen=True, eq=False)
class Model:
    """ŷ, P(k | x) and distances of rows, as the learner that was saved gives them: `separatrix.load(path)`.

    X is rows × columns of numbers, in the order of `columns` or a data frame that has them by name; of a model that was
    fitted to a table with categories it is what `encoding.matrix(table)` makes. Of linear models neither scikit-learn
    nor Numba is imported.
    """

    learner: str
    """The name of the class that was fitted."""
    parameters: Mapping[str, Any]
    """Its parameters, as JSON holds them."""
    classes: tuple[Any, ...]
    """Texts, whole numbers, numbers, or True and False, as they were in y."""
    columns: tuple[str, ...]
    """Of X."""
    rule: Rule
    feature_map: FeatureMap | None = None
    """What the rule reads, where that is not X itself."""
    encoding: Encoding | None = None
    """How a table becomes X."""
    verdict: Mapping[str, Any] | None = None
    """`Verdict.to_dict()` of the fit, and its `text`."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """What is known of the training rows: `rows`, `class_totals`, `means` and `deviations` of the features, and what
    whoever saved it has added: `fingerprint`, `seed`, `command`, `summary`."""
    status: str = FITTED
    """Or "interrupted": the fit was stopped before its end."""
    package: str = __version__
    """The version of Separatrix that fitted it."""

    @cached_property
    def features(self) -> tuple[str, ...]:
        """The names of what the rule reads: the columns, or the features made of them."""
        return self.columns if self.feature_map is None else tuple(self.feature_map.names(self.columns))

    @cached_property
    def label_array(self) -> NDArray[Any]:
        """The classes as an array: of objects where another would drop a sign 0 at an end, or digits, or be large."""
        if isinstance(self.classes[0], str) and max(map(len, self.classes)) * len(self.classes) > MANY_SIGNS:
            return np.array(self.classes, object)  # each would take as much memory as the longest
        found = np.asarray(self.classes)
        same = all(type(a) is type(b) and a == b for a, b in zip(found.tolist(), self.classes, strict=True))
        return found if same else np.array(self.classes, object)

    @property
    def interrupted(self) -> bool:
        """Whether the fit was stopped before its end."""
        return self.status == INTERRUPTED

    # -------------------------------------------------------------------------------------------------------- answers

    def scores(self, X: Any) -> Floats:
        """One number a row, > 0 for the second class; of K classes rows × K: what `decision_function` gives."""
        return self._scored(X)[1]

    def labels(self, X: Any) -> NDArray[Any]:
        """The class of each row: what `predict` gives."""
        rows, scores = self._scored(X)
        return self.label_array[self.rule.chosen(rows, scores)]  # type: ignore[no-any-return]

    def probabilities(self, X: Any) -> Floats | None:
        """P(k | x), rows × K: what `predict_proba` gives; None where the learner has no probabilities."""
        return self.rule.probabilities(*self._scored(X))

    def distances(self, X: Any) -> Floats | None:
        """From the boundary among what the rule is linear in, of two classes with its sign; None where it is no plane.

        Of K classes the distance from the boundary of the region of the row's own class.
        """
        return self.rule.distances(*self._scored(X))

    def contributions(self, X: Any) -> Floats:
        """wⱼ(xⱼ − x̄ⱼ): what each feature adds to the score, rows × features; of K classes rows × K × features.

        x̄ is the mean of the training rows where that is known, else zero.
        """
        linear = self.rule.linear()
        if linear is None:
            raise Refusal(f"{self.learner} has a rule of kind {self.rule.kind!r}: no feature has a part of its own.")
        rows, _ = self._scored(X)
        made = self.rule.features(rows) if hasattr(self.rule, "features") else rows
        made = made.dense() if callable(getattr(made, "dense", None)) else made
        away = (made.toarray() if hasattr(made, "toarray") else made) - self._means(made.shape[1])
        W = linear.weights
        if W.ndim == 2 and len(W) == 2:
            W = W[1] - W[0]
        return away * W if W.ndim == 1 else away[:, None, :] * W[None]  # type: ignore[no-any-return]

    def by_column(self, sizes: Floats) -> Floats:
        """Σⱼ over all that was made from the same column of the table, or of X; along the last axis."""
        if hasattr(self.rule, "origins"):
            made, sizes = sizes, np.zeros((*sizes.shape[:-1], len(self.columns)))
            np.add.at(sizes, (..., self.rule.origins()), made)  # type: ignore[arg-type]
        return summed(self.parts, sizes) if self.parts else sizes

    def explain(self, row: Any, *, for_class: Any = None, against: Any = None) -> Explanation:
        """log-odds = base rate + (average row) + Σⱼ wⱼ(xⱼ − x̄ⱼ): see `LogisticRegression.explain`.

        Of a model that was fitted to a table, column by column of it: levels add up, numbers are in its units.
        """
        view, x = self._view, self._one(row)
        if self.feature_map is not None:
            x = self.feature_map.expand(x)
        sampled = "The means are those of a sample of the training rows."
        notes = [sampled] * bool(self.training.get("means_sampled"))
        return view.explain(x[0], for_class, against, notes, self._groups(x[0]))

    @cached_property
    def parts(self) -> list[ColumnSpan]:
        """The columns of the table, and where their numbers are; none where there was no table or X is mapped."""
        return [] if self.encoding is None or self.feature_map is not None else parts_of(self.encoding.columns)

    def _groups(self, x: Floats) -> list[Group]:
        means, found = self.training.get("means"), []
        for part in self.parts:
            cell, column, mean = cell_of(part, x), part.column, None
            if means is not None and isinstance(cell.value, float):
                mean = float(means[part.places.start]) * column.scale + column.center
            found.append(Group(cell.name, part.places, cell.value, mean))
        return found

    @cached_property
    def _view(self) -> View:
        rule = self.rule
        if not isinstance(rule, Linear) or not (rule.likely or rule.separated):
            raise Refusal(f"{self.learner} was saved without log-odds that are linear: there is nothing to explain.")
        means, totals = self.training.get("means"), self.training.get("class_totals")
        status = "quasi-separated" if rule.limit else "separated" if rule.separated else "optimal"
        W, b = rule.rule._matrix()
        return View(
            list(self.classes), self.features, np.column_stack([b, W]), status,
            rule.limit.probabilities if rule.limit else None, rule.prior,
            None if means is None else np.asarray(means, np.float64),
            None if totals is None else np.asarray(totals, np.float64) / np.sum(totals),
        )  # fmt: skip

    @property
    def scaled_weights(self) -> Floats | None:
        """wⱼ sⱼ: the weights per standard deviation of their features in the training rows, where these are known."""
        linear, deviations = self.rule.linear(), self.training.get("deviations")
        if linear is None or deviations is None or len(deviations) != linear.weights.shape[-1]:
            return None
        return linear.weights * np.asarray(deviations, np.float64)

    def _means(self, width: int) -> Floats:
        means = self.training.get("means")
        return np.zeros(width) if means is None or len(means) != width else np.asarray(means, np.float64)

    # ------------------------------------------------------------------------------------------------------- the rows

    def _scored(self, X: Any) -> tuple[Any, Floats]:
        """The rows as the rule reads them, and their scores."""
        X = self._rows(X)
        trusting = isinstance(self.rule, Linear) and self.feature_map is None  # there NaN shows in the scores
        if not trusting:
            self._check(X)
        rows = mapped(X, self.feature_map)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.rule.scores(rows)
        if not np.isfinite(scores).all():
            self._check(X)
            raise DataError("The scores overflow: the numbers of X are too large; give them in other units.")
        return rows, scores

    def _rows(self, X: Any) -> Any:
        if isinstance(X, np.ma.MaskedArray):
            raise DataTypeError(
                "is a masked array, and what its mask hides would be read: fill it first, X.filled(value).", array="X"
            )
        if hasattr(X, "tocsr"):
            X = X.tocsr() if isinstance(self.rule, Linear) and self.feature_map is None else X.toarray()
        elif not isinstance(X, np.ndarray) and hasattr(X, "columns"):
            X = np.asarray(self._by_name(X))
        X = X if hasattr(X, "tocsr") else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != len(self.columns):
            few = ", ".join(map(repr, self.columns[:6])) + (", …" if len(self.columns) > 6 else "")
            raise DataError(f"has shape {X.shape}; rows of {len(self.columns)} numbers are needed: {few}.", array="X")
        if X.dtype in (np.float32, np.float64):
            return X
        if X.dtype.kind == "c":
            raise DataError(
                "holds complex numbers, and the model needs real ones: give the parts that it was fitted to.", array="X"
            )
        try:
            return X.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(
                f"holds what is not a number ({error}); encode it first: encoding.matrix(table).", array="X"
            ) from None

    def _by_name(self, frame: Any) -> Any:
        """The columns of a frame that the model knows, in its order; of a model without names, all as they are."""
        there = list(map(str, frame.columns))
        absent = [name for name in self.columns if name not in there]
        if not absent:
            order = list(self.columns)
            return (
                frame[order] if there == list(frame.columns) else np.asarray(frame)[:, [there.index(k) for k in order]]
            )
        if self.columns == tuple(f"x{j}" for j in range(len(self.columns))) and len(absent) == len(self.columns):
            return frame
        raise DataError(
            f"X lacks the column {absent[0]!r}: it has {', '.join(map(repr, there[:8]))}.", column=absent[0]
        )

    def _one(self, row: Any) -> Floats:
        """One row, by the order of the columns or by their names."""
        if isinstance(row, Mapping):
            absent = [name for name in self.columns if name not in row]
            if absent:
                raise DataError(
                    f"The row lacks {absent[0]!r}: give a number for each of the columns of the model.",
                    column=absent[0],
                )
            row = [row[name] for name in self.columns]
        x = row if hasattr(row, "columns") or hasattr(row, "tocsr") else np.atleast_2d(np.asarray(row))
        x = self._rows(x)
        x = x.toarray() if hasattr(x, "toarray") else x
        if len(x) != 1:
            raise DataError(f"explain takes one row; this has shape {x.shape}: give a row such as X[:1].")
        self._check(x)
        return x.astype(np.float64)  # type: ignore[no-any-return]

    def _check(self, X: Any) -> None:
        """Name the first number that is not finite."""
        dense = X.toarray() if hasattr(X, "toarray") else X
        bad = np.isinf(dense) if self.rule.takes_missing and self.feature_map is None else ~np.isfinite(dense)
        if bad.any():
            i, j = (int(place) for place in np.argwhere(bad)[0])
            raise DataError(
                f"is {dense[i, j]}; the model needs finite numbers: correct the row, or leave it out.",
                array="X", row=i, column=self.columns[j], value=float(dense[i, j]),
            )  # fmt: skip

    def __repr__(self) -> str:
        stopped = ", interrupted" if self.interrupted else ""
        return f"<Model of {self.learner}: {len(self.columns)} columns, {len(self.classes)} classes{stopped}>"
