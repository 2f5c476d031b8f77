"""Predictions made by chance, some of them good."""

import numpy as np

from separatrix.app.evaluation.predictions import Predictions


def two(n=200, *, seed=0, weighted=False, clusters=0, strength=1.5, ties=False, positive=1):
    random = np.random.default_rng(seed)
    truth = random.permutation(np.arange(n) % 3 == 0).astype(np.intp)
    z = strength * (truth - 0.5) + random.normal(size=n)
    z = np.round(z, 1) if ties else z
    p = 1 / (1 + np.exp(-z))
    return Predictions(
        ("no", "yes"), truth, (p >= 0.5).astype(np.intp), z, np.column_stack([1 - p, p]),
        random.uniform(0.2, 3, n) if weighted else None,
        random.integers(0, clusters, n) if clusters else None, positive=positive,
    )  # fmt: skip


def many(n=300, k=4, *, seed=0, weighted=False, clusters=0):
    random = np.random.default_rng(seed)
    truth = random.permutation(np.arange(n) % k).astype(np.intp)
    z = random.normal(size=(n, k)) + 1.5 * np.eye(k)[truth]
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return Predictions(
        tuple("abcdefgh"[:k]), truth, p.argmax(axis=1), z, p, random.uniform(0.2, 3, n) if weighted else None,
        random.integers(0, clusters, n) if clusters else None,
    )  # fmt: skip
