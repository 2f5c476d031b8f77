"""`separatrix report`: a model and a table on one page that holds everything."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from .. import __version__
from .answer import Answer, UsageError
from .files import check_output, write_whole
from .known_table import KnownTable
from .options import Talking

if TYPE_CHECKING:
    from ..report.inputs import Inputs

REPORTING = Group("What is reported", sort_key=0)
LARGEST = 500_000
"""Bytes of a page; a model file that makes it larger is not put into it."""


def report(
    model: str,
    /,
    *data: str,
    output: Annotated[str | None, Parameter(name=["--output", "-o"])] = None,
    format: Annotated[Literal["html", "json"], Parameter(group=REPORTING)] = "html",  # noqa: A002
    target: Annotated[str | None, Parameter(group=REPORTING)] = None,
    cv: Annotated[int, Parameter(group=REPORTING)] = 5,
    positive: Annotated[str | None, Parameter(group=REPORTING)] = None,
    level: Annotated[float, Parameter(group=REPORTING)] = 0.95,
    unseen: Annotated[Literal["error", "reference"], Parameter(group=REPORTING)] = "reference",
    reading: KnownTable = KnownTable(),
    talking: Talking = Talking(),
) -> Answer:
    """Write a report on a model: one HTML file that opens anywhere, offline.

    It begins with what was checked, passed and failed; then the table, the weights with their intervals, a form that
    scores one row, and how well rows are predicted that were held out: the model's learner is fitted anew without each
    fold of these rows, with the model's own parameters.

    Parameters
    ----------
    model
        The file of the model.
    data
        Files, or - for what is piped in.
    output
        The file to write, report.html (or report.json) by default; one that is there is replaced.
    format
        html, or json: all that the page shows, as data.
    target
        The column with the true classes; by default the one that the model was learnt for.
    cv
        How many folds are held out in turn.
    positive
        Of two classes the one that curves and points are about; by default the second.
    level
        How often an interval holds the truth.
    unseen
        What a level is that the model has not seen: counted as the reference, which a check tells, or an error.
    reading
        How the table is read.
    talking
        How the command talks.
    """
    if not 0 < level < 1:
        raise UsageError(f"--level is {level:g}; give a number between 0 and 1, such as 0.95.")
    if cv < 2:
        raise UsageError(f"--cv is {cv}; it must be 2 folds or more.")
    path = output or f"report.{format}"
    check_output(path, (model, *data), "report.html")
    if format == "html":
        _needed("jinja2")
    from ..models.file import read
    from ..report.facts import facts_of
    from .report_inputs import Asked, inputs_of

    learnt = read(model)
    names = (Path(model).name, *(Path(each).name if each != "-" else each for each in data or ("-",)))
    typed = _typed(names, path, format, target, cv, positive, level, unseen, reading, talking)
    asked = Asked(target, cv, positive, level, unseen, talking, typed)
    inputs = inputs_of(learnt, data, reading, asked)
    facts = facts_of(inputs)
    text = _json(facts) if format == "json" else _page(facts, model)
    replaced = write_whole(path, text)
    return _answer(model, data, path, text, replaced, facts, inputs)


def _answer(
    model: str, data: tuple[str, ...], path: str, text: str, replaced: bool, facts: dict[str, Any], inputs: Inputs
) -> Answer:
    failed = [each for each in facts["checks"] if each["state"] == "failed"]
    held, named = facts["held_out"], data or ("-",)
    counts = facts["counts"]
    words = f"{counts['passed']} of {counts['all']} checks passed, {counts['failed']} failed"
    words += f": {', '.join(each['name'].lower() for each in failed)}." if failed else "."
    size = len(text.encode())
    said = (
        f"The report is in {path}, {size / 1000:.0f} KB{'; the file that was there is replaced' if replaced else ''}."
    )
    notes = () if held["there"] else (f"Nothing was held out: {held['why']}",)
    return Answer(
        {
            "command": "report", "version": __version__, "model": model, "output": path, "bytes": size,
            "replaced": replaced, "verdict": {key: facts["verdict"][key] for key in ("status", "sentence", "ok")},
            "checks": facts["checks"], "counts": counts, "rows": facts["data"]["rows"],
            "classes": facts["model"]["classes"],
            "held_out": {"folds": held["folds"], "measures": held["measures"]} if held["there"] else None,
        },
        words=f"{words}\n{said}", notes=notes,
        next=f"separatrix explain {shlex.join([model, *named])} --row 1" if not failed else
             f"separatrix compare {shlex.join([*named, '--target', inputs.target])}",
    )  # fmt: skip


def _page(facts: dict[str, Any], model: str) -> str:
    from ..report.page import page_of

    name = Path(model).name
    if Path(model).stat().st_size <= LARGEST:
        text = Path(model).read_text(encoding="utf-8")
        page = page_of(facts, model=text, name=name)
        if len(page.encode()) <= LARGEST and json.loads(text).get("side_file") is None:  # else half of it is elsewhere
            return page
    return page_of(facts, name=name)


def _json(facts: dict[str, Any]) -> str:
    import json

    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _needed(package: str) -> None:
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise UsageError(f"The page is written with {package}, which is not there: pip install 'separatrix[report]'. "
                         "--format json needs nothing more.")  # fmt: skip


def _typed(
    names: tuple[str, ...], output: str, form: str, target: str | None, cv: int, positive: str | None, level: float,
    unseen: str, reading: KnownTable, talking: Talking,
) -> str:  # fmt: skip
    """The command again, files without their folders."""
    from .typed_again import typed_again

    words = ["separatrix", "report", *names, "-o", Path(output).name]
    words += ["--format", form] if form != "html" else []
    words += ["--target", target] if target else []
    words += ["--cv", str(cv)] if cv != 5 else []
    words += ["--positive", positive] if positive else []
    words += ["--level", f"{level:g}"] if level != 0.95 else []
    words += ["--unseen", unseen] if unseen != "reference" else []
    return shlex.join(
        [*words, *typed_again(reading.reading()), *(["--seed", str(talking.seed)] if talking.seed else [])]
    )
