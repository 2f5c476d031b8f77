"""Online-to-batch conversion of any learner: the vote of f̂₁, …, f̂ₙ₊₁, each built by itself.  [001 slide 26]"""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from rarely import examples
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.utils.estimator_checks import check_estimator

from separatrix import LogisticRegression
from separatrix.learners.perceptron.online_to_batch import OnlineToBatch
from separatrix.results import committee
from separatrix.results.committee import CopiedCommittee, LinearCommittee, LoggedCommittee
from separatrix.results.mistake_log import MistakeLog


def ours(**settings):
    return LogisticRegression(solver="stochastic", **{"learning_rate": 0.1, **settings})


LEARNERS = {
    "ours": ours(),
    "perceptron": Perceptron(shuffle=False),
    "sgd": SGDClassifier(random_state=0, shuffle=False),
    "bernoulli": BernoulliNB(),
}
LINEAR = {"ours", "perceptron", "sgd"}


def some_rows(n=40, d=3, K=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K))
    return X, np.array(["no", "perhaps", "yes"])[scores.argmax(axis=1)]


def in_hand(learner, X, y):
    """f̂₁ (None), …, f̂ₙ₊₁."""
    learner, labels, found = clone(learner), np.unique(y), [None]
    for t in range(len(X)):
        learner.partial_fit(X[t : t + 1], y[t : t + 1], classes=labels)
        found.append(copy.deepcopy(learner))
    return found


def say(classifier, X, labels):
    return np.full(len(X), labels[0]) if classifier is None else classifier.predict(X)


def shares(classifiers, X, labels):
    said = np.array([say(each, X, labels) for each in classifiers])
    return np.stack([(said == label).sum(axis=0) for label in labels], axis=1) / len(classifiers)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("tail", [1.0, 0.5, 0.001])
@pytest.mark.parametrize("name", LEARNERS)
def test_all_classifiers_vote(name, tail, K):
    X, y = some_rows(K=K)
    other, labels = some_rows(25, seed=5)[0], np.unique(y)
    hand = in_hand(LEARNERS[name], X, y)
    kept = hand[-max(1, int(tail * len(hand))) :]
    model = OnlineToBatch(LEARNERS[name], tail=tail).fit(X, y)
    expected = shares(kept, other, labels)
    tally = expected if K == 3 else expected[:, 1] - expected[:, 0]
    np.testing.assert_allclose(model.decision_function(other), tally, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.predict(other), labels[expected.argmax(axis=1)])
    assert model.votes_.sum() == len(kept)
    assert model.progressive_mistakes_ == sum(say(f, X[t : t + 1], labels)[0] != y[t] for t, f in enumerate(hand[:-1]))
    each = [np.mean(say(f, X, labels) != y) for f in kept]
    np.testing.assert_allclose(np.repeat(model.errors(X, y), model.votes_), each, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.learner_.predict(other), hand[-1].predict(other))
    assert isinstance(model._committee, LinearCommittee if name in LINEAR else CopiedCommittee)


def test_equal_neighbours_are_kept_once():
    X, y = np.array([[1.0], [1.0], [-3.0], [2.0]]), [1, 1, 0, 1]
    model = OnlineToBatch(Perceptron()).fit(X, y)
    assert model.votes_.tolist() == [1, 4]
    assert model.progressive_mistakes_ == 1
    assert model.decision_function(X).tolist() == [0.6, 0.6, -1.0, 0.6]


def test_the_first_classifier_and_the_last_one_vote_and_a_tie_is_the_first_class():
    X, y = np.array([[1.0], [-1.0]]), ["yes", "no"]
    model = OnlineToBatch(Perceptron(fit_intercept=False)).fit(X, y)
    assert model.votes_.tolist() == [1, 2]  # without f̂₁ the votes on (1) would be 2 : 0
    assert model.decision_function([[1.0]]) == pytest.approx([1 / 3])
    turned = OnlineToBatch(Perceptron(fit_intercept=False)).fit([[1.0], [1.0], [1.0]], ["yes", "no", "no"])
    # f̂₁: no; f̂₂: yes; after two rows w = 0, so f̂₃ and f̂₄ say no
    assert turned.decision_function([[1.0]]).tolist() == [(1 - 3) / 4]
    last = OnlineToBatch(Perceptron(fit_intercept=False)).fit([[-1.0], [-1.0], [1.0]], ["no", "no", "yes"])
    # f̂₁ says no of (1); f̂₂ = f̂₃ = f̂₄ = (1) say yes
    assert last.decision_function([[1.0]]).tolist() == [0.5]
    tie = OnlineToBatch(Perceptron(fit_intercept=False)).fit([[0.0], [1.0], [-2.0]], ["no", "yes", "yes"])
    # f̂₁ = f̂₂ = 0 say no, f̂₃ = (1) yes, f̂₄ = (−1) no of (1); of (−1) f̂₄ alone says yes
    assert tie.votes_.tolist() == [2, 1, 1]
    assert tie.decision_function([[1.0], [-1.0]]).tolist() == [-0.5, -0.5]
    even = OnlineToBatch(Perceptron(fit_intercept=False), tail=0.5).fit([[0.0], [1.0], [-2.0]], ["no", "yes", "yes"])
    assert even.decision_function([[1.0], [-1.0]]).tolist() == [0.0, 0.0]
    assert even.predict([[1.0], [-1.0]]).tolist() == ["no", "no"]


# ---------------------------------------------------------------------------------------------------------- the law


@examples(
    15,
    40,
    st.integers(0, 10_000),
    st.sampled_from(["perceptron", "bernoulli"]),
    st.integers(2, 30),
    st.floats(0.05, 1.0),
)
def test_the_vote_errs_at_most_twice_as_often_as_its_voters(seed, name, n, tail):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (n, 2)).astype(float), rng.integers(0, 2, n)
    y[:2] = [0, 1]
    model = OnlineToBatch(LEARNERS[name], tail=tail).fit(X, y)
    scenes = [(X, y), (X, 1 - y), (rng.normal(size=(40, 2)), rng.integers(0, 2, 40))]
    for rows, labels in scenes:
        mean = np.average(model.errors(rows, labels), weights=model.votes_)
        assert np.mean(model.predict(rows) != labels) <= 2 * mean + 1e-12
    for row, label in zip(X, y, strict=True):  # and so on any single row
        mean = np.average(model.errors([row], [label]), weights=model.votes_)
        assert float(model.predict([row])[0] != label) <= 2 * mean + 1e-12


# ---------------------------------------------------------------------------------- learners that keep a mistake log


class Logged(ClassifierMixin, BaseEstimator):
    """A perceptron of two classes that hands over its log, and learns row by row as well."""

    def __init__(self, log=True):
        self.log = log

    def __getattribute__(self, name):
        if name == "_logged" and not self.log:
            raise AttributeError(name)
        return super().__getattribute__(name)

    def partial_fit(self, X, y, classes=None):
        if not hasattr(self, "coef_"):
            self.classes_ = np.asarray(classes)
            self.coef_, self.intercept_ = np.zeros((1, X.shape[1])), np.zeros(1)
        for x, label in zip(X, y, strict=True):
            sign = 1 if label == self.classes_[1] else -1
            if sign * (self.coef_[0] @ x + self.intercept_[0]) <= 0:
                self.coef_[0] += sign * x
                self.intercept_ += sign
        return self

    def predict(self, X):
        return self.classes_[(X @ self.coef_[0] + self.intercept_[0] > 0).astype(int)]

    def _logged(self, X, y):
        labels, rows = np.unique(y), []
        for t in range(len(X)):
            before = self.coef_.copy() if t else np.zeros((1, X.shape[1]))
            self.partial_fit(X[t : t + 1], y[t : t + 1], None if t else labels)
            if (self.coef_ != before).any():
                rows.append(t)
        rows = np.array(rows)
        own = (y[rows] == labels[1]).astype(np.int64)
        log = MistakeLog(rows, rows, own, 1 - own, len(X))
        return log, np.zeros(X.shape[1]), 0.0, 1.0, True, labels


@pytest.mark.parametrize("tail", [1.0, 0.3])
def test_a_learner_may_hand_over_its_log(tail):
    rng = np.random.default_rng(3)
    X, y = rng.integers(-3, 4, (60, 3)).astype(float), rng.integers(0, 2, 60)
    X[(X == 0).all(axis=1)] = 1.0
    slow, fast = (OnlineToBatch(Logged(log), tail=tail).fit(X, y) for log in (False, True))
    assert isinstance(slow._committee, LinearCommittee)
    assert isinstance(fast._committee, LoggedCommittee)
    np.testing.assert_array_equal(fast.decision_function(X), slow.decision_function(X))
    np.testing.assert_array_equal(fast.votes_, slow.votes_)
    np.testing.assert_array_equal(fast.errors(X, y), slow.errors(X, y))
    np.testing.assert_array_equal(fast.learner_.coef_, slow.learner_.coef_)
    unknown = fast.errors(X, np.full(len(X), 7))
    assert (unknown == 1).all()
    assert (slow.errors(X, np.full(len(X), 7)) == 1).all()


# ------------------------------------------------------------------------------------------------- other learners


class Contrary(Logged):
    """Has weights, and predicts the opposite of what they say."""

    def predict(self, X):
        return self.classes_[(X @ self.coef_[0] + self.intercept_[0] <= 0).astype(int)]


def test_weights_that_do_not_tell_the_predictions_are_not_trusted():
    X, y = some_rows()
    model = OnlineToBatch(Contrary(log=False)).fit(X, y)
    assert isinstance(model._committee, CopiedCommittee)
    hand = in_hand(Contrary(log=False), X, y)
    expected = shares(hand, X, np.unique(y))
    np.testing.assert_allclose(model.decision_function(X), expected[:, 1] - expected[:, 0], rtol=0, atol=1e-12)


class Last:
    """No estimator at all: it predicts the last label it saw."""

    def partial_fit(self, X, y):
        self.label = y[-1]
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


def test_anything_with_partial_fit_serves():
    learner = Last()
    model = OnlineToBatch(learner).fit([[0.0]] * 5, ["b", "a", "b", "b", "c"])
    assert model.decision_function([[0.0]]).tolist() == [[2 / 6, 3 / 6, 1 / 6]]
    assert model.progressive_mistakes_ == 4
    assert not hasattr(learner, "label")


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("learner", [Perceptron(fit_intercept=False), BernoulliNB()])
def test_sparse_rows_give_the_same(learner, K):
    X, y = some_rows(K=K)
    X[np.abs(X) < 0.7] = 0
    dense, sparse = (OnlineToBatch(learner).fit(rows, y) for rows in (X, csr_matrix(X)))
    np.testing.assert_allclose(sparse.decision_function(csr_array(X)), dense.decision_function(X), atol=1e-12)
    np.testing.assert_allclose(sparse.decision_function(X), dense.decision_function(X), atol=1e-12)
    assert sparse.progressive_mistakes_ == dense.progressive_mistakes_


@pytest.mark.parametrize("K", [2, 3])
def test_groups_and_blocks_change_nothing(K, monkeypatch):
    X, y = some_rows(K=K)
    whole = OnlineToBatch(ours()).fit(X, y)
    monkeypatch.setattr(committee, "GROUP", 7)
    monkeypatch.setattr(committee, "BLOCK_BYTES", 8 * 7 * K * 9)
    parts = OnlineToBatch(ours()).fit(X, y)
    assert len(parts._committee.groups) == 6
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-15)
    np.testing.assert_allclose(parts.errors(X, y), whole.errors(X, y), atol=1e-15)


def test_names_are_checked_and_models_travel():
    X, y = some_rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = OnlineToBatch(ours()).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(frame), model.decision_function(frame))
    with pytest.raises(ValueError, match="X has the column 'b' at place 0; at fit it was 'a'"):
        model.predict(frame[["b", "a", "c"]])
    fresh = clone(model)
    assert fresh.learner.learning_rate == 0.1
    assert not hasattr(fresh, "learner_")


# ------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("tail", [0, -0.5, 1.01, np.nan, "half", None])
def test_a_tail_is_a_share(tail):
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        OnlineToBatch(ours(), tail=tail).fit(*some_rows())


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (Peer(), "learner is LogisticRegression, which has no partial_fit.*learns row by row"),
        (LogisticRegression(), "no partial_fit.*solver='auto' needs all rows: set solver='stochastic'"),
        (None, "learner is NoneType, which has no partial_fit"),
        (Perceptron, r"learner is the class Perceptron.*OnlineToBatch\(Perceptron\(\)\)"),
    ],
)
def test_a_learner_learns_row_by_row(learner, message):
    with pytest.raises(TypeError, match=message):
        OnlineToBatch(learner).fit(*some_rows())


def test_errors_say_what_to_do():
    X, y = some_rows()
    with pytest.raises(NotFittedError):
        OnlineToBatch(ours()).predict(X)
    with pytest.raises(ValueError, match="one class only, 'no'"):
        OnlineToBatch(ours()).fit(X, ["no"] * len(X))
    with pytest.raises(ValueError, match="give labels"):
        OnlineToBatch(ours()).fit(X, np.linspace(0, 1, len(X)))
    with pytest.raises(ValueError, match="partial_fit needs a learning_rate"):
        OnlineToBatch(ours(learning_rate=None)).fit(X, y)
    with pytest.raises(ValueError, match="40 rows and y 39 labels"):
        OnlineToBatch(ours()).fit(X, y[1:])
    model = OnlineToBatch(ours()).fit(X, y)
    with pytest.raises(ValueError, match="40 rows and y 39 labels"):
        model.errors(X, y[1:])
    broken = X.copy()
    broken[17, 1] = np.nan
    for act in (model.predict, lambda rows: model.errors(rows, y), lambda rows: clone(model).fit(rows, y)):
        with pytest.raises(ValueError, match=r"X\[17, 'x1'\] is NaN"):
            act(broken)


@pytest.mark.parametrize("learner", [Perceptron(fit_intercept=False), Logged()])
def test_scores_beyond_all_numbers_are_an_error(learner):
    model = OnlineToBatch(learner).fit(np.array([[1e150, -1e150], [1.0, 0.0]]), np.array([1, 0]))
    with pytest.raises(ValueError, match=r"overflow.*larger units"):
        model.predict([[1e200, 1e200]])


def reads_sparse(learner):
    try:
        clone(learner).partial_fit(csr_array(np.eye(2)), [0, 1], classes=[0, 1])
    except Exception:
        return False
    return True


@pytest.mark.parametrize("name", ["ours", pytest.param("bernoulli", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_scikit_learn_s_own_checks(name):
    results = check_estimator(OnlineToBatch(LEARNERS[name]), on_skip=None, on_fail=None)
    failed = [(each["check_name"], each["exception"]) for each in results if each["status"] == "failed"]
    if not reads_sparse(LEARNERS[name]):  # then it is the learner that fails them
        failed = [each for each in failed if "sparse" not in each[0]]
    assert failed == []
    assert sum(each["status"] == "passed" for each in results) > 40
