"""`where` and `sample` choose rows, and do nothing else."""

from pathlib import Path

import duckdb
import numpy as np
import pytest

from separatrix.app.tables.errors import TableError
from separatrix.app.tables.opening import open_table
from separatrix.errors import SettingError

ROWS = 3_000


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{k},{k % 5},{'ab'[k % 2]},{k / 7},{'' if k % 10 == 0 else 'x'}" for k in range(ROWS)]
    Path("t.csv").write_text("\n".join(["id,few,city,x 1,gap", *lines]))
    Path("secret.csv").write_text("id\n1\n")
    return "t.csv"


@pytest.mark.parametrize(
    ("where", "keeps"),
    [
        ("few >= 3", lambda k: k % 5 >= 3),
        ("city = 'a' AND id < 100", lambda k: k % 2 == 0 and k < 100),
        ("city = 'nowhere' OR id = 7 -- a comment", lambda k: k == 7),
        ('"x 1" > 100 AND few + 1 = 2', lambda k: k / 7 > 100 and k % 5 == 1),
        ("gap IS NULL", lambda k: k % 10 == 0),
        ("ID IN (1, 2, 3)", lambda k: k in (1, 2, 3)),
        ("id IN (SELECT 5)", lambda k: k == 5),
    ],
)
def test_where_keeps_the_rows_it_names_and_their_lines(data, where, keeps):
    kept = [k for k in range(ROWS) if keeps(k)]
    with open_table([data], where=where) as table:
        assert table.numbers("id").tolist() == kept
        assert np.allclose(table.numbers("x 1"), np.array(kept) / 7, rtol=1e-15)
        assert table.place(len(kept) - 1).line == kept[-1] + 2
        assert set(table.coded("few").levels) == {str(k % 5) for k in kept}


@pytest.mark.parametrize(
    "where",
    [
        "id = 1; DROP TABLE data",
        "id = 1; COPY (SELECT 1) TO 'out.csv'",
        "id = 1) UNION SELECT 1 WHERE (true",
        "true) OR (true",
        "id = 1 FROM data",
        "id IN (SELECT id FROM read_csv('secret.csv'))",
        "id IN (SELECT id FROM 'secret.csv')",
        "id IN (FROM 'secret.csv')",
        "id IN (SELECT 1 FROM glob('*'))",
        "'1' IN (SELECT content FROM read_text('secret.csv'))",
        "id IN (SELECT 1 FROM query('SELECT 1; SELECT 2'))",
        "id IN (SELECT 1 FROM read_text('http://localhost/x'))",
        "id IN (SELECT * FROM table_that_is_not)",
        "SET enable_external_access = true",
        "ATTACH 'x.db'",
        "",
        "id >",
        "*",
        "id AS x",
        "sum(id) > 1",
        "city > 3",
        "no_such_function(id)",
    ],
)
def test_where_can_do_nothing_else(data, where):
    before = sorted(Path().iterdir())
    with pytest.raises(TableError, match=r"^where ['\"]"):
        open_table([data], where=where)
    assert sorted(Path().iterdir()) == before


def test_a_python_variable_is_not_a_table(data):
    rows = duckdb.connect()  # noqa: F841  the SQL below must not find it
    with pytest.raises(TableError):
        open_table([data], where="id IN (SELECT * FROM rows)")


def test_an_unknown_column_and_an_empty_choice(data):
    with pytest.raises(TableError, match=r"there is no column 'citty'\n  Did you mean 'city'\?"):
        open_table([data], where="citty = 'a'")
    with pytest.raises(TableError, match="no row is left"):
        open_table([data], where="few > 10")
    Path("t.csv").write_text("a,A\n1,2\n")
    with pytest.raises(TableError, match="differs in capitals only"):
        open_table([data], where="a > 1")


def test_a_sample_is_drawn_by_its_seed(data):
    def ids(**options):
        with open_table([data], **options) as table:
            assert [table.place(row).line for row in (0, 9)] == [table.numbers("id")[row] + 2 for row in (0, 9)]
            return table.numbers("id").tolist()

    first = ids(sample=10, seed=1)
    assert first == sorted(set(first))
    assert len(first) == 10
    assert ids(sample=10, seed=1) == first
    assert ids(sample=10, seed=2) != first
    assert ids(sample=10**9) == list(range(ROWS))
    assert all(k % 2 == 0 for k in ids(sample=10, where="city = 'a'"))
    with pytest.raises(SettingError, match="at least 1"):
        open_table([data], sample=0)
