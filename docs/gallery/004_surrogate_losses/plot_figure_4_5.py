"""
Figure 4.5: two surrogates above the mistakes
=============================================

Notes 004, figure 4.5: what a point of class +1 costs, against its response. The mistakes jump at zero; J_LMSE goes up
smoothly and levels off at 4; J_NLL rises for ever. Look at the right panel, the slopes: a point far on the wrong side
pulls with full strength at J_NLL and hardly at J_LMSE, which makes the latter robust, and slow to leave a bad start.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import losses
from separatrix.plots import SurrogateCurvesDisplay
from separatrix.plots.style import DASHES, current, look

lmse, nll = losses.LogisticSquared(), losses.LogLikelihood()  # σ(−m)²: the notes' J_LMSE on ±1 is four times that
m = np.linspace(-12, 12, 4801)

# %%
# J_LMSE: 1 at zero, 4 at most. J_NLL: log 2 at zero, beyond all bounds; for very wrong responses it is -m.

assert abs(4 * lmse.value(0.0) - 1) < 1e-15
assert 3.9999 < 4 * lmse.value(-12.0) < 4
assert abs(nll.value(0.0) - np.log(2)) < 1e-15
assert abs(nll.value(-12.0) - 12) < 1e-5

# %%
# So J₀₁ ≤ J_LMSE and J₀₁ ≤ J_NLL/log 2, and no smaller factors will do: at zero both are equalities.

wrong = losses.ZeroOne().value(m)
assert (wrong <= 4 * lmse.value(m)).all()
assert (wrong <= nll.value(m) / np.log(2)).all()
assert (wrong > 3.999 * lmse.value(m)).any()
assert (wrong > 0.999 * nll.value(m) / np.log(2)).any()
assert (lmse.bound, nll.bound) == (4, 1 / np.log(2))

# %%
# The pull of a point: of J_NLL it tends to 1, of J_LMSE to 0, and it is greatest at m = -log 2. Where the slope turns
# back, J_LMSE is not convex.

pull = {"logistic squared, J_LMSE": -4 * lmse.slope(m), "log likelihood, J_NLL": -nll.slope(m)}
assert pull["log likelihood, J_NLL"][0] > 0.9999
assert pull["logistic squared, J_LMSE"][0] < 1e-4
peak = m[pull["logistic squared, J_LMSE"].argmax()]
assert abs(peak + np.log(2)) < 0.005
assert lmse.curvature(-np.log(2) - 0.01) < 0 < lmse.curvature(-np.log(2) + 0.01)
assert (nll.curvature(m) > 0).all()

# %%
# The costs as bounds at the left, each times its factor; the pulls at the right.

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
display = SurrogateCurvesDisplay.of(
    "zero-one", "logistic squared", "log likelihood", margins=(-6, 4), ax=left, title="Cost of a point of class +1"
)
assert all(display.bounds.values())
left.axhline(4, color=current().grey, lw=0.8, ls=":")
left.set(ylim=(-0.2, 9), xlabel="response r = xᵀθ")
for k, (name, values) in enumerate(pull.items()):
    right.plot(m, values, color=look(k).colour, ls=DASHES[k], lw=2, label=name)
right.axvspan(-6, 0, color=current().grey, alpha=0.12, lw=0, zorder=0)
right.plot(peak, pull["logistic squared, J_LMSE"].max(), "o", color=look(0).colour)
right.annotate("greatest at −log 2", (peak, 1.19), (0, 8), textcoords="offset points", ha="center")
right.set(xlim=(-6, 4), ylim=(0, 1.65), xlabel="response r = xᵀθ", ylabel="− slope", title="How hard the point pulls")
right.legend(loc="upper right", frameon=False)

fig.set_label(
    f"{display.alt_text} At -6 the slope of J_NLL is {nll.slope(-6.0):.3f}, that of J_LMSE {4 * lmse.slope(-6.0):.3f}."
)
