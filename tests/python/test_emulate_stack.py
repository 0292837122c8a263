"""`lasthop emulate` with `wifi_stack = "kernel"`: mac80211, hostapd and wpa_supplicant over the simulated air.

They need a kernel of `lasthop emulate --build-kernel --wifi`, and hostapd, wpa_supplicant and iw.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
from pathlib import Path
from types import SimpleNamespace

import lasthop
import pytest
from emulator import busy_loops, emulate, kernel_or_skip, runs_of
from lasthop.cli.emulate import ended_after_s
from lasthop.data.runs import run_of
from lasthop.kernel.emulation import missing_daemons
from lasthop.kernel.emulation.paths import PROGRAMS_PATH
from lasthop.study.overview import roam_table

CELL = """\
duration = "1500 ms"
warmup = "500 ms"

[bss]
standard = "{standard}"

[[station]]
count = 2

[wired]
rate = "100 Mbit/s"
delay = "5 ms"

[[flow]]
station = "*"
direction = "down"

[emulation]
wifi_stack = "kernel"
"""
# 802.11a, from 802.11-2020 §17: a slot, SIFS, the preamble with SIGNAL, a symbol, and the bits of SERVICE and tail, in us.
SLOT, SIFS, PREAMBLE, SYMBOL, AROUND = 9, 16, 20, 4, 22
DIFS = SIFS + 2 * SLOT
CW_MIN = 15


def text(standard: str = "802.11a") -> str:
    """The scenario."""
    return CELL.format(standard=standard)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with scenarios, on a machine that has such a kernel and the daemons."""
    kernel_or_skip(wifi=True)
    if missing := missing_daemons():
        pytest.skip(f"{', '.join(missing)} is not installed")
    for program in ("iw", "ping"):
        if shutil.which(program, path=PROGRAMS_PATH) is None:
            pytest.skip(f"{program} is not installed")
    directory = tmp_path_factory.mktemp("stack")
    for standard in ("802.11a", "802.11n"):
        (directory / f"{standard}.toml").write_text(text(standard))
    return directory


def at_station(place: Path, scenario: str, command: str, *settings: str, extra: tuple[str, ...] = ()) -> str:
    """The output of a command at the first station."""
    sets = [word for setting in settings for word in ("--set", setting)]
    done = emulate(scenario, *sets, *extra, "--station", "sta1", "--", "sh", "-c", command, cwd=place)
    assert done.returncode == 0, done.stderr
    return done.stdout


def airtime_us(payload: int, mbps: int) -> int:
    """Duration of a PPDU of 802.11a. [802.11-2020 §17.4.3]"""
    return PREAMBLE + SYMBOL * -(-(AROUND + 8 * payload) // (SYMBOL * mbps))


@pytest.mark.parametrize("standard", ("802.11a", "802.11n"))
def test_the_same_seed_is_the_same_run_on_a_busy_machine(place, standard):
    assert emulate(f"{standard}.toml", "--seed", 1, "--json", "one.json", cwd=place).returncode == 0
    with busy_loops(2):
        done = emulate(f"{standard}.toml", "--seed", 1, "--json", "two.json", cwd=place)
    assert done.returncode == 0, done.stderr
    (first,), (second,) = runs_of(place / "one.json"), runs_of(place / "two.json")
    assert first == second
    simulator = first["simulator"]
    assert simulator["certificate"]["valid"], simulator["certificate"]["faults"]
    assert simulator["wifi_stack"] == "kernel"
    assert [(one["station"], one["ap"]) for one in simulator["associations"]] == [("sta1", "ap"), ("sta2", "ap")]
    assert all(flow["goodput_bps"] > 1e6 for flow in first["flows"])


def test_a_ping_takes_the_time_of_its_frames(place):
    out = at_station(
        place,
        "802.11a.toml",
        "ping -c 20 -i 0.05 -s 1000 server",
        "flow.0.start=1400 ms",
        "wired.delay=1 ms",
    )
    rtts_us = [1000 * float(rtt) for rtt in re.findall(r"time=([\d.]+) ms", out)]
    assert len(rtts_us) == 20, out
    # An MPDU: header, LLC and SNAP, IP and ICMP headers, data, FCS. There and back 1 ms of wire, and its bytes at 100 Mbit/s.
    mpdu, wire_us = 24 + 8 + 28 + 1000 + 4, 2 * (1000 + 8 * 1028 / 100)
    # On a medium that has been idle for DIFS a frame leaves at once. Both minstrels have found 54 Mbit/s by the middle.
    least_us = wire_us + 2 * airtime_us(mpdu, 54)
    # ping prints 10 us, and each of the eight times that a packet changes hands costs some, as clocks are read.
    assert least_us - 10 <= statistics.median(rtts_us[10:]) <= least_us + 45, (least_us, rtts_us)
    # A frame may go at a lower rate, have a backoff, and come behind a beacon; the first one resolves addresses before.
    longest_us = wire_us + 2 * (DIFS + CW_MIN * SLOT + airtime_us(mpdu, 6)) + DIFS + airtime_us(200, 6)
    assert all(least_us - 10 <= rtt <= longest_us + 45 for rtt in rtts_us[1:]), (least_us, longest_us, rtts_us)


def test_the_kernels_own_counters_are_those_of_the_air(place):
    scenario = (
        text()
        .replace("count = 2", 'name = "sta1"\nframe_error_rate = 0.2')
        .replace('direction = "down"', 'direction = "up"')
    )
    (place / "up.toml").write_text(scenario)
    out = at_station(place, "up.toml", "sleep 1.4; iw dev wlan0 station dump", extra=("--json", "up.json"))
    count = {name: int(value) for name, value in re.findall(r"tx (packets|retries|failed):\s+(\d+)", out)}
    assert count["packets"] > 500, out
    assert re.search(r"authorized:\s+yes", out) and "02:00:00:00:00:01" in out
    # The kernel's count of its frames, against the count on the air; the command ends a little before the run.
    (link,) = (link for link in runs_of(place / "up.json")[0]["links"] if link["node"] == "sta1")
    lost = link["mpdu_loss_fraction"]
    assert count["retries"] / count["packets"] == pytest.approx(lost / (1 - lost), rel=0.05), (count, link)
    # Without collisions it would be one in four frames: a fifth of all attempts fails, and collisions come on top.
    assert 0.25 < count["retries"] / count["packets"] < 0.5


def test_a_radio_of_a_patched_kernel_leaves_frames_to_mac80211(place):
    if not kernel_or_skip(wifi=True).holds_back:
        pytest.skip("no kernel with the patch of kernel/patches was built")
    command = "cat /sys/module/mac80211_hwsim/parameters/hw_queue; sleep 1.3; iw phy; iw dev wlan0 station dump"
    up = ("flow.0.direction=up", "flow.0.count=4")
    out = at_station(place, "802.11n.toml", command, *up, extra=("--json", "held.json"))
    assert out.startswith("128\n")
    assert "[ AQL ]" in out and "[ AIRTIME_FAIRNESS ]" in out
    # mac80211 computes the airtime of each status: at least that of payload at the highest rate, at most the time since the start.
    (spent,) = (float(us) / 1e6 for us in re.findall(r"tx duration:\s+(\d+) us", out))
    sent_bits = 8 * int(re.findall(r"tx bytes:\s+(\d+)", out)[0])
    assert sent_bits / 65e6 < spent < 1.5
    (run,) = runs_of(place / "held.json")
    assert not [note for note in run["simulator"]["certificate"]["notes"] if "all frames at once" in note]


def test_recordings_captures_and_accounts_are_of_the_kernels_frames(place):
    sets = ("--set", "flow.0.count=2", "--set", "bss.beacons=102.4 ms")
    kept = ("--record", "all", "--pcap", "frames", "--pcap-snap", "0", "--explain", "--out", "kept")
    assert emulate("802.11n.toml", "--seed", 1, "--json", "plain.json", *sets, cwd=place).returncode == 0
    done = emulate("802.11n.toml", "--seed", 1, *sets, *kept, cwd=place)
    assert done.returncode == 0, done.stderr
    (plain,), result = runs_of(place / "plain.json"), lasthop.read(place / "kept")
    (run,) = result.told_runs
    # A recording takes random bytes of the kernel, which move the digest, and single frames by some us.
    assert run["medium"] == pytest.approx(plain["medium"], rel=1e-3)
    goodput = [[flow["goodput_bps"] for flow in of["flows"]] for of in (run, plain)]
    assert goodput[0] == pytest.approx(goodput[1], rel=0.01)
    ppdus, carries = (result.recording(table, 1).to_pandas() for table in ("ppdu", "carries"))
    assert set(carries.flow) == {flow["id"] for flow in run["flows"]} and carries.ack_bytes.max() > 0
    beacons = ppdus[ppdus.kind.eq("beacon") & ppdus.bytes.gt(100)]
    assert len(beacons) == pytest.approx(1.5 / 0.1024, abs=1)
    for flow in run["account"]["flows"]:
        terms = flow["terms"]
        assert sum(terms.values()) == pytest.approx(run["account"]["covered_s"])
        assert terms["own_data_s"] > 0 and terms["own_tcp_acks_s"] > 0 and terms["unattributed_s"] < 0.01
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    read = (
        "tshark",
        "-r",
        "frames/air.pcapng",
        "-T",
        "fields",
        "-e",
        "wlan.fc.type_subtype",
        "-e",
        "wlan.ssid",
        "-e",
        "wlan.fcs.status",
    )
    more = ("-e", "ip.src", "-e", "tcp.srcport", "-e", "wlan.fc.retry", "-e", "_ws.malformed", "-E", "separator=;")
    said = subprocess.run(
        (*read, *more, "-o", "wlan.check_checksum:TRUE"), cwd=place, capture_output=True, text=True, check=True
    ).stdout
    frames = [line.split(";") for line in said.splitlines()]
    # What follows the header of a frame whose FCS is wrong is called malformed.
    assert not [frame for frame in frames if frame[2] == "1" and frame[-1]]
    seen = [frame for frame in frames if frame[0] == "0x0008"]
    assert len(seen) == len(beacons) and all(bytes.fromhex(frame[1]) == b"lasthop" for frame in seen)
    data = [frame for frame in frames if frame[0] == "0x0028" and frame[2] == "1"]
    # Every flow has data of a port of the server; all flows of a station have one port there.
    ports = {(frame[3], frame[4]) for frame in data if frame[4]}
    assert len({port for source, port in ports if source == "10.0.0.1"}) == len(run["flows"])
    assert {source for source, _ in ports} == {"10.0.0.1", "10.1.0.2", "10.1.0.3"}
    assert sum(frame[5] in ("1", "True") for frame in frames) > 10


@pytest.mark.parametrize(("width", "highest"), ((20, 78), (40, 180), (80, 390)))
def test_802_11ac_has_vht_rates_at_its_width(place, width, highest):
    # 802.11-2020 Tables 21-30, 21-38 and 21-46: the highest VHT-MCS of one stream with the long guard interval.
    wide = ("bss.standard=802.11ac", f"bss.channel_width={width} MHz", "bss.guard_interval=long")
    load = ("flow.0.direction=up", "flow.0.rate=4 Mbit/s", "duration=1200 ms", "station.0.distance=3 m")
    command = "sleep 1; iw dev wlan0 station dump; iw dev wlan0 info"
    out = at_station(place, "802.11n.toml", command, *wide, *load, extra=("--json", "ac.json"))
    assert re.search(rf"tx bitrate:\s+{highest}\.0 MBit/s.* VHT-MCS", out), out
    assert f"width: {width} MHz" in out
    (run,) = runs_of(place / "ac.json")
    assert run["links"][0]["mean_data_rate_bps"] > 0.5e6 * highest


@pytest.mark.parametrize(("standard", "security"), (("802.11n", "wpa2"), ("802.11a", "wpa3")))
def test_stations_join_with_a_key(place, standard, security):
    out = at_station(
        place,
        f"{standard}.toml",
        "iw dev wlan0 station dump; ping -c 3 -i 0.1 server",
        f"emulation.security={security}",
    )
    assert re.search(r"MFP:\s+" + ("yes" if security == "wpa3" else "no"), out), out
    assert "authorized:\tyes" in out and "3 received" in out


WALK = """\
duration = "9 s"
warmup = "500 ms"
channel.path_loss = "log_distance"

[[bss]]
name = "west"
ssid = "hall"
standard = "802.11n"

[[bss]]
name = "east"
ssid = "hall"
standard = "802.11n"
ap.position = ["40 m", "0 m"]

[[station]]
name = "walker"
bss = "west"
waypoints = [["0 s", "5 m", "3 m"], ["6 s", "35 m", "3 m"]]

[[station]]
name = "far"
bss = "east"
distance = "5 m"

[wired]
rate = "100 Mbit/s"
delay = "5 ms"

[[flow]]
station = "walker"
direction = "down"
rate = "2 Mbit/s"

[emulation]
wifi_stack = "kernel"
security = "wpa2"
"""


@pytest.mark.parametrize(("fast", "channel"), ((False, 36), (True, 36), (True, 44)))
def test_a_station_that_walks_roams_by_its_supplicant(place, fast, channel):
    (place / "walk.toml").write_text(WALK)
    settings = (f"emulation.fast_transition={str(fast).lower()}", f"bss.1.channel={channel}")
    sets = [word for setting in settings for word in ("--set", setting)]
    # The command is asked for at the end; the supplicant and the kernel say where the station is and how it came there.
    command = "sleep 8.5; wpa_cli -p /run/lasthop/walker -i wlan0 status; iw dev wlan0 link; ping -c 3 -i 0.05 server"
    run = (*sets, "--json", "walk.json", "--station", "walker", "--", "sh", "-c", command)
    done = emulate("walk.toml", *run, cwd=place)
    assert done.returncode == 0, done.stderr
    assert f"Connected to 02:00:00:00:00:02 (on wlan0)\n\tSSID: hall\n\tfreq: {5000 + 5 * channel}" in done.stdout
    assert f"key_mgmt={'FT-PSK' if fast else 'WPA2-PSK'}" in done.stdout
    assert "wpa_state=COMPLETED" in done.stdout and "3 received" in done.stdout
    (first,) = runs_of(place / "walk.json")
    (roam,) = first["simulator"]["roams"]
    assert (roam["station"], roam["from"], roam["to"]) == ("walker", "west.ap", "east.ap")
    assert roam["fast_transition"] is fast
    # 16 dBm less 46.7 dB at 1 m and 30 log10(d) are -70 dBm at 20 m, half way, at 3 s. Then it scans, again each 2 s, and on
    # two channels some tenths of a second long.
    assert 2.5 < roam["at_s"] < 8 and 0 < roam["gap_s"] < (0.1 if channel == 36 else 0.5)
    (flow,) = (flow for flow in first["flows"] if flow["id"] == "walker.down")
    assert flow["goodput_bps"] == pytest.approx(2e6, rel=0.1)
    if fast:
        assert emulate("walk.toml", *run, cwd=place).returncode == 0
        assert runs_of(place / "walk.json") == [first]


class TestCheck:
    def mistake(self, written: str = text(), **settings: str) -> str:
        scenario = lasthop.Scenario(
            written, "f.toml", [(key.replace("__", "."), value) for key, value in settings.items()]
        )
        with pytest.raises(lasthop.ScenarioError) as raised:
            scenario.resolve()
        return str(raised.value)

    def test_rates_that_minstrel_ht_lacks(self):
        assert "minstrel_ht, has no rates of 802.11ax and later" in self.mistake(bss__standard="802.11ax")

    def test_keys_of_a_stack_without_one(self):
        said = self.mistake(emulation__wifi_stack="model", emulation__security="wpa2")
        assert "emulation.security" in said and 'wifi_stack = "kernel"' in said

    def test_roaming_by_802_11r(self):
        assert 'security = "wpa2"' in self.mistake(emulation__fast_transition="true")
        said = self.mistake(emulation__fast_transition="true", emulation__security="wpa2")
        assert "emulation.fast_transition: no two access points have one SSID" in said
        said = self.mistake(WALK, emulation__wifi_stack="model", emulation__fast_transition="true")
        assert 'wifi_stack = "kernel"' in said
        assert "at most 32 bytes" in self.mistake(WALK, bss__1__ssid="x" * 33)

    def test_real_time(self):
        assert "runs in virtual time" in self.mistake(emulation__time="real")

    def test_a_wide_channel(self):
        assert "20, 40 and 80 MHz" in self.mistake(bss__standard="802.11ac", bss__channel_width="160 MHz")


def test_keys_that_the_kernel_decides_are_named(tmp_path):
    (tmp_path / "cell.toml").write_text(
        text().replace("[[station]]", 'rate_control = "arf"\n\n[[station]]\nqueue = "codel"')
    )
    plan = json.loads(lasthop._core.emulation_plan_json(lasthop.load(tmp_path / "cell.toml").resolve(), 1))
    assert plan["wifi_stack"] == "kernel"
    (said,) = (line for line in plan["warnings"] if "no effect" in line)
    assert "bss.rate_control" in said and "station.queue" in said


def test_roams_have_a_table():
    roam = {"station": "walker", "from": "west.ap", "to": "east.ap", "at_s": 10.30804, "fast_transition": True}
    run = {"seed": 3, "simulator": {"roams": [roam | {"gap_s": 0.009739}, roam | {"gap_s": None}]}}
    heads, rows = roam_table(SimpleNamespace(told_runs=[run]))
    assert dict(zip(heads, rows[0], strict=True)) == {
        "roam of": "walker",
        "seed": "3",
        "from": "west.ap",
        "to": "east.ap",
        "at (s)": "10.308",
        "802.11r": "yes",
        "gap (ms)": "9.7",
    }
    assert rows[1][-1] == "-"
    assert roam_table(SimpleNamespace(told_runs=[{"seed": 1, "simulator": {}}])) is None


def test_a_run_that_ends_with_its_command_is_known_by_its_goodput():
    # 60816 bytes at 4.865106 Mbit/s are 100 ms.
    runs = run_of(
        {"flows": [{"bytes_delivered": 0, "goodput_bps": 0.0}, {"bytes_delivered": 60816, "goodput_bps": 4865105.63}]}
    )
    assert ended_after_s([runs], 20.0) == pytest.approx(0.1, rel=1e-4)
    assert ended_after_s([runs], 0.1) is None and ended_after_s([], 1.0) is None
