"""The path of the weights, the size of pages, CSV and Markdown: what a report says beside the model's own numbers."""

import csv
import io
import json
import re
from copy import deepcopy
from urllib.parse import unquote

import numpy as np
import pytest
from rarely import some_of

import separatrix
from separatrix.app.report.figures import spread
from separatrix.app.report.inputs import PathStep
from separatrix.app.report.markup import Interval, class_name, csv_link, csv_text
from separatrix.app.report.page import LARGEST, escaped, html_of, markdown_of
from separatrix.app.report.shortening import OTHERS, ROOMS, shortened
from separatrix.app.report.weights import MOST, Track, fit_with_path

from .made import LONG, WICKED, facts

# ------------------------------------------------------------------------------------------------------------ the path


@pytest.mark.parametrize("kind", ["two", "three"])
def test_the_path_ends_at_the_weights_of_the_model(known, made, kind):
    path, model = known[kind]["path"], separatrix.load(made[kind][1])
    scaled = np.atleast_2d(model.scaled_weights)
    labels = model.classes if len(scaled) > 1 else [None]
    ends = {name if label is None else f"{name} ({label})": scaled[k, j]
            for k, label in enumerate(labels) for j, name in enumerate(model.features)}  # fmt: skip
    assert path["there"]
    assert path["weights"] == scaled.size
    assert len(path["lines"]) == min(8, scaled.size)
    for line in path["lines"]:
        assert line["values"][-1] == pytest.approx(ends[line["name"]], rel=1e-6)
        assert len(line["values"]) == len(path["at"])
    shown = [abs(line["values"][-1]) for line in path["lines"]]
    assert shown == sorted(shown, reverse=True)
    assert shown[0] == pytest.approx(np.abs(scaled).max(), rel=1e-6)
    assert path["at"] == sorted(path["at"])


def test_the_loss_of_separated_classes_is_shown_above_its_limit(known):
    assert known["separated"]["convergence"]["least"] == 0
    assert known["two"]["convergence"]["least"] is None


def test_the_path_of_separated_classes_is_said_to_have_no_end(known, made):
    assert known["separated"]["path"]["endless"]
    assert "grow for ever" in made["separated"][0].read_text(encoding="utf-8")
    assert not known["two"]["path"]["endless"]


@pytest.mark.parametrize(
    ("learner", "kind", "unit"),
    [("perceptron", "separated", "mistakes that were corrected"), ("averaged", "separated", None),
     ("naive-bayes", "three", None), ("kernel", "three", None)],
)  # fmt: skip
def test_learners_have_a_path_or_the_reason_why_not(tmp_path, learner, kind, unit):
    path = facts(tmp_path, kind, "--cv", "2", fit=("--learner", learner, "--standardise"))["path"]
    assert path["there"] == (unit is not None)
    if unit is None:
        assert re.fullmatch(r"[A-Z].*\.", path["why"])
    else:
        assert path["unit"] == unit


def test_learners_that_are_made_of_others_do_not_claim_to_be_formulas(tmp_path):
    known = facts(tmp_path, "three", "--cv", "2", fit=("--reduction", "one-vs-rest", "--l2", "0.1"))
    assert "several learners" in known["convergence"]["why"]
    assert known["path"]["why"] == known["convergence"]["why"]


def test_a_learner_that_is_followed_is_the_one_that_fit_gives():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    for learner in (separatrix.LogisticRegression(), separatrix.LogisticRegression(objective="squared", starts=3),
                    separatrix.ZeroOneClassifier(time_limit=5), separatrix.GaussianDiscriminant()):  # fmt: skip
        estimator, followed = fit_with_path(lambda learner=learner: learner, (X[:20], y[:20]))
        fitted = type(learner)(**learner.get_params()).fit(X[:20], y[:20])
        assert np.array_equal(estimator.coef_, fitted.coef_)
        assert bool(followed.steps) != bool(followed.why)
        if followed.steps:
            assert np.allclose(followed.steps[-1].weights, np.atleast_2d(fitted.coef_), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("steps", [1, MOST, 2 * MOST + 1, 5000])
def test_a_long_path_is_thinned_evenly_and_keeps_its_last_place(steps):
    track = Track()
    for k in range(steps):
        track.add(PathStep(float(k), 0, np.full((1, 1), float(k))))
    at = [step.at for step in track.path()]
    assert at[0] == 0
    assert at[-1] == steps - 1
    assert len(at) <= 2 * MOST + 1
    assert len(set(np.diff(at[:-1]).tolist())) <= 1


def test_names_at_the_ends_of_lines_do_not_touch():
    rng = np.random.default_rng(2)
    for _ in range(100):
        wanted = sorted(rng.uniform(0, 300, 8).tolist())
        found = spread(wanted, 16, 0, 300)
        assert min(np.diff(found)) >= 16 - 1e-9
        assert found[-1] <= 300


# ------------------------------------------------------------------------------------------------------------ the size


def inflated(facts, columns=400, classes=300, long=1500):
    """The facts of a table that nobody would want a page of."""
    big = deepcopy(facts)
    name = "x" * long
    for each in (big["data"]["columns"], big["weights"]["blocks"][0]["lines"], big["data"]["left_out"]):
        first = each[0] if each else {"name": "id", "why": "no two rows are alike"}
        each.extend([{**first, "name": f"{name}{k}"} for k in range(columns)])
    big["weights"]["blocks"] *= classes
    for column in big["scorer"]["columns"]:
        if column["kind"] == "category":
            column["levels"] = [f"{name}{k}" for k in range(columns)]
    for line in big["nomogram"].get("lines", ()):
        line["marks"] *= columns
    held = big["held_out"]
    held["curves"] *= 12
    held["classes"] = [f"{name}{k}" for k in range(classes)]
    held["confusion"] = np.eye(classes).tolist()
    held["right"] = float(classes)
    held["by_class"] *= classes
    one = held["margins"]["classes"][0]
    held["margins"]["classes"] = [{**one, "class": each} for each in held["classes"]]
    held["remarks"] = [name] * columns
    big["model"]["classes"] = held["classes"]
    big["data"]["classes"] = [{"name": each, "rows": 1} for each in held["classes"]]
    big["data"]["rows"] = classes
    big["repeat"]["fit"] = "separatrix fit " + " ".join(f"--drop {name}{k}" for k in range(50))
    return big


@pytest.mark.parametrize("kind", some_of(["three", "two"], 2))
def test_no_page_is_larger_than_it_may_be(known, kind):
    big = inflated(known[kind])
    text = html_of(big, "{}" * 400_000, "model.json")
    assert len(text.encode()) <= LARGEST
    assert "too large to be kept inside" in text
    assert "all are in the report as JSON" in text
    assert "weights that move the score most are shown" in text
    assert OTHERS in text


def test_a_page_that_fits_is_not_shortened(known):
    facts = known["two"]
    short = shortened(facts, ROOMS[0])
    assert short["scorer"] == facts["scorer"]
    assert short["data"]["columns"] == facts["data"]["columns"]
    assert short["held_out"]["confusion"] == facts["held_out"]["confusion"]
    assert LONG in html_of(facts, None, "m.json")


def test_many_classes_share_no_colours_and_zeros_step_back(known):
    facts = deepcopy(known["three"])
    held = facts["held_out"]
    names = [f"kind {k}" for k in range(9)]
    held |= {"classes": names, "confusion": np.eye(9).tolist(), "right": 9.0}
    one = held["margins"]["classes"][0]
    held["margins"]["classes"] = [{**one, "class": name} for name in names]
    text = html_of(facts, None, "m.json")
    assert 'class="legend"' not in text
    assert re.search(r'id="margins".*?</svg>', text, re.DOTALL)[0].count('class="bar') == 1
    assert f"as are {round(100 * one['wrong'][0])} % of all rows" in text
    table = re.search(r'id="confusion".*?</table>', text, re.DOTALL)[0]
    assert table.count("·") == 72
    assert "predicted kind 0" not in table
    assert 'class="legend"' in html_of(known["three"], None, "m.json")
    assert "predicted middle" in html_of(known["three"], None, "m.json")


def test_classes_that_are_shown_as_one_keep_their_rows(known):
    facts = deepcopy(known["three"])
    held, room = facts["held_out"], ROOMS[-1]
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 9, (30, 30)).astype(float)
    held |= {"classes": [f"c{k}" for k in range(30)], "confusion": counts.tolist(), "margins": None,
             "right": float(np.trace(counts))}  # fmt: skip
    short = shortened(facts, room)["held_out"]
    found = np.array(short["confusion"])
    assert found.shape == (room.classes + 1,) * 2
    assert found.sum() == counts.sum()
    assert short["classes"][-1] == OTHERS
    kept = [int(each[1:]) for each in short["classes"][:-1]]
    assert np.array_equal(found[:-1, :-1], counts[np.ix_(kept, kept)])
    assert counts.sum(axis=1)[kept].min() >= np.delete(counts.sum(axis=1), kept).max()
    assert short["right"] == np.trace(counts)


# ----------------------------------------------------------------------------------------------------- CSV and Markdown


def test_csv_is_read_back_as_it_was_and_runs_nothing():
    rows = [["=HYPERLINK(1)", Interval("0.1", "0.2"), "−3", "1\u202f309"], ['a, "b"\nc', "", "x #%", "2"]]
    head = ["name", "interval", "value", "rows"]
    address = csv_link(head, rows)
    assert address.startswith("data:text/csv;charset=utf-8,")
    assert not set(address) & set('#"<> \n')
    text = unquote(address.partition(",")[2])
    assert text == csv_text(head, rows)
    assert list(csv.reader(io.StringIO(text))) == [
        ["name", "interval low", "interval high", "value", "rows"],
        ["'=HYPERLINK(1)", "0.1", "0.2", "-3", "1309"], ['a, "b"\nc', "", "", "x #%", "2"],
    ]  # fmt: skip


def test_every_table_of_numbers_can_be_saved_and_weights_are_whole(made, known):
    text = made["two"][0].read_text(encoding="utf-8")
    links = dict(re.findall(r'download="([^"]*)\.csv" href="([^"]*)"', text))
    assert set(links) >= {"weights-1", "history", "path-table", "points-1", "bins-1", "margin-bins", "nomogram-table",
                          "by-class", "parameters"}  # fmt: skip
    from html import unescape

    lines = list(csv.DictReader(io.StringIO(unquote(unescape(links["weights-1"]).partition(",")[2]))))
    kept = known["two"]["weights"]["blocks"][0]["lines"]
    assert [float(each["weight"]) for each in lines] == [each["weight"] for each in kept]
    assert [float(each["odds ratio high"]) for each in lines] == [each["odds_high"] for each in kept]


@pytest.mark.parametrize("kind", ["two", "three", "separated"])
def test_markdown_says_the_same_and_no_text_becomes_markup(known, kind):
    text = markdown_of(known[kind])
    for each in known[kind]["checks"]:
        assert escaped(each["sentence"]) in text
    for heading in ("Checks", "Data", "Model", "Weights", "How well it predicts", "How it was found",
                    "How to repeat it"):  # fmt: skip
        assert f"\n## {heading}\n" in text
    assert escaped(WICKED) in text
    assert "<script" not in text
    assert known[kind]["repeat"]["fingerprint"] in text
    assert f"    {known[kind]['repeat']['report']}\n" in text
    for line in text.splitlines():
        if line.startswith("| "):
            assert line.endswith(" |")
    assert "The picture" not in text


def test_rows_of_markdown_tables_have_as_many_cells_as_their_heads(known):
    for block in markdown_of(known["two"]).split("\n\n"):
        if block.startswith("| "):
            counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(counts) == 1, block


def test_what_markdown_would_read_is_escaped():
    assert escaped("a|b\n<i> *c* _d_ `e` [f](g) &amp;") == r"a\|b &lt;i> \*c\* \_d\_ \`e\` \[f\](g) &amp;amp;"


@pytest.mark.parametrize(("name", "said"), [("yes", "yes"), ("1", "“1”"), ("a b", "“a b”"), ("class_0", "class_0"),
                                            (">50K", "“>50K”"), ("", "“”")])  # fmt: skip
def test_classes_that_are_numbers_stand_in_quotation_marks(name, said):
    assert class_name(name) == said


def test_json_holds_all_that_the_page_leaves_out(known):
    assert json.loads(json.dumps(known["two"], allow_nan=False)) == known["two"]
    assert {"path", "convergence", "held_out", "weights", "nomogram"} <= set(known["two"])
