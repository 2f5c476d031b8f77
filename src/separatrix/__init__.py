"""Separatrix: linear classifiers that say what is true about them.

Names are imported when they are first used, so that `import separatrix` loads neither scikit-learn nor Numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import losses as losses
    from .fitting.path import CrossValidation as CrossValidation
    from .learners.logistic import LogisticRegression as LogisticRegression
    from .learners.margin import MaxMarginClassifier as MaxMarginClassifier
    from .learners.separability import separability as separability
    from .learners.warnings import BudgetWarning as BudgetWarning
    from .learners.warnings import NotSeparableWarning as NotSeparableWarning
    from .learners.warnings import SeparationWarning as SeparationWarning
    from .online import LearningRate as LearningRate
    from .rule import LinearRule as LinearRule
    from .separable import Separability as Separability
    from .verdict import Verdict as Verdict

__version__ = "0.1.0"

_HOMES = {
    "LogisticRegression": ".learners.logistic",
    "MaxMarginClassifier": ".learners.margin",
    "LinearRule": ".rule",
    "Verdict": ".verdict",
    "separability": ".learners.separability",
    "Separability": ".separable",
    "LearningRate": ".online",
    "CrossValidation": ".fitting.path",
    "SeparationWarning": ".learners.warnings",
    "NotSeparableWarning": ".learners.warnings",
    "BudgetWarning": ".learners.warnings",
}
__all__ = [
    "BudgetWarning",
    "CrossValidation",
    "LearningRate",
    "LinearRule",
    "LogisticRegression",
    "MaxMarginClassifier",
    "NotSeparableWarning",
    "Separability",
    "SeparationWarning",
    "Verdict",
    "losses",
    "separability",
]


def __getattr__(name: str) -> Any:
    if name == "losses":
        return import_module(".losses", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module 'separatrix' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
