"""Joint features Φ(x, c): the maps, what is refused, and the perceptron on them."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from rarely import some_of
from referees.joint import perceptron, places, table
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from separatrix import AveragedPerceptron, BudgetWarning, JointClassifier, JointPerceptron, Perceptron, joint
from separatrix.data.maps import joint_rows as evaluator
from separatrix.joint import Blocks, Separate, Shared, rowwise
from separatrix.results.claims import JointClaim
from separatrix.results.proofs import Separation
from separatrix.results.verdict import Rank, Verdict

PETS = ("beagle", "cat", "poodle")


def whole_numbers(seed, n=60, d=3, K=3):
    rng = np.random.default_rng(seed)
    return rng.integers(-5, 6, (n, d)).astype(float), rng.integers(0, K, n)


def by_hand(K, d):
    """(x, 1) ⊗ e_c as a function of one row."""

    def phi(x, c):
        out = np.zeros((K, d + 1))
        out[c, :d], out[c, d] = x, 1
        return out.ravel()

    return rowwise(phi)


def quietly(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        return model.fit(X, y)


# --------------------------------------------------------------------------------------------------- the maps we have


@pytest.mark.parametrize("intercept", [True, False])
def test_separate_is_the_tensor_product_with_the_class(intercept):
    X = np.random.default_rng(0).normal(size=(5, 2))
    bound = Separate(intercept).bind(PETS, ("ears", "tail"))
    Z = np.column_stack([X, np.ones(5)]) if intercept else X
    for k, c in enumerate(PETS):
        expected = np.array([np.kron(np.eye(3)[k], z) for z in Z])
        assert (bound(X, c) == expected).all()
        assert (bound(csr_matrix(X), c) == expected).all()
    assert bound.names[:2] == ("beagle: ears", "beagle: tail")
    assert [bound.names[j] for j in bound.free] == [f"{c}: (intercept)" for c in PETS] * intercept


def test_shared_adds_the_groups_of_a_class():
    X = np.random.default_rng(1).normal(size=(4, 2))
    bound = Shared({"dog": ["poodle", "beagle"], "curly": ["poodle"]}, intercept=False).bind(PETS, ("a", "b"))
    members = {"beagle": [0, 2], "cat": [3], "poodle": [0, 1, 4]}  # blocks: dog, curly, beagle, cat, poodle
    for c, blocks in members.items():
        assert (bound(X, c) == np.kron(np.eye(5)[blocks].sum(axis=0), X)).all()
    assert bound.names == ("dog: a", "dog: b", "curly: a", "curly: b", *(f"{c}: {j}" for c in PETS for j in "ab"))


def test_classes_may_have_columns_and_weights_of_their_own_or_not():
    given = Shared({"dog": ["poodle", "beagle"]}, own=["poodle"], columns={"dog": [0], "poodle": ["curls"]})
    bound = given.bind(PETS, ("ears", "curls"))
    assert bound.names == ("dog: ears", "dog: (intercept)", "poodle: curls", "poodle: (intercept)")
    assert bound.free == (1, 3)
    X = np.array([[7.0, 2.0]])
    assert bound(X, "poodle").tolist() == [[7, 1, 2, 1]]
    assert bound(X, "beagle").tolist() == [[7, 1, 0, 0]]
    assert bound(X, "cat").tolist() == [[0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (Shared({"dog": ["poodel"]}), r"groups\['dog'\] names 'poodel', which is not a class of y"),
        (Shared([["poodle", "beagle"]]), r"groups is \[\['poodle', 'beagle'\]\]; it must be a dictionary"),
        (Shared({}, columns=["ears"]), r"columns is \['ears'\]; it must be a dictionary"),
        (Shared({"dog": "poodle"}), r"groups\['dog'\] is 'poodle'; it must be a list of classes"),
        (Shared({"cat": ["poodle"]}), "'cat' is a group and a class"),
        (Shared({}, own=["dog"]), "own names 'dog', which is not a class"),
        (Shared({}, own="cat"), "own is 'cat'; it must be True, False or a list"),
        (Shared({}, own=False), "no feature at all"),
        (Shared({}, columns={"bird": [0]}), "columns names 'bird', which is neither a group nor a class"),
        (Shared({}, columns={"cat": ["wings"]}), r"columns\['cat'\] names 'wings'; X has the columns"),
        (Shared({}, columns={"cat": [7]}), r"columns\['cat'\] names 7; X has the columns"),
    ],
)
def test_groups_that_do_not_fit_are_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        given.bind(PETS, ("ears", "curls"))


def test_our_maps_need_rows_of_numbers():
    with pytest.raises(ValueError, match="Shared needs rows of numbers, and X holds objects"):
        JointPerceptron(Shared({})).fit([{"a": 1}, {"a": 2}], [0, 1])


def test_rowwise_takes_a_function_of_one_row():
    phi = rowwise(lambda x, c: [x.sum(), c], names=["sum", "class"], free=["class"])
    assert np.array(phi(np.ones((2, 3)), 4)).tolist() == [[3, 4], [3, 4]]
    assert np.array(phi(csr_array(np.ones((2, 3))), 4)).tolist() == [[3, 4], [3, 4]]
    assert phi.free == (1,)
    with pytest.raises(ValueError, match="free names 'clas', which is not a feature"):
        rowwise(len, names=["class"], free=["clas"])
    with pytest.raises(TypeError, match="phi is 3; it must be a function"):
        rowwise(3)


def test_the_maps_are_plain_to_read_and_to_compare():
    assert repr(Separate()) == "Separate(intercept=True)"
    assert Shared({"dog": ["poodle"]}) == Shared({"dog": ["poodle"]})
    assert Separate().bind((0, 1), ("a",)) == Separate().bind((0, 1), ("a",))
    assert joint.Separate is Separate


# ------------------------------------------------------------------------------------------------ what a map may not do


def longer_for_one(X, c):
    return np.zeros((len(X), 4 if c == "cat" else 5))


def standardised(X, c):
    return (X - X.mean(axis=0)) * (c == "cat")


def writes(X, c):
    X *= 2
    return X


def beside_a_large_one(X, c):
    return np.column_stack([np.full(len(X), 1e12), X[:, 0] - X[:, 0].mean()])


def fails(X, c):
    return {"poodle": X}[c]


def with_nan(X, c):
    out = np.zeros((len(X), 2))
    out[X[:, 0] == 2, 1] = np.nan if c == "cat" else 0
    return out


@pytest.mark.parametrize("learner", [JointPerceptron, JointClassifier])
@pytest.mark.parametrize(
    ("feature_map", "sentence"),
    [
        (longer_for_one, "gives 5 numbers for class 'beagle' and 4 for 'cat': Φ.* must be as long for every class"),
        (lambda X, c: np.zeros((len(X) + 1, 2)), "gives 3 rows for class 'beagle', and was given 2"),
        (lambda X, c: np.zeros(len(X)), r"gives an array of shape \(2,\) for class 'beagle'; rows × features"),
        (lambda X, c: np.zeros((len(X), 0)), "gives no number at all"),
        (lambda X, c: 1j * X, "gives complex numbers for class 'beagle'"),
        (lambda X, c: [["red"] for _ in X], "gives 'red' for row 0, class 'beagle', feature 0: no number"),
        (lambda X, c: [[1] * (1 + i) for i, _ in enumerate(X)], "gives 1 numbers for row 0 and 2 for row 1"),
        (lambda X, c: None, "gives None for class 'beagle'; rows × features are needed"),
        (lambda x, c: [x[0], c == "cat"], r"rows × features are needed, here 2 × p.* write rowwise\(phi\)"),
        (lambda x, c: [1.0, len(x), 2.0], r"If it is a function phi\(x, c\) of one row, write rowwise\(phi\)"),
        (lambda x, c: [[1.0, 2.0]], r"gives 1 rows for class 'beagle', and was given 2.* write rowwise\(phi\)"),
        (writes, "must not write into X, which is yours: make a copy"),
        (beside_a_large_one, r"another Φ when it comes with other rows \(class 'beagle', feature 'f1'"),
        (with_nan, r"gives NaN for row 2, class 'cat', feature 'f1'"),
        (lambda X, c: X / 0, "gives (NaN|infinity) for row 0, class 'beagle'"),
        (standardised, "gives row . another Φ when it comes with other rows .*Φ.* must depend on x and c alone"),
        (fails, "failed for class 'beagle', with KeyError"),
        (Separate, "feature_map is .*; it must be None, a map"),
        ("x", "feature_map is 'x'; it must be None, a map"),
    ],
)
def test_a_bad_feature_map_is_named_for_what_it_does(learner, feature_map, sentence):
    X, y = np.arange(8.0)[:, None] + np.array([0, 1]), ["cat", "poodle", "beagle", "cat"] * 2
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=sentence) as caught:
        learner(feature_map).fit(X, y)
    if feature_map is fails:
        assert isinstance(caught.value.__cause__, KeyError)


def test_names_and_free_features_must_fit_the_numbers():
    X, y = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]
    with pytest.raises(ValueError, match="has 1 names and gives 2 numbers"):
        JointClassifier(rowwise(lambda x, c: x * c, names=["one"]), l2=1).fit(X, y)
    with pytest.raises(ValueError, match="free names 2; places from 0 to 1"):
        JointClassifier(rowwise(lambda x, c: x * c, free=[2]), l2=1).fit(X, y)
    with pytest.raises(ValueError, match="two features are named 'a'"):
        JointClassifier(rowwise(lambda x, c: x * c, names=["a", "a"]), l2=1).fit(X, y)


@pytest.mark.parametrize("learner", [JointPerceptron(), JointClassifier(l2=0.1)])
def test_a_map_must_go_on_as_it_began(learner):
    width = [2]
    model = clone(learner).set_params(feature_map=None)
    model.feature_map = lambda X, c: np.ones((len(X), width[0])) * c * np.arange(1, width[0] + 1) * X[:, :1]
    model.fit(np.array([[1.0], [-1.0]]), [1, 0])
    width[0] = 3
    with pytest.raises(ValueError, match="gives 3 numbers for these rows; it gave 2 before"):
        model.predict(np.ones((2, 1)))


@pytest.mark.parametrize("learner", [JointPerceptron, JointClassifier])
@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        ([[1.0], [2.0]], [0, 0], "y has one class only, 0"),
        ([[1.0], [2.0]], [0, 1, 1], "X has 2 rows and y 3 labels"),
        (np.empty((0, 2)), [], "0 sample"),
        ([[np.nan], [2.0]], [0, 1], r"X\[0, 'x0'\] is NaN"),
        ([[1.0], [np.inf]], [0, 1], r"X\[1, 'x0'\] is inf"),
        ([["a"], ["b"]], [0, 1], "not a number"),
    ],
)
def test_bad_rows_are_refused(learner, X, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        learner().fit(X, y)


@pytest.mark.parametrize("learner", [JointPerceptron, JointClassifier])
def test_objects_need_rows_too(learner):
    model = learner(rowwise(lambda x, c: [len(x) * (c == "b")]))
    with pytest.raises(ValueError, match="X is empty"):
        model.fit([], [])
    with pytest.raises(ValueError, match="X is 'word'; a table of numbers, or a list of objects"):
        model.fit("word", ["a"])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"learning_rate": 2.0}, "learning_rate is 2.0"),
        ({"order": "best"}, "order is 'best'"),
        ({"ties": "none"}, "ties is 'none'"),
        ({"patience": 0.5}, "patience"),
        ({"max_passes": 0}, "max_passes"),
        ({"averaged": 1}, "averaged is 1; it must be True or False"),
        ({"init": [1.0]}, "init has 1 numbers; there are 4 features"),
    ],
)
def test_bad_parameters_are_refused(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        JointPerceptron(**wrong).fit([[0.0], [1.0]], [0, 1])


def test_the_perceptron_learns_from_labels_only():
    with pytest.raises(ValueError, match="y holds probabilities; JointPerceptron needs a label"):
        JointPerceptron().fit([[0.0], [1.0]], [0.2, 0.7])


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    model = JointPerceptron().fit([[0.0], [1.0]], ["a", "b"])
    before = dict(vars(model))
    with pytest.raises(ValueError):
        model.fit([[0.0], [np.nan]], ["a", "b"])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


# ------------------------------------------------------------------------------------- the plain perceptron is a case


@pytest.mark.parametrize("ties", ["mistake", "positive", "negative"])
@pytest.mark.parametrize("order", ["cyclic", "random", "replacement"])
@pytest.mark.parametrize("K", [2, 3, 4])
def test_the_plain_perceptron_is_a_special_case_to_the_bit(K, order, ties):
    X, y = whole_numbers(K, K=K)
    how = {"max_passes": 7, "ties": ties, "order": order, "random_state": 3}
    plain = quietly(Perceptron(**how), X, y)
    W = np.column_stack([plain.coef_, plain.intercept_])
    theta = (np.vstack([-W, W]) if K == 2 else W).ravel()  # two classes: w = W₁ = −W₀
    for feature_map in (None, Separate(), by_hand(K, 3), Separate().bind(tuple(range(K)), ("a", "b", "c"))):
        model = quietly(JointPerceptron(feature_map, **how), X, y)
        assert (model.theta_ == theta).all()
        assert (model.mistakes_ == plain.mistakes_).all()
        assert (model.n_steps_, model.n_passes_) == (plain.n_steps_, plain.n_passes_)
        assert (model.predict(X) == plain.predict(X)).all()
        twice = 2 if K == 2 else 1  # s₁ − s₀ = 2xᵀw
        assert (model.decision_function(X) == twice * plain.decision_function(X)).all()
        assert model.verdict_.claim.value == plain.verdict_.claim.value


@pytest.mark.parametrize("feature_map", [None, by_hand(3, 3)])
def test_it_goes_the_same_way_update_by_update(feature_map):
    X, y = whole_numbers(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = list(Perceptron(max_passes=3).steps(X, y))
        ours = list(JointPerceptron(feature_map, max_passes=3).steps(X, y))
    assert len(plain) == len(ours) > 10
    for a, b in zip(plain, ours, strict=True):
        assert (a.step, a.row, a.label, a.rival, a.mistakes, a.passes) == (
            b.step, b.row, b.label, b.rival, b.mistakes, b.passes,
        )  # fmt: skip
        assert (np.column_stack([a.weights, a.intercept]).ravel() == b.theta).all()


@pytest.mark.parametrize("K", [2, 3])
def test_the_mean_of_all_weights_is_the_averaged_perceptron(K):
    X, y = whole_numbers(9, K=K)
    plain = AveragedPerceptron(max_passes=4, order="random", random_state=1).fit(X, y)
    W = np.column_stack([plain.coef_, plain.intercept_])
    theta = (np.vstack([-W, W]) if K == 2 else W).ravel()
    for feature_map in (None, by_hand(K, 3)):
        model = JointPerceptron(feature_map, averaged=True, max_passes=4, order="random", random_state=1).fit(X, y)
        np.testing.assert_allclose(model.theta_, theta, rtol=1e-13)


# ------------------------------------------------------------------------------- joint features against a referee


@pytest.mark.parametrize("ties", ["mistake", "positive", "negative"])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_scan_does_what_the_rule_says(K, ties):
    rng = np.random.default_rng(K)
    F = rng.integers(-3, 4, (40, K, 6)).astype(float)
    y = rng.integers(0, K, 40)
    y[:K] = range(K)
    theta, mean, log = perceptron(F, y, list(range(40)) * 5, ties)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        updates = list(JointPerceptron(table(F), max_passes=5, ties=ties).steps(places(F), y))
    whole = quietly(JointPerceptron(table(F), max_passes=5, ties=ties), places(F), y)
    assert (whole.theta_ == theta).all()
    assert [(u.step, u.row, u.rival) for u in updates] == log[: len(updates)]
    assert whole.mistakes_.sum() == len(log) == len(updates)
    averaged = JointPerceptron(table(F), max_passes=5, ties=ties, averaged=True).fit(places(F), y)
    np.testing.assert_allclose(averaged.theta_, mean, rtol=1e-13, atol=1e-13)


def test_the_learning_rate_changes_no_mistake():
    X, y = whole_numbers(2)
    one = quietly(JointPerceptron(by_hand(3, 3), max_passes=5), X, y)
    other = quietly(JointPerceptron(by_hand(3, 3), max_passes=5, learning_rate=0.3), X, y)
    assert (one.mistakes_ == other.mistakes_).all()
    np.testing.assert_allclose(other.theta_, 0.3 * one.theta_, rtol=1e-15)


@pytest.mark.parametrize("order", ["cyclic", "random", "replacement"])
def test_features_that_do_not_fit_into_memory_are_asked_for_again(monkeypatch, order):
    X, y = whole_numbers(4)
    how = {"max_passes": 4, "order": order, "random_state": 2}
    kept = quietly(JointPerceptron(by_hand(3, 3), **how), X, y)
    monkeypatch.setattr(evaluator, "HELD", 100)
    monkeypatch.setattr(evaluator, "BLOCK", 7 * 36)
    again = quietly(JointPerceptron(by_hand(3, 3), **how), X, y)
    assert again._learnt_from.features.kept is None
    assert (again.theta_ == kept.theta_).all()
    assert (again.mistakes_ == kept.mistakes_).all()
    assert again.verdict_.check(X, y)


def dogs(seed=0, n=40):
    """Rows of three kinds that a rule with a shared part separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(2)
    return X, np.where(X[:, 0] < 0, "cat", np.where(X[:, 1] > 0, "poodle", "beagle"))


@pytest.mark.parametrize("feature_map", [None, Shared({"dog": ["poodle", "beagle"]})])
def test_a_run_that_separates_proves_it(feature_map):
    X, y = dogs()
    model = JointPerceptron(feature_map, max_passes=10_000).fit(X, y)
    assert model.verdict_.status == "separated"
    assert model.verdict_.ok
    assert model.verdict_.check(X, y)
    assert model.score(X, y) == 1
    assert model.mistakes_[-1] == 0
    bound = model.bound()
    assert bound.made == model.mistakes_.sum() <= bound.bound
    assert bound.D == 0
    assert bound.gamma == pytest.approx(model.verdict_.certificate.margin)
    assert model.bound(X=X, y=y) == bound


def test_the_bound_takes_a_direction_and_the_longest_difference():
    F = np.random.default_rng(3).normal(size=(30, 3, 4))
    u = np.array([1.0, -1, 2, 0.5])
    y = (F @ u).argmax(axis=1)
    model = JointPerceptron(table(F), max_passes=5000).fit(places(F), y)
    bound = model.bound(u)
    apart = F[np.arange(30), y][:, None] - F
    assert pytest.approx(np.linalg.norm(apart, axis=2).max()) == bound.R
    lead = apart @ u / np.linalg.norm(u)
    assert bound.gamma == pytest.approx(min(lead[i, k] for i in range(30) for k in range(3) if k != y[i]))
    assert bound.made <= bound.bound == pytest.approx((bound.R / bound.gamma) ** 2)
    with pytest.raises(ValueError, match="u has 2 numbers; there are 4 features"):
        model.bound([1, 2])
    with pytest.raises(ValueError, match="u is zero"):
        model.bound([0, 0, 0, 0])


def test_a_run_without_end_says_so_and_warns():
    X, y = whole_numbers(1)
    with pytest.warns(BudgetWarning, match=r"No separating weights were found: 5 passes"):
        model = JointPerceptron(max_passes=5).fit(X, y)
    assert model.verdict_.status == "budget"
    assert model.verdict_.claim.value == 1 - model.score(X, y)
    assert model.verdict_.check(X, y)
    assert model.bound().made <= model.bound().bound


def test_patience_ends_a_run():
    F = np.zeros((6, 2, 1))
    F[:, 1, 0] = [1, 1, 1, 1, 1, -1]
    model = JointPerceptron(table(F), patience=3, ties="positive")
    with pytest.warns(BudgetWarning, match="had not changed for 3 steps"):
        model.fit(places(F), [0, 1, 1, 1, 1, 1])
    assert model.n_steps_ < 6 * 2


def test_ties_that_count_as_right_prove_nothing():
    F = np.zeros((2, 2, 1))
    F[1, 0, 0] = 1
    with pytest.warns(BudgetWarning, match="ties='positive' lets a class win at equal scores.* errs on 1 of 2 rows"):
        model = JointPerceptron(table(F), ties="positive").fit(places(F), [1, 0])
    assert model.mistakes_.tolist() == [1, 0]
    assert model.verdict_.status == "budget"
    assert model.verdict_.check(places(F), [1, 0])


def test_whoever_stops_finds_the_attributes_set():
    X, y = whole_numbers(6)
    model = JointPerceptron(by_hand(3, 3))
    steps = model.steps(X, y)
    last = [next(steps) for _ in range(5)][-1]
    steps.close()
    assert model.verdict_.status == "interrupted"
    assert (model.theta_ == last.theta).all()
    assert model.mistakes_.sum() == 5
    assert model.verdict_.check(X, y)


def test_ctrl_c_leaves_a_verdict(monkeypatch):
    def interrupted(X, c):
        calls.append(c)
        if len(calls) == 60:
            raise KeyboardInterrupt
        return by_hand(3, 3)(X, c)

    X, y = whole_numbers(6)
    calls = []
    monkeypatch.setattr(evaluator, "HELD", 100)
    monkeypatch.setattr(evaluator, "BLOCK", 20 * 36)
    model = JointPerceptron(interrupted, max_passes=30)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.verdict_.status == "interrupted"
    assert 0 < model.n_passes_ < 30
    assert model.mistakes_.sum() > 0
    assert model.verdict_.check(X, y)


def test_a_warm_start_goes_on():
    X, y = whole_numbers(8)
    whole = quietly(JointPerceptron(max_passes=6), X, y)
    model = quietly(JointPerceptron(max_passes=3, warm_start=True), X, y)
    assert (quietly(model, X, y).theta_ == whole.theta_).all()
    start = JointPerceptron(max_passes=3, init=quietly(JointPerceptron(max_passes=3), X, y).theta_)
    assert (quietly(start, X, y).theta_ == whole.theta_).all()


# --------------------------------------------------------------------------------------------------- kinds of rows


def test_objects_of_any_kind():
    words, y = ["cats", "dogs", "ox", "axes", "fish"], ["many", "many", "one", "many", "one"]
    phi = rowwise(lambda w, c: [w.endswith("s") * (c == "many"), c == "one"], names=["-s", "one"])
    model = JointPerceptron(phi).fit(words, y)
    assert model.verdict_.check(words, y)
    assert model.predict(["hens", "hen"]).tolist() == ["many", "one"]
    assert not hasattr(model, "n_features_in_")
    assert model.weights_ == dict(zip(["-s", "one"], model.theta_.tolist(), strict=True))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_a_data_frame_with_words_becomes_records(kind):
    frame = kind({"name": ["a", "bb", "ccc"], "legs": [2, 4, 4]})
    phi = rowwise(lambda x, c: [(x["legs"] - 3) * (c == "dog"), len(x["name"]) * (c == "dog")])
    y = ["bird", "dog", "dog"]
    model = JointPerceptron(phi).fit(frame, y)
    assert model.predict(frame).tolist() == y
    assert model.verdict_.check(frame, y)


@pytest.mark.parametrize("feature_map", [None, Shared({"g": [0, 1]})])
@pytest.mark.parametrize("learner", [JointPerceptron(max_passes=5, averaged=True), JointClassifier(l2=0.1)])
def test_sparse_rows_are_the_same_rows(learner, feature_map):
    X, y = whole_numbers(3)
    X[X < 2] = 0
    model = clone(learner).set_params(feature_map=feature_map)
    dense, sparse = clone(model).fit(X, y), clone(model).fit(csr_matrix(X), y)
    np.testing.assert_allclose(sparse.theta_, dense.theta_, rtol=1e-9, atol=1e-12)
    assert (sparse.predict(csr_matrix(X)) == dense.predict(X)).all()
    assert sparse.verdict_.check(csr_matrix(X), y)
    assert sparse.verdict_.check(X, y)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_rows_of_the_user_stay_as_they_are(sparse):
    def writes(X, c):
        X = X.data if sparse else X
        X *= 2
        return np.ones((2, 2))

    X, y = whole_numbers(1)
    X = csr_matrix(X) if sparse else X
    before = X.copy()
    with pytest.raises(ValueError, match="must not write into X") as caught:
        JointPerceptron(writes).fit(X, y)
    assert isinstance(caught.value.__cause__, ValueError)
    assert abs(X - before).max() == 0
    model = quietly(JointPerceptron(lambda X, c: (X.toarray() if sparse else X) * c, max_passes=2), X, y)
    assert model.predict(X).shape == (60,)
    (X.data if sparse else X)[0] = 7  # it can still be written into


def test_many_names_are_read_quickly():
    names = tuple(map(str, range(200_000)))
    assert evaluator.names_of(rowwise(len, names=names), len(names)) == names


@pytest.mark.parametrize("learner", [JointPerceptron(max_passes=5, averaged=True), JointClassifier(l2=0.1)])
@pytest.mark.parametrize("before", [None, Separate(intercept=False), Shared({"g": [0, 1]})])
@pytest.mark.parametrize("after", [None, Separate(intercept=False), rowwise(len)])
def test_parameters_that_are_set_after_the_fit_change_nothing_before_the_next(learner, before, after):
    X, y = whole_numbers(3)
    model = quietly(clone(learner).set_params(feature_map=before), X, y)
    p = model.decision_function(X)
    bound = model.bound(X=X, y=y) if isinstance(model, JointPerceptron) else None
    model.set_params(feature_map=after)
    np.testing.assert_array_equal(model.decision_function(X), p)
    if bound is not None:
        assert model.set_params(learning_rate=0.5, order="random", random_state=1).bound(X=X, y=y) == bound


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, np.float32, np.float64, bool])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("learner", [JointPerceptron(max_passes=5, averaged=True), JointClassifier(l2=0.1)])
def test_the_check_gives_the_map_the_numbers_that_the_fit_gave_it(learner, dtype, sparse):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 100, (40, 2)).astype(dtype), rng.integers(0, 3, 40)
    X = csr_matrix(X) if sparse else X

    def feature_map(X, c):
        X = X.toarray() if hasattr(X, "toarray") else X
        return np.hstack([-X * (c == 0), X**2 * (c == 1)]) / 100

    model = quietly(clone(learner).set_params(feature_map=feature_map), X, y)
    assert model.verdict_.check(X, y)


@pytest.mark.parametrize("feature_map", [None, Separate(intercept=False)])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_check_does_not_write_the_plain_map_out(feature_map, sparse, monkeypatch):
    y, X = np.arange(60) % 3, np.random.default_rng(0).normal(size=(60, 3))
    apart, calls = np.eye(3)[y] * 9 + X, []
    monkeypatch.setattr(Blocks, "__call__", lambda *_: calls.append(1) or 1 / 0)
    for rows, status in ((X, "budget"), (apart, "separated")):
        rows = csr_matrix(rows) if sparse else rows
        model = quietly(JointPerceptron(feature_map, max_passes=20), rows, y)
        verdict = model.verdict_
        assert verdict.status == status
        assert verdict.check(rows, y)
        assert not verdict.check(rows, np.roll(y, 1))
        wrong = replace(verdict.claim, value=verdict.claim.value + 1 / len(y))
        assert not replace(verdict, claim=wrong).check(rows, y)
        if status == "separated":
            assert not replace(verdict, certificate=replace(verdict.certificate, margin=1.0)).check(rows, y)
            turned = -verdict.claim.weights
            assert not replace(
                verdict,
                claim=replace(verdict.claim, weights=turned),
                certificate=replace(verdict.certificate, weights=turned),
            ).check(rows, y)
    assert not calls


def test_a_map_in_blocks_that_is_not_the_plain_one_is_not_read_as_such():
    X, y = whole_numbers(5, d=2)
    bound = Separate().bind((0, 1, 2), ("a", "b"))
    crossed = Blocks((bound.blocks[1], bound.blocks[0], bound.blocks[2]), bound.names, bound.free)
    model = quietly(JointPerceptron(bound, max_passes=5), X, y)
    assert model.verdict_.check(X, y)
    other = replace(model.verdict_, claim=replace(model.verdict_.claim, feature_map=crossed))
    assert not other.check(X, y)  # the weights of two classes change places


def test_leads_within_rounding_of_the_plain_map_are_decided_in_fractions():
    X, bound = np.array([[1e17, 1.0], [1e17, -1.0]]), Separate(intercept=False).bind((0, 1), ("a", "b"))
    claim = JointClaim((0, 1), bound, np.array([1.0, 1, 1, -1]), 0.0, 0.0, 2, "mistakes")
    verdict = Verdict("separated", Rank(None, 4, ()), Separation(claim.weights, 0.0, 0.0), "", "", claim)
    for rows in (X, csr_matrix(X)):  # in floats both classes have the score 1e17
        assert verdict.check(rows, [0, 1])
        assert not verdict.check(rows, [1, 0])


def test_names_of_columns_come_from_a_data_frame():
    frame = pd.DataFrame({"ears": [1.0, 2, 3], "tail": [0.0, 1, 0]})
    model = JointPerceptron(Shared({"dog": ["a", "b"]})).fit(frame, ["a", "b", "c"])
    assert model.feature_names_[:2] == ("dog: ears", "dog: tail")
    with pytest.raises(ValueError, match="lacks the column 'tail'"):
        model.predict(frame[["ears"]])


def test_a_model_can_be_pickled_without_its_rows():
    X, y = dogs()
    model = JointPerceptron(Shared({"dog": ["poodle", "beagle"]}), max_passes=10_000).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()
    assert again.verdict_.check(X, y)
    with pytest.raises(ValueError, match="no longer at hand"):
        again.bound()
    assert again.bound(X=X, y=y) == model.bound()
    with pytest.raises(ValueError, match="both X and y"):
        again.bound(X=X)
    with pytest.raises(ValueError, match="this model learnt"):
        again.bound(X=X[:2], y=["cat", "cow"])


@pytest.mark.parametrize("learner", some_of([JointClassifier(), JointPerceptron()], 2))
def test_check_estimator(learner):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(learner, on_skip=None, on_fail=None)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert not failed
    assert len(results) > 40
