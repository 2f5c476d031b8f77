"""From a fitted model and one row to the explanation of its prediction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ...errors import DataError
from ...inference.explanation import Explanation, View
from ...numerics.arrays import Floats
from ..checks.rows import names_of
from .rows_of_fit import Facts, known_facts, rows_of_fit
from .summary import per_class


def explanation_of(model: Any, row: Any, for_class: Any, against: Any) -> Explanation:
    """See `LogisticRegression.explain`."""
    x = _features(model, row_of(model, row))
    facts, notes = _facts(model)
    status = model.verdict_.status
    view = View(
        model.classes_.tolist(), model.rule_.columns, per_class(model), status,
        model.limit_rule.probabilities if status == "quasi-separated" else None,
        getattr(model, "prior_", None), None if facts is None else facts.means,
        None if facts is None else facts.totals / facts.totals.sum(),
    )  # fmt: skip
    return view.explain(x, for_class, against, notes)


def _facts(model: Any) -> tuple[Facts | None, list[str]]:
    """Shares and means: of all rows where that is known, and what to say where it is not."""
    facts = known_facts(model, None)
    if facts is None:
        return None, []
    if not facts.sampled:
        return facts, []
    given, _ = rows_of_fit(model, (None, None, None))
    if given is not None:
        model._facts = known_facts(model, given)  # so that the rows are read once
        return model._facts, []
    return facts, [
        "The means are those of a sample of the training rows: these are no longer in memory, or have changed."
    ]


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
            raise DataError(f"The row has {len(values)} numbers; the model was fitted to {len(names)} columns.")
        return _numbers(values, names)
    return _numbers(_by_name(dict(zip(labels, values, strict=True)), names, model), names)


def raw_names(model: Any) -> tuple[str, ...]:
    """The columns of X, not of features made of it."""
    return names_of(model, int(model.n_features_in_)) if hasattr(model, "n_features_in_") else model.rule_.columns


def _one(values: NDArray[Any], names: tuple[str, ...], *, names_given: bool = False) -> NDArray[Any]:
    if values.ndim == 2 and len(values) == 1:
        values = values[0]
    if values.ndim != 1:
        raise DataError(f"explain takes one row; this has shape {values.shape}: give a row such as X[:1].")
    if not names_given and len(values) != len(names):
        raise DataError(f"The row has {len(values)} numbers; the model was fitted to {len(names)} columns.")
    return values


def _by_name(found: dict[Any, Any], names: tuple[str, ...], model: Any) -> list[Any]:
    missing = [name for name in names if name not in found]
    strange = [name for name in found if name not in names]
    if missing or strange:
        said = [f"lacks {', '.join(map(repr, missing))}"] if missing else []
        said += [f"has {', '.join(map(repr, strange))}, which {_verb(strange)} not there at fit"] if strange else []
        hint = "" if hasattr(model, "feature_names_in_") else " The model was fitted without names: give a list."
        raise DataError(f"The row {' and '.join(said)}.{hint}")
    return [found[name] for name in names]


def _verb(names: list[Any]) -> str:
    return "was" if len(names) == 1 else "were"


def _numbers(values: Any, names: tuple[str, ...]) -> Floats:
    numbers = np.empty(len(names))
    for j, (value, name) in enumerate(zip(values, names, strict=True)):
        try:
            numbers[j] = float(value)
        except (TypeError, ValueError):
            raise DataError(f"The row's {name!r} is {value!r}, not a number.", column=name, value=value) from None
        if not np.isfinite(numbers[j]):
            raise DataError(
                f"The row's {name!r} is {value!r} (NaN or infinity); a finite number is needed.",
                column=name,
                value=value,
            )
    return numbers


def _features(model: Any, x: Floats) -> Floats:
    """What the model is linear in."""
    features = getattr(model, "features_", None)
    return x if features is None else features.map.expand(x[None])[0]
