"""Every kind of rule that a file may hold, by its name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...results.coding import checked_code
from .document import ModelFileError, Part
from .rules import Linear, Rule, features_read

KINDS = ("linear", "coded", "naive bayes", "quadratic", "kernel", "voted", "committee")
MOST_COUPLED = 1500
"""Classes whose probabilities are coupled: more take more memory than a file should."""


def read_rule(part: Part, classes: tuple[Any, ...], columns: tuple[str, ...]) -> Rule:
    """The rule of a document, checked."""
    kind = part.fields_kind(*KINDS)
    try:
        if kind == "linear":
            return Linear.read(part, classes, columns)
        return _coded(part, classes, columns) if kind == "coded" else _other(kind, part, classes, columns)
    except ModelFileError:
        raise
    except ValueError as error:
        raise part.fail(str(error)) from None  # what the rule itself has to say


def _other(kind: str, part: Part, classes: tuple[Any, ...], columns: tuple[str, ...]) -> Rule:
    from .curved_rules import Gaussians, Kernel, Sums  # here: a linear rule needs no SciPy, which takes 0.3 s to load
    from .many_rules import Committee, VoteRule

    kinds: dict[str, Any] = {
        "naive bayes": Sums, "quadratic": Gaussians, "kernel": Kernel, "voted": VoteRule, "committee": Committee,
    }  # fmt: skip
    found: Rule = kinds[kind].read(part, classes, columns)
    return found


def _coded(part: Part, classes: tuple[Any, ...], columns: tuple[str, ...]) -> Rule:
    from .many_rules import COUPLED, COUPLINGS, CodeRule, Member

    part.fields("kind", "code", "per_class", "by_votes", "coupling", "members")
    code = checked_code(part["code"].integers(len(classes), None, least=-1, most=1), list(classes))
    coupling = part["coupling"].one_of(*COUPLINGS) if part.has("coupling") else None
    if coupling == COUPLED and len(classes) > MOST_COUPLED:
        raise part["coupling"].fail(
            f"each row takes a system of equations in {len(classes)} classes; up to {MOST_COUPLED} are read."
        )
    members, widths = [], (len(classes), len(classes) - 1)
    for each in part["members"].items():
        each.fields("features", "rule")
        features = features_read(each["features"], columns)
        names = columns if features is None else tuple(map(str, range(features.width_out)))  # nobody asks for them
        rule = read_rule(each["rule"], (0, 1), names)
        if rule.kind == "coded" or (coupling and rule.probabilities(_nothing(features, columns), np.empty(0)) is None):
            raise each["rule"].fail("a classifier of two classes, with probabilities if the whole has any, is needed.")
        members.append(Member(rule, features))
    if len(members) != code.shape[1]:
        raise part["members"].fail(f"there are {len(members)}; the code has {code.shape[1]} columns.")
    per_class = part["per_class"].flag()
    if per_class and len(classes) > 2 and len(members) not in widths:
        raise part["members"].fail("a classifier for each class, or for each but the last, is needed.")
    return CodeRule(code, tuple(members), classes, columns, per_class, part["by_votes"].flag(), coupling)


def _nothing(features: Any, columns: tuple[str, ...]) -> Any:
    return np.empty((0, len(columns) if features is None else features.width_out))
