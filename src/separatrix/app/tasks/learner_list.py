"""Learners in a list, as they are typed: logistic,logistic:l2=0.1,naive-bayes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..cli.answer import UsageError
from .learners import Learner, learner_named, learner_of, parameters_of

BASELINE = "baseline"
"""What every comparison has beside its learners: the shares of the classes."""


class Entry(NamedTuple):
    """A learner of the list, with its parameters as they are typed."""

    label: str
    name: str
    known: Learner
    parameters: dict[str, str | bool]

    def made(self, seed: int) -> Any:
        """The learner, not yet taught."""
        return learner_of(self.name, self.parameters, seed=seed)

    def typed(self) -> list[str]:
        """Its parameters as `fit` takes them: --l2 0.1 --no-fit-intercept."""
        words: list[str] = []
        for name, value in parameters_of(self.name, self.parameters).items():
            option = name.replace("_", "-")
            flag = [f"--{option}" if value else f"--no-{option}"]
            words += flag if isinstance(value, bool) else [f"--{option}", str(self._text(name))]
        return words

    def _text(self, name: str) -> str | bool:
        return next(text for typed, text in self.parameters.items() if typed.lstrip("-").replace("-", "_") == name)


def learner_list(typed: Sequence[str]) -> tuple[Entry, ...]:
    """name, or name:parameter=value,parameter=value: after a comma a part with '=' goes on with the same learner."""
    entries: list[tuple[str, dict[str, str | bool]]] = []
    for part in (piece.strip() for text in typed for piece in text.split(",")):
        name, colon, setting = part.partition(":")
        if "=" in part and not colon:
            if not entries:
                raise UsageError(f"--learners begins with {part!r}; a name comes first, as in logistic:{part}.")
            _add(entries[-1], part)
            continue
        entries.append((name, {}))
        if colon:
            _add(entries[-1], setting)
    found = tuple(_entry(name, parameters) for name, parameters in entries)
    labels = [each.label for each in found]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise UsageError(f"--learners has {twice!r} twice: once is enough, as the same seed gives the same.")
    return found


def _entry(name: str, parameters: dict[str, str | bool]) -> Entry:
    key, known = learner_named(name)
    parameters_of(key, parameters)  # which says what is wrong with them
    settings = ",".join(f"{each}={value}" for each, value in parameters.items())
    return Entry(f"{key}:{settings}" if settings else key, key, known, parameters)


def _add(entry: tuple[str, dict[str, str | bool]], setting: str) -> None:
    name, equals, value = setting.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise UsageError(f"--learners {entry[0]}:{setting}: a parameter is given as in {entry[0]}:parameter=value.")
    entry[1][name.strip()] = value.strip()
