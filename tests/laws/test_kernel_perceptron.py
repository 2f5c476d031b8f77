"""Laws of the kernel perceptron: with the linear kernel it is the perceptron; with any other what the referee says."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rarely import examples
from referees.kernel import learn, passes_of
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import check_random_state

from separatrix import AveragedPerceptron, KernelPerceptron, Perceptron, VotedPerceptron, kernels
from separatrix.fitting.scan import kernel_budget, kernel_scan

pytestmark = pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
seeds = st.integers(0, 2**32 - 1)
orders = st.sampled_from(["cyclic", "random", "replacement"])
every_tie = st.sampled_from(["mistake", "positive", "negative"])
LOG = ("rows", "steps", "own", "rival")
FORMS = [np.asarray, csr_array, lambda X: X.astype(np.float32), np.asfortranarray]
KERNELS = {
    "polynomial": ({"kernel": "polynomial", "degree": 3, "gamma": 0.5}, lambda X, Z: (0.5 * X @ Z.T + 1) ** 3),
    "rbf": ({"kernel": "rbf", "gamma": 0.3}, lambda X, Z: rbf_kernel(X, Z, gamma=0.3)),
    "function": ({"kernel": lambda A, B: overlap(A, B)}, lambda X, Z: overlap(X, Z)),
}


def overlap(A, B):
    """Σⱼ min(aⱼ, bⱼ), of numbers that are positive when nine is added."""
    return np.minimum(A[:, None] + 9, B[None] + 9).sum(axis=2)


def drawn(seed, classes, n=40, d=3):
    """Small whole numbers, every class there."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, classes, n)
    k[:classes] = np.arange(classes)
    return rng.integers(-4, 5, (n, d)).astype(float), k


def seed_behind(random_state):
    return int(check_random_state(random_state).randint(2**31 - 1))


def same_log(log, other):
    for name in LOG:
        np.testing.assert_array_equal(getattr(log, name), getattr(other, name), err_msg=name)


@contextmanager
def blocks_of(rows, mistakes=5):
    """Every path through the blocks, on few rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_scan, "BLOCK", rows)
        patch.setattr(kernel_budget, "BLOCK", rows)
        patch.setattr(kernel_scan, "SEGMENT", mistakes)
        yield


# ------------------------------------------------------------------------------------- linear kernel = Perceptron


@examples(8, 80,
    seed=seeds, classes=st.integers(2, 5), order=orders, ties=every_tie, intercept=st.booleans(),
    form=st.sampled_from(FORMS), passes=st.sampled_from([0.4, 1, 2.5, 6]),
)  # fmt: skip
def test_with_the_linear_kernel_it_is_the_perceptron_to_the_bit(seed, classes, order, ties, intercept, form, passes):
    X, k = drawn(seed, classes)
    same = {
        "order": order, "ties": ties, "fit_intercept": intercept, "max_passes": passes, "random_state": seed % 1000,
    }  # fmt: skip
    rows = form(X)
    plain, mean, vote = (each(**same).fit(rows, k) for each in (Perceptron, AveragedPerceptron, VotedPerceptron))
    model = KernelPerceptron("linear", **same).fit(rows, k)
    same_log(model.log_, vote.log_)
    np.testing.assert_array_equal(model.mistakes_, plain.mistakes_)
    assert (model.n_steps_, model.n_passes_) == (plain.n_steps_, plain.n_passes_)
    W, b = model.expansion_.weights
    np.testing.assert_array_equal(W, plain.coef_)
    np.testing.assert_array_equal(b, plain.intercept_)
    np.testing.assert_array_equal((X[model.support_].T @ model.dual_coef_.T).T, plain.coef_)
    new = form(drawn(seed + 1, classes)[0])
    np.testing.assert_array_equal(model.decision_function(new), plain.decision_function(new))
    np.testing.assert_array_equal(model.decision_function(new, "voted"), vote.decision_function(new))
    np.testing.assert_allclose(
        model.decision_function(new, "averaged"), mean.decision_function(new), rtol=1e-12, atol=1e-12
    )
    assert model.verdict_.status == plain.verdict_.status
    assert model.verdict_.claim.value == plain.verdict_.claim.value


@given(seed=seeds, classes=st.integers(2, 4), order=orders, intercept=st.booleans())
@settings(max_examples=20)
def test_neither_does_a_linear_kernel_of_any_other_make_change_a_bit(seed, classes, order, intercept):
    X, k = drawn(seed, classes)
    same = {"order": order, "fit_intercept": intercept, "max_passes": 3, "random_state": seed % 1000}
    plain = Perceptron(**same).fit(X, k)
    for kernel, rows in (
        (kernels.Linear(), X),
        (lambda A, B: A @ B.T, X),
        (kernels.Pairwise(lambda a, b: float(a[0] @ b[0])), [(row,) for row in X]),
        ("precomputed", X @ X.T),
    ):
        with blocks_of(9):
            model = KernelPerceptron(kernel, **same).fit(rows, k)
        np.testing.assert_array_equal(model.mistakes_, plain.mistakes_)
        np.testing.assert_array_equal((X[model.support_].T @ model.dual_coef_.T).T, plain.coef_)


def test_rows_of_many_blocks_and_a_log_of_many_segments_are_the_perceptron_too():
    rng = np.random.default_rng(0)
    X, k = rng.integers(-4, 5, (1300, 4)).astype(float), rng.integers(0, 3, 1300)
    for order in ("cyclic", "random"):
        same = {"order": order, "max_passes": 8, "random_state": 3}
        plain = VotedPerceptron(**same).fit(X, k)
        for kernel, rows in (("linear", X), (lambda A, B: A @ B.T, X)):
            model = KernelPerceptron(kernel, **same).fit(rows, k)
            assert len(model.log_) > kernel_scan.SEGMENT
            same_log(model.log_, plain.log_)
            np.testing.assert_array_equal(model.decision_function(X[:50], "voted"), plain.decision_function(X[:50]))


# ------------------------------------------------------------------------------------------------------ the referee


@pytest.mark.parametrize("name", KERNELS)
@given(seed=seeds, classes=st.integers(2, 4), order=orders, ties=every_tie, intercept=st.booleans(),
       way=st.sampled_from(["joint", "one-vs-rest"]), block=st.sampled_from([(512, 4096), (7, 5), (1, 1)]))  # fmt: skip
@settings(max_examples=30)
def test_the_referee_agrees(name, seed, classes, order, ties, intercept, way, block):
    (X, k), Z = drawn(seed, classes), drawn(seed + 1, classes)[0]
    if name == "rbf":  # of whole numbers, distances are equal and rounding decides
        noise = np.random.default_rng(seed)
        X, Z = X + noise.random(X.shape), Z + noise.random(Z.shape)
    settings_, direct = KERNELS[name]
    orders_ = passes_of(order, len(X), 3.5, seed_behind(seed % 1000))
    run = learn(direct(X, X), k, classes, orders_, ties=ties, intercept=intercept, way=way,
                whole=order != "replacement")  # fmt: skip
    with blocks_of(*block):
        model = KernelPerceptron(
            **settings_, order=order, ties=ties, fit_intercept=intercept, multiclass=way, max_passes=3.5,
            random_state=seed % 1000,
        ).fit(X, k)  # fmt: skip
    for each in LOG:
        np.testing.assert_array_equal(getattr(model.log_, each), getattr(run, each), err_msg=each)
    assert model.mistakes_.tolist() == run.per_pass
    for reading in ("last", "averaged", "voted"):
        found = model.decision_function(Z, reading)
        np.testing.assert_allclose(found, run.scores(direct(X, Z), reading), rtol=1e-9, atol=1e-9, err_msg=reading)
    leads = run.scores(direct(X, X))
    said = (leads > 0).astype(int) if leads.ndim == 1 else leads.argmax(axis=1)
    assert model.verdict_.claim.value == pytest.approx((said != k).mean())


@pytest.mark.parametrize("patience", [1, 6, 20])
def test_patience_is_the_referees(patience):
    X, k = drawn(5, 2)
    direct = KERNELS["polynomial"][1]
    run = learn(direct(X, X), k, 2, passes_of("cyclic", 40, 50), patience=patience)
    model = KernelPerceptron(**KERNELS["polynomial"][0], max_passes=50, patience=patience).fit(X, k)
    assert model.n_steps_ == len(run.alphas) - 1
    assert model.log_.rows.tolist() == run.rows


@given(seed=seeds, classes=st.integers(2, 3), way=st.sampled_from(["joint", "one-vs-rest"]),
       budget=st.integers(1, 45), order=orders, block=st.sampled_from([512, 7]))  # fmt: skip
@settings(max_examples=30)
def test_removal_is_the_referees(seed, classes, way, budget, order, block):
    X, k = drawn(seed, classes)
    settings_, direct = KERNELS["polynomial"]
    behind = seed_behind(seed % 1000)
    run = learn(direct(X, X), k, classes, passes_of(order, 40, 3, behind), way=way, budget=budget,
                draws=np.random.default_rng([behind, 1]).integers, whole=order != "replacement")  # fmt: skip
    with blocks_of(block):
        model = KernelPerceptron(**settings_, multiclass=way, budget=budget, max_passes=3, order=order,
                                 random_state=seed % 1000).fit(X, k)  # fmt: skip
    assert model.log_.rows.tolist() == run.rows
    assert len(model.support_) <= budget
    A = np.zeros_like(run.alphas[-1])
    A[:, model.support_] = model.dual_coef_
    np.testing.assert_array_equal(A, run.alphas[-1])
    cost = model.budget_
    assert (cost.budget, cost.overflow, cost.times) == (budget, "remove", run.times)
    assert cost.lost == pytest.approx(np.sqrt(run.lost))
    assert cost.made == pytest.approx(np.sqrt(run.made))
    assert model.verdict_.check(X, k)


@examples(15, 30, seed=seeds, classes=st.integers(2, 3), way=st.sampled_from(["joint", "one-vs-rest"]),
       budget=st.integers(1, 30), block=st.sampled_from([512, 7]))  # fmt: skip
def test_projection_is_the_referees(seed, classes, way, budget, block):
    rng = np.random.default_rng(seed)
    X, k = rng.standard_normal((30, 3)), rng.integers(0, classes, 30)
    X[20:24], k[:classes] = X[:4], np.arange(classes)  # rows that come twice are combinations
    settings_, direct = KERNELS["rbf"]
    run = learn(direct(X, X), k, classes, passes_of("cyclic", 30, 2), way=way, budget=budget, overflow="project")
    with blocks_of(block):
        model = KernelPerceptron(**settings_, multiclass=way, budget=budget, overflow="project", max_passes=2).fit(X, k)
    assert model.log_.rows.tolist() == run.rows
    assert len(model.support_) <= budget
    Z = rng.standard_normal((10, 3))
    for reading in ("last", "averaged"):
        found = model.decision_function(Z, reading)
        np.testing.assert_allclose(found, run.scores(direct(X, Z), reading), rtol=1e-6, atol=1e-7, err_msg=reading)
    cost = model.budget_
    assert cost.times == run.times
    assert cost.lost == pytest.approx(np.sqrt(run.lost), rel=1e-6, abs=1e-6)
    assert cost.lost <= cost.made * (1 + 1e-9)
