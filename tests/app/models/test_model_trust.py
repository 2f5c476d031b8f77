"""A file that was changed is refused; so is one that does not answer its stored rows as it did."""

import hashlib
import json
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import separatrix
from separatrix.app.models import file as model_file
from separatrix.app.models.document import ModelFileError, Part
from separatrix.app.models.examples import WIDE, examples_of, examples_read, matrix_of
from separatrix.app.models.file import from_document, to_document
from separatrix.app.models.from_learner import model_of

from .model_cases import CELLS, ENCODING, LEARNERS, X, at, document, model, places, put, sealed, text
from .test_saved_models import CASES, fitted, same

# ---------------------------------------------------------------------------------------------------- the fingerprint


@pytest.mark.parametrize("name", LEARNERS)
def test_whatever_is_changed_the_file_is_refused(name):
    chance, original = random.Random(name), document(name)
    leaves = [path for path in places(original) if not isinstance(at(original, path), dict | list)]
    for path in chance.sample(leaves, 40):
        value = at(original, path)
        new = math.nextafter(value, 9e9) if isinstance(value, float) else "changed" if value != "changed" else 1
        with pytest.raises(ModelFileError):
            from_document(put(original, path, new))


def test_spaces_and_the_order_of_names_do_not_matter(tmp_path):
    shuffled = dict(sorted(document().items()))
    (tmp_path / "model.json").write_text(json.dumps(shuffled, indent=7))
    assert separatrix.load(tmp_path / "model.json").learner == "LogisticRegression"


def test_the_fingerprint_is_what_the_page_says():
    found = document()
    claimed = found.pop("fingerprint")
    content = json.dumps(found, sort_keys=True, separators=(",", ":")).encode()
    assert hashlib.sha256(content).hexdigest() == claimed


trees = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None), max_size=8),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=5), inner, max_size=4), max_leaves=20,
)  # fmt: skip


@given(st.dictionaries(st.text(max_size=5), trees, max_size=4))
def test_the_fingerprint_of_any_document_is_what_the_page_says(tree):
    content = json.dumps(tree, sort_keys=True, separators=(",", ":")).encode()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(model_file, "TOGETHER", 3)
        assert model_file.fingerprint_of({**tree, "fingerprint": ""}) == hashlib.sha256(content).hexdigest()


def test_who_meant_a_change_may_keep_it(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(put(document(), ("training", "rows"), 7)))
    with pytest.raises(ModelFileError, match=r"model\.json: it was changed after it was written.*accept_changes=True"):
        separatrix.load(path)
    changed = separatrix.load(path, accept_changes=True)
    separatrix.save(changed, path)
    assert separatrix.load(path).training["rows"] == 7


@pytest.mark.parametrize("strange", ["", "x", "0" * 63, "G" * 64, None, 1])
def test_a_fingerprint_that_is_none_is_said(strange):
    with pytest.raises(ModelFileError) as caught:
        from_document(put(document(), ("fingerprint",), strange))
    assert caught.value.where == "fingerprint"


# --------------------------------------------------------------------------------------------------------- the rows


@pytest.mark.parametrize("name", CASES)
def test_the_stored_rows_are_answered_as_the_learner_answers_them(name):
    learner, _ = fitted(name)
    ours = model_of(learner)
    examples = examples_of(ours)
    assert len(examples) >= 3
    rows = matrix_of(ours, examples)
    assert [each.label for each in examples] == learner.predict(rows).tolist()
    same(np.squeeze([each.scores for each in examples]), np.squeeze(learner.decision_function(rows)))
    if hasattr(learner, "predict_proba"):
        same([each.probabilities for each in examples], learner.predict_proba(rows))
    else:
        assert {each.probabilities for each in examples} == {None}


@pytest.mark.parametrize("name", LEARNERS)
def test_the_stored_rows_are_none_of_the_training_rows(name):
    ours = model(name)
    examples = examples_of(ours)
    assert {"typical", "low", "high", "missing"} <= {each.name for each in examples}
    assert not any((row == X).all(axis=1).any() for row in matrix_of(ours, examples))
    for example in examples:
        age, city, bit = example.cells
        assert age not in [each for each in CELLS["age"] if each is not None]
        assert city in (None, *ENCODING.columns[1].levels)
        assert bit is not None
    assert examples_read(Part([each.to_dict() for each in examples]), ours) == examples


@pytest.mark.parametrize("name", LEARNERS)
def test_numbers_that_were_changed_with_their_fingerprint_are_found_by_the_rows(name):
    chance, original, found = random.Random(name), document(name), 0
    numbers = [path for path in places(original["rule"]) if isinstance(at(original["rule"], path), float)]
    for path in chance.sample(numbers, min(12, len(numbers))):
        value = at(original["rule"], path)
        changed = sealed(put(original, ("rule", *path), value + max(1.0, abs(value))))
        try:
            from_document(changed)
        except ModelFileError:
            found += 1
    assert found >= 3


def test_the_row_that_is_answered_otherwise_is_named():
    original = document()
    weight = original["rule"]["weights"][0]
    with pytest.raises(ModelFileError, match=r"not answer the stored row 'typical'.*save the model again") as caught:
        from_document(sealed(put(original, ("rule", "intercept"), 100.0)))
    assert caught.value.where == "examples[0]"
    from_document(sealed(put(original, ("rule", "weights", 0), math.nextafter(weight, 9e9))))  # the rounding of others
    with pytest.raises(ModelFileError, match=r"examples\[0\]: the model cannot read this row: .*Ulm"):
        from_document(sealed(put(original, ("examples", 0, "cells", 1), "Ulm")))
    with pytest.raises(ModelFileError, match="none of the classes"):
        from_document(sealed(put(original, ("examples", 0, "label"), "other")))
    with pytest.raises(ModelFileError, match="has 1 entries; 3 are needed"):
        from_document(sealed(put(original, ("examples", 0, "cells"), [1])))


def test_of_wide_rows_some_cells_are_kept():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 2500))
    learner = separatrix.Perceptron(max_passes=2).fit(rows, rng.random(30) > 0.5)
    ours = model_of(learner, X=rows)
    examples = examples_of(ours)
    assert all(500 < len(each.cells) == len(each.columns) <= WIDE for each in examples)
    assert matrix_of(ours, examples).shape == (4, 2500)
    from_document(json.loads(json.dumps(to_document(ours))))


def test_texts_hold_no_row_of_the_data():
    assert not any(repr(age) in text("linear") for age in CELLS["age"] if age is not None)


def test_no_file_has_more_rows_than_are_worth_the_time():
    document_ = document("linear")
    row = document_["examples"][0]
    assert from_document(sealed({**document_, "examples": [row] * 100})).learner == "LogisticRegression"
    with pytest.raises(ModelFileError, match="examples: it has 101 rows; up to 100 are answered again"):
        from_document(sealed({**document_, "examples": [row] * 101}))
