"""The command line itself: help, statuses, errors, streams, what is loaded."""

import errno
import io
import json
import os
import subprocess
import sys
from importlib.resources import files

import jsonschema
import pytest

from separatrix import errors
from separatrix.app.cli import app as app_module
from separatrix.app.cli import console, running
from separatrix.app.cli.answer import Answer, UsageError
from separatrix.app.cli.app import COMMANDS
from separatrix.app.cli.console import is_coloured, shown_width, table
from separatrix.app.cli.options import Talking
from separatrix.app.cli.schema import published
from separatrix.app.tables.errors import Place, Remedy, TableError, did_you_mean
from separatrix.errors import Refusal, SettingError, UndecidedError
from separatrix.inference.result import InferenceRefused

HEAVY = ("numpy", "scipy", "sklearn", "numba", "duckdb", "pandas", "matplotlib")


def python(code, *, stdin=subprocess.DEVNULL, **environment):
    """Run code in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, stdin=stdin, check=False, env={**os.environ, **environment}
    )


@pytest.fixture
def acting(monkeypatch):
    """Let the command `schema` do something else."""

    def replaced(act):
        import separatrix.app.cli.schema as home

        def schema(*data: str, talking: Talking = Talking()) -> Answer:
            return act()

        monkeypatch.setattr(home, "schema", schema)
        fresh = app_module.build({"schema": "Does what the test says."})
        monkeypatch.setattr(running, "app", fresh)

    return replaced


def raising(error):
    def act():
        exec(compile("raise error", "ours", "exec"), {"__name__": "separatrix.learners.ours", "error": error})

    return act


def test_help_loads_nothing_heavy_and_names_every_command():
    code = (
        "import sys; from separatrix.app.cli.running import run; status = run(['--help']);"
        f"print([name for name in {HEAVY} if name in sys.modules], status, file=sys.stderr)"
    )
    done = python(code)
    assert done.stderr.decode().strip() == "[] 0"
    assert all(f" {name} " in done.stdout.decode() for name in COMMANDS)
    assert max(map(len, done.stdout.decode().splitlines())) <= 80


def test_the_help_of_a_command_loads_nothing_heavy_and_tells_what_its_list_entry_does_not():
    code = (
        "import sys; from separatrix.app.cli.running import run; run(['separable', '--help']);"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = python(code)
    assert done.stderr.decode().strip() == "[]"
    assert "Exit status 0" in done.stdout.decode()
    assert "--empty" not in done.stdout.decode()


def test_python_m_runs_the_command_line():
    done = subprocess.run([sys.executable, "-m", "separatrix", "--version"], capture_output=True, check=True)
    assert done.stdout.decode().strip() == app_module.__version__


def test_without_the_packages_of_the_command_line_it_says_what_to_install():
    done = python("import sys; sys.modules['cyclopts'] = None; from separatrix.app.cli import main; main()")
    assert done.returncode == 2
    assert 'pip install "separatrix[cli]"' in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


STATUSES = [
    (
        TableError("no", place=Place("a.csv", 3), column="x", value="?", remedies=[Remedy("fill", "na", ("?",))]),
        3,
        "data",
    ),
    (UsageError("--target z: no such column."), 2, "usage"),
    (InferenceRefused("The weights have no standard errors."), 1, "refused"),
    (Refusal("The weights have no standard errors."), 1, "refused"),
    (UndecidedError("Rounding hides it."), 1, "refused"),
    (SettingError("tol", -1, "it must be positive."), 2, "usage"),
    (errors.DataError("is a matrix; it must be a list.", array="y"), 3, "data"),
    (errors.DataError("y has one class only."), 3, "data"),
    (errors.DataError("is not finite", array="X", row=3, column="age", value=float("inf")), 3, "data"),
    (FileNotFoundError(errno.ENOENT, "no", "x.csv"), 3, "data"),
    (OSError(errno.ENOSPC, "full"), 3, "data"),
    (MemoryError(), 3, "data"),
    (ModuleNotFoundError("no", name="duckdb"), 2, "usage"),
    (KeyboardInterrupt(), 130, "interrupted"),
    (ZeroDivisionError(), 70, "bug"),
    (RuntimeError("the proof is wrong"), 70, "bug"),
    (OSError("odd"), 70, "bug"),
]


@pytest.mark.parametrize(("error", "status", "kind"), STATUSES, ids=lambda value: type(value).__name__)
def test_every_exception_has_a_status_a_sentence_and_a_json(
    error, status, kind, acting, command, tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    acting(raising(error))
    found, out, err = command("schema", "x")
    assert (found, out) == (status, "")
    assert err.startswith("error: ")
    assert "Traceback" not in err
    found, out, _ = command("schema", "x", "--json")
    data = json.loads(out)
    jsonschema.validate(data, published("error"))
    assert (found, data["status"], data["error"]["kind"], data["command"]) == (status, status, kind, "schema")
    assert bool(list(tmp_path.iterdir())) == (kind == "bug")


def test_a_bug_leaves_its_traceback_in_a_file_and_on_the_screen_only_when_asked(acting, command, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    acting(raising(RuntimeError("the proof is wrong")))
    _, _, err = command("schema", "x")
    (file,) = tmp_path.iterdir()
    assert "RuntimeError: the proof is wrong" in err
    assert str(file) in err
    assert "Traceback" in file.read_text()
    monkeypatch.setenv("SEPARATRIX_DEBUG", "1")
    assert "Traceback" in command("schema", "x")[2]


def mistaken(code):
    return lambda: exec(compile(code, "ours", "exec"), {"__name__": "separatrix.learners.ours"})


@pytest.mark.parametrize(
    "act", [lambda: json.loads("nonsense"), mistaken("len(3)"), mistaken("float('x')"), mistaken("1 / 0")]
)
def test_an_error_that_no_one_here_wrote_is_a_bug_of_ours(act, acting, command, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    acting(act)
    status, _, err = command("schema", "x")
    assert (status, "bug" in err) == (70, True)


def test_a_data_error_is_told_with_place_reason_and_remedy(acting, command):
    acting(raising(STATUSES[0][0]))
    assert command("schema", "x")[2] == "error: a.csv line 3, column 'x': no\n  fill:  --na '?'\n"


@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        (("ft",), "there is no command 'ft'. Did you mean 'fit'?"),
        (("schema", "d.csv", "--targt", "y"), "Did you mean --target?"),
        (("separable", "d.csv"), "--target"),
        (("schema", "d.csv", "--progress", "alway"), 'Did you mean "always"?'),
        (("schema", "d.csv", "--seed", "x"), "--seed"),
        (("completion",), "SHELL"),
        (("summary", "model.json", "more", "-"), "summary does not know what to do with 'more', '-'."),
        (("completion", "bsh"), '"bash"'),
    ],
)
def test_wrong_usage_is_told_with_what_was_meant(tokens, says, command, answer):
    status, out, err = command(*tokens)
    assert (status, out) == (2, "")
    assert says in err
    assert "--help" in err
    assert "╭" not in err
    status, data = answer(*tokens)
    assert (status, data["error"]["kind"]) == (2, "usage")


def test_data_goes_to_stdout_and_words_to_stderr(acting, command):
    acting(lambda: Answer({"a": 1.5}, "text", "Words.", "separatrix next", 1, ("Beware.",)))
    assert command("schema") == (1, "text\n", "note: Beware.\nWords.\nnext: separatrix next\n")
    assert command("schema", "--quiet") == (1, "text\n", "note: Beware.\n")
    assert command("schema", "--quiet", "--json") == (1, '{\n  "a": 1.5\n}\n', "note: Beware.\n")


def test_an_answer_without_a_finite_number_is_a_bug(acting, command, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    acting(lambda: Answer({"a": float("nan")}))
    status, out, _ = command("schema", "--json")
    assert (status, json.loads(out)["status"]) == (70, 70)


def test_warnings_are_sentences_without_the_code_that_gave_them(acting, command):
    def act():
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("The rows are few.", UserWarning, stacklevel=1)
        return Answer({})

    acting(act)
    assert command("schema") == (0, "", "warning: The rows are few.\n")


def test_options_come_from_the_line_then_the_environment_then_the_file(acting, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    acting(lambda: Answer({"a": 1}, "text"))
    assert command("schema")[1] == "text\n"
    (tmp_path / "separatrix.toml").write_text("[schema]\njson = true\n")
    assert command("schema")[1] == '{\n  "a": 1\n}\n'
    monkeypatch.setenv("SEPARATRIX_SCHEMA_JSON", "false")
    assert command("schema")[1] == "text\n"
    assert command("schema", "--json")[1] == '{\n  "a": 1\n}\n'


PRINTS = """
import sys
from separatrix.app.cli import console, running
from separatrix.app.cli.answer import Answer
from separatrix.app.cli.options import Talking
"""


def test_a_lone_dash_is_a_name_and_never_an_option(monkeypatch, command):
    seen = []

    def schema(*data: str, na: tuple[str, ...] = (), talking: Talking = Talking()) -> Answer:
        seen.append((data, na))
        return Answer({})

    monkeypatch.setattr("separatrix.app.cli.schema.schema", schema)
    monkeypatch.setattr(running, "app", app_module.build({"schema": "Does what the test says."}))
    for tokens in (("-", "--na", "-"), ("--na", "-", "-"), ("--na", "-", "--", "-"), ("--na=-", "-")):
        assert command("schema", *tokens)[0] == 0
    assert seen == [(("-",), ("-",))] * 4
    assert command("schema", "-x")[0] == 2


def test_a_closed_pipe_is_silent():
    code = f"""{PRINTS}
running._run = lambda tokens: running.show(Answer({{}}, 'x\\n' * 10**6, status=1), Talking())
sys.exit(running.run([]))
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.read(2) == b"x\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1  # the answer's own


def test_a_closed_stderr_changes_nothing():
    code = f"""{PRINTS}
running._run = lambda tokens: running.show(Answer({{}}, 'text', 'word ' * 10**5, status=1), Talking())
sys.exit(running.run([]))
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stderr.close()
        assert process.stdout.read() == b"text\n"
    assert process.returncode == 1


def test_closed_streams_change_nothing():
    line = f"{sys.executable} -m separatrix schema error >&- 2>&-"
    assert subprocess.run(["sh", "-c", line], check=False).returncode == 0


@pytest.mark.parametrize(("text", "says"), [("[schema]\nquit = true", "--quiet"), ("x = [", "no TOML file")])
def test_what_is_wrong_with_the_file_of_options_is_told(text, says, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "separatrix.toml").write_text(text)
    status, _, err = command("schema", "error")
    assert (status, says in err, "separatrix.toml" in err) == (2, True, True)


def test_the_file_of_options_may_be_about_other_commands(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "separatrix.toml").write_text('[separable]\ntarget = "y"\n')
    assert command("schema", "error")[0] == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_is_told_once():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "separatrix", "--version"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (3, b"error: the output cannot be written: No space left on device.\n")


@pytest.mark.parametrize(
    "environment", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "cp1252"}]
)
def test_signs_that_cannot_be_shown_are_replaced(environment):
    code = f"""{PRINTS}
console.prepare()
running.show(Answer({{}}, '− · ≥ x₀ → ∞', '≥'), Talking())
running.show(Answer({{'a': 'Köln ≥'}}), Talking(json=True))
"""
    done = python(code, **environment)
    lines = done.stdout.splitlines()
    dot = b"\xb7" if "cp1252" in environment.values() else b"*"
    assert lines[0] == b"- " + dot + b" >= x0 -> inf"
    assert done.stderr.strip() == b">="
    assert json.loads(b"\n".join(lines[1:])) == {"a": "Köln ≥"}


def test_the_users_letters_go_through_the_c_locale_as_they_are():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors=console.HANDLER)
    stream.write("Köln ≥ 3\udcff")
    stream.flush()
    assert stream.buffer.getvalue() == "Köln >= 3".encode() + b"\\udcff"


def test_colours_need_a_terminal_that_has_them_and_no_one_who_minds():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    assert is_coloured(Terminal(), False, {"TERM": "xterm"})
    assert not is_coloured(Terminal(), True, {"TERM": "xterm"})
    assert not is_coloured(Terminal(), False, {"TERM": "xterm", "NO_COLOR": "1"})
    assert not is_coloured(Terminal(), False, {"TERM": "dumb"})
    assert not is_coloured(io.StringIO(), False, {"TERM": "xterm"})


def test_a_table_fits_its_width_whatever_it_holds():
    rows = [("日本語" * 30, "1"), ("line\nend\x1b[31m", "23456"), ("x" * 90, "7")]
    text = table(("a long name", "n"), rows, right=(1,))
    assert all(shown_width(line) <= 80 for line in text.splitlines())
    assert len(text.splitlines()) == 4
    assert "\x1b" not in text
    assert text.splitlines()[2].endswith("23456")


def test_nearest_names():
    assert did_you_mean("TARGTE", ["target", "weights"]) == "Did you mean 'target'?"
    assert did_you_mean("qqq", ["target", "weights"]) == ""


@pytest.mark.parametrize(
    "file", sorted(files("separatrix.app.cli").joinpath("schemas").iterdir(), key=str), ids=lambda f: f.name
)
def test_published_schemas_are_schemas(file):
    schema = json.loads(file.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    assert schema["additionalProperties"] is False
    assert file.name.removesuffix(".json") in {*COMMANDS, "error"}
