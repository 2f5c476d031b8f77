"""
Points that matter more than others
===================================

Notes 000, §8.1.1, the weighted likelihood: each point has a cost cᵢ between 0 and 1, the gradient becomes XᵀC(y − p)
and the Hessian −XᵀCP(I − P)X. Look at the three lines: the less the negative examples cost, the further the line
moves into them, and the fewer positive ones are missed.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LogisticRegression
from separatrix.plots import theme

rng = np.random.default_rng(4)
X = np.vstack([rng.normal([0, 0], 1.0, (90, 2)), rng.normal([1.8, 1.2], 1.0, (30, 2))])
y = np.repeat([0, 1], [90, 30])
lifted = np.column_stack([np.ones(120), X])

# %%
# At the maximum the weighted gradient is zero, and the Hessian negative definite.

costs = (1.0, 0.25, 0.05)
models = []
for cost in costs:
    c = np.where(y == 1, 1.0, cost)
    model = LogisticRegression().fit(X, y, sample_weight=c)
    p = model.predict_proba(X)[:, 1]
    assert np.abs(lifted.T @ (c * (y - p))).max() < 1e-4
    assert np.linalg.eigvalsh(-lifted.T @ ((c * p * (1 - p))[:, None] * lifted)).max() < 0
    assert model.verdict_.status == "optimal"
    models.append(model)

# %%
# Only ratios matter, and a point that costs nothing is not there.

same = LogisticRegression().fit(X, y, sample_weight=np.where(y == 1, 0.5, 0.125))
assert np.allclose(same.coef_, models[1].coef_, atol=1e-5)
gone = LogisticRegression().fit(X, y, sample_weight=np.where(np.arange(120) < 40, 0.0, 1.0))
assert np.allclose(gone.coef_, LogisticRegression().fit(X[40:], y[40:]).coef_, atol=1e-5)

# %%
# What it buys: fewer positive points missed, more negative ones taken for positive.

missed = [int((model.predict(X) < y).sum()) for model in models]
false = [int((model.predict(X) > y).sum()) for model in models]
assert missed[0] > missed[1] > missed[2]
assert false[0] < false[1] < false[2]
print(missed, false)

with theme() as look:
    figure, ax = plt.subplots(figsize=(7.4, 5.6), layout="constrained")
    for k, name in enumerate(("negative", "positive")):
        ax.plot(*X[y == k].T, "o^"[k], color=look.colours[k], ms=6, label=f"{name} ({(y == k).sum()})")
    for cost, model, dash, m, f in zip(costs, models, ("-", "--", ":"), missed, false, strict=True):
        (w1, w2), b = model.coef_[0], model.intercept_[0]
        said = f"negative points cost {cost:g}: {m} missed, {f} false"
        ax.axline((0, -b / w2), slope=-w1 / w2, color=look.ink, ls=dash, lw=1.8, label=said)
    ax.set(xlabel="$x_1$", ylabel="$x_2$", xlim=(-3, 4.5), ylim=(-3, 3.8))
    ax.set_title("The cheaper the negative points, the fewer positive ones are missed", fontsize=10.5)
    handles, _ = ax.get_legend_handles_labels()
    figure.legend(handles=[*handles[2:], *handles[:2]], loc="outside lower center", frameon=False, ncols=2)
figure.set_label(
    " ".join(
        f"Cost {c:g} of negative points: {m} of 30 positive missed, {f} false."
        for c, m, f in zip(costs, missed, false, strict=True)
    )
)
plt.show()
