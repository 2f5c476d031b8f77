"""What it costs to check a verdict, in units of the fit.

    python benchmarks/check.py --mnist FOLDER    a few minutes on 2 quiet cores
    python benchmarks/check.py --quick           a smoke test on a twentieth of the rows

FOLDER holds the four files of MNIST; without it softmax regression on MNIST is left out, and the page says so. Writes
check.json and check.md. The exit status is 1 if something that is required was missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from machine import load, machine, versions
from problems import Problem, generate
from report import seconds, table, tidy, where, write, write_json
from scipy import sparse
from softmax import mnist
from timing import Progress, in_turns, summary

from separatrix import LogisticRegression
from separatrix.results.verdict import Verdict

HERE = Path(__file__).resolve().parent
REPEATS, MOST = 7, 5.0
"""Rounds; and how many times as long as the fit a check may take."""
ROUNDING = 1e-13
"""A relative gap that is so small may be the rounding of the mean loss, and is not forged."""
LEAN = 40
"""Numbers in a row of the CSR table."""

HOW = """\
Each fit is `LogisticRegression(…).fit(X, y)`, from its call to its return, the proof included, at a relative gap of
1e-10, of MNIST 1e-6; each check is `verdict_.check(X, y)`, which recomputes the mean loss, ν, ρ, the gap, the distance,
the bound of each coefficient, the share of the rows and the rank. Medians over {repeats} rounds in which both take one
turn; beside them the processor's time of all threads together. Forged: the certificate with ν, the distance, the bound
of all coefficients a fifth of what they are, the gap a twentyfifth, ρ a tenth, the bound of one coefficient a
thirtieth, the relative gap 1e-5 of itself less, the share a tenth less, or a column said to be a combination of others.
The tests forge small certificates by the least amounts that make them false, in thousands."""


@dataclass(frozen=True)
class Contest:
    """A table, and how it is fitted."""

    title: str
    data: Callable[[], tuple[Any, Any]]
    settings: dict[str, float]


def dense(rows: int, columns: int) -> Problem:
    return Problem("", "column scales 1…10", rows, columns, (1, 10))


def lean(rows: int, columns: int) -> tuple[Any, Any]:
    """CSR rows of so many numbers each, and labels of a logistic model."""
    rng = np.random.default_rng(0)
    places = rng.integers(0, columns, rows * LEAN, dtype=np.int32)
    starts = np.arange(0, rows * LEAN + 1, LEAN, dtype=np.int32)
    X = sparse.csr_array((rng.standard_normal(rows * LEAN), places, starts), shape=(rows, columns))
    X.sum_duplicates()
    w = rng.standard_normal(columns) / 2
    return X, (rng.random(rows) < 1 / (1 + np.exp(-(X @ w)))).astype(np.int64)


def contests(divisor: int, folder: Path | None) -> list[Contest]:
    sizes = (700_000, 35), (200_000, 100), (50_000, 1000)
    problems = [dense(rows // divisor, columns // (1 + 9 * (divisor > 1))) for rows, columns in sizes]
    found = [Contest(problem.title, partial(generate, problem), {}) for problem in problems]
    rows, columns = 300_000 // divisor, 50_000
    title = f"{rows:,} × {columns:,} CSR, {LEAN} numbers a row, l2 = 1/n".replace(",000", " 000")
    found.append(Contest(title, partial(lean, rows, columns), {"l2": 1 / rows}))
    if folder is not None:
        settings = {"l2": 1e-4, "tol": 1e-6}
        found.append(Contest("60 000 × 784, MNIST, 10 classes", partial(mnist, folder), settings))
    return found


class Clock:
    """Seconds of a task, and those of the processor, all threads together."""

    def __init__(self, task: Callable[[], Any]) -> None:
        self.task, self.processor = task, list[float]()

    def __call__(self) -> float:
        began, worked = time.perf_counter(), time.process_time()
        self.task()
        self.processor.append(time.process_time() - worked)
        return time.perf_counter() - began


def forgeries(verdict: Verdict) -> dict[str, Verdict]:
    """The verdict with one number changed so that it is false, whatever the rounding of those who made it."""
    proof, claim, rank = verdict.certificate, verdict.claim, verdict.rank

    def forged(**changes: Any) -> Verdict:
        return replace(verdict, certificate=replace(proof, **changes))

    fifth: dict[str, Any] = {name: getattr(proof, name) / 5 for name in ("nu", "distance", "coefficients")}
    one = proof.coefficients.copy()
    one.flat[one.argmax()] /= 30
    gap = {"gap": forged(gap=proof.gap / 25, relative_gap=proof.relative_gap / 25)}
    less = {} if rank.rank is None else {"rank": rank._replace(rank=rank.rank - 1, aliased=(claim.columns[0],))}
    return {
        **{name: forged(**{name: value}) for name, value in fifth.items()},
        **(gap if proof.relative_gap > ROUNDING else {}),
        "rho": forged(rho=proof.rho / 10),
        "relative gap": forged(relative_gap=proof.relative_gap * (1 - 1e-5)),
        "one coefficient": forged(coefficients=one),
        "share": forged(share=proof.share * 0.9),
        **{name: replace(verdict, rank=other) for name, other in less.items()},
    }


def measured(contest: Contest, repeats: int) -> dict[str, Any]:
    X, y = contest.data()
    model = LogisticRegression(**contest.settings)
    verdict = model.fit(X, y).verdict_  # compiles, or loads what was compiled
    holds = [verdict.check(X, y)]
    fit, check = Clock(lambda: model.fit(X, y)), Clock(lambda: holds.append(model.verdict_.check(X, y)))
    times = in_turns({"fit": (fit, repeats), "check": (check, repeats)})
    tried = forgeries(verdict)
    believed = [name for name, each in tried.items() if each.check(X, y)]
    worked = {name: summary(clock.processor) for name, clock in (("fit", fit), ("check", check))}
    return {
        "title": contest.title, "status": verdict.status, "holds": all(holds), "times": times, "processor": worked,
        "ratio": times["check"]["median"] / times["fit"]["median"],
        "processor_ratio": worked["check"]["median"] / worked["fit"]["median"],
        "forged": len(tried), "believed": believed,
    }  # fmt: skip


# ----------------------------------------------------------------------------------------------------------- the report


def missed_by(problem: dict[str, Any], *, timing: bool) -> list[str]:
    """What falls short; on small data times mean nothing."""
    title, ratio = problem["title"], problem["ratio"]
    checks = [
        (problem["status"] == "optimal", f"{title}: the verdict is {problem['status']}, not optimal"),
        (problem["holds"], f"{title}: the verdict does not check"),
        (not problem["believed"], f"{title}: believed though forged: {', '.join(problem['believed'])}"),
        (not timing or ratio <= MOST, f"{title}: the check takes {ratio:.1f} times as long as the fit, not {MOST:g}"),
    ]
    return [text for holds, text in checks if not holds]


def summary_table(problems: list[dict[str, Any]]) -> str:
    head = ["rows × columns", "fit", "check", f"ratio (at most {MOST:g})", "of processor time", "forged, refused"]
    return table(
        head,
        [
            [each["title"], *(seconds(each["times"][name]["median"]) for name in ("fit", "check")),
             f"**{each['ratio']:.1f}**", f"{each['processor_ratio']:.1f}",
             f"{each['forged'] - len(each['believed'])} of {each['forged']}"]
            for each in problems
        ],
    )  # fmt: skip


def markdown(results: dict[str, Any]) -> str:
    """The whole page."""
    quick = "\n\n**A quick run on small data: a smoke test, not a measurement.**" if results["quick"] else ""
    missed = "\n".join(f"- {line}" for line in results["missed"]) or "Nothing that is required was missed."
    left_out = [] if results["mnist"] else ["MNIST was left out: no folder was given."]
    parts = ["# The check of a verdict" + quick, where(results), summary_table(results["problems"]), *left_out,
             "## Required", missed, "## How it was measured", HOW.format(repeats=results["repeats"])]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def measure(folder: Path | None, *, quick: bool) -> dict[str, Any]:
    """Everything, in one dictionary."""
    chosen, before, repeats = contests(20 if quick else 1, folder), load(), 2 if quick else REPEATS
    progress, problems = Progress(float(len(chosen))), []
    for contest in chosen:
        progress.tell(contest.title)
        problems.append(measured(contest, repeats))
        progress.advance(1)
    return {
        "quick": quick, "mnist": folder is not None, "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(), "load": {"before": before, "after": load()}, "versions": versions(),
        "repeats": repeats, "problems": problems,
        "missed": [text for each in problems for text in missed_by(each, timing=not quick)],
    }  # fmt: skip


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time the check of a verdict beside the fit.")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the rows, two rounds: a smoke test")
    parser.add_argument("--mnist", type=Path, help="folder of MNIST's four files")
    parser.add_argument("--out", type=Path, help="folder for the results (default: benchmarks/results for a whole run)")
    asked = parser.parse_args(given)
    folder = asked.out or (HERE.parent / "out" / "benchmarks" if asked.quick else HERE / "results")
    if asked.mnist is None:
        print("MNIST is left out: give the folder of its four files with --mnist.", file=sys.stderr)
    results = tidy(measure(asked.mnist, quick=asked.quick))
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "check.json", results)
    write(folder / "check.md", markdown(results))
    print(summary_table(results["problems"]))
    print(*results["missed"] or ["Nothing that is required was missed."], sep="\n")
    print(f"Written: check.json, check.md in {folder.name}/")
    return 1 if results["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
