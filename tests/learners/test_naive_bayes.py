"""Naive Bayes is the linear rule of the lecture text, whatever the families; and the rows give its parameters."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from referees.naive_bayes import joint
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from separatrix import BernoulliNaiveBayes, GaussianNaiveBayes, NaiveBayes, PoissonNaiveBayes, families

FAMILIES = ("gaussian", "bernoulli", "poisson", "categorical", "exponential", "geometric")


def rows_below_zero(estimator):
    """This one check of scikit-learn's learns from negative rows, although the tags say that they are refused."""
    refused = estimator.__sklearn_tags__().input_tags.positive_only
    return {"check_decision_proba_consistency": "X is negative"} if refused else {}


@parametrize_with_checks(
    [NaiveBayes(variance="shared"), PoissonNaiveBayes(), BernoulliNaiveBayes(threshold=0.0)],
    expected_failed_checks=rows_below_zero,
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        NaiveBayes(), GaussianNaiveBayes(), NaiveBayes(families="exponential"), NaiveBayes(families="categorical"),
    ],
    expected_failed_checks=rows_below_zero,
)  # fmt: skip
def test_scikit_learn_accepts_its_other_settings(estimator, check):
    check(estimator)


def table(seed, n=60, classes=2, gaps=0.0):
    """A column of each family, in this order, and classes; some numbers missing."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = np.column_stack(
        [
            rng.normal(3 + y, 1 + y),
            rng.random(n) < 0.3 + 0.2 * y,
            rng.poisson(1 + y),
            rng.integers(0, 3, n) + (y > 1),
            rng.exponential(1 + y),
            rng.geometric(0.5 / (1 + y)) - 1,
        ]
    ).astype(float)
    X[rng.random(X.shape) < gaps] = np.nan
    return X, np.array(["c", "a", "b", "d"])[y], rng


def mixed(**settings):
    return NaiveBayes(families=dict(enumerate(FAMILIES)), **settings)


def close(found, expected, size=None, tol=1e-12):
    size = np.abs(expected).max() + 1 if size is None else size
    np.testing.assert_array_less(np.abs(found - expected), tol * size + 1e-300)


def reach(rule, features):
    """Σ|terms| of each score: what its rounding is relative to."""
    return np.abs(features) @ np.abs(np.atleast_2d(rule.weights)).T + np.abs(np.ravel(rule.intercept)) + 1


# --- the weights of [000 §8.3]


def test_bernoulli_weights_are_those_of_the_text():
    rng = np.random.default_rng(0)
    X, y = (rng.random((80, 4)) < 0.4).astype(float), rng.integers(0, 2, 80)
    rule = BernoulliNaiveBayes().fit(X, y).rule_
    p = np.array([(X[y == k].sum(0) + 1) / ((y == k).sum() + 2) for k in (0, 1)])
    close(rule.weights, np.log(p[1] * (1 - p[0]) / ((1 - p[1]) * p[0])))
    close(rule.intercept, np.log(y.mean() / (1 - y.mean())) + np.log((1 - p[1]) / (1 - p[0])).sum())
    assert rule.features == ""
    assert rule.probabilistic


def test_poisson_weights_are_those_of_the_text():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 90)
    X = rng.poisson(2 + y[:, None], (90, 3)).astype(float)
    rule = PoissonNaiveBayes(smoothing=0).fit(X, y).rule_
    rate = np.array([X[y == k].mean(0) for k in (0, 1)])
    close(rule.weights, np.log(rate[1] / rate[0]))
    close(rule.intercept, np.log(y.mean() / (1 - y.mean())) + (rate[0] - rate[1]).sum())


def test_gaussian_weights_are_those_of_the_text_with_a_shared_variance():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 90)
    X = rng.normal(y[:, None], 1, (90, 3))
    rule = GaussianNaiveBayes(variance="shared", smoothing=0).fit(X, y).rule_
    mu = np.array([X[y == k].mean(0) for k in (0, 1)])
    variance = ((X - mu[y]) ** 2).mean(0)
    close(rule.weights, (mu[1] - mu[0]) / variance)
    prior = np.log(y.mean() / (1 - y.mean()))
    close(rule.intercept, prior + ((mu[0] ** 2 - mu[1] ** 2) / (2 * variance)).sum())
    assert rule.features == ""


def test_gaussian_weights_with_own_variances_are_of_x_and_its_square():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 90)
    X = rng.normal(y[:, None], 1 + y[:, None], (90, 2))
    model = GaussianNaiveBayes(smoothing=0).fit(X, y)
    mu, v = (np.array([f(X[y == k], axis=0) for k in (0, 1)]) for f in (np.mean, np.var))
    close(model.rule_.weights, np.append(mu[1] / v[1] - mu[0] / v[0], 0.5 / v[0] - 0.5 / v[1]))
    assert model.rule_.features == "(x, x²)"
    assert model.rule_.columns == ("x0", "x1", "x0²", "x1²")
    gamma = -((X - mu[1]) ** 2) / (2 * v[1]) + (X - mu[0]) ** 2 / (2 * v[0]) + np.log(v[0] / v[1]) / 2
    close(model.decision_function(X), gamma.sum(1) + np.log(y.mean() / (1 - y.mean())))
    with pytest.raises(
        ValueError, match=r"linear in \(x, x²\): give it these features of X, .* model.features\(X\) of a naive"
    ):
        model.rule_.score(X)


@pytest.mark.parametrize("family", ["bernoulli", "poisson", "exponential", "geometric"])
def test_a_family_is_normalised(family):
    """∫ exp(θx − a(θ) + b(x)) = 1: so its three formulas belong together."""
    member = families.ALL[family]
    s, n = (3.0, 10.0) if family == "bernoulli" else (23.0, 10.0)
    theta = member.natural(s, n)
    x = np.linspace(0, 200, 400_001) if family == "exponential" else np.arange(2 if family == "bernoulli" else 400.0)
    p = np.exp(theta * x - member.log_partition(theta) + member.log_base(x))
    mass = np.trapezoid(p, x) if family == "exponential" else p.sum()
    mean = np.trapezoid(p * x, x) if family == "exponential" else (p * x).sum()
    assert mass == pytest.approx(1, abs=1e-6)
    assert mean == pytest.approx(s / n, rel=1e-6)


# --- the rule is the log-posterior odds


@pytest.mark.parametrize("variance", ["own", "shared"])
@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("alpha", [1.0, 0.3])
def test_the_rule_is_the_log_odds_of_the_densities(classes, variance, alpha):
    X, y, _ = table(classes, classes=classes)
    new, _, _ = table(99, classes=classes)
    model = mixed(variance=variance, smoothing=alpha).fit(X, y)
    expected = joint(X, y, FAMILIES, new, alpha=alpha, shared=variance == "shared")
    size = np.abs(expected).max()
    close(model.predict_joint_log_proba(new), expected, size)
    features = model.features(new)
    scores, width = model.rule_.score(features), reach(model.rule_, features)
    if classes == 2:
        close(scores, expected[:, 1] - expected[:, 0], width[:, 0])
        close(model.decision_function(new), scores, width[:, 0])
    else:
        apart = expected - expected[:, :1]
        close(scores - scores[:, :1], apart, width)
        close(model.decision_function(new) - model.decision_function(new)[:, :1], apart, width)
    posterior = np.exp(expected - np.logaddexp.reduce(expected, axis=1)[:, None])
    np.testing.assert_allclose(model.predict_proba(new), posterior, atol=1e-12)
    ruled = model.rule_.probability(features)
    np.testing.assert_allclose(ruled if classes == 2 else ruled[:, -1], posterior[:, -1], atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(new)), posterior, atol=1e-12)
    assert (model.predict(new) == np.unique(y)[expected.argmax(axis=1)]).all()
    assert model.coef_.shape == (1 if classes == 2 else classes, features.shape[1])


def test_far_from_zero_nothing_cancels():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.integers(-40, 40, (200, 3)) / 8 + y[:, None]
    for variance in ("own", "shared"):
        near = GaussianNaiveBayes(variance=variance).fit(X, y).decision_function(X)
        far = GaussianNaiveBayes(variance=variance).fit(X + 2.0**40, y).decision_function(X + 2.0**40)
        np.testing.assert_allclose(far, near, rtol=1e-10, atol=1e-10)


# --- scikit-learn's, where the definitions are the same


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_bernoulli_is_scikit_learns(alpha):
    rng = np.random.default_rng(0)
    X, y, cost = (rng.random((90, 6)) < 0.3).astype(float), rng.integers(0, 3, 90), rng.random(90)
    X[:, 0] = 0  # a column without a one has a probability all the same
    ours = BernoulliNaiveBayes(smoothing=alpha).fit(X, y, cost)
    theirs = BernoulliNB(alpha=alpha).fit(X, y, cost)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-12)


def test_gaussian_is_scikit_learns():
    rng = np.random.default_rng(0)
    X, y, cost = rng.normal(size=(90, 6)) + 7, rng.integers(0, 3, 90), rng.random(90)
    ours = GaussianNaiveBayes(smoothing=0).fit(X, y, cost)
    theirs = GaussianNB(var_smoothing=0).fit(X, y, cost)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-11)
    np.testing.assert_allclose(ours.parameters_.variance, theirs.var_, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_categorical_is_scikit_learns(alpha):
    rng = np.random.default_rng(0)
    X, y, cost = rng.integers(0, 4, (90, 5)).astype(float), rng.integers(0, 3, 90), rng.random(90)
    ours = NaiveBayes(families="categorical", smoothing=alpha).fit(X, y, cost)
    theirs = CategoricalNB(alpha=alpha).fit(X, y, cost)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-12)
    assert ours.rule_.columns[:5] == ("[x0 = 0]", "[x0 = 1]", "[x0 = 2]", "[x0 = 3]", "[x0 = other]")


# --- missing numbers


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("variance", ["own", "shared"])
def test_missing_numbers_are_skipped(classes, variance):
    X, y, rng = table(5, 120, classes, gaps=0.2)
    new, _, _ = table(6, 40, classes, gaps=0.3)
    new[0] = np.nan
    cost = rng.random(len(y))
    model = mixed(variance=variance).fit(X, y, cost)
    expected = joint(X, y, FAMILIES, new, cost=cost, shared=variance == "shared")
    close(model.predict_joint_log_proba(new), expected, np.abs(expected).max() + 1)
    np.testing.assert_allclose(model.predict_proba(new)[0], np.exp(model.parameters_.log_prior), atol=1e-14)
    assert "Missing numbers were skipped" in model.verdict_.cause
    assert model.verdict_.check(X, y, cost)
    with pytest.raises(ValueError, match="NaN"):
        model.distance(new)
    CSR = sparse.csr_array(X)
    np.testing.assert_allclose(mixed(variance=variance).fit(CSR, y, cost).coef_, model.coef_, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(model.predict_proba(sparse.csr_array(new)), model.predict_proba(new), atol=1e-12)


def test_a_class_without_a_number_takes_the_columns_own():
    X, y = np.array([[1.0, 1], [2, np.nan], [3, 4], [5, np.nan]]), np.array([0, 1, 0, 1])
    model = NaiveBayes().fit(X, y)
    assert model.parameters_.mean[1, 1] == 2.5
    assert model.parameters_.variance[1, 1] == 2.25
    assert model.verdict_.check(X, y)
    with pytest.raises(ValueError, match="Column 'x1' of class 1 has no number that is not missing; set smoothing"):
        NaiveBayes(smoothing=0).fit(X, y)
    X[:, 1] = np.nan
    model = NaiveBayes().fit(X, y)
    assert model.parameters_.silent == (1,)
    assert model.verdict_.check(X, y)
    assert np.isfinite(model.predict_proba([[1.0, 7.0]])).all()


# --- priors, silent columns, unseen levels


def test_priors():
    X, y, _ = table(1, 63, 3)
    learnt, equal = mixed().fit(X, y), mixed(priors="equal").fit(X, y)
    given = mixed(priors=[0.2, 0.3, 0.5]).fit(X, y)
    np.testing.assert_allclose(np.exp(learnt.parameters_.log_prior), [1 / 3] * 3)
    np.testing.assert_allclose(equal.parameters_.log_prior, -np.log(3))
    np.testing.assert_allclose(given.intercept_ - equal.intercept_, np.log(3 * np.array([0.2, 0.3, 0.5])), atol=1e-12)
    for model in (learnt, equal, given):
        assert model.verdict_.check(X, y)


@pytest.mark.parametrize("family", ["gaussian", "poisson", "exponential", "geometric"])
def test_a_column_that_says_nothing_has_no_weight_and_is_named(family):
    X, y, _ = table(2)
    X = np.column_stack([np.zeros(len(y)), X[:, 2] + 1])
    model = NaiveBayes(families=family).fit(X, y)
    assert model.coef_[0, 0] == 0
    assert model.parameters_.silent == (0,)
    assert "Nothing can be learnt from x0" in model.verdict_.cause
    assert model.verdict_.check(X, y)
    other = np.array([[5.0, 2.0], [0.0, 2.0]])
    assert np.ptp(model.decision_function(other)) == 0
    assert np.isfinite(model.predict_joint_log_proba(other)).all()


def test_a_level_not_seen_has_the_probability_it_would_have_had():
    X, y = np.array([[0.0], [0], [1], [1], [1]]), np.array([0, 0, 0, 1, 1])
    model = NaiveBayes(families="categorical", smoothing=0.5).fit(X, y)
    expected = np.log([3 / 5, 2 / 5]) + np.log([0.5 / (3 + 1.5), 0.5 / (2 + 1.5)])
    np.testing.assert_allclose(model.predict_joint_log_proba([[7.0]])[0], expected)
    X[0] = 1
    X, y = np.vstack([X, [[0.0]]]), np.append(y, 1)
    bare = NaiveBayes(families="categorical", smoothing=0).fit(X, y)
    with pytest.raises(ValueError, match=r"X\[1, 'x0'\] is 7, a level that no training row has: they have 0, 1"):
        bare.predict([[1.0], [7.0]])
    assert bare.rule_.columns == ("[x0 = 0]", "[x0 = 1]")


# --- families by column, and of one's own


def test_families_by_name_by_number_and_the_rest():
    X, y, _ = table(3)
    frame = pd.DataFrame(X[:, :3], columns=["height", "on", "count"])
    by_name = NaiveBayes(families={"on": "bernoulli", 2: families.Poisson(), ...: "gaussian"}).fit(frame, y)
    assert by_name.rule_.columns == ("height", "on", "count", "height²")
    assert by_name.verdict_.check(frame, y)
    both = {0: families.Gaussian("shared"), 1: families.Gaussian("own"), ...: "poisson"}
    two = NaiveBayes(families=both).fit(frame, y)
    assert two.rule_.columns == ("height", "on", "count", "on²")
    assert two.verdict_.check(frame, y)


class Binomial(families.Family):
    name = "binomial"
    lowest, whole = 0, True

    def __init__(self, trials):
        self.trials = self.highest = trials

    def natural(self, total, weight):
        return np.log(total) - np.log(self.trials * weight - total)

    def log_partition(self, theta):
        return self.trials * np.logaddexp(0, theta)


def test_a_family_of_ones_own():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.binomial(5, 0.3 + 0.3 * y[:, None], (80, 2)).astype(float)
    model = NaiveBayes(families=Binomial(5), smoothing=0).fit(X, y)
    p = np.array([X[y == k].mean(0) / 5 for k in (0, 1)])
    close(model.coef_[0], np.log(p[1] / (1 - p[1])) - np.log(p[0] / (1 - p[0])))
    assert model.verdict_.check(X, y)
    assert pickle.loads(pickle.dumps(model)).verdict_.check(X, y)
    assert clone(model).fit(X, y).coef_.tolist() == model.coef_.tolist()
    with pytest.raises(ValueError, match="Binomial has no log_base"):
        model.predict_joint_log_proba(X)
    with pytest.raises(ValueError, match="is 6; a binomial column holds whole numbers of 0 or more and 5 or less"):
        model.fit(X + 4, y)
    model.verdict_.to_dict()


# --- the verdict


def corrupted(claim):
    parameters = dict(claim.parameters)
    for name, value in parameters.items():
        if isinstance(value, dict):
            for column, numbers in value.items():
                moved = np.array(numbers, float)
                moved.flat[-1] += 1e-6
                yield name, replace(claim, parameters={**parameters, name: {**value, column: moved}})
            continue
        flat = np.array(value, float)
        for i in range(flat.size):
            moved = flat.copy()
            moved.flat[i] = np.nan_to_num(moved.flat[i]) + 1e-6
            yield f"{name}[{i}]", replace(claim, parameters={**parameters, name: moved})
    for name, value in (("smoothing", 0.9), ("priors", "equal"), ("threshold", 2.0)):
        if claim.settings[name] != value:
            yield name, replace(claim, settings={**claim.settings, name: value})
    for j in range(len(claim.columns)):
        for other in ("Poisson", "geometric", "exponential", "Bernoulli", "Gaussian, own variance", "categorical", "?"):
            if claim.settings["families"][j] != other:
                changed = (*claim.settings["families"][:j], other, *claim.settings["families"][j + 1 :])
                yield f"family {j} {other}", replace(claim, settings={**claim.settings, "families": changed})
    yield "rows", replace(claim, rows=claim.rows + 1)
    yield "model", replace(claim, model="nothing")
    yield "classes", replace(claim, classes=claim.classes[::-1])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("variance", ["own", "shared"])
def test_the_check_refuses_what_is_not_so(classes, variance):
    X, y, rng = table(7, 61, classes, gaps=0.1)
    cost = rng.random(61)
    verdict = mixed(variance=variance).fit(X, y, cost).verdict_
    assert verdict.check(X, y, cost)
    for what, claim in corrupted(verdict.claim):
        assert not replace(verdict, claim=claim).check(X, y, cost), what
    assert not verdict.check(X, y)
    assert not verdict.check(X + 1e-6, y, cost)
    assert not verdict.check(X, np.roll(y, 1), cost)
    assert not replace(verdict, status="budget").check(X, y, cost)
    assert not replace(verdict, certificate=None).check(X, y, cost)
    with pytest.raises(ValueError, match="speaks of 6 columns"):
        verdict.check(X[:, :2], y, cost)


def test_the_check_reads_sparse_rows_and_thresholds():
    X = sparse.random_array((300, 40), density=0.1, rng=np.random.default_rng(0), format="csr")
    y = np.arange(300) % 3
    for model in (BernoulliNaiveBayes(threshold=0.4), GaussianNaiveBayes(), PoissonNaiveBayes()):
        verdict = model.fit(X, y).verdict_
        assert verdict.check(X, y)
        assert verdict.check(X.toarray(), y)
    wrong = replace(verdict, claim=replace(verdict.claim, settings={**verdict.claim.settings, "smoothing": 2.0}))
    assert not wrong.check(X, y)


def test_history_and_steps():
    X, y, _ = table(0)
    model = mixed()
    (record,) = model.steps(X, y)
    assert (record.passes, record.rows) == (1.0, 60)
    assert model.history_ == [record]
    assert model.n_passes_ == 1.0
    assert model.partial_fit(X[:7], y[:7]).history_[-1].rows == 67


# --- rounding, thresholds, one class


def test_a_constant_is_a_constant_however_it_is_stored():
    for seed in range(5):
        X, y, rng = table(seed, 2_000)
        X = np.column_stack([np.full(len(y), 54.1), np.where(y == "a", 54.1, X[:, 0])])
        cost = rng.random(len(y))  # weighed sums over sparse rows leave a spread of some 10⁻³⁵
        for storage in (np.asarray, sparse.csr_array):
            assert NaiveBayes().fit(storage(X), y, cost).parameters_.silent == (0,)
            with pytest.raises(ValueError, match="Column 'x1' of class 'a' has no variance"):
                NaiveBayes(smoothing=0).fit(storage(X), y, cost)


def test_one_zero_among_a_million_ones_loses_no_digits():
    n = 1_000_000
    X, y = np.ones((n, 1), np.float32), np.arange(n) % 2
    X[1] = 0
    exact = np.log(n / 4) - np.log(n / 2 + 1)
    whole = BernoulliNaiveBayes().fit(X, y)
    assert abs(whole.coef_[0, 0] - exact) < 1e-15 * abs(exact)
    pieces = BernoulliNaiveBayes()
    for lo in range(0, n, 300_000):
        pieces.partial_fit(X[lo : lo + 300_000], y[lo : lo + 300_000])
    assert pieces.coef_.tolist() == whole.coef_.tolist()
    cut = BernoulliNaiveBayes(threshold=0.5).fit(X, y)
    assert cut.coef_.tolist() == whole.coef_.tolist()
    little = BernoulliNaiveBayes(smoothing=1e-9).fit(X, y)
    exact = np.log(n / 2 - 1) - np.log(1 + 1e-9) - np.log(n / 2) + np.log(1e-9)
    assert abs(little.coef_[0, 0] - exact) < 1e-12 * abs(exact)


def test_sums_of_whole_numbers_are_whole():
    rng = np.random.default_rng(0)
    X, y = rng.geometric(0.3, (70_001, 7)) - 1.0, rng.integers(0, 3, 70_001)
    whole, pieces = NaiveBayes(families="geometric").fit(X, y), NaiveBayes(families="geometric")
    for lo in range(0, len(y), 7_919):
        pieces.partial_fit(X[lo : lo + 7_919], y[lo : lo + 7_919])
    assert pieces.coef_.tolist() == whole.coef_.tolist()


@pytest.mark.parametrize("others", [{}, {3: "gaussian", 4: "poisson"}])
def test_a_threshold_is_a_column_of_zeros_and_ones(others):
    X, y, _ = table(8, 90, 3, gaps=0.2)
    X = np.abs(X[:, [0, 4, 2, 0, 2]])
    cut = np.where(np.isnan(X), np.nan, X > 1.5)
    cut[:, list(others)] = X[:, list(others)]
    families_of = {**dict.fromkeys(range(5), "bernoulli"), **others}
    ours = NaiveBayes(families=families_of, threshold=1.5).fit(X, y)
    plain = NaiveBayes(families=families_of).fit(cut, y)
    np.testing.assert_array_equal(ours.coef_, plain.coef_)
    np.testing.assert_array_equal(ours.decision_function(X), plain.decision_function(cut))
    assert ours.rule_.columns[0] == "[x0 > 1.5]"
    assert "[x > 1.5]" in ours.rule_.features
    assert ours.verdict_.check(X, y)


def test_it_votes_in_a_committee():
    from separatrix import OnlineToBatch

    X, y, _ = table(9)
    for model in (NaiveBayes(), NaiveBayes(variance="shared"), BernoulliNaiveBayes(threshold=2.0)):
        vote = OnlineToBatch(model).fit(X[:, :3], y)
        assert vote.score(X[:, :3], y) > 0.5


def test_sparse_rows_far_from_zero_are_seen_from_their_means():
    rng = np.random.default_rng(1)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 3)) + y[:, None] + 1e8
    model = NaiveBayes().fit(X, y)
    assert np.array_equal(model.decision_function(X), model.decision_function(sparse.csr_array(X)))


def test_a_column_of_categories_that_are_all_missing_is_checked():
    rng = np.random.default_rng(1)
    X, y = np.column_stack([rng.normal(size=60), np.full(60, np.nan)]), np.arange(60) % 2
    model = NaiveBayes(families={0: "gaussian", 1: "categorical"}).fit(X, y)
    assert model.verdict_.check(X, y)


def test_an_error_that_is_claimed_to_be_large_proves_nothing():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    verdict = NaiveBayes().fit(X, y).verdict_
    assert verdict.check(X, y)
    assert not replace(verdict, certificate=replace(verdict.certificate, error=0.9)).check(X, y)
