"""
A perceptron on four points
===========================

Notes 001, slides 16 to 20, and the bound of slide 22. Four points, two of each class: a perceptron looks at one after
the other and moves only when it is wrong, w ← w + yx, b ← b + y. Each panel is one such move: the ring is the point
that was mistaken, the dashed line the boundary before, the solid line the boundary after.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import Perceptron, separability
from separatrix.plots import PerceptronStepsDisplay, SeparabilityDisplay

X = np.array([[1.0, 1.0], [2.0, 0.0], [-2.0, -1.0], [1.0, 0.0]])
y = np.array(["above", "below", "above", "below"])

fig, axes = plt.subplots(2, 3, figsize=(9, 6.4), layout="constrained")
display = PerceptronStepsDisplay.from_estimator(Perceptron(), X, y, ax=axes)
fig.set_label(display.alt_text)

# %%
# An update mends its own row and may spoil others: the counts in the titles go up and down. In updates 3 and 5 the
# point was on the line itself: predict gives it a class, but while learning it counts as a mistake. It ends all the
# same, because the classes can be separated, and the verdict says with which margin. `check` recomputes that in exact
# arithmetic.

assert display.data["row"] == [0, 1, 0, 1, 0, 2]
assert display.data["wrong after"] == [3, 0, 3, 0, 1, 0]
assert display.data["on the line after"] == [0, 1, 0, 1, 2, 0]
model = Perceptron().fit(X, y)
assert model.coef_.tolist() == [[3.0, -2.0]]
assert model.score(X, y) == 1.0
assert model.verdict_.check(X, y)
print(model.verdict_)

# %%
# No run on these points can be longer than (R/γ)², whatever their order.

bound = model.bound()
assert bound.made == 6 <= bound.bound
assert np.isclose(bound.R**2, 6)  # (−2, −1, 1) is the longest lifted row
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
crossed = SeparabilityDisplay.from_result(result, corners, exclusive)
crossed.ax_.set(xlabel="$x_1$", ylabel="$x_2$")
crossed.figure_.set_label(crossed.alt_text)
plt.show()
