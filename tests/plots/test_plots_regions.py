"""Pictures of regions, and where the votes leave them open."""

import numpy as np
import pytest

from separatrix import LeastSquaresClassifier, OneVsOne, OneVsRest

plots = pytest.importorskip("separatrix.plots")
plt = pytest.importorskip("matplotlib.pyplot")


def clouds():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 30)
    return np.repeat([[0, 3], [3, -2], [-3, -2]], 30, axis=0) + rng.normal(size=(90, 2)), y


def test_what_is_hatched_is_what_is_ambiguous():
    from separatrix.plots.decision_regions import regions_of

    X, y = clouds()
    model = OneVsRest(LeastSquaresClassifier()).fit(X, y)
    found = regions_of(model, X, fine=41)
    grid = np.column_stack([each.ravel() for each in np.meshgrid(found.across, found.up)])
    np.testing.assert_array_equal(found.ambiguous.ravel(), model.ambiguous(grid))
    np.testing.assert_array_equal(found.classes[found.chosen.ravel()], model.predict(grid))
    assert found.ambiguous.any()


def test_the_picture_and_its_words():
    X, y = clouds()
    for model in (OneVsRest(LeastSquaresClassifier(), classifiers="K-1"), OneVsOne(LeastSquaresClassifier())):
        model.fit(X, y)
        ax = plots.draw_regions(model, X, y, fine=61)
        assert len(ax.collections) >= 6
        said = plots.describe_regions(model, X, y, fine=61)
        assert said.startswith(f"Regions of {type(model).__name__} over 90 rows: a ")
        plt.close("all")
    plain = LeastSquaresClassifier().fit(X, y)
    assert "No part of it is left open." in plots.describe_regions(plain, X, y, fine=31)
    _, ax = plt.subplots()
    assert plots.draw_regions(plain, X, y, ax=ax, fine=31) is ax
    plt.close("all")


def test_frames_keep_their_names():
    pandas = pytest.importorskip("pandas")
    X, y = clouds()
    frame = pandas.DataFrame(X, columns=["u", "v"])
    model = OneVsOne(LeastSquaresClassifier()).fit(frame, y)
    assert "90 rows" in plots.describe_regions(model, frame, y, fine=21)


def test_what_cannot_be_drawn():
    X, y = clouds()
    model = LeastSquaresClassifier().fit(X, y)
    with pytest.raises(ValueError, match="needs rows of two columns"):
        plots.draw_regions(model, np.ones((5, 3)), y[:5])
    with pytest.raises(ValueError, match=r"y has shape \(5,\)"):
        plots.draw_regions(model, X, y[:5])
