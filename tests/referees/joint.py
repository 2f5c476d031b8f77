"""Joint features, slowly: the perceptron in plain Python, the mean loss row by row, and tables of features."""

import math
from decimal import Decimal, localcontext

import numpy as np

TIES = {"mistake": (True, True), "positive": (True, False), "negative": (False, True)}


def perceptron(F, target, order, ties="mistake", rate=1.0):
    """θ after the rows of the order, the mean of all θ, and the log of (step, row, rival)."""
    theta, total, log = np.zeros(F.shape[2]), np.zeros(F.shape[2]), []
    after, before = TIES[ties]
    for step, i in enumerate(order):
        total += theta
        y, s = target[i], [float(np.dot(theta, F[i, k])) for k in range(F.shape[1])]
        others = [k for k in range(F.shape[1]) if k != y]
        best = max(s[k] for k in others)
        strongest = [k for k in others if s[k] == best]
        rival = strongest[-1] if ties == "positive" else strongest[0]
        tie = before if rival < y else after
        if s[y] < best or (s[y] == best and tie):
            theta = theta + rate * (F[i, y] - F[i, rival])
            log.append((step, i, rival))
    return theta, (total + theta) / (len(order) + 1), log


def mean_loss(theta, F, T, cost=None, *, l2=0.0, free=(), squared=False):
    """(1/C) Σᵢ cᵢ ℓᵢ + (l2/2)‖θ‖², one row after the other; T holds probabilities."""
    cost = np.ones(len(F)) if cost is None else cost
    losses = []
    for f, t, c in zip(F, T, cost, strict=True):
        s = f @ theta
        p = np.exp(s - s.max()) / np.exp(s - s.max()).sum()
        log_p = s - s.max() - math.log(np.exp(s - s.max()).sum())
        losses.append(c * (((t - p) ** 2).sum() if squared else -(t * log_p).sum()))
    penalised = [w for j, w in enumerate(theta) if j not in free]
    return math.fsum(losses) / cost.sum() + l2 / 2 * float(np.square(penalised).sum())


def table(F):
    """A feature map that looks Φ up: a row of X holds the place of its features."""

    def feature_map(X, c):
        return F[np.asarray(X)[:, 0].astype(int), int(c)]

    return feature_map


def places(F):
    """The rows for `table`."""
    return np.arange(len(F), dtype=float)[:, None]


def minimum_in_digits(F, y, l2, free, near):
    """argmin of the mean of −log p_y + (l2/2)‖θ‖², of free features the shortest, by Newton in sixty digits."""
    with localcontext() as context:
        context.prec = 60
        n, _, p = F.shape
        F, theta = _decimal(F), _decimal(near)
        ridge = np.array([Decimal("1e-45") if j in free else Decimal(l2) for j in range(p)], object)
        for _ in range(20):
            g, H = ridge * theta, np.diag(ridge) + Decimal(0)
            for i in range(n):
                s = F[i] @ theta
                e = np.array([(each - max(s)).exp() for each in s], object)
                q = e / sum(e)
                mean = q @ F[i]
                g, apart = g + (mean - F[i, y[i]]) / n, F[i] - mean
                H = H + (apart * q[:, None]).T @ apart / n
            step = _solved(H, g)
            theta = theta - step
            if max(map(abs, step)) < Decimal("1e-28") * max(map(abs, theta)):
                break
        return theta.astype(float)


def _decimal(a):
    return np.vectorize(lambda v: Decimal(float(v)), otypes=[object])(a)


def _solved(H, g):
    H, x = np.column_stack([H, g]), np.array([Decimal(0)] * len(g), object)
    for k in range(len(g)):
        i = max(range(k, len(g)), key=lambda i: abs(H[i, k]))
        H[[k, i]] = H[[i, k]]
        for i in range(k + 1, len(g)):
            H[i] = H[i] - H[i, k] / H[k, k] * H[k]
    for k in reversed(range(len(g))):
        x[k] = (H[k, -1] - sum(H[k, k + 1 : -1] * x[k + 1 :], Decimal(0))) / H[k, k]
    return x
