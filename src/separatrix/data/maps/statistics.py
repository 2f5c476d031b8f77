"""What feature maps learn from rows, block by block: ranges, means and deviations, centres."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError, SettingError
from ...numerics.arrays import Floats
from ...wording import setting
from ..block import block_of

NONE = np.empty(0)
"""No costs: every row counts one."""
NUMBERS = 1 << 20
"""Numbers that are looked at together."""
SEEN = 4_000_000
"""Numbers that k-means sees."""


def blocks_of(rows: Any, cost: Floats = NONE) -> Iterator[tuple[Floats, Floats]]:
    """The rows as arrays in double precision, some at a time, and the part of all cost that each row is."""
    size = max(1, NUMBERS // max(1, rows.shape[1]))
    relative = cost / cost.max() if cost.size else cost  # so that no sum overflows
    share = relative / relative.sum() if cost.size else np.broadcast_to(1.0, len(rows)) / len(rows)
    for lo in range(0, len(rows), size):
        yield np.asarray(block_of(rows[lo : lo + size]).dense(), dtype=np.float64), share[lo : lo + size]


def extent(rows: Any) -> tuple[Floats, Floats]:
    """The least and the largest number of each column."""
    low, high = block_of(rows).extremes()
    return low.astype(np.float64), high.astype(np.float64)


def spread_of(rows: Any, columns: Sequence[str], cost: Floats = NONE) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Means, deviations √(Σc(x − m)²/Σc), and which columns are constant: their mean is that, their spread 1."""
    low, high = extent(rows)
    constant = low == high
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.where(constant, low, sum(share @ block for block, share in blocks_of(rows, cost)))
        square = sum(share @ np.square(block - mean) for block, share in blocks_of(rows, cost))
    deviation = np.where(constant, 1.0, np.sqrt(square))
    sound = np.isfinite(mean) & np.isfinite(deviation) & (deviation > 0)
    if not sound.all():
        j = int(np.flatnonzero(~sound)[0])
        size = max(abs(float(low[j])), abs(float(high[j])))
        way = "overflow: use larger units for it" if size > 1 else "vanish: use smaller units for it"
        problem = f"Column {columns[j]!r} reaches {size:.3g}, and the squares of its deviations {way}."
        raise DataError(problem, column=columns[j], value=size)
    return mean, deviation, constant


def grid(low: Floats, high: Floats, count: int) -> Floats:
    """`count` points on each axis from the least to the largest number, one in the middle if count = 1."""
    axes = [
        np.array([a]) if a == b else np.array([(a + b) / 2]) if count == 1 else np.linspace(a, b, count)
        for a, b in zip(low, high, strict=True)
    ]
    return np.stack([each.ravel() for each in np.meshgrid(*axes, indexing="ij")], axis=1)


def clusters(rows: Any, count: int, random_state: Any, cost: Floats = NONE) -> Floats:
    """The means of `count` clusters of the rows, by k-means, each row at its cost."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils import check_random_state

    n, d = rows.shape
    random = check_random_state(random_state)
    few = max(count, SEEN // max(1, d))
    chosen: Any = slice(None) if n <= few else np.sort(random.choice(n, few, replace=False))
    seen = np.asarray(block_of(rows[chosen]).dense(), dtype=np.float64)
    if count > len(np.unique(seen, axis=0)):
        different = len(np.unique(seen, axis=0))
        problem = f"count={count} centres by k-means, but X has only {different} different rows (n_samples={n}):"
        raise SettingError("count", count, "ask for fewer, or give the centres.", problem)
    weight = cost[chosen] / cost.max() if cost.size else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # clusters that are not settled are centres all the same
        found = KMeans(count, random_state=random, n_init=1).fit(seen, sample_weight=weight).cluster_centers_
    return np.asarray(found, dtype=np.float64)


def nearest_other(centres: Floats) -> Floats:
    """The distance of each centre to the nearest other one."""
    from scipy.spatial import KDTree

    if len(centres) < 2:
        problem = f"{setting('widths', 'spacing')} is the distance to the nearest other centre, and there is but one:"
        raise SettingError("widths", "spacing", f"give {setting('widths')} a number.", problem)
    distances = np.asarray(KDTree(centres).query(centres, k=2)[0], dtype=np.float64)
    near = distances[:, 1]
    if not (near > 0).all():
        j = int(np.flatnonzero(near == 0)[0])
        problem = f"Centre {j} is there twice, so that its spacing is zero:"
        raise SettingError("widths", "spacing", f"leave one out, or give {setting('widths')}.", problem)
    return near
