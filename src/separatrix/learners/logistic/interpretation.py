"""What a fitted logistic regression can say about its weights and its predictions."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...inference.explanation import Explanation
from ...inference.result import Inference
from ...inference.summary.summary import Summary
from .explain import explanation_of
from .inference import inference_of
from .rows_of_fit import Facts, Keeper
from .summary import summary_of


class Interpretation:
    """What can be read from the weights of a fitted likelihood: how sure they are, what they mean, why a row is likely.

    A fit remembers small facts for that, and weak references to its rows.
    """

    _facts: Facts | None = None
    _kept_rows: Keeper | None = None

    def __getstate__(self) -> dict[str, Any]:
        """A copy or a pickle has the facts and not the rows."""
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[misc, call-overload]
        state.pop("_kept_rows", None)
        return state

    def inference(
        self, X: Any, y: Any, sample_weight: Any = None, *, covariance: str = "model", weights: str | None = None,
        force: bool = False,
    ) -> Inference:  # fmt: skip
        """√diag((XᵀWX)⁻¹) and what follows: standard errors, z, p, intervals, likelihood-ratio tests, odds ratios.

        X, y and sample_weight are those of the fit, which is checked. The answer is *refused*, with the reason, where
        the numbers would not mean what they seem: the weights are penalised or not at the maximum, the classes are
        separated, columns are combinations of others, the rarest class has fewer than ten rows for each coefficient of
        an equation (not with objective="firth", made for that), or weights are no numbers of rows. `force=True` gives
        the numbers all the same, marked.

        `covariance` "model" is the inverse of the information; "robust" the sandwich H⁻¹(Σ uᵢuᵢᵀ)H⁻¹, u the score of
        a row, which is right also where the model is not (no small-sample factor). `weights` says what sample_weight
        means: "frequency", a number of rows, which is what the model covariance takes it for; or "sampling", how much
        of a population a row stands for, as the robust one does unless told otherwise.
        """
        return inference_of(self, X, y, sample_weight, covariance, weights, force)

    @available_if(lambda self: self._tells_log_odds())  # type: ignore[untyped-decorator]
    def summary(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        level: float = 0.95,
        reference: Any = None,
        covariance: str = "model",
        method: str = "wald",
        force: bool = False,
    ) -> Summary:
        """The model on a page: how the fit ended, how well it fits, each weight and e^w with its interval.

        Without rows it uses those of the fit, if they are still in memory and unchanged; with rows these must be the
        rows of the fit. What needs rows and has none is left out with the reason.

        Parameters
        ----------
        X, y, sample_weight : the rows of the fit, or None
            None: those that are still in memory.
        level : float
            Of the intervals.
        reference : class, "symmetric" or None
            The class that the odds are against: the weights shown are those of the others less its own. None: of two
            classes the first, of K the last. "symmetric", of K classes: against the geometric mean of all.
        covariance, method : str
            "model" or "robust"; "wald" or "profile": as `inference` has them.
        force : bool
            Whether intervals and p are shown, marked †, where they would not mean what they seem.
        """
        check_is_fitted(self, "rule_")
        return summary_of(
            self, (X, y, sample_weight), level=level, reference=reference, covariance=covariance, method=method,
            force=force,
        )  # fmt: skip

    @available_if(lambda self: self._tells_log_odds())  # type: ignore[untyped-decorator]
    def explain(self, row: Any, *, for_class: Any = None, against: Any = None) -> Explanation:
        """log-odds = base rate + (average row) + Σⱼ wⱼ(xⱼ − x̄ⱼ): one prediction, contribution by contribution.

        Parameters
        ----------
        row : array, list, dict, Series, or a frame or matrix of one row
            In the order of the columns of the fit, or by their names.
        for_class : class or None
            Whose probability is explained. None: of two classes classes_[1]; of K the one predicted.
        against : class or None
            Of K classes: the one that the odds are against. None: the likeliest of the others.
        """
        check_is_fitted(self, "rule_")
        return explanation_of(self, row, for_class, against)
