"""What columns are taken for: decided by all their values, said why, and overruled by the user."""

import re

import numpy as np
import pytest

from separatrix.app.tables.errors import TableError
from separatrix.app.tables.kinds import decide
from separatrix.app.tables.open_table import ColumnCache
from separatrix.app.tables.opening import open_table
from separatrix.app.tables.table import Columns

ROWS = 60


def table_of(tmp_path, rows=ROWS, **columns):
    """A CSV file with a column k = 0, 1, … and the given ones, each a function of k."""
    lines = ["k," + ",".join(columns)] + [
        ",".join([f"{k}.5", *(str(cell(k)) for cell in columns.values())]) for k in range(rows)
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    return open_table([str(tmp_path / "t.csv")])


def decided(tmp_path, cell, rows=ROWS, **said):
    with table_of(tmp_path, rows, c=cell) as table:
        return decide(table, **said)[1]


@pytest.mark.parametrize("rows", [60, 3_000], ids=["small", "large"])
@pytest.mark.parametrize(
    ("cell", "kind", "why"),
    [
        (lambda k: k / 7, "number", "every value is a number"),
        (lambda k: f"{k}e-2", "number", "every value is a number"),
        (lambda k: k % 3, "number", "every value is a whole number, 3 different ones; category=\\('c',\\) reads"),
        (lambda k: k % 3 + 0.5, "number", "every value is a number, 3 different ones"),
        (lambda k: "x" if k == 7 else k, "number", "values are numbers; 1 is not, and must be mended"),
        (lambda k: "inf" if k == 7 else k + 0.25, "number", "values are numbers; 1 is not, and must be mended"),
        (lambda k: "ab"[k % 2], "category", "2 levels, the reference is 'a'"),
        (lambda k: ["true", "false", "true"][k % 3], "category", "2 levels, the reference is 'true'"),
        (lambda k: ["1", "2", "3+"][k % 3], "category", "3 levels, the reference is '1'"),
        (lambda k: "", "ignored", "holds no value"),
        (lambda k: "x", "ignored", "the same value in every row"),
        (lambda k: 5, "ignored", "the same value in every row"),
        (lambda k: f"id-{k}", "ignored", "every value is different, as in an identifier; category=\\('c',\\) reads"),
        (lambda k: f"2020-01-{k % 28 + 1:02d}", "ignored", r"dates or times(.*)category=\('c',\)"),
        (lambda k: f"{k % 28 + 1}.12.1999 10:{k % 60:02d}", "ignored", "dates or times"),
        (lambda k: f"{k % 24:02d}:30", "ignored", "dates or times"),
        (lambda k: f"v{k * 2 // 3}", "ignored", "levels in (.*) values are too many; category=\\('c',\\)"),
    ],
)
def test_what_a_column_is_taken_for(tmp_path, cell, kind, why, rows):
    found = decided(tmp_path, cell, rows)
    assert found.kind == kind
    assert re.search(why, found.why), found.why


def test_levels_come_by_how_often_they_are_seen(tmp_path):
    found = decided(tmp_path, lambda k: ["b", "a", "c", "c", ""][k % 5])
    assert found.levels == ("c", "a", "b")
    assert found.counts == (24, 12, 12)
    assert (found.missing, found.distinct) == (12, 3)


def test_numbers_are_summed_up(tmp_path):
    found = decided(tmp_path, lambda k: "" if k % 4 == 0 else k)
    values = np.array([k for k in range(ROWS) if k % 4])
    assert (found.missing, found.minimum, found.maximum) == (15, 1, 59)
    assert found.mean == pytest.approx(values.mean())
    assert found.deviation == pytest.approx(values.std())


def test_the_user_overrules(tmp_path):
    assert decided(tmp_path, lambda k: k % 3, category=["c"]).levels == ("0", "1", "2")
    assert decided(tmp_path, lambda k: k / 7, category=["c"]).kind == "category"
    assert decided(tmp_path, lambda k: f"id-{k}", category=["c"]).distinct == ROWS
    assert decided(tmp_path, lambda k: "ab"[k % 2], drop=["c"]).kind == "ignored"
    assert decided(tmp_path, lambda k: 5, number=["c"]).kind == "number"
    assert decided(tmp_path, lambda k: "ab"[k % 2], group=["c"]).kind == "group"
    with table_of(tmp_path, c=lambda k: "ab"[k % 2]) as table:
        assert decide(table, number=["c"])[1].kind == "number"
        with pytest.raises(TableError, match="line 2, column 'c': 'a' is not a number"):
            table.numbers("c")


def test_the_target_keeps_its_texts(tmp_path):
    assert decided(tmp_path, lambda k: f"0{k % 2}", target="c").levels == ("00", "01")
    with pytest.raises(TableError, match=r"line 9, column 'c': the target is missing(.|\n)*where='c IS NOT NULL'"):
        decided(tmp_path, lambda k: "" if k == 7 else k % 2, target="c")


def test_weights_are_not_negative(tmp_path):
    assert decided(tmp_path, lambda k: k % 3, weights="c").kind == "weights"
    with pytest.raises(TableError, match="line 9, column 'c': the weight -7 is negative"):
        decided(tmp_path, lambda k: -7 if k == 7 else k, weights="c")
    with pytest.raises(TableError, match="line 9, column 'c': the weight is missing"):
        decided(tmp_path, lambda k: "" if k == 7 else k, weights="c")
    with pytest.raises(TableError, match="line 9, column 'c': 'x' is not a number"):
        decided(tmp_path, lambda k: "x" if k == 7 else k, weights="c")


def test_names_must_be_there_and_have_one_part(tmp_path):
    for said in ({"target": "C"}, {"weights": "cc"}, {"number": ["cc"]}, {"category": ["cc"]}, {"drop": ["cc"]}):
        with pytest.raises(TableError, match=r"there is no such column\n  Did you mean 'c'\?"):
            decided(tmp_path, lambda k: k, **said)
    with pytest.raises(TableError, match=": target and drop both name 'c'"):
        decided(tmp_path, lambda k: k, target="c", drop=["c"])
    with pytest.raises(TableError, match=": number and category both name 'c'"):
        decided(tmp_path, lambda k: k, number=["c"], category=["c"])


@pytest.mark.parametrize("rows", [60, 3_000])
def test_decimal_commas_are_noticed(tmp_path, rows):
    with pytest.raises(
        TableError, match=r"line 2, column 'c': '0,5' is written with a decimal comma(.|\n)*decimal=','"
    ):
        decided(tmp_path, lambda k: f'"{k},5"', rows)


def test_a_table_in_memory_is_decided_alike():
    table = Columns({"a": [1.5, 2.5, None] * 9, "b": ["x", "y", "x"] * 9, "c": ["x"] * 27})
    a, b, c = decide(table, target="b")
    assert (a.kind, a.missing, a.mean) == ("number", 9, 2)
    assert (b.kind, b.levels) == ("target", ("x", "y"))
    assert c.kind == "ignored"


@pytest.mark.parametrize("room", [0, 30_000, 1 << 28], ids=["no room", "room for some", "room for all"])
def test_columns_are_the_same_whether_they_are_kept_or_fetched_again(tmp_path, room):
    with table_of(
        tmp_path, 3_000, a=lambda k: k / 7, b=lambda k: "" if k % 5 else k, c=lambda k: "uvw"[k % 3]
    ) as table:
        object.__setattr__(table, "_cache", ColumnCache(room))
        first, again = decide(table), decide(table)
        assert first == again
        assert [each.missing for each in first] == [0, 0, 2400, 0]
        for _ in range(2):
            np.testing.assert_array_equal(table.numbers("a"), np.arange(3_000) / 7)
            assert np.isnan(table.numbers("b")).sum() == 2400
            assert table.coded("c").levels == ("u", "v", "w")
            np.testing.assert_array_equal(table.coded("c").codes, np.arange(3_000) % 3)


@pytest.mark.parametrize("rows", [60, 3_000], ids=["text", "codes and numbers"])
@pytest.mark.parametrize("bad", [lambda k: "?" if k % 20 == 7 else k % 3, lambda k: "?" if k == 7 else k / 3])
def test_a_table_that_was_let_go_says_what_it_said_before(tmp_path, rows, bad):
    with table_of(tmp_path, rows, bad=bad, n=lambda k: k % 2, c=lambda k: "uv"[k % 2]) as table:
        decide(table)
        table.let_go(["k", "n"], ["c"])
        np.testing.assert_array_equal(table.numbers("n"), np.arange(rows) % 2)
        np.testing.assert_array_equal(table.numbers("k"), np.arange(rows) + 0.5)
        assert table.coded("c").levels == ("u", "v")
    with table_of(tmp_path, rows, bad=bad, c=lambda k: "uv"[k % 2]) as table:
        decide(table)
        table.let_go(["bad"], ["c"])  # one of its cells is no number, which must still be said
        with pytest.raises(TableError, match=r"'\?' is not a number"):
            table.numbers("bad")
