"""Commands that run in this process, in a folder of their own."""

import json

import pytest

from separatrix.app.cli.running import run

from .schemas import validator


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
        validator("error" if "error" in data else tokens[0]).validate(data)
        return status, data

    return asked
