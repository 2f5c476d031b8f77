"""The command line."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from typing import NoReturn

NEEDED = frozenset({"cyclopts", "rich", "duckdb"})
"""What the command line needs and the library does not."""


def main() -> None:
    """Run the command that was typed, and exit with its status."""
    # A table is written into memory once and read a few times. Where a machine is lent its memory page by page, as
    # virtual ones are, half a gigabyte in large pages was seen to cost 0.03 to 1.2 s, in small ones always 0.2 s.
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    # OpenBLAS comes twice, with NumPy and with SciPy, and its threads turn in circles for a while before they sleep: a
    # third of a second of processor time that the reading of the table needs. They are to sleep at once.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    try:
        from .early import process_is_ours
        from .running import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        sys.stderr.write(
            f"error: the command line needs {error.name}, which is not installed.\n"
            '  install it: pip install "separatrix[cli]"\n'
        )
        sys.exit(2)
    process_is_ours()
    _leave(run(sys.argv[1:]))


def _leave(status: int) -> NoReturn:
    """End the process, its output written and what others asked for at its end done; its modules are not taken apart.

    Python would do that one object after the other, which was seen to take a fifth of a second after a fit.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or none: what can be told of it was told
            stream.flush()
    os._exit(status)
