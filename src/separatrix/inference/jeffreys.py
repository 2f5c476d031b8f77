"""The likelihood with Firth's penalty, at many points."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.threads import one_blas_thread
from ..firth import Block as Seen
from ..firth import Firth
from .likelihood import Binary, Jets, Likelihood
from .sample import Block, Sample

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Jeffreys(Likelihood):
    """ℓ*(v) = ℓ(v) + ½ log|A(v)|, A the information; of two classes."""

    sample: Sample

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
        with one_blas_thread():
            return self._firth.glance(v).information

    def _roots(self, block: Block, v: Floats) -> Floats:
        return Binary(self.sample)._roots(block, v)

    def scatter(self, v: Floats, power: int) -> Floats:
        raise NotImplementedError("Firth's penalty believes the likelihood: there is no sandwich")
