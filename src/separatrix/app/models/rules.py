"""What a saved model decides by: the rule of each kind, as plain numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...data.mapped import MappedRows
from ...data.maps.maps import FeatureMap, map_of
from ...numerics.arrays import Floats, Indices
from ...numerics.functions import log_sum_exp, sigmoid, softplus
from ...results.linear_rule import LimitRule, LinearRule
from ...results.prior import Prior
from .document import Part

Lengths = NDArray[np.int64]
"""Of the names of features, at the most."""
LONGEST_NAMES = 1 << 22
"""Signs of the names of all features that a file does not hold itself."""
USUAL_NAME = 200
"""Signs that each of these names may add to that."""


class Rule(ABC):
    """Scores, and what follows from them; X is rows × columns of finite numbers, or rows of features (`MappedRows`)."""

    kind: ClassVar[str]
    takes_missing: ClassVar[bool] = False
    """Whether a NaN in X is a value that is not there, and adds nothing."""

    @abstractmethod
    def scores(self, X: Any) -> Floats:
        """One number for each row, the second class's where it is > 0; of K classes rows × K."""

    def chosen(self, X: Any, scores: Floats) -> Indices:
        """The place of the class that is predicted: of equals the first."""
        return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)

    def probabilities(self, X: Any, scores: Floats) -> Floats | None:
        """P(k | x), rows × K; None where the learner has none."""
        return None

    def distances(self, X: Any, scores: Floats) -> Floats | None:
        """From the boundary: of two classes with its sign; None where the boundary is no plane."""
        return None

    def linear(self) -> LinearRule | None:
        """The weights, where the scores are linear in the columns or features."""
        return None

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Lists and numbers, `kind` first."""


@dataclass(frozen=True, eq=False)
class Linear(Rule):
    """s = xᵀw + b; of K classes sₖ = xᵀwₖ + bₖ, and of two classes with a row each s₁ − s₀."""

    rule: LinearRule
    likely: bool = False
    """Whether the scores are log-odds."""
    separated: bool = False
    """Whether the probabilities are 0 and 1, as the weights grow for ever."""
    limit: LimitRule | None = None
    prior: Prior | None = None
    kind = "linear"

    @property
    def _paired(self) -> bool:
        """Two classes that have weights of their own."""
        return self.rule.weights.ndim == 2 and len(self.rule.classes) == 2

    def scores(self, X: Any) -> Floats:
        z = self.rule.score(X)
        return z[:, 1] - z[:, 0] if self._paired else z  # type: ignore[no-any-return]

    def chosen(self, X: Any, scores: Floats) -> Indices:
        if self.limit is not None:
            return self.limit.probabilities(X).argmax(axis=1)  # type: ignore[no-any-return]  # without the prior, which moves no decision
        if self._paired:
            return self.rule.score(X).argmax(axis=1)  # type: ignore[no-any-return]
        return super().chosen(X, scores)

    def probabilities(self, X: Any, scores: Floats) -> Floats | None:
        if not (self.likely or self.separated or self.limit):
            return None
        return self._seen(X, scores) if self.prior is None else np.exp(self.prior.corrected(self._logs(X, scores)))

    def _seen(self, X: Any, scores: Floats) -> Floats:
        """P(k | x) for classes as frequent as the fit saw them."""
        z = self.rule.score(X) if self._paired else scores
        if self.limit is not None:
            return self.limit.probabilities(X)
        if self.separated:
            top = (z == z.max(axis=1, keepdims=True)) if z.ndim == 2 else np.column_stack([z <= 0, z >= 0])
            return top / top.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]
        return softmax(z)

    def _logs(self, X: Any, scores: Floats) -> Floats:
        if self.separated or self.limit is not None:
            with np.errstate(divide="ignore"):
                return np.log(self._seen(X, scores))  # type: ignore[no-any-return]
        z = scores
        return z - log_sum_exp(z)[:, None] if z.ndim == 2 else -np.column_stack([softplus(z), softplus(-z)])  # type: ignore[no-any-return]

    def distances(self, X: Any, scores: Floats) -> Floats | None:
        rule = self.rule.between(*self.rule.classes) if self._paired else self.rule
        return rule._distance(scores) if rule.weights.any() else None

    def linear(self) -> LinearRule | None:
        return self.rule

    @classmethod
    def of(cls, weights: Floats, intercept: Any, classes: tuple[Any, ...], columns: tuple[str, ...]) -> Linear:
        """A rule without probabilities."""
        return cls(LinearRule(weights, intercept, classes, columns))

    def to_dict(self) -> dict[str, Any]:
        limit, prior = self.limit, self.prior
        return {
            "kind": self.kind,
            "weights": self.rule.weights.tolist(),
            "intercept": np.asarray(self.rule.intercept).tolist(),
            "probabilities": "limit" if limit is not None else "separated" if self.separated else
                             "log-odds" if self.likely else "none",
            "limit": None if limit is None else {
                "direction": limit.direction.tolist(), "direction_intercept": limit.direction_intercept.tolist(),
                "rest": limit.rest.tolist(), "rest_intercept": limit.rest_intercept.tolist(),
            },
            "prior": None if prior is None else {"seen": prior.seen.tolist(), "wanted": prior.wanted.tolist()},
        }  # fmt: skip

    @classmethod
    def read(cls, part: Part, classes: tuple[Any, ...], columns: tuple[str, ...]) -> Linear:
        """The rule of a document, checked."""
        part.fields("kind", "weights", "intercept", "probabilities", "limit", "prior")
        K, d = len(classes), len(columns)
        one = K == 2 and not part["weights"].nested()
        weights = part["weights"].floats(d) if one else part["weights"].floats(K, d)
        intercept: Any = part["intercept"].number() if one else part["intercept"].floats(K)
        how = part["probabilities"].one_of("none", "log-odds", "separated", "limit")
        if (how == "limit") != part.has("limit"):
            raise part["limit"].fail('it must be there if and only if "probabilities" is "limit".')
        rule = LinearRule(weights, intercept, classes, columns, how in ("log-odds", "limit"))
        limit = _limit(part["limit"], K, d) if how == "limit" else None
        prior = _prior(part["prior"], K) if part.has("prior") else None
        if prior is not None and how == "none":
            raise part["prior"].fail("there are no probabilities that it could correct.")
        return cls(rule, how in ("log-odds", "limit"), how == "separated", limit, prior)


def softmax(z: Floats) -> Floats:
    """P(k | x) = exp(zₖ)/Σⱼ exp(zⱼ); of one score σ(−z) and σ(z)."""
    if z.ndim == 2:
        return np.exp(z - log_sum_exp(z)[:, None])  # type: ignore[no-any-return]
    return np.column_stack([sigmoid(-z), sigmoid(z)])


def _limit(part: Part, K: int, d: int) -> LimitRule:
    part.fields("direction", "direction_intercept", "rest", "rest_intercept")
    return LimitRule(
        part["direction"].floats(K, d), part["direction_intercept"].floats(K),
        part["rest"].floats(K, d), part["rest_intercept"].floats(K),
    )  # fmt: skip


def _prior(part: Part, K: int) -> Prior:
    part.fields("seen", "wanted")
    found = Prior(part["seen"].floats(K), part["wanted"].floats(K))
    for name, shares in (("seen", found.seen), ("wanted", found.wanted)):
        if not ((shares > 0).all() and abs(shares.sum() - 1) < 1e-6):
            raise part[name].fail("the shares of classes are positive and sum to one.")
    return found


# ------------------------------------------------------------------------------------------------- features of columns


def features_to_dict(features: FeatureMap | None) -> list[dict[str, Any]] | None:
    """The maps in their order, as lists and numbers."""
    if features is None:
        return None
    return [{key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in step.items()}
            for step in features.spec]  # fmt: skip


def features_read(part: Part, columns: Sequence[str]) -> FeatureMap | None:
    """The feature map of a document, checked: how wide each step is, and that its numbers are what it needs."""
    if part.value is None:
        return None
    steps = part.items()
    if not steps:
        raise part.fail("the list is empty: without features it is null.")
    lengths = np.array([len(name) for name in columns], np.int64)
    for step in steps:
        made = _MAPS[step.fields_kind(*_MAPS)](step, lengths)
        step["columns"].whole(len(lengths), len(lengths))
        lengths = made
        if lengths.sum() > LONGEST_NAMES + USUAL_NAME * len(lengths):  # each map may double them
            raise step.fail("the names of its features would be longer than any memory should hold.")
    return map_of(part.value)


def _products(step: Part, lengths: Lengths) -> Lengths:
    step.fields("kind", "columns", "terms")
    terms = step["terms"].integers(None, None, least=-1, most=len(lengths) - 1)
    if not terms.size or (terms[:, 0] < 0).any():
        raise step["terms"].fail("every product needs a column.")
    return np.where(terms >= 0, lengths[terms] + 1, 0).sum(axis=1)  # type: ignore[no-any-return]


def _gaussians(step: Part, lengths: Lengths) -> Lengths:
    step.fields("kind", "columns", "centres", "widths")
    centres = step["centres"].floats(None, len(lengths))
    if not len(centres) or not (step["widths"].floats(len(centres)) > 0).all():
        raise step["widths"].fail("every centre needs a positive width.")
    return np.full(len(centres), USUAL_NAME)


def _lift(step: Part, lengths: Lengths) -> Lengths:
    step.fields("kind", "columns", "square")["square"].flag()
    return np.append(lengths, USUAL_NAME)


def _standard(step: Part, lengths: Lengths) -> Lengths:
    width = len(lengths)
    step.fields("kind", "columns", "mean", "deviation")["mean"].floats(width)
    if not (step["deviation"].floats(width) > 0).all():
        raise step["deviation"].fail("every deviation is positive.")
    return lengths


_MAPS = {"products": _products, "gaussians": _gaussians, "lift": _lift, "standard": _standard}


def mapped(X: Any, features: FeatureMap | None) -> Any:
    """The rows as a rule reads them."""
    return X if features is None else MappedRows(X, features)
