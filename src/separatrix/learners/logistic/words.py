"""A fit's outcome in sentences."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...fitting.plans.wide import goes_wide
from ...fitting.problem import Oscillation, Outcome, Problem
from ...results.separability import Separability, separated_rows
from ...results.verdict import listed
from ...wording import has, setting
from .training import Settings

GROWING = 0.2
"""Growth, in deviations of the score over the last passes, that is worth naming."""


LOSSES = {
    "squared": "the squared error",
    "exponential": "the mean of the exponential loss",
    "squared-hinge": "the mean of the squared hinge",
}
"""What objectives are called that are no likelihoods."""


class Words(NamedTuple):
    """Why a fit ended as it did, and what to do."""

    cause: str
    remedy: str


def optimal(outcome: Outcome, tol: float) -> Words:
    """The minimum is proved."""
    found = outcome.bounds
    assert found is not None
    if outcome.value == 0:
        return Words(
            "Optimal: the mean loss is 0, and no weights can do better. The classes are separated, so other weights do "
            f"as well; {setting('l2')} > 0 would choose the shortest.",
            "",
        )
    worst = float((found.spread * found.distance).max())
    return Words(
        f"Optimal: the minimum exists (ρν = {_short(found.rho * found.nu)} < 1), and the mean loss {outcome.value:.8g} "
        f"is at most {_above(outcome)} above it ({tol:g} was asked). "
        f"No coefficient is off by more than {_short(worst)}.",
        "",
    )


def local(outcome: Outcome, tol: float) -> Words:
    """A local minimum is proved."""
    found, starts = outcome.bounds, sum(minimum.starts for minimum in outcome.minima)
    assert found is not None
    several = len(outcome.minima)
    ways = (
        f" {several} minima were found from {starts} starts; this is the lowest."
        if several > 1
        else f" All {starts} starts that ended in a minimum ended in this one."
        if starts > 1
        else ""
    )
    return Words(
        f"Local minimum: the squared error may have several minima, and one exists nearby; the mean loss "
        f"{outcome.value:.8g} is at most {_above(outcome)} above it ({tol:g} was asked)." + ways + _ran_off(outcome),
        "",
    )


def _ran_off(outcome: Outcome) -> str:
    count, least = outcome.lower
    if not count:
        return ""
    who = f"{count} of the starts" if count > 1 else "One of the starts"
    return f" {who} ran off to ever larger weights and a lower mean loss, {least:.8g}: no minimum was found there."


def separated(rows: int, margin: float, settings: Settings, result: Separability | None = None) -> Words:
    """A separating rule is proved."""
    loss = LOSSES.get(settings.objective)
    gone = "" if result is None else f" {result.coefficients_in_words()}"
    return Words(
        f"Separated: this rule puts all {rows} rows on their own side, the nearest at a distance of {_short(margin)}. "
        + (
            f"So {loss} has no minimum: it falls towards zero for ever as the weights grow, "
            if loss
            else "So the likelihood has no maximum: it rises for ever as the weights grow, "
        )
        + f"and the probabilities tend to 0 and 1.{gone}",
        f"Use the rule as it is; or ask for finite weights with {_finite()}; or leave out what gives the class away.",
    )


def quasi_separated(result: Separability, deviance: float) -> Words:
    """Some rows are separated, and what is left of the likelihood has a maximum."""
    some = result.stays_finite()
    return Words(
        f"Quasi-separated: a rule separates {separated_rows(result)} and errs on none, so the likelihood has no "
        f"maximum: it rises for ever as the weights grow that way. {result.coefficients_in_words()} The deviance "
        f"falls to {deviance:.6g} and never below. "
        + ("The coefficients that stay finite are given as they are in that limit; for the others" if some else "Here")
        + " stand numbers so large that separated rows are certain.",
        ("Read only the finite coefficients; or penalise" if some else "Penalise")
        + f" with {_finite()}; or leave out or merge the columns that give the class away.",
    )


def _finite() -> str:
    """What makes the weights finite."""
    return f"{setting('l2')} > 0 (of two classes also with {setting('objective', 'firth')})"


def budget(
    outcome: Outcome, problem: Problem, settings: Settings, columns: tuple[str, ...], overlap: bool = False
) -> Words:
    """Nothing is proved, or not enough."""
    said = _unproved(outcome, problem, settings, columns)
    if not overlap:
        return said
    return said._replace(cause=f"{said.cause} The classes overlap, so there is a minimum at finite weights.")


def _unproved(outcome: Outcome, problem: Problem, settings: Settings, columns: tuple[str, ...]) -> Words:
    spent = f"after {outcome.passes:.3g} passes"
    found = outcome.bounds
    if outcome.oscillation is not None:
        return oscillating(outcome, outcome.oscillation, settings)
    if settings.solver == "stochastic":
        return stochastic(outcome, problem)
    if settings.rate is not None:
        return Words(
            f"Not finished: {spent} with {setting('learning_rate', settings.rate)} the mean loss is "
            f"{outcome.value:.8g}, "
            "and it is not near enough to a minimum for a proof.",
            f"Change {setting('learning_rate')} (if it overshoots, the probabilities saturate and the steps all but "
            f"stop), raise {setting('max_passes')}, or use {setting('learning_rate', None)}, line search.",
        )
    if found is not None:
        return Words(
            f"Not finished: {spent} the minimum is known to exist, and the mean loss {outcome.value:.8g} is at most "
            f"{_above(outcome)} above it, where {problem.tol:g} was asked"
            + ("; rounding allows no further step." if outcome.stalled else "."),
            _loosen_or_raise(outcome, problem),
        )
    more = f"with {setting('l2')} > 0" if problem.penalty.idle else "more"
    if outcome.nearly_dependent:
        return Words(
            f"Not proved: {spent} the mean loss is {outcome.value:.8g}, but some columns are so nearly combinations of "
            "others that rounding hides the minimum.",
            f"Leave one of them out, replace them by their differences, or penalise {more}.",
        )
    if math.isfinite(getattr(problem.loss, "clear", math.inf)) and problem.penalty.idle and outcome.settled:
        return Words(
            f"Not proved: {spent} the mean loss {outcome.value:.8g} hardly falls any more, but the rows with a margin "
            "below 1 are too few, or too much alike, to determine the weights.",
            f"Penalise with {setting('l2')} > 0.",
        )
    if goes_wide(problem) and (problem.penalty.idle or settings.objective == "squared"):
        return _wide(outcome, problem, settings, spent)
    growing = _growing(outcome, columns)
    if growing and settings.objective == "squared":
        return Words(
            f"Not proved: {spent} the mean loss {outcome.value:.8g} hardly falls any more, yet the weights of "
            f"{growing} keep growing: the squared error may be falling towards a value that no finite weights reach.",
            f"Penalise more ({setting('l2')}), try more {setting('starts')}, or leave out those columns; do not read "
            "these weights as estimates.",
        )
    if growing and problem.penalty.idle and outcome.settled:
        return Words(
            f"Not proved: {spent} the mean loss {outcome.value:.8g} hardly falls any more, "
            f"yet the weights of {growing} keep growing. "
            "The classes are probably separated along them (quasi-separation), "
            f"and then {LOSSES.get(settings.objective, 'maximum likelihood')} has no finite "
            f"{'minimum' if settings.objective in LOSSES else 'answer'}.",
            f"Penalise with {setting('l2')} > 0, or leave out or merge those columns; do not read these weights as "
            "estimates.",
        )
    return Words(
        f"Not proved: {spent} the mean loss is {outcome.value:.8g}, and neither a minimum nor its absence is certain"
        + ("; rounding allows no further step." if outcome.stalled else "."),
        f"Look for columns that are nearly combinations of others, or penalise {more}."
        if outcome.stalled
        else f"Raise {setting('max_passes')} above {problem.max_passes:g}.",
    )


def _loosen_or_raise(outcome: Outcome, problem: Problem) -> str:
    """What to do about a minimum that is known to exist but not as closely as was asked."""
    if outcome.stalled:
        return f"Loosen {setting('tol')}."
    return f"Raise {setting('max_passes')} above {problem.max_passes:g}, or loosen {setting('tol')}."


def _wide(outcome: Outcome, problem: Problem, settings: Settings, spent: str) -> Words:
    """So many columns that nothing but a penalty proves a minimum, and that of the likelihood only."""
    which = "of the squared error" if settings.objective == "squared" else "without a penalty"
    slow = outcome.stalled or outcome.settled
    return Words(
        f"Not proved: {spent} the mean loss is {outcome.value:.8g}"
        + (" and hardly falls any more" if slow else "")
        + f"; for {problem.rows.shape[1]} sparse columns no minimum {which} can be proved.",
        (f"Use {setting('objective', 'likelihood')}" if settings.objective == "squared" else "Penalise")
        + f" with {setting('l2')} > 0"
        + ("." if slow else f", or raise {setting('max_passes')} above {problem.max_passes:g}."),
    )


def oscillating(outcome: Outcome, rings: Oscillation, settings: Settings) -> Words:
    """A fixed learning rate is too large."""
    spent = f"after {outcome.passes:.3g} passes"
    schedule = ", or a schedule that falls, such as LearningRate(0.1, power=0.5)" if has("LearningRate") else ""
    lower, search = f"{setting('averaging', True)}{schedule}", f"{setting('learning_rate', None)}, line search"
    way_out = f"Lower {setting('learning_rate')}; or use {lower if settings.solver == 'stochastic' else search}."
    if math.isinf(rings.move):
        return Words(f"Diverged: with {setting('learning_rate', settings.rate)} the weights overflow {spent}.", way_out)
    return Words(
        f"Oscillating: with the constant {setting('learning_rate', settings.rate)} the weights do not converge: "
        f"{spent} each "
        f"pass still moves them by about {100 * rings.move:.2g} % of their length, and the mean loss wanders between "
        f"{rings.least:.6g} and {rings.most:.6g}.",
        way_out,
    )


def stochastic(outcome: Outcome, problem: Problem) -> Words:
    """One row at a time comes near, and how near is said where it can be proved."""
    spent = f"after {outcome.passes:.3g} passes, those that looked included,"
    ended = "the weights hardly move any more" if outcome.converged else "the weights still move"
    near = "how far it is from a minimum is not proved"
    if outcome.bounds is not None:
        kind = "the" if outcome.bounds.only else "a local"
        near = f"it is at most {_above(outcome)} above {kind} minimum"
    return Words(
        f"Stochastic: {spent} {ended}; the mean loss is {outcome.value:.8g}, and {near}, where {problem.tol:g} was "
        "asked.",
        f"For more digits use {setting('solver', 'auto')}."
        if outcome.converged
        else f"Raise {setting('max_passes')} above {problem.max_passes:g}, loosen {setting('tol')}, or use "
        f"{setting('solver', 'auto')}.",
    )


def online(steps: int) -> Words:
    """Rows are still coming."""
    return Words(
        f"Learning row by row: {steps} rows so far, each seen once; more may come, so nothing is proved.",
        f"For a proved minimum fit all rows with {setting('solver', 'auto')}.",
    )


def interrupted(passes: float, value: float) -> Words:
    """The user stopped the fit."""
    reached = (
        "before the first pass ended" if math.isnan(value) else f"after {passes:.3g} passes, at mean loss {value:.8g}"
    )
    again = f"; {setting('warm_start', True)} goes on from here." if has("warm_start") else ", and let it end."
    return Words(f"Interrupted {reached}: nothing is proved.", f"Fit again{again}")


def firth(outcome: Outcome, problem: Problem, settings: Settings) -> Words:
    """What is proved about the penalised likelihood, and what is not."""
    balanced = settings.objective == "flic"
    return (_firth_local if outcome.status == "local" else _firth_budget)(outcome, problem, balanced)


def _firth_local(outcome: Outcome, problem: Problem, balanced: bool) -> Words:
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
        f"than {worst}; minus its mean, {outcome.value:.8g}, is at most {_short(_of_the_mean_loss(outcome))} of the "
        "mean loss above it "
        f"({problem.tol:g} was asked). That it is the only maximum is not proved: nobody has a proof." + again,
        "",
    )


def _firth_budget(outcome: Outcome, problem: Problem, balanced: bool) -> Words:
    spent = f"after {outcome.passes:.3g} passes"
    if outcome.bounds is not None:
        return Words(
            f"Not finished: {spent} a maximum of Firth's penalised likelihood is known to lie nearby, and minus its "
            f"mean, {outcome.value:.8g}, is at most {_short(_of_the_mean_loss(outcome))} of the mean loss above it, "
            f"where {problem.tol:g} "
            "was asked" + ("; rounding allows no further step." if outcome.stalled else "."),
            _loosen_or_raise(outcome, problem),
        )
    not_again = " The intercept was not fitted again." if balanced else ""
    if outcome.stalled:
        return Words(
            f"Not proved: {spent} minus the mean of Firth's penalised likelihood is {outcome.value:.8g}, rounding "
            "allows no further step, and the curvature there does not prove a maximum." + not_again,
            "Leave out a column that is nearly a combination of others, or start elsewhere "
            f"({setting('init', 'random')}).",
        )
    return Words(
        f"Not proved: {spent} minus the mean of Firth's penalised likelihood is {outcome.value:.8g}, and it is not "
        "near enough to a maximum for a proof." + not_again,
        f"Raise {setting('max_passes')} above {problem.max_passes:g}.",
    )


def _of_the_mean_loss(outcome: Outcome) -> float:
    """The proved gap in units of the mean loss."""
    assert outcome.bounds is not None
    assert outcome.firth is not None
    return outcome.bounds.gap / outcome.firth.mean_loss


def _above(outcome: Outcome) -> str:
    """The proved gap, in units of the value unless that is all but zero."""
    assert outcome.bounds is not None
    gap = outcome.bounds.gap
    return f"{_short(gap / outcome.value)} of itself" if gap < outcome.value else _short(gap)


def _growing(outcome: Outcome, columns: tuple[str, ...]) -> str:
    order = np.argsort(-outcome.growth)
    names = [columns[j] for j in order if outcome.growth[j] > max(GROWING, outcome.growth[order[0]] / 10)]
    return listed(names) if names else ""


def _short(x: float) -> str:
    return f"{x:.1e}" if x and not 1e-3 <= abs(x) < 1e4 else f"{x:.3g}"
