"""Scores of naive Bayes: the linear rule, what it is linear in, and the scores of rows with numbers missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.block import Block, Dense, block_of
from ...errors import DataError
from ...losses.families import Bernoulli, Family
from ...numerics.arrays import Floats
from ...results.linear_rule import LinearRule
from ...wording import setting
from .column_statistics import ColumnFamilies, InfiniteError
from .naive_bayes import Parameters

WRITTEN_OUT = 20_000
"""Columns of CSR rows that are written out, some rows at a time, where squares about a mean are needed."""
BLOCK = 1 << 18
"""Numbers of X that are looked at together."""


class UnseenLevelError(DataError):
    """A level that no training row has, where it has no probability."""


@dataclass(frozen=True, eq=False)
class Scorer:
    """sₖ(x) = log p(k) + Σⱼ (cₖⱼ + aₖⱼzⱼ + qₖⱼzⱼ²), z = x − m, over the numbers that are there."""

    parameters: Parameters
    families: ColumnFamilies
    columns: tuple[str, ...]
    apart: bool = True
    """Whether two classes have one score, the log-odds of the second."""

    @property
    def squared(self) -> NDArray[np.intp]:
        """The columns whose squares are features."""
        return np.flatnonzero(self.parameters.square.any(axis=0))

    @property
    def plain(self) -> NDArray[np.intp]:
        """The columns that are not categorical."""
        return np.setdiff1d(np.arange(len(self.columns)), self.families.categorical)

    def rule(self, classes: tuple[Any, ...]) -> LinearRule:
        """wₖ = aₖ − 2qₖm of x, qₖ of x², bₖ = log p(k) + Σⱼ (cₖⱼ − aₖⱼmⱼ + qₖⱼmⱼ²); of two classes the difference.

        It has the log-odds of the classes for scores; of K classes, each score may lack what is the same for all.
        """
        p = self.parameters
        a, q, m = p.linear, p.square, p.centre
        parts = [(a - 2 * q * m)[:, self.plain], q[:, self.squared]]
        parts += [np.log(levels) for levels in self._levels()]
        W, terms = np.hstack(parts), np.column_stack([p.log_prior, p.constant - (a - q * m) * m])
        names, features = self.names(), self.linear_in()
        if len(classes) == 2:
            return LinearRule(W[1] - W[0], float((terms[1] - terms[0]).sum()), classes, names, True, features)
        return LinearRule(W, terms.sum(axis=1), classes, names, True, features)

    def names(self) -> tuple[str, ...]:
        """The features of the rule by name."""
        cut = set(self.families.columns(Bernoulli()).tolist()) if self.families.threshold is not None else set()
        made = [
            f"[{self.columns[j]} > {self.families.threshold:g}]" if j in cut else self.columns[j] for j in self.plain
        ]
        made += [f"{self.columns[j]}²" for j in self.squared]
        for j, table in self.parameters.tables.items():
            made += [f"[{self.columns[j]} = {value:g}]" for value in table.values]
            made += [f"[{self.columns[j]} = other]"] if table.unseen is not None else []
        return tuple(made)

    def origins(self) -> NDArray[np.intp]:
        """The column that each feature of the rule was made from."""
        levels = [
            np.full(len(table.values) + (table.unseen is not None), j) for j, table in self.parameters.tables.items()
        ]
        return np.concatenate([self.plain, self.squared, *levels]).astype(np.intp)

    def linear_in(self) -> str:
        """What the rule is linear in; empty if it is x itself."""
        parts = ["x"] if len(self.plain) else []
        if self.families.threshold is not None:
            parts = [
                f"[x > {self.families.threshold:g}]" if self._all_cut() else f"x or [x > {self.families.threshold:g}]"
            ]
        parts += ["x²"] if len(self.squared) else []
        parts += ["[x = level]"] if len(self.parameters.tables) else []
        return "" if parts == ["x"] else parts[0] if len(parts) == 1 else f"({', '.join(parts)})"

    def features(self, X: Any) -> Any:
        """What the rule is linear in, a row for each of X; CSR rows stay so unless there are categories."""
        rows = block_of(X)
        cut = self.families.cut(rows)
        if rows.skips_zeros and not len(self.parameters.tables):
            from scipy.sparse import hstack

            squares = cut.select(self.squared).squared()
            return hstack([cut.plain(), squares.plain()], format="csr") if len(self.squared) else cut.plain()
        X, made = rows.dense(), cut.dense()
        parts = [made[:, self.plain], made[:, self.squared] ** 2]
        parts += [self._indicators(X, j) for j in self.parameters.tables]
        return np.hstack(parts)

    def scores(self, X: Any) -> Floats:
        """n × K; of two classes the log-odds of the second. What is missing adds nothing."""
        rows = block_of(X)
        plain = rows.skips_zeros and not len(self.parameters.tables) and rows.finite()
        if plain and not (len(self.squared) and rows.shape[1] <= WRITTEN_OUT):
            return self._of_zeros(rows)
        found = [self._of_block(block, lo) for lo, block in self._blocks(rows)]
        return np.concatenate([np.empty(0 if self._single else (0, len(self.parameters.log_prior))), *found])

    def log_base(self, X: Any) -> Floats:
        """Σⱼ b(xⱼ) and what else all classes share of log p(x): of each row, beside the scores."""
        found = [self._base_of(self.families.cut(Dense(block)).dense()) for _, block in self._blocks(block_of(X))]
        return np.concatenate([np.empty(0), *found])

    @property
    def _single(self) -> bool:
        return self.apart and len(self.parameters.log_prior) == 2

    def _all_cut(self) -> bool:
        return len(self.families.columns(Bernoulli())) == len(self.plain)

    def _blocks(self, rows: Block) -> Iterator[tuple[int, Floats]]:
        return ((part.start, block.astype(np.float64, copy=False)) for part, block in rows.blocks(BLOCK))

    def _levels(self) -> Iterator[Floats]:
        for table in self.parameters.tables.values():
            yield table.probability
            if table.unseen is not None:
                yield table.unseen[:, None]

    def _for_two(self, part: Floats) -> Floats:
        """Of two classes the difference, one column; else as it is: columns × classes."""
        return (part[1:] - part[:1]).T if self._single else part.T

    def _of_zeros(self, X: Block) -> Floats:
        """By products with numbers and their squares, zeros skipped."""
        p = self.parameters
        rows = self.families.cut(X)
        found = rows @ self._for_two(p.linear - 2 * p.square * p.centre)
        if len(self.squared):
            found += rows.squared() @ self._for_two(p.square)
        terms = np.column_stack([p.log_prior, p.constant - (p.linear - p.square * p.centre) * p.centre])
        found = found + self._for_two(terms).sum(axis=0)
        return found[:, 0] if self._single else found  # type: ignore[no-any-return]

    def _of_block(self, X: Floats, start: int) -> Floats:
        p, plain, z = self.parameters, self.plain, self.families.cut(Dense(X)).dense()
        z = z[:, plain] - p.centre[plain] if p.centre.any() else z[:, plain]
        parts = [self._for_two(part[:, plain]) for part in (p.linear, p.square, p.constant)]
        found = z @ parts[0] + (parts[2].sum(axis=0) + self._for_two(p.log_prior[:, None])[0])
        if len(self.squared):
            found += z**2 @ parts[1]
        gaps = ~np.isfinite(found).all(axis=1)
        if gaps.any():
            z, there = z[gaps], ~np.isnan(z[gaps])
            z = np.where(there, z, 0.0)
            found[gaps] = z @ parts[0] + z**2 @ parts[1] + there @ parts[2] + self._for_two(p.log_prior[:, None])[0]
        for j, table in p.tables.items():
            logs = [np.log(table.probability)] + ([np.log(table.unseen)[:, None]] if table.unseen is not None else [])
            by_level = self._for_two(np.hstack([*logs, np.zeros((len(p.log_prior), 1))]))
            found += by_level[self._places(X, j, start)]
        return found[:, 0] if self._single else found  # type: ignore[no-any-return]

    def _indicators(self, X: Any, j: int) -> Floats:
        """1 at the level of each row, none where it is missing; a level not seen has the last column."""
        table = self.parameters.tables[j]
        width = len(table.values) + (table.unseen is not None)
        return np.eye(width + 1)[self._places(X, j)][:, :width]  # type: ignore[no-any-return]

    def _places(self, X: Any, j: int, start: int = 0) -> NDArray[np.intp]:
        """The place of each row's level; then that of levels not seen, or they are refused; last of what is missing."""
        table, x = self.parameters.tables[j], X[:, j]
        if np.isinf(x).any():
            raise InfiniteError
        levels, missing = len(table.values), np.isnan(x)
        found = np.searchsorted(table.values, x)
        strange = ~missing
        if levels:
            strange &= table.values[np.minimum(found, levels - 1)] != x
        if table.unseen is None and levels and strange.any():
            i = int(np.argmax(strange))
            known = ", ".join(f"{value:g}" for value in table.values[:8]) + (", …" if levels > 8 else "")
            raise UnseenLevelError(
                f"is {x[i]:g}, a level that no training row has: they have {known}. With {setting('smoothing')} above "
                "zero such a level has a probability; or leave the row out.",
                array="X", row=start + i, column=self.columns[j], value=x[i],
            )  # fmt: skip
        found[strange] = levels
        found[missing] = levels + (table.unseen is not None)
        return found  # type: ignore[no-any-return]

    def _base_of(self, X: Floats) -> Floats:
        total = np.zeros(len(X))
        p = self.parameters
        for j, family in enumerate(self.families.by_column):
            if j in p.silent or j in p.tables:
                continue
            x = X[:, j]
            if isinstance(family, Family):
                total += np.where(np.isnan(x), 0.0, family.log_base(x))
            elif not p.square[:, j].any():
                v = p.variance[0, j]
                total -= np.where(np.isnan(x), 0.0, (x - p.centre[j]) ** 2 / (2 * v) + np.log(2 * np.pi * v) / 2)
        return total
