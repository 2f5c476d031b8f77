"""Whatever is typed, and whatever the files hold: a sentence and a status, never a traceback or half a file."""

import os
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from . import hostile
from .hostile import OLD, World, command_lines, damaged_files, models, tables

HERE = settings(deadline=None, database=None, print_blob=True, suppress_health_check=list(HealthCheck))
FEW, MANY = 40, 2600
"""Cases of each kind in the usual run, and in `make test-slow`: there more than ten thousand in all."""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("hostile"))


def arguments(world, data):
    world.hold(data.draw(command_lines()))


def files(world, data):
    tokens, content = data.draw(damaged_files(world.seeds))
    world.hold(tokens, world.put(content))


def model_files(world, data):
    tokens, content = data.draw(models(world.seeds))
    world.hold(tokens, world.put(content))


def strange_tables(world, data):
    tokens, then, content = data.draw(tables())
    world.put(content)
    world.hold(tokens)
    world.hold(then)


KINDS = pytest.mark.parametrize("kind", [arguments, files, model_files, strange_tables], ids=lambda kind: kind.__name__)


@KINDS
@settings(HERE, max_examples=FEW, derandomize=True)
@given(data=st.data())
def test_nothing_breaks(world, kind, data):
    world.reset()
    kind(world, data)


@pytest.mark.slow
@KINDS
@settings(HERE, max_examples=MANY)
@given(data=st.data())
def test_nothing_breaks_in_ten_thousand_cases(world, kind, data):
    world.reset()
    kind(world, data)


# ------------------------------------------------------------------------------------------- what was found in this way


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
@pytest.mark.parametrize(
    "typed",
    [
        ("fit", "a.csv", "--target", "y"), ("predict", "m.json", "a.csv", "--format", "csv"), ("summary", "m.json"),
        ("separable", "a.csv", "--target", "y"),
    ],
    ids=lambda typed: typed[0],
)  # fmt: skip
def test_a_device_is_written_to_and_never_replaced(world, typed):
    """A pipe stands for all that is no plain file: never /dev/null itself, which a fault would replace."""
    world.reset()
    pipe = world.work / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    assert world.hold([*typed, "-o", "pipe"]) in (0, 1)
    reader.join(10)
    assert pipe.is_fifo()
    assert found[0].endswith(b"\n")


@pytest.mark.parametrize(
    "typed", [("summary", "m.json", "-o", "m.json"), ("separable", "a.csv", "--target", "y", "-o", "a.csv")]
)
def test_what_is_read_is_never_overwritten(world, typed):
    world.reset()
    before = (world.work / typed[1]).read_bytes()
    assert world.hold(typed) == 2
    assert (world.work / typed[1]).read_bytes() == before


@pytest.mark.parametrize("name", ["\udcff", "a\0b", "", "no such encoding", "hex"])
def test_an_encoding_that_is_none_is_named(world, name):
    world.reset()
    status, _, said = world.ran(["schema", "a.csv", "--encoding", name], b"")
    assert status == 3
    assert "encoding" in said


@pytest.mark.parametrize("largest", ["-1e308", "1.7976931348623157e308", "8.98846567431158e307", "1e151"])
def test_numbers_as_large_as_there_are_have_a_mean(world, largest):
    world.reset()
    rows = "".join(f"{'rg'[k % 2]},{k % 5},1\n" for k in range(40))
    (world.work / "t.csv").write_text(f"x,z,y\n{rows}r,{largest},1\ng,,2\n")
    for more in ([], ["--standardise"]):
        assert world.hold(["fit", "t.csv", "--target", "x", "--missing", "impute", *more]) in (0, 3)


@pytest.mark.parametrize(
    "learner", ["joint", "logistic", "least-squares", "perceptron", "gaussian-naive-bayes", "discriminant"]
)
def test_sums_that_overflow_are_told_by_their_column(world, learner):
    world.reset()
    rows = [f"{'rg'[k % 2]},{k % 5},{k % 3}" for k in range(40)]
    (world.work / "t.csv").write_text("\n".join(["x,z,y", *rows, "r,1e308,1", "g,-1.5e308,2"]) + "\n")
    assert world.hold(["fit", "t.csv", "--target", "x", "--learner", learner]) in (0, 3)


def test_an_answer_that_rounding_spoilt_is_not_given(world):
    """Beside 10³⁰⁸ a difference of 1 is nothing, and it alone separates the classes."""
    world.reset()
    rows = ["0,1,r"] * 21 + ["-1e308,1,r", "1,1,g"] + ["0,1,r"] * 8
    (world.work / "t.csv").write_text("\n".join(["x,y,z", *rows]) + "\n")
    status, _, said = world.ran(["separable", "t.csv", "--target", "z"], b"")
    assert status == 3
    assert "cannot be proved" in said
    assert "--drop x" in said


def test_a_pipe_with_a_name_is_read_whole(world):
    world.reset()
    whole = world.ran(["schema", "a.csv", "--json"], b"")[1]
    os.mkfifo(world.work / "pipe")
    content = (world.work / "a.csv").read_bytes()
    writer = threading.Thread(target=lambda: (world.work / "pipe").write_bytes(content))
    writer.start()
    status, out, _ = world.ran(["schema", "pipe", "--json"], b"")
    writer.join(10)
    assert (status, out) == (0, whole.replace(b'"a.csv"', b'"pipe"'))


def test_the_harness_sees_what_it_should(world, monkeypatch):
    """A command that leaves a file, or half of one, fails the test."""
    world.reset()
    monkeypatch.setattr(hostile, "run", lambda tokens: (world.work / ".x.partial").write_text("x") and 0)
    with pytest.raises(AssertionError):
        world.hold(["schema", "a.csv"])
    world.reset()
    monkeypatch.setattr(hostile, "run", lambda tokens: (world.work / "old.json").write_text("x") and 3)
    with pytest.raises(AssertionError):
        world.hold(["fit", "a.csv", "-o", "old.json"])
    world.reset()
    assert (world.work / "old.json").read_text() == OLD
