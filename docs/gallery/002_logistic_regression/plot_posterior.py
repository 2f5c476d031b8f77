"""
Squared error learns the posterior, if it can
=============================================

Notes 002, §1.5 (and 000, §8.1.5): the s(x) that minimises the expected squared error is P(1 | x), and so is the one
that minimises cross-entropy. What is left is E[P(1 − P)], and E[H(P)]. The caveat of the text: the model must be able
to follow. Left it is, and both learn the dots; right the classes differ in width, and the two learn different, wrong
curves.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import BayesClassifier, LogisticRegression
from separatrix.plots import theme
from separatrix.populations import GaussianMixture

populations = {
    "Equal widths: P(1 | x) is a sigmoid": GaussianMixture([[-1.0], [1.0]]),
    "Unequal widths: it is not": GaussianMixture([[-1.0], [1.0]], [[[2.25]], [[0.25]]]),
}
t = np.linspace(-4, 4, 201)[:, None]


def learn(population):
    X, y = population.sample(20000, random_state=0)
    by = {"squared error": "squared", "cross-entropy": "likelihood"}
    return {name: LogisticRegression(objective=each, starts=1).fit(X, y) for name, each in by.items()}


# %%
# Bayes' rule is at the floor of either loss. Equal widths: with 20 000 rows both models are less than 0.0001 above it.

floors, excess = {}, {}
learnt = {name: learn(population) for name, population in populations.items()}
for name, population in populations.items():
    bayes = BayesClassifier(population)
    floors[name] = bayes.floors()
    for how, model in learnt[name].items():
        loss = "squared" if how == "squared error" else "log"
        floor = getattr(floors[name], loss)
        excess[name, how] = bayes.risk(model, loss=loss) - floor
        assert excess[name, how] > 0, "nothing is below the floor"

first, second = populations
assert excess[first, "squared error"] < 1e-4
assert excess[first, "cross-entropy"] < 1e-4
print(floors[first].squared, floors[first].log, sep="\n")

# %%
# The floors are the integrals of the text: here by the trapezoidal rule, P = σ(2x), and densities of variance one.

x = np.linspace(-9, 9, 2001)
P = 1 / (1 + np.exp(-2 * x))
density = (np.exp(-((x + 1) ** 2) / 2) + np.exp(-((x - 1) ** 2) / 2)) / np.sqrt(8 * np.pi)
assert np.allclose(P, populations[first].posterior(x[:, None])[:, 1], atol=1e-12)
assert np.isclose(np.trapezoid(P * (1 - P) * density, x), floors[first].squared, atol=1e-9)
entropy = -P * np.log(P) - (1 - P) * np.log1p(-P)
assert np.isclose(np.trapezoid(entropy * density, x), floors[first].log, atol=1e-7)

# %%
# Unequal widths: no sigmoid of a linear score is the posterior, and both stay above the floor, however many rows there
# are.

assert excess[second, "squared error"] > 0.005
assert excess[second, "cross-entropy"] > 0.05

# %%
figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.6), sharey=True, layout="constrained")
with theme() as look:
    for ax, (name, population) in zip(axes, populations.items(), strict=True):
        ax.plot(t[::5], population.posterior(t[::5])[:, 1], "o", color=look.grey, ms=4, label="$P(1 | x)$")
        for k, (how, model) in enumerate(learnt[name].items()):
            said = f"{how}: {excess[name, how]:.2g} above its floor"
            ax.plot(t, model.predict_proba(t)[:, 1], ("-", "--")[k], color=look.colours[k], lw=2, label=said)
        ax.set(
            xlabel="$x$",
            ylabel="probability of class 1" if ax is axes[0] else "",
            ylim=(-0.03, 1.35),
            yticks=np.linspace(0, 1, 6),
        )
        ax.set_title(name, fontsize=10.5)
        ax.legend(frameon=False, loc="upper left")
figure.set_label(" ".join(f"{name}, {how}: {value:.2g} above the floor." for (name, how), value in excess.items()))
plt.show()
