"""`separatrix schema`: how each column of a table is read, or what a command's --json holds."""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ... import __version__
from .answer import Answer, UsageError, after, files_again, typed_again
from .app import COMMANDS
from .console import table as laid_out
from .console import width_of
from .options import READING, Reading, Talking
from .tables import decisions_of, opened

MOST_LEVELS = 4
"""Levels that a line names."""


def schema(
    *data: str,
    target: Annotated[str | None, Parameter(group=READING)] = None,
    weights: Annotated[str | None, Parameter(group=READING)] = None,
    group: Annotated[tuple[str, ...], Parameter(group=READING, consume_multiple=False)] = (),
    reading: Reading = Reading(),
    talking: Talking = Talking(),
) -> Answer:
    """Show how each column of a table is read; or the JSON schema of a command.

    Parameters
    ----------
    data
        Files, or - for what is piped in. The name of a command instead prints the JSON schema of its --json answer;
        "error" that of errors, "model" that of model files.
    target
        The column to be predicted.
    weights
        The column with the weight of each row.
    group
        A column that is kept for groups, and not learnt from.
    reading
        How the table is read.
    talking
        How the command talks.
    """
    if len(data) == 1 and (data[0] in COMMANDS or data[0] in ("error", "model")) and not Path(data[0]).is_file():
        return _of_command(data[0])
    with opened(data, reading, talking) as table:
        decisions = decisions_of(table, reading, target=target, weights=weights, group=group)
        rows = table.rows
    return Answer(
        {"command": "schema", "version": __version__, "rows": rows, "columns": [_plain(each) for each in decisions]},
        text=_text(decisions),
        words=_words(decisions, rows),
        next=_next(data, target, typed_again(reading, seed=talking.seed)),
    )


def published(command: str) -> dict[str, Any] | None:
    """The JSON schema of a command's answer, or of model files; None of a command that answers in no JSON."""
    file = files(__package__) / "schemas" / f"{command}.json"
    if command == "model":
        file = files("separatrix.app.models") / "schema" / "model-1.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def _of_command(command: str) -> Answer:
    found = published(command)
    if found is None:
        raise UsageError(f"{command} has no JSON answer.")
    return Answer(found, text=json.dumps(found, indent=2, ensure_ascii=False))


def _plain(decision: Any) -> dict[str, Any]:
    """A decision as JSON has it; a column without a mean has none."""
    return {
        "name": decision.name,
        "kind": decision.kind,
        "why": decision.why,
        "missing": int(decision.missing),
        "distinct": None if decision.distinct is None else int(decision.distinct),
        "levels": [
            {"level": level, "count": int(count)}
            for level, count in zip(decision.levels, decision.counts or (0,) * len(decision.levels), strict=True)
        ],
        **{name: _number(getattr(decision, name)) for name in ("minimum", "maximum", "mean", "deviation")},
    }


def _number(value: float | None) -> float | None:
    """A number, where it is one."""
    return float(value) if value is not None and abs(value) < float("inf") else None


def _text(decisions: tuple[Any, ...]) -> str:
    """A line for each column; how many values are missing is told where some are."""
    some = any(each.missing for each in decisions)
    rows = [
        (each.name, each.kind, *([str(each.missing or "")] if some else []), _values(each), each.why)
        for each in decisions
    ]
    header = ("column", "read as", *(["missing"] if some else []), "values", "because")
    return laid_out(header, rows, right=(2,) if some else (), width=width_of(sys.stdout))


def _values(decision: Any) -> str:
    """A column's range, or its most frequent levels: the first is the reference."""
    if decision.levels:
        named = ", ".join(decision.levels[:MOST_LEVELS])
        return f"{named}, …" if len(decision.levels) > MOST_LEVELS else named
    if decision.minimum is not None and decision.maximum is not None:
        return f"{decision.minimum:.6g} to {decision.maximum:.6g}"
    return ""


def _words(decisions: tuple[Any, ...], rows: int) -> str:
    counts = {kind: sum(each.kind == kind for each in decisions) for kind in ("number", "category", "ignored")}
    return (
        f"{rows} rows, {len(decisions)} columns: {counts['number']} numbers, {counts['category']} categories, "
        f"{counts['ignored']} ignored. To read one otherwise: --number, --category, --drop, --na."
    )


def _next(data: tuple[str, ...], target: str | None, same: list[str]) -> str:
    import shlex

    named = shlex.join(files_again(data))
    return f"separatrix fit {named} --target {shlex.quote(target) if target else 'COLUMN'}{after(same)}"
