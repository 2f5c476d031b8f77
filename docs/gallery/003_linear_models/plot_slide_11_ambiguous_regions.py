"""
Slide 11: votes of two-class rules leave regions open
=====================================================

Notes 003, slide 11. Three classes from classifiers of two: K − 1 = 2 of them, each a class against the rest, or
K(K − 1)/2 = 3 duels. Look at the hatched regions: there both classifiers claim a point, or each class wins one duel.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LeastSquaresClassifier, OneVsOne, OneVsRest
from separatrix.plots import DecisionRegionsDisplay

# %%
# Three long clouds around a middle that belongs to none of them, each turned a little out of the radius.

rng = np.random.default_rng(0)
clouds = []
for angle in np.pi / 2 + 2 * np.pi * np.arange(3) / 3:
    long = np.array([np.cos(angle + 0.6), np.sin(angle + 0.6)])
    shape = np.array([1.5 * long, [-0.35 * long[1], 0.35 * long[0]]])
    clouds.append(3.4 * np.array([np.cos(angle), np.sin(angle)]) + rng.normal(size=(30, 2)) @ shape)
X, y = np.vstack(clouds), np.repeat(["A", "B", "C"], 30)

# %%
# `votes` counts how many classifiers speak for each class, and `ambiguous` says where no class has the most alone.

rest = OneVsRest(LeastSquaresClassifier(), classifiers="K-1").fit(X, y)
duels = OneVsOne(LeastSquaresClassifier()).fit(X, y)
assert rest.code_.shape == (3, 2)
assert duels.code_.shape == (3, 3)

grid = np.stack(np.meshgrid(np.linspace(-5, 5, 101), np.linspace(-5, 5, 101)), axis=-1).reshape(-1, 2)
both, even = rest.ambiguous(grid), duels.ambiguous(grid)
assert (rest.votes(grid)[both] == [1, 1, 0]).all()  # A and B claim it; C, without a classifier, gets what is left
assert (duels.votes(grid)[even] == 1).all()  # A beats B beats C beats A
assert (duels.votes(grid).sum(axis=1) == 3).all()
print(f"open: {both.mean():.1%} of the square with 2 classifiers, {even.mean():.1%} with 3 duels")
assert 0.03 < both.mean() < 0.3
assert 0.005 < even.mean() < 0.1

# %%
# The colour of a hatched region is the class that is predicted there all the same, by the largest score.

fig, axes = plt.subplots(1, 2, figsize=(10, 5.3), layout="constrained", sharey=True)
titles = {"one against the rest, 2 classifiers:\nboth claim what is hatched": rest}
titles |= {"one against one, 3 duels:\neach class wins one where it is hatched": duels}
said = []
for ax, (title, model) in zip(axes, titles.items(), strict=True):
    display = DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax, title=title, legend=False, fine=501)
    said.append(display.alt_text)
for ax in axes:
    ax.set(xlabel="$x_1$", ylabel="$x_2$" if ax is axes[0] else "")
handles, _ = axes[0].get_legend_handles_labels()
names = ["class A", "class B", "class C", "classified wrongly", "left open by the votes"]
fig.legend(handles, names, loc="outside lower center", ncols=5, frameon=False)
fig.set_label(" ".join(said))
plt.show()
