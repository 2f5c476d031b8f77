"""
Figure 1: a line, distances, probabilities
==========================================

Notes 002, figure 1 and §1.4: nine positive and nine negative examples and a linear decision surface that does not
perfectly separate them. Left, the line of maximum likelihood and the way from each point to it. Right, the only thing
that matters for the probability: the signed distance d, by P = 1/(1 + exp(−d‖w‖)). All 18 points are on one curve.
(The notes do not print the points; these are ours.)
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LogisticRegression
from separatrix.plots import DecisionRegionsDisplay, theme

positive = [(2, 3.5), (3, 4.5), (3.5, 2.75), (4.5, 4), (5, 2.5), (5.5, 3.75), (4, 5.25), (2.25, 1.5), (6, 1.5)]
negative = [(0.5, 2.5), (1, 1), (1.25, 3.25), (2.5, 0.5), (3, 2), (0.75, 4.5), (1.75, 2.25), (4, 0.75), (3.75, 3.5)]
X = np.array(positive + negative)
y = np.repeat([1, 0], 9)

model = LogisticRegression().fit(X, y)
assert model.verdict_.status == "optimal"
assert model.verdict_.check(X, y)
wrong = np.flatnonzero(model.predict(X) != y)
assert wrong.tolist() == [0, 7, 17]

# %%
# d = (w₀ + Σ wⱼxⱼ)/√Σ wⱼ², and its sign says on which side a point is.

w0, w = model.intercept_[0], model.coef_[0]
d = model.rule_.distance(X)
p = model.predict_proba(X)[:, 1]
assert np.allclose(d, (w0 + X @ w) / np.sqrt((w**2).sum()), atol=1e-12)
assert np.allclose(p, 1 / (1 + np.exp(-d * np.linalg.norm(w))), atol=1e-12)
assert np.array_equal(p > 0.5, d > 0)

# %%
# The feet of the perpendiculars are on the line, and as far away as d says.

feet = model.rule_.foot(X)
assert np.allclose(model.rule_.score(feet), 0, atol=1e-12)
assert np.allclose(np.linalg.norm(X - feet, axis=1), np.abs(d), atol=1e-12)

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="compressed")
shown = DecisionRegionsDisplay.from_estimator(model, X, y, ax=axes[0], title="The line, and the way to it")
axes[0].set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
with theme() as look:
    axes[0].plot(*np.stack([X, feet]).transpose(2, 0, 1), color=look.grey, lw=0.8, zorder=1)
    t = np.linspace(-3, 3, 200)
    axes[1].plot(t, 1 / (1 + np.exp(-t * np.linalg.norm(w))), color=look.ink, lw=1.5)
    axes[1].axhline(0.5, color=look.grey, lw=0.8)
    axes[1].axvline(0, color=look.grey, lw=0.8)
    for k, name in enumerate(("class 0", "class 1")):
        axes[1].plot(d[y == k], p[y == k], "o^"[k], color=look.colours[k], ms=(5, 8)[k], label=name, zorder=3 - k)
    axes[1].plot(d[wrong], p[wrong], "o", mfc="none", mec=look.ink, ms=13, label="on the wrong side")
    axes[1].set(xlabel="signed distance $d$ from the line", ylabel="$P(Y = 1 | x)$")
    axes[1].set_title(f"$P = \\sigma(d\\,\\|w\\|)$, $\\|w\\| = {np.linalg.norm(w):.3f}$", fontsize=10.5)
    axes[1].legend(frameon=False, loc="upper left")
figure.set_label(
    f"Left: {shown.alt_text} Right: P of the 18 points against d from {d.min():.2f} to {d.max():.2f}, on one sigmoid."
)
plt.show()
