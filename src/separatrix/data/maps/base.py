"""What a feature map is: x ↦ Φ(x), row by row, so that any block of rows can be mapped by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...numerics.arrays import Floats


class FeatureMap(ABC):
    """x ↦ Φ(x)."""

    def __post_init__(self) -> None:
        for part in vars(self).values():
            if isinstance(part, np.ndarray):
                part.setflags(write=False)  # the verdict's claim shows the same numbers

    @property
    @abstractmethod
    def width_in(self) -> int:
        """How many columns x has."""

    @property
    @abstractmethod
    def width_out(self) -> int:
        """How many features there are."""

    @property
    @abstractmethod
    def spec(self) -> tuple[Mapping[str, Any], ...]:
        """The map as plain data: for each of the maps in their order its kind and its numbers."""

    @abstractmethod
    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The features, by the names of the columns."""

    @abstractmethod
    def fill(self, X: Floats, out: Floats) -> None:
        """Φ of every row of X, written to `out`."""

    def expand(self, X: Any) -> Floats:
        """Φ of every row, in double precision."""
        X = np.asarray(X, dtype=np.float64)
        out = np.empty((len(X), self.width_out))
        with np.errstate(over="ignore", invalid="ignore"):  # who reads the features finds what is not finite
            self.fill(X, out)
        return out
