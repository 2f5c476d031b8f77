"""Referees that share no code with the library: a dense Newton in long double, and a linear programme.

Slow and plain on purpose. Labels are 0 and 1 here.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

Long = np.longdouble


class Optimum(NamedTuple):
    weights: Any
    intercept: Any
    value: Any
    """The mean loss, the penalty included."""


def costs(n: int, cost: Any) -> Any:
    return np.ones(n, Long) if cost is None else np.asarray(cost, Long)


def mean_loss(X: Any, y: Any, weights: Any, intercept: Any, *, l2: float = 0.0, cost: Any = None) -> Any:
    """(1/C) Σ c log(1 + exp(−m)) + (l2/2)‖w‖², the rows centred first so that large offsets cancel."""
    X, weights, c = np.asarray(X, Long), np.asarray(weights, Long), costs(len(y), cost)
    center = c @ X / c.sum()
    score = (X - center) @ weights + (Long(intercept) + center @ weights)
    return _mean(score, y, c) + Long(l2) / 2 * (weights @ weights)


def _mean(score: Any, y: Any, c: Any) -> Any:
    m = np.where(np.asarray(y) > 0, score, -score)
    return c @ (np.maximum(-m, 0) + np.log1p(np.exp(-np.abs(m)))) / c.sum()


def newton(
    X: Any, y: Any, *, l2: float = 0.0, cost: Any = None, fit_intercept: bool = True, passes: int = 60
) -> Optimum:
    """The minimum of the mean loss: gradients in long double, steps in double, halved until they pay.

    Columns are centred and scaled, the penalty with them. Where columns are dependent the step is the shortest one.
    """
    X, c, y = np.asarray(X, Long), costs(len(y), cost), np.asarray(y)
    d = X.shape[1]
    center = c @ X / c.sum() if fit_intercept else np.zeros(d, Long)
    scale = np.sqrt(c @ np.square(X - center) / c.sum())
    scale = np.where(scale > 0, scale, 1)
    Z = np.column_stack([(X - center) / scale, np.ones((len(X), int(fit_intercept)), Long)])
    ridge = np.append(Long(l2) / scale**2, np.zeros(int(fit_intercept), Long))

    def value(v: Any) -> Any:
        return _mean(Z @ v, y, c) + ridge @ (v * v) / 2

    v = np.zeros(Z.shape[1], Long)
    for _ in range(passes):
        z = Z @ v
        p = np.where(z < 0, np.exp(-np.abs(z)), 1) / (1 + np.exp(-np.abs(z)))
        gradient = Z.T @ (c * (p - (y > 0))) / c.sum() + ridge * v
        curvature = c * np.exp(-np.abs(z)) / (1 + np.exp(-np.abs(z))) ** 2
        hessian = ((Z.T * curvature) @ Z / c.sum() + np.diag(ridge)).astype(float)
        step = -_shortest_solution(hessian, gradient.astype(float))
        t, now = Long(1), value(v)
        while value(v + t * step) > now + abs(now) * 1e-17 and t > 1e-9:
            t /= 2
        v = v + t * step
    weights = v[:d] / scale
    return Optimum(weights, v[d] - center @ weights if fit_intercept else Long(0), value(v))


def _shortest_solution(H: Any, g: Any) -> Any:
    size = np.sqrt(np.diag(H))
    size[size == 0] = 1
    return np.linalg.lstsq(H / np.outer(size, size), g / size, rcond=1e-13)[0] / size


def kind_of_separation(X: Any, y: Any, *, fit_intercept: bool = True) -> str:
    """separated, quasi-separated or overlap, by max Σ yᵢzᵢᵀw over 0 ≤ yᵢzᵢᵀw ≤ 1; meant for small integers."""
    X = np.asarray(X, float)
    Z = np.column_stack([X, np.ones((len(X), int(fit_intercept)))]) * np.where(np.asarray(y) > 0, 1, -1)[:, None]
    Z = np.unique(Z, axis=0)
    found = linprog(-Z.sum(axis=0), np.vstack([-Z, Z]), np.repeat([0.0, 1.0], len(Z)), bounds=(None, None))
    assert found.status == 0, found.message
    margins = Z @ found.x
    if margins.max() < 1e-6:
        return "overlap"
    strict = linprog(np.zeros(Z.shape[1]), -Z, -np.ones(len(Z)), bounds=(None, None))
    return "separated" if strict.status == 0 else "quasi-separated"
