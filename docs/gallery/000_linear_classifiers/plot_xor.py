"""
Exclusive or
============

Notes 000, §8.2.2: the perceptron cannot represent the exclusive or, whatever rows it is trained on, nor parity in
more dimensions. Look at the star: the middle of the square is halfway between the two points of either class, so that
no line has them on different sides. With the product x₁x₂ as a third feature, or a kernel that contains it (§8.2.3),
it can.
"""

import warnings
from itertools import product

import matplotlib.pyplot as plt
import numpy as np

from separatrix import KernelPerceptron, Perceptron, ZeroOneClassifier, separability
from separatrix.plots import DecisionRegionsDisplay, SeparabilityDisplay

X = np.array(list(product([-1.0, 1.0], repeat=2)))
y = np.where(X[:, 0] != X[:, 1], "+1", "−1")

# %%
# The proof, checked in exact arithmetic. One mistake of four is the least that a line can make.

found = separability(X, y)
assert found.kind == "overlap"
assert found.check(X, y)
assert np.allclose(found.crossing_point(X), [0, 0])
assert ZeroOneClassifier().fit(X, y).mistakes_ == (1, 1)

# %%
# A perceptron never stops: whatever the number of passes, every one has mistakes.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # a BudgetWarning says the same as the verdict
    stuck = Perceptron(max_passes=1000).fit(X, y)
assert stuck.verdict_.status == "budget"
assert len(stuck.mistakes_) == 1000
assert stuck.mistakes_.min() > 0

# %%
# Parity of d features is the same in d dimensions: overlap, with a proof.

for d in (3, 4, 5):
    corners = np.array(list(product([-1, 1], repeat=d)))
    parity = (corners == 1).sum(axis=1) % 2
    assert separability(corners, parity).kind == "overlap"
    assert separability(corners, parity).check(corners, parity)

# %%
# The product of the two as a feature separates them: w = (0, 0, −1). The kernel (1 + xᵀx')² has it inside.

lifted = np.column_stack([X, X[:, 0] * X[:, 1]])
assert Perceptron().fit(lifted, y).verdict_.status == "separated"
model = KernelPerceptron(kernel="polynomial", degree=2).fit(X, y)
assert (model.predict(X) == y).all()

figure, axes = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")
proof = SeparabilityDisplay.from_result(found, X, y, ax=axes[0], title="No line: the hulls meet in the star")
curved = DecisionRegionsDisplay.from_estimator(model, X, y, ax=axes[1], title="A kernel perceptron of degree 2")
for ax in axes:
    ax.set(xlabel="$x_1$", ylabel="$x_2$")
figure.set_label(f"Left: {proof.alt_text} Right: {curved.alt_text}")
plt.show()
