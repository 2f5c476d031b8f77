"""Rows with names and labels as codes teach the same as a data frame and an array of texts."""

import numpy as np
import pytest

import separatrix
from separatrix.app.tasks.learners import LEARNERS, learner_of
from separatrix.data.named import CodedLabels, NamedRows
from separatrix.learners.checks.targets import known_targets

RNG = np.random.default_rng(5)
NAMES = ("age", "city=Bonn", "smoker")
X = np.column_stack([RNG.normal(40, 10, 60), RNG.integers(0, 2, (60, 2))])
CODES = (X @ [0.05, 1, -1] + RNG.normal(0, 1, 60) > 2.2).astype(np.int32)
CLASSES = ("no", "yes")
TEXTS = np.array(CLASSES)[CODES]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LEARNERS)
def test_the_same_is_learnt(name):
    pandas = pytest.importorskip("pandas")
    few = slice(None, 14 if name == "zero-one" else None)
    ones = X > X.mean(axis=0)  # noqa: SIM300
    rows = (ones.astype(float) if name == "bernoulli-naive-bayes" else X)[few]
    frame, named, labels = pandas.DataFrame(rows, columns=NAMES), NamedRows.of(rows, NAMES), CodedLabels(CODES, CLASSES)
    one = learner_of(name).fit(frame, TEXTS[few])
    other = learner_of(name).fit(named, labels[few])
    assert other.classes_.tolist() == one.classes_.tolist() == ["no", "yes"]
    assert str(other.verdict_) == str(one.verdict_)
    assert list(getattr(other, "feature_names_in_", NAMES)) == list(NAMES)
    assert (other.predict(named) == one.predict(frame)).all()
    assert other.verdict_.check(named, labels[few])


def test_rows_keep_their_names_and_are_not_copied():
    named = NamedRows.of(X, NAMES)
    assert np.shares_memory(named, X)
    assert named[3:9].names == named[np.array([1, 4])].names == NAMES
    assert named[:, :2].names is None
    assert (named * 2).names == NAMES
    with pytest.raises(ValueError, match="2 names for a matrix of shape"):
        NamedRows.of(X, NAMES[:2])


def test_other_names_are_refused():
    model = separatrix.LogisticRegression(l2=0.1).fit(NamedRows.of(X, NAMES), CodedLabels(CODES, CLASSES))
    with pytest.raises(ValueError, match="it has 'smoker' where 'city=Bonn' was"):
        model.predict(NamedRows.of(X, ("age", "smoker", "city=Bonn")))


def test_classes_without_rows_are_no_classes():
    labels = CodedLabels(np.array([2, 0, 2, 0, 0]), ("a", "b", "c"))
    model = separatrix.LogisticRegression(l2=1).fit(np.arange(5.0)[:, None], labels)
    assert model.classes_.tolist() == ["a", "c"]
    assert np.asarray(labels).tolist() == ["c", "a", "c", "a", "a"]
    assert np.asarray(labels[1:3]).tolist() == ["a", "c"]
    with pytest.raises(ValueError, match="one class only, 'a'"):
        separatrix.LogisticRegression().fit(np.ones((2, 1)), labels[np.array([1, 3])])


def test_classes_must_be_in_order():
    with pytest.raises(ValueError, match="distinct and in order"):
        CodedLabels(np.array([0, 1]), ("b", "a"))


def test_the_summary_finds_its_rows():
    rows, labels = NamedRows.of(X, NAMES), CodedLabels(CODES, CLASSES)
    summary = separatrix.LogisticRegression().fit(rows, labels).summary()
    assert summary.has_spread or summary.refused
    assert summary.has_deviations
    assert "city=Bonn" in str(summary)


@pytest.mark.parametrize("labels", [CodedLabels(CODES, CLASSES), CodedLabels(CODES + 1, ("maybe", *CLASSES))])
def test_known_targets_are_those_of_the_texts(labels):
    classes = np.array(CLASSES)
    found = known_targets(labels, classes, len(labels))
    assert (found == known_targets(np.asarray(labels), classes, len(labels))).all()
    with pytest.raises(ValueError, match="for each of the 3 rows"):
        known_targets(labels, classes, 3)
