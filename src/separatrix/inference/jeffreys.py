"""The likelihood with Firth's penalty, at many points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..fitting.risk.firth import Block as Seen
from ..fitting.risk.firth import Firth
from ..numerics.arrays import Floats
from ..numerics.threads import one_blas_thread
from .likelihood import Binary, Jets, Likelihood
from .sample import Block, Sample

TWISTED = 1 << 25
"""n·d³ up to which all of the curvature is worked out."""


@dataclass(frozen=True)
class Jeffreys(Likelihood):
    """ℓ*(v) = ℓ(v) + ½ log|A(v)|, A the information; of two classes."""

    sample: Sample
    concave: ClassVar[bool] = False
    """Not known to be: under a constraint there may be more than one maximum."""

    @property
    def size(self) -> int:
        return self.sample.width

    @cached_property
    def _firth(self) -> Firth:
        return Firth(self._read, len(self.sample))

    def _read(self, look: Callable[[Seen], tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
        for rows in self.sample.blocks():
            block = self.sample.block(rows)
            yield look(Seen(rows, block.Z, block.target, block.cost))

    def jets(self, points: Floats) -> Jets:
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            found = [self._firth(v) for v in points]
        return Jets(np.array([each.value for each in found]), np.array([each.gradient for each in found]))

    def information(self, v: Floats) -> Floats:
        """A: what stands for −∂²ℓ*, which need not be positive."""
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            return self._firth.glance(v).information

    def bends(self, v: Floats) -> Iterator[Floats]:
        """−∂²ℓ* itself, where that is not too dear; else without the part that is never negative; then A."""
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            at = self._firth.glance(v)
            if at.inverse.size:
                bend = self._firth.curvature(at, self._firth.slope(at))
                if len(self.sample) * self.size**3 <= TWISTED:
                    bend = bend + self._firth.twist(at) / 2
                yield bend
            yield at.information

    def _roots(self, block: Block, v: Floats) -> Floats:
        return Binary(self.sample)._roots(block, v)

    def scatter(self, v: Floats, weight: Floats) -> Floats:
        raise NotImplementedError("Firth's penalty believes the likelihood: there is no sandwich")
