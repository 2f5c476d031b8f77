"""The perceptrons beside scikit-learn's, river's and Vowpal Wabbit's: what `online.py` measures of them.

scikit-learn: the time of a pass, `fit` with all that belongs to it divided by the passes. river and Vowpal Wabbit: rows
a second of one pass, row by row, their rows brought into the form they like best before the clock starts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from report import seconds, table
from scipy.sparse import csr_array
from sklearn.linear_model import Perceptron as Theirs
from timing import clocked, in_turns

from separatrix import BudgetWarning, OnlinePerceptron, Perceptron

FEW, PASSES, SEED = 2, 20, 11
NOISE, LOUD = 0.1, 0.3
"""Of the labels, in units of the scores' deviation."""

HOW = """\
Labels are those of a linear rule with noise, a tenth of the deviation of its scores (in one table three tenths), so
that no pass is without a mistake. Ours: `Perceptron(max_passes=…).fit(X, y)`. Theirs: `sklearn.linear_model.Perceptron(
max_iter=…, tol=None, shuffle=…).fit(X, y)`. The time of a pass is the difference between fits of {many} and of {few}
passes, divided by {passes}, so that it is a pass alone for both; "whole fits" compares those of {many} passes with all
that belongs to them: validation, and on our side the count of the rows that the last weights get wrong and the verdict.
In file order
both make the same mistakes, and their weights agree (last column); CSR rows are learnt without an intercept, whose
steps scikit-learn makes a hundred times shorter there. Bytes of CSR rows are those of the numbers and of
their columns. The bandwidth beside them is that of `X.sum()`, for CSR rows of the sum of their numbers.

Row by row: ours is `OnlinePerceptron().partial_fit(X, y)`, which predicts every row before it learns it. river:
`Perceptron().learn_one(x, y)` on dictionaries made beforehand. Vowpal Wabbit: `Workspace.learn` with plain
stochastic steps of the hinge loss, on examples parsed beforehand and on lines of text; the faster one counts."""


@dataclass(frozen=True)
class Table:
    """Rows, labels, and how they are called."""

    title: str
    X: Any
    y: Any
    required: float

    @property
    def lifted(self) -> bool:
        """Without an intercept for CSR rows: scikit-learn's moves there by a hundredth of the step."""
        return isinstance(self.X, np.ndarray)

    @property
    def bytes(self) -> int:
        return self.X.nbytes if isinstance(self.X, np.ndarray) else self.X.data.nbytes + self.X.indices.nbytes

    def read(self) -> float:
        """The bandwidth of reading the numbers once, in bytes a second."""
        numbers = self.X if isinstance(self.X, np.ndarray) else self.X.data
        return min(clocked(numbers.sum) for _ in range(5)) / numbers.nbytes


def dense(n: int, d: int, required: float, noise: float = NOISE) -> Table:
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, d))
    z = X @ rng.standard_normal(d)
    y = (z + noise * z.std() * rng.standard_normal(n) > 0).astype(np.int64)
    return Table(f"{n:,} × {d} dense; noise {noise}".replace(",", " "), X, y, required)


def sparse(n: int, d: int, filled: int, required: float) -> Table:
    rng = np.random.default_rng(SEED)
    columns = np.sort(rng.integers(0, d, (n, filled)), axis=1).astype(np.int32).ravel()
    starts = np.arange(0, n * filled + 1, filled, dtype=np.int32)
    X = csr_array((rng.standard_normal(n * filled), columns, starts), shape=(n, d))
    X.sum_duplicates()
    z = X @ rng.standard_normal(d)
    y = (z + NOISE * z.std() * rng.standard_normal(n) > 0).astype(np.int64)
    return Table(f"{n:,} × {d:,} CSR; {filled} numbers a row".replace(",", " "), X, y, required)


def ours(case: Table, order: str, passes: int = PASSES) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        return Perceptron(max_passes=passes, order=order, random_state=SEED, fit_intercept=case.lifted).fit(
            case.X, case.y
        )


def theirs(case: Table, order: str, passes: int = PASSES) -> Any:
    how = {"max_iter": passes, "tol": None, "shuffle": order == "random", "random_state": SEED}
    return Theirs(**how, fit_intercept=case.lifted).fit(case.X, case.y)


def race(cases: list[Table], repeats: int) -> list[dict[str, Any]]:
    """A line for each table and order."""
    lines = []
    for case in cases:
        ends = {order: (ours(case, order), theirs(case, order)) for order in ("cyclic", "random")}
        tasks: dict[str, tuple[Callable[[], float], int]] = {}
        for order in ends:
            for passes in (FEW, FEW + PASSES):
                tasks[f"ours {order} {passes}"] = (partial(clocked, partial(ours, case, order, passes)), repeats)
                tasks[f"theirs {order} {passes}"] = (partial(clocked, partial(theirs, case, order, passes)), repeats)
        times = in_turns(tasks)
        for order, (mine, other) in ends.items():
            lines.append(_line(case, order, times, mine, other))
    return lines


def _line(case: Table, order: str, times: dict[str, Any], mine: Any, other: Any) -> dict[str, Any]:
    many, few = (
        [times[f"{who} {order} {passes}"]["median"] for who in ("ours", "theirs")] for passes in (FEW + PASSES, FEW)
    )
    here, there = ((long - short) / PASSES for long, short in zip(many, few, strict=True))
    apart = np.abs(mine.coef_ - other.coef_).max() / np.abs(other.coef_).max()
    speed = case.bytes / here
    return {
        "table": case.title,
        "order": "file order" if order == "cyclic" else "shuffled",
        "required": case.required if order == "cyclic" else 0.0,
        "ours_s": here,
        "theirs_s": there,
        "ratio": there / here,
        "whole_ratio": many[1] / many[0],
        "rows_per_s": case.X.shape[0] / here,
        "gb_per_s": speed / 1e9,
        "of_bandwidth": speed * case.read(),
        "apart": float(apart),
        "our_accuracy": float(mine.score(case.X, case.y)),
        "their_accuracy": float(other.score(case.X, case.y)),
    }


def rows_a_second(case: Table, few: int, repeats: int) -> list[dict[str, Any]]:
    """One pass row by row: ours, river's, Vowpal Wabbit's; peers that are not installed are left out."""
    X, y = case.X, case.y
    mine = min_of(repeats, lambda: OnlinePerceptron().partial_fit(X, y)) / len(X)
    lines = []
    for name, required, peer in (("river", 100.0, river), ("Vowpal Wabbit", 20.0, vowpal_wabbit)):
        try:
            speed, how = peer(X[:few], y[:few], repeats)
        except ImportError:
            lines.append({"peer": name, "required": required, "missing": True})
            continue
        lines.append({"peer": name, "how": how, "required": required, "ours": 1 / mine, "theirs": speed,
                      "ratio": 1 / mine / speed, "missing": False})  # fmt: skip
    return lines


def min_of(repeats: int, task: Callable[[], Any]) -> float:
    """The median of some turns."""
    return in_turns({"it": (partial(clocked, task), repeats)})["it"]["median"]  # type: ignore[no-any-return]


def river(X: Any, y: Any, repeats: int) -> tuple[float, str]:
    """Rows a second, and of what."""
    from river import linear_model

    rows, labels = [dict(enumerate(row.tolist())) for row in X], [bool(label) for label in y]

    def learn() -> None:
        model = linear_model.Perceptron()
        for x, label in zip(rows, labels, strict=True):
            model.learn_one(x, label)

    return len(rows) / min_of(repeats, learn), "learn_one on dictionaries"


def vowpal_wabbit(X: Any, y: Any, repeats: int) -> tuple[float, str]:
    """Rows a second, and of what: the faster of examples that were parsed before, and of text."""
    from vowpalwabbit import Workspace

    arguments = "--quiet --sgd --loss_function hinge --power_t 0 -l 1 -b 10"
    lines = [
        f"{1 if label else -1} | " + " ".join(f"{j}:{value:.8g}" for j, value in enumerate(row))
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]

    def on(given: Any, workspace: Any) -> None:
        for each in given:
            workspace.learn(each)

    speeds = []
    for how in ("learn on examples parsed before", "learn on lines of text"):
        workspace = Workspace(arguments)
        given = [workspace.example(line) for line in lines] if "parsed" in how else lines
        speeds.append((len(lines) / min_of(repeats, partial(on, given, workspace)), how))
        workspace.finish()
    return max(speeds)


def pass_table(lines: list[dict[str, Any]]) -> str:
    head = ["rows", "order", "ours, a pass", "rows a second", "GB/s", "of X.sum()'s", "scikit-learn, a pass", "ratio",
            "required", "whole fits", "accuracy, ours", "scikit-learn's", "weights apart"]  # fmt: skip
    return table(head, [
        [line["table"], line["order"], seconds_or_ms(line["ours_s"]),
         f"{line['rows_per_s'] / 1e6:.1f} million", f"{line['gb_per_s']:.1f}",
         f"{100 * line['of_bandwidth']:.0f} %", seconds_or_ms(line["theirs_s"]),
         f"**{line['ratio']:.1f}**", f"{line['required']:g}" if line["required"] else "–",
         f"{line['whole_ratio']:.1f}", f"{line['our_accuracy']:.4f}", f"{line['their_accuracy']:.4f}",
         f"{line['apart']:.0e}"]
        for line in lines
    ])  # fmt: skip


def row_table(lines: list[dict[str, Any]]) -> str:
    head = ["peer", "rows a second, theirs", "ours", "ratio", "required"]
    return table(head, [
        [line["peer"], "not installed", "–", "–", f"{line['required']:g}"] if line["missing"] else
        [f"{line['peer']}, {line['how']}", f"{line['theirs']:,.0f}".replace(",", " "),
         f"{line['ours'] / 1e6:.1f} million", f"**{line['ratio']:.0f}**", f"{line['required']:g}"]
        for line in lines
    ])  # fmt: skip


def seconds_or_ms(value: float) -> str:
    return f"{1e3 * value:.1f} ms" if value < 1 else seconds(value)


def missed_by(passes: list[dict[str, Any]], rows: list[dict[str, Any]], *, timing: bool) -> list[str]:
    """What falls short; on small data times mean nothing."""
    checks = [
        (line["apart"] < 1e-9 or line["order"] != "file order", f"{line['table']}: the weights differ")
        for line in passes
    ]
    for line in passes if timing else ():
        short = f"{line['table']}, {line['order']}: ratio {line['ratio']:.2f}, not {line['required']:g}"
        checks.append((line["ratio"] >= line["required"], short))
    for line in rows if timing else ():
        found = "not installed" if line["missing"] else f"ratio {line['ratio']:.0f}, not {line['required']:g}"
        checks.append((not line["missing"] and line["ratio"] >= line["required"], f"{line['peer']}: {found}"))
    return [text for holds, text in checks if not holds]


def contests(*, quick: bool) -> tuple[list[Table], Table]:
    """The tables of the passes, and that of the rows."""
    by = 50 if quick else 1
    wide = dense(1_000_000 // by, 30, 3)
    tables = [wide, dense(1_000_000 // by, 30, 0, LOUD), dense(200_000 // by, 200, 3)]
    return [*tables, sparse(300_000 // by, 50_000 // by, 40, 1.5)], wide
