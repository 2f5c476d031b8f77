"""From a CSV file to a saved model: `separatrix fit` beside pandas with scikit-learn, each a process of its own.

    python benchmarks/tables.py            some minutes on 2 quiet cores
    python benchmarks/tables.py --quick    a smoke test on a small table

A table of 1 000 000 rows with 15 columns of numbers and 5 of categories. Writes tables.json and tables.md. The exit
status is 1 if something that is required was missed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
from machine import load, machine, versions
from report import seconds, table, tidy, where, write, write_json
from timing import Progress, in_turns

HERE = Path(__file__).resolve().parent
REPEATS, AGREES = 5, 1e-6
BESIDE_PANDAS = 2.5
LEVELS = (3, 5, 8, 12, 20)

HOW = """\
The table is drawn: {rows} rows, 15 columns of numbers (whole ones, rounded ones, some far from zero), 5 of categories
with {levels} levels as words, and a target yes/no from a logistic model; {size} of CSV. Everyone runs as a fresh
process, start and imports included, the file in the system's cache, medians over {repeats} rounds in which everyone
takes one turn, the fit alone too; memory is the largest that a process ever held (its maximum resident set).

**separatrix fit**: reads, decides the kinds of columns, encodes, fits by maximum likelihood to a proved relative gap of
1e-10, computes the summary, writes the model. **duckdb alone**: `CREATE TABLE … AS SELECT * FROM read_csv(…)` into
memory, nothing else. **The fit alone**: `LogisticRegression().fit(X, y)` on the encoded numbers, a matrix, in a process
that has them, imports and compiled code warm; **with its summary**: that, and the standard errors, intervals and
measures of fit which the command computes too.

Every process may use and keep the bytecode of its modules, as it does wherever Python is not told otherwise: the
environment variable that forbids it is taken away, and everyone has run once before the clock does.

**pandas + scikit-learn**: `read_csv` by the faster of its engines c and pyarrow, `ColumnTransformer` of
`StandardScaler` and `OneHotEncoder(drop="first")`, `LogisticRegression(C=inf)` by the faster of newton-cholesky and
lbfgs at their default tolerances, dumped with joblib. Scaling is there for its sake: without it lbfgs does not arrive.
The likelihoods are compared."""

READ_ALONE = """
import duckdb, sys
con = duckdb.connect()
con.execute("CREATE TABLE t AS SELECT * FROM read_csv(?)", [sys.argv[1]])
"""
FIT_ALONE = """
import json, sys, time
import numpy as np
from separatrix import LogisticRegression
from separatrix.app.tables.encoding import learn_encoding
from separatrix.app.tables.kinds import decide
from separatrix.app.tables.opening import open_table
with open_table([sys.argv[1]]) as rows:
    decisions = decide(rows, target="answer")
    X, y = learn_encoding(rows, decisions).matrix(rows), rows.coded("answer").codes
LogisticRegression().fit(X[:2000], y[:2000])
times = []
for _ in range(3):
    began = time.perf_counter()
    model = LogisticRegression().fit(X, y)
    times.append(time.perf_counter() - began)
summaries = []
for _ in range(3):
    began = time.perf_counter()
    model.summary(X, y)
    summaries.append(time.perf_counter() - began)
print(json.dumps({"fit": sorted(times)[1], "summary": sorted(summaries)[1], "loss": model.verdict_.claim.value,
                  "width": X.shape[1]}))
"""
PEER = """
import sys
import joblib, numpy as np, pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
path, engine, solver, out, score = sys.argv[1:]
frame = pd.read_csv(path, engine=engine)
y = frame.pop("answer")
words = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
numbers = [name for name in frame if name not in words]
model = make_pipeline(
    ColumnTransformer([("numbers", StandardScaler(), numbers), ("words", OneHotEncoder(drop="first"), words)]),
    LogisticRegression(C=np.inf, solver=solver, max_iter=1000),
).fit(frame, y)
joblib.dump(model, out)
if score == "score":
    print(log_loss(y, model.predict_proba(frame)))
"""


class Ran(NamedTuple):
    """A process that ended."""

    seconds: float
    peak_mb: float
    output: str


def ran(command: list[str]) -> Ran:
    """Run it to its end; its own clock and memory, as the system counts them."""
    began = time.perf_counter()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    output, errors = process.stdout.read(), process.stderr.read()  # type: ignore[union-attr]
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    taken = time.perf_counter() - began
    if process.returncode:
        raise RuntimeError(f"{command[:4]} ended with {process.returncode}:\n{errors[-2000:]}")
    return Ran(taken, usage.ru_maxrss / 1024, output)


def drawn(path: Path, rows: int) -> None:
    """The table, as text."""
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal((rows, 15))
    score = numbers @ rng.normal(0, 0.3, 15)
    columns: dict[str, Any] = {}
    for j in range(15):
        if j % 3 == 0:
            columns[f"count_{j}"] = np.rint(100 + 10 * numbers[:, j]).astype(int)
        elif j % 3 == 1:
            columns[f"rate_{j}"] = np.round(numbers[:, j], 4)
        else:
            columns[f"level_{j}"] = np.round(1000 + 50 * numbers[:, j], 2)
    for k, levels in enumerate(LEVELS):
        share = rng.dirichlet(np.full(levels, 2.0))
        chosen = rng.choice(levels, rows, p=share)
        score += rng.normal(0, 0.4, levels)[chosen]
        columns[f"kind_{k}"] = np.array([f"{'abcdefghij'[k]}-word-{j}" for j in range(levels)])[chosen]
    columns["answer"] = np.where(rng.random(rows) < 1 / (1 + np.exp(-score)), "yes", "no")
    con = duckdb.connect()
    con.register("made", pd.DataFrame(columns))
    con.execute("COPY made TO ? (HEADER, DELIMITER ',')", [str(path)])


def peak(tasks: dict[str, list[float]], name: str, run: Callable[[], Ran]) -> float:
    """Seconds of a run; its memory is noted."""
    found = run()
    tasks.setdefault(name, []).append(found.peak_mb)
    return found.seconds


def fit_alone(seen: list[dict[str, float]], command: list[str]) -> float:
    """Seconds of the fit in a process that has the rows; all that it tells is noted."""
    seen.append(json.loads(ran(command).output))
    return seen[-1]["fit"]


def measure(*, quick: bool) -> dict[str, Any]:
    """Everything, in one dictionary."""
    before, rows, repeats, progress = load(), 20_000 if quick else 1_000_000, 1 if quick else REPEATS, Progress(5.0)
    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder) / "table.csv", Path(folder) / "model.json"
        progress.tell("drawing the table")
        draw = multiprocessing.get_context("spawn").Process(target=drawn, args=(path, rows))
        draw.start()  # by itself: a child's peak of memory counts what its parent held when it was made
        draw.join()
        progress.advance(1)
        python = sys.executable
        ways = [(engine, solver) for engine in ("c", "pyarrow") for solver in ("newton-cholesky", "lbfgs")]

        def theirs(way: tuple[str, str], score: str = "") -> list[str]:
            return [python, "-c", PEER, str(path), *way, str(Path(folder) / "peer.joblib"), score]

        ours = [python, "-m", "separatrix", "fit", str(path), "--target", "answer", "-o", str(model), "--quiet"]
        progress.tell("a first run of each")
        ran(ours)
        fitting = [python, "-c", FIT_ALONE, str(path)]
        alone = [json.loads(ran(fitting).output)]
        first = {way: ran(theirs(way)).seconds for way in ways}
        best = min(first, key=lambda way: first[way])
        loss = float(ran(theirs(best, "score")).output)
        progress.advance(2)
        progress.tell("in turns")
        memory: dict[str, list[float]] = {}
        commands = {"ours": ours, "duckdb": [python, "-c", READ_ALONE, str(path)], "theirs": theirs(best)}
        tasks = {
            name: (partial(peak, memory, name, partial(ran, command)), repeats) for name, command in commands.items()
        }
        times = in_turns({**tasks, "fit": (partial(fit_alone, alone, fitting), repeats)})
        progress.advance(2)
        size = path.stat().st_size
        document = json.loads(model.read_text())
    results = {
        "quick": quick,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "load": {"before": before, "after": load()},
        "versions": versions(),
        "repeats": repeats,
        "rows": rows,
        "bytes": size,
        "times": times,
        "fit_s": times["fit"]["median"],
        "summary_s": float(np.median([each["summary"] for each in alone[1:]])),
        "width": alone[0]["width"],
        "peak_mb": {name: float(np.median(seen)) for name, seen in memory.items()},
        "best": " and ".join(best),
        "ways": {" and ".join(way): taken for way, taken in first.items()},
        "beside_both": times["ours"]["median"] / (times["duckdb"]["median"] + times["fit"]["median"]),
        "beside_reading": (times["ours"]["median"] - times["fit"]["median"]) / times["duckdb"]["median"],
        "ratio": times["theirs"]["median"] / times["ours"]["median"],
        "loss": {"ours": alone[0]["loss"], "theirs": loss},
        "status": document["verdict"]["status"],
    }
    return {**results, "missed": missed_by(results, timing=not quick)}


def missed_by(results: dict[str, Any], *, timing: bool) -> list[str]:
    """What falls short; on a small table times mean nothing."""
    loss = results["loss"]
    checks = [
        (results["status"] == "optimal", f"the verdict is {results['status']}"),
        (loss["ours"] <= loss["theirs"] * (1 + AGREES), f"our loss {loss['ours']} is above theirs {loss['theirs']}"),
    ]
    if timing:
        memory = results["peak_mb"]
        checks += [
            (results["ratio"] >= BESIDE_PANDAS, f"{results['ratio']:.1f} times as fast, not {BESIDE_PANDAS:g}"),
            (memory["ours"] < memory["theirs"], f"{memory['ours']:.0f} MB, theirs {memory['theirs']:.0f} MB"),
        ]
    return [text for holds, text in checks if not holds]


def markdown(results: dict[str, Any]) -> str:
    """The whole page."""
    times, memory = results["times"], results["peak_mb"]
    rows = table(
        ["", "seconds", "peak memory", ""],
        [
            ["`separatrix fit`", seconds(times["ours"]["median"]), f"{memory['ours']:.0f} MB", ""],
            ["duckdb reads it", seconds(times["duckdb"]["median"]), f"{memory['duckdb']:.0f} MB", ""],
            ["the fit alone", seconds(results["fit_s"]), "", f"{results['width']} columns of numbers"],
            ["its summary", seconds(results["summary_s"]), "", ""],
            ["ours but the fit, in units of reading", f"{results['beside_reading']:.2f}", "", ""],
            ["ours, in units of reading and fit together", f"{results['beside_both']:.2f}", "", "the other reading"],
            ["pandas + scikit-learn", seconds(times["theirs"]["median"]), f"{memory['theirs']:.0f} MB",
             f"{results['best']}"],
            ["ratio", f"**{results['ratio']:.1f}**", f"**{memory['theirs'] / memory['ours']:.1f}**",
             f"at least {BESIDE_PANDAS:g}; more than 1"],
        ],
    )  # fmt: skip
    ways = table(["pandas + scikit-learn, one run", "seconds"], [[k, seconds(v)] for k, v in results["ways"].items()])
    quick = "\n\n**A quick run on a small table: a smoke test, not a measurement.**" if results["quick"] else ""
    missed = "\n".join(f"- {line}" for line in results["missed"]) or "Nothing that is required was missed."
    count = f"{results['rows']:,}".replace(",", " ")
    how = HOW.format(
        rows=count, levels=", ".join(map(str, LEVELS)), size=f"{results['bytes'] / 1e6:.0f} MB",
        repeats=results["repeats"],
    )  # fmt: skip
    losses = f"Mean loss on the rows: ours {results['loss']['ours']:.10f}, theirs {results['loss']['theirs']:.10f}."
    parts = ["# From a table to a model" + quick, where(results), rows, ways, losses, "## Required", missed,
             "## How it was measured", how]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time the way from a CSV file to a model.")
    parser.add_argument("--quick", action="store_true", help="a small table, one round: a smoke test")
    parser.add_argument(
        "--out", type=Path, help="folder for the results (default: benchmarks/results, or out if quick)"
    )
    wished = parser.parse_args(given)
    folder = wished.out or (HERE.parent / "out" / "benchmarks" if wished.quick else HERE / "results")
    results = tidy(measure(quick=wished.quick))
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "tables.json", results)
    write(folder / "tables.md", markdown(results))
    print(markdown(results).split("## How")[0])
    print(f"Written: tables.json, tables.md in {folder.name}/")
    return 1 if results["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
