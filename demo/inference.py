"""How sure is a model? A summary, one prediction in words, a refusal and its way out, and the fewest mistakes."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from separatrix import LogisticRegression, SeparationWarning, ZeroOneClassifier

COLUMNS = ["mean texture", "mean smoothness", "mean symmetry"]


def tumours() -> tuple[pd.DataFrame, pd.Series]:
    """Three measurements of 569 tumours, and what they were."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X[COLUMNS], y.map({0: "malignant", 1: "benign"})


def treated() -> tuple[pd.DataFrame, pd.Series]:
    """Sixty patients; all eight who were treated recovered."""
    rng = np.random.default_rng(7)
    X = pd.DataFrame({"age": rng.normal(50, 12, 60).round(), "treated": (np.arange(60) < 8).astype(int)})
    y = pd.Series(np.where(rng.random(60) < 1 / (1 + np.exp((X["age"] - 50) / 10)), "recovered", "ill"))
    y[:8] = "recovered"
    return X, y


def main() -> None:
    """Fit, read, refuse, and say what to do instead."""
    X, y = tumours()
    model = LogisticRegression().fit(X, y)
    print(model.summary(method="profile"), "\n")
    print(model.explain(X.iloc[0]), "\n")

    fewest = ZeroOneClassifier(time_limit=5.0, random_state=0).fit(X[COLUMNS[:2]], y)
    print("The fewest mistakes that a line in the first two columns can make:", fewest.mistakes_)
    print(fewest.verdict_, "\n")

    X, y = treated()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)  # that is the point of it
        model = LogisticRegression().fit(X, y)
    print(model.inference(X, y), "\n")
    print(LogisticRegression(objective="firth").fit(X, y).summary(method="profile"))


if __name__ == "__main__":
    main()
