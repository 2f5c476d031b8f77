"""Reading takes at most twice the memory of the file, and a fixed sum: whatever is in it."""

import json
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import separatrix
from separatrix.app.models import document as looked_over
from separatrix.app.models.document import ModelFileError
from separatrix.app.models.file import from_document, write

from .model_cases import document, model, sealed

MB = 1 << 20


def peak(path):
    """Bytes of memory that reading takes at once, and what came of it."""
    from_document(document())  # what is imported and cached is not counted
    tracemalloc.start()
    try:
        separatrix.load(path)
        said = ""
    except ModelFileError as error:
        said = str(error)
    finally:
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found, said


def with_numbers(size):
    """A model that has so many bytes, nearly all of them numbers."""
    numbers = json.dumps(np.random.default_rng(0).normal(size=1000).tolist())[1:-1] + ", "
    whole = json.dumps({**document(), "training": {"more": [77777]}})
    return whole.replace("77777", numbers * (size // len(numbers)) + "0.5").encode()


def repeated(piece, size, start=b'{"a": [', end=b"0]}"):
    return start + piece * (size // len(piece)) + end


READING = """
import sys, separatrix
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) * 1024
separatrix.load(sys.argv[1])
before = peak()
try:
    separatrix.load(sys.argv[2])
except ValueError as error:
    print(peak() - before, error)
"""


@pytest.mark.skipif(
    not os.path.exists("/proc/self/status"), reason="this system does not say what memory a process took"
)
def test_twenty_megabytes_of_numbers(tmp_path):
    content = with_numbers(20 * MB)
    separatrix.save(model("linear"), tmp_path / "small.json")
    (tmp_path / "model.json").write_bytes(content)
    arguments = [sys.executable, "-c", READING, tmp_path / "small.json", tmp_path / "model.json"]
    found, said = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.split(maxsplit=1)
    assert "it was changed after it was written" in said  # which is looked at when all is read
    assert 19 * MB < len(content) < int(found) <= 2 * len(content) + looked_over.FIXED


@pytest.mark.parametrize("piece", [b"[", b"[],", b'{"a":{}},'])
def test_twenty_megabytes_of_brackets(piece, tmp_path):
    (tmp_path / "model.json").write_bytes(repeated(piece, 20 * MB))
    found, said = peak(tmp_path / "model.json")
    assert "twice as much memory" in said or "inside each other" in said
    assert found <= 22 * MB


PIECES = {
    "lists": b"[],", "lists of one": b"[1],", "pairs": b"[0,0],", "objects": b"{},", "objects of one": b'{"a":1},',
    "objects of two": b'{"a":"","b":[]},', "objects of objects": b'{"a":{"a":{"a":{}}}},', "zeros": b"0,",
    "fractions": b"0.1,", "long fractions": b"0.12345678901234567,", "texts": b'"abcdefgh",', "letters": b'"a",',
    "empty texts": b'"",', "long texts": b'"' + b"x" * 4000 + b'",', "escapes": rb'"\u1234\"",',
    "wide texts": '"😀😀😀😀",'.encode(), "long wide texts": b'"' + ("é" * 2000).encode() + b'",',
    "one wide letter": b'"' + b"x" * 100_000 + "😀".encode() + b'",', "null": b"null,", "large": b"1e300,",
}  # fmt: skip


@pytest.mark.parametrize("name", PIECES)
@pytest.mark.parametrize("inside", [False, True])
def test_the_law_holds_whatever_is_repeated(name, inside, tmp_path, monkeypatch):
    monkeypatch.setattr(looked_over, "FIXED", MB)
    start, end = b'{"a": [', b"0]}"
    if inside:  # in a model, where it would be kept
        whole = json.dumps({**document(), "training": {"more": 77777}}).encode()
        start, end = (part + more for part, more in zip(whole.split(b"77777"), (b"[", b""), strict=True))
        end = b"0]" + end
    for size in (MB // 4, 2 * MB):
        content = repeated(PIECES[name], size, start, end)
        (tmp_path / "model.json").write_bytes(content)
        found, said = peak(tmp_path / "model.json")
        assert said  # its fingerprint is wrong, at the least
        assert found <= 2 * len(content) + looked_over.FIXED + MB


LONG = "x" * 300_000


def plain_numbers(name, columns):
    """A document of a model of a matrix with these columns, without what was said of the training rows."""
    return {**document(name), "columns": columns, "encoding": None, "training": {}, "scaled_weights": None}


def products(*steps):
    return [{"kind": "products", "columns": 2, "terms": terms} for terms in steps]


def doubling():
    """Many maps, each of which makes names that are twice as long."""
    found = plain_numbers("features", ["a", "b"])
    found["features"] = products(*[[[0, 1], [1, 0]]] * 25)
    found["rule"]["weights"] = [1.0, 1.0]
    return found


def long_products():
    found = plain_numbers("features", [LONG, "y"])
    found["features"] = products([[0, 1]] * 1000)
    found["rule"]["weights"] = [1.0] * 1000
    return found


def long_levels():
    found = plain_numbers("linear", [f"c{k}" for k in range(999)])
    levels = [str(k) for k in range(1000)]
    found["encoding"] = [{"name": LONG, "kind": "category", "levels": levels, "fill": None, "indicator": False}]
    found["rule"]["weights"] = [1.0] * 999
    return found


def long_tables():
    found = plain_numbers("naive Bayes of levels", ["a", LONG, "b", "c", "d"])
    assert len(found["rule"]["centre"]) == 5
    table = next(each for each in found["rule"]["levels"] if each["column"] == 1)
    table["values"], table["probability"] = list(range(1000)), [[0.5] * 1000] * 3
    return found


def long_members():
    found = plain_numbers("one-vs-rest", [LONG, "y"])
    member = found["rule"]["members"][0]
    member["features"] = products([[0, 1]] * 10)
    member["rule"]["weights"] = [1.0] * 10
    found["rule"]["members"] = [member] * 100
    return found


def one_long_class():
    found = plain_numbers("linear of three", ["a", "b"])
    K = 1000
    found["classes"] = [LONG, *map(str, range(K - 1))]
    found["rule"] |= {"weights": [[1.0, 1.0]] * K, "intercept": [0.0] * K}
    row = {"name": "a", "columns": None, "cells": [1.0, 1.0], "label": "0", "scores": [2.0] * K}
    found["examples"] = [{**row, "probabilities": [1 / K] * K}]
    return found


def many_coupled():
    found = plain_numbers("one-vs-one", ["a", "b"])
    K, member = 4000, found["rule"]["members"][0]
    member["rule"] |= {"weights": [1.0, 1.0]}
    code = 2 * ((np.arange(1, K + 1)[:, None] >> np.arange(12)) & 1) - 1
    found["classes"], found["rule"]["code"], found["rule"]["members"] = list(range(K)), code.tolist(), [member] * 12
    row = {"name": "a", "columns": None, "cells": [1.0, 1.0], "label": 0, "scores": [1.0] * K}
    found["examples"] = [{**row, "probabilities": [1 / K] * K}]
    return found


BOMBS = (doubling, long_products, long_levels, long_tables, long_members, one_long_class, many_coupled)


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_is_made_of_a_small_file_is_small_too(bomb, tmp_path):
    content = json.dumps(sealed(bomb())).encode()
    (tmp_path / "model.json").write_bytes(content)
    assert len(content) < 2 * MB
    found, _ = peak(tmp_path / "model.json")
    assert found <= 2 * len(content) + looked_over.FIXED // 4


def test_the_side_file_is_held_once(tmp_path):
    facts = {"more": np.random.default_rng(0).normal(size=1_000_000)}
    ours = model("linear")
    write(type(ours)(**{**vars_of(ours), "training": facts}), tmp_path / "model.json")
    (beside,) = tmp_path.glob("*.safetensors")
    assert beside.stat().st_size > 8_000_000
    found, said = peak(tmp_path / "model.json")
    assert said == ""
    assert found <= beside.stat().st_size + 4 * MB


def vars_of(ours):
    names = ("learner", "parameters", "classes", "columns", "rule", "feature_map", "encoding", "verdict")
    return {name: getattr(ours, name) for name in names}


def test_gigabytes_are_not_read(tmp_path):
    path = tmp_path / "model.json"
    with open(path, "wb") as file:
        file.write(b"[" * 1000)
        file.truncate(3 << 30)
    found, said = peak(path)
    assert (
        f"it has {3 << 30} bytes; more than {1 << 30} are not read. If you trust it: separatrix.load(path, largest="
        in said
    )
    assert found < MB
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="inside each other"):
        separatrix.load(path, largest=4 << 30)
    tracemalloc.stop()


def test_what_nobody_could_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(looked_over, "FIXED", 100)
    with pytest.raises(ValueError, match=r"cannot be saved, as nobody could read it: .*twice as much memory"):
        separatrix.save(model("linear"), tmp_path / "model.json")
    assert not list(tmp_path.iterdir())
