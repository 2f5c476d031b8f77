"""Real tables, packed as they came: rows, columns, kinds and missing values as they are known to be."""

import pytest
from places import SHARED

from separatrix.app.tables.kinds import decide
from separatrix.app.tables.opening import open_table

FOLDER = SHARED
KNOWN = {
    "tabular/adult.data.xz": ({"header": False, "na": ["?"]}, "x14", 32561, 6, 8, 4262, ("<=50K", ">50K")),
    "tabular/german.data.xz": ({"header": False}, "x20", 1000, 7, 13, 0, ("1", "2")),
    "tabular/spambase.data.xz": ({}, "spam", 4601, 57, 0, 0, ("0", "1")),
    "tabular/mushrooms_categorical.csv.xz": ({}, "class", 8124, 0, 21, 0, ("e", "p")),
    "tabular/credit_data_NA.csv.xz": ({"na": ["NA"]}, "Status", 4454, 9, 4, 455, ("good", "bad")),
    "libsvm/a1a.xz": ({}, "y", 1605, 113, 0, 0, ("-1", "+1")),
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_real_table(name):
    options, target, rows, numbers, categories, missing, levels = KNOWN[name]
    if not (FOLDER / name).exists():
        pytest.skip(f"{name} of the shared data is not here")
    with open_table([str(FOLDER / name)], **options) as table:
        found = decide(table, target=target)
        assert table.rows == rows
    kinds = [column.kind for column in found]
    assert (kinds.count("number"), kinds.count("category")) == (numbers, categories)
    assert sum(column.missing for column in found) == missing
    assert next(column.levels for column in found if column.kind == "target") == levels
