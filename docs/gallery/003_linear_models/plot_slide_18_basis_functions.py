"""
Slide 18: separable in the features, not in the rows
====================================================

Notes 003, slide 18. A ring around a disc: no line parts them, which `separability` proves. With the fixed feature ‖x‖²
beside x the rows lie on a bowl, and a plane cuts the disc off. Look at the circle on the left: it is that plane, seen
from above. Every linear learner can be used on the features as it is.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LeastSquaresClassifier, LogisticRegression, MaxMarginClassifier, Perceptron, separability
from separatrix.features import Lift
from separatrix.plots.style import look

rng = np.random.default_rng(2)
angle, radius = rng.uniform(0, 2 * np.pi, 120), np.concatenate([rng.uniform(0, 1, 60), rng.uniform(1.4, 2.2, 60)])
X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
y = np.repeat(["disc", "ring"], 60)

# %%
# The proofs: a point of both hulls before, a plane between them after.

bowl = Lift("square")
features = bowl.fit_transform(X)
assert np.allclose(features, np.column_stack([X, (X**2).sum(axis=1)]))
before, after = separability(X, y), separability(features, y)
assert before.kind == "overlap"
assert after.kind == "separated"
assert before.check(X, y)
assert after.check(features, y)

# %%
# On the rows themselves logistic regression is hardly better than chance; on the features all learners are right.

plain = LogisticRegression().fit(X, y)
print(f"linear in x: {plain.score(X, y):.0%} right")
assert plain.score(X, y) < 0.7
widest = MaxMarginClassifier().fit(features, y)
for learner in (Perceptron(), LogisticRegression(l2=1e-3), LeastSquaresClassifier(), widest):
    assert learner.fit(features, y).score(features, y) == 1.0

fig = plt.figure(figsize=(10.4, 4.8))
flat, solid = fig.add_axes((0.07, 0.12, 0.4, 0.78)), fig.add_axes((0.46, 0.0, 0.5, 0.92), projection="3d")
t = np.linspace(-2.4, 2.4, 201)
grid = np.stack(np.meshgrid(t, t), axis=-1)
score = widest.decision_function(bowl.transform(grid.reshape(-1, 2))).reshape(201, 201)
flat.contourf(t, t, score, [-np.inf, 0, np.inf], colors=[look(0).colour, look(1).colour], alpha=0.15)
flat.contour(t, t, score, [0], colors="black", linewidths=1.8)
for k, label in enumerate(("disc", "ring")):
    flat.plot(*X[y == label].T, look(k).marker, color=look(k).colour, ms=6, mec="white", mew=0.4, label=label)
    solid.plot(*features[y == label].T, look(k).marker, color=look(k).colour, ms=5, mec="white", mew=0.3)
(a, b, c), d = widest.coef_[0], widest.intercept_[0]
ends = np.meshgrid([-2.2, 2.2], [-2.2, 2.2])
solid.plot_surface(*ends, -(a * ends[0] + b * ends[1] + d) / c, color="grey", alpha=0.4)
flat.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal", title="curved in x …")
flat.legend(loc="upper right")
solid.set(xlabel="$x_1$", ylabel="$x_2$", zlabel="‖x‖²", xticks=[-2, 0, 2], yticks=[-2, 0, 2], zticks=[0, 2, 4])
solid.set_title("… linear in (x, ‖x‖²)", y=1.0)
solid.view_init(14, -60)
fig.set_label(
    f"120 rows, a disc in a ring. Left: a closed curve separates them. Right: on the bowl ‖x‖² over x the plane "
    f"{widest.rule_.equation(3)} does, with margin {widest.margin_:.3f}."
)
plt.show()
