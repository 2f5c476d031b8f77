"""From scores to probabilities, so that nothing overflows."""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Floats
from ...results.limits import TIE, LimitRule
from .building import ONE, ZERO, Builder, minus
from .program import Abs, Choice, Exp, Expression, If, Number, Product, Ratio, Sum

FAR = Number(-1e300)


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
