"""Reports of small tables, made in this process by the command itself."""

import csv
import io
import json

import numpy as np

from separatrix.app.cli.running import run

WICKED = "<script>alert(\"x\")</script> & 'quotes' ünïcödé 漢字"
LONG = ("a column whose name goes on " * 8).strip()[:200]


def table(kind="two", n=240, seed=5):
    """A CSV text: numbers, a category, missing values, names that want to be code."""
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 80, n), np.round(rng.lognormal(3, 0.5, n), 2)
    city = rng.choice(["Bonn", 'Rome, "the old"', "Oslo</td>"], n, p=[0.5, 0.3, 0.2])
    noise = rng.logistic(size=n)
    score = 0.05 * (age - 45) + 0.5 * (income - 20) / 10 + (city == "Oslo</td>") + noise
    names = {
        "two": ["no", "yes"],
        "three": ["low", "middle", "top"],
        "separated": ["no", "yes"],
        "quasi": ["no", "yes"],
    }[kind]
    if kind == "separated":
        score = age - 45.5
        label = (score > 0).astype(int)
    else:
        label = np.digitize(score, np.quantile(score, np.arange(1, len(names)) / len(names)))
    if kind == "quasi":  # rows of one city are all of one class
        label = np.where(city == "Oslo</td>", 1, label)
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["id", "age", LONG, WICKED, "bought"])
    for i in range(n):
        gone = kind == "two" and i % 11 == 0
        rows.writerow([f"p{i:03d}", age[i], "" if gone else income[i], city[i], names[label[i]]])
    return out.getvalue()


FITS = {
    "two": ("--missing", "impute"), "three": ("--l2", "0.01", "--standardise"), "separated": (),
    "quasi": ("--prior", "no=0.9,yes=0.1"),
}  # fmt: skip


def fitted(folder, kind="two", fit=None):
    """The paths of a table and of its model."""
    data, model = folder / f"{kind}.csv", folder / f"{kind}.json"
    data.write_text(table(kind), encoding="utf-8")
    given = FITS[kind] if fit is None else fit
    assert run(["fit", str(data), "--target", "bought", "-o", str(model), "--quiet", *given]) == 0
    return data, model


def make(folder, kind="two", *typed, fit=None):
    """Fit and report; the paths of the page, of the model and of the table."""
    (data, model), page = fitted(folder, kind, fit), folder / f"report-{kind}.html"
    assert run(["report", str(model), str(data), "-o", str(page), "--quiet", *typed]) == 0
    return page, model, data


class Lazily(dict):
    """What is made of each key, when it is first asked for."""

    def __init__(self, make):
        self.make = make

    def __missing__(self, key):
        self[key] = self.make(key)
        return self[key]


_KEPT = {}


def made_once(kind, factory):
    """The same report for all who only look at it: made once in a process."""
    if kind not in _KEPT:
        _KEPT[kind] = make(factory.mktemp("reports"), kind)
    return _KEPT[kind]


def facts(folder, kind="two", *typed, fit=None):
    """The facts of such a report, as --format json writes them."""
    (data, model), path = fitted(folder, kind, fit), folder / f"{kind}-facts.json"
    assert run(["report", str(model), str(data), "-o", str(path), "--format", "json", "--quiet", *typed]) == 0
    return json.loads(path.read_text(encoding="utf-8"))
