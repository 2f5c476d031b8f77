"""The documentation as a site: all pages can be reached, all links lead somewhere, nothing is loaded from elsewhere."""

import ast
import inspect
import os
import re
import runpy
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest
from places import ROOT

import separatrix

from .site_pages import (
    DOCS,
    anchors,
    configuration,
    dead_links,
    links,
    loaded_from_elsewhere,
    pages,
    pictures_of_gallery,
)

PAGES = [*pages(), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
MODULES = (*separatrix._MODULES, "plots")
LISTED = re.compile(r"^\.\. currentmodule:: (\S+)$|^   (\w+)$", re.MULTILINE)


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def reference():
    """The names that reference.md lists, by module."""
    found, module = {}, ""
    for where, name in LISTED.findall((DOCS / "reference.md").read_text()):
        if where:
            module = where
        else:
            found.setdefault(module, []).append(name)
    return found


def test_the_configuration_can_be_read_without_sphinx():
    settings = configuration()
    assert settings["release"] == separatrix.__version__
    assert settings["html_theme"] == "furo"


def test_every_page_is_in_the_tree_of_contents_once():
    tree = configuration()["contents"]((DOCS / "index.md").read_text())
    listed = [document for entries in tree.values() for document in entries.values()]
    written = [page.relative_to(DOCS).with_suffix("").as_posix() for page in pages()]
    assert sorted(listed) == sorted([*(set(written) - {"index"}), "auto_gallery/index"])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_and_anchors_lead_somewhere(page):
    anchor = configuration()["anchor"]
    for target in links(page.read_text()):
        if re.match(r"\w+:", target):
            continue
        path, _, place = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        assert not place or place in anchors(file, anchor), target


def test_an_anchor_is_made_as_code_hosts_make_it():
    anchor = configuration()["anchor"]
    assert anchor("How good can any rule be?") == "how-good-can-any-rule-be"
    assert anchor("What a line can and cannot say") == "what-a-line-can-and-cannot-say"
    assert anchor("`l2` by cross-validation, η(x)") == "l2-by-cross-validation-ηx"


def test_links_to_results_lead_to_the_page_of_benchmarks():
    settings = configuration()
    source = ["[measured](../../benchmarks/results/closed.md), [the page](../closed.md)"]
    settings["_read"](None, "ideas/verdicts", source)
    assert source == ["[measured](../benchmarks.md#closed-forms), [the page](../closed.md)"]
    content = ["[beside](closed.md), [no result](nothing.md)"]
    settings["_include"](None, settings["RESULTS"] / "dense.md", "benchmarks", content)
    assert content == ["[beside](benchmarks.md#closed-forms), [no result](nothing.md)"]


def test_every_result_is_on_the_page_of_benchmarks():
    text = (DOCS / "benchmarks.md").read_text()
    results = [result.name for result in (ROOT / "benchmarks" / "results").glob("*.md")]
    assert results
    assert [name for name in results if f"{{include}} ../benchmarks/results/{name}" not in text] == []


def test_formulas_and_names_are_no_markup():
    escape = configuration()["_formulas"]
    lines = ["|z| and coef_, `rule_` or x_{i}", "", ">>> model.coef_", "|a|", "", "P(k | x), intercept_"]
    escape(None, "", "", None, None, lines)
    assert lines[0] == r"\|z\| and coef\_, `rule_` or x_{i}"
    assert lines[2:4] == [">>> model.coef_", "|a|"]
    assert lines[5] == r"P(k \| x), intercept\_"


def test_remarks_below_a_list_become_notes():
    text = [
        "w ← w + yx.",
        "",
        "Parameters",
        "----------",
        "a : int",
        "    Of it.",
        "",
        "b : int",
        "",
        "It may be",
        "odd.",
    ]
    configuration()["_remarks"](None, "", "", None, None, text)
    assert text[4:8] == ["a : int", "    Of it.", "", "b : int"]
    assert text[8:] == ["", "Notes", "-----", "", "It may be", "odd."]
    within = [
        "S.",
        "",
        "Attributes",
        "----------",
        "a_, b_ : int",
        "The others are those",
        "of it.",
        "",
        "Examples",
        "--------",
    ]
    configuration()["_remarks"](None, "", "", None, None, within)
    assert within[4:7] == ["a_, b_ : int", "", "Examples"]
    assert within[8:] == ["", "Notes", "-----", "", "The others are those", "of it."]
    plain = ["A sentence.", "", "Another one.", "", "Parameters", "----------", "a : int"]
    same = list(plain)
    configuration()["_remarks"](None, "", "", None, None, same)
    assert same == plain
    field = ["Alias for field number 3"]
    configuration()["_remarks"](None, "", "", None, None, field)
    assert field == []


# ------------------------------------------------------------------------------------- names, pictures and their order

NODES = runpy.run_path(str(DOCS / "site_nodes.py"))


def test_a_name_is_spelt_as_it_is_public():
    public = NODES["public"]
    assert public("Pocket") == public("separatrix.learners.perceptron.perceptrons.Pocket") == "separatrix.Pocket"
    assert public("separatrix.learners.logistic.logistic.LogisticRegression.fit") == "separatrix.LogisticRegression.fit"
    assert public("features.Lift") == "separatrix.features.Lift"


def test_a_name_leads_to_one_object_or_to_none():
    names = [
        "Perceptron",
        "losses.Perceptron",
        "kernels.Polynomial",
        "features.Polynomial",
        "features.Lift",
        "plots.theme",
    ]
    known = {f"separatrix.{name}": name for name in names}
    sought = NODES["sought"]
    assert sought("Perceptron", known) == "Perceptron", "the learner, not the loss"
    assert sought("Lift", known) == "features.Lift"
    assert sought("Polynomial", known) is None, "a kernel or a map of features"
    assert sought("Polynomial", known, "kernels") == "kernels.Polynomial", "on its own page it is clear which"
    assert sought("Perceptron", known, "surrogates") == "Perceptron"
    assert sought("theme", known) is None, "an argument, as likely"


def test_a_docstring_leads_to_the_pages_that_say_most():
    told = {"one": "`Pocket`", "two": "`Pocket`, Pocket", "none": "Pockets"}
    assert NODES["told_on"]("Pocket", told) == ["two", "one"]
    assert NODES["told_on"]("families.Poisson", told) == ["generative"]
    for module in MODULES:
        (page,) = NODES["told_on"](f"{module}.any", {})
        assert (DOCS / f"{page}.md").exists(), module


def test_a_long_name_may_be_broken_and_stays_the_same():
    name = "tests/laws/test_rows.py::test_a_cost"
    assert NODES["breakable"](name) == ["tests/", "laws/", "test_", "rows.", "py::", "test_", "a_", "cost"]
    for name in ("separatrix.LogisticRegression.fit", "LogisticRegression(l2=1/n)_", "Pocket", 'a "b c" d' * 9):
        assert "".join(NODES["breakable"](name)) == name
    assert NODES["breakable"]("Pocket") == ["Pocket"]


def test_the_gallery_is_in_the_order_of_the_notes():
    order = NODES["OrderOfTheNotes"]("gallery/004_surrogate_losses")
    scripts = sorted((path.name for path in (DOCS / "gallery" / "004_surrogate_losses").glob("plot_*.py")), key=order)
    assert (
        scripts.index("plot_figure_4_1.py")
        < scripts.index("plot_example_4_1.py")
        < scripts.index("plot_example_4_2.py")
    )
    assert order("plot_nowhere.py") > order(scripts[-1]), "what the table does not name comes last"


def test_a_thumbnail_says_the_first_sentence_of_its_picture(tmp_path):
    page = tmp_path / "plot_a.rst"
    page.write_text(".. image-sg:: a.png\n   :alt: 0.5 &lt; &quot;b&quot;. The rest.\n")
    assert NODES["first_words"](page) == '0.5 < "b".'


PLACES = runpy.run_path(str(DOCS / "site_places.py"))


def test_a_place_of_the_notes_has_one_name_however_it_is_written():
    anchor = PLACES["anchor"]
    assert anchor("000", "§8.3.2") != anchor("000", "8.3.2")
    assert anchor("000", "8.4; 002 4") == anchor("000", "Eq. 8.4")
    assert anchor("001", "slides 22, 25; 000 §8.2") == anchor("001", "slide 22")
    assert anchor("004", "Example 4-5") == "notes-004-example-4-5"


def test_the_places_in_docstrings_are_rows_of_the_page_of_coverage():
    known = PLACES["known"](DOCS / "coverage.md")
    told = [
        inspect.getdoc(getattr(import_module(module), name)) for module, names in reference().items() for name in names
    ]
    places = {place for text in told for place in PLACES["BRACKET"].findall(text)}
    assert len(places) > 20
    assert [place for place in places if PLACES["anchor"](*place) not in known] == []


def test_a_signature_has_no_fields_of_a_results_own():
    tidy = configuration()["_signature"]
    assert tidy(None, "", "", None, None, "(a, b=<factory>, _kept=<factory>)", None) == ("(a, b)", None)
    assert tidy(None, "", "", None, None, None, None) == (None, None)


FIELDS_OF_RESULTS = [
    *("Verdict", "LinearRule", "CodedRule", "Separability", "Summary", "Explanation", "MistakeLog", "MistakeBound"),
    *("Surrogates", "Surface", "CrossValidation", "LearningRate"),
]


@pytest.mark.parametrize("name", FIELDS_OF_RESULTS)
def test_a_field_of_a_result_says_what_it_is(name):
    body = ast.parse(inspect.getsource(getattr(separatrix, name))).body[0].body
    words = [isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in [*body[1:], None]]
    fields = [each.target.id if isinstance(each, ast.AnnAssign) else "_" for each in body]
    assert [field for field, told in zip(fields, words, strict=True) if field[0] != "_" and not told] == []


SCRIPTS = sorted((DOCS / "gallery").rglob("*.py"))


def test_a_script_of_the_gallery_is_one_that_the_gallery_finds():
    assert SCRIPTS
    for script in SCRIPTS:
        assert script.name.startswith("plot_"), f"{script} would be shown and not run"
        assert (script.parent / "GALLERY_HEADER.rst").exists(), f"the folder of {script} is left out"
        title = (ast.get_docstring(ast.parse(script.read_text())) or "").splitlines()
        assert len(title) > 3, f"{script}: a title, a line below it, and what is to be seen"
        assert set(title[1]) == {"="}, script
        assert len(title[1]) >= len(title[0]), script


# ------------------------------------------------------------------------------------------------------- public names


def test_the_reference_lists_every_public_name():
    found = reference()
    assert sorted(found["separatrix"]) == sorted(set(separatrix.__all__) - set(separatrix._MODULES))
    assert set(found) == {"separatrix", *(f"separatrix.{module}" for module in MODULES)}
    for module in ("features", "plots"):
        assert sorted(found[f"separatrix.{module}"]) == sorted(import_module(f"separatrix.{module}").__all__)


def test_what_the_reference_lists_exists_and_says_what_it_is():
    for module, names in reference().items():
        for name in names:
            assert inspect.getdoc(getattr(import_module(module), name)), f"{module}.{name}"


def test_a_public_name_has_an_example_or_a_page():
    told = [page for page in pages() if page.name not in ("reference.md", "decisions.md", "changes.md")]
    words = {word for page in told for word in re.findall(r"\w+", page.read_text())}
    for name in set(separatrix.__all__) - set(separatrix._MODULES):
        assert name in words or ">>>" in (inspect.getdoc(getattr(separatrix, name)) or ""), name


# ------------------------------------------------------------------------------------------------------------ the build


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example/mathjax.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        '<link rel="preconnect" href="https://fonts.example">',
        '<img alt="a badge" src="http://badges.example/x.svg">',
        "<style>@import 'https://fonts.example/a.css';</style>",
    ],
)
def test_what_comes_from_elsewhere_is_noticed(page):
    assert loaded_from_elsewhere(page)


def test_a_link_is_no_load():
    assert not loaded_from_elsewhere('<a href="https://example.org">there</a><img src="_images/a.png">')
    assert loaded_from_elsewhere("a { src: url(https://fonts.example/a.woff2) }", style=True)
    assert not loaded_from_elsewhere("a { background: url(data:image/png;base64,AA) }", style=True)


def test_a_dead_link_is_noticed(tmp_path):
    (tmp_path / "b.html").write_text('<p id="here"><a href="https://example.org/x#y">elsewhere</a></p>')
    (tmp_path / "a.html").write_text('<a href="b.html#here">1</a><a href="#top" id="top">2</a><a href="c.html">3</a>')
    assert dead_links(tmp_path) == ["a.html: c.html"]
    (tmp_path / "c.html").write_text('<a href="b.html#there">4</a>')
    assert dead_links(tmp_path) == ["c.html: b.html#there"]


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path):
    if find_spec("sphinx") is None:
        pytest.skip("Sphinx is not installed: make printers")
    for made in ("api", "auto_gallery"):  # pages of names that are no longer public, and pictures of another day
        shutil.rmtree(DOCS / made, ignore_errors=True)
    html = tmp_path / "html"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-b", "html", "-d", tmp_path / "trees"]
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    built = subprocess.run(
        [*command, DOCS, html], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False
    )
    assert built.returncode == 0, built.stderr
    made = list(html.rglob("*.html"))
    assert [page for page in pages() if not (html / page.relative_to(DOCS)).with_suffix(".html").exists()] == []
    assert (html / "api" / "separatrix.LogisticRegression.html").exists()
    assert list((html / "_images").glob("sphx_glr_plot_*.png"))
    for name in PLACES["known"](DOCS / "coverage.md"):
        assert re.search(rf'<t[rd][^>]* id="{re.escape(name)}"', (html / "coverage.html").read_text()), name
    for page in made:
        assert not loaded_from_elsewhere(page.read_text()), page
    assert dead_links(html) == []
    for script in SCRIPTS:
        shown = pictures_of_gallery((html / "auto_gallery" / script.relative_to(DOCS / "gallery")).with_suffix(".html"))
        assert shown, f"{script} left no picture on its page"
        assert [source for source, words in shown if len(words.split()) < 8] == [], "words that say nothing"
    thumbnails = pictures_of_gallery(html / "auto_gallery" / "index.html")
    assert len(thumbnails) == len(SCRIPTS)
    assert [source for source, words in thumbnails if len(words.split()) < 4] == []
    for style in html.rglob("*.css"):
        assert not loaded_from_elsewhere(style.read_text(), style=True), style
