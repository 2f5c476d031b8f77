"""One prediction in words: from the base rate to the probability, contribution by contribution."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

from ..errors import DataError, SettingError
from ..numerics.arrays import Floats
from ..numerics.functions import log_sum_exp
from ..results.verdict import plain_value
from .summary.numerals import brief, number, percent, signed
from .summary.renderers import paragraph, table

MOST = 10
"""Contributions that are shown one by one."""
WIDTH = 100
"""Columns of the text."""


class Contribution(NamedTuple):
    """What one column adds to the log-odds."""

    name: str
    value: float | str | None
    """Of the column in this row, a number or a level; the average row has none."""
    mean: float | None
    """What the value is compared with."""
    contribution: float
    """wⱼ(xⱼ − x̄ⱼ)."""
    odds_factor: float | None
    """e^contribution: what it multiplies the odds by. None where the weights have no finite size."""
    probability: float | None
    """The probability once this and all before it are counted; None as above."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """base + Σ contributions = score: why one row has the probability that it has.

    The first contribution is the step from the base rate to the average row, the others are those of the columns, the
    largest first. They add up to the score: of two classes `decision_function`, of K the difference of two of its
    columns.
    """

    label: Any
    """The class whose probability is explained."""
    against: Any
    """The class that the odds are against."""
    base_rate: float
    """The part of the training rows that is of the class."""
    base: float
    """The log-odds of the two classes among the training rows."""
    contributions: list[Contribution]
    """What is added to the log-odds, by what: the average row first, then the columns, largest first."""
    score: float
    """The log-odds of this row."""
    probability: float
    """P(label | row); after *separated* and *quasi-separated* the limit."""
    finite: bool = True
    """Whether the weights have a finite size: after *separated* and *quasi-separated* they have not."""
    notes: tuple[str, ...] = ()
    """What else a reader should know, in sentences."""

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[j]) for row in rows) for j in range(4)]
        lines = [
            "  ".join([f"{row[0]:<{widths[0]}}", *(f"{row[j]:>{widths[j]}}" for j in (1, 2, 3))]).rstrip()
            for row in rows
        ]
        said = [line for sentence in self.sentences() for line in wrap(sentence, WIDTH)]
        return "\n".join([*said, "", *lines])

    def sentences(self) -> list[str]:
        """The prediction in words."""
        way = "up from a" if self.probability > self.base_rate else "down from a"
        way = "about the" if percent(self.probability) == percent(self.base_rate) else way
        said = [f"The probability of {self.label} is {percent(self.probability)}, {way} base rate of "
                f"{percent(self.base_rate)}."]  # fmt: skip
        columns = [each for each in self.contributions[1:] if each.contribution]
        if columns:
            said.append(_largest(columns[0], self.label, self.finite))
        return [*said, *self.notes]

    def _rows(self) -> list[list[str]]:
        """The table: what, how much in log-odds, the factor, the probability after it."""
        unit = "log-odds" if self.finite else "score"
        rows = [
            ["", unit, "odds" if self.finite else "", "→ P"],
            ["base rate", signed(self.base), "", percent(self.base_rate)],
        ]
        first, shown, rest = self.contributions[0], self.contributions[1 : MOST + 1], self.contributions[MOST + 1 :]
        rows += [_row(_said(each), each.contribution, each.odds_factor, each.probability) for each in (first, *shown)]
        if rest:
            total = math.fsum(each.contribution for each in rest)
            factor = _factor(total) if self.finite else None
            rows.append(_row(f"{len(rest)} other columns", total, factor, rest[-1].probability))
        return [*rows, [f"{self.label} against {self.against}", signed(self.score), "", percent(self.probability)]]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON."""
        return {
            "class": plain_value(self.label),
            "against": plain_value(self.against),
            "base_rate": self.base_rate,
            "base": self.base,
            "contributions": [{k: plain_value(v) for k, v in each._asdict().items()} for each in self.contributions],
            "score": self.score,
            "probability": self.probability,
            "finite": self.finite,
            "notes": list(self.notes),
        }

    def to_frame(self) -> Any:
        """A pandas data frame with a row for every contribution."""
        from pandas import DataFrame  # type: ignore[import-untyped]

        return DataFrame(self.contributions, columns=list(Contribution._fields))

    def _repr_html_(self) -> str:
        top, *rows = self._rows()
        said = [paragraph(sentence) for sentence in self.sentences()]
        caption = f"From the base rate to the probability of {self.label}"
        return "\n".join(['<section class="separatrix-explanation">', *said, *table(caption, top, rows), "</section>"])


def _factor(log_odds: float) -> float:
    try:
        return math.exp(log_odds)
    except OverflowError:
        return math.inf


def _largest(column: Contribution, label: Any, finite: bool) -> str:
    """The contribution that counts most."""
    way = "for" if column.contribution > 0 else "against"
    if not finite or column.odds_factor is None:
        return f"{_said(column)} speaks most, {way} it."
    return f"{_said(column)} speaks most, {way} it: it multiplies the odds by {number(column.odds_factor, 3)}."


def _said(column: Contribution) -> str:
    """age = 63 (mean 45.2)."""
    if column.value is None:
        return column.name
    if isinstance(column.value, str):
        return f"{column.name} = {column.value}"
    beside = "" if column.mean is None else f" (mean {brief(column.mean)})"
    return f"{column.name} = {brief(column.value, 4)}{beside}"


def _row(what: str, contribution: float, factor: float | None, probability: float | None) -> list[str]:
    shown = "" if factor is None else f"× {number(factor, 3)}"
    return [what, signed(contribution), shown, "" if probability is None else percent(probability)]


AVERAGE = "(average row)"
"""What stands for the part that no column has where contributions are from the means."""
ZERO = "(row of zeros)"
"""What stands for it where they are from zero."""


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
