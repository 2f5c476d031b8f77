"""A number that says how good predictions are, how sure it is, and how that was found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

Better = Literal["higher", "lower", "nearer 0", "nearer 1"]


class Interval(NamedTuple):
    """From low to high, and in words how it was found; without ends `why` says why there are none."""

    low: float | None
    high: float | None
    method: str
    why: str = ""


@dataclass(frozen=True)
class Measure:
    """A measure of predictions. Where it has no value, or no interval, `why` says the reason."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    method: str = ""
    better: Better = "higher"
    of: str = ""
    """The class that it is about, where it is about one of more than two."""
    why: str = ""

    @property
    def label(self) -> str:
        """The name, and the class in brackets: 'sensitivity[setosa]'."""
        return f"{self.name}[{self.of}]" if self.of else self.name

    def gain(self, other: float) -> float:
        """How much better the value is than another number; above zero is better."""
        assert self.value is not None
        signs = {"higher": self.value - other, "lower": other - self.value}
        aims = {"nearer 0": abs(other) - abs(self.value), "nearer 1": abs(other - 1) - abs(self.value - 1)}
        return {**signs, **aims}[self.better]

    def noted(self, note: str) -> Measure:
        """The same, with a note after the method."""
        return replace(self, method=f"{self.method}; {note}") if self.method else self

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"name": self.name, "of": self.of or None, "value": self.value, "low": self.low, "high": self.high,
                "level": self.level, "method": self.method or None, "better": self.better,
                "why": self.why or None}  # fmt: skip

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.label}: {self.why}"
        ends = "" if self.low is None or self.high is None else f" ({self.low:.4g} … {self.high:.4g})"
        return f"{self.label} {self.value:.4g}{ends}"


def checked_level(level: float) -> float:
    """The level of an interval, between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level is {level!r}; give a number between 0 and 1, such as 0.95.")
    return float(level)


def quantile(level: float) -> float:
    """z with P(|Z| ≤ z) = level, Z standard normal."""
    return NormalDist().inv_cdf((1 + checked_level(level)) / 2)
