"""The perceptron, and what else can be read off its run: the mean of all weights, the best of them, their votes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...fitting.scan import perceptron_scan
from ...fitting.scan.perceptron_scan import Course, PerceptronScan
from ...numerics.arrays import Floats
from ...results.votes import Ballot
from ...wording import call, learner, setting
from ..base import Card
from ..checks.rows import checked_rows, not_finite
from ..checks.settings import checked_flags
from .base import MistakeDrivenClassifier


class Perceptron(MistakeDrivenClassifier):
    """w ← w + ηyx, b ← b + ηy wherever y(xᵀw + b) ≤ 0, until a whole pass makes no mistake.  [000 8.13, Algorithm 5]

    Of K classes θ ← θ + η(Φ(x, y) − Φ(x, ŷ)): the weights of a row's own class rise by ηx, and those of the strongest
    other class fall.  [004 §4.5]

    A fit ends *separated*, and the weights are the certificate, which `verdict_.check(X, y)` verifies exactly; or
    *budget*, with the best pass so far: then it is not known yet whether the classes can be separated at all.
    `separability(X, y)` decides that, and `Pocket` keeps the best weights where they cannot.

    Parameters
    ----------
    learning_rate : float in (0, 1]
        The length of a step, η. From weights of zero it changes the length of the weights, and no mistake.
    max_passes : float
        How many passes over the rows at the most. Fractions are allowed.
    order : "cyclic", "random" or "replacement"
        How a pass takes the rows, one at a time. As they come, in a fresh random order each pass, or drawn at random.
        Of rows that are drawn no pass is sure to meet all, so that only `patience` and `max_passes` end it.
    patience : int or None
        End after so many steps without a change.
    ties : "mistake", "positive" or "negative"
        What a tie is while learning. A score of zero is a mistake [001], a prediction of the second class [000
        Algorithm 5], or of the first [004 Algorithm 4.1]. Equal scores of K classes: a mistake, the last, or the first.
    init : None or array
        Where the weights start. An array holds the weights, then the intercept (or the weights alone), a row for each
        class if there are more than two; None is zero.
    fit_intercept : bool
        Whether there is an intercept b. It is the weight of a feature that is always one.  [001 slide 14]
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

    card = Card("perceptron", course="stretches", path_unit="mistakes that were corrected")

    warns, resumes = True, True

    def _not_separated(self, reading: Any, stands: str, errs: str) -> tuple[str, str]:
        return (
            f"No separating rule was found: {stands} The last weights err {errs}.",
            f"Ask {call('separability(X, y)')} whether there is one at all; if not, {learner('Pocket')} keeps the best "
            "weights met.",
        )


class AveragedPerceptron(MistakeDrivenClassifier):
    """w̄ = (1/(T + 1)) Σₜ wₜ: the mean of the weights in hand before each step, and after the last.

    The steps are those of `Perceptron`; most weights that it passes through are good, and their mean is better than the
    last. Its attributes are those of `Perceptron`.

    Parameters
    ----------
    max_passes : float
        How many passes over the rows at the most. They are ten unless more are asked for.
    learning_rate, order, patience, ties, init, fit_intercept, random_state, warm_start : as in `Perceptron`

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, -1, -1, 1]
    >>> model = AveragedPerceptron(max_passes=2).fit(X, y)
    >>> model.coef_.round(3).tolist(), model.n_steps_
    ([[0.667, 0.333]], 8)
    """

    card = Card(
        "averaged", course="stretches",
        no_path="Its answer is the mean of all the weights on the way, not where the way ends.",
    )  # fmt: skip

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
        super().__init__(
            learning_rate=learning_rate, max_passes=max_passes, order=order, patience=patience, ties=ties, init=init,
            fit_intercept=fit_intercept, random_state=random_state, warm_start=warm_start,
        )  # fmt: skip

    def _scan(self, course: Course) -> PerceptronScan:
        return PerceptronScan(course, perceptron_scan.Average)

    def _not_separated(self, reading: Any, stands: str, errs: str) -> tuple[str, str]:
        return (
            f"{stands} The mean of the {reading.state.steps + 1} weights errs {errs}.",
            "Nothing more is proved of it; more passes may help.",
        )


class Pocket(MistakeDrivenClassifier):
    """The perceptron's steps, and in the pocket the weights with the longest run of right answers.  [000 Algorithm 6]

    Algorithm 6 looks at a run when a mistake ends it; here the last run is looked at as well, so that weights which
    separate the rows are never forgotten. With the ratchet (Gallant 1990), weights replace those in the pocket only if
    they also get more of the rows right: what is in the pocket never becomes worse.

    Parameters
    ----------
    ratchet : bool
        Whether only weights that are better on all rows go into the pocket. Without it a replacement may be worse.
    order : "random", "cyclic" or "replacement"
        How a pass takes the rows, one at a time. That the pocket ends with the fewest possible mistakes, in the limit,
        is a theorem for rows drawn at random.
    patience : int or None
        End after so many steps without a change. It is the pocket that must not have changed.
    learning_rate, max_passes, ties, init, fit_intercept, random_state, warm_start : as in `Perceptron`

    Attributes
    ----------
    pocket_run_ : int
        The run of right answers of the weights in the pocket.
    pocket_changes_ : int
        How often they were replaced.
    The others are those of `Perceptron`; `mistakes_` counts those of the weights on their way, pass by pass.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1, 1]  # one mistake at least
    >>> model = Pocket(max_passes=100, random_state=0).fit(X, y)
    >>> model.score(X, y), model.verdict_.status
    (0.8, 'budget')
    """

    card = Card(
        "pocket", course="stretches",
        no_path="It keeps the best weights that it met, while those on the way wander on.",
    )  # fmt: skip

    watched = "the pocket"

    def __init__(
        self,
        *,
        ratchet: bool = True,
        learning_rate: float = 1.0,
        max_passes: float = 1000,
        order: str = "random",
        patience: int | None = None,
        ties: str = "mistake",
        init: Any = None,
        fit_intercept: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.ratchet = ratchet
        super().__init__(
            learning_rate=learning_rate, max_passes=max_passes, order=order, patience=patience, ties=ties, init=init,
            fit_intercept=fit_intercept, random_state=random_state, warm_start=warm_start,
        )  # fmt: skip

    def _scan(self, course: Course) -> PerceptronScan:
        checked_flags(self, "ratchet")
        return PerceptronScan(course, perceptron_scan.Pocket, ratchet=bool(self.ratchet))

    def _of_reading(self, course: Course, reading: Any) -> dict[str, Any]:
        return {"pocket_run_": reading.kept.run, "pocket_changes_": reading.changes}

    def _not_separated(self, reading: Any, stands: str, errs: str) -> tuple[str, str]:
        return (
            f"{stands} The weights in the pocket err {errs}; they were right {reading.kept.run} times in a row, and "
            f"{reading.changes} changes of the pocket led to them.",
            f"Whether fewer mistakes are possible is not proved: {learner('ZeroOneClassifier')} settles it where rows "
            f"and columns are few; else a larger {setting('max_passes')}, with rows in random order, may find better "
            "weights.",
        )


class VotedPerceptron(MistakeDrivenClassifier):
    """f̂(x) = sign Σₜ f̂ₜ(x), f̂ₜ(x) = sign(xᵀwₜ + bₜ), over f̂₁, …, f̂_{T+1} of the perceptron; ties → −1.  [001 slide 28]

    Online-to-batch conversion of the perceptron (Freund and Schapire 1999): every weight vector has as many votes as it
    had turns. Of K classes each votes for one, and the class with most votes wins, at a tie the first. The vote is no
    linear rule: `coef_`, `intercept_` and `rule_` are those of the last weights, and so is the verdict.

    Parameters
    ----------
    last_half : bool
        Whether only the last half of the classifiers votes.
    max_passes : float
        How many passes over the rows at the most. They are ten unless more are asked for: the log of all mistakes is
        kept.
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

    card = Card(
        "voted", course="stretches",
        no_path="All the rules on the way vote: there is no last one that is the answer.",
    )  # fmt: skip

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
        super().__init__(
            learning_rate=learning_rate, max_passes=max_passes, order=order, patience=patience, ties=ties, init=init,
            fit_intercept=fit_intercept, random_state=random_state, warm_start=warm_start,
        )  # fmt: skip

    @property
    def deciding_rule(self) -> Any:
        """A `Ballot`."""
        return self._ballot

    def decision_function(self, X: Any) -> Floats:
        """Σₜ f̂ₜ(x)/(T + 1): the mean vote, from −1 to 1; of K classes the share of the votes for each, n × K."""
        check_is_fitted(self, "rule_")
        rows = checked_rows(self, X, reset=False)
        if not rows.finite():
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

    def _scan(self, course: Course) -> PerceptronScan:
        checked_flags(self, "last_half")
        return PerceptronScan(course, perceptron_scan.Votes)

    def _of_reading(self, course: Course, reading: Any) -> dict[str, Any]:
        start, log = course.start, reading.log
        two = len(start.weights) == 1
        ballot = Ballot.of(
            log, course.X, start.weights[0] if two else start.weights,
            float(start.intercept[0]) if two else start.intercept, course.update.rate, course.update.lifted,
            max(2, len(start.weights)), 0.5 if self.last_half else 1.0,
        )  # fmt: skip
        return {"log_": log, "_ballot": ballot}

    def _not_separated(self, reading: Any, stands: str, errs: str) -> tuple[str, str]:
        return (
            f"{stands} {reading.state.steps + 1} classifiers vote; the last of them errs {errs}.",
            "Nothing is proved of the vote; more passes may help.",
        )
