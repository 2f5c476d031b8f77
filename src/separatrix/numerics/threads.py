"""Our own threads: a pool for one fit, results in order, one BLAS thread while our products run."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


def thread_count(n_threads: int | None = None) -> int:
    """What was asked for; else OMP_NUM_THREADS, as joblib sets it in its workers; else the CPUs of this process."""
    if n_threads is not None:
        return max(1, int(n_threads))
    wish = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if wish.isdigit() and int(wish) > 0:
        return int(wish)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def ordered_map(threads: int) -> Iterator[Map]:
    """A `map` over a pool that lives as long as the block. A pool that outlived a fork would deadlock the child."""
    if threads == 1:
        yield map
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="separatrix", initializer=_limit_own)
    try:
        yield lambda f, items: _in_order(pool, threads + 1, f, items)
    finally:
        pool.shutdown(cancel_futures=True)


def _in_order(
    pool: ThreadPoolExecutor, window: int, f: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Result]:
    """f over the items in their order, never more than `window` results waiting: Hessians are large."""
    queue = iter(items)
    waiting: deque[Future[Result]] = deque(pool.submit(f, item) for item in islice(queue, window))
    try:
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(pool.submit(f, item) for item in islice(queue, 1))
            yield result
    finally:
        for future in waiting:
            future.cancel()


@cache
def _blas() -> list[Any]:
    """Every BLAS of this process."""
    import scipy.linalg  # noqa: F401  its own BLAS must be loaded before the libraries are listed
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _limit(library: Any, threads: int) -> None:
    """Set a BLAS's threads from any Python thread: `set_num_threads` heeds only the first that ever called it."""
    getattr(library, "_real_set_num_threads", library.set_num_threads)(threads)


def _limit_own() -> None:
    """One BLAS thread for this Python thread, where a BLAS keeps its limit for each of them."""
    for library in _blas():
        if getattr(library, "threading_layer", "") == "openmp":
            _limit(library, 1)


_lock = threading.Lock()
_own = threading.local()
_inside = 0
_found: list[tuple[Any, int]] = []


class one_blas_thread:  # noqa: N801  it is used like a function
    """BLAS on one thread while any of our products runs; the last to leave restores what the first one found.

    BLAS's own threads stall whenever another process uses a core, and change the last bits of a product.
    """

    def __enter__(self) -> None:
        global _inside, _found
        depth = getattr(_own, "depth", 0)
        if not depth:  # else this thread holds its part of the count already
            with _lock:
                if _inside == 0:
                    _found = [(library, library.num_threads) for library in _blas()]
                    for library, _ in _found:
                        _limit(library, 1)
                _inside += 1
        _own.depth = depth + 1

    def __exit__(self, *_: object) -> None:
        global _inside
        _own.depth -= 1
        if _own.depth:
            return
        with _lock:
            _inside -= 1
            if _inside == 0:
                for library, threads in _found:
                    _limit(library, threads)


def _after_fork() -> None:
    """A child has only the thread that forked: the lock and the others' part of the count are not its own."""
    global _lock, _inside
    here = min(1, getattr(_own, "depth", 0))
    if _inside and not here:
        for library, threads in _found:
            _limit(library, threads)
    _lock, _inside = threading.Lock(), here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
