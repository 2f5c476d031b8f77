"""How the classes lie to each other: the answer with its certificate beside reading X, and beside linear programming.

    python benchmarks/separability.py            1 000 000 × 50 and 20 000 × 20, some minutes on a quiet machine
    python benchmarks/separability.py --quick    a smoke test on a twentieth of the rows

Writes separability.json and separability.md. The exit status is 1 if something that is required was missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from machine import load, machine, versions
from report import seconds, table, tidy, where, write, write_json
from scenes import FEW, SCENES, Scene, programmes
from timing import Progress, clocked, in_turns

HERE = Path(__file__).resolve().parent
REPEATS, SMALL = 7, (20_000, 20)
AGAINST = ("clear", "hairline", "noisy")
"""The scenes in which linear programming is asked as well."""
RATIO = 20.0
FINALISTS = 1.5
"""A way to ask that took this many times the fastest one's time at its first try is not timed again."""

HOW = """\
Two classes, an intercept, X in C order and float64. Ours: `separability(X, y)`, from plain arrays to the result with
its certificate; then `result.check(X, y)`, which proves it from the data by separate code. `X.sum()` is measured in the
same rounds. Medians over {repeats} rounds in which everyone takes one turn; the first call, which loads the compiled
kernels, is not counted. The rows of a planted plane are moved away from it by 0.5 or by 1e-6 of a column's spread.
Dummies separate at most {few} rows.

Linear programming: `scipy.optimize.linprog` is asked for weights and an intercept with ±(xᵀw + b) ≥ 1 on all rows, by
`highs`, `highs-ds` and `highs-ipm`, on a dense and on a sparse matrix that is made beforehand, off its clock. It
answers with weights if there are any, else without a proof, and does not tell quasi-separated from overlap. The ratio
is that of the fastest way that answers rightly."""


def asked(X: Any, y: Any) -> Any:
    """The result; the name is imported here, so that `--help` needs nothing."""
    from separatrix import separability

    return separability(X, y)


def verdict(scene: Scene, repeats: int) -> dict[str, Any]:
    """The time of the answer and of its check, in units of reading X."""
    X, y = scene.data()
    result = asked(X, y)
    confirmed = result.check(X, y)
    times = in_turns(
        {
            "sum": (partial(clocked, X.sum), repeats),
            "ours": (partial(clocked, partial(asked, X, y)), repeats),
            "check": (partial(clocked, partial(result.check, X, y)), repeats),
        }
    )
    read = times["sum"]["median"]
    return {
        "key": scene.key,
        "title": scene.title,
        "expected": scene.kind,
        "kind": result.kind,
        "confirmed": confirmed,
        "separated_rows": len(result.rows),
        "limit": scene.limit,
        "seconds": times["ours"],
        "check_s": times["check"],
        "sum_s": times["sum"],
        "times_sum": times["ours"]["median"] / read,
        "check_times_sum": times["check"]["median"] / read,
    }


def tried(ask: Callable[[], bool]) -> tuple[bool | None, float]:
    """What linear programming answers, and how long it takes; None if it gives up."""
    answers: list[bool] = []

    def once() -> None:
        try:
            answers.append(ask())
        except ArithmeticError:
            return

    taken = clocked(once)
    return (answers[0] if answers else None), taken


def contest(scene: Scene, repeats: int) -> dict[str, Any]:
    """Ours and every way to ask linear programming."""
    X, y = scene.data()
    result = asked(X, y)
    ways = programmes(X, y)
    first = {name: tried(ask) for name, ask in ways.items()}
    right = {name: taken for name, (answer, taken) in first.items() if answer == (scene.kind == "separated")}
    finalists = [name for name, taken in right.items() if taken <= FINALISTS * min(right.values())]
    tasks: dict[str, tuple[Callable[[], float], int]] = {
        name: (partial(clocked, ways[name]), repeats) for name in finalists
    }
    times = in_turns({"ours": (partial(clocked, partial(asked, X, y)), repeats), **tasks})
    best = min(finalists, key=lambda name: times[name]["median"], default=None)
    return {
        "key": scene.key,
        "title": scene.title,
        "expected": scene.kind,
        "kind": result.kind,
        "required": RATIO,
        "seconds": times["ours"],
        "best": best,
        "ratio": times[best]["median"] / times["ours"]["median"] if best else None,
        "ways": {
            name: {
                "answer": answer,
                "right": name in right,
                "seconds": times[name]["median"] if name in finalists else taken,
            }
            for name, (answer, taken) in first.items()
        },
    }


def missed_by(results: dict[str, Any], *, timing: bool) -> list[str]:
    """What falls short; on small data times mean nothing."""
    checks = []
    for line in results["verdicts"]:
        title = line["title"]
        checks += [
            (line["kind"] == line["expected"], f"{title}: said to be {line['kind']}, not {line['expected']}"),
            (line["confirmed"], f"{title}: the check does not confirm the result"),
            (
                not timing or line["times_sum"] <= line["limit"],
                f"{title}: {line['times_sum']:.1f} × X.sum(), above {line['limit']:g}",
            ),
        ]
    for line in results["contests"]:
        ratio = line["ratio"]
        checks += [
            (line["kind"] == line["expected"], f"{line['title']}: said to be {line['kind']}, not {line['expected']}"),
            (
                not timing or ratio is None or ratio >= line["required"],
                f"{line['title']}: ratio {ratio or 0:.1f}, not {line['required']:g}",
            ),
        ]
    return [text for holds, text in checks if not holds]


def verdicts_table(lines: list[dict[str, Any]]) -> str:
    head = ["rows × columns", "result", "rows separated", "time", "× X.sum()", "at most", "check",
            "check × X.sum()", "confirmed"]  # fmt: skip
    return table(
        head,
        [
            [
                line["title"],
                line["kind"],
                str(line["separated_rows"]),
                f"{seconds(line['seconds']['median'])} "
                f"({seconds(line['seconds']['min'])}…{seconds(line['seconds']['max'])})",
                f"**{line['times_sum']:.1f}**",
                f"{line['limit']:g}",
                seconds(line["check_s"]["median"]),
                f"{line['check_times_sum']:.1f}",
                "yes" if line["confirmed"] else "no",
            ]
            for line in lines
        ],
    )


def contests_table(lines: list[dict[str, Any]]) -> str:
    ways = list(lines[0]["ways"])
    head = ["rows × columns", "ours", *(f"`{way}`" for way in ways), "ratio to the best", "required"]
    return table(
        head,
        [
            [
                line["title"],
                f"**{milliseconds(line['seconds']['median'])}**",
                *(_way(line["ways"][way]) for way in ways),
                "none is right" if line["ratio"] is None else f"**{line['ratio']:.1f}**",
                f"{line['required']:g}",
            ]
            for line in lines
        ],
    )


def _way(way: dict[str, Any]) -> str:
    return milliseconds(way["seconds"]) + ("" if way["right"] else " gives up" if way["answer"] is None else " wrong")


def milliseconds(value: float) -> str:
    return f"{1e3 * value:.1f} ms"


def markdown(results: dict[str, Any]) -> str:
    """The whole page."""
    quick = "\n\n**A quick run on small data: a smoke test, not a measurement.**" if results["quick"] else ""
    missed = "\n".join(f"- {line}" for line in results["missed"]) or "Nothing that is required was missed."
    parts = [
        "# Separability: the answer with its certificate" + quick, where(results), verdicts_table(results["verdicts"]),
        "## Beside linear programming", contests_table(results["contests"]), "## Required", missed,
        "## How it was measured", HOW.format(repeats=results["repeats"], few=FEW),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def measure(repeats: int, divisor: int, *, quick: bool) -> dict[str, Any]:
    """Everything, in one dictionary."""
    before, progress = load(), Progress(float(len(SCENES) + len(AGAINST)))
    verdicts, contests = [], []
    for scene in (scene.sized(scene.rows // divisor, scene.columns) for scene in SCENES):
        progress.tell(scene.title)
        verdicts.append(verdict(scene, repeats))
        progress.advance(1)
    for scene in (scene.sized(SMALL[0] // divisor, SMALL[1]) for scene in SCENES if scene.key in AGAINST):
        progress.tell(f"{scene.title}: beside linear programming")
        contests.append(contest(scene, repeats))
        progress.advance(1)
    results = {
        "quick": quick,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "load": {"before": before, "after": load()},
        "versions": versions(),
        "repeats": repeats,
        "verdicts": verdicts,
        "contests": contests,
    }
    return {**results, "missed": missed_by(results, timing=not quick)}


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time the test of separability beside X.sum() and scipy's linprog.")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the rows, one repeat: a smoke test")
    parser.add_argument(
        "--out", type=Path, help="folder for the results (default: benchmarks/results, or out if quick)"
    )
    wished = parser.parse_args(given)
    folder = wished.out or (HERE.parent / "out" / "benchmarks" if wished.quick else HERE / "results")
    results = tidy(measure(*((1, 20) if wished.quick else (REPEATS, 1)), quick=wished.quick))
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "separability.json", results)
    write(folder / "separability.md", markdown(results))
    print(verdicts_table(results["verdicts"]), contests_table(results["contests"]), sep="\n\n")
    print(*results["missed"] or ["Nothing that is required was missed."], sep="\n")
    print(f"Written: separability.json, separability.md in {folder.name}/")
    return 1 if results["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
