"""The fewest mistakes: brute force agrees, the laws hold, and no number can be changed unnoticed."""

import inspect
import itertools
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from rarely import some_of
from scipy.optimize import linprog
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.utils.estimator_checks import check_estimator

import separatrix
from separatrix import ZeroOneClassifier, scenes
from separatrix.audit.zero_one import least_in_a_plane
from separatrix.geometry.zero_one.dimension import basis
from separatrix.geometry.zero_one.problem import ScaledRows, _without_rounding, merged
from separatrix.geometry.zero_one.search import along
from separatrix.geometry.zero_one.sweep import sweep
from separatrix.numerics.exact import null_vector
from separatrix.results.proofs import Covering, Cut, Enumeration, Fork, Leaf
from separatrix.theory.populations.figures import two_gaussians

# --------------------------------------------------------------------------------------------------- brute force


def fewest(X, y, cost, lifted):
    """The least cost of a labelling that some rule gives: labellings by growing cost, a linear program each."""
    rows, group = np.unique(X, axis=0, return_inverse=True)
    second = np.bincount(group.ravel(), cost * (y == 1), minlength=len(rows))
    first = np.bincount(group.ravel(), cost * (y == 0), minlength=len(rows))
    A = np.column_stack([rows, np.ones(len(rows))]) if lifted else rows
    labellings = np.array(list(itertools.product((False, True), repeat=len(rows))))
    costs = labellings @ first + ~labellings @ second
    for k in np.argsort(costs, kind="stable"):
        up = labellings[k]
        G = np.vstack([-A[up], A[~up]])
        h = np.concatenate([-np.ones(up.sum()), np.zeros((~up).sum())])
        if linprog(np.zeros(A.shape[1]), A_ub=G, b_ub=h, bounds=(None, None)).status == 0:
            return costs[k]
    raise AssertionError("all of the first class is always possible")


def small_problem(rng, d):
    n, grid = int(rng.integers(3, 13 if d < 3 else 10)), int(rng.integers(2, 5))
    X = rng.integers(1 - grid, grid, size=(n, d)) * float(rng.choice([1.0, 0.5, 8.0]))
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    cost = rng.integers(1, 4, n).astype(float) if rng.random() < 0.5 else np.ones(n)
    cost *= float(rng.choice([1.0, 1.0, 0.3]))
    return X, y, cost, bool(rng.random() < 0.6)


def agrees(X, y, cost, lifted):
    model = ZeroOneClassifier(fit_intercept=lifted, time_limit=20).fit(X, y, sample_weight=cost)
    least, (lower, upper) = fewest(X, y, cost, lifted), model.mistakes_
    assert upper == pytest.approx(least, abs=1e-9), (X.tolist(), y.tolist(), cost.tolist(), lifted)
    assert lower == pytest.approx(least, abs=1e-9)
    assert cost[model.predict(X) != y].sum() == pytest.approx(upper, abs=1e-9)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(X, y, cost)


@pytest.mark.parametrize(("seed", "d"), some_of([(d + 3 * k, d) for d in (1, 2, 3) for k in range(3)], 3))
def test_brute_force_agrees(seed, d):
    rng = np.random.default_rng(seed)
    for _ in range(30):
        agrees(*small_problem(rng, d))


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_brute_force_agrees_on_many(d):
    rng = np.random.default_rng(100 + d)
    for _ in range(1000):
        agrees(*small_problem(rng, d))


def by_all_lines(points, up, cost):
    """All lines through two points, in fractions: what is on the line is divided at any place, either way round."""
    P = [tuple(Fraction(v) for v in p) for p in points.tolist()]
    n, total = len(P), sum(cost)
    best = min(sum(c for c, u in zip(cost, up, strict=True) if u != side) for side in (True, False))
    for i, j in itertools.combinations(range(n), 2):
        (ax, ay), (bx, by) = P[i], P[j]
        side = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for x, y in P]
        along_ = [(bx - ax) * (x - ax) + (by - ay) * (y - ay) for x, y in P]
        off = sum(cost[k] for k in range(n) if side[k] and (side[k] > 0) != up[k])
        off_other = sum(cost[k] for k in range(n) if side[k] and (side[k] > 0) == up[k])
        on = sorted((k for k in range(n) if not side[k]), key=lambda k: along_[k])
        for cut in range(len(on) + 1):
            wrong = sum(cost[k] for t, k in enumerate(on) if (t >= cut) != up[k])
            right = sum(cost[k] for k in on) - wrong
            best = min(best, off + wrong, off + right, off_other + wrong, off_other + right)
    assert best <= total
    return best


def swept(problem):
    turns = sweep(problem, (0, 1))
    while True:
        try:
            next(turns)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("kind", ["grid", "tenths", "one line", "nearly on a line", "far away"])
def test_the_sweep_counts_as_fractions_do_where_floats_are_in_doubt(kind):
    rng = np.random.default_rng(5)
    for _ in range(6):
        n = 18
        X = rng.integers(0, 5, size=(n, 2)).astype(float)
        if kind == "tenths":
            X *= 0.1
        elif kind == "one line":
            X[:12, 1] = 2 * X[:12, 0] + 1
        elif kind == "nearly on a line":
            X += 1.0
            X[:, 1] = np.nextafter(X[:, 0] / 3, rng.choice([-9.0, 9.0], n))
        elif kind == "far away":
            X = rng.normal(size=(n, 2)) + 1e9
            X[0] = 1e17
        up = rng.random(n) < 0.5
        problem = merged(X, up, rng.integers(1, 4, n).astype(float), True)
        cost, wrong, others = swept(problem)
        assert all(problem.paid(other) == cost for other in others)
        least = by_all_lines(problem.X, (problem.sign > 0).tolist(), problem.cost.tolist()) + problem.base
        assert cost == problem.paid(wrong) == least
        audited = least_in_a_plane(problem.X, problem.sign > 0, problem.cost.tolist())
        assert audited + problem.base == least


# ---------------------------------------------------------------------------------------------------------- laws


def noisy(n, d, seed=0, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + noise * rng.normal(size=n) > 0).astype(int)


SHAPES = [(200, 1, 0.7), (60, 2, 0.7), (40, 3, 0.4)]


@pytest.mark.parametrize(("n", "d", "noise"), SHAPES)
def test_a_weight_is_a_number_of_copies(n, d, noise):
    X, y = noisy(n, d, noise=noise)
    times = np.random.default_rng(1).integers(0, 4, n)
    weighted = ZeroOneClassifier().fit(X, y, sample_weight=times)
    repeated = ZeroOneClassifier().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.mistakes_ == repeated.mistakes_
    assert weighted.mistakes_[0] == weighted.mistakes_[1]
    assert isinstance(weighted.mistakes_[1], int)


@pytest.mark.parametrize(("n", "d", "noise"), SHAPES)
def test_units_offsets_order_and_names_of_classes_do_not_matter(n, d, noise):
    X, y = noisy(n, d, noise=noise)
    plain = ZeroOneClassifier().fit(X, y)
    assert plain.verdict_.status == "optimal"
    shift, units = np.linspace(-1, 1, d) * 100, 10.0 ** np.arange(-2, d - 2)
    order = np.random.default_rng(2).permutation(n)
    for Z, t in ((X * units + shift, y), (X[order], y[order]), (X, 1 - y)):
        assert ZeroOneClassifier().fit(Z, t).mistakes_ == plain.mistakes_


@pytest.mark.parametrize("lifted", [True, False])
@pytest.mark.parametrize("powers", [(-1070,) * 3, (990,) * 3, (500,) * 3, (-1000, 990, 0)])
def test_units_far_from_one_do_not_matter(powers, lifted):
    rng = np.random.default_rng(6)
    for d in (1, 2, 3):
        X, y = rng.integers(-4, 5, size=(14, d)).astype(float), np.arange(14) % 2
        plain = ZeroOneClassifier(fit_intercept=lifted).fit(X, y)
        far = np.ldexp(X, np.array(powers[:d]))
        model = ZeroOneClassifier(fit_intercept=lifted).fit(far, y)
        assert plain.verdict_.status == model.verdict_.status == "optimal"
        assert plain.mistakes_ == model.mistakes_
        assert (model.predict(far) != y).sum() == model.mistakes_[1]
        assert model.verdict_.check(far, y)


def test_numbers_that_no_unit_holds_are_named():
    X, y = noisy(20, 2)
    X[4, 1] = 4e301
    with pytest.raises(ValueError, match=r"^X\[4, 'x1'\] is 4e\+301, which is too large.*power of two"):
        ZeroOneClassifier().fit(X, y)
    X[4, 1], X[5, 1] = 1e300, 1e-300
    with pytest.raises(ValueError, match=r"^X\['x1'\] holds numbers from 1e-300 to 1e\+300"):
        ZeroOneClassifier().fit(X, y)


@pytest.mark.parametrize(("d", "noise"), [(2, 0.7), (4, 0.5)])
def test_class_weights_are_costs(d, noise):
    X, y = noisy(80, d, noise=noise)
    balanced = ZeroOneClassifier(class_weight="balanced").fit(X, y)
    cost = len(y) / (2 * np.bincount(y))[y]
    by_rows = ZeroOneClassifier().fit(X, y, sample_weight=cost)
    assert balanced.mistakes_ == by_rows.mistakes_
    assert balanced.verdict_.status == "optimal"
    assert cost[balanced.predict(X) != y].sum() == pytest.approx(balanced.mistakes_[1], rel=1e-12)
    assert balanced.verdict_.check(X, y)
    assert by_rows.verdict_.check(X, y, cost)
    given = ZeroOneClassifier(class_weight={1: 3}).fit(X, y)
    assert given.mistakes_ == ZeroOneClassifier().fit(X, y, sample_weight=np.where(y == 1, 3, 1)).mistakes_


@pytest.mark.parametrize("n", [23, 40, 61])
@pytest.mark.parametrize("costs", [[0.5], [0.1], [2.5], [0.1, 0.2], [1 / 3, 1.0]])
def test_costs_that_are_not_whole_are_proved_and_checked(n, costs):
    X, y = noisy(n, 3, n)
    cost = np.random.default_rng(n).choice(costs, n)
    model = ZeroOneClassifier(time_limit=10).fit(X, y, sample_weight=cost)
    lower, upper = model.mistakes_
    assert model.verdict_.status == "optimal"
    assert lower == upper == pytest.approx(cost[model.predict(X) != y].sum(), rel=1e-14)
    assert model.verdict_.check(X, y, cost)
    proof = model.verdict_.certificate
    assert isinstance(proof, Covering)
    if len(costs) == 1:
        plain = ZeroOneClassifier(time_limit=10).fit(X, y)
        assert upper == pytest.approx(costs[0] * plain.mistakes_[1], rel=1e-14)
    raised = replace(proof.nodes[-1], parts=tuple(2 * part for part in proof.nodes[-1].parts))
    assert not replace(model.verdict_, certificate=replace(proof, nodes=(*proof.nodes[:-1], raised))).check(X, y, cost)


@pytest.mark.parametrize("n", [23, 40, 61])
@pytest.mark.parametrize("factors", ["balanced", {1: 0.3}, {0: 0.1, 1: 0.7}])
def test_class_weights_that_are_not_whole_are_checked(n, factors):
    X, y = noisy(n, 3, n)
    model = ZeroOneClassifier(class_weight=factors, time_limit=10).fit(X, y)
    assert model.mistakes_[0] == model.mistakes_[1]
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(X, y)


def test_what_no_rule_avoids_does_not_hide_what_one_does():
    """Equal rows of both classes cost 10⁹; the others can all be right, whatever part of 10⁹ they are."""
    X, y, cost = [[-5.0], [-5.0], [1.0], [2.0]], [0, 1, 0, 1], [1e9 + 0.5, 1e9 + 0.5, 0.25, 0.25]
    for rows in (X, [[x, x * x] for [x] in X], [[x, x * x, abs(x) ** 3] for [x] in X]):
        model = ZeroOneClassifier().fit(rows, y, sample_weight=cost)
        assert model.mistakes_ == (1e9 + 0.5, 1e9 + 0.5)
        assert model.verdict_.status == "optimal"
        assert model.verdict_.check(rows, y, cost)


def test_costs_that_floats_cannot_compare_are_packed_in_whole_numbers():
    rng = np.random.default_rng(0)
    for k in range(24):
        X, y = rng.integers(-3, 4, size=(9, 3)).astype(float), np.arange(9) % 2
        cost = 10.0 ** rng.integers(-6, 9, 9)
        lifted = bool(k % 2)
        model = ZeroOneClassifier(fit_intercept=lifted, time_limit=10).fit(X, y, sample_weight=cost)
        assert model.verdict_.status == "optimal"
        assert model.mistakes_[1] == pytest.approx(fewest(X, y, cost, lifted), rel=1e-14)
        assert model.verdict_.check(X, y, cost)


def test_rows_that_cost_nothing_are_not_named_in_a_proof():
    rng = np.random.default_rng(2)
    for _ in range(30):
        X, y, cost = rng.integers(-1, 2, size=(12, 3)).astype(float), np.arange(12) % 2, rng.integers(0, 3, 12)
        model = ZeroOneClassifier(time_limit=10).fit(X, y, sample_weight=cost)
        assert model.verdict_.status == "optimal"
        assert model.verdict_.check(X, y, cost)


def test_a_constant_column_is_no_direction_to_separate_in():
    """The mean of equal numbers is not always their number; what is left by rounding separates nothing."""
    rng = np.random.default_rng(7)
    for value in (0.1, 1 / 3, 0.0625, 1e9 + 0.1):
        X = np.column_stack([np.full(9, value), rng.normal(size=9)])
        frame = ScaledRows.of(merged(X, np.arange(9) % 2 == 1, np.empty(0), True))
        assert not frame.A[:, 0].any()
        assert frame.A[:, 1].any()
    rows = [[1, 1, -1, 1], [1, 2, 1, 1], [1, 2, 0, 1], [1, 0, 0, 2], [1, -1, -2, 0], [1, 1, -2, 0], [1, -2, 1, -2],
            [1, -2, 0, 0], [1, 0, 2, 1]]  # fmt: skip
    X, y, cost = np.array(rows) / 16, np.array([1, 0, 1, 1, 1, 0, 1, 0, 0]), np.array([5, 7, 9, 99, 50, 20, 30, 1, 4.0])
    assert ZeroOneClassifier().fit(X, y, sample_weight=cost).mistakes_ == (fewest(X, y, cost, True),) * 2


def test_columns_that_are_combinations_do_not_count():
    rng = np.random.default_rng(3)
    X = rng.integers(-9, 10, size=(60, 2)).astype(float)
    y = (X[:, 0] + rng.normal(size=60) * 6 > 0).astype(int)
    wide = np.column_stack([np.full(60, 7.0), X[:, 0], X[:, 0], X[:, 1], 2 * X[:, 0] - 3 * X[:, 1] + 5])
    plain, model = ZeroOneClassifier().fit(X, y), ZeroOneClassifier().fit(wide, y)
    assert model.mistakes_ == plain.mistakes_
    assert model.verdict_.certificate.columns == (1, 3)
    assert model.verdict_.check(wide, y)
    assert basis(wide, True) == (1, 3)
    assert basis(wide, False) == (0, 1, 3)
    near = wide.copy()
    near[4, 4] = np.nextafter(near[4, 4], 99)
    assert basis(near, True) == (1, 3, 4), "nearly is not exactly"


@pytest.mark.parametrize("kind", ["whole", "tenths", "wide"])
def test_combinations_are_proved_on_every_row(kind):
    """The last of many rows decides, whatever the size of the numbers."""
    rng = np.random.default_rng(4)
    B = rng.integers(-1000, 1000, size=(25_000, 2)).astype(float)
    last = B @ [3.0, -5.0] + 7.0
    if kind == "tenths":
        B[:, 0] *= 0.1
        last = 8 * B[:, 0]
    elif kind == "wide":
        B, last = B * [2.0**70, 2.0**-70], B[:, 0] * 2.0**60
    X = np.column_stack([B, last])
    assert basis(X, True) == (0, 1)
    X[-1, 2] = np.nextafter(X[-1, 2], np.inf)
    assert basis(X, True) == (0, 1, 2)


def test_without_an_intercept_the_boundary_may_have_to_pass_through_rows():
    X, y = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 0.0]]), [0, 0, 1]
    model = ZeroOneClassifier(fit_intercept=False).fit(X, y)
    assert model.mistakes_ == (0, 0)
    assert (model.predict(X) == y).all()
    assert (X[:2] @ model.coef_[0] == 0).all()
    assert ZeroOneClassifier(fit_intercept=False).fit(X, [1, 1, 0]).mistakes_ == (1, 1)


def test_mistakes_are_those_of_predict_in_whatever_order_scores_are_added_up():
    for seed in range(42, 50):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(2, 6))
        B = rng.integers(-3, 4, size=(6, d)) * rng.choice([0.1, 0.3, 1 / 3])
        X = np.vstack([B[:3], -B[:3], B[3:], rng.integers(-3, 4, size=(4, d)) * 0.1])
        y = np.r_[np.zeros(6, int), rng.integers(0, 2, len(X) - 6)]
        frame = pd.DataFrame(X, columns=list("abcde")[:d])
        model = ZeroOneClassifier(fit_intercept=False, time_limit=2).fit(frame, y)
        for rows in (frame, np.asfortranarray(X), X[:, ::-1][:, ::-1]):
            told = model.predict(rows) if rows is frame else ZeroOneClassifier.predict(_nameless(model), rows)
            assert (told != y).sum() == model.mistakes_[1]
        w = model.coef_[0]
        for order in itertools.permutations(range(d)):
            scores = np.zeros(len(X))
            for j in order:
                scores = scores + X[:, j] * w[j]
            assert ((scores > 0) != y).sum() == model.mistakes_[1]


def _nameless(model):
    other = ZeroOneClassifier(fit_intercept=False)
    other.__dict__.update({name: value for name, value in vars(model).items() if name != "feature_names_in_"})
    return other


def test_sums_without_rounding_are_told_from_others():
    tenth, last = 0.1, 2.0**-52
    cases = [([1.0, -1.0, 0.0], [3.0, 3.0, 7.0], 0.0, True), ([tenth, -tenth, 0.0], [3.0, 3.0, 1.0], 0.0, False),
             ([1 + last, 0.0, 0.0], [1.0, 1.0, 1.0], -1.0, True), ([2 + 2 * last, 0, 0], [1, 1, 1], last - 2, True),
             ([2.0**60, 1.0, -(2.0**60)], [1.0, 1.0, 1.0], 0.0, False), ([1e-200] * 3, [1e-200, 0, 0], 0.0, False),
             ([0.0, 0.0, 0.0], [tenth] * 3, 0.0, True)]  # fmt: skip
    for x, w, b, exact in cases:
        assert _without_rounding(np.array([x]), np.array(w, float), b).tolist() == [exact], (x, w, b)


def test_equal_rows_of_both_classes_are_paid_for():
    X, y = np.array([[0.0], [0.0], [0.0], [-0.0], [1.0]]), [0, 0, 0, 1, 1]
    model = ZeroOneClassifier().fit(X, y)
    assert model.mistakes_ == (1, 1)
    assert "equal rows" in str(model.verdict_) or "counted" in str(model.verdict_)
    same = ZeroOneClassifier().fit(np.ones((4, 2)), [0, 1, 1, 1])
    assert same.mistakes_ == (1, 1)
    assert same.predict([[5.0, 5.0]]) == [1]
    assert same.verdict_.check(np.ones((4, 2)), [0, 1, 1, 1])


def test_the_boundary_keeps_away_from_rows():
    """One mistake, at either end: the rule with the wider margin is kept."""
    X, y = np.array([[0.0, 0.0], [4.0, 0.0], [5.0, 1.0], [9.0, 0.0]]), [0, 1, 1, 0]
    model = ZeroOneClassifier().fit(X, y)
    assert model.mistakes_ == (1, 1)
    right = model.predict(X) == y
    assert np.abs(model.distance(X))[right].min() == pytest.approx(np.sqrt(17) / 2)


@pytest.mark.parametrize("columns", [[0, 1], [2, 3], [20, 27]])
def test_real_tables_are_solved_to_the_end(columns):
    """NP-hard in general: yet no encoding of a hard problem.  [001 slide 12]"""
    X, y = load_breast_cancer(return_X_y=True)
    model = ZeroOneClassifier().fit(X[:, columns], y)
    lower, upper = model.mistakes_
    assert 0 < lower == upper == (model.predict(X[:, columns]) != y).sum()
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(X[:, columns], y)


def test_the_fewest_mistakes_overfit_only_where_rows_are_few():
    """How far they promise too much, and what they lose to the best line, shrink with the rows.  [001 slide 11]"""
    population = two_gaussians(1.5)
    bayes = separatrix.BayesClassifier(population)
    promised, lost = [], []
    for n in (15, 400):
        rules = [ZeroOneClassifier().fit(*population.sample(n, seed)) for seed in range(8)]
        truth = np.array([float(bayes.risk(model.rule_)) for model in rules])
        promised.append(np.mean(truth - [model.mistakes_[1] / n for model in rules]))
        lost.append(np.mean(truth - float(bayes.best_linear().error)))
    assert promised[0] > 0.1 > 0.03 > promised[1] > 0
    assert lost[0] > 0.03 > 0.015 > lost[1] > 0


def test_the_example_of_the_text():
    """Three more rows far out on the right side: least squares makes 4 mistakes, not 2; the fewest stay 1."""
    scene = scenes.robustness("far and right")
    for rows, squares in ((scene.before, 2), (scene.after, 4)):
        assert (separatrix.LeastSquaresClassifier().fit(rows.X, rows.y).predict(rows.X) != rows.y).sum() == squares
        assert ZeroOneClassifier().fit(rows.X, rows.y).mistakes_ == (1, 1)


LINEAR = ["LogisticRegression", "LeastSquaresClassifier", "GaussianDiscriminant", "MaxMarginClassifier", "Perceptron",
          "AveragedPerceptron", "Pocket", "OnlinePerceptron", "VotedPerceptron"]  # fmt: skip


def chance(learner):
    """The seed with which learners that draw lots are asked."""
    return {"random_state": 0} if "random_state" in learner().get_params() else {}


@pytest.mark.parametrize("limit", some_of([1e-3, 0.5], 2))
def test_no_other_learner_makes_fewer(limit):
    iris, cancer = load_iris(return_X_y=True), load_breast_cancer(return_X_y=True)
    cases = [(iris[0][50:], iris[1][50:]), (cancer[0][:, :4], cancer[1]), noisy(150, 5, 4), noisy(80, 12, 5, 2.0)]
    for X, y in cases:
        model = ZeroOneClassifier(time_limit=limit).fit(X, y)
        lower, upper = model.mistakes_
        assert 0 <= lower <= upper == (model.predict(X) != y).sum()
        assert model.verdict_.check(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in LINEAR:
                learner = getattr(separatrix, name)
                other = learner(**chance(learner)).fit(X, y)
                assert (other.predict(X) != y).sum() >= upper, name


NAIVE = [(separatrix.GaussianNaiveBayes, {"variance": "shared"}), (separatrix.BernoulliNaiveBayes, {}),
         (separatrix.PoissonNaiveBayes, {})]  # fmt: skip


def test_no_other_learner_makes_fewer_of_counts():
    rng = np.random.default_rng(9)
    for k in range(4):
        counts = rng.poisson(2.0, size=(80, 6)).astype(float)
        y = (counts[:, 0] - counts[:, 1] + rng.normal(size=80) > 0).astype(int)
        X = (counts > 1).astype(float) if k % 2 else counts
        least = ZeroOneClassifier(time_limit=1e-3).fit(X, y).mistakes_[1]
        for learner, given in NAIVE:
            if learner is separatrix.BernoulliNaiveBayes and not k % 2:
                continue
            assert (learner(**given).fit(X, y).predict(X) != y).sum() >= least, learner.__name__


@pytest.mark.parametrize("lifted", [True, False])
def test_no_other_learner_makes_cheaper_mistakes(lifted):
    X, y = noisy(120, 6, 8, 1.5)
    cost = np.random.default_rng(3).choice([0.5, 1.0, 4.0], 120)
    model = ZeroOneClassifier(time_limit=1e-3, fit_intercept=lifted).fit(X, y, sample_weight=cost)
    asked = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in LINEAR:
            learner = getattr(separatrix, name)
            if not lifted and "fit_intercept" not in learner().get_params():
                continue
            given = chance(learner) | ({} if lifted else {"fit_intercept": False})
            takes = "sample_weight" in inspect.signature(learner.fit).parameters
            other = learner(**given).fit(X, y, **({"sample_weight": cost} if takes else {}))
            assert cost[other.predict(X) != y].sum() >= model.mistakes_[1], name
            asked += 1
    assert asked > 4


# ------------------------------------------------------------------------------------------------- time and steps


def test_time_that_is_over_leaves_an_interval():
    X, y = noisy(300, 6, noise=2.0)
    model = ZeroOneClassifier(time_limit=1e-3).fit(X, y)
    lower, upper = model.mistakes_
    assert 0 <= lower < upper == (model.predict(X) != y).sum()
    assert model.verdict_.status == "budget"
    assert not model.verdict_.ok
    assert model.verdict_.check(X, y)
    assert "time limit" in str(model.verdict_)
    assert f"{lower}." in model.verdict_.cause
    assert model.history_[-1][:2] == (lower, upper)


def test_of_two_columns_more_time_is_the_remedy():
    X, y = noisy(3000, 2, noise=1.0)
    model = ZeroOneClassifier(time_limit=0.02).fit(X, y)
    assert model.verdict_.status == "budget"
    assert "time_limit" in model.verdict_.remedy
    assert "columns" not in model.verdict_.remedy
    assert model.verdict_.check(X, y)


def test_directions_that_floats_cannot_order_are_merged():
    """Many points nearly on a line through all of them: the exact order is far from that of the floats."""
    rng = np.random.default_rng(8)
    x = 1 + rng.random(40)
    X = np.column_stack([x, x * (1 + rng.integers(-2, 3, 40) * 2.0**-52)])
    problem = merged(X, rng.random(40) < 0.5, np.empty(0), True)
    least = by_all_lines(problem.X, (problem.sign > 0).tolist(), problem.cost.tolist()) + problem.base
    assert swept(problem).cost == least


def test_the_interval_shrinks_step_by_step():
    X, y = noisy(120, 4, 7, noise=0.5)
    model = ZeroOneClassifier(time_limit=5)
    seen = list(model.steps(X, y))
    lowers, uppers = [step.lower for step in seen], [step.upper for step in seen]
    assert lowers == sorted(lowers)
    assert uppers == sorted(uppers, reverse=True)
    assert len(seen) > 1
    assert [record[:2] for record in model.history_[:-1]] == list(zip(lowers, uppers, strict=True))
    assert model.mistakes_ == model.history_[-1][:2]


def test_whoever_stops_reading_has_a_rule():
    X, y = noisy(200, 5, noise=2.0)
    model = ZeroOneClassifier()
    steps = model.steps(X, y)
    next(steps)
    steps.close()
    assert model.verdict_.status == "interrupted"
    assert model.mistakes_[1] == (model.predict(X) != y).sum()
    assert model.verdict_.check(X, y)


def test_ctrl_c_keeps_the_best_so_far(monkeypatch):
    from separatrix.geometry.zero_one.search import Search

    def pressed(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "gather", pressed)
    X, y = noisy(100, 5, noise=2.0)
    model = ZeroOneClassifier()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.verdict_.status == "interrupted"
    assert model.mistakes_[1] == (model.predict(X) != y).sum()


def test_ctrl_c_before_the_rows_are_merged_changes_nothing(monkeypatch):
    X, y = noisy(30, 3)
    model = ZeroOneClassifier().fit(X, y)
    before = dict(vars(model))

    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("separatrix.learners.geometry.zero_one_run.merged", pressed)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :2], y)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


def test_the_same_bits_again():
    X, y = noisy(60, 3, noise=0.4)
    one, two = (ZeroOneClassifier(random_state=3).fit(X, y) for _ in range(2))
    assert one.verdict_.status == "optimal"
    assert one.coef_.tobytes() == two.coef_.tobytes()


# ----------------------------------------------------------------------------------------------------------- check


def tampered(verdict):
    """The verdict with one number changed, one after the other."""
    proof, claim = verdict.certificate, verdict.claim
    for name in ("lower", "upper"):
        for step in (-1, 1):
            yield replace(verdict, certificate=replace(proof, **{name: getattr(proof, name) + step}))
    yield replace(verdict, claim=replace(claim, weights=-claim.weights))
    yield replace(verdict, claim=replace(claim, intercept=claim.intercept + 50))
    yield replace(verdict, claim=replace(claim, value=claim.value + 0.01))
    yield replace(verdict, claim=replace(claim, rows=claim.rows + 1))
    yield replace(verdict, claim=replace(claim, class_weight=(2.0, 1.0)))
    yield replace(verdict, status="budget" if verdict.status == "optimal" else "optimal")
    yield replace(verdict, certificate=None)
    if isinstance(proof, Enumeration):
        yield replace(verdict, certificate=replace(proof, columns=proof.columns[:1] if len(proof.columns) > 1 else ()))
        return
    cut = proof.cuts[0]
    for other in (
        Cut(cut.rows, (cut.multipliers[0] + 1, *cut.multipliers[1:])),
        Cut(cut.rows[:-1], cut.multipliers[:-1]),
        Cut((cut.rows[1], cut.rows[0], *cut.rows[2:]), cut.multipliers),
        Cut((10**6, *cut.rows[1:]), cut.multipliers),
        Cut(cut.rows, tuple(-m for m in cut.multipliers)),
    ):
        yield replace(verdict, certificate=replace(proof, cuts=(other, *proof.cuts[1:])))
    yield replace(verdict, certificate=replace(proof, cuts=proof.cuts[1:]))
    at = next(k for k, node in enumerate(proof.nodes) if isinstance(node, Leaf) and node.cuts)
    leaf = proof.nodes[at]
    for other in (
        Leaf(leaf.cuts, (leaf.parts[0] + (1 << 22), *leaf.parts[1:])),
        Leaf((*leaf.cuts, leaf.cuts[0]), (*leaf.parts, leaf.parts[0])),
    ):
        yield replace(verdict, certificate=replace(proof, nodes=(*proof.nodes[:at], other, *proof.nodes[at + 1 :])))
    yield replace(verdict, certificate=replace(proof, nodes=(*proof.nodes, leaf)))
    if isinstance(proof.nodes[0], Fork):
        fork = replace(proof.nodes[0], wrong=proof.nodes[0].right)
        yield replace(verdict, certificate=replace(proof, nodes=(fork, *proof.nodes[1:])))
        yield replace(verdict, certificate=replace(proof, nodes=proof.nodes[:1]))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (noisy(50, 1), Enumeration),
        (noisy(50, 2), Enumeration),
        (noisy(50, 4, 2), Covering),
        (noisy(70, 3, 11), Covering),
    ],
)
def test_no_number_can_be_changed_unnoticed(data, kind):
    X, y = data
    verdict = ZeroOneClassifier(time_limit=10).fit(X, y).verdict_
    assert isinstance(verdict.certificate, kind)
    assert verdict.certificate.upper > 0
    assert verdict.check(X, y)
    for wrong in tampered(verdict):
        assert not wrong.check(X, y), wrong.certificate
    other = y.copy()
    other[np.flatnonzero(verdict.claim.weights @ X.T + verdict.claim.intercept > 0)[0]] ^= 1
    assert not verdict.check(X, other)
    assert verdict.to_dict()["certificate"]["kind"] == kind.__name__.lower()


def test_branching_is_recorded_and_checked():
    """Problems whose packing alone does not reach the optimum."""
    forks = 0
    for seed in range(12):
        X, y = noisy(45, 3, seed, noise=1.0)
        model = ZeroOneClassifier(time_limit=10).fit(X, y)
        assert model.verdict_.check(X, y)
        proof = model.verdict_.certificate
        forks += isinstance(proof, Covering) and isinstance(proof.nodes[0], Fork)
    assert forks > 0


@pytest.mark.parametrize(("seed", "costs"), [(55, [1.0]), (3, [1.0, 2.0]), (4, [1.0, 2.0])])
def test_a_case_to_which_cuts_were_just_added_is_not_given_up(seed, costs):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 70)), int(rng.integers(3, 6))
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    model = ZeroOneClassifier(time_limit=60).fit(X, y, sample_weight=rng.choice(costs, n))
    assert model.verdict_.status == "optimal"


def test_a_search_among_some_rows_does_not_blame_the_others(monkeypatch):
    monkeypatch.setattr("separatrix.geometry.zero_one.search.MOST_NUMBERS", 40)
    monkeypatch.setattr("separatrix.geometry.zero_one.search.Search.gather", lambda self: iter(()))
    X, y = noisy(80, 3, 3, noise=1.5)
    model = ZeroOneClassifier(time_limit=30).fit(X, y)
    assert model.verdict_.status == "budget"
    assert "rows nearest to the boundary only" in model.verdict_.cause
    assert "rounding" not in model.verdict_.cause
    assert model.verdict_.check(X, y)


# ----------------------------------------------------------------------------------------------------------- parts


def test_a_line_is_searched_to_its_least():
    rng = np.random.default_rng(0)
    for _ in range(50):
        m, q, c = rng.normal(size=30), rng.normal(size=30), rng.integers(1, 5, 30).astype(float)
        t, least = along(m, q, c)
        assert least == pytest.approx(c[m + t * q <= 0].sum())
        tried = [c[m + s * q <= 0].sum() for s in rng.normal(size=300) * 3]
        assert least <= min(tried)


def test_a_null_vector_is_exact_and_the_only_one():
    M = np.array([[2, -4, 0, 10**30], [0, 3, 7, -1]], dtype=object)
    assert null_vector(M) is None, "two directions"
    M = np.array([[2, -4, 0, 10**30], [0, 3, 7, -1], [1, 0, 0, -1]], dtype=object)
    found = np.array(null_vector(M), dtype=object)
    assert not (M @ found).any()
    assert found.any()


# ----------------------------------------------------------------------------------------------------- kinds of input


def test_frames_sparse_rows_and_words_as_classes():
    X, y = noisy(60, 2)
    names = np.where(y == 1, "yes", "no")
    plain = ZeroOneClassifier().fit(X, y)
    frame = ZeroOneClassifier().fit(pd.DataFrame(X, columns=["a", "b"]), names)
    assert frame.mistakes_ == plain.mistakes_
    assert list(frame.feature_names_in_) == ["a", "b"]
    assert "yes where" in str(frame.rule_)
    assert frame.verdict_.check(X, names)
    sparse = ZeroOneClassifier().fit(csr_array(X), y)
    assert sparse.mistakes_ == plain.mistakes_
    assert sparse.verdict_.check(csr_array(X), y)
    single = ZeroOneClassifier().fit(X.astype(np.float32), y)
    assert single.mistakes_[1] == (single.predict(X.astype(np.float32)) != y).sum()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"time_limit": 0}, "time_limit is 0"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"time_limit": np.inf}, "time_limit is inf.* give a large number"),
        ({"time_limit": None}, "time_limit is None.* give a large number"),
        ({"time_limit": True}, "time_limit is True"),
        ({"time_limit": np.nan}, "time_limit is nan"),
        ({"time_limit": "long"}, "time_limit"),
        ({"fit_intercept": 3}, "fit_intercept is 3"),
        ({"class_weight": "even"}, "class_weight"),
        ({"random_state": "dice"}, "random_state"),
    ],
)
def test_settings_that_make_no_sense_are_named(change, words):
    with pytest.raises(ValueError, match=words):
        ZeroOneClassifier(**change).fit(*noisy(20, 2))


def test_rows_and_labels_that_make_no_sense_are_named():
    X, y = noisy(20, 2)
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"X\[3, 'x1'\]"):
        ZeroOneClassifier().fit(holed, y)
    with pytest.raises(ValueError, match="one class only"):
        ZeroOneClassifier().fit(X, np.zeros(20, int))
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        ZeroOneClassifier().fit(X, np.arange(20) % 3)
    with pytest.raises(ValueError, match="probabilities"):
        ZeroOneClassifier().fit(X, np.linspace(0, 1, 20))
    with pytest.raises(ValueError, match="20000000"):
        ZeroOneClassifier().fit(csr_array((20, 2_000_000)), y)


def test_a_fit_that_fails_changes_nothing():
    X, y = noisy(20, 2)
    model = ZeroOneClassifier().fit(X, y)
    before = model.coef_
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X * np.nan, y)
    assert model.coef_ is before


@pytest.mark.slow
def test_scikit_learn_accepts_it():
    results = check_estimator(ZeroOneClassifier(time_limit=0.2), on_skip=None, on_fail=None)
    assert [(each["check_name"], each["exception"]) for each in results if each["status"] == "failed"] == []
    assert sum(each["status"] == "passed" for each in results) > 40
