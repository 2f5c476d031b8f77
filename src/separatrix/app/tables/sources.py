"""Where the bytes of a table are: files, globs, stdin; unpacked and turned into UTF-8 where that is needed."""

from __future__ import annotations

import codecs
import glob
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from .compression import SUFFIXES, packing_of, unpack
from .errors import Place, Remedy, TableError, did_you_mean

Format = Literal["csv", "tsv", "jsonl", "json", "parquet", "libsvm", "npy"]
FORMATS: dict[str, Format] = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".parquet": "parquet", ".pq": "parquet", ".libsvm": "libsvm", ".svmlight": "libsvm", ".svm": "libsvm",
    ".npy": "npy", ".npz": "npy",
}  # fmt: skip
"""What the end of a name says; other files are looked into."""
STDIN = "stdin"


@dataclass(frozen=True)
class Source:
    """A file of a table."""

    name: str
    """As it was typed; 'stdin' for -."""
    original: Path
    """The bytes as they came."""
    path: Path
    """The bytes that are read: the same, or unpacked and in UTF-8."""
    format: Format

    @property
    def size(self) -> int:
        """How many bytes came."""
        return self.original.stat().st_size


def find(sources: Sequence[str], folder: Path, format: Format | None, encoding: str | None) -> tuple[Source, ...]:  # noqa: A002
    """The files that these texts name; stdin is copied to a file, because a pipe can be read only once."""
    if not sources:
        raise TableError("no file was named", remedies=[Remedy("read stdin", "-")])
    if sum(source == "-" for source in sources) > 1:
        raise TableError("stdin (-) was named twice, but it can be read only once")
    found: list[Source] = []
    for source in sources:
        for name, path in _paths(source, folder):
            found.append(_prepared(name, path, folder, len(found), format, encoding))
    return tuple(found)


def _paths(source: str, folder: Path) -> list[tuple[str, Path]]:
    if source == "-":
        spooled = folder / "stdin"
        with spooled.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream, 1 << 20)
        return [(STDIN, spooled)]
    if "\0" in source:
        raise TableError(f"{source!r} cannot be the name of a file: it holds a NUL")
    if glob.has_magic(source) and not os.path.lexists(source):
        names = sorted(name for name in glob.glob(source, recursive=True) if not os.path.isdir(name))
        if not names:
            raise TableError(f"no file matches {source!r}", because=_neighbours(source))
        return [(name, _readable_twice(name, folder)) for name in names]
    return [(source, _readable_twice(source, folder))]


def _readable_twice(source: str, folder: Path) -> Path:
    """The file itself; of a pipe with a name, such as <(…) is in a shell, a copy."""
    try:
        mode = os.stat(source).st_mode
    except (OSError, ValueError):
        return Path(source)  # what is wrong with it is told when it is opened
    if stat.S_ISCHR(mode) and source != os.devnull:
        raise TableError("this is a device, not a file", place=Place(source, None))
    if not stat.S_ISFIFO(mode):
        return Path(source)
    handle, copy = tempfile.mkstemp(dir=folder, prefix="pipe-")
    with open(source, "rb") as pipe, open(handle, "wb") as stream:
        shutil.copyfileobj(pipe, stream, 1 << 20)
    return Path(copy)


def _neighbours(source: str) -> str:
    parent = Path(source).parent
    try:
        names = sorted(os.listdir(parent))
    except OSError:
        return f"there is no folder {str(parent)!r}."
    question = did_you_mean(Path(source).name, names)
    if question:
        return question
    shown = ", ".join(repr(name) for name in names[:5])
    return f"the folder {str(parent)!r} holds {shown or 'nothing'}{', …' if len(names) > 5 else ''}."


def _prepared(
    name: str, path: Path, folder: Path, number: int, format: Format | None, encoding: str | None  # noqa: A002
) -> Source:  # fmt: skip
    place = Place(name, None)
    if not name:
        raise TableError("the name of a file is empty")
    if path.is_dir():
        raise TableError(
            "this is a folder, not a file",
            place=place,
            remedies=[Remedy("read all its CSV files", f"'{name.rstrip('/')}/*.csv'")],
        )
    try:
        with path.open("rb") as stream:
            empty = not stream.read(1)
    except FileNotFoundError:
        raise TableError("there is no such file", place=place, because=_neighbours(name)) from None
    except (OSError, ValueError) as error:
        raise TableError(f"the file cannot be read: {getattr(error, 'strerror', None) or error}", place=place) from None
    if empty:
        raise TableError("the file is empty", place=place)
    if format is None and _bare_suffix(name) == ".arff":
        raise TableError(
            "ARFF files are not read", place=place,
            because="Save the rows below @data as CSV, the names of the @attribute lines in the first line.",
        )  # fmt: skip
    packing = packing_of(name, path)
    source = Source(name, path, path, "csv")
    kind = FORMATS.get(_bare_suffix(name)) if format is None else format
    if packing:
        source = replace(source, path=folder / f"unpacked-{number}")
        unpack(name, path, packing, source.path)
    if encoding is not None:
        source = replace(source, path=_in_utf8(source, folder / f"utf8-{number}", encoding))
    return replace(source, format=kind or _looked_into(source.path))


def _bare_suffix(name: str) -> str:
    stem = Path(name)
    return (Path(stem.stem) if stem.suffix.lower() in SUFFIXES else stem).suffix.lower()


def _looked_into(path: Path) -> Format:
    from .array_files import looks_like_libsvm

    with path.open("rb") as stream:
        head = stream.read(1 << 16)
    begins: dict[bytes, Format] = {
        b"PAR1": "parquet",
        b"\x93NUMPY": "npy",
        b"PK\x03\x04": "npy",
        b"{": "jsonl",
        b"[": "json",
    }
    for magic, format in begins.items():  # noqa: A001
        if head.lstrip(b" \t\r\n" if magic in b"{[" else b"").startswith(magic):
            return format
    return "libsvm" if looks_like_libsvm(head) else "csv"


def _in_utf8(source: Source, target: Path, encoding: str) -> Path:
    try:
        codecs.lookup(encoding)
    except (LookupError, ValueError):  # ValueError: bytes that are no text, or a NUL, as a name
        raise TableError(
            f"there is no encoding {encoding!r}", remedies=[Remedy("for example", "--encoding latin-1")]
        ) from None
    try:
        with (
            source.path.open("r", encoding=encoding, newline="") as old,
            target.open("w", encoding="utf-8", newline="") as new,
        ):
            shutil.copyfileobj(old, new, 1 << 20)
    except (UnicodeError, LookupError) as error:
        raise TableError(f"the file is not written in {encoding}: {error}", place=Place(source.name, None)) from None
    return target
