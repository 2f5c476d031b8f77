"""The stochastic scan: the weights take a step after every row, in the user's own units."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.block import Block, block_of
from ...errors import SettingError
from ...numerics.arrays import Floats

Schedule = Callable[[Floats], Any]
"""The rates of the steps t, t + 1, …"""

STEPS = 16_384
"""Rows taken at once where they lie in C order."""
GATHERED = 2048
"""Rows taken at once where they have to be gathered first."""


@dataclass(frozen=True)
class LearningRate:
    """η_t = initial · (1 + (t − 1)/delay)^(−power), t = 1, 2, …: with power 0 always the same.

    >>> LearningRate(0.5, power=1.0, delay=2.0)(np.array([1.0, 3.0, 7.0])).tolist()
    [0.5, 0.25, 0.125]
    """

    initial: float
    """The rate of the first step."""
    power: float = 0.0
    """How fast it falls: 0 not at all, ½ as 1/√t, 1 as 1/t."""
    delay: float = 1.0
    """The number of steps before the fall is felt."""

    def __post_init__(self) -> None:
        wishes = {
            "initial": ("a finite number > 0", self.initial > 0),
            "power": ("a finite number ≥ 0", self.power >= 0),
            "delay": ("a finite number > 0", self.delay > 0),
        }
        for name, (wish, holds) in wishes.items():
            given = getattr(self, name)
            if not (holds and math.isfinite(given)):
                raise SettingError(name, given, f"give {wish}", f"{name}={given!r} cannot make a learning rate:")

    def __call__(self, t: Floats) -> Floats:
        """The rates of these steps."""
        if self.power == 0:
            return np.full(t.shape, float(self.initial))
        return self.initial * (1 + (t - 1) / self.delay) ** -self.power  # type: ignore[no-any-return]


def rates(schedule: Schedule, first: int, count: int) -> Floats:
    """η_t for t = first, …, first + count − 1, found fit to be used."""
    t = np.arange(first, first + count, dtype=np.float64)
    came = np.asarray(schedule(t))
    if came.shape != t.shape or came.dtype.kind not in "fiu":
        raise SettingError(
            "learning_rate", schedule, "from an array of step numbers it has to make an array of as many rates",
            f"the learning rate returned {came.dtype} of shape {came.shape} for {count} steps:",
        )  # fmt: skip
    found = np.ascontiguousarray(came, dtype=np.float64)
    if not (found.min(initial=math.inf) > 0 and found.max(initial=0.0) < math.inf):  # a NaN fails both
        bad = int(np.argmin((found > 0) & (found < math.inf)))
        raise SettingError(
            "learning_rate", schedule, "it has to be finite and > 0",
            f"the learning rate returned {float(found[bad])!r} for step {first + bad}:",
        )  # fmt: skip
    return found


@dataclass(frozen=True)
class OnlineState:
    """W and b after a number of steps, and their sums over the steps: all that the next step needs to know."""

    weights: Floats
    """K × d, a row for each class; 1 × d for two classes. All of them are still to be multiplied by `scale`."""
    intercept: Floats
    steps: int = 0
    """How many rows of positive cost were seen."""
    weight_sum: Floats | None = None
    """ΣW and Σb over the last `summed` steps, while averages are kept."""
    intercept_sum: Floats | None = None
    summed: int = 0
    scale: float = 1.0
    """What CSR rows leave to be done: a penalty shrinks all weights at once, and few are touched by a row."""
    carried: float = 0.0
    """And of their sum, ΣW = carried · weights + weight_sum."""

    def last(self) -> tuple[Floats, Floats]:
        """W and b."""
        return self.scale * self.weights, self.intercept.copy()

    def averaged(self) -> tuple[Floats, Floats]:
        """(1/m) Σₜ Wₜ, (1/m) Σₜ bₜ over the m steps that were summed: Polyak–Ruppert; before the first, W and b."""
        if self.weight_sum is None or self.intercept_sum is None or self.summed == 0:
            return self.last()
        total = self.weight_sum if self.carried == 0 else self.carried * self.weights + self.weight_sum
        return total / self.summed, self.intercept_sum / self.summed


def _permutation(count: int, rng: Any) -> NDArray[np.int64]:
    from .online_kernels import shuffle_kernel

    order = np.arange(count)
    shuffle_kernel()(rng.random(count), order)
    return order


def _replacement(count: int, rng: Any) -> NDArray[np.int64]:
    draws: Floats = rng.random(count)
    return (draws * count).astype(np.int64)  # below count: the product is never rounded up to it


def _cyclic(count: int, rng: Any) -> NDArray[np.int64]:
    return np.arange(count)


@dataclass(frozen=True)
class LeastSquares:
    """½(t − s)² of a score and a target that is any number: what the delta rule descends."""


LEAST_SQUARES = LeastSquares()
ORDERS = {"permutation": _permutation, "replacement": _replacement, "cyclic": _cyclic}
"""The orders of a pass by name."""


def row_order(kind: str, rows: int | NDArray[Any], rng: Any) -> NDArray[np.int64]:
    """The rows of one pass: a fresh permutation, as many draws with replacement, or as they come.

    `rows` is their number, or the indices of those that count: with the indices of the rows of positive cost, the
    others are as good as absent.
    """
    if kind not in ORDERS:
        raise ValueError(f"order={kind!r} is not known: choose one of {', '.join(ORDERS)}")
    if np.ndim(rows) == 0:
        return ORDERS[kind](int(rows), rng)
    found: NDArray[np.int64] = np.asarray(rows, np.int64)[ORDERS[kind](np.size(rows), rng)]
    return found


def scan(
    state: OnlineState,
    X: Any,
    target: NDArray[Any],
    cost: Floats,
    order: NDArray[Any],
    *,
    loss: Any,
    rate: Schedule,
    l2: float = 0.0,
    fit_intercept: bool = True,
    averaging: bool = False,
) -> OnlineState:
    """W ← W − η c ∂ℓ/∂W − η c l2 W, b ← b − η c ∂ℓ/∂b, over the rows of X in this order.

    For two classes w moves by η c [(1 − t)φ′(−z) − tφ′(z)] x, z = xᵀw + b: for the likelihood that is η c (t − p) x,
    p = σ(z), and for the squared error of p half of it is meant, η c (t − p) p(1 − p) x. For K classes
    p = softmax(Wx + b) and Wₖ moves by η c (tₖ − pₖ) x, or η c pₖ ((tₖ − pₖ) − Σⱼ(tⱼ − pⱼ)pⱼ) x. For `LEAST_SQUARES`
    p is the score itself, and t any number: the delta rule.

    `target` is t ∈ [0, 1] for each row; for K classes the index of the class, or n × K probabilities. `cost` is empty,
    or c ≥ 0 for each row: a row of cost zero is passed over and makes no step. `rate` makes η from step numbers. Scans
    one after the other have the same bits as one scan over all their rows, and so has any layout of the same X. What
    is not finite in X shows in the weights.
    """
    W, b = (np.array(values, dtype=np.float64, order="C") for values in (state.weights, state.intercept))
    cost = np.ascontiguousarray(cost, dtype=np.float64)
    if np.ndim(X) != 2:
        raise ValueError(f"weights of shape {W.shape} do not fit X of shape {np.shape(X)}: n × d is needed")
    X = block_of(X)
    _check_shapes(W, b, X, cost)
    rows = _counted(_checked_order(order, len(X)), cost)
    target, costs, sums = _checked_target(target, rows, len(X), len(W)), cost.reshape(-1, 1), _sums(state, averaging)
    sparse = X.skips_zeros
    run = _kernel(loss, X, target, len(W))
    memo = np.array([state.scale, state.carried])
    if not sparse:  # dense rows move all weights in any case
        W *= state.scale
        sums = (sums[0] + state.carried * state.weights if state.carried and averaging else sums[0], sums[1])
        memo[:] = 1.0, 0.0
    size, whole = (STEPS, X.readable) if X.in_place else (GATHERED, None)
    for lo in range(0, rows.size, size):
        part = rows[lo : lo + size]
        eta = rates(rate, state.steps + lo + 1, part.size)
        given = (whole, part, target, costs) if X.in_place else _gathered(X, part, target, costs)
        run(*given, eta, l2, fit_intercept, memo, W, b, *sums)
    scale, carried = memo.tolist()
    if not averaging:
        return OnlineState(W, b, state.steps + rows.size, scale=scale)
    return OnlineState(W, b, state.steps + rows.size, *sums, state.summed + rows.size, scale, carried)


def _check_shapes(W: Floats, b: Floats, X: Block, cost: Floats) -> None:
    if X.dtype.name not in ("float32", "float64"):
        raise TypeError(f"X is of {X.dtype}: float32 or float64 is needed")
    if W.ndim != 2 or W.shape[1] != X.shape[1] or b.shape != W.shape[:1]:
        raise ValueError(
            f"weights of shape {W.shape} and intercepts of shape {b.shape} do not fit X of shape {X.shape}: "
            f"K × d, K and n × d are needed, K = 1 for two classes"
        )
    if cost.size and cost.shape != X.shape[:1]:
        raise ValueError(f"cost has shape {cost.shape}, X has {len(X)} rows: one cost for each row is needed, or none")


def _checked_order(order: NDArray[Any], n: int) -> NDArray[np.int64]:
    rows = np.ascontiguousarray(order, dtype=np.int64)
    if rows.size and rows.view(np.uint64).max() >= n:  # seen as unsigned, what is negative is large
        raise ValueError(f"order names the rows {rows.min()} to {rows.max()}, X has the rows 0 to {n - 1}")
    return rows


def _counted(rows: NDArray[np.int64], cost: Floats) -> NDArray[np.int64]:
    """The rows of positive cost."""
    if not cost.size:
        return rows
    costs = cost[rows]
    if not (costs >= 0).all():
        raise ValueError(f"a cost is {float(costs[~(costs >= 0)][0])!r}: costs have to be ≥ 0")
    return rows[costs > 0]


def _checked_target(target: NDArray[Any], rows: NDArray[np.int64], n: int, classes: int) -> NDArray[Any]:
    """The targets as a matrix: n × 1 probabilities, n × 1 labels, or n × K probabilities."""
    labels = classes > 1 and target.ndim == 1 and target.dtype.kind in "iu"
    soft = classes > 1 and not labels
    if target.shape != ((n, classes) if soft else (n,)):
        wish = "a number" if classes == 1 else f"the index of a class or {classes} probabilities"
        raise ValueError(f"the targets are {target.dtype} of shape {target.shape}, not {wish} for each of {n} rows")
    if labels and rows.size:
        low, high = int(target[rows].min()), int(target[rows].max())
        if low < 0 or high >= classes:
            raise ValueError(f"the targets go from {low} to {high}: the indices of {classes} classes are needed")
    return np.ascontiguousarray(target, dtype=np.int64 if labels else np.float64).reshape(n, classes if soft else 1)


def _sums(state: OnlineState, averaging: bool) -> tuple[Floats, Floats]:
    """ΣW and Σb so far, to be added to; without averaging, empty."""
    if not averaging:
        return np.empty((0, state.weights.shape[1])), np.empty(0)
    if state.weight_sum is None or state.intercept_sum is None:
        return np.zeros(state.weights.shape), np.zeros(state.intercept.shape)
    return state.weight_sum.copy(), state.intercept_sum.copy()


def _kernel(loss: Any, X: Block, target: NDArray[Any], classes: int) -> Callable[..., None]:
    from .online_kernels import softmax_kernel, two_class_kernel

    index = X.layout if X.skips_zeros else None
    if classes == 1:
        return two_class_kernel(loss, X.dtype.name, index)
    return softmax_kernel(loss, X.dtype.name, target.dtype == np.int64, index)


def _gathered(X: Block, rows: NDArray[np.int64], target: NDArray[Any], cost: Floats) -> tuple[Any, ...]:
    """These rows side by side in C order, and what goes with them."""
    here = np.empty((rows.size, X.shape[1]), X.dtype.newbyteorder("="))
    X.write(rows, here)
    return here, np.arange(rows.size), target[rows], cost[rows] if cost.size else cost
