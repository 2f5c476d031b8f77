"""Reports of small tables, made in this process by the command itself."""

import csv
import io
import json

import numpy as np

from separatrix.cli.running import run

WICKED = "<script>alert(\"x\")</script> & 'quotes' ünïcödé 漢字"
LONG = ("a column whose name goes on " * 8).strip()[:200]


def table(kind="two", n=240, seed=5):
    """A CSV text: numbers, a category, missing values, names that want to be code."""
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 80, n), np.round(rng.lognormal(3, 0.5, n), 2)
    city = rng.choice(["Bonn", 'Rome, "the old"', "Oslo</td>"], n, p=[0.5, 0.3, 0.2])
    noise = rng.logistic(size=n)
    score = 0.05 * (age - 45) + 0.5 * (income - 20) / 10 + (city == "Oslo</td>") + noise
    names = {"two": ["no", "yes"], "three": ["low", "middle", "top"], "separated": ["no", "yes"]}[kind]
    if kind == "separated":
        score = age - 45.5
        label = (score > 0).astype(int)
    else:
        label = np.digitize(score, np.quantile(score, np.arange(1, len(names)) / len(names)))
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["id", "age", LONG, WICKED, "bought"])
    for i in range(n):
        gone = kind == "two" and i % 11 == 0
        rows.writerow([f"p{i:03d}", age[i], "" if gone else income[i], city[i], names[label[i]]])
    return out.getvalue()


def make(folder, kind="two", *typed, fit=(), name="report"):
    """Fit and report; the paths of the page and of the model."""
    data, model, page = folder / f"{kind}.csv", folder / f"{kind}.json", folder / f"{name}-{kind}.html"
    data.write_text(table(kind), encoding="utf-8")
    missing = ["--missing", "impute"] if kind == "two" else []
    assert run(["fit", str(data), "--target", "bought", "-o", str(model), "--quiet", *missing, *fit]) == 0
    assert run(["report", str(model), str(data), "-o", str(page), "--quiet", *typed]) == 0
    return page, model, data


def facts(folder, kind="two", *typed, fit=()):
    """The facts of such a report, as --format json writes them."""
    _, model, data = make(folder, kind, fit=fit)
    path = folder / f"{kind}-facts.json"
    assert run(["report", str(model), str(data), "-o", str(path), "--format", "json", "--quiet", *typed]) == 0
    return json.loads(path.read_text(encoding="utf-8"))
