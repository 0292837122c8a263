"""What a notebook is given to show of results, scenarios, comparisons and figures."""

from __future__ import annotations

from xml.etree import ElementTree

import lasthop
import pytest

TEXT = """
duration = "600 ms"
warmup = "100 ms"
[bss]
standard = "802.11n"
[[station]]
name = "a<b"
[[flow]]
station = "a<b"
direction = "down"
"""


@pytest.fixture(scope="module")
def results() -> list[lasthop.Result]:
    scenario = lasthop.Scenario(TEXT.replace("a<b", "near"), "n.toml")
    return [
        lasthop.run(scenario.set("tcp.congestion_control", name), seeds=2, interval_s=None)
        for name in ("cubic", "newreno")
    ]


def cells(html: str) -> list[list[str]]:
    """The tables of a piece of HTML, which must be well-formed."""
    root = ElementTree.fromstring(f"<div>{html}</div>")
    return [[cell.text or "" for cell in row] for row in root.iter("tr")]


def test_a_result_shows_its_headline_numbers_and_flows(results, command, tmp_path) -> None:
    rows = cells(results[0]._repr_html_())
    (goodput,) = [row[1] for row in rows if row[0] == "goodput (Mbit/s)"]
    assert " ± " in goodput
    assert ["flow", "traffic"] in [row[:2] for row in rows]
    assert any(row[0] == "near.down" for row in rows)


def test_a_scenario_shows_its_file_with_the_settings_over_it() -> None:
    html = lasthop.Scenario("# a < b & c\n", "<x>.toml").set("duration", "1 s")._repr_html_()
    root = ElementTree.fromstring(f"<div>{html}</div>")
    assert root.findtext("h4") == "<x>.toml"
    assert root.findtext("pre") == "# --set duration=1 s\n# a < b & c\n"


def test_a_comparison_equals_the_output_of_the_command(results) -> None:
    rows = lasthop.compare(*results)
    told = cells(rows._repr_html_())
    assert told[0] == ["", "A", "B", "B - A", "B / A - 1", "pairing"]
    assert [row[0] for row in told[1:]][:1] == ["goodput (Mbit/s)"]
    assert "seed by seed" in rows._repr_html_()


def test_a_figure_shows_itself_as_a_picture(results) -> None:
    figure = results[0].plot("goodput")
    assert ElementTree.fromstring(figure._repr_svg_()).tag.endswith("svg")
