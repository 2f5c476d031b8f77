"""Naive Bayes as one would write it first: class by class, column by column, densities by SciPy."""

import numpy as np
from scipy import stats


def joint(X, y, families, new, *, alpha=1.0, cost=None, priors=None, shared=False):
    """log p(k) + Σⱼ log p(xⱼ | k) of the rows `new`; NaN is skipped."""
    cost = np.ones(len(y)) if cost is None else np.asarray(cost, float)
    classes = np.unique(y)
    out = np.zeros((len(new), len(classes)))
    for k, label in enumerate(classes):
        own = y == label
        p = cost[own].sum() / cost.sum() if priors is None else priors[k]
        out[:, k] += np.log(p)
        for j, family in enumerate(families):
            column = log_density(family, X[:, j], own, cost, y, alpha, shared)(new[:, j])
            out[:, k] += np.where(np.isnan(new[:, j]), 0.0, column)
    return out


def log_density(family, x, own, cost, y, alpha, shared):
    there = ~np.isnan(x)
    mine = there & own
    n, s = cost[mine].sum(), (cost * np.nan_to_num(x))[mine].sum()
    overall = np.average(x[there], weights=cost[there])
    if family == "bernoulli":
        return lambda v: stats.bernoulli((s + alpha) / (n + 2 * alpha)).logpmf(np.nan_to_num(v))
    if family == "categorical":
        levels = np.unique(x[there & (cost > 0)])

        def of(v):
            counts = np.array([cost[mine & (x == each)].sum() for each in np.nan_to_num(v)])
            known = np.isin(v, levels)
            return np.log((counts + alpha) / (n + alpha * (len(levels) + ~known)))

        return of
    if family == "gaussian":
        v = np.average((x[there] - overall) ** 2, weights=cost[there])
        mu = s / n

        def scatter(rows):
            return (cost[rows] * (x[rows] - np.average(x[rows], weights=cost[rows])) ** 2).sum()

        if shared:
            within = sum(scatter(there & (y == label)) for label in np.unique(y))
            variance = (within + alpha * v) / (cost[there].sum() + alpha)
        else:
            variance = (scatter(mine) + alpha * v) / (n + alpha)
        return stats.norm(mu, np.sqrt(variance)).logpdf
    mean = (s + alpha * overall) / (n + alpha)
    if family == "poisson":
        return stats.poisson(mean).logpmf
    if family == "exponential":
        return stats.expon(scale=mean).logpdf
    return lambda v: stats.geom(1 / (1 + mean), loc=-1).logpmf(v)
