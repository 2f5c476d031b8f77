"""
Slide 23: the perceptron algorithm, step by step
================================================

Notes 003, slides 22 to 24. Rows are looked at in turn, and one that is wrong is added to w with its sign. A ring marks
it; the dashed line is the boundary before, the solid one after. Look at the counts: an update mends its own row, yet
the number of wrong rows and the criterion L_P on the right may rise before they reach zero.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import Perceptron
from separatrix.plots import PerceptronStepsDisplay
from separatrix.plots.style import current
from separatrix.theory import criterion

rng = np.random.default_rng(25)
X = np.vstack([rng.normal([-0.9, 0.5], 0.45, (12, 2)), rng.normal([0.7, -0.3], 0.45, (12, 2))])
t, order = np.repeat([-1, 1], 12), rng.permutation(24)
X, t = X[order], t[order]

# %%
# The updates are the line of the algorithm, w ← w + φ(x)t with φ(x) = (x, 1), from weights that point the wrong way.

phi, start = np.column_stack([X, np.ones(24)]), [0.8, 1.0, 0.3]
model = Perceptron(init=start)
weights = [np.array(start)]
for step in model.steps(X, t):
    after = weights[-1] + phi[step.row] * t[step.row]
    assert np.allclose([*step.weights, step.intercept], after, rtol=1e-14)
    assert after @ phi[step.row] * t[step.row] > weights[-1] @ phi[step.row] * t[step.row]  # slide 24, first point
    weights.append(after)

# %%
# Slide 24, second point: this does not imply that the loss falls. Here it is largest after the second update of four.

losses = [criterion(w, phi, t) for w in weights]
assert len(losses) == 5
assert int(np.argmax(losses)) == 2
assert losses[-1] == 0
assert model.verdict_.check(X, t)

# %%
# And the third: from w = 0 another solution is found, by another number of steps.

other = Perceptron().fit(X, t)
assert other.score(X, t) == model.score(X, t) == 1.0
cosine = other.coef_[0] @ model.coef_[0] / np.linalg.norm(other.coef_) / np.linalg.norm(model.coef_)
print(f"The two boundaries are {np.degrees(np.arccos(cosine)):.0f}° apart.")
assert cosine < 0.999

fig, axes = plt.subplot_mosaic("abe;cde", figsize=(10.4, 6.2), layout="constrained")
panels = [axes[place] for place in "abcd"]
display = PerceptronStepsDisplay.from_estimator(Perceptron(init=start), X, t, ax=panels, count=4)
assert display.data["wrong after"] == [6, 11, 2, 0]
axes["e"].plot(range(5), losses, "o-", color=current().ink, ms=9)
for k, (loss, place) in enumerate(zip(losses, [(0, 9), (0, -19), (0, 9), (18, 5), (0, 9)], strict=True)):
    axes["e"].annotate(f"{loss:.2f}", (k, loss), place, textcoords="offset points", ha="center")
axes["e"].set(xlabel="updates", ylabel="$L_P$", ylim=(-0.4, 11.5), xlim=(-0.4, 4.4), xticks=range(5))
axes["e"].set_title("the criterion rises before it falls to 0", fontsize=10.5)
fig.set_label(f"{display.alt_text} The criterion goes {', '.join(f'{loss:.2f}' for loss in losses)}.")
plt.show()
