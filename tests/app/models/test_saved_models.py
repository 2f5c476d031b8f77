"""A saved model answers as its learner does, for every learner; what no file can hold is refused by name."""

import json
import subprocess
import sys
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from rarely import some_of
from scipy import sparse
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.tree import DecisionTreeClassifier

import separatrix
from separatrix import (
    AveragedPerceptron,
    BayesClassifier,
    BernoulliNaiveBayes,
    GaussianDiscriminant,
    GaussianNaiveBayes,
    JointClassifier,
    JointPerceptron,
    KernelPerceptron,
    LeastSquaresClassifier,
    LogisticRegression,
    MaxMarginClassifier,
    Model,
    MultiLabel,
    NaiveBayes,
    OneVsOne,
    OneVsRest,
    OnlinePerceptron,
    OnlineToBatch,
    OutputCode,
    Perceptron,
    Pocket,
    PoissonNaiveBayes,
    VotedPerceptron,
    ZeroOneClassifier,
)
from separatrix.app.models.document import CannotSaveError
from separatrix.app.models.file import write
from separatrix.app.models.from_learner import model_of
from separatrix.app.tables.columns import Decision
from separatrix.app.tables.encoding import learn_encoding
from separatrix.app.tables.table import Columns
from separatrix.families import Categorical, Gaussian
from separatrix.features import GaussianBasis, Interactions, Lift, Polynomial, Standardise
from separatrix.joint import Separate, Shared

RNG = np.random.default_rng(3)
X = RNG.normal(size=(90, 3)) * [1, 3, 0.5] + [0, 5, -1]
SCORE = X[:, 0] - 0.4 * (X[:, 1] - 5) + RNG.normal(size=90) * 0.8
TWO, THREE = np.where(SCORE > 0, "yes", "no"), np.digitize(SCORE, [-0.8, 0.8])
COUNTS = RNG.poisson(2.0 + (SCORE > 0)[:, None], size=(90, 3)).astype(float)
BITS = (X > [0, 5, -1]).astype(float)
MIXED = np.column_stack([COUNTS[:, 0], X[:, 1], BITS[:, 2]])
APART = np.where(X[:, 0] + X[:, 1] > 5, "yes", "no")
QUASI_X = np.column_stack([np.repeat([0.0, 0.0, 1.0, 2.0], 5), RNG.normal(size=20)])
QUASI_Y = np.repeat(["no", "yes", "yes", "yes"], 5)
QUASI_Y[:2] = "yes"
NEW = RNG.normal(size=(40, 3)) * [1, 3, 0.5] + [0, 5, -1]
TIES = np.vstack([X[:5], np.zeros((2, 3))])


def cases():
    """name: (learner, X, y, new rows)."""
    both = {"two": TWO, "three": THREE}
    found = {}
    for name, y in both.items():
        found |= {
            f"logistic {name}": (LogisticRegression(), X, y),
            f"logistic l2 {name}": (LogisticRegression(l2=0.1, class_weight="balanced"), X, y),
            f"logistic squared {name}": (LogisticRegression(objective="squared", starts=2, random_state=0), X, y),
            f"logistic prior {name}": (LogisticRegression(class_weight="balanced", prior="data"), X, y),
            f"logistic features {name}": (LogisticRegression(l2=0.1, features=Polynomial(2)), X, y),
            f"logistic stochastic {name}": (
                LogisticRegression(solver="stochastic", max_passes=3, learning_rate=0.01, random_state=0), X, y),
            f"least squares {name}": (LeastSquaresClassifier(), X, y),
            f"discriminant {name}": (GaussianDiscriminant(), X, y),
            f"quadratic {name}": (GaussianDiscriminant(covariance="own", shrinkage=0.1), X, y),
            f"naive Bayes own {name}": (GaussianNaiveBayes(variance="own"), X, y),
            f"naive Bayes shared {name}": (GaussianNaiveBayes(variance="shared"), X, y),
            f"naive Bayes Bernoulli {name}": (BernoulliNaiveBayes(), BITS, y),
            f"naive Bayes threshold {name}": (BernoulliNaiveBayes(threshold=0.3), X, y),
            f"naive Bayes Poisson {name}": (PoissonNaiveBayes(), COUNTS, y),
            f"naive Bayes mixed {name}": (
                NaiveBayes(families={1: Gaussian("own"), ...: Categorical()}), MIXED, y),
            f"perceptron {name}": (Perceptron(max_passes=5), X, y),
            f"averaged {name}": (AveragedPerceptron(max_passes=5), X, y),
            f"pocket {name}": (Pocket(max_passes=5, random_state=0), X, y),
            f"online {name}": (OnlinePerceptron(), X, y),
            f"voted {name}": (VotedPerceptron(max_passes=3), X, y),
            f"voted half {name}": (VotedPerceptron(max_passes=3, last_half=True, learning_rate=0.5), X, y),
            f"kernel rbf {name}": (KernelPerceptron("rbf", max_passes=3), X, y),
            f"kernel averaged {name}": (KernelPerceptron("polynomial", reading="averaged", max_passes=3), X, y),
            f"kernel voted {name}": (KernelPerceptron("rbf", reading="voted", max_passes=3), X, y),
            f"kernel linear {name}": (KernelPerceptron(max_passes=3), X, y),
            f"kernel budget {name}": (KernelPerceptron("rbf", budget=10, max_passes=3, random_state=0), X, y),
            f"joint perceptron {name}": (JointPerceptron(max_passes=3), X, y),
            f"joint classifier {name}": (JointClassifier(l2=0.1), X, y),
            f"joint without intercept {name}": (JointClassifier(Separate(intercept=False), l2=0.1), X, y),
            f"online to batch of another {name}": (
                OnlineToBatch(LogisticRegression(solver="stochastic", learning_rate=0.1)), X, y),
            f"one-vs-rest {name}": (OneVsRest(LogisticRegression(l2=0.1)), X, y),
            f"one-vs-rest K-1 {name}": (OneVsRest(LogisticRegression(l2=0.1), classifiers="K-1"), X, y),
            f"one-vs-rest coupled {name}": (OneVsRest(LogisticRegression(l2=0.1), probabilities="coupling"), X, y),
            f"one-vs-rest of perceptrons {name}": (OneVsRest(Perceptron(max_passes=3)), X, y),
            f"one-vs-one {name}": (OneVsOne(LogisticRegression(l2=0.1)), X, y),
            f"one-vs-one by scores {name}": (
                OneVsOne(LogisticRegression(l2=0.1), decide="scores", probabilities="normalise"), X, y),
            f"one-vs-one of features {name}": (OneVsOne(LogisticRegression(l2=0.1, features=Polynomial(2))), X, y),
            f"one-vs-one of kernels {name}": (OneVsOne(KernelPerceptron("rbf", max_passes=3)), X, y),
            f"output code {name}": (OutputCode(GaussianNaiveBayes(variance="own"), random_state=0), X, y),
            f"output code by votes {name}": (
                OutputCode(LogisticRegression(l2=0.1), decide="votes", random_state=0), X, y),
        }  # fmt: skip
    found |= {
        "logistic firth": (LogisticRegression(objective="firth"), X, TWO),
        "logistic flic": (LogisticRegression(objective="flic"), X, TWO),
        "logistic given prior": (LogisticRegression(prior={"no": 0.9, "yes": 0.1}), X, TWO),
        "logistic separated": (LogisticRegression(), X, APART),
        "logistic separated prior": (LogisticRegression(class_weight="balanced", prior="data"), X, APART),
        "logistic quasi-separated": (LogisticRegression(), QUASI_X, QUASI_Y),
        "logistic quasi-separated prior": (
            LogisticRegression(class_weight="balanced", prior="data"), QUASI_X, QUASI_Y),
        "joint quasi-separated": (JointClassifier(), QUASI_X, QUASI_Y),
        "joint separated": (JointClassifier(), X, APART),
        "logistic of many features": (
            LogisticRegression(l2=0.1, features=[Standardise(), Interactions(), Lift("square")]), X, THREE),
        "logistic of Gaussians": (
            LogisticRegression(l2=0.1, features=[Standardise(), GaussianBasis(count=4, random_state=0)]), X, TWO),
        "logistic of fractions": (LogisticRegression(), X, 1 / (1 + np.exp(-SCORE))),
        "online to batch": (OnlineToBatch(OnlinePerceptron()), X, TWO),
        "logistic sparse": (LogisticRegression(l2=0.1), sparse.csr_matrix(COUNTS), TWO),
        "voted sparse": (VotedPerceptron(max_passes=3), sparse.csr_matrix(COUNTS), THREE),
        "kernel sparse": (KernelPerceptron("rbf", max_passes=3), sparse.csr_matrix(COUNTS), THREE),
        "naive Bayes sparse": (PoissonNaiveBayes(), sparse.csr_matrix(COUNTS), THREE),
        "margin": (MaxMarginClassifier(), X, APART),
        "zero-one": (ZeroOneClassifier(), X[:, :2], TWO),
        "kernel apart": (KernelPerceptron("rbf", multiclass="one-vs-rest", reading="voted", max_passes=3), X, THREE),
        "labels true and false": (LogisticRegression(), X, TWO == "yes"),
        "labels numbers": (Perceptron(max_passes=3), X, np.where(TWO == "yes", 2.0, -1.0)),
    }  # fmt: skip
    return found


CASES = cases()


@cache
def fitted(name):
    learner, rows, y = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner.fit(rows, y), rows


def new_rows(rows):
    """Rows of the same kind, some seen, some not."""
    if rows.shape == X.shape and rows is X:
        return np.vstack([NEW, TIES])
    return rows[::2]


def same(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    size = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * size)


def _distance(learner, rows):
    try:
        return learner.distance(rows)
    except AttributeError:
        return None


@pytest.mark.parametrize("name", CASES)
def test_a_saved_model_answers_as_its_learner_does(name, tmp_path):
    learner, rows = fitted(name)
    separatrix.save(learner, tmp_path / "model.json")
    model = separatrix.load(tmp_path / "model.json")
    new = new_rows(rows)
    expected = learner.predict(new)
    labels = model.labels(new)
    assert labels.tolist() == expected.tolist()
    assert [type(label) for label in labels.tolist()] == [type(label) for label in expected.tolist()]
    same(model.scores(new), learner.decision_function(new))
    if hasattr(learner, "predict_proba"):
        same(model.probabilities(new), learner.predict_proba(new))
    else:
        assert model.probabilities(new) is None
    if not name.startswith("joint"):  # these have none, though their rule has
        expected = _distance(learner, new)
        assert (model.distances(new) is None) == (expected is None)
        if expected is not None:
            same(model.distances(new), expected)
    assert model.learner == type(learner).__name__
    if hasattr(learner, "verdict_"):
        assert model.verdict["status"] == learner.verdict_.status
        assert model.verdict["text"] == str(learner.verdict_)


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(("logistic", "perceptron", "margin"))])
def test_a_linear_rule_has_the_very_same_bits(name, tmp_path):
    learner, rows = fitted(name)
    separatrix.save(learner, tmp_path / "model.json")
    model, new = separatrix.load(tmp_path / "model.json"), new_rows(rows)
    assert model.scores(new).tobytes() == learner.decision_function(new).tobytes()
    assert model.distances(new).tobytes() == learner.distance(new).tobytes()
    if model.probabilities(new) is not None:
        assert model.probabilities(new).tobytes() == learner.predict_proba(new).tobytes()


@pytest.mark.parametrize("name", some_of(list(CASES), 2))
def test_the_same_model_is_the_same_bytes_and_stays_so(name, tmp_path):
    learner, _ = fitted(name)
    separatrix.save(learner, tmp_path / "one.json")
    write(separatrix.load(tmp_path / "one.json"), tmp_path / "two.json")
    one = (tmp_path / "one.json").read_bytes()
    assert one == (tmp_path / "two.json").read_bytes()
    assert one.endswith(b"}\n")
    assert json.loads(one)["format"] == "separatrix-model"
    assert str(tmp_path).encode() not in one


def test_missing_numbers_of_naive_bayes_add_nothing_in_a_saved_model_too(tmp_path):
    learner = GaussianNaiveBayes(variance="own").fit(X, THREE)
    separatrix.save(learner, tmp_path / "model.json")
    model, rows = separatrix.load(tmp_path / "model.json"), X.copy()
    rows[::3, 1] = np.nan
    same(model.probabilities(rows), learner.predict_proba(rows))
    assert model.distances(rows) is None


def test_numbers_that_a_family_does_not_know_are_refused(tmp_path):
    separatrix.save(PoissonNaiveBayes().fit(COUNTS, TWO), tmp_path / "model.json")
    with pytest.raises(ValueError, match=r"X\[1, 'x2'\] is -1"):
        separatrix.load(tmp_path / "model.json").labels([[1.0, 2.0, 3.0], [1.0, 2.0, -1.0]])


def test_sparse_rows_and_frames_in_any_order_are_read(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    learner = LogisticRegression().fit(frame, TWO)
    model = model_of(learner)
    assert model.columns == ("a", "b", "c")
    same(model.scores(frame[["c", "a", "b"]].assign(more=1)), learner.decision_function(frame))
    same(model.scores(sparse.csr_array(X)), learner.decision_function(frame))
    with pytest.raises(ValueError, match="lacks the column 'b'"):
        model.labels(frame[["a", "c"]])
    with pytest.raises(ValueError, match=r"X\[1, 'c'\] is nan"):
        model.labels([[0, 0, 0], [0, 0, np.nan]])
    with pytest.raises(ValueError, match=r"shape \(1, 2\)"):
        model.labels([[1, 2]])


def test_a_frame_that_has_some_of_the_columns_is_not_read_by_position(tmp_path):
    model = model_of(LogisticRegression().fit(X, TWO))
    assert model.columns == ("x0", "x1", "x2")
    assert len(model.labels(pd.DataFrame(X, columns=["a", "b", "c"]))) == len(X)  # its columns have no names
    with pytest.raises(ValueError, match="lacks the column 'x0'"):
        model.labels(pd.DataFrame(X, columns=["x1", "x2", "x3"]))


@pytest.mark.parametrize(
    ("rows", "error", "said"),
    [
        (X + 1j, ValueError, "X holds complex numbers"),
        (np.ma.masked_greater(X, 1.0), TypeError, "X is a masked array"),
        (np.full((2, 3), 10**400, object), ValueError, "X holds what is not a number"),
    ],
)
def test_rows_that_would_lose_something_are_refused(rows, error, said):
    with pytest.raises(error, match=said):
        model_of(LogisticRegression().fit(X, TWO)).labels(rows)


@pytest.mark.parametrize(
    "classes", [("a\0", "b"), ("a", "a\0"), (1, 2**63 + 5), (3, 2**63 + 2048), ("", " "), ("\ud800", "é")]
)
def test_labels_come_back_whole(classes, tmp_path):
    y = np.array(classes, np.uint64 if isinstance(classes[0], int) else object)[(TWO == "yes").astype(int)]
    learner = LogisticRegression().fit(X, y)
    separatrix.save(learner, tmp_path / "model.json")
    found = separatrix.load(tmp_path / "model.json").labels(NEW).tolist()
    assert found == learner.predict(NEW).tolist()
    assert set(map(type, found)) == {type(classes[0])}


# -------------------------------------------------------------------------------------------------------- what it knows


@pytest.mark.parametrize("name", ["logistic two", "logistic prior three", "logistic quasi-separated",
                                  "logistic separated", "logistic of many features"])  # fmt: skip
def test_an_explanation_is_that_of_the_learner(name, tmp_path):
    learner, rows = fitted(name)
    separatrix.save(learner, tmp_path / "model.json")
    found = separatrix.load(tmp_path / "model.json").explain(rows[3])
    assert found.to_dict() == learner.explain(rows[3]).to_dict()
    assert str(found) == str(learner.explain(rows[3]))


@pytest.mark.parametrize("name", ["logistic two", "logistic three", "logistic features three", "joint classifier two",
                                  "discriminant three", "naive Bayes own two", "naive Bayes mixed three"])  # fmt: skip
def test_contributions_add_up_to_differences_of_scores(name, tmp_path):
    learner, rows = fitted(name)
    write(model_of(learner, X=rows), tmp_path / "model.json")
    model = separatrix.load(tmp_path / "model.json")
    assert len(model.training["means"]) == model.rule.linear().weights.shape[-1]
    assert model.scaled_weights is not None
    parts = model.contributions(rows).sum(axis=-1)
    same(parts - parts[0], model.scores(rows) - model.scores(rows)[0])


def test_what_is_not_linear_has_no_contributions_and_what_has_no_odds_no_explanation():
    with pytest.raises(ValueError, match="no feature has a part"):
        model_of(fitted("kernel rbf two")[0]).contributions(X)
    with pytest.raises(ValueError, match="nothing to explain"):
        model_of(fitted("perceptron two")[0]).explain(X[0])


def test_facts_of_the_training_rows_are_kept(tmp_path):
    learner = LogisticRegression().fit(X, TWO)
    facts = {"fingerprint": "abc", "seed": 0, "summary": learner.summary()}
    write(model_of(learner, X=X, training=facts), tmp_path / "model.json")
    model = separatrix.load(tmp_path / "model.json")
    assert model.training["rows"] == 90
    assert model.training["summary"]["text"] == str(facts["summary"])
    assert model.training["summary"]["coefficients"] == facts["summary"].to_dict()["coefficients"]
    np.testing.assert_allclose(model.training["deviations"], X.std(axis=0))
    np.testing.assert_allclose(model.scaled_weights, learner.coef_[0] * X.std(axis=0))
    assert list(json.loads((tmp_path / "model.json").read_text())["training"])[-3:] == [
        "fingerprint",
        "seed",
        "summary",
    ]


def test_versions_that_are_added_take_none_away():
    learner = LogisticRegression().fit(X, TWO)
    own = model_of(learner).training["versions"]
    assert set(own) == {"python", "numpy", "scipy", "scikit-learn", "numba"}
    more = model_of(learner, training={"versions": {"separatrix": "1", "numpy": "2"}}).training["versions"]
    assert more == {**own, "separatrix": "1", "numpy": "2"}


def test_of_many_rows_that_a_verdict_names_their_number_is_kept(tmp_path):
    x = np.linspace(-1, 1, 3000)[:, None]
    learner = LogisticRegression().fit(x, x[:, 0] > 0.1)
    separatrix.save(learner, tmp_path / "model.json")
    verdict = separatrix.load(tmp_path / "model.json").verdict
    assert verdict["status"] == "separated"
    assert '"count": 3000' in (tmp_path / "model.json").read_text()
    assert (tmp_path / "model.json").stat().st_size < 20_000


def test_an_interrupted_fit_is_marked(tmp_path):
    learner = LogisticRegression(solver="gradient")
    steps = learner.steps(X, TWO)
    next(steps)
    steps.close()
    separatrix.save(learner, tmp_path / "model.json")
    assert separatrix.load(tmp_path / "model.json").interrupted
    assert model_of(LogisticRegression().fit(X, TWO), interrupted=True).status == "interrupted"


def test_a_table_with_categories_and_gaps_comes_back(tmp_path):
    table = Columns({"n": [1.0, None, 3.0, 2.0] * 5, "c": ["r", "g", None, "r"] * 5}, "data.csv")
    decisions = [Decision("n", "number", "", 5), Decision("c", "category", "", 5)]
    encoding = learn_encoding(table, decisions, missing="impute", standardise=True)
    learner = LogisticRegression(l2=0.1).fit(encoding.matrix(table), ["a", "b", "b", "a", "b"] * 4)
    write(model_of(learner, encoding=encoding), tmp_path / "model.json")
    model = separatrix.load(tmp_path / "model.json")
    assert model.encoding == encoding
    assert model.columns == ("n", "n is missing", "c=g", "c is missing")
    assert (
        model.scores(model.encoding.matrix(table)).tolist() == model_of(learner).scores(encoding.matrix(table)).tolist()
    )
    with pytest.raises(ValueError, match="makes 4 columns"):
        model_of(fitted("logistic two")[0], encoding=encoding)


# ------------------------------------------------------------------------------------------------------ what is refused


def test_what_no_file_can_hold_is_refused_by_name(tmp_path):
    ours = {
        "the feature map Shared": JointPerceptron(Shared({"g": ["yes", "no"]}), max_passes=2),
        "the kernel <lambda>": KernelPerceptron(lambda A, B: A @ B.T, max_passes=1),
        "the kernel 'precomputed'": KernelPerceptron("precomputed", max_passes=1),
        "OnlineToBatch of GaussianNaiveBayes": OnlineToBatch(GaussianNaiveBayes(variance="own")),
        "OnlineToBatch of OnlinePerceptron": OnlineToBatch(OnlinePerceptron()),
        "MultiLabel cannot be saved": MultiLabel(Perceptron(max_passes=1)),
        "sklearn's DecisionTreeClassifier": DecisionTreeClassifier(),
        "sklearn's LogisticRegression": OneVsRest(TheirLogisticRegression()),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours["the feature map Shared"].fit(X, TWO)
        ours["the kernel <lambda>"].fit(X, TWO)
        ours["the kernel 'precomputed'"].fit(X @ X.T, TWO)
        ours["OnlineToBatch of GaussianNaiveBayes"].fit(X[:20], TWO[:20])
        ours["OnlineToBatch of OnlinePerceptron"].fit(X[:20], THREE[:20])
        ours["MultiLabel cannot be saved"].fit(X, np.column_stack([TWO == "yes", THREE == 1]).astype(int))
        ours["sklearn's DecisionTreeClassifier"].fit(X, TWO)
        ours["sklearn's LogisticRegression"].fit(X, THREE)
    ours["BayesClassifier cannot be saved"] = BayesClassifier(lambda x: np.full(len(x), 0.5))
    for said, learner in ours.items():
        with pytest.raises(CannotSaveError, match=said.replace("(", r"\(")):
            separatrix.save(learner, tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_labels_that_json_has_no_word_for_are_refused(tmp_path):
    dates = np.where(TWO == "yes", np.datetime64("2020-01-01"), np.datetime64("2021-01-01"))
    with pytest.raises(CannotSaveError, match="Turn them into texts"):
        separatrix.save(_relabelled(dates), tmp_path / "model.json")


def _relabelled(y):
    learner = LogisticRegression().fit(X, TWO)
    learner.classes_ = np.unique(y)
    return learner


def test_a_learner_that_is_not_fitted_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        separatrix.save(LogisticRegression(), tmp_path / "model.json")


# ----------------------------------------------------------------------------------------------------- what is imported


@pytest.mark.parametrize("name", ["logistic two", "logistic prior three", "logistic features two", "perceptron three",
                                  "logistic quasi-separated", "joint classifier two"])  # fmt: skip
def test_a_linear_model_is_used_without_scikit_learn_and_numba(name, tmp_path):
    learner, rows = fitted(name)
    separatrix.save(learner, tmp_path / "model.json")
    explain = "model.explain(X[0]); " if hasattr(learner, "explain") else ""
    code = (
        "import sys, separatrix, numpy as np; "
        f"model = separatrix.load({str(tmp_path / 'model.json')!r}); X = np.zeros((2, {rows.shape[1]})); "
        f"model.labels(X); model.scores(X); model.probabilities(X); model.distances(X); {explain}"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'sklearn', 'numba', 'llvmlite', 'pandas'}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_a_model_says_what_it_is():
    assert isinstance(model_of(fitted("logistic two")[0]), Model)
    assert repr(model_of(fitted("logistic two")[0])) == "<Model of LogisticRegression: 3 columns, 2 classes>"
