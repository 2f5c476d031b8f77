"""
Figure 2: the sigmoid, and how much a point moves the weights
=============================================================

Notes 002, figure 2 and §1.3: the sigmoid in [−5, 5], and the influence of a point upon an update of the squared
error, ``|e|p(1 − p)``. The text says that points close to the boundary have the most. Look at the top of the solid
curve: it is at −log 2, a little on the wrong side. Far points lose all influence upon the squared error, right or
wrong; upon the likelihood, wrong ones keep it.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LinearRule, losses
from separatrix.plots import theme

# %%
# t is the score of a point of class 1, so that its error is e = 1 − p; a point of class 0 is its mirror image.

t = np.linspace(-5, 5, 1001)
p = LinearRule([1.0], probabilistic=True).probability(t[:, None])
assert p[500] == 0.5
assert np.allclose([p[0], p[-1]], [0.0066929, 0.9933071], atol=1e-7)

# %%
# An update is η Σ e p(1 − p) x for the squared error, and η Σ e x for the likelihood: what stands before x is the
# slope of the loss, halved for the squared error as the notes drop the factor 2.

squared, likelihood = (1 - p) * p * (1 - p), 1 - p
assert np.allclose(squared, -losses.LogisticSquared().slope(t) / 2, atol=1e-15)
assert np.allclose(likelihood, -losses.LogLikelihood().slope(t), atol=1e-15)

# %%
# At the boundary the influence is ½ · ¼ = 1/8, as the text says. Its largest value is 4/27 at t = −log 2, where p =
# 1/3; there the curvature of the loss changes its sign, and beyond it the Hessian may be indefinite.

assert squared[500] == 1 / 8
top = -np.log(2)
assert abs(t[squared.argmax()] - top) < 0.01
assert squared.max() <= 4 / 27 < squared.max() + 1e-6
assert abs(losses.LogisticSquared().curvature(top)) < 1e-15
assert np.array_equal(losses.LogisticSquared().curvature(t) > 0, t > top)

# %%
# Right and far: none. Wrong and far: p(1 − p) wins against ``|e|`` ≈ 1, and there is none either. Only likelihood pulls
# with ``|e|``.

assert np.allclose(squared[[0, -1]], [0.0066, 0.00004], atol=1e-4)
assert likelihood[0] > 0.99 > 0.01 > likelihood[-1]

with theme() as look:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
    left.plot(t, p, color=look.ink, lw=2.2)
    left.axhline(0.5, color=look.grey, lw=0.8)
    left.set(xlabel="score $t = w^⊤x$", ylabel="$P(Y = 1 | x)$", xlim=(-5, 5))
    left.set_title("The sigmoid function", fontsize=10.5)
    right.axvspan(-5, 0, color=look.colours[1], alpha=0.10, lw=0)
    right.plot(t, squared / squared.max(), color=look.colours[0], lw=2.2, label="squared error, $|e|\\,p(1 - p)$")
    right.plot(t, likelihood, "--", color=look.colours[1], lw=2.2, label="likelihood, $|e|$")
    right.plot(top, 1, "*", color=look.mark, mec=look.ink, ms=15)
    right.annotate("4/27 at $-\\log 2$", (top, 1), (-0.3, 1.07), va="center")
    right.plot(0, (1 / 8) / squared.max(), "o", color=look.mark, mec=look.ink, ms=8)
    right.annotate("1/8 at the boundary", (0, 27 / 32), (0.35, 27 / 32), va="center")
    right.text(-4.8, 0.6, "wrong side")
    right.set(xlabel="score of a point of class 1", ylabel="influence, as a share of its largest")
    right.set(xlim=(-5, 5), ylim=(0, 1.18))
    right.set_title("How much a point moves the weights", fontsize=10.5)
    right.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
figure.set_label(
    f"Left: the sigmoid from {p[0]:.3f} at −5 to {p[-1]:.3f} at 5. Right: the influence of a point on an update of the "
    f"squared error is a bump with its top {squared.max():.4f} at {t[squared.argmax()]:.2f}; on one of the likelihood "
    f"it falls from {likelihood[0]:.3f} for points far on the wrong side to {likelihood[-1]:.3f}."
)
plt.show()
