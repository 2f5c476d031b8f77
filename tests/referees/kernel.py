"""The kernel perceptron as it is printed, with the whole matrix and a loop over the rows: slow, and easy to believe."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.fitting.scan.online import row_order


def passes_of(order: str, n: int, count: float, seed: int = 0) -> list[Any]:
    """The rows of each pass, by the library's own draws."""
    rng = np.random.default_rng(seed)
    kind = {"cyclic": "cyclic", "random": "permutation", "replacement": "replacement"}[order]
    left, found = round(count * n), []
    while left > 0:
        found.append(row_order(kind, n, rng)[:left])
        left -= len(found[-1])
    return found


@dataclass
class Run:
    """Every vector of coefficients that was in hand: one before each step, and one after the last."""

    alphas: list[Any]
    """Lines × rows each; of two classes there is one line."""
    intercept: bool
    way: str
    rows: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    own: list[int] = field(default_factory=list)
    rival: list[int] = field(default_factory=list)
    per_pass: list[int] = field(default_factory=list)
    times: int = 0
    """How often the budget was felt."""
    lost: float = 0.0
    made: float = 0.0

    def scores(self, K: Any, reading: str = "last") -> Any:
        """Of rows with these kernels, rows learnt from × rows: rows × lines, or of one line a number for each."""
        K = np.asarray(K, float) + self.intercept
        if reading == "last":
            s = (self.alphas[-1] @ K).T
        elif reading == "averaged":
            s = (np.mean(self.alphas, axis=0) @ K).T
        else:
            s = sum(self._vote((A @ K).T) for A in self.alphas) / len(self.alphas)
        return s[:, 0] if s.shape[1] == 1 else s

    def _vote(self, s: Any) -> Any:
        if self.way == "joint" and s.shape[1] > 1:
            return np.eye(s.shape[1])[s.argmax(axis=1)]
        return np.where(s > 0, 1.0, -1.0)

    def wrong(self, K: Any, truth: Any, reading: str) -> float:
        """The part of the rows that is not predicted."""
        s = self.scores(K, reading)
        said = (s > 0).astype(int) if s.ndim == 1 else s.argmax(axis=1)
        return float((said != truth).mean())

    def after(self, steps: int) -> "Run":
        """The run as it was after so many steps."""
        return Run(self.alphas[: steps + 1], self.intercept, self.way)


def learn(
    K: Any, k: Any, classes: int, orders: list[Any], *, ties="mistake", intercept=True, way="joint", patience=None,
    whole=True, budget=None, overflow="remove", draws: Any = None,
) -> Run:  # fmt: skip
    """K is the matrix of all rows, k the number of each row's class; `draws` says which row a budget removes."""
    K, n = np.asarray(K, float) + intercept, len(K)
    lines = 1 if classes == 2 else classes
    A = np.zeros((lines, n))
    found = Run([A.copy()], intercept, way)
    held: list[int] = []
    t, idle = 0, 0
    for order in orders:
        found.per_pass.append(0)
        for i in order:
            s = A @ K[:, i]
            moves = _moves(s, int(k[i]), classes, ties, way)
            for up, down in moves:
                found.rows.append(int(i))
                found.steps.append(t)
                found.own.append(up)
                found.rival.append(down)
            found.per_pass[-1] += len(moves)
            idle = 0 if moves else idle + 1
            if moves:
                move = np.zeros(lines)
                for up, down in moves:
                    if lines == 1:
                        move[0] += 1 if up == 1 else -1
                    else:
                        move[up] += up >= 0
                        move[down] -= down >= 0
                found.made += move @ move * K[i, i]
                _settle(found, A, K, held, int(i), move, budget, overflow, draws)
            t += 1
            found.alphas.append(A.copy())
            if patience is not None and idle >= patience:
                return found
        if whole and found.per_pass[-1] == 0 and len(order) == n:
            return found
    return found


def _moves(s: Any, y: int, classes: int, ties: str, way: str) -> list[tuple[int, int]]:
    """Which class rises and which falls, at each mistake on the row; −1 for none."""
    if classes == 2:
        return [(y, 1 - y)] if _mistaken(s[0], y == 1, ties) else []
    if way == "one-vs-rest":
        return [
            (c, -1) if c == y else (-1, c) for c in range(classes) if _mistaken(s[c], c == y, ties)
        ]  # every machine on its own
    tied = [c for c in range(classes) if s[c] == s.max()]
    others = [c for c in range(classes) if c != y]
    strongest = [c for c in others if s[c] == max(s[others])]
    chosen = tied[-1] if ties == "positive" else tied[0]
    wrong = tied != [y] if ties == "mistake" else chosen != y
    return [(y, strongest[-1] if ties == "positive" else strongest[0])] if wrong else []


def _mistaken(s: float, positive: bool, ties: str) -> bool:
    if s == 0:
        return ties == "mistake" or (ties == "negative") == positive
    return (s > 0) != positive


def _settle(found: Run, A: Any, K: Any, held: list[int], i: int, move: Any, budget: Any, overflow: str, draws: Any):
    """The mistake finds a place."""
    if budget is None or i in held:
        A[:, i] += move
        return
    if overflow == "remove":
        if len(held) < budget:
            held.append(i)
        else:
            slot = int(draws(len(held)))
            out = held[slot]
            found.times += 1
            found.lost += A[:, out] @ A[:, out] * K[out, out]
            A[:, out] = 0
            held[slot] = i
        A[:, i] += move
        return
    d = np.linalg.lstsq(K[np.ix_(held, held)], K[held, i], rcond=None)[0] if held else np.empty(0)
    left = K[i, i] - K[i, held] @ d
    new = left > 1e-10 * K[i, i]
    if new and len(held) < budget:
        held.append(i)
        A[:, i] += move
        return
    A[:, held] += np.outer(move, d)
    found.times += int(new)
    found.lost += move @ move * max(left, 0) * new
