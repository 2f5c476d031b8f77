"""How well rows are predicted that the model has not seen: curves, tables and margins, as plain numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...numerics.arrays import Floats
from ..evaluation.calibration import calibration_table
from ..evaluation.confusion import matrix
from ..evaluation.intervals import proportion
from ..evaluation.measures import by_class, measures, noted
from ..evaluation.predictions import Predictions
from .inputs import Inputs

MANY = 60
"""Quantiles of the probabilities that are thresholds, of two classes."""
FEW = 25
"""The most of them for each of more classes."""
BINS = 24
"""Bars of the histogram of margins."""
MOST_CURVES = 12
"""The most classes that have curves of their own."""


def held_out_facts(inputs: Inputs) -> dict[str, Any]:
    """All measures, tables and curves of the out-of-fold predictions; or why there are none."""
    given = inputs.held
    if given is None:
        return {"there": False, "why": inputs.held_why}
    two = len(given.classes) == 2
    many = MANY if two else min(FEW, 100 // len(given.classes))
    found = measures(replace(given, folds=0), level=inputs.level, seed=inputs.seed)
    classes = [given.positive] if two else list(range(len(given.classes)))[:MOST_CURVES]
    return {
        "there": True,
        "folds": given.folds,
        "grouped": given.clusters is not None,
        "weighted": given.weights is not None,
        "rows": given.rows,
        "level": inputs.level,
        "remarks": list(inputs.remarks),
        "measures": [each.to_dict() for each in noted(given, found)],
        "methods": {each.name: each.method for each in found},
        "by_class": [each.to_dict() for each in by_class(given, level=inputs.level)],
        "classes": list(map(str, given.classes)),
        "positive": str(given.classes[given.positive]) if two else None,
        "probabilities": given.probabilities is not None,
        "confusion": matrix(given).tolist(),
        "right": float(np.trace(matrix(given))),
        "curves": [curve_facts(against_rest(given, k), inputs.level, many) for k in classes],
        "left_out": len(given.classes) - len(classes) if not two else 0,
        "margins": margin_facts(given, inputs.level),
    }


def against_rest(given: Predictions, k: int) -> Predictions:
    """The predictions as those of two classes: class k, and all others."""
    if len(given.classes) == 2:
        return given
    P, S = given.probabilities, given.scores
    return Predictions(
        ("other", str(given.classes[k])), (given.truth == k).astype(np.intp), (given.chosen == k).astype(np.intp),
        S[:, k] if P is None and S is not None else None,
        None if P is None else np.column_stack([1 - P[:, k], P[:, k]]), given.weights, given.clusters, given.folds, 1,
        given.fold,
    )  # fmt: skip


def curve_facts(given: Predictions, level: float, quantiles: int) -> dict[str, Any]:
    """ROC, precision and recall, calibration of a class against the rest."""
    names = ("auc", "average_precision", "calibration_intercept", "calibration_slope")
    found = {each.name: each.to_dict() for each in measures(given, names, level=level)}
    return {
        "class": str(given.classes[given.positive]),
        "share": float(given.w @ (given.truth == given.positive) / given.w.sum()),
        **found,
        "points": operating_points(given, level, quantiles),
        "bins": [each.to_dict() for each in calibration_table(given, level)],
    }


def operating_points(given: Predictions, level: float, quantiles: int) -> list[dict[str, Any]]:
    """Counts, sensitivity and precision with intervals of the rule "positive if p ≥ t", for ascending thresholds t."""
    ranked = given.ranking if given.probabilities is None else given.probabilities[:, given.positive]
    if ranked is None or len(given.present) < 2:
        return []
    yes, weighted = given.truth == given.positive, given.weights is not None
    found = []
    for t in thresholds_of(ranked, given.probabilities is not None, quantiles):
        flagged = ranked >= t
        cells = {
            "tp": float(given.w @ (flagged & yes)), "fp": float(given.w @ (flagged & ~yes)),
            "fn": float(given.w @ (~flagged & yes)), "tn": float(given.w @ (~flagged & ~yes)),
        }  # fmt: skip
        shares: dict[str, list[float | None]] = {}
        for name, x, rows in (
            ("sensitivity", flagged, yes),
            ("specificity", ~flagged, ~yes),
            ("precision", yes, flagged),
        ):
            if not given.w[rows].any():
                shares[name] = [None, None, None]
                continue
            w, clusters = given.w[rows], None if given.clusters is None else given.clusters[rows]
            low, high, _, _ = proportion(x[rows].astype(float), w, level, clusters, weighted)
            shares[name] = [float(np.clip(w @ x[rows] / w.sum(), 0, 1)), low, high]
        found.append({"threshold": t, **cells, **shares})
    return found


def thresholds_of(ranked: Floats, likely: bool, quantiles: int) -> list[float]:
    """Round numbers and quantiles, as they are shown: two digits for round ones, three significant for others."""
    cuts = np.quantile(ranked, np.linspace(0, 1, quantiles + 1)).tolist()
    cuts = [float(f"{each:.3g}") for each in cuts]
    if not likely:
        return sorted({*cuts, 0.0, _down(float(ranked.min()))})
    step = 0.02 if quantiles == MANY else 0.05
    steps = [round(k * step, 2) for k in range(round(1 / step) + 1)]
    return sorted({*steps, *(min(max(each, 0.0), 1.0) for each in cuts)})


def _down(value: float) -> float:
    """Three significant digits, and not above the value: a threshold at which every row is flagged."""
    near = float(f"{value:.3g}")
    return near if near <= value else float(f"{value - abs(value) * 1e-2:.3g}")


def margin_facts(given: Predictions, level: float) -> dict[str, Any] | None:
    """Margins counted by class: the score of a row's own class less the best other; below zero the row is wrong."""
    margins = margins_of(given)
    if margins is None:
        return None
    low, high = np.quantile(margins, [0.005, 0.995]).tolist()
    low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return None
    edges = np.linspace(low, high, BINS + 1)
    if low < 0 < high:  # an edge at zero, so that no bar holds both right and wrong rows
        edges = edges + (0.0 - edges[np.abs(edges).argmin()])
    place = np.clip(np.searchsorted(edges, margins, side="right") - 1, 0, BINS - 1)
    classes = []
    for k, name in enumerate(given.classes):
        own = given.truth == k
        if not given.w[own].any():
            continue
        wrong = (margins[own] < 0).astype(float)
        clusters = None if given.clusters is None else given.clusters[own]
        ends = proportion(wrong, given.w[own], level, clusters, given.weights is not None)
        classes.append({
            "class": str(name), "rows": int(own.sum()),
            "counts": np.bincount(place[own], given.w[own], BINS).tolist(),
            "median": float(np.median(margins[own])),
            "wrong": [float(given.w[own] @ wrong / given.w[own].sum()), ends.low, ends.high],
        })  # fmt: skip
    beyond = int(((margins < edges[0]) | (margins > edges[-1])).sum())
    certain = given.probabilities is None or bool(np.isin(given.probabilities, (0.0, 1.0)).all())
    unit = "score" if certain else "log-odds"  # of separated classes the scores have no size of their own
    return {"edges": edges.tolist(), "classes": classes, "beyond": beyond, "unit": unit}


def margins_of(given: Predictions) -> Floats | None:
    """s_y − max over the other classes; by log-probabilities where there are no scores."""
    S = given.scores
    if S is not None and S.ndim == 1:
        return np.where(given.truth == 1, S, -S)
    if S is None:
        logs = given.log_probabilities
        if logs is None:
            return None
        S = np.maximum(logs, np.log(np.finfo(float).tiny))
    rows = np.arange(given.rows)
    rest = S.copy()
    rest[rows, given.truth] = -np.inf
    return np.asarray(S[rows, given.truth] - rest.max(axis=1))
