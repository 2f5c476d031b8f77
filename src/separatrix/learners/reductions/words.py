"""What a model made of binary classifiers can say for itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...results.claims import ReductionClaim
from ...results.proofs import Members
from ...results.verdict import Rank, Verdict, listed, worst_status
from ..warnings import BudgetWarning, NotSeparableWarning, SeparationWarning

KINDS: dict[str, type[Warning]] = {
    "separated": SeparationWarning,
    "quasi-separated": SeparationWarning,
    "not-separable": NotSeparableWarning,
}
FEW = 3


def verdict_of_members(
    members: Sequence[Any], duels: Sequence[str], claim: ReductionClaim, columns: int, learner: str
) -> Verdict:
    """The verdict of the whole: as much as the least of its members can say."""
    rank = Rank(None, columns, ())
    if not members:
        return Verdict("optimal", rank, Members(()), "There was nothing to learn.", "", claim)
    found = claim.members
    if any(verdict is None for verdict in found):
        cause = f"{learner} gives no verdict, so nothing is proved of the {_number(len(members), 'classifier')}."
        return Verdict("budget", rank, None, cause, "Use a learner of Separatrix for one that can be checked.", claim)
    statuses = tuple(verdict.status for verdict in found)
    failed = [(duel, verdict) for duel, verdict in zip(duels, found, strict=True) if not verdict.ok]
    cause = _success(statuses, found) if not failed else _failure(failed, len(found))
    return Verdict(worst_status(statuses), rank, Members(statuses), cause, failed[0][1].remedy if failed else "", claim)


def _success(statuses: tuple[str, ...], found: Sequence[Any]) -> str:
    kinds = sorted(set(statuses))
    each = f"All {len(found)} classifiers are" if len(found) > 1 else "The one classifier is"
    gaps = [getattr(verdict.certificate, "relative_gap", np.nan) for verdict in found]
    proved = f", each proved to within {max(gaps):.1e} of its minimum" if np.isfinite(gaps).all() else ""
    return f"{each} {' or '.join(kinds)}{proved}."


def _failure(failed: list[tuple[str, Any]], of: int) -> str:
    names = [f"{duel} ({verdict.status})" for duel, verdict in failed]
    verb = "did not reach its minimum" if len(failed) == 1 else "did not reach their minimum"
    which = f"{len(failed)} of {of} classifiers" if of > 1 else "The classifier"
    return f"{which} {verb}: {listed(names, FEW)}. {failed[0][1].cause}"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def warning_kind(verdict: Verdict) -> type[Warning]:
    """Which warning a verdict that is not ok deserves."""
    return KINDS.get(verdict.status, BudgetWarning)
