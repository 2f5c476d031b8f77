"""The interval that shrinks: rules from above, cuts and branching from below."""

from __future__ import annotations

import heapq
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats, Indices
from ...results.proofs import PARTS, Cut, Fork, Leaf
from .cover import Cover, Separator, exact_multipliers
from .problem import CountedRule, Problem, ScaledRows, counted
from .rules import rule_for

# Fewer mistakes by search along lines: along each, every place where a row changes its side is tried.

STALL = 12
"""Rounds without fewer mistakes after which a new start is tried."""
KICKS = (0.05, 0.2, 0.5, 1.0)
"""How far from the best rule a new start is, in units of its length."""


def along(m: Floats, q: Floats, weight: Floats) -> tuple[float, float]:
    """argmin over t of Σᵢ cᵢ 1[mᵢ + tqᵢ ≤ 0], and that sum: in the middle of the widest stretch.

    Between two places −mᵢ/qᵢ nothing changes, so sorting them and adding up tells all.
    """
    moves = np.flatnonzero(q)
    fixed = float(weight[(q == 0) & (m <= 0)].sum())
    if not len(moves):
        return 0.0, fixed
    with np.errstate(over="ignore"):
        t = -m[moves] / q[moves]
    order = np.argsort(t)
    t, rising = t[order], q[moves][order] > 0
    c = weight[moves][order]
    sums = fixed + float(c[rising].sum()) + np.append(0.0, np.cumsum(np.where(rising, -c, c)))
    reach = 1.0 + abs(t[0]) + abs(t[-1])
    edges = np.concatenate([[t[0] - reach], t, [t[-1] + reach]])
    width = np.diff(edges)
    open_ = width > 0
    least = sums[open_].min()
    k = int(np.argmax(np.where(open_ & (sums <= least), width, -1.0)))
    return float(edges[k] + width[k] / 2), float(sums[k])


def descend(
    problem: Problem, scaled: ScaledRows, start: Floats, seed: int, until: float
) -> Generator[Floats | None, None, None]:
    """Rules with fewer and fewer mistakes, as they are found; None after a round of directions without one.

    A round ends early when the time is over.
    """
    rng, weight, A = np.random.default_rng(seed), problem.weight, scaled.A
    best, v, least, since = start, start, _cost(A @ start, weight), 0
    while True:
        m = A @ v
        for direction in _directions(A, m, rng):
            if time.perf_counter() > until:
                break
            q = A @ direction
            t, _ = along(m, q, weight)
            if np.isfinite(t):  # as good as before or better: on a plateau it wanders
                v, m = v + t * direction, m + t * q
        v = v / max(float(np.linalg.norm(v)), 1e-300)
        cost = _cost(A @ v, weight)
        if cost < least - 1e-9:
            best, least, since = v, cost, 0
            yield best
        else:
            since += 1
            yield None
        if since and since % STALL == 0:
            size = KICKS[(since // STALL) % len(KICKS)] * max(float(np.linalg.norm(best)), 1e-300)
            v = best + size * rng.standard_normal(len(best)) / np.sqrt(len(best))


def _cost(m: Floats, weight: Floats) -> float:
    return float(weight[m <= 0].sum())


def _directions(A: Floats, m: Floats, rng: np.random.Generator) -> Generator[Floats, None, None]:
    """The columns in random order, pairs of them, random directions, and towards rows that are wrong."""
    width = A.shape[1]
    unit = np.eye(width)
    for j in rng.permutation(width)[:40].tolist():
        yield unit[j]
    for _ in range(min(width * (width - 1) // 2, 20)):
        i, j = rng.integers(width, size=2)
        yield unit[i] + (1 if rng.random() < 0.5 else -1) * unit[j]
    for _ in range(min(width, 20)):
        yield rng.standard_normal((width,))
    wrong = np.flatnonzero(m <= 0)
    if len(wrong):
        for i in rng.choice(wrong, min(len(wrong), 6)).tolist():
            yield A[i]


CHUNK = 250
"""Rows among which cuts without a common row are looked for, at the least; 40 for each weight."""
MOST_NUMBERS = 300_000
"""Numbers of the rows among which cuts that the cover violates are looked for."""
GATHERING = 0.5
"""The part of the time that may go into cuts without a common row."""
AT_LEAST = 0.05
"""Seconds that the search for these cuts has at the least."""
GRACE = 0.2
"""Seconds that the proof of one cut has at the least, when the time is over."""
TELLING = 0.5
"""Seconds after which the bound is worked out anew."""
WORTH = 2
"""Cuts for so many rows, below which it is not gone over again."""
ROUNDS = 4
"""How often cuts are added in a case of the branching."""
FIRST_ROUNDS = 200
"""How often cuts are added before the first branching."""
NEWS = 12
"""Cuts that are added at a time."""
ZERO = 1e-6
QUIET = 40
"""Rounds of the search along lines without fewer mistakes after which it ends."""
SHARE = 0.15
"""The part of the time that this search may take."""


@dataclass(eq=False)
class Node:
    """A case: rows that are right, rows that are wrong, and a bound of what that costs, in units, without the base."""

    right: frozenset[int]
    wrong: frozenset[int]
    leaf: Leaf
    bound: int
    fork: tuple[int, int, int] | None = None


@dataclass(eq=False)
class Search:
    """min Σᵢ cᵢzᵢ, Σ over S of zᵢ ≥ 1 for every set S of rows that no rule gets all right, z ∈ {0, 1}."""

    problem: Problem
    best: CountedRule
    deadline: float
    seed: int
    scaled: ScaledRows = field(init=False)
    cover: Cover = field(init=False)
    nodes: list[Node] = field(init=False)
    offered: int = 0
    """How many rules were counted."""
    incomplete: bool = False
    """Whether cuts were looked for among some rows only, or a linear program had no answer."""

    def __post_init__(self) -> None:
        self.scaled, self.cover = ScaledRows.of(self.problem), Cover(self.problem)
        nothing: frozenset[int] = frozenset()
        self.nodes = [Node(nothing, nothing, Leaf((), ()), 0)]

    @property
    def lower(self) -> int:
        """No rule costs less, in units."""
        return self.problem.base + min(node.bound for node in self.nodes if node.fork is None)

    @property
    def closed(self) -> bool:
        """Whether nothing is left between the bounds."""
        return self.problem.meet(self.lower, self.best.cost)

    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.perf_counter()

    def offer(self, kept: CountedRule | None) -> bool:
        """Keep a rule that is better than the best."""
        self.offered += 1
        better = kept is not None and kept.cost < self.best.cost
        if better:
            assert kept is not None
            self.best = kept
        return better

    # ------------------------------------------------------------------------------------------------- from above

    def descend(self, patience: int = QUIET) -> Iterator[None]:
        """Search along lines until it finds no more for so many rounds, or its share of the time is over."""
        until = time.perf_counter() + SHARE * max(0.0, self.left())
        start = self.scaled.inside(self.best.weights, self.best.intercept)
        quiet = 0
        for v in descend(self.problem, self.scaled, start, self.seed, until):
            quiet += 1
            if v is not None and self.offer(counted(self.problem, *self.scaled.outside(v))):
                quiet = 0
                yield
            if quiet >= patience or time.perf_counter() > until or self.closed:
                return

    # ------------------------------------------------------------------------------------------------- from below

    def gather(self) -> Iterator[None]:
        """Cuts without a common row, some rows at a time; then again among the rows that are in none."""
        rng, size = np.random.default_rng(self.seed), max(CHUNK, 40 * self.scaled.A.shape[1])
        until = time.perf_counter() + max(GATHERING * self.left(), AT_LEAST)
        free = np.ones(len(self.problem), bool)
        told = time.perf_counter()
        while True:
            before, order = len(self.cover.cuts), rng.permutation(np.flatnonzero(free))
            for lo in range(0, len(order), size):
                self._disjoint(np.sort(order[lo : lo + size]), free, rng, until)
                if time.perf_counter() > min(told + TELLING, until):
                    self._price()
                    yield
                    told = time.perf_counter()
                if time.perf_counter() > until or self.closed:
                    return
            if len(order) <= size or len(self.cover.cuts) - before <= WORTH * len(order) / size:
                break
        self._price()
        yield

    def _disjoint(self, rows: Indices, free: NDArray[np.bool_], rng: np.random.Generator, until: float) -> None:
        separator = Separator(self.problem, self.scaled, rows)
        prefer = self.best.wrong[rows] + 0.01 * rng.random(len(rows))
        while True:
            found = separator.find(prefer, ~free[rows], until - time.perf_counter())
            if found is None:
                return
            free[rows[found]] = False
            self._admit(rows[found])
            if time.perf_counter() > until:
                return

    def _admit(self, rows: Indices) -> bool:
        """The cut, if it is proved and new."""
        proved = exact_multipliers(self.problem, rows, max(self.deadline, time.perf_counter() + GRACE))
        return proved is not None and self.cover.add(*proved)

    def _price(self) -> None:
        """The bound that the cuts so far give."""
        root = self.nodes[0]
        solved = self.cover.solve(root.right, root.wrong, max(self.left(), 1.0)) if self.cover.cuts else None
        if solved is not None:
            self._improve(root, solved[1])

    def _improve(self, node: Node, duals: Floats) -> None:
        for leaf in self.cover.packings(duals, node.right, node.wrong):
            bound = self.cover.bound(leaf, node.wrong)
            if bound > node.bound:
                node.leaf, node.bound = leaf, bound

    def branch(self) -> Iterator[None]:
        """Case by case, the one with the least bound first, until the bounds meet."""
        width, rng = self.scaled.A.shape[1], np.random.default_rng(self.seed)
        rows = self._nearest(max(1, MOST_NUMBERS // width))
        separator, self.incomplete = Separator(self.problem, self.scaled, rows), len(rows) < len(self.problem)
        heap, count = [(0, 0, 0)], 0
        while heap and self.left() > 0 and not self.closed:
            at = heapq.heappop(heap)[-1]
            node = self.nodes[at]
            if self._done(node):
                continue
            z: Floats | None = None
            news = 0
            for round_ in range(ROUNDS if at else FIRST_ROUNDS):
                z = self._solved(node)
                if z is None or self._done(node) or self.left() <= 0:
                    break
                news = self._violated(separator, rows, z, rng)
                if round_ % 4 == 3:
                    yield
                if not news:
                    break
            if z is None or self._done(node) or self.left() <= 0:
                continue
            row = self._undecided(z, node, whole=not news)
            for each in self._children(at, row) if row is not None else (at,) if news else ():
                count += 1
                heapq.heappush(heap, (self.nodes[each].bound, -count, each))
            yield

    def _nearest(self, most: int) -> Indices:
        """So many rows, those nearest to the boundary of the best rule."""
        if len(self.problem) <= most:
            return np.arange(len(self.problem))
        far = np.abs(self.scaled.A @ self.scaled.inside(self.best.weights, self.best.intercept))
        return np.sort(np.argpartition(far, most)[:most])

    def _done(self, node: Node) -> bool:
        return self.problem.meet(self.problem.base + node.bound, self.best.cost)

    def _solved(self, node: Node) -> Floats | None:
        """z of the cuts in this case; None where some cut forbids the case, or the clock stops it."""
        solved = self.cover.solve(node.right, node.wrong, self.left())
        if solved is None:
            k = self.cover.blocked(node.right)
            if k is not None:  # as much as it takes: no row of this cut limits it
                node.leaf = Leaf((k,), (self.best.cost * PARTS,))
                node.bound = self.cover.bound(node.leaf, node.wrong)
            self.incomplete |= k is None
            return None
        z, duals = solved
        self._improve(node, duals)
        return z

    def _violated(self, separator: Separator, rows: Indices, z: Floats, rng: np.random.Generator) -> int:
        """Add cuts that z does not touch enough; where the rows it leaves can be separated, try that rule."""
        here = z[rows]
        prefer, news = here + 1e-4 * rng.random(len(rows)), 0
        for threshold in (1 - ZERO, 0.3):
            out = here >= threshold
            for k in range(NEWS):
                found = separator.find(prefer, out, self.left())
                if found is None:
                    if k == 0 and self.left() > 0:
                        self.offer(rule_for(self.problem, self.scaled, z < threshold, self.left()))
                    break
                if here[found].sum() >= 1 - 1e-4:
                    break
                news += self._admit(rows[found])
                prefer[found] += 1.0
            if news:
                break
        return news

    def _undecided(self, z: Floats, node: Node, *, whole: bool) -> int | None:
        """The row to decide next: the one that is least decided, dear ones first; None if all are.

        Where all are whole, on demand one that is wrong: a program of floats does not see costs that are far below
        others, so that its z may be whole and still not the best.
        """
        doubt = np.minimum(z, 1 - z)
        doubt[list(node.right | node.wrong)] = 0
        if doubt.max(initial=0.0) <= ZERO:
            doubt = np.where(z > 0.5, 1.0, 0.0) if whole else np.zeros(len(z))
            doubt[list(node.right | node.wrong)] = 0
        return int(np.argmax(doubt * (1 + self.problem.weight))) if doubt.max(initial=0.0) > ZERO else None

    def _children(self, at: int, row: int) -> tuple[int, int]:
        node, first = self.nodes[at], len(self.nodes)
        for right, wrong in ((node.right | {row}, node.wrong), (node.right, node.wrong | {row})):
            bound = max(node.bound, self.cover.bound(node.leaf, wrong))
            self.nodes.append(Node(right, wrong, node.leaf, bound))
        node.fork = (row, first, first + 1)
        return first, first + 1

    # ------------------------------------------------------------------------------------------------- what proves it

    def proof(self) -> tuple[int, tuple[Cut, ...], tuple[Fork | Leaf, ...]]:
        """The lower bound in units, the cuts that it needs, by rows of the user's X, and the cases."""
        needed = sorted({k for node in self.nodes if node.fork is None for k in node.leaf.cuts})
        place = {k: i for i, k in enumerate(needed)}
        rows = self.problem.places
        cuts = tuple(Cut(tuple(rows[list(self.cover.cuts[k])].tolist()), self.cover.multipliers[k]) for k in needed)
        nodes: list[Fork | Leaf] = []
        for node in self.nodes:
            if node.fork is not None:
                nodes.append(Fork(int(rows[node.fork[0]]), *node.fork[1:]))
            else:
                nodes.append(Leaf(tuple(place[k] for k in node.leaf.cuts), node.leaf.parts))
        bounds = [self.cover.bound(node.leaf, node.wrong) for node in self.nodes if node.fork is None]
        return self.problem.base + min(bounds), cuts, tuple(nodes)
