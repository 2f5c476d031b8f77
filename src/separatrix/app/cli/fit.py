"""`separatrix fit`: a learner is taught a table, and the model is saved with its verdict."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ..tasks.learners import (
    LEARNERS,
    REDUCTIONS,
    Learner,
    class_of,
    learner_named,
    learner_of,
    parameters_of,
    reduction_of,
)
from .answer import DONE, INTERRUPTED, NOT_OPTIMAL, Answer, UsageError
from .files import check_output
from .learner_options import LearnerName, LearnerOptions
from .options import READING, Reading, Talking

if TYPE_CHECKING:
    from ..tasks.lesson import Lesson


@dataclass(frozen=True)
class Asked:
    """What the command line asks to be learnt."""

    data: tuple[str, ...]
    target: str
    learner: str
    output: str
    weights: str | None
    group: str | None
    missing: Literal["error", "impute"]
    standardise: bool
    reduction: str | None
    features: str | None
    cv: int | None
    given: dict[str, str | bool]
    reading: Reading
    seed: int

    @property
    def known(self) -> Learner:
        """What is known of the learner."""
        return LEARNERS[self.learner]

    @property
    def parameters(self) -> tuple[dict[str, str | bool], dict[str, str | bool]]:
        """Those of the learner, and those of the reduction."""
        outer = REDUCTIONS[self.reduction].defaults if self.reduction else {}
        return (
            {name: value for name, value in self.given.items() if name not in outer},
            {name: value for name, value in self.given.items() if name in outer},
        )

    @property
    def thin(self) -> bool:
        """Whether the learner may be given rows without zeros: Newton's method for two classes reads them."""
        return (
            self.learner == "logistic" and self.reduction is None and self.features is None
            and self.given.get("objective", "likelihood") == "likelihood"
            and self.given.get("solver", "auto") in ("auto", "newton")
        )  # fmt: skip

    def made(self) -> Any:
        """The learner, not yet taught."""
        from .teaching import with_features

        own, outer = self.parameters
        estimator = learner_of(self.learner, own, seed=self.seed)
        if self.features is not None:
            with_features(estimator, self.features, self.learner)
        return reduction_of(self.reduction, estimator, outer, seed=self.seed) if self.reduction else estimator


def fit(
    *data: str,
    target: Annotated[str | None, Parameter(group=READING)] = None,
    learner: LearnerName = "logistic",
    output: Annotated[str, Parameter(name=["--output", "-o"])] = "model.json",
    weights: Annotated[str | None, Parameter(group=READING)] = None,
    group: Annotated[str | None, Parameter(group=READING)] = None,
    missing: Annotated[Literal["error", "impute"], Parameter(group=READING)] = "error",
    standardise: Annotated[bool, Parameter(negative="")] = False,
    reduction: Literal["one-vs-rest", "one-vs-one", "output-code"] | None = None,
    features: str | None = None,
    cv: int | None = None,
    strict: Annotated[bool, Parameter(negative="")] = False,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    options: LearnerOptions = LearnerOptions(),
    reading: Reading = Reading(),
    talking: Talking = Talking(),
) -> Answer:
    """Fit a learner to a table, and save the model.

    How the fit ended is said on stderr, with what proves it and what to do if it is not optimal. One Ctrl-C ends the
    step and saves the model, marked interrupted; exit status 130.

    Parameters
    ----------
    data
        Files, or - for what is piped in.
    target
        The column to be predicted.
    learner
        Who learns.
    output
        The file of the model; one that is there is replaced.
    weights
        The column with the weight of each row.
    group
        Rows of a group stay together in the folds of --cv; the column is not learnt from.
    missing
        What is done about missing values: an error, or the mean or the most frequent level, with an indicator.
    standardise
        Give number columns the mean 0 and the standard deviation 1 first.
    reduction
        Learn more than two classes by several classifiers of two.
    features
        What logistic is linear in, if not in the columns: polynomial:2, interactions, standardise,polynomial:3.
    cv
        Measure out of so many folds how well new rows would be predicted.
    strict
        Exit status 4 unless the fit reached what it set out for; the model is saved all the same.
    dry_run
        Show how each column would be read, and fit nothing.
    options
        The learner's parameters.
    reading
        How the table is read.
    talking
        How the command talks.
    """
    asked = _checked(Asked(
        data, target or "", learner_named(learner)[0], output, weights, group, missing, standardise, reduction,
        features, cv, options.given(), reading, talking.seed,
    ))  # fmt: skip
    return _shown(asked, talking) if dry_run else _learnt(asked, strict, talking)


def _checked(asked: Asked) -> Asked:
    """All that can be found wrong before the table is read."""
    if not asked.target:
        named = " ".join(asked.data) or "FILE"
        raise UsageError(
            "fit needs to know which column is to be predicted: --target COLUMN.\n"
            f"  see the columns: separatrix schema {named}"
        )
    own, _ = asked.parameters
    parameters_of(asked.learner, own)
    special = [name for name in (asked.target, asked.weights, asked.group) if name is not None]
    if len(set(special)) < len(special):
        raise UsageError("--target, --weights and --group name the same column: each needs its own.")
    if asked.cv is not None and asked.cv < 2:
        raise UsageError(f"--cv is {asked.cv}; it must be 2 folds or more.")
    if asked.weights is not None:
        from .teaching import check_weights

        check_weights(asked.learner, asked.known)
    check_output(asked.output, asked.data, "model.json")
    return asked


def _shown(asked: Asked, talking: Talking) -> Answer:
    """How the columns would be read."""
    from .schema import schema

    found = schema(
        *asked.data, target=asked.target, weights=asked.weights, group=(asked.group,) if asked.group else (),
        reading=asked.reading, talking=talking,
    )  # fmt: skip
    data = {**found.data, "command": "fit", "dry_run": True}
    return Answer(data, text=found.text, words=f"{found.words} Nothing was fitted.", next=found.next)


def _learnt(asked: Asked, strict: bool, talking: Talking) -> Answer:
    from .tables import decisions_of, let_go, opened

    with ExitStack() as stack:
        table = stack.enter_context(opened(
            asked.data, asked.reading, talking, _import_meanwhile(asked.known), fingerprint=True
        ))  # fmt: skip
        from ..tasks.fit_facts import Outcome, rows_of_rule, table_facts, training_facts
        from ..tasks.lesson import lesson_of
        from .teaching import teach

        decisions = decisions_of(
            table,
            asked.reading,
            target=asked.target,
            weights=asked.weights,
            group=(asked.group,) if asked.group else (),
        )
        if asked.cv is None:
            let_go(table, decisions)
        lesson = lesson_of(
            table, decisions, target=asked.target, weights=asked.weights, group=asked.group, missing=asked.missing,
            standardise=asked.standardise, thin=asked.thin,
        )  # fmt: skip
        facts = table_facts(table)
        if asked.cv is None:
            stack.close()  # what the table holds is free before the fit needs it
        estimator = asked.made()
        teach(estimator, asked.known, lesson, talking, reduced=asked.reduction is not None)
        interrupted = estimator.verdict_.status == "interrupted"
        crossed = _crossed(table, lesson, asked, talking) if asked.cv is not None and not interrupted else None
    from ..models.file import write
    from ..models.from_learner import model_of
    from .fit_words import answer_of

    outcome = Outcome(estimator, lesson, facts, crossed, interrupted)
    replaced = Path(asked.output).exists()
    training = training_facts(asked, outcome)
    model = model_of(
        estimator, encoding=lesson.encoding, training=training, interrupted=interrupted,
        X=rows_of_rule(outcome), sample_weight=lesson.weights,
    )  # fmt: skip
    write(model, asked.output)
    failed = strict and not estimator.verdict_.ok
    status = INTERRUPTED if interrupted else NOT_OPTIMAL if failed else DONE
    return answer_of(asked, outcome, model, replaced=replaced, status=status)


def _import_meanwhile(learner: Learner) -> Callable[[object], None]:
    """What imports a learner in a thread as duckdb begins to read; whoever needs it meanwhile waits for it."""

    def work() -> None:
        from ..tasks import lesson  # noqa: F401

        class_of(learner)

    return lambda _: threading.Thread(target=work, name="separatrix-imports").start()


def _crossed(table: Any, lesson: Lesson, asked: Asked, talking: Talking) -> Any:
    from ..tasks.crossing import crossed

    assert asked.cv is not None
    return crossed(table, lesson, asked, asked.cv, talking)
