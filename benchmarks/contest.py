"""One problem: ours and every peer, found fit for the race, then raced in turns."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from peers import SETTINGS, TOLERANCES, WIDE_SETTINGS, CapError, Found, Setting, search, timed_fit
from problems import Case, Problem
from timing import Progress, clocked, in_turns, summary

from separatrix import LogisticRegression

SLOW_S, VERY_SLOW_S = 5.0, 20.0
BEHIND = 2.0
"""A slow setting this many times slower than its family's best is not raced again."""


@dataclass(frozen=True)
class Options:
    repeats: int = 5
    cap_s: float = 20.0
    divisor: int = 1


def ours(case: Case, penalty: float) -> tuple[LogisticRegression, float]:
    """Our fit with default settings: validation, fit, verdict and all on the clock."""
    began = time.perf_counter()
    model = LogisticRegression(l2=penalty / case.problem.rows).fit(case.X, case.y)
    return model, time.perf_counter() - began


def find_settings(case: Case, options: Options, progress: Progress) -> list[Found]:
    """Each setting's loosest tolerance that serves; a family's later settings begin where an earlier one succeeded."""
    found: list[Found] = []
    settings = WIDE_SETTINGS if case.problem.wide else SETTINGS
    for setting in settings:
        progress.tell(f"{case.problem.title}: {setting.name}")
        family = [other for other in found if other.setting.family == setting.family]
        first = min(
            (TOLERANCES.index(other.tolerance) for other in family if other.reaches and other.tolerance), default=0
        )
        found.append(_find(case, setting, options.cap_s, first, probe=not family))
        progress.advance(0.8 * case.problem.expected_s / len(settings))
    return found


def _find(case: Case, setting: Setting, cap: float, first: int, *, probe: bool) -> Found:
    if setting.penalty(case) == 0 and not case.settled(0.0):
        return Found(setting, False, None, None, None, None, "skipped: without a penalty there is no optimum")
    return search(case, setting, cap, first, probe=probe)


def turns(found: Found, all_found: list[Found], options: Options) -> int:
    """How often a setting is raced; 0: the time of the search stands."""
    if not found.reaches or found.seconds is None:
        return 0
    rivals = [f.seconds or 0.0 for f in all_found if f.reaches and f.setting.family == found.setting.family]
    if found.seconds <= SLOW_S:
        return options.repeats
    return 0 if found.seconds > min(VERY_SLOW_S, BEHIND * min(rivals)) else min(options.repeats, 3)


def _turn(case: Case, found: Found, cap: float) -> float:
    try:
        return timed_fit(case, found.setting, found.tolerance or TOLERANCES[-1], cap)[1]
    except CapError:
        return cap


def race(problem: Problem, options: Options, progress: Progress) -> dict[str, Any]:
    """All times for one problem."""
    progress.tell(f"{problem.title}: the data and the optimum")
    case = Case(problem)
    model = _settle(case)
    found = find_settings(case, options, progress)
    progress.tell(f"{problem.title}: racing in turns")
    tasks: dict[str, tuple[Callable[[], float], int]] = {
        "ours": (lambda: ours(case, problem.penalty)[1], options.repeats),
        "sum": (lambda: clocked(case.X.sum), options.repeats),
        **{f.setting.name: (partial(_turn, case, f, 10 * options.cap_s), turns(f, found, options))
           for f in found},
    }  # fmt: skip
    times = in_turns(tasks)
    progress.advance(0.2 * problem.expected_s)
    rivals = [_with_time(f, times) for f in found]
    return {**_described(problem), **_ours(case, model, times), **_comparison(problem, rivals, times["ours"])}


def _settle(case: Case) -> LogisticRegression:
    """The least objectives, with the problem's penalty and without."""
    model, _ = ours(case, case.problem.penalty)
    case.settle(model.coef_[0], float(model.intercept_[0]), case.problem.penalty)
    if case.problem.wide:
        return model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a problem that is separable without its penalty is not raced without it
        free, _ = ours(case, 0.0)
    if free.verdict_.status == "optimal":
        case.settle(free.coef_[0], float(free.intercept_[0]), 0.0)
    return model


def _with_time(found: Found, times: dict[str, Any]) -> dict[str, Any]:
    line = found.as_dict()
    line["search_s"] = line.pop("seconds")
    alone = summary([found.seconds]) if found.reaches and found.seconds is not None else None
    return {**line, "seconds": times.get(found.setting.name, alone)}


def _described(problem: Problem) -> dict[str, Any]:
    return {
        "key": problem.key, "title": problem.title, "rows": problem.rows, "columns": problem.columns,
        "penalty_on_the_sum": problem.penalty, "asked_gap": problem.gap,
        "required": problem.required, "aim": problem.aim,
    }  # fmt: skip


def _ours(case: Case, model: LogisticRegression, times: dict[str, Any]) -> dict[str, Any]:
    certificate = model.verdict_.certificate
    gap = case.gap(model.coef_[0], float(model.intercept_[0]), case.problem.penalty)
    return {
        "ours": {
            "seconds": times["ours"],
            "status": model.verdict_.status,
            "passes": model.n_passes_,
            "gap": gap,
            "reaches": gap <= case.problem.gap,
            "proved_gap": getattr(certificate, "relative_gap", None),
        },
        "sum_s": times["sum"],
        "times_sum": times["ours"]["median"] / times["sum"]["median"],
    }


def _comparison(problem: Problem, rivals: list[dict[str, Any]], mine: dict[str, Any]) -> dict[str, Any]:
    arrived = [line for line in rivals if line["reaches"]]
    best = min(arrived, key=lambda line: line["seconds"]["median"], default=None)
    ratio = best["seconds"]["median"] / mine["median"] if best else None
    return {"peers": rivals, "best_peer": best["name"] if best else None, "ratio": ratio}
