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


def conclude(
    prepared: Any, rule: LinearRule, mistakes: NDArray[np.int64], passes: float, ended: str, model: Any
) -> Verdict:
    """*separated*, with the weights as the certificate, if they separate the rows; else *budget* or *interrupted*."""
    course = prepared.course
    W, b = np.atleast_2d(rule.weights), np.atleast_1d(np.asarray(rule.intercept, dtype=float))
    found = tally(course.X, course.target, W, b)
    if not found.finite and ended != "interrupted":
        raise NotFiniteScoreError
    claim = claim_of(prepared, rule, found.mistakes / len(course.X))
    rank = Rank(None, W.shape[1] + course.manner.lifted, ())
    total, read = int(mistakes.sum()), rows_read(passes, len(course.X), course.order)
    if ended == "interrupted":
        cause = f"Stopped by hand after {read} and {_count(total, 'mistake')}."
        remedy = "Fit again, with warm_start=True to go on from here." if model.resumes else "Fit again with more time."
        return Verdict("interrupted", rank, None, cause, remedy, claim)
    if found.separated:
        proof = Separation(rule.weights, rule.intercept, found.margin)
        return Verdict("separated", rank, proof, _separated(len(course.X), found, total, read), "", claim)
    cause, remedy = model._says(len(course.X), found.mistakes)
    if ended == "clean" and not all(TIES[course.manner.ties]):
        cause, remedy = _on_the_boundary(course.manner.ties, found.mistakes)
    elif ended == "clean":
        cause, remedy = _by_a_hair()
    elif ended == "patience":
        cause += f" It ended because {model.watched} had not changed for {_count(course.patience, 'step')}."
    return Verdict("budget", rank, None, cause, remedy, claim)


def claim_of(prepared: Any, rule: LinearRule, error: float) -> Claim:
    """That the rule errs on this part of the rows."""
    course = prepared.course
    return Claim(
        tuple(prepared.classes.tolist()), prepared.columns, rule.weights, rule.intercept, course.manner.lifted, 0.0,
        (1.0,) * len(prepared.classes), error, len(course.X), "mistakes",
    )  # fmt: skip


def _separated(rows: int, found: Tally, total: int, read: str) -> str:
    return (
        f"The rule separates the classes: all {rows} rows are on their own side, the nearest at a distance of "
        f"{found.margin:.3g}. It took {_count(total, 'mistake')} in {read}."
    )


def _on_the_boundary(ties: str, mistakes: int) -> tuple[str, str]:
    return (
        f"A whole pass made no mistake, because ties={ties!r} takes a score of zero for right; but predict does not, "
        f"and errs on {_count(mistakes, 'row')}, on the boundary.",
        "With ties='mistake' a row on the boundary moves the weights.",
    )


def _by_a_hair() -> tuple[str, str]:
    return (
        "A whole pass made no mistake, but rows are so near to the boundary that rounding decides on which side they "
        "are, so no separation is claimed.",
        "MaxMarginClassifier() finds the rule that is farthest from all rows.",
    )


def still_wrong(counts: NDArray[np.int64], passes: float, rows: int, order: str) -> str:
    """How a run that was not over stood: its mistakes, and its best pass of those that met every row."""
    found = f"{rows_read(passes, rows, order)} made {_count(int(counts.sum()), 'mistake')}"
    whole = counts[: int(passes)]
    if len(whole) < 2 or not ORDERS[order].whole:
        return f"{found}."
    best = int(whole.argmin())
    return f"{found}; the best so far was pass {best + 1}, with {whole[best]}, and the last whole one made {whole[-1]}."


def rows_read(passes: float, rows: int, order: str) -> str:
    """Passes over the rows; where they are drawn, so that some come twice and some never, the number of draws."""
    if ORDERS[order].whole:
        return _passes(passes)
    return f"{_count(round(passes * rows), 'draw')} with replacement from the {_count(rows, 'row')}"


def learning(steps: int, mistakes: int) -> tuple[str, str]:
    """Rows are still coming."""
    part = f", {100 * mistakes / steps:.3g} % of them" if steps else ""
    return (
        f"Learning row by row: {_count(steps, 'row')} so far, each predicted before it was learnt; {mistakes} "
        f"{'was' if mistakes == 1 else 'were'} wrong{part}. More may come, so nothing is proved.",
        "Perceptron() goes on until a pass makes no mistake; OnlineToBatch(OnlinePerceptron()) lets all rules vote.",
    )


def _passes(passes: float) -> str:
    return f"{passes:.4g} pass{'es' * (passes != 1)} over the rows"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
