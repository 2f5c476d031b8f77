"""What exports refuse, what they say about themselves, and that one which is wrong is never given."""

import json
import math
import random
import re
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

import separatrix
from separatrix import (
    KernelPerceptron,
    LogisticRegression,
    NaiveBayes,
    OneVsOne,
    OneVsRest,
    OnlinePerceptron,
    OnlineToBatch,
    PoissonNaiveBayes,
    VotedPerceptron,
)
from separatrix.app.exports import checking
from separatrix.app.exports import export as home
from separatrix.app.exports.building import program_of
from separatrix.app.exports.c import c_text
from separatrix.app.exports.checking import trial_rows
from separatrix.app.exports.program import CannotExportError, in_two
from separatrix.app.exports.spreadsheet import letters, text_literal
from separatrix.app.exports.sql import DIALECTS, literal
from separatrix.app.models.from_learner import model_of
from separatrix.app.models.model import Model
from separatrix.app.models.rules import Linear
from separatrix.app.tables.columns import Column
from separatrix.app.tables.encoding import Encoding
from separatrix.app.tables.table import Columns
from separatrix.families import Categorical, Gaussian
from separatrix.results.linear_rule import LinearRule

from .cases import THREE, TWO, X, learnt, strange
from .engines import in_a_sheet, in_c, in_duckdb, in_onnx, in_postgres, in_python, in_sqlite, postgres, psql

export = separatrix.export
ENGINES = {
    "python": in_python,
    "duckdb": in_duckdb,
    "sqlite": in_sqlite,
    "onnx": in_onnx,
    "c": in_c,
    "sheet": in_a_sheet,
}


@pytest.fixture(scope="module")
def server():
    with postgres() as where:
        yield where


def made(weights, intercept, classes, columns, encoding=None, likely=True):
    """A model of these weights."""
    rule = LinearRule(np.asarray(weights, float), intercept, classes, columns, likely)
    return Model("LogisticRegression", {}, classes, columns, Linear(rule, likely), encoding=encoding)


TWO_ENDS = made([1.0], 0.0, ("no", "yes"), ("x",))
THREE_ENDS = made([[1.0], [-1.0], [0.5]], np.zeros(3), ("a", "b", "c"), ("x",))
FAR = [{"x": x} for x in (-1e5, -1000.0, -745.2, -30.0, 0.0, 1e-300, 30.0, 720.0, 1000.0, 1e5)]


# -------------------------------------------------------------------------------------------------------- no overflow


@pytest.mark.parametrize("engine", [*ENGINES, "postgresql"])
def test_probabilities_do_not_overflow(engine, request):
    for model in (TWO_ENDS, THREE_ENDS):
        found = (
            in_postgres(request.getfixturevalue("server"), model, FAR) if engine == "postgresql"
            else ENGINES[engine](model, FAR)
        )  # fmt: skip
        P = model.probabilities(np.array([[row["x"]] for row in FAR]))
        for answer, p in zip(found, P, strict=True):
            told = [answer[f"probability of {label}"] for label in model.classes]
            assert np.allclose(told, p, rtol=0, atol=1e-14)
            assert math.isclose(sum(told), 1, abs_tol=1e-14)


@pytest.mark.parametrize("engine", ["python", "duckdb", "sqlite", "onnx", "c"])
def test_a_score_that_overflows_is_no_answer(engine):
    model = made([1e300, 1.0], 0.0, ("no", "yes"), ("x", "y"))
    rows = [{"x": 1e300, "y": 0.0}, {"x": 1.0, "y": 0.0}]
    lost, there = ENGINES[engine](model, rows)
    assert all(value is None or value == "" or value != value for value in lost.values())
    assert there["label"] == "yes"
    assert there["score"] == 1e300


# ------------------------------------------------------------------------------------------------------------ numbers

RANDOM = random.Random(0)
NUMBERS = [RANDOM.gauss(0, 1) for _ in range(3000)] + [
    RANDOM.uniform(0, 1) * 10.0 ** RANDOM.randint(-15, 15) for _ in range(3000)]  # fmt: skip
NUMBERS = [abs(x) for x in NUMBERS] + [
    0.1,
    1 / 3,
    5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    0.0,
    2.0**53,
]


def test_two_parts_make_the_number():
    for x in NUMBERS[:-7]:
        high, low = in_two(x)
        assert high + low == x
        assert float(f"{high:.15g}") == high


def test_duckdb_reads_the_same_bits():
    duckdb = pytest.importorskip("duckdb")
    for lo in range(0, len(NUMBERS), 1000):
        few = NUMBERS[lo : lo + 1000]
        read = duckdb.connect().execute("SELECT " + ", ".join(map(DIALECTS["duckdb"].number, few))).fetchone()
        assert all(isinstance(x, float) for x in read)  # no DECIMAL
        assert list(read) == few


def test_sqlite_reads_the_same_bits():
    database = sqlite3.connect(":memory:")
    usual = [x for x in NUMBERS if 1e-15 < x < 1e15]
    assert [database.execute(f"SELECT {DIALECTS['sqlite'].number(x)}").fetchone()[0] for x in usual] == usual


def test_postgresql_reads_the_same_bits(server):
    few = NUMBERS[-1500:]
    script = "SELECT x FROM (VALUES " + ", ".join(f"({DIALECTS['postgresql'].number(x)})" for x in few) + ") AS t (x)"
    assert [float(line[0]) for line in psql(server, script)[1:]] == few


# ------------------------------------------------------------------------------------------------------- what is said


def test_every_export_says_where_it_gives_no_answer_on_purpose():
    model, _ = strange("two classes")
    for to in ("python", "sql", "c", "spreadsheet"):
        text = export(model, to)
        assert "refuse" in text, to
        assert ("no training row had" in text) or to == "spreadsheet"
        assert "no training row had" not in export(model, to, unseen="reference")
    assert export(model, "sql").count("agree with the model") == 1
    assert "was not run" in export(model, "c")
    assert "was not run" in export(model, "sql", dialect="postgresql")


def test_metadata_of_onnx():
    onnx = pytest.importorskip("onnx")
    model, _ = learnt("three")
    graph = onnx.load_from_string(export(model, "onnx"))
    onnx.checker.check_model(graph, full_check=True)
    told = {each.key: each.value for each in graph.metadata_props}
    assert told["format"] == "separatrix-export 1"
    assert json.loads(told["classes"]) == [0, 1, 2]
    assert "Optimal" in told["about"]
    assert "agree" in told["checked"]
    assert {(each.domain, each.version) for each in graph.opset_import} == {("", 17), ("ai.onnx.ml", 3)}
    kinds = {each.type.tensor_type.elem_type for each in graph.graph.input}
    assert kinds == {onnx.TensorProto.DOUBLE}


@pytest.mark.parametrize("to", ["onnx", "sql", "python", "c", "spreadsheet"])
def test_the_same_model_is_the_same_bytes(to):
    model, _ = strange("three classes")
    assert export(model, to) == export(model, to)


def test_a_learner_can_be_exported_itself():
    learner = LogisticRegression().fit(X, TWO)
    assert export(learner, "python") == export(home._model(learner), "python")


def test_without_probabilities_no_function_is_needed():
    model, rows = strange("three classes")
    query = export(model, "sql", dialect="sqlite", probabilities=False)
    assert "exp(" not in query.split("WITH", 1)[1]
    assert "probability" not in query
    found = in_python(model, rows[:3], probabilities=False)
    assert set(found[0]) == {"label", "score of 0", "score of 1", "score of 2"}


def test_python_reads_texts_that_are_numbers_as_tables_do_and_no_others():
    space = {}
    exec(export(TWO_ENDS, "python", name="score"), space)
    assert space["score"]({"x": "2.5"})["score"] == 2.5
    assert space["score"]({"x": "many"})["score"] is None
    assert space["score"]({"x": 10**400})["score"] is None
    with pytest.raises(ValueError, match="is not a number"):
        Columns({"x": [10**400]}).numbers("x")
    with pytest.raises(KeyError):
        space["score"]({"y": 1.0})


def test_sqlite_takes_no_text_for_a_number():
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE data (x)")
    database.executemany("INSERT INTO data VALUES (?)", [["12 apples"], ["3"], [3]])
    query = export(TWO_ENDS, "sql", dialect="sqlite", probabilities=False)
    assert [line[2] for line in database.execute(query)] == [None, None, 3.0]


def test_names_of_the_table_hide_none_of_ours_and_keep_what_is_asked():
    columns = ("s_x1", "S_step0", "x")
    model = made([1.0, 2.0, 3.0], 0.5, ("no", "yes"), columns)
    row = dict.fromkeys(columns, 1.0)
    assert in_duckdb(model, [row])[0]["score"] == 6.5
    assert in_sqlite(model, [row])[0]["score"] == 6.5
    assert export(model, "sql", keep=["x"], prefix="my ").count('AS "my label"') == 1


def test_letters_and_texts_of_a_sheet():
    assert [letters(k) for k in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]
    assert text_literal('a"b\n') == '"a""b"&CHAR(10)'
    assert text_literal("") == '""'
    assert max(map(len, text_literal("y" * 1000).split("&"))) <= 255


def test_a_sheet_takes_its_columns_from_a_header():
    model, _ = learnt("two")
    formulas = export(model, "spreadsheet", header=["id", "x2", "x1", "x0"], row=7).split("\n")[1].split("\t")
    assert any(each.startswith('=IF(D7=""') for each in formulas)
    assert not any("A7" in each for each in formulas)


def test_many_columns_levels_and_classes():
    d, K = 120, 130
    rng = np.random.default_rng(0)
    columns = tuple(f"c{j}" for j in range(d))
    wide = made(rng.normal(size=d), 0.3, ("no", "yes"), columns)
    rows = [dict(zip(columns, rng.normal(size=d).tolist(), strict=True)) for _ in range(3)]
    many = made(rng.normal(size=(K, 1)), rng.normal(size=K), tuple(range(K)), ("x",))
    long = Encoding((Column("t", "category", tuple(f"level {k}" for k in range(140))),))
    levels = made(rng.normal(size=139), 0.1, ("no", "yes"), long.names, long)
    for engine in ("python", "duckdb", "sqlite", "onnx", "c"):
        for model, asked in ((wide, rows), (many, FAR[3:7]), (levels, [{"t": "level 77"}, {"t": "level 0"}])):
            scores = [name for name in ENGINES[engine](model, asked)[0] if name.startswith("score")]
            assert len(scores) == (K if model is many else 1)
    assert "label" in in_a_sheet(levels, [{"t": "level 77"}])[0]


# ---------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("to", ["python", "onnx"])
@pytest.mark.parametrize(
    ("learner", "y", "kind"),
    [
        (KernelPerceptron("rbf", max_passes=3), TWO, "kernel"),
        (VotedPerceptron(max_passes=3), TWO, "voted"),
        (OnlineToBatch(OnlinePerceptron()), TWO, "voted"),
        (OnlineToBatch(LogisticRegression(solver="stochastic", learning_rate=0.1)), TWO, "committee"),
        (NaiveBayes(families={0: Categorical(), ...: Gaussian()}), TWO, "naive bayes"),
        (OneVsOne(LogisticRegression(l2=0.1)), THREE, "coded"),
        (OneVsRest(LogisticRegression(l2=0.1), classifiers="K-1"), THREE, "coded"),
        (OneVsRest(LogisticRegression(l2=0.1), probabilities="coupling"), THREE, "coded"),
        (OneVsRest(KernelPerceptron("rbf", max_passes=3)), THREE, "coded"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_rules_without_a_formula_are_refused_by_name(learner, y, kind, to):
    with pytest.raises(CannotExportError, match=rf"{type(learner).__name__} has a rule of kind '{kind}', which cannot"):
        export(learner.fit(X, y), to)


def test_counts_that_are_centred_are_refused():
    encoding = Encoding((Column("n", "number", center=1.0, scale=2.0),))
    model = model_of(PoissonNaiveBayes().fit([[0.0], [1.0], [2.0], [1.0]], [0, 1, 1, 0]), encoding=encoding)
    with pytest.raises(CannotExportError, match="The column 'n' is centred, scaled or filled, and its family knows"):
        export(model, "python")


@pytest.mark.parametrize(
    ("to", "options", "error", "said"),
    [
        ("excel", {}, ValueError, "to is 'excel'; it must be one of 'onnx', 'sql', 'python', 'c', 'spreadsheet'"),
        ("sql", {"dialect": "oracle"}, ValueError, "dialect is 'oracle'; it must be one of duckdb, postgresql, sqlite"),
        ("sql", {"name": "f"}, TypeError, "'sql' has no option 'name'; it has dialect, keep, prefix, table"),
        ("sql", {"unseen": "drop"}, ValueError, "unseen is 'drop'; it must be"),
        ("python", {"name": "class"}, ValueError, "name is 'class'; it must be a name that a Python function"),
        ("c", {"name": "main"}, ValueError, "name is 'main'; it must be a name that a C function"),
        ("c", {"name": "é"}, ValueError, "name is 'é'; it must be"),
        ("c", {"name": "NULL"}, ValueError, "name is 'NULL'; it must be"),
        ("c", {"name": "log"}, ValueError, "name is 'log'; it must be"),
        ("c", {"name": "sinf"}, ValueError, "name is 'sinf'; it must be"),
        ("c", {"name": "strange"}, ValueError, "name is 'strange'; it must be"),
        ("python", {"name": "ﬁt"}, ValueError, "name is 'ﬁt'; it must be"),
        ("python", {"name": "__debug__"}, ValueError, "name is '__debug__'; it must be"),
        ("sql", {"table": ""}, ValueError, "table is ''; it must be the name of a table"),
        ("sql", {"table": "\ud800"}, ValueError, "table has '.ud800'; texts without"),
        ("sql", {"keep": ["a", 5]}, ValueError, "keep has 5; texts without"),
        (
            "sql",
            {"table": "y" * 64, "dialect": "postgresql"},
            ValueError,
            "it must be the name of a table, of up to 63",
        ),
        ("spreadsheet", {"prefix": "="}, ValueError, "prefix is '='; a title that begins so"),
        ("spreadsheet", {"header": ["a"]}, ValueError, "header lacks the column 'x0'"),
        ("spreadsheet", {"row": 0}, ValueError, "row is 0; it must be"),
        ("sql", {"keep": ["Label"]}, ValueError, "Two columns of the answer would be named 'label'"),
        ("sql", {"keep": [""]}, ValueError, "A column has an empty name"),
        ("sql", {"keep": ["y" * 64], "dialect": "postgresql"}, ValueError, "has more than 63 bytes"),
    ],
)
def test_options_that_cannot_be(to, options, error, said):
    model, _ = learnt("two")
    with pytest.raises(error, match=said.replace("(", r"\(")):
        export(model, to, **options)


def test_what_a_target_has_no_room_for():
    with pytest.raises(CannotExportError, match="A column and an output are both named 'scores'"):
        export(made([1.0], 0.0, ("no", "yes"), ("scores",)), "onnx")
    assert export(made([1.0], 0.0, ("no", "yes"), ("scores",)), "onnx", prefix="my ")
    with pytest.raises(CannotExportError, match="is a whole number that no double holds"):
        export(made([1.0], 0.0, (1, 2**60), ("x",)), "onnx")
    many = made(np.ones((60, 1)), np.zeros(60), tuple(range(60)), ("x",))
    with pytest.raises(CannotExportError, match="The model has 60 classes"):
        export(many, "spreadsheet")
    long = Encoding((Column("t", "category", tuple(map(str, range(200)))),))
    with pytest.raises(CannotExportError, match="The column 't' has 200 levels; up to 150"):
        export(made(np.ones(199), 0.0, ("no", "yes"), long.names, long), "spreadsheet")
    wide = tuple(f"c{j}" for j in range(1600))
    with pytest.raises(CannotExportError, match="intermediate columns, and a query has room for 1500"):
        export(made(np.ones(1600), 0.0, ("no", "yes"), wide), "sql")
    for text in ("a\0b", "half \ud800"):
        with pytest.raises(CannotExportError, match="holds a sign that neither C nor"):
            export(made([1.0], 0.0, ("no", text), ("x",)), "python")


@pytest.mark.parametrize(
    ("dialect", "columns"),
    [("duckdb", ("Age", "age")), ("sqlite", ("Age", "age")), ("postgresql", ("y" * 63 + "a", "y" * 63 + "b"))],
)
def test_columns_that_a_database_would_read_as_one_are_refused(dialect, columns):
    twins = made([1.0, 2.0], 0.0, ("no", "yes"), columns)
    with pytest.raises(CannotExportError, match="would read one for both"):
        export(twins, "sql", dialect=dialect, keep=["id"])
    other = {"postgresql": ("Age", "age")}.get(dialect, ("Ü", "ü"))  # which these tell apart
    assert home.exported(made([1.0, 2.0], 0.0, ("no", "yes"), other), "sql", dialect=dialect, keep=["id"]).content


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_table_may_be_named_as_our_steps_are(dialect):
    assert home.exported(TWO_ENDS, "sql", dialect=dialect, table="S_step0", probabilities=False).rows > 0


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_query_that_the_database_refuses_is_not_given(dialect, monkeypatch):
    broken = home.TARGETS["sql"]._replace(write=lambda *_, **__: "SELECT 1 FROM nowhere")
    monkeypatch.setitem(home.TARGETS, "sql", broken)
    with pytest.raises(CannotExportError, match=r"cannot run the query, so it is not given: .*nowhere"):
        export(TWO_ENDS, "sql", dialect=dialect)


FIELDS = ("NULL", "NAN", "INFINITY", "HUGE_VAL", "M_PI", "bool", "true", "asm", "typeof", "linux", "log", "isnan", "x1",
          "missing1", "row", "column_1", "predict_row", "EOF", "BMI", "???/", "a???/*")  # fmt: skip


def test_columns_of_c_may_be_named_as_anything():
    model = made(np.arange(1.0, 1.0 + len(FIELDS)), 0.5, ("no ???/", "yes */ ??/"), FIELDS)
    (found,) = in_c(model, [{name: float(k) for k, name in enumerate(FIELDS)}])
    assert found["score"] == 0.5 + sum((k + 1.0) * k for k in range(len(FIELDS)))
    assert "double BMI;" in export(model, "c")
    with pytest.raises(CannotExportError, match="of more than 4095 bytes, and C compilers"):
        export(made([1.0], 0.0, ("no", "é" * 2048), ("x",)), "c")


def test_no_formula_grows_too_long_when_it_is_filled_down():
    long = Encoding((Column("t", "category", tuple(f"{'z' * 40}{k:c}" for k in range(1000, 1140))),))
    model = made(np.random.default_rng(0).normal(size=(3, 139)), np.zeros(3), (0, 1, 2), long.names, long)
    formulas = export(model, "spreadsheet", row=2).split("\n")[1].split("\t")
    assert max(map(len, formulas)) > 5000
    assert max(len(re.sub(r"\b([A-Z]{1,3})2\b", r"\g<1>1048576", formula)) for formula in formulas) <= 8192
    assert not any("\0" in formula for formula in formulas)


def test_no_title_of_a_sheet_is_taken_for_a_formula():
    names = ('=HYPERLINK("http://a.b")', "+1", "-1", "@x", '"quoted', "\ttab")
    columns = (*(Column(name, "number", fill=1.0, indicator=True) for name in names[:3]),
               *(Column(name, "category", ("a", "=1+1")) for name in names[3:]))  # fmt: skip
    encoding = Encoding(columns)
    model = made(np.ones(len(encoding.names)), 0.0, ("=no", "@yes"), encoding.names, encoding)
    titles, formulas = (line.split("\t") for line in export(model, "spreadsheet").rstrip("\n").split("\n"))
    assert len(titles) == len(formulas)
    assert all(title[0].isalpha() for title in titles)
    assert all(formula[0] == "=" for formula in formulas)


# ---------------------------------------------------------------------------------------------------- it is run first


@pytest.mark.parametrize("to", ["python", "sql", "onnx"])
def test_an_export_that_is_wrong_is_never_given(to, monkeypatch):
    model, _ = strange("two classes")
    right = home.program_of
    monkeypatch.setattr(home, "program_of", lambda _, **options: right(strange("raw units")[0], **options))
    with pytest.raises(RuntimeError, match=f"The export to '{to}' does not agree with the model, and is not given. Of"):
        export(model, to)


def test_what_cannot_be_run_here_says_so(monkeypatch):
    model, _ = learnt("two")
    monkeypatch.setattr(checking, "find_spec", lambda name: None)
    for to, who in (("sql", "DuckDB"), ("onnx", "onnxruntime")):
        made = home.exported(model, to)
        assert made.rows == 0
        assert made.checked == f"It was not run here: {who} is not installed."


def test_a_sqlite_without_mathematical_functions_says_so(monkeypatch):
    class Poor:
        """Knows no function but those that all have."""

        def __init__(self):
            self.real = sqlite3.connect(":memory:")
            self.executemany, self.close = self.real.executemany, self.real.close

        def execute(self, query):
            return self.real.execute(query.replace("exp(", "no_such_exp(").replace("'exp'", "'no_such_exp'"))

    monkeypatch.setattr(checking, "_database", lambda dialect: (Poor(), sqlite3.Error))
    made = home.exported(TWO_ENDS, "sql", dialect="sqlite")
    assert made.checked == "It was not run here: this SQLite was built without the function exp."
    assert home.exported(TWO_ENDS, "sql", dialect="sqlite", probabilities=False).rows > 0


def test_onnx_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "separatrix\[export\]"'):
        export(TWO_ENDS, "onnx")


def test_exports_of_a_linear_model_load_no_learner():
    code = (
        "import sys, separatrix; from separatrix.app.exports.export import export; "
        "print(sorted({'sklearn', 'numba', 'onnx', 'duckdb'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout == b"[]\n"


def test_texts_are_quoted():
    assert literal("it's") == "'it''s'"
    program = program_of(made([1.0], 0.0, ("??=", "*/"), ("*/ x",)))
    assert c_text(program, "*/ checked").count("*/") == 3  # two comments end, and a label is a text


def test_the_rows_that_a_file_keeps_are_tried(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    path = tmp_path / "model.json"
    separatrix.save(separatrix.LogisticRegression().fit(X, X[:, 0] + rng.normal(size=60) > 0), path)
    kept = json.loads(path.read_text(encoding="utf-8"))["examples"]
    model = separatrix.load(path)
    tried = [list(row.values()) for row in trial_rows(model)]
    assert kept
    assert all(each["cells"] in tried for each in kept)
