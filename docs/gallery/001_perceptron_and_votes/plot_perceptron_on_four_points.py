"""
A perceptron on four points
===========================

Four points, two of each class. A perceptron looks at one after the other and moves only when it is wrong:
w ← w + yx, b ← b + y. Each panel is one such move: the ring is the point that was mistaken, the dashed line the
boundary before, the solid line the boundary after.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import Perceptron, separability
from separatrix.plots import SeparabilityDisplay, describe_updates, draw_updates

X = np.array([[1.0, 1.0], [2.0, 0.0], [-2.0, -1.0], [1.0, 0.0]])
y = np.array(["above", "below", "above", "below"])

figure, axes = plt.subplots(2, 3, figsize=(9, 6.4), layout="constrained")
draw_updates(Perceptron(), X, y, axes=axes)
figure.set_label(describe_updates(Perceptron(), X, y))

# %%
# An update mends its own row and may spoil others: the counts in the titles go up and down. It ends all the same,
# because the classes can be separated, and the verdict says with which margin. `check` recomputes that in exact
# arithmetic.

model = Perceptron().fit(X, y)
assert model.verdict_.check(X, y)
print(model.verdict_)

# %%
# No run on these points can be longer than (R/γ)², whatever their order.

bound = model.bound()
assert bound.made <= bound.bound
print(f"R = {bound.R:.3g} and γ = {bound.gamma:.3g}:")
print(f"{bound.made} mistakes were made, and at most {bound.bound:.1f} were possible.")

# %%
# The exclusive or is four points too. No line separates them, a perceptron would move for ever, and a proof of that
# needs no perceptron: the middle of the square (the star) is in the middle of either class.

corners = np.array([[0, 0], [1, 1], [0, 1], [1, 0]])
exclusive = np.array(["same", "same", "different", "different"])
result = separability(corners, exclusive)
assert result.kind == "overlap"
assert result.check(corners, exclusive)
print(result)
proof = SeparabilityDisplay.from_data(corners, exclusive)
proof.figure_.set_label(proof.alt_text)
plt.show()
