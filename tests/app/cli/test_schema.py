"""`separatrix schema`: the columns of a table, and the JSON of commands."""

import json

import jsonschema
import pytest

from separatrix.app.cli.schema import published

TABLE = "age,city,note,y\n31,Bonn,a,no\n,Köln,b,no\n45,Bonn,c,yes\n"


def test_each_column_has_a_line_and_a_reason(write, command):
    status, out, err = command("schema", write(TABLE), "--target", "y", "--drop", "note")
    lines = out.splitlines()
    assert status == 0
    assert [line.split()[0] for line in lines] == ["column", "age", "city", "note", "y"]
    assert [line.split()[1] for line in lines[1:]] == ["number", "category", "ignored", "target"]
    assert max(map(len, lines)) <= 80
    assert "31 to 45" in lines[1]
    assert "3 rows, 4 columns" in err
    assert "next: separatrix fit data.csv --target y" in err


def test_the_json_has_all_of_it(write, answer):
    status, data = answer("schema", write(TABLE), "--target", "y")
    age, city, _, y = data["columns"]
    assert (status, data["rows"]) == (0, 3)
    assert (age["kind"], age["missing"], age["minimum"], age["maximum"]) == ("number", 1, 31, 45)
    assert city["levels"] == [{"level": "Bonn", "count": 2}, {"level": "Köln", "count": 1}]
    assert y["kind"] == "target"


@pytest.mark.parametrize("name", ["schema", "separable", "completion", "demo", "error", "model"])
def test_the_name_of_a_command_prints_its_json_schema(name, command):
    status, out, _ = command("schema", name)
    assert (status, json.loads(out)) == (0, published(name))
    jsonschema.Draft202012Validator.check_schema(json.loads(out))


def test_a_file_of_that_name_comes_first(write, command):
    write(TABLE, "fit")
    assert "age" in command("schema", "fit", "--format", "csv")[1]


def test_without_a_file_and_at_a_terminal_the_help_is_shown(command, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    status, out, err = command("schema")
    assert (status, out) == (2, "")
    assert "Usage: separatrix schema" in err
    assert "error: name a file" in err
