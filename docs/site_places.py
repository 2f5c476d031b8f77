"""Places of the notes on the site: a bracket such as [000 8.4] leads to its row on the page of coverage."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

BRACKET = re.compile(r"\[(00[0-4]) ([^\]]+)\]")
HEADING = re.compile(r"^## (00[0-4]): ", re.MULTILINE)
ROW = re.compile(r"^\| ([^|]+?) \| ([^|]+?) \|", re.MULTILINE)
OWN = ("coverage", "equations")
"""Pages that are about places themselves."""


def anchor(text: str, place: str) -> str:
    """The name of a place in a text; of several, as in "slides 22, 25; 000 §8.2", the first one's."""
    one = re.sub(r"^(slide|Example|Figure)s\b", r"\1", place.removeprefix("Eq. "))
    first = re.split(r"[,;]", one.replace("§", "s"))[0]
    return f"notes-{text}-" + re.sub(r"[^\w.]+", "-", first).strip("-").lower()


def names_of_row(text: str, place: str, item: str) -> list[str]:
    """A row is found by its section or slide, and by its number if it has one."""
    return [anchor(text, each) for each in (place, item) if each == place or re.search(r"\d", item)]


@cache
def known(page: Path) -> frozenset[str]:
    """All names that the page of coverage has."""
    parts = HEADING.split(page.read_text(encoding="utf-8"))
    tables = zip(parts[1::2], parts[2::2], strict=True)
    rows = [(text, *row) for text, table in tables for row in ROW.findall(table.partition("\n## ")[0])]
    return frozenset(name for row in rows for name in names_of_row(*row))


def _name_rows(app: Any, doctree: Any) -> None:
    from docutils import nodes

    if app.env.docname != "coverage":
        return
    taken = set()
    for section in doctree.findall(nodes.section):
        text = section.next_node(nodes.title).astext()[:3]
        if not re.fullmatch("00[0-4]", text):
            continue
        for row in section.findall(nodes.row):
            place, item = (entry.astext() for entry in row.children[:2])
            for name, node in zip(names_of_row(text, place, item), (row, row.children[1]), strict=False):
                if name not in taken:  # a row has room for one name, and its cells for others
                    taken.add(name)
                    node["ids"].append(name)


def _links(app: Any, doctree: Any, document: str) -> None:
    from docutils import nodes

    if document in OWN or app.builder.format != "html":
        return
    there = known(Path(app.srcdir) / "coverage.md")
    page = app.builder.get_relative_uri(document, "coverage")
    for words in list(doctree.findall(nodes.Text)):
        if not BRACKET.search(words) or isinstance(words.parent, nodes.literal | nodes.literal_block | nodes.reference):
            continue
        parts: list[Any] = []
        end = 0
        for found in BRACKET.finditer(words):
            if (name := anchor(found[1], found[2])) in there:
                link = nodes.reference("", found[0], internal=True, refuri=f"{page}#{name}")
                parts += [nodes.Text(words[end : found.start()]), link]
                end = found.end()
        words.parent.replace(words, [*parts, nodes.Text(words[end:])])


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls it."""
    app.connect("doctree-read", _name_rows)
    app.connect("doctree-resolved", _links)
    return {"parallel_read_safe": True}
