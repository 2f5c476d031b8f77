"""What is known of learners before they are imported is made of their cards and signatures.

python -m tests.house.test_learner_table     writes src/separatrix/app/tasks/learner_table.py anew
"""

import inspect
from pathlib import Path
from textwrap import fill, indent

import separatrix
from separatrix.app.tasks import learner_table

ELSEWHERE = {"random_state", "warm_start", "features", "feature_map", "estimator", "n_jobs"}
"""Parameters that are no options of their own: --seed, --features, --learner."""
HEAD = '''"""The learners by name, made of their cards and signatures; do not write here.

Of each its class, its options with their defaults, whether it knows weights, whether chance plays a part, and the
method that a fit is watched by.

    python -m tests.house.test_learner_table     makes it anew
"""

from __future__ import annotations

from typing import Any

Row = tuple[str, dict[str, Any], bool, bool, str]
# fmt: off
'''


def rows(*, reduces):
    """A row for each learner that has a card of its own; those of one kind in the order of their names."""
    classes = [getattr(separatrix, name) for name in separatrix.__all__]
    found = [each for each in classes if inspect.isclass(each) and "card" in vars(each)]
    return {
        each.card.command: row(each)
        for each in sorted(found, key=lambda each: each.card.command)
        if each.card.reduces == reduces
    }


def row(learner):
    signature = inspect.signature(learner).parameters
    defaults = {name: each.default for name, each in signature.items() if name not in ELSEWHERE}
    weights = "sample_weight" in inspect.signature(learner.fit).parameters
    return learner.__name__, defaults, weights, "random_state" in signature, learner.card.course


def test_the_table_is_what_cards_and_signatures_say():
    for reduces, told in ((False, learner_table.LEARNERS), (True, learner_table.REDUCTIONS)):
        made = rows(reduces=reduces)
        assert repr(told) == repr(made), "make it anew: python -m tests.house.test_learner_table"


if __name__ == "__main__":
    text = HEAD
    for name, reduces in (("LEARNERS", False), ("REDUCTIONS", True)):
        lines = [
            fill(f"{key!r}: {each!r},", 116, break_on_hyphens=False) for key, each in rows(reduces=reduces).items()
        ]
        text += f"{name}: dict[str, Row] = {{\n{indent(chr(10).join(lines), '    ')}\n}}\n"
    Path(learner_table.__file__).write_text(text, encoding="utf-8")
