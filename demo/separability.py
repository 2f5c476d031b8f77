"""Three tables, three ways in which classes lie to each other, and what proves it. Writes out/separability.png."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from separatrix import separability
from separatrix.plots import draw_separability

OUT = Path("out/separability.png")


def iris() -> tuple[Any, Any]:
    """Two of the three species, by their petals."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    chosen = y < 2
    return X.loc[chosen, ["petal length (cm)", "petal width (cm)"]], np.array(["setosa", "versicolor"])[y[chosen]]


def treatment() -> tuple[Any, Any]:
    """All who were treated recovered; of the others some did."""
    age = [31, 38, 44, 52, 57, 63, 35, 41, 48, 55, 61, 66]
    recovered = [1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1]
    X = pd.DataFrame({"treated": [0] * 6 + [1] * 6, "age": age})
    return X, np.array(["ill", "recovered"])[recovered]


def exclusive_or() -> tuple[Any, Any]:
    """True where the two differ."""
    X = pd.DataFrame({"p": [0, 0, 1, 1], "q": [0, 1, 0, 1]})
    return X, np.where(X["p"] != X["q"], "true", "false")


def main() -> None:
    """Ask, print, check and draw."""
    figure, axes = plt.subplots(1, 3, figsize=(14, 5.6), layout="constrained")
    for ax, (X, y) in zip(axes, (iris(), treatment(), exclusive_or()), strict=True):
        result = separability(X, y)
        confirmed = "confirms" if result.check(X, y) else "REFUTES"
        print(fill(f"{', '.join(result.columns)}: {result} check(X, y) {confirmed} it.", 100), end="\n\n")
        draw_separability(result, X, y, ax=ax)
    OUT.parent.mkdir(exist_ok=True)
    draft = OUT.with_suffix(".part.png")
    figure.savefig(draft, dpi=110)
    draft.replace(OUT)
    print(f"Picture: {OUT}")


if __name__ == "__main__":
    main()
