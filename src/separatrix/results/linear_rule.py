"""A linear rule: weights, intercepts, classes. What every linear learner is once it has learnt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.block import Block, block_of
from ..errors import DataError, Refusal, SettingError
from ..numerics.arrays import Floats
from ..numerics.functions import log_sum_exp, sigmoid
from ..wording import learner
from .proofs import Limit
from .verdict import Verdict

UNNAMED = tuple(range(2))  # an object of its own: `is` tells classes that were left out from a (0, 1) that was given


def checked_intercept(intercept: Any, weights: Floats) -> Any:
    """One number; for a matrix a read-only array of K, for which a plain 0, the default, may stand."""
    if weights.ndim == 1:
        if not isinstance(intercept, float) and np.size(intercept) != 1:
            raise SettingError(
                "intercept", intercept, "one row of weights has one: give a number, or a K×d matrix of weights."
            )
        return intercept
    left_out = np.ndim(intercept) == 0 and intercept == 0
    found = np.zeros(len(weights)) if left_out else np.array(intercept, dtype=np.float64)
    if found.shape != (len(weights),):
        raise SettingError("intercept", intercept, f"give {len(weights)} numbers, one for each row of weights.")
    found.setflags(write=False)
    return found


def checked_classes(classes: Sequence[Any], weights: Floats) -> tuple[Any, ...]:
    """Two classes; for a matrix K different ones, 0 to K − 1 where they were left out."""
    if weights.ndim == 1:
        if len(classes) != 2:
            raise _classes_error(
                classes, "a rule with one row of weights tells two of them apart: give two, or a K×d matrix of weights."
            )
        return tuple(classes)
    found = tuple(range(len(weights)) if classes is UNNAMED else classes)
    if len(found) != len(weights):
        raise _classes_error(classes, f"give {len(weights)} of them, one for each row of weights.")
    if len(set(found)) < len(found):
        raise _classes_error(classes, "one is there twice: give each row of weights its own.")
    return found


def _classes_error(classes: Any, needed: str) -> SettingError:
    return SettingError("classes", classes, needed, f"classes are {classes!r};")


class NearestBoundary(NamedTuple):
    """For each row: its class, the class across the nearest boundary, and the distance to that boundary."""

    winner: NDArray[np.intp]
    rival: NDArray[np.intp]
    distance: Floats


def nearest_boundary(z: Floats, W: Floats, what: str) -> NearestBoundary:
    """min over k ≠ ŷ of (z_ŷ − zₖ)/‖w_ŷ − wₖ‖, where ŷ = argmaxₖ zₖ.

    The nearest of the K − 1 hyperplanes does bound the region, though others may not: the ball around x that touches it
    crosses none of them. Two classes with equal weights have no boundary between them. One winner is taken at a time,
    so that the K×K×d differences of the weights never exist together.
    """
    winner = z.argmax(axis=1)
    rival, distance = np.empty_like(winner), np.empty(len(z))
    for k in np.unique(winner):
        lengths = np.linalg.norm(W[k] - W, axis=1)
        others = np.flatnonzero(lengths)
        if not others.size:
            raise Refusal(f"All classes have the same weights: there is no boundary, hence no {what}.")
        rows = np.flatnonzero(winner == k)
        gaps = (z[rows, k, None] - z[np.ix_(rows, others)]) / lengths[others]
        rival[rows], distance[rows] = others[gaps.argmin(axis=1)], gaps.min(axis=1)
    return NearestBoundary(winner, rival, distance)


def sum_as_text(weights: Floats, intercept: float, columns: Sequence[str], digits: int) -> str:
    """3·height + 4·width − 5, zeros left out."""
    terms = [(w, f"·{name}") for w, name in zip(weights, columns, strict=True) if w]
    terms += [(intercept, "")] if intercept or not terms else []
    text = "".join(f" {'−' if w < 0 else '+'} {abs(w):.{digits}g}{name}" for w, name in terms)
    return text.replace(" − ", "−", 1) if text.startswith(" −") else text[3:]


TRANSFORMED = "these features of X, model.features_.transform(X), or model.features(X) of a naive Bayes model"


@dataclass(frozen=True, eq=False)
class LinearRule:
    """ŷ = classes[1] if xᵀw + b > 0 else classes[0]; of K classes, ŷ = argmaxₖ xᵀwₖ + bₖ.

    One row of weights and one intercept tell two classes apart; K ≥ 2 classes may have K×d weights and K intercepts.

    >>> rule = LinearRule.from_threshold([3.0, 4.0], 5.0, columns=("height", "width"))
    >>> print(rule.equation())
    3·height + 4·width − 5 = 0
    >>> rule.distance([[3.0, 4.0], [0.0, 0.0]]).tolist()
    [4.0, -1.0]
    >>> rule.classify([[3.0, 4.0], [0.0, 0.0]]).tolist()
    [1, 0]

    >>> rule = LinearRule([[3, 4], [0, 0], [0, -8]], [-5, 0, 0], ("high", "middle", "low"), ("height", "width"))
    >>> print(rule.equation())
    high: 3·height + 4·width − 5
    middle: 0
    low: −8·width
    >>> rule.distance([[3.0, 4.0], [0.0, 0.5], [0.0, -2.0]]).tolist()
    [4.0, 0.5, 2.0]
    >>> rule.classify([[3.0, 4.0], [0.0, 0.5], [0.0, -2.0]]).tolist()
    ['high', 'middle', 'low']
    """

    weights: Floats
    """w, a number for each column; of K classes a row of them for each."""
    intercept: float | Floats = 0.0
    """b; of K classes one for each."""
    classes: tuple[Any, ...] = UNNAMED
    """What is predicted: of two classes the second where the score is > 0."""
    columns: tuple[str, ...] = ()
    """The names of the columns; x0, x1, … where they have none."""
    probabilistic: bool = False
    """Whether the score is the log-odds of the second class; of K classes, whether their softmax is P(k | x)."""
    features: str = ""
    """What the rule is linear in, where that is not X itself: (x, x²), say. `columns` then names the features."""

    def __post_init__(self) -> None:
        weights = np.array(self.weights, dtype=np.float64)
        if weights.ndim not in (1, 2) or not weights.size or (weights.ndim == 2 and len(weights) < 2):
            raise SettingError(
                "weights", self.weights,
                "one number for each column is needed, or a matrix with a row of them for each of K ≥ 2 classes.",
                f"weights have shape {weights.shape};",
            )  # fmt: skip
        intercept = checked_intercept(self.intercept, weights)
        finite = math.isfinite(intercept) if weights.ndim == 1 else np.isfinite(intercept).all()
        if not (finite and np.isfinite(weights).all()):
            raise SettingError(
                "weights", self.weights, "one of them is NaN or infinite.", "weights and intercept must be finite;"
            )
        columns = tuple(map(str, self.columns)) or tuple(f"x{j}" for j in range(weights.shape[-1]))
        if len(columns) != weights.shape[-1]:
            raise SettingError(
                "columns", columns, "give one name for each.",
                f"There are {weights.shape[-1]} weights and {len(columns)} columns:",
            )  # fmt: skip
        classes = checked_classes(self.classes, weights)
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "intercept", intercept if weights.ndim == 2 else float(intercept))
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "classes", classes)

    @classmethod
    def from_threshold(
        cls, weights: Any, threshold: float, *, classes: Sequence[Any] = (0, 1), columns: Sequence[str] = ()
    ) -> LinearRule:
        """1[⟨w, x⟩ > t], so b = −t.  [001 slide 6]"""
        return cls(np.asarray(weights, float), -float(threshold), tuple(classes), tuple(columns))

    @classmethod
    def at_least(cls, m: int, d: int, *, values: tuple[int, int] = (0, 1)) -> LinearRule:
        """1[at least m of d features are on]: w = 1 and b = ½ − m on {0, 1}, d − 2m + 1 on {−1, +1}.

        Half a step inside the gap, so that > 0 and ≥ 0 agree.  [000 §8.2.2]

        >>> LinearRule.at_least(2, 3).classify([[1, 1, 0], [0, 1, 0]]).tolist()
        [1, 0]
        """
        if not (isinstance(d, int | np.integer) and isinstance(m, int | np.integer) and m >= 0 < d):
            raise SettingError("m", m, "give whole numbers, m ≥ 0 of d ≥ 1 features.", f"at_least({m!r}, {d!r}):")
        intercepts = {(0, 1): 0.5 - m, (-1, 1): float(d - 2 * m + 1)}
        if tuple(values) not in intercepts:
            raise SettingError("values", values, "features must be 0/1 or −1/+1.", f"values are {values!r};")
        return cls(np.ones(d), intercepts[tuple(values)])  # type: ignore[index]

    @property
    def norm(self) -> float:
        """‖w‖; of K classes ‖W‖ = √Σₖ ‖wₖ‖², which measures no distance: ‖wₖ − wⱼ‖ does."""
        return float(np.linalg.norm(self.weights))

    def score(self, X: Any) -> Floats:
        """z = xᵀw + b for each row; of K classes n×K, zₖ = xᵀwₖ + bₖ."""
        return self._rows(X) @ self.weights.T + self.intercept

    def log_odds(self, X: Any) -> Floats:
        """log P(1 | x)/P(0 | x) = xᵀw + b, of a rule learnt by likelihood.  [001 slide 5]

        Of K classes n×K, log P(k | x)/P(last | x) = zₖ − z_K, so that the last column is zero: the texts pivot around
        the last class [000 §8.4]. For a 2×d matrix column 0 is thus minus what one row of weights gives; see `between`.
        """
        z = self._likely_score(X)
        return z if z.ndim == 1 else z - z[:, -1:]

    def probability(self, X: Any) -> Floats:
        """P(1 | x) = σ(xᵀw + b) = σ(d‖w‖), of a rule learnt by likelihood.  [000 §8.1.4]

        Of K classes n×K, the softmax P(k | x) = exp(zₖ)/Σⱼ exp(zⱼ).  [000 §8.4; 003 slide 29; 004 §4.5]
        """
        z = self._likely_score(X)
        if z.ndim == 1:
            return sigmoid(z)  # type: ignore[no-any-return]
        e = np.exp(z - z.max(axis=1, keepdims=True))  # in [0, 1]: it cannot overflow
        return e / e.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    def side(self, X: Any) -> NDArray[np.int8]:
        """+1 if xᵀw + b > 0 else −1.  [004 4.1]"""
        self._refuse_matrix("side", "side(X)")
        return np.where(self.score(X) > 0, 1, -1).astype(np.int8)

    def distance(self, X: Any) -> Floats:
        """d = (xᵀw + b)/‖w‖: signed, positive on the side of the second class.  [000 §8.1.4]

        Of K classes d = min over k ≠ ŷ of (z_ŷ − zₖ)/‖w_ŷ − wₖ‖ ≥ 0: to the boundary of the region of x's own class.
        """
        return self._distance(self.score(X))

    def projection(self, X: Any) -> Floats:
        """⟨w, x⟩/‖w‖ = ‖x‖ cos θ: the coordinate of x along w.  [001 slide 8]"""
        self._refuse_matrix("projection", "projection(X)")
        return self._rows(X) @ self.weights.T / self._length("projection")

    def foot(self, X: Any) -> Floats:
        """x − d w/‖w‖: the point of the boundary that is nearest to x.

        Of K classes w = w_ŷ − wₖ, k being the class across the nearest boundary.
        """
        X = self._rows(X).dense()
        if self.weights.ndim == 1:
            return X - np.outer(self.distance(X), self.weights / self._length("nearest point"))  # type: ignore[no-any-return]
        near = nearest_boundary(self.score(X), self.weights, "nearest point")
        normals = self.weights[near.winner] - self.weights[near.rival]
        return X - (near.distance / np.linalg.norm(normals, axis=1))[:, None] * normals  # type: ignore[no-any-return]

    def classify(self, X: Any, *, threshold: float | None = None, probability: float | None = None) -> NDArray[Any]:
        """classes[1] where the score exceeds τ, or where P(1 | x) exceeds p; τ = 0 unless one is given.

        Of K classes argmaxₖ zₖ, the first of equals: for K = 2 the second class iff its score is larger, as above. The
        regions are convex: a class that wins at two points wins between them.  [003 slide 12; 004 §4.5]
        """
        if threshold is not None and probability is not None:
            raise SettingError(
                "threshold", threshold, "", "Give a threshold on the score or one on the probability, not both."
            )
        if threshold is not None or probability is not None:
            self._refuse_matrix("threshold", "classify(X, …)", " Or decide by what probability(X) says of each class.")
        if probability is not None:
            if not 0 < probability < 1:
                raise SettingError("probability", probability, "it must lie strictly between 0 and 1.")
            chosen = self._winner(self.log_odds(X), np.log(probability / (1 - probability)))
        else:
            chosen = self._winner(self.score(X), 0.0 if threshold is None else threshold)
        return np.asarray(self.classes)[chosen]  # type: ignore[no-any-return]

    def between(self, a: Any, b: Any) -> LinearRule:
        """xᵀ(w_b − w_a) + b_b − b_a > 0: b against a, as if there were no other class.  [004 §4.5]

        Its probability is P(b | x, a or b). At equal scores it says a.

        >>> rule = LinearRule([[3, 4], [0, 0], [0, -8]], [-5, 0, 0], ("high", "middle", "low"))
        >>> print(rule.between("middle", "high"))
        high where 3·x0 + 4·x1 − 5 > 0, else middle
        """
        i, j = self._index(a), self._index(b)
        if i == j:
            raise SettingError("b", b, f"give two of {self._names()}.", f"between({a!r}, {b!r}) names one class twice;")
        if self.weights.ndim == 1 and i < j:
            return self
        W, c = self._matrix()
        return replace(self, weights=W[j] - W[i], intercept=c[j] - c[i], classes=(self.classes[i], self.classes[j]))

    def to_reference(self, cls: Any) -> LinearRule:
        """wₖ − w_cls, bₖ − b_cls for each k: the same decisions and probabilities, class cls having no weights.

        With the last class this is the pivot of [000 §8.4], K − 1 rows that are free; None gives the symmetric form,
        wₖ − w̄ and bₖ − b̄, whose weights and intercepts sum to zero. One row of weights becomes two: [0; w], or
        [−w; 0], or [−w/2; w/2]. `between` leads back.

        >>> LinearRule([2.0, -4.0], 1.0).to_reference(None).weights.tolist()
        [[-1.0, 2.0], [1.0, -2.0]]
        """
        W, c = self._matrix()
        chosen = np.arange(len(W)) if cls is None else [self._index(cls)]
        return replace(self, weights=W - W[chosen].mean(axis=0), intercept=c - c[chosen].mean())

    def equation(self, digits: int = 6) -> str:
        """The boundary as text: 3·height + 4·width − 5 = 0; of K classes a line for each, setosa: 3·height − 5."""
        lines = self._lines(digits)
        return f"{lines[0]} = 0" if self.weights.ndim == 1 else "\n".join(lines)

    def __str__(self) -> str:
        lines = self._lines()
        if self.weights.ndim == 2:
            return f"the class with the largest of {'; '.join(lines)}"
        return f"{self.classes[1]} where {lines[0]} > 0, else {self.classes[0]}"

    def _lines(self, digits: int = 6) -> list[str]:
        if self.weights.ndim == 1:
            return [sum_as_text(self.weights, float(self.intercept), self.columns, digits)]
        texts = (sum_as_text(w, b, self.columns, digits) for w, b in zip(*self._matrix(), strict=True))
        return [f"{label}: {text}" for label, text in zip(self.classes, texts, strict=True)]

    def _rows(self, X: Any) -> Block:
        """X as a block of as many columns as there are weights."""
        rows = block_of(X)
        if len(rows.shape) != 2 or rows.shape[1] != self.weights.shape[-1]:
            made = f" This rule is linear in {self.features}: give it {TRANSFORMED}." if self.features else ""
            raise DataError(
                f"has shape {rows.shape}; rows of {self.weights.shape[-1]} columns are needed.{made}", array="X"
            )
        return rows

    def _likely_score(self, X: Any) -> Floats:
        if not self.probabilistic:
            raise Refusal(
                "This rule has scores but no probabilities, so it has no log-odds: "
                f"use score(X), or learn the rule by {learner('LogisticRegression')}."
            )
        return self.score(X)

    def _winner(self, z: Floats, threshold: float = 0.0) -> NDArray[np.intp]:
        """The place in `classes` of the class that the scores choose."""
        return (z > threshold).astype(np.intp) if z.ndim == 1 else z.argmax(axis=1)  # type: ignore[no-any-return]

    def _distance(self, z: Floats) -> Floats:
        return z / self._length("distance") if z.ndim == 1 else nearest_boundary(z, self.weights, "distance").distance

    def _length(self, what: str) -> float:
        if self.norm == 0:
            raise Refusal(f"All weights are zero: there is no boundary, hence no {what}.")
        return self.norm

    def _matrix(self) -> tuple[Floats, Floats]:
        """A row of weights and an intercept for each class; where there is one row only, the first class has zeros."""
        if self.weights.ndim == 2:
            return self.weights, np.asarray(self.intercept)
        return np.stack([np.zeros_like(self.weights), self.weights]), np.array([0.0, self.intercept])

    def _index(self, cls: Any) -> int:
        try:
            return self.classes.index(cls)
        except ValueError:
            raise SettingError(
                "cls", cls, f"give one of {self._names()}.", f"{cls!r} is no class of this rule;"
            ) from None

    def _names(self) -> list[Any]:
        return np.asarray(self.classes).tolist()  # type: ignore[no-any-return]

    def _refuse_matrix(self, what: str, call: str, or_else: str = "") -> None:
        if self.weights.ndim == 2:
            raise Refusal(
                f"A rule with a row of weights for each class has no {what}: take that of two classes, "
                f"between(a, b).{call}, with a and b out of {self._names()}.{or_else}"
            )


# Probabilities in the limit, where some rows are separated.

TIE = 2.0**-40
"""Scores that differ by less than this part of what went into them are equal."""


@dataclass(frozen=True, eq=False)
class LimitRule:
    """v + tu for t → ∞: where weights go if some rows are separated and others are not."""

    direction: Floats
    """u: K × columns; of two classes, the first's are zero."""
    direction_intercept: Floats
    rest: Floats
    """v, as u is."""
    rest_intercept: Floats

    @classmethod
    def of(cls, verdict: Verdict) -> LimitRule:
        """What a verdict says of it."""
        limit, direction = verdict.certificate, verdict.separability.certificate
        assert isinstance(limit, Limit)
        return cls(*_per_class(direction.weights, direction.intercept), *_per_class(limit.weights, limit.intercept))

    def probabilities(self, X: Any) -> Floats:
        """lim P(y | x): the softmax of Vx + b among the classes with the largest score of u."""
        U, level, V, b = self.direction, self.direction_intercept, self.rest, self.rest_intercept
        X = block_of(X)
        if X.made:
            return np.concatenate([np.empty((0, len(V))), *(self.probabilities(part) for _, part in X.blocks())])
        lead = X @ U.T + level
        size = X.magnitudes(np.abs(U).T) + np.abs(level)
        tied = lead.max(axis=1, keepdims=True) - lead <= TIE * size.max(axis=1, keepdims=True)
        s = np.where(tied, X @ V.T + b, -np.inf)
        return np.where(tied, np.exp(s - log_sum_exp(s)[:, None]), 0.0)


def _per_class(weights: Floats, intercept: Any) -> tuple[Floats, Floats]:
    """A row of weights for every class; of two classes, the first's are zero."""
    if weights.ndim == 2:
        return weights, np.asarray(intercept)
    return np.vstack([np.zeros_like(weights), weights]), np.array([0.0, float(intercept)])
