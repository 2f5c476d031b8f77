"""Least squares as a classifier: its algebra, its verdict, and its well-known failures."""

import json
import lzma
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from places import SHARED
from rarely import examples
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.utils.estimator_checks import check_estimator

from separatrix import GaussianDiscriminant, LearningRate, LeastSquaresClassifier, LogisticRegression
from separatrix.learners.closed import batches
from separatrix.results.verdict import Rank

VOWEL = SHARED / "multiclass"


def table(seed, n=120, d=4, K=3, offset=0.0):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(K), rng.integers(0, K, n - K))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-2, 3, d) + rng.standard_normal((K, d))[y]
    return X + offset, y, rng.uniform(0.2, 2.0, n)


def targets(y, K):
    return np.eye(K)[y] if K > 2 else 2.0 * y[:, None] - 1


def by_formula(X, T, cost, l2, fit_intercept):
    """(XᵀCX + l2/2)⁻¹XᵀCT of centred columns, through a QR decomposition of the rows."""
    share = cost / cost.sum()
    mean, level = (share @ X, share @ T) if fit_intercept else (np.zeros(X.shape[1]), np.zeros(T.shape[1]))
    root = np.sqrt(share)[:, None]
    A = np.vstack([root * (X - mean), np.sqrt(l2 / 2) * np.eye(X.shape[1])])
    B = np.vstack([root * (T - level), np.zeros((X.shape[1], T.shape[1]))])
    W = np.linalg.lstsq(A, B, rcond=1e-11)[0].T
    return W, level - W @ mean


# ------------------------------------------------------------------------------------------------------- formulas


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("l2", [0.0, 0.3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_weights_are_the_formula(K, l2, fit_intercept, weighted):
    X, y, cost = table(K, K=K)
    cost = cost if weighted else np.ones(len(y))
    model = LeastSquaresClassifier(l2=l2, fit_intercept=fit_intercept).fit(X, y, cost if weighted else None)
    W, b = by_formula(X, targets(y, K), cost, l2, fit_intercept)
    np.testing.assert_allclose(model.coef_, W, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.intercept_, b, rtol=1e-9, atol=1e-11)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(X, y, cost if weighted else None)


@pytest.mark.parametrize("l2", [0.0, 0.5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_plus_and_minus_one_are_the_difference_of_one_of_two(l2, fit_intercept):
    X, y, cost = table(3, K=2)
    model = LeastSquaresClassifier(l2=l2, fit_intercept=fit_intercept).fit(X, y, cost)
    W, b = by_formula(X, np.eye(2)[y], cost, l2, fit_intercept)
    np.testing.assert_allclose(model.coef_[0], W[1] - W[0], rtol=1e-8)
    np.testing.assert_allclose(model.intercept_[0], b[1] - b[0], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("K", [2, 3])
def test_a_ridge_is_scikit_learn_s_with_alpha_half_of_n_times_l2(K):
    X, y, _ = table(4, K=K)
    theirs = RidgeClassifier(alpha=0.2 * len(y) / 2, solver="cholesky").fit(X, y)
    ours = LeastSquaresClassifier(l2=0.2).fit(X, y)
    scale = 1 if K == 2 else 2  # scikit-learn fits −1 and +1 to each of K classes, too
    np.testing.assert_allclose(scale * ours.coef_, np.atleast_2d(theirs.coef_), rtol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_of_two_classes_the_direction_is_that_of_the_linear_discriminant():
    X, y, cost = table(5, K=2)
    w, v = LeastSquaresClassifier().fit(X, y, cost).coef_[0], GaussianDiscriminant().fit(X, y, cost).coef_[0]
    np.testing.assert_allclose(w / np.linalg.norm(w), v / np.linalg.norm(v), rtol=1e-10)


@pytest.mark.parametrize("K", [3, 4])
def test_the_scores_of_all_classes_sum_to_one(K):
    X, y, _ = table(6, K=K)
    scores = LeastSquaresClassifier().fit(X, y).decision_function(X)
    np.testing.assert_allclose(scores.sum(axis=1), 1.0, rtol=1e-10)
    assert scores.min() < 0 or scores.max() > 1, "estimates of E[Y | x] that are no probabilities"
    assert not hasattr(LeastSquaresClassifier(), "predict_proba")


def test_residuals_are_orthogonal_to_the_columns():
    X, y, cost = table(7)
    model = LeastSquaresClassifier().fit(X, y, cost)
    left = cost[:, None] * (targets(y, 3) - model.decision_function(X))
    size = np.abs(X).T @ np.abs(left)
    assert (np.abs(X.T @ left) < 1e-11 * size).all()
    assert np.abs(left.sum(axis=0)).max() < 1e-11 * len(y)


def test_the_value_is_the_mean_squared_error_and_the_penalty():
    X, y, cost = table(8)
    model = LeastSquaresClassifier(l2=0.1).fit(X, y, cost)
    error = np.average(((targets(y, 3) - model.decision_function(X)) ** 2).sum(axis=1), weights=cost)
    assert model.verdict_.claim.value == pytest.approx(error + 0.05 * (model.coef_**2).sum(), rel=1e-12)


# --------------------------------------------------------------------------------------------------- probabilities


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("sparse_rows", [True, False])
def test_probabilities_are_targets(K, sparse_rows):
    X, _, cost = table(9, n=700)
    P = np.random.default_rng(0).dirichlet(np.ones(K), len(X))
    y = P[:, 1] if K == 2 else P
    given_rows = sparse.csr_matrix(X) if sparse_rows else X
    model = LeastSquaresClassifier().fit(given_rows, y, cost)
    W, b = by_formula(X, 2 * P[:, 1:] - 1 if K == 2 else P, cost, 0.0, True)
    np.testing.assert_allclose(model.coef_, W, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, b, rtol=1e-8)
    assert model.verdict_.check(given_rows, y, cost)
    assert not model.verdict_.check(given_rows, np.roll(y, 1, axis=0), cost)


def test_certain_probabilities_are_labels():
    X, y, cost = table(10)
    hard, soft = (LeastSquaresClassifier().fit(X, t, cost) for t in (y, np.eye(3)[y]))
    np.testing.assert_allclose(soft.coef_, hard.coef_, rtol=1e-10)
    assert soft.verdict_.claim.value == pytest.approx(hard.verdict_.claim.value, rel=1e-12)


def test_probabilities_come_in_pieces_and_mix_with_labels():
    X, y, _ = table(11)
    P = np.random.default_rng(1).dirichlet(np.ones(3), len(X))
    P[60:] = np.eye(3)[y[60:]]
    whole = LeastSquaresClassifier().fit(X, P)
    parts = LeastSquaresClassifier().partial_fit(X[:60], P[:60]).partial_fit(X[60:], y[60:])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-12, atol=1e-14)
    assert parts.verdict_.claim.value == pytest.approx(whole.verdict_.claim.value, rel=1e-12)


# ------------------------------------------------------------------------------------------------------------ laws


@examples(35, 100, st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([0.0, 0.1]), st.booleans())
def test_pieces_give_what_one_fit_gives(seed, K, l2, weighted):
    X, y, cost = table(seed, n=60, K=K)
    cost = cost if weighted else None
    whole = LeastSquaresClassifier(l2=l2).fit(X, y, cost)
    parts = LeastSquaresClassifier(l2=l2)
    cuts = np.sort(np.random.default_rng(seed).choice(np.arange(1, 60), 4, replace=False))
    for rows in np.split(np.arange(60), cuts):
        parts.partial_fit(X[rows], y[rows], classes=range(K), sample_weight=None if cost is None else cost[rows])
    spread = X.std(axis=0)
    np.testing.assert_allclose(parts.coef_ * spread, whole.coef_ * spread, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), rtol=1e-12, atol=1e-12)
    assert parts.verdict_.check(X, y, cost)


@examples(35, 100, st.integers(0, 10**6))
def test_order_units_and_offsets_do_not_matter(seed):
    X, y, cost = table(seed)
    base = LeastSquaresClassifier().fit(X, y, cost).decision_function(X)
    rng = np.random.default_rng(seed)
    order, unit, shift = rng.permutation(len(y)), 2.0 ** rng.integers(-20, 20, 4), rng.normal(0, 10, 4)
    moved = (X * unit + shift * unit)[order]
    again = LeastSquaresClassifier().fit(moved, y[order], cost[order])
    np.testing.assert_allclose(again.decision_function(moved), base[order], atol=1e-9)
    scaled = LeastSquaresClassifier().fit(X, y, 7.5 * cost)
    np.testing.assert_allclose(scaled.decision_function(X), base, atol=1e-10)


def test_a_weight_of_two_is_a_row_twice_and_of_zero_none():
    X, y, _ = table(12)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    times[:3] = 1
    weighted = LeastSquaresClassifier().fit(X, y, times.astype(float))
    repeated = LeastSquaresClassifier().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)


@pytest.mark.parametrize("offset", [1e6, -1e8])
def test_offsets_are_harmless(offset):
    X, y, _ = table(13)
    X = np.round(X * 2**10) / 2**10  # so that nothing is lost by the offset itself
    near, far = LeastSquaresClassifier().fit(X, y), LeastSquaresClassifier().fit(X + offset, y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-9, atol=1e-12)
    assert far.verdict_.check(X + offset, y)


def test_single_precision_and_any_layout_are_read_as_they_are():
    X, y, _ = table(14)
    single = X.astype(np.float32)
    wanted = LeastSquaresClassifier().fit(single.astype(float), y).coef_
    for rows in (single, np.asfortranarray(single), sparse.csr_matrix(single)):
        np.testing.assert_allclose(LeastSquaresClassifier().fit(rows, y).coef_, wanted, rtol=1e-11)


def test_sparse_rows_are_dense_rows():
    rng = np.random.default_rng(15)
    X = sparse.random(400, 12, 0.2, random_state=0, format="csr")
    y = rng.integers(0, 3, 400)
    one, other = LeastSquaresClassifier().fit(X, y), LeastSquaresClassifier().fit(X.toarray(), y)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-10, atol=1e-13)
    assert one.verdict_.check(X, y)
    np.testing.assert_array_equal(one.predict(X), other.predict(X.toarray()))


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(16)
    X, y = rng.standard_normal((30_000, 10)), rng.integers(0, 3, 30_000)
    one, two = (LeastSquaresClassifier(n_threads=n).fit(X, y) for n in (1, 2))
    assert one.coef_.tobytes() == two.coef_.tobytes()
    P = np.eye(3)[y]
    soft = [LeastSquaresClassifier(n_threads=n).fit(X, P).coef_.tobytes() for n in (1, 2)]
    assert soft[0] == soft[1]


# ------------------------------------------------------------------------------------------------------------ rank


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_of_many_minima_the_shortest_is_taken_and_named(offset):
    rng = np.random.default_rng(17)
    a, b = np.round(rng.standard_normal((2, 80)) * 1024) / 1024
    y = (a + b + rng.standard_normal(80) > 0).astype(int)
    X = pd.DataFrame({"a": a, "b": b, "both": a + 2 * b, "again": a, "flat": 3.0}) + offset
    model = LeastSquaresClassifier().fit(X, y)
    W, _ = by_formula(X.to_numpy() - offset, targets(y, 2), np.ones(80), 0.0, True)
    np.testing.assert_allclose(model.coef_, W, rtol=1e-7, atol=1e-12)
    assert model.verdict_.rank == Rank(3, 6, ("both", "again", "flat"))
    assert "shortest" in str(model.verdict_)
    assert model.verdict_.check(X, y)


def test_more_columns_than_rows():
    rng = np.random.default_rng(18)
    X, y = rng.standard_normal((12, 40)), np.arange(12) % 3
    model = LeastSquaresClassifier().fit(X, y)
    W, _ = by_formula(X, targets(y, 3), np.ones(12), 0.0, True)
    np.testing.assert_allclose(model.coef_, W, rtol=1e-8, atol=1e-11)
    assert model.verdict_.rank.rank == 12
    assert model.score(X, y) == 1.0
    assert model.verdict_.check(X, y)


@pytest.mark.parametrize("shape", [(60, 200), (61, 61), (62, 60)])
def test_as_many_columns_as_rows_and_more(shape):
    rng = np.random.default_rng(35)
    X, y = rng.standard_normal(shape), np.arange(shape[0]) % 3
    model = LeastSquaresClassifier().fit(X, y)
    assert model.verdict_.rank.rank == min(shape[0], shape[1] + 1)
    assert model.verdict_.check(X, y)


@examples(35, 100, st.integers(0, 10**6))
def test_nasty_tables_are_proved_or_said_not_to_be(seed):
    rng = np.random.default_rng(seed)
    K, n, d = rng.integers(2, 5), rng.integers(6, 50), rng.integers(1, 8)
    y = np.append(np.arange(K), rng.integers(0, K, n - K))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-4, 5, d) + 10.0 ** rng.integers(-4, 5)
    X = np.column_stack([X, X[:, 0] + X[:, -1], np.full(n, rng.standard_normal())])
    X = np.round(X) if rng.random() < 0.3 else X.astype(np.float32) if rng.random() < 0.3 else X
    fit_intercept, l2 = bool(rng.random() < 0.8), rng.choice([0.0, 0.0, 1e-3])
    t = rng.dirichlet(np.ones(K), n)[:, : None if K > 2 else 1].squeeze() if rng.random() < 0.2 else y
    verdict = LeastSquaresClassifier(l2=l2, fit_intercept=fit_intercept).fit(X, t).verdict_
    assert verdict.status in ("optimal", "budget")
    assert verdict.check(X, t)


@pytest.mark.parametrize("apart", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9])
def test_nearly_dependent_columns_are_proved_or_said_not_to_be(apart):
    rng = np.random.default_rng(36)
    X, y = rng.standard_normal((100, 3)), rng.integers(0, 2, 100)
    X = np.column_stack([X, X[:, 0] + apart * (y + rng.standard_normal(100))])
    verdict = LeastSquaresClassifier().fit(X, y).verdict_
    assert verdict.check(X, y)
    assert verdict.ok or "nearly combinations" in verdict.cause or "nearly a combination" in verdict.cause
    assert verdict.ok == (apart > 1e-4)


def test_columns_without_any_spread_leave_the_most_frequent_class():
    X, y = np.full((5, 2), 7.25), np.array([0, 1, 1, 1, 0])
    model = LeastSquaresClassifier().fit(X, y)
    assert model.coef_.tolist() == [[0.0, 0.0]]
    assert model.intercept_[0] == pytest.approx(0.2)
    assert model.verdict_.check(X, y)


def test_a_penalty_below_rounding_is_not_called_optimal():
    X, y, _ = table(19, K=2)
    X = np.column_stack([X, X[:, 0]])
    model = LeastSquaresClassifier(l2=1e-25).fit(X, y)
    assert model.verdict_.status == "budget"
    assert "below the rounding" in model.verdict_.cause
    W, _ = by_formula(X, targets(y, 2), np.ones(len(y)), 0.0, True)
    np.testing.assert_allclose(model.coef_, W, rtol=1e-8)


# --------------------------------------------------------------------------------------------------------- verdict


def corruptions(verdict):
    claim, proof = verdict.claim, verdict.certificate
    yield replace(verdict, claim=replace(claim, weights=claim.weights * (1 + 1e-5)))
    yield replace(verdict, claim=replace(claim, intercept=claim.intercept + 1e-4))
    yield replace(verdict, claim=replace(claim, value=claim.value * (1 + 1e-6)))
    yield replace(verdict, claim=replace(claim, l2=claim.l2 + 0.1))
    yield replace(verdict, claim=replace(claim, rows=claim.rows + 1))
    yield replace(verdict, claim=replace(claim, objective="squared"))
    yield replace(verdict, rank=Rank(verdict.rank.rank, verdict.rank.of, (claim.columns[0],)))
    yield replace(verdict, certificate=None)
    yield replace(verdict, status="separated")
    yield replace(verdict, certificate=replace(proof, gap=-1.0))


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("l2", [0.0, 0.2])
def test_what_is_not_so_is_found_out(K, l2):
    X, y, cost = table(20, K=K)
    verdict = LeastSquaresClassifier(l2=l2).fit(X, y, cost).verdict_
    assert verdict.check(X, y, cost)
    assert [verdict for verdict in corruptions(verdict) if verdict.check(X, y, cost)] == []
    assert not verdict.check(X, y)
    assert not verdict.check(X * 1.001, y, cost)


def test_longer_weights_with_the_same_scores_are_found_out():
    X, y, _ = table(21, K=2)
    X = np.column_stack([X, X[:, 0]])
    verdict = LeastSquaresClassifier().fit(X, y).verdict_
    w = verdict.claim.weights.copy()
    w[0], w[4] = w[0] + w[4], 0.0
    longer = replace(verdict, claim=replace(verdict.claim, weights=w))
    assert verdict.check(X, y)
    assert not longer.check(X, y)


def test_the_gap_bounds_how_far_the_weights_are_off():
    X, y, _ = table(22, K=2)
    model = LeastSquaresClassifier().fit(X, y)
    W, b = by_formula(X.astype(np.longdouble).astype(float), targets(y, 2), np.ones(len(y)), 0.0, True)
    off = np.abs(np.append(model.coef_[0] - W[0], model.intercept_[0] - b[0]))
    assert (off <= model.verdict_.certificate.coefficients + 1e-11).all()
    assert model.verdict_.certificate.gap < 1e-20
    assert model.verdict_.certificate.rho == 0.0


def test_a_verdict_travels():
    X, y, _ = table(23)
    model = LeastSquaresClassifier().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.verdict_.check(X, y)
    assert json.loads(json.dumps(model.verdict_.to_dict()))["claim"]["objective"] == "least squares"
    half = LeastSquaresClassifier().partial_fit(X[:60], y[:60])
    back = pickle.loads(pickle.dumps(half)).partial_fit(X[60:], y[60:])
    np.testing.assert_allclose(back.coef_, model.coef_, rtol=1e-12)


# ------------------------------------------------------------------------------------------- examples of the notes


def test_example_4_3_of_004():
    x = np.array([-3, -2.75, -2, -1.75, -1, -0.5, -0.25, 0.25, 1.75])
    y = np.array([-1, -1, -1, -1, 1, 1, 1, -1, 1])
    model = LeastSquaresClassifier().fit(x[:, None], y)
    assert (model.predict(x[:, None]) != y).sum() == 2
    best = min(((np.where(x > t, 1, -1) != y).sum() for t in x), default=9)
    assert best == 1
    x, y = np.append(x, [5.75, 6, 6.25]), np.append(y, [1, 1, 1])
    assert (LeastSquaresClassifier().fit(x[:, None], y).predict(x[:, None]) != y).sum() == 4


def test_far_rows_that_are_right_move_least_squares_and_not_logistic_regression():
    """003 slide 16."""
    rng = np.random.default_rng(24)
    X = np.vstack([rng.normal([0, 0], 0.5, (50, 2)), rng.normal([2, -1], 0.5, (50, 2))])
    y = np.repeat([0, 1], 50)
    far = np.vstack([X, rng.normal([7, -9], 0.5, (15, 2))]), np.append(y, np.ones(15, int))

    def mistakes_and_turn(model):
        before, after = model.fit(X, y).coef_[0].copy(), model.fit(*far).coef_[0]
        cosine = before @ after / np.linalg.norm(before) / np.linalg.norm(after)
        return (model.predict(X) != y).sum(), np.degrees(np.arccos(np.clip(cosine, -1, 1)))

    least = mistakes_and_turn(LeastSquaresClassifier())
    logistic = mistakes_and_turn(LogisticRegression(l2=1e-3))
    assert least[1] > 2 * logistic[1]
    assert least[0] > 5
    assert logistic[0] <= 2


def test_the_class_in_the_middle_is_never_predicted():
    """003 slide 17."""
    rng = np.random.default_rng(25)
    X = np.vstack([rng.normal([c, c], 0.3, (rows, 2)) for c, rows in ((-2, 100), (0, 40), (2, 100))])
    y = np.repeat([0, 1, 2], [100, 40, 100])
    assert set(LeastSquaresClassifier().fit(X, y).predict(X)) == {0, 2}
    assert GaussianDiscriminant().fit(X, y).score(X, y) == 1.0
    assert LogisticRegression(l2=1e-3).fit(X, y).score(X, y) == 1.0


@pytest.mark.skipif(not VOWEL.is_dir(), reason="the vowel data are not beside the repository")
def test_the_mistakes_on_vowels_are_those_of_esl():
    (X, y), (far, truth) = vowels("train"), vowels("test")
    model = LeastSquaresClassifier().fit(X, y)
    assert (model.predict(X) != y).sum() == 252
    assert (model.predict(far) != truth).sum() == 308
    assert model.verdict_.check(X, y)


def vowels(part):
    with lzma.open(VOWEL / f"vowel.{part}.csv.xz", "rt") as file:
        rows = pd.read_csv(file)
    return rows.filter(regex="^x").to_numpy(), rows["y"].to_numpy()


# ------------------------------------------------------------------------------------------------------ delta rule


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("soft", [True, False])
def test_the_delta_rule_row_by_row(K, soft):
    X, y, cost = table(26, n=40, K=K)
    X = X / np.abs(X).max(axis=0)
    P = np.random.default_rng(0).dirichlet(np.ones(K), len(y)) if soft else np.eye(K)[y]
    T = 2 * P[:, 1:] - 1 if K == 2 else P
    W, b = np.zeros((T.shape[1], 4)), np.zeros(T.shape[1])
    for x, t, c in zip(X, T, cost, strict=True):
        pull = 0.05 * c * (t - W @ x - b)
        W, b = (1 - 0.05 * c * 0.01) * W + np.outer(pull, x), b + pull
    y = (P[:, 1] if K == 2 else P) if soft else y
    model = LeastSquaresClassifier(solver="stochastic", learning_rate=0.05, order="cyclic", max_passes=1, l2=0.02).fit(
        X, y, cost
    )
    np.testing.assert_allclose(model.coef_, W, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, b, rtol=1e-9)
    pieces = LeastSquaresClassifier(solver="stochastic", learning_rate=0.05, l2=0.02)
    for rows in np.split(np.arange(40), [7, 8, 30]):
        pieces.partial_fit(X[rows], y[rows], classes=range(K), sample_weight=cost[rows])
    assert pieces.coef_.tobytes() == model.coef_.tobytes()
    assert pieces.verdict_.status == "interrupted"


@pytest.mark.parametrize("averaging", [True, False])
@pytest.mark.parametrize("K", [2, 3])
def test_the_delta_rule_comes_close_and_says_how_close(K, averaging):
    rng = np.random.default_rng(27)
    y = rng.integers(0, K, 400)
    X = rng.standard_normal((400, 4)) + rng.standard_normal((K, 4))[y]
    closed = LeastSquaresClassifier().fit(X, y)
    walked = LeastSquaresClassifier(
        solver="stochastic", averaging=averaging, max_passes=60, random_state=0, tol=1e-9
    ).fit(X, y)
    above = walked.verdict_.claim.value - closed.verdict_.claim.value
    assert 0 <= above <= 0.01 * closed.verdict_.claim.value
    assert above == pytest.approx(walked.verdict_.certificate.gap, rel=1e-6, abs=1e-13)
    assert walked.verdict_.check(X, y)
    exact = LeastSquaresClassifier(solver="stochastic", random_state=0, tol=0.01, learning_rate=1e-3).fit(X, y)
    assert exact.verdict_.status == "optimal"
    assert exact.verdict_.check(X, y)


@pytest.mark.slow
def test_sparse_rows_walk_as_dense_rows_do():
    X, y, _ = table(28, n=80)
    X = np.where(np.abs(X) < np.median(np.abs(X)), 0.0, X) / np.abs(X).max(axis=0)
    ways = {"solver": "stochastic", "learning_rate": 0.01, "random_state": 3, "max_passes": 3}
    one, other = (LeastSquaresClassifier(**ways).fit(rows, y) for rows in (X, sparse.csr_matrix(X)))
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)


def test_steps_that_are_too_long_are_told():
    X, y, _ = table(29, K=2)
    model = LeastSquaresClassifier(solver="stochastic", learning_rate=10.0, random_state=0).fit(X, y)
    assert model.verdict_.status == "budget"
    assert "overflowed" in model.verdict_.cause
    assert np.isfinite(model.coef_).all()
    with pytest.raises(ValueError, match=r"The weights overflow: learning_rate=1e\+200"):
        LeastSquaresClassifier(solver="stochastic", learning_rate=1e200).partial_fit(X, y)


def test_a_schedule_is_followed():
    X, y, _ = table(30, K=2)
    X = X / np.abs(X).max(axis=0)
    rate = LearningRate(0.1, power=0.5)
    model = LeastSquaresClassifier(solver="stochastic", learning_rate=rate, order="cyclic", max_passes=1).fit(X, y)
    w, b = np.zeros(4), 0.0
    for t, (x, sign) in enumerate(zip(X, 2 * y - 1, strict=True), 1):
        pull = 0.1 / np.sqrt(t) * (sign - w @ x - b)
        w, b = w + pull * x, b + pull
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9)


# ------------------------------------------------------------------------------------------------------- bad input


def test_new_classes_may_come_later():
    X, y, _ = table(31)
    order = np.argsort(y, kind="stable")
    X, y = X[order], np.array(["a", "b", "c"])[y[order]]
    cut = int((y != "c").sum())
    parts = LeastSquaresClassifier().partial_fit(X[:cut], y[:cut])
    assert parts.coef_.shape == (1, 4)
    parts.partial_fit(X[cut:], y[cut:])
    whole = LeastSquaresClassifier().fit(X, y)
    assert parts.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"l2": -1}, "l2 is -1; it must be a finite number of at least 0"),
        ({"l2": "cv"}, "l2 is 'cv'"),
        ({"fit_intercept": 1}, "fit_intercept is 1; it must be True or False"),
        ({"solver": "newton"}, "solver is 'newton'; it must be one of 'closed', 'stochastic'"),
        ({"learning_rate": 0.1}, "do not go together"),
        ({"solver": "stochastic", "learning_rate": -0.1}, "learning_rate is -0.1"),
        ({"order": "random"}, "order is 'random'"),
        ({"max_passes": 0}, "max_passes is 0"),
        ({"tol": 0}, "tol is 0"),
        ({"averaging": "yes"}, "averaging is 'yes'"),
        ({"n_threads": 1.5}, "n_threads is 1.5; it must be a whole number"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    X, y, _ = table(32)
    with pytest.raises(ValueError, match=message):
        LeastSquaresClassifier(**settings).fit(X, y)


def test_rows_that_make_no_sense(monkeypatch):
    X, y, cost = table(33)
    bad = X.copy()
    bad[5, 2] = np.nan
    for rows in (bad, bad.astype(np.float32), sparse.csr_matrix(bad)):
        for t in (y, np.eye(3)[y]):
            with pytest.raises(ValueError, match=r"X\[5, 'x2'\] is NaN"):
                LeastSquaresClassifier().fit(rows, t)
    with pytest.raises(ValueError, match="one class only"):
        LeastSquaresClassifier().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="119 labels"):
        LeastSquaresClassifier().fit(X, y[:-1])
    with pytest.raises(ValueError, match="Every sample of class 1 has sample_weight zero"):
        LeastSquaresClassifier().fit(X, y, np.where(y == 1, 0.0, cost))
    with pytest.raises(ValueError, match="names, or numbers, not both"):
        LeastSquaresClassifier().partial_fit(X, y).partial_fit(X, np.array(["a", "b", "c"])[y])
    with pytest.raises(ValueError, match="needs a learning_rate"):
        LeastSquaresClassifier(solver="stochastic").partial_fit(X, y)
    monkeypatch.setattr(batches, "MOST_COLUMNS", 3)
    with pytest.raises(ValueError, match="needs a 4 × 4 matrix"):
        LeastSquaresClassifier().fit(X, y)


def test_a_piece_that_fails_changes_nothing():
    X, y, _ = table(34)
    model = LeastSquaresClassifier().partial_fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((3, 4), np.nan), [0, 1, 2])
    np.testing.assert_array_equal(model.coef_, before)
    assert model.partial_fit(X, y).verdict_.claim.rows == 2 * len(y)


@pytest.mark.parametrize("model", [LeastSquaresClassifier(), LeastSquaresClassifier(l2=0.1)])
def test_scikit_learn_accepts_it(model):
    results = check_estimator(model, on_skip=None, on_fail=None)
    assert [(each["check_name"], each["exception"]) for each in results if each["status"] == "failed"] == []
    assert sum(each["status"] == "passed" for each in results) > 40


@pytest.mark.slow
def test_scikit_learn_accepts_the_delta_rule_which_is_no_weighted_mean():
    model = LeastSquaresClassifier(solver="stochastic", learning_rate=0.01, random_state=0, max_passes=5)
    results = check_estimator(model, on_skip=None, on_fail=None)
    failed = {each["check_name"] for each in results if each["status"] == "failed"}
    assert failed <= {f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}


def test_what_is_read_once_has_a_step_and_a_history():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), np.arange(30) % 2
    for learner in (LeastSquaresClassifier, GaussianDiscriminant):
        model = learner()
        assert [record.rows for record in model.steps(X, y)] == [30]
        assert np.array_equal(model.coef_, learner().fit(X, y).coef_)
        pieces = learner().partial_fit(X[:10], y[:10]).partial_fit(X[10:], y[10:])
        assert [record.rows for record in pieces.history_] == [10, 30]
        assert [record.rows for record in pieces.fit(X, y).history_] == [30]


@pytest.mark.parametrize("part", [1e-7, 1e-8, 1e-10])
def test_nearly_a_combination_is_not_called_one(part):
    rng = np.random.default_rng(0)
    z, x = rng.normal(size=200), rng.normal(size=200)
    y, X = np.where(z > 0, 1, -1), np.column_stack([x, x + part * z])
    model = LeastSquaresClassifier().fit(X, y)
    assert model.verdict_.status == "budget"
    assert "so nearly a combination of other columns" in str(model.verdict_)
    assert model.verdict_.check(X, y)
    pieces = LeastSquaresClassifier().partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    assert pieces.verdict_.status != "optimal" or not pieces.verdict_.check(X, y)
    true = np.column_stack([x, 2 * x, x + 1])
    assert LeastSquaresClassifier().fit(true, y).verdict_.status == "optimal"
    assert LeastSquaresClassifier().fit(true, y).verdict_.check(true, y)


@pytest.mark.parametrize("learner", [LeastSquaresClassifier, GaussianDiscriminant])
def test_rows_may_come_class_by_class(learner):
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 3)) + y[:, None]
    model = learner().partial_fit(X[:30], y[:30])
    with pytest.raises(NotFittedError):
        model.predict(X)
    for lo in (30, 60):
        model.partial_fit(X[lo : lo + 30], y[lo : lo + 30])
    assert np.allclose(model.coef_, learner().fit(X, y).coef_, rtol=1e-12, atol=1e-13)
    assert model.verdict_.check(X, y)
