"""CSR rows: the same as dense rows, wherever rows are looked at."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rarely import some_of
from scipy.sparse import csr_array, csr_matrix, random_array

from separatrix.data import Rows, Sparse


def table(n=40, d=12, density=0.3, dtype="float64", index="int32", seed=0):
    made = random_array((n, d), density=density, format="csr", dtype=dtype, rng=np.random.default_rng(seed))
    made.indices, made.indptr = made.indices.astype(index), made.indptr.astype(index)
    return made


KINDS = [(d, i) for d in ("float32", "float64") for i in ("int32", "int64")]


@pytest.mark.parametrize(("dtype", "index"), some_of([KINDS[2], KINDS[0], KINDS[3], KINDS[1]], 3))
def test_it_reads_like_the_dense_rows(dtype, index):
    made = table(dtype=dtype, index=index)
    rows, dense, rng = Sparse.of(made), made.toarray(), np.random.default_rng(1)
    assert rows.values is made.data or np.shares_memory(rows.values, made.data)
    assert rows.columns.dtype == index
    assert (len(rows), rows.shape, rows.dtype, rows.ndim) == (40, dense.shape, dense.dtype, 2)
    np.testing.assert_array_equal(rows.dense(), dense)
    some = rng.permutation(40)[:17]
    for at in (slice(3, 9), slice(5, 5), slice(30, None), slice(0, 40, 3), some, some - 40, rng.random(40) < 0.5):
        np.testing.assert_array_equal(rows[at].dense(), dense[at])
        np.testing.assert_array_equal(rows[at][1:4].dense(), dense[at][1:4])
    w, W = rng.standard_normal(12), rng.standard_normal((12, 3))
    wide = dense.astype(float)
    np.testing.assert_allclose(rows @ w, wide @ w, atol=1e-13)
    np.testing.assert_allclose(rows[7:30] @ W, wide[7:30] @ W, atol=1e-13)
    near = 1e-5 if dtype == "float32" else 1e-13
    np.testing.assert_allclose(rows[4:].scores(W.T, 3, 20), (wide[4:][3:20] @ W).T, atol=near)
    slope = rng.standard_normal((5, 17))
    np.testing.assert_allclose(rows[4:].class_pull(slope, 3, 20), slope @ wide[4:][3:20], atol=10 * near)


def test_a_view_copies_nothing():
    rows = Sparse.of(table())
    assert np.shares_memory(rows[5:20].values, rows.values)
    assert rows[5:20].size == rows.numbers[rows.starts[5] : rows.starts[20]].size


@given(st.integers(0, 30), st.integers(1, 8), st.integers(0, 10**6))
def test_rows_that_are_taken_are_those_rows(n, d, seed):
    made, rng = table(n, d, seed=seed), np.random.default_rng(seed)
    picked = rng.integers(0, n, 2 * n) if n else np.empty(0, np.intp)
    np.testing.assert_array_equal(Sparse.of(made)[picked].dense(), made.toarray()[picked])


def test_what_stands_twice_is_added_up():
    twice = csr_array((np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    np.testing.assert_array_equal(Sparse.of(twice).dense(), [[5.0, 3.0]])
    assert twice.nnz == 3, "what was given stays as it was"


@pytest.mark.parametrize(
    ("part", "value", "says"),
    [
        ("indices", [0, 9, 1], "names column 9"),
        ("indices", [0, -1, 1], "names column -1"),
        ("indptr", [0, 2, 9], "indptr"),
        ("indptr", [0, 3, 2], "indptr"),
        ("indptr", [1, 2, 3], "indptr"),
    ],
)
def test_a_matrix_that_points_outside_is_refused(part, value, says):
    made = csr_matrix((np.ones(3), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    setattr(made, part, np.array(value, np.int32))
    with pytest.raises(ValueError, match=says):
        Sparse.of(made)


def test_runs_and_samples_are_those_of_the_same_rows():
    made = table(5000, 30, 0.1)
    rows = Rows.of(Sparse.of(made), np.ones(5000, np.int8), np.empty(0))
    dense = Rows.of(made.toarray(), rows.y, rows.cost)
    assert [hi for _, hi in rows.runs()][-1] == 5000
    np.testing.assert_array_equal(rows.sample(100, 3).dense(), dense.sample(100, 3).dense())
