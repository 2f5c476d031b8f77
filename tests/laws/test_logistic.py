"""Laws of a logistic regression: what must not change its answer, and what must."""

import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rarely import examples, some_of
from referees.logistic import newton

from separatrix import BudgetWarning, LogisticRegression, SeparationWarning
from separatrix.data import Rows

TIGHT = 1e-14
"""Weights err by the square root of the gap: a gap of 10⁻¹⁴ lets them be compared to 10⁻⁶."""


def overlapping(n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    return X, (X @ np.linspace(1, -1, d) + 0.5 + rng.logistic(size=n) > 0).astype(int)


def fit(X, y, sample_weight=None, **settings):
    return LogisticRegression(**{"tol": TIGHT, **settings}).fit(X, y, sample_weight)


def quietly(X, y, sample_weight=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        warnings.simplefilter("ignore", BudgetWarning)
        return LogisticRegression(**settings).fit(X, y, sample_weight)


def assert_same(model, other, atol=1e-6):
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-6, atol=atol)
    np.testing.assert_allclose(model.intercept_, other.intercept_, rtol=1e-6, atol=atol)


# ------------------------------------------------------------------------------------------- scales and offsets

SCALES = {
    "all small": [1e-6] * 4,
    "all large": [1e6] * 4,
    "mixed": [1e-6, 1e6, 1.0, 1e-3],
    "wide": [1e-6, 1e-2, 1e2, 1e6],
    "signs": [-1e-6, -1e6, -1.0, 1e3],
}
OFFSETS = {
    "none": [0.0] * 4,
    "one": [1e6, 0.0, 0.0, 0.0],
    "all": [1e6, -1e6, 1e6, -1e6],
    "mixed": [1e6, 1e3, -1.0, 0.0],
}


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("offset", OFFSETS.values(), ids=OFFSETS)
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_scales_and_offsets_leave_unpenalised_probabilities_alone(scale, offset, solver):
    """The offset is in units of the column before it is scaled, so that it is a million deviations."""
    X, y = overlapping()
    moved = (X + offset) * scale
    model, plain = LogisticRegression(solver=solver).fit(moved, y), LogisticRegression(solver=solver).fit(X, y)
    assert model.verdict_.ok
    assert model.verdict_.check(moved, y)
    np.testing.assert_allclose(model.predict_proba(moved), plain.predict_proba(X), rtol=0, atol=1e-8)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_scales_leave_unpenalised_probabilities_alone_to_eight_digits(solver):
    X, y = overlapping()
    plain = fit(X, y, solver=solver).predict_proba(X)
    for scale in SCALES.values():
        model = LogisticRegression(solver=solver).fit(X * scale, y)
        same = LogisticRegression(solver=solver).fit(X, y)
        assert model.verdict_.ok
        assert model.n_passes_ == same.n_passes_
        np.testing.assert_allclose(model.predict_proba(X * scale), same.predict_proba(X), rtol=0, atol=1e-8)
        np.testing.assert_allclose(fit(X * scale, y, solver=solver).predict_proba(X * scale), plain, rtol=0, atol=1e-8)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_offsets_leave_unpenalised_probabilities_alone_to_eight_digits(solver):
    """Offsets and rows are multiples of 2⁻²⁰, so that their sums are exact and only the fit is judged."""
    X, y = overlapping()
    X = np.round(X * 2**20) / 2**20
    plain = LogisticRegression(solver=solver).fit(X, y)
    for offset in OFFSETS.values():
        model = LogisticRegression(solver=solver).fit(X + offset, y)
        assert model.verdict_.ok
        np.testing.assert_allclose(model.predict_proba(X + offset), plain.predict_proba(X), rtol=0, atol=1e-8)


@examples(
    20,
    60,
    arrays(int, 4, elements=st.integers(-6, 6)),
    arrays(int, 4, elements=st.integers(-(10**6), 10**6)),
    st.sampled_from(["newton", "lbfgs"]),
)
def test_any_scales_and_offsets_leave_unpenalised_probabilities_alone(exponents, offsets, solver):
    X, y = overlapping(60)
    X = np.round(X * 2**20) / 2**20
    scale = 2.0 ** (3 * exponents)
    model = LogisticRegression(solver=solver).fit((X + offsets) * scale, y)
    assert model.verdict_.ok
    plain = LogisticRegression(solver=solver).fit(X, y)
    np.testing.assert_allclose(model.predict_proba((X + offsets) * scale), plain.predict_proba(X), rtol=0, atol=1e-8)


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("l2", [1e-12, 1e-6, 1e-3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_penalty_acts_in_the_users_units(scale, l2, fit_intercept):
    assert_penalised_optimum(scale, l2, fit_intercept)


@pytest.mark.parametrize("l2", [1.0, 1e3])
def test_a_strong_penalty_on_small_units_is_proved_too(l2):
    assert_penalised_optimum([1e-6] * 4, l2, True)


def assert_penalised_optimum(scale, l2, fit_intercept):
    X, y = overlapping()
    X = X * scale
    model = fit(X, y, l2=l2, fit_intercept=fit_intercept, tol=1e-12)
    truth = newton(X, y, l2=l2, fit_intercept=fit_intercept)
    assert model.verdict_.ok
    assert model.verdict_.check(X, y)
    deviation = X.std(axis=0)
    np.testing.assert_allclose(model.coef_[0] * deviation, truth.weights.astype(float) * deviation, atol=2e-6)
    assert model.verdict_.claim.value == pytest.approx(float(truth.value), rel=1e-11)


def test_a_penalty_does_not_act_on_the_intercept():
    X, y = overlapping()
    model = fit(X - X.mean(axis=0), y, l2=1e9)
    np.testing.assert_allclose(model.coef_, 0, atol=1e-8)
    assert model.intercept_[0] == pytest.approx(np.log(y.mean() / (1 - y.mean())), rel=1e-6)


def test_an_offset_does_not_change_a_penalised_slope():
    X, y = overlapping()
    X = np.round(X * 2**20) / 2**20
    model, moved = fit(X, y, l2=0.1), fit(X + 2.0**20, y, l2=0.1)
    np.testing.assert_allclose(moved.coef_, model.coef_, atol=1e-8)


def test_an_intercept_is_a_column_of_ones_without_a_penalty():
    X, y = overlapping()
    lifted = fit(np.column_stack([X, np.ones(len(X))]), y, fit_intercept=False)
    model = fit(X, y)
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), lifted.coef_[0], atol=1e-6)
    penalised = fit(np.column_stack([X, np.ones(len(X))]), y, fit_intercept=False, l2=1.0)
    assert abs(penalised.coef_[0, -1] - fit(X, y, l2=1.0).intercept_[0]) > 0.01


def test_without_an_intercept_the_boundary_contains_the_origin():
    X, y = overlapping()
    model = fit(X, y, fit_intercept=False)
    assert model.intercept_.tolist() == [0]
    assert model.decision_function(np.zeros((1, 4))).tolist() == [0]
    np.testing.assert_allclose(model.coef_[0], newton(X, y, fit_intercept=False).weights.astype(float), atol=1e-6)


# ---------------------------------------------------------------------------------------------------------- costs


@st.composite
def weighted_tables(draw):
    n, d = draw(st.integers(8, 25)), draw(st.integers(1, 3))
    X = draw(arrays(float, (n, d), elements=st.floats(-5, 5, width=32).map(lambda x: round(x, 2))))
    y = draw(arrays(int, n, elements=st.integers(0, 1)))
    times = draw(arrays(int, n, elements=st.integers(0, 3)))
    assume(times[y == 0].any() and times[y == 1].any() and X[times > 0].any())
    return X, y, times


@examples(20, 60, weighted_tables(), st.sampled_from([0.0, 0.01]), st.booleans(), st.sampled_from(["newton", "lbfgs"]))
def test_a_weight_is_a_number_of_copies(table, l2, fit_intercept, solver):
    X, y, times = table
    settings = {"l2": l2, "fit_intercept": fit_intercept, "solver": solver}
    weighted = quietly(X, y, times, **settings)
    copied = quietly(np.repeat(X, times, axis=0), np.repeat(y, times), **settings)
    assert weighted.verdict_.status == copied.verdict_.status
    assert weighted.verdict_.rank == copied.verdict_.rank
    if weighted.verdict_.status in ("optimal", "quasi-separated"):
        assert weighted.verdict_.claim.value == pytest.approx(copied.verdict_.claim.value, rel=1e-9)
        np.testing.assert_allclose(
            weighted.predict_proba(X[times > 0]), copied.predict_proba(X[times > 0]), rtol=0, atol=1e-4
        )


def test_weight_two_is_the_row_twice():
    X, y = overlapping()
    cost = np.ones(len(y))
    cost[[3, 50]] = 2
    assert_same(fit(X, y, cost), fit(np.vstack([X, X[[3, 50]]]), np.append(y, y[[3, 50]])))


@pytest.mark.parametrize("value", [0.0, 1e3, 1e6, 1e10])
def test_weight_zero_is_the_row_absent(value):
    X, y = overlapping()
    cost = np.ones(len(y))
    cost[[3, 50]] = 0
    X[[3, 50]] += value
    rest = cost > 0
    weighted, absent = fit(X, y, cost), fit(X[rest], y[rest])
    assert weighted.verdict_.ok
    assert_same(weighted, absent)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_weight_zero_is_the_row_absent_with_fewer_rows_than_columns(solver):
    X, y = overlapping(12, 30)
    cost = np.ones(12)
    cost[[2, 7, 11]] = 0
    weighted = quietly(X, y, cost, l2=0.01, solver=solver)
    assert weighted.verdict_.ok
    assert_same(weighted, fit(X[cost > 0], y[cost > 0], l2=0.01), atol=1e-4)


@pytest.mark.parametrize("unit", [1e-12, 1e-3, 1e12])
def test_the_unit_of_the_weights_does_not_matter(unit):
    X, y = overlapping()
    cost = np.random.default_rng(1).random(len(y))
    assert_same(fit(X, y, cost * unit, l2=0.1), fit(X, y, cost, l2=0.1))


def test_the_order_of_rows_and_columns_does_not_matter():
    X, y = overlapping()
    rows, columns = np.random.default_rng(0).permutation(len(y)), [2, 0, 3, 1]
    model, shuffled = fit(X, y), fit(X[rows], y[rows])
    assert_same(model, shuffled)
    turned = fit(np.ascontiguousarray(X[:, columns]), y)
    np.testing.assert_allclose(turned.coef_, model.coef_[:, columns], atol=1e-6)


# ------------------------------------------------------------------------------------------------- rows in memory

LAYOUTS = {
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "slice of columns": lambda X: np.column_stack([X, X])[:, : X.shape[1]],
}


@pytest.mark.parametrize("rows", [300, 120_000], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_any_layout_in_memory_gives_the_same_optimum(rows, layout, solver):
    X, y = overlapping(rows)
    given, before = layout(X), X.copy()
    given.setflags(write=False)
    model = fit(given, y, solver=solver, tol=1e-13)
    assert (given == before).all()
    assert_same(model, fit(X, y, solver=solver, tol=1e-13), atol=2e-6)


@pytest.mark.parametrize("rows", [300, 120_000], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("order", ["C", pytest.param("F", marks=pytest.mark.slow)])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_single_precision_rows_are_summed_in_double(rows, order, solver):
    X, y = overlapping(rows)
    single = np.asarray(X, dtype=np.float32, order=order)
    model = fit(single, y, solver=solver, tol=1e-13)
    assert model.verdict_.ok
    assert model.coef_.dtype == np.float64
    assert_same(model, fit(single.astype(float), y, solver=solver, tol=1e-13), atol=2e-6)
    assert model.predict_proba(single).dtype == np.float64


def test_nothing_that_is_handed_in_is_changed():
    X, y = overlapping()
    cost = np.random.default_rng(0).random(len(y))
    init = np.ones(5)
    copies = [each.copy() for each in (X, y, cost, init)]
    model = fit(X, y, cost, init=init, class_weight={0: 2.0})
    model.predict_proba(X)
    model.influence(X, y, cost)
    model.verdict_.check(X, y, cost)
    for each, copy in zip((X, y, cost, init), copies, strict=True):
        assert (each == copy).all()


def test_integers_and_lists_are_rows_too():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-9, 9, size=(100, 3)), rng.integers(0, 2, size=100)
    expected = fit(X.astype(float), y).coef_.tolist()
    assert fit(X, y).coef_.tolist() == fit(X.tolist(), y.tolist()).coef_.tolist() == expected
    assert fit(X.astype(np.int8), y).coef_.tolist() == expected


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize(
    ("dtype", "order"),
    some_of([(np.float64, "F"), (np.float64, "C"), (np.float32, "F"), (np.float32, "C")], 3),
)
def test_a_fit_never_copies_the_rows(dtype, solver, order):
    """60 MB of rows; a fit may use 64 MB + 120 d² bytes besides, so it is asked for much less than a copy."""
    d = 100
    n = 60_000_000 // (d * np.dtype(dtype).itemsize)
    rng = np.random.default_rng(0)
    X = np.empty((n, d), dtype, order=order)
    X[:] = rng.standard_normal((n, d), dtype=np.float32)
    y = (X[:, 0] + rng.logistic(size=n) > 0).astype(np.int8)
    LogisticRegression(solver=solver).fit(X[:8192], y[:8192])  # compile and import first
    tracemalloc.start()
    try:
        model = LogisticRegression(solver=solver).fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert model.verdict_.ok
    assert peak < 64e6 + 120 * d**2
    assert peak < 0.8 * X.nbytes


# ------------------------------------------------------------------------------------------------------- threads


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_number_of_threads_gives_the_same_bits(solver, dtype, order):
    X, y = overlapping(120_000, 12)
    X = np.asarray(X, dtype=dtype, order=order)
    assert len(list(Rows.of(X, y, np.empty(0)).runs())) > 8  # or there would be nothing to share out
    fits = [LogisticRegression(solver=solver, n_threads=threads).fit(X, y) for threads in (1, 2, 8)]
    assert fits[0].verdict_.ok
    for other in fits[1:]:
        assert other.coef_.tobytes() == fits[0].coef_.tobytes()
        assert other.intercept_.tobytes() == fits[0].intercept_.tobytes()
        assert other.verdict_.to_dict() == fits[0].verdict_.to_dict()
        assert [record[:4] for record in other.history_] == [record[:4] for record in fits[0].history_]


def test_the_environment_sets_the_number_of_threads(monkeypatch):
    from separatrix.numerics.threads import thread_count

    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert thread_count() == 3
    assert thread_count(5) == 5
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert thread_count() >= 1


def test_fits_in_several_threads_do_not_disturb_one_another():
    X, y = overlapping(120_000, 12)
    alone = LogisticRegression(n_threads=2).fit(X, y).coef_.tobytes()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: LogisticRegression(n_threads=2).fit(X, y).coef_.tobytes(), range(6)))
    assert set(together) == {alone}


def test_the_compiled_pass_agrees_with_the_interpreted_one():
    """The same rows three times over are enough numbers for the compiled pass, and the same mean loss."""
    X, y = overlapping(35_000, 4)
    assert X.size < 400_000 < 3 * X.size
    interpreted, compiled = fit(X, y, tol=1e-13), fit(np.tile(X, (3, 1)), np.tile(y, 3), tol=1e-13)
    assert_same(interpreted, compiled, atol=2e-6)
    assert compiled.verdict_.claim.value == pytest.approx(interpreted.verdict_.claim.value, rel=1e-12)


# --------------------------------------------------------------------------------------- nearly dependent columns


def nearly_dependent(noise, n=60, seed=0):
    """Two columns whose difference tells the classes apart, a little: its weight is about one over the noise."""
    rng = np.random.default_rng(seed)
    x, difference = rng.normal(size=n), rng.normal(size=n)
    return np.column_stack([x, x + noise * difference]), (difference + rng.logistic(size=n) > 0).astype(int)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("noise", [1e-5, 1e-6])
def test_the_difference_of_nearly_equal_columns_can_have_a_large_weight(solver, noise):
    X, y = nearly_dependent(noise)
    plain = fit(np.column_stack([X[:, 0], (X[:, 1] - X[:, 0]) / noise]), y)
    model = quietly(X, y, solver=solver)
    assert model.verdict_.claim.value == pytest.approx(plain.verdict_.claim.value, rel=1e-6)
    assert np.abs(model.coef_).max() > 0.1 / noise


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_columns_far_from_an_origin_that_the_boundary_must_contain(solver):
    """Without an intercept an offset is no harmless shift: the columns are nearly multiples of one another."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60, 2))
    y = (Z[:, 0] + rng.logistic(size=60) > 0).astype(int)
    X = np.array([1000.0, 2000.0]) + 1e-3 * Z
    model = quietly(X, y, solver=solver, fit_intercept=False)
    assert model.verdict_.claim.value == pytest.approx(float(newton(X, y, fit_intercept=False).value), rel=1e-6)
