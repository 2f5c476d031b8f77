"""Displays keep what the model says, draw from that alone, and say it in words."""

import matplotlib as mpl

mpl.use("Agg")

import io
import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from separatrix import (
    GaussianNaiveBayes,
    KernelPerceptron,
    LeastSquaresClassifier,
    LogisticRegression,
    MaxMarginClassifier,
    NotSeparableWarning,
    OneVsRest,
    Perceptron,
    features,
    losses,
    plots,
    scenes,
    separability,
    surface,
)
from separatrix.plots import (
    ConvergenceDisplay,
    DecisionRegionsDisplay,
    LossSurfaceDisplay,
    MarginsDisplay,
    PerceptronStepsDisplay,
    ResponseDisplay,
    SeparabilityDisplay,
    SurrogateCurvesDisplay,
    WeightsDisplay,
)
from separatrix.plots.style import THEMES, contrast


@pytest.fixture(autouse=True)
def _close():
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before, "a picture changed matplotlib's settings"
    plt.close("all")


def clouds(columns=2, classes=2, n=60, seed=0):
    """Classes that overlap a little."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    centres = rng.normal(size=(classes, columns)) * 1.5
    return centres[y] + rng.normal(size=(n, columns)), np.array(["north", "south", "west", "east"])[y]


def words_of(display):
    """The words, after the promises that all displays keep."""
    told = display.to_dict()
    json.dumps(told, allow_nan=False)
    assert told["display"] == type(display).__name__
    lengths = {len(column) for column in display.data.values()}
    assert len(lengths) == 1, "the columns of a table have one length"
    assert told["alt_text"] == display.alt_text
    return display.alt_text


# ----------------------------------------------------------------------------------------------------------- themes


@pytest.mark.parametrize("name", list(THEMES))
def test_every_ink_stands_out_from_its_paper(name):
    theme = THEMES[name]
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast(theme.ink, theme.paper) >= 7
    assert min(contrast(colour, theme.paper) for colour in (*theme.colours, theme.grey)) >= 3
    assert contrast(theme.mark, theme.ink if name == "light" else theme.paper) >= 3, "a mark has an edge of ink"


# How the three kinds of colour-blindness see linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
SIGHTS = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def in_lab(colours, sight):
    """CIELAB, white D65."""
    rgb = np.array([mpl.colors.to_rgb(colour) for colour in colours])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.transpose(sight), 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    t = seen @ to_xyz.T / [0.9505, 1, 1.089]
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.column_stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])])


@pytest.mark.parametrize("name", list(THEMES))
@pytest.mark.parametrize("sight", list(SIGHTS))
def test_every_eye_tells_the_classes_apart(name, sight):
    lab = in_lab(THEMES[name].colours, SIGHTS[sight])
    apart = np.linalg.norm(lab[:, None] - lab, axis=2)
    assert apart[~np.eye(len(lab), dtype=bool)].min() >= 15


def everything():
    """One of each display, as functions of the axes and the theme."""
    X, y = clouds(n=120)
    model = LogisticRegression().fit(X, y)
    nine = scenes.figure_4_1()
    landscape = surface("log", *nine, size=21)
    return {
        "regions": lambda **given: DecisionRegionsDisplay.from_estimator(model, X, y, fine=21, **given),
        "curve": lambda **given: ResponseDisplay.from_estimator(model, X, y, features=0, **given),
        "surface": lambda **given: ResponseDisplay.from_estimator(model, X, y, **given),
        "losses": lambda **given: SurrogateCurvesDisplay.of(**given),
        "landscape": lambda **given: LossSurfaceDisplay.from_surface(landscape, path=[(0, 0), (1, 1)]).plot(**given),
        "steps": lambda **given: PerceptronStepsDisplay.from_estimator(Perceptron(), X, y, count=1, **given),
        "weights": lambda **given: WeightsDisplay.from_estimator(model, X, y, **given),
        "margins": lambda **given: MarginsDisplay.from_estimator(model, X, y, **given),
        "sorted": lambda **given: MarginsDisplay.from_estimator(model, X, y, kind="sorted", **given),
        "certificate": lambda **given: SeparabilityDisplay.from_data(X, y, **given),
        "convergence": lambda **given: ConvergenceDisplay.from_estimator(model, **given),
    }


@pytest.mark.parametrize("kind", list(everything()))
@pytest.mark.parametrize("name", list(THEMES))
def test_every_display_is_readable_in_every_theme(kind, name):
    display, paper = everything()[kind](theme=name), THEMES[name].paper
    assert len(plt.get_fignums()) == 1
    words_of(display)
    display.figure_.savefig(io.BytesIO(), format="png", dpi=40)  # a warning of the layout would be an error
    assert mpl.colors.to_hex(display.figure_.get_facecolor()).upper() == paper
    texts = [text for text in display.figure_.findobj(mpl.text.Text) if text.get_text() and text.get_visible()]
    assert len(texts) > 5
    for text in texts:
        assert contrast(mpl.colors.to_hex(text.get_color()), paper) >= 3, text.get_text()


@pytest.mark.parametrize("kind", list(everything()))
def test_every_display_is_drawn_again_where_it_is_told_to(kind):
    solid = {"subplot_kw": {"projection": "3d"}} if kind == "surface" else {}
    figure, (first, second) = plt.subplots(1, 2, **solid)
    display = everything()[kind](ax=first)
    assert np.ravel(display.ax_)[0] is first
    drawn = len(first.get_children())
    display.plot(second)
    assert np.ravel(display.ax_)[0] is second
    assert display.figure_ is figure
    assert len(second.get_children()) == drawn
    display.plot(second, legend=False, title="mine")
    assert plt.get_fignums() == [figure.number]


def test_a_theme_holds_inside_its_context_and_for_given_axes():
    X, y = clouds()
    model = LogisticRegression().fit(X, y)
    _, given = plt.subplots()
    with plots.theme("dark"):
        display = DecisionRegionsDisplay.from_estimator(model, X, y, fine=11, ax=given)
    assert mpl.colors.to_hex(given.get_facecolor()).upper() == THEMES["dark"].paper
    for text in (given.title, given.xaxis.label, *given.get_legend().get_texts(), *given.get_xticklabels()):
        assert contrast(mpl.colors.to_hex(text.get_color()), THEMES["dark"].paper) >= 7
    display.plot(given, theme="light")
    assert mpl.colors.to_hex(given.get_facecolor()).upper() == THEMES["light"].paper
    with pytest.raises(ValueError, match=r"theme is 'sepia'; it must be one of 'light', 'dark'"):
        display.plot(theme="sepia")


# ---------------------------------------------------------------------------------------------------------- regions


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        KernelPerceptron("rbf", reading="averaged"),
        GaussianNB(),
        KNeighborsClassifier(),
        OneVsRest(LeastSquaresClassifier()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_region_of_a_point_is_what_the_model_predicts_there(model):
    X, y = clouds(classes=3)
    model.fit(X, y)
    display = DecisionRegionsDisplay.from_estimator(model, X, y, fine=21)
    grid = np.column_stack([each.ravel() for each in np.meshgrid(display.across, display.up)])
    np.testing.assert_array_equal(display.classes[display.chosen.ravel()], model.predict(grid))
    np.testing.assert_array_equal(display.data["predicted"], model.predict(X))
    np.testing.assert_array_equal(display.wrong, np.flatnonzero(model.predict(X) != y))
    wrong = len(display.wrong)
    assert f"{wrong} row{'s are' if wrong != 1 else ' is'} classified wrongly." in words_of(display)
    if hasattr(model, "ambiguous"):
        np.testing.assert_array_equal(display.ambiguous.ravel(), model.ambiguous(grid))


@pytest.mark.parametrize("fine", [20, 21])
def test_boundaries_are_drawn_where_scores_are_equal_from_rim_to_rim(fine):
    X, y = clouds()
    model = LogisticRegression().fit(X, y)
    display = DecisionRegionsDisplay.from_estimator(model, X, y, fine=fine)
    (line,) = [c for c in display.ax_.collections if isinstance(c, mpl.contour.QuadContourSet)]
    ends = np.vstack([path.vertices for path in line.get_paths()])
    np.testing.assert_allclose(model.decision_function(ends), 0, atol=1e-9)
    low, high = np.array([display.across[0], display.up[0]]), np.array([display.across[-1], display.up[-1]])
    at_rim = (np.isclose(ends, low) | np.isclose(ends, high)).any(axis=1)
    assert at_rim.sum() == 2


@pytest.mark.parametrize("classes", [2, 3])
def test_in_the_best_plane_a_row_keeps_its_scores(classes):
    X, y = clouds(columns=5, classes=classes)
    X = X * [1, 10, 100, 0.1, 1] + 3
    model = LogisticRegression(l2=0.01).fit(X, y)
    display = DecisionRegionsDisplay.from_estimator(model, X, y, plane="best", fine=11)
    np.testing.assert_allclose(
        model.predict_proba(display.plane.at(display.plane.points)), model.predict_proba(X), atol=1e-9
    )
    assert display.plane.exact
    assert "the plane of the weights through 5 columns" in words_of(display)


def test_the_best_plane_of_a_model_without_weights_is_the_widest():
    X, y = clouds(columns=4)
    X[:, 0] = X[:, 1] + 0.01 * X[:, 0]
    display = DecisionRegionsDisplay.from_estimator(
        KernelPerceptron("rbf", reading="averaged").fit(X, y), X, plane="best", fine=5
    )
    U = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(
        np.square(display.plane.points).sum(axis=0), np.sort(np.linalg.svd(U)[1] ** 2)[::-1][:2], rtol=1e-9
    )
    assert not display.plane.exact


def test_columns_that_are_not_drawn_are_held_at_their_means():
    pandas = pytest.importorskip("pandas")
    X, y = clouds(columns=4)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = LogisticRegression().fit(frame, y)
    display = DecisionRegionsDisplay.from_estimator(model, frame, y, features=["d", "b"], probabilities=True, fine=9)
    assert display.plane.held == pytest.approx({"a": X[:, 0].mean(), "c": X[:, 2].mean()})
    point = np.array([[X[:, 0].mean(), display.up[3], X[:, 2].mean(), display.across[5]]])
    asked = model.predict_proba(pandas.DataFrame(point, columns=list("abcd"))).max()
    assert display.probability[3, 5] == pytest.approx(asked)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("d", "b")
    assert "held at the mean" in display.ax_.get_title()


def test_a_display_is_drawn_again_in_given_axes_and_makes_no_figure():
    X, y = clouds()
    display = DecisionRegionsDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, fine=9)
    assert len(plt.get_fignums()) == 1
    figure, (left, right) = plt.subplots(1, 2)
    assert display.plot(left).ax_ is left
    assert display.plot(right, title="mine", legend=False).figure_ is figure
    assert len(left.collections) == len(right.collections) > 0
    assert (right.get_title(), right.get_legend()) == ("mine", None)
    assert len(plt.get_fignums()) == 2


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "X has 4 columns, and a picture two: name them by features"),
        ({"features": ["x1", "height"]}, "features names 'height', and X has no such column; it has x0, x1, x2, x3"),
        ({"features": [0, 7]}, "features holds 7; X has 4 columns"),
        ({"features": [0]}, "needs two columns"),
        ({"features": [0, 0]}, "name 2 different columns"),
        ({"plane": "round"}, "plane is 'round'; it must be one of"),
        ({"plane": "best", "features": [0, 1]}, "leave features out"),
        ({"features": [0, 1], "fine": 2}, "3 points along each axis"),
        ({"features": [0, 1], "y": ["north"]}, r"y has shape \(1,\); a label for each of the 60 rows"),
        ({"features": [0, 1], "y": ["up"] * 60}, "y of row 0 is 'up', none of the classes"),
        ({"features": [0, 1], "X": np.ones((60, 3))}, "X has 3 columns, and LeastSquaresClassifier was fitted to 4"),
        ({"features": [0, 1], "X": np.full((60, 4), np.nan)}, r"X\[0, 0\] is nan"),
        ({"features": [0, 1], "probabilities": True}, "LeastSquaresClassifier has no predict_proba"),
    ],
)
def test_regions_that_cannot_be_drawn_are_refused(settings, says):
    X, y = clouds(columns=4)
    model = LeastSquaresClassifier().fit(X, y)
    with pytest.raises(ValueError, match=says):
        DecisionRegionsDisplay.from_estimator(model, **{"X": X, "y": y, **settings})
    assert not plt.get_fignums(), "bad input leaves no empty figure behind"


def test_what_has_not_learnt_is_refused():
    X, y = clouds()
    with pytest.raises(NotFittedError, match="This LogisticRegression has not learnt yet"):
        DecisionRegionsDisplay.from_estimator(LogisticRegression(), X, y)
    with pytest.raises(TypeError, match="The model is the class LogisticRegression, not an object"):
        DecisionRegionsDisplay.from_estimator(LogisticRegression, X, y)
    with pytest.raises(TypeError, match="ax is ndarray; DecisionRegionsDisplay draws on one axes"):
        DecisionRegionsDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, ax=np.ones(2))


# ----------------------------------------------------------------------------------------------------------- curves


def test_every_scaled_loss_with_a_bound_is_above_the_mistakes():
    display = SurrogateCurvesDisplay.of(*losses.ALL, margins=(-3, 4))
    mistakes = display.values["zero-one"]
    np.testing.assert_array_equal(mistakes, display.margins <= 0)
    for name, loss in zip(display.values, losses.ALL, strict=True):
        factor = loss.bound if np.isfinite(loss.bound) else 1.0
        np.testing.assert_allclose(display.values[name], factor * loss.value(display.margins), atol=1e-15)
        assert display.bounds[name] == bool((display.values[name] >= mistakes - 1e-12).all())
    assert [name for name, holds in display.bounds.items() if not holds] == ["perceptron"]
    assert "All but perceptron are at least the mistakes" in words_of(display)
    assert "log likelihood 1.89, 1, 0.452" in display.alt_text
    assert "log likelihood: (1/log 2)·log(1 + e⁻ᵐ)" in [t.get_text() for t in display.ax_.get_legend().get_texts()]


def test_losses_as_they_are_and_by_other_names():
    display = SurrogateCurvesDisplay.of("0-1", "log", "logistic-squared", scaled=False)
    assert list(display.values) == ["zero-one", "log likelihood", "logistic squared"]
    assert display.values["log likelihood"][display.margins == 0] == pytest.approx(np.log(2))
    assert display.bounds == {"zero-one": True, "log likelihood": False, "logistic squared": False}
    with pytest.raises(ValueError, match="There is no loss 'absolute'; give one of 'zero-one', 'squared'"):
        SurrogateCurvesDisplay.of("absolute")
    for margins in ((1, 1), (0, np.inf), 3):
        with pytest.raises(ValueError, match="margins is"):
            SurrogateCurvesDisplay.of("hinge", margins=margins)


# ------------------------------------------------------------------------------------------------------------ paths


def test_the_path_of_a_solver_goes_downhill_to_the_minimum():
    X, y = scenes.figure_4_1()
    found = surface("log", X, y, size=21)
    model = LogisticRegression(solver="gradient", init=[1.0, 3.0])
    steps = list(model.steps(X, y))
    display = LossSurfaceDisplay.from_surface(found, path=steps).plot()
    assert display.data["J"] == pytest.approx([step.value for step in steps])
    np.testing.assert_allclose(display.path[-1], found.minima[0].theta, rtol=1e-3)
    assert f"A path of {len(steps)} points from (" in words_of(display)
    (start,) = [line for line in display.ax_.lines if line.get_label() == "start"]
    np.testing.assert_array_equal(start.get_xydata()[0], [steps[0].intercept, steps[0].weights[0]])
    far = LossSurfaceDisplay.from_surface(found, path=[(0, 0), (99, 0)])
    assert "A path of 2 points from (0, 0), where J is 0.6931, to (99, 0)" in far.alt_text
    assert "; 1 of them outside the picture." in far.alt_text


def test_paths_of_other_models_are_refused():
    two = surface("log", *clouds(), size=5)
    with pytest.raises(ValueError, match=r"path\[0\] has 2 weights .* two weights and no intercept"):
        LossSurfaceDisplay.from_surface(two, path=LogisticRegression().steps(*clouds()))
    path = list(LogisticRegression(fit_intercept=False).steps(*clouds()))
    np.testing.assert_array_equal(LossSurfaceDisplay.from_surface(two, path=path).path[-1], path[-1].weights)
    for path, says in (([], "path is empty"), ([3], r"path\[0\] is 3; give a pair"), ([(0, np.inf)], "finite numbers")):
        with pytest.raises(ValueError, match=says):
            LossSurfaceDisplay.from_surface(two, path=path)


# ------------------------------------------------------------------------------------------- steps and certificates


@pytest.mark.parametrize("classes", [2, 3])
def test_steps_of_a_model_and_the_same_steps_given_are_one_picture(classes):
    X, y = clouds(classes=classes)
    model = Perceptron(max_passes=2)
    steps = []
    for step in model.steps(X, y):
        steps.append(step)
        if len(steps) == 7:
            break
    one = PerceptronStepsDisplay.from_estimator(model, X, y, count=4, first=3)
    other = PerceptronStepsDisplay.from_steps(steps, X, y, count=4, first=3)
    assert one.data == other.data
    assert one.data["row"] == [step.row for step in steps[2:6]]
    z = X @ np.transpose(steps[5].weights) + steps[5].intercept
    said = np.unique(y)[(z > 0).astype(int) if classes == 2 else z.argmax(axis=1)]
    assert one.data["wrong after"][-1] == int((said != y).sum())
    assert f"Updates 3 to 6 of Perceptron on 60 rows of two columns: {one.data['wrong before'][0]} wrong" in words_of(
        one
    )
    assert len(np.ravel(one.ax_)) == 4
    with pytest.raises(ValueError, match="fewer than 99 steps"):
        PerceptronStepsDisplay.from_steps(steps, X, y, first=99)
    with pytest.raises(ValueError, match="GaussianNB has no steps"):
        PerceptronStepsDisplay.from_estimator(GaussianNB(), X, y)


def test_the_certificate_of_separability_is_drawn_and_told():
    X, y = np.array([[0, 0], [0, 2], [2, 0], [2, 2]], float), list("aabb")
    apart = SeparabilityDisplay.from_data(X, y, theme="dark")
    assert words_of(apart) == (
        "4 rows of classes a, b. Separated: a line parts classes a and b, the nearest row is 1 away."
    )
    crossed = SeparabilityDisplay.from_result(separability(X, list("abba")), X, list("abba"), legend=False)
    assert crossed.data["multiplier"].sum() > 0
    assert sorted(crossed.data["row"]) == [0, 1, 2, 3]
    assert crossed.ax_.get_legend() is None
    with pytest.raises(TypeError, match=r"give what separatrix\.separability"):
        SeparabilityDisplay.from_result("overlap", X, y)
    with pytest.raises(ValueError, match="X has 3 columns; a picture needs two"):
        SeparabilityDisplay.from_data(np.ones((4, 3)), y)


# -------------------------------------------------------------------------------------------------------- responses


def test_the_response_along_a_column_is_the_models_and_crosses_at_its_threshold():
    X, y = scenes.figure_4_1()
    model = LogisticRegression().fit(X, y)
    display = ResponseDisplay.from_estimator(model, X, y)
    table = display.data
    np.testing.assert_allclose(table["score of 1"], model.decision_function(table["x0"][:, None]))
    np.testing.assert_allclose(table["P(1)"], model.predict_proba(table["x0"][:, None])[:, 1])
    assert display.thresholds == pytest.approx([-model.intercept_[0] / model.coef_[0, 0]])
    assert f"The predicted class changes at {display.thresholds[0]:.4g}." in words_of(display)
    assert display.dimension == 1
    left, right = display.figure_.axes
    assert np.mean(left.get_ylim()) == pytest.approx(0.5), "P = 1/2 is at the height of"
    assert np.mean(right.get_ylim()) == pytest.approx(0, abs=1e-12), "the score 0"


def test_the_thresholds_of_many_classes_are_where_two_scores_meet():
    X, y = clouds(columns=3, classes=3, n=90)
    model = LogisticRegression(l2=0.01).fit(X, y)
    display = ResponseDisplay.from_estimator(model, X, y, features=1, response="score")
    assert len(display.thresholds)
    for t in display.thresholds:
        row = X.mean(axis=0)
        row[1] = t
        scores = np.sort(model.decision_function(row[None])[0])
        assert scores[-1] == pytest.approx(scores[-2], abs=1e-9)
    assert display.held == pytest.approx({"x0": X[:, 0].mean(), "x2": X[:, 2].mean()})
    assert "X0 held at" in words_of(display)


@pytest.mark.parametrize("response", ["score", "probability"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_surface_over_two_columns_is_the_models(response, classes):
    X, y = clouds(columns=3, classes=classes)
    model = LogisticRegression(l2=0.01).fit(X, y)
    display = ResponseDisplay.from_estimator(model, X, y, features=[0, 2], response=response, target="north")
    assert display.dimension == 3
    assert hasattr(display.ax_, "zaxis")
    a, b = display.data["x0"], display.data["x2"]
    rows = np.column_stack([a, np.full(len(a), X[:, 1].mean()), b])
    if response == "probability":
        np.testing.assert_allclose(display.probabilities, model.predict_proba(rows), atol=1e-12)
    else:
        z = model.decision_function(rows)
        low = -z.max() if classes == 2 else z[:, 0].min()
        assert f"the score of north is from {low:.3g} to" in words_of(display)
    assert any(line.get_label() == "boundary" for line in display.ax_.lines)
    _, solid = plt.subplots(subplot_kw={"projection": "3d"})
    assert display.plot(solid, theme="dark").ax_ is solid
    with pytest.raises(ValueError, match="A surface needs axes of three dimensions"):
        display.plot(plt.subplots()[1])


def test_models_answer_with_what_they_have():
    X, y = clouds()
    bayes = ResponseDisplay.from_estimator(GaussianNB().fit(X, y), X, y, features=0)
    assert bayes.scores is None
    squares = ResponseDisplay.from_estimator(LeastSquaresClassifier().fit(X, y), X, y, features=0)
    assert squares.probabilities is None
    label = squares.ax_.get_ylabel()
    assert label.startswith("score")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "X has 3 columns; name one or two by features"),
        ({"dimension": 1}, "X has 3 columns; name one by features"),
        ({"dimension": 2}, "dimension is 2; give 1, a curve over one column, or 3, a surface over two"),
        ({"features": [0, 1], "dimension": 1}, "a curve has one column, a surface two"),
        ({"features": [0, 1, 2]}, "name 2 different columns at most"),
        ({"features": "height"}, "features names 'height'"),
        ({"features": [0, 1], "response": "both"}, "response is 'both'; it must be one of 'score', 'probability'"),
        ({"features": 0, "response": "probability"}, "LeastSquaresClassifier has no predict_proba"),
        ({"features": [0, 1], "target": "up"}, r"target is 'up'; the classes are \['north', 'south'\]"),
        ({"features": 0, "y": [0, 1]}, "a label for each of the 60 rows"),
    ],
)
def test_responses_that_cannot_be_drawn_are_refused(settings, says):
    X, y = clouds(columns=3)
    model = LeastSquaresClassifier().fit(X, y)
    with pytest.raises(ValueError, match=says):
        ResponseDisplay.from_estimator(model, **{"X": X, "y": y, **settings})
    with pytest.raises(NotFittedError, match="has not learnt yet"):
        ResponseDisplay.from_estimator(LeastSquaresClassifier(), X, y)
    assert not plt.get_fignums()


def test_a_model_that_only_predicts_has_no_response():
    from sklearn.neighbors import NearestCentroid

    X, y = clouds(classes=3)
    pairs = SVC(decision_function_shape="ovo").fit(*clouds(classes=4))
    with pytest.raises(ValueError, match="SVC gives 6 scores for 4 classes; one for each class is needed"):
        ResponseDisplay.from_estimator(pairs, *clouds(classes=4), features=0)

    class Bare:
        classes_ = np.unique(y)

        def predict(self, X):
            return NearestCentroid().fit(*clouds(classes=3)).predict(X)

    with pytest.raises(ValueError, match="Bare has neither decision_function"):
        ResponseDisplay.from_estimator(Bare(), X, y)


# ---------------------------------------------------------------------------------------------------------- weights


@pytest.mark.parametrize("method", ["wald", "profile"])
def test_weights_and_their_ends_are_those_of_the_inference_in_standard_deviations(method):
    X, y = clouds(columns=3, n=200)
    X = X * [1, 100, 0.01]
    model = LogisticRegression().fit(X, y)
    found = model.inference(X, y)
    display = WeightsDisplay.from_estimator(model, X, y, level=0.9, method=method)
    np.testing.assert_allclose(display.weights[0], found.coefficients[1:] * X.std(axis=0))
    ends = found.interval(0.9, method)[1:] * X.std(axis=0)[:, None]
    np.testing.assert_allclose(np.column_stack([display.data["from"], display.data["to"]]), ends)
    clear = int((ends[:, 0] * ends[:, 1] > 0).sum())
    assert f"Intervals of 0.9 ({method}): {clear} of 3 leave zero out." in words_of(display)
    as_they_are = WeightsDisplay.from_estimator(model, X, y, standardised=False)
    np.testing.assert_array_equal(as_they_are.weights[0], found.coefficients[1:])
    turned = WeightsDisplay.from_estimator(model, X, y, reference="south")
    np.testing.assert_allclose(turned.weights, -display.weights)
    assert (turned.equations, turned.reference) == (("north",), "south")


def test_weights_of_weighted_rows_are_per_weighted_standard_deviation():
    X, y = clouds(columns=2, n=120)
    cost = np.arange(120) % 3.0
    display = WeightsDisplay.from_estimator(LogisticRegression().fit(X, y, cost), X, y, sample_weight=cost)
    np.testing.assert_allclose(display.scales, np.repeat(X, cost.astype(int), axis=0).std(axis=0))
    assert display.intervals is not None


def test_where_inference_is_refused_marks_are_hollow_and_the_reason_is_under_the_picture():
    X, y = clouds(n=200)
    model = LogisticRegression(l2=0.1).fit(X, y)
    display = WeightsDisplay.from_estimator(model, X, y)
    assert display.intervals is None
    (marks,) = [line for line in display.ax_.lines if line.get_marker() == "^"]
    assert marks.get_markerfacecolor() == THEMES["light"].paper
    np.testing.assert_allclose(marks.get_xdata(), model.coef_[0] * X.std(axis=0))
    reason = model.inference(X, y).refused
    assert reason in words_of(display)
    assert reason in display.ax_.get_xlabel().replace("\n", " ")
    forced = WeightsDisplay.from_estimator(model, X, y, force=True)
    assert forced.forced
    assert forced.intervals is not None
    assert all(label.get_text().startswith("† ") for label in forced.ax_.get_yticklabels())
    assert f"† Forced: {reason}" in words_of(forced)


@pytest.mark.parametrize("penalty", [0.0, 0.1])
def test_weights_of_many_classes_are_against_a_reference(penalty):
    X, y = clouds(classes=3, n=300)
    model = LogisticRegression(l2=penalty).fit(X, y)
    display = WeightsDisplay.from_estimator(model, X, y, reference="south", standardised=False)
    assert (display.equations, display.reference) == (("north", "west"), "south")
    np.testing.assert_allclose(display.weights, np.delete(model.coef_, 1, 0) - model.coef_[1], atol=1e-12)
    assert (display.intervals is None) == (penalty > 0)
    assert display.places == (0, 2), "a class keeps its colour"
    words_of(display)
    plain = WeightsDisplay.from_estimator(model, X, y, standardised=False)
    np.testing.assert_allclose(plain.weights, model.coef_[:2] - model.coef_[2], atol=1e-12)


def test_learners_without_inference_show_their_weights():
    X, y = clouds(classes=3)
    model = LeastSquaresClassifier().fit(X, y)
    display = WeightsDisplay.from_estimator(model, X, y)
    np.testing.assert_allclose(display.weights, model.coef_ * X.std(axis=0))
    assert "No intervals: LeastSquaresClassifier has weights without standard errors." in words_of(display)
    squared = LogisticRegression(objective="squared", starts=1).fit(*clouds())
    assert WeightsDisplay.from_estimator(squared, *clouds()).intervals is None


def test_weights_of_pairs_are_not_taken_for_weights_of_classes():
    X, y = clouds(classes=3)
    pairs = SVC(kernel="linear").fit(X, y)
    assert pairs.coef_.shape == (3, 2), "three pairs of three classes"
    with pytest.raises(ValueError, match="3 rows of weights for 3 classes, which are not those of its scores"):
        WeightsDisplay.from_estimator(pairs, X, y)
    assert not MarginsDisplay.from_estimator(pairs, X, y).distances


def test_weights_of_features_are_per_standard_deviation_of_the_features():
    X, y = clouds(n=300)
    model = LogisticRegression(features=features.Polynomial(2)).fit(X, y)
    display = WeightsDisplay.from_estimator(model, X, y)
    assert display.columns == model.features_.names
    np.testing.assert_allclose(display.weights[0], model.coef_[0] * model.features_.transform(X).std(axis=0))
    naive = GaussianNaiveBayes().fit(X, y)
    statistics = WeightsDisplay.from_estimator(naive, X, y)
    np.testing.assert_allclose(statistics.weights, naive.coef_ * np.asarray(naive.features(X)).std(axis=0))
    assert not MarginsDisplay.from_estimator(naive, X, y).distances


def test_of_many_columns_the_largest_weights_are_drawn():
    X, y = clouds(columns=9, n=80)
    model = LeastSquaresClassifier().fit(X, y)
    display = WeightsDisplay.from_estimator(model, X, y, most=4)
    sizes = np.abs(model.coef_[0] * X.std(axis=0))
    assert set(display.shown) == set(np.argsort(sizes)[-4:])
    assert "5 columns with smaller weights left out" in display.ax_.get_xlabel()
    assert len(display.data["weight"]) == 9


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"reference": "up"}, r"reference is 'up'; the classes are \['north', 'south'\]"),
        ({"level": 2}, "level is 2; it must be between 0 and 1"),
        ({"method": "guess"}, "method is 'guess'"),
        ({"most": 0}, "most is 0"),
        ({"y": ["north"]}, "a label for each of the 200 rows"),
        ({"model": KNeighborsClassifier().fit(*clouds(n=200))}, "KNeighborsClassifier has no weights of its columns"),
    ],
)
def test_weights_that_cannot_be_drawn_are_refused(settings, says):
    X, y = clouds(n=200)
    with pytest.raises(ValueError, match=says):
        WeightsDisplay.from_estimator(**{"model": LogisticRegression().fit(X, y), "X": X, "y": y, **settings})
    assert not plt.get_fignums()


# ---------------------------------------------------------------------------------------------------------- margins


@pytest.mark.parametrize("kind", ["histogram", "sorted", "band"])
def test_margins_of_two_classes_are_signed_distances(kind):
    X, y = clouds()
    model = LogisticRegression().fit(X, y)
    display = MarginsDisplay.from_estimator(model, X, y, kind=kind)
    np.testing.assert_allclose(display.margins, np.where(y == "south", 1, -1) * model.distance(X))
    np.testing.assert_array_equal(display.wrong, np.flatnonzero(model.predict(X) != y))
    wrong = len(display.wrong)
    assert f"{wrong} of 60 rows ({wrong / 60:.1%}) on the wrong side" in words_of(display)
    assert f"{wrong} of 60 rows" in display.ax_.get_title()
    assert f"from {display.margins.min():.3g} to {display.margins.max():.3g}" in display.alt_text


def test_margins_of_many_classes_are_distances_where_the_row_is_right():
    X, y = clouds(columns=4, classes=3)
    model = LogisticRegression(l2=0.01).fit(X, y)
    display = MarginsDisplay.from_estimator(model, X, y)
    right = model.predict(X) == y
    np.testing.assert_array_equal(display.margins > 0, right)
    np.testing.assert_allclose(display.margins[right], model.distance(X)[right])
    assert (display.kind, display.distances) == ("histogram", True)
    heights = sum(patch.get_xy()[:, 1].max() for patch in display.ax_.patches[:1])
    assert heights == np.histogram(display.margins[y == "north"], np.histogram_bin_edges(display.margins, 30))[0].max()


def test_the_band_of_the_largest_margin_is_borne_by_its_support_rows():
    X, y = np.array([[0.0, 0.0], [0.0, 2.0], [-1.0, 1.0], [2.0, 0.0], [3.0, 1.0]]), list("aaabb")
    model = MaxMarginClassifier().fit(X, y)
    display = MarginsDisplay.from_estimator(model, X, y)
    assert display.kind == "band"
    assert display.half == pytest.approx(model.margin_)
    assert display.margins[model.support_] == pytest.approx(model.margin_)
    (rings,) = [c for c in display.ax_.collections if c.get_label() == f"support rows ({len(model.support_)})"]
    np.testing.assert_array_equal(rings.get_offsets(), X[model.support_])
    dashed = [line.get_xydata() for line in display.ax_.lines if line.get_linestyle() == "--"]
    assert len(dashed) == 2
    for ends in dashed:
        assert np.abs(model.decision_function(ends)) == pytest.approx(1)
    assert f"The band reaches {model.margin_:.4g} to each side; support rows: 2." in words_of(display)
    other = MarginsDisplay.from_estimator(LeastSquaresClassifier().fit(X, y), X, y)
    assert other.ringed_words == "nearest rows"
    assert other.half == other.margins.min()


def test_models_without_weights_have_leads_of_scores():
    X, y = clouds(classes=3)
    model = KernelPerceptron("rbf", reading="averaged").fit(X, y)
    display = MarginsDisplay.from_estimator(model, X, y, theme="dark")
    z = model.decision_function(X)
    own = np.searchsorted(model.classes_, y)
    others = np.array([np.delete(row, k).max() for row, k in zip(z, own, strict=True)])
    np.testing.assert_allclose(display.margins, z[np.arange(60), own] - others)
    assert words_of(display).startswith("Leads of the score of 60 rows of KernelPerceptron")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"kind": "pie"}, "kind is 'pie'; it must be one of 'histogram', 'sorted', 'band'"),
        ({"kind": "band"}, "needs a linear model of two columns, and X has 3 columns"),
        ({"y": list("ab")}, "a label for each of the 60 rows"),
        ({"model": KNeighborsClassifier().fit(*clouds(columns=3))}, "KNeighborsClassifier has no decision_function"),
    ],
)
def test_margins_that_cannot_be_drawn_are_refused(settings, says):
    X, y = clouds(columns=3)
    with pytest.raises(ValueError, match=says):
        MarginsDisplay.from_estimator(**{"model": LeastSquaresClassifier().fit(X, y), "X": X, "y": y, **settings})
    with pytest.raises(NotFittedError, match="has not learnt yet"):
        MarginsDisplay.from_estimator(MaxMarginClassifier(), X, y)


def test_without_weights_there_is_no_margin():
    X, y = clouds()
    with pytest.warns(NotSeparableWarning, match="rows"):
        model = MaxMarginClassifier().fit(X, y)
    with pytest.raises(ValueError, match="All weights of MaxMarginClassifier are zero"):
        MarginsDisplay.from_estimator(model, X, y)


# ------------------------------------------------------------------------------------------------------ convergence


def test_values_above_the_best_fall_to_the_gap_that_is_proved():
    X, y = clouds(n=200)
    models = {solver: LogisticRegression(solver=solver, init="zero").fit(X, y) for solver in ("newton", "gradient")}
    display = ConvergenceDisplay.compare(models)
    for curve, (name, model) in zip(display.curves, models.items(), strict=True):
        assert curve.name == name
        np.testing.assert_array_equal(curve.values, [record.value for record in model.history_])
        np.testing.assert_array_equal(curve.passes, [record.passes for record in model.history_])
        assert (curve.drawn > 0).all(), "a logarithm needs it"
        above = curve.values - display.best
        seen = above > 1e-14
        np.testing.assert_array_equal(curve.drawn[seen], above[seen])
    least = min(models.values(), key=lambda model: model.history_[-1].value)
    assert display.best == pytest.approx(least.history_[-1].value - least.verdict_.certificate.gap, rel=1e-15)
    assert display.ax_.get_yscale() == "log"
    assert f"after {models['gradient'].history_[-1].passes:.4g} passes" in words_of(display)
    assert "newton ended optimal, gradient ended optimal." in display.alt_text
    gradients = ConvergenceDisplay.compare(models, quantity="gradient", by="seconds")
    assert gradients.curves[0].drawn[-1] == models["newton"].history_[-1].gradient_norm
    assert gradients.ax_.get_xlabel() == "seconds"


def test_where_weights_grow_for_ever_values_are_above_their_limit():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [2.0]])
    apart = LogisticRegression().fit(X[:4], [0, 0, 1, 1])
    assert apart.verdict_.status == "separated"
    assert ConvergenceDisplay.from_estimator(apart).best == 0
    touching = LogisticRegression().fit(X, [0, 0, 1, 1, 0])
    assert touching.verdict_.status == "quasi-separated"
    display = ConvergenceDisplay.from_estimator(touching)
    assert display.best == pytest.approx(touching.verdict_.certificate.value, abs=1e-12)
    assert (display.curves[0].drawn > 0).all()


def test_of_several_starts_each_is_a_curve_and_trials_are_none():
    X, y = clouds(n=100)
    model = LogisticRegression(objective="squared", starts=3, random_state=0).fit(X, y)
    display = ConvergenceDisplay.from_estimator(model)
    assert [curve.start for curve in display.curves] == [0, 1, 2]
    assert "LogisticRegression, start 2: from" in words_of(display)
    chosen = LogisticRegression(l2="cv", random_state=0).fit(X, y)
    (curve,) = ConvergenceDisplay.from_estimator(chosen).curves
    assert len(curve.values) == sum(record.start == 0 for record in chosen.history_) < len(chosen.history_)


def test_perceptrons_show_the_mistakes_of_each_pass_and_margins_their_gap():
    X, y = clouds()
    X = X + 6 * (y == "south")[:, None]
    model = Perceptron().fit(X, y)
    display = ConvergenceDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.curves[0].drawn, model.mistakes_)
    assert display.ax_.get_yscale() == "linear"
    assert words_of(display).startswith("Mistakes in the pass of 1 curve.")
    wide = MaxMarginClassifier().fit(X, y)
    (curve,) = ConvergenceDisplay.from_estimator(wide).curves
    assert curve.drawn[-1] == (wide.history_[-1].upper - wide.history_[-1].lower) / wide.history_[-1].upper
    with pytest.raises(ValueError, match="'margin' is MaxMarginClassifier, whose history has 'gap' and not 'mistakes'"):
        ConvergenceDisplay.compare({"perceptron": model, "margin": wide})


def test_histories_that_cannot_be_drawn_are_refused():
    X, y = clouds()
    fitted = LogisticRegression().fit(X, y)
    for models, settings, says in (
        ({}, {}, "compare() needs models by name"),
        ({"a": GaussianNB().fit(X, y)}, {}, "'a' is GaussianNB, which keeps no history_"),
        ({"a": LeastSquaresClassifier().fit(X, y)}, {}, "which reads its rows once"),
        ({"a": fitted}, {"by": "days"}, "by is 'days'"),
        ({"a": fitted}, {"quantity": "luck"}, "quantity is 'luck'"),
        ({"a": fitted, "b": LogisticRegression(l2=1).fit(X, y)}, {}, "values of different things cannot be compared"),
    ):
        with pytest.raises(ValueError, match=re.escape(says)):
            ConvergenceDisplay.compare(models, **settings)
    with pytest.raises(NotFittedError, match="has not learnt yet"):
        ConvergenceDisplay.from_estimator(LogisticRegression())
    assert not plt.get_fignums()
