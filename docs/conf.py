"""The documentation as a site: `make docs` writes it to out/docs/html. Nothing is fetched, here or by who reads it.

The pages are plain Markdown that also reads well where it lies. Three things are therefore made here and not written
into them: the tree of contents, from the links of index.md; links to benchmark results, which the site has on one
page; and links from names to their docstrings, and from places of the notes to their rows of coverage, by site_nodes.py
and site_places.py.
"""

from __future__ import annotations

import inspect
import re
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Any

import separatrix

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "benchmarks" / "results"

project, author = "Separatrix", "the authors of Separatrix"
version = release = separatrix.__version__
copyright = author  # noqa: A001  the name that Sphinx reads

sys.path.insert(0, str(DOCS))  # for ours
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery"]
extensions += ["site_nodes", "site_places"]
exclude_patterns = ["gallery", "auto_gallery/**/*.ipynb", "_templates"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # functions below make it so; nothing is wrong with that

# ------------------------------------------------------------------------------------------------------------ markdown

myst_heading_anchors = 3  # the anchors that links on code hosts use
smartquotes = False  # "cv" is a value
default_role = "literal"  # docstrings write `name` as Markdown does

# ----------------------------------------------------------------------------------------------------------- reference

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say what may be given, in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # _templates/autosummary/class.rst lists them, with what they say

# ------------------------------------------------------------------------------------------------------------- gallery

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "site_nodes.OrderOfTheNotes",
    "abort_on_example_error": True,
    "capture_repr": (),  # an example prints what it has to say
    "show_memory": False,
    "min_reported_time": 1e9,  # times are the business of benchmarks/; and the page of times loads scripts from
    "write_computation_times": False,  # elsewhere
    "remove_config_comments": True,
    "plot_gallery": "True",
    "image_scrapers": ("site_nodes.pictures",),
    "doc_module": ("separatrix",),
    "backreferences_dir": "auto_gallery/backreferences",  # which examples use a name: its page shows them
}

# --------------------------------------------------------------------------------------------------------------- looks

html_theme = "furo"
html_title = f"Separatrix {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
pygments_style, pygments_dark_style = "friendly", "github-dark"
html_theme_options = {"navigation_with_keys": True}

# --------------------------------------------------------------------------------------------------------------- pages

LINK = re.compile(r"^- \[([^\]]*)\]\(([^)#:]+)\)", re.MULTILINE)
RESULT = re.compile(r"\]\((?:\.\./)+benchmarks/results/(\w+)\.md\)")
BESIDE = re.compile(r"\]\((\w+)\.md\)")
"""The links of results to each other."""


def contents(index: str) -> dict[str, dict[str, str]]:
    """What index.md lists under each of its headings, titles and documents: its links are the tree of contents."""
    tree = {}
    for part in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        tree[heading.strip()] = {title: _document(target) for title, target in LINK.findall(body)}
    return tree


ELSEWHERE = {
    "gallery/GALLERY_HEADER.rst": "auto_gallery/index",
    "../CONTRIBUTING.md": "contributing",
    "../CHANGELOG.md": "changes",
}
"""Where the site has what lies elsewhere in the repository."""


def _document(target: str) -> str:
    return ELSEWHERE.get(target, target.removesuffix(".md"))


contents_of_index = contents((DOCS / "index.md").read_text(encoding="utf-8"))  # for site_nodes


def _with_contents(text: str) -> str:
    trees = []
    for heading, pages in contents(text).items():
        entries = [f"{title} <{document}>" for title, document in pages.items()]
        trees.append("\n".join(["```{toctree}", ":hidden:", f":caption: {heading}", "", *entries, "```"]))
    for target, document in ELSEWHERE.items():
        text = text.replace(f"]({target})", f"]({document})")
    return "\n\n".join([text, *trees])


def anchor(heading: str) -> str:
    """The anchor of a heading, as code hosts and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def _to_the_site(text: str, pattern: re.Pattern[str], up: str = "") -> str:
    """Links to files of results lead to their sections of benchmarks.md."""

    def moved(link: re.Match[str]) -> str:
        result = RESULTS / f"{link[1]}.md"
        if not result.exists():
            return link[0]
        title = result.read_text().splitlines()[0].removeprefix("# ")
        return f"]({up}benchmarks.md#{anchor(title)})"

    return pattern.sub(moved, text)


def _read(_app: Any, document: str, source: list[str]) -> None:
    if document == "index":
        source[0] = _with_contents(source[0])
    if not document.startswith(("api/", "auto_gallery/")):
        source[0] = _to_the_site(source[0], RESULT, "../" * document.count("/"))


def _include(_app: Any, path: Path, _document: str, content: list[str]) -> None:
    if (DOCS / path).resolve().parent == RESULTS.resolve():
        content[0] = _to_the_site(content[0], BESIDE)


SETTINGS_OF_KINDS = ("resumes", "summed", "warns", "watched")
"""Fields by which a kind of learner tells its base class what it is; no user has a use for them."""


def _ours(_app: Any, _what: str, name: str, obj: Any, skip: bool, _options: Any) -> bool | None:
    """Members that come from elsewhere (scikit-learn's, those of tuples and exceptions) are told elsewhere."""
    if name in SETTINGS_OF_KINDS:
        return True
    found = inspect.unwrap(obj.fget) if isinstance(obj, property) and obj.fget else obj
    home = getattr(found, "__module__", None)
    foreign = isinstance(home, str) and not home.startswith(("separatrix", "sphinx"))  # Sphinx's own stands for a field
    return True if foreign else None


def _signature(
    _app: Any, _what: str, _name: str, _obj: Any, _options: Any, arguments: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Fields of a result's own are no arguments, and that a default is made anew each time need not be said."""
    return arguments and re.sub(r"=<factory>", "", re.sub(r", _\w+=<factory>", "", arguments)), returns


LISTS = ("Parameters", "Attributes")
ENTRY = re.compile(r"\*{0,2}\w+(, \*{0,2}\w+)*( : .*)?")


def _remarks(_app: Any, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Sentences in or below a list of parameters become notes: numpydoc would take each of their lines for one."""
    if lines and lines[0].startswith("Alias for field number"):  # what Python says of a tuple's field says nothing
        lines.clear()
        return
    kept: list[str] = []
    notes: list[str] = []
    heading, aside = "", False
    for line, below in zip_longest(lines, lines[1:], fillvalue=""):
        if set(below) == {"-"}:
            heading, aside = line, False
        elif not line or " : " in line:
            aside = False
        elif heading in LISTS and not aside and not line[0].isspace() and set(line) != {"-"}:
            aside = not ENTRY.fullmatch(line)
            notes += [""] if aside else []
        (notes if aside else kept).append(line)
    if notes:
        lines[:] = [*"\n".join(kept).rstrip().splitlines(), "", "Notes", "-----", *notes]


MARKUP = re.compile(r"(`[^`]*`)|(?<=\w)(_)(?=[^\w{^]|$)|(\|)")


def _formulas(_app: Any, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """In |z| and coef_ neither bar nor underscore is markup: docstrings are sentences and formulas as they are."""
    code = False
    for place, line in enumerate(lines):
        code = line.lstrip().startswith(">>>") or (code and bool(line.strip()))
        if not code:
            lines[place] = MARKUP.sub(lambda found: found[1] or "\\" + (found[2] or found[3]), line)


def setup(app: Any) -> None:
    """Sphinx calls it."""
    app.connect("source-read", _read)
    app.connect("include-read", _include)
    app.connect("autodoc-skip-member", _ours)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _remarks, priority=100)  # before numpydoc
    app.connect("autodoc-process-docstring", _formulas, priority=900)  # and after it
