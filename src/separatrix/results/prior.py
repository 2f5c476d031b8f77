"""The shares of the classes: those that a fit saw, and those that its probabilities speak of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..numerics.arrays import Floats
from ..numerics.functions import log_sum_exp


@dataclass(frozen=True, eq=False)
class Prior:
    """The classes' shares, in their order: of all that the fit saw, and of all that the probabilities speak of."""

    seen: Floats
    """πₖ: of the costs, class weights counted."""
    wanted: Floats
    """τₖ."""

    @property
    def shift(self) -> Floats:
        """log(τₖ/πₖ), which the log-odds of two classes lack."""
        return np.log(self.wanted) - np.log(self.seen)  # type: ignore[no-any-return]

    def corrected(self, log_p: Floats) -> Floats:
        """log P(k | x) = log pₖ + log(τₖ/πₖ) − log Σⱼ pⱼτⱼ/πⱼ, by Bayes' rule: p(x | k) is the same in both worlds.

        What is 0 or 1 stays so; equals part by the odds.
        """
        moved = log_p + self.shift
        return moved - log_sum_exp(moved)[:, None]  # type: ignore[no-any-return]
