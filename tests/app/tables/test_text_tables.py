"""Text tables: what is in the file is what is read, and every row knows its line."""

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from separatrix.app.tables import dialect, text
from separatrix.app.tables.cells import number_of
from separatrix.app.tables.errors import Place, TableError
from separatrix.app.tables.opening import open_table

NAMES = ("alpha", "beta", "gamma")
CELLS = st.one_of(
    st.sampled_from(["", "0", "1", "-1.50", "1e3", "x", "y", "007", " 2", "nan", "inf", "NA"]),
    st.text(st.sampled_from(list("ab1,;|\t\n \"'é→.-")), max_size=6),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=12)
many = settings(
    max_examples=8,
    phases=[Phase.generate, Phase.explicit],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def written(rows, separator=",", end="\n", names=NAMES):
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator=end).writerows([names, *rows])
    return out.getvalue()


def opened(tmp_path, text, name="t.csv", **options):
    (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return open_table([str(tmp_path / name)], **options)


def texts(table, name):
    codes, levels = table.coded(name)
    return [None if code < 0 else levels[code] for code in codes]


def same(found, expected):
    return np.array_equal(np.asarray(found), np.asarray(expected), equal_nan=True)


@pytest.fixture(params=["as text", "by plan", "eager plan"])
def plan(request, monkeypatch):
    """Every cell kept as text, or the types planned, also so eagerly that the plan is often wrong."""
    if request.param == "eager plan":
        monkeypatch.setattr(text, "ENOUGH", 1)
        monkeypatch.setattr(text, "OFTEN", 2)
        monkeypatch.setattr(dialect, "HEAD", 64)
        monkeypatch.setattr(text, "HEAD", 64)
    return {"keep_text": request.param == "as text"}


@many
@given(rows=ROWS, separator=st.sampled_from(",;\t|"), end=st.sampled_from(["\n", "\r\n"]))
def test_what_is_written_is_read(tmp_path, plan, rows, separator, end):
    with opened(tmp_path, written(rows, separator, end), **plan) as table:
        assert table.names == NAMES
        assert table.rows == len(rows)
        for name, column in zip(NAMES, zip(*rows, strict=True), strict=True):
            assert texts(table, name) == [cell or None for cell in column]


@many
@given(rows=ROWS)
def test_a_column_is_numbers_or_its_first_other_cell_is_named(tmp_path, plan, rows):
    begins = np.cumsum([2, *(sum(cell.count("\n") for cell in row) + 1 for row in rows)])
    with opened(tmp_path, written(rows), na=["NA"], **plan) as table:
        for name, column in zip(NAMES, zip(*rows, strict=True), strict=True):
            there = [cell not in ("", "NA") for cell in column]
            wrong = [k for k, cell in enumerate(column) if there[k] and number_of(cell) is None]
            assume(all(cell.strip("1 .-e,;\"'") or number_of(cell.replace(",", ".")) for cell in column if cell))
            if wrong:
                with pytest.raises(TableError) as raised:
                    table.numbers(name)
                assert raised.value.value == column[wrong[0]]
                assert raised.value.place == Place(str(tmp_path / "t.csv"), begins[wrong[0]])
            else:
                expected = [number_of(cell) if ok else math.nan for cell, ok in zip(column, there, strict=True)]
                assert same(table.numbers(name), expected)


@many
@given(rows=ROWS, data=st.data())
def test_rows_keep_their_places_when_some_are_left_out(tmp_path, plan, rows, data):
    keys = [str(k) for k in range(len(rows))]
    keyed = [(key, row[1], row[2]) for key, row in zip(keys, rows, strict=True)]
    begins = np.cumsum([2, *(sum(cell.count("\n") for cell in row) + 1 for row in keyed)])
    kept = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1)))
    where = f"alpha IN ({', '.join(map(str, kept))})"
    with opened(tmp_path, written(keyed), where=where, **plan) as table:
        assert table.rows == len(kept)
        assert texts(table, "alpha") == [keys[k] for k in kept]
        assert texts(table, "beta") == [rows[k][1] or None for k in kept]
        assert [table.place(row).line for row in range(table.rows)] == [begins[k] for k in kept]
        asked = data.draw(st.lists(st.integers(0, len(kept) - 1)))  # in any order, some twice, or none
        assert [place.line for place in table.places(asked)] == [begins[kept[row]] for row in asked]


@many
@given(rows=ROWS, more=st.lists(st.text("xyz,\n", max_size=3), min_size=12, max_size=12))
def test_what_is_written_out_is_verbatim(tmp_path, plan, rows, more):
    extra = {"label": more[: len(rows)], "score": np.linspace(0, 1, len(rows))}
    with opened(tmp_path, written(rows), na=["NA", "x"], **plan) as table:
        table.write(str(tmp_path / "out.csv"), "csv", extra)
        stream = io.BytesIO()
        table.write(stream, "csv", extra)
    assert stream.getvalue() == (tmp_path / "out.csv").read_bytes()
    header, *found = csv.reader(io.StringIO(stream.getvalue().decode(), newline=""))
    assert header == [*NAMES, "label", "score"]
    assert [tuple(row[:3]) for row in found] == rows
    assert [row[3] for row in found] == extra["label"]
    assert [float(row[4]) for row in found] == extra["score"].tolist()


def test_a_bad_cell_far_down_is_named_as_the_guide_shows(tmp_path):
    rows = [f"{k / 7},{'ab'[k % 2]}" for k in range(30_000)]
    rows[29_000] = "n/a?,a"
    with opened(tmp_path, "x7,city\n" + "\n".join(rows), "patients.csv") as table, pytest.raises(TableError) as raised:
        table.numbers("x7")
    assert str(raised.value).replace(f"{tmp_path}/", "") == (
        "patients.csv line 29002, column 'x7': 'n/a?' is not a number\n"
        "  the other 29 999 values of 'x7' are numbers, so it is read as a number column.\n"
        "  treat it as missing:       na=('n/a?',)\n"
        "  or read x7 as a category:  category=('x7',)"
    )


def test_a_level_that_the_sample_did_not_show_is_read(tmp_path):
    cells = ["a", "b"] * 200_000
    cells[150_001], cells[-1] = "rare", ""
    with opened(tmp_path, "n,c\n" + "".join(f"{k % 3},{cell}\n" for k, cell in enumerate(cells))) as table:
        found = table.coded("c")
    assert found.levels == ("a", "b", "rare")
    assert np.bincount(found.codes + 1).tolist() == [1, 200_000, 199_998, 1]
    assert found.codes[150_001] == 2


def test_numbers_are_levels_by_their_text(tmp_path):
    cells = [f"{k}.{'0' * (k % 3)}5" for k in range(5_000)]
    with opened(tmp_path, "n,c\n" + "".join(f"{cell},x\n" for cell in cells)) as table:
        assert table._loaded.types[0] == "DOUBLE"
        assert texts(table, "n") == cells
    with opened(tmp_path, "n,c\n" + "".join(f"{cell},x\n" for cell in cells), where="n < 100", sample=7) as table:
        assert texts(table, "n") == [f"{value:.3f}".rstrip("0") for value in table.numbers("n")]


@pytest.mark.parametrize("separator", [";", "|", "\t", " ", ", "])
def test_other_separators(tmp_path, separator):
    rows = [["name", "size", "kind"], ["x", "1.5", "u"], ["y", "2.5", "v"]]
    with opened(tmp_path, "\n".join(separator.join(row) for row in rows)) as table:
        assert table.names == ("name", "size", "kind")
        assert table.numbers("size").tolist() == [1.5, 2.5]
        assert texts(table, "kind") == ["u", "v"]


def test_decimal_commas_are_read_when_that_is_said(tmp_path):
    with opened(tmp_path, "a;b\n1,5;x\n-2;y\n", decimal=",") as table:
        assert table.numbers("a").tolist() == [1.5, -2]
    text = "a;b\n" + "".join(f"{k},25;x\n" for k in range(3_000))
    with opened(tmp_path, text, decimal=",") as table:
        assert table.numbers("a").tolist() == [k + 0.25 for k in range(3_000)]
    with opened(tmp_path, "a;b\n1.5;x\n2;y\n", decimal=",") as table, pytest.raises(TableError, match=r"'1\.5' is not"):
        table.numbers("a")
    with opened(tmp_path, "a;b\n1,5;x\n2;y\n") as table, pytest.raises(TableError, match="decimal=','"):
        table.numbers("a")


def test_a_file_without_names(tmp_path):
    with pytest.raises(TableError, match=r"looks like data(.|\n)*header=False(.|\n)*header=True"):
        opened(tmp_path, "39,x\n40,y\n")
    with opened(tmp_path, "39,x\n40,y\n", header=False) as table:
        assert table.names == ("x0", "x1")
        assert table.numbers("x0").tolist() == [39, 40]
        assert table.place(1).line == 2
    with opened(tmp_path, "2019,2020\n1,2\n", header=True) as table:
        assert table.names == ("2019", "2020")


def test_an_empty_line_is_a_row_only_where_there_is_one_column(tmp_path):
    with opened(tmp_path, "a,b\n1,2\n\n3,x\n") as table:
        assert table.rows == 2
        assert table.place(1).line == 4
    with opened(tmp_path, "a\n1\n\n3\n") as table:
        assert same(table.numbers("a"), [1, np.nan, 3])
        assert table.place(2).line == 4


BROKEN = {
    b"": "the file is empty",
    b"\n\n": "holds no text",
    b"\na,b\n1,2\n": "line 1: the first line is empty",
    b"a,b\n": "and no row",
    b"a,b": "and no row",
    b"a,,c\n1,2,3\n": "line 1: column 2 of 3 has no name",
    b"a,b,a\n1,2,3\n": "line 1, column 'a': columns 1 and 3 are both named 'a'",
    b'a,b\n"p\nq",2\n1,2,3\n4,5\n': "line 4: 3 cells, where the first line has 2",
    b"a,b\n1,2\n4\n4,5\n": "line 3: 1 cell, where the first line has 2",
    b'a,b\n1,"2\n4,5\n': "line 2: a double quote is opened and not closed",
    b'a,b\n1,"2"x\n4,5\n': "line 2: a double quote is opened and not closed",
    b"a,b\n1,2\n1,\xe9t\xe9\n": "line 3: byte 0xe9 is not UTF-8(.|\n)*été(.|\n)*encoding='latin-1'",
    b"a,b\n" + b"1,u\n2,v\n" * 80_000 + b"1,\xe9\n": "line 160002: byte 0xe9 is not UTF-8(.|\n)*encoding='latin-1'",
    b"a,b\n" + b"1.%d,u\n" * 80_000 + b"1,\xe9\n": "line 80002: byte 0xe9 is not UTF-8",
    "a,b\n1,2\n".encode("utf-16"): "written in utf-16(.|\n)*encoding='utf-16",
    b"a,b\n1,\x00\n": "line 2: there is a NUL byte",
    bytes(range(256)) * 20: "NUL byte",
}


@pytest.mark.parametrize("content", BROKEN, ids=lambda content: repr(content[:24]))
def test_a_broken_file_is_refused_with_its_line(tmp_path, content):
    with pytest.raises(TableError, match=BROKEN[content]):
        opened(tmp_path, content)


def test_a_nul_far_down_is_named_when_its_column_is_read(tmp_path):
    with (
        opened(tmp_path, b"a,b\n" + b"1,u\n2,v\n" * 80_000 + b"1,x\x00\n") as table,
        pytest.raises(TableError, match="line 160002, column 'b': there is a NUL"),
    ):
        table.coded("b")


@pytest.mark.parametrize("ends", [("\r\r\n",) * 3, ("\r\n", "\r\n", "\n"), ("\n", "\n", "\r\n")])
def test_lines_that_end_in_several_ways_are_read_and_noted(tmp_path, ends):
    text = "".join(row + end for row, end in zip(["a,b", "1,x", "?,y"], ends, strict=True))
    with opened(tmp_path, text) as table:
        assert texts(table, "b") == ["x", "y"]
        assert table.place(1).line == 3
        assert "lines end in several ways" in table.notes[0]
        with pytest.raises(TableError, match="line 3, column 'a'"):
            table.numbers("a")
    with opened(tmp_path, "a,b\n1,x\n") as table:
        assert table.notes == ()


def test_encodings(tmp_path):
    with opened(tmp_path, "stadt,n\nKöln,1\n".encode("latin-1"), encoding="latin-1") as table:
        assert texts(table, "stadt") == ["Köln"]
    with opened(tmp_path, "stadt,n\nKöln,1\n".encode("utf-16"), encoding="utf-16") as table:
        assert texts(table, "stadt") == ["Köln"]
    with opened(tmp_path, "stadt,n\nKöln,1\n".encode("utf-8-sig")) as table:
        assert table.names == ("stadt", "n")
        assert texts(table, "stadt") == ["Köln"]
    with pytest.raises(TableError, match="no encoding 'latin-one'"):
        opened(tmp_path, "a,b\n1,2\n", encoding="latin-one")


@pytest.mark.parametrize("size", [5_000_000, 17_000_000, 40_000_000])
def test_a_line_that_is_too_long_is_not_lost(tmp_path, size):
    with pytest.raises(TableError, match="line 3: the line has more than 4194304 bytes"):
        opened(tmp_path, b"a,b\n1,2\n3," + b"y" * size + b"\n5,6\n")


def test_a_quote_left_open_in_a_large_file_is_named(tmp_path):
    with pytest.raises(TableError, match="line 12: a double quote is opened and not closed"):
        opened(tmp_path, b"a,b\n" + b"1,2\n" * 10 + b'3,"' + b"1,2\n" * 5_000_000)
