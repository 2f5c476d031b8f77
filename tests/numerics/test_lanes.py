"""Instructions written by hand and their plain twins give the same bits."""

from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit
from rarely import some_of

from separatrix.numerics import lanes, llvm, plain_lanes
from separatrix.numerics.jit import EXACT

MODULES = (llvm, plain_lanes)
PRECISIONS = ("float64", "float32")


def called(instruction):
    """An instruction as a function that Python can call."""
    return njit(**EXACT)(lambda *given: instruction(*given))


SCORES = [called(module.dense_score) for module in MODULES]
MOVES = [called(module.dense_move_and_score) for module in MODULES]


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 23, 30, 31, 32, 40, 63, 100])
def test_products_of_a_row_have_the_same_bits(columns, dtype):
    rng = np.random.default_rng(columns)
    X = (rng.standard_normal((3, columns)) * 10.0 ** rng.integers(-3, 4, (3, columns))).astype(dtype)
    W, start = rng.standard_normal((2, columns)), rng.standard_normal()
    scores = [score(W, 1, start, X, 2) for score in SCORES]
    assert scores[0] == scores[1]
    assert scores[0] == pytest.approx(start + W[1] @ X[2].astype(float), rel=1e-12, abs=1e-9)
    for keep in (1.0, 0.9987):
        moved = [W.copy(), W.copy()]
        scores = [move(w, 1, keep, 0.37, 0, start, X, 2) for move, w in zip(MOVES, moved, strict=True)]
        assert scores[0] == scores[1]
        np.testing.assert_array_equal(*moved)
        np.testing.assert_array_equal(moved[0][0], W[0])
        np.testing.assert_allclose(moved[0][1], keep * W[1] + 0.37 * X[0].astype(float), rtol=1e-14, atol=1e-12)


@pytest.mark.parametrize(
    ("count", "dtype"), some_of([(count, PRECISIONS[(count + k) % 2]) for count in (1, 2, 3, 4) for k in (1, 2)], 2)
)
def test_products_of_csr_rows_with_many_classes_have_the_same_bits(count, dtype):
    rng = np.random.default_rng(count)
    width, columns = count * plain_lanes.CLASS_LANES[dtype], np.array([0, 2, 3, 6, 8], np.int32)
    values = rng.standard_normal(5).astype(dtype)
    W, R = rng.standard_normal((9, width)).astype(dtype), rng.standard_normal((2, width)).astype(dtype)
    S, G = np.full((2, 2, width), np.nan, dtype), np.stack([W, W])
    for module, own, total in zip(MODULES, S, G, strict=True):
        called(module.gather(count))(values, columns, 1, 5, W, own, 1)
        called(module.scatter(count))(values, columns, 1, 5, R, 1, total)
    np.testing.assert_array_equal(S[0], S[1])
    np.testing.assert_array_equal(G[0], G[1])
    np.testing.assert_allclose(S[0, 1], values[1:].astype(float) @ W[columns[1:]], rtol=1e-5, atol=1e-5)
    assert np.isnan(S[:, 0]).all()


def test_the_plain_ones_are_taken_where_the_others_do_not_compile(monkeypatch):
    def no_such_instruction(W, k, start, X, i):
        return W.no_such_instruction

    broken = SimpleNamespace(**{**vars(llvm), "__name__": "broken", "dense_score": njit(no_such_instruction)})
    monkeypatch.setitem(lanes.sys.modules, "broken", broken)
    assert lanes.first_that_compiles(broken) is plain_lanes
    assert lanes.first_that_compiles(broken, llvm) is llvm
    assert lanes.first_that_compiles() is plain_lanes


def test_both_have_all_that_is_asked_for():
    for module in MODULES:
        assert lanes.first_that_compiles(module) is module
    assert lanes.instructions() is llvm
