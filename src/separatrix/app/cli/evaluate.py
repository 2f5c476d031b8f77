"""`separatrix evaluate`: how well a saved model predicts, with intervals; and whether that is enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from ... import __version__
from ...errors import SettingError
from ..tables.errors import Remedy
from .answer import DONE, NO, Answer, UsageError
from .console import table as text_table
from .options import READING, KnownTable, Talking, as_at_the_fit
from .tables import opened

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..evaluation.calibration import Bin
    from ..evaluation.intervals import Measure
    from ..evaluation.measures import AtThreshold, Cheapest, Check, GroupMeasures, Requirement
    from ..evaluation.predictions import Predictions
    from ..evaluation.probability import Costs

MEASURING = Group("What is measured", sort_key=0)
MOST_GROUPS = 100
"""Groups of --by: of more, each has hardly a row."""


def evaluate(
    model: str,
    /,
    *data: str,
    target: Annotated[str | None, Parameter(group=READING)] = None,
    weights: Annotated[str | None, Parameter(group=READING)] = None,
    group: Annotated[str | None, Parameter(group=READING)] = None,
    unseen: Annotated[Literal["error", "reference"], Parameter(group=READING)] = "error",
    by: Annotated[tuple[str, ...], Parameter(group=MEASURING, consume_multiple=False)] = (),
    positive: Annotated[str | None, Parameter(group=MEASURING)] = None,
    threshold: Annotated[float | None, Parameter(group=MEASURING)] = None,
    thresholds: Annotated[str | None, Parameter(group=MEASURING)] = None,
    cost: Annotated[str | None, Parameter(group=MEASURING)] = None,
    require: Annotated[tuple[str, ...], Parameter(group=MEASURING, consume_multiple=False)] = (),
    level: Annotated[float, Parameter(group=MEASURING)] = 0.95,
    reading: KnownTable = KnownTable(),
    talking: Talking = Talking(),
) -> Answer:
    """Measure how well a model predicts, with intervals.

    Exit status 1: a requirement is not met; the sentence on stderr says by how much.

    Parameters
    ----------
    model
        The file of the model.
    data
        Files, or - for what is piped in.
    target
        The column with the true classes; by default the one that the model was learnt for.
    weights
        The column with the weight of each row.
    group
        Rows of a group, such as a patient, are not independent: the intervals take them together.
    unseen
        What a level is that the model has not seen: an error, or as the reference.
    by
        Measure each level of this column by itself, and how it differs from all other rows. May be repeated.
    positive
        Of two classes the one that sensitivity and precision are about; by default the second.
    threshold
        Predict the positive class where its probability is at least this.
    thresholds
        Show the measures at several thresholds: table, or a list such as 0.2,0.5.
    cost
        What mistakes cost: fp=1,fn=5 for a false positive and a false negative.
    require
        What must hold: auc>=0.8, or auc.low>=0.8 of the lower end of its interval. May be repeated.
    level
        How often an interval holds the truth.
    reading
        How the table is read.
    talking
        How the command talks.
    """
    from ..models.file import read
    from ..tasks.lesson import check_columns
    from ..tasks.predicting import at_threshold, judge

    if not 0 < level < 1:
        raise UsageError(f"--level is {level:g}; give a number between 0 and 1, such as 0.95.")
    learnt = read(model)
    reading, told = as_at_the_fit(reading, learnt, data)
    labels, training = tuple(map(str, learnt.classes)), dict(learnt.training or {})
    costs = _costs(cost, labels)
    asked = [_requirement(each, labels, costs) for each in require]
    column = target or training.get("target")
    if not column:
        raise UsageError("the model does not say which column holds the classes: --target COLUMN.")
    with opened(data, reading.reading(learnt), talking) as table:
        single = {"weights": [weights] if weights else [], "group": [group] if group else []}
        check_columns(table, {"target": [column], **single, "by": by})
        found = judge(learnt, table, target=column, weights=weights, group=group, positive=positive, unseen=unseen)
        parts = {name: _few(name, table.coded(name)) for name in by}
        seen = _seen_before(training, table)
    found = at_threshold(found, threshold)
    result = _measured(found, level, talking.seed, asked, costs, parts, thresholds)
    facts = {"model": model, "target": column, "threshold": threshold, "seen_in_training": seen}
    return Answer(
        {"command": "evaluate", "version": __version__, **facts, **result.to_dict()},
        text=text(result), words=" ".join(filter(None, (words(result), told))), notes=notes(result, seen),
        next=_next(learnt, model, data, column, result, reading, talking.seed),
        status=DONE if all(check.met for check in result.checks) else NO,
    )  # fmt: skip


def _measured(
    found: Predictions, level: float, seed: int, asked: list[Requirement], costs: Costs | None,
    parts: dict[str, Any], thresholds: str | None,
) -> Evaluation:  # fmt: skip
    """All that is asked for, of the same predictions."""
    from ..evaluation.calibration import calibration_table
    from ..evaluation.confusion import matrix
    from ..evaluation.measures import by_class, by_group, checked, measures

    of_all = measures(found, level=level, seed=seed, costs=costs)
    classes = by_class(found, level=level)
    names = [one.name for one in of_all if one.name in OF_GROUPS]
    return Evaluation(
        predictions=found, level=level, measures=of_all, by_class=classes, confusion=matrix(found),
        calibration=calibration_table(found, level),
        by={name: by_group(found, coded.codes, coded.levels, names, level=level, seed=seed)
            for name, coded in parts.items()},
        thresholds=_thresholds(found, thresholds, level, seed, costs), cheapest=_cheapest(found, costs),
        checks=tuple(checked(each, (*of_all, *classes)) for each in asked),
    )  # fmt: skip


OF_GROUPS = ("accuracy", "balanced_accuracy", "sensitivity", "specificity", "precision", "auc", "log_loss", "brier")
"""What is measured of each level of --by."""


def _costs(typed: str | None, classes: tuple[str, ...]) -> Costs | None:
    """fp=1,fn=5."""
    if typed is None:
        return None
    if len(classes) != 2:
        raise UsageError(f"--cost is for two classes; the model has {len(classes)}: {', '.join(classes)}.")
    from ..evaluation.probability import Costs

    given: dict[str, float] = {}
    for part in typed.split(","):
        name, _, number = part.partition("=")
        try:
            given[name.strip().lower()] = float(number)
        except ValueError:
            given = {}
            break
    if set(given) != {"fp", "fn"}:
        raise UsageError(f"--cost {typed}: give both costs as fp=1,fn=5: of a false positive and a false negative.")
    try:
        return Costs(given["fp"], given["fn"])
    except ValueError as error:
        raise UsageError(f"--cost {typed}: {error}") from None


def _requirement(typed: str, classes: tuple[str, ...], costs: Costs | None) -> Requirement:
    from ..evaluation.measures import parsed

    try:
        return parsed(typed, classes, ("cost",) if costs is not None else ())
    except SettingError as error:
        lacks_costs = error.setting == "measure" and error.value == "cost"
        remedies = [Remedy("to measure it, say what mistakes cost", "cost", "fp=1,fn=5")] if lacks_costs else []
        raise UsageError(f"--require {error}", *remedies) from None


def _thresholds(found: Predictions, typed: str | None, level: float, seed: int, costs: Costs | None) -> Any:
    from ..evaluation.measures import threshold_table

    if typed is None:
        return ()
    try:
        listed = () if typed.strip() == "table" else tuple(float(part) for part in typed.split(","))
    except ValueError:
        raise UsageError(f"--thresholds {typed}: give table, or a list of numbers such as 0.2,0.5.") from None
    try:
        return threshold_table(found, listed, level=level, seed=seed, costs=costs)
    except ValueError as error:
        raise UsageError(f"--thresholds {typed}: {error}") from None


def _cheapest(found: Predictions, costs: Costs | None) -> Any:
    from ..evaluation.measures import cheapest

    return None if costs is None or found.ranking is None else cheapest(found, costs)


def _few(name: str, coded: Any) -> Any:
    """The levels, and one more for rows that have none."""
    import numpy as np

    from ..tables.table import LevelCodes

    if len(coded.levels) > MOST_GROUPS:
        raise UsageError(
            f"--by {name}: it has {len(coded.levels)} levels; {MOST_GROUPS} are the most that are measured one by one."
        )
    if not (coded.codes < 0).any():
        return coded
    return LevelCodes(np.where(coded.codes < 0, len(coded.levels), coded.codes), (*coded.levels, "(missing)"))


def _seen_before(training: dict[str, Any], table: Any) -> bool:
    """Whether the model was learnt from these very rows."""
    mark = getattr(table, "fingerprint", None)
    return bool(training.get("fingerprint")) and mark is not None and training["fingerprint"] == str(mark())


def _next(
    learnt: Any, model: str, data: tuple[str, ...], target: str, result: Evaluation, reading: KnownTable, seed: int
) -> str:
    """After a no, other learners; else single rows."""
    import shlex

    from .answer import FORMAT, after, columns_again, explain_again, files_again, typed_again

    if all(check.met for check in result.checks):
        return explain_again(learnt, model, data, after(typed_again(reading, renamed=FORMAT, seed=seed)))
    again = [*columns_again(learnt), *typed_again(reading, seed=seed)]  # as at the fit: compare knows no model
    return f"separatrix compare {shlex.join([*files_again(data), '--target', target, *again])}"


# --------------------------------------------------------------------------------------------------- what it says

FEW = 10
"""Rows of a class below which its numbers say little."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """All that was measured."""

    predictions: Predictions
    level: float
    measures: tuple[Measure, ...]
    by_class: tuple[Measure, ...]
    confusion: NDArray[np.float64]
    calibration: tuple[Bin, ...] = ()
    by: dict[str, tuple[GroupMeasures, ...]] = field(default_factory=dict)
    thresholds: tuple[AtThreshold, ...] = ()
    cheapest: Cheapest | None = None
    checks: tuple[Check, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many rows each class has."""
        import numpy as np

        found = np.bincount(self.predictions.truth, minlength=len(self.predictions.classes)).tolist()
        return dict(zip(map(str, self.predictions.classes), found, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        given = self.predictions
        two = len(given.classes) == 2
        return {
            "rows": given.rows,
            "classes": [{"class": label, "rows": rows} for label, rows in self.counts.items()],
            "positive": given.classes[given.positive] if two else None,
            "level": self.level,
            "measures": [one.to_dict() for one in self.measures],
            "by_class": [one.to_dict() for one in self.by_class],
            "confusion": self.confusion.tolist(),
            "calibration": [one.to_dict() for one in self.calibration],
            "by": [{"column": name, "groups": [part.to_dict() for part in parts]} for name, parts in self.by.items()],
            "thresholds": [one.to_dict() for one in self.thresholds],
            "cheapest": None if self.cheapest is None else self.cheapest.to_dict(),
            "requirements": [check.to_dict() for check in self.checks],
            "met": all(check.met for check in self.checks),
        }


def text(found: Evaluation) -> str:
    """Tables for stdout: measures, confusion, and what was asked for beside them."""
    parts = [measures_table(found.measures, found.level), _confusion(found)]
    if len(found.predictions.classes) > 2:
        parts.append(measures_table(found.by_class, found.level))
    parts += [_by(name, groups, found.level) for name, groups in found.by.items()]
    parts += [_threshold_lines(found.thresholds)] if found.thresholds else []
    return "\n\n".join(parts)


def measures_table(measures: Sequence[Measure], level: float) -> str:
    """A line for each measure: its value, and its interval or why there is none."""
    rows = [(one.label, number(one.value), interval(one) or one.why) for one in measures]
    return text_table(("measure", "value", f"{100 * level:g} % interval"), rows, right=(1,))


def methods(measures: Sequence[Measure]) -> str:
    """How the intervals were found, each way with its measures."""
    ways: dict[str, list[str]] = {}
    for one in measures:
        if one.method:
            ways.setdefault(one.method, []).append(one.label)
    return "; ".join(f"{way} ({', '.join(names)})" for way, names in ways.items())


def number(value: float | None) -> str:
    """Four digits; a dash for none."""
    return "–" if value is None else f"{value:.4g}"


def interval(one: Measure) -> str:
    """'0.75 to 0.86', or nothing."""
    return "" if one.low is None or one.high is None else f"{one.low:.4g} to {one.high:.4g}"


def _confusion(found: Evaluation) -> str:
    classes = list(map(str, found.predictions.classes))
    rows = [
        (f"is {label}", *(f"{cell:.6g}" for cell in row)) for label, row in zip(classes, found.confusion, strict=True)
    ]
    header = ("", *(f"predicted {label}" for label in classes))
    return text_table(header, rows, right=range(1, len(header)))


def _by(name: str, parts: Sequence[GroupMeasures], level: float) -> str:
    """A line for each group and measure; then those that differ from all other rows by more than chance."""
    ends, rows, apart = f"{100 * level:g} % interval", [], []
    for part in parts:
        for k, one in enumerate(part.measures):
            first = (part.group, str(part.rows)) if not k else ("", "")
            rows.append((*first, one.label, number(one.value), interval(one) or one.why))
        apart += [(part.group, one.label, f"{one.value:+.4g}", interval(one)) for one in part.flagged]
    found = text_table((name, "rows", "measure", "value", ends), rows, right=(1, 3))
    if not apart:
        return found
    return found + "\n\n" + text_table((name, "differs in", "less all others", ends), apart, right=(2,))


def _threshold_lines(table: Sequence[AtThreshold]) -> str:
    names = [one.name for one in table[0].measures]
    rows = [
        (f"{one.threshold:.4g}", f"{one.flagged:.3g}", *(number(measure.value) for measure in one.measures))
        for one in table
    ]
    return text_table(("threshold", "flagged", *names), rows, right=range(len(names) + 2))


def words(found: Evaluation) -> str:
    """Sentences: how many rows, what the requirements came to, which threshold costs least."""
    import numpy as np

    given = found.predictions
    shares = ", ".join(f"{rows} {label}" for label, rows in found.counts.items())
    said = [f"{given.rows} rows: {shares}."]
    if len(given.classes) == 2:
        said.append(f"The positive class is {given.classes[given.positive]!r}.")
    if given.clusters is not None:
        said.append(f"The intervals take the rows of {len(np.unique(given.clusters))} groups together.")
    if found.cheapest is not None:
        said.append(_cheapest_sentence(found.cheapest))
    said.append(f"Intervals: {methods(found.measures)}.")
    lines = [" ".join(said), *(check.sentence for check in found.checks)]
    return "\n".join(lines)


def _cheapest_sentence(best: Cheapest) -> str:
    where = "no row is predicted positive" if best.threshold is None else f"the threshold is {best.threshold:.4g}"
    true = "" if best.if_true is None else f" If the probabilities are true, take {best.if_true:.4g}."
    return (
        f"Mistakes cost least, {best.cost:.4g} a row, if {where}; as it was chosen by these very rows, expect somewhat "
        f"more on others.{true}"
    )


def notes(found: Evaluation, seen: bool) -> tuple[str, ...]:
    """Warnings: rows that were learnt from, classes with few rows, many groups, weights."""
    said = []
    if seen:
        said.append(
            "these are the very rows that the model was learnt from: the numbers are too good, and will be worse on "
            "other rows. Take such, or separatrix fit … --cv 5."
        )
    said += [
        f"there {'is 1 row' if rows == 1 else f'are {rows} rows'} of class {label!r}: its numbers say little."
        for label, rows in found.counts.items()
        if rows < FEW
    ]
    groups = sum(len(parts) for parts in found.by.values())
    flagged = sum(len(part.flagged) for parts in found.by.values() for part in parts)
    if flagged:
        tried = sum(len(part.differences) for parts in found.by.values() for part in parts)
        said.append(
            f"{flagged} of {tried} differences of {groups} groups are marked; of as many, "
            f"{(1 - found.level) * tried:.2g} would be by chance alone."
        )
    return tuple(said)
