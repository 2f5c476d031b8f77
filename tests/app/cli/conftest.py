"""Tables for the commands; where the readers of tables are not there yet, small ones that do the same for CSV files."""

import csv
import importlib.util
import json
import sys
import types

import jsonschema
import numpy as np
import pytest

from separatrix.app.cli.running import run
from separatrix.app.cli.schema import published
from separatrix.app.tables.columns import Column, Decision
from separatrix.app.tables.errors import Place, TableError
from separatrix.app.tables.table import Columns


class Opened(Columns):
    """A CSV file in memory that knows its lines."""

    def __init__(self, path):
        try:
            with open(path, encoding="utf-8", newline="") as stream:
                header, *rows = csv.reader(stream)
        except OSError as error:
            raise TableError(f"no such file: {error.strerror}", place=Place(path, None)) from None
        super().__init__({name: [row[j] or None for row in rows] for j, name in enumerate(header)}, path)
        self.path = path

    def place(self, row):
        return Place(self.path, row + 2)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def open_table(sources, **_):
    return Opened(sources[0])


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def decide(table, *, target=None, weights=None, drop=(), category=(), **_):
    found = []
    for name in table.names:
        codes, levels = table.coded(name)
        counts = np.bincount(codes[codes >= 0], minlength=len(levels))
        order = sorted(range(len(levels)), key=lambda j: (-counts[j], levels[j]))
        ranked = {"levels": tuple(levels[j] for j in order), "counts": tuple(int(counts[j]) for j in order)}
        missing = int((codes < 0).sum())
        if name == target:
            found.append(Decision(name, "target", "it was named", missing, len(levels), **ranked))
        elif name == weights or name in drop:
            found.append(Decision(name, "weights" if name == weights else "ignored", "it was named", missing))
        elif name in category or not all(map(_is_number, levels)):
            found.append(Decision(name, "category", "it has levels", missing, len(levels), **ranked))
        else:
            values = table.numbers(name)
            found.append(
                Decision(name, "number", "every value is a number", missing, None, (), (),
                         float(np.nanmin(values)), float(np.nanmax(values)), float(np.nanmean(values)), 0.0)
            )  # fmt: skip
    return tuple(found)


class Encoding:
    def __init__(self, columns):
        self.columns = columns
        self.names = tuple(name for column in columns for name in column.features)

    def matrix(self, table):
        parts = []
        for column in self.columns:
            if column.kind == "number":
                parts.append(table.numbers(column.name)[:, None])
            else:
                codes, levels = table.coded(column.name)
                texts = np.array(levels)[codes]
                parts.append(np.array([[float(text == level) for level in column.levels[1:]] for text in texts]))
        return np.hstack(parts)


def learn_encoding(table, decisions, *, missing="error", standardise=False):
    return Encoding([Column(d.name, d.kind, d.levels) for d in decisions if d.kind in ("number", "category")])


FAKES = {
    "separatrix.app.tables.opening": {"open_table": open_table},
    "separatrix.app.tables.kinds": {"decide": decide},
    "separatrix.app.tables.encoding": {"learn_encoding": learn_encoding},
}


@pytest.fixture(autouse=True)
def readers(monkeypatch):
    for name, content in FAKES.items():
        if importlib.util.find_spec(name) is None:
            fake = types.ModuleType(name)
            fake.__dict__.update(content)
            monkeypatch.setitem(sys.modules, name, fake)


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a CSV file into the folder in which the commands then run."""
    monkeypatch.chdir(tmp_path)

    def written(text, name="data.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return written


@pytest.fixture
def command(capsys):
    """Run a command in this process: status, stdout, stderr."""

    def ran(*tokens):
        status = run(list(tokens))
        out, err = capsys.readouterr()
        return status, out, err

    return ran


@pytest.fixture
def answer(command):
    """Run a command with --json: status and the answer, which its published schema describes."""

    def asked(*tokens):
        status, out, _ = command(*tokens, "--json")
        data = json.loads(out)
        jsonschema.validate(data, published("error" if "error" in data else tokens[0]))
        return status, data

    return asked
