"""Files that were damaged in every way: a model is read, or a ModelFileError says what is wrong; nothing else, ever."""

import json
import random
import tracemalloc
import warnings

import numpy as np
import pytest

import separatrix
from separatrix.app.models.document import ModelFileError
from separatrix.app.models.file import write

from .model_cases import LEARNERS, STRANGE, document, model, places, put, removed, sealed, text

TOKENS = [
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"null", b"true", b"false", b"NaN", b"Infinity", b"-", b"1e400",
    b"1e-400", b"9" * 25, b"-0", b"00", b"0x1", b"[" * 100, b'{"a":' * 100, b"\\", b"\\u0000", b"\\ud800", b"\xff",
    b"\x00", b"\xf0\x9f\x98\x80", b"1" * 5000, b"/* */", b"'", b"1.5", b"-1", b"18446744073709551616",
]  # fmt: skip

SMALL = 2 << 20
"""Bytes of memory beyond twice those of a file of a few thousand: much less than the 64 MiB that may be taken."""


def flipped(chance, content):
    found = bytearray(content)
    for _ in range(chance.randint(1, 6)):
        found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
    return bytes(found)


def cut(chance, content):
    a, b = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    return content[:a] if chance.random() < 0.5 else content[:a] + content[b:]


def inserted(chance, content):
    at = chance.randrange(len(content))
    return content[:at] + chance.choice(TOKENS) + content[at + chance.randint(0, 3) :]


def swapped(chance, content):
    lines = content.split(b"\n")
    a, b = (chance.randrange(len(lines)) for _ in range(2))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def doubled(chance, content):
    lines = content.split(b"\n")
    at = chance.randrange(len(lines))
    return b"\n".join([*lines[: at + 1], *lines[at:]])


def changed(chance, original):
    """A document with another value, or none, in one to three places, which its fingerprint fits."""
    for _ in range(chance.randint(1, 3)):
        everywhere = [path for path in places(original) if path[0] != "fingerprint"]
        if chance.random() < 0.7:  # what the answers depend on
            everywhere = [path for path in everywhere if path[0] not in ("verdict", "parameters")] or everywhere
        path, way = chance.choice(everywhere), chance.random()
        if way < 0.15:
            original = removed(original, path)
        elif way < 0.3:
            other = chance.choice(everywhere)
            original = put(original, path, _at(original, other))
        else:
            original = put(original, path, chance.choice(STRANGE))
    return json.dumps(sealed(original)).encode()


def _at(value, path):
    for key in path:
        value = value[key]
    return value


BYTES = (flipped, cut, inserted, swapped, doubled)


def damage(chance, name):
    if chance.random() < 0.5:
        return changed(chance, document(name))
    content = text(name).encode()
    for _ in range(chance.randint(1, 2)):
        content = chance.choice(BYTES)(chance, content)
        if not content:
            break
    return content


def tried(path, chance):
    """What comes of a damaged file: read, refused, or not scored."""
    trust = chance.random() < 0.3
    found = said = None
    tracemalloc.start()
    try:
        found = separatrix.load(path, accept_changes=trust)
    except ModelFileError as error:
        said = error
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak <= 2 * path.stat().st_size + SMALL
    if said is not None:
        assert str(said).startswith(str(path))
        assert len(said.problem) > 10
        return False
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        try:
            assert len(found.labels(np.zeros((2, len(found.columns))))) == 2
        except ValueError:
            assert trust  # otherwise the stored rows were scored
    return True


def fuzz(count, path, seed):
    names, chance, read = sorted(LEARNERS), random.Random(seed), 0
    for _ in range(count):
        path.write_bytes(damage(chance, chance.choice(names)))
        read += tried(path, chance)
    return read


def test_some_damaged_files(tmp_path):
    assert fuzz(400, tmp_path / "model.json", 0) < 200


@pytest.mark.slow
def test_ten_thousand_damaged_files(tmp_path):
    assert fuzz(12_000, tmp_path / "model.json", 1) < 6000


def fuzz_pairs(count, folder, monkeypatch, seed):
    """The same of models with a file beside them, either damaged."""
    monkeypatch.setattr("separatrix.app.models.tensors.MANY", 2)
    monkeypatch.setattr("separatrix.app.models.tensors.LONG", 2)
    chance, path, originals = random.Random(seed), folder / "model.json", {}
    for name in LEARNERS:
        write(model(name), path)
        (beside,) = folder.glob("*.safetensors")
        originals[name] = path.read_bytes(), beside.name, beside.read_bytes()
        beside.unlink()
    for _ in range(count):
        content, name, numbers = originals[chance.choice(sorted(LEARNERS))]
        if chance.random() < 0.4:
            numbers = chance.choice((flipped, cut, inserted))(chance, numbers)
        else:
            content = changed(chance, json.loads(content))
        path.write_bytes(content)
        (folder / name).write_bytes(numbers)
        tried(path, chance)
        (folder / name).unlink()


def test_some_damaged_pairs(tmp_path, monkeypatch):
    fuzz_pairs(200, tmp_path, monkeypatch, 0)


@pytest.mark.slow
def test_four_thousand_damaged_pairs(tmp_path, monkeypatch):
    fuzz_pairs(4000, tmp_path, monkeypatch, 1)
