"""What is required of a model, as it is typed: "auc>=0.8", "log_loss.high<0.5", "sensitivity[yes]>=0.9"."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import SettingError
from .intervals import Measure
from .measures import BY_CLASS, as_name

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
