"""What happens while duckdb reads: hashes that are worked out, Ctrl-C."""

import hashlib
import os
import signal
import threading

import numpy as np
import pytest

from separatrix.app.tables.database import Database, connect
from separatrix.app.tables.errors import TableError
from separatrix.app.tables.kinds import _moments
from separatrix.app.tables.opening import open_table
from separatrix.app.tables.sources import PIECE, Digests


def test_a_table_that_cannot_be_read_leaves_nothing_behind(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,a\n2\n")
    with pytest.raises(TableError):
        open_table([str(path)], fingerprint=True)
    assert not [each for each in threading.enumerate() if each.name == "separatrix-digests"]


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, 2 * PIECE + 3])
def test_a_hash_is_that_of_the_whole_file_in_another_thread_or_not(size, tmp_path):
    content = np.random.default_rng(0).bytes(size)
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    begun, asked = Digests([path, path]), Digests([path, path])
    begun.begin()
    assert begun.all() == asked.all() == [hashlib.sha256(content).digest()] * 2


def test_a_file_that_is_gone_is_told_of_where_its_hash_is_asked_for(tmp_path):
    digests = Digests([tmp_path / "gone.csv"])
    digests.begin()
    with pytest.raises(FileNotFoundError):
        digests.all()


def test_whoever_asks_for_a_hash_that_was_given_up_gets_that_of_the_whole_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"x" * 100)
    for begun in (False, True):
        digests = Digests([path])
        if begun:
            digests.begin()
        digests.give_up()
        assert digests.all() == [hashlib.sha256(b"x" * 100).digest()]


def test_a_fingerprint_does_not_depend_on_when_it_was_worked_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "1,a\n2,b\n" * 50)
    with open_table([str(path)], fingerprint=True) as early, open_table([str(path)]) as late:
        assert early.fingerprint() == late.fingerprint()


def test_ctrl_c_while_duckdb_works_is_an_interrupt():
    """The signal comes when the query runs: it would take minutes, in many small pieces."""
    database, before = connect(), signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            database.rows("SELECT sum(range % 7) FROM range(100_000_000_000)")
    finally:
        signal.signal(signal.SIGINT, before)
    assert database.rows("SELECT 1") == [(1,)]


def test_ctrl_c_while_a_table_is_read_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,a\n2,b\n")

    class Pressed:
        def execute(self, *_):
            raise KeyboardInterrupt

        def interrupt(self):
            pass

        def close(self):
            pass

    monkeypatch.setattr("separatrix.app.tables.opening.connect", lambda _: Database(Pressed()))
    with pytest.raises(KeyboardInterrupt):
        open_table([str(path)], fingerprint=True)
    assert not [each for each in threading.enumerate() if each.name == "separatrix-digests"]


def test_a_constant_column_has_its_own_mean_and_no_deviation():
    assert _moments(np.full(100_001, 0.1)) == (0.1, 0.1, 0.1, 0.0)
