"""Rules made of many: the votes of all weights that a learner had, and classes told apart by classifiers of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.maps.maps import FeatureMap
from ...numerics.arrays import Floats, Indices
from ...results.coding import CodedRule, Signs, agreements, averaged, claims, coupled, elected, odds_of, shared, totals
from ...results.committee import LinearCommittee, Weights
from ...results.votes import Ballot
from .document import Part
from .rules import Linear, Rule, features_to_dict, mapped

# -------------------------------------------------------------------------------------------------------------- votes


@dataclass(frozen=True, eq=False)
class VoteRule(Rule):
    """Σₗ cₗ sign(xᵀwₗ + bₗ)/Σₗ cₗ, the weights being sums over the mistakes: of K classes the share of each."""

    ballot: Ballot
    kind = "voted"

    def scores(self, X: Any) -> Floats:
        try:
            return self.ballot.tally(X)
        except OverflowError:
            return np.full(len(X), np.nan)

    def to_dict(self) -> dict[str, Any]:
        b = self.ballot
        return {
            "kind": self.kind, "start": b.start.tolist(),
            "start_intercept": np.asarray(b.start_intercept, np.float64).tolist(),
            "rate": float(b.rate), "lifted": bool(b.lifted),
            "vectors": np.asarray(b.rows, np.float64).tolist(), "vector": b.place.tolist(), "own": b.own.tolist(),
            "rival": b.rival.tolist(), "votes": b.votes.tolist(),
        }  # fmt: skip

    @classmethod
    def read(cls, part: Part, classes: tuple[Any, ...], columns: tuple[str, ...]) -> VoteRule:
        """The rule of a document, checked."""
        part.fields("kind", "start", "start_intercept", "rate", "lifted", "vectors", "vector", "own", "rival", "votes")
        K, d = len(classes), len(columns)
        rows = part["vectors"].floats(None, d)
        place = part["vector"].integers(None, least=0, most=len(rows) - 1)
        own, rival = (part[name].integers(len(place), least=0, most=K - 1) for name in ("own", "rival"))
        votes = part["votes"].integers(len(place) + 1, least=0)
        if not votes.any():
            raise part["votes"].fail("somebody must vote.")
        start = part["start"].floats(d) if K == 2 else part["start"].floats(K, d)
        level: Any = part["start_intercept"].number() if K == 2 else part["start_intercept"].floats(K)
        return cls(
            Ballot(start, level, rows, place, own, rival, part["rate"].number(), part["lifted"].flag(), votes, K)
        )


@dataclass(frozen=True, eq=False)
class Committee(Rule):
    """Σₗ cₗ f̂ₗ(x)/Σₗ cₗ over linear classifiers f̂ₗ, each with its weights."""

    committee: LinearCommittee
    kind = "committee"

    def scores(self, X: Any) -> Floats:
        try:
            return self.committee.tally(X)
        except OverflowError:
            return np.full(len(X), np.nan)

    def to_dict(self) -> dict[str, Any]:
        groups = self.committee.groups
        return {
            "kind": self.kind, "weights": np.concatenate([W for W, _ in groups]).tolist(),
            "intercept": np.concatenate([b for _, b in groups]).tolist(), "votes": self.committee.votes.tolist(),
        }  # fmt: skip

    @classmethod
    def read(cls, part: Part, classes: tuple[Any, ...], columns: tuple[str, ...]) -> Committee:
        """The rule of a document, checked."""
        part.fields("kind", "weights", "intercept", "votes")
        lines = 1 if len(classes) == 2 else len(classes)
        W = part["weights"].floats(None, lines, len(columns))
        b, votes = part["intercept"].floats(len(W), lines), part["votes"].integers(len(W), least=1)
        if not len(W):
            raise part["weights"].fail("somebody must vote.")
        kept = [Weights(*each) for each in zip(W, b, strict=True)]
        return cls(LinearCommittee(kept, votes.tolist(), len(classes)))


# ---------------------------------------------------------------------------------------------------------------- codes


COUPLED = "coupled"
COUPLINGS = {
    COUPLED: lambda r, scores, M: coupled(r, M),
    "shared": lambda r, scores, M: shared(r, scores),
    "odds": lambda r, scores, M: odds_of(r),
    "averaged": lambda r, scores, M: averaged(r, M),
}
"""How the probabilities of classifiers become those of classes."""


@dataclass(frozen=True, eq=False)
class Member:
    """A classifier of two, and the features that it is one of."""

    rule: Rule
    features: FeatureMap | None = None

    def scores(self, X: Any) -> Floats:
        """One a row."""
        return self.rule.scores(mapped(X, self.features))

    def probability(self, X: Any) -> Floats:
        """Of its + side."""
        rows = mapped(X, self.features)
        found = self.rule.probabilities(rows, self.rule.scores(rows))
        assert found is not None
        return found[:, 1]  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class CodeRule(Rule):
    """ŷ from the scores of classifiers of two, by a code of −1, 0 and +1; see `OneVsRest`, `OneVsOne`, `OutputCode`."""

    code: Signs
    members: tuple[Member, ...]
    classes: tuple[Any, ...]
    columns: tuple[str, ...]
    per_class: bool
    """Whether the score of a class is that of its own classifier, not Σₗ Mₖₗsₗ."""
    by_votes: bool
    coupling: str | None
    """How probabilities are made; None: there are none."""
    kind = "coded"

    @property
    def takes_missing(self) -> bool:  # type: ignore[override]
        """Where all its classifiers do."""
        return all(each.rule.takes_missing and each.features is None for each in self.members)

    def _member_scores(self, X: Any) -> Floats:
        coded = self.coded()
        return np.column_stack([each.scores(X) for each in self.members]) if coded is None else coded.score(X)

    def coded(self) -> CodedRule | None:
        """All classifiers as one rule, where all of them are linear in the columns."""
        if not all(isinstance(each.rule, Linear) and each.features is None for each in self.members):
            return None
        rules = [each.rule.linear() for each in self.members]
        weights = np.array([rule.weights for rule in rules if rule is not None])
        intercept = np.array([rule.intercept for rule in rules if rule is not None])
        return CodedRule(weights, intercept, self.code, self.classes, self.columns)

    @property
    def _is_one(self) -> bool:
        return bool(self.code.tolist() == [[-1], [1]])

    def _votes(self, s: Floats) -> Indices:
        return claims(self.code, s) if self.per_class else agreements(self.code, s)

    def _discriminants(self, s: Floats) -> Floats:
        if not self.per_class:
            return totals(self.code, s)
        return s if s.shape[1] == len(self.classes) else np.column_stack([s, np.zeros(len(s))])

    def scores(self, X: Any) -> Floats:
        s = self._member_scores(X)
        if self._is_one:
            return s[:, 0]  # type: ignore[no-any-return]
        found = self._discriminants(s)
        if self.by_votes:
            u = np.log1p(np.abs(found))
            found = self._votes(s) + np.sign(found) * u / (3 * (1 + u))
        return (found[:, 1] - found[:, 0]) / 2 if len(self.classes) == 2 else found  # type: ignore[no-any-return]

    def chosen(self, X: Any, scores: Floats) -> Indices:
        s = self._member_scores(X)
        if self._is_one:
            return (s[:, 0] > 0).astype(np.intp)  # type: ignore[no-any-return]
        if self.per_class:
            best: Indices = s.argmax(axis=1)
            if s.shape[1] < len(self.classes):
                best[s.max(axis=1) <= 0] = s.shape[1]
            return best
        T = self._discriminants(s)
        return elected(self._votes(s), T) if self.by_votes else T.argmax(axis=1)  # type: ignore[no-any-return]

    def probabilities(self, X: Any, scores: Floats) -> Floats | None:
        if self.coupling is None:
            return None
        r = np.column_stack([each.probability(X) for each in self.members])
        if self._is_one:
            return np.column_stack([1 - r, r])
        return COUPLINGS[self.coupling](r, self._member_scores(X), self.code)

    def distances(self, X: Any, scores: Floats) -> Floats | None:
        coded = self.coded()
        if coded is None or (self.by_votes and not self._is_one):
            return None
        M = self.code.astype(np.float64)
        if len(self.classes) == 2:
            half = (M[1] - M[0]) / 2
            rule = Linear.of(half @ coded.weights, half @ coded.intercept, self.classes, self.columns)
        elif self.per_class:
            more = len(self.classes) - len(coded.weights)
            turned = np.roll(np.arange(len(self.classes)), 1) if more else np.arange(len(self.classes))
            weights = np.vstack([coded.weights, np.zeros((more, coded.weights.shape[1]))])[turned]
            level = np.append(coded.intercept, np.zeros(more))[turned]
            rule = Linear.of(weights, level, tuple(self.classes[k] for k in turned), self.columns)
        else:
            rule = Linear.of(M @ coded.weights, M @ coded.intercept, self.classes, self.columns)
        return rule.distances(X, rule.scores(X))

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "code": self.code.tolist(), "per_class": self.per_class, "by_votes": self.by_votes,
            "coupling": self.coupling,
            "members": [{"features": features_to_dict(each.features), "rule": each.rule.to_dict()}
                        for each in self.members],
        }  # fmt: skip
