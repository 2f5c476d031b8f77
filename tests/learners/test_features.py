"""Feature maps as transformers: what they make of rows, by formulas written out; their names; what they refuse."""

import itertools
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from separatrix import LogisticRegression, Perceptron, separability
from separatrix.data.mapped import MappedRows
from separatrix.data.maps.maps import Products, count_of_monomials, map_of, monomials
from separatrix.features import GaussianBasis, Interactions, Lift, Polynomial, Standardise

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 3))
FRAME = pd.DataFrame(X, columns=["height", "width", "age"])
ALL = {
    "polynomial": Polynomial(3),
    "distinct": Polynomial(3, interactions_only=True),
    "interactions": Interactions(),
    "pairs": Interactions([(2, 0)]),
    "gaussians": GaussianBasis(random_state=0),
    "grid": GaussianBasis("grid", count=2),
    "lift": Lift(),
    "square": Lift("square"),
    "standard": Standardise(),
    "scaled": Standardise(centre=False),
}


# ------------------------------------------------------------------------------------------------------------ the maps


@given(st.integers(1, 5), st.integers(1, 4), st.booleans())
def test_monomials_are_all_products_each_once(columns, degree, distinct):
    degree = min(degree, columns) if distinct else degree
    found = monomials(columns, degree, distinct=distinct)
    choose = itertools.combinations if distinct else itertools.combinations_with_replacement
    expected = [term for k in range(1, degree + 1) for term in choose(range(columns), k)]
    assert found.width_out == len(expected) == count_of_monomials(columns, degree, distinct=distinct)
    rows = np.random.default_rng(columns + 7 * degree).normal(size=(4, columns))
    made = found.expand(rows)
    for k, term in enumerate(expected):
        np.testing.assert_allclose(made[:, k], [math.prod(row[j] for j in term) for row in rows], rtol=1e-14)


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=12))
def test_products_of_any_columns_in_any_order(terms):
    terms = [sorted(term) for term in terms]
    table = np.array([term + [-1] * (4 - len(term)) for term in terms])
    rows = np.array([[2.0, 3.0, 5.0, 7.0], [-1.0, 0.5, 2.0, 0.0]])
    expected = [[math.prod(row[j] for j in term) for term in terms] for row in rows.tolist()]
    assert Products(4, table).expand(rows).tolist() == expected


def test_polynomials_agree_with_scikit_learn():
    for degree, only in itertools.product((1, 2, 3), (False, True)):
        theirs = PolynomialFeatures(degree, interaction_only=only, include_bias=False).fit_transform(X)
        ours = Polynomial(degree, interactions_only=only).fit_transform(X)
        np.testing.assert_allclose(ours, theirs, rtol=1e-14)


def test_gaussians_by_the_formula():
    centres, widths = RNG.normal(size=(5, 3)), RNG.uniform(0.5, 2, 5)
    made = GaussianBasis(centres, widths=widths).fit_transform(X)
    for i, j in itertools.product(range(len(X)), range(5)):
        distance = sum((X[i, k] - centres[j, k]) ** 2 for k in range(3))
        assert made[i, j] == pytest.approx(math.exp(-distance / (2 * widths[j] ** 2)), rel=1e-12)


def test_gaussians_keep_their_digits_far_from_the_origin():
    centres = RNG.normal(size=(4, 3))
    near = GaussianBasis(centres, widths=1.0).fit_transform(X)
    far = GaussianBasis(centres + 2.0**20, widths=1.0).fit_transform(X + 2.0**20)
    np.testing.assert_allclose(far, near, rtol=1e-8)


def test_a_grid_covers_the_range_and_spacing_is_its_step():
    rows = np.array([[0.0, 10.0], [4.0, 30.0]])
    model = GaussianBasis("grid", count=3).fit(rows)
    points = set(map(tuple, model.map_.centres.tolist()))
    assert points == set(itertools.product((0.0, 2.0, 4.0), (10.0, 20.0, 30.0)))
    assert model.map_.widths.tolist() == [2.0] * 9  # the nearest other centre is along the first axis
    flat = GaussianBasis("grid", count=3).fit(np.array([[0.0, 7.0], [4.0, 7.0]]))
    assert flat.map_.centres.tolist() == [[0.0, 7.0], [2.0, 7.0], [4.0, 7.0]]


def test_k_means_finds_clear_clusters_and_the_same_ones_for_a_seed():
    middles = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    rows = np.repeat(middles, 30, axis=0) + 0.1 * np.random.default_rng(0).normal(size=(90, 2))
    model = GaussianBasis(count=3, random_state=1).fit(rows)
    for middle in middles:
        assert np.linalg.norm(model.map_.centres - middle, axis=1).min() < 0.2
    assert model.map_.widths == pytest.approx([10, 10, 10], rel=0.5)
    again = GaussianBasis(count=3, random_state=1).fit(rows)
    assert again.map_.centres.tolist() == model.map_.centres.tolist()


def test_lifting_makes_the_intercept_a_weight():
    y = (X[:, 0] + 0.4 + RNG.logistic(size=40) > 0).astype(int)
    plain = LogisticRegression().fit(X, y)
    lifted = make_pipeline(Lift(), LogisticRegression(fit_intercept=False)).fit(X, y)
    np.testing.assert_allclose(lifted[-1].coef_[0], [*plain.coef_[0], plain.intercept_[0]], rtol=1e-6, atol=1e-9)
    assert Lift("square").fit_transform([[3.0, 4.0]]).tolist() == [[3.0, 4.0, 25.0]]


def test_standardise_is_scikit_learns_scaler_and_names_constant_columns():
    rows = FRAME.assign(one=1e9 / 3, age=FRAME["age"] * 1e-3 + 50)
    model = Standardise().fit(rows)
    theirs = StandardScaler().fit_transform(rows.drop(columns="one"))
    np.testing.assert_allclose(model.transform(rows)[:, :3], theirs, rtol=1e-9, atol=1e-9)
    assert model.constant_ == ("one",)
    assert model.transform(rows)[:, 3].tolist() == [0.0] * 40
    np.testing.assert_allclose(Standardise(centre=False).fit_transform(X), X / X.std(axis=0), rtol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_any_block_of_rows_is_mapped_by_itself(name):
    model = clone(ALL[name]).fit(X)
    whole = model.transform(X)
    mapped = MappedRows(X, model.map_)
    assert mapped.shape == whole.shape == (40, model.map_.width_out)
    assert model.map_.width_in == 3
    assert mapped[7:20].dense().tolist() == whole[7:20].tolist()
    assert mapped[[3, 1, 3]].dense().tolist() == whole[[3, 1, 3]].tolist()
    np.testing.assert_allclose(mapped @ np.arange(whole.shape[1]), whole @ np.arange(whole.shape[1]), rtol=1e-12)
    low, high = mapped.extremes()
    assert (low.tolist(), high.tolist()) == (whole.min(axis=0).tolist(), whole.max(axis=0).tolist())
    assert mapped.any()
    assert mapped.finite()


@pytest.mark.parametrize("name", ALL)
def test_a_map_is_plain_data_and_can_be_made_again(name):
    model = clone(ALL[name]).fit(X)
    again = map_of(model.map_.spec)
    assert again.expand(X).tolist() == model.transform(X).tolist()
    assert pickle.loads(pickle.dumps(model)).transform(X).tolist() == model.transform(X).tolist()


# ----------------------------------------------------------------------------------------------------- as transformers


@pytest.mark.parametrize("name", ["polynomial", "interactions", "gaussians", "lift", "standard"])
def test_check_estimator(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(type(ALL[name])(), on_skip=None, on_fail=None)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert not failed
    assert len(results) > 30


@pytest.mark.parametrize("name", ALL)
def test_names_frames_and_set_output(name):
    model = clone(ALL[name]).fit(FRAME)
    names = model.get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == model.map_.width_out
    table = clone(ALL[name]).set_output(transform="pandas").fit_transform(FRAME)
    assert table.columns.tolist() == names
    np.testing.assert_array_equal(table.to_numpy(), model.transform(FRAME))


def test_names_are_short_and_readable():
    def names(model):
        return clone(model).fit(FRAME).get_feature_names_out().tolist()

    assert names(Polynomial(2)) == [
        "height", "width", "age", "height²", "height·width", "height·age", "width²", "width·age", "age²",
    ]  # fmt: skip
    assert "height²·width" in names(Polynomial(3))
    assert "height³" in names(Polynomial(3))
    assert names(Interactions([("age", "height")]))[3:] == ["height·age"]
    assert names(Lift())[3:] == ["1"]
    assert names(Lift("square"))[3:] == ["‖x‖²"]
    assert names(Standardise()) == ["height", "width", "age"]
    assert names(GaussianBasis([[0, 0, 0], [1, 1, 1]]))[1] == "exp(−‖x−c1‖²/2s²)"
    assert Polynomial(2).fit(X).get_feature_names_out().tolist()[:4] == ["x0", "x1", "x2", "x0²"]


@pytest.mark.parametrize("name", ["polynomial", "interactions", "lift", "square", "scaled"])
def test_sparse_rows_stay_sparse_and_say_the_same(name):
    dense = np.where(RNG.random((50, 6)) < 0.3, RNG.normal(size=(50, 6)), 0.0)
    made = clone(ALL[name]).fit(sparse.csr_array(dense)).transform(sparse.csr_array(dense))
    assert sparse.issparse(made)
    np.testing.assert_allclose(made.toarray(), clone(ALL[name]).fit_transform(dense), rtol=1e-12)
    assert not sparse.issparse(GaussianBasis(dense[:3], widths=1.0).fit_transform(sparse.csr_array(dense)))


def test_single_precision_comes_out_in_double():
    single = X.astype(np.float32)
    made = Polynomial(2).fit_transform(single)
    assert made.dtype == np.float64
    assert made.tolist() == Polynomial(2).fit_transform(single.astype(float)).tolist()


def test_any_learner_takes_them_in_a_pipeline():
    x, y = np.array([-3, -2.5, -1.5, -0.5, 0.25, 1, 2, 3])[:, None], [-1, -1, -1, 1, 1, 1, -1, -1]
    assert make_pipeline(Polynomial(2), Perceptron()).fit(x, y).score(x, y) == 1.0


# ----------------------------------------------------------------------------------------------------- what is refused


def spoilt(value):
    rows = X.copy()
    rows[5, 1] = value
    return rows


REFUSED = {
    "degree zero": (lambda: Polynomial(0).fit(X), ("degree is 0", "at least 1")),
    "degree of a half": (lambda: Polynomial(1.5).fit(X), ("degree is 1.5", "whole number")),
    "interactions_only of a word": (
        lambda: Polynomial(interactions_only="yes").fit(X),
        ("interactions_only is 'yes'",),
    ),
    "too many features": (
        lambda: Polynomial(6).fit(np.zeros((10, 100))),
        ("Polynomial(degree=6) of 100 columns", "1705904745 features", "136 GB", "lower the degree"),
    ),
    "centres of the wrong width": (
        lambda: GaussianBasis([[0.0, 1.0]]).fit(X),
        ("centres has shape (1, 2)", "X has 3 columns", "row of 3 numbers"),
    ),
    "centres that are NaN": (lambda: GaussianBasis([[0.0, 1.0, np.nan]]).fit(X), ("centres[2] is nan",)),
    "centres of another name": (lambda: GaussianBasis("kmeans").fit(X), ("centres is 'kmeans'", "'k-means', 'grid'")),
    "a negative width": (
        lambda: GaussianBasis(X[:2], widths=[1.0, -2.0]).fit(X),
        ("widths[1] is -2.0", "positive number"),
    ),
    "a width of zero": (lambda: GaussianBasis(X[:2], widths=0).fit(X), ("widths[0] is 0.0",)),
    "three widths for two": (
        lambda: GaussianBasis(X[:2], widths=[1, 2, 3]).fit(X),
        ("widths has shape (3,)", "2 centres"),
    ),
    "spacing of one centre": (lambda: GaussianBasis(X[:1]).fit(X), ("there is but one", "give widths a number")),
    "a centre twice": (lambda: GaussianBasis([X[0], X[0]]).fit(X), ("is there twice",)),
    "more clusters than rows": (lambda: GaussianBasis(count=9).fit(X[:5]), ("count=9", "only 5 different rows")),
    "a grid of too many points": (
        lambda: GaussianBasis("grid", count=10).fit(RNG.normal(size=(5, 9))),
        ("A grid of 10 points on each of 9 axes", "1000000000 features"),
    ),
    "an unknown column": (
        lambda: Interactions([("height", "weight")]).fit(FRAME),
        ("pairs[0] names 'weight'", "'height', 'width', 'age'"),
    ),
    "a place too far": (lambda: Interactions([(0, 3)]).fit(X), ("pairs[0] names 3", "places 0 to 2")),
    "one column twice": (lambda: Interactions([(1, 1)]).fit(X), ("one column twice", "Polynomial(2)")),
    "a pair twice": (lambda: Interactions([(0, 1), (1, 0)]).fit(X), ("pairs[1]", "there already")),
    "no pairs": (lambda: Interactions([]).fit(X), ("pairs is empty",)),
    "a name for a pair": (lambda: Interactions(["ab"]).fit(X), ("pairs[0] is 'ab'", "two columns")),
    "appending two": (lambda: Lift("two").fit(X), ("append is 'two'", "'one', 'square'")),
    "centring what is sparse": (
        lambda: Standardise().fit(sparse.csr_array(X)),
        ("fill the zeros of a sparse X", "Standardise(centre=False)"),
    ),
    "NaN at fit": (lambda: Polynomial().fit(spoilt(np.nan)), ("is NaN", "X[5, 'x1']", "Polynomial")),
    "NaN at transform": (lambda: Lift().fit(X).transform(spoilt(np.nan)), ("X[5, 'x1']",)),
    "infinity far from every centre": (
        lambda: GaussianBasis(X[:3]).fit(X).transform(spoilt(np.inf)),
        ("is inf", "X[5, 'x1']"),
    ),
    "an overflow": (
        lambda: Polynomial().fit(X).transform(spoilt(1e200)),
        ("X[5] makes the feature 'x1²' overflow", "larger units"),
    ),
    "a spread that overflows": (lambda: Standardise().fit(spoilt(1e200)), ("Column 'x1'", "1e+200", "overflow")),
    "a spread that vanishes": (lambda: Standardise().fit(1e-200 * X), ("Column 'x0'", "vanish")),
    "another width": (lambda: Polynomial().fit(X).transform(X[:, :2]), ("2 features", "expecting 3 features")),
    "other names": (
        lambda: Polynomial().fit(FRAME).transform(FRAME[["height", "age", "width"]]),
        ("the column 'age' at place 1",),
    ),
    "columns of one name": (
        lambda: Polynomial().fit(pd.DataFrame(X, columns=["a", "b", "a"])),
        ("2 columns named 'a'",),
    ),
    "names of other columns": (
        lambda: Polynomial().fit(X).get_feature_names_out(["a"]),
        ("1 names were given", "X had 3 columns"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, words = REFUSED[name]
    with pytest.raises(ValueError) as caught:
        call()
    message = str(caught.value)
    for word in words:
        assert word in message, message
    assert "\n" not in message or "The feature names should match" in message


def test_a_fit_that_fails_leaves_the_transformer_as_it_was():
    model = Standardise().fit(X)
    before = model.transform(X).tolist()
    with pytest.raises(ValueError, match="NaN"):
        model.fit(spoilt(np.nan))
    assert model.transform(X).tolist() == before


# --------------------------------------------------------------------------------------------------------- the notes


def test_example_4_6_eight_points_that_a_parabola_separates():
    """[004 Example 4-6]: Φ(x) = [x, x²], and the rule −2x² + x + 3."""
    x = np.array([-3, -2.5, -1.5, -0.5, 0.25, 1, 2, 3])[:, None]
    y = np.array([-1, -1, -1, 1, 1, 1, -1, -1])
    made = Polynomial(2).fit_transform(x)
    assert made.tolist() == [[v, v * v] for v in x[:, 0]]
    assert separability(x, y).kind == "overlap"
    assert separability(made, y).kind == "separated"
    notes = -2 * made[:, 1] + made[:, 0] + 3
    assert (np.where(notes > 0, 1, -1) == y).all()
    model = LogisticRegression(features=Polynomial(2)).fit(x, y)
    assert model.verdict_.status == "separated"
    assert model.verdict_.check(x, y)
    assert model.predict(x).tolist() == y.tolist()
    assert model.rule_.columns == ("x0", "x0²")
    assert model.rule_.weights[1] < 0
    grid = np.linspace(-4, 4, 801)[:, None]  # the response is quadratic in x: positive on one interval
    inside = model.predict(grid) == 1
    assert np.count_nonzero(np.diff(inside.astype(int))) == 2


def two_gaussians_apart(n=300):
    """One class about (−1, −1) and (1, 1)'s far corner, one between: no line parts them, two bumps do."""
    random = np.random.default_rng(3)
    centres = np.array([[-1.0, -1.0], [0.0, 0.0]])
    X = random.uniform(-2, 1.5, size=(n, 2))
    phi = np.exp(-np.square(X[:, None] - centres).sum(axis=2) / (2 * 0.5**2))
    lead = phi[:, 0] + phi[:, 1] - 0.6
    keep = np.abs(lead) > 0.1
    return X[keep], (lead[keep] > 0).astype(int), centres


def test_slide_19_two_gaussian_basis_functions():
    """[003 slide 19]: logistic regression linear in φ, with a boundary that is curved in x."""
    X, y, centres = two_gaussians_apart()
    basis = GaussianBasis(centres, widths=0.5)
    assert separability(X, y).kind == "overlap"
    assert separability(basis.fit_transform(X), y).kind == "separated"
    model = LogisticRegression(features=basis, l2=1e-4).fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(X, y)
    assert model.score(X, y) > 0.98 > LogisticRegression().fit(X, y).score(X, y)
    phi = model.features_.transform(X)
    np.testing.assert_allclose(model.decision_function(X), phi @ model.coef_[0] + model.intercept_[0], rtol=1e-10)
    middle, far = np.array([[-0.5, -0.5]]), np.array([[-2.0, 1.5], [1.5, -2.0]])
    assert model.predict(middle).tolist() == [1]
    assert model.predict(far).tolist() == [0, 0]
    assert model.predict(far.mean(axis=0)[None]).tolist() == [1]  # between two of one class: not convex, so not linear


# further cases


def test_centres_are_the_maps_own():
    X, centres = np.random.default_rng(0).normal(size=(20, 2)), np.array([[0.0, 0.0], [1.0, 1.0]])
    basis = GaussianBasis(centres, widths=np.array([1.0, 1.0])).fit(X)
    before = basis.transform(X)
    centres += 5
    np.testing.assert_array_equal(basis.transform(X), before)
    model = LogisticRegression(features=Polynomial(2), l2=0.1).fit(X, np.arange(20) % 2)
    with pytest.raises(ValueError, match="read-only"):
        model.verdict_.claim.features[0]["terms"][0, 0] = 1


@pytest.mark.parametrize(
    ("features", "shape", "said"),
    [
        (GaussianBasis("grid"), (30, 400), r"A grid of 8 points on each of 400 axes makes some 10\^361 features"),
        (Polynomial(1000), (3, 1000), r"makes some 10\^\d+ features, too many"),
        (Polynomial(20_000), (3, 1), r"Polynomial\(degree=20000\) of 1 columns has products of 20000 factors: lower"),
        (Interactions(5), (3, 3), r"pairs is 5; give a list of pairs of columns, \[\(0, 1\)\] say"),
        (Interactions((0, 1)), (3, 3), r"pairs\[0\] is 0; a pair is two columns"),
        (Interactions([None]), (3, 3), r"pairs\[0\] is None; a pair is two columns"),
        (Interactions("ab"), (3, 3), "pairs is 'ab'"),
        (GaussianBasis(np.zeros((1, 3)), widths=1e-200), (3, 3), r"widths\[0\] is 1e-200: its square is zero"),
        (GaussianBasis(None), (3, 3), "centres is None"),
        (GaussianBasis(np.zeros((1, 3)), widths=None), (3, 3), "widths is None"),
        (GaussianBasis(np.zeros((1, 3)), widths=True), (3, 3), "widths is True"),
    ],
)
def test_more_that_will_not_do(features, shape, said):
    with pytest.raises(ValueError, match=said):
        features.fit(np.random.default_rng(0).normal(size=shape))


def test_two_features_of_one_name_are_refused():
    frame = pd.DataFrame(np.ones((3, 3)), columns=["a", "b", "a·b"])
    with pytest.raises(ValueError, match="There are 2 features of the name 'a·b'"):
        Interactions([("a", "b")]).fit(frame)


def test_rows_of_no_weight_do_not_steer_the_features():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    X[:100] *= 100
    cost = np.r_[np.zeros(100), np.ones(200)]
    for maps in (Standardise(), GaussianBasis("grid", count=3), [Standardise(), Polynomial(2)]):
        weighted = LogisticRegression(features=maps, l2=0.1).fit(X, y, cost)
        absent = LogisticRegression(features=maps, l2=0.1).fit(X[100:], y[100:])
        np.testing.assert_allclose(weighted.predict_proba(X), absent.predict_proba(X), atol=1e-6)
        assert weighted.verdict_.check(X, y, cost)


@pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
def test_features_do_not_linger():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] + rng.normal(size=100) > 0).astype(int)
    model = LogisticRegression(features=Standardise()).fit(X, y)
    model.set_params(features=None, solver="stochastic", learning_rate=0.01)
    with pytest.raises(ValueError, match="was fitted in features of X, and partial_fit learns in X itself"):
        model.partial_fit(X, y)
    model.fit(X, y)
    assert not hasattr(model, "features_")
    np.testing.assert_array_equal(model.partial_fit(X, y).predict(X), model.rule_.classify(X))
