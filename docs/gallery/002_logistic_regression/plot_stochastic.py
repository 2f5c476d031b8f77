"""
One point at a time
===================

Notes 002, §1.3: a step of the batch mode is a sum over all points; the stochastic mode steps after each point, by
Δw = η e p(1 − p) x. Look at the curves: in few passes single points lead further than whole sums; then with a
constant rate the weights hover at some height above the minimum, with one that falls they come down.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from separatrix import BudgetWarning, LearningRate, LogisticRegression
from separatrix.plots import theme

positive = [(2, 3.5), (3, 4.5), (3.5, 2.75), (4.5, 4), (5, 2.5), (5.5, 3.75), (4, 5.25), (2.25, 1.5), (6, 1.5)]
negative = [(0.5, 2.5), (1, 1), (1.25, 3.25), (2.5, 0.5), (3, 2), (0.75, 4.5), (1.75, 2.25), (4, 0.75), (3.75, 3.5)]
X = np.array(positive + negative) - [3.25, 2.75]
y = np.repeat([1, 0], 9)
warnings.simplefilter("ignore", BudgetWarning)  # a stochastic descent proves nothing when it ends

# %%
# The update as it is printed, the points in their order, 20 passes; and the learner.

lifted, w = np.column_stack([np.ones(18), X]), np.zeros(3)
for x, label in zip(np.tile(lifted, (20, 1)), np.tile(y, 20), strict=True):
    p = 1 / (1 + np.exp(-x @ w))
    w = w + 0.5 * (label - p) * p * (1 - p) * x
settings = {"objective": "squared", "solver": "stochastic", "init": "zero"}
printed = LogisticRegression(**settings, order="cyclic", learning_rate=0.5, max_passes=20).fit(X, y)
assert np.allclose(w, [*printed.intercept_, *printed.coef_[0]], atol=1e-12)

# %%
# The sum over the points is the batch step: if the weights stay as they are, 18 small steps make the large one.

batch = LogisticRegression(objective="squared", solver="gradient", learning_rate=0.5, init="zero", max_passes=9)
first = list(batch.steps(X, y))[1]
assert np.allclose(sum(0.5 * (label - 0.5) * 0.25 * x for x, label in zip(lifted, y, strict=True)),
                   [first.intercept, *first.weights], atol=1e-12)  # fmt: skip

# %%
# Where points are many a pass of small steps goes further than one large step. Drawn at random, as the text says, 2000
# of them: at a constant rate the weights hover, the higher the larger it is; at one that falls with the steps they
# come down. (The learner stops where it sees that the weights hover.)

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 5))
y = (rng.random(2000) < 1 / (1 + np.exp(-X @ [2, -1, 1, 0.5, 0] - 0.5))).astype(int)
common = {"objective": "squared", "init": "zero", "starts": 1, "max_passes": 40}
draws = {**common, "solver": "stochastic", "order": "replacement", "random_state": 0}
models = {
    "all points, η = 0.005": LogisticRegression(**common, solver="gradient", learning_rate=0.005).fit(X, y),
    "one point, η = 0.5": LogisticRegression(**draws, learning_rate=0.5).fit(X, y),
    "one point, η = 0.05": LogisticRegression(**draws, learning_rate=0.05).fit(X, y),
    "one point, η falls": LogisticRegression(**draws, learning_rate=LearningRate(1, power=1, delay=400)).fit(X, y),
}
least = LogisticRegression(**common).fit(X, y).history_[-1].value
early = {name: model.history_[2].value - least for name, model in models.items()}
late = {name: np.median([record.value for record in model.history_[-10:]]) - least for name, model in models.items()}
assert max(early[name] for name in models if name != "all points, η = 0.005") < early["all points, η = 0.005"]
assert late["one point, η = 0.5"] > 5 * late["one point, η = 0.05"] > 25 * late["one point, η falls"] > 0
for name, model in models.items():
    print(
        f"{name}: {early[name]:.1e}, then {late[name]:.1e}; {model.verdict_.status} after {model.n_passes_:.0f} passes"
    )

with theme() as look:
    figure, ax = plt.subplots(figsize=(8.4, 5), layout="constrained")
    for k, (name, model) in enumerate(models.items()):
        above = [record.value - least for record in model.history_]
        ax.semilogy(above, color=look.colours[k], ls=("-", "--", "-.", ":")[k], marker="o^sD"[k], ms=4, label=name)
    ax.set(xlabel="passes of learning", ylabel=f"squared error of a point, above the least, {least:.4f}")
    ax.set_title("One point at a time is ahead at once; then it hovers, unless η falls", fontsize=10.5)
    figure.legend(loc="outside lower center", frameon=False, ncols=4)
figure.set_label(
    " ".join(
        f"{name}: {early[name]:.2g} above the least after 2 passes, {late[name]:.2g} in the end." for name in models
    )
)
plt.show()
