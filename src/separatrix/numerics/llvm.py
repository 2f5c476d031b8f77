"""What is written in LLVM's own instructions, by hand: a row's products in vector lanes, and hints to the cache.

`plain_lanes` has the same functions in plain Numba, and `lanes` chooses between the two: this file leans on `llvmlite`
and on `numba.core.cgutils`, which may change.

Left to itself, LLVM gives every loop the lanes it likes and adds the last columns one by one, each addition waiting for
the one before: at 30 columns that is a quarter of the time of a stochastic step. Here the columns go in blocks of 16,
then of 8, 4, 2 and 1, and a sum has the same order wherever it stands: a row that is scored alone and a row that is
scored while the weights move have the same bits.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .plain_lanes import CACHE_LINE, CLASS_LANES

DOUBLE, INTEGER, LANE = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
LANES = 4
"""Numbers in a vector."""
TOTALS = 4
"""Vectors that are added to side by side."""
BLOCK = LANES * TOTALS
"""Columns that are worked on together."""
FETCHED = 4
"""Lines of the cache asked for at once: one by one in a loop, rows in random order took a third longer."""


class _Row:
    """One row of a C-ordered matrix, read in lanes as float64."""

    def __init__(self, context: Any, builder: Any, kind: Any, matrix: Any, i: Any) -> None:
        array = context.make_array(kind)(context, builder, matrix)
        self.builder, self.bytes = builder, kind.dtype.bitwidth // 8
        self.columns = cgutils.unpack_tuple(builder, array.shape)[1]
        self.data = builder.gep(array.data, [builder.mul(i, self.columns)])
        self.number = ir.FloatType() if kind.dtype == types.float32 else DOUBLE

    def at(self, j: Any, kind: Any) -> Any:
        """Where column j lies, as the place of a value of this kind."""
        return self.builder.bitcast(self.builder.gep(self.data, [j]), kind.as_pointer())

    def load(self, j: Any, lanes: int) -> Any:
        """The columns from j on, one in each lane."""
        values = self.builder.load(self.at(j, _lanes(self.number, lanes)))
        values.align = self.bytes
        return values if self.number is DOUBLE else self.builder.fpext(values, _lanes(DOUBLE, lanes))

    def store(self, j: Any, values: Any) -> None:
        """Write the lanes back."""
        self.builder.store(values, self.at(j, values.type)).align = self.bytes


def _lanes(number: Any, lanes: int) -> Any:
    return ir.VectorType(number, lanes) if lanes > 1 else number


def _integer(value: int) -> Any:
    return ir.Constant(INTEGER, value)


def _zeros(lanes: int) -> Any:
    return ir.Constant(_lanes(DOUBLE, lanes), [0.0] * lanes)


def _picked(builder: Any, values: Any, lanes: list[int]) -> Any:
    """These lanes of a vector, as a vector."""
    mask = ir.Constant(ir.VectorType(LANE, len(lanes)), lanes)
    return builder.shuffle_vector(values, ir.Constant(values.type, ir.Undefined), mask)


def _spread(builder: Any, number: Any, lanes: int) -> Any:
    """The number in every lane."""
    if lanes == 1:
        return number
    empty = ir.Constant(_lanes(DOUBLE, lanes), ir.Undefined)
    return _picked(builder, builder.insert_element(empty, number, ir.Constant(LANE, 0)), [0] * lanes)


def _plus_product(builder: Any, total: Any, a: Any, b: Any) -> Any:
    """total + ab, rounded once where the machine can."""
    name = f"llvm.fmuladd.v{total.type.count}f64" if isinstance(total.type, ir.VectorType) else "llvm.fmuladd.f64"
    kind = ir.FunctionType(total.type, [total.type] * 3)
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [a, b, total])


def _both(builder: Any, pair: Any) -> Any:
    """The sum of two lanes."""
    return builder.fadd(*(builder.extract_element(pair, ir.Constant(LANE, lane)) for lane in (0, 1)))


def _sweep(builder: Any, weights: _Row, scored: _Row, start: Any, moved: _Row | None, keep: Any, pull: Any) -> Any:
    """start + Σⱼ wⱼ xⱼ over the columns of a row; every wⱼ is first moved where there is a row to move by."""

    def weights_at(j: Any, lanes: int) -> Any:
        values = weights.load(j, lanes)
        if moved is None:
            return values
        kept = builder.fmul(_spread(builder, keep, lanes), values)
        values = _plus_product(builder, kept, _spread(builder, pull, lanes), moved.load(j, lanes))
        weights.store(j, values)
        return values

    def block(j: Any, lanes: int, into: list[Any]) -> None:
        for k, total in enumerate(into):
            at = builder.add(j, _integer(k * lanes))
            values = _plus_product(builder, builder.load(total), weights_at(at, lanes), scored.load(at, lanes))
            builder.store(values, total)

    totals = [cgutils.alloca_once_value(builder, _zeros(LANES)) for _ in range(TOTALS)]
    pair, single = cgutils.alloca_once_value(builder, _zeros(2)), cgutils.alloca_once_value(builder, start)
    columns = weights.columns
    whole = builder.and_(columns, _integer(-BLOCK))
    with cgutils.for_range_slice(builder, _integer(0), whole, _integer(BLOCK), inc=True) as (j, _):
        block(j, LANES, totals)
    for width, lanes, into in ((8, LANES, totals[:2]), (4, LANES, totals[2:3]), (2, 2, [pair]), (1, 1, [single])):
        with builder.if_then(builder.icmp_signed("!=", builder.and_(columns, _integer(width)), _integer(0))):
            block(builder.and_(columns, _integer(-2 * width)), lanes, into)
    a, b, c, d = map(builder.load, totals)
    four = builder.fadd(builder.fadd(a, b), builder.fadd(c, d))
    two = builder.fadd(_picked(builder, four, [0, 1]), _picked(builder, four, [2, 3]))
    rest = builder.fadd(_both(builder, builder.load(pair)), builder.load(single))
    return builder.fadd(_both(builder, two), rest)


@intrinsic  # type: ignore[untyped-decorator]
def dense_score(typing_context: Any, W: Any, k: Any, start: Any, X: Any, i: Any) -> Any:
    """start + Σⱼ Wₖⱼ Xᵢⱼ."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        W_, k_, start_, X_, i_ = arguments
        weights = _Row(context, builder, signature.args[0], W_, k_)
        return _sweep(builder, weights, _Row(context, builder, signature.args[3], X_, i_), start_, None, None, None)

    return types.float64(W, types.int64, types.float64, X, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def dense_move_and_score(
    typing_context: Any, W: Any, k: Any, keep: Any, pull: Any, h: Any, start: Any, X: Any, i: Any
) -> Any:
    """Wₖ ← keep Wₖ + pull Xₕ, then start + Σⱼ Wₖⱼ Xᵢⱼ: one sweep, so that no sum waits for a store."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        W_, k_, keep_, pull_, h_, start_, X_, i_ = arguments
        weights = _Row(context, builder, signature.args[0], W_, k_)
        moved, scored = (_Row(context, builder, signature.args[6], X_, row) for row in (h_, i_))
        return _sweep(builder, weights, scored, start_, moved, keep_, pull_)

    number, index = types.float64, types.int64
    return number(W, index, number, number, index, number, X, index), generate


def _prefetch(builder: Any, place: Any, level: int) -> None:
    """A hint that what lies there is wanted: 2 brings it to the second level of the cache, 3 to the first."""
    byte = ir.IntType(8)
    hints = [ir.Constant(LANE, hint) for hint in (0, level, 1)]  # to read, how near, data
    kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), LANE, LANE, LANE])
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte.as_pointer()], kind)
    builder.call(prefetch, [place, *hints])


def _fetch(level: int) -> Any:
    """A hint that row i of X is wanted."""

    @intrinsic  # type: ignore[untyped-decorator]
    def fetch(typing_context: Any, X: Any, i: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            row = _Row(context, builder, signature.args[0], *arguments)
            byte = ir.IntType(8)
            line, end = CACHE_LINE // row.bytes, builder.sub(row.columns, _integer(1))
            step = _integer(FETCHED * line)
            with cgutils.for_range_slice(builder, _integer(0), row.columns, step, inc=True) as (j, _):
                for k in range(FETCHED):
                    at = builder.add(j, _integer(k * line))
                    inside = builder.icmp_signed("<", at, end)
                    _prefetch(builder, row.at(builder.select(inside, at, end), byte), level)
            _prefetch(builder, row.at(end, byte), level)
            return context.get_dummy_value()

        return types.void(X, types.int64), generate

    return fetch


dense_fetch_far, dense_fetch_near = _fetch(2), _fetch(3)


def _fetch_line(level: int) -> Any:
    """A hint that the numbers around place e of an array are wanted."""

    @intrinsic  # type: ignore[untyped-decorator]
    def fetch(typing_context: Any, numbers: Any, e: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            place = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(8).as_pointer())
            _prefetch(builder, place, level)
            return context.get_dummy_value()

        return types.void(numbers, types.int64), generate

    return fetch


line_far, line_near = _fetch_line(2), _fetch_line(3)


class _Vectors:
    """The rows of a C-ordered matrix, `count` vectors long, read and written as vectors."""

    def __init__(self, context: Any, builder: Any, kind: Any, matrix: Any, count: int) -> None:
        array = context.make_array(kind)(context, builder, matrix)
        lanes = CLASS_LANES[kind.dtype.name]
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


@cache
def gather(count: int) -> Any:
    """The products of one CSR row with so many vectors of classes."""

    @intrinsic  # type: ignore[untyped-decorator]
    def products(typing_context: Any, values: Any, columns: Any, first: Any, last: Any, W: Any, S: Any, r: Any) -> Any:
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

    return products


@cache
def scatter(count: int) -> Any:
    """What one CSR row adds to so many vectors of classes."""

    @intrinsic  # type: ignore[untyped-decorator]
    def sums(typing_context: Any, values: Any, columns: Any, first: Any, last: Any, R: Any, r: Any, G: Any) -> Any:
        """G[columnsₑ] ← G[columnsₑ] + valuesₑ Rᵣ for every e."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pulls = _Vectors(context, builder, signature.args[4], arguments[4], count)
            into = _Vectors(context, builder, signature.args[6], arguments[6], count)
            own = pulls.load(arguments[5])
            for column, number in _entries(context, builder, signature, arguments):
                x = into.spread(number)
                moved = [into.plus_product(g, x, p) for g, p in zip(into.load(column), own, strict=True)]
                into.store(column, moved)
            return context.get_dummy_value()

        return types.void(values, columns, types.int64, types.int64, R, types.int64, G), generate

    return sums
