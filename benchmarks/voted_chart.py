"""The picture of the Voted-Perceptron: test errors by passes, with a band over the orders of the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from charts import STYLE, plt, save
from matplotlib.legend_handler import HandlerTuple

LOOKS = {
    "last": ("#D55E00", "--", "^", "online: the last weights"),
    "voted": ("#0072B2", "-", "o", "voted: the majority of all classifiers so far"),
}
"""Okabe and Ito's colours; lines and markers differ too."""
EARLY, ERRORS = (0.02, 0.05), (3, 4, 5, 7, 10, 15, 20, 30)


def _band(axis: Any, found: dict[str, Any], name: str) -> Any:
    """The mean over the orders, and from the smallest to the largest of them; the line."""
    colour, line, _, label = LOOKS[name]
    each = 100 * np.array([seed[name] for seed in found["seeds"]])
    axis.fill_between(found["passes"], each.min(axis=0), each.max(axis=0), color=colour, alpha=0.2, lw=0)
    return axis.plot(found["passes"], each.mean(axis=0), line, color=colour, lw=2, label=label)[0]


def _printed(axis: Any, printed: dict[str, Any], name: str) -> Any:
    colour, _, marker, _ = LOOKS[name]
    errors = 100 * np.array(printed[name])
    return axis.plot(printed["passes"], errors, marker, color=colour, mfc="white", mew=1.8, ms=8, zorder=4)[0]


def _axes(axis: Any, passes: list[float], rows: int) -> None:
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.minorticks_off()
    axis.set_xticks(passes, [f"{each:g}" for each in passes])
    low, high = axis.get_ylim()
    shown = [error for error in ERRORS if low <= error <= high]
    axis.set_yticks(shown, [f"{error} %" for error in shown])
    axis.grid(axis="y", color="#DDDDDD", lw=0.8)
    axis.set_axisbelow(True)
    axis.set_xlabel(f"passes over the {rows:,} rows (log scale)".replace(",", " "))
    axis.set_ylabel("test error (log scale)")


def curves_chart(path: Path, results: dict[str, Any]) -> None:
    """A line and a band for each reading of the log, and the lecture's numbers as hollow markers."""
    found, printed = results["found"], results["printed"]
    with plt.rc_context(STYLE):
        figure, axis = plt.subplots(figsize=(9.5, 5.6), constrained_layout=True)
        handles: list[Any] = [_band(axis, found, name) for name in LOOKS]
        labels = [handle.get_label() for handle in handles]
        if results["mnist"]:
            handles.append(tuple(_printed(axis, printed, name) for name in LOOKS))
            labels.append("the lecture's numbers")
        _axes(axis, [*EARLY, *printed["passes"]], found["rows"])
        digits = "MNIST, 9 against the rest" if results["mnist"] else "made-up digits (a smoke run)"
        title = f"{digits}: mean and range over {len(found['seeds'])} orders of the rows"
        axis.set_title(title, fontsize=12, loc="left")
        axis.legend(handles, labels, frameon=False, loc="upper right", handler_map={tuple: HandlerTuple(ndivide=None)})
        save(figure, path)
