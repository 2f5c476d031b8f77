"""The largest margin: a few rows at a time inside, a pass over all of them outside."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from ...numerics.arrays import EPS, Floats, Indices
from ...results.separability import Combination
from .certificate import MarginCertificate, certified, crossing
from .hull import Flat, Foot, Hull, LowestRows, flat_of, foot, grown, shrunk

# Wolfe's algorithm: the point of a hull, or of the difference of two, that is nearest to the origin.

ENOUGH = 1e-13
"""A point that lowers ‖z‖² by less than this part of it is not worth a step."""

FEWER = 2
"""Columns for each point from which on points are few."""
WIDE = 1 << 18
"""Numbers of few points from which on they are seen from their span."""


class NearestPoint(NamedTuple):
    """z = Σᵢ λᵢcᵢ, λ > 0, Σλ = 1 in each group, the shortest there is."""

    corral: Indices
    """The points that carry z; their flat has no shorter point."""
    multipliers: Floats
    z: Floats
    zero: bool
    """Whether z is nought but for rounding."""


def nearest(points: Floats, group: Indices, corral: Indices, multipliers: Floats) -> NearestPoint:
    """argmin ‖Σᵢ λᵢcᵢ‖ with λ ≥ 0 and Σλ = 1 in each group, beginning at the corral.  [Wolfe 1976]

    Each round adds the point that lies deepest below the plane through the corral, then walks to the nearest point of
    the corral's flat and drops what the walk runs into. No corral comes twice, so it ends.
    """
    reach = float(np.sqrt(np.einsum("ij,ij->i", points, points).max()))
    flat, here = _settle(points, group, flat_of(points, group, corral, multipliers), multipliers)
    seen, refused = {_mark(flat)}, np.zeros(len(points), dtype=bool)
    while not here.zero:
        scores, length = points @ here.z, float(np.linalg.norm(here.z))
        members = group[flat.corral]
        level = np.bincount(members, weights=scores[flat.corral]) / np.bincount(members)
        depth = np.where(refused, -np.inf, level[group] - scores)
        j = int(depth.argmax())
        if depth[j] <= max(ENOUGH * length**2, 4 * EPS * reach * length):
            break
        larger = grown(points, group, flat, j)
        found = larger and _settle(points, group, larger, np.append(here.multipliers, 0.0))
        if not found or _mark(found[0]) in seen:  # rounding: this point leads nowhere new
            refused[j] = True
            continue
        flat, here = found
        seen.add(_mark(flat))
        refused[:] = False
    return NearestPoint(flat.corral, here.multipliers, here.z, here.zero)


def nearest_in_span(points: Floats, group: Indices, corral: Indices, multipliers: Floats) -> NearestPoint:
    """The nearest point where points are many fewer than columns: in coordinates of their span, of which there are few.

    Where points are few beside the dimension most of them carry z: it begins at all of them.
    """
    if len(points) * FEWER > points.shape[1] or points.size < WIDE:
        return nearest(points, group, corral, multipliers)
    Q, R = qr(points.T, mode="economic", check_finite=False)
    heads = np.unique(group, return_index=True)[1]
    every = np.append(heads, np.delete(np.arange(len(points)), heads))
    found = nearest(np.ascontiguousarray(R.T), group, every, 1 / np.bincount(group)[group[every]])
    return found._replace(z=Q @ found.z)


def _mark(flat: Flat) -> bytes:
    return np.sort(flat.corral).tobytes()


def _settle(points: Floats, group: Indices, flat: Flat, weights: Floats) -> tuple[Flat, Foot]:
    """Towards the nearest point of the corral's flat, dropping points until it lies inside the corral."""
    while True:
        here = foot(points, group, flat)
        least = 4 * EPS if here.zero else 0.0
        out = here.multipliers <= least
        if not out.any():
            return flat, here
        fall = np.maximum(weights[out] - here.multipliers[out], np.finfo(float).tiny)
        step = min(1.0, float(np.min(weights[out] / fall)))
        weights = (1 - step) * weights + step * here.multipliers
        keep = ~out | (weights > least)
        if keep.all():  # at least the point that stopped the walk leaves
            keep[np.flatnonzero(out)[weights[out].argmin()]] = False
        corral = flat.corral[keep]
        flat = shrunk(points, group, flat, keep, weights)
        weights = weights[keep][_places(corral, flat.corral)]


def _places(old: Indices, new: Indices) -> Indices:
    """Where each of the new order stands in the old."""
    order = np.argsort(old)
    return order[np.searchsorted(old, new, sorter=order)]  # type: ignore[no-any-return]


ALL = 1 << 16
"""Numbers up to which all rows are taken inside at once."""
MOST = 1 << 25
"""Numbers of rows that are taken inside, about."""
SEED = 0


class Progress(NamedTuple):
    """Where the search stands after a pass: in the user's units, y(xᵀw + b) = 1 on the rows that carry w."""

    weights: Floats
    intercept: float
    lower: float
    """The margin of these weights on all rows, up to rounding; negative while they do not separate them."""
    upper: float
    """No rule has a larger margin."""
    passes: float
    working: int
    """How many rows were looked at inside."""


@dataclass(frozen=True)
class Outcome:
    """How the search ended."""

    status: str
    passes: float
    best: Progress | None
    """The weights with the largest margin so far, where nothing is proved."""
    found: MarginCertificate | None = None
    crossing: Combination | None = None
    stalled: bool = False
    """Whether it ended because rounding allows no better."""


def maximise(hull: Hull, tol: float, max_passes: float) -> Generator[Progress, None, Outcome]:
    """min ‖w‖ with yᵢ(xᵢᵀw + b) ≥ 1 for all i, by row generation around Wolfe's algorithm."""
    pool, passes = _first(hull), 1.0
    carriers, multipliers = _one_of_each(hull, pool), np.ones(hull.groups)
    best: Progress | None = None
    while True:
        points, group = hull.points(pool), hull.group(pool)
        near = nearest_in_span(
            points, group, np.flatnonzero(np.isin(pool, carriers)), _ordered(pool, carriers, multipliers)
        )
        carriers, multipliers = pool[near.corral], near.multipliers
        if near.zero:
            combination = crossing(hull, carriers, multipliers)
            if combination is None:
                return Outcome("budget", passes, best, stalled=True)
            return Outcome("not-separable", passes, best, crossing=combination)
        lowest = hull.lowest(near.z / hull.unit, _quota(hull))
        passes += 1
        step = _progress(hull, near, lowest, passes, len(pool))
        best = step if best is None or step.lower > best.lower else best
        yield step
        news = _below(hull, lowest, _corral_levels(points, group, near), _enough(hull, near, tol), pool)
        scores, found = points @ near.z, None
        del points  # the certificate needs as much room
        if not len(news):
            found = certified(hull, carriers, multipliers)
            passes += 2
            if found.relative_gap <= tol and found.feasible:
                return Outcome("optimal", passes, best, found)
            news = np.setdiff1d(found.lowest, pool)
        if not len(news) or passes >= max_passes:
            return Outcome("budget", passes, best, found, stalled=not len(news))
        pool = np.append(_trimmed(hull, pool, scores, near), news)


def _first(hull: Hull) -> Indices:
    """All rows that count where they are few, else a sample."""
    counts = hull.counts
    rows = np.arange(len(hull.rows)) if counts is None else np.flatnonzero(counts)
    if len(rows) * hull.width <= ALL:
        return rows
    count = min(len(rows), max(256, 8 * hull.width), _room(hull))
    sample = np.random.default_rng(SEED).choice(rows, count, replace=False)
    some = [rows[np.flatnonzero(hull.group(rows) == g)[0]] for g in range(hull.groups)]
    return np.union1d(sample, np.array(some))  # type: ignore[no-any-return]


def _room(hull: Hull) -> int:
    """How many rows may be written out: many for a corral, which is at most one larger than the weights."""
    return max(2 * hull.width, MOST // hull.width)


def _one_of_each(hull: Hull, pool: Indices) -> Indices:
    """A row of each group: where a corral begins."""
    group = hull.group(pool)
    return np.sort(np.array([pool[np.flatnonzero(group == g)[0]] for g in range(hull.groups)]))


def _ordered(pool: Indices, carriers: Indices, multipliers: Floats) -> Floats:
    """The multipliers of the carriers, in the order in which they stand in the pool."""
    place = {row: at for at, row in enumerate(carriers.tolist())}
    return multipliers[[place[row] for row in pool.tolist() if row in place]]  # type: ignore[no-any-return]


def _quota(hull: Hull) -> int:
    """How many of the lowest rows each run and group may bring."""
    runs = sum(1 for _ in hull.rows.runs())
    return max(4, (4 * hull.width + 64) // (runs * hull.groups))


def _corral_levels(points: Floats, group: Indices, near: NearestPoint) -> Floats:
    """The score of the rows that carry z, in each group."""
    scores, members = points[near.corral] @ near.z, group[near.corral]
    return np.array([scores[members == g].mean() for g in range(int(members.max()) + 1)])


def _enough(hull: Hull, near: NearestPoint, tol: float) -> float:
    """How far below the corral's level a row must lie to matter."""
    length = float(np.linalg.norm(near.z))
    return max(min(tol / 16, 1e-6) * length**2, 8 * EPS * math.sqrt(hull.width) * length)


def _below(hull: Hull, lowest: LowestRows, levels: Floats, enough: float, pool: Indices) -> Indices:
    """The rows found by a pass that lie below the corral's level, and are new."""
    low = lowest.scores < levels[hull.group(lowest.rows)] - enough
    return np.setdiff1d(lowest.rows[low], pool)


def _trimmed(hull: Hull, pool: Indices, scores: Floats, near: NearestPoint) -> Indices:
    """The pool without its highest rows, where it has become long; the corral stays, so that no step is undone."""
    limit = min(max(2000, 20 * hull.width), _room(hull))
    if len(pool) <= limit:
        return pool
    keep = np.argsort(scores, kind="stable")[: limit // 2]
    return pool[np.union1d(keep, near.corral)]  # type: ignore[no-any-return]


def _progress(hull: Hull, near: NearestPoint, lowest: LowestRows, passes: float, working: int) -> Progress:
    K, length = hull.groups, float(np.linalg.norm(near.z))
    weights = near.z * (K / length**2 / hull.unit)
    levels = lowest.levels * (K / length**2)
    intercept = float(weights[-1]) if hull.lifted else 0.0
    if hull.free:
        intercept = float(levels[0] - levels[1]) / 2 - float(hull.centre @ weights)
    lower = float(lowest.levels.sum()) / (K * length) * hull.unit
    return Progress(hull.in_all_columns(weights), intercept, lower, length * hull.unit / K, passes, working)
