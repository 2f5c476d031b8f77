"""The kernel perceptron on MNIST's ten digits: errors by degree and passes, prediction, budgets.

`voted_mnist.py` runs it, and writes kernel_mnist.json, .md and .png. What is required of it: see `missed`.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics.pairwise import polynomial_kernel
from timing import Progress, clocked, in_turns

from separatrix import BudgetWarning, KernelPerceptron
from separatrix.results.expansion import Dual, Record
from separatrix.results.mistake_log import MistakeLog

WAYS, READINGS = ("one-vs-rest", "joint"), ("last", "averaged", "voted")
PASSES = (0.1, 1.0, 2.0, 3.0, 4.0, 10.0)
DRAWN = np.concatenate([np.round(np.geomspace(0.1, 1, 10), 3), [1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 10]])
"""The passes at which the curves are drawn: those of the table, and some between them."""
PREDICTED, SLOWEST = 2, 3.0
"""The degree whose prediction is timed, and how many times the kernel product it may take."""
BETTER_FROM, BETTER_UNTIL, NEARLY = 1.0, 4.0, 0.001
"""The passes in which a vote and a mean must be better than the last weights, and how much worse they may be after."""
BANDS = {
    ("one-vs-rest", 1): (0.075, 0.09), ("one-vs-rest", 2): (0.015, 0.021),
    ("one-vs-rest", 3): (0.014, 0.019), ("one-vs-rest", 4): (0.014, 0.019),
    ("joint", 1): (0.068, 0.08), ("joint", 2): (0.016, 0.021),
    ("joint", 3): (0.014, 0.019), ("joint", 4): (0.014, 0.019),
}  # fmt: skip
"""Where the voted error after ten passes must lie."""
SPARED = 0.003
"""How much the largest budget, by projection, may cost in the averaged error."""
COLUMNS = 2048
"""New rows at a time, in the product by blocks."""
Data = tuple[Any, Any, Any, Any]


class Budgets(NamedTuple):
    """A table of budgets: which, on the first so many rows, in so many passes."""

    sizes: tuple[int, ...]
    rows: int
    passes: int
    way: str = "joint"
    degree: int = 2


@dataclass(frozen=True)
class Plan:
    """How much is done; the work is about its seconds on two cores."""

    degrees: tuple[int, ...]
    support: int
    budgets: Budgets
    repeats: int
    work: dict[str, tuple[float, ...]]

    @property
    def total(self) -> float:
        return sum(sum(each) for each in self.work.values())


WHOLE = Plan(
    (1, 2, 3, 4), 15_000, Budgets((250, 500, 1000, 2000), 60_000, 1), 3,
    {"one-vs-rest": (25, 57, 51, 37), "joint": (18, 33, 25, 23), "prediction": (90,), "budgets": (50,)},
)  # fmt: skip
QUICK = Plan(
    (1, 2), 300, Budgets((20, 60), 1000, 2), 1,
    {"one-vs-rest": (1, 1), "joint": (1, 1), "prediction": (1,), "budgets": (1,)},
)  # fmt: skip


def fitted(X: Any, y: Any, way: str, degree: int, passes: float, **more: Any) -> KernelPerceptron:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        model = KernelPerceptron(
            "polynomial", degree=degree, fit_intercept=False, multiclass=way, max_passes=passes, **more
        )
        return model.fit(X, y)


def curves(data: Data, way: str, degree: int) -> tuple[dict[str, Any], KernelPerceptron]:
    """One fit, and its errors by every reading at all passes."""
    X, y, Z, z = data
    began = time.perf_counter()
    model = fitted(X, y, way, degree, max(PASSES))
    learnt = time.perf_counter()
    points = model.curve(Z, z, DRAWN)
    found = {name: [getattr(point, name) for point in points] for name in (*READINGS, "support", "mistakes")}
    times = {"fit_s": learnt - began, "curve_s": time.perf_counter() - learnt}
    return {"way": way, "degree": degree, **found, **times}, model


def sized(model: KernelPerceptron, X: Any, support: int) -> tuple[KernelPerceptron, dict[str, Any]]:
    """The model with so many support vectors exactly: its log up to there, or with a mistake more on each row missing.

    The rows that are missing are the first that were never mistaken; their mistakes are spread over all steps.
    """
    log: MistakeLog = model.log_
    kept = Dual.of(log, len(model.classes_)).support
    if len(kept) >= support:
        first = np.sort(np.unique(log.rows, return_index=True)[1])
        log = log.until(int(log.steps[first[support - 1]]) + 1)
    else:
        log = _extended(log, np.setdiff1d(np.arange(len(X)), kept)[: support - len(kept)])
    record, changed = model._record, copy.copy(model)
    dual = Dual.of(log, len(model.classes_))
    changed._record = Record.of(record.kernel, X, dual, record.lifted, record.apart)
    return changed, {"support": len(dual.support), "mistakes": len(log), "fitted": len(kept)}


def _extended(log: MistakeLog, rows: Any) -> MistakeLog:
    """With a copy of one mistake in so many, as if on these rows."""
    like = np.linspace(0, len(log) - 1, len(rows)).astype(np.int64)
    places = np.argsort(np.concatenate([np.arange(len(log)), like]), kind="stable")
    others = {name: getattr(log, name) for name in ("steps", "own", "rival")}
    return replace(
        log, rows=np.concatenate([log.rows, rows])[places],
        **{name: np.concatenate([each, each[like]])[places] for name, each in others.items()},
    )  # fmt: skip


def prediction(models: dict[str, KernelPerceptron], data: Data, support: int, repeats: int) -> dict[str, Any]:
    """decision_function by every reading, and the kernel's matrix alone: whole, by blocks and scikit-learn's."""
    X, _, Z, _ = data
    made = {way: sized(model, X, support) for way, model in models.items()}
    rows = next(iter(made.values()))[0]._record.support
    into = np.zeros((len(rows), len(Z)))  # touched before: no page of it is new when the clock runs

    def whole() -> None:
        np.matmul(rows, Z.T, out=into)
        _power(into)

    def by_blocks() -> None:
        for lo in range(0, len(Z), COLUMNS):
            _power(rows @ Z[lo : lo + COLUMNS].T)

    peer = partial(polynomial_kernel, rows, Z, degree=PREDICTED, gamma=1.0, coef0=1.0)
    tasks = {"product, whole": (whole, repeats), "product, by blocks": (by_blocks, repeats)}
    for way, (model, _) in made.items():
        for reading in READINGS:
            model.decision_function(Z[:10], reading)  # compiles, or loads what was compiled
            tasks[f"{way}, {reading}"] = (partial(model.decision_function, Z, reading), repeats)
    tasks["scikit-learn's polynomial_kernel"] = (peer, 1)
    times = in_turns({name: (partial(clocked, task), runs) for name, (task, runs) in tasks.items()})
    product = min(each["median"] for name, each in times.items() if name.startswith("product"))
    ratios = {name: each["median"] / product for name, each in times.items() if name.startswith(WAYS)}
    return {
        "degree": PREDICTED, "tests": len(Z), "product_s": product, "seconds": times, "ratio": ratios,
        "models": {way: what for way, (_, what) in made.items()},
    }  # fmt: skip


def _power(products: Any) -> None:
    """(1 + xᵀz)², in place."""
    products += 1.0
    products *= products


def budgets(data: Data, plan: Budgets) -> Iterator[dict[str, Any]]:
    """What a budget costs in accuracy: without one, then every size by removal and by projection."""
    X, y, Z, z = data
    X, y = X[: plan.rows], y[: plan.rows]
    for size, overflow in [(None, "remove"), *((size, how) for size in plan.sizes for how in ("remove", "project"))]:
        began = time.perf_counter()
        model = fitted(X, y, plan.way, plan.degree, plan.passes, budget=size, overflow=overflow, random_state=0)
        took, cost = time.perf_counter() - began, model.budget_
        means = size is None or overflow == "project"
        yield {
            "budget": size, "overflow": overflow if size else None, "support": len(model.support_),
            "mistakes": int(model.mistakes_.sum()), "times": cost.times if cost else 0,
            "lost": cost.lost / cost.made if cost else 0.0, "fit_s": took,
            "last": float((model.predict(Z, "last") != z).mean()),
            "averaged": float((model.predict(Z, "averaged") != z).mean()) if means else None,
        }  # fmt: skip


def measure(data: Data, plan: Plan, progress: Progress) -> dict[str, Any]:
    """All of it. The rows are in the order in which they are learnt from."""
    began, table, kept = time.perf_counter(), [], {}
    for way in WAYS:
        for degree, work in zip(plan.degrees, plan.work[way], strict=True):
            progress.tell(f"ten digits, {way}, degree {degree}")
            found, model = curves(data, way, degree)
            table.append(found)
            if degree == PREDICTED:
                kept[way] = model
            progress.advance(work)
    progress.tell("ten digits: prediction and the kernel product")
    timed = prediction(kept, data, plan.support, plan.repeats)
    progress.advance(plan.work["prediction"][0])
    kept.clear()
    limited = []
    for each in budgets(data, plan.budgets):
        limited.append(each)
        progress.advance(plan.work["budgets"][0] / (2 * len(plan.budgets.sizes) + 1))
        progress.tell(f"ten digits, budget {each['budget']}: {each['fit_s']:.1f} s")
    return {
        "rows": len(data[0]), "tests": len(data[2]), "passes": DRAWN.tolist(), "table": table, "prediction": timed,
        "budgets": {**plan.budgets._asdict(), "table": limited},
        "seconds": time.perf_counter() - began,
    }  # fmt: skip


def at_passes(found: dict[str, Any], entry: dict[str, Any], name: str) -> Any:
    """The columns of the table."""
    return np.array(entry[name])[np.searchsorted(found["passes"], PASSES)]


def missed(found: dict[str, Any]) -> list[str]:
    """What is not as it must be on all of MNIST: see `kernel_page.required`."""
    first = {entry["way"]: at_passes(found, entry, "voted") for entry in found["table"] if entry["degree"] == 1}
    said = []
    for entry in found["table"]:
        which = f"{entry['way']}, degree {entry['degree']}"
        said += [f"{which}, {text}" for text in _no_better(found, entry)]
        voted = at_passes(found, entry, "voted")
        low, high = BANDS[entry["way"], entry["degree"]]
        if not low <= voted[-1] <= high:
            said.append(f"{which}: the voted error is {voted[-1]:.4f} in the end, not from {low:g} to {high:g}")
        if entry["degree"] > 1 and not (voted < first[entry["way"]]).all():
            said.append(f"{which}: a voted error is not below that of degree 1")
    return (
        said
        + _budgets_missed(found["budgets"]["table"])
        + [
            f"{which}: prediction takes {ratio:.2f} times the kernel product's time, not at most {SLOWEST:g}"
            for which, ratio in found["prediction"]["ratio"].items()
            if ratio > SLOWEST
        ]
    )


def _budgets_missed(table: list[dict[str, Any]]) -> list[str]:
    last = {(each["budget"], each["overflow"]): each["last"] for each in table}
    said = [
        f"budget {size}: by projection the error is {error:.4f}, by removal {last[size, 'remove']:.4f}"
        for (size, overflow), error in last.items()
        if overflow == "project" and not error < last[size, "remove"]
    ]
    free, most = table[0]["averaged"], max(table[1:], key=lambda each: (each["budget"], each["overflow"] == "project"))
    if most["averaged"] > free + SPARED:
        said.append(f"budget {most['budget']}: the averaged error is {most['averaged']:.4f}, without one {free:.4f}")
    return said


def _no_better(found: dict[str, Any], entry: dict[str, Any]) -> Iterator[str]:
    last = at_passes(found, entry, "last")
    for name in ("averaged", "voted"):
        for passes, error, other in zip(PASSES, at_passes(found, entry, name), last, strict=True):
            worse = error > other + NEARLY if passes > BETTER_UNTIL else error >= other
            if passes >= BETTER_FROM and worse:
                yield f"{passes:g} passes: the {name} error is {error:.4f}, that of the last weights {other:.4f}"
