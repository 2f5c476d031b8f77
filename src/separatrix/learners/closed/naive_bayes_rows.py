"""Rows that naive Bayes learns from: read, and joined with those before them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...fitting.closed.evidence import Evidence, InfiniteError, Plan, gather
from ...numerics.arrays import Floats
from .naive_bayes_input import check_values, infinite


def gathered(model: Any, rows: Any, target: Any, classes: int, cost: Floats, plan: Plan) -> Evidence:
    """What the rows say, once they are found to be such as the families know."""
    check_values(rows, cost, plan, model._names())
    try:
        return gather(rows, target, classes, cost, plan)
    except InfiniteError:
        raise infinite(rows, model._names(), model) from None


def joined(
    model: Any, before: tuple[Evidence, NDArray[Any]], rows: Any, labels: NDArray[Any], cost: Floats, plan: Plan
) -> tuple[Evidence, NDArray[Any]]:
    """What was known and what these rows say, over the classes of both; rows that do not count bring none."""
    (evidence, known), count = before, len(rows)
    seen = evidence.rows + count
    if cost.size and not (cost > 0).all():
        rows, labels, cost = rows[cost > 0], labels[cost > 0], cost[cost > 0]
    found = np.union1d(known, labels) if known.size else np.unique(labels)
    evidence = evidence.grown(np.searchsorted(found, known), len(found))
    if len(rows):
        target = np.searchsorted(found, labels).astype(np.int64)
        fresh = gathered(model, rows, target, len(found), cost, plan)
        try:
            evidence = evidence.merge(fresh)
        except InfiniteError:
            raise infinite(rows, model._names(), model) from None
    return replace(evidence, rows=seen), found


def check_same(plan: Plan, before: Plan) -> None:
    """The families of the rows before these."""
    if plan.families != before.families or plan.threshold != before.threshold:
        raise ValueError(
            "families, variance or threshold were changed since the rows before these were learnt from: call fit, "
            "which forgets them."
        )
