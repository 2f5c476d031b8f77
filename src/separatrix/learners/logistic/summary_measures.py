"""From a fitted model to what its measures of fit are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...inference.summary.measures import FitFacts, null_log_likelihood
from ...results.proofs import Limit
from ...wording import call, setting
from ..checks.targets import whole_counts
from .memory import Facts
from .rows_at_hand import Given, log_likelihood, second_probability


def fit_facts(model: Any, given: Given | None, facts: Facts | None) -> FitFacts:
    """What is known of the likelihood, and why not more."""
    verdict, claim = model.verdict_, model.verdict_.claim
    weight = 0.0 if facts is None else float(facts.totals @ np.array(claim.class_weight))
    value, unknown = _log_likelihood(model, given, weight)
    equations, rank = len(model.classes_) - 1, verdict.rank.rank
    null = None if facts is None else null_log_likelihood(
        (facts.totals * np.array(claim.class_weight)).tolist(), claim.fit_intercept
    )  # fmt: skip
    return FitFacts(
        value, null, weight, None if rank is None else equations * rank, equations * bool(claim.fit_intercept),
        entropy=0.0 if facts is None else facts.entropy, soft=claim.soft, tjur=_tjur(model, given),
        mean_loss=_squared_error(model), events=_events(model, facts), doubts=doubts_of(model, given, facts),
        unknown=unknown,
        nothing_null=f"The class shares of the training rows are not known; call {call('summary(X, y)')}.",
    )  # fmt: skip


def _log_likelihood(model: Any, given: Given | None, weight: float) -> tuple[float | None, str]:
    """ℓ = −C · mean loss, the penalty taken off; after *separated* and *quasi-separated* its limit."""
    verdict, claim = model.verdict_, model.verdict_.claim
    if claim.objective == "squared":
        return None, f"{setting('objective', 'squared')} is no likelihood."
    if verdict.status == "separated":
        return 0.0, ""
    if isinstance(verdict.certificate, Limit):
        return -verdict.certificate.deviance / 2, ""
    if given is not None:
        return log_likelihood(model, given), ""
    if claim.objective != "likelihood":
        penalised = setting("objective", claim.objective)
        return None, f"{penalised} is a penalised likelihood; what it penalises needs the rows."
    if not (weight and np.isfinite(claim.value)):
        return None, f"The likelihood at these weights was not worked out; call {call('summary(X, y)')}."
    return -weight * (claim.value - claim.l2 / 2 * float(np.square(model.coef_).sum())), ""


def _squared_error(model: Any) -> float | None:
    claim = model.verdict_.claim
    if claim.objective != "squared" or not np.isfinite(claim.value):
        return None
    return float(claim.value - claim.l2 / 2 * np.square(model.coef_).sum())


def doubts_of(model: Any, given: Given | None, facts: Facts | None) -> tuple[str, ...]:
    """Why the likelihood is not the maximum of one that was observed."""
    verdict, claim = model.verdict_, model.verdict_.claim
    said = {
        "separated": "The classes are separated: the likelihood has no maximum, these are its limits.",
        "quasi-separated": "The classes are quasi-separated: the likelihood has no maximum, these are its limits.",
    }
    found = [] if verdict.ok else [said.get(verdict.status, "The fit did not come to the maximum of the likelihood.")]
    if claim.l2 > 0:
        found.append(f"The weights are shrunk by l2 = {claim.l2:g}, so they are not at the maximum of the likelihood.")
    if claim.objective not in ("likelihood", "squared"):
        found.append(f"{setting('objective', claim.objective)} moves the weights off the maximum of the likelihood.")
    if len(set(claim.class_weight)) > 1:
        found.append(
            f"{setting('class_weight')} makes rows count for more or less than they are, so no such rows were observed."
        )
    counted = _counted(given, facts) if claim.soft or given is None or given.cost.size else True
    if claim.soft and not counted:
        found.append("The targets are probabilities, not outcomes, so no such likelihood was observed.")
    elif not counted:
        found.append("The weights of rows are no whole numbers, so they are not numbers of rows that were observed.")
    return tuple(found)


def _counted(given: Given | None, facts: Facts | None) -> bool:
    """Whether each row stands for a whole number of rows of each class; from the totals alone where rows are gone."""
    if given is not None:
        return bool(given.once("counted", lambda: whole_counts(given.targets, given.cost).all()))
    totals = np.empty(0) if facts is None else facts.totals
    return bool((np.abs(totals - np.round(totals)) <= 1e-9 * np.maximum(totals, 1)).all())


def _tjur(model: Any, given: Given | None) -> float | None:
    """Mean P(1 | x) of the rows of the second class less that of the first."""
    if given is None or len(model.classes_) > 2 or model.verdict_.claim.soft:
        return None
    weight = given.targets * given.cost[:, None] if given.cost.size else given.targets
    first, second = (second_probability(model, given) @ weight) / weight.sum(axis=0)
    return float(second - first)


def _events(model: Any, facts: Facts | None) -> float | None:
    if facts is None:
        return None
    return float(facts.totals.min() / (model.coef_.shape[1] + bool(model.verdict_.claim.fit_intercept)))
