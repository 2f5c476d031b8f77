"""A fit's outcome in sentences."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..fitting.problem import Outcome, Problem
from ..verdict import listed

GROWING = 0.2
"""Growth, in deviations of the score over the last passes, that is worth naming."""


class Words(NamedTuple):
    """Why a fit ended as it did, and what to do."""

    cause: str
    remedy: str


def optimal(outcome: Outcome, tol: float) -> Words:
    """The minimum is proved."""
    found = outcome.bounds
    assert found is not None
    worst = float((found.spread * found.distance).max())
    return Words(
        f"Optimal: the minimum exists (ρν = {_short(found.rho * found.nu)} < 1), and the mean loss {outcome.value:.8g} "
        f"is at most {_short(found.gap / outcome.value)} of itself above it ({tol:g} was asked). "
        f"No coefficient is off by more than {_short(worst)}.",
        "",
    )


def separated(rows: int, margin: float) -> Words:
    """A separating rule is proved."""
    return Words(
        f"Separated: this rule puts all {rows} rows on their own side, the nearest at a distance of {_short(margin)}. "
        "So the likelihood has no maximum: it rises for ever as the weights grow, "
        "and the probabilities tend to 0 and 1.",
        "Use the rule as it is; or ask for finite weights with l2 > 0; or leave out what gives the class away.",
    )


def budget(outcome: Outcome, problem: Problem, columns: tuple[str, ...]) -> Words:
    """Nothing is proved, or not enough."""
    spent = f"after {outcome.passes:.3g} passes"
    found = outcome.bounds
    if found is not None:
        return Words(
            f"Not finished: {spent} the minimum is known to exist, and the mean loss {outcome.value:.8g} is at most "
            f"{_short(found.gap / outcome.value)} of itself above it, where {problem.tol:g} was asked"
            + ("; rounding allows no further step." if outcome.stalled else "."),
            "Loosen tol." if outcome.stalled else f"Raise max_passes above {problem.max_passes:g}, or loosen tol.",
        )
    if outcome.nearly_dependent:
        return Words(
            f"Not proved: {spent} the mean loss is {outcome.value:.8g}, but some columns are so nearly combinations of "
            "others that rounding hides the minimum.",
            "Leave one of them out, replace them by their differences, or penalise with l2 > 0.",
        )
    growing = _growing(outcome, columns)
    if growing and problem.l2 == 0 and outcome.settled:
        return Words(
            f"Not proved: {spent} the mean loss {outcome.value:.8g} hardly falls any more, "
            f"yet the weights of {growing} keep growing. "
            "The classes are probably separated along them (quasi-separation), "
            "and then maximum likelihood has no finite answer.",
            "Penalise with l2 > 0, or leave out or merge those columns; do not read these weights as estimates.",
        )
    return Words(
        f"Not proved: {spent} the mean loss is {outcome.value:.8g}, and neither a minimum nor its absence is certain"
        + ("; rounding allows no further step." if outcome.stalled else "."),
        "Look for columns that are nearly combinations of others, or penalise with l2 > 0."
        if outcome.stalled
        else f"Raise max_passes above {problem.max_passes:g}.",
    )


def interrupted(passes: float, value: float) -> Words:
    """The user stopped the fit."""
    reached = (
        "before the first pass ended" if math.isnan(value) else f"after {passes:.3g} passes, at mean loss {value:.8g}"
    )
    return Words(f"Interrupted {reached}: nothing is proved.", "Fit again; warm_start=True goes on from here.")


def _growing(outcome: Outcome, columns: tuple[str, ...]) -> str:
    order = np.argsort(-outcome.growth)
    names = [columns[j] for j in order if outcome.growth[j] > max(GROWING, outcome.growth[order[0]] / 10)]
    return listed(names) if names else ""


def _short(x: float) -> str:
    return f"{x:.1e}" if x and not 1e-3 <= abs(x) < 1e4 else f"{x:.3g}"
