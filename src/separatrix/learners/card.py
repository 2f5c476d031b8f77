"""What the command line, reports and pages need to know of a learner beside its signature and its documentation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """Stands on the class of each learner, as `card`."""

    command: str
    """Its name after --learner, or after --reduction."""
    course: str = "steps"
    """The method that a fit is watched by; none where its steps are single mistakes or rows."""
    path_unit: str = ""
    """What is counted along the path of its weights; none where no path is shown."""
    no_path: str = ""
    """Why no path is shown, in a sentence."""
    reduces: bool = False
    """Whether it learns several classes by learners of two."""


IN_ONE_GO = "It computes its answer in one go, from counts, means or a system of equations: no path leads there."
SEVERAL_PATHS = "It is made of several learners, each of which goes its own way."
