"""Active queue management from the scenario file on: bulk downloads behind a wired link of 20 Mbit/s and 2 x 20 ms.

A segment takes 0.6 ms on the wire and its exchange on the air 0.2 ms: 40.8 ms without a queue, 19.31 Mbit/s of payload.
"""

from typing import Any

import lasthop
import pytest

BOTTLENECK = """
duration = "40 s"
warmup = "10 s"
[channel]
path_loss = "none"
[bss]
standard = "802.11n"
channel_width = "40 MHz"
spatial_streams = 2
guard_interval = "short"
rate_control = { kind = "fixed", mcs = 15 }
[bss.ap]
queue = "fifo"
[[station]]
name = "sta"
[wired]
rate = "20 Mbit/s"
delay = "20 ms"
queue = { kind = "fifo", limit = "1000 packets" }
[tcp]
profile = "linux"
congestion_control = "cubic"
[[flow]]
station = "sta"
count = 4
direction = "down"
start_jitter = "1 s"
"""
# Eight downloads and a call, all in the access point's queue.
CALL = """
duration = "15 s"
warmup = "5 s"
[channel]
path_loss = "none"
[bss]
standard = "802.11n"
channel_width = "20 MHz"
spatial_streams = 2
guard_interval = "short"
rate_control = { kind = "fixed", mcs = 15 }
[bss.ap]
queue = { kind = "fifo", limit = "1000 packets" }
[[station]]
name = "bulk"
count = 8
[[station]]
name = "call"
[wired]
rate = "1 Gbit/s"
delay = "5 ms"
queue = { kind = "fifo", limit = "unlimited" }
[tcp]
profile = "linux"
congestion_control = "cubic"
[[flow]]
station = "bulk*"
direction = "down"
start_jitter = "1 s"
[[flow]]
station = "call"
direction = "both"
traffic = "voip"
"""
EMPTY_S = 0.0408
FULL_BPS = 20e6 * 1448 / 1500
SEEDS = 3


def simulate(text: str, **settings: object) -> list[dict[str, Any]]:
    scenario = lasthop.Scenario(text, "queues.toml")
    for path, value in settings.items():
        scenario = scenario.set(path.replace("__", "."), value)
    return lasthop.run(scenario, seeds=SEEDS, interval_s=None).runs


def waiting_s(runs: list[dict[str, Any]]) -> float:
    """Median RTT beyond that of an empty path, mean over flows and seeds."""
    medians = [flow["rtt_p50_s"] for run in runs for flow in run["flows"]]
    return sum(medians) / len(medians) - EMPTY_S


def goodput(runs: list[dict[str, Any]]) -> float:
    return sum(run["totals"]["goodput_bps"] for run in runs) / len(runs)


def total(runs: list[dict[str, Any]], key: str) -> int:
    """A number of the access point, which counts for both ends of its wired link, or of all flows."""
    return sum(run["nodes"][0][key] if key in run["nodes"][0] else sum(f[key] for f in run["flows"]) for run in runs)


def test_a_fifo_of_1000_packets_stays_full() -> None:
    # 1000 packets of 0.6 ms; CUBIC leaves 0.7 of it after a loss.
    assert 0.4 < waiting_s(simulate(BOTTLENECK)) < 0.6


@pytest.mark.parametrize("controller", ["newreno", "cubic"])
def test_codel_keeps_a_standing_queue_at_its_target(controller: str) -> None:
    runs = simulate(BOTTLENECK, wired__queue="codel", tcp__congestion_control=controller)
    # Target 5 ms. The queue moves around it, as a window shrinks by three tenths or by half of 47 ms.
    assert waiting_s(runs) == pytest.approx(0.006, abs=0.0015)
    assert goodput(runs) > 0.98 * FULL_BPS


@pytest.mark.parametrize("flows", [1, 4, 16])
def test_pie_keeps_the_delay_at_its_reference(flows: int) -> None:
    runs = simulate(BOTTLENECK, wired__queue="pie", flow__0__count=flows)
    assert waiting_s(runs) == pytest.approx(0.015, abs=0.0015)
    assert goodput(runs) > 0.98 * FULL_BPS


def test_red_keeps_the_average_queue_between_its_thresholds() -> None:
    # 20 to 60 packets: 12 to 36 ms.
    red = {
        "kind": "red",
        "min": "20 packets",
        "max": "60 packets",
        "limit": "200 packets",
        "bandwidth": "20 Mbit/s",
        "avpkt": "1500 B",
    }
    runs = simulate(BOTTLENECK, wired__queue=red, flow__0__count=16)
    assert 0.012 < waiting_s(runs) < 0.036
    assert total(runs, "wired_queue_drops_tail") == 0 < total(runs, "wired_queue_drops_early")


@pytest.mark.parametrize("controller", ["newreno", "cubic", "dctcp"])
@pytest.mark.parametrize("queue", [{"kind": "codel", "ecn": True}, "fq_codel"], ids=["codel", "fq_codel"])
def test_marks_take_the_place_of_drops(controller: str, queue: object) -> None:
    runs = simulate(BOTTLENECK, wired__queue=queue, tcp__congestion_control=controller, tcp__ecn="on")
    assert total(runs, "wired_queue_marks") > 0 == total(runs, "wired_queue_drops")
    assert total(runs, "segments_retransmitted") == 0
    # The senders shrink their windows for marks as for losses, DCTCP by their share.
    assert waiting_s(runs) < 0.015
    assert goodput(runs) > 0.97 * FULL_BPS


def test_dctcp_is_marked_far_more_often_than_cubic() -> None:
    marks = lambda controller: total(
        simulate(
            BOTTLENECK, wired__queue={"kind": "codel", "ecn": True}, tcp__congestion_control=controller, tcp__ecn="on"
        ),
        "wired_queue_marks",
    )
    assert marks("dctcp") > 10 * marks("cubic")


def test_without_ecn_the_same_queues_drop() -> None:
    runs = simulate(BOTTLENECK, wired__queue="fq_codel", tcp__ecn="passive")
    assert total(runs, "wired_queue_marks") == 0 < total(runs, "wired_queue_drops_early")


@pytest.mark.parametrize("queue", ["fq_codel", "fq_pie", "sfq", "airtime_fq_codel"])
def test_a_call_does_not_wait_behind_eight_downloads_with(queue: str) -> None:
    # 5 ms of the way are the wire's. A FIFO of 1000 packets has 60 ms and more.
    calls = [flow for run in simulate(CALL, bss__ap__queue=queue) for flow in run["flows"] if flow["id"] == "call.down"]
    assert all(call["delay_p50_s"] < 0.020 and call["loss_fraction"] == 0 for call in calls)


def test_a_call_waits_behind_eight_downloads_in_a_fifo() -> None:
    calls = [flow for run in simulate(CALL) for flow in run["flows"] if flow["id"] == "call.down"]
    assert all(call["delay_p50_s"] > 0.050 for call in calls)
