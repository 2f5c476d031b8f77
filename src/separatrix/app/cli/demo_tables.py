"""The tables of the demo, written into a folder: one to learn from, later rows to judge by, and new ones to predict."""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

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
