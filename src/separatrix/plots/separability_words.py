"""What the picture of a certificate says in words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..results.hulls import involved
from ..results.separability import Separability
from ..results.verdict import listed
from .style import plural


class Words(NamedTuple):
    """The entries of the legend."""

    line: str
    band: str = "_"
    rings: str = "_"


LEGEND = {
    "separated": Words("a line that separates", "its margin", "nearest rows"),
    "quasi-separated": Words("a line that errs on no row", "_", "rows that stay on it"),
    "crossing": Words("a point of both hulls"),
    "cones": Words("mixtures in one direction"),
}
"""By the kind of separation, and for what meets."""


def title(result: Separability, count: int) -> str:
    """The kind, and what one sees of its proof; count is how many rows count."""
    if result.kind == "quasi-separated":
        return _quasi(result, count - len(result.rows))
    return _separated(result) if result.kind == "separated" else _overlap(result)


def _line(result: Separability) -> str:
    return "line" if result.fit_intercept else "line through the origin"


def _separated(result: Separability) -> str:
    parts = f"classes {listed(result.classes)}"
    what = f"a {_line(result)} parts" if len(result.classes) == 2 else f"{_line(result)}s part"
    return f"Separated: {what} {parts},\nthe nearest row is {result.certificate.margin:.3g} away"


def _quasi(result: Separability, stay: int) -> str:
    off = len(result.rows)
    if len(result.classes) > 2:
        return (
            f"Quasi-separated: {_line(result)}s put no row on a wrong side,\n{plural(off)} lie off them, {stay} do not"
        )
    start = f"Quasi-separated: no row is on the wrong side of the {_line(result)};"
    return f"{start}\n{plural(off)} off it, {stay} stay on it, where the hulls meet"


def _overlap(result: Separability) -> str:
    crossing = result.certificate.crossing
    if crossing is None:
        return "Overlap"
    classes = involved(crossing)
    names = [result.classes[k] for k in classes]
    if len(classes) > 2:
        return f"Overlap of classes {listed(names)}: a mixture of rows of each\nis a mixture of rows of the others"
    sides = [int(np.count_nonzero(crossing.own == k)) for k in classes]
    if not all(sides) or not result.fit_intercept:
        return f"Overlap: no {_line(result)} is right\non all {plural(len(crossing))} of the mixture"
    first, second = (f"a mixture of {plural(n)} of class {name}" for n, name in zip(sides, names, strict=True))
    return f"Overlap: {first}\nis {second}"
