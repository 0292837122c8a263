"""Rate control over distances, against the best fixed MCS; and under collisions, which some take for a bad channel."""

from functools import cache

import lasthop
import pytest

# 802.11n, 20 MHz, two streams: 130 Mbit/s (MCS 15) down to 39 (MCS 10), then below the preamble's threshold of -82 dBm.
LINK = """
duration = "8 s"
warmup = "3 s"
[channel]
path_loss = { kind = "log_distance", exponent = 3.0 }
error_model = "nist"
[bss]
standard = "802.11n"
channel_width = "20 MHz"
spatial_streams = 2
guard_interval = "long"
rate_control = "minstrel_ht"
[[station]]
name = "sta"
queue = "backpressure"
[[flow]]
station = "sta"
direction = "up"
transport = "udp"
rate = "saturated"
"""
CELL = """
duration = "12 s"
warmup = "2 s"
[bss]
[[station]]
count = 10
[[flow]]
station = "*"
direction = "up"
transport = "udp"
rate = "saturated"
"""
FIXED = {"802.11b": "11 Mbit/s", "802.11a": "54 Mbit/s"}
SEEDS = 2


def goodput(scenario: lasthop.Scenario, seeds: int = SEEDS) -> float:
    return lasthop.run(scenario, seeds=seeds, interval_s=None).summary["totals.goodput_bps"]["mean"]


def oracle(scenario: lasthop.Scenario) -> float:
    """The most that any fixed MCS gives."""
    short = scenario.set("duration", "2 s").set("warmup", "500 ms")
    return max(goodput(short.set("bss.rate_control", {"kind": "fixed", "mcs": mcs}), seeds=1) for mcs in range(16))


@pytest.mark.parametrize("distance_m", [5, 15, 18, 21, 25, 30, 35, 40, 45, 50])
def test_minstrel_ht_settles_within_a_tenth_of_the_best_fixed_rate(distance_m: int) -> None:
    scenario = lasthop.Scenario(LINK, "link.toml").set("station.0.distance", f"{distance_m} m")
    assert goodput(scenario) > 0.9 * oracle(scenario)


def test_the_best_rate_falls_with_the_distance() -> None:
    # Otherwise the sweep above would say little.
    best = [oracle(lasthop.Scenario(LINK, "link.toml").set("station.0.distance", d)) for d in ("5 m", "25 m", "50 m")]
    assert best[0] > 1.3 * best[1] > 1.3**2 * best[2] > 0


@cache
def under_collisions(standard: str, rate_control: str) -> float:
    """Of ten saturated stations that lose frames by collisions only, as a share of the goodput at the fixed best rate."""
    cell = lasthop.Scenario(CELL, "cell.toml").set("bss.standard", standard)
    fixed = cell.set("bss.rate_control", {"kind": "fixed", "rate": FIXED[standard]})
    return goodput(cell.set("bss.rate_control", rate_control)) / goodput(fixed)


@pytest.mark.parametrize("standard", FIXED)
def test_collisions_drive_arf_and_aarf_down_and_leave_minstrel_where_it_was(standard: str) -> None:
    # [Choi 2005; Pefkianakis 2010; khademi2011]: two failures in a row lower the rate, and every third frame collides;
    # Minstrel compares rates with one another, and collisions meet all of them, long frames a little more.
    for kind in ("arf", "aarf"):
        assert under_collisions(standard, kind) < 0.25
    for kind in ("minstrel", "minstrel_ht", "thompson_sampling"):
        assert under_collisions(standard, kind) > 0.75


@pytest.mark.parametrize("standard", FIXED)
def test_cara_and_rraa_separate_collisions_from_noise_better_than_aarf(standard: str) -> None:
    # CARA probes with RTS after a failure, RRAA guards with it where losses are many [Kim 2006; Wong 2006].
    for kind in ("cara", "rraa"):
        assert under_collisions(standard, kind) > 2.5 * under_collisions(standard, "aarf")
