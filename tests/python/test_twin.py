"""`lasthop twin`: the twin of a simulation is the simulation, as far as captures tell; what hosts say of themselves; bad input."""

from __future__ import annotations

import itertools
import math
import re
import statistics
import tomllib
from pathlib import Path

import lasthop
import pytest
from lasthop import _core
from lasthop.foreign.twin import losses, twin
from lasthop.foreign.twin.losses import Split
from lasthop.foreign.twin.observation import Seen, Unheard
from lasthop.foreign.twin.radio import channel_of
from lasthop.study.scenario import Scenario

DOWNLOAD = """
[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
[bss.ap]
queue = { kind = "fifo", limit = "100 packets" }
[[station]]
[wired]
delay = "5 ms"
[[flow]]
direction = "down"
"""
AGGREGATES = """
[channel]
path_loss = "none"
error_model = { kind = "fixed", data = 0.05 }
[bss]
standard = "802.11n"
spatial_streams = 2
rate_control = { kind = "fixed", mcs = 12 }
[[station]]
count = 2
[wired]
delay = "10 ms"
[[flow]]
station = "sta1"
direction = "down"
[[flow]]
station = "sta2"
direction = "up"
"""
CONTENTION = """
[channel]
error_model = { kind = "fixed", data = 0.1 }
[bss]
standard = "802.11b"
[[station]]
count = 3
[wired]
delay = "10 ms"
[[flow]]
direction = "up"
"""


SEVERAL_BSS = """
warmup = "1 s"
[[bss]]
name = "one"
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
[[bss]]
name = "two"
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
[[station]]
name = "a"
bss = "one"
[[station]]
name = "b"
bss = "two"
[wired]
delay = "10 ms"
[[flow]]
station = "*"
direction = "down"
"""
UPLOADS = """
warmup = "1 s"
[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "24 Mbit/s" }
[[station]]
count = 3
[wired]
delay = "10 ms"
[[flow]]
station = "*"
direction = "up"
"""
RTS = UPLOADS.replace("[[station]]", 'rts_threshold = "500 B"\n[[station]]')
HIDDEN = f"""{UPLOADS}
[channel]
path_loss = "none"
error_model = {{ kind = "fixed", data = 0.1 }}
hidden = [["sta1", "sta2"]]
"""
NARROW_WIRE = """
warmup = "1 s"
[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
[[station]]
count = 2
[wired]
delay = "10 ms"
rate = "8 Mbit/s"
queue = { kind = "fifo", limit = "60 packets" }
[[flow]]
station = "*"
direction = "down"
"""


class Original:
    """A simulated network, its captures, and the twin made of them."""

    def __init__(self, text: str, folder: Path, length_s: float, **options) -> None:
        self.scenario = Scenario(text, str(folder / "original.toml")).set("duration", f"{length_s} s")
        self.truth = lasthop.run(self.scenario, seeds=[11], interval_s=None, pcap=folder, progress=False).runs[0]
        self.air = folder / "air.pcapng"
        self.twin = twin([self.air], "twin", from_s=0.0, to_s=length_s, **options)
        for name, trace in self.twin.files.items():
            (folder / name).write_text(trace)
        (folder / "twin.toml").write_text(self.twin.text())
        self.copy = lasthop.load(folder / "twin.toml")
        self.written = tomllib.loads(self.twin.text())


def five(scenario: Scenario) -> list[dict]:
    return lasthop.run(scenario, seeds=5, interval_s=None, progress=False).runs


def mean(runs: list[dict], of) -> float:
    return statistics.fmean(of(run) for run in runs)


def rtt(run: dict) -> float:
    return statistics.fmean(flow["rtt_mean_s"] for flow in run["flows"])


@pytest.fixture(scope="module")
def download(tmp_path_factory):
    return Original(DOWNLOAD, tmp_path_factory.mktemp("download"), 5.0, fit=True)


@pytest.fixture(scope="module")
def aggregates(tmp_path_factory):
    return Original(AGGREGATES, tmp_path_factory.mktemp("aggregates"), 3.0)


def test_a_twin_has_the_standard_the_modes_and_the_wire(download):
    written = download.written
    assert (written["bss"]["standard"], written["bss"]["channel"]) == ("802.11a", 36)
    assert written["station"][0]["rate_control"] == {"kind": "fixed", "rate": "54 Mbit/s"}
    # One way is 5 ms; the air is taken off by simulation.
    assert download.twin.path.delay_s.value == pytest.approx(5e-3, abs=0.1e-3)


def test_a_fitted_twin_delivers_and_queues_as_the_original(download):
    truth, copy = five(download.scenario), five(download.copy)
    goodput = lambda run: run["flows"][0]["goodput_bps"]
    assert mean(copy, goodput) == pytest.approx(mean(truth, goodput), rel=0.05)
    assert mean(copy, rtt) == pytest.approx(mean(truth, rtt), rel=0.1)
    collided = lambda run: run["medium"]["collision_probability"]
    assert mean(copy, collided) == pytest.approx(mean(truth, collided), abs=0.02)


@pytest.mark.parametrize("text", [SEVERAL_BSS, RTS, NARROW_WIRE], ids=["several BSSs", "RTS", "narrow wire"])
def test_a_fitted_twin_of_another_network_delivers_as_it_does(text, tmp_path):
    one = Original(text, tmp_path, 5.0, fit=True)
    # Two flows over one FIFO share it at random: a twin must match their sum.
    truth, copy = (
        mean(five(scenario), lambda run: run["totals"]["goodput_bps"]) for scenario in (one.scenario, one.copy)
    )
    assert copy == pytest.approx(truth, rel=0.05)


def test_hidden_stations_are_hidden_in_the_twin_and_noise_is_that_of_links_which_all_hear(tmp_path):
    one = Original(HIDDEN, tmp_path, 20.0, fit=True)
    # Those that starve ask for no less.
    assert "trace" not in one.twin.text()
    assert one.written["channel"]["hidden"] == [["sta1", "sta2"]]
    (line,) = (line for line in one.twin.text().splitlines() if line.startswith("hidden"))
    assert re.search(r"seen: sta[12] began \d+ of \d+ PPDUs during one of sta[12]; ", line)
    assert [split.told for split in one.twin.splits.values()] == pytest.approx([0.1] * 6, abs=0.01)
    with_rts = [scenario.set("bss.rts_threshold", "500 B") for scenario in (one.scenario, one.copy)]

    def goodputs(scenario):
        runs = five(scenario)
        return mean(runs, lambda run: run["totals"]["goodput_bps"]), mean(
            runs, lambda run: run["flows"][2]["goodput_bps"]
        )

    for truth, copy in ((one.scenario, one.copy), with_rts):
        # The two that are hidden share what they have by chance; the third, which hears both, and the sum do not.
        assert goodputs(copy) == pytest.approx(goodputs(truth), rel=0.05)


def test_rates_that_change_because_of_hidden_nodes_adapt_in_the_twin(tmp_path):
    text = HIDDEN.replace('"802.11a"', '"802.11n"').replace('{ kind = "fixed", rate = "24 Mbit/s" }', '"minstrel_ht"')
    one = Original(text, tmp_path, 3.0)
    of = {station["name"]: station["rate_control"] for station in one.written["station"]}
    assert of["sta1"] == of["sta2"] == "minstrel_ht"
    # Its link has noise, to which a trace would not adapt.
    assert of["sta3"] == "minstrel_ht"


def test_an_ap_that_is_hidden_has_the_name_that_scenarios_give_it(tmp_path):
    hidden = 'hidden = [["one.ap", "two.ap"], ["one.ap", "b"], ["two.ap", "a"], ["a", "b"]]'
    one = Original(
        f'[channel]\npath_loss = "none"\n{hidden}\n{SEVERAL_BSS}'.replace('warmup = "1 s"', ""), tmp_path, 2.0
    )
    # The longest PPDUs are those of the APs.
    assert ["one.ap", "two.ap"] in one.written["channel"]["hidden"]
    assert lasthop.run(one.copy, seeds=[1], interval_s=None, progress=False).runs[0]["totals"]["goodput_bps"] > 0


def test_an_idle_simulation_gives_no_estimate():
    found = Split(0.3, 0.2, 0.4, 0.3, 0.3, 1000, "assumed: so", is_unheard=True)
    assert losses.refined(found, None) is found
    assert losses.lost_alone(0.0, 0.0) == 0.0


def unheard(*pairs):
    stations = {"a": "ap", "b": "ap", "c": "ap"}
    return Seen(
        "",
        1.0,
        (36,),
        ("ap",),
        stations,
        {("a", "ap"): None},
        (),
        None,
        {},
        0.0,
        unheard=tuple(Unheard(*one) for one in pairs),
    )


def test_nodes_are_hidden_if_they_often_begin_during_a_ppdu_of_one_with_whom_they_do_not_speak():
    assert list(unheard(("b", "a", 1, 5000), ("a", "b", 40, 500)).hidden) == [("a", "b")]
    several = unheard(("a", "b", 40, 50), ("c", "a", 40, 50))
    assert several.may_be_unheard("a", "ap") and several.may_be_unheard("b", "ap")
    # What is hidden from both ends of a link destroys nothing there.
    assert not unheard(("a", "b", 40, 50), ("b", "c", 40, 50)).may_be_unheard("a", "c")
    # A preamble is missed now and then, a stranger is no node of the twin, and those who speak hear one another.
    for pairs in [("b", "a", 40, 5000)], [("b", "a", 2, 2)], [("b", "stranger", 40, 50)], [("ap", "a", 40, 50)]:
        assert not unheard(*pairs).hidden


def test_fq_codel_changes_the_twin_as_it_changes_the_original(download):
    plain, changed = (
        [
            mean(five(scenario.set("bss.ap.queue", queue) if queue else scenario), rtt)
            for scenario in (download.scenario, download.copy)
        ]
        for queue in (None, '"fq_codel"')
    )
    truth, copy = (after - before for before, after in zip(plain, changed, strict=True))
    assert truth < -10e-3
    assert copy == pytest.approx(truth, rel=0.2)


def test_noise_and_collisions_of_aggregates_are_separated(aggregates):
    nodes = {node["name"]: node for node in aggregates.truth["nodes"]}
    for (sender, _), split in aggregates.twin.splits.items():
        assert split.noise == pytest.approx(0.05, abs=0.01), sender
        if sender != "ap":
            assert split.collided == pytest.approx(nodes[sender]["collision_probability"], abs=0.02), sender
    assert all(station["rate_control"] == {"kind": "fixed", "mcs": 12} for station in aggregates.written["station"])
    assert aggregates.written["bss"]["spatial_streams"] == 2


def test_noise_and_collisions_of_single_frames_are_separated_by_a_fit(tmp_path):
    original = Original(CONTENTION, tmp_path, 30.0, fit=True)
    truth = original.truth["medium"]["collision_probability"]
    assert "hidden" not in original.twin.text()
    up = [split for (sender, _), split in original.twin.splits.items() if sender != "ap"]
    # Some 12,000 attempts in 30 s: the fraction without an answer has a standard error of 0.4 %.
    assert statistics.fmean(split.told for split in up) == pytest.approx(0.1, abs=0.01)
    assert statistics.fmean(split.collided for split in up) == pytest.approx(truth, abs=0.02)


def test_each_line_has_its_provenance(aggregates):
    lines = [line for line in aggregates.twin.text().splitlines() if line and not line.startswith(("#", "["))]
    origins = [line.partition("  # ")[2] for line in lines]
    assert all(origins), [line for line, origin in zip(lines, origins, strict=True) if not origin]
    assert any(origin.startswith("seen: ") for origin in origins) and any(
        origin.startswith("assumed") for origin in origins
    )


def test_links_that_lose_differently_have_losses_of_their_own(tmp_path):
    text = AGGREGATES.replace("count = 2", 'name = "sta1"\n[[station]]\nname = "sta2"\nframe_error_rate = 0.2')
    original = Original(text, tmp_path, 2.0)
    near, far = original.written["station"]
    assert near["downlink_frame_error_rate"] == pytest.approx(0.05, abs=0.01)
    assert far["frame_error_rate"] == pytest.approx(0.2, abs=0.01)


def test_rates_that_change_without_losses_become_a_trace(tmp_path):
    rates = ["11 Mbit/s", "5.5 Mbit/s", "2 Mbit/s"]
    text = CONTENTION.replace("count = 3", f'rate_control = {{ kind = "trace", interval = "500 ms", rates = {rates} }}')
    original = Original(text.replace("data = 0.1", "data = 0.0"), tmp_path, 3.0)
    control = original.written["station"][0]["rate_control"]
    assert control["kind"] == "trace" and len(control["rates"]) == 30
    assert set(control["rates"]) == set(rates)


def test_rates_that_change_beside_noise_become_a_control_that_adapts(tmp_path):
    text = CONTENTION.replace('standard = "802.11b"', 'standard = "802.11b"\nrate_control = "aarf"')
    original = Original(text, tmp_path, 5.0)
    assert [station["rate_control"] for station in original.written["station"]] == ["minstrel"] * 3


def test_a_flow_that_pauses_becomes_a_trace_of_its_writes(tmp_path):
    text = DOWNLOAD.replace(
        'direction = "down"',
        'direction = "down"\nrate = "2 Mbit/s"\ntraffic = { kind = "on_off", on = "500 ms", off = "500 ms" }',
    )
    original = Original(text, tmp_path, 6.0)
    (trace,) = original.twin.files
    assert original.written["flow"][0]["traffic"] == {"kind": "trace", "file": trace}
    delivered = [
        lasthop.run(scenario, seeds=[11], interval_s=None, progress=False).runs[0]
        for scenario in (original.scenario, original.copy)
    ]
    truth, copy = (run["totals"]["goodput_bps"] for run in delivered)
    assert copy == pytest.approx(truth, rel=0.05)


def test_a_link_with_a_loss_of_its_own_loses_as_much():
    text = DOWNLOAD.replace("[[station]]", "[[station]]\ndownlink_frame_error_rate = 0.3")
    text = text.replace("[[flow]]", '[[flow]]\ntransport = "udp"\nrate = "5 Mbit/s"')
    run = lasthop.run(Scenario(text).set("duration", "5 s"), seeds=1, interval_s=None, progress=False).runs[0]
    node = {node["name"]: node for node in run["nodes"]}["ap"]
    # Some 2,900 attempts: a standard error of 0.9 %.
    assert node["noise_probability"] == pytest.approx(0.3, abs=0.03)


def test_a_loss_of_a_link_is_refused_where_the_signal_decides():
    text = DOWNLOAD.replace("[bss]", '[channel]\npath_loss = "log_distance"\nerror_model = "nist"\n[bss]', 1)
    text = text.replace("[[station]]", "[[station]]\nframe_error_rate = 0.3")
    with pytest.raises(
        lasthop.ScenarioError, match=r'station\[0\]\.frame_error_rate: channel\.error_model = "nist" decides'
    ):
        Scenario(text).resolve()


@pytest.mark.parametrize(("loss", "size"), [(0.05, 32.0), (0.3, 4.0), (0.5, 5.5)])
def test_noise_is_estimated_from_aggregates_that_arrived_in_part(loss, size):
    share = (loss - loss**size) / (1 - loss**size)
    assert losses.lost_alone(share, size) == pytest.approx(loss, abs=1e-9)


def test_contention_is_bianchis_and_one_alone_never_collides():
    assert _core.collision_probability(1, 32, 5, 8) == 0.0
    # tau = 2 / (W + 1) and p = 1 - (1 - tau)^(n - 1) if windows do not double.
    assert _core.collision_probability(5, 16, 0, None) == pytest.approx(1 - (1 - 2 / 17) ** 4)
    with pytest.raises(ValueError, match="at least 1"):
        _core.collision_probability(0, 16, 6, 8)


def test_links_that_differ_by_chance_share_their_loss_and_others_do_not():
    def of(noise: float) -> Split:
        return Split(noise, noise - 0.02, noise + 0.02, 0.1, 1 - 0.9 * (1 - noise), 2000, "estimated")

    alike = losses.pooled({"a": of(0.09), "b": of(0.11)})
    assert [split.told for split in alike.values()] == pytest.approx([0.1, 0.1], abs=0.002)
    apart = losses.pooled({"a": of(0.05), "b": of(0.2)})
    assert [split.told for split in apart.values()] == [0.05, 0.2]
    none = losses.pooled({"a": of(0.002), "b": of(0.003)})
    assert [split.told for split in none.values()] == [0.0, 0.0]


def test_channels_are_named_by_their_frequency():
    assert [channel_of(mhz) for mhz in (2412, 2472, 2484, 5180, 5825, 5181, 900)] == [1, 13, 14, 36, 165, None, None]


IW = """Station 3c:84:6a:11:22:33 (on wlan0)
\trx packets:\t70112
\ttx packets:\t41212
\ttx retries:\t3788
\ttx failed:\t3
\tbeacon loss:\t0
\ttx bitrate:\t390.0 MBit/s VHT-MCS 4 80MHz short GI VHT-NSS 2
\trx bitrate:\t866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2
\tconnected time:\t422 seconds
"""
SS = """State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process
ESTAB  0      1230   192.168.1.5:51234   93.184.216.34:443
\t bbr wscale:7,9 rto:224 rtt:21.4/3.1 mss:1448 cwnd:41 bytes_acked:9110000 bytes_received:1231 delivery_rate 18.2Mbps busy:4200ms minrtt:11.9
"""


def test_output_of_a_host_makes_a_twin(command, tmp_path):
    (tmp_path / "iw.txt").write_text(IW)
    (tmp_path / "ss.txt").write_text(SS)
    done = command("twin", tmp_path / "iw.txt", tmp_path / "ss.txt", "--out", tmp_path / "home.toml")
    assert done.returncode == 0, done.stderr
    written = tomllib.loads((tmp_path / "home.toml").read_text())
    assert written["bss"] == {
        "standard": "802.11ac",
        "channel_width": "80 MHz",
        "spatial_streams": 2,
        "guard_interval": "short",
        "ap": {"queue": "airtime_fq_codel"},
    }
    (station,) = written["station"]
    assert station["rate_control"] == {"kind": "fixed", "rate": "390 Mbit/s"}
    assert station["downlink_rate_control"] == {"kind": "fixed", "rate": "866.7 Mbit/s"}
    assert (written["tcp"]["congestion_control"], written["flow"][0]["direction"]) == ("bbr", "up")
    # 11.9 ms and back, minus the time on the air.
    assert 5.5 < float(written["wired"]["delay"].removesuffix(" ms")) < 5.95
    lasthop.load(tmp_path / "home.toml")


HOSTS = Path(__file__).parents[1] / "data" / "hosts"


def written_twin(tmp_path, *names):
    """The twin of dumps of hosts, as a scenario file that loads."""
    found = twin([HOSTS / name for name in names], "home")
    file = tmp_path / "home.toml"
    file.write_text(found.text())
    lasthop.load(file)
    return tomllib.loads(file.read_text()), found


def test_an_ap_prints_beacon_intervals_and_a_station_counts_beacons(tmp_path):
    scenario, found = written_twin(tmp_path, "iw-ap-beacon-interval.txt")
    assert [station["name"] for station in scenario["station"]] == ["02-00-00-00-00-11", "02-00-00-00-00-12"]
    up, down = (
        [one.get(key, one["rate_control"])["mcs"] for one in scenario["station"]]
        for key in ("rate_control", "downlink_rate_control")
    )
    assert (up, down) == ([15, 6], [15, 7])
    # 298 retries of 13,502 packets and 6,298 of 33,502: the AP's own.
    attempts = {ends: (split.attempts, split.unanswered) for ends, split in found.splits.items()}
    assert attempts == {
        ("ap", "02-00-00-00-00-11"): (13_800, pytest.approx(298 / 13_800)),
        ("ap", "02-00-00-00-00-12"): (39_800, pytest.approx(6_298 / 39_800)),
    }


def test_a_mode_is_read_from_its_words_as_the_kernel_rounds_rates_down(tmp_path):
    scenario, _ = written_twin(tmp_path, "iw-he80.txt")
    assert (scenario["bss"]["standard"], scenario["bss"]["channel_width"], scenario["bss"]["spatial_streams"]) == (
        "802.11ax",
        "80 MHz",
        2,
    )
    (station,) = scenario["station"]
    # 980 subcarriers of 10 bits at 5/6 and 3/4, two streams, in 13.6 us.
    assert station["rate_control"]["rate"] == "1201 Mbit/s"
    assert station["downlink_rate_control"]["rate"] == "1080.9 Mbit/s"


def test_every_he_mode_makes_a_twin(tmp_path):
    count = 0
    for width, mcs, streams, guard in itertools.product((20, 40, 80, 160), range(12), (1, 2), range(3)):
        text = f"1.0 MBit/s {width}MHz HE-MCS {mcs} HE-NSS {streams} HE-GI {guard} HE-DCM 0"
        dump = f"Station 02:00:00:00:00:03 (on wlan0)\n\ttx packets:\t10\n\tbeacon loss:\t0\n\ttx bitrate:\t{text}\n"
        file = tmp_path / "iw.txt"
        file.write_text(dump)
        lasthop.Scenario(twin([file], "home").text()).resolve()
        count += 1
    assert count == 288


def test_a_legacy_rate_of_a_control_frame_is_noted_and_not_the_mode(tmp_path):
    scenario, found = written_twin(tmp_path, "iw-legacy-rx.txt")
    assert [station["rate_control"]["mcs"] for station in scenario["station"]] == [7, 15]
    assert any("24.0 MBit/s, is of a control or null frame" in note for note in found.seen.notes)


BEFORE_N = """\
Station 02:00:00:00:00:0{station} (on wlan0)
\ttx packets:\t4000
\ttx retries:\t300
\ttx bitrate:\t{tx}
\trx bitrate:\t{rx}
\tWMM/WME:\t{qos}
"""
OF_N = BEFORE_N.format(station=9, tx="72.2 MBit/s MCS 7 short GI", rx="65.0 MBit/s MCS 7", qos="yes")


@pytest.mark.parametrize(
    ("tx", "rx", "more", "standard", "why"),
    [
        ("48.0 MBit/s", "54.0 MBit/s", "", "802.11g", "assumed: "),
        ("11.0 MBit/s", "5.5 MBit/s", "", "802.11b", "seen: "),
        # CCK one way and OFDM the other way are both of 802.11g only.
        ("54.0 MBit/s", "11.0 MBit/s", "", "802.11g", "seen: "),
        ("48.0 MBit/s", "54.0 MBit/s", "\tfreq: 2437\n", "802.11g", "seen: "),
        ("48.0 MBit/s", "54.0 MBit/s", "\tfreq: 5180\n", "802.11a", "seen: "),
    ],
)
def test_bitrates_without_mcs_are_of_an_older_standard(tmp_path, tx, rx, more, standard, why):
    dump = tmp_path / "iw.txt"
    dump.write_text(BEFORE_N.format(station=7, tx=tx, rx=rx, qos="no") + more)
    found = twin([dump], "home")
    scenario = tomllib.loads(found.text())
    lasthop.Scenario(found.text()).resolve()
    assert scenario["bss"]["standard"] == standard
    (line,) = [line for line in found.text().splitlines() if line.startswith("standard")]
    assert f"# {why}" in line
    (station,) = scenario["station"]
    assert station["downlink_rate_control"]["rate"] == f"{tx.removesuffix(' MBit/s').removesuffix('.0')} Mbit/s"
    assert station["rate_control"]["rate"] == f"{rx.removesuffix(' MBit/s').removesuffix('.0')} Mbit/s"


@pytest.mark.parametrize(
    ("rates", "standard", "channel"),
    [(("11.0 MBit/s", "5.5 MBit/s"), "802.11b", 6), (("48.0 MBit/s", "54.0 MBit/s"), "802.11a", None)],
)
def test_a_station_without_qos_in_a_newer_bss_keeps_its_standard(tmp_path, rates, standard, channel):
    dump = tmp_path / "iw.txt"
    dump.write_text(BEFORE_N.format(station=7, tx=rates[0], rx=rates[1], qos="no") + OF_N)
    found = twin([dump], "home")
    lasthop.Scenario(found.text()).resolve()
    scenario = tomllib.loads(found.text())
    assert (scenario["bss"]["standard"], scenario["bss"].get("channel")) == ("802.11n", channel)
    assert [station.get("standard") for station in scenario["station"]] == [standard, None]


def test_flags_before_the_controller_are_no_controller(tmp_path):
    scenario, _ = written_twin(tmp_path, "iw-station.txt", "ss-tino.txt")
    assert scenario["tcp"]["congestion_control"] == "bbr"
    assert [flow["direction"] for flow in scenario["flow"]] == ["up"]


def test_one_line_per_socket_is_read_too(tmp_path):
    one_line = tmp_path / "ss.txt"
    text = (HOSTS / "ss-tino.txt").read_text().splitlines()
    one_line.write_text(f"{text[0]}\n{text[1]} {text[2].strip()}\n")
    found = twin([HOSTS / "iw-station.txt", one_line], "home")
    assert [load.flow.id for load in found.loads] == ["sta.up"]


def test_output_of_iw_link_is_a_stations(tmp_path):
    file = tmp_path / "link.txt"
    file.write_text(
        "Connected to 02:00:00:00:00:04 (on wlan0)\n\tSSID: home\n\tfreq: 5180\n\tRX: 4917488 bytes (12427 packets)\n"
        "\tTX: 7797738 bytes (13502 packets)\n\tsignal: -43 dBm\n\trx bitrate: 130.0 MBit/s MCS 15\n"
        "\ttx bitrate: 144.4 MBit/s MCS 15 short GI\n"
    )
    found = twin([file], "home")
    assert {ends: link.attempts for ends, link in found.seen.links.items()} == {
        ("sta", "ap"): 13_502,
        ("ap", "sta"): 12_427,
    }
    assert found.splits == {}, "iw link has no retries"


def test_counters_that_contradict_one_another_are_doubted(tmp_path):
    file = tmp_path / "iw.txt"
    file.write_text(IW.replace("\ttx failed:\t3", "\ttx failed:\t41000"))
    found = twin([file], "home")
    assert found.splits == {}
    assert any("41000 of 41212 packets failed" in note for note in found.seen.notes)


def test_provenance_of_one_counter_is_one_counter(tmp_path):
    text = written_twin(tmp_path, "iw-station.txt", "ss-tino.txt")[1].text()
    assert " MPDUs" not in text and "the least of 100 times" not in text
    assert "the latest bitrate of iw, 866.7 MBit/s" in text and "the least RTT of ss" in text


@pytest.mark.parametrize(
    ("bitrate", "said"),
    [
        ("573.5 MBit/s 40MHz EHT-MCS 11 EHT-NSS 2 EHT-GI 0", "802.11be is not modelled"),
        ("5764.7 MBit/s 320MHz EHT-MCS 13 EHT-NSS 2 EHT-GI 0", "802.11be is not modelled"),
        ("1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 1", "dual carrier modulation is not modelled"),
    ],
)
def test_modes_that_are_not_modelled_are_named(tmp_path, bitrate, said):
    file = tmp_path / "iw.txt"
    file.write_text(IW.replace("390.0 MBit/s VHT-MCS 4 80MHz short GI VHT-NSS 2", bitrate))
    with pytest.raises(ValueError, match=said):
        twin([file], "home")


def test_output_of_a_host_may_be_json(tmp_path):
    file = tmp_path / "host.json"
    file.write_text(
        '{"stations": [{"address": "02:00:00:00:00:01", "tx bitrate": "54.0 MBit/s", "tx packets": 900, "tx retries": 100}]}'
    )
    found = twin([file], "home")
    ((ends, split),) = found.splits.items()
    assert ends == ("ap", "02-00-00-00-00-01")
    assert (split.attempts, split.unanswered) == (1000, pytest.approx(0.1))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"stations": [{}]}', 'stations[0]: has no "address"'),
        ("{broken", "line 1: is not complete JSON"),
        (SS, "no station: give also"),
        (IW.replace("390.0 MBit/s", "fast"), "is not a bitrate as iw prints it"),
    ],
)
def test_wrong_output_of_a_host_is_refused_with_its_place(command, tmp_path, text, said):
    (tmp_path / "host.txt").write_text(text)
    done = command("twin", tmp_path / "host.txt", "--out", tmp_path / "t.toml")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr


def test_a_fit_needs_flows(command, tmp_path):
    (tmp_path / "iw.txt").write_text(IW)
    done = command("twin", tmp_path / "iw.txt", "--fit", "--out", tmp_path / "t.toml")
    assert done.returncode == 2 and "--fit needs flows: give also what `ss -tin` prints" in done.stderr


def test_the_command_writes_a_scenario_that_can_be_compared_with_the_capture(command, download, tmp_path):
    out = tmp_path / "copy.toml"
    done = command("twin", download.air, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "ap → sta: " in done.stdout and done.stderr.endswith(f"{out}\n")
    compared = command("compare", download.air, out, "--seeds", 2)
    assert compared.returncode == 0, compared.stderr
    assert f"A: {download.air}\nB: {out}" in compared.stdout and "goodput (Mbit/s)" in compared.stdout


def test_a_capture_has_no_account_to_explain(command, download):
    done = command("compare", download.air, download.air, "--explain")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "read from captures" in done.stderr


@pytest.mark.parametrize("option", [("--out", "twin.json"), ("--out", "t.toml", "--from", "2s", "--to", "1s"), ()])
def test_a_wrong_command_line_is_one_sentence(command, download, tmp_path, option):
    done = command("twin", download.air, *option)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr


def test_a_wire_alone_makes_no_twin(command, download, tmp_path):
    done = command("twin", download.air.with_name("server.pcapng"), "--out", tmp_path / "t.toml")
    assert done.returncode == 2 and "no capture of the air" in done.stderr


def test_an_interval_is_wilsons():
    # 10 of 100: (0.1 + 0.0192 ± 0.0606) / 1.0384.
    assert losses.wilson(10, 100) == pytest.approx((0.05523, 0.17437), abs=1e-4)
    assert math.isclose(losses.without(0.19, 0.1), 0.1)
