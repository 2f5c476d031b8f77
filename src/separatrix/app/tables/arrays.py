"""NumPy files: an array of rows (.npy), or arrays X and y by name (.npz); nothing in them is ever run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import Place, Remedy, TableError
from .libsvm import MOST_COLUMNS, Rows


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
            remedies=[Remedy("write it so", "numpy.savez(path, X=X, y=y)")],
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
