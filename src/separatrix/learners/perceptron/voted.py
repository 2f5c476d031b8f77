"""The voted perceptron: all that were ever in hand vote."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...data import Sparse
from ...fitting.scan.readings import Reading, Votes
from ...fitting.scan.run import Course
from ...numerics.arrays import Floats
from ...results.votes import Ballot
from ..checks.rows import checked_rows, not_finite
from .base import MistakeDriven
from .words import still_wrong


class VotedPerceptron(MistakeDriven):
    """f̂(x) = sign Σₜ f̂ₜ(x), f̂ₜ(x) = sign(xᵀwₜ + bₜ), over f̂₁, …, f̂_{T+1} of the perceptron; ties → −1.  [001 slide 28]

    Online-to-batch conversion of the perceptron (Freund and Schapire 1999): every weight vector has as many votes as it
    had turns. Of K classes each votes for one, and the class with most votes wins, at a tie the first. The vote is no
    linear rule: `coef_`, `intercept_` and `rule_` are those of the last weights, and so is the verdict.

    Parameters
    ----------
    last_half : bool
        Whether only the last half of the classifiers votes.
    max_passes : float
        Ten at the most, unless more are asked for; the log of all mistakes is kept.
    learning_rate, order, patience, ties, init, fit_intercept, random_state, warm_start : as in `Perceptron`

    Attributes
    ----------
    log_ : MistakeLog
        Which row was mistaken, at which step, for what.
    The others are those of `Perceptron`.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, -1, -1, 1]
    >>> model = VotedPerceptron().fit(X, y)
    >>> model.predict(X).tolist(), model.decision_function([[2, 2]]).round(2).tolist()
    ([-1, -1, -1, 1], [0.62])
    """

    def __init__(
        self,
        *,
        last_half: bool = False,
        learning_rate: float = 1.0,
        max_passes: float = 10,
        order: str = "cyclic",
        patience: int | None = None,
        ties: str = "mistake",
        init: Any = None,
        fit_intercept: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.last_half = last_half
        self.learning_rate = learning_rate
        self.max_passes = max_passes
        self.order = order
        self.patience = patience
        self.ties = ties
        self.init = init
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.warm_start = warm_start

    def decision_function(self, X: Any) -> Floats:
        """Σₜ f̂ₜ(x)/(T + 1): the mean vote, from −1 to 1; of K classes the share of the votes for each, n × K."""
        check_is_fitted(self, "rule_")
        rows = checked_rows(self, X, reset=False)
        if not (rows.finite() if isinstance(rows, Sparse) else np.isfinite(rows).all()):
            raise not_finite(rows, self.rule_.columns, self)
        try:
            votes: Floats = self._ballot.tally(rows)
        except OverflowError:
            raise not_finite(rows, self.rule_.columns, self) from None
        return votes

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with most votes; at a tie the first."""
        votes = self.decision_function(X)
        chosen = (votes > 0).astype(np.intp) if votes.ndim == 1 else votes.argmax(axis=1)
        return self.classes_[chosen]  # type: ignore[no-any-return]

    def distance(self, X: Any) -> Floats:
        """A vote has no boundary that is a plane, and so no distance from it."""
        raise AttributeError(
            "A vote is no linear rule: it has no distance. rule_.distance(X) is that of the last weights."
        )

    def _reading(self, course: Course) -> Reading:
        if not isinstance(self.last_half, bool):
            raise ValueError(f"last_half is {self.last_half!r}; it must be True or False.")
        return Votes(course.X, course.target, course.scanned, course.start)

    def _keep(self, prepared: Any, reading: Any, passes: float, ended: str) -> None:
        super()._keep(prepared, reading, passes, ended)
        course, start = prepared.course, prepared.course.start
        two = len(start.weights) == 1
        self.log_ = reading.log
        self._ballot = Ballot.of(
            self.log_, course.X, start.weights[0] if two else start.weights,
            float(start.intercept[0]) if two else start.intercept, course.manner.rate, course.manner.lifted,
            len(prepared.classes), 0.5 if self.last_half else 1.0,
        )  # fmt: skip

    def _says(self, rows: int, mistakes: int) -> tuple[str, str]:
        stands = still_wrong(self.mistakes_, self.n_passes_, rows, self.order)
        return (
            f"{stands} {self.n_steps_ + 1} classifiers vote; the last of them errs on {mistakes} of {rows} rows.",
            "Nothing is proved of the vote; more passes may help.",
        )
