"""Bad input to naive Bayes: what was given, where, and the way out; and a model that is as it was."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from separatrix import BernoulliNaiveBayes, GaussianNaiveBayes, NaiveBayes, PoissonNaiveBayes, families

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(10, 3)), np.array(list("aabbaabbab"))
ON = (X > 0).astype(float)


def says(message):
    return pytest.raises(ValueError, match=re.escape(message))


def with_cell(rows, i, j, value):
    rows = np.array(rows, float)
    rows[i, j] = value
    return rows


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, np.asfortranarray])
@pytest.mark.parametrize(
    ("model", "rows", "message"),
    [
        (BernoulliNaiveBayes(), with_cell(ON, 4, 1, 2), "X[4, 'x1'] is 2; a Bernoulli column holds 0 and 1 only"),
        (BernoulliNaiveBayes(), with_cell(ON, 4, 1, 0.5), "X[4, 'x1'] is 0.5; a Bernoulli column holds 0 and 1 only"),
        (PoissonNaiveBayes(), with_cell(ON, 2, 0, -1), "X[2, 'x0'] is -1; a Poisson column holds numbers of 0 or more"),
        (NaiveBayes(families="geometric"), with_cell(ON, 9, 2, 1.5),
         "X[9, 'x2'] is 1.5; a geometric column holds whole numbers of 0 or more"),
        (NaiveBayes(families="exponential"), with_cell(ON, 9, 2, -2),
         "X[9, 'x2'] is -2; an exponential column holds numbers of 0 or more"),
        (GaussianNaiveBayes(), with_cell(X, 3, 1, np.inf), "X[3, 'x1'] is inf"),
        (GaussianNaiveBayes(), with_cell(with_cell(X, 0, 0, np.nan), 3, 1, -np.inf), "X[3, 'x1'] is -inf"),
        (BernoulliNaiveBayes(threshold=0.0), with_cell(X, 3, 1, np.inf), "X[3, 'x1'] is inf"),
        (NaiveBayes(families="categorical"), with_cell(X, 3, 1, np.inf), "X[3, 'x1'] is inf"),
        (GaussianNaiveBayes(), X * 1e200, "sums over the rows overflow"),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be(model, rows, message, storage):
    model, good = clone(model), X if "inf" in message else ON
    with says(message):
        model.fit(storage(rows), Y)
    assert not hasattr(model, "classes_")
    if "overflow" in message:
        return
    model.fit(np.abs(good), Y)
    before = model.coef_.copy()
    for call in (model.predict, lambda bad: model.fit(bad, Y), lambda bad: model.partial_fit(bad, Y)):
        with says(message):
            call(storage(rows))
    assert model.coef_.tolist() == before.tolist()
    assert model.verdict_.check(np.abs(good), Y)


def test_pieces_that_are_too_far_apart():
    model = GaussianNaiveBayes().partial_fit(X, Y)
    with says("X['x0'] reaches 1e+160, and sums over the rows overflow"):
        model.partial_fit(np.full((2, 3), 1e160), ["a", "b"])
    assert model.verdict_.check(X, Y)


def test_a_row_that_does_not_count_may_hold_anything():
    cost = np.ones(10)
    cost[4] = 0
    kept = cost > 0
    for family, value in (("bernoulli", 7.0), ("poisson", -1.0), ("geometric", 0.5)):
        model = NaiveBayes(families=family).fit(with_cell(ON, 4, 1, value), Y, cost)
        assert model.coef_.tolist() == NaiveBayes(families=family).fit(ON[kept], Y[kept]).coef_.tolist()
    for storage in (np.asarray, sparse.csr_array):
        for family, threshold in (("bernoulli", 0.5), ("gaussian", None), ("categorical", None)):
            model = NaiveBayes(families=family, threshold=threshold).fit(storage(with_cell(X, 4, 1, np.inf)), Y, cost)
            other = NaiveBayes(families=family, threshold=threshold).fit(X[kept], Y[kept])
            np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-12)


def test_many_rows_too_are_looked_at():
    rows, y = np.zeros((200_000, 4)), np.arange(200_000) % 2
    rows[::3] = 1
    rows[123_456, 2] = 0.5
    for storage in (np.asarray, np.float32, np.asfortranarray):
        with says("X[123456, 'x2'] is 0.5; a Bernoulli"):
            BernoulliNaiveBayes().fit(storage(rows), y)
        with says("X[123456, 'x2'] is 0.5; a geometric"):
            NaiveBayes(families="geometric").fit(storage(rows), y)
    rows[123_456, 2] = np.nan
    rows[123_457, 1] = -1
    for storage in (np.asarray, np.float32, np.asfortranarray):
        for family in ("bernoulli", "poisson", "geometric", "exponential"):
            with says("X[123457, 'x1'] is -1"):
                NaiveBayes(families=family).fit(storage(rows), y)
            cost = np.ones(len(y))
            cost[123_457] = 0
            NaiveBayes(families=family).fit(storage(rows), y, cost)
    rows[123_457, 1] = np.inf
    with says("X[123457, 'x1'] is inf"):
        BernoulliNaiveBayes(threshold=0.5).fit(rows, y)


def test_a_zero_that_is_left_out_is_looked_at_too():
    class Shifted(families.Poisson):
        name, lowest = "shifted", 1.0

    with says("is 0; a shifted column holds numbers of 1 or more"):
        NaiveBayes(families=Shifted()).fit(sparse.csr_array(ON), Y)


CONSTANT = with_cell(X, slice(None), 1, np.where(Y == "a", 2.0, X[:, 1]))
NEVER = with_cell(ON, slice(None), 2, np.where(Y == "a", 0.0, np.arange(10) % 2))


@pytest.mark.parametrize(
    ("model", "rows", "y", "message"),
    [
        (GaussianNaiveBayes(smoothing=0), X, np.array(list("abbbbbbbbb")),
         "Column 'x0' of class 'a' has no variance: its numbers are all equal, or it has one only; set smoothing"),
        (GaussianNaiveBayes(smoothing=0), CONSTANT, Y, "Column 'x1' of class 'a' has no variance"),
        (BernoulliNaiveBayes(smoothing=0), NEVER, Y, "Column 'x2' of class 'a' has the lowest or highest mean"),
        (PoissonNaiveBayes(smoothing=0), NEVER, Y, "Column 'x2' of class 'a' has the lowest or highest mean"),
        (NaiveBayes(families="categorical", smoothing=0), NEVER, Y, "Column 'x2' of class 'a' never has the level 1"),
    ],
)  # fmt: skip
def test_without_smoothing_infinite_log_odds_are_an_error_with_it_there_are_none(model, rows, y, message):
    with says(message):
        model.fit(rows, y)
    smooth = model.set_params(smoothing=1.0).fit(rows, y)
    assert np.isfinite(smooth.coef_).all()
    assert smooth.verdict_.check(rows, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"families": "normal"}, "families has 'normal'; a family is one of 'gaussian', 'bernoulli'"),
        ({"families": families.Poisson}, "families has the class Poisson: give an instance, Poisson()"),
        ({"families": {0: "gaussian"}}, "families says nothing of the column 'x1' and 1 more"),
        ({"families": {"z": "gaussian", ...: "poisson"}}, "families names 'z', which is no column of X"),
        ({"families": {0: "gaussian", "x0": "gaussian", ...: "gaussian"}}, "names the column 'x0' twice"),
        ({"families": {True: "gaussian", ...: "gaussian"}}, "families names True, which is no column"),
        ({"variance": "both"}, "variance is 'both'; it must be one of 'own', 'shared'"),
        ({"smoothing": -1}, "smoothing is -1; it must be a finite number of at least 0"),
        ({"threshold": 1.0}, "threshold is 1.0; no column is Bernoulli"),
        ({"threshold": "a"}, "threshold is 'a'; it must be a finite number, or None"),
        ({"priors": "same"}, "priors is 'same'; it must be None (learnt), 'equal', or a probability for each class"),
        ({"priors": [0.5, 0.6]}, "priors sum to 1.1; probabilities sum to one"),
        ({"priors": [0.2, 0.3, 0.5]}, "priors has 3 numbers; one for each of the 2 classes ['a', 'b'] is needed"),
        ({"priors": [1, 0]}, "priors is [1, 0]; a positive number for each class"),
        ({"priors": [np.nan, 1]}, "priors[0] is nan"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with says(message):
        NaiveBayes(**settings).fit(X, Y)


def test_a_gaussian_knows_two_kinds_of_variance():
    with says("variance is 'both'; it must be 'own' or 'shared'"):
        families.Gaussian("both")


def test_a_threshold_below_zero_would_fill_a_sparse_table():
    with says("threshold is -1 and X is sparse: every zero that is left out would become a one"):
        BernoulliNaiveBayes(threshold=-1).fit(sparse.csr_array(X), Y)
    BernoulliNaiveBayes(threshold=-1).fit(X, Y)


def test_labels_and_weights():
    model = GaussianNaiveBayes()
    with says("y has one class only"):
        model.fit(X, ["a"] * 10)
    with says("Unknown label type: continuous"):
        model.fit(X, np.linspace(0, 1, 10))
    with says("Every sample of class 'b' has sample_weight zero"):
        model.fit(X, Y, (Y == "a") * 1.0)
    with says("sample_weight[0] is -1.0, which is negative"):
        model.fit(X, Y, -np.ones(10))
    with pytest.raises(NotFittedError):
        model.predict(X)
    frame = pd.DataFrame(X, columns=list("pqr"))
    with says("X lacks the column 'r'"):
        model.fit(frame, Y).predict(frame.rename(columns={"r": "s"}))


def test_pieces_that_do_not_fit_together():
    model = GaussianNaiveBayes().partial_fit(X[:2], Y[:2])
    assert model.predict(X).tolist() == ["a"] * 10
    assert model.predict_proba(X).tolist() == [[1.0]] * 10
    with says("There is no rule yet, after 2 rows: all are of class 'a', and a rule tells two classes or more apart"):
        model.features(X)
    with says("y holds numbers, such as 0; so far the classes were ['a']"):
        model.partial_fit(X, np.arange(10) % 2)
    with says("expecting 3 features"):
        model.partial_fit(X[:, :2], Y)
    with says("the target y is None"):
        model.partial_fit(X, None)
    with says("needs a label for each row"):
        model.partial_fit(X, np.linspace(0, 1, 10))
    model.partial_fit(X[2:], Y[2:])
    assert model.verdict_.check(X, Y)
    with says("families, variance or threshold were changed"):
        model.set_params(variance="shared").partial_fit(X, Y)
    nothing = GaussianNaiveBayes().partial_fit(X, Y, sample_weight=np.zeros(10))
    with says("after 10 rows: none of them counts"):
        nothing.predict(X)


def test_without_smoothing_pieces_wait_for_what_is_missing():
    model = GaussianNaiveBayes(smoothing=0).partial_fit(X, np.array(list("abbbbbbbbb")))
    with says("There is no rule yet, after 10 rows: Column 'x0' of class 'a' has no variance"):
        model.predict_proba(X)
    model.partial_fit(X, Y)
    assert model.verdict_.check(np.vstack([X, X]), np.append(np.array(list("abbbbbbbbb")), Y))
    model.partial_fit(X[:1], ["c"])  # a class of one row has come
    with says("of class 'c' has no variance"):
        model.predict(X)
    given = GaussianNaiveBayes(priors=[0.5, 0.3, 0.2]).partial_fit(X, Y)
    with says("priors has 3 numbers; one for each of the 2 classes"):
        given.predict(X)
    assert given.partial_fit(X[:1], ["c"]).predict(X).shape == (10,)
