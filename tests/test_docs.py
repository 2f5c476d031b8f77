"""Every example of the README and of the docs runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_run(page, tmp_path, monkeypatch):
    text = page.read_text()
    assert text.count("```python") == len(BLOCK.findall(text)), "a block is not closed"
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": page.stem}
    for block in BLOCK.findall(text):
        exec(compile(block, page.name, "exec"), scope)


def test_the_readme_has_an_example():
    assert BLOCK.search((ROOT / "README.md").read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target
