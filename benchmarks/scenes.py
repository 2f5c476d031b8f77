"""Rows whose separability is known: planted, noisy, or separated in a few hundred rows only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from problems import BLOCK, SEED, Floats, spaced
from scipy.special import expit

Labels = NDArray[np.int64]
CLEAR, HAIRLINE = 0.5, 1e-6
"""How far the rows are moved away from the planted plane, in units of a column's spread."""
FEW = 300
"""Rows that a dummy separates."""


@dataclass(frozen=True)
class Scene:
    """Rows and labels from a seed, what is true of them, and how long the answer may take."""

    key: str
    words: str
    kind: str
    make: Callable[[np.random.Generator, int, int], tuple[Floats, Labels]]
    limit: float
    """In units of X.sum()."""
    rows: int = 1_000_000
    columns: int = 50

    def sized(self, rows: int, columns: int) -> Scene:
        return replace(self, rows=rows, columns=columns)

    def data(self) -> tuple[Floats, Labels]:
        return self.make(np.random.default_rng(SEED), self.rows, self.columns)

    @property
    def title(self) -> str:
        return f"{spaced(self.rows)} × {self.columns}, {self.words}"


def planted(gap: float) -> Callable[[np.random.Generator, int, int], tuple[Floats, Labels]]:
    """Rows on both sides of a plane at distance 0.3 from their mean, all moved away from it by the gap."""

    def make(random: np.random.Generator, rows: int, columns: int) -> tuple[Floats, Labels]:
        X = random.standard_normal((rows, columns))
        w = random.standard_normal(columns)
        w /= np.linalg.norm(w)
        y = X @ w > 0.3
        for lo in range(0, rows, BLOCK):
            X[lo : lo + BLOCK] += np.outer(np.where(y[lo : lo + BLOCK], gap, -gap), w)
        return X, y.astype(np.int64)

    return make


def noisy(random: np.random.Generator, rows: int, columns: int) -> tuple[Floats, Labels]:
    """y ~ Bernoulli(σ(Xβ − ½))."""
    X = random.standard_normal((rows, columns))
    z = X @ (random.standard_normal(columns) / 5) - 0.5
    return X, (random.random(rows) < expit(z)).astype(np.int64)


def one_dummy(random: np.random.Generator, rows: int, columns: int) -> tuple[Floats, Labels]:
    """Noisy rows; the last column is 1 in a few of them, which are all of the second class, and else 0."""
    X, y = noisy(random, rows, columns)
    chosen = random.choice(rows, min(FEW, rows // 20), replace=False)
    X[:, -1] = 0.0
    X[chosen, -1] = 1.0
    y[chosen] = 1
    return X, y


def two_dummies(random: np.random.Generator, rows: int, columns: int) -> tuple[Floats, Labels]:
    """Noisy rows; the last two columns are dummies that differ in a few rows: there, and only there, they tell y.

    Each of them is 1 in a tenth of the rows, of both classes: neither alone separates anything, their difference does.
    """
    X, y = noisy(random, rows, columns)
    X[:, -2] = X[:, -1] = random.random(rows) < 0.1
    chosen = random.choice(rows, min(FEW, rows // 20), replace=False)
    X[chosen, -2:] = np.where(y[chosen, None] == 1, [1.0, 0.0], [0.0, 1.0])
    return X, y


def on_a_plane(random: np.random.Generator, rows: int, columns: int) -> tuple[Floats, Labels]:
    """Half of the rows on a plane through the origin, with labels by chance; the others on their own sides of it."""
    X = random.standard_normal((rows, columns))
    w = random.standard_normal(columns)
    w /= np.linalg.norm(w)
    there, chance = random.random(rows) < 0.5, random.random(rows) < 0.5
    for lo in range(0, rows, BLOCK):
        part = X[lo : lo + BLOCK]
        part -= np.outer(np.where(there[lo : lo + BLOCK], part @ w, 0.0), w)
    return X, np.where(there, chance, X @ w > 0).astype(np.int64)


SCENES = (
    Scene("clear", "a clear gap", "separated", planted(CLEAR), 25),
    Scene("hairline", "a hairline gap", "separated", planted(HAIRLINE), 25),
    Scene("noisy", "logistic noise", "overlap", noisy, 25),
    Scene("dummy", "a dummy that separates a few rows", "quasi-separated", one_dummy, 60),
    Scene("dummies", "two dummies that do so together", "quasi-separated", two_dummies, 60),
    Scene("plane", "half of the rows on a plane", "quasi-separated", on_a_plane, 60),
)


def programmes(X: Floats, y: Any) -> dict[str, Callable[[], bool]]:
    """Is there w, b with ±(xᵀw + b) ≥ 1 on all rows? SciPy's linear programming, every way to ask it."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    A = np.where(np.asarray(y)[:, None] == 1, -1.0, 1.0) * np.column_stack([X, np.ones(len(X))])
    forms = {"dense": A, "sparse": csr_array(A)}
    nothing, ones = np.zeros(A.shape[1]), np.full(len(A), -1.0)

    def ask(method: str, form: Any) -> bool:
        answer = linprog(nothing, A_ub=form, b_ub=ones, bounds=(None, None), method=method)
        if answer.status not in (0, 2):
            raise ArithmeticError(f"status {answer.status}: {answer.message}")
        return bool(answer.status == 0)

    return {
        f"{method}, {name}": lambda method=method, form=form: ask(method, form)  # type: ignore[misc]
        for method in ("highs", "highs-ds", "highs-ipm")
        for name, form in forms.items()
    }
