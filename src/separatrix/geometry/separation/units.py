"""Directions in the user's units and back."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ...numerics.arrays import Floats
from ...numerics.exact import exact_dot
from .cases import Cases
from .frame import ExactFrame


def in_user_units(cases: Cases, vectors: Floats) -> Floats:
    """vectors × classes × (weights, then the intercept), each number rounded once."""
    by_class = cases.by_class(np.atleast_2d(vectors))
    W, b = cases.to_user(by_class)
    if cases.lifted:
        for place in np.ndindex(*b.shape):
            b[place] = rounded_sum([by_class[(*place, -1)]], -W[place], cases.frame.center)
    return np.concatenate([W, b[..., None]], axis=-1)


def rounded_sum(first: list[float], a: Floats, b: Floats) -> float:
    """Σ first + Σⱼ aⱼbⱼ, rounded once."""
    both = np.flatnonzero(a * b)
    return float(exact_dot(a[both], b[both]) + sum(map(Fraction, first)))


def raw(cases: Cases) -> Cases:
    """The cases in the user's units."""
    d = cases.X.shape[1]
    return replace(cases, frame=ExactFrame(np.zeros(d), np.ones(d)), keep=np.arange(d))


def split(cases: Cases, full: Floats) -> tuple[Floats, Any]:
    """Weights and intercept as they are published: of two classes one vector and one number."""
    if cases.classes == 2:
        return full[1, :-1].copy(), float(full[1, -1])
    return full[:, :-1].copy(), full[:, -1].copy()


def lengths_between(full: Floats) -> Floats:
    """‖w_k − w_j‖ for every two classes, without overflow or underflow."""
    return np.array([_lengths(full[:, :-1] - own[:-1]) for own in full])


def _lengths(vectors: Floats) -> Floats:
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    return np.asarray(np.linalg.norm(vectors / unit, axis=1) * unit[:, 0])


def flat(cases: Cases, full: Floats) -> Floats:
    """classes × (weights, intercept) without the class of reference, as a direction of the raw cases."""
    rest = full[np.arange(cases.classes) != cases.reference]
    return np.asarray(rest if cases.lifted else rest[:, :-1]).ravel()
