"""A linear rule: weights, an intercept, two classes. What every linear learner is once it has learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .numerics import sigmoid

Floats = NDArray[np.float64]
BLOCK = 4096


@dataclass(frozen=True, eq=False)
class LinearRule:
    """ŷ = classes[1] if xᵀw + b > 0 else classes[0].

    >>> rule = LinearRule.from_threshold([3.0, 4.0], 5.0, columns=("height", "width"))
    >>> print(rule.equation())
    3·height + 4·width − 5 = 0
    >>> rule.distance([[3.0, 4.0], [0.0, 0.0]]).tolist()
    [4.0, -1.0]
    >>> rule.classify([[3.0, 4.0], [0.0, 0.0]]).tolist()
    [1, 0]
    """

    weights: Floats
    intercept: float = 0.0
    classes: tuple[Any, Any] = (0, 1)
    columns: tuple[str, ...] = ()
    probabilistic: bool = False
    """Whether the score is the log-odds of the second class."""

    def __post_init__(self) -> None:
        weights = np.array(self.weights, dtype=np.float64)
        if weights.ndim != 1 or not weights.size:
            raise ValueError(f"weights have shape {weights.shape}; one number for each column is needed.")
        if not (np.isfinite(weights).all() and np.isfinite(self.intercept)):
            raise ValueError("weights and intercept must be finite; one of them is NaN or infinite.")
        columns = tuple(map(str, self.columns)) or tuple(f"x{j}" for j in range(weights.size))
        if len(columns) != weights.size:
            raise ValueError(f"There are {weights.size} weights and {len(columns)} columns: give one name for each.")
        if len(self.classes) != 2:
            raise ValueError(f"classes are {self.classes!r}; a rule tells two of them apart.")
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "intercept", float(self.intercept))
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "classes", tuple(self.classes))

    @classmethod
    def from_threshold(
        cls, weights: Any, threshold: float, *, classes: Sequence[Any] = (0, 1), columns: Sequence[str] = ()
    ) -> LinearRule:
        """1[⟨w, x⟩ > t], so b = −t.  [001 slide 6]"""
        return cls(np.asarray(weights, float), -float(threshold), tuple(classes), tuple(columns))  # type: ignore[arg-type]

    @classmethod
    def at_least(cls, m: int, d: int, *, values: tuple[int, int] = (0, 1)) -> LinearRule:
        """1[at least m of d features are on]: w = 1 and b = ½ − m on {0, 1}, d − 2m + 1 on {−1, +1}.

        Half a step inside the gap, so that > 0 and ≥ 0 agree.  [000 §8.2.2]

        >>> LinearRule.at_least(2, 3).classify([[1, 1, 0], [0, 1, 0]]).tolist()
        [1, 0]
        """
        intercepts = {(0, 1): 0.5 - m, (-1, 1): float(d - 2 * m + 1)}
        if tuple(values) not in intercepts:
            raise ValueError(f"values are {values!r}; features must be 0/1 or −1/+1.")
        return cls(np.ones(d), intercepts[tuple(values)])  # type: ignore[index]

    @property
    def norm(self) -> float:
        """‖w‖."""
        return float(np.linalg.norm(self.weights))

    def score(self, X: Any) -> Floats:
        """z = xᵀw + b for each row."""
        return self._product(self._rows(X)) + self.intercept

    def log_odds(self, X: Any) -> Floats:
        """log P(1 | x)/P(0 | x) = xᵀw + b, of a rule learnt by likelihood.  [001 slide 5]"""
        if not self.probabilistic:
            raise ValueError(
                "This rule has scores but no probabilities, so it has no log-odds: "
                "use score(X), or learn the rule by LogisticRegression."
            )
        return self.score(X)

    def probability(self, X: Any) -> Floats:
        """P(1 | x) = σ(xᵀw + b) = σ(d‖w‖), of a rule learnt by likelihood.  [000 §8.1.4]"""
        return sigmoid(self.log_odds(X))  # type: ignore[no-any-return]

    def side(self, X: Any) -> NDArray[np.int8]:
        """+1 if xᵀw + b > 0 else −1.  [004 4.1]"""
        return np.where(self.score(X) > 0, 1, -1).astype(np.int8)

    def distance(self, X: Any) -> Floats:
        """d = (xᵀw + b)/‖w‖: signed, positive on the side of the second class.  [000 §8.1.4]"""
        return self.score(X) / self._length("distance")

    def projection(self, X: Any) -> Floats:
        """⟨w, x⟩/‖w‖ = ‖x‖ cos θ: the coordinate of x along w.  [001 slide 7]"""
        return self._product(self._rows(X)) / self._length("projection")

    def foot(self, X: Any) -> Floats:
        """x − d w/‖w‖: the point of the boundary that is nearest to x."""
        X = self._rows(X)
        return X - np.outer(self.distance(X), self.weights / self._length("nearest point"))  # type: ignore[no-any-return]

    def classify(self, X: Any, *, threshold: float | None = None, probability: float | None = None) -> NDArray[Any]:
        """classes[1] where the score exceeds τ, or where P(1 | x) exceeds p; τ = 0 unless one is given."""
        if threshold is not None and probability is not None:
            raise ValueError("Give a threshold on the score or one on the probability, not both.")
        if probability is not None:
            if not 0 < probability < 1:
                raise ValueError(f"probability is {probability!r}; it must lie strictly between 0 and 1.")
            positive = self.log_odds(X) > np.log(probability / (1 - probability))
        else:
            positive = self.score(X) > (0.0 if threshold is None else threshold)
        return np.asarray(self.classes)[positive.astype(int)]  # type: ignore[no-any-return]

    def equation(self, digits: int = 6) -> str:
        """The boundary as text: 3·height + 4·width − 5 = 0."""
        terms = [(w, f"·{name}") for w, name in zip(self.weights, self.columns, strict=True) if w]
        terms += [(self.intercept, "")] if self.intercept or not terms else []
        text = "".join(f" {'−' if w < 0 else '+'} {abs(w):.{digits}g}{name}" for w, name in terms)
        return f"{text.removeprefix(' + ').replace(' − ', '−', 1) if text.startswith(' −') else text[3:]} = 0"

    def __str__(self) -> str:
        return f"{self.classes[1]} where {self.equation().removesuffix(' = 0')} > 0, else {self.classes[0]}"

    def _rows(self, X: Any) -> Floats:
        X = np.asarray(X, dtype=None if getattr(X, "dtype", None) in (np.float32, np.float64) else np.float64)
        if X.ndim != 2 or X.shape[1] != self.weights.size:
            raise ValueError(f"X has shape {X.shape}; rows of {self.weights.size} columns are needed.")
        return X  # type: ignore[no-any-return]

    def _product(self, X: Floats) -> Floats:
        """Xw in double precision, block by block where X is not: no copy of X as a whole."""
        if X.dtype == np.float64:
            return X @ self.weights  # type: ignore[no-any-return]
        blocks = range(0, len(X), BLOCK)
        return np.concatenate([np.empty(0), *(X[i : i + BLOCK] @ self.weights for i in blocks)])

    def _length(self, what: str) -> float:
        if self.norm == 0:
            raise ValueError(f"All weights are zero: there is no boundary, hence no {what}.")
        return self.norm
