"""
Figure 4.3 and example 4-3: least squares, misled by easy points
================================================================

Notes 004, figure 4.3 and example 4-3: a line is fitted to y = ±1 by least squares, and its sign taken (a). Then three
positive points near x = 6 are added, which that line already gets right (b). Look at the boundary, the black square:
it moves to the right, and two more points are wrong, because the line tries to be 1, and no more, at the new points.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LeastSquaresClassifier, LogisticRegression, ZeroOneClassifier, scenes
from separatrix.plots.style import current, look

before, after, what = scenes.far_and_right()
fits = [LeastSquaresClassifier().fit(*rows) for rows in (before, after)]


def mistakes(model, rows):
    """How many rows the model gets wrong."""
    return int((model.predict(rows.X) != rows.y).sum())


# %%
# Two of nine (the caption's 2/7 is a misprint), where one of nine is possible; then four of twelve. The old line makes
# two mistakes on the new points too, but fits their values worse.

assert mistakes(fits[0], before) == 2
assert len(before.y) == 9
assert ZeroOneClassifier().fit(*before).mistakes_ == (1, 1)
assert mistakes(fits[0], after) == 2
assert mistakes(fits[1], after) == 4
assert len(after.y) == 12
errors = [np.mean((after.y - model.decision_function(after.X)) ** 2) for model in fits]
print(f"Mean squared error on twelve points: the old line {errors[0]:.3f}, the new one {errors[1]:.3f}.")
assert np.allclose(errors, [1.4424, 0.5452], atol=1e-3)
for model, rows in zip(fits, (before, after), strict=True):
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(*rows)

# %%
# A surrogate that does not mind being right by far, the likelihood, leaves its boundary where it was.

at = [-model.intercept_[0] / model.coef_[0, 0] for model in fits]
calm = [-m.intercept_[0] / m.coef_[0, 0] for m in (LogisticRegression().fit(*rows) for rows in (before, after))]
print(f"Boundaries: least squares {at[0]:.3f}, then {at[1]:.3f}; likelihood {calm[0]:.3f}, then {calm[1]:.3f}.")
assert np.allclose(at, [-0.7770, -0.1097], atol=1e-4)
assert abs(calm[1] - calm[0]) < 3e-4

# %%
# Both panels of the figure: the response dotted, its sign dashed, rings around the mistakes.

fig, axes = plt.subplots(2, 1, figsize=(7.2, 6.2), sharex=True, layout="constrained")
x = np.linspace(-3.6, 6.9, 1051)
for ax, rows, model, edge, letter in zip(axes, (before, after), fits, at, "ab", strict=True):
    wrong = model.predict(rows.X) != rows.y
    for k, label in enumerate((-1, 1)):
        points = rows.X[rows.y == label, 0]
        ax.scatter(points, np.full(len(points), label), s=46, c=look(k).colour, marker=look(k).marker, zorder=3)
    ax.scatter(rows.X[wrong, 0], rows.y[wrong], s=150, fc="none", ec=current().ink, zorder=4, label="wrong")
    ax.plot(x, model.decision_function(x[:, None]), ":", color=current().ink, lw=2, label="least squares r(x)")
    ax.plot(x, model.rule_.side(x[:, None]), "--", color=look(2).colour, lw=1.8, label="sign(r(x))", zorder=2)
    ax.plot(edge, 0, "s", color="black", ms=9, zorder=5, label="boundary")
    ax.set(ylim=(-1.7, 2.2), yticks=(-1, 0, 1), ylabel="y", xlim=(x[0], x[-1]))
    ax.set_title(f"({letter}) {wrong.sum()} of {len(rows.y)} wrong, boundary at −{-edge:.2f}")
axes[1].plot(x, fits[0].decision_function(x[:, None]), ":", color=current().grey, lw=1, label="r(x) of (a)", zorder=1)
axes[1].annotate("three easy points added", (6, 1.05), (5.2, 1.75), ha="center", arrowprops={"arrowstyle": "->"})
axes[1].set_xlabel("x₁")
axes[1].legend(loc="lower right", frameon=False, ncols=2)

fig.set_label(
    f"A least-squares line through nine points of class ±1 changes sign at {at[0]:.2f} and errs on "
    f"{mistakes(fits[0], before)}. With three positive points near 6 added it changes sign at {at[1]:.2f} and errs on "
    f"{mistakes(fits[1], after)} of {len(after.y)}."
)
