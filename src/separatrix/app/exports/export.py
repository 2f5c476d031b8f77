"""`separatrix.export`: a model as a program of another language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from ...errors import SettingError, SettingTypeError
from ...wording import setting
from ..models.model import Model
from .building import is_broken, program_of
from .c import c_text
from .checking import (
    NotRunError,
    answers_of,
    difference,
    run_nothing,
    run_onnx,
    run_python,
    run_sql,
    trial_rows,
)
from .onnx import onnx_bytes
from .python import python_text
from .spreadsheet import spreadsheet_text
from .sql import sql_text

Unseen = Literal["error", "reference"]


class Target(NamedTuple):
    """How an export is written and run, and which options it has."""

    write: Callable[..., str | bytes]
    run: Callable[..., list[dict[str, Any]]]
    options: frozenset[str]


TARGETS = {
    "onnx": Target(onnx_bytes, run_onnx, frozenset({"prefix"})),
    "sql": Target(sql_text, run_sql, frozenset({"dialect", "table", "keep", "prefix"})),
    "python": Target(python_text, run_python, frozenset({"name"})),
    "c": Target(c_text, run_nothing, frozenset({"name"})),
    "spreadsheet": Target(spreadsheet_text, run_nothing, frozenset({"header", "row", "prefix"})),
}


class Export(NamedTuple):
    """What was made, and whether it was run."""

    content: str | bytes
    checked: str
    """A sentence: how many rows were run through it, or why none was."""
    rows: int
    """That were run and agreed."""


def export(model: Any, to: str, *, unseen: Unseen = "error", probabilities: bool = True, **options: Any) -> str | bytes:
    """x ↦ scores, P(k | x), ŷ, written in another language: from cells of a table, with nothing of ours needed.

    Parameters
    ----------
    model
        A `Model`, or a fitted learner.
    to
        "onnx" (bytes), "sql", "python", "c" or "spreadsheet" (texts).
    unseen
        What is made of a level that no training row had: no answer ("error"), or that of the reference level.
    probabilities
        Whether they are given, where the model has them.
    options
        Of sql: `dialect` ("duckdb", "postgresql", "sqlite"), `table`, `keep` (columns that go through; those of the
        model unless given), `prefix` (of the answers' names). Of onnx: `prefix`. Of python and c: `name` of the
        function. Of spreadsheet: `header` (the columns of the sheet in their order), `row` (the first one), `prefix`.

    Where the model would refuse a row, the export gives no answer: NULL, NaN, None, a blank. Python, SQL of DuckDB and
    SQLite, and ONNX are run on a few rows before they are returned, as far as what runs them is installed; the export
    says so. A model that has no such form is refused by name with a `CannotExportError`.
    """
    return exported(model, to, unseen=unseen, probabilities=probabilities, **options).content


def exported(model: Any, to: str, *, unseen: Unseen = "error", probabilities: bool = True, **options: Any) -> Export:
    """What `export` gives, and what is to be said about it."""
    target = _target(to, options)
    if unseen not in ("error", "reference"):
        raise SettingError("unseen", unseen, "it must be 'error' or 'reference'.")
    _check_texts(options)
    model = _model(model)
    program = program_of(model, unseen=unseen, probabilities=probabilities)
    rows = trial_rows(model)
    sentence = f"{len(rows)} rows were run through it and agree with the model to 1e-12 of what they sum up."
    content = target.write(program, sentence, **options)
    try:
        found = target.run(content, program, rows, **options)
    except NotRunError as reason:
        return Export(target.write(program, str(reason), **options), str(reason), 0)
    wrong = difference(program, rows, answers_of(model, rows, unseen, probabilities), found)
    if wrong:
        raise RuntimeError(f"The export to {to!r} does not agree with the model, and is not given. {wrong}")
    return Export(content, sentence, len(rows))


def _target(to: str, options: dict[str, Any]) -> Target:
    if to not in TARGETS:
        raise SettingError("to", to, f"it must be one of {', '.join(map(repr, TARGETS))}.")
    target = TARGETS[to]
    strange = sorted(set(options) - target.options)
    if strange:
        raise SettingTypeError(
            strange[0], options[strange[0]], "",
            f"{to!r} has no option {strange[0]!r}; it has {', '.join(sorted(target.options))}, unseen and "
            "probabilities.",
        )  # fmt: skip
    return target


def _check_texts(options: dict[str, Any]) -> None:
    """Names that are given, by the rule for those of the model."""
    for name, value in options.items():
        for text in [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []:
            if not isinstance(text, str) or is_broken(text):
                raise SettingError(
                    name, text, "texts without the sign 0 and half signs are needed.", f"{setting(name)} has {text!r};"
                )


def _model(model: Any) -> Model:
    if isinstance(model, Model):
        return model
    from ..models.from_learner import model_of

    return model_of(model)
