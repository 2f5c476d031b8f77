"""What reductions and overlapping labels share: a learner inside, rows as it reads them, one score a row and member."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags

from ...numerics.arrays import Floats
from ...results.verdict import Verdict
from ..base import LinearClassifier
from ..checks.rows import checked_rows, not_finite
from .members import check_table


def gives_probabilities(model: Any) -> bool:
    """Whether every member has them; else the reason why there are none."""
    learnt = [member for member in getattr(model, "estimators_", ()) if member is not None]
    if not all(hasattr(member, "predict_proba") for member in learnt or [model.estimator]):
        name = type(model.estimator).__name__
        raise AttributeError(
            f"{name} has no predict_proba, so {type(model).__name__} has none: use LogisticRegression()."
        )
    return True


class MetaLearner(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A learner made of clones of another."""

    estimator: Any
    n_jobs: int | None
    verdict_: Verdict

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            inner = get_tags(self.estimator)
        except (AttributeError, TypeError):
            return tags
        for name in ("sparse", "allow_nan", "pairwise", "positive_only"):
            setattr(tags.input_tags, name, getattr(inner.input_tags, name))
        tags.non_deterministic = inner.non_deterministic
        return tags

    def _columns(self) -> tuple[str, ...]:
        names = getattr(self, "feature_names_in_", None)
        width = getattr(self, "n_features_in_", 0)
        return tuple(map(str, names)) if names is not None else tuple(f"x{j}" for j in range(width))

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """X as our own linear learners read it; for any other learner None: it reads X itself."""
        if isinstance(self.estimator, LinearClassifier):
            return checked_rows(self, X, reset=reset)
        check_table(self, X, reset=reset)
        return None

    def _scored(self, rule: Any, rows: Any) -> Floats:
        """The scores of linear rules, all at once; NaN in X is named."""
        with np.errstate(invalid="ignore", over="ignore"):
            scores: Floats = rule.score(rows)
        if not np.isfinite(scores).all():
            raise not_finite(rows, self._columns(), self)
        return scores
