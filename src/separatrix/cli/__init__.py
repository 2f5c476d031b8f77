"""The command line."""

from __future__ import annotations

import sys

NEEDED = frozenset({"cyclopts", "rich", "duckdb"})
"""What the command line needs and the library does not."""


def main() -> None:
    """Run the command that was typed, and exit with its status."""
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
    sys.exit(run(sys.argv[1:]))
