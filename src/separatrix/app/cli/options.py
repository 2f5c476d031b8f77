"""Options that commands share: how a table is read, and how the command talks."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from cyclopts import Group, Parameter

from ..tasks.learners import LEARNERS, REDUCTIONS

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

LEARNING = Group("The learner's parameters", sort_key=0)
if TYPE_CHECKING:
    LearnerName = str
    ReductionName = str
else:
    LearnerName = Literal[tuple(LEARNERS)]
    ReductionName = Literal[tuple(REDUCTIONS)]
Text = Annotated[str | None, Parameter(group=LEARNING, show_default=False)]
Flag = Annotated[bool | None, Parameter(group=LEARNING, show_default=False)]


@Parameter(name="*")
@dataclass(frozen=True)
class LearnerOptions:
    """What is not given is the learner's own default; 'none' is nothing."""

    objective: Text = None
    """What logistic minimises: likelihood, squared, firth or flic."""
    l2: Text = None
    """The penalty (l2/2)‖w‖² beside the mean loss; of logistic also cv, chosen by cross-validation."""
    solver: Text = None
    """auto, newton, gauss-newton, lbfgs, gradient or stochastic; of least-squares closed or stochastic."""
    fit_intercept: Flag = None
    """Whether there is an intercept."""
    class_weight: Text = None
    """balanced, or a factor for each class: yes=2,no=1."""
    prior: Text = None
    """The shares of the classes that probabilities speak of: data, or yes=0.1,no=0.9."""
    priors: Text = None
    """Of discriminant and naive Bayes: equal, or a probability for each class in order: 0.3,0.7."""
    init: Text = None
    """Where the descent starts: least-squares, zero, random, or numbers: 0,0,1."""
    tol: Text = None
    """The relative gap to be proved."""
    max_passes: Text = None
    """How many times the rows may be read."""
    starts: Text = None
    """How many descents, where there may be several minima."""
    learning_rate: Text = None
    """The length of a step."""
    order: Text = None
    """How a pass takes the rows: permutation, replacement, random or cyclic."""
    averaging: Flag = None
    """Whether a stochastic descent ends with the mean of its weights."""
    patience: Text = None
    """End after so many steps without a change."""
    ties: Text = None
    """What a score of zero is: mistake, positive or negative."""
    ratchet: Flag = None
    """Of pocket: whether a rule must be better on all rows to be kept."""
    last_half: Flag = None
    """Of voted: whether only the second half of the rules vote."""
    averaged: Flag = None
    """Of joint-perceptron: whether the mean of the weights is taken."""
    loss: Text = None
    """Of joint: log or squared."""
    kernel: Text = None
    """Of kernel: linear, polynomial or rbf."""
    degree: Text = None
    """Of a polynomial kernel."""
    gamma: Text = None
    """Of a kernel: how fast it falls."""
    constant: Text = None
    """Of a polynomial kernel."""
    reading: Text = None
    """Of kernel: what predicts: last, voted or averaged."""
    budget: Text = None
    """Of kernel: how many rows may be kept."""
    overflow: Text = None
    """Of kernel: what happens to a row over the budget."""
    multiclass: Text = None
    """Of kernel: how more than two classes are learnt."""
    covariance: Text = None
    """Of discriminant: shared or own."""
    shrinkage: Text = None
    """Of discriminant: ledoit-wolf, or a number between 0 and 1."""
    families: Text = None
    """Of naive-bayes: gaussian, bernoulli, poisson …, or by column: age=gaussian,*=bernoulli."""
    variance: Text = None
    """Of Gaussian naive Bayes: own or shared."""
    smoothing: Text = None
    """Of naive Bayes: rows that are added."""
    threshold: Text = None
    """Of Bernoulli naive Bayes: what is above it is one."""
    lifted: Flag = None
    """Of margin: whether the intercept counts in the norm."""
    time_limit: Text = None
    """Of zero-one: seconds."""
    classifiers: Text = None
    """Of the reduction one-vs-rest: K or K-1."""
    decide: Text = None
    """Of the reductions one-vs-one and output-code: votes or scores."""
    probabilities: Text = None
    """Of the reductions one-vs-rest and one-vs-one: how probabilities are made."""
    code: Text = None
    """Of the reduction output-code: dense, sparse …"""
    n_threads: Text = None
    """How many threads; the answer has the same bits for any number."""

    def given(self) -> dict[str, str | bool]:
        """Those that were typed."""
        pairs = ((entry.name, getattr(self, entry.name)) for entry in fields(self))
        return {name: value for name, value in pairs if value is not None}
