"""The mean loss at weights in the user's units."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.frame import Frame
from ...data.source import Source
from ...losses.margin import LogLikelihood, MarginLoss
from ...losses.penalty import Penalty
from ...losses.softmax import ClassLoss, SoftmaxLikelihood
from ...numerics.arrays import Floats
from .margin import Jet, Risk
from .softmax import ClassRisk


class Evaluation:
    """R(w, b) = (1/C) Σᵢ cᵢ loss(xᵢᵀw + b) + g(w), with its slope and its least margin."""

    def __init__(
        self, loss: MarginLoss | ClassLoss, rows: Source, penalty: Penalty, classes: int, frame: Frame
    ) -> None:
        self.frame = frame
        self.risk = risk_of(loss, rows, frame, penalty.framed(frame.scale, frame.lifted), classes)

    def __call__(self, weights: Floats, intercept: Any) -> Jet:
        """The jet in the frame, by one pass."""
        found: Jet = self.risk(self.frame_weights(weights, intercept))
        return found

    def frame_weights(self, weights: Floats, intercept: Any) -> Floats:
        """v of the frame."""
        if weights.ndim == 1:
            return self.frame.from_user(weights, float(intercept))
        return np.array([self.frame.from_user(w, b) for w, b in zip(weights, intercept, strict=True)]).ravel()


def risk_of(loss: MarginLoss | ClassLoss, rows: Source, frame: Frame, penalty: Penalty, classes: int) -> Any:
    """The risk of two classes or of many."""
    active = np.arange(frame.width)
    if isinstance(loss, ClassLoss):
        return ClassRisk(loss, rows, frame, penalty, active, classes)
    return Risk(loss, rows, frame, penalty, active)


def log_loss_of(loss: MarginLoss | ClassLoss) -> MarginLoss | ClassLoss:
    """The log-likelihood of as many classes; the loss itself, where a score is not the log-odds."""
    if isinstance(loss, ClassLoss):
        return SoftmaxLikelihood()
    return LogLikelihood() if loss.log_odds == 1 else loss
