"""The law of exports: from the same cells the same label, scores and probabilities; no answer where there is none."""

import numpy as np
import pytest
from rarely import some_of

from separatrix.app.tables.table import Columns

from .cases import LEARNERS, STRANGE, adult, german, learnt, strange, titanic
from .engines import in_a_sheet, in_c, in_duckdb, in_onnx, in_postgres, in_python, in_sqlite, postgres, titles_of

ENGINES = {"python": in_python, "duckdb": in_duckdb, "sqlite": in_sqlite, "onnx": in_onnx, "c": in_c}


@pytest.fixture(scope="module")
def server():
    with postgres() as where:
        yield where


def said(model, row, unseen):
    """What the model itself says of one row: label, numbers, Σ|wx|; None where it refuses."""
    try:
        if model.encoding is None:
            X = np.array([[np.nan if row[name] is None else row[name] for name in model.columns]], float)
        else:
            X = model.encoding.matrix(Columns({name: [cell] for name, cell in row.items()}), unseen)
        scores = np.ravel(model.scores(X)[0])
    except ValueError:
        return None
    p = model.probabilities(X)
    made = X if model.feature_map is None else model.feature_map.expand(X)
    if model.rule.kind == "naive bayes":
        return model.labels(X)[0].item(), [*scores, *p[0]], size_of_sums(model.rule.to_dict(), X)
    linear = model.rule.linear()
    size = np.abs(scores).max() if linear is None else (np.abs(made) @ np.abs(np.atleast_2d(linear.weights)).T).max()
    return model.labels(X)[0].item(), [*scores, *(() if p is None else p[0])], 1 + float(size)


def size_of_sums(rule, X):
    a, q, c = (np.abs(rule[name]) for name in ("linear", "square", "constant"))
    z = np.nan_to_num(X - rule["centre"])
    return 1 + float((np.abs(z) @ a.T + z**2 @ q.T + c.sum(axis=1)).max())


def is_empty(value):
    return value is None or value == "" or value != value


def check(model, rows, found, unseen="error", empty=True):
    titles, refused = titles_of(model), 0
    assert len(found) == len(rows)
    for row, answer in zip(rows, found, strict=True):
        own = said(model, row, unseen)
        assert set(answer) == {"label", *titles}
        if own is None:
            assert all(map(is_empty, answer.values())), (row, answer)
            refused += 1
            continue
        label, numbers, size = own
        assert not any(map(is_empty, answer.values())), (row, answer)
        for title, number in zip(titles, numbers, strict=True):
            assert abs(answer[title] - number) <= 1e-12 * size, (row, title, answer[title], number)
        told = answer["label"]
        booleans = {"t": True, "f": False, 1: True, 0: False, "True": True, "False": False}
        if isinstance(label, bool):
            told = booleans[told]
        assert told == label or (not isinstance(label, str) and float(told) == label), (row, answer, label)
    assert (refused > 0) == empty
    return refused


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("kind", "unseen"),
    some_of([(kind, ("error", "reference")[(i + k) % 2]) for k, kind in enumerate(STRANGE) for i in (0, 1)], 2),
)
def test_a_table_that_breaks_what_is_not_quoted(kind, unseen, engine):
    model, rows = strange(kind)
    rows = rows if engine != "onnx" else [row for row in rows if "" not in row.values()]
    found = ENGINES[engine](model, rows, unseen=unseen)
    refused = check(model, rows, found, unseen)
    assert refused < len(rows) / 2


@pytest.mark.parametrize(("name", "engine"), some_of([(name, engine) for name in LEARNERS for engine in ENGINES], 3))
def test_every_rule_that_can_be_exported(name, engine):
    model, rows = learnt(name)
    check(model, rows, ENGINES[engine](model, rows))


def refuses(model, rows):
    return any(said(model, row, "error") is None for row in rows)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("table", [adult, titanic, german], ids=["adult", "titanic", "german"])
def test_real_tables(table, engine):
    model, rows = table()
    check(model, rows, ENGINES[engine](model, rows), empty=refuses(model, rows))


@pytest.mark.parametrize("kind", STRANGE)
def test_postgresql_and_strange_tables(kind, server):
    model, rows = strange(kind)
    check(model, rows, in_postgres(server, model, rows))
    check(model, rows, in_postgres(server, model, rows, unseen="reference"), "reference")


@pytest.mark.parametrize(
    "name",
    [
        "three",
        "separated",
        "quasi-separated",
        "many features",
        "gaussians",
        "true and false",
        "naive Bayes of counts",
        "naive Bayes of bits",
        "one for each",
        "naive Bayes",
    ],
)
def test_postgresql_and_rules(name, server):
    model, rows = learnt(name)
    check(model, rows, in_postgres(server, model, rows))


@pytest.mark.parametrize("table", [adult, titanic, german], ids=["adult", "titanic", "german"])
def test_postgresql_and_real_tables(table, server):
    model, rows = table()
    check(model, rows, in_postgres(server, model, rows), empty=refuses(model, rows))


@pytest.mark.parametrize("kind", STRANGE)
def test_sheets_and_strange_tables(kind):
    model, rows = strange(kind)
    rows = [row for row in rows if not {np.inf, -np.inf, ""} & set(row.values())]  # no cell of a sheet holds these
    rows = [*rows[:8], *rows[60::2]]
    unseen = "reference" if kind in ("prior", "raw units") else "error"
    check(model, rows, in_a_sheet(model, rows, unseen=unseen), unseen)


@pytest.mark.parametrize(
    "name",
    [
        "three",
        "separated",
        "quasi-separated",
        "polynomial",
        "many features",
        "perceptron",
        "naive Bayes of counts",
        "naive Bayes of bits",
        "one for each",
        "naive Bayes above",
    ],
)
def test_sheets_and_rules(name):
    model, rows = learnt(name)
    rows = [row for row in rows if np.inf not in row.values()]
    rows = [*rows[:6], *rows[-3:]]
    check(model, rows, in_a_sheet(model, rows), empty=refuses(model, rows))


@pytest.mark.parametrize("table", [adult, titanic, german], ids=["adult", "titanic", "german"])
def test_sheets_and_real_tables(table):
    model, rows = table()
    rows = rows[-12:]
    check(model, rows, in_a_sheet(model, rows), empty=refuses(model, rows))
