"""Separatrix: linear classifiers that say what is true about them.

Names are imported when they are first used, so that `import separatrix` loads neither scikit-learn nor Numba.
They stand in `_PUBLIC`, once: `python -m tests.house.test_public_names` makes `__init__.pyi` of it, for type checkers.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "AveragedPerceptron": ".learners.perceptron.perceptrons",
    "BayesClassifier": ".theory.bayes",
    "BernoulliNaiveBayes": ".learners.closed.naive_bayes",
    "BudgetWarning": ".learners.warnings",
    "CodedRule": ".results.coding",
    "CrossValidation": ".fitting.path",
    "Expansion": ".results.expansion",
    "Explanation": ".inference.explanation",
    "GaussianDiscriminant": ".learners.closed.discriminant",
    "GaussianNaiveBayes": ".learners.closed.naive_bayes",
    "Inference": ".inference.result",
    "InferenceRefused": ".inference.result",
    "JointClassifier": ".learners.joint.classifier",
    "JointPerceptron": ".learners.joint.perceptron",
    "KernelPerceptron": ".learners.kernel.kernel",
    "LearningRate": ".fitting.scan.online",
    "LeastSquaresClassifier": ".learners.closed.least_squares",
    "LinearRule": ".results.linear_rule",
    "LogisticRegression": ".learners.logistic.logistic",
    "MaxMarginClassifier": ".learners.geometry.margin",
    "MistakeBound": ".results.mistake_log",
    "MistakeLog": ".results.mistake_log",
    "Model": ".app.models.model",
    "MultiLabel": ".learners.reductions.labels",
    "NaiveBayes": ".learners.closed.naive_bayes",
    "NotSeparableWarning": ".learners.warnings",
    "OneVsOne": ".learners.reductions.kinds",
    "OneVsRest": ".learners.reductions.kinds",
    "OnlinePerceptron": ".learners.perceptron.online",
    "OnlineToBatch": ".learners.perceptron.online_to_batch",
    "OutputCode": ".learners.reductions.kinds",
    "Perceptron": ".learners.perceptron.perceptrons",
    "Pocket": ".learners.perceptron.perceptrons",
    "PoissonNaiveBayes": ".learners.closed.naive_bayes",
    "Separability": ".results.separability",
    "SeparationWarning": ".learners.warnings",
    "Summary": ".inference.summary.summary",
    "Surface": ".theory.surfaces.surface",
    "Surrogates": ".theory.surrogates",
    "Verdict": ".results.verdict",
    "VotedPerceptron": ".learners.perceptron.perceptrons",
    "ZeroOneClassifier": ".learners.geometry.zero_one",
    "export": ".app.exports.export",
    "load": ".app.models.file",
    "save": ".app.models.file",
    "separability": ".learners.geometry.separability",
    "surface": ".theory.surfaces.surface",
    "surrogates": ".theory.surrogates",
    "write_report": ".app.tasks.report",
}
"""Each public name, and the module that defines it."""
_MODULES = ("families", "features", "joint", "kernels", "losses", "populations", "scenes")
"""Public modules."""
__all__ = sorted([*_PUBLIC, *_MODULES])  # type: ignore[assignment]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _PUBLIC:
        raise AttributeError(f"module 'separatrix' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name], __name__), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
