"""The table that a command is about."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from .console import is_terminal, shortened
from .failing import NoDataError
from .options import Reading, Talking
from .progress import Waiting

Watch = Callable[[Callable[[], float]], None]
"""What is called as duckdb begins to read, with a function that gives the share that has been read."""


def sources_of(data: Sequence[str]) -> tuple[str, ...]:
    """The files that were named; without any, what is piped in; with neither, the help of the command."""
    if data:
        return tuple(data)
    if sys.stdin is None or is_terminal(sys.stdin):
        raise NoDataError("name a file, or pipe a table in.")
    return ("-",)


@contextmanager
def opened(
    data: Sequence[str], reading: Reading, talking: Talking, meanwhile: Watch = lambda share: None,
    *, fingerprint: bool = False,
) -> Iterator[Any]:  # fmt: skip
    """The table, read as the options say; what is dropped is decided later. `meanwhile` is called as duckdb begins."""
    sources = sources_of(data)
    from ..tables.opening import open_table  # type: ignore[import-not-found, import-untyped, unused-ignore]

    said = {each.name: getattr(reading, each.name) for each in fields(reading) if each.name != "drop"}
    with shown(sources, talking, meanwhile) as begun:
        table = open_table(sources, **said, seed=talking.seed, watch=begun, fingerprint=fingerprint)
    with table:
        yield table


@contextmanager
def shown(sources: Sequence[str], talking: Talking, meanwhile: Watch = lambda share: None) -> Iterator[Watch]:
    """What is to be called as duckdb begins to read: from then on it is shown how far it is."""
    named = shortened(" ".join(sources), 40)
    with Waiting(talking, f"reading {named}") as waiting:

        def begun(share: Callable[[], float]) -> None:
            meanwhile(share)
            waiting.begin(share=share)

        yield begun


def decisions_of(
    table: Any, reading: Reading, *, target: str | None = None, weights: str | None = None, group: Sequence[str] = ()
) -> tuple[Any, ...]:
    """How each column is read."""
    from ..tasks import lesson

    return lesson.decisions_of(
        table, target=target, weights=weights, group=group, number=reading.number, category=reading.category,
        drop=reading.drop, na=reading.na,
    )  # fmt: skip


def let_go(table: Any, decisions: Sequence[Any]) -> None:
    """Tell a table that nothing will be asked of it but what was decided on: it need not hold its rows twice."""
    release = getattr(table, "let_go", None)
    if release is not None:
        kinds = ("number", "weights"), ("category", "target", "group")
        release(*([each.name for each in decisions if each.kind in some] for some in kinds))
