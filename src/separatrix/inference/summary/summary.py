"""A fitted model on one page, in several forms that all show the same numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...results.verdict import plain_value
from .lines import MARK, Block, Line, Spread, cells, headings
from .measures import LeftOut, Measure
from .renderers import as_html, as_latex, as_text

NUMBERS = {"+inf": math.inf, "-inf": -math.inf, None: math.nan}
"""The numbers that JSON cannot hold, by what stands for them in a model file."""


@dataclass(frozen=True, eq=False)
class Summary:
    """What was fitted, how it ended, how well it fits, and the weights with what is known about them.

    `str(summary)` is a page of text; `to_frame`, `to_html`, `to_latex`, `to_dict` and `to_json` show the same numbers.
    """

    head: dict[str, Any]
    """What was fitted: model, classes, rows, weights, objective, l2, solver."""
    status: str
    """How the fit ended, in one word."""
    verdict: str
    """The verdict in its own words."""
    measures: tuple[Measure, ...]
    """How well it fits: `summary["aic"]` is one of them, `[each.key for each in measures]` are their names."""
    left_out: tuple[LeftOut, ...]
    """Measures that are not given, and why."""
    blocks: tuple[Block, ...]
    """For every class that has weights: the lines of the table."""
    reference: Any
    """The class that the odds are against; None in the symmetric form."""
    level: float
    """That of the intervals."""
    method: str
    """How the intervals were found: "wald" or "profile"."""
    covariance: str
    """"model", or "robust" for the sandwich."""
    refused: str | None = None
    """Why there are no intervals and no p, with the way out; None: there are."""
    forced: tuple[str, ...] = ()
    """Why the intervals and p would not mean what they seem, where they are given all the same."""
    notes: tuple[str, ...] = ()
    """What else a reader should know, in sentences."""

    @property
    def marked(self) -> bool:
        """Whether intervals and p carry the mark †."""
        return bool(self.forced)

    def __getitem__(self, key: str) -> float:
        """The measure of this name: summary["aic"]."""
        for measure in self.measures:
            if measure.key == key:
                return measure.value
        known = ", ".join(measure.key for measure in self.measures)
        raise KeyError(f"There is no measure {key!r} here; there are {known}.{self._why_left_out()}")

    def _why_left_out(self) -> str:
        return "".join(f" Left out: {', '.join(each.labels)}. {each.reason}" for each in self.left_out)

    # -------------------------------------------------------------------------------------------- what the forms share

    @property
    def has_deviations(self) -> bool:
        """Whether the table has a column of weights per standard deviation."""
        return any(line.per_deviation is not None for block in self.blocks for line in block.lines)

    @property
    def has_spread(self) -> bool:
        """Whether the table has intervals, standard errors, z and p."""
        return any(line.spread is not None for block in self.blocks for line in block.lines)

    def headings(self) -> list[str]:
        """What stands above the columns of the table."""
        return headings(
            deviations=self.has_deviations, spread=self.has_spread, level=self.level, marked=self.marked
        )  # fmt: skip

    def cells(self, line: Line) -> list[str]:
        """A line of the table, as every form shows it."""
        return cells(line, deviations=self.has_deviations, spread=self.has_spread, marked=self.marked)

    def title(self, block: Block) -> str:
        """Whose odds a block is about."""
        if block.against is None:
            return f"{block.label}: log-odds against the geometric mean of all classes"
        return f"{block.label}: log-odds against {block.against}"

    def sentences(self) -> list[str]:
        """What stands below the table."""
        said = [f"No intervals: {self.refused}"] if self.refused else []
        if self.forced:
            said.append(f"{MARK} Given because force=True asked for them. {' '.join(self.forced)}")
        said += [f"Left out: {', '.join(each.labels)}. {each.reason}" for each in self.left_out]
        return [*said, *self.notes]

    # -------------------------------------------------------------------------------------------------------- the forms

    def __str__(self) -> str:
        return as_text(self)

    def to_html(self) -> str:
        """A fragment of HTML that needs nothing else: tables with captions and headings, everything escaped."""
        return as_html(self)

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_latex(self) -> str:
        r"""Tables for LaTeX; the document needs \usepackage{booktabs}."""
        return as_latex(self)

    def to_frame(self) -> Any:
        """A pandas data frame with a row for every class and name, at full precision."""
        from pandas import DataFrame  # type: ignore[import-untyped]

        return DataFrame([self._record(block, line) for block in self.blocks for line in block.lines])

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON; what is infinite is the string "+inf" or "-inf", NaN is None."""
        return {
            **{key: plain_value(value) for key, value in self.head.items()},
            "verdict": {"status": self.status, "text": self.verdict},
            "measures": {measure.key: _plain(measure.value) for measure in self.measures},
            "left_out": [{"measures": list(each.labels), "reason": each.reason} for each in self.left_out],
            "reference": plain_value(self.reference),
            "level": self.level,
            "method": self.method,
            "covariance": self.covariance,
            "refused": self.refused,
            "forced": list(self.forced),
            "coefficients": [
                {key: _plain(value) for key, value in self._record(block, line).items()}
                for block in self.blocks
                for line in block.lines
            ],
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)

    def _record(self, block: Block, line: Line) -> dict[str, Any]:
        against = "geometric mean" if block.against is None else block.against
        record: dict[str, Any] = {"class": block.label, "against": against, "name": line.name, "weight": line.weight}
        if self.has_deviations:
            record["per_deviation"] = math.nan if line.per_deviation is None else line.per_deviation
        record["odds_ratio"] = line.odds_ratio
        if self.has_spread:
            nothing = (math.nan,) * 5
            low, high, error, z, p = line.spread or nothing
            odds = line.odds_interval or nothing[:2]
            record |= {"odds_low": odds[0], "odds_high": odds[1], "low": low, "high": high}
            record |= {"standard_error": error, "z": z, "p": p, "mark": MARK if self.marked else ""}
        return record | {"aliased": line.aliased, "tends": line.tends}


def _plain(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "+inf" if value > 0 else "-inf"
    return plain_value(value)


def stored(summary: Summary) -> dict[str, Any]:
    """All fields of a summary as plain JSON, from which a model file shows it again without the rows.

    Infinities are the strings "+inf" and "-inf", NaN is None.
    """
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
    """The summary that was stored. Anything else raises KeyError, TypeError or ValueError."""
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


def _number(kept: Any) -> float:
    if kept is None or isinstance(kept, str):
        return NUMBERS[kept]
    return kept if isinstance(kept, int) else float(kept)
