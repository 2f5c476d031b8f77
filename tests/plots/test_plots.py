"""The picture of a certificate shows what the certificate says; every result here is made by hand."""

import matplotlib as mpl
from rarely import examples

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.colors import to_hex
from matplotlib.patches import Polygon
from scipy.sparse import csr_array

from separatrix import LinearRule, OnlinePerceptron, Perceptron
from separatrix.plots import describe_updates, draw_separability, draw_updates
from separatrix.plots.perceptron_steps import DISC
from separatrix.plots.planes import boundary, regions
from separatrix.plots.style import look
from separatrix.results.separability import Combination, Separability, SeparationProof, corners, crossing_point
from separatrix.results.verdict import Rank

SQUARE = np.array([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2]], float)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def combination(rows, own, other, multipliers):
    return Combination(np.array(rows), np.array(own), np.array(other), np.array(multipliers, float))


def pair(rows, own, multipliers):
    """A combination of two classes."""
    return combination(rows, own, 1 - np.array(own), multipliers)


def made(kind, X, weights=None, intercept=0.0, margin=0.0, rows=(), crossing=None, classes=("a", "b"), **settings):
    weights = None if weights is None else np.array(weights, float)
    proof = SeparationProof(weights, intercept, margin, np.empty((0, 3)), crossing, crossing, 0.0)
    columns = settings.pop("columns", ("width", "height"))
    return Separability(
        kind, np.array(rows, np.intp), np.empty(0, np.intp), tuple(rows), {}, proof, Rank(3, 3, ()), tuple(classes),
        columns, settings.pop("fit_intercept", True), len(X),
    )  # fmt: skip


def entries(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def labelled(ax, words):
    """The points of the one scatter with this label."""
    (found,) = [c for c in ax.collections if c.get_label() == words]
    return np.asarray(found.get_offsets())


def line_of(ax, words):
    return [line.get_xydata() for line in ax.lines if line.get_label().lstrip("_") == words]


def joined(ax):
    """The polygons that join rows of a mixture: drawn without filling, in thick lines."""
    return [p for p in ax.patches if isinstance(p, Polygon) and p.get_linewidth() > 2]


# ---------------------------------------------------------------------------------------------------- separated


@pytest.fixture
def apart():
    X = np.array([[0, 0], [0, 2], [-1, 1], [2, 0], [2, 2], [4, 1]], float)
    y = np.array(list("aaabbb"))
    return made("separated", X, [3.0, 0.0], -3.0, 1.0, range(6)), X, y


def test_the_line_passes_between_the_classes_in_the_middle_of_its_band(apart):
    ax = draw_separability(*apart)
    (line,) = line_of(ax, "a line that separates")
    assert np.allclose(line[:, 0], 1)
    assert sorted(line[:, 1]) == pytest.approx(ax.get_ylim())
    (band,) = [p for p in ax.patches if p.get_label() == "its margin"]
    assert sorted(set(np.round(band.get_path().vertices[:, 0], 12))) == pytest.approx([-1.75, 0, 2, 4.75])


def test_the_nearest_rows_are_ringed(apart):
    assert labelled(draw_separability(*apart), "nearest rows").tolist() == [[0, 0], [0, 2], [2, 0], [2, 2]]


def test_words_of_separated_classes(apart):
    ax = draw_separability(*apart)
    assert entries(ax) == ["class a", "class b", "a line that separates", "its margin", "nearest rows"]
    assert ax.get_title() == "Separated: a line parts classes a and b,\nthe nearest row is 1 away"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")


def test_classes_differ_in_colour_and_in_marker(apart):
    ax = draw_separability(*apart)
    (a,), (b,) = ([c for c in ax.collections if c.get_label() == f"class {k}"] for k in "ab")
    assert to_hex(a.get_facecolor()[0]) != to_hex(b.get_facecolor()[0])
    assert a.get_paths()[0].vertices.shape != b.get_paths()[0].vertices.shape
    assert len({look(k) for k in range(56)}) == 56


@pytest.mark.parametrize("size", [(3, 3), (12, 4), (4, 9)])
def test_the_legend_covers_no_label(apart, size):
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    draw_separability(*apart, ax=ax)
    figure.draw_without_rendering()
    legend, label = ax.get_legend().get_window_extent(), ax.xaxis.label.get_window_extent()
    assert legend.y1 <= label.y0 + 1


def test_a_figure_of_its_own_holds_all_of_the_picture(apart):
    ax = draw_separability(*apart)
    ax.figure.draw_without_rendering()
    whole, seen = ax.figure.bbox, ax.get_tightbbox()
    assert whole.x0 <= seen.x0
    assert whole.y0 <= seen.y0
    assert seen.x1 <= whole.x1
    assert seen.y1 <= whole.y1


def test_columns_of_one_scale_are_drawn_on_one_scale_and_others_are_not(apart):
    result, X, y = apart
    assert draw_separability(result, X, y).get_aspect() == 1
    assert draw_separability(result, X * [1, 100], y).get_aspect() == "auto"


def test_axes_that_are_given_are_used_and_no_figure_is_made(apart):
    _, ax = plt.subplots()
    assert draw_separability(*apart, ax=ax) is ax
    assert len(plt.get_fignums()) == 1


def test_rows_of_weight_zero_are_left_out(apart):
    result, X, y = apart
    X, y = np.vstack([X, [3, 3]]), np.append(y, "a")
    result = made("separated", X, [3.0, 0.0], -3.0, 1.0, range(6))
    ax = draw_separability(result, X, y, sample_weight=[1] * 6 + [0])
    assert len(labelled(ax, "class a")) == 3


def test_three_classes_are_parted_by_pieces_that_meet():
    angles = np.repeat([0, 2, 4], 4) * np.pi / 3
    X = 3 * np.column_stack([np.cos(angles), np.sin(angles)]) + np.tile([[0, 0], [1, 0], [0, 1], [-1, 0]], (3, 1))
    y = np.repeat(["a", "b", "c"], 4)
    W = np.array([[np.cos(t), np.sin(t)] for t in angles[::4]])
    result = made("separated", X, W - W[-1], np.zeros(3), 0.5, range(12), classes=("a", "b", "c"))
    pieces = line_of(draw_separability(result, X, y), "a line that separates")
    assert len(pieces) == 3
    assert all(np.abs(piece).sum(axis=1).min() < 1e-9 for piece in pieces)
    for piece in pieces:
        scores = piece.mean(axis=0) @ W.T
        assert np.sort(scores)[-1] == pytest.approx(np.sort(scores)[-2])


# ------------------------------------------------------------------------------------------------------ overlap


def test_two_segments_cross_at_the_star():
    X, y = SQUARE[:4], np.array(list("abab"))
    result = made("overlap", X, crossing=pair([0, 2, 1, 3], [0, 0, 1, 1], [1, 1, 1, 1]))
    ax = draw_separability(result, X, y)
    assert labelled(ax, "a point of both hulls").tolist() == [[2, 2]]
    assert ax.get_title() == "Overlap: a mixture of 2 rows of class a\nis a mixture of 2 rows of class b"
    assert sorted(sorted(map(tuple, set(map(tuple, p.get_xy())))) for p in joined(ax)) == [
        [(0, 0), (4, 4)],
        [(0, 4), (4, 0)],
    ]
    assert [text.get_text() for text in ax.texts] == ["50 %"] * 4


def test_a_point_in_a_triangle_with_its_shares():
    X, y = np.array([[0, 0], [8, 0], [0, 8], [2, 4]], float), np.array(list("aaab"))
    result = made("overlap", X, crossing=pair([0, 1, 2, 3], [0, 0, 0, 1], [0.25, 0.25, 0.5, 1]))
    ax = draw_separability(result, X, y)
    assert np.allclose(labelled(ax, "a point of both hulls"), [[2, 4]])
    assert "3 rows of class a\nis a mixture of 1 row of class b" in ax.get_title()
    assert [text.get_text() for text in ax.texts] == ["25 %", "25 %", "50 %"]
    assert entries(ax) == ["class a", "class b", "a point of both hulls", "rows of the mixture"]


def test_three_classes_that_meet_in_a_cycle(tmp_path):
    X, y = np.array([[-2, 0], [2, 0], [0, -1], [0, 1], [-1, -1], [2, 2]], float), np.array(list("aabbcc"))
    cycle = combination(range(6), [0, 0, 1, 1, 2, 2], [1, 1, 2, 2, 0, 0], [3, 3, 3, 3, 4, 2])
    ax = draw_separability(made("overlap", X, crossing=cycle, classes=("a", "b", "c")), X, y)
    ax.figure.savefig(tmp_path / "cycle.png")
    assert np.allclose(labelled(ax, "a point of both hulls"), np.zeros((3, 2)))
    assert ax.get_title().startswith("Overlap of classes a, b and c: a mixture of rows of each")
    assert len(joined(ax)) == 3


def test_without_an_intercept_cones_meet_and_the_origin_is_shown():
    X, y = np.array([[1, 1], [3, 3], [4, 3]], float), np.array(list("aba"))
    result = made("overlap", X, crossing=pair([0, 1], [0, 1], [3, 1]), fit_intercept=False)
    ax = draw_separability(result, X, y)
    assert labelled(ax, "mixtures in one direction").tolist() == [[1, 1], [3, 3]]
    assert "the origin" in entries(ax)
    assert ax.get_xlim()[0] < 0
    assert ax.get_title() == "Overlap: no line through the origin is right\non all 2 rows of the mixture"


# ---------------------------------------------------------------------------------------------- quasi-separated


def test_the_rows_that_stay_on_the_line_are_ringed_and_cross():
    X = np.array([[1, 0], [1, 3], [1, 1], [0, 1], [3, 2]], float)
    y = np.array(list("aabab"))
    crossing = pair([0, 1, 2], [0, 0, 1], [2, 1, 3])
    ax = draw_separability(made("quasi-separated", X, [1.0, 0.0], -1.0, 1.0, (3, 4), crossing), X, y)
    (line,) = line_of(ax, "a line that errs on no row")
    assert np.allclose(line[:, 0], 1)
    assert labelled(ax, "rows that stay on it").tolist() == X[:3].tolist()
    assert np.allclose(labelled(ax, "a point of both hulls"), [[1, 1]])
    assert "its margin" not in entries(ax)
    assert "\n2 rows off it, 3 stay on it, where the hulls meet" in ax.get_title()


# --------------------------------------------------------------------------------------------------- degenerate


@pytest.mark.parametrize(
    "X",
    [
        [[0, 0], [1, 1]],
        [[0, 0], [0, 0]],
        [[0, 1], [5, 1]],
        [[0, 0], [1, 1], [2, 2], [3, 3]],
        [[1e9, 1e-9], [1e9 + 1, 1e-9], [1e9, 2e-9], [1e9 + 2, 3e-9]],
    ],
)
def test_flat_hulls_are_drawn(X, tmp_path):
    X = np.array(X, float)
    y = np.array(["a", "b"])[np.arange(len(X)) % 2]
    ax = draw_separability(made("overlap", X), X, y)
    ax.figure.savefig(tmp_path / "flat.png")
    assert np.isfinite([ax.get_xlim(), ax.get_ylim()]).all()


def test_corners_of_points_segments_and_squares():
    assert corners(np.ones((3, 2))).tolist() == [[1, 1]]
    assert corners(np.array([[0, 0], [3, 1], [6, 2], [1.5, 0.5]])).tolist() == [[0, 0], [6, 2]]
    assert {tuple(corner) for corner in corners(SQUARE)} == {(0, 0), (4, 0), (4, 4), (0, 4)}
    stretched = corners(SQUARE * [1e9, 1e-9])
    assert {tuple(corner) for corner in stretched} == {tuple(corner) for corner in SQUARE[:4] * [1e9, 1e-9]}


# ------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("columns", [("x",), ("x", "y", "z")])
def test_other_than_two_columns_are_refused(columns):
    X = np.zeros((2, len(columns)))
    with pytest.raises(ValueError, match=r"a picture needs two\. Pass two columns, or two projections"):
        draw_separability(made("overlap", X, columns=columns), X, ["a", "b"])


def test_other_rows_and_other_labels_are_refused(apart):
    result, X, y = apart
    with pytest.raises(ValueError, match="X has 5 rows and the result is of 6"):
        draw_separability(result, X[:5], y[:5])
    with pytest.raises(ValueError, match="y has shape"):
        draw_separability(result, X, y[:5])
    with pytest.raises(ValueError, match=r"y of row 5 is .*'c'.*, none of the classes"):
        draw_separability(result, X, [*y[:5], "c"])


# --------------------------------------------------------------------------------------------- points and lines


@examples(35, 100, st.data())
def test_a_mixture_of_both_classes_is_their_crossing_point(data):
    d, sides = data.draw(st.integers(1, 5)), [data.draw(st.integers(1, 4)) for _ in range(2)]
    numbers, shares = st.floats(-10, 10), st.floats(0.1, 1)
    X = data.draw(arrays(float, (sum(sides), d), elements=numbers))
    weights = [data.draw(arrays(float, n, elements=shares)) for n in sides]
    weights = np.concatenate([w / w.sum() for w in weights])
    own = np.repeat([0, 1], sides)
    X[own == 1] += weights[own == 0] @ X[own == 0] - weights[own == 1] @ X[own == 1]  # moved until they meet
    signed = pair(np.arange(len(X)), own, 3 * weights)
    first, second = made("overlap", X, crossing=signed).crossing_point(X)
    assert first.shape == (d,)
    assert np.allclose(first, second, atol=1e-12)
    assert np.allclose(first, weights[own == 0] @ X[own == 0])


def test_of_many_classes_the_class_can_be_named():
    X = np.array([[0.0], [2.0], [1.0]])
    signed = combination([0, 1, 2], [1, 1, 2], [2, 2, 1], [1, 1, 2])
    assert [point.tolist() for point in crossing_point(signed, X)] == [[1], [1]]
    assert [point.tolist() for point in crossing_point(signed, X, of=2)] == [[1], [1]]
    with pytest.raises(ValueError, match="Class number 0 is not in this combination"):
        crossing_point(signed, X, of=0)


def test_separated_classes_have_no_crossing_point(apart):
    result, X, _ = apart
    with pytest.raises(ValueError, match="hulls do not meet"):
        result.crossing_point(X)


@given(st.data())
def test_pieces_lie_on_the_boundary_and_in_the_box(data):
    K = data.draw(st.integers(2, 4))
    numbers = st.integers(-5, 5).map(float)
    W, c = data.draw(arrays(float, (K, 2), elements=numbers)), data.draw(arrays(float, K, elements=numbers))
    low, high = np.array([-2.0, -1.0]), np.array([3.0, 1.0])
    rule = LinearRule(W, c)
    for ends in boundary(rule, low, high):
        assert ((ends >= low - 1e-9) & (ends <= high + 1e-9)).all()
        best = np.sort(rule.score(ends), axis=1)
        assert np.allclose(best[:, -1], best[:, -2], atol=1e-9)


@examples(35, 100, st.data())
def test_regions_keep_the_margin_and_miss_no_point_that_does(data):
    K, margin = data.draw(st.integers(2, 4)), data.draw(st.floats(0.01, 0.5))
    numbers = st.integers(-5, 5).map(float)
    W = data.draw(arrays(float, (K, 2), elements=numbers, unique=True))
    rule = LinearRule(W, data.draw(arrays(float, K, elements=numbers)))
    low, high = np.array([-2.0, -1.0]), np.array([3.0, 1.0])
    found = regions(rule, low, high, margin)
    assert all((rule.distance(corners_) >= margin - 1e-9).all() for corners_ in found)
    points = np.random.default_rng(0).uniform(low, high, (50, 2))
    far = points[rule.distance(points) > margin + 1e-6]
    covered = sum((Polygon(c).get_path().contains_points(far).astype(int) for c in found), np.zeros(len(far), int))
    assert (covered == 1).all()


def test_a_line_that_misses_the_box_has_no_piece():
    assert boundary(LinearRule([1.0, 0.0], -5.0), np.zeros(2), np.ones(2)) == []


# ---------------------------------------------------------------------------------------- a perceptron in motion


def corners_of_two():
    return np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0], [3.0, 3.0]]), np.array(
        ["no", "no", "no", "yes", "yes"]
    )


def test_a_panel_shows_the_row_and_the_boundary_before_and_after():
    X, y = corners_of_two()
    axes = np.ravel(draw_updates(Perceptron(), X, y, count=4))
    updates = list(Perceptron().steps(X, y))[:4]
    assert len(axes) == 4
    for number, (ax, update) in enumerate(zip(axes, updates, strict=True), start=1):
        assert ax.get_title().startswith(f"update {number}: row {update.row}\n")
        (ring,) = [c for c in ax.collections if len(c.get_offsets()) == 1 and c.get_sizes()[0] == DISC]
        np.testing.assert_array_equal(ring.get_offsets()[0], X[update.row])
        solid = [line for line in ax.lines if line.get_linestyle() == "-"]
        for line in solid:
            ends = np.array(line.get_data()).T
            np.testing.assert_allclose(ends @ update.weights + update.intercept, 0, atol=1e-9)
    wrong = [int((np.where(X @ u.weights + u.intercept > 0, "yes", "no") != y).sum()) for u in updates]
    assert [int(ax.get_title().split("→")[1].split()[0]) for ax in axes] == wrong


def test_updates_from_a_later_one_on_and_in_given_axes():
    X, y = corners_of_two()
    _, axes = plt.subplots(1, 3)
    drawn = draw_updates(Perceptron(), X, y, count=2, first=3, axes=axes)
    assert [ax.get_title().split(":")[0] for ax in drawn[:2]] == ["update 3", "update 4"]
    assert not drawn[2].axison
    says = describe_updates(Perceptron(), X, y, count=2, first=3)
    assert "Update 3: row" in says
    assert "Update 5" not in says


def test_many_classes_and_sparse_rows_are_drawn():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((10, 2)) + centre for centre in ([0, 4], [4, 0], [-4, -4])])
    y = np.repeat([0, 1, 2], 10)[rng.permutation(30)]
    axes = np.ravel(draw_updates(OnlinePerceptron(), csr_array(X), y, count=3, first=4))
    rows = [update.row for update in OnlinePerceptron().steps(X, y)][3:6]
    assert [ax.get_title().split("\n")[0] for ax in axes] == [
        f"update {4 + k}: row {row}" for k, row in enumerate(rows)
    ]
    assert all(len(ax.patches) >= 2 for ax in axes), "a region for each class that has one"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"X": np.ones((5, 3))}, "two columns"),
        ({"y": [0, 1]}, "a label for each of the 5 rows"),
        ({"count": 0}, "count is 0"),
        ({"first": 10_000}, "fewer than 10000 updates"),
    ],
)
def test_updates_that_cannot_be_drawn_are_refused(given, says):
    X, y = corners_of_two()
    with pytest.raises(ValueError, match=says):
        draw_updates(Perceptron(), **{"X": X, "y": y, **given})


def test_a_stream_is_drawn_from_its_first_row_on():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0], [2.0, 2.0]]), ["a", "b", "c", "a"]
    axes = np.ravel(draw_updates(OnlinePerceptron(), X, y))
    rows = [update.row for update in OnlinePerceptron().steps(X, y)]
    drawn = [ax.get_title().split("\n")[0] for ax in axes if ax.axison]
    assert drawn == [f"update {k}: row {row}" for k, row in enumerate(rows, start=1)]
    assert rows[0] == 0


def test_a_start_that_was_given_is_where_it_begins():
    X, y = corners_of_two()
    says = describe_updates(Perceptron(init=[-1.0, 0.0, 0.5]), X, y, count=1)
    assert f"{int((np.where(X[:, 0] < 0.5, 'yes', 'no') != y).sum())} wrong, then" in says
