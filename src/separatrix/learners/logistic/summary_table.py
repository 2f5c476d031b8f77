"""The table of a summary: weights, their size per deviation, their spread, and where they tend to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtr

from ...inference.summary.lines import TENDS, Block, Line, Spread
from ...numerics.arrays import Floats
from ...results.separability import INTERCEPT
from .memory import Facts


def blocks_of(
    model: Any, facts: Facts | None, reference: Any, spreads: Mapping[Any, list[Spread]]
) -> tuple[Block, ...]:
    """wₖ − w_reference for every class k but the reference; in the symmetric form wₖ less the mean of all."""
    known = model.classes_.tolist()
    scale = None if facts is None else facts.deviations
    W = per_class(model)
    against = W.mean(axis=0) if reference is None else W[known.index(reference)]
    return tuple(
        Block(label, reference, _lines(model, W[k] - against, scale, label, reference, spreads.get(label)))
        for k, label in enumerate(known)
        if reference is None or label != reference
    )


def per_class(model: Any) -> Floats:
    """classes × (intercept, weights); of two classes the first's are zero."""
    table = np.column_stack([model.intercept_, model.coef_])
    return table if len(table) > 1 else np.vstack([np.zeros_like(table), table])


def spreads_of(inferred: Any, level: float, method: str) -> dict[Any, list[Spread]]:
    """For every class the spread of each of its weights, in the order of the names.

    By profile z is the signed root of the likelihood ratio, so that p and the interval agree about zero.
    """
    p = len(inferred.names)
    z = inferred.z if method == "wald" else inferred.signed_roots()
    numbers = (
        *np.moveaxis(np.reshape(inferred.interval(level, method), (-1, p, 2)), -1, 0),
        *(np.reshape(each, (-1, p)) for each in (inferred.standard_errors, z, 2 * ndtr(-np.abs(z)))),
    )
    return {
        label: [Spread(*(float(each[k, j]) for each in numbers)) for j in range(p)]
        for k, label in enumerate(inferred.equations)
    }


def _lines(
    model: Any, w: Floats, scale: Floats | None, label: Any, reference: Any, spreads: list[Spread] | None
) -> tuple[Line, ...]:
    claim, aliased = model.verdict_.claim, set(model.verdict_.rank.aliased)
    columns = ([(INTERCEPT, 0)] if claim.fit_intercept else []) + [(name, j) for j, name in enumerate(claim.columns, 1)]
    lines = []
    for place, (name, j) in enumerate(columns):
        tends = tendency(model, label, reference, name)
        finite = tends == "finite"
        weight = float(w[j]) if finite else TENDS.get(tends, np.nan)
        per = None if scale is None or not j else (weight * float(scale[j - 1]) if finite else weight)
        shown = name if j else intercept_name(claim.columns)
        own = finite and (j or claim.objective != "flic")  # FLIC moved the intercept off the one that has a spread
        spread = spreads[place] if spreads and own else None  # that of a stand-in for infinity would be a pretence
        lines.append(Line(shown, weight, per, spread, bool(j) and name in aliased, tends))
    return tuple(lines)


def intercept_name(columns: tuple[str, ...]) -> str:
    """What the intercept is called beside these columns."""
    return INTERCEPT if "intercept" in columns else "intercept"


def tendency(model: Any, label: Any, reference: Any, name: str) -> str:
    """Where maximum likelihood sends the weight of a class less that of the reference."""
    verdict = model.verdict_
    if verdict.status not in ("separated", "quasi-separated"):
        return "finite"
    known = getattr(verdict.separability, "coefficients", None)
    if known is None:
        return "unknown"
    if reference is None:
        kinds = {_kind(known, each, name, model) for each in model.classes_.tolist()}
        return "finite" if kinds == {"finite"} else "undetermined"
    return _difference(_kind(known, label, name, model), _kind(known, reference, name, model))


def _kind(known: Mapping[Any, Any], label: Any, name: str, model: Any) -> str:
    """That of one class; the weights of the last class, of two classes of the first, are zero."""
    classes = model.classes_.tolist()
    if len(classes) == 2:
        return str(known[name]) if label == classes[1] else "finite"
    return str(known[label][name]) if label != classes[-1] else "finite"


def _difference(one: str, other: str) -> str:
    """Where a difference goes: that of two infinities of one sign may go anywhere."""
    turned = {"+inf": "-inf", "-inf": "+inf"}
    if other == "finite":
        return one
    if one == "finite":
        return turned.get(other, other)
    return one if one == turned.get(other) else "undetermined"
