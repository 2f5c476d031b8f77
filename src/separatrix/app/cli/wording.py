"""Sentences of learners in the words of the command line."""

from __future__ import annotations

import re

from ..tasks.learners import LEARNERS
from ..tasks.typed_values import FLAGS, KINDS, option

_ALL = sorted({*KINDS, "random_state"}, key=len, reverse=True)
_SETTING = re.compile(rf"\b({'|'.join(_ALL)})=('[^']*'|\"[^\"]*\"|[-+\w.]+)")
_BARE = re.compile(rf"(?<!-)\b({'|'.join(name for name in _ALL if '_' in name)}|tol|(?<=\()l2(?=\)))\b(?!-)")
_CLASSES = {f"{learner.home}()": f"--learner {name}" for name, learner in LEARNERS.items()}
_PHRASES = {
    "with l2 > 0": "with --l2 0.01 or another penalty (of two classes also with --objective firth)",
    "Fit again; warm_start=True goes on from here.": "Fit again, and let it end.",
    "Fit again, with warm_start=True to go on from here.": "Fit again, and let it end.",
    "The result's `coefficients` say, when asked, which way each one goes.": "separatrix separable says more.",
    "separability(X, y)": "separatrix separable",
    "; check(X, y) computes them again": "; whoever checks computes them again",
    " summary(…, force=True) shows the numbers all the same, marked †.": "",
    "reference='symmetric' shows": "summary(reference='symmetric') in Python shows",
    " with interval(method='profile')": " and its profile intervals",
    "OnlineToBatch(OnlinePerceptron()) lets all": "--learner voted lets all",
    "Use LogisticRegression, which": "Use --learner logistic, which",
    "a number of at least 0, 'cv', or a CrossValidation(...)": "a number of at least 0, or cv",
}
"""What is not a setting, and is typed otherwise."""


def in_options(sentence: str) -> str:
    """A learner's sentence in the words of the command line: objective='firth' is typed --objective firth."""
    for python, typed in _PHRASES.items():
        sentence = sentence.replace(python, typed)
    for python, typed in _CLASSES.items():
        sentence = sentence.replace(python, typed)
    sentence = _SETTING.sub(_typed, sentence)
    return _BARE.sub(lambda found: option(found[1]), sentence)


def _typed(setting: re.Match[str]) -> str:
    parameter, value = setting[1], setting[2].strip("'\"")
    stop = "." * (setting[2].endswith(".") and not setting[2].startswith(("'", '"')))
    value = value.removesuffix(".")
    if parameter == "random_state":
        return f"--seed {value}{stop}"
    if value in ("True", "False") and parameter in FLAGS:
        return (option(parameter) if value == "True" else f"--no-{option(parameter)[2:]}") + stop
    return f"{option(parameter)} {value.lower() if value == 'None' else value}{stop}"
