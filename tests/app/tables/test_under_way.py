"""What happens while duckdb reads: processors that are spared, hashes that are worked out."""

import hashlib
import threading

import duckdb
import numpy as np
import pytest

from separatrix.app.tables.digests import PIECE, Digests
from separatrix.app.tables.errors import DataError
from separatrix.app.tables.kinds import _moments
from separatrix.app.tables.opening import open_table
from separatrix.app.tables.under_way import UnderWay


def _external(connection):
    return int(connection.execute("SELECT current_setting('external_threads')").fetchall()[0][0])


def test_a_processor_is_spared_and_taken_back():
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    reading = UnderWay(connection)
    reading.take_all()  # nothing was spared
    reading.spare_one()
    assert _external(connection) == 2
    reading.take_all()
    reading.take_all()
    assert _external(connection) == 1


def test_the_only_processor_is_not_spared():
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    reading = UnderWay(connection)
    reading.spare_one()
    assert _external(connection) == 1
    reading.take_all()
    assert _external(connection) == 1


@pytest.mark.parametrize("when", ["at once", "while it reads", "too late", "never"])
def test_a_table_is_the_same_whoever_takes_the_processor_back(when, tmp_path):
    path, asked = tmp_path / "t.csv", []
    rng = np.random.default_rng(0)
    path.write_text("x,y\n" + "".join(f"{x:.6f},{'ab'[int(x > 0)]}\n" for x in rng.normal(size=20_000)))

    def meanwhile(reading):
        reading.spare_one()
        asked.append(reading)
        if when == "at once":
            reading.take_all()
        if when == "while it reads":
            asked.append(threading.Timer(0.002, reading.take_all))
            asked[-1].start()

    with open_table([str(path)], meanwhile=meanwhile) as table, open_table([str(path)]) as plain:
        if when == "too late":
            asked[0].take_all()
        assert _external(table._loaded.connection) == 1
        np.testing.assert_array_equal(table.numbers("x"), plain.numbers("x"))
        np.testing.assert_array_equal(table.coded("y").codes, plain.coded("y").codes)


def test_a_table_that_cannot_be_read_leaves_nothing_behind(tmp_path):
    path, asked = tmp_path / "t.csv", []
    path.write_text("x,y\n1,a\n2\n")

    def meanwhile(reading):
        reading.spare_one()
        asked.append(reading)

    with pytest.raises(DataError):
        open_table([str(path)], meanwhile=meanwhile, fingerprint=True)
    asked[0].take_all()
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


def test_what_duckdb_makes_of_ctrl_c_is_an_interrupt(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,a\n2,b\n")

    def pressed(*_, **__):
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr("separatrix.app.tables.opening.load", pressed)
    with pytest.raises(KeyboardInterrupt):
        open_table([str(path)], fingerprint=True)


def test_a_constant_column_has_its_own_mean_and_no_deviation():
    assert _moments(np.full(100_001, 0.1)) == (0.1, 0.1, 0.1, 0.0)
