"""The picture of a loss shows the surface and marks the minima that were found."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from separatrix import scenes, surface
from separatrix.plots import LossSurfaceDisplay, describe_slice, draw_slice
from separatrix.plots.loss_surface import legend_entries
from separatrix.theory.surfaces.plane import NAMES


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def seen(name, **ranges):
    return surface(name, *scenes.example_4_5(), size=41, **ranges)


def test_the_minimum_is_marked_where_it_is_with_its_value():
    found = seen("log")
    display = LossSurfaceDisplay.from_surface(found).plot()
    (star,) = [line for line in display.ax_.lines if line.get_marker() == "*"]
    assert star.get_xydata()[0] == pytest.approx(found.minima[0].theta)
    assert "0.637" in [text.get_text() for text in display.ax_.texts]
    assert display.ax_.get_xlim() == (found.theta0[0], found.theta0[-1])
    assert display.ax_.get_xlabel() == "θ₀"


def test_the_region_of_fewest_mistakes_is_outlined_and_marked_inside():
    found = seen("0-1", theta0=(-20, 20), theta1=(-5, 5))
    ax = LossSurfaceDisplay.from_surface(found).plot().ax_
    (mark,) = [line for line in ax.lines if line.get_marker() == "s"]
    assert found.at(*mark.get_xydata()[0]) == found.minima[0].value
    (outline,) = ax.patches
    for corner in outline.get_xy()[1:3]:
        assert -corner[0] / corner[1] in (pytest.approx(-1.5), pytest.approx(-0.5))


def test_an_arrow_shows_the_way_to_infinity():
    found = seen("logistic-squared")
    ax = LossSurfaceDisplay.from_surface(found).plot().ax_
    far = [minimum for minimum in found.minima if not minimum.attained]
    arrows = [text for text in ax.texts if text.arrow_patch is not None]
    assert len(arrows) == len(far) > 0
    for arrow, minimum in zip(arrows, far, strict=True):
        tip = np.array(arrow.xy)
        np.testing.assert_allclose(tip / np.linalg.norm(tip), minimum.theta, atol=1e-9)
    assert [entry.get_label() for entry in legend_entries([found])] == [
        "local minimum", "lowest at infinity", "local, at infinity",
    ]  # fmt: skip


@pytest.mark.parametrize("name", list(NAMES))
def test_every_loss_can_be_drawn_in_given_axes(name, tmp_path):
    figure, (upper, lower) = plt.subplots(2)
    found = seen(name)
    display = LossSurfaceDisplay.from_surface(found).plot(upper, colour_bar=False)
    cut = found.slice(theta1=3.0, size=51)
    assert draw_slice(cut, lower) is lower
    assert display.ax_ is upper
    figure.savefig(tmp_path / "picture.png")
    assert len(plt.get_fignums()) == 1
    np.testing.assert_array_equal(lower.lines[0].get_ydata(), cut.values)


def test_the_picture_in_words_is_made_from_the_numbers():
    found = seen("logistic-squared", theta0=(-20, 20), theta1=(-5, 5))
    words = LossSurfaceDisplay.from_surface(found).alt_text
    assert words.startswith("LMSE of 9 rows over θ₀ from -20 to 20, θ₁ from -5 to 5: from ")
    assert "local minimum 0.890819 at θ = (-0.227367, -0.299522)" in words
    assert describe_slice(found.slice(theta1=3.0)) == (
        "LMSE at θ₁ = 3: minimum 1.778 at -14.97; local minimum 1.786 at 9.76."
    )


def test_what_is_no_surface_is_refused():
    with pytest.raises(TypeError, match=r"was given list; give what separatrix\.surface"):
        LossSurfaceDisplay.from_surface([1, 2])
