"""Who waits longer than a second is told for what, and for how long."""

import io
import time

import pytest

from separatrix.app.cli import progress
from separatrix.app.cli.options import Talking
from separatrix.app.cli.progress import Waiting, waiting_line, watch


@pytest.fixture
def heard(monkeypatch):
    """What is written on stderr."""
    stream = io.StringIO()
    monkeypatch.setattr(progress, "tell", stream.write)
    return stream


def waited_for(heard, sign, seconds=10.0):
    end = time.monotonic() + seconds
    while sign not in heard.getvalue():
        assert time.monotonic() < end, heard.getvalue()
        time.sleep(0.01)


def test_lines_come_at_twice_the_time_of_the_last(heard):
    with Waiting(Talking(), "reading t.csv", lambda: 0.5, patience=0.02) as line:
        line.begin()
        waited_for(heard, "left\n")
        time.sleep(0.3)
    lines = heard.getvalue().splitlines()
    assert 2 <= len(lines) <= 6  # of three hundredths of a second not one each
    assert all(each.startswith("reading t.csv: 50 %, about") for each in lines)


def test_on_a_terminal_one_line_is_written_over_and_wiped_away(heard):
    with Waiting(Talking(progress="always"), "reading t.csv", patience=0.01) as line:
        line.begin()
        waited_for(heard, "so far")
    found = heard.getvalue()
    assert "\n" not in found
    assert found.startswith("\r\x1b[2Kreading t.csv: 0 s so far")
    assert found.endswith("\r\x1b[2K")


@pytest.mark.parametrize("talking", [Talking(quiet=True), Talking(progress="never")])
def test_nothing_is_said_to_who_wants_quiet(heard, talking):
    with Waiting(talking, "reading", patience=0.0) as line:
        line.begin()
        time.sleep(0.1)
    assert heard.getvalue() == ""


def test_what_is_soon_done_is_not_mentioned(heard):
    with Waiting(Talking(), "reading", patience=5.0) as line:
        line.begin()
    with Waiting(Talking(), "reading", patience=0.0):
        time.sleep(0.05)  # it never began
    assert heard.getvalue() == ""


def test_a_step_that_takes_long_and_what_follows_the_last_are_told(heard, monkeypatch):
    monkeypatch.setattr(Waiting.__init__, "__defaults__", (lambda: -1.0, 0.02))

    def steps():
        waited_for(heard, "the first step: 0 s so far")
        yield 1
        waited_for(heard, "step 2, or the proof after the last one: 0 s so far")

    assert list(watch(steps(), Talking())) == [1]


@pytest.mark.parametrize("share", [-1.0, 0.0, 0.001, 1.5])
def test_no_estimate_of_what_is_not_known(share):
    assert waiting_line("reading", 61.0, share) == "reading: 1 min 1 s so far"
