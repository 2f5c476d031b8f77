"""A process that saves again and again is killed at any moment: what is there is a whole model, the old or the new."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import separatrix
from separatrix.app.files import beside_of
from separatrix.app.models.file import write

from .model_cases import model

KILLS = 50
SAVING = """
import itertools, sys
from pathlib import Path
from separatrix.app.files import replace_pair
target, pairs = sys.argv[1], []
for folder in map(Path, sys.argv[2:]):
    beside = [(each.name, each.read_bytes()) for each in folder.glob("*.safetensors")]
    pairs.append(((folder / "model.json").read_bytes(), beside[0] if beside else None))
print("ready", flush=True)
for content, beside in itertools.cycle(pairs):
    replace_pair(target, content, beside)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL on this system")
@pytest.mark.parametrize("beside", [False, True])
def test_a_kill_leaves_the_old_model_or_the_new_one(beside, tmp_path, monkeypatch):
    if beside:
        monkeypatch.setattr("separatrix.app.models.tensors.MANY", 2)
        monkeypatch.setattr("separatrix.app.models.tensors.LONG", 2)
    folders = [tmp_path / name for name in ("one", "two")]
    for folder, name in zip(folders, ("linear", "linear of three"), strict=True):
        folder.mkdir()
        write(model(name), folder / "model.json")
        assert len(list(folder.iterdir())) == 1 + beside
    path, chance, seen, strays = tmp_path / "kept" / "model.json", random.Random(0), set(), set()
    path.parent.mkdir()
    separatrix.save(model("linear"), path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(KILLS // 2):
        arguments = [sys.executable, "-S", "-c", SAVING, path, *chance.sample(folders, 2)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, env=environment) as saving:
            assert saving.stdout.readline() == b"ready\n"
            time.sleep(chance.random() * 0.02)
            saving.kill()
        found = separatrix.load(path)
        seen.add(len(found.classes))
        assert found.labels(np.zeros((1, len(found.columns)))).shape == (1,)
        strays.add(len(list(path.parent.iterdir())) - 1 - beside)
    assert seen == {2, 3}
    assert max(strays) <= 2
    separatrix.save(found, path)
    assert sorted(path.parent.iterdir()) == sorted([path, *beside_of(path)])
    assert len(beside_of(path)) == beside


STEPS = """
import os, sys
from pathlib import Path
from separatrix.app import files
target, old, new = map(Path, sys.argv[1:])
def pair(folder):
    beside = [(each.name, each.read_bytes()) for each in folder.glob("*.safetensors")]
    return (folder / "model.json").read_bytes(), beside[0] if beside else None
def dying(left):
    for name in ("open", "fsync", "replace", "unlink", "chmod", "close"):
        def step(*args, real=getattr(os, name), **options):
            left[0] -= 1
            if left[0] < 0:
                os._exit(9)  # as a kill: nothing is tidied up
            return real(*args, **options)
        setattr(os, name, step)
for steps in range(100):
    for each in target.parent.iterdir():
        each.unlink()
    files.replace_pair(target, *pair(old))
    child = os.fork()
    if child == 0:
        dying([steps])
        files.replace_pair(target, *pair(new))
        os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    found = target.read_bytes()
    which = [name for name, folder in (("old", old), ("new", new)) if found == pair(folder)[0]]
    for name in which:
        beside = pair(old if name == "old" else new)[1]
        if beside is not None and (target.parent / beside[0]).read_bytes() != beside[1]:
            which = ["half"]
    print(*(which or ["half"]))
    if ended == 0:
        break
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.parametrize("many", [(False, False), (False, True), (True, False), (True, True)])
def test_a_kill_after_any_step_leaves_the_old_model_or_the_new_one(many, tmp_path, monkeypatch):
    folders = [tmp_path / name for name in ("old", "new", "kept")]
    for folder, name, beside in zip(folders, ("linear", "linear of three"), many, strict=False):
        folder.mkdir()
        monkeypatch.setattr("separatrix.app.models.tensors.MANY", 2 if beside else 10**6)
        monkeypatch.setattr("separatrix.app.models.tensors.LONG", 2)
        write(model(name), folder / "model.json")
    folders[2].mkdir()
    arguments = [sys.executable, "-S", "-c", STEPS, folders[2] / "model.json", *folders[:2]]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(arguments, capture_output=True, text=True, check=True, env=environment).stdout.split()
    assert len(found) > 5
    assert set(found) == {"old", "new"}
    assert found == sorted(found, reverse=True)  # from one step on it is the new one


def test_what_a_kill_left_is_removed_by_the_next_save_and_what_is_not_ours_stays(tmp_path):
    path, other = tmp_path / "model.json", tmp_path / "other.json"
    for name in (path, other):
        separatrix.save(model("linear"), name)
    ours = sorted(tmp_path.iterdir())
    prefix = os.path.basename(_partial_of(path))
    (tmp_path / f"{prefix}-0123.partial").write_text("half")
    (tmp_path / "model.0123456789abcdef.safetensors").write_text("nobody names it")
    theirs = [tmp_path / f"{_partial_of(other)}-0123.partial", tmp_path / "notes.partial"]
    for each in theirs:
        each.write_text("of another")
    separatrix.save(model("linear"), path)
    assert sorted(tmp_path.iterdir()) == sorted([*ours, *theirs])


def _partial_of(path):
    from separatrix.app.files import _aside

    return _aside(path)


def test_who_reads_while_another_saves_finds_a_whole_model(tmp_path, monkeypatch):
    monkeypatch.setattr("separatrix.app.models.tensors.MANY", 2)
    monkeypatch.setattr("separatrix.app.models.tensors.LONG", 2)
    path = tmp_path / "model.json"
    write(model("linear"), path)
    import separatrix.app.models.file as module

    once, real = [], module.from_document

    def late(document, *args, **options):
        if not once:
            once.append(write(model("linear of three"), path))  # the old side file is gone now
        return real(document, *args, **options)

    monkeypatch.setattr(module, "from_document", late)
    assert len(separatrix.load(path).classes) == 3
