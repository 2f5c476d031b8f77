"""How well a model fits: what can be said from the likelihood, and what had better be left out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple


class Measure(NamedTuple):
    """A number with its name."""

    key: str
    label: str
    value: float


class LeftOut(NamedTuple):
    """Numbers that are not given, and why."""

    labels: tuple[str, ...]
    reason: str


LABELS = {
    "log_likelihood": "log-likelihood",
    "deviance": "deviance",
    "null_deviance": "null deviance",
    "likelihood_ratio": "likelihood ratio χ²",
    "degrees": "degrees of freedom",
    "p": "p of that ratio",
    "aic": "AIC",
    "bic": "BIC",
    "mcfadden": "McFadden R²",
    "adjusted_mcfadden": "adjusted McFadden R²",
    "cox_snell": "Cox–Snell R²",
    "nagelkerke": "Nagelkerke R²",
    "deviance_explained": "deviance explained",
    "tjur": "Tjur R²",
    "mean_loss": "mean squared error",
    "events_per_parameter": "rows of the rarest class per coefficient",
}
"""In the order in which they are shown."""
OF_THE_MAXIMUM = (
    "likelihood_ratio", "degrees", "p", "aic", "bic", "adjusted_mcfadden", "cox_snell", "nagelkerke",
)  # fmt: skip
OF_THE_NULL = ("null_deviance", "mcfadden", "deviance_explained")


@dataclass(frozen=True)
class FitFacts:
    """What the measures are made of; None where it is not known."""

    log_likelihood: float | None
    null: float | None
    """The log-likelihood of the model that knows no column: of the intercept alone, or of equal probabilities."""
    weight: float
    """C: the sum of the weights, n where there are none."""
    parameters: int | None
    null_parameters: int
    entropy: float = 0.0
    """Σ cᵢ H(tᵢ) of targets that are probabilities: no model can have a loss below that."""
    soft: bool = False
    tjur: float | None = None
    mean_loss: float | None = None
    """Of an objective that is no likelihood."""
    events: float | None = None
    """Rows of the rarest class for each coefficient of an equation."""
    doubts: tuple[str, ...] = ()
    """Why the likelihood is not the maximum of one that was observed."""
    unknown: str = ""
    """Why there is no likelihood at all."""
    nothing_null: str = ""
    """Why that of the null model is not known."""


def deviance(log_likelihood: float, entropy: float = 0.0) -> float:
    """D = −2(ℓ − ℓ_saturated) = 2C · (mean loss − mean entropy of the targets), which for labels is zero."""
    return 2 * (-log_likelihood - entropy) + 0.0  # no −0


def null_log_likelihood(totals: list[float], fit_intercept: bool) -> float:
    """ℓ₀ = Σₖ Cₖ log(Cₖ/C), Cₖ the weight of class k; without an intercept −C log K."""
    weight = math.fsum(totals)
    if not fit_intercept:
        return -weight * math.log(len(totals))
    return math.fsum(total * math.log(total / weight) for total in totals if total > 0)


def mcfadden(log_likelihood: float, null: float, parameters: int = 0) -> float:
    """1 − (ℓ − k)/ℓ₀; adjusted for the number k of all parameters, or with k = 0 not."""
    return 1 - (log_likelihood - parameters) / null


def cox_snell(log_likelihood: float, null: float, weight: float) -> float:
    """1 − exp(2(ℓ₀ − ℓ)/C)."""
    return -math.expm1(2 * (null - log_likelihood) / weight)


def nagelkerke(log_likelihood: float, null: float, weight: float) -> float:
    """Cox and Snell's over the most that it can be, 1 − exp(2ℓ₀/C)."""
    return cox_snell(log_likelihood, null, weight) / -math.expm1(2 * null / weight)


def measured(facts: FitFacts) -> tuple[tuple[Measure, ...], tuple[LeftOut, ...]]:
    """Every measure that means something, and what is left out, with the reason."""
    found: dict[str, float | None] = {"tjur": facts.tjur, "events_per_parameter": facts.events}
    out: list[LeftOut] = []
    if facts.mean_loss is not None:
        found["mean_loss"] = facts.mean_loss
    if facts.log_likelihood is None:
        out.append(_left(("log_likelihood", "deviance", *OF_THE_NULL[:2], *OF_THE_MAXIMUM), facts.unknown))
    else:
        found |= {
            "log_likelihood": facts.log_likelihood,
            "deviance": deviance(facts.log_likelihood, facts.entropy),
        }
        out += _against_null(facts, found)
    shown = tuple(Measure(key, LABELS[key], value) for key in LABELS if (value := found.get(key)) is not None)
    return shown, tuple(out)


def _against_null(facts: FitFacts, found: dict[str, float | None]) -> list[LeftOut]:
    value, null = facts.log_likelihood, facts.null
    assert value is not None
    if null is None:
        return [_left((*OF_THE_NULL[:2], *OF_THE_MAXIMUM), facts.nothing_null)]
    found["null_deviance"] = deviance(null, facts.entropy)
    if facts.soft and found["null_deviance"]:
        found["deviance_explained"] = 1 - deviance(value, facts.entropy) / deviance(null, facts.entropy)
    elif not facts.soft:
        found["mcfadden"] = mcfadden(value, null)
    if facts.doubts or facts.parameters is None:
        reason = " ".join(facts.doubts) or "The rank of the columns was not settled, so the parameters are not counted."
        return [_left(OF_THE_MAXIMUM, reason)]
    from scipy.special import chdtrc  # at need: a saved model is explained without it

    ratio, k = 2 * (value - null), facts.parameters
    degrees = k - facts.null_parameters
    found |= {
        "likelihood_ratio": ratio,
        "degrees": degrees,
        "p": float(chdtrc(degrees, ratio)) if degrees else math.nan,
        "aic": 2 * k - 2 * value,
        "bic": k * math.log(facts.weight) - 2 * value,
        "adjusted_mcfadden": mcfadden(value, null, k),
        "cox_snell": cox_snell(value, null, facts.weight),
        "nagelkerke": nagelkerke(value, null, facts.weight),
    }
    return []


def _left(keys: tuple[str, ...], reason: str) -> LeftOut:
    return LeftOut(tuple(LABELS[key] for key in keys), reason)
