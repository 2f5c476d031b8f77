"""Many starts: the best minimum is kept, and every minimum found is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..numerics.arrays import Floats
from .coordinates import frame_of
from .minimise import minimise
from .problem import AtRandom, Fit, Minimum, Outcome, Problem, Progress, relayed

SAME_VALUE = 1e-6
"""How far the values of one minimum may be apart, relatively."""
SAME_WEIGHTS = 1e-3
"""How far the weights of one minimum may be apart, relatively."""


Place = Callable[[Floats, Any], Floats]
"""Weights and intercept as a point whose distances mean something: there it is judged whether minima are one."""


def best_of(problem: Problem, starts: int) -> Fit:
    """The lowest of the minima that `starts` descents end in; the first starts as asked, the others at random."""
    frame = frame_of(problem.rows, problem.lifted, problem.seed)

    def descent(number: int) -> Fit:
        start = problem.start if number == 0 else AtRandom()
        return minimise(replace(problem, start=start, seed=problem.seed + number))

    def place(weights: Floats, intercept: Any) -> Floats:
        """In units of the columns' spread: there an intercept is no matter of offsets."""
        return np.append(weights * frame.scale, intercept + weights @ frame.center)

    return lowest_of(descent, starts, place)


def lowest_of(descent: Callable[[int], Fit], starts: int, place: Place) -> Fit:
    """The lowest of the minima that descents end in, and all of them.

    A descent that separates the rows ends the search: no minimum is lower than the zero that it tends to.
    """
    outcomes: list[Outcome] = []
    passes = 0.0
    for number in range(starts):
        outcomes.append((yield from relayed(descent(number), partial(_told, passes, number))))
        passes += outcomes[-1].passes
        if outcomes[-1].status in ("separated", "optimal"):
            break
    ended = [o for o in outcomes if o.status != "budget"] or outcomes
    best = min(ended, key=lambda o: (o.status != "separated", o.value))
    below = [o.value for o in outcomes if o.status == "budget" and o.value < best.value * (1 - SAME_VALUE)]
    lower = (len(below), min(below)) if below and best.status in ("local", "optimal") else (0, 0.0)
    return replace(best, passes=passes, minima=distinct(outcomes, place), lower=lower)


def _told(passes: float, number: int, progress: Progress) -> Progress:
    """A step of one of the starts, its passes counted from the first."""
    return progress._replace(passes=passes + progress.passes, start=number)


def distinct(outcomes: list[Outcome], place: Place) -> tuple[Minimum, ...]:
    """The different minima, lowest first, each with the number of starts that led there."""
    found: list[Minimum] = []
    for outcome in sorted((o for o in outcomes if o.status in ("local", "optimal")), key=lambda o: o.value):
        for i, known in enumerate(found):
            if _same(known, outcome, place):
                found[i] = known._replace(starts=known.starts + 1)
                break
        else:
            found.append(Minimum(outcome.value, outcome.weights, outcome.intercept, 1))
    return tuple(found)


def _same(known: Minimum, outcome: Outcome, place: Place) -> bool:
    if abs(known.value - outcome.value) > SAME_VALUE * max(abs(known.value), 1e-300):
        return False
    here, there = place(known.weights, known.intercept), place(outcome.weights, outcome.intercept)
    return float(np.linalg.norm(here - there)) <= SAME_WEIGHTS * max(float(np.linalg.norm(here)), 1e-300)
