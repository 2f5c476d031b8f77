"""Packed files: how they are told apart, unpacked, and found to be cut short."""

from __future__ import annotations

import gzip
import lzma
import shutil
import zlib
from pathlib import Path
from typing import IO, Literal

import duckdb

from .database import connect, first_line, literal
from .errors import Place, TableError

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
