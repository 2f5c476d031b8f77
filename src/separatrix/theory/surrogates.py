"""What a rule costs by each surrogate of the 0-1 loss, and what that says of its mistakes: J₀₁ ≤ k·J."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from html import escape
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, DataTypeError, Refusal, SettingError, SettingTypeError
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
from ..numerics.functions import sigmoid
from ..results.linear_rule import LinearRule

HEADS = ("loss", "of a row", "J", "at m = 0", "bound", "k·J", "holds")
"""The heads of the table's columns."""
UNLIKELY = (
    "The rule was not learnt by likelihood, or its scores are not its log-odds: for NLL and LMSE the raw score stands "
    "in for them, so that both depend on how long the weights are, and J₀₁ does not."
)
"""The note under a table of scores that are no log-odds."""


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
    """An entry for each loss, the mistakes first."""
    classes: tuple[Any, ...]
    """The classes; the second of two is the positive one."""
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
    scored = scored_rows(rule, X, y, sample_weight)
    one = scored.scores.ndim == 1
    with np.errstate(over="ignore"):  # a score beyond 1e154 has an infinite square, and that is then what J is
        rows = _of_margins(scored) if one else _of_scores(scored)
        costs = [(*head, float((scored.weight * loss).sum())) for head, loss in rows]
    mistakes = float(scored.weight[scored.wrong].sum())
    entries = [Surrogate("0-1", "1[ŷ ≠ y]", mistakes, 1.0, 1.0, mistakes, True)]
    entries += [_entry(mistakes, *cost) for cost in costs]
    counted = int(np.count_nonzero(scored.weight))
    return Surrogates(tuple(entries), scored.classes, counted, one, scored.probabilistic)


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


def _of_margins(scored: ScoredRows) -> Iterator[tuple[Head, Floats]]:
    margin = np.where(scored.own == 1, scored.scores, -scored.scores)
    for name, formula, loss, times in MARGINS:
        bound = loss.bound / times if np.isfinite(loss.bound) else None
        yield (name, formula, bound), times * loss.value(margin)


def _of_scores(scored: ScoredRows) -> Iterator[tuple[Head, Floats]]:
    s, own = scored.scores, scored.own
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


LIKELY = 1e-6
"""How far a classifier's probabilities may be from those of its scores; single precision is allowed."""
STRAY = 0.1
"""The share of rows in which a classifier may predict another class than that with the largest score, as votes may."""


class ScoredRows(NamedTuple):
    """Rows with one score each, or K, their classes and their weights."""

    scores: Floats
    own: NDArray[np.intp]
    """The class of each row, by its place in `classes`."""
    weight: Floats
    """Adds up to one."""
    classes: tuple[Any, ...]
    probabilistic: bool

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """ŷ ≠ y: at score zero the first class, of K the first of the largest."""
        s = self.scores
        chosen = s > 0 if s.ndim == 1 else s.argmax(axis=1)
        return np.asarray(chosen != self.own)


def scored_rows(rule: Any, X: Any, y: Any, sample_weight: Any) -> ScoredRows:
    """The scores of the rule, the place of each label among its classes, and the weights."""
    classes = _classes(rule)
    check_finite(X)
    scores = _scores(rule, X)
    _check_scores(scores, classes)
    _check_meaning(rule, X, scores, classes)
    own, weight = _places(y, classes, len(scores)), shares(sample_weight, len(scores))
    likely, counts = _likely(rule, X, scores), weight > 0  # nothing times an infinite loss is no number
    return ScoredRows(scores[counts], own[counts], weight[counts], classes, likely)


def _classes(rule: Any) -> tuple[Any, ...]:
    if isinstance(rule, LinearRule):
        return rule.classes
    if isinstance(rule, type):
        raise SettingTypeError(
            "rule",
            rule,
            f"give a fitted one, {rule.__name__}().fit(X, y).",
            f"rule is the class {rule.__name__} itself:",
        )
    if not hasattr(rule, "decision_function") and not isinstance(getattr(rule, "rule_", None), LinearRule):
        raise SettingTypeError(
            "rule",
            rule,
            "give a LinearRule, or a fitted classifier with decision_function(X).",
            f"rule is of type {type(rule).__name__}, which has no scores:",
        )
    classes = getattr(rule, "classes_", None)
    if classes is None:
        raise SettingError(
            "rule", rule, "fit it first, model.fit(X, y).", f"This {type(rule).__name__} has no classes_:"
        )
    if isinstance(classes, list):
        raise Refusal(f"This {type(rule).__name__} predicts several labels a row; ask for one of them at a time.")
    return tuple(np.asarray(classes).tolist())


def _scores(rule: Any, X: Any) -> Floats:
    scored = rule.score(X) if isinstance(rule, LinearRule) else None
    if scored is None:
        scored = rule.decision_function(X) if hasattr(rule, "decision_function") else rule.rule_.score(X)
    return np.asarray(scored, dtype=np.float64)


def check_finite(X: Any) -> None:
    """Check plain arrays and lists; a data frame or a sparse matrix is checked by its scores."""
    if hasattr(X, "tocsr") or hasattr(X, "columns"):
        return
    X = np.asarray(X)
    if X.ndim == 2 and X.dtype.kind == "f" and not np.isfinite(X).all():
        i, j = (int(k) for k in np.argwhere(~np.isfinite(X))[0])
        raise DataError(
            f"is {X[i, j]}; finite numbers are needed: impute it, or drop the row.",
            array="X",
            row=i,
            column=j,
            value=X[i, j],
        )


def _check_scores(scores: Floats, classes: tuple[Any, ...]) -> None:
    wanted = f"one score a row or {len(classes)}" if len(classes) == 2 else f"{len(classes)} scores a row"
    fits = (scores.ndim == 1 and len(classes) == 2) or (scores.ndim == 2 and scores.shape[1] == len(classes) > 1)
    if not fits:
        raise DataError(
            f"The scores have shape {scores.shape} and there are {len(classes)} classes, {list(classes)}: {wanted} "
            "are needed. Where a classifier scores pairs of classes, ask it for a score of each, as by "
            'decision_function_shape="ovr".'
        )
    if not len(scores):
        raise DataError("has no rows: a mean needs one at least.", array="X")
    if not np.isfinite(scores).all():
        i = int(np.argwhere(~np.isfinite(scores))[0][0])
        raise DataError(
            f"The score of row {i} is NaN or infinite: look there for missing or enormous numbers in X.", row=i
        )


def _check_meaning(rule: Any, X: Any, scores: Floats, classes: tuple[Any, ...]) -> None:
    """Scores of three pairs look like those of three classes; what is predicted then tells them apart."""
    if not hasattr(rule, "predict"):
        return
    if scores.ndim == 1:
        chosen, clear = (scores > 0).astype(np.intp), scores != 0
    else:
        ranked = np.sort(scores, axis=1)
        chosen, clear = scores.argmax(axis=1), ranked[:, -1] > ranked[:, -2]
    said = _places(rule.predict(X), classes, len(scores))
    share = float((said != chosen)[clear].mean()) if clear.any() else 0.0
    if share > STRAY:
        raise Refusal(
            f"{type(rule).__name__} predicts another class than that with the largest score in {share:.0%} of the "
            "rows: these are no scores of the classes, but perhaps of pairs. Ask for a score of each class, as by "
            'decision_function_shape="ovr".'
        )


def _places(y: Any, classes: tuple[Any, ...], rows: int) -> NDArray[np.intp]:
    y = np.asarray(y)
    if y.shape != (rows,):
        raise DataError(f"has shape {y.shape}; a label for each of the {rows} rows is needed.", array="y")
    place = np.full(rows, -1, dtype=np.intp)
    for k, label in enumerate(classes):
        place[y == label] = k
    if (place < 0).any():
        i = int(np.flatnonzero(place < 0)[0])
        raise DataError(
            f"is {y[i : i + 1].tolist()[0]!r}, none of the rule's classes {list(classes)}.",
            array="y",
            row=i,
            value=y[i : i + 1].tolist()[0],
        )
    return place


def shares(sample_weight: Any, rows: int) -> Floats:
    """cᵢ/Σc, equal where no weights are given."""
    if sample_weight is None:
        return np.full(rows, 1 / rows)
    if isinstance(sample_weight, np.ma.MaskedArray):
        raise DataTypeError(
            "is a masked array, and what its mask hides would count: fill it, with 0 say.", array="sample_weight"
        )
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind == "c":
            raise TypeError("it holds complex numbers")
        weight = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"must hold numbers; it holds something else. ({error})", array="sample_weight") from None
    if weight.shape != (rows,):
        raise DataError(
            f"has shape {weight.shape}; one number for each of the {rows} rows is needed.", array="sample_weight"
        )
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"is {weight[i]}; finite numbers of at least zero are needed.",
            array="sample_weight",
            row=i,
            value=weight[i],
        )
    if not weight.any():
        raise DataError("is zero for every row; one row at least must count.", array="sample_weight")
    weight = weight / weight.max()  # so that the sum cannot overflow
    return np.asarray(weight / weight.sum())


def _likely(rule: Any, X: Any, scores: Floats) -> bool:
    """Whether σ(score), or the softmax, is the probability that the rule itself gives."""
    if isinstance(rule, LinearRule):
        return rule.probabilistic
    if not hasattr(rule, "predict_proba"):
        return False
    given = np.asarray(rule.predict_proba(X), dtype=np.float64)
    if scores.ndim == 1:
        return bool(np.allclose(given[:, 1], sigmoid(scores), rtol=0, atol=LIKELY))
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return bool(np.allclose(given, e / e.sum(axis=1, keepdims=True), rtol=0, atol=LIKELY))
