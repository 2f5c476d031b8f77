"""Facts as a page shows them: sentences, and cells of tables. First the verdict, the table and the model."""

from __future__ import annotations

import json
from typing import Any

from ...inference.summary.numerals import brief, percent
from . import figures
from .markup import Cell, Interval, cell, markup, measured, power, spaced
from .svg import short

NAMES = {
    "accuracy": "accuracy", "error_rate": "error rate", "balanced_accuracy": "balanced accuracy",
    "sensitivity": "sensitivity (recall)", "specificity": "specificity", "precision": "precision", "f1": "F1",
    "mcc": "Matthews correlation", "auc": "area under the ROC curve", "auc_hand_till": "Hand and Till's area",
    "average_precision": "average precision", "log_loss": "log loss", "brier": "Brier score",
    "calibration_intercept": "calibration intercept", "calibration_slope": "calibration slope",
}  # fmt: skip
"""Measures in words."""
ENDS = {
    "optimal": "This is what the learner looks for, and it is proved.",
    "local": "No weights nearby do better; weights far away may.",
    "separated": "A rule separates all training rows, so that the loss has no minimum.",
    "quasi-separated": "A rule separates some training rows and errs on none, so that the loss has no minimum.",
    "not-separable": "No rule separates the training rows, and this learner looks for one.",
    "budget": "The fit stopped before it reached its answer.",
    "interrupted": "The fit was interrupted before it reached its answer.",
}
"""What each status of a verdict says, in a sentence."""
REACHED = "All training rows are separated, which is what this learner looks for."


def head_views(facts: dict[str, Any]) -> dict[str, Any]:
    """The head of the page, the table and the model."""
    return {
        "lead": lead(facts),
        "verdict": verdict_words(facts),
        "cards": _cards(facts),
        "sections": [("checks", "Checks"), ("data", "Data"), ("model", "Model"), ("weights", "Weights"),
                     ("score", "Score one row"), ("held-out", "How well it predicts"),
                     ("convergence", "How it was found"), ("repeat", "How to repeat it")],
        "data": _data(facts["data"]),
        "model_card": _model_card(facts),
        "parameters": [[name, _plain(value)] for name, value in facts["model"]["parameters"].items()],
        "fit_measures": [[each["label"], cell(each["value"])] for each in facts["weights"]["measures"]],
    }  # fmt: skip


def lead(facts: dict[str, Any]) -> str:
    """The subject of the report, in two sentences."""
    model, rows = facts["model"], facts["data"]["rows"]
    kinds, same = model["classes_all"], ", those that it was learnt from" if facts["repeat"]["seen"] else ""
    columns = f"{model['columns']} column{'s' if model['columns'] != 1 else ''}"
    return (f"{model['learner']} predicts {facts['target']}, one of {kinds} classes, from {columns}. "
            f"This report looks at {spaced(rows)} rows{same}.")  # fmt: skip


def verdict_words(facts: dict[str, Any]) -> str:
    """How the fit ended, and what to do; the page has the status before it."""
    said = facts["verdict"]
    if said["ok"] and said["status"] == "optimal" and isinstance(said["gap"], float):
        return (f"No weights do better: the loss is proved to be at most {power(said['gap'])} of its size above the "
                "least there is. More under “How it was found”.")  # fmt: skip
    ended = REACHED if said["ok"] and said["status"] == "separated" else ENDS.get(said["status"], said["sentence"])
    return " ".join(filter(None, [ended, said["remedy"], "More under “How it was found”."]))


def _cards(facts: dict[str, Any]) -> list[dict[str, str]]:
    held, counts = facts["held_out"], facts["counts"]
    cards = [{"what": "checks passed", "value": f"{counts['passed']} of {counts['all']}",
              "beside": f"{counts['failed']} failed"},
             {"what": "rows", "value": spaced(facts["data"]["rows"]),
              "beside": f"{facts['data']['features']} features"}]  # fmt: skip
    if not held["there"]:
        return cards
    known = {each["name"]: each for each in held["measures"]}
    for name in ("auc", "accuracy", "log_loss"):
        each = known.get(name)
        if each is not None and each["value"] is not None:
            ends = "" if each["low"] is None else f"{each['low']:.3f} to {each['high']:.3f}"
            label = {"auc": "held-out AUC", "accuracy": "held-out accuracy", "log_loss": "held-out log loss"}[name]
            cards.append({"what": label, "value": f"{each['value']:.3f}", "beside": ends})
    return cards


# -------------------------------------------------------------------------------------------------------- the columns


def _data(data: dict[str, Any]) -> dict[str, Any]:
    rows = data["rows"]
    count = data["columns_all"]
    cut = (f" The first {len(data['columns'])} are shown; all are in the report as JSON."
           if count > len(data["columns"]) else "")  # fmt: skip
    return {
        "sentence": f"The table has {spaced(rows)} rows. {count} column{'s make' if count != 1 else ' makes'} "
                    f"{data['features']} features: a number is one, a category one for each level but its "
                    f"reference.{cut}",
        "classes": [{"name": each["name"], "rows": spaced(each["rows"]), "share": percent(each["rows"] / rows)}
                    for each in data["classes"]],
        "columns": [column_view(each, rows) | {"picture": _picture(each)} for each in data["columns"]],
        "left_out": left_out(data),
    }  # fmt: skip


def left_out(data: dict[str, Any]) -> list[dict[str, str]]:
    """Columns by the reason for which they are left out."""
    reasons: dict[str, list[str]] = {}
    for each in data["left_out"]:
        reasons.setdefault(each["why"], []).append(each["name"])
    more = data["left_out_all"] - len(data["left_out"])
    found = [{"names": ", ".join(names), "why": why} for why, names in reasons.items()]
    return [*found, *([{"names": f"{more} more", "why": "see the report as JSON"}] if more else [])]


def column_view(each: dict[str, Any], rows: int) -> dict[str, Any]:
    """A line of the table of columns."""
    missing = f"{spaced(each['missing'])} ({percent(each['missing'] / rows)})" if each["missing"] else "0"
    if each["missing"] and each["fill"] is not None:
        fill = each["fill"] if isinstance(each["fill"], str) else brief(each["fill"], 4)
        missing += f", filled with {fill}"
    found = {"name": each["name"], "kind": each["kind"], "missing": missing}
    if each["kind"] == "number":
        if each["mean"] is None:
            return found | {"holds": "no value"}
        holds = (f"mean {brief(each['mean'], 4)}, standard deviation {brief(each['deviation'], 4)}, from "
                 f"{brief(each['minimum'], 4)} to {brief(each['maximum'], 4)}")  # fmt: skip
        return found | {"holds": holds}
    others = [f"{level['name']} {spaced(level['rows'])}" for level in each["shown"][1:]]
    more = f", and {each['more']} more" if each["more"] else ""
    strange = f"; not seen before: {', '.join(list(each['unseen'])[:5])}" if each["unseen"] else ""
    first = each["shown"][0]
    holds = f"reference {first['name']} {spaced(first['rows'])}"
    holds += f"; {', '.join(others)}{more}" if others else ""
    return found | {"holds": holds + strange}


def _picture(each: dict[str, Any]) -> Any:
    counts = each["histogram"] if each["kind"] == "number" else [level["rows"] for level in each["shown"]]
    return markup(_spark(counts)) if counts else ""


def _spark(counts: list[int]) -> str:
    """A histogram as small as a word."""
    most, wide = max(counts, default=0) or 1, 96 / max(len(counts), 1)
    bars = [f"M{short(i * wide)} 24v{short(-24 * n / most)}h{short(wide - 1)}V24z" for i, n in enumerate(counts) if n]
    return (f'<svg class="spark" aria-hidden="true" viewBox="0 0 96 24"><path class="bar c0" d="{"".join(bars)}"/>'
            "</svg>")  # fmt: skip


# ----------------------------------------------------------------------------------------------------------- the model


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _model_card(facts: dict[str, Any]) -> list[tuple[str, str]]:
    model, repeat = facts["model"], facts["repeat"]
    rows = repeat["training_rows"]
    return [
        ("Learner", model["learner"]),
        (
            "Predicts",
            f"{facts['target']}: {', '.join(model['classes'])}"
            + (
                f" and {model['classes_all'] - len(model['classes'])} more"
                if model["classes_all"] > len(model["classes"])
                else ""
            ),
        ),
        ("Rule", f"{model['rule']}, of {model['features']} features from {model['columns']} columns"),
        ("Learnt from", "rows that the file does not describe" if rows is None else f"{spaced(rows)} rows"),
        ("Ended", facts["verdict"]["status"] + (" (interrupted)" if model["status"] != "fitted" else "")),
        ("Made with", f"Separatrix {model['package']}"),
    ]


# ---------------------------------------------------------------------------------------------------------- measures


def measure_cells(each: dict[str, Any], method: str = "") -> list[Cell]:
    """A measure, its value, its interval, and by which method that was found or why there is none."""
    low, high = (None if each[end] is None else float(each[end]) for end in ("low", "high"))
    value = "—" if each["value"] is None else measured(float(each["value"]), low, high)
    ends = "" if low is None or high is None else Interval(measured(low, low, high), measured(high, low, high))
    return [NAMES.get(each["name"], each["name"]), value, ends, each["why"] or method]


ELSEWHERE = ("The learner was fitted to the rows of this report, which are not those that the model was learnt from: "
             "the path does not end at its weights.")  # fmt: skip
"""The note under a path of other rows."""
STEPS = 60
"""The most steps of a path that the table shows."""


def found_views(facts: dict[str, Any]) -> dict[str, Any]:
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
        "sentence": f"The learner was fitted to {whose}; this is where it stood after each of {facts['steps']} steps.",
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
    grow = (" The classes are separated, wholly or in part: some weights grow for ever, and where the fit stopped "
            "says nothing about them." if facts["endless"] else "")  # fmt: skip
    whose = "" if facts["same_rows"] else f" {ELSEWHERE}"
    kept = [i for i in range(len(at)) if i % -(-len(at) // STEPS) == 0 or i == len(at) - 1]
    return {
        "sentence": f"{which}{scaled}, as they were found, by {facts['unit']}.{whose}{grow}",
        "picture": markup(figures.path(facts)),
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
        (
            "Fingerprint of the training data",
            "the same" if repeat["seen"] else repeat["training_fingerprint"] or "not known",
        ),
        ("Seed of the fit", "not known" if repeat["seed"] is None else str(repeat["seed"])),
        ("Seed of the report", str(repeat["report_seed"])),
        ("Versions at the fit", versions),
        ("Versions at the report", own),
    ]  # fmt: skip
    return {"commands": commands, "repeat": pairs}
