"""Rows of features that are made when they are read, a block at a time: the table of them never exists as a whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..numerics.arrays import Floats
from .block import Block, block_of
from .maps.maps import FeatureMap


@dataclass(frozen=True, eq=False)
class MappedRows(Block):
    """Φ(xᵢ) for the rows xᵢ of a table, dense or mostly zeros; some of them are copies of the rows x."""

    raw: Any
    """The rows x: an array, or a block."""
    map: FeatureMap
    made = True

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.raw), self.map.width_out

    @property
    def dtype(self) -> Any:
        """Features are made in double precision."""
        return np.dtype(np.float64)

    def __getitem__(self, rows: Any) -> MappedRows:
        return replace(self, raw=self.raw[rows])

    def dense(self) -> Floats:
        return self.map.expand(block_of(self.raw).dense())

    @property
    def made_of(self) -> Block | None:
        return block_of(self.raw)
