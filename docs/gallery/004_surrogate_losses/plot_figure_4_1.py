"""
Figure 4.1: one feature, a line, a threshold
============================================

Notes 004, figure 4.1: nine points of one feature, their class shown by height and colour. A linear response r(x) is
cut at zero to make a decision, and the decision makes two regions. Look for the black square: one and the same point
is where the line crosses zero, where the decision jumps, and where the regions meet.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import ZeroOneClassifier, scenes
from separatrix.plots.style import class_words, current, look

X, y = scenes.figure_4_1()
model = ZeroOneClassifier().fit(X, y)  # of all lines one with the fewest mistakes
(theta_1,), theta_0 = model.rule_.weights, model.rule_.intercept
boundary = -theta_0 / theta_1
print(model.rule_)

# %%
# The texts do not print these points; ours have what the texts say of them: five negative, four positive, and the best
# line makes one mistake. Its boundary lies in the middle of the gap between -1.75 and -1.

assert (y == -1).sum() == 5
assert (y == 1).sum() == 4
assert model.mistakes_ == (1, 1)
assert model.verdict_.check(X, y)
assert abs(boundary - (-1.375)) < 1e-12

# %%
# (4.1): the decision is +1 where the response is above zero, and -1 otherwise, at zero too.

x = np.linspace(-3.5, 2.25, 1001)
response, decision = model.rule_.score(x[:, None]), model.rule_.side(x[:, None])
assert np.array_equal(decision == 1, x > boundary)
assert model.rule_.side([[boundary]]) == -1
assert np.allclose(np.diff(response, 2), 0, atol=1e-12)  # a straight line
wrong = model.predict(X) != y
assert X[wrong, 0].tolist() == [0.25]

# %%
# The three steps, from the line to the regions.

fig, axes = plt.subplots(3, 1, figsize=(6.4, 6.6), sharex=True, layout="constrained", height_ratios=(3, 2.2, 1.3))
axes[0].plot(x, response, color=current().ink, lw=2)
axes[1].plot(x[x <= boundary], decision[x <= boundary], color=current().ink, lw=2)
axes[1].plot(x[x > boundary], decision[x > boundary], color=current().ink, lw=2)
for k, side in enumerate((x <= boundary, x > boundary)):
    axes[2].axvspan(x[side][0], x[side][-1], color=look(k).colour, alpha=current().veil, lw=0)
    axes[2].text(x[side].mean(), 0.68, f"say {(-1, 1)[k]:+d}".replace("-", "−"), ha="center", color=look(k).colour)
for ax in axes:
    for k, label in enumerate((-1, 1)):
        height = np.full((y == label).sum(), label) if ax is not axes[2] else np.zeros((y == label).sum())
        ax.scatter(X[y == label, 0], height, s=48, c=look(k).colour, marker=look(k).marker, label=class_words(label))
    ax.axvline(boundary, color=current().grey, ls=":", lw=1.2, zorder=0)
    ax.axhline(0, color=current().grey, lw=0.6, zorder=0)
    ax.plot(boundary, 0, "s", color="black", ms=9, zorder=4, label=f"r(x) = 0 at x = −{-boundary:g}")
axes[0].set(title="(a) the response r(x) = θ₀ + θ₁x", ylabel="r, and y of the points", ylim=(-5.6, 9.4))
axes[1].set(title="(b) the decision sign(r(x))", ylabel="ŷ, and y", ylim=(-1.6, 1.6), yticks=(-1, 0, 1))
axes[2].set(title="(c) the regions", xlabel="x₁", ylim=(-1, 1.3), yticks=(), xlim=(x[0], x[-1]))
axes[0].legend(loc="upper left", frameon=False)

fig.set_label(
    f"Three panels over one feature with nine points. A line crosses zero at {boundary:g}; its sign jumps there from "
    f"-1 to +1; there the two regions meet. {wrong.sum()} of {len(y)} points, at {X[wrong, 0][0]:g}, is wrong."
)
