"""
Example 4-5: two surrogates that part ways
==========================================

Notes 004, example 4-5: other points, − + + + − − + − −. Above, J₀₁, J_LMSE and J_NLL over the weights; below, a cut at
θ₁ = 3, the dashed line. Look at the cuts: J_LMSE goes down and up with the mistakes and has two minima, J_NLL has one,
and it is where the mistakes are many.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import scenes, surface
from separatrix.plots import LossSurfaceDisplay, describe_slice, draw_slice
from separatrix.plots.loss_surface import legend_entries

X, y = scenes.example_4_5()
ranges = {"theta0": (-20, 20), "theta1": (-5, 5)}
mistakes = surface("0-1", X, y, **ranges, size=401)
lmse, nll = (surface(name, X, y, **ranges, size=101) for name in ("logistic-squared", "log"))

# %%
# Here J_LMSE is much more like the mistakes than J_NLL is.

coarse = mistakes.values[::4, ::4].ravel()
alike = [np.corrcoef(coarse, each.values.ravel())[0, 1] for each in (lmse, nll)]
print(f"Correlation with J₀₁: J_LMSE {alike[0]:.2f}, J_NLL {alike[1]:.2f}.")
assert alike[0] > 0.85
assert alike[1] < 0.4

# %%
# The price, on the cut at θ₁ = 3: two minima of J_LMSE, a single one of J_NLL. Each is one: the value is higher around.

cuts = [each.slice(theta1=3.0, over=(-20, 20), size=2001) for each in (mistakes, lmse, nll)]
found = [[minimum.theta[0] for minimum in cut.minima] for cut in cuts[1:]]
print(f"Minima in θ₀: J_LMSE {np.round(found[0], 2)}, J_NLL {np.round(found[1], 2)}.")
assert np.allclose(found[0], [-14.97, 9.76], atol=0.005)
assert np.allclose(found[1], [-0.75], atol=0.005)
for landscape, places in zip((lmse, nll), found, strict=True):
    for t in places:
        assert landscape.at(t, 3.0) < min(landscape.at(t - 0.1, 3.0), landscape.at(t + 0.1, 3.0))
assert (np.diff(cuts[2].values, 2) > 0).all()  # convex
assert (np.diff(cuts[1].values, 2) < -1e-6).any()  # not convex

# %%
# Where J_NLL is least on the cut six of nine points are wrong; at the minima of J_LMSE four, the fewest on the cut.

assert np.isclose([mistakes.at(t, 3.0) * 9 for t in (*found[0], *found[1])], [4, 4, 6]).all()
assert np.isclose(cuts[0].values.min() * 9, 4)

# %%
# Landscapes above, cuts below.

fig, axes = plt.subplots(2, 3, figsize=(13, 7), layout="constrained", height_ratios=(3, 1.7), sharex="col")
titles = ("$J_{01}$: steps", "$J_{LMSE}$: several valleys", "$J_{NLL}$: one valley")
words = []
for (upper, lower), each, cut, title in zip(axes.T, (mistakes, lmse, nll), cuts, titles, strict=True):
    words += [
        LossSurfaceDisplay.from_surface(each).plot(upper, title=title, legend=False).alt_text,
        describe_slice(cut),
    ]
    upper.axhline(3, ls="--", color="white", lw=1.6)
    upper.set_xlabel("")
    draw_slice(cut, lower).margins(y=0.4)
    for label in lower.texts:
        label.set_position((0, -18))  # under the mark, where no curve is
entries = [*legend_entries([mistakes, lmse, nll]), plt.Line2D([], [], ls="--", color="grey", label="the cut, θ₁ = 3")]
fig.legend(handles=entries, loc="outside lower center", ncols=len(entries), frameon=False)

fig.set_label(" ".join(words))
