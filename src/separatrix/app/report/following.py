"""A learner taught while its weights are watched: where they stood after each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...fitting.path import TRIAL
from ...numerics.arrays import Floats

MOST = 200
"""Places of a path that are kept."""
UPDATES = 20_000
"""Single mistakes that are followed one by one."""
NUMBERS = 4_000_000
"""Numbers that a path may hold while it is followed."""


class Place(NamedTuple):
    """The weights after a step, a row for each score."""

    at: float
    start: int
    weights: Floats


@dataclass
class Track:
    """Places of a path, never more than twice `most`: then every second one is let go of."""

    most: int = MOST
    places: list[Place] = field(default_factory=list)
    last: Place | None = None
    every: int = 1
    seen: int = 0

    def add(self, place: Place) -> None:
        """One more step."""
        self.last = place
        if self.seen % self.every == 0:
            self.places.append(place)
        self.seen += 1
        if len(self.places) > 2 * self.most:
            self.places, self.every = self.places[::2], 2 * self.every

    def path(self) -> tuple[Place, ...]:
        """All that was kept, and the last."""
        ended = [] if self.last is None or (self.places and self.places[-1] is self.last) else [self.last]
        return (*self.places, *ended)


@dataclass(frozen=True, eq=False)
class Followed:
    """The path of the weights; or why there is none."""

    path: tuple[Place, ...] = ()
    unit: str = "passes over the rows"
    why: str = ""


IN_ONE_GO = "It computes its answer in one go, from counts, means or a system of equations: no path leads there."
REASONS = {
    "AveragedPerceptron": "Its answer is the mean of all the weights on the way, not where the way ends.",
    "VotedPerceptron": "All the rules on the way vote: there is no last one that is the answer.",
    "Pocket": "It keeps the best weights that it met, while those on the way wander on.",
    "KernelPerceptron": "It has a coefficient for each row that it learnt from, and no weights of columns.",
    **dict.fromkeys(
        ("NaiveBayes", "BernoulliNaiveBayes", "PoissonNaiveBayes", "GaussianNaiveBayes", "GaussianDiscriminant",
         "LeastSquaresClassifier"), IN_ONE_GO,
    ),
    **dict.fromkeys(
        ("OneVsRest", "OneVsOne", "OutputCode"), "It is made of several learners, each of which goes its own way.",
    ),
}  # fmt: skip
"""Why some learners have no path, in sentences."""
BY_PASSES = {
    "LogisticRegression": "passes over the rows", "MaxMarginClassifier": "passes over the rows",
    "ZeroOneClassifier": "steps of the search",
}  # fmt: skip
BY_MISTAKES = ("Perceptron", "OnlinePerceptron")
ENDLESS = ("separated", "quasi-separated")
"""Verdicts after which weights grow for ever: a path shows it, and does not end at the answer."""


def taught(make: Callable[[], Any], given: tuple[Any, ...]) -> tuple[Any, Followed]:
    """A learner that was taught, and the path that its weights went."""
    estimator = make()
    name = type(estimator).__name__
    if name in BY_PASSES:
        track = _tracked(estimator.steps(*given), lambda step, n: float(getattr(step, "passes", n)))
        return estimator, _ended(estimator, track, BY_PASSES[name])
    estimator.fit(*given)
    if name in BY_MISTAKES:
        return estimator, _by_mistakes(estimator, make, given)
    return estimator, Followed(why=REASONS.get(name, "It does not tell its weights while it learns."))


def _by_mistakes(estimator: Any, make: Callable[[], Any], given: tuple[Any, ...]) -> Followed:
    """The same fit once more, mistake by mistake, where these are few."""
    count, rows = int(np.sum(estimator.mistakes_)), int(given[0].shape[0])
    if max(count, rows) > UPDATES:
        return Followed(why=f"It made {count} mistakes in {rows} rows; up to {UPDATES} are followed one by one.")
    track = _tracked(make().steps(*given), lambda step, n: float(step.mistakes))
    return _ended(estimator, track, "mistakes that were corrected")


def _tracked(steps: Iterable[Any], at: Callable[[Any, int], float]) -> Track:
    track = Track()
    for step in steps:
        if getattr(step, "start", 0) == TRIAL:  # a trial of cross-validation saw a part of the rows
            continue
        W = np.atleast_2d(np.asarray(step.weights, dtype=np.float64)).copy()
        track.most = max(2, min(MOST, NUMBERS // W.size))
        track.add(Place(at(step, track.seen + 1), int(getattr(step, "start", 0)), W))
    return track


def _ended(estimator: Any, track: Track, unit: str) -> Followed:
    """The path of the start that led to the answer, if one did."""
    if track.last is None or not hasattr(estimator, "coef_"):
        return Followed(why="It ended before its first step.")
    W, path = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64)), track.path()
    if path[-1].weights.shape != W.shape or not np.isfinite(path[-1].weights).all():
        return Followed(why="Its weights on the way are not those of the answer.")
    ends = {place.start: place.weights for place in path}
    best = min(ends, key=lambda start: float(np.abs(ends[start] - W).max()))
    size = 1e-6 * (1.0 + float(np.abs(W).max()))
    if estimator.verdict_.status not in ENDLESS and float(np.abs(ends[best] - W).max()) > size:
        return Followed(why="Its answer is made of what was found on the way: it is not where the last step stood.")
    return Followed(tuple(place for place in path if place.start == best), unit)
