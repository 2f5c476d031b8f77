"""
Figure 8.1: nine positive and nine negative examples
====================================================

Notes 000, figure 8.1: points in the plane and a line that does not perfectly separate them. The text names two ways
to such a line: work directly at the number of mistakes, or estimate P(y | x) and cut at one half. Look at the rings,
the points on the wrong side: the two ways disagree about one of them. (The notes do not print the points; these are
ours.)
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LogisticRegression, ZeroOneClassifier, separability
from separatrix.plots import DecisionRegionsDisplay

positive = [(2, 3.5), (3, 4.5), (3.5, 2.75), (4.5, 4), (5, 2.5), (5.5, 3.75), (4, 5.25), (2.25, 1.5), (6, 1.5)]
negative = [(0.5, 2.5), (1, 1), (1.25, 3.25), (2.5, 0.5), (3, 2), (0.75, 4.5), (1.75, 2.25), (4, 0.75), (3.75, 3.5)]
X = np.array(positive + negative)
y = np.array(["positive"] * 9 + ["negative"] * 9)

# %%
# No line separates them at all, and four of the points prove it: a point of one hull is a point of the other.

found = separability(X, y)
assert found.kind == "overlap"
assert found.check(X, y)
assert len(found.certificate.crossing.rows) == 4
print(found)

# %%
# The first way: the fewest mistakes. All divisions of the plane were counted, so that two is proved to be the least.

fewest = ZeroOneClassifier().fit(X, y)
assert fewest.mistakes_ == (2, 2)
assert fewest.verdict_.check(X, y)
print(fewest.rule_)

# %%
# The second way: maximum likelihood. The line is where P = ½, and it makes three mistakes: likelihood does not count
# them, it weighs how far the points are on either side.

likely = LogisticRegression().fit(X, y)
assert likely.verdict_.check(X, y)
assert (likely.predict(X) != y).sum() == 3
assert np.array_equal(likely.predict(X), likely.classes_[(likely.predict_proba(X)[:, 1] > 0.5).astype(int)])
print(likely.rule_)

# %%
# The same points, both lines.

figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.9), layout="constrained")
count = DecisionRegionsDisplay.from_estimator(fewest, X, y, ax=axes[0], title="Fewest mistakes: 2 of 18")
shade = DecisionRegionsDisplay.from_estimator(
    likely, X, y, probabilities=True, ax=axes[1], title="Maximum likelihood: 3 of 18"
)
for ax in axes:
    ax.set(xlabel="$x_1$", ylabel="$x_2$")
figure.set_label(f"Left: {count.alt_text} Right: {shade.alt_text}")
plt.show()
