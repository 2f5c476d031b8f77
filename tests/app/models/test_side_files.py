"""Many numbers lie in a file beside the model: whatever is wrong with it is said before a number is used."""

import hashlib
import json
import shutil
import warnings
from functools import cache

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import separatrix
from separatrix import KernelPerceptron, LogisticRegression, OneVsRest, Perceptron
from separatrix.app import files
from separatrix.app.models import tensors
from separatrix.app.models.document import ModelFileError
from separatrix.app.models.file import write
from separatrix.app.models.from_learner import model_of

from .model_cases import sealed

MANY = tensors.MANY
WIDTH = 2000


@pytest.fixture(autouse=True, scope="module")
def _few_are_many():
    """So that files are small: what is many is tried once."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tensors, "MANY", 1000)
        yield


@cache
def wide(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, WIDTH))
    return Perceptron(max_passes=2).fit(X, np.arange(12) % 2), X


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """A folder for each of two models: saved once, as that takes its time."""
    folders = [tmp_path_factory.mktemp("saved") for _ in range(2)]
    for seed, folder in enumerate(folders):
        separatrix.save(wide(seed)[0], folder / "model.json")
    return folders


@pytest.fixture
def saved(tmp_path, originals):
    shutil.copytree(originals[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


def beside(folder):
    (found,) = folder.glob("model.*.safetensors")
    return found


def refused(folder, **options):
    with pytest.raises(ModelFileError) as caught:
        separatrix.load(folder / "model.json", **options)
    return str(caught.value)


def test_the_answers_are_the_same_to_the_last_bit(saved):
    learner, X = wide()
    model = separatrix.load(saved / "model.json")
    assert model.scores(X).tobytes() == learner.decision_function(X).tobytes()
    assert beside(saved).stat().st_size > 8 * WIDTH
    lists = json.loads((saved / "model.json").read_text())
    assert lists["rule"]["weights"] == {"tensor": "rule.weights", "dtype": "F64", "shape": [WIDTH]}


def test_safetensors_reads_what_we_write_and_we_read_what_it_writes(saved):
    arrays = load_file(beside(saved))
    np.testing.assert_array_equal(arrays["rule.weights"], wide()[0].rule_.weights)
    theirs = saved / beside(saved).name
    save_file(arrays, theirs)
    content = theirs.read_bytes()
    document = json.loads((saved / "model.json").read_text())
    document["side_file"] |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (saved / "model.json").write_text(json.dumps(sealed(document)))
    assert separatrix.load(saved / "model.json").scores(wide()[1]).tobytes() == (
        wide()[0].decision_function(wide()[1]).tobytes()
    )


def test_more_than_a_hundred_thousand_weights_are_many(tmp_path, monkeypatch):
    assert MANY == 100_000
    monkeypatch.setattr(tensors, "MANY", MANY)
    X = np.random.default_rng(1).normal(size=(4, MANY))
    learner = Perceptron(max_passes=2).fit(X, [0, 1, 0, 1])
    separatrix.save(learner, tmp_path / "model.json")
    assert separatrix.load(tmp_path / "model.json").scores(X).tobytes() == learner.decision_function(X).tobytes()
    assert beside(tmp_path).stat().st_size > 8 * MANY


@pytest.mark.parametrize("learner", [KernelPerceptron("rbf", max_passes=1),
                                     OneVsRest(KernelPerceptron("rbf", max_passes=1))])  # fmt: skip
def test_kernel_vectors_go_there_however_few_they_are(learner, tmp_path, monkeypatch):
    monkeypatch.setattr(tensors, "MANY", MANY)
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 60)), rng.integers(0, 3, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(X, y)
    separatrix.save(learner, tmp_path / "model.json")
    assert {array.shape[1] for array in load_file(beside(tmp_path)).values()} == {60}
    assert (separatrix.load(tmp_path / "model.json").labels(X) == learner.predict(X)).all()


def test_kernel_vectors_go_there_too(tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 60)), rng.integers(0, 3, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = KernelPerceptron("rbf", max_passes=1).fit(X, y)
    rows = X[:5]
    separatrix.save(learner, tmp_path / "model.json")
    vectors = load_file(beside(tmp_path))["rule.vectors"]
    assert vectors.shape[1] == 60
    model = separatrix.load(tmp_path / "model.json")
    np.testing.assert_allclose(model.scores(rows), learner.decision_function(rows), rtol=1e-12, atol=1e-12)


def test_few_numbers_need_no_other_file(tmp_path):
    X, y = np.arange(20.0)[:, None], np.arange(20) > 9
    separatrix.save(LogisticRegression(l2=0.1).fit(X, y), tmp_path / "model.json")
    assert [each.name for each in tmp_path.iterdir()] == ["model.json"]


def test_the_old_file_goes_with_the_old_model(saved):
    old = beside(saved)
    others = [saved / "model2.0123456789abcdef.safetensors", saved / "model.safetensors", saved / "model.txt"]
    for each in others:
        each.write_text("of somebody else")
    separatrix.save(wide(1)[0], saved / "model.json")
    assert not old.exists()
    assert beside(saved) != old
    X, y = np.arange(20.0)[:, None], np.arange(20) > 9
    separatrix.save(LogisticRegression(l2=0.1).fit(X, y), saved / "model.json")
    assert sorted(saved.iterdir()) == sorted([saved / "model.json", *others])


@pytest.mark.parametrize("way", [shutil.copy, shutil.move], ids=["copied", "renamed"])
@pytest.mark.parametrize("name", ["best.json", "best", 'ü"2.json'])
def test_a_model_that_was_copied_or_renamed_keeps_its_numbers_when_another_takes_its_place(way, name, saved):
    old = beside(saved)
    answers = separatrix.load(saved / "model.json").scores(wide()[1])
    way(saved / "model.json", saved / name)
    for seed in (1, 1):
        separatrix.save(wide(seed)[0], saved / "model.json")
        assert separatrix.load(saved / name).scores(wide()[1]).tobytes() == answers.tobytes()
    (saved / name).unlink()
    separatrix.save(wide(1)[0], saved / "model.json")
    assert not old.exists()


def test_names_that_are_nearly_the_same_have_numbers_of_their_own(tmp_path):
    names = ["model", "model.json", "model_", "model_.json", "model__", "model__.json", "model.json.json"]
    assert len({files.name_beside(tmp_path / name, b"") for name in names}) == len(names)
    for seed, name in enumerate(names):
        separatrix.save(wide(seed % 2)[0], tmp_path / name)
    for seed, name in enumerate(names):
        learner, X = wide(seed % 2)
        assert separatrix.load(tmp_path / name).scores(X).tobytes() == learner.decision_function(X).tobytes()


def test_both_files_can_go_elsewhere_together(saved, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    for each in list(saved.iterdir()):
        each.rename(other / each.name)
    (other / "model.json").rename(other / "renamed.json")
    (saved / "link.json").symlink_to(other / "renamed.json")
    assert separatrix.load(saved / "link.json").learner == "Perceptron"


def test_a_file_that_is_missing_is_said(saved):
    name = beside(saved).name
    beside(saved).unlink()
    assert f"model.json: its numbers lie in {name}, which is not beside it: put it there" in refused(saved)
    (saved / name).mkdir()
    assert "cannot be read" in refused(saved)


def test_a_file_of_another_model_is_said(saved, originals):
    beside(saved).write_bytes(beside(originals[1]).read_bytes())
    assert "its bytes are not those that were written" in refused(saved)
    assert "its bytes are not those that were written" in refused(saved, accept_changes=True)


@pytest.mark.parametrize("place", [0, 3, 8, 20, -1])
def test_a_byte_that_was_changed_is_said(saved, place):
    content = bytearray(beside(saved).read_bytes())
    content[place] ^= 1
    beside(saved).write_bytes(content)
    refused(saved)


def test_a_file_that_was_cut_or_is_too_large_is_said(saved):
    size = beside(saved).stat().st_size
    assert f"more than {size - 1} are not read" in refused(saved, largest=size - 1)
    beside(saved).write_bytes(beside(saved).read_bytes()[:-8])
    assert f"it has {size - 8} bytes, and was written with {size}" in refused(saved)


def lie(folder, change_header=None, change_document=None, change_body=None):
    """Both files changed so that sizes and hashes fit."""
    content = beside(folder).read_bytes()
    length = int.from_bytes(content[:8], "little")
    header, body = json.loads(content[8 : 8 + length]), bytearray(content[8 + length :])
    document = json.loads((folder / "model.json").read_text())
    for change, value in ((change_header, header), (change_document, document), (change_body, body)):
        if change:
            change(value)
    text = json.dumps(header).encode()
    content = len(text).to_bytes(8, "little") + text + bytes(body)
    beside(folder).write_bytes(content)
    document["side_file"] |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "model.json").write_text(json.dumps(sealed(document)))
    return refused(folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda h: h.update(more=h["rule.weights"]), "only in one of the two"),
        (lambda h: h.pop("rule.weights"), "only in one of the two"),
        (lambda h: h["rule.weights"].update(dtype="F32"), "type or shape"),
        (lambda h: h["rule.weights"].update(shape=[2**40]), "type or shape"),
        (lambda h: h["rule.weights"].update(shape=[-1]), "type or shape"),
        (lambda h: h["rule.weights"].update(data_offsets=[0, 8]), "has 8 bytes"),
        (lambda h: h["rule.weights"].update(data_offsets=[0, 2**61]), "its shape needs"),
        (lambda h: h["rule.weights"].update(data_offsets=[8, 8 + 8 * WIDTH]), "without gaps"),
        (lambda h: h["rule.weights"].update(data_offsets=[-8, 8 * WIDTH - 8]), "without gaps"),
        (lambda h: h["rule.weights"].update(data_offsets="x"), "a list is needed"),
        (lambda h: h.update({"rule.weights": None}), "an object is needed"),
    ],
)
def test_a_header_that_lies_is_said(saved, change, said):
    assert said in lie(saved, change_header=change)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["rule"]["weights"].update(shape=[2, WIDTH // 2]), "type or shape"),
        (lambda d: d["rule"]["weights"].update(shape=[2**30, 2**30]), "type or shape"),
        (lambda d: d["rule"]["weights"].update(shape=[]), "one length at the least"),
        (lambda d: d["rule"]["weights"].update(tensor="other"), "only in one of the two"),
        (lambda d: d["rule"].update(intercept=d["rule"]["weights"]), "named twice"),
        (lambda d: d["side_file"].update(name="../model.0123456789abcdef.safetensors"), "in the same folder"),
        (lambda d: d["side_file"].update(name="/etc/passwd"), "in the same folder"),
        (lambda d: d["side_file"].update(name="other.0123456789abcdef.safetensors"), "not beside it"),
        (lambda d: d.update(classes=d["rule"].pop("weights")), "classes: two classes or more"),
        (lambda d: d.update(columns=d["columns"][:-1]), f"has the shape {WIDTH}; {WIDTH - 1} is needed"),
    ],
)
def test_a_document_that_lies_is_said(saved, change, said):
    assert said in lie(saved, change_document=change)


@pytest.mark.parametrize("strange", [np.nan, np.inf])
def test_what_is_not_finite_is_said(saved, strange):
    def put(body):
        body[8 * 77 : 8 * 78] = np.float64(strange).tobytes()

    assert "NaN or infinity" in lie(saved, change_body=put)


def test_a_name_that_stands_for_an_array_is_refused_on_the_way_out(tmp_path):
    facts = {"note": {"tensor": "a", "dtype": "b", "shape": "c"}}
    with pytest.raises(ValueError, match=r"training\.note.*rename one"):
        write(model_of(wide()[0], training=facts), tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_facts_may_have_names_with_dots(tmp_path):
    long = np.arange(2000.0).tolist()
    facts = {"a.b": long, "a": {"b": long[::-1]}, "wholes": list(range(1500)), "mixed": [1, 2.5] * 600}
    write(model_of(wide()[0], training=facts), tmp_path / "model.json")
    found = separatrix.load(tmp_path / "model.json").training
    assert found["a.b"].tolist() == long
    assert found["a"]["b"].tolist() == long[::-1]
    assert found["wholes"].dtype == np.int64
    assert found["mixed"] == facts["mixed"]
