"""Twins of little: captures that lack most frames, fields or fine time stamps, and the output of `iw` and `ss` alone."""

from __future__ import annotations

import random
import re
import statistics
import tomllib

import lasthop
import pytest
import sniffed
from lasthop.foreign.analysis import analyze
from lasthop.foreign.twin import twin
from lasthop.foreign.twin.observation import seen_in
from lasthop.foreign.twin.strength import snrs_db
from lasthop.foreign.twin.verdict import Verdict, compared
from lasthop.study.scenario import Scenario
from sniffed import AMPDU, TIMESTAMP, each

HOME = """
duration = "6 s"
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
[[flow]]
station = "tv"
direction = "up"
transport = "udp"
rate = "1 Mbit/s"
"""
TV, ATTIC = "02-00-00-00-00-02", "02-00-00-00-00-03"
# An AP with a near station at MCS 7 and a far one, whose frames are repeated; MCS 7 at 40 MHz needs an SNR of some 27 dB on 20 MHz.
IW = """Station 02:00:00:00:00:02 (on wlan0)
\trx packets:\t45000
\ttx packets:\t85000
\ttx retries:\t4000
\tsignal avg:\t-49 dBm
\ttx bitrate:\t135.0 MBit/s MCS 7 40MHz
\trx bitrate:\t135.0 MBit/s MCS 7 40MHz
\tconnected time:\t12 seconds
Station 02:00:00:00:00:03 (on wlan0)
\trx packets:\t4000
\ttx packets:\t7300
\ttx retries:\t2700
\tsignal:  \t-75 [-78, -78] dBm
\ttx bitrate:\t81.0 MBit/s MCS 4 40MHz
\trx bitrate:\t81.0 MBit/s MCS 4 40MHz
\tconnected time:\t12 seconds
"""
SS = "".join(
    f"ESTAB 0 0 10.0.0.1:500{number} 192.168.1.{number}:443\n\t cubic rtt:108/3 mss:1448 cwnd:700 "
    f"bytes_acked:{acked} bytes_received:1 busy:12000ms minrtt:16.5\n"
    for number, acked in ((2, 124_000_000), (3, 8_000_000))
)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    scenario = Scenario(HOME, str(folder / "home.toml"))
    lasthop.run(scenario, seeds=[1], interval_s=None, pcap=folder, progress=False)
    return scenario, folder / "air.pcapng", sniffed.read(folder / "air.pcapng")


def some(share):
    """A share of the frames, by chance."""
    draw = random.Random(1)
    return lambda frames: [frame for frame in frames if draw.random() < share]


def written(frames, *ways):
    for way in ways:
        frames = way(frames)
    return frames


def seen_of(file):
    return seen_in(analyze([file], interval_s=None, writes=True))


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1])
def test_a_share_of_the_frames_shows_how_many_were_missed_and_the_snrs(home, tmp_path, share):
    file = sniffed.write(tmp_path / "thin.pcap", some(share)(home[2]))
    seen = seen_of(file)
    # By answers of the MAC, or by bytes that TCP acknowledges: of 5000 frames a tenth is known to 4 %.
    assert seen.heard == pytest.approx(share, rel=0.06)
    # 16 dBm less 46.6777 dB and 30 log10(distance), over -93.99 dBm; the signal has steps of 1 dB.
    assert snrs_db(seen) == pytest.approx({TV: 45.25, ATTIC: 19.0}, abs=0.6)


def test_a_tenth_of_the_frames_is_enough_for_the_goodputs_of_a_near_and_a_far_download(home, tmp_path):
    scenario, _, frames = home
    found = twin([sniffed.write(tmp_path / "thin.pcap", some(0.1)(frames))])
    made = tomllib.loads(found.text())
    assert re.search(r"The sniffer heard (9\.9|10\.)", found.text()) and "frame_error_rate" not in found.text()
    assert [station["rate_control"] for station in made["station"]] == ["minstrel_ht"] * 2
    assert made["wired"]["rate"] == "1 Gbit/s", "air that was not heard is not idle"
    # The queue holds 1000 packets; a tenth of them would have passed a sniffer that heard all.
    assert 800 < int(made["bss"]["ap"]["queue"]["limit"].split()[0]) < 1300
    # 1 Mbit/s of packets, of which a tenth was heard: 51 +- 6.8 of 514, and three standard deviations.
    udp = next(flow for flow in made["flow"] if flow.get("transport") == "udp")
    assert float(udp["rate"].split()[0]) == pytest.approx(1.0, rel=0.4)
    copy = found.scenario_in(tmp_path).set("bss.ap.queue", '{ kind = "fifo", limit = "1000 packets" }')
    runs = [lasthop.run(one, seeds=range(1, 9), interval_s=None, progress=False).runs for one in (scenario, copy)]
    truth, like = ([sum(flow["goodput_bps"] for flow in run["flows"][:2]) for run in of] for of in runs)
    assert statistics.fmean(like) == pytest.approx(statistics.fmean(truth), rel=0.1)


def test_a_capture_without_fields_or_fine_stamps_gives_the_same_snrs_and_modes(home, tmp_path):
    of = [twin([home[1]])]
    ways = ([each(lambda frame: frame.without(TIMESTAMP, AMPDU))], [sniffed.in_steps(10**6)])
    for number in (1, 2):
        parts = written(home[2], *(way for part in ways[:number] for way in part))
        of.append(twin([sniffed.write(tmp_path / f"{number}.pcap", parts)]))
    snrs = [sorted(signal.snr_db for signal in found.signals.of.values()) for found in of]
    assert snrs[1] == pytest.approx(snrs[0], abs=0.3) and snrs[2] == pytest.approx(snrs[0], abs=0.3)
    assert all(tomllib.loads(found.text())["bss"] == tomllib.loads(of[0].text())["bss"] for found in of[1:])


def test_a_sniffer_that_hears_all_frames_of_the_ap_alike_shows_no_snr(home, tmp_path):
    elsewhere = each(lambda frame: frame.with_field(5, b"\xc4") if 5 in frame.fields else frame)
    file = sniffed.write(tmp_path / "elsewhere.pcap", elsewhere(home[2]))
    assert snrs_db(seen_of(file)) == {}


def test_a_far_station_of_iw_adapts_to_its_signal_and_a_near_one_keeps_its_mode(tmp_path):
    (tmp_path / "iw.txt").write_text(IW)
    (tmp_path / "ss.txt").write_text(SS)
    found = twin([tmp_path / "iw.txt", tmp_path / "ss.txt"])
    near, far = tomllib.loads(found.text())["station"]
    assert near["rate_control"] == {"kind": "fixed", "mcs": 7} and far["rate_control"] == "minstrel_ht"
    # -75 dBm over -93.99 dBm; 16 - 46.6777 + 93.99 - 18.99 = 44.32 dB are 30.0 m at 30 dB a decade.
    assert found.signals.of["02-00-00-00-00-03"].snr_db == pytest.approx(18.99)
    assert far["position"] == ["30.02 m", "0 m"]
    assert "3 dB more or less are possible" in found.text()


def test_a_fit_of_iw_and_ss_states_its_interval(command, tmp_path):
    (tmp_path / "iw.txt").write_text(IW)
    (tmp_path / "ss.txt").write_text(SS)
    done = command("twin", tmp_path / "iw.txt", tmp_path / "ss.txt", "--fit", "--out", tmp_path / "t.toml")
    assert done.returncode == 0, done.stderr
    assert "the interval is that of all SNRs of 3 dB less and more" in done.stdout
    # 3 dB decide whether the far download has a twentieth of the rate or a third: its interval says so.
    assert "undecided" in (tmp_path / "t.toml").read_text()


def test_an_interval_is_widened_to_those_of_others():
    of = lambda *values: Verdict((compared("f", "goodput", "Mbit/s", 10.0, values, 1.0),))
    middle, low, high = of(9.9, 10.0, 10.1), of(4.9, 5.0, 5.1), of(19.9, 20.0, 20.1)
    (row,) = middle.widened([low, high], "SNRs").rows
    assert (row.low, row.high, row.mean) == (low.rows[0].low, high.rows[0].high, 10.0)
    assert row.word == "undecided" and middle.rows[0].word == "holds"
