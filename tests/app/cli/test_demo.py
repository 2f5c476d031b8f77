"""`separatrix demo`: the main job from end to end."""

import csv
import importlib.util

import pytest

from separatrix.app.cli.demo import HEADER, TOURS, Scene, Tour, cancer, loans
from separatrix.app.cli.running import run

NEEDED = {f"separatrix.app.cli.{scene.words[0]}" for tour in TOURS.values() for scene in tour.scenes}
NEEDED |= {"separatrix.app.tables.opening", "separatrix.app.tables.kinds", "separatrix.app.tables.encoding"}
ABSENT = sorted(name for name in NEEDED if importlib.util.find_spec(name) is None)


def test_the_table_is_always_the_same(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        loans(tmp_path / name)
    assert (tmp_path / "a" / "loans.csv").read_bytes() == (tmp_path / "b" / "loans.csv").read_bytes()
    with open(tmp_path / "a" / "loans.csv", encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert tuple(header) == HEADER
    assert len(rows) == 600
    assert {row[-1] for row in rows} == {"yes", "no"}


def test_new_rows_have_no_answer(tmp_path):
    cancer(tmp_path)
    with open(tmp_path / "new.csv", newline="") as new, open(tmp_path / "cancer.csv", newline="") as old:
        assert [*next(csv.reader(new)), "diagnosis"] == next(csv.reader(old))


@pytest.mark.skipif(bool(ABSENT), reason=f"not there yet: {', '.join(ABSENT)}")
@pytest.mark.parametrize("name", ["loans", pytest.param("cancer", marks=pytest.mark.slow)])
def test_the_tour_goes_through(name, answer):
    status, data = answer("demo", name)
    assert status == 0, data
    assert [scene["line"].split()[1] for scene in data["scenes"]] == [
        "schema",
        "fit",
        "evaluate",
        "predict",
        "separable",
    ]
    assert all(scene["status"] in (0, 1) for scene in data["scenes"])
    assert all(scene["output"] for scene in data["scenes"] if " fit " not in scene["line"])


def test_a_tour_that_fails_says_so(answer, monkeypatch):
    scenes = (Scene("Nonsense.", ("nonsense",)), Scene("The JSON of errors.", ("schema", "error")))
    monkeypatch.setitem(TOURS, "loans", Tour(loans, scenes))
    status, data = answer("demo")
    assert status == 70
    assert [scene["status"] for scene in data["scenes"]] == [2, 0]
    assert "there is no command 'nonsense'" in data["scenes"][0]["words"]


def test_each_command_is_shown_before_what_it_prints(capfd, monkeypatch):
    monkeypatch.setitem(TOURS, "loans", Tour(loans, (Scene("What do errors look like?", ("schema", "error")),)))
    assert run(["demo"]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("\n# What do errors look like?\n$ separatrix schema error\n{\n")
    assert err == "next: separatrix schema YOUR_TABLE.csv\n"
