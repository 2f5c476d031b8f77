"""What is known of learners before they are imported is made of their cards, signatures and docstrings.

python -m tests.house.test_learner_table     writes src/separatrix/app/tasks/learner_table.py anew
"""

import csv
import inspect
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import fill, indent, wrap

import pytest

import separatrix

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(separatrix.__file__).parent / "app" / "tasks" / "learner_table.py"
HEAD = '''"""The learners by name, made of their cards, signatures and docstrings; do not write here.

Of each its class, its options with their defaults, what else the class and its `fit` take, and the method that a fit is
watched by. Of each option the kinds of values that it takes, and its help.

    python -m tests.house.test_learner_table     makes it anew
"""

from __future__ import annotations

from typing import Any

LearnerRow = tuple[str, dict[str, Any], tuple[str, ...], str]
OptionRow = tuple[tuple[str, ...], str]
# fmt: off
'''
FIRST = "logistic"
"""Whose options are listed first: who learns unless another is named."""
BESIDE = ("random_state", "warm_start", "features", "feature_map", "estimator", "n_jobs", "sample_weight")
"""What learners take that is no option of its own: --seed, --features, --learner, --weights."""
KINDS = {
    r"dict {class: \w+}": ("numbers-by-class", "numbers by class (yes=2,no=1)"),
    r"dict {column: \w+}": ("words-by-column", "words by column (age=gaussian,*=bernoulli)"),
    r"\bbool\b": ("flag", ""),
    r"\bint\b": ("count", "a whole number"),
    r"\bfloat\b": ("number", "a number"),
    r"\barray\b": ("numbers", "numbers (0.3,0.7)"),
}
"""By what a docstring says of a type, in the order in which a text is tried: the kind of value, and how it is typed."""
ENTRY = re.compile(r"^(\w+(?:, \w+)*) : (.*)\n((?:    .*\n)*)", re.MULTILINE)
"""Of a docstring: the names, the type, and what is said of them."""


def learners():
    """The classes that have a card of their own."""
    names = [name for name, home in separatrix._PUBLIC.items() if home.startswith(".learners.")]
    found = [each for each in (getattr(separatrix, name) for name in names) if "card" in getattr(each, "__dict__", ())]
    return sorted(found, key=lambda each: each.card.command)


def rows(*, reduces):
    """A row for each learner; those of one kind in the order of their names."""
    return {each.card.command: row(each) for each in learners() if each.card.reduces == reduces}


def row(learner):
    signature = inspect.signature(learner).parameters
    taken = {**signature, **inspect.signature(learner.fit).parameters}
    beside = tuple(name for name in BESIDE if name in taken)
    return learner.__name__, defaults(learner), beside, learner.card.course


def defaults(learner):
    """The options of a learner."""
    return {name: each.default for name, each in inspect.signature(learner).parameters.items() if name not in BESIDE}


def options():
    """A row for each option: those of one learner first, those of reductions last."""
    order = sorted(learners(), key=lambda each: (each.card.reduces, each.card.command != FIRST))
    names = dict.fromkeys(name for each in order for name in defaults(each))
    return {name: option(name, [each for each in order if name in defaults(each)]) for name in names}


def option(name, having):
    """The kinds of values that an option takes, and its help."""
    told = {each.card.command: told_of(each, name) for each in having}
    words = {command: re.findall(r'"([^"]+)"', kind) for command, (kind, _) in told.items()}
    types = re.sub(r'"[^"]+"', "", " ".join(kind for kind, _ in told.values()))
    kinds = tuple(kind for pattern, (kind, _) in KINDS.items() if re.search(pattern, types))
    every = tuple(dict.fromkeys(word for each in words.values() for word in each))
    (sentence, _), *others = grouped({command: text for command, (_, text) in told.items()})
    said = [sentence, *(f"Of {who}: {text}" for text, who in others)]
    samples = [sample for pattern, (_, sample) in KINDS.items() if sample and re.search(pattern, types)]
    if not kinds and any(set(each) != set(every) for each in words.values()):
        said.append(f"[{by_learner({command: listed(sorted(each)) for command, each in words.items()})}]")
    elif samples or every:
        said.append(f"[{listed([*samples, *every, *['none'] * ('None' in types)])}]")
    said.append(f"[default {by_learner({each.card.command: typed(defaults(each)[name]) for each in having})}]")
    return (*kinds, *["word"] * bool(every)), " ".join(said)


def told_of(learner, name):
    """The type of a parameter and the first sentence on it, by the docstring of the class, or of one that it names."""
    for each in learner.__mro__:
        parameters = re.split(r"Attributes\n-+\n", inspect.cleandoc(each.__doc__ or ""))[0] + "\n"
        for names, kind, text in ENTRY.findall(parameters):
            if name in names.split(", "):
                other = re.match(r"as in `?(\w+)", kind)
                sentence = re.match(r".*?\.(?=\s|$)", " ".join(text.replace("*", "").split()))
                return told_of(getattr(separatrix, other[1]), name) if other else (kind, sentence[0])
    raise LookupError(f"the docstring of {learner.__name__} says nothing of {name}.")


def listed(names):
    """a, b or c."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def grouped(said):
    """What is said, and by whom; what most say first."""
    groups = {}
    for who, text in said.items():
        groups.setdefault(text, []).append(who)
    return [(text, ", ".join(who)) for text, who in sorted(groups.items(), key=lambda each: -len(each[1]))]


def by_learner(said):
    return "; ".join(f"of {who}: {text}" for text, who in grouped(said))


def typed(value):
    """A default as it is typed."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


def table():
    """The text of the generated file."""
    text = HEAD
    for name, found in (("LEARNERS", rows(reduces=False)), ("REDUCTIONS", rows(reduces=True))):
        lines = [fill(f"{key!r}: {each!r},", 116, break_on_hyphens=False) for key, each in found.items()]
        text += f"{name}: dict[str, LearnerRow] = {{\n{indent(chr(10).join(lines), '    ')}\n}}\n"
    text += "OPTIONS: dict[str, OptionRow] = {\n"
    for name, (kinds, help_text) in options().items():
        parts = [repr(part) for part in wrap(help_text, 110, drop_whitespace=False, break_on_hyphens=False)]
        text += indent(f"{name!r}: ({kinds!r},\n{chr(10).join(parts)}),\n", "    ")
    return text + "}\n"


def test_a_page_helps_to_choose_among_all_learners():
    page = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    assert [each.__name__ for each in learners() if f"`{each.__name__}`" not in page] == []


def test_the_table_is_what_cards_signatures_and_docstrings_say():
    assert TABLE.read_text(encoding="utf-8") == table(), "make it anew: python -m tests.house.test_learner_table"


# ------------------------------------------------------------------------------ a learner that is added as the docs say


TOY = '''
"""The class whose mean is nearest."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..results.claims import EstimateClaim
from ..results.linear_rule import LinearRule
from ..results.verdict import Rank, Verdict
from .base import Card, LinearClassifier
from .checks.rows import checked_rows, names_of
from .checks.targets import checked_targets


class NearestMean(LinearClassifier):
    """w = m₁ − m₀, b = ½(m₀ + m₁)ᵀ(m₀ − m₁).

    Parameters
    ----------
    middle : "means" or "rows"
        Where the boundary passes. Halfway between the means, or through the mean of all rows.
    pull : float
        How far it is moved. Towards the second class if above zero.
    """

    card = Card("nearest-mean", course="")

    def __init__(self, *, middle: str = "means", pull: float = 0.0) -> None:
        self.middle, self.pull = middle, pull

    def fit(self, X: Any, y: Any) -> NearestMean:
        """Take the means."""
        X, targets = checked_rows(self, X, reset=True), checked_targets(self, y)
        first, second = (X.pull((targets.index == k) / (targets.index == k).sum()) for k in (0, 1))
        at = (first + second) / 2 if self.middle == "means" else X.pull(np.ones(len(X))) / len(X)
        names, w = names_of(self, X.shape[1]), second - first
        self.classes_ = targets.classes
        self.rule_ = LinearRule(w, float(-at @ w - self.pull), tuple(self.classes_.tolist()), names)
        claim = EstimateClaim("nearest mean", self.rule_.classes, names, {"weights": w}, self.get_params(), len(X))
        self.verdict_ = Verdict("optimal", Rank(None, len(w) + 1, ()), None, "The means were taken.", "", claim)
        return self
'''
TABLE_OF_TWO = "a,b,y\n0,0,no\n0,2,no\n4,0,yes\n4,2,yes\n3,1,yes\n1,1,no\n"
COMMANDS = """
import sys
from separatrix.app.cli.running import run

for line in (
    "fit --help", "fit rows.csv --target y --learner nearest-mean --middle rows --pull 0.5 --quiet",
    "fit rows.csv --target y --learner nearest-mean --l2 1", "predict model.json rows.csv -o predicted.csv",
    "export model.json --to python -o exported.py",
):
    print("ended", run(line.split()), flush=True)
"""


def test_a_learner_is_added_by_its_file_and_its_public_name(tmp_path):
    source, home = Path(separatrix.__file__).parent, tmp_path / "src" / "separatrix"
    shutil.copytree(source, home, ignore=shutil.ignore_patterns("*.nbi", "*.nbc"))
    (home / "learners" / "nearest_mean.py").write_text(TOY, encoding="utf-8")
    names = (home / "__init__.py").read_text(encoding="utf-8")
    public = names.replace("_PUBLIC = {\n", '_PUBLIC = {\n    "NearestMean": ".learners.nearest_mean",\n', 1)
    (home / "__init__.py").write_text(public, encoding="utf-8")

    def python(*words, where):
        environment = {**os.environ, "PYTHONPATH": str(home.parent), "COLUMNS": "200"}
        return subprocess.run(
            [sys.executable, *words], cwd=where, env=environment, check=True, capture_output=True, encoding="utf-8"
        )

    python("-m", "tests.house.test_learner_table", where=ROOT)
    (tmp_path / "rows.csv").write_text(TABLE_OF_TWO)
    done = python("-c", COMMANDS, where=tmp_path)
    said = " ".join(re.sub(r"[│\s]+", " ", done.stdout).split())
    assert re.findall(r"ended (\d+)", said) == ["0", "0", "2", "0", "0"], done.stderr
    assert "--middle STR Where the boundary passes. [means or rows] [default of nearest-mean: means]" in said
    assert "The learner 'nearest-mean' has no parameter --l2." in " ".join(done.stderr.split())
    model = separatrix.load(tmp_path / "model.json")
    assert (model.learner, model.parameters) == ("NearestMean", {"middle": "rows", "pull": 0.5})
    with (tmp_path / "predicted.csv").open() as file:
        assert [row["prediction"] for row in csv.DictReader(file)] == ["no", "no", "yes", "yes", "yes", "no"]
    exported = runpy.run_path(str(tmp_path / "exported.py"))["predict"]({"a": 3, "b": 9})
    assert exported == {"label": "yes", "score": pytest.approx(10 / 3 - 0.5)}


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
