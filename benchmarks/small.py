"""Small and medium fits: ours beside every solver of scikit-learn, at a relative gap of 1e-8.

    python benchmarks/small.py            everything, some minutes on 2 cores
    python benchmarks/small.py --quick    two rounds instead of fifteen: a smoke test

Every solver has its best of one and two threads and the loosest tolerance that reaches the gap; ours has its default
settings, and its verdict is on the clock. Writes small.json and small.md. The exit status is 1 if something that is
required was missed.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from machine import load, machine, versions
from report import tidy, write, write_json
from scipy.special import expit, logsumexp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.model_selection import cross_val_score
from threadpoolctl import ThreadpoolController
from timing import clocked, in_turns

from separatrix import LogisticRegression

HERE = Path(__file__).resolve().parent
GAP, REQUIRED, AIM = 1e-8, 1.5, 3.0
ROUNDS, QUICK_ROUNDS, FOLDS = 15, 2, 10
TURN_S = 0.03
"""How long fits follow one another in a turn."""
SLOW_S, SLOW_ROUNDS = 0.2, 7
SOLVERS = ("newton-cholesky", "lbfgs", "newton-cg")
TOLERANCES = tuple(10.0**-k for k in range(1, 13))
PATIENCE = 20.0
"""A solver this many times slower than another is not tried at a smaller tolerance."""


@dataclass(frozen=True)
class Task:
    """A table, its penalty on the mean loss, and whether it is fitted once or in ten folds."""

    title: str
    X: Any
    y: Any
    l2: float
    folds: bool = False

    def value(self, coef: Any, intercept: Any) -> float:
        """−(1/n) Σᵢ log p(yᵢ | xᵢ) + (l2/2)‖W‖²"""
        scores = self.X @ coef.T + intercept
        if len(coef) == 1:
            loss = np.logaddexp(0, np.where(self.y == 1, -scores[:, 0], scores[:, 0])).mean()
        else:
            loss = (logsumexp(scores, axis=1) - scores[np.arange(len(scores)), self.y]).mean()
        return float(loss + self.l2 / 2 * np.square(coef).sum())

    def ours(self) -> LogisticRegression:
        return LogisticRegression(l2=self.l2)

    def peer(self, solver: str, tol: float) -> Peer:
        C = 1 / (self.l2 * len(self.y)) if self.l2 else np.inf
        return Peer(C=C, solver=solver, tol=tol, max_iter=10_000)

    def run(self, model: Any) -> None:
        if self.folds:
            cross_val_score(model, self.X, self.y, cv=FOLDS)
        else:
            model.fit(self.X, self.y)


def drawn(rows: int, columns: int) -> tuple[Any, Any]:
    random = np.random.default_rng(rows + columns)
    X = random.standard_normal((rows, columns))
    scores = X @ random.standard_normal(columns) * 2 / np.sqrt(columns)
    return X, (random.random(rows) < expit(scores)).astype(int)


def tasks() -> Iterator[Task]:
    yield Task("100 × 4", *drawn(100, 4), 0.0)
    yield Task("569 × 30 (breast cancer)", *load_breast_cancer(return_X_y=True), 1e-3)
    yield Task("2 000 × 20", *drawn(2_000, 20), 0.0)
    yield Task("20 000 × 20", *drawn(20_000, 20), 0.0)
    yield Task("iris", *load_iris(return_X_y=True), 1e-3)
    yield Task("wine", *load_wine(return_X_y=True), 1e-3)
    yield Task("digits", *load_digits(return_X_y=True), 1e-3)
    yield Task("2 000 × 20, ten folds", *drawn(2_000, 20), 0.0, folds=True)


@dataclass(frozen=True)
class Rival:
    """A solver that reaches the gap."""

    solver: str
    tol: float
    threads: int
    seconds: float

    @property
    def name(self) -> str:
        return f"{self.solver}, tol {self.tol:.0e}, {self.threads} thread{'s' * (self.threads > 1)}"


def timed(run: Callable[[], None], times: int) -> float:
    """The mean time of fits that follow one another: the first after a rest is slow for anybody."""
    run()
    return clocked(lambda: [run() for _ in range(times)]) / times


class Threads:
    def __init__(self) -> None:
        self._pools = ThreadpoolController()

    def timed(self, task: Task, solver: str, tol: float, threads: int, times: int = 1) -> float:
        with self._pools.limit(limits=threads):
            return timed(lambda: task.run(task.peer(solver, tol)), times)


def rivals(task: Task, least: float, threads: Threads) -> list[Rival]:
    """Every solver at the loosest tolerance that reaches the gap."""
    found: list[Rival] = []
    for solver in SOLVERS:
        for tol in TOLERANCES:
            began = time.perf_counter()
            model = task.peer(solver, tol).fit(task.X, task.y)
            took = time.perf_counter() - began
            if task.value(model.coef_, model.intercept_) / least - 1 <= GAP:
                found += [Rival(solver, tol, k, min(threads.timed(task, solver, tol, k) for _ in "ab")) for k in (1, 2)]
                break
            if found and took > PATIENCE * min(rival.seconds for rival in found):
                break
    return found


def measured(task: Task, rounds: int) -> dict[str, Any]:
    model = task.ours().fit(task.X, task.y)
    least, threads = task.value(model.coef_, model.intercept_), Threads()
    racers = rivals(task, least, threads)
    fastest = min((rival.seconds for rival in racers), default=np.inf)
    racers = [rival for rival in racers if rival.seconds <= 3 * fastest]
    turns, some = (min(rounds, SLOW_ROUNDS), 1) if fastest > SLOW_S else (rounds, max(1, int(TURN_S / fastest)))
    runs: dict[str, tuple[Callable[[], float], int]] = {
        "ours": (lambda: timed(lambda: task.run(task.ours()), some), turns)
    }
    for rival in racers:
        runs[rival.name] = (lambda r=rival: threads.timed(task, r.solver, r.tol, r.threads, some), turns)  # type: ignore[misc]
    times = in_turns(runs, rest=0.02)
    peers = {name: spent for name, spent in times.items() if name != "ours"}
    best = min(peers, key=lambda name: peers[name]["median"])
    ours = times["ours"]["median"]
    return {
        "title": task.title, "status": model.verdict_.status, "ours": times["ours"], "peers": peers, "best": best,
        "ratio": peers[best]["median"] / ours,
    }  # fmt: skip


def missed_by(line: dict[str, Any], *, timing: bool) -> list[str]:
    missed = [] if line["status"] == "optimal" else [f"{line['title']}: the verdict is {line['status']}"]
    if timing and line["ratio"] < REQUIRED:
        missed.append(f"{line['title']}: {line['ratio']:.2f} times the best solver of scikit-learn, not {REQUIRED}")
    return missed


def page(results: dict[str, Any]) -> str:
    lines = [
        "# Small and medium fits", "",
        f"{results['date']}, {results['machine']['cpu']}, {results['machine']['cores']} cores.",
        f"Medians, in milliseconds: scikit-learn's best solver at a relative gap of {GAP:.0e}, ours with its verdict.",
        f"Asked: {REQUIRED} times, aimed at: {AIM:g}.", "",
        "| table | ours | scikit-learn | ratio | its best solver |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for line in results["tasks"]:
        ours, best = line["ours"]["median"] * 1e3, line["peers"][line["best"]]["median"] * 1e3
        lines.append(f"| {line['title']} | {ours:.2f} | {best:.2f} | {line['ratio']:.2f} | {line['best']} |")
    return "\n".join([*lines, "", *(f"- {text}" for text in results["missed"] or ["Nothing was missed."]), ""])


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time small fits beside scikit-learn's.")
    parser.add_argument("--quick", action="store_true", help="two rounds: a smoke test")
    parser.add_argument("--only", help="tables whose title begins so")
    parser.add_argument("--out", type=Path, help="folder for the results (default: benchmarks/results for a whole run)")
    asked = parser.parse_args(given)
    whole = not asked.quick and not asked.only
    folder = asked.out or (HERE / "results" if whole else HERE.parent / "out" / "benchmarks")
    warnings.simplefilter("ignore")
    before, lines = load(), []
    for task in tasks():
        if task.title.startswith(asked.only or ""):
            lines.append(measured(task, QUICK_ROUNDS if asked.quick else ROUNDS))
            done = lines[-1]
            print(f"{done['title']}: {done['ratio']:.2f} times {done['best']}", file=sys.stderr, flush=True)
    results = tidy({
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "machine": machine(), "versions": versions(),
        "load": {"before": before, "after": load()}, "tasks": lines,
        "missed": [text for line in lines for text in missed_by(line, timing=not asked.quick)],
    })  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "small.json", results)
    write(folder / "small.md", page(results))
    print(page(results))
    return 1 if results["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
