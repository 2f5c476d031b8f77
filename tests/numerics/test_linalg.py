"""Factors of symmetric matrices against NumPy's, and which columns depend on which."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.numerics import linalg
from separatrix.numerics.linalg import (
    EPS,
    Dependence,
    Factor,
    Root,
    dependence,
    factor,
    steady_factor,
    triangle,
)

SCALES = {
    "one scale": np.ones(5),
    "large": np.full(5, 1e12),
    "small": np.full(5, 1e-12),
    "mixed": np.array([1e-12, 1e-6, 1.0, 1e6, 1e12]),
}
every_scale = pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES.keys())
every_form = pytest.mark.parametrize("form", ["matrix", "root"])
seeds = st.integers(0, 2**32 - 1)


def rows_of(scale: np.ndarray, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((40, scale.size)) * np.sqrt(scale)


def positive_definite(scale: np.ndarray, form: str = "matrix") -> tuple[np.ndarray | Root, np.ndarray]:
    """H with these on its diagonal, but for factors of about 40, as it is asked for and as a matrix."""
    A = rows_of(scale)
    H = A.T @ A
    return (Root.of(A) if form == "root" else H), H


def exact_inverse(H: np.ndarray) -> np.ndarray:
    """By NumPy, of a matrix whose scales were taken out first."""
    s = np.sqrt(np.diag(H))
    return np.linalg.inv(H / np.outer(s, s)) / np.outer(s, s)


@every_scale
@every_form
def test_a_factor_is_one(scale: np.ndarray, form: str) -> None:
    given_as, H = positive_definite(scale, form)
    made = factor(given_as)
    assert made is not None
    np.testing.assert_array_equal(np.tril(made.upper, -1), 0)
    assert (np.diag(made.upper) > 0).all()
    U = made.upper * made.diagonal
    np.testing.assert_allclose((U.T @ U) / np.sqrt(np.outer(scale, scale)), H / np.sqrt(np.outer(scale, scale)), 1e-12)


@every_scale
@every_form
def test_solve_and_inverse_are_numpys(scale: np.ndarray, form: str) -> None:
    given_as, H = positive_definite(scale, form)
    made, inverse = factor(given_as), exact_inverse(H)
    g = np.array([1.0, -2, 3, 0, 5]) * np.sqrt(scale)
    np.testing.assert_allclose(made.inverse(), inverse, rtol=1e-11)
    np.testing.assert_array_equal(made.inverse(), made.inverse().T)
    np.testing.assert_allclose(made.solve(g), inverse @ g, rtol=1e-11)
    np.testing.assert_allclose(steady_factor(given_as).solve(g), inverse @ g, rtol=1e-11)


@every_scale
def test_whitened_length_is_the_length_in_the_inverse(scale: np.ndarray) -> None:
    made, inverse = factor(positive_definite(scale)[0]), exact_inverse(positive_definite(scale)[1])
    G = np.random.default_rng(1).standard_normal((5, 3)) * np.sqrt(scale)[:, None]
    expected = np.einsum("ik,ij,jk->k", G, inverse, G)
    np.testing.assert_allclose(np.square(made.whiten(G)).sum(axis=0), expected, rtol=1e-11)
    np.testing.assert_allclose(np.square(made.whiten(G[:, 0])).sum(), expected[0], rtol=1e-11)


@every_scale
def test_a_factor_times_a_number_is_the_factor_of_the_multiple(scale: np.ndarray) -> None:
    _, H = positive_definite(scale)
    g = np.sqrt(scale)
    np.testing.assert_allclose(factor(H).times(0.25).solve(g), factor(H / 4).solve(g), rtol=1e-13)


@every_scale
def test_the_weakest_column_is_measured_without_units(scale: np.ndarray) -> None:
    A = rows_of(np.ones(5))
    A[:, 4] = A[:, 0] + 1e-3 * A[:, 4]
    left = A[:, 4] - A[:, :4] @ np.linalg.lstsq(A[:, :4], A[:, 4], rcond=None)[0]
    A = A * np.sqrt(scale)
    share = (left @ left) / (A[:, 4] @ A[:, 4] / scale[4])
    assert factor(A.T @ A).weakest == pytest.approx(share, rel=1e-6, abs=0)
    assert factor(Root.of(A)).weakest == pytest.approx(share, rel=1e-9, abs=0)


NOT_DEFINITE = {
    "indefinite": np.array([[1.0, 2], [2, 1]]),
    "negative": -np.eye(2),
    "a zero on the diagonal": np.diag([1.0, 0]),
    "zero": np.zeros((2, 2)),
}


@pytest.mark.parametrize("H", NOT_DEFINITE.values(), ids=NOT_DEFINITE.keys())
def test_what_is_not_positive_definite_has_no_factor(H: np.ndarray) -> None:
    assert factor(H) is None


def with_a_bad_entry(bad: float, where: tuple[int, int]) -> np.ndarray:
    H = np.eye(2) * 3
    H[where] = H[where[::-1]] = bad
    return H


NOT_FINITE = [with_a_bad_entry(bad, where) for bad in (np.nan, np.inf) for where in ((0, 0), (0, 1))]
every_bad_entry = pytest.mark.parametrize("H", NOT_FINITE, ids=["nan on", "nan beside", "inf on", "inf beside"])


@every_bad_entry
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_what_is_not_finite_has_no_factor(H: np.ndarray) -> None:
    assert factor(H) is None


@every_bad_entry
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_steady_factor_of_what_is_not_finite_comes_to_an_end(H: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = iter(range(500))

    def counted(H: np.ndarray) -> Factor | None:
        if next(trials, None) is None:
            raise TimeoutError
        return factor(H)

    monkeypatch.setattr(linalg, "factor", counted)
    with pytest.raises((ArithmeticError, np.linalg.LinAlgError)):
        steady_factor(H)


def test_a_root_of_dependent_columns_has_no_factor() -> None:
    A = rows_of(np.ones(5))
    A[:, 2] = A[:, 0] - A[:, 1]
    assert factor(Root.of(A)) is None
    assert factor(Root.of(A[:3])) is None
    A[:, 2] = 0
    assert factor(Root.of(A)) is None


@pytest.mark.parametrize("H", NOT_DEFINITE.values(), ids=NOT_DEFINITE.keys())
def test_a_steady_factor_makes_a_direction_of_descent(H: np.ndarray) -> None:
    g = np.array([1.0, -3.0])
    d = -steady_factor(H).solve(g)
    assert np.isfinite(d).all()
    assert g @ d < 0


@every_form
def test_a_steady_factor_of_a_singular_matrix_raises_the_diagonal_but_little(form: str) -> None:
    A = rows_of(np.ones(5))
    A[:, 4] = A[:, 0]
    H = A.T @ A
    made = steady_factor(Root.of(A) if form == "root" else H)
    U = made.upper * made.diagonal
    raised = (U.T @ U - H)[np.diag_indices(5)] / np.diag(H)
    np.testing.assert_allclose(U.T @ U - np.diag(np.diag(U.T @ U)), H - np.diag(np.diag(H)), rtol=1e-12, atol=1e-12)
    assert (raised > -1e-13).all()
    assert raised.max() < 1e-9
    assert made.weakest > 0


def test_a_steady_factor_of_a_definite_matrix_is_its_factor() -> None:
    H, _ = positive_definite(SCALES["mixed"])
    np.testing.assert_array_equal(steady_factor(H).upper, factor(H).upper)


def test_a_root_keeps_the_digits_that_its_matrix_loses() -> None:
    """Columns that agree to 1e-9: the square of that is below the rounding of the matrix."""
    A = rows_of(np.ones(2))
    A[:, 1] = A[:, 0] + 1e-9 * A[:, 1]
    left = A[:, 1] - A[:, 0] * (A[:, 0] @ A[:, 1]) / (A[:, 0] @ A[:, 0])
    share = (left @ left) / (A[:, 1] @ A[:, 1])
    assert factor(Root.of(A)).weakest == pytest.approx(share, rel=1e-5, abs=0)
    made = factor(A.T @ A)
    assert made is None or made.weakest != pytest.approx(share, rel=0.5, abs=0)


def test_roots_add_as_their_matrices_do() -> None:
    A, B = rows_of(np.ones(5), 1), rows_of(np.ones(5), 2)
    both = Root.of(A) + Root.of(B[:3])
    np.testing.assert_allclose(both.matrix(), A.T @ A + B[:3].T @ B[:3], rtol=1e-12, atol=1e-12)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), seeds)
def test_a_triangle_of_blocks_is_the_r_of_all_rows(blocks: list[int], seed: int) -> None:
    X = np.random.default_rng(seed).standard_normal((sum(blocks), 4)) * [1, 1e3, 1e-3, 1]
    R = triangle(np.split(X, np.cumsum(blocks)[:-1]))
    assert R.shape == (min(len(X), 4), 4)
    np.testing.assert_array_equal(np.tril(R, -1), 0)
    size = np.sqrt(np.square(X).sum(axis=0))
    np.testing.assert_allclose((R.T @ R) / np.outer(size, size), (X.T @ X) / np.outer(size, size), atol=1e-13)


def columns_that_depend(X: np.ndarray, *, intercept: bool = True) -> tuple[Dependence, np.ndarray]:
    """The dependence of centred and scaled columns after the intercept, whose number is 0, and those columns."""
    center = X.mean(axis=0) if intercept else np.zeros(X.shape[1])
    scale = np.sqrt(np.square(X - center).mean(axis=0))
    scale[scale <= 64 * EPS * np.abs(center)] = 1
    Z = np.column_stack([np.ones(len(X)), (X - center) / scale]) if intercept else X / scale
    size = np.append([1.0] * intercept, np.abs(center) / scale + 1)
    return dependence(triangle([Z]), 64 * EPS * size * np.sqrt(len(X))), Z


def independent(seed: int = 0, n: int = 200) -> tuple[np.ndarray, ...]:
    return tuple(np.random.default_rng(seed).standard_normal((4, n)))


def dummies(n: int = 200) -> np.ndarray:
    return np.eye(3)[np.arange(n) % 3]


a, b, c, e = independent()
CASES = {
    "independent": (np.column_stack([a, b, c]), []),
    "a duplicate": (np.column_stack([a, b, a]), [3]),
    "a duplicate in other units": (np.column_stack([a, 1e9 * a, b]), [2]),
    "three of one": (np.column_stack([a, -a, 2 * a]), [2, 3]),
    "a dummy set": (np.column_stack([dummies(), a]), [3]),
    "two dummy sets": (np.column_stack([dummies(), np.eye(2)[np.arange(200) % 2], a]), [3, 5]),
    "a constant": (np.column_stack([a, np.full(200, 7.0), b]), [2]),
    "a large constant": (np.column_stack([np.full(200, 1e9 + 0.1), b]), [1]),
    "a zero column": (np.column_stack([np.zeros(200), a]), [1]),
    "a sum": (np.column_stack([a, b, a + b, c]), [3]),
    "sums of far columns": (np.column_stack([a + 1e6, b - 1e6, (a + 1e6) + (b - 1e6), c, (a + 1e6) - c]), [3, 5]),
    "an exact sum of rounded columns": (np.column_stack([a + 1e6, b - 1e6, a + b, c]), [3]),
    "a sum with an offset": (np.column_stack([a, b, a + b + 1e6]), [3]),
    "a shift": (np.column_stack([a, a + 1e6]), [2]),
    "sums of sums": (np.column_stack([a, b, a + b, c, a + c, b - c, e]), [3, 5, 6]),
    "a part in a million of its own": (np.column_stack([a, b, a + b + 1e-6 * c]), []),
    "a part in a million of its own, far away": (np.column_stack([a + 1e3, b, a + b + 1e-6 * c]), []),
}


@pytest.mark.parametrize(("X", "expected"), CASES.values(), ids=CASES.keys())
def test_dependent_columns_are_found_in_order(X: np.ndarray, expected: list[int]) -> None:
    found, Z = columns_that_depend(X)
    assert found.aliased.tolist() == expected
    assert found.kept.tolist() == [j for j in range(Z.shape[1]) if j not in expected]


@pytest.mark.parametrize(("X", "expected"), CASES.values(), ids=CASES.keys())
def test_the_null_space_changes_no_score(X: np.ndarray, expected: list[int]) -> None:
    found, Z = columns_that_depend(X)
    N = found.null_space()
    assert N.shape == (Z.shape[1], len(expected))
    size = np.abs(X).max(axis=0) / np.maximum(X.std(axis=0), 1e-3)
    np.testing.assert_allclose(Z @ N, 0, atol=1e-13 * (1 + size.max()))
    np.testing.assert_array_equal(N[found.aliased], np.eye(len(expected)))
    np.testing.assert_allclose(Z[:, found.aliased], Z[:, found.kept] @ found.combination, atol=1e-13 * (1 + size.max()))


def test_without_an_intercept_a_dummy_set_and_a_constant_are_kept() -> None:
    assert columns_that_depend(np.column_stack([dummies(), a]), intercept=False)[0].aliased.size == 0
    constant = np.column_stack([a, np.full(200, 7.0), np.full(200, -3.0)])
    assert columns_that_depend(constant, intercept=False)[0].aliased.tolist() == [2]


@given(st.permutations(range(6)))
def test_the_first_columns_are_kept_in_any_order(order: list[int]) -> None:
    """Of a set of columns with one relation, the last of those in the relation is the aliased one."""
    X = np.column_stack([a, b, a - 2 * b, c, e, dummies()[:, 0]])[:, order]
    found, _ = columns_that_depend(X)
    assert found.aliased.tolist() == [1 + max(order.index(j) for j in (0, 1, 2))]


def test_more_columns_than_rows_leave_as_many_as_there_are_rows() -> None:
    X = np.random.default_rng(0).standard_normal((4, 7))
    found = dependence(triangle([X]), np.full(7, 64 * EPS))
    assert found.kept.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(X @ found.null_space(), 0, atol=1e-12)


def test_all_columns_zero_are_all_aliased() -> None:
    found = dependence(np.zeros((3, 3)), np.full(3, EPS))
    assert found.kept.size == 0
    np.testing.assert_array_equal(found.null_space(), np.eye(3))


@pytest.mark.parametrize("own", [1.0, 1e-3, 1e-6, 1e-13])
def test_many_columns_are_told_apart_as_few_are(own: float) -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((400, 300))
    X[:, 7] = X[:, 2] - X[:, 4] + own * rng.standard_normal(400)
    found = dependence(X, np.full(300, 1e-10))
    assert found.aliased.tolist() == ([7] if own < 1e-12 else [])
    assert found.kept.tolist() == [j for j in range(300) if j not in found.aliased.tolist()]
    assert found.combination.shape == (len(found.kept), len(found.aliased))
