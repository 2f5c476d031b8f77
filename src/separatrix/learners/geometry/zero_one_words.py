"""How the search for the fewest mistakes ended, in a verdict."""

from __future__ import annotations

import math
from typing import Any

from ...results.claims import Claim
from ...results.verdict import Rank, Verdict
from ...wording import setting
from .zero_one_run import Run

OBJECTIVE = "zero-one"


def verdict_of(run: Run, stopped: bool) -> Verdict:
    """*optimal* if the interval is closed, else *interrupted* or *budget*."""
    given, (weights, intercept), (lower, upper) = run.prepared, run.rule, run.interval
    rows = len(given.X)
    total = math.fsum(given.cost.tolist()) if given.cost.size else float(rows)
    claim = Claim(
        tuple(given.classes.tolist()), given.columns, weights, intercept, given.lifted, 0.0,
        given.class_weight, upper / total, rows, OBJECTIVE,
    )  # fmt: skip
    status = "optimal" if run.closed else "interrupted" if stopped else "budget"
    cause, remedy = _said(run, status, rows, lower, upper)
    return Verdict(status, Rank(None, len(given.columns) + given.lifted, ()), run.proof(), cause, remedy, claim)


def _said(run: Run, status: str, rows: int, lower: Any, upper: Any) -> tuple[str, str]:
    whole = not isinstance(upper, float)
    does = f"makes {upper} {'mistake' if upper == 1 else 'mistakes'}" if whole else f"costs {upper:.6g}"
    if status == "optimal" and upper == 0:
        return f"The rule separates the classes: it makes no mistake on {rows} rows.", ""
    if status == "optimal":
        better = "no linear rule does better" if run.exact else "no linear rule does better by more than rounding"
        return f"The rule {does} on {rows} rows, and {better}: {_why(run)}.", ""
    least = f"makes fewer than {lower}" if whole else f"costs less than {lower:.6g}"
    proved = f"The rule {does} on {rows} rows; no linear rule {least}."
    if status == "interrupted":
        return f"Stopped by hand. {proved}", "Fit again with more time."
    if run.search.left() > 0 and run.enumerated is None and run.search.incomplete:
        return (
            f"{proved} The search came to its end before the time: cuts were looked for among the rows nearest to the "
            "boundary only, or a linear program had no answer.",
            "Fewer distinct rows, or costs that are nearer to each other, make it easier.",
        )
    if run.search.left() > 0:
        return (
            f"{proved} The search came to its end; what is between is left by rounding: the best rule passes so close "
            "to rows that weights in double precision do not reach it.",
            "Shift or scale the columns so that rows differ in fewer digits.",
        )
    if run.sweeps:
        longer = setting("time_limit", float(f"{2 * run.sweeping:.1g}"))
        known = f" takes about {run.sweeping:.2g} s here: give {longer} or more."
        return (
            f"The time limit of {run.prepared.time_limit:g} s was reached. {proved}",
            f"To count all lines that divide {len(run.problem)} distinct rows"
            + (known if run.sweeping else f" takes more time: give a larger {setting('time_limit')}."),
        )
    return (
        f"The time limit of {run.prepared.time_limit:g} s was reached. {proved}",
        f"To find the fewest is NP-hard. A larger {setting('time_limit')} may narrow the interval; fewer columns or "
        "fewer distinct "
        "rows make it easier.",
    )


def _why(run: Run) -> str:
    """What shows it."""
    if run.enumerated is not None:
        return "all ways to divide the rows were counted"
    cases = (len(run.search.nodes) + 1) // 2
    if not run.search.cover.cuts:
        return "equal rows have both classes"
    branching = f" in {cases} cases" if cases > 1 else ""
    return f"sets of rows that no rule gets all right{branching} show it"
