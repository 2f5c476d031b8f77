"""The penalty by cross-validation: a path of fits, each started where the last one ended, for every fold."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data import Rows
from ..losses.penalty import NoPenalty, ridge
from ..numerics.arrays import Floats
from .coordinates import frame_of
from .minimise import minimise
from .problem import At, Fit, Problem, Progress, relayed
from .risk.evaluate import Evaluation, log_loss_of

LOOSE = 1e-9
"""The relative gap of the fits along the path: far below the differences between folds."""
TRIAL = -1
"""The number of a start that is a trial on a part of the rows."""
GRID = np.logspace(1, -6, 15)
"""l2 in units of the columns' mean square about their means."""


@dataclass(frozen=True)
class CrossValidation:
    """How `l2="cv"` goes about it: the l2 whose loss on rows held out is least: −log p of their classes, or
    the loss itself where a score is not the log-odds.
    """

    grid: tuple[float, ...] | None = None
    """Values of l2; None for 15 of them, from 10 down to 10⁻⁶ times the mean variance of the columns."""
    folds: int = 5
    """Into how many parts the rows are divided; every class is spread over all of them."""
    one_standard_error: bool = False
    """Whether to take the largest l2 within one standard error of the least loss, not the least itself."""


class Path(NamedTuple):
    """The curve of held-out log-loss over l2."""

    l2: Floats
    """Largest first."""
    loss: Floats
    """The mean over the folds."""
    standard_error: Floats
    """Of that mean, from the differences between folds."""
    folds: Floats
    """One row for each l2, one column for each fold."""
    best: float
    """The l2 with the least loss."""
    chosen: float
    """That l2, or the largest within one standard error of its loss."""


def choose_l2(problem: Problem, plan: CrossValidation) -> Generator[Progress, None, tuple[Path, float]]:
    """Fit every fold along the grid; the rows held out cost nothing meanwhile, so that none is copied.

    Returns the curve and the passes it took.
    """
    rows = problem.rows.gathered()
    frame = frame_of(rows, problem.lifted, problem.seed)
    grid = np.sort(plan.grid if plan.grid is not None else GRID * np.mean(frame.scale**2))[::-1].astype(float)
    parts = fold_of_rows(rows, plan.folds, problem.seed)
    table = np.empty((grid.size, plan.folds))
    passes = 0.0
    for fold in range(plan.folds):
        learnt, held = only(rows, parts != fold), only(rows, parts == fold)
        judge = Evaluation(log_loss_of(problem.loss), held, NoPenalty(), problem.classes, frame)
        start = problem.start
        for i, l2 in enumerate(grid):
            run = minimise(
                replace(problem, rows=learnt, penalty=ridge(float(l2)), start=start, tol=max(problem.tol, LOOSE))
            )
            outcome = yield from relayed(run, partial(_trial, passes, f"fold {fold + 1}, l2 = {l2:.3g}"))
            passes += outcome.passes + 1
            start = At(outcome.weights, outcome.intercept)
            table[i, fold] = judge(*start).value
    return curve(grid, table, one_standard_error=plan.one_standard_error), passes


def curve(grid: Floats, table: Floats, *, one_standard_error: bool) -> Path:
    """Means, standard errors and the choice."""
    loss = table.mean(axis=1)
    error = table.std(axis=1, ddof=1) / np.sqrt(table.shape[1])
    best = int(np.argmin(loss))
    within = np.flatnonzero(loss <= loss[best] + error[best])
    chosen = int(within[0]) if one_standard_error else best  # the grid falls: the first is the largest
    return Path(grid, loss, error, table, float(grid[best]), float(grid[chosen]))


def fold_of_rows(rows: Rows, folds: int, seed: int) -> NDArray[np.intp]:
    """The fold of each row, by chance, with every class spread evenly; rows that cost nothing are dealt last."""
    labels = rows.y if rows.y.ndim == 1 else rows.y.argmax(axis=1)
    nothing = rows.costs == 0 if rows.cost.size else np.zeros(len(rows), bool)
    chance = np.zeros(len(rows))
    chance[~nothing] = np.random.default_rng(seed).random(int((~nothing).sum()))  # as if the others were absent
    order = np.lexsort((chance, labels, nothing))
    parts = np.empty(len(rows), np.intp)
    parts[order] = np.arange(len(rows)) % folds
    return parts


def only(rows: Rows, chosen: NDArray[np.bool_]) -> Rows:
    """All rows, with a cost of zero for all but the chosen ones."""
    cost = rows.cost if rows.cost.size else np.ones(len(rows))
    return replace(rows, cost=cost * chosen, other=rows.other * chosen if rows.other.size else rows.other)


def later(run: Fit, passes: float) -> Fit:
    """A fit that begins after so many passes."""
    return relayed(run, lambda progress: progress._replace(passes=passes + progress.passes))


def _trial(passes: float, name: str, progress: Progress) -> Progress:
    """A step of a fit of a part of the rows."""
    return progress._replace(passes=passes + progress.passes, moved_by=name, start=TRIAL)
