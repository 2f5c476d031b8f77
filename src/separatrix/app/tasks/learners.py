"""Learners by name, with their parameters as texts: a table, so that nothing is imported too early."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...errors import SettingError
from ...wording import setting
from ..tables.errors import did_you_mean
from . import learner_table


@dataclass(frozen=True)
class Learner:
    """What is known of a learner before it is imported."""

    home: str
    """The class of separatrix."""
    defaults: Mapping[str, Any]
    """Its parameters that can be given as options, with what they are if they are not."""
    beside: tuple[str, ...]
    """What else its constructor and its `fit` take."""
    course: str
    """The method that a fit is watched by: see `Card`."""


class Option(NamedTuple):
    """What is known of a parameter, whichever learner has it."""

    kinds: tuple[str, ...]
    """Of values, in the order in which a text is tried."""
    help: str
    """For the command line."""


LEARNERS = {name: Learner(*row) for name, row in learner_table.LEARNERS.items()}
REDUCTIONS = {name: Learner(*row) for name, row in learner_table.REDUCTIONS.items()}
OPTIONS = {name: Option(*row) for name, row in learner_table.OPTIONS.items()}


def _flag(text: str) -> bool:
    values = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    return values[text.lower()]


def _word(text: str) -> str:
    if "=" in text:
        raise ValueError
    return text


def _numbers_by_class(text: str) -> dict[str, float]:
    return {label.strip(): float(value) for label, _, value in (part.rpartition("=") for part in text.split(","))}


def _words_by_column(text: str) -> dict[Any, str]:
    """By the names of columns, * standing for all others."""
    _, equals, _ = text.partition("=")
    if not equals:
        raise ValueError
    pairs = [part.rpartition("=") for part in text.split(",")]
    return {... if name.strip() == "*" else name.strip(): word.strip() for name, _, word in pairs}


READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "flag": ("true or false", _flag),
    "count": ("a whole number", int),
    "number": ("a number", float),
    "numbers": ("numbers, such as 0.3,0.7", lambda text: [float(part) for part in text.split(",")]),
    "numbers-by-class": ("a number for each class, such as yes=2,no=1", _numbers_by_class),
    "words-by-column": ("a word for each column, such as age=gaussian,*=bernoulli", _words_by_column),
    "word": ("a word", _word),
}
"""Each kind of value: what a text must be, and what it means."""


def value_of(parameter: str, given: str | bool) -> Any:
    """What the text of a parameter means; 'none' is None. Choices the learner checks itself."""
    if isinstance(given, bool):
        return given
    kinds = OPTIONS[parameter].kinds
    if given.lower() == "none" and kinds != ("flag",):
        return None
    for kind in kinds:
        with suppress(ValueError, KeyError):
            return READERS[kind][1](given)
    raise SettingError(parameter, given, f"it must be {' or '.join(READERS[kind][0] for kind in kinds)}.")


def learner_named(name: str) -> tuple[str, Learner]:
    """The learner, also by the name of its class; an unknown name is answered with the nearest ones."""
    key = name.strip().lower().replace("_", "-")
    classes = {learner.home.lower(): known for known, learner in LEARNERS.items()}
    key = classes.get(key, key)
    if key not in LEARNERS:
        raise SettingError("learner", name, f"There are {', '.join(LEARNERS)}.",
                           _asking(f"There is no learner {name!r}.", key, LEARNERS))  # fmt: skip
    return key, LEARNERS[key]


def parameters_of(name: str, given: Mapping[str, str | bool]) -> dict[str, Any]:
    """The parameters of a learner, read from texts; one that it does not have is an error that says who has it."""
    key, learner = learner_named(name)
    return _read(f"The learner {key!r}", learner, given)


def learner_of(name: str, parameters: Mapping[str, str | bool] | None = None, *, seed: int = 0) -> Any:
    """The learner of this name, not yet taught, with parameters as texts."""
    key, learner = learner_named(name)
    return _made(learner, parameters_of(key, parameters or {}), seed)


def reduction_of(
    name: str, estimator: Any, parameters: Mapping[str, str | bool] | None = None, *, seed: int = 0
) -> Any:
    """K classes by several classifiers of two."""
    if name not in REDUCTIONS:
        raise SettingError("reduction", name, f"There are {', '.join(REDUCTIONS)}.",
                           _asking(f"There is no reduction {name!r}.", name, REDUCTIONS))  # fmt: skip
    read = _read(f"The reduction {name!r}", REDUCTIONS[name], parameters or {})
    return _made(REDUCTIONS[name], {"estimator": estimator, **read}, seed)


def class_of(learner: Learner) -> Any:
    """The class itself, imported."""
    import separatrix

    return getattr(separatrix, learner.home)


def check_weights(name: str) -> None:
    """Only some learners know weights."""
    if "sample_weight" not in LEARNERS[name].beside:
        able = ", ".join(known for known, each in LEARNERS.items() if "sample_weight" in each.beside)
        raise SettingError("weights", name, f"leave {setting('weights')} out, or take one of {able}.",
                           f"The learner {name!r} knows no weights:")  # fmt: skip


def _made(learner: Learner, parameters: Mapping[str, Any], seed: int) -> Any:
    chance = {"random_state": seed} if "random_state" in learner.beside else {}
    return class_of(learner)(**parameters, **chance)


def _read(who: str, learner: Learner, given: Mapping[str, str | bool]) -> dict[str, Any]:
    found = {}
    for typed, text in given.items():
        parameter = typed.lstrip("-").replace("-", "_")
        if parameter not in learner.defaults:
            raise _not_there(who, parameter, text, learner)
        found[parameter] = value_of(parameter, text)
    return found


def _not_there(who: str, parameter: str, value: str | bool, learner: Learner) -> SettingError:
    having = [name for name, other in {**LEARNERS, **REDUCTIONS}.items() if parameter in other.defaults]
    has = ", ".join(setting(each) for each in learner.defaults)
    problem = f"{who} has no parameter {setting(parameter)}."
    if having:
        problem += f" {setting(parameter)} belongs to {', '.join(having)}."
    else:
        problem = _asking(problem, parameter, learner.defaults)
    return SettingError(parameter, value, f"It has {has}.", problem)


def _asking(sentence: str, name: str, known: Iterable[str]) -> str:
    """The sentence, and what may have been meant."""
    return f"{sentence} {did_you_mean(name, known)}".rstrip()


# ----------------------------------------------------------------------------------------------------- in a list


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


def learner_list(texts: Sequence[str]) -> tuple[Entry, ...]:
    """name, or name:parameter=value,parameter=value: after a comma a part with '=' goes on with the same learner."""
    entries: list[tuple[str, dict[str, str | bool]]] = []
    for part in (piece.strip() for text in texts for piece in text.split(",")):
        name, colon, first = part.partition(":")
        if "=" in part and not colon:
            if not entries:
                raise SettingError("learners", part, f"a name comes first, as in logistic:{part}.",
                                   f"{setting('learners')} begins with {part!r};")  # fmt: skip
            _add(entries[-1], part)
            continue
        entries.append((name, {}))
        if colon:
            _add(entries[-1], first)
    found = tuple(_entry(name, parameters) for name, parameters in entries)
    labels = [each.label for each in found]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise SettingError("learners", twice, "once is enough, as the same seed gives the same.",
                           f"{setting('learners')} has {twice!r} twice:")  # fmt: skip
    return found


def _entry(name: str, parameters: dict[str, str | bool]) -> Entry:
    key, known = learner_named(name)
    parameters_of(key, parameters)  # which says what is wrong with them
    settings = ",".join(f"{each}={value}" for each, value in parameters.items())
    return Entry(f"{key}:{settings}" if settings else key, key, known, parameters)


def _add(entry: tuple[str, dict[str, str | bool]], text: str) -> None:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise SettingError("learners", text, f"a parameter is given as in {entry[0]}:parameter=value.",
                           f"{setting('learners')} {entry[0]}:{text}:")  # fmt: skip
    entry[1][name.strip()] = value.strip()
