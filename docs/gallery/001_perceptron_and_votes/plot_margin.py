"""
The margin, and why a perceptron must stop
==========================================

Notes 001, slides 21 to 23. Of all w with y⟨w, x⟩ ≥ 1 for every row take the shortest, w⋆: then 1/‖w⋆‖ is the margin,
the distance of the nearest rows, and a perceptron makes ‖w⋆‖²R² mistakes at most. Look at the right panel: ⟨w⋆, ŵ⟩
grows at least as fast as a line, ‖ŵ‖ at most as a square root, and the former cannot overtake the latter.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from separatrix import MaxMarginClassifier, Perceptron
from separatrix.plots import MarginsDisplay
from separatrix.plots.style import current
from separatrix.theory import chain

# %%
# Rows on both sides of a line through the origin, at least 0.35 away from it.

rng = np.random.default_rng(47)
along, y, away = rng.uniform(-2, 2, 40), rng.choice([-1, 1], 40), rng.uniform(0.35, 0.7, 40)
X = np.outer(along, [-0.8, 0.6]) + np.outer(y * away, [0.6, 0.8])

widest = MaxMarginClassifier(fit_intercept=False).fit(X, y)
w_star, gamma = widest.coef_[0], widest.margin_
assert np.isclose((y * (X @ w_star)).min(), 1)
assert np.isclose(gamma, 1 / np.linalg.norm(w_star))
assert gamma >= 0.35  # no worse than the line that the rows were made by
assert widest.verdict_.check(X, y)

# %%
# No other w does better: perceptrons separate the rows too, with a smaller margin, after fewer mistakes than the bound.

model = Perceptron(fit_intercept=False).fit(X, y)
bound, R = model.bound(), np.linalg.norm(X, axis=1).max()
assert np.isclose(bound.bound, w_star @ w_star * R**2)
assert model.mistakes_.sum() == bound.made == 9 <= bound.bound
assert (y * (X @ model.coef_[0])).min() / np.linalg.norm(model.coef_[0]) < gamma
print(f"R = {R:.3f}, γ = {gamma:.4f}: {bound.made} mistakes were made, {bound.bound:.1f} were possible.")

# %%
# The proof in numbers: ℓγ ≤ ⟨u, ŵ⟩ ≤ ‖ŵ‖ ≤ √ℓ R after each mistake ℓ, with u = w⋆/‖w⋆‖.

rows = [step.row for step in Perceptron(fit_intercept=False).steps(X, y)]
proof = chain(w_star, y[rows, None] * X[rows], gamma, R)
for less, more in pairwise(proof):
    assert (less <= more * (1 + 1e-12)).all()
count = np.arange(1, len(rows) + 1)

fig, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.9), layout="constrained")
title = f"The widest band: 1/‖w⋆‖ = {gamma:.3f} to each side"
band = MarginsDisplay.from_estimator(widest, X, y, ax=left, title=title, legend=False)
left.legend(loc="upper right", fontsize=9)
left.set(xlabel="$x_1$", ylabel="$x_2$")
ell = np.linspace(0, bound.bound * 1.05, 300)
right.plot(ell, R * np.sqrt(ell), "--", color="black", label="√ℓ R, the most that ‖ŵ‖ can be")
right.plot(ell, gamma * ell, "-", color="black", label="ℓγ, the least that ⟨u, ŵ⟩ can be")
right.plot(count, proof.length, "^", color=current().colours[1], ms=6, label="‖ŵ‖")
right.plot(count, proof.progress, "o", color=current().colours[0], ms=5, label="⟨u, ŵ⟩")
right.plot(bound.bound, R * np.sqrt(bound.bound), "D", ms=9, mfc=current().mark, mec="black")
right.annotate(f"$(R/γ)^2$ = {bound.bound:.1f}", (bound.bound, R * np.sqrt(bound.bound)), (-12, 10),
               textcoords="offset points", ha="right")  # fmt: skip
right.set(
    xlabel="mistakes ℓ", ylabel="length", title=f"{bound.made} mistakes, {int(bound.bound)} at most", ylim=(0, None)
)
right.legend(loc="lower right", frameon=False)
fig.set_label(f"{band.alt_text} Right: lines ℓγ and √ℓR meet at {bound.bound:.1f}; {bound.made} mistakes lie between.")
plt.show()
