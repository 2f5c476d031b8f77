"""`separatrix demo`: from a table to an answer, each command shown before what it prints."""

from __future__ import annotations

import csv
import math
import random
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ... import __version__
from .answer import BUG, DONE, NO, Answer
from .console import is_coloured
from .options import Talking


class Scene(NamedTuple):
    """A command of the tour, and what it is there for."""

    why: str
    words: Sequence[str]


class Tour(NamedTuple):
    """A table and the commands that are shown with it."""

    table: Callable[[Path], None]
    """Writes the table into a folder."""
    scenes: Sequence[Scene]


def _tour(table: Callable[[Path], None], file: str, target: str, settings: Sequence[str]) -> Tour:
    """The way from a table to an answer."""
    return Tour(
        table,
        (
            Scene("What is in the table, and how will it be read?", ("schema", file, "--target", target)),
            Scene("Fit, and see how the fit ended.", ("fit", file, "--target", target, *settings, "-o", "model.json")),
            Scene("How well does it predict rows that it has not seen?", ("evaluate", "model.json", "later.csv")),
            Scene("Predict new rows, and say why.", ("predict", "model.json", "new.csv", "--explain")),
            Scene("Could a rule without any mistake exist?", ("separable", file, "--target", target)),
        ),
    )


# ----------------------------------------------------------------------------------------------------- its tables

HEADER = ("age", "income", "years_employed", "city", "owns_home", "repaid")
CITIES = {"Berlin": 0.3, "Bonn": 0.0, "Köln": -0.4}
"""What each city adds to the score of the loans."""


def loans(folder: Path, rows: int = 600, later: int = 300, new: int = 5) -> None:
    """Loans and whether they were repaid: drawn from a logistic model, always the same."""
    draw = random.Random(7)  # noqa: S311  a table, no secret
    table = [_loan(draw) for _ in range(rows + later + new)]
    _write(folder / "loans.csv", HEADER, table[:rows])
    _write(folder / "later.csv", HEADER, table[rows : rows + later])
    _write(folder / "new.csv", HEADER[:-1], [row[:-1] for row in table[rows + later :]])


def _loan(draw: random.Random) -> tuple[str, ...]:
    age = draw.randint(19, 75)
    income = round(math.exp(draw.gauss(10.3, 0.4)), -2)
    employed = min(age - 18, draw.randint(0, 30))
    city = draw.choices(list(CITIES), (2, 3, 4))[0]
    owns = draw.random() < 0.35
    score = 1.8 * (math.log(income) - 10.3) + 0.08 * (employed - 10) + CITIES[city] + 0.7 * owns + 0.6
    repaid = draw.random() < 1 / (1 + math.exp(-score))
    return (str(age), f"{income:.0f}", str(employed), city, "yes" if owns else "no", "yes" if repaid else "no")


def cancer(folder: Path) -> None:
    """scikit-learn's breast cancer: 569 rows, of which 400 to learn from; six of its columns."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    columns = [0, 1, 4, 6, 7, 9]
    names = [str(data.feature_names[j]) for j in columns]
    cells = [[repr(float(value)) for value in row] for row in data.data[:, columns]]
    labels = [str(data.target_names[code]) for code in data.target]
    table = [(*row, label) for row, label in zip(cells, labels, strict=True)]
    _write(folder / "cancer.csv", (*names, "diagnosis"), table[:400])
    _write(folder / "later.csv", (*names, "diagnosis"), table[400:])
    _write(folder / "new.csv", names, cells[400:405])


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


TOURS = {
    "loans": _tour(loans, "loans.csv", "repaid", ()),
    "cancer": _tour(cancer, "cancer.csv", "diagnosis", ("--objective", "firth")),
}
"""The tours by their names; the first is the one that is shown."""


def demo(name: Literal["loans", "cancer"] = "loans", /, *, talking: Talking = Talking()) -> Answer:
    """Show all of this on a small table.

    Parameters
    ----------
    name
        The table: loans, which is generated and has categories; or cancer, scikit-learn's breast cancer.
    talking
        How the command talks.
    """
    tour = TOURS[name]
    with tempfile.TemporaryDirectory(prefix="separatrix-demo-") as folder:
        tour.table(Path(folder))
        shown = [_show(scene, folder, talking) for scene in tour.scenes]
    failed = [each["line"] for each in shown if each["status"] not in (DONE, NO)]
    return Answer(
        {"command": "demo", "version": __version__, "name": name, "scenes": shown},
        words=f"{len(failed)} of {len(shown)} commands failed: {'; '.join(failed)}." if failed else "",
        next="separatrix schema YOUR_TABLE.csv",
        status=BUG if failed else DONE,
    )


def _show(scene: Scene, folder: str, talking: Talking) -> dict[str, Any]:
    """Run a command in a process of its own, as the user would; with --json its output is kept, not shown."""
    line = shlex.join(["separatrix", *scene.words])
    if not talking.json:
        bold, plain = ("\x1b[1m", "\x1b[0m") if is_coloured(sys.stdout, talking.no_color) else ("", "")
        sys.stdout.write(f"\n# {scene.why}\n{bold}$ {line}{plain}\n")
        sys.stdout.flush()
    options = ["--no-color"] * talking.no_color + ["--seed", str(talking.seed)]
    done = subprocess.run(  # noqa: S603  our own command
        [sys.executable, "-m", "separatrix", *scene.words, *options],
        cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if talking.json else None,
        stderr=subprocess.PIPE if talking.json else None, env=_environment(), check=False,
    )  # fmt: skip
    output = {
        name: (text or b"").decode(errors="replace") for name, text in (("output", done.stdout), ("words", done.stderr))
    }
    return {"why": scene.why, "line": line, "status": done.returncode, **output}


def _environment() -> dict[str, str]:
    """The environment, with this very package found first, whatever the folder."""
    import os

    home = str(Path(__file__).resolve().parents[2])
    path = os.environ.get("PYTHONPATH", "")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in (home, path) if part)}
