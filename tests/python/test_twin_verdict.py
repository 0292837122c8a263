"""The verdict of a fitted twin: each flow and link of the capture next to those of the twin."""

from __future__ import annotations

import json
from dataclasses import replace

import lasthop
import pytest
from lasthop.cli.twin import verdict_text
from lasthop.foreign.analysis import analyze
from lasthop.foreign.twin.observation import Flow, Seen, seen_in
from lasthop.foreign.twin.verdict import Verdict, compared, verdict_of
from lasthop.study.scenario import Scenario

DOWNLOAD = """
duration = "2 s"
[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
[[station]]
[wired]
delay = "20 ms"
[[flow]]
direction = "down"
"""
# No capture shows why such a sender waits, and a twin has a larger window.
SMALL_WINDOW = DOWNLOAD + '[tcp]\nreceive_window = "20 kB"\n'

FLOW = Flow(
    *("sta.down", "sta", "down", "tcp", 10e6, None, False, 0.0, 0.0, 1.0, 900, 1_250_000, 1448, 0.0),
    *(True, True, 0, 450, 900, None, 0, {}),
)
SEEN = Seen("", 1.0, (36,), ("ap",), {"sta": "ap"}, {}, (FLOW,), None, {}, 0.0)


def captured(text, folder):
    lasthop.run(Scenario(text, str(folder / "one.toml")), seeds=[1], interval_s=None, pcap=folder, progress=False)
    return folder / "air.pcapng"


def test_a_twin_that_holds_gives_status_0_and_says_so_in_its_file(command, tmp_path):
    air = captured(DOWNLOAD, tmp_path)
    done = command("twin", air, "--fit", "--out", tmp_path / "twin.toml", "--json", tmp_path / "verdict.json")
    assert done.returncode == 0, done.stderr
    assert "The twin holds." in done.stdout
    assert "# It holds: 1 of 1 flows" in (tmp_path / "twin.toml").read_text()
    found = json.loads((tmp_path / "verdict.json").read_text())
    flow, *links = found["rows"]
    assert found["holds"] and flow["holds"] and flow["share_of_bytes"] == 1.0
    assert flow["twin"]["n"] == 5 and flow["captured"] == pytest.approx(flow["twin"]["mean"], rel=0.1)
    assert {link["quantity"] for link in links} == {"unanswered", "PHY rate"}


def test_a_twin_that_does_not_hold_gives_status_1_and_says_so_in_its_file(command, tmp_path):
    air = captured(SMALL_WINDOW, tmp_path)
    done = command("twin", air, "--fit", "--out", tmp_path / "twin.toml")
    assert done.returncode == 1, done.stderr
    assert "does not hold" in done.stdout
    head = (tmp_path / "twin.toml").read_text().partition("\n\n")[0]
    assert "# It does NOT hold for sta.down: goodput" in head
    lasthop.load(tmp_path / "twin.toml")
    rows = command("compare", air, tmp_path / "twin.toml", "--seeds", 3).stdout
    assert "flows.sta.down.goodput_bps (Mbit/s)" in rows, "flows are compared, and not only sums"


def test_a_ping_has_a_row_with_its_rtt(tmp_path):
    ping = '[[flow]]\ndirection = "up"\ntraffic = { kind = "ping", interval = "400 ms" }\n'
    air = captured(DOWNLOAD + ping, tmp_path)
    seen = seen_in(analyze([air], interval_s=None, writes=True))
    (row,) = (row for row in verdict_of(seen, [seen] * 5, {}).rows if row.quantity == "RTT p95 beyond the sniffer")
    # Twice the wire's 20 ms, and the queues of the AP.
    assert row.name == "sta.up" and row.holds and 40 < row.captured < 200


def test_a_verdict_as_json_needs_a_fit(command, tmp_path):
    done = command("twin", tmp_path / "none.pcapng", "--out", tmp_path / "t.toml", "--json", "-")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and "--json: has the verdict of --fit" in done.stderr


def test_the_interval_is_that_of_a_further_run():
    # 9, 10, 11: mean 10, deviation 1; t of two degrees at 95 % is 4.3027, times sqrt(1 + 1/3) 4.9683.
    row = compared("f", "goodput", "Mbit/s", 16.0, [9.0, 10.0, 11.0], 1.0)
    assert (row.low, row.high) == (pytest.approx(10 - 4.9683, abs=1e-4), pytest.approx(10 + 4.9683, abs=1e-4))
    # A tenth of 16 more is 16.57.
    assert row.holds and not compared("f", "goodput", "Mbit/s", 16.7, [9.0, 10.0, 11.0], 1.0).holds
    assert row.word == "holds" and compared("f", "goodput", "Mbit/s", 5.0, [1.0, 5.0, 9.0], 1.0).word == "undecided"


def test_an_interval_that_is_too_wide_decides_nothing():
    # 4.44 of 0 to 33.5 Mbit/s says nothing; the other flow is like the captured one.
    wide = compared("a", "goodput", "Mbit/s", 4.44, [8.0, 15.0, 22.0], 0.4)
    near = compared("b", "goodput", "Mbit/s", 10.0, [9.9, 10.0, 10.1], 0.6)
    found = Verdict((wide, near))
    assert found.holds and found.undecided == [wide]
    first, second = found.sentences()
    assert first.startswith("It is undecided: 1 of 2 flows are like those of the capture.")
    assert second.startswith(
        "a: undecided: interval too wide: goodput 4.44 Mbit/s in the capture, 15 in the twin (0 to "
    )
    assert second.removesuffix(".") in verdict_text(found) and "The twin holds" not in verdict_text(found)
    assert Verdict((near,)).sentences()[0].startswith("It holds: 1 of 1")


def test_a_flow_decides_only_with_more_than_a_twentieth_of_the_bytes():
    of = lambda share: Verdict((compared("f", "goodput", "Mbit/s", 10.0, [1.0, 1.1, 1.2], share),))
    assert of(0.05).holds and not of(0.06).holds
    link = compared("ap → sta", "PHY rate", "Mbit/s", 10.0, [1.0, 1.1, 1.2])
    assert not link.holds and Verdict((link,)).holds


def test_a_flow_that_the_twin_lacks_has_delivered_nothing():
    (row,) = verdict_of(SEEN, [replace(SEEN, flows=())] * 5, {}).rows
    assert (row.mean, row.holds) == (0.0, False)


def test_flows_are_matched_by_station_direction_and_number_whatever_they_are_called():
    second = replace(FLOW, id="sta.down.2", goodput_bps=2e6)
    like = replace(SEEN, flows=(replace(FLOW, id="x", station="s"), replace(second, id="y", station="s")))
    rows = verdict_of(replace(SEEN, flows=(FLOW, second)), [like] * 5, {"sta": "s"}).rows
    assert [(row.name, row.mean, row.holds) for row in rows] == [("sta.down", 10.0, True), ("sta.down.2", 2.0, True)]


def test_without_a_flow_that_is_judged_nothing_is_decided():
    for found in (Verdict(()), Verdict((compared("f", "goodput", "Mbit/s", 10.0, [9.9, 10.0, 10.1], 0.01),))):
        assert not found.is_decided and found.to_dict()["is_decided"] is False
        assert found.sentences()[0].startswith("It is undecided: no flow with more than 5 % of the bytes has the 100 ")
        assert "undecided" in verdict_text(found) and "The twin holds" not in verdict_text(found)
    assert Verdict((compared("f", "goodput", "Mbit/s", 10.0, [9.9, 10.0, 10.1], 1.0),)).is_decided


def test_a_capture_of_few_round_trips_is_warned_about(command, tmp_path):
    air = captured(DOWNLOAD, tmp_path)
    # Some 100 ms are five of 40 ms or less; the connection opened before.
    done = command("twin", air, "--from", "1s", "--to", "1.1s", "--out", tmp_path / "twin.toml")
    assert done.returncode == 0, done.stderr
    assert "is shorter than 20 round trips of" in done.stderr
    assert "# Warning: the capture of 100" in (tmp_path / "twin.toml").read_text()
