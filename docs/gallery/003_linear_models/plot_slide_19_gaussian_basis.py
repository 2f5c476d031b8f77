"""
Slide 19: two Gaussian basis functions
======================================

Notes 003, slide 19. φ₁ and φ₂ are bumps around two centres, the crosses; circles are where they are exp(−½). Logistic
regression in (φ₁, φ₂) has a straight boundary, on the right; in x, on the left, the same boundary is a closed curve.
Look for the orange rows: two groups on the left, on one side of one line on the right.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LogisticRegression
from separatrix.features import GaussianBasis
from separatrix.plots import DecisionRegionsDisplay

rng = np.random.default_rng(6)
groups = (([0.0, 0.0], 0.33, 80), ([-1.1, -1.0], 0.3, 50), ([0.9, 0.8], 0.33, 50))
X = np.vstack([rng.normal(centre, spread, (rows, 2)) for centre, spread, rows in groups])
y = np.repeat(["blue", "orange"], [80, 100])
centres, width = np.array([[-1.0, -1.0], [0.0, 0.0]]), 0.6

# %%
# The map is part of the model: rows go in as they are, and the rule is linear in the features.

model = LogisticRegression(features=GaussianBasis(centres, widths=width)).fit(X, y)
phi = model.features_.transform(X)
assert np.allclose(phi, np.exp(-((X[:, None] - centres) ** 2).sum(axis=2) / (2 * width**2)))
assert np.allclose(model.rule_.score(phi), model.decision_function(X))
assert model.verdict_.check(X, y)
print(model.rule_.equation(3))

# %%
# On x itself the same learner does much worse; on the features, given as a table, it is the same model.

plain, table = LogisticRegression().fit(X, y), LogisticRegression().fit(phi, y)
assert np.allclose(table.coef_, model.coef_, rtol=1e-4)
wrong = {"x": int((plain.predict(X) != y).sum()), "φ": int((model.predict(X) != y).sum())}
print("wrong of 180:", wrong)
assert wrong["φ"] <= 15
assert wrong["x"] >= 60

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
seen = DecisionRegionsDisplay.from_estimator(model, X, y, ax=left, title="in x: a curve", legend=False)
made = DecisionRegionsDisplay.from_estimator(table, phi, y, ax=right, title="in (φ₁, φ₂): a line", legend=False)
for number, centre in enumerate(centres, start=1):
    left.plot(*centre, "x", ms=13, mew=3.5, color="#009E73", zorder=6)
    left.add_patch(plt.Circle(centre, width, fill=False, ec="#009E73", lw=2, ls="--", zorder=5))
    white = {"fc": "white", "ec": "none", "alpha": 0.8, "pad": 1}
    left.annotate(f"φ$_{number}$", centre, (11, 9), textcoords="offset points", fontsize=14, bbox=white, zorder=7)
left.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
right.set(xlabel="φ₁", ylabel="φ₂", box_aspect=0.86)
handles, _ = left.get_legend_handles_labels()
fig.legend(handles, ["blue", "orange", "classified wrongly"], loc="outside lower center", ncols=3, frameon=False)
fig.set_label(f"{seen.alt_text} The same rows by their features: {made.alt_text}")
plt.show()
