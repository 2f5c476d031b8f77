"""`separatrix summary`: a saved model on a page."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ... import __version__
from ..files import check_path
from .answer import Answer, UsageError
from .console import table as text_table
from .console import write_file
from .options import Talking

if TYPE_CHECKING:
    from ...inference.summary.summary import Summary

LONGEST = 400
"""Signs of an equation that is written out."""
WIDTH = 100
"""Signs of a line."""


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
        check_path("output", output, (model,), "page.txt")
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
        replaced = write_file(output, text)
        words = f"The page is in {output}{'; the file that was there is replaced' if replaced else ''}."
    data = {"command": "summary", "version": __version__, "model": model, "output": output, **facts_of(saved, page)}
    return Answer(
        data, text="" if output is not None else text, words=words,
        next=_next(saved, model),
        notes=("The fit of this model was interrupted.",) if saved.interrupted else (),
    )  # fmt: skip


def _next(saved: Any, model: str) -> str:
    from .answer import explain_again

    found = explain_again(saved, model, ("-",))
    return found if " explain " in found else f"separatrix predict {shlex.quote(model)} FILE"


def _restored(saved: Any, path: str) -> Summary | None:
    from ...inference.summary.summary import restored
    from ..models.document import ModelFileError

    kept = saved.training.get("summary")
    if kept is None:
        return None
    try:
        return restored(kept)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            "the summary that is kept there cannot be read: fit the model again.", path=path, where="training.summary"
        ) from error


def _needed(page: Summary | None, saved: Any) -> Summary:
    if page is None:
        raise UsageError(
            f"{saved.learner} keeps no summary of that form, as logistic does: use --format text, json or csv."
        )
    return page


def _text(saved: Any, page: Summary | None) -> str:
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


def largest_weights(weights: list[dict[str, Any]], most: int) -> list[str]:
    """The weights that move scores most, by the spread of their columns where that is known; lines of a table."""
    own = [each for each in weights if each["name"] != "(intercept)" and each["weight"] is not None]
    if not own:
        return []
    scaled = all(each["per_deviation"] is not None for each in own)
    size = "per_deviation" if scaled else "weight"
    ranked = sorted(own, key=lambda each: -abs(each[size]))[:most]
    several = len({each["class"] for each in own}) > 1
    signs = {"+inf": "→ +∞", "-inf": "→ −∞", "undetermined": "→ ±∞"}
    rows = [
        [f" {each['name']}" + (f" [{each['class']}]" if several else ""), gone or f"{each['weight']:.6g}"]
        + (["" if gone else f"{each['per_deviation']:.4g}"] if scaled else [])
        for each in ranked
        for gone in [signs.get(each["in_the_limit"] or "", "")]
    ]
    more = len(own) - len(ranked)
    header = [" weight of", "raw", *(["per SD"] if scaled else [])]
    return [text_table(header, rows, right=(1, 2)), *([f" and {more} more"] if more else [])]


def described(model: Any) -> list[str]:
    """A model that keeps no summary, in lines."""
    from textwrap import wrap

    from ...results.verdict import listed
    from ..tasks.saved import name_of, verdict_of, weights_of

    training, verdict, rule = model.training, verdict_of(model), model.rule.linear()
    counts = training.get("class_counts") or {}
    classes = listed([f"{label}" + (f" ({counts[str(label)]} rows)" if str(label) in counts else "")
                      for label in model.classes], 12)  # fmt: skip
    given = {name: value for name, value in model.parameters.items() if value is not None and name != "estimator"}
    lines = [
        f"learner     {name_of(model)}",
        f"parameters  {', '.join(f'{name} {value}' for name, value in given.items())}",
        f"rows        {training.get('rows', 'not known')}",
        f"classes     {classes}",
        f"columns     {len(model.columns)} numbers"
        + ("" if model.encoding is None else f" from {len(model.encoding.columns)} columns"),
        "",
        *([*wrap(verdict["sentence"], WIDTH), ""] if verdict else []),
    ]
    equation = "" if rule is None else str(rule)
    if equation and len(equation) <= LONGEST:
        lines += [*wrap(equation, WIDTH), ""]
    return lines + largest_weights(weights_of(model), 40)
