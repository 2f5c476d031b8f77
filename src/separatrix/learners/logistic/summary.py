"""From a fitted model, and its rows where they are at hand, to its summary: measures of fit, table and notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from ...errors import SettingError
from ...inference.summary.lines import TENDS, Block, Line, Spread
from ...inference.summary.measures import FitFacts, measured, null_log_likelihood
from ...inference.summary.summary import Summary
from ...numerics.arrays import Floats
from ...results.proofs import Limit
from ...results.separability import INTERCEPT
from ...results.verdict import listed
from ...wording import call, has, setting
from ..checks.settings import checked_choice, checked_flag, checked_number
from ..checks.targets import whole_counts
from .rows_of_fit import (
    Facts,
    TrainingRows,
    facts_of_given,
    known_facts,
    log_likelihood,
    means_of,
    rows_of_fit,
    second_probability,
)

COVARIANCES = ("model", "robust")
"""The covariances of the weights."""
METHODS = ("wald", "profile")
"""How intervals are made."""
SYMMETRIC = "symmetric"
"""The reference of weights that add up to zero over the classes."""


@dataclass(frozen=True)
class SummaryOptions:
    """How a summary is to look."""

    level: float
    reference: Any
    """A class; None: the symmetric form."""
    covariance: str
    method: str
    force: bool


def summary_of(
    model: Any, rows: tuple[Any, Any, Any], *, level: float, reference: Any, covariance: str, method: str, force: bool
) -> Summary:
    """See `LogisticRegression.summary`."""
    options = SummaryOptions(
        _checked_level(level), _reference(model, reference), checked_choice("covariance", covariance, COVARIANCES),
        checked_choice("method", method, METHODS), checked_flag("force", force),
    )  # fmt: skip
    given, lacking = rows_of_fit(model, rows)
    facts = _facts(model, given)
    reasons, spreads, refused = _inferred(model, given, lacking, options)
    measures, left_out = measured(fit_facts(model, given, facts))
    blocks = blocks_of(model, facts, options.reference, spreads)
    return Summary(
        _head(model, facts), model.verdict_.status, str(model.verdict_), measures, left_out, blocks, options.reference,
        options.level, options.method, options.covariance, refused,
        tuple(reasons), _notes(model, given, lacking, options, facts, spread=bool(spreads)),
    )  # fmt: skip


def _facts(model: Any, given: TrainingRows | None) -> Facts | None:
    """Facts of the rows, deviations too where there are rows; they are kept, so that these are read once."""
    facts = known_facts(model, None)
    if given is None:
        return None if facts is None else replace(facts, deviations=None)
    claim = model.verdict_.claim
    near = means_of(given.rows[:1], np.empty(0)) if facts is None else facts.means
    facts = facts_of_given(given, claim.class_weight, claim.soft, near)
    if not hasattr(model, "_online"):
        model._facts = facts
    return facts


# ---------------------------------------------------------------------------------------------------- the options


def _checked_level(level: Any) -> float:
    found = checked_number("level", level, least=0, strict=True)
    if found >= 1:
        raise SettingError("level", level, "it must be between 0 and 1, such as 0.95.")
    return found


def _reference(model: Any, reference: Any) -> Any:
    """The class that the odds are against; None for the symmetric form."""
    known = model.classes_.tolist()
    if reference is None:
        return known[0] if len(known) == 2 else known[-1]
    if reference in known:
        return known[known.index(reference)]
    if isinstance(reference, str) and reference == SYMMETRIC:
        if len(known) > 2:
            return None
        raise SettingError(
            "reference",
            reference,
            "",
            f"reference is 'symmetric', which is for three classes or more; this model has {known}.",
        )
    ways = f", or {SYMMETRIC!r}" if len(known) > 2 else ""
    raise SettingError("reference", reference, f"it must be one of the classes {known}{ways}.")


# ---------------------------------------------------------------------------------------------------------- inference


def _inferred(
    model: Any, given: TrainingRows | None, lacking: str, options: SummaryOptions
) -> tuple[tuple[str, ...], dict[Any, list[Spread]], str | None]:
    """Why the spreads would not mean what they seem (none: they do), the spreads; or none, and why."""
    if given is None:
        return (), {}, lacking
    if options.reference is None:
        return (), {}, "in the symmetric form no class is compared with another; choose one of them as reference."
    if not model.verdict_.claim.of_likelihood:
        own, likelihood = setting("objective", model.verdict_.claim.objective), setting("objective", "likelihood")
        return (), {}, f"{own} is no likelihood, so there is nothing to infer from: use {likelihood}."
    if not hasattr(model, "inference"):
        return (), {}, "this model has no inference."
    model._targets_at_hand = given.y, given.targets  # so that they are made once
    try:
        found = model.inference(
            given.X, given.y, given.sample_weight, covariance=options.covariance, force=options.force
        )
        if found.refused is not None:
            forced = (
                f" {call('summary(…, force=True)')} shows the numbers all the same, marked †." if has("force") else ""
            )
            return (), {}, f"{found.refused}{forced}"
        return found.reasons, spreads_of(found.with_reference(options.reference), options.level, options.method), None
    except ValueError as error:  # what was asked for makes no sense for this model: the sentence says why
        return (), {}, str(error)
    finally:
        del model._targets_at_hand


# ----------------------------------------------------------------------------------------------------- head and notes


def _head(model: Any, facts: Facts | None) -> dict[str, Any]:
    claim = model.verdict_.claim
    head: dict[str, Any] = {
        "model": type(model).__name__, "classes": tuple(model.classes_.tolist()), "rows": claim.rows,
    }  # fmt: skip
    factors = np.array(claim.class_weight)
    if facts is not None and (facts.weighted or (factors != 1).any()):
        head["sum of weights"] = float(facts.totals @ factors)
    head |= {"objective": claim.objective, "l2": float(claim.l2), "solver": model.solver}
    if not claim.fit_intercept:
        head["intercept"] = "none"
    features = getattr(model, "features_", None)
    return head if features is None else head | {"linear in": str(features)}


def _notes(
    model: Any, given: TrainingRows | None, lacking: str, options: SummaryOptions, facts: Facts | None, *, spread: bool
) -> tuple[str, ...]:
    verdict, claim, K = model.verdict_, model.verdict_.claim, len(model.classes_)
    found = []
    if given is not None:
        found.append("per SD: the weight times the standard deviation of its column (divisor: the weight of all rows).")
    else:
        found.append(f"No weights per standard deviation: {lacking}")
    if given is not None and not np.isfinite(claim.value):
        found.append("The fit knew no loss, so nothing tells whether these are its rows but their number.")
    if spread and options.method == "profile":
        found.append("z and p are those of likelihood-ratio tests: z is the signed root of the fall, SE is Wald's.")
    if spread and claim.objective == "flic":
        found.append("FLIC fits the intercept again after Firth's fit; it has no interval of its own.")
    if claim.soft:
        found.append("The targets are probabilities: the deviance is relative to their entropy, and 0 if P = y.")
    if not claim.fit_intercept:
        found.append(f"There is no intercept: the null model gives every class the probability 1/{K}.")
    if facts is not None and facts.weighted and not doubts_of(model, given, facts):
        found.append("AIC and BIC take the weights of rows for numbers of rows.")
    if verdict.rank.aliased:
        one = len(verdict.rank.aliased) == 1
        what = "is a combination" if one else "are combinations"
        found.append(
            f"‡ {listed(verdict.rank.aliased)} {what} of the others: {'its weight is' if one else 'their weights are'} "
            "one choice of many with the same scores."
        )
    if options.reference is None:
        found.append("Odds ratios are against the geometric mean of all classes, not against one class.")
    elif K > 2 and claim.l2 > 0:
        symmetric = call("summary(reference='symmetric')")
        found.append(f"The penalty treats all classes alike: {symmetric} shows the weights as they were fitted.")
    return (*found, *_limits_in_words(model))


def _limits_in_words(model: Any) -> tuple[str, ...]:
    if model.verdict_.status not in ("separated", "quasi-separated"):
        return ()
    if model.verdict_.separability is None:
        return ("The classes are separated, so the weights have no finite value.",)
    return ("Weights that maximum likelihood sends to infinity are written +∞ or −∞, ±∞ where it may be either.",)


def fit_facts(model: Any, given: TrainingRows | None, facts: Facts | None) -> FitFacts:
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


def _log_likelihood(model: Any, given: TrainingRows | None, weight: float) -> tuple[float | None, str]:
    """ℓ = −C · mean loss, the penalty taken off; after *separated* and *quasi-separated* its limit."""
    verdict, claim = model.verdict_, model.verdict_.claim
    if not claim.of_likelihood:
        return None, f"{setting('objective', claim.objective)} is no likelihood."
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


def doubts_of(model: Any, given: TrainingRows | None, facts: Facts | None) -> tuple[str, ...]:
    """Why the likelihood is not the maximum of one that was observed."""
    verdict, claim = model.verdict_, model.verdict_.claim
    said = {
        "separated": "The classes are separated: the likelihood has no maximum, these are its limits.",
        "quasi-separated": "The classes are quasi-separated: the likelihood has no maximum, these are its limits.",
    }
    found = [] if verdict.ok else [said.get(verdict.status, "The fit did not come to the maximum of the likelihood.")]
    if claim.l2 > 0:
        found.append(f"The weights are shrunk by l2 = {claim.l2:g}, so they are not at the maximum of the likelihood.")
    if claim.of_likelihood and claim.objective != "likelihood":
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


def _counted(given: TrainingRows | None, facts: Facts | None) -> bool:
    """Whether each row stands for a whole number of rows of each class; from the totals alone where rows are gone."""
    if given is not None:
        return bool(given.once("counted", lambda: whole_counts(given.targets, given.cost).all()))
    totals = np.empty(0) if facts is None else facts.totals
    return bool((np.abs(totals - np.round(totals)) <= 1e-9 * np.maximum(totals, 1)).all())


def _tjur(model: Any, given: TrainingRows | None) -> float | None:
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


def blocks_of(
    model: Any, facts: Facts | None, reference: Any, spreads: Mapping[Any, list[Spread]]
) -> tuple[Block, ...]:
    """wₖ − w_reference for every class k but the reference; in the symmetric form wₖ less the mean of all."""
    known = model.classes_.tolist()
    scale = None if facts is None else facts.deviations
    W = per_class(model)
    against = W.mean(axis=0) if reference is None else W[known.index(reference)]
    return tuple(
        Block(label, reference, _lines(model, W[k] - against, scale, label, reference, spreads.get(label)))
        for k, label in enumerate(known)
        if reference is None or label != reference
    )


def per_class(model: Any) -> Floats:
    """classes × (intercept, weights); of two classes the first's are zero."""
    table = np.column_stack([model.intercept_, model.coef_])
    return table if len(table) > 1 else np.vstack([np.zeros_like(table), table])


def spreads_of(inferred: Any, level: float, method: str) -> dict[Any, list[Spread]]:
    """For every class the spread of each of its weights, in the order of the names.

    By profile z is the signed root of the likelihood ratio, so that p and the interval agree about zero.
    """
    p = len(inferred.names)
    z = inferred.z if method == "wald" else inferred.signed_roots()
    numbers = (
        *np.moveaxis(np.reshape(inferred.interval(level, method), (-1, p, 2)), -1, 0),
        *(np.reshape(each, (-1, p)) for each in (inferred.standard_errors, z, 2 * ndtr(-np.abs(z)))),
    )
    return {
        label: [Spread(*(float(each[k, j]) for each in numbers)) for j in range(p)]
        for k, label in enumerate(inferred.equations)
    }


def _lines(
    model: Any, w: Floats, scale: Floats | None, label: Any, reference: Any, spreads: list[Spread] | None
) -> tuple[Line, ...]:
    claim, aliased = model.verdict_.claim, set(model.verdict_.rank.aliased)
    columns = ([(INTERCEPT, 0)] if claim.fit_intercept else []) + [(name, j) for j, name in enumerate(claim.columns, 1)]
    lines = []
    for place, (name, j) in enumerate(columns):
        tends = tendency(model, label, reference, name)
        finite = tends == "finite"
        weight = float(w[j]) if finite else TENDS.get(tends, np.nan)
        per = None if scale is None or not j else (weight * float(scale[j - 1]) if finite else weight)
        shown = name if j else intercept_name(claim.columns)
        own = finite and (j or claim.objective != "flic")  # FLIC moved the intercept off the one that has a spread
        spread = spreads[place] if spreads and own else None  # that of a stand-in for infinity would be a pretence
        lines.append(Line(shown, weight, per, spread, bool(j) and name in aliased, tends))
    return tuple(lines)


def intercept_name(columns: tuple[str, ...]) -> str:
    """What the intercept is called beside these columns."""
    return INTERCEPT if "intercept" in columns else "intercept"


def tendency(model: Any, label: Any, reference: Any, name: str) -> str:
    """Where maximum likelihood sends the weight of a class less that of the reference."""
    verdict = model.verdict_
    if verdict.status not in ("separated", "quasi-separated"):
        return "finite"
    known = getattr(verdict.separability, "coefficients", None)
    if known is None:
        return "unknown"
    if reference is None:
        kinds = {_kind(known, each, name, model) for each in model.classes_.tolist()}
        return "finite" if kinds == {"finite"} else "undetermined"
    return _difference(_kind(known, label, name, model), _kind(known, reference, name, model))


def _kind(known: Mapping[Any, Any], label: Any, name: str, model: Any) -> str:
    """That of one class; the weights of the last class, of two classes of the first, are zero."""
    classes = model.classes_.tolist()
    if len(classes) == 2:
        return str(known[name]) if label == classes[1] else "finite"
    return str(known[label][name]) if label != classes[-1] else "finite"


def _difference(one: str, other: str) -> str:
    """Where a difference goes: that of two infinities of one sign may go anywhere."""
    turned = {"+inf": "-inf", "-inf": "+inf"}
    if other == "finite":
        return one
    if one == "finite":
        return turned.get(other, other)
    return one if one == turned.get(other) else "undetermined"
