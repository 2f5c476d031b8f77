"""
Slide 26: the logistic sigmoid
==============================

Notes 003, slide 26. P(C₁ | φ) = σ(wᵀφ): a score of any size becomes a probability, ½ at the boundary, and σ(−a) is
1 − σ(a). Look at the shares on the right: of the rows with about the same score, about σ(score) are of C₁, although
nothing was assumed of what the rows of a class look like.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LogisticRegression
from separatrix.plots import ResponseDisplay
from separatrix.plots.style import current

rng = np.random.default_rng(0)
x = rng.uniform(0, 10, 1000)
t = (rng.random(1000) < 1 / (1 + np.exp(-1.2 * (x - 5.5)))).astype(int)
model = LogisticRegression().fit(x[:, None], t)
assert model.verdict_.check(x[:, None], t)

# %%
# The properties of σ that the notes use, of the fitted probabilities themselves.

a, p = model.decision_function(x[:, None]), model.predict_proba(x[:, None])[:, 1]
assert np.allclose(p, 1 / (1 + np.exp(-a)), rtol=1e-12)
assert np.allclose(a, np.log(p / (1 - p)), atol=1e-9)
boundary = -model.intercept_[0] / model.coef_[0, 0]
assert np.isclose(model.predict_proba([[boundary]])[0, 1], 0.5)
near = model.predict_proba([[boundary - 1e-4], [boundary + 1e-4]])[:, 1]
assert np.isclose((near[1] - near[0]) / 2e-4, model.coef_[0, 0] / 4, rtol=1e-6)  # σ′(0) = ¼
print(model.rule_)

# %%
# Slide 28: at the best w the gradient Σ(y − t)φ is zero, so that the mean probability is the share of C₁, exactly. The
# weights that made the rows, 1.2 and −6.6, are within two standard errors of those found.

assert np.isclose(p.mean(), t.mean(), atol=1e-9)
assert np.allclose((p - t) @ x / 1000, 0, atol=1e-7)
inference = model.inference(x[:, None], t)
assert (np.abs([model.intercept_[0] + 6.6, model.coef_[0, 0] - 1.2]) < 2 * inference.standard_errors).all()

# %%
# Left: score and probability along x, as a display. Right: the same against the score, with the shares of ten groups.

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
display = ResponseDisplay.from_estimator(model, x[::8, None], t[::8], ax=left, title="along x: score and probability")
left.set_xlabel("x")
groups = np.array_split(np.argsort(a), 10)
middles, shares = [a[rows].mean() for rows in groups], np.array([t[rows].mean() for rows in groups])
off = np.abs(shares - [p[rows].mean() for rows in groups])
assert off.max() < 0.05
z = np.linspace(-7, 7, 201)
right.plot(z, 1 / (1 + np.exp(-z)), color=current().ink, lw=2.2, label="σ(a) = 1/(1 + exp(−a))")
right.plot(middles, shares, "s", ms=9, color=current().colours[1], mec="white", label="shares of $C_1$, 100 rows each")
right.axhline(0.5, color=current().grey, lw=0.8, ls=":")
right.axvline(0, color=current().grey, lw=0.8, ls=":")
right.set(xlabel="score a = wᵀφ", ylabel="P($C_1$ | φ)", title="against the score: the sigmoid", ylim=(-0.05, 1.05))
right.legend(loc="upper left", frameon=False)
fig.set_label(f"{display.alt_text} Shares of ten groups of rows are at most {off.max():.2f} away from the sigmoid.")
plt.show()
