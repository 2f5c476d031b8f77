"""Rows of a table without the zeros of its categories: every sum and every fit is that of the matrix."""

from dataclasses import replace

import numpy as np
import pytest

from separatrix import LogisticRegression, SeparationWarning
from separatrix.data import Rows
from separatrix.data.block import block_of
from separatrix.data.categorical import CategoricalRows, squares
from separatrix.data.frame import Ask, Frame
from separatrix.data.grams import CategoricalPairs
from separatrix.data.jets import compiled_jet
from separatrix.fitting.certificates.margin import MarginProofRows, stray_of
from separatrix.fitting.coordinates import frame_of
from separatrix.fitting.risk.margin import Risk
from separatrix.learners.logistic import rows_of_fit, training
from separatrix.learners.logistic.rows_of_fit import deviations_of, means_of, moments_of
from separatrix.losses import LogisticSquared, LogLikelihood, Squared
from separatrix.losses.penalty import NoPenalty

ORDERS = {
    "numbers first": [True, True, True, False, False, False, False, False],
    "mixed": [False, False, True, False, True, False, False, True],
    "levels alone": [False] * 8,
    "numbers alone": [True] * 3,
}


def drawn(numbered, n=400, seed=0):
    """Rows in which every indicator stands, and some rows have none."""
    rng = np.random.default_rng(seed)
    p, L = sum(numbered), len(numbered) - sum(numbered)
    numbers = rng.normal(size=(n, p)) * [3, 1, 0.1][:p] + [1000, 0, -5][:p]
    places = np.full((n, 2), L, np.int32)
    if L:
        half = L // 2
        first = rng.integers(0, half + 1, n)
        places[:, 0], places[:, 1] = np.where(first < half, first, L), rng.integers(half, L + 1, n)
    return CategoricalRows.of(numbers, places, numbered, [f"x{j}" for j in range(len(numbered))])


@pytest.fixture(params=ORDERS.values(), ids=ORDERS)
def rows(request):
    return drawn(request.param)


@pytest.fixture
def compiled(monkeypatch):
    """The compiled passes, however few rows there are."""
    monkeypatch.setattr(training, "COMPILE_FROM", 0)


def labels(X, seed=1, steep=0.5):
    rng = np.random.default_rng(seed)
    z = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=X.shape[1]) * steep
    return np.array(["no", "yes"])[(z + rng.logistic(size=len(X)) > 0).astype(int)]


def test_an_indicator_is_one_where_its_place_is_named_and_zero_elsewhere():
    numbers, places = np.array([[7.0], [8.0], [9.0]]), np.array([[0, 3], [1, 2], [3, 3]], np.int32)
    rows = CategoricalRows.of(numbers, places, [False, True, False, False], "abcd")
    assert rows.dense().tolist() == [[1, 7, 0, 0], [0, 8, 1, 1], [0, 9, 0, 0]]
    assert rows.shape == (3, 4)


def test_it_reads_like_the_matrix(rows):
    X, rng = rows.dense(), np.random.default_rng(2)
    W = rng.normal(size=(X.shape[1], 3))
    np.testing.assert_allclose(rows @ W, X @ W, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(rows @ W[:, 0], X @ W[:, 0], rtol=1e-12, atol=1e-9)
    some = rng.permutation(len(X))[:50]
    for part in (slice(3, 90), some, X[:, 0] > np.median(X[:, 0])):
        assert isinstance(rows[part], CategoricalRows)
        assert np.array_equal(rows[part].dense(), X[part])
    assert np.array_equal(rows.plain().toarray(), X)
    low, high = rows.extremes()
    assert np.array_equal(low, X.min(axis=0))
    assert np.array_equal(high, X.max(axis=0))


@pytest.mark.parametrize("weighted", [False, True])
def test_means_and_deviations(rows, weighted):
    X = rows.dense()
    cost = np.random.default_rng(3).random(len(X)) if weighted else np.empty(0)
    weight = cost if weighted else None
    mean = np.average(X, axis=0, weights=weight)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    for near in (mean, np.zeros(X.shape[1]), mean + 1e3):  # from far away digits would be lost
        for given in (rows, block_of(X)):
            found = moments_of(given, cost, near)
            np.testing.assert_allclose(found[0], mean, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(found[1], deviation, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(means_of(rows, cost), mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(deviations_of(rows, cost, mean), deviation, rtol=1e-9, atol=1e-12)


def frames(X):
    d = X.shape[1]
    own = frame_of(Rows.of(X, np.ones(len(X), np.int8), np.empty(0)), True, 0)
    far = np.random.default_rng(4).random(d) * 40  # where products of levels would lose digits
    return {"own": own, "no intercept": replace(own, lifted=False), "far": Frame(far, np.full(d, 0.5), True)}


@pytest.mark.parametrize(
    "loss",
    [LogLikelihood(), pytest.param(Squared(), marks=pytest.mark.slow), LogisticSquared()],
    ids=lambda loss: type(loss).__name__,
)
@pytest.mark.parametrize("where", ["own", "no intercept", "far"])
def test_the_compiled_sums_are_those_of_the_matrix(rows, loss, where):
    X, rng = rows.dense(), np.random.default_rng(5)
    frame = frames(X)[where]
    y, cost = rng.choice([-1, 1], len(X)).astype(np.int8), rng.random(len(X)) * (rng.random(len(X)) > 0.2)
    v = rng.normal(size=frame.width) * 0.3
    for ask in (Ask(), Ask(hessian=True), Ask(hessian=True, steering=True)):
        found, wanted = (
            compiled_jet(loss, frame, ask, v, Rows.of(each, y, cost, compiled=True), 5, 395) for each in (rows, X)
        )
        assert found.value == pytest.approx(wanted.value, rel=1e-11)
        assert found.margin == pytest.approx(wanted.margin, rel=1e-9)
        np.testing.assert_allclose(
            found.gradient, wanted.gradient, rtol=1e-9, atol=1e-9 * np.abs(wanted.gradient).max()
        )
        if ask.hessian:
            exact = 1e-4 if ask.steering else 1e-10  # single precision steers the matrix
            np.testing.assert_allclose(
                found.hessian, wanted.hessian, rtol=exact, atol=exact * np.abs(wanted.hessian).max()
            )


def test_far_from_its_centre_no_hessian_is_made_of_products(monkeypatch):
    rows = drawn(ORDERS["mixed"])
    frame = frames(rows.dense())["far"]
    monkeypatch.setattr(CategoricalPairs, "__init__", lambda *_: pytest.fail("digits would be lost"))
    given = Rows.of(rows, np.ones(len(rows), np.int8), np.empty(0), compiled=True)
    compiled_jet(LogLikelihood(), frame, Ask(hessian=True), np.zeros(frame.width), given, 0, len(rows))


@pytest.mark.parametrize("share", [0.25, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_a_proof_is_made_of_is_that_of_the_matrix(share, weighted, rows):
    X, rng = rows.dense(), np.random.default_rng(10)
    frame, y = frames(X)["own"], rng.choice([-1, 1], len(X)).astype(np.int8)
    cost = rng.random(len(X)) * (rng.random(len(X)) > 0.3) if weighted else np.empty(0)
    v = rng.normal(size=frame.width) * 4  # so that some rows are too sure to count
    made = []
    for each in (rows, X):
        risk = Risk(LogLikelihood(), Rows.of(each, y, cost, compiled=True), frame, NoPenalty(), np.arange(v.size))
        evidence = MarginProofRows(risk, v, share)
        assert evidence.by_levels(rooted=False) is (each is rows)
        made.append((*evidence.hessian(rooted=False), stray_of(risk, 1.0)))
    (mine, radius, stray), (theirs, known, _) = made
    np.testing.assert_allclose(squares(rows, frame), np.square(frame.coordinates(X)).sum(axis=1), rtol=1e-10)
    assert radius == pytest.approx(known, rel=1e-10)
    np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-11 * np.abs(theirs).max())
    assert stray >= 1


SETTINGS = {
    "plain": {}, "penalised": {"l2": 0.1}, "no intercept": {"fit_intercept": False}, "newton": {"solver": "newton"},
    "class weights": {"class_weight": "balanced"}, "prior": {"prior": {"no": 0.9, "yes": 0.1}},
    "from zero": {"init": "zero"}, "threads": {"n_threads": 2}, "exponential": {"objective": "exponential"},
    "squared hinge": {"objective": "squared-hinge"},
}  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_fit_is_that_of_the_matrix(rows, settings, weighted, compiled):
    X = rows.dense()
    y = labels(X)
    cost = np.random.default_rng(6).integers(0, 3, len(X)).astype(float) if weighted else None
    thin, plain = (LogisticRegression(**settings).fit(each, y, cost) for each in (rows, X))
    assert thin.verdict_.status == plain.verdict_.status == "optimal"
    np.testing.assert_allclose(rows @ thin.coef_[0] + thin.intercept_, X @ plain.coef_[0] + plain.intercept_, atol=1e-6)
    assert thin.verdict_.claim.value == pytest.approx(plain.verdict_.claim.value, rel=1e-9)
    assert thin.verdict_.check(X, y, cost)
    assert list(thin.feature_names_in_) == list(rows.names)
    if hasattr(thin, "predict_proba"):
        np.testing.assert_allclose(thin.predict_proba(rows), plain.predict_proba(X), atol=1e-7)
    assert thin.reads_levels
    assert (thin.predict(rows) == plain.predict(X)).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_inference_and_summary_are_those_of_the_matrix(weighted, compiled, monkeypatch):
    from separatrix.inference import likelihood

    monkeypatch.setattr(likelihood, "COMPILE_FROM", 0)
    rows = drawn(ORDERS["mixed"], n=2000)
    X = rows.dense()
    y, cost = labels(X), np.random.default_rng(7).integers(1, 4, len(X)).astype(float) if weighted else None
    thin, plain = (LogisticRegression().fit(each, y, cost) for each in (rows, X))
    mine, theirs = (model.inference(each, y, cost) for model, each in ((thin, rows), (plain, X)))
    np.testing.assert_allclose(mine.standard_errors, theirs.standard_errors, rtol=1e-7)
    one, other = (model.summary(each, y, cost) for model, each in ((thin, rows), (plain, X)))
    one, other = (str(each).partition("log-likelihood ")[2] for each in (one, other))  # before it stand bounds of 1e-20
    assert one == other != ""


def test_columns_that_are_combinations_of_others_are_named(compiled):
    rng = np.random.default_rng(8)
    both = rng.integers(0, 2, 500)
    places = np.column_stack([both, both + 2]).astype(np.int32)  # two indicators of the same
    rows = CategoricalRows.of(rng.normal(size=(500, 1)), places, [True, False, False, False, False], list("abcde"))
    y = labels(rng.normal(size=(500, 2)))
    thin, plain = (LogisticRegression().fit(each, y) for each in (rows, rows.dense()))
    assert thin.verdict_.rank.rank == plain.verdict_.rank.rank == 3
    assert len(thin.verdict_.rank.aliased) == 3
    assert thin.verdict_.check(rows.dense(), y)


@pytest.mark.parametrize("half", [False, True], ids=["separated", "quasi-separated"])
def test_separation_is_found_and_proved(half, compiled, monkeypatch):
    rng = np.random.default_rng(9)
    level = rng.integers(0, 3, 300)
    y = np.array(["no", "yes"])[(level == 0).astype(int)]
    if half:  # one level holds both classes
        y[level == 1] = rng.choice(["no", "yes"], (level == 1).sum())
    numbered = [True, True, False, False, False]
    rows = CategoricalRows.of(rng.normal(size=(300, 2)), level[:, None].astype(np.int32), numbered, list("abcde"))
    with pytest.warns(SeparationWarning):
        model = LogisticRegression().fit(rows, y)
    assert model.verdict_.status == ("quasi-separated" if half else "separated")
    assert model.verdict_.check(rows.dense(), y)
    monkeypatch.setattr(rows_of_fit, "AGREES", 0.0)  # whatever its loss, the proof tells whether these are the rows
    if not half:
        assert "separated" in str(model.summary(rows, y))
        with pytest.raises(ValueError, match="not the rows"):
            model.summary(rows, y[::-1])


def test_other_names_and_numbers_that_are_none_are_refused(compiled):
    rows = drawn(ORDERS["mixed"])
    y = labels(rows.dense())
    model = LogisticRegression().fit(rows, y)
    other = CategoricalRows.of(*rows.parts, ORDERS["mixed"], [*rows.names[:-1], "z"])
    with pytest.raises(ValueError, match="'z' where 'x7' was"):
        model.predict(other)
    rows.raw.numbers[17, 1] = np.nan
    with pytest.raises(ValueError, match=r"17.*x4"):
        LogisticRegression().fit(rows, y)
    with pytest.raises(ValueError, match="0 rows"):
        LogisticRegression().fit(rows[:0], y[:0])
    with pytest.raises(ValueError, match="3 names for 8 columns"):
        CategoricalRows.of(*rows.parts, ORDERS["mixed"], "abc")
