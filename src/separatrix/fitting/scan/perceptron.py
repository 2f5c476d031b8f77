"""The perceptron's scan: rows in an order, weights that move at mistakes, and a log of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from ...data.block import block_of
from ...data.compiled import row_access
from ...data.compiled.readers import rows_type
from ...data.compiled.row_access import (
    FAR_BYTES,
    NEAR_BYTES,
    U,
    add,
    fetch_far,
    fetch_near,
    move_and_score,
    row_bytes,
    score,
)
from ...numerics import lanes
from ...numerics.arrays import Floats, Integers
from ...numerics.jit import kernel, read, write
from ...results.mistake_log import MistakeLog

FOREVER = int(np.iinfo(np.int64).max)
"""Steps that no run makes: no end."""
ROOM = 1 << 16
"""Mistakes in one stretch of the scan, where they are not looked at one by one."""
GATHERED = 2048
"""Rows taken at once, where they do not lie in C order."""
TIES = {"mistake": (True, True), "positive": (True, False), "negative": (False, True)}
"""Whether a score of zero is a mistake for a row of the first class, of the second; of K classes, whether it is one for
a class to be as strong as a later one, as an earlier one."""


class NotFiniteScoreError(ArithmeticError):
    """A score met NaN or infinity, or overflowed."""


@dataclass(frozen=True)
class UpdateRule:
    """How a perceptron moves its weights at a mistake."""

    rate: float = 1.0
    lifted: bool = True
    """Whether there is an intercept: a feature that is always one."""
    ties: str = "mistake"


@dataclass(frozen=True, eq=False)
class PerceptronState:
    """W and b after a number of steps: all that the next step needs to know."""

    weights: Floats
    """1 × d for two classes, K × d for more."""
    intercept: Floats
    steps: int = 0
    """How many rows were looked at."""
    run: int = 0
    """How many since the last mistake."""
    mistakes: int = 0

    @classmethod
    def zero(cls, classes: int, d: int) -> PerceptronState:
        """At the start."""
        rows = 1 if classes == 2 else classes
        return cls(np.zeros((rows, d)), np.zeros(rows))


def scan(
    state: PerceptronState,
    X: Any,
    target: NDArray[Any],
    order: Integers,
    update: UpdateRule,
    *,
    room: int,
    patience: int = FOREVER,
    record: int = FOREVER,
    shuffled: bool = True,
    kernel: Callable[..., Any] | None = None,
    checked: bool = False,
    logged: bool = True,
) -> tuple[PerceptronState, MistakeLog]:
    """Wherever y(xᵀw + b) ≤ 0: w ← w + ηyx, b ← b + ηy; of K classes W_y rises by ηx and the strongest other falls.

    `target` is the class of each row of X by its number; `order` the rows in the order of their turns. The scan ends
    after the last of them; or before the mistake number `room` + 1; before a mistake that ends more than `record` right
    answers in a row; or after `patience` of these. The state's steps tell how far it came. A score that is not
    finite raises NotFiniteScoreError. Any division into scans has the same bits. `checked` says that `check_scan` has
    been over them; without `logged` the log that comes back is empty.
    """
    if not checked:
        check_scan(state, X, target, order)
    W, b = state.weights.copy(), state.intercept.copy()
    log, at, rival = (np.empty(min(room, order.size), np.int64) for _ in range(3))
    made, done, streak = 0, 0, state.run
    for rows, part, names in _readable(X, order):
        run = kernel or scan_kernel_for(rows, two=len(W) == 1)
        here = target if names is None else target[names]
        gone, new, streak = run(
            rows, part, here, update.rate, update.lifted, TIES[update.ties], shuffled, patience, record, W, b, streak,
            log[made:], at[made:], rival[made:],
        )  # fmt: skip
        if streak < 0:
            raise NotFiniteScoreError
        fresh = slice(made, made + new)
        at[fresh] += done
        if names is not None:
            log[fresh] = names[log[fresh]]
        made, done = made + new, done + gone
        if gone < part.size or streak >= patience:
            break
    after = replace(state, weights=W, intercept=b, steps=state.steps + done, run=streak, mistakes=state.mistakes + made)
    if not logged:
        return after, replace(MistakeLog.empty(), seen=after.steps)
    kept = [each[:made] if 2 * made >= each.size else each[:made].copy() for each in (log, at, rival)]
    kept[1] += state.steps
    return after, MistakeLog(kept[0], kept[1], target[kept[0]], kept[2], after.steps)


def check_scan(state: PerceptronState, X: Any, target: NDArray[Any], order: Integers) -> None:
    """Compiled scans go wherever they are sent: rows, columns and classes that are not there are refused."""
    W, (n, d) = state.weights, X.shape
    classes = max(2, len(W))
    if W.ndim != 2 or W.shape[1] != d or state.intercept.shape != W.shape[:1]:
        raise ValueError(
            f"weights of shape {W.shape} and intercepts of shape {state.intercept.shape} do not fit X of shape "
            f"{X.shape}."
        )
    if target.shape != (n,) or target.dtype != np.int64 or order.dtype != np.int64:
        raise ValueError(
            f"the classes are {target.dtype} of shape {target.shape}, the order {order.dtype}; an int64 for each of "
            f"{n} rows is needed."
        )
    if n and not 0 <= target.min() <= target.max() < classes:
        raise ValueError(f"the classes go from {target.min()} to {target.max()}; there are {classes}.")
    if order.size and not 0 <= order.min() <= order.max() < n:
        raise ValueError(f"the order names rows {order.min()} to {order.max()}; there are {n}.")


def _readable(X: Any, order: Integers) -> Iterator[tuple[Any, Integers, Integers | None]]:
    """X as the compiled scans take it, with the order; rows that do not lie in C order are gathered, some at a time."""
    X = block_of(X)
    if X.in_place:
        yield X.readable, order, None
        return
    for lo in range(0, order.size, GATHERED):
        names = order[lo : lo + GATHERED]
        here = np.empty((names.size, X.shape[1]), X.dtype.newbyteorder("="))
        X.write(names, here)
        yield here, np.arange(names.size), names


def kind_of(rows: Any) -> tuple[str, str | None]:
    """The precision of rows, and of CSR rows the kind of their column numbers."""
    return (rows[0].dtype.name, rows[1].dtype.name) if isinstance(rows, tuple) else (rows.dtype.name, None)


def scan_kernel_for(rows: Any, *, two: bool) -> Callable[..., Any]:
    """The compiled scan for these rows."""
    return scan_kernel(*kind_of(rows), two)


def sum_of_mistakes(X: Any, log: MistakeLog, factors: Floats, W: Floats, b: Floats) -> None:
    """W_own += Σ cₗxₗ, b_own += Σ cₗ, and less as much for the rival; of two classes W += Σ cₗyₗxₗ."""
    if W.shape[1] != X.shape[1] or (len(log) and not 0 <= log.rows.min() <= log.rows.max() < len(X)):
        raise ValueError(f"a log of other rows, or weights of shape {W.shape}, do not fit X of shape {X.shape}.")
    none = np.zeros_like(log.rows)
    sides = [(none, log.signs)] if len(W) == 1 else [(log.own, 1.0), (log.rival, -1.0)]
    for classes, sign in sides:
        signed = np.ascontiguousarray(sign * factors, dtype=np.float64)
        done = 0
        for rows, part, _ in _readable(X, log.rows):
            here = slice(done, done + part.size)
            sum_kernel(*kind_of(rows))(rows, part, classes[here], signed[here], W)
            done += part.size
        np.add.at(b, classes, signed)


# The compiled perceptron: look at a row, and where it is on the wrong side, move and write it in the log.
#
# A stretch ends with its rows; or earlier, before a mistake that the log has no room for, before a mistake that ends
# a
# longer run than any so far, when the weights have stayed as they are for long enough, or (with a run of −1) at a
# score
# that is not finite. The text is the same for dense
# and CSR rows, and runs interpreted too. The next row is scored while the weights move, so that no sum waits for a
# store.


def two_classes(X, rows, target, eta, lifted, tied, shuffled, patience, record, W, b, run, log, at, rival):  # type: ignore[no-untyped-def]
    """w ← w + ηyx, b ← b + ηy where y(xᵀw + b) ≤ 0.  [001 slide 24; 003 slide 23]"""
    last, far, near = rows.size - 1, 1 + FAR_BYTES // (1 + row_bytes(X)), 1 + NEAR_BYTES // (1 + row_bytes(X))
    bias, made, signs = b[0], 0, np.array([-1.0, 1.0])
    i = rows[0] if rows.size else 0
    z = score(W, 0, bias, X, i) if rows.size else 0.0
    for n in range(rows.size):
        then = rows[min(n + 1, last)]
        if shuffled:
            fetch_near(X, rows[min(n + near, last)])
            fetch_far(X, rows[min(n + far, last)])
        y = signs[U(target[U(i)])]
        m = y * z
        if (m > 0 and m < np.inf) or (m == 0 and not tied[target[i]]):
            run += 1
            if run >= patience:
                b[0] = bias
                return n + 1, made, run
            z = score(W, 0, bias, X, then)
        else:
            if not (m > -np.inf and m < np.inf):
                return n, made, -1
            if made == log.size or run > record:
                b[0] = bias
                return n, made, run
            log[made], at[made], rival[made], run = i, n, 1 - target[i], 0
            made += 1
            if lifted:
                bias += eta * y
            z = move_and_score(W, 0, eta * y, X, i, bias, then)
        i = then
    b[0] = bias
    return rows.size, made, run


def many_classes(X, rows, target, eta, lifted, tied, shuffled, patience, record, W, b, run, log, at, rival):  # type: ignore[no-untyped-def]
    """θ ← θ + η(Φ(x, y) − Φ(x, ŷ)), ŷ = argmax_c θ·Φ(x, c): W_y rises by ηx, W_ŷ falls.  [004 §4.5]

    ŷ is the strongest of the other classes; whether it beats y at a tie, `tied` says for each order of the two.
    """
    last, far, near = rows.size - 1, 1 + FAR_BYTES // (1 + row_bytes(X)), 1 + NEAR_BYTES // (1 + row_bytes(X))
    made = 0
    for n in range(rows.size):
        if shuffled:
            fetch_near(X, rows[min(n + near, last)])
            fetch_far(X, rows[min(n + far, last)])
        i = rows[n]
        y = target[i]
        own = score(W, y, b[y], X, i)
        best, other = -np.inf, -1
        for k in range(b.size):
            if k != y:
                s = score(W, k, b[k], X, i)
                # of equals the first; where the tie is for the later class, the last
                if s > best or other < 0 or (s == best and tied[0] and not tied[1]):
                    best, other = s, k
        m = own - best
        if not (m > -np.inf and m < np.inf):
            return n, made, -1
        # tied[1]: a tie with a class before y is a mistake; tied[0]: with a class after it
        if m > 0 or (m == 0 and not (tied[1] if other < y else tied[0])):
            run += 1
            if run >= patience:
                return n + 1, made, run
            continue
        if made == log.size or run > record:
            return n, made, run
        log[made], at[made], rival[made], run = i, n, other, 0
        made += 1
        add(W, y, eta, X, i)
        add(W, other, -eta, X, i)
        if lifted:
            b[y] += eta
            b[other] -= eta
    return rows.size, made, run


def weighted_sum(X, rows, classes, factors, W):  # type: ignore[no-untyped-def]
    """W_{classₗ} ← W_{classₗ} + cₗ x_{rowₗ} for every l."""
    for n in range(rows.size):
        add(W, classes[n], factors[n], X, rows[n])


def all_scores(X, lo, hi, W, b, s):  # type: ignore[no-untyped-def]
    """sᵢₖ = Wₖxᵢ + bₖ for the rows lo ≤ i < hi."""
    for i in range(lo, hi):
        for k in range(b.size):
            s[i - lo, k] = score(W, k, b[k], X, i)


_i = types.int64


@kernel(*lanes.SOURCES, row_access)
def scan_kernel(dtype: str, index: str | None, two: bool) -> Any:
    """The compiled scan, for one kind of rows and for two classes or many."""
    ties, log = types.UniTuple(types.boolean, 2), write("int64")
    signature = types.UniTuple(_i, 3)(
        rows_type(dtype, index or "C"), read("int64"), read("int64"), types.float64, types.boolean, ties,
        types.boolean, _i, _i, write("float64", 2), write(), _i, log, log, log,
    )  # fmt: skip
    return two_classes if two else many_classes, signature


@kernel(*lanes.SOURCES, row_access)
def sum_kernel(dtype: str, index: str | None) -> Any:
    """The compiled sum over a log."""
    rows = rows_type(dtype, index or "C")
    return weighted_sum, types.void(rows, read("int64"), read("int64"), read(), write("float64", 2))


@kernel(*lanes.SOURCES, row_access)
def scores_kernel(dtype: str, index: str | None) -> Any:
    """The compiled scores of rows."""
    rows = rows_type(dtype, index or "C")
    return all_scores, types.void(rows, _i, _i, read("float64", 2), read(), write("float64", 2))
