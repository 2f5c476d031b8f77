"""The results as JSON and as a page of Markdown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from problems import spaced

HOW = """\
Each problem is Σ log(1 + exp(−y(xᵀw + b))) + (λ/2)‖w‖² with a free intercept, in float64; λ = 1, and 1e-3 for
the one-hot columns. Ours: `LogisticRegression(l2=λ/n)` with default settings, from the call of `fit` with plain
arrays to its return: validation, fit and the proof of a relative gap of 1e-10 are on the clock.

Peers: first the loosest tolerance of 1e-2, 1e-3, … 1e-14 is searched whose weights have (f − f*)/f* ≤ 1e-10, or 1e-8
where rows are wide; there scikit-learn alone is raced, as no matrix of the columns is worth making. f* is the
least objective known, from Newton steps in this script; every objective is evaluated by this script. Loading a library,
setting its threads and bringing the data into the form it likes best (both memory orders for glum, a column of ones for
statsmodels) are not on its clock. A fit is given up after {cap:g} s.

Times are medians over rounds in which everyone takes one turn ({repeats} rounds; fits above 5 s take part in at most 3;
above 20 s, or above 5 s and twice as slow as the same solver's best setting, the time of the search stands). Memory is
the peak during a fit beyond what was held before it, in a fresh process with the compiled kernels loaded; its limit is
64 MB + 120 d² bytes, where rows are wide 64 MB and as much again as X."""

STATSMODELS = (
    "¹ No ridge for this model in statsmodels: it solves the problem without a penalty, and its gap is measured there."
)


def write(path: Path, text: str) -> None:
    """To a temporary name, then renamed: a reader finds all of it or nothing."""
    draft = path.with_name(path.name + ".part")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def write_json(path: Path, results: dict[str, Any]) -> None:
    write(path, json.dumps(results, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def seconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{1e3 * value:.0f} ms" if value < 0.9995 else f"{value:.2f} s" if value < 9.995 else f"{value:.0f} s"


def power(value: float) -> str:
    """1e-10, 4e-9."""
    return f"{value:.0e}".replace("e-0", "e-")


def tidy(results: Any) -> Any:
    """NaN and infinity are no JSON: null."""
    if isinstance(results, dict):
        return {key: tidy(value) for key, value in results.items()}
    if isinstance(results, list | tuple):
        return [tidy(value) for value in results]
    if isinstance(results, float) and not abs(results) < float("inf"):
        return None
    return results


def table(head: list[str], lines: list[list[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *lines])


def _summary_line(problem: dict[str, Any]) -> list[str]:
    mine, memory = problem["ours"], problem["memory"]
    ratio = f"**{problem['ratio']:.1f}**" if problem["ratio"] is not None else "no peer reaches"
    return [
        problem["title"],
        f"{seconds(mine['seconds']['median'])} ({seconds(mine['seconds']['min'])}…{seconds(mine['seconds']['max'])})",
        problem["best_peer"] or "–",
        seconds(next((p["seconds"]["median"] for p in problem["peers"] if p["name"] == problem["best_peer"]), None)),
        ratio,
        f"{problem['required']:g} / {problem['aim']:g}",
        f"{mine['passes']:.1f}",
        f"{problem['times_sum']:.1f}",
        f"{memory['beyond_x_bytes'] / 2**20:.0f} / {memory['limit_bytes'] / 2**20:.0f} MB",
        mine["status"],
    ]


def summary_table(problems: list[dict[str, Any]]) -> str:
    head = ["rows × columns", "ours", "best peer", "its time", "ratio", "required / aim", "passes", "× X.sum()",
            "memory beyond X / limit", "verdict"]  # fmt: skip
    return table(head, [_summary_line(problem) for problem in problems])


def _peer_cell(peer: dict[str, Any]) -> str:
    if peer["reaches"]:
        return f"{seconds(peer['seconds']['median'])} (tol {power(peer['tolerance'])})"
    if peer["gap"] is None:
        return peer["note"]
    return f"does not reach: gap {power(peer['gap'])} in {seconds(peer['search_s'])}"


def peers_table(problems: list[dict[str, Any]]) -> str:
    head = ["", *(problem["title"] for problem in problems)]
    lines = [["separatrix", *(f"**{seconds(problem['ours']['seconds']['median'])}**" for problem in problems)]]
    for k, peer in enumerate(problems[0]["peers"]):
        mark = "¹" if peer["library"] == "statsmodels" else ""
        lines.append([peer["name"] + mark, *(_peer_cell(problem["peers"][k]) for problem in problems)])
    return table(head, lines)


def _growth(growth: dict[str, Any]) -> str:
    lines = []
    for axis, other in (("rows", "columns"), ("columns", "rows")):
        series = growth[axis]
        points = ", ".join(
            f"{spaced(n)}: {seconds(t)}" for n, t in zip(series["sizes"], series["seconds"], strict=True)
        )
        lines.append(
            f"- time ∝ {axis}^{series['slope']:.2f} at {spaced(series[other])} {other} "
            f"(upper half: {series['slope_upper_half']:.2f}): {points}"
        )
    return "\n".join(lines)


def _startup(startup: dict[str, Any]) -> str:
    second = startup["second_process"]
    loaded = ", ".join(startup["modules_loaded"]) or "none of scikit-learn, numba, scipy, pandas"
    return (
        f"`import separatrix` adds {seconds(max(startup['added_s'], 0))} to numpy's import "
        f"(limit {seconds(startup['limit_s'])}); loaded by it: {loaded}. "
        f"A second process loads {second['cache_hits']} kernels from disk and compiles {second['cache_misses']}; "
        f"its first two fits take {seconds(second['first_fits_s'])}."
    )


def where(results: dict[str, Any]) -> str:
    machine, load = results["machine"], results["load"]
    named = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    return (
        f"{results['date']} · {machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB, "
        f"{machine['system']} · {', '.join(machine['blas'])} · load {load['before']} before, {load['after']} after\n\n"
        f"{named}"
    )


def markdown(results: dict[str, Any]) -> str:
    """The whole page."""
    title = "# Dense logistic regression: ours and the peers in one run"
    quick = "\n\n**A quick run on small data: a smoke test, not a measurement.**" if results["quick"] else ""
    missed = "\n".join(f"- {line}" for line in results["missed"]) or "Nothing that is required was missed."
    problems, how = results["problems"], HOW.format(repeats=results["repeats"], cap=results["cap_s"])
    parts = [
        title + quick, where(results), summary_table(problems), "![times](dense.png)", "## Required", missed,
        "## Every setting", peers_table(problems), STATSMODELS, "## Growth", _growth(results["growth"]),
        "![growth](growth.png)", "## Start", _startup(results["startup"]), "## How it was measured", how,
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"
