"""CSR rows promise what dense rows promise: the same jets, whoever adds them up."""

from dataclasses import replace

import numpy as np
import pytest
from rarely import some_of
from scipy import sparse

from separatrix.data import Rows, Sparse
from separatrix.data.frame import Ask, Frame, Jet
from separatrix.data.jets import compiled_jet, margin_jet
from separatrix.fitting.risk.margin import Risk
from separatrix.fitting.risk.softmax import ClassRisk
from separatrix.losses import ALL, LogisticSquared, LogLikelihood, MarginLoss, Squared
from separatrix.losses.penalty import NoPenalty, Ridge
from separatrix.losses.softmax import SoftmaxLikelihood, SoftmaxSquared
from separatrix.numerics.threads import ordered_map

PLAIN, HESSIAN, ROOT, DIAGONAL = Ask(), Ask(hessian=True), Ask(hessian=True, root=True), Ask(diagonal=True)
FITTED = (LogLikelihood(), Squared(), LogisticSquared())
"""Each loss has a kernel of its own for CSR rows: those of the others are slow."""
every_loss = pytest.mark.parametrize(
    "loss",
    [pytest.param(loss, marks=[pytest.mark.slow] * (loss not in FITTED)) for loss in ALL],
    ids=lambda loss: type(loss).__name__,
)
every_kind = pytest.mark.parametrize(
    ("dtype", "index"), some_of([("f8", "i4"), ("f4", "i4"), ("f8", "i8"), ("f4", "i8")], 3)
)


def both(
    n: int, d: int, density: float, *, dtype: str = "f8", index: str = "i4", whole: bool = False
) -> tuple[Rows, Rows]:
    """CSR rows, and the same written out."""
    rng = np.random.default_rng(n)
    X = sparse.random_array((n, d), density=density, format="csr", rng=rng)
    X.data = rng.integers(-6, 7, X.nnz).astype(dtype) if whole else rng.normal(size=X.nnz).astype(dtype)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    y, cost = np.where(rng.random(n) < 0.5, -1, 1).astype(np.int8), rng.integers(0, 4, n).astype(float)
    return Rows.of(Sparse.of(X), y, cost, compiled=True), Rows.of(X.toarray(), y, cost)


def framed(d: int, far: float = 1.0, *, lifted: bool = True) -> tuple[Frame, np.ndarray]:
    rng = np.random.default_rng(d)
    frame = Frame(far * rng.normal(size=d), rng.uniform(1, 4, d), lifted)
    return frame, rng.normal(size=frame.width)


def assert_close(found: Jet, expected: Jet, rtol: float = 1e-12) -> None:
    assert found.value == pytest.approx(expected.value, rel=rtol)
    assert found.margin == pytest.approx(expected.margin, rel=rtol)
    size = 1 + np.abs(expected.gradient).max()
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=rtol, atol=rtol * size)
    if expected.hessian is not None:
        np.testing.assert_allclose(
            found.hessian, expected.hessian, rtol=rtol, atol=rtol * (1 + np.abs(expected.hessian).max())
        )


@every_loss
@pytest.mark.parametrize("density", [0.02, 0.6])
@pytest.mark.parametrize("far", [1.0, 1e5])
def test_the_jet_is_that_of_the_dense_rows(loss: MarginLoss, density: float, far: float) -> None:
    few, all_ = both(300, 40, density)
    frame, v = framed(40, far)
    v = v / 8 if far == 1 else v / far
    for ask in (PLAIN, HESSIAN):
        expected = margin_jet(loss, frame, ask, v, all_, 7, 290)
        for jet in (compiled_jet, margin_jet):
            assert_close(jet(loss, frame, ask, v, few, 7, 290), expected, 1e-12 if far == 1 else 1e-9)


@every_kind
def test_any_precision_and_any_column_numbers(dtype: str, index: str) -> None:
    few, all_ = both(300, 40, 0.05, dtype=dtype, index=index)
    frame, v = framed(40, lifted=False)
    for ask in (PLAIN, HESSIAN):
        assert_close(
            compiled_jet(LogLikelihood(), frame, ask, v, few, 0, 300),
            margin_jet(LogLikelihood(), frame, ask, v, all_, 0, 300),
        )


def test_integers_give_the_same_bits() -> None:
    few, all_ = both(300, 40, 0.1, whole=True)
    rng = np.random.default_rng(0)
    frame = Frame(rng.integers(-2, 3, 40).astype(float), np.full(40, 2.0), True)
    v = rng.integers(-2, 3, 41).astype(float)
    for ask in (PLAIN, HESSIAN):
        found = compiled_jet(Squared(), frame, ask, v, few, 0, 300)
        expected = margin_jet(Squared(), frame, ask, v, all_, 0, 300)
        assert (found.value, found.margin) == (expected.value, expected.margin)
        np.testing.assert_array_equal(found.gradient, expected.gradient)
        if ask.hessian:
            np.testing.assert_array_equal(found.hessian, expected.hessian)


def test_a_root_is_that_of_the_dense_rows() -> None:
    few, all_ = both(300, 20, 0.2)
    frame, v = framed(20)
    found, expected = (margin_jet(LogLikelihood(), frame, ROOT, v, rows, 0, 300).hessian for rows in (few, all_))
    np.testing.assert_allclose(found.matrix(), expected.matrix(), atol=1e-12 * np.abs(expected.matrix()).max())


@every_loss
def test_the_diagonal_and_the_products_are_those_of_the_hessian(loss: MarginLoss) -> None:
    few, all_ = both(300, 40, 0.1)
    frame, v = framed(40, far=0.0)
    u, ridge = np.random.default_rng(1).normal(size=41), np.linspace(0, 1, 41)
    risk, dense = (Risk(loss, rows, frame, Ridge(ridge), np.arange(41)) for rows in (few, all_))
    expected = dense(v / 8, HESSIAN).hessian
    size = 1e-12 * np.abs(expected).max()
    np.testing.assert_allclose(risk(v / 8, DIAGONAL).hessian, np.diag(expected), atol=size)
    np.testing.assert_allclose(risk.product(v / 8, u), expected @ u, atol=41 * size)


@pytest.mark.parametrize("loss", [SoftmaxLikelihood(), SoftmaxSquared()], ids=["likelihood", "squared"])
@pytest.mark.parametrize("classes", [3, 20])
@pytest.mark.parametrize("far", [0.0, 1.0, 1e5])
def test_jets_and_products_of_many_classes(loss: SoftmaxLikelihood, classes: int, far: float) -> None:
    few, all_ = both(300, 30, 0.1)
    y = np.random.default_rng(2).integers(0, classes, 300)
    few, all_ = replace(few, y=y).pack(classes), replace(all_, y=y)
    frame, ridge = framed(30, far)[0], np.full(31, 0.1)
    v, u = (np.random.default_rng(k).normal(size=classes * 31) / max(1, far) for k in (3, 4))
    risk, dense = (ClassRisk(loss, rows, frame, Ridge(ridge), np.arange(31), classes) for rows in (few, all_))
    assert_close(risk(v), dense(v), 1e-11 if far <= 1 else 1e-8)
    np.testing.assert_allclose(risk.product(v, u), dense.product(v, u), atol=1e-11 * max(1, far))
    if far == 0:
        for j in np.random.default_rng(0).permutation(v.size)[:20]:
            own = dense.product(v, np.eye(1, v.size, j)[0])[j]
            assert risk.diagonal(v)[j] == pytest.approx(own, rel=1e-11)


@pytest.mark.parametrize("ask", [PLAIN, HESSIAN, DIAGONAL], ids=["plain", "Hessian", "diagonal"])
def test_the_same_bits_for_any_number_of_threads(ask: Ask) -> None:
    few, _ = both(40_000, 60, 0.5)
    assert len(list(few.runs())) > 8
    frame, v = framed(60, far=0.0)

    def bits(threads: int) -> tuple[bytes, ...]:
        with ordered_map(threads) as each:
            risk = Risk(LogLikelihood(), replace(few, map=each), frame, NoPenalty(), np.arange(61))
            jet, product = risk(v, ask), risk.product(v, v)
        parts = (jet.value, jet.gradient, jet.margin, product, jet.hessian)
        return tuple(np.asarray(part).tobytes() for part in parts if part is not None)

    assert bits(1) == bits(2) == bits(5)
