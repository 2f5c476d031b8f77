"""Three losses on the same nine rows, seen as landscapes, and what each says of one rule. Writes out/surrogates.png."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from separatrix import LeastSquaresClassifier, LogisticRegression, scenes, surface, surrogates
from separatrix.plots import LossSurfaceDisplay, describe_slice, draw_slice
from separatrix.plots.loss_surface import legend_entries

OUT = Path("out/surrogates.png")
LOSSES = {"0-1": "mistakes: radial and flat", "logistic-squared": "LMSE: several valleys", "log": "NLL: one valley"}
HELD = 3.0
"""θ₁ of the cut."""


def picture() -> tuple[Any, list[str]]:
    """The three surfaces above, the cut at θ₁ = 3 below, and all of it in words."""
    X, y = scenes.example_4_5()
    figure, axes = plt.subplots(2, 3, figsize=(13, 7), layout="constrained", height_ratios=(3, 1.5), sharex="col")
    words, surfaces = [], []
    for (upper, lower), (name, title) in zip(axes.T, LOSSES.items(), strict=True):
        found = surface(name, X, y, theta0=(-20, 20), theta1=(-5, 5), size=401 if name == "0-1" else 201)
        display = LossSurfaceDisplay.from_surface(found).plot(upper, legend=False)
        upper.axhline(HELD, ls="--", color="white", lw=1.4)
        upper.set_title(title, fontsize=12)
        upper.set_xlabel("")
        cut = found.slice(theta1=HELD, over=(-20, 20), size=2001)
        draw_slice(cut, lower)
        lower.margins(y=0.25)
        words += [display.alt_text, describe_slice(cut)]
        surfaces.append(found)
    entries = [
        *legend_entries(surfaces),
        plt.Line2D([], [], ls="--", color="grey", label=f"the cut at θ₁ = {HELD:g}, below"),
    ]
    figure.legend(handles=entries, loc="outside lower center", ncols=len(entries), frameon=False)
    return figure, words


def main() -> None:
    """Print the tables, say what far rows do, draw."""
    X, y = scenes.figure_4_1()
    print(
        "Logistic regression on the nine rows of Figure 4.1:",
        surrogates(LogisticRegression().fit(X, y), X, y),
        sep="\n",
    )
    for name in scenes.SCENES:
        scene = scenes.robustness(name)
        print(f"\n{scene.what}")
        for label, learner in (("least squares", LeastSquaresClassifier), ("NLL", LogisticRegression)):
            models = [learner().fit(*rows) for rows in (scene.before, scene.after)]
            print(
                f"  {label:14}"
                + " → ".join(f"threshold {round(-m.intercept_[0] / m.coef_[0, 0], 3) + 0.0:7.3f}" for m in models)
            )
        best = [surface("logistic-squared", *rows, size=11).minima[0].theta for rows in (scene.before, scene.after)]
        print(f"  {'LMSE':14}" + " → ".join(f"threshold {round(-a / b, 3) + 0.0:7.3f}" for a, b in best))
    figure, words = picture()
    OUT.parent.mkdir(exist_ok=True)
    draft = OUT.with_suffix(".part.png")
    figure.savefig(draft, dpi=110)
    plt.close("all")
    draft.replace(OUT)
    print("\n" + "\n".join(words))
    print(f"\nPicture: {OUT}")


if __name__ == "__main__":
    main()
