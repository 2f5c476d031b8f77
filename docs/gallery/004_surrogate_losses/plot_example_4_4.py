"""
Example 4-4: two surrogates that look like the mistakes
=======================================================

Notes 004, example 4-4: J₀₁, J_LMSE and J_NLL of the nine points of figure 4.1, over the weights (θ₀, θ₁). Look for the
valley, at the upper right in all three. The surrogates slope down to it, so that a descent finds it; the mistakes are
steps.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LogisticRegression, scenes, surface
from separatrix.plots import LossSurfaceDisplay
from separatrix.plots.loss_surface import legend_entries

X, y = scenes.figure_4_1()
ranges = {"theta0": (-4, 4), "theta1": (-3, 3)}
mistakes = surface("0-1", X, y, **ranges, size=401)
lmse, nll = (surface(name, X, y, **ranges, size=101) for name in ("logistic-squared", "log"))

# %%
# How similar? Over this part of the plane the surrogates go up and down with the mistakes.

coarse = mistakes.values[::4, ::4].ravel()
alike = [np.corrcoef(coarse, each.values.ravel())[0, 1] for each in (lmse, nll)]
print(f"Correlation with J₀₁: J_LMSE {alike[0]:.2f}, J_NLL {alike[1]:.2f}.")
assert alike[0] > 0.85
assert alike[1] > 0.6

# %%
# Both bound the mistakes, at every point of the grid: J₀₁ ≤ J_LMSE and J₀₁ ≤ J_NLL/log 2.

assert (coarse <= lmse.values.ravel() + 1e-12).all()
assert (coarse <= nll.values.ravel() / np.log(2) + 1e-12).all()

# %%
# J_NLL is convex: one minimum, where logistic regression ends as well. It makes two mistakes; the fewest are one.

(best,) = nll.minima
model = LogisticRegression().fit(X, y)
assert np.allclose(best.theta, [model.intercept_[0], model.coef_[0, 0]], atol=1e-5)
assert np.allclose([*best.theta, best.value], [1.14121, 1.40139, 0.43851], atol=1e-5)
assert np.abs(nll.gradient(*best.theta)).max() < 1e-8
assert (mistakes.at(*best.theta), mistakes.minima[0].value) == (2 / 9, 1 / 9)

# %%
# J_LMSE falls along its valley for ever, to four times the fewest mistakes: the yellow arrow, in the best cone. It is
# not quite so well-behaved as the notes say: a descent from far below runs off along the white arrow, to 20/9.

far, worse = lmse.minima
assert worse.kind == "local, at infinity"
assert abs(worse.value - 20 / 9) < 1e-12
assert far.kind == "at infinity"
assert abs(far.value - 4 / 9) < 1e-12
along = [lmse.at(*(length * np.array(far.theta))) for length in (5, 10, 20, 50)]
assert (np.diff(along) < 0).all()
assert 0 < along[-1] - 4 / 9 < 1e-3
assert mistakes.at(*far.theta) == 1 / 9

# %%
# The three landscapes.

fig, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained", sharey=True)
titles = ("$J_{01}$: steps", "$J_{LMSE}$: smooth, a valley without end", "$J_{NLL}$: convex, one minimum")
displays = [
    LossSurfaceDisplay.from_surface(each).plot(ax, title=title, legend=False)
    for each, ax, title in zip((mistakes, lmse, nll), axes, titles, strict=True)
]
entries = legend_entries([mistakes, lmse, nll])
fig.legend(handles=entries, loc="outside lower center", ncols=len(entries), frameon=False)

fig.set_label(" ".join(display.alt_text for display in displays))
