"""The report in a real browser: nothing is said or fetched, everyone can use it, and what moves is right."""

import csv
import json
import re

import numpy as np
import pytest

import separatrix
from app.report.made import LONG, WICKED, Lazily, made_once
from separatrix.app.tables.table import Columns

FEW_ROWS = """document.querySelectorAll("tbody").forEach((body) =>
  [...body.rows].slice(8).forEach((row) => row.remove()))"""
"""All rows of a table are made alike, and axe takes its time for each."""
OPEN = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return Lazily(lambda kind: made_once(kind, tmp_path_factory))


@pytest.mark.parametrize(("kind", "width", "scheme"), [
    ("two", 400, "dark"), pytest.param("three", 1280, "light", marks=pytest.mark.slow),
    pytest.param("separated", 400, "light", marks=pytest.mark.slow),
])  # fmt: skip
def test_silent_offline_accessible_and_never_wider_than_the_window(visit, made, kind, width, scheme):
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    page = visit(made[kind][0], width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(OPEN)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(FEW_ROWS)
    found = axe.run(page)
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    passed = {each["id"]: len(each["nodes"]) for each in found["passes"]}
    assert passed["color-contrast"] > 100  # a rule that stumbles is among neither
    assert len(passed) > 20
    assert [each["id"] for each in found["incomplete"] if each["id"] != "color-contrast"] == []
    assert page.said == []
    assert page.asked == [made[kind][0].as_uri()]
    assert page.evaluate("document.querySelectorAll('script').length") == 3


def test_dark_paper_is_dark_and_print_is_light(visit, made):
    page = visit(made["two"][0], scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(18, 21, 26)"
    page.emulate_media(media="print")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    page.emulate_media(media="screen", color_scheme="light")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"


ROWS = {
    "age": [44, 20, 79.5, -3], LONG: [20.25, 5, 61.125, None],
    WICKED: ["Bonn", "Oslo</td>", 'Rome, "the old"', "Oslo</td>"],
}  # fmt: skip


@pytest.mark.parametrize("kind", ["two", "three", "quasi", pytest.param("separated", marks=pytest.mark.slow)])
def test_the_form_gives_the_probabilities_of_the_model(visit, made, kind):
    model, page = separatrix.load(made[kind][1]), visit(made[kind][0])
    rows = {name: values[: None if kind == "two" else 3] for name, values in ROWS.items()}
    names = [column.name for column in model.encoding.columns]
    X = model.encoding.matrix(Columns(rows))
    for i, expected in enumerate(model.probabilities(X)):
        for j, name in enumerate(names):
            value = rows[name][i]
            if name == WICKED:
                page.select_option(f"#f{j}", label=value)
            else:
                page.fill(f"#f{j}", "" if value is None else str(value))
        shown = [float(page.get_attribute(f"#p{k}", "data-value")) for k in range(len(model.classes))]
        assert np.abs(np.array(shown) - expected).max() < 1e-9
        assert f"Predicted: {model.labels(X)[i]}" in page.inner_text("#answer")
    if kind == "two":  # digits that nobody believes are not shown
        page.fill("#f0", "400")
        assert "with a probability of > 99.99 %." in page.inner_text("#answer")
    page.fill("#f0", "many")
    assert "needs a number" in page.inner_text("#answer")
    assert page.get_attribute("#f0", "aria-invalid") == "true"
    page.click("#scoring button[type=reset]")
    page.wait_for_function("document.getElementById('answer').textContent.startsWith('Predicted')")
    assert page.said == []


def test_the_slider_moves_the_dots_and_the_matrix(visit, made):
    page = visit(made["two"][0])
    data = json.loads(page.inner_text("#numbers") or page.evaluate("document.getElementById('numbers').textContent"))
    left, right, bottom, top = data["frame"]
    cells = lambda: [int(page.inner_text(f"#cell-{name} strong")) for name in ("tp", "fp", "fn", "tn")]  # noqa: E731
    page.focus("#cut")
    for key in ("Home", "End", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
        t, tp, fp, fn, tn = data["thresholds"][int(page.input_value("#cut"))]
        assert cells() == [tp, fp, fn, tn]
        assert page.inner_text("#right") == f"{tp + tn:.0f} of {tp + fp + fn + tn:.0f}"  # the sentence above it, too
        assert page.inner_text("#cut-value") == page.inner_text("#confusion-at")
        assert float(page.inner_text("#cut-value")) == t
        x, y = (float(page.get_attribute("#roc-dot-0", name)) for name in ("cx", "cy"))
        assert x == pytest.approx(left + fp / (fp + tn) * (right - left), abs=0.01)
        assert y == pytest.approx(bottom + tp / (tp + fn) * (top - bottom), abs=0.01)
        hidden = page.get_attribute("#pr-dot-0", "visibility")
        assert (hidden == "hidden") == (tp + fp == 0)
        if not hidden:
            assert float(page.get_attribute("#pr-dot-0", "cy")) == pytest.approx(
                bottom + tp / (tp + fp) * (top - bottom), abs=0.01
            )
    page.fill("#cost-fn", "5")
    page.click("#cheapest")
    costs = [fp + 5 * fn for _, _, fp, fn, _ in data["thresholds"]]
    assert costs[int(page.input_value("#cut"))] == min(costs)
    each = min(costs) / sum(data["thresholds"][0][1:])
    assert float(re.search(r"Mistakes cost ([\d.]+) a row", page.inner_text("#at-cut"))[1]) == pytest.approx(
        each, rel=0.01
    )


def test_tables_are_sorted_and_saved(visit, made):
    page = visit(made["two"][0])
    head = page.locator("#weights-1 thead th:not(.plot)", has_text="per SD")
    for way in ("ascending", "descending"):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == way
        cells = page.locator("#weights-1 tbody tr td:nth-child(4)").evaluate_all(
            "all => all.map((e) => e.dataset.sort)"
        )
        numbers = [float(each) for each in cells if each]
        assert numbers == sorted(numbers, reverse=way == "descending")
    with page.expect_download() as got:
        page.click("a.csv[download='weights-1.csv']")
    assert got.value.suggested_filename == "weights-1.csv"
    lines = got.value.path().read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + page.locator("#weights-1 tbody tr").count()
    weights = {row[0]: row[1:] for row in csv.reader(lines)}
    assert weights["name"][:3] == ["weight", "per SD", "odds ratio"]
    shown = page.locator("#weights-1 tbody tr", has_text="age").locator("td:nth-child(3)").get_attribute("data-sort")
    assert float(weights["age"][0]) == float(shown)
    with page.expect_download() as got:
        page.click("#save-model")
    assert got.value.suggested_filename == made["two"][1].name
    assert got.value.path().read_bytes() == made["two"][1].read_bytes()


@pytest.mark.parametrize("kind", ["two", "three"])
def test_without_scripts_all_is_there_to_read(visit, made, kind):
    page = visit(made[kind][0], scripts=False)
    text = page.inner_text("main")
    assert "scripts; they are off" in text or "needs scripts" in text
    assert not page.is_visible("#scoring")
    assert page.locator("button:visible").count() == 0
    page.locator("details.numbers", has=page.locator("a.csv[download='history.csv']")).locator("summary").click()
    with page.expect_download() as got:
        page.click("a.csv[download='history.csv']")
    assert got.value.path().read_text(encoding="utf-8").startswith("passes,loss,length of the gradient\n")
    for words in ("Checks", "How well it predicts", "Confusion", "How to repeat it"):
        assert words in text
    if kind == "three":
        second = page.locator("details.choice", has_text="middle against the rest").last
        assert not second.locator("svg").first.is_visible()
        second.locator("summary").first.click()
        assert second.locator("svg").first.is_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_print_fits_a4_and_shows_every_class_but_no_folded_numbers(visit, made, scripts):
    page = visit(made["three"][0], scripts=scripts)
    pdf = page.pdf(prefer_css_page_size=True)
    boxes = set(re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf))
    assert {(round(float(w)), round(float(h))) for w, h in boxes} <= {(595, 842), (596, 842), (595, 843)}
    page.emulate_media(media="print")
    second = page.locator("details.choice", has_text="middle against the rest").last
    assert second.locator("svg").first.is_visible()
    assert page.locator("details.numbers:visible").count() == 0
    assert "not printed" in page.inner_text("footer")
    page.emulate_media(media="screen")
    assert page.locator("details.numbers:visible").count() > 5
    assert "not printed" not in page.inner_text("footer")


def test_before_printing_scripts_open_the_classes_and_close_them_again(visit, made):
    page = visit(made["three"][0])
    count = "document.querySelectorAll('details.choice:not([open])').length"
    closed = page.evaluate(count)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(count) == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(count) == closed > 0
