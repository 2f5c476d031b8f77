"""What a fit can say for itself: how it ended, why, what proves it, what to do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.block import as_others_read
from .claims import JointClaim
from .proofs import Proof

STATUSES = ("optimal", "local", "separated", "quasi-separated", "not-separable", "budget", "interrupted")
WORST_FIRST = ("interrupted", "budget", "not-separable", "quasi-separated", "separated", "local", "optimal")


class Rank(NamedTuple):
    """The rank of the columns (the intercept's counted), of how many, and which are combinations of others.

    The rank is None where a fit was stopped before it was settled, or does not depend on it.
    """

    rank: int | None
    of: int
    aliased: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """How a fit ended. `str(verdict)` says it in sentences; `verdict.check(X, y)` recomputes what it claims."""

    status: str
    """One of seven words: optimal, local, separated, quasi-separated, not-separable, budget, interrupted."""
    rank: Rank
    """The rank of the columns, and which of them are combinations of others: `rank.aliased`."""
    certificate: Proof | None
    """The numbers that prove it; None where nothing is proved."""
    cause: str
    """What was reached, and what stood in the way, in sentences."""
    remedy: str
    """What to do about it, where there is something to do."""
    claim: Any = field(repr=False)
    """A `Claim`; of an expansion in kernels a `KernelClaim`, of joint features a `JointClaim`, of a generative
    model an `EstimateClaim`."""
    separability: Any = field(default=None, repr=False)
    """Where maximum likelihood has no finite answer: the `Separability` that says which rows and columns are why."""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status is {self.status!r}; it must be one of {', '.join(STATUSES)}.")

    @property
    def ok(self) -> bool:
        """Whether the fit reached what it set out for."""
        return self.status in ("optimal", "local") or (
            self.status == "separated" and self.claim.objective == "mistakes"  # there it is the goal, not an obstacle
        )

    def check(self, X: Any, y: Any, sample_weight: Any = None) -> bool:
        """Recompute the claim from the data and the weights alone, by code that shares nothing with the solver."""
        from ..audit.check import audit  # at need: it reads verdicts, and shares nothing else

        return bool(audit(self, as_others_read(X), y, sample_weight))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON."""
        kind = type(self.certificate).__name__.lower() if self.certificate else None
        return {
            "status": self.status,
            "ok": self.ok,
            "rank": {"rank": self.rank.rank, "of": self.rank.of, "aliased": list(self.rank.aliased)},
            "certificate": {"kind": kind, **plain(self.certificate)} if kind else None,
            "cause": self.cause,
            "remedy": self.remedy,
            "claim": plain(self.claim),
            "separability": plain(self.separability) if self.separability is not None else None,
        }

    def __str__(self) -> str:
        sentences = [self.cause, self._alias_sentence(), self.remedy]
        return " ".join(sentence for sentence in sentences if sentence)

    def _alias_sentence(self) -> str:
        if not self.rank.aliased:
            return ""
        names = listed(self.rank.aliased)
        verb = "is a combination" if len(self.rank.aliased) == 1 else "are combinations"
        made = isinstance(self.claim, JointClaim) or getattr(self.claim, "features", None) is not None
        what = "features" if made else "columns"
        return f"The {what} have rank {self.rank.rank} of {self.rank.of}: {names} {verb} of the others."


def worst_status(statuses: tuple[str, ...]) -> str:
    """The status of the whole: that of the member that came least far."""
    return min(statuses, key=WORST_FIRST.index, default="optimal")


def listed(names: tuple[str, ...] | list[str], most: int = 5) -> str:
    """a, b and c; after `most` names, how many more."""
    shown = [str(name) for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def plain(record: Any) -> dict[str, Any]:
    """The fields of a dataclass as plain numbers, strings, lists and dictionaries."""
    return {entry.name: plain_value(getattr(record, entry.name)) for entry in fields(record)}


def plain_value(value: Any) -> Any:
    """A value as JSON can hold it."""
    if callable(value) and not isinstance(value, type):
        return repr(value) if is_dataclass(value) else getattr(value, "__qualname__", type(value).__name__)
    if is_dataclass(value) and not isinstance(value, type):
        return plain(value)
    if isinstance(value, Mapping):
        return {str(key): plain_value(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return [plain_value(each) for each in value.tolist()]
    if isinstance(value, tuple | list):
        return [plain_value(each) for each in value]
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, bool | int | str):
        return value
    return (value if math.isfinite(value) else None) if isinstance(value, float) else str(value)
