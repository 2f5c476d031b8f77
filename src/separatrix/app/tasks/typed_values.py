"""Texts after options, and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..cli.answer import UsageError


def _flag(text: str) -> bool:
    values = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if text.lower() not in values:
        raise ValueError("true or false")
    return values[text.lower()]


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("a whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("a number") from None


def _number_or_text(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _numbers_or_text(text: str) -> list[float] | str:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return text


def _by_class(text: str) -> dict[str, float] | str:
    """'yes=2,no=1' as a number for each class; a text without '=' is a text."""
    if "=" not in text:
        return text
    pairs = [part.rpartition("=") for part in text.split(",")]
    try:
        return {label.strip(): float(value) for label, _, value in pairs}
    except ValueError:
        raise ValueError("a word, or a number for each class, such as yes=2,no=1") from None


def _by_column(text: str) -> Any:
    """'age=gaussian,*=bernoulli' as a family for each column, * standing for all others."""
    if "=" not in text:
        return text
    pairs = [part.rpartition("=") for part in text.split(",")]
    return {... if name.strip() == "*" else name.strip(): family.strip() for name, _, family in pairs}


KINDS: dict[str, Callable[[str], Any]] = {
    "averaged": _flag, "averaging": _flag, "fit_intercept": _flag, "last_half": _flag, "lifted": _flag,
    "ratchet": _flag,
    "budget": _whole, "degree": _whole, "n_threads": _whole, "patience": _whole, "starts": _whole,
    "constant": _number, "gamma": _number, "max_passes": _number, "smoothing": _number, "threshold": _number,
    "time_limit": _number, "tol": _number, "learning_rate": _number,
    "l2": _number_or_text, "shrinkage": _number_or_text,
    "init": _numbers_or_text, "priors": _numbers_or_text,
    "class_weight": _by_class, "prior": _by_class,
    "families": _by_column,
    "covariance": str, "kernel": str, "loss": str, "multiclass": str, "objective": str, "order": str, "overflow": str,
    "reading": str, "solver": str, "ties": str, "variance": str,
    "classifiers": str, "code": str, "decide": str, "probabilities": str,
}  # fmt: skip
"""How the text of a parameter is read, whichever learner has it; 'none' is None. Choices the learner checks itself."""
FLAGS = frozenset(name for name, read in KINDS.items() if read is _flag)


def value_of(parameter: str, given: str | bool) -> Any:
    """What the text after an option means."""
    if isinstance(given, bool):
        return given
    read = KINDS[parameter]
    if given.lower() == "none" and read is not _flag:
        return None
    try:
        return read(given)
    except ValueError as need:
        raise UsageError(f"{option(parameter)} is {given!r}; it must be {need}.") from None


def option(parameter: str) -> str:
    """max_passes as it is typed: --max-passes."""
    return "--" + parameter.replace("_", "-")
