"""A summary as plain JSON, and again: a model file keeps it, and shows it without the rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ...results.verdict import plain_value
from .lines import Block, Line, Spread
from .measures import LeftOut, Measure
from .summary import Summary

SIZES = {"+inf": math.inf, "-inf": -math.inf, None: math.nan}


def stored(summary: Summary) -> dict[str, Any]:
    """All fields of a summary; what is infinite is the string "+inf" or "-inf", NaN is None."""
    return {
        "head": {key: plain_value(value) for key, value in summary.head.items()},
        "status": summary.status,
        "verdict": summary.verdict,
        "measures": [{"key": each.key, "label": each.label, "value": _plain(each.value)} for each in summary.measures],
        "left_out": [{"labels": list(each.labels), "reason": each.reason} for each in summary.left_out],
        "blocks": [
            {
                "label": plain_value(block.label),
                "against": plain_value(block.against),
                "lines": [_line(line) for line in block.lines],
            }
            for block in summary.blocks
        ],
        "reference": plain_value(summary.reference),
        "level": summary.level,
        "method": summary.method,
        "covariance": summary.covariance,
        "refused": summary.refused,
        "forced": list(summary.forced),
        "notes": list(summary.notes),
    }


def restored(kept: Mapping[str, Any]) -> Summary:
    """The summary again, with the same numbers. A KeyError, TypeError or ValueError: it is none of ours."""
    head = {key: tuple(value) if isinstance(value, list) else value for key, value in kept["head"].items()}
    return Summary(
        head, str(kept["status"]), str(kept["verdict"]),
        tuple(Measure(str(each["key"]), str(each["label"]), _number(each["value"])) for each in kept["measures"]),
        tuple(LeftOut(tuple(map(str, each["labels"])), str(each["reason"])) for each in kept["left_out"]),
        tuple(Block(each["label"], each["against"], tuple(map(_as_line, each["lines"]))) for each in kept["blocks"]),
        kept["reference"], float(kept["level"]), str(kept["method"]), str(kept["covariance"]),
        None if kept["refused"] is None else str(kept["refused"]),
        tuple(map(str, kept["forced"])), tuple(map(str, kept["notes"])),
    )  # fmt: skip


def _line(line: Line) -> dict[str, Any]:
    return {
        "name": line.name,
        "weight": _plain(line.weight),
        "per_deviation": "none" if line.per_deviation is None else _plain(line.per_deviation),
        "spread": None if line.spread is None else [_plain(each) for each in line.spread],
        "aliased": bool(line.aliased),
        "tends": line.tends,
    }


def _as_line(kept: Mapping[str, Any]) -> Line:
    own = None if kept["per_deviation"] == "none" else _number(kept["per_deviation"])
    spread = None if kept["spread"] is None else Spread(*map(_number, kept["spread"]))
    return Line(str(kept["name"]), _number(kept["weight"]), own, spread, bool(kept["aliased"]), str(kept["tends"]))


def _plain(value: float) -> Any:
    value = plain_value(value) if math.isfinite(value) else float(value)  # degrees of freedom are whole
    return value if math.isfinite(value) else None if math.isnan(value) else "+inf" if value > 0 else "-inf"


def _number(kept: Any) -> float:
    if kept is None or isinstance(kept, str):
        return SIZES[kept]
    return kept if isinstance(kept, int) else float(kept)
