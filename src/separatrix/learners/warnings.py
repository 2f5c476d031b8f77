"""The warnings a fit can give."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning


class SeparationWarning(UserWarning):
    """The classes can be separated, so that maximum likelihood has no finite answer."""


class NotSeparableWarning(UserWarning):
    """No rule separates the classes, so that there is no margin to be made large."""


class BudgetWarning(ConvergenceWarning):  # type: ignore[misc]
    """The fit ended with neither an optimum nor its absence proved."""
