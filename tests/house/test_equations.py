"""The tables of docs/equations.md, the docstrings and the lecture texts name the same equations."""

import functools
import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

import pytest
from places import ROOT

NOTES = ROOT.parent / "shared" / "notes"
PAGE = (ROOT / "docs" / "equations.md").read_text(encoding="utf-8")

NUMBERS_OF_TEXT = {
    "000": [f"8.{i}" for i in range(1, 19)],
    "001": [],
    "002": [str(i) for i in range(1, 12)],
    "003": [],
    "004": ["4.1"],
}

OPTIONAL_DEPENDENCIES = {
    *("cyclopts", "rich", "duckdb", "pandas", "jsonschema", "safetensors", "matplotlib", "jinja2"),
    *("starlette", "uvicorn", "websockets", "onnx", "onnxruntime", "dask", "distributed", "torch", "triton"),
}

BRACKET = re.compile(r"\[(00[0-4]\s[^\[\]]*)\]")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
PRINTED_NUMBER = re.compile(r"(?:^\s*\(|\\tag\{|\\q?quad\s*\()(\d+(?:\.\d+)?)[)}](?:\$\$)?\s*$", re.MULTILINE)


class Tag(NamedTuple):
    """The number of an equation, and the text which prints it."""

    text: str
    number: str


class Entry(NamedTuple):
    """A row of a table: what it is about, and where the table says that is."""

    name: str
    where: str

    @property
    def is_built(self) -> bool:
        return not self.where.startswith("later: ")

    @property
    def tag(self) -> Tag:
        (tag,) = tags_in(self.name)
        return tag


def tags_in(docstring: str | None) -> set[Tag]:
    """The equations named by brackets such as `[000 8.8, 8.9; 002 8]`; places such as `[000 §8.1]` are none."""
    return {
        Tag(text, number)
        for bracket in BRACKET.findall(docstring or "")
        for text, numbers in (part.split(maxsplit=1) for part in bracket.split(";"))
        for number in map(str.strip, numbers.split(","))
        if NUMBER.fullmatch(number)
    }


def section(title: str) -> str:
    """What stands below a heading of the page, up to the next heading."""
    _, heading, rest = PAGE.partition(f"\n## {title}\n")
    assert heading, f"docs/equations.md has no section {title!r}"
    return rest.partition("\n## ")[0]


def cells(line: str) -> list[str]:
    return [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]


def table(title: str, key: str) -> list[Entry]:
    """The rows of a section's table, each with its cells in the columns `key` and "where"."""
    heading, _, *body = [cells(line) for line in section(title).splitlines() if line.startswith("|")]
    rows = [dict(zip(heading, row, strict=True)) for row in body]
    return [Entry(row[key], row["where"]) for row in rows]


NUMBERED = table("Numbered equations", "tag")
UNNUMBERED = table("Unnumbered equations", "name")
BUILT = [entry for entry in NUMBERED if entry.is_built]


def underlying(member: object) -> object:
    """The function behind a property, a class method or a static method; any other object is itself."""
    if isinstance(member, property):
        return member.fget
    if isinstance(member, functools.cached_property):
        return member.func
    return getattr(member, "__func__", member)


def resolve(dotted: str) -> object:
    """The object of a dotted name: its longest module prefix is imported, the rest are attributes."""
    return underlying(pkgutil.resolve_name(dotted))


def full_name(definition: object) -> str:
    """The dotted name under which a function or class was defined, whatever it was reached by."""
    return f"{definition.__module__}.{definition.__qualname__}"  # type: ignore[attr-defined]


def is_optional(error: BaseException | None) -> bool:
    """Whether the error, or one that it stems from, is an optional dependency not being installed."""
    if error is None:
        return False
    missing = (getattr(error, "name", None) or "").partition(".")[0]
    return missing in OPTIONAL_DEPENDENCIES or is_optional(error.__cause__ or error.__context__)


def modules() -> Iterator[ModuleType]:
    """The package and all its modules, without those whose optional dependency is missing."""
    package = importlib.import_module("separatrix")
    yield package
    for found in pkgutil.walk_packages(package.__path__, prefix="separatrix."):
        if found.name.endswith(".__main__"):  # importing it would start the command line
            continue
        try:
            yield importlib.import_module(found.name)
        except ImportError as error:
            if not is_optional(error):
                raise


def definitions(owner: ModuleType | type, module_name: str, prefix: str = "") -> Iterator[object]:
    """The functions and classes defined in a module or class, and in its classes; not what it imports."""
    for member in map(underlying, vars(owner).values()):
        qualified_name = getattr(member, "__qualname__", None)
        if not isinstance(qualified_name, str) or not qualified_name.startswith(prefix):
            continue
        if getattr(member, "__module__", None) != module_name:
            continue
        yield member
        if isinstance(member, type):
            yield from definitions(member, module_name, prefix=f"{qualified_name}.")


def owners_of_tags() -> dict[Tag, set[str]]:
    """For each numbered equation named in a docstring, the objects which name it."""
    owners: defaultdict[Tag, set[str]] = defaultdict(set)
    for module in modules():
        for definition in definitions(module, module.__name__):
            for tag in tags_in(definition.__doc__):
                owners[tag].add(full_name(definition))
    return {tag: names for tag, names in owners.items() if NUMBERS_OF_TEXT[tag.text]}


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("w + H g  [000 8.10]", {("000", "8.10")}),
        ("[000 8.3, 8.5; 002 3, 5]", {("000", "8.3"), ("000", "8.5"), ("002", "3"), ("002", "5")}),
        ("[000 8.3,\n     8.5;\n     002 3]", {("000", "8.3"), ("000", "8.5"), ("002", "3")}),
        ("[000 8.1] and [004 4.1]", {("000", "8.1"), ("004", "4.1")}),
        ("[000 §8.1.4; 001 slide 5], X[0], [8.1], (000 8.1)", set()),
        (None, set()),
    ],
)
def test_brackets_are_read(docstring: str | None, expected: set[tuple[str, str]]) -> None:
    assert tags_in(docstring) == expected


def test_every_number_has_exactly_one_row() -> None:
    required = [Tag(text, number) for text, numbers in NUMBERS_OF_TEXT.items() for number in numbers]
    assert sorted(entry.tag for entry in NUMBERED) == sorted(required)


def test_every_name_has_exactly_one_row() -> None:
    names = [entry.name for entry in UNNUMBERED]
    assert names
    assert len(names) == len(set(names))


def test_every_row_says_later_or_names_an_object() -> None:
    for entry in NUMBERED + UNNUMBERED:
        if entry.is_built:
            assert full_name(resolve(entry.where)).startswith("separatrix."), entry.name
        else:
            assert entry.where.removeprefix("later: ").strip(), entry.name


@pytest.mark.parametrize("entry", BUILT, ids=lambda entry: entry.name)
def test_docstring_of_the_object_names_the_equation(entry: Entry) -> None:
    assert entry.tag in tags_in(resolve(entry.where).__doc__)


def test_every_tag_is_at_one_object_and_the_table_names_it() -> None:
    assert owners_of_tags() == {entry.tag: {full_name(resolve(entry.where))} for entry in BUILT}


@pytest.mark.skipif(not NOTES.is_dir(), reason="the lecture texts are not beside the repository")
@pytest.mark.parametrize("text", NUMBERS_OF_TEXT)
def test_required_numbers_are_those_printed_in_the_texts(text: str) -> None:
    (path,) = NOTES.glob(f"{text}_*.txt")
    assert PRINTED_NUMBER.findall(path.read_text(encoding="utf-8")) == NUMBERS_OF_TEXT[text]
