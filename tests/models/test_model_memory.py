"""Reading takes at most twice the memory of the file, and a fixed sum: whatever is in it."""

import json
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from model_cases import document, model

import separatrix
from separatrix.models import scanning
from separatrix.models.errors import ModelFileError
from separatrix.models.file import from_document, write

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
    assert 19 * MB < len(content) < int(found) <= 2 * len(content) + scanning.FIXED


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
    monkeypatch.setattr(scanning, "FIXED", MB)
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
        assert found <= 2 * len(content) + scanning.FIXED + MB


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
    monkeypatch.setattr(scanning, "FIXED", 100)
    with pytest.raises(ValueError, match=r"cannot be saved, as nobody could read it: .*twice as much memory"):
        separatrix.save(model("linear"), tmp_path / "model.json")
    assert not list(tmp_path.iterdir())
