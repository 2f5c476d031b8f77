"""docs/coverage.md names everything in the lecture texts, and what it names exists."""

import ast
import functools
import inspect
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from .test_equations import NOTES, NUMBERED, NUMBERS_OF_TEXT, PAGE, ROOT, UNNUMBERED, cells, resolve

GALLERY = ROOT / "docs" / "gallery"
HEADINGS = {
    "000": "000: Linear classifiers",
    "001": "001: From Bayes' rule to a vote of perceptrons",
    "002": "002: Logistic regression",
    "003": "003: Linear models for classification",
    "004": "004: Linear classification and its surrogates",
    "conventions": "Conventions",
    "remarks": "Remarks that are easily missed",
}
COLUMNS = ["place", "item", "what is said", "ours", "test", "picture"]
NO_PICTURE = "no picture in the text"

PLACES = {
    "000": [
        *("opening", "§8.1", "§8.1.1", "§8.1.1, weighted", "§8.1.2", "§8.1.3", "§8.1.4", "§8.1.5"),
        *(
            "§8.2",
            "§8.2, problems",
            "§8.2.1",
            "§8.2.2",
            "§8.2.3",
            "§8.3",
            "§8.3.1",
            "§8.3.2",
            "§8.4",
            "§8.4, overlapping",
        ),
    ],
    "001": [*(f"slide {k}" for k in range(2, 17)), "slides 17–20", *(f"slide {k}" for k in range(21, 30))],
    "002": ["opening", "§1", "§1.1", "§1.2", "§1.3", "§1.4", "§1.5"],
    "003": [f"slide {k}" for k in range(4, 32) if k not in (9, 13, 20, 25)],
    "004": [
        *("opening", "§4.1", "§4.1, separable data", "§4.2", "§4.2, regression", "§4.2, perceptron", "§4.2, footnote"),
        *("§4.3", "§4.3, logistic MSE", "§4.3, logistic regression", "§4.3, properties", "§4.4", "§4.5"),
        *("§4.5, decision boundary", "§4.5, alternative form", "§4.5, perceptron", "§4.5, surrogates"),
    ],
}
"""The parts of each text that have content, in order. What has none: title, outline, and slides that head a part."""

ITEMS_OF_TEXT = {
    "000": ["Algorithm 5", "Algorithm 6", "Figure 8.1", "Figure 8.2"],
    "001": ["Algorithm Online Perceptron", "Algorithm Perceptron"],
    "002": ["Figure 1", "Figure 2"],
    "003": ["Algorithm of the perceptron"],
    "004": ["Algorithm 4.1", *(f"Example 4-{k}" for k in range(1, 8)), *(f"Figure 4.{k}" for k in range(1, 6))],
}
PICTURES_OF_SLIDES = {
    "001": [3, 7, 10, 13, 14, 17, 21],
    "003": [10, 11, 12, 16, 17, 19, 23, 26, 31],
}
KINDS = {"equation", "definition", "theorem", "bound", "example", "table", "picture", "remark", "convention"}
NUMBERED_ITEM = re.compile(r"Eq\. \d+(\.\d+)?|Algorithm \S.*|Figure \d+(\.\d+)?|Example \d+-\d+")
DRAWN = re.compile(r"Figure .*|Example .*|picture|table")

MISPRINTS = {
    ("000", "§8.1.1", "not attained"),
    ("000", "§8.1.2", "O(dn)"),
    ("000", "§8.1.2", "n × (d+1)"),
    ("000", "§8.1.2", "does not follow"),
    ("000", "§8.1.3", "−log 2"),
    ("000", "§8.1.5", "minus sign"),
    ("000", "§8.2", "Σ‖x⁽ˡ⁾‖²"),
    ("000", "§8.2", "uᵀw"),
    ("000", "§8.2", "changes no mistake"),
    ("000", "§8.3", "{0, 1}"),
    ("000", "§8.3.2", "+ a(θ₀)"),
    ("000", "§8.3.2", "(μ₁−μ₀)/σ²"),
    ("000", "§8.4", "w_K = 0"),
    ("000", "§8.4", "Xᵀ(P − Y)"),
    ("001", "slide 8", "t = 0"),
    ("001", "slide 16", "Note 1"),
    ("002", "§1.1", "not be attained"),
    ("002", "§1.2", "XᵀP(I−P)(y−p)"),
    ("002", "§1.2", "does not follow"),
    ("002", "§1.2", "O(kn)"),
    ("003", "slide 12", "0 ≤ α ≤ 1"),
    ("003", "slide 22", "−wᵀφt"),
    ("003", "slide 23", "w_{k+1} ← w_k"),
    ("004", "§4.2, regression", "2/9"),
    ("004", "§4.3, logistic MSE", "factor 2"),
}
REMARKS = [
    *("Starting weights", "Stochastic order", "Logistic regression learns online", "Targets may be probabilities"),
    *("Naive Bayes is linear", '"Most probable', "Online-to-batch", "Joint features with surrogates", "The delta rule"),
    *(
        "Of K classes",
        "Risk floors",
        "Excess risk",
        "L_P may rise",
        "Newton costs",
        "Softmax on Iris",
        "The four blood",
    ),
    "[.1 .2 .6 .1]",
]
CONVENTIONS = [
    *("at exactly zero", "ties in training", "learning rate", "squared error", "softmax", "scale"),
    *("bounds with an intercept", "pocket", "m of d", "certificates", "MNIST", "tanh"),
]


class Row(NamedTuple):
    """A line of a table: where the text says what, and what of ours does, tests and draws it."""

    place: str
    item: str
    what: str
    ours: str
    test: str
    picture: str

    @property
    def equation(self) -> str:
        """The name by which docs/equations.md has an equation without a number, or nothing."""
        found = re.match(r"\*([^*]+)\*", self.what)
        return found[1] if found else ""


def listed(cell: str) -> list[str]:
    """What a cell lists, each in backticks; None of it where there is anything else."""
    return re.findall(r"`([^`]+)`", cell) if re.fullmatch(r"`[^`]+`(, `[^`]+`)*", cell) else []


def table(page: str, heading: str) -> list[Row]:
    _, found, rest = page.partition(f"\n## {heading}\n")
    assert found, f"docs/coverage.md has no section {heading!r}"
    lines = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("|")]
    first, rule, *body = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert first == COLUMNS
    assert set("".join(rule)) == {"-"}
    assert all(len(row) == len(COLUMNS) for row in body), "a row has too many cells or too few"
    return [Row(*row) for row in body]


COVERAGE = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
TABLES = {key: table(COVERAGE, heading) for key, heading in HEADINGS.items()}
ROWS = [row for rows in TABLES.values() for row in rows]


@functools.cache
def defined_in(path: Path) -> frozenset[str]:
    """The tests that a file defines, read and not run."""
    if not path.is_file():
        return frozenset()
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return frozenset(node.name for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"))


def is_importable(name: str) -> bool:
    if name.startswith("separatrix.plots"):
        pytest.importorskip("matplotlib")
    try:
        resolve(name)
    except (ImportError, AttributeError, ValueError):
        return False
    return name.startswith("separatrix.")


def complaints(row: Row) -> list[str]:
    """What is wrong with a row, or with what it names; nothing, if all is well."""
    found = [f"{column} is blank" for column, cell in zip(COLUMNS, row, strict=True) if cell.strip("-– ") == ""]
    if row.item not in KINDS and not NUMBERED_ITEM.fullmatch(row.item):
        found.append(f"{row.item!r} is no kind of item")
    if not listed(row.ours):
        found.append("ours lists no names")
    found += [f"{name} cannot be imported" for name in listed(row.ours) if not is_importable(name)]
    if not listed(row.test):
        found.append("test lists no tests")
    for test in listed(row.test):
        file, _, name = test.partition("::")
        if not file.startswith("tests/") or name not in defined_in(ROOT / file):
            found.append(f"{test} does not exist")
    if DRAWN.fullmatch(row.item) and row.picture == NO_PICTURE:
        found.append(f"{row.item} has no picture")
    if row.picture != NO_PICTURE and not listed(row.picture):
        found.append("picture lists no scripts")
    return found


THIS = "tests/house/test_coverage.py"


@pytest.mark.parametrize("text", TABLES)
def test_nothing_is_blank_and_all_that_is_named_exists(text: str) -> None:
    assert [(row.place, row.item, found) for row in TABLES[text] if (found := complaints(row))] == []


WHOLE = Row(
    "§8.1",
    "remark",
    "Said.",
    "`separatrix.LinearRule.score`",
    "`tests/house/test_coverage.py::test_whatever_is_wrong_is_noticed`",
    NO_PICTURE,
)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"what": ""}, "what is said is blank"),
        ({"picture": "–"}, "picture is blank"),
        ({"item": "hunch"}, "'hunch' is no kind of item"),
        ({"ours": "later"}, "ours lists no names"),
        ({"ours": "`separatrix.LinearRule.scores`"}, "separatrix.LinearRule.scores cannot be imported"),
        ({"ours": "`separatrix.no_module.name`"}, "separatrix.no_module.name cannot be imported"),
        ({"ours": "`numpy.linalg.norm`"}, "numpy.linalg.norm cannot be imported"),
        ({"ours": "`separatrix.LinearRule`, and more"}, "ours lists no names"),
        ({"test": "all of them"}, "test lists no tests"),
        ({"test": f"`{THIS}::test_nothing`"}, f"{THIS}::test_nothing does not exist"),
        ({"test": f"`{THIS}::complaints`"}, f"{THIS}::complaints does not exist"),
        ({"test": "`tests/test_nowhere.py::test_a`"}, "tests/test_nowhere.py::test_a does not exist"),
        ({"item": "Figure 8.1"}, "Figure 8.1 has no picture"),
        ({"item": "table"}, "table has no picture"),
        ({"picture": "a sketch"}, "picture lists no scripts"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_whatever_is_wrong_is_noticed(change: dict[str, str], said: str) -> None:
    assert complaints(WHOLE) == []
    assert said in complaints(WHOLE._replace(**change))


def test_a_row_of_another_shape_is_noticed() -> None:
    short = "\n## Short\n\n| " + " | ".join(COLUMNS) + " |\n|---|---|---|---|---|---|\n| a | b |\n"
    with pytest.raises(AssertionError, match="too many cells or too few"):
        table(short, "Short")


@pytest.mark.parametrize("text", PLACES)
def test_every_part_of_a_text_is_there_in_its_order(text: str) -> None:
    assert list(dict.fromkeys(row.place for row in TABLES[text])) == PLACES[text]


@pytest.mark.parametrize("text", ITEMS_OF_TEXT)
def test_every_algorithm_example_and_figure_has_one_row(text: str) -> None:
    named = [row.item for row in TABLES[text] if re.match(r"Algorithm|Example|Figure", row.item)]
    assert sorted(named) == ITEMS_OF_TEXT[text]


@pytest.mark.parametrize("text", PICTURES_OF_SLIDES)
def test_every_slide_with_a_picture_has_one_here(text: str) -> None:
    drawn = {int(re.findall(r"\d+", row.place)[0]) for row in TABLES[text] if row.item == "picture"}
    assert sorted(drawn) == PICTURES_OF_SLIDES[text]


# --------------------------------------------------------------------------------------------------------- equations


def same(name: str, other: str) -> bool:
    return inspect.unwrap(resolve(name)) is inspect.unwrap(resolve(other))  # type: ignore[arg-type]


@pytest.mark.parametrize("text", NUMBERS_OF_TEXT)
def test_every_numbered_equation_has_one_row_with_the_object_of_the_page_of_equations(text: str) -> None:
    rows = [row for row in TABLES[text] if row.item.startswith("Eq. ")]
    assert [row.item.removeprefix("Eq. ") for row in rows] == NUMBERS_OF_TEXT[text]
    where = {entry.tag.number: entry.where for entry in NUMBERED if entry.tag.text == text}
    for row in rows:
        assert same(listed(row.ours)[0], where[row.item.removeprefix("Eq. ")]), row.item


def texts_of_equations() -> dict[str, set[str]]:
    """For each equation without a number, the texts in which docs/equations.md finds it."""
    lines = PAGE.partition("\n## Unnumbered equations\n")[2].splitlines()
    heading, _, *body = [cells(line) for line in lines if line.startswith("|")]
    place = heading.index("text and place")
    return {row[0]: set(re.findall(r"\b00[0-4]\b", row[place])) for row in body}


def test_every_equation_without_a_number_is_covered_in_every_text_that_has_it() -> None:
    expected = texts_of_equations()
    assert expected
    for name, texts in expected.items():
        assert {text for text in PLACES if any(row.equation == name for row in TABLES[text])} == texts, name


def test_equations_by_name_are_those_of_the_page_of_equations() -> None:
    where = {entry.name: entry.where for entry in UNNUMBERED}
    named = [row for row in ROWS if row.equation]
    assert len(named) > len(where)
    for row in named:
        assert row.equation in where, row.equation
        assert any(same(name, where[row.equation]) for name in listed(row.ours)), row.equation
    assert [row.place for row in ROWS if row.item == "equation" and not row.equation] == []


# ------------------------------------------------------------------------------------- misprints, remarks, conventions


@pytest.mark.parametrize(("text", "place", "right"), sorted(MISPRINTS))
def test_every_misprint_is_put_right(text: str, place: str, right: str) -> None:
    said = [row.what for row in TABLES[text] if row.place == place and "isprint" in row.what]
    assert any(right in what for what in said), said


def test_remarks_that_are_easily_missed_are_there() -> None:
    assert len(TABLES["remarks"]) == len(REMARKS)
    for row, beginning in zip(TABLES["remarks"], REMARKS, strict=True):
        assert row.what.startswith(beginning)


def test_conventions_are_there() -> None:
    assert [row.place for row in TABLES["conventions"]] == CONVENTIONS


NAMED_SCRIPTS = sorted({name for row in ROWS for name in listed(row.picture)})


def test_a_script_that_is_named_exists() -> None:
    assert NAMED_SCRIPTS
    for name in NAMED_SCRIPTS:
        assert (GALLERY / name).is_file(), name
        assert name.startswith(tuple(PLACES)), name


def test_every_script_of_the_gallery_is_named() -> None:
    scripts = {path.relative_to(GALLERY).as_posix() for path in GALLERY.rglob("plot_*.py")}
    assert scripts
    assert scripts - set(NAMED_SCRIPTS) == set()


# ------------------------------------------------------------------------------------------------- the texts themselves


def printed(text: str) -> str:
    (path,) = NOTES.glob(f"{text}_*.txt")
    return path.read_text(encoding="utf-8")


needs_the_texts = pytest.mark.skipif(not NOTES.is_dir(), reason="the lecture texts are not beside the repository")
HEADING_LINES = {
    "000": r"^(8\.\d(?:\.\d)?) [A-Z]",
    "002": r"^#+ (1(?:\.\d)?) [A-Z]",
    "004": r"^#+ (4\.\d) [A-Z]",
}


@needs_the_texts
@pytest.mark.parametrize("text", HEADING_LINES)
def test_the_sections_are_those_of_the_text(text: str) -> None:
    sections = re.findall(HEADING_LINES[text], printed(text), re.MULTILINE)
    assert [f"§{number}" for number in sections] == [place for place in PLACES[text] if re.fullmatch(r"§[\d.]+", place)]


@needs_the_texts
def test_the_slides_are_those_of_the_texts() -> None:
    counted = sorted(set(map(int, re.findall(r"(\d+)/31\b", printed("003")))))
    assert counted == [2, *(int(place.removeprefix("slide ")) for place in PLACES["003"])]
    assert set(re.findall(r"/ (29)\b", printed("001"))) == {PLACES["001"][-1].removeprefix("slide ")}


@needs_the_texts
@pytest.mark.parametrize("text", ITEMS_OF_TEXT)
def test_algorithms_examples_and_figures_are_those_of_the_text(text: str) -> None:
    whole = printed(text)
    found = {
        f"{kind} {number}" for kind, number in re.findall(r"^\W*(Algorithm|Figure) (\d[\d.]*\d|\d)[: ]", whole, re.M)
    }
    found |= set(re.findall(r"^\W*(Example 4-\d)", whole, re.MULTILINE))
    assert sorted(found) == [item for item in ITEMS_OF_TEXT[text] if re.search(r"\d", item)]
