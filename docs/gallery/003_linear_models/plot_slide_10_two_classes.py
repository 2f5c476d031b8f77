"""
Slide 10: what w and w₀ do
==========================

Notes 003, slide 10. y(x) = xᵀw + w₀ is zero on the boundary, so w is at right angles to every vector within it, and
y(x)/‖w‖ is the signed distance of x. The distance of the boundary from the origin is −w₀/‖w‖. Look at the right panel:
w turns the boundary, w₀ only shifts it.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LinearRule
from separatrix.plots.style import current, look

rule = LinearRule([4.0, 3.0], -10.0, ("$C_2$", "$C_1$"))
A, B, x = np.array([[1.0, 2.0], [2.8, -0.4], [3.4, 1.8]])

# %%
# Two points of the boundary, the vector between them, and the distances of x and of the origin.

assert np.allclose(rule.score([A, B]), 0, atol=1e-12)
assert np.isclose(rule.weights @ (A - B), 0, atol=1e-12)
foot = rule.foot([x])[0]
assert np.isclose(rule.distance([x])[0], 1.8)
assert np.allclose(x, foot + rule.distance([x])[0] * rule.weights / rule.norm, atol=1e-12)
assert np.isclose(rule.distance([[0, 0]])[0], rule.intercept / rule.norm)
assert rule.classify([x, [0, 0]]).tolist() == ["$C_1$", "$C_2$"]

# %%
# The same w with three w₀: the boundaries are parallel, and at −w₀/‖w‖ = 2, 0 and −1 along w.

shifts = {w0: LinearRule(rule.weights, w0) for w0 in (-10.0, 0.0, 5.0)}
assert np.allclose([-each.distance([[0, 0]])[0] for each in shifts.values()], [2, 0, -1], atol=1e-12)

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.9), layout="constrained", sharey=True)
unit, along = rule.weights / rule.norm, np.array([-0.6, 0.8])
ends = 2 * unit + np.outer([-8, 8], along)
for k, shift in ((1, 9), (0, -9)):
    left.fill(*np.vstack([ends, (ends + shift * unit)[::-1]]).T, color=look(k).colour, alpha=0.13, lw=0)
left.plot(*ends.T, "k-", lw=1.8)
left.plot(*np.transpose([A, B]), "o", color="black", ms=7)
for name, point in (("$x_A$", A), ("$x_B$", B)):
    left.annotate(name, point, (-8, -6), textcoords="offset points", ha="right", va="top", fontsize=12)
middle = (A + B) / 2 - 0.9 * along
left.annotate("", middle + unit, middle, arrowprops={"arrowstyle": "-|>", "lw": 2.2, "color": "black"})
left.annotate("w", middle + unit, (4, -2), textcoords="offset points", fontsize=13, fontweight="bold")
left.plot(*np.transpose([x, foot]), ":", color="black", lw=1.8)
left.plot(*x, "^", color=look(1).colour, ms=11)
left.annotate("x", x, (8, 2), textcoords="offset points", fontsize=13)
left.annotate("y(x)/‖w‖ = 1.8", (x + foot) / 2, (-20, 25), textcoords="offset points", ha="center")
left.plot(*np.transpose([[0, 0], 2 * unit]), "--", color=current().grey, lw=1.8)
left.annotate("−w₀/‖w‖ = 2", unit, (-6, 6), textcoords="offset points", ha="right")
left.text(-1.4, -1.5, "$C_2$: y < 0", fontsize=13, color=look(0).colour)
left.text(2.4, 3.1, "$C_1$: y > 0", fontsize=13, color=look(1).colour)
for (w0, each), dash in zip(shifts.items(), ("-", "--", "-."), strict=True):
    at = -each.distance([[0, 0]])[0] * unit
    right.axline(at, at + along, color="black", ls=dash, lw=1.8, label=f"$w_0$ = {w0:g}".replace("-", "−"))
    right.annotate("", at + 0.8 * unit, at, arrowprops={"arrowstyle": "-|>", "lw": 2, "color": look(1).colour})
right.legend(loc="upper right")
left.set_title("w is at right angles to the boundary, y(x)/‖w‖ is a distance", fontsize=10.5)
right.set_title("One w, three w₀: the boundary shifts and does not turn", fontsize=10.5)
for ax in (left, right):
    ax.plot(0, 0, "k+", ms=13, mew=2)
    ax.set(xlim=(-2, 4.6), ylim=(-2, 3.8), aspect="equal", xlabel="$x_1$")
left.set_ylabel("$x_2$")
fig.set_label(
    f"Left: the line {rule.equation()} with its normal, two points on it, and a point at distance "
    f"{rule.distance([x])[0]:.1f}. Right: three parallel lines at 2, 0 and −1 along w, for w₀ = −10, 0 and 5."
)
plt.show()
