"""
One step of a perceptron is a sum of vectors
============================================

Notes 001, slides 16 to 20. The weights w are an arrow, and the boundary is at right angles to it. At a row x with
y⟨w, x⟩ ≤ 0 the perceptron is wrong: w + yx, the tip of the second arrow, turns towards a row of class +1 and away from
one of class −1. Look how the line turns with the arrow, until no row is wrong.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LinearRule, Perceptron
from separatrix.plots.style import current, look
from separatrix.theory import is_mistake

X = np.array([[2.0, -1.0], [-1.0, 2.0], [2.0, 1.5], [1.2, 2.6], [0.4, -2.4], [-2.2, -0.5]])
y = np.array([-1, 1, 1, 1, -1, -1])

# %%
# Rows without an intercept, so that all boundaries go through the origin. `steps` gives the weights after each update.

model = Perceptron(fit_intercept=False, init=[2.0, -2.0])
steps = list(model.steps(X, y))
before = [np.array([2.0, -2.0]), *(step.weights for step in steps[:-1])]
for w, step in zip(before, steps, strict=True):
    assert is_mistake(y[step.row], w @ X[step.row])
    assert np.allclose(step.weights, w + y[step.row] * X[step.row], rtol=1e-15)
    gain = y[step.row] * (step.weights - w) @ X[step.row]  # an update mends its own row by ‖x‖²
    assert np.isclose(gain, X[step.row] @ X[step.row])

# %%
# Three updates, and Note 2 of slide 16: where a perceptron ends, the rows are separated.

assert [step.row for step in steps] == [0, 1, 2]
assert np.allclose(model.coef_, [[1.0, 2.5]])
assert model.score(X, y) == 1.0
assert model.verdict_.status == "separated"
assert model.verdict_.check(X, y)

# %%
# Dashed: w and its line before; solid: after; dotted: yx, carried to the tip of w.

fig, axes = plt.subplots(1, len(steps), figsize=(3.6 * len(steps), 4.3), layout="constrained", sharey=True)
for number, (ax, w, step) in enumerate(zip(axes, before, steps, strict=True), start=1):
    for k, label in enumerate((-1, 1)):
        ax.plot(
            *X[y == label].T,
            look(k).marker,
            color=look(k).colour,
            ms=9,
            label=f"y = {label:+d}".replace("-", "−"),
            zorder=3,
        )
    ax.plot(*X[step.row], "o", ms=18, mfc=current().mark, mec="black", zorder=2, label="the row mistaken")
    for name, v, dash, colour in (("before", w, "--", current().grey), ("after", step.weights, "-", "black")):
        ax.axline((0, 0), (-v[1], v[0]), ls=dash, color=colour, lw=1.5, label=f"boundary {name}")
        ax.annotate("", v, (0, 0), arrowprops={"arrowstyle": "-|>", "ls": dash, "lw": 2, "color": colour})
    ax.plot(*np.transpose([w, step.weights]), ":", color="black", lw=2, label="$y\\,x$ from the tip of $w$")
    wrong = [(LinearRule(v, 0.0, (-1, 1)).classify(X) != y).sum() for v in (w, step.weights)]
    ax.set(xlim=(-3.2, 3.2), ylim=(-3, 3.2), aspect="equal", xlabel="$x_1$")
    ax.set_title(f"update {number}: {wrong[0]} wrong, then {wrong[1]}")
axes[0].set_ylabel("$x_2$")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False, fontsize=9)
fig.set_label(
    f"{len(steps)} updates of a perceptron without intercept, each a sum of arrows; the weights go from (2, −2) to "
    f"({model.coef_[0, 0]:.1f}, {model.coef_[0, 1]:.1f}), where all {len(y)} rows are on their own side."
)
plt.show()
