"""How many rows a linear rule gets wrong, and whether it gets them all right beyond rounding."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data.block import Block, block_of
from ...numerics.arrays import EPS, Floats
from ...numerics.threads import ordered_map, thread_count
from ...results.mistake_log import NUMBERS
from .perceptron import kind_of

COMPILE_FROM = 400_000
"""Numbers in X from which the compiled scores pay."""
THREADS_FROM = 4_000_000
"""Numbers in X from which several threads pay."""


class Tally(NamedTuple):
    """How a rule does on rows."""

    mistakes: int
    """Rows whose class it does not predict: the second of two iff the score is > 0, of K the first of the strongest."""
    separated: bool
    """Whether every row's own class has a strictly higher score than any other, as computed and in exact arithmetic."""
    margin: float
    """The least distance of a row from a boundary of its class, on the right side; −∞ if all weights are zero."""
    finite: bool = True
    """Whether all scores are."""


def mistakes_of(X: Any, target: Any, W: Floats, b: Floats, *, at_most: int | None = None) -> int:
    """#{i : ŷᵢ ≠ yᵢ}; as soon as there are more than `at_most`, the count so far."""

    def wrong(rows: slice) -> int:
        s, _ = _scores(X, rows, W, b)
        return int(np.count_nonzero(_winner(s) != target[rows]))

    count, X = 0, block_of(X)
    with ordered_map(_threads(X)) as each:
        for found in each(wrong, X.stretches(NUMBERS)):
            count += found
            if at_most is not None and count > at_most:
                break
    return count


def tally(X: Any, target: Any, W: Floats, b: Floats) -> Tally:
    """Mistakes, separation and margin of a rule with one row of weights (two classes) or K."""
    whole, X = [Tally(0, bool(W.any() or b.any()), math.inf)], block_of(X)

    def look(rows: slice) -> Tally:
        return _look(X, target, W, b, rows, sizes=whole[0].separated)

    with ordered_map(_threads(X)) as each:
        for found in each(look, X.stretches(NUMBERS)):
            whole[0] = Tally(
                whole[0].mistakes + found.mistakes, whole[0].separated and found.separated,
                min(whole[0].margin, found.margin), whole[0].finite and found.finite,
            )  # fmt: skip
    return whole[0] if W.any() else whole[0]._replace(margin=-math.inf)


def _look(X: Block, target: Any, W: Floats, b: Floats, rows: slice, *, sizes: bool) -> Tally:
    """Mistakes, separation and margin of some rows; `sizes`: whether separation is still to be decided."""
    own = target[rows]
    s, _ = _scores(X, rows, W, b)
    if not np.isfinite(s).all():
        return Tally(len(own), False, -math.inf, False)
    lead = _leads(s, own)
    margin = _margin(lead, W, own)
    separated = sizes and bool((lead > 0).all())
    if separated:
        _, size = _scores(X, rows, W, b, sizes=True)
        doubt = 2 * (W.shape[1] + 4) * EPS * size.max(axis=1, keepdims=True)
        unsure = np.argwhere(~(lead > doubt))
        separated = all(_leads_exactly(X[rows][i : i + 1], W, b, int(own[i]), int(k)) for i, k in unsure)
    return Tally(int(np.count_nonzero(_winner(s) != own)), separated, margin)


def _margin(lead: Floats, W: Floats, own: NDArray[Any]) -> float:
    if len(W) == 1:
        return float(lead.min(initial=math.inf)) / float(_norms(W)[0])
    return float((lead / _lengths(W)[own]).min(initial=math.inf))


def _threads(X: Block) -> int:
    return thread_count() if X.size >= THREADS_FROM else 1


def _scores(X: Block, rows: slice, W: Floats, b: Floats, *, sizes: bool = False) -> tuple[Floats, Floats]:
    """Wx + b for these rows, n × K; and Σⱼ|Wₖⱼxⱼ| + |bₖ|, if it is wanted. What is not finite is left to the reader."""
    with np.errstate(invalid="ignore", over="ignore"):
        size = X[rows].magnitudes(np.abs(W).T) + np.abs(b) if sizes else np.empty(0)
        if X.size < COMPILE_FROM or not (X.layout and X.in_place):
            return X[rows] @ W.T + b, size
    from .perceptron import scores_kernel

    read, s = X.readable, np.empty((rows.stop - rows.start, len(W)))
    scores_kernel(*kind_of(read))(read, rows.start, rows.stop, np.ascontiguousarray(W), b, s)
    return s, size


def _winner(s: Floats) -> NDArray[Any]:
    return (s[:, 0] > 0).astype(np.intp) if s.shape[1] == 1 else s.argmax(axis=1)  # type: ignore[no-any-return]


def _lengths(W: Floats) -> Floats:
    """‖w_y − wₖ‖, one where weights are equal: by own class, for each rival."""
    return np.array([_norms(W - own) for own in W])


def _norms(W: Floats) -> Floats:
    """‖wₖ‖ of each row, without overflow; one for a row of zeros."""
    size = np.abs(W).max(axis=1)
    size = np.where(size > 0, size, 1.0)
    found = size * np.linalg.norm(W / size[:, None], axis=1)
    return np.where(found > 0, found, 1.0)


def _leads(s: Floats, own: NDArray[Any]) -> Floats:
    """y·s of two classes; s_y − sₖ of K, infinite for y itself."""
    if s.shape[1] == 1:
        return np.where(own == 1, 1.0, -1.0)[:, None] * s  # type: ignore[no-any-return]
    lead = np.take_along_axis(s, own[:, None], 1) - s
    np.put_along_axis(lead, own[:, None], math.inf, 1)
    return lead  # type: ignore[no-any-return]


def _leads_exactly(x: Block, W: Floats, b: Floats, own: int, rival: int) -> bool:
    """Whether y(xᵀw + b) > 0, or xᵀ(w_y − wₖ) + b_y − bₖ > 0, in fractions."""
    columns, values = x.numbers_of(0)
    if not np.isfinite(values).all():
        return False
    two = len(W) == 1
    up, down = (W[0], None) if two else (W[own], W[rival])
    lead = Fraction(float(b[0])) if two else Fraction(float(b[own])) - Fraction(float(b[rival]))
    for j, value in zip(columns.tolist(), values.tolist(), strict=True):
        step = Fraction(float(up[j])) - (Fraction(float(down[j])) if down is not None else 0)
        lead += Fraction(value) * step
    return (lead if not two or own == 1 else -lead) > 0
