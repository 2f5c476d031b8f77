"""What every command does alike: bytes for a seed, no network, pipes, plain terminals, and a next command that works.

Of the table of habits: exit statuses, errors and did-you-mean are in test_shell, Ctrl-C and progress in test_progress
and test_fit, imports in test_shell, test_predict and test_evaluate, completion in test_completion, columns in
test_schema and test_predict, intervals in test_evaluate and test_compare, certificates in test_separable.
"""

import ast
import contextlib
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import separatrix
from separatrix.app.cli.console import HANDLER, PLAIN
from separatrix.app.cli.running import run

SOURCE = str(Path(separatrix.__file__).parents[1])
READING = ("--no-header", "--na", "?", "--decimal", ",")


def rows(n=60):
    """No names, decimal commas, a mark for what is missing, a column that must be said to be a category."""
    rng = np.random.default_rng(4)
    a, c = rng.normal(size=n).round(2), rng.integers(1, 4, n)
    y = np.where(a + (c == 2) + rng.logistic(size=n) > 0.5, "ja", "nein")
    cells = [str(value).replace(".", ",") if k % 13 else "?" for k, value in enumerate(a)]
    return "".join(f"{u};{v};{w}\n" for u, v, w in zip(cells, c, y, strict=True))


LINES = {
    "schema": ("t.txt", "--target", "x2", *READING),
    "fit": ("t.txt", "--target", "x2", "--category", "x1", "--missing", "impute", *READING),
    "predict": ("model.json", "t.txt", "--proba", *READING),
    "evaluate": ("model.json", "t.txt", *READING),
    "explain": ("model.json", "t.txt", "--row", "2", *READING),
    "compare": ("t.txt", "--target", "x2", "--missing", "impute", "--cv", "2", "--learners", "logistic", *READING),
    "separable": ("t.txt", "--target", "x2", "--missing", "impute", *READING),
    "summary": ("model.json",),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The model of the table, fitted once: what a command reads of it does not depend on the folder."""
    folder = tmp_path_factory.mktemp("fitted")
    with contextlib.chdir(folder):
        Path("t.txt").write_text(rows())
        assert run(["fit", *LINES["fit"], "--quiet"]) == 0
    return (folder / "model.json").read_bytes()


@pytest.fixture
def here(tmp_path, monkeypatch, model):
    monkeypatch.chdir(tmp_path)
    Path("t.txt").write_text(rows())
    Path("model.json").write_bytes(model)
    return tmp_path


def started(*tokens, stdout=subprocess.PIPE, before=(), **environment):
    """A command in a process of its own."""
    return subprocess.Popen(
        [*before, sys.executable, "-m", "separatrix", *tokens], stdout=stdout, stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": SOURCE, **environment},
    )  # fmt: skip


ONE_AFTER_ANOTHER = """
import json, sys
from separatrix.app.cli.running import run
print(json.dumps([run(each) for each in json.loads(sys.argv[1])]))
"""


def in_one_process(lines, **environment):
    """Commands in one process of their own; the last line that it prints has their statuses."""
    return subprocess.Popen(
        [sys.executable, "-c", ONE_AFTER_ANOTHER, json.dumps(list(lines))], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": SOURCE, **environment},
    )  # fmt: skip


@pytest.mark.parametrize("name", [name for name in LINES if name != "summary"])
@pytest.mark.parametrize("more", [(), ("--sample", "50", "--seed", "3")], ids=["all", "sample"])
def test_the_next_command_works(name, more, here, command):
    """It is typed as it stands, and sees the same table in the same way."""
    status, _, said = command(name, *LINES[name], *more)
    assert status in (0, 1), said
    lines = [line for line in said.splitlines() if line.startswith("next: separatrix ")]
    if name == "compare" and not lines:
        assert "baseline" in said  # nothing is better: there is nothing to fit
        return
    (line,) = lines
    words = shlex.split(line.removeprefix("next: separatrix "))
    if name in ("schema", "evaluate"):
        words += ["--missing", "impute"] if words[0] == "fit" else []
    status, _, said = command(*words)
    assert status in (0, 1), (line, said)


def test_without_a_network_everything_works(here, command, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a command asked for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for name, typed in LINES.items():
        assert command(name, *typed)[0] in (0, 1)


def test_without_any_network_interface_a_table_is_read(here):
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rn", "true"], check=False).returncode:
        pytest.skip("this system does not let us leave the network")
    with started("schema", *LINES["schema"], before=("unshare", "-rn")) as process:
        out, said = process.communicate()
    assert process.returncode == 0, said
    assert b"x1" in out


WRITING = {
    "fit": ((*LINES["fit"], "--solver", "stochastic", "--max-passes", "5"), "json"),
    "predict": ((*LINES["predict"], "--sample", "20", "--format", "parquet"), "parquet"),
    "separable": (LINES["separable"], "json"),
    "summary": (LINES["summary"], "txt"),
}


def test_the_same_seed_writes_the_same_bytes_in_another_process(here, command):
    typed = {name: [name, *words, "--seed", "7", "-o", f"a-{name}.{end}"] for name, (words, end) in WRITING.items()}
    assert all(command(*each)[0] in (0, 1) for each in typed.values())
    first = {name: Path(each[-1]).read_bytes() for name, each in typed.items()}
    with in_one_process(typed.values(), PYTHONHASHSEED="77") as process:
        out, said = process.communicate()
    assert set(json.loads(out.splitlines()[-1])) <= {0, 1}, said
    for name, each in typed.items():
        assert Path(each[-1]).read_bytes() == first[name], name
        assert str(here).encode() not in first[name], name


@pytest.mark.parametrize("name", ["schema", "evaluate", "compare"])
def test_the_same_seed_says_the_same_bytes(name, here, command):
    assert command(name, *LINES[name], "--seed", "7") == command(name, *LINES[name], "--seed", "7")


def test_a_reader_that_goes_is_no_error(here):
    Path("long.txt").write_text(rows() * 3000)
    with started("predict", "model.json", "long.txt", *READING, "--quiet") as process:
        assert process.stdout.readline().startswith(b"x0,x1,x2,prediction")
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (0, b"")


def test_in_the_c_locale_all_is_ascii(here):
    lines = [(name, *LINES[name]) for name in ("fit", "evaluate", "separable", "summary")]
    with in_one_process(lines, LC_ALL="C") as process:
        out, said = process.communicate()
    assert set(json.loads(out.splitlines()[-1])) <= {0, 1}, said
    assert (out + said).isascii()
    assert b"Traceback" not in said


def test_every_sign_that_we_write_has_a_plain_one():
    """In all texts of the package but docstrings; ö is a letter of the demo's data, surrogates are no signs."""
    unknown = {}
    for file in Path(separatrix.__file__).parent.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        nodes = list(ast.walk(tree))
        alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
                signs = {sign for sign in node.value if not sign.isascii()} - set(PLAIN) - set("ö\ud800\udfff")
                unknown.update(dict.fromkeys(signs, file.name))
    assert not unknown
    assert all(plain.isascii() for plain in PLAIN.values())
    assert "10⁻⁵ x₁² ≥ ½".encode("ascii", HANDLER) == b"10^-5 x1^2 >= 1/2"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize("plain", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {}], ids=str)
def test_colours_only_where_no_one_minds(plain, here):
    import pty

    ours, theirs = pty.openpty()
    clean = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    with subprocess.Popen(
        [sys.executable, "-m", "separatrix", *("schema", *LINES["schema"])], stdin=theirs, stdout=theirs, stderr=theirs,
        env={**clean, "PYTHONPATH": SOURCE, "TERM": "xterm", **plain},
    ) as process:  # fmt: skip
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    assert process.returncode == 0
    assert (b"\x1b[" in text) == (not plain)


@pytest.mark.parametrize("name", LINES)
def test_words_fit_eighty_columns(name, here, command):
    """But for tables, commands to type and names that are longer."""
    _, _, said = command(name, *LINES[name])
    prose = [line for line in said.splitlines() if not line.startswith((" ", "next: "))]
    assert all(len(line) <= 80 for line in prose)
