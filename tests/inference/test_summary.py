"""A model on a page: its numbers against statsmodels, its forms against each other, what it says where it must not."""

import copy
import gc
import json
import math
import pickle
import re
import weakref
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from places import ROOT
from referees.reference_data import lizards, spector
from scipy import sparse
from scipy.special import expit, softmax
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris

from separatrix import LogisticRegression, Summary
from separatrix.features import Polynomial
from separatrix.inference.summary.renderers import escaped

STRANGE = ["a & b_1 <x>", "100 % $#{}~^\\", "quote \"'", "c"]


def table(n=400, d=4, seed=0, names=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.arange(1, d + 1) + np.arange(d)
    y = rng.random(n) < expit(0.3 * X[:, 0] - 0.2 * X[:, 1])
    return pd.DataFrame(X, columns=names or [f"c{j}" for j in range(d)]), y.astype(int)


def three(n=600, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + np.array([0, 1])
    P = softmax(X @ np.array([[0.5, -0.5, 0.0], [0.3, 0.0, -0.3]]), axis=1)
    y = np.array(["low", "mid", "top"])[[rng.choice(3, p=p) for p in P]]
    return pd.DataFrame(X, columns=["u", "v"]), y


def weights_of(summary):
    return {(block.label, line.name): line.weight for block in summary.blocks for line in block.lines}


def per_deviation(summary):
    return [line.per_deviation for line in summary.blocks[0].lines if line.per_deviation is not None]


# --------------------------------------------------------------------------------------------- numbers of other people


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_measures_are_those_of_statsmodels(seed):
    X, y = table(150 + 50 * seed, 2 + seed, seed)
    summary = LogisticRegression(tol=1e-14).fit(X, y).summary(X, y)
    theirs = sm.Logit(y, sm.add_constant(X.to_numpy())).fit(disp=0, method="newton", tol=1e-14)
    assert summary["log_likelihood"] == pytest.approx(theirs.llf, rel=1e-10)
    assert summary["deviance"] == pytest.approx(-2 * theirs.llf, rel=1e-10)
    assert summary["null_deviance"] == pytest.approx(-2 * theirs.llnull, rel=1e-8)  # which it fits
    assert summary["aic"] == pytest.approx(theirs.aic, rel=1e-10)
    assert summary["bic"] == pytest.approx(theirs.bic, rel=1e-10)
    assert summary["mcfadden"] == pytest.approx(theirs.prsquared, rel=1e-8)
    assert summary["likelihood_ratio"] == pytest.approx(theirs.llr, rel=1e-8)
    assert summary["p"] == pytest.approx(theirs.llr_pvalue, rel=1e-6)
    assert summary["degrees"] == theirs.df_model
    glm = sm.GLM(y, sm.add_constant(X.to_numpy()), sm.families.Binomial()).fit()
    assert summary["cox_snell"] == pytest.approx(glm.pseudo_rsquared("cs"), rel=1e-8)


def test_spector_has_the_numbers_of_the_textbooks():
    X, y, coef, intercept, log_likelihood, _ = spector()
    summary = LogisticRegression().fit(X, y).summary(X, y)
    assert summary["log_likelihood"] == pytest.approx(log_likelihood, abs=1e-9)
    assert round(summary["mcfadden"], 4) == 0.3740  # Greene's example, as Stata prints it
    assert round(summary["likelihood_ratio"], 2) == 15.40
    assert summary["events_per_parameter"] == 11 / 4
    found = [line.weight for line in summary.blocks[0].lines]
    np.testing.assert_allclose(found, [intercept, *coef], rtol=1e-6)


def test_k_classes_agree_with_statsmodels():
    X, y = three()
    summary = LogisticRegression(tol=1e-14).fit(X, y).summary(X, y, reference="low")
    theirs = sm.MNLogit(np.unique(y, return_inverse=True)[1], sm.add_constant(X.to_numpy())).fit(disp=0, tol=1e-14)
    assert summary["log_likelihood"] == pytest.approx(theirs.llf, rel=1e-10)
    assert summary["null_deviance"] == pytest.approx(-2 * theirs.llnull, rel=1e-8)  # which it fits
    assert summary["aic"] == pytest.approx(theirs.aic, rel=1e-10)
    assert summary["bic"] == pytest.approx(theirs.bic, rel=1e-10)
    assert summary["p"] == pytest.approx(theirs.llr_pvalue, rel=1e-5)
    for block, weights, errors, ends in zip(
        summary.blocks, theirs.params.T, theirs.bse.T, np.reshape(theirs.conf_int(), (2, 3, 2)), strict=True
    ):
        np.testing.assert_allclose([line.weight for line in block.lines], weights, rtol=1e-5)
        np.testing.assert_allclose([line.spread.standard_error for line in block.lines], errors, rtol=1e-5)
        np.testing.assert_allclose([line.spread[:2] for line in block.lines], ends, rtol=1e-4, atol=1e-7)


def test_the_table_has_the_standard_errors_of_statsmodels():
    X, y = table()
    summary = LogisticRegression(tol=1e-14).fit(X, y).summary(level=0.9)
    theirs = sm.Logit(y, sm.add_constant(X.to_numpy())).fit(disp=0, tol=1e-14)
    lines = summary.blocks[0].lines
    np.testing.assert_allclose([line.spread.standard_error for line in lines], theirs.bse, rtol=1e-6)
    np.testing.assert_allclose([line.spread.p for line in lines], theirs.pvalues, rtol=1e-5)
    np.testing.assert_allclose([line.odds_interval for line in lines], np.exp(theirs.conf_int(0.1)), rtol=1e-6)


def test_weights_count_as_rows():
    X, y, _, _, log_likelihood, cost = lizards()
    weighted = LogisticRegression(tol=1e-13).fit(X, y, cost).summary(X, y, cost)
    times = cost.astype(int)
    long = LogisticRegression(tol=1e-13).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    repeated = long.summary(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted["log_likelihood"] == pytest.approx(log_likelihood, rel=1e-10)
    assert [each.key for each in weighted.measures] == [each.key for each in repeated.measures]
    np.testing.assert_allclose(
        [each.value for each in weighted.measures], [each.value for each in repeated.measures], rtol=1e-7
    )
    for one, other in zip(weighted.blocks[0].lines, repeated.blocks[0].lines, strict=True):
        np.testing.assert_allclose(one.spread, other.spread, rtol=1e-5)
    np.testing.assert_allclose(per_deviation(weighted), per_deviation(repeated), rtol=1e-5)
    assert weighted.head["sum of weights"] == cost.sum()
    assert "sum of weights" not in repeated.head


# ----------------------------------------------------------------------------------------------------- laws of measures


def test_measures_follow_from_each_other():
    X, y = table(seed=7)
    summary = LogisticRegression().fit(X, y).summary(X, y)
    D, D0, n, k = summary["deviance"], summary["null_deviance"], len(y), 5
    assert summary["aic"] == pytest.approx(D + 2 * k)
    assert summary["bic"] == pytest.approx(D + k * math.log(n))
    assert summary["mcfadden"] == pytest.approx(1 - D / D0)
    assert summary["adjusted_mcfadden"] == pytest.approx(1 - (D / 2 + k) / (D0 / 2))
    assert summary["cox_snell"] == pytest.approx(1 - math.exp((D - D0) / n))
    assert summary["nagelkerke"] == pytest.approx(summary["cox_snell"] / (1 - math.exp(-D0 / n)))
    assert summary["p"] == pytest.approx(chi2.sf(D0 - D, 4))


def test_null_deviance_is_that_of_a_fit_without_columns():
    X, y = table()
    model = LogisticRegression().fit(X * 0, y)
    assert model.summary(X * 0, y)["null_deviance"] == pytest.approx(model.summary(X * 0, y)["deviance"], rel=1e-9)
    assert math.isnan(model.summary(X * 0, y)["p"])  # nothing is tested


def test_without_an_intercept_nothing_known_is_a_half():
    X, y = table()
    summary = LogisticRegression(fit_intercept=False).fit(X, y).summary()
    assert summary["null_deviance"] == pytest.approx(2 * len(y) * math.log(2))
    assert summary["degrees"] == 4
    assert [line.name for line in summary.blocks[0].lines] == list(X)
    assert "1/2" in str(summary)


def test_tjur_is_the_difference_of_mean_probabilities():
    X, y = table()
    model = LogisticRegression().fit(X, y)
    p = model.predict_proba(X)[:, 1]
    assert model.summary()["tjur"] == pytest.approx(p[y == 1].mean() - p[y == 0].mean())


def test_deviance_of_probabilities_is_relative_to_their_entropy():
    X, _ = table()
    truth = expit(0.5 * X["c0"].to_numpy())
    summary = LogisticRegression().fit(X, truth).summary(X, truth)
    assert summary["deviance"] == pytest.approx(0, abs=1e-6)
    assert summary["deviance_explained"] == pytest.approx(1, abs=1e-6)
    assert summary["null_deviance"] > 1
    assert "entropy" in str(summary)
    with pytest.raises(KeyError, match="probabilities, not outcomes"):
        summary["aic"]


def test_probabilities_of_zero_and_one_are_labels():
    X, y = table()
    T = np.column_stack([1 - y, y])
    soft, hard = LogisticRegression().fit(X, T).summary(X, T), LogisticRegression().fit(X, y).summary(X, y)
    for key in ("log_likelihood", "deviance", "null_deviance"):
        assert soft[key] == pytest.approx(hard[key], rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "lacks", "keeps", "word"),
    [
        ({"l2": 0.1}, "aic", "mcfadden", "shrunk by l2 = 0.1"),
        ({"objective": "squared"}, "deviance", "mean_loss", "no likelihood"),
        ({"class_weight": "balanced"}, "bic", "deviance", "class_weight"),
        ({"max_passes": 2}, "likelihood_ratio", "deviance", "did not come"),
    ],
)
@pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
def test_what_means_nothing_is_left_out_with_its_reason(settings, lacks, keeps, word):
    X, y = table()
    summary = LogisticRegression(**settings).fit(X, y).summary()
    assert math.isfinite(summary[keeps])
    with pytest.raises(KeyError, match=word):
        summary[lacks]
    assert word in str(summary)


def test_penalty_is_no_part_of_the_likelihood():
    X, y = table()
    model = LogisticRegression(l2=0.05).fit(X, y)
    p = model.predict_proba(X)[np.arange(len(y)), y]
    without = pickle.loads(pickle.dumps(model)).summary()  # from the claim alone
    assert without["log_likelihood"] == pytest.approx(np.log(p).sum(), rel=1e-10)
    assert model.summary()["log_likelihood"] == pytest.approx(np.log(p).sum(), rel=1e-10)


# ---------------------------------------------------------------------------------------------------------------- table


def test_a_row_of_weight_zero_is_absent_whatever_it_holds():
    X, y = table()
    X.iloc[3, 1] = 1e300
    cost = (np.arange(len(y)) != 3).astype(float)
    with_it = LogisticRegression().fit(X, y, cost).summary(X, y, cost)
    kept = cost > 0
    without = LogisticRegression().fit(X[kept], y[kept]).summary(X[kept], y[kept])
    for measure in without.measures:
        assert with_it[measure.key] == pytest.approx(measure.value, rel=1e-9)
    np.testing.assert_allclose(per_deviation(with_it), per_deviation(without), rtol=1e-7)


def test_weight_per_deviation_is_the_weight_of_a_standardised_column():
    X, y = table()
    summary = LogisticRegression(tol=1e-13).fit(X, y).summary()
    Z = (X - X.mean()) / X.std(ddof=0)
    standard = LogisticRegression(tol=1e-13).fit(Z, y)
    found = [line.per_deviation for line in summary.blocks[0].lines]
    assert found[0] is None
    np.testing.assert_allclose(found[1:], standard.coef_[0], rtol=1e-7)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_rows_have_the_same_table(fit_intercept):
    X, y = table()
    X = X.where(X > 1, 0.0).to_numpy()
    S, cost = sparse.csr_array(X), np.arange(len(y)) % 3 + 1.0
    dense = LogisticRegression(fit_intercept=fit_intercept).fit(X, y, cost).summary(X, y, cost)
    thin = LogisticRegression(fit_intercept=fit_intercept).fit(S, y, cost).summary(S, y, cost)
    for one, other in zip(dense.blocks[0].lines, thin.blocks[0].lines, strict=True):
        assert one.weight == pytest.approx(other.weight, rel=1e-6)
    np.testing.assert_allclose(per_deviation(dense), per_deviation(thin), rtol=1e-6)


def test_features_have_lines():
    X, y = table(d=2)
    model = LogisticRegression(features=Polynomial(2)).fit(X, y)
    summary = model.summary()
    assert [line.name for line in summary.blocks[0].lines][1:] == list(model.features_.names)
    spread = model.features_.transform(X).std(axis=0)
    np.testing.assert_allclose(
        [line.per_deviation for line in summary.blocks[0].lines[1:]], model.coef_[0] * spread, rtol=1e-9
    )
    assert "linear in" in str(summary)


def test_another_reference_is_another_view_of_the_same_weights():
    X, y = three()
    model = LogisticRegression(tol=1e-14).fit(X, y)
    last = weights_of(model.summary())
    for reference, other in (("low", "mid"), ("mid", "low")):
        seen = weights_of(model.summary(reference=reference))
        assert {label for label, _ in seen} == {"low", "mid", "top"} - {reference}
        for name in ("intercept", "u", "v"):
            assert seen["top", name] == pytest.approx(-last[reference, name], rel=1e-9)
            assert seen[other, name] == pytest.approx(last[other, name] - last[reference, name], rel=1e-9)


def test_another_reference_is_a_fit_with_that_class_last():
    X, y = three()
    renamed = np.where(y == "low", "z-low", y)
    model = LogisticRegression(tol=1e-14).fit(X, y)
    refit = LogisticRegression(tol=1e-14).fit(X, renamed)
    mine, theirs = model.summary(reference="low"), refit.summary()
    assert theirs.reference == "z-low"
    for one, other in zip(mine.blocks, theirs.blocks, strict=True):
        assert one.label == other.label
        for a, b in zip(one.lines, other.lines, strict=True):
            assert a.weight == pytest.approx(b.weight, rel=1e-6)
            np.testing.assert_allclose(a.spread, b.spread, rtol=1e-5, atol=1e-9)
    for measure in mine.measures:
        assert measure.value == pytest.approx(theirs[measure.key], rel=1e-7)


def test_of_two_classes_the_other_reference_turns_the_signs():
    X, y = table()
    model = LogisticRegression().fit(X, y)
    one, other = model.summary().blocks[0], model.summary(reference=1).blocks[0]
    assert (one.label, other.label) == (1, 0)
    for a, b in zip(one.lines, other.lines, strict=True):
        assert a.weight == -b.weight
        np.testing.assert_allclose(a.spread, [-b.spread.high, -b.spread.low, *b.spread[2:3], -b.spread.z, b.spread.p])


def test_symmetric_weights_add_up_to_zero():
    X, y = three()
    model = LogisticRegression(l2=0.01).fit(X, y)
    summary = model.summary(reference="symmetric")
    assert [block.label for block in summary.blocks] == ["low", "mid", "top"]
    weights = np.array([[line.weight for line in block.lines[1:]] for block in summary.blocks])
    np.testing.assert_allclose(weights.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(weights, model.coef_, atol=1e-9)
    assert "geometric mean" in str(summary)
    assert "reference='symmetric'" in str(model.summary())


def test_aliased_columns_are_marked():
    X, y = table()
    X = X.assign(twice=2 * X["c1"])
    summary = LogisticRegression().fit(X, y).summary()
    assert [line.name for line in summary.blocks[0].lines if line.aliased] == ["twice"]
    assert "twice ‡" in str(summary)
    assert not summary.has_spread
    assert "combination" in summary.refused
    assert summary["degrees"] == 4


# -------------------------------------------------------------------------------------------------- separated classes


def test_separated_weights_are_infinite():
    x = np.arange(10.0)
    X, y = pd.DataFrame({"x": x}), x > 4
    model = LogisticRegression().fit(X, y)
    summary = model.summary(force=True)
    line = summary.blocks[0].lines[1]
    assert (line.tends, line.weight, line.odds_ratio) == ("+inf", math.inf, math.inf)
    assert summary["deviance"] == 0
    assert "+∞" in str(summary)
    assert not summary.has_spread
    turned = model.summary(reference=True).blocks[0].lines[1]
    assert (turned.weight, turned.odds_ratio) == (-math.inf, 0)
    assert all(weight not in str(summary) for weight in map(str, model.coef_.ravel().round(3)))


def test_quasi_separated_weights_are_infinite_where_they_are():
    X, y = table()
    X = X.assign(gives=(np.arange(len(y)) % 5 == 0).astype(float))
    y = np.where(X["gives"] == 1, 1, y)
    model = LogisticRegression().fit(X, y)
    summary = model.summary()
    tends = {line.name: line.tends for line in summary.blocks[0].lines}
    assert tends.pop("gives") == "+inf"
    assert set(tends.values()) == {"finite"}
    others = LogisticRegression().fit(X.loc[X["gives"] == 0, list(X)[:-1]], y[X["gives"] == 0])
    assert summary["deviance"] == pytest.approx(others.summary(X.loc[X["gives"] == 0, list(X)[:-1]],
                                                               y[X["gives"] == 0])["deviance"], rel=1e-8)  # fmt: skip
    found = weights_of(summary)
    np.testing.assert_allclose([found[1, name] for name in list(X)[:-1]], others.coef_[0], rtol=1e-5)


def test_differences_of_infinities():
    iris, species = load_iris(return_X_y=True, as_frame=True)
    summary = LogisticRegression().fit(iris, species).summary(reference=1)
    kinds = {block.label: {line.tends for line in block.lines} for block in summary.blocks}
    assert kinds == {0: {"undetermined"}, 2: {"finite"}}


# ------------------------------------------------------------------------------------------------- refusal and force


def test_refused_numbers_are_absent_and_forced_ones_marked():
    X, y, *_ = spector()
    model = LogisticRegression().fit(X, y)
    refused, forced = model.summary(), model.summary(force=True)
    assert not refused.has_spread
    assert "p" not in refused.to_frame()
    assert "fewer than 10" in refused.refused
    assert "force=True" in refused.refused
    assert forced.has_spread
    assert forced.refused is None
    for shown in (str(forced), forced.to_html(), forced.to_json()):
        assert "†" in shown
        assert "fewer than 10" in shown
    assert r"\dag{}" in forced.to_latex()
    assert set(forced.to_frame()["mark"]) == {"†"}
    for shown in (str(refused), refused.to_html(), refused.to_latex()):
        assert "fewer than 10" in shown.replace("\n", " ")
        assert " SE" not in shown
    fine = LogisticRegression().fit(*table()).summary(*table())
    assert not fine.forced
    assert "†" not in str(fine)


def test_profile_intervals_are_those_of_inference():
    X, y = table()
    model = LogisticRegression().fit(X, y)
    summary = model.summary(method="profile", level=0.8)
    ends = model.inference(X, y).interval(0.8, "profile")
    np.testing.assert_allclose([line.spread[:2] for line in summary.blocks[0].lines], ends)
    robust = model.summary(covariance="robust")
    errors = model.inference(X, y, covariance="robust").standard_errors
    np.testing.assert_allclose([line.spread.standard_error for line in robust.blocks[0].lines], errors)
    assert "do not go together" in model.summary(covariance="robust", method="profile").refused


# ------------------------------------------------------------------------------------------------------- rows in memory


def test_rows_in_memory_are_used_and_not_kept():
    X, y = table()
    model = LogisticRegression().fit(X, y)
    with_rows = str(model.summary())
    assert "per SD" in with_rows
    seen = weakref.ref(X)
    del X
    gc.collect()
    assert seen() is None
    summary = model.summary()
    assert "the training rows are no longer in memory; call summary(X, y)" in str(summary)
    assert not summary.has_deviations
    assert not summary.has_spread
    assert summary["aic"] == pytest.approx(LogisticRegression().fit(*table()).summary(*table())["aic"])


def test_lists_are_not_kept():
    model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    assert "no longer in memory" in model.summary().refused


def change_a_number(X, y, w):
    X.iloc[3, 1] += 1


def change_a_label(X, y, w):
    y[0] = 1 - y[0]


def change_a_weight(X, y, w):
    w[5] += 1


def add_a_column(X, y, w):
    X["more"] = 1.0


def put_a_strange_label(X, y, w):
    y[0] = 7


@pytest.mark.parametrize(
    "change", [change_a_number, change_a_label, change_a_weight, add_a_column, put_a_strange_label]
)
def test_rows_changed_in_place_are_noticed(change):
    X, y = table()
    w = np.ones(len(y))
    model = LogisticRegression().fit(X, y, w)
    assert model.summary().has_deviations
    change(X, y, w)
    summary = model.summary()
    assert not summary.has_deviations
    assert "have changed since the fit" in summary.refused


def test_a_fit_that_was_stopped_says_what_it_knows():
    X, y = table()
    model = LogisticRegression(l2="cv")
    steps = model.steps(X, y)
    next(steps)
    steps.close()
    assert "stopped before it knew its loss" in model.summary().refused
    assert "nothing tells whether these are its rows" in str(model.summary(X, y))


def test_squared_error_of_separated_classes_has_no_weights():
    x = np.arange(10.0)[:, None]
    summary = LogisticRegression(objective="squared").fit(x, x[:, 0] > 4).summary()
    assert all(line.tends == "unknown" and math.isnan(line.weight) for line in summary.blocks[0].lines)
    assert "no finite value" in str(summary)
    assert json.loads(summary.to_json())["coefficients"][0]["weight"] is None


def test_other_rows_are_an_error():
    X, y = table()
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="These are not the rows that the model was fitted to: the mean loss"):
        model.summary(X + 1, y)
    with pytest.raises(ValueError, match="there are 399 rows here and were 400"):
        model.summary(X[1:], y[1:])
    with pytest.raises(ValueError, match="y is missing"):
        model.summary(X)
    with pytest.raises(ValueError, match="sample_weight is given without"):
        model.summary(sample_weight=np.ones(len(y)))


def test_copies_have_the_facts_and_not_the_rows():
    X, y = table()
    model = LogisticRegression().fit(X, y)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert "no longer in memory" in twin.summary().refused
        assert twin.summary()["null_deviance"] == model.summary()["null_deviance"]
    assert not hasattr(clone(model), "verdict_")
    assert clone(model)._facts is None
    assert len(pickle.dumps(model)) < len(pickle.dumps(X)) / 2


def test_what_is_kept_is_small_and_of_the_last_fit():
    X, y = table(d=2)
    model = LogisticRegression().fit(X, y)
    Z, t = table(300, 3, 5)
    model.fit(Z, t)
    assert model.summary().head["rows"] == 300
    assert model._facts.totals.tolist() == [float((t == 0).sum()), float((t == 1).sum())]


@pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
def test_after_partial_fit_nothing_is_known_of_all_rows():
    X, y = table()
    settings = {"solver": "stochastic", "learning_rate": 0.01, "random_state": 0}
    model = LogisticRegression(**settings).fit(X, y).partial_fit(X[:10], y[:10])
    summary = model.summary()
    assert "partial_fit remembers no rows" in summary.refused
    assert "sum of weights" not in summary.head
    assert not any(each.key == "null_deviance" for each in summary.measures)
    assert "log-likelihood" in " ".join(label for each in summary.left_out for label in each.labels)


@pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
@pytest.mark.parametrize("settings", [{"solver": "lbfgs"}, {"solver": "stochastic", "random_state": 0},
                                      {"objective": "squared"}, {"l2": 0.1}, {"class_weight": "balanced"}])  # fmt: skip
@pytest.mark.parametrize("make", [table, three])
def test_every_kind_of_fit_knows_its_rows_again(settings, make):
    X, y = make()
    cost = np.arange(len(y)) % 3 + 0.5
    assert LogisticRegression(**settings).fit(X, y, cost).summary(force=True).has_deviations


# -------------------------------------------------------------------------------------------------- all forms agree


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.rows, self.open = [], ""

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self.open = tag

    def handle_data(self, data):
        if self.open in ("td", "th"):
            self.rows[-1][-1] += data

    def handle_endtag(self, tag):
        self.open = ""


SUMMARIES = {
    "two": lambda: LogisticRegression().fit(*table(names=STRANGE)).summary(*table(names=STRANGE)),
    "three": lambda: LogisticRegression().fit(*three()).summary(*three()),
    "forced": lambda: LogisticRegression(l2=0.1).fit(*table(names=STRANGE)).summary(*table(names=STRANGE), force=True),
    "no rows": lambda: LogisticRegression().fit(*table()).summary(),
    "symmetric": lambda: LogisticRegression(l2=0.1).fit(*three()).summary(*three(), reference="symmetric"),
    "separated": lambda: LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 0, 1]).summary(),
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_all_forms_show_the_same(name):
    summary = SUMMARIES[name]()
    text, frame, found = str(summary), summary.to_frame(), json.loads(summary.to_json())
    page = Cells()
    page.feed(summary.to_html())
    html = [tuple(row) for row in page.rows]
    latex = summary.to_latex()
    squeezed = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
    at = 0
    for block in summary.blocks:
        for line in block.lines:
            cells = summary.cells(line)
            assert [each for each in cells if each] in squeezed
            assert tuple(cells) in html
            assert escaped(cells[0]) + " & " in latex
            record, row = found["coefficients"][at], frame.iloc[at]
            assert record["name"] == row["name"] == line.name
            for key in set(record) & {"weight", "odds_ratio", "p", "z", "standard_error", "low", "high"}:
                same_number(record[key], row[key])
            assert str(record["class"]) == str(block.label)
            at += 1
    assert at == len(frame) == len(found["coefficients"])
    for measure in summary.measures:
        same_number(found["measures"][measure.key], measure.value)
        assert measure.label in text
        assert any(row[0] == measure.label for row in html)
    for sentence in summary.sentences():
        assert sentence in " ".join(text.split())
        assert escaped(sentence) in latex
    json.dumps(summary.to_dict(), allow_nan=False)


def same_number(plain, value):
    if plain is None:
        assert math.isnan(value)
    elif isinstance(plain, str):
        assert math.inf * (1 if plain == "+inf" else -1) == value
    else:
        assert plain == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_cells_are_the_numbers(name):
    summary = SUMMARIES[name]()
    for block in summary.blocks:
        for line in block.lines:
            shown = dict(zip(summary.headings(), summary.cells(line), strict=True))
            if line.tends != "finite":
                continue
            assert float(shown["weight"].replace("−", "-")) == pytest.approx(line.weight, rel=1e-3)
            assert float(shown["odds ratio"].replace("−", "-")) == pytest.approx(line.odds_ratio, rel=1e-3)
            if line.spread is not None:
                p = next(text for name, text in shown.items() if name.startswith("p") and name != "per SD")
                p = p.removesuffix("†")
                assert (
                    (line.spread.p < 0.001) if p == "<0.001" else (float(p) == pytest.approx(line.spread.p, abs=6e-4))
                )


@pytest.mark.parametrize("name", SUMMARIES)
def test_text_is_at_most_a_hundred_columns_wide(name):
    assert max(map(len, str(SUMMARIES[name]()).splitlines())) <= 100


def test_long_names_stand_on_lines_of_their_own():
    names = [
        "a name that is longer than the room that there is for names beside so many numbers, by far, and more",
        "x",
    ]
    X, y = table(d=2, names=names)
    text = str(LogisticRegression().fit(X, y).summary())
    assert max(map(len, text.splitlines())) <= 100
    assert names[0] in " ".join(text.split())


def test_names_and_labels_are_escaped():
    X, y = table(names=STRANGE)
    summary = LogisticRegression().fit(X, np.where(y == 1, "<b>&", "x_y")).summary()
    html, latex = summary.to_html(), summary.to_latex()
    assert "<x>" not in html
    assert "<b>&" not in html
    assert "a &amp; b_1 &lt;x&gt;" in html
    assert r"a \& b\_1 $<$x$>$" in latex
    assert r"100 \% \$\#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}" in latex
    assert r"x\_y" in latex
    for line in latex.splitlines():
        depth = np.cumsum([(c == "{") - (c == "}") for c in re.sub(r"\\[{}]", "", line)])
        assert depth.size == 0 or (depth.min() >= 0 and depth[-1] == 0)
        assert len(re.findall(r"(?<!\\)\$", line)) % 2 == 0


def test_latex_rows_have_as_many_cells_as_the_layout():
    latex = SUMMARIES["two"]().to_latex()
    for tabular in re.findall(r"\\begin\{tabular\}\{(l+r+)\}(.*?)\\end\{tabular\}", latex, re.DOTALL):
        for line in tabular[1].splitlines():
            if line.endswith(r"\\") and not line.startswith(r"\multicolumn"):
                assert len(re.findall(r"(?<!\\)&", line)) == len(tabular[0]) - 1


def test_html_has_captions_and_scopes():
    html = SUMMARIES["three"]().to_html()
    assert html.count("<table>") == html.count("<caption>") == 3
    assert 'scope="col"' in html
    assert 'scope="row"' in html
    assert html == SUMMARIES["three"]()._repr_html_()


def test_columns_that_are_numbers():
    X, y = table()
    X.columns = [10, 20, 30, 40]
    summary = LogisticRegression().fit(X, y).summary()
    assert [line.name for line in summary.blocks[0].lines] == ["intercept", "x0", "x1", "x2", "x3"]
    assert summary.has_deviations


def test_a_column_named_intercept():
    X, y = table(d=2, names=["intercept", "b"])
    summary = LogisticRegression().fit(X, y).summary()
    assert [line.name for line in summary.blocks[0].lines] == ["(intercept)", "intercept", "b"]


def test_p_falls_as_numbers_of_rows_grow():
    p = []
    for n in (400, 800, 1600):
        X, y = table(400)
        times = n // 400
        big, long = pd.concat([X] * times), np.tile(y, times)
        p.append(LogisticRegression().fit(big, long).summary().blocks[0].lines[1].spread.p)
    assert all(later < earlier for earlier, later in pairwise(p))


# ------------------------------------------------------------------------------------------------------ wrong questions


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"level": 1.0}, "level is 1.0"),
        ({"level": 0}, "level is 0"),
        ({"reference": 7}, r"reference is 7; it must be one of the classes \[0, 1\]"),
        ({"reference": "symmetric"}, "three classes or more"),
        ({"covariance": "guess"}, "covariance is 'guess'"),
        ({"method": "score"}, "method is 'score'"),
        ({"force": 1}, "force is 1"),
    ],
)
def test_wrong_questions_are_errors(settings, match):
    X, y = table()
    with pytest.raises(ValueError, match=match):
        LogisticRegression().fit(X, y).summary(**settings)


def test_a_model_that_is_not_fitted_has_no_summary():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        LogisticRegression().summary()


def test_public_name():
    assert isinstance(SUMMARIES["no rows"](), Summary)


def test_the_page_of_the_docs_is_what_is_printed():
    page = (ROOT / "docs" / "summary.md").read_text()
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X[["mean radius", "mean texture", "mean smoothness"]]
    text = str(LogisticRegression().fit(X, y).summary())
    measured = text[text.index("log-likelihood ") :]  # the digits of the proof above it hang on the machine
    assert f"{measured}\n```" in page


def test_the_intercept_of_flic_has_no_interval_of_its_own():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.logistic(size=60) > 1).astype(int)
    found = LogisticRegression(objective="flic").fit(X, y).summary(X, y)
    first, *others = found.blocks[0].lines
    assert first.spread is None
    assert all(line.spread is not None for line in others)
    assert "no interval of its own" in str(found)


def test_weights_that_are_no_counts_have_no_criteria():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + rng.logistic(size=200) > 0).astype(int)
    cost = rng.uniform(0.01, 0.02, 200)
    found = str(LogisticRegression().fit(X, y, cost).summary(X, y, cost, covariance="robust"))
    assert "AIC" in found.split("Left out:")[1]
    assert "no whole numbers" in found


def test_a_summary_asks_an_inference_of_ones_own():
    asked = []

    class Own(LogisticRegression):
        def inference(self, X, y, sample_weight=None, **how):
            asked.append(how)
            return super().inference(X, y, sample_weight, **how)

    X = np.random.default_rng(0).normal(size=(300, 2))
    y = X[:, 0] + np.random.default_rng(1).logistic(size=300) > 0
    model = Own().fit(X, y)
    model.summary(X, y)
    assert len(asked) == 1
    assert not hasattr(model, "_targets_at_hand")
