"""Why inference gives no numbers, in sentences."""

from __future__ import annotations

from typing import Any

from ..results.verdict import listed
from ..wording import call, has, setting


def unfinished(status: str) -> str:
    """The fit did not come to its end."""
    return (
        f"The fit ended as {status!r}, so the weights are not the maximum of the likelihood: fit it to its end "
        "(verdict_ says how)."
    )


def _firth(two: bool) -> str:
    """Where Firth's likelihood helps, and of how many classes."""
    return setting("objective", "firth") + ("" if two else " for two of the classes at a time")


def separated(*, two: bool) -> str:
    """All probabilities tend to 0 and 1."""
    return (
        f"The classes are separated: the likelihood has no maximum and the weights no finite spread. Fit with "
        f"{_firth(two)}, whose profile intervals are valid, or see {call('separability(X, y)')}."
    )


def quasi_separated(names: tuple[str, ...], *, two: bool) -> str:
    """Some coefficients tend to infinity."""
    which = f" ({listed(names)})" if names else ""
    return (
        f"The classes are quasi-separated: some coefficients are infinite{which}, and a covariance of the others would "
        f"leave that out. Fit with {_firth(two)}, whose profile intervals are valid, or drop or merge what is to blame."
    )


def nothing_left() -> str:
    """The curvature is gone in some direction."""
    return "Where weights grow for ever nothing of the information is left, so there is no covariance to be forced."


def penalised(l2: float, *, two: bool) -> str:
    """The weights are shrunk."""
    return (
        f"The weights are shrunk by l2 = {l2:g}: they are biased by an unknown amount, which no interval around them "
        f"accounts for. Fit with {setting('l2', 0)}, or with {_firth(two)}."
    )


def dependent(names: tuple[str, ...]) -> str:
    """Some columns are combinations of others."""
    one = len(names) == 1
    verb, its = ("is a combination", "its weight is") if one else ("are combinations", "their weights are")
    them = "it" if one else "them"
    return f"{listed(names)} {verb} of other columns, so {its} not determined: leave {them} out."


def nearly_dependent() -> str:
    """Rounding hides what columns have of their own."""
    return "Columns are so nearly combinations of others that rounding hides their own part: leave one of them out."


def few_events(label: Any, events: float, parameters: int, least: int, *, two: bool) -> str:
    """The approximation by a normal distribution is poor."""
    how = ", interval(method='profile')" if has("interval") else ""
    return (
        f"The rarest class, {label!r}, has {events:g} rows for {parameters} coefficients, fewer than {least} for each: "
        "the estimates are biased away from zero, and their spread is not the one that large samples have. Use fewer "
        f"columns, or {_firth(two)} and its profile intervals{how}."
    )


def _robust(firth: bool) -> str:
    robust = setting("covariance", "robust")
    return f"Use {setting('objective', 'likelihood')} with {robust}" if firth else f"Use {robust}"


def weights_are_no_counts(row: int, weight: float, *, firth: bool) -> str:
    """A weight of 1.5 is no number of rows."""
    return (
        f"sample_weight[{row}] = {weight:g} is no whole number, so the weights are not numbers of rows, and the "
        f"information is not known. {_robust(firth)}, which takes weights for what each row stands for."
    )


def class_weights(*, firth: bool) -> str:
    """Rows that were weighted by class were not seen so often."""
    return (
        f"{setting('class_weight')} makes rows count for more or less than they are, so the information is not that "
        "of the rows. "
        f"{_robust(firth)}, or fit without {setting('class_weight')}."
    )


def soft_targets(*, firth: bool) -> str:
    """A probability is no outcome."""
    return (
        "The targets are probabilities that are no shares of whole numbers of rows, so the likelihood is not that of "
        f"anything observed. {_robust(firth)}."
    )
