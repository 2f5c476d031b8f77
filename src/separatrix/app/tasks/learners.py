"""Learners by name, with their parameters as texts: a table, so that nothing is imported too early."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    weights: bool = False
    """Whether rows may have weights."""
    seeded: bool = False
    """Whether chance plays a part."""
    course: str = "steps"
    """The method that a fit is watched by: see `Card`."""


LEARNERS = {name: Learner(*row) for name, row in learner_table.LEARNERS.items()}
REDUCTIONS = {name: Learner(*row) for name, row in learner_table.REDUCTIONS.items()}


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


TEXTS: dict[str, Callable[[str], Any]] = {
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


def value_of(parameter: str, given: str | bool) -> Any:
    """What the text of a parameter means."""
    if isinstance(given, bool):
        return given
    read = TEXTS[parameter]
    if given.lower() == "none" and read is not _flag:
        return None
    try:
        return read(given)
    except ValueError as need:
        raise SettingError(parameter, given, f"it must be {need}.") from None


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
    if not LEARNERS[name].weights:
        able = ", ".join(known for known, each in LEARNERS.items() if each.weights)
        raise SettingError("weights", name, f"leave {setting('weights')} out, or take one of {able}.",
                           f"The learner {name!r} knows no weights:")  # fmt: skip


def _made(learner: Learner, parameters: Mapping[str, Any], seed: int) -> Any:
    chance = {"random_state": seed} if learner.seeded else {}
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
