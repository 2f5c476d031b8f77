"""`separatrix completion`: scripts that shells read."""

import importlib.util
import os
import select
import shutil
import subprocess
import time

import pytest

from separatrix.app.cli import app as app_module
from separatrix.app.cli import completion as home


@pytest.fixture(autouse=True)
def only_commands_that_are_there(monkeypatch):
    there = {k: v for k, v in app_module.COMMANDS.items() if importlib.util.find_spec(f"separatrix.app.cli.{k}")}
    monkeypatch.setattr(home, "build", lambda: app_module.build(there))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_knows_commands_and_options_and_the_shell_reads_it(shell, command, tmp_path):
    status, out, err = command("completion", shell)
    assert status == 0
    assert all(word in out for word in ("separable", "schema", "target", "progress"))
    assert f"separatrix completion {shell} >" in err
    if shutil.which(shell):
        (tmp_path / "script").write_text(out)
        subprocess.run([shell, "-n", str(tmp_path / "script")], check=True, capture_output=True)


def complete(script, *words):
    """What bash offers for the last of these words."""
    line = " ".join(words)
    code = f"""{script}
COMP_WORDS=({" ".join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}
COMP_LINE={line!r}; COMP_POINT={len(line)}
name=$(complete -p separatrix | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
$name separatrix {words[-1]!r} {words[-2]!r}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "--norc", "-c", code], capture_output=True, check=False)
    return done.stdout.decode().split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes(command):
    script = command("completion", "bash")[1]
    assert complete(script, "separatrix", "sepa") == ["separable"]
    assert "--target" in complete(script, "separatrix", "separable", "--ta")
    assert complete(script, "separatrix", "schema", "--progress", "al") == ["always"]
    assert complete(script, "separatrix", "completion", "fi") == ["fish"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.skipif(importlib.util.find_spec("separatrix.app.cli.fit") is None, reason="fit is not there yet")
def test_bash_completes_learners(command):
    script = command("completion", "bash")[1]
    assert complete(script, "separatrix", "fit", "--learner", "logi") == ["logistic"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(command, tmp_path):
    (tmp_path / "script").write_text(command("completion", "fish")[1])

    def offered(line):
        code = f"source {tmp_path / 'script'}; complete -C {line!r}"
        done = subprocess.run(["fish", "--no-config", "-c", code], capture_output=True, check=True, cwd=tmp_path)
        return [each.split("\t")[0] for each in done.stdout.decode().splitlines()]

    assert offered("separatrix sepa") == ["separable"]
    assert offered("separatrix fit --learner logi") == ["logistic"]


def pressed(setup, typed, wanted):
    """What zsh shows on a terminal after these words and a Tab, as soon as `wanted` is there."""
    pty = pytest.importorskip("pty")
    ours, its = pty.openpty()
    shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=its, stdout=its, stderr=its, start_new_session=True)
    os.close(its)
    seen = ""

    def read_until(text):
        nonlocal seen
        end = time.monotonic() + 20
        while text not in seen and time.monotonic() < end:
            if select.select([ours], [], [], 0.2)[0]:
                seen += os.read(ours, 4096).decode(errors="replace")

    try:
        os.write(ours, f"{setup}; print re''ady\n".encode())
        read_until("ready")
        seen = ""
        os.write(ours, f"{typed}\t".encode())
        read_until(wanted)
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)
    return seen


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize("way", ["fpath", "source"])
def test_zsh_calls_the_script_from_a_folder_of_fpath_and_when_it_is_sourced(way, command, tmp_path):
    script, begin = tmp_path / "_separatrix", "autoload -Uz compinit; compinit -u -D"
    script.write_text(command("completion", "zsh")[1])
    setup = f"fpath=({tmp_path} $fpath); {begin}" if way == "fpath" else f"{begin}; source {script}"
    assert "separable" in pressed(setup, "separatrix sepa", "separable")
