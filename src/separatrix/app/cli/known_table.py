"""How a table is read whose columns a saved model knows."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from .options import READING, Reading


@Parameter(name="*")
@dataclass(frozen=True)
class KnownTable:
    """What the user says about a table; what its columns are is the model's to say."""

    format: Annotated[
        Literal["csv", "tsv", "jsonl", "json", "parquet", "libsvm", "npy"] | None, Parameter(group=READING)
    ] = None
    """The format, where the name of the file does not tell."""
    na: Annotated[tuple[str, ...], Parameter(group=READING, consume_multiple=False)] = ()
    """A text that stands for a missing value, besides the empty cell; by default those of the fit. May be repeated."""
    where: Annotated[str | None, Parameter(group=READING)] = None
    """Only rows for which this SQL condition holds: --where "age >= 18"."""
    sample: Annotated[int | None, Parameter(group=READING)] = None
    """Only so many rows, drawn at random (see --seed)."""
    header: Annotated[bool | None, Parameter(group=READING)] = None
    """Whether the first line names the columns; by default as at the fit, where the files are of the same kind."""
    encoding: Annotated[str | None, Parameter(group=READING)] = None
    """How the letters of a text file are encoded, if not in UTF-8: latin-1, cp1252, utf-16; by default as
    at the fit, where the files are of the same kind."""
    decimal: Annotated[Literal[".", ","] | None, Parameter(group=READING)] = None
    """The decimal sign of a text table; by default as at the fit, where the files are of the same kind."""

    def reading(self, model: Any = None) -> Reading:
        """The same for a table that is opened, its columns as the model has them."""
        columns = () if model is None or model.encoding is None else model.encoding.columns
        kinds = {kind: tuple(each.name for each in columns if each.kind == kind) for kind in ("number", "category")}
        own = {each.name: getattr(self, each.name) for each in fields(self)} | {"decimal": self.decimal or "."}
        return Reading(**own, number=kinds["number"], category=kinds["category"])
