"""A rule of many classes made of linear rules of two, by vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SettingError
from ..numerics.arrays import Floats
from .coding import Signs, agreements, elected, totals, undecided
from .linear_rule import LinearRule


@dataclass(frozen=True, eq=False)
class CodedRule:
    """ŷ = the class with the most votes of sign(xᵀwₗ + bₗ); of several, the one with the largest Σₗ Mₖₗ(xᵀwₗ + bₗ).

    The regions are cut out by L hyperplanes; where votes are equal they are *ambiguous*. A rule with one row of weights
    for each class has no such regions: see `discriminants`.  [003 slides 11, 12]

    >>> rule = CodedRule([[1.0], [1.0], [1.0]], [-1, -2, -3], [[-1, -1, 0], [1, 0, -1], [0, 1, 1]], ("a", "b", "c"))
    >>> rule.classify([[0.0], [1.5], [2.5], [4.0]]).tolist()
    ['a', 'b', 'b', 'c']
    >>> rule.votes([[1.5], [2.5]]).tolist(), rule.ambiguous([[1.5], [2.5]]).tolist()
    ([[1, 2, 0], [0, 2, 1]], [False, False])
    """

    weights: Floats
    """L × d, a row for each classifier."""
    intercept: Floats
    """L numbers, one for each classifier."""
    code: Signs
    """K × L of −1, 0 and +1."""
    classes: tuple[Any, ...]
    """What is predicted, in the order of the rows of the code."""
    columns: tuple[str, ...] = ()
    """The names of the columns; x0, x1, … where they have none."""

    def __post_init__(self) -> None:
        weights, intercept = np.array(self.weights, np.float64), np.array(self.intercept, np.float64)
        code = np.array(self.code, np.int8)
        if weights.ndim != 2 or intercept.shape != weights.shape[:1] or code.shape[1:] != weights.shape[:1]:
            raise SettingError(
                "weights", self.weights,
                "a row of weights, an intercept and a column of the code are needed for each classifier.",
                f"weights have shape {weights.shape}, intercept {intercept.shape} and code {code.shape}:",
            )  # fmt: skip
        if len(code) != len(self.classes):
            raise SettingError(
                "code", self.code, "give one for each.",
                f"code has {len(code)} rows and there are {len(self.classes)} classes:",
            )  # fmt: skip
        columns = tuple(map(str, self.columns)) or tuple(f"x{j}" for j in range(weights.shape[1]))
        for array in (weights, intercept, code):
            array.setflags(write=False)
        for name, value in (("weights", weights), ("intercept", intercept), ("code", code), ("columns", columns)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "classes", tuple(self.classes))

    def score(self, X: Any) -> Floats:
        """sₗ = xᵀwₗ + bₗ, n × L."""
        return self._scorer().score(X).reshape(-1, len(self.weights))

    def votes(self, X: Any) -> NDArray[np.intp]:
        """How many classifiers are of each class's mind, n × K."""
        return agreements(self.code, self.score(X))

    def ambiguous(self, X: Any) -> NDArray[np.bool_]:
        """Whether the most votes are not those of one class alone."""
        return undecided(self.votes(X))

    def classify(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        s = self.score(X)
        return np.asarray(self.classes)[elected(agreements(self.code, s), totals(self.code, s))]  # type: ignore[no-any-return]

    def member(self, place: int) -> LinearRule:
        """One of the rules of two: +1 where its score is positive."""
        return LinearRule(self.weights[place], float(self.intercept[place]), (-1, 1), self.columns)

    def discriminants(self) -> LinearRule:
        """argmaxₖ Σₗ Mₖₗ(xᵀwₗ + bₗ): one linear function for each class, no ambiguous region, every region convex."""
        M = self.code.astype(np.float64)
        return LinearRule(M @ self.weights, M @ self.intercept, self.classes, self.columns)

    def equation(self, digits: int = 6) -> str:
        """A line for each classifier: b or c against a: 3·height − 5 > 0."""
        rules = (self.member(place).equation(digits).removesuffix(" = 0") for place in range(len(self.weights)))
        return "\n".join(f"{said}: {text} > 0" for said, text in zip(self.duels(), rules, strict=True))

    def duels(self) -> list[str]:
        """Which classes each classifier has on its sides, as text."""
        return [duel(column, self.classes) for column in self.code.T]

    def __str__(self) -> str:
        return f"the class with the most votes of {'; '.join(self.equation().splitlines())}"

    def _scorer(self) -> LinearRule:
        """The scores of all classifiers as those of one rule; a single one as those of two classes."""
        if len(self.weights) == 1:
            return LinearRule(self.weights[0], float(self.intercept[0]), columns=self.columns)
        return LinearRule(self.weights, self.intercept, tuple(range(len(self.weights))), self.columns)


def duel(column: Any, classes: Any) -> str:
    """b against a; b or c against a; b against the rest."""
    plus = [str(label) for label, sign in zip(classes, column, strict=True) if sign > 0]
    minus = [str(label) for label, sign in zip(classes, column, strict=True) if sign < 0]
    whole = len(plus) + len(minus) == len(classes)
    against = "the rest" if whole and len(plus) == 1 < len(minus) else " or ".join(minus)
    return f"{' or '.join(plus)} against {against}"
