"""Two pictures: times of ours and the peers, and growth. Colours and hatches both tell who is who."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import Patch
from problems import spaced
from report import power, seconds

LOOKS = {
    "separatrix": ("#0072B2", ""),
    "scikit-learn newton-cholesky": ("#E69F00", "//"),
    "scikit-learn lbfgs": ("#56B4E9", "\\\\"),
    "glum irls-ls": ("#009E73", "xx"),
    "statsmodels newton": ("#CC79A7", ".."),
}
"""Okabe and Ito's colours."""
STYLE: dict[Any, Any] = {"font.size": 11, "axes.spines.top": False, "axes.spines.right": False, "hatch.linewidth": 0.6}


def save(figure: Any, path: Path) -> None:
    draft = path.with_name(path.stem + ".part.png")
    figure.savefig(draft, dpi=130)
    plt.close(figure)
    draft.replace(path)


def _best_of(problem: dict[str, Any], family: str) -> tuple[float | None, str]:
    """The family's best time, or a word on why there is none."""
    peers = [peer for peer in problem["peers"] if peer["family"] == family]
    times = [peer["seconds"]["median"] for peer in peers if peer["reaches"]]
    if times:
        return min(times), ""
    if not peers:
        return None, "not raced"
    gaps = [peer["gap"] for peer in peers if peer["gap"] is not None]
    return None, f"does not reach: gap {power(min(gaps))}" if gaps else peers[0]["note"].partition(":")[0]


def _bars(axis: Any, problems: list[dict[str, Any]], floor: float, top: float) -> None:
    width = 0.8 / len(LOOKS)
    for k, (name, (colour, hatch)) in enumerate(LOOKS.items()):
        for i, problem in enumerate(problems):
            mine = problem["ours"]["seconds"]["median"]
            time, why = (mine, "") if name == "separatrix" else _best_of(problem, name)
            x = i - 0.4 + (k + 0.5) * width
            if time is None:
                axis.text(x, floor * 1.15, why, rotation=90, ha="center", va="bottom", fontsize=9)
                continue
            axis.bar(x, time, width * 0.92, color=colour, hatch=hatch, edgecolor="black", lw=0.6)
            axis.text(x, time * 1.06, seconds(time), ha="center", va="bottom", fontsize=8.5, rotation=90)
    axis.set_ylim(floor, top)


def times_chart(path: Path, results: dict[str, Any]) -> None:
    """Bars on a logarithmic axis; above each group, how many times faster ours is than the best peer."""
    problems = results["problems"]
    reached = [p["seconds"]["median"] for q in problems for p in q["peers"] if p["reaches"]]
    mine = [q["ours"]["seconds"]["median"] for q in problems]
    floor, top = min([*mine, *reached]) / 2, max([*mine, *reached]) * 12
    with plt.rc_context(STYLE):
        figure, axis = plt.subplots(figsize=(13, 6.2), constrained_layout=True)
        axis.set_yscale("log")
        _bars(axis, problems, floor, top)
        for i, problem in enumerate(problems):
            ratio = "no peer reaches" if problem["ratio"] is None else f"{problem['ratio']:.1f}×"
            note = f"{ratio}\n(required {problem['required']:g}×)"
            axis.text(i, top / 1.1, note, ha="center", va="top", fontsize=12, weight="bold")
        axis.set_xticks(range(len(problems)), [problem["title"].replace(", ", "\n") for problem in problems])
        axis.set_ylabel("seconds to a relative gap of 1e-10 (log scale)")
        machine, quick = results["machine"], "quick smoke run: " if results["quick"] else ""
        where = f"{machine['cpu']}, {machine['cores']} cores"
        axis.set_title(
            f"{quick}each peer at its best setting; bold: time of the best peer / ours · {where}", fontsize=12
        )
        names = [Patch(facecolor=c, hatch=h, edgecolor="black", lw=0.6, label=name) for name, (c, h) in LOOKS.items()]
        names[-1].set_label(f"{names[-1].get_label()} (without the penalty)")
        figure.legend(handles=names, loc="outside lower center", ncols=len(LOOKS), frameon=False)
        save(figure, path)


def growth_chart(path: Path, growth: dict[str, Any]) -> None:
    """Our time against rows and against columns, both axes logarithmic, with the line of time ∝ size."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), constrained_layout=True)
        for axis, (name, other) in zip(axes, (("rows", "columns"), ("columns", "rows")), strict=True):
            series = growth[name]
            sizes, times = series["sizes"], series["seconds"]
            axis.loglog(sizes, times, "o-", color="#0072B2", label=f"separatrix: slope {series['slope']:.2f}")
            line = [times[-1] * size / sizes[-1] for size in sizes]
            axis.loglog(sizes, line, "--", color="#D55E00", label="slope 1")
            axis.set_xticks(sizes, [spaced(size) for size in sizes], rotation=30)
            axis.minorticks_off()
            axis.set_xlabel(f"{name} ({spaced(series[other])} {other})")
            axis.set_ylabel("seconds")
            axis.legend(frameon=False)
        save(figure, path)
