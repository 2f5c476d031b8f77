"""The online perceptron: every row once, in any pieces, with classes that come as they please."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import strategies as st
from rarely import examples
from referees.perceptron import integers, two_classes
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import check_estimator

from separatrix import OnlinePerceptron, Perceptron

pytestmark = pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
seeds = st.integers(0, 2**32 - 1)
TIES = ("mistake", "positive", "negative")


def chopped(rng, n):
    return [part for part in np.split(np.arange(n), np.sort(rng.integers(0, n, rng.integers(0, 8)))) if len(part)]


def same(a, b):
    assert a.classes_.tolist() == b.classes_.tolist()
    assert a.coef_.tobytes() == b.coef_.tobytes()
    assert a.intercept_.tobytes() == b.intercept_.tobytes()
    assert (a.progressive_mistakes_, a.n_steps_) == (b.progressive_mistakes_, b.n_steps_)


@examples(
    35,
    100,
    seed=seeds,
    classes=st.integers(2, 5),
    ties=st.sampled_from(TIES),
    sparse=st.booleans(),
    saved=st.booleans(),
)
def test_any_chopping_is_one_call_and_a_saved_state_goes_on(seed, classes, ties, sparse, saved):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 3)), np.array(list("dbeac"))[np.sort(rng.integers(0, classes, 40))]
    y = y if seed % 2 else rng.permutation(y)  # classes one after the other, or mixed
    rows = csr_array(X) if sparse else X
    whole = OnlinePerceptron(learning_rate=0.3, ties=ties).partial_fit(rows, y)
    model = OnlinePerceptron(learning_rate=0.3, ties=ties)
    for part in chopped(rng, 40):
        model.partial_fit(rows[part], y[part])
        if saved:
            model = OnlinePerceptron.from_dict(json.loads(json.dumps(model.to_dict())))
    same(model, whole)
    if len(set(y)) > 1 and ties == "mistake":
        same(whole, OnlinePerceptron(learning_rate=0.3).fit(rows, y))
    announced = OnlinePerceptron(learning_rate=0.3, ties=ties).partial_fit(rows, y, classes=np.unique(y))
    if ties == "mistake" or len(set(y)) != 2:
        same(announced, whole)


@pytest.mark.parametrize("ties", TIES)
def test_two_classes_are_one_pass_of_the_perceptron(ties):
    rng = np.random.default_rng(1)
    X, y = integers(rng, 60, 3), rng.choice([-1, 1], 60)
    y[:5] = 1  # the other class comes later
    trace = two_classes(X, y, passes=1, ties=ties)
    fits = [
        OnlinePerceptron(ties=ties).fit(X, y),
        Perceptron(max_passes=1, ties=ties).fit(X, y),
        OnlinePerceptron(ties=ties).partial_fit(X[:3], y[:3], classes=[1, -1]).partial_fit(X[3:], y[3:]),
    ]
    for model in fits:
        np.testing.assert_array_equal(model.coef_[0], trace.weights[-1])
        assert model.intercept_[0] == trace.intercepts[-1]
    assert fits[0].progressive_mistakes_ == len(trace.rows)


def test_new_classes_appear_and_are_learnt():
    rng = np.random.default_rng(2)
    centres = np.array([[0, 6], [6, 0], [-6, -6], [6, 6]])
    model = OnlinePerceptron()
    seen = []
    for label in ("north", "east", "southwest", "northeast"):
        k = len(seen)
        seen.append(label)
        which = np.append(rng.integers(0, k + 1, 200), k)
        X = centres[which] + rng.standard_normal((201, 2))
        model.partial_fit(X, np.array(seen)[which])
        assert model.classes_.tolist() == sorted(seen)
        assert set(model.predict(X)) <= set(seen)
    X = np.repeat(centres, 50, axis=0) + rng.standard_normal((200, 2))
    assert model.score(X, np.repeat(seen, 50)) > 0.95
    assert model.coef_.shape == (4, 2)


def test_one_class_alone_is_what_is_predicted():
    model = OnlinePerceptron().partial_fit([[1.0], [-2.0]], ["a", "a"])
    assert model.classes_.tolist() == ["a"]
    assert model.predict([[5.0], [-5.0]]).tolist() == ["a", "a"]
    assert model.n_steps_ == 2


def test_a_row_of_a_new_class_is_a_progressive_mistake():
    model = OnlinePerceptron().fit([[1.0, 0.0], [0.0, 1.0], [1.0, 0.1], [0.1, 1.0]], ["a", "b", "a", "b"])
    before = model.progressive_mistakes_
    model.partial_fit([[-1.0, -1.0]], ["c"])
    assert model.progressive_mistakes_ == before + 1


def test_the_steps_are_its_updates():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((50, 3)), rng.choice(["a", "b", "c"], 50)
    model = OnlinePerceptron()
    updates = list(model.steps(X, y))
    whole = OnlinePerceptron().fit(X, y)
    same(model, whole)
    assert updates[-1].mistakes == whole.mistakes_[0]
    np.testing.assert_array_equal(updates[-1].weights, whole.coef_)


def test_a_pickle_goes_on_too_and_does_not_carry_the_rows():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((3000, 3)), rng.choice([0, 1], 3000)
    model = OnlinePerceptron().fit(X, y)
    stored = pickle.dumps(model)
    assert len(stored) < X.nbytes
    again = pickle.loads(stored)
    same(again.partial_fit(X[:50], y[:50]), model.partial_fit(X[:50], y[:50]))


def test_a_fit_can_be_checked_and_a_stream_claims_nothing():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((50, 2)), rng.choice([0, 1], 50)
    model = OnlinePerceptron().fit(X, y)
    assert model.verdict_.status == "budget"
    assert model.verdict_.check(X, y)
    assert model.verdict_.claim.value == pytest.approx(1 - model.score(X, y))
    apart = OnlinePerceptron().fit([[1.0], [-1.0]], [0, 1])
    assert apart.verdict_.status == "separated"
    assert apart.verdict_.check([[1.0], [-1.0]], [0, 1])
    model.partial_fit(X, y)
    assert model.verdict_.status == "interrupted"
    assert "100 rows so far" in str(model.verdict_)


def test_a_rate_that_changes_on_the_way_is_taken_from_there_on():
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.5]]), [0, 1, 1]
    model = OnlinePerceptron(learning_rate=0.3).partial_fit(X[:2], y[:2])
    before = model.coef_[0].copy()
    wrong = model.predict(X[2:])[0] == 0
    model.set_params(learning_rate=0.5).partial_fit(X[2:], y[2:])
    np.testing.assert_allclose(model.coef_[0], before + 0.5 * wrong * X[2])
    assert OnlinePerceptron.from_dict(json.loads(json.dumps(model.to_dict()))).coef_.tobytes() == model.coef_.tobytes()


def test_one_class_has_no_bound():
    with pytest.raises(ValueError, match="Only one class"):
        OnlinePerceptron().partial_fit([[1.0]], ["a"]).bound()


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        ([[1.0, 2.0, 3.0]], [0], "3 features"),
        ([[1.0, np.nan]], [0], r"X\[0, 'x1'\] is NaN"),
        ([[1.0, np.inf]], [1], r"X\[0, 'x1'\] is inf"),
        ([[1.0, 2.0]], ["zero"], "y holds names, such as 'zero'; so far the classes were"),
        ([[1.0, 2.0]], [0, 1], "1 rows and y 2 labels"),
        ([[1.0, 2.0]], [0.5], "y holds probabilities"),
        ([[1.0, 2.0]], [[0.5, 0.5]], "y holds probabilities"),
        ([[1.0, 2.0]], None, "requires y"),
        ([[1.0, 2.0]], [np.nan], "NaN"),
    ],
)
def test_bad_rows_in_a_later_call_are_refused_and_change_nothing(X, y, says):
    model = OnlinePerceptron().partial_fit([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    before = model.to_dict()
    with pytest.raises(ValueError, match=says):
        model.partial_fit(X, y)
    assert model.to_dict() == before


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kind": "Perceptron"}, "no record"),
        ({"version": 9}, "version 9"),
        ({"weights": [[1.0]]}, "do not fit together"),
        ({"weights": [[1.0, float("nan")]]}, "NaN"),
        ({"weights": None}, "do not fit together"),
        ({"steps": -1}, "steps is -1"),
        ({"steps": 1.5}, "steps is 1.5"),
        ({"classes": [1, 0]}, "in order"),
        ({"names": ["a"]}, "names 1 columns"),
        ({"names": "ab"}, "list of words"),
        ({"names": ["a", "a"]}, "a name of its own"),
        ({"classes": [[0], [1]]}, "a list of names"),
        ({"classes": [0, "b"]}, "a list of names"),
        ({"steps": 10**20}, "steps is"),
        ({"missed": True}, "missed is True"),
        ({"unit": 2.0}, "unit is 2.0"),
        (
            {"parameters": {"learning_rate": 1.0, "ties": "mistake", "fit_intercept": False}, "intercept": [1.0]},
            "intercept",
        ),
        ({"parameters": {}}, "parameters must be"),
        ({"parameters": {"learning_rate": 7, "ties": "mistake", "fit_intercept": True}}, "learning_rate is 7"),
    ],
)
def test_a_record_that_was_tampered_with_is_refused(change, says):
    record = OnlinePerceptron().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).to_dict()
    with pytest.raises(ValueError, match=says):
        OnlinePerceptron.from_dict({**record, **change})
    del record["run"]
    with pytest.raises(ValueError, match="lacks 'run'"):
        OnlinePerceptron.from_dict(record)


def test_scikit_learn_accepts_it():
    results = check_estimator(OnlinePerceptron(), on_skip=None, on_fail=None)
    assert [(each["check_name"], each["exception"]) for each in results if each["status"] == "failed"] == []
