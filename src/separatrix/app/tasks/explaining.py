"""One row of a saved model, explained."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...numerics.arrays import Floats
from ..cli.answer import UsageError
from ..cli.console import table as laid_out
from ..tables.cells import Cell
from .predicting import by_column, said

MOST = 10
"""Contributions that are shown."""


class Explained(NamedTuple):
    """The same for programs and for people."""

    data: dict[str, Any]
    text: str


def explained(model: Any, x: Floats, *, for_class: Any, against: Any) -> Explained:
    """By log-odds where the model has them, else by its scores."""
    rule = model.rule
    if getattr(rule, "likely", False) or getattr(rule, "separated", False):
        return _by_odds(model, x, for_class, against)
    if rule.linear() is None:
        raise UsageError(f"{model.learner} is not linear in its columns: no column has a contribution of its own.")
    return _by_score(model, x, for_class, against)


def _by_odds(model: Any, x: Floats, for_class: Any, against: Any) -> Explained:
    try:
        found = model.explain(x, for_class=for_class, against=against)
    except ValueError as error:  # two classes that are one, or numbers too large: the sentence says it
        raise UsageError(str(error)) from error
    label = str(model.labels(x)[0])
    return Explained({"prediction": label, "kind": "log-odds", **found.to_dict()}, f"Predicted: {label}.\n{found}")


def _by_score(model: Any, x: Floats, for_class: Any, against: Any) -> Explained:
    """score = score of the average row + Σⱼ wⱼ(xⱼ − x̄ⱼ)."""
    sizes, score, classes = model.contributions(x)[0], model.scores(x)[0], list(model.classes)
    label = model.labels(x)[0].item() if hasattr(model.labels(x)[0], "item") else model.labels(x)[0]
    if sizes.ndim == 2:
        k = classes.index(label if for_class is None else for_class)
        rivals = [j for j in range(len(classes)) if j != k]
        r = max(rivals, key=lambda j: (score[j], j)) if against is None else classes.index(against)
        if k == r:
            raise UsageError(f"The class that is explained and the one against it are both {classes[k]!r}: name two.")
        sizes, total = sizes[k] - sizes[r], float(score[k] - score[r])
    else:
        k = 1 if for_class is None else classes.index(for_class)
        r, sign = 1 - k, 1.0 if k == 1 else -1.0
        sizes, total = sign * sizes, sign * float(score)
    base = total - float(np.sum(sizes))
    steps = [
        {"name": cell.name, "value": cell.value, "contribution": size}
        for cell, size in by_column(model, x, sizes[None], most=sizes.size)[0]
    ]
    data = {
        "prediction": str(label), "kind": "score", "class": str(classes[k]), "against": str(classes[r]), "base": base,
        "contributions": steps, "score": total,
    }  # fmt: skip
    return Explained(data, _score_text(data))


def _score_text(data: dict[str, Any]) -> str:
    steps, rest = data["contributions"][:MOST], data["contributions"][MOST:]
    rows = [["average row", f"{data['base']:+.4g}"]]
    rows += [[said(Cell(each["name"], each["value"])), f"{each['contribution']:+.4g}"] for each in steps]
    if rest:
        rows.append([f"{len(rest)} other columns", f"{sum(each['contribution'] for each in rest):+.4g}"])
    rows.append([f"{data['class']} against {data['against']}", f"{data['score']:+.4g}"])
    return f"Predicted: {data['prediction']}. The score has no unit: its sign decides.\n\n" + laid_out(
        ["", "score"], rows, right=(1,)
    )
