"""Feature maps inside a fit: learnt from the rows, applied block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ...data.block import Block, Dense
from ...data.mapped import MappedRows
from ...data.maps.maps import Chain, FeatureMap
from ...data.maps.statistics import NONE
from ...errors import DataError, SettingError, SettingTypeError
from ...numerics.arrays import Floats
from ...wording import setting
from .rows import checked_rows, new_columns, not_finite

WRITTEN_OUT = 4_000_000
"""Features of all rows that are simply made at once: no more than a block or two has."""
MOST = 30_000
"""Features for which a fit that makes a matrix of them is tried: 7 GB of it."""


@dataclass(frozen=True, eq=False)
class Features:
    """What a fit is linear in: Φ(x), its names, and the transformers that were fitted."""

    map: FeatureMap
    columns: tuple[str, ...]
    """Those of X."""
    names: tuple[str, ...]
    transformers: tuple[Any, ...]
    named: bool = False
    """Whether X was a data frame at fit."""

    def transform(self, X: Any) -> Floats:
        """Φ of every row of X, all of them at once."""
        learnt = new_columns("features_")
        learnt.n_features_in_ = len(self.columns)
        if self.named:
            learnt.feature_names_in_ = np.array(self.columns, dtype=object)
        rows = checked_rows(learnt, X, reset=False)
        if not rows.finite():
            raise not_finite(rows, self.columns, learnt)
        return MappedRows(rows, self.map).dense()

    def __str__(self) -> str:
        count = len(self.names)
        return f"{count} {'feature' if count == 1 else 'features'} of X, {', then '.join(map(str, self.transformers))}"


def learn_features(
    features: Any, rows: Block, columns: Sequence[str], named: bool, estimator: Any, cost: Floats = NONE
) -> Features:
    """Fit clones of the transformers in their order, each on what those before it make of the rows that count.

    What is learnt of them is learnt at their costs: a row of weight two is a row that is there twice.
    """
    steps = _steps(features)
    if cost.size and not cost.all():
        rows, cost = rows[np.flatnonzero(cost)], cost[cost > 0]
    if not rows.finite():
        raise not_finite(rows, tuple(columns), estimator)
    maps: list[FeatureMap] = []
    fitted, names = [], tuple(columns)
    for step in steps:
        one = clone(step)
        here = MappedRows(rows, joined(maps)) if maps else rows
        costs = (cost,) if cost.size and getattr(one, "weighs", False) else ()
        one.map_, one.n_features_in_ = one.learn(here, names, *costs), len(names)
        if named:
            one.feature_names_in_ = np.array(names, dtype=object)
        maps.append(one.map_)
        names = one.map_.names(names)
        fitted.append(one)
    check_names(names)
    return Features(joined(maps), tuple(columns), names, tuple(fitted), named)


def joined(maps: Sequence[FeatureMap]) -> FeatureMap:
    """One map of several."""
    return maps[0] if len(maps) == 1 else Chain(tuple(maps))


def _steps(features: Any) -> list[Any]:
    steps = list(features) if isinstance(features, list | tuple) else [features]
    if not steps:
        problem = f"{setting('features')} is empty:"
        raise SettingError(
            "features", features, "give one of separatrix.features, or several in their order, or None.", problem
        )
    for step in steps:
        if isinstance(step, type) or not callable(getattr(step, "learn", None)):
            given = f"the class {step.__name__}" if isinstance(step, type) else repr(step)
            raise SettingTypeError(
                "features", features, "it takes the transformers of separatrix.features, such as Polynomial(2), which "
                "can be applied block by block. Put any other one before the learner: make_pipeline(transformer, "
                "LogisticRegression()).", f"{setting('features')} has {given};",
            )  # fmt: skip
    return steps


def mapped_rows(rows: Block, features: Features, estimator: Any) -> Block:
    """The rows of features: an array where that is small, or smaller than a matrix of them; else made when read."""
    made = MappedRows(rows, features.map)
    n, width = made.shape
    if made.size <= WRITTEN_OUT or n <= width:
        table = Dense(made.dense())
        if not table.finite():
            raise not_finite(made, features.names, estimator)
        return table
    if width > MOST:
        raise DataError(
            f"There are {width} features, and a fit needs a matrix of them, {width * width * 8 / 1e9:.1f} GB: choose a "
            f"lower degree, fewer columns or Interactions(pairs=…), so that there are at most {MOST}."
        )
    return made


def check_names(names: Sequence[str]) -> None:
    """No two features of one name: a data frame or a rule could not tell them apart."""
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise DataError(
            f"There are {count} features of the name {name!r}: rename the columns of X, or leave out what makes them."
        )
