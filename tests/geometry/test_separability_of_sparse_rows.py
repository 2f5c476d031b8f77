"""Separability and the largest margin of CSR rows: the answers of the dense table, without writing it out."""

import lzma
import subprocess
import sys
import textwrap
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from places import SHARED
from rarely import some_of
from referees.separation import small_problem
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix, hstack, random_array, vstack

from separatrix import MaxMarginClassifier, separability
from separatrix.data import Sparse
from separatrix.data.block import block_of
from separatrix.numerics.linalg import dependence

needs_data = pytest.mark.skipif(not SHARED.exists(), reason="needs the shared data")


def drawn(kind, n, d, K, rng, density=0.3):
    """Whole numbers, mostly zeros: labels of a rule, of chance, or of chance but where the last column is 1."""
    X = (rng.random((n, d)) < density) * rng.integers(-3, 4, (n, d)).astype(float)
    y = (X @ rng.integers(-2, 3, (d, K))).argmax(axis=1)
    if kind != "ruled":
        y = rng.integers(0, K, n)
    if kind == "quasi":
        X = np.column_stack([X, rng.random(n) < 0.2])
        y[X[:, -1] > 0] = 0
    y[:K] = np.arange(K)
    return X, y


def same(dense, sparse):
    """Whether two results say the same."""
    return (
        dense.kind == sparse.kind
        and np.array_equal(dense.rows, sparse.rows)
        and np.array_equal(dense.partly, sparse.partly)
        and dict(dense.coefficients) == dict(sparse.coefficients)
        and (dense.rank, dense.classes, dense.columns, dense.count)
        == (sparse.rank, sparse.classes, sparse.columns, sparse.count)
    )


def asked(X, y, sample_weight=None, **how):
    """The result of the CSR rows, found to be that of the dense table; either is proved on either."""
    rows = csr_array(X)
    dense, sparse = separability(X, y, sample_weight, **how), separability(rows, y, sample_weight, **how)
    assert same(dense, sparse)
    assert sparse.check(rows, y, sample_weight)
    assert sparse.check(X, y, sample_weight)
    assert dense.check(rows, y, sample_weight)
    return sparse


# ---------------------------------------------------------------------------------------------------- reading rows


@pytest.mark.parametrize(
    ("dtype", "index"),
    some_of([("float64", "int32"), ("float32", "int32"), ("float64", "int64"), ("float32", "int64")], 3),
)
def test_scores_and_their_sizes_are_those_of_the_centred_rows(dtype, index):
    rng = np.random.default_rng(0)
    made = random_array((90, 20), density=0.2, format="csr", dtype=dtype, rng=rng)
    made.indices, made.indptr = made.indices.astype(index), made.indptr.astype(index)
    rows, X = Sparse.of(made)[7:], made.toarray()[7:].astype(float)
    for far in (0, 1, 6, 20):
        center = np.zeros(20)
        center[rng.permutation(20)[:far]] = 1000 * rng.standard_normal(far)
        for count in (1, 4):
            W, b = rng.standard_normal((count, 20)), rng.standard_normal(count)
            scores, sizes = rows.scores_and_sizes(center, W, b, sized=True)
            near = 1e-14 * np.abs(X - center).max() * 20
            np.testing.assert_allclose(scores, (W @ (X - center).T) + b[:, None], atol=near)
            np.testing.assert_allclose(sizes, np.abs(W) @ np.abs(X - center).T + np.abs(b)[:, None], rtol=1e-13)
            alone = rows.scores_and_sizes(center, W, b, sized=False)
            np.testing.assert_allclose(alone[0], scores, atol=near)
            assert alone[1].size == 0


def test_offsets_cost_no_digits():
    X = 1e8 + np.arange(6.0).reshape(3, 2)
    X[2, 1] = 0.0
    scores, _ = Sparse.of(csr_array(X)).scores_and_sizes(
        np.full(2, 1e8), np.array([[1.0, 0.5]]), np.zeros(1), sized=False
    )
    np.testing.assert_array_equal(scores[0], [0.5, 3.5, 4.0 - 0.5e8])


def test_ranges_columns_and_numbers_count_the_zeros_that_are_not_there():
    made = csr_array(
        (np.array([2.0, 3.0, 0.0, -1.0, 4.0]), np.array([0, 1, 3, 1, 0]), np.array([0, 3, 3, 5])), shape=(3, 5)
    )
    rows, X = Sparse.of(made), made.toarray()
    low, high = rows.extremes()
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))
    assert rows.occurring().tolist() == [0, 1], "a zero that is written down is a zero"
    assert rows[1:2].occurring().tolist() == [0]
    assert [each.tolist() for each in rows.numbers_of(0)] == [[0, 1], [2.0, 3.0]]
    assert [each.tolist() for each in block_of(X).numbers_of(0)] == [[0, 1], [2.0, 3.0]]
    for some in (np.array([1, 3]), np.array([0, 2, 4]), np.arange(5)):
        for part in (slice(None), slice(1, 3), np.array([2, 0])):
            np.testing.assert_array_equal(rows.written(part, some), X[part][:, some])
        np.testing.assert_array_equal(rows.select(some).dense(), X[:, some])
    full = Sparse.of(csr_array(X + 5)).extremes()
    np.testing.assert_array_equal(full[0], (X + 5).min(axis=0))
    assert np.isnan(Sparse.of(csr_array([[1.0, np.nan], [2.0, 0.0]])).extremes()[0][1])


# ---------------------------------------------------------------------------------------------------- dense = CSR


@pytest.mark.parametrize("kind", ["ruled", "chance", "quasi"])
@pytest.mark.parametrize("K", [2, 3])
def test_sparse_rows_lie_as_the_dense_ones_do(kind, K):
    rng = np.random.default_rng(K)
    kinds = set()
    for n, d in [(12, 3), (40, 5), (60, 12), (400, 8), (2500, 20)]:
        for intercept in (True, False):
            X, y = drawn(kind, n, d, K, rng)
            kinds.add(asked(X, y, fit_intercept=intercept).kind)
    assert kinds & {"ruled": {"separated"}, "chance": {"overlap"}, "quasi": {"quasi-separated"}}[kind]


@pytest.mark.parametrize("seeds", [range(60), range(60, 120)])
def test_small_problems_lie_as_the_dense_ones_do(seeds):
    for seed in seeds:
        problem = small_problem(seed)
        X = np.asarray(problem.X, dtype=float)
        asked(X, np.asarray(problem.y), problem.weight, fit_intercept=problem.fit_intercept)


def test_weights_and_probabilities():
    rng = np.random.default_rng(5)
    for kind in ("ruled", "chance", "quasi"):
        X, y = drawn(kind, 150, 6, 2, rng)
        weight = (rng.random(150) < 0.8) * rng.random(150)
        weight[:2] = 1.0
        asked(X, y, weight)
        p = np.where(rng.random(150) < 0.1, 0.5, y)
        asked(X, p)
    X, y = drawn("chance", 90, 4, 3, rng)
    T = np.eye(3)[y]
    T[:5] = 1 / 3
    asked(X, T)


@pytest.mark.parametrize("kind", ["ruled", "chance", "quasi"])
def test_columns_that_are_combinations_or_empty_are_named_as_of_the_dense_table(kind):
    rng = np.random.default_rng(7)
    X, y = drawn(kind, 200, 6, 2, rng)
    X = np.column_stack([X[:, :2], np.zeros(200), X[:, 0] - X[:, 1], X[:, 2:], np.ones(200), np.zeros(200)])
    result = asked(X, y)
    assert {"x2", "x3", f"x{X.shape[1] - 1}"} <= set(result.rank.aliased)
    asked(X, y, fit_intercept=False)
    forged = replace(
        result, rank=result.rank._replace(aliased=(*result.rank.aliased[:1], "x5", *result.rank.aliased[2:]))
    )
    assert not forged.check(csr_array(X), y)


def test_any_kind_of_sparse_matrix_and_of_number():
    rng = np.random.default_rng(8)
    X, y = drawn("quasi", 120, 5, 2, rng)
    dense = separability(X, y)
    wide = csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    twice = csr_array(
        (np.repeat(csr_array(X).data, 2) / 2, np.repeat(csr_array(X).indices, 2), 2 * csr_array(X).indptr),
        shape=X.shape,
    )
    zeros = csr_array((np.ones(X.size), np.tile(np.arange(X.shape[1]), len(X)), X.shape[1] * np.arange(len(X) + 1)))
    zeros.data[:] = X.ravel()
    single = csr_array(X.astype(np.float32))
    for rows in (csr_matrix(X), csc_matrix(X), coo_array(X), csr_array(X.astype(int)), wide, twice, zeros, single):
        before = rows.copy()
        found = separability(rows, y)
        assert same(dense, found)
        assert found.check(rows, y)
        assert (rows != before).nnz == 0
        assert rows.nnz == before.nnz


def test_rows_without_numbers():
    X = np.zeros((7, 2))
    X[:2, 0], X[2:4, 1] = 1, 1
    for y in ([0, 0, 1, 1, 1, 1, 1], [0, 0, 1, 1, 0, 1, 1]):
        asked(X, np.array(y))
        asked(X, np.array(y), fit_intercept=False)
    nothing = csr_array((4, 3))
    result = separability(nothing, [0, 1, 0, 1])
    assert result.kind == "overlap"
    assert result.check(nothing, [0, 1, 0, 1])
    assert result.rank.aliased == ("x0", "x1", "x2")


def test_offsets_and_units_do_not_matter():
    rng = np.random.default_rng(9)
    for kind in ("ruled", "chance", "quasi"):
        X, y = drawn(kind, 300, 6, 2, rng)
        X[:, 0] += 2.0**20
        X[:, 1] = X[:, 1] * 2.0**-10 + 2.0**12
        asked(X, y)
        Z, t = drawn(kind, 300, 4, 3, rng)
        Z[:, 1] += 2.0**24
        asked(Z, t)


def test_a_large_table_is_looked_at_by_threads(monkeypatch):
    monkeypatch.setattr("separatrix.learners.geometry.separability.SINGLE_THREAD_BELOW", 0)
    monkeypatch.setattr("separatrix.geometry.separation.cases.RUN", 500)
    rng = np.random.default_rng(10)
    for kind in ("ruled", "chance", "quasi"):
        asked(*drawn(kind, 4000, 10, 2, rng))
    asked(*drawn("quasi", 3000, 6, 3, rng))


# ---------------------------------------------------------------------------------------------------- real data


def svm(name):
    from sklearn.datasets import load_svmlight_file

    with lzma.open(SHARED / "libsvm" / name) as file:
        X, y = load_svmlight_file(file)
    return csr_array(X), y


@needs_data
@pytest.mark.parametrize(
    ("name", "kind"),
    [("mushrooms.xz", "separated"), ("agaricus.txt.train.xz", "separated"), ("a1a.xz", "quasi-separated")],
)
def test_real_sparse_tables(name, kind):
    X, y = svm(name)
    dense, sparse = separability(X.toarray(), y), separability(X, y)
    assert sparse.kind == kind
    assert np.array_equal(dense.rows, sparse.rows)
    assert dense.rank == sparse.rank
    assert sparse.check(X, y)


@needs_data
def test_the_adult_census():
    X, y = svm("a9a.xz")
    dense, sparse = separability(X.toarray(), y), separability(X, y)
    assert same(dense, sparse)
    assert sparse.kind == "quasi-separated"
    assert sparse.check(X, y)


@needs_data
@pytest.mark.parametrize(
    ("name", "label", "weight"),
    [
        ("endometrial", "HG", None),
        ("sex2", "case", None),
        ("silvapulle1981", "y", None),
        ("alligators", "foodchoice", "freq"),
    ],
)
def test_published_examples_of_separation(name, label, weight):
    table = pd.read_csv(SHARED / "separation" / f"{name}.csv")
    y, cost = table.pop(label).to_numpy(), None if weight is None else table.pop(weight).to_numpy()
    asked(pd.get_dummies(table, drop_first=True).to_numpy(dtype=float), y, cost)


# ---------------------------------------------------------------------------------------------------- the proofs


def changed(combination, **what):
    return replace(combination, **what)


@pytest.mark.parametrize("kind", ["ruled", "chance", "quasi"])
@pytest.mark.parametrize("K", [2, 3])
def test_a_forged_certificate_is_refused(kind, K):
    rng = np.random.default_rng(11)
    X, y = drawn(kind, 120, 5, K, rng)
    rows, result = csr_array(X), separability(csr_array(X), y)
    proof = result.certificate
    assert result.check(rows, y)
    forged = [
        replace(result, kind=other) for other in ("separated", "quasi-separated", "overlap") if other != result.kind
    ]
    if proof.weights is not None:
        moved = proof.weights.copy()
        moved.reshape(-1, X.shape[1])[0] += np.linspace(1, 2, X.shape[1])
        forged += [
            replace(result, certificate=replace(proof, weights=-proof.weights)),
            replace(result, certificate=replace(proof, weights=moved)),
            replace(result, rows=result.rows[1:], row_names=result.row_names[1:]),
        ][:: 1 if result.kind == "quasi-separated" else 2]
    if proof.balance is not None:
        fewer = changed(
            proof.balance, **{k: getattr(proof.balance, k)[1:] for k in ("rows", "own", "other", "multipliers")}
        )
        louder = changed(
            proof.crossing, multipliers=proof.crossing.multipliers * np.linspace(1, 2, len(proof.crossing))
        )
        moved = changed(proof.crossing, rows=(proof.crossing.rows + 1) % 120)
        forged += [
            replace(
                result,
                certificate=replace(proof, balance=replace(proof.balance, multipliers=-proof.balance.multipliers)),
            )
        ]
        forged += [replace(result, certificate=replace(proof, crossing=each)) for each in (louder, moved)]
        if len(fewer) <= np.linalg.matrix_rank(X):
            forged += [replace(result, certificate=replace(proof, balance=fewer))]
    assert not any(each.check(rows, y) for each in forged)
    other = X.copy()
    at = np.flatnonzero(other[:, 0])[:40]
    other[at] = -other[at]
    assert not result.check(csr_array(other), y) or separability(other, y).kind == result.kind
    assert not result.check(rows[:-1], y[:-1])
    with pytest.raises(ValueError, match="columns"):
        result.check(rows[:, :-1], y)
    with pytest.raises(ValueError, match="rows"):
        result.check(rows[:-1], y)


def test_a_nan_proves_nothing_and_is_named():
    X, y = drawn("ruled", 40, 4, 2, np.random.default_rng(12))
    rows = csr_array(X)
    result = separability(rows, y)
    at = int(rows.indptr[7 + int(np.argmax(np.diff(rows.indptr)[7:] > 0))])
    row, column = int(np.searchsorted(rows.indptr, at, side="right")) - 1, int(rows.indices[at])
    rows.data[at] = np.nan
    assert not result.check(rows, y)
    for ask in (separability, MaxMarginClassifier().fit):
        with pytest.raises(ValueError, match=rf"X\[{row}, 'x{column}'\] is NaN"):
            ask(rows, y)
        rows.data[at] = -np.inf
        with pytest.raises(ValueError, match=rf"X\[{row}, 'x{column}'\] is -inf"):
            ask(rows, y)
        rows.data[at] = np.nan


def test_the_point_where_hulls_meet_and_its_picture():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from separatrix.plots import draw_separability

    X, y = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 0, 1, 1])
    rows = csr_array(X)
    result = separability(rows, y)
    for dense, sparse in zip(result.crossing_point(X), result.crossing_point(rows), strict=True):
        np.testing.assert_array_equal(dense, sparse)
    plt.close(draw_separability(result, rows, y).figure)
    with pytest.raises(ValueError, match="a picture needs two"):
        draw_separability(separability(hstack([rows, rows]), y), hstack([rows, rows]), y)


# ---------------------------------------------------------------------------------------------------- the widest margin


@pytest.mark.parametrize(
    "how", [{}, {"lifted": True}, {"fit_intercept": False}], ids=["free", "lifted", "no intercept"]
)
def test_the_largest_margin_is_that_of_the_dense_table(how):
    rng = np.random.default_rng(13)
    seen = set()
    for n, d in [(15, 2), (60, 6), (300, 12), (4000, 20)]:
        for noise in (0, 1):
            X = (rng.random((n, d)) < 0.4) * np.round(rng.standard_normal((n, d)), 3)
            s = X @ rng.standard_normal(d)
            y = s > 0 if not noise else rng.random(n) < 0.5
            X, y = X[np.abs(s) > 0.1], y[np.abs(s) > 0.1]
            X = np.column_stack([X, np.zeros(len(X)), X[:, 0] + (0 if noise or how else 1e4)]).astype(
                "f4" if d == 6 else "f8"
            )
            weight = None if d == 12 else (rng.random(len(X)) < 0.9) * 1.0
            rows = csr_array(X)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                dense, sparse = (MaxMarginClassifier(**how).fit(each, y, weight) for each in (X, rows))
            assert dense.verdict_.status == sparse.verdict_.status
            seen.add(sparse.verdict_.status)
            assert sparse.margin_ == pytest.approx(dense.margin_, rel=1e-9)
            np.testing.assert_array_equal(dense.support_, sparse.support_)
            np.testing.assert_array_equal(dense.predict(X), sparse.predict(rows))
            assert sparse.coef_.shape == (1, X.shape[1])
            for model in (dense, sparse):
                assert model.verdict_.check(rows, y, weight)
                assert model.verdict_.check(X, y, weight)
            proof = sparse.verdict_.certificate
            if sparse.verdict_.status == "optimal":
                forged = replace(proof, lower=proof.lower * 1.01, upper=proof.upper * 1.01)
            else:
                shares = proof.combination.multipliers * np.linspace(1, 2, len(proof.combination))
                forged = replace(proof, combination=replace(proof.combination, multipliers=shares / shares.sum()))
                if len(shares) < 2:
                    continue
            assert not replace(sparse.verdict_, certificate=forged).check(rows, y, weight)
    assert seen == {"optimal", "not-separable"}


def test_columns_of_zeros_cost_the_margin_nothing():
    rng = np.random.default_rng(14)
    X = random_array((400, 30), density=0.2, format="csr", rng=rng)
    s = X @ rng.standard_normal(30)
    X, y = X[np.abs(s) > 0.2], (s > 0)[np.abs(s) > 0.2]
    among = csr_array((X.data, X.indices.astype(np.int64) * 3_001 + 5, X.indptr), shape=(X.shape[0], 100_000))
    plain, spread = (MaxMarginClassifier().fit(each, y) for each in (X, among))
    assert spread.margin_ == plain.margin_
    np.testing.assert_array_equal(spread.coef_[0, 5::3_001][:30], plain.coef_[0])
    assert np.count_nonzero(spread.coef_) == np.count_nonzero(plain.coef_)
    assert spread.verdict_.check(among, y)
    seen = separability(among, y)
    assert seen.kind == "separated"
    assert len(seen.rank.aliased) == 100_000 - 30
    assert seen.check(among, y)


def test_a_table_too_wide_for_the_margin_is_refused():
    rows = random_array((6000, 30_000), density=1e-3, format="csr", rng=np.random.default_rng(15))
    with pytest.raises(ValueError, match="at most 4000 columns"):
        MaxMarginClassifier().fit(rows, np.arange(6000) % 2)


# ---------------------------------------------------------------------------------------------------- wide tables


@pytest.mark.parametrize("K", [2, 3])
def test_a_wide_table_is_answered_where_a_rule_is_soon_found(K):
    rng = np.random.default_rng(16)
    rows = random_array((6000, 30_000), density=1e-3, format="csr", dtype="float32", rng=rng)
    y = (rows @ rng.standard_normal((30_000, K))).argmax(axis=1)
    weight = (np.arange(6000) % 7 > 0).astype(float)
    result = separability(rows, y, weight)
    assert result.kind == "separated"
    assert result.check(rows, y, weight)
    np.testing.assert_array_equal(result.rows, np.flatnonzero(weight))
    assert result.rank == (None, 30_001, ())
    tables = [result.coefficients] if K == 2 else result.coefficients.values()
    assert all(set(table.values()) == {"undetermined"} for table in tables)
    assert "so many coefficients" in str(result)
    forged = replace(result, certificate=replace(result.certificate, weights=result.certificate.weights * 0.0))
    assert not forged.check(rows, y, weight)
    assert not replace(result, rank=result.rank._replace(rank=5)).check(rows, y, weight)
    y[1] = (y[1] + 1) % K
    assert not result.check(rows, y, weight)


def test_a_wide_table_without_such_a_rule_is_refused():
    rows = random_array((4500, 9000), density=1e-3, format="csr", rng=np.random.default_rng(17))
    rows, y = vstack([rows, rows[-9:]]), np.append(np.arange(4500) % 2, (1 + np.arange(4491, 4500)) % 2)
    with pytest.raises(ValueError, match=r"4509 weights; separability can tell for at most 4000.*LogisticRegression"):
        separability(rows, y)
    flat = csr_array((np.ones(5), (np.arange(5), np.arange(5))), shape=(3000, 9000))
    assert separability(flat, np.arange(3000) % 2).kind == "quasi-separated", "of the columns only five are there"
    rows = random_array((3900, 9000), density=1e-3, format="csr", rng=np.random.default_rng(18))
    y = np.arange(3900) % 2
    rows, y = vstack([rows, rows[-9:]]), np.append(y, 1 - y[-9:])
    with pytest.raises(ValueError, match=r"numbers when written out with their zeros.*20000000"):
        separability(rows, y)


def test_a_table_with_more_columns_than_rows():
    rng = np.random.default_rng(19)
    rows = random_array((60, 2000), density=0.01, format="csr", rng=rng)
    y = rng.random(60) < 0.5
    assert asked(rows.toarray(), y).kind == "separated"
    rows, y = vstack([rows, rows[:3]]).tocsr(), np.append(y, ~y[:3])
    assert asked(rows.toarray(), y).kind == "quasi-separated"


def test_columns_are_as_dependent_whether_looked_at_together_or_one_by_one():
    rng = np.random.default_rng(20)
    for m, d in [(5, 40), (30, 700), (60, 61)]:
        basis = rng.integers(-2, 3, (m, max(2, m // 2))).astype(float)
        R = basis @ rng.integers(-1, 2, (basis.shape[1], d)) * (rng.random(d) < 0.9)
        R[:, d // 2] += rng.standard_normal(m)
        found = dependence(R, np.full(d, 1e-13))
        kept: list[int] = []
        for j in range(d):
            if np.linalg.matrix_rank(R[:, [*kept, j]]) > len(kept):
                kept.append(j)
        assert found.kept.tolist() == kept
        np.testing.assert_allclose(R[:, found.kept] @ found.combination, R[:, found.aliased], atol=1e-10)


# ---------------------------------------------------------------------------------------------------- memory

MEMORY = """
    import resource, sys
    import numpy as np
    from scipy.sparse import random_array
    from separatrix import MaxMarginClassifier, separability

    rng = np.random.default_rng(0)
    few = random_array((200, 300), density=0.02, format="csr", rng=rng)
    label = np.arange(200) % 2
    separability(few, label).check(few, label)
    X = random_array((200_000, 100), density=0.03, format="csr", rng=rng)
    s = X @ rng.standard_normal(100)
    X, s = X[np.abs(s) > 0.4], s[np.abs(s) > 0.4]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = separability(X, s > 0)
    assert result.kind == "separated" and result.check(X, s > 0)
    model = MaxMarginClassifier(tol=0.5).fit(X, s > 0)
    assert model.verdict_.check(X, s > 0)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, X.shape[0] * X.shape[1] * 8)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory as Linux counts it")
def test_memory_stays_far_below_that_of_the_dense_table():
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(MEMORY)], capture_output=True, text=True, check=True)
    grown, dense = map(int, run.stdout.split())
    assert grown < dense / 3
