"""Dense rows of many columns with a penalty: the minimum that matrices find, by passes over the rows."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from rarely import some_of
from scipy.special import expit

from separatrix import LogisticRegression
from separatrix.data import Rows
from separatrix.data.frame import Frame
from separatrix.errors import DataError
from separatrix.fitting import minimise
from separatrix.fitting.plans.single_factor import ColumnFactors, RowFactors
from separatrix.fitting.solvers.patient import PatientLBFGS

FEW, MANY = (400, 1200), (1400, 600)
each_shape = pytest.mark.parametrize("shape", [FEW, MANY], ids=["few rows", "many rows"])


def table(shape: tuple[int, int], seed: int = 0, *, alike: float = 0.0, sure: float = 2.0) -> tuple[Any, Any]:
    """Columns of scales 1…10 about centres that differ; with `alike` they share ten directions."""
    rng, (n, d) = np.random.default_rng(seed), shape
    X = rng.standard_normal(shape) + alike * rng.standard_normal((n, 10)) @ rng.standard_normal((10, d))
    beta = sure / np.sqrt(d) * rng.standard_normal(d)
    y = rng.random(n) < expit(X @ beta - 0.5)
    return X * np.geomspace(1, 10, d) + rng.standard_normal(d), y.astype(int)


def assert_same(X: Any, y: Any, weight: Any = None, **settings: Any) -> LogisticRegression:
    """Proved by passes, as the audit finds too, and no farther from what matrices find than both proofs allow."""
    ours = LogisticRegression(**settings).fit(X, y, weight)
    theirs = LogisticRegression(**settings, solver="newton").fit(X, y, weight)
    assert ours.verdict_.status == theirs.verdict_.status == "optimal"
    assert ours.verdict_.check(X, y, weight)
    allowed = sum(np.ravel(each.verdict_.certificate.coefficients) for each in (ours, theirs))
    ends = [np.append(each.coef_[0], each.intercept_) for each in (ours, theirs)]
    assert (np.abs(ends[0] - ends[1]) <= allowed + 1e-9).all()
    return ours


@each_shape
@pytest.mark.parametrize("layout", some_of(["F", "every other column", "C", "float32"], 3))
def test_any_layout_has_the_minimum_that_matrices_find(shape: tuple[int, int], layout: str) -> None:
    X, y = table(shape)
    if layout == "every other column":
        X = np.repeat(X, 2, axis=1)[:, ::2]
    X = X.astype(np.float32) if layout == "float32" else np.asarray(X, order="F" if layout == "F" else "K")
    assert_same(X, y, l2=1e-2)


@each_shape
@pytest.mark.parametrize(
    "settings", [{"fit_intercept": False}, {"class_weight": "balanced"}], ids=["no intercept", "class weights"]
)
def test_any_setting_has_the_minimum_that_matrices_find(shape: tuple[int, int], settings: dict[str, Any]) -> None:
    X, y = table(shape, 1)
    assert_same(X, y, l2=1e-2, **settings)


@each_shape
def test_rows_weigh_what_they_cost(shape: tuple[int, int]) -> None:
    X, y = table(shape, 2)
    assert_same(X, y, np.random.default_rng(2).integers(0, 3, len(y)).astype(float), l2=1e-2)


@each_shape
def test_soft_targets_are_rows_of_both_classes(shape: tuple[int, int]) -> None:
    X, y = table(shape, 3)
    assert_same(X, 0.1 + 0.8 * y, l2=1e-2)


@pytest.mark.filterwarnings("ignore:Not")
@each_shape
def test_a_factor_serves_columns_that_are_alike(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(shape, 4, alike=3.0)
    factored = assert_same(X, y, l2=1e-2)
    monkeypatch.setattr(PatientLBFGS, "_pays", lambda self: False)
    assert LogisticRegression(l2=1e-2).fit(X, y).n_passes_ > 1.3 * factored.n_passes_


def test_the_same_bits_for_any_number_of_threads() -> None:
    X, y = table((1400, 900), 5, alike=3.0)
    one, two = (LogisticRegression(l2=1e-3, n_threads=k).fit(X, y) for k in (1, 2))
    assert (one.coef_ == two.coef_).all()
    assert one.verdict_.certificate.relative_gap == two.verdict_.certificate.relative_gap


def test_constant_columns_and_rows_that_repeat_change_nothing() -> None:
    X, y = table(MANY, 6)
    X[:, :5], X[7:20] = 3.0, X[:13]
    model = assert_same(X, y, l2=1e-2)
    np.testing.assert_allclose(model.coef_[0, :5], 0, atol=1e-6)


@each_shape
def test_what_passes_do_not_prove_matrices_do(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(shape, 7)
    monkeypatch.setattr(minimise, "FIRST_PART", 0.02)
    assert assert_same(X, y, l2=1e-2).n_passes_ < 40


@pytest.mark.parametrize("most", [3, 20])
def test_no_more_passes_than_allowed(most: int) -> None:
    X, y = table(MANY, 8)
    with pytest.warns(UserWarning, match="passes"):
        model = LogisticRegression(l2=1e-6, max_passes=most).fit(X, y)
    assert model.verdict_.status == "budget"
    assert model.n_passes_ <= 3 * most + 20  # a proof that is tried at the end has passes of its own


@each_shape
def test_memory_is_no_more_than_that_of_the_rows(shape: tuple[int, int]) -> None:
    X, y = table((shape[0] * 2, shape[1] * 2), 9)
    LogisticRegression(l2=1e-2).fit(X, y)
    tracemalloc.start()
    LogisticRegression(l2=1e-2).fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.nbytes


def test_sums_that_overflow_are_refused() -> None:
    X, y = table(MANY, 10)
    X[0, 0] = 1e200
    with pytest.raises(DataError, match="overflow"):
        LogisticRegression(l2=1e-2).fit(X, y)


@each_shape
@pytest.mark.parametrize("lifted", [True, False])
def test_a_factor_solves_with_the_hessian(shape: tuple[int, int], lifted: bool) -> None:
    X, y = table(shape, 11)
    (n, d), rng = shape, np.random.default_rng(11)
    scale = np.full(d, 5.0) if n < d else np.geomspace(1, 10, d)
    frame, ridge = Frame(X.mean(axis=0) * lifted, scale, lifted), np.append(np.full(d, 0.05), [0.0] * lifted)
    rows, curvature = Rows.of(X, np.where(y, 1, -1).astype(np.int8), compiled=True), rng.random(n) / 4
    Z = frame.coordinates(X)
    H = (Z.T * curvature) @ Z / n + np.diag(ridge)
    g = rng.standard_normal(frame.width)
    found = (RowFactors if n < d else ColumnFactors)(rows, frame, ridge)(curvature).solve(g)
    assert np.linalg.norm(H @ found - g) < 1e-2 * np.linalg.norm(g)
