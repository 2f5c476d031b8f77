"""The static table of learners says what the learners are."""

import inspect
import subprocess
import sys
from dataclasses import fields
from typing import get_args

import pytest

import separatrix
from separatrix.app.cli.answer import UsageError
from separatrix.app.cli.learner_options import LearnerName, LearnerOptions
from separatrix.app.cli.meant import did_you_mean
from separatrix.app.cli.wording import in_options
from separatrix.app.tasks.learners import LEARNERS, REDUCTIONS, learner_of, parameters_of, reduction_of
from separatrix.app.tasks.typed_values import KINDS, option, value_of

ELSEWHERE = {"random_state", "warm_start", "features", "feature_map", "estimator", "n_jobs"}
"""Parameters that are no options of their own: --seed, --features, --learner."""


@pytest.mark.parametrize("name", [*LEARNERS, *REDUCTIONS])
def test_the_table_is_what_the_signatures_say(name):
    known = {**LEARNERS, **REDUCTIONS}[name]
    home = getattr(separatrix, known.home)
    signature = inspect.signature(home).parameters
    found = {key: each.default for key, each in signature.items() if key not in ELSEWHERE}
    assert dict(known.defaults) == found
    assert all(type(known.defaults[key]) is type(found[key]) for key in found)
    assert known.seeded == ("random_state" in signature)
    if name in LEARNERS:
        assert known.weights == ("sample_weight" in inspect.signature(home.fit).parameters)


def test_the_names_that_are_typed_are_those_of_the_table():
    assert get_args(LearnerName) == tuple(LEARNERS)


def test_every_parameter_is_an_option_and_has_a_reading():
    all_of_them = {key for each in (*LEARNERS.values(), *REDUCTIONS.values()) for key in each.defaults}
    assert all_of_them == set(KINDS) == {entry.name for entry in fields(LearnerOptions)}


@pytest.mark.parametrize("name", LEARNERS)
def test_defaults_typed_as_texts_come_back_as_they_are(name):
    defaults = LEARNERS[name].defaults
    typed = {option(key): str(value).lower() if value is None else str(value) for key, value in defaults.items()}
    estimator = learner_of(name, typed, seed=7)
    assert {key: estimator.get_params(deep=False)[key] for key in defaults} == dict(defaults)
    assert not LEARNERS[name].seeded or estimator.random_state == 7


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
        ("logistic", {"max-pases": "3"}, ["no parameter --max-pases", "Did you mean 'max_passes'?"]),
        ("logistic", {"kernel": "linear"}, ["--kernel belongs to kernel", "It has --objective"]),
        ("kernel", {"degree": "two"}, ["--degree is 'two'; it must be a whole number."]),
        ("logistic", {"fit-intercept": "maybe"}, ["--fit-intercept is 'maybe'; it must be true or false."]),
        ("logistic", {"class-weight": "a=b"}, ["--class-weight is 'a=b'", "yes=2,no=1"]),
    ],
)
def test_what_cannot_be_is_said_with_the_way_out(name, given, parts):
    with pytest.raises(UsageError) as error:
        parameters_of(name, given)
    assert all(part in str(error.value) for part in parts), str(error.value)


def test_learners_are_found_by_their_class_too_and_reductions_hold_them():
    inner = learner_of("LogisticRegression", {"l2": "0.5"})
    outer = reduction_of("output-code", inner, {"code": "sparse"}, seed=3)
    assert (outer.estimator.l2, outer.code, outer.random_state) == (0.5, "sparse", 3)
    with pytest.raises(UsageError, match="Did you mean 'one-vs-rest'"):
        reduction_of("one-vs-rests", inner)


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("For more digits use solver='auto'.", "For more digits use --solver auto."),
        ("Raise max_passes above 200, or loosen tol.", "Raise --max-passes above 200, or loosen --tol."),
        ("use learning_rate=None, line search.", "use --learning-rate none, line search."),
        ("averaging=True, or", "--averaging, or"),
        ("Use l2=0, which", "Use --l2 0, which"),
        ("with learning_rate=0.5. Then", "with --learning-rate 0.5. Then"),
        ("MaxMarginClassifier() finds", "--learner margin finds"),
        (
            "Penalise with l2 > 0.",
            "Penalise with --l2 0.01 or another penalty (of two classes also with --objective firth).",
        ),
        ("the order of the rows and the kernel of it", "the order of the rows and the kernel of it"),
    ],
)
def test_sentences_in_the_words_of_the_command_line(python, typed):
    assert in_options(python) == typed
    assert in_options(typed) == typed


def test_separated_classes_are_told_of_firth():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    remedy = in_options(separatrix.LogisticRegression().fit(X, y).verdict_.remedy)
    assert "--objective firth" in remedy
    assert "--l2 0.01" in remedy
    assert "l2 > 0" not in remedy


def test_nothing_is_near_to_nonsense():
    assert did_you_mean("qqqq", LEARNERS) == ""


def test_the_table_is_read_without_scikit_learn():
    code = (
        "import sys, separatrix.app.tasks.learners, separatrix.app.cli.learner_options;"
        "sys.exit(any(name in sys.modules for name in ('sklearn', 'numba', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
