"""The ready tasks, by name."""

from __future__ import annotations

import json
from collections.abc import Callable

from .. import _core
from ..study.scenario import Scenario
from .task import Task


def best_window(scenario: Scenario) -> tuple[float, str]:
    """The goodput at the best constant window, which `lasthop theory` has."""
    start = "Bianchi: goodput at the best CW"
    rows = json.loads(_core.theory_json(scenario.resolve()))["rows"]
    (row,) = [row for row in rows if row["quantity"].startswith(start) and "DIFS" in row["quantity"]]
    return row["closed_form"] / 1e6, "Bianchi's closed form at the best window (`lasthop theory`)"


def _scenario(text: str) -> Scenario:
    return Scenario(text, "task.toml")


_SATURATED = """
warmup = "500 ms"
[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
# The case of the closed form: each slot counts, all wait DIFS, no frame is given up.
countdown = "bianchi"
eifs = false
retry_limit = "unlimited"
[[station]]
count = 20
[[flow]]
station = "*"
direction = "up"
transport = "udp"
rate = "saturated"
packet_size = "1500 B"
"""


def _cw() -> Task:
    return Task(
        "cw",
        "the contention window of 20 saturated stations",
        _scenario(_SATURATED),
        ("edca.cw_min:sta*", "edca.cw_max:sta*"),
        7,
        2047,
        {"medium.contending_stations_mean": 1.0, "medium.collision_fraction": 0.1, "medium.idle_fraction": 0.1},
        "100 ms",
        default="802.11's window, doubled after collisions",
        constants=(15, 63, 255, 1023),
        optimum=best_window,
        generations=30,
        population=32,
        seeds=20,
    )


_BUSY = """
warmup = "2 s"
[bss]
standard = "802.11n"
rate_control = { kind = "fixed", mcs = 7 }
[bss.ap]
queue = "fq_codel"
[[station]]
count = 4
[wired]
delay = "10 ms"
[[flow]]
station = "*"
direction = "down"
"""


def _aqm() -> Task:
    return Task(
        "aqm",
        "CoDel's target at an access point with four CUBIC downloads",
        _scenario(_BUSY),
        ("queue.target:ap",),
        0.0005,
        0.08,
        {"nodes.ap.queue_packets": 10.0, "medium.busy_fraction": 0.5},
        "100 ms",
        reward='log(1 + totals.goodput_bps / 1e6) - 20 * mean("flows.*.rtt_mean_s")',
        unit="log Mbit/s - 20 RTT/s",
        default="CoDel's 5 ms",
        key="bss.ap.queue",
        constants=(0.002, 0.02, 0.05),
        training="4 s",
    )


_ONE_AMONG = (
    _BUSY.replace('station = "*"', 'station = "sta1"')
    + """
[[flow]]
station = ["sta2", "sta3", "sta4"]
direction = "down"
"""
)


def _window() -> Task:
    return Task(
        "window",
        "the congestion window of a download among three of CUBIC",
        _scenario(_ONE_AMONG),
        ("window:sta1.down",),
        2,
        500,
        {"flows.sta1.down.rtt_mean_s": 0.02, "flows.sta1.down.rtt_min_s": 0.02},
        "100 ms",
        reward="log(1 + flows.sta1.down.goodput_bps / 1e6) - 20 * flows.sta1.down.rtt_mean_s",
        unit="log Mbit/s - 20 RTT/s",
        default="CUBIC",
        key="flow.0.congestion_control",
        algorithms={
            "BBR": {"flow.0.congestion_control": "bbr"},
            "Prague": {"flow.0.congestion_control": "prague", "flow.0.ecn": "accurate"},
        },
        constants=(10, 40, 160),
        training="4 s",
    )


_ANOMALY = """
warmup = "1 s"
[bss]
standard = "802.11n"
[bss.ap]
queue = "airtime_fq_codel"
[[station]]
name = "fast"
count = 3
rate_control = { kind = "fixed", mcs = 7 }
[[station]]
name = "slow"
rate_control = { kind = "fixed", mcs = 0 }
[[flow]]
station = "*"
direction = "down"
"""


def _weights() -> Task:
    return Task(
        "weights",
        "the airtime weight of a slow station, for proportional fairness",
        _scenario(_ANOMALY),
        ("airtime_weight:slow",),
        16,
        4096,
        {"flows.slow.down.goodput_bps": 1e6, "totals.goodput_bps": 1e7},
        "200 ms",
        reward="log(1 + flows.fast1.down.goodput_bps / 1e6) + log(1 + flows.fast2.down.goodput_bps / 1e6) + "
        "log(1 + flows.fast3.down.goodput_bps / 1e6) + log(1 + flows.slow.down.goodput_bps / 1e6)",
        unit="sum of log Mbit/s",
        default="equal weights",
        constants=(64, 1024),
        training="4 s",
    )


_CALLS = """
warmup = "1 s"
[bss]
standard = "802.11n"
[bss.ap]
queue = "airtime_fq_codel"
[[station]]
name = "bulk"
count = 4
rate_control = { kind = "fixed", mcs = 7 }
[[station]]
name = "phone"
rate_control = { kind = "fixed", mcs = 0 }
[[flow]]
station = "bulk*"
direction = "down"
[[flow]]
station = "phone"
direction = "down"
count = 8
transport = "udp"
traffic = { kind = "voip", codec = "g711" }
"""


def _calls() -> Task:
    return Task(
        "calls",
        "the airtime weight of a slow station with eight calls among downloads",
        _scenario(_CALLS),
        ("airtime_weight:phone",),
        16,
        8192,
        {"nodes.phone.latency_down_p95_s": 0.02, "links.ap.phone.airtime_fraction": 0.1},
        "200 ms",
        reward="log(1 + totals.goodput_bps / 1e6) - 20 * nodes.phone.latency_down_p95_s",
        unit="log Mbit/s - 20 latency/s",
        default="equal weights",
        constants=(64, 1024, 4096),
        training="4 s",
    )


_OFDMA = """
warmup = "1 s"
[bss]
standard = "802.11ax"
channel_width = "80 MHz"
rate_control = { kind = "fixed", mcs = 7 }
[bss.ap]
multi_user = { kind = "airtime", uplink = false }
queue = "fq_codel"
[[station]]
count = 12
[[flow]]
station = ["sta1", "sta2", "sta3"]
direction = "down"
[[flow]]
station = "*"
direction = "down"
transport = "udp"
rate = "500 kbit/s"
packet_size = "200 B"
"""


def _ofdma() -> Task:
    return Task(
        "ofdma",
        "the most users of an OFDMA PPDU, for downloads beside small packets",
        _scenario(_OFDMA),
        ("multi_user.max_users:ap",),
        2,
        37,
        {"nodes.ap.queue_packets": 100.0, "nodes.ap.users_per_ppdu_down_mean": 1.0},
        "100 ms",
        reward='log(1 + totals.goodput_bps / 1e6) - 100 * mean("nodes.sta*.latency_down_p95_s")',
        unit="log Mbit/s - 100 latency/s",
        default="eight users",
        key="bss.ap.multi_user",
        algorithms={"one user": {"bss.ap.multi_user.least_bytes": "6 MB"}},
        constants=(2, 4, 16),
        training="3 s",
    )


_MOVING = """
warmup = "500 ms"
[bss]
standard = "802.11n"
guard_interval = "long"
spatial_streams = 1
[bss.ap]
position = ["0 m", "0 m"]
[[station]]
name = "walker"
waypoints = [["0 s", "3 m", "0 m"], ["10 s", "45 m", "0 m"]]
[[station]]
name = "other"
count = 2
rate_control = { kind = "fixed", mcs = 4 }
[[flow]]
station = "*"
direction = "up"
transport = "udp"
rate = "saturated"
"""
_SEEN = {"links.walker.ap.mpdu_loss_fraction": 0.1, "links.walker.ap.mean_data_rate_bps": 6e6}


def _rate(name: str = "rate", more: dict[str, float] | None = None) -> Task:
    return Task(
        name,
        "the rate of a station that walks away" + (", which sees why frames are lost" if more else ""),
        _scenario(_MOVING),
        ("rate:walker->ap",),
        6.5e6,
        65e6,
        _SEEN | (more or {}),
        "50 ms",
        reward="flows.walker.up.goodput_bps / 1e6",
        default="Minstrel-HT",
        key="station.0.rate_control",
        algorithms={"AARF": {"station.0.rate_control": "aarf"}},
        constants=(13e6, 39e6, 65e6),
        training="10 s",
    )


def _rate_causes() -> Task:
    return _rate("rate-causes", {"nodes.walker.noise_probability": 0.1, "nodes.walker.collision_probability": 0.1})


#: By name.
TASKS: dict[str, Callable[[], Task]] = {
    "cw": _cw,
    "aqm": _aqm,
    "window": _window,
    "weights": _weights,
    "calls": _calls,
    "ofdma": _ofdma,
    "rate": _rate,
    "rate-causes": _rate_causes,
}
