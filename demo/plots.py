"""Nine displays on small data, on light paper and on dark. Writes out/plots.png and out/plots-dark.png."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from separatrix import LogisticRegression, MaxMarginClassifier, OneVsRest, Perceptron, plots, scenes, surface

OUT = Path("out")


def cancer() -> tuple[Any, Any]:
    """Three columns of the breast cancer table."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X[["mean texture", "mean smoothness", "mean symmetry"]], np.where(y == 0, "malignant", "benign")


def sheet(theme: str) -> tuple[Any, list[str]]:
    """All of them on one sheet, and in words."""
    X, y = cancer()
    model = LogisticRegression().fit(X, y)
    wine, kind = load_wine(return_X_y=True, as_frame=True)
    iris, species = load_iris(return_X_y=True, as_frame=True)
    two, later, petals = species < 2, species > 0, ["petal length (cm)", "petal width (cm)"]
    names = np.array(["setosa", "versicolor", "virginica"])[species]
    nine = scenes.figure_4_1()
    with plots.theme(theme):
        figure = plt.figure(figsize=(16.5, 15), layout="constrained")
        parts = figure.subfigures(3, 3).ravel()  # each is laid out by itself
        axes = [part.add_subplot(projection="3d" if n == 2 else None) for n, part in enumerate(parts)]
        three = LogisticRegression(l2=0.01).fit(wine, kind)
        path = list(LogisticRegression(solver="gradient", init=[0.5, -4.0]).steps(*nine))
        solvers = {
            each: LogisticRegression(solver=each, init="zero").fit(X, y) for each in ("newton", "lbfgs", "gradient")
        }
        texture = ["mean texture", "mean smoothness"]
        displays = [
            plots.DecisionRegionsDisplay.from_estimator(
                three, wine, kind, plane="best", probabilities=True, ax=axes[0]
            ),
            plots.ResponseDisplay.from_estimator(model, X, y, features="mean texture", ax=axes[1]),
            plots.ResponseDisplay.from_estimator(model, X, y, features=texture, ax=axes[2]),
            plots.SurrogateCurvesDisplay.of(ax=axes[3]),
            plots.LossSurfaceDisplay.from_surface(
                surface("log", *nine, theta0=(-5.5, 6.5), theta1=(-1.5, 4.5)), path=path
            ).plot(axes[4]),
            plots.WeightsDisplay.from_estimator(model, X, y, method="profile", ax=axes[5]),
            plots.MarginsDisplay.from_estimator(
                MaxMarginClassifier().fit(iris.loc[two, petals], names[two]),
                iris.loc[two, petals],
                names[two],
                ax=axes[6],
            ),
            plots.SeparabilityDisplay.from_data(iris.loc[later, petals], names[later], ax=axes[7]),
            plots.ConvergenceDisplay.compare(solvers, ax=axes[8]),
        ]
    return figure, [display.alt_text for display in displays]


def save(figure: Any, name: str) -> None:
    """Whole, or not at all."""
    OUT.mkdir(exist_ok=True)
    draft = OUT / f"{name}.part.png"
    figure.savefig(draft, dpi=70)
    plt.close(figure)
    draft.replace(OUT / f"{name}.png")
    print(f"Picture: {OUT / name}.png")


def main() -> None:
    """Draw both sheets, and a perceptron's first steps and what a reduction leaves open; print what is to be seen."""
    words: list[str] = []
    for theme, name in (("light", "plots"), ("dark", "plots-dark")):
        figure, words = sheet(theme)
        save(figure, name)
    iris, species = load_iris(return_X_y=True)
    X, y = iris[:, :2], np.array(["setosa", "versicolor", "virginica"])[species]
    rest = OneVsRest(LogisticRegression(l2=0.01)).fit(X, y)
    regions = plots.DecisionRegionsDisplay.from_estimator(rest, X, y)
    steps = plots.PerceptronStepsDisplay.from_estimator(Perceptron(), X[50:] - X[50:].mean(axis=0), y[50:], count=5)
    plt.close("all")
    for each in (*words, regions.alt_text, steps.alt_text):
        print(fill(each, 110))


if __name__ == "__main__":
    main()
