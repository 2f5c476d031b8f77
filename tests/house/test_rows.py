"""Outside `data` nobody asks of which kind rows are: a new kind of rows is one file, and so is a new place."""

import ast
import importlib
import pkgutil
from pathlib import Path

import pytest

import separatrix
from separatrix import data
from separatrix.data.block import Block
from separatrix.data.source import Source

SRC = Path(separatrix.__file__).parent
ROWS = {"X", "rows", "block", "given", "checked"}
"""What rows are called."""
AS_GIVEN = {
    "learners/kernel/settings.py": "X may be a list of strings or graphs, and an array tells that it is not",
    "app/models/model.py": "X may be a data frame, whose columns are put in order",
}
"""Where X is what a user gives, before it is read."""
OTHERS = ("data", "audit")
"""The rooms that know: the audit reads rows by code of its own."""


def below(kind):
    return {kind.__name__}.union(*(below(each) for each in kind.__subclasses__()))


def names_of(node):
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} | {
        each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)
    }


def questions(tree, kinds):
    """Line and text of each question of the kind of rows."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            asked, what, how = node.args[0], node.args[1], node.func.id
            if how in ("isinstance", "issubclass"):
                array = "ndarray" in names_of(what) and isinstance(asked, ast.Name) and asked.id in ROWS
                if names_of(what) & kinds or array:
                    yield node.lineno, ast.unparse(node)
            if how in ("hasattr", "getattr") and isinstance(what, ast.Constant) and what.value in VERBS:
                yield node.lineno, ast.unparse(node)
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Call):
            of_type = isinstance(node.left.func, ast.Name) and node.left.func.id == "type"
            if of_type and any(names_of(each) & kinds for each in node.comparators):
                yield node.lineno, ast.unparse(node)
        if isinstance(node, ast.MatchClass) and names_of(node.cls) & kinds:
            yield node.lineno, ast.unparse(node.cls)


VERBS = {name for name in vars(Block) if name[0] != "_"} - {"shape", "dtype", "ndim", "size", "names", "sum"}


@pytest.fixture(scope="module")
def kinds():
    for module in pkgutil.walk_packages(data.__path__, "separatrix.data."):
        importlib.import_module(module.name)
    found = (below(Block) | below(Source)) - {"Block", "Source"}
    assert {"Dense", "Sparse", "MappedRows", "CategoricalRows", "Rows"} <= found
    return found


def test_nobody_asks_for_the_kind_of_rows(kinds):
    found = []
    for path in sorted(SRC.rglob("*.py")):
        name = path.relative_to(SRC).as_posix()
        if name.split("/")[0] not in OTHERS and name not in AS_GIVEN:
            found += [f"{name}:{line}: {text}" for line, text in questions(ast.parse(path.read_text()), kinds)]
    assert found == []


def test_every_exception_is_needed(kinds):
    for name in AS_GIVEN:
        assert list(questions(ast.parse((SRC / name).read_text()), kinds)), f"{name} asks no more: strike it out"


@pytest.mark.parametrize(
    "text",
    [
        "isinstance(X, Sparse)", "isinstance(a.b, Dense | int)", "isinstance(v, (list, data.MappedRows))",
        "isinstance(rows, np.ndarray)", "hasattr(rows, 'dense')", "type(X) is CategoricalRows",
        "match X:\n    case Sparse():\n        pass", "isinstance(rows, Rows)",
    ],
)  # fmt: skip
def test_a_question_is_seen(kinds, text):
    assert list(questions(ast.parse(text), kinds))
    assert not list(questions(ast.parse("isinstance(weights, np.ndarray) or isinstance(X, Block)"), kinds))
