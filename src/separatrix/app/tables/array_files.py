"""Files of arrays: LIBSVM's sparse rows, and NumPy's .npy and .npz; nothing in them is ever run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .cells import number_of
from .errors import Place, Remedy, TableError

# --------------------------------------------------------------------------------------------------------------- LIBSVM


MOST_CELLS = 200_000_000
"""A table larger than this (1.6 GB) is not filled up with zeros."""
MOST_COLUMNS = 20_000
LINE = re.compile(rb"[+-]?[\d.eE+-]+(,[\d.]+)*((\s+qid:\d+)?(\s+\d+:[^\s:]+)+)\s*(#.*)?")


class Rows(NamedTuple):
    """Named columns, and the line where each row stands (None where a file has no lines)."""

    columns: dict[str, NDArray[np.generic]]
    lines: NDArray[np.int64] | None


def looks_like_libsvm(head: bytes) -> bool:
    """Whether the first lines are LIBSVM."""
    lines = [line for line in head.split(b"\n")[:5] if line.strip()]
    return bool(lines) and LINE.fullmatch(lines[0].strip()) is not None


def read_libsvm(name: str, path: Path) -> Rows:
    """Columns x0, x1, … (index 1 is x0) and the labels y, as texts."""
    labels: list[str] = []
    lines: list[int] = []
    cells: list[tuple[int, int, float]] = []
    try:
        content = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise TableError(f"the file is no text: {error}", place=Place(name, None)) from None
    for number, line in enumerate(content.split("\n"), 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        place = Place(name, number)
        if ":" in words[0]:
            raise TableError(f"the line begins with {words[0]!r}, where its label should stand", place=place)
        row = len(labels)
        cells += [(row, *_cell(word, place)) for word in words[1:] if not word.startswith("qid:")]
        labels.append(words[0])
        lines.append(number)
    if not labels:
        raise TableError("the file holds no row", place=Place(name, None))
    width = max((column for _, column, _ in cells), default=-1) + 1
    _check_size(name, len(labels), width, len(cells))
    filled = np.zeros((width, len(labels)))
    if cells:
        rows, columns, values = zip(*cells, strict=True)
        if len(set(zip(rows, columns, strict=True))) < len(cells):
            twice = _first_twice(rows, columns)
            raise TableError(
                f"the index {columns[twice] + 1} stands twice in the line", place=Place(name, lines[rows[twice]])
            )
        filled[np.array(columns), np.array(rows)] = values
    table: dict[str, NDArray[np.generic]] = {f"x{j}": filled[j] for j in range(width)}
    return Rows({**table, "y": np.array(labels, dtype=object)}, np.array(lines))


def _cell(word: str, place: Place) -> tuple[int, float]:
    index, colon, text = word.partition(":")
    if not colon or not (index.isascii() and index.isdigit()):
        raise TableError(f"{word!r} is not of the form index:value", place=place, value=word)
    if int(index) == 0:
        raise TableError(
            "there is an index 0, but LIBSVM files count from 1",
            place=place,
            value=word,
            because="Add 1 to every index.",
        )
    if int(index) > 2**31:
        raise TableError(f"the index {index} is too large", place=place, value=word)
    value = number_of(text)
    if value is None:
        raise TableError(f"{text!r} is not a number", place=place, column=f"x{int(index) - 1}", value=text)
    return int(index) - 1, value


def _check_size(name: str, rows: int, width: int, filled: int) -> None:
    if rows * width > MOST_CELLS or width > MOST_COLUMNS:
        raise TableError(
            f"the table is {rows} rows × {width} columns wide, and only {filled} of its cells are not zero",
            place=Place(name, None),
            because=f"a table may have {MOST_COLUMNS} columns and {MOST_CELLS} cells; the learners take sparse rows.",
            remedies=[
                Remedy(
                    "in Python",
                    call="X, y = sklearn.datasets.load_svmlight_file(path); LogisticRegression().fit(X, y)",
                )
            ],
        )


def _first_twice(rows: tuple[int, ...], columns: tuple[int, ...]) -> int:
    seen = set[tuple[int, int]]()
    for place, pair in enumerate(zip(rows, columns, strict=True)):
        if pair in seen:
            return place
        seen.add(pair)
    raise AssertionError("no cell stands twice")


# ---------------------------------------------------------------------------------------------------------------- NumPy


def read_arrays(name: str, path: Path) -> Rows:
    """Columns x0, x1, … and, where there is one, y."""
    place = Place(name, None)
    try:
        with path.open("rb") as stream:
            loaded: Any = np.load(stream, allow_pickle=False)
            arrays = {key: loaded[key] for key in loaded.files} if hasattr(loaded, "files") else {"X": loaded}
    except Exception as error:  # np.load raises ValueError, EOFError, zipfile.BadZipFile, zlib.error, …
        raise TableError(
            "this is no NumPy file of numbers or texts", place=place, because=f"{str(error).splitlines()[0]}"
        ) from None
    if "X" not in arrays:
        raise TableError(
            f"the file holds the arrays {', '.join(sorted(arrays)) or 'none'}, and none is named X",
            place=place,
            remedies=[Remedy("write it so", call="numpy.savez(path, X=X, y=y)")],
        )
    X, y = arrays["X"], arrays.get("y")
    _check_rows(place, X, y)
    columns = {f"x{j}": _plain(place, f"x{j}", X[:, j]) for j in range(X.shape[1])}
    if y is not None:
        columns["y"] = _plain(place, "y", y)
    return Rows(columns, None)


def _check_rows(place: Place, X: Any, y: Any) -> None:
    if X.ndim != 2 or not X.size or X.shape[1] > MOST_COLUMNS:
        raise TableError(
            f"X has shape {X.shape}: rows and columns are needed, and at most {MOST_COLUMNS} columns", place=place
        )
    if y is not None and y.shape != X.shape[:1]:
        raise TableError(
            f"X has {len(X)} rows, and y has shape {y.shape}: one label for each row is needed", place=place
        )


def _plain(place: Place, column: str, values: Any) -> NDArray[Any]:
    kind = values.dtype.kind
    if kind in "iub":
        return np.ascontiguousarray(values)
    if kind == "f":
        return np.ascontiguousarray(values, dtype=np.float64)
    if kind in "US":
        texts = values.astype(str).astype(object)
        texts[texts == ""] = None
        return texts  # type: ignore[no-any-return]
    raise TableError(f"values of type {values.dtype} are neither numbers nor texts", place=place, column=column)
