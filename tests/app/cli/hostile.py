"""Commands run with nonsense: what must hold whatever is typed, and nonsense of every kind."""

import copy
import csv
import gzip
import io
import json
import lzma
import os
import shutil
import sys
import tempfile
import warnings
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Literal, get_args, get_origin

import numpy as np
from hypothesis import strategies as st

from separatrix.app.cli.app import COMMANDS, app
from separatrix.app.cli.running import run
from separatrix.app.tasks.learners import LEARNERS

from .schemas import validator

EXPECTED = {0, 1, 2, 3, 4}
"""Statuses that a command without Ctrl-C may end with: 70 would be a bug of ours."""
OLD = "the file that was there\n"


class World:
    """A folder with tables, models and an old output, as it is before each command."""

    def __init__(self, folder):
        self.folder, self.seeds, self.spare = folder / "work", folder / "seeds", folder / "spare"
        for each in (self.work, self.seeds, self.spare):
            each.mkdir()
        write_seeds(self.seeds)

    @property
    def work(self):
        return self.folder

    def reset(self):
        for part in (self.work, self.spare):
            for each in part.iterdir():
                shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()
        for each in self.seeds.iterdir():
            shutil.copyfile(each, self.work / each.name)
        (self.work / "folder").mkdir()
        (self.work / "old.json").write_text(OLD)

    def put(self, files):
        """Write files; the one of no name is what is piped in."""
        for name, content in files.items():
            if name is not None:
                (self.work / name).write_bytes(content)
        return files.get(None, b"")

    def hold(self, tokens, stdin=b""):
        """Run a command here; whatever it says, it says it as it should. Its status."""
        before, old = {each.name for each in self.work.iterdir()}, (self.work / "old.json").read_text()
        status, out, err = self.ran(tokens, stdin)
        story = f"{tokens!r}\n{out[-2000:]!r}\n{err[-2000:]}\n{self.bugs()}"
        assert status in EXPECTED, story
        assert b"Traceback" not in out, story
        assert "Traceback" not in err, story
        assert (status in (0, 1, 4)) or "error:" in err, story
        after = {each.name for each in self.work.iterdir()}
        outputs = set(outputs_of(tokens))
        assert after - before <= outputs if status in (0, 1, 4) else after == before, (story, after - before)
        assert before <= after, story
        if "old.json" not in outputs or status in (2, 3):
            assert (self.work / "old.json").read_text() == old, story
        assert not list(self.spare.iterdir()), story
        if "--json" in words_before_dashes(tokens) and not helps(tokens):
            answer = json.loads(out, parse_constant=no_constant)
            command = next((token for token in tokens if token in COMMANDS), None)
            if "$schema" not in answer:  # the schema of a command is its own answer
                validator("error" if "error" in answer else command).validate(answer)
            assert "error" in answer or status in (0, 1, 4), story
        return status

    def ran(self, tokens, stdin):
        """The command in this process: its status, the bytes on stdout and the text on stderr."""
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)
        with in_folder(self.work, self.spare), warnings.catch_warnings():
            warnings.simplefilter("default")
            kept = sys.stdin, sys.stdout, sys.stderr
            sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
            sys.stdout, sys.stderr = out, err
            try:
                status = run(list(tokens))
            finally:
                sys.stdin, sys.stdout, sys.stderr = kept
        return status, out.buffer.getvalue(), err.buffer.getvalue().decode("utf-8", "replace")

    def bugs(self):
        return "\n".join(each.read_text()[-3000:] for each in self.spare.glob("separatrix-bug-*"))


def no_constant(text):
    raise AssertionError(f"{text} is no JSON")


def words_before_dashes(tokens):
    tokens = list(tokens)
    return tokens[: tokens.index("--")] if "--" in tokens else tokens


def helps(tokens):
    return any(token in ("--help", "-h", "--version") for token in tokens)


def outputs_of(tokens):
    """The names that follow -o or --output."""
    found = {"model.json"} if "fit" in tokens else set()
    for before, token in zip(["", *tokens], tokens, strict=False):
        if before in ("-o", "--output"):
            found.add(token)
        elif token.startswith(("--output=", "-o=")):
            found.add(token.partition("=")[2])
    return {Path(name).name for name in found if name}


@contextmanager
def in_folder(work, spare):
    """Here the command runs, and there it keeps what it needs on its way."""
    before, temporary = os.getcwd(), tempfile.tempdir
    os.chdir(work)
    tempfile.tempdir = str(spare)
    try:
        yield
    finally:
        os.chdir(before)
        tempfile.tempdir = temporary


# ---------------------------------------------------------------------------------------------------------------- seeds


def rows(n=24, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n).round(3), rng.integers(0, 9, n)
    c = rng.choice(["r", "g", "b"], n)
    y = np.where(a + 0.3 * b + rng.normal(size=n) > 1, "yes", "no")
    return [
        {"a": float(u), "b": int(v), "c": str(w), "w": float(k % 3), "g": f"g{k % 5}", "y": str(z)}
        for k, (u, v, w, z) in enumerate(zip(a, b, c, y, strict=True))
    ]


def as_csv(records, separator=","):
    names = list(records[0])
    lines = [separator.join(names)] + [separator.join(str(each[name]) for name in names) for each in records]
    return ("\n".join(lines) + "\n").encode()


def write_seeds(folder):
    """Tables of every format and two models."""
    import duckdb

    records = rows()
    (folder / "a.csv").write_bytes(as_csv(records))
    (folder / "a.tsv").write_bytes(as_csv(records, "\t"))
    (folder / "a.csv.gz").write_bytes(gzip.compress(as_csv(records), mtime=0))
    (folder / "a.csv.xz").write_bytes(lzma.compress(as_csv(records)))
    (folder / "a.jsonl").write_bytes(b"\n".join(json.dumps(each).encode() for each in records))
    (folder / "a.json").write_text(json.dumps(records))
    (folder / "a.svm").write_text("".join(f"{1 if r['y'] == 'yes' else -1} 1:{r['a']} 2:{r['b']}\n" for r in records))
    X = np.array([[r["a"], r["b"]] for r in records])
    np.savez(folder / "a.npz", X=X, y=np.array([r["y"] for r in records]))
    np.save(folder / "a.npy", X)
    where = str(folder / "a.csv").replace("'", "''")
    for name in ("a.parquet", "a.csv.zst"):
        duckdb.connect().execute(f"COPY (SELECT * FROM '{where}') TO '{folder / name}'")
    for name, typed in {"m.json": (), "k.json": ("--learner", "voted"), "n.json": ("--learner", "naive-bayes")}.items():
        with in_folder(folder, folder):
            assert (
                run(["fit", "a.csv", "--target", "y", "--drop", "w", "--drop", "g", "-o", name, "--quiet", *typed]) == 0
            )


# ------------------------------------------------------------------------------------------------------------ arguments

STRANGE = [
    "", " ", "-", "--", "---", "-1", "0", "1", "2", "3", "-0", "1e308", "1e-308", "-1e400", "nan", "NaN", "inf",
    "-inf", "1_000", "9" * 30, "9" * 5000, "0x10", "1,2", "a=1", "a=b", "=", "a=", "yes=2,no=1", "yes=nan,no=1",
    "none", "None", "null", "true", "auto", "cv", "y", "a", "b", "c", "w", "g", "Y", "no", "yes", "é", "日本語",
    "\u202e", "\x07", "\x1b[31m", "\n", "\t", "a\nb", "'", '"', '""', "`id`", "$HOME", "%s", "{}", "{0}", "{a", "*",
    "?", "[", "[a", "**", "a.*", "..", ".", "/", "../..", "/dev/null", "/dev/zero", "folder", "folder/x",
    "nowhere/x", "a.csv", "a.json", "a.parquet", "m.json", "old.json", "out.csv", "out.json", "out.parquet",
    "x" * 300, "x" * 5000, "\udcff", "a\udcffb", "1.5", "0.5", "1.0000000001", "polynomial:2", "polynomial:0",
    "polynomial:-1", "polynomial:³", "interactions", "auc>=0.8", "auc>=", ">=1", "auc>=nan", "cost<=1", "table",
    "0.2,0.5", "fp=1,fn=5", "fp=-1,fn=nan", "a > 0", "a > 'x'", "1=1; DROP TABLE data",
    "a IN (SELECT * FROM 'a.csv')", "NULL", "count(*) > 1", "random() > 0.5", "--target", "--json", "-o", "@a", "~",
    "latin-1", "utf-16", "rot13", "idna", "hex", "1970-01-01", "logistic", "logistic,perceptron", "logistic:l2=1",
    "logistic:", ":", "logistic:l2=", ",", "logistic:l2=nan",
]  # fmt: skip
UNBOUNDED = {"--max-passes", "--starts", "--time-limit", "--degree", "--patience"}
"""Where a large number is a long time, which is what was asked for."""
FEW = [
    "", "0", "1", "2", "3", "-1", "nan", "-inf", "x", "1.5", "none", "1e-300", "é",
]  # fmt: skip


@cache
def options_of(command):
    """The options of a command: its name, the values it may have where they are few, whether it takes one at all."""
    found = []
    for argument in app[command].assemble_argument_collection():
        kinds = {argument.hint, *get_args(argument.hint)}
        few = [str(each) for kind in kinds if get_origin(kind) is Literal for each in get_args(kind)]
        few += [str(each) for each in get_args(argument.hint) if get_origin(argument.hint) is Literal]
        found += [(name, tuple(few), bool not in kinds) for name in argument.names if name.startswith("-")]
    return tuple(found)


def values_of(name, few):
    if name in UNBOUNDED:
        return st.sampled_from(FEW)
    said = st.sampled_from(STRANGE) | st.text(st.characters(exclude_characters="\0"), max_size=8)
    useful = [*few, *USEFUL.get(name, ())]
    return st.sampled_from(useful) | said if useful else said


USEFUL = {
    **dict.fromkeys(("--target", "--weights", "--group", "--by", "--number", "--category", "--drop"), "abcwgy"),
    **dict.fromkeys(("--output", "-o"), ("out.json", "out.csv", "old.json", "folder")),
    "--where": ("a > 0", "c = 'r'", "b is not null"), "--sample": ("1", "2", "9"), "--row": ("1", "24"),
    "--na": ("r", "0", "yes"), "--threshold": ("0", "0.5", "1"), "--require": ("auc>=0.5", "accuracy.low>=0"),
    "--thresholds": ("table", "0,1"), "--cost": ("fp=1,fn=5", "fp=0,fn=0"), "--positive": ("yes", "no"),
    "--features": ("polynomial:2", "standardise,interactions"), "--cv": ("2", "3"), "--l2": ("0", "1", "cv", "1e300"),
    "--solver": ("newton", "gauss-newton", "lbfgs", "gradient", "stochastic", "closed"), "--init": ("zero", "random"),
    "--objective": ("squared", "firth", "flic"), "--class-weight": ("balanced", "yes=0,no=1"), "--kernel": ("rbf",),
    "--learners": ("logistic,perceptron", "margin", "zero-one", "kernel", "logistic:l2=1e300"), "--level": ("0.5", "1"),
}  # fmt: skip


@st.composite
def command_lines(draw):
    """A command with options of its own and values of any kind; often otherwise one that works."""
    command = draw(st.sampled_from(MOST))
    tokens = [command, *draw(st.sampled_from(STARTS[command])), *draw(endings(command))]
    if not draw(st.integers(0, 14)):
        tokens.insert(draw(st.integers(0, len(tokens))), draw(st.sampled_from(STRANGE)))
    return safe(tokens)


@st.composite
def endings(draw, command, most=3):
    """Options of a command."""
    tokens = []
    if command == "fit" and draw(st.booleans()):
        tokens += ["--learner", draw(st.sampled_from(sorted(LEARNERS)))]
    for name, few, takes in draw(st.lists(st.sampled_from(options_of(command)), max_size=most)):
        if takes:
            value = draw(values_of(name, few))
            tokens += [f"{name}={value}"] if draw(st.booleans()) and name.startswith("--") else [name, value]
        else:
            tokens.append(name)
    if command == "compare" and "--cv" not in tokens:
        tokens += ["--cv", "2"]
    return tokens + ["--json"] * draw(st.booleans())


MOST = [
    "fit", "fit", "fit", "predict", "predict", "evaluate", "evaluate", "explain", "compare", "separable", "schema",
    "summary", "completion",
]  # fmt: skip
STARTS = {
    "schema": [("a.csv",), ("fit",), ("a.json", "a.jsonl"), ()],
    "fit": [("a.csv", "--target", "y")] * 3 + [("a.csv", "--target", "c"), ("a.csv",), ("a.parquet", "--target", "y")],
    "predict": [("m.json", "a.csv"), ("k.json", "a.csv"), ("n.json", "a.jsonl"), ("m.json",), ("a.json", "a.csv")],
    "evaluate": [("m.json", "a.csv"), ("k.json", "a.csv"), ("n.json", "a.jsonl"), ("m.json",), ("folder", "a.csv")],
    "explain": [("m.json", "a.csv", "--row", "1"), ("n.json", "a.csv", "--row=2"), ("k.json", "a.csv")],
    "summary": [("m.json",), ("k.json",), ("n.json",), ("a.csv",), ("folder",), ()],
    "compare": [("a.csv", "--target", "y"), ("a.csv", "--target", "c"), ("a.csv",)],
    "separable": [("a.csv", "--target", "y"), ("a.csv", "--target", "c"), ("a.parquet", "--target", "y")],
    "completion": [("bash",), ("zsh",), ("fish",), ()],
}  # fmt: skip


def safe(tokens):
    """Nothing that leaves the folder of the test: outputs have names in it."""
    kept, before = [], ""
    for token in tokens:
        name, equal, value = token.partition("=")
        if before in ("-o", "--output") and leaves(token):
            token = "out.json"
        elif name in ("-o", "--output") and equal and leaves(value):
            token = name + "=out.json"
        kept.append(token)
        before = token
    return kept


def leaves(value):
    """Whether it may be outside: a device above all, which a fault of ours would replace for the whole machine."""
    return ("/" in value and not value.startswith(("folder/", "nowhere/"))) or ".." in value or value == "~"


# ---------------------------------------------------------------------------------------------------------------- files

READERS = {
    "schema": ([], ["--target", "y"]), "fit": ([], ["--target", "y"]), "separable": ([], ["--target", "y"]),
    "compare": ([], ["--target", "y", "--cv", "2", "--learners", "logistic,naive-bayes"]),
    "predict": (["m.json"], ["--proba"]), "evaluate": (["m.json"], []), "explain": (["m.json"], ["--row", "2"]),
}  # fmt: skip
BITS = [
    b'"', b"\n", b"\r", b",", b"\0", b"{", b"}", b"[", b"\xff", b";", b"\t", b"1e999", b"\xef\xbb\xbf", b"nan",
    b"-", b"\xc3", b"#",
]  # fmt: skip


@st.composite
def damaged(draw, content):
    """Bytes with some bytes of others."""
    content = bytearray(content)
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(content)))
        new = draw(st.binary(max_size=3) | st.sampled_from(BITS))
        content[place : place + draw(st.integers(0, 9))] = new
    if not draw(st.integers(0, 5)):
        del content[draw(st.integers(0, len(content))) :]
    return bytes(content)


@st.composite
def damaged_files(draw, seeds):
    """A command line, and what stands in the files (the None among them is stdin)."""
    name = draw(st.sampled_from(sorted(each.name for each in seeds.glob("a.*"))))
    content = draw(damaged((seeds / name).read_bytes()))
    command = draw(st.sampled_from(sorted(READERS)))
    before, after = READERS[command]
    piped = draw(st.integers(0, 4)) == 0
    called = "-" if piped else draw(st.sampled_from([name, name, "plain", "b.csv"]))
    tokens = [command, *before, called, *after, *draw(endings(command, 1))]
    return safe(tokens), {None if piped else called: content}


# --------------------------------------------------------------------------------------------------------------- tables

NAMES = [
    "x", "y", "z", "X", "x ", "", "é", "日本", "a b", 'a"b', "a,b", "a\nb", "1", "select", "rowid", "c0", "x0",
    "prediction", "nan", "-", "--target", "a=b", "\u202e", "x" * 200, "probability of 1", "a.b", "%s", "{x}", "'",
    "count(*)",
]  # fmt: skip
LEVELS = [
    "r", "g", "", " ", "NA", "nan", "0", "00", "1", "1.0", "é", "é", "日本", 'a"b', "a,b", "a\nb", "-", "=1+1",
    "true", "1e5", "2020-01-01", "x" * 500, "\x07", "'", "%", "{}",
]  # fmt: skip
NUMBERS = [
    "0", "1", "2", "-1", "0.5", "1e300", "-1e308", "1e-320", "3", "4", "5", "1e16", "-0", "7", "", "1e999", "x",
]  # fmt: skip


POOLS = [
    LEVELS[:2], LEVELS[:2], LEVELS, NUMBERS[:5], NUMBERS[:5], NUMBERS[:-3], NUMBERS[:-2], NUMBERS, ["1"], ["a"],
    [""], ["0"],
]  # fmt: skip


@st.composite
def tables(draw):
    """A command line about a table with strange names, levels, numbers and sizes, and one about the model of it."""
    n = draw(st.sampled_from([0, 1, 2, 3, 5, 12, 30]))
    same = draw(st.integers(0, 9)) == 0
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=not same))
    pools = [draw(st.sampled_from(POOLS)) for _ in names]
    if draw(st.integers(0, 3)):
        pools[0] = LEVELS[:2]  # then the first can be learnt
    columns = [draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n)) for pool in pools]
    content = io.StringIO()
    writer = csv.writer(content, lineterminator=draw(st.sampled_from(["\n", "\r\n"])))
    writer.writerows([names, *zip(*columns, strict=True)])
    command = draw(st.sampled_from(["schema", "fit", "fit", "fit", "separable", "compare"]))
    tokens = [command, "t.csv", f"--target={draw(st.sampled_from([names[0]] * 3 + names))}"]
    if draw(st.integers(0, 5)) == 0 and command != "schema":
        tokens.append(f"--weights={draw(st.sampled_from(names))}")
    if command != "schema" and draw(st.integers(0, 2)):
        tokens += ["--missing", "impute"]
    tokens += draw(endings(command, draw(st.integers(0, 1))))
    after = draw(st.sampled_from(["predict", "evaluate", "summary", "explain"]))
    then = [after, "model.json", *["t.csv"] * (after != "summary"), *draw(endings(after, 1))]
    return safe(tokens), safe(then), {"t.csv": content.getvalue().encode()}


# --------------------------------------------------------------------------------------------------------------- models

VALUES = [
    None, True, False, 0, 1, -1, 2**70, 1.5, 1e308, "", "x", [], {}, [1], [[1.0]], {"a": 1}, "\ud800", [None],
    "yes",
]  # fmt: skip


@st.composite
def changed(draw, document):
    """A document with something else at some place."""
    document = json.loads(json.dumps(document))
    for _ in range(draw(st.integers(1, 2))):
        part = document
        while True:
            keys = list(part) if isinstance(part, dict) else range(len(part))
            if not len(keys):
                break
            key = draw(st.sampled_from(list(keys)))
            if isinstance(part[key], dict | list) and part[key] and draw(st.integers(0, 3)):
                part = part[key]
                continue
            if draw(st.integers(0, 3)):
                part[key] = copy.deepcopy(draw(st.sampled_from(VALUES)))  # it may be changed in turn
            else:
                del part[key]
            break
    return json.dumps(document).encode()


@st.composite
def models(draw, seeds):
    """A command line about a model file that fit did not write."""
    content = (seeds / draw(st.sampled_from(["m.json", "k.json", "n.json"]))).read_bytes()
    content = draw(damaged(content)) if draw(st.integers(0, 3)) == 0 else draw(changed(json.loads(content)))
    command = draw(st.sampled_from(["predict", "evaluate", "summary", "explain"]))
    start = {"explain": ["a.csv", "--row", "3"], "summary": []}.get(command, ["a.csv"])
    return safe([command, "b.json", *start, *draw(endings(command, 1))]), {"b.json": content}
