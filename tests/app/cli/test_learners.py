"""The static table of learners says what the learners are."""

import subprocess
import sys
from dataclasses import fields
from typing import get_args

import pytest

from separatrix.app.cli.options import LearnerName, LearnerOptions
from separatrix.app.cli.running import CommandLine
from separatrix.app.tables.errors import did_you_mean
from separatrix.app.tasks.learners import (
    LEARNERS,
    OPTIONS,
    REDUCTIONS,
    learner_of,
    parameters_of,
    reduction_of,
    value_of,
)
from separatrix.errors import SettingError
from separatrix.wording import call, has, learner, setting, speaking


def test_the_names_that_are_typed_are_those_of_the_table():
    assert get_args(LearnerName) == tuple(LEARNERS)


def test_every_parameter_is_an_option_and_has_a_reading():
    all_of_them = {key for each in (*LEARNERS.values(), *REDUCTIONS.values()) for key in each.defaults}
    assert all_of_them == set(OPTIONS) == {entry.name for entry in fields(LearnerOptions)}


@pytest.mark.parametrize("name", LEARNERS)
def test_defaults_typed_as_texts_come_back_as_they_are(name):
    defaults = LEARNERS[name].defaults
    typed = {
        "--" + key.replace("_", "-"): str(value).lower() if value is None else str(value)
        for key, value in defaults.items()
    }
    estimator = learner_of(name, typed, seed=7)
    assert {key: estimator.get_params(deep=False)[key] for key in defaults} == dict(defaults)
    assert "random_state" not in LEARNERS[name].beside or estimator.random_state == 7


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        ("fit_intercept", "no", False),
        ("max_passes", "50", 50.0),
        ("l2", "cv", "cv"),
        ("l2", "1e-3", 1e-3),
        ("l2", "none", None),
        ("priors", "0.25,0.75", [0.25, 0.75]),
        ("priors", "equal", "equal"),
        ("class_weight", "a=b=2, c=1", {"a=b": 2.0, "c": 1.0}),
        ("class_weight", "balanced", "balanced"),
        ("families", "age=gaussian,*=bernoulli", {"age": "gaussian", ...: "bernoulli"}),
        ("starts", "3", 3),
    ],
)
def test_texts_and_their_values(parameter, text, value):
    found = value_of(parameter, text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("name", "given", "parts"),
    [
        ("logistik", {}, ["no learner 'logistik'", "Did you mean 'logistic'?", "zero-one"]),
        ("logistic", {"max-pases": "3"}, ["no parameter max_pases", "Did you mean 'max_passes'?"]),
        ("logistic", {"kernel": "linear"}, ["--kernel belongs to kernel", "It has --objective"]),
        ("kernel", {"degree": "two"}, ["--degree is 'two'; it must be a whole number."]),
        ("logistic", {"fit-intercept": "maybe"}, ["--fit-intercept is 'maybe'; it must be true or false."]),
        ("logistic", {"class-weight": "a=b"}, ["--class-weight is 'a=b'", "yes=2,no=1"]),
    ],
)
def test_what_cannot_be_is_said_with_the_way_out(name, given, parts):
    with speaking(CommandLine()):
        with pytest.raises(SettingError) as error:
            parameters_of(name, given)
        assert all(part in str(error.value) for part in parts), str(error.value)


def test_learners_are_found_by_their_class_too_and_reductions_hold_them():
    inner = learner_of("LogisticRegression", {"l2": "0.5"})
    outer = reduction_of("output-code", inner, {"code": "sparse"}, seed=3)
    assert (outer.estimator.l2, outer.code, outer.random_state) == (0.5, "sparse", 3)
    with pytest.raises(SettingError, match="Did you mean 'one-vs-rest'"):
        reduction_of("one-vs-rests", inner)


@pytest.mark.parametrize(
    ("asked", "python", "typed"),
    [
        (lambda: setting("solver", "auto"), "solver='auto'", "--solver auto"),
        (lambda: setting("max_passes"), "max_passes", "--max-passes"),
        (lambda: setting("learning_rate", None), "learning_rate=None", "--learning-rate none"),
        (lambda: setting("averaging", True), "averaging=True", "--averaging"),
        (lambda: setting("fit_intercept", False), "fit_intercept=False", "--no-fit-intercept"),
        (lambda: setting("l2", 0.01), "l2=0.01", "--l2 0.01"),
        (lambda: setting("random_state", 3), "random_state=3", "--seed 3"),
        (lambda: setting("warm_start", True), "warm_start=True", "warm_start=True"),
        (lambda: setting("target", "the class"), "target='the class'", "--target 'the class'"),
        (lambda: setting("na", ("n/a?", "-x")), "na=('n/a?', '-x')", "--na 'n/a?' --na=-x"),
        (lambda: setting("header", False), "header=False", "--no-header"),
        (lambda: call("decide(table)"), "decide(table)", "separatrix schema FILE"),
        (lambda: learner("MaxMarginClassifier"), "MaxMarginClassifier", "--learner margin"),
        (lambda: learner("OneVsRest"), "OneVsRest", "--reduction one-vs-rest"),
        (lambda: learner("OnlineToBatch"), "OnlineToBatch", "OnlineToBatch"),
        (lambda: call("separability(X, y)"), "separability(X, y)", "separatrix separable"),
        (lambda: call("summary(X, y)"), "summary(X, y)", "summary(X, y)"),
        (lambda: str(has("warm_start")), "True", "False"),
        (lambda: str(has("l2") and has("separability(X, y)") and has("Pocket")), "True", "True"),
    ],
)
def test_settings_learners_and_calls_in_the_words_of_the_reader(asked, python, typed):
    assert asked() == python
    with speaking(CommandLine()):
        assert asked() == typed
    assert asked() == python


def test_nothing_is_near_to_nonsense():
    assert did_you_mean("qqqq", LEARNERS) == ""


def test_the_table_is_read_without_scikit_learn():
    code = (
        "import sys, separatrix.app.tasks.learners, separatrix.app.cli.options;"
        "sys.exit(any(name in sys.modules for name in ('sklearn', 'numba', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
