"""The runs of a perceptron on joint features: with weights of its own for each class, and in general."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from ...fitting.scan.joint_run import JointCourse, joint_tally
from ...fitting.scan.joint_run import run as joint_run
from ...fitting.scan.readings import Average, Reading
from ...fitting.scan.run import Course
from ...fitting.scan.run import run as plain_run
from ...fitting.scan.tally import Tally, tally
from ...numerics.arrays import Floats
from ...results.mistake_bound import leads_of, longest


class Turn(NamedTuple):
    """Where a run stands after a stretch of it."""

    theta: Floats
    """The last weights."""
    read: Floats
    """The weights as they are read: the last, or the mean of all."""
    log: Any
    steps: int
    mistakes: int
    passes: float
    pass_number: int
    in_pass: int


Turns = Generator[Turn, None, str]


def plain_turns(course: Course, averaged: bool, room: int) -> Turns:
    """The scan of the plain perceptron, each class with weights of its own; Φ is not written out."""
    reading = (Average if averaged else Reading)(course.X, course.target, course.scanned, course.start)
    stretches = plain_run(course, reading, room)
    while True:
        try:
            at = next(stretches)
        except StopIteration as end:
            return str(end.value)
        state = at.state
        theta, read = _stacked(state.weights, state.intercept, course), _stacked(*reading.weights(), course)
        yield Turn(
            course.unit * theta, course.unit * read, at.log, state.steps, state.mistakes, at.passes, at.pass_number,
            at.mistakes,
        )  # fmt: skip


def _stacked(W: Floats, b: Floats, course: Course) -> Floats:
    return (np.column_stack([W, b]) if course.manner.lifted else W).ravel()


def joint_turns(course: JointCourse, averaged: bool, room: int) -> Turns:
    """The scan of joint features."""
    stretches = joint_run(course, room)
    while True:
        try:
            at = next(stretches)
        except StopIteration as end:
            return str(end.value)
        state = at.state
        theta = course.unit * state.theta
        yield Turn(
            theta, course.unit * state.mean if averaged else theta, at.log, state.steps, state.mistakes, at.passes,
            at.pass_number, at.mistakes,
        )  # fmt: skip


def start_of(course: Course | JointCourse) -> Floats:
    """θ before the first step."""
    if isinstance(course, JointCourse):
        return course.start
    return _stacked(course.start.weights, course.start.intercept, course)


def tally_of(course: Course | JointCourse, theta: Floats) -> Tally:
    """Mistakes and separation; the margin in units of ‖θ‖."""
    if isinstance(course, JointCourse):
        return joint_tally(course.features, course.target, theta)
    U, lifted = theta.reshape(len(course.start.weights), -1), course.manner.lifted
    W, b = (U[:, :-1], U[:, -1]) if lifted else (U, np.zeros(len(U)))
    found = tally(course.X, course.target, np.ascontiguousarray(W), np.ascontiguousarray(b))
    if not found.separated:
        return found
    length = float(np.linalg.norm(U))
    return found._replace(margin=float(leads_of(course.X, course.target, U, lifted).min()) / length)


def leads_and_reach(course: Course | JointCourse, u: Floats) -> tuple[Floats, float]:
    """The least lead of each row under u, and the largest ‖Φ(x, y) − Φ(x, c)‖."""
    if isinstance(course, Course):
        lifted, K = course.manner.lifted, len(course.start.weights)
        return leads_of(course.X, course.target, u.reshape(K, -1), lifted), longest(course.X, lifted) * math.sqrt(2)
    leads, reach = [], 0.0
    for rows in course.features.runs():
        F, own = course.features[rows], course.target[rows][:, None]
        apart = np.take_along_axis(F, own[:, :, None], 1) - F
        lead = apart @ u
        np.put_along_axis(lead, own, math.inf, 1)
        leads.append(lead.min(axis=1))
        reach = max(reach, float(np.linalg.norm(apart, axis=2).max(initial=0.0)))
    return np.concatenate(leads), reach
