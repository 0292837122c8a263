"""Applications: Flent's tests as ready scenarios, and what is shown of calls, pages and films."""

import subprocess
import sys
from pathlib import Path

import lasthop
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"

IDLE = """
duration = "20 s"
[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
[[station]]
[wired]
delay = "20 ms"
[[flow]]
direction = "down"
"""


def flows(name, **settings):
    scenario = lasthop.load(SCENARIOS / f"{name}.toml").set("duration", "30 s")
    for path, value in settings.items():
        scenario = scenario.set(path.replace("__", "."), value)
    return lasthop.run(scenario, seeds=1).flows


def streams(table, direction):
    return table[(table.traffic == "bulk") & (table.direction == direction)]


def test_tcp_nup_has_as_many_uploads_as_asked_for_beside_a_ping():
    table = flows("tcp-nup", flow__0__count=6)
    assert len(streams(table, "up")) == 6 and len(table) == 7
    assert table[table.traffic == "ping"].rtt_p50_s.item() > 0.020


def test_the_ping_of_tcp_ndown_waits_in_the_queue_of_the_access_point():
    deep = flows("tcp-ndown")
    short = flows("tcp-ndown", bss__ap__queue={"kind": "fifo", "limit": "20 packets"})
    waits = [table[table.traffic == "ping"].rtt_p50_s.item() for table in (deep, short)]
    # 1000 packets of 1500 B at 100 Mbit/s are 120 ms when the queue is full; 20 of them 2 ms. The wire is 20 ms.
    assert 0.08 < waits[0] < 0.16 and 0.020 < waits[1] < 0.030


def test_tcp_nup_ndown_goes_both_ways():
    table = flows("tcp-nup-ndown")
    assert len(streams(table, "up")) == len(streams(table, "down")) == 4
    assert (table[table.traffic == "bulk"].goodput_bps > 0).all()


def test_rrul_has_four_streams_each_way_a_class_each_and_four_pings():
    table = flows("rrul")
    for direction in ("up", "down"):
        assert sorted(streams(table, direction).dscp) == ["CS0", "CS1", "CS5", "EF"]
    assert sorted(table[table.traffic == "ping"].dscp) == ["CS0", "CS0", "CS1", "EF"]


def test_rtt_fair_has_servers_near_and_far():
    table = streams(flows("rtt-fair", warmup="10 s"), "down")
    base = table.rtt_min_s.tolist()
    # 2 (1 + 4, 19, 49, 99) ms and what the queues hold at least.
    assert base == sorted(base)
    assert all(value >= least for value, least in zip(base, (0.010, 0.040, 0.100, 0.200), strict=True))
    assert table.goodput_bps.iloc[0] > table.goodput_bps.iloc[3]


def test_the_flows_of_the_office_run_on_an_older_standard():
    office = (SCENARIOS / "office-11ax.toml").read_text()
    flows_only = office[office.index("[wired]") :]
    head = '[bss]\nstandard = "802.11a"\nrate_control = { kind = "fixed", rate = "54 Mbit/s" }\n' + "".join(
        f'[[station]]\nname = "{name}"\ncount = {count}\n'
        for name, count in (("bulk", 1), ("upload", 1), ("call", 2), ("web", 4))
    )
    scenario = lasthop.Scenario('duration = "20 s"\n' + head + flows_only, "office.toml")
    table = lasthop.run(scenario, seeds=1).flows
    calls = table[table.traffic == "voip"]
    assert len(calls) == 4 and set(calls.transport) == {"udp"} and calls.mos.between(1, 4.5).all()
    assert table[table.traffic == "web"].pages.sum() > 0


def test_a_trace_lies_beside_its_scenario(tmp_path):
    (tmp_path / "packets.csv").write_text("seconds,bytes\n0.5,1000\n1.5,500\n")
    text = IDLE + 'transport = "udp"\ntraffic = { kind = "trace", file = "packets.csv" }\n'
    (tmp_path / "scenario.toml").write_text(text)
    result = lasthop.run(lasthop.load(tmp_path / "scenario.toml"), seeds=1)
    assert result.flows.bytes_delivered.item() == 1500
    (tmp_path / "packets.csv").write_text("1.0 1000\n0.5 500\n")
    with pytest.raises(lasthop.ScenarioError, match=r"packets.csv:2: 0.5 s comes after 1 s; sort the lines by time"):
        lasthop.load(tmp_path / "scenario.toml")


@pytest.mark.parametrize(
    ("keys", "columns"),
    [
        ('traffic = "voip"', ("voip", "loss (%)", "jitter (ms)", "MOS")),
        ('traffic = "ping"\ndscp = "EF"', ("ping EF", "RTT p95 (ms)", "loss (%)")),
        ('traffic = { kind = "web", think_time = "1 s" }', ("web", "pages", "page load p50 (s)")),
        ('traffic = { kind = "video", bitrate = "1 Mbit/s" }', ("video", "stalls", "stalled (s)")),
        ('transport = "udp"\nrate = "1 Mbit/s"', ("udp", "delay p50 (ms)", "delay p95 (ms)")),
    ],
)
def test_the_table_of_a_run_shows_quantities_of_applications(tmp_path, keys, columns):
    (tmp_path / "scenario.toml").write_text(IDLE + keys + "\n")
    command = [sys.executable, "-m", "lasthop", "run", str(tmp_path / "scenario.toml"), "--seeds", "1"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for column in (*columns, "given up after the last retry (packets)"):
        assert column in shown
    assert "cwnd" in shown or "timeouts" not in shown
