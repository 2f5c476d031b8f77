"""
Example 4-1: separable, and not
===============================

Notes 004, example 4-1: four small sets. Of points that a line can part many lines do; AND is such a set, XOR is not.
Look for the proof in each panel: the line with its margin, or the star, a point that is in the hull of both classes.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LinearRule, separability
from separatrix.plots import SeparabilityDisplay

upper_left = [[-2.5, 0.8], [-1.8, 2.2], [-0.4, 0.9], [-0.6, 2.6], [-2.1, 1.5]]
lower_right = [[1.4, -2.3], [1.7, -0.3], [2.1, -2.4], [2.7, -1.2], [2.1, -1.4]]
apart = np.array(upper_left + lower_right), np.repeat([1, -1], 5)
mixed = np.array(upper_left + lower_right), np.array([1, -1, 1, 1, 1, -1, -1, -1, 1, -1])
corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
conjunction, exclusive = (corners, np.array([-1, -1, -1, 1])), (corners, np.array([-1, 1, 1, -1]))

# %%
# Three of the many rules that part the first set: sign(x₂), -sign(x₁) and sign(x₂ - x₁). For AND, sign(x₁ + x₂ - 1.5).

rules = {"x₂ = 0": LinearRule([0, 1]), "x₁ = 0": LinearRule([-1, 0]), "x₂ = x₁": LinearRule([-1, 1])}
for rule in rules.values():
    assert np.array_equal(rule.side(apart[0]), apart[1])
assert np.array_equal(LinearRule([1, 1], -1.5).side(corners), conjunction[1])

# %%
# What no rule can do is proved as well, and `check` recomputes the proof in exact arithmetic. For XOR it is the middle
# of the square: half of each diagonal's ends, so that no rule could be right about all four.

proof = separability(*conjunction).certificate
assert np.allclose(proof.intercept / proof.weights, -1.5)  # of all lines for AND, the notes' has the widest margin
kinds = []
for rows, labels in (apart, mixed, conjunction, exclusive):
    result = separability(rows, labels)
    assert result.check(rows, labels)
    kinds.append(result.kind)
assert kinds == ["separated", "overlap", "separated", "overlap"]
proof = result.certificate.crossing
assert sorted(proof.rows) == [0, 1, 2, 3]
assert len(set(proof.multipliers)) == 1

# %%
# The proofs, drawn.

fig, axes = plt.subplots(2, 2, figsize=(9, 9.4), layout="constrained")
titles = (
    "A line parts them; many do",
    "No line parts them",
    "AND: x₁ + x₂ = 1.5 parts them",
    "XOR: no line parts them",
)
PLACES = ((-2.2, 0.0), (0.0, -2.2), (-2.1, -2.1))  # of the names of the lines
displays = []
for ax, data, title in zip(axes.flat, (apart, mixed, conjunction, exclusive), titles, strict=True):
    displays.append(SeparabilityDisplay.from_data(*data, ax=ax, title=title))
    ax.set(xlabel="x₁", ylabel="x₂")
for style, (name, rule), place in zip(("--", "-.", ":"), rules.items(), PLACES, strict=True):
    axes[0, 0].axline((0, 0), rule.weights[::-1] * [1, -1], ls=style, color="black", lw=1.3)
    axes[0, 0].annotate(name, place, bbox={"fc": "white", "ec": "none", "pad": 3}, ha="center", va="center")
axes[0, 1].set(xlim=(-3.6, 3.8), ylim=(-3.6, 3.8))
axes[1, 1].set(xlim=(-0.3, 1.3), ylim=(-0.3, 1.3))

fig.set_label(" ".join(f"{title}. {each.alt_text}" for title, each in zip(titles, displays, strict=True)))
