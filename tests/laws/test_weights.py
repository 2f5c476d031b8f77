"""Laws of sample_weight: a weight says how often a row is there. One table tells which law holds for which learner."""

import warnings
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from separatrix import (
    BernoulliNaiveBayes,
    CrossValidation,
    GaussianDiscriminant,
    GaussianNaiveBayes,
    JointClassifier,
    LeastSquaresClassifier,
    LogisticRegression,
    MaxMarginClassifier,
    MultiLabel,
    NaiveBayes,
    OneVsOne,
    OneVsRest,
    OutputCode,
    PoissonNaiveBayes,
    separability,
    surface,
    surrogates,
)
from separatrix.features import GaussianBasis, Polynomial, Standardise

N = 48
RNG = np.random.default_rng(4)
X = np.round(RNG.normal(size=(N, 3)), 3)
TWO = (X @ [1.0, -1.0, 0.5] + RNG.logistic(size=N) > 0).astype(int)
THREE = np.argmax(X + RNG.gumbel(size=(N, 3)), axis=1)
APART = (X @ [1.0, -1.0, 0.5] + 0.1 > 0).astype(int)
ON_THE_EDGE = np.where(X[:, 0] > 0.5, 1, np.where(X[:, 0] < -0.5, 0, np.arange(N) % 2))
SOFT, SHARES = np.round(RNG.uniform(size=N), 3), RNG.dirichlet(np.ones(3), N)
LABELS = np.column_stack([TWO, THREE == 0, THREE == 1]).astype(int)
BITS, COUNTS = (X > 0).astype(float), np.floor(np.abs(3 * X))
ZEROS = csr_array(np.where(np.abs(X) > 0.4, X, 0.0))
TIMES = RNG.integers(0, 4, N)
TIMES[:9] = 2
UNEVEN = np.linspace(0.5, 2, N)
SHARP = 1e-13
FEW_FOLDS = CrossValidation(grid=(1.0, 0.1, 0.01), folds=3)


@dataclass(frozen=True)
class Learner:
    """What is fitted, to what, and the laws that do not hold, each with its reason."""

    make: object
    X: object = field(default_factory=lambda: X)
    y: object = field(default_factory=lambda: TWO)
    but: dict = field(default_factory=dict)

    def answer(self, rows, y, weight=None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = self.make()
            return made(rows, y, weight) if not hasattr(made, "fit") else said(made.fit(rows, y, weight), self.X)


def said(model, rows):
    """All that a fitted model tells of the rows that it was made for."""
    found = [np.ravel(model.decision_function(rows))]
    if hasattr(model, "predict_proba"):
        found.append(np.ravel(model.predict_proba(rows)))
    if hasattr(model, "l2_path_"):
        found.append(model.l2_path_.folds.ravel())
    return model.verdict_.status, np.concatenate(found)


def of(learner, **settings):
    return lambda: learner(**settings)


def logistic(**settings):
    return lambda: LogisticRegression(**{"tol": SHARP, "max_passes": 5000, **settings})


def reduced(kind, member=None, **settings):
    return lambda: kind(member or logistic(l2=0.1)(), **settings)


def how_it_lies(rows, y, weight):
    result = separability(rows, y, weight)
    return result.kind, result.rank, result.coefficients, np.zeros(1)


def table(rows, y, weight):
    model = LogisticRegression(l2=0.1).fit(X, TWO)
    return tuple(entry.holds for entry in surrogates(model, rows, y, weight)), np.array(
        [entry.value for entry in surrogates(model, rows, y, weight)]
    )


def lowest(rows, y, weight):
    found = surface("log", rows[:, :1], y, sample_weight=weight, size=3).minima
    return len(found), np.array([(*each.theta, each.value) for each in found]).ravel()


STOCHASTIC = {
    "copies": "one step of twice the length is not two steps",
    "fractions": "three steps of a third are not one step",
}
LITERAL = {"units": "the rate is the user's, and the step is η times the weight"}
FOLDS = {
    "copies": "the copies of a row may fall into different folds",
    "fractions": "the parts of a row may fall into different folds",
}
COUNTED = {"units": "smoothing adds rows, and shrinkage asks how many rows there are: a count, not a mean"}

LEARNERS = {
    "newton": Learner(logistic(solver="newton")),
    "newton, 3 classes": Learner(logistic(solver="newton"), y=THREE),
    "lbfgs": Learner(logistic(solver="lbfgs")),
    "lbfgs, 3 classes": Learner(logistic(solver="lbfgs"), y=THREE),
    "gradient": Learner(logistic(solver="gradient", tol=1e-11)),
    "no intercept": Learner(logistic(fit_intercept=False)),
    "penalised": Learner(logistic(l2=0.1)),
    "penalised, 3 classes": Learner(logistic(l2=0.1), y=THREE),
    "separated": Learner(logistic(), y=APART),
    "quasi-separated": Learner(logistic(), np.sign(X[:, :1]) * (np.abs(X[:, :1]) > 0.5), ON_THE_EDGE),
    "soft": Learner(logistic(), y=SOFT),
    "soft, balanced": Learner(logistic(class_weight="balanced"), y=SOFT),
    "soft, 3 classes": Learner(logistic(), y=SHARES),
    "soft, 3 classes, balanced": Learner(logistic(class_weight="balanced"), y=SHARES),
    "balanced": Learner(logistic(class_weight="balanced")),
    "balanced, 3 classes": Learner(logistic(class_weight="balanced"), y=THREE),
    "class weights": Learner(logistic(class_weight={0: 5.0, 2: 0.2}), y=THREE),
    "squared": Learner(logistic(objective="squared", starts=2, tol=1e-11)),
    "squared, 3 classes": Learner(logistic(objective="squared", starts=2, l2=0.01, tol=1e-11), y=THREE),
    "squared, Gauss–Newton": Learner(logistic(objective="squared", solver="gauss-newton", starts=2, tol=1e-11)),
    "sparse": Learner(logistic(), ZEROS),
    "sparse, penalised, 3 classes": Learner(logistic(l2=0.1), ZEROS, THREE),
    "polynomial": Learner(logistic(features=Polynomial(2), l2=0.1)),
    "standardised": Learner(logistic(features=Standardise(), l2=0.1)),
    "standardised products": Learner(logistic(features=[Polynomial(2), Standardise()], l2=0.1), y=THREE),
    "standardised, balanced": Learner(logistic(features=Standardise(), l2=0.1, class_weight="balanced")),
    "k-means": Learner(logistic(features=GaussianBasis(count=3, random_state=0), l2=0.1)),
    "grid": Learner(logistic(features=GaussianBasis("grid", count=2), l2=0.1)),
    "cross-validation": Learner(logistic(l2=FEW_FOLDS), but=FOLDS),
    "cross-validation, 3 classes": Learner(logistic(l2=FEW_FOLDS), y=THREE, but=FOLDS),
    "stochastic": Learner(logistic(solver="stochastic", random_state=0, max_passes=9, l2=0.1), but=STOCHASTIC),
    "stochastic, a rate of one's own": Learner(
        logistic(solver="stochastic", random_state=0, max_passes=9, learning_rate=0.1), but=STOCHASTIC | LITERAL
    ),
    "delta rule": Learner(
        of(LeastSquaresClassifier, solver="stochastic", random_state=0, max_passes=9), but=STOCHASTIC
    ),
    "least squares": Learner(of(LeastSquaresClassifier)),
    "least squares, 3 classes": Learner(of(LeastSquaresClassifier), y=THREE),
    "least squares, penalised": Learner(of(LeastSquaresClassifier, l2=0.1)),
    "least squares, soft": Learner(of(LeastSquaresClassifier), y=SHARES),
    "least squares, sparse": Learner(of(LeastSquaresClassifier), ZEROS),
    "shared covariance": Learner(of(GaussianDiscriminant)),
    "own covariance": Learner(of(GaussianDiscriminant, covariance="own"), y=THREE),
    "shrunk": Learner(of(GaussianDiscriminant, shrinkage=0.2), y=THREE),
    "Ledoit–Wolf": Learner(of(GaussianDiscriminant, shrinkage="ledoit-wolf"), but=COUNTED),
    "Gaussian": Learner(of(GaussianNaiveBayes), but=COUNTED),
    "Gaussian, not smoothed": Learner(of(GaussianNaiveBayes, smoothing=0), y=THREE),
    "Gaussian, one variance": Learner(of(GaussianNaiveBayes, variance="shared", smoothing=0)),
    "Bernoulli": Learner(of(BernoulliNaiveBayes), BITS, but=COUNTED),
    "Bernoulli, not smoothed": Learner(of(BernoulliNaiveBayes, smoothing=0), BITS),
    "Poisson": Learner(of(PoissonNaiveBayes), COUNTS, THREE, but=COUNTED),
    "categorical": Learner(of(NaiveBayes, families="categorical"), BITS, but=COUNTED),
    "joint": Learner(of(JointClassifier, tol=SHARP), y=THREE),
    "joint, penalised": Learner(of(JointClassifier, l2=0.1, tol=SHARP, class_weight="balanced"), y=THREE),
    "margin": Learner(of(MaxMarginClassifier), y=APART),
    "one-vs-rest": Learner(reduced(OneVsRest), y=THREE),
    "one-vs-rest, balanced": Learner(reduced(OneVsRest, logistic(l2=0.1, class_weight="balanced")()), y=THREE),
    "one-vs-rest, standardised": Learner(reduced(OneVsRest, logistic(l2=0.1, features=Standardise())()), y=THREE),
    "one-vs-one": Learner(reduced(OneVsOne), y=THREE),
    "one-vs-one of least squares": Learner(reduced(OneVsOne, LeastSquaresClassifier()), y=THREE),
    "output code": Learner(reduced(OutputCode, random_state=0), y=THREE),
    "several labels": Learner(reduced(MultiLabel), y=LABELS),
    "separability": Learner(lambda: how_it_lies),
    "separability, apart": Learner(lambda: how_it_lies, y=APART),
    "surrogates": Learner(lambda: table),
    "surface": Learner(lambda: lowest),
}


def repeated(learner, times):
    places = np.repeat(np.arange(N), times)
    return learner.X[places], learner.y[places]


def copies(learner):
    """Weight k is the row k times."""
    return learner.answer(learner.X, learner.y, TIMES), learner.answer(*repeated(learner, TIMES))


def fractions(learner):
    """Three rows of weight ⅓ are one row."""
    rows, y = repeated(learner, 3)
    return learner.answer(rows, y, np.full(len(y), 1 / 3)), learner.answer(learner.X, learner.y)


def absence(learner):
    """Weight 0 is no row."""
    there = np.flatnonzero(TIMES)
    rows, y, weight = learner.X[there], learner.y[there], UNEVEN[there]
    return learner.answer(learner.X, learner.y, np.where(TIMES > 0, UNEVEN, 0)), learner.answer(rows, y, weight)


def units(learner, unit=7.0):
    """The unit of the weights does not matter."""
    return learner.answer(learner.X, learner.y, UNEVEN * unit), learner.answer(learner.X, learner.y, UNEVEN)


LAWS = {"copies": copies, "fractions": fractions, "absence": absence, "units": units}


def alike(one, other):
    """Whether two answers agree, numbers to six digits."""
    return one[:-1] == other[:-1] and np.allclose(one[-1], other[-1], rtol=1e-6, atol=1e-6)


def decided_alike(one, other):
    """Whether they agree, of weights that grow without end but for where they stop, which hangs on the way there."""
    from_here = N if one[0] == "separated" and len(one[-1]) == 3 * N else 0
    return alike((*one[:-1], one[-1][from_here:]), (*other[:-1], other[-1][from_here:]))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("law", LAWS)
def test_a_weight_says_how_often_a_row_is_there(name, law):
    """The exceptions are broken indeed: one that is not must leave the table."""
    learner = LEARNERS[name]
    assert alike(*LAWS[law](learner)) == (law not in learner.but), learner.but.get(law, LAWS[law].__doc__)


@pytest.mark.parametrize("name", [name for name, learner in LEARNERS.items() if "units" not in learner.but])
@pytest.mark.parametrize("unit", [1e-300, 1e12])
def test_weights_may_be_as_small_or_as_large_as_they_like(name, unit):
    assert alike(*units(LEARNERS[name], unit))


# ----------------------------------------------------------------------------------------- rows that are not there


def beside(learner, strays):
    """The same answer with the strays before the rows, at weight zero, and without them."""
    rows = learner.X.toarray() if issparse(learner.X) else learner.X
    rows = np.vstack([strays, rows])
    y = np.concatenate([learner.y[: len(strays)], learner.y])
    weight = np.concatenate([np.zeros(len(strays)), UNEVEN])
    rows = csr_array(rows) if issparse(learner.X) else rows
    return learner.answer(rows, y, weight), learner.answer(learner.X, learner.y, UNEVEN)


@pytest.mark.parametrize("name", [name for name, learner in LEARNERS.items() if learner.X is X or learner.X is ZEROS])
@pytest.mark.parametrize("size", [1e8, 1e200])
def test_a_row_that_is_absent_may_hold_any_number(name, size):
    """A square of it may overflow; and no frame is chosen by it."""
    assert alike(*beside(LEARNERS[name], size * np.array([[1.0, -1.0, 1.0], [0.0, 3.0, -1.0]])))


DEPENDENT = ["newton", "lbfgs", "penalised", "squared", "least squares", "shared covariance", "separability",
             "separability, apart", "margin", "one-vs-rest", "standardised"]  # fmt: skip


@pytest.mark.parametrize("name", DEPENDENT)
@pytest.mark.parametrize("last", [np.full(N, 0.1), X[:, 0]], ids=["constant", "the first column again"])
def test_a_row_that_is_absent_neither_makes_a_column_vary_nor_the_rank_full(name, last):
    learner = LEARNERS[name]
    wider = Learner(learner.make, np.column_stack([X, last]), learner.y)
    assert alike(*beside(wider, np.array([[1.0, 2.0, 3.0, 5.0]])))


FINITE = ["newton", "sparse", "margin", "joint", "one-vs-rest", "separability", "surface", "standardised"]


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_refused_even_there(name, value):
    """X is wrong then, and would be refused by `predict` next."""
    with pytest.raises(ValueError, match=r"X\[0, ('x0'|0)\]"):
        beside(LEARNERS[name], np.array([[value, 0.0, 0.0]]))


@pytest.mark.parametrize("name", ["least squares", "own covariance", "shrunk", "Ledoit–Wolf", "Gaussian"])
def test_sums_over_the_rows_that_count_do_not_read_the_others_at_all(name):
    assert alike(*beside(LEARNERS[name], np.array([[np.nan, np.inf, 0.0]])))


def test_many_absent_rows_of_a_large_sparse_table_are_not_seen():
    """The sample that chooses the units would consist of them."""
    rng = np.random.default_rng(0)
    rows = np.vstack([np.full((6000, 3), 1e9), rng.normal(size=(300, 3))])
    y = np.append(np.zeros(6000), rows[6000:] @ [1, 1, 1] + rng.logistic(size=300) > 0).astype(int)
    weight = np.append(np.zeros(6000), np.ones(300))
    for kind in (np.asarray, csr_array):
        model = LogisticRegression(tol=SHARP).fit(kind(rows), y, weight)
        alone = LogisticRegression(tol=SHARP).fit(kind(rows[6000:]), y[6000:])
        np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-6)
        assert model.verdict_.check(kind(rows), y, weight)
        found = separability(kind(rows), y, weight)
        assert found.kind == "overlap"
        assert found.check(kind(rows), y, weight)


def test_the_quick_fits_of_a_reduction_do_not_see_absent_rows():
    rng = np.random.default_rng(1)
    rows, y = rng.normal(size=(3000, 6)), rng.integers(0, 3, 3000)
    rows[:, 5] = 2.0
    rows[::10] = 1e200
    weight = np.where(np.arange(3000) % 10 == 0, 0.0, 1.0)
    there = weight > 0
    for kind in (OneVsRest, OneVsOne):
        model, alone = (kind(LogisticRegression(l2=0.01, tol=SHARP)) for _ in range(2))
        model.fit(rows, y, weight), alone.fit(rows[there], y[there])
        np.testing.assert_allclose(
            model.decision_function(rows[there]), alone.decision_function(rows[there]), atol=1e-6
        )
        assert model.verdict_.check(rows, y, weight)


def test_objects_that_are_absent_are_not_asked_for_their_features():
    def phi(objects, c):
        return np.array([[len(each) * (c == "b")] for each in objects], float)

    words, y, weight = ["x", "xx", "xxx", None, "xx", "x"], list("aabbab"), [1, 1, 1, 0, 1, 2.0]
    there = [0, 1, 2, 4, 5]
    model = JointClassifier(phi).fit(words, y, weight)
    alone = JointClassifier(phi).fit([words[i] for i in there], [y[i] for i in there], [weight[i] for i in there])
    np.testing.assert_allclose(model.theta_, alone.theta_, rtol=1e-9)
    assert model.verdict_.check(words, y, weight)


def test_folds_are_dealt_as_if_absent_rows_were_not_there():
    there = np.arange(N) % 4 != 1
    path = LogisticRegression(l2="cv").fit(X, TWO, there).l2_path_
    alone = LogisticRegression(l2="cv").fit(X[there], TWO[there]).l2_path_
    np.testing.assert_allclose(path.folds, alone.folds, rtol=1e-6)


def test_the_influence_of_rows_is_not_measured_by_absent_ones():
    model = LogisticRegression(tol=SHARP).fit(X, TWO)
    alone = model.influence(X, TWO)
    rows, y = np.vstack([[[1e9, -1e9, 1e9], [1e200, 0, 0]], X]), np.append([0, 1], TWO)
    found = model.influence(rows, y, np.append([0, 0], np.ones(N)))
    for one, other in zip(found, alone, strict=True):
        np.testing.assert_allclose(one[2:], other, atol=1e-9)
    assert not found.leverage[:2].any()
    assert not found.shift[:2].any()


def test_the_influence_of_a_weight_is_that_of_its_copies():
    model = LogisticRegression(l2=0.1, tol=SHARP).fit(X, TWO, TIMES)
    places = np.repeat(np.arange(N), TIMES)
    copied = model.influence(X[places], TWO[places])
    for unit in (1.0, 1e-300, 1e12):
        found = model.influence(X, TWO, unit * TIMES)
        np.testing.assert_allclose(found.leverage, np.bincount(places, copied.leverage, N), atol=1e-12)


LAST = ["newton", "separated", "least squares", "shared covariance", "Gaussian", "joint", "margin", "one-vs-rest",
        "one-vs-one", "output code", "separability", "sparse"]  # fmt: skip


@pytest.mark.parametrize("name", LAST)
def test_a_class_whose_rows_are_all_absent_is_named(name):
    learner = LEARNERS[name]
    y = np.where(learner.y == 1, "yes", "no")
    with pytest.raises(ValueError, match="Every sample of class 'yes' has sample_weight zero"):
        learner.answer(learner.X, y, (y == "no") * 1.0)


ONE_EACH = ["penalised", "separated", "least squares", "margin", "separability", "one-vs-rest", "Gaussian"]


@pytest.mark.parametrize("name", ONE_EACH)
def test_one_row_of_each_class_is_enough_where_it_is_without_weights(name):
    learner = LEARNERS[name]
    there = np.sort([int(np.argmax(learner.y == label)) for label in np.unique(learner.y)])
    weight = np.zeros(N)
    weight[there] = 3.0
    alone = learner.answer(learner.X[there], learner.y[there], weight[there])
    assert alike(learner.answer(learner.X, learner.y, weight), alone)


# --------------------------------------------------------------------------------------------- how weights are given


EVERY = ["newton", "least squares", "shared covariance", "Gaussian", "joint", "margin", "one-vs-rest", "several labels",
         "separability", "surrogates", "surface"]  # fmt: skip


@pytest.mark.parametrize("name", EVERY)
def test_any_row_of_numbers_is_taken_by_its_order(name):
    pandas = pytest.importorskip("pandas")
    learner = LEARNERS[name]
    expected = learner.answer(learner.X, learner.y, TIMES.astype(float))
    for given in (
        pandas.Series(TIMES, index=np.arange(N)[::-1] + 7),
        TIMES.tolist(),
        TIMES.astype(np.int8),
        TIMES.astype(np.float32),
    ):
        assert alike(learner.answer(learner.X, learner.y, given), expected)
    yes = TIMES > 0
    assert alike(learner.answer(learner.X, learner.y, yes), learner.answer(learner.X, learner.y, yes * 1.0))


def with_entry(value):
    weight = np.ones(N)
    weight[3] = value
    return weight


WRONG = {
    "negative": (with_entry(-1.0), ValueError, r"sample_weight\[3\] is -1"),
    "NaN": (with_entry(np.nan), ValueError, r"sample_weight\[3\] is nan"),
    "infinite": (with_entry(np.inf), ValueError, r"sample_weight\[3\] is inf"),
    "all zero": (np.zeros(N), ValueError, "sample_weight is zero for every"),
    "too few": (np.ones(N - 1), ValueError, r"sample_weight has shape \(47,\)"),
    "a column": (np.ones((N, 1)), ValueError, r"sample_weight has shape \(48, 1\)"),
    "a table": (np.ones((N, 2)), ValueError, r"sample_weight has shape \(48, 2\)"),
    "words": (["much"] * N, ValueError, "sample_weight must hold numbers"),
    "complex": (np.ones(N) * 1j, ValueError, "sample_weight must hold numbers.*complex"),
    "masked": (np.ma.masked_array(np.ones(N), mask=TIMES == 0), TypeError, "sample_weight is a masked array"),
}


@pytest.mark.parametrize("name", EVERY)
def test_wrong_weights_are_named(name):
    learner = LEARNERS[name]
    for weight, kind, words in WRONG.values():
        with pytest.raises(kind, match=words):
            learner.answer(learner.X, learner.y, weight)


@pytest.mark.parametrize("name", ["newton", "least squares", "shared covariance", "Gaussian", "joint", "one-vs-rest"])
def test_weights_whose_sum_is_no_number_are_refused_and_not_blamed_on_x(name):
    learner = LEARNERS[name]
    with pytest.raises(ValueError, match=r"sample_weight reaches 1e\+308, and .* divide all of them by one number"):
        learner.answer(learner.X, learner.y, np.full(N, 1e308))
    with pytest.raises(ValueError, match=r"sample_weight reaches 4.94e-324 only.* multiply all of them by one number"):
        learner.answer(learner.X, learner.y, np.full(N, 5e-324))


@pytest.mark.parametrize("name", ["newton", "least squares", "shared covariance", "Gaussian", "joint"])
@pytest.mark.parametrize("light", [1e-300, 1e-12])
def test_a_weight_that_is_almost_nothing_is_almost_absence(name, light):
    learner = LEARNERS[name]
    weight = np.where(np.arange(N) < N // 3, light, 1.0)
    some = learner.answer(learner.X, learner.y, weight)
    assert alike(some, learner.answer(learner.X[N // 3 :], learner.y[N // 3 :]))


# --------------------------------------------------------------------------------------------------- class weights


@pytest.mark.parametrize("y", [TWO, THREE, SHARES], ids=["two", "three", "soft"])
def test_class_weights_multiply_sample_weights(y):
    factors = {0: 3.0, 1: 0.5}
    classed = LogisticRegression(class_weight=factors, tol=SHARP).fit(X, y, UNEVEN)
    if y.ndim == 1:
        by_row = LogisticRegression(tol=SHARP).fit(X, y, UNEVEN * [factors.get(label, 1.0) for label in y.tolist()])
    else:
        places, labels = np.repeat(np.arange(N), 3), np.tile(np.arange(3), N)
        weight = (UNEVEN[:, None] * y * [3.0, 0.5, 1.0]).ravel()
        by_row = LogisticRegression(tol=SHARP).fit(X[places], labels, weight)
    np.testing.assert_allclose(classed.coef_, by_row.coef_, atol=1e-6)


@pytest.mark.parametrize("make", [LogisticRegression, JointClassifier])
@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_a_class_is_not_lost_between_two_weights(make, unit):
    with pytest.raises(
        ValueError, match=r"class weight 1e[+-]300 of class 1 times the weights of its rows.*usual size"
    ):
        make(class_weight={1: unit}).fit(X, TWO, np.full(N, unit))


@pytest.mark.parametrize("make", [LogisticRegression, JointClassifier])
def test_balance_is_of_weighted_totals(make):
    totals = np.bincount(THREE, TIMES)
    factors = dict(enumerate(totals.sum() / (3 * totals)))
    balanced, given = (make(class_weight=chosen, tol=SHARP).fit(X, THREE, TIMES) for chosen in ("balanced", factors))
    np.testing.assert_allclose(balanced.decision_function(X), given.decision_function(X), atol=1e-6)


UNPROVED = ("stochastic", "stochastic, a rate of one's own", "delta rule", "surrogates", "surface")


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in UNPROVED])
def test_a_verdict_is_checked_with_the_weights_of_its_fit(name):
    learner, weight = LEARNERS[name], np.where(TIMES > 0, UNEVEN, 0)
    assert verdict(learner, weight).check(learner.X, learner.y, weight)


@pytest.mark.parametrize("name", ["newton", "squared", "least squares", "shared covariance", "Gaussian", "joint"])
def test_a_verdict_does_not_hold_at_other_weights(name):
    learner = LEARNERS[name]
    found = verdict(learner, UNEVEN)
    assert not found.check(learner.X, learner.y)
    assert not found.check(learner.X, learner.y, UNEVEN[::-1])


CHECKED = ["newton", "squared", "least squares", "shared covariance", "Gaussian", "joint", "margin", "one-vs-rest",
           "several labels", "separability"]  # fmt: skip


@pytest.mark.parametrize("name", CHECKED)
def test_a_check_takes_no_weights_that_a_fit_would_not_take(name):
    learner = LEARNERS[name]
    found = verdict(learner, UNEVEN)
    for table in (UNEVEN[:, None], UNEVEN.reshape(-1, 2)):
        with pytest.raises(ValueError, match="sample_weight"):
            found.check(learner.X, learner.y, table)
    with pytest.raises(ValueError, match="they must agree"):
        found.check(learner.X, learner.y, UNEVEN[1:])
    for value in (-1.0, np.nan, np.inf):
        assert not found.check(learner.X, learner.y, with_entry(value))
    assert not found.check(learner.X, learner.y, np.zeros(N))


def verdict(learner, weight):
    made = learner.make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not hasattr(made, "fit"):
            return separability(learner.X, learner.y, weight)
        return made.fit(learner.X, learner.y, weight).verdict_
