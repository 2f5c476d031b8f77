"""A rule, rows and labels made ready for the table of surrogates; what does not fit together is named."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numerics.arrays import Floats
from ..numerics.functions import sigmoid
from ..results.linear_rule import LinearRule

LIKELY = 1e-6
"""How far a classifier's probabilities may be from those of its scores; single precision is allowed."""


STRAY = 0.1
"""Rows in which a classifier may predict another class than that with the largest score: a vote with few ties does."""


class Asked(NamedTuple):
    """A score or K scores for each row, and what is true of the row."""

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


def asked(rule: Any, X: Any, y: Any, sample_weight: Any) -> Asked:
    """The scores of the rule, the place of each label among its classes, and the weights."""
    classes = _classes(rule)
    _check_finite(X)
    scores = _scores(rule, X)
    _check_scores(scores, classes)
    _check_meaning(rule, X, scores, classes)
    own, weight = _places(y, classes, len(scores)), shares(sample_weight, len(scores))
    likely, counts = _likely(rule, X, scores), weight > 0  # nothing times an infinite loss is no number
    return Asked(scores[counts], own[counts], weight[counts], classes, likely)


def _classes(rule: Any) -> tuple[Any, ...]:
    if isinstance(rule, LinearRule):
        return rule.classes
    if isinstance(rule, type):
        raise TypeError(f"rule is the class {rule.__name__} itself: give a fitted one, {rule.__name__}().fit(X, y).")
    if not hasattr(rule, "decision_function") and not isinstance(getattr(rule, "rule_", None), LinearRule):
        raise TypeError(
            f"rule is of type {type(rule).__name__}, which has no scores: give a LinearRule, or a fitted classifier "
            "with decision_function(X)."
        )
    classes = getattr(rule, "classes_", None)
    if classes is None:
        raise ValueError(f"This {type(rule).__name__} has no classes_: fit it first, model.fit(X, y).")
    if isinstance(classes, list):
        raise ValueError(f"This {type(rule).__name__} predicts several labels a row; ask for one of them at a time.")
    return tuple(np.asarray(classes).tolist())


def _scores(rule: Any, X: Any) -> Floats:
    scored = rule.score(X) if isinstance(rule, LinearRule) else None
    if scored is None:
        scored = rule.decision_function(X) if hasattr(rule, "decision_function") else rule.rule_.score(X)
    return np.asarray(scored, dtype=np.float64)


def _check_finite(X: Any) -> None:
    """Of plain arrays and lists; a data frame or a sparse matrix is looked at through its scores."""
    if hasattr(X, "tocsr") or hasattr(X, "columns"):
        return
    X = np.asarray(X)
    if X.ndim == 2 and X.dtype.kind == "f" and not np.isfinite(X).all():
        i, j = (int(k) for k in np.argwhere(~np.isfinite(X))[0])
        raise ValueError(f"X[{i}, {j}] is {X[i, j]}; finite numbers are needed: impute it, or drop the row.")


def _check_scores(scores: Floats, classes: tuple[Any, ...]) -> None:
    wanted = f"one score a row or {len(classes)}" if len(classes) == 2 else f"{len(classes)} scores a row"
    fits = (scores.ndim == 1 and len(classes) == 2) or (scores.ndim == 2 and scores.shape[1] == len(classes) > 1)
    if not fits:
        raise ValueError(
            f"The scores have shape {scores.shape} and there are {len(classes)} classes, {list(classes)}: {wanted} "
            "are needed. Where a classifier scores pairs of classes, ask it for a score of each, as by "
            'decision_function_shape="ovr".'
        )
    if not len(scores):
        raise ValueError("X has no rows: a mean needs one at least.")
    if not np.isfinite(scores).all():
        i = int(np.argwhere(~np.isfinite(scores))[0][0])
        raise ValueError(f"The score of row {i} is NaN or infinite: look there for missing or enormous numbers in X.")


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
        raise ValueError(
            f"{type(rule).__name__} predicts another class than that with the largest score in {share:.0%} of the "
            "rows: these are no scores of the classes, but perhaps of pairs. Ask for a score of each class, as by "
            'decision_function_shape="ovr".'
        )


def _places(y: Any, classes: tuple[Any, ...], rows: int) -> NDArray[np.intp]:
    y = np.asarray(y)
    if y.shape != (rows,):
        raise ValueError(f"y has shape {y.shape}; a label for each of the {rows} rows is needed.")
    place = np.full(rows, -1, dtype=np.intp)
    for k, label in enumerate(classes):
        place[y == label] = k
    if (place < 0).any():
        i = int(np.flatnonzero(place < 0)[0])
        raise ValueError(f"y[{i}] is {y[i : i + 1].tolist()[0]!r}, none of the rule's classes {list(classes)}.")
    return place


def shares(sample_weight: Any, rows: int) -> Floats:
    """cᵢ/Σc, equal where no weights are given."""
    if sample_weight is None:
        return np.full(rows, 1 / rows)
    if isinstance(sample_weight, np.ma.MaskedArray):
        raise TypeError("sample_weight is a masked array, and what its mask hides would count: fill it, with 0 say.")
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind == "c":
            raise TypeError("it holds complex numbers")
        weight = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold numbers; it holds something else. ({error})") from None
    if weight.shape != (rows,):
        raise ValueError(f"sample_weight has shape {weight.shape}; one number for each of the {rows} rows is needed.")
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        raise ValueError(f"sample_weight[{i}] is {weight[i]}; finite numbers of at least zero are needed.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; one row at least must count.")
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
