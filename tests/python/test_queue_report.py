"""Losses and waits at queues: who drops, who holds, where the bottleneck is. Alike for several, said once."""

from __future__ import annotations

from pathlib import Path

import lasthop
import pytest
from lasthop.data.grouping import alike, named
from lasthop.data.queue_report import bottleneck_text, bottlenecks, loss_warnings, queue_losses
from lasthop.views.explain.drops import drop_sentences


def run_of(nodes, wires, seed=1):
    """A run with these queues: (name, limit, packets, drops, tcp_acks, wait) and (direction, limit, packets, drops, busy, mean, longest)."""
    return {
        "seed": seed,
        "nodes": [{"name": n, "queue_drops": drops, "queue_drops_tcp_ack": acks} for n, _, _, drops, acks, _ in nodes],
        "queues": [
            {"name": n, "kind": "fifo", "limit": limit, "packets": packets, "wait_mean_s": wait}
            for n, limit, packets, _, _, wait in nodes
        ],
        "wires": [
            {"name": f"ap.{way}", "ap": "ap", "direction": way, "kind": "fifo", "limit": limit, "packets": packets}
            | {
                "queue_drops": drops,
                "queue_drops_tcp_ack": 0,
                "busy_fraction": busy,
                "wait_mean_s": mean,
                "wait_max_s": longest,
            }
            for way, limit, packets, drops, busy, mean, longest in wires
        ],
    }


IDLE = [("up", "1000 packets", 100, 0, 0.1, 0.0, 0.0), ("down", "1000 packets", 100, 0, 0.1, 0.0, 0.0)]


def test_one_percent_is_the_border():
    below = run_of([("ap", "50 packets", 10_000, 100, 0, 0.0)], IDLE)
    above = run_of([("ap", "50 packets", 10_000, 101, 100, 0.0)], IDLE)
    assert loss_warnings([below]) == []
    assert loss_warnings([above]) == [
        "queue of ap (fifo, 50 packets): dropped 1 % of the packets that came (101 of 10000, 100 of them TCP ACKs)"
    ]


def test_equal_stations_are_reported_once_and_seeds_are_added():
    stations = [(f"sta{i}", "50 packets", 1000, 100 * i, 0, 0.0) for i in (1, 2, 3)]
    runs = [run_of([("ap", "50 packets", 1000, 0, 0, 0.0), *stations], IDLE, seed) for seed in (1, 2)]
    (warning,) = loss_warnings(runs)
    assert (
        warning
        == "queues of all 3 stations (fifo, 50 packets): dropped 10 to 30 % of the packets that came (1200 of 6000)"
    )
    one = [("sta1", "50 packets", 1000, 100, 0, 0.0), ("sta2", "50 packets", 1000, 0, 0, 0.0)]
    assert loss_warnings([run_of([("ap", "50 packets", 1, 0, 0, 0.0), *one], IDLE)])[0].startswith(
        "queue of station sta1 ("
    )


def test_a_full_queue_without_limit_is_reported():
    nodes = [("ap", "unlimited", 1000, 0, 0, 0.11), ("sta1", "50 packets", 1000, 0, 0, 9.0)]
    wires = [("up", "unlimited", 1000, 0, 0.5, 0.01, 0.099), ("down", "unlimited", 1000, 0, 0.5, 0.05, 0.3)]
    ap, wire = loss_warnings([run_of(nodes, wires)])
    assert ap.startswith("queue of ap (fifo, unlimited): has no limit, and held packets for 110 ms on average")
    assert wire.startswith("wired link, down (fifo, unlimited): has no limit, and held packets for up to 300 ms")


@pytest.mark.parametrize(
    ("busy", "wire_wait", "ap_wait", "found"),
    [(0.99, 0.3, 0.01, True), (0.99, 0.0, 0.02, False), (0.5, 0.3, 0.01, False)],
    ids=["packets wait at the wire", "a source fills the wire, packets wait at the air", "the wire has room"],
)
def test_the_bottleneck_is_where_packets_wait(busy, wire_wait, ap_wait, found):
    wires = [IDLE[0], ("down", "unlimited", 1000, 0, busy, wire_wait, wire_wait)]
    runs = [run_of([("ap", "1000 packets", 1000, 0, 0, ap_wait), ("sta1", "1000 packets", 10, 0, 0, 0.0)], wires)]
    assert bool(bottlenecks(runs)) is found
    assert bottleneck_text(runs).startswith("bottleneck: wired link, down, busy for 99.0 %") is found


def test_results_of_older_versions_give_no_report():
    assert queue_losses([{"seed": 1, "nodes": []}]) == [] and loss_warnings([]) == [] and bottleneck_text([]) == ""


def test_drops_are_sentences_of_an_explanation():
    stations = [(f"sta{i}", "50 packets", 1000, 100 * i, 50, 0.0) for i in (1, 2, 3)]
    losses = queue_losses([run_of([("ap", "50 packets", 1000, 20, 0, 0.0), *stations], IDLE)])
    texts = [text for _, text in drop_sentences(losses)]
    assert texts == [
        "The queue of ap (fifo, 50 packets) dropped 2.0 % of its packets (20 of 1000).",
        (
            "The queue of sta3 (fifo, 50 packets) dropped 30.0 % of its packets (300 of 1000, 50 of them TCP ACKs); "
            "all 3 stations lost more than 1 %."
        ),
    ]


def test_few_queues_are_reported_by_name():
    assert named("flow", ["a"], 1) == "flow a"
    assert named("flow", ["a", "b", "c"], 9) == "flows a, b and c"
    assert named("flow", ["a", "b"], 2) == "all 2 flows"
    assert named("flow", list("abcde"), 9) == "5 of 9 flows (a, b, c, d and more)"
    assert alike([("a", "x"), ("b", "y"), ("c", "x")]) == {"x": ["a", "c"], "y": ["b"]}


# By running.

SLOW_WIRE = """\
duration = "6 s"
warmup = "2 s"
[bss]
standard = "802.11n"
ap = { queue = { kind = "fifo", limit = "1000 packets" } }
[[station]]
[wired]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "fifo", limit = "unlimited" }
[[flow]]
direction = "down"
"""


@pytest.fixture
def slow_wire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wire of 10 Mbit/s before 802.11n, with a queue that never drops."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "wire.toml"
    file.write_text(SLOW_WIRE)
    return file


def test_the_load_of_a_wire_follows_from_its_packets(slow_wire):
    # 10 Mbit/s, with 1448 of 1500 bytes of payload: goodput / 9.653 Mbit/s is the fraction of time it is on.
    (run,) = lasthop.run(slow_wire, seeds=1, interval_s=None).runs
    down = next(wire for wire in run["wires"] if wire["name"] == "ap.down")
    assert down["busy_fraction"] == pytest.approx(run["totals"]["goodput_bps"] / (10e6 * 1448 / 1500), rel=0.02)
    # Each packet takes 1.2 ms.
    assert down["packets"] == pytest.approx(4 / 0.0012, rel=0.3)
    assert 0 <= down["wait_mean_s"] <= down["wait_p95_s"] <= down["wait_max_s"] * 1.07


def test_the_wire_is_named_as_the_bottleneck_and_its_endless_queue_warned_of(command, slow_wire):
    done = command("run", slow_wire, "--seeds", 3)
    assert done.returncode == 0, done.stderr
    assert "\nbottleneck: wired link, down, busy for " in done.stdout
    assert (
        "lasthop: warning: wired link, down (fifo, unlimited): has no limit, and held packets for up to " in done.stderr
    )
    for row in ("AP queue drops (packets)", "station queue drops (packets)", "wired queue drops (packets)"):
        assert row in done.stdout


def test_drops_of_the_wire_are_seen(slow_wire):
    result = lasthop.run(lasthop.load(slow_wire).set("wired.queue.limit", "5 packets"), seeds=1, interval_s=None)
    (run,) = result.runs
    down = next(wire for wire in run["wires"] if wire["name"] == "ap.down")
    ap = next(node for node in run["nodes"] if node["name"] == "ap")
    assert 0 < down["queue_drops"] == ap["wired_queue_drops"] <= down["packets"]
    share = down["queue_drops"] / down["packets"]
    assert any("wired link, down (fifo, 5 packets): dropped" in warning for warning in result.warnings) is (
        share > 0.01
    )


def test_a_saturated_source_behind_the_wire_leaves_the_air_the_bottleneck(slow_wire):
    scenario = (
        lasthop.load(slow_wire)
        .set("wired.rate", "1 Gbit/s")
        .set("flow.0.transport", "udp")
        .set("flow.0.rate", "saturated")
    )
    runs = lasthop.run(scenario, seeds=1, interval_s=None).runs
    assert bottlenecks(runs) == []
    ap = next(loss for loss in queue_losses(runs) if loss.name == "ap")
    assert ap.share > 0.5, "a source of 1 Gbit/s before 65 Mbit/s"


def test_packets_that_came_are_those_that_went_were_dropped_or_wait(slow_wire):
    # Over 802.11n each packet of the AP is delivered or dropped by its queue, except those in a queue of 1000 and MAC.
    (run,) = lasthop.run(
        lasthop.load(slow_wire).set("bss.ap.queue.limit", "20 packets").set("wired.rate", "1 Gbit/s"), seeds=1
    ).runs
    queue = next(queue for queue in run["queues"] if queue["name"] == "ap")
    ap = next(node for node in run["nodes"] if node["name"] == "ap")
    passed = run["flows"][0]["bytes_delivered"] / 1448
    assert queue["packets"] - ap["queue_drops"] == pytest.approx(passed, abs=150)


def test_equal_warnings_of_a_sweep_are_reported_once(command, slow_wire):
    done = command(
        "sweep", slow_wire, "--over", "wired.delay=1 ms,2 ms", "--set", "channel.tx_power=90 dBm", "--seeds", 2
    )
    told = [line for line in done.stderr.splitlines() if "tx_power" in line]
    assert len(told) == 1 and told[0].startswith("lasthop: warning: all 2 points: tx_power: all 2 nodes at 90.0 dBm")
