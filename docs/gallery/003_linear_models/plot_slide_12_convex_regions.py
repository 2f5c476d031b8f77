"""
Slide 12: K discriminants leave nothing open
============================================

Notes 003, slide 12. One linear function for each class, of which the largest decides: every point has a class, and the
regions are convex. Look at the two marked points of a region: the whole segment between them is in it. (The slide's
"positive α" is 0 ≤ α ≤ 1.)
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LogisticRegression
from separatrix.plots import DecisionRegionsDisplay

rng = np.random.default_rng(5)
angles = 2 * np.pi * np.arange(5) / 5
centres = np.column_stack([np.cos(angles), np.sin(angles)]) * 2.4
X, y = np.repeat(centres, 30, axis=0) + rng.normal(size=(150, 2)) * 0.8, np.repeat([*"ABCDE"], 30)
model = LogisticRegression(l2=1e-3).fit(X, y)
rule = model.rule_
assert rule.weights.shape == (5, 2)

# %%
# Ten thousand pairs of points at random: wherever both ends have one class, so has every point between them.

ends = rng.uniform(-6, 6, (2, 10_000, 2))
same = rule.classify(ends[0]) == rule.classify(ends[1])
assert same.sum() > 1000
for share in np.linspace(0, 1, 21):
    between = share * ends[0] + (1 - share) * ends[1]
    assert (rule.classify(between)[same] == rule.classify(ends[0])[same]).all()

# %%
# Beyond α = 1 nothing is promised: some of the lines leave the region, as they must if it is not all of the plane.

beyond = 3 * ends[0] - 2 * ends[1]
assert (rule.classify(beyond)[same] != rule.classify(ends[0])[same]).any()

# %%
# The slide's picture: A, B and the segment between them.

fig, ax = plt.subplots(figsize=(6.6, 6), layout="constrained")
title = "Five linear functions, the largest decides:\nevery region is convex, no point is left open"
display = DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax, title=title, fine=201)
ax.set(xlabel="$x_1$", ylabel="$x_2$")
pair = np.array([[2.7, -1.9], [4.6, 2.4]])
assert set(rule.classify(np.linspace(*pair, 50))) == {"A"}
ax.plot(*pair.T, "k-", lw=3, zorder=5)
ax.plot(*pair.T, "o", ms=10, mfc="#F0E442", mec="black", zorder=6)
for name, point in zip(("$x_A$", "$x_B$"), pair, strict=True):
    ax.annotate(name, point, (10, -5), textcoords="offset points", fontsize=14, zorder=7)
fig.set_label(f"{display.alt_text} A segment from (2.7, −1.9) to (4.6, 2.4), two points of region A, stays within it.")
plt.show()
