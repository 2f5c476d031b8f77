"""The lecture's table of the Voted-Perceptron, again: digit 9 against the rest, test errors by passes.  [001 slide 28]

    python benchmarks/voted_mnist.py --mnist FOLDER    60 000 × 784, about ten minutes on 2 cores
    python benchmarks/voted_mnist.py --quick           a smoke test on made-up digits

FOLDER holds the four files of MNIST, plain or compressed by xz or gzip. Writes voted_mnist.json, .md and .png, and the
table of the kernel perceptron for all ten digits (`kernel_mnist.py`), kernel_mnist.json, .md and .png. The exit status
is 1 if something that is required was missed: a voted error more than .002 away from the printed one, in the mean over
the orders of the rows or, from one pass on, in any of them; a vote that takes more than three times as long as its
matrix product; more than ten minutes for the ten digits; or what kernel_mnist.md lists.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import kernel_mnist
import kernel_page
import numpy as np
from kernel_chart import kernel_chart
from machine import load, machine, versions
from report import seconds, table, tidy, where, write, write_json
from softmax import made_up, read
from timing import Progress, clocked, in_turns
from voted_chart import curves_chart

from separatrix import BudgetWarning, VotedPerceptron
from separatrix.numerics.threads import one_blas_thread, thread_count
from separatrix.results.mistake_log import MistakeLog
from separatrix.results.votes import Ballot

HERE = Path(__file__).resolve().parent
DIGIT, SEEDS, REPEATS = 9, 8, 3
PASSES = (0.1, 1.0, 2.0, 3.0, 4.0, 10.0)
PRINTED = {"voted": (0.045, 0.039, 0.038, 0.038, 0.038, 0.037), "last": (0.079, 0.064, 0.057, 0.063, 0.058, 0.059)}
CLOSE, SLOWEST, LONGEST = 0.002, 3.0, 600.0
"""How far a voted error may be off, a vote's time in products, and the seconds of the ten digits."""
ORDER_WORK, CLOCK_WORK = 7.0, 31.0
"""About the seconds of one order of the rows, and of the rounds in which the vote is timed."""
EACH_FROM = 1.0
"""The passes from which each seed by itself has to be close, not only their mean."""
DRAWN = np.unique(np.round(np.concatenate([np.geomspace(0.02, 10, 60), PASSES]), 4))
"""The passes at which the curves are drawn."""

HOW = """\
{rows} × 784 pixels divided by 255, no intercept, w ← w + yx when y·xᵀw ≤ 0, from w = 0; one random order for each of
{seeds} seeds, the same in every pass. Errors are those on {tests} test rows. *Voted*: the majority of f̂₁, …, f̂ₜ₊₁, ties
to "not 9". *Averaged*: their mean weights. *Last*: the weights in hand. Brackets: smallest and largest of the seeds.
The last weights are noise: their row is shown, and nothing is asked of it.

All columns of a seed are read from one mistake log, and all voted errors from one run down it. Time: the vote of
{voters} classifiers ({mistakes} mistakes on {distinct} rows) on {tests} rows against the product of these rows and the
{distinct} alone, medians over {repeats} rounds in which everyone takes one turn."""


def mistake_log(X: Any, positive: Any, order: Any) -> MistakeLog:
    """The log of the perceptron over the rows in this order, again and again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        model = VotedPerceptron(fit_intercept=False, max_passes=max(PASSES)).fit(X[order], positive[order])
    log: MistakeLog = model.log_
    return replace(log, rows=order[log.rows])


def ballot_of(log: MistakeLog, X: Any) -> Ballot:
    return Ballot.of(log, X, np.zeros(X.shape[1]), 0.0, 1.0, False, 2)


def digits(folder: Path | None) -> tuple[Any, Any, Any, Any]:
    """Rows and labels to learn from, and others to be tested on."""
    if folder is None:
        X, y = made_up(2500)
        return X[:2000], y[:2000], X[2000:], y[2000:]
    images, labels = "-images-idx3-ubyte", "-labels-idx1-ubyte"
    X, Z = (read(folder, name + images, 16).reshape(-1, 784) / 255.0 for name in ("train", "t10k"))
    y, z = (read(folder, name + labels, 8).astype(np.int64) for name in ("train", "t10k"))
    return X, y, Z, z


def nine(data: tuple[Any, Any, Any, Any]) -> tuple[Any, Any, Any, Any]:
    X, y, Z, z = data
    return X, y == DIGIT, Z, z == DIGIT


def in_order(data: tuple[Any, Any, Any, Any], seed: int) -> tuple[Any, Any, Any, Any]:
    X, y, Z, z = data
    order = np.random.default_rng(seed).permutation(len(X))
    return X[order], y[order], Z, z


def curve(log: MistakeLog, data: tuple[Any, Any, Any, Any], passes: Any) -> dict[str, list[float]]:
    """Test errors of the three readings of a log, and the mistakes so far, after so many passes."""
    X, _, Z, z = data
    ends = np.round(np.asarray(passes) * len(X)).astype(np.int64)
    voted = ballot_of(log, X).paths(Z, ends)
    found: dict[str, list[float]] = {"voted": (((voted > 0) != z).mean(axis=1)).tolist(), "averaged": [], "last": []}
    last, summed, before = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0
    for end in ends:  # Σ over the classifiers = end · Σ yx − Σ step · yx, so that both sums only grow
        k = len(log.until(int(end)))
        moves = log.signs[before:k, None] * X[log.rows[before:k]]
        last, summed, before = last + moves.sum(axis=0), summed + log.steps[before:k] @ moves, k
        for name, w in (("averaged", end * last - summed), ("last", last)):
            found[name].append(float(((Z @ w > 0) != z).mean()))
    return {**found, "mistakes": np.searchsorted(log.steps, ends).tolist()}


def clock(ballot: Ballot, Z: Any, repeats: int) -> dict[str, Any]:
    """The vote and the product alone, each with one thread and with all; BLAS's own threads for the product."""

    def product_on_one_thread() -> None:
        with one_blas_thread():
            ballot.rows @ Z.T

    tasks = {
        "vote, one thread": partial(ballot.tally, Z, 1), "product, one thread": product_on_one_thread,
        "vote": partial(ballot.tally, Z), "product": partial(np.matmul, ballot.rows, Z.T),
    }  # fmt: skip
    ballot.tally(Z[:10])  # compiles, or loads what was compiled
    times = in_turns({name: (partial(clocked, task), repeats) for name, task in tasks.items()})
    ratios = {
        "one thread": times["vote, one thread"]["median"] / times["product, one thread"]["median"],
        "all threads": times["vote"]["median"] / times["product"]["median"],
    }
    return {
        "seconds": times, "ratio": ratios, "threads": thread_count(), "mistakes": len(ballot.place),
        "distinct": len(ballot.rows), "voters": int(ballot.votes.sum()),
    }  # fmt: skip


def measure(data: tuple[Any, Any, Any, Any], seeds: int, repeats: int, progress: Progress) -> dict[str, Any]:
    X, y, Z, _ = data
    began, found, timed = time.perf_counter(), [], {}
    for seed in range(seeds):
        progress.tell(f"9 against the rest, order {seed + 1} of {seeds}")
        log = mistake_log(X, y, np.random.default_rng(seed).permutation(len(X)))
        found.append({"seed": seed, **curve(log, data, DRAWN)})
        if seed == 0:
            timed = clock(ballot_of(log, X), Z, repeats)
            progress.advance(CLOCK_WORK)
        progress.advance(ORDER_WORK)
    return {
        "rows": len(X), "tests": len(Z), "passes": DRAWN.tolist(), "seeds": found, "timing": timed,
        "seconds": time.perf_counter() - began,
    }  # fmt: skip


def at_printed(found: dict[str, Any], name: str) -> Any:
    """Seeds × the columns of the lecture's table."""
    columns = np.searchsorted(found["passes"], PASSES)
    return np.array([each[name] for each in found["seeds"]])[:, columns]


def missed(results: dict[str, Any]) -> list[str]:
    found, said = results["found"], []
    if results["mnist"] and results["ten_digits_s"] > LONGEST:
        said.append(f"the ten digits took {results['ten_digits_s']:.0f} s, not at most {LONGEST:g}")
    if results["mnist"]:
        voted = at_printed(found, "voted")
        rows = [("the mean", voted.mean(axis=0)), *((f"seed {i}", each) for i, each in enumerate(voted))]
        said += [
            f"{who}, {passes:g} passes: the voted error is {error:.4f}, printed is {printed:.3f}"
            for who, errors in rows
            for passes, error, printed in zip(PASSES, errors, PRINTED["voted"], strict=True)
            if abs(error - printed) > CLOSE + 1e-12 and (who == "the mean" or passes >= EACH_FROM)
        ]
        said += [
            f"{which}: the vote takes {ratio:.2f} times the product's time, not at most {SLOWEST:g}"
            for which, ratio in found["timing"]["ratio"].items()
            if ratio > SLOWEST
        ]
    return said


def _digits(error: float) -> str:
    return f"{error:.4f}".removeprefix("0")


def _line(found: dict[str, Any], name: str) -> list[str]:
    each = at_printed(found, name)
    cells = zip(each.mean(axis=0), each.min(axis=0), each.max(axis=0), strict=True)
    return [f"{_digits(mean)} ({_digits(low)}…{_digits(high)})" for mean, low, high in cells]


def markdown(results: dict[str, Any]) -> str:
    found = results["found"]
    timing = found["timing"]
    printed = {name: [f"{error:.3f}".removeprefix("0") for error in errors] for name, errors in PRINTED.items()}
    made = at_printed(found, "mistakes").mean(axis=0)
    lines = [
        ["**voted**, printed", *printed["voted"]], ["**voted**, ours", *_line(found, "voted")],
        ["averaged, ours", *_line(found, "averaged")], ["last, printed", *printed["last"]],
        ["last, ours", *_line(found, "last")], ["mistakes so far, mean", *(f"{count:.0f}" for count in made)],
    ]  # fmt: skip
    each = [[f"voted, seed {i}", *map(_digits, errors)] for i, errors in enumerate(at_printed(found, "voted").tolist())]
    took = [
        [name, *(seconds(timing["seconds"][what + tail]["median"]) for what in ("vote", "product")), f"**{ratio:.2f}**"]
        for (name, ratio), tail in zip(timing["ratio"].items(), (", one thread", ""), strict=True)
    ]
    how = HOW.format(rows=found["rows"], tests=found["tests"], seeds=len(found["seeds"]), repeats=results["repeats"],
                     **{key: timing[key] for key in ("voters", "mistakes", "distinct")})  # fmt: skip
    short = "\n".join(f"- {text}" for text in results["missed"]) or "Nothing that is required was missed."
    return "\n\n".join([
        "# The Voted-Perceptron on MNIST: 9 against the rest" + ("" if results["mnist"] else " (made-up digits)"),
        table(["passes", *(f"{passes:g}" for passes in PASSES)], lines + each), "![errors by passes](voted_mnist.png)",
        table(["threads", "vote", "product alone", f"ratio (at most {SLOWEST:g})"], took),
        f"All ten digits, with kernels: [kernel_mnist.md](kernel_mnist.md). They took "
        f"{seconds(results['ten_digits_s'])} (at most {LONGEST:g} s), with this page "
        f"{seconds(results['seconds'])}.",
        "## Required", short, "## How it was measured", how, where(results),
    ]) + "\n"  # fmt: skip


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="The lecture's table of the Voted-Perceptron, again.")
    parser.add_argument("--quick", action="store_true", help="small made-up digits: a smoke test")
    parser.add_argument("--mnist", type=Path, default=HERE.parents[1] / "shared" / "data" / "mnist",
                        help="the folder of MNIST's files")  # fmt: skip
    parser.add_argument("--out", type=Path, help="folder for the results (default: benchmarks/results for a whole run)")
    asked = parser.parse_args(given)
    out = asked.out or (HERE.parent / "out" / "benchmarks" if asked.quick else HERE / "results")
    began, before = time.perf_counter(), load()
    seeds, repeats = (2, 1) if asked.quick else (SEEDS, REPEATS)
    plan = kernel_mnist.QUICK if asked.quick else kernel_mnist.WHOLE
    progress = Progress(CLOCK_WORK + seeds * ORDER_WORK + plan.total)
    data = digits(None if asked.quick else asked.mnist)
    found = measure(nine(data), seeds, repeats, progress)
    of_ten = kernel_mnist.measure(in_order(data, 0), plan, progress)
    common = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "mnist": not asked.quick, "machine": machine(),
        "versions": versions(), "load": {"before": before, "after": load()},
    }  # fmt: skip
    printed = {"passes": PASSES, **PRINTED}
    results = tidy({**common, "repeats": repeats, "printed": printed, "found": found})
    kernels = tidy({**common, "repeats": plan.repeats, "found": of_ten})
    out.mkdir(parents=True, exist_ok=True)
    curves_chart(out / "voted_mnist.png", results)
    kernel_chart(out / "kernel_mnist.png", kernels)
    results["seconds"] = kernels["seconds"] = time.perf_counter() - began
    results["ten_digits_s"] = of_ten["seconds"]
    results["missed"] = missed(results)
    kernels["missed"] = kernel_mnist.missed(kernels["found"]) if kernels["mnist"] else []
    for name, what, text in (("voted", results, markdown(results)), ("kernel", kernels, kernel_page.markdown(kernels))):
        write_json(out / f"{name}_mnist.json", what)
        write(out / f"{name}_mnist.md", text)
        print(text)
    short = results["missed"] + kernels["missed"]
    for text in short:
        print(f"Missed: {text}", file=sys.stderr)
    return int(bool(short))


if __name__ == "__main__":
    sys.exit(main())
