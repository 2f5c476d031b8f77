"""All measures of predictions, by name."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SettingError
from ...numerics.arrays import Floats, Indices
from . import calibration, confusion, probability, ranking
from .intervals import Measure, checked_level, square_and_add
from .predictions import Predictions
from .probability import Costs

Finder = Callable[[Predictions, float, int], Measure]

ALIASES = {
    "recall": "sensitivity", "tpr": "sensitivity", "tnr": "specificity", "ppv": "precision", "error": "error_rate",
    "roc_auc": "auc", "ap": "average_precision", "brier_score": "brier", "logloss": "log_loss",
    "cross_entropy": "log_loss", "matthews": "mcc", "f1_score": "f1", "f1_macro": "f1", "slope": "calibration_slope",
    "intercept": "calibration_intercept", "hand_till": "auc_hand_till", "auc_ovo": "auc_hand_till",
}  # fmt: skip
"""Other names that people know."""

GENERAL: dict[str, Finder] = {
    "accuracy": lambda g, level, seed: confusion.accuracy(g, level),
    "error_rate": lambda g, level, seed: confusion.error_rate(g, level),
    "balanced_accuracy": confusion.balanced_accuracy,
    "mcc": confusion.matthews,
    "log_loss": lambda g, level, seed: probability.log_loss(g, level),
    "brier": lambda g, level, seed: probability.brier(g, level),
    "auc": lambda g, level, seed: ranking.auc(g, level),
    "average_precision": lambda g, level, seed: ranking.average_precision(g, level),
}
OF_TWO: dict[str, Finder] = {
    "sensitivity": lambda g, level, seed: confusion.sensitivity(g, level, g.positive),
    "specificity": lambda g, level, seed: confusion.specificity(g, level, g.positive),
    "precision": lambda g, level, seed: confusion.precision(g, level, g.positive),
    "f1": lambda g, level, seed: confusion.f1(g, level, g.positive),
    "calibration_intercept": lambda g, level, seed: calibration.calibration_intercept(g, level),
    "calibration_slope": lambda g, level, seed: calibration.calibration_slope(g, level),
}
OF_MANY: dict[str, Finder] = {
    "precision": lambda g, level, seed: confusion.macro("precision", g, level, seed),
    "f1": lambda g, level, seed: confusion.macro("f1", g, level, seed),
    "auc_hand_till": lambda g, level, seed: ranking.hand_till(g, level),
}
BY_CLASS = {
    "sensitivity": confusion.sensitivity, "specificity": confusion.specificity, "precision": confusion.precision,
    "f1": confusion.f1,
}  # fmt: skip
ORDER = (
    "accuracy", "error_rate", "balanced_accuracy", "sensitivity", "specificity", "precision", "f1", "mcc", "auc",
    "auc_hand_till", "average_precision", "log_loss", "brier", "calibration_intercept", "calibration_slope",
)  # fmt: skip
LOWER = ("error_rate", "log_loss", "brier", "cost")
"""The measures of which less is better."""


def names_for(classes: int) -> tuple[str, ...]:
    """The names of the measures of so many classes, in the order in which they are shown."""
    known = GENERAL | (OF_TWO if classes == 2 else OF_MANY)
    return tuple(name for name in ORDER if name in known)


def measures(
    given: Predictions, names: Sequence[str] | None = None, *, level: float = 0.95, seed: int = 0,
    costs: Costs | None = None,
) -> tuple[Measure, ...]:  # fmt: skip
    """The measures of predictions, all or those that are named; none fails: one without a value says why."""
    checked_level(level)
    wanted = names_for(len(given.classes)) if names is None else tuple(as_name(n, len(given.classes)) for n in names)
    known = GENERAL | (OF_TWO if len(given.classes) == 2 else OF_MANY)
    found = [known[name](given, level, seed) for name in wanted]
    if costs is not None and len(given.classes) == 2:
        found.append(probability.cost(given, level, costs))
    return noted(given, found)


def by_class(given: Predictions, *, level: float = 0.95) -> tuple[Measure, ...]:
    """Sensitivity, specificity, precision and F1 of each class against the rest."""
    checked_level(level)
    found = [
        find(given, level, k, str(name)) for k, name in enumerate(given.classes) for find in BY_CLASS.values()
    ]  # fmt: skip
    return noted(given, found)


def noted(given: Predictions, found: Sequence[Measure]) -> tuple[Measure, ...]:
    """The measures, with a note where predictions are out of fold: models that share rows are not independent."""
    note = f"out-of-fold predictions of {given.folds} folds, taken as independent"
    return tuple(one.noted(note) if given.folds else one for one in found)


def as_name(name: str, classes: int, more: Sequence[str] = ()) -> str:
    """The name as it is written here; a ValueError suggests what may have been meant."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    plain = ALIASES.get(plain, plain)
    known = (*names_for(classes), *more)
    if plain in known:
        return plain
    near = get_close_matches(plain, [*known, *ALIASES], 1)
    hint = f" Did you mean {ALIASES.get(near[0], near[0])!r}?" if near else ""
    of = "two classes" if classes == 2 else f"{classes} classes"
    if plain in ORDER:
        raise SettingError("measure", name, f"Those are: {', '.join(known)}.", f"{name!r} is not a measure of {of}.")
    needed = f"The measures of {of} are: {', '.join(known)}."
    raise SettingError("measure", name, needed, f"There is no measure {name!r}.{hint}")


# What is required of a model, as it is typed: "auc>=0.8", "log_loss.high<0.5", "sensitivity[yes]>=0.9".

GRAMMAR = re.compile(
    r"\s*(?P<name>[A-Za-z][\w \-]*?)\s*(?:\[(?P<of>[^\]]*)\])?\s*(?:\.\s*(?P<end>[A-Za-z]+))?\s*"
    r"(?P<sign>>=|<=|≥|≤|>|<)\s*(?P<bound>[^\s<>=]+)\s*",
)
SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
PLAIN = {"≥": ">=", "≤": "<="}
ENDS = ("value", "low", "high")
EXAMPLES = "such as auc>=0.8, auc.low>=0.8 (the lower end of its interval) or sensitivity[yes]>=0.9"


@dataclass(frozen=True)
class Requirement:
    """A measure, or an end of its interval, and what it must be."""

    text: str
    name: str
    of: str
    end: str
    sign: str
    bound: float


@dataclass(frozen=True)
class Check:
    """Whether a requirement is met, by how much, in a sentence."""

    requirement: Requirement
    value: float | None
    met: bool
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        asked = self.requirement
        by = None if self.value is None else abs(self.value - asked.bound)
        return {"requirement": asked.text, "measure": asked.name, "of": asked.of or None, "end": asked.end,
                "sign": asked.sign, "bound": asked.bound, "value": self.value, "met": self.met, "by": by,
                "sentence": self.sentence}  # fmt: skip


def parsed(text: str, classes: Sequence[Any], more: Sequence[str] = ()) -> Requirement:
    """name [class] .end sign number; a SettingError says what is wrong with it."""
    found = GRAMMAR.fullmatch(text)
    if found is None:
        hint = " For equality there is no sign: give two." if "=" in text and not re.search("[<>]", text) else ""
        raise _wrong(text, f"is not a requirement.{hint} Give a measure, a sign and a number, {EXAMPLES}.")
    end = (found["end"] or "value").lower()
    if end not in ENDS:
        raise _wrong(text, f"names .{end}; a measure has .value, .low and .high.")
    of = (found["of"] or "").strip()
    if found["of"] is not None:
        name = as_name(found["name"], 2)
        if name not in BY_CLASS or of not in map(str, classes):
            raise _wrong(
                text,
                f"names {of!r} of {name}, which is not known: in brackets stands a class, one of "
                f"{', '.join(map(str, classes))}, of {', '.join(BY_CLASS)}.",
            )
    else:
        name = as_name(found["name"], len(classes), more)
    return Requirement(text, name, of, end, PLAIN.get(found["sign"], found["sign"]), _number(found["bound"], text))


def _wrong(text: str, why: str) -> SettingError:
    return SettingError("require", text, "", f"{text!r} {why}")


def checked(asked: Requirement, found: Sequence[Measure]) -> Check:
    """Whether the measures meet the requirement; one that has no value, or no interval, does not."""
    one = next((m for m in found if m.name == asked.name and m.of == asked.of), None)
    if one is None:
        raise _wrong(asked.text, f"names {asked.name}, which is not among the measures that were found.")
    value = {"value": one.value, "low": one.low, "high": one.high}[asked.end]
    what = one.label if asked.end == "value" else f"{one.label}.{asked.end}"
    if value is None:
        return Check(asked, None, False, f"{asked.text}: not met, as {what} has no value: {one.why}.")
    met, by = SIGNS[asked.sign](value, asked.bound), abs(value - asked.bound)
    if met:
        return Check(asked, value, True, f"{asked.text}: met. {what} is {value:.6g}, with {by:.3g} to spare.")
    missing = f"{by:.3g} too {'low' if asked.sign.startswith('>') else 'high'}" if by else "not beyond the bound"
    return Check(asked, value, False, f"{asked.text}: not met. {what} is {value:.6g}, {missing}.")


def _number(text: str, whole: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise _wrong(whole, f"has the bound {text!r}, which is not a number. Give a bound {EXAMPLES}.") from None
    if not math.isfinite(number):
        raise _wrong(whole, f"has the bound {text}; give a finite number.")
    return number


# Measures of parts of the rows, and whether a part differs from the rest.


@dataclass(frozen=True)
class GroupMeasures:
    """The rows of one group: how many, their measures, and each measure less that of all other rows."""

    group: str
    rows: int
    counts: tuple[int, ...]
    """How many rows of each class."""
    measures: tuple[Measure, ...]
    differences: tuple[Measure, ...]

    @property
    def flagged(self) -> tuple[Measure, ...]:
        """The differences whose interval leaves zero out."""
        return tuple(
            d for d in self.differences if d.low is not None and d.high is not None and (d.low > 0 or d.high < 0)
        )

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"group": self.group, "rows": self.rows, "counts": list(self.counts),
                "measures": [one.to_dict() for one in self.measures],
                "differences": [{**one.to_dict(), "flagged": one in self.flagged} for one in self.differences],
                }  # fmt: skip


def by_group(
    given: Predictions,
    codes: Indices,
    groups: Sequence[str],
    names: Sequence[str],
    *,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[GroupMeasures, ...]:
    """Each group's measures, and v − v' to all other rows by square and add of the two intervals.

    Rows whose code is negative belong to no group; they are still among the others.
    """
    parts = []
    for code, group in enumerate(groups):
        rows = codes == code
        if not rows.any():
            continue
        own, rest = (measures(_part(given, side), names, level=level, seed=seed) if side.any() else ()
                     for side in (rows, ~rows))  # fmt: skip
        counts = np.bincount(given.truth[rows], minlength=len(given.classes))
        differences = tuple(between(a, b) for a, b in zip(own, rest, strict=True)) if rest else ()
        parts.append(GroupMeasures(group, int(rows.sum()), tuple(counts.tolist()), own, differences))
    return tuple(parts)


def between(first: Measure, second: Measure) -> Measure:
    """v − v' of two measures of different rows: square and add."""

    def absent(why: str) -> Measure:
        value = None if first.value is None or second.value is None else first.value - second.value
        return Measure(first.name, value, level=first.level, better=first.better, of=first.of, why=why)

    if first.value is None or second.value is None:
        return absent(first.why or f"of the other rows: {second.why}")
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return absent(first.why or f"of the other rows: {second.why}")
    low, high = square_and_add((first.value, first.low, first.high), (second.value, second.low, second.high))
    how = "square and add of the two intervals"
    return Measure(first.name, first.value - second.value, low, high, first.level, how, first.better, first.of)


def _part(given: Predictions, rows: NDArray[np.bool_]) -> Predictions:
    """Weights that are all zero in a part leave it without rows that count."""
    part = given.of(rows & (given.w > 0)) if given.weights is not None else given.of(rows)
    return part


# Where to draw the line: what each threshold of two classes gives, and which one costs least.

SHOWN = ("sensitivity", "specificity", "precision", "f1", "accuracy")
USUAL = tuple(k / 10 for k in range(1, 10))


@dataclass(frozen=True)
class AtThreshold:
    """What the rule "positive if p ≥ threshold" gives."""

    threshold: float
    flagged: float
    """The share of the weight of all rows that is predicted to be positive."""
    measures: tuple[Measure, ...]

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"threshold": self.threshold, "flagged": self.flagged,
                "measures": [one.to_dict() for one in self.measures]}  # fmt: skip


@dataclass(frozen=True)
class Cheapest:
    """The threshold at which mistakes cost least in these rows, and what that is for a row."""

    threshold: float | None
    """None: no row is flagged; a threshold above all scores."""
    cost: float
    if_true: float | None
    """fp/(fp + fn): the threshold to take if the probabilities are true; None where there are none."""

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"threshold": self.threshold, "cost": self.cost, "if_probabilities_are_true": self.if_true}


def threshold_table(
    given: Predictions, thresholds: Sequence[float] = (), *, level: float = 0.95, seed: int = 0,
    costs: Costs | None = None,
) -> tuple[AtThreshold, ...]:  # fmt: skip
    """The measures at each threshold: by default 0.1 … 0.9, of scores without probabilities their deciles."""
    ranked = _ranked(given)
    if not thresholds:
        deciles = np.unique(np.quantile(ranked, USUAL)).tolist() if given.rows else []
        thresholds = USUAL if given.probabilities is not None else deciles
    found = []
    for threshold in thresholds:
        there = given.at(threshold)
        flagged = float(given.w @ (there.chosen == given.positive) / given.w.sum()) if given.rows else 0.0
        found.append(
            AtThreshold(float(threshold), flagged, measures(there, SHOWN, level=level, seed=seed, costs=costs))
        )
    return tuple(found)


def cheapest(given: Predictions, costs: Costs) -> Cheapest:
    """minₜ (fp Σw 1[p ≥ t, y = 0] + fn Σw 1[p < t, y = 1]) / Σw over the t that rows have; the highest of equals."""
    ranked = _ranked(given)
    yes = given.truth == given.positive
    levels, place = np.unique(-ranked, return_inverse=True)
    alarms, found = (np.cumsum(np.bincount(place, given.w * side, len(levels))) for side in (~yes, yes))
    missed = float(given.w @ yes)
    total = np.append(
        costs.false_negative * missed, costs.false_positive * alarms + costs.false_negative * (missed - found)
    )
    # Sums of weights are rounded: what is equal but for the last digits is equal, and fewer alarms are taken.
    best = int(np.flatnonzero(total <= total.min() + 1e-12 * total.max())[0])
    threshold = None if best == 0 else float(-levels[best - 1])
    if_true = costs.threshold if given.probabilities is not None else None
    return Cheapest(threshold, max(float(total[best] / given.w.sum()), 0.0), if_true)


def _ranked(given: Predictions) -> Floats:
    given.at(0.0)  # which says what is missing, if something is
    ranked = given.ranking if given.probabilities is None else given.probabilities[:, given.positive]
    assert ranked is not None
    return ranked
