"""What a rule costs by each surrogate of the 0-1 loss, and what that says of its mistakes: J₀₁ ≤ k·J."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from html import escape
from textwrap import wrap
from typing import Any

import numpy as np

from ..losses.margin import (
    Exponential,
    Hinge,
    LogisticSquared,
    LogLikelihood,
    MarginLoss,
    Perceptron,
    Squared,
    SquaredHinge,
)
from ..losses.softmax import softmax
from ..numerics.arrays import Floats
from .surrogate_input import Asked, asked

HEADS = ("loss", "of a row", "J", "at m = 0", "bound", "k·J", "holds")
UNLIKELY = (
    "The rule was not learnt by likelihood, or its scores are not its log-odds: for NLL and LMSE the raw score stands "
    "in for them, so that both depend on how long the weights are, and J₀₁ does not."
)


@dataclass(frozen=True)
class Surrogate:
    """J = Σᵢ cᵢ ℓᵢ / Σᵢ cᵢ, and J₀₁ ≤ k·J."""

    name: str
    formula: str
    """ℓ of one row; m is the margin, s are the scores."""
    value: float
    """J."""
    bound: float | None
    """The least k with J₀₁ ≤ k·J for every rule and all rows; None where no number will do."""
    at_zero: float
    """The least that ℓ can be at margin 0, where a mistake begins: 1/k."""
    limit: float | None
    """k·J."""
    holds: bool | None
    """Whether J₀₁ ≤ k·J in these numbers; None where there is no k."""


@dataclass(frozen=True)
class Surrogates:
    """J₀₁ ≤ k·J for each surrogate, as a table: iterate over it, print it, or ask for `table["NLL"]`.

    J₀₁ is the part of the rows, by weight, whose class is not the one that the scores choose: the second of two classes
    iff its score is > 0, of K the first of the largest. `holds` allows for rounding: both sides are sums, and 1 + 10⁻¹²
    times the right one is more than their last digits can differ.
    """

    entries: tuple[Surrogate, ...]
    """One for each loss, the mistakes first."""
    classes: tuple[Any, ...]
    """Of two, the second is the positive one."""
    rows: int
    """Rows that count: those of weight zero do not."""
    one_score: bool
    """Two classes and one score a row; else a score for each class."""
    probabilistic: bool
    """Whether σ(score), or of K classes the softmax, is the probability that the rule itself gives."""

    @property
    def mistakes(self) -> float:
        """J₀₁."""
        return self.entries[0].value

    def __iter__(self) -> Iterator[Surrogate]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, name: str) -> Surrogate:
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise KeyError(f"{name!r} is no entry of this table; it has {', '.join(repr(e.name) for e in self.entries)}.")

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The fields of each entry under its name: plain numbers and text."""
        return {entry.name: {k: v for k, v in asdict(entry).items() if k != "name"} for entry in self.entries}

    def to_frame(self) -> Any:
        """A data frame of pandas, a row for each loss."""
        try:
            from pandas import DataFrame  # type: ignore[import-untyped]
        except ImportError as error:
            raise ImportError(
                "to_frame() needs pandas, which is not installed: install it, or take to_dict()."
            ) from error
        return DataFrame.from_dict(self.to_dict(), orient="index").rename_axis("loss")

    def __str__(self) -> str:
        lines = [HEADS, *map(_cells, self.entries)]
        widths = [max(len(line[j]) for line in lines) for j in range(len(HEADS))]
        body = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        return "\n".join(
            [self._title(), "", body[0], "  ".join("─" * width for width in widths), *body[1:], *self._note()]
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in HEADS)
        rows = ("".join(f"<td>{escape(cell)}</td>" for cell in _cells(entry)) for entry in self.entries)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        note = f"<p>{escape(' '.join(self._note()))}</p>"
        return f"<p>{escape(self._title())}</p><table><tr>{head}</tr>{body}</table>{note}"

    def _title(self) -> str:
        rows = f"{self.rows} row" + ("" if self.rows == 1 else "s")
        if self.one_score:
            no, yes = self.classes
            return f"{rows}; m is the score of a row of class {yes}, and minus the score of a row of class {no}."
        return (
            f"{rows} of {len(self.classes)} classes; m = s_own − the largest other score, p = softmax(s), t is 1-of-K."
        )

    def _note(self) -> list[str]:
        return [] if self.probabilistic else ["", *wrap(UNLIKELY, 100)]


def surrogates(rule: Any, X: Any, y: Any, sample_weight: Any = None) -> Surrogates:
    """J₀₁ ≤ k·J: what the rule costs on these rows by each surrogate, and the bound on its mistakes.  [004 §4.3, §4.5]

    Two classes and one score a row, m = ±score: MSE (1 − m)², that is on targets ±1; LMSE 4σ(−m)², that is (y − ρ)² on
    ±1 with ρ = 2σ − 1; NLL log(1 + e⁻ᵐ) in nats; perceptron [−m]₊; hinge [1 − m]₊; squared hinge; exponential e⁻ᵐ.
    Each falls up to m = 1 at least, so that a mistake, m ≤ 0, costs what m = 0 does or more: k = 1/φ(0).

    K classes, a score sₖ for each, p their softmax: MSE ‖t − s‖² on 1-of-K targets t; LMSE ‖t − p‖²; NLL −log p_own;
    perceptron [g]₊ and hinge [1 + g]₊ (Crammer and Singer's), g = maxₖ sₖ − s_own over the other classes. A mistake
    has sⱼ ≥ s_own for a j ≠ own. Hence hinge ≥ 1. p_own ≤ ½, so NLL ≥ log 2. And (1 − a)² + b² ≥ ½ wherever b ≥ a: for
    a < 0 the first term is above 1, else the sum is (1 − a)² + a² at least. With a, b = s_own, sⱼ that is MSE ≥ ½, with
    p_own, pⱼ it is LMSE ≥ ½, whatever the others add. So k = 2 for both, and s = (½, ½, 0, …) or (0, 0, −∞, …) shows
    that less will not do. The perceptron's loss is 0 at a tie: it bounds nothing.

    With a row of scores for each of two classes the second form is used. Then m is s_own − s_other; NLL, perceptron and
    hinge are what one score, the difference, has; LMSE is half, and k twice; so is MSE where scores add up to one.

    Parameters
    ----------
    rule : LinearRule, or a fitted classifier with `decision_function` or `rule_`
        Of scikit-learn too, as long as it has a score for each class and not for each pair.
    X : rows, as the rule takes them
        An array, a list, a sparse matrix or a data frame.
    y : labels
        Each is one of the rule's classes.
    sample_weight : array or None
        What each row counts.

    >>> from separatrix import LinearRule
    >>> table = surrogates(LinearRule([1.0], classes=("no", "yes")), [[-2.0], [-1.0], [1.0], [3.0]], ["no", "yes"] * 2)
    >>> table.mistakes, table["hinge"].value, table["hinge"].holds
    (0.5, 1.0, True)
    """
    question = asked(rule, X, y, sample_weight)
    one = question.scores.ndim == 1
    with np.errstate(over="ignore"):  # a score beyond 1e154 has an infinite square, and that is then what J is
        rows = _of_margins(question) if one else _of_scores(question)
        costs = [(*head, float((question.weight * loss).sum())) for head, loss in rows]
    mistakes = float(question.weight[question.wrong].sum())
    entries = [Surrogate("0-1", "1[ŷ ≠ y]", mistakes, 1.0, 1.0, mistakes, True)]
    entries += [_entry(mistakes, *cost) for cost in costs]
    counted = int(np.count_nonzero(question.weight))
    return Surrogates(tuple(entries), question.classes, counted, one, question.probabilistic)


def _entry(mistakes: float, name: str, formula: str, bound: float | None, value: float) -> Surrogate:
    if bound is None:
        return Surrogate(name, formula, value, None, 0.0, None, None)
    return Surrogate(name, formula, value, bound, 1 / bound, bound * value, mistakes <= bound * value * (1 + 1e-12))


Head = tuple[str, str, float | None]
MARGINS: tuple[tuple[str, str, MarginLoss, float], ...] = (
    ("MSE", "(1 − m)²", Squared(), 1.0),
    ("LMSE", "4σ(−m)²", LogisticSquared(), 4.0),
    ("NLL", "log(1 + e⁻ᵐ)", LogLikelihood(), 1.0),
    ("perceptron", "[−m]₊", Perceptron(), 1.0),
    ("hinge", "[1 − m]₊", Hinge(), 1.0),
    ("squared hinge", "[1 − m]₊²", SquaredHinge(), 1.0),
    ("exponential", "e⁻ᵐ", Exponential(), 1.0),
)
"""Name, formula, loss, and how many times the loss the texts count."""


def _of_margins(question: Asked) -> Iterator[tuple[Head, Floats]]:
    margin = np.where(question.own == 1, question.scores, -question.scores)
    for name, formula, loss, times in MARGINS:
        bound = loss.bound / times if np.isfinite(loss.bound) else None
        yield (name, formula, bound), times * loss.value(margin)


def _of_scores(question: Asked) -> Iterator[tuple[Head, Floats]]:
    s, own = question.scores, question.own
    at, row = softmax(s.T, own), np.arange(len(s))
    others = s.copy()
    others[row, own] = -np.inf
    gap = others.max(axis=1) - s[row, own]
    targets = np.zeros_like(s)
    targets[row, own] = 1
    yield ("MSE", "‖t − s‖²", 2.0), np.square(targets - s).sum(axis=1)
    yield ("LMSE", "‖t − p‖²", 2.0), np.square(at.error).sum(axis=0)
    yield ("NLL", "−log p_own", 1 / math.log(2)), at.loss
    yield ("perceptron", "[−m]₊", None), np.maximum(gap, 0)
    yield ("hinge", "[1 − m]₊", 1.0), np.maximum(1 + gap, 0)


def _cells(entry: Surrogate) -> tuple[str, ...]:
    number: Callable[[float], str] = "{:.6g}".format
    if entry.name == "0-1":
        return entry.name, entry.formula, number(entry.value), "1", "", "", ""
    if entry.bound is None or entry.limit is None:
        return entry.name, entry.formula, number(entry.value), "0", "none", "—", "—"
    times = "" if entry.bound == 1 else f"{entry.bound:.5g}·"
    return (
        entry.name, entry.formula, number(entry.value), f"{entry.at_zero:.4g}", f"J₀₁ ≤ {times}{entry.name}",
        number(entry.limit), "yes" if entry.holds else "NO",
    )  # fmt: skip
