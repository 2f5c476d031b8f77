"""
Algorithm 6: the pocket
=======================

Notes 000, §8.2.1: where no line separates the points the perceptron never stops, and its weights get better and worse
for ever. The pocket keeps those with the longest run of right answers. Look at the two curves: the perceptron's
mistakes go up and down, those of the pocket only down, to the fewest that any line can make.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import Pocket, ZeroOneClassifier
from separatrix.plots import DecisionRegionsDisplay, theme

positive = [(2, 3.5), (3, 4.5), (3.5, 2.75), (4.5, 4), (5, 2.5), (5.5, 3.75), (4, 5.25), (2.25, 1.5), (6, 1.5)]
negative = [(0.5, 2.5), (1, 1), (1.25, 3.25), (2.5, 0.5), (3, 2), (0.75, 4.5), (1.75, 2.25), (4, 0.75), (3.75, 3.5)]
X = np.array(positive + negative) - [3.25, 2.75]
y = np.repeat([1, -1], 9)


def algorithm_6(X, y, passes):
    """As it is printed, row after row; returns the weights in the pocket, w₀ first, and their run."""
    w, pocket, run, longest = np.zeros(3), np.zeros(3), 0, 0
    for x, label in zip(np.tile(np.column_stack([np.ones(len(X)), X]), (passes, 1)), np.tile(y, passes), strict=True):
        if (x @ w >= 0) == (label == 1):
            run += 1
            continue
        if run > longest:
            pocket, longest = w, run
        w, run = w + label * x, 0
    return pocket, longest


# %%
# The learner without its ratchet is the algorithm.

pocket, run = algorithm_6(X, y, 100)
plain = Pocket(ratchet=False, order="cyclic", ties="positive", max_passes=100).fit(X, y)
assert np.allclose(pocket, [*plain.intercept_, *plain.coef_[0]], atol=1e-12)
assert run == plain.pocket_run_

# %%
# One thing is forgotten in print: weights that never err again are never saved. Without the two points that cross,
# these 16 are separable, and Algorithm 6 still returns a rule with a mistake; the learner looks at the last run too.

apart = np.delete(np.arange(18), [7, 17])
forgetful, _ = algorithm_6(X[apart], y[apart], 100)
assert ((X[apart] @ forgetful[1:] + forgetful[0] > 0) != (y[apart] == 1)).sum() == 1
assert Pocket(order="cyclic").fit(X[apart], y[apart]).verdict_.status == "separated"

# %%
# Rows drawn at random, and the ratchet: new weights enter the pocket only if they are right on more rows. Two mistakes
# are the fewest, which is proved by counting all lines.

model = Pocket(order="replacement", max_passes=100, random_state=1)
steps = list(model.steps(X, y))
wrong = np.array([((X @ step.weights + step.intercept > 0) != (y == 1)).sum() for step in steps])
record, kept = 0, [9]  # before the first update all weights are zero, and all points negative
for now, after, mistakes in zip(steps, steps[1:], wrong, strict=False):
    run, better = after.step - now.step - 1, mistakes < kept[-1]
    record, kept = (run, [*kept, mistakes]) if run > record and better else (record, [*kept, kept[-1]])
assert (kept[-1], record) == (2, model.pocket_run_)
assert len(set(kept)) - 1 == model.pocket_changes_
assert (model.predict(X) != y).sum() == 2
assert ZeroOneClassifier().fit(X, y).mistakes_ == (2, 2)
assert wrong[wrong.size // 2 :].max() >= 8, "the perceptron is as bad as ever in the second half"
print(model.verdict_)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), width_ratios=(1.3, 1), layout="constrained")
with theme() as look:
    axes[0].step(np.arange(150), wrong[:150], color=look.grey, lw=0.8, label="the perceptron's weights")
    axes[0].step(np.arange(150), kept[:150], color=look.colours[0], lw=2.6, label="the weights in the pocket")
    axes[0].axhline(2, color=look.colours[1], ls="--", label="the fewest that any line can make")
    axes[0].set(xlabel="updates", ylabel="mistakes on the 18 points", ylim=(0, 18), yticks=range(0, 19, 2))
    axes[0].set_title("The perceptron goes up and down for ever, the pocket only down", fontsize=10)
    axes[0].legend(frameon=False, loc="upper right")
shown = DecisionRegionsDisplay.from_estimator(model, X, y, ax=axes[1], title="The weights in the pocket")
axes[1].set(xlabel="$x_1$", ylabel="$x_2$")
figure.set_label(
    f"Left: mistakes of the perceptron's weights after each of {wrong.size} updates, from {wrong.min()} to "
    f"{wrong.max()}, and never fewer than 2. Right: {shown.alt_text}"
)
plt.show()
