"""Dense logistic regression: ours and the peers side by side in one run.

    python benchmarks/dense.py                          everything, about half an hour on 2 cores
    python benchmarks/dense.py --quick                  a smoke test on a twentieth of the rows
    python benchmarks/dense.py --only long --out DIR    one problem at its full size

A whole run wants a quiet machine. Writes dense.json, dense.md, dense.png and growth.png. The exit status is 1 if
something that is required was missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import growth
import memory
import startup
from charts import growth_chart, times_chart
from contest import Options, race
from machine import load, machine, versions
from problems import PROBLEMS, Problem
from report import markdown, peers_table, summary_table, tidy, write, write_json
from timing import Progress

HERE = Path(__file__).resolve().parent
FULL, QUICK = Options(), Options(repeats=1, cap_s=3.0, divisor=20)
STARTUP_S, MEMORY_S = 10.0, 5.0


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time separatrix beside its peers on dense problems.")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the rows, one repeat: a smoke test")
    parser.add_argument("--only", choices=[problem.key for problem in PROBLEMS], action="append", help="these problems")
    parser.add_argument("--out", type=Path, help="folder for the results (default: benchmarks/results for a whole run)")
    asked = parser.parse_args(given)
    if asked.out is None:
        whole = not asked.quick and not asked.only
        asked.out = HERE / "results" if whole else HERE.parent / "out" / "benchmarks"
    return asked


def missed_by(problem: dict[str, Any], *, timing: bool) -> list[str]:
    """What one problem's results fall short of; on small data times and memory mean nothing."""
    mine, memory_, title = problem["ours"], problem["memory"], problem["title"]
    checks = [
        (mine["status"] == "optimal", f"{title}: the verdict is {mine['status']}, not optimal"),
        (mine["reaches"], f"{title}: our gap is {mine['gap']:.1e}, above {problem['asked_gap']:g}"),
    ]
    if timing:
        ratio, beyond = problem["ratio"], memory_["beyond_x_bytes"]
        checks += [
            (
                ratio is None or ratio >= problem["required"],
                f"{title}: ratio {ratio or 0:.2f}, not {problem['required']:g}",
            ),
            (beyond <= memory_["limit_bytes"], f"{title}: {beyond / 2**20:.0f} MB beyond X, above the limit"),
        ]
    return [text for holds, text in checks if not holds]


def missed_at_start(measured: dict[str, Any], *, timing: bool) -> list[str]:
    heavy = sorted({"sklearn", "numba"} & set(measured["modules_loaded"]))
    compiled = measured["second_process"]["cache_misses"]
    checks = [
        (not heavy, f"import separatrix loads {', '.join(heavy)}"),
        (compiled == 0, f"a second process compiles {compiled} kernels"),
        (not timing or measured["added_s"] < measured["limit_s"], f"the import adds {measured['added_s']:.2f} s"),
    ]
    return [text for holds, text in checks if not holds]


def measure(problems: list[Problem], options: Options, *, quick: bool) -> dict[str, Any]:
    """Everything, in one dictionary."""
    work = sum(problem.expected_s + MEMORY_S for problem in problems) + growth.EXPECTED_S + STARTUP_S
    progress, before = Progress(work), load()
    progress.tell("start-up in fresh processes")
    begun = startup.measure(options.repeats)
    progress.advance(STARTUP_S)
    lines = []
    for problem in problems:
        progress.tell(f"{problem.title}: memory")
        held = memory.in_fresh_process(problem, options.divisor)
        progress.advance(MEMORY_S)
        lines.append({**race(problem.smaller(options.divisor), options, progress), "memory": held})
    grown = growth.measure(min(3, options.repeats), options.divisor, progress)
    missed = [text for line in lines for text in missed_by(line, timing=not quick)]
    return {
        "quick": quick,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "load": {"before": before, "after": load()},
        "versions": versions(),
        "repeats": options.repeats,
        "cap_s": options.cap_s,
        "problems": lines,
        "growth": grown,
        "startup": begun,
        "missed": missed + missed_at_start(begun, timing=not quick),
    }


def publish(results: dict[str, Any], folder: Path) -> None:
    """Write the files, print the tables."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "dense.json", results)
    write(folder / "dense.md", markdown(results))
    times_chart(folder / "dense.png", results)
    growth_chart(folder / "growth.png", results["growth"])
    print(summary_table(results["problems"]), peers_table(results["problems"]), sep="\n\n")
    for axis in ("rows", "columns"):
        print(f"time ∝ {axis}^{results['growth'][axis]['slope']:.2f}")
    print(*results["missed"] or ["Nothing that is required was missed."], sep="\n")
    print(f"Written: dense.json, dense.md, dense.png, growth.png in {folder.name}/")


def main(given: Sequence[str] | None = None) -> int:
    asked = arguments(given)
    chosen = [problem for problem in PROBLEMS if not asked.only or problem.key in asked.only]
    results = tidy(measure(chosen, QUICK if asked.quick else FULL, quick=asked.quick))
    publish(results, asked.out)
    return 1 if results["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
