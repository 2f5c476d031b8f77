"""What naive Bayes says of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...fitting.closed.column_statistics import ColumnStatistics
from ...fitting.closed.naive_bayes_scores import Scorer
from ...losses.families import Family
from ...results.claims import EstimateClaim
from ...results.linear_rule import LinearRule
from ...results.proofs import Estimates
from ...results.verdict import Rank, Verdict, listed

ERROR = 1e-11
"""What is claimed of the estimates, in units of their size: sums of rows lose some digits of sixteen."""


def verdict_of(
    model: Any, statistics: ColumnStatistics, classes: NDArray[Any], scorer: Scorer, rule: LinearRule
) -> Verdict:
    """Optimal: each parameter is a formula of the rows, and is claimed as such."""
    rows, silent, names = statistics.rows, scorer.parameters.silent, scorer.columns
    cause = (
        f"Optimal: the parameters are formulas of the {rows} rows, so that nothing was searched for; check(X, y) "
        f"computes them again, to within {ERROR:g} of their size."
    )
    if silent:
        some = listed([names[j] for j in silent])
        cause += f" Nothing can be learnt from {some}, where all numbers are equal or missing: weight zero."
    if statistics.moments.present is not None:
        cause += " Missing numbers were skipped."
    rank = Rank(None, rule.weights.shape[-1] + 1, ())
    claim = claim_of(model, tuple(classes.tolist()), rows, scorer, rule)
    return Verdict("optimal", rank, Estimates(ERROR), cause, "", claim)


def claim_of(model: Any, classes: tuple[Any, ...], rows: int, scorer: Scorer, rule: LinearRule) -> EstimateClaim:
    """The parameters, the rule that they make, and what was chosen."""
    found, families, names = scorer.parameters, scorer.families, scorer.columns
    parameters = {
        "prior": np.exp(found.log_prior),
        "mean": found.mean,
        "variance": found.variance,
        "levels": {names[j]: table.values for j, table in found.tables.items()},
        "probabilities": {names[j]: table.probability for j, table in found.tables.items()},
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
    return EstimateClaim("naive Bayes", classes, names, parameters, settings, rows)


def _described(family: Any) -> Any:
    """A family of ours by its name; another as it is, for its formulas are its own."""
    if type(family).__module__ != Family.__module__:
        return family
    return f"Gaussian, {family.variance} variance" if family.name == "Gaussian" else family.name
