"""`separatrix separable`: whether the classes of a table can be separated, with a proof."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ... import __version__
from ..files import check_path
from ..tables.errors import Remedy, TableError, in_sql
from .answer import DONE, NO, Answer, after, files_again, typed_again
from .console import table as text_table
from .console import write_file
from .options import READING, Reading, Talking
from .tables import decisions_of, opened

if TYPE_CHECKING:
    from ...results.separability import Combination, Separability

Missing = Literal["error", "impute"]


def separable(
    *data: str,
    target: Annotated[str, Parameter(group=READING)],
    weights: Annotated[str | None, Parameter(group=READING)] = None,
    missing: Annotated[Missing, Parameter(group=READING)] = "error",
    intercept: bool = True,
    output: Annotated[str | None, Parameter(name=["--output", "-o"])] = None,
    reading: Reading = Reading(),
    talking: Talking = Talking(),
) -> Answer:
    """Say whether the classes are linearly separable, and prove it.

    Exit status 0: separated, some rule puts every row on the side of its own class. Status 1: not, either
    quasi-separated (a rule errs on no row, but leaves some on its boundary) or overlapping; the first line on stdout
    says which. The certificate, weights in the table's own units or rows that balance, is checked with the table by
    separate code before it is printed.

    Parameters
    ----------
    data
        Files, or - for what is piped in.
    target
        The column with the classes.
    weights
        The column with the weight of each row: rows of weight 0 do not count.
    missing
        What is done about missing values: an error, or the mean or the most frequent level, with an indicator.
    intercept
        Whether the rule has an intercept.
    output
        Write the certificate to this file, as JSON.
    reading
        How the table is read.
    talking
        How the command talks.
    """
    if output is not None:
        check_path("output", output, data, "proof.json")
    with opened(data, reading, talking) as table:
        decisions = decisions_of(table, reading, target=target, weights=weights)
        case = _settle(table, decisions, target, weights, missing, intercept)
        proof = certificate(case)
        result, sentence = case.result, case_sentence(case)
        answer = {
            "command": "separable",
            "version": __version__,
            "kind": result.kind,
            "separable": result.kind == "separated",
            "verdict": {"status": result.kind, "sentence": sentence, "ok": result.kind == "separated"},
            "checked": True,
            "rows": table.rows,
            "classes": list(result.classes),
            "separated_rows": [case.row(row) for row in result.rows.tolist()] if result.kind != "separated" else None,
            "coefficients": coefficients(case),
            "aliased": list(case.named(result.rank.aliased)),
            "certificate": proof,
        }
        text = listing(case, proof)
    saved = _save(output, proof) if output is not None else ""
    return Answer(
        answer,
        text=text,
        words=f"{sentence} {saved}".strip(),
        next=_next(data, target, result, [*_own(weights, missing), *typed_again(reading, seed=talking.seed)]),
        status=DONE if result.kind == "separated" else NO,
    )


def _settle(
    table: Any, decisions: tuple[Any, ...], target: str, weights: str | None, missing: Missing, intercept: bool
) -> Any:
    """The answer, proved: a proof that does not hold is never told."""
    import numpy as np

    from ...learners.geometry.separability import separability
    from ..tables.encoding import learn_encoding  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from ..tasks.lesson import check_all_there
    from ..tasks.places import told_of_the_table

    encoding = learn_encoding(table, decisions, missing=missing)
    coded = table.coded(target)
    check_all_there(table, coded, target, "label")
    X, y = encoding.matrix(table), np.array(coded.levels, dtype=object)[coded.codes].astype(str)
    cost = None if weights is None else table.numbers(weights)
    names = [f"x{j}" for j in range(X.shape[1])]
    try:
        with told_of_the_table(table.place, encoding, decisions, names):
            result = separability(X, y, cost, fit_intercept=intercept)
    except ArithmeticError as error:
        raise _unproved(X, encoding) from error
    if not result.check(X, y, cost):
        raise _unproved(X, encoding)
    rows = named_rows(result)
    return Case(result, tuple(encoding.names), dict(zip(rows, table.places(rows), strict=True)))


def _unproved(X: Any, encoding: Any) -> TableError:
    """What was found does not hold in exact arithmetic: some number is so large that others are lost beside it."""
    size = abs(X).max(axis=0)
    j = int(size.argmax())
    column = next(each.name for each in encoding.columns if encoding.names[j] in each.features)
    return TableError(
        "whether the classes are separated cannot be proved: what was found does not hold in exact arithmetic",
        column=column,
        because=f"Its numbers reach {size[j]:.3g}, beside which small differences are lost to rounding.",
        remedies=[
            Remedy("give it larger units in the file, or leave out", "drop", (column,)),
            Remedy("or leave such rows out", "where", f"abs({in_sql(column)}) < 1e15"),
        ],
    )


def _save(output: str, proof: dict[str, Any]) -> str:
    replaced = write_file(output, json.dumps(proof, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    return f"The certificate is in {output}{', which was replaced' if replaced else ''}."


def _own(weights: str | None, missing: Missing) -> list[str]:
    return [*(["--weights", weights] if weights else []), *(["--missing", missing] if missing != "error" else [])]


def _next(data: tuple[str, ...], target: str, result: Any, same: list[str]) -> str:
    """A fit whose weights are finite."""
    finite = " --objective firth" if len(result.classes) == 2 else " --l2 0.01"
    settings = "" if result.kind == "overlap" else finite
    return f"separatrix fit {shlex.join(files_again(data))} --target {shlex.quote(target)}{settings}{after(same)}"


# --------------------------------------------------------------------------------------------------- what it says

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
    import numpy as np

    if result.kind == "separated":
        return []
    balances = [each.rows for each in (result.certificate.balance, result.certificate.crossing) if each is not None]
    return [int(row) for row in np.unique(np.concatenate([result.rows, result.partly, *balances]))]


def case_sentence(case: Case) -> str:
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
    from ...results.separability import INTERCEPT

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
    import numpy as np

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
    from ...results.separability import INTERCEPT

    every = [
        (str(rule["class"]), name, weight)
        for rule in rules
        for name, weight in [*rule["weights"].items(), (INTERCEPT, rule["intercept"])]
    ]
    shown = every if len(every) <= MOST else sorted(every, key=lambda line: -abs(line[2]))[:MOST]
    lines = [(label, name, f"{weight:.6g}") for label, name, weight in shown]
    return _cut(text_table(("class", "column", "weight"), lines, right=(2,)), len(every))


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
    return _cut(text_table(header, lines[:MOST], right=(1, len(header) - 1)), len(lines))


def _cut(text: str, count: int) -> str:
    return text if count <= MOST else f"{text}\n… and {count - MOST} more: --json or --output has all"
