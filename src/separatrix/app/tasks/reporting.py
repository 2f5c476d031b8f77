"""A report from Python, the same as `separatrix report` writes."""

from __future__ import annotations

import csv
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, NamedTuple


class Given(NamedTuple):
    """A model, its file as text where it is whole in one, and its name."""

    model: Any
    text: str | None
    name: str


def write_report(
    model: Any, data: Any, path: Any = "report.html", *, format: Literal["html", "md", "json"] | None = None,  # noqa: A002
    target: str | None = None, cv: int = 5, positive: str | None = None, level: float = 0.95,
    unseen: Literal["error", "reference"] = "reference", na: Sequence[str] = (), where: str | None = None,
    seed: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """Write a report on a model: one file that opens anywhere, offline, and begins with what was checked.

    It needs `pip install "separatrix[cli,report]"`. The learner is fitted anew with the parameters of the model, once
    to all rows and once without each fold; nothing in the page is fetched or sent.

    Parameters
    ----------
    model : str, Path, Model, or a fitted learner
        A model file, or what one could be made of.
    data : str, Path, sequence of them, data frame, or mapping of names to columns
        Files, or a table in memory; its columns are those that the model was learnt from, and the target.
    path : str or Path
        The file to write; one that is there is replaced.
    format : {"html", "md", "json"} or None
        None: as the name of the file ends, else html.
    target : str or None
        The column with the true classes; None: the one that the model file names.
    cv : int
        How many folds are held out in turn.
    positive : str or None
        Of two classes the one that curves and points are about; None: the second.
    level : float
        How often an interval holds the truth.
    unseen : {"reference", "error"}
        What a level is that the model has not seen.
    na : sequence of str
        Texts that stand for a missing value; by default those of the fit.
    where : str or None
        Only rows for which this SQL condition holds.
    seed : int
        The seed of the folds and of the bootstrap.

    Returns
    -------
    dict
        All that the report shows, as data: what `format="json"` writes.
    """
    from ..cli.answer import UsageError
    from ..cli.as_at_fit import as_at_the_fit
    from ..cli.files import check_output, write_whole
    from ..cli.known_table import KnownTable
    from ..cli.options import Talking
    from ..report.facts import facts_of
    from ..report.page import FORMATS
    from .report_inputs import Asked, inputs_of

    form = format or {".md": "md", ".json": "json"}.get(Path(path).suffix.lower(), "html")
    if form not in FORMATS:
        raise ValueError(f"format is {form!r}; it must be one of 'html', 'md' and 'json'.")
    check(level, cv)
    given = model_given(model)
    with ExitStack() as stack:
        files = _files(data, stack)
        words = f"separatrix.write_report({given.name!r}, {[Path(each).name for each in files]!r}, {Path(path).name!r})"
        asked = Asked(target, cv, positive, level, unseen, Talking(quiet=True, progress="never", seed=seed), words)
        reading, _ = as_at_the_fit(KnownTable(na=tuple(na), where=where), given.model, files)
        try:
            check_output(str(path), files, "report.html")
            facts = facts_of(inputs_of(given.model, files, reading, asked))
        except UsageError as error:
            raise ValueError(_in_python(str(error))) from None
    write_whole(str(path), FORMATS[form](facts, given.text, given.name))
    return facts


def check(level: float, cv: int) -> None:
    """What can be said before anything is read."""
    if not 0 < level < 1:
        raise ValueError(f"level is {level:g}; give a number between 0 and 1, such as 0.95.")
    if cv < 2:
        raise ValueError(f"cv is {cv}; it must be 2 folds or more.")


def model_given(model: Any) -> Given:
    """A model from its file, or what a learner would be saved as."""
    from ..models.file import read, to_document
    from ..models.from_learner import model_of

    if not isinstance(model, str | Path):
        made = model_of(model)
        document = to_document(made)
        text = json.dumps(document, ensure_ascii=False) if document.get("side_file") is None else None
        return Given(made, text, "model.json")
    learnt = read(model)  # first: it refuses what is no model, however large
    text = Path(model).read_text(encoding="utf-8")
    whole = json.loads(text).get("side_file") is None  # else half of it is elsewhere
    return Given(learnt, text if whole else None, Path(model).name)


def _files(data: Any, stack: ExitStack) -> tuple[str, ...]:
    """The names of files; a table in memory is written to one."""
    if isinstance(data, str | Path):
        return (str(data),)
    if isinstance(data, Sequence) and data and all(isinstance(each, str | Path) for each in data):
        return tuple(map(str, data))
    if not isinstance(data, Mapping) and not hasattr(data, "columns"):
        raise TypeError(f"data is {type(data).__name__}; give names of files, a data frame, or a mapping of names to "
                        "columns.")  # fmt: skip
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="separatrix-")))
    names = [str(each) for each in (data if isinstance(data, Mapping) else data.columns)]
    columns = [list(data[name]) for name in (data if isinstance(data, Mapping) else data.columns)]
    with (folder / "table.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(names)
        rows.writerows([_cell(each) for each in row] for row in zip(*columns, strict=True))
    return (str(folder / "table.csv"),)


def _cell(value: Any) -> str:
    """A number to its last bit; None and NaN as the empty cell."""
    if value is None or value is not value or value != value:
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)


def _in_python(sentence: str) -> str:
    """--positive perhaps → positive perhaps: the words of a command line as those of a call."""
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda found: found[1].replace("-", "_"), sentence)
