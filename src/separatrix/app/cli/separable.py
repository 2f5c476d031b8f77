"""`separatrix separable`: whether the classes of a table can be separated, with a proof."""

from __future__ import annotations

import json
import shlex
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from ... import __version__
from ..tables.errors import Remedy, TableError
from .answer import DONE, NO, Answer
from .files import check_output, write_whole
from .options import READING, Reading, Talking
from .tables import decisions_of, labels_of, opened
from .typed_again import after, files_again, typed_again

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
    from .separable_words import certificate, coefficients, explained, listing

    if output is not None:
        check_output(output, data, "proof.json")
    with opened(data, reading, talking) as table:
        decisions = decisions_of(table, reading, target=target, weights=weights)
        case = _settle(table, decisions, target, weights, missing, intercept)
        proof = certificate(case)
        result, sentence = case.result, explained(case)
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
    from ...learners.geometry.separability import separability
    from ..tables.encoding import learn_encoding  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from .separable_words import Case, named_rows

    encoding = learn_encoding(table, decisions, missing=missing)
    X, y = encoding.matrix(table), labels_of(table, target)
    cost = None if weights is None else table.numbers(weights)
    try:
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
            Remedy("give it larger units in the file, or leave out", f"--drop {shlex.quote(column)}"),
            Remedy("or leave such rows out", f"--where {shlex.quote(f'abs({column}) < 1e15')}"),
        ],
    )


def _save(output: str, proof: dict[str, Any]) -> str:
    replaced = write_whole(output, json.dumps(proof, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    return f"The certificate is in {output}{', which was replaced' if replaced else ''}."


def _own(weights: str | None, missing: Missing) -> list[str]:
    return [*(["--weights", weights] if weights else []), *(["--missing", missing] if missing != "error" else [])]


def _next(data: tuple[str, ...], target: str, result: Any, same: list[str]) -> str:
    """A fit whose weights are finite."""
    finite = " --objective firth" if len(result.classes) == 2 else " --l2 0.01"
    settings = "" if result.kind == "overlap" else finite
    return f"separatrix fit {shlex.join(files_again(data))} --target {shlex.quote(target)}{settings}{after(same)}"
