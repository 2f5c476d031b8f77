"""Which instructions kernels are made of: those written by hand in `llvm` where they compile, else their plain twins.

The question is asked when a kernel is compiled; one that comes from the cache does not ask.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from numba import types

from . import plain_lanes
from .jit import kernel, made_once, write

try:
    from . import llvm

    HAND_WRITTEN: tuple[ModuleType, ...] = (llvm,)
except (ImportError, AttributeError):  # an llvmlite or a Numba of another build
    HAND_WRITTEN = ()

SOURCES = (sys.modules[__name__], plain_lanes, *HAND_WRITTEN)
"""What a kernel that uses `instructions` is made of."""


@made_once
def instructions() -> Any:
    """The module of instructions: `llvm` or `plain_lanes`, which have the same functions."""
    return first_that_compiles(*HAND_WRITTEN)


def first_that_compiles(*modules: Any) -> Any:
    """The first module whose instructions compile on this machine; `plain_lanes` if none does."""
    for module in modules:
        try:
            trial_kernel(module.__name__)
        except Exception:  # noqa: S112  whatever this LLVM or Numba objects to
            continue
        return module
    return plain_lanes


@kernel(*SOURCES)
def trial_kernel(name: str) -> Any:
    """A kernel that needs all instructions of a module to compile."""
    table, number, i = write("float64", 2), types.float64, types.int64
    return _trial(sys.modules[name]), number(table, table, write(), write("int32"), i)  # type: ignore[no-untyped-call]


def _trial(module):  # type: ignore[no-untyped-def]
    score, move, far, near = (
        module.dense_score, module.dense_move_and_score, module.dense_fetch_far, module.dense_fetch_near,
    )  # fmt: skip
    line_far, line_near, gather, scatter = module.line_far, module.line_near, module.gather(1), module.scatter(1)

    def kernel(W, X, values, columns, i):  # type: ignore[no-untyped-def]
        far(X, i)
        near(X, i)
        line_far(values, i)
        line_near(columns, i)
        gather(values, columns, i, i, X, X, i)
        scatter(values, columns, i, i, X, i, X)
        return score(W, 0, 0.0, X, i) + move(W, 0, 1.0, 1.0, i, 0.0, X, i)

    return kernel
