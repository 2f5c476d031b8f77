"""Many classes from two: one against the rest, one against one, any code."""

import lzma
import warnings
from dataclasses import replace

import numpy as np
import pytest
from places import SHARED
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_svmlight_file, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from separatrix import (
    BudgetWarning,
    CodedRule,
    GaussianDiscriminant,
    GaussianNaiveBayes,
    KernelPerceptron,
    LeastSquaresClassifier,
    LinearRule,
    LogisticRegression,
    OneVsOne,
    OneVsRest,
    OutputCode,
    Perceptron,
    Pocket,
    SeparationWarning,
)
from separatrix.features import Polynomial
from separatrix.results.coding import (
    checked_code,
    dense,
    exhaustive,
    one_against_one,
    one_against_rest,
    opposed,
    sparse,
)

WINE, KIND = load_wine(return_X_y=True)
IRIS, FLOWER = load_iris(return_X_y=True)
RIDGE = LogisticRegression(l2=0.01)


def three_clouds(n=300, d=2, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    centres = 2 * rng.normal(size=(classes, d))
    return centres[y] + rng.normal(size=(n, d)), y


# what is learnt


@pytest.mark.parametrize("classifiers", ["K", "K-1"])
def test_one_against_the_rest_is_taught_class_by_class(classifiers):
    X, y = three_clouds(classes=4, d=3)
    model = OneVsRest(RIDGE, classifiers=classifiers).fit(X, y)
    assert len(model.estimators_) == (4 if classifiers == "K" else 3)
    for k, member in enumerate(model.estimators_):
        alone = clone(RIDGE).fit(X, (y == k).astype(int))
        np.testing.assert_allclose(member.coef_, alone.coef_, rtol=1e-6, atol=1e-8)
    scores = np.column_stack([member.decision_function(X) for member in model.estimators_])
    if classifiers == "K-1":
        scores = np.column_stack([scores, np.zeros(len(X))])
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))


def test_one_against_one_is_taught_pair_by_pair():
    X, y = three_clouds(classes=4, d=3)
    model = OneVsOne(RIDGE).fit(X, y)
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    assert len(model.estimators_) == len(pairs) == 6
    wins = np.zeros((len(X), 4), int)
    for member, (a, b) in zip(model.estimators_, pairs, strict=True):
        both = (y == a) | (y == b)
        alone = clone(RIDGE).fit(X[both], (y[both] == b).astype(int))
        np.testing.assert_allclose(member.coef_, alone.coef_, rtol=1e-6, atol=1e-8)
        won = member.decision_function(X) > 0
        wins[won, b] += 1
        wins[~won, a] += 1
    np.testing.assert_array_equal(model.votes(X), wins)
    assert (model.votes(X).sum(axis=1) == 6).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_same_answers_as_the_wrappers_of_scikit_learn(seed):
    X, y = three_clouds(classes=5, d=3, seed=seed)
    theirs = TheirLogistic(C=1.0, tol=1e-10, max_iter=1000)
    np.testing.assert_array_equal(
        OneVsRest(theirs).fit(X, y).predict(X), OneVsRestClassifier(theirs).fit(X, y).predict(X)
    )
    np.testing.assert_allclose(
        OneVsRest(theirs).fit(X, y).predict_proba(X), OneVsRestClassifier(theirs).fit(X, y).predict_proba(X)
    )
    mine = OneVsOne(theirs).fit(X, y)
    clear = ~mine.ambiguous(X)
    np.testing.assert_array_equal(mine.predict(X)[clear], OneVsOneClassifier(theirs).fit(X, y).predict(X)[clear])


LEARNERS = [
    RIDGE, Perceptron(max_passes=50), Pocket(max_passes=20, random_state=0), LeastSquaresClassifier(),
    GaussianDiscriminant(), GaussianNaiveBayes(), KernelPerceptron(kernel="rbf", max_passes=20),
    TheirLogistic(), LinearSVC(), SVC(), RidgeClassifier(), GaussianNB(), DecisionTreeClassifier(random_state=0),
    KNeighborsClassifier(), make_pipeline(StandardScaler(), TheirLogistic()),
    GridSearchCV(TheirLogistic(), {"C": [0.1, 1.0]}, cv=2),
]  # fmt: skip
KINDS = [OneVsRest, OneVsOne, OutputCode]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
def test_any_learner_of_two_classes_will_do(kind, learner):
    X, y = three_clouds(n=120, classes=4, seed=3)
    names = np.array(["ant", "bee", "cat", "dog"])[y]
    model = kind(learner).fit(X, names)
    assert set(model.predict(X)) <= set(names)
    assert model.score(X, names) > 0.5
    assert model.votes(X).shape == (120, 4)
    if hasattr(learner, "predict_proba"):
        p = model.predict_proba(X)
        assert np.isfinite(p).all()
        assert (p >= 0).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)
    else:
        with pytest.raises(AttributeError, match="predict_proba"):
            model.predict_proba(X)


def test_two_classes_need_one_classifier():
    X, y = three_clouds(classes=2)
    alone = clone(RIDGE).fit(X, y)
    for model in (OneVsRest(RIDGE), OneVsRest(RIDGE, classifiers="K-1"), OneVsOne(RIDGE), OutputCode(RIDGE)):
        model.fit(X, y)
        assert len(model.estimators_) == 1
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(model.predict(X), alone.predict(X))
        assert isinstance(model.rule_, LinearRule)
        assert model.rule_.classes == (0, 1)
        assert not model.ambiguous(X).any()


def judge_again(model):
    """Make the rule of what its members are by now."""
    columns = tuple(f"x{j}" for j in range(model.n_features_in_))
    vars(model).update(model._found(columns, model.classes_, model.code_, model.estimators_, 0))


# ambiguous regions


def test_the_ambiguous_regions_of_one_against_the_rest():
    """Three half planes around a triangle: none claims its middle, two claim each far corner.  [003 slide 11]"""
    W = np.array([[0.0, 1.0], [np.sqrt(3) / 2, -0.5], [-np.sqrt(3) / 2, -0.5]])
    model = OneVsRest(RIDGE).fit(*three_clouds())
    for member, w in zip(model.estimators_, W, strict=True):
        member.rule_ = LinearRule(w, -1.0)
    judge_again(model)
    X = np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 1.2], [0.0, -5.0]])
    assert model.votes(X).tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1]]
    assert model.ambiguous(X).tolist() == [True, False, True, True]
    assert model.predict(X).tolist() == [0, 0, 0, 1]  # the largest score; of equals the first


def test_the_last_class_is_what_none_of_the_others_claims():
    """At a score of exactly zero too, where nothing is claimed."""
    X, y = np.repeat(np.eye(3), 4, axis=0), np.repeat([0, 1, 2], 4)
    for scores, voted, chosen in (([0.0, -1.0], [0, 0, 1], 2), ([0.0, 0.0], [0, 0, 1], 2), ([0.0, 1.0], [0, 1, 0], 1)):
        model = OneVsRest(LeastSquaresClassifier(), classifiers="K-1").fit(X, y)
        for member, b in zip(model.estimators_, scores, strict=True):
            member.rule_ = LinearRule(np.zeros(3), b)
        judge_again(model)
        assert model.votes(X[:1]).tolist() == [voted]
        assert not model.ambiguous(X[:1]).any()
        assert model.predict(X[:1]).tolist() == model.rule_.classify(X[:1]).tolist() == [chosen]


def test_three_duels_may_go_in_a_circle():
    """Each of three classes wins one duel, and the summed scores decide.  [003 slide 11]"""
    model = OneVsOne(RIDGE).fit(*three_clouds())
    for member, b in zip(model.estimators_, (-3.0, 1.0, -2.0), strict=True):  # 0 beats 1, 2 beats 0, 1 beats 2
        member.rule_ = LinearRule(np.zeros(2), b)
    judge_again(model)
    x = np.zeros((1, 2))
    assert model.votes(x).tolist() == [[1, 1, 1]]
    assert model.ambiguous(x).all()
    assert model.predict(x).tolist() == [0]  # T = (3 − 1, −3 + 2, 1 − 2)
    assert model.decision_function(x).argmax() == 0


@pytest.mark.parametrize("model", [OneVsRest(RIDGE), OneVsOne(RIDGE), OneVsOne(RIDGE, decide="scores"),
                                   OutputCode(RIDGE, decide="votes")])  # fmt: skip
def test_where_votes_are_clear_the_class_with_the_most_is_predicted(model):
    X, y = three_clouds(classes=5)
    grid = np.random.default_rng(1).uniform(-6, 6, size=(3000, 2))
    votes = model.fit(X, y).votes(grid)
    clear = ~model.ambiguous(grid)
    assert clear.any()
    assert (~clear).any()
    np.testing.assert_array_equal(clear, (votes == votes.max(axis=1)[:, None]).sum(axis=1) == 1)
    if getattr(model, "decide", "votes") == "votes":
        np.testing.assert_array_equal(model.predict(grid)[clear], votes[clear].argmax(axis=1))
    top = np.take_along_axis(votes, model.predict(grid)[:, None], 1)[:, 0]
    if getattr(model, "decide", "votes") == "votes" and model.votes(grid).max() > 1:
        np.testing.assert_array_equal(top, votes.max(axis=1))
    np.testing.assert_array_equal(model.predict(grid), model.decision_function(grid).argmax(axis=1))


@pytest.mark.parametrize("model", [OneVsRest(RIDGE), OneVsRest(RIDGE, classifiers="K-1"),
                                   OneVsOne(RIDGE, decide="scores"), OutputCode(RIDGE)])  # fmt: skip
def test_regions_of_the_largest_discriminant_are_convex(model):
    """A class that wins at two points wins between them.  [003 slide 12]"""
    X, y = three_clouds(n=400, d=4, classes=5, seed=5)
    rng = np.random.default_rng(0)
    A, B, share = rng.uniform(-8, 8, (20000, 4)), rng.uniform(-8, 8, (20000, 4)), rng.random((20000, 1))
    model.fit(X, y)
    same = model.predict(A) == model.predict(B)
    assert same.sum() > 2000
    between = share * A + (1 - share) * B
    np.testing.assert_array_equal(model.predict(between)[same], model.predict(A)[same])


def test_regions_by_vote_need_not_be_convex():
    """What the notes warn of: the union of a class's sure region and its part of an ambiguous one."""
    rng = np.random.default_rng(0)
    A, B, share = rng.uniform(-3, 3, (20000, 2)), rng.uniform(-3, 3, (20000, 2)), rng.random((20000, 1))
    rule = CodedRule(rng.normal(size=(6, 2)), rng.normal(size=6), one_against_one(4), tuple("abcd"))
    same = rule.classify(A) == rule.classify(B)
    assert (rule.classify(share * A + (1 - share) * B)[same] != rule.classify(A)[same]).any()
    convex = rule.discriminants()
    same = convex.classify(A) == convex.classify(B)
    assert (convex.classify(share * A + (1 - share) * B)[same] == convex.classify(A)[same]).all()


# linear inside, a rule outside


@pytest.mark.parametrize("model", [OneVsRest(RIDGE), OneVsRest(RIDGE, classifiers="K-1"), OneVsOne(RIDGE),
                                   OneVsOne(RIDGE, decide="scores"), OutputCode(RIDGE),
                                   OutputCode(RIDGE, decide="votes"), OneVsRest(TheirLogistic()),
                                   OneVsOne(LinearSVC())])  # fmt: skip
def test_linear_inside_a_rule_outside(model):
    X, y = three_clouds(n=200, d=3, classes=4)
    labels = np.array(["a", "b", "c", "d"])[y]
    model.fit(X, labels)
    by_votes = getattr(model, "decide", "scores") == "votes"
    assert isinstance(model.rule_, CodedRule if by_votes else LinearRule)
    grid = np.random.default_rng(1).uniform(-5, 5, size=(2000, 3))
    np.testing.assert_array_equal(model.rule_.classify(grid), model.predict(grid))
    if not by_votes:
        np.testing.assert_allclose(model.distance(grid), model.rule_.distance(grid))
    else:
        np.testing.assert_array_equal(model.rule_.votes(grid), model.votes(grid))
        with pytest.raises(AttributeError) as refused:
            model.distance(grid)
        assert "not by one linear rule" in str(refused.value.__cause__)
        assert "against" in model.rule_.equation()
        assert str(model.rule_).startswith("the class with the most votes")


@pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
def test_no_rule_outside_without_one_inside():
    X, y = three_clouds()
    for learner in (SVC(), KernelPerceptron(kernel="rbf"), DecisionTreeClassifier()):
        assert not hasattr(OneVsRest(learner).fit(X, y), "rule_")


def test_a_refit_with_another_learner_forgets_the_rule():
    X, y = three_clouds()
    model = OneVsRest(RIDGE).fit(X, y)
    assert hasattr(model, "rule_")
    model.set_params(estimator=SVC()).fit(X, y)
    assert not hasattr(model, "rule_")
    np.testing.assert_array_equal(model.predict(X), OneVsRest(SVC()).fit(X, y).predict(X))


def test_settings_are_those_of_the_fit():
    X, y = three_clouds(n=200, classes=5)
    model = OneVsOne(RIDGE).fit(X, y)
    before, p = model.predict(X), model.predict_proba(X)
    model.set_params(decide="scores", probabilities="normalise")
    np.testing.assert_array_equal(model.predict(X), before)
    np.testing.assert_array_equal(model.rule_.classify(X), before)
    np.testing.assert_array_equal(model.predict_proba(X), p)
    assert isinstance(model.fit(X, y).rule_, LinearRule)


def test_two_classes_by_a_vote_of_several():
    X, y = three_clouds(n=200, classes=2)
    rows = np.random.default_rng(0).permutation(200)
    for decide in ("votes", "scores"):
        model = OutputCode(RIDGE, code=[[-1, -1, -1], [1, 1, 1]], decide=decide).fit(X, y)
        for member, b in zip(model.estimators_, (-1.0, -1.0, 5.0), strict=True):
            member.rule_ = LinearRule(member.coef_[0], b)
        judge_again(model)
        votes, s = model.votes(X), model.decision_function(X)
        assert s.shape == (200,)
        np.testing.assert_array_equal(model.predict(X), (s > 0).astype(int))
        np.testing.assert_array_equal(model.rule_.classify(X[rows]), model.predict(X[rows]))
        if decide == "votes":
            np.testing.assert_array_equal(model.predict(X), votes.argmax(axis=1))
        else:
            assert (model.predict(X) != votes.argmax(axis=1)).any()
    flipped = OutputCode(KNeighborsClassifier(2), code=[[1], [-1]], decide="votes").fit(
        [[0.0], [1], [2], [3]], [0, 0, 1, 1]
    )
    assert flipped.votes([[1.5]]).tolist() == [[0, 1]]
    assert flipped.predict([[1.5]]).tolist() == [1]


def test_scores_of_any_size_are_weighed():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 4, 300)
    model = OneVsOne(LeastSquaresClassifier()).fit(X, y)
    for size in (1e-12, 1e-3, 1e9, 1e18, 1e100):
        for member in model.estimators_:
            w = size * member.coef_[0]
            member.rule_ = LinearRule(w, size * float(member.intercept_[0]))
        judge_again(model)
        np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))


class Broken(RidgeClassifier):
    """Says what cannot be weighed."""

    def decision_function(self, X):
        return np.where(np.arange(len(X)) == 5, self.alpha, 1.0)

    def predict_proba(self, X):
        return np.full((len(X), 2), np.nan)


@pytest.mark.parametrize("kind", KINDS)
def test_answers_that_cannot_be_weighed_are_refused(kind):
    X, y = three_clouds()
    for alpha in (np.nan, np.inf):
        model = kind(Broken()).fit(X, y)
        for member in model.estimators_:
            member.alpha = alpha
            member.coef_ = None
        judge_again(model)
        with pytest.raises(ValueError, match=rf"Broken, .* against .*, gave row 5 the score {alpha}"):
            model.predict(X)
    with pytest.raises(ValueError, match="gave row 0 the probability nan"):
        kind(Broken()).fit(X, y).predict_proba(X)


# the verdict


@pytest.mark.parametrize("model", [OneVsRest(RIDGE), OneVsRest(RIDGE, classifiers="K-1"), OneVsOne(RIDGE),
                                   OneVsOne(RIDGE, decide="scores"), OutputCode(RIDGE), OneVsRest(Pocket()),
                                   OneVsOne(LeastSquaresClassifier()), OneVsRest(GaussianNaiveBayes()),
                                   OneVsOne(KernelPerceptron(kernel="rbf"))],
                         ids=lambda m: f"{type(m).__name__}-{type(m.estimator).__name__}")  # fmt: skip
@pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
def test_the_verdict_of_the_whole_is_checked_part_by_part(model):
    X, y = three_clouds(n=150, classes=4, seed=2)
    verdict = model.fit(X, y).verdict_
    assert verdict.check(X, y)
    assert not verdict.check(X[::-1].copy(), y)
    assert not verdict.check(X, (y + 1) % 4)
    assert not verdict.check(X[:-1], y[:-1])
    assert not verdict.check(X, np.where(y == 0, 7, y))
    assert verdict.to_dict()["claim"]["classes"] == [0, 1, 2, 3]


def test_a_verdict_that_is_tampered_with_is_refused():
    X, y = three_clouds(n=150, classes=4, seed=2)
    model = OneVsRest(RIDGE).fit(X, y)
    verdict, claim = model.verdict_, model.verdict_.claim
    assert verdict.status == "optimal"
    assert verdict.check(X, y)
    code = claim.code.copy()
    code[0, 0] = 0
    for forged in (
        replace(claim, code=code),
        replace(claim, code=claim.code[:, ::-1].copy()),
        replace(claim, members=claim.members[::-1]),
        replace(claim, members=claim.members[:3]),
        replace(claim, rows=149),
        replace(claim, weights=claim.weights + np.eye(4, 2)),
        replace(claim, intercept=claim.intercept + np.arange(4.0)),
        replace(claim, intercept=None),
        replace(claim, objective="mistakes"),
    ):
        assert not replace(verdict, claim=forged).check(X, y)
    assert not replace(verdict, status="local").check(X, y)
    assert not replace(verdict, certificate=None).check(X, y)


def test_the_weights_of_rows_are_passed_on():
    X, y = three_clouds(n=200, classes=3)
    cost = np.random.default_rng(9).integers(0, 3, size=200).astype(float)
    for kind in (OneVsRest, OneVsOne):
        weighted = kind(RIDGE).fit(X, y, sample_weight=cost)
        repeated = kind(RIDGE).fit(np.repeat(X, cost.astype(int), axis=0), np.repeat(y, cost.astype(int)))
        np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)
        assert weighted.verdict_.check(X, y, cost)
        assert not weighted.verdict_.check(X, y)
    with pytest.raises(ValueError, match="Perceptron takes no sample_weight"):
        OneVsRest(Perceptron()).fit(X, y, sample_weight=cost)
    with pytest.raises(ValueError, match=r"X has 200 rows, sample_weight 15: they must agree"):
        weighted.verdict_.check(X, y, np.ones(15))
    named = np.array(["a", "b", "c"])[y]
    for learner in (RIDGE, TheirLogistic()):
        for kind in KINDS:
            with pytest.raises(ValueError, match="Every sample of class 'c' has sample_weight zero"):
                kind(learner).fit(X, named, sample_weight=(named != "c").astype(float))


def test_separated_classes_are_said_once_and_by_name():
    with pytest.warns(
        SeparationWarning, match=r"1 of 3 classifiers did not reach its minimum: 0 against the rest"
    ) as said:
        model = OneVsRest(LogisticRegression()).fit(IRIS, FLOWER)
    assert len(said) == 1
    assert model.verdict_.status == "separated"
    assert not model.verdict_.ok
    assert model.verdict_.check(IRIS, FLOWER)
    p = model.predict_proba(IRIS)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_a_learner_without_a_verdict_proves_nothing():
    X, y = three_clouds()
    verdict = OneVsRest(TheirLogistic()).fit(X, y).verdict_
    assert verdict.status == "budget"
    assert "LogisticRegression gives no verdict" in str(verdict)
    assert not verdict.check(X, y)


def test_mistakes_are_the_goal_of_a_perceptron():
    X, y = three_clouds(n=60, d=30, classes=3)
    verdict = OneVsOne(Perceptron()).fit(X, y).verdict_
    assert verdict.status == "separated"
    assert verdict.ok
    assert verdict.check(X, y)


def test_warnings_of_foreign_learners_are_passed_on_once():
    X, y = three_clouds()
    with pytest.warns(Warning, match="failed to converge") as said:
        OneVsRest(TheirLogistic(max_iter=1, tol=1e-12)).fit(X, y)
    assert len(said) == 1  # of three that were raised


def test_perceptrons_that_give_up_are_said_once():
    X, y = three_clouds(n=200)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        OneVsRest(Perceptron(max_passes=5)).fit(X, y)
    assert [each.category for each in said] == [BudgetWarning]


# parallel


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "learner",
    [RIDGE, Pocket(max_passes=5, random_state=3), TheirLogistic()],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
def test_the_same_bits_for_any_number_of_jobs(kind, learner):
    X, y = load_digits(return_X_y=True)
    X, y = X[:400, 10:30] / 16, y[:400] % 6
    extra = {"random_state": 0} if kind is OutputCode else {}
    models = [kind(learner, n_jobs=jobs, **extra).fit(X, y) for jobs in (None, 1, 2, 3)]
    for model in models[1:]:
        for one, other in zip(models[0].estimators_, model.estimators_, strict=True):
            np.testing.assert_array_equal(one.coef_, other.coef_)
        np.testing.assert_array_equal(models[0].decision_function(X), model.decision_function(X))


# codes


def test_codes():
    assert one_against_rest(3).tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    assert one_against_one(3).tolist() == [[-1, -1, 0], [1, 0, -1], [0, 1, 1]]
    assert exhaustive(4).shape == (4, 7)
    assert len({tuple(c) for c in exhaustive(4).T.tolist()}) == 7
    rng = np.random.default_rng(0)
    for classes in (2, 3, 4, 5, 6, 7, 11, 20):
        for make in (dense, sparse):
            M = checked_code(make(classes, rng), list(range(classes)))
            columns = {tuple(c) for c in M.T.tolist()} | {tuple(-v for v in c) for c in M.T.tolist()}
            assert len(columns) == 2 * M.shape[1]
            if classes >= 6:
                assert opposed(M)[np.triu_indices(classes, 1)].min() >= 3  # one classifier may err
    with pytest.raises(ValueError, match=r"13 classes needs 2\^12 − 1 classifiers"):
        exhaustive(13)


def test_a_code_of_the_users_own():
    X, y = three_clouds(n=200, classes=4)
    M = [[1, 1, 0], [1, -1, 1], [-1, 1, 0], [-1, -1, -1]]
    model = OutputCode(RIDGE, code=M).fit(X, y)
    assert model.code_.tolist() == M
    assert len(model.estimators_) == 3
    S = np.column_stack([member.decision_function(X) for member in model.estimators_])
    np.testing.assert_array_equal(model.predict(X), (S @ np.array(M).T).argmax(axis=1))
    assert model.verdict_.check(X, y)


@pytest.mark.parametrize("code", [2 * np.eye(3) - 1, (2 * np.eye(3) - 1)[:, :2], 1 - 2 * np.eye(3)])
def test_a_code_with_one_class_alone_is_summed_like_any_other(code):
    X, y = three_clouds()
    model = OutputCode(RIDGE, code=code).fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(X, y)
    assert not replace(model.verdict_, claim=replace(model.verdict_.claim, summed=False)).check(X, y)
    rest = OneVsRest(RIDGE).fit(X, y).verdict_
    assert not replace(rest, claim=replace(rest.claim, summed=True)).check(X, y)


def test_one_against_one_is_a_code_like_another():
    X, y = three_clouds(n=200, classes=4)
    pairs = OneVsOne(RIDGE, decide="scores").fit(X, y)
    coded = OutputCode(RIDGE, code=pairs.code_).fit(X, y)
    np.testing.assert_array_equal(pairs.rule_.weights, coded.rule_.weights)
    np.testing.assert_array_equal(pairs.predict_proba(X), coded.predict_proba(X))


def test_the_seed_makes_the_code():
    X, y = three_clouds(n=300, classes=8)
    codes = [OutputCode(LeastSquaresClassifier(), random_state=seed).fit(X, y).code_.tolist() for seed in (1, 1, 2)]
    assert codes[0] == codes[1] != codes[2]


# rows of other kinds


def test_rows_of_other_kinds():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(WINE, columns=[f"c{j}" for j in range(13)])
    for kind in KINDS:
        plain = kind(RIDGE).fit(WINE, KIND)
        named = kind(RIDGE).fit(frame, KIND)
        assert list(named.feature_names_in_) == list(frame.columns)
        assert named.rule_.columns == tuple(frame.columns)
        assert list(named.estimators_[0].feature_names_in_) == list(frame.columns)
        np.testing.assert_array_equal(plain.predict(WINE), named.predict(frame))
        assert named.verdict_.check(frame, KIND)
        with pytest.raises(ValueError, match="c0"):
            named.predict(frame[list(frame.columns[::-1])])
        loose = kind(RIDGE).fit(csr_array(WINE), KIND)
        np.testing.assert_allclose(
            loose.decision_function(csr_array(WINE)), plain.decision_function(WINE), rtol=1e-5, atol=1e-6
        )
        assert loose.verdict_.check(csr_array(WINE), KIND)
        single = kind(RIDGE).fit(WINE.astype(np.float32), KIND)
        assert (single.predict(WINE.astype(np.float32)) == plain.predict(WINE)).mean() > 0.98


@pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
def test_kernel_values_are_taken_by_rows_and_columns():
    X, y = three_clouds(n=120, classes=4)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    for kind in KINDS:
        for ours, theirs in ((KernelPerceptron(kernel="precomputed"), KernelPerceptron(kernel="rbf", gamma=1.0)),
                             (SVC(kernel="precomputed"), SVC(gamma=1.0))):  # fmt: skip
            given, made = kind(ours).fit(K, y), kind(theirs).fit(X, y)
            np.testing.assert_array_equal(given.predict(K), made.predict(X))
    assert OneVsOne(KernelPerceptron(kernel="precomputed")).fit(K, y).verdict_.check(K, y)


def test_objects_that_are_no_table():
    words = ["abab", "baba", "abba", "cdcd", "dcdc", "cddc", "efef", "feef", "fefe"] * 2
    y = np.repeat(["x", "y", "z"], 3).tolist() * 2
    from separatrix.kernels import Spectrum

    for kind in (OneVsRest, OneVsOne):
        model = kind(KernelPerceptron(kernel=Spectrum(2))).fit(words, y)
        assert model.predict(words).tolist() == y
        assert model.verdict_.check(words, y)


def test_grid_search_and_cross_validation_see_through():
    X, y = three_clouds(n=150, classes=3)
    search = GridSearchCV(OneVsRest(LogisticRegression()), {"estimator__l2": [1e-3, 1e-1]}, cv=3).fit(X, y)
    alone = [cross_val_score(OneVsRest(LogisticRegression(l2=l2)), X, y, cv=3).mean() for l2 in (1e-3, 1e-1)]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], alone)
    assert cross_val_score(OneVsOne(RIDGE), X, y, cv=3, scoring="roc_auc_ovr").min() > 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_features_inside_the_classifiers(kind):
    X, y = three_clouds(n=120, classes=3, seed=4)
    squares = Polynomial(2)
    model = kind(LogisticRegression(l2=0.01, features=squares)).fit(X, y)
    made = kind(RIDGE).fit(squares.fit_transform(X), y)
    np.testing.assert_allclose(
        model.decision_function(X), made.decision_function(squares.transform(X)), rtol=1e-6, atol=1e-7
    )
    assert not hasattr(model, "rule_")  # it is linear in the features, not in X
    assert model.verdict_.check(X, y)
    assert not model.verdict_.check(X + 0.1, y)


# bad input


class Mute(LinearRegression):
    """Has predictions, but no scores."""


@pytest.mark.parametrize("kind", KINDS)
def test_bad_input(kind):
    X, y = three_clouds()
    with pytest.raises(ValueError, match="Mute has neither decision_function nor predict_proba: without scores"):
        kind(Mute()).fit(X, y)
    with pytest.raises(TypeError, match=r"the class Perceptron; give it a learner, \w+\(Perceptron\(\)\)"):
        kind(Perceptron).fit(X, y)
    with pytest.raises(TypeError, match="needs a learner of two classes"):
        kind("logistic").fit(X, y)
    with pytest.raises(ValueError, match="one class only, 1"):
        kind(RIDGE).fit(X, np.ones(len(X), int))
    with pytest.raises(ValueError, match=r"y holds probabilities"):
        kind(RIDGE).fit(X, np.random.default_rng(0).random(len(X)))
    with pytest.raises(ValueError, match="X has 300 rows and y 299 labels"):
        kind(RIDGE).fit(X, y[:-1])
    with pytest.raises(ValueError, match="sample_weight has shape"):
        kind(RIDGE).fit(X, y, np.ones(3))
    with pytest.raises(ValueError, match=r"X\[7, 'x1'\] is NaN"):
        kind(RIDGE).fit(np.where(np.arange(600).reshape(300, 2) == 15, np.nan, X), y)
    with pytest.raises(ValueError, match=r"class_weight names 'bee'; inside .* a classifier has the classes 0 and 1"):
        kind(LogisticRegression(class_weight={"bee": 2.0})).fit(X, y)
    for jobs in (0, 1.5, "2", True):
        with pytest.raises(ValueError, match="n_jobs is"):
            kind(RIDGE, n_jobs=jobs).fit(X, y)
    far = X.copy()
    far[120, 0] = 1e200
    with pytest.raises(ValueError, match=r"X\[120\] makes the feature 'x0²' overflow"):
        kind(LogisticRegression(features=Polynomial(2), l2=0.1)).fit(far, y)
    with pytest.raises(NotFittedError):
        kind(RIDGE).predict(X)
    model = kind(RIDGE).fit(X, y)
    with pytest.raises(ValueError, match="X has 1 features"):
        model.predict(X[:, :1])
    with pytest.raises(ValueError, match=r"X\[0, 'x0'\] is NaN"):
        model.predict(np.full((1, 2), np.nan))
    kept = model.predict(X)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X, np.ones(len(X), int))
    np.testing.assert_array_equal(model.predict(X), kept)  # a fit that fails leaves the model as it was


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ([[1, -1], [1, -1], [-1, 1]], "code cannot tell 'ant' and 'bee' apart"),
        ([[1, 0], [0, 1], [-1, -1]], "code cannot tell 'ant' and 'bee' apart"),
        ([[1, -1], [-1, 1]], r"code has shape \(2, 2\); a row for each of the 3 classes"),
        ([[1, 1, 1], [1, -1, 1], [-1, 1, 1]], "Column 2 of code has one sign only"),
        ([[1, 2], [-1, 1], [1, -1]], r"code\[0, 1\] is 2; a code holds"),
        ("hamming", "code is 'hamming'; it must be one of 'dense', 'sparse', 'exhaustive'"),
        ([["a"], ["b"], ["c"]], "must be a matrix of −1, 0 and"),
        ([[1, np.nan], [-1, 1], [1, -1]], r"code\[0, 1\] is nan"),
    ],
)
def test_codes_that_will_not_do(code, said):
    X, y = three_clouds()
    with pytest.raises(ValueError, match=said):
        OutputCode(RIDGE, code=code).fit(X, np.array(["ant", "bee", "cat"])[y])


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (OneVsRest(RIDGE, classifiers="all"), "classifiers is 'all'; it must be one of 'K', 'K-1'"),
        (OneVsRest(RIDGE, probabilities="softmax"), "probabilities is 'softmax'"),
        (OneVsOne(RIDGE, decide="coin"), "decide is 'coin'"),
        (OneVsOne(RIDGE, probabilities="no"), "probabilities is 'no'"),
        (OutputCode(RIDGE, decide=None), "decide is None"),
    ],
)
def test_settings_that_will_not_do(model, said):
    with pytest.raises(ValueError, match=said):
        model.fit(*three_clouds())


def test_a_learner_with_two_columns_of_scores_is_refused():
    class Twofold(RidgeClassifier):
        def decision_function(self, X):
            return np.zeros((len(X), 2))

    with pytest.raises(ValueError, match=r"Twofold gave scores of shape \(300, 2\)"):
        OneVsRest(Twofold()).fit(*three_clouds()).predict(three_clouds()[0])


# real rows


PENDIGITS = SHARED / "libsvm"


@pytest.mark.skipif(not (PENDIGITS / "pendigits.scale.xz").exists(), reason="../shared/data/libsvm is not there")
def test_pen_strokes():
    """Ten digits of 7 494 writers' strokes: every classifier proved, and far better in pairs than against the rest."""
    (X, y), (new, truth) = (_libsvm(PENDIGITS / name) for name in ("pendigits.scale.xz", "pendigits.scale.t.xz"))
    errors = {}
    for model in (OneVsRest(LogisticRegression(l2=1e-4)), OneVsOne(LogisticRegression(l2=1e-4))):
        verdict = model.fit(X, y).verdict_
        assert verdict.status == "optimal"
        assert max(member.certificate.relative_gap for member in verdict.claim.members) <= 1e-10
        errors[type(model)] = 1 - model.score(new, truth)
        p = model.predict_proba(new)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert (model.classes_[p.argmax(axis=1)] == model.predict(new)).mean() > 0.98
    assert errors[OneVsOne] < 0.06 < errors[OneVsRest] < 0.12
    assert model.verdict_.check(X, y)


def _libsvm(path):
    with lzma.open(path, "rb") as file:
        X, y = load_svmlight_file(file)
    return X.toarray(), y.astype(int)


# scikit-learn's own checks


@pytest.mark.parametrize("model", [OneVsRest(RIDGE), OneVsRest(RIDGE, classifiers="K-1"), OneVsOne(RIDGE),
                                   OutputCode(RIDGE, random_state=0),
                                   OneVsOne(TheirLogistic())],
                         ids=lambda m: f"{type(m).__name__}-{type(m.estimator).__name__}")  # fmt: skip
def test_check_estimator(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(model, on_skip=None, on_fail=None)
    assert [each["check_name"] for each in results if each["status"] == "failed"] == []


class Impatient(Perceptron):
    """Somebody presses Ctrl-C while the second of these is being fitted."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        if type(self).fits == 2:
            steps = self.stretches(X, y)
            for _ in range(3):
                next(steps)
            steps.close()
            raise KeyboardInterrupt
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
@pytest.mark.parametrize("kind", [OneVsRest, OneVsOne, OutputCode])
def test_after_ctrl_c_there_is_a_model_whose_verdict_says_so(kind):
    X, y = load_iris(return_X_y=True)
    Impatient.fits = 0
    model = kind(Impatient(max_passes=50))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    statuses = [member.verdict_.status for member in model.estimators_]
    assert Impatient.fits == 2
    assert statuses[0] != "interrupted"
    assert statuses[1] == "interrupted"
    assert [member.n_passes_ for member in model.estimators_[1:3]] == [3, 1]  # what it had, and one step
    assert model.verdict_.status == "interrupted"
    assert model.verdict_.check(X, y)
    assert set(model.predict(X)) <= {0, 1, 2}


def test_ctrl_c_while_logistic_regressions_are_fitted_together_leaves_a_model(monkeypatch):
    X, y = load_iris(return_X_y=True)

    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("separatrix.learners.reductions.members.fit_together", pressed)
    model = OneVsRest(LogisticRegression(l2=0.01))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert [member.verdict_.status for member in model.estimators_] == ["interrupted"] * 3
    assert model.verdict_.status == "interrupted"
    assert model.score(X, y) > 0.5


def test_ctrl_c_in_a_learner_that_makes_no_steps_is_what_it_was(monkeypatch):
    X, y = load_iris(return_X_y=True)

    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(DecisionTreeClassifier, "fit", pressed)
    for learner in (DecisionTreeClassifier(), make_pipeline(StandardScaler(), DecisionTreeClassifier())):
        model = OneVsRest(learner)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert not hasattr(model, "estimators_")
