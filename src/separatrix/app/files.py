"""Files that take the place of others in one step: who reads, whenever, finds all of the old or all of the new."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ..errors import SettingError
from ..wording import setting

OURS = b'"separatrix-model"'
BEGINNING = 512
"""Bytes at the start of a file that tell whether it is a model; more than the name of a side file has."""


def check_path(name: str, path: str, reads: Iterable[str], example: str) -> None:
    """What is wrong with the name of an output is said before anything is computed; `reads` must not be lost."""
    target = Path(path)
    if not path or target.is_dir():
        raise SettingError(name, path, f"a folder; it must be the name of a file, such as {example}.",
                           f"{setting(name, path)} is")  # fmt: skip
    if not target.parent.is_dir():
        raise SettingError(name, path, f"there is no folder {str(target.parent)!r}; make it first.",
                           f"{setting(name, path)}:")  # fmt: skip
    if target.is_file() and any(Path(each).exists() and target.samefile(each) for each in reads):
        raise SettingError(name, path, "what is read here, and would be lost: choose another name.",
                           f"{setting(name, path)} is")  # fmt: skip


def replace_file(path: Any, content: bytes | Callable[[IO[bytes]], object]) -> bool:
    """Put a file in the place of another, or of none, in one step; whether there was one.

    Who reads sees the old file or the new one. A link stays a link, and rights stay as they were. What is no plain
    file, such as /dev/null or a pipe, is written to as it is: in its place a file would be something else.
    """
    if _is_special(path):
        with open(path, "wb") as stream:
            _write(stream, content)
        return False
    target = _target(path)
    there = target.exists()
    with _named(path):
        _put(target, content, _aside(target), _mode(target))
    return there


def replace_pair(path: Any, content: bytes, beside: tuple[str, bytes] | None) -> None:
    """Put a file in its place, and another beside it, whose name no other content has.

    That file is there before the one that names it takes its place; what earlier ones named is removed after, unless
    another file of the folder names it too: a copy, or the old one under another name. So a kill at any moment leaves
    a pair, old or new; and at the most one file more, and half of another: the next save removes them.
    """
    if beside is None and _is_special(path):
        replace_file(path, content)
        return
    if _is_special(path):
        raise SettingError(
            "path", path, "name a file.", f"{path} is no plain file, and this model needs two, one beside the other:"
        )
    target = _target(path)
    with _alone(target.parent) as alone, _named(path):
        if alone:
            _remove(target.parent.glob(f"{_aside(target)}-*.partial"))
        mode = _mode(target)
        if beside is not None:
            _put(target.with_name(beside[0]), beside[1], _aside(target), mode)
        _put(target, content, _aside(target), mode)
        if alone:
            old = [each for each in beside_of(target) if beside is None or each.name != beside[0]]
            _remove(_unnamed(old, target))


def _is_special(path: Any) -> bool:
    """Whether something is there that is neither a file nor a folder."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _target(path: Any) -> Path:
    """The file that a path leads to, in a folder that is there."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {os.path.dirname(os.fspath(path))!r}: make it first.")
    return target


def _mode(target: Path) -> int | None:
    """The rights of a file that is there."""
    return stat.S_IMODE(target.stat().st_mode) if target.exists() else None


@contextmanager
def _named(path: Any) -> Iterator[None]:
    """An error of the system names the file as the user knows it."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from None


def name_beside(path: Any, content: bytes) -> str:
    """model.json → model.⟨first sixteen digits of SHA-256⟩.safetensors."""
    return f"{_stem(Path(os.path.realpath(path)))}.{hashlib.sha256(content).hexdigest()[:16]}.safetensors"


def beside_of(target: Path) -> list[Path]:
    """The files that saves to this name have put beside it."""
    ours = re.compile(re.escape(_stem(target)) + r"\.[0-9a-f]{16}\.safetensors")
    return [each for each in target.parent.iterdir() if ours.fullmatch(each.name)]


def _unnamed(files: list[Path], target: Path) -> list[Path]:
    """Those that no model of the folder names but the one at `target`, which was just written."""
    left = {each.name[-len(".0123456789abcdef.safetensors") :].encode(): each for each in files}
    for other in target.parent.iterdir() if left else ():
        if other.name != target.name and not other.name.endswith((".safetensors", ".partial")):
            for name in _found_in(other, list(left)):
                del left[name]
    return list(left.values())


def _found_in(path: Path, names: list[bytes]) -> set[bytes]:
    """Which of these ends of names stand in a file that may be a model; all of them where it cannot be read."""
    found: set[bytes] = set()
    try:
        if not path.is_file():
            return found
        with open(path, "rb") as file:
            rest = file.read(BEGINNING)
            if path.suffix != ".json" and OURS not in rest:
                return found
            while rest and len(found) < len(names):
                more = file.read(1 << 20)
                found |= {name for name in names if name in rest + more}
                rest = (rest + more)[-BEGINNING:] if more else b""
    except OSError:
        return set(names)
    return found


def _stem(target: Path) -> str:
    """No two names of a folder have the same: of .json it ends with an even number of _, of others with an odd one."""
    ours = target.name.endswith(".json")
    stem = target.name.removesuffix(".json")
    stem += "_" * (len(stem) - len(stem.rstrip("_")) + (not ours))
    return stem if len(stem.encode()) <= 200 else hashlib.sha256(stem.encode()).hexdigest()[:32]


def _aside(target: Path) -> str:
    return f".separatrix-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]}"


def _put(
    target: Path, content: bytes | Callable[[IO[bytes]], object], aside_name: str, mode: int | None
) -> None:  # fmt: skip
    aside = target.with_name(f"{aside_name}-{secrets.token_hex(8)}.partial")
    try:
        with open(aside, "xb") as stream:
            _write(stream, content)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(aside, mode)
        os.replace(aside, target)
    except BaseException:
        _remove([aside])
        raise
    with suppress(OSError):  # the new name survives a loss of power; not every system can open a folder
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _write(stream: IO[bytes], content: bytes | Callable[[IO[bytes]], object]) -> None:
    if callable(content):
        content(stream)
    else:
        stream.write(content)


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """One save at a time in a folder; whether that could be had: only then may what others left be removed."""
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield False
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            alone = True
        except OSError:
            alone = False
        yield alone
    finally:
        os.close(handle)


def _remove(files: Iterable[Path]) -> None:
    for each in list(files):
        with suppress(OSError):
            os.unlink(each)
