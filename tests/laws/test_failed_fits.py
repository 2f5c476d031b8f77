"""A fit that fails leaves the model as it was, wherever it fails; one that is stopped leaves a model that works."""

import copy
import os
import pickle
import sys
import warnings
from contextlib import suppress
from functools import cache

import numpy as np
import pandas as pd
import pytest

import separatrix
from separatrix import features
from separatrix.app.tasks import learner_table
from separatrix.data.maps.joint_rows import FeatureMapError
from separatrix.joint import Separate

HOUSE = os.path.dirname(separatrix.__file__)
RNG = np.random.default_rng(0)
OLD = pd.DataFrame(RNG.integers(0, 2, (40, 3)), columns=["a", "b", "c"], dtype=float)
OLD_LABELS = np.where(OLD["a"] + RNG.random(40) > 1, "yes", "no")
NEW = RNG.integers(0, 2, (30, 4)).astype(float)
NEW_LABELS = (NEW[:, 0] + RNG.random(30) > 1).astype(int)
UNBREAKABLE = ("__del__", "__enter__", "__exit__")
"""What Python itself cannot take back, when it is broken off as it is called or returns."""
PLACES = 8
"""At which a fit is broken off."""
SETTINGS = {"ZeroOneClassifier": {"time_limit": 1.0}, "JointPerceptron": {"max_passes": 20}}
ROW_BY_ROW = {"solver": "stochastic", "learning_rate": 0.1}


class BrokenError(Exception):
    """Nothing in the house expects it."""


def made(name):
    return getattr(separatrix, name)(**SETTINGS.get(name, {}))


LEARNERS = {
    **{name: made(name) for name, *_ in learner_table.LEARNERS.values()},
    **{
        name: getattr(separatrix, name)(separatrix.LogisticRegression())
        for name in [row[0] for row in learner_table.REDUCTIONS.values()] + ["MultiLabel"]
    },
    "OneVsRest(Perceptron)": separatrix.OneVsRest(separatrix.Perceptron(max_passes=5)),
    "OnlineToBatch": separatrix.OnlineToBatch(separatrix.OnlinePerceptron()),
    "OnlineToBatch(LeastSquares)": separatrix.OnlineToBatch(separatrix.LeastSquaresClassifier(**ROW_BY_ROW)),
    "LeastSquaresClassifier, stochastic": separatrix.LeastSquaresClassifier(**ROW_BY_ROW),
    "LogisticRegression, stochastic": separatrix.LogisticRegression(**ROW_BY_ROW),
    "LogisticRegression, features": separatrix.LogisticRegression(features=features.Standardise()),
    "GaussianDiscriminant, own": separatrix.GaussianDiscriminant(covariance="own", shrinkage="ledoit-wolf"),
    "JointClassifier, map": separatrix.JointClassifier(Separate(intercept=False), l2=0.1),
    "KernelPerceptron, budget": separatrix.KernelPerceptron("rbf", budget=4, random_state=0, max_passes=3),
    **{name: getattr(features, name)() for name in features.__all__ if name != "GaussianBasis"},
    "GaussianBasis": features.GaussianBasis(count=3, random_state=0),
}
STREAMS = [name for name, model in LEARNERS.items() if hasattr(model, "partial_fit")]
COURSES = [name for name, model in LEARNERS.items() if hasattr(model, "steps")]
pytestmark = pytest.mark.filterwarnings("ignore")


@cache
def fitted(name):
    return LEARNERS[name].fit(OLD, labels_for(name, OLD_LABELS))


def old_model(name):
    """As users have it after a fit."""
    return copy.deepcopy(fitted(name))


def labels_for(name, labels):
    return np.column_stack([labels == labels[0], labels != labels[0]]).astype(int) if name == "MultiLabel" else labels


def answers(model, X):
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


def is_as(model, before, stored):
    """Whether every attribute is the one that it was, and none has changed inside."""
    now = vars(model)
    return now.keys() == before.keys() and all(now[k] is v for k, v in before.items()) and pickle.dumps(model) == stored


def check_that_it_works(model, name):
    """It knows the new rows, and nothing of the old ones."""
    assert model.n_features_in_ == NEW.shape[1]
    assert not hasattr(model, "feature_names_in_")
    found = answers(pickle.loads(pickle.dumps(model)), NEW)
    assert name in features.__all__ or set(np.unique(found)) <= {0, 1}


def broken_off(call, place, error):
    """Raise the error at the call or return of a function of the house that comes in this place; how many came."""
    came = 0

    def watch(frame, event, _):
        nonlocal came
        if event in ("call", "return") and frame.f_code.co_filename.startswith(HOUSE):
            came += 1
            if came == place and frame.f_code.co_name not in UNBREAKABLE:
                sys.setprofile(None)
                raise error

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return came


def places(call):
    """Some places of this call, from its first function to its last."""
    count = broken_off(call, -1, BrokenError)
    return sorted({1 + (count - 1) * k // (PLACES - 1) for k in range(PLACES)})


def spoilt(X, name):
    """NaN in a late row, infinity where NaN is a missing number."""
    X = X.copy()
    value = np.inf if "NaiveBayes" in name else np.nan
    if hasattr(X, "iloc"):
        X.iloc[-2, 1] = value
    else:
        X[-2, 1] = value
    return X


@pytest.mark.parametrize("name", LEARNERS)
def test_bad_rows_and_labels_change_nothing(name):
    model, labels = old_model(name), labels_for(name, NEW_LABELS)
    before, stored = dict(vars(model)), pickle.dumps(model)
    cases = [(spoilt(NEW, name), labels)]
    if hasattr(model, "predict"):
        cases += [(NEW, labels[:-1]), (NEW, None), (NEW, np.full(len(NEW), 7))]
    for rows, y in cases:
        with pytest.raises(ValueError):
            model.fit(rows, y)
        assert is_as(model, before, stored)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_fit_that_breaks_anywhere_is_done_or_was_never_begun(name):
    labels = labels_for(name, NEW_LABELS)
    done = old_model(name)
    for place in places(lambda: done.fit(NEW, labels)):
        model = old_model(name)
        before, stored = dict(vars(model)), pickle.dumps(model)
        with suppress(BrokenError, FeatureMapError):
            broken_off(lambda model=model: model.fit(NEW, labels), place, BrokenError)
        if not is_as(model, before, stored):
            assert vars(model).keys() == vars(done).keys()
            np.testing.assert_array_equal(answers(model, NEW), answers(done, NEW))


@pytest.mark.parametrize("name", LEARNERS)
def test_control_c_anywhere_leaves_a_model_that_works(name):
    labels = labels_for(name, NEW_LABELS)
    done = old_model(name)
    for place in places(lambda: done.fit(NEW, labels)):
        model = old_model(name)
        before, stored = dict(vars(model)), pickle.dumps(model)
        with suppress(KeyboardInterrupt):
            broken_off(lambda model=model: model.fit(NEW, labels), place, KeyboardInterrupt)
        if not is_as(model, before, stored):
            check_that_it_works(model, name)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_warning_that_is_an_error_is_a_fit_that_failed(name):
    model = old_model(name)
    before, stored = dict(vars(model)), pickle.dumps(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error", separatrix.learners.warnings.BudgetWarning)
        try:
            model.fit(NEW, labels_for(name, NEW_LABELS))
        except separatrix.learners.warnings.BudgetWarning:
            assert is_as(model, before, stored)


@pytest.mark.parametrize("name", COURSES)
def test_who_stops_reading_for_an_error_of_their_own_keeps_a_model_that_works(name):
    model = old_model(name)
    with suppress(BrokenError):
        for _ in model.steps(NEW, NEW_LABELS):
            raise BrokenError
    check_that_it_works(model, name)


class Fuse:
    """What a user's function calls; it blows after so many calls."""

    left = np.inf

    def __call__(self):
        self.left -= 1
        if self.left < 0:
            raise BrokenError


def with_functions(fuse):
    """Learners that call functions of the user's own."""

    def kernel(A, B):
        fuse()
        return A @ B.T

    def feature_map(X, c):
        fuse()
        return X * (c in (1, "yes"))

    def rate(t):
        fuse()
        return 0.1 / t

    class Slow(separatrix.OnlinePerceptron):
        def partial_fit(self, X, y, classes=None):
            fuse()
            return super().partial_fit(X, y, classes)

        _logged = property()

    stochastic = {"solver": "stochastic", "learning_rate": rate, "tol": 1e-300, "max_passes": 5, "random_state": 0}
    return [
        separatrix.KernelPerceptron(kernel, max_passes=3),
        separatrix.JointPerceptron(feature_map, max_passes=3),
        separatrix.JointClassifier(feature_map, l2=0.1),
        separatrix.LogisticRegression(**stochastic),
        separatrix.LeastSquaresClassifier(**stochastic),
        separatrix.OneVsRest(separatrix.LogisticRegression(**stochastic)),
        separatrix.OnlineToBatch(Slow()),
    ]


@pytest.mark.parametrize("place", range(7))
@pytest.mark.parametrize("calls", [0, 1, 3])
def test_an_error_of_a_function_that_is_called_meanwhile_changes_nothing(place, calls):
    fuse = Fuse()
    model = with_functions(fuse)[place].fit(OLD, OLD_LABELS)
    before, said = dict(vars(model)), model.predict(OLD)
    fuse.left = calls
    with pytest.raises((BrokenError, FeatureMapError)):
        model.fit(NEW, NEW_LABELS)
    fuse.left = np.inf
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    np.testing.assert_array_equal(model.predict(OLD), said)


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_goes_on_as_if_what_failed_had_never_come(name):
    labels = labels_for(name, OLD_LABELS)
    model = LEARNERS[name].__class__(**LEARNERS[name].get_params())
    model.partial_fit(OLD[:20], labels[:20])
    failed = copy.deepcopy(model)
    before, stored = dict(vars(failed)), pickle.dumps(failed)
    for rows, y in ((spoilt(OLD[20:30], name), labels[20:30]), (OLD[20:30], labels[20:29]), (NEW, labels[:30])):
        with pytest.raises(ValueError):
            failed.partial_fit(rows, y)
        assert is_as(failed, before, stored)
    for error in (BrokenError, KeyboardInterrupt):
        for place in places(lambda learn=copy.deepcopy(model).partial_fit: learn(OLD[20:], labels[20:])):
            learn = failed.partial_fit
            with suppress(BrokenError, KeyboardInterrupt):
                broken_off(lambda learn=learn: learn(OLD[20:], labels[20:]), place, error)
            if not is_as(failed, before, stored):  # the last functions may return after the rows are learnt
                failed = copy.deepcopy(model)
                before, stored = dict(vars(failed)), pickle.dumps(failed)
    model.partial_fit(OLD[20:], labels[20:])
    failed.partial_fit(OLD[20:], labels[20:])
    for part in ("coef_", "intercept_", "means_", "n_steps_"):
        if hasattr(model, part):
            np.testing.assert_array_equal(getattr(failed, part), getattr(model, part))
