"""
Lifting: a threshold becomes a line through the origin
======================================================

Notes 001, slide 14. Every x is lifted to φ(x) = (x, 1), and w to w̃ = (w, −t). Then ⟨w, x⟩ > t is ⟨w̃, φ(x)⟩ > 0: what
needed a threshold on the line needs none in the plane, and a line in the plane becomes a plane through the origin of
space. Look at the dashed height 1, on which all rows lie.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LinearRule, Perceptron
from separatrix.features import Lift
from separatrix.plots.style import look

x = np.array([-1.0, -0.4, 0.6, 2.1, 2.7, 3.6])[:, None]
rule = LinearRule.from_threshold([1.0], 1.5)
lifted_rule = LinearRule([1.0, -1.5])
lifted = Lift().fit_transform(x)
assert lifted_rule.intercept == 0
assert np.array_equal(lifted_rule.score(lifted), rule.score(x))
assert np.array_equal(rule.score(x), x[:, 0] - 1.5)
assert rule.classify(x).tolist() == lifted_rule.classify(lifted).tolist() == [0, 0, 0, 1, 1, 1]

# %%
# Learning agrees too: a perceptron with an intercept is one without, on the lifted rows, mistake by mistake.

X = np.array([[-1, 0], [0, 1], [1, 0], [-0.5, 2], [2, 1], [1, 2.5], [3, 0], [2.5, 2]])
y = np.repeat([0, 1], 4)
plain = Perceptron().fit(X, y)
homogeneous = Perceptron(fit_intercept=False).fit(Lift().fit_transform(X), y)
assert np.array_equal(homogeneous.coef_[0], [*plain.coef_[0], plain.intercept_[0]])
assert np.array_equal(homogeneous.mistakes_, plain.mistakes_)
assert np.array_equal(homogeneous.coef_, [[2, 1, -3]])
assert homogeneous.score(Lift().fit_transform(X), y) == 1.0
print(plain.rule_, "\n", homogeneous.rule_, sep="")

# %%
# From one column to two, and from two to three.

fig = plt.figure(figsize=(10, 4.6))
flat, solid = fig.add_axes((0.07, 0.14, 0.42, 0.72)), fig.add_axes((0.5, 0.0, 0.5, 0.9), projection="3d")
flat.axhline(1, color="grey", ls="--", lw=1)
flat.plot([-1.5, 4.5], [-1, 3], "k-", lw=1.8)
flat.plot([1.5, 1.5], [0, 1], "k:", lw=1.3)
flat.axhline(0, color="black", lw=0.8)
for k in (0, 1):
    colour, marker = look(k)
    own = x[y[[0, 1, 2, 4, 5, 6]] == k, 0]
    flat.plot(own, np.ones(3), marker, color=colour, ms=10)
    flat.plot(own, np.zeros(3), marker, color=colour, ms=10, mfc="white")
    solid.plot(*X[y == k].T, np.ones(4), marker, color=colour, ms=8)
    solid.plot(*X[y == k].T, np.zeros(4), marker, color=colour, ms=6, mfc="white")
flat.annotate("t = 1.5", (1.5, 0), (6, -18), textcoords="offset points", fontsize=12)
flat.plot(0, 0, "k+", ms=14, mew=2)
flat.set(xlim=(-1.7, 4.3), ylim=(-0.8, 2), xlabel="x", ylabel="the column of ones", yticks=[0, 1])
flat.set_title("rows x (hollow), lifted to (x, 1) (filled):\nx = t becomes a line through the origin")

(a, b), c = plain.coef_[0], plain.intercept_[0]
up, high = np.meshgrid([-0.5, 3.0], [0.0, 1.25])
solid.plot_surface(-(b * up + c * high) / a, up, high, color="grey", alpha=0.35)
solid.plot(-(b * up[0] + c) / a, up[0], [1, 1], "k-", lw=1.8)
solid.set(xlabel="$x_1$", ylabel="$x_2$", xticks=[-1, 1, 3], yticks=[0, 2], zticks=[0, 1], zlim=(0, 1.25))
solid.view_init(18, -72)
solid.set_title("two columns: the line at height 1\nis on a plane through the origin", y=1.0)
fig.set_label(
    f"Left: six rows on the line and, filled, at height 1, where the threshold 1.5 lies on a line through the origin. "
    f"Right: eight rows lifted to height 1 and the plane {homogeneous.rule_.equation(3)} of a perceptron."
)
plt.show()
