"""The search among many rows: few of them, a rule, a look at all; the same answer as from all rows at once."""

import re
import time
from fractions import Fraction

import numpy as np
import pytest

from separatrix import LogisticRegression, SeparationWarning, separability
from separatrix.geometry.program import Program, even_balance, few_that_balance
from separatrix.geometry.separation import balancing, search, signs
from separatrix.geometry.separation.balancing import thinned, thinned_in_blocks
from separatrix.geometry.separation.cases import Cases, frame_of
from separatrix.geometry.separation.newton import try_newton
from separatrix.geometry.separation.units import null_space, simple
from separatrix.learners.geometry import separability as asking
from separatrix.numerics.exact import balances_exactly, eliminated, exact_directions, whole_rows
from separatrix.results.separability import LazyMapping


def planted(rng, n, d, gap=0.0):
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    w /= np.linalg.norm(w)
    y = X @ w > 0.2
    return X + np.where(y, gap, -gap)[:, None] * w, y.astype(int)


def noisy(rng, n, d):
    X = rng.normal(size=(n, d))
    return X, (rng.random(n) < 1 / (1 + np.exp(-X @ rng.normal(size=d)))).astype(int)


def with_dummy(rng, n, d):
    X, y = noisy(rng, n, d)
    X[:, -1] = 0.0
    X[rng.choice(n, 9, replace=False), -1] = 1.0
    y[X[:, -1] == 1] = 1
    return X, y


def on_a_plane(rng, n, d):
    X, w = rng.integers(-5, 6, size=(n, d)).astype(float), np.ones(d)
    there = rng.random(n) < 0.5
    X[there, -1] = -X[there, :-1].sum(axis=1)
    z = X @ w
    return X, np.where(z == 0, rng.random(n) < 0.5, z > 0).astype(int)


def three_classes(rng, n, d):
    X = rng.normal(size=(n, d))
    X[:, -1] = rng.random(n) < 0.01
    y = (X @ rng.normal(size=(d, 3)) + rng.gumbel(size=(n, 3))).argmax(axis=1)
    y[X[:, -1] == 1] = 2
    return X, y


SCENES = {
    "clear": (lambda rng: planted(rng, 6000, 5, 0.3), "separated"),
    "hairline": (lambda rng: planted(rng, 6000, 5), "separated"),
    "noisy": (lambda rng: noisy(rng, 6000, 5), "overlap"),
    "dummy": (lambda rng: with_dummy(rng, 6000, 5), "quasi-separated"),
    "plane": (lambda rng: on_a_plane(rng, 6000, 4), "quasi-separated"),
    "three classes": (lambda rng: three_classes(rng, 3000, 3), "quasi-separated"),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SCENES)
def test_few_rows_find_what_all_rows_find(name, seed, monkeypatch):
    make, kind = SCENES[name]
    X, y = make(np.random.default_rng(seed))
    by_few = separability(X, y)
    monkeypatch.setattr(search, "AT_ONCE", 10**6)
    at_once = separability(X, y)
    assert by_few.kind == at_once.kind == kind
    assert by_few.rows.tolist() == at_once.rows.tolist()
    assert by_few.partly.tolist() == at_once.partly.tolist()
    assert dict(by_few.coefficients) == dict(at_once.coefficients)
    assert by_few.check(X, y)
    assert at_once.check(X, y)


@pytest.mark.parametrize("name", SCENES)
def test_layout_and_precision_do_not_matter(name):
    X, y = SCENES[name][0](np.random.default_rng(7))
    X = X.astype(np.float32).astype(np.float64)
    plain = separability(X, y)
    for other in (np.asfortranarray(X), X.astype(np.float32), np.repeat(X, 2, axis=1)[:, ::2]):
        result = separability(other, y)
        assert result.kind == plain.kind
        assert result.rows.tolist() == plain.rows.tolist()
        assert result.check(other, y)


@pytest.mark.parametrize("name", ["clear", "noisy", "dummy", "plane"])
def test_compiled_looks_and_threads_change_nothing(name, monkeypatch):
    X, y = SCENES[name][0](np.random.default_rng(3))
    plain = separability(X, y)
    monkeypatch.setattr(asking, "COMPILE_FROM", 0)
    monkeypatch.setattr(asking, "SINGLE_THREAD_BELOW", 0)
    for other in (X, np.asfortranarray(X)):
        result = separability(other, y)
        assert (result.kind, result.rows.tolist()) == (plain.kind, plain.rows.tolist())
        assert dict(result.coefficients) == dict(plain.coefficients)
        assert result.check(other, y)


def test_a_rare_column_that_no_sample_shows_is_found():
    X, y = noisy(np.random.default_rng(0), 20_000, 6)
    X[:, 2] = 0.0
    X[[17, 12_345], 2] = 1e-5
    y[[17, 12_345]] = 1
    result = separability(X, y)
    assert result.kind == "quasi-separated"
    assert result.rows.tolist() == [17, 12_345]
    assert result.coefficients["x2"] == "+inf"
    assert result.check(X, y)


def test_nan_that_no_sample_shows_is_found():
    X, y = noisy(np.random.default_rng(0), 20_000, 6)
    X[12_345, 3] = np.nan
    with pytest.raises(ValueError, match=r"12345, .x3.\] is NaN"):
        separability(X, y)


def test_signs_of_many_separated_rows_wait_until_asked_for(monkeypatch):
    X, y = planted(np.random.default_rng(0), 12_000, 6, 0.2)
    asked = []
    real = asking.coefficient_kinds
    monkeypatch.setattr(asking, "coefficient_kinds", lambda found: asked.append(1) or real(found))
    result = separability(X, y)
    assert isinstance(result.coefficients, LazyMapping)
    assert result.check(X, y)
    assert "when asked" in str(result)
    assert not asked
    assert set(result.coefficients.values()) <= {"+inf", "-inf", "undetermined"}
    assert result.check(X, y)
    assert "Maximum likelihood sends" in str(result)
    assert asked == [1]


def test_rounding_that_hides_the_answer_is_said(monkeypatch):
    def give_up(found):
        raise search.HiddenSeparationError

    monkeypatch.setattr(asking, "prove", give_up)
    with pytest.raises(ArithmeticError, match=r"Rounding hides.*Leave out one of such columns"):
        separability([[0.0], [1.0], [2.0]], [0, 1, 0])


def test_too_many_weights_are_refused_with_a_way_out():
    X, y = np.zeros((9000, 900)), np.arange(9000) % 6
    with pytest.raises(ValueError, match=re.escape("4505 weights")):
        separability(X, y)


def test_a_fit_that_runs_out_of_passes_on_separated_rows_says_so():
    X, y = planted(np.random.default_rng(1), 500, 3)
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(max_passes=2).fit(X, y)
    assert model.verdict_.status == "separated"
    assert model.verdict_.check(X, y)
    assert (model.predict(X) == y).all()


# ---------------------------------------------------------------------------------------------------- its parts


@pytest.mark.parametrize("seed", range(20))
def test_newton_and_the_linear_program_agree(seed):
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, size=(12, 3)).astype(float)
    A = A[A.any(axis=1)]
    program = Program(3)
    program.add(A[:6])
    program.solve()
    program.add(A[6:])  # from the last basis
    _, t = program.solve()
    fresh = Program(3)
    fresh.add(A)
    np.testing.assert_allclose(t, fresh.solve()[1], atol=1e-7)
    assert np.isin(np.round(t, 6), [0, 1]).all()
    status = try_newton(A, 1e-11).status
    if status == "separated":
        assert (t > 0.5).all()
    if status == "overlap":
        assert (t < 0.5).all()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    ("thin", "size"), [(thinned, (40, 4)), (thinned_in_blocks, (40, 4)), (thinned_in_blocks, (420, 60))]
)
def test_a_thinned_balance_still_balances(seed, thin, size):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=size)
    tried = try_newton(A)
    assert tried.status == "overlap"
    rows, multipliers = thin(A, tried.weights)
    assert len(rows) <= size[1] + 1
    assert (multipliers > 0).all()
    np.testing.assert_allclose(multipliers @ A[rows], 0, atol=1e-12 * multipliers.max() * size[1])


def test_newton_begins_where_it_is_told_to():
    A = np.random.default_rng(0).normal(size=(200, 4))
    whole = try_newton(A, 1e-11)
    again = try_newton(A, 1e-11, start=whole.v)
    np.testing.assert_allclose(again.weights, whole.weights, rtol=1e-9)
    far = try_newton(A, 1e-11, start=whole.v + 1)
    assert far.status == "overlap"
    np.testing.assert_allclose(far.v, whole.v, rtol=1e-6)


@pytest.mark.parametrize("kind", ["plain", "a combination", "faint rows"])
def test_an_overlap_of_many_weights_is_proved(kind):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1700, 510))
    if kind == "a combination":
        X[:, 5] = X[:, 1] - 2 * X[:, 3]
    y = (X @ rng.normal(size=510) / 22 + rng.logistic(size=1700) > 0).astype(int)
    if kind == "faint rows":
        X[:300] += np.where(y[:300], 40, -40)[:, None] * rng.normal(size=510) / 22
    found = separability(X, y)
    assert found.kind == "overlap"
    assert found.rank.aliased == (("x5",) if kind == "a combination" else ())
    assert len(found.certificate.crossing.rows) <= found.rank.rank + 1
    assert found.check(X, y)


def test_balances_by_linear_programs():
    A = np.array([[1.0, 0], [0, 1], [-1, -1], [-1, 0], [3, 3]])
    few = few_that_balance(A, np.ones(5))
    assert 0 < np.count_nonzero(few > 1e-12) <= 3
    even = even_balance(A)
    assert even.min() > 0
    for found in (few, even):
        np.testing.assert_allclose(found @ A, 0, atol=1e-9)
    assert even_balance(np.array([[1.0, 0], [0, 1]])) is None


def test_directions_are_simple_and_exact():
    A = np.array([[1.0, 2, 3], [2, 4, 6], [0, 0, 1]])
    N = null_space(A)
    assert N.T.tolist() in ([[-2.0, 1.0, 0.0]], [[2.0, -1.0, 0.0]], [[1.0, -0.5, 0.0]], [[-1.0, 0.5, 0.0]])
    (exact,) = exact_directions(A, N)
    assert all(sum(x * y for x, y in zip(row, exact, strict=True)) == 0 for row in A.tolist())
    assert simple(np.array([1 / 3, 2 / 3, 1.0])).tolist() == [1.0, 2.0, 3.0]
    odd = np.array([np.pi, 1.0])
    assert simple(odd).tolist() == odd.tolist()


def by_fractions(A, B):
    """A⁻¹B by Gauss's elimination, every number a fraction; None if A is singular."""
    table = [[Fraction(x) for x in (*row, *right)] for row, right in zip(A.tolist(), B.tolist(), strict=True)]
    for k in range(len(A)):
        at = next((i for i in range(k, len(A)) if table[i][k]), None)
        if at is None:
            return None
        table[k], table[at] = table[at], table[k]
        table[k] = [x / table[k][k] for x in table[k]]
        for i in range(len(A)):
            if i != k:
                table[i] = [x - table[i][k] * y for x, y in zip(table[i], table[k], strict=True)]
    return [row[len(A) :] for row in table]


def hard_systems(seed):
    """Systems of which floats would tell little: cancelling, of huge and tiny and subnormal numbers, dependent ones."""
    rng = np.random.default_rng(seed)
    n, q = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    plain = rng.normal(size=(n, n + q))
    yield plain
    yield rng.integers(-2, 3, size=(n, n + q)).astype(float)
    yield plain * 10.0 ** rng.integers(-250, 250, size=(n, n + q))
    yield np.ldexp(rng.integers(-9, 10, size=(n, n + q)).astype(float), -1074)  # subnormal
    near = np.tile(plain[:1], (n, 1))
    yield near + np.spacing(near) * rng.integers(-1, 2, size=near.shape)  # rows that differ in the last digit
    dependent = plain.copy()
    dependent[-1] = 2 * dependent[0] if n > 1 else 0.0
    yield dependent


@pytest.mark.parametrize("seed", range(40))
def test_elimination_in_whole_numbers_is_that_of_fractions(seed):
    for system in hard_systems(seed):
        n = len(system)
        expected, found = by_fractions(system[:, :n], system[:, n:]), eliminated(whole_rows(system), n)
        assert (len(found.pivots) < n) == (expected is None)
        if expected is not None:
            assert [[Fraction(x, found.determinant) for x in row] for row in found.matrix[:, n:].tolist()] == expected


def test_elimination_gives_up_when_numbers_grow_long_or_time_is_over():
    system = whole_rows(np.random.default_rng(0).normal(size=(4, 5)))
    assert eliminated(system, 4) is not None
    assert eliminated(system, 4, bits=150) is None
    assert eliminated(system, 4, deadline=time.perf_counter()) is None


@pytest.mark.parametrize("seed", range(30))
def test_rays_settle_what_linear_programs_would(seed, monkeypatch):
    """Which coefficients have a sign: the same, whether rays into the cone are tried first or not."""
    rng = np.random.default_rng(seed)
    X, y = planted(rng, 60, int(rng.integers(1, 7)), gap=0.05)
    X = np.where(rng.random(X.shape) < 0.4, 0.0, X.round(1)) if seed % 2 else X * 10.0 ** rng.integers(-150, 150)
    met, rays = [], signs.Cone._rays

    def counted(self, f):
        found = rays(self, f)
        met.extend(ray is not None for ray in found)
        for ray, each in zip(found, f, strict=True):
            assert ray is None or (each @ ray > 0 and (self.G @ ray > 0).all())
        return found

    monkeypatch.setattr(signs.Cone, "_rays", counted)
    with_rays = dict(separability(X, y).coefficients)
    assert met or "undetermined" not in with_rays.values() or X.shape[1] < 2
    monkeypatch.setattr(signs, "RAYS", 0)
    assert dict(separability(X, y).coefficients) == with_rays


def test_of_very_many_directions_no_signs_are_looked_for(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 80), rng.normal(size=80), rng.integers(0, 2, 80)]).astype(float)
    y = np.where(X[:, 0] + X[:, 2] > 0, 1, rng.integers(0, 2, 80))
    known = dict(separability(X, y).coefficients)
    assert set(known.values()) > {"finite"}
    monkeypatch.setattr(signs, "MOST_DIRECTIONS", 0)
    found = separability(X, y)
    told = dict(found.coefficients)
    assert found.check(X, y)
    assert {name for name, kind in told.items() if kind == "finite"} == {
        name for name, kind in known.items() if kind == "finite"
    }
    assert set(told.values()) == {"finite", "undetermined"}


def test_what_balances_exactly_is_told_from_what_nearly_does():
    A = np.array([[1.0, 0.1], [-3.0, -0.3]])
    assert not balances_exactly(A, np.array([3.0, 1.0]))  # 3 · 0.1 is not 0.3
    assert balances_exactly(np.array([[1.0, 2.0], [-3.0, -6.0]]), np.array([3.0, 1.0]))


def test_a_wrong_answer_of_nnls_is_not_believed():
    G = np.array(
        [[3, -2, 0, 0], [0, 0, 3, -2], [-3, -2, 3, 2], [0, 0, 3, 2], [-2, 2, 2, -2], [-2, 2, 0, 0], [1, 2, -1, -2],
         [1, 2, 0, 0], [0, 1, 0, -1], [0, 1, 0, 0]], float,
    )  # fmt: skip
    G /= np.linalg.norm(G, axis=1)[:, None]
    far = signs._farthest(G, np.array([0.0, 0.0, 0.0, -1.0]))
    assert far is not None
    assert (G @ far >= -1e-8).all()
    assert far[3] < 0


def test_cases_of_rows_that_count_for_several_classes_or_none():
    from separatrix.data import Rows

    X = np.arange(8.0).reshape(4, 2)
    rows = Rows.of(X, np.ones(4, np.int8), np.array([1.0, 0, 0.5, 1]), other=np.array([0, 0, 0.5, 0.0]))
    cases = Cases.of(rows, 2, True, frame_of(rows, True, 0))
    assert list(zip(cases.row.tolist(), cases.own.tolist(), strict=True)) == [(0, 1), (2, 1), (2, 0), (3, 1)]
    v = np.array([1.0, 0.0, 0.0])
    (look,) = cases.look(v)
    expected = cases.signed(np.arange(4), 1 - cases.own) @ v
    np.testing.assert_allclose(look.margins[0, :, 0], expected)


def test_rows_that_span_only_by_rounding_are_no_balance():
    """A small part of the rows may miss a rare column: what rounding leaves of it must not pass for the column."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 4))
    A[:40, 3] = 1e-12 * rng.normal(size=40)
    part, every = np.arange(40), np.arange(60)
    assert balancing._balanced(A, part) is None
    rows, multipliers = balancing._balanced(A, every)
    np.testing.assert_allclose(multipliers @ A[rows], 0, atol=1e-12)
