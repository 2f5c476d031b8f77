"""
Slide 16: least squares and outliers
====================================

Notes 003, slide 16. Rows far on their own side are no trouble to logistic regression, for which they are right already;
least squares counts being far right as an error, and turns its boundary towards them. Look at the middle panel. The
right one is the other side of the coin, which the slide does not show: one row far on the wrong side moves the
likelihood too, but hardly the squared error of σ, which is bounded.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LeastSquaresClassifier, LogisticRegression
from separatrix.plots.style import current, look

rng = np.random.default_rng(3)
blue, orange = rng.normal(size=(50, 2)) * 0.8 + [-1.3, 1.1], rng.normal(size=(50, 2)) * 0.8 + [1.1, -0.7]
far = np.column_stack([np.linspace(6.5, 8.5, 12), np.linspace(-7, -6, 12) + 0.4 * rng.normal(size=12)])
scenes = {
    "as they come": (np.vstack([blue, orange]), np.repeat([0, 1], 50)),
    "12 rows far on their own side": (np.vstack([blue, orange, far]), np.repeat([0, 1], [50, 62])),
    "one row far on the wrong side": (np.vstack([blue, orange, [[-9.0, 0.5]]]), np.repeat([0, 1], [50, 51])),
}
learners = {
    "least squares": LeastSquaresClassifier(),
    "logistic regression": LogisticRegression(),
    "squared error of σ": LogisticRegression(objective="squared", random_state=0),
}

# %%
# By how many degrees each boundary turns, and how many of the hundred rows that are always there it gets wrong.

X0, y0 = scenes["as they come"]
turn, wrong, rules = {}, {}, {}
for name, learner in learners.items():
    for scene, (X, y) in scenes.items():
        rule = rules[scene, name] = learner.fit(X, y).rule_
        first = rules["as they come", name]
        cosine = rule.weights @ first.weights / (rule.norm * first.norm)
        turn[scene, name] = np.degrees(np.arccos(min(cosine, 1.0)))
        wrong[scene, name] = int((rule.classify(X0) != y0).sum())
        print(f"{name}, {scene}: turned by {turn[scene, name]:.1f}°, {wrong[scene, name]} of 100 wrong")

right, wrong_side = "12 rows far on their own side", "one row far on the wrong side"
assert turn[right, "least squares"] > 40
assert wrong[right, "least squares"] > 2 * wrong["as they come", "least squares"]
assert max(turn[right, name] for name in ("logistic regression", "squared error of σ")) < 0.1
assert turn[wrong_side, "logistic regression"] > 20
assert turn[wrong_side, "squared error of σ"] < 0.1
assert all(wrong[scene, "squared error of σ"] == 5 for scene in scenes)

# %%
# The lines on the rows. Under each title stands who turned, and by how much.

said = {}
for scene in scenes:
    turned = [f"{name} {turn[scene, name]:.0f}°" for name in learners if turn[scene, name] > 1]
    said[scene] = "turned: " + (", ".join(turned) or "none")
fig, axes = plt.subplots(1, 3, figsize=(12, 4.7), layout="constrained", sharey=True)
for ax, (scene, (X, y)) in zip(axes, scenes.items(), strict=True):
    for name, dash, colour in zip(learners, ("--", "-", ":"), current().colours[2:5], strict=True):
        rule = rules[scene, name]
        foot, slope = rule.foot([[0.0, 0.0]])[0], -rule.weights[0] / rule.weights[1]
        ax.axline(foot, slope=slope, ls=dash, color=colour, lw=2.6, label=name)
    for k in (0, 1):
        ax.plot(*X[y == k].T, look(k).marker, color=look(k).colour, ms=6, mec="white", mew=0.4, label=f"class {k}")
    ax.set(xlim=(-9.8, 9.2), ylim=(-8.5, 5), xlabel="$x_1$")
    ax.set_title(f"{scene}\n{said[scene]}", fontsize=10)
axes[0].set_ylabel("$x_2$")
axes[0].set_title("as they come: all three agree\n", fontsize=10)
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
fig.set_label(f"Boundaries of {', '.join(learners)}. " + " ".join(f"With {k}, {said[k]}." for k in (right, wrong_side)))
plt.show()
