"""Inference beside statsmodels and firthmodels, in one run.

    python benchmarks/inference.py            some minutes on 2 quiet cores
    python benchmarks/inference.py --quick    a smoke test on small data

Standard errors of 200 000 × 100; profile intervals of 20 columns on 10 000 rows; Firth's fit of 2 000 × 10, warm and
the first of a process. Writes inference.json and inference.md. The exit status is 1 if something that is required was
missed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import statsmodels.api as sm
from machine import load, machine, versions
from report import seconds, table, tidy, where, write, write_json
from scipy.optimize import brentq
from scipy.stats import chi2
from timing import Progress, clocked, in_turns

from separatrix import LogisticRegression

HERE = Path(__file__).resolve().parent
REPEATS, GAP = 7, 1e-8
"""Rounds; and the relative gap in the likelihood that a peer's fit must reach."""
BESIDE_FIT, BESIDE_LOGIT, BESIDE_REFITS, BESIDE_FIRTH = 2.0, 5.0, 20.0, 2.0
BATCH = 50
"""Fits of a millisecond that are timed together."""
CHECKED = 1e-5
"""How well ends of intervals and coefficients must agree, in units of a standard error."""

HOW = """\
Rows are drawn from a logistic model with normal columns, an intercept included, float64 in C order. Medians over
{repeats} rounds in which everyone takes one turn.

**Standard errors.** Ours: `LogisticRegression().fit(X, y)`, proved to a relative gap of 1e-10, then
`model.inference(X, y)` with covariance, standard errors, z, p and Wald's intervals. Theirs: `Logit.fit` of statsmodels,
which fits and computes the covariance in one call, by the fastest of its methods newton, bfgs and lbfgs that come
within 1e-8 of the maximum; the column of ones is added off its clock. Ratio: their one call against our two. The errors
are compared with those of its method newton: bfgs stops so early that its own are off by some 1e-5 of themselves.

**Profile intervals**, for every coefficient. Ours: `inference.interval(method="profile")`, all ends together. Theirs,
as statsmodels has no profiles: each end is found by Brent's method to 1e-6 of a standard error, the likelihood being
maximised again at each step by `GLM` with the coefficient in the offset, started at the last fit, by the faster of IRLS
and newton; timed for some of the coefficients and scaled to all. The ends are compared.

**Firth.** `LogisticRegression(objective="firth").fit`, its proof included, beside `FirthLogisticRegression().fit` of
firthmodels, compiled and warm, at the tolerances it has by default (1e-4) and at 1e-8. Neither computes intervals. A
turn is {batch} fits in a row; single fits after a rest, caches cold, took 2.1 and 2.8 ms in an earlier run, a ratio of
1.3. The first fit is timed in a fresh process of its own after the imports, caches of
compiled code on disk as they are left by earlier processes."""


class Contest(NamedTuple):
    """Rows of columns, and a name."""

    title: str
    X: Any
    y: Any


def drawn(n: int, d: int, size: float, seed: int) -> Contest:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    y = (rng.random(n) < 1 / (1 + np.exp(-X @ w * (size / np.linalg.norm(w)) - 0.3))).astype(int)
    return Contest(f"{n:,} × {d}".replace(",", " "), X, y)


def each_of(times: int, task: Callable[[], Any]) -> float:
    """The seconds of one of so many calls in a row: what takes a millisecond is not timed by itself."""

    def all_of_them() -> None:
        for _ in range(times):
            task()

    return clocked(all_of_them) / times


def quietly(task: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return task()


# ------------------------------------------------------------------------------------------------------ standard errors


def everything(model: Any, X: Any, y: Any) -> Any:
    found = model.inference(X, y)
    return found.covariance, found.standard_errors, found.z, found.p, found.interval()


def logit(Z: Any, y: Any, method: str) -> Any:
    return quietly(lambda: sm.Logit(y, Z).fit(method=method, disp=0, maxiter=500))


def standard_errors(contest: Contest, repeats: int) -> dict[str, Any]:
    _, X, y = contest
    Z = sm.add_constant(X)
    model = LogisticRegression().fit(X, y)
    errors = everything(model, X, y)[1]
    top = -len(y) * model.verdict_.claim.value
    fits = {method: logit(Z, y, method) for method in ("newton", "bfgs", "lbfgs")}
    good = [name for name, fit in fits.items() if (top - fit.llf) / abs(top) <= GAP]
    times = in_turns(
        {
            "fit": (partial(clocked, partial(LogisticRegression().fit, X, y)), repeats),
            "inference": (partial(clocked, partial(everything, model, X, y)), repeats),
            **{name: (partial(clocked, partial(logit, Z, y, name)), repeats) for name in good},
        }
    )
    best = min(good, key=lambda name: times[name]["median"])
    ours = times["fit"]["median"] + times["inference"]["median"]
    return {
        "title": contest.title, "status": model.verdict_.status, "fit": times["fit"], "inference": times["inference"],
        "beside_fit": times["inference"]["median"] / times["fit"]["median"],
        "theirs": times[best], "best": best, "ratio": times[best]["median"] / ours,
        "off": float(np.abs(errors / fits["newton"].bse - 1).max()),
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- profiles


def profiled(model: Any, X: Any, y: Any) -> Any:
    return model.inference(X, y).interval(method="profile")


def refitted(Z: Any, y: Any, j: int, method: str) -> tuple[float, float]:
    """The ends of one coefficient's profile interval, by fitting the others again and again."""
    full = sm.GLM(y, Z, family=sm.families.Binomial()).fit(method=method)
    others, low = np.delete(Z, j, axis=1), full.llf - chi2.ppf(0.95, 1) / 2
    start = np.delete(full.params, j)

    def above(value: float) -> float:
        nonlocal start
        fit = sm.GLM(y, others, family=sm.families.Binomial(), offset=value * Z[:, j])
        fit = fit.fit(start_params=start, method=method)
        start = fit.params
        return float(fit.llf - low)

    here, error = full.params[j], full.bse[j]
    ends = []
    for side in (-1, 1):
        far = here + side * 3 * error
        while above(far) > 0:
            far += side * error
        ends.append(brentq(above, *sorted((here + side * error, far)), xtol=1e-6 * error))
    return ends[0], ends[1]


def profiles(contest: Contest, repeats: int, columns: int) -> dict[str, Any]:
    _, X, y = contest
    Z = sm.add_constant(X)
    model = LogisticRegression().fit(X, y)
    found, errors = profiled(model, X, y), model.inference(X, y).standard_errors
    some = np.linspace(0, X.shape[1], columns).astype(int)
    theirs: dict[str, Any] = {}

    def refit(method: str) -> None:
        theirs[method] = [quietly(partial(refitted, Z, y, int(j), method)) for j in some]

    times = in_turns(
        {
            "ours": (partial(clocked, partial(profiled, model, X, y)), repeats),
            "IRLS": (partial(clocked, partial(refit, "IRLS")), 3),
            "newton": (partial(clocked, partial(refit, "newton")), 3),
        }
    )
    best = min(("IRLS", "newton"), key=lambda name: times[name]["median"])
    scale = Z.shape[1] / columns
    return {
        "title": contest.title, "seconds": times["ours"], "best": best, "columns": columns,
        "theirs_s": times[best]["median"] * scale, "ratio": times[best]["median"] * scale / times["ours"]["median"],
        "off": float(np.abs((found[some] - np.array(theirs[best])) / errors[some, None]).max()),
    }  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------- Firth


FIRST = """
import time
import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal((2000, 10))
y = (rng.random(2000) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
{make}
began = time.perf_counter()
model.fit(X, y)
print(time.perf_counter() - began)
"""
MAKERS = {
    "ours": "from separatrix import LogisticRegression; model = LogisticRegression(objective='firth')",
    "theirs": "from firthmodels import FirthLogisticRegression; model = FirthLogisticRegression()",
    "theirs without numba": (
        "from firthmodels import FirthLogisticRegression; model = FirthLogisticRegression(backend='numpy')"
    ),
}


def first_fit(name: str) -> float:
    """The seconds of the first fit of a process, imports not counted."""
    program = FIRST.format(make=MAKERS[name])
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(ran.stdout)


def firth(contest: Contest, repeats: int, firsts: int) -> dict[str, Any]:
    from firthmodels import FirthLogisticRegression

    _, X, y = contest
    ours = LogisticRegression(objective="firth")
    peers = {
        f"{backend}, tol {tol:g}": FirthLogisticRegression(backend=backend, gtol=tol, xtol=tol, max_iter=100)
        for backend in ("numba", "numpy")
        for tol in (1e-4, 1e-8)
    }
    for each in (ours, *peers.values()):
        each.fit(X, y)
    times = in_turns(
        {
            name: (partial(each_of, BATCH, partial(model.fit, X, y)), repeats)
            for name, model in {"ours": ours, **peers}.items()
        },
        rest=0.02,
    )
    best = min(peers, key=lambda name: times[name]["median"])
    first = {name: float(np.median([first_fit(name) for _ in range(firsts)])) for name in MAKERS}
    closest = peers[f"{best.split(',')[0]}, tol 1e-08"]
    return {
        "title": contest.title, "status": ours.verdict_.status, "seconds": times["ours"], "best": best,
        "theirs": times[best], "ratio": times[best]["median"] / times["ours"]["median"],
        "peers": {name: times[name]["median"] for name in peers}, "first_s": first,
        "off": float(np.abs(ours.coef_ - closest.coef_).max() / np.abs(ours.coef_).max()),
    }  # fmt: skip


# ----------------------------------------------------------------------------------------------------------- the report


def missed_by(results: dict[str, Any], *, timing: bool) -> list[str]:
    """What falls short; on small data times mean nothing."""
    errors, ends, penal = results["errors"], results["profiles"], results["firth"]
    checks = [
        (errors["status"] == "optimal" and errors["off"] <= CHECKED, f"standard errors are off by {errors['off']:.1e}"),
        (ends["off"] <= 1e-4, f"ends of intervals are off by {ends['off']:.1e} standard errors"),
        (penal["off"] <= CHECKED, f"Firth's weights are off by {penal['off']:.1e}"),
    ]
    if timing:
        waits = penal["first_s"]
        checks += [
            (errors["beside_fit"] <= BESIDE_FIT, f"inference takes {errors['beside_fit']:.1f} times the fit"),
            (
                errors["ratio"] >= BESIDE_LOGIT,
                f"{errors['ratio']:.1f} times as fast as Logit.fit, not {BESIDE_LOGIT:g}",
            ),
            (ends["ratio"] >= BESIDE_REFITS, f"profiles {ends['ratio']:.1f} times as fast, not {BESIDE_REFITS:g}"),
            (penal["ratio"] >= BESIDE_FIRTH, f"Firth {penal['ratio']:.1f} times as fast, not {BESIDE_FIRTH:g}"),
            (waits["ours"] < 1.0 and waits["ours"] < waits["theirs"], f"the first fit waits {waits['ours']:.2f} s"),
        ]
    return [text for holds, text in checks if not holds]


def tables(results: dict[str, Any]) -> str:
    errors, ends, penal = results["errors"], results["profiles"], results["firth"]
    head = ["", "rows × columns", "ours", "theirs", "their best way", "ratio"]
    ours = f"{seconds(errors['fit']['median'])} fit + {seconds(errors['inference']['median'])} inference"
    wait = penal["first_s"]
    return table(
        head,
        [
            ["standard errors", errors["title"], ours, seconds(errors["theirs"]["median"]),
             f"statsmodels Logit.fit, {errors['best']}", f"**{errors['ratio']:.1f}** (at least {BESIDE_LOGIT:g})"],
            ["inference in units of the fit", errors["title"],
             f"**{errors['beside_fit']:.2f}** (at most {BESIDE_FIT:g})", "", "", ""],
            ["profile intervals", ends["title"], seconds(ends["seconds"]["median"]), seconds(ends["theirs_s"]),
             f"statsmodels GLM again and again, {ends['best']}",
             f"**{ends['ratio']:.0f}** (at least {BESIDE_REFITS:g})"],
            ["Firth, warm", penal["title"], f"{1e3 * penal['seconds']['median']:.2f} ms",
             f"{1e3 * penal['theirs']['median']:.2f} ms", f"firthmodels, {penal['best']}",
             f"**{penal['ratio']:.1f}** (at least {BESIDE_FIRTH:g})"],
            ["Firth, first fit of a process", penal["title"], f"{1e3 * wait['ours']:.0f} ms",
             f"{1e3 * wait['theirs']:.0f} ms", "firthmodels, as it comes", f"**{wait['theirs'] / wait['ours']:.1f}**"],
            ["", penal["title"], "", f"{1e3 * wait['theirs without numba']:.0f} ms", "firthmodels, backend numpy", ""],
        ],
    )  # fmt: skip


def markdown(results: dict[str, Any]) -> str:
    """The whole page."""
    quick = "\n\n**A quick run on small data: a smoke test, not a measurement.**" if results["quick"] else ""
    missed = "\n".join(f"- {line}" for line in results["missed"]) or "Nothing that is required was missed."
    peers = table(
        ["firthmodels, warm", "time"],
        [[name, f"{1e3 * taken:.2f} ms"] for name, taken in results["firth"]["peers"].items()],
    )
    agreement = (
        f"Largest differences: standard errors {results['errors']['off']:.0e} of themselves, ends of intervals "
        f"{results['profiles']['off']:.0e} standard errors, Firth's weights {results['firth']['off']:.0e} of the "
        f"largest. Profiles were refitted for {results['profiles']['columns']} of the coefficients."
    )
    how = HOW.format(repeats=results["repeats"], batch=BATCH)
    parts = ["# Inference" + quick, where(results), tables(results), agreement, peers, "## Required", missed,
             "## How it was measured", how]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def measure(*, quick: bool) -> dict[str, Any]:
    """Everything, in one dictionary."""
    before, progress, repeats = load(), Progress(3.0), 2 if quick else REPEATS
    large, middle = ((4000, 8), (2000, 5)) if quick else ((200_000, 100), (10_000, 20))
    progress.tell("standard errors")
    errors = standard_errors(drawn(*large, 1.5, 0), repeats)
    progress.advance(1)
    progress.tell("profile intervals")
    ends = profiles(drawn(*middle, 1.5, 1), repeats, 3 if quick else 5)
    progress.advance(1)
    progress.tell("Firth")
    penal = firth(drawn(2000, 10, 1.5, 2), 3 if quick else 21, 1 if quick else 5)
    results = {
        "quick": quick,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "load": {"before": before, "after": load()},
        "versions": versions(),
        "repeats": repeats,
        "errors": errors,
        "profiles": ends,
        "firth": penal,
    }
    return {**results, "missed": missed_by(results, timing=not quick)}


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time inference beside statsmodels and firthmodels.")
    parser.add_argument("--quick", action="store_true", help="small data, few repeats: a smoke test")
    parser.add_argument(
        "--out", type=Path, help="folder for the results (default: benchmarks/results, or out if quick)"
    )
    wished = parser.parse_args(given)
    folder = wished.out or (HERE.parent / "out" / "benchmarks" if wished.quick else HERE / "results")
    results = tidy(measure(quick=wished.quick))
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "inference.json", results)
    write(folder / "inference.md", markdown(results))
    print(tables(results))
    print(*results["missed"] or ["Nothing that is required was missed."], sep="\n")
    print(f"Written: inference.json, inference.md in {folder.name}/")
    return 1 if results["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
