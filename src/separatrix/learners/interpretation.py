"""What can be read from the weights of a fitted likelihood."""

from __future__ import annotations

from typing import Any

from ..inference.result import Inference
from .inference import inference_of


class Interpreted:
    """A likelihood whose weights can be read: how sure they are."""

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
