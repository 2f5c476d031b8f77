"""The perceptrons as they are printed, in plain Python: slow, and easy to believe."""

from typing import Any, NamedTuple

import numpy as np

from separatrix.theory import is_mistake


class Trace(NamedTuple):
    """Every weight vector that was in hand: one before each step, and one after the last."""

    weights: list[Any]
    intercepts: list[Any]
    rows: list[int]
    steps: list[int]
    per_pass: list[int]


def two_classes(X: Any, y: Any, *, rate=1.0, passes=10.0, ties="mistake", intercept=True, w=None, b=0.0, patience=None):
    """Algorithm 5 in cyclic order; y is ±1."""
    n, d = X.shape
    w = np.zeros(d) if w is None else np.array(w, float)
    W, B, rows, steps, per_pass, run = [w.copy()], [b], [], [], [], 0
    for t in range(round(passes * n)):
        if t % n == 0:
            if per_pass and per_pass[-1] == 0:
                break
            per_pass.append(0)
        i = t % n
        if is_mistake(y[i], X[i] @ w + b, ties):
            w, b = w + rate * y[i] * X[i], b + rate * y[i] * intercept
            rows.append(i)
            steps.append(t)
            per_pass[-1] += 1
            run = 0
        else:
            run += 1
        W.append(w.copy())
        B.append(b)
        if patience is not None and run >= patience:
            break
    return Trace(W, B, rows, steps, per_pass)


def many_classes(X: Any, k: Any, classes: int, *, rate=1.0, passes=10.0, ties="mistake", intercept=True):
    """The joint rule of 004 §4.5 in cyclic order; k is the number of the class. Ties as in the classes' docstrings."""
    n, d = X.shape
    W, b = np.zeros((classes, d)), np.zeros(classes)
    Ws, B, rows, steps, per_pass = [W.copy()], [b.copy()], [], [], []
    for t in range(round(passes * n)):
        if t % n == 0:
            if per_pass and per_pass[-1] == 0:
                break
            per_pass.append(0)
        i = t % n
        s = W @ X[i] + b
        tied = [c for c in range(classes) if s[c] == s.max()]
        others = [c for c in range(classes) if c != k[i]]
        best = max(s[others])
        strongest = [c for c in others if s[c] == best]
        chosen = tied[-1] if ties == "positive" else tied[0]
        wrong = (tied != [k[i]]) if ties == "mistake" else chosen != k[i]
        if wrong:
            rival = strongest[-1] if ties == "positive" else strongest[0]
            W[k[i]] += rate * X[i]
            W[rival] -= rate * X[i]
            b[k[i]] += rate * intercept
            b[rival] -= rate * intercept
            rows.append(i)
            steps.append(t)
            per_pass[-1] += 1
        Ws.append(W.copy())
        B.append(b.copy())
    return Trace(Ws, B, rows, steps, per_pass)


def pocket(X: Any, y: Any, *, passes: float, ratchet: bool):
    """Algorithm 6 in cyclic order with its missing last comparison, and Gallant's ratchet."""
    n, d = X.shape
    w, b, run = np.zeros(d), 0.0, 0
    kept, kept_run = (w.copy(), b), 0

    def right(w: Any, b: float) -> int:
        return int(((X @ w + b > 0) == (y > 0)).sum())

    def consider(*, last: bool = False) -> None:
        nonlocal kept, kept_run
        longer, better = run > kept_run or (last and ratchet), not ratchet or right(w, b) > right(*kept)
        if longer and better:
            kept, kept_run = (w.copy(), b), run

    clean = 0
    for t in range(round(passes * n)):
        if t % n == 0 and t and clean == n:
            return w, b, run
        clean = 0 if t % n == 0 else clean
        i = t % n
        if is_mistake(y[i], X[i] @ w + b):
            consider()
            w, b, run = w + y[i] * X[i], b + y[i], 0
        else:
            run += 1
            clean += 1
    if clean == n and round(passes * n) % n == 0:
        return w, b, run
    consider(last=True)
    return *kept, kept_run


def integers(rng: Any, n: int, d: int, dtype: str = "float64"):
    """Rows of small whole numbers: every sum of them is exact."""
    return rng.integers(-4, 5, (n, d)).astype(dtype)
