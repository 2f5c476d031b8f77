"""A model file is checked before it is used: whatever is wrong with it is said, with the path and the place."""

import copy
import json
import os
import stat
import subprocess
import sys
import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix
from separatrix import (
    GaussianDiscriminant,
    GaussianNaiveBayes,
    KernelPerceptron,
    LogisticRegression,
    OneVsOne,
    VotedPerceptron,
)
from separatrix.app.files import replace_file
from separatrix.app.models import document as document_module
from separatrix.app.models.document import ModelFileError, parsed, written
from separatrix.app.models.file import from_document, read, to_document, write
from separatrix.app.models.from_learner import model_of
from separatrix.app.tables.columns import Decision
from separatrix.app.tables.encoding import learn_encoding
from separatrix.app.tables.table import Columns
from separatrix.features import Polynomial

RNG = np.random.default_rng(0)


def test_a_device_is_written_to_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    replace_file(pipe, b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


TABLE = Columns({"n": RNG.normal(size=40), "c": np.array(["r", "g"], object)[RNG.integers(0, 2, 40)]})
DECISIONS = [Decision("n", "number", ""), Decision("c", "category", "")]
ENCODING = learn_encoding(TABLE, DECISIONS)
X = ENCODING.matrix(TABLE)
Y = np.where(X[:, 0] + RNG.normal(size=40) > 0, "yes", "no")
LEARNERS = {
    "linear": LogisticRegression(class_weight="balanced", prior="data"),
    "features": LogisticRegression(l2=0.1, features=Polynomial(2)),
    "quadratic": GaussianDiscriminant(covariance="own", shrinkage=0.1),
    "sums": GaussianNaiveBayes(variance="own"),
    "kernel": KernelPerceptron("rbf", reading="voted", max_passes=2),
    "voted": VotedPerceptron(max_passes=2),
    "coded": OneVsOne(LogisticRegression(l2=0.1)),
}


@cache
def text(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = model_of(LEARNERS[name].fit(X, Y), encoding=ENCODING, X=X)
    return written(to_document(model)).decode()


def document(name="linear"):
    return json.loads(text(name))


STRANGE = [None, True, -1, 0, 1, 2.5, 1e308, 10**19, "", "x", "linear", [], [[]], [1], {}, {"a": 1}]


def places(value, path=()):
    """Every place in a document."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def put(value, path, new):
    value = copy.deepcopy(value)
    at = value
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return value


# ----------------------------------------------------------------------------------------------------------------- laws


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_a_document_that_was_changed_anywhere_is_read_or_refused_with_a_sentence(data):
    name = data.draw(st.sampled_from(sorted(LEARNERS)))
    original = document(name)
    checked = {k: v for k, v in original.items() if k not in ("verdict", "parameters")}
    path = data.draw(st.sampled_from([p for p in places(checked) if p]))
    strange = st.sampled_from(
        [None, True, -1, 0, 1, 2.5, 1e308, 10**19, "", "x", [], [[]], [1], {}, {"a": 1}, "linear"]
    )
    changed = put(original, path, data.draw(strange))
    try:
        model = from_document(changed, accept_changes=True)
    except ModelFileError as error:
        assert error.problem  # noqa: PT017
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = model.labels(np.zeros((2, len(model.columns))))
    except ValueError:
        return
    assert len(found) == 2


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60) | st.text(alphabet='[]{}",:0123456789.eE-+NaInfity\\u ', max_size=60).map(str.encode))
def test_bytes_of_any_kind_are_parsed_or_refused(content):
    try:
        document = parsed(content)
    except ModelFileError:
        return
    with pytest.raises(ModelFileError, match="no model file"):
        from_document(document)


trees = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4), max_leaves=20,
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(trees)
def test_what_is_written_is_read_to_the_last_bit(tree):
    content = written(tree)
    assert content.endswith(b"\n")
    found = parsed(content)
    assert repr(found) == repr(tree)
    assert written(found) == content


@given(st.recursive(st.text('\\\\"[]{}x', max_size=6), lambda inner: st.lists(inner, max_size=3), max_leaves=12))
def test_brackets_in_texts_do_not_count(tree):
    deep = tree
    for _ in range(50):
        deep = [deep]
    content = json.dumps(deep).encode()
    depth = _depth(deep)
    if depth <= 60:
        assert parsed(content) == deep
    else:
        with pytest.raises(ModelFileError, match="more than 60"):
            parsed(content)


def _depth(tree):
    return 1 + max(map(_depth, tree), default=0) if isinstance(tree, list) else 0


def test_the_largest_and_the_least_number_are_read():
    assert parsed(b"[1.7976931348623157e+308, 5e-324, -0.0, 18446744073709551615]") == [
        1.7976931348623157e308, 5e-324, 0.0, 18446744073709551615]  # fmt: skip


@pytest.mark.parametrize("cut", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_short_is_refused(tmp_path, cut):
    content = text("linear").encode()
    (tmp_path / "model.json").write_bytes(content[: int(cut * len(content)) - 3])
    with pytest.raises(ModelFileError, match=r"model\.json"):
        read(tmp_path / "model.json")


# ------------------------------------------------------------------------------------------------------------- examples


def refused(change, name="linear"):
    changed = document(name)
    change(changed)
    with pytest.raises(ModelFileError) as caught:
        from_document(changed)
    return caught.value


def test_the_place_of_what_is_wrong_is_named():
    error = refused(lambda d: d["rule"]["weights"].__setitem__(1, "x"))
    assert error.where == "rule.weights[1]"
    assert "numbers are needed" in str(error)
    assert refused(lambda d: d["encoding"][1].update(levels=["r", "r"])).where == "encoding[1].levels"
    assert refused(lambda d: d["rule"].update(weights=[1.0])).where == "rule.weights"
    assert refused(lambda d: d["rule"]["prior"].update(seen=[0.5, 0.6])).where == "rule.prior.seen"
    assert refused(lambda d: d["training"].update(means=[1.0])).where == "training.means"
    assert refused(lambda d: d["features"][0].update(columns=7), "features").where == "features[0].columns"
    assert refused(lambda d: d["rule"]["members"][0]["rule"].update(kind="coded"), "coded").where.startswith(
        "rule.members[0].rule")  # fmt: skip


def test_names_that_are_missing_or_not_known_are_said():
    assert "'rule' is missing" in str(refused(lambda d: d.pop("rule")))
    assert '"more" is not known here' in str(refused(lambda d: d.update(more=1)))
    assert "'scale' is missing" in str(refused(lambda d: d["encoding"][0].pop("scale")))


def test_another_format_and_another_version_are_said():
    assert "no model file of Separatrix" in str(refused(lambda d: d.update(format="other")))
    assert "it has version 2; this Separatrix reads version 1" in str(refused(lambda d: d.update(version=2)))
    assert "version true" in str(refused(lambda d: d.update(version=True)))
    with pytest.raises(ModelFileError, match="no model file"):
        from_document([1, 2])


def test_classes_are_of_one_type_and_different():
    for classes in (["a"], ["a", "a"], ["a", 1], [None, "b"], "ab", [[1], [2]]):
        assert refused(lambda d, c=classes: d.update(classes=c)).where == "classes"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[" * 100_000, "more than 60 lists"),
        (b'{"a":' * 100_000, "more than 60 lists"),
        (b'{"a": NaN}', "it holds NaN"),
        (b'{"a": -Infinity}', "it holds -Infinity"),
        (b'{"a": 1e999}', "larger than any number"),
        (b'{"a": -1.0E+0400}', "larger than any number"),
        (b'{"a": ' + b"1" * 400 + b".0}", "larger than any number"),
        (b'{"a": 123456789012345678901}', "21 digits"),
        (b'{"a": 1, "a": 2}', "there twice"),
        (b'{"a": ' + b"9" * 5000 + b"}", "5000 digits"),
        (b"\xff\xfe", "not UTF-8"),
        (b"", "not JSON"),
        (b'{"a": "' + b"[" * 1000 + b'"}', "no model file"),
    ],
)
def test_what_json_or_we_do_not_allow_is_said(tmp_path, content, said):
    (tmp_path / "model.json").write_bytes(content)
    with pytest.raises(ModelFileError, match=said):
        separatrix.load(tmp_path / "model.json")


def test_a_file_that_is_too_large_or_no_file_is_not_read(tmp_path):
    (tmp_path / "model.json").write_text(text("linear"))
    with pytest.raises(ModelFileError, match="more than 100 are not read"):
        read(tmp_path / "model.json", largest=100)
    if hasattr(os, "mkfifo") and os.path.exists("/dev/null"):
        with pytest.raises(ModelFileError, match="not a file"):
            read("/dev/null")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.json")


LOADING = """
import sys, separatrix
try:
    separatrix.load(sys.argv[1])
except ValueError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on this system")
@pytest.mark.parametrize("beside", [False, True])
def test_a_pipe_that_nobody_writes_to_is_refused_and_not_waited_for(beside, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    if beside:
        monkeypatch.setattr("separatrix.app.models.tensors.MANY", 2)
        monkeypatch.setattr("separatrix.app.models.tensors.LONG", 2)
        write(from_document(document()), path)
        (pipe,) = tmp_path.glob("*.safetensors")
        pipe.unlink()
    else:
        pipe = path
    os.mkfifo(pipe)
    asked = subprocess.run(
        [sys.executable, "-c", LOADING, path], capture_output=True, text=True, timeout=60, check=True
    )
    assert asked.stdout.startswith(f"{path}: ")
    assert "it is not a file that can be read as a whole" in asked.stdout


def test_a_long_file_that_cannot_be_a_model_is_left_after_its_first_bytes(tmp_path, monkeypatch):
    looked_over, add = [], document_module.Scan.add
    monkeypatch.setattr(
        document_module.Scan, "add", lambda scan, piece: (looked_over.append(len(piece)), add(scan, piece))[1]
    )
    for start, said in ((b"", "the byte 0"), (b" " * (1 << 20), "does not begin with the {"), (b"{", "the byte 0")):
        looked_over.clear()
        with open(tmp_path / "model.json", "wb") as file:
            file.write(start)
            file.truncate(1 << 29)  # of which nothing is on the disk
        with pytest.raises(ModelFileError, match=said):
            read(tmp_path / "model.json")
        assert sum(looked_over) <= document_module.CHUNK


@pytest.mark.parametrize("number", [b"1e999", b"1E+0999", b"1" * 21, b"-" + b"9" * 400 + b".5"])
def test_a_number_that_is_too_large_is_found_wherever_a_piece_ends(number):
    for before in range(document_module.CHUNK - len(number) - 2, document_module.CHUNK + 2):
        with pytest.raises(ModelFileError, match=r"larger than any number|digits"):
            parsed(b"[" + b" " * before + number + b"]")


# ----------------------------------------------------------------------------------------------------- whole or nothing


def test_a_file_is_replaced_in_one_step_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("old")
    path.chmod(0o640)
    separatrix.save(LEARNERS["linear"].fit(X, Y), path)
    assert separatrix.load(path).learner == "LogisticRegression"
    assert [each.name for each in tmp_path.iterdir()] == ["model.json"]
    assert path.stat().st_mode & 0o777 == 0o640


def test_what_fails_on_the_way_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_text("old")

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space"):
        replace_file(path, b"new")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["model.json"]


def test_folders_are_said(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        replace_file(tmp_path, b"new")
    with pytest.raises(FileNotFoundError, match="make it first"):
        replace_file(tmp_path / "none" / "model.json", b"new")


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    replace_file(tmp_path / "link.json", b"new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"
