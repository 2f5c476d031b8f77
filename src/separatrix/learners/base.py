"""What all linear classifiers of two classes share once they have learnt."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..rule import LinearRule
from .validation import checked_rows, not_finite

Floats = NDArray[np.float64]


class LinearClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """ŷ = classes_[1] where xᵀw + b > 0, else classes_[0]."""

    rule_: LinearRule

    def decision_function(self, X: Any) -> Floats:
        """xᵀw + b for each row: the log-odds of classes_[1] where the model has a likelihood, else the score."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row: classes_[1] iff the score is > 0."""
        positive = self._scores(X) > 0
        return self.classes_[positive.astype(int)]  # type: ignore[no-any-return]

    def distance(self, X: Any) -> Floats:
        """d = (xᵀw + b)/‖w‖: the signed distance of each row from the boundary."""
        return self._scores(X) / self.rule_._length("distance")

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self, "rule_")
        rows = checked_rows(self, X, reset=False)
        with np.errstate(invalid="ignore", over="ignore"):
            scores = self.rule_.score(rows)
        if not np.isfinite(scores).all():
            raise not_finite(rows, self.rule_.columns, self)
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
