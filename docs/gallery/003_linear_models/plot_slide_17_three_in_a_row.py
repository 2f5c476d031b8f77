"""
Slide 17: least squares loses the class in the middle
=====================================================

Notes 003, slide 17. Three classes in a row. Least squares fits a plane to each class's zeros and ones, and the plane of
the middle class, which ought to be high in the middle and low on both sides, is nearly flat: it is nowhere the largest.
Look at the left panel, in which the middle class has no region; the likelihood of logistic regression gives it one.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LeastSquaresClassifier, LogisticRegression
from separatrix.plots import DecisionRegionsDisplay
from separatrix.plots.style import DASHES, look

rng = np.random.default_rng(0)
X = np.vstack([rng.normal([c, c], 0.6, (rows, 2)) for c, rows in ((-2.4, 60), (0, 40), (2.4, 60))])
y = np.repeat(["A", "B", "C"], [60, 40, 60])

# %%
# Scores of least squares sum to one, but nothing keeps them between 0 and 1: 1-of-K targets are far from Gaussian.

squares = LeastSquaresClassifier().fit(X, y)
scores = squares.decision_function(X)
assert np.allclose(scores.sum(axis=1), 1, atol=1e-9)
assert scores.min() < 0
assert scores.max() > 1
assert (squares.predict(X) == "B").sum() == 0
assert squares.verdict_.check(X, y)  # no accident of the search: these weights have the least squared error there is

# %%
# The same rows, the same linear functions, another loss.

logistic = LogisticRegression(l2=1e-3).fit(X, y)
wrong = {name: int((model.predict(X) != y).sum()) for name, model in (("squares", squares), ("logistic", logistic))}
print("wrong of 160:", wrong)
assert wrong == {"squares": 40, "logistic": 0}  # the forty are all of B

# %%
# Why: the three planes of least squares along the diagonal, and the shares of the classes that they try to follow.

along = np.linspace(-4, 4, 81)
planes = squares.decision_function(np.column_stack([along, along]))
assert (planes[:, 1] < planes[:, [0, 2]].max(axis=1)).all()

fig, axes = plt.subplots(1, 3, figsize=(12.6, 4.7), layout="constrained")
said = []
for ax, model, name in zip(axes, (squares, logistic), ("least squares", "logistic regression"), strict=False):
    title = f"{name}: {(model.predict(X) != y).sum()} of 160 wrong"
    display = DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax, title=title, legend=False)
    ax.set(xlabel="$x_1$", ylabel="$x_2$")
    said.append(display.alt_text)
for k, label in enumerate("ABC"):
    colour, marker = look(k)
    axes[2].plot(along, planes[:, k], ls=DASHES[k], color=colour, lw=2.2, label=f"score of {label}")
    own = X[y == label].mean(axis=1)
    axes[2].plot(own, np.full(len(own), -0.6), marker, color=colour, ms=5, alpha=0.6, label=f"class {label}")
axes[2].set(xlabel="along the diagonal, $(x_1 + x_2)/2$", ylabel="score of least squares", ylim=(-0.75, 1.3))
axes[2].set_title("B's score is nowhere the highest", fontsize=10.5)
fig.legend(*axes[2].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
fig.set_label(
    f"{' '.join(said)} Along the diagonal the score of B stays near {planes[:, 1].mean():.2f}, below A's or C's."
)
plt.show()
