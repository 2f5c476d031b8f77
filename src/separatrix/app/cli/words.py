"""How sentences name a setting, a learner or a call to who types commands: `--l2 0.1`, `--learner logistic`."""

from __future__ import annotations

from typing import Any

from ... import wording
from ..tasks.learners import LEARNERS, REDUCTIONS, TEXTS

OTHER_OPTIONS = {
    "random_state": "--seed", "features": "--features", "estimator": "--learner", "sample_weight": "--weights",
    **{name: f"--{name}" for name in (
        "category", "cost", "cv", "distance", "drop", "explain", "group", "learner", "learners", "level", "number",
        "output", "positive", "proba", "reduction", "require", "row", "target", "thresholds", "unseen", "weights",
        "where",
    )},
}  # fmt: skip
"""Settings that are options of some command, but no parameter of a learner."""
CALLS = {"separability(X, y)": "separatrix separable"}
"""Calls of the library that a command makes."""


class CommandLine(wording.Python):
    """The words of who types commands."""

    def setting(self, name: str, value: Any = wording.NOTHING) -> str:
        """`--l2`, `--l2 0.1`, `--no-fit-intercept`; what no command takes is named as in Python."""
        if name not in TEXTS and name not in OTHER_OPTIONS:
            return super().setting(name, value)
        option = OTHER_OPTIONS.get(name, "--" + name.replace("_", "-"))
        if value is wording.NOTHING or value is True:
            return option
        return f"--no-{option[2:]}" if value is False else f"{option} {'none' if value is None else value}"

    def learner(self, name: str) -> str:
        """`--learner logistic`, `--reduction one-vs-rest`."""
        for option, table in (("--learner", LEARNERS), ("--reduction", REDUCTIONS)):
            typed = next((typed for typed, each in table.items() if each.home == name), None)
            if typed is not None:
                return f"{option} {typed}"
        return super().learner(name)

    def call(self, text: str) -> str:
        """`separatrix separable`; what no command does is called as in Python."""
        return CALLS.get(text, text)

    def has(self, name: str) -> bool:
        """Whether some command takes this setting, makes this call, or knows this learner."""
        homes = {each.home for each in (*LEARNERS.values(), *REDUCTIONS.values())}
        return name in TEXTS or name in OTHER_OPTIONS or name in CALLS or name in homes
