"""Files are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any


def replace_file(path: Any, content: bytes | Callable[[IO[bytes]], object]) -> bool:
    """Put a file in the place of another, or of none, in one step; whether there was one.

    Who reads sees the old file or the new one. A link stays a link, and rights stay as they were. What is no plain
    file, such as /dev/null or a pipe, is written to as it is: in its place a file would be something else.
    """
    write = content if callable(content) else lambda stream: stream.write(content)
    if is_special(path):
        with open(path, "wb") as stream:
            write(stream)
        return False
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {os.path.dirname(os.fspath(path))!r}: make it first.")
    there = target.exists()
    aside = target.with_name(f".separatrix-{secrets.token_hex(8)}.partial")
    try:
        with open(aside, "xb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        if there:
            os.chmod(aside, stat.S_IMODE(target.stat().st_mode))
        os.replace(aside, target)
    except OSError as error:
        _remove(aside)
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from None  # by the name the user knows
    except BaseException:
        _remove(aside)
        raise
    _remember(target.parent)
    return there


def is_special(path: Any) -> bool:
    """Whether something is there that is neither a file nor a folder."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _remove(path: Path) -> None:
    with suppress(OSError):
        os.unlink(path)


def _remember(folder: Path) -> None:
    """Let the new name survive a loss of power; not every system can open a folder."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
