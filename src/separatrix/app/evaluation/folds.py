"""Folds: which rows are held out together, the same for every learner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.intp]


def folds(truth: Places, k: int, *, seed: int = 0, groups: Places | None = None, classes: Sequence[Any] = ()) -> Places:
    """The fold of each row, 0 … k − 1: each class spread evenly, and the rows of a group together.

    The same truth, groups, k and seed give the same folds.
    """
    truth = np.asarray(truth, dtype=np.intp)
    _check(truth, k, groups, classes)
    random = np.random.default_rng(seed)
    if groups is None:
        return _by_rows(truth, k, random)
    return _by_groups(truth, np.unique(np.asarray(groups), return_inverse=True)[1], k, random)


def _by_rows(truth: Places, k: int, random: np.random.Generator) -> Places:
    """The rows of each class in random order are dealt out in turn, going on where the class before ended."""
    order = random.permutation(len(truth))
    order = order[np.argsort(truth[order], kind="stable")]
    found = np.empty(len(truth), dtype=np.intp)
    found[order] = np.arange(len(truth)) % k
    return found


def _by_groups(truth: Places, groups: Places, k: int, random: np.random.Generator) -> Places:
    """Large groups first, each to the fold that it brings nearest to its even share of every class."""
    classes = int(truth.max()) + 1
    counts = np.bincount(groups * classes + truth, minlength=(groups.max() + 1) * classes).reshape(-1, classes)
    share = np.maximum(counts.sum(axis=0), 1) / k
    order = random.permutation(len(counts))
    order = order[np.argsort(-counts[order].sum(axis=1), kind="stable")]
    filled, empty, home = np.zeros((k, classes)), np.ones(k, bool), np.empty(len(counts), dtype=np.intp)
    left = len(counts)
    for group in order.tolist():
        after = (((filled + counts[group]) / share) ** 2 - (filled / share) ** 2).sum(axis=1)
        # As many groups are left as folds are empty: each of them gets one, so that no fold stays empty.
        after = np.where(empty, after, np.inf) if left <= empty.sum() else after
        fold = int(after.argmin())
        filled[fold] += counts[group]
        empty[fold] = False
        home[group] = fold
        left -= 1
    return home[groups]


def _check(truth: Places, k: int, groups: Places | None, classes: Sequence[Any]) -> None:
    units = len(truth) if groups is None else len(np.unique(groups))
    what = "rows" if groups is None else "groups"
    if k < 2 or k > units:
        raise ValueError(f"{k} folds of {units} {what} cannot be; give from 2 to {units} folds.")
    for place in np.unique(truth).tolist():
        own = truth == place
        count = int(own.sum()) if groups is None else len(np.unique(groups[own]))
        if count < 2:
            name = repr(classes[place]) if classes else f"number {place}"
            raise ValueError(
                f"The class {name} is in one of the {what} only: the fold that holds it out would be learnt without "
                f"that class. Give more {what} of it, or leave it out."
            )
