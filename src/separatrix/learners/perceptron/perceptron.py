"""The perceptron, and the mean of all its weights."""

from __future__ import annotations

from typing import Any

from ...fitting.scan.readings import Average, Reading
from ...fitting.scan.run import Course
from .base import MistakeDriven
from .words import still_wrong


class Perceptron(MistakeDriven):
    """w ← w + ηyx, b ← b + ηy wherever y(xᵀw + b) ≤ 0, until a whole pass makes no mistake.  [000 8.13, Algorithm 5]

    Of K classes θ ← θ + η(Φ(x, y) − Φ(x, ŷ)): the weights of a row's own class rise by ηx, and those of the strongest
    other class fall.  [004 §4.5]

    A fit ends *separated*, and the weights are the certificate, which `verdict_.check(X, y)` verifies exactly; or
    *budget*, with the best pass so far: then nobody knows yet whether the classes can be separated at all.
    `separability(X, y)` decides that, and `Pocket` keeps the best weights where they cannot.

    Parameters
    ----------
    learning_rate : float in (0, 1]
        η. From weights of zero it changes the length of the weights, and no mistake.
    max_passes : float
        How many passes over the rows at the most; fractions are allowed.
    order : "cyclic", "random" or "replacement"
        The rows as they come, in a fresh random order each pass, or drawn at random. Of rows that are drawn no pass is
        sure to meet all, so that only `patience` and `max_passes` end it.
    patience : int or None
        End when the weights have not changed for so many steps.
    ties : "mistake", "positive" or "negative"
        What a score of zero is while learning: a mistake [001], a prediction of the second class [000 Algorithm 5], or
        of the first [004 Algorithm 4.1]. Of K classes at equal scores: a mistake, the last of them, or the first.
    init : None or array
        Where it starts: the weights, then the intercept (or the weights alone), a row for each class if there are more
        than two; None is zero.
    fit_intercept : bool
        Whether there is an intercept b, the weight of a feature that is always one.  [001 slide 14]
    random_state : int, RandomState or None
        The seed of random orders.
    warm_start : bool
        Start from the weights of the last fit.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_ : as in scikit-learn
    rule_ : LinearRule
    verdict_ : Verdict
    mistakes_ : array of int
        Mistakes in each pass.
    history_ : list of (passes, mistakes, seconds), one a pass
    n_passes_ : float
    n_steps_ : int
        Rows looked at, over all passes.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
    >>> model = Perceptron().fit(X, y)
    >>> model.verdict_.status, model.verdict_.check(X, y)
    ('separated', True)
    >>> print(model.rule_)
    yes where 3·x0 + 2·x1 − 4 > 0, else no
    >>> bound = model.bound()
    >>> bound.made, bound.made <= bound.bound
    (18, True)
    """

    warns, resumes = True, True

    def __init__(
        self,
        *,
        learning_rate: float = 1.0,
        max_passes: float = 1000,
        order: str = "cyclic",
        patience: int | None = None,
        ties: str = "mistake",
        init: Any = None,
        fit_intercept: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.learning_rate = learning_rate
        self.max_passes = max_passes
        self.order = order
        self.patience = patience
        self.ties = ties
        self.init = init
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.warm_start = warm_start

    def _says(self, rows: int, mistakes: int) -> tuple[str, str]:
        stands = still_wrong(self.mistakes_, self.n_passes_, rows, self.order)
        return (
            f"No separating rule was found: {stands} The last weights err on {mistakes} of {rows} rows.",
            "Ask separability(X, y) whether there is one at all; if not, Pocket() keeps the best weights met.",
        )


class AveragedPerceptron(MistakeDriven):
    """w̄ = (1/(T + 1)) Σₜ wₜ: the mean of the weights in hand before each step, and after the last.

    The steps are those of `Perceptron`; most weights that it passes through are good, and their mean is better than the
    last.  Parameters and attributes are the same, but that ten passes are the most unless more are asked for.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, -1, -1, 1]
    >>> model = AveragedPerceptron(max_passes=2).fit(X, y)
    >>> model.coef_.round(3).tolist(), model.n_steps_
    ([[0.667, 0.333]], 8)
    """

    def __init__(
        self,
        *,
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
        self.learning_rate = learning_rate
        self.max_passes = max_passes
        self.order = order
        self.patience = patience
        self.ties = ties
        self.init = init
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.warm_start = warm_start

    def _reading(self, course: Course) -> Reading:
        return Average(course.X, course.target, course.scanned, course.start)

    def _says(self, rows: int, mistakes: int) -> tuple[str, str]:
        stands = still_wrong(self.mistakes_, self.n_passes_, rows, self.order)
        return (
            f"{stands} The mean of the {self.n_steps_ + 1} weights errs on {mistakes} of {rows} rows.",
            "Nothing more is proved of it; more passes may help.",
        )
