"""`separatrix separable`: what it says is proved by what it prints."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SEPARATED = "x,z,y\n0,1,no\n1,5,no\n4,2,yes\n6,1,yes\n"
QUASI = "x,z,y\n-1,3,no\n0,1,no\n0,1,yes\n1,4,yes\n"
OVERLAP = "x,y\n0,no\n2,no\n1,yes\n3,yes\n"
CLASSES = "x,y\n0,a\n1,a\n4,b\n5,b\n9,c\n10,c\n"


def rows_of(file, target="y"):
    with open(file, newline="") as stream:
        rows = list(csv.DictReader(stream))
    X = np.array([[float(cell) for name, cell in row.items() if name != target] for row in rows])
    return X, np.array([row[target] for row in rows])


def scores_of(rules, X):
    return np.array([X @ np.array(list(rule["weights"].values())) + rule["intercept"] for rule in rules]).T


def holds(data, file):
    """Whether the certificate proves the verdict, by nothing but the file; binary, small whole numbers."""
    X, y = rows_of(file)
    proof, second = data["certificate"], data["classes"][1]
    sign = np.where(y == second, 1.0, -1.0)
    if proof["rules"] is not None:
        score = sign * scores_of(proof["rules"], X)[:, 0]
        rows = range(len(y)) if data["kind"] == "separated" else [row["row"] - 1 for row in data["separated_rows"]]
        assert all(score[i] > 0 for i in rows)
        assert all(abs(score[i]) <= 1e-9 * np.abs(score).max() for i in set(range(len(y))) - set(rows))
    if proof["crossing"] is not None:
        places = [row["row"] - 1 for row in proof["crossing"]]
        multipliers = np.array([row["multiplier"] for row in proof["crossing"]])
        signs = sign[places]
        assert [row["class"] for row in proof["crossing"]] == list(y[places])
        assert [row["line"] for row in proof["crossing"]] == [place + 2 for place in places]
        np.testing.assert_allclose([multipliers[signs > 0].sum(), multipliers[signs < 0].sum()], 1)
        np.testing.assert_allclose((multipliers * signs) @ X[places], 0, atol=1e-9)
    assert (proof["rules"] is None) == (data["kind"] == "overlap")
    assert (proof["crossing"] is None) == (data["kind"] == "separated")


@pytest.mark.parametrize(
    ("text", "kind", "status"), [(SEPARATED, "separated", 0), (QUASI, "quasi-separated", 1), (OVERLAP, "overlap", 1)]
)
def test_kind_status_and_proof(text, kind, status, write, answer, command):
    file = write(text)
    found, data = answer("separable", file, "--target", "y")
    assert (found, data["kind"], data["separable"]) == (status, kind, status == 0)
    assert data["verdict"]["ok"] == (status == 0)
    holds(data, file)
    found, out, err = command("separable", file, "--target", "y")
    assert (found, out.splitlines()[0]) == (status, kind)
    assert "checked" in err
    assert "separatrix fit data.csv --target y" in err


@given(
    cells=st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.sampled_from("ab")), min_size=2, max_size=12)
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.slow
def test_every_certificate_holds_for_the_file(cells, write, answer):
    if len({label for *_, label in cells}) < 2:
        return
    file = write("x,z,y\n" + "".join(f"{x},{z},{label}\n" for x, z, label in cells))
    _, data = answer("separable", file, "--target", "y", "--number", "x", "--number", "z")
    holds(data, file)


def test_columns_are_called_by_their_names(write, answer):
    data = answer("separable", write(QUASI), "--target", "y", "--drop", "z")[1]
    assert data["coefficients"] == [
        {"class": "yes", "column": "x", "goes": "+inf"},
        {"class": "yes", "column": None, "goes": "finite"},
    ]
    assert "x → +∞" in data["verdict"]["sentence"]
    assert "data.csv lines 2, 5" in data["verdict"]["sentence"]


def test_many_classes(write, answer):
    status, data = answer("separable", write(CLASSES), "--target", "y")
    assert (status, data["kind"], data["classes"]) == (0, "separated", ["a", "b", "c"])
    X, y = rows_of("data.csv")
    rules = data["certificate"]["rules"]
    assert [rule["class"] for rule in rules] == ["a", "b", "c"]
    assert [rules[k]["class"] for k in scores_of(rules, X).argmax(1)] == list(y)


def test_many_classes_that_overlap_say_which_class_each_row_is_compared_with(write, answer, command):
    file = write("x,y\n0,a\n2,a\n1,b\n3,b\n1.5,c\n2.5,c\n")
    status, data = answer("separable", file, "--target", "y")
    assert (status, data["kind"]) == (1, "overlap")
    X, y = rows_of(file)
    total = {label: np.zeros(2) for label in "abc"}
    for row in data["certificate"]["crossing"]:
        assert y[row["row"] - 1] == row["class"]
        lifted = row["multiplier"] * np.append(X[row["row"] - 1], 1.0)
        total[row["class"]] += lifted
        total[row["other"]] -= lifted
    np.testing.assert_allclose(list(total.values()), 0, atol=1e-9)
    assert command("separable", file, "--target", "y")[1].splitlines()[2].split() == [
        "file", "line", "class", "against", "multiplier",
    ]  # fmt: skip


def test_categories_are_levels_against_the_most_frequent(write, answer):
    data = answer("separable", write("city,y\nBonn,no\nBonn,no\nKöln,yes\n"), "--target", "y")[1]
    assert list(data["certificate"]["rules"][0]["weights"]) == ["city=Köln"]


def test_without_an_intercept_the_answer_may_be_another(write, answer):
    file = write("x,y\n1,no\n2,no\n3,yes\n4,yes\n")
    assert answer("separable", file, "--target", "y")[0] == 0
    status, data = answer("separable", file, "--target", "y", "--no-intercept")
    assert (status, data["kind"]) == (1, "overlap")


def test_rows_of_weight_zero_do_not_count(write, answer):
    file = write("x,w,y\n0,1,no\n2,0,no\n1,1,yes\n3,2,yes\n")
    assert answer("separable", file, "--target", "y", "--drop", "w")[0] == 1
    assert answer("separable", file, "--target", "y", "--weights", "w")[0] == 0


def test_of_many_weights_the_largest_are_printed(write, command, answer):
    names = [f"c{j}" for j in range(40)]
    rows = [[str(int(i == j) * (1 + i)) for j in range(40)] for i in range(40)]
    file = write(
        ",".join([*names, "y"]) + "\n" + "".join(f"{','.join(row)},{'ab'[i % 2]}\n" for i, row in enumerate(rows))
    )
    options = ("--target", "y", *(word for name in names for word in ("--number", name)))
    weights = answer("separable", file, *options)[1]["certificate"]["rules"][0]
    largest = sorted([*map(abs, weights["weights"].values()), abs(weights["intercept"])])[-20:]
    lines = command("separable", file, *options)[1].splitlines()
    printed = sorted(abs(float(line.split()[-1])) for line in lines[3:-1])
    np.testing.assert_allclose(printed, largest, rtol=1e-5)
    assert lines[-1].startswith("… and 21 more")


def test_the_certificate_can_be_kept(write, answer, command):
    file = write(OVERLAP)
    data = answer("separable", file, "--target", "y")[1]
    _, _, err = command("separable", file, "--target", "y", "-o", "proof.json")
    assert json.loads(Path("proof.json").read_text()) == data["certificate"]
    assert "replaced" not in err
    before = Path("proof.json").read_bytes()
    assert "replaced" in command("separable", file, "--target", "y", "-o", "proof.json")[2]
    assert Path("proof.json").read_bytes() == before
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["data.csv", "proof.json"]


def test_where_the_certificate_cannot_be_written_nothing_is_left(write, answer):
    status, data = answer("separable", write(OVERLAP), "--target", "y", "-o", "nowhere/proof.json")
    assert (status, data["error"]["kind"]) == (2, "usage")
    assert [path.name for path in Path.cwd().iterdir()] == ["data.csv"]


def test_a_proof_that_fails_its_check_is_never_told(write, answer, monkeypatch, tmp_path_factory):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("bugs")))
    monkeypatch.setattr("separatrix.results.separability.Separability.check", lambda *_: False)
    status, data = answer("separable", write(OVERLAP), "--target", "y")
    assert (status, data["error"]["kind"]) == (3, "data")
    assert "cannot be proved" in data["error"]["problem"]


@pytest.mark.parametrize(
    ("text", "options", "status", "says"),
    [
        (OVERLAP, ("--target", "Y2"), 2, "Did you mean 'y'?"),
        (OVERLAP, ("--target", "y", "--drop", "xx"), 2, "Did you mean 'x'?"),
        ("x,y\n1,no\n2,no\n", ("--target", "y"), 3, "class"),
        ("x,y\n1,no\n2,\n3,yes\n", ("--target", "y"), 3, "data.csv line 3, column 'y'"),
    ],
)
def test_what_cannot_be_answered_is_told(text, options, status, says, write, command):
    found, out, err = command("separable", write(text), *options)
    assert (found, out) == (status, "")
    assert says in err
