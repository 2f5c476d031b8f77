"""What the numbers of a row say about the columns of the table."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix import GaussianNaiveBayes, LeastSquaresClassifier, LogisticRegression
from separatrix.app.models.from_learner import model_of
from separatrix.app.tables.cells import cell_of, parts_of
from separatrix.app.tables.encoding import learn_encoding
from separatrix.app.tables.kinds import decide
from separatrix.app.tables.table import Columns


def drawn(n: int = 200) -> tuple[Columns, np.ndarray]:
    rng = np.random.default_rng(0)
    age, city = rng.normal(40, 10, n).round(1), rng.choice(["Bonn", "Rome", "Oslo"], n, p=[0.5, 0.3, 0.2])
    y = np.where(age / 10 + (city == "Rome") + rng.normal(size=n) > 4, "yes", "no")
    gaps = rng.random(n) < 0.1
    cells = {"age": [None if gap else value for gap, value in zip(gaps, age.tolist(), strict=True)],
             "city": [None if gap else value for gap, value in zip(gaps[::-1], city.tolist(), strict=True)],
             "pay": rng.normal(3, 1, n), "answer": y.tolist()}  # fmt: skip
    return Columns(cells), y


@pytest.mark.parametrize("standardise", [False, True])
def test_numbers_tell_the_cells_they_were_made_from(standardise):
    table, _ = drawn()
    encoding = learn_encoding(table, decide(table, target="answer"), missing="impute", standardise=standardise)
    X, parts = encoding.matrix(table), parts_of(encoding.columns)
    assert [part.column.name for part in parts] == ["age", "city", "pay"]
    ages, cities = table.numbers("age"), table.coded("city")
    for row in range(table.rows):
        age, city, _ = (cell_of(part, X[row]) for part in parts)
        if np.isnan(ages[row]):
            assert age == ("age is missing", None)
        else:
            assert age.name == "age"
            assert age.value == pytest.approx(ages[row], abs=1e-9)
        code = cities.codes[row]
        assert city == (("city is missing", None) if code < 0 else ("city", cities.levels[code]))


@pytest.mark.parametrize("learner", [LogisticRegression(), LeastSquaresClassifier(), GaussianNaiveBayes()], ids=repr)
def test_parts_of_columns_add_up_to_the_score(learner):
    table, y = drawn()
    encoding = learn_encoding(table, decide(table, target="answer"), missing="impute", standardise=False)
    X = encoding.matrix(table)
    model = model_of(learner.fit(X, y), encoding=encoding)
    alone, together = model.contributions(X), model.by_column(model.contributions(X))
    assert together.shape == (len(X), 3)
    np.testing.assert_allclose(together.sum(axis=1), alone.sum(axis=1), rtol=1e-9, atol=1e-9)
    changed = X.copy()
    changed[:, 0] += 5
    away = model.by_column(model.contributions(changed)) - together
    assert np.abs(away[:, 0]).max() > 0
    np.testing.assert_allclose(away[:, 1:], 0, atol=1e-9)


def test_an_explanation_names_columns_and_levels():
    table, y = drawn()
    encoding = learn_encoding(table, decide(table, target="answer"), missing="impute")
    X = encoding.matrix(table)
    found = model_of(LogisticRegression().fit(X, y), encoding=encoding, X=X).explain(X[:1])
    names = {each.name: each.value for each in found.contributions[1:]}
    city = table.coded("city")
    assert len(names) == 3
    assert names.get("city") == (city.levels[city.codes[0]] if city.codes[0] >= 0 else None)
    assert found.base + sum(each.contribution for each in found.contributions) == pytest.approx(found.score)
