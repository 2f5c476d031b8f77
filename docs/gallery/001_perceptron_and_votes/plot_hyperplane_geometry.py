"""
A point and a hyperplane
========================

Notes 001, slides 7 to 9. A vector w is normal to the hyperplane ⟨w, x⟩ = 0, and the coordinate of a point x along w is
‖x‖ cos θ: its sign says on which side x lies, its size how far away. With a threshold t the hyperplane moves along w to
⟨w, x⟩ = t, and x may change sides. Look at the square: it does.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LinearRule
from separatrix.plots.style import look
from separatrix.theory import cosine

w = np.array([3.0, 4.0])
X = np.array([[3.0, 1.0], [-2.5, 1.0], [-0.6, 1.2]])

# %%
# Through the origin the distance is the size of ‖x‖ cos θ, as the slide says.

through = LinearRule.from_threshold(w, 0)
lengths, cosines = np.linalg.norm(X, axis=1), np.array([cosine(w, x) for x in X])
assert np.allclose(through.projection(X), [2.6, -0.7, 0.6], atol=1e-12)
assert np.allclose(through.projection(X), lengths * cosines, atol=1e-12)
assert np.allclose(np.abs(through.distance(X)), lengths * np.abs(cosines), atol=1e-12)
assert through.classify(X).tolist() == [1, 0, 1]

# %%
# Away from the origin that formula is wrong by t/‖w‖ = 1, and the distance is (⟨w, x⟩ − t)/‖w‖. The foot of x, the
# nearest point of the hyperplane, is on it, and x minus its foot is along w.

shifted = LinearRule.from_threshold(w, 5)
assert np.allclose(shifted.distance(X), [1.6, -1.7, -0.4], atol=1e-12)
assert np.allclose(shifted.score(shifted.foot(X)), 0, atol=1e-12)
assert np.allclose((X - shifted.foot(X)) @ [4, -3], 0, atol=1e-12)
assert shifted.classify(X).tolist() == [1, 0, 0]
print(shifted)

# %%
# The arrow is w at a third of its length. Beside each point stands its signed distance.

fig, axes = plt.subplots(1, 2, figsize=(9.4, 3.7), layout="constrained", sharey=True)
along = np.array([-4.0, 3.0]) / 5
for ax, rule, t in zip(axes, (through, shifted), (0, 5), strict=True):
    start = t * w / (w @ w)
    ends = start + np.outer([-7, 7], along)
    for side, shift in ((1, 9), (0, -9)):
        ax.fill(*np.vstack([ends, (ends + shift * w / 5)[::-1]]).T, color=look(side).colour, alpha=0.13, lw=0)
    ax.plot(*ends.T, "k-", lw=1.8)
    ax.annotate("", start + w / 3, start, arrowprops={"arrowstyle": "-|>", "lw": 2.2, "color": "black"})
    ax.text(*(start + w / 3 + [0.12, 0]), "w", fontsize=13, fontweight="bold")
    ax.plot(0, 0, "k+", ms=11, mew=1.6)
    for x, foot, d, side, marker in zip(X, rule.foot(X), rule.distance(X), rule.classify(X), "o^s", strict=True):
        ax.plot(*np.transpose([x, foot]), ":", color="black", lw=1.5)
        ax.plot(*x, marker, ms=10, color=look(side).colour, mec="white")
        ax.annotate(f"{d:+.1f}".replace("-", "−"), x, (6, -9), textcoords="offset points", ha="center", va="top")
    ax.set(xlim=(-4, 4.2), ylim=(-2.2, 3), aspect="equal", xlabel="$x_1$")
axes[0].set_title("⟨w, x⟩ = 0: signed distances from the line")
axes[1].set_title("⟨w, x⟩ = 5: the square has changed sides")
axes[0].set_ylabel("$x_2$")
fig.set_label(
    f"Two panels: a line with normal vector (3, 4) through the origin, and the same line at t = 5. Signed distances of "
    f"three points: {np.round(through.distance(X), 1).tolist()}, then {np.round(shifted.distance(X), 1).tolist()}."
)
plt.show()
