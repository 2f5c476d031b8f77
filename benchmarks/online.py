"""The stochastic scan beside scikit-learn's SGDClassifier, and the perceptrons beside their peers, in one run.

    python benchmarks/online.py            about three minutes on a quiet machine
    python benchmarks/online.py --quick    a smoke test on a few of the rows

Writes online.json and online.md. The exit status is 1 if something that is required was missed.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import perceptrons
from machine import load, machine, versions
from problems import Case, Floats, Problem
from report import seconds, table, tidy, where, write, write_json
from sklearn.linear_model import SGDClassifier
from timing import clocked, in_turns

from separatrix import BudgetWarning, LogisticRegression
from separatrix.fitting.scan.online import LearningRate, OnlineState, row_order, scan
from separatrix.losses import LogLikelihood

HERE = Path(__file__).resolve().parent
PROBLEM = Problem("online", "standard normal", 1_000_000, 30, (1, 1))
RATE, PASSES, REPEATS, SEED = 0.01, 5, 9, 7
SAME_LOSS = 0.03
"""How far the mean losses of both may lie apart: they take the same steps, in another random order."""

HOW = """\
Two classes, likelihood, no penalty, the constant rate {rate:g}, {passes} passes over rows in C order and float64. Ours:
the orders and the scans, or the learner as a whole. Theirs: `SGDClassifier(loss="log_loss", penalty=None,
learning_rate="constant", eta0={rate:g}, max_iter={passes}, tol=None, shuffle=…).fit(X, y)` with its own validation, X
as it likes it best. The time of a pass is that of all passes divided by their number. Medians over {repeats} rounds in
which everyone takes one turn. The losses are evaluated by this script; in file order both take the very same steps,
and their weights agree."""


@dataclass(frozen=True)
class Contest:
    """One way to take the rows, ours and scikit-learn's; required is zero where nothing is."""

    title: str
    ours: Callable[[Floats, Any, Floats], tuple[Floats, float]]
    shuffle: bool
    required: float


def passes(order: str, X: Floats, labels: Any, y: Floats) -> tuple[Floats, float]:
    """The scans alone: weights and intercept."""
    state, rng = OnlineState(np.zeros((1, X.shape[1])), np.zeros(1)), np.random.default_rng(SEED)
    for _ in range(PASSES):
        state = scan(
            state, X, y, np.empty(0), row_order(order, len(X), rng), loss=LogLikelihood(), rate=LearningRate(RATE)
        )
    return state.weights[0], float(state.intercept[0])


def piecemeal(X: Floats, labels: Any, y: Floats) -> tuple[Floats, float]:
    """The learner, `partial_fit` again and again."""
    model = LogisticRegression(solver="stochastic", learning_rate=RATE)
    for _ in range(PASSES):
        model.partial_fit(X, labels)
    return model.coef_[0], float(model.intercept_[0])


def whole_fit(X: Floats, labels: Any, y: Floats) -> tuple[Floats, float]:
    """The learner's `fit`: after each pass it looks at value and gradient, and at the end it tries a proof."""
    model = LogisticRegression(solver="stochastic", learning_rate=RATE, max_passes=PASSES, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        model.fit(X, labels)
    return model.coef_[0], float(model.intercept_[0])


CONTESTS = (
    Contest("shuffled", partial(passes, "permutation"), True, 8),
    Contest("shuffled, `fit` with its looks and its verdict", whole_fit, True, 0),
    Contest("file order", partial(passes, "cyclic"), False, 0),
    Contest("file order, `partial_fit`", piecemeal, False, 0),
)


def theirs(X: Floats, y: Any, shuffle: bool) -> tuple[Floats, float]:
    """All passes of scikit-learn's: weights and intercept."""
    model = SGDClassifier(
        loss="log_loss", penalty=None, learning_rate="constant", eta0=RATE, max_iter=PASSES, tol=None, shuffle=shuffle,
        early_stopping=False, average=False, random_state=SEED,
    )  # fmt: skip
    model.fit(X, y)
    return model.coef_[0], float(model.intercept_[0])


def race(case: Case, repeats: int) -> list[dict[str, Any]]:
    """Both, in every order, and reading X."""
    X, y, labels = case.X, case.y_float, case.y
    tasks: dict[str, tuple[Callable[[], float], int]] = {"sum": (partial(clocked, X.sum), repeats)}
    for contest in CONTESTS:
        tasks[f"ours {contest.title}"] = (partial(clocked, partial(contest.ours, X, labels, y)), repeats)
        tasks[f"theirs {contest.title}"] = (partial(clocked, partial(theirs, X, labels, contest.shuffle)), repeats)
    ends = [(contest.ours(X, labels, y), theirs(X, labels, contest.shuffle)) for contest in CONTESTS]
    times = in_turns(tasks)
    return [_line(case, contest, times, *both) for contest, both in zip(CONTESTS, ends, strict=True)]


def _line(case: Case, contest: Contest, times: dict[str, Any], mine: Any, other: Any) -> dict[str, Any]:
    here, there = (
        {key: value / PASSES for key, value in times[f"{who} {contest.title}"].items() if key != "runs"}
        for who in ("ours", "theirs")
    )
    return {
        "title": contest.title,
        "required": contest.required,
        "ours_s": here,
        "theirs_s": there,
        "sum_s": times["sum"],
        "ratio": there["median"] / here["median"],
        "rows_per_s": len(case.X) / here["median"],
        "gb_per_s": case.X.nbytes / here["median"] / 1e9,
        "sum_gb_per_s": case.X.nbytes / times["sum"]["median"] / 1e9,
        "our_loss": case.value(*mine, 0.0) / len(case.X),
        "their_loss": case.value(*other, 0.0) / len(case.X),
        "weights_apart": float(np.abs(mine[0] - other[0]).max()),
    }


def missed_by(line: dict[str, Any], *, timing: bool) -> list[str]:
    """What one order falls short of; on small data times mean nothing."""
    apart = abs(line["our_loss"] / line["their_loss"] - 1)
    checks = [
        (apart <= SAME_LOSS, f"{line['title']}: the losses are {100 * apart:.1f} % apart"),
        (
            not timing or line["ratio"] >= line["required"],
            f"{line['title']}: ratio {line['ratio']:.1f}, not {line['required']:g}",
        ),
    ]
    return [text for holds, text in checks if not holds]


def results_table(lines: list[dict[str, Any]]) -> str:
    head = ["a pass in", "ours", "rows a second", "GB/s", "X.sum() GB/s", "scikit-learn", "ratio", "required",
            "mean loss, ours", "scikit-learn's", "largest difference of a weight"]  # fmt: skip
    return table(head, [_cells(line) for line in lines])


def _cells(line: dict[str, Any]) -> list[str]:
    mine = line["ours_s"]
    return [
        line["title"],
        f"{_ms(mine['median'])} ({_ms(mine['min'])}…{_ms(mine['max'])})",
        f"{line['rows_per_s'] / 1e6:.1f} million",
        f"{line['gb_per_s']:.1f}",
        f"{line['sum_gb_per_s']:.1f}",
        seconds(line["theirs_s"]["median"]),
        f"**{line['ratio']:.1f}**",
        f"{line['required']:g}" if line["required"] else "–",
        f"{line['our_loss']:.5f}",
        f"{line['their_loss']:.5f}",
        f"{line['weights_apart']:.0e}",
    ]


def _ms(value: float) -> str:
    return f"{1e3 * value:.1f} ms"


def markdown(results: dict[str, Any]) -> str:
    """The whole page."""
    title = f"# One row at a time\n\n## The stochastic scan: {results['problem']}"
    quick = "\n\n**A quick run on small data: a smoke test, not a measurement.**" if results["quick"] else ""
    missed = "\n".join(f"- {line}" for line in results["missed"]) or "Nothing that is required was missed."
    how = HOW.format(rate=RATE, passes=PASSES, repeats=results["repeats"])
    few, passes = perceptrons.FEW, perceptrons.PASSES
    more = perceptrons.HOW.format(few=few, passes=passes, many=few + passes)
    parts = [title + quick, where(results), results_table(results["lines"]),
             "## The perceptron, a pass", perceptrons.pass_table(results["perceptron"]),
             "## The perceptron, row by row", perceptrons.row_table(results["rows"]), "## Required", missed,
             "## How it was measured", how, more]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def measure(problem: Problem, repeats: int, *, quick: bool) -> dict[str, Any]:
    """Everything, in one dictionary."""
    before = load()
    lines = race(Case(problem), repeats)
    tables, by_row = perceptrons.contests(quick=quick)
    rows = perceptrons.rows_a_second(by_row, 200 if quick else 20_000, repeats)
    passes = perceptrons.race(tables, repeats)
    missed = [text for line in lines for text in missed_by(line, timing=not quick)]
    return {
        "quick": quick,
        "problem": problem.title,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "load": {"before": before, "after": load()},
        "versions": versions(),
        "repeats": repeats,
        "passes": PASSES,
        "rate": RATE,
        "lines": lines,
        "perceptron": passes,
        "rows": rows,
        "missed": missed + perceptrons.missed_by(passes, rows, timing=not quick),
    }


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time the stochastic scan beside scikit-learn's.")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the rows, one repeat: a smoke test")
    parser.add_argument(
        "--out", type=Path, help="folder for the results (default: benchmarks/results, or out if quick)"
    )
    asked = parser.parse_args(given)
    folder = asked.out or (HERE.parent / "out" / "benchmarks" if asked.quick else HERE / "results")
    problem = PROBLEM.smaller(20) if asked.quick else PROBLEM
    results = tidy(measure(problem, 1 if asked.quick else REPEATS, quick=asked.quick))
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "online.json", results)
    write(folder / "online.md", markdown(results))
    print(results_table(results["lines"]))
    print(perceptrons.pass_table(results["perceptron"]), perceptrons.row_table(results["rows"]), sep="\n\n")
    print(*results["missed"] or ["Nothing that is required was missed."], sep="\n")
    print(f"Written: online.json, online.md in {folder.name}/")
    return 1 if results["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
