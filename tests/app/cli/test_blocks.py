"""Rows are predicted and judged some at a time: the same answers, however many that is."""

import json

import numpy as np
import pytest

from separatrix.app.tables import encoding
from separatrix.app.tables.encoding import Encoding
from separatrix.app.tables.kinds import decide
from separatrix.app.tables.opening import open_table

from .tables import shop


@pytest.fixture
def few_at_a_time(monkeypatch):
    """Seven features: two or three rows together."""
    blocks = Encoding.blocks
    monkeypatch.setattr(Encoding, "blocks", lambda self, table, unseen="error": blocks(self, table, unseen, 17))


def test_blocks_are_the_matrix(write):
    write(shop(150, missing=True))
    with open_table(["data.csv"]) as table:
        made = encoding.learn_encoding(table, decide(table, target="bought"), missing="impute", standardise=True)
        whole = made.matrix(table)
        for numbers in (1, 17, 1000, 10**6):
            parts = list(made.blocks(table, "error", numbers))
            assert np.array_equal(np.concatenate(parts), whole)
            assert max(part.size for part in parts) <= max(numbers, whole.shape[1])


@pytest.mark.parametrize("more", [["--proba", "--distance", "--explain"], ["--threshold", "0.3"], ["--json"]])
def test_predictions_are_the_same(more, write, command, request):
    write(shop(60))
    assert command("fit", "data.csv", "--target", "bought", "-o", "m.json")[0] == 0
    at_once = command("predict", "m.json", "data.csv", *more)
    request.getfixturevalue("few_at_a_time")
    assert command("predict", "m.json", "data.csv", *more) == at_once


def test_measures_are_the_same(write, command, request):
    write(shop(90))
    assert command("fit", "data.csv", "--target", "bought", "-o", "m.json")[0] == 0
    at_once = json.loads(command("evaluate", "m.json", "data.csv", "--target", "bought", "--json")[1])
    request.getfixturevalue("few_at_a_time")
    found = json.loads(command("evaluate", "m.json", "data.csv", "--target", "bought", "--json")[1])
    assert found == at_once


def test_a_bad_cell_is_named_by_its_line(write, command, few_at_a_time):
    text = shop(60)
    write(text)
    assert command("fit", "data.csv", "--target", "bought", "-o", "m.json")[0] == 0
    lines = text.splitlines()
    lines[41] = lines[41].replace(lines[41].split(",")[1], "old", 1)
    write("\n".join(lines) + "\n")
    status, _, said = command("predict", "m.json", "data.csv")
    assert status == 3
    assert "line 42" in said
