"""The compiled perceptron on joint features: look at a row, and where another class is as strong, move and log it.

It ends as the scans of `perceptron_kernels` do, and its ties are theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from ...numerics.jit import kernel, read, write


def joint_scan(F, rows, target, eta, tied, patience, theta, early, first, run, log, at, rival):  # type: ignore[no-untyped-def]
    """θ ← θ + η(Φ(x, y) − Φ(x, ŷ)), ŷ the strongest class other than y, where it is as strong as y.  [004 §4.5]

    `early` grows by η(step + 1)(Φ(x, y) − Φ(x, ŷ)): what the mean of all θ lacks.
    """
    made = 0
    for n in range(rows.size):
        i = rows[n]
        y = target[i]
        own, best, other = 0.0, -np.inf, -1
        for j in range(theta.size):
            own += theta[j] * F[i, y, j]
        for k in range(F.shape[1]):
            if k != y:
                s = 0.0
                for j in range(theta.size):
                    s += theta[j] * F[i, k, j]
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
        if made == log.size:
            return n, made, run
        log[made], at[made], rival[made], run = i, first + n, other, 0
        made += 1
        late = first + n + 1.0
        for j in range(theta.size):
            step = eta * (F[i, y, j] - F[i, other, j])
            theta[j] += step
            early[j] += late * step
    return rows.size, made, run


@kernel()
def joint_kernel() -> Any:
    """The compiled scan."""
    i, ties, log = types.int64, types.UniTuple(types.boolean, 2), write("int64")
    signature = types.UniTuple(i, 3)(
        read("float64", 3), read("int64"), read("int64"), types.float64, ties, i, write(), write(), i, i, log, log, log
    )
    return joint_scan, signature
