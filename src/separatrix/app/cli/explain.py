"""`separatrix explain`: single predictions in words, from the base rate to the probability."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

from cyclopts import Parameter

from ... import __version__
from .answer import Answer, UsageError, after, files_again, typed_again
from .console import table as text_table
from .options import Talking, as_at_the_fit
from .predict import NewRows, open_for

MOST = 20
"""Rows that are explained at once."""
MOST_SHOWN = 10
"""Contributions that are shown of a score."""


def explain(
    model: str,
    /,
    *data: str,
    row: Annotated[tuple[int, ...], Parameter(consume_multiple=False)] = (),
    for_class: str | None = None,
    against: str | None = None,
    rows: NewRows = NewRows(),
    talking: Talking = Talking(),
) -> Answer:
    """Explain single predictions of a saved model.

    Of a logistic model: from the share of the class in the training rows to the probability of this row, each column
    with what it multiplies the odds by. Of another linear model: what each column adds to the score.

    Parameters
    ----------
    model
        The file that fit wrote.
    data
        Files, or - for what is piped in.
    row
        Which row, counted from 1 after --where; may be repeated. Without it the table must have few rows.
    for_class
        Whose probability is explained; of two classes the second, of more the one predicted.
    against
        Of more than two classes: the one that the odds are against.
    rows
        How the table is read.
    talking
        How the command talks.
    """
    from ..models.file import read
    from ..tasks.lesson import Rows
    from ..tasks.places import told_of_the_table
    from ..tasks.predicting import PredictionOptions, check_columns
    from ..tasks.saved import explanation_of

    saved = read(model)
    typed, (rows, told) = rows, as_at_the_fit(rows, saved, data)
    PredictionOptions().check(saved)
    asked = {"for_class": _label(saved, "--for-class", for_class), "against": _label(saved, "--against", against)}
    assert saved.encoding is not None
    with open_for(saved, data, rows, talking, verbatim=False) as table:
        check_columns(saved, table)
        places = _places(row, table.rows)
        X = saved.encoding.matrix(table, unseen=rows.unseen)[places]
        where, found = [str(place) for place in table.places(places)], []
        for k in range(len(places)):
            with told_of_the_table(Rows(table, places[k:]).place, saved.encoding):
                found.append(explanation_of(saved, X[k : k + 1], **asked))
    records = [
        {"row": place + 1, "place": at, **{key: part for key, part in each.items() if key != "text"}}
        for place, at, each in zip(places, where, found, strict=True)
    ]
    pages = [f"{at}\n\n{_page(each)}" for at, each in zip(where, found, strict=True)]
    return Answer(
        {"command": "explain", "version": __version__, "model": model, "rows": records},
        text="\n\n".join(pages),
        words=told,
        next=f"separatrix predict {shlex.quote(model)} {shlex.join(files_again(data))} --explain"
        + after(typed_again(typed, seed=talking.seed)),
        notes=("The fit of this model was interrupted.",) if saved.interrupted else (),
    )


def _places(asked: tuple[int, ...], count: int) -> list[int]:
    for each in asked:
        if not 1 <= each <= count:
            raise UsageError(f"--row {each}: the table has the rows 1 to {count}.")
    if asked:
        return [each - 1 for each in asked]
    if count > MOST:
        raise UsageError(f"The table has {count} rows: say which, with --row 1, or --where.")
    return list(range(count))


def _label(saved: Any, option: str, typed: str | None) -> Any:
    """The class of this text, as the model has it."""
    if typed is None:
        return None
    known = {str(each): each for each in saved.classes}
    if typed not in known:
        from ..tables.errors import did_you_mean

        meant = f"{option} {typed}: the model has no such class. {did_you_mean(typed, known)}".rstrip()
        raise UsageError(f"{meant} It has {', '.join(known)}.")
    return known[typed]


def _page(found: dict[str, Any]) -> str:
    """An explanation for people: by log-odds, or what each column adds to the score."""
    return f"Predicted: {found['prediction']}.\n{found['text']}" if "text" in found else _score_text(found)


def _score_text(data: dict[str, Any]) -> str:
    from ..tables.cells import Cell
    from ..tasks.predicting import cell_text

    steps, rest = data["contributions"][:MOST_SHOWN], data["contributions"][MOST_SHOWN:]
    rows = [["average row", f"{data['base']:+.4g}"]]
    rows += [[cell_text(Cell(each["name"], each["value"])), f"{each['contribution']:+.4g}"] for each in steps]
    if rest:
        rows.append([f"{len(rest)} other columns", f"{sum(each['contribution'] for each in rest):+.4g}"])
    rows.append([f"{data['class']} against {data['against']}", f"{data['score']:+.4g}"])
    return f"Predicted: {data['prediction']}. The score has no unit: its sign decides.\n\n" + text_table(
        ["", "score"], rows, right=(1,)
    )
