"""From a model to the steps that give its answers; what has no such steps is refused by name."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ...losses.families import Bernoulli
from ..models.model import Model
from ..models.rules import Linear
from .building import ONE, ZERO, Builder, all_or_nothing, in_the_limit, minus, shares, sigmoids, softmax
from .program import CannotExportError, Expression, If, Number, Product, Program, Ref, Step, Sum, names_in

REFUSED = {
    "kernel": "its score is a sum over training rows, which the file of the model holds and no formula should.",
    "voted": "every weight that it ever had votes on each row.",
    "committee": "every classifier of a committee votes on each row.",
    "naive bayes": "a column of categories has a table of its own.",
    "coded": "its classes are told apart by several classifiers that vote; a linear classifier for each class "
    "(OneVsRest), and those of estimators_ that are linear, can be exported.",
}


def program_of(
    model: Model, *, unseen: Literal["error", "reference"] = "error", probabilities: bool = True
) -> Program:  # fmt: skip
    """The steps of a model; a `CannotExportError` says which rule has none."""
    _check_texts(model)
    if model.rule.kind not in _RULES or _has_tables(model.rule) or _votes(model.rule):
        raise CannotExportError(
            f"{model.learner} has a rule of kind {model.rule.kind!r}, which cannot be exported: "
            f"{REFUSED[model.rule.kind]} Use the saved model itself (separatrix predict), or export a linear learner."
        )
    builder = Builder(model, unseen)
    _check_families(builder)
    score, place, p = _RULES[model.rule.kind](builder, model.rule, probabilities)
    scores, shares = (tuple(_name(each) for each in group) for group in (score, p))
    steps = _needed(builder.steps, {*scores, *shares, *names_in(place)})
    return Program(builder.cells, steps, model.classes, scores, shares, place, tuple(_facts(model)))


def _needed(steps: list[Step], read: set[str]) -> tuple[Step, ...]:
    """The steps that lead to these names: compilers warn of others."""
    found = []
    for step in reversed(steps):
        if step.name in read:
            found.append(step)
            read |= set(names_in(step.value))
    return tuple(reversed(found))


Answers = tuple[list[Expression], Expression, list[Expression]]
"""Scores, the place of the class, probabilities."""


def _linear(builder: Builder, rule: Linear, wanted: bool) -> Answers:
    """s = xᵀw + b, and what follows."""
    x = builder.features(builder.columns(), builder.model.feature_map)
    W, b = np.atleast_2d(rule.rule.weights), np.atleast_1d(np.asarray(rule.rule.intercept, np.float64))
    z = builder.scored("sum", W, b, x)
    score = [builder.settled(each) for each in (z if len(z) != 2 else [builder.named("sum", minus(z[1], z[0]))])]
    if rule.limit is not None:
        seen = in_the_limit(builder, rule.limit, x, score)
        return score, builder.first_largest(seen), _corrected(builder, rule, seen) if wanted else []
    place = builder.place(score)
    if not wanted or not (rule.likely or rule.separated):
        return score, place, []
    if rule.separated:
        return score, place, _corrected(builder, rule, all_or_nothing(builder, score))
    shift = np.zeros(len(builder.model.classes)) if rule.prior is None else rule.prior.shift
    two = len(score) == 1
    p = sigmoids(builder, score[0], float(shift[1] - shift[0])) if two else softmax(builder, score, shift)
    return score, place, p


def _corrected(builder: Builder, rule: Linear, seen: list[Expression]) -> list[Expression]:
    """pₖτₖ/πₖ by their sum: what is 0 or 1 stays so."""
    if rule.prior is None:
        return seen
    ratio = np.exp(rule.prior.shift).tolist()
    return shares(builder, [builder.named("part", Product((Number(r), p))) for r, p in zip(ratio, seen, strict=True)])


def _quadratic(builder: Builder, rule: Any, wanted: bool) -> Answers:
    """sₖ = levelₖ − ½‖U⁻ᵀD⁻¹(x − μₖ)‖²."""
    q = rule.quadratic
    x = [builder.named("x", each) for each in builder.features(builder.columns(), builder.model.feature_map)]
    z: list[Expression] = []
    for k, factor in enumerate(q.factors):
        away = [builder.named("away", Sum((each, Number(-float(m)), Number(-float(r)))))
                for each, m, r in zip(x, q.mean[k], q.rest[k], strict=True)]  # fmt: skip
        W = factor.whiten(np.eye(len(x)))
        white = [builder.named("white", builder.weighted(w[: i + 1], 0.0, away[: i + 1])) for i, w in enumerate(W)]
        squares = builder.total([Product((each, each)) for each in white])
        z.append(builder.named("sum", Sum((Number(float(q.level[k])), Product((Number(-0.5), squares))))))
    score = [builder.settled(each) for each in (z if len(z) != 2 else [builder.named("sum", minus(z[1], z[0]))])]
    return score, builder.place(score), _likely(builder, score) if wanted else []


def _sums(builder: Builder, rule: Any, wanted: bool) -> Answers:
    """sₖ = log p(k) + Σⱼ (cₖⱼ + aₖⱼzⱼ + qₖⱼzⱼ²) over the numbers that are there, z = x − m."""
    p, families = rule.scorer.parameters, rule.scorer.families
    cut = set(families.columns(Bernoulli()).tolist()) if families.threshold is not None else set()
    there: list[Expression] = []
    if builder.model.encoding is None:
        x: list[Expression] = [Ref(cell.value) for cell in builder.cells]
        there = [builder.named("there", minus(ONE, Ref(str(cell.missing)))) for cell in builder.cells]
    else:  # where nothing is missing
        x = [builder.named("x", each) for each in builder.columns()]
    x = [builder.named("above", If(Number(families.threshold), "<", each, ONE, ZERO)) if j in cut else each
         for j, each in enumerate(x)]  # fmt: skip
    z = [builder.named("z", Sum((each, Number(-float(m))))) if m else each
         for each, m in zip(x, p.centre, strict=True)]  # fmt: skip
    z = [builder.named("z", Product(each)) for each in zip(there, z, strict=True)] if there else z
    squares = [builder.named("square", Product((z[j], z[j]))) for j in rule.scorer.squared]
    levels = p.log_prior if there else p.log_prior + p.constant.sum(axis=1)
    W = np.hstack([p.linear, p.square[:, rule.scorer.squared], *([p.constant] if there else [])])
    if len(W) == 2:
        W, levels = W[1:] - W[:1], levels[1:] - levels[:1]
    score = [builder.settled(each) for each in builder.scored("sum", W, levels, [*z, *squares, *there])]
    return score, builder.place(score), _likely(builder, score) if wanted else []


def _one_for_each(builder: Builder, rule: Any, wanted: bool) -> Answers:
    """sₖ = xᵀwₖ + bₖ of the classifier of class k; pₖ = rₖ/Σⱼrⱼ of their probabilities r."""
    x, score = builder.columns(), []
    for each in rule.members:
        w, b = each.rule.rule.weights[None], np.atleast_1d(each.rule.rule.intercept)
        (z,) = builder.scored("sum", w, b, builder.features(list(x), each.features))
        score.append(builder.settled(z))
    if not wanted or rule.coupling is None:
        return score, builder.place(score), []
    sure = [_of_one(builder, each.rule, z) for each, z in zip(rule.members, score, strict=True)]
    if len(score) == 1:
        return score, builder.place(score), sure[0]
    r = [pair[1] for pair in sure]
    total, top = builder.named("total", builder.total(r)), builder.largest(score)
    # where every classifier is sure of the rest, those with the largest score share
    parts = [If(ZERO, "<", total, each, If(top, "<=", z, ONE, ZERO)) for each, z in zip(r, score, strict=True)]
    return score, builder.place(score), shares(builder, [builder.named("part", each) for each in parts])


def _of_one(builder: Builder, rule: Linear, score: Expression) -> list[Expression]:
    """The probabilities of a classifier of two."""
    return all_or_nothing(builder, [score]) if rule.separated else sigmoids(builder, score, 0.0)


def _votes(rule: Any) -> bool:
    """Whether a rule of several classifiers is more than one linear score for each class."""
    if rule.kind != "coded":
        return False
    simple = rule.per_class and not rule.by_votes and rule.coupling in (None, "shared", "odds")
    few = len(rule.members) == (1 if len(rule.classes) == 2 else len(rule.classes))
    linear = all(isinstance(each.rule, Linear) and each.rule.rule.weights.ndim == 1 and each.rule.limit is None
                 and each.rule.prior is None for each in rule.members)  # fmt: skip
    return not (simple and few and linear)


def _likely(builder: Builder, score: list[Expression]) -> list[Expression]:
    """The probabilities of scores that are log-odds, without a prior of their own."""
    return sigmoids(builder, score[0], 0.0) if len(score) == 1 else softmax(builder, score, np.zeros(len(score)))


def _has_tables(rule: Any) -> bool:
    return rule.kind == "naive bayes" and len(rule.scorer.parameters.tables) > 0


_RULES: dict[str, Any] = {"linear": _linear, "quadratic": _quadratic, "naive bayes": _sums, "coded": _one_for_each}


def _name(value: Expression) -> str:
    assert isinstance(value, Ref)
    return value.name


def _check_texts(model: Model) -> None:
    """No target holds the sign 0 or half a sign in a text."""
    columns = model.encoding.columns if model.encoding is not None else ()
    texts = [*model.columns, *(each.name for each in columns), *map(str, model.classes)]
    texts += [level for each in columns for level in each.levels]
    for text in texts:
        if is_broken(text):
            raise CannotExportError(
                f"The text {text!r} is the name of a column, a level or a class, and holds a sign that neither C nor "
                "databases can hold in a text: rename it, and fit again."
            )


def _check_families(builder: Builder) -> None:
    for cell in builder.cells:
        if cell.allowed != (None, None, False) and (cell.shifted or cell.column.fill not in (None, 0.0)):
            raise CannotExportError(
                f"The column {cell.column.name!r} is centred, scaled or filled, and its family knows only some "
                "numbers: this cannot be exported. Fit a family that knows all numbers, such as the Gaussian."
            )


def is_broken(text: str) -> bool:
    """Whether it holds the sign 0 or half a sign."""
    return "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text)


def _facts(model: Model) -> list[str]:
    rows = model.training.get("rows")
    fitted = f"{model.learner} of {len(model.classes)} classes" + (f", fitted to {rows} rows" if rows else "")
    said = [fitted + f", Separatrix {model.package}."]
    if model.verdict is not None:
        said += [line for line in str(model.verdict.get("text", "")).splitlines() if line.strip()][:1]
    if model.interrupted:
        said.append("The fit was interrupted before its end.")
    return said
