"""
Four classes: the softmax
=========================

Notes 000, §8.4: blood types are four classes, and the last one is the pivot, w_K = 0. Each class has a probability,
all of them add up to one, and the largest wins: [0.1 0.2 0.6 0.1] is class 3. Look at the borders: where two classes
are equally probable there is a line, because the difference of two linear scores is linear. (The data are made up.)
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LinearRule, LogisticRegression
from separatrix.plots import DecisionRegionsDisplay, theme

# %%
# The example of the text, from scores: softmax(log p) = p, and with the last score at zero the others are log pₖ/p_K.

p = np.array([0.1, 0.2, 0.6, 0.1])
pivot = LinearRule(np.zeros((4, 1)), np.log(p / p[-1]), classes=(1, 2, 3, 4), probabilistic=True)
assert pivot.intercept[-1] == 0
assert np.allclose(pivot.probability([[0.0]]), p, atol=1e-15)
assert pivot.classify([[0.0]]).tolist() == [3]

# %%
# Four classes in the plane. Without a penalty the last class has the weights zero.

rng = np.random.default_rng(3)
types = np.array(["A", "AB", "B", "O"])
centres = np.array([[-1.6, 0.8], [0.2, 2.2], [1.8, 0.6], [0.0, -1.2]])
place = rng.choice(4, size=160, p=[0.35, 0.1, 0.2, 0.35])
X, y = centres[place] + rng.normal(size=(160, 2)), types[place]
model = LogisticRegression().fit(X, y)
assert model.verdict_.status == "optimal"
assert model.verdict_.check(X, y)
assert np.all(model.rule_.weights[-1] == 0)

# %%
# Probabilities add up to one, and the gradient Xᵀ(P − Y) is zero at the minimum, class by class (8.8 for K classes).

P, Y = model.predict_proba(X), (y[:, None] == types).astype(float)
lifted = np.column_stack([np.ones(len(X)), X])
assert np.allclose(P.sum(axis=1), 1, atol=1e-12)
assert np.abs(lifted.T @ (P - Y)).max() < 1e-6
assert np.array_equal(model.predict(X), types[P.argmax(axis=1)])

# %%
# Two classes are the same as before: W = [w, 0] is the rule of one w, with σ as its softmax.

two = np.isin(y, ["A", "O"])
one = LogisticRegression().fit(X[two], y[two])
pair = LinearRule([-one.coef_[0], [0, 0]], [-one.intercept_[0], 0], classes=("A", "O"), probabilistic=True)
assert np.allclose(pair.probability(X), one.predict_proba(X), atol=1e-12)

figure, axes = plt.subplots(1, 2, figsize=(10.5, 5), width_ratios=(1, 1.5), layout="constrained")
with theme() as look:
    bars = axes[0].bar(["1", "2", "3", "4"], p, color=look.grey, edgecolor=look.ink)
    bars[2].set_color(look.mark)
    bars[2].set_edgecolor(look.ink)
    axes[0].bar_label(bars, fmt="%.1f")
    axes[0].set(xlabel="class", ylabel="probability", ylim=(0, 0.7))
    axes[0].set_title("[0.1 0.2 0.6 0.1]: class 3", fontsize=10.5)
shown = DecisionRegionsDisplay.from_estimator(
    model, X, y, probabilities=True, ax=axes[1], title="Four blood types: lines where two are equally likely"
)
axes[1].set(xlabel="$x_1$", ylabel="$x_2$")
figure.set_label(f"Left: probabilities {p.tolist()} of classes 1 to 4, the third the largest. Right: {shown.alt_text}")
plt.show()
