"""`separatrix compare`: the same folds for all, a leaderboard, failures told."""

import numpy as np
import pytest

import separatrix
from separatrix.app.cli import compare
from separatrix.app.cli.running import CommandLine
from separatrix.app.evaluation.cross_validation import folds
from separatrix.app.tasks.learners import learner_list
from separatrix.errors import SettingError
from separatrix.wording import speaking

from .test_evaluate import table_text


def standing(data, learner):
    return next(each for each in data["leaderboard"] if each["learner"] == learner)


def value(data, learner, name):
    return next(one["value"] for one in standing(data, learner)["measures"] if one["name"] == name)


def test_the_leaderboard_is_that_of_the_folds_by_hand(write, answer):
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3)).round(3)
    y = np.where(X @ [2, -1, 0] + random.logistic(size=120) > 0, "yes", "no")
    write("a,b,c,y\n" + "".join(f"{r[0]},{r[1]},{r[2]},{t}\n" for r, t in zip(X, y, strict=True)))
    status, data = answer("compare", "data.csv", "--target", "y", "--learners", "logistic,naive-bayes", "--seed", "4")
    assert status == 0
    codes = (y == "yes").astype(np.intp)
    fold = folds(codes, 5, seed=4)
    losses = np.empty(120)
    for k in range(5):
        model = separatrix.LogisticRegression().fit(X[fold != k], y[fold != k])
        losses[fold == k] = -np.log(model.predict_proba(X[fold == k])[np.arange((fold == k).sum()), codes[fold == k]])
    assert data["ranked_by"] == "log_loss"
    assert value(data, "logistic", "log_loss") == pytest.approx(losses.mean(), rel=1e-6)
    assert [each["rank"] for each in data["leaderboard"]] == [1, 2, 3]
    values = [value(data, each["learner"], "log_loss") for each in data["leaderboard"]]
    assert values == sorted(values)
    assert data["leaderboard"][0]["to_best"] is None
    for each in data["leaderboard"][1:]:
        assert each["to_best"]["value"] == pytest.approx(value(data, each["learner"], "log_loss") - values[0])
    assert standing(data, "baseline")["to_best"]["word"] == "worse"
    assert data["beats_baseline"]
    assert all("out-of-fold" in one["method"] for one in data["leaderboard"][0]["measures"])


def test_words_and_the_next_command(write, command):
    write(table_text(1))
    asked = (
        "compare", "data.csv", "--target", "y", "--drop", "patient", "--drop", "weight",
        "--learners", "logistic:l2=0.001,fit_intercept=true,averaged", "--progress", "never",
    )  # fmt: skip
    out = command(*asked)[1]
    assert out.splitlines()[0].split()[:2] == ["learner", "error_rate"]  # averaged has no probabilities
    status, out, err = command(*asked, "--by", "log-loss")
    assert status == 0
    assert [line.split()[0][:8] for line in out.splitlines()[1:4]] == ["logistic", "baseline", "averaged"]
    assert "less logistic:l2=0.001" in out
    assert max(map(len, out.splitlines())) <= 80
    fit = "next: separatrix fit data.csv --target y --learner logistic --l2 0.001 --fit-intercept"
    assert f"{fit} --drop patient --drop weight\n" in err


def test_groups_stay_together_and_weights_are_used(write, answer, command):
    write(table_text(1))
    common = ("compare", "data.csv", "--target", "y", "--cv", "3")
    _, data = answer(*common, "--group", "patient", "--drop", "weight", "--learners", "logistic")
    assert data["grouped"]
    assert "groups" in standing(data, "logistic")["to_best" if data["best"] != "logistic" else "measures"][0]["method"]
    _, data = answer(*common, "--weights", "weight", "--drop", "patient")
    assert "averaged" not in {each["learner"] for each in data["leaderboard"]}
    status, _, err = command(*common, "--weights", "weight", "--drop", "patient", "--learners", "perceptron")
    assert status == 2
    assert "knows no weights" in " ".join(err.split())


def test_a_learner_that_fails_is_told_and_the_others_are_compared(write, answer, command):
    lines = [f"{-k},{k % 7},{'yes' if (k * 7919) % 10 < 4 else 'no'}" for k in range(60)]
    write("a,b,y\n" + "\n".join(lines) + "\n")
    asked = ("compare", "data.csv", "--target", "y", "--learners", "poisson-naive-bayes,logistic")
    status, data = answer(*asked)
    failed = standing(data, "poisson-naive-bayes")
    assert status == 0
    assert failed["rank"] is None
    assert failed["measures"] == []
    assert failed["failures"][0]["fold"] == 1
    assert failed["failures"][0]["sentence"].startswith("data.csv line 4, column 'a': it is -2; a Poisson column")
    status, out, err = command(*asked)
    assert "poisson-naive-bayes failed on fold 1, and is not compared" in " ".join(err.split())
    assert "failed" in out
    assert command(*asked[:-1], "poisson-naive-bayes")[0] == 1


def test_nothing_to_learn_is_not_shown_to_be_better_than_the_baseline(write, answer, command):
    random = np.random.default_rng(1)
    write("a,y\n" + "".join(f"{x:.3f},{'ab'[k % 2]}\n" for k, x in enumerate(random.normal(size=80))))
    _, data = answer("compare", "data.csv", "--target", "y", "--learners", "logistic")
    assert not data["beats_baseline"]
    err = " ".join(command("compare", "data.csv", "--target", "y", "--learners", "logistic")[2].split())
    assert "baseline" in err


def test_levels_that_a_fold_has_not_seen_are_told(write, answer):
    rows = [f"{'rare' if k == 7 else 'ab'[k % 2]},{k % 5},{'yes' if k % 3 else 'no'}" for k in range(60)]
    write("c,x,y\n" + "\n".join(rows) + "\n")
    _, data = answer("compare", "data.csv", "--target", "y", "--learners", "logistic:l2=0.1")
    assert data["remarks"] == [
        "1 row has a level of 'c' that no training row of the fold has: it is taken as the reference."
    ]


def test_missing_values_and_scales_are_learnt_within_each_fold(write, answer):
    random = np.random.default_rng(3)
    x, z = random.normal(5, 2, 90).round(2), random.normal(size=90).round(2)
    y = np.where(x - 5 + random.normal(size=90) > 0, "b", "a")
    cells = ["" if k % 9 == 0 else str(v) for k, v in enumerate(x)]
    write("x,z,y\n" + "".join(f"{a},{b},{t}\n" for a, b, t in zip(cells, z, y, strict=True)))
    asked = ("compare", "data.csv", "--target", "y", "--learners", "logistic:l2=0.1", "--cv", "3")
    status, error = answer(*asked)
    assert status == 3
    assert "error" in error
    status, data = answer(*asked, "--missing", "impute", "--standardise")
    assert status == 0
    fold, losses = folds((y == "b").astype(np.intp), 3), np.empty(90)
    raw = np.where(np.arange(90) % 9 == 0, np.nan, x)
    for k in range(3):
        train, test = fold != k, fold == k
        mean, scale = np.nanmean(raw[train]), np.nanstd(raw[train])
        other = z[train].mean(), z[train].std()
        A = np.column_stack([
            (np.where(np.isnan(raw), mean, raw) - mean) / scale, np.isnan(raw), (z - other[0]) / other[1],
        ])  # fmt: skip
        model = separatrix.LogisticRegression(l2=0.1).fit(A[train], y[train])
        p = model.predict_proba(A[test])
        losses[test] = -np.log(p[np.arange(test.sum()), (y[test] == "b").astype(int)])
    assert value(data, "logistic:l2=0.1", "log_loss") == pytest.approx(losses.mean(), rel=1e-6)


def test_the_same_seed_gives_the_same_bytes(write, command):
    write(table_text(1))
    asked = (
        "compare",
        "data.csv",
        "--target",
        "y",
        "--drop",
        "patient",
        "--learners",
        "logistic,pocket:max_passes=3",
        "--json",
    )
    assert command(*asked)[1] == command(*asked)[1]
    assert command(*asked)[1] != command(*asked, "--seed", "1")[1]


def test_three_classes(write, answer):
    write(table_text(1, 3))
    _, data = answer(
        "compare", "data.csv", "--target", "y", "--drop", "patient", "--learners", "logistic", "--by", "auc"
    )
    assert data["classes"] == ["maybe", "no", "yes"]
    assert data["ranked_by"] == "auc"
    assert data["best"] == "logistic"


@pytest.mark.parametrize(
    ("typed", "status", "sentence"),
    [
        (("--learners", "logistik"), 2, "Did you mean 'logistic'?"),
        (("--learners", "logistic:l3=1"), 2, "has no parameter l3"),
        (("--learners", "l2=1"), 2, "a name comes first"),
        (("--learners", "logistic:l2"), 2, "a parameter is given as in"),
        (("--learners", "logistic,logistic"), 2, "'logistic' twice"),
        (("--cv", "1"), 2, "2 folds or more"),
        (("--cv", "500"), 3, "500 folds of 240 rows cannot be"),
        (("--by", "acu"), 2, "Did you mean 'auc'?"),
        (("--group", "pat"), 2, "the table has no such column"),
        (("--level", "2"), 2, "between 0 and 1"),
    ],
)
def test_what_cannot_be_is_refused(write, command, typed, status, sentence):
    write(table_text(1))
    found, out, err = command("compare", "data.csv", "--target", "y", *typed)
    assert found == status
    assert sentence in " ".join(err.split())
    assert out == ""


def test_lists_of_learners():
    found = learner_list(["logistic:l2=0.1,max_passes=5,naive-bayes", "Pocket"])
    assert [each.label for each in found] == ["logistic:l2=0.1,max_passes=5", "naive-bayes", "pocket"]
    assert found[0].parameters == {"l2": "0.1", "max_passes": "5"}
    assert found[0].made(0).l2 == 0.1
    with speaking(CommandLine()):
        words = compare.entry_options(learner_list(["logistic:l2=0.10,fit-intercept=no"])[0])
    assert words == ["--l2", "0.10", "--no-fit-intercept"]
    with pytest.raises(SettingError, match="There is no learner ''"):
        learner_list(["logistic,,pocket"])
