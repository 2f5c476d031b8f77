"""What programs are built of: cells, features, sums, probabilities; and the names of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from ...data.maps.maps import FeatureMap
from ...losses.families import Bernoulli
from ...numerics.arrays import Floats
from ...results.linear_rule import TIE, LimitRule
from ..models.model import Model
from ..models.rules import Linear
from ..tables.columns import Column
from .program import (
    MOST_TERMS,
    Abs,
    Allowed,
    CannotExportError,
    Cell,
    Choice,
    Exp,
    Expression,
    Finite,
    If,
    Largest,
    Number,
    Product,
    Program,
    Ratio,
    Ref,
    Step,
    Sum,
    names_in,
)

MOST_ARGUMENTS = 50
ZERO = Number(0.0)
ONE = Number(1.0)
FAR = Number(-1e300)
"""The score of a class that is not tied, among those whose exponentials are taken: its own is 0."""


def columns_of(model: Model) -> tuple[Column, ...]:
    """The columns of the table; of a model of a matrix every column is a number, which may be missing if that is known.

    What is then read in its place is 0, and the indicator tells of it.
    """
    if model.encoding is not None:
        return model.encoding.columns
    gaps = {"fill": 0.0, "indicator": True} if model.rule.takes_missing else {}
    return tuple(Column(name, "number", **gaps) for name in model.columns)  # type: ignore[arg-type]


def allowed_of(model: Model) -> dict[str, Allowed]:
    """By the names of columns of numbers, what their families know."""
    allowed = dict(zip(model.columns, getattr(model.rule, "allowed", ()), strict=False))
    names = {column.name for column in columns_of(model) if column.kind == "number"}
    return {name: each for name, each in allowed.items() if name in names and each != (None, None, False)}


class Builder:
    """Collects cells and steps."""

    def __init__(self, model: Model, unseen: Literal["error", "reference"]) -> None:
        self.model, self.steps = model, []  # type: tuple[Model, list[Step]]
        columns = columns_of(model)
        allowed = allowed_of(model)
        self.cells = tuple(
            Cell(column, f"{'x' if column.kind == 'number' else 'level'}{j}",
                 f"missing{j}" if column.indicator else None, unseen, allowed.get(column.name, (None, None, False)))
            for j, column in enumerate(columns, 1)
        )  # fmt: skip
        self._made: dict[Expression, Ref] = {}

    # ------------------------------------------------------------------------------------------------------- features

    def columns(self) -> list[Expression]:
        """The columns of X, by cells: a level is 0 or 1 by a choice."""
        found: list[Expression] = []
        for cell in self.cells:
            if cell.column.kind == "number":
                found.append(Ref(cell.value))
            else:
                K = len(cell.column.levels)
                found += [Choice(cell.value, tuple(float(k == j) for k in range(K))) for j in range(1, K)]
            if cell.missing is not None:
                found.append(Ref(cell.missing))
        return found

    def features(self, x: list[Expression], features: FeatureMap | None) -> list[Expression]:
        """What the rule reads, one map after the other."""
        for step in () if features is None else features.spec:
            x = [self.named("x", each) for each in x]
            x = [self.named("f", each) for each in _MAPS[step["kind"]](self, step, x)]
        return x

    def named(self, stem: str, value: Expression) -> Expression:
        """A step of its own, where it is more than a name or a number; what was made before is not made again."""
        if isinstance(value, Ref | Number):
            return value
        if value not in self._made:
            self._made[value] = Ref(f"{stem}_{len(self._made) + 1}")
            self.steps.append(Step(self._made[value].name, value))
        return self._made[value]

    def total(self, terms: Sequence[Expression]) -> Expression:
        """A sum; of many terms a sum of sums."""
        while len(terms) > MOST_TERMS:
            terms = [self.named("part", Sum(tuple(terms[lo : lo + MOST_TERMS])))
                     for lo in range(0, len(terms), MOST_TERMS)]  # fmt: skip
        return Sum(tuple(terms))

    def largest(self, values: Sequence[Expression]) -> Expression:
        """The maximum; of many numbers that of maxima, as databases limit the arguments of a function."""
        while len(values) > MOST_ARGUMENTS:
            values = [self.named("top", Largest(tuple(values[lo : lo + MOST_ARGUMENTS])))
                      for lo in range(0, len(values), MOST_ARGUMENTS)]  # fmt: skip
        return self.named("top", Largest(tuple(values)) if len(values) > 1 else values[0])

    def weighted(self, weights: Floats, level: float, x: Sequence[Expression]) -> Expression:
        """b + Σⱼ wⱼxⱼ, where the levels of a category share one choice among their weights.

        A weight of zero stays: a row whose cell there is unknown has no score.
        """
        terms: list[Expression] = [Number(float(level))]
        choices: dict[str, Floats] = {}
        for w, each in zip(weights.tolist(), x, strict=True):
            if isinstance(each, Choice):
                values = w * np.array(each.values)
                if each.code in choices:
                    choices[each.code] += values
                else:
                    choices[each.code] = values
                    terms.append(each)  # it keeps the place
            else:
                terms.append(Product((Number(w), each)))
        return self.total([
            Choice(each.code, tuple((choices[each.code] + 0.0).tolist())) if isinstance(each, Choice) else each
            for each in terms
        ])  # fmt: skip

    def scored(self, stem: str, weights: Floats, level: Floats, x: Sequence[Expression]) -> list[Expression]:
        """A score for each row of weights."""
        return [self.named(stem, self.weighted(w, b, x)) for w, b in zip(weights, level, strict=True)]

    def settled(self, z: Expression) -> Expression:
        """A score; unknown where it overflows, or where a cell is refused that no feature reads."""
        single = any(cell.column.kind == "category" and len(cell.column.levels) == 1 for cell in self.cells)
        if single or self.model.feature_map is not None or self.model.rule.takes_missing:
            zeros = [
                Choice(cell.value, (0.0,) * len(cell.column.levels)) if cell.column.kind == "category"
                else Product((ZERO, Ref(cell.value)))
                for cell in self.cells
            ]  # fmt: skip
            z = self.named("sum", Sum((z, self.named("nothing", self.total(zeros)))))
        return self.named("score", Finite(z))

    def place(self, score: list[Expression]) -> Expression:
        """1[s > 0]; of K classes the first with the largest score."""
        return If(ZERO, "<", score[0], ONE, ZERO) if len(score) == 1 else self.first_largest(score)

    def first_largest(self, values: list[Expression]) -> Expression:
        """min {k: vₖ = max v}."""
        top = self.largest(values)
        found: Expression = Number(float(len(values) - 1))
        for k in range(len(values) - 2, -1, -1):
            found = If(top, "<=", values[k], Number(float(k)), found)
        return found


def minus(a: Expression, b: Expression) -> Expression:
    """a − b."""
    return Sum((a, Product((Number(-1.0), b))))


# ------------------------------------------------------------------------------------------------------- feature maps


def _products(builder: Builder, step: Any, x: list[Expression]) -> list[Expression]:
    terms = np.asarray(step["terms"]).tolist()
    return [_product([x[j] for j in term if j >= 0]) for term in terms]


def _product(factors: list[Expression]) -> Expression:
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _gaussians(builder: Builder, step: Any, x: list[Expression]) -> list[Expression]:
    found: list[Expression] = []
    for centre, width in zip(np.asarray(step["centres"]).tolist(), np.asarray(step["widths"]).tolist(), strict=True):
        away = [builder.named("away", Sum((each, Number(-c)))) for each, c in zip(x, centre, strict=True)]
        squares = builder.total([Product((each, each)) for each in away])
        found.append(Exp(builder.named("power", Product((Number(-0.5 / width**2), squares)))))
    return found


def _lift(builder: Builder, step: Any, x: list[Expression]) -> list[Expression]:
    return [*x, builder.total([Product((each, each)) for each in x]) if step["square"] else ONE]


def _standard(builder: Builder, step: Any, x: list[Expression]) -> list[Expression]:
    return [Ratio(Sum((each, Number(-m))), Number(s)) for each, m, s in
            zip(x, np.asarray(step["mean"]).tolist(), np.asarray(step["deviation"]).tolist(), strict=True)]  # fmt: skip


_MAPS: dict[str, Callable[[Builder, Any, list[Expression]], list[Expression]]] = {
    "products": _products, "gaussians": _gaussians, "lift": _lift, "standard": _standard,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------ probabilities


def sigmoids(builder: Builder, score: Expression, shift: float) -> list[Expression]:
    """σ(−z) and σ(z) with z = s + log(τ₁π₀/(π₁τ₀)): e^−|z| cannot overflow."""
    z = score if shift == 0 else builder.named("logit", Sum((score, Number(shift))))
    e = builder.named("e", Exp(Product((Number(-1.0), Abs(z)))))
    below = Sum((ONE, e))
    return [builder.named("p", Ratio(If(ZERO, "<", z, e, ONE), below)),
            builder.named("p", Ratio(If(z, "<", ZERO, e, ONE), below))]  # fmt: skip


def softmax(builder: Builder, score: list[Expression], shift: Floats) -> list[Expression]:
    """exp(zₖ − max z)/Σⱼ exp(zⱼ − max z) with zₖ = sₖ + log(τₖ/πₖ)."""
    z = [each if h == 0 else builder.named("logit", Sum((each, Number(float(h)))))
         for each, h in zip(score, shift, strict=True)]  # fmt: skip
    top = builder.largest(z)
    return shares(builder, [builder.named("e", Exp(minus(each, top))) for each in z])


def shares(builder: Builder, parts: list[Expression]) -> list[Expression]:
    """Each by the sum of all."""
    whole = builder.named("whole", builder.total(parts))
    return [builder.named("p", Ratio(each, whole)) for each in parts]


def all_or_nothing(builder: Builder, score: list[Expression]) -> list[Expression]:
    """0 and 1, as weights that separate grow for ever; on a boundary equal shares."""
    if len(score) == 1:
        z = score[0]
        is_in = [builder.named("in", If(z, "<=", ZERO, ONE, ZERO)), builder.named("in", If(ZERO, "<=", z, ONE, ZERO))]
    else:
        top = builder.largest(score)
        is_in = [builder.named("in", If(top, "<=", each, ONE, ZERO)) for each in score]
    return shares(builder, is_in)


def in_the_limit(builder: Builder, limit: LimitRule, x: list[Expression], score: list[Expression]) -> list[Expression]:
    """The softmax of Vx + b among the classes with the largest score of u, as `LimitRule.probabilities`.

    The scores have no part in it; 0·s makes it unknown where they are, as a comparison with the unknown is false.
    """
    size = [Choice(each.code, tuple(map(abs, each.values))) if isinstance(each, Choice)
            else builder.named("size", Abs(each)) for each in x]  # fmt: skip
    lead = builder.scored("lead", limit.direction, limit.direction_intercept, x)
    largest = builder.scored("size", np.abs(limit.direction), np.abs(limit.direction_intercept), size)
    top, widest = builder.largest(lead), builder.largest(largest)
    away = [builder.named("away", minus(top, each)) for each in lead]
    near = builder.named("near", Product((Number(TIE), widest)))
    rest = builder.scored("rest", limit.rest, limit.rest_intercept, x)
    # a class that is not tied falls so far below that its part is 0; one of them always is
    kept = [builder.named("kept", If(a, "<=", near, r, FAR)) for a, r in zip(away, rest, strict=True)]
    peak = builder.largest(kept)
    known = builder.named("nothing", builder.total([Product((ZERO, each)) for each in score]))
    return shares(builder, [builder.named("e", Exp(Sum((minus(each, peak), known)))) for each in kept])


# From a model to the steps that give its answers; what has no such steps is refused by name.

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
        said += filter(None, [" ".join(str(model.verdict.get("text", "")).split())])
    if model.interrupted:
        said.append("The fit was interrupted before its end.")
    return said
