"""The outcome of Firth's logistic regression in sentences."""

from __future__ import annotations

from ...fitting.problem import Outcome, Problem
from .settings import Settings
from .words import Words


def words_of_firth(outcome: Outcome, problem: Problem, settings: Settings) -> Words:
    """What is proved about the penalised likelihood, and what is not."""
    balanced = settings.objective == "flic"
    return _local(outcome, problem, balanced) if outcome.status == "local" else _budget(outcome, problem, balanced)


def _local(outcome: Outcome, problem: Problem, balanced: bool) -> Words:
    found = outcome.bounds
    assert found is not None
    if outcome.aliased.size == outcome.weights.size and not problem.lifted:
        return Words("Nothing to determine: X is zero in every row, so every score is zero whatever the weights.", "")
    worst = _short(float((found.spread * found.distance).max()))
    again = (
        " The intercept was then fitted again without the penalty (FLIC), so that the probabilities of the second "
        "class add up to its targets."
        if balanced
        else ""
    )
    return Words(
        f"Maximum of Firth's penalised likelihood: one is proved to lie so near that no coefficient is off by more "
        f"than {worst}; minus its mean, {outcome.value:.8g}, is at most {_above(outcome)} of the mean loss above it "
        f"({problem.tol:g} was asked). That it is the only maximum is not proved: nobody has a proof." + again,
        "",
    )


def _budget(outcome: Outcome, problem: Problem, balanced: bool) -> Words:
    spent = f"after {outcome.passes:.3g} passes"
    if outcome.bounds is not None:
        return Words(
            f"Not finished: {spent} a maximum of Firth's penalised likelihood is known to lie nearby, and minus its "
            f"mean, {outcome.value:.8g}, is at most {_above(outcome)} of the mean loss above it, where {problem.tol:g} "
            "was asked" + ("; rounding allows no further step." if outcome.stalled else "."),
            "Loosen tol." if outcome.stalled else f"Raise max_passes above {problem.max_passes:g}, or loosen tol.",
        )
    not_again = " The intercept was not fitted again." if balanced else ""
    if outcome.stalled:
        return Words(
            f"Not proved: {spent} minus the mean of Firth's penalised likelihood is {outcome.value:.8g}, rounding "
            "allows no further step, and the curvature there does not prove a maximum." + not_again,
            "Leave out a column that is nearly a combination of others, or start elsewhere (init='random').",
        )
    return Words(
        f"Not proved: {spent} minus the mean of Firth's penalised likelihood is {outcome.value:.8g}, and it is not "
        "near enough to a maximum for a proof." + not_again,
        f"Raise max_passes above {problem.max_passes:g}.",
    )


def _above(outcome: Outcome) -> str:
    """The proved gap in units of the mean loss."""
    assert outcome.bounds is not None
    assert outcome.firth is not None
    return _short(outcome.bounds.gap / outcome.firth.mean_loss)


def _short(x: float) -> str:
    return f"{x:.1e}" if x and not 1e-3 <= abs(x) < 1e4 else f"{x:.3g}"
