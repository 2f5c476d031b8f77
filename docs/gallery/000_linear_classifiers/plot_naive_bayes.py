"""
Naive Bayes as a linear model
=============================

Notes 000, §8.3: naive Bayes models the classes and not the boundary, and yet its boundary is a line for binary
features, for counts of Poisson, and for Gaussian features of equal variance. Look at the last panel: with a variance
for each class the squares do not cancel, and the boundary bends.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import BernoulliNaiveBayes, GaussianNaiveBayes, NaiveBayes, PoissonNaiveBayes
from separatrix.plots import DecisionRegionsDisplay

rng = np.random.default_rng(0)
y = np.repeat([0, 1], [60, 40])

# %%
# Binary features, §8.3.1: w₀ and wⱼ are logarithms of the shares p(xⱼ = 1 | class), here of three features.

B = (rng.random((100, 3)) < np.where(y[:, None] == 1, [0.7, 0.6, 0.2], [0.3, 0.5, 0.6])).astype(float)
binary = BernoulliNaiveBayes(smoothing=0).fit(B, y)
p0, p1 = B[y == 0].mean(axis=0), B[y == 1].mean(axis=0)
assert np.allclose(binary.rule_.weights, np.log(p1 * (1 - p0) / ((1 - p1) * p0)), atol=1e-12)
assert np.isclose(binary.rule_.intercept, np.log(0.4 / 0.6) + np.log((1 - p1) / (1 - p0)).sum(), atol=1e-12)
print(binary.rule_)

# %%
# Counts, §8.3.2: wⱼ = log λⱼ₁ − log λⱼ₀, and w₀ = log p(1)/p(0) + Σ (λⱼ₀ − λⱼ₁).

C = rng.poisson(np.where(y[:, None] == 1, [6.0, 3.0], [3.0, 5.0]))
counts = PoissonNaiveBayes(smoothing=0).fit(C, y)
l0, l1 = C[y == 0].mean(axis=0), C[y == 1].mean(axis=0)
assert np.allclose(counts.rule_.weights, np.log(l1) - np.log(l0), atol=1e-12)
assert np.isclose(counts.rule_.intercept, np.log(0.4 / 0.6) + (l0 - l1).sum(), atol=1e-12)

# %%
# Gaussian features of one variance: wⱼ = (μⱼ₁ − μⱼ₀)/σⱼ², and the constants (μⱼ₀² − μⱼ₁²)/2σⱼ² (both misprinted).

N = rng.normal(np.where(y[:, None] == 1, [2.0, 1.0], [0.0, 0.0]), np.where(y[:, None] == 1, 0.5, 1.3))
shared = NaiveBayes(families="gaussian", variance="shared", smoothing=0).fit(N, y)
m0, m1 = N[y == 0].mean(axis=0), N[y == 1].mean(axis=0)
variance = ((N - np.where(y[:, None] == 1, m1, m0)) ** 2).mean(axis=0)
assert np.allclose(shared.rule_.weights, (m1 - m0) / variance, atol=1e-9)
assert np.isclose(shared.rule_.intercept, np.log(0.4 / 0.6) + ((m0**2 - m1**2) / (2 * variance)).sum(), atol=1e-9)

# %%
# A variance for each class: linear no more in x, but in (x, x²); and here better so.

own = GaussianNaiveBayes(smoothing=0).fit(N, y)
assert shared.rule_.features == ""
assert own.rule_.features == "(x, x²)"
assert own.score(N, y) > shared.score(N, y)
for model, rows in ((binary, B), (counts, C), (shared, N), (own, N)):
    assert model.verdict_.check(rows, y)

figure, axes = plt.subplots(1, 3, figsize=(13, 4.9), layout="constrained")
shift = rng.uniform(-0.25, 0.25, C.shape)  # many counts are the same, and would hide each other
strewn = np.maximum(C + shift * (counts.predict(np.maximum(C + shift, 0)) == counts.predict(C))[:, None], 0)
assert np.array_equal(counts.predict(strewn), counts.predict(C))
titles = ("Poisson counts: a line", "Gaussian, one variance: a line", "Gaussian, a variance for each class: a curve")
shown = [
    DecisionRegionsDisplay.from_estimator(model, rows, y, ax=ax, title=title)
    for ax, model, rows, title in zip(axes, (counts, shared, own), (strewn, N, N), titles, strict=True)
]
for ax in axes:
    ax.set(xlabel="$x_1$", ylabel="$x_2$")
figure.set_label(
    f"Left: {shown[0].alt_text} The line is {counts.rule_.equation(3)}. Middle: {shown[1].alt_text} "
    f"Right, a curve: {shown[2].alt_text}"
)
plt.show()
