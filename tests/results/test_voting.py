"""The voted reading of a mistake log is the vote of classifiers that are built one by one.  [001 slides 26–28]"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from separatrix.data import Sparse
from separatrix.data.block import block_of
from separatrix.results import votes as voting
from separatrix.results.mistake_log import MistakeLog
from separatrix.results.votes import Ballot

LAW = settings(max_examples=60, deadline=None, derandomize=True)
FORMS = ["float64", "float32", "fortran", "sparse", "sparse32"]


def whole_numbers(n, d, seed):
    return np.random.default_rng(seed).integers(-3, 4, (n, d)).astype(float)


def in_form(X, form):
    if form.startswith("sparse"):
        return Sparse.of(csr_array(X.astype(np.float32 if form == "sparse32" else np.float64)))
    return np.asfortranarray(X) if form == "fortran" else X.astype(form)


def scan(X, y, passes, start, intercept, rate, lifted, K):
    """The perceptron in plain NumPy, ties mistakes: its log, and f̂₁, …, f̂_{T+1}."""
    W, b, log, hand = start.copy(), np.array(intercept, float), [], []
    n = len(X)
    for t in range(int(passes * n)):
        i = t % n
        hand.append((W.copy(), b.copy()))
        if K == 2:
            wrong, rival = (2 * y[i] - 1) * (X[i] @ W + b) <= 0, 1 - y[i]
        else:
            s = W @ X[i] + b
            others = np.where(np.arange(K) == y[i], -np.inf, s)
            rival = int(others.argmax())
            wrong = s[y[i]] <= others[rival]
        if wrong:
            log.append((i, t, y[i], rival))
            W, b = moved(W, b, X[i], y[i], rival, rate, lifted, K)
    hand.append((W.copy(), b.copy()))
    rows, steps, own, rivals = np.array(log, np.int64).reshape(-1, 4).T.copy()
    return MistakeLog(rows, steps, own, rivals, int(passes * n)), hand


def moved(W, b, x, own, rival, rate, lifted, K):
    W, b = W.copy(), np.array(b, float)
    if K == 2:
        sign = 2 * own - 1
        return W + rate * sign * x, b + rate * sign * lifted
    W[own] += rate * x
    W[rival] -= rate * x
    b[own] += rate * lifted
    b[rival] -= rate * lifted
    return W, b


def naive(hand, X, K):
    """The vote by its definition: every classifier predicts every row."""
    if K == 2:
        return np.mean([np.where(X @ w + b > 0, 1, -1) for w, b in hand], axis=0)
    said = np.array([(X @ W.T + b).argmax(axis=1) for W, b in hand])
    return np.stack([(said == k).mean(axis=0) for k in range(K)], axis=1)


def a_start(K, d, seed):
    """Some weights to start from; zero for seed 0."""
    shape = (d,) if K == 2 else (K, d)
    if seed == 0:
        return np.zeros(shape), 0.0 if K == 2 else np.zeros(K)
    rng = np.random.default_rng(seed)
    return rng.integers(-4, 5, shape).astype(float), float(rng.integers(-3, 4)) if K == 2 else np.arange(K) % 3.0


def a_run(K=2, n=40, d=4, seed=0, passes=2.5, start=0, rate=1.0, lifted=True):
    X, y = whole_numbers(n, d, seed), np.random.default_rng(seed + 100).integers(0, K, n)
    begin = a_start(K, d, start)
    log, hand = scan(X, y, passes, *begin, rate, lifted, K)
    return X, y, log, hand, begin


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize(("lifted", "start"), [(False, 0), (True, 0), (True, 1), (False, 2)])
def test_the_vote_is_that_of_every_classifier(K, lifted, start):
    X, _, log, hand, begin = a_run(K, lifted=lifted, start=start)
    other = whole_numbers(33, X.shape[1], 7)
    expected = naive(hand, other, K)
    for form in FORMS:
        ballot = Ballot.of(log, in_form(X, form), *begin, 1.0, lifted, K)
        for tested in ("float64", "sparse"):
            np.testing.assert_array_equal(ballot.tally(in_form(other, tested)), expected, err_msg=f"{form}, {tested}")


@LAW
@given(st.integers(0, 10_000), st.sampled_from([2, 3]), st.booleans(), st.integers(0, 3), st.floats(0.1, 4.0))
def test_of_whole_numbers_the_vote_is_exact(seed, K, lifted, start, passes):
    rate = 2.0
    X, _, log, hand, begin = a_run(K, 12, 2, seed, passes, start, rate, lifted)
    ballot = Ballot.of(log, X, *begin, rate, lifted, K)
    np.testing.assert_array_equal(ballot.tally(X), naive(hand, X, K))
    assert ballot.votes.sum() == log.seen + 1 == len(hand)


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("tail", [1.0, 0.5, 0.1, 1e-9])
def test_a_tail_leaves_the_last_classifiers(K, tail):
    X, _, log, hand, begin = a_run(K)
    kept = hand[-max(1, int(tail * len(hand))) :]
    np.testing.assert_array_equal(Ballot.of(log, X, *begin, 1.0, True, K, tail).tally(X), naive(kept, X, K))


@pytest.mark.parametrize("K", [2, 4])
def test_a_learning_curve_comes_from_one_run(K):
    X, _, log, hand, begin = a_run(K)
    ends = [0, 4, 40, 100, 17, 1, int(log.steps[3]), int(log.steps[3]) + 1, 5000]
    curve = Ballot.of(log, X, *begin, 1.0, True, K).paths(X, ends)
    for end, tally in zip(ends, curve, strict=True):
        np.testing.assert_array_equal(tally, Ballot.of(log.until(end), X, *begin, 1.0, True, K).tally(X))
        np.testing.assert_array_equal(tally, naive(hand[: min(end, log.seen) + 1], X, K))


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("tail", [1.0, 0.4])
def test_the_errors_are_those_of_each_classifier(K, tail):
    X, y, log, hand, begin = a_run(K)
    ballot = Ballot.of(log, X, *begin, 1.0, True, K, tail)
    said = [(X @ W + b > 0).astype(int) if K == 2 else (X @ W.T + b).argmax(axis=1) for W, b in hand]
    each = np.mean(np.array(said) != y, axis=1)
    expected = each[np.append(0, log.steps + 1)]
    counted = ballot.votes > 0
    np.testing.assert_allclose(ballot.errors(X, y)[counted], expected[counted], rtol=0, atol=0)
    assert np.isnan(ballot.errors(X, y)[~counted]).all()
    assert np.average(ballot.errors(X, y)[counted], weights=ballot.votes[counted]) == pytest.approx(
        each[-max(1, int(tail * len(hand))) :].mean()
    )


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("form", ["float64", "float32", "sparse"])
def test_blocks_and_threads_change_nothing(K, form, monkeypatch):
    X, y, log, _, begin = a_run(K, n=101)
    ballot, rows = Ballot.of(log, in_form(X, form), *begin, 1.0, True, K), in_form(X, form)
    whole, errors = ballot.tally(rows), ballot.errors(rows, y)
    monkeypatch.setattr(voting, "SINGLE_THREAD_BELOW", 1)
    for size in (1, 8 * 7 * len(ballot.rows), 8 * 50 * len(ballot.rows)):  # one row a block; 7; 50, then one left over
        monkeypatch.setattr(voting, "BLOCK_BYTES", size)
        for threads in (1, 2):
            np.testing.assert_array_equal(ballot.tally(rows, threads), whole)
            np.testing.assert_array_equal(ballot.errors(rows, y, threads), errors)


def test_a_block_s_products_stay_small():
    X = np.ones((60_000, 3))
    everything = np.arange(60_000)
    log = MistakeLog(everything, everything, everything % 2, 1 - everything % 2, 60_000)
    ballot = Ballot.of(log, X, np.zeros(3), 0.0, 1.0, False, 2)
    assert ballot._block_rows(block_of(X), ballot.rows) * 60_000 * 8 <= voting.BLOCK_BYTES


@pytest.mark.parametrize("K", [2, 3])
def test_without_a_mistake_the_start_has_every_vote(K):
    start, intercept = a_start(K, 2, 3)
    none = np.empty(0, np.int64)
    log = MistakeLog(none, none, none, none, 5)
    X = whole_numbers(9, 2, 1)
    ballot = Ballot.of(log, X, start, intercept, 1.0, True, K)
    np.testing.assert_array_equal(ballot.tally(X), naive([(start, intercept)], X, K))


def test_the_first_and_the_last_classifier_vote():
    """Four steps, mistakes at the first and at the last: f̂₁ has one vote, f̂₂ = f̂₃ = f̂₄ three, f̂₅ one."""
    X, y = np.array([[1.0], [1.0], [1.0], [-3.0]]), np.array([1, 1, 1, 1])
    log, hand = scan(X, y, 1, np.zeros(1), 0.0, 1.0, False, 2)
    assert log.steps.tolist() == [0, 3]
    assert log.votes().tolist() == [1, 3, 1]
    ballot = Ballot.of(log, X, np.zeros(1), 0.0, 1.0, False, 2)
    assert ballot.tally(np.array([[1.0]])).tolist() == [(-1 + 3 - 1) / 5]
    two = Ballot.of(log.until(1), X, np.zeros(1), 0.0, 1.0, False, 2)
    here = np.array([[1.0]])
    assert two.tally(here).tolist() == [0.0]  # f̂₁ says −, f̂₂ says +: a tie, hence the first class
    assert naive(hand[1:2], here, 2).tolist() == [1.0]  # without f̂₁ it would be the second
    assert naive(hand[:1], here, 2).tolist() == [-1.0]  # without f̂₂ it would be no tie


def test_a_score_of_zero_is_a_vote_for_the_first_class():
    log = MistakeLog.empty()
    X = np.array([[1.0, 2.0]])
    assert Ballot.of(log, X, np.zeros(2), 0.0, 1.0, True, 2).tally(X).tolist() == [-1.0]
    assert Ballot.of(log, X, np.zeros((3, 2)), np.zeros(3), 1.0, True, 3).tally(X).tolist() == [[1.0, 0.0, 0.0]]


def test_a_rate_that_is_no_binary_fraction_leaves_ties_ties():
    """Added up as 0.1 + 0.1 + 0.1 − 0.3 the weights would miss zero by a rounding."""
    X = np.array([[1.0], [1.0], [1.0], [3.0]])
    one = np.array([1, 1, 1, 0])
    log = MistakeLog(np.arange(4), np.arange(4), one, 1 - one, 4)
    ballot = Ballot.of(log, X, np.zeros(1), 0.0, 0.1, False, 2, tail=0.2)
    assert ballot.votes.tolist() == [0, 0, 0, 0, 1]
    assert ballot.tally(np.array([[1.0], [-1.0]])).tolist() == [-1.0, -1.0]
