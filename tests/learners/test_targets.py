"""Targets that are probabilities: each is a row split into as many weighted labels as there are classes."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rarely import examples
from referees.separation import separation_by_highs

from separatrix import BudgetWarning, LogisticRegression, SeparationWarning

"""A row of probabilities is a case of each class, a row of weight zero is none; together they are as many as rows."""


def quietly(X, y, sample_weight=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        warnings.simplefilter("ignore", BudgetWarning)
        return LogisticRegression(**settings).fit(X, y, sample_weight)


def fit(X, y, sample_weight=None, **settings):
    return LogisticRegression(**{"tol": 1e-13, **settings}).fit(X, y, sample_weight)


def rows(n=120, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def fractions(X, seed=1):
    """Probabilities of the second class, some of them 0 and 1."""
    rng = np.random.default_rng(seed)
    t = 1 / (1 + np.exp(-(X @ np.linspace(1, -1, X.shape[1]) + rng.logistic(size=len(X)))))
    t[::7], t[1::7] = 0, 1
    return t


def shares(X, K=3, seed=1):
    """A row of probabilities of K classes for each row of X."""
    rng = np.random.default_rng(seed)
    T = np.exp(X @ rng.normal(size=(X.shape[1], K)) + rng.normal(size=(len(X), K)))
    return T / T.sum(axis=1, keepdims=True)


def labels(X, K=3, seed=1):
    """Labels drawn from those probabilities: no rule separates them."""
    chance = np.random.default_rng(seed + 7).random((len(X), 1))
    return (shares(X, K, seed).cumsum(axis=1) < chance).sum(axis=1)


def split(X, T, cost=None):
    """Every row K times, once with each label, weighted by its probability; rows of weight zero left out."""
    n, K = T.shape
    cost = np.ones(n) if cost is None else cost
    weight = (T * cost[:, None]).ravel()
    counts = weight > 0
    return np.repeat(X, K, axis=0)[counts], np.tile(np.arange(K), n)[counts], weight[counts]


def two(t):
    return np.column_stack([1 - t, t])


def assert_same(model, other, atol=1e-6):
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-6, atol=atol)
    np.testing.assert_allclose(model.intercept_, other.intercept_, rtol=1e-6, atol=atol)


def score(model, X):
    """The scores, less what is the same for every class."""
    s = model.decision_function(X)
    return s - s.mean(axis=-1, keepdims=True) if s.ndim == 2 else s


# ------------------------------------------------------------------------------------------------------- the laws


@st.composite
def two_class_tables(draw):
    n, d = draw(st.integers(6, 25)), draw(st.integers(1, 3))
    X = draw(arrays(float, (n, d), elements=st.integers(-20, 20).map(lambda x: x / 4)))
    t = draw(arrays(float, n, elements=st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.75, 1.0])))
    cost = draw(arrays(float, n, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])))
    assume(X[cost > 0].any())
    assume((cost * t).any() and (cost * (1 - t)).any() and ((t > 0) & (t < 1)).any())
    return X, t, cost


@st.composite
def class_tables(draw):
    n, d, K = draw(st.integers(6, 20)), draw(st.integers(1, 2)), draw(st.integers(3, 4))
    X = draw(arrays(float, (n, d), elements=st.integers(-12, 12).map(lambda x: x / 4)))
    parts = draw(arrays(float, (n, K), elements=st.integers(0, 4)))
    assume((parts.sum(axis=1) > 0).all() and parts.any(axis=0).all() and X.any())
    return X, parts / parts.sum(axis=1, keepdims=True)


@examples(
    50, 150, two_class_tables(), st.sampled_from([0.0, 0.01, 1.0]), st.booleans(), st.sampled_from(["newton", "lbfgs"])
)
def test_a_probability_is_two_labels_with_its_share_of_the_weight(table, l2, fit_intercept, solver):
    X, t, cost = table
    settings = {"l2": l2, "fit_intercept": fit_intercept, "solver": solver}
    soft, hard = quietly(X, t, cost, **settings), quietly(*split(X, two(t), cost), **settings)
    assert soft.verdict_.status == hard.verdict_.status
    assert soft.verdict_.rank == hard.verdict_.rank
    assert soft.verdict_.check(X, t, cost) is True
    if soft.verdict_.status in ("optimal", "quasi-separated"):
        assert soft.verdict_.claim.value == pytest.approx(hard.verdict_.claim.value, rel=1e-9)
        counts = cost > 0
        np.testing.assert_allclose(soft.predict_proba(X[counts]), hard.predict_proba(X[counts]), rtol=0, atol=1e-4)


@examples(
    50,
    150,
    two_class_tables(),
    st.sampled_from([0.0, 0.02, 1.0]),
    st.booleans(),
    st.sampled_from(["newton", "gauss-newton"]),
)
def test_so_it_is_for_the_squared_error(table, l2, fit_intercept, solver):
    """One start, the same for both: there may be several minima."""
    X, t, cost = table
    settings = {"objective": "squared", "starts": 1, "l2": l2, "fit_intercept": fit_intercept, "solver": solver}
    soft, hard = quietly(X, t, cost, **settings), quietly(*split(X, two(t), cost), **settings)
    assert soft.verdict_.status == hard.verdict_.status
    if soft.verdict_.ok:
        assert soft.verdict_.claim.value == pytest.approx(hard.verdict_.claim.value, rel=1e-8)


@examples(
    35, 100, class_tables(), st.sampled_from([0.0, 0.01, 1.0]), st.booleans(), st.sampled_from(["newton", "lbfgs"])
)
def test_a_row_of_probabilities_is_a_label_of_each_class_with_its_share_of_the_weight(table, l2, fit_intercept, solver):
    X, T = table
    settings = {"l2": l2, "fit_intercept": fit_intercept, "solver": solver}
    soft, hard = quietly(X, T, **settings), quietly(*split(X, T), **settings)
    assert soft.verdict_.status == hard.verdict_.status
    assert soft.verdict_.check(X, T) is True
    if soft.verdict_.status in ("optimal", "quasi-separated"):
        assert soft.verdict_.claim.value == pytest.approx(hard.verdict_.claim.value, rel=1e-9)
        np.testing.assert_allclose(soft.predict_proba(X), hard.predict_proba(X), rtol=0, atol=1e-4)


@examples(50, 150, two_class_tables(), st.sampled_from([0.0, 0.01]), st.booleans())
def test_a_matrix_of_two_columns_is_the_vector_of_its_second(table, l2, fit_intercept):
    X, t, cost = table
    settings = {"l2": l2, "fit_intercept": fit_intercept}
    vector, matrix = quietly(X, t, cost, **settings), quietly(X, two(t), cost, **settings)
    assert matrix.classes_.tolist() == vector.classes_.tolist() == [0, 1]
    assert matrix.coef_.tobytes() == vector.coef_.tobytes()
    assert matrix.intercept_.tobytes() == vector.intercept_.tobytes()
    assert matrix.verdict_.status == vector.verdict_.status


@examples(50, 150, two_class_tables(), st.booleans())
def test_a_soft_row_that_counts_is_never_on_its_own_side(table, fit_intercept):
    X, t, cost = table
    among = (t > 0) & (t < 1) & (cost > 0)
    assume(among.any())
    model = quietly(X, t, cost, fit_intercept=fit_intercept)
    assert model.verdict_.status in ("optimal", "quasi-separated")
    assert model.verdict_.check(X, t, cost) is True
    p = model.predict_proba(X[among])
    assert ((p > 0) & (p < 1)).all()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("x", "t", "cost"),
    [
        ([0, 1, 1, 0], [0, 0, 0, 0.125], [1, 0, 1, 1]),
        ([0, 0, 1, 0], [0, 0, 0, 0.125], [1, 0, 1, 1]),
        ([0, 0, 1, 1], [0.125, 0, 0, 0], [1, 1, 0, 1]),
    ],
    ids=["first", "between", "beside"],
)
def test_as_many_soft_rows_as_rows_of_weight_zero(x, t, cost, fit_intercept):
    """At 1 all are of the first class, at 0 one row may be of either: x → −∞, and at 0 a probability is left."""
    X, counts = np.array(x, float)[:, None], np.array(cost) > 0
    model, lean = (
        quietly(rows, np.array(t)[kept], np.array(cost)[kept], fit_intercept=fit_intercept)
        for rows, kept in ((X, counts | True), (X[counts], counts))
    )
    assert lean.verdict_.status == "quasi-separated"
    assert lean.verdict_.check(X[counts], np.array(t)[counts])
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(X, t, cost) is True
    assert model.verdict_.separability.check(X, t, cost) is True
    assert model.verdict_.certificate.deviance == pytest.approx(lean.verdict_.certificate.deviance, rel=1e-9)
    np.testing.assert_allclose(model.predict_proba(X[counts]), lean.predict_proba(X[counts]), atol=1e-7)


def test_as_many_soft_rows_as_rows_of_weight_zero_in_a_compiled_pass():
    n = 450_000
    x, cost = np.where(np.arange(n) % 2, 1.0, -1.0), np.ones(n)
    t = (x > 0).astype(float)
    x[-2:], t[-2:], cost[[10, 20]] = 0, 0.5, 0
    model = quietly(x[:, None], t, cost)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(x[:, None], t, cost) is True
    assert len(model.verdict_.separability.rows) == n - 4
    assert model.verdict_.certificate.deviance == pytest.approx(4 * np.log(2), rel=1e-9)


@examples(50, 150, two_class_tables(), st.sampled_from([0.01, 1.0]))
def test_the_other_probability_turns_the_weights_round(table, l2):
    X, t, cost = table
    one, other = quietly(X, t, cost, l2=l2, tol=1e-13), quietly(X, 1 - t, cost, l2=l2, tol=1e-13)
    if one.verdict_.ok and other.verdict_.ok:
        np.testing.assert_allclose(one.coef_, -other.coef_, atol=2e-5)


# -------------------------------------------------------------------------------------------- splitting, by example


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "gradient"])
@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_probabilities_and_split_rows_have_the_same_maximum_of_likelihood(solver, l2):
    X = rows()
    t = fractions(X)
    assert_same(fit(X, t, l2=l2, solver=solver), fit(*split(X, two(t)), l2=l2), atol=1e-5)


@pytest.mark.parametrize("solver", ["auto", "newton", "gauss-newton", "lbfgs", "gradient"])
def test_probabilities_and_split_rows_have_the_same_least_squared_error(solver):
    X = rows()
    t = fractions(X)
    settings = {"objective": "squared", "starts": 1, "l2": 0.01}
    assert_same(fit(X, t, solver=solver, **settings), fit(*split(X, two(t)), **settings), atol=1e-5)


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "gradient"])
@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_rows_of_probabilities_and_split_rows_have_the_same_maximum_of_likelihood(solver, l2):
    X = rows()
    T = shares(X)
    assert_same(fit(X, T, l2=l2, solver=solver), fit(*split(X, T), l2=l2), atol=1e-5)


def test_rows_of_probabilities_have_a_squared_error_of_their_own_with_the_same_minimum():
    """Σₖ tₖ‖eₖ − p‖² = ‖t − p‖² + 1 − ‖t‖²: the split rows cost a constant more."""
    X = rows()
    T = shares(X)
    settings = {"objective": "squared", "starts": 1, "l2": 0.01}
    soft, hard = fit(X, T, **settings), fit(*split(X, T), **settings)
    assert_same(soft, hard, atol=1e-5)
    more = np.mean(1 - np.square(T).sum(axis=1))
    assert hard.verdict_.claim.value == pytest.approx(soft.verdict_.claim.value + more, rel=1e-10)


def test_enough_soft_rows_for_the_compiled_pass():
    X = rows(150_000, 4)
    t = fractions(X)
    soft = LogisticRegression(tol=1e-12).fit(X, t)
    assert soft.verdict_.ok
    assert_same(soft, LogisticRegression(tol=1e-12).fit(*split(X, two(t))), atol=1e-5)


def test_more_columns_than_soft_rows():
    X = rows(15, 40)
    t = fractions(X)
    assert_same(fit(X, t, l2=0.1), fit(*split(X, two(t)), l2=0.1), atol=1e-5)


def test_the_loss_of_a_soft_row_is_its_cross_entropy():
    X = rows()
    t = fractions(X)
    model = fit(X, t)
    p = model.predict_proba(X)[:, 1]
    assert model.verdict_.claim.value == pytest.approx(-np.mean(t * np.log(p) + (1 - t) * np.log(1 - p)), rel=1e-12)
    T = shares(X)
    model = fit(X, T)
    assert model.verdict_.claim.value == pytest.approx(
        -np.mean((T * model.predict_log_proba(X)).sum(axis=1)), rel=1e-12
    )


def test_at_the_maximum_of_likelihood_soft_errors_balance():
    X = rows()
    t = fractions(X)
    error = t - fit(X, t).predict_proba(X)[:, 1]
    np.testing.assert_allclose(error @ np.column_stack([X, np.ones(len(X))]), 0, atol=1e-5)
    T = shares(X)
    error = T - fit(X, T).predict_proba(X)
    np.testing.assert_allclose(error.T @ np.column_stack([X, np.ones(len(X))]), 0, atol=1e-5)


def test_a_model_is_recovered_from_its_own_probabilities():
    """No noise: cross-entropy and squared error are least where p = t, whatever the weights that made t."""
    X = rows(60)
    w, b = np.array([0.7, -1.3, 0.2]), 0.4
    t = 1 / (1 + np.exp(-(X @ w + b)))
    for how in ({}, {"objective": "squared", "starts": 1}):
        model = fit(X, t, **how)
        np.testing.assert_allclose(model.coef_[0], w, atol=1e-5)
        np.testing.assert_allclose(model.intercept_[0], b, atol=1e-5)


def test_a_model_of_many_classes_is_recovered_from_its_own_probabilities():
    X = rows(60)
    W = np.array([[0.7, -1.3, 0.2], [0.1, 0.4, -1.0], [0.0, 0.0, 0.0]])
    s = X @ W.T + [0.4, -0.2, 0.0]
    T = np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)
    model = fit(X, T)
    np.testing.assert_allclose(model.coef_, W, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, [0.4, -0.2, 0.0], atol=1e-5)
    # of the squared error ‖t − p‖² the minimum is zero itself, and a part of zero cannot be proved: it ends near
    squared = quietly(X, T, objective="squared", starts=1, tol=1e-13)
    np.testing.assert_allclose(squared.predict_proba(X), T, atol=1e-4)
    assert squared.verdict_.claim.value < 1e-9


@pytest.mark.parametrize("target", [fractions, shares])
def test_the_verdict_of_a_fit_to_probabilities_can_be_checked(target):
    X = rows()
    assert fit(X, target(X)).verdict_.check(X, target(X))


# ----------------------------------------------------------------------------------------------------- the classes


def test_fractions_are_of_the_classes_zero_and_one():
    X = rows()
    model = fit(X, fractions(X))
    assert model.classes_.tolist() == [0, 1]
    assert set(model.predict(X).tolist()) <= {0, 1}
    assert model.score(X, model.predict(X)) == 1


def test_the_columns_of_an_array_are_classes_by_number():
    X = rows()
    model = fit(X, shares(X, 4))
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.coef_.shape == (4, 3)
    assert model.predict_proba(X).shape == (len(X), 4)


@pytest.mark.parametrize("K", [2, 3])
def test_the_column_names_of_a_frame_are_the_classes_in_their_order(K):
    X, names = rows(), ["setosa", "iris", "bluebell"][:K]
    T = shares(X, K)
    named, numbered = fit(X, pd.DataFrame(T, columns=names)), fit(X, T)
    assert named.classes_.tolist() == names
    assert named.coef_.tobytes() == numbered.coef_.tobytes()
    assert named.predict(X).tolist() == np.array(names)[numbered.predict(X)].tolist()
    assert named.rule_.classes == tuple(names)


def test_column_names_that_are_numbers_are_classes_too():
    X = rows()
    model = fit(X, pd.DataFrame(shares(X), columns=[30, 10, 20]))
    assert model.classes_.tolist() == [30, 10, 20]
    assert set(model.predict(X).tolist()) <= {10, 20, 30}


def test_a_frame_of_polars_has_names_too():
    X = rows()
    model = fit(X, pl.DataFrame(shares(X), schema=["c", "a", "b"]))
    assert model.classes_.tolist() == ["c", "a", "b"]


def test_a_list_of_lists_is_a_matrix():
    X = rows()
    T = shares(X)
    assert fit(X, T.tolist()).coef_.tobytes() == fit(X, T).coef_.tobytes()
    assert fit(X, [tuple(row) for row in T.tolist()]).coef_.tobytes() == fit(X, T).coef_.tobytes()


def test_a_series_of_fractions_is_a_vector():
    X = rows()
    t = fractions(X)
    expected = fit(X, t).coef_.tobytes()
    for y in (t.tolist(), pd.Series(t), pl.Series(t), t.astype(object)):
        assert fit(X, y).coef_.tobytes() == expected


def test_single_precision_probabilities_need_not_sum_to_one_to_the_last_digit():
    X = rows(2000)
    T = shares(X).astype(np.float32)
    assert (T.astype(float).sum(axis=1) != 1).any()
    assert_same(fit(X, T), fit(X, shares(X)), atol=1e-4)


def test_targets_are_left_as_they_are():
    X = rows()
    T, t = shares(X), fractions(X)
    copies = T.copy(), t.copy()
    fit(X, T)
    fit(X, t)
    assert (copies[0] == T).all()
    assert (copies[1] == t).all()


# ---------------------------------------------------------------------------------------------------- hard targets


@pytest.mark.parametrize("objective", ["likelihood", "squared"])
def test_zeros_and_ones_as_floats_are_labels(objective):
    X = rows()
    y = labels(X, 2)
    as_floats, as_labels = (fit(X, given, objective=objective, starts=1) for given in (y.astype(float), y))
    assert as_floats.coef_.tobytes() == as_labels.coef_.tobytes()
    assert as_floats.classes_.tolist() == [0, 1]
    assert not as_floats.verdict_.claim.soft


@pytest.mark.parametrize("objective", ["likelihood", "squared"])
@pytest.mark.parametrize("K", [2, 3])
def test_one_hot_rows_are_labels(K, objective):
    X = rows()
    y = labels(X, K)
    settings = {"objective": objective, "starts": 1, "l2": 0.01}
    one_hot, plain = fit(X, np.eye(K)[y], **settings), fit(X, y, **settings)
    assert_same(one_hot, plain)
    assert one_hot.verdict_.claim.value == pytest.approx(plain.verdict_.claim.value, rel=1e-12)
    assert one_hot.verdict_.status == plain.verdict_.status


@pytest.mark.parametrize("K", [2, 3])
def test_one_hot_rows_of_whole_numbers_or_booleans_are_labels(K):
    X = rows()
    y = labels(X, K)
    expected = fit(X, np.eye(K)[y]).coef_.tobytes()
    for kind in (int, bool, np.float32):
        assert fit(X, np.eye(K)[y].astype(kind)).coef_.tobytes() == expected


@pytest.mark.parametrize("objective", ["likelihood", "squared"])
@pytest.mark.parametrize("K", [2, 3, 4])
def test_one_hot_rows_can_be_separated(K, objective):
    X = rows()
    y = np.arange(len(X)) % K
    X[:, :2] = 5 * np.column_stack([np.cos(2 * np.pi * y / K), np.sin(2 * np.pi * y / K)]) + 0.3 * X[:, :2]
    model = quietly(X, np.eye(K)[y], objective=objective)
    assert model.verdict_.status == "separated"
    assert model.predict(X).tolist() == y.tolist()
    assert model.verdict_.certificate.margin > 0
    assert set(model.predict_proba(X).ravel().tolist()) == {0.0, 1.0}


@pytest.mark.parametrize("objective", ["likelihood", "squared"])
@pytest.mark.parametrize("K", [2, 3])
def test_one_soft_row_among_separated_ones_is_enough_for_a_minimum_along_it(K, objective):
    X = rows()
    y = np.arange(len(X)) % K
    X[:, :2] = 5 * np.column_stack([np.cos(2 * np.pi * y / K), np.sin(2 * np.pi * y / K)]) + 0.3 * X[:, :2]
    T = np.eye(K)[y]
    T[5] = 1 / K
    model = quietly(X, T, objective=objective, starts=2)
    assert model.verdict_.status != "separated"
    if objective == "likelihood":
        each, label, cost = split(X, T)
        kind = separation_by_highs(each, label, weight=cost, classes=K).kind
        assert model.verdict_.status == {"quasi-separated": kind, "overlap": "optimal"}[kind]
        assert model.verdict_.check(X, T) is True
    weight = np.ones(len(X))
    weight[5] = 0  # a soft row that does not count
    assert quietly(X, T, weight, objective=objective, starts=2).verdict_.status == "separated"


# ----------------------------------------------------------------------------------------------------------- costs


@pytest.mark.parametrize("objective", ["likelihood", "squared"])
def test_sample_weights_of_soft_rows_are_numbers_of_copies(objective):
    X = rows()
    times = np.random.default_rng(3).integers(0, 4, size=len(X))
    settings = {"objective": objective, "starts": 1, "l2": 0.01}
    for target in (fractions(X), shares(X)):
        weighted = fit(X, target, times, **settings)
        copied = fit(np.repeat(X, times, axis=0), np.repeat(target, times, axis=0), **settings)
        assert_same(weighted, copied, atol=1e-5)


def test_class_weights_multiply_the_shares_of_the_classes():
    X = rows()
    t = fractions(X)
    factor = np.array([3.0, 0.5])
    by_class = fit(X, t, class_weight={0: 3.0, 1: 0.5}, l2=0.01)
    by_row = fit(*split(X, two(t) * factor), l2=0.01)
    assert_same(by_class, by_row, atol=1e-5)
    assert by_class.verdict_.claim.value == pytest.approx(by_row.verdict_.claim.value, rel=1e-10)


def test_class_weights_multiply_the_shares_of_many_classes():
    X = rows()
    T = shares(X)
    factor = {"a": 3.0, "c": 0.25}
    by_class = fit(X, pd.DataFrame(T, columns=list("abc")), class_weight=factor, l2=0.01)
    by_row = fit(*split(X, T * [3.0, 1.0, 0.25]), l2=0.01)
    assert_same(by_class, by_row, atol=1e-5)
    assert by_class.verdict_.claim.value == pytest.approx(by_row.verdict_.claim.value, rel=1e-10)


@pytest.mark.parametrize("K", [2, 3])
def test_balanced_soft_classes_weigh_the_same(K):
    X = rows()
    T = shares(X, K)
    cost = np.random.default_rng(4).random(len(X))
    totals = cost @ T
    factor = totals.sum() / (K * totals)
    balanced = fit(X, T, cost, class_weight="balanced", l2=0.01)
    by_hand = fit(X, T, cost, class_weight=dict(enumerate(factor.tolist())), l2=0.01)
    assert_same(balanced, by_hand)
    assert_same(balanced, fit(*split(X, T * factor, cost), l2=0.01), atol=1e-5)


def test_soft_rows_of_weight_zero_are_absent():
    X = rows()
    cost = np.ones(len(X))
    cost[[3, 50]] = 0
    for target in (fractions(X), shares(X)):
        far = X.copy()
        far[[3, 50]] += 1e6
        assert_same(fit(far, target, cost), fit(X[cost > 0], target[cost > 0]), atol=1e-5)


def test_influence_takes_probabilities():
    X = rows()
    t = fractions(X)
    model = fit(X, t)
    error = model.influence(X, t).error
    np.testing.assert_allclose(error, t - model.predict_proba(X)[:, 1], rtol=1e-12)
    assert model.influence(X, two(t)).error.tolist() == error.tolist()
    assert model.influence(X, t).leverage.sum() == pytest.approx(X.shape[1] + 1, rel=1e-10)


# ------------------------------------------------------------------------------------------------------- bad input

T3 = shares(rows(60))
T1 = np.linspace(0, 1, 60)


def with_row(row, i=7, T=T3):
    spoilt = T.copy()
    spoilt[i] = row
    return spoilt


BAD = {
    "a row that sums to too little": (with_row([0.5, 0.25, 0.125]), ("y[7] sums to 0.875", "sum to one", "Divide")),
    "a row that sums to too much": (with_row([0.5, 0.5, 0.5]), ("y[7] sums to 1.5", "3 classes", "Divide")),
    "a row of zeros": (with_row([0.0, 0.0, 0.0]), ("y[7] sums to 0", "sum to one")),
    "percentages": (100 * T3, ("y[0] sums to 100", "Divide each row by its sum")),
    "a negative probability": (with_row([-0.25, 0.75, 0.5]), ("y[7, 0] is -0.25", "at least zero")),
    "a probability above one": (with_row([1.5, -0.5, 0.0]), ("y[7, 1] is -0.5", "at least zero")),
    "a NaN in a matrix": (with_row([0.5, np.nan, 0.5]), ("y[7, 1] is NaN", "finite")),
    "an infinity in a matrix": (with_row([0.5, 0.5, np.inf]), ("y[7, 2] is inf", "finite")),
    "a column of zeros": (
        np.column_stack([T1, 1 - T1, 0 * T1]),
        ("Class 2 has probability zero", "leave that class out"),
    ),
    "a named column of zeros": (
        pd.DataFrame(np.column_stack([T1, 1 - T1, 0 * T1]), columns=list("abc")),
        ("Class 'c' has probability zero", "leave that class out"),
    ),
    "two columns of one name": (pd.DataFrame(T3, columns=list("aba")), ("['a', 'b', 'a']", "one name")),
    "words in columns": (np.array([["yes", "no"]] * 60), ("y has 2 columns", "must hold probabilities")),
    "words in a frame": (pd.DataFrame({"a": ["yes"] * 60, "b": ["no"] * 60}), ("y has 2 columns", "probabilities")),
    "overlapping labels": (
        with_row([1, 1, 0], T=np.eye(3)[np.arange(60) % 3]),
        ("y[7] sums to 2", "one model a column"),
    ),
    "a fraction below zero": (
        with_row(-0.25, T=T1),
        ("continuous", "y[7] is -0.25", "between 0 and 1", "whole numbers"),
    ),
    "a fraction above one": (with_row(1.25, T=T1), ("continuous", "y[7] is 1.25", "between 0 and 1")),
    "a NaN among fractions": (with_row(np.nan, T=T1), ("y[7]", "is NaN")),
    "an infinity among fractions": (with_row(np.inf, T=T1), ("y[7]", "is inf")),
    "fewer fractions than rows": (T1[1:], ("X has 60 rows", "y 59")),
    "a matrix of too few rows": (T3[1:], ("X has 60 rows", "y 59")),
    "a matrix of no columns": (T3[:, :0], ("y has shape (60, 0)", "a column for each class")),
    "three dimensions": (T3[:, :, None], ("dim 3",)),
}


@pytest.mark.parametrize(("target", "words"), BAD.values(), ids=BAD)
def test_a_bad_target_is_told_where_it_is_bad_and_what_to_do(target, words):
    with pytest.raises(ValueError) as caught:
        LogisticRegression().fit(rows(60), target)
    message = str(caught.value)
    for each in words:
        assert each in message
    assert "\n" not in message
    assert len(message) < 300


def test_a_word_among_probabilities_is_printed_as_the_user_wrote_it():
    with pytest.raises(ValueError) as caught:
        LogisticRegression().fit(rows(60), np.array([["yes", "no"]] * 60))
    assert "'yes'" in str(caught.value)
    assert "np." not in str(caught.value)


def test_a_class_whose_soft_rows_all_have_weight_zero_is_missed():
    with pytest.raises(ValueError, match=r"class 2 has sample_weight zero"):
        LogisticRegression().fit(rows(60), np.eye(3)[np.arange(60) % 3], np.arange(60) % 3 < 2)


def test_a_class_weight_for_no_column_is_refused():
    with pytest.raises(ValueError, match=r"class_weight names 'd'.*\['a', 'b', 'c'\]"):
        LogisticRegression(class_weight={"d": 2.0}).fit(rows(60), pd.DataFrame(T3, columns=list("abc")))


@pytest.mark.parametrize(
    "labels",
    [
        np.array([-3, 5, -3, 7], np.int8),
        np.array([-128, 127, 0], np.int8),
        np.array([250, 1, 250, 3], np.uint8),
        np.array([-(2**63), 2**63 - 1, 5]),
        np.array([5, 6, 9999, 5]),
        np.array([3, 1, 2, 1, 3], np.int32),
    ],
)
def test_whole_numbers_are_classes_in_order_whether_counted_or_sorted(labels):
    from separatrix.learners.checks.targets import checked_targets

    found, (classes, index) = checked_targets(None, labels), np.unique(labels, return_inverse=True)
    assert found.classes.dtype == labels.dtype
    assert found.classes.tolist() == classes.tolist()
    assert found.index.tolist() == index.tolist()
