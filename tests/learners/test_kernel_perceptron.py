"""KernelPerceptron: what it learns, every reading, budgets, verdicts, kernels, and what goes wrong."""

import json
import math
import pickle
import tracemalloc
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from referees.kernel import learn, passes_of
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from separatrix import BudgetWarning, Expansion, KernelPerceptron, Perceptron, kernels
from separatrix.data import Sparse
from separatrix.data.kernels import gram as kernel_gram
from separatrix.fitting.scan import kernel_scan
from separatrix.fitting.scan.run import Run

pytestmark = pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
READINGS = ("last", "averaged", "voted")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
Y = (np.square(X).sum(axis=1) > 2.5).astype(int)
THREE = np.digitize(np.square(X).sum(axis=1), [1.5, 3.5])
NOISE = RNG.integers(0, 2, 40)


def linear(A, B):
    """A kernel of the user's own."""
    return A @ B.T


def corners(d, values=(0, 1)):
    return np.array(np.meshgrid(*[values] * d)).reshape(d, -1).T.astype(float)


def dna(seed, motif, count=30):
    """Random strings with a motif somewhere."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        letters = "".join(rng.choice(list("acgt"), rng.integers(15, 30)))
        at = rng.integers(0, len(letters))
        made.append(letters[:at] + motif + letters[at:])
    return made


def cycle(n, shift=0):
    return {shift + i: [shift + (i - 1) % n, shift + (i + 1) % n] for i in range(n)}


def path(n, shift=0):
    return {shift + i: [shift + j for j in (i - 1, i + 1) if 0 <= j < n] for i in range(n)}


STRINGS = dna(1, "gattaca") + dna(2, "ccggcc")
FAMILIES = ["g"] * 30 + ["c"] * 30
GRAPHS = [cycle(n, 3 * n) for n in range(3, 12)] + [path(n, n) for n in range(3, 12)]
SHAPES = ["cycle"] * 9 + ["path"] * 9


# ------------------------------------------------------------------------------------------- what no plane can learn


@pytest.mark.parametrize("values", [(0, 1), (-1, 1)])
@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_parity_is_learnt_by_a_polynomial_of_as_many_bits(values, d):
    rows = corners(d, values)
    parity = (rows == 1).sum(axis=1) % 2
    model = KernelPerceptron("polynomial", degree=d, max_passes=20_000).fit(rows, parity)
    assert model.verdict_.status == "separated"
    assert model.verdict_.check(rows, parity)
    assert model.score(rows, parity) == 1
    found = model.bound()
    assert found.made == model.mistakes_.sum() <= found.bound
    assert Perceptron(max_passes=50).fit(rows, parity).verdict_.status == "budget"


@pytest.mark.parametrize("order", ["cyclic", "random", "replacement"])
@pytest.mark.parametrize("classes", [2, 3])
def test_mistakes_stay_below_the_bound(order, classes):
    rng = np.random.default_rng(1)
    few = np.repeat(rng.standard_normal((5, 2)), 20, axis=0)
    for labels in (rng.integers(0, classes, 100), np.append(np.arange(classes), np.ones(100 - classes, int))):
        for seed in range(5):
            model = KernelPerceptron("rbf", gamma=0.5, order=order, max_passes=2, random_state=seed).fit(few, labels)
            found = model.bound()
            assert found.made == len(model.log_) <= found.bound * (1 + 1e-9)
            assert pytest.approx(math.sqrt(2 * (1 if classes == 2 else 2))) == found.R


def test_the_bound_counts_rows_that_are_drawn_again():
    model = KernelPerceptron("rbf", order="replacement", max_passes=1, random_state=0).fit(X, NOISE)
    seen = np.bincount(np.concatenate(passes_of("replacement", 40, 1, model._passes.seed)), minlength=40)
    at = model._standing
    assert seen.max() > 1
    from separatrix.results.mistake_log import mistake_bound

    assert model.bound() == mistake_bound(at.leads / at.length, math.sqrt(at.longest), seen, 0.0, 1.0, len(model.log_))


def test_strings_of_two_families():
    model = KernelPerceptron(kernels.Spectrum(4), max_passes=200).fit(STRINGS, FAMILIES)
    assert model.verdict_.status == "separated"
    assert model.verdict_.check(STRINGS, FAMILIES)
    assert not model.verdict_.check(STRINGS, FAMILIES[::-1])
    assert model.score(dna(3, "gattaca") + dna(4, "ccggcc"), FAMILIES) > 0.9
    assert not hasattr(model, "n_features_in_")
    again = pickle.loads(pickle.dumps(model))
    for rows in (np.array(STRINGS), np.array(STRINGS, dtype=object), pd.Series(STRINGS), tuple(STRINGS)):
        assert again.predict(rows).tolist() == model.predict(STRINGS).tolist()
        assert clone(model).fit(rows, FAMILIES).log_.rows.tolist() == model.log_.rows.tolist()
    assert cross_val_score(model, STRINGS, FAMILIES, cv=3).mean() > 0.8
    grid = GridSearchCV(model, {"kernel": [kernels.Spectrum(k) for k in np.arange(2, 5)]}, cv=3).fit(STRINGS, FAMILIES)
    assert grid.best_score_ > 0.8


def test_cycles_and_paths():
    model = KernelPerceptron(kernels.WeisfeilerLehman(2, cosine=True), max_passes=500).fit(GRAPHS, SHAPES)
    assert model.verdict_.status == "separated"
    assert model.verdict_.check(GRAPHS, SHAPES)
    assert model.predict([cycle(20), path(6, 5), cycle(5, 77)]).tolist() == ["cycle", "path", "cycle"]
    labelled = [(graph, dict.fromkeys(graph, "C")) for graph in GRAPHS]
    assert KernelPerceptron(kernels.WeisfeilerLehman(1), max_passes=500).fit(labelled, SHAPES).verdict_.ok
    with pytest.raises(ValueError, match=r"a graph is a mapping.*it is not a list: \[1, 2\]"):
        model.predict([[1, 2]])
    with pytest.raises(ValueError, match="edge to 9, which is not one of its nodes"):
        model.predict([{0: [9]}])


def test_any_objects_at_all():
    sets = [frozenset(s) for s in ("ab", "abc", "bc", "xy", "xyz", "z")]
    common = kernels.Pairwise(lambda a, b: len(a & b))
    model = KernelPerceptron(common).fit(sets, [0, 0, 0, 1, 1, 1])
    assert model.verdict_.check(sets, [0, 0, 0, 1, 1, 1])
    assert model.predict([frozenset("bc"), frozenset("xy")]).tolist() == [0, 1]
    words = kernels.Counted(lambda text: Counter(text.split()))
    texts = ["a red rose", "a red car", "blue sky", "the blue sea"]
    assert KernelPerceptron(words).fit(texts, list("rrbb")).predict(["red", "blue"]).tolist() == ["r", "b"]
    sequences = [[1, 2, 1, 2], [2, 1, 2], [3, 4, 3], [4, 3, 4, 3, 4]]
    assert KernelPerceptron(kernels.Spectrum(2)).fit(sequences, [0, 0, 1, 1]).predict([[1, 2], [3, 4]]).tolist() == [
        0,
        1,
    ]
    images = list(RNG.standard_normal((6, 2, 2)))
    inner = kernels.Pairwise(lambda a, b: float((a * b).sum()))
    labels = [0, 1, 0, 1, 0, 1]
    flat = np.array(images).reshape(6, 4)
    np.testing.assert_allclose(
        KernelPerceptron(inner).fit(images, labels).decision_function(images),
        KernelPerceptron().fit(flat, labels).decision_function(flat),
    )


def test_after_a_table_objects_have_no_columns():
    model = KernelPerceptron(kernels.Pairwise(lambda a, b: float(np.dot(a, b))))
    model.fit(pd.DataFrame(X, columns=list("abc")), Y)
    assert model.n_features_in_ == 3
    model.set_params(kernel=kernels.Spectrum(2)).fit(STRINGS, FAMILIES)
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(model, "feature_names_in_")
    assert model.predict(STRINGS[:2]).tolist() == ["g", "g"]


# ---------------------------------------------------------------------------------------- every reading from one log


@pytest.mark.parametrize("multiclass", ["joint", "one-vs-rest"])
@pytest.mark.parametrize("labels", [Y, THREE, NOISE], ids=["two", "three", "noise"])
@pytest.mark.parametrize("order", ["cyclic", "random"])
def test_the_curve_is_what_shorter_fits_would_have_said(labels, multiclass, order):
    fixed = {"kernel": "rbf", "multiclass": multiclass, "order": order, "random_state": 1}
    model = KernelPerceptron(**fixed, max_passes=6).fit(X[:30], labels[:30])
    ends = [0.5, 1, 1.7, 3, 6, 2]
    points = model.curve(X, labels, ends)
    for end, point in zip(ends, points, strict=True):
        shorter = KernelPerceptron(**fixed, max_passes=end).fit(X[:30], labels[:30])
        assert point.mistakes == shorter.mistakes_.sum()
        assert point.support == len(shorter.support_)
        assert point.passes == min(end, model.n_passes_)
        for reading in READINGS:
            assert getattr(point, reading) == pytest.approx(1 - np.mean(shorter.predict(X, reading) == labels)), reading
    assert [p.passes for p in model.curve(X, labels)] == list(range(1, int(model.n_passes_) + 1))
    assert model.curve(X, labels, 3)[0] == points[3]
    assert model.curve(X, labels, [1000])[0].passes == model.n_passes_
    np.testing.assert_allclose([p.last for p in model.curve(X, labels[:, None], [1])], points[1].last)


def test_a_run_of_less_than_a_pass_has_an_empty_curve():
    assert KernelPerceptron("rbf", max_passes=0.4).fit(X, Y).curve(X, Y) == []
    assert KernelPerceptron("rbf", max_passes=0.4).fit(X, THREE).curve(X, THREE) == []


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial", linear])
@pytest.mark.parametrize("labels", [Y, THREE])
def test_a_prediction_by_another_reading_is_that_of_a_fit_with_it(kernel, labels):
    model = KernelPerceptron(kernel, max_passes=3).fit(X, labels)
    for reading in READINGS:
        other = KernelPerceptron(kernel, max_passes=3, reading=reading).fit(X, labels)
        np.testing.assert_array_equal(model.decision_function(X, reading), other.decision_function(X))
        np.testing.assert_array_equal(model.predict(X, reading), other.predict(X))
        if reading != "voted":
            assert isinstance(other.expansion_, Expansion)
            np.testing.assert_allclose(other.expansion_.score(X), other.decision_function(X))
            np.testing.assert_array_equal(other.dual_coef_, other.expansion_.coefficients)
            assert len(other.expansion_) == len(other.support_)
            assert "terms" in repr(other.expansion_)
        else:
            assert np.abs(other.decision_function(X)).max() <= 1


@pytest.mark.parametrize(
    "settings",
    [{}, {"multiclass": "one-vs-rest"}, {"order": "replacement"}, {"budget": 6}, {"budget": 6, "overflow": "project"}],
)
@pytest.mark.parametrize("labels", [Y, THREE])
def test_steps_are_the_fit(settings, labels):
    fixed = {"kernel": "rbf", "max_passes": 3, "random_state": 0, **settings}
    whole, stepped = KernelPerceptron(**fixed).fit(X, labels), KernelPerceptron(**fixed)
    updates = list(stepped.steps(X, labels))
    log = whole.log_
    assert [u.row for u in updates] == log.rows.tolist()
    assert [u.step for u in updates] == log.steps.tolist()
    assert [u.mistakes for u in updates] == list(range(1, len(log) + 1))
    assert [u.label for u in updates] == [None if k < 0 else k for k in log.own.tolist()]
    assert [u.rival for u in updates] == [None if k < 0 else k for k in log.rival.tolist()]
    assert stepped.dual_coef_.tobytes() == whole.dual_coef_.tobytes()
    assert stepped.mistakes_.tolist() == whole.mistakes_.tolist() == [each.mistakes for each in whole.history_]
    assert str(stepped.verdict_) == str(whole.verdict_)


# --------------------------------------------------------------------------------------------------- stopped by hand


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("budget", [None, 4])
def test_who_stops_reading_finds_the_attributes_set(kernel, budget):
    model = KernelPerceptron(kernel, budget=budget, random_state=0)
    run = model.steps(X, Y)
    last = [next(run) for _ in range(7)][-1]
    run.close()
    assert model.verdict_.status == "interrupted"
    assert model.verdict_.check(X, Y)
    assert len(model.log_) == 7 == model.mistakes_.sum()
    assert model.n_steps_ == last.step + 1
    assert model.predict(X).shape == (40,)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("where", ["add", "keep", "of", "run", "_settle"])
def test_control_c_at_any_place_leaves_a_model_that_is_one(monkeypatch, kernel, where):
    if where == "run":
        real = Run.__iter__

        def stopped(self):
            for number, _ in enumerate(real(self)):
                if number == 3:
                    raise KeyboardInterrupt
                yield

        monkeypatch.setattr(Run, "__iter__", stopped)
    else:
        from separatrix.fitting.scan.kernel_budget import BudgetScan

        scores = kernel_scan.PrimalScores if kernel == "linear" else kernel_scan.KeptScores
        owner = {"add": kernel_scan.GrowingLog, "_settle": BudgetScan}.get(where, scores)
        real, calls = getattr(owner, where), []

        def interrupted(self, *given):
            calls.append(given)
            if len(calls) == 5 and where != "add":
                raise KeyboardInterrupt
            found = real(self, *given)
            if len(calls) == 5:
                raise KeyboardInterrupt
            return found

        monkeypatch.setattr(owner, where, interrupted)
    monkeypatch.setattr(kernel_scan, "BLOCK", 9)
    model = KernelPerceptron(kernel, budget=4 if where == "_settle" else None, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, NOISE)
    assert model.verdict_.status == "interrupted"
    assert "Stopped by hand" in str(model.verdict_)
    assert model.verdict_.check(X, NOISE)
    assert (model.log_.steps < model.n_steps_).all()
    leads = np.where(NOISE == 1, 1, -1) * model.decision_function(X)
    np.testing.assert_allclose(model._standing.leads, leads, rtol=1e-9, atol=1e-9)
    assert model.mistakes_.sum() == len(model.log_)
    monkeypatch.undo()
    if where != "_settle":
        shorter = KernelPerceptron(kernel, max_passes=model.n_steps_ / 40).fit(X, NOISE)
        np.testing.assert_array_equal(shorter.log_.rows, model.log_.rows)
        np.testing.assert_array_equal(shorter.dual_coef_, model.dual_coef_)
        assert model.verdict_.claim.value == shorter.verdict_.claim.value
    assert model.predict(X).shape == (40,)


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    model = KernelPerceptron("rbf").fit(X, Y)
    before, names = model.decision_function(X), set(vars(model))
    for rows, labels in ((X[:, :2], np.zeros(40)), (np.full((40, 2), np.nan), Y), (X, Y[:-1]), (X * 1e200, Y)):
        with pytest.raises(ValueError, match=r"one class only|NaN|labels|overflow"):
            model.fit(rows, labels)
        np.testing.assert_array_equal(model.decision_function(X), before)
        assert set(vars(model)) == names
    model.set_params(kernel=linear).fit(X, Y)
    before = model.decision_function(X)

    def broken(A, B):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        model.set_params(kernel=broken).fit(X[:, :1], Y)
    np.testing.assert_array_equal(model.decision_function(X), before)


# ------------------------------------------------------------------------------------------------ the same, otherwise


@pytest.mark.parametrize("labels", [Y, THREE])
def test_a_kernel_by_name_is_the_same_given_as_a_function_or_as_numbers(labels):
    new = RNG.standard_normal((9, 3))

    def mine(A, B):
        return rbf_kernel(A, B, gamma=0.4)

    named = KernelPerceptron("rbf", gamma=0.4, max_passes=3).fit(X, labels)
    for kernel, rows, asked in (
        (kernels.RBF(0.4), X, new),
        (mine, X, new),
        ("precomputed", mine(X, X), mine(new, X)),
        (lambda A, B: csr_array(mine(A, B)), X, new),
        (lambda A, B: mine(A, B).tolist(), X, new),
        (lambda A, B: pd.DataFrame(mine(A, B)), X, new),
        (kernels.Pairwise(lambda a, b: math.exp(-0.4 * float(np.square(a - b).sum()))), X, new),
    ):
        model = KernelPerceptron(kernel, max_passes=3).fit(rows, labels)
        np.testing.assert_array_equal(model.log_.rows, named.log_.rows)
        for reading in READINGS:
            np.testing.assert_allclose(
                model.decision_function(asked, reading), named.decision_function(new, reading), rtol=1e-9, atol=1e-9
            )
        assert model.verdict_.check(rows, labels)


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "linear"])
def test_the_number_of_threads_changes_no_bit(monkeypatch, kernel):
    monkeypatch.setattr(kernel_gram, "THREADS_FROM", 0)
    monkeypatch.setattr(kernel_gram, "CHUNK", 16)
    one, two = (KernelPerceptron(kernel, max_passes=3, n_threads=t).fit(X, THREE) for t in (1, 2))
    np.testing.assert_array_equal(one.log_.rows, two.log_.rows)
    for reading in READINGS:
        assert one.decision_function(X, reading).tobytes() == two.decision_function(X, reading).tobytes()


def test_a_function_of_the_users_own_is_never_called_from_two_threads(monkeypatch):
    import threading

    monkeypatch.setattr(kernel_gram, "THREADS_FROM", 0)
    monkeypatch.setattr(kernel_gram, "CHUNK", 4)
    threads = set()

    def seen(A, B):
        threads.add(threading.get_ident())
        return A @ B.T

    KernelPerceptron(seen, max_passes=2, n_threads=4).fit(X, Y).predict(X)
    assert threads == {threading.get_ident()}


def test_frames_pickles_and_grids():
    iris = load_iris(as_frame=True)
    model = KernelPerceptron("rbf", reading="averaged").fit(iris.data, iris.target_names[iris.target])
    assert model.feature_names_in_.tolist() == list(iris.data.columns)
    assert model.score(iris.data, iris.target_names[iris.target]) > 0.9
    again = pickle.loads(pickle.dumps(model))
    for reading in READINGS:
        np.testing.assert_array_equal(again.predict(iris.data, reading), model.predict(iris.data, reading))
    assert again.verdict_.check(iris.data, iris.target_names[iris.target])
    with pytest.raises(ValueError, match=r"sepal length.*pass X\[list"):
        model.predict(iris.data[iris.data.columns[::-1]])
    rows, labels = iris.data.to_numpy(), iris.target.to_numpy()
    grid = GridSearchCV(KernelPerceptron("rbf", reading="averaged"), {"gamma": [0.01, 0.3]}, cv=3).fit(rows, labels)
    given = GridSearchCV(
        KernelPerceptron("precomputed", reading="averaged"), {"fit_intercept": [True, False]}, cv=3
    ).fit(rbf_kernel(rows, gamma=0.3), labels)
    assert min(grid.best_score_, given.best_score_) > 0.8
    json.dumps(model.verdict_.to_dict())


def test_a_pickle_of_given_numbers_does_not_carry_them():
    K = rbf_kernel(np.random.default_rng(0).standard_normal((300, 2)))
    labels = np.arange(300) // 150
    model = KernelPerceptron("precomputed", max_passes=2).fit(K, labels)
    packed = pickle.dumps(model)
    assert len(packed) < K.nbytes / 4
    np.testing.assert_array_equal(pickle.loads(packed).decision_function(K), model.decision_function(K))


@pytest.mark.parametrize("form", [csr_array, csr_matrix, np.asfortranarray, lambda X: X.astype(np.float32), list])
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", linear])
def test_rows_of_any_form_learn_the_same(form, kernel):
    whole = np.round(8 * X)
    settings = {"gamma": 0.01, "max_passes": 5}
    model = KernelPerceptron(kernel, **settings).fit(whole, Y)
    other = KernelPerceptron(kernel, **settings).fit(form(whole), Y)
    np.testing.assert_array_equal(model.log_.rows, other.log_.rows)
    for rows in (whole, form(whole)):
        np.testing.assert_allclose(other.decision_function(rows), model.decision_function(whole), rtol=1e-9, atol=1e-9)
    assert other.verdict_.check(form(whole), Y)
    assert other.verdict_.check(whole, Y)


def test_functions_are_given_double_precision_and_numbers_may_be_single():
    rng = np.random.default_rng(3)
    rows, kinds = rng.standard_normal((300, 50)).astype(np.float32), set()

    def mine(A, B):
        kinds.add((A.dtype, B.dtype))
        return np.exp(-0.01 * (np.square(A).sum(axis=1)[:, None] + np.square(B).sum(axis=1) - 2 * A @ B.T))

    labels = (rows[:, 0] > 0).astype(int)
    model = KernelPerceptron(mine, max_passes=300).fit(rows, labels)
    assert kinds == {(np.dtype(float), np.dtype(float))}
    assert model.verdict_.status == "separated"
    assert model.verdict_.check(rows, labels)
    K = mine(rows, rows)
    K = (K * (1 + 1e-7 * rng.standard_normal(K.shape))).astype(np.float32)
    assert (K != K.T).any()
    given = KernelPerceptron("precomputed", max_passes=300).fit(K, labels)
    assert given.verdict_.status == "separated"
    assert given.verdict_.check(K, labels)


# ---------------------------------------------------------------------------------------------------------- kernels


def test_kernels_are_their_formulas_on_all_forms():
    A, B = RNG.standard_normal((7, 4)), RNG.standard_normal((5, 4))
    A[RNG.random(A.shape) < 0.5] = 0
    for kernel, formula in (
        (kernels.Linear(), A @ B.T),
        (kernels.Polynomial(), (A @ B.T + 1) ** 2),
        (kernels.Polynomial(5, gamma=0.5, constant=0.25), (0.5 * A @ B.T + 0.25) ** 5),
        (kernels.Polynomial(1, gamma=2.0, constant=0.0), 2 * A @ B.T),
        (kernels.Polynomial(6), (A @ B.T + 1) ** 6),
        (kernels.RBF(0.7), np.exp(-0.7 * cdist(A, B, "sqeuclidean"))),
        (kernels.RBF(0.7, center=A[0]), np.exp(-0.7 * cdist(A, B, "sqeuclidean"))),
    ):
        for left in (A, csr_array(A), csr_matrix(A), Sparse.of(csr_array(A)), A.tolist()):
            for right in (B, csr_array(B), Sparse.of(csr_array(B))):
                np.testing.assert_allclose(kernel(left, right), formula, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(kernel(A.astype(np.float32), B), formula, rtol=1e-4, atol=1e-4)
        same = pickle.loads(pickle.dumps(kernel))
        assert same == kernel
        np.testing.assert_array_equal(same(A, B), kernel(A, B))


@pytest.mark.parametrize("offset", [1e6, -3e7])
def test_distances_far_from_zero_are_as_good_as_near(offset):
    near = RNG.standard_normal((30, 3)) * np.array([1.0, 1.0, 0.5])
    far = near + offset
    exact = np.exp(-0.5 * cdist(far, far, "sqeuclidean"))
    np.testing.assert_allclose(kernels.RBF(0.5)(far, far), exact, rtol=1e-9)
    model = KernelPerceptron("rbf", gamma=0.5, max_passes=500).fit(far, Y[:30])
    assert model.verdict_.check(far, Y[:30])
    split = near + offset * (np.arange(30) % 2)[:, None]  # two heaps far apart: no one centre is near to both
    np.testing.assert_allclose(kernels.RBF(0.5, split.mean(axis=0))(split, split),
                               np.exp(-0.5 * cdist(split, split, "sqeuclidean")), rtol=1e-9, atol=1e-300)  # fmt: skip
    model = KernelPerceptron("rbf", gamma=0.5, max_passes=500).fit(split, Y[:30])
    assert model.verdict_.status == "separated"
    assert model.verdict_.check(split, Y[:30])


def test_the_gamma_that_is_left_to_us():
    for rows in (X, csr_array(X), X.astype(np.float32)):
        kernel = KernelPerceptron("rbf").fit(rows, Y).verdict_.claim.kernel
        assert kernel.gamma == pytest.approx(1 / (3 * X.var()), rel=1e-5)
    constant = KernelPerceptron("rbf").fit(np.ones((4, 2)), [0, 1, 0, 1])
    assert constant.verdict_.claim.kernel.gamma == 1
    assert KernelPerceptron("polynomial").fit(X, Y).verdict_.claim.kernel == kernels.Polynomial(2, 1.0, 1.0)


def test_kernels_of_counts():
    one, other = Counter("banana"), Counter("bandana")
    assert kernels.Counted(Counter)(["banana"], ["bandana"]).item() == sum(one[c] * other[c] for c in "abnd")
    K = kernels.Spectrum(2, cosine=True)(STRINGS, STRINGS)
    np.testing.assert_allclose(np.diagonal(K), 1)
    assert np.linalg.eigvalsh(K)[0] > -1e-10
    assert kernels.Spectrum(3)(["ab"], ["abc", ""]).tolist() == [[0, 0]]
    assert kernels.Spectrum(3, cosine=True)(["ab"], ["abc"]).tolist() == [[0]]
    assert kernels.Spectrum(np.int64(2))([b"abab"], [b"ab"]).item() == 2
    sizes = {"a": {"u": 1e10}, "b": {"u": 1e-3, "v": 2e-3}}
    lengths = kernels.Counted(sizes.get, cosine=True)(["a", "b"], ["a", "b"])
    np.testing.assert_allclose(np.diagonal(lengths), 1, err_msg="a long object spoils no short one")
    for wrong in (0, -1, 1.5, "3"):
        with pytest.raises(ValueError, match="length is"):
            kernels.Spectrum(wrong)
    with pytest.raises(ValueError, match="rounds is -1"):
        kernels.WeisfeilerLehman(-1)
    graph = cycle(5)
    renamed = {f"n{i}": [f"n{j}" for j in graph[i]] for i in reversed(list(graph))}
    wl = kernels.WeisfeilerLehman(3)
    assert wl([graph], [graph, renamed, path(5)]).tolist()[0][:2] == [100, 100]
    assert wl([graph], [path(5)]).item() < 100
    assert pickle.loads(pickle.dumps(wl))([graph], [renamed]).item() == 100
    shown = ("WeisfeilerLehman(rounds=3, cosine=False)", "Spectrum(length=4, cosine=False)")
    assert (repr(wl), repr(kernels.Spectrum(4))) == shown


# ---------------------------------------------------------------------------------------------------------- budgets


@pytest.mark.parametrize("labels", [Y, THREE, NOISE])
@pytest.mark.parametrize("multiclass", ["joint", "one-vs-rest"])
def test_a_budget_that_is_never_full_changes_nothing(labels, multiclass):
    fixed = {"kernel": "rbf", "multiclass": multiclass, "max_passes": 5}
    free = KernelPerceptron(**fixed).fit(X, labels)
    for budget in (len(free.support_), 40, 10**12):
        removed = KernelPerceptron(**fixed, budget=budget, random_state=0).fit(X, labels)
        np.testing.assert_array_equal(removed.dual_coef_, free.dual_coef_)
        np.testing.assert_array_equal(removed.support_, free.support_)
        np.testing.assert_array_equal(removed.decision_function(X), free.decision_function(X))
        projected = KernelPerceptron(**fixed, budget=budget, overflow="project").fit(X, labels)
        for reading in ("last", "averaged"):
            np.testing.assert_allclose(
                projected.decision_function(X, reading), free.decision_function(X, reading), rtol=1e-9, atol=1e-9
            )
        assert (removed.budget_.times, removed.budget_.lost, projected.budget_.times) == (0, 0, 0)
        assert "budget of" not in str(removed.verdict_)
        made = np.sqrt(2 * (1 + (multiclass == "joint" and len(set(labels)) > 2)) * len(free.log_))
        assert removed.budget_.made == pytest.approx(made) or multiclass == "one-vs-rest"


@pytest.mark.parametrize("overflow", ["remove", "project"])
@pytest.mark.parametrize("labels", [Y, THREE])
def test_what_a_budget_costs(overflow, labels):
    costs = []
    for budget in (1, 5, 15, 40):
        model = KernelPerceptron("rbf", budget=budget, overflow=overflow, max_passes=4, random_state=1).fit(X, labels)
        cost = model.budget_
        assert len(model.support_) == len(model.expansion_) <= budget
        assert (cost.budget, cost.overflow) == (budget, overflow)
        assert model.verdict_.check(X, labels)
        if overflow == "project":
            assert 0 <= cost.lost <= cost.made * (1 + 1e-12)
        if cost.times:
            assert f"The budget of {budget} rows was full: {cost.times}" in str(model.verdict_)
        costs.append(cost.lost)
    assert costs[-1] == 0 < costs[1]
    assert model.curve is not None
    with pytest.raises(ValueError, match="With a budget only the last state is kept"):
        model.curve(X, labels)
    with pytest.raises(ValueError, match="bound holds for a perceptron without a budget"):
        model.bound()


def test_rows_that_come_twice_take_no_place_under_projection():
    rows, labels = np.repeat(X[:6], 5, axis=0), np.repeat([0, 1, 0, 1, 0, 1], 5)
    model = KernelPerceptron("rbf", budget=6, overflow="project", max_passes=10).fit(rows, labels)
    assert len(np.unique(rows[model.support_], axis=0)) == len(model.support_) <= 6
    assert model.budget_.times == 0
    free = KernelPerceptron("rbf", max_passes=10).fit(rows, labels)
    np.testing.assert_allclose(model.decision_function(X), free.decision_function(X), rtol=1e-8, atol=1e-8)


def test_projection_on_a_plane_needs_as_many_rows_as_it_has_dimensions():
    free = KernelPerceptron(max_passes=3).fit(X, NOISE)
    model = KernelPerceptron(max_passes=3, budget=10, overflow="project").fit(X, NOISE)
    assert len(model.support_) == 4
    assert model.budget_.times == 0
    np.testing.assert_allclose(model.decision_function(X), free.decision_function(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("overflow", ["remove", "project"])
def test_rows_of_zeros_weigh_nothing(overflow):
    rows = np.vstack([np.zeros((3, 2)), [[1.0, 0], [-1, 0]]])
    model = KernelPerceptron(fit_intercept=False, budget=2, overflow=overflow, max_passes=3, random_state=0)
    model.fit(rows, [1, 1, 0, 1, 0])
    assert model.decision_function(rows[:3]).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="point nowhere"):
        KernelPerceptron(fit_intercept=False, max_passes=2).fit(rows[:3], [1, 0, 1]).bound()


@pytest.mark.parametrize(("reading", "overflow"), [("voted", "remove"), ("voted", "project"), ("averaged", "remove")])
def test_readings_that_a_budget_cannot_give_are_refused(reading, overflow):
    with pytest.raises(ValueError, match=f"reading='{reading}' does not go with budget=3 and overflow='{overflow}'"):
        KernelPerceptron("rbf", reading=reading, budget=3, overflow=overflow).fit(X, Y)
    model = KernelPerceptron("rbf", budget=3, overflow=overflow, random_state=0).fit(X, Y)
    for other in ({}, {"budget": None}, {"overflow": "project"}):  # it is the fit that counts, not what was set since
        with pytest.raises(ValueError, match="reading='last' does"):
            model.set_params(**other).predict(X, reading)
    free = KernelPerceptron("rbf").fit(X, Y)
    before = free.predict(X, reading)
    np.testing.assert_array_equal(free.set_params(budget=3).predict(X, reading), before)


# ----------------------------------------------------------------------------------------------------------- audits


SHARP = {"kernel": "rbf", "gamma": 2.0, "max_passes": 200}
AUDITED = {
    "table": (KernelPerceptron(**SHARP), X, Y),
    "classes": (KernelPerceptron(**SHARP), X, THREE),
    "one-vs-rest": (KernelPerceptron(**SHARP, multiclass="one-vs-rest"), X, THREE),
    "polynomial": (KernelPerceptron("polynomial", max_passes=500), X, Y),
    "flat": (KernelPerceptron(**SHARP, fit_intercept=False), X, Y),
    "sparse": (KernelPerceptron(**SHARP), csr_array(X), Y),
    "numbers": (KernelPerceptron("precomputed", max_passes=200), rbf_kernel(X, gamma=2.0), Y),
    "function": (KernelPerceptron(lambda A, B: (A @ B.T + 1) ** 2, max_passes=500), X, Y),
    "strings": (KernelPerceptron(kernels.Spectrum(4), max_passes=200), STRINGS, np.array(FAMILIES)),
    "budget": (KernelPerceptron(**SHARP, budget=38, random_state=0), X, Y),
}


@pytest.mark.parametrize("name", AUDITED)
def test_what_is_forged_is_refused(name):
    model, rows, labels = AUDITED[name]
    verdict = model.fit(rows, labels).verdict_
    assert verdict.status == "separated", name
    assert verdict.check(rows, labels)
    claim, proof = verdict.claim, verdict.certificate
    other = claim.coefficients.copy()
    other[..., 0] *= -3
    elsewhere = claim.support.copy()
    elsewhere[0] = next(i for i in range(claim.rows) if i not in set(claim.support.tolist()))
    for what, forged in {
        "coefficients": replace(verdict, claim=replace(claim, coefficients=other)),
        "NaN": replace(verdict, claim=replace(claim, coefficients=other * np.nan)),
        "fewer": replace(verdict, claim=replace(claim, coefficients=claim.coefficients[..., 1:])),
        "support": replace(verdict, claim=replace(claim, support=elsewhere)),
        "support twice": replace(verdict, claim=replace(claim, support=claim.support * 0)),
        "support far": replace(verdict, claim=replace(claim, support=claim.support + claim.rows)),
        "value": replace(verdict, claim=replace(claim, value=0.2)),
        "classes": replace(verdict, claim=replace(claim, classes=claim.classes[::-1])),
        "other classes": replace(verdict, claim=replace(claim, classes=(*claim.classes[:-1], "none"))),
        "rows": replace(verdict, claim=replace(claim, rows=claim.rows - 1)),
        "intercept": replace(verdict, claim=replace(claim, fit_intercept=not claim.fit_intercept)),
        "objective": replace(verdict, claim=replace(claim, objective="likelihood")),
        "margin": replace(verdict, certificate=replace(proof, margin=proof.margin * 1.001)),
        "length": replace(verdict, certificate=replace(proof, length=proof.length * 1.001)),
        "no proof": replace(verdict, certificate=None),
        "status": replace(verdict, status="optimal"),
        "budget": replace(verdict, status="budget"),
        "not-separable": replace(verdict, status="not-separable", certificate=None),
    }.items():
        if what != "intercept" or np.any(claim.coefficients.sum(axis=-1)):  # else there is none, either way
            assert not forged.check(rows, labels), what
    swapped = labels.copy()
    swapped[0] = labels[labels != labels[0]][0]
    assert not verdict.check(rows, swapped)
    assert not verdict.check(rows, labels[:-1])
    assert not verdict.check(rows[:-1], labels[:-1])
    assert not verdict.check(rows, labels, np.ones(len(labels)))
    assert not verdict.check(rows, ["nobody"] * len(labels))
    if name == "numbers":
        assert not verdict.check(rows[:, :3], labels)
        assert not verdict.check(rows[:, ::-1], labels)
    elif name != "strings":
        assert not verdict.check(rows[::-1], labels)
        assert not verdict.check(rows * np.nan, labels)


def test_a_budget_verdict_holds_and_says_what_to_do():
    with pytest.warns(BudgetWarning) as caught:
        model = KernelPerceptron("linear", max_passes=5).fit(X, NOISE)
    assert caught[0].filename == __file__
    assert model.verdict_.status == "budget"
    assert model.verdict_.check(X, NOISE)
    assert model.verdict_.claim.value == pytest.approx(1 - model.score(X, NOISE))
    for words in ("The last weights err on", "More passes may help", "the best so far was pass"):
        assert words in str(model.verdict_)
    assert not replace(model.verdict_, claim=replace(model.verdict_.claim, value=0.0)).check(X, NOISE)
    kept = KernelPerceptron("rbf", max_passes=5, budget=2, random_state=0).fit(X, NOISE)
    assert "a larger budget may help" in str(kept.verdict_)
    vote = KernelPerceptron("linear", max_passes=5, reading="voted").fit(X, NOISE)
    assert "Nothing is proved of the voted reading" in str(vote.verdict_)
    patient = KernelPerceptron("linear", max_passes=5, patience=3).fit(X, NOISE)
    assert "had not changed for 3 steps" in str(patient.verdict_)
    tied = KernelPerceptron(fit_intercept=False, max_passes=50, ties="negative")
    tied.fit(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), [1, -1, -1])
    assert "ties='negative'" in str(tied.verdict_)


@pytest.mark.parametrize("gap", [1e-16, 3e-16, 1e-15, 4e-15, 2e-14, 1e-13, 1e-12])
@pytest.mark.parametrize("kernel", ["linear", linear, "polynomial"])
def test_a_separation_by_a_hair_is_claimed_only_where_the_check_finds_it(kernel, gap):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = np.vstack([rng.integers(-3, 4, (3, 2))] * 2).astype(float)
        rows[3:] += gap * rng.integers(1, 9, (3, 2))
        model = KernelPerceptron(kernel, degree=3, max_passes=50).fit(rows, [0, 1, 0, 1, 0, 1])
        assert model.verdict_.check(rows, [0, 1, 0, 1, 0, 1]), (seed, str(model.verdict_))


def test_a_kind_of_the_users_own_is_asked_not_taken_for_ours():
    class Mine:
        kind = "matern"

        def __call__(self, A, B):
            return (A @ B.T + 1) ** 2

    model = KernelPerceptron(Mine(), max_passes=500).fit(X, Y)
    assert model.verdict_.check(X, Y)
    assert KernelPerceptron(kernels.Polynomial(2), max_passes=500).fit(X, Y).verdict_.check(csr_array(X), Y)


# ------------------------------------------------------------------------------------------------------ scikit-learn


@pytest.mark.parametrize(
    "learner",
    [
        KernelPerceptron(),
        KernelPerceptron("polynomial", reading="voted"),
        KernelPerceptron("precomputed"),
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in (
                KernelPerceptron("rbf"),
                KernelPerceptron("rbf", budget=10, overflow="project", reading="averaged"),
                KernelPerceptron("rbf", budget=150, random_state=0),
                KernelPerceptron("rbf", multiclass="one-vs-rest"),
            )
        ),
    ],
    ids=lambda each: f"{each.kernel}-{each.reading}-{each.budget}-{each.multiclass}",
)
def test_scikit_learn_accepts_it(learner):
    results = check_estimator(clone(learner), on_skip=None, on_fail=None)
    # this one gives a precomputed kernel a matrix that is not symmetric
    expected = ["check_positive_only_tag_during_fit"] if learner.kernel == "precomputed" else []
    failed = [(each["check_name"], str(each["exception"])) for each in results if each["status"] == "failed"]
    assert [name for name, _ in failed] == expected, failed
    assert sum(each["status"] == "passed" for each in results) > 35


# -------------------------------------------------------------------------------------------------------- bad input


def fitting(kernel="linear", rows=X, labels=Y, **settings):
    return lambda: KernelPerceptron(kernel, **settings).fit(rows, labels)


def spoilt(i, j, value, table=None):
    made = (X if table is None else table).copy()
    made[i, j] = value
    return made


GRAM = X @ X.T
MODEL = KernelPerceptron("rbf", reading="averaged").fit(X, Y)
GIVEN = KernelPerceptron("precomputed", reading="averaged").fit(GRAM, Y)
CASES = {
    # the kernel
    "not symmetric": (
        fitting(lambda A, B: A @ B.T + A[:, :1]),
        ("The kernel is not symmetric", "of rows 0 and", "and of 20 and 0"),
    ),
    "not symmetric on itself": (
        fitting(lambda A, B: A @ B.T + (len(A) == len(B) == 40) * np.triu(np.ones((len(A), len(B))))),
        ("not symmetric: of rows 0 and 1 it is", "An inner product is symmetric", "(K + Kᵀ)/2"),
    ),
    "a vector": (
        fitting(lambda A, B: np.ones(len(A))),
        ("shape (40,) for 40 and 40", "(40, 40) is needed", "Pairwise"),
    ),
    "one number": (fitting(lambda A, B: 1.0), ("shape ()", "(40, 40) is needed", "Pairwise(function)")),
    "turned round": (
        lambda: KernelPerceptron(lambda A, B: B @ A.T).fit(X, Y).predict(X[:3]),
        ("shape", "a row for each of the first"),
    ),
    "complex": (fitting(lambda A, B: A @ B.T + 0j), ("returned ndarray of complex128", "matrix of real numbers")),
    "objects": (fitting(lambda A, B: (A @ B.T).astype(object)), ("returned ndarray of object", "real numbers")),
    "nothing": (fitting(lambda A, B: None), ("returned a NoneType", "k(A, B)")),
    "ragged": (fitting(lambda A, B: [[1.0], [1.0, 2.0]]), ("returned a list", "matrix of real numbers")),
    "words": (fitting(lambda A, B: [["a"] * len(B)] * len(A)), ("returned a list", "real numbers")),
    "NaN": (fitting(lambda A, B: np.where(A[:, :1] > 1, np.nan, A @ B.T)), ("The kernel of rows", "is nan", "finite")),
    "infinity": (fitting(lambda A, B: A @ B.T + np.inf), ("rows 0 and 0 is inf", "must be finite")),
    "negative with itself": (
        fitting(lambda A, B: A @ B.T - 9.0),
        ("The kernel of row", "with itself is -", "never negative", "no kernel"),
    ),
    "an unknown name": (
        fitting("gauss"),
        ("kernel is 'gauss'", "'linear', 'polynomial', 'rbf', 'precomputed'", "k(A, B)"),
    ),
    "no kernel": (fitting(None), ("kernel is None", "or a function k(A, B)")),
    "a matrix": (fitting(GRAM), ("kernel is an array of shape (40, 40)", "'precomputed'", "given as X")),
    "a degree of zero": (fitting("polynomial", degree=0), ("degree is 0", "whole number, one or more")),
    "half a degree": (fitting("polynomial", degree=1.5), ("degree is 1.5", "whole number")),
    "a negative constant": (fitting("polynomial", constant=-1), ("constant is -1", "at least 0")),
    "a gamma of zero": (fitting("rbf", gamma=0), ("gamma is 0", "above 0")),
    "a gamma in words": (fitting("rbf", gamma="scale"), ("gamma is 'scale'", "finite number")),
    "overflow": (
        fitting("polynomial", 1e40 * X, degree=9),
        ("'polynomial' is not finite", "overflow", "smaller gamma or degree"),
    ),
    "overflow of the linear": (fitting("linear", 1e200 * X), ("'linear' is not finite", "larger units")),
    "overflow of gamma": (fitting("rbf", 1e200 * X), ("'rbf' is not finite", "larger units")),
    "overflow in a budget": (fitting("polynomial", 1e40 * X, degree=9, budget=3, random_state=0), ("overflow",)),
    "overflow in a projection": (
        fitting("polynomial", 1e40 * X, degree=9, budget=3, overflow="project"),
        ("overflow", "smaller gamma or degree"),
    ),
    "overflow at predict": (
        lambda: KernelPerceptron("polynomial", degree=9, max_passes=2).fit(X, Y).predict(1e40 * X),
        ("not finite", "overflow"),
    ),
    "overflow in a curve": (
        lambda: KernelPerceptron("polynomial", degree=9, max_passes=2).fit(X, Y).curve(1e40 * X, Y),
        ("overflow",),
    ),
    "overflow of a function": (
        fitting(kernels.Pairwise(lambda a, b: math.exp(1e4))),
        ("Pairwise", "not finite", "Scale it down"),
    ),
    # a precomputed matrix
    "an unsymmetric matrix": (
        fitting("precomputed", spoilt(3, 4, 7.5, GRAM)),
        ("X is not symmetric", "X[3, 4] is 7.5", "X[4, 3]", "to predict, give k(new"),
    ),
    "a matrix that is not square": (fitting("precomputed", GRAM[:, :9]), ("shape (40, 9)", "square matrix k(xᵢ, xⱼ)")),
    "a matrix of other rows": (
        lambda: GIVEN.predict(GRAM[:, :9]),
        ("X has 9 columns", "each of the 40 training rows"),
    ),
    "a matrix turned round": (
        lambda: GIVEN.predict(GRAM[:, :9].T[:, :9]),
        ("X has 9 columns", "k(new row, training row)"),
    ),
    "a matrix for other labels": (fitting("precomputed", GRAM, Y[:-1]), ("40 rows and y 39 labels",)),
    "NaN in the matrix": (fitting("precomputed", spoilt(3, 4, np.nan, GRAM)), ("NaN", "X[3, 'x4']")),
    "NaN in a new matrix": (lambda: GIVEN.predict(spoilt(3, 4, np.nan, GRAM)), ("NaN", "X[3, 'x4']")),
    "NaN in a matrix of other rows": (lambda: GIVEN.predict(np.full((3, 5), np.nan)), ("NaN",)),
    "a negative diagonal": (fitting("precomputed", GRAM - 9 * np.eye(40)), ("with itself is -", "never negative")),
    # the budget
    "a budget of zero": (fitting(budget=0), ("budget is 0", "one or more", "None for no limit")),
    "a negative budget": (fitting(budget=-3), ("budget is -3", "one or more")),
    "half a budget": (fitting(budget=2.5), ("budget is 2.5", "whole number of rows")),
    "a budget of True": (fitting(budget=True), ("budget is True",)),
    "an unknown overflow": (fitting(budget=3, overflow="merge"), ("overflow is 'merge'", "'remove', 'project'")),
    # X and y
    "a bare string": (fitting(kernels.Spectrum(2), "gattaca"), ("X is a str", "a list of rows, or of the objects")),
    "a bare string of numbers": (fitting("linear", "gattaca"), ("X is a str", "a list of rows")),
    "a graph": (fitting(kernels.WeisfeilerLehman(), cycle(5)), ("X is a dict", "a list of rows, or of the objects")),
    "a generator": (fitting(kernels.Spectrum(2), (s for s in STRINGS)), ("X is a generator",)),
    "strings and a kernel of numbers": (
        fitting("rbf", STRINGS, FAMILIES),
        ("X[0] is a str", "kernel='rbf' compares rows of numbers", "Spectrum"),
    ),
    "an array of strings": (fitting("rbf", np.array(STRINGS), FAMILIES), ("X[0] is a str_", "Spectrum")),
    "no objects": (fitting(kernels.Spectrum(2), [], []), ("0 sample(s)", "X is empty")),
    "no rows": (fitting("rbf", X[:0], []), ("0 sample(s)",)),
    "no objects at predict": (
        lambda: KernelPerceptron(kernels.Spectrum(2)).fit(STRINGS, FAMILIES).predict([]),
        ("X is empty",),
    ),
    "one class": (fitting("rbf", X, np.ones(40)), ("y has one class only", "two classes or more")),
    "no labels": (fitting("rbf", X, None), ("requires y to be passed", "a label for each row")),
    "probabilities": (fitting("rbf", X, np.linspace(0.1, 0.9, 40)), ("probabilities", "LogisticRegression")),
    "fewer labels": (fitting(kernels.Spectrum(2), STRINGS, FAMILIES[:-1]), ("60 rows and y 59 labels",)),
    "NaN in X": (fitting("rbf", spoilt(5, 1, np.nan)), ("NaN", "X[5, 'x1']", "impute")),
    "NaN for a function": (fitting(linear, spoilt(5, 1, np.nan)), ("NaN", "X[5, 'x1']")),
    "infinity in sparse rows": (
        fitting("rbf", csr_array(spoilt(5, 1, np.inf))),
        ("X[5, 'x1'] is inf", "clip"),
    ),
    "NaN at predict": (lambda: MODEL.predict(spoilt(5, 1, np.nan)), ("NaN", "X[5, 'x1']")),
    "other columns": (lambda: MODEL.predict(X[:, :2]), ("X has 2 features", "expecting 3")),
    # the rest
    "no passes": (fitting(max_passes=0), ("max_passes is 0", "above 0")),
    "endless passes": (fitting(max_passes=np.inf), ("max_passes is inf",)),
    "no threads": (fitting(n_threads=0), ("n_threads is 0", "at least 1")),
    "threads in words": (fitting(n_threads="two"), ("n_threads is 'two'", "finite number")),
    "half a thread": (fitting(n_threads=1.5), ("n_threads is 1.5", "whole number")),
    "an unknown reading": (fitting(reading="best"), ("reading is 'best'", "'last', 'averaged', 'voted'")),
    "an unknown reading at predict": (lambda: MODEL.predict(X, "best"), ("reading is 'best'",)),
    "an unknown multiclass": (fitting(multiclass="pairs"), ("multiclass is 'pairs'", "'joint', 'one-vs-rest'")),
    "an unknown order": (fitting(order="sorted"), ("order is 'sorted'", "'cyclic', 'random', 'replacement'")),
    "unknown ties": (fitting(ties="both"), ("ties is 'both'",)),
    "patience": (fitting(patience=0), ("patience is 0",)),
    "an intercept in words": (fitting(fit_intercept="yes"), ("fit_intercept is 'yes'", "True or False")),
    "a random state": (fitting(order="random", random_state="x"), ("random_state is 'x'",)),
    "negative passes": (lambda: MODEL.curve(X, Y, [1, -1]), ("passes is [1, -1]", "zero or more")),
    "passes of NaN": (lambda: MODEL.curve(X, Y, [np.nan]), ("passes[0] is nan", "finite")),
    "a curve of fewer labels": (lambda: MODEL.curve(X, Y[:-1]), ("40 rows and y 39 labels",)),
}


@pytest.mark.filterwarnings("ignore:The kernel is no inner product")
@pytest.mark.parametrize(("call", "words"), CASES.values(), ids=CASES)
def test_bad_input_is_named_with_a_way_out(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    message = str(caught.value)
    for each in words:
        assert each in message, message


def test_sparse_numbers_of_a_kernel_are_refused():
    with pytest.raises(TypeError, match=r"X is sparse.*X\.toarray\(\)"):
        KernelPerceptron("precomputed").fit(csr_array(GRAM), Y)


def test_numbers_that_are_not_finite_between_two_blocks_are_named(monkeypatch):
    monkeypatch.setattr(kernel_scan, "BLOCK", 10)
    monkeypatch.setattr("separatrix.learners.kernel.settings.WITNESSES", 2)

    def broken(A, B):
        K = A @ B.T
        K[np.ix_(A[:, 0] == X[2, 0], B[:, 0] == X[25, 0])] = np.nan
        return K

    rows, labels = X.copy(), Y.copy()
    labels[2] = 1 - labels[1]
    with pytest.raises(ValueError, match="The kernel of rows 2 and 25 is nan; it must be finite"):
        KernelPerceptron(broken, max_passes=9).fit(rows, labels)


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyError, ValueError, RuntimeError])
def test_what_a_kernel_raises_is_the_users_own(error):
    def broken(A, B):
        raise error("mine")

    with pytest.raises(error, match="mine"):
        KernelPerceptron(broken).fit(X, Y)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint32, np.float16, np.longdouble])
def test_numbers_of_any_real_kind_will_do(dtype):
    def common(A, B):
        return (np.square(A) @ np.square(B).T > 0).astype(dtype)

    assert KernelPerceptron(common, max_passes=2).fit(X, Y).predict(X).shape == (40,)


def test_an_indefinite_kernel_is_said_where_it_is_called():
    def saddle(A, B):
        return 3 * A[:, :1] @ B[:, :1].T - A[:, 1:2] @ B[:, 1:2].T + 9

    with pytest.warns(UserWarning, match=r"no inner product: of 40 rows its matrix has the eigenvalue -\d") as caught:
        KernelPerceptron(saddle, max_passes=2).fit(X, Y)
    told = [each for each in caught if "no inner product" in str(each.message)]
    assert [each.filename for each in told] == [__file__]
    with pytest.warns(UserWarning, match="no inner product"):
        list(KernelPerceptron("precomputed", max_passes=2).steps(saddle(X, X), Y))


def test_a_kernel_may_return_what_it_keeps():
    kept = GRAM.copy()

    def cached(A, B):
        return kept[: len(A), : len(B)]

    KernelPerceptron(cached, max_passes=2).fit(X, Y)
    np.testing.assert_array_equal(kept, GRAM)


def test_classes_of_any_kind():
    for labels in (np.where(Y, "in", "out"), Y.astype(bool), Y * 2.0 - 1, np.array(["a", "b", "c"])[THREE]):
        model = KernelPerceptron("rbf", gamma=2.0, max_passes=200).fit(X, labels)
        assert model.score(X, labels) == 1
        assert model.verdict_.check(X, labels.tolist())


def test_a_log_longer_than_a_segment_is_the_referees(monkeypatch):
    monkeypatch.setattr(kernel_scan, "SEGMENT", 11)
    monkeypatch.setattr(kernel_scan, "BLOCK", 13)
    K = (GRAM + 1) ** 2
    run = learn(K, NOISE, 2, passes_of("cyclic", 40, 6))
    model = KernelPerceptron("polynomial", max_passes=6).fit(X, NOISE)
    assert len(model.log_) > 5 * 11
    assert model.log_.rows.tolist() == run.rows
    np.testing.assert_allclose(model.decision_function(X), run.scores(K), rtol=1e-9)


def test_parameters_that_are_set_after_a_fit_change_no_prediction():
    X, y = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 3
    model = KernelPerceptron("rbf", max_passes=3, reading="averaged").fit(X, y)
    before = model.decision_function(X)
    for changed in ({"kernel": "precomputed"}, {"kernel": kernels.Spectrum(2)}, {"gamma": 7.0}, {"budget": 1}):
        assert np.array_equal(model.set_params(**changed).decision_function(X), before)
    made = KernelPerceptron("rbf", max_passes=3, reading="averaged").fit(X, y).set_params(multiclass="one-vs-rest")
    assert made.bound().made == made.mistakes_.sum()


def test_a_function_of_the_users_own_is_asked_once_for_each_pair():
    asked = []

    def dots(A, B):
        asked.append(len(A) * len(B))
        return A @ B.T

    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((700, 3)), rng.integers(0, 2, 700)
    mine, named = (KernelPerceptron(kernel, max_passes=10).fit(X, y) for kernel in (dots, "linear"))
    assert sum(asked) <= 700**2 + 2 * 64**2
    assert mine.mistakes_.sum() > 500
    assert np.allclose(mine.decision_function(X), named.decision_function(X))


def test_a_list_is_one_of_objects_for_a_kernel_of_objects():
    sequences, y = [[0, 1, 0, 1], [0, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 0]], ["wave", "wave", "flat", "flat"]
    model = KernelPerceptron(kernels.Spectrum(2)).fit(sequences, y)
    assert model.predict([[0, 1, 0, 1, 0, 1, 0], [1, 1, 1]]).tolist() == ["wave", "flat"]
    assert model.verdict_.check(sequences, y)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf"])
def test_wide_sparse_rows_are_checked_without_their_zeros(kernel):
    rng = np.random.default_rng(2)
    n, width = 300, 400_000
    columns = rng.integers(0, width, (n, 5))
    X = csr_array((rng.standard_normal(5 * n), columns.ravel(), np.arange(0, 5 * n + 1, 5)), shape=(n, width))
    y = rng.integers(0, 2, n)
    model = KernelPerceptron(kernel).fit(X, y)
    tracemalloc.start()
    assert model.verdict_.status == "separated"
    assert model.verdict_.check(X, y)
    assert tracemalloc.get_traced_memory()[1] < 100e6
    tracemalloc.stop()


@pytest.mark.parametrize("reading", ["averaged", "voted"])
def test_a_verdict_says_that_it_speaks_of_the_last_weights(reading):
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    said = str(KernelPerceptron("polynomial", reading=reading).fit(X, y).verdict_)
    assert said.startswith("The last weights separate")
    assert f"Nothing is proved of the {reading} reading" in said
    assert str(KernelPerceptron("polynomial").fit(X, y).verdict_).startswith("The rule separates")


def test_nan_at_a_prediction_names_the_row():
    def lengths(A, B):
        return np.array([[np.nan if "?" in a + b else len(a) * len(b) for b in B] for a in A], float)

    model = KernelPerceptron(lengths, fit_intercept=True).fit(["a", "aa", "aaaa", "aaaaa"], [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"of X\[2\] is nan"):
        model.predict(["a", "aa", "?"])


@pytest.mark.parametrize(("given", "said"), [({"kernel": kernels.Spectrum}, "the class Spectrum"),
                                             ({"kernel": "polynomial", "degree": True}, "degree is True")])  # fmt: skip
def test_a_class_or_a_truth_value_is_no_parameter(given, said):
    with pytest.raises(ValueError, match=said):
        KernelPerceptron(**given).fit([[0.0], [1.0]], [0, 1])
