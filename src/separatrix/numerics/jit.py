"""How a kernel is compiled, cached on disk and made once in a process.

Whoever writes a kernel says its text, its signature and of which modules it is made:

    @kernel(readers)
    def score_kernel(dtype: str) -> Any:
        return _score, types.void(read(dtype, 2), read(), write())

`score_kernel("float64")` is then the compiled text. A second process compiles nothing; an edited source is never served
stale; where no folder for the cache can be written, every process compiles anew.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from types import FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar

from numba import njit, types

EXACT: dict[str, Any] = {"fastmath": {"contract"}, "error_model": "numpy"}
"""For formulas: their order of operations stands."""

SUMS: dict[str, Any] = {"fastmath": {"contract", "reassoc", "nsz"}, "error_model": "numpy"}
"""For sums, which may be split over vector lanes."""

INLINED: dict[str, Any] = {**EXACT, "forceinline": True}
"""For what a call would cost more than it does."""

UNFUSED: dict[str, Any] = {}
"""For sums without rounding: every operation rounds by itself."""

Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")
_making = threading.RLock()


def made_once(make: Callable[Arguments, Made]) -> Callable[Arguments, Made]:
    """`functools.cache`, but two threads that ask at the same time do not both make it: kernels take long to load."""
    kept = cache(make)

    @wraps(make)
    def one(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Made:
        with _making:
            return kept(*args, **kwargs)  # type: ignore[arg-type]

    return one


def kernel(
    *sources: ModuleType, options: dict[str, Any] = EXACT, cached: Callable[..., bool] = lambda *_: True
) -> Callable[[Callable[Arguments, tuple[Callable[..., Any], Any]]], Callable[Arguments, Callable[..., Any]]]:
    """A decorator for a function that returns a kernel's text and signature: it returns the compiled kernel.

    `sources` are the modules of which the text is made beside its own. `cached` says, of the arguments, whether the
    kernel may be kept on disk: not so where it is made of what we cannot know.
    """

    def decorate(
        recipe: Callable[Arguments, tuple[Callable[..., Any], Any]],
    ) -> Callable[Arguments, Callable[..., Any]]:
        @made_once
        @wraps(recipe)
        def compiled(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Callable[..., Any]:
            text, signature = recipe(*args, **kwargs)
            if cached(*args, **kwargs):
                modules = (sys.modules[__name__], sys.modules[recipe.__module__], *sources)
                stamp = _digest(*map(_source, modules), repr(signature), repr((args, kwargs)))
                with suppress(RuntimeError):  # no folder for the cache
                    return njit(signature, nogil=True, cache=True, **options)(_stamped(text, stamp))  # type: ignore[no-any-return]
            return njit(signature, nogil=True, **options)(text)  # type: ignore[no-any-return]

        return compiled

    return decorate


def read(dtype: str = "float64", dimensions: int = 1, order: str = "C") -> types.Array:
    """The type of an array that a kernel reads."""
    return types.Array(getattr(types, dtype), dimensions, order, readonly=True)


def write(dtype: str = "float64", dimensions: int = 1) -> types.Array:
    """The type of an array that a kernel writes."""
    return types.Array(getattr(types, dtype), dimensions, "C")


def _stamped(text: Callable[..., Any], stamp: str) -> Callable[..., Any]:
    """The function under a name of its own, after which Numba names the files of its cache.

    Two processes that compile different kernels at the same time so never write the same file.
    """
    assert isinstance(text, FunctionType)
    named = FunctionType(text.__code__, text.__globals__, text.__name__, text.__defaults__, text.__closure__)
    named.__module__, named.__qualname__ = text.__module__, f"{text.__qualname__}_{stamp}"
    return named


@cache
def _source(module: ModuleType) -> str:
    return inspect.getsource(module)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def _after_fork() -> None:
    """In a child no thread is making anything."""
    global _making
    _making = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
