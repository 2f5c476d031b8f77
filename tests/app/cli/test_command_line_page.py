"""docs/command_line.md: its examples run, and its options exist."""

import importlib.util
import re
import shlex
import subprocess
import sys

import pytest
from places import ROOT

from separatrix.app.cli.app import COMMANDS, app
from separatrix.app.cli.demo import _environment, loans
from separatrix.app.cli.running import run

PAGE = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
LINES = [
    line for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) for line in block.splitlines()
]
READERS = ("separatrix.app.tables.opening", "separatrix.app.tables.kinds", "separatrix.app.tables.encoding")
ABSENT = [name for name in READERS if importlib.util.find_spec(name) is None]
THERE = {name for name in COMMANDS if importlib.util.find_spec(f"separatrix.app.cli.{name}")}


def is_there(command):
    """Whether a command can be run: it and all that it is completed from."""
    if command == "export" and "fit" not in THERE:
        return False  # there is no model yet
    return command in THERE and (command != "completion" or len(THERE) == len(COMMANDS))


def command_of(line):
    return re.search(r"separatrix (\w+)", line).group(1)


def test_every_line_runs_with_the_status_it_says(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    loans(tmp_path)
    ran = 0
    for line in LINES:
        words, _, said = line.partition("   # status ")
        if not is_there(command_of(line)) or ("|" in words and ABSENT):
            continue
        if any(sign in words for sign in "|>") and '"' not in words:
            code = f'separatrix() {{ {shlex.quote(sys.executable)} -m separatrix "$@"; }}; {words}'
            status = subprocess.run(["sh", "-c", code], check=False, capture_output=True, env=_environment()).returncode
        else:
            status = run(shlex.split(words)[1:])
        assert status == int(said or 0), (line, capfd.readouterr().err)
        ran += 1
    assert ran >= 5


def test_every_command_has_a_section():
    titles = " ".join(re.findall(r"^### (.*)$", PAGE, re.MULTILINE)).split()
    assert set(titles) - {"and"} == set(COMMANDS)


SECTIONS = re.findall(r"^### (\w+)\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("command", "text"), SECTIONS, ids=[name for name, _ in SECTIONS])
def test_every_option_of_a_section_exists(command, text):
    if command not in THERE:
        pytest.skip(f"{command} is not there yet")
    known = {name for argument in app[command].assemble_argument_collection() for name in argument.names}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text)) <= known | {"--help"}


def test_every_shared_option_exists():
    known = {name for argument in app["separable"].assemble_argument_collection() for name in argument.names}
    tables = PAGE[PAGE.index("## Tables") : PAGE.index("## Commands")]
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", tables)) <= known
