"""Every example of the README and of the docs runs, and prints what the words beside it say."""

import ast
import re
from contextlib import redirect_stdout
from io import StringIO

import pytest
from places import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


TINY = re.compile(r"\d(\.\d+)?e[-−]\d+")
"""What is left of rounding differs from machine to machine."""


def said_of(statement, lines):
    """The words after a call of print: at the end of its line, and in the lines of comment below it."""
    if not (isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("print(")):
        return ""
    below = lines[statement.end_lineno :]
    more = [line.removeprefix("# ") for line in below[: next((k for k, x in enumerate(below) if x[:2] != "# "), None)]]
    return " ".join([lines[statement.end_lineno - 1].partition("  # ")[2], *more]).strip()


def agrees(said, printed):
    """Whether words that begin as what was printed, or with …, go on as it does, each … standing for anything.

    Words may also explain: they begin otherwise, or come after a colon. Blanks, commas and tiny numbers do not matter.
    """
    plain = [re.sub(r"[\s,]+", "", TINY.sub("~", words)) for words in (said, printed)]
    if plain[0].partition(":")[0] == plain[1] or not said.startswith(("…", printed[:2])):
        return True
    return re.match(".*".join(re.escape(piece) for piece in plain[0].split("…")), plain[1]) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_run_and_print_what_is_said(page, tmp_path, monkeypatch):
    text = page.read_text()
    assert text.count("```python") == len(BLOCK.findall(text)), "a block is not closed"
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": page.stem}
    for block in BLOCK.findall(text):
        for statement in ast.parse(block).body:
            with redirect_stdout(StringIO()) as out:
                exec(compile(ast.Module([statement], []), page.name, "exec"), scope)
            said, printed = said_of(statement, block.splitlines()), out.getvalue().strip()
            assert not said or agrees(said, printed), f"said: {said}\nprinted: {printed}"


@pytest.mark.parametrize(
    ("said", "printed", "right"),
    [
        (
            "Optimal: the minimum … off by more than 3.2e-08.",
            "Optimal: the minimum exists. Not off by more than 5.2e-04.",
            True,
        ),
        ("Optimal: the mean loss 0.563…", "Optimal: the mean loss 0.58283433 is", False),
        ("0.79…", "0.7933613", True),
        ("0.9…", "0.7933613", False),
        ("… fewer than 10 for each …", "13 rows, fewer than 10 for each: few.", True),
        ("… fewer than 9 for each …", "13 rows, fewer than 10 for each: few.", False),
        ("[[1, -1], [-1, 1]]", "[[ 1 -1]\n [-1  1]]", True),
        ("separated: and here is why", "separated", True),
        ("the mean vote", "[0.3 0.4]", True),
    ],
)
def test_words_are_held_to_what_is_printed(said, printed, right):
    assert agrees(said, printed) == right


def test_words_are_those_beside_a_print_and_below_it():
    lines = ["print(a)  # one", "# two", "b = 1  # three"]
    first, second = ast.parse("\n".join(lines)).body
    assert (said_of(first, lines), said_of(second, lines)) == ("one two", "")


def test_the_readme_has_an_example():
    assert BLOCK.search((ROOT / "README.md").read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target
