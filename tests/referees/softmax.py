"""Referees of K classes that share no code with the library: a dense Newton in long double, and linear programmes.

Slow and plain on purpose. A target is the index of a class, or a row of probabilities.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from referees.logistic import Long, costs


class ClassOptimum(NamedTuple):
    weights: Any
    """K × d, adding up to zero over the classes."""
    intercept: Any
    value: Any
    """The mean loss, the penalty included."""

    @property
    def pivot(self) -> tuple[Any, Any]:
        """The same rule with the last class at zero, in double precision."""
        return (self.weights - self.weights[-1]).astype(float), (self.intercept - self.intercept[-1]).astype(float)


def indicators(y: Any, classes: int) -> Any:
    y = np.asarray(y)
    return y.astype(Long) if y.ndim == 2 else (y[:, None] == np.arange(classes)).astype(Long)


def log_softmax(scores: Any) -> Any:
    """log p, rows × K."""
    s = scores - scores.max(axis=1, keepdims=True)
    return s - np.log(np.exp(s).sum(axis=1, keepdims=True))


def class_mean_loss(X: Any, y: Any, weights: Any, intercept: Any, *, l2: float = 0.0, cost: Any = None) -> Any:
    """(1/C) Σ c (−Σₖ tₖ log pₖ) + (l2/2)‖W‖², the rows centred first so that large offsets cancel."""
    X, W, c = np.asarray(X, Long), np.asarray(weights, Long), costs(len(y), cost)
    center = c @ X / c.sum()
    scores = (X - center) @ W.T + (np.asarray(intercept, Long) + W @ center)
    return _mean(scores, indicators(y, len(W)), c) + Long(l2) / 2 * np.square(W).sum()


def _mean(scores: Any, T: Any, c: Any) -> Any:
    return -(c @ (T * log_softmax(scores)).sum(axis=1)) / c.sum()


def class_newton(
    X: Any, y: Any, classes: int, *, l2: float = 0.0, cost: Any = None, fit_intercept: bool = True, passes: int = 40
) -> ClassOptimum:
    """The minimum of the mean loss: gradients in long double, steps in double, halved until they pay.

    Weights are contrasts of the classes, so that nothing is left undetermined but what dependent columns leave so; then
    the step is the shortest one. Columns are centred and scaled, the penalty with them.
    """
    X, c, T = np.asarray(X, Long), costs(len(y), cost), indicators(y, classes)
    d = X.shape[1]
    center = c @ X / c.sum() if fit_intercept else np.zeros(d, Long)
    scale = np.sqrt(c @ np.square(X - center) / c.sum())
    scale = np.where(scale > 0, scale, 1)
    Z = np.column_stack([(X - center) / scale, np.ones((len(X), int(fit_intercept)), Long)])
    ridge = np.append(Long(l2) / scale**2, np.zeros(int(fit_intercept), Long))
    contrasts = _contrasts(classes)

    def value(V: Any) -> Any:
        return _mean(Z @ V.T @ contrasts, T, c) + (ridge * V * V).sum() / 2

    V, width = np.zeros((classes - 1, Z.shape[1]), Long), Z.shape[1]
    for _ in range(passes):
        p = np.exp(log_softmax(Z @ V.T @ contrasts))
        gradient = contrasts @ ((p - T) * c[:, None]).T @ Z / c.sum() + ridge * V
        q = p.astype(float)
        A = -q[:, :, None] * q[:, None, :]
        A[:, range(classes), range(classes)] += q
        A = np.einsum("ak,nkj,bj->nab", contrasts.astype(float), A, contrasts.astype(float), optimize=True)
        z = Z.astype(float)
        H = np.einsum("nab,n,ni,nj->aibj", A, (c / c.sum()).astype(float), z, z, optimize=True)
        H = H.reshape(V.size, V.size) + np.diag(np.tile(ridge.astype(float), classes - 1))
        step = -_shortest_solution(H, gradient.astype(float).ravel()).reshape(-1, width)
        t, now = Long(1), value(V)
        while value(V + t * step) > now + abs(now) * 1e-17 and t > 1e-9:
            t /= 2
        V = V + t * step
    W = contrasts.T @ V
    weights = W[:, :d] / scale
    intercept = W[:, d] - weights @ center if fit_intercept else np.zeros(classes, Long)
    return ClassOptimum(weights, intercept, value(V))


def _contrasts(classes: int) -> Any:
    """Helmert's (K − 1) × K: orthonormal to the last digit of long double, every row adding up to zero."""
    k = np.arange(1, classes, dtype=Long)[:, None]
    C = np.where(np.arange(classes) < k, Long(1), 0) - np.where(np.arange(classes) == k, k, 0)
    return C / np.sqrt(k * (k + 1))


def _shortest_solution(H: Any, g: Any) -> Any:
    size = np.sqrt(np.diag(H))
    size[size == 0] = 1
    return np.linalg.lstsq(H / np.outer(size, size), g / size, rcond=1e-13)[0] / size


def kind_of_class_separation(X: Any, y: Any, classes: int, *, fit_intercept: bool = True) -> str:
    """separated, quasi-separated or overlap, by max Σ (w_y − wₖ)ᵀz over 0 ≤ (w_y − wₖ)ᵀz ≤ 1; for small integers."""
    X, y = np.asarray(X, float), np.asarray(y)
    Z = np.column_stack([X, np.ones((len(X), int(fit_intercept)))])
    unit = np.eye(classes)
    rivals = [np.kron(unit[own] - unit[k], z) for z, own in zip(Z, y, strict=True) for k in range(classes) if k != own]
    D = np.unique(np.array(rivals), axis=0)
    found = linprog(-D.sum(axis=0), np.vstack([-D, D]), np.repeat([0.0, 1.0], len(D)), bounds=(None, None))
    assert found.status == 0, found.message
    if (D @ found.x).max() < 1e-6:
        return "overlap"
    strict = linprog(np.zeros(D.shape[1]), -D, -np.ones(len(D)), bounds=(None, None))
    return "separated" if strict.status == 0 else "quasi-separated"
