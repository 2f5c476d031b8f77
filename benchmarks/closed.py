"""Closed forms beside scikit-learn's, and beside reading X: naive Bayes, discriminants, least squares.

    python benchmarks/closed.py            1 000 000 × 50, three classes; some minutes on a quiet machine
    python benchmarks/closed.py --quick    a smoke test on a hundredth of the rows

Writes closed.json and closed.md. The exit status is 1 if something that is required was missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from machine import load, machine, versions
from report import seconds, table, tidy, where, write, write_json
from threadpoolctl import threadpool_limits
from timing import Progress, clocked, in_turns

HERE = Path(__file__).resolve().parent
ROWS, COLUMNS, CLASSES, REPEATS = 1_000_000, 50, 3, 5
MOST_SUMS = 4.0
"""Naive Bayes takes at most so many times what X.sum() takes, validation included."""
AGREE = 1e-6
"""How far the predicted probabilities, or scores, of ours and of the peer may lie apart."""

HOW = """\
{rows} × {columns} numbers in float64 and C order, {classes} classes with means of their own, and for Bernoulli and
Poisson tables of zeros and ones and of counts. Ours: `fit` from plain arrays to the model with its verdict, validation
on the clock. Peers: scikit-learn's `fit` with one and with two BLAS threads, and in both memory orders, made
beforehand; the fastest stands. Medians over {repeats} rounds in which everyone takes one turn; the first call, which
loads what was compiled, is not counted. What ours and the peer predict on a thousand rows was compared: the largest
difference is shown. `X.sum()` is measured in the same rounds."""


@dataclass(frozen=True)
class Contest:
    """A learner of ours, a peer, and what the ratio of their times has to be."""

    name: str
    table: str
    ours: Callable[[], Any]
    peer: Callable[[int], Any]
    """By the number of rows: a penalty of a sum is not one of a mean."""
    required: float | None
    sums: float | None = None


def contests() -> list[Contest]:
    """The names are imported here, so that `--help` needs nothing."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.linear_model import RidgeClassifier
    from sklearn.naive_bayes import BernoulliNB, GaussianNB

    from separatrix import (
        BernoulliNaiveBayes,
        GaussianDiscriminant,
        GaussianNaiveBayes,
        LeastSquaresClassifier,
        PoissonNaiveBayes,
    )

    return [
        Contest("Gaussian naive Bayes", "numbers", partial(GaussianNaiveBayes, smoothing=0.0),
                lambda n: GaussianNB(var_smoothing=0.0), 6.0, MOST_SUMS),
        Contest("Bernoulli naive Bayes", "bits", BernoulliNaiveBayes,
                lambda n: BernoulliNB(binarize=None), None, MOST_SUMS),
        Contest("Poisson naive Bayes", "counts", PoissonNaiveBayes, lambda n: None, None, MOST_SUMS),
        Contest("linear discriminant", "numbers", GaussianDiscriminant,
                lambda n: LinearDiscriminantAnalysis(solver="lsqr"), 8.0),
        Contest("quadratic discriminant", "numbers", partial(GaussianDiscriminant, covariance="own"),
                lambda n: QuadraticDiscriminantAnalysis(), None),
        Contest("least squares, l2 = 1/n", "numbers", lambda: LeastSquaresClassifier(l2=1 / ROWS),
                lambda n: RidgeClassifier(alpha=0.5, solver="cholesky"), 5.0),
    ]  # fmt: skip


def tables(rows: int) -> dict[str, tuple[Any, Any]]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, rows)
    means = rng.standard_normal((CLASSES, COLUMNS))
    X = rng.standard_normal((rows, COLUMNS)) + means[y]
    return {
        "numbers": (X, y),
        "bits": ((X > 0).astype(np.float64), y),
        "counts": (np.floor(np.exp(np.clip(X, None, 4))), y),
    }


def timed(make: Callable[[], Any], X: Any, y: Any, blas: int | None = None) -> float:
    with threadpool_limits(blas, user_api="blas"):
        return clocked(partial(make().fit, X, y))


def difference(ours: Any, peer: Any, X: Any) -> float:
    """Of the probabilities where both have them, else of the classes."""
    if hasattr(ours, "predict_proba") and hasattr(peer, "predict_proba"):
        return float(np.abs(ours.predict_proba(X) - peer.predict_proba(X)).max())
    return float(np.mean(ours.predict(X) != peer.predict(X)))


def race(contest: Contest, X: Any, y: Any, repeats: int) -> dict[str, Any]:
    """Ours, X.sum() and every setting of the peer, in turns."""
    n, some = len(X), X[:1000]
    model = contest.ours().fit(X, y)
    tasks: dict[str, tuple[Callable[[], float], int]] = {
        "sum": (partial(clocked, X.sum), repeats), "ours": (partial(timed, contest.ours, X, y), repeats),
    }  # fmt: skip
    apart = None
    if contest.peer(n) is not None:
        fortran = np.asfortranarray(X)
        apart = difference(model, contest.peer(n).fit(X, y), some)
        for order, rows in (("C", X), ("F", fortran)):
            for blas in (1, 2):
                tasks[f"{order} order, {blas} BLAS"] = (
                    partial(timed, partial(contest.peer, n), rows, y, blas), min(3, repeats)
                )  # fmt: skip
    times = in_turns(tasks)
    peers = {name: each for name, each in times.items() if name not in ("sum", "ours")}
    best = min(peers, key=lambda name: peers[name]["median"], default=None)
    mine = times["ours"]["median"]
    return {
        "name": contest.name, "confirmed": model.verdict_.check(X[: len(X)], y), "seconds": times["ours"],
        "sum_s": times["sum"], "times_sum": mine / times["sum"]["median"], "sums": contest.sums, "peers": peers,
        "best": best, "peer": type(contest.peer(n)).__name__ if best else None, "difference": apart,
        "ratio": peers[best]["median"] / mine if best else None, "required": contest.required,
    }  # fmt: skip


def missed_by(lines: list[dict[str, Any]], *, timing: bool) -> list[str]:
    said = []
    for line in lines:
        name = line["name"]
        if not line["confirmed"]:
            said.append(f"{name}: the check does not confirm the verdict")
        if line["difference"] is not None and line["difference"] > AGREE:
            said.append(f"{name}: predictions differ from the peer's by {line['difference']:.1g}")
        if timing and line["required"] and line["ratio"] < line["required"]:
            said.append(f"{name}: {line['ratio']:.1f} times as fast as the peer, not {line['required']:g}")
        if timing and line["sums"] and line["times_sum"] > line["sums"]:
            said.append(f"{name}: {line['times_sum']:.1f} times X.sum(), not at most {line['sums']:g}")
    return said


def markdown(results: dict[str, Any]) -> str:
    lines = [
        [
            line["name"], seconds(line["seconds"]["median"]),
            f"**{line['times_sum']:.1f}**" + (f" (at most {line['sums']:g})" if line["sums"] else ""),
            line["peer"] or "none", seconds(line["peers"][line["best"]]["median"]) if line["best"] else "–",
            line["best"] or "–",
            (f"**{line['ratio']:.1f}**" if line["ratio"] else "–")
            + (f" (at least {line['required']:g})" if line["required"] else ""),
            "–" if line["difference"] is None else f"{line['difference']:.0e}",
            "yes" if line["confirmed"] else "no",
        ]
        for line in results["lines"]
    ]  # fmt: skip
    short = "\n".join(f"- {text}" for text in results["missed"]) or "Nothing that is required was missed."
    how = HOW.format(rows=results["rows"], columns=COLUMNS, classes=CLASSES, repeats=results["repeats"])
    head = ["learner", "ours", "× X.sum()", "peer", "peer's time", "its best setting", "ratio", "largest difference",
            "confirmed"]  # fmt: skip
    return "\n\n".join([
        "# Closed forms", table(head, lines), "## Required", short, "## How it was measured", how, where(results),
    ]) + "\n"  # fmt: skip


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Closed forms beside scikit-learn's, and beside reading X.")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows, one round: a smoke test")
    parser.add_argument("--out", type=Path, help="folder for the results (default: benchmarks/results for a whole run)")
    asked = parser.parse_args(given)
    out = asked.out or (HERE.parent / "out" / "benchmarks" if asked.quick else HERE / "results")
    before, rows, repeats = load(), ROWS // 100 if asked.quick else ROWS, 1 if asked.quick else REPEATS
    data, everyone, lines = tables(rows), contests(), []
    progress = Progress(len(everyone))
    for contest in everyone:
        progress.tell(contest.name)
        lines.append(race(contest, *data[contest.table], repeats))
        progress.advance(1)
    results = tidy({
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "rows": rows, "repeats": repeats, "lines": lines,
        "machine": machine(), "versions": versions(), "load": {"before": before, "after": load()},
        "missed": missed_by(lines, timing=not asked.quick),
    })  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "closed.json", results)
    write(out / "closed.md", markdown(results))
    print(markdown(results))
    for text in results["missed"]:
        print(f"Missed: {text}", file=sys.stderr)
    return int(bool(results["missed"]))


if __name__ == "__main__":
    sys.exit(main())
