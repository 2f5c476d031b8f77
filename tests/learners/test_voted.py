"""The voted perceptron: every classifier that was ever in hand votes, the first and the last included."""

import numpy as np
import pytest
from referees.perceptron import integers, many_classes, two_classes
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import check_estimator

from separatrix import OnlinePerceptron, OnlineToBatch, VotedPerceptron

pytestmark = pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")


def in_forms(X):
    return [X, X.astype(np.float32), np.asfortranarray(X), csr_array(X)]


@pytest.mark.parametrize("last_half", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ties", ["mistake", "positive", "negative"])
def test_two_classes_vote_as_the_notes_have_it(last_half, intercept, ties):
    rng = np.random.default_rng(0)
    X, y, Z = integers(rng, 40, 3), rng.choice([-1, 1], 40), integers(rng, 60, 3)
    trace = two_classes(X, y, rate=0.5, passes=2.6, intercept=intercept, ties=ties)
    signs = np.array([np.where(Z @ w + b > 0, 1, -1) for w, b in zip(trace.weights, trace.intercepts, strict=True)])
    assert len(signs) == 104 + 1
    signs = signs[-(len(signs) // 2) :] if last_half else signs
    for rows, new in zip(in_forms(X), in_forms(Z), strict=True):
        model = VotedPerceptron(
            learning_rate=0.5, max_passes=2.6, fit_intercept=intercept, ties=ties, last_half=last_half
        ).fit(rows, y)
        np.testing.assert_allclose(model.decision_function(new), signs.mean(axis=0), atol=1e-12)
        np.testing.assert_array_equal(model.predict(new), np.where(signs.sum(axis=0) > 0, 1, -1))
        assert model.log_.rows.tolist() == trace.rows
        np.testing.assert_array_equal(model.coef_[0], trace.weights[-1])


@pytest.mark.parametrize("last_half", [False, True])
def test_many_classes_vote_for_one_each(last_half):
    rng = np.random.default_rng(1)
    X, k, Z = integers(rng, 50, 3), rng.integers(0, 4, 50), integers(rng, 40, 3)
    trace = many_classes(X, k, 4, passes=3)
    winners = np.array([(Z @ W.T + b).argmax(axis=1) for W, b in zip(trace.weights, trace.intercepts, strict=True)])
    winners = winners[-(len(winners) // 2) :] if last_half else winners
    shares = np.array([(winners == c).mean(axis=0) for c in range(4)]).T
    for rows, new in zip(in_forms(X), in_forms(Z), strict=True):
        model = VotedPerceptron(max_passes=3, last_half=last_half).fit(rows, k)
        np.testing.assert_allclose(model.decision_function(new), shares, atol=1e-12)
        np.testing.assert_array_equal(model.predict(new), shares.argmax(axis=1))


def test_one_pass_is_the_online_perceptron_converted():
    rng = np.random.default_rng(2)
    X, y, Z = rng.standard_normal((80, 4)), rng.choice(["a", "b"], 80), rng.standard_normal((50, 4))
    voted = VotedPerceptron(max_passes=1).fit(X, y)
    batch = OnlineToBatch(OnlinePerceptron()).fit(X, y)
    np.testing.assert_array_equal(voted.decision_function(Z), batch.decision_function(Z))
    errors = batch.errors(Z, voted.predict(Z))
    assert errors.shape == batch.votes_.shape
    assert batch.votes_.sum() == 81


def test_a_start_votes_too():
    X, y = np.array([[1.0], [2.0]]), [-1, 1]
    model = VotedPerceptron(init=[-1.0, 0.0], max_passes=1).fit(X, y)
    trace = two_classes(X, y, passes=1, w=[-1.0])
    votes = np.mean(
        [np.sign(np.sign(3 * w[0] + b) - 0.5) for w, b in zip(trace.weights, trace.intercepts, strict=True)]
    )
    assert model.decision_function([[3.0]])[0] == pytest.approx(votes)


def test_a_vote_has_no_distance_and_its_parameter_is_checked():
    model = VotedPerceptron().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(AttributeError, match="no distance"):
        model.distance([[0.0]])
    with pytest.raises(ValueError, match="last_half is 'yes'"):
        VotedPerceptron(last_half="yes").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="NaN"):
        model.predict([[np.nan]])


def test_products_that_overflow_are_said():
    model = VotedPerceptron(max_passes=1, fit_intercept=False).fit([[1e100], [-1e100]], [0, 1])
    with pytest.raises(ValueError, match="overflow"):
        model.predict([[1e300]])


def test_scikit_learn_accepts_it():
    results = check_estimator(VotedPerceptron(), on_skip=None, on_fail=None)
    assert [(each["check_name"], each["exception"]) for each in results if each["status"] == "failed"] == []
