"""One-vs-rest and one-vs-one logistic regression beside scikit-learn's, in one run; and the memory of features.

    python benchmarks/reductions.py --data FOLDER    pendigits and MNIST; about ten minutes on 2 quiet cores
    python benchmarks/reductions.py --quick          a smoke test on made-up digits

FOLDER holds libsvm/pendigits.scale (plain or compressed by xz) and mnist/ with its four files. With --only NAME one
contest alone is run, and nothing is written. Writes reductions.json and reductions.md. The exit status is 1 if
something that is required was missed.
"""

from __future__ import annotations

import argparse
import lzma
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from feature_memory import PART, in_fresh_process, sentence
from machine import load, machine, versions
from report import seconds, table, tidy, where, write, write_json
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from softmax import made_up, mnist
from timing import Progress, clocked, in_turns

from separatrix import LogisticRegression, OneVsOne, OneVsRest
from separatrix.learners.logistic.side_by_side import Task, fit_together

HERE = Path(__file__).resolve().parent
L2, GAP = 1e-4, 1e-8
"""The penalty for each row, and the relative gap that scikit-learn must reach; ours proves 1e-10."""
REQUIRED, REPEATS, ROUNDS = 4.0, 7, 3
TOLERANCES = {"newton-cholesky": (1e-4, 1e-5, 1e-6, 1e-7), "lbfgs": (1e-6, 1e-7, 1e-8, 1e-9)}
FEW = {True: (0, 1, 3, 8), False: (3, 8)}
"""The digits on which the settings for MNIST are searched, one-vs-one and one-vs-rest."""

HOW = """\
Each fit of two classes minimises (1/n) Σ log(1 + exp(−y(xᵀw + b))) + (l2/2)‖w‖² over its n rows, the intercept free,
l2 = {l2:g}. Ours: all fits, from the call to the return, each with a proved relative gap of 1e-10. Theirs:
`OneVsRestClassifier` and `OneVsOneClassifier` around `LogisticRegression(C=…, tol=…)` with solver newton-cholesky or
lbfgs, at the loosest tolerance of a ladder at which the objective of **every** fit, evaluated by this script, is within
{gap:g} of the minimum that ours proves for the same problem; with n_jobs None (BLAS has all cores) and 2. One C serves
all pairs, so it is that of a pair of average size; a pair's own l2 is then 1/(Cn), and its gap is measured there.
liblinear penalises the intercept: it minimises something else, and is left out.

pendigits ({pendigits} rows of 16 columns): every setting is searched on the whole problem; then {repeats} rounds in
which ours and the best setting of each solver take one turn. MNIST ({mnist} rows of 784 columns): tolerance and n_jobs
are searched on some digits: {rest} against the rest, and the pairs of {pairs}; the fastest setting then fits all
classes or pairs once, ours {rounds} times. If a fit of that one run misses the gap, the table says so: its time is
then too short, which is to its favour. Medians."""


class Setting(NamedTuple):
    solver: str
    tol: float
    jobs: int | None

    def __str__(self) -> str:
        return f"{self.solver}, tol {self.tol:g}, n_jobs {self.jobs}"


@dataclass(frozen=True)
class Contest:
    name: str
    one_vs_one: bool
    X: Any
    y: Any
    large: bool
    """Whether settings are searched on some classes only, and peers run once."""

    def tasks(self) -> list[Task]:
        classes = np.unique(self.y)
        if not self.one_vs_one:
            return [Task(None, self.y == k) for k in classes]
        pairs = [(a, b) for i, a in enumerate(classes) for b in classes[i + 1 :]]
        return [Task(rows := np.flatnonzero((self.y == a) | (self.y == b)), self.y[rows] == b) for a, b in pairs]

    def some(self) -> Contest:
        """The contest on few classes: their pairs; or their own classes against all others."""
        if not self.large:
            return self
        if self.one_vs_one:
            rows = np.isin(self.y, FEW[True])
            return Contest(self.name, True, self.X[rows], self.y[rows], True)
        return Contest(self.name, False, self.X, np.where(np.isin(self.y, FEW[False]), self.y, -1), True)

    def part(self) -> Contest:
        """A few rows of it."""
        return Contest(self.name, self.one_vs_one, self.X[:500], self.y[:500], self.large)

    @property
    def size(self) -> float:
        """Rows of one fit, on the average."""
        return 2 * len(self.X) / len(np.unique(self.y)) if self.one_vs_one else len(self.X)

    def targets(self) -> Any:
        """The labels; of `some` against the rest, a column for each of these."""
        classes = [k for k in np.unique(self.y) if k >= 0]
        whole = self.one_vs_one or len(classes) == len(np.unique(self.y))
        return self.y if whole else (self.y[:, None] == classes).astype(int)

    def fits(self) -> Iterator[tuple[Any, Any]]:
        """The rows and targets of every fit of the peer, in its order."""
        for task, label in zip(self.tasks(), range(1 << 20), strict=False):
            if self.one_vs_one:
                yield task.rows, task.positive
            elif np.unique(self.y)[label] >= 0:
                yield slice(None), task.positive


def ours(contest: Contest) -> Any:
    kind = OneVsOne if contest.one_vs_one else OneVsRest
    return kind(LogisticRegression(l2=L2)).fit(contest.X, contest.y)


def theirs(contest: Contest, setting: Setting) -> Any:
    wrap = OneVsOneClassifier if contest.one_vs_one else OneVsRestClassifier
    inner = Peer(C=1 / (L2 * contest.size), solver=setting.solver, tol=setting.tol, max_iter=100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return wrap(inner, n_jobs=setting.jobs).fit(contest.X, contest.targets())


def objective(X: Any, positive: Any, w: Any, b: float, l2: float) -> float:
    margin = np.where(positive, 1.0, -1.0) * (X @ w + b)
    return float(np.logaddexp(0, -margin).mean()) + l2 / 2 * float(w @ w)


class Referee:
    """The proved minimum of every problem that the peer solves."""

    def __init__(self, contest: Contest) -> None:
        self.contest, self.least = contest, []
        for rows, positive in contest.fits():
            X, l2 = contest.X[rows], self._l2(positive)
            (model,) = fit_together(LogisticRegression(l2=l2), X, [Task(None, positive)])
            assert model.verdict_.status == "optimal", model.verdict_
            self.least.append(objective(X, positive, model.coef_[0], float(model.intercept_[0]), l2))

    def _l2(self, positive: Any) -> float:
        return L2 * self.contest.size / len(positive)

    def gap(self, model: Any) -> float:
        """The largest of all fits."""
        worst = 0.0
        for (rows, positive), inner, least in zip(self.contest.fits(), model.estimators_, self.least, strict=True):
            w, b = inner.coef_[0], float(inner.intercept_[0])
            worst = max(worst, objective(self.contest.X[rows], positive, w, b, self._l2(positive)) / least - 1)
        return worst


def search(contest: Contest, progress: Progress) -> list[dict[str, Any]]:
    """For each solver the loosest tolerance that serves, with n_jobs None and 2; or how near the tightest comes."""
    some, found = contest.some(), []
    referee = Referee(some)
    for solver, ladder in TOLERANCES.items():
        for tol in ladder:
            first = _tried(some, referee, Setting(solver, tol, None), progress)
            if first["gap"] <= GAP or tol == ladder[-1]:
                theirs(some.part(), Setting(solver, tol, 2))  # the workers start
                found += [first, _tried(some, referee, Setting(solver, tol, 2), progress)]
                break
    if not any(each["gap"] <= GAP for each in found):
        raise SystemExit("scikit-learn reaches the gap at no tolerance tried: nothing to compare with.")
    return found


def _tried(contest: Contest, referee: Referee, setting: Setting, progress: Progress) -> dict[str, Any]:
    kept: list[Any] = []
    took = clocked(lambda: kept.append(theirs(contest, setting)))
    gap = referee.gap(kept[0])
    progress.advance(took)
    progress.tell(f"{contest.name}: scikit-learn {setting}: gap {gap:.1e}, {took:.2f} s")
    return {"setting": setting, "gap": gap, "seconds": took}


def race(contest: Contest, repeats: int, progress: Progress) -> dict[str, Any]:
    first = ours(contest).estimators_  # compiles, or loads what was compiled
    searched = search(contest, progress)
    able = sorted((each for each in searched if each["gap"] <= GAP), key=lambda each: float(each["seconds"]))
    runs: dict[str, tuple[Callable[[], float], int]] = {
        "ours": (partial(clocked, partial(ours, contest)), ROUNDS if contest.large else repeats)
    }
    kept: dict[str, Any] = {}
    for each in able[:1] if contest.large else able:
        name = str(each["setting"])
        runs[name] = (
            partial(clocked, partial(_keep, kept, name, contest, each["setting"])), 1 if contest.large else repeats
        )  # fmt: skip
    progress.tell(f"{contest.name}: the rounds")
    times = in_turns(runs)
    mine = times.pop("ours")
    best = min(times, key=lambda name: times[name]["median"])
    proofs = [model.verdict_.certificate for model in first]
    return {
        "name": contest.name, "fits": len(first), "rows": len(contest.X), "ours": mine, "peers": times, "best": best,
        "peer_gap": Referee(contest).gap(kept[best]), "ratio": times[best]["median"] / mine["median"],
        "statuses": sorted({model.verdict_.status for model in first}),
        "proved_gap": max(getattr(proof, "relative_gap", np.inf) for proof in proofs),
        "searched": [{**each, "setting": str(each["setting"])} for each in searched],
    }  # fmt: skip


def _keep(kept: dict[str, Any], name: str, contest: Contest, setting: Setting) -> None:
    kept[name] = theirs(contest, setting)


def pendigits(folder: Path) -> tuple[Any, Any]:
    for name, opened in (("pendigits.scale", open), ("pendigits.scale.xz", lzma.open)):
        file = folder / "libsvm" / name
        if file.exists():
            with opened(file, "rb") as content:
                X, y = load_svmlight_file(content)
            return np.ascontiguousarray(X.toarray()), np.unique(y, return_inverse=True)[1]
    raise SystemExit(f"{folder} holds no libsvm/pendigits.scale: give the folder of the data with --data.")


def contests(folder: Path, *, quick: bool, only: str) -> Iterator[Contest]:
    for name, read, large in (("pendigits", pendigits, False), ("MNIST", lambda at: mnist(at / "mnist"), True)):
        kinds = [kind for kind in ("one-vs-rest", "one-vs-one") if f"{name}, {kind}".startswith(only)]
        if not kinds:
            continue
        X, y = made_up(4500 if large else 2000) if quick else read(folder)
        if quick:
            X = np.ascontiguousarray(X[:, ::4] if large else X[:, 300:316])
        for kind in kinds:
            yield Contest(f"{name}, {kind}", kind == "one-vs-one", X, y, large)


def missed_by(lines: list[dict[str, Any]], memory: dict[str, Any] | None, *, timing: bool) -> list[str]:
    said = []
    if memory and (memory["part"] >= PART or memory["status"] != "optimal"):
        said.append(f"features: {memory['part']:.3f} of their table was held, {memory['status']}")
    for line in lines:
        if line["statuses"] != ["optimal"] or line["proved_gap"] > 1e-10:
            said.append(
                f"{line['name']}: the verdicts are {line['statuses']}, the largest gap {line['proved_gap']:.1e}"
            )
        if timing and line["ratio"] < REQUIRED:
            said.append(f"{line['name']}: {line['ratio']:.1f} times as fast as scikit-learn, not {REQUIRED:g}")
    return said


def markdown(results: dict[str, Any]) -> str:
    lines = [
        [
            line["name"], str(line["fits"]), seconds(line["ours"]["median"]), f"{line['proved_gap']:.0e}",
            seconds(line["peers"][line["best"]]["median"]), line["best"],
            f"{line['peer_gap']:.0e}{'' if line['peer_gap'] <= GAP else ', missed'}",
            f"**{line['ratio']:.1f}** (at least {REQUIRED:g})",
        ]
        for line in results["lines"]
    ]  # fmt: skip
    tried = [
        [line["name"], each["setting"], seconds(each["seconds"]),
         f"{each['gap']:.0e}{'' if each['gap'] <= GAP else ', not reached'}"]
        for line in results["lines"] for each in line["searched"]
    ]  # fmt: skip
    sizes = {line["name"].split(",")[0]: line["rows"] for line in results["lines"]}
    how = HOW.format(
        l2=L2, gap=GAP, repeats=results["repeats"], rounds=ROUNDS,
        rest=" and ".join(map(str, FEW[False])), pairs=", ".join(map(str, FEW[True])),
        pendigits=sizes.get("pendigits", 0), mnist=sizes.get("MNIST", 0),
    )  # fmt: skip
    short = "\n".join(f"- {text}" for text in results["missed"]) or "Nothing that is required was missed."
    head = ["contest", "fits", "ours", "largest gap proved", "scikit-learn", "its best setting", "its gap", "ratio"]
    return "\n\n".join([
        "# Reductions to two classes" + (" (made-up digits)" if results["quick"] else ""), table(head, lines),
        "## Memory of features", sentence(results["memory"]) if results["memory"] else "Not measured.",
        "## Required", short, "## Settings searched", table(["contest", "scikit-learn", "time", "gap"], tried),
        "## How it was measured", how, where(results),
    ]) + "\n"  # fmt: skip


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time reductions to two classes beside scikit-learn.")
    parser.add_argument("--quick", action="store_true", help="made-up digits, one repeat: a smoke test")
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data", help="the folder of the data")
    parser.add_argument("--only", help="one contest, by the beginning of its name; nothing is written")
    parser.add_argument("--out", type=Path, help="folder for the results (default: benchmarks/results for a whole run)")
    asked = parser.parse_args(given)
    out = asked.out or (HERE.parent / "out" / "benchmarks" if asked.quick else HERE / "results")
    before, progress, repeats = load(), Progress(30.0 if asked.quick else 500.0), 1 if asked.quick else REPEATS
    lines = [
        race(contest, repeats, progress) for contest in contests(asked.data, quick=asked.quick, only=asked.only or "")
    ]
    size = (20_000, 20) if asked.quick else (200_000, 100)
    memory = None if asked.only else in_fresh_process(*size)
    results = tidy({
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "quick": asked.quick, "repeats": repeats,
        "lines": lines, "memory": memory, "machine": machine(), "versions": versions(),
        "load": {"before": before, "after": load()},
        "missed": missed_by(lines, None if asked.quick else memory, timing=not asked.quick),
    })  # fmt: skip
    if not asked.only:
        out.mkdir(parents=True, exist_ok=True)
        write_json(out / "reductions.json", results)
        write(out / "reductions.md", markdown(results))
    print(markdown(results))
    for text in results["missed"]:
        print(f"Missed: {text}", file=sys.stderr)
    return int(bool(results["missed"]))


if __name__ == "__main__":
    sys.exit(main())
