"""
Figure 4.2: two features, a plane, a line
=========================================

Notes 004, figure 4.2: with two features the linear response is a tilted plane (a), its sign is a step (b), and the
regions meet in a line (c). Look for that line in all three panels: it is where the plane is at height zero.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LogisticRegression
from separatrix.plots import DecisionRegionsDisplay, ResponseDisplay
from separatrix.plots.style import dress

rng = np.random.default_rng(4)
X = np.vstack([rng.normal([-1, -0.5], 1, (40, 2)), rng.normal([1, 1], 1, (40, 2))])
y = np.repeat([-1, 1], 40)
model = LogisticRegression().fit(X, y)
rule = model.rule_
print(rule)

# %%
# Section 4.1 solves θ₀ + θ₁x₁ + θ₂x₂ = 0 for the line: x₂ = -(θ₁/θ₂)x₁ - θ₀/θ₂.

(theta_1, theta_2), theta_0 = rule.weights, rule.intercept
across = np.linspace(-4, 4, 9)
line = np.column_stack([across, -theta_1 / theta_2 * across - theta_0 / theta_2])
assert np.abs(rule.score(line)).max() < 1e-12
assert (rule.side(np.add(line, [0, 0.01])) == 1).all()  # θ₂ > 0, so +1 is above the line
assert (rule.side(np.subtract(line, [0, 0.01])) == -1).all()
assert model.verdict_.status == "optimal"
assert model.verdict_.check(X, y)

# %%
# Plane, step and regions.

fig = plt.figure(figsize=(12.5, 4.6), layout="constrained")
first, second = (fig.add_subplot(1, 3, n, projection="3d") for n in (1, 2))
plane = ResponseDisplay.from_estimator(
    model, X, y, response="score", ax=first, legend=False, title="(a) the response r(x): a plane"
)
first.set(xlabel="x₁", ylabel="x₂", zlabel="r(x)")
for ax in (first, second):
    ax.set_box_aspect((4, 4, 3.2), zoom=0.92)
x, (low, high) = plane.grid[0], plane.grid[1][[0, -1]]
edge, part = np.clip(-theta_1 / theta_2 * x - theta_0 / theta_2, low, high), np.linspace(0, 1, 21)[:, None]
for height, end, shade in ((-1, low, 0.0), (1, high, 1.0)):  # the floor up to the line, and the ceiling from it
    colour = plt.get_cmap("cividis")(shade)
    second.plot_surface(
        x + 0 * part,
        edge + (end - edge) * part,
        height + 0 * (x + part),
        color=colour,
        lw=0,
        antialiased=False,
        shade=False,
    )
ends = np.flatnonzero((edge > low) & (edge < high))[[0, -1]]
wall = x[ends] + 0 * part[[0, -1]], edge[ends] + 0 * part[[0, -1]], np.array([[-1, -1], [1, 1]])
second.plot_surface(*wall, color="0.6", alpha=0.5, lw=0)
second.set(title="(b) the decision sign(r(x)): a step", xlabel="x₁", ylabel="x₂", zlabel="ŷ", zticks=(-1, 0, 1))
second.title.set_fontsize(10.5)
second.view_init(elev=24, azim=-125)
dress(second)
third = fig.add_subplot(1, 3, 3)
regions = DecisionRegionsDisplay.from_estimator(model, X, y, ax=third, title="(c) the regions: a line between them")
third.set(xlabel="x₁", ylabel="x₂")

fig.set_label(
    f"A plane over two features, its sign, and the line {rule.equation(3)} where it is zero. {regions.alt_text}"
)
