"""`separatrix predict`: the rows of a table with what a saved model says of them."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ... import __version__
from ..files import check_path
from ..tables.errors import Remedy
from .answer import Answer, UsageError, after, explain_again, typed_again
from .console import is_terminal
from .options import READING, Talking, as_at_the_fit

if TYPE_CHECKING:
    import numpy as np

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


@Parameter(name="*")
@dataclass(frozen=True)
class NewRows:
    """How the table is read; what its columns are is the model's to say."""

    input_format: Annotated[
        Literal["csv", "tsv", "jsonl", "json", "parquet", "libsvm", "npy"] | None, Parameter(group=READING)
    ] = None
    """The format of the table, where the name of the file does not tell."""
    na: Annotated[tuple[str, ...], Parameter(group=READING, consume_multiple=False)] = ()
    """A text that stands for a missing value, besides the empty cell; by default those of the fit. May be repeated."""
    where: Annotated[str | None, Parameter(group=READING)] = None
    """Only rows for which this SQL condition holds: --where "age >= 18"."""
    sample: Annotated[int | None, Parameter(group=READING)] = None
    """Only so many rows, drawn at random (see --seed)."""
    header: Annotated[bool | None, Parameter(group=READING)] = None
    """Whether the first line names the columns; by default as at the fit, where the files are of the same kind."""
    encoding: Annotated[str | None, Parameter(group=READING)] = None
    """How the letters of a text file are encoded, if not in UTF-8; by default as at the fit, where the files
    are of the same kind."""
    decimal: Annotated[Literal[".", ","] | None, Parameter(group=READING)] = None
    """The decimal sign of a text table; by default as at the fit, where the files are of the same kind."""
    unseen: Annotated[Literal["error", "reference"], Parameter(group=READING)] = "error"
    """What a level is that no training row had: an error, or the reference."""


def predict(
    model: str,
    /,
    *data: str,
    output: Annotated[str | None, Parameter(name=["--output", "-o"])] = None,
    format: Literal["csv", "tsv", "json", "jsonl", "parquet"] | None = None,  # noqa: A002
    proba: Annotated[bool, Parameter(negative="")] = False,
    distance: Annotated[bool, Parameter(negative="")] = False,
    explain: Annotated[bool, Parameter(negative="")] = False,
    only: Annotated[bool, Parameter(negative="")] = False,
    threshold: float | None = None,
    prefix: str = "",
    rows: NewRows = NewRows(),
    talking: Talking = Talking(),
) -> Answer:
    """Predict the rows of a table with a saved model.

    All columns of the table come out as they went in, then the column prediction and what else was asked for. The
    columns may be in any order, there may be more of them, and the target need not be there.

    Parameters
    ----------
    model
        The file that fit wrote.
    data
        Files, or - for what is piped in.
    output
        Write the rows to this file, not to stdout; one that is there is replaced.
    format
        How the rows are written; the name of the output tells, else csv.
    proba
        Add a column with the probability of each class.
    distance
        Add the distance from the boundary, in the units of the features.
    explain
        Add the largest contributions to the score, in words.
    only
        Leave the columns of the table out.
    threshold
        Of two classes: predict the second where its probability is at least this.
    prefix
        Put this before the names of the columns that are added.
    rows
        How the table is read.
    talking
        How the command talks.
    """
    from ..models.file import read
    from ..tasks import predicting

    saved = read(model)
    typed, (rows, told) = rows, as_at_the_fit(rows, saved, data)
    options = predicting.PredictionOptions(proba, distance, explain, threshold, prefix)
    options.check(saved)
    kind = _format(output, format)
    if output is not None:
        check_path("output", output, (model, *data), "predicted.csv")
    elif kind == "parquet" and not talking.json and is_terminal(sys.stdout):
        raise UsageError("Parquet is not for the screen: name a file with --output.")
    with open_for(saved, data, rows, talking, verbatim=not (only or talking.json)) as table:
        found = predicting.predict(saved, table, options, rows.unseen)
        if not (only or talking.json):
            _check_names(found.columns, table.names, prefix)
        if output is not None:
            table.write(output, kind, found.columns, only=only)
        elif not talking.json:
            sys.stdout.flush()
            table.write(sys.stdout.buffer, kind, found.columns, only=only)
        data_out = {
            "command": "predict",
            "version": __version__,
            "model": model,
            "learner": saved.learner,
            "classes": [str(each) for each in saved.classes],
            "threshold": threshold,
            "rows": table.rows,
            "output": output,
            "counts": found.counts(saved.classes),
            "predictions": found.records() if output is None and talking.json else None,
        }
        count = table.rows
    return Answer(
        data_out, words=" ".join(filter(None, (_words(count, found.counts(saved.classes), output), told))),
        next=explain_again(saved, model, data, after(typed_again(typed, seed=talking.seed))), notes=_notes(saved),
    )  # fmt: skip


def _format(output: str | None, asked: str | None) -> str:
    if asked is not None:
        return asked
    suffix = "" if output is None else Path(output).suffix.lower()
    if suffix and suffix not in SUFFIXES:
        raise UsageError(
            f"--output {output}: {suffix!r} tells no format; add --format csv, tsv, json, jsonl or parquet."
        )
    return SUFFIXES.get(suffix, "csv")


def _check_names(added: dict[str, np.ndarray[Any, Any]], there: tuple[str, ...], prefix: str) -> None:
    taken = [name for name in added if name in there]
    if taken:
        raise UsageError(
            f"The table has a column {taken[0]!r} already, and the model would add one of that name.",
            Remedy("call it otherwise", call=f"--prefix {shlex.quote((prefix or '') + 'model ')}"),
            Remedy("or leave the columns of the table out", call="--only"),
        )


def open_for(saved: Any, data: tuple[str, ...], rows: NewRows, talking: Talking, *, verbatim: bool) -> Any:
    """The table, its columns read as the model needs them; `verbatim`: to be written out again."""
    from ..tables.opening import open_table
    from .tables import shown, sources_of

    columns, sources = () if saved.encoding is None else saved.encoding.columns, sources_of(data)
    with shown(sources, talking) as begun:
        return open_table(
            sources, format=rows.input_format, na=rows.na, where=rows.where, sample=rows.sample, seed=talking.seed,
            header=rows.header, encoding=rows.encoding, decimal=rows.decimal or ".",
            number=[each.name for each in columns if each.kind == "number"],
            category=[each.name for each in columns if each.kind == "category"], keep_text=verbatim, watch=begun,
        )  # fmt: skip


def _words(rows: int, counts: dict[str, int], output: str | None) -> str:
    shares = ", ".join(f"{label!r} {count}" for label, count in counts.items())
    where = "" if output is None else f" They are in {output}."
    return f"{rows} {'row' if rows == 1 else 'rows'} predicted: {shares}.{where}"


def _notes(saved: Any) -> tuple[str, ...]:
    return ("The fit of this model was interrupted.",) if saved.interrupted else ()
