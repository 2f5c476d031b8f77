"""Signed rows of the data with multipliers, and the exact sums of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..results.separability import Combination
from .cases import Cases
from .exact import EPS, weighed_sum
from .matrix import is_csr, written

NEAR = 2.0**-10
"""How far, relatively, an exact multiplier may be from the given one."""


@dataclass(frozen=True)
class SignedRows:
    """Rows (e_own − e_other)⊗z, z of the columns that are not aliased and a one, with their multipliers.

    The blocks of all classes that occur add up to nothing, so that the last of them is left out.
    """

    cases: Cases
    keep: Any
    intercept: bool
    rows: Any
    own: Any
    other: Any
    multipliers: Any

    @classmethod
    def of(cls, cases: Cases, keep: Any, intercept: bool, given: Combination | None) -> SignedRows | None:
        """The rows, or None where they are not signed rows of the data with positive multipliers."""
        if not isinstance(given, Combination):
            return None
        try:
            numbers = [np.asarray(each) for each in (given.rows, given.own, given.other)]
            multipliers = np.asarray(given.multipliers, dtype=float)
        except (TypeError, ValueError):
            return None
        if any(each.shape != multipliers.shape or each.ndim != 1 or each.dtype.kind not in "iu" for each in numbers):
            return None
        rows, own, other = numbers
        inside = (rows >= 0) & (rows < cases.X.shape[0])
        for each in (own, other):
            inside &= (each >= 0) & (each < cases.classes)
        if not inside.all() or not cases.own[rows, own].all() or (own == other).any():
            return None
        if not (np.isfinite(multipliers) & (multipliers > 0)).all():
            return None
        return cls(cases, keep, intercept, rows, own, other, multipliers)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def present(self) -> list[int]:
        """The classes that have a block: all that occur but the last."""
        return [int(k) for k in np.union1d(self.own, self.other)[:-1]]

    @cached_property
    def blocks(self) -> list[tuple[int, int]]:
        """(class, column) of every coordinate; the intercept's column is −1."""
        return [(k, j) for k in self.present for j in [*self.keep, *([-1] * self.intercept)]]

    @cached_property
    def _columns(self) -> Any:
        """These rows of X, sparse ones column by column."""
        X = self.cases.X[self.rows]
        return X.tocsc() if is_csr(X) else X

    def column(self, k: int, j: int) -> Any:
        """One coordinate of all rows."""
        sign = (self.own == k).astype(float) - (self.other == k)
        return sign if j < 0 else sign * written(self._columns[:, [j]]).ravel()

    def matrix(self, some: Any) -> Any:
        """Some of the rows, in all coordinates."""
        Z = written(self.cases.X[self.rows[some]][:, self.keep])
        Z = np.column_stack([Z, np.ones((len(Z), int(self.intercept)))])
        own, other = self.own[some], self.other[some]
        parts = [((own == k).astype(float) - (other == k))[:, None] * Z for k in self.present]
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(Z), 0))

    def vanishes(self) -> bool:
        """Whether Σᵢ λᵢaᵢ = 0 as it stands."""
        return all(not weighed_sum(self.multipliers, self.column(k, j)) for k, j in self.blocks)

    def nearly_vanishes(self, slack: float) -> bool:
        """|Σᵢ λᵢaᵢⱼ| ≤ slack Σᵢ λᵢ|aᵢⱼ| in every column, nothing in the intercept's.

        What is left over there is small against the flow λ from any class to any other: scaling the flows along a
        tree of classes by 1 ± ε removes it, ε at most all that is left over the least flow.
        """
        if not slack:
            return False
        flow = np.zeros((self.cases.classes, self.cases.classes))
        np.add.at(flow, (self.own, self.other), self.multipliers)
        left = sum(abs(weighed_sum(self.multipliers, self.column(k, j))) for k, j in self.blocks if j < 0)
        change = float(2 * left) * 1.001 / float(flow[flow > 0].min())
        least = (slack * (1 - change) - change) * (1 - 2 * (len(self) + 8) * EPS)
        if change > NEAR or least < 0:
            return False
        columns = (self.column(k, j) for k, j in self.blocks if j >= 0)
        return all(
            abs(weighed_sum(self.multipliers, column)) <= Fraction(float(least * (self.multipliers @ np.abs(column))))
            for column in columns
        )
