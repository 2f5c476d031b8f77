"""The published schema: all that is written is valid by it, and what it refuses the reader refuses too."""

import json
import random

import jsonschema
import numpy as np
import pytest
from rarely import some_of

import separatrix
from separatrix.app.cli.schema import published
from separatrix.app.models.document import ModelFileError
from separatrix.app.models.file import from_document, to_document, write
from separatrix.app.models.from_learner import model_of

from .model_cases import LEARNERS, STRANGE, document, places, put, removed
from .test_saved_models import CASES, fitted

VALIDATOR = jsonschema.Draft202012Validator(published("model"))


def test_it_is_a_schema_of_draft_2020_12():
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)
    assert VALIDATOR.schema["$schema"].endswith("2020-12/schema")


@pytest.mark.parametrize("name", LEARNERS)
def test_models_of_tables_are_valid(name):
    VALIDATOR.validate(document(name))


@pytest.mark.parametrize("name", CASES)
def test_the_file_of_every_learner_is_valid(name):
    learner, rows = fitted(name)
    given = None if np.isnan(np.asarray(getattr(rows, "data", rows), float)).any() else rows
    VALIDATOR.validate(json.loads(json.dumps(to_document(model_of(learner, X=given)))))


@pytest.mark.parametrize("name", some_of(list(CASES), 3))
def test_with_a_file_beside_it_a_model_is_valid_and_answers_the_same(name, tmp_path, monkeypatch):
    learner, rows = fitted(name)
    write(model_of(learner), tmp_path / "one.json")
    monkeypatch.setattr("separatrix.app.models.tensors.MANY", 2)
    monkeypatch.setattr("separatrix.app.models.tensors.LONG", 2)
    write(model_of(learner), tmp_path / "two.json")
    found = json.loads((tmp_path / "two.json").read_text())
    VALIDATOR.validate(found)
    assert found["side_file"]["name"] in [each.name for each in tmp_path.iterdir()]
    one, two = (separatrix.load(tmp_path / each) for each in ("one.json", "two.json"))
    assert one.scores(rows).tobytes() == two.scores(rows).tobytes()
    assert one.labels(rows).tolist() == two.labels(rows).tolist()
    if one.probabilities(rows) is not None:
        assert one.probabilities(rows).tobytes() == two.probabilities(rows).tobytes()
    write(two, tmp_path / "three.json")
    assert json.loads((tmp_path / "three.json").read_text())["side_file"]["sha256"] == found["side_file"]["sha256"]


@pytest.mark.parametrize("name", some_of(list(LEARNERS), 2))
def test_what_the_schema_refuses_the_reader_refuses(name):
    chance, original, refusals = random.Random(name), document(name), 0
    everywhere = [path for path in places(original) if path[0] not in ("verdict", "parameters")]
    for _ in range(60):
        path = chance.choice(everywhere)
        changed = removed(original, path) if chance.random() < 0.2 else put(original, path, chance.choice(STRANGE))
        if VALIDATOR.is_valid(changed):
            continue
        refusals += 1
        with pytest.raises(ModelFileError):
            from_document(changed, accept_changes=True)
    assert refusals > 20
