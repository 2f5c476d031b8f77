"""
Least squared error is not convex
=================================

Notes 002, §1.2: the Hessian of E(w) = Σ(yᵢ − pᵢ)² need not be positive semi-definite. The text says that E must then
have several minima; that does not follow, and these 18 points show what can happen instead. Look at the two curves:
along one direction E has a minimum, along another it falls for ever, towards the number of mistakes of the best line.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from separatrix import LogisticRegression, ZeroOneClassifier
from separatrix.plots import theme

positive = [(2, 3.5), (3, 4.5), (3.5, 2.75), (4.5, 4), (5, 2.5), (5.5, 3.75), (4, 5.25), (2.25, 1.5), (6, 1.5)]
negative = [(0.5, 2.5), (1, 1), (1.25, 3.25), (2.5, 0.5), (3, 2), (0.75, 4.5), (1.75, 2.25), (4, 0.75), (3.75, 3.5)]
X = np.array(positive + negative)
y = np.repeat([1, 0], 9)
lifted = np.column_stack([np.ones(18), X])


def E(w):
    """Σ(yᵢ − pᵢ)²."""
    return ((y - expit(lifted @ w)) ** 2).sum()


# %%
# One minimum is found, from twenty starts; it is proved to be one, and nothing more is claimed.

model = LogisticRegression(objective="squared", starts=20, random_state=0).fit(X, y)
assert model.verdict_.status == "local"
assert model.verdict_.check(X, y)
assert len(model.minima_) == 1
here = np.append(model.intercept_, model.coef_)
assert np.isclose(E(here), 18 * model.minima_[0].value)

# %%
# The Hessian is positive there, and not at other places: 2JᵀJ + 2JᵀE(2P − I)X, J = P(I − P)X.


def least_curvature(w):
    p = expit(lifted @ w)
    J = (p * (1 - p))[:, None] * lifted
    return np.linalg.eigvalsh(2 * J.T @ J + 2 * J.T @ (((y - p) * (2 * p - 1))[:, None] * lifted))[0]


assert least_curvature(here) > 0
assert least_curvature(3 * here) < 0

# %%
# The line with the fewest mistakes, two, and ever larger weights: E falls to 2, and has no minimum there.

best = ZeroOneClassifier().fit(X, y)
assert best.mistakes_ == (2, 2)
there = np.append(best.intercept_, best.coef_)
there = there / np.linalg.norm(there) * np.linalg.norm(here)
times = np.geomspace(0.1, 300, 200)
falls, rises = (np.array([E(t * w) for t in times]) for w in (there, here))
assert falls.min() == falls[-1] < E(here)
assert abs(falls[-1] - 2) < 1e-6
assert abs(rises[-1] - 3) < 1e-6
assert 0 < rises.argmin() < 199
assert abs(times[rises.argmin()] - 1) < 0.05

with theme() as look:
    figure, ax = plt.subplots(figsize=(7.6, 4.6), layout="constrained")
    ax.semilogx(times, rises, color=look.colours[0], lw=2.2, label="towards the minimum, and beyond it")
    ax.semilogx(times, falls, "--", color=look.colours[1], lw=2.2, label="towards the line of fewest mistakes")
    ax.axhline(2, color=look.grey, lw=0.9)
    ax.plot(1, E(here), "*", color=look.mark, mec=look.ink, ms=16)
    ax.annotate(f"the minimum: E = {E(here):.3f}", (1, E(here)), (1, 2.13), ha="center")
    ax.text(60, 1.9, "two mistakes", ha="center", va="top")
    ax.text(60, 3.08, "three mistakes", ha="center")
    ax.set(xlabel="length of the weights, as a multiple of the minimum's", ylabel="$E(w)$", ylim=(1.6, 4.7))
    ax.set_title("Along one direction a minimum, along the other E falls for ever", fontsize=10.5)
    ax.legend(frameon=False, loc="upper right")
figure.set_label(
    f"The squared error along two directions from w = 0: one has its least value {E(here):.3f} at the minimum and ends "
    f"at {rises[-1]:.0f}; the other falls to {falls[-1]:.0f}, the number of mistakes of the best line."
)
plt.show()
