"""One fit of a kernel perceptron, read in three ways. Writes out/kernel.png."""

from __future__ import annotations

import warnings
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from separatrix import BudgetWarning, KernelPerceptron

OUT = Path("out/kernel.png")
COLOURS, MARKERS = ("#0072B2", "#D55E00"), ("o", "^")
READINGS = {"last": "the last weights", "averaged": "the mean of all weights", "voted": "a vote of all weights"}


def learnt() -> tuple[KernelPerceptron, Any, Any]:
    """Two moons that overlap, and a perceptron in the space of a Gaussian kernel."""
    X, y = make_moons(400, noise=0.3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        return KernelPerceptron("rbf", gamma=2.0, max_passes=10).fit(X, y), X, y


def draw(axis: Any, model: KernelPerceptron, reading: str, X: Any, y: Any, error: float) -> None:
    """The regions of a reading, the rows, and those that were ever mistaken."""
    (left, low), (right, high) = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    across, up = np.meshgrid(np.linspace(left, right, 220), np.linspace(low, high, 160))
    score = model.decision_function(np.column_stack([across.ravel(), up.ravel()]), reading).reshape(across.shape)
    axis.contourf(across, up, score > 0, levels=[-0.5, 0.5, 1.5], colors=COLOURS, alpha=0.15)
    axis.contour(across, up, score, levels=[0], colors="black", linewidths=1.6)
    for k in (0, 1):
        axis.scatter(*X[y == k].T, s=14, c=COLOURS[k], marker=MARKERS[k], linewidths=0)
    axis.scatter(*X[model.support_].T, s=46, facecolors="none", edgecolors="#444444", linewidths=0.7)
    axis.set_title(f"{READINGS[reading]}\n{error:.1%} of new rows wrong", fontsize=11)
    axis.set_xticks([])
    axis.set_yticks([])


def main() -> None:
    """Learn, print, check and draw."""
    model, X, y = learnt()
    confirmed = "confirms" if model.verdict_.check(X, y) else "REFUTES"
    print(fill(f"{model.verdict_} check(X, y) {confirmed} it.", 100))
    new, truth = make_moons(20_000, noise=0.3, random_state=1)
    found = model.curve(new, truth, [model.n_passes_])[0]
    print(f"New rows wrong: last {found.last:.1%}, averaged {found.averaged:.1%}, voted {found.voted:.1%}.\n")
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), constrained_layout=True)
    for axis, reading in zip(axes, READINGS, strict=True):
        draw(axis, model, reading, X, y, getattr(found, reading))
    axes[0].set_xlabel(f"circled: the {len(model.support_)} rows that were ever mistaken", fontsize=10)
    OUT.parent.mkdir(exist_ok=True)
    draft = OUT.with_suffix(".part.png")
    figure.savefig(draft, dpi=110)
    plt.close("all")
    draft.replace(OUT)
    print(f"Picture: {OUT}")


if __name__ == "__main__":
    main()
