"""The warnings a fit can give."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from ..results.verdict import Verdict


class FitWarning(UserWarning):
    """What a fit that did not reach its aim says: the text of its verdict."""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, where the warning was made of one."""
        said = self.args[0] if self.args else None
        return said if isinstance(said, Verdict) else None


class SeparationWarning(FitWarning):
    """The classes can be separated, so that maximum likelihood has no finite answer."""


class NotSeparableWarning(FitWarning):
    """No rule separates the classes, so that there is no margin to be made large."""


class BudgetWarning(FitWarning, ConvergenceWarning):  # type: ignore[misc]
    """The fit ended with neither an optimum nor its absence proved."""
