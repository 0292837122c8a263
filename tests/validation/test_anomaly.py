"""The performance anomaly, and its end: the 3- and the 30-station cases of "Ending the Anomaly" [Høiland-Jørgensen 2017].

Fast stations at 144.4 Mbit/s, a slow one at 7.2 Mbit/s (802.11n, 20 MHz, one or two streams), as in the paper. Its slow
station of the 30 was at 1 Mbit/s, which an 802.11n link has not here. Where a discipline stands above a driver, the
driver holds 128 packets.
"""

from math import ceil
from pathlib import Path
from typing import Any

import lasthop
import pytest
from airtime import jain, shares

SCENARIOS = Path(__file__).parents[2] / "scenarios"
THREE, THIRTY = "anomaly-3-stations", "anomaly-30-stations"
FIFO = {"kind": "fifo", "limit": "1000 packets"}
UDP = {"transport": "udp", "traffic": "poisson", "rate": "100 Mbit/s"}
SEEDS = 3

# Without aggregation: two stations at 54 Mbit/s, one at 6.
HEUSSE = """
duration = "20 s"
warmup = "5 s"
[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
[[station]]
name = "fast"
count = 2
[[station]]
name = "slow"
rate_control = { kind = "fixed", rate = "6 Mbit/s" }
[[flow]]
station = "*"
direction = "down"
transport = "udp"
traffic = "poisson"
rate = "50 Mbit/s"
"""


# A-MPDUs of 4 ms and no TXOP limit, as ath9k and hostapd had them: two MPDUs to the slow station. "Ending the Anomaly"
# measured a mean of 18.4 MPDUs to the fast ones.
AS_MEASURED = {"txop_limit": "0 us", "max_duration": "4 ms", "max_mpdus": 18}


def simulate(
    name: str, queue: object, driver: str = "0 packets", limits: dict[str, object] | None = None, **flow: object
) -> list[dict[str, Any]]:
    """The runs of a scenario with this queue at the AP; `limits`: of TXOPs and A-MPDUs; `flow`: keys of its first flow."""
    scenario = lasthop.load(SCENARIOS / f"{name}.toml").set("bss.ap.queue", queue).set("bss.ap.driver_queue", driver)
    for key, value in (limits or {}).items():
        scenario = scenario.set("bss.edca.be.txop_limit" if key == "txop_limit" else f"bss.aggregation.{key}", value)
    for key, value in flow.items():
        scenario = scenario.set(f"flow.0.{key}", value)
    return lasthop.run(scenario, seeds=SEEDS, interval_s=None).runs


def mean(runs: list[dict[str, Any]], of: Any) -> float:
    return sum(map(of, runs)) / len(runs)


def goodput(runs: list[dict[str, Any]], station: str = "") -> float:
    """Mbit/s of the flows of stations whose names begin with this."""
    of_run = lambda run: sum(f["goodput_bps"] or 0.0 for f in run["flows"] if f["station"].startswith(station))
    return mean(runs, of_run) / 1e6


def share(runs: list[dict[str, Any]], station: str) -> float:
    return mean(runs, lambda run: shares(run)[station])


def papers_turns(mpdus: list[float], rates: list[float]) -> list[float]:
    """Mean times of turns in us by the paper's formula: PHY header 32, DIFS 34, backoff 68, two SIFS of 16, 1544 B an MPDU,
    a Block Ack of 58 B at the rate of the data [Høiland-Jørgensen 2017 §2.2]."""
    return [166 + 8 * (1544 * count + 58) / rate for count, rate in zip(mpdus, rates, strict=True)]


def turn_us(mpdus: int, streams: int, bits_per_symbol: int, block_ack_us: int) -> float:
    """Mean time of a turn: AIFS, backoff, an A-MPDU of packets of 1500 B in HT-mixed format of 20 MHz with the short
    guard interval, SIFS, BlockAck [802.11-2020 §10.23.2, §19.4.3]."""
    bits = 8 * (1544 * mpdus - 2) + 22  # MPDUs of 1538 B with delimiters, padded; service and tail
    data_us = 4 * ceil(3.6 * ceil(bits / bits_per_symbol) / 4)
    return 16 + 3 * 9 + 7.5 * 9 + (32 + 4 * streams) + data_us + 16 + block_ack_us


def test_the_papers_formula_gives_its_table_and_the_shares_of_turns() -> None:
    mpdus, rates = [18.44, 18.52, 1.89], [144.4, 144.4, 7.2]
    turns = papers_turns(mpdus, rates)
    # Its rates of each station alone.
    alone = [8 * 1500 * count / turn for count, turn in zip(mpdus, turns, strict=True)]
    assert alone == pytest.approx([126.7, 126.7, 6.5], abs=0.1)
    together = [8 * 1500 * count / sum(turns) for count in mpdus]
    assert together == pytest.approx([31.8, 31.8, 3.3], abs=0.1)
    assert [turn / sum(turns) for turn in turns] == pytest.approx([0.25, 0.25, 0.5], abs=0.005)


def test_stations_in_turn_get_an_aggregate_each_and_the_slow_one_half_of_the_air_with_udp() -> None:
    runs = simulate(THREE, "fq_mac", limits=AS_MEASURED, **UDP)
    fast, slow = turn_us(18, 2, 520, 32), turn_us(2, 1, 26, 68)
    cycle_us = 2 * fast + slow
    expected = {"fast1": 18 * 1472 * 8 / cycle_us, "fast2": 18 * 1472 * 8 / cycle_us, "slow": 2 * 1472 * 8 / cycle_us}
    for station, rate in expected.items():
        assert goodput(runs, station) == pytest.approx(rate, rel=0.01)
    # The paper's 25, 25 and 50 %; airtime leaves out AIFS and backoff, 110.5 us a turn.
    air = [fast - 110.5, fast - 110.5, slow - 110.5]
    for station, of in zip(expected, air, strict=True):
        assert share(runs, station) == pytest.approx(of / sum(air), rel=0.01)
    assert share(runs, "slow") == pytest.approx(0.5, abs=0.03)


def test_airtime_fairness_gains_with_tcp_what_it_gained_with_ath9k() -> None:
    def total(queue: str) -> float:
        scenario = lasthop.load(SCENARIOS / f"{THREE}.toml").set("bss.ap.queue", queue).set("bss.ap.driver", "ath9k")
        for place in (0, 1):
            scenario = scenario.set(f"station.{place}.driver", "ath9k")
        for key, value in AS_MEASURED.items():
            section = "bss.edca.be" if key == "txop_limit" else "bss.aggregation"
            scenario = scenario.set(f"{section}.{key}", value)
        return goodput(lasthop.run(scenario, seeds=SEEDS, interval_s=None).runs)

    # The commit that brought it to ath9k (63fefa05) has 41.6 and 52.1 Mbit/s: 1.25, of one testbed.
    assert total("airtime_fq_codel") / total("fq_mac") == pytest.approx(1.25, rel=0.1)


@pytest.mark.parametrize("queue", [FIFO, "fq_codel"], ids=["fifo", "fq_codel"])
def test_a_slow_station_drags_fast_ones_to_its_level_with_udp(queue: object) -> None:
    runs = simulate(THREE, queue, **UDP)
    rates = [goodput(runs, station) for station in ("fast1", "fast2", "slow")]
    # 28 packets to a fast station take 2.4 ms, to the slow one 28 times 1.9 ms: 28 * 1472 B in 58 ms are 5.7 Mbit/s.
    assert rates == pytest.approx([5.5] * 3, rel=0.1)
    assert share(runs, "slow") > 0.8


def test_equal_airtime_gives_each_station_a_third_of_its_goodput_alone_with_udp() -> None:
    runs = simulate(THREE, "airtime_fq_codel", **UDP)
    for station in ("fast1", "fast2", "slow"):
        assert share(runs, station) == pytest.approx(1 / 3, rel=0.05)
    # The paper's model: 42.2, 42.3 and 2.2 Mbit/s.
    assert [goodput(runs, s) for s in ("fast1", "fast2", "slow")] == pytest.approx([42.2, 42.3, 2.1], rel=0.05)


def test_the_slow_station_takes_most_of_the_air_with_tcp_and_gives_it_back() -> None:
    fifo, airtime = simulate(THREE, FIFO), simulate(THREE, "airtime_fq_codel")
    assert share(fifo, "slow") > 0.8
    for station in ("fast1", "fast2", "slow"):
        assert share(airtime, station) == pytest.approx(1 / 3, rel=0.05)
    # A fast station has a third of the air, where it had a twentieth.
    assert goodput(airtime, "fast1") > 5 * goodput(fifo, "fast1")
    assert goodput(airtime) > 4 * goodput(fifo)


def test_flow_queues_above_a_driver_do_not_help() -> None:
    runs = simulate(THREE, "fq_codel", driver="128 packets")
    assert share(runs, "slow") > 0.8


def test_with_uploads_too_airtime_is_nearly_equal() -> None:
    # Uplink airtime is charged to stations, but not scheduled: the paper has an index slightly below 1 here too.
    fifo, airtime = (simulate(THREE, queue, direction="both") for queue in (FIFO, "airtime_fq_codel"))
    index = lambda runs: mean(runs, lambda run: jain(list(shares(run).values())))
    assert index(fifo) < 0.9
    assert index(airtime) > 0.97
    assert goodput(airtime, "fast") > 1.4 * goodput(fifo, "fast")


def test_one_slow_station_of_29_takes_over_ten_times_its_share_and_airtime_fairness_ends_that() -> None:
    flow_queues, airtime = simulate(THIRTY, "fq_codel", driver="128 packets"), simulate(THIRTY, "airtime_fq_codel")
    busy = [f"fast{i + 1}" for i in range(28)] + ["slow"]
    assert share(flow_queues, "slow") > 10 / 29
    for station in busy:
        assert share(airtime, station) == pytest.approx(1 / 29, rel=0.05)
    assert goodput(airtime) > 1.8 * goodput(flow_queues)


def test_a_sparse_station_is_served_at_once_among_29_downloads() -> None:
    median = lambda runs: mean(runs, lambda run: next(f["rtt_p50_s"] for f in run["flows"] if f["station"] == "sparse"))
    assert median(simulate(THIRTY, "airtime_fq_codel")) < 0.020
    assert median(simulate(THIRTY, FIFO)) > 0.050


def test_the_anomaly_of_heusse_in_802_11a_ends_too() -> None:
    scenario = lasthop.Scenario(HEUSSE, "anomaly-11a.toml")
    fifo, airtime = (
        lasthop.run(scenario.set("bss.ap.queue", queue), seeds=SEEDS, interval_s=None).runs
        for queue in (FIFO, "airtime_fq_codel")
    )
    rates = [goodput(fifo, station) for station in ("fast1", "fast2", "slow")]
    # DIFS 34, backoff 67.5, SIFS 16, ACK: 393 us at 54 Mbit/s (ACK 28), 2222 at 6 (44): 3 * 11,776 bit in 3008 us.
    assert rates == pytest.approx([3.9] * 3, rel=0.05)
    for station in ("fast1", "fast2", "slow"):
        assert share(airtime, station) == pytest.approx(1 / 3, rel=0.05)
