"""Damaged files of every format: a table, or a TableError; never anything else."""

import gzip
import io
import json
import lzma

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from separatrix.app.tables.errors import TableError
from separatrix.app.tables.kinds import decide
from separatrix.app.tables.opening import open_table

CSV = "name;age;city\nx;1,5;Köln\ny;2;\n".encode() + b'"a\nb";3;Bonn\n'
JSON = b"\n".join(json.dumps({"a": k, "b": "xy"[k % 2], "c": k % 2 == 0}).encode() for k in range(4))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    duckdb.connect().execute(f"COPY (SELECT range AS a, 'x' AS b FROM range(9)) TO '{folder}/a.parquet'")
    duckdb.connect().execute(f"COPY (SELECT range AS a, 'x' AS b FROM range(9)) TO '{folder}/a.csv.zst'")
    arrays = io.BytesIO()
    np.savez(arrays, X=np.eye(3), y=np.arange(3))
    return {
        "a.csv": CSV, "a.csv.gz": gzip.compress(CSV), "a.csv.xz": lzma.compress(CSV), "a.jsonl": JSON,
        "a.json": b"[" + JSON.replace(b"\n", b",") + b"]", "a.svm": b"1 1:2 3:4\n-1 2:1.5\n",
        "a.npz": arrays.getvalue(),
        "a.parquet": (folder / "a.parquet").read_bytes(), "a.csv.zst": (folder / "a.csv.zst").read_bytes(),
        "unnamed": CSV,
    }  # fmt: skip


@settings(max_examples=40, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damage_is_a_data_error(tmp_path, files, data):
    name = data.draw(st.sampled_from(sorted(files)))
    content = bytearray(files[name])
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(content)))
        new = data.draw(
            st.one_of(st.binary(max_size=3), st.sampled_from([b'"', b"\n", b"\r", b",", b"\0", b"{", b"\xff"]))
        )
        content[place : place + data.draw(st.integers(0, 9))] = new
    (tmp_path / name).write_bytes(content)
    try:
        with open_table([str(tmp_path / name)]) as table:
            for column in decide(table):
                if column.kind == "number":
                    assert len(table.numbers(column.name)) == table.rows
            assert table.place(table.rows - 1).file.startswith(str(tmp_path / name))
    except TableError:
        return
