"""`separatrix report`: a model and a table on one page that holds everything."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from ... import __version__
from ..files import check_path
from .answer import Answer, UsageError, columns_again, explain_again, files_again, typed_again
from .console import write_file
from .options import KnownTable, Talking, as_at_the_fit
from .progress import folds_shown
from .tables import opened

if TYPE_CHECKING:
    from ..report.inputs import Inputs

REPORTING = Group("What is reported", sort_key=0)


def report(
    model: str,
    /,
    *data: str,
    output: Annotated[str | None, Parameter(name=["--output", "-o"])] = None,
    format: Annotated[Literal["html", "md", "json"] | None, Parameter(group=REPORTING)] = None,  # noqa: A002
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
        The file to write, report.html (or report.md, report.json) by default; one that is there is replaced.
    format
        html; md, the same in Markdown without the pictures; or json, all of it as data. The name of the file tells,
        else html.
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
    from ..report.page import FORMATS
    from ..tasks.report import ReportOptions, inputs_of, model_given

    options = ReportOptions(target, cv, positive, level, unseen, (), talking.seed)
    options.check()
    form = format or {".md": "md", ".json": "json"}.get(Path(output or "").suffix.lower(), "html")
    path = output or f"report.{form}"
    check_path("output", path, (model, *data), "report.html")
    if form == "html":
        _needed("jinja2")
    from ..report.facts import facts_of

    given = model_given(model)
    names = (Path(model).name, *(Path(each).name if each != "-" else each for each in data or ("-",)))
    typed = _typed(names, path, format, target, cv, positive, level, unseen, reading, talking)
    reading, told = as_at_the_fit(reading, given.model, data)
    with opened(data, reading.reading(given.model), talking) as table, folds_shown(talking, cv) as after:
        inputs = inputs_of(given.model, table, replace(options, na=reading.na), typed, after)
    facts = facts_of(inputs)
    text = FORMATS[form](facts, given.text, given.name)
    replaced = write_file(path, text)
    again = [*columns_again(given.model), *typed_again(reading, seed=talking.seed)]
    row = explain_again(given.model, model, data)
    return _answer(model, data, path, text, replaced, facts, [told, _rows_of_the_fit(inputs, reading)], again, row)


def _rows_of_the_fit(inputs: Inputs, reading: KnownTable) -> str:
    """Which rows a model was learnt from is not taken over; but it is told."""
    command = str((inputs.model.training or {}).get("command") or "")
    if inputs.seen or reading.where is not None or reading.sample is not None:
        return ""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    said = [word for k, word in enumerate(words) if word in ("--where", "--sample") or
            (k and words[k - 1] in ("--where", "--sample"))]  # fmt: skip
    return f"The model was fitted with {shlex.join(said)}; say it again for a report on its own rows." if said else ""


def _answer(
    model: str, data: tuple[str, ...], path: str, text: str, replaced: bool, facts: dict[str, Any], told: list[str],
    again: list[str], row: str,
) -> Answer:  # fmt: skip
    failed = [each for each in facts["checks"] if each["state"] == "failed"]
    held = facts["held_out"]
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
        words="\n".join(filter(None, [words, said, *told])), notes=notes,
        next=row if not failed else
             f"separatrix compare {shlex.join([*files_again(data), '--target', facts['target'], *again])}",
    )  # fmt: skip


def _needed(package: str) -> None:
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise UsageError(f"The page is written with {package}, which is not there: pip install 'separatrix[report]'. "
                         "--format json and --format md need nothing more.")  # fmt: skip


def _typed(
    names: tuple[str, ...], output: str, form: str | None, target: str | None, cv: int, positive: str | None,
    level: float, unseen: str, reading: KnownTable, talking: Talking,
) -> str:  # fmt: skip
    """The command again, files without their folders."""
    words = ["separatrix", "report", *names, "-o", Path(output).name]
    words += ["--format", form] if form else []
    words += ["--target", target] if target else []
    words += ["--cv", str(cv)] if cv != 5 else []
    words += ["--positive", positive] if positive else []
    words += ["--level", f"{level:g}"] if level != 0.95 else []
    words += ["--unseen", unseen] if unseen != "reference" else []
    return shlex.join([*words, *typed_again(reading), *(["--seed", str(talking.seed)] if talking.seed else [])])
