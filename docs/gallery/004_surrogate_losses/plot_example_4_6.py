"""
Example 4-6: a parabola makes room
==================================

Notes 004, example 4-6: eight points of one feature, the positive ones between the negative ones, so that no threshold
parts them (a). With x² as a second feature they lie on a parabola, and a line parts them (b). Look at the two places
where the line meets the parabola: they are the two boundaries on the axis of x.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LinearRule, MaxMarginClassifier, separability
from separatrix.features import Polynomial
from separatrix.plots.style import class_words, current, look

X = np.array([-3, -2.5, -1.5, -0.5, 0.25, 1, 2, 3])[:, None]
y = np.array([-1, -1, -1, 1, 1, 1, -1, -1])
lifted = Polynomial(2).fit_transform(X)
assert np.array_equal(lifted, np.column_stack([X, X**2]))

# %%
# Not separable in x, separable in (x, x²): both are proved.

kinds = []
for rows in (X, lifted):
    result = separability(rows, y)
    assert result.check(rows, y)
    kinds.append(result.kind)
assert kinds == ["overlap", "separated"]

# %%
# The notes' decision function T(-2x̃₂ + x̃₁ + 3): right about all eight points. In x its response is quadratic, with
# zeros at -1 and 3/2.

rule = LinearRule([1, -2], 3)
assert np.array_equal(rule.side(lifted), y)
zeros = np.sort(np.roots([-2, 1, 3]))
assert np.allclose(zeros, [-1, 1.5], atol=1e-12)
assert np.abs(rule.score(Polynomial(2).fit_transform(zeros[:, None]))).max() < 1e-12

# %%
# It is one of many; the line of the widest margin is farther from the nearest point.

widest = MaxMarginClassifier().fit(lifted, y)
nearest = np.abs(rule.distance(lifted)).min()
print(f"Nearest point: {nearest:.3f} from the notes' line, {widest.margin_:.3f} from the widest.")
assert widest.margin_ > nearest > 0

# %%
# One feature, and two.

fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained")
x = np.linspace(-3.4, 3.4, 681)
response = rule.score(Polynomial(2).fit_transform(x[:, None]))
left.plot(x, response, color=current().ink, lw=2, label="−2x² + x + 3")
right.plot(x, x**2, color=current().grey, lw=1, ls="--", label="x̃₂ = x̃₁²")
right.plot(x, (x + 3) / 2, color=current().ink, lw=2, label="−2x̃₂ + x̃₁ + 3 = 0")
right.plot(zeros, zeros**2, "s", color="black", ms=8, zorder=4)
right.fill_between(x, -1, (x + 3) / 2, color=look(1).colour, alpha=current().veil, lw=0)
right.fill_between(x, (x + 3) / 2, 10.4, color=look(0).colour, alpha=current().veil, lw=0)
left.axvspan(*zeros, color=look(1).colour, alpha=current().veil, lw=0)
for low, high in ((x[0], zeros[0]), (zeros[1], x[-1])):
    left.axvspan(low, high, color=look(0).colour, alpha=current().veil, lw=0)
left.axhline(0, color=current().grey, lw=0.6)
left.plot(zeros, [0, 0], "s", color="black", ms=8, zorder=4, label="r(x) = 0 at −1 and 1.5")
for k, label in enumerate((-1, 1)):
    own = y == label
    left.scatter(X[own, 0], 0 * X[own, 0], s=60, c=look(k).colour, marker=look(k).marker, zorder=3, ec="white")
    right.scatter(*lifted[own].T, s=60, c=look(k).colour, marker=look(k).marker, zorder=3, label=class_words(label))
left.set(title="(a) One feature: the response is curved", xlabel="x", ylabel="r(x)", xlim=(x[0], x[-1]), ylim=(-9, 6))
right.set(
    title="(b) Two features: a line parts them", xlabel="x̃₁ = x", ylabel="x̃₂ = x²", xlim=(x[0], x[-1]), ylim=(-1, 10.4)
)
left.legend(loc="lower center", frameon=False)
right.legend(loc="upper center", frameon=False)

fig.set_label(
    f"Eight points on a line, the three positive ones between {zeros[0]:g} and {zeros[1]:g}; and the same on a "
    f"parabola, where a straight line parts them, the nearest point {nearest:.2f} away."
)
