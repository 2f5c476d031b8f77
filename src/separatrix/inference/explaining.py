"""From weights and one row to the explanation of its probability."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import DataError, SettingError
from ..numerics.arrays import Floats
from ..numerics.functions import log_sum_exp
from .explanation import Contribution, Explanation

AVERAGE, ZERO = "(average row)", "(row of zeros)"


class Group(NamedTuple):
    """Features that belong together: what one column of a table became."""

    name: str
    places: slice
    value: float | str | None
    mean: float | None


@dataclass(frozen=True, eq=False)
class View:
    """All of a fitted likelihood that an explanation needs."""

    classes: Sequence[Any]
    names: Sequence[str]
    """Of what it is linear in."""
    weights: Floats
    """Classes × (intercept, weights); of two classes the first's are zero."""
    status: str
    """Of the verdict."""
    limit: Callable[[Floats], Floats] | None
    """After *quasi-separated*: P(k | x) of rows, in the limit."""
    prior: Any
    """The shares that were `seen` and those that are `wanted`, or None."""
    means: Floats | None
    """Of the features in the training rows; None: not known."""
    shares: Floats | None
    """Of the classes there."""

    def explain(
        self, x: Floats, for_class: Any, against: Any, notes: Sequence[str] = (), groups: Sequence[Group] = ()
    ) -> Explanation:
        """base + (average row) + Σⱼ wⱼ(xⱼ − x̄ⱼ): one row, contribution by contribution, those of a group added up."""
        W, said = self.weights, list(notes)
        P = self._probabilities(x)
        k, r = self._pair(for_class, against, P)
        known = self.means is not None and self.shares is not None
        if not known:
            said.append("Shares and means of the training rows are not known: the base is equal shares and a row of "
                        "zeros.")  # fmt: skip
        means = self.means if self.means is not None and known else np.zeros(len(x))
        shares = self.shares if self.shares is not None and known else np.full(len(W), 1 / len(W))
        finite = self.status not in ("separated", "quasi-separated")
        if not finite:
            said.append(
                f"The classes are {self.status}, so the weights have no finite size: the probability is the limit as "
                "they grow, and the scores are those of one rule that separates, not log-odds."
            )
        if self.prior is not None:
            with np.errstate(divide="ignore"):
                P, shares = np.exp(self.prior.corrected(np.log(P)[None])[0]), self.prior.wanted
            W = W + np.column_stack([self.prior.shift, np.zeros_like(W[:, 1:])])
            said.append("Log-odds and probabilities are for the shares of the classes that `prior` asks for.")
        with np.errstate(over="ignore", invalid="ignore"):
            score = float(W[k, 0] - W[r, 0] + x @ (W[k, 1:] - W[r, 1:]))
            steps = self._contributions(x, means, W, shares, (k, r), finite, groups or self._alone(x, means, known))
        if not all(math.isfinite(each.contribution) for each in steps):
            raise DataError("The score of this row is infinite: its numbers are too large; give it in other units.")
        base, rate = math.log(shares[k] / shares[r]), float(shares[k])
        labels = self.classes
        return Explanation(labels[k], labels[r], rate, base, steps, score, float(P[k]), finite, tuple(said))

    def _contributions(
        self, x: Floats, means: Floats, W: Floats, shares: Floats, pair: tuple[int, int], finite: bool,
        groups: Sequence[Group],
    ) -> list[Contribution]:  # fmt: skip
        """wⱼ(xⱼ − x̄ⱼ), the largest first, after the step from the base rate to the average row."""
        k, r = pair
        start = np.log(shares)
        average = W[:, 0] + W[:, 1:] @ means
        moves = np.add.reduceat(W[:, 1:] * (x - means), [each.places.start for each in groups], axis=1)
        sizes = moves[k] - moves[r]
        order = np.argsort(-np.abs(sizes), kind="stable")
        running = average[:, None] + np.cumsum(moves[:, order], axis=1)
        after = _softmax(np.column_stack([average, running]))[k]
        first_step = float(average[k] - average[r] - (start[k] - start[r]))

        def step(name: str, value: float | str | None, mean: float | None, size: float, p: float) -> Contribution:
            if not finite:
                return Contribution(name, value, mean, size, None, None)
            with np.errstate(over="ignore"):
                return Contribution(name, value, mean, size, float(np.exp(size)), float(p))

        first = step(ZERO if self.means is None or self.shares is None else AVERAGE, None, None, first_step, after[0])
        return [first] + [
            step(groups[j].name, groups[j].value, groups[j].mean, float(sizes[j]), after[at])
            for at, j in enumerate(order.tolist(), 1)
        ]

    def _alone(self, x: Floats, means: Floats, known: bool) -> list[Group]:
        """Every feature by itself."""
        return [
            Group(name, slice(j, j + 1), float(x[j]), float(means[j]) if known else None)
            for j, name in enumerate(self.names)
        ]

    def _probabilities(self, x: Floats) -> Floats:
        """P(k | x) of every class, as `predict_proba` has it but for a prior."""
        W = self.weights
        with np.errstate(over="ignore", invalid="ignore"):
            scores = W[:, 0] + W[:, 1:] @ x
        if not np.isfinite(scores).all():
            raise DataError("The score of this row is infinite: its numbers are too large; give it in other units.")
        if self.limit is not None:
            return self.limit(x[None])[0]  # type: ignore[no-any-return]
        if self.status == "separated":
            top = scores == scores.max()
            return top / top.sum()  # type: ignore[no-any-return]
        return _softmax(scores[:, None])[:, 0]

    def _place(self, name: str, label: Any, default: int) -> int:
        known = list(self.classes)
        if label is None:
            return default
        if label not in known:
            raise SettingError(name, label, f"it must be one of the classes {known}.")
        return int(known.index(label))

    def _pair(self, for_class: Any, against: Any, P: Floats) -> tuple[int, int]:
        """The class that is explained, and the one that its odds are against."""
        labels = self.classes
        if len(P) == 2:
            k = self._place("for_class", for_class, 1 if against is None or against != labels[1] else 0)
        else:
            k = self._place("for_class", for_class, int(P.argmax()))
        r = self._place("against", against, _next(P, k))
        if k == r:
            raise SettingError(
                "against",
                against,
                "",
                f"The class that is explained and the one against it are both {labels[k]!r}: name two.",
            )
        return k, r


def _softmax(scores: Floats) -> Floats:
    return np.exp(scores - log_sum_exp(scores, axis=0))  # type: ignore[no-any-return]


def _next(P: Floats, k: int) -> int:
    """The likeliest class but one; among equals the last, so that of two classes the first is compared with."""
    others = [j for j in range(len(P)) if j != k]
    return max(others, key=lambda j: (P[j], j))
