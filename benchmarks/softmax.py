"""Softmax regression on MNIST: ours beside scikit-learn's lbfgs, in one run.

    python benchmarks/softmax.py --mnist FOLDER    60 000 × 784, 10 classes; about ten minutes on 2 quiet cores
    python benchmarks/softmax.py --quick           a smoke test on made-up digits

FOLDER holds the four files of MNIST, plain or compressed by xz or gzip. Writes softmax.json and softmax.md. The exit
status is 1 if something that is required was missed.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from machine import load, machine, versions
from report import seconds, table, tidy, where, write, write_json
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression as Peer
from threadpoolctl import threadpool_limits
from timing import Progress, clocked, in_turns

from separatrix import LogisticRegression

HERE = Path(__file__).resolve().parent
L2, GAP, KNOWN = 1e-4, 1e-6, 0.2592483
"""The penalty for each row, the relative gap both must reach, and the least objective known of MNIST."""
REQUIRED, AIM, REPEATS = 4.0, 15.0, 3
TOLERANCES = (1e-5, 3e-6, 1e-6, 1e-7, 1e-8)

HOW = """\
{rows} × 784 pixels divided by 255, 10 classes; (1/n) Σ −log p(y | x) + (l2/2)‖W‖², l2 = 1e-4, intercepts free. Ours:
`LogisticRegression(l2=1e-4, tol=1e-6)`, from the call of `fit` to its return, the proof of the gap included. Theirs:
`LogisticRegression(C=1/(1e-4 n), solver="lbfgs")` at the loosest tolerance of
{tolerances} at which the objective, evaluated by this script in double precision, is
within 1e-6 of the least one known; with 1 and 2 BLAS threads, in single and double precision, once each, the fastest
of them then in {repeats} rounds in which everyone takes one turn. Medians."""


def read(folder: Path, name: str, skip: int) -> Any:
    for suffix, opened in (("", open), (".xz", lzma.open), (".gz", gzip.open)):
        file = folder / f"{name}{suffix}"
        if file.exists():
            with opened(file, "rb") as content:
                return np.frombuffer(content.read(), np.uint8, offset=skip)
    raise SystemExit(f"{folder} holds no {name}: give the folder of MNIST's four files with --mnist.")


def mnist(folder: Path) -> tuple[Any, Any]:
    pixels = read(folder, "train-images-idx3-ubyte", 16).reshape(-1, 784)
    return pixels / 255.0, read(folder, "train-labels-idx1-ubyte", 8).astype(int)


def made_up(rows: int) -> tuple[Any, Any]:
    """Blurred prototypes with noise: the shape of digits, not their difficulty."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, rows)
    shown = np.where(rng.random(rows) < 0.2, rng.integers(0, 10, rows), labels)
    prototypes = rng.random((10, 784)) < 0.2
    return (prototypes[shown] + rng.random((rows, 784))) / 2, labels


def objective(X: Any, y: Any, W: Any, b: Any) -> float:
    total = 0.0
    for lo in range(0, len(X), 4096):
        s = X[lo : lo + 4096] @ W.T.astype(float) + b
        total += float((logsumexp(s, axis=1) - s[np.arange(len(s)), y[lo : lo + 4096]]).sum())
    return total / len(X) + L2 / 2 * float(np.square(W.astype(float)).sum())


def ours(X: Any, y: Any) -> LogisticRegression:
    return LogisticRegression(l2=L2, tol=GAP).fit(X, y)


def theirs(X: Any, y: Any, tol: float, threads: int) -> Peer:
    with threadpool_limits(threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Peer(C=1 / (L2 * len(X)), solver="lbfgs", tol=tol, max_iter=100_000).fit(X, y)


def search(data: dict[str, Any], y: Any, least: float, progress: Progress) -> list[dict[str, Any]]:
    """For each precision the loosest tolerance that serves, with 1 and 2 threads; or how near the tightest comes."""
    found = []
    for precision in data:
        for tol in TOLERANCES:
            first = _tried(data, y, precision, 1, tol, least, progress)
            if first["gap"] <= GAP or tol == TOLERANCES[-1]:
                found += [first, _tried(data, y, precision, 2, tol, least, progress)]
                break
    if not any(each["gap"] <= GAP for each in found):
        raise SystemExit("scikit-learn reaches the gap at no tolerance tried: nothing to compare with.")
    return found


def _tried(
    data: dict[str, Any], y: Any, precision: str, threads: int, tol: float, least: float, progress: Progress
) -> dict[str, Any]:
    began = time.perf_counter()
    model = theirs(data[precision], y, tol, threads)
    took = time.perf_counter() - began
    gap = objective(data["float64"], y, model.coef_, model.intercept_) / least - 1
    progress.advance(took)
    progress.tell(f"scikit-learn lbfgs, {precision}, {threads} threads, tol {tol:g}: gap {gap:.1e}, {took:.1f} s")
    return {
        "precision": precision, "threads": threads, "tol": tol, "gap": gap, "iterations": int(model.n_iter_[0]),
        "seconds": took,
    }  # fmt: skip


def race(X: Any, y: Any, repeats: int, progress: Progress) -> dict[str, Any]:
    data = {"float64": X, "float32": X.astype(np.float32)}
    first = ours(X, y)  # compiles, or loads what was compiled
    least = min(objective(X, y, first.coef_, first.intercept_), _finer(X, y))
    settings = search(data, y, least, progress)
    best = min((each for each in settings if each["gap"] <= GAP), key=lambda each: float(each["seconds"]))
    progress.tell("the rounds")
    tasks: dict[str, tuple[Callable[[], float], int]] = {
        "sum": (partial(clocked, X.sum), repeats),
        "ours": (partial(clocked, partial(ours, X, y)), max(repeats, 5)),
        "ours float32": (partial(clocked, partial(ours, data["float32"], y)), repeats),
        "theirs": (
            partial(clocked, partial(theirs, data[best["precision"]], y, best["tol"], best["threads"])),
            repeats,
        ),
    }
    times = in_turns(tasks)
    model = ours(X, y)
    single = ours(data["float32"], y)
    proof = model.verdict_.certificate
    return {
        "rows": len(X), "least": least, "best": {**best, "seconds": times["theirs"]},
        "all": settings,
        "ours": {
            "status": model.verdict_.status, "passes": model.n_passes_, "seconds": times["ours"],
            "gap": objective(X, y, model.coef_, model.intercept_) / least - 1,
            "proved_gap": getattr(proof, "relative_gap", None),
            "mistakes": int((model.predict(X) != y).sum()),
        },
        "single": {
            "status": single.verdict_.status, "seconds": times["ours float32"],
            "gap": objective(X, y, single.coef_, single.intercept_) / least - 1,
        },
        "ratio": times["theirs"]["median"] / times["ours"]["median"], "sum_s": times["sum"],
    }  # fmt: skip


def _finer(X: Any, y: Any) -> float:
    model = LogisticRegression(l2=L2, tol=1e-9).fit(X, y)
    return objective(X, y, model.coef_, model.intercept_)


def markdown(results: dict[str, Any]) -> str:
    found, repeats = results["race"], results["repeats"]
    mine, peer = found["ours"], found["best"]
    lines = [
        [
            "separatrix, float64",
            seconds(mine["seconds"]["median"]),
            f"{mine['gap']:.0e}",
            f"{mine['passes']:.0f} passes",
        ],
        ["separatrix, float32", seconds(found["single"]["seconds"]["median"]), f"{found['single']['gap']:.0e}", ""],
    ]
    lines += [
        [
            f"scikit-learn lbfgs, {s['precision']}, BLAS threads: {s['threads']}, tol {s['tol']:g}",
            seconds(peer["seconds"]["median"] if _same(s, peer) else s["seconds"]),
            f"{s['gap']:.0e}{'' if s['gap'] <= GAP else ', not reached'}", f"{s['iterations']} steps",
        ]
        for s in found["all"]
    ]  # fmt: skip
    how = HOW.format(rows=found["rows"], repeats=repeats, tolerances=", ".join(f"{tol:g}" for tol in TOLERANCES))
    return "\n\n".join([
        "# Softmax regression on MNIST" + ("" if results["mnist"] else " (made-up digits)"),
        f"Ratio **{found['ratio']:.1f}** (required {REQUIRED:g}, aim {AIM:g}). The least objective known is "
        f"{found['least']:.9f}. The verdict is *{mine['status']}* with a proved gap of {mine['proved_gap']:.1e}.",
        table(["fit", "time", "gap", ""], lines), how, where(results),
    ]) + "\n"  # fmt: skip


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(one[key] == other[key] for key in ("precision", "threads", "tol"))


def missed(results: dict[str, Any], *, timing: bool) -> list[str]:
    found = results["race"]
    checks = [
        (found["ours"]["status"] == "optimal", f"the verdict is {found['ours']['status']}, not optimal"),
        (found["ours"]["gap"] <= GAP, f"our gap is {found['ours']['gap']:.1e}, above {GAP:g}"),
        (
            not results["mnist"] or abs(found["least"] / KNOWN - 1) < GAP,
            f"the least objective is {found['least']:.8f}, not {KNOWN}",
        ),
        (not timing or found["ratio"] >= REQUIRED, f"ratio {found['ratio']:.1f}, not {REQUIRED:g}"),
    ]
    return [text for holds, text in checks if not holds]


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time softmax regression beside scikit-learn.")
    parser.add_argument("--quick", action="store_true", help="made-up digits, one repeat: a smoke test")
    parser.add_argument("--mnist", type=Path, default=HERE.parents[1] / "shared" / "data" / "mnist",
                        help="the folder of MNIST's files")  # fmt: skip
    parser.add_argument("--out", type=Path, help="folder for the results (default: benchmarks/results for a whole run)")
    asked = parser.parse_args(given)
    out = asked.out or (HERE.parent / "out" / "benchmarks" if asked.quick else HERE / "results")
    before, progress = load(), Progress(20.0 if asked.quick else 900.0)
    X, y = made_up(2000) if asked.quick else mnist(asked.mnist)
    repeats = 1 if asked.quick else REPEATS
    found = race(X, y, repeats, progress)
    results = tidy({
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "mnist": not asked.quick, "repeats": repeats,
        "race": found, "machine": machine(), "versions": versions(), "load": {"before": before, "after": load()},
    })  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "softmax.json", results)
    write(out / "softmax.md", markdown(results))
    print(markdown(results))
    for text in (short := missed(results, timing=not asked.quick)):
        print(f"Missed: {text}", file=sys.stderr)
    return int(bool(short))


if __name__ == "__main__":
    sys.exit(main())
