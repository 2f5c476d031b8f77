"""Newton–Raphson."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..linalg import steady_factor
from .descent import Direction, Floats, bounded


@dataclass(frozen=True)
class Newton(Direction):
    """d = −H⁻¹g, so that w ← w + (XᵀP(I − P)X)⁻¹ Xᵀ(y − p).  [000 8.10; 002 10]

    Each step costs O(d²n + d³). Where H is singular to working precision its diagonal is raised just enough.
    """

    full: Any
    """The request for a Hessian."""

    @property
    def ask(self) -> Any:
        return self.full

    def __call__(self, at: Any) -> Floats:
        return bounded(-steady_factor(at.hessian).solve(at.gradient), at)
