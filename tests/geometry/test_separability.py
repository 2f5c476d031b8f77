"""How classes lie to each other: by an exact referee, under what must not matter, on known tables and bad input."""

import dataclasses
import json
import pickle
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from places import SHARED
from rarely import some_of
from referees.reference_data import lizards
from referees.separation import (
    INTERCEPT,
    Answer,
    Problem,
    balances,
    independent_columns,
    rank,
    separation,
    separation_by_highs,
    signed_rows,
    small_problem,
    with_ones,
)
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

needs_shared_data = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of reference data is not here")

FINITE, UP, DOWN, EITHER = "finite", "+inf", "-inf", "undetermined"
OTHER_SIGN = {FINITE: FINITE, UP: DOWN, DOWN: UP, EITHER: EITHER}
KINDS = ("separated", "quasi-separated", "overlap")


def separability(X: Any, y: Any, sample_weight: Any = None, **settings: Any) -> Any:
    import separatrix

    return separatrix.separability(X, y, sample_weight, **settings)


def table(name: str) -> Any:
    return pd.read_csv(SHARED / "separation" / f"{name}.csv")


def alligators() -> tuple[Any, Any, Any]:
    """Size and lake; the food, Fish as the last class; the counts."""
    rows = table("alligators")
    X = pd.DataFrame({"size<=2.3": rows["size"] == "<=2.3"} | {f"lake{k}": rows["lake"] == k for k in LAKES}).astype(
        int
    )
    return X, rows["foodchoice"].replace({"Fish": "fish"}), rows["freq"].to_numpy()


LAKES = ("Hancock", "Oklawaha", "Trafford")
"""George is the level they are compared with."""


# ------------------------------------------------------------------------------------- what the result must say


def by_name(coefficients: Any, columns: Any) -> Any:
    return {name if name == INTERCEPT else columns[name]: status for name, status in coefficients.items()}


def named(answer: Answer, columns: Any, classes: Any) -> Any:
    """The referee's coefficients with the names of columns and classes."""
    if len(classes) == 2:
        return by_name(answer.coefficients, columns)
    return {classes[k]: by_name(each, columns) for k, each in answer.coefficients.items()}


def plainly(coefficients: Any) -> Any:
    """Mappings of any kind as dictionaries, to be compared."""
    return {name: each if isinstance(each, str) else dict(each) for name, each in coefficients.items()}


def differences(result: Any, answer: Answer, columns: Any = None, classes: Any = None) -> list[str]:
    """What a result says and the referee does not; empty if they agree."""
    classes = range(len(answer.coefficients) + 1 if _is_nested(answer) else 2) if classes is None else classes
    columns = [f"x{j}" for j in range(len(result.columns))] if columns is None else columns
    pairs = {
        "kind": (result.kind, answer.kind),
        "rows": (list(result.rows), list(answer.rows)),
        "partly": (list(result.partly), list(answer.partly)),
        "coefficients": (plainly(result.coefficients), named(answer, columns, classes)),
        "aliased": (list(result.rank.aliased), [columns[j] for j in answer.aliased]),
        "rank": (result.rank.of - result.rank.rank, len(answer.aliased)),
        "classes": (list(result.classes), list(classes)),
        "columns": (list(result.columns), list(columns)),
    }
    return [f"{name}: {said}, not {known}" for name, (said, known) in pairs.items() if said != known]


def _is_nested(answer: Answer) -> bool:
    return not isinstance(next(iter(answer.coefficients.values())), str)


def ask(problem: Problem, **changes: Any) -> Any:
    problem = problem._replace(**changes)
    return separability(problem.X, problem.y, problem.weight, fit_intercept=problem.fit_intercept)


def faults_of_proof(result: Any, problem: Problem, answer: Answer) -> list[str]:
    """What the certificate does not prove, judged in whole and rational numbers."""
    proof, K, y = result.certificate, problem.classes, problem.y
    Z = with_ones(np.asarray(problem.X, dtype=np.int64), problem.fit_intercept)
    counts = np.arange(len(y)) if problem.weight is None else np.flatnonzero(problem.weight > 0)
    signed = signed_rows(Z, y, K, counts)
    part = np.array([pair in answer.pairs for pair in zip(signed.row, signed.other, strict=True)])
    vectors = dict(zip(zip(signed.row, signed.other, strict=True), signed.vectors, strict=True))
    faults = [
        name
        for name, there, needed in (
            ("weights", proof.weights is not None, answer.kind != "overlap"),
            ("balance", proof.balance is not None, answer.kind != "separated"),
            ("crossing", proof.crossing is not None, answer.kind != "separated"),
        )
        if there != needed
    ]
    if faults:
        return faults
    if not 0 <= proof.perturbation < 1e-14:
        faults.append(f"perturbation {proof.perturbation}")
    if proof.weights is not None:
        rule = rule_of(proof.weights, proof.intercept, problem)
        exact = [sum(int(a) * Fraction(b) for a, b in zip(row, rule, strict=True)) for row in signed.vectors]
        size = np.abs(signed.vectors).sum(axis=1) * np.abs(rule).max()
        if any(value <= 0 for value, is_so in zip(exact, part, strict=True) if is_so):
            faults.append("weights: not positive on what is separated")
        if any(abs(v) > 1e-13 * s for v, s, is_so in zip(exact, size, part, strict=True) if not is_so):
            faults.append("weights: not zero on what is not separated")
        if K == 2:
            nearest = min(float(v) for v, is_so in zip(exact, part, strict=True) if is_so)
            if proof.margin != pytest.approx(nearest / np.linalg.norm(proof.weights), rel=1e-9):
                faults.append(f"margin {proof.margin}")
    elif proof.margin != 0:
        faults.append(f"margin {proof.margin}")
    for name in ("balance", "crossing"):
        rows = getattr(proof, name)
        if rows is None:
            continue
        where = list(zip(map(int, rows.rows), map(int, rows.other), strict=True))
        if any(vectors.get(pair) is None or pair in answer.pairs for pair in where):
            faults.append(f"{name}: a signed row that is separated, or none")
            continue
        if list(rows.own) != [y[i] for i, _ in where] or len(set(where)) != len(where) or len(rows) != len(where):
            faults.append(f"{name}: rows and classes")
        A = np.array([vectors[pair] for pair in where])
        if not (np.asarray(rows.multipliers) > 0).all() or not balances(A):
            faults.append(f"{name}: no positive multipliers balance")
        if (np.abs(rows.multipliers @ A) > 1e-12 * (rows.multipliers @ np.abs(A))).any():
            faults.append(f"{name}: multipliers do not balance")
        if name == "balance" and rank(A) != rank(signed.vectors[~part]):
            faults.append("balance: does not span")
        if name == "crossing" and len(where) > signed.vectors.shape[1] + 1:
            faults.append(f"crossing: {len(where)} signed rows")
    return faults + faults_of_directions(proof.directions, signed.vectors[~part], problem, answer)


def rule_of(weights: Any, intercept: Any, problem: Problem) -> Any:
    """Weights and intercept as the signed rows take them: the intercept first, one class at zero."""
    W = np.atleast_2d(weights)
    b = np.atleast_1d(np.asarray(intercept, dtype=float))
    W = np.column_stack([b, W]) if problem.fit_intercept else W
    if problem.classes == 2:
        return W[0]
    assert not W[-1].any()
    return W[:-1].ravel()


def faults_of_directions(directions: Any, still: Any, problem: Problem, answer: Answer) -> list[str]:
    if answer.kind != "quasi-separated":
        return [] if len(directions) == 0 else ["directions: not empty"]
    d, K = problem.X.shape[1], problem.classes
    counts = np.arange(len(problem.y)) if problem.weight is None else np.flatnonzero(problem.weight > 0)
    Z = with_ones(problem.X, problem.fit_intercept)[counts]
    free = (K - 1) * len(independent_columns(Z)) - rank(still)
    D = np.asarray(directions).reshape(len(directions), -1 if K == 2 else K, np.asarray(directions).shape[-1])
    if len(D) != free:
        return [f"directions: {len(D)}, not {free}"]
    flat = np.array([rule_of(v[..., :d], v[..., d:].ravel(), problem) for v in D])
    faults = []
    if np.linalg.matrix_rank(flat) < free:
        faults.append("directions: dependent")
    if (
        len(still)
        and (np.abs(flat @ still.T) > 1e-12 * np.outer(np.abs(flat).max(axis=1), np.abs(still).sum(axis=1))).any()
    ):
        faults.append("directions: not zero on what is not separated")
    if answer.aliased and D[..., list(answer.aliased)].any():
        faults.append("directions: not zero for a column that was left out")
    return faults


def agree(seeds: Any, judge: Callable[[int], list[str]]) -> None:
    wrong = {seed: found for seed in seeds if (found := judge(seed))}
    assert not wrong, f"{len(wrong)} of {len(seeds)}; the first: {next(iter(wrong.items()))}; seeds {list(wrong)}"


# ------------------------------------------------------------------------------------------ against the referee

CHUNKS = some_of([range(start, start + 50) for start in range(0, 2000, 50)], 4)


@pytest.mark.parametrize("seeds", CHUNKS, ids=str)
def test_small_problems_are_answered_as_by_the_referee(seeds):
    def judge(seed):
        problem = small_problem(seed)
        answer, result = problem.answer, ask(problem)
        found = differences(result, answer)
        return found or ([] if result.check(problem.X, problem.y, problem.weight) else ["check is False"])

    agree(seeds, judge)


@pytest.mark.parametrize("seeds", CHUNKS[:16], ids=str)
def test_what_proves_the_answer_does_so_exactly(seeds):
    def judge(seed):
        problem = small_problem(seed)
        return faults_of_proof(ask(problem), problem, problem.answer)

    agree(seeds, judge)


@pytest.mark.parametrize("seeds", CHUNKS[:6], ids=str)
def test_a_check_fails_wherever_the_truth_is_another(seeds):
    """One label changed, or one cell: where the referee's answer is another one, the old proof must not hold."""

    def judge(seed):
        rng = np.random.default_rng(seed)
        problem = small_problem(seed)
        answer, result = problem.answer, ask(problem)
        i, j = rng.integers(len(problem.y)), rng.integers(problem.X.shape[1])
        y, X = problem.y.copy(), problem.X.copy()
        y[i] = (y[i] + 1) % problem.classes
        X[i, j] += rng.choice([-9, 9])
        faults = []
        for name, tampered in (("label", problem._replace(y=y)), ("cell", problem._replace(X=X))):
            counts = np.ones(len(y), bool) if problem.weight is None else problem.weight > 0
            if set(tampered.y[counts].tolist()) != set(range(problem.classes)):
                continue
            truth = tampered.answer
            same = (truth.kind, truth.rows, truth.partly) == (answer.kind, answer.rows, answer.partly)
            if not same and result.check(tampered.X, tampered.y, tampered.weight):
                faults.append(f"another {name} of row {i} passes")
        return faults

    agree(seeds, judge)


@pytest.mark.parametrize("seeds", CHUNKS[:4], ids=str)
def test_a_claim_that_is_not_so_fails_its_check(seeds):
    def judge(seed):
        problem = small_problem(seed)
        result = ask(problem)
        everything = np.arange(len(problem.y)) if problem.weight is None else np.flatnonzero(problem.weight > 0)
        claims = [{"kind": kind} for kind in KINDS if kind != result.kind]
        if len(result.rows):
            claims.append({"rows": result.rows[1:], "row_names": result.row_names[1:]})
        if result.kind == "quasi-separated" and len(result.rows) < len(everything):
            claims.append({"rows": everything, "row_names": tuple(everything.tolist())})
        false = [dataclasses.replace(result, **claim) for claim in claims]
        passed = [each.check(problem.X, problem.y, problem.weight) for each in false]
        return [f"{claim} passes" for claim, is_so in zip(claims, passed, strict=True) if is_so]

    agree(seeds, judge)


# ---------------------------------------------------------------------------------------- what must not matter


def law(change: Callable[[Problem, Any], tuple[Problem, Answer]], seeds: Any) -> None:
    """`change` gives the changed problem and what must be answered to it."""

    def judge(seed):
        problem, answer = change(small_problem(seed), np.random.default_rng(seed))
        result = ask(problem)
        found = differences(result, answer)
        return found or ([] if result.check(problem.X, problem.y, problem.weight) else ["check is False"])

    agree(seeds, judge)


SOME = some_of([range(3000, 3075), range(3075, 3150)], 2)


@pytest.mark.parametrize("seeds", SOME, ids=str)
@pytest.mark.parametrize("base", [10.0, 2.0])
def test_the_scales_of_columns_do_not_matter(seeds, base):
    def change(problem, rng):
        scale = base ** rng.integers(-6, 7, size=problem.X.shape[1]) * (1 if base == 10 else 2.0**-10)
        return problem._replace(X=problem.X * scale), problem.answer

    law(change, seeds)


@pytest.mark.parametrize("seeds", SOME, ids=str)
def test_the_sign_of_a_column_is_the_sign_of_its_infinity(seeds):
    def change(problem, rng):
        sign = rng.choice([-1, 1], size=problem.X.shape[1])
        turn = {j: OTHER_SIGN if s < 0 else {k: k for k in OTHER_SIGN} for j, s in enumerate(sign)}
        turned = reworded(problem.answer, lambda name, status: turn[name][status] if name != INTERCEPT else status)
        return problem._replace(X=problem.X * sign), turned

    law(change, seeds)


def reworded(answer: Answer, word: Callable[[Any, str], str]) -> Answer:
    def of(block):
        return {name: word(name, status) for name, status in block.items()}

    blocks = answer.coefficients
    changed = {k: of(block) for k, block in blocks.items()} if _is_nested(answer) else of(blocks)
    return answer._replace(coefficients=changed)


@pytest.mark.parametrize("seeds", SOME, ids=str)
def test_offsets_of_columns_move_the_intercept_only(seeds):
    def judge(seed):
        problem = small_problem(seed)._replace(fit_intercept=True)
        offset = np.random.default_rng(seed).choice([-(10**6), -7, 3, 10**4], size=problem.X.shape[1])
        answer, result = problem.answer, ask(problem, X=problem.X + offset)
        keep = {"word": lambda name, status: None if name == INTERCEPT else status}
        said = answer._replace(coefficients=plainly_from(result, problem.classes))
        return [
            f"{said}, not {answer}"
            for known, said in [(reworded(answer, **keep), reworded(said, **keep))]
            if (known.coefficients, known.kind, known.rows, known.partly)
            != (said.coefficients, result.kind, tuple(result.rows.tolist()), tuple(result.partly.tolist()))
        ]

    agree(seeds, judge)


def plainly_from(result: Any, classes: int) -> Any:
    """A result's coefficients by column numbers, as the referee has them."""
    number = {name: j for j, name in enumerate(result.columns)} | {INTERCEPT: INTERCEPT}
    blocks = plainly(result.coefficients)
    if classes == 2:
        return {number[name]: status for name, status in blocks.items()}
    return {k: {number[name]: status for name, status in block.items()} for k, block in blocks.items()}


@pytest.mark.parametrize("seeds", SOME, ids=str)
def test_other_columns_of_the_same_span_leave_kind_and_rows_alone(seeds):
    def judge(seed):
        problem, rng = small_problem(seed), np.random.default_rng(seed)
        d = problem.X.shape[1]
        mixed = problem.X @ (np.tril(rng.integers(-1, 2, size=(d, d)), -1) + np.eye(d, dtype=int))
        answer, result = problem.answer, ask(problem, X=mixed[:, ::-1])
        said = (result.kind, tuple(result.rows.tolist()), tuple(result.partly.tolist()))
        known = (answer.kind, answer.rows, answer.partly)
        return [] if said == known else [f"{said}, not {known}"]

    agree(seeds, judge)


@pytest.mark.parametrize("seeds", SOME, ids=str)
def test_rows_may_come_again(seeds):
    def change(problem, rng):
        source = np.r_[np.arange(len(problem.y)), rng.integers(len(problem.y), size=5)]
        answer = problem.answer
        moved = answer._replace(
            rows=tuple(np.flatnonzero(np.isin(source, answer.rows))),
            partly=tuple(np.flatnonzero(np.isin(source, answer.partly))),
        )
        return taken(problem, source), moved

    law(change, seeds)


def taken(problem: Problem, source: Any) -> Problem:
    weight = None if problem.weight is None else problem.weight[source]
    return problem._replace(X=problem.X[source], y=problem.y[source], weight=weight)


@pytest.mark.parametrize("seeds", SOME, ids=str)
def test_the_order_of_rows_does_not_matter(seeds):
    def change(problem, rng):
        source = rng.permutation(len(problem.y))
        place = np.argsort(source)
        answer = problem.answer
        moved = answer._replace(
            rows=tuple(sorted(place[list(answer.rows)])), partly=tuple(sorted(place[list(answer.partly)]))
        )
        return taken(problem, source), moved

    law(change, seeds)


@pytest.mark.parametrize("seeds", SOME, ids=str)
def test_swapped_labels_turn_every_sign(seeds):
    def judge(seed):
        problem = small_problem(seed, classes=2)
        swapped = problem._replace(y=1 - problem.y)
        return differences(ask(swapped), reworded(problem.answer, lambda _, status: OTHER_SIGN[status]))

    agree(seeds, judge)


@pytest.mark.parametrize("seeds", SOME, ids=str)
def test_without_intercept_rows_may_be_stretched(seeds):
    def change(problem, rng):
        problem = problem._replace(fit_intercept=False)
        return problem._replace(X=problem.X * rng.integers(1, 8, size=(len(problem.y), 1))), problem.answer

    law(change, seeds)


@pytest.mark.parametrize("seeds", SOME, ids=str)
def test_weights_matter_only_where_they_are_zero(seeds):
    def change(problem, rng):
        weight = np.ones(len(problem.y)) if problem.weight is None else problem.weight
        return problem._replace(weight=weight * 10.0 ** rng.integers(-6, 7, size=len(problem.y))), problem.answer

    law(change, seeds)


FORMS: dict[str, Callable[[Any], Any]] = {
    "whole numbers": np.asarray,
    "single precision": lambda X: X.astype(np.float32),
    "Fortran's order": lambda X: np.asfortranarray(X, dtype=float),
    "every other column of a larger table": lambda X: np.repeat(X, 2, axis=1).astype(float)[:, ::2],
    "read-only": lambda X: _read_only(X.astype(float)),
    "lists": lambda X: X.tolist(),
    "small integers": lambda X: X.astype(np.int8),
}


def _read_only(X: Any) -> Any:
    X.flags.writeable = False
    return X


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_form_of_the_table_does_not_matter(form):
    law(lambda problem, _: (problem, problem.answer), range(3000, 3002))

    def judge(seed):
        problem = small_problem(seed)
        return differences(ask(problem, X=form(problem.X)), problem.answer)

    agree(range(3000, 3040), judge)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_the_names_of_a_frame_are_used(frame):
    def judge(seed):
        problem = small_problem(seed)
        names = ["age", "dose", "mass"][: problem.X.shape[1]]
        y = np.array(["ash", "beech", "cedar"])[problem.y]
        X = frame(dict(zip(names, problem.X.T, strict=True)))
        result = ask(problem, X=X, y=y)
        found = differences(result, problem.answer, names, ["ash", "beech", "cedar"][: problem.classes])
        return found or ([] if result.check(X, y, problem.weight) else ["check is False"])

    agree(range(3000, 3040), judge)


def test_the_index_of_a_frame_names_the_rows():
    X = pd.DataFrame({"dose": [-1.0, 0.0, 0.0, 1.0]}, index=["Ann", "Bob", "Cy", "Dee"])
    result = separability(X, pd.Series([0, 0, 1, 1], index=X.index))
    assert result.rows.tolist() == [0, 3]
    assert result.row_names == ("Ann", "Dee")
    assert result.check(X, [0, 0, 1, 1])


def test_without_an_index_rows_are_numbers():
    assert separability([[-1.0], [0.0], [0.0], [1.0]], [0, 0, 1, 1]).row_names == (0, 3)


def test_the_data_are_left_as_they_are():
    X, y, weight = np.array([[3e6, 1e-6], [2.0, 5.0], [-4.0, 7.0]]), np.array([0, 1, 0]), np.array([1.0, 2.0, 0.0])
    copies = X.copy(), y.copy(), weight.copy()
    separability(X, y, weight).check(X, y, weight)
    for now, before in zip((X, y, weight), copies, strict=True):
        assert (now == before).all()


# -------------------------------------------------------------------------------------------------- by hand


def test_a_tie_at_zero():
    result = separability([[-1], [0], [0], [1]], [0, 0, 1, 1])
    assert result.kind == "quasi-separated"
    assert result.rows.tolist() == [0, 3]
    assert result.partly.tolist() == []
    assert plainly(result.coefficients) == {"x0": UP, INTERCEPT: FINITE}


@pytest.mark.parametrize("exponent", range(-8, 9))
def test_six_rows_at_any_scale(exponent):
    X, y = np.arange(1.0, 7)[:, None] * 10.0**exponent, np.array([0, 0, 0, 1, 1, 1])
    result = separability(X, y)
    assert result.kind == "separated"
    assert result.rows.tolist() == list(range(6))
    assert plainly(result.coefficients) == {"x0": UP, INTERCEPT: DOWN}
    assert result.check(X, y)
    assert result.certificate.margin > 0


@pytest.mark.parametrize("exponent", [-8, 0, 8])
@pytest.mark.parametrize("offset", [-1e12, -1e6, -5, -4, -3.5, -3, 10, 1e3, 1e6, 1e8, 1e12])
def test_six_rows_at_any_offset(offset, exponent):
    """The boundary lies between 3 and 4, offset included; the intercept is infinite to the other side of it."""
    X, y = (np.arange(1.0, 7)[:, None] + offset) * 10.0**exponent, np.array([0, 0, 0, 1, 1, 1])
    result = separability(X, y)
    assert result.kind == "separated"
    intercept = DOWN if offset >= -3 else UP if offset <= -4 else EITHER
    assert plainly(result.coefficients) == {"x0": UP, INTERCEPT: intercept}
    assert result.check(X, y)


@pytest.mark.parametrize("exponent", range(-8, 9, 2))
@pytest.mark.parametrize("offset", [-1e6, -3, 0, 1e6])
def test_rows_that_touch_at_any_scale_and_offset(exponent, offset):
    X, y = (np.array([1.0, 2, 3, 3, 4, 5])[:, None] + offset) * 10.0**exponent, np.array([0, 0, 0, 1, 1, 1])
    result = separability(X, y)
    assert result.kind == "quasi-separated"
    assert result.rows.tolist() == [0, 1, 4, 5]
    intercept = {-3: FINITE, -1e6: UP}.get(offset, DOWN)
    assert plainly(result.coefficients) == {"x0": UP, INTERCEPT: intercept}
    assert result.check(X, y)


@pytest.mark.parametrize("exponent", range(-8, 9, 2))
def test_rows_that_overlap_at_any_scale(exponent):
    X, y = np.array([1.0, 2, 4, 3, 5, 6])[:, None] * 10.0**exponent, np.array([0, 0, 0, 1, 1, 1])
    result = separability(X, y)
    assert result.kind == "overlap"
    assert result.rows.tolist() == []
    assert plainly(result.coefficients) == {"x0": FINITE, INTERCEPT: FINITE}
    assert result.check(X, y)


def test_a_gap_of_one_unit_in_the_last_place_is_no_overlap_and_no_error():
    """Too near to be told from a tie: either answer is honest if it proves itself or says by how much it is off."""
    X, y = np.array([[0.0], [1.0], [np.nextafter(1, 2)], [3.0]]), [0, 0, 1, 1]
    result = separability(X, y)
    assert result.kind in ("separated", "quasi-separated")
    assert result.kind == "separated" or result.certificate.perturbation > 0
    assert result.check(X, y)


def test_two_signed_rows_make_both_coefficients_infinite():
    """Signed rows (1, 0) and (−1, 1): a programme in a box calls the first coefficient finite."""
    result = separability([[1, 0], [1, -1]], [1, 0], fit_intercept=False)
    assert result.kind == "separated"
    assert plainly(result.coefficients) == {"x0": UP, "x1": UP}


@pytest.mark.parametrize("d", [2, 3, 4])
def test_parity_overlaps(d):
    X = np.array(list(product([0, 1], repeat=d)))
    y = X.sum(axis=1) % 2
    result = separability(X, y)
    assert result.kind == "overlap"
    assert set(result.coefficients.values()) == {FINITE}
    assert len(result.certificate.crossing) <= d + 2
    assert result.check(X, y)


@pytest.mark.parametrize("labels", [[0, 0, 0, 1], [0, 1, 1, 1]], ids=["and", "or"])
def test_and_and_or_are_separated(labels):
    X = np.array(list(product([0, 1], repeat=2)))
    result = separability(X, labels)
    assert result.kind == "separated"
    assert plainly(result.coefficients) == {"x0": UP, "x1": UP, INTERCEPT: DOWN}
    assert result.check(X, labels)


def test_fewer_rows_than_columns():
    X, y = np.array([[1, 2, 0, 5, 1, 3], [0, 1, 1, 2, 2, 1], [2, 2, 1, 0, 3, 1]]), [0, 1, 0]
    result = separability(X, y)
    assert result.kind == "separated"
    assert (result.rank.rank, result.rank.of) == (3, 7)
    assert not differences(result, separation(X, y))
    assert result.check(X, y)


def test_fewer_rows_than_columns_with_the_same_row_twice():
    X, y = np.array([[1, 2, 0, 5], [0, 1, 1, 2], [0, 1, 1, 2]]), [0, 1, 0]
    result = separability(X, y)
    assert result.kind == "quasi-separated"
    assert result.rows.tolist() == [0]
    assert not differences(result, separation(X, y))


def test_a_constant_column_is_the_intercept_once_more():
    X = [[7, -1], [7, 0], [7, 0], [7, 1]]
    result = separability(X, [0, 0, 1, 1])
    assert plainly(result.coefficients) == {"x0": EITHER, "x1": UP, INTERCEPT: FINITE}
    assert result.rank.aliased == ("x0",)
    without = separability(X, [0, 0, 1, 1], fit_intercept=False)
    assert plainly(without.coefficients) == {"x0": FINITE, "x1": UP}
    assert without.rank.aliased == ()


def test_a_row_of_zeros():
    X, y = [[0], [1], [-1]], [1, 1, 0]
    without = separability(X, y, fit_intercept=False)
    assert (without.kind, without.rows.tolist()) == ("quasi-separated", [1, 2])
    assert plainly(without.coefficients) == {"x0": UP}
    assert len(without.certificate.crossing) == 1
    assert without.check(X, y)
    result = separability(X, y)
    assert (result.kind, result.rows.tolist()) == ("separated", [0, 1, 2])


def test_nothing_but_zeros():
    result = separability(np.zeros((4, 2)), [0, 1, 0, 1])
    assert result.kind == "overlap"
    assert plainly(result.coefficients) == {"x0": EITHER, "x1": EITHER, INTERCEPT: FINITE}
    assert result.check(np.zeros((4, 2)), [0, 1, 0, 1])


def test_a_row_with_both_labels():
    X, y = [[1, 1], [1, 1], [0, 2], [3, 1]], [0, 1, 0, 1]
    result = separability(X, y)
    assert result.kind == "quasi-separated"
    assert result.rows.tolist() == [2, 3]
    assert not differences(result, separation(X, y))
    assert len(result.certificate.crossing) == 2


def test_three_classes_of_which_one_stands_apart():
    X, y = np.array([0, 1, 4, 5, 5, 6])[:, None], ["a", "a", "b", "c", "b", "b"]
    result = separability(X, y)
    assert result.kind == "quasi-separated"
    assert (result.rows.tolist(), result.partly.tolist()) == ([0, 1], [2, 3, 4, 5])
    assert plainly(result.coefficients) == {"a": {"x0": DOWN, INTERCEPT: UP}, "b": {"x0": FINITE, INTERCEPT: FINITE}}


# ------------------------------------------------------------------------------------------------ known tables

ENDOMETRIAL = {"NV": UP, "PI": FINITE, "EH": FINITE, INTERCEPT: FINITE}


@needs_shared_data
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_endometrial(scale):
    """detectseparation: 0, Inf, 0, 0. The rows that are separated are the thirteen with NV."""
    rows = table("endometrial")
    X, y = rows[["NV", "PI", "EH"]] * scale, rows["HG"]
    result = separability(X, y)
    assert result.kind == "quasi-separated"
    assert plainly(result.coefficients) == ENDOMETRIAL
    assert result.rows.tolist() == np.flatnonzero(rows["NV"] == 1).tolist()
    assert len(result.rows) == 13
    assert result.check(X, y)


@needs_shared_data
def test_endometrial_without_intercept():
    rows = table("endometrial")
    result = separability(rows[["NV", "PI", "EH"]], rows["HG"], fit_intercept=False)
    assert plainly(result.coefficients) == {"NV": UP, "PI": FINITE, "EH": FINITE}


@needs_shared_data
def test_endometrial_with_columns_that_depend_on_others():
    rows = table("endometrial")
    y = rows["HG"]
    turned = separability(rows[["NV", "PI", "EH"]].assign(NV=-rows["NV"]), y)
    assert plainly(turned.coefficients) == {**ENDOMETRIAL, "NV": DOWN}
    both = separability(pd.DataFrame({"I(-NV)": -rows["NV"]}).join(rows[["NV", "PI", "EH"]]), y)
    assert plainly(both.coefficients) == {**ENDOMETRIAL, "I(-NV)": DOWN, "NV": EITHER}
    assert both.rank.aliased == ("NV",)
    twice = separability(rows[["NV", "PI"]].assign(copy=rows["PI"], EH=rows["EH"]), y)
    assert plainly(twice.coefficients) == {**ENDOMETRIAL, "copy": EITHER}
    assert twice.rank.aliased == ("copy",)
    combined = separability(rows[["NV", "PI", "EH"]].assign(sum=rows["NV"] + rows["PI"] - 3), y)
    assert plainly(combined.coefficients) == {**ENDOMETRIAL, "sum": EITHER}


@needs_shared_data
def test_sex2():
    rows = table("sex2")
    X, y = rows.drop(columns="case"), rows["case"]
    result = separability(X, y)
    assert result.kind == "quasi-separated"
    assert plainly(result.coefficients) == {**dict.fromkeys([INTERCEPT, *X.columns], FINITE), "dia": UP}
    assert result.rows.tolist() == [40, 85, 86, 87, 103, 119, 121] == np.flatnonzero(X["dia"] == 1).tolist()
    assert result.check(X, y)


@needs_shared_data
def test_silvapulle():
    """Cases have 2 points or more, the others 2 or less: all but those two rows are separated."""
    rows = table("silvapulle1981")
    result = separability(rows[["ghqs"]], rows["y"])
    assert result.kind == "quasi-separated"
    assert plainly(result.coefficients) == {"ghqs": UP, INTERCEPT: DOWN}
    assert sorted(set(range(35)) - set(result.rows.tolist())) == [0, 34]
    assert sorted(result.certificate.crossing.rows.tolist()) == [0, 34]
    assert result.check(rows[["ghqs"]], rows["y"])


def test_lizards():
    X, y, *_, cost = lizards()
    assert (cost == 0).sum() == 4
    result = separability(X, y, cost)
    assert result.kind == "overlap"
    assert set(result.coefficients.values()) == {FINITE}
    assert result.check(X, y, cost)


@needs_shared_data
def test_alligators():
    X, y, freq = alligators()
    result = separability(X, y, freq)
    assert result.kind == "overlap"
    assert all(set(block.values()) == {FINITE} for block in result.coefficients.values())
    assert result.check(X, y, freq)


@needs_shared_data
def test_a_third_of_the_alligators():
    """brglm2: of Reptile all but the size is infinite, of Bird lake Oklawaha; here relative to fish, the last class."""
    X, y, freq = alligators()
    weight = np.round(freq / 3)
    result = separability(X, y, weight)
    assert result.kind == "quasi-separated"
    assert result.classes == ("Bird", "Invertebrate", "Other", "Reptile", "fish")
    finite = dict.fromkeys([INTERCEPT, *X.columns], FINITE)
    assert plainly(result.coefficients) == {
        "Bird": {**finite, "lakeOklawaha": DOWN},
        "Invertebrate": finite,
        "Other": finite,
        "Reptile": {**dict.fromkeys(finite, UP), INTERCEPT: DOWN, "size<=2.3": FINITE},
    }
    assert result.rows.tolist() == []
    some = [20, 21, 25, 26, 27, 30, 31, 34, 60, 61, 63, 64, 65, 69, 70, 71, 75]
    assert result.partly.tolist() == some
    assert result.check(X, y, weight)
    assert not result.check(X, y, freq)


@needs_shared_data
def test_a_third_of_the_alligators_relative_to_reptiles():
    X, y, freq = alligators()
    result = separability(X, y.replace({"fish": "Fish"}), np.round(freq / 3))
    each = {**dict.fromkeys(X.columns, DOWN), INTERCEPT: UP, "size<=2.3": FINITE}
    assert plainly(result.coefficients) == dict.fromkeys(["Bird", "Fish", "Invertebrate", "Other"], each)


def test_iris():
    """setosa stands apart; the other two overlap."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    result = separability(X, names)
    assert result.kind == "quasi-separated"
    assert result.rows.tolist() == list(range(50))
    assert result.partly.tolist() == list(range(50, 150))
    columns = [INTERCEPT, *X.columns]
    assert plainly(result.coefficients) == {
        "setosa": dict.fromkeys(columns, EITHER),
        "versicolor": dict.fromkeys(columns, FINITE),
    }
    assert result.check(X, names)
    assert separability(X[50:], y[50:]).kind == "overlap"
    assert separability(X, y > 0).kind == "separated"


BREAST_CANCER = dict.fromkeys((3, 15, 17, 28, 29), DOWN) | dict.fromkeys((5, 8, 16, 18, 19), UP)
"""The signs that every separating rule shares, each proved by 31 rows in rational numbers; the others have none."""


def test_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    result = separability(X, y)
    assert result.kind == "separated"
    assert len(result.rows) == 569
    known = {f"x{j}": BREAST_CANCER.get(j, EITHER) for j in range(30)} | {INTERCEPT: EITHER}
    assert plainly(result.coefficients) == known
    assert result.check(X, y)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine], ids=["breast cancer", "wine"])
def test_tables_of_scikit_learn_are_answered_as_by_highs(load):
    X, y = load(return_X_y=True)
    K = len(np.unique(y))
    assert not differences(separability(X, y), separation_by_highs(X, y, classes=K))


@pytest.mark.parametrize("columns", [3, 6, 10])
def test_some_columns_of_breast_cancer_are_answered_as_by_highs(columns):
    X, y = load_breast_cancer(return_X_y=True)
    result = separability(X[:, :columns], y)
    assert not differences(result, separation_by_highs(X[:, :columns], y))
    assert result.check(X[:, :columns], y)


@pytest.mark.slow
def test_digits():
    X, y = load_digits(return_X_y=True)
    result = separability(X, y)
    assert result.kind == "separated"
    assert len(result.rows) == 1797
    assert {"x0", "x32", "x39"} <= set(result.rank.aliased)
    assert result.check(X, y)


# ---------------------------------------------------------------------------------------------------- bad input

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.logistic(size=60) > 0).astype(int)
ONES = np.ones(60)


def with_cell(value: Any, i: int = 5, j: int = 1) -> Any:
    spoilt = X.astype(object) if isinstance(value, str) else X.copy()
    spoilt[i, j] = value
    return spoilt


def with_entry(column: Any, value: Any, i: int = 7) -> Any:
    spoilt = np.array(column, dtype=object if value is None else float)
    spoilt[i] = value
    return spoilt


def framed(rows: Any) -> Any:
    return pd.DataFrame(rows, columns=["age", "bmi", "dose"])


class Case(NamedTuple):
    arguments: tuple[Any, ...]
    words: tuple[str, ...]
    """What the message must say."""
    error: Any = ValueError


CASES = {
    "NaN": Case((with_cell(np.nan), Y), ("NaN", "X[5, 'x1']")),
    "infinity": Case((with_cell(np.inf), Y), ("X[5, 'x1'] is inf",)),
    "minus infinity": Case((with_cell(-np.inf), Y), ("X[5, 'x1'] is -inf",)),
    "NaN in a frame": Case((framed(with_cell(np.nan)), Y), ("NaN", "X[5, 'bmi']")),
    "infinity in a frame": Case((framed(with_cell(np.inf)), Y), ("X[5, 'bmi'] is inf",)),
    "NaN where the weight is zero": Case((with_cell(np.nan), Y, with_entry(ONES, 0, 5)), ("NaN", "X[5, 'x1']")),
    "null in polars": Case(
        (pl.DataFrame({"a": [1.0, 2, 3, 4], "b": [1, 2, None, 3]}), [0, 1, 0, 1]), ("NaN", "X[2, 'b']")
    ),
    "NaN in sparse rows": Case((sparse.csr_array(with_cell(np.nan)), Y), ("NaN", "X[5, 'x1']")),
    "infinity in sparse rows": Case((sparse.csr_array(with_cell(-np.inf)), Y), ("X[5, 'x1'] is -inf",)),
    "a word": Case((with_cell("tall"), Y), ("X[5, 1] is 'tall'", "not a number")),
    "a word in a frame": Case((framed(with_cell("tall")), Y), ("X[5, 'bmi'] is 'tall'",)),
    "no rows": Case((X[:0], Y[:0]), ("0 sample(s)",)),
    "no columns": Case((X[:, :0], Y), ("0 feature(s)",)),
    "one dimension": Case((X[:, 0], Y), ("Expected 2D array",)),
    "three dimensions": Case((X[None], Y), ("dim 3",)),
    "complex": Case((X + 1j, Y), ("Complex data not supported",)),
    "NaN in y": Case((X, with_entry(Y, np.nan)), ("y", "NaN")),
    "None in y": Case((X, with_entry(Y, None)), ("y", "None")),
    "one class": Case((X, ONES), ("y has one class only", "two classes")),
    "one word": Case((X, ["a"] * 60), ("y has one class only", "'a'")),
    "continuous y": Case((X, RNG.normal(size=60)), ("continuous",)),
    "fewer labels than rows": Case((X, Y[:-1]), ("60", "59")),
    "a negative weight": Case((X, Y, with_entry(ONES, -1.0)), ("sample_weight[7] is -1.0", "zero or more")),
    "a NaN weight": Case((X, Y, with_entry(ONES, np.nan)), ("sample_weight[7] is nan",)),
    "an infinite weight": Case((X, Y, with_entry(ONES, np.inf)), ("sample_weight[7] is inf",)),
    "no weight at all": Case((X, Y, 0 * ONES), ("sample_weight is zero for every sample",)),
    "a class without weight": Case((X, Y, Y), ("class 0", "sample_weight zero")),
    "one of three classes without weight": Case(
        (X, np.arange(60) % 3, (np.arange(60) % 3 != 1).astype(float)), ("class 1", "sample_weight zero")
    ),
    "too few weights": Case((X, Y, ONES[1:]), ("sample_weight has shape (59,)", "60 rows")),
    "a table of weights": Case((X, Y, np.ones((60, 2))), ("sample_weight has shape (60, 2)", "60 rows")),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_error_says_what_is_wrong(case):
    import separatrix

    ask_it = separatrix.separability
    with pytest.raises(case.error) as caught:
        ask_it(*case.arguments)
    for words in case.words:
        assert words in str(caught.value)


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("one dimension", "complex")])
def test_the_error_is_one_line(name):
    import separatrix

    ask_it = separatrix.separability
    with pytest.raises(CASES[name].error) as caught:
        ask_it(*CASES[name].arguments)
    assert "\n" not in str(caught.value).strip()
    assert "np." not in str(caught.value)


# --------------------------------------------------------------------------------------------------- the result


def example(kind: str) -> tuple[Any, Any]:
    """Rows with names, of each kind; NV and PI."""
    y = np.array([0, 0, 1, 1, 1, 0])
    first = {"separated": [0, 0, 1, 1, 1, 0], "quasi-separated": [0, 0, 1, 0, 1, 0], "overlap": [0, 1, 1, 0, 1, 0]}
    index = [f"patient{i}" for i in range(6)]
    return pd.DataFrame({"NV": first[kind], "PI": [3, 5, 2, 4, 4, 5]}, index=index), y


@pytest.mark.parametrize("kind", KINDS)
class TestResult:
    def test_the_example_is_what_it_is_called(self, kind):
        frame, y = example(kind)
        result = separability(frame, y)
        assert result.kind == kind
        assert not differences(result, separation(frame.to_numpy(), y), ["NV", "PI"])

    def test_it_cannot_be_changed(self, kind):
        result = separability(*example(kind))
        with pytest.raises(dataclasses.FrozenInstanceError):
            result.kind = "overlap"
        with pytest.raises(dataclasses.FrozenInstanceError):
            result.certificate.margin = 1.0

    def test_it_is_a_separability(self, kind):
        import separatrix

        assert isinstance(separability(*example(kind)), separatrix.Separability)
        assert {"Separability", "separability"} <= set(separatrix.__all__)

    def test_it_speaks_in_sentences(self, kind):
        frame, y = example(kind)
        result = separability(frame, y)
        text = str(result)
        assert kind in text.lower()
        assert text.strip().endswith(".")
        assert "np." not in text
        assert "array(" not in text
        assert "  " not in text
        for name, status in result.coefficients.items():
            if status in (UP, DOWN):
                assert str(name).strip("()") in text
        if kind == "quasi-separated":
            assert str(result.row_names[0]) in text

    def test_it_goes_through_json(self, kind):
        frame, y = example(kind)
        result = separability(frame, y)
        read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert read["kind"] == kind
        assert read["rows"] == result.rows.tolist()
        assert read["row_names"] == [f"patient{i}" for i in result.rows]
        assert read["coefficients"] == plainly(result.coefficients)

    def test_it_can_be_pickled(self, kind):
        frame, y = example(kind)
        result = separability(frame, y)
        again = pickle.loads(pickle.dumps(result))
        assert again.to_dict() == result.to_dict()
        assert again.check(frame, y)

    def test_it_can_be_checked(self, kind):
        frame, y = example(kind)
        result = separability(frame, y)
        assert result.check(frame, y)
        assert result.check(frame, y, np.full(6, 2.0))
        assert not result.check(frame, 1 - y) or kind == "overlap"

    def test_the_same_data_give_the_same_result(self, kind):
        assert separability(*example(kind)).to_dict() == separability(*example(kind)).to_dict()


def test_three_classes_go_through_json_and_pickle():
    X, y = load_iris(return_X_y=True)
    result = separability(X, y)
    read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert set(read["coefficients"]) == {"0", "1"}
    assert pickle.loads(pickle.dumps(result)).check(X, y)


def test_another_label_in_iris_fails_the_check():
    X, y = load_iris(return_X_y=True)
    result, other = separability(X, y), y.copy()
    other[0] = 2
    assert not result.check(X, other)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_kind_is_refused(kind):
    result = separability(*example(kind))
    with pytest.raises(ValueError, match="kind is 'apart'"):
        dataclasses.replace(result, kind="apart")


@needs_shared_data
def test_the_words_for_endometrial_name_the_column_the_rows_and_what_stays_finite():
    rows = table("endometrial")
    text = str(separability(rows[["NV", "PI", "EH"]], rows["HG"]))
    for words in ("NV", "21", "13", "PI", "EH"):
        assert words in text


@needs_shared_data
def test_the_words_name_a_column_that_depends_on_others():
    rows = table("endometrial")
    text = str(separability(rows[["NV", "PI"]].assign(copy=rows["PI"], EH=rows["EH"]), rows["HG"]))
    assert "copy" in text
    assert "combination" in text


# ---------------------------------------------------------------------------------------------------- found in review


@pytest.mark.parametrize("seeds", [range(k, k + 60) for k in range(0, 180, 60)], ids=str)
def test_dummies_in_any_decimal_units_lie_as_they_did(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, d, K = int(rng.integers(6, 40)), int(rng.integers(1, 5)), int(rng.integers(2, 4))
        X, y = (rng.random((n, d)) < 0.4) * 1.0, rng.integers(0, K, n)
        y[:K] = range(K)
        plain, scaled = separability(X, y), separability(X * 10.0 ** (e := rng.integers(-6, 7, d)), y)
        assert (scaled.kind, scaled.rows.tolist()) == (plain.kind, plain.rows.tolist()), seed
        assert scaled.check(X * 10.0**e, y), seed


@pytest.mark.parametrize("X", [1e6 + 1e-8 * np.arange(4.0), 1.7e9 + 1e-5 * np.arange(4.0)], ids=["1e6", "seconds"])
def test_a_small_spread_beside_a_large_offset_is_no_constant(X):
    result = separability(X[:, None], [0, 0, 1, 1])
    assert result.kind == "separated"
    assert result.check(X[:, None], [0, 0, 1, 1])


@pytest.mark.parametrize("exponent", [-300, -160, -100, 100, 160, 300])
def test_units_of_any_size(exponent):
    X, y = np.array([[0.0, 0], [1, 1], [2, 0], [3, 1]]) * 10.0**exponent, [0, 0, 1, 1]
    result = separability(X, y)
    assert result.kind == "separated"
    assert result.check(X, y)


def test_ties_of_classes_in_large_units_are_ties_to_the_last_digit():
    X, y = [[1e5], [0], [1e5], [1e5], [1e5]], [0, 2, 1, 2, 2]
    result = separability(X, y)
    assert result.kind == "quasi-separated"
    assert result.certificate.perturbation < 1e-14
    assert result.check(X, y)


def test_signs_of_many_classes_wait_until_asked_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    result = separability(X, (X @ rng.normal(size=(10, 10))).argmax(axis=1))
    assert result.kind == "separated"
    assert "when asked" in str(result)


def test_a_forged_alias_is_found_out():
    from dataclasses import replace

    from separatrix.results.verdict import Rank

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=60), rng.integers(0, 2, 60)
    X = np.column_stack([x, x + 1e-9 * np.sign(y - 0.5)])
    alone = separability(x[:, None], y)
    assert alone.kind == "overlap"
    coefficients = {"x0": "finite", "x1": "undetermined", INTERCEPT: "finite"}
    forged = replace(alone, columns=("x0", "x1"), rank=Rank(2, 3, ("x1",)), coefficients=coefficients)
    forged = replace(forged, certificate=replace(forged.certificate, directions=np.empty((0, 3))))
    assert not forged.check(X, y)
    assert separability(X, y).kind == "separated"


def test_more_bad_input():
    X, y = [[0.0], [1], [2]], [0, 1, 1]
    with pytest.raises(ValueError, match="fit_intercept is 'no'"):
        separability(X, y, fit_intercept="no")
    with pytest.raises(ValueError, match="y is None: give a label"):
        separability(X, None)
    with pytest.raises(ValueError, match="rename it"):
        separability(pd.DataFrame(X, columns=[INTERCEPT]), y)
    with pytest.raises(ValueError, match="2 columns named 'a'"):
        separability(pd.DataFrame([[0.0, 1], [1, 1], [2, 0]], columns=["a", "a"]), y)


def test_names_that_json_does_not_know_are_written_as_text():
    X = pd.DataFrame({"a": [0.0, 1, 1, 2]}, index=pd.date_range("2020-01-01", periods=4))
    written = json.loads(json.dumps(separability(X, [0, 0, 1, 1]).to_dict()))
    assert written["row_names"][0].startswith("2020-01-01")


def test_one_weight_for_all_rows_is_checked_as_it_was_given():
    X, y = [[0.0], [1], [1], [2]], [0, 0, 1, 1]
    assert separability(X, y, 2).check(X, y, 2)


@pytest.mark.parametrize("far", [1e15, 1e20, 1e100, 1e150, 1e300])
@pytest.mark.parametrize("times", [1, 4000], ids=["few rows", "many rows"])
def test_no_answer_is_given_that_a_far_row_spoils(far, times):
    """One number, beside which the difference that separates is nothing: right, or refused."""
    x = np.array([*[0.0] * 29 * times, 1.0, -far])[:, None]
    y = np.array([*["r"] * 29 * times, "g", "r"])
    found = None
    with suppress(ArithmeticError):
        found = separability(x, y)
    assert found is None or (found.kind == "separated" and found.check(x, y))


def test_columns_whose_small_differences_may_be_lost_are_seen(monkeypatch):
    from separatrix.data.block import block_of
    from separatrix.learners.geometry import separability as asking

    monkeypatch.setattr(asking, "CHECKED", 0)
    rng = np.random.default_rng(0)
    usual = np.column_stack([rng.normal(1000, 1, 5000), rng.random(5000) < 0.1, rng.random(5000) < 1e-3, np.ones(5000)])
    assert not asking._may_be_lost(block_of(usual), "separated")
    for column, row in ((0, 17), (2, 4999)):
        far = usual.copy()
        far[row, column] = 1e14
        assert asking._may_be_lost(block_of(far), "quasi-separated")
        assert not asking._may_be_lost(block_of(far), "overlap")
    far[:, 2] *= 1e-14  # all of it in other units
    assert asking._may_be_lost(block_of(far), "separated")
