"""How kernels are compiled: options for formulas and for sums, and one thread makes a kernel while others wait."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

EXACT = {"fastmath": {"contract"}, "error_model": "numpy"}
"""For formulas: their order of operations stands."""

SUMS = {"fastmath": {"contract", "reassoc", "nsz"}, "error_model": "numpy"}
"""For sums, which may be split over vector lanes."""

Given = ParamSpec("Given")
Made = TypeVar("Made")
_making = threading.RLock()


def made_once(make: Callable[Given, Made]) -> Callable[Given, Made]:
    """`functools.cache`, but two threads that ask at the same time do not both make it: kernels take long to load."""
    kept = cache(make)

    @wraps(make)
    def one(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        with _making:
            return kept(*args, **kwargs)  # type: ignore[arg-type]

    return one


def _after_fork() -> None:
    """In a child no thread is making anything."""
    global _making
    _making = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
