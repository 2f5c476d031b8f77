"""The picture of the kernel perceptron: a panel for each degree, a row for each way with ten classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from charts import STYLE, plt, save
from kernel_mnist import PASSES, WAYS, at_passes

LOOKS = {
    "last": ("#D55E00", "--", "^", "the last weights"),
    "averaged": ("#009E73", ":", "s", "averaged: the mean of all weights so far"),
    "voted": ("#0072B2", "-", "o", "voted: all weights so far vote (number: its error in the end)"),
}
"""Okabe and Ito's colours; lines and markers differ too."""
ROWS = {"one-vs-rest": "one machine for\neach digit", "joint": "all digits\nat once"}
ERRORS = (1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50)


def _panel(axis: Any, found: dict[str, Any], entry: dict[str, Any]) -> None:
    for name, (colour, line, marker, label) in LOOKS.items():
        axis.plot(found["passes"], 100 * np.array(entry[name]), line, color=colour, lw=1.8, zorder=3)
        axis.plot(PASSES, 100 * at_passes(found, entry, name), marker, color=colour, mfc="white", mew=1.5, ms=5.5,
                  zorder=4)  # fmt: skip
        axis.plot([], [], line, marker=marker, color=colour, lw=1.8, mfc="white", mew=1.5, ms=5.5, label=label)
    end = 100 * entry["voted"][-1]
    axis.annotate(f"{end:.1f} %", (PASSES[-1], end), (0, -9), textcoords="offset points", ha="right", va="top",
                  color=LOOKS["voted"][0], fontsize=11, weight="bold")  # fmt: skip


def _scales(axis: Any) -> None:
    """Once for all panels: they share both."""
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.minorticks_off()
    axis.set_xticks(PASSES, [f"{each:g}" for each in PASSES])
    low, high = axis.get_ylim()
    axis.set_ylim(low / 1.2, high)
    shown = [error for error in ERRORS if low / 1.2 <= error <= high]
    axis.set_yticks(shown, [f"{error:g} %" for error in shown])


def kernel_chart(path: Path, results: dict[str, Any]) -> None:
    """Test errors by passes; the number is the voted error in the end."""
    found = results["found"]
    degrees = sorted({entry["degree"] for entry in found["table"]})
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(len(WAYS), len(degrees), figsize=(max(11, 3.1 * len(degrees) + 1.2), 7.2),
                                    sharex=True, sharey=True, squeeze=False, layout="constrained")  # fmt: skip
        for entry in found["table"]:
            _panel(axes[WAYS.index(entry["way"]), degrees.index(entry["degree"])], found, entry)
        _scales(axes[0, 0])
        for axis in axes.flat:
            axis.minorticks_off()
            axis.grid(axis="y", color="#DDDDDD", lw=0.8)
            axis.set_axisbelow(True)
        for way, line in zip(WAYS, axes, strict=True):
            line[0].set_ylabel(f"{ROWS[way]}\n\ntest error (log scale)")
        for degree, axis in zip(degrees, axes[0], strict=True):
            axis.set_title(f"degree {degree}", fontsize=12)
        for axis in axes[-1]:
            axis.set_xlabel("passes (log scale)")
        digits = "MNIST, ten digits" if results["mnist"] else "Made-up digits (a smoke run)"
        rows, tests = (f"{found[name]:,}".replace(",", " ") for name in ("rows", "tests"))
        what = "kernel perceptron, k(x, z) = (1 + xᵀz)$^{degree}$"
        figure.suptitle(f"{digits}: {what}, learnt from {rows} rows; errors on {tests} others", fontsize=12.5)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(LOOKS), frameon=False)
        save(figure, path)
