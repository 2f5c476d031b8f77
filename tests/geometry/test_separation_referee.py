"""The referees of separation themselves: cases worked by hand, and their agreement with each other."""

from fractions import Fraction

import numpy as np
import pytest
from rarely import some_of
from referees.logistic import newton
from referees.separation import (
    INTERCEPT,
    balances,
    extreme_rays,
    independent_columns,
    limit,
    normals_of,
    separation,
    separation_by_fractions,
    separation_by_highs,
    simplex,
    small_problem,
)

REFEREES = [separation, separation_by_fractions, separation_by_highs]
FINITE, UP, DOWN, EITHER = "finite", "+inf", "-inf", "undetermined"


def settings_of(problem):
    return {"weight": problem.weight, "fit_intercept": problem.fit_intercept, "classes": problem.classes}


@pytest.mark.parametrize("referee", REFEREES)
class TestByHand:
    def test_one_column_with_a_tie(self, referee):
        """b ≥ 0 and b ≤ 0 at x = 0, so b = 0 and the slope is free to grow."""
        found = referee([[-1], [0], [0], [1]], [0, 0, 1, 1])
        assert found.kind == "quasi-separated"
        assert (found.rows, found.partly) == ((0, 3), ())
        assert found.coefficients == {INTERCEPT: FINITE, 0: UP}

    def test_six_rows(self, referee):
        """The boundary −b/w lies between 3 and 4."""
        found = referee(np.arange(1, 7)[:, None], [0, 0, 0, 1, 1, 1])
        assert found.kind == "separated"
        assert found.rows == (0, 1, 2, 3, 4, 5)
        assert found.coefficients == {INTERCEPT: DOWN, 0: UP}

    def test_six_rows_around_zero(self, referee):
        """The boundary lies between −1 and 1: the intercept may have either sign."""
        found = referee(np.array([-5, -3, -1, 1, 3, 5])[:, None], [0, 0, 0, 1, 1, 1])
        assert found.coefficients == {INTERCEPT: EITHER, 0: UP}

    def test_two_signed_rows_make_both_coefficients_infinite(self, referee):
        """Signed rows (1, 0) and (−1, 1): 0 ≤ β₁ ≤ β₂, though β₁ = 0 is best where β is bounded by a box."""
        found = referee([[1, 0], [1, -1]], [1, 0], fit_intercept=False)
        assert found.kind == "separated"
        assert found.coefficients == {0: UP, 1: UP}

    def test_exclusive_or(self, referee):
        found = referee([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
        assert (found.kind, found.rows) == ("overlap", ())
        assert found.coefficients == {INTERCEPT: FINITE, 0: FINITE, 1: FINITE}

    def test_and(self, referee):
        """b ≤ 0, b + w₁ ≤ 0, b + w₂ ≤ 0 ≤ b + w₁ + w₂, so that both weights are at least 0."""
        found = referee([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
        assert found.kind == "separated"
        assert found.coefficients == {INTERCEPT: DOWN, 0: UP, 1: UP}

    def test_a_copy_of_a_column_is_left_out(self, referee):
        found = referee([[-1, 1], [0, 0], [0, 0], [1, -1]], [0, 0, 1, 1])
        assert found.aliased == (1,)
        assert found.coefficients == {INTERCEPT: FINITE, 0: UP, 1: EITHER}

    def test_a_constant_column_depends_on_the_intercept(self, referee):
        found = referee([[2, -1], [2, 1]], [0, 1])
        assert found.aliased == (0,)
        assert found.coefficients == {INTERCEPT: EITHER, 0: EITHER, 1: UP}

    def test_a_row_of_zeros_without_intercept_is_never_separated(self, referee):
        found = referee([[0], [1], [-1]], [1, 1, 0], fit_intercept=False)
        assert (found.kind, found.rows) == ("quasi-separated", (1, 2))
        assert found.coefficients == {0: UP}

    def test_nothing_but_zeros(self, referee):
        if referee is separation_by_highs:
            pytest.skip("a programme without variables")
        found = referee([[0], [0]], [1, 0], fit_intercept=False)
        assert (found.kind, found.rows, found.coefficients) == ("overlap", (), {0: EITHER})

    def test_a_row_of_weight_zero_is_absent(self, referee):
        found = referee([[-1], [5], [0], [1]], [0, 0, 0, 1], weight=[1, 0, 1, 1])
        assert (found.kind, found.rows) == ("separated", (0, 2, 3))

    def test_three_classes_of_which_one_stands_apart(self, referee):
        """Classes 1 and 2 meet at 4, 5 and 6, on both sides: relative to class 2 class 1 stays finite, 0 does not."""
        X = np.array([0, 1, 4, 5, 5, 6])[:, None]
        found = referee(X, [0, 0, 1, 2, 1, 1], classes=3)
        assert found.kind == "quasi-separated"
        assert (found.rows, found.partly) == ((0, 1), (2, 3, 4, 5))
        assert found.coefficients == {0: {INTERCEPT: UP, 0: DOWN}, 1: {INTERCEPT: FINITE, 0: FINITE}}
        assert (0, 1) in found.pairs
        assert (2, 0) in found.pairs
        assert (2, 2) not in found.pairs

    def test_three_classes_in_a_row_are_separated(self, referee):
        """Relative to class 2 the lower a class the steeper downwards; the boundaries lie in (1, 4) and (5, 8)."""
        found = referee(np.array([0, 1, 4, 5, 8, 9])[:, None], [0, 0, 1, 1, 2, 2], classes=3)
        assert found.kind == "separated"
        assert found.coefficients == {0: {INTERCEPT: UP, 0: DOWN}, 1: {INTERCEPT: UP, 0: DOWN}}


def test_bland_solves_a_programme_that_would_go_round_in_circles():
    """Beale's example, whose maximum is 1/20."""
    c = [75, -15000, 2, -600]  # in hundredths
    M = [[25, -6000, -4, 900], [50, -9000, -2, 300], [0, 0, 1, 0]]
    assert simplex(c, M, [0, 0, 1]) == 5
    assert isinstance(simplex(c, M, [0, 0, 1]), Fraction)


def test_minors_are_normal_to_their_rows():
    rng = np.random.default_rng(0)
    for p in range(1, 8):
        M = rng.integers(-3, 4, size=(50, p - 1, p))
        normals = normals_of(M)
        assert not np.einsum("sij,sj->si", M, normals).any()
        size = np.linalg.norm(normals, axis=1)
        np.testing.assert_allclose(size, np.sqrt(np.linalg.det(M @ M.transpose(0, 2, 1)).clip(0)), atol=1e-4)


def test_the_rays_of_a_square_cone():
    rays = extreme_rays(np.array([[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1]]))
    assert sorted(rays.tolist()) == [[-1, -1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, 1]]


def test_rows_that_balance_and_rows_that_do_not():
    assert balances([[1, 0], [0, 1], [-2, -3]])
    assert balances([[1, 2], [-2, -4]])
    assert not balances([[1, 0], [0, 1], [-1, 0]])
    assert not balances([[1, 2]])
    assert balances([[0, 0]])


def test_columns_are_judged_from_the_left():
    assert independent_columns(np.array([[0, 1, 2, 1, 0], [0, 2, 4, 0, 1]])) == [1, 3]


@pytest.mark.parametrize("chunk", some_of(range(8), 3))
def test_rays_agree_with_programmes_in_rational_numbers(chunk):
    wrong = []
    for seed in range(40 * chunk, 40 * chunk + 40):
        problem = small_problem(seed)
        if problem.answer != separation_by_fractions(problem.X, problem.y, **settings_of(problem)):
            wrong.append(seed)
    assert wrong == []


def test_rays_agree_with_highs():
    problems = {seed: small_problem(seed) for seed in range(150)}
    wrong = [s for s, p in problems.items() if p.answer != separation_by_highs(p.X, p.y, **settings_of(p))]
    assert wrong == []


def test_the_problems_are_of_every_sort():
    answers = [small_problem(seed).answer for seed in range(400)]
    assert {answer.kind for answer in answers} == {"separated", "quasi-separated", "overlap"}
    assert sum(bool(answer.aliased) for answer in answers) > 60
    assert sum(bool(answer.partly) for answer in answers) > 20
    kinds = {answer.kind: sum(a.kind == answer.kind for a in answers) for answer in answers}
    assert min(kinds.values()) > 60


def test_a_fading_penalty_sends_coefficients_where_the_rays_say():
    """Without any of the theory: maximum likelihood under penalties of 10⁻⁵ and 10⁻⁹."""
    tried = 0
    for seed in range(400):
        problem = small_problem(seed, classes=2)
        answer = problem.answer
        if answer.kind != "quasi-separated" or answer.aliased or tried == 25:
            continue
        tried += 1
        faint, fainter = (
            newton(problem.X, problem.y, l2=l2, cost=problem.weight, fit_intercept=problem.fit_intercept)
            for l2 in (1e-5, 1e-9)
        )
        for name, status in answer.coefficients.items():
            before, after = (f.intercept if name == INTERCEPT else f.weights[name] for f in (faint, fainter))
            if status == FINITE:
                assert abs(after - before) < 0.2, seed
            elif status != EITHER:
                assert (after - before) * (1 if status == UP else -1) > 1, seed
    assert tried == 25


def test_the_limit_is_what_a_fading_penalty_tends_to():
    X, y = np.array([[-1, 0], [0, 1], [0, 2], [0, 0], [0, 1], [1, 3]]), np.array([0, 0, 1, 1, 0, 1])
    answer = separation(X, y)
    assert answer.coefficients == {INTERCEPT: FINITE, 0: UP, 1: FINITE}
    found, faint = limit(X, y, answer), newton(X, y, l2=1e-13)
    assert found.deviance == pytest.approx(2 * len(y) * float(faint.value), rel=1e-6)
    np.testing.assert_allclose(found.coefficients[0, [0, 2]], [faint.intercept, faint.weights[1]], atol=1e-4)
    assert found.probabilities[[0, 5]].tolist() == [[1, 0], [0, 1]]


def test_the_limit_of_three_classes_is_that_of_the_two_that_meet():
    X, y = np.array([0, 1, 4, 5, 5, 6])[:, None], np.array([0, 0, 1, 2, 1, 1])
    found = limit(X, y, separation(X, y, classes=3), classes=3)
    two = newton(X[2:], y[2:] == 1)
    assert found.deviance == pytest.approx(8 * float(two.value), rel=1e-12)
    np.testing.assert_allclose(found.coefficients[1], [two.intercept, two.weights[0]], rtol=1e-8, atol=1e-12)
    assert not found.probabilities[2:, 0].any()
    assert found.probabilities[:2].tolist() == [[1, 0, 0]] * 2
