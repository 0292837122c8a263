"""Twins of networks in which losses depend on the mode: the SNR of each link, and one probability of a collision per sender."""

from __future__ import annotations

import statistics
import tomllib
from dataclasses import replace

import lasthop
import pytest
from lasthop.data.confidence import difference
from lasthop.foreign.twin import losses, twin
from lasthop.foreign.twin.mode_errors import gains_db, has_losses, mpdu_losses
from lasthop.foreign.twin.observation import Link, Mode
from lasthop.study.scenario import Scenario

NEAR_AND_FAR = """
duration = "4 s"
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
distance = "30 m"
[wired]
delay = "8 ms"
[[flow]]
station = "*"
direction = "down"
"""

MODE = Mode("", "ht", False, 7, 1, 20, 800, False, 65_000_000, 100, 0, 100, 0, 0, 0, 100, 0)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    scenario = Scenario(NEAR_AND_FAR, str(folder / "home.toml"))
    lasthop.run(scenario, seeds=[1], interval_s=None, pcap=folder, progress=False)
    found = twin([folder / "air.pcapng"])
    (folder / "twin.toml").write_text(found.text())
    return scenario, found, lasthop.load(folder / "twin.toml")


@pytest.mark.parametrize(
    ("format", "mcs", "rate", "snr_db"),
    [
        # Noise of 22 MHz: 0.41 dB more on 20 MHz than in docs/model/phy.md, and a tenth of 1000 bytes.
        ("dsss", None, 1, -2.8),
        ("dsss", None, 11, 7.4),
        ("ofdm", None, 6, 3.847),
        ("ofdm", None, 9, 6.7337),
        ("ht", 7, 65, 23.7),
        ("vht", 8, 78, 28.4),
        ("he", 9, 114, 29.6),
        ("he", 10, 129, 34.2),
        ("he", 11, 143, 35.4),
    ],
)
def test_a_tenth_of_frames_is_lost_at_the_snr_of_the_error_model(format, mcs, rate, snr_db):
    # docs/model/phy.md: frames of 1000 bytes on 20 MHz; decibels to a tenth for MCSs.
    mode = replace(MODE, format=format, mcs=mcs, rate_bps=rate * 1_000_000)
    below, above = mpdu_losses(mode, 1000, (snr_db - 0.1, snr_db + 0.1), 1)
    assert below > 0.1 > above


def test_a_wider_channel_has_more_noise_and_a_second_antenna_collects_as_much_again():
    (of,) = mpdu_losses(MODE, 1000, (23.7,), 1)
    wide = replace(MODE, width_mhz=40)
    assert mpdu_losses(wide, 1000, (23.7 + 3.0103,), 1) == pytest.approx([of], rel=1e-3)
    assert mpdu_losses(wide, 1000, (23.7,), 2) == pytest.approx([of], rel=1e-3)
    assert has_losses(MODE) and not has_losses(replace(MODE, format="eht"))


def test_gains_are_those_of_the_exponential_distribution_for_rayleigh():
    # The median of an exponential distribution with mean 1 is ln 2: -1.592 dB.
    assert gains_db(1)[7] == pytest.approx(-1.592, abs=1e-3)
    assert gains_db(None) == (0.0,)
    assert max(gains_db(12)) < max(gains_db(3))


def test_a_far_station_of_minstrel_becomes_a_far_station_of_minstrel(home):
    _, found, _ = home
    written = tomllib.loads(found.text())
    assert written["channel"]["error_model"] == "nist" and "frame_error_rate" not in found.text()
    assert [station["rate_control"] for station in written["station"]] == ["minstrel_ht"] * 2
    # 0.2 dB are 1.5 % of the distance.
    assert found.signals.of["attic"].distance_m == pytest.approx(30.0, rel=0.015)
    assert found.signals.of["tv"].high_db is None, "a station that loses nothing may be nearer"


def test_goodputs_of_a_near_and_a_far_station_are_those_of_the_original(home):
    original, _, copy = home
    # Without a fit its queue is only estimated.
    copy = copy.set("bss.ap.queue", '{ kind = "fifo", limit = "1000 packets" }')
    runs = [lasthop.run(one, seeds=12, interval_s=None, progress=False).runs for one in (original, copy)]
    for place in range(2):
        truth, like = ({run["seed"]: run["flows"][place]["goodput_bps"] for run in of} for of in runs)
        found = difference(truth, dict(zip(range(100, 112), like.values(), strict=True))).estimate
        # Two flows over one FIFO share it by chance, so the interval of the difference counts as well.
        assert abs(found.mean) <= 0.1 * statistics.fmean(truth.values()) + found.half_width


def test_collisions_do_not_depend_on_the_receiver(home):
    _, found, _ = home
    down = {receiver: split for (sender, receiver), split in found.splits.items() if sender == "ap"}
    assert down["tv"].collided == down["attic"].collided
    assert down["attic"].noise > 0.05
    assert down["tv"].noise < 0.001


def test_losses_in_modes_of_dsss_show_the_signal(tmp_path):
    changes = {
        '802.11n"\nchannel_width = "40 MHz': '802.11b"\nrate_control = "minstrel',
        "[bss]": '[channel]\nerror_model = "nist"\npath_loss = "log_distance"\ncca_preamble = "-96 dBm"\n[bss]',
        "30 m": "130 m",
        "4 s": "6 s",
    }
    text = NEAR_AND_FAR
    for old, new in changes.items():
        text = text.replace(old, new, 1)
    lasthop.run(Scenario(text, str(tmp_path / "old.toml")), seeds=[1], interval_s=None, pcap=tmp_path, progress=False)
    found = twin([tmp_path / "air.pcapng"])
    assert found.signals.of["tv"].high_db is None, "it loses nothing at 11 Mbit/s"
    # 16 dBm less 40.09 dB at 1 m of 2412 MHz and 30 log10(130) dB, over noise of -93.99 dBm: 6.48 dB.
    assert found.signals.of["attic"].snr_db == pytest.approx(6.48, abs=0.25)
    assert tomllib.loads(found.text())["channel"]["error_model"] == "nist"


def test_collisions_of_a_sender_are_counted_in_modes_that_noise_spares():
    # 400 A-MPDUs of 10, of which 40 had no answer; their MPDUs are seldom lost. A mode that always fails shows nothing.
    good = replace(MODE, attempts=400, unanswered=40, mpdus=4000, large_answered=360, mpdus_answered=3600, single=0)
    bad = replace(MODE, attempts=300, unanswered=300, mpdus=300, single=300, single_unanswered=300)
    link = Link("ap", "sta", (good, bad), (10, 400), (15_000, 400), 1e-3, 0, 0, None, 0, 0, 0, 0.1, ())
    assert losses.of_aggregates([link]) == pytest.approx(0.1)
