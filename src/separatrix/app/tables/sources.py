"""Where the bytes of a table are: files, globs, stdin; unpacked and turned into UTF-8 where that is needed."""

from __future__ import annotations

import codecs
import glob
import gzip
import hashlib
import lzma
import os
import shutil
import stat
import sys
import tempfile
import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Literal

import duckdb

from .database import connect, first_line, literal
from .errors import Place, Remedy, TableError, did_you_mean

# Packed files: how they are told apart, unpacked, and found to be cut short.

Packing = Literal["gzip", "xz", "zstd"]
MAGIC: dict[bytes, Packing] = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
SUFFIXES: dict[str, Packing] = {".gz": "gzip", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}
DAMAGED = (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile)
"""What Python raises when a packed file is cut short or is not what it claims to be."""
LINES = (
    "read_csv({}, compression='zstd', auto_detect=false, columns={{'line': 'VARCHAR'}}, delim='\x01', quote='', "
    "escape='', header=false, max_line_size=67108864)"
)


def packing_of(name: str, path: Path) -> Packing | None:
    """How a file is packed, by its first bytes; its name must not contradict them."""
    with path.open("rb") as stream:
        head = stream.read(6)
    found = next((packing for magic, packing in MAGIC.items() if head.startswith(magic)), None)
    claimed = SUFFIXES.get(Path(name).suffix.lower())
    if claimed and found != claimed:
        raise TableError(
            "the file is empty" if not head else f"the name says {claimed}, but the file does not begin like one",
            place=Place(name, None),
        )
    return found


def damaged(name: str, packing: str, why: object) -> TableError:
    """A packed file that cannot be unpacked to its end."""
    return TableError(
        f"the {packing} file is cut short or damaged", place=Place(name, None), because=f"{why}: copy it again."
    )


def unpack(name: str, path: Path, packing: Packing, target: Path) -> None:
    """A packed file, unpacked whole."""
    if packing == "zstd":
        return _unpack_zstd(name, path, target)
    opener = gzip.open if packing == "gzip" else lzma.open
    try:
        with opener(path, "rb") as packed, target.open("wb") as plain:
            shutil.copyfileobj(packed, plain, 1 << 20)  # type: ignore[misc]
    except DAMAGED as error:
        raise damaged(name, packing, error) from None
    return None


def _unpack_zstd(name: str, path: Path, target: Path) -> None:
    # Python learnt zstd in 3.14 only; duckdb unpacks it line by line, but takes a file cut short for a whole one
    with path.open("rb") as stream:
        whole = _zstd_is_whole(stream)
    if not whole:
        raise damaged(name, "zstd", "its last block is not there")
    database = connect()
    try:
        source = LINES.format(literal(str(path)))
        database.run(
            f"COPY (SELECT line FROM {source}) TO {literal(str(target))} "  # noqa: S608  both are literals
            "(FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x01')"
        )
    except duckdb.Error as error:
        raise damaged(name, "zstd", first_line(error)) from None
    finally:
        database.close()


def _zstd_is_whole(stream: IO[bytes]) -> bool:
    """Whether every frame of a zstd file ends with its last block (RFC 8878 §3.1)."""
    while magic := stream.read(4):
        if magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5:  # a frame to be skipped
            stream.seek(int.from_bytes(stream.read(4), "little"), 1)
            continue
        if magic != b"\x28\xb5\x2f\xfd" or not (descriptor := stream.read(1)):
            return False
        flags, single = descriptor[0], bool(descriptor[0] & 32)
        size = (1 if single else 0, 2, 4, 8)[flags >> 6]
        stream.seek((0 if single else 1) + (0, 1, 2, 4)[flags & 3] + size, 1)
        last = False
        while not last:
            header = stream.read(3)
            if len(header) < 3:
                return False
            block = int.from_bytes(header, "little")
            last, length = bool(block & 1), 1 if (block >> 1) & 3 == 1 else block >> 3
            stream.seek(length - 1, 1)
            if length and not stream.read(1):
                return False
            if not length:
                stream.seek(1, 1)
        if flags & 4 and len(stream.read(4)) < 4:
            return False
    return True


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
        raise TableError("no file was named", remedies=[Remedy("read stdin", call="-")])
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
            remedies=[Remedy("read all its CSV files", call=f"'{name.rstrip('/')}/*.csv'")],
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
            f"there is no encoding {encoding!r}", remedies=[Remedy("for example", "encoding", "latin-1")]
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


# Hashes of files, worked out while somebody else reads them.

PIECE = 1 << 23
"""Bytes that are hashed at a time: long pieces, since between two of them a thread may wait for others."""


class Digests:
    """SHA-256 of each file."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths, self._found, self._unwanted = paths, list[bytes](), threading.Event()
        self._error: Exception | None = None
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Begin, in a thread of its own."""
        self._thread = threading.Thread(target=self._work, name="separatrix-digests")
        self._thread.start()

    def all(self) -> list[bytes]:
        """The hashes; what went wrong with a file is raised here."""
        if self._unwanted.is_set():  # what was begun was cut short
            self._thread = None
            self._unwanted.clear()
        if self._thread is None:
            self._work()
        else:
            self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found

    def give_up(self) -> None:
        """Nobody will ask."""
        self._unwanted.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        try:
            self._found = [self._digest(path) for path in self._paths]
        except Exception as error:
            self._error = error

    def _digest(self, path: Path) -> bytes:
        digest, piece = hashlib.sha256(), memoryview(bytearray(min(PIECE, path.stat().st_size + 1)))
        with path.open("rb", buffering=0) as stream:
            while not self._unwanted.is_set() and (size := stream.readinto(piece)):
                digest.update(piece[:size])
        return digest.digest()
