"""Published and recomputed optima: Spector, heart_scale, glmnet, lizards, a1a, a9a, the sets of separation."""

import csv
import json
import lzma
import re

import numpy as np
import pytest
import statsmodels.api as sm
from places import SHARED
from referees.logistic import mean_loss
from referees.reference_data import (
    HEART_OBJECTIVE,
    glmnet_ridge,
    heart_scale,
    lizards,
    spector,
    spector_as_stata_had_it,
)
from referees.separation import limit, separation_by_highs
from sklearn.datasets import load_svmlight_file

from separatrix import LogisticRegression, SeparationWarning
from separatrix.results.proofs import Limit

SOLVERS = ["auto", "newton", "lbfgs"]
DIGITS = 1e-22
"""Weights are as good as the square root of the gap, so this asks for eleven digits of them."""

needs_shared_data = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of reference data is not here")


def log_likelihood(model, n):
    return -n * model.verdict_.claim.value


def reference_results():
    return json.loads((SHARED / "ref" / "reference_results.json").read_text(encoding="utf-8"))


def separation_table(name):
    with (SHARED / "separation" / f"{name}.csv").open(encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    return header, np.array(lines, dtype=float)


# ------------------------------------------------------------------------------------------------------- embedded


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("table", "digits"), [(spector, 1e-12), (spector_as_stata_had_it, 3e-11)])
def test_spector(table, digits, solver):
    X, y, coef, intercept, value, _ = table()
    model = LogisticRegression(solver=solver, tol=DIGITS).fit(X, y)
    assert model.verdict_.ok
    np.testing.assert_allclose(model.coef_[0], coef, rtol=digits)
    assert model.intercept_[0] == pytest.approx(intercept, rel=digits)
    assert log_likelihood(model, len(y)) == pytest.approx(value, rel=1e-13)


def test_spector_by_default_is_within_its_own_bounds():
    X, y, coef, intercept, value, _ = spector()
    model = LogisticRegression().fit(X, y)
    off = np.abs(np.append(model.coef_[0], model.intercept_) - [*coef, intercept])
    assert (off <= model.verdict_.certificate.coefficients).all()
    assert log_likelihood(model, len(y)) == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_lizards_by_counts(solver):
    X, y, coef, intercept, value, cost = lizards()
    model = LogisticRegression(solver=solver, tol=DIGITS).fit(X, y, sample_weight=cost)
    assert model.verdict_.ok
    np.testing.assert_allclose(model.coef_[0], coef, rtol=1e-10)
    assert model.intercept_[0] == pytest.approx(intercept, rel=1e-10)
    assert log_likelihood(model, cost.sum()) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("solver", [*SOLVERS, "gradient"])
def test_glmnet_ridge_in_scikit_learn(solver):
    X, y, coef, intercept, *_ = glmnet_ridge()
    model = LogisticRegression(solver=solver, l2=1.0, tol=1e-18, max_passes=2000).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], coef, atol=5e-9)
    assert model.intercept_[0] == pytest.approx(intercept, abs=5e-9)


@pytest.mark.parametrize("solver", [*SOLVERS, "gradient"])
def test_heart_scale_at_c_one_without_intercept(solver):
    X, y = heart_scale()
    model = LogisticRegression(solver=solver, l2=1 / len(y), fit_intercept=False).fit(X, y)
    assert model.verdict_.ok
    assert model.verdict_.claim.value * len(y) == pytest.approx(HEART_OBJECTIVE, rel=2e-10)
    if solver != "gradient":
        tight = LogisticRegression(solver=solver, l2=1 / len(y), fit_intercept=False, tol=1e-14).fit(X, y)
        assert tight.verdict_.claim.value * len(y) == pytest.approx(HEART_OBJECTIVE, rel=2e-14)


# ------------------------------------------------------------------------------------------------- statsmodels


@pytest.mark.parametrize("seed", range(6))
def test_statsmodels_agrees_on_random_tables(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(60, 300)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-1, 2, size=d)
    y = (X @ (rng.normal(size=d) / X.std(axis=0)) + rng.logistic(size=n) > 0).astype(int)
    ours = LogisticRegression(tol=DIGITS).fit(X, y)
    theirs = sm.Logit(y, sm.add_constant(X)).fit(method="newton", tol=1e-14, disp=False)
    np.testing.assert_allclose(ours.coef_[0], theirs.params[1:], rtol=1e-8, atol=1e-10)
    assert ours.intercept_[0] == pytest.approx(theirs.params[0], rel=1e-8, abs=1e-9)
    assert log_likelihood(ours, n) == pytest.approx(theirs.llf, rel=1e-12)


def test_statsmodels_agrees_on_costs():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] + rng.logistic(size=150) > 0).astype(int)
    cost = rng.integers(1, 5, size=150)
    ours = LogisticRegression(tol=DIGITS).fit(X, y, sample_weight=cost)
    theirs = sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial(), freq_weights=cost).fit(tol=1e-14)
    np.testing.assert_allclose(np.append(ours.intercept_, ours.coef_), theirs.params, rtol=1e-7, atol=1e-9)


# ------------------------------------------------------------------------------------------- the folder of data


@needs_shared_data
def test_the_embedded_tables_are_those_of_the_folder():
    known = reference_results()
    table = np.loadtxt(SHARED / "ref" / "statsmodels" / "spector.csv", skiprows=1)
    X, y, *answer = spector()
    assert (table[:, 1:4] == X).all()
    assert (table[:, 4] == y).all()
    computed = known["spector_logit"]["computed_float64"]
    assert [*answer[0], answer[1], answer[2]] == [*computed["coef"], computed["loglik"]]
    assert known["liblinear_optimum_C1_no_bias"]["L2R_LR"]["heart_scale"] == HEART_OBJECTIVE
    assert glmnet_ridge().X.tolist() == known["glmnet_in_sklearn"]["X"]


@needs_shared_data
@pytest.mark.parametrize("name", ["heart_scale", "a1a", "a9a"])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_liblinear_optima_at_c_one_without_intercept(name, solver):
    with lzma.open(SHARED / "libsvm" / f"{name}.xz") as file:
        X, y = load_svmlight_file(file)
    objective = reference_results()["liblinear_optimum_C1_no_bias"]["L2R_LR"][name]
    model = LogisticRegression(solver=solver, l2=1 / len(y), fit_intercept=False, tol=1e-13).fit(X.toarray(), y)
    assert model.verdict_.ok
    assert model.classes_.tolist() == [-1, 1]
    assert model.verdict_.claim.value * len(y) == pytest.approx(objective, rel=1e-13)


@needs_shared_data
def test_accuracy_on_the_test_rows_of_a9a():
    tables = []
    for name in ("a9a", "a9a.t"):
        with lzma.open(SHARED / "libsvm" / f"{name}.xz") as file:
            tables.append(load_svmlight_file(file, n_features=123))
    (X, y), (rows, labels) = tables
    model = LogisticRegression(l2=1 / len(y), fit_intercept=False).fit(X.toarray(), y)
    known = reference_results()["liblinear_optimum_C1_no_bias"]["test_accuracy_a9a"]["L2R_LR"]
    assert model.score(rows.toarray(), labels) == pytest.approx(known, abs=1e-6)


@needs_shared_data
@pytest.mark.parametrize("row", [0, 1, 2])
def test_glmnet_ridge_in_statsmodels(row):
    """glmnet's digits are no optimum: statsmodels asks only to do better than them, and near them."""
    known = reference_results()["glmnet_in_statsmodels_enet_binomial"]["rows_alpha_lambda_coef"][row]
    alpha, l2, *coef = known
    assert alpha == 0
    table = np.loadtxt(SHARED / "ref" / "statsmodels" / "enet_binomial.csv", delimiter=",")
    X = (table[:, 1:] - table[:, 1:].mean(axis=0)) / table[:, 1:].std(axis=0, ddof=1)
    model = LogisticRegression(l2=l2, fit_intercept=False).fit(X, table[:, 0])
    np.testing.assert_allclose(model.coef_[0], coef, rtol=0.07)
    theirs = float(mean_loss(X, table[:, 0], coef, 0, l2=l2))
    assert model.verdict_.claim.value < theirs < model.verdict_.claim.value * (1 + 5e-5)


SEPARATED_IN_PART = [
    ("endometrial", "HG", 55.393, {"NV": "+inf", "PI": "finite", "EH": "finite"}),
    ("sex2", "case", 275.949, dict.fromkeys(["age", "oc", "vic", "vicl", "vis"], "finite") | {"dia": "+inf"}),
    ("silvapulle1981", "y", 4 * np.log(2), {"ghqs": "+inf"}),
]
"""The label, the deviance that is approached and not reached, to three digits, and where each weight goes."""


@needs_shared_data
@pytest.mark.parametrize("solver", [*SOLVERS, "gradient"])
@pytest.mark.parametrize(("name", "label", "deviance", "goes"), SEPARATED_IN_PART, ids=["endometrial", "sex2", "ghqs"])
@pytest.mark.parametrize("tol", [1e-4, 1e-10])
def test_sets_without_a_finite_optimum_are_called_what_they_are(name, label, deviance, goes, solver, tol):
    header, table = separation_table(name)
    at = header.index(label)
    X, y = np.delete(table, at, axis=1), table[:, at].astype(int)
    with pytest.warns(SeparationWarning, match="Quasi-separated"):
        model = LogisticRegression(solver=solver, tol=tol).fit(X, y)
    verdict, answer = model.verdict_, separation_by_highs(X, y)
    assert verdict.status == answer.kind == "quasi-separated"
    assert not verdict.ok
    assert verdict.check(X, y) is True
    assert isinstance(verdict.certificate, Limit)
    known = limit(X, y, answer)
    assert known.deviance == pytest.approx(deviance, abs=5e-4)
    assert verdict.certificate.deviance == pytest.approx(known.deviance, rel=1e-9)
    assert -2 * log_likelihood(model, len(y)) == pytest.approx(known.deviance, rel=1e-9)
    found = verdict.separability
    assert found.check(X, y) is True
    assert found.rows.tolist() == list(answer.rows)
    where = [found.coefficients[f"x{j}"] for j in range(X.shape[1])]
    assert where == [answer.coefficients[j] for j in range(X.shape[1])] == [goes[c] for c in header if c != label]
    assert found.coefficients["(intercept)"] == answer.coefficients["(intercept)"]
    finite = np.array(where) == "finite"
    np.testing.assert_allclose(model.coef_[0, finite], known.coefficients[0, 1:][finite], atol=1e-6)
    assert (model.coef_[0, ~finite] > 0).all()


@needs_shared_data
@pytest.mark.parametrize(("name", "label", "deviance", "goes"), SEPARATED_IN_PART, ids=["endometrial", "sex2", "ghqs"])
def test_the_column_with_an_infinite_weight_is_named_and_so_are_the_others(name, label, deviance, goes):
    import pandas as pd

    table = pd.read_csv(SHARED / "separation" / f"{name}.csv")
    X, y = table.drop(columns=label), table[label]
    with pytest.warns(SeparationWarning) as caught:
        verdict = LogisticRegression().fit(X, y).verdict_
    assert [str(each.message) for each in caught] == [str(verdict)]
    gone, stay = re.search(r"Maximum likelihood sends (.*); (.*) finite\.", verdict.cause).groups()
    finite, infinite = ({column for column in X if goes[column] == kind} for kind in ("finite", "+inf"))
    assert set(re.findall(r"(\w+) → [+]∞", gone)) == infinite
    assert not finite & set(re.findall(r"\w+", gone))
    assert finite <= set(re.findall(r"\w+", stay))
    said = re.search(r"The deviance falls to ([\d.]+) and never below", verdict.cause).group(1)
    assert float(said) == pytest.approx(deviance, abs=5e-4)
    assert "l2 > 0" in verdict.remedy


@needs_shared_data
@pytest.mark.parametrize("solver", [*SOLVERS, "gradient"])
def test_the_finite_weights_of_endometrial_are_reached_all_the_same(solver):
    header, table = separation_table("endometrial")
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(solver=solver).fit(table[:, :3], table[:, 3])
    assert header == ["NV", "PI", "EH", "HG"]
    assert np.isfinite(model.coef_).all()
    assert model.coef_[0, 0] > 10
    np.testing.assert_allclose(model.coef_[0, 1:], [-0.0421834, -2.9026056], atol=5e-8)
    assert model.intercept_[0] == pytest.approx(4.3045178, abs=5e-8)
    assert -2 * log_likelihood(model, len(table)) == pytest.approx(55.393, abs=5e-4)
    bounds = model.verdict_.certificate.coefficients
    assert np.isinf(bounds[0])
    assert (bounds[1:] < 1e-3).all()
