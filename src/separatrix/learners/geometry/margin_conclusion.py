"""From the outcome of a search for the largest margin to weights and a verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data import Rows
from ...fitting.problem import NotFiniteError
from ...geometry.margin.certificate import MarginCertificate
from ...geometry.margin.maximum import Outcome
from ...geometry.separation.search import HiddenSeparationError
from ...numerics.arrays import Floats
from ...results.claims import Claim
from ...results.proofs import Margin, Proof
from ...results.separability import Combination, Crossing
from ...results.verdict import Rank, Verdict, listed
from ...wording import call, learner, setting
from ..base import MarginStep
from ..logistic.words import Words
from .separability import searchable, separation_of


@dataclass(frozen=True)
class Training:
    """Checked input."""

    rows: Rows
    classes: NDArray[Any]
    columns: tuple[str, ...]
    fit_intercept: bool
    lifted: bool
    tol: float
    max_passes: float

    @property
    def free(self) -> bool:
        """Whether there is an intercept that is not in the norm."""
        return self.fit_intercept and not self.lifted


class Conclusion(NamedTuple):
    """What a fit leaves behind."""

    weights: Floats
    intercept: float
    margin: float
    passes: float
    rows: NDArray[np.intp]
    duals: Floats
    """α > 0 with w = Σᵢ αᵢyᵢxᵢ."""
    verdict: Verdict


NO_ROWS = np.empty(0, dtype=np.intp)


def concluded(outcome: Outcome, training: Training) -> Conclusion:
    """What a fit that came to its end can say."""
    found, best = outcome.found, outcome.best
    if outcome.crossing is not None:
        said, proof = _crossed(outcome.crossing), Crossing(outcome.crossing)
        return _conclusion(outcome.status, proof, said, np.zeros(len(training.columns)), 0.0, 0.0, outcome, training)
    if found is not None and found.feasible:
        said = _optimal(found, training) if outcome.status == "optimal" else _budget(outcome, found, training)
        weights, intercept = found.weights, found.intercept
        return _conclusion(outcome.status, _margin(found), said, weights, intercept, found.lower, outcome, training)
    if best is None:
        weights, intercept, margin = np.zeros(len(training.columns)), 0.0, 0.0
    else:  # with least score 1, where they separate the classes
        longer = best.upper / best.lower if best.lower > 0 else 1.0
        weights, intercept, margin = best.weights * longer, best.intercept * longer, max(best.lower, 0.0)
    said = _budget(outcome, best, training)
    return _conclusion("budget", None, said, weights, intercept, margin, outcome, training)


def second_look(outcome: Outcome, training: Training) -> Outcome:
    """Where rounding kept the search from either answer: rows that cross, as the test of separability finds them."""
    parted = outcome.best is not None and outcome.best.lower > 0
    if outcome.status != "budget" or outcome.found is not None or parted:
        return outcome
    if not searchable(training.rows.X, 2, training.fit_intercept):
        return outcome
    try:
        seen, proved = separation_of(training.rows, 2, training.fit_intercept)
    except (HiddenSeparationError, NotFiniteError):
        return outcome
    found = proved.proof.crossing
    if found is None or proved.proof.perturbation or seen.aliased.size:  # only what holds exactly, of all columns
        return outcome
    shares = replace(found, multipliers=found.multipliers / found.multipliers.sum())
    return replace(outcome, status="not-separable", crossing=shares)


def interrupted(latest: MarginStep | None, training: Training) -> Conclusion:
    """What a fit that was stopped can say: where it stood, and that nothing is proved."""
    weights, intercept, passes, bounds = np.zeros(len(training.columns)), 0.0, 0.0, ""
    if latest is not None:
        weights, intercept, passes = latest.weights, latest.intercept, latest.passes
        bounds = f": these weights have the margin {latest.lower:.6g}, and none has more than {latest.upper:.6g}"
    reached = f"after {passes:.3g} passes" if passes else "before the first pass ended"
    said = Words(f"Interrupted {reached}{bounds}; nothing is proved.", "Fit again.")
    return _conclusion(
        "interrupted", None, said, weights, intercept, max(0.0, latest.lower) if latest else 0.0,
        Outcome("interrupted", passes, None), training,
    )  # fmt: skip


def _conclusion(
    status: str, proof: Proof | None, said: Words, weights: Floats, intercept: float, margin: float,
    outcome: Outcome, training: Training,
) -> Conclusion:  # fmt: skip
    norm = np.append(weights, intercept) if training.lifted else weights
    with np.errstate(over="ignore"):
        value = float(norm @ norm) / 2
    claim = Claim(
        tuple(training.classes.tolist()), training.columns, weights.copy(), intercept, training.fit_intercept, 0.0,
        (1.0, 1.0), value, len(training.rows), "lifted margin" if training.lifted else "margin",
    )  # fmt: skip
    rank = Rank(None, len(training.columns) + training.fit_intercept, ())
    rows, duals = NO_ROWS, np.empty(0)
    if isinstance(proof, Margin):
        with np.errstate(over="ignore"):
            rows, duals = proof.rows, proof.multipliers / proof.lower / proof.upper
    return Conclusion(
        weights, intercept, margin, outcome.passes, rows, duals, Verdict(status, rank, proof, *said, claim)
    )


def _margin(found: MarginCertificate) -> Margin:
    order = np.argsort(found.rows)
    gap = found.relative_gap / found.lower / found.lower / 2
    return Margin(found.lower, found.upper, found.rows[order], found.multipliers[order], gap, found.relative_gap)


def _optimal(found: MarginCertificate, training: Training) -> Words:
    kind = "lifted margin" if training.lifted else "margin"
    return Words(
        f"Optimal: this rule separates the classes with the {kind} {found.lower:.8g}, and no rule has more than "
        f"{found.upper:.8g}: ½‖w‖² is at most {found.relative_gap:.1e} of itself above its minimum ({training.tol:g} "
        f"was asked). {_these(len(found.rows))} the weights.",
        "",
    )


def _these(rows: int) -> str:
    return f"{rows} rows carry" if rows > 1 else "One row carries"


def _crossed(combination: Combination) -> Words:
    names = [str(row) for row in combination.rows.tolist()]
    why = f"rows {listed(names)}, with the signs of their classes and positive factors, add up to zero"
    if len(names) == 1:
        why = f"row {names[0]} is zero, and without an intercept its score is 0"
    return Words(
        f"Not separable: no rule puts all rows strictly on their own side, for {why}. The weights are zero.",
        f"Use {learner('LogisticRegression')}, which allows for mistakes; or ask {call('separability(X, y)')} which "
        "rows cross.",
    )


def _budget(outcome: Outcome, reached: Any, training: Training) -> Words:
    spent = f"after {outcome.passes:.3g} passes"
    bounds = "neither a separating rule nor rows that cross are found"
    if reached is not None:
        state = (
            f"separates the classes with the margin {reached.lower:.8g}" if reached.lower > 0 else "does not separate"
        )
        bounds = f"the best rule {state}, and no rule has a margin above {reached.upper:.8g}"
    if outcome.stalled:
        return Words(
            f"Not proved: {spent} {bounds}; rounding allows no better.",
            f"Loosen {setting('tol')}, or subtract offsets from the columns: the margin is small beside the numbers "
            "of X.",
        )
    return Words(f"Not finished: {spent} {bounds}.", f"Raise {setting('max_passes')} above {training.max_passes:g}.")
