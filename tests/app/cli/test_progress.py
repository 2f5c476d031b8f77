"""Progress and Ctrl-C: what is shown where, and what an interrupted fit leaves."""

import io
import os
import signal
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import separatrix
from separatrix.app.cli.options import Talking
from separatrix.app.cli.progress import Mark, duration, facts, watch


class Step(NamedTuple):
    value: float
    gradient_norm: float
    passes: float


class Terminal(io.StringIO):
    def isatty(self):
        return True


def clock_of(seconds_per_call):
    """A clock that runs on by so much whenever it is read."""
    times = iter(range(10**9))
    return lambda: next(times) * seconds_per_call


def steps(count):
    for k in range(1, count + 1):
        yield Step(1 / k, 10.0**-k, float(k))


def shown(monkeypatch, stream, talking=None, count=20, pace=0.6, total=None):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    seen = list(watch(steps(count), talking or Talking(), total, clock=clock_of(pace)))
    assert seen == list(steps(count))
    return stream.getvalue()


def test_a_pipe_sees_lines_at_powers_of_two_after_a_second(monkeypatch):
    lines = shown(monkeypatch, io.StringIO()).splitlines()
    assert [line.split(",")[0] for line in lines] == ["step 2", "step 4", "step 8", "step 16"]
    assert "loss 0.5, gradient 1.0e-02" in lines[0]
    assert "steps/s" in lines[0]
    assert "\x1b" not in "".join(lines)


def test_what_is_soon_done_says_nothing(monkeypatch):
    assert shown(monkeypatch, io.StringIO(), pace=0.001) == ""
    assert shown(monkeypatch, Terminal(), pace=0.001) == ""


def test_a_terminal_sees_a_bar_that_is_wiped_away(monkeypatch):
    text = shown(monkeypatch, Terminal(), total=20)
    assert "█" in text
    assert "left" in text
    assert text.endswith("\r\x1b[2K")
    assert "\n" not in text
    assert all(len(frame) < 80 for frame in text.split("\r\x1b[2K"))


def test_a_terminal_without_a_cursor_sees_lines(monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    monkeypatch.setenv("TERM", "dumb")
    list(watch(steps(8), Talking(), clock=clock_of(0.6)))
    assert "\x1b" not in stream.getvalue()
    assert "step 8" in stream.getvalue()


@pytest.mark.parametrize("talking", [Talking(quiet=True), Talking(progress="never")])
def test_whoever_wants_silence_has_it(talking, monkeypatch):
    assert shown(monkeypatch, Terminal(), talking) == ""


def test_always_means_at_once_and_everywhere(monkeypatch):
    assert "step 1," in shown(monkeypatch, io.StringIO(), Talking(progress="always"), pace=0.001)


def test_the_bar_goes_when_a_step_fails(monkeypatch):
    def failing():
        yield from steps(10)
        raise ValueError("no more")

    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(ValueError, match="no more"):
        list(watch(failing(), Talking(), clock=clock_of(0.6)))
    assert stream.getvalue().endswith("\r\x1b[2K")


LEARNERS = [
    (separatrix.LogisticRegression, "loss"),
    (separatrix.Perceptron, "mistakes"),
    (separatrix.KernelPerceptron, "mistakes"),
    (separatrix.MaxMarginClassifier, "at least"),
    (separatrix.ZeroOneClassifier, "at least"),
    (separatrix.GaussianNaiveBayes, "rows"),
    (separatrix.LeastSquaresClassifier, "rows"),
    (separatrix.JointPerceptron, "mistakes"),
    (separatrix.JointClassifier, "loss"),
]


@pytest.mark.parametrize(("learner", "says"), LEARNERS, ids=lambda value: getattr(value, "__name__", value))
def test_the_steps_of_every_learner_have_something_to_say(learner, says):
    X = np.array([[0.0, 0], [3, 1], [1, 1], [4, 3], [2, 0], [5, 1]])
    y = np.array([0, 1, 0, 1, 0, 1])
    model = learner()
    *_, last = watch(model.steps(X, y), Talking(quiet=True))
    text = ", ".join(facts(3, last, 2.0, None))
    assert says in text
    assert text.startswith("step 3, ")


def test_rates_are_counted_from_the_first_step_which_takes_longest():
    said = facts(11, Step(1.0, 1.0, 11.0), 32.0, 21, Mark(1, 1 / 21, 30.0))
    assert said[-2:] == ["5 steps/s", "at most 2 s left"]
    assert facts(1, Step(1.0, 1.0, 1.0), 30.0, 21, Mark(1, 1 / 21, 30.0))[-1] == "30 s so far"


def test_durations():
    assert [duration(s) for s in (3.2, 75, 3700)] == ["3 s", "1 min 15 s", "1 h 1 min"]


@pytest.mark.skipif(sys.platform == "win32", reason="on Windows every Ctrl-C stops at once")
def test_the_first_ctrl_c_finishes_the_step_and_the_learner_keeps_what_it_has(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    model = separatrix.LogisticRegression()
    before = signal.getsignal(signal.SIGINT)
    taken = 0
    for _ in watch(model.steps(X, y), Talking(quiet=True)):
        taken += 1
        os.kill(os.getpid(), signal.SIGINT)
    assert taken == 1
    assert model.verdict_.status == "interrupted"
    assert model.coef_.shape == (1, 3)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(sys.platform == "win32", reason="on Windows every Ctrl-C stops at once")
def test_the_second_ctrl_c_stops_at_once():
    closed = []

    def slow():
        try:
            yield 1
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            yield 2
        finally:
            closed.append(True)

    seen = []
    with pytest.raises(KeyboardInterrupt):
        seen.extend(watch(slow(), Talking(quiet=True)))
    assert seen == [1]
    assert closed == [True]


FIT = """
import sys, time
from separatrix.app.cli import running
from separatrix.app.cli.answer import INTERRUPTED, Answer
from separatrix.app.cli.options import Talking
from separatrix.app.cli.progress import watch
def slow():
    try:
        for k in range(10**9):
            time.sleep(0.01)
            yield k
    except GeneratorExit:
        print("kept", flush=True)
        raise
def act(tokens):
    for k in watch(slow(), Talking()):
        if k == 0:
            print("started", flush=True)
    return INTERRUPTED
def plain(tokens):
    print("started", flush=True)
    time.sleep(60)
running._run = {which}
sys.exit(running.run([]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="on Windows every Ctrl-C stops at once")
@pytest.mark.parametrize(("which", "kept"), [("act", b"kept"), ("plain", b"")])
def test_ctrl_c_in_a_process_of_its_own(which, kept):
    process = subprocess.Popen(
        [sys.executable, "-c", FIT.replace("{which}", which)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        assert process.stdout.readline() == b"started\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out.strip()) == (130, kept)
    assert b"Traceback" not in err
    assert (b"finishing this step" in err) == bool(kept)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_real_terminal_sees_the_bar_and_colours():
    import pty

    code = """
import itertools
from separatrix.app.cli import running
from separatrix.app.cli.options import Talking
from separatrix.app.cli.progress import watch
list(watch(iter(range(50)), Talking(), 50, clock=lambda c=itertools.count(): next(c)))
running.run(["ft"])
"""
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 1000):
                text += part
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    assert process.returncode == 0
    assert "█".encode() in text
    assert b"\x1b[31merror: \x1b[0m" in text
