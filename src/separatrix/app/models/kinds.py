"""Every kind of rule that a file may hold, by its name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ...results.coding import checked_code
from .document import Part
from .rules import Linear, Rule, features_read

HOMES = {
    "naive bayes": ("curved_rules", "Sums"),
    "quadratic": ("curved_rules", "Gaussians"),
    "kernel": ("curved_rules", "Kernel"),
    "voted": ("many_rules", "Voted"),
    "committee": ("many_rules", "Committee"),
}
"""Imported when one is there: a file names a kind of this table, and no module."""
MOST_COUPLED = 1500
"""Classes whose probabilities are coupled: more take more memory than a file should."""


def read_rule(part: Part, classes: tuple[Any, ...], columns: tuple[str, ...]) -> Rule:
    """The rule of a document, checked."""
    kind = part.fields_kind("linear", "coded", *HOMES)
    try:
        if kind == "linear":
            return Linear.read(part, classes, columns)
        if kind == "coded":
            return _coded(part, classes, columns)
        module, name = HOMES[kind]
        found: Rule = getattr(import_module(f".{module}", __package__), name).read(part, classes, columns)
        return found
    except ValueError as error:
        if hasattr(error, "where"):
            raise
        raise part.fail(str(error)) from None  # what the rule itself has to say


def _coded(part: Part, classes: tuple[Any, ...], columns: tuple[str, ...]) -> Rule:
    many = import_module(".many_rules", __package__)
    part.fields("kind", "code", "per_class", "by_votes", "coupling", "members")
    code = checked_code(part["code"].integers(len(classes), None, least=-1, most=1), list(classes))
    coupling = part["coupling"].one_of(*many.COUPLINGS) if part.has("coupling") else None
    if coupling == many.COUPLED and len(classes) > MOST_COUPLED:
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
        members.append(many.Member(rule, features))
    if len(members) != code.shape[1]:
        raise part["members"].fail(f"there are {len(members)}; the code has {code.shape[1]} columns.")
    per_class = part["per_class"].flag()
    if per_class and len(classes) > 2 and len(members) not in widths:
        raise part["members"].fail("a classifier for each class, or for each but the last, is needed.")
    return many.Coded(code, tuple(members), classes, columns, per_class, part["by_votes"].flag(), coupling)  # type: ignore[no-any-return]


def _nothing(features: Any, columns: tuple[str, ...]) -> Any:
    return np.empty((0, len(columns) if features is None else features.width_out))
