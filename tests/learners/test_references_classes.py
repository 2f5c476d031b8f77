"""Published and recomputed optima of many classes: anes96, alligators, vowel, glmnet, MNIST, and those of peers."""

import csv
import lzma

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from referees.separation import limit, separation_by_highs
from referees.softmax import class_mean_loss, class_newton
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression as Peer

from separatrix import LogisticRegression, SeparationWarning
from separatrix.results.proofs import Limit

from .test_references import DIGITS, SHARED, log_likelihood, needs_shared_data, reference_results

SOLVERS = ["newton", "lbfgs"]
GLMNET_X = np.column_stack([np.arange(-4.0, 5.0), [0, 0, 1, 0, 1, 1, 1, 0, 0]])
GLMNET_COEF = [[-0.38023389305, -0.01226499932], [-8.164030176e-05, 0.04734548012], [0.3803155334, -0.0350804808]]
GLMNET_INTERCEPT = [-0.12004759652, 0.2251747383, -0.1051271418]
FOODS = ("Fish", "Invertebrate", "Reptile", "Bird", "Other")
MNIST_L2, MNIST_OBJECTIVE = 1e-4, 0.2592483
"""The penalty for each row, and the least objective known of MNIST with pixels divided by 255."""


def against(model, base):
    """Intercepts and weights of every other class, that of `base` at zero: classes × (weights, then the intercept)."""
    rule = model.rule_.to_reference(base)
    others = [k for k, label in enumerate(rule.classes) if label != base]
    return np.column_stack([rule.weights, rule.intercept])[others], [rule.classes[k] for k in others]


def made_up(seed, *, l2=False):
    """A random table whose labels are drawn from a softmax, no class rare."""
    rng = np.random.default_rng(seed)
    n, d, K = int(rng.integers(150, 400)), int(rng.integers(1, 6)), int(rng.integers(3, 6))
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    scores = X @ rng.normal(size=(d, K)) * 0.7 + rng.gumbel(size=(n, K))
    if not l2:
        X *= 10.0 ** rng.integers(-1, 2, size=d)
    return X, scores.argmax(axis=1), K


# ------------------------------------------------------------------------------------------------------- embedded


@pytest.mark.parametrize("solver", [*SOLVERS, "auto", "gradient"])
def test_glmnet_ridge_of_three_classes_in_scikit_learn(solver):
    """glmnet's digits are good to 2·10⁻⁸; ours lie below them, at the referee's optimum."""
    y = [0, 0, 0, 1, 1, 1, 2, 2, 2]
    model = LogisticRegression(solver=solver, l2=1.0, tol=1e-18, max_passes=5000).fit(GLMNET_X, y)
    np.testing.assert_allclose(model.coef_, GLMNET_COEF, atol=2e-8)
    np.testing.assert_allclose(model.intercept_, GLMNET_INTERCEPT, atol=2e-8)
    truth = class_newton(GLMNET_X, y, 3, l2=1.0)
    np.testing.assert_allclose(model.coef_, truth.weights.astype(float), atol=2e-9)
    np.testing.assert_allclose(model.intercept_, truth.intercept.astype(float), atol=2e-9)
    assert truth.value < class_mean_loss(GLMNET_X, y, GLMNET_COEF, GLMNET_INTERCEPT, l2=1.0) < truth.value + 1e-14


# ------------------------------------------------------------------------------------------------- statsmodels


def multinomial(y, X):
    return sm.MNLogit(y, sm.add_constant(X)).fit(method="newton", tol=1e-14, maxiter=200, disp=False)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(10))
def test_statsmodels_agrees_on_random_tables(seed, solver):
    """MNLogit has its first class at zero."""
    X, y, _ = made_up(seed)
    ours = LogisticRegression(tol=DIGITS, solver=solver).fit(X, y)
    theirs = multinomial(y, X)
    found, _ = against(ours, 0)
    np.testing.assert_allclose(found[:, :-1], theirs.params[1:].T, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found[:, -1], theirs.params[0], rtol=1e-8, atol=1e-9)
    assert log_likelihood(ours, len(y)) == pytest.approx(theirs.llf, rel=1e-12)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict(), atol=1e-9)


# ------------------------------------------------------------------------------------------------- scikit-learn


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("theirs", "ours"), [("lbfgs", "newton"), ("newton-cg", "lbfgs")])
def test_scikit_learn_agrees_on_random_tables_with_a_penalty(seed, ours, theirs):
    """Its C multiplies the summed loss: l2 = 1/(C n). Its weights are symmetric, its intercepts up to a constant."""
    X, y, _ = made_up(100 + seed, l2=True)
    l2 = [1e-3, 1e-2, 0.1, 1.0, 1e-4][seed % 5]
    model = LogisticRegression(l2=l2, tol=1e-18, solver=ours).fit(X, y)
    peer = Peer(C=1 / (l2 * len(y)), solver=theirs, tol=1e-11, max_iter=100_000).fit(X, y)
    assert model.verdict_.ok
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=2e-6)
    np.testing.assert_allclose(model.intercept_, peer.intercept_ - peer.intercept_.mean(), atol=2e-6)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=2e-6)
    values = [float(class_mean_loss(X, y, m.coef_, m.intercept_, l2=l2)) for m in (model, peer)]
    assert values[0] <= values[1] * (1 + 1e-15)
    assert values[0] == pytest.approx(model.verdict_.claim.value, rel=1e-13)


def test_scikit_learn_agrees_on_costs_and_class_weights():
    X, y, K = made_up(7, l2=True)
    cost, factors = np.random.default_rng(7).integers(0, 4, size=len(y)), {k: 1.0 + k for k in range(K)}
    model = LogisticRegression(l2=0.01, tol=1e-18, class_weight=factors).fit(X, y, cost)
    weight = (cost * np.array([factors[k] for k in y])).sum()
    peer = Peer(C=1 / (0.01 * weight), class_weight=factors, tol=1e-11, max_iter=100_000).fit(X, y, cost)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=2e-6)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=2e-6)


# ------------------------------------------------------------------------------------------- the folder of data


def anes96(*, single=False):
    """log(popul + 0.1), selfLR, age, educ, income; party identification from 0 to 6."""
    with (SHARED / "ref" / "statsmodels" / "anes96.csv").open(encoding="utf-8") as file:
        header, *lines = csv.reader(file, delimiter="\t", quotechar="'")
    table = dict(zip(header, np.array(lines, dtype=float).T, strict=True))
    population = np.log(table["popul"] + 0.1)
    if single:
        population = population.astype(np.float32).astype(float)
    columns = [population, *(table[name] for name in ("selfLR", "age", "educ", "income"))]
    return np.column_stack(columns), table["PID"].astype(int)


@needs_shared_data
@pytest.mark.parametrize("solver", SOLVERS)
def test_anes96(solver):
    X, y = anes96()
    known = reference_results()["anes96_mnlogit"]
    model = LogisticRegression(tol=DIGITS, solver=solver).fit(X, y)
    assert model.verdict_.ok
    found, classes = against(model, 0)
    assert classes == [1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose(found, known["computed_coef_rows_are_classes_1_to_6"], rtol=1e-8, atol=1e-10)
    assert log_likelihood(model, len(y)) == pytest.approx(known["computed_loglik"], rel=1e-13)


@needs_shared_data
def test_anes96_standard_errors():
    X, y = anes96()
    known = np.array(reference_results()["anes96_mnlogit"]["computed_se"])
    found = LogisticRegression(tol=DIGITS).fit(X, y).inference(X, y, force=True)
    assert "fewer than 10 for each" in found.reasons[0]
    np.testing.assert_allclose(found.with_reference(0).standard_errors, known[:, [5, 0, 1, 2, 3, 4]], rtol=1e-8)


@needs_shared_data
def test_anes96_by_default_is_within_its_own_bounds():
    X, y = anes96()
    known = np.array(reference_results()["anes96_mnlogit"]["computed_coef_rows_are_classes_1_to_6"])
    model = LogisticRegression().fit(X, y)
    pivot = np.vstack([np.zeros(6), known]) - known[-1]
    off = np.abs(np.column_stack([model.coef_, model.intercept_]) - pivot)
    assert (off <= model.verdict_.certificate.coefficients + 1e-12).all()
    np.testing.assert_allclose(against(model, 0)[0], known, atol=1e-4)


@needs_shared_data
def test_anes96_as_stata_had_it():
    X, y = anes96(single=True)
    known = reference_results()["anes96_mnlogit"]
    model = LogisticRegression(tol=DIGITS).fit(X, y)
    assert log_likelihood(model, len(y)) == pytest.approx(known["stata11_loglik"], abs=5e-10)
    shares = np.bincount(y) / len(y)
    assert len(y) * shares @ np.log(shares) == pytest.approx(known["stata11_llnull"], abs=5e-9)
    nothing = LogisticRegression(tol=DIGITS).fit(np.zeros((len(y), 1)), y)
    assert log_likelihood(nothing, len(y)) == pytest.approx(known["stata11_llnull"], abs=5e-9)


@needs_shared_data
def test_anes96_probabilities_are_those_that_statsmodels_keeps():
    """statsmodels compares its own against this file to one part in ten thousand."""
    X, y = anes96()
    with lzma.open(SHARED / "ref" / "statsmodels" / "phat_mnlogit.csv.xz", "rt") as file:
        kept = np.loadtxt(file)
    model = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), kept, atol=2e-5)


def alligators():
    """size ≤ 2.3, lakes Hancock, Oklawaha, Trafford; the foods; how many."""
    with (SHARED / "separation" / "alligators.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    X = [[r["size"] == "<=2.3", *(r["lake"] == lake for lake in ("Hancock", "Oklawaha", "Trafford"))] for r in lines]
    foods, counts = np.array([r["foodchoice"] for r in lines]), np.array([float(r["freq"]) for r in lines])
    return np.array(X, float), foods, counts


@needs_shared_data
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("copied", [False, True], ids=["weights", "copies"])
def test_alligators(solver, copied):
    X, foods, counts = alligators()
    known = reference_results()["alligators_multinomial"]
    cost = counts
    if copied:
        X, foods, cost = np.repeat(X, counts.astype(int), axis=0), np.repeat(foods, counts.astype(int)), None
    model = LogisticRegression(tol=DIGITS, solver=solver).fit(X, foods, sample_weight=cost)
    assert model.verdict_.ok
    assert model.classes_.tolist() == sorted(FOODS)
    found, classes = against(model, known["base"])
    expected = np.array(known["ML_computed"])[[known["rows"].index(food) for food in classes]]
    np.testing.assert_allclose(found[:, :-1], expected[:, 1:], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found[:, -1], expected[:, 0], rtol=1e-8)
    assert -2 * log_likelihood(model, counts.sum()) == pytest.approx(known["deviance"], rel=1e-12)


@needs_shared_data
@pytest.mark.parametrize("solver", [*SOLVERS, "gradient"])
@pytest.mark.parametrize("tol", [1e-4, 1e-10])
def test_alligators_in_threes_have_no_finite_optimum_and_are_called_what_they_are(solver, tol):
    """brglm2: of Reptile all but the size is infinite, of Bird lake Oklawaha; the deviance falls to 161.913."""
    X, foods, counts = alligators()
    cost = np.round(counts / 3)
    with pytest.warns(SeparationWarning, match="Quasi-separated"):
        model = LogisticRegression(solver=solver, tol=tol).fit(X, foods, sample_weight=cost)
    verdict = model.verdict_
    assert verdict.status == "quasi-separated"
    assert not verdict.ok
    assert verdict.check(X, foods, cost) is True
    assert not verdict.check(X, foods, counts)
    assert isinstance(verdict.certificate, Limit)
    labels = np.searchsorted(sorted(FOODS), foods)
    answer = separation_by_highs(X, labels, weight=cost, classes=5)
    assert answer.kind == "quasi-separated"
    known = limit(X, labels, answer, weight=cost, classes=5)
    assert known.deviance == pytest.approx(161.913, abs=5e-4)
    assert verdict.certificate.deviance == pytest.approx(known.deviance, rel=1e-9)
    assert -2 * log_likelihood(model, cost.sum()) == pytest.approx(known.deviance, rel=1e-9)
    assert verdict.separability.rows.tolist() == list(answer.rows)
    assert verdict.separability.partly.tolist() == list(answer.partly)
    for k, food in enumerate(sorted(FOODS)[:-1]):
        found, expected = verdict.separability.coefficients[food], answer.coefficients[k]
        assert [found[f"x{j}"] for j in range(4)] == [expected[j] for j in range(4)]
        assert found["(intercept)"] == expected["(intercept)"]
        finite = np.array([found[f"x{j}"] == "finite" for j in range(4)])
        np.testing.assert_allclose(model.coef_[k, finite], known.coefficients[k, 1:][finite], atol=1e-6, err_msg=food)
    counted = cost > 0
    np.testing.assert_allclose(model.predict_proba(X)[counted], known.probabilities[counted], atol=1e-6)


@needs_shared_data
def test_what_is_infinite_of_alligators_in_threes_is_named():
    X, foods, counts = alligators()
    table = pd.DataFrame(X, columns=["small", "Hancock", "Oklawaha", "Trafford"])
    order = ["Invertebrate", "Reptile", "Bird", "Other", "Fish"]  # brglm2's, Fish at zero
    y = pd.Categorical(foods, order).codes
    with pytest.warns(SeparationWarning, match="The deviance falls to 161.913") as caught:
        verdict = LogisticRegression().fit(table, y, sample_weight=np.round(counts / 3)).verdict_
    assert str(caught[0].message) == str(verdict)
    infinite = {"Hancock of 1 → +∞", "Oklawaha of 1 → +∞", "Trafford of 1 → +∞", "(intercept) of 1 → −∞"}
    assert set(verdict.separability.infinite) == infinite | {"Oklawaha of 2 → −∞"}
    for name in verdict.separability.infinite:
        assert name in verdict.cause


def vowels(name):
    with lzma.open(SHARED / "multiclass" / f"vowel.{name}.csv.xz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    return table[:, -10:], table[:, -11].astype(int)


@needs_shared_data
@pytest.mark.parametrize("solver", SOLVERS)
def test_vowel_of_the_elements_of_statistical_learning(solver):
    (X, y), (rows, labels) = vowels("train"), vowels("test")
    known = reference_results()["ESL_vowel_table_4_1"]["logistic"]
    model = LogisticRegression(solver=solver, tol=1e-13).fit(X, y)
    assert model.verdict_.ok
    assert log_likelihood(model, len(y)) == pytest.approx(known["loglik"], rel=1e-11)
    wrong = [f"{int((model.predict(a) != b).sum())}/{len(b)}" for a, b in ((X, y), (rows, labels))]
    assert wrong == known["computed_errors"] == ["118/528", "237/462"]


@needs_shared_data
def test_the_embedded_ridge_of_three_classes_is_that_of_the_folder():
    known = reference_results()["glmnet_in_sklearn"]
    assert known["X"] == GLMNET_X.tolist()
    assert known["L2_lambda1_y000111222"] == {"intercept": GLMNET_INTERCEPT, "coef": GLMNET_COEF}


def multinomial_example():
    with lzma.open(SHARED / "ref" / "glmnet_MultinomialExample.csv.xz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    return table[:, 1:], table[:, 0].astype(int)


@needs_shared_data
@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_multinomial_example_of_glmnet_is_solved_at_least_as_well_as_by_scikit_learn(solver, l2):
    X, y = multinomial_example()
    assert X.shape == (500, 30)
    model = LogisticRegression(l2=l2, tol=1e-16, solver=solver).fit(X, y)
    C = 1 / (l2 * len(y)) if l2 else np.inf
    peer = Peer(C=C, solver="newton-cg", tol=1e-10, max_iter=10_000).fit(X, y)
    ours, theirs = (class_mean_loss(X, y - 1, m.coef_, m.intercept_, l2=l2) for m in (model, peer))
    assert model.verdict_.ok
    rounding = 4 * np.finfo(type(ours)).eps  # of the means of 500 losses that are compared
    assert ours <= theirs + model.verdict_.certificate.gap + rounding
    assert float(ours) == pytest.approx(float(theirs), rel=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-5)


@needs_shared_data
def test_the_multinomial_example_of_glmnet_is_what_the_referee_finds():
    X, y = multinomial_example()
    model, truth = LogisticRegression(tol=1e-18).fit(X, y), class_newton(X, y - 1, 3)
    weights, intercept = truth.pivot
    np.testing.assert_allclose(model.coef_, weights, atol=1e-8)
    np.testing.assert_allclose(model.intercept_, intercept, atol=1e-8)
    assert model.verdict_.claim.value == pytest.approx(float(truth.value), rel=1e-14)


@pytest.mark.slow
@needs_shared_data
def test_mnist_reaches_the_least_objective_known():
    with lzma.open(SHARED / "mnist" / "train-images-idx3-ubyte.xz") as file:
        X = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) / 255.0
    with lzma.open(SHARED / "mnist" / "train-labels-idx1-ubyte.xz") as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8).astype(int)
    model = LogisticRegression(l2=MNIST_L2, tol=1e-6).fit(X, y)
    assert model.verdict_.ok
    assert model.verdict_.certificate.witness is not None
    assert model.verdict_.claim.value == pytest.approx(MNIST_OBJECTIVE, rel=1e-6)
    scores = X @ model.coef_.T + model.intercept_
    loss = np.mean(logsumexp(scores, axis=1) - scores[np.arange(len(y)), y])
    here = loss + MNIST_L2 / 2 * np.square(model.coef_).sum()
    assert here == pytest.approx(model.verdict_.claim.value, rel=1e-12)
