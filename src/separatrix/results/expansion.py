"""s(x) = Σᵢ αᵢ yᵢ k(xᵢ, x): what a kernel perceptron has learnt, and all that its log can tell.  [000 8.17]"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.block import block_of
from ..data.kernels.gram import CHUNK, CustomKernel, Kernel, KernelError
from ..data.kernels.tables import TableKernel
from ..numerics.arrays import Floats, Integers
from ..numerics.threads import one_blas_thread, ordered_map, thread_count
from .mistake_log import MistakeLog
from .votes import Ballot

# Dual weights: w = Σᵢ αᵢ yᵢ φ(xᵢ), αᵢ the number of mistakes on row i: prefix sums of the log.  [000 8.17]

TWO = 0
"""Two classes and one line of weights."""
JOINT = 1
"""K lines of weights that compete."""
ONE_VS_REST = 2
"""K lines of weights, each for one class against the rest."""


def moves(log: MistakeLog, lines: int) -> tuple[Integers, Integers]:
    """Which line of weights rose and which fell at each mistake, −1 for none; of two classes there is one line."""
    if lines > 1:
        return log.own, log.rival
    none = np.full(len(log), -1)
    return np.where(log.own == 1, 0, none), np.where(log.own == 1, none, 0)


def log_of(rows: Integers, steps: Integers, up: Integers, down: Integers, seen: int, lines: int) -> MistakeLog:
    """The log of such moves."""
    if lines > 1:
        return MistakeLog(rows, steps, up, down, seen)
    own = (up == 0).astype(np.int64)
    return MistakeLog(rows, steps, own, 1 - own, seen)


@dataclass(frozen=True, eq=False)
class Dual:
    """The weights after any number of steps, by their coefficients on the rows that were mistaken."""

    support: Integers
    """The rows that were ever mistaken, each once."""
    place: Integers
    """Which of them each mistake was."""
    log: MistakeLog
    lines: int
    """One for two classes, else one for each class."""

    @classmethod
    def of(cls, log: MistakeLog, lines: int) -> Dual:
        """The coefficients of a log."""
        support, place = np.unique(log.rows, return_inverse=True)
        return cls(support.astype(np.int64), place.ravel().astype(np.int64), log, lines)

    def last(self, seen: int | None = None) -> Floats:
        """α = Σₗ ±1 over the mistakes on each row of the support, after so many steps: lines × rows."""
        return self._sum(np.ones(len(self.log)), seen)

    def averaged(self, seen: int | None = None) -> Floats:
        """ᾱ = ((T + 1) α − Σₗ ±(sₗ + 1))/(T + 1): of the mean of all T + 1 weights."""
        count = (self.log.seen if seen is None else min(seen, self.log.seen)) + 1
        early = self._sum(self.log.steps + 1.0, seen)
        return (count * self.last(seen) - early) / count  # type: ignore[no-any-return]

    def machine(self, line: int) -> MistakeLog:
        """One against the rest: the log of one line, as that of two classes."""
        log = self.log
        here = (log.own == line) | (log.rival == line)
        own = (log.own[here] == line).astype(np.int64)
        return replace(log, rows=log.rows[here], steps=log.steps[here], own=own, rival=1 - own)

    def supported(self, seen: int) -> int:
        """How many rows had been mistaken after so many steps."""
        return len(np.unique(self.place[: np.searchsorted(self.log.steps, seen)]))

    def _sum(self, size: Any, seen: int | None) -> Floats:
        k = len(self.log) if seen is None else int(np.searchsorted(self.log.steps, seen))
        up, down = moves(self.log, self.lines)
        found, cells = np.zeros(self.lines * len(self.support)), self.lines * len(self.support)
        for line, sign in ((up[:k], 1.0), (down[:k], -1.0)):
            there = line >= 0
            where = line[there] * len(self.support) + self.place[:k][there]
            found += sign * np.bincount(where, size[:k][there], cells)
        return found.reshape(self.lines, -1)


BLOCK_NUMBERS = 1 << 21
"""Numbers of the kernel's matrix that are there at a time."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """s(x) = Σⱼ αⱼ k(xⱼ, x) + b: a score for each row, of K classes K of them."""

    kernel: Kernel
    """k, a function of two sets of rows or objects."""
    support: Any
    """The rows xⱼ, or objects; only their places, where the kernel's numbers are given."""
    coefficients: Floats
    """α: a line of them of two classes, else one for each class."""
    intercept: Floats
    """b = Σⱼ αⱼ, where there is an intercept, else zero: one for each line."""

    @np.errstate(over="ignore", invalid="ignore")  # who asks looks at what is not finite
    def score(self, X: Any, n_threads: int | None = None) -> Floats:
        """The score of each row, of K classes rows × K."""
        weights = self.weights
        if weights is not None:
            s = _affine(X, weights)
        else:
            found = looked_at(self.kernel, self.support, X, lambda _, G: self.from_products(G), n_threads)
            s = np.concatenate([np.empty((0, len(self.coefficients))), *(each for _, each in found)])
        return s[:, 0] if s.shape[1] == 1 else s  # type: ignore[no-any-return]

    def from_products(self, G: Floats) -> Floats:
        """The scores from k(xⱼ, x), support × rows: rows × lines."""
        return (self.coefficients @ G).T + self.intercept  # type: ignore[no-any-return]

    @property
    def weights(self) -> tuple[Floats, Floats] | None:
        """W and b of the scores Wx + b, where the kernel is g·xᵀz + c; else None."""
        affine = self.kernel.affine if isinstance(self.kernel, TableKernel) else None
        if affine is None:
            return None
        W = block_of(self.support).pull(self.coefficients.T)
        return affine[0] * W, self.intercept + affine[1] * self.coefficients.sum(axis=1)

    def __len__(self) -> int:
        return len(self.support)

    def __repr__(self) -> str:
        classes = "" if len(self.coefficients) == 1 else f" for each of {len(self.coefficients)} classes"
        return f"<Expansion of {len(self)} terms{classes} in {self.kernel!r}>"


def _affine(X: Any, weights: tuple[Floats, Floats]) -> Floats:
    """Wx + b: rows × lines."""
    return block_of(X) @ weights[0].T + weights[1]


def looked_at(
    kernel: Kernel, support: Any, X: Any, look: Callable[[slice, Floats], Any], n_threads: int | None
) -> Iterator[tuple[slice, Any]]:
    """look(rows, k), k being that of the support and of some rows at a time, support × rows: blocks on our own threads.

    The user's own kernel is never called from two threads at once.
    """
    size = max(16, BLOCK_NUMBERS // max(1, len(support)))
    ours = isinstance(kernel, TableKernel)

    def task(lo: int) -> tuple[slice, Any]:
        part = slice(lo, min(lo + size, len(X)))
        here, G = X[part], np.empty((len(support), part.stop - lo))
        with np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, len(support), CHUNK):
                G[first : first + CHUNK] = kernel(support[first : first + CHUNK], here)
            if not np.isfinite(G).all():
                raise _not_finite(kernel, G, lo)
            return part, look(part, G)

    with ordered_map(thread_count(n_threads) if ours else 1) as each, one_blas_thread() if ours else nullcontext():
        yield from each(task, range(0, len(X), size))


def _not_finite(kernel: Kernel, G: Floats, lo: int) -> Exception:
    if not isinstance(kernel, CustomKernel):
        return OverflowError("the kernel of two rows is not finite")
    i, j = (int(each) for each in np.argwhere(~np.isfinite(G))[0])
    return KernelError(
        f"The kernel of a row that was learnt from and of X[{lo + j}] is {G[i, j]}; it must be finite, not NaN or "
        "infinity."
    )


@dataclass(frozen=True, eq=False)
class Record:
    """A whole run: the rows that were mistaken and the log. Every reading after every step is a prefix sum of it."""

    kernel: Kernel
    support: Any
    dual: Dual
    lifted: bool
    apart: bool
    """Whether each class is learnt against the rest, by a machine of its own."""

    @classmethod
    def of(cls, kernel: Kernel, rows: Any, dual: Dual, lifted: bool, apart: bool) -> Record:
        """The record of a log over these rows."""
        return cls(kernel, rows[dual.support], dual, lifted, apart)

    def expansion(self, reading: str) -> Expansion:
        """Of the last weights, or of the mean of all."""
        A = self.dual.averaged() if reading == "averaged" else self.dual.last()
        return Expansion(self.kernel, self.support, A, A.sum(axis=1) * self.lifted)

    def machines(self) -> list[Ballot]:
        """The ballots: one, or one for each class against the rest."""
        dual = self.dual
        logs = [dual.machine(k) for k in range(dual.lines)] if self.apart else [dual.log]
        classes = 2 if self.apart or dual.lines == 1 else dual.lines
        nothing = np.zeros(0)
        return [
            Ballot(nothing, 0.0, self.support, np.searchsorted(dual.support, log.rows), log.own, log.rival, 1.0,
                   self.lifted, log.votes(), classes)
            for log in logs
        ]  # fmt: skip

    def votes(self, X: Any, n_threads: int | None = None) -> Floats:
        """The mean vote of each row, from −1 to 1; of K classes rows × K, the share of each, or each machine's vote."""
        return self.curves(X, [self.dual.log.seen], ("voted",), n_threads)["voted"][0]  # type: ignore[no-any-return]

    @np.errstate(over="ignore", invalid="ignore")
    def curves(self, X: Any, ends: Any, readings: Any, n_threads: int | None = None) -> dict[str, Floats]:
        """The scores of rows after each of these numbers of steps, by reading: steps × rows, or steps × rows × classes.

        One block of the kernel's matrix serves all readings, classes and ends.
        """
        ends, lines = np.minimum(np.asarray(ends, np.int64), self.dual.log.seen), self.dual.lines
        found = {each: np.empty((len(ends), len(X), lines)) for each in readings}
        linear = [each for each in readings if each != "voted"]
        stacked = np.concatenate([np.empty((0, len(self.support)))] + [
            (self.dual.averaged if each == "averaged" else self.dual.last)(int(end)) for each in linear for end in ends
        ])  # fmt: skip
        all_at_once = Expansion(self.kernel, self.support, stacked, stacked.sum(axis=1) * self.lifted)
        weights = all_at_once.weights
        machines = [(each, *each.cuts(ends)) for each in (self.machines() if "voted" in readings else [])]

        def look(part: slice, G: Floats) -> None:
            s = all_at_once.from_products(G) if weights is None else _affine(X[part], weights)
            for name, each in zip(linear, s.T.reshape(len(linear), len(ends), lines, G.shape[1]), strict=True):
                found[name][:, part] = each.swapaxes(1, 2)
            for k, (machine, cuts, rest, order) in enumerate(machines):
                share = _tallied(machine, G, cuts, rest, order)
                found["voted"][:, part, k if self.apart else slice(None)] = (
                    share if self.apart else share.reshape(len(ends), G.shape[1], lines)
                )

        for _ in looked_at(self.kernel, self.support, X, look, n_threads):
            pass
        return {name: each[:, :, 0] if lines == 1 else each for name, each in found.items()}


def _tallied(machine: Ballot, G: Floats, cuts: Any, rest: Any, order: Any) -> Floats:
    """The votes of a block of rows, at each cut."""
    start = np.zeros((1 if machine.classes == 2 else machine.classes, G.shape[1]))
    none = np.empty(0, np.int64)
    counted, _ = machine.run_down(G, start, cuts[order], rest[order].astype(np.float64), none)
    share = machine.shares(counted.swapaxes(1, 2), cuts[order], rest[order])
    return share[np.argsort(order)]
