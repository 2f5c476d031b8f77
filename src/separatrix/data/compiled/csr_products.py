"""The compiled products of K classes with rows that are mostly zeros: only what is not zero is read.

The weights of a column lie side by side, K of them in vector lanes, so that one number of X meets all classes at once.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ...numerics.jit import kernel, read, write

MOST_VECTORS = 4
LANES = {"float64": 4, "float32": 8}
"""Classes in one vector, by precision."""


class _Vectors:
    """The rows of a C-ordered matrix, `count` vectors long, read and written as vectors."""

    def __init__(self, context: Any, builder: Any, kind: Any, matrix: Any, count: int) -> None:
        array = context.make_array(kind)(context, builder, matrix)
        lanes = LANES[kind.dtype.name]
        number = ir.FloatType() if kind.dtype == types.float32 else ir.DoubleType()
        self.builder, self.count, self.lanes, self.number = builder, count, lanes, number
        self.kind, self.bytes = ir.VectorType(number, lanes), kind.dtype.bitwidth // 8
        self.data = array.data

    def _at(self, row: Any, k: int) -> Any:
        width = ir.Constant(row.type, self.count * self.lanes)
        offset = self.builder.add(self.builder.mul(row, width), ir.Constant(row.type, k * self.lanes))
        return self.builder.bitcast(self.builder.gep(self.data, [offset]), self.kind.as_pointer())

    def load(self, row: Any) -> list[Any]:
        """A row as vectors."""
        values = [self.builder.load(self._at(row, k)) for k in range(self.count)]
        for value in values:
            value.align = self.bytes
        return values

    def store(self, row: Any, values: list[Any]) -> None:
        """Write a row."""
        for k, value in enumerate(values):
            self.builder.store(value, self._at(row, k)).align = self.bytes

    def spread(self, number: Any) -> Any:
        """The number in every lane."""
        lane = ir.IntType(32)
        empty = ir.Constant(self.kind, ir.Undefined)
        first = self.builder.insert_element(empty, number, ir.Constant(lane, 0))
        mask = ir.Constant(ir.VectorType(lane, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, empty, mask)

    def plus_product(self, total: Any, a: Any, b: Any) -> Any:
        """total + ab, rounded once where the machine can."""
        name = f"llvm.fmuladd.v{self.lanes}f{8 * self.bytes}"
        kind = ir.FunctionType(self.kind, [self.kind] * 3)
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), [a, b, total])


def _entries(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """A loop over the entries first ≤ e < last: yields the column and the number of each."""
    values, columns = (context.make_array(signature.args[k])(context, builder, arguments[k]) for k in (0, 1))
    one = ir.Constant(ir.IntType(64), 1)
    with cgutils.for_range_slice(builder, arguments[2], arguments[3], one, inc=True) as (e, _):
        column = builder.sext(builder.load(builder.gep(columns.data, [e])), ir.IntType(64))
        yield column, builder.load(builder.gep(values.data, [e]))


def _gather(count: int) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def gather(typing_context: Any, values: Any, columns: Any, first: Any, last: Any, W: Any, S: Any, r: Any) -> Any:
        """Sᵣ = Σₑ valuesₑ W[columnsₑ]."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            weights = _Vectors(context, builder, signature.args[4], arguments[4], count)
            scores = _Vectors(context, builder, signature.args[5], arguments[5], count)
            zero = ir.Constant(weights.kind, [0.0] * weights.lanes)
            totals = [cgutils.alloca_once_value(builder, zero) for _ in range(count)]
            for total in totals:
                builder.store(zero, total)
            for column, number in _entries(context, builder, signature, arguments):
                x = weights.spread(number)
                for total, w in zip(totals, weights.load(column), strict=True):
                    builder.store(weights.plus_product(builder.load(total), x, w), total)
            scores.store(arguments[6], [builder.load(total) for total in totals])
            return context.get_dummy_value()

        return types.void(values, columns, types.int64, types.int64, W, S, types.int64), generate

    return gather


def _scatter(count: int) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def scatter(typing_context: Any, values: Any, columns: Any, first: Any, last: Any, R: Any, r: Any, G: Any) -> Any:
        """G[columnsₑ] ← G[columnsₑ] + valuesₑ Rᵣ for every e."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pulls = _Vectors(context, builder, signature.args[4], arguments[4], count)
            sums = _Vectors(context, builder, signature.args[6], arguments[6], count)
            own = pulls.load(arguments[5])
            for column, number in _entries(context, builder, signature, arguments):
                x = sums.spread(number)
                moved = [sums.plus_product(g, x, p) for g, p in zip(sums.load(column), own, strict=True)]
                sums.store(column, moved)
            return context.get_dummy_value()

        return types.void(values, columns, types.int64, types.int64, R, types.int64, G), generate

    return scatter


_gather_1, _gather_2, _gather_3, _gather_4 = (_gather(count) for count in range(1, MOST_VECTORS + 1))
_scatter_1, _scatter_2, _scatter_3, _scatter_4 = (_scatter(count) for count in range(1, MOST_VECTORS + 1))


def _scores(values, columns, starts, lo, hi, vectors, W, S):  # type: ignore[no-untyped-def]
    """S = X W over the rows lo ≤ i < hi."""
    for i in range(lo, hi):
        first, last, r = starts[i], starts[i + 1], i - lo
        if vectors == 1:
            _gather_1(values, columns, first, last, W, S, r)
        elif vectors == 2:
            _gather_2(values, columns, first, last, W, S, r)
        elif vectors == 3:
            _gather_3(values, columns, first, last, W, S, r)
        else:
            _gather_4(values, columns, first, last, W, S, r)


def _pull(values, columns, starts, lo, hi, vectors, R, G):  # type: ignore[no-untyped-def]
    """G ← G + Xᵀ R over the rows lo ≤ i < hi."""
    for i in range(lo, hi):
        first, last, r = starts[i], starts[i + 1], i - lo
        if vectors == 1:
            _scatter_1(values, columns, first, last, R, r, G)
        elif vectors == 2:
            _scatter_2(values, columns, first, last, R, r, G)
        elif vectors == 3:
            _scatter_3(values, columns, first, last, R, r, G)
        else:
            _scatter_4(values, columns, first, last, R, r, G)


def _count(X, lo, hi, counts):  # type: ignore[no-untyped-def]
    """How many numbers of each row are not zero; a NaN counts."""
    for i in range(lo, hi):
        found = 0
        for j in range(X.shape[1]):
            found += 1 if X[i, j] != 0 else 0
        counts[i] = found


def _fill(X, lo, hi, starts, values, columns):  # type: ignore[no-untyped-def]
    """The numbers of each row that are not zero, and where they stood."""
    for i in range(lo, hi):
        e = starts[i]
        for j in range(X.shape[1]):
            if X[i, j] != 0:
                values[e] = X[i, j]
                columns[e] = j
                e += 1


_i = types.int64


@kernel()
def scores_kernel(dtype: str, index: str = "int32") -> Any:
    """The compiled S = XW in one precision, for one kind of column numbers."""
    table = read(dtype, 2), write(dtype, 2)
    return _scores, types.void(read(dtype), read(index), read("int64"), _i, _i, _i, *table)


@kernel()
def pull_kernel(dtype: str, index: str = "int32") -> Any:
    """The compiled G ← G + XᵀR in one precision, for one kind of column numbers."""
    table = read(dtype, 2), write(dtype, 2)
    return _pull, types.void(read(dtype), read(index), read("int64"), _i, _i, _i, *table)


@kernel()
def count_kernel(dtype: str) -> Any:
    """The compiled counts of numbers other than zero in C-ordered rows."""
    return _count, types.void(read(dtype, 2), _i, _i, write("int64"))


@kernel()
def fill_kernel(dtype: str, out: str) -> Any:
    """The compiled copy of numbers other than zero, from one precision of C-ordered rows to another."""
    return _fill, types.void(read(dtype, 2), _i, _i, read("int64"), write(out), write("int32"))
