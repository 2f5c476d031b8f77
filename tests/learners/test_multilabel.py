"""Overlapping classes: a binary classifier for each label."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix, issparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from separatrix import GaussianNaiveBayes, LinearRule, LogisticRegression, MultiLabel, Perceptron, SeparationWarning

RIDGE = LogisticRegression(l2=0.01)


def overlapping(n=200, d=4, labels=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, labels)) + rng.normal(size=(n, labels)) > 0.5).astype(int)


def test_each_label_by_itself():
    X, Y = overlapping()
    model = MultiLabel(RIDGE).fit(X, Y)
    assert (Y.sum(axis=1) > 1).any()
    assert (Y.sum(axis=1) == 0).any()
    for label in range(5):
        alone = clone(RIDGE).fit(X, Y[:, label])
        np.testing.assert_allclose(model.decision_function(X)[:, label], alone.decision_function(X), atol=1e-6)
        np.testing.assert_allclose(model.predict_proba(X)[:, label], alone.predict_proba(X)[:, 1], atol=1e-7)
        np.testing.assert_array_equal(model.predict(X)[:, label], alone.predict(X))
        assert isinstance(model.rules_[label], LinearRule)
        np.testing.assert_allclose(model.rules_[label].probability(X), model.predict_proba(X)[:, label])
    assert model.score(X, Y) == np.mean((model.predict(X) == Y).all(axis=1))


def test_labels_do_not_hang_on_each_other():
    X, Y = overlapping()
    whole = MultiLabel(RIDGE).fit(X, Y)
    part = MultiLabel(RIDGE).fit(X, Y[:, [3, 1]])
    np.testing.assert_allclose(part.decision_function(X), whole.decision_function(X)[:, [3, 1]], atol=1e-9)


@pytest.mark.parametrize("kind", [csr_array, csc_array, coo_array, csr_matrix])
def test_sparse_labels(kind):
    X, Y = overlapping(n=80, labels=70)  # more than are taken at a time
    plain = MultiLabel(LogisticRegression(l2=0.1)).fit(X, Y)
    model = MultiLabel(LogisticRegression(l2=0.1)).fit(X, kind(Y))
    found = model.predict(X)
    assert issparse(found)
    assert found.format == "csr"
    np.testing.assert_array_equal(found.toarray(), plain.predict(X))
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert model.score(X, csr_array(Y)) == plain.score(X, Y)
    assert model.verdict_.check(X, kind(Y))


def test_a_sparse_matrix_of_labels_is_never_written_out(monkeypatch):
    X, Y = overlapping(labels=8)
    sparse = csr_array(Y)
    for name in ("toarray", "todense"):
        monkeypatch.setattr(csr_array, name, lambda *_: pytest.fail("written out"))
        monkeypatch.setattr(csc_array, name, lambda *_: pytest.fail("written out"))
    MultiLabel(RIDGE).fit(X, sparse).predict(X)


def test_names_of_labels():
    pandas = pytest.importorskip("pandas")
    X, Y = overlapping(labels=3)
    labels = pandas.DataFrame(Y, columns=["warm", "wet", "windy"])
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = MultiLabel(RIDGE).fit(frame, labels)
    assert model.classes_.tolist() == ["warm", "wet", "windy"]
    assert model.rules_[0].columns == tuple("abcd")
    np.testing.assert_array_equal(model.predict(frame), MultiLabel(RIDGE).fit(X, Y).predict(X))
    assert model.verdict_.check(frame, labels)


def test_labels_of_which_nothing_can_be_learnt():
    X, Y = overlapping(labels=4)
    Y[:, 1], Y[:, 3] = 0, 1
    with pytest.warns(UserWarning, match=r"Nothing can be learnt of 1 \(no row has it\) and 3 \(every row has it\)"):
        model = MultiLabel(RIDGE).fit(X, Y)
    assert [member is None for member in model.estimators_] == [False, True, False, True]
    assert (model.predict(X)[:, 1] == 0).all()
    assert (model.predict(X)[:, 3] == 1).all()
    assert (model.predict_proba(X)[:, [1, 3]] == [0, 1]).all()
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(X, Y)
    turned = Y.copy()
    turned[:, 1], turned[:, 3] = 1, 0
    assert not model.verdict_.check(X, turned)
    Y[0, 1] = 1
    assert not model.verdict_.check(X, Y)
    with pytest.warns(UserWarning, match="Nothing can be learnt"):
        only = MultiLabel(RIDGE).fit(X, np.zeros((200, 2), int))
    assert not only.predict(X).any()
    assert only.verdict_.check(X, np.zeros((200, 2), int))
    assert not only.verdict_.check(X, np.ones((200, 2), int))


def test_the_verdict():
    X, Y = overlapping()
    model = MultiLabel(RIDGE).fit(X, Y)
    verdict = model.verdict_
    assert "All 5 classifiers are optimal" in str(verdict)
    assert verdict.check(X, Y)
    assert not verdict.check(X, 1 - Y)
    assert not verdict.check(X, Y[:, :4])
    assert not verdict.check(X[:-1], Y[:-1])
    assert not replace(verdict, claim=replace(verdict.claim, members=verdict.claim.members[::-1])).check(X, Y)
    assert not replace(verdict, claim=replace(verdict.claim, constants=((2, True),))).check(X, Y)
    apart = np.column_stack([Y, X[:, 0] > 0]).astype(int)
    with pytest.warns(SeparationWarning, match=r"1 of 6 classifiers did not reach its minimum: label 5 \(separated\)"):
        parted = MultiLabel(LogisticRegression()).fit(X, apart)
    assert parted.verdict_.status == "separated"
    assert parted.verdict_.check(X, apart)


def test_weights_of_rows():
    X, Y = overlapping(n=120)
    cost = np.random.default_rng(5).integers(0, 3, 120).astype(float)
    weighted = MultiLabel(RIDGE).fit(X, Y, sample_weight=cost)
    times = cost.astype(int)
    repeated = MultiLabel(RIDGE).fit(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)
    assert weighted.verdict_.check(X, Y, cost)
    only = np.where(Y[:, 0] == 1, 0.0, 1.0)
    with pytest.warns(UserWarning, match=r"Nothing can be learnt of 0 \(no row has it\)"):
        model = MultiLabel(RIDGE).fit(X, Y, sample_weight=only)
    assert model.verdict_.check(X, Y, only)
    assert not model.verdict_.check(X, Y)


@pytest.mark.parametrize("learner", [Perceptron(max_passes=20), GaussianNaiveBayes(), TheirLogistic(), SVC()])
@pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
def test_any_learner_will_do(learner):
    X, Y = overlapping()
    for rows in (X, csr_array(X)) if not isinstance(learner, GaussianNaiveBayes) else (X,):
        model = MultiLabel(learner, n_jobs=2).fit(rows, Y)
        alone = clone(learner).fit(rows, Y[:, 2])
        np.testing.assert_array_equal(model.predict(rows)[:, 2], alone.predict(rows))
    assert hasattr(model, "predict_proba") == hasattr(learner, "predict_proba")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_grid_search_sees_through():
    X, Y = overlapping()
    search = GridSearchCV(MultiLabel(RIDGE), {"estimator__l2": [1e-3, 1e-1]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.1


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (np.zeros(20), r"y has shape \(20,\); MultiLabel needs a column of 0 and 1 for each label"),
        (np.full((20, 2), 2), r"y\[0, 0\] is 2; a row has a label, 1, or not, 0"),
        (np.where(np.arange(40).reshape(20, 2) == 3, np.nan, 0), r"y\[1, 1\] is NaN"),
        (csr_array(np.eye(20, 2) * 3), r"y\[0, 0\] is 3"),
        (csr_array(np.vstack([np.eye(2), np.zeros((17, 2)), [[0, 0.5]]])), r"y\[19, 1\] is 0.5"),
        (np.zeros((19, 2)), "X has 20 rows and y 19"),
        (np.full((20, 2), "a"), "y holds words"),
        (None, "requires y"),
        ([["a"], ["a", "b"], *([[]] * 18)], "MultiLabelBinarizer"),
    ],
)
def test_bad_labels(y, said):
    with pytest.raises(ValueError, match=said):
        MultiLabel(RIDGE).fit(np.random.default_rng(0).normal(size=(20, 3)), y)


def test_bad_rows():
    X, Y = overlapping()
    with pytest.raises(ValueError, match=r"X\[7, 'x2'\] is NaN"):
        MultiLabel(RIDGE).fit(np.where(np.arange(800).reshape(200, 4) == 30, np.nan, X), Y)
    model = MultiLabel(RIDGE).fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match=r"X\[0, 'x0'\] is NaN"):
        model.predict(np.full((2, 4), np.nan))
