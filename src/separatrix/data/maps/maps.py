"""Feature maps once they are known: products of columns, Gaussians, lifted and standardised columns, chains of maps.

A map is plain numbers: `spec` says all of it, and `map_of` makes it again. How a map is learnt from rows is told in
`separatrix.features`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics.arrays import Floats
from .base import FeatureMap
from .products import Products


@dataclass(frozen=True, eq=False)
class Gaussians(FeatureMap):
    """φⱼ(x) = exp(−‖x − cⱼ‖²/(2sⱼ²)).  [003 slide 19]"""

    centres: Floats
    """Features × columns."""
    widths: Floats
    """s, one for each centre."""

    @property
    def width_in(self) -> int:
        return int(self.centres.shape[1])

    @property
    def width_out(self) -> int:
        return len(self.centres)

    @property
    def spec(self) -> tuple[Mapping[str, Any], ...]:
        return ({"kind": "gaussians", "columns": self.width_in, "centres": self.centres, "widths": self.widths},)

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"exp(−‖x−c{j}‖²/2s²)" for j in range(self.width_out))

    def fill(self, X: Floats, out: Floats) -> None:
        from scipy.spatial.distance import cdist

        out[:] = cdist(X, self.centres, "sqeuclidean")  # by differences: offsets of the columns cost no digits
        out *= -0.5 / np.square(self.widths)
        np.exp(out, out=out)


@dataclass(frozen=True)
class LiftMap(FeatureMap):
    """x ↦ (x, 1), in which every rule goes through the origin [001 slide 14]; or x ↦ (x, ‖x‖²)."""

    columns: int
    square: bool = False

    @property
    def width_in(self) -> int:
        return self.columns

    @property
    def width_out(self) -> int:
        return self.columns + 1

    @property
    def spec(self) -> tuple[Mapping[str, Any], ...]:
        return ({"kind": "lift", "columns": self.columns, "square": self.square},)

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (*columns, "‖x‖²" if self.square else "1")

    def fill(self, X: Floats, out: Floats) -> None:
        out[:, :-1] = X
        out[:, -1] = np.einsum("ij,ij->i", X, X) if self.square else 1.0


@dataclass(frozen=True, eq=False)
class StandardMap(FeatureMap):
    """zⱼ = (xⱼ − mⱼ)/sⱼ."""

    mean: Floats
    deviation: Floats

    @property
    def width_in(self) -> int:
        return len(self.mean)

    @property
    def width_out(self) -> int:
        return len(self.mean)

    @property
    def spec(self) -> tuple[Mapping[str, Any], ...]:
        return ({"kind": "standard", "columns": self.width_in, "mean": self.mean, "deviation": self.deviation},)

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        return tuple(columns)

    def fill(self, X: Floats, out: Floats) -> None:
        np.subtract(X, self.mean, out=out)
        out /= self.deviation


@dataclass(frozen=True, eq=False)
class Chain(FeatureMap):
    """Φ = Φₖ ∘ ⋯ ∘ Φ₁: the maps in their order."""

    maps: tuple[FeatureMap, ...]

    @property
    def width_in(self) -> int:
        return self.maps[0].width_in

    @property
    def width_out(self) -> int:
        return self.maps[-1].width_out

    @property
    def spec(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(step for each in self.maps for step in each.spec)

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        for each in self.maps:
            columns = each.names(columns)
        return tuple(columns)

    def fill(self, X: Floats, out: Floats) -> None:
        for each in self.maps[:-1]:
            X = each.expand(X)
        self.maps[-1].fill(X, out)


KINDS: dict[str, Callable[[Mapping[str, Any]], FeatureMap]] = {
    "products": lambda step: Products(int(step["columns"]), np.asarray(step["terms"], dtype=np.int64)),
    "gaussians": lambda step: Gaussians(np.asarray(step["centres"], float), np.asarray(step["widths"], float)),
    "lift": lambda step: LiftMap(int(step["columns"]), bool(step["square"])),
    "standard": lambda step: StandardMap(np.asarray(step["mean"], float), np.asarray(step["deviation"], float)),
}


def map_of(spec: Sequence[Mapping[str, Any]]) -> FeatureMap:
    """The map that a spec describes."""
    maps = tuple(KINDS[step["kind"]](step) for step in spec)
    return maps[0] if len(maps) == 1 else Chain(maps)
