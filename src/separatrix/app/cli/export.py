"""`separatrix export`: a saved model as ONNX, SQL, Python, C or formulas."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from ... import __version__
from ..tables.errors import Remedy
from .answer import Answer, UsageError
from .options import Talking

NAMED = Group("How the export names things", sort_key=1)


def export(
    model: str,
    /,
    *,
    to: Literal["onnx", "sql", "python", "c", "spreadsheet"],
    dialect: Literal["duckdb", "postgresql", "sqlite"] | None = None,
    unseen: Literal["error", "reference"] = "error",
    probabilities: bool = True,
    output: Annotated[str | None, Parameter(name=["--output", "-o"])] = None,
    table: Annotated[str | None, Parameter(group=NAMED)] = None,
    keep: Annotated[tuple[str, ...], Parameter(group=NAMED, consume_multiple=False)] = (),
    prefix: Annotated[str | None, Parameter(group=NAMED)] = None,
    name: Annotated[str | None, Parameter(group=NAMED)] = None,
    header: Annotated[tuple[str, ...], Parameter(group=NAMED, consume_multiple=False)] = (),
    row: Annotated[int | None, Parameter(group=NAMED)] = None,
    talking: Talking = Talking(),
) -> Answer:
    """Write a saved model as ONNX, SQL, Python, C or formulas.

    What is written takes the cells of a table, numbers, texts and missing values, and gives label, scores and
    probabilities, with nothing of Separatrix needed. Where the model would refuse a row, it gives no answer: NULL, NaN,
    None, a blank. It is run on a few rows before it is given, where that can be done here, and says so.

    Parameters
    ----------
    model
        The file of the model.
    to
        What is written: an ONNX graph, an SQL query, a Python function, a C function, or formulas for a spreadsheet.
    dialect
        Of SQL; duckdb unless given.
    unseen
        What a level that no training row had gets: no answer, or that of the reference level.
    probabilities
        Whether probabilities are given, where the model has them.
    output
        The file; without it the text goes to stdout.
    table
        Of SQL: the table that is asked, "data" unless given.
    keep
        Of SQL: a column that goes through to the answer; those of the model unless given. May be repeated.
    prefix
        Of SQL, ONNX and spreadsheets: what the names of the answers begin with.
    name
        Of Python and C: the name of the function, predict unless given.
    header
        Of spreadsheets: a column of the sheet. Repeated, all of them in their order; those of the model unless given.
    row
        Of spreadsheets: the row that the formulas are for, 2 unless given.
    talking
        How the command talks.
    """
    from ..exports.export import TARGETS, exported
    from ..models.file import read

    given: dict[str, Any] = {
        "dialect": dialect, "table": table, "keep": list(keep) or None, "prefix": prefix, "name": name,
        "header": list(header) or None, "row": row,
    }  # fmt: skip
    options = {key: value for key, value in given.items() if value is not None}
    strange = sorted(set(options) - TARGETS[to].options)
    if strange:
        fitting = ", ".join(f"--{each}" for each in sorted(TARGETS[to].options))
        raise UsageError(f"--{strange[0]} is no option of --to {to}, which has {fitting}.")
    if to == "onnx" and output is None:
        raise UsageError("ONNX is bytes, and needs a file.", Remedy("name one", "output", "model.onnx"))
    made = exported(read(model), to, unseen=unseen, probabilities=probabilities, **options)
    return _answer(made, model, to, options, output)


def _answer(made: Any, model: str, to: str, options: dict[str, Any], output: str | None) -> Answer:
    from .console import write_file

    text = made.content if isinstance(made.content, str) else None
    replaced = output is not None and write_file(output, made.content)
    where = f"The model is in {output}{', which was replaced' if replaced else ''}. " if output is not None else ""
    size = len(made.content if text is None else text.encode())
    data = {
        "command": "export", "version": __version__, "model": model, "to": to,
        "dialect": options.get("dialect", "duckdb") if to == "sql" else None, "output": output, "bytes": size,
        "checked_rows": made.rows, "checked": made.checked, "text": text if output is None else None,
    }  # fmt: skip
    return Answer(data, text=text or "" if output is None else "", words=where + made.checked)
