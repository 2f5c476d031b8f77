"""What is proposed can be typed: the next command, and what mends a table."""

import io
import shlex

import pytest

from separatrix.app.cli.failing import failure_of
from separatrix.app.cli.running import CommandLine
from separatrix.app.tables.errors import Remedy, TableError
from separatrix.app.tables.opening import open_table
from separatrix.wording import speaking

from .tables import shop


def next_of(said):
    return said.split("next: separatrix ")[-1].strip()


def test_another_learner_is_proposed_with_what_the_fit_was_told_of_the_columns(write, command):
    write(shop(missing=True))
    told = ["--missing", "impute", "--drop", "city"]
    assert command("fit", "data.csv", "--target", "bought", *told)[0] == 0
    status, _, said = command("evaluate", "model.json", "data.csv", "--require", "auc>=0.999")
    assert status == 1
    typed = shlex.split(next_of(said))
    assert typed == ["compare", "data.csv", "--target", "bought", "--missing", "impute", "--drop", "city"]
    assert command(*typed, "--cv", "2")[0] == 0


@pytest.mark.parametrize("typed", [
    ("predict", "model.json", "-"), ("evaluate", "model.json", "-"), ("schema", "-"),
    ("separable", "-", "--target", "bought"), ("explain", "model.json", "-", "--row", "1"),
])  # fmt: skip
def test_what_was_piped_in_has_to_be_named(typed, write, command, monkeypatch):
    write(shop())
    command("fit", "data.csv", "--target", "bought")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(shop().encode())))
    status, _, said = command(*typed)
    assert status in (0, 1)
    assert "FILE" in next_of(said).split()
    assert "-" not in next_of(said).split()


def test_nothing_is_explained_that_has_no_parts(write, command):
    write(shop())
    command("fit", "data.csv", "--target", "bought", "--learner", "kernel")
    assert next_of(command("predict", "model.json", "data.csv")[2]) == "summary model.json"
    assert next_of(command("summary", "model.json")[2]) == "predict model.json FILE"


def test_where_a_model_knows_the_columns_nobody_is_asked_what_they_are(write, command):
    write(shop())
    command("fit", "data.csv", "--target", "bought")
    write(shop().replace("\np003,", "\np003,x", 1), "other.csv")
    status, _, said = command("predict", "model.json", "other.csv")
    assert status == 3
    assert "'age' is to be read as a column of numbers" in said
    assert "--category" not in said
    assert "--number" not in said


def test_weights_are_not_to_be_a_category(write, command):
    write(shop().replace("\np003,", "\np003,x", 1))
    status, _, said = command("fit", "data.csv", "--target", "bought", "--weights", "age")
    assert status == 3
    assert "'age'" in said
    assert "--category" not in said


def test_what_mends_a_table_is_said_in_the_words_of_the_reader(tmp_path, write, command):
    write("x\n" + "1.5\n" * 30 + "n/a?\n")
    with open_table(["data.csv"]) as table, pytest.raises(TableError) as caught:
        table.numbers("x")
    (missing, category) = caught.value.remedies
    assert (missing.setting, missing.value, missing.text) == ("na", ("n/a?",), "na=('n/a?',)")
    assert (category.setting, category.value, category.text) == ("category", ("x",), "category=('x',)")
    assert "--" not in str(caught.value)
    with speaking(CommandLine()):
        assert (missing.text, category.text) == ("--na 'n/a?'", "--category x")
        assert str(caught.value).endswith("  or read x as a category:  --category x")


@pytest.mark.parametrize(("tokens", "left"), [
    (["fit", "d.csv", "--target", "y"], ["na", "category", "format"]),
    (["fit", "d.csv", "--weights", "x"], ["na", "format"]),
    (["predict", "m.json", "d.csv"], ["na", "format"]),
    (["report", "m.json", "d.csv"], ["na"]),
])  # fmt: skip
def test_a_remedy_that_the_command_has_not_is_left_out_by_its_setting(tokens, left):
    purposes = {"na": "--category is said here", "category": "say so", "format": "if it is Parquet"}
    values = {"na": ("?",), "category": ("x",), "format": "parquet"}
    remedies = [Remedy(purpose, name, values[name]) for name, purpose in purposes.items()]
    found = failure_of(TableError("no", column="x", remedies=remedies), tokens)
    assert [each["purpose"] for each in found.details["remedies"]] == [purposes[name] for name in left]


def test_the_format_of_a_table_is_named_as_the_command_has_it(write, command):
    write(shop())
    command("fit", "data.csv", "--target", "bought")
    write("a\0b", "odd.csv")
    assert "--format parquet" in command("evaluate", "model.json", "odd.csv")[2]
    assert "--input-format parquet" in command("predict", "model.json", "odd.csv")[2]
