"""A model as one Python function that imports nothing but math."""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Iterator

from ...errors import SettingError
from .program import Cell, Choice, Expression, If, Language, Program, branches_of, place_of

HEAD = '''"""{facts}

{checked}
"""

import math


def {name}(row):
    """The label, the scores and the probabilities of a row: {{column: cell}}, a cell is a number, a text or None.

    All answers are None where the model refuses the row: a value that is missing where none was in the training rows,
    {unseen}a cell that is no finite number where one is needed.
    """
'''


class Python(Language):
    """Expressions in Python."""

    def call(self, function: str, *arguments: str) -> str:
        return super().call({"exp": "math.exp"}.get(function, function), *arguments)

    def finite(self, value: Expression) -> str:
        x = self.inside(value)
        return f"{x} if math.isfinite({x}) else math.nan"

    def choice(self, value: Choice) -> str:
        return f"({', '.join(map(self.signed, value.values))},)[{value.code}]"

    def condition(self, value: If) -> str:
        return f"{self.inside(value.then)} if {self.test(value)} else {self.inside(value.other)}"


def python_text(program: Program, checked: str, *, name: str = "predict") -> str:
    """The text of a module with one function of this name."""
    usual = unicodedata.normalize("NFKC", name)  # as Python reads it
    if not name.isidentifier() or name != usual or keyword.iskeyword(name) or name in RESERVED:
        raise SettingError("name", name, "it must be a name that a Python function can have.")
    to = Python()
    unseen = "" if _takes_unseen(program) else "a level that no training row had, "
    lines = [HEAD.format(facts=_quoted("\n".join(program.facts)), checked=_quoted(checked), name=name, unseen=unseen)]
    titles = ["label", *program.score_titles, *program.probability_titles]
    lines.append(f"    refused = dict.fromkeys({titles!r})\n")
    lines += [_category(cell) if cell.column.kind == "category" else _number(cell, to) for cell in program.cells]
    for step in program.steps:
        text = to.write(step.value)
        lines.append(f"    {step.name} = ({text})\n" if "\n" in text else f"    {step.name} = {text}\n")
    unknown = " or ".join(f"{each} != {each}" for each in program.scores)
    lines.append(f"    if {unknown}:\n        return refused  # a score overflows\n")
    lines += _labels(program, to)
    values = ["label", *program.scores, *program.probabilities]
    answer = "".join(f"        {title!r}: {value},\n" for title, value in zip(titles, values, strict=True))
    lines.append(f"    return {{\n{answer}    }}\n")
    return "".join(lines)


def _labels(program: Program, to: Python) -> Iterator[str]:
    """The class, by conditions one after the other: in each other they would go too deep."""
    assert isinstance(program.place, If)
    chain, last = branches_of(program.place)
    for k, each in enumerate(chain):
        word, label = "elif" if k else "if", program.classes[place_of(each.then)]
        yield f"    {word} {to.test(each)}:\n        label = {label!r}\n"
    yield f"    else:\n        label = {program.classes[place_of(last)]!r}\n"


RESERVED = frozenset({"__debug__", "math", "row", "float", "dict", "int", "str", "abs", "max", "isinstance"})


def _takes_unseen(program: Program) -> bool:
    return all(cell.unseen == "reference" for cell in program.cells)


def _quoted(text: str) -> str:
    """Safe inside a docstring: what is not ASCII, a backslash or a quote could end it otherwise."""
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _number(cell: Cell, to: Python) -> str:
    name, column = cell.value, cell.column
    missing = "return refused" if cell.filled is None else f"{name} = {cell.filled!r}"
    scaled = f"\n            {name} = {to.scaled(name, column.center, column.scale)}"
    lines = f"    cell = row[{column.name!r}]\n"
    if cell.missing is not None:
        lines += f"    {cell.missing} = float(cell is None or cell != cell)\n"
    return lines + (
        f"    if cell is None or cell != cell:\n        {missing}\n"
        f"    else:\n        try:\n            {name} = float(cell)"
        f"{scaled if cell.shifted else ''}\n"
        f"        except (TypeError, ValueError, OverflowError):\n            return refused\n"
        f"        if not {_known(cell)}:\n            return refused\n"
    )


def _known(cell: Cell) -> str:
    """Whether a number is one that the model knows."""
    name, (low, high, whole) = cell.value, cell.allowed
    tests = [f"{low!r} <= {name}"] * (low is not None) + [f"{name} <= {high!r}"] * (high is not None)
    tests += [f"{name} == math.floor({name})"] * whole
    return f"({' and '.join([f'math.isfinite({name})', *tests])})" if tests else f"math.isfinite({name})"


def _category(cell: Cell) -> str:
    name, column = cell.value, cell.column
    missing = "return refused" if cell.filled is None else f"{name} = 0"
    levels = "{" + ", ".join(f"{level!r}: {k}" for k, level in enumerate(column.levels)) + "}"
    lines = f"    cell = row[{column.name!r}]\n"
    if cell.missing is not None:
        lines += f"    {cell.missing} = float(cell is None or cell != cell)\n"
    lines += f"    if cell is None or cell != cell:\n        {missing}\n    else:\n"
    if cell.unseen == "reference":
        return lines + f"        {name} = {levels}.get(str(cell), 0)\n"
    return lines + (
        f"        {name} = {levels}.get(str(cell))\n        if {name} is None:\n            return refused\n"
    )
