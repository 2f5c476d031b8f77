"""python docs/walks.py: which files a fit walks through, and how the house is counted; `architecture.md` prints both.

A walk is what runs, file by file: a step is a call that leads from one file of the package into another, or back.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import separatrix

HOME = Path(separatrix.__file__).parent


def walk(work: Callable[[], Any]) -> list[str]:
    """The files of the package in the order in which the work runs through them, in all threads."""
    seen: dict[int, list[str]] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "return":
            if frame.f_back is None:
                return
            file = frame.f_back.f_code.co_filename
        elif event != "call":
            return
        if file.startswith(str(HOME)):
            files = seen.setdefault(threading.get_ident(), [])
            name = str(Path(file).relative_to(HOME))
            if not files or files[-1] != name:
                files.append(name)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return [name for files in seen.values() for name in files]


def table() -> tuple[Any, Any]:
    """500 rows of five columns, two classes that overlap."""
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 5))
    return X, (X @ np.arange(5) + 3 * random.normal(size=500) > 0).astype(int)


def fit_in_python() -> None:
    """LogisticRegression().fit(X, y)."""
    separatrix.LogisticRegression().fit(*table())


def fit_on_the_command_line() -> None:
    """separatrix fit table.csv --target y."""
    from separatrix.app.cli.running import run

    X, y = table()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        rows = np.column_stack([X, y])
        np.savetxt("table.csv", rows, delimiter=",", header="a,b,c,d,e,y", comments="", fmt=["%.17g"] * 5 + ["%d"])
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run(["fit", "table.csv", "--target", "y", "--quiet"])


def told(name: str, work: Callable[[], Any]) -> None:
    """A walk in numbers, and its files in the order in which they are entered first."""
    _quiet(work)  # what is imported and compiled once is no part of the walk
    files = walk(lambda: _quiet(work))
    print(f"{name}: {len(set(files))} files, {len(files)} changes of file")
    for file in dict.fromkeys(files):
        print(f"    {file}")


def _quiet(work: Callable[[], Any]) -> None:
    with contextlib.suppress(SystemExit):
        work()


def counted() -> None:
    """Files and lines of every room."""
    for room in sorted({file.relative_to(HOME).parts[0] for file in HOME.rglob("*.py")}):
        files = [HOME / room] if room.endswith(".py") else list((HOME / room).rglob("*.py"))
        print(f"{room:20} {len(files):4} files {sum(len(each.read_text().splitlines()) for each in files):6} lines")


if __name__ == "__main__":
    counted()
    told("LogisticRegression().fit(X, y)", fit_in_python)
    told("separatrix fit", fit_on_the_command_line)
