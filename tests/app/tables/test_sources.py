"""Files of every kind, packed or not, by name, by pattern or from stdin; and what is said when they are broken."""

import gzip
import io
import json
import lzma
import os
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest

from separatrix.app.tables.errors import Place, TableError, did_you_mean, nearest
from separatrix.app.tables.opening import open_table
from separatrix.errors import SettingError

CSV = b"age,city\n40,Bonn\n50,Aachen\n60,Bonn\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def given(name, content=CSV):
    Path(name).write_bytes(content)
    return name


def zstd(name, sql="SELECT 40 + 10 * range AS age, ['Bonn', 'Aachen', 'Bonn'][range + 1] AS city FROM range(3)"):
    duckdb.connect().execute(f"COPY ({sql}) TO '{name}' (FORMAT csv, COMPRESSION zstd)")
    return name


def content_of(table):
    codes, levels = table.coded("city")
    return table.numbers("age").tolist(), [levels[code] for code in codes]


def check(*sources, **options):
    with open_table(sources, **options) as table:
        assert content_of(table) == ([40, 50, 60], ["Bonn", "Aachen", "Bonn"])
        return table.place(2)


def test_every_packing_and_format_gives_the_same_table():
    assert check(given("a.csv")) == Place("a.csv", 4)
    assert check(given("a.csv.gz", gzip.compress(CSV))) == Place("a.csv.gz", 4)
    assert check(given("a.csv.xz", lzma.compress(CSV))) == Place("a.csv.xz", 4)
    assert check(zstd("a.csv.zst")) == Place("a.csv.zst", 4)
    assert check(given("unnamed", gzip.compress(CSV))) == Place("unnamed", 4)
    assert check(given("a.tsv", CSV.replace(b",", b"\t"))) == Place("a.tsv", 4)
    lines = [{"age": 40, "city": "Bonn"}, {"age": 50, "city": "Aachen"}, {"age": 60, "city": "Bonn"}]
    text = "\n\n".join(map(json.dumps, lines)).encode()
    assert check(given("a.jsonl", text)) == Place("a.jsonl", 5)
    assert check(given("a.ndjson.gz", gzip.compress(text))) == Place("a.ndjson.gz", 5)
    assert check(given("b", text)) == Place("b", 5)
    assert check(given("a.json", json.dumps(lines).encode())) == Place("a.json row 3", None)
    duckdb.connect().execute("COPY (FROM 'a.csv') TO 'a.parquet'")
    assert check("a.parquet") == Place("a.parquet row 3", None)
    assert check(given("c", Path("a.parquet").read_bytes())) == Place("c row 3", None)
    assert check(given("a.txt"), format="csv") == Place("a.txt", 4)


def test_stdin_is_spooled(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lzma.compress(CSV))))
    assert check("-") == Place("stdin", 4)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(TableError, match="stdin: the file is empty"):
        open_table(["-"])
    with pytest.raises(TableError, match="named twice"):
        open_table(["-", "-"])


def test_nothing_stays_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    check(given("a.csv.xz", lzma.compress(CSV)))
    with pytest.raises(TableError):
        open_table([given("b.csv.xz", lzma.compress(b"a,a\n1,2\n"))])
    assert sorted(os.listdir()) == ["a.csv.xz", "b.csv.xz"]


@pytest.mark.parametrize("name", ["csv", "jsonl", "svm", "parquet"])
def test_places_of_many_rows_are_one_look_at_each_file(name, monkeypatch):
    """However many rows of two files are asked for, each file is opened once, and every place is that of its row."""
    for part in (1, 2):
        rows = range(10 * part, 10 * part + 7)
        written = {
            "csv": "n,k\n" + "".join(f'{k},"{k}\n{k}"\n' for k in rows),
            "jsonl": "\n".join(json.dumps({"n": k, "k": "a"}) + "\n" * (k % 3) for k in rows),
            "svm": "".join(f"{k % 2} 1:{k}\n" for k in rows),
        }
        if name in written:
            given(f"{part}.{name}", written[name].encode())
        else:
            duckdb.connect().execute(f"COPY (FROM range({10 * part}, {10 * part + 7})) TO '{part}.parquet'")
    opened, plain_open = [], Path.open

    def counted(self, *args, **options):
        opened.append(self.name)
        return plain_open(self, *args, **options)

    with open_table([f"?.{name}"]) as table:
        alone = [table.place(row) for row in range(14)]
        asked = [13, 0, 5, 6, 7, 7, 12, 0]
        monkeypatch.setattr(Path, "open", counted)
        assert table.places(asked) == [alone[row] for row in asked]
        assert sorted(opened) == ([f"1.{name}", f"2.{name}"] if name in ("csv", "jsonl") else [])
        assert len(set(alone)) == 14
        for wrong in ([14], [3, 14]):
            with pytest.raises(IndexError):
                table.places(wrong)


def test_several_files_are_one_table():
    given("part-1.csv", b"age,city\n40,Bonn\n")
    given("part-2.csv", b'city;age\n"Aachen";50\nBonn;60\n')
    place = check("part-*.csv")
    assert place == Place("part-2.csv", 3)
    assert check("part-1.csv", "part-2.csv", where="age > 0") == place
    given("part-3.csv", b"age,town\n70,Bonn\n")
    with pytest.raises(TableError, match=r"part-3.csv: the column 'city' of part-1.csv is not here"):
        open_table(["part-*.csv"])
    given("part-3.csv", b"age,city,more\n70,Bonn,1\n")
    with pytest.raises(TableError, match=r"part-3.csv: the column 'more' is here, but not in part-1.csv"):
        open_table(["part-*.csv"])
    with pytest.raises(TableError, match=r"x.jsonl: this is a jsonl file"):
        open_table(["part-1.csv", given("x.jsonl", b"{}")])


def test_a_bad_cell_of_a_later_file_is_named_there():
    given("a.csv", b"age,city\n" + b"40.5,Bonn\n" * 3_000)
    given("b.csv", b'age,city\n1,"a\nb"\n?,Bonn\n')
    with open_table(["a.csv", "b.csv"]) as table, pytest.raises(TableError, match=r"b\.csv line 4, column 'age': '\?'"):
        table.numbers("age")
    with open_table(["a.csv", "b.csv"], na=["?"]) as table:
        assert np.isnan(table.numbers("age")).sum() == 1


def cut(content, by):
    return content[: len(content) - by]


def test_broken_files_are_refused():
    long = b"a,b\n" + b"".join(b"%d,%d\n" % (k * 7919 % 100_003, k) for k in range(100_000))
    whole = zstd("w.csv.zst", "SELECT range AS a, hash(range) AS b FROM range(100000)")
    zst = Path(whole).read_bytes()
    for name, content, said in [
        ("a.csv.gz", b"", "empty"),
        ("a.csv.gz", CSV, "the name says gzip"),
        ("a.csv.xz", CSV, "the name says xz"),
        ("a.csv.gz", cut(gzip.compress(CSV), 12), "gzip file is cut short"),
        ("a.csv.gz", cut(gzip.compress(long), 1_000), "gzip file is cut short"),
        ("a.csv.xz", cut(lzma.compress(CSV), 9), "xz file is cut short"),
        ("a.csv.zst", cut(zst, 1), "zstd file is cut short"),
        ("a.csv.zst", cut(zst, len(zst) // 2), "zstd file is cut short"),
        ("a.parquet", b"PAR1 and no more", "no Parquet file"),
        ("a.npy", b"\x93NUMPY and no more", "no NumPy file"),
        ("a.npz", b"PK\x03\x04 and no more", "no NumPy file"),
        ("a.jsonl", b'{"a": 1}\n{"a": 2\n', "a.jsonl line 2: the line is not JSON"),
        ("a.jsonl", b'{"a": 1}\n\n[1, 2]\n', "a.jsonl line 3: the line is JSON, but not an object"),
        ("a.jsonl", b'{"a": 1}\n{"a": 2, "b": {"c": 1}}\n', "a.jsonl line 2, column 'b'"),
        ("a.jsonl", b'{"a": 1, "A": 2}\n', "but for capitals"),
    ]:
        with pytest.raises(TableError, match=said):
            open_table([given(name, content)])


def test_missing_files_are_missed_with_their_neighbours():
    given("patients.csv")
    with pytest.raises(TableError, match=r"patient.csv: there is no such file\n  Did you mean 'patients.csv'\?"):
        open_table(["patient.csv"])
    with pytest.raises(TableError, match=r"no file matches '\*.parquet'\n  the folder '.' holds 'patients.csv'"):
        open_table(["*.parquet"])
    with pytest.raises(TableError, match="there is no folder 'nowhere'"):
        open_table(["nowhere/patients.csv"])
    with pytest.raises(TableError, match="this is a folder"):
        open_table(["."])
    with pytest.raises(TableError, match="NUL"):
        open_table(["a\0b"])
    with pytest.raises(TableError, match="no file was named"):
        open_table([])
    with pytest.raises(SettingError, match="parquet"):
        open_table(["patients.csv"], format="parket")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read():
    Path(given("a.csv")).chmod(0)
    with pytest.raises(TableError, match="cannot be read"):
        open_table(["a.csv"])


def test_libsvm_counts_from_one():
    with open_table([given("a.svm", b"# rows\n+1 1:0.5 3:2 # a comment\n\n-1 2:1e3\n")]) as table:
        assert table.names == ("x0", "x1", "x2", "y")
        assert [table.numbers(name).tolist() for name in table.names[:3]] == [[0.5, 0], [0, 1000], [2, 0]]
        assert table.coded("y").levels == ("+1", "-1")
        assert table.place(1) == Place("a.svm", 4)
    for content, said in {
        b"1 1:1\n1 0:1\n": "a.svm line 2: there is an index 0, but LIBSVM files count from 1",
        b"1 1:x\n": "a.svm line 1, column 'x0': 'x' is not a number",
        b"1 1:nan\n": "'nan' is not a number",
        b"1 2:1 2:3\n": "the index 2 stands twice",
        b"1 2\n": "'2' is not of the form index:value",
        b"1:2 2:3\n": "where its label should stand",
        b"1 300000:1\n": "1 rows × 300000 columns wide",
        b"# nothing\n": "holds no row",
    }.items():
        with pytest.raises(TableError, match=said):
            open_table([given("a.svm", content)])


def test_numpy_files():
    X = np.array([[1.0, np.nan], [3.0, 4.0]])
    np.savez("a.npz", X=X, y=np.array(["no", "yes"]))
    with open_table(["a.npz"]) as table:
        assert table.names == ("x0", "x1", "y")
        assert np.array_equal(np.stack([table.numbers("x0"), table.numbers("x1")], 1), X, equal_nan=True)
        assert table.coded("y") == (pytest.approx([0, 1]), ("no", "yes"))
        assert table.place(1) == Place("a.npz row 2", None)
    np.save("a.npy", np.array([[1.0], [np.inf]]))
    with open_table(["a.npy"]) as table, pytest.raises(TableError, match=r"a\.npy row 2, column 'x0': 'inf'"):
        table.numbers("x0")
    np.savez("a.npz", Z=X)
    with pytest.raises(TableError, match="none is named X"):
        open_table(["a.npz"])
    np.save("a.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(TableError, match="no NumPy file of numbers"):
        open_table(["a.npy"])


def test_the_fingerprint_is_that_of_the_rows():
    def fingerprint(*sources, **options):
        with open_table(sources, **options) as table:
            return table.fingerprint()

    first = fingerprint(given("a.csv"))
    assert fingerprint(given("b.csv")) == first
    others = {
        fingerprint(given("c.csv", CSV + b"1,x\n")),
        fingerprint("a.csv", na=["40"]),
        fingerprint("a.csv", where="age > 40"),
        fingerprint("a.csv", sample=2),
        fingerprint("a.csv", sample=2, seed=1),
    }
    assert len({first, *others}) == 6


def test_every_format_is_written():
    with open_table([given("a.csv", b"age,zip,city\n40,007,Bonn\n,123,Aachen\n")]) as table:
        for name in ("csv", "tsv", "json", "jsonl", "parquet"):
            table.write(f"out.{name}", name, {"p": np.array([0.25, 0.1]), "label": ["yes", "no"]})
        with pytest.raises(TableError, match="has a column 'age' already"):
            table.write("no.csv", "csv", {"age": [1, 2]})
        with pytest.raises(SettingError, match=r"format is .*; it must be one of csv"):
            table.write("no.csv", "xls", {})
        with pytest.raises(TableError, match="cannot be written"):
            table.write("nowhere/no.csv", "csv", {})
        with pytest.raises(TableError, match="2 rows"):
            table.write("no.csv", "csv", {"p": [1.0]})
    rows = [
        {"age": 40, "zip": "007", "city": "Bonn", "p": 0.25, "label": "yes"},
        {"age": None, "zip": "123", "city": "Aachen", "p": 0.1, "label": "no"},
    ]
    assert Path("out.csv").read_text() == "age,zip,city,p,label\n40,007,Bonn,0.25,yes\n,123,Aachen,0.1,no\n"
    assert Path("out.tsv").read_text().split("\n")[1] == "40\t007\tBonn\t0.25\tyes"
    assert json.loads(Path("out.json").read_text()) == rows
    assert [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()] == rows
    found = duckdb.connect().execute("FROM 'out.parquet'").fetchall()
    assert found == [tuple(row.values()) for row in rows]
    assert sorted(os.listdir()) == [
        "a.csv",
        *sorted(f"out.{name}" for name in ("csv", "tsv", "json", "jsonl", "parquet")),
    ]


def test_the_nearest_names():
    assert nearest("Tagret", ["sex", "Target", "weight"]) == ("Target",)
    assert nearest("zzz", ["age"]) == ()
    assert did_you_mean("zzz", ["age"]) == ""


def test_how_much_is_read_may_be_asked_while_and_after_it_is(tmp_path):
    path, asked = tmp_path / "t.csv", []
    path.write_text("x,y\n" + "1,a\n2,b\n" * 50)
    with open_table([str(path)], watch=asked.append) as table:
        assert table.rows == 100
        [share] = asked
        assert share() <= 1
    assert share() == -1.0
    path.write_text("x,y\n1,a\n2\n")
    with pytest.raises(TableError):
        open_table([str(path)], watch=asked.append)
    assert asked[1]() == -1.0


def test_a_format_that_is_not_read_is_named(tmp_path):
    path = tmp_path / "t.ARFF"
    path.write_text("@relation t\n@attribute x real\n@data\n1\n")
    with pytest.raises(TableError, match="ARFF files are not read") as told:
        open_table([str(path)])
    assert "@data" in told.value.because
