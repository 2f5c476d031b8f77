"""Separatrix: linear classifiers that say what is true about them.

Names are imported when they are first used, so that `import separatrix` loads neither scikit-learn nor Numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import families as families
    from . import features as features
    from . import joint as joint
    from . import kernels as kernels
    from . import losses as losses
    from . import populations as populations
    from . import scenes as scenes
    from .bayes import BayesClassifier as BayesClassifier
    from .cli.reporting import write_report as write_report
    from .coded_rule import CodedRule as CodedRule
    from .expansion import Expansion as Expansion
    from .exports.export import export as export
    from .fitting.path import CrossValidation as CrossValidation
    from .inference.result import Inference as Inference
    from .inference.result import InferenceRefused as InferenceRefused
    from .interpretation.explanation import Explanation as Explanation
    from .interpretation.summary import Summary as Summary
    from .learners.discriminant import GaussianDiscriminant as GaussianDiscriminant
    from .learners.joint_classifier import JointClassifier as JointClassifier
    from .learners.joint_perceptron import JointPerceptron as JointPerceptron
    from .learners.kernel import KernelPerceptron as KernelPerceptron
    from .learners.least_squares import LeastSquaresClassifier as LeastSquaresClassifier
    from .learners.logistic import LogisticRegression as LogisticRegression
    from .learners.margin import MaxMarginClassifier as MaxMarginClassifier
    from .learners.naive_bayes import NaiveBayes as NaiveBayes
    from .learners.naive_bayes_kinds import BernoulliNaiveBayes as BernoulliNaiveBayes
    from .learners.naive_bayes_kinds import GaussianNaiveBayes as GaussianNaiveBayes
    from .learners.naive_bayes_kinds import PoissonNaiveBayes as PoissonNaiveBayes
    from .learners.online_perceptron import OnlinePerceptron as OnlinePerceptron
    from .learners.online_to_batch import OnlineToBatch as OnlineToBatch
    from .learners.perceptron import AveragedPerceptron as AveragedPerceptron
    from .learners.perceptron import Perceptron as Perceptron
    from .learners.pocket import Pocket as Pocket
    from .learners.separability import separability as separability
    from .learners.voted import VotedPerceptron as VotedPerceptron
    from .learners.warnings import BudgetWarning as BudgetWarning
    from .learners.warnings import NotSeparableWarning as NotSeparableWarning
    from .learners.warnings import SeparationWarning as SeparationWarning
    from .learners.zero_one import ZeroOneClassifier as ZeroOneClassifier
    from .mistake_bound import MistakeBound as MistakeBound
    from .mistakes import MistakeLog as MistakeLog
    from .models.file import load as load
    from .models.file import save as save
    from .models.model import Model as Model
    from .multiclass.kinds import OneVsOne as OneVsOne
    from .multiclass.kinds import OneVsRest as OneVsRest
    from .multiclass.kinds import OutputCode as OutputCode
    from .multiclass.labels import MultiLabel as MultiLabel
    from .online import LearningRate as LearningRate
    from .rule import LinearRule as LinearRule
    from .separable import Separability as Separability
    from .surfaces.surface import Surface as Surface
    from .surfaces.surface import surface as surface
    from .surrogate_table import Surrogates as Surrogates
    from .surrogate_table import surrogates as surrogates
    from .verdict import Verdict as Verdict

__version__ = "0.1.0"

_HOMES = {
    "LogisticRegression": ".learners.logistic",
    "MaxMarginClassifier": ".learners.margin",
    "LeastSquaresClassifier": ".learners.least_squares",
    "GaussianDiscriminant": ".learners.discriminant",
    "LinearRule": ".rule",
    "Perceptron": ".learners.perceptron",
    "AveragedPerceptron": ".learners.perceptron",
    "Pocket": ".learners.pocket",
    "OnlinePerceptron": ".learners.online_perceptron",
    "VotedPerceptron": ".learners.voted",
    "OnlineToBatch": ".learners.online_to_batch",
    "KernelPerceptron": ".learners.kernel",
    "NaiveBayes": ".learners.naive_bayes",
    "BernoulliNaiveBayes": ".learners.naive_bayes_kinds",
    "PoissonNaiveBayes": ".learners.naive_bayes_kinds",
    "GaussianNaiveBayes": ".learners.naive_bayes_kinds",
    "Expansion": ".expansion",
    "JointPerceptron": ".learners.joint_perceptron",
    "JointClassifier": ".learners.joint_classifier",
    "OneVsRest": ".multiclass.kinds",
    "OneVsOne": ".multiclass.kinds",
    "OutputCode": ".multiclass.kinds",
    "MultiLabel": ".multiclass.labels",
    "CodedRule": ".coded_rule",
    "MistakeBound": ".mistake_bound",
    "MistakeLog": ".mistakes",
    "Verdict": ".verdict",
    "Summary": ".interpretation.summary",
    "Explanation": ".interpretation.explanation",
    "BayesClassifier": ".bayes",
    "Model": ".models.model",
    "load": ".models.file",
    "export": ".exports.export",
    "save": ".models.file",
    "write_report": ".cli.reporting",
    "ZeroOneClassifier": ".learners.zero_one",
    "separability": ".learners.separability",
    "Separability": ".separable",
    "Inference": ".inference.result",
    "InferenceRefused": ".inference.result",
    "surface": ".surfaces.surface",
    "Surface": ".surfaces.surface",
    "surrogates": ".surrogate_table",
    "Surrogates": ".surrogate_table",
    "LearningRate": ".online",
    "CrossValidation": ".fitting.path",
    "SeparationWarning": ".learners.warnings",
    "NotSeparableWarning": ".learners.warnings",
    "BudgetWarning": ".learners.warnings",
}
_MODULES = ("families", "features", "joint", "kernels", "losses", "populations", "scenes")
__all__ = [
    "AveragedPerceptron",
    "BayesClassifier",
    "BernoulliNaiveBayes",
    "BudgetWarning",
    "CodedRule",
    "CrossValidation",
    "Expansion",
    "Explanation",
    "GaussianDiscriminant",
    "GaussianNaiveBayes",
    "Inference",
    "InferenceRefused",
    "JointClassifier",
    "JointPerceptron",
    "KernelPerceptron",
    "LearningRate",
    "LeastSquaresClassifier",
    "LinearRule",
    "LogisticRegression",
    "MaxMarginClassifier",
    "MistakeBound",
    "MistakeLog",
    "Model",
    "MultiLabel",
    "NaiveBayes",
    "NotSeparableWarning",
    "OneVsOne",
    "OneVsRest",
    "OnlinePerceptron",
    "OnlineToBatch",
    "OutputCode",
    "Perceptron",
    "Pocket",
    "PoissonNaiveBayes",
    "Separability",
    "SeparationWarning",
    "Summary",
    "Surface",
    "Surrogates",
    "Verdict",
    "VotedPerceptron",
    "ZeroOneClassifier",
    "export",
    "families",
    "features",
    "joint",
    "kernels",
    "load",
    "losses",
    "populations",
    "save",
    "scenes",
    "separability",
    "surface",
    "surrogates",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module 'separatrix' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
