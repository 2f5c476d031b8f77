"""
Algorithm 5: the perceptron
===========================

Notes 000, §8.2: w ← w + yx wherever a point is on the wrong side. Left, the boundary after the first updates and
after the last. Right, the proof that it ends, on the very updates of this run: progress uᵀw grows at least as ℓε
(8.15), length ‖w‖ at most as √ℓ M (8.16), so that the two lines cross, at ℓ = M²/ε², and no run gets beyond.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from separatrix import MaxMarginClassifier, Perceptron
from separatrix.plots import DecisionRegionsDisplay, theme
from separatrix.theory import chain

positive = [(2, 3.5), (3, 4.5), (3.5, 2.75), (4.5, 4), (5, 2.5), (5.5, 3.75), (4, 5.25), (6, 1.5)]
negative = [(0.5, 2.5), (1, 1), (1.25, 3.25), (2.5, 0.5), (3, 2), (0.75, 4.5), (1.75, 2.25), (4, 0.75)]
X = np.array(positive + negative) - [3.25, 2.75]
y = np.repeat([1, -1], 8)

# %%
# The algorithm as it is printed, x₀ = 1 first, row after row; and the learner. They make the same updates.

lifted, w, moves = np.column_stack([np.ones(16), X]), np.zeros(3), []
while any((x @ w >= 0) != (label == 1) for x, label in zip(lifted, y, strict=True)):
    for x, label in zip(lifted, y, strict=True):
        if (x @ w >= 0 and label == -1) or (x @ w < 0 and label == 1):
            w = w + label * x
            moves.append(label * x)
model = Perceptron(ties="positive").fit(X, y)
assert np.allclose(w, [*model.intercept_, *model.coef_[0]], atol=1e-12)
assert model.mistakes_.sum() == len(moves)
assert model.verdict_.status == "separated"
assert model.verdict_.check(X, y)

# %%
# η in (0, 1] is said to avoid rapid movements. From w = 0 it changes the length of the weights and no mistake.

slow = Perceptron(ties="positive", learning_rate=0.125).fit(X, y)
assert np.array_equal(slow.mistakes_, model.mistakes_)
assert np.allclose(slow.coef_, model.coef_ / 8, atol=1e-12)

# %%
# The best u is the direction of the largest margin ε in the lifted space, and M the length of the longest point there.

best = MaxMarginClassifier(lifted=True).fit(X, y)
bound = model.bound()
links = chain(np.append(best.intercept_, best.coef_), np.array(moves), bound.gamma, bound.R)
for lower, upper in pairwise(links):
    assert np.all(lower <= upper + 1e-9)
assert len(moves) <= bound.bound
assert np.isclose(bound.bound, (bound.R / bound.gamma) ** 2)
print(f"{len(moves)} updates; at most {bound.bound:.0f} were possible.")

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
shown = DecisionRegionsDisplay.from_estimator(
    model, X, y, ax=axes[0], title=f"Dashed: the first 6 updates. Solid: after {len(moves)}"
)
with theme() as look:
    for step in list(Perceptron(ties="positive").steps(X, y))[:6]:
        axes[0].axline(
            -step.intercept * step.weights / (step.weights @ step.weights),
            slope=-step.weights[0] / step.weights[1],
            color=look.grey,
            ls="--",
            lw=0.9,
        )
    axes[0].set(xlabel="$x_1$", ylabel="$x_2$", xlim=shown.across[[0, -1]], ylim=shown.up[[0, -1]])
    count = np.arange(1, len(moves) + 1)
    reach = np.array([1, 1.5 * bound.bound])
    axes[1].loglog(reach, reach * bound.gamma, "-", color=look.colours[0], label="$\\ell\\varepsilon$")
    axes[1].loglog(count, links.progress, "^", color=look.colours[0], ms=4, label="progress $u^⊤w$")
    axes[1].loglog(count, links.length, "o", color=look.colours[1], ms=4, label="length $\\|w\\|$")
    axes[1].loglog(reach, np.sqrt(reach) * bound.R, "--", color=look.colours[1], label="$\\sqrt{\\ell}M$")
    axes[1].plot(bound.bound, bound.bound * bound.gamma, "*", color=look.mark, mec=look.ink, ms=15)
    axes[1].set(xlabel="updates $\\ell$", ylabel="progress and length of the weights")
    axes[1].annotate("no run gets here", (bound.bound, bound.bound * bound.gamma), (-10, 8), textcoords="offset points",
                     ha="right")  # fmt: skip
    axes[1].set_title(f"This one took {len(moves)} updates; no run can take more than {bound.bound:.0f}", fontsize=10)
    axes[1].legend(frameon=False)
figure.set_label(
    f"{shown.alt_text} Right: lines that cross at {bound.bound:.0f} updates; this run had {len(moves)} of them."
)
plt.show()
