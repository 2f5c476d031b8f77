"""The fits of the golden file: every learner on every kind of rows, by every solver; small, and always the same."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import separatrix as sx

warnings.simplefilter("ignore")
KINDS = ("dense", "fortran", "float32", "csr", "strided")


class Fit(NamedTuple):
    """A fit by name, and how it is made."""

    name: str
    make: Callable[[], Any]
    X: Any
    y: Any
    weight: Any = None


def table(rows: int, columns: int, classes: int, seed: int, gap: float = 0.0) -> tuple[Any, Any]:
    """Rows of whole numbers over four, with classes that overlap unless there is a gap."""
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(rows, columns)) * 4) / 4
    X[random.random(X.shape) < 0.3] = 0
    scores = X @ random.normal(size=(columns, classes)) + (0 if gap else 1.5) * random.gumbel(size=(rows, classes))
    y = scores.argmax(axis=1)
    for k in range(classes):
        y[k] = k
    if gap:
        X[:, 0] += gap * y
    return X, y


def laid_out(X: Any, kind: str) -> Any:
    """The same numbers in another layout."""
    if kind == "fortran":
        return np.asfortranarray(X)
    if kind == "float32":
        return X.astype(np.float32)
    if kind == "csr":
        return sparse.csr_matrix(X)
    if kind == "strided":
        wide = np.zeros((len(X), 2 * X.shape[1]))
        wide[:, ::2] = X
        return wide[:, ::2]
    return X


TWO, THREE = table(240, 6, 2, 1), table(240, 5, 3, 2)
APART, APART_THREE = table(120, 4, 2, 3, gap=40), table(120, 4, 3, 4, gap=40)
WEIGHT = np.random.default_rng(9).integers(0, 4, 240).astype(float)


MAPS: dict[str, Callable[[], Any]] = {
    "Polynomial": lambda: sx.features.Polynomial(),
    "Interactions": lambda: sx.features.Interactions(),
    "GaussianBasis": lambda: sx.features.GaussianBasis(random_state=0),
    "Standardise": lambda: sx.features.Standardise(),
}


def binary(X: Any) -> Any:
    """The signs of the numbers."""
    return (X > 0).astype(float)


def logistic(kind: str) -> Iterator[Fit]:
    """Maximum likelihood, squared error and Firth, batch and stochastic."""
    for data, (X, y) in {"two": TWO, "three": THREE, "apart": APART, "apart three": APART_THREE}.items():
        X = laid_out(X, kind)
        for settings in (
            {},
            {"l2": 0.1},
            {"solver": "newton"},
            {"solver": "gradient", "l2": 0.1, "max_passes": 2000},
            {"solver": "lbfgs", "l2": 0.1},
            {"solver": "stochastic", "random_state": 0, "l2": 0.1, "max_passes": 5},
            {"objective": "squared", "random_state": 0, "starts": 2, "l2": 0.01},
            {"objective": "squared", "solver": "gauss-newton", "random_state": 0, "starts": 2, "l2": 0.01},
            {"objective": "firth"},
            {"objective": "flic"},
        ):
            if settings.get("objective") in ("firth", "flic") and "three" in data:
                continue
            words = " ".join(f"{k}={v}" for k, v in settings.items())
            yield Fit(f"logistic {data} {kind} {words}", lambda s=settings: sx.LogisticRegression(**s), X, y)
        if data in ("two", "three"):
            yield Fit(f"logistic {data} {kind} weighted", lambda: sx.LogisticRegression(), X, y, WEIGHT)
            yield Fit(
                f"logistic {data} {kind} balanced no intercept",
                lambda: sx.LogisticRegression(class_weight="balanced", fit_intercept=False),
                X,
                y,
            )


def others(kind: str) -> Iterator[Fit]:
    """Every other learner."""
    for data, (X, y) in {"two": TWO, "three": THREE, "apart": APART, "apart three": APART_THREE}.items():
        two = "three" not in data
        made = laid_out(X, kind)
        makers: dict[str, Callable[[], Any]] = {
            "perceptron": lambda: sx.Perceptron(max_passes=20),
            "averaged": lambda: sx.AveragedPerceptron(order="random", random_state=0),
            "pocket": lambda: sx.Pocket(max_passes=20, random_state=0),
            "voted": lambda: sx.VotedPerceptron(max_passes=3),
            "online": lambda: sx.OnlinePerceptron(),
            "kernel poly": lambda: sx.KernelPerceptron("polynomial", max_passes=3),
            "kernel rbf averaged": lambda: sx.KernelPerceptron("rbf", reading="averaged", max_passes=3),
            "joint perceptron": lambda: sx.JointPerceptron(max_passes=10),
            "joint": lambda: sx.JointClassifier(l2=0.1),
            "joint squared": lambda: sx.JointClassifier(l2=0.1, loss="squared", starts=2, random_state=0),
            "least squares": lambda: sx.LeastSquaresClassifier(l2=0.01),
            "delta rule": lambda: sx.LeastSquaresClassifier(solver="stochastic", max_passes=5, random_state=0),
            "gaussian": lambda: sx.GaussianDiscriminant(),
            "gaussian own": lambda: sx.GaussianDiscriminant(covariance="own"),
            "naive Bayes": lambda: sx.GaussianNaiveBayes(),
            "margin": lambda: sx.MaxMarginClassifier(),
            "zero-one": lambda: sx.ZeroOneClassifier(time_limit=2.0, random_state=0),
            "rest": lambda: sx.OneVsRest(sx.LogisticRegression(l2=0.1)),
            "one": lambda: sx.OneVsOne(sx.Perceptron(max_passes=10)),
        }
        for name, make in makers.items():
            if (not two and name in ("margin",)) or (name == "margin" and data == "two"):
                continue
            if (name == "zero-one" and data != "apart") or (kind in ("fortran", "strided") and "kernel" in name):
                continue
            if two and name in ("rest", "one"):
                continue
            yield Fit(f"{name} {data} {kind}", make, made, y)
        yield Fit(f"bernoulli {data} {kind}", lambda: sx.BernoulliNaiveBayes(), laid_out(binary(X), kind), y)
        yield Fit(f"poisson {data} {kind}", lambda: sx.PoissonNaiveBayes(), laid_out(np.abs(np.rint(X)), kind), y)
    X, y = THREE
    yield Fit(f"code {kind}", lambda: sx.OutputCode(sx.LogisticRegression(l2=0.1)), laid_out(X, kind), y)


def fits() -> Iterator[Fit]:
    """All of them."""
    for kind in KINDS:
        yield from logistic(kind)
        yield from others(kind)
    quasi, sides = TWO[0][:90].copy(), TWO[1][:90]
    quasi[:, 0] = (quasi[:, 0] > 0.5) & (sides == 1)
    big, bigger = table(9000, 12, 2, 5), table(6000, 8, 4, 6)
    wide = table(60, 150, 2, 7)
    for kind in KINDS:
        yield Fit(f"quasi {kind}", lambda: sx.LogisticRegression(), laid_out(quasi, kind), sides)
        yield Fit(f"quasi firth {kind}", lambda: sx.LogisticRegression(objective="firth"), laid_out(quasi, kind), sides)
        yield Fit(f"many rows {kind}", lambda: sx.LogisticRegression(), laid_out(big[0], kind), big[1])
        yield Fit(f"many rows softmax {kind}", lambda: sx.LogisticRegression(), laid_out(bigger[0], kind), bigger[1])
        yield Fit(f"wide {kind}", lambda: sx.LogisticRegression(l2=0.5), laid_out(wide[0], kind), wide[1])
        yield Fit(
            f"cross-validated {kind}",
            lambda: sx.LogisticRegression(l2=sx.CrossValidation(), random_state=0),
            laid_out(TWO[0], kind),
            TWO[1],
        )
    X, y = TWO
    for name in MAPS:
        yield Fit(f"features {name}", lambda n=name: sx.LogisticRegression(features=MAPS[n](), l2=0.1), X, y)
