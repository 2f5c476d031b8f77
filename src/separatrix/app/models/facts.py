"""What is known of the training rows and the fit, as JSON holds it."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import scipy

from ...data.block import block_of
from ...data.maps.maps import FeatureMap
from ...inference.summary.summary import Summary
from ...learners.checks.rows import checked_costs
from ...learners.logistic.rows_of_fit import deviations_of, means_of
from .document import DIGITS
from .rules import Rule, mapped

FACTS = ("rows", "columns", "class_totals", "means", "means_sampled", "deviations", "versions")
"""What a model says of its training rows first, in this order; then all else by name."""

LISTED = 1000
"""Rows that a saved verdict names one by one."""


def facts_of(estimator: Any) -> dict[str, Any]:
    """What the fit itself remembers."""
    claim = getattr(getattr(estimator, "verdict_", None), "claim", None)
    found: dict[str, Any] = {"columns": int(estimator.n_features_in_), "versions": versions()}
    rows = getattr(claim, "rows", None)
    if isinstance(rows, int | np.integer):
        found["rows"] = int(rows)
    facts = getattr(estimator, "_facts", None)
    if facts is not None and np.isfinite(facts.means).all():
        found |= {"rows": int(facts.rows), "class_totals": facts.totals.tolist(), "means": facts.means.tolist(),
                  "means_sampled": bool(facts.sampled)}  # fmt: skip
    return found


def versions() -> dict[str, str]:
    """Of what the numbers come from."""
    return {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__,
            **{name: version(name) for name in ("scikit-learn", "numba")}}  # fmt: skip


def known_spread(estimator: Any) -> dict[str, Any] | None:
    """Means and deviations of all rows of the fit, where a summary has worked them out."""
    facts = getattr(estimator, "_facts", None)
    if facts is None or facts.sampled or facts.deviations is None or not np.isfinite(facts.deviations).all():
        return None
    return {"means": facts.means.tolist(), "means_sampled": False, "deviations": facts.deviations.tolist()}


def spread_of(X: Any, sample_weight: Any, rule: Rule, features: FeatureMap | None) -> dict[str, Any]:
    """Means and deviations of what the rule reads, by the rows of the fit; nothing where a number is missing."""
    if X is None:
        return {}
    rows = block_of(X)
    if rule.kind == "naive bayes":
        made: Any = block_of(rule.features(rows.dense()))  # type: ignore[attr-defined]
    else:
        made = mapped(rows, features)
    cost = checked_costs(sample_weight, len(rows))
    with np.errstate(over="ignore", invalid="ignore"):
        means = means_of(made, cost)
        deviations = deviations_of(made, cost, means)
    if not (np.isfinite(means).all() and np.isfinite(deviations).all()):
        return {}
    return {"means": means.tolist(), "means_sampled": False, "deviations": deviations.tolist()}


def plain_fact(fact: Any) -> Any:
    """As JSON holds it; of a summary the numbers and the page."""
    return plain({**fact.to_dict(), "text": str(fact)} if isinstance(fact, Summary) else fact)


def counted(value: Any) -> Any:
    """A verdict may name many rows: of more than a thousand a file keeps how many they are, and the first."""
    if isinstance(value, dict):
        return {key: counted(each) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > LISTED and all(isinstance(each, bool | int | str) for each in value):
        return {"count": len(value), "first": value[:10]}
    return [counted(each) for each in value]


def plain(value: Any) -> Any:
    """A value as JSON holds it: what is infinite or NaN becomes its text, an object its name and its parameters."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, bool | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, int):
        return int(value) if len(str(abs(value))) < DIGITS else str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in (sorted(value, key=str) if isinstance(value, set | frozenset) else value)]
    if isinstance(value, type):
        return value.__name__
    name = type(value).__name__
    if callable(getattr(value, "get_params", None)):
        return {"kind": name, "parameters": plain(value.get_params(deep=False))}
    if is_dataclass(value):
        return {"kind": name, "parameters": {each.name: plain(getattr(value, each.name)) for each in fields(value)}}
    return str(getattr(value, "__qualname__", name))
