"""
Example 4-7: a perceptron of three classes on Iris
==================================================

Notes 004, example 4-7 (a heading in the notes, without text): 150 irises of three kinds, drawn by the length and width
of their sepals. Each class has weights of its own, and the largest response wins. Look at the boundary: it is made of
parts of straight lines, one for each pair of classes; dashed is where such a line goes on and does not matter.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from separatrix import BudgetWarning, JointPerceptron, Perceptron, Pocket, separability
from separatrix.plots import DecisionRegionsDisplay
from separatrix.plots.style import current, legend_below

iris = load_iris(as_frame=True)
X, y = iris.data[["sepal length (cm)", "sepal width (cm)"]], iris.target_names[iris.target]
settings = {"order": "random", "max_passes": 100, "random_state": 0}

# %%
# The drawback that the notes name: no rule is right about all of them, which is proved first, so the perceptron would
# go on for ever. Its verdict says that it stopped at its limit.

result = separability(X, y)
assert result.kind == "quasi-separated"
assert result.check(X, y)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", BudgetWarning)  # it says the same as the verdict
    model = Perceptron(**settings).fit(X, y)
    joint = JointPerceptron(**settings).fit(X, y)
    pocket = Pocket(random_state=0).fit(X, y)
assert model.verdict_.status == "budget"
assert model.mistakes_.min() > 0
print(model.verdict_)

# %%
# The same in the notes' alternative form: one vector θ, and θ ← θ + Φ(x, y) − Φ(x, ŷ) at every mistake.

theta = joint.theta_.reshape(3, 3)
assert np.allclose(theta[:, :2], model.coef_, atol=1e-9)
assert np.allclose(theta[:, 2], model.intercept_, atol=1e-9)

# %%
# The pocket keeps the best weights met on the way. Nearly all of its mistakes are between versicolor and virginica.

wrong = {each.__class__.__name__: int((each.predict(X) != y).sum()) for each in (model, pocket)}
print(wrong)
assert wrong["Pocket"] <= 30
assert wrong["Pocket"] < np.median(model.mistakes_)
assert ((pocket.predict(X) == "setosa") != (y == "setosa")).sum() <= 2

# %%
# Between two classes the boundary is the line of their difference, θ_c − θ_c′.

fig, ax = plt.subplots(figsize=(7, 5.6), layout="constrained")
display = DecisionRegionsDisplay.from_estimator(
    pocket, X, y, ax=ax, title=f"Pocket of perceptrons: {wrong['Pocket']} of {len(y)} wrong"
)
across = display.across
for a, b in (("setosa", "versicolor"), ("setosa", "virginica"), ("versicolor", "virginica")):
    pair = pocket.rule_.between(a, b)
    line = np.column_stack([across, -(pair.weights[0] * across + pair.intercept) / pair.weights[1]])
    assert np.abs(pair.score(line)).max() < 1e-8
    scores = pocket.rule_.score(line)
    third = ({0, 1, 2} - {pocket.rule_.classes.index(a), pocket.rule_.classes.index(b)}).pop()
    assert np.allclose(np.delete(scores, third, axis=1)[:, 0], np.delete(scores, third, axis=1)[:, 1], atol=1e-8)
    ax.plot(
        *line.T,
        ls="--",
        color=current().grey,
        lw=1.2,
        zorder=2,
        label="_" if third else "two classes with equal scores",
    )
legend_below(ax, 3)

fig.set_label(f"{display.alt_text} Dashed lines are where two classes have equal scores.")
