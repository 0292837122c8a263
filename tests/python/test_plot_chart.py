"""Charts: the same data gives the same files, everything can be read, nothing covers anything."""

from __future__ import annotations

import csv
import io
import warnings
from dataclasses import replace
from math import nan

import matplotlib
import numpy
import pytest
from lasthop.views.plot import KINDS, Chart, Curve, Mark, cdf_curve, csv_text, draw_chart, new_figure, write_chart
from lasthop.views.plot._chart.style import looks
from lasthop.views.plot._chart.text import width_of, wrapped


def waves(count: int, *, points: int = 40, spread: float = 0.1) -> list[Curve]:
    """So many curves with intervals over 1, 2, 3 ..."""
    x = numpy.arange(1, points + 1)
    mean = [5 + k + numpy.sin(x / (k + 2)) for k in range(count)]
    return [
        Curve(f"flow {k}", x.tolist(), m.tolist(), (m - spread).tolist(), (m + spread).tolist())
        for k, m in enumerate(mean)
    ]


def chart(kind: str, curves: list[Curve], **more: object) -> Chart:
    """A chart of these curves with a title that takes two lines."""
    title = "Sixteen uploads: some starve for the rest of the run after a retransmission timeout"
    return Chart(kind, title, "place along x", "value (Mbit/s)", tuple(curves), **more)


def drawn(data: Chart) -> None:
    """Draws it as far as the layout."""
    with new_figure() as figure:
        draw_chart(data, figure)
        figure.draw_without_rendering()


CROWDED = {
    "time_series": waves(16, points=200),
    "lines": waves(10, points=12),
    "bars": waves(4, points=16),
    "stack": waves(12, points=8),
    "cdf": [
        cdf_curve(f"queue {k}", [numpy.random.default_rng(s).gamma(2, k + 1, 300) for s in range(3)]) for k in range(8)
    ],
    "scatter": [
        Curve(f"result {k}", [k], [k * k], [k * k - 1], [k * k + 1], [k - 0.2], [k + 0.2]) for k in range(1, 13)
    ],
    "heat_map": waves(8, points=8),
    "box": [
        Curve(
            f"queue {k}",
            [1, 2, 3],
            [5.0, 6.0, 7.0 + k],
            [4.0] * 3,
            [8.0] * 3,
            whisker_low=[1] * 3,
            whisker_high=[20] * 3,
        )
        for k in range(4)
    ],
    "spans": [
        Curve(
            f"kind {k}",
            [f"sta{n}" for n in range(1, 25)],
            starts := [n + k / 7 for n in range(24)],
            starts,
            [start + 0.3 + k / 7 for start in starts],
        )
        for k in range(6)
    ],
}


@pytest.mark.parametrize("kind", KINDS)
def test_texts_stay_off_the_data_and_on_the_page(kind):
    with new_figure() as figure:
        draw_chart(chart(kind, CROWDED[kind]), figure)
        figure.draw_without_rendering()
        page = figure.bbox.padded(1.0)
        title, axes = figure.get_suptitle(), figure.axes[0]
        assert " ".join(title.split("\n")) == chart(kind, []).title
        parts = [figure._suptitle.get_window_extent(), *(each.get_window_extent() for each in figure.legends)]
        assert bool(figure.legends) == (kind != "heat_map")
        for part in [*parts, axes.get_tightbbox()]:
            assert page.x0 <= part.x0 and part.x1 <= page.x1 and page.y0 <= part.y0 and part.y1 <= page.y1
        for part in parts:
            assert not part.overlaps(axes.get_tightbbox())
        # An inch and a half of the height is left for the chart itself.
        assert axes.get_window_extent().height > 1.4 * figure.dpi


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_data_gives_the_same_files_under_any_user_settings(tmp_path, kind):
    (tmp_path / "again").mkdir()
    first = write_chart(chart(kind, CROWDED[kind]), tmp_path / "figure 1.b")
    with matplotlib.rc_context({"font.size": 20, "axes.grid": False}):
        second = write_chart(chart(kind, CROWDED[kind]), tmp_path / "again" / "figure 1.b")
    assert [path.name for path in first] == ["figure 1.b.pdf", "figure 1.b.png", "figure 1.b.csv"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "again",
        "figure 1.b.csv",
        "figure 1.b.pdf",
        "figure 1.b.png",
    ]


def test_pdf_is_vectors_with_truetype_fonts_and_png_a_column_of_300_dpi(tmp_path):
    pdf, png, _ = write_chart(chart("lines", CROWDED["lines"]), tmp_path / "figure")
    assert b"/FontFile2" in pdf.read_bytes() and b"/Type3" not in pdf.read_bytes()
    assert b"/Subtype /Image" not in pdf.read_bytes()
    # 3.5 in · 300 = 1050; the width stands in bytes 16 to 19 [PNG's header chunk].
    assert int.from_bytes(png.read_bytes()[16:20], "big") == 1050


def test_a_failed_write_leaves_no_file(tmp_path):
    with pytest.raises(OSError):
        write_chart(chart("lines", CROWDED["lines"]), tmp_path / "absent" / "figure")
    assert list(tmp_path.iterdir()) == []


def test_csv_has_every_number_as_it_is():
    curves = [Curve("a, b", [1, 2.5], [0.1 + 0.2, nan], [0.25, nan], [0.35, nan]), Curve("c", [1], [7])]
    assert csv_text(chart("lines", curves)) == (
        'curve,x,mean,ci95_low,ci95_high\n"a, b",1,0.30000000000000004,0.25,0.35\n"a, b",2.5,,,\nc,1,7,,\n'
    )


def test_csv_has_columns_for_horizontal_intervals_and_panels_if_used():
    curves = [Curve("a", [2], [3], [1], [4], [1.5], [2.5], panel="up"), Curve("b", [2], [3])]
    rows = list(csv.DictReader(io.StringIO(csv_text(chart("scatter", curves)))))
    assert rows[0] == {
        "curve": "a",
        "x": "2",
        "mean": "3",
        "ci95_low": "1",
        "ci95_high": "4",
        "x_ci95_low": "1.5",
        "x_ci95_high": "2.5",
        "panel": "up",
    }
    assert (rows[1]["x_ci95_low"], rows[1]["panel"]) == ("", "")


def test_curves_differ_without_colour():
    found = list(looks([str(number) for number in range(32)]).values())
    # Four kinds of dashes and nine markers: thirty-six pairs before one comes again.
    assert len({(str(look.dashes), look.marker) for look in found}) == 32
    assert len({(look.colour, look.hatch) for look in found}) == 32
    assert len({look.hatch for look in found[:8]}) == 8


def test_a_missing_bar_is_marked_and_a_bar_of_zero_is_not():
    curves = [Curve("near", ["fifo", "codel"], [0.0, nan]), Curve("far", ["codel"], [1.0])]
    with new_figure() as figure:
        draw_chart(chart("bars", curves), figure)
        marks = [text.get_text() for text in figure.axes[0].texts]
    assert marks == ["×"], "the missing one of near; far has no bar for fifo by its own account"


@pytest.mark.parametrize("curves", [[], [Curve("a", [], [])], [Curve("a", [1, 2], [nan, nan])]])
@pytest.mark.parametrize("kind", KINDS)
def test_a_chart_without_numbers_shows_no_data(kind, curves):
    with new_figure() as figure:
        draw_chart(chart(kind, curves), figure)
        figure.draw_without_rendering()
        assert [text.get_text() for text in figure.axes[0].texts] == ["no data"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "cdf"])
def test_gaps_and_lone_numbers_are_drawn_without_a_warning(kind):
    holes = Curve("holes", [1, 2, 3], [1.0, nan, 2.0], [nan, nan, 1.5], [nan, nan, 2.5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn(chart(kind, [holes, Curve("one", [2], [5.0])]))


@pytest.mark.parametrize("kind", KINDS)
def test_logarithmic_axes_leave_out_values_of_zero_or_less(kind):
    curve = Curve("from nothing", [0, 1, 10, 100, 10_000], [0.0, 0.1, 1.0, 10.0, 1000.0], panel="a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn(chart(kind, [curve, Curve("other", [0, 1], [0.0, 3.0], panel="b")], log_x=True, log_y=True))


@pytest.mark.parametrize("kind", ["lines", "bars", "stack", "scatter"])
def test_logarithmic_axes_have_plain_numbers(kind):
    with new_figure() as figure:
        draw_chart(
            chart(kind, [Curve("a", [1, 2, 3], [3.0, 40.0, 4.0]), Curve("b", [1, 2, 3], [5.0, 8.0, 9.0])], log_y=True),
            figure,
        )
        texts = {label.get_text() for label in figure.axes[0].get_yticklabels()}
    assert {"5", "10", "20"} <= texts and not any("$" in text for text in texts)


def test_names_may_be_anything_that_can_be_written():
    curves = [
        Curve("_first", [1, 2], [1, 2]),
        Curve("cost: 5 $ for $x$", [1, 2], [2, 3]),
        Curve("näher → fern", [1, 2], [3, 4]),
    ]
    data = Chart("lines", "Costs 3 $ and $y$", "x_1 ($)", "^y_", tuple(curves))
    with new_figure() as figure:
        draw_chart(data, figure)
        named = [text.get_text().strip() for text in figure.legends[0].get_texts()]
        assert named == ["_first", "cost: 5 $ for $x$", "näher → fern"]
        figure.draw_without_rendering()


def test_panels_share_looks_and_the_horizontal_axis():
    curves = [
        Curve("up", [1, 2], [1, 2], panel="FIFO"),
        Curve("down", [1, 2], [3, 2], panel="FIFO"),
        Curve("down", [1, 3], [1, 2], panel="CoDel"),
    ]
    with new_figure() as figure:
        draw_chart(chart("lines", curves), figure)
        above, below = figure.axes
        assert above.get_title(loc="left") == "FIFO" and below.get_title(loc="left") == "CoDel"
        assert above.lines[1].get_color() == below.lines[0].get_color() != above.lines[0].get_color()
        assert above.get_xlim() == below.get_xlim()


def test_axes_of_non_negative_quantities_begin_at_zero():
    with new_figure() as figure:
        draw_chart(chart("bars", [Curve("a", ["x", "y"], [95.0, 97.0], [-20.0, 90.0], [210.0, 104.0])]), figure)
        assert figure.axes[0].get_ylim()[0] == 0


@pytest.mark.parametrize(("mean", "end"), [(0.9, 1.02), (0.2, 1.06 * 0.5)])
def test_an_axis_ends_at_the_quantitys_maximum_despite_a_longer_interval(mean, end):
    with new_figure() as figure:
        draw_chart(chart("bars", [Curve("a", ["x"], [mean], [mean - 0.3], [mean + 0.3])], y_most=1.0), figure)
        assert figure.axes[0].get_ylim() == pytest.approx((0, end))


def test_share_of_a_distribution_counts_every_seed_alike():
    alone = cdf_curve("a", [[1, 2, 2, 4]])
    assert (alone.x, alone.mean, alone.low) == ([1, 2, 4], [0.25, 0.75, 1.0], None)
    # Up to 1 lie all of the first seed and none of the second; the second's two samples do not outweigh the first's one.
    both = cdf_curve("b", [[1], [2, 2], [nan]])
    assert (both.x, both.mean) == ([1, 2], [0.5, 1.0])
    assert (both.low[0], both.high[0]) == (0.0, 1.0), "within what a share can be"
    assert cdf_curve("c", [[], [nan]]).is_empty


def test_wrong_data_is_refused():
    with pytest.raises(ValueError, match="2 values of x, 1 of mean"):
        Curve("a", [1, 2], [1])
    with pytest.raises(ValueError, match="two bounds"):
        Curve("a", [1], [1], low=[0])
    with pytest.raises(ValueError, match="heat_map"):
        Chart("pie", "", "", "", ())


LONG = "station.12.downlink_rate_control.success_threshold of a fast host that is served by the access point (Mbit/s)"


@pytest.mark.parametrize("size", [None, (7.0, 3.0), (3.5, 1.8), (2.0, 2.0), (1.5, 6.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_labels_longer_than_their_axes_stay_on_the_page_and_off_the_title(kind, size):
    data = Chart(kind, "A title", LONG, LONG, tuple(CROWDED[kind][:3]), value_label=LONG, size=size)
    with new_figure() as figure:
        draw_chart(data, figure)
        figure.draw_without_rendering()
        page, title = figure.bbox.padded(1.0), figure._suptitle.get_window_extent()
        for axes in figure.axes:
            for label in (axes.xaxis.label, axes.yaxis.label):
                extent = label.get_window_extent()
                assert page.x0 <= extent.x0 and extent.x1 <= page.x1, label.get_text()
                assert page.y0 <= extent.y0 and extent.y1 <= page.y1, label.get_text()
                assert not extent.overlaps(title), label.get_text()
                assert "".join(label.get_text().split()) in ("", "".join(LONG.split()))


def test_a_label_of_one_long_word_is_broken_behind_its_points():
    path = "station.12.downlink_rate_control.success_threshold"
    with new_figure() as figure:
        draw_chart(Chart("heat_map", "A title", "x", path, tuple(waves(4, points=4))), figure)
        label = figure.axes[0].yaxis.label
    assert label.get_text().replace("\n", "") == path and "\n" in label.get_text()
    assert label.get_fontsize() == 8


def test_only_a_path_longer_than_a_line_is_broken_behind_its_dots():
    path, width = "station.0.queue.limit", width_of("station.0.queue.", 8) + 1
    assert wrapped(path, width, 8) == ["station.0.", "queue.limit"]
    # The second line would be as long as the first if the path were broken.
    assert wrapped(f"by {path}", width_of(path, 8) + 1, 8) == ["by", path]


def test_no_word_of_a_title_is_left_alone():
    with new_figure() as figure:
        text = "Distribution of RTT, mean of 5 seeds, 95\N{NO-BREAK SPACE}% interval over all flows of one kind"
        draw_chart(Chart("lines", text, "x", "y", (Curve("a", [1], [1]),)), figure)
        first, second = figure.get_suptitle().split("\n")
    assert abs(len(first) - len(second)) < 12


def test_intervals_of_non_negative_quantities_stop_at_zero():
    curve = Curve("a", [1, 2, 3], [0.4, nan, 0.9], [-1.0, nan, 0.5], [2.0, nan, 1.3])
    assert drawn_low(curve) == 0.0
    assert drawn_low(replace(curve, mean=[-0.4, nan, 0.9])) == -1.0


def drawn_low(curve: Curve) -> float:
    with new_figure() as figure:
        draw_chart(chart("lines", [curve]), figure)
        return min(low for low, _ in painted(figure))


def test_a_box_has_its_quartiles_and_whiskers_and_so_has_its_csv():
    curve = Curve("fifo", ["ping"], [30.0], [20.0], [50.0], whisker_low=[10.0], whisker_high=[90.0])
    data = chart("box", [curve], size=(3.5, 3.0))
    assert csv_text(data) == (
        "curve,x,median,quartile_low,quartile_high,whisker_low,whisker_high\nfifo,ping,30,20,50,10,90\n"
    )
    with new_figure() as figure:
        draw_chart(data, figure)
        (box,) = figure.axes[0].patches
        heights = box.get_path().vertices[:, 1]
        assert (heights.min(), heights.max()) == (20, 50)
        assert {tuple(line.get_ydata()) for line in figure.axes[0].lines} >= {(20, 10), (50, 90), (30, 30)}


def test_panels_of_other_quantities_have_their_own_labels_and_those_of_one_a_common_scale():
    curves = [Curve("a", [1, 2], [1, 2], panel="goodput"), Curve("a", [1, 2], [40, 80], panel="ping")]
    with new_figure() as figure:
        draw_chart(chart("time_series", curves, y_labels={"ping": "RTT (ms)"}), figure)
        assert [axes.get_ylabel() for axes in figure.axes] == ["value (Mbit/s)", "RTT (ms)"]
        assert figure.axes[0].get_ylim()[1] < 3
    with new_figure() as figure:
        draw_chart(chart("time_series", curves, same_y=True), figure)
        assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()


@pytest.mark.parametrize("kind", ["lines", "bars", "scatter", "box"])
def test_requested_size_limits_and_legend_apply(kind):
    data = chart(kind, CROWDED[kind], size=(5.0, 4.0), y_limits=(1.0, 30.0), legend="inside", legend_title="queue")
    with new_figure() as figure:
        draw_chart(data, figure)
        assert tuple(figure.get_size_inches()) == (5.0, 4.0)
        axes = figure.axes[0]
        assert (1.0, 30.0) in (axes.get_ylim(), axes.get_xlim())
        assert not figure.legends and axes.get_legend().get_title().get_text() == "queue"
    with new_figure() as figure:
        draw_chart(chart(kind, CROWDED[kind], legend="none"), figure)
        assert not figure.legends and figure.axes[0].get_legend() is None


def test_a_bar_too_low_to_be_seen_has_its_number_beside_it():
    with new_figure() as figure:
        draw_chart(chart("bars", [Curve("a", ["bulk", "call"], [300.0, 0.064])]), figure)
        assert [text.get_text() for text in figure.axes[0].texts] == ["0.064"]


def painted(figure) -> list[tuple[float, float]]:
    """The lowest and highest value of each band and of each interval's line."""
    (axes,) = figure.axes
    bands = [path.vertices[:, 1] for band in axes.collections for path in band.get_paths() if len(path.vertices)]
    return [(values.min(), values.max()) for values in bands]


@pytest.mark.parametrize("kind", ["lines", "bars", "time_series"])
def test_intervals_end_at_the_limits_of_values(kind):
    # 1 ± 3 and 8 ± 4 on a link of 10: drawn from 0 to 4 and from 4 to 10, written in full.
    data = chart(kind, [Curve("a", [1.0, 2.0], [1.0, 8.0], [-2.0, 4.0], [4.0, 12.0])], y_least=0.0, y_most=10.0)
    with new_figure() as figure:
        draw_chart(data, figure)
        low, high = min(low for low, _ in painted(figure)), max(high for _, high in painted(figure))
    assert (low, high) == (0.0, 10.0)
    assert [row[3:5] for row in csv.reader(io.StringIO(csv_text(data)))][1:] == [["-2", "4"], ["4", "12"]]


def test_an_interval_never_ends_short_of_its_mean():
    data = chart("lines", [Curve("a", [1.0], [11.0], [9.0], [13.0])], y_most=10.0)
    with new_figure() as figure:
        draw_chart(data, figure)
        assert max(high for _, high in painted(figure)) == 11.0


def test_marks_are_seen_and_named():
    # The axis reaches to the mark at 9, though the curve ends at 2.
    marks = (Mark("paper: 9", 9.0, 9.0), Mark("paper: 4 to 5, at 2", 4.0, 5.0, 2.0), Mark("paper: from 1 on", x=1.0))
    with new_figure() as figure:
        draw_chart(chart("lines", [Curve("a", [1.0, 2.0], [1.0, 2.0])], marks=marks), figure)
        (legend,) = figure.legends
        assert {text.get_text() for text in legend.get_texts()} == {"a", *(mark.label for mark in marks)}
        assert figure.axes[0].get_ylim()[1] > 9.0
        lines = [set(line.get_ydata()) for line in figure.axes[0].lines]
    assert {9.0} in lines and {4.5} in lines


def test_a_mark_has_both_bounds_or_a_place():
    for wrong in ({"low": 1.0}, {}):
        with pytest.raises(ValueError, match="both bounds"):
            Mark("paper", **wrong)


def test_the_subtitle_is_between_title_and_axes():
    subtitle = "K-10: undecided: more seeds needed, K-11: undecided: more seeds needed, K-12: holds in part"
    with new_figure() as figure:
        draw_chart(chart("lines", waves(2), subtitle=subtitle), figure)
        (below,) = (text for text in figure.texts if text.get_text().startswith("K-10"))
        title = figure.get_suptitle().rstrip("\n").count("\n") + 1
        box, axes = below.get_window_extent(), figure.axes[0].get_window_extent()
        letters = box.height / below.get_text().count("\n") / 2
        assert axes.y1 < box.y0
        assert box.y1 < figure.bbox.height - title * letters
