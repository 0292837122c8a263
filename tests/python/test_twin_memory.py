"""Twins of channels with memory and of drivers: fading by the signals of frames, hardware by the order in which lost A-MPDUs come again."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace

import lasthop
import numpy as np
import pytest
from lasthop.foreign.analysis import analyze
from lasthop.foreign.twin import fit, twin
from lasthop.foreign.twin.fading import fading_of
from lasthop.foreign.twin.observation import Link, Strength, seen_in
from lasthop.foreign.twin.path import Queue, fifo_above_hardware
from lasthop.foreign.twin.radio import prepared
from lasthop.study.scenario import Scenario

HOME = """
duration = "6 s"
[channel]
path_loss = "log_distance"
error_model = "nist"
[bss]
standard = "802.11n"
channel_width = "40 MHz"
[bss.ap]
queue = { kind = "fifo", limit = "1000 packets" }
[[station]]
name = "tv"
distance = "4 m"
[[station]]
name = "attic"
distance = "24 m"
[wired]
delay = "8 ms"
[[flow]]
station = "*"
direction = "down"
[[flow]]
station = "tv"
direction = "up"
traffic = { kind = "ping", interval = "50 ms" }
"""
LAGS_S = [0.001 * 2**step for step in range(11)]
LINK = Link("sta", "ap", (), (0, 0), (0, 0), 0.0, 0, 0, None, 0, 0, 0, 0.1, ())


def captured(text, folder, seed=1):
    lasthop.run(Scenario(text, str(folder / "one.toml")), seeds=[seed], interval_s=None, pcap=folder, progress=False)
    return folder / "air.pcapng"


def seen(text, folder, seed=1):
    return seen_in(analyze([captured(text, folder, seed)], interval_s=None, writes=True))


def link_with(correlation, variance=1.0):
    rows = tuple((lag, 900, value) for lag, value in zip(LAGS_S, correlation, strict=True))
    return replace(LINK, signal=Strength(1000, -60.0, variance, rows))


def rayleigh_by_clarke(doppler_hz, waves=200, length_s=400.0):
    """The correlation of the power of a sum of waves from all directions, which is Clarke's channel itself and no formula of ours."""
    draw = np.random.default_rng(1)
    angles, phases = draw.uniform(0, 2 * math.pi, waves), draw.uniform(0, 2 * math.pi, waves)
    found = []
    times = draw.uniform(0, length_s, 4000)
    field = lambda at: np.exp(1j * (2 * math.pi * doppler_hz * np.cos(angles) * at[:, None] + phases)).sum(axis=1)
    power = np.abs(field(times)) ** 2
    for lag in LAGS_S:
        found.append(float((power * np.abs(field(times + lag)) ** 2).mean() / power.mean() ** 2))
    return found, float(power.var() / power.mean() ** 2)


@pytest.mark.parametrize("doppler_hz", [1.0, 6.0, 20.0])
def test_the_doppler_frequency_of_clarkes_channel_is_found(doppler_hz):
    correlation, variance = rayleigh_by_clarke(doppler_hz)
    found = fading_of([link_with(correlation, variance)])
    assert found.kind == "jakes"
    # Frequencies are 7 % apart, and 4000 pairs have an error of 3 % each.
    assert found.doppler_hz == pytest.approx(doppler_hz, rel=0.12)


def test_blocks_and_a_constant_signal_are_told_from_it():
    # Blocks of 50 ms, shape 3: 1 + (1 - lag / 50 ms) / 3.
    blocks = fading_of([link_with([1 + max(0, 1 - lag / 0.05) / 3 for lag in LAGS_S], 1 / 3)])
    assert (blocks.kind, blocks.shape) == ("nakagami", 3) and blocks.coherence_s == pytest.approx(0.05, rel=0.07)
    exponential = fading_of([link_with([1 + math.exp(-4 * math.pi / 3 * 3.0 * lag) for lag in LAGS_S])])
    assert exponential.kind == "gauss_markov" and exponential.doppler_hz == pytest.approx(3.0, rel=0.07)
    assert fading_of([link_with([1.0] * 11, 0.004)]).key == "none"
    assert fading_of([LINK]) is None, "frames without a signal show nothing"


def test_a_twin_of_a_channel_with_memory_has_its_law(tmp_path):
    text = HOME.replace('error_model = "nist"', 'error_model = "nist"\nfading = { kind = "jakes", doppler = "6 Hz" }')
    written = tomllib.loads(twin([captured(text, tmp_path)]).text())
    fading = written["channel"]["fading"]
    assert fading["kind"] == "jakes"
    # 6 s hold some 36 fades of each of two channels: a sixth of the frequency by chance, and lags that are two apart.
    assert float(fading["doppler"].removesuffix(" Hz")) == pytest.approx(6.0, rel=0.35)
    assert [station["rate_control"] for station in written["station"]] == ["minstrel_ht"] * 2


def test_prepared_ampdus_are_found_by_what_comes_before_a_repetition(tmp_path):
    for driver, told in (("ideal", None), ("ath9k", {"aggregates": 2}), ("{ aggregates = 4 }", {"aggregates": 4})):
        folder = tmp_path / driver
        folder.mkdir()
        value = driver if driver.startswith("{") else f'"{driver}"'
        found = seen(HOME.replace('limit = "1000 packets" }', f'limit = "1000 packets" }}\ndriver = {value}'), folder)
        assert (line := prepared(found, "ap")) == told or line.value == told, driver
        assert prepared(found, "tv") is None, "stations have no such hardware"


def test_a_queue_for_each_station_is_found_by_delays_that_differ(tmp_path):
    text = HOME.replace('limit = "1000 packets" }', 'limit = "1000 packets" }\ndriver = "mt76"')
    found = twin([captured(text, tmp_path)])
    shared = replace(found, path=replace(found.path, ap_queue=Queue(1000, "")))
    apart = replace(found, path=fifo_above_hardware(found.path))
    by = [fit.distance(found.seen, fit.simulated(one).seen) for one in (shared, apart)]
    # The ping waits behind its own station's packets alone, and the bulk flow behind thousands.
    assert by[1] < 0.5 * by[0]
    chosen = fit._with_better_queue(found, lambda _: None)
    assert tomllib.loads(chosen.text())["bss"]["ap"]["driver"] == "mt76"
