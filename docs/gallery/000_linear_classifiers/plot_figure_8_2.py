"""
Figure 8.2: the sigmoid function
================================

Notes 000, figure 8.2: σ(t) = 1/(1 + exp(−t)) on [−5, 5], which turns a score wᵀx into a probability. Any monotone
function would leave the decision surface linear; the text names tanh as another, and it is the same curve, twice as
steep. Look at t = 0, where all of them pass through one half: that is where the decision is made.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LinearRule
from separatrix.plots import theme

# %%
# The rule with weight one and no intercept has t itself as its score, so that its probability is σ(t).

t = np.linspace(-5, 5, 201)
rule = LinearRule([1.0], probabilistic=True)
p = rule.probability(t[:, None])
assert p[100] == 0.5
assert np.allclose(p[[0, -1]], [0.00669285, 0.99330715], atol=1e-8)
assert np.allclose(p + p[::-1], 1, atol=1e-15), "σ(−t) = 1 − σ(t)"
assert np.all(np.diff(p) > 0)
assert np.array_equal(rule.classify(t[:, None]), (t > 0).astype(int)), "P > ½ where t > 0, and nowhere else"

# %%
# (1 + tanh t)/2 = σ(2t): weights learnt with tanh are half the logistic ones, and the line is the same.

steeper = (1 + np.tanh(t)) / 2
assert np.allclose(steeper, LinearRule([2.0], probabilistic=True).probability(t[:, None]), atol=1e-15)

# %%
# The slope is σ(1 − σ), a quarter at most: the weight that Newton's step and the gradient of the squared error give a
# point.

slope = np.gradient(p, t)
assert np.allclose(slope[1:-1], (p * (1 - p))[1:-1], atol=1e-4)
assert (p * (1 - p)).max() == 0.25

with theme() as look:
    figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
    ax.axhline(0.5, color=look.grey, lw=0.8)
    ax.axvline(0, color=look.grey, lw=0.8)
    ax.plot(t, p, color=look.colours[0], lw=2.4, label="$\\sigma(t) = 1/(1 + e^{-t})$")
    ax.plot(t, steeper, "--", color=look.colours[1], lw=1.8, label="$(1 + \\tanh t)/2 = \\sigma(2t)$")
    ax.plot(t, p * (1 - p), ":", color=look.colours[2], lw=2.2, label="slope $\\sigma(t)(1 - \\sigma(t))$")
    ax.plot(0, 0.5, "o", color=look.mark, mec=look.ink, ms=9)
    ax.annotate("the decision: $t = 0$, $P = ½$", (0, 0.5), (0.7, 0.42), va="center")
    ax.set(xlabel="score $t = w^⊤x$", ylabel="probability", xlim=(-5, 5), ylim=(-0.02, 1.02))
    ax.set_title("From a score to a probability")
    ax.legend(loc="upper left", frameon=False)
figure.set_label(
    f"The sigmoid rises from {p[0]:.3f} at −5 through {p[100]:.1f} at 0 to {p[-1]:.3f} at 5; (1 + tanh t)/2 is the "
    f"same curve twice as steep, and the slope of the sigmoid is a bell of height {(p * (1 - p)).max()} at 0."
)
plt.show()
