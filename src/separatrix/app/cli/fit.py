"""`separatrix fit`: a learner is taught a table, and the model is saved with its verdict."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ... import __version__
from ...wording import setting
from ..files import check_path
from ..tables.errors import Remedy
from ..tasks.learners import (
    LEARNERS,
    REDUCTIONS,
    Learner,
    check_weights,
    class_of,
    learner_named,
    learner_of,
    parameters_of,
    reduction_of,
)
from .answer import DONE, FORMAT, INTERRUPTED, NOT_OPTIMAL, OF_THE_MODEL, Answer, UsageError, after, typed_again
from .console import table as text_table
from .options import READING, LearnerName, LearnerOptions, Reading, ReductionName, Talking
from .progress import folds_shown
from .summary import largest_weights

if TYPE_CHECKING:
    from ..models.model import Model
    from ..tasks.cross_validation import FoldMeasures
    from ..tasks.lesson import Lesson
    from ..tasks.teaching import Outcome

MOST_WEIGHTS = 8
"""Weights that are shown; all are in the JSON."""
MANY_CLASSES = 20
"""Classes from which on numbers look like a measurement."""


@dataclass(frozen=True)
class FitRequest:
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

    def made(self) -> Any:
        """The learner, not yet taught."""
        from ..tasks.teaching import with_features

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
    reduction: ReductionName | None = None,
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
        What the rule is linear in, if not in the columns: polynomial:2, interactions, standardise,polynomial:3.
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
    request = _checked(FitRequest(
        data, target or "", learner_named(learner)[0], output, weights, group, missing, standardise, reduction,
        features, cv, options.given(), reading, talking.seed,
    ))  # fmt: skip
    return _shown(request, talking) if dry_run else _learnt(request, strict, talking)


def _checked(request: FitRequest) -> FitRequest:
    """All that can be found wrong before the table is read."""
    if not request.target:
        named = " ".join(request.data) or "FILE"
        raise UsageError(
            "fit needs to know which column is to be predicted: --target COLUMN.",
            Remedy("see the columns", call=f"separatrix schema {named}"),
        )
    own, _ = request.parameters
    parameters_of(request.learner, own)
    special = [name for name in (request.target, request.weights, request.group) if name is not None]
    if len(set(special)) < len(special):
        raise UsageError("--target, --weights and --group name the same column: each needs its own.")
    if request.cv is not None and request.cv < 2:
        raise UsageError(f"--cv is {request.cv}; it must be 2 folds or more.")
    if request.weights is not None:
        check_weights(request.learner)
    check_path("output", request.output, request.data, "model.json")
    return request


def _shown(request: FitRequest, talking: Talking) -> Answer:
    """How the columns would be read."""
    from .schema import schema

    found = schema(
        *request.data, target=request.target, weights=request.weights, group=(request.group,) if request.group else (),
        reading=request.reading, talking=talking,
    )  # fmt: skip
    data = {**found.data, "command": "fit", "dry_run": True}
    return Answer(data, text=found.text, words=f"{found.words} Nothing was fitted.", next=found.next)


def _learnt(request: FitRequest, strict: bool, talking: Talking) -> Answer:
    from .tables import decisions_of, let_go, opened

    with ExitStack() as stack:
        table = stack.enter_context(opened(
            request.data, request.reading, talking, _import_meanwhile(request.known), fingerprint=True
        ))  # fmt: skip
        from ..tasks.lesson import lesson_of
        from ..tasks.places import told_of_the_table
        from ..tasks.teaching import Outcome, rows_of_rule, table_facts, teach, training_facts
        from .progress import watch

        decisions = decisions_of(
            table,
            request.reading,
            target=request.target,
            weights=request.weights,
            group=(request.group,) if request.group else (),
        )
        if request.cv is None:
            let_go(table, decisions)
        estimator = request.made()
        lesson = lesson_of(
            table, decisions, target=request.target, weights=request.weights, group=request.group,
            missing=request.missing, standardise=request.standardise, thin=getattr(estimator, "reads_levels", False),
        )  # fmt: skip
        facts = table_facts(table)
        if request.cv is None:
            table.free()  # before the fit needs the memory
        with told_of_the_table(table.place, lesson.encoding, lesson.decisions):
            teach(
                estimator, request.known, lesson, lambda steps, total: watch(steps, talking, total),
                reduced=request.reduction is not None,
            )  # fmt: skip
        interrupted = estimator.verdict_.status == "interrupted"
        folds = _folds(table, lesson, request, talking) if request.cv is not None and not interrupted else None
    from ..models.file import write
    from ..models.from_learner import model_of
    from ..tasks.saved import reading_to_keep

    outcome = Outcome(estimator, lesson, facts, folds, interrupted)
    replaced = Path(request.output).exists()
    training = training_facts(
        outcome, command=_command(request), seed=request.seed, target=request.target, weights=request.weights,
        group=request.group, missing=request.missing, standardised=request.standardise,
        reading=reading_to_keep(request.reading),
    )  # fmt: skip
    model = model_of(
        estimator, encoding=lesson.encoding, training=training, interrupted=interrupted,
        X=rows_of_rule(outcome), sample_weight=lesson.weights,
    )  # fmt: skip
    write(model, request.output)
    failed = strict and not estimator.verdict_.ok
    status = INTERRUPTED if interrupted else NOT_OPTIMAL if failed else DONE
    return answer_of(request, outcome, model, replaced=replaced, status=status)


def _import_meanwhile(learner: Learner) -> Callable[[object], None]:
    """What imports a learner in a thread as duckdb begins to read; whoever needs it meanwhile waits for it."""

    def work() -> None:
        from ..tasks import lesson  # noqa: F401

        class_of(learner)

    return lambda _: threading.Thread(target=work, name="separatrix-imports").start()


def _folds(table: Any, lesson: Lesson, request: FitRequest, talking: Talking) -> FoldMeasures:
    from ..tasks.cross_validation import FoldTables, cross_validate

    assert request.cv is not None
    tables = FoldTables(table, lesson, request.missing, request.standardise)
    with folds_shown(talking, request.cv) as after:
        return cross_validate(tables, lesson, request.made, request.cv, request.seed, after)


def _command(request: FitRequest) -> str:
    """The command again, files without their folders."""
    words = ["separatrix", "fit", *(Path(each).name for each in request.data or ("-",)), "--target", request.target]
    words += ["--learner", request.learner]
    for name in ("weights", "group", "reduction", "features", "cv"):
        value = getattr(request, name)
        words += [] if value is None else [f"--{name}", str(value)]
    words += ["--missing", request.missing] if request.missing != "error" else []
    words += ["--standardise"] if request.standardise else []
    for name, value in request.given.items():
        words += [setting(name, value)] if isinstance(value, bool) else [setting(name), str(value)]
    return shlex.join([*words, *_typed(request.reading), *(["--seed", str(request.seed)] if request.seed else [])])


def _typed(reading: Reading) -> list[str]:
    words: list[str] = []
    for entry in fields(reading):
        value = getattr(reading, entry.name)
        if value == entry.default:
            continue
        if isinstance(value, bool):
            words.append(f"--{entry.name}" if value else f"--no-{entry.name}")
            continue
        for each in value if isinstance(value, tuple) else () if value is None else (value,):
            words += [f"--{entry.name}", str(each)]
    return words


# --------------------------------------------------------------------------------------------------- what it says


def answer_of(request: FitRequest, outcome: Outcome, model: Model, *, replaced: bool, status: int) -> Answer:
    """The fit for programs and for people."""
    from ...results.verdict import plain_value
    from ..tasks.saved import weights_of

    verdict, weights = outcome.verdict, weights_of(model)
    lesson = outcome.lesson
    ignored = [each for each in lesson.decisions if each.kind == "ignored"]
    indicators = [column.name for column in lesson.encoding.columns if column.indicator]
    data = {
        "command": "fit",
        "version": __version__,
        "dry_run": False,
        "learner": request.learner,
        "reduction": request.reduction,
        "parameters": _parameters(model),
        "seed": request.seed,
        "target": request.target,
        "rows": outcome.table.rows,
        "columns": [column.name for column in lesson.encoding.columns],
        "features": len(lesson.encoding.names),
        "classes": [{"class": label, "rows": rows} for label, rows in lesson.counts.items()],
        "ignored": [{"name": each.name, "why": each.why} for each in ignored],
        "indicators": indicators,
        "intercept": _has_intercept(outcome.estimator),
        "standardised": request.standardise,
        "missing": request.missing,
        "weights": request.weights,
        "verdict": verdict,
        "chosen_l2": _chosen(outcome),
        "passes": plain_value(getattr(outcome.estimator, "n_passes_", None)),
        "coefficients": weights,
        "cross_validation": model.training["cross_validation"],
        "fingerprint": outcome.table.fingerprint,
        "output": request.output,
        "replaced": replaced,
    }
    said = f"{verdict['sentence']} {verdict['remedy'] or ''}".strip()
    words = [
        _fitted(request, outcome),
        *(f"Ignored: {each.name}: {each.why}." for each in ignored),
        *_indicated(indicators),
        *_penalised(outcome),
        *([said] if verdict["ok"] else []),
        *largest_weights(weights, MOST_WEIGHTS),
        *([] if outcome.folds is None else _fold_lines(outcome.folds)),
        _written(request, outcome, replaced),
    ]
    notes = (*_measured(request.target, list(lesson.counts)), *(() if verdict["ok"] else (said,)))
    return Answer(data, words="\n".join(words), notes=notes, status=status, next=_next(request, model))


def _measured(target: str, classes: list[str]) -> tuple[str, ...]:
    """A target of so many different numbers was hardly meant as classes."""
    from ..tables.cells import number_of

    if len(classes) <= MANY_CLASSES or any(number_of(each) is None for each in classes):
        return ()
    return (
        f"{target!r} has {len(classes)} different numbers, and each of them was learnt as a class of its own. If it "
        "is a measurement, make a column with a few classes of it first.",
    )


def _fitted(request: FitRequest, outcome: Outcome) -> str:
    from ...results.verdict import listed

    lesson = outcome.lesson
    classes = listed([f"{label!r} {rows}" for label, rows in lesson.counts.items()])
    how = request.learner + (f" ({request.reduction})" if request.reduction else "")
    made = "" if request.features is None else f", made into {request.features}"
    intercept = {True: "with an intercept", False: "without an intercept", None: ""}[_has_intercept(outcome.estimator)]
    scaled = (
        "number columns standardised" if request.standardise else "nothing standardised" if not request.features else ""
    )
    columns, d = len(lesson.encoding.columns), len(lesson.encoding.names)
    return (
        f"Fitted {how} to {outcome.table.rows} rows of {len(lesson.counts)} classes ({classes}), {_many(d, 'feature')} "
        f"from {_many(columns, 'column')}{made}; {', '.join(filter(None, (intercept, scaled)))}."
    )


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _indicated(names: list[str]) -> list[str]:
    from ...results.verdict import listed

    if not names:
        return []
    return [
        f"Missing values of {listed(names)} were filled with the mean or the most frequent level; "
        f"{_many(len(names), 'indicator')} that {'tells' if len(names) == 1 else 'tell'} of it "
        f"{'was' if len(names) == 1 else 'were'} added."
    ]


def _chosen(outcome: Outcome) -> float | None:
    """The penalty that cross-validation chose."""
    return float(outcome.estimator.l2_) if hasattr(outcome.estimator, "l2_path_") else None


def _penalised(outcome: Outcome) -> list[str]:
    chosen = _chosen(outcome)
    return [] if chosen is None else [f"Of all penalties that were tried, l2 = {chosen:.6g} predicts new rows best."]


def _written(request: FitRequest, outcome: Outcome, replaced: bool) -> str:
    marked = ", marked interrupted" if outcome.interrupted else ""
    return f"The model is in {request.output}{marked}{'; the file that was there is replaced' if replaced else ''}."


def _next(request: FitRequest, model: Model) -> str:
    if not request.data or "-" in request.data:
        return f"separatrix summary {shlex.quote(request.output)}"
    import numpy as np

    likely = model.probabilities(np.zeros((1, len(model.columns)))) is not None
    same = after(typed_again(request.reading, without=OF_THE_MODEL, renamed=FORMAT, seed=request.seed))
    return f"separatrix predict {shlex.quote(request.output)} {shlex.join(request.data)}{' --proba' * likely}{same}"


def _parameters(model: Model) -> dict[str, Any]:
    return {name: value for name, value in model.parameters.items() if name != "estimator"}


def _has_intercept(estimator: Any) -> bool | None:
    inner = getattr(estimator, "estimator", estimator)
    found = getattr(inner, "fit_intercept", None)
    return None if found is None else bool(found)


SHOWN = ("accuracy", "balanced_accuracy", "auc", "log_loss", "brier")
"""What is shown of a cross-validation; all of it is in the JSON."""


def _fold_lines(found: FoldMeasures) -> list[str]:
    """The measures with their intervals."""
    rows = [
        [f" {each.label}", "" if each.value is None else f"{each.value:.4g}",
         each.why if each.low is None or each.high is None else f"{each.low:.4g} to {each.high:.4g}"]
        for each in found.measures
        if each.name in SHOWN
    ]  # fmt: skip
    kept = ", groups kept together" if found.grouped else ""
    head = [f"Predicted out of {found.folds} folds{kept}:"]
    return [*head, text_table([" measure", "value", "95 % interval"], rows, right=(1,)), *found.remarks]
