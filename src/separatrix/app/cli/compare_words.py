"""What `compare` says: a leaderboard."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..evaluation.cross_validation import CrossValidation, Task
from ..evaluation.intervals import Measure
from ..evaluation.measures import measures
from ..evaluation.paired import Difference, best_of, difference
from ..tasks.learner_list import BASELINE, Entry
from .console import table as laid_out
from .evaluate_words import interval, number
from .typed_again import files_again

BESIDE = ("error_rate", "auc", "log_loss", "brier")
"""Values that are shown beside the measure that ranks."""


@dataclass(frozen=True)
class Standing:
    """A learner on the board: its measures, and how far it is from the best."""

    label: str
    crossed: CrossValidation
    measures: tuple[Measure, ...]
    to_best: Difference | None

    def value(self, name: str) -> Measure | None:
        """The measure of this name."""
        return next((one for one in self.measures if one.name == name), None)

    def to_dict(self, rank: int | None) -> dict[str, Any]:
        """For programs."""
        return {
            "learner": self.label, "rank": rank, "measures": [one.to_dict() for one in self.measures],
            "to_best": None if self.to_best is None else self.to_best.to_dict(),
            "failures": [{"fold": each.fold + 1, "sentence": each.sentence} for each in self.crossed.failures],
            "remarks": list(self.crossed.remarks),
        }  # fmt: skip


@dataclass(frozen=True)
class Board:
    """All learners, the best first; those without a value last."""

    ranked_by: str
    level: float
    standings: tuple[Standing, ...]
    best: str | None

    @property
    def learnt(self) -> list[str]:
        """The learners that have predictions, the baseline not counted."""
        return [
            each.label for each in self.standings if each.crossed.predictions is not None and each.label != BASELINE
        ]

    @property
    def beaten(self) -> bool:
        """Whether the best is shown to be better than the baseline."""
        last = next(each for each in self.standings if each.label == BASELINE)
        return last.to_best is not None and last.to_best.word == "worse"

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        ranks = self._ranks()
        return {
            "ranked_by": self.ranked_by, "level": self.level, "best": self.best, "beats_baseline": self.beaten,
            "leaderboard": [each.to_dict(rank) for each, rank in zip(self.standings, ranks, strict=True)],
        }  # fmt: skip

    def notes(self) -> tuple[str, ...]:
        """Failures and remarks, each with its learner."""
        failed = [
            f"{each.label} failed on fold {one.fold + 1}, and is not compared: {one.sentence}"
            for each in self.standings
            for one in each.crossed.failures
        ]
        told = [f"{each.label}: {_first(remark)}" for each in self.standings for remark in each.crossed.remarks]
        return (*failed, *told)

    def _ranks(self) -> list[int | None]:
        known = [(one := each.value(self.ranked_by)) is not None and one.value is not None for each in self.standings]
        return [place + 1 if there else None for place, there in enumerate(known)]


def _first(remark: str) -> str:
    """The first sentence, and in how many folds: the rest is for whoever fits that learner."""
    sentence, _, rest = remark.partition(". ")
    folds = rest[rest.rfind("(So in ") :] if "(So in " in rest else ""
    return f"{sentence.rstrip('.')}. {folds}".strip()


def board_of(crossed: dict[str, CrossValidation], by: str | None, level: float, seed: int) -> Board:
    """The leaderboard: by log loss where all have probabilities, else by error rate."""
    answered = {label: one.predictions for label, one in crossed.items() if one.predictions is not None}
    probable = all(one.probabilities is not None for one in answered.values())
    name = by or ("log_loss" if probable else "error_rate")
    found = {label: measures(one, level=level, seed=seed) for label, one in answered.items()}
    ranked = {label: next(m for m in each if m.name == name) for label, each in found.items()}
    best = best_of(ranked)
    standings = []
    for label, one in crossed.items():
        apart = None
        if best is not None and label in answered and label != best:
            apart = difference(answered[label], answered[best], name, level=level, seed=seed)
        standings.append(Standing(label, one, found.get(label, ()), apart))
    return Board(name, level, tuple(sorted(standings, key=lambda each: _place(each, name))), best)


def _place(standing: Standing, name: str) -> tuple[int, float]:
    """The best first, then those without a value, then those that failed; equals in the order they were typed."""
    one = standing.value(name)
    if one is None:
        return 2, 0.0
    return (1, 0.0) if one.value is None else (0, -one.gain(0.0))


def text(board: Board) -> str:
    """The leaderboard, with other measures beside; then how far each is from the best."""
    others = [name for name in BESIDE if name != board.ranked_by]
    ends = f"{100 * board.level:g} % interval"
    rows = [_line(each, board, others) for each in board.standings]
    found = laid_out(("learner", board.ranked_by, ends, *others), rows, right=(1, *range(3, 3 + len(others))))
    apart = [_apart(each.label, each.to_best) for each in board.standings if each.to_best is not None]
    if not apart:
        return found
    return found + "\n\n" + laid_out((f"less {board.best}", board.ranked_by, ends, ""), apart, right=(1,))


def _line(standing: Standing, board: Board, others: Sequence[str]) -> tuple[str, ...]:
    one = standing.value(board.ranked_by)
    if one is None:
        return standing.label, "–", "failed", *("–" for _ in others)
    beside = (number(other.value) if (other := standing.value(name)) else "–" for name in others)
    return standing.label, number(one.value), interval(one) or one.why, *beside


def _apart(label: str, apart: Difference) -> tuple[str, ...]:
    if apart.value is None:
        return label, "–", apart.why, ""
    ends = apart.why if apart.low is None or apart.high is None else f"{apart.low:.4g} to {apart.high:.4g}"
    return label, f"{apart.value:+.4g}", ends, apart.word


def words(board: Board, task: Task, group: str | None) -> str:
    """What was compared, and what can be said of the best."""
    kept = f", rows of one {group!r} together" if group else ""
    said = [
        f"{len(task.truth)} rows, {len(task.classes)} classes, {task.count} folds{kept}: the same for all learners."
    ]
    if board.best is None or not board.learnt:
        return " ".join([*said, "No learner has an answer that could be ranked."])
    equal = [
        each.label for each in board.standings
        if each.to_best is not None and each.to_best.word == "no difference shown" and each.label != BASELINE
    ]  # fmt: skip
    if board.best == BASELINE:
        said.append("No learner has a better value than the baseline, which knows the shares of the classes only.")
    elif not board.beaten:
        said.append(f"{board.best} has the best {board.ranked_by}, but is not shown to be better than the baseline.")
    else:
        said.append(f"{board.best} has the best {board.ranked_by}.")
    if equal:
        said.append(f"No difference to it is shown for {', '.join(equal)}.")
    said.append(f"Each interval is a {100 * board.level:g} % one by itself.")
    return " ".join(said)


def next_command(board: Board, data: Sequence[str], target: str, options: list[str], entries: Sequence[Entry]) -> str:
    """Fit the best learner to all rows."""
    best = next((each for each in entries if each.label == board.best), None)
    if best is None:
        return ""
    words = [*files_again(data), "--target", target, "--learner", best.name, *best.typed(), *options]
    return f"separatrix fit {shlex.join(words)}"
