"""
Figure 4.4: the logistic function
=================================

Notes 004, figure 4.4: σ(z) = 1/(1 + e⁻ᶻ), a smooth stand-in for the step 1[z > 0], and its slope σ(1 - σ). Look at the
middle: the slope is greatest there, ¼, and far from it hardly anything is left. At the right ρ = 2σ - 1, the same for
sign(z).
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LinearRule, losses
from separatrix.plots.style import current, look

rule = LinearRule([1.0], probabilistic=True)  # the response of this rule is z itself
z = np.linspace(-8, 8, 1601)
sigma = rule.probability(z[:, None])
slope = losses.LogLikelihood().curvature(z)  # σ(1 - σ) is the curvature of the log-likelihood

# %%
# ∂σ = σ(1 - σ), compared with a difference quotient; σ(z) + σ(-z) = 1; at zero one half, with slope one quarter.

assert np.allclose(slope, sigma * (1 - sigma), atol=1e-15)
assert np.allclose(np.gradient(sigma, z)[1:-1], slope[1:-1], atol=2e-6)
assert np.allclose(sigma + sigma[::-1], 1, atol=1e-15)
assert abs(rule.probability([[0.0]])[0] - 0.5) < 1e-15
assert abs(slope.max() - 0.25) < 1e-15

# %%
# ρ = 2σ - 1 has twice the slope and is tanh(z/2). From ``|z|`` = 8 on, step and stand-in differ by less than 0.0004.

rho = 2 * sigma - 1
assert np.allclose(rho, np.tanh(z / 2), atol=1e-15)
assert np.allclose(np.gradient(rho, z)[1:-1], 2 * slope[1:-1], atol=4e-6)
step = rule.classify(z[:, None])
assert abs(step - sigma)[[0, -1]].max() < 4e-4
assert np.array_equal(rule.side(z[:, None]), 2 * step - 1)

# %%
# For classes 0 and 1, and for classes -1 and +1.

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
panels = (("σ(z)", sigma, "1[z > 0]", step, "σ(1 − σ)", slope), ("ρ(z)", rho, "sign(z)", 2 * step - 1, "ρ′", 2 * slope))
for ax, (name, curve, hard, jump, rise, derivative) in zip(axes, panels, strict=True):
    for side in (z <= 0, z > 0):
        ax.plot(z[side], jump[side], color=current().grey, lw=1.6, ls="--", label=hard if side[0] else "_")
    ax.plot(z, curve, color=look(0).colour, lw=2.6, label=name)
    ax.plot(z, derivative, color=look(1).colour, lw=2, ls="-.", label=f"slope {rise}")
    ax.plot(0, derivative.max(), "o", color=look(1).colour)
    ax.annotate(f"{derivative.max():g}", (0, derivative.max()), (9, 4), textcoords="offset points")
    ax.set(xlabel="z = xᵀθ", title=f"{name}, a smooth {hard}", xlim=(-8, 8))
    ax.legend(loc="upper left", frameon=False)
    ax.grid(alpha=0.3)

fig.set_label(
    f"The logistic function from {sigma[0]:.4f} at -8 to {sigma[-1]:.4f} at 8, {sigma[800]:g} at 0, with its slope, "
    f"{slope.max():g} at 0; and 2σ − 1 from {rho[0]:.4f} to {rho[-1]:.4f}, slope {2 * slope.max():g} at 0."
)
