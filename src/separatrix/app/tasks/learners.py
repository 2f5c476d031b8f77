"""Learners by name, with their parameters: a static table, so that nothing is imported before something is learnt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..cli.answer import UsageError
from ..cli.meant import did_you_mean
from .typed_values import option, value_of


@dataclass(frozen=True)
class Learner:
    """What the command line knows of a learner; a test compares it with the learner itself."""

    home: str
    """The class of separatrix."""
    defaults: Mapping[str, Any]
    """Its parameters that can be given as options, with what they are if they are not."""
    weights: bool = False
    """Whether rows may have weights."""
    seeded: bool = False
    """Whether chance plays a part."""
    course: str = "steps"
    """The method that a fit is watched by: `steps`; or `stretches`, or none, where steps are single mistakes."""


_MISTAKES = {
    "learning_rate": 1.0, "max_passes": 1000, "order": "cyclic", "patience": None, "ties": "mistake", "init": None,
    "fit_intercept": True,
}  # fmt: skip

LEARNERS: dict[str, Learner] = {
    "logistic": Learner(
        "LogisticRegression",
        {"objective": "likelihood", "solver": "auto", "l2": 0.0, "fit_intercept": True, "class_weight": None,
         "prior": None, "init": "least-squares", "tol": 1e-10, "max_passes": 200, "starts": 10, "learning_rate": None,
         "order": "permutation", "averaging": False, "n_threads": None},
        weights=True, seeded=True,
    ),
    "perceptron": Learner("Perceptron", _MISTAKES, seeded=True, course="stretches"),
    "averaged": Learner("AveragedPerceptron", {**_MISTAKES, "max_passes": 10}, seeded=True, course="stretches"),
    "pocket": Learner("Pocket", {"ratchet": True, **_MISTAKES, "order": "random"}, seeded=True, course="stretches"),
    "online": Learner(
        "OnlinePerceptron", {"learning_rate": 1.0, "ties": "mistake", "fit_intercept": True}, course=""
    ),
    "voted": Learner(
        "VotedPerceptron", {"last_half": False, **_MISTAKES, "max_passes": 10}, seeded=True, course="stretches"
    ),
    "kernel": Learner(
        "KernelPerceptron",
        {"kernel": "linear", "degree": 2, "gamma": None, "constant": 1.0, "reading": "last", "budget": None,
         "overflow": "remove", "multiclass": "joint", "max_passes": 30, "order": "cyclic", "patience": None,
         "ties": "mistake", "fit_intercept": True, "n_threads": None},
        seeded=True, course="",
    ),
    "margin": Learner(
        "MaxMarginClassifier",
        {"tol": 1e-10, "fit_intercept": True, "lifted": False, "max_passes": 1000, "n_threads": None},
        weights=True,
    ),
    "least-squares": Learner(
        "LeastSquaresClassifier",
        {"l2": 0.0, "fit_intercept": True, "solver": "closed", "learning_rate": None, "order": "permutation",
         "averaging": False, "max_passes": 100, "tol": 1e-06, "n_threads": None},
        weights=True, seeded=True,
    ),
    "discriminant": Learner(
        "GaussianDiscriminant",
        {"covariance": "shared", "shrinkage": None, "priors": None, "n_threads": None},
        weights=True,
    ),
    "naive-bayes": Learner(
        "NaiveBayes",
        {"families": "gaussian", "variance": "own", "smoothing": 1.0, "priors": None, "threshold": None},
        weights=True,
    ),
    "gaussian-naive-bayes": Learner(
        "GaussianNaiveBayes", {"variance": "own", "smoothing": 1.0, "priors": None}, weights=True
    ),
    "bernoulli-naive-bayes": Learner(
        "BernoulliNaiveBayes", {"smoothing": 1.0, "priors": None, "threshold": None}, weights=True
    ),
    "poisson-naive-bayes": Learner("PoissonNaiveBayes", {"smoothing": 1.0, "priors": None}, weights=True),
    "joint": Learner(
        "JointClassifier",
        {"loss": "log", "l2": 0.0, "class_weight": None, "tol": 1e-10, "max_passes": 200, "starts": 10, "init": None},
        weights=True, seeded=True,
    ),
    "joint-perceptron": Learner(
        "JointPerceptron",
        {"learning_rate": 1.0, "max_passes": 1000, "order": "cyclic", "patience": None, "ties": "mistake",
         "averaged": False, "init": None},
        seeded=True, course="",
    ),
    "zero-one": Learner(
        "ZeroOneClassifier",
        {"time_limit": 60.0, "fit_intercept": True, "class_weight": None},
        weights=True, seeded=True,
    ),
}  # fmt: skip

REDUCTIONS: dict[str, Learner] = {
    "one-vs-rest": Learner("OneVsRest", {"classifiers": "K", "probabilities": "normalise"}),
    "one-vs-one": Learner("OneVsOne", {"decide": "votes", "probabilities": "coupling"}),
    "output-code": Learner("OutputCode", {"code": "dense", "decide": "scores"}, seeded=True),
}


def learner_named(name: str) -> tuple[str, Learner]:
    """The learner, also by the name of its class; an unknown name is answered with the nearest ones."""
    key = name.strip().lower().replace("_", "-")
    classes = {learner.home.lower(): known for known, learner in LEARNERS.items()}
    key = classes.get(key, key)
    if key not in LEARNERS:
        raise UsageError(f"There is no learner {name!r}.{did_you_mean(key, LEARNERS)} There are {', '.join(LEARNERS)}.")
    return key, LEARNERS[key]


def parameters_of(name: str, given: Mapping[str, str | bool]) -> dict[str, Any]:
    """The parameters of a learner, read from texts; one that it does not have is an error that says who has it."""
    key, learner = learner_named(name)
    return _read(f"The learner {key!r}", learner, given)


def learner_of(name: str, parameters: Mapping[str, str | bool] | None = None, *, seed: int = 0) -> Any:
    """The learner of this name, not yet taught, with parameters as they are typed."""
    key, learner = learner_named(name)
    return _made(learner, parameters_of(key, parameters or {}), seed)


def reduction_of(
    name: str, estimator: Any, parameters: Mapping[str, str | bool] | None = None, *, seed: int = 0
) -> Any:
    """K classes by several classifiers of two."""
    if name not in REDUCTIONS:
        raise UsageError(
            f"There is no reduction {name!r}.{did_you_mean(name, REDUCTIONS)} There are {', '.join(REDUCTIONS)}."
        )
    read = _read(f"The reduction {name!r}", REDUCTIONS[name], parameters or {})
    return _made(REDUCTIONS[name], {"estimator": estimator, **read}, seed)


def class_of(learner: Learner) -> Any:
    """The class itself, imported."""
    import separatrix

    return getattr(separatrix, learner.home)


def _made(learner: Learner, parameters: Mapping[str, Any], seed: int) -> Any:
    chance = {"random_state": seed} if learner.seeded else {}
    return class_of(learner)(**parameters, **chance)


def _read(who: str, learner: Learner, given: Mapping[str, str | bool]) -> dict[str, Any]:
    found = {}
    for typed, text in given.items():
        parameter = typed.lstrip("-").replace("-", "_")
        if parameter not in learner.defaults:
            raise UsageError(_not_there(who, parameter, learner))
        found[parameter] = value_of(parameter, text)
    return found


def _not_there(who: str, parameter: str, learner: Learner) -> str:
    having = [name for name, other in {**LEARNERS, **REDUCTIONS}.items() if parameter in other.defaults]
    has = ", ".join(option(each) for each in learner.defaults)
    told = (
        f" {option(parameter)} belongs to {', '.join(having)}." if having else did_you_mean(parameter, learner.defaults)
    )
    return f"{who} has no parameter {option(parameter)}.{told} It has {has}."
