"""All measures of predictions, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from ...errors import SettingError
from . import calibration, confusion, probability, ranking
from .intervals import Measure, checked_level
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
