"""What least squares and discriminants say of themselves."""

from __future__ import annotations

from ...fitting.closed.least_squares import NormalEquations, Solution
from ...results.verdict import listed
from ...wording import call, setting
from ..logistic.words import Words

PROVED = 1e-10
"""The relative gap that is called proved."""


def is_proved(solution: Solution, normal: NormalEquations, tol: float = PROVED) -> bool:
    """gap ≤ tol · value, or below the rounding of the targets' own squares."""
    return solution.gap <= max(tol * solution.value, 1e-14 * normal.square)


def solved(solution: Solution, normal: NormalEquations, aliased: tuple[str, ...]) -> Words:
    """The normal equations are solved."""
    shortest = (
        f" Of all weights that reach it these are the shortest: {listed(aliased)} could be left out, combinations of "
        "other columns as they are."
        if aliased
        else ""
    )
    return Words(
        f"Optimal: the mean squared error {solution.value:.8g}{_penalised(normal)} is at most {solution.gap:.2g} above "
        f"the least there is. No coefficient is off by more than {float(solution.coefficients.max()):.2g}." + shortest,
        "",
    )


def unsure(solution: Solution, normal: NormalEquations) -> Words:
    """Rounding hides the minimum."""
    if not solution.sure:
        return Words(
            f"Not proved: the mean squared error is {solution.value:.8g}, and {setting('l2', normal.l2)} is below the "
            "rounding of the columns' products, so that it does not tell which of many weights are meant.",
            f"Use {setting('l2', 0)}, which gives the shortest weights, or a larger {setting('l2')}.",
        )
    return Words(
        f"Not proved: the mean squared error {solution.value:.8g} may be {solution.gap:.2g} above the least there is, "
        "because some columns are nearly combinations of others.",
        f"Leave one of them out, replace them by their differences, or penalise with {setting('l2')} > 0.",
    )


def nearly(solution: Solution, aliased: tuple[str, ...], left: float) -> Words:
    """Columns were left out that are no combinations of others, only nearly."""
    are = "is" if len(aliased) == 1 else "are"
    return Words(
        f"Not proved: {listed(aliased)} {are} so nearly a combination of other columns (all but {left:.2g} of the "
        f"spread) that products of columns do not tell, and was left out. Without it the mean squared error "
        f"{solution.value:.8g} is the least; with it there may be less.",
        "Replace it by its difference from what it nearly is, centre the columns, or leave one of them out.",
    )


def stepped(solution: Solution, normal: NormalEquations, passes: float, tol: float) -> Words:
    """The delta rule came to an end."""
    far = f"the mean squared error {solution.value:.8g}{_penalised(normal)} is {solution.gap:.3g} above the least"
    if is_proved(solution, normal, tol):
        return Words(f"Optimal: after {passes:.3g} passes of the delta rule {far}, at most.", "")
    return Words(
        f"Not finished: after {passes:.3g} passes of the delta rule {far} there is.",
        f"Use {setting('solver', 'closed')}, which needs one pass; or scale the columns, lower "
        f"{setting('learning_rate')}, raise {setting('max_passes')}.",
    )


def diverged(passes: float) -> Words:
    """The steps were too long."""
    return Words(
        f"Diverged: in pass {passes:.3g} of the delta rule the weights overflowed; those before that pass are kept.",
        f"Lower {setting('learning_rate')} below 1/‖x‖² of the longest row, scale the columns, or use "
        f"{setting('solver', 'closed')}.",
    )


def online(steps: int) -> Words:
    """Rows are still coming."""
    return Words(
        f"Learning row by row: {steps} rows so far, each seen once; more may come, so nothing is proved.",
        f"For a proved minimum fit all rows with {setting('solver', 'closed')}, whose partial_fit is exact.",
    )


def estimated(
    classes: int, columns: int, shared: bool, shrinkage: str, certain: tuple[str, ...] = (),
    left_out: tuple[str, ...] = (),
) -> Words:  # fmt: skip
    """The parameters are computed; what of the columns no Gaussian could use."""
    kind = "one covariance for all classes" if shared else "a covariance for each class"
    return Words(
        f"Optimal: the priors, the means of {classes} classes and {kind} of {columns} columns{shrinkage} are what the "
        "rows give; nothing was searched for." + _flat(certain, left_out),
        f"Give the covariance width there with {setting('shrinkage', 'ledoit-wolf')} or a number above 0, or ask "
        f"{call('separability(X, y)')}."
        if certain
        else "",
    )


def _flat(certain: tuple[str, ...], left_out: tuple[str, ...]) -> str:
    """Columns without spread of their own within the classes."""
    if certain:
        only = f"{listed(certain)} {'varies' if len(certain) == 1 else 'vary'} with other columns only"
        return (
            f" Within the classes {only}, or not at all, to within 10⁻⁵ of the spread; yet class means differ there: "
            "what no Gaussian can use is left out."
        )
    if left_out:
        only = f"{listed(left_out)} {'varies' if len(left_out) == 1 else 'vary'} with other columns only"
        return f" Within the classes {only}, to within 10⁻⁵ of the spread: what is left of that is not used."
    return ""


def _penalised(normal: NormalEquations) -> str:
    return f" (with {normal.l2:g}/2·‖w‖²)" if normal.l2 > 0 else ""
