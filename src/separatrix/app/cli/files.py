"""The file that a command writes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..files import replace_file
from .answer import UsageError


def check_output(output: str, reads: Iterable[str], example: str) -> None:
    """What is wrong with the name of an output is said before anything is computed; `reads` must not be lost."""
    path = Path(output)
    if not output or path.is_dir():
        raise UsageError(f"--output {output!r} is a folder; it must be the name of a file, such as {example}.")
    if not path.parent.is_dir():
        raise UsageError(f"--output {output}: there is no folder {str(path.parent)!r}; make it first.")
    if path.is_file() and any(Path(each).exists() and path.samefile(each) for each in reads):
        raise UsageError(f"--output {output} is what is read here, and would be lost: choose another name.")


def write_whole(output: str | Path, content: str | bytes) -> bool:
    """Write a text, or bytes, in one step; whether a file was there before."""
    return replace_file(output, content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape"))
