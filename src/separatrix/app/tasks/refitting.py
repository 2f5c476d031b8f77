"""A saved model's learner again, not yet taught: the class and the parameters that its file names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .learners import LEARNERS, REDUCTIONS

FEATURES = ("Polynomial", "Interactions", "GaussianBasis", "Lift", "Standardise")
PLAIN = (bool, int, float, str, type(None))


class CannotRefitError(ValueError):
    """A learner that cannot be made from what its file holds: why, in a sentence."""


def learner_again(model: Any) -> Callable[[], Any]:
    """What makes the learner of a model anew; every class comes from a list of ours, never from the file."""
    _made(str(model.learner), model.parameters)  # so that what cannot be is said now
    return lambda: _made(str(model.learner), model.parameters)


def _made(name: str, parameters: Mapping[str, Any]) -> Any:
    import separatrix

    known = {each.home: each for each in (*LEARNERS.values(), *REDUCTIONS.values())}
    if name not in known:
        raise CannotRefitError(f"{name} is a learner that this command does not know how to make.")
    allowed = {*known[name].defaults, "random_state", "features", "estimator", "n_jobs", "n_threads"}
    given = {key: _value(name, key, value) for key, value in parameters.items() if key in allowed}
    return getattr(separatrix, name)(**given)


def _value(name: str, key: str, value: Any) -> Any:
    if key == "estimator" and isinstance(value, Mapping) and "kind" in value:
        return _made(str(value["kind"]), value.get("parameters", {}))
    if key == "features" and value is not None:
        return [_feature(name, each) for each in (value if isinstance(value, list) else [value])]
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, list) and all(isinstance(each, PLAIN) for each in value):
        return list(value)
    if isinstance(value, Mapping) and "kind" not in value and all(isinstance(each, PLAIN) for each in value.values()):
        return dict(value)
    raise CannotRefitError(f"the file of {name} holds its parameter {key} only by name, which is not enough to refit.")


def _feature(name: str, value: Any) -> Any:
    from ...learners import features

    if not isinstance(value, Mapping) or value.get("kind") not in FEATURES:
        raise CannotRefitError(f"the file of {name} holds its features only by name, which is not enough to refit.")
    kind = str(value["kind"])
    own = {key: _value(kind, key, each) for key, each in value.get("parameters", {}).items()}
    return getattr(features, kind)(**own)
