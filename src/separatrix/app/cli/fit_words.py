"""What `fit` says."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import __version__
from ...results.verdict import listed, plain_value
from ..tables.numbers import number_of
from ..tasks.saved import largest, weights_of
from .answer import Answer
from .typed_again import FORMAT, OF_THE_MODEL, after, typed_again

if TYPE_CHECKING:
    from ..models.model import Model
    from ..tasks.fit_facts import Outcome
    from .fit import Asked

MOST, MANY_CLASSES = 8, 20
"""Weights that are shown; classes from which on numbers look like a measurement."""


def answer_of(asked: Asked, outcome: Outcome, model: Model, *, replaced: bool, status: int) -> Answer:
    """The same fit for programs and for people."""
    verdict, weights = outcome.verdict, weights_of(model)
    lesson = outcome.lesson
    ignored = [each for each in lesson.decisions if each.kind == "ignored"]
    indicators = [column.name for column in lesson.encoding.columns if column.indicator]
    data = {
        "command": "fit",
        "version": __version__,
        "dry_run": False,
        "learner": asked.learner,
        "reduction": asked.reduction,
        "parameters": _parameters(model),
        "seed": asked.seed,
        "target": asked.target,
        "rows": outcome.table.rows,
        "columns": [column.name for column in lesson.encoding.columns],
        "features": len(lesson.encoding.names),
        "classes": [{"class": label, "rows": rows} for label, rows in lesson.counts.items()],
        "ignored": [{"name": each.name, "why": each.why} for each in ignored],
        "indicators": indicators,
        "intercept": _has_intercept(outcome.estimator),
        "standardised": asked.standardise,
        "missing": asked.missing,
        "weights": asked.weights,
        "verdict": verdict,
        "chosen_l2": _chosen(outcome),
        "passes": plain_value(getattr(outcome.estimator, "n_passes_", None)),
        "coefficients": weights,
        "cross_validation": model.training["cross_validation"],
        "fingerprint": outcome.table.fingerprint,
        "output": asked.output,
        "replaced": replaced,
    }
    said = f"{verdict['sentence']} {verdict['remedy'] or ''}".strip()
    words = [
        _fitted(asked, outcome),
        *(f"Ignored: {each.name}: {each.why}." for each in ignored),
        *_indicated(indicators),
        *_penalised(outcome),
        *([said] if verdict["ok"] else []),
        *largest(weights, MOST),
        *([] if outcome.crossing is None else outcome.crossing.lines()),
        _written(asked, outcome, replaced),
    ]
    notes = (*_measured(asked.target, list(lesson.counts)), *(() if verdict["ok"] else (said,)))
    return Answer(data, words="\n".join(words), notes=notes, status=status, next=_next(asked, model))


def _measured(target: str, classes: list[str]) -> tuple[str, ...]:
    """A target of so many different numbers was hardly meant as classes."""
    if len(classes) <= MANY_CLASSES or any(number_of(each) is None for each in classes):
        return ()
    return (
        f"{target!r} has {len(classes)} different numbers, and each of them was learnt as a class of its own. If it "
        "is a measurement, make a column with a few classes of it first.",
    )


def _fitted(asked: Asked, outcome: Outcome) -> str:
    lesson = outcome.lesson
    classes = listed([f"{label!r} {rows}" for label, rows in lesson.counts.items()])
    how = asked.learner + (f" ({asked.reduction})" if asked.reduction else "")
    made = "" if asked.features is None else f", made into {asked.features}"
    intercept = {True: "with an intercept", False: "without an intercept", None: ""}[_has_intercept(outcome.estimator)]
    scaled = (
        "number columns standardised" if asked.standardise else "nothing standardised" if not asked.features else ""
    )
    columns, d = len(lesson.encoding.columns), len(lesson.encoding.names)
    return (
        f"Fitted {how} to {outcome.table.rows} rows of {len(lesson.counts)} classes ({classes}), {_many(d, 'feature')} "
        f"from {_many(columns, 'column')}{made}; {', '.join(filter(None, (intercept, scaled)))}."
    )


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _indicated(names: list[str]) -> list[str]:
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


def _written(asked: Asked, outcome: Outcome, replaced: bool) -> str:
    marked = ", marked interrupted" if outcome.interrupted else ""
    return f"The model is in {asked.output}{marked}{'; the file that was there is replaced' if replaced else ''}."


def _next(asked: Asked, model: Model) -> str:
    if not asked.data or "-" in asked.data:
        return f"separatrix summary {shlex.quote(asked.output)}"
    likely = model.probabilities(np.zeros((1, len(model.columns)))) is not None
    same = after(typed_again(asked.reading, without=OF_THE_MODEL, renamed=FORMAT, seed=asked.seed))
    return f"separatrix predict {shlex.quote(asked.output)} {shlex.join(asked.data)}{' --proba' * likely}{same}"


def _parameters(model: Model) -> dict[str, Any]:
    return {name: value for name, value in model.parameters.items() if name != "estimator"}


def _has_intercept(estimator: Any) -> bool | None:
    inner = getattr(estimator, "estimator", estimator)
    found = getattr(inner, "fit_intercept", None)
    return None if found is None else bool(found)
