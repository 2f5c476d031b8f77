"""A verdict on separability in the table's own names: columns, labels, files and lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...results.separability import INTERCEPT, Combination, Separability
from .console import table as laid_out

MOST = 20
"""Lines of a part of a certificate that are printed; all are in the JSON."""


@dataclass(frozen=True)
class Case:
    """A result for columns x0, x1, …, with the names that these have in the table."""

    result: Separability
    names: tuple[str, ...]
    places: Mapping[int, Any]
    """Where the rows that are named stand: looked up together, because each look reads the file."""

    def named(self, columns: Iterable[Any]) -> tuple[str, ...]:
        """The names of columns that are called x0, x1, … in the result."""
        known = dict(zip(self.result.columns, self.names, strict=True))
        return tuple(known.get(column, str(column)) for column in columns)

    def row(self, row: int) -> dict[str, Any]:
        """Where a row stands."""
        place = self.places[int(row)]
        return {"row": int(row) + 1, "file": place.file, "line": place.line}

    def renamed(self) -> Separability:
        """The result with the names of the table, for its sentences."""
        found = self.result.coefficients
        two = len(self.result.classes) == 2
        known = self._group(found) if two else {label: self._group(group) for label, group in found.items()}
        rank = self.result.rank._replace(aliased=self.named(self.result.rank.aliased))
        return replace(self.result, columns=self.names, rank=rank, coefficients=known)

    def _group(self, group: Mapping[Any, Any]) -> dict[str, Any]:
        return dict(zip(self.named(group), group.values(), strict=True))


def named_rows(result: Separability) -> list[int]:
    """The rows that the answer names: those separated unless all are, and those of the combinations."""
    if result.kind == "separated":
        return []
    balances = [each.rows for each in (result.certificate.balance, result.certificate.crossing) if each is not None]
    return [int(row) for row in np.unique(np.concatenate([result.rows, result.partly, *balances]))]


def explained(case: Case) -> str:
    """The verdict, what maximum likelihood makes of it, and that it was checked."""
    renamed = case.renamed()
    exact = renamed._exactness()
    parts = [_SAYS[case.result.kind](case), renamed.coefficients_in_words(), renamed._rank_in_words(), exact]
    return " ".join([*(part for part in parts if part), "The certificate was checked with the table by separate code."])


def _separated(case: Case) -> str:
    result = case.result
    return (
        f"Separated: a rule puts all {len(result.rows)} rows on the side of their own class, the nearest at a distance "
        f"of {result.certificate.margin:.3g}."
    )


def _quasi(case: Case) -> str:
    result = case.result
    crossing = result.certificate.crossing
    assert crossing is not None
    count, part = len(result.rows), len(result.partly)
    some = [f"{count} rows ({_places(case, result.rows)})"] if count else []
    some += [f"{part} rows from some of the other classes ({_places(case, result.partly)})"] if part else []
    return (
        f"Quasi-separated: a rule separates {' and '.join(some)} and errs on none; the others are on its boundary, and "
        f"{_places(case, crossing.rows)} show that no rule separates all."
    )


def _overlap(case: Case) -> str:
    crossing = case.result.certificate.crossing
    assert crossing is not None
    return (
        f"Overlap: no rule separates any row without erring on another; {len(crossing)} rows "
        f"({_places(case, crossing.rows)}) show that none separates all{_meeting(case)}."
    )


def _meeting(case: Case) -> str:
    """How rows that cross do so, where that is easily said."""
    if len(case.result.classes) > 2 or not case.result.fit_intercept:
        return ""
    first, second = case.result.classes
    return f": weighted by their multipliers, those of {first!r} have the same mean as those of {second!r}"


_SAYS = {"separated": _separated, "quasi-separated": _quasi, "overlap": _overlap}


def _places(case: Case, rows: Any, most: int = 5) -> str:
    """'data.csv lines 2, 5 and 7 more': the file is named once, where there is one."""
    unique = sorted(set(rows.tolist()))
    places = [case.places[row] for row in unique[:most]]
    more = f" and {len(unique) - most} more" if len(unique) > most else ""
    if len({place.file for place in places}) == 1 and all(place.line is not None for place in places):
        lines = ", ".join(str(place.line) for place in places)
        return f"{places[0].file} line{'s' * (len(unique) > 1)} {lines}{more}"
    return ", ".join(map(str, places)) + more


def coefficients(case: Case) -> list[dict[str, Any]]:
    """What maximum likelihood makes of each coefficient: one for each column, of K classes one for each class too."""
    result = case.result
    groups = [(result.classes[1], result.coefficients)] if len(result.classes) == 2 else result.coefficients.items()
    return [
        {"class": label, "column": None if column == INTERCEPT else name, "goes": goes}
        for label, group in groups
        for column, name, goes in zip(group, case.named(group), group.values(), strict=True)
    ]


def certificate(case: Case) -> dict[str, Any]:
    """The proof in the table's own units: rules, and rows that balance."""
    proof = case.result.certificate
    return {
        "kind": case.result.kind,
        "rules": _rules(case),
        "margin": float(proof.margin),
        "balance": _combination(case, proof.balance),
        "crossing": _combination(case, proof.crossing),
        "perturbation": float(proof.perturbation),
    }


def _rules(case: Case) -> list[dict[str, Any]] | None:
    """For each class its weights; of two classes those for which a positive score means the second."""
    proof, labels = case.result.certificate, case.result.classes
    if proof.weights is None:
        return None
    weights, intercepts = np.atleast_2d(proof.weights), np.atleast_1d(np.asarray(proof.intercept, float))
    owners = labels[1:] if len(labels) == 2 else labels
    return [
        {"class": label, "intercept": float(intercept), "weights": dict(zip(case.names, map(float, row), strict=True))}
        for label, row, intercept in zip(owners, weights, np.broadcast_to(intercepts, len(owners)), strict=True)
    ]


def _combination(case: Case, combination: Combination | None) -> list[dict[str, Any]] | None:
    """Signed rows and their multipliers; of two classes and with an intercept, two equal convex combinations."""
    if combination is None:
        return None
    labels = case.result.classes
    whole = combination.multipliers.sum() / 2 if len(labels) == 2 and case.result.fit_intercept else 1.0
    return [
        {**case.row(row), "class": labels[own], "other": labels[other], "multiplier": float(multiplier)}
        for row, own, other, multiplier in zip(
            combination.rows.tolist(), combination.own.tolist(), combination.other.tolist(),
            (combination.multipliers / whole).tolist(), strict=True,
        )
    ]  # fmt: skip


def listing(case: Case, proof: dict[str, Any]) -> str:
    """The kind, then the certificate: weights where something is separated, rows that cross where not all is."""
    parts = [case.result.kind]
    if proof["rules"] is not None:
        parts.append(_weights(proof["rules"]))
    if proof["crossing"] is not None:
        parts.append(_rows(proof["crossing"], len(case.result.classes) > 2))
    return "\n\n".join(parts)


def _weights(rules: list[dict[str, Any]]) -> str:
    """The weights in the order of the table; of many, the largest."""
    every = [
        (str(rule["class"]), name, weight)
        for rule in rules
        for name, weight in [*rule["weights"].items(), (INTERCEPT, rule["intercept"])]
    ]
    shown = every if len(every) <= MOST else sorted(every, key=lambda line: -abs(line[2]))[:MOST]
    lines = [(label, name, f"{weight:.6g}") for label, name, weight in shown]
    return _cut(laid_out(("class", "column", "weight"), lines, right=(2,)), len(every))


def _rows(crossing: list[dict[str, Any]], many: bool) -> str:
    """The rows that cross, class by class; of many classes with the class that each is compared with."""
    ordered = sorted(crossing, key=lambda each: (each["class"], each["row"]))
    lines = [
        (
            str(each["file"]),
            str(each["line"] or ""),
            str(each["class"]),
            *([str(each["other"])] if many else []),
            f"{each['multiplier']:.6g}",
        )
        for each in ordered
    ]
    header = ("file", "line", "class", *(["against"] if many else []), "multiplier")
    return _cut(laid_out(header, lines[:MOST], right=(1, len(header) - 1)), len(lines))


def _cut(text: str, count: int) -> str:
    return text if count <= MOST else f"{text}\n… and {count - MOST} more: --json or --output has all"
