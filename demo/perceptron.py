"""A perceptron in motion: ten updates on two kinds of iris. Writes out/perceptron.png."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from separatrix import Perceptron
from separatrix.plots import draw_updates

OUT = Path("out/perceptron.png")


def iris() -> tuple[Any, Any]:
    """Two of the three species by their sepals, centred, in an order that mixes them."""
    X, y = load_iris(return_X_y=True)
    chosen = np.random.default_rng(12).permutation(np.flatnonzero(y < 2))
    sepals = X[chosen][:, :2]
    return sepals - sepals.mean(axis=0), np.array(["setosa", "versicolor"])[y[chosen]]


def main() -> None:
    """Learn, print, check and draw."""
    X, y = iris()
    model = Perceptron().fit(X, y)
    confirmed = "confirms" if model.verdict_.check(X, y) else "REFUTES"
    print(fill(f"{model.verdict_} check(X, y) {confirmed} it.", 100))
    bound = model.bound()
    print(
        f"At most (R/γ)² = ({bound.R:.3g}/{bound.gamma:.3g})² = {bound.bound:.0f} mistakes were possible; "
        f"it made {bound.made}.\n"
    )
    axes = draw_updates(Perceptron(), X, y)
    OUT.parent.mkdir(exist_ok=True)
    draft = OUT.with_suffix(".part.png")
    np.ravel(axes)[0].figure.savefig(draft, dpi=110)
    plt.close("all")
    draft.replace(OUT)
    print(f"Picture: {OUT}")


if __name__ == "__main__":
    main()
