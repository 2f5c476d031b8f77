"""How a perceptron's run ended, in a verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...fitting.scan.perceptron import TIES, NotFiniteScoreError
from ...fitting.scan.run import ORDERS
from ...fitting.scan.tally import Tally, tally
from ...results.claims import Claim
from ...results.linear_rule import LinearRule
from ...results.proofs import Separation
from ...results.verdict import Rank, Verdict
from ...wording import call, has, learner, setting
from .training import Training


def conclude(
    training: Training, rule: LinearRule, mistakes: NDArray[np.int64], passes: float, ended: str, model: Any,
    reading: Any = None,
) -> Verdict:  # fmt: skip
    """*separated*, with the weights as the certificate, if they separate the rows; else *budget* or *interrupted*."""
    course, passed = training.course, training.course.passes
    W, b = np.atleast_2d(rule.weights), np.atleast_1d(np.asarray(rule.intercept, dtype=float))
    found = tally(course.X, course.target, W, b)
    if not found.finite and ended != "interrupted":
        raise NotFiniteScoreError
    claim = claim_of(training, rule, found.mistakes / len(course.X))
    rank = Rank(None, W.shape[1] + course.update.lifted, ())
    total, read = int(mistakes.sum()), rows_read(passes, len(course.X), passed.order)
    if ended == "interrupted":
        return Verdict("interrupted", rank, None, *stopped(read, total, resumes=model.resumes), claim)
    if found.separated:
        proof = Separation(rule.weights, rule.intercept, found.margin)
        return Verdict("separated", rank, proof, _separated(len(course.X), found, total, read), "", claim)
    stands = still_wrong(mistakes, passes, len(course.X), passed.order)
    cause, remedy = model._not_separated(reading, stands, f"on {found.mistakes} of {len(course.X)} rows")
    if ended == "clean" and not all(TIES[course.update.ties]):
        cause, remedy = on_the_boundary(course.update.ties, found.mistakes)
    elif ended == "clean":
        cause, remedy = by_a_hair()
    elif ended == "patience":
        cause += f" It ended because {model.watched} had not changed for {counted(passed.patience, 'step')}."
    return Verdict("budget", rank, None, cause, remedy, claim)


def claim_of(training: Training, rule: LinearRule, error: float) -> Claim:
    """That the rule errs on this part of the rows."""
    course = training.course
    return Claim(
        tuple(training.classes.tolist()), training.columns, rule.weights, rule.intercept, course.update.lifted, 0.0,
        (1.0,) * len(training.classes), error, len(course.X), "mistakes",
    )  # fmt: skip


def _separated(rows: int, found: Tally, total: int, read: str) -> str:
    return (
        f"The rule separates the classes: all {rows} rows are on their own side, the nearest at a distance of "
        f"{found.margin:.3g}. It took {counted(total, 'mistake')} in {read}."
    )


def stopped(read: str, mistakes: int, *, resumes: bool) -> tuple[str, str]:
    """Ctrl-C, or a reader who stopped reading."""
    cause = f"Stopped by hand after {read} and {counted(mistakes, 'mistake')}."
    if not (resumes and has("warm_start")):
        return cause, "Fit again with more time."
    return cause, f"Fit again, with {setting('warm_start', True)} to go on from here."


def on_the_boundary(ties: str, mistakes: int) -> tuple[str, str]:
    """Learning took for right what prediction takes for wrong."""
    return (
        f"A whole pass made no mistake, because {setting('ties', ties)} counts a score of zero as right; but predict "
        f"does not, and errs on {counted(mistakes, 'row')}, on the boundary.",
        f"With {setting('ties', 'mistake')} a row on the boundary moves the weights.",
    )


def by_a_hair() -> tuple[str, str]:
    """Rounding decides."""
    return (
        "A whole pass made no mistake, but some rows are so near the boundary that rounding decides on which side they "
        "lie, so no separation is claimed.",
        f"{learner('MaxMarginClassifier')} finds the rule that is farthest from all rows.",
    )


def still_wrong(counts: NDArray[np.int64], passes: float, rows: int, order: str) -> str:
    """How a run that was not over stood: its mistakes, and its best pass of those that met every row."""
    found = f"{rows_read(passes, rows, order)} made {counted(int(counts.sum()), 'mistake')}"
    whole = counts[: int(passes)]
    if len(whole) < 2 or not ORDERS[order].whole:
        return f"{found}."
    best = int(whole.argmin())
    return f"{found}; the best so far was pass {best + 1}, with {whole[best]}, and the last whole one made {whole[-1]}."


def rows_read(passes: float, rows: int, order: str) -> str:
    """Passes over the rows; where they are drawn, so that some come twice and some never, the number of draws."""
    if ORDERS[order].whole:
        return _passes(passes)
    return f"{counted(round(passes * rows), 'draw')} with replacement from the {counted(rows, 'row')}"


def learning(steps: int, mistakes: int) -> tuple[str, str]:
    """Rows are still coming."""
    part = f", {100 * mistakes / steps:.3g} % of them" if steps else ""
    return (
        f"Learning row by row: {counted(steps, 'row')} so far, each predicted before it was learnt from; {mistakes} "
        f"{'was' if mistakes == 1 else 'were'} wrong{part}. More may come, so nothing is proved.",
        all_vote("rules"),
    )


def all_vote(what: str) -> str:
    """What to do after an online pass."""
    return (
        f"{learner('Perceptron')} goes on until a pass makes no mistake; "
        f"{call('OnlineToBatch(OnlinePerceptron())')} lets all {what} vote."
    )


def _passes(passes: float) -> str:
    return f"{passes:.4g} pass{'es' * (passes != 1)} over the rows"


def counted(number: int, what: str) -> str:
    """One row, two rows."""
    return f"{number} {what}{'s' * (number != 1)}"
