"""Tables that the tests of fit, predict, summary and explain share."""

import numpy as np


def shop(n=120, seed=3, missing=False, classes=("no", "yes")):
    """A CSV text: an identifier, two numbers, a category with quotes and commas, a target that depends on them."""
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 80, n), np.round(rng.lognormal(3, 0.5, n), 2)
    city = rng.choice(["Bonn", 'Rome, "the old"', "Oslo"], n, p=[0.5, 0.3, 0.2])
    score = 0.05 * (age - 45) + 0.5 * (income - 20) / 10 + (city == "Oslo") + rng.logistic(size=n)
    place = np.digitize(score, np.quantile(score, np.arange(1, len(classes)) / len(classes)))
    lines = ["id,age,income,city,bought"]
    for i in range(n):
        cell = "" if missing and i % 11 == 0 else f"{income[i]}"
        town = '"' + city[i].replace('"', '""') + '"' if "," in city[i] else city[i]
        lines.append(f"p{i:03d},{age[i]},{cell},{town},{classes[place[i]]}")
    return "\n".join(lines) + "\n"


def matrix(text, names=("age", "income")):
    """The same as numbers, by hand: two numbers, then an indicator for each city but the most frequent."""
    import csv

    rows = list(csv.DictReader(text.splitlines()))
    cities = sorted({row["city"] for row in rows}, key=lambda c: -sum(row["city"] == c for row in rows))
    X = np.array([[*(float(row[name]) for name in names), *(row["city"] == c for c in cities[1:])] for row in rows])
    return X.astype(float), np.array([row["bought"] for row in rows])
