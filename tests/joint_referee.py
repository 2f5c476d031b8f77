"""Joint features, slowly: the perceptron in plain Python, the mean loss row by row, and tables of features."""

import math

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
