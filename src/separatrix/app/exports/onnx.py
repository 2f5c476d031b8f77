"""A model as an ONNX graph in double precision."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...wording import setting
from .program import (
    Abs,
    CannotExportError,
    Cell,
    Choice,
    Exp,
    Expression,
    Finite,
    If,
    Largest,
    Number,
    Product,
    Program,
    Ratio,
    Ref,
    Sum,
)

OPSET = 17
"""Of ai.onnx: what runtimes since 2022 read."""
ML_OPSET = 3
"""Of ai.onnx.ml."""
IR = 8
"""The version of the format."""
EXACT = 2**53
UNSEEN = "a level that no training row had, "


class Graph:
    """Collects nodes; every value is a tensor of N × 1 numbers, NaN where it is unknown."""

    def __init__(self, program: Program, stem: str) -> None:
        from onnx import TensorProto, helper, numpy_helper

        self.helper, self.numpy_helper, self.types = helper, numpy_helper, TensorProto
        self.program, self.stem = program, stem
        self.nodes: list[Any] = []
        self.constants: dict[tuple[str, bytes], str] = {}
        self.initializers: list[Any] = []
        self.at: dict[str, str] = {}
        self._joined: dict[tuple[str, ...], str] = {}

    def add(self, operator: str, *inputs: str, domain: str = "", output: str | None = None, **attributes: Any) -> str:
        """A node; the name of what it gives."""
        name = output or f"{self.stem}{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, list(inputs), [name], domain=domain, **attributes))
        return name

    def constant(self, value: Any) -> str:
        """A tensor that is always the same."""
        array = np.asarray(value)
        key = (f"{array.dtype.str}{array.shape}", repr(array.tolist()).encode())
        if key not in self.constants:
            name = f"{self.stem}constant{len(self.constants)}"
            self.constants[key] = name
            self.initializers.append(self.numpy_helper.from_array(array, name))
        return self.constants[key]

    def number(self, value: float) -> str:
        """A number, for all rows."""
        return self.constant(np.array([[value]], np.float64))

    def write(self, value: Expression) -> str:
        """The nodes of an expression."""
        return _WAYS[type(value)](self, value)

    def sum(self, value: Sum) -> str:
        """Σ wⱼxⱼ as one product of matrices, then all else."""
        plain = [term for term in value.terms if _is_weighted(term)]
        total = None
        if len(plain) > 2:
            names = tuple(self.at[_weighted(term)[1]] for term in plain)
            if names not in self._joined:
                self._joined[names] = self.add("Concat", *names, axis=1)
            weights = np.array([[_weighted(term)[0]] for term in plain])
            total = self.add("MatMul", self._joined[names], self.constant(weights))
        else:
            plain = []
        for term in value.terms:
            if term not in plain:
                made = self.write(term)
                total = made if total is None else self.add("Add", total, made)
        assert total is not None
        return total

    def chain(self, operator: str, values: tuple[Expression, ...]) -> str:
        """a ∘ b ∘ c."""
        found = self.write(values[0])
        for each in values[1:]:
            found = self.add(operator, found, self.write(each))
        return found

    def choice(self, value: Choice) -> str:
        """The place −1, of a level that is unknown, is the last of the table."""
        table = self.constant(np.array([*value.values, np.nan]))
        return self.add("Gather", table, self.at[value.code], axis=0)

    def condition(self, value: If) -> str:
        """What compares the unknown is false, so what follows must be unknown by itself: scores see to that."""
        test = self.add({"<": "Less", "<=": "LessOrEqual"}[value.sign], self.write(value.left), self.write(value.right))
        return self.add("Where", test, self.write(value.then), self.write(value.other))

    def finite(self, name: str) -> str:
        """The value, NaN where it is not finite."""
        test = self.add("LessOrEqual", self.add("Abs", name), self.number(float(np.finfo(np.float64).max)))
        return self.add("Where", test, name, self.number(np.nan))

    # ---------------------------------------------------------------------------------------------------------- cells

    def cell(self, cell: Cell) -> None:
        """The value of a column, and whether it is missing."""
        if cell.column.kind == "category":
            self._category(cell)
        else:
            self._number(cell)

    def _number(self, cell: Cell) -> None:
        column, x = cell.column, cell.column.name
        scaled = x
        if cell.shifted:
            centred = self.add("Sub", x, self.number(column.center))
            scaled = self.add("Div", centred, self.number(column.scale))
        found = self.finite(scaled)
        for test in self._known(cell, x):
            found = self.add("Where", test, found, self.number(np.nan))
        if cell.filled is not None:
            absent = self.add("IsNaN", x)
            found = self.add("Where", absent, self.number(cell.filled), found)
        if cell.missing is not None:
            self.at[cell.missing] = self.add("Cast", self.add("IsNaN", x), to=self.types.DOUBLE)
        self.at[cell.value] = self.add("Identity", found)

    def _known(self, cell: Cell, x: str) -> Iterator[str]:
        """Whether the model knows a number, in as many parts as that has."""
        low, high, whole = cell.allowed
        if low is not None:
            yield self.add("LessOrEqual", self.number(low), x)
        if high is not None:
            yield self.add("LessOrEqual", x, self.number(high))
        if whole:
            yield self.add("Equal", x, self.add("Floor", x))

    def _category(self, cell: Cell) -> None:
        levels = list(cell.column.levels)
        places = list(range(len(levels)))
        strange = 0 if cell.unseen == "reference" else -1
        if "" not in levels:
            levels, places = [*levels, ""], [*places, -1 if cell.filled is None else 0]
        self.at[cell.value] = self.add(
            "LabelEncoder", cell.column.name, domain="ai.onnx.ml", keys_strings=levels, values_int64s=places,
            default_int64=strange,
        )  # fmt: skip
        if cell.missing is not None:
            told = 0 if "" in cell.column.levels else 1
            gap = self.add("LabelEncoder", cell.column.name, domain="ai.onnx.ml", keys_strings=[""],
                           values_int64s=[told], default_int64=0)  # fmt: skip
            self.at[cell.missing] = self.add("Cast", gap, to=self.types.DOUBLE)


def _is_weighted(term: Expression) -> bool:
    return isinstance(term, Ref) or (
        isinstance(term, Product) and len(term.factors) == 2 and isinstance(term.factors[0], Number)
        and isinstance(term.factors[1], Ref)
    )  # fmt: skip


def _weighted(term: Any) -> tuple[float, str]:
    return (1.0, term.name) if isinstance(term, Ref) else (term.factors[0].value, term.factors[1].name)


_WAYS: dict[type, Callable[[Graph, Any], str]] = {
    Number: lambda to, e: to.number(e.value),
    Ref: lambda to, e: to.at[e.name],
    Finite: lambda to, e: to.finite(to.write(e.of)),
    Choice: lambda to, e: to.choice(e),
    Sum: lambda to, e: to.sum(e),
    Product: lambda to, e: to.chain("Mul", e.factors),
    Ratio: lambda to, e: to.add("Div", to.write(e.above), to.write(e.below)),
    Exp: lambda to, e: to.add("Exp", to.write(e.power)),
    Abs: lambda to, e: to.add("Abs", to.write(e.of)),
    Largest: lambda to, e: to.add("Max", *map(to.write, e.of)),
    If: lambda to, e: to.condition(e),
}


def onnx_bytes(program: Program, checked: str, *, prefix: str = "") -> bytes:
    """The bytes of a graph: an input of N × 1 for each column, outputs label (N), scores and probabilities (N × K)."""
    try:
        from onnx import TensorProto, checker, helper
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            'ONNX needs the package onnx, which is not installed: pip install "separatrix[export]".', name="onnx"
        ) from None
    names = [cell.column.name for cell in program.cells]
    outputs = [prefix + each for each in ("label", "scores", *(["probabilities"] if program.probabilities else []))]
    _check(names, outputs)
    stem = "step "
    while any(each.startswith(stem) for each in (*names, *outputs)):
        stem = "s" + stem
    to = Graph(program, stem)
    for cell in program.cells:
        to.cell(cell)
    for step in program.steps:
        to.at[step.name] = to.write(step.value)
    kind = _label(to, outputs[0])
    to.add("Concat", *(to.at[each] for each in program.scores), axis=1, output=outputs[1])
    if program.probabilities:
        to.add("Concat", *(to.at[each] for each in program.probabilities), axis=1, output=outputs[2])
    info = helper.make_tensor_value_info
    inputs = [
        info(cell.column.name, TensorProto.STRING if cell.column.kind == "category" else TensorProto.DOUBLE, ["N", 1])
        for cell in program.cells
    ]
    widths = [len(program.scores), len(program.probabilities)]
    given = [info(outputs[0], kind, ["N"])] + [
        info(name, TensorProto.DOUBLE, ["N", width]) for name, width in zip(outputs[1:], widths, strict=False)
    ]
    graph = helper.make_graph(to.nodes, "separatrix", inputs, given, to.initializers)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    model = helper.make_model(graph, producer_name="separatrix", opset_imports=opsets, ir_version=IR)
    seen = all(cell.unseen == "reference" for cell in program.cells)
    helper.set_model_props(model, {
        "format": "separatrix-export 1",
        "classes": json.dumps(list(program.classes), ensure_ascii=False),
        "about": " ".join(program.facts),
        "checked": checked,
        "missing": "NaN of a number, an empty text of a category",
        "refused": "Scores and probabilities are NaN and the label is empty or NaN where the model refuses a row: a "
        f"value that is missing where none was in the training rows, {'' if seen else UNSEEN}a number not finite.",
        "unseen": "reference" if seen else "error",
    })  # fmt: skip
    checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


def _label(to: Graph, output: str) -> int:
    """The label by its place, of all rows that have scores; its type."""
    classes = to.program.classes
    if isinstance(classes[0], int | float) and not isinstance(classes[0], bool):
        strange = next((label for label in classes if isinstance(label, int) and abs(label) > EXACT), None)
        if strange is not None:
            raise CannotExportError(
                f"The class {strange} is a whole number that no double holds: ONNX cannot tell it from others. Turn "
                "the classes into texts, and fit again."
            )
        table, kind = np.array([*map(float, classes), np.nan]), to.types.DOUBLE
    else:
        table, kind = np.array([*map(str, classes), ""], object), to.types.STRING
    known = to.at[to.program.scores[0]]
    for each in to.program.scores[1:]:
        known = to.add("Add", known, to.at[each])
    place = to.add("Where", to.add("IsNaN", known), to.number(-1.0), to.write(to.program.place))
    whole = to.add("Cast", place, to=to.types.INT64)
    flat = to.add("Reshape", whole, to.constant(np.array([-1], np.int64)))
    to.add("Gather", to.constant(table), flat, axis=0, output=output)
    return int(kind)


def _check(names: list[str], outputs: list[str]) -> None:
    if "" in names:
        raise CannotExportError("A column has an empty name, which ONNX does not allow: rename it, and fit again.")
    both = set(names) & set(outputs)
    if both:
        raise CannotExportError(
            f"A column and an output are both named {min(both)!r}: give outputs another beginning "
            f"({setting('prefix', 'model ')})."
        )
