"""What least squares and discriminants say of themselves."""

from __future__ import annotations

from ..least_squares import Normal, Solution
from ..verdict import listed
from .words import Words

PROVED = 1e-10
"""The relative gap that is called proved."""


def is_proved(solution: Solution, normal: Normal, tol: float = PROVED) -> bool:
    """gap ≤ tol · value, or below the rounding of the targets' own squares."""
    return solution.gap <= max(tol * solution.value, 1e-14 * normal.square)


def solved(solution: Solution, normal: Normal, aliased: tuple[str, ...]) -> Words:
    """The normal equations are solved."""
    shortest = (
        f" Of all weights that reach it these are the shortest: {listed(aliased)} could be left out." if aliased else ""
    )
    return Words(
        f"Optimal: the mean squared error {solution.value:.8g}{_penalised(normal)} is at most {solution.gap:.2g} above "
        f"the least there is. No coefficient is off by more than {float(solution.coefficients.max()):.2g}." + shortest,
        "",
    )


def unsure(solution: Solution, normal: Normal) -> Words:
    """Rounding hides the minimum."""
    if not solution.sure:
        return Words(
            f"Not proved: the mean squared error is {solution.value:.8g}, and l2={normal.l2:g} is below the rounding "
            "of the columns' products, so that it does not tell which of many weights are meant.",
            "Use l2=0, which gives the shortest weights, or a larger l2.",
        )
    return Words(
        f"Not proved: the mean squared error {solution.value:.8g} may be {solution.gap:.2g} above the least there is, "
        "because some columns are nearly combinations of others.",
        "Leave one of them out, replace them by their differences, or penalise with l2 > 0.",
    )


def walked(solution: Solution, normal: Normal, passes: float, tol: float) -> Words:
    """The delta rule came to an end."""
    far = f"the mean squared error {solution.value:.8g}{_penalised(normal)} is {solution.gap:.3g} above the least"
    if is_proved(solution, normal, tol):
        return Words(f"Optimal: after {passes:.3g} passes of the delta rule {far}, at most.", "")
    return Words(
        f"Not finished: after {passes:.3g} passes of the delta rule {far} there is.",
        "Use solver='closed', which needs one pass; or scale the columns, lower learning_rate, raise max_passes.",
    )


def diverged(passes: float) -> Words:
    """The steps were too long."""
    return Words(
        f"Diverged: in pass {passes:.3g} of the delta rule the weights overflowed; those before that pass are kept.",
        "Lower learning_rate below 1/‖x‖² of the longest row, scale the columns, or use solver='closed'.",
    )


def online(steps: int) -> Words:
    """Rows are still coming."""
    return Words(
        f"Learning row by row: {steps} rows so far, each seen once; more may come, so nothing is proved.",
        "For a proved minimum fit all rows with solver='closed', whose partial_fit is exact.",
    )


def estimated(classes: int, columns: int, shared: bool, shrinkage: str, certain: tuple[str, ...] = ()) -> Words:
    """The parameters are computed."""
    told = listed(certain) if certain else ""
    kind = "one covariance for all classes" if shared else "a covariance for each class"
    return Words(
        f"Optimal: the priors, the means of {classes} classes and {kind} of {columns} columns{shrinkage} are what the "
        "rows give; nothing was searched for."
        + (
            f" Within the classes {told} vary with other columns only, or not at all, yet class means differ there: "
            "what no Gaussian can use is left out."
            if certain
            else ""
        ),
        "Give the covariance width there with shrinkage='ledoit-wolf' or a number above 0, or ask separability(X, y)."
        if certain
        else "",
    )


def _penalised(normal: Normal) -> str:
    return f" (with {normal.l2:g}/2·‖w‖²)" if normal.l2 > 0 else ""
