"""Every kind of plot over twenty scenarios: texts lie on the page and on no other text; pictures are kept in `LASTHOP_PICTURES`."""

from __future__ import annotations

import os
from pathlib import Path

import lasthop
import pytest
from figure_texts import complaints
from lasthop.data.ready import scenarios
from lasthop.views import plot

# Kinds that need a sweep, which test_plot.py draws.
OF_SWEEPS = ("heat_map", "sweep")
KINDS = [kind for kind in plot.kinds() if kind not in OF_SWEEPS]
STATIONS = """
[[station]]
name = "near"
distance = "3 m"
[[station]]
name = "a-station-with-a-long-name"
distance = "12 m"
"""
OF_ALL = f"""
name = "all kinds of traffic"
[bss]
standard = "802.11ax"
{STATIONS}
[[flow]]
direction = "both"
[[flow]]
name = "quic"
station = "near"
direction = "down"
transport = "quic"
[[flow]]
name = "film"
station = "near"
direction = "down"
traffic = "video"
[[flow]]
name = "pages"
direction = "down"
traffic = "web"
[[flow]]
name = "call"
direction = "both"
traffic = "voip"
[[flow]]
name = "ping"
direction = "down"
traffic = "ping"
"""
CALLS = f"""
name = "calls alone"
[bss]
standard = "802.11n"
{STATIONS}
[[flow]]
direction = "both"
traffic = "voip"
"""
NAMES = [*scenarios(), "all", "calls"]


def scenario_of(name: str) -> lasthop.Scenario:
    """A scenario of a second."""
    texts = {"all": OF_ALL, "calls": CALLS}
    scenario = lasthop.Scenario(texts[name], f"{name}.toml") if name in texts else lasthop.load(name)
    # Flows of Flent's tests begin after five seconds.
    start = 5000 if "tcp-n" in name or name == "rrul" else 0
    return scenario.set("duration", f"{start + 1200} ms").set("warmup", f"{start + 200} ms")


def test_there_are_twenty():
    assert len(NAMES) >= 20


@pytest.fixture(scope="module", params=NAMES)
def result(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plot")
    scenario = scenario_of(request.param)
    lasthop.run(scenario, seeds=2, interval_s=0.1, record="ppdu", progress=False).save(folder / "result")
    return lasthop.read(folder / "result")


@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_apart(result, kind):
    try:
        data = plot.chart(kind, [result])
    except LookupError as error:
        # Without such data there is no picture, and a sentence says so.
        assert str(error)
        return
    with plot.new_figure() as figure:
        plot.draw_chart(data, figure)
        wrong = complaints(figure)
        if folder := os.environ.get("LASTHOP_PICTURES"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            plot.save_picture(figure, Path(folder) / f"{kind}-{result.name}.png", "png")
    assert wrong == []
