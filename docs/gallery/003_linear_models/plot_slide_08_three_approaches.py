"""
Slide 8: three approaches to classification
===========================================

Notes 003, slide 8. A discriminant function maps x to a class and says no more; a discriminative model gives P(C | x); a
generative one says what the rows of each class look like, p(x | C), and Bayes' rule makes P(C | x) of that. Look at
what each panel knows beside its boundary: nothing, probabilities, the shapes of both clouds.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import multivariate_normal

from separatrix import GaussianDiscriminant, LeastSquaresClassifier, LogisticRegression
from separatrix.plots import DecisionRegionsDisplay
from separatrix.plots.style import look

rng = np.random.default_rng(0)
shape = np.array([[1.0, 0.0], [0.5, 0.6]])
X = np.vstack([m + rng.normal(size=(n, 2)) @ shape.T for m, n in (([-0.9, 0.6], 120), ([0.9, -0.6], 40))])
y = np.repeat(["A", "B"], [120, 40])
models = {
    "discriminant function:\na class, no more": LeastSquaresClassifier().fit(X, y),
    "discriminative:\nP(C | x)": LogisticRegression().fit(X, y),
    "generative:\np(x | C), then Bayes' rule": GaussianDiscriminant(priors="equal").fit(X, y),
}
assert all(model.verdict_.check(X, y) for model in models.values())

# %%
# "Under which Gaussian is the vector most probable" takes the classes for equally frequent. With the shares of the
# rows, 3 : 1, the log-odds of B are less by log 3 at every x, and the boundary moves towards B.

_, discriminative, generative = models.values()
means = [X[y == label].mean(axis=0) for label in ("A", "B")]
common = sum((X[y == label] - m).T @ (X[y == label] - m) for label, m in zip("AB", means, strict=True)) / len(X)
density = np.column_stack([multivariate_normal(m, common).pdf(X) for m in means])
assert (generative.predict(X) == np.array(["A", "B"])[density.argmax(axis=1)]).all()
assert np.allclose(generative.predict_proba(X), density / density.sum(axis=1, keepdims=True), atol=1e-12)
learnt = GaussianDiscriminant().fit(X, y)
assert np.allclose(learnt.decision_function(X), generative.decision_function(X) - np.log(3), atol=1e-10)
assert not hasattr(models["discriminant function:\na class, no more"], "predict_proba")
assert np.isclose(discriminative.predict_proba(X)[:, 1].mean(), 40 / 160)  # likelihood learns the shares by itself

# %%
# Shades and thin lines of the middle panel are probabilities; ellipses of the right one hold half and 95 % of a class.

fig, axes = plt.subplots(1, 3, figsize=(12, 4.8), layout="constrained", sharey=True)
said = []
for ax, (title, model) in zip(axes, models.items(), strict=True):
    shaded = model is discriminative
    display = DecisionRegionsDisplay.from_estimator(
        model, X, y, ax=ax, title=title, probabilities=shaded, legend=False, fine=101
    )
    said.append(display.alt_text)
circle = np.column_stack([f(np.linspace(0, 2 * np.pi, 100)) for f in (np.cos, np.sin)])
for k, mean in enumerate(means):
    for mass in (0.5, 0.95):
        ellipse = mean + np.sqrt(-2 * np.log(1 - mass)) * circle @ np.linalg.cholesky(common).T
        axes[2].plot(*ellipse.T, "-" if k == 0 else "--", color=look(k).colour, lw=2)
    axes[2].plot(*mean, "P", ms=11, mfc=look(k).colour, mec="black")
for ax in axes:
    ax.set(xlabel="$x_1$", ylabel="$x_2$" if ax is axes[0] else "")
handles, _ = axes[0].get_legend_handles_labels()
fig.legend(handles, ["class A", "class B", "classified wrongly"], loc="outside lower center", ncols=3, frameon=False)
fig.set_label(" ".join(said))
plt.show()
