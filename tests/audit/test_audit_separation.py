"""The check of a separability believes certificates made by hand, and nothing that was changed in them."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from separatrix.audit.balance import crosses
from separatrix.audit.cases import Cases, Rule, SignedRows, signs
from separatrix.audit.exact import PRIMES, independent, solve, weighed_sum
from separatrix.audit.separation import prove
from separatrix.results.separability import Combination, Separability, SeparationProof
from separatrix.results.verdict import Rank


def combination(rows, own, other, multipliers):
    whole = [np.array(each, dtype=np.intp) for each in (rows, own, other)]
    return Combination(*whole, np.array(multipliers, dtype=float))


def of_two(rows, y, multipliers):
    own = np.asarray(y)[list(rows)]
    return combination(rows, own, 1 - own, multipliers)


def claim(kind, X, coefficients, classes=(0, 1), **parts):
    """A result with as little said as may be; `coefficients` are in the order of the columns, then the intercept."""
    n, d = np.shape(X)
    columns, fit_intercept = tuple(f"x{j}" for j in range(d)), parts.pop("fit_intercept", True)
    names = [*columns, *["(intercept)"] * fit_intercept]
    aliased = tuple(parts.pop("aliased", ()))
    rows = np.array(parts.pop("rows", np.arange(n) if kind == "separated" else []), dtype=np.intp)
    said = [coefficients] if len(classes) == 2 else coefficients
    tables = [dict(zip(names, each, strict=True)) for each in said]
    proof = {"weights": None, "intercept": None, "directions": np.zeros((0, d + 1)), "balance": None, "crossing": None}
    proof |= {"margin": float(kind != "overlap"), "perturbation": 0.0} | {
        key: parts.pop(key) for key in [*proof, "perturbation"] if key in parts
    }
    return Separability(
        kind=kind,
        rows=rows,
        partly=np.array(parts.pop("partly", []), dtype=np.intp),
        row_names=tuple(rows.tolist()),
        coefficients=tables[0] if len(classes) == 2 else dict(zip(classes[:-1], tables, strict=True)),
        certificate=SeparationProof(**proof),
        rank=Rank(len(names) - len(aliased), len(names), aliased),
        classes=classes,
        columns=columns,
        fit_intercept=fit_intercept,
        count=parts.pop("count", n),
        **parts,
    )


def changed(result, **parts):
    return dataclasses.replace(result, **parts)


def reproved(result, **parts):
    return changed(result, certificate=dataclasses.replace(result.certificate, **parts))


# ------------------------------------------------------------------------------------------------------- certificates


def separated():
    X, y = np.array([[-2.0, 1.0], [-1.0, 5.0], [1.0, 5.0], [3.0, 0.0]]), np.array([0, 0, 1, 1])
    said = ["+inf", "undetermined", "undetermined"]
    return claim("separated", X, said, weights=np.array([1.0, 0.0]), intercept=0.0), X, y


def quasi():
    X, y = np.array([[-1.0], [0.0], [0.0], [1.0]]), np.array([0, 0, 1, 1])
    tie = of_two([1, 2], y, [1, 1])
    parts = {
        "weights": np.array([1.0]),
        "intercept": 0.0,
        "directions": np.array([[1.0, 0.0]]),
        "balance": tie,
        "crossing": tie,
    }
    return claim("quasi-separated", X, ["+inf", "finite"], rows=[0, 3], **parts), X, y


def overlap():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])
    cross = of_two([0, 1, 2, 3], y, [1, 1, 1, 1])
    return claim("overlap", X, ["finite"] * 3, balance=cross, crossing=cross), X, y


def three_classes():
    """Class 2 lies apart; rows 0 and 1 are the same but of classes 0 and 1, and rows 2 and 3."""
    X, y = np.array([[0.0], [0.0], [1.0], [1.0], [9.0]]), np.array(["a", "b", "a", "b", "c"])
    W, b = np.array([[-1.0], [-1.0], [0.0]]), np.array([5.0, 5.0, 0.0])
    free = np.array([[[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 1.0], [0.0, 0.0]]])
    ties = combination([0, 1, 2, 3], [0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1])
    tie = combination([0, 1], [0, 1], [1, 0], [1, 1])
    parts = {
        "weights": W,
        "intercept": b,
        "directions": free,
        "balance": ties,
        "crossing": tie,
        "partly": [0, 1, 2, 3],
        "rows": [4],
    }
    said = [["-inf", "+inf"]] * 2
    return claim("quasi-separated", X, said, classes=("a", "b", "c"), **parts), X, y


def noisy(n=60, d=3, seed=0):
    """Overlap on rows without a pattern, by the slopes of the likelihood: they balance up to rounding."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), np.arange(n) % 2
    Z, beta, sign = np.column_stack([X, np.ones(n)]), np.zeros(d + 1), 2 * y - 1
    for _ in range(20):
        p = 1 / (1 + np.exp(-Z @ beta))
        beta += np.linalg.solve(Z.T @ (Z * (p * (1 - p))[:, None]), Z.T @ (y - p))
    slopes = 1 / (1 + np.exp(sign * (Z @ beta)))
    few = _null_vector(Z, sign)
    balance = of_two(range(n), y, slopes)
    crossing = of_two(np.flatnonzero(few), y, few[few > 0])
    return claim("overlap", X, ["finite"] * (d + 1), balance=balance, crossing=crossing), X, y


def _null_vector(Z, sign):
    from scipy.optimize import linprog

    n, width = Z.shape
    rng = np.random.default_rng(1)
    equal, right = np.vstack([(Z * sign[:, None]).T, np.ones(n)]), np.append(np.zeros(width), 1)
    return linprog(rng.random(n), A_eq=equal, b_eq=right, method="highs-ds").x


EXAMPLES = [separated, quasi, overlap, three_classes, noisy]


@pytest.mark.parametrize("example", EXAMPLES)
def test_honest_certificates_are_proved(example):
    result, X, y = example()
    assert prove(result, X, y) is True
    assert prove(result, pd.DataFrame(X), pd.Series(y))
    assert prove(result, np.vstack([X, X[:1] + 100]), np.append(y, y[:1]), np.append(np.ones(len(X)), 0)) is False
    padded = changed(result, count=len(X) + 1)
    assert prove(padded, np.vstack([X, X[:1] * np.nan]), np.append(y, y[:1]), np.append(np.ones(len(X)), 0))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, int, object])
@pytest.mark.parametrize("example", [separated, quasi, overlap, three_classes])
def test_any_kind_of_number(example, dtype):
    result, X, y = example()
    assert prove(result, X.astype(dtype), y)


@pytest.mark.parametrize("example", EXAMPLES)
def test_other_data_are_refused(example):
    result, X, y = example()
    assert not prove(result, X, np.where(y == y[0], y[-1], y[0]) if len(set(y)) == 2 else np.roll(y, 1))
    assert not prove(result, X[:-1], y[:-1])
    assert not prove(result, X, ["strange"] * len(y))
    assert not prove(result, np.full_like(X, np.nan), y)
    with pytest.raises(ValueError, match="columns"):
        prove(result, X[:, :-1], y)
    with pytest.raises(ValueError, match="rows"):
        prove(result, X, y[:-1])


# ---------------------------------------------------------------------------------------------------------- tampering


def test_separated_needs_every_row_and_a_positive_sign():
    result, X, y = separated()
    assert not prove(changed(result, rows=result.rows[1:], row_names=(1, 2, 3)), X, y)
    assert not prove(reproved(result, weights=np.array([1.0, 0.5])), X, y)  # row 1 on the wrong side
    assert not prove(reproved(result, weights=np.array([1.0, np.nan])), X, y)
    assert not prove(reproved(result, weights=None), X, y)
    assert not prove(reproved(result, weights=np.zeros(3)), X, y)
    assert not prove(reproved(result, intercept=-1.0), X, y)  # row 2 is zero
    assert prove(reproved(result, intercept=np.nextafter(-1.0, 0)), X, y)
    X[0, 0] = 0.0
    assert not prove(result, X, y)


@pytest.mark.parametrize("example", [quasi, overlap, three_classes, noisy])
@pytest.mark.parametrize("part", ["balance", "crossing"])
def test_multipliers_rows_and_classes_must_be_right(example, part):
    result, X, y = example()
    given = getattr(result.certificate, part)
    for name, value in [
        ("multipliers", given.multipliers * np.append(1.5, np.ones(len(given) - 1))),
        ("multipliers", given.multipliers * np.append(-1, np.ones(len(given) - 1))),
        ("multipliers", given.multipliers * np.nan),
        ("multipliers", given.multipliers[1:]),
        ("rows", np.append(len(X) - 1, given.rows[1:])),
        ("rows", np.append(len(X), given.rows[1:])),
        ("rows", given.rows - len(X)),
        ("own", given.other),
        ("other", given.own),
        ("other", given.other + 7),
    ]:
        if not np.array_equal(value, getattr(given, name)):
            assert not prove(reproved(result, **{part: dataclasses.replace(given, **{name: value})}), X, y), (
                name,
                value,
            )
    assert not prove(reproved(result, **{part: None}), X, y)
    assert not prove(reproved(result, **{part: of_two([], [0], [])}), X, y)


def test_a_set_that_is_not_maximal_is_refused():
    X, y = (
        np.array([[-1.0, 0.0], [0.0, -1.0], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
        np.array([0, 0, 0, 1, 1, 1]),
    )
    tie = of_two([2, 3], y, [1, 1])
    first = {"weights": np.array([1.0, 0.0]), "intercept": 0.0, "balance": tie, "crossing": tie, "rows": [0, 4]}
    both = first | {"weights": np.array([1.0, 1.0]), "rows": [0, 1, 4, 5], "directions": np.eye(3)[:2]}
    said = ["+inf", "finite", "finite"]
    assert prove(claim("quasi-separated", X, ["+inf", "+inf", "finite"], **both), X, y)
    assert not prove(claim("quasi-separated", X, said, **first, directions=np.eye(3)[:1]), X, y)
    assert not prove(
        claim("quasi-separated", X, ["+inf", "undetermined", "finite"], **first, directions=np.eye(3)[:2]), X, y
    )
    twice = both | {"directions": np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])}
    assert not prove(claim("quasi-separated", X, ["+inf", "+inf", "finite"], **twice), X, y)


def test_coefficients_must_follow():
    for example in (separated, quasi, overlap):
        result, X, y = example()
        for name, said in result.coefficients.items():
            for other in {"finite", "+inf", "-inf", "undetermined", None} - {said}:
                if other == "undetermined" and said == "+inf":
                    continue  # whether another rule goes the other way, the certificate does not say
                assert not prove(changed(result, coefficients=result.coefficients | {name: other}), X, y), (name, other)
        assert not prove(changed(result, coefficients={}), X, y)
        assert not prove(changed(result, coefficients=result.coefficients | {"more": "finite"}), X, y)
    result, X, y = three_classes()
    assert not prove(changed(result, coefficients={"a": result.coefficients["a"]}), X, y)
    wrong = result.coefficients | {"b": {"x0": "finite", "(intercept)": "+inf"}}
    assert not prove(changed(result, coefficients=wrong), X, y)


def test_quasi_separation_of_the_wrong_rows():
    result, X, y = quasi()
    assert not prove(changed(result, rows=result.rows[:1], row_names=(0,)), X, y)
    assert not prove(changed(result, partly=np.array([1])), X, y)
    assert not prove(changed(result, kind="overlap"), X, y)
    assert not prove(changed(result, kind="separated"), X, y)
    assert not prove(reproved(result, directions=np.array([[1.0, 1e-300]])), X, y)
    assert not prove(reproved(result, directions=np.zeros((0, 2))), X, y)
    assert not prove(reproved(result, weights=np.array([-1.0])), X, y)
    for off in (1e-300, -1e-300):  # zero is zero
        moved = X.copy()
        moved[1] = off
        assert not prove(result, moved, y)
        assert not prove(reproved(result, perturbation=2.0**-50), moved, y)
    for wrong in (1e-3, -1e-20, np.nan):
        assert not prove(reproved(result, perturbation=wrong), X, y)
    result, X, y = three_classes()
    assert not prove(changed(result, rows=np.arange(5), row_names=tuple(range(5)), partly=np.array([])), X, y)


def test_ranks_must_be_coherent():
    for example in EXAMPLES:
        result, X, y = example()
        rank, of, _ = result.rank
        for wrong in (Rank(rank - 1, of, ()), Rank(rank - 1, of, ("x0",)), Rank(rank, of + 1, ()), Rank(None, of, ())):
            assert not prove(changed(result, rank=wrong), X, y)


# ------------------------------------------------------------------------------------------------- kinds of targets


def test_a_row_of_both_classes_is_a_case_of_each():
    X, p = np.array([[-1.0], [0.0], [1.0]]), np.array([0.0, 0.5, 1.0])
    tie = combination([1, 1], [0, 1], [1, 0], [1, 1])
    parts = {
        "weights": np.array([1.0]),
        "intercept": 0.0,
        "directions": np.array([[1.0, 0.0]]),
        "balance": tie,
        "crossing": tie,
    }
    result = claim("quasi-separated", X, ["+inf", "finite"], rows=[0, 2], **parts)
    assert prove(result, X, p)
    assert prove(result, X, np.column_stack([1 - p, p]))
    assert not prove(result, X, np.column_stack([1 - p, p * 2]))
    assert not prove(result, X, np.array([0.0, 1.0, 1.0]))
    assert not prove(claim("separated", X, ["+inf"] * 2, weights=np.array([1.0]), intercept=0.5), X, p)


def test_without_an_intercept():
    X, y = np.array([[1.0], [0.0]]), np.array([1, 1])
    nothing = of_two([1], y, [1])
    parts = {
        "weights": np.array([1.0]),
        "intercept": 0.0,
        "balance": nothing,
        "crossing": nothing,
        "fit_intercept": False,
        "rows": [0],
    }
    for directions in (np.array([[1.0]]), np.array([[1.0, 0.0]])):
        assert prove(claim("quasi-separated", X, ["+inf"], directions=directions, **parts), X, y)
    assert not prove(claim("quasi-separated", X, ["+inf"], directions=np.array([[1.0, 1.0]]), **parts), X, y)
    assert not prove(claim("quasi-separated", X, ["+inf"], directions=directions, **(parts | {"intercept": 1.0})), X, y)


def test_aliased_columns_are_left_out_only_if_they_are():
    result, X, y = overlap()
    proof = result.certificate
    said = {"balance": proof.balance, "crossing": proof.crossing, "aliased": ["x2"]}
    wide = np.column_stack([X, X @ [0.3, 0.7] + 0.1])
    result = claim("overlap", wide, ["finite", "finite", "undetermined", "finite"], **said)
    assert prove(result, wide, y)
    wide[0, 2] += 1e-3
    assert not prove(result, wide, y)
    assert not prove(claim("overlap", wide, ["finite"] * 4, **said), wide, y)


# ------------------------------------------------------------------------------------------------- rounding


def test_multipliers_that_balance_only_nearby():
    result, X, y = noisy()
    for part in ("balance", "crossing"):
        given = getattr(result.certificate, part)
        near = given.multipliers * (1 + 1e-9 * np.sin(np.arange(len(given))))
        assert prove(reproved(result, **{part: dataclasses.replace(given, multipliers=near)}), X, y)
        few = dataclasses.replace(given, **{f.name: getattr(given, f.name)[:3] for f in dataclasses.fields(given)})
        assert not prove(reproved(result, **{part: few}), X, y)


def test_a_basis_that_floats_cannot_invert():
    """Two columns that differ in their last bits only: `overlap` but for rounding, as only integers can see."""
    unit = 2.0**-52
    X = np.array([[1.0, 1.0], [1 + 4 * unit, 1 + 5 * unit], [1.0, 1 + 5 * unit], [1 + 4 * unit, 1.0]])
    y, third = np.array([0, 0, 1, 1]), 1 / 3
    cross = of_two([0, 1, 2, 3], y, [third, np.nextafter(third, 1), third, third])
    result = claim("overlap", X, ["finite"] * 3, balance=cross, crossing=cross)
    assert prove(result, X, y)
    X[3, 1] -= unit
    assert not prove(result, X, y)


def test_zero_within_the_last_places():
    """x and 1e-6 x, of which the second was rounded; only the last two rows differ from that by more."""
    t = np.array([-3.0, -1.0, 2.0, 7.0, -2.0, 3.0, 1.3, 0.7, -5.0, 5.0])
    y = np.array([0, 1, 0, 1, 1, 0, 1, 0, 0, 1])
    X = np.column_stack([t, t * 1e-6])
    X[-2:, 1] += [-1e-6, 1e-6]
    weights = np.array([-1e-6, 1.0])
    balance = noisy_balance(t[:8, None], y[:8])
    parts = {"weights": weights, "intercept": 0.0, "directions": np.array([[-1e-6, 1.0, 0.0]]), "rows": [8, 9]}
    parts |= {"balance": balance, "crossing": of_two(*few_of(t[:8, None], y[:8])), "perturbation": 2.0**-50}
    result = claim("quasi-separated", X, ["-inf", "+inf", "finite"], **parts)
    assert prove(result, X, y)
    assert not prove(reproved(result, perturbation=0.0), X, y)
    assert not prove(reproved(result, perturbation=2.0**-56), X, y)
    X[0, 1] *= 1 + 1e-12
    assert not prove(result, X, y)
    assert prove(reproved(result, perturbation=2.0**-38), X, y)


def noisy_balance(X, y):
    """Any positive multipliers that balance: the most even ones, by least squares from ones."""
    A = np.column_stack([X, np.ones(len(X))]) * (2 * y - 1)[:, None]
    values = 1 - A @ np.linalg.lstsq(A, np.ones(len(A)), rcond=None)[0]
    assert (values > 0).all()
    return of_two(range(len(X)), y, values)


def few_of(X, y):
    few = _null_vector(np.column_stack([X, np.ones(len(X))]), 2 * y - 1)
    return np.flatnonzero(few), y, few[few > 0]


def test_directions_that_are_one_within_the_last_places():
    t = np.array([-3.0, -1.0, 2.0, 7.0, -2.0, 3.0, 1.3, 0.7, -5.0, 5.0])
    y = np.array([0, 1, 0, 1, 1, 0, 1, 0, 0, 1])
    X = np.column_stack([t, t * 1e-6])
    X[-2:, 1] += [-1e-6, 1e-6]
    parts = {"weights": np.array([-1e-6, 1.0]), "intercept": 0.0, "rows": [8, 9], "perturbation": 2.0**-50}
    parts |= {"balance": of_two([0, 1], y, [1, 3]), "crossing": of_two(*few_of(t[:8, None], y[:8]))}
    for last in (0.0, 1e-22):  # 1e-22 is nothing beside the numbers of any row, so neither are the directions two
        free = np.array([[-1e-6, 1.0, 0.0], [-1e-6, 1.0, last]])
        said = ["-inf", "+inf", "undetermined" if last else "finite"]
        assert not prove(claim("quasi-separated", X, said, directions=free, **parts), X, y)


def test_a_balance_of_separated_rows_is_none():
    """Rows 0 and 2 balance in the second column, which is all that is left of the space; but row 0 is not in it."""
    X, y = np.array([[1.0, 0.9], [0.0, 0.9], [0.0, 0.9]]), np.array([1, 1, 0])
    tie, parts = of_two([1, 2], y, [1, 1]), {"weights": np.array([1.0, 0.0]), "intercept": 0.0, "rows": [0]}
    parts |= {"directions": np.array([[1.0, 0.0]]), "fit_intercept": False, "crossing": tie}
    assert prove(claim("quasi-separated", X, ["+inf", "finite"], balance=tie, **parts), X, y)
    assert not prove(claim("quasi-separated", X, ["+inf", "finite"], balance=of_two([0, 2], y, [1, 1]), **parts), X, y)


def test_a_crossing_is_short():
    result, X, y = noisy()
    assert not prove(reproved(result, crossing=result.certificate.balance), X, y)


def test_separated_is_all():
    result, X, y = quasi()
    empty = reproved(result, balance=None, crossing=None, directions=np.zeros((0, 2)))
    said = {"x0": "+inf", "(intercept)": "undetermined"}
    assert not prove(changed(empty, kind="separated", coefficients=said), X, y)


def test_weights_leave_aliased_columns_alone():
    _, X, y = separated()
    wide = np.column_stack([X, X[:, 0]])
    said = ["undetermined"] * 4
    for at, true in (([1.0, 0.0, 0.0], True), ([0.5, 0.0, 0.5], False)):
        result = claim("separated", wide, said, weights=np.array(at), intercept=0.0, aliased=["x2"])
        assert prove(result, wide, y) is true


def test_long_balances_are_looked_at_in_parts(monkeypatch):
    for name, value in (("FEW", 10), ("SAMPLE", 20), ("CHUNK", 16)):
        monkeypatch.setattr(f"separatrix.audit.balance.{name}", value)
    result, X, y = noisy(n=200)
    given = result.certificate.balance
    assert prove(result, X, y)
    wrong = dataclasses.replace(given, multipliers=given.multipliers * np.append(3, np.ones(199)))
    assert not prove(reproved(result, balance=wrong), X, y)
    rare = np.column_stack([X, np.arange(200) == 77, np.arange(200) == 78]).astype(float)  # both rows' own columns
    assert not prove(
        claim("overlap", rare, ["finite"] * 6, balance=given, crossing=result.certificate.crossing), rare, y
    )


def test_integers_look_at_every_column():
    """Of a column of multiples of the primes, elimination sees nothing; the sum does."""
    X, y = np.array([[0.1, 1.0], [0.1, 2.0]]) * [1, math.prod(PRIMES)], np.array([0, 1])
    result = claim("overlap", X, ["finite"] * 3)
    cases = Cases(result, X, y, None)
    for slope, true in ((2.0, False), (1.0, True)):
        cases.X[1, 1] = slope * math.prod(PRIMES)
        signed = SignedRows.of(cases, np.array([0, 1]), True, of_two([0, 1], y, [1, np.nextafter(1, 2)]))
        assert crosses(signed, 3, 0.0) is true


def test_what_is_left_in_the_intercept_is_not_forgiven():
    X, y = np.zeros((2, 1)), np.array([0, 1])
    cases = Cases(claim("overlap", X, ["finite"] * 2), X, y, None)
    for last, true in ((1.5, False), (1 + 1e-15, True)):
        signed = SignedRows.of(cases, np.array([0]), True, of_two([0, 1], y, [1, last]))
        assert signed.nearly_vanishes(2.0**-40) is true


@pytest.mark.parametrize("junk", [None, "words", np.nan, [[1.0], [2.0, 3.0]], object()])
@pytest.mark.parametrize("example", [quasi, three_classes])
def test_junk_proves_nothing(example, junk):
    result, X, y = example()
    for name in ("weights", "intercept", "directions", "balance", "crossing", "perturbation", "margin"):
        assert not prove(reproved(result, **{name: junk}), X, y), name
    for name in ("rows", "partly", "coefficients", "certificate", "rank"):
        assert not prove(changed(result, **{name: junk}), X, y), name
    for name in ("rows", "own", "other", "multipliers"):
        given = dataclasses.replace(result.certificate.balance, **{name: junk})
        assert not prove(reproved(result, balance=given), X, y), name


def test_signs_are_those_of_fractions():
    rng = np.random.default_rng(0)
    x = np.array([[1e16, 1.0, -1e16], [0.1, 0.2, -0.3], [1e300, 1e-300, 1.0], [3.0, -1.0, -2.0], [5e-324, 0.0, 0.0]])
    W = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1e10, 1e300, 1e-10]])
    X, b = np.vstack([x, rng.integers(-2, 3, (200, 3)) / 8.0]), np.array([0.0, 0.0, 2.0])
    i, own, other = np.nonzero(np.broadcast_to(~np.eye(3, dtype=bool), (len(X), 3, 3)))
    for slack in (0.0, 2.0**-52, 2.0**-40):
        with np.errstate(all="ignore"):
            found = signs(X, i, own, other, Rule(W, b), slack)
        for r, c, k, sign in zip(i, own, other, found, strict=True):
            steps = [Fraction(v) * (Fraction(p) - Fraction(q)) for v, p, q in zip(X[r], W[c], W[k], strict=True)]
            value, reach = sum(steps) + Fraction(b[c]) - Fraction(b[k]), Fraction(slack) * sum(map(abs, steps))
            assert sign == (0 if abs(value) <= reach else np.sign(float(value > 0) - 0.5))


def test_exact_arithmetic():
    assert weighed_sum(np.array([1e16, 1.0, -1e16]), np.ones(3)) == 1
    assert weighed_sum(np.array([1e-200, 1.0]), np.array([1e-200, 0.0])) == Fraction(1e-200) ** 2
    A = np.array([[0.1, 0.2, 0.3], [0.2, 0.4, 0.6], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    assert independent(A, 3)[0] == [0, 2, 3]
    assert len(independent(np.array([[1.0, 2.0], [0.5, 1.0]]), 2)[0]) == 1
    M = np.array([[0.0, 2.0, 1.0], [0.1, 0.0, 0.25], [1.0, 1.0, 1.0]])
    top, bottom = solve(M, [Fraction(1), Fraction(2), Fraction(3)])
    for row, right in zip(M, (1, 2, 3), strict=True):
        assert sum(Fraction(a) * Fraction(n, bottom) for a, n in zip(row, top, strict=True)) == right
    assert solve(np.ones((2, 2)), [Fraction(1), Fraction(1)]) is None


def hard_numbers(rng, shape):
    """Numbers of all sizes: plain, whole, of exponents to the ends of the range, subnormal."""
    plain = rng.normal(size=shape)
    kinds = {
        "plain": plain,
        "whole": rng.integers(-3, 4, shape).astype(float),
        "wide": np.ldexp(plain, rng.integers(-900, 900, shape)),
        "subnormal": np.ldexp(rng.integers(-9, 10, shape).astype(float), -1074),
    }
    kinds["mixed"] = np.choose(rng.integers(0, 4, shape), list(kinds.values()))
    return kinds


def cancelling(x, w):
    """The same with a last term that undoes the sum of the others up to its last digit, or all of it."""
    total = sum(Fraction(a) * Fraction(b) for a, b in zip(x[:-1].tolist(), w[:-1].tolist(), strict=True))
    x, w = x.copy(), w.copy()
    if abs(total) < 2**1000:
        x[-1], w[-1] = -float(total), 1.0
    return x, w


@pytest.mark.parametrize("seed", range(25))
def test_sums_and_signs_of_hard_numbers_are_those_of_fractions(seed):
    """Rounding, cancellation, overflow and underflow decide nothing: what floats leave open, fractions settle."""
    rng = np.random.default_rng(seed)
    for numbers, others in zip(*(hard_numbers(rng, (6, 5)).values() for _ in range(2)), strict=True):
        pairs = list(zip(numbers, others, strict=True))
        pairs += [cancelling(x, w) for x, w in pairs]
        for x, w in pairs:
            exact = sum(Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), w.tolist(), strict=True))
            for b in (0.0, -float(exact) if abs(exact) < 2**1000 else 1.0, 5e-324):
                rule, value = Rule(np.stack([np.zeros(5), w]), np.array([0.0, b])), exact + Fraction(b)
                with np.errstate(all="ignore"):
                    assert weighed_sum(x, w) == exact
                    (sign,) = signs(x[None], np.array([0]), np.array([1]), np.array([0]), rule, 0.0)
                assert sign == (value > 0) - (value < 0)


@pytest.mark.parametrize("seed", range(25))
def test_systems_of_hard_numbers_are_solved_exactly(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    for kind, A in hard_numbers(rng, (n, n)).items():
        right = [Fraction(int(a), int(b)) for a, b in rng.integers(1, 99, (n, 2))]
        for M in (A, A + np.spacing(A) * rng.integers(-1, 2, A.shape), A[rng.integers(0, n, n)]):
            solved = solve(M, right)
            if solved is None:
                assert len(independent(M, n)[0]) < n  # what is independent modulo a prime is so in truth
                continue
            top, bottom = solved
            for row, value in zip(M.tolist(), right, strict=True):
                assert sum(Fraction(a) * x for a, x in zip(row, top, strict=True)) == bottom * value, kind
