"""What all feature maps share as scikit-learn transformers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..data import Sparse
from ..data.mapped import MappedRows
from ..data.maps.base import FeatureMap
from ..data.reading import finite
from ..errors import DataError, SettingError
from .checks.rows import checked_rows, names_of, not_finite, unchanged_on_failure

BLOCK = 1 << 22
"""Features of sparse rows that are made together."""


def check_names(names: Sequence[str]) -> None:
    """No two features of one name: a data frame or a rule could not tell them apart."""
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise DataError(
            f"There are {count} features of the name {name!r}: rename the columns of X, or leave out what makes them."
        )


class Transformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """x ↦ Φ(x): `fit` learns the map, `transform` applies it; `map_` is the map itself, plain numbers."""

    map_: FeatureMap
    sparse_out = False
    """Whether a sparse X stays sparse."""
    weighs = False
    """Whether `learn` takes the costs of the rows, because what it learns depends on how often a row is there."""

    def learn(self, rows: Any, columns: Sequence[str]) -> FeatureMap:
        """The map by these rows: an array, or rows that are read block by block."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the map from the rows of X; y is not looked at."""
        with unchanged_on_failure(self):
            rows = self._rows(X, reset=True)
            self._check_sparse(rows)
            columns = names_of(self, rows.shape[1])
            self.map_ = self.learn(rows, columns)
            check_names(self.map_.names(columns))
        return self

    def transform(self, X: Any) -> Any:
        """Φ of every row: an array in double precision, or CSR where X is sparse and the map keeps zeros."""
        check_is_fitted(self, "map_")
        rows = self._rows(X, reset=False)
        self._check_sparse(rows)
        mapped = MappedRows(rows, self.map_)
        if not (isinstance(rows, Sparse) and self.sparse_out):
            return self._finite(mapped, mapped.dense())
        blocks = [csr_array(self._finite(mapped, block)) for _, block in mapped.blocks(BLOCK)]
        return vstack(blocks, format="csr")

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The features by name, as `input_features` or else X at fit called the columns."""
        check_is_fitted(self, "map_")
        names = names_of(self, self.n_features_in_)
        if input_features is not None:
            given = tuple(map(str, input_features))
            if len(given) != self.n_features_in_:
                raise SettingError(
                    "input_features",
                    input_features,
                    "",
                    f"input_features should have length equal to number of features: {len(given)} names were given, "
                    f"and X had {self.n_features_in_} columns.",
                )
            if hasattr(self, "feature_names_in_") and given != names:
                raise SettingError(
                    "input_features",
                    input_features,
                    "",
                    "input_features is not equal to feature_names_in_, the columns of X at fit.",
                )
            names = given
        return np.asarray(self.map_.names(names), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _rows(self, X: Any, *, reset: bool) -> Any:
        rows = checked_rows(self, X, reset=reset)
        if not finite(rows):
            raise not_finite(rows, names_of(self, rows.shape[1]), self)
        return rows

    def _check_sparse(self, rows: Any) -> None:
        """Refuse sparse rows, where they would lose their zeros."""

    def _finite(self, mapped: MappedRows, features: NDArray[Any]) -> NDArray[Any]:
        if not np.isfinite(features).all():
            raise not_finite(mapped, tuple(self.get_feature_names_out()), self)
        return features
