"""Gaussian discriminants: formulas, verdict, laws, and where a covariance has no inverse."""

import json
import lzma
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import SHARED
from rarely import examples
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from separatrix import GaussianDiscriminant
from separatrix.results.proofs import Estimates
from separatrix.results.verdict import Rank

VOWEL = SHARED / "multiclass"
WAYS = [
    {},
    {"covariance": "own"},
    {"shrinkage": 0.3},
    {"covariance": "own", "shrinkage": 1.0},
    {"shrinkage": "ledoit-wolf"},
    {"covariance": "own", "shrinkage": "ledoit-wolf", "priors": "equal"},
    {"priors": "equal"},
]


def table(seed, n=150, d=4, K=3):
    rng = np.random.default_rng(seed)
    y = np.append(np.repeat(np.arange(K), 8), rng.integers(0, K, n - 8 * K))
    mix = rng.standard_normal((K, d, d))
    X = np.einsum("nij,nj->ni", mix[y], rng.standard_normal((n, d))) + 2 * rng.standard_normal((K, d))[y]
    return X, y, rng.uniform(0.2, 2.0, n)


def estimates(X, y, cost):
    """Priors, means and each class's covariance by the book."""
    share = np.array([cost[y == k].sum() for k in np.unique(y)]) / cost.sum()
    means = np.array([np.average(X[y == k], axis=0, weights=cost[y == k]) for k in np.unique(y)])
    own = np.array([np.cov(X[y == k].T, aweights=cost[y == k], ddof=0) for k in np.unique(y)])
    return share, means, own


# ------------------------------------------------------------------------------------------------------- formulas


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("covariance", ["shared", "own"])
@pytest.mark.parametrize("priors", [None, "equal", "given"])
def test_posteriors_are_bayes_rule(K, covariance, priors):
    X, y, cost = table(K, K=K)
    share, means, own = estimates(X, y, cost)
    priors = np.arange(1, K + 1) / np.arange(1, K + 1).sum() if priors == "given" else priors
    model = GaussianDiscriminant(covariance=covariance, priors=priors).fit(X, y, cost)
    p = share if priors is None else np.full(K, 1 / K) if isinstance(priors, str) else priors
    sigma = own if covariance == "own" else np.broadcast_to(np.einsum("k,kij->ij", share, own), own.shape)
    log_joint = np.column_stack([np.log(p[k]) + multivariate_normal(means[k], sigma[k]).logpdf(X) for k in range(K)])
    joint = np.exp(log_joint)
    np.testing.assert_allclose(model.predict_proba(X), joint / joint.sum(axis=1, keepdims=True), rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), joint.argmax(axis=1))
    scores = model.decision_function(X)
    odds = scores if K == 2 else scores[:, 1] - scores[:, 0]
    np.testing.assert_allclose(odds, log_joint[:, 1] - log_joint[:, 0], rtol=1e-7, atol=1e-9)
    assert model.verdict_.check(X, y, cost)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("shrinkage", [None, 0.25, 1.0])
def test_scikit_learn_s_least_squares_solver_agrees(K, shrinkage):
    X, y, _ = table(6, K=K)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, y)
    ours = GaussianDiscriminant(shrinkage=shrinkage).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-12)
    plain = GaussianDiscriminant().fit(X, y).covariance_
    amount = shrinkage or 0.0
    wanted = (1 - amount) * plain + amount * np.trace(plain) / 4 * np.eye(4)
    np.testing.assert_allclose(ours.covariance_, wanted, rtol=1e-12)


def test_ledoit_wolf_is_that_of_the_rows_about_their_class_means():
    X, y, _ = table(7)
    about = X - np.array([X[y == k].mean(axis=0) for k in range(3)])[y]
    shared = GaussianDiscriminant(shrinkage="ledoit-wolf").fit(X, y)
    sigma, amount = ledoit_wolf(about, assume_centered=True)
    assert shared.shrinkage_ == pytest.approx(amount, rel=1e-10)
    np.testing.assert_allclose(shared.covariance_, sigma, rtol=1e-10, atol=1e-12)
    own = GaussianDiscriminant(shrinkage="ledoit-wolf", covariance="own").fit(X, y)
    np.testing.assert_allclose(own.shrinkage_, [ledoit_wolf(X[y == k])[1] for k in range(3)], rtol=1e-9)
    assert own.n_passes_ == 2.0


def test_the_rule_speaks_of_log_odds():
    X, y, _ = table(8, K=2)
    model = GaussianDiscriminant().fit(X, y)
    np.testing.assert_allclose(model.rule_.log_odds(X), model.decision_function(X), rtol=1e-12)
    np.testing.assert_allclose(model.rule_.probability(X), model.predict_proba(X)[:, 1], rtol=1e-12)
    w = np.linalg.solve(model.covariance_, model.means_[1] - model.means_[0])
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9)
    assert (np.sign(model.distance(X)) == np.sign(model.decision_function(X))).all()


def test_quadratic_log_odds_have_no_rule():
    X, y, _ = table(9)
    model = GaussianDiscriminant(covariance="own").fit(X, y)
    for name in ("rule_", "coef_", "intercept_"):
        with pytest.raises(AttributeError, match="quadratic log-odds"):
            getattr(model, name)
    with pytest.raises(AttributeError, match="quadratic log-odds"):
        model.distance(X)
    assert not hasattr(model, "nonsense")
    model.set_params(covariance="shared").fit(X, y)
    assert model.rule_.weights.shape == (3, 4)


@pytest.mark.skipif(not VOWEL.is_dir(), reason="the vowel data are not beside the repository")
@pytest.mark.parametrize(("covariance", "mistakes"), [("shared", (167, 257)), ("own", (6, 244))])
def test_the_mistakes_on_vowels_are_those_of_esl(covariance, mistakes):
    (X, y), (far, truth) = vowels("train"), vowels("test")
    model = GaussianDiscriminant(covariance=covariance).fit(X, y)
    assert ((model.predict(X) != y).sum(), (model.predict(far) != truth).sum()) == mistakes
    assert model.verdict_.check(X, y)


def vowels(part):
    with lzma.open(VOWEL / f"vowel.{part}.csv.xz", "rt") as file:
        rows = pd.read_csv(file)
    return rows.filter(regex="^x").to_numpy(), rows["y"].to_numpy()


# ------------------------------------------------------------------------------------------------------------ laws


@examples(35, 100, st.integers(0, 10**6), st.sampled_from(WAYS), st.booleans())
def test_pieces_give_what_one_fit_gives(seed, way, weighted):
    X, y, cost = table(seed, n=90)
    cost = cost if weighted else None
    whole, parts = GaussianDiscriminant(**way).fit(X, y, cost), GaussianDiscriminant(**way)
    rng = np.random.default_rng(seed)
    order = rng.permutation(90)
    cuts = np.sort(rng.choice(np.arange(1, 90), 4, replace=False))
    for rows in np.split(order, cuts):
        parts.partial_fit(X[rows], y[rows], classes=range(3), sample_weight=None if cost is None else cost[rows])
    size = np.abs(whole.covariance_).max()
    np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(parts.covariance_, whole.covariance_, rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(parts.shrinkage_, whole.shrinkage_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-10)
    assert parts.verdict_.check(X, y, cost)


@examples(35, 100, st.integers(0, 10**6), st.sampled_from(WAYS[:2]))
def test_units_offsets_and_the_scale_of_weights_do_not_matter(seed, way):
    X, y, cost = table(seed)
    base = GaussianDiscriminant(**way).fit(X, y, cost).predict_proba(X)
    rng = np.random.default_rng(seed)
    unit, shift = 2.0 ** rng.integers(-20, 20, 4), rng.normal(0, 5, 4)
    moved = X * unit + shift * unit
    np.testing.assert_allclose(GaussianDiscriminant(**way).fit(moved, y, cost).predict_proba(moved), base, atol=1e-8)
    np.testing.assert_allclose(GaussianDiscriminant(**way).fit(X, y, 9 * cost).predict_proba(X), base, atol=1e-10)


@pytest.mark.parametrize("way", WAYS)
def test_a_weight_of_two_is_a_row_twice_and_of_zero_none(way):
    X, y, _ = table(10)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    times[:24] = 1
    weighted = GaussianDiscriminant(**way).fit(X, y, times.astype(float))
    repeated = GaussianDiscriminant(**way).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("way", WAYS)
def test_sparse_rows_and_single_precision_are_read_as_they_are(way):
    X, y, _ = table(11, n=600)
    X = np.where(np.abs(X) < 0.5, 0.0, X).astype(np.float32)
    wanted = GaussianDiscriminant(**way).fit(X.astype(float), y).predict_proba(X.astype(float))
    for rows in (X, np.asfortranarray(X), sparse.csr_matrix(X)):
        model = GaussianDiscriminant(**way).fit(rows, y)
        np.testing.assert_allclose(model.predict_proba(rows), wanted, atol=1e-6 if rows is X else 1e-4)
        np.testing.assert_allclose(model.predict_proba(X.astype(float)), wanted, atol=1e-10)
        assert model.verdict_.check(rows, y)


@pytest.mark.parametrize("way", WAYS)
def test_offsets_are_harmless(way):
    X, y, _ = table(12)
    X = np.round(X * 2**10) / 2**10
    near, far = GaussianDiscriminant(**way).fit(X, y), GaussianDiscriminant(**way).fit(X + 1e6, y)
    np.testing.assert_allclose(far.covariance_, near.covariance_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(far.predict_proba(X + 1e6), near.predict_proba(X), atol=1e-6)
    assert far.verdict_.check(X + 1e6, y)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(13)
    X, y = rng.standard_normal((30_000, 10)), rng.integers(0, 3, 30_000)
    one, two = (GaussianDiscriminant(n_threads=n).fit(X, y) for n in (1, 2))
    assert one.coef_.tobytes() == two.coef_.tobytes()


# --------------------------------------------------------------------------------------------------------- verdict


def corruptions(verdict):
    claim = verdict.claim
    for name, value in claim.parameters.items():
        if name != "shrinkage":
            changed = {**claim.parameters, name: np.asarray(value) * (1 + 1e-5)}
            yield replace(verdict, claim=replace(claim, parameters=changed))
        fewer = {key: each for key, each in claim.parameters.items() if key != name}
        yield replace(verdict, claim=replace(claim, parameters=fewer))
    moved = {**claim.parameters, "shrinkage": np.asarray(claim.parameters["shrinkage"]) + 0.01}
    yield replace(verdict, claim=replace(claim, parameters=moved))
    yield replace(verdict, claim=replace(claim, rows=claim.rows + 1))
    yield replace(verdict, claim=replace(claim, model="naive Bayes of another kind"))
    yield replace(verdict, claim=replace(claim, settings={**claim.settings, "priors": [0.5, 0.25, 0.25]}))
    yield replace(verdict, claim=replace(claim, settings={**claim.settings, "shrinkage": 0.77}))
    yield replace(verdict, certificate=Estimates(0.1))
    yield replace(verdict, certificate=None)
    yield replace(verdict, status="budget")


@pytest.mark.parametrize("way", WAYS)
def test_what_is_not_so_is_found_out(way):
    X, y, cost = table(14)
    verdict = GaussianDiscriminant(**way).fit(X, y, cost).verdict_
    assert verdict.ok
    assert verdict.check(X, y, cost)
    assert [each for each in corruptions(verdict) if each.check(X, y, cost)] == []
    assert not verdict.check(X, y)
    assert not verdict.check(X * 1.001, y, cost)


@pytest.mark.parametrize("way", WAYS)
def test_a_model_travels(way):
    X, y, _ = table(15)
    model = GaussianDiscriminant(**way).fit(X, y)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    assert back.verdict_.check(X, y)
    assert json.loads(json.dumps(model.verdict_.to_dict()))["claim"]["model"] == "Gaussian discriminant"
    assert clone(model).get_params() == model.get_params()
    half = pickle.loads(pickle.dumps(GaussianDiscriminant(**way).partial_fit(X[:70], y[:70])))
    np.testing.assert_allclose(half.partial_fit(X[70:], y[70:]).predict_proba(X), model.predict_proba(X), atol=1e-10)


# -------------------------------------------------------------------------------------------------------- singular


def test_columns_that_are_combinations_change_nothing_and_are_named():
    X, y, _ = table(16, K=2)
    X = pd.DataFrame(X, columns=list("abcd"))
    more = X.assign(sum=X["a"] + 2 * X["b"], flat=4.5)
    plain, aliased = GaussianDiscriminant().fit(X, y), GaussianDiscriminant().fit(more, y)
    np.testing.assert_allclose(aliased.predict_proba(more), plain.predict_proba(X), rtol=1e-8, atol=1e-12)
    assert aliased.verdict_.rank == Rank(4, 6, ("sum", "flat"))
    null = np.array([[1.0, 2, 0, 0, -1, 0], [0, 0, 0, 0, 0, 1]])
    spread = np.sqrt(np.diag(aliased.covariance_))
    np.testing.assert_allclose((null * spread) @ (aliased.coef_[0] * spread), 0, atol=1e-9)
    assert aliased.verdict_.check(more, y)
    assert aliased.verdict_.remedy == ""


@pytest.mark.parametrize("K", [2, 3])
def test_a_direction_that_tells_classes_apart_with_certainty_is_left_out_and_said(K):
    X, y, _ = table(17, K=K)
    more = np.column_stack([X, 3.0 * y, X[:, 0] + y])
    plain, model = GaussianDiscriminant().fit(X, y), GaussianDiscriminant().fit(more, y)
    assert model.verdict_.rank.aliased == ("x4", "x5")
    assert "x4 and x5" in model.verdict_.cause
    assert "shrinkage" in model.verdict_.remedy
    assert model.verdict_.check(more, y)
    assert model.coef_[0, 4] == pytest.approx(0, abs=1e-9)
    assert plain.verdict_.remedy == ""
    assert GaussianDiscriminant(shrinkage=0.1).fit(more, y).verdict_.rank == Rank(None, 6, ())


@pytest.mark.parametrize("certain", [True, False])
def test_weights_along_a_direction_without_spread_are_found_out(certain):
    X, y, _ = table(24, K=2)
    X = np.column_stack([X, X[:, 0] + (y if certain else 0)])
    verdict = GaussianDiscriminant().fit(X, y).verdict_
    claim, along = verdict.claim, np.array([1.0, 0, 0, 0, -1])
    middle = claim.parameters["means"].mean(axis=0)
    moved = {
        **claim.parameters,
        "weights": claim.parameters["weights"] + along,
        "intercept": claim.parameters["intercept"] - middle @ along,
    }
    assert verdict.check(X, y)
    assert not replace(verdict, claim=replace(claim, parameters=moved)).check(X, y)


@given(st.integers(0, 10**6), st.sampled_from([{}, {"shrinkage": "ledoit-wolf"}, {"priors": "equal"}]))
def test_nasty_tables_are_checked(seed, way):
    rng = np.random.default_rng(seed)
    K, n, d = rng.integers(2, 5), rng.integers(8, 50), rng.integers(1, 8)
    y = np.append(np.arange(K), rng.integers(0, K, n - K))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-4, 5, d) + 10.0 ** rng.integers(-4, 5)
    X = np.column_stack([X, X[:, 0] + X[:, -1], X[:, 0] + y * rng.integers(0, 2), np.full(n, rng.standard_normal())])
    X = X.astype(np.float32) if rng.random() < 0.3 else X
    assert GaussianDiscriminant(**way).fit(X, y).verdict_.check(X, y)


def test_fewer_rows_than_columns_as_scikit_learn_does_it():
    rng = np.random.default_rng(18)
    X, y, far = rng.standard_normal((15, 30)), np.arange(15) % 3, rng.standard_normal((200, 30))
    ours, theirs = GaussianDiscriminant().fit(X, y), LinearDiscriminantAnalysis(tol=1e-9).fit(X, y)
    np.testing.assert_array_equal(ours.predict(far), theirs.predict(far))
    assert ours.verdict_.rank.rank == 12
    assert ours.verdict_.check(X, y)


def test_a_covariance_of_a_class_needs_an_inverse():
    X, y, _ = table(19)
    X = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    flat = X.copy()
    flat.loc[y == 1, "c"] = 2.0
    with pytest.raises(ValueError, match=r"covariance of class 1, which has \d+ samples, has no inverse: there c is"):
        GaussianDiscriminant(covariance="own").fit(flat, y)
    assert GaussianDiscriminant(covariance="own", shrinkage=0.1).fit(flat, y).verdict_.ok
    assert GaussianDiscriminant().fit(flat, y).verdict_.ok


def test_a_class_with_one_row():
    X, y, _ = table(20)
    few = np.append(np.flatnonzero(y != 2), np.flatnonzero(y == 2)[0])
    X, y = X[few], y[few]
    assert GaussianDiscriminant().fit(X, y).verdict_.check(X, y)
    with pytest.raises(ValueError, match="class 2, which has 1 sample, has no inverse"):
        GaussianDiscriminant(covariance="own").fit(X, y)
    with pytest.raises(ValueError, match="No column has any spread within the classes"):
        GaussianDiscriminant().fit(np.repeat(np.eye(3), 4, axis=0), np.repeat([0, 1, 2], 4))


# ------------------------------------------------------------------------------------------------------- bad input


def test_a_model_in_pieces_waits_for_all_its_classes():
    X, y, _ = table(21)
    some = y < 2
    model = GaussianDiscriminant().partial_fit(X[some], y[some], classes=[0, 1, 2])
    with pytest.raises(NotFittedError, match="class 2 has no rows yet"):
        model.predict(X)
    model.partial_fit(X[~some], y[~some])
    np.testing.assert_allclose(model.predict_proba(X), GaussianDiscriminant().fit(X, y).predict_proba(X), atol=1e-10)
    own = GaussianDiscriminant(covariance="own").partial_fit(X[:3], y[:3], classes=[0, 1, 2])
    with pytest.raises(NotFittedError, match="no rows yet"):
        own.decision_function(X)
    with pytest.raises(ValueError, match="covariance or shrinkage was changed"):
        model.set_params(covariance="own").partial_fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"covariance": "full"}, "covariance is 'full'; it must be one of 'shared', 'own'"),
        ({"shrinkage": 1.5}, "shrinkage is 1.5; it must be None, 'ledoit-wolf' or a number from 0 to 1"),
        ({"shrinkage": "auto"}, "shrinkage is 'auto'"),
        ({"priors": "uniform"}, "priors is 'uniform'"),
        ({"priors": [0.5, 0.5]}, r"priors have shape \(2,\); one number for each of the 3 classes \[0, 1, 2\]"),
        ({"priors": [0.5, 0.5, 0.5]}, "must be positive and sum to one"),
        ({"priors": [0.5, 0.5, 0.0]}, "must be positive and sum to one"),
        ({"priors": [np.nan, 0.5, 0.5]}, "NaN or infinity"),
        ({"n_threads": 0}, "n_threads is 0"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    X, y, _ = table(22)
    with pytest.raises(ValueError, match=message):
        GaussianDiscriminant(**settings).fit(X, y)


@pytest.mark.parametrize("covariance", ["shared", "own"])
def test_rows_that_make_no_sense(covariance):
    X, y, cost = table(23)
    model = GaussianDiscriminant(covariance=covariance).fit(X, y)
    bad = X.copy()
    bad[7, 1] = np.inf
    for rows in (bad, sparse.csr_matrix(bad)):
        with pytest.raises(ValueError, match=r"X\[7, 'x1'\] is inf"):
            GaussianDiscriminant(covariance=covariance).fit(rows, y)
        with pytest.raises(ValueError, match=r"X\[7, 'x1'\] is inf"):
            model.predict(rows)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        model.fit(X, np.full(len(y), 0.5))
    with pytest.raises(ValueError, match="Every sample of class 2 has sample_weight zero"):
        model.fit(X, y, np.where(y == 2, 0.0, cost))
    with pytest.raises(ValueError, match="sums over the rows overflow"):
        model.fit(X * 1e200, y)
    assert model.verdict_.check(X, y), "what failed changed nothing"


@pytest.mark.parametrize(
    "model",
    [GaussianDiscriminant(), GaussianDiscriminant(shrinkage=0.1), GaussianDiscriminant(shrinkage="ledoit-wolf")],
)
def test_scikit_learn_accepts_it(model):
    results = check_estimator(model, on_skip=None, on_fail=None)
    assert [(each["check_name"], each["exception"]) for each in results if each["status"] == "failed"] == []
    assert sum(each["status"] == "passed" for each in results) > 40


def test_scikit_learn_accepts_own_covariances_but_for_tables_that_have_none():
    results = check_estimator(GaussianDiscriminant(covariance="own"), on_skip=None, on_fail=None)
    failed = [each["exception"] for each in results if each["status"] == "failed"]
    assert all("has no inverse" in str(each) for each in failed)
    assert sum(each["status"] == "passed" for each in results) > 40


def test_a_row_of_no_weight_may_hold_anything():
    rng = np.random.default_rng(1)
    X, y, w = rng.normal(size=(60, 3)), np.arange(60) % 2, np.ones(60)
    X[0, 0], w[0] = np.nan, 0.0
    model = GaussianDiscriminant(shrinkage="ledoit-wolf").fit(X, y, w)
    alone = GaussianDiscriminant(shrinkage="ledoit-wolf").fit(X[1:], y[1:])
    assert np.allclose(model.coef_, alone.coef_, rtol=1e-12)


def test_what_is_changed_between_pieces_is_said():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    model = GaussianDiscriminant(covariance="own").partial_fit(X, y).set_params(shrinkage="ledoit-wolf")
    with pytest.raises(ValueError, match="use fit"):
        model.partial_fit(X, y)
    for priors, said in (([-1, 2], "positive"), (["a", "b"], "numbers"), ([0.5, 0.7], "sum to one")):
        with pytest.raises(ValueError, match=said):
            GaussianDiscriminant(priors=priors).partial_fit(X, y)


def test_a_direction_that_is_left_out_is_named():
    rng = np.random.default_rng(0)
    z, x = rng.normal(size=200), rng.normal(size=200)
    y = (z > 0).astype(int)
    for part in (1e-5, 1e-6, 1e-7):
        said = str(GaussianDiscriminant().fit(np.column_stack([x, x + part * z]), y).verdict_)
        assert "x1 varies with other columns only" in said
        assert "class means differ there" in said
    copied = GaussianDiscriminant().fit(np.column_stack([x + y, x + y]), y)
    assert "what is left of that is not used" in str(copied.verdict_)
