"""`separatrix compare`: several learners on the same folds, with intervals of their differences."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from ... import __version__
from ...wording import setting
from ..tasks.learners import BASELINE, Entry, check_weights, learner_list, parameters_of
from .answer import NO, Answer, UsageError, files_again, typed_again
from .console import table as text_table
from .evaluate import interval, number
from .options import READING, Reading, Talking
from .progress import folds_shown
from .tables import decisions_of, opened

if TYPE_CHECKING:
    from ..evaluation.cross_validation import CrossValidation, Remark, Task
    from ..evaluation.intervals import Measure
    from ..evaluation.paired import Difference
    from ..tasks.lesson import Lesson

COMPARING = Group("What is compared", sort_key=0)
USUAL = ("logistic", "logistic:l2=0.01", "discriminant", "naive-bayes")


def compare(
    *data: str,
    target: Annotated[str, Parameter(group=READING)],
    learners: Annotated[tuple[str, ...], Parameter(group=COMPARING, consume_multiple=False)] = (),
    cv: Annotated[int, Parameter(group=COMPARING)] = 5,
    by: Annotated[str | None, Parameter(group=COMPARING)] = None,
    level: Annotated[float, Parameter(group=COMPARING)] = 0.95,
    weights: Annotated[str | None, Parameter(group=READING)] = None,
    group: Annotated[str | None, Parameter(group=READING)] = None,
    missing: Annotated[Literal["error", "impute"], Parameter(group=READING)] = "error",
    standardise: Annotated[bool, Parameter(group=COMPARING, negative="")] = False,
    reading: Reading = Reading(),
    talking: Talking = Talking(),
) -> Answer:
    """Compare learners on the same folds.

    Each row is predicted by models that have not seen it, all learners with the same folds; the baseline predicts the
    shares of the classes. A difference counts where its interval, which knows that the rows are the same, leaves zero
    out. Exit status 1: no learner could be fitted.

    Parameters
    ----------
    data
        Files, or - for what is piped in.
    target
        The column to be predicted.
    learners
        Names, with parameters after a colon: logistic,logistic:l2=0.1,naive-bayes. May be repeated. By default
        logistic,logistic:l2=0.01,discriminant,naive-bayes.
    cv
        How many folds.
    by
        The measure to rank by: log_loss by default, error_rate where some learner has no probabilities.
    level
        How often an interval holds the truth.
    weights
        The column with the weight of each row.
    group
        Rows of a group stay together in a fold, and the intervals take them together; it is not learnt from.
    missing
        What is done about missing values: an error, or the mean or the most frequent level, with an indicator.
    standardise
        Give number columns the mean 0 and the standard deviation 1 first, by the training rows of each fold.
    reading
        How the table is read.
    talking
        How the command talks.
    """
    if not 0 < level < 1:
        raise UsageError(f"--level is {level:g}; give a number between 0 and 1, such as 0.95.")
    if cv < 2:
        raise UsageError(f"--cv is {cv}; it must be 2 folds or more.")
    entries = _entries(learners, weights is not None)
    from ..tasks.cross_validation import FoldTables, fold_task
    from ..tasks.lesson import check_columns, lesson_of

    with opened(data, reading, talking) as table:
        single = {"weights": [weights] if weights else [], "group": [group] if group else []}
        check_columns(table, {"target": [target], **single})
        decisions = decisions_of(table, reading, target=target, weights=weights, group=[group] if group else [])
        lesson = lesson_of(table, decisions, target=target, weights=weights, group=group, missing=missing,
                           standardise=standardise)  # fmt: skip
        ranked = _ranking_measure(by, len(lesson.y.classes))
        task = fold_task(lesson, cv, talking.seed)
        tables = FoldTables(table, lesson, missing, standardise)
        crossed = _crossed(task, lesson, tables, entries, talking)
    board = board_of(crossed, ranked, level, talking.seed)
    again = _options(weights, group, missing, standardise, reading, talking.seed)
    facts = {
        "target": target, "rows": len(task.truth), "classes": list(task.classes), "folds": task.count,
        "grouped": group is not None, "seed": talking.seed, "remarks": list(tables.remarks()),
    }  # fmt: skip
    return Answer(
        {"command": "compare", "version": __version__, **facts, **board.to_dict()},
        text=text(board), words=words(board, task, group), notes=(*tables.remarks(), *board.notes()),
        next=next_command(board, data, target, again, entries),
        status=0 if board.best is not None and any(board.learnt) else NO,
    )  # fmt: skip


def _entries(typed: tuple[str, ...], weighted: bool) -> tuple[Entry, ...]:
    """The learners; those that know no weights are refused where there are weights, and not among the usual ones."""
    found = learner_list(typed or USUAL)
    able = tuple(each for each in found if "sample_weight" in each.known.beside or not weighted)
    if typed and len(able) < len(found):
        for each in found:
            check_weights(each.name)
    return able


def _ranking_measure(by: str | None, classes: int) -> str | None:
    from ..evaluation.measures import as_name

    try:
        return None if by is None else as_name(by, classes)
    except ValueError as error:
        raise UsageError(f"--by {by}: {error}") from None


def _crossed(
    task: Task, lesson: Lesson, tables: Any, entries: tuple[Entry, ...], talking: Talking
) -> dict[str, CrossValidation]:
    """Every learner on every fold, the baseline last; watched."""
    from ..evaluation.cross_validation import baseline, cross
    from ..tasks.cross_validation import fold_learner

    with folds_shown(talking, task.count * len(entries)) as after:
        found = {
            each.label: cross(task, fold_learner(tables, lesson, partial(each.made, talking.seed)), after)
            for each in entries
        }
    return {**found, BASELINE: cross(task, baseline(task))}


def _options(
    weights: str | None, group: str | None, missing: str, standardise: bool, reading: Reading, seed: int
) -> list[str]:  # fmt: skip
    """What a fit of the best learner needs beside its name, to see the same rows in the same way."""
    words = [*(["--weights", weights] if weights else []), *(["--group", group] if group else [])]
    words += [*(["--missing", missing] if missing != "error" else []), *(["--standardise"] * standardise)]
    return [*words, *typed_again(reading), *(["--seed", str(seed)] if seed else [])]


# --------------------------------------------------------------------------------------------------- what it says

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
            "remarks": list(map(str, self.crossed.remarks)),
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
        told = [f"{each.label}: {_brief(remark)}" for each in self.standings for remark in each.crossed.remarks]
        return (*failed, *told)

    def _ranks(self) -> list[int | None]:
        known = [(one := each.value(self.ranked_by)) is not None and one.value is not None for each in self.standings]
        return [place + 1 if there else None for place, there in enumerate(known)]


def _brief(remark: Remark) -> str:
    """What was reached, and in how many folds: what to do is for whoever fits that learner."""
    verdict = getattr(remark.warning, "verdict", None)
    return str(remark) if verdict is None else remark.after(verdict.cause)


def board_of(crossed: dict[str, CrossValidation], by: str | None, level: float, seed: int) -> Board:
    """The leaderboard: by log loss where all have probabilities, else by error rate."""
    from ..evaluation.measures import measures
    from ..evaluation.paired import best_of, difference

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
    found = text_table(("learner", board.ranked_by, ends, *others), rows, right=(1, *range(3, 3 + len(others))))
    apart = [_apart(each.label, each.to_best) for each in board.standings if each.to_best is not None]
    if not apart:
        return found
    return found + "\n\n" + text_table((f"less {board.best}", board.ranked_by, ends, ""), apart, right=(1,))


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
    words = [*files_again(data), "--target", target, "--learner", best.name, *entry_options(best), *options]
    return f"separatrix fit {shlex.join(words)}"


def entry_options(entry: Entry) -> list[str]:
    """Its parameters as `fit` takes them: --l2 0.1 --no-fit-intercept."""
    words: list[str] = []
    texts = {name.lstrip("-").replace("-", "_"): text for name, text in entry.parameters.items()}
    for name, value in parameters_of(entry.name, entry.parameters).items():
        words += [setting(name, value)] if isinstance(value, bool) else [setting(name), str(texts[name])]
    return words
