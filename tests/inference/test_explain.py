"""One prediction in words: contributions add up, the row may come in any form, and what is not known is said."""

import gc
import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from rarely import examples, some_of
from scipy import sparse
from scipy.special import expit, logit

from separatrix import Explanation, LogisticRegression
from separatrix.features import Polynomial
from separatrix.learners.logistic.side_by_side import Task, fit_together

NAMES = ["age", "a & b_1 <x>", "pulse"]


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)) * [10, 1, 20] + [45, 0, 70], columns=NAMES)
    y = rng.random(n) < expit(0.08 * (X["age"] - 45) - 0.7 * X[NAMES[1]] - 0.5)
    return X, y.astype(int).to_numpy()


def of_three(n=300, seed=0):
    X, y = table(n, seed)
    return X, np.array(["no", "some", "yes"])[y + (X[NAMES[1]].to_numpy() > 0.5)]


def total(explanation):
    return explanation.base + math.fsum(each.contribution for each in explanation.contributions)


TABLE, THREE = table(), of_three()
MODEL, SOFTMAX = LogisticRegression().fit(*TABLE), LogisticRegression(l2=0.01).fit(*THREE)
numbers = st.floats(-1e4, 1e4)


# ------------------------------------------------------------------------------------------------------------- the law


@examples(35, 100, st.lists(numbers, min_size=3, max_size=3))
def test_contributions_add_up_to_the_score(row):
    found = MODEL.explain(row)
    score = MODEL.decision_function(pd.DataFrame([row], columns=NAMES))[0]
    size = sum(abs(each.contribution) for each in found.contributions) + 1
    assert abs(total(found) - score) <= 1e-12 * size
    assert abs(found.score - score) <= 1e-12 * size
    assert found.probability == pytest.approx(MODEL.predict_proba(pd.DataFrame([row], columns=NAMES))[0, 1], abs=1e-12)


@examples(35, 100, st.lists(numbers, min_size=3, max_size=3), st.permutations(["no", "some", "yes"]))
def test_of_k_classes_they_add_up_to_the_difference(row, classes):
    k, r = classes[:2]
    found = SOFTMAX.explain(row, for_class=k, against=r)
    frame = pd.DataFrame([row], columns=NAMES)
    scores = dict(zip(SOFTMAX.classes_, SOFTMAX.decision_function(frame)[0], strict=True))
    size = sum(abs(each.contribution) for each in found.contributions) + 1
    assert abs(total(found) - (scores[k] - scores[r])) <= 1e-12 * size
    P = dict(zip(SOFTMAX.classes_, SOFTMAX.predict_proba(frame)[0], strict=True))
    assert found.probability == pytest.approx(P[k], abs=1e-12)
    assert found.contributions[-1].probability == pytest.approx(P[k], abs=1e-9)


def test_each_part_is_what_it_is_said_to_be():
    X, y = TABLE
    found = MODEL.explain(X.iloc[7])
    assert found.base_rate == y.mean()
    assert found.base == pytest.approx(logit(y.mean()))
    first, *columns = found.contributions
    assert first.name == "(average row)"
    average = MODEL.decision_function(X.mean().to_frame().T)[0]
    assert first.contribution == pytest.approx(average - found.base)
    assert first.probability == pytest.approx(expit(average))
    w = dict(zip(NAMES, MODEL.coef_[0], strict=True))
    assert sorted(each.name for each in columns) == sorted(NAMES)
    for each in columns:
        assert each.value == X[each.name].iloc[7]
        assert each.mean == pytest.approx(X[each.name].mean())
        assert each.contribution == pytest.approx(w[each.name] * (each.value - each.mean))
        assert each.odds_factor == pytest.approx(math.exp(each.contribution))
    sizes = [abs(each.contribution) for each in columns]
    assert sizes == sorted(sizes, reverse=True)
    running = found.base
    for each in found.contributions:
        running += each.contribution
        assert each.probability == pytest.approx(expit(running))


def test_the_average_row_has_no_contributions():
    found = MODEL.explain(TABLE[0].mean())
    assert all(abs(each.contribution) < 1e-12 for each in found.contributions[1:])


def test_the_first_class_has_the_opposite_signs():
    X, _ = TABLE
    one, other = MODEL.explain(X.iloc[0]), MODEL.explain(X.iloc[0], for_class=0)
    assert (one.label, one.against, other.label, other.against) == (1, 0, 0, 1)
    assert MODEL.explain(X.iloc[0], against=1).to_dict() == other.to_dict()
    assert other.score == pytest.approx(-one.score)
    assert other.probability == pytest.approx(1 - one.probability)
    for a, b in zip(one.contributions, other.contributions, strict=True):
        assert a.contribution == pytest.approx(-b.contribution)


def test_of_k_classes_the_predicted_one_against_the_next():
    X, _ = THREE
    for i in range(20):
        P = SOFTMAX.predict_proba(X[i : i + 1])[0]
        order = np.argsort(P)
        found = SOFTMAX.explain(X.iloc[i])
        assert (found.label, found.against) == tuple(SOFTMAX.classes_[order[[-1, -2]]])
        assert found.score > 0


def test_weights_of_rows_make_the_base():
    X, y = TABLE
    cost = np.arange(len(y)) % 3 + 0.0
    found = LogisticRegression().fit(X, y, cost).explain(X.iloc[0])
    assert found.base_rate == pytest.approx(np.average(y, weights=cost))
    means = {each.name: each.mean for each in found.contributions[1:]}
    assert means["age"] == pytest.approx(np.average(X["age"], weights=cost))


# --------------------------------------------------------------------------------------------------------------- forms


@pytest.mark.parametrize(
    "form",
    [
        lambda row: row.to_numpy(),
        lambda row: row.tolist(),
        lambda row: tuple(row),
        lambda row: row,
        lambda row: row[::-1],
        lambda row: dict(row),
        lambda row: dict(reversed(list(row.items()))),
        lambda row: row.to_frame().T,
        lambda row: row.to_frame().T[NAMES[::-1]],
        lambda row: row.to_numpy()[None],
        lambda row: sparse.csr_array(row.to_numpy()[None]),
        lambda row: sparse.coo_matrix(row.to_numpy()[None]),
    ],
    ids=["array", "list", "tuple", "series", "series in another order", "dict", "dict in another order", "frame",
         "frame in another order", "matrix", "sparse", "sparse matrix"],
)  # fmt: skip
def test_a_row_may_come_in_any_form(form):
    row = TABLE[0].iloc[5]
    assert MODEL.explain(form(row)).to_dict() == MODEL.explain(row.to_numpy()).to_dict()


@pytest.mark.parametrize(
    ("row", "match"),
    [
        ({"age": 1, "pulse": 2}, r"The row lacks 'a & b_1 <x>'\."),
        ({"age": 1, NAMES[1]: 0, "pulse": 2, "puls": 3}, r"The row has 'puls', which was not there at fit"),
        ({"age": 1, NAMES[1]: 0, "puls": 2}, "lacks 'pulse' and has 'puls', which was not"),
        ([1.0, 2.0], "The row has 2 numbers; the model was fitted to 3 columns"),
        ([1.0, math.nan, 2.0], "'a & b_1 <x>' is nan .NaN or infinity"),
        ({"age": "old", NAMES[1]: 0, "pulse": 2}, "'age' is 'old', not a number"),
        ([1.0, None, 2.0], "is None, not a number"),
        (np.zeros((2, 3)), r"explain takes one row; this has shape \(2, 3\)"),
        (3.0, "explain takes one row"),
    ],
)
def test_a_row_that_does_not_fit_is_an_error(row, match):
    with pytest.raises(ValueError, match=match):
        MODEL.explain(row)


def test_columns_without_names():
    X, y = TABLE
    model = LogisticRegression().fit(X.to_numpy(), y)
    row = X.iloc[3].to_numpy()
    expected = model.explain(row).to_dict()
    assert {each["name"] for each in expected["contributions"][1:]} == {"x0", "x1", "x2"}
    assert model.explain(pd.Series(row)).to_dict() == expected
    assert model.explain(pd.DataFrame([row], columns=[10, 20, 30])).to_dict() == expected
    assert model.explain(dict(zip(["x0", "x1", "x2"], row, strict=True))).to_dict() == expected
    with pytest.raises(ValueError, match="fitted without names"):
        model.explain(X.iloc[3])


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({"for_class": "maybe"}, r"for_class is 'maybe'; it must be one of the classes \['no', 'some', 'yes'\]"),
        ({"against": 3}, "against is 3"),
        ({"for_class": "no", "against": "no"}, "are both 'no'"),
    ],
)
def test_classes_that_do_not_exist_are_errors(asked, match):
    with pytest.raises(ValueError, match=match):
        SOFTMAX.explain(THREE[0].iloc[0], **asked)


# -------------------------------------------------------------------------------------------- features, sparse, means


def test_features_contribute_one_by_one():
    X, y = TABLE
    model = LogisticRegression(features=Polynomial(2)).fit(X, y)
    found = model.explain(X.iloc[4])
    assert total(found) == pytest.approx(model.decision_function(X[4:5])[0], abs=1e-9)
    assert {each.name for each in found.contributions[1:]} == set(model.features_.names)
    means = model.features_.transform(X).mean(axis=0)
    assert {each.name: each.mean for each in found.contributions[1:]} == pytest.approx(
        dict(zip(model.features_.names, means, strict=True))
    )


def test_sparse_rows_have_the_means_of_dense_ones():
    rng = np.random.default_rng(3)
    X = sparse.random_array((200, 15), density=0.2, format="csr", rng=rng)
    y = (X.sum(axis=1) + rng.logistic(size=200) > 1).astype(int)
    thin, dense = LogisticRegression(l2=0.1).fit(X, y), LogisticRegression(l2=0.1).fit(X.toarray(), y)
    one, other = thin.explain(X[[0]]), dense.explain(X.toarray()[0])
    assert {each.name: each.mean for each in one.contributions[1:]} == pytest.approx(
        {each.name: each.mean for each in other.contributions[1:]}
    )
    assert total(one) == pytest.approx(thin.decision_function(X[[0]])[0], abs=1e-10)


@pytest.mark.parametrize("kind", some_of([np.asarray, sparse.csr_array], 2))
def test_means_of_many_rows_are_exact_while_the_rows_are_there_and_of_a_sample_after(kind):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40_000, 10)) + 5, rng.integers(0, 2, 40_000)
    exact, X = X.mean(axis=0), kind(X)
    model = LogisticRegression(l2=0.1).fit(X, y)
    twin = pickle.loads(pickle.dumps(model))
    here = {each.name: each.mean for each in model.explain(np.zeros(10)).contributions[1:]}
    np.testing.assert_allclose([here[f"x{j}"] for j in range(10)], exact, rtol=1e-12)
    score = model.explain(np.zeros(10)).score
    later = twin.explain(np.zeros(10))
    gone = {each.name: each.mean for each in later.contributions[1:]}
    np.testing.assert_allclose([gone[f"x{j}"] for j in range(10)], exact, atol=0.1)
    assert any(gone[name] != here[name] for name in gone)
    assert "means are those of a sample" in str(later)
    assert total(later) == pytest.approx(score, abs=1e-10)


def test_rows_that_die_or_change_leave_the_means_of_a_sample():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40_000, 10)) + 5, rng.integers(0, 2, 40_000)
    one, other = (LogisticRegression(l2=0.1).fit(X, y) for _ in range(2))
    X += 1
    assert "means are those of a sample" in str(one.explain(np.zeros(10)))
    del X
    gc.collect()
    assert "means are those of a sample" in str(other.explain(np.zeros(10)))


def test_a_sample_in_which_no_row_counts_is_not_taken():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40_000, 10)) + 5, rng.integers(0, 2, 40_000)
    cost = (np.arange(40_000) % 2).astype(float)
    model = pickle.loads(pickle.dumps(LogisticRegression(l2=0.1).fit(X, y, cost)))
    found = model.explain(np.zeros(10))
    np.testing.assert_allclose([each.mean for each in found.contributions[1:]], 5, atol=0.1)


def test_rows_are_read_once_for_their_means():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40_000, 10)), rng.integers(0, 2, 40_000)
    model = LogisticRegression(l2=0.1).fit(X, y)
    row = X[0].tolist()
    before = model.explain(row).to_dict()
    X[:] = 0
    assert model.explain(row).to_dict() == before


def test_a_copy_explains_alike():
    row = TABLE[0].iloc[2]
    assert pickle.loads(pickle.dumps(MODEL)).explain(row).to_dict() == MODEL.explain(row).to_dict()


def test_where_nothing_is_known_the_base_is_zero():
    X, y = TABLE
    model = LogisticRegression(solver="stochastic", learning_rate=1e-4).partial_fit(X, y)
    found = model.explain(X.iloc[0])
    assert found.base == 0
    assert found.contributions[0].name == "(row of zeros)"
    assert total(found) == pytest.approx(model.decision_function(X[:1])[0])
    assert "not known" in str(found)


@pytest.mark.parametrize("make", [table, of_three])
def test_a_prior_moves_probabilities_and_no_score(make):
    X, y = make()
    model = LogisticRegression(l2=0.01, class_weight="balanced", prior="data").fit(X, y)
    for i in range(5):
        found = model.explain(X.iloc[i])
        k = model.classes_.tolist().index(found.label)
        assert found.probability == pytest.approx(model.predict_proba(X[i : i + 1])[0, k], abs=1e-12)
        assert found.contributions[-1].probability == pytest.approx(found.probability, abs=1e-9)
        assert found.base_rate == pytest.approx((y == found.label).mean())
        assert total(found) == pytest.approx(found.score, abs=1e-9)
    assert "prior" in str(found)


@pytest.mark.parametrize("l2", some_of([0.01, 0.0], 2))
def test_models_fitted_together_remember_what_one_alone_does(l2):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(6000, 4)) + 3, rng.integers(0, 3, 6000)
    X[:, 2] = np.where(y == 2, X[:, 2], 7.0)  # constant among the rows of the first pair
    cost = np.arange(6000) % 3 + 1.0
    rows = np.flatnonzero(y < 2)
    task = Task(rows, y[rows] == 1)
    model = fit_together(LogisticRegression(l2=l2), X, [task], cost)[0]
    alone = LogisticRegression(l2=l2).fit(X[rows], task.positive.astype(int), cost[rows])
    assert model._facts.totals.tolist() == alone._facts.totals.tolist()
    np.testing.assert_allclose(model._facts.means, alone._facts.means, rtol=1e-12)
    found = model.explain(X[0])
    assert total(found) == pytest.approx(model.decision_function(X[:1])[0], abs=1e-10)
    assert model.summary()["null_deviance"] == pytest.approx(alone.summary()["null_deviance"])


# ------------------------------------------------------------------------------------------------------------ separated


def test_separated_probability_is_the_limit():
    x = np.arange(10.0)
    X, y = pd.DataFrame({"x": x}), x > 4
    model = LogisticRegression().fit(X, y)
    found = model.explain({"x": 8.0})
    assert found.probability == 1
    assert not found.finite
    assert all(each.probability is None and each.odds_factor is None for each in found.contributions)
    assert total(found) == pytest.approx(model.decision_function(pd.DataFrame({"x": [8.0]}))[0])
    assert "limit" in str(found)


def test_quasi_separated_probability_is_the_limit():
    X, y = TABLE
    X = X.assign(gives=(np.arange(len(y)) % 5 == 0).astype(float))
    y = np.where(X["gives"] == 1, 1, y)
    model = LogisticRegression().fit(X, y)
    assert model.verdict_.status == "quasi-separated"
    for i in (0, 1, 2):
        found = model.explain(X.iloc[i])
        assert found.probability == pytest.approx(model.predict_proba(X[i : i + 1])[0, 1], abs=1e-12)
        assert "limit" in str(found)


# --------------------------------------------------------------------------------------------------------------- words


def test_words():
    X = pd.DataFrame({"age": [40.0, 50.0, 45.8, 45.0, 60.0, 30.4]})
    model = LogisticRegression().fit(X, [0, 0, 1, 0, 1, 1])
    text = str(model.explain({"age": 63}))
    assert "age = 63 (mean 45.2)" in text
    assert "base rate of 50 %" in text
    factor = math.exp(model.coef_[0, 0] * (63 - 45.2))
    assert f"multiplies the odds by {factor:#.3g}" in text
    assert max(map(len, text.splitlines())) <= 100


def test_many_columns_are_summed_up():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 25))
    y = (X[:, 0] + rng.logistic(size=200) > 0).astype(int)
    model = LogisticRegression(l2=0.1).fit(X, y)
    found = model.explain(X[0])
    text = str(found)
    assert "15 other columns" in text
    assert sum(" (mean " in line for line in text.splitlines() if "speaks" not in line) == 10
    assert len(found.to_frame()) == 26


def test_forms_agree_and_are_escaped():
    found = MODEL.explain(TABLE[0].iloc[1])
    page = found._repr_html_()
    assert "<x>" not in page
    assert "a &amp; b_1 &lt;x&gt;" in page
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    frame = found.to_frame()
    assert list(frame["name"]) == [each["name"] for each in plain["contributions"]]
    np.testing.assert_allclose(frame["contribution"], [each["contribution"] for each in plain["contributions"]])
    assert plain["probability"] == found.probability
    assert isinstance(found, Explanation)


def test_labels_that_are_words_stand_in_the_text():
    text = str(SOFTMAX.explain(THREE[0].iloc[0], for_class="yes", against="no"))
    assert "The probability of yes is" in text
    assert "yes against no" in text


def test_with_a_prior_the_table_adds_up_to_the_probability():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X @ [1.0, -1.0] + rng.logistic(size=300) > 0).astype(int)
    for settings in ({"prior": {0: 0.99, 1: 0.01}}, {"class_weight": "balanced", "prior": "data"}):
        model = LogisticRegression(**settings).fit(X, y)
        found = model.explain(X[0])
        total = found.base + sum(each.contribution for each in found.contributions)
        assert total == pytest.approx(found.score)
        assert found.probability == pytest.approx(1 / (1 + np.exp(-found.score)))
        assert found.probability == pytest.approx(model.predict_proba(X[:1])[0, 1])
        assert found.contributions[-1].probability == pytest.approx(found.probability)


def test_a_row_too_large_to_score_is_an_error():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2)) * 1e-3
    y = (1e3 * X[:, 0] + rng.logistic(size=100) > 0).astype(int)
    with pytest.raises(ValueError, match="The score of this row is infinite"):
        LogisticRegression().fit(X, y).explain([1e308, 1e308])
