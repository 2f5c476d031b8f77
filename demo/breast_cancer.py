"""Three fits of one table, three verdicts: separated, optimal, optimal with a penalty. Writes out/demo.png."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression as PeerRegression
from sklearn.preprocessing import StandardScaler

from separatrix import LogisticRegression, SeparationWarning

BLUE, ORANGE = "#0072B2", "#D55E00"
THREE = ["mean radius", "mean texture", "mean smoothness"]
OUT = Path("out/demo.png")


def tell(title: str, model: LogisticRegression, X: Any, y: Any, seconds: float) -> None:
    """Print one fit: its verdict in sentences, and whether the verdict's own check confirms it."""
    print(f"\n── {title} ({1e3 * seconds:.0f} ms, {model.n_passes_:.0f} passes) " + "─" * 12)
    print(fill(str(model.verdict_), 100))
    confirmed = "confirms" if model.verdict_.check(X, y) else "REFUTES"
    print(f"verdict_.check(X, y), by separate code, {confirmed} it. Training accuracy {model.score(X, y):.3f}.")


def fit(X: Any, y: Any, **settings: Any) -> tuple[LogisticRegression, float]:
    """A fit and how long it took."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)  # the demo prints the verdict itself
        model = LogisticRegression(**settings).fit(X, y)
    return model, time.perf_counter() - start


def peer(X: Any, y: Any) -> None:
    """What scikit-learn says to the same question, with its default solver on standardised columns."""
    Z, tolerances = StandardScaler().fit_transform(X), (1e-3, 1e-4, 1e-5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fits = [PeerRegression(C=np.inf, tol=tol, max_iter=10_000).fit(Z, y) for tol in tolerances]
    norms = ", ".join(f"{np.linalg.norm(model.coef_):.0f}" for model in fits)
    said = ", ".join(sorted({w.category.__name__ for w in caught})) or "without a word"
    print(fill(f"scikit-learn, asked the same with tol = 1e-3, 1e-4, 1e-5, returns weights of length {norms}, {said}."))


def strip(axis: Any, model: LogisticRegression, X: Any, y: Any, names: Any) -> None:
    """Signed distances from the boundary, one row a dot, a shape and a colour for each class."""
    unit = np.abs(model.distance(X)).max()
    lift = np.random.default_rng(0).uniform(-0.35, 0.35, len(y))
    for label, colour, marker in ((0, ORANGE, "o"), (1, BLUE, "^")):
        side = np.asarray(y) == label
        axis.scatter(model.distance(X)[side] / unit, label + lift[side], s=9, c=colour, marker=marker, alpha=0.6, lw=0)
    axis.axvline(0, color="black", lw=1)
    axis.set_yticks([0, 1], names)
    axis.set_xlabel("signed distance from the boundary (largest = 1)")


def picture(models: tuple[LogisticRegression, ...], X: Any, y: Any) -> None:
    """Left: the classes apart. Middle: three columns, overlapping. Right: how fast each fit closed in."""
    separated, optimal, ridge = models
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), constrained_layout=True)
    names = ["malignant", "benign"]
    strip(axes[0], separated, X, y, names)
    axes[0].set_title("30 columns: separated.\nNo row is on the wrong side", fontsize=10)
    strip(axes[1], optimal, X[THREE], y, names)
    axes[1].set_title("3 columns: optimal.\nThe classes overlap, the estimate exists", fontsize=10)
    for model, label, colour, dash in ((optimal, "3 columns", BLUE, "-"), (ridge, "30 columns, ridge", ORANGE, "--")):
        best = model.history_[-1].value
        gaps = [max(record.value / best - 1, 1e-16) for record in model.history_]
        axes[2].semilogy(range(1, len(gaps) + 1), gaps, dash, marker="o", color=colour, label=label)
    axes[2].axhline(1e-10, color="grey", lw=1, ls=":")
    axes[2].set_xlabel("Newton step")
    axes[2].set_ylabel("relative gap")
    axes[2].set_title("Proved to 1e-10 of the loss (dotted)", fontsize=10)
    axes[2].legend(frameon=False)
    OUT.parent.mkdir(exist_ok=True)
    draft = OUT.with_suffix(".part.png")
    figure.savefig(draft, dpi=110)
    draft.replace(OUT)


def main() -> None:
    """Run the three fits, print their verdicts, draw the picture."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    print(f"Wisconsin breast cancer: {len(X)} rows, {X.shape[1]} columns, benign or malignant.")
    separated, seconds = fit(X, y)
    tell("Maximum likelihood on all 30 columns", separated, X, y, seconds)
    peer(X, y)
    optimal, seconds = fit(X[THREE], y)
    tell(f"Maximum likelihood on {', '.join(THREE)}", optimal, X[THREE], y, seconds)
    print(fill(f"Boundary: {optimal.rule_.equation(4)}", 100))
    ridge, seconds = fit(X, y, l2=1e-3)
    tell("Ridge on all 30 columns, l2 = 0.001", ridge, X, y, seconds)
    picture((separated, optimal, ridge), X, y)
    print(f"\nPicture: {OUT}")


if __name__ == "__main__":
    main()
