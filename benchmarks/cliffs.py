"""Where a fit could take far longer than its rows let one expect: ours beside scikit-learn, each in a fresh process.

    python benchmarks/cliffs.py                     everything, some twenty minutes on 2 cores
    python benchmarks/cliffs.py --only one-hot      the cases whose names contain this
    python benchmarks/cliffs.py --cap 20 --out DIR  nothing may take longer than this

A fit is missed that takes more than 3 times as long as scikit-learn's or, where scikit-learn has none, more than
50 times as long for each number of X as a plain logistic regression does; and one that needs more memory beyond X than
3 X + 64 MB. A gap below zero says that scikit-learn's objective is the lower one.
Writes cliffs.json and cliffs.md. The exit status is 1 if something was missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from machine import load, machine, versions
from memory import _hand_back, _peak, _status
from report import write, write_json
from scipy import sparse
from scipy.special import expit

HERE = Path(__file__).resolve().parent
CAP_S = 60.0
SLOWER, USUAL_TIMES, MOST_X, MORE_BYTES = 3.0, 50.0, 3, 64 * 2**20
BRIEF_S = 0.5
"""Nobody minds less: kernels are loaded, processes woken."""
Made = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """Rows, and what is fitted to them by whom; scikit-learn's estimator and its settings, if it has one."""

    name: str
    rows: Callable[[], tuple[Any, Any]]
    ours: tuple[str, dict[str, Any]]
    theirs: tuple[str, dict[str, Any]] | None = None


def dense(n: int, d: int, classes: int = 2, sure: float = 2.0) -> tuple[Any, Any]:
    """Columns on scales 1…10, and classes drawn from a softmax of scores of spread `sure`."""
    rng = np.random.default_rng(1)
    X, beta = rng.standard_normal((n, d)), rng.standard_normal((d, classes - (classes == 2))) / np.sqrt(d)
    scores = sure * X @ beta
    y = rng.random(n) < expit(scores[:, 0]) if classes == 2 else (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return X * np.geomspace(1, 10, d), y.astype(int)


def one_hot(n: int, levels: int, categories: int = 1, *, written_out: bool = False) -> tuple[Any, Any]:
    """Categories of rows as columns of zeros and ones; their levels are of any frequency."""
    rng = np.random.default_rng(2)
    share = rng.dirichlet(np.ones(levels), categories)
    levels_of = np.array([rng.choice(levels, n, p=each) for each in share]) + levels * np.arange(categories)[:, None]
    places = np.arange(0, n * categories + 1, categories)
    X = sparse.csr_array((np.ones(n * categories), levels_of.T.ravel(), places), shape=(n, levels * categories))
    y = rng.random(n) < expit(X @ rng.normal(size=X.shape[1]))
    return X.toarray() if written_out else X, y.astype(int)


def thin(n: int, d: int, a_row: int = 50) -> tuple[Any, Any]:
    """CSR rows of few numbers."""
    rng = np.random.default_rng(3)
    X = sparse.random_array((n, d), density=a_row / d, format="csr", rng=rng)
    return X, (rng.random(n) < expit(10 * X @ rng.normal(size=d))).astype(int)


FREE = ("linear_model.LogisticRegression", {"C": np.inf, "max_iter": 1000})
LOGISTIC = ("LogisticRegression", {})


def penalised(n: int) -> tuple[tuple[str, dict[str, Any]], tuple[str, dict[str, Any]]]:
    settings = {"C": 1.0, "max_iter": 3000, "tol": 1e-6, "solver": "newton-cg"}
    return ("LogisticRegression", {"l2": 1 / n}), ("linear_model.LogisticRegression", settings)


USUAL = Case("usual: 200 000 × 20", lambda: dense(200_000, 20), LOGISTIC, FREE)
SQUARED = ("LogisticRegression", {"objective": "squared", "random_state": 0})
LEAST = ("LeastSquaresClassifier", {"l2": 1e-3})
RIDGE = ("linear_model.RidgeClassifier", {})
CASES = (
    USUAL,
    *(
        Case(f"penalised, dense {n} × {d}", lambda n=n, d=d: dense(n, d), *penalised(n))
        for n, d in ((1000, 5000), (5000, 2000), (300, 20_000), (20_000, 1500), (500, 499), (20_000, 500))
    ),
    Case("penalised, 5 classes, dense 2000 × 1000", lambda: dense(2000, 1000, 5), *penalised(2000)),
    Case("no penalty, dense 500 × 499", lambda: dense(500, 499), LOGISTIC, FREE),
    Case("no penalty, dense 4000 × 1500", lambda: dense(4000, 1500), LOGISTIC, FREE),
    Case("dense one-hot, 20 000 × 3000", lambda: one_hot(20_000, 3000, written_out=True), LOGISTIC, FREE),
    Case("CSR one-hot, 20 000 × 3000", lambda: one_hot(20_000, 3000), LOGISTIC, FREE),
    Case("CSR one-hot, 20 000 × 1000", lambda: one_hot(20_000, 1000), LOGISTIC, FREE),
    Case("CSR, three categories of 300 levels", lambda: one_hot(20_000, 300, 3), LOGISTIC, FREE),
    Case("no penalty, CSR 20 000 × 100 000", lambda: thin(20_000, 100_000), LOGISTIC, FREE),
    Case("penalised, CSR 20 000 × 100 000", lambda: thin(20_000, 100_000), *penalised(20_000)),
    Case("squared error, 10 classes, 20 000 × 30", lambda: dense(20_000, 30, 10), SQUARED),
    Case("squared error, 10 classes, 2000 × 500", lambda: dense(2000, 500, 10), SQUARED),
    Case("least squares, 3000 × 4000", lambda: dense(3000, 4000), LEAST, RIDGE),
    Case("least squares, 20 000 × 500", lambda: dense(20_000, 500), LEAST, RIDGE),
    Case("Pocket, 100 000 × 20", lambda: dense(100_000, 20), ("Pocket", {"random_state": 0}),
         ("linear_model.Perceptron", {"max_iter": 1000, "tol": None})),
    Case("MaxMarginClassifier, 500 × 5000", lambda: dense(500, 5000), ("MaxMarginClassifier", {}),
         ("svm.SVC", {"kernel": "linear", "C": 1e10})),
    Case("discriminant, 20 000 × 500", lambda: dense(20_000, 500), ("GaussianDiscriminant", {}),
         ("discriminant_analysis.LinearDiscriminantAnalysis", {})),
)  # fmt: skip


def size_of(X: Any) -> tuple[int, int]:
    """Numbers of X that are written down, and its bytes."""
    if isinstance(X, np.ndarray):
        return X.size, X.nbytes
    return X.nnz, X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


def estimator(who: str, case: Case) -> Any:
    from importlib import import_module

    name, settings = case.ours if who == "ours" else case.theirs or ("", {})
    module, _, kind = name.rpartition(".")
    return getattr(import_module("separatrix" if who == "ours" else f"sklearn.{module}"), kind)(**settings)


def measure(case: Case, who: str) -> dict[str, Any]:
    """One fit in this process: seconds, peak of memory beyond what was held, and how it ended."""
    warnings.simplefilter("ignore")
    estimator(who, case).fit(*dense(200, 10))  # kernels and BLAS's buffers are loaded
    if who == "ours":
        for shape in ((40_000, 12), (1000, 600)):
            estimator(who, replace(case, ours=penalised(1000)[0])).fit(*dense(*shape))
    X, y = case.rows()
    _hand_back()
    Path("/proc/self/clear_refs").write_text("5")
    before, model = _status("VmRSS") or _peak(), estimator(who, case)
    began = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - began
    numbers, held = size_of(X)
    found = {"seconds": seconds, "beyond_x_bytes": max(0, _peak() - before), "x_bytes": held, "numbers": numbers}
    verdict = getattr(model, "verdict_", None)
    coef = np.ravel(model.coef_)
    objective = None
    if "LogisticRegression" in case.ours[0] and len(model.classes_) == 2:
        z = np.ravel(X @ coef) + model.intercept_[0]
        l2 = case.ours[1].get("l2", 0.0)
        objective = float(np.logaddexp(0, np.where(y == 1, -z, z)).mean() + l2 / 2 * coef @ coef)
    return {**found, "status": getattr(verdict, "status", ""), "objective": objective}


def in_fresh_process(case: Case, who: str, cap: float) -> dict[str, Any] | None:
    """What a fit took; None where it took longer than the cap."""
    command = [sys.executable, str(Path(__file__).resolve()), "--measure", case.name, who]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=cap + 15)
    except subprocess.TimeoutExpired:
        return None
    if ran.returncode:
        raise RuntimeError(f"{case.name} could not be measured:\n{ran.stderr}")
    return json.loads(ran.stdout)  # type: ignore[no-any-return]


def missed_by(line: dict[str, Any], usual: float, cap: float) -> str:
    """In words; nothing if it is as fast and as small as it must be."""
    mine, peer = line["ours"], line["theirs"]
    if mine is None:
        return f"longer than {cap:g} s"
    if mine["beyond_x_bytes"] > MOST_X * mine["x_bytes"] + MORE_BYTES:
        return f"{mine['beyond_x_bytes'] / 2**20:.0f} MB beyond X"
    allowed = SLOWER * peer["seconds"] if peer else USUAL_TIMES * usual * mine["numbers"]
    return f"more than {allowed:.2g} s" if mine["seconds"] > max(allowed, BRIEF_S) else ""


def markdown(results: dict[str, Any]) -> str:
    heads = "| | ours | | numbers a second | beyond X | scikit-learn | its gap | missed |"
    lines = [heads, "|---|---:|---|---:|---:|---:|---:|---|"]
    for line in results["cases"]:
        mine, peer = line["ours"], line["theirs"]
        cells = ["—", "", "", ""]
        if mine:
            rate, more = mine["numbers"] / mine["seconds"], mine["beyond_x_bytes"] / 2**20
            cells = [f"{mine['seconds']:.2g} s", mine["status"], f"{rate:.1e}", f"{more:.0f} MB"]
        cells.append(f"{peer['seconds']:.2g} s" if peer else "—")
        gap = "" if line["peer_gap"] is None else f"{line['peer_gap']:.0e}"
        lines.append(f"| {line['name']} | {' | '.join([*cells, gap, line['missed']])} |")
    return "\n".join(lines) + "\n"


def run(chosen: Sequence[Case], cap: float) -> dict[str, Any]:
    lines: list[dict[str, Any]] = []
    before, usual = load(), in_fresh_process(USUAL, "ours", cap)
    assert usual is not None
    for case in chosen:
        mine = in_fresh_process(case, "ours", cap)
        peer = in_fresh_process(case, "theirs", cap) if case.theirs else None
        gap = None
        if mine and peer and mine["objective"] and peer["objective"]:
            gap = peer["objective"] / mine["objective"] - 1
        line = {"name": case.name, "ours": mine, "theirs": peer, "peer_gap": gap}
        line["missed"] = missed_by(line, usual["seconds"] / usual["numbers"], cap)
        lines.append(line)
        print(markdown({"cases": [line]}).splitlines()[-1], flush=True)
    return {"machine": machine(), "load": {"before": before, "after": load()}, "versions": versions(), "cases": lines}


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Seek fits that take far longer than one expects.")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--cap", type=float, default=CAP_S, help="seconds a fit may take")
    parser.add_argument("--out", type=Path, help="folder for the results (default: benchmarks/results for a whole run)")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args(given)
    if asked.measure:
        name, who = asked.measure
        print(json.dumps(measure(next(case for case in CASES if case.name == name), who)))
        return 0
    out = asked.out or (HERE.parent / "out" / "benchmarks" if asked.only else HERE / "results")
    results = run([case for case in CASES if asked.only in case.name], asked.cap)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "cliffs.json", results)
    write(out / "cliffs.md", markdown(results))
    return 1 if any(line["missed"] for line in results["cases"]) else 0


if __name__ == "__main__":
    sys.exit(main())
