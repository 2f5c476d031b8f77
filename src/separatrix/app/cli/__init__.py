"""The command line."""

from __future__ import annotations

import os
import sys

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
        from .running import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        sys.stderr.write(
            f"error: the command line needs {error.name}, which is not installed.\n"
            '  install it: pip install "separatrix[cli]"\n'
        )
        sys.exit(2)
    sys.exit(run(sys.argv[1:]))
