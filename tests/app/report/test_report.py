"""`separatrix report`: the numbers are those of the model and of the measures, and the page holds them safely."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import jsonschema
import numpy as np
import pytest

import separatrix
from separatrix.app.cli.running import run
from separatrix.app.cli.schema import published
from separatrix.app.evaluation.confusion import matrix
from separatrix.app.evaluation.measures import measures
from separatrix.app.evaluation.predictions import Predictions
from separatrix.app.report.held_out import margin_facts, operating_points
from separatrix.app.report.page import html_of
from separatrix.app.report.svg import Scale, nice_ticks
from separatrix.app.tables.encoding import Encoding
from separatrix.app.tables.table import Columns
from separatrix.app.tasks.report import CannotRefitError, learner_again

from .made import LONG, WICKED, facts, table

VOID = {"meta", "link", "input", "br", "path", "rect", "circle"}


class Page(HTMLParser):
    """Elements in order, those that were not closed, texts by element."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.attributes, self.texts = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.append((self.open[-1], data))


def states(known):
    return {each["name"]: each["state"] for each in known["checks"]}


# ------------------------------------------------------------------------------------------------------------ the page


@pytest.mark.parametrize("kind", ["two", "three", "separated"])
def test_the_page_is_one_small_file_that_fetches_nothing(made, kind):
    text = made[kind][0].read_text(encoding="utf-8")
    page = Page(text)
    assert len(text.encode()) < 500_000
    assert page.open == []
    for tag, attributes in page.attributes:
        assert "style" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "action", "srcset"):
            assert attributes.get(name, "#").startswith(("#", "data:,", "data:text/csv;")), (tag, attributes)
    ids = [attributes["id"] for _, attributes in page.attributes if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert "@import" not in text
    assert "url(" not in text


@pytest.mark.parametrize("kind", ["two", "three", "separated"])
def test_the_policy_allows_the_one_script_and_the_one_style_by_their_hashes(made, kind):
    text = made[kind][0].read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["form-action"] == rules["base-uri"] == "'none'"
    assert rules["img-src"] == "data:"
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"


@pytest.mark.parametrize("kind", ["two", "three", "separated"])
def test_texts_of_the_table_stay_texts(made, kind):
    text = made[kind][0].read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "Oslo</td>" not in text
    page = Page(text)
    assert [attributes.get("type") for tag, attributes in page.attributes if tag == "script"] == [
        "application/json", "application/json", None,
    ]  # fmt: skip
    assert any(WICKED in data for tag, data in page.texts if tag == "label")
    assert any(LONG in data for tag, data in page.texts if tag == "label")


def test_headings_go_down_by_single_steps_and_tables_have_captions(made):
    for kind in ("two", "three", "separated"):
        page = Page(made[kind][0].read_text(encoding="utf-8"))
        levels = [int(tag[1]) for tag in page.seen if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        assert page.seen.count("table") == page.seen.count("caption")
        assert page.seen.count("main") == page.seen.count("nav") == 1
        pictures = [attributes for tag, attributes in page.attributes if tag == "svg"]
        assert all(each.get("role") == "img" or each.get("aria-hidden") == "true" for each in pictures)


def test_the_page_holds_the_model_file(made, tmp_path):
    page, model, _ = made["two"]
    held = re.search(r'id="model-file">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)[1]
    assert json.loads(held) == json.loads(model.read_text(encoding="utf-8"))


def test_many_classes_and_columns_still_make_a_small_page(tmp_path):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(300, 60)).round(2), rng.integers(0, 9, 300)
    X[:, 0] += y
    lines = [",".join([*(f"column{j}" for j in range(60)), "y"]), *(
        ",".join([*map(str, row), f"class{k}"]) for row, k in zip(X.tolist(), y.tolist(), strict=True))]  # fmt: skip
    data, model, page = (tmp_path / name for name in ("d.csv", "m.json", "p.html"))
    data.write_text("\n".join(lines) + "\n")
    assert run(["fit", str(data), "--target", "y", "--l2", "0.1", "-o", str(model), "--quiet"]) == 0
    assert run(["report", str(model), str(data), "-o", str(page), "--cv", "2", "--quiet"]) == 0
    text = page.read_text(encoding="utf-8")
    assert len(text.encode()) < 500_000
    assert "weights that move the score most are shown" in text
    assert text.count('<details class="choice"') == 8 + 9


def test_the_same_command_gives_the_same_bytes(made, tmp_path):
    page, model, data = made["two"]
    again = tmp_path / page.name
    assert run(["report", str(model), str(data), "-o", str(again), "--quiet"]) == 0
    assert again.read_bytes() == page.read_bytes()
    assert str(data.parent) not in page.read_text(encoding="utf-8")


# --------------------------------------------------------------------------------------------------------- the numbers


def test_checks_say_what_is_the_case(known):
    two, three, separated = (states(known[kind]) for kind in ("two", "three", "separated"))
    assert two["Missing values"] == "failed"
    assert three["Missing values"] == "passed"
    assert two["Separation"] == three["Separation"] == "passed"
    assert separated["Separation"] == "failed"
    assert separated["Leakage suspects"] == "failed"
    assert two["Leakage suspects"] == two["Copies of the target"] == "passed"
    for each in (two, three, separated):
        assert each["Certificate"] == each["Repeatable"] == each["Rank"] == each["Condition"] == "passed"
        assert each["Unseen levels"] == "passed"


def test_levels_that_the_model_does_not_know_fail_a_check_and_other_rows_are_not_its_own(made, tmp_path):
    _, model, data = made["two"]
    other, out = tmp_path / "other.csv", tmp_path / "facts.json"
    text = data.read_text(encoding="utf-8").replace("Oslo</td>", "Paris")
    other.write_text(text, encoding="utf-8")
    assert run(["report", str(model), str(other), "-o", str(out), "--format", "json", "--quiet"]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert states(found)["Unseen levels"] == "failed"
    assert states(found)["Repeatable"] == states(found)["Certificate"] == "not known"
    assert not found["repeat"]["seen"]
    assert "the path does not end at its weights" in html_of(found, None, "m.json")
    (unseen,) = [each for each in found["checks"] if each["name"] == "Unseen levels"]
    assert f"“{WICKED}” has Paris" in unseen["sentence"]
    assert run(["report", str(model), str(other), "-o", str(out), "--unseen", "error", "--quiet"]) == 3


def test_a_copy_of_the_target_and_a_combination_are_found(tmp_path):
    lines = table("three").splitlines()
    rows = [lines[0] + ",copy,twice"]
    for line in lines[1:]:
        age = line.split(",")[1]
        rows.append(f"{line},{line.rsplit(',', 1)[1].upper()},{2 * int(age)}")
    data, model, out = (tmp_path / name for name in ("data.csv", "model.json", "facts.json"))
    data.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert run(["fit", str(data), "--target", "bought", "-o", str(model), "--quiet", "--l2", "0.01"]) == 0
    assert run(["report", str(model), str(data), "-o", str(out), "--format", "json", "--quiet"]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert states(found)["Copies of the target"] == "failed"
    assert states(found)["Condition"] == "failed"
    assert states(found)["Separation"] == "failed"


def test_held_out_measures_are_those_of_fit_with_the_same_folds(known, tmp_path):
    data, model = tmp_path / "two.csv", tmp_path / "two.json"
    data.write_text(table("two"), encoding="utf-8")
    typed = ["--target", "bought", "-o", str(model), "--quiet", "--missing", "impute", "--cv", "5"]
    assert run(["fit", str(data), *typed]) == 0
    crossed = separatrix.load(model).training["cross_validation"]["measures"]
    assert known["two"]["held_out"]["measures"] == [dict(each) for each in crossed]


def test_points_of_the_nomogram_add_up_to_the_probability(known, made):
    nomogram, model = known["two"]["nomogram"], separatrix.load(made["two"][1])
    marks = {line["name"]: {mark["text"]: mark["points"] for mark in line["marks"]} for line in nomogram["lines"]}
    rows = {"age": [20, 70, 40], LONG: [20.0, None, 40.0], WICKED: ["Bonn", "Oslo</td>", 'Rome, "the old"']}
    X = model.encoding.matrix(Columns(rows))
    for i, p in enumerate(model.probabilities(X)[:, 1]):
        income = rows[LONG][i]
        total = marks["age"][str(rows["age"][i])] + marks[WICKED][rows[WICKED][i]]
        total += marks[LONG]["missing" if income is None else f"{income:.6g}"]
        assert 1 / (1 + np.exp(-(nomogram["base"] + nomogram["unit"] * total))) == pytest.approx(p, abs=1e-12)
    for each in nomogram["scale"]:
        z = nomogram["base"] + nomogram["unit"] * each["points"]
        assert 1 / (1 + np.exp(-z)) == pytest.approx(each["probability"], abs=1e-9)
    assert max(max(line.values()) for line in marks.values()) == pytest.approx(100)


@pytest.mark.parametrize("kind", ["two", "three"])
def test_counts_at_thresholds_are_counted(known, kind):
    held = known[kind]["held_out"]
    for curve in held["curves"]:
        previous = None
        for point in curve["points"]:
            assert point["tp"] + point["fp"] + point["fn"] + point["tn"] == held["rows"]
            value, low, high = point["sensitivity"]
            assert low <= value <= high
            assert value == point["tp"] / (point["tp"] + point["fn"])
            assert previous is None or (point["tp"] <= previous["tp"] and point["fp"] <= previous["fp"])
            previous = point
        assert curve["points"][0]["fn"] == curve["points"][0]["tn"] == 0
    assert sum(map(sum, held["confusion"])) == held["rows"]
    if kind == "two":
        (half,) = [each for each in held["curves"][0]["points"] if each["threshold"] == 0.5]
        assert [[half["tn"], half["fp"]], [half["fn"], half["tp"]]] == held["confusion"]


def test_margins_below_zero_are_the_mistakes():
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 3, 200), rng.normal(size=(200, 3))
    given = Predictions(("a", "b", "c"), truth, scores.argmax(axis=1), scores)
    found = margin_facts(given, 0.95)
    wrong = [1 - given.hit[truth == k].mean() for k in range(3)]
    assert [each["wrong"][0] for each in found["classes"]] == pytest.approx(wrong)
    assert sum(sum(each["counts"]) for each in found["classes"]) == 200
    assert any(abs(edge) < 1e-12 for edge in found["edges"])


def test_thresholds_of_scores_reach_from_all_to_none():
    rng = np.random.default_rng(1)
    truth, scores = rng.integers(0, 2, 90), rng.normal(size=90) - 7.77777
    points = operating_points(Predictions((0, 1), truth, (scores > 0).astype(int), scores), 0.95, 10)
    assert points[0]["fn"] == points[0]["tn"] == 0
    assert points[-1]["tp"] == points[-1]["fp"] == 0
    assert any(each["threshold"] == 0.0 for each in points)


def test_a_row_at_the_threshold_is_flagged_as_predictions_at_it_are():
    rng = np.random.default_rng(4)
    truth, p = rng.integers(0, 2, 100), rng.integers(0, 11, 100) / 10
    given = Predictions((0, 1), truth, (p > 0.5).astype(int), None, np.column_stack([1 - p, p]))
    for point in operating_points(given, 0.95, 10):
        there = matrix(given.at(point["threshold"]))
        assert [[point["tn"], point["fp"]], [point["fn"], point["tp"]]] == there.tolist()


def test_of_separated_classes_the_rule_that_separates_is_shown(known, made):
    weights, model = known["separated"]["weights"], separatrix.load(made["separated"][1])
    assert weights["direction"]
    lines = weights["blocks"][0]["lines"]
    assert [line["weight"] for line in lines[1:]] == np.atleast_2d(model.rule.linear().weights)[0].tolist()
    assert all(line["odds_ratio"] is None for line in lines)
    assert [line["limit"] for line in lines] == ["-inf", "+inf", *["undetermined"] * (len(lines) - 2)]
    text = made["separated"][0].read_text(encoding="utf-8")
    assert "its direction counts, its size says nothing" in text
    assert "There are no intervals. The classes are separated" in text
    assert not known["two"]["weights"]["direction"]


def test_a_column_without_numbers_is_left_out(tmp_path):
    known = facts(tmp_path, "three", fit=("--learner", "naive-bayes"))
    assert all(line["per_deviation"] is None for block in known["weights"]["blocks"] for line in block["lines"])
    assert "per SD" not in html_of(known, None, "m.json").partition('id="convergence"')[0]


def test_rulers_of_whole_numbers_have_whole_marks(known):
    (age,) = [line for line in known["two"]["nomogram"]["lines"] if line["name"] == "age"]
    assert all(float(mark["text"]).is_integer() for mark in age["marks"])
    from separatrix.app.report.scoring import _ticks

    assert _ticks(1.0, 2.0, whole=False) != _ticks(1.0, 2.0, whole=True) == [1.0, 2.0]


# --------------------------------------------------------------------------------------------------------- the command


def test_the_answer_is_what_its_schema_says(made, tmp_path, capsys):
    _, model, data = made["three"]
    out = tmp_path / "page.html"
    assert run(["report", str(model), str(data), "-o", str(out), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    jsonschema.validate(answer, published("report"))
    assert answer["bytes"] == out.stat().st_size
    assert answer["counts"]["all"] == len(answer["checks"])
    assert not answer["replaced"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [(["--cv", "1"], "--cv"), (["--level", "2"], "--level"), (["--positive", "perhaps"], "--positive"),
     (["--target", "colour"], "--target"), (["-o", "."], "--output")],
)  # fmt: skip
def test_wrong_usage_is_told_and_writes_nothing(made, tmp_path, monkeypatch, capsys, typed, said):
    monkeypatch.chdir(tmp_path)
    _, model, data = made["two"]
    assert run(["report", str(model), str(data), *typed]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_model_is_never_written_over(made, capsys):
    _, model, data = made["two"]
    before = model.read_bytes()
    assert run(["report", str(model), str(data), "-o", str(model)]) == 2
    assert model.read_bytes() == before


@pytest.mark.parametrize("learner", ["perceptron", "naive-bayes", "discriminant", "kernel", "margin", "least-squares"])
def test_every_kind_of_learner_has_a_report(tmp_path, learner):
    kind = "separated" if learner in ("perceptron", "margin") else "three"
    known = facts(tmp_path, kind, fit=("--learner", learner))
    assert known["held_out"]["there"]
    assert states(known)["Repeatable"] == "passed"
    assert Page(html_of(known, None, "model.json")).open == []


def test_a_learner_is_made_again_with_its_parameters_and_from_our_list_only(made):
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    first = separatrix.OneVsRest(separatrix.LogisticRegression(l2=0.5, features=[separatrix.features.Polynomial(2)]))
    model = separatrix.app.models.from_learner.model_of(first.fit(X, y))
    again = learner_again(model)()
    assert again.estimator.l2 == 0.5
    assert again.estimator.features[0].degree == 2
    from dataclasses import replace

    with pytest.raises(CannotRefitError, match="does not know"):
        learner_again(replace(model, learner="Popen"))


def test_a_model_of_python_is_reported_on_too(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    separatrix.save(separatrix.LogisticRegression().fit(X, y), tmp_path / "m.json")
    lines = ["x0,x1,y", *(f"{a!r},{b!r},{k}" for (a, b), k in zip(X.tolist(), y.tolist(), strict=True))]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    typed = ["--target", "y", "-o", str(tmp_path / "r.json"), "--format", "json", "--quiet"]
    assert run(["report", str(tmp_path / "m.json"), str(tmp_path / "d.csv"), *typed]) == 0
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["held_out"]["there"]
    assert found["weights"]["blocks"][0]["lines"][1]["weight"] == pytest.approx(found["scorer"]["weights"][1][0])


# ----------------------------------------------------------------------------------------------------------- the parts


def test_ticks_are_few_round_and_inside():
    rng = np.random.default_rng(3)
    for low, width in zip(rng.normal(size=200) * 10.0 ** rng.integers(-6, 9, 200), rng.random(200) + 1e-3, strict=True):
        high = low + width * max(abs(low), 1e-9)
        found = nice_ticks(float(low), float(high))
        assert 2 <= len(found) <= 12
        assert all(low - 1e-9 * abs(low) <= each <= high + 1e-9 * abs(high) for each in found)
        assert found == sorted(set(found))


def test_a_scale_keeps_what_is_outside_at_its_ends():
    scale = Scale(1, 100, 0, 10, True)
    assert [scale(each) for each in (0.0, 1, 10, 100, 1e9)] == pytest.approx([0, 0, 5, 10, 10])


def test_measures_of_the_page_are_those_of_the_predictions(known):
    held = known["two"]["held_out"]
    shown = {each["name"]: each["value"] for each in held["measures"]}
    (tn, fp), (fn, tp) = held["confusion"]
    assert shown["accuracy"] == pytest.approx((tp + tn) / (tp + tn + fp + fn))
    assert held["curves"][0]["auc"]["value"] == shown["auc"]
    assert set(shown) >= {each.name for each in measures(
        Predictions((0, 1), np.array([0, 1]), np.array([0, 1])), ("accuracy", "mcc"))}  # fmt: skip


def test_the_scorer_holds_the_encoding_of_the_model(known, made):
    scorer, model = known["two"]["scorer"], separatrix.load(made["two"][1])
    assert isinstance(model.encoding, Encoding)
    assert [each["name"] for each in scorer["columns"]] == [each.name for each in model.encoding.columns]
    assert len(scorer["weights"][1]) == len(model.encoding.names)
