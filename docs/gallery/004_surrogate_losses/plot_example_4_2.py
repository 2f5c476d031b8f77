"""
Example 4-2: the mistakes as a landscape
========================================

Notes 004, example 4-2: the share of mistakes J₀₁ of the nine points of figure 4.1, for every pair of weights (θ₀, θ₁).
Look for two things: the steps, flat with sudden edges, so that no slope tells where to go; and the rays from the
origin, since only the boundary -θ₀/θ₁ counts and not the length of the weights.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import scenes, surface
from separatrix.plots import LossSurfaceDisplay
from separatrix.plots.style import current, look

X, y = scenes.figure_4_1()
mistakes = surface("0-1", X, y, theta0=(-4, 4), theta1=(-3, 3), size=501)
print(mistakes)

# %%
# Locally constant: every value is a number of ninths, and there is no slope anywhere.

assert np.allclose(mistakes.values * 9, np.round(mistakes.values * 9), atol=1e-12)
assert sorted(np.unique(np.round(mistakes.values * 9)).tolist()) == [1, 2, 3, 4, 5, 6, 7, 8]
assert (mistakes.gradient(1.0, 1.0) == 0).all()
assert (mistakes.gradient(-2.0, 0.5) == 0).all()

# %%
# Radial: longer weights of the same direction make the same mistakes. Opposite ones are wrong where these are right.

for theta in ((1.375, 1.0), (2.0, -0.5), (-1.0, 2.0)):
    here = mistakes.at(*theta)
    assert here == mistakes.at(*(1000 * t for t in theta)) == mistakes.at(*(0.001 * t for t in theta))
    assert abs(mistakes.at(*(-t for t in theta)) - (1 - here)) < 1e-12

# %%
# The best region is a cone, found by sorting and not on the grid: boundaries from -1.75 to -1, one mistake of nine.

(best,) = mistakes.minima
(interval,) = best.cone.thresholds
assert best.value == 1 / 9
assert best.kind == "flat region"
assert (interval.low, interval.high) == (-1.75, -1.0)
assert [mistakes.at(-t, 1.0) for t in (-1.76, -1.74, -1.01, -0.99)] == [2 / 9, 1 / 9, 1 / 9, 2 / 9]
print(interval)

# %%
# The points, and the landscape.

fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained", width_ratios=(1, 1.35))
for k, label in enumerate((-1, 1)):
    rows = X[y == label, 0]
    left.scatter(
        rows,
        np.full(len(rows), label),
        s=52,
        c=look(k).colour,
        marker=look(k).marker,
        label=f"y = {label:+d}".replace("-", "−"),
    )
look_here = {"color": current().mark, "alpha": 0.6, "lw": 0, "zorder": 0, "label": "best boundaries: 1 mistake"}
left.axvspan(interval.low, interval.high, 0, 0.74, **look_here)
left.set(title="Nine points", xlabel="x₁", ylabel="y", ylim=(-1.8, 2.8), yticks=(-1, 1))
left.legend(loc="upper left", frameon=False)
display = LossSurfaceDisplay.from_surface(mistakes).plot(right, title="J₀₁(θ₀, θ₁): flat steps along rays")

fig.set_label(f"Nine points of one feature, and beside them: {display.alt_text}")
