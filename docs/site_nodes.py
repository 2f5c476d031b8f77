"""What the site adds to its pages: names lead to their docstrings and these to pages, and pictures have words.

The pages themselves stay plain Markdown, in which a name is only written as code.
"""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path
from typing import Any

import separatrix

# ------------------------------------------------------------------------------------------------------------ pictures

ALT = re.compile(r"(?<=:alt: ).*")
THUMBNAIL = re.compile(r"(auto_gallery/.+)/images/thumb/sphx_glr_(\w+)_thumb\.png")


def pictures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """The figures of a block as sphinx-gallery saves them, with the words that run_gallery.py demands of each.

    A figure that has no words yet is not finished: it waits for the block that says them.
    """
    import matplotlib.pyplot as plt
    from sphinx_gallery.scrapers import matplotlib_scraper

    left = block_vars["example_globals"]
    words = [str(plt.figure(number).get_label() or left.get("ALT", "")) for number in plt.get_fignums()]
    if not all(words):
        return ""
    each = iter(words)
    saved: str = matplotlib_scraper(block, block_vars, gallery_conf)
    return ALT.sub(lambda _: escape(" ".join(next(each).split())), saved)  # sphinx-gallery writes it as it is


def first_words(page: Path) -> str:
    """What the first picture on a page of the gallery shows, in one sentence."""
    found = ALT.search(page.read_text(encoding="utf-8"))
    return unescape(re.split(r"(?<=[.!?]) ", found[0])[0]) if found else ""


def _thumbnails(app: Any, doctree: Any) -> None:
    from docutils import nodes

    for image in doctree.findall(nodes.image):
        found = THUMBNAIL.fullmatch(image["uri"].lstrip("/"))
        if found and not image.get("alt"):
            image["alt"] = first_words(Path(app.srcdir) / found[1] / f"{found[2]}.rst")


class OrderOfTheNotes:
    """Sorts the scripts of a folder as coverage.md has them in its table of that text."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder).name
        page = (Path(__file__).parent / "coverage.md").read_text(encoding="utf-8")
        self.table = page.partition(f"\n## {self.folder[:3]}: ")[2].partition("\n## ")[0]

    def __call__(self, script: str) -> tuple[int, str]:
        """The place of its first mention; at the end, by name, what has none."""
        place = self.table.find(f"`{self.folder}/{Path(script).name}`")
        return (place if place >= 0 else len(self.table), script)


# --------------------------------------------------------------------------------------------------------------- names

NAME = re.compile(r"([A-Za-z_][\w.]*)(?:\(.*\))?")
SCRIPT = re.compile(r"(00\d_\w+/plot_\w+)\.py")
OTHERS = ("benchmarks", "coming_from")
"""Pages on which a name in the first column of a table is somebody else's."""


def public(name: str) -> str:
    """The public spelling of a name: `Pocket`, `features.Lift`, `separatrix.learners.perceptron.perceptrons.Pocket`."""
    full = name if name.startswith("separatrix.") else f"separatrix.{name}"
    for short, home in separatrix._PUBLIC.items():
        inside = f"separatrix{home}.{short}"
        if full == inside or full.startswith(f"{inside}."):
            return f"separatrix.{short}{full.removeprefix(inside)}"
    return full


PAGES_OF_MODULES = {"families": "generative", "populations": "bayes", "losses": "surrogates", "scenes": "surrogates"}
"""The page of a module, where it has not the name of the module."""


def sought(name: str, known: dict[str, Any], document: str = "") -> Any:
    """The object that a name means on a page, or None.

    One of the package itself; or of the module whose page it is; or the only one of that name in all of them.
    """
    if found := known.get(public(name)):
        return found
    here = [module for module in separatrix._MODULES if PAGES_OF_MODULES.get(module, module) == document]
    of_page = [known[f"separatrix.{module}.{name}"] for module in here if f"separatrix.{module}.{name}" in known]
    same = [known[each] for each in known if each.endswith(f".{name}")] if name[0].isupper() else []
    return of_page[0] if of_page else same[0] if len(same) == 1 else None


def _links(app: Any, doctree: Any, document: str) -> None:
    from docutils import nodes
    from sphinx.util.nodes import make_refnode

    if app.builder.format != "html":
        return
    known = app.env.domaindata["py"]["objects"]
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        if _is_elsewhere(literal, document):
            continue
        if script := SCRIPT.fullmatch(text):
            target, anchor = f"auto_gallery/{script[1]}", ""
        elif (name := NAME.fullmatch(text)) and (entry := sought(name[1], known, document)):
            target, anchor = entry.docname, entry.node_id
        else:
            continue
        if target in app.env.found_docs and target != document:
            literal.replace_self(make_refnode(app.builder, document, target, anchor, literal.deepcopy()))


MOST_PAGES = 5


def told_on(name: str, pages: dict[str, str]) -> list[str]:
    """The documents that say most about a public name without its `separatrix.`, most mentions first."""
    module, _, short = name.rpartition(".")
    if module:
        return [PAGES_OF_MODULES.get(module, module)]
    counts = {page: len(re.findall(rf"\b{short}\b", text)) for page, text in pages.items()}
    return sorted((page for page in pages if counts[page]), key=lambda page: -counts[page])[:MOST_PAGES]


def _pages_of_names(app: Any, document: str, source: list[str]) -> None:
    """Every docstring leads on to the pages that speak of its name."""
    if not document.startswith("api/"):
        return
    tree = app.config.contents_of_index
    told = [page for heading in ("Start", "Ideas", "Guide", "Pictures") for page in tree[heading].values()]
    files = {page: Path(app.srcdir) / f"{page}.md" for page in told}
    pages = {page: file.read_text(encoding="utf-8") for page, file in files.items() if file.exists()}
    if found := told_on(document.removeprefix("api/separatrix."), pages):
        source[0] += "\n.. rubric:: Pages about it\n\n" + " · ".join(f":doc:`/{page}`" for page in found) + "\n"


LONG = 24
"""Characters of a name in a table from which on it may be broken."""


def _breaks(app: Any, doctree: Any, _document: str) -> None:
    """Long names in tables may go on in the next line, after a dot, a slash or an underscore."""
    from docutils import nodes

    if app.builder.format != "html":
        return
    for entry in doctree.findall(nodes.entry):
        for literal in list(entry.findall(nodes.literal)):
            parts = breakable(literal.astext())
            if len(parts) > 1:
                literal.clear()
                for part in parts:
                    literal += [nodes.Text(part), nodes.raw("", "<wbr>", format="html")]
                literal.pop()


def breakable(name: str) -> list[str]:
    """The parts of a name between which a line may end: none of one that is short, or has blanks of its own."""
    return [name] if len(name) < LONG or " " in name else re.findall(r".+?(?:[./_]|::|\((?=.)|$)", name)


def _is_elsewhere(literal: Any, document: str) -> bool:
    """Whether a name is no name of ours, or where a link cannot be or is one."""
    from docutils import nodes

    above, node = literal.parent, literal
    while above is not None:
        if isinstance(above, nodes.reference | nodes.title):
            return True
        if document in OTHERS and isinstance(above, nodes.row) and above.index(node) == 0:
            return True
        above, node = above.parent, above
    return False


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls it."""
    app.add_config_value("contents_of_index", {}, "env")
    app.connect("source-read", _pages_of_names)
    app.connect("doctree-read", _thumbnails)
    app.connect("doctree-resolved", _links)
    app.connect("doctree-resolved", _breaks, priority=900)  # a name is whole while links are made
    return {"parallel_read_safe": True}
