"""Facts as a page shows them: how the model was found, and how to repeat it."""

from __future__ import annotations

from typing import Any

from ...inference.summary.numerals import brief
from . import figures, path_figure
from .markup import markup
from .words import cell, spaced

ELSEWHERE = ("The learner was taught the rows of this report, which are not those that the model was learnt from: the "
             "path does not end at its weights.")  # fmt: skip
STEPS = 60
"""Steps of a path that the table shows."""


def all_views(facts: dict[str, Any]) -> dict[str, Any]:
    """The passes, the path of the weights, commands and versions."""
    return {"convergence": _convergence(facts["convergence"]), "path": _path(facts["path"]), **_repeat(facts)}


def _convergence(facts: dict[str, Any]) -> dict[str, Any]:
    if not facts["there"]:
        return {}
    words = {"value": "loss", "gradient": "length of the gradient", "lower": "margin from below",
             "upper": "margin from above", "fewest": "mistakes, at least", "most": "mistakes, at most",
             "mistakes": "mistakes"}  # fmt: skip
    names = [name for name in words if name in facts]
    rows = [[brief(facts["passes"][i], 6), *(cell(facts[name][i], 8) for name in names)]
            for i in range(len(facts["passes"]))]  # fmt: skip
    whose = "the rows of this report, which are those of the model" if facts["same_rows"] else (
        "the rows of this report, which are not those that the model was learnt from")  # fmt: skip
    return {
        "sentence": f"The learner was taught {whose}; this is where it stood after each of {facts['steps']} steps.",
        "figures": [markup(each) for each in figures.convergence(facts)],
        "head": ["passes", *(words[name] for name in names)], "rows": rows,
    }  # fmt: skip


def _path(facts: dict[str, Any]) -> dict[str, Any] | None:
    if not facts["there"]:
        return None
    lines, at = facts["lines"], facts["at"]
    which = (
        "All weights" if len(lines) == facts["weights"] else f"The {len(lines)} largest of {facts['weights']} weights"
    )
    scaled = ", each times the standard deviation of its column" if facts["standardised"] else ""
    grow = (" The classes are separated, wholly or in part: some weights grow for ever, and where the fit stopped to "
            "follow them is no answer." if facts["endless"] else "")  # fmt: skip
    whose = "" if facts["same_rows"] else f" {ELSEWHERE}"
    kept = [i for i in range(len(at)) if i % -(-len(at) // STEPS) == 0 or i == len(at) - 1]
    return {
        "sentence": f"{which}{scaled}, as they were found, by {facts['unit']}.{whose}{grow}",
        "picture": markup(path_figure.draw(facts)),
        "head": [facts["unit"], *(line["name"] for line in lines)],
        "rows": [[brief(at[i], 6), *(cell(line["values"][i], 6) for line in lines)] for i in kept],
    }  # fmt: skip


def _repeat(facts: dict[str, Any]) -> dict[str, Any]:
    repeat = facts["repeat"]
    commands = [{"what": "The model was fitted by", "command": repeat["fit"]}] if repeat["fit"] else []
    commands.append({"what": "This report was written by", "command": repeat["report"]})
    versions = ", ".join(f"{name} {value}" for name, value in repeat["versions"].items())
    own = ", ".join(f"{name} {value}" for name, value in repeat["report_versions"].items())
    named = [f"{each['name']}" + ("" if each["bytes"] is None else f" ({spaced(each['bytes'])} bytes)")
             for each in repeat["files"]]  # fmt: skip
    pairs = [
        ("Files", ", ".join(named) or "standard input"),
        ("Fingerprint of the data", repeat["fingerprint"] or "not known"),
        ("Of the training data", "the same" if repeat["seen"] else repeat["training_fingerprint"] or "not known"),
        ("Seed of the fit", "not known" if repeat["seed"] is None else str(repeat["seed"])),
        ("Seed of the report", str(repeat["report_seed"])),
        ("Versions at the fit", versions),
        ("Versions at the report", own),
    ]
    return {"commands": commands, "repeat": pairs}
