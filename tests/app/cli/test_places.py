"""What a learner or a model refuses is said of the table: file, line, column and value."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from separatrix.app.models.file import read
from separatrix.app.tables.encoding import Encoding
from separatrix.app.tables.errors import Place, TableError
from separatrix.app.tables.opening import open_table
from separatrix.app.tasks.places import told_of_the_table
from separatrix.app.tasks.predicting import PredictionOptions, judge, predict
from separatrix.errors import DataError

WRONG = 31
"""The line that has what is refused."""


def visits(wrong="-1", weight="1"):
    """How often somebody came, from where, and whether he bought: 60 rows."""
    lines = ["age,visits,city,weight,y"]
    for k in range(60):
        came = wrong if k + 2 == WRONG else str(k % 5)
        lines.append(f"{20 + k % 7},{came},{'abc'[k % 3]},{weight},{'yes' if (k * 7919) % 10 < 4 else 'no'}")
    return "\n".join(lines) + "\n"


POISSON = ("--learner", "poisson-naive-bayes", "--drop", "weight")


def place_of(data):
    return tuple(data["error"][name] for name in ("file", "line", "column", "value"))


@pytest.mark.parametrize(("name", "piped"), [("data.csv", False), ("-", True)])
def test_a_cell_that_a_learner_refuses_is_told_with_its_line(name, piped, write, answer, command, monkeypatch):
    write(visits())
    told = "stdin" if piped else name

    def again():
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(visits().encode())))

    again()
    status, data = answer("fit", name, "--target", "y", *POISSON)
    assert (status, place_of(data)) == (3, (told, WRONG, "visits", "-1"))
    assert data["error"]["problem"].startswith("it is -1; a Poisson column holds numbers of 0 or more")
    again()
    said = " ".join(command("fit", name, "--target", "y", *POISSON)[2].split())
    assert said.startswith(f"error: {told} line {WRONG}, column 'visits': it is -1; a Poisson column")


def test_the_line_is_that_of_the_file_where_rows_are_left_out(write, answer):
    write(visits())
    assert place_of(answer("fit", "data.csv", "--target", "y", "--where", "age > 20", *POISSON)[1])[1] == WRONG
    assert place_of(answer("fit", "data.csv", "--target", "y", "--cv", "3", *POISSON)[1])[1] == WRONG


def test_a_standardised_number_is_told_as_it_stands_in_the_file(write, answer):
    write(visits("3"))
    _, data = answer("fit", "data.csv", "--target", "y", "--standardise", *POISSON)
    assert place_of(data) == ("data.csv", 2, "age", "20")
    assert data["error"]["problem"].startswith("standardised, it is -1.4")


@pytest.mark.parametrize("asked", [("predict",), ("evaluate",), ("explain", "--row", "3", "--row", str(WRONG - 1))])
def test_a_cell_that_a_model_refuses_is_told_with_its_line(asked, write, answer):
    write(visits("1"))
    assert answer("fit", "data.csv", "--target", "y", *POISSON)[0] == 0
    write(visits(), "later.csv")
    status, data = answer(asked[0], "model.json", "later.csv", *asked[1:])
    assert (status, place_of(data)) == (3, ("later.csv", WRONG, "visits", "-1"))


class InSmallBlocks(Encoding):
    def blocks(self, table, unseen="error", numbers=0):
        return super().blocks(table, unseen, numbers=20)


def test_the_line_is_right_in_every_block_of_rows(write, command):
    write(visits("1"))
    command("fit", "data.csv", "--target", "y", *POISSON)
    model = read("model.json")
    model = replace(model, encoding=InSmallBlocks(model.encoding.columns))
    write(visits(), "later.csv")
    with open_table(["later.csv"]) as table:
        for asked in (lambda: predict(model, table, PredictionOptions(), "error"),
                      lambda: judge(model, table, target="y")):  # fmt: skip
            with pytest.raises(TableError) as caught:
                asked()
            assert (caught.value.line, caught.value.value) == (WRONG, "-1")


def test_a_fold_that_fails_names_the_line(write, answer):
    write(visits())
    asked = ("compare", "data.csv", "--target", "y", "--drop", "weight", "--learners", "poisson-naive-bayes,logistic")
    _, data = answer(*asked)
    (failed,) = (each for each in data["leaderboard"] if each["learner"] == "poisson-naive-bayes")
    assert failed["failures"][0]["sentence"].startswith(f"data.csv line {WRONG}, column 'visits': it is -1; a Poisson")


def test_a_report_names_the_line(write, answer):
    write(visits("1"))
    answer("fit", "data.csv", "--target", "y", *POISSON)
    write(visits(), "later.csv")
    assert answer("report", "model.json", "later.csv", "-o", "report.json")[0] == 0
    why = json.loads(Path("report.json").read_text())["held_out"]["why"]
    assert why.startswith(f"later.csv line {WRONG}, column 'visits': fold ")


@pytest.mark.parametrize("command_", ["fit", "separable"])
def test_what_is_wrong_with_all_weights_is_said_of_their_column(command_, write, answer):
    write(visits("1", weight="1e308"))
    status, data = answer(command_, "data.csv", "--target", "y", "--weights", "weight")
    assert (status, place_of(data)) == (3, (None, None, "weight", None))
    assert data["error"]["problem"].startswith("it reaches 1e+308")


def test_a_feature_that_overflows_is_told_with_the_line_of_its_row(write, answer):
    write(visits("1e150"))
    _, data = answer("fit", "data.csv", "--target", "y", "--drop", "weight", "--features", "polynomial:3")
    assert place_of(data) == ("data.csv", WRONG, None, None)
    assert data["error"]["problem"].startswith("it makes the feature 'visits³' overflow")


TABLE = "age,city\n20,Bonn\n30,Rome\n40,Bonn\n"


def test_what_is_no_error_about_a_row_or_a_column_stays_as_it_is(write):
    write(TABLE)
    with open_table(["data.csv"]) as table:
        encoding = Encoding(())
        for error in (DataError("has 0 rows.", array="X"), DataError("The scores overflow.", column="age")):
            with pytest.raises(DataError) as caught, told_of_the_table(table.place, encoding):
                raise error
            assert caught.value is error
        given = TableError("no", place=Place("other.csv", 7))
        with pytest.raises(TableError) as caught, told_of_the_table(table.place, encoding):
            raise given
        assert caught.value is given


def test_a_feature_made_of_a_level_is_named_beside_its_column(write):
    from separatrix.app.tables.encoding import learn_encoding
    from separatrix.app.tables.kinds import decide

    write(TABLE)
    with open_table(["data.csv"]) as table:
        encoding = learn_encoding(table, decide(table))
        with pytest.raises(TableError) as caught, told_of_the_table(table.place, encoding, names=["x0", "x1"]):
            raise DataError("is 1.0; no.", array="X", row=1, column="x1", value=1.0)
        assert str(caught.value) == "data.csv line 3, column 'city': its feature 'city=Rome' is 1.0; no."
        table.free()
        assert table.place(2) == Place("data.csv", 4)
