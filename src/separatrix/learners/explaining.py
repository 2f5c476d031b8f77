"""From a fitted model and one row to the explanation of its prediction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..interpretation.explanation import Contribution, Explanation
from ..mapped import Mapped
from ..numerics import log_sum_exp
from .limits import limit_probabilities
from .memory import Facts
from .rows_at_hand import known_facts, rows_of_fit
from .summary_table import per_class
from .validation import names_of

Floats = NDArray[np.float64]
AVERAGE, ZERO = "(average row)", "(row of zeros)"


def explanation_of(model: Any, row: Any, for_class: Any, against: Any) -> Explanation:
    """See `LogisticRegression.explain`."""
    x = _features(model, row_of(model, row))
    W = per_class(model)
    P = _probabilities(model, x, W)
    k, r = _pair(model, for_class, against, P)
    facts, notes = _facts(model)
    means = np.zeros(len(x)) if facts is None else facts.means
    shares = np.full(len(W), 1 / len(W)) if facts is None else facts.totals / facts.totals.sum()
    finite = model.verdict_.status not in ("separated", "quasi-separated")
    if not finite:
        notes.append(
            f"The classes are {model.verdict_.status}, so the weights have no finite size: the probability is the "
            "limit as they grow, and the scores are those of one rule that separates, not log-odds."
        )
    labels = model.classes_.tolist()
    prior = getattr(model, "prior_", None)
    if prior is not None:
        with np.errstate(divide="ignore"):
            P, shares = np.exp(prior.corrected(np.log(P)[None])[0]), prior.wanted
        W = W + np.column_stack([prior.shift, np.zeros_like(W[:, 1:])])
        notes.append("Log-odds and probabilities are for the shares of the classes that `prior` asks for.")
    with np.errstate(over="ignore", invalid="ignore"):
        score = float(W[k, 0] - W[r, 0] + x @ (W[k, 1:] - W[r, 1:]))
        steps = _contributions(model, x, means, W, shares, (k, r), finite, facts is not None)
    if not all(math.isfinite(each.contribution) for each in steps):
        raise ValueError("The score of this row is infinite: its numbers are too large; give it in other units.")
    base, rate = math.log(shares[k] / shares[r]), float(shares[k])
    return Explanation(
        labels[k], labels[r], rate, base, steps, score, float(P[k]), finite, tuple(notes)
    )  # fmt: skip


def _facts(model: Any) -> tuple[Facts | None, list[str]]:
    """Shares and means: of all rows where that is known, and what to say where it is not."""
    facts = known_facts(model, None)
    if facts is None:
        return None, [
            "Shares and means of the training rows are not known: the base is equal shares and a row of zeros."
        ]
    if not facts.sampled:
        return facts, []
    given, _ = rows_of_fit(model, (None, None, None))
    if given is not None:
        model._facts = known_facts(model, given)  # so that the rows are read once
        return model._facts, []
    return facts, [
        "The means are those of a sample of the training rows: these are no longer in memory, or have changed."
    ]


def _contributions(
    model: Any, x: Floats, means: Floats, W: Floats, shares: Floats, pair: tuple[int, int], finite: bool, known: bool
) -> list[Contribution]:
    """wⱼ(xⱼ − x̄ⱼ), the largest first, after the step from the base rate to the average row."""
    k, r = pair
    start = np.log(shares)
    average = W[:, 0] + W[:, 1:] @ means
    moves = W[:, 1:] * (x - means)
    sizes = moves[k] - moves[r]
    order = np.argsort(-np.abs(sizes), kind="stable")
    running = average[:, None] + np.cumsum(moves[:, order], axis=1)
    after = _softmax(np.column_stack([average, running]))[k]
    first_step = float(average[k] - average[r] - (start[k] - start[r]))

    def step(name: str, value: float | None, mean: float | None, size: float, p: float) -> Contribution:
        if not finite:
            return Contribution(name, value, mean, size, None, None)
        with np.errstate(over="ignore"):
            return Contribution(name, value, mean, size, float(np.exp(size)), float(p))

    first = step(AVERAGE if known else ZERO, None, None, first_step, after[0])
    names = model.rule_.columns
    return [first] + [
        step(names[j], float(x[j]), float(means[j]) if known else None, float(sizes[j]), after[at])
        for at, j in enumerate(order.tolist(), 1)
    ]


def _softmax(scores: Floats) -> Floats:
    return np.exp(scores - log_sum_exp(scores, axis=0))  # type: ignore[no-any-return]


def _probabilities(model: Any, x: Floats, W: Floats) -> Floats:
    """P(k | x) of every class, as `predict_proba` has it but for a prior."""
    with np.errstate(over="ignore", invalid="ignore"):
        scores = W[:, 0] + W[:, 1:] @ x
    if not np.isfinite(scores).all():
        raise ValueError("The score of this row is infinite: its numbers are too large; give it in other units.")
    if model.verdict_.status == "quasi-separated":
        return limit_probabilities(model.verdict_, x[None])[0]  # type: ignore[no-any-return]
    if model.verdict_.status == "separated":
        top = scores == scores.max()
        return top / top.sum()  # type: ignore[no-any-return]
    return _softmax(scores[:, None])[:, 0]


def _place(model: Any, name: str, label: Any, default: int) -> int:
    known = model.classes_.tolist()
    if label is None:
        return default
    if label not in known:
        raise ValueError(f"{name} is {label!r}; it must be one of the classes {known}.")
    return int(known.index(label))


def _pair(model: Any, for_class: Any, against: Any, P: Floats) -> tuple[int, int]:
    """The class that is explained, and the one that its odds are against."""
    labels = model.classes_.tolist()
    if len(P) == 2:
        k = _place(model, "for_class", for_class, 1 if against is None or against != labels[1] else 0)
    else:
        k = _place(model, "for_class", for_class, int(P.argmax()))
    r = _place(model, "against", against, _next(P, k))
    if k == r:
        raise ValueError(f"The class that is explained and the one against it are both {labels[k]!r}: name two.")
    return k, r


def _next(P: Floats, k: int) -> int:
    """The likeliest class but one; among equals the last, so that of two classes the first is compared with."""
    others = [j for j in range(len(P)) if j != k]
    return max(others, key=lambda j: (P[j], j))


# ------------------------------------------------------------------------------------------------------------- the row


def row_of(model: Any, row: Any) -> Floats:
    """One row of numbers in the order of the columns of the fit."""
    names = raw_names(model)
    if isinstance(row, Mapping):
        return _numbers(_by_name(dict(row), names, model), names)
    if issparse(row):
        return _numbers(_one(row.toarray(), names), names)  # type: ignore[attr-defined]
    labels = getattr(row, "columns", None)
    values = np.asarray(row, dtype=object)
    if labels is None and values.ndim == 1 and hasattr(row, "iloc"):
        labels = row.index
    values = _one(values, names, names_given=labels is not None)
    if labels is None or (
        not hasattr(model, "feature_names_in_") and not all(isinstance(each, str) for each in labels)
    ):
        if len(values) != len(names):
            raise ValueError(f"The row has {len(values)} numbers; the model was fitted to {len(names)} columns.")
        return _numbers(values, names)
    return _numbers(_by_name(dict(zip(labels, values, strict=True)), names, model), names)


def raw_names(model: Any) -> tuple[str, ...]:
    """The columns of X, not of features made of it."""
    return names_of(model, int(model.n_features_in_)) if hasattr(model, "n_features_in_") else model.rule_.columns


def _one(values: NDArray[Any], names: tuple[str, ...], *, names_given: bool = False) -> NDArray[Any]:
    if values.ndim == 2 and len(values) == 1:
        values = values[0]
    if values.ndim != 1:
        raise ValueError(f"explain takes one row; this has shape {values.shape}: give a row such as X[:1].")
    if not names_given and len(values) != len(names):
        raise ValueError(f"The row has {len(values)} numbers; the model was fitted to {len(names)} columns.")
    return values


def _by_name(found: dict[Any, Any], names: tuple[str, ...], model: Any) -> list[Any]:
    missing = [name for name in names if name not in found]
    strange = [name for name in found if name not in names]
    if missing or strange:
        said = [f"lacks {', '.join(map(repr, missing))}"] if missing else []
        said += [f"has {', '.join(map(repr, strange))}, which {_verb(strange)} not there at fit"] if strange else []
        hint = "" if hasattr(model, "feature_names_in_") else " The model was fitted without names: give a list."
        raise ValueError(f"The row {' and '.join(said)}.{hint}")
    return [found[name] for name in names]


def _verb(names: list[Any]) -> str:
    return "was" if len(names) == 1 else "were"


def _numbers(values: Any, names: tuple[str, ...]) -> Floats:
    numbers = np.empty(len(names))
    for j, (value, name) in enumerate(zip(values, names, strict=True)):
        try:
            numbers[j] = float(value)
        except (TypeError, ValueError):
            raise ValueError(f"The row's {name!r} is {value!r}, not a number.") from None
        if not np.isfinite(numbers[j]):
            raise ValueError(f"The row's {name!r} is {value!r} (NaN or infinity); a finite number is needed.")
    return numbers


def _features(model: Any, x: Floats) -> Floats:
    """What the model is linear in."""
    features = getattr(model, "features_", None)
    return x if features is None else Mapped(x[None], features.map).dense()[0]
