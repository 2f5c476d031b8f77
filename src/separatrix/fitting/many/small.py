"""The minimum of one small likelihood of two classes in a single compiled call, with the proof that belongs to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numba.extending import register_jitable

from ...data.frame import Frame, WeightMap
from ...numerics import functions, vector_functions
from ...numerics.arrays import Floats
from ...numerics.functions import sigmoid, softplus
from ...numerics.jit import EXACT, SUMS, kernel, read, write
from ...numerics.linalg import Factor
from ..certificates.proof import TOO_SURE, conclusion, margin_rounding
from ..coordinates import CLEAR
from ..minimise import NOTHING
from ..problem import Outcome, Problem

MOST_COLUMNS = 64
"""The widest rows of which a fit makes a copy of its own."""
MOST_NUMBERS = 1 << 22
"""The most numbers of which it makes one."""
STEPS = 60
"""The most steps."""
SURELY = 100.0
"""By how much the rank must be clearer than clear: what is nearer to the edge is left to a fit that looks closer."""
FARTHEST = 1e6
"""How many deviations zero may be from the rows: beyond, an intercept in the user's units costs more than the gap."""


def is_small(rows: int, columns: int) -> bool:
    """Whether so many rows of so many columns are few enough, and no fewer than the weights."""
    return columns <= MOST_COLUMNS and rows * (columns + 1) <= MOST_NUMBERS and rows > columns + 1


@dataclass(frozen=True)
class SmallFit:
    """Where the compiled call ended."""

    frame: Frame
    Z: Floats
    """The rows in the frame, column by column."""
    v: Floats
    gradient: Floats
    hessian: Floats
    """Of all rows but those too sure to matter."""
    radius: float
    """The largest ‖z‖² of those rows."""
    value: float
    passes: float
    steps: Floats
    """For each step on all rows its passes, value, slope and length."""

    @classmethod
    def of(cls, problem: Problem) -> SmallFit | None:
        """None where columns are nearly dependent, classes separated, numbers not finite, or steps too many."""
        rows, lifted = problem.rows.gathered(), problem.lifted
        X, sign, cost = rows.block.readable, rows.y, rows.cost
        if cost.size and not cost.all():
            counting = np.flatnonzero(cost)
            X, sign, cost = X[counting], sign[counting], cost[counting]
        X = np.ascontiguousarray(X, dtype=np.float64)
        n, d = X.shape
        p = d + lifted
        center, scale, square, v, g = np.empty(d), np.empty(d), np.empty(n), np.zeros(p), np.empty(p)
        Z, H, history = np.empty((p, n)), np.empty((p, p)), np.empty((STEPS, 4))
        settled, steps, value, passes, radius = fit_kernel()(
            X, sign, cost, problem.penalty.strength, lifted, problem.tol, SURELY * CLEAR, TOO_SURE,
            problem.max_passes - 1, center, scale, Z, square, v, g, H, history,
        )  # fmt: skip
        if not settled:
            return None
        return cls(Frame(center, scale, lifted), Z, v, g, H, radius, value, passes, history[:steps])

    def proved(self, problem: Problem) -> Outcome | None:
        """The outcome with its proof; None where the proof does not reach the gap that was asked for."""
        if self.frame.offset > FARTHEST:
            return None
        slip = margin_rounding(self.frame, self.v, self.radius)
        spread = WeightMap(self.frame, None).spread
        found = conclusion(self.hessian, self.radius, self.gradient, self._leverage, slip, spread, 1.0, self.Z.shape[1])
        if found is None or not found.gap <= problem.tol * max(abs(self.value), NOTHING):
            return None
        weights, level = self.frame.to_user(self.v)
        none, growth = np.empty(0, np.intp), np.zeros(weights.size)
        return Outcome("optimal", weights, level, self.value, self.passes, found, none, growth, False, True, False)

    def _leverage(self, made: Factor) -> float:

        inverse = np.ascontiguousarray(made.inverse())  # LAPACK's order is the other one
        return float(leverage_kernel()(self.Z, self.v, TOO_SURE, inverse)) * (1 + 1e-10)


# Compiled arithmetic of small symmetric matrices, for kernels that need it between two sums over rows.


@register_jitable(**SUMS)
def dot(a, b, n):  # type: ignore[no-untyped-def]
    """Σₖ aₖbₖ of the first n."""
    s = 0.0
    for k in range(n):
        s += a[k] * b[k]
    return s


@register_jitable(**EXACT)
def factored(H, L, size):  # type: ignore[no-untyped-def]
    """L and D with H = D LLᵀ D; the least part of a column's square that is its own, none if H is not definite."""
    p, weakest = len(H), np.inf
    for j in range(p):
        if not H[j, j] > 0:
            return 0.0
        size[j] = math.sqrt(H[j, j])
    for j in range(p):
        for i in range(j, p):
            s = H[i, j] / (size[i] * size[j])
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                weakest = min(weakest, s)
                if not s > 0:
                    return 0.0
                L[j, j] = math.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return weakest


@register_jitable(**EXACT)
def solved(L, size, g, d):  # type: ignore[no-untyped-def]
    """d = H⁻¹g."""
    p = len(L)
    for j in range(p):
        s = g[j] / size[j]
        for k in range(j):
            s -= L[j, k] * d[k]
        d[j] = s / L[j, j]
    for j in range(p - 1, -1, -1):
        s = d[j]
        for k in range(j + 1, p):
            s -= L[k, j] * d[k]
        d[j] = s / L[j, j]
    for j in range(p):
        d[j] /= size[j]


# The compiled fit of one small logistic regression: frame, rank and Newton's method in a single call.
#
# For some thousand rows of a few columns the sums take less time than the calls that lead to them. Here the columns
# lie
# side by side in the order of a fixed shuffle, so that sums run along them in vector lanes, and the first eighth of
# them
# serves as a sample. What the call cannot settle it says, and leaves to others.

TILE = 256
"""Rows that are worked on together."""
STRIDE = 8
"""One row in so many is in the sample."""
ARMIJO = 1e-4
"""The part of what the slope promises that a step must bring."""
NEAR = 0.1
"""A sample is left when the gain in sight is this part of its statistical error."""
ENOUGH = 8
"""Rows that a sample needs for each weight."""


@register_jitable(**EXACT)
def _weigh(m, sign, f, r, w):  # type: ignore[no-untyped-def]
    """φ(m), yφ′(m) and φ″(m) of φ = log(1 + e⁻ᵐ)."""
    for k in range(TILE):
        m[k] *= sign[k]
    for k in range(TILE):
        f[k] = softplus(-m[k])
    for k in range(TILE):
        r[k] = -sigmoid(-m[k])
    for k in range(TILE):
        w[k] = -r[k] * (1.0 + r[k])
    for k in range(TILE):
        r[k] *= sign[k]


@register_jitable(**SUMS)
def _add_products(Z, lo, n, w, row, H):  # type: ignore[no-untyped-def]
    """H ← H + Σᵢ wᵢ zᵢzᵢᵀ, its lower half; four products at a time, so that what they share is read once."""
    for j in range(Z.shape[0]):
        own = Z[j, lo:]
        for k in range(n):
            row[k] = w[k] * own[k]
        i = 0
        while i + 4 <= j + 1:
            z0, z1, z2, z3 = Z[i, lo:], Z[i + 1, lo:], Z[i + 2, lo:], Z[i + 3, lo:]
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for k in range(n):
                s0 += row[k] * z0[k]
                s1 += row[k] * z1[k]
                s2 += row[k] * z2[k]
                s3 += row[k] * z3[k]
            H[j, i] += s0
            H[j, i + 1] += s1
            H[j, i + 2] += s2
            H[j, i + 3] += s3
            i += 4
        while i <= j:
            H[j, i] += dot(row, Z[i, lo:], n)
            i += 1


@register_jitable(**EXACT)
def _jet(Z, sign, cost, square, n, v, ridge, sure, g, H):  # type: ignore[no-untyped-def]
    """The mean loss of the first n rows with its penalty, g and H; the least margin; the largest ‖z‖² that enters H.

    Rows with less curvature than `sure` do not enter H.
    """
    p = Z.shape[0]
    m, f, r, w, row, sign_here = (
        np.zeros(TILE), np.zeros(TILE), np.zeros(TILE), np.zeros(TILE), np.zeros(TILE), np.zeros(TILE),
    )  # fmt: skip
    total, weight, margin, radius = 0.0, 0.0, np.inf, 0.0
    g[:] = 0.0
    H[:, :] = 0.0
    for lo in range(0, n, TILE):
        size = min(TILE, n - lo)
        m[:] = 0.0
        for j in range(p):
            own, u = Z[j, lo:], v[j]
            for k in range(size):
                m[k] += u * own[k]
        for k in range(size):
            sign_here[k] = sign[lo + k]
        _weigh(m, sign_here, f, r, w)
        for k in range(size):
            c = cost[lo + k] if cost.size else 1.0
            margin = m[k] if m[k] < margin else margin
            total += f[k] * c
            weight += c
            r[k] *= c
            enters = w[k] >= sure
            w[k] = w[k] * c if enters else 0.0
            radius = square[lo + k] if enters and square[lo + k] > radius else radius
        for j in range(p):
            g[j] += dot(r, Z[j, lo:], size)
        _add_products(Z, lo, size, w, row, H)
    total /= weight
    for j in range(p):
        g[j] = g[j] / weight + ridge[j] * v[j]
        total += 0.5 * ridge[j] * v[j] * v[j]
        for i in range(j + 1):
            H[j, i] /= weight
            H[i, j] = H[j, i]
        H[j, j] += ridge[j]
    return total, margin, radius


@register_jitable(**EXACT)
def _shuffled(X, sign, cost, lifted, center, scale, Z, signs, costs, square):  # type: ignore[no-untyped-def]
    """z = ((x − c)/s, 1) with the means c and the deviations s, column by column, every eighth row first."""
    n, d = X.shape
    weight = 0.0
    place = 0
    for first in range(STRIDE):
        for i in range(first, n, STRIDE):
            signs[place] = sign[i]
            if cost.size:
                costs[place] = cost[i]
            for j in range(d):
                Z[j, place] = X[i, j]
            place += 1
    for i in range(n):
        weight += costs[i] if cost.size else 1.0
    square[:] = 1.0 if lifted else 0.0
    for j in range(d):
        own, mean, spread = Z[j], 0.0, 0.0
        if lifted:
            for i in range(n):
                mean += (costs[i] if cost.size else 1.0) * own[i]
            mean /= weight
        for i in range(n):
            spread += (costs[i] if cost.size else 1.0) * (own[i] - mean) ** 2
        center[j], scale[j] = mean, math.sqrt(spread / weight)
        if not (scale[j] > 0 and math.isfinite(scale[j])):
            return False
        for i in range(n):
            own[i] = (own[i] - mean) / scale[j]
        for i in range(n):
            square[i] += own[i] * own[i]
    if lifted:
        Z[d, :] = 1.0
    return True


@register_jitable(**EXACT)
def _note(history, k, passes, value, g, t):  # type: ignore[no-untyped-def]
    """A line of the history: passes, value, ‖g‖, step."""
    history[k, 0], history[k, 1], history[k, 2], history[k, 3] = passes, value, math.sqrt(dot(g, g, g.size)), t


def _fit(  # type: ignore[no-untyped-def]
    X, sign, cost, strength, lifted, tol, clear, sure, most, center, scale, Z, square, v, g, H, history
):
    """The minimum of the mean of log(1 + exp(−y zᵀv)) and ½ vᵀ diag(ridge) v, by Newton's method.

    The kernel returns whether it came to an end, the lines of the history, the value, the passes and the largest ‖z‖²
    in H. It comes to none where columns are nearly dependent, classes separated, or numbers not finite.
    """
    n, d = X.shape
    p = Z.shape[0]
    signs, costs = np.empty(n), np.empty(n if cost.size else 0)
    nothing = (False, 0, 0.0, 0.0, 0.0)
    if not _shuffled(X, sign, cost, lifted, center, scale, Z, signs, costs, square):
        return nothing
    ridge, L, size, step = np.zeros(p), np.zeros((p, p)), np.zeros(p), np.zeros(p)
    there, g_there, H_there = np.zeros(p), np.zeros(p), np.zeros((p, p))
    for j in range(d):
        ridge[j] = strength / scale[j] ** 2
    value, margin, radius = _jet(Z, signs, costs, square, n, v, 0 * ridge, 0.0, g, H)
    if not (math.isfinite(value) and factored(H, L, size) > clear):
        return nothing
    for j in range(p):
        H[j, j] += ridge[j]
    sample = (n + STRIDE - 1) // STRIDE
    sampling = sample >= ENOUGH * p
    rows, passes, taken, t = n, 1.0, 0, 0.0
    _note(history, 0, passes, value, g, t)
    while passes < most and taken + 1 < len(history) and factored(H, L, size) > 1e-14:
        solved(L, size, g, step)
        ahead = dot(g, step, p)
        if rows == n and 0.5 * ahead <= NEAR * tol * max(abs(value), 1e-10):
            return True, taken + 1, value, passes, radius
        if rows < n and ahead <= NEAR * p / rows:
            sampling, rows, t = False, n, 1.0
            value, margin, radius = _jet(Z, signs, costs, square, n, v, ridge, sure, g, H)
            passes += 1.0
        else:
            rows = sample if sampling else n  # at the start the value is log 2 on any rows
            t, pays = 2.0, False
            while not pays:
                t *= 0.5
                if not t > 1e-6 or passes >= most:
                    return nothing
                for j in range(p):
                    there[j] = v[j] - t * step[j]
                new, margin, radius = _jet(Z, signs, costs, square, rows, there, ridge, sure, g_there, H_there)
                passes += rows / n
                pays = new <= value - ARMIJO * t * ahead + 1e-14 * abs(value)
            v[:], g[:], H[:, :], value = there, g_there, H_there, new
        if rows == n:
            if (margin > 0 and strength == 0) or not math.isfinite(value):
                return nothing
            taken += 1
            _note(history, taken, passes, value, g, t)
    return nothing


def _leverage(Z, v, sure, inverse):  # type: ignore[no-untyped-def]
    """max zᵢᵀ M⁻¹ zᵢ over the rows that enter M; those at the edge of it are counted in."""
    (p, n), most = Z.shape, 0.0
    z = np.zeros(p)
    for i in range(n):
        m = 0.0
        for j in range(p):
            z[j] = Z[j, i]
            m += z[j] * v[j]
        q = sigmoid(-abs(m))
        if q * (1.0 - q) < sure * 0.5:
            continue
        total = 0.0
        for j in range(p):
            s = 0.0
            for k in range(p):
                s += inverse[j, k] * z[k]
            total += z[j] * s
        most = total if total > most else most
    return most


@kernel(functions, vector_functions)
def fit_kernel() -> Any:
    """The compiled fit."""
    f, vector, table = types.float64, write(), write("float64", 2)
    signature = types.Tuple((types.boolean, types.int64, f, f, f))(
        read("float64", 2), read("int8"), read(), f, types.boolean, f, f, f, f,
        vector, vector, table, vector, vector, vector, table, table,
    )  # fmt: skip
    return _fit, signature


@kernel(functions, vector_functions)
def leverage_kernel() -> Any:
    """The compiled largest leverage."""
    return _leverage, types.float64(read("float64", 2), read(), types.float64, read("float64", 2))
