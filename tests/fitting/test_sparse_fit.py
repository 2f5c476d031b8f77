"""CSR rows: every fit that dense rows have, the same verdict, and nothing as large as the dense rows."""

import bz2
import lzma
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from places import SHARED
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.preprocessing import normalize

from separatrix import CrossValidation, LogisticRegression
from separatrix.fitting import coordinates as geometry
from separatrix.fitting.plans import wide as wide_plan
from separatrix.learners.warnings import BudgetWarning

DATA = SHARED
needs_data = pytest.mark.skipif(not DATA.exists(), reason="the shared data are not here")


def table(n: int, d: int, density: float, classes: int = 2, seed: int = 0, noise: float = 2.0) -> tuple[Any, Any]:
    """Rows of which only some numbers are not zero, and classes that overlap."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=density, format="csr", rng=rng)
    X.data = rng.normal(size=X.nnz)
    scores = X @ rng.normal(size=(d, classes)) + noise * rng.gumbel(size=(n, classes))
    return X, scores.argmax(axis=1)


def assert_same(ours: LogisticRegression, theirs: LogisticRegression) -> None:
    """One verdict, and weights that differ by no more than the two certificates allow."""
    assert ours.verdict_.status == theirs.verdict_.status
    assert ours.verdict_.rank.aliased == theirs.verdict_.rank.aliased
    allowed = sum(np.atleast_2d(each.verdict_.certificate.coefficients) for each in (ours, theirs))
    apart = np.abs(np.column_stack([ours.coef_, ours.intercept_]) - np.column_stack([theirs.coef_, theirs.intercept_]))
    assert (apart <= allowed + 1e-9 * (1 + np.abs(theirs.coef_).max())).all()


def soft(y: Any, classes: int) -> Any:
    T = np.full((len(y), classes), 0.1 / classes) + 0.9 * np.eye(classes)[y]
    return T[:, 1] if classes == 2 else T


SETTINGS: dict[str, tuple[int, dict[str, Any]]] = {
    "two classes": (2, {}),
    "three classes": (3, {}),
    "without an intercept": (2, {"fit_intercept": False}),
    "a penalty": (2, {"l2": 0.01}),
    "three classes and a penalty": (3, {"l2": 0.01}),
    "L-BFGS": (2, {"solver": "lbfgs"}),
    "L-BFGS of three classes": (3, {"solver": "lbfgs"}),
    "the gradient": (2, {"solver": "gradient", "l2": 0.1}),
    "class weights": (2, {"class_weight": "balanced"}),
    "the squared error": (2, {"objective": "squared", "starts": 2, "random_state": 0}),
    "the squared error of three classes": (3, {"objective": "squared", "starts": 1}),
    "Gauss-Newton": (2, {"objective": "squared", "solver": "gauss-newton", "starts": 1}),
}


@pytest.mark.parametrize(("classes", "settings"), SETTINGS.values(), ids=SETTINGS.keys())
@pytest.mark.parametrize("n", [400, 15_000], ids=["interpreted", "compiled"])
def test_the_fit_is_that_of_the_dense_rows(n: int, classes: int, settings: dict[str, Any]) -> None:
    X, y = table(n, 30, 0.15, classes)
    dense = X.toarray()
    ours, theirs = LogisticRegression(**settings).fit(X, y), LogisticRegression(**settings).fit(dense, y)
    assert_same(ours, theirs)
    if n < 1000:
        assert ours.verdict_.check(X, y)
        assert ours.verdict_.check(dense, y)
        assert theirs.verdict_.check(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(dense), atol=1e-4)
    assert (ours.predict(X) == ours.predict(dense)).all()
    np.testing.assert_allclose(ours.distance(X), ours.distance(dense), atol=1e-12)
    np.testing.assert_allclose(ours.predict_log_proba(X), ours.predict_log_proba(dense), atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["weights", "soft targets", "both"])
def test_weights_and_soft_targets_count_the_same(classes: int, kind: str) -> None:
    X, y = table(500, 12, 0.3, classes)
    cost = np.random.default_rng(1).integers(0, 3, 500).astype(float) if kind != "soft targets" else None
    target = soft(y, classes) if kind != "weights" else y
    ours, theirs = (LogisticRegression().fit(rows, target, cost) for rows in (X, X.toarray()))
    assert_same(ours, theirs)
    assert ours.verdict_.check(X, target, cost)


def in_form(X: Any, form: str) -> Any:
    if form == "int64":
        X = X.copy()
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        return X
    if form == "explicit zeros":
        full = X.tocoo()
        extra = np.random.default_rng(0).integers(0, 30, 50)
        values, rows, columns = np.append(full.data, 0 * extra), np.append(full.row, extra), np.append(full.col, extra)
        return sparse.csr_array((values, (rows, columns)), shape=X.shape)
    return {"csc": X.tocsc, "coo": X.tocoo, "matrix": lambda: sparse.csr_matrix(X)}[form]()


@pytest.mark.parametrize(
    "form", ["explicit zeros", "csc", "coo", "matrix", pytest.param("int64", marks=pytest.mark.slow)]
)
def test_any_form_of_the_same_matrix_gives_the_same_weights(form: str) -> None:
    X, y = table(15_000, 30, 0.1)
    expected, found = (LogisticRegression(l2=1e-3).fit(rows, y) for rows in (X, in_form(X, form)))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)
    assert (found.predict(in_form(X, form)) == expected.predict(X)).all()


@pytest.mark.parametrize("dtype", [np.int64, bool, pytest.param(np.float32, marks=pytest.mark.slow)])
def test_numbers_of_any_kind_are_read(dtype: Any) -> None:
    X, y = table(15_000, 30, 0.1)
    X.data = np.round(2 * X.data)
    X = X.astype(dtype)
    ours, theirs = LogisticRegression().fit(X, y), LogisticRegression().fit(X.toarray().astype(float), y)
    assert_same(ours, theirs)
    assert ours.verdict_.check(X, y)


def test_empty_rows_zero_columns_and_constant_columns() -> None:
    X, y = table(600, 10, 0.3)
    X = X.tolil()
    X[::7] = 0
    X[:, 3] = 0
    X[:, 6] = 1
    X = X.tocsr()
    ours, theirs = LogisticRegression().fit(X, y), LogisticRegression().fit(X.toarray(), y)
    assert ours.verdict_.rank.aliased == ("x3", "x6")
    assert_same(ours, theirs)
    assert ours.verdict_.check(X, y)


def test_a_column_far_from_zero_keeps_its_digits() -> None:
    X, y = table(15_000, 30, 0.1)
    X = sparse.hstack([X, 1e6 + np.random.default_rng(0).normal(size=(15_000, 1))], format="csr")
    ours, theirs = LogisticRegression().fit(X, y), LogisticRegression().fit(X.toarray(), y)
    assert_same(ours, theirs)


@pytest.mark.parametrize("classes", [2, 3])
def test_aliased_columns_are_named(classes: int) -> None:
    X, y = table(900, 8, 0.4, classes)
    X = sparse.hstack([X, X[:, [0]] - 2 * X[:, [3]]], format="csr")
    ours, theirs = LogisticRegression().fit(X, y), LogisticRegression().fit(X.toarray(), y)
    assert ours.verdict_.rank.aliased == ("x8",)
    assert_same(ours, theirs)
    assert ours.verdict_.check(X, y)


def test_quasi_separated_rows_have_their_limit() -> None:
    X, y = table(400, 5, 0.5)
    only = sparse.csr_array((y * (np.arange(400) % 4 == 0)).astype(float)[:, None])
    X = sparse.hstack([X, only], format="csr")
    ours, theirs = LogisticRegression().fit(X, y), LogisticRegression().fit(X.toarray(), y)
    assert ours.verdict_.status == theirs.verdict_.status == "quasi-separated"
    assert ours.verdict_.certificate.deviance == pytest.approx(theirs.verdict_.certificate.deviance, rel=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X.toarray()), atol=1e-6)


@pytest.mark.parametrize("classes", [2, 4])
def test_fewer_rows_than_columns(classes: int) -> None:
    X, y = table(60, 300, 0.1, classes)
    ours, theirs = LogisticRegression(l2=0.01).fit(X, y), LogisticRegression(l2=0.01).fit(X.toarray(), y)
    assert_same(ours, theirs)
    assert ours.verdict_.check(X, y)
    parted = LogisticRegression().fit(X, y)
    assert parted.verdict_.status == "separated"
    assert parted.verdict_.check(X, y)


def test_the_penalty_is_chosen_as_with_dense_rows() -> None:
    X, y = table(600, 10, 0.3)
    plan = CrossValidation(grid=(0.1, 0.01, 0.001), folds=3)
    ours, theirs = LogisticRegression(l2=plan).fit(X, y), LogisticRegression(l2=plan).fit(X.toarray(), y)
    assert ours.l2_ == theirs.l2_
    np.testing.assert_allclose(ours.l2_path_.loss, theirs.l2_path_.loss, rtol=1e-9)


def test_influence_and_steps() -> None:
    X, y = table(500, 12, 0.3)
    model = LogisticRegression()
    values = [step.value for step in model.steps(X, y)]
    assert values[-1] < values[0]
    assert len(model.history_) == len(values)
    for one, other in zip(model.influence(X, y), model.influence(X.toarray(), y), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)


@pytest.mark.parametrize("classes", [2, 3])
def test_any_number_of_threads_gives_the_same_bits(classes: int) -> None:
    X, y = table(60_000, 60, 0.3, classes)
    assert X.nnz > 1 << 20
    one, two = (LogisticRegression(n_threads=k, tol=1e-6).fit(X, y).coef_ for k in (1, 2))
    np.testing.assert_array_equal(one, two)


# ------------------------------------------------------------------------------------------------------- many columns


def wide(classes: int = 2, n: int = 1600, d: int = 3000, noise: float = 2.0) -> tuple[Any, Any]:
    X, y = table(n, d, 20 / d, classes, noise=noise)
    assert n * d > 4_000_000
    return X, y


@pytest.fixture
def many_is_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty columns are taken for too many, so that the dense rows can be fitted beside them."""
    monkeypatch.setattr(geometry, "WIDE", 30)
    monkeypatch.setattr(wide_plan, "FEW_NUMBERS", 0)


@pytest.mark.usefixtures("many_is_few")
@pytest.mark.parametrize(
    ("classes", "settings"),
    [
        (2, {"l2": 1e-3}),
        (2, {"l2": 1e-5}),
        (2, {"l2": 0.1, "fit_intercept": False}),
        (2, {"l2": 1e-2, "class_weight": {0: 1.0, 1: 3.0}}),
        (3, {"l2": 1e-3}),
        (3, {"l2": 1e-2, "fit_intercept": False}),
        (2, {"l2": 1.0, "solver": "gradient"}),
        (20, {"l2": 1e-2}),
    ],
)
def test_many_columns_have_the_minimum_of_the_dense_rows(classes: int, settings: dict[str, Any]) -> None:
    X, y = table(3000, 40, 0.2, classes)
    ours, theirs = LogisticRegression(**settings).fit(X, y), LogisticRegression(**settings).fit(X.toarray(), y)
    assert ours.verdict_.status == theirs.verdict_.status == "optimal"
    assert ours.verdict_.rank.rank is None
    allowed = sum(np.atleast_2d(each.verdict_.certificate.coefficients) for each in (ours, theirs))
    apart = np.column_stack([ours.coef_ - theirs.coef_, ours.intercept_ - theirs.intercept_])
    assert (np.abs(apart) <= allowed).all()
    assert abs(ours.verdict_.claim.value - theirs.verdict_.claim.value) <= 2e-10 * theirs.verdict_.claim.value
    assert ours.verdict_.check(X, y)
    assert ours.verdict_.check(X.toarray(), y)


@pytest.mark.usefixtures("many_is_few")
@pytest.mark.parametrize("classes", [2, 3])
def test_many_columns_with_weights_and_soft_targets(classes: int) -> None:
    X, y = table(3000, 40, 0.2, classes)
    cost, target = np.random.default_rng(1).integers(0, 3, len(y)).astype(float), soft(y, classes)
    ours = LogisticRegression(l2=1e-2).fit(X, target, cost)
    theirs = LogisticRegression(l2=1e-2).fit(X.toarray(), target, cost)
    assert ours.verdict_.status == "optimal"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert ours.verdict_.check(X, target, cost)
    assert not ours.verdict_.check(X, target)


def test_many_columns_in_single_precision_with_long_indices() -> None:
    X, y = wide()
    narrow = in_form(X.astype(np.float32), "int64")
    ours, theirs = (LogisticRegression(l2=1e-2).fit(rows, y) for rows in (narrow, narrow.astype(np.float64)))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert ours.verdict_.check(narrow, y)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_verdict_that_was_tampered_with_is_refused(classes: int) -> None:
    X, y = wide(classes)
    verdict = LogisticRegression(l2=1e-4).fit(X, y).verdict_
    proof, claim = verdict.certificate, verdict.claim
    assert verdict.check(X, y)
    noise = np.random.default_rng(0).normal(size=proof.witness.shape)
    worse = [
        replace(proof, witness=proof.witness + 1e-3 * noise),
        replace(proof, witness=proof.witness[:, :-1]),
        replace(proof, witness=np.full_like(proof.witness, np.nan)),
        replace(proof, gap=proof.gap / 1000),
    ]
    tampered = [replace(verdict, certificate=each) for each in worse]
    tampered.append(replace(verdict, claim=replace(claim, weights=claim.weights * 1.01)))
    tampered.append(replace(verdict, claim=replace(claim, value=claim.value * 0.99)))
    tampered.append(replace(verdict, claim=replace(claim, l2=claim.l2 / 2)))
    flipped = y.copy()
    flipped[:3] = (flipped[:3] + 1) % classes
    assert [each.check(X, y) for each in tampered] == [False] * len(tampered)
    assert not verdict.check(X, flipped)


@pytest.mark.parametrize("classes", [2, 3])
def test_many_columns_without_a_penalty_are_separated_with_a_rule(classes: int) -> None:
    X, y = wide(classes, noise=0.0)
    model = LogisticRegression().fit(X, y)
    assert model.verdict_.status == "separated"
    assert (model.predict(X) == y).all()
    assert model.verdict_.check(X, y)
    assert model.verdict_.check(X.toarray(), y)
    flipped = y.copy()
    flipped[5] = (y[5] + 1) % classes
    assert not model.verdict_.check(X, flipped)


def test_many_columns_that_overlap_without_a_penalty_are_not_proved() -> None:
    X, y = wide(n=1400)
    twins = sparse.vstack([X[:700], X[:700]], format="csr")
    labels = np.append(y[:700], 1 - y[:700])
    with pytest.warns(BudgetWarning, match="no minimum without a penalty can be proved.*l2 > 0"):
        model = LogisticRegression(max_passes=60).fit(twins, labels)
    assert model.verdict_.status == "budget"
    assert model.verdict_.check(twins, labels)


def test_the_squared_error_of_many_columns_says_what_it_cannot_prove() -> None:
    X, y = wide()
    with pytest.warns(BudgetWarning, match="no minimum of the squared error can be proved"):
        model = LogisticRegression(objective="squared", starts=1, l2=1e-3, max_passes=60).fit(X, y)
    assert model.verdict_.check(X, y)


def test_nothing_as_large_as_the_dense_rows_is_made() -> None:
    rng = np.random.default_rng(0)
    n, d, k = 20_000, 30_000, 20
    X = sparse.csr_array((rng.random(n * k), rng.integers(0, d, n * k), np.arange(0, n * k + 1, k)), shape=(n, d))
    X.sum_duplicates()
    y = (X @ rng.normal(size=d) + rng.logistic(size=n) > 0).astype(int)
    tracemalloc.start()
    try:
        model = LogisticRegression(l2=1e-3).fit(X, y)
        assert model.verdict_.check(X, y)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert model.verdict_.status == "optimal"
    assert most < 150e6 < 0.04 * 8 * n * d


def test_the_penalty_of_many_columns_is_chosen_and_the_start_is_kept() -> None:
    X, y = wide()
    plan = CrossValidation(grid=(0.1, 0.01), folds=2)
    model = LogisticRegression(l2=plan, tol=1e-6, warm_start=True).fit(X, y)
    assert model.verdict_.status == "optimal"
    again = model.fit(X, y)
    assert again.history_[0].value <= again.history_[-1].value * 10


# ---------------------------------------------------------------------------------------------------------- real data


def read(opened: Any, name: str, columns: int | None = None) -> tuple[Any, Any]:
    with opened(DATA / name) as file:
        return load_svmlight_file(file, n_features=columns)


@needs_data
def test_a9a_is_fitted_to_the_published_optimum() -> None:
    X, y = read(lzma.open, "libsvm/a9a.xz", 123)
    model = LogisticRegression(l2=1 / len(y), fit_intercept=False).fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.claim.value * len(y) == pytest.approx(10529.5625846379, rel=1e-10)


@needs_data
@pytest.mark.slow
def test_spam_has_the_optimum_of_the_peer() -> None:
    X, y = read(lzma.open, "stream/spamassassin_stream.svm.xz")
    model = LogisticRegression(l2=1e-3).fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(X, y)
    peer = Peer(C=1e3 / len(y), solver="newton-cg", tol=1e-8, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-2)


@needs_data
@pytest.mark.slow
def test_twenty_classes_of_news_are_proved() -> None:
    X, y = read(bz2.open, "libsvm/news20.bz2", 62061)
    X = normalize(X)
    model = LogisticRegression(l2=1e-4).fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(X, y)
