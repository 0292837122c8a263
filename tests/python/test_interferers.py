"""Interferers as the package shows them: the resolved scenario, recordings, accounts and the map."""

from __future__ import annotations

import lasthop
import pytest
from lasthop.page.floor_plan import moved, places_of

CELL = """
duration = "2 s"
[bss]
standard = "802.11ax"
[[station]]
name = "sta"
distance = "2 m"
[[flow]]
direction = "up"
transport = "udp"
rate = "20 Mbit/s"
[[interferer]]
name = "oven"
position = ["1 m", "0 m"]
power = "20 dBm"
kind = "periodic"
on = "8 ms"
off = "12 ms"
"""


@pytest.fixture
def cell(tmp_path):
    file = tmp_path / "cell.toml"
    file.write_text(CELL)
    return lasthop.load(file)


def test_bursts_are_in_a_recording_with_their_times(cell):
    result = lasthop.run(cell, 1, record="air", interval_s=None, progress=False)
    bursts = result.recording("interferer").to_pandas()
    # Of 8 ms each, 20 ms apart, but for the first, in which the run may begin.
    assert len(bursts) in (100, 101)
    assert set(bursts["duration_ns"][1:]) == {8_000_000}
    assert set(bursts["start_ns"].diff()[2:]) == {20_000_000}
    assert set(bursts["interferer"]) == {0} and set(bursts["level_db"]) == {0.0}
    lost = result.recording("ppdu").to_pandas()["lost_to"].value_counts()
    # Of 100 bursts, those that meet a frame: it sends for 0.2 to 0.5 of the time.
    assert lost["interferer"] >= 20


def test_account_names_interferers_where_there_are_any(cell):
    explained = lasthop.run(cell, 1, explain=True, interval_s=None, progress=False).explain()
    channel = explained.channels[0]
    # Two fifths of the time, less the rest of an A-MPDU under way.
    assert 0.3 < channel.share("interferers") < 0.4
    # A frame of 20 Mbit/s in 0.3 of the bursts.
    assert channel.share("lost_to_interferers") > 0.001
    assert "interferers" in explained.flows[0].shares
    text = CELL.split("[[interferer]]")[0]
    plain = lasthop.run(lasthop.Scenario(text), 1, explain=True, interval_s=None, progress=False).explain()
    assert not any("interferer" in term for term in (*plain.channels[0].shares, *plain.flows[0].shares))


def test_a_resolved_scenario_has_the_key_only_if_it_is_given(cell):
    resolved = cell.to_dict()
    assert resolved["interferer"] == [
        {
            "name": "oven",
            "position": ["1 m", "0 m"],
            "power": "20 dBm",
            "channel": 36,
            "channel_width": "20 MHz",
            "kind": "periodic",
            "on": "8 ms",
            "off": "12 ms",
        }
    ]
    assert "interferer" not in lasthop.Scenario(CELL.split("[[interferer]]")[0]).to_dict()


def test_map_has_interferers_and_moves_them(cell):
    oven = next(node for node in places_of(cell.to_dict())["nodes"] if node["name"] == "oven")
    assert (oven["kind"], oven["x"], oven["y"], oven["path"]) == ("interferer", 1.0, 0.0, "interferer.0")
    edits = moved(CELL, ("interferer", 0), (3.0, 2.5))
    text = CELL
    for edit in sorted(edits, key=lambda edit: -edit.begin):
        text = text[: edit.begin] + edit.text + text[edit.end :]
    assert 'position = ["3 m", "2.5 m"]' in text
