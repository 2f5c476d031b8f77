"""
Slide 31: logistic regression and the perceptron: one rule of learning
======================================================================

Notes 003, slide 31. w ← w − α(y(x, w) − t)φ is the update of both; only y differs, a logistic function or a step. Look
at what follows, in the rings: the step learns from rows that are wrong and from no others, σ from every row, and the
more the less it believed in the right class.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LogisticRegression, OnlinePerceptron
from separatrix.plots.style import current, look
from separatrix.theory import ACTIVATIONS, delta_step

rng = np.random.default_rng(8)
X = np.vstack([rng.normal([-1, 0.6], 0.7, (40, 2)), rng.normal([1, -0.6], 0.7, (40, 2))])
t = np.repeat([0, 1], 40)
order = rng.permutation(80)
X, t = X[order], t[order]
phi = np.column_stack([X, np.ones(80)])

# %%
# One pass over the rows, written out with α = ½.

paths = {"logistic": [np.zeros(3)], "step": [np.zeros(3)]}
for activation, path in paths.items():
    for row, target in zip(phi, t, strict=True):
        path.append(delta_step(path[-1], row, target, 0.5, activation))
moved = {name: np.linalg.norm(np.diff(path, axis=0), axis=1) for name, path in paths.items()}

# %%
# The library's learners take the same steps: stochastic logistic regression, and an online perceptron for which a score
# of zero is class 0.

smooth = LogisticRegression(solver="stochastic", learning_rate=0.5).partial_fit(X, t, classes=[0, 1])
assert np.allclose([*smooth.coef_[0], smooth.intercept_[0]], paths["logistic"][-1], rtol=1e-10)
hard = OnlinePerceptron(learning_rate=0.5, ties="negative").partial_fit(X, t, classes=[0, 1])
assert np.allclose([*hard.coef_[0], hard.intercept_[0]], paths["step"][-1], rtol=1e-10)
assert (moved["step"] > 0).sum() == hard.progressive_mistakes_
assert (moved["logistic"] > 0).all()
print(f"Rows that moved w: all 80 with σ, {hard.progressive_mistakes_} with the step.")

# %%
# Left: the two functions y. Middle and right: the boundary after the pass, and rows as large as the move they caused.

fig, axes = plt.subplots(1, 3, figsize=(12.4, 4.6), layout="constrained")
z = np.linspace(-6, 6, 601)
for name, dash, colour in zip(paths, ("-", "--"), current().colours[2:4], strict=True):
    axes[0].plot(z, ACTIVATIONS[name](z), dash, lw=2.4, color=colour, label=name)
axes[0].set(xlabel="w·φ(x)", ylabel="y(x, w)", title="two activations,\none update")
axes[0].legend(loc="upper left", frameon=False)
for ax, (name, path) in zip(axes[1:], paths.items(), strict=True):
    w = path[-1]
    ax.axline(-w[2] * w[:2] / (w[:2] @ w[:2]), slope=-w[0] / w[1], color="black", lw=2)
    for k in (0, 1):
        own = t == k
        ax.scatter(*X[own].T, s=24, c=look(k).colour, marker=look(k).marker, lw=0, label=f"class {k}")
        ax.scatter(*X[own].T, s=260 * moved[name][own], fc="none", ec=look(k).colour, lw=1.2)
    wrong = int(((phi @ w > 0) != t).sum())
    ax.set(xlabel="$x_1$", ylabel="$x_2$", xlim=(-3, 3), ylim=(-2.8, 2.8))
    ax.set_title(f"{name}: {(moved[name] > 0).sum()} of 80 rows moved w,\n{wrong} are wrong at the end")
ring = plt.Line2D([], [], ls="none", marker="o", mfc="none", mec="black", ms=11, label="the larger, the more w moved")
handles, _ = axes[1].get_legend_handles_labels()
fig.legend(handles=[*handles, ring], loc="outside lower center", ncols=3, frameon=False)
fig.set_label(
    f"A logistic function and a step, and one pass with each: {(moved['logistic'] > 0).sum()} of 80 rows move the "
    f"weights with the first, {(moved['step'] > 0).sum()} with the second."
)
plt.show()
