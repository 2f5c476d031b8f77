"""The problems, and what their objective is worth at any weights: shared with no library under test."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

Floats = NDArray[np.float64]
BLOCK = 16_384
SEED = 20_240


def spaced(size: int) -> str:
    """Thousands apart by a space; 1000 stays whole."""
    return f"{size:,}".replace(",", " ") if size >= 10_000 else str(size)


@dataclass(frozen=True)
class Problem:
    """Σᵢ log(1 + exp(−yᵢ(xᵢᵀw + b))) + (penalty/2)‖w‖² on rows drawn from a seed."""

    key: str
    kind: str
    rows: int
    columns: int
    scales: tuple[float, float] | None
    """The first and the last column's spread, evenly on a log scale; None: rare one-hot columns."""
    penalty: float = 1.0
    required: float = 1.0
    aim: float = 1.0
    expected_s: float = 100.0
    """What all its fits together may take: for the estimate of what is left."""
    gap: float = 1e-10
    """How near the minimum a fit must come."""
    wide: bool = False
    """Whether a matrix of the columns would be more than the rows: then none may be made."""

    def smaller(self, by: int) -> Problem:
        return replace(self, rows=self.rows // by)

    @property
    def title(self) -> str:
        return f"{spaced(self.rows)} × {self.columns}, {self.kind}"

    @property
    def memory_limit(self) -> int:
        return 64 * 2**20 + (8 * self.rows * self.columns if self.wide else 120 * self.columns**2)


PROBLEMS = (
    Problem("scaled", "column scales 1…1000", 200_000, 100, (1, 1e3), 1.0, 5, 10, 400),
    Problem("long", "column scales 1…10", 1_000_000, 30, (1, 10), 1.0, 5, 12, 120),
    Problem("plain", "well conditioned", 200_000, 100, (1, 1), 1.0, 1.8, 4, 90),
    Problem("wide", "column scales 1…10", 50_000, 1000, (1, 10), 1.0, 2.5, 6, 700),
    Problem("rare", "rare one-hot columns", 200_000, 40, None, 1e-3, 3, 5, 60),
    *(
        Problem(f"wide-{n}", "column scales 1…10", n, d, (1, 10), 1.0, 1.5, 3, 120, gap=1e-8, wide=True)
        for n, d in ((1000, 5000), (5000, 2000), (300, 20_000), (20_000, 1500))
    ),
)
RARE, FREQUENT = 1e-4, 0.3


def generate(problem: Problem) -> tuple[Floats, NDArray[np.int64]]:
    """X and y ~ Bernoulli(σ(Xβ − ½)), without ever holding more than X and a few rows."""
    random = np.random.default_rng(SEED)
    X = np.empty((problem.rows, problem.columns))
    if problem.scales is None:
        frequency = np.geomspace(RARE, FREQUENT, problem.columns)
        for lo in range(0, len(X), BLOCK):
            X[lo : lo + BLOCK] = random.random(X[lo : lo + BLOCK].shape) < frequency
        beta = random.standard_normal(problem.columns)
    else:
        scale = np.geomspace(*problem.scales, problem.columns)
        random.standard_normal(out=X)
        X *= scale
        beta = random.standard_normal(problem.columns) / scale / 5
    y = random.random(problem.rows) < expit(X @ beta - 0.5)
    return X, y.astype(np.int64)


class Case:
    """One problem's data, in the forms that the libraries like best, and the least objective known."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.X, self.y = generate(problem)
        self._least: dict[float, float] = {}

    @cached_property
    def fortran(self) -> Floats:
        return np.asfortranarray(self.X)

    @cached_property
    def with_ones(self) -> Floats:
        return np.column_stack([self.X, np.ones(len(self.X))])

    @cached_property
    def y_float(self) -> Floats:
        return self.y.astype(np.float64)

    def value(self, w: Floats, b: float, penalty: float) -> float:
        """The objective; products in float64, sums in long double."""
        total = np.longdouble(penalty / 2) * np.square(w.astype(np.longdouble)).sum()
        for lo in range(0, len(self.X), BLOCK):
            z = self.X[lo : lo + BLOCK] @ w + b
            total += np.logaddexp(0, np.where(self.y[lo : lo + BLOCK] == 1, -z, z)).sum(dtype=np.longdouble)
        return float(total)

    def settle(self, w: Floats, b: float, penalty: float) -> None:
        """Find the least objective from weights near it, by Newton steps in float64 until they gain nothing."""
        least = self.value(w, b, penalty)
        for _ in range(5):
            step = self._newton_step(w, b, penalty)
            w, b = w - step[:-1], b - step[-1]
            value = self.value(w, b, penalty)
            least, gain = min(least, value), least - value
            if gain <= 1e-15 * least:
                break
        self._least[penalty] = least

    def settled(self, penalty: float) -> bool:
        return penalty in self._least

    def gap(self, w: Any, b: float, penalty: float) -> float:
        """(f − f*)/f*, f* the least objective known; not a number for weights that are none."""
        w = np.asarray(w, dtype=np.float64).ravel()
        value = self.value(w, float(b), penalty) if np.isfinite(w).all() and np.isfinite(b) else np.nan
        least = self._least[penalty]
        return max(value / least - 1, 0.0) if np.isfinite(value) else np.nan

    def _newton_step(self, w: Floats, b: float, penalty: float) -> Floats:
        if len(self.X) < w.size:
            return self._newton_step_of_few_rows(w, b, penalty)
        ridge = np.append(np.full(w.size, penalty), 0.0)
        gradient, hessian = ridge * np.append(w, b), np.diag(ridge)
        for lo in range(0, len(self.X), BLOCK):
            block = self.X[lo : lo + BLOCK]
            Z = np.column_stack([block, np.ones(len(block))])
            p = expit(block @ w + b)
            gradient += (p - self.y[lo : lo + BLOCK]) @ Z
            hessian += (Z.T * (p * (1 - p))) @ Z
        return cho_solve(cho_factor(hessian), gradient)

    def _newton_step_of_few_rows(self, w: Floats, b: float, penalty: float) -> Floats:
        """With D = diag(p(1 − p)) and B = I + √D XXᵀ √D/λ: (λI + XᵀDX)⁻¹ = (I − Xᵀ√D B⁻¹ √D X/λ)/λ."""
        p = expit(self.X @ w + b)
        root, left = np.sqrt(p * (1 - p)), p - self.y
        made = cho_factor(np.eye(len(p)) + root[:, None] * (self.X @ self.X.T) * root / penalty)

        def solve(r: Floats) -> Floats:
            return (r - self.X.T @ (root * cho_solve(made, root * (self.X @ r))) / penalty) / penalty

        of_weights, of_level = solve(penalty * w + left @ self.X), solve(root**2 @ self.X)
        level = (left.sum() - root**2 @ (self.X @ of_weights)) / (root**2 @ (1 - self.X @ of_level))
        return np.append(of_weights - level * of_level, level)
