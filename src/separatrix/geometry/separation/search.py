"""The search: a few rows, a rule for them, a look at all rows for those it errs on, and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import UndecidedError
from ...fitting.problem import NotFiniteError
from ...numerics.arrays import EPS, Floats, Indices
from ...numerics.linalg import dependence
from ...numerics.threads import one_blas_thread
from ..program import Program
from .cases import Cases, Look
from .newton import UNDECIDED, try_newton
from .units import SAME, conditioner, null_space


class WorkingRows:
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
        signed = self.cases.signed(case, other)
        self.A = np.vstack([self.A, signed]) if len(self.A) else signed
        return len(new)

    def add_cases(self, case: Indices) -> int:
        """These cases against every other class."""
        K, own = self.cases.classes, self.cases.own[case]
        other = np.tile(np.arange(K), (len(case), 1))
        rest = other != own[:, None]
        return self.add(np.repeat(case, K - 1), other[rest])


FIRST = 12
"""Signed rows for each weight in the first sample."""
FEWER = 4
"""Signed rows for each weight in the first sample where there are many weights."""
MORE = 40
"""Signed rows for each weight that one look at all rows adds."""
AT_ONCE = 1000
"""Signed rows that are few in any case."""
WIDE = 500
"""Weights that are many."""
ZERO = 2.0**-36
"""A margin of so much less than what went into it is rounding, or as good as."""
OFF = 1e-9
"""A part of a row, relative to its size, that is not in a span."""
ALIASED = 1e-3
"""The largest part of a column that may be its own if it is aliased."""
SURE = 1e-11
"""The squared decrement to which Newton's method goes on for few numbers before a linear program is asked; below it
rounding hides what is left."""
SMALL = 20_000
"""Numbers of signed rows that are few."""
AT_A_TIME = 1 << 22
"""Numbers that are written out to be looked at and forgotten."""
ROUNDS = 200
"""The most rounds."""
PART = 8192
"""Cases that are looked at again in the frame, at a time."""
MANY = 100_000
"""Cases that are looked at again in the frame, in all."""


class Round(NamedTuple):
    """Where a search stands."""

    looks: float
    working: int
    wrong: int
    """Signed rows that the last rule erred on."""


@dataclass(frozen=True)
class Arrangement:
    """How the signed rows lie."""

    kind: str
    cases: Cases
    aliased: Indices
    working: WorkingRows
    v: Floats
    """A direction that is positive on all rows that can be separated and zero on the others; none if empty."""
    directions: Floats
    """weights × q: a basis of the directions that are zero on the rows that cannot be separated."""
    boundary: Indices
    """Of the working rows, those that balance and span all that cannot be separated."""
    looks: float
    weights: Floats | None = None
    """Multipliers of all working rows that balance them, where Newton's method found some."""
    middle: Floats | None = None
    """Where Newton's method found these."""


class HiddenSeparationError(UndecidedError):
    """Neither the linear program nor Newton's method could tell whether the classes are separated."""

    def __init__(self) -> None:
        super().__init__(
            "Rounding hides whether the classes are separated: some columns are so nearly combinations of others, or "
            "some rows so far from all others, that neither a separating rule nor its absence could be proved. Leave "
            "out one of such columns, or replace them by their differences; or leave out such rows."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


class SeparationSearch:
    """One search; `steps` runs it, `found` holds what it found."""

    def __init__(self, cases: Cases, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.looks, self.aliased = 0.0, np.empty(0, np.intp)
        self.all = len(cases) * (cases.classes - 1) <= max(AT_ONCE, FIRST * cases.size)
        self.cases = cases
        self.working = WorkingRows(cases)
        self.N: Floats | None = None
        self.boundary = np.empty(0, np.intp)
        self.weights: Floats | None = None
        self.middle: Floats | None = None
        self.program: Program | None = None
        self.plain = True
        self.in_program = np.empty(0, np.intp)

    # ------------------------------------------------------------------------------------ columns and first rows

    def begin(self) -> None:
        """Rows that span all rows; columns that are combinations of others are left out."""
        cases = self.cases
        first = self._some(FIRST * cases.width if cases.size < WIDE else FEWER * cases.width)
        before = cases.width + 1
        while True:
            order = np.append(cases.width - 1, np.arange(cases.width - 1)) if cases.lifted else np.arange(cases.width)
            Z = cases.coordinates(cases.row[first])[:, order]
            size = np.append(np.abs(cases.frame.center / cases.frame.scale)[cases.keep] + 1, [1.0] * cases.lifted)
            rounding = np.minimum(64 * EPS * size[order], ALIASED)  # what is mostly its own is no combination
            found = dependence(Z, rounding * np.sqrt(len(Z)))
            del Z
            aliased = order[found.aliased]
            if not aliased.size or self.all or len(aliased) == before:  # the last that seemed off were not
                break
            before = len(aliased)
            null = np.zeros(cases.width)
            sort = found.null_space() @ self.rng.standard_normal(len(aliased))
            null[order] = np.where(np.abs(sort) > SAME * np.abs(sort).max(), sort, 0.0)
            more = self._off(null)
            if not more.size:
                break
            first = np.union1d(first, more)
        empty = np.setdiff1d(np.arange(cases.block.shape[1]), cases.keep)
        self.aliased = np.union1d(empty, cases.keep[aliased[aliased < len(cases.keep)]])
        if self.aliased.size:
            self.cases = cases.without(self.aliased)
        self.working = WorkingRows(self.cases)
        self.working.add_cases(first)

    def _some(self, count: int) -> Indices:
        n = len(self.cases)
        if self.all or count >= n:
            return np.arange(n)
        return np.unique(self.rng.integers(0, n, count))

    def _off(self, null: Floats) -> Indices:
        """Some cases whose rows are not in the span of those known."""
        cases = self.cases
        vector = np.zeros((cases.classes - 1, cases.width))
        vector[0] = null
        self.looks += 1
        found = []
        for look in cases.look(vector.ravel(), sized=True):
            assert look.sizes is not None
            m = np.where(np.isfinite(look.margins[0]), np.abs(look.margins[0]), 0.0)
            share = np.divide(m, look.sizes[0], out=np.zeros_like(m), where=look.sizes[0] > 0).max(axis=1)
            off = np.flatnonzero(share > OFF)
            found.append(np.column_stack([look.cases.start + off, share[off]]))
        every = np.concatenate(found)
        order = np.argsort(-every[:, 1], kind="stable")[: FIRST * self.cases.width]
        return np.asarray(every[order, 0], dtype=np.intp)

    # ------------------------------------------------------------------------------------ rounds

    def steps(self) -> Iterator[Round]:
        """Round by round, until all rows are accounted for."""
        with one_blas_thread():
            self.begin()
        for _ in range(ROUNDS):
            with one_blas_thread():
                v = self._direction()
            if v is None:
                self.found = self._end("overlap", np.empty(0))
                return
            wrong = self._wrong(v)
            yield Round(self.looks, len(self.working), wrong)
            if not wrong:
                self.found = self._end("separated", v)
                return
        raise HiddenSeparationError

    def _direction(self) -> Floats | None:
        """A direction that is positive on all working rows that can be separated; None if none can."""
        while True:
            A = self.working.A
            B = A if self.N is None else A @ self.N
            live = np.flatnonzero(np.abs(B).max(axis=1, initial=0.0) > ZERO * np.abs(A).max(axis=1, initial=0.0))
            if not live.size:
                self.boundary = np.arange(len(A))
                return None
            G = B if len(live) == len(B) else B[live]
            C, undecided = None, SURE if G.size < SMALL else UNDECIDED
            tried = try_newton(G, undecided, conditioned=True)
            if not tried.steady:
                C = conditioner(G)
                G = G if C is None else G @ C
                tried = try_newton(G, undecided)
            if tried.status == "overlap":
                self.boundary, self.weights = np.arange(len(A)), tried.weights if len(live) == len(A) else None
                self.middle = tried.v if self.N is None and C is None else None
                self.N = np.zeros((A.shape[1], 0))
                return None
            if tried.status == "separated":
                return self._whole(tried.v, C)
            v, t = self._solve(G, live, C)
            free = t > 0.5
            if free.all():
                return self._whole(v, C)
            if not free.any():
                self.boundary, self.N = np.arange(len(A)), np.zeros((A.shape[1], 0))
                return None
            bound = np.setdiff1d(np.arange(len(A)), live[free])
            self._restrict(bound)

    def _whole(self, v: Floats, C: Floats | None) -> Floats:
        v = v if C is None else C @ v
        return v if self.N is None else self.N @ v

    def _solve(self, G: Floats, live: Indices, C: Floats | None) -> tuple[Floats, Floats]:
        """The program of the live rows: the last one with the new rows added, unless the coordinates have changed."""
        same = self.program is not None and C is None and self.plain and np.isin(self.in_program, live).all()
        if not same:
            self.program, self.in_program, self.plain = Program(G.shape[1]), np.empty(0, np.intp), C is None
        assert self.program is not None
        new = np.flatnonzero(~np.isin(live, self.in_program))
        if len(new):
            self.program.add(G[new])
        self.in_program = np.append(self.in_program, live[new])
        solved = self.program.solve()
        if solved is None:
            raise HiddenSeparationError
        v, t = solved
        return v, t[np.argsort(self.in_program)]

    def _restrict(self, bound: Indices) -> None:
        """Go on among the directions that are zero on these rows."""
        self.boundary, self.program = bound, None
        self.N = null_space(self.working.A[bound])

    def _wrong(self, v: Floats) -> int:
        """Look at all rows, and add some of those that the direction errs on; how many there were."""
        if self.all:
            return 0
        self.looks += 1
        if self.N is None:
            nearest = max(float((self.working.A @ v).min()), 0.0)
            found = [_nearer(look, nearest) for look in self.cases.look(v)]
        else:
            g = self.N @ self.rng.standard_normal(self.N.shape[1])
            found = [_astray(look) for look in self.cases.look(np.stack([v, g]), sized=True)]
        case = np.concatenate([each[0] for each in found])
        other, margin = np.concatenate([each[1] for each in found]), np.concatenate([each[2] for each in found])
        if self.cases.classes == 2:
            other = 1 - self.cases.own[case]
        if self.N is None and len(case):
            some = self._zero_rows(case)
            self.working.add(case[some][:1], other[some][:1])
            case, other, margin = case[~some], other[~some], margin[~some]
        if self.N is not None and len(case):
            still = self._still_wrong(case, other, v)
            case, other, margin = case[still], other[still], margin[still]
        wrong = int((margin <= 0).sum()) if self.N is None else len(margin)
        if wrong and not self.working.add(*self._choice(case, other, margin)):
            raise HiddenSeparationError
        return wrong

    def _still_wrong(self, case: Indices, other: Indices, v: Floats) -> NDArray[np.bool_]:
        """Which of these are wrong in the frame too, where offsets of columns cost no digits."""
        assert self.N is not None
        found = np.ones(len(case), bool)
        for lo in range(0, min(len(case), MANY), PART):
            part = slice(lo, lo + PART)
            A = self.cases.signed(case[part], other[part])
            size = np.abs(A).max(axis=1, initial=0.0)
            live = np.abs(A @ self.N).max(axis=1, initial=0.0) > ZERO * size
            found[part] = live & (A @ v <= 0)
        return found

    def _choice(self, case: Indices, other: Indices, margin: Floats) -> tuple[Indices, Indices]:
        """Not too many: half of them the worst, half of them any."""
        count = max(AT_ONCE, MORE * self.cases.size)
        if len(case) <= count:
            return case, other
        worst = np.argpartition(margin, count // 2)[: count // 2]
        chosen = np.union1d(worst, self.rng.choice(len(case), count // 2, replace=False))
        return case[chosen], other[chosen]

    def _zero_rows(self, case: Indices) -> NDArray[np.bool_]:
        """Which of these are zero: without an intercept a row of zeros is on no side of any rule."""
        if self.cases.lifted:
            return np.zeros(len(case), bool)
        parts = np.array_split(case, 1 + len(case) * self.cases.width // AT_A_TIME)
        return ~np.concatenate([self.cases.coordinates(self.cases.row[part]).any(axis=1) for part in parts])

    def _end(self, kind: str, v: Floats) -> Arrangement:
        zero = np.flatnonzero(~self.working.A.any(axis=1))
        if kind == "separated" and self.N is None and zero.size:
            self.boundary = zero[:1]
        if kind == "separated" and self.boundary.size:
            kind = "quasi-separated"
        N = np.eye(self.cases.size) if self.N is None else self.N
        return Arrangement(
            kind, self.cases, self.aliased, self.working, v, N, self.boundary, self.looks, self.weights, self.middle
        )


def _nearer(look: Look, nearest: float) -> tuple[Indices, Indices, Floats]:
    """The signed rows that are not positive, and those nearer than the nearest known; of each case the worst."""
    m = look.margins[0]
    if m.shape[1] == 1:
        worst, least = np.zeros(len(m), np.intp), m[:, 0]
    else:
        worst = m.argmin(axis=1)
        least = m[np.arange(len(m)), worst]
    near = np.flatnonzero(~(least > nearest))
    if not np.isfinite(least[near]).all():
        raise NotFiniteError
    return look.cases.start + near, worst[near], least[near]


def _astray(look: Look) -> tuple[Indices, Indices, Floats]:
    """The signed rows that are negative, or zero though some direction is not."""
    assert look.sizes is not None
    (m, g), (m_size, g_size) = look.margins, look.sizes
    wrong = (m <= ZERO * m_size) & (np.abs(g) > ZERO * g_size) & np.isfinite(m)
    least = np.where(wrong, m / np.where(m_size > 0, m_size, 1.0), np.inf)
    worst = least.argmin(axis=1)
    case = np.flatnonzero(wrong.any(axis=1))
    return look.cases.start + case, worst[case], least[case, worst[case]]
