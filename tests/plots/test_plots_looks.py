"""What a reader sees of every display: marks of the right size, limits, legends that fit, labels that hide nothing."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB

from separatrix import BernoulliNaiveBayes, LogisticRegression, Perceptron, PoissonNaiveBayes, scenes, surface
from separatrix.plots import (
    ConvergenceDisplay,
    DecisionRegionsDisplay,
    LossSurfaceDisplay,
    MarginsDisplay,
    PerceptronStepsDisplay,
    ResponseDisplay,
    SeparabilityDisplay,
    draw_regions,
)
from separatrix.plots.style import class_words, ring_size, row_size


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def clouds(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + 1.5 * y[:, None], y


def counts(n=80):
    rng = np.random.default_rng(1)
    y = np.arange(n) % 2
    return rng.poisson(np.where(y[:, None] == 1, [5.0, 2.0], [2.0, 4.0])).astype(float), y


def test_the_fewer_the_rows_the_larger_their_marks():
    sizes = [row_size(n) for n in (1, 10, 20, 50, 150, 400, 10**6)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 3 * row_size(150) > 5 * sizes[-1]
    for n in (4, 40, 400):
        assert ring_size(n) > ring_size(n, 2) > row_size(n)
        X, y = clouds(n)
        ax = DecisionRegionsDisplay.from_estimator(LogisticRegression(l2=0.1).fit(X, y), X, y, fine=11).ax_
        marks = [c for c in ax.collections if str(c.get_label()).startswith("class ")]
        assert [c.get_sizes()[0] for c in marks] == [row_size(n)] * 2
        band = MarginsDisplay.from_estimator(LogisticRegression(l2=0.1).fit(X, y), X, y, kind="band").ax_
        marks = [c for c in band.collections if str(c.get_label()).startswith("class ")]
        assert [c.get_sizes()[0] for c in marks] == [row_size(n)] * 2


def test_negative_classes_have_a_minus_and_words_keep_their_hyphens():
    assert [class_words(label) for label in (-1, 1, -0.5, "-x", "no-one")] == [
        "class −1", "class 1", "class −0.5", "class -x", "class no-one",
    ]  # fmt: skip


def test_the_legend_counts_the_rows_of_each_class_and_the_mistakes():
    X, y = clouds(61)
    model = LogisticRegression().fit(X, y)
    wrong = int((model.predict(X) != y).sum())
    ax = DecisionRegionsDisplay.from_estimator(model, X, y, fine=11).ax_
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said == ["class 0 (31)", "class 1 (30)", f"classified wrongly ({wrong})"]


# ----------------------------------------------------------------------------------------------------------- limits


def test_limits_are_the_ends_of_the_picture_and_rows_beyond_are_told():
    X, y = clouds()
    model = LogisticRegression().fit(X, y)
    display = DecisionRegionsDisplay.from_estimator(model, X, y, limits=((-1, 2), None), fine=11)
    assert display.ax_.get_xlim() == (-1, 2)
    plain = DecisionRegionsDisplay.from_estimator(model, X, y, fine=11)
    assert display.ax_.get_ylim() == plain.ax_.get_ylim()
    outside = int(((X[:, 0] < -1) | (X[:, 0] > 2)).sum())
    assert outside > 1
    assert f"{outside} rows are outside the picture." in display.alt_text
    assert "outside" not in plain.alt_text
    drawn = [c for c in display.ax_.collections if str(c.get_label()).startswith("class ")]
    assert sum(len(c.get_offsets()) for c in drawn) == len(X) - outside


def test_limits_of_the_best_plane_are_in_its_own_units():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), np.arange(40) % 2
    model = LogisticRegression(l2=0.1).fit(X, y)
    display = DecisionRegionsDisplay.from_estimator(model, X, y, plane="best", limits=((-1, 1), (-2, 2)), fine=11)
    assert (display.across[0], display.up[-1]) == (-1, 2)
    points = display.plane.points
    assert display._seen.tolist() == [abs(a) <= 1 and abs(b) <= 2 for a, b in points]


def test_points_of_the_best_plane_that_a_model_does_not_know_are_refused_and_not_moved():
    X, y = counts()
    model = PoissonNaiveBayes().fit(np.column_stack([X, X[:, :1]]), y)
    with pytest.raises(ValueError, match="Negative values in data"):
        DecisionRegionsDisplay.from_estimator(model, np.column_stack([X, X[:, :1]]), y, plane="best")


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        (3, r"limits is 3; give \(\(left, right\), \(bottom, top\)\)"),
        ((0, 1), "give .*left, right"),
        (((0, 1, 2), None), "give .*left, right"),
        (((1, 0), None), r"limits of 'x0' are \(1.0, 0.0\); two finite numbers are needed, the smaller one first"),
        ((None, (0, np.inf)), "limits of 'x1' are .* finite"),
    ],
)
def test_limits_that_make_no_picture_are_refused(limits, says):
    X, y = clouds()
    with pytest.raises(ValueError, match=says):
        DecisionRegionsDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, limits=limits)


@pytest.mark.parametrize("learner", [PoissonNaiveBayes, MultinomialNB])
def test_pictures_of_counts_begin_at_zero_and_show_rows_of_zeros_whole(learner):
    X, y = counts()
    model = learner().fit(X, y)
    assert (X.min(axis=0) == 0).all()
    display = DecisionRegionsDisplay.from_estimator(model, X, y, fine=21)
    assert (display.across[0], display.up[0]) == (0, 0)
    assert display.across[-1] > X[:, 0].max()
    marks = [c for c in display.ax_.collections if str(c.get_label()).startswith("class ")]
    assert sum(len(c.get_offsets()) for c in marks) == len(X)
    assert not any(c.get_clip_on() for c in marks)
    curve = ResponseDisplay.from_estimator(model, X, y, features=0, response="probability")
    assert curve.grid[0][0] == 0
    assert draw_regions(model, X, y, fine=21).get_xlim()[0] == 0


def test_what_the_model_does_not_know_cannot_be_asked_for():
    X, y = counts()
    with pytest.raises(ValueError, match=r"limits of 'x0' are \(-1.0, 3.0\), and PoissonNaiveBayes .* from 0 to inf"):
        DecisionRegionsDisplay.from_estimator(PoissonNaiveBayes().fit(X, y), X, y, limits=((-1, 3), None))


def test_of_whole_numbers_each_has_a_cell_with_its_own_class():
    X, y = counts()
    X = np.column_stack([X > 3, X[:, 0] > 2]).astype(float)
    model = BernoulliNaiveBayes().fit(X, y)
    display = DecisionRegionsDisplay.from_estimator(model, X, y, features=(0, 1), fine=20)
    assert (display.across[0], display.across[-1]) == (-0.5, 1.5)
    held = float(np.round(X[:, 2].mean()))
    assert display.plane.held == {"x2": held}
    assert display.plane.note == f"x2 = {held:g} (held next to the mean)"
    for i, j in np.ndindex(20, 20):
        corner = [[float(display.across[j] > 0.5), float(display.up[i] > 0.5), held]]
        assert model.classes_[display.chosen[i, j]] == model.predict(corner)[0]


# ---------------------------------------------------------------------------------------------------------- legends


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_legends_below_are_inside_the_figure_and_under_no_other_axes(shape, layout):
    X, y = clouds()
    labels = np.array(["those below the line", "those above it"])[y]
    model = LogisticRegression().fit(X, labels)
    figure, axes = plt.subplots(*shape, figsize=(9, 8), layout=layout, squeeze=False)
    for ax in axes.ravel():
        DecisionRegionsDisplay.from_estimator(model, X, labels, fine=11, ax=ax)
    figure.draw_without_rendering()
    for (i, j), ax in np.ndenumerate(axes):
        legend, frame = ax.get_legend().get_window_extent(), ax.get_window_extent()
        assert legend.y0 >= 0
        assert legend.x0 >= 0
        assert legend.x1 <= figure.bbox.x1
        assert legend.width <= 1.02 * frame.width
        if i + 1 < shape[0]:
            assert legend.y0 >= axes[i + 1, j].title.get_window_extent().y1


def test_legends_in_parts_of_a_figure_are_drawn():
    X, y = clouds()
    figure = plt.figure()
    for part in figure.subfigures(1, 2):
        DecisionRegionsDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, fine=11, ax=part.add_subplot())
    figure.draw_without_rendering()
    for ax in figure.axes:
        assert ax.get_legend().get_window_extent().y0 >= 0


def test_a_legend_with_long_names_is_no_wider_than_the_axes():
    X, y = clouds()
    models = {f"{name}, from weights of zero": LogisticRegression(solver=name, init="zero").fit(X, y)
              for name in ("newton", "lbfgs", "gradient")}  # fmt: skip
    display = ConvergenceDisplay.compare(models)
    display.figure_.draw_without_rendering()
    assert display.ax_.get_legend().get_window_extent().width <= 1.02 * display.ax_.get_window_extent().width
    other = SeparabilityDisplay.from_data(X, y, ax=plt.subplots()[1])
    other.figure_.draw_without_rendering()
    assert other.ax_.get_legend().get_window_extent().y0 >= 0


# ------------------------------------------------------------------------------------- landscapes, best and updates


def test_a_landscape_has_a_legend_with_a_path_and_without():
    found = surface("log", *scenes.figure_4_1(), size=21)
    for path, words in ((None, ["minimum"]), ([(0, 0), (1, 1)], ["minimum", "start", "end"])):
        ax = LossSurfaceDisplay.from_surface(found, path=path).plot().ax_
        assert [text.get_text() for text in ax.get_legend().get_texts()] == words
    assert LossSurfaceDisplay.from_surface(found).plot(legend=False).ax_.get_legend() is None


@pytest.mark.parametrize("angle", np.arange(0, 360, 30))
def test_the_value_of_the_minimum_is_written_off_the_path(angle):
    found = surface("log", *scenes.figure_4_1(), size=21)
    end = np.array(found.minima[0].theta)
    way = end + 3 * np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    display = LossSurfaceDisplay.from_surface(found, path=[way, end]).plot()
    display.figure_.draw_without_rendering()
    (label,) = [text for text in display.ax_.texts if text.get_text().startswith("0.")]
    box, frame = label.get_window_extent(), display.ax_.get_window_extent()
    points = display.ax_.transData.transform(way + np.linspace(0, 1, 200)[:, None] * (end - way))
    assert not any(box.contains(*point) for point in points)
    assert frame.contains(box.x0, box.y0)
    assert frame.contains(box.x1, box.y1)


def test_the_best_value_can_be_given_and_is_named_on_the_axis():
    X, y = clouds()
    model, short = LogisticRegression().fit(X, y), LogisticRegression(solver="gradient", max_passes=9)
    with pytest.warns(match="passes"):
        short.fit(X, y)
    least = model.history_[-1].value
    display = ConvergenceDisplay.from_estimator(short, best=least)
    assert display.best == least
    np.testing.assert_allclose(display.curves[0].drawn, [r.value - least for r in short.history_])
    assert f"{least:.4g}" in display.ax_.get_ylabel()
    assert f"Value above the best, {least:.6g}, of 1 curve." in display.alt_text
    with pytest.raises(ValueError, match=r"best is 0.9, and 'LogisticRegression' has reached .*, which is lower"):
        ConvergenceDisplay.from_estimator(model, best=0.9)
    with pytest.raises(ValueError, match="best is 'low'; it must be a finite number"):
        ConvergenceDisplay.from_estimator(model, best="low")
    with pytest.raises(ValueError, match=r"best is 0.1, and 'gradient' is drawn as it is"):
        ConvergenceDisplay.from_estimator(model, best=0.1, quantity="gradient")


def test_rows_on_the_line_are_told_since_predict_and_perceptron_differ_about_them():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), np.array([1, 0, 0])
    display = PerceptronStepsDisplay.from_estimator(Perceptron(fit_intercept=False), X, y, count=1)
    assert display.data["on the line after"] == [2]
    assert np.ravel(display.ax_)[0].get_title() == "update 1: row 0\n1 → 0 wrong, 2 on the line"
