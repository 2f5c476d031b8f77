"""What naive Bayes says of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...losses.families import Family
from ...results.claims import EstimateClaim
from ...results.proofs import Estimates
from ...results.verdict import Rank, Verdict, listed

ERROR = 1e-11
"""What is claimed of the estimates, in units of their size: sums of rows lose some digits of sixteen."""


def verdict_of(model: Any) -> Verdict:
    """Optimal: each parameter is a formula of the rows, and is claimed as such."""
    rows, silent, names = model._statistics.rows, model.parameters_.silent, model._names()
    cause = (
        f"Optimal: the parameters are formulas of the {rows} rows, so that nothing was searched for; check(X, y) "
        f"computes them again, to within {ERROR:g} of their size."
    )
    if silent:
        some = listed([names[j] for j in silent])
        cause += f" Nothing can be learnt from {some}, where all numbers are equal or missing: weight zero."
    if model._statistics.moments.present is not None:
        cause += " Missing numbers were skipped."
    rank = Rank(None, model.coef_.shape[1] + 1, ())
    return Verdict("optimal", rank, Estimates(ERROR), cause, "", claim_of(model))


def claim_of(model: Any) -> EstimateClaim:
    """The parameters, the rule that they make, and what was chosen."""
    found, families, rule = model.parameters_, model._scorer.families, model.rule_
    parameters = {
        "prior": np.exp(found.log_prior),
        "mean": found.mean,
        "variance": found.variance,
        "levels": {model._names()[j]: table.values for j, table in found.tables.items()},
        "probabilities": {model._names()[j]: table.probability for j, table in found.tables.items()},
        "weights": rule.weights,
        "intercept": rule.intercept,
    }
    priors = model.priors
    settings = {
        "families": tuple(_described(each) for each in families.by_column),
        "smoothing": float(model.smoothing),
        "priors": "learnt"
        if priors is None
        else "equal"
        if isinstance(priors, str)
        else tuple(np.ravel(priors).tolist()),
        "threshold": families.threshold,
    }
    return EstimateClaim(
        "naive Bayes", tuple(model.classes_.tolist()), model._names(), parameters, settings, model._statistics.rows
    )


def _described(family: Any) -> Any:
    """A family of ours by its name; another as it is, for its formulas are its own."""
    if type(family).__module__ != Family.__module__:
        return family
    return f"Gaussian, {family.variance} variance" if family.name == "Gaussian" else family.name
