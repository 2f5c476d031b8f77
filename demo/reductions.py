"""Three classes from learners of two, and where their votes leave it open. Writes out/reductions.png."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from separatrix import LeastSquaresClassifier, OneVsOne, OneVsRest
from separatrix.plots import describe_regions, draw_regions

OUT = Path("out/reductions.png")


def clouds() -> tuple[Any, Any]:
    """Three clouds around a middle that belongs to none of them."""
    rng = np.random.default_rng(1)
    clouds = [((1.5, 2.2), (2.0, 0.5), 0.5), ((1.5, -2.2), (0.5, 2.0), 0.4), ((-2.6, 0.0), (1.9, 0.5), 0.9)]
    rows = [
        centre + rng.normal(size=(40, 2)) * spread @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
        for centre, spread, turn in clouds
    ]
    return np.vstack(rows), np.repeat(["north", "south", "west"], 40)


def main() -> None:
    """Learn, print and draw."""
    X, y = clouds()
    learner = LeastSquaresClassifier()
    models = {
        "one against the rest, K − 1 = 2 classifiers": OneVsRest(learner, classifiers="K-1"),
        "one against one, 3 classifiers": OneVsOne(learner),
        "three discriminants, the largest decides": learner,
    }
    figure, axes = plt.subplots(1, 3, figsize=(12.6, 4.3), layout="constrained", sharey=True)
    for axis, (title, model) in zip(axes, models.items(), strict=True):
        model.fit(X, y)
        print(fill(f"{title}: {describe_regions(model, X, y)}", 100))
        draw_regions(model, X, y, ax=axis)
        axis.set_title(title, fontsize=11)
        axis.set_xticks([])
        axis.set_yticks([])
    axes[0].set_xlabel("hatched: two classifiers claim it", fontsize=10)
    axes[1].set_xlabel("hatched: each class wins one duel", fontsize=10)
    axes[2].set_xlabel(learner.rule_.equation(2), fontsize=9)
    axes[0].legend(loc="lower left", fontsize=9, framealpha=0.9)
    OUT.parent.mkdir(exist_ok=True)
    draft = OUT.with_suffix(".part.png")
    figure.savefig(draft, dpi=110)
    plt.close("all")
    draft.replace(OUT)
    print(f"Picture: {OUT}")


if __name__ == "__main__":
    main()
