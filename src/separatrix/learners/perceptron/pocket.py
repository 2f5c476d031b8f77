"""The pocket algorithm."""

from __future__ import annotations

from typing import Any

from ...fitting.scan import readings
from ...fitting.scan.run import Course
from .base import MistakeDriven
from .words import still_wrong


class Pocket(MistakeDriven):
    """The perceptron's steps, and in the pocket the weights with the longest run of right answers.  [000 Algorithm 6]

    Algorithm 6 looks at a run when a mistake ends it; here the last run is looked at as well, so that weights which
    separate the rows are never forgotten. With the ratchet (Gallant 1990), weights replace those in the pocket only if
    they also get more of the rows right: what is in the pocket never becomes worse.

    Parameters
    ----------
    ratchet : bool
        Whether to compare on all rows before a replacement. Without it a replacement may be worse.
    order : "random", "cyclic" or "replacement"
        That the pocket ends with the fewest possible mistakes, in the limit, is a theorem for rows drawn at random.
    patience : int or None
        End when the pocket has not changed for so many steps.
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
        self.learning_rate = learning_rate
        self.max_passes = max_passes
        self.order = order
        self.patience = patience
        self.ties = ties
        self.init = init
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.warm_start = warm_start

    def _reading(self, course: Course) -> readings.Reading:
        if not isinstance(self.ratchet, bool):
            raise ValueError(f"ratchet is {self.ratchet!r}; it must be True or False.")
        return readings.Pocket(course.X, course.target, course.scanned, course.start, ratchet=self.ratchet)

    def _keep(self, prepared: Any, reading: Any, passes: float, ended: str) -> None:
        self.pocket_run_, self.pocket_changes_ = reading.kept.run, reading.changes
        super()._keep(prepared, reading, passes, ended)

    def _says(self, rows: int, mistakes: int) -> tuple[str, str]:
        stands = still_wrong(self.mistakes_, self.n_passes_, rows, self.order)
        return (
            f"{stands} The weights in the pocket err on {mistakes} of {rows} rows; they were right {self.pocket_run_} "
            f"times in a row, and {self.pocket_changes_} changes of the pocket led to them.",
            "Whether fewer mistakes are possible is not proved: ZeroOneClassifier() settles it where rows and columns "
            "are few; else a larger max_passes, with rows in random order, may find better weights.",
        )
