"""
The kernel perceptron
=====================

Notes 000, §8.2.3 and (8.17): the weights are a sum over mistaken points, w = Σ αᵢyᵢxᵢ, where αᵢ counts how often a
point was mistaken; so wᵀx needs inner products alone, and any kernel may stand in their place. Look at the sizes of
the points: a large one was mistaken often, and most were never. One ring inside another is what no line separates.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import KernelPerceptron, Perceptron, separability
from separatrix.plots import DecisionRegionsDisplay, theme

rng = np.random.default_rng(0)
angle, far = rng.uniform(0, 2 * np.pi, 120), np.repeat([1.0, 2.2], 60)
X = np.column_stack([np.cos(angle), np.sin(angle)]) * (far + rng.normal(0, 0.22, 120))[:, None]
y = np.where(far > 1.5, 1, -1)
assert separability(X, y).kind == "overlap"

# %%
# Equation 8.17 with the ordinary inner product is the perceptron itself: the same mistakes, counted for each point.

half = X[:, 0] > 0.3  # a separable problem: the right part, by its sign of x₂
plain = Perceptron().fit(X[half], np.sign(X[half, 1]))
linear = KernelPerceptron(kernel="linear", max_passes=1000).fit(X[half], np.sign(X[half, 1]))
assert plain.verdict_.status == "separated"
assert linear.mistakes_.sum() == plain.mistakes_.sum()
alpha = np.bincount(linear.log_.rows, minlength=half.sum())
assert np.allclose((alpha * np.sign(X[half, 1])) @ X[half], plain.coef_[0], atol=1e-9)

# %%
# A Gaussian kernel follows the rings. The score is the sum of 8.17, which is written out here.

model = KernelPerceptron(kernel="rbf", gamma=1.0, max_passes=100).fit(X, y)
assert model.verdict_.status == "separated"
assert (model.predict(X) == y).all()
alpha = np.bincount(model.log_.rows, minlength=120)
kernel = np.exp(-((X[:, None] - X) ** 2).sum(axis=2)) + 1  # the intercept is a kernel of ones
assert np.allclose(kernel @ (alpha * y), model.decision_function(X), atol=1e-9)
assert alpha.sum() == model.mistakes_.sum()

# %%
# The price of the text: the mistaken points must be kept, and each prediction asks all of them.

assert set(model.support_) == set(np.flatnonzero(alpha))
assert len(model.support_) < 60
print(f"{len(model.support_)} of 120 points are kept, after {alpha.sum()} mistakes in {model.n_passes_:.0f} passes.")

figure, ax = plt.subplots(figsize=(6.4, 6), layout="constrained")
shown = DecisionRegionsDisplay.from_estimator(
    model, X, y, ax=ax, title=f"{len(model.support_)} of 120 points bear the boundary; size: how often mistaken"
)
with theme() as look:
    for k, sign in enumerate((-1, 1)):
        kept = (y == sign) & (alpha > 0)
        ax.scatter(*X[kept].T, s=30 + 60 * alpha[kept], marker="o^"[k], color=look.colours[k], ec=look.ink, zorder=3)
ax.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
figure.set_label(
    f"{shown.alt_text} {len(model.support_)} points were mistaken, at most {alpha.max()} times, and are kept."
)
plt.show()
