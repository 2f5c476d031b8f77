"""
Newton's steps, and the gradient's
==================================

Notes 002, §1.1 and §1.2: w ← w + (XᵀP(I − P)X)⁻¹Xᵀ(y − p), from the weights of least squares (10), and the same with
the identity in place of the Hessian and a rate η below one. Look at the number of steps: Newton doubles its right
digits with each, the gradient needs thousands, and with η = 0.1, a positive constant smaller than one, it never
arrives.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LogisticRegression
from separatrix.plots import ConvergenceDisplay

positive = [(2, 3.5), (3, 4.5), (3.5, 2.75), (4.5, 4), (5, 2.5), (5.5, 3.75), (4, 5.25), (2.25, 1.5), (6, 1.5)]
negative = [(0.5, 2.5), (1, 1), (1.25, 3.25), (2.5, 0.5), (3, 2), (0.75, 4.5), (1.75, 2.25), (4, 0.75), (3.75, 3.5)]
X = np.array(positive + negative)
y = np.repeat([1, 0], 9)

# %%
# Equation 10 as it is printed, and the learner's steps: the same weights, one after the other.

lifted = np.column_stack([np.ones(18), X])
w, printed = np.linalg.lstsq(lifted, y, rcond=None)[0], []
for _ in range(6):
    printed.append(w)
    p = 1 / (1 + np.exp(-lifted @ w))
    w = w + np.linalg.inv(lifted.T @ np.diag(p * (1 - p)) @ lifted) @ lifted.T @ (y - p)
steps = list(LogisticRegression(solver="newton").steps(X, y))
assert np.allclose(printed, [[step.intercept, *step.weights] for step in steps], atol=1e-9)

# %%
# The error of each step is about the square of the one before.

error = np.array([np.linalg.norm(each - w) for each in printed])
assert np.all(error[3:] < error[2:-1] ** 2 * 2)
print(error)

# %%
# The gradient by the notes' rule, w ← w + ηXᵀ(y − p), a sum over all rows. A step is O(dn), not O(dn²): P is diagonal.

models = {"Newton": LogisticRegression(solver="newton").fit(X, y)}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # a BudgetWarning says that two of them did not arrive
    for rate in (0.01, 0.03, 0.1):
        models[f"gradient, η = {rate}"] = LogisticRegression(
            solver="gradient", learning_rate=rate, max_passes=3000
        ).fit(X, y)
assert models["Newton"].verdict_.status == "optimal"
assert len(models["Newton"].history_) == 6
assert models["gradient, η = 0.03"].verdict_.status == "optimal"
assert 2000 < len(models["gradient, η = 0.03"].history_) < 2500
assert models["gradient, η = 0.01"].verdict_.status == "budget"
print(models["gradient, η = 0.1"].verdict_)

# %%
# A rate above 2/λ, λ the largest eigenvalue of the Hessian, cannot stay at the minimum: that is 0.0486 here.

p = models["Newton"].predict_proba(X)[:, 1]
largest = np.linalg.eigvalsh(lifted.T @ np.diag(p * (1 - p)) @ lifted)[-1]
assert np.isclose(2 / largest, 0.0486, atol=5e-5)
assert models["gradient, η = 0.1"].history_[-1].value > models["Newton"].history_[0].value
print(f"2/λ = {2 / largest:.4f}")

figure, ax = plt.subplots(figsize=(8.4, 5), layout="constrained")
title = f"Newton arrives in {len(steps) - 1} steps, the gradient in thousands, or never"
shown = ConvergenceDisplay.compare(models, ax=ax, title=title)
ax.set_xscale("log")
figure.set_label(shown.alt_text)
plt.show()
