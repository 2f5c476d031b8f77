"""What runs exports: interpreters, databases, a compiler, a formula engine; each gives {title: value} of every row."""

import csv
import io
import math
import os
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from separatrix.app.exports.building import program_of
from separatrix.app.exports.export import export
from separatrix.app.tables.columns import Column


def columns_of(model):
    return model.encoding.columns if model.encoding else tuple(Column(name, "number") for name in model.columns)


def titles_of(model, probabilities=True):
    program = program_of(model, probabilities=probabilities)
    return [*program.score_titles, *program.probability_titles]


# ------------------------------------------------------------------------------------------------------------- Python


def in_python(model, rows, **options):
    space = {}
    exec(export(model, "python", **options), space)
    return [space["predict"](row) for row in rows]


# ---------------------------------------------------------------------------------------------------------- databases


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def table_of(model, rows, kinds):
    columns = columns_of(model)
    fields = ", ".join(f"{quoted(c.name)} {kinds[c.kind]}" for c in columns)
    cells = [[row[c.name] for c in columns] for row in rows]
    return f"CREATE TABLE data (nr INTEGER, {fields})", [[i, *line] for i, line in enumerate(cells)]


def in_duckdb(model, rows, **options):
    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect(":memory:", config={"threads": 1})
    query = export(model, "sql", keep=["nr"], **options)
    return _asked(database, model, rows, query, {"number": "DOUBLE", "category": "VARCHAR"})


def in_sqlite(model, rows, **options):
    database = sqlite3.connect(":memory:")
    try:
        database.execute("SELECT exp(1)")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite was built without mathematical functions")
    query = export(model, "sql", dialect="sqlite", keep=["nr"], **options)
    return _asked(database, model, rows, query, {"number": "REAL", "category": "TEXT COLLATE NOCASE"})


def _asked(database, model, rows, query, kinds):
    create, cells = table_of(model, rows, kinds)
    database.execute(create)
    database.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(cells[0]))})", cells)
    answer = database.execute(query)
    titles = [each[0] for each in answer.description]
    found = sorted(answer.fetchall())
    database.close()
    assert titles[0] == "nr"
    assert [line[0] for line in found] == list(range(len(rows)))
    return [dict(zip(titles[1:], line[1:], strict=True)) for line in found]


NO_SERVER = "no PostgreSQL server binary is installed"


@contextmanager
def postgres():
    """A private server in a temporary folder, which knows one socket and no network."""
    homes = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    binary = Path(shutil.which("initdb") or (homes[-1] if homes else "/nowhere"))
    if not binary.exists() or not shutil.which("psql"):
        pytest.skip(NO_SERVER)
    who = {}
    folder = tempfile.mkdtemp(prefix="pg")
    if os.getuid() == 0:  # the server does not run as root
        user = pwd.getpwnam("nobody")
        who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        os.chown(folder, user.pw_uid, user.pw_gid)
    data = f"{folder}/data"
    quiet = {"capture_output": True, "cwd": folder, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}}
    try:
        made = subprocess.run(
            [binary, "-D", data, "-U", "me", "-A", "trust", "-E", "UTF8", "--no-sync"], check=False, **quiet, **who
        )
        if made.returncode:
            pytest.skip(f"a PostgreSQL server cannot be set up here: {made.stderr.decode()[-200:]}")
        settings = f"-k {folder} -c listen_addresses='' -c fsync=off -c shared_buffers=8MB"
        control = [binary.parent / "pg_ctl", "-D", data, "-w"]
        nothing = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}  # the server would keep a pipe open
        start = [*control, "-o", settings, "-l", f"{folder}/log", "start"]
        subprocess.run(start, check=True, cwd=folder, env=quiet["env"], **nothing, **who)
        try:
            yield folder
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, **quiet, **who)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def psql(server, script):
    where = ["-h", server, "-U", "me", "-d", "postgres"]
    done = subprocess.run(
        ["psql", *where, "-q", "--csv", "-v", "ON_ERROR_STOP=1", "-P", "null=<NULL>"],
        input=script.encode(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return list(csv.reader(io.StringIO(done.stdout.decode(), newline="")))


def in_postgres(server, model, rows, **options):
    create, cells = table_of(model, rows, {"number": "DOUBLE PRECISION", "category": "TEXT"})
    values = ",\n".join(f"({', '.join(map(_pg, line))})" for line in cells)
    query = export(model, "sql", dialect="postgresql", keep=["nr"], **options)
    script = f"BEGIN; {create}; INSERT INTO data VALUES {values};\n{query} ORDER BY 1; ROLLBACK;"
    titles, *lines = psql(server, script)
    numbers = set(titles_of(model, options.get("probabilities", True)))
    return [
        {
            t: None if v == "<NULL>" else float(v) if t in numbers else v
            for t, v in zip(titles[1:], line[1:], strict=True)
        }
        for line in lines
    ]


def _pg(cell):
    if cell is None:
        return "NULL"
    if isinstance(cell, str):
        return "'" + cell.replace("'", "''") + "'"
    return f"'{cell!r}'"


# --------------------------------------------------------------------------------------------------------------- ONNX


def in_onnx(model, rows, **options):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(export(model, "onnx", **options), providers=["CPUExecutionProvider"])
    cells = {}
    for c in columns_of(model):
        column = [row[c.name] for row in rows]
        cells[c.name] = (
            np.array([["" if x is None else x] for x in column], object) if c.kind == "category"
            else np.array([[math.nan if x is None else x] for x in column], np.float64)
        )  # fmt: skip
    assert [each.name for each in session.get_inputs()] == [c.name for c in columns_of(model)]
    answer = dict(zip([each.name for each in session.get_outputs()], session.run(None, cells), strict=True))
    assert all(answer[name].dtype == np.float64 for name in answer if name != "label")
    numbers = np.column_stack([answer[name] for name in ("scores", "probabilities") if name in answer])
    titles = titles_of(model, options.get("probabilities", True))
    return [{"label": label, **dict(zip(titles, line, strict=True))}
            for label, line in zip(answer["label"].tolist(), numbers.tolist(), strict=True)]  # fmt: skip


# ------------------------------------------------------------------------------------------------------------------ C


def in_c(model, rows, **options):
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler is installed")
    titles = titles_of(model, options.get("probabilities", True))
    K = len(model.classes)
    S = 1 if K == 2 else K
    P = len(titles) - S
    lines = ",\n".join("{" + ", ".join(map(_c, columns_of(model), (row[c.name] for c in columns_of(model)))) + "}"
                       for row in rows)  # fmt: skip
    main = f"""#include "model.c"
#include <stdio.h>
static const predict_row rows[] = {{{lines}}};
int main(void) {{
    double s[{S}], p[{max(P, 1)}];
    for (int i = 0; i < {len(rows)}; i++) {{
        int place = predict(&rows[i], s, p);
        printf("%d", place);
        for (int k = 0; k < {S}; k++) printf(" %a", s[k]);
        for (int k = 0; k < {P}; k++) printf(" %a", p[k]);
        printf("\\n");
    }}
    for (int k = 0; k < {K}; k++) {{ fputs(predict_labels[k], stdout); putchar(0); }}
    return 0;
}}
"""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.c").write_text(export(model, "c", **options), encoding="utf-8")
        Path(folder, "main.c").write_text(main, encoding="ascii")
        flags = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1"]
        subprocess.run(["gcc", *flags, "main.c", "-o", "main", "-lm"], cwd=folder, check=True)
        out = subprocess.run([f"{folder}/main"], check=True, capture_output=True).stdout.decode()
    *said, names = out.split("\n", len(rows))
    labels = names.split("\0")[:-1]
    assert labels == [str(each) for each in model.classes]
    found = []
    for line in said:
        place, *numbers = line.split()
        label = None if int(place) < 0 else labels[int(place)]
        found.append({"label": label, **dict(zip(titles, map(_float, numbers), strict=True))})
    return found


def _float(text):
    return math.nan if "nan" in text else float.fromhex(text)


def _c(column, cell):
    if column.kind == "category":
        return "NULL" if cell is None else '"' + "".join(f"\\{byte:03o}" for byte in cell.encode()) + '"'
    return (
        "NAN" if cell is None or cell != cell else ("-" * (cell < 0) + "INFINITY" if math.isinf(cell) else repr(cell))
    )


# -------------------------------------------------------------------------------------------------------- spreadsheets


def in_a_sheet(model, rows, **options):
    formulas = pytest.importorskip("formulas")
    names = [c.name for c in columns_of(model)]
    text = export(model, "spreadsheet", row=2, **options)
    titles, cells = (line.split("\t") for line in text.rstrip("\n").split("\n"))
    assert len(titles) == len(cells)
    assert max(map(len, cells)) <= 8192
    at = [f"{_letters(len(names) + k)}2" for k in range(len(cells))]
    made = {}
    for where, formula in zip(at, cells, strict=True):
        made[where] = formulas.Parser().ast(formula)[1].compile()
    given = [f"{_letters(k)}2" for k in range(len(names))]
    wanted = titles_of(model, options.get("probabilities", True))
    assert titles[1 : len(wanted) + 1] == [" ".join(each.split()) for each in wanted]
    found = []
    for row in rows:
        known = {where: "" if row[name] is None else row[name] for where, name in zip(given, names, strict=True)}
        values = [_cell(known, made, where) for where in at[: len(wanted) + 1]]
        found.append(dict(zip(["label", *wanted], values, strict=True)))
    return found


def _cell(known, made, where):
    if where not in known:
        function = made[where]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = function(*(_cell(known, made, each) for each in function.inputs))
        known[where] = (
            value if isinstance(value, str) else np.asarray(value).item()
        )  # an error is a text of its own kind
    return known[where]


def _letters(k):
    return (chr(64 + k // 26) if k >= 26 else "") + chr(65 + k % 26)
