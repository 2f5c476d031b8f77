"""
At least m of d
===============

Notes 000, §8.2.2: a perceptron can say "at least m of d features are on". All weights are one, and the intercept is
−m on {0, 1} and d − 2m on {−1, +1}, where the rule is ≥ 0. Half a step further, ½ − m and d − 2m + 1, the rule is the
same for ≥ 0 and for > 0. Look at the gap between m − 1 and m: every line in the gap is right, and ours is in its
middle.
"""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LinearRule, MaxMarginClassifier, Perceptron
from separatrix.plots import theme

# %%
# Every m of every d up to six, on all corners of the cube, in both codings: the rule is right everywhere, and so are
# the weights of the notes with ≥ 0.

for d in range(1, 7):
    corners = np.array(list(product([0, 1], repeat=d)))
    on = corners.sum(axis=1)
    for m in range(d + 1):
        assert np.array_equal(LinearRule.at_least(m, d).classify(corners), on >= m)
        assert np.array_equal(LinearRule.at_least(m, d, values=(-1, 1)).classify(2 * corners - 1), on >= m)
        assert np.array_equal(on - m >= 0, on >= m)
        assert np.array_equal((2 * corners - 1).sum(axis=1) + d - 2 * m >= 0, on >= m)

# %%
# With > 0 the intercept of the notes is one too strict: it loses the ten corners with exactly m = 3 of d = 5 on.

d, m = 5, 3
corners = np.array(list(product([0, 1], repeat=d)))
y = (corners.sum(axis=1) >= m).astype(int)
rule = LinearRule.at_least(m, d)
strict = LinearRule(np.ones(d), -float(m)).classify(corners)
assert (strict != y).sum() == 10

# %%
# It can be learnt too. The classes are separated, so the perceptron ends; and the rule in the middle of the gap is the
# one of the largest margin, ½/√5.

model = Perceptron().fit(corners, y)
assert model.verdict_.status == "separated"
widest = MaxMarginClassifier().fit(corners, y)
assert np.isclose(widest.margin_, 0.5 / np.sqrt(d), atol=1e-9)
assert np.allclose(widest.coef_ / widest.intercept_, rule.weights / rule.intercept, atol=1e-9)
print(model.rule_, "after", model.mistakes_.sum(), "mistakes")

with theme() as look:
    figure, ax = plt.subplots(figsize=(9, 4.6), layout="constrained")
    ax.axvspan(m - 1, m, color=look.mark, alpha=0.5, lw=0, label="every cut in the gap is right")
    counts = np.bincount(corners.sum(axis=1))
    for k, height in enumerate(counts):
        ax.plot(np.full(height, k), np.arange(1, height + 1), "o^"[k >= m], color=look.colours[int(k >= m)], ms=9)
    ax.axvline(m - 0.5, color=look.ink, lw=2, label="½ − m: the middle of it")
    ax.axvline(m, color=look.grey, lw=1.6, ls="--", label="−m: right for ≥ 0, wrong for > 0")
    ax.set(xlabel="how many of the five features are on", ylabel="corners of the cube", ylim=(0, 11))
    ax.set_title("At least 3 of 5: a linear rule on the 32 corners of a cube")
    figure.legend(loc="outside lower center", frameon=False, ncols=3)
figure.set_label(
    f"The 32 corners of a cube of five dimensions by how many features are on, {', '.join(map(str, counts))} corners; "
    f"the rule of at least {m} cuts between {m - 1} and {m}, at {-rule.intercept}; the cut at {m} meets ten corners."
)
plt.show()
