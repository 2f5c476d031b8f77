"""Bayes' rule, the floors of risk, true risks and their excess: against closed forms, sums by hand and random draws."""

import pickle

import numpy as np
import pytest
from hypothesis import strategies as st
from rarely import examples
from scipy.integrate import quad
from scipy.stats import norm

from separatrix import BayesClassifier, BernoulliNaiveBayes, LinearRule, LogisticRegression, NaiveBayes, losses
from separatrix.populations import (
    Box,
    Discrete,
    GaussianMixture,
    Gaussians,
    Known,
    LogisticModel,
    Points,
    best_linear,
    figures,
)


def entropy(p):
    return -sum(q * np.log(q) for q in (p, 1 - p) if q > 0)


def on_the_line(population, f):
    """∫ f(η(x)) p(x) dx by another hand."""

    def integrand(x):
        density = np.dot(
            population.priors, norm.pdf(x, population.means[:, 0], np.sqrt(population.covariances[:, 0, 0]))
        )
        return f(population.eta([[x]])[0]) * density

    return quad(integrand, -40, 40, points=[-3, -1, 0, 1, 3], limit=400, epsabs=1e-13)[0]


def unequal():
    return GaussianMixture([[-1.0], [1.0]], [1.0, 4.0], [0.4, 0.6])


# The floors


@pytest.mark.parametrize(("mean", "deviation"), [(0.5, 1.0), (1.0, 0.5), (3.0, 2.0)])
def test_error_of_two_gaussians_is_the_normal_tail(mean, deviation):
    bayes = BayesClassifier(GaussianMixture([[-mean], [mean]], deviation**2))
    assert bayes.error() == pytest.approx(norm.cdf(-mean / deviation), rel=1e-14)
    assert "normal distribution" in bayes.error().how


@pytest.mark.parametrize("population", [unequal(), figures.two_gaussians(1.5, 1)])
def test_floors_on_the_line(population):
    floors = BayesClassifier(population).floors()
    assert floors.zero_one == pytest.approx(on_the_line(population, lambda p: min(p, 1 - p)), abs=1e-10)
    assert floors.squared == pytest.approx(on_the_line(population, lambda p: p * (1 - p)), abs=1e-11)
    assert floors.log == pytest.approx(on_the_line(population, entropy), abs=1e-11)
    assert max(floor.error for floor in floors) < 1e-11


def test_more_columns_of_noise_change_no_floor():
    narrow, wide = (BayesClassifier(figures.two_gaussians(2.0, d)).floors() for d in (1, 30))
    assert np.allclose(narrow, wide, atol=1e-12, rtol=0)
    assert {floor.how for floor in wide} == {"quadrature", "normal distribution function"}


def test_discrete_floors_by_hand():
    floors = BayesClassifier(Discrete([[0.0], [1.0], [5.0]], [0.5, 0.25, 0.25], [0.2, 1.0, 0.5])).floors()
    assert floors.zero_one == pytest.approx(0.5 * 0.2 + 0.25 * 0.5, abs=1e-15)
    assert floors.squared == pytest.approx(0.5 * 0.16 + 0.25 * 0.25, abs=1e-15)
    assert floors.log == pytest.approx(0.5 * entropy(0.2) + 0.25 * np.log(2), abs=1e-15)


def test_the_plane_agrees_with_the_closed_form_and_says_how_far_off_it_is():
    population = figures.gaussian_xor(0.5)
    tail = norm.cdf(-1 / np.sqrt(0.5))
    error = BayesClassifier(population).error()
    assert error == pytest.approx(2 * tail * (1 - tail), abs=3 * error.error)
    assert error.error < 1e-6


def test_the_plane_agrees_with_a_fine_grid_where_the_boundary_is_curved():
    population = GaussianMixture([[0.0, 0], [3.0, 1.0]], [np.eye(2), [[2.0, 0.5], [0.5, 1.0]]], [0.3, 0.7])
    step = 0.02
    grid = np.stack(np.meshgrid(np.arange(-8, 13, step), np.arange(-8, 9, step)), axis=-1).reshape(-1, 2) + step / 2
    joint = []
    for mean, covariance, prior in zip(population.means, population.covariances, population.priors, strict=True):
        power = np.einsum("ni,ij,nj->n", grid - mean, np.linalg.inv(covariance), grid - mean)
        joint.append(prior * np.exp(-0.5 * power) / (2 * np.pi * np.sqrt(np.linalg.det(covariance))))
    error = BayesClassifier(population).error()
    assert error == pytest.approx(np.minimum(*joint).sum() * step**2, abs=1e-6)
    assert error.error < 1e-6


def test_space_is_scattered_and_the_standard_error_is_honest():
    means = np.array([[-1.0, 0, 0], [1.0, 0, 0]])
    exact = BayesClassifier(GaussianMixture(means)).error()
    scattered = Known(Gaussians(means), GaussianMixture(means).posterior)
    found = [BayesClassifier(scattered, random_state=seed).error() for seed in range(8)]
    assert all("Monte Carlo" in one.how for one in found)
    assert sum(abs(one - exact) > 3 * one.error for one in found) <= 1
    assert BayesClassifier(scattered, random_state=3).error() == found[3]


# True risks


@pytest.mark.parametrize("loss", ["0-1", "squared", "log", losses.Hinge(), losses.LogLikelihood()])
@pytest.mark.parametrize(
    "population",
    [
        GaussianMixture([[-1.0, 0], [1.0, 1.0], [0.0, 3.0]], [1.0, 2.0, 0.5], [0.3, 0.5, 0.2], [0, 1, 0]),
        figures.two_gaussians(1.0, 4),
        LogisticModel([1.0, -2.0, 0.5], 0.3, Gaussians([[0.0, 0, 0], [1.0, 1, 1]], 1.0)),
        LogisticModel([1.0, -2.0], 0.3, Box([-1, -2], [3, 1])),
    ],
    ids=["mixture", "shared", "logistic", "box"],
)
def test_risk_of_a_linear_rule_agrees_with_drawn_rows(population, loss):
    rng = np.random.default_rng(5)
    rule = LinearRule(rng.standard_normal(population.n_features), 0.3, probabilistic=True)
    found = BayesClassifier(population).risk(rule, loss=loss)
    X, y = population.sample(200_000, 1)
    z, p = rule.score(X), rule.probability(X)
    named = {"0-1": (z > 0) != y, "squared": (y - p) ** 2, "log": -np.log(np.where(y == 1, p, 1 - p))}
    drawn = named[loss] if isinstance(loss, str) else loss.value((2 * y - 1) * z)
    assert abs(found - drawn.mean()) < 4 * drawn.std() / np.sqrt(len(y)) + 3 * found.error
    assert found.error < 1e-5


def test_a_linear_rule_an_estimator_and_a_function_have_one_risk():
    population = GaussianMixture([[-1.0, 0], [1.0, 1.0]], [1.0, 2.0])
    model = LogisticRegression().fit(*population.sample(500, 0))
    bayes = BayesClassifier(population)
    by_formula, asked = bayes.risk(model.rule_), bayes.risk(model)
    assert asked == pytest.approx(by_formula, abs=3 * asked.error + 1e-12)
    assert bayes.risk(lambda X: model.predict(X)) == asked
    for loss in ("squared", "log"):
        assert bayes.risk(model, loss=loss) == pytest.approx(bayes.risk(model.rule_, loss=loss), abs=1e-7)
    margin = losses.LogLikelihood()
    assert bayes.risk(model.rule_, loss=margin) == pytest.approx(bayes.risk(model.rule_, loss="log"), abs=1e-12)


def test_the_rule_itself_has_the_floors_as_risks():
    bayes = BayesClassifier(unequal())
    floors = bayes.floors()
    assert bayes.risk(bayes) == pytest.approx(floors.zero_one, abs=1e-11)
    assert bayes.risk(bayes, loss="squared") == pytest.approx(floors.squared, abs=1e-11)
    assert bayes.risk(bayes, loss="log") == pytest.approx(floors.log, abs=1e-11)


def test_logistic_regression_reaches_the_floor_of_its_own_model():
    population = LogisticModel([1.5, -1.0], 0.5, Gaussians([[0.0, 0.0]]))
    bayes = BayesClassifier(population)
    excess = []
    for n in (300, 30_000):
        model = LogisticRegression().fit(*population.sample(n, 0))
        excess.append(bayes.risk(model.rule_, loss="log") - bayes.floors().log)
    assert 0 < excess[1] < 5e-4 < excess[0] < 5e-2  # d/2n in the mean
    least_squares = LogisticRegression(objective="squared", random_state=0).fit(*population.sample(30_000, 0))
    assert 0 < bayes.risk(least_squares.rule_, loss="squared") - bayes.floors().squared < 5e-4


def test_a_rule_that_is_sure_and_wrong_has_an_infinite_risk():
    surer = LinearRule([1e6], 0.0, probabilistic=True)
    coin = Discrete([[-1.0], [1.0]], [0.5, 0.5], [0.0, 0.5])
    assert BayesClassifier(coin).risk(surer, loss="log") == 1e6 / 4  # −log p, though p itself rounds to zero
    assert BayesClassifier(coin).risk(lambda X: X[:, 0] > 0, loss="log") == np.inf
    never = BayesClassifier(unequal()).risk(lambda X: np.zeros(len(X)), loss="log")
    assert never == np.inf


def test_reversed_classes_are_read_by_name():
    bayes = BayesClassifier(figures.two_gaussians(2.0, 1), classes=("no", "yes"))
    rule = LinearRule([1.0], 0.2, ("no", "yes"), probabilistic=True)
    turned = LinearRule([-1.0], -0.2, ("yes", "no"), probabilistic=True)
    for loss in ("0-1", "squared", "log", losses.Hinge()):
        assert bayes.risk(turned, loss=loss) == pytest.approx(bayes.risk(rule, loss=loss), abs=1e-12)
    assert bayes.predict([[3.0]]).tolist() == ["yes"]
    assert bayes.best_linear().rule.classes == ("no", "yes")


# The best linear rule, and excess


@pytest.mark.parametrize(
    ("population", "error"), [(figures.xor(), 0.25), (figures.xor(0.1), 0.3), (figures.parity(3), 0.25)]
)
def test_the_best_line_errs_on_a_quarter_of_xor(population, error):
    bayes = BayesClassifier(population)
    best = bayes.best_linear()
    assert best.error == pytest.approx(error, abs=1e-15)
    assert bayes.risk(best.rule) == best.error
    assert best.proved == (population.n_features == 2)


def test_at_least_m_of_d_is_linear():
    bayes = BayesClassifier(figures.at_least(2, 4, noise=0.1))
    excess = bayes.excess(LinearRule.at_least(2, 4))
    assert excess.over_bayes == pytest.approx(0, abs=1e-15)
    assert excess.of_linear == pytest.approx(0, abs=1e-15)


def test_of_one_shared_covariance_the_best_line_is_bayes():
    population = GaussianMixture([[0.0, 0], [2.0, 1.0]], [[1.0, 0.6], [0.6, 2.0]], [0.7, 0.3])
    best = BayesClassifier(population).best_linear()
    assert best.proved
    assert best.error == BayesClassifier(population).error()
    searched = best_linear(
        GaussianMixture([[0.0, 0], [2.0, 1.0], [2.0, 1.0]], population.covariances[0], [0.7, 0.1, 0.2], [0, 1, 1])
    )
    assert not searched.proved
    assert searched.error == pytest.approx(best.error, abs=1e-13)


def test_on_the_line_no_threshold_is_better():
    population = unequal()
    best = BayesClassifier(population).best_linear()
    grid = [population.error_of([sign], t) for sign in (1.0, -1.0) for t in np.linspace(-15, 15, 3001)]
    assert min(grid) - 1e-5 < best.error <= min(grid)


def test_in_the_plane_the_sweep_finds_what_trying_all_lines_finds():
    rng = np.random.default_rng(3)
    for _ in range(5):
        population = few_points(rng)
        best = best_linear(population)
        W = rng.standard_normal((20_000, 2))
        b = rng.uniform(-6, 6, 20_000)
        positive = population.points @ W.T + b > 0
        wrong = np.where(
            positive, 1 - population.eta(population.points)[:, None], population.eta(population.points)[:, None]
        )
        least = (population.masses @ wrong).min()
        assert best.error <= least + 1e-12


def few_points(rng):
    points = np.unique(rng.integers(0, 4, (9, 2)), axis=0).astype(float)
    return Discrete(points, None, rng.random(len(points)))


def test_other_inputs_are_searched_too():
    population = Known(Box([-1, -1], [1, 1]), lambda X: np.where(X[:, 0] * X[:, 1] > 0, 1.0, 0.0))
    excess = BayesClassifier(population).excess(LinearRule([1.0, 0.0]))
    assert excess.error == pytest.approx(0.5, abs=1e-6)
    assert excess.best.error == pytest.approx(1 / 3, abs=0.005)  # x + y > 2/3, by hand
    assert not excess.best.proved


points = st.lists(st.integers(-3, 3), min_size=2, max_size=6, unique=True)
weights = st.floats(-3, 3).map(lambda w: round(w, 2))


@st.composite
def discrete(draw):
    x = draw(points)
    masses = np.array(draw(st.lists(st.integers(1, 9), min_size=len(x), max_size=len(x))), float)
    eta = draw(st.lists(st.integers(0, 8).map(lambda k: k / 8), min_size=len(x), max_size=len(x)))
    return Discrete(np.array(x, float)[:, None], masses / masses.sum(), eta)


@examples(35, 100, discrete(), weights, weights)
def test_no_rule_beats_bayes_and_the_excess_adds_up(population, w, b):
    bayes = BayesClassifier(population)
    rule = LinearRule([w], b, probabilistic=True)
    excess = bayes.excess(rule)
    assert excess.over_bayes >= -1e-15
    assert excess.over_linear >= -1e-15
    assert excess.of_linear >= -1e-15
    assert excess.over_linear + excess.of_linear == pytest.approx(excess.over_bayes, abs=1e-15)
    assert excess.best.proved
    for loss, floor in zip(("squared", "log"), bayes.floors()[1:], strict=True):
        assert bayes.risk(rule, loss=loss) >= floor - 1e-14
    assert bayes.error() <= 2 * bayes.floors().squared + 1e-15  # min(p, 1 − p) ≤ 2p(1 − p)


# K classes


def test_three_classes_of_one_covariance():
    population = figures.three_in_a_row(3.0)
    bayes = BayesClassifier(population)
    tail = norm.cdf(-3 * np.sqrt(2) / 2 / np.sqrt(3.0))
    assert bayes.error() == pytest.approx(4 / 3 * tail, abs=1e-9)
    best = bayes.best_linear()
    assert best.proved
    X, y = population.sample(2000, 0)
    assert (best.rule.classify(X) == bayes.predict(X)).all()
    assert bayes.excess(best.rule).over_bayes == pytest.approx(0, abs=1e-7)
    model = LogisticRegression().fit(X, y)
    assert 0 < bayes.risk(model, loss="log") - bayes.floors().log < 0.02


def test_three_classes_by_hand():
    bayes = BayesClassifier(Discrete([[0.0], [1.0]], [0.5, 0.5], [[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]))
    floors = bayes.floors()
    assert floors.zero_one == pytest.approx(0.25, abs=1e-15)
    assert floors.squared == pytest.approx(0.5 * (1 - 0.375), abs=1e-15)
    assert floors.log == pytest.approx(0.5 * 1.5 * np.log(2), abs=1e-15)
    assert bayes.risk(lambda X: np.full(len(X), 2)) == pytest.approx(0.5 * 0.75, abs=1e-15)
    assert bayes.decision_function([[1.0]]).tolist() == [[-np.inf, -np.inf, 0.0]]
    with pytest.raises(ValueError, match="3 classes; the best linear rule is sought for two"):
        bayes.best_linear()


def test_a_two_class_estimator_among_three_classes_gives_the_third_nothing():
    bayes = BayesClassifier(Discrete([[0.0], [1.0]], [0.5, 0.5], [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]))
    rule = LinearRule([0.0], 0.0, (0, 1), probabilistic=True)
    assert bayes.risk(rule, loss="log") == pytest.approx(np.log(2), abs=1e-15)


# Populations


@pytest.mark.parametrize(
    "population",
    [unequal(), figures.xor(0.2), LogisticModel([1.0], 0.0, Points([0.0, 1.0])), figures.three_in_a_row()],
    ids=["gaussian", "xor", "logistic", "three"],
)
def test_samples_have_the_probabilities_they_should_and_seeds_repeat_them(population):
    X, y = population.sample(40_000, 7)
    again = population.sample(40_000, 7)
    assert X.tobytes() == again[0].tobytes()
    assert y.tobytes() == again[1].tobytes()
    P = population.posterior(X)
    for k in range(population.n_classes):
        assert abs((y == k).mean() - P[:, k].mean()) < 0.01
        assert population.expectation(lambda X, k=k: population.posterior(X)[:, k]) == pytest.approx(
            P[:, k].mean(), abs=0.01
        )


def test_log_odds_keep_their_digits_far_out():
    bayes = BayesClassifier(figures.two_gaussians(2.0, 1))
    assert bayes.decision_function([[500.0], [-500.0]]).tolist() == [1000.0, -1000.0]
    assert bayes.predict_proba([[500.0]]).tolist() == [[0.0, 1.0]]


def test_ties_are_the_first_class():
    assert BayesClassifier(lambda X: np.full(len(X), 0.5)).predict([[1.0]]).tolist() == [0]


def test_rows_that_stand_for_a_distribution_say_so():
    X = np.linspace(-2, 2, 401)[:, None]
    bayes = BayesClassifier(lambda X: 1 / (1 + np.exp(-X[:, 0])), inputs=X)
    error = bayes.error()
    assert "401 rows given" in error.how
    assert error == pytest.approx((1 / (1 + np.exp(np.abs(X[:, 0])))).mean())
    assert 0 < error.error < 0.02
    assert bayes.error(Box([-2.0], [2.0])).how == "quadrature"


def test_an_estimate_is_a_float_that_survives_pickling():
    error = BayesClassifier(unequal()).error()
    again = pickle.loads(pickle.dumps(error))
    assert again == error
    assert (again.error, again.how) == (error.error, error.how)
    assert f"{error:.3f}" == f"{error.value:.3f}"


# The figures of the notes


def least_squares(figure):
    A = np.column_stack([figure.X, np.ones(len(figure.X))])
    w = np.linalg.lstsq(A, 2.0 * figure.y - 1, rcond=None)[0]
    return LinearRule(w[:-1], w[-1])


def test_least_squares_on_one_column():
    near, far = figures.one_column(), figures.one_column_far()
    assert BayesClassifier(near.population()).risk(least_squares(near)) == pytest.approx(2 / 9)
    assert best_linear(near.population()).error == pytest.approx(1 / 9)
    assert BayesClassifier(far.population()).risk(least_squares(far)) == pytest.approx(4 / 12)


def test_the_line_of_the_first_figure_errs_on_either_side():
    X, y = figures.nine_and_nine()
    wrong = figures.nine_and_nine_line().classify(X) != y
    assert (len(X), y.sum(), wrong[y == 1].sum(), wrong[y == 0].sum()) == (18, 9, 1, 1)
    assert best_linear(figures.nine_and_nine().population()).error > 0


def test_two_minima_of_the_squared_error():
    X, y = figures.two_minima()
    b = np.linspace(-20, 20, 4001)
    m = (2 * y - 1)[:, None] * (3 * X + b)
    values = losses.LogisticSquared().value(m).sum(axis=0)
    inner = (values[1:-1] < values[:-2]) & (values[1:-1] < values[2:])
    assert b[1:-1][inner] == pytest.approx([-14.97, 9.76], abs=0.02)
    assert (np.diff(losses.LogLikelihood().value(m).sum(axis=0), 2) > 0).all()


def turned(first, second):
    cosine = first.weights @ second.weights / first.norm / second.norm
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


def test_two_scenes_of_robustness():
    likelihood, squared = LogisticRegression(), LogisticRegression(objective="squared", random_state=0)
    rules = {}
    for scene in (figures.far_but_right, figures.far_and_wrong):
        for name, fit in (("least squares", least_squares), ("nll", None), ("lmse", None)):
            model = {"nll": likelihood, "lmse": squared}.get(name)
            pair = [fit(scene(far)) if fit else model.fit(*scene(far)).rule_ for far in (False, True)]
            rules[scene.__name__, name] = turned(*pair)
    assert rules["far_but_right", "least squares"] > 20
    assert rules["far_but_right", "nll"] < 0.1
    assert rules["far_but_right", "lmse"] < 0.1
    assert rules["far_and_wrong", "nll"] > 20
    assert rules["far_and_wrong", "lmse"] < 0.1


# What is refused


@pytest.mark.parametrize(
    ("eta", "message"),
    [
        (lambda X: np.array([0.5, 1.5, 0.5]), r"eta is 1.5 in row 1; a probability in \[0, 1\]"),
        (lambda X: np.array([0.5, 0.5, np.nan]), "eta is nan in row 2"),
        (lambda X: np.array([0.5, 0.5]), r"shape \(2,\) for 3 rows"),
        (lambda X: np.full((3, 2), 0.4), "adds up to 0.8 in row 0"),
    ],
)
def test_what_is_no_probability_is_named(eta, message):
    with pytest.raises(ValueError, match=message):
        BayesClassifier(eta).predict(np.zeros((3, 1)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaussianMixture([[0.0], [1.0]], [1.0, -1.0]), "Covariance 1 has a negative eigenvalue"),
        (lambda: GaussianMixture([[0.0], [1.0]], 0.0), "Covariance 0 is singular"),
        (lambda: GaussianMixture([[0.0], [1.0]], 1.0, [0.5, 0.6]), "masses add up to 1.1"),
        (lambda: GaussianMixture([[0.0], [1.0]], 1.0, None, [0, 2]), "labels are"),
        (lambda: GaussianMixture([[0.0], [np.nan]]), "means is nan in row 1, column 0"),
        (lambda: Discrete([[0.0], [0.0]], None, [0, 1]), "given twice"),
        (lambda: Discrete([[0.0], [1.0]], None, [0, 2]), "eta is 2.0 in row 1"),
        (lambda: Discrete([[0.0], [1.0]], None, [0, 1]).eta([[2.0]]), "no point of this population"),
        (lambda: LogisticModel([1.0, 2.0], 0.0, Gaussians([[0.0]])), "2 weights; the inputs have 1 columns"),
        (lambda: figures.three_in_a_row().eta([[0.0, 0.0]]), "3 classes, and η is of two"),
        (lambda: Box([0.0], [0.0]), "low < high"),
        (lambda: BayesClassifier(lambda X: X[:, 0]).error(), "how x is spread"),
        (lambda: BayesClassifier(unequal()).risk(lambda X: X[:, 0], loss="hinge"), "loss is 'hinge'"),
        (lambda: BayesClassifier(unequal()).risk(LinearRule([1.0], 0.0, ("a", "b"))), "speaks of class 'a'"),
        (lambda: BayesClassifier(unequal()).risk(LinearRule([1.0]), loss="log"), "no probabilities"),
        (lambda: BayesClassifier(unequal(), classes=("a", "b", "c")).predict([[0.0]]), "of 2 classes, and 3 are named"),
        (lambda: unequal().expectation(lambda X: X), r"shape \(\d+, 1\)"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_is_no_rule_is_a_type_error():
    with pytest.raises(TypeError, match="give a LinearRule"):
        BayesClassifier(unequal()).risk(3)
    with pytest.raises(TypeError, match="give a population, or a function"):
        BayesClassifier(0.5)


def test_a_rule_of_other_features_is_refused():
    population = GaussianMixture([[0.0, 0.0], [2.0, 0.0]], [np.eye(2), np.diag([4.0, 0.25])], [0.3, 0.7])
    X, y = population.sample(500, random_state=0)
    for model in (NaiveBayes().fit(X, y), BernoulliNaiveBayes(threshold=0.5).fit(X, y)):
        assert 0 < BayesClassifier(population).risk(model) < 1
        with pytest.raises(ValueError, match="give the fitted learner"):
            BayesClassifier(population).risk(model.rule_)
