"""Rows with names for their columns, and labels as codes: what a table gives to a learner without a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError


class NamedRows(np.ndarray):  # type: ignore[type-arg]
    """A matrix whose columns have names; rows that are taken from it keep them. The numbers are not copied."""

    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, X: NDArray[Any], names: Sequence[str]) -> NamedRows:
        """The matrix with these names."""
        if X.ndim != 2 or X.shape[1] != len(names):
            raise DataError(f"There are {len(names)} names for a matrix of shape {X.shape}: one a column is needed.")
        rows = X.view(cls)
        rows.names = tuple(names)
        return rows

    def __array_finalize__(self, other: Any) -> None:
        names = getattr(other, "names", None)
        if names is not None and self.ndim == 2 and self.shape[1] == len(names):
            self.names = names


class CodedLabels:
    """Labels as places in a list of classes: a million texts cost a byte or four each and need no sort."""

    def __init__(self, codes: NDArray[Any], classes: Sequence[Any] | NDArray[Any]) -> None:
        self.codes, self.classes = codes, np.asarray(classes)
        if len(self.classes) > 1 and not (self.classes[:-1] < self.classes[1:]).all():
            raise DataError(f"The classes are {self.classes.tolist()}: they must be distinct and in order.")

    @property
    def shape(self) -> tuple[int]:
        """One label a row."""
        return (len(self.codes),)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> CodedLabels:
        """The labels of some rows, of the same classes."""
        return CodedLabels(self.codes[rows], self.classes)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes[self.codes]
        return labels if dtype is None else labels.astype(dtype)

    def present(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The classes that have rows, and the place of each row's class among them."""
        seen = np.bincount(self.codes, minlength=len(self.classes)) > 0
        kind = np.int8 if seen.sum() <= 2 else np.intp
        if seen.all():
            return self.classes, self.codes.astype(kind, copy=False)
        return self.classes[seen], (np.cumsum(seen) - 1)[self.codes].astype(kind)
