"""From a fitted model, and its rows where they are at hand, to its summary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import SettingError
from ...inference.summary.lines import Spread
from ...inference.summary.measures import measured
from ...inference.summary.summary import Summary
from ...results.verdict import listed
from ...wording import call, has, setting
from ..checks.settings import checked_choice, checked_flag, checked_number
from .memory import Facts, means_of
from .rows_at_hand import Given, facts_of_given, known_facts, rows_of_fit
from .summary_measures import doubts_of, fit_facts
from .summary_table import blocks_of, spreads_of

COVARIANCES, METHODS = ("model", "robust"), ("wald", "profile")
SYMMETRIC = "symmetric"


@dataclass(frozen=True)
class Asked:
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
    asked = Asked(
        _checked_level(level), _reference(model, reference), checked_choice("covariance", covariance, COVARIANCES),
        checked_choice("method", method, METHODS), checked_flag("force", force),
    )  # fmt: skip
    given, lacking = rows_of_fit(model, rows)
    facts = _facts(model, given)
    reasons, spreads, refused = _inferred(model, given, lacking, asked)
    measures, left_out = measured(fit_facts(model, given, facts))
    blocks = blocks_of(model, facts, asked.reference, spreads)
    return Summary(
        _head(model, facts), model.verdict_.status, str(model.verdict_), measures, left_out, blocks, asked.reference,
        asked.level, asked.method, asked.covariance, refused,
        tuple(reasons), _notes(model, given, lacking, asked, facts, spread=bool(spreads)),
    )  # fmt: skip


def _facts(model: Any, given: Given | None) -> Facts | None:
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


# ----------------------------------------------------------------------------------------------------- what was asked


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
    model: Any, given: Given | None, lacking: str, asked: Asked
) -> tuple[tuple[str, ...], dict[Any, list[Spread]], str | None]:
    """Why the spreads would not mean what they seem (none: they do), the spreads; or none, and why."""
    if given is None:
        return (), {}, lacking
    if asked.reference is None:
        return (), {}, "in the symmetric form no class is compared with another; choose one of them as reference."
    if model.verdict_.claim.objective == "squared":
        squared, likelihood = setting("objective", "squared"), setting("objective", "likelihood")
        return (), {}, f"{squared} is no likelihood, so there is nothing to infer from: use {likelihood}."
    if not hasattr(model, "inference"):
        return (), {}, "this model has no inference."
    model._targets_at_hand = given.y, given.targets  # so that they are made once
    try:
        found = model.inference(given.X, given.y, given.sample_weight, covariance=asked.covariance, force=asked.force)
        if found.refused is not None:
            forced = (
                f" {call('summary(…, force=True)')} shows the numbers all the same, marked †." if has("force") else ""
            )
            return (), {}, f"{found.refused}{forced}"
        return found.reasons, spreads_of(found.with_reference(asked.reference), asked.level, asked.method), None
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
    model: Any, given: Given | None, lacking: str, asked: Asked, facts: Facts | None, *, spread: bool
) -> tuple[str, ...]:
    verdict, claim, K = model.verdict_, model.verdict_.claim, len(model.classes_)
    found = []
    if given is not None:
        found.append("per SD: the weight times the standard deviation of its column (divisor: the weight of all rows).")
    else:
        found.append(f"No weights per standard deviation: {lacking}")
    if given is not None and not np.isfinite(claim.value):
        found.append("The fit knew no loss, so nothing tells whether these are its rows but their number.")
    if spread and asked.method == "profile":
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
    if asked.reference is None:
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
