"""Class weights move decisions; a prior brings the probabilities back to the classes as they are."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from separatrix import BudgetWarning, CrossValidation, LogisticRegression, MultiLabel, OneVsOne, OneVsRest
from separatrix.features import Polynomial

RNG = np.random.default_rng(3)
N = 120
X = RNG.normal(size=(N, 2))
TWO = (X @ [1.0, -1.0] - 1 + RNG.logistic(size=N) > 0).astype(int)
THREE = np.argmax(np.column_stack([X, X.sum(axis=1) - 1]) + RNG.gumbel(size=(N, 3)), axis=1)
SHARES = RNG.dirichlet([3.0, 1.0, 1.0], N)
UNEVEN = np.linspace(0.2, 3, N)
WEIGHTS = {2: {0: 0.2, 1: 7.0}, 3: {0: 0.2, 2: 7.0}}
SHARP = 1e-14


def fit(rows, y, weight=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LogisticRegression(**{"tol": SHARP, **settings}).fit(rows, y, weight)


def cells(K, seed):
    """One column of 0 and 1, and labels: with an intercept a model of as many numbers as there are shares."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(3, 40, size=(2, K))
    x, y = (np.repeat(each.ravel(), counts.ravel()) for each in np.indices((2, K)))
    return x[:, None].astype(float), y


# ------------------------------------------------------------------------------------------------ where it is exact


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("weights", ["balanced", "given"])
@pytest.mark.parametrize("seed", range(3))
def test_a_saturated_model_is_corrected_to_the_unweighted_fit(K, weights, seed):
    x, y = cells(K, seed)
    class_weight = WEIGHTS[K] if weights == "given" else weights
    for cost in (None, np.random.default_rng(seed).uniform(0.5, 2, len(y))):
        plain = fit(x, y, cost)
        model = fit(x, y, cost, class_weight=class_weight, prior="data")
        np.testing.assert_allclose(model.predict_proba(x), plain.predict_proba(x), atol=2e-7)
        bare = fit(x, y, cost, class_weight=class_weight)
        assert np.abs(bare.predict_proba(x) - plain.predict_proba(x)).max() > 0.02


@pytest.mark.parametrize("K", [2, 3])
def test_probabilities_as_targets_are_corrected_too(K):
    """Soft rows of a saturated model: each is a row of every class, at its probability."""
    x, y = cells(K, 5)
    T = np.random.default_rng(1).dirichlet(np.ones(K), len(y)) * 0.5 + 0.5 * np.eye(K)[y]
    target = T[:, 1] if K == 2 else T
    plain = fit(x, target)
    model = fit(x, target, class_weight="balanced", prior="data")
    np.testing.assert_allclose(model.predict_proba(x), plain.predict_proba(x), atol=2e-7)
    np.testing.assert_allclose(model.prior_.wanted, T.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("K", [2, 3])
def test_rows_sampled_by_class_are_corrected_to_the_population(K):
    """Of every class another part was drawn, in every cell the same: the design called case-control."""
    x, y = (np.repeat(each, 12, axis=0) for each in cells(K, 2))
    part = np.array([12, 3, 4])[:K]
    drawn = np.tile(np.arange(12), len(y) // 12) < part[y]
    population = dict(enumerate(np.bincount(y) / len(y)))
    model = fit(x[drawn], y[drawn], prior=population)
    np.testing.assert_allclose(model.predict_proba(x), fit(x, y).predict_proba(x), atol=2e-7)


@pytest.mark.parametrize("K", [2, 3])
def test_in_large_samples_of_a_true_model_weights_and_prior_cancel(K):
    """Log-odds that are linear indeed: both fits estimate the same, so that they differ by chance alone."""
    rng = np.random.default_rng(K)
    rows = rng.normal(size=(40_000, 2))
    scores = np.column_stack([np.full(40_000, 2.0), rows @ [1.0, 0.5], rows @ [-0.5, 1.0]])[:, :K]
    y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    plain, bare, model = (
        fit(rows, y, **how) for how in ({}, {"class_weight": "balanced"}, {"class_weight": "balanced", "prior": "data"})
    )
    truth = plain.predict_proba(rows)
    assert np.abs(model.predict_proba(rows) - truth).mean() < 0.005
    assert np.abs(bare.predict_proba(rows) - truth).mean() > 0.1


# ------------------------------------------------------------------------------------------------ what it is, always


FITS = {
    "likelihood": ({}, TWO),
    "likelihood, 3 classes": ({}, THREE),
    "penalised": ({"l2": 0.1}, TWO),
    "squared": ({"objective": "squared", "starts": 2, "tol": 1e-10}, TWO),
    "squared, 3 classes": ({"objective": "squared", "starts": 2, "tol": 1e-10, "l2": 0.01}, THREE),
    "stochastic": ({"solver": "stochastic", "random_state": 0, "max_passes": 3, "tol": 1e-3}, TWO),
    "features": ({"features": Polynomial(2), "l2": 0.1}, TWO),
    "soft": ({}, SHARES),
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("prior", ["data", "given"])
def test_the_odds_of_every_two_classes_are_multiplied_by_those_of_the_shares(name, prior):
    settings, y = FITS[name]
    K = 2 if y.ndim == 1 and y.max() == 1 else 3
    shares = np.array([0.7, 0.2, 0.1])[:K] / sum([0.7, 0.2, 0.1][:K])
    given = dict(enumerate(shares)) if prior == "given" else "data"
    seen = fit(X, y, UNEVEN, class_weight=WEIGHTS[K], **settings)
    model = fit(X, y, UNEVEN, class_weight=WEIGHTS[K], prior=given, **settings)
    T = np.eye(K)[y] if y.ndim == 1 else y
    totals, factors = UNEVEN @ T, np.array([WEIGHTS[K].get(k, 1.0) for k in range(K)])
    wanted = shares if prior == "given" else totals / totals.sum()
    p = seen.predict_proba(X) * wanted / (totals * factors)
    np.testing.assert_allclose(model.predict_proba(X), p / p.sum(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), atol=1e-14)
    np.testing.assert_allclose(model.prior_.seen, totals * factors / (totals @ factors), rtol=1e-12)
    np.testing.assert_allclose(model.prior_.wanted, wanted, rtol=1e-12)


@pytest.mark.parametrize("name", FITS)
def test_nothing_but_probabilities_changes(name):
    settings, y = FITS[name]
    bare = fit(X, y, UNEVEN, class_weight="balanced", **settings)
    model = fit(X, y, UNEVEN, class_weight="balanced", prior="data", **settings)
    np.testing.assert_array_equal(model.coef_, bare.coef_)
    np.testing.assert_array_equal(model.intercept_, bare.intercept_)
    np.testing.assert_array_equal(model.decision_function(X), bare.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), bare.predict(X))
    assert str(model.rule_) == str(bare.rule_)
    assert str(model.verdict_) == str(bare.verdict_)
    assert model.verdict_.check(X, y, UNEVEN) == bare.verdict_.check(X, y, UNEVEN)
    assert np.abs(model.predict_proba(X) - bare.predict_proba(X)).max() > 1e-3


def test_the_shares_of_the_data_are_those_that_a_fit_without_class_weights_saw():
    bare, model = fit(X, THREE, UNEVEN), fit(X, THREE, UNEVEN, prior="data")
    np.testing.assert_allclose(model.predict_proba(X), bare.predict_proba(X), atol=1e-15)
    np.testing.assert_array_equal(model.prior_.seen, model.prior_.wanted)


def test_the_mean_probability_of_a_saturated_fit_is_the_share_of_the_class():
    x, y = cells(3, 7)
    model = fit(x, y, class_weight="balanced", prior="data")
    np.testing.assert_allclose(model.predict_proba(x).mean(axis=0), np.bincount(y) / len(y), atol=1e-7)


def test_the_penalty_is_chosen_by_the_likelihood_as_it_was_weighed():
    plan = CrossValidation(grid=(1.0, 0.1, 0.01), folds=3)
    bare, model = (fit(X, TWO, l2=plan, class_weight="balanced", prior=prior) for prior in (None, "data"))
    np.testing.assert_array_equal(model.l2_path_.folds, bare.l2_path_.folds)


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_shares_do_not_depend_on_the_unit_of_weights(unit):
    plain = fit(X, TWO, UNEVEN, class_weight="balanced", prior="data")
    model = fit(X, TWO, UNEVEN * unit, class_weight="balanced", prior="data")
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-6)


def test_far_from_the_boundary_nothing_underflows():
    model = fit(X, TWO, class_weight="balanced", prior={0: 1 - 1e-6, 1: 1e-6})
    far = 1e4 * model.coef_
    log_p = model.predict_log_proba(np.vstack([far, -far]))
    assert np.isfinite(log_p).all()
    assert model.predict_proba(np.vstack([far, -far])).argmax(axis=1).tolist() == [1, 0]
    shift = np.log(1e-6 / (1 - 1e-6))  # balanced: what was seen is one half
    np.testing.assert_allclose(log_p[:, 1] - log_p[:, 0], model.decision_function(np.vstack([far, -far])) + shift)


# ----------------------------------------------------------------------------------------------------------- limits


def test_after_a_separation_limits_stay_and_ties_part_by_the_odds():
    rows, y = np.array([[-2.0], [-1.0], [1.0], [3.0]]), ["no", "no", "yes", "yes"]
    bare = fit(rows, y, class_weight="balanced", fit_intercept=False)
    model = fit(rows, y, class_weight="balanced", fit_intercept=False, prior={"no": 0.9, "yes": 0.1})
    assert model.verdict_.status == "separated"
    np.testing.assert_array_equal(model.predict_proba(rows), bare.predict_proba(rows))
    tie = np.zeros((1, 1))
    np.testing.assert_allclose(bare.predict_proba(tie), [[0.5, 0.5]])
    np.testing.assert_allclose(model.predict_proba(tie), [[0.9, 0.1]], rtol=1e-12)
    assert model.predict(tie) == bare.predict(tie)


def test_after_a_quasi_separation_only_what_the_limit_leaves_open_moves():
    """The rows at zero: three of one class, and one of the other that was weighed five times."""
    rows = np.array([[-1.0], [-1.0], [0.0], [0.0], [0.0], [0.0], [1.0]])
    y = [0, 0, 0, 0, 0, 1, 1]
    plain = fit(rows, y)
    bare = fit(rows, y, class_weight={1: 5.0})
    model = fit(rows, y, class_weight={1: 5.0}, prior="data")
    assert model.verdict_.status == "quasi-separated"
    np.testing.assert_allclose(model.predict_proba(rows), plain.predict_proba(rows), atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(rows[:2]), [[1, 0], [1, 0]], atol=0)
    np.testing.assert_allclose(bare.predict_proba(rows[2:3]), [[3 / 8, 5 / 8]], atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(rows[2:3]), [[3 / 4, 1 / 4]], atol=1e-6)
    np.testing.assert_array_equal(model.predict(rows), bare.predict(rows))
    assert model.predict(rows[2:3]) == 1  # the weights' decision, not the likelier class


# ------------------------------------------------------------------------------------------------------- in company


@pytest.mark.parametrize("rows", [N, 4000], ids=["each alone", "side by side"])
@pytest.mark.parametrize("kind", [OneVsRest, OneVsOne])
def test_the_classifiers_of_a_reduction_are_corrected_each_by_its_own_rows(rows, kind):
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(rows, 6))
    y = np.argmax(wide[:, :3] + [1.5, 0, 0] + rng.gumbel(size=(rows, 3)), axis=1)
    weight = rng.uniform(0.5, 2, rows)
    member = LogisticRegression(class_weight="balanced", prior="data", tol=SHARP)
    model = kind(member).fit(wide, y, weight)
    bare = kind(clone(member).set_params(prior=None)).fit(wide, y, weight)
    first, side = model.estimators_[0], model.code_[y, 0]
    there = side != 0
    alone = clone(member).fit(wide[there], (side[there] > 0).astype(int), weight[there])
    np.testing.assert_allclose(first.prior_.wanted, alone.prior_.wanted, rtol=1e-12)
    np.testing.assert_allclose(first.prior_.seen, [0.5, 0.5], rtol=1e-12)
    np.testing.assert_allclose(first.predict_proba(wide), alone.predict_proba(wide), atol=1e-6)
    np.testing.assert_array_equal(model.predict(wide), bare.predict(wide))
    assert np.abs(model.predict_proba(wide) - bare.predict_proba(wide)).max() > 0.01


def test_several_labels_are_corrected_one_by_one():
    Y = np.column_stack([TWO, THREE == 0])
    model = MultiLabel(LogisticRegression(class_weight="balanced", prior="data", l2=1e-6)).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X).mean(axis=0), Y.mean(axis=0), atol=0.03)


def test_a_prior_is_a_parameter_like_any_other():
    model = fit(X, TWO, class_weight="balanced", prior={0: 0.9, 1: 0.1})
    copy = clone(model)
    assert copy.get_params()["prior"] == {0: 0.9, 1: 0.1}
    assert not hasattr(copy, "prior_")
    model.set_params(prior=None, warm_start=True).fit(X, TWO)
    assert not hasattr(model, "prior_")
    model.set_params(prior="data").fit(X, TWO)
    np.testing.assert_allclose(model.prior_.wanted, np.bincount(TWO) / N)


def test_a_fit_that_is_stopped_has_the_prior():
    model = LogisticRegression(class_weight="balanced", prior="data")
    steps = model.steps(X, TWO)
    next(steps)
    steps.close()
    assert model.verdict_.status == "interrupted"
    np.testing.assert_allclose(model.prior_.seen, [0.5, 0.5])


def test_a_refused_prior_leaves_the_model_as_it_was():
    model = fit(X, TWO, prior="data")
    before = dict(vars(model))
    with pytest.raises(ValueError, match="prior sums to"):
        model.set_params(prior={0: 0.9, 1: 0.2}).fit(X, TWO)
    assert vars(model) == {**before, "prior": {0: 0.9, 1: 0.2}}


# -------------------------------------------------------------------------------------------------------- bad input


WRONG = {
    "a word": ("balanced", "prior is 'balanced'; it must be None .*'data' .*dict"),
    "a list": ([0.5, 0.5], r"prior is \[0.5, 0.5\]; it must be None"),
    "a class is missing": ({0: 1.0}, r"prior says nothing of class 1; give the share of each of the classes \[0, 1\]"),
    "an unknown class": ({0: 0.5, 1: 0.4, "x": 0.1}, r"prior names 'x', which is not a class of y; .*\[0, 1\]"),
    "a share of nothing": ({0: 1.0, 1: 0.0}, r"prior\[1\] is 0.0; a class has a positive share"),
    "a negative share": ({0: 1.2, 1: -0.2}, r"prior\[1\] is -0.2; a class has a positive share"),
    "no number": ({0: 0.5, 1: "half"}, r"prior\[1\] is 'half'; a class has a positive share"),
    "NaN": ({0: 0.5, 1: np.nan}, r"prior\[1\] is nan; a class has a positive share"),
    "a wrong sum": ({0: 0.5, 1: 0.4}, r"prior sums to 0.9; the shares of all classes sum to one"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_prior_is_named(wrong):
    prior, words = WRONG[wrong]
    with pytest.raises(ValueError, match=words):
        LogisticRegression(prior=prior).fit(X, TWO)


def test_inside_a_reduction_a_prior_names_the_two_sides():
    with pytest.raises(ValueError, match=r"prior names 'a'; inside OneVsRest .* give prior='data'"):
        OneVsRest(LogisticRegression(prior={"a": 0.5, "b": 0.5})).fit(X, THREE)


def test_rows_that_come_one_by_one_have_no_shares_yet():
    model = LogisticRegression(solver="stochastic", learning_rate=0.1, prior="data", random_state=0)
    with pytest.raises(ValueError, match=r"partial_fit cannot know the shares of the classes.*prior='data'"):
        model.partial_fit(X, TWO)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        model.fit(X, TWO)
    model.set_params(prior=None).partial_fit(X, TWO)
    assert not hasattr(model, "prior_")
