"""Files are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: str | Path, content: str | bytes) -> bool:
    """Write a text, or bytes, under another name in the same folder, then rename it; whether one was there before."""
    path = Path(path)
    there = path.exists()
    mode = path.stat().st_mode & 0o777 if there else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    return there


def _umask() -> int:
    """What the user takes away from the rights of new files; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
