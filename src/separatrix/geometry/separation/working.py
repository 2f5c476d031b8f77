"""The few signed rows that a search works with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .cases import Cases

Indices = NDArray[np.intp]


class Working:
    """Signed rows that were looked up, each once."""

    def __init__(self, cases: Cases) -> None:
        self.cases = cases
        self.case, self.other = np.empty(0, np.intp), np.empty(0, np.intp)
        self.A = np.empty((0, cases.size))

    def __len__(self) -> int:
        return len(self.case)

    def add(self, case: Indices, other: Indices) -> int:
        """How many of these were new; they are at the end."""
        K = self.cases.classes
        keys, first = np.unique(case * K + other, return_index=True)
        new = np.sort(first[~np.isin(keys, self.case * K + self.other)])
        case, other = case[new], other[new]
        self.case, self.other = np.append(self.case, case), np.append(self.other, other)
        self.A = np.vstack([self.A, self.cases.signed(case, other)])
        return len(new)

    def add_cases(self, case: Indices) -> int:
        """These cases against every other class."""
        K, own = self.cases.classes, self.cases.own[case]
        other = np.tile(np.arange(K), (len(case), 1))
        rest = other != own[:, None]
        return self.add(np.repeat(case, K - 1), other[rest])
