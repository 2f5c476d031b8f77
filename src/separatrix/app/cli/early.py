"""What a command will need is loaded while duckdb reads the table: both take a second, and there are two processors."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import ModuleType
from typing import Any

LARGE = 1 << 23
"""Bytes of a table from which the compiled passes will be needed."""


class Early:
    """Work in another thread, one part after the other; whoever needs what it did waits for it, and gets its error."""

    def __init__(self, parts: Sequence[Callable[[], Any]]) -> None:
        self._parts, self._results, self._unwanted = parts, list[Any](), threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="separatrix-early")
        self._begun = False

    def begin(self) -> None:
        """Begin, unless that was done."""
        if not self._begun:
            self._begun = True
            self._thread.start()

    def begin_beside(self, share: Callable[[], float]) -> None:
        """Begin while a table is read."""
        self.begin()

    def _work(self) -> None:
        try:
            for part in self._parts:
                if self._unwanted.is_set():
                    return
                self._results.append(part())
        except BaseException as error:
            self._error = error

    def wait(self) -> list[Any]:
        """What each part returned, when all are done; what went wrong there is raised here."""
        self.begin()
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._results

    def give_up(self) -> None:
        """Do no further part: a command that failed ends at once."""
        self._unwanted.set()
        if self._begun:
            self._thread.join()


def _nothing() -> None:
    """Nobody waits for it."""


@contextmanager
def early(parts: Sequence[Callable[[], Any]], *, now: bool = True) -> Iterator[Early]:
    """The parts, being done as long as the block is left by no error; not `now`: from when they are told to begin."""
    work = Early(parts)
    if now:
        work.begin()
    try:
        yield work
    finally:
        work.give_up()


def modules_of_a_fit(learner: str, data: Sequence[str]) -> list[Callable[[], Any]]:
    """The modules that a fit of this learner to these files will need, in parts."""
    import separatrix

    home = "separatrix" + separatrix._HOMES[learner]  # type: ignore[attr-defined]
    first = map(
        _loading, ("separatrix.app.tables.open_table", "separatrix.app.tables.kinds", "separatrix.app.tasks.lesson")
    )
    parts = [*first, scikit_learn, _loading(home), _loading("separatrix.app.models.from_learner")]
    if sum(_size(each) for each in data) > LARGE:
        parts += compiled_passes() if learner == "LogisticRegression" else [_loading("separatrix.data.compiled.passes")]
    return parts


def _loading(name: str) -> Callable[[], Any]:
    def load() -> ModuleType:
        with _left_for_later():
            return importlib.import_module(name)

    return load


def compiled_passes() -> list[Callable[[], Any]]:
    """What loads the compiled passes of a likelihood and of its start over a table with categories.

    The first takes as long as all of Numba; where there are no categories, others follow soon.
    """

    def of(loss: str) -> Any:
        from ...data.compiled import passes as compiled
        from ...losses import margin as losses

        return compiled.pass_kernel(getattr(losses, loss)(), "float64", compiled.TABLE)

    def products() -> Any:
        from ...data.compiled.categorical_sums import table_gram_kernel

        return table_gram_kernel()

    return [kernels_without_compiler, partial(of, "LogLikelihood"), partial(of, "Squared"), products]


def _size(name: str) -> int:
    with suppress(OSError):
        return os.stat(name).st_size
    return 0


# -------------------------------------------------------------------------------------------------------------- Numba


def kernels_without_compiler() -> None:
    """Let Numba load a kernel from its cache without all that it would compile one with, which takes as long as itself.

    What is compiled after all asks for that by itself. In a process of our own only: the rest of Numba is not told. A
    Numba that does not have these two is left alone.
    """
    if not _process.ours:
        return
    try:
        from numba.core.caching import Cache
        from numba.core.runtime import rtsys

        plain, _ = Cache.load_overload, rtsys.initialize
    except (ImportError, AttributeError):
        return

    def load_overload(cache: Any, signature: Any, context: Any) -> Any:
        rtsys.initialize(context)  # what a kernel gets its memory from
        context.refresh = _nothing  # Numba's lock on compiling is held: nobody else asks
        try:
            return plain(cache, signature, context)
        finally:
            vars(context).pop("refresh", None)

    Cache.load_overload = load_overload


# ------------------------------------------------------------------------------------------------------- scikit-learn


class _Later(ModuleType):
    """A module that is loaded when something of it is used."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


class _NoPandas:
    """To the thread that made it pandas is not installed; what other threads import is not touched."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Nothing is found here; pandas is refused."""
        if name == "pandas" and threading.get_ident() == self._thread:
            raise ModuleNotFoundError("pandas is left out", name=name)


NOT_NOW = ("scipy.stats", "numpy.f2py", "numpy.testing", "narwhals", "narwhals.stable", "narwhals.stable.v2",
           "asyncio", "highspy")  # fmt: skip
"""Modules that others ask for as they are loaded, and that most fits do not use; parents first."""


@contextmanager
def _left_for_later() -> Iterator[None]:
    """Who asks for one of these modules gets it when something of it is used; in a process of our own."""
    stand_ins = [_Later(name) for name in NOT_NOW if name not in sys.modules and _process.ours]
    for each in stand_ins:
        sys.modules[each.__name__] = each
        parent, _, name = each.__name__.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], name, each)
    try:
        yield
    finally:
        for each in stand_ins:
            parent, _, name = each.__name__.rpartition(".")
            if sys.modules.get(each.__name__) is each:
                del sys.modules[each.__name__]
            if vars(sys.modules.get(parent, each)).get(name) is each:
                delattr(sys.modules[parent], name)


def scikit_learn() -> None:
    """Load scikit-learn without what takes most of its time: it asks for pandas and others, and a fit uses none.

    That is for a process of our own: to scikit-learn pandas is from then on not installed.
    """
    if "sklearn" in sys.modules or not _process.ours:
        return
    refusal = _NoPandas()
    sys.meta_path.insert(0, refusal)
    try:
        with _left_for_later():
            importlib.import_module("sklearn.base")
    finally:
        sys.meta_path.remove(refusal)


class _Process:
    ours = False


_process = _Process()


def process_is_ours() -> None:
    """Say that the process runs a command and ends.

    Then the garbage of cycles is looked for less often: as modules are loaded there is none, and looking for it was
    seen to take a fifth of their time. And a thread that wants Python from one that loads modules gets it after half a
    millisecond instead of five: duckdb does fifty times while it reads a table.
    """
    _process.ours = True
    sys.setswitchinterval(5e-4)
    gc.set_threshold(200_000, 20, 50)
