"""From a fitted model and its rows to what can be said of the coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...data import Rows
from ...data.frame import Frame
from ...errors import DataError, Refusal, SettingError
from ...fitting.coordinates import frame_of
from ...fitting.problem import NotFiniteError
from ...inference import reasons
from ...inference.likelihood import Binary, Jeffreys, Likelihood, Sample, Softmax, Whole
from ...inference.result import FittedLikelihood, Inference
from ...numerics.arrays import Floats
from ...numerics.linalg import factor
from ...numerics.threads import one_blas_thread, thread_count
from ...wording import setting
from ..checks.rows import checked_costs, not_finite
from ..checks.settings import checked_choice, checked_flag
from ..checks.targets import known_targets, whole_counts
from .rows_of_fit import known_facts
from .training import PENALISED

EVENTS = 10
"""Rows of the rarest class for each coefficient, below which large-sample inference is refused."""
MOST = 6000
"""Coefficients for a matrix of them."""
ALONE = 1 << 21
"""Numbers in X up to which one thread does it all."""
CLEAR = 1e-5
"""The part of its square that a column must leave over beside the others for the information to be formed."""
AGREES = 1e-6
"""Relative: how far the mean loss of the rows may be from the one that the verdict claims."""
COVARIANCES = ("model", "robust")
"""The covariances of the weights."""
WEIGHTS = ("frequency", "sampling")
"""What sample weights can mean."""


def inference_of(
    model: Any, X: Any, y: Any, sample_weight: Any, covariance: str, weights: str | None, force: bool
) -> Inference:
    """See `LogisticRegression.inference`."""
    check_is_fitted(model, "rule_")
    checked_choice("covariance", covariance, COVARIANCES)
    counting = _counting(covariance, weights)
    checked_flag("force", force)
    _check_objective(model, covariance)
    rows, target, cost, places = _given(model, X, y, sample_weight)
    if counting == "sampling" and cost.size:
        cost = cost / cost.max()  # only their ratios matter, and squares of the others might overflow
    try:
        sample = _sample(model, rows, target, cost)
    except NotFiniteError:
        raise not_finite(rows, model.rule_.columns, model) from None
    plain: Likelihood = Binary(sample) if len(model.classes_) == 2 else Softmax(sample)
    W, b = _coefficients(model)
    v = np.concatenate([sample.frame.from_user(w, float(level)) for w, level in zip(W, b, strict=True)])
    whole = plain.whole(v)
    if not (np.isfinite(whole.value) and np.isfinite(whole.information).all()):
        raise not_finite(rows, model.rule_.columns, model)
    _check_rows(model, whole, sample.total)
    classes, doubts = model.classes_.tolist(), _reasons(model, target, cost, places, covariance, counting)
    K, total = len(classes), float(cost.sum()) if cost.size else float(len(rows))
    about = Inference(
        _names(model), tuple(classes), classes[0 if K == 2 else -1], covariance, doubts, bool(force and doubts),
        total, _notes(model),
    )  # fmt: skip
    if about.refused is not None:
        return about
    with one_blas_thread():
        likelihood = Jeffreys(sample) if _penalised(model) else plain
        counts = cost if counting == "frequency" else cost[:0]
        fitted, doubt = _fitted(model, likelihood, v, whole.information, covariance, counts)
    if doubt:
        about = replace(about, reasons=(*doubts, doubt), forced=bool(force))
    if about.refused is not None:
        return about
    functions: Floats = np.kron(np.eye(K - 1), _to_user(sample.frame))  # type: ignore[assignment]
    values = np.ravel(np.column_stack([b, W]) if model.verdict_.claim.fit_intercept else W)
    return replace(about, fitted=fitted, functions=functions, values=values)


def _given(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Floats, Floats, Sequence[int]]:
    """Rows, targets, weights and places in X; a row of weight zero is a row absent."""
    rows, (known, target) = model._readable(X), getattr(model, "_targets_at_hand", (None, None))
    if known is not y or target is None:
        target = known_targets(y, model.classes_, len(rows))
    cost = checked_costs(sample_weight, len(rows))
    _check_size(rows, model)
    if len(rows) != model.verdict_.claim.rows:
        known = model.verdict_.claim.rows
        raise DataError(f"X has {len(rows)} rows; the model was fitted to {known}: give it the same rows.")
    _check_total(model, float(cost.sum()) if cost.size else float(len(rows)))
    if not cost.size or cost.all():
        return rows, target, cost, range(len(rows))
    some = np.flatnonzero(cost)
    return rows[some], target[some], cost[some], some.tolist()


# ------------------------------------------------------------------------------------------------------------- checks


def _counting(covariance: str, weights: str | None) -> str:
    """What the weights of rows mean."""
    if weights is None:
        return "frequency" if covariance == "model" else "sampling"
    if checked_choice("weights", weights, WEIGHTS) == "sampling" and covariance == "model":
        raise SettingError(
            "weights",
            weights,
            "",
            f"{setting('covariance', 'model')} and {setting('weights', 'sampling')} do not go together: the "
            "information "
            f"counts each row as often as its weight says. Use {setting('covariance', 'robust')}.",
        )
    return weights


def _check_objective(model: Any, covariance: str) -> None:
    objective = model.verdict_.claim.objective
    if not model.verdict_.claim.of_likelihood:
        raise Refusal(
            f"{setting('objective', objective)} is no likelihood, so there is nothing to infer from: fit with "
            f"{setting('objective', 'likelihood')}."
        )
    if _penalised(model) and covariance == "robust":
        raise SettingError(
            "covariance",
            covariance,
            "",
            f"{setting('objective', objective)} and {setting('covariance', 'robust')} do not go together: Firth's "
            f"penalty believes the likelihood. Use {setting('covariance', 'model')}, or "
            f"{setting('objective', 'likelihood')}.",
        )


def _check_size(rows: Any, model: Any) -> None:
    size = (len(model.classes_) - 1) * (rows.shape[1] + bool(model.verdict_.claim.fit_intercept))
    if size > MOST:
        raise Refusal(f"There are {size} coefficients, and inference needs a matrix of them: choose {MOST} or fewer.")


def _check_total(model: Any, total: float) -> None:
    """Whether the rows weigh what those of the fit did, as far as that is remembered."""
    facts = known_facts(model, None)
    known = np.nan if facts is None else float(facts.totals.sum())
    if np.isfinite(known) and not abs(total - known) <= 1e-9 * known:
        raise DataError(
            f"The rows weigh {total:.9g} together; the model was fitted to rows that weigh {known:.9g}: give the same "
            "sample_weight."
        )


def _check_rows(model: Any, whole: Whole, total: float) -> None:
    """Whether these are the rows of the fit: the mean loss is the one that it claims."""
    claim = model.verdict_.claim
    claimed = getattr(model.verdict_.certificate, "mean_loss", np.nan) if _penalised(model) else claim.value
    if not np.isfinite(claimed):
        return
    value = -whole.value / total + model.l2_ / 2 * float(np.square(model.coef_).sum())
    if not abs(value - claimed) <= AGREES * max(abs(claimed), 1e-6):
        raise DataError(
            f"These are not the rows that the model was fitted to: its mean loss is {value:.9g} here and was "
            f"{claimed:.9g} there. Give the same X, y and sample_weight."
        )


def _reasons(
    model: Any, target: Floats, cost: Floats, places: Sequence[int], covariance: str, counting: str
) -> tuple[str, ...]:
    """Why the numbers would not mean what they seem."""
    verdict, found, two = model.verdict_, [], len(model.classes_) == 2
    if verdict.status == "separated":
        found.append(reasons.separated(two=two))
    elif verdict.status == "quasi-separated":
        found.append(reasons.quasi_separated(_infinite(model), two=two))
    elif not verdict.ok:
        found.append(reasons.unfinished(verdict.status))
    if model.l2_ > 0:
        found.append(reasons.penalised(model.l2_, two=two))
    if verdict.rank.aliased:
        found.append(reasons.dependent(verdict.rank.aliased))
    if covariance == "model":
        found += _weight_reasons(model, target, cost, places)
    if not _penalised(model):
        found += _event_reasons(model, target, cost, counting)
    return tuple(found)


def _weight_reasons(model: Any, target: Floats, cost: Floats, places: Sequence[int]) -> list[str]:
    """Weights and targets that are no numbers of rows. A share of so many rows is, where both its parts are whole."""
    found, firth, soft = [], _penalised(model), model.verdict_.claim.soft
    whole = whole_counts(target, cost) if soft or cost.size else np.ones(0, bool)  # a label is one of its class
    if not whole.all() and soft:
        found.append(reasons.soft_targets(firth=firth))
    elif not whole.all():
        row = int(np.argmin(whole))
        found.append(reasons.weights_are_no_counts(places[row], float(cost[row]), firth=firth))
    if len(set(model.verdict_.claim.class_weight)) > 1:
        found.append(reasons.class_weights(firth=firth))
    return found


def _event_reasons(model: Any, target: Floats, cost: Floats, counting: str) -> list[str]:
    """Rows of the rarest class for each coefficient of an equation; weights count where they are numbers of rows."""
    counted = cost if counting == "frequency" else np.sign(cost)
    events = counted @ target if cost.size else target.sum(axis=0)
    parameters = model.coef_.shape[1] + bool(model.verdict_.claim.fit_intercept)
    rarest = int(events.argmin())
    if events[rarest] >= EVENTS * parameters:
        return []
    label, two = model.classes_.tolist()[rarest], len(model.classes_) == 2
    return [reasons.few_events(label, float(events[rarest]), parameters, EVENTS, two=two)]


def _infinite(model: Any) -> tuple[str, ...]:
    """The names of the coefficients that tend to infinity."""
    found = model.verdict_.separability
    return () if found is None else tuple(found.infinite)


def _notes(model: Any) -> tuple[str, ...]:
    if model.verdict_.claim.objective != "flic":
        return ()
    return (
        "The intercept is that of Firth's fit; FLIC moves it afterwards so that the mean probability is the share.",
    )


# ------------------------------------------------------------------------------------------------------------ numbers


def _sample(model: Any, rows: Any, target: Floats, cost: Floats) -> Sample:
    """The rows with class weights in their costs."""
    factors = np.array(model.verdict_.claim.class_weight)
    if (factors != 1).any():
        split = target * factors * (cost[:, None] if cost.size else 1.0)
        cost = split.sum(axis=1)
        target = np.where(cost[:, None] > 0, split, target) / np.where(cost > 0, cost, 1.0)[:, None]
    seen = Rows.of(rows, np.ones(len(rows), np.int8), cost)
    frame = frame_of(seen, bool(model.verdict_.claim.fit_intercept), 0)
    threads = thread_count(model.n_threads) if rows.size > ALONE else 1
    two = target.shape[1] == 2
    return Sample(rows, np.ascontiguousarray(target[:, 1]) if two else target, cost, frame, threads)


def _penalised(model: Any) -> bool:
    """Whether the likelihood has Firth's penalty."""
    return model.verdict_.claim.objective in PENALISED  # type: ignore[no-any-return]


def _coefficients(model: Any) -> tuple[Floats, Floats]:
    """Weights and intercepts of every equation: of K classes against the last; of FLIC with Firth's own intercept."""
    W, b = model.coef_, model.intercept_
    if len(W) > 1:
        return W[:-1] - W[-1], b[:-1] - b[-1]
    own = getattr(model.verdict_.certificate, "intercept", None) if _penalised(model) else None
    return W, b if own is None else np.array([own])


def _fitted(
    model: Any, likelihood: Likelihood, v: Floats, H: Floats, covariance: str, counts: Floats
) -> tuple[FittedLikelihood, str]:
    """The covariance of v; and a doubt, where it is only now seen that columns are all but dependent."""
    if model.l2_ > 0:
        H = H + _penalty(model, likelihood.sample)
    made, doubt = factor(H), ""
    determined, finite = not model.verdict_.rank.aliased, model.verdict_.status not in ("separated", "quasi-separated")
    if determined and finite and model.l2_ == 0 and (made is None or made.weakest < CLEAR):
        made = factor(likelihood.root(v))
    if made is not None:
        inverse = made.inverse()
    elif finite:
        doubt = "" if not determined else reasons.nearly_dependent()
        determined, inverse = False, np.asarray(np.linalg.pinv(H, hermitian=True), np.float64)
    else:
        doubt, inverse = reasons.nothing_left(), np.full_like(H, np.nan)
    if covariance == "robust":
        cost = likelihood.sample.cost
        weight = np.square(cost) if cost.size else np.ones(len(likelihood.sample))
        if counts.size:  # a row that stands for so many has as many scores, class weights in each
            weight = weight / counts
        inverse = inverse @ likelihood.scatter(v, weight) @ inverse
    profiled = model.verdict_.ok and model.l2_ == 0
    return FittedLikelihood(likelihood, v, inverse, determined, profiled), doubt


def _penalty(model: Any, sample: Sample) -> Floats:
    """The curvature of (C·l2/2)‖W‖²; of K classes the weights add up to zero, and v is what they are above the last."""
    each = np.append(model.l2_ * sample.total / sample.frame.scale**2, [0.0] * sample.frame.lifted)
    K = len(model.classes_)
    return np.asarray(np.kron(np.eye(K - 1) - (1 / K if K > 2 else 0.0), np.diag(each)), np.float64)


def _to_user(frame: Frame) -> Floats:
    """The intercept, then the weights, as functions of v."""
    d = frame.center.size
    weights = np.zeros((d, frame.width))
    weights[:, :d] = np.diag(1 / frame.scale)
    if not frame.lifted:
        return weights
    return np.vstack([np.append(-frame.center / frame.scale, 1.0), weights])


def _names(model: Any) -> tuple[str, ...]:
    columns = tuple(model.rule_.columns)
    if not model.verdict_.claim.fit_intercept:
        return columns
    return ("(intercept)" if "intercept" in columns else "intercept", *columns)
