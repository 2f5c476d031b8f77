"""`separatrix summary`: a saved model on a page."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ... import __version__
from .answer import Answer, UsageError
from .files import check_output, write_whole
from .options import Talking

if TYPE_CHECKING:
    from ...inference.summary.summary import Summary


def summary(
    model: str,
    /,
    *,
    format: Literal["text", "html", "latex", "json", "csv"] = "text",  # noqa: A002
    output: Annotated[str | None, Parameter(name=["--output", "-o"])] = None,
    talking: Talking = Talking(),
) -> Answer:
    """Show a saved model on a page.

    Of a logistic model: how the fit ended, how well it fits, each weight with its odds ratio and interval, as they were
    found when the rows were there. Of any other: how it was fitted, how the fit ended, its rule and its weights.

    Parameters
    ----------
    model
        The file that fit wrote.
    format
        text, html, latex, json, or csv: the table of weights.
    output
        Write the page to this file, not to stdout.
    talking
        How the command talks.
    """
    from ..models.file import read
    from ..tasks.saved import facts_of

    if output is not None:
        check_output(output, (model,), "page.txt")
    saved = read(model)
    page = _restored(saved, model)
    text = {
        "text": lambda: _text(saved, page),
        "csv": lambda: _csv(saved, page),
        "json": lambda: _json(facts_of(saved, page)),
        "html": lambda: _needed(page, saved).to_html() + "\n",
        "latex": lambda: _needed(page, saved).to_latex() + "\n",
    }[format]()
    words = ""
    if output is not None:
        replaced = write_whole(output, text)
        words = f"The page is in {output}{'; the file that was there is replaced' if replaced else ''}."
    data = {"command": "summary", "version": __version__, "model": model, "output": output, **facts_of(saved, page)}
    return Answer(
        data, text="" if output is not None else text, words=words,
        next=_next(saved, model),
        notes=("The fit of this model was interrupted.",) if saved.interrupted else (),
    )  # fmt: skip


def _next(saved: Any, model: str) -> str:
    from .typed_again import explain_again

    found = explain_again(saved, model, ("-",))
    return found if " explain " in found else f"separatrix predict {shlex.quote(model)} FILE"


def _restored(saved: Any, path: str) -> Summary | None:
    from ...inference.summary.stored import restored
    from ..models.document import ModelFileError

    kept = saved.training.get("summary")
    if kept is None:
        return None
    try:
        return _in_words_of_options(restored(kept))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            "the summary that is kept there cannot be read: fit the model again.", path=path, where="training.summary"
        ) from error


def _in_words_of_options(page: Summary) -> Summary:
    from dataclasses import replace

    from .wording import in_options

    return replace(
        page, verdict=in_options(page.verdict), refused=None if page.refused is None else in_options(page.refused),
        notes=tuple(map(in_options, page.notes)),
        left_out=tuple(each._replace(reason=in_options(each.reason)) for each in page.left_out),
    )  # fmt: skip


def _needed(page: Summary | None, saved: Any) -> Summary:
    if page is None:
        raise UsageError(
            f"{saved.learner} keeps no summary of that form, as logistic does: use --format text, json or csv."
        )
    return page


def _text(saved: Any, page: Summary | None) -> str:
    from ..tasks.saved import described

    lines = described(saved) if page is None else [str(page)]
    command = saved.training.get("command")
    return "\n".join([*lines, *(["", f"fitted by: {command}"] if command else [])]) + "\n"


def _csv(saved: Any, page: Summary | None) -> str:
    import csv
    import io

    from ..tasks.saved import weights_of

    records = weights_of(saved) if page is None else page.to_dict()["coefficients"]
    if not records:
        raise UsageError(f"{saved.learner} has no weights: use --format text.")
    out = io.StringIO()
    writer = csv.DictWriter(out, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


def _json(facts: dict[str, Any]) -> str:
    import json

    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
