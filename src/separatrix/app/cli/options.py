"""Options that commands share: how a table is read, and how the command talks."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields, make_dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from cyclopts import Group, Parameter

from ..tasks.learners import LEARNERS, OPTIONS, REDUCTIONS, Option

READING, TALKING = Group("How the table is read", sort_key=1), Group("How the command talks", sort_key=2)


@Parameter(name="*")
@dataclass(frozen=True)
class Reading:
    """What the user says about a table."""

    format: Annotated[
        Literal["csv", "tsv", "jsonl", "json", "parquet", "libsvm", "npy"] | None, Parameter(group=READING)
    ] = None
    """The format, where the name of the file does not tell."""
    number: Annotated[tuple[str, ...], Parameter(group=READING, consume_multiple=False)] = ()
    """Read this column as numbers. May be repeated, here and below."""
    category: Annotated[tuple[str, ...], Parameter(group=READING, consume_multiple=False)] = ()
    """Read this column as levels."""
    drop: Annotated[tuple[str, ...], Parameter(group=READING, consume_multiple=False)] = ()
    """Leave this column out."""
    na: Annotated[tuple[str, ...], Parameter(group=READING, consume_multiple=False)] = ()
    """A text that stands for a missing value, besides the empty cell."""
    where: Annotated[str | None, Parameter(group=READING)] = None
    """Only rows for which this SQL condition holds: --where "age >= 18"."""
    sample: Annotated[int | None, Parameter(group=READING)] = None
    """Only so many rows, drawn at random (see --seed)."""
    header: Annotated[bool | None, Parameter(group=READING)] = None
    """Whether the first line names the columns. Without one they are x0, x1, …; a first line that looks like data is
    an error until one of the two is said."""
    encoding: Annotated[str | None, Parameter(group=READING)] = None
    """How the letters of a text file are encoded, if not in UTF-8: latin-1, cp1252, utf-16."""
    decimal: Annotated[Literal[".", ","], Parameter(group=READING)] = "."
    """The decimal sign of a text table."""


@Parameter(name="*")
@dataclass(frozen=True)
class KnownTable:
    """What the user says about a table; what its columns are is the model's to say."""

    format: Annotated[
        Literal["csv", "tsv", "jsonl", "json", "parquet", "libsvm", "npy"] | None, Parameter(group=READING)
    ] = None
    """The format, where the name of the file does not tell."""
    na: Annotated[tuple[str, ...], Parameter(group=READING, consume_multiple=False)] = ()
    """A text that stands for a missing value, besides the empty cell; by default those of the fit. May be repeated."""
    where: Annotated[str | None, Parameter(group=READING)] = None
    """Only rows for which this SQL condition holds: --where "age >= 18"."""
    sample: Annotated[int | None, Parameter(group=READING)] = None
    """Only so many rows, drawn at random (see --seed)."""
    header: Annotated[bool | None, Parameter(group=READING)] = None
    """Whether the first line names the columns; by default as at the fit, where the files are of the same kind."""
    encoding: Annotated[str | None, Parameter(group=READING)] = None
    """How the letters of a text file are encoded, if not in UTF-8: latin-1, cp1252, utf-16; by default as
    at the fit, where the files are of the same kind."""
    decimal: Annotated[Literal[".", ","] | None, Parameter(group=READING)] = None
    """The decimal sign of a text table; by default as at the fit, where the files are of the same kind."""

    def reading(self, model: Any) -> Reading:
        """How a table is read whose columns a model knows."""
        from ..tasks.saved import model_columns

        own = {each.name: getattr(self, each.name) for each in fields(self)} | {"decimal": self.decimal or "."}
        return Reading(**own, number=model_columns(model, "number"), category=model_columns(model, "category"))


@Parameter(name="*")
@dataclass(frozen=True)
class Talking:
    """How a command talks."""

    json: Annotated[bool, Parameter(group=TALKING, negative="")] = False
    """Print the answer as JSON (separatrix schema COMMAND describes it)."""
    quiet: Annotated[bool, Parameter(group=TALKING, negative="")] = False
    """No words on stderr but warnings and errors."""
    progress: Annotated[Literal["auto", "always", "never"], Parameter(group=TALKING)] = "auto"
    """The progress bar: on a terminal, always, or never."""
    no_color: Annotated[bool, Parameter(group=TALKING, negative="")] = False
    """No colours; NO_COLOR in the environment says the same."""
    seed: Annotated[int, Parameter(group=TALKING)] = 0
    """The seed of all that is random: the same seed, the same bytes."""


Options = TypeVar("Options")


def as_at_the_fit(options: Options, model: Any, data: tuple[str, ...]) -> tuple[Options, str]:
    """The options, completed by what the model remembers; and a sentence about that, if anything was added."""
    from ..tasks.saved import kept_reading

    kept = kept_reading(model, data)
    added = {name: value for name, value in kept.items() if getattr(options, name) in ((), None)}
    if not added:
        return options, ""
    words = shlex.join(word for name, value in added.items() for word in _typed(name, value))
    return replace(options, **added), f"The table is read as at the fit: {words}."  # type: ignore[type-var]


def _typed(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [f"--{name}" if value else f"--no-{name}"]
    return [word for each in (value if isinstance(value, tuple) else (value,)) for word in (f"--{name}", str(each))]


# The parameters of all learners as options: each learner takes its own, and says of the others whose they are.

LEARNING, REDUCING = Group("The learner's parameters", sort_key=0), Group("The reduction's parameters", sort_key=0)


@dataclass(frozen=True)
class Parameters:
    """What is not given is the learner's own default; 'none' is nothing."""

    def given(self) -> dict[str, str | bool]:
        """Those that were typed."""
        return {name: value for name, value in vars(self).items() if value is not None}


def _field(name: str, option: Option) -> tuple[str, Any, Any]:
    """A field without a value: a flag or a text, which the learner's own reader reads."""
    kind = bool if option.kinds == ("flag",) else str
    group = LEARNING if any(name in each.defaults for each in LEARNERS.values()) else REDUCING
    return name, Annotated[kind | None, Parameter(group=group, help=option.help, show_default=False)], None


if TYPE_CHECKING:
    LearnerName = str
    ReductionName = str
    LearnerOptions = Parameters
else:
    LearnerName = Literal[tuple(LEARNERS)]
    ReductionName = Literal[tuple(REDUCTIONS)]
    LearnerOptions = Parameter(name="*")(make_dataclass(
        "LearnerOptions", [_field(name, each) for name, each in OPTIONS.items()], bases=(Parameters,), frozen=True,
        namespace={"__module__": __name__},
    ))  # fmt: skip
