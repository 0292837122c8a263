"""Nasty input: each mistake one sentence with its place, nothing half written, and nothing replaced that is not a file."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import lasthop
import pytest

LASTHOP = [sys.executable, "-m", "lasthop"]
ROOT_USER = hasattr(os, "geteuid") and os.geteuid() == 0


def complaint(file, *settings):
    """What `lasthop` says of the scenario with `settings` over it; empty where it has nothing to say."""
    described = lasthop.Scenario(file.read_text(), file.name)
    for path, value in settings:
        described = described.set(path, value)
    try:
        described.resolve()
    except lasthop.ScenarioError as error:
        assert "\n" not in str(error)
        return str(error)
    return ""


def refused(done, *words):
    """One message and status 2."""
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("lasthop: ") and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr


NOT_THERE_YET = [
    ("channel.path_loss", "multi_wall"),
    ("channel.fading", "rayleigh"),
    ("channel.fading", "nakagami"),
    ("bss.arp", "resolve"),
    ("bss.edca.be", {"aifsn": 3}),
    ("bss.aggregation", {"max_mpdus": 64}),
    ("bss.rate_control", "minstrel"),
    ("bss.ap.queue", "fq_codel"),
    ("bss.ap.queue", {"kind": "fq_codel", "target": "5 ms"}),
    ("bss.ap.driver_queue", "10 packets"),
    ("bss.ap.access", {"kind": "edca"}),
    ("wall", [{"from": ["0 m", "5 m"], "to": ["8 m", "5 m"], "loss": "8 dB"}]),
    ("tcp.profile", "linux-3.13"),
    ("tcp.congestion_control", "bbr"),
    ("tcp.ack_loss", {"threshold": 1}),
    ("tcp.ack", {"kind": "skip", "skip": 1, "start_after": "10 segments"}),
    ("tcp.receive_window", "autotune"),
    ("flow.0.dscp", "EF"),
    ("flow.0.traffic", {"kind": "voip"}),
]


def is_there(error):
    """Whether a key that a version lacked has come since: then its own tests speak for it."""
    return error == ""


@pytest.mark.parametrize(("path", "value"), NOT_THERE_YET)
def test_a_key_of_the_interface_works_or_is_refused_as_not_modelled(small, path, value):
    error = complaint(small, (path, value))
    if not is_there(error):
        assert error.startswith(f"--set {path}="), error
        assert "not there yet" in error or "has no" in error or "needs" in error, error


WRONG = [
    # unknown keys, wherever a table may stand
    *((f"{section}.colour", 1, "colour") for section in ("bss", "bss.ap", "station.0", "wired", "tcp", "flow.0")),
    ("colour", 1, "unknown key"),
    ("channel.colour", 1, "unknown key"),
    ("bss.ap.access", {"kind": "pifs", "colour": 1}, "bss.ap.access.colour: unknown key"),
    ("bss.rate_control", {"kind": "aarf", "colour": 1}, "unknown key"),
    # bare numbers and wrong units name the units
    ("duration", 5, "units: ns, us"),
    ("duration", "5 parsec", "units: ns, us"),
    ("wired.rate", 100, "units: bit/s"),
    ("station.0.distance", "10", "units: m"),
    ("tcp.packet_size", 1500, "units: B"),
    ("channel.tx_power", "1 kg", "units: dBm, mW, W"),
    ("channel.tx_power", "0 mW", "not a power"),
    ("bss.ap.queue", {"kind": "fifo", "limit": 50}, "50 packets"),
    # impossible values
    ("duration", "0 s", "duration"),
    ("duration", "-1 s", "negative"),
    ("duration", "1e300 s", "too large"),
    ("duration", float("nan"), "not a time"),
    ("duration", float("inf"), "not a time"),
    ("warmup", "2 s", "is not shorter than the duration"),
    ("station.0.count", 10**9, "from 1 to 10000"),
    ("station.0.count", 10**30, "count"),
    ("station.0.count", -1, "count"),
    ("station.0.distance", "-1 m", "negative"),
    ("station.0.distance", "nan m", "not a distance"),
    ("station.0.name", "two words", "cannot be a name"),
    ("station.0.name", "a/b", "cannot be a name"),
    ("station.0.name", "ap", "cannot be a name"),
    ("station.0.name", "a\nb", "cannot be a name"),
    ("channel.error_model", {"kind": "fixed", "frame_error_rate": 1.5}, "probability"),
    ("channel.error_model", {"kind": "fixed", "frame_error_rate": float("nan")}, "frame_error_rate"),
    # both of two equal frames would survive, and both be answered
    ("channel.capture", {"threshold": "0 dB"}, "more than 0 dB"),
    ("channel.capture", {"threshold": "-5 dB"}, "more than 0 dB"),
    ("channel.hidden", [["sta1", "sta9"]], 'no node called "sta9"'),
    ("channel.hidden", [["sta1", "sta1"]], "itself"),
    ("channel.hidden", [["sta1"]], "a list of 2"),
    ("bss.channel", 15, "no channel 15"),
    ("bss.channel_width", "40 MHz", "20 MHz only"),
    ("bss.channel_width", "30 MHz", "one of: 20 MHz, 40 MHz"),
    ("bss.spatial_streams", 2, "one stream only"),
    ("bss.guard_interval", "short", "one guard interval only"),
    ("bss.guard_interval", "400 ns", "one of: long, short"),
    ("bss.rates", ["54 Mbit/s"], "has no rate of 54 Mbit/s"),
    ("bss.basic_rates", [], "at least one"),
    ("bss.rate_control", {"kind": "fixed", "rate": "12 Mbit/s"}, "12 Mbit/s"),
    ("bss.rate_control", {"kind": "fixed", "mcs": 15}, "mcs"),
    ("bss.retry_limit", -1, "from 0 to 1000"),
    ("bss.protection", "cts_to_self", "802.11g"),
    ("bss.short_slot", True, "remove this key"),
    ("bss.beacons", "0 s", "1 ms"),
    ("bss.countdown", "bianchi", "eifs = false"),
    ("wired.rate", "0 bit/s", "at least"),
    ("wired.delay", "1e300 s", "too large"),
    ("tcp.packet_size", "40 B", "no room"),
    ("tcp.packet_size", "9000 B", "at most 2296 B"),
    ("tcp.mss", "2257 B", "at most 2296 B"),
    ("tcp.initial_window", 0, "at least 1"),
    ("tcp.initial_window", 1_000_000_000, "more than 1 GiB"),
    ("tcp.receive_window", "0 B", "never opens"),
    ("flow.0.station", "nobody", 'no station "nobody"'),
    ("flow.0.station", ["sta1", "nobody"], "flow[0].station[1]"),
    ("flow.0.station", [], "empty list"),
    ("flow.0.rate", "saturated", "UDP"),
    ("flow.0.transport", "udp", "needs a rate"),
    ("flow.0.transport", "sctp", "one of: tcp, udp"),
    ("flow.0.size", "0 B", "at least 1 B"),
    ("flow.0.repeat", 3, "size"),
    ("flow.0.start", "2 s", "after the end of the run"),
    ("flow.0.start_jitter", "2 s", "after the end of the run"),
    # paths that lead nowhere
    ("station.7.count", 1, "no entry 7"),
    ("station.sta.count", 1, "an index"),
    ("station.0.count.x", 1, "station.0.count.x"),
]


@pytest.mark.parametrize(("path", "value", "words"), WRONG)
def test_a_wrong_value_is_refused_with_its_place(small, path, value, words):
    error = complaint(small, (path, value))
    assert words in error, error
    assert error.startswith(("small.toml", "--set"))


@pytest.mark.parametrize(
    ("path", "value", "place", "resolved"),
    [
        ("channel.tx_power", "100 mW", ("channel", "tx_power"), "20 dBm"),
        ("channel.tx_power", "1 W", ("channel", "tx_power"), "30 dBm"),
        ("tcp.congestion_control", "reno", ("tcp", "congestion_control", "kind"), "newreno"),
        ("flow.0.congestion_control", {"kind": "reno"}, ("flow", 0, "congestion_control", "kind"), "newreno"),
    ],
)
def test_spellings_of_other_tools_are_understood(small, path, value, place, resolved):
    found = lasthop.load(small).set(path, value).to_dict()
    for step in place:
        found = found[step]
    assert found == resolved


def test_a_parameter_alone_is_laid_over_the_default(small):
    # The default of the profile linux is CUBIC as a current kernel has it.
    plain = small.read_text().replace('congestion_control = "newreno"', "")
    usual = lasthop.Scenario(plain).to_dict()["tcp"]["congestion_control"]
    given = lasthop.Scenario(plain).set("tcp.congestion_control.beta", 0.5).to_dict()["tcp"]["congestion_control"]
    assert given == {**usual, "beta": 0.5} and usual["kind"] == "cubic" and usual["beta"] != 0.5
    wrong = lasthop.Scenario(plain).set("tcp.congestion_control.gamma", 0.5)
    with pytest.raises(lasthop.ScenarioError, match='without `kind = "…"`, tcp.congestion_control is "cubic"'):
        wrong.resolve()
    older = lasthop.Scenario(plain).set("tcp.profile", "linux-2.6").set("tcp.congestion_control.beta", 0.5)
    assert older.to_dict()["tcp"]["congestion_control"]["era"] == "linux-2.6"


def test_a_power_above_every_licence_is_a_warning(small):
    (warning,) = [
        w
        for w in map(str, lasthop.load(small).set("channel.tx_power", "90 dBm").resolve().warnings())
        if w.startswith("tx_power")
    ]
    assert warning.startswith("tx_power: all 3 nodes at 90.0 dBm, more than the 36 dBm")


def test_two_groups_of_one_name_are_refused(small):
    small.write_text(small.read_text() + '\n[[station]]\nname = "sta1"\n')
    assert 'small.toml:25: station[1].name: the name "sta1" is also used by station[0]' in complaint(small)


def test_two_settings_that_exclude_one_another_are_refused(small):
    assert "keep one" in complaint(small, ("station.0.position", ["1 m", "1 m"]))
    assert "keep one" in complaint(small, ("tcp.mss", "1000 B"), ("tcp.packet_size", "1000 B"))
    udp = [("flow.0.transport", "udp"), ("flow.0.rate", "1 Mbit/s")]
    assert "no effect" in complaint(small, *udp, ("flow.0.sack", True))
    assert "at most 2296 B" in complaint(small, *udp, ("flow.0.packet_size", "2297 B"))


@pytest.mark.parametrize("content", [b"", b"\0", b"\xff\xfe", b"[", b"[[bss]]\n[[bss]]\n", b"x" * 100_000])
def test_a_file_of_rubbish_is_refused(small, content):
    small.write_bytes(content)
    with pytest.raises(lasthop.ScenarioError, match=r"^small\.toml") as caught:
        lasthop.load("small.toml")
    assert "\n" not in str(caught.value)


# Python.


@pytest.mark.parametrize(
    "arguments",
    [
        {"jobs": 0},
        {"jobs": -1},
        {"seeds": -1},
        {"seeds": [-1]},
        {"seeds": [2**63]},
        {"interval_s": 0},
        {"interval_s": -1.0},
        {"interval_s": float("nan")},
        {"interval_s": float("inf")},
        {"interval_s": 1e-30},
    ],
)
def test_impossible_arguments_raise_value_error_with_their_name(small, arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        lasthop.run(lasthop.load(small), **{"seeds": 1, **arguments})


def test_a_setting_of_no_kind_is_refused(small):
    with pytest.raises(TypeError, match="set: the path of a setting is needed"):
        lasthop.load(small).set("", 1)
    with pytest.raises(TypeError, match="wired.delay: a setting is a string, a number, .* not None"):
        lasthop.load(small).set("wired.delay", None)
    assert "not a time" in complaint(small, ("wired.delay", "\udcff"))


# Destinations of results.


def test_a_name_that_is_not_utf8_is_no_obstacle(command, small):
    try:
        odd = os.rename(small, b"n\xe9.toml") or os.fsdecode(b"n\xe9.toml")
    except OSError:
        pytest.skip("this file system has UTF-8 names only")
    done = command("run", odd, "--seed", 1, "--json", "-")
    assert done.returncode == 0, done.stderr
    refused(command("run", odd, "--set", "tcp.sack=" + odd), "tcp.sack")
    refused(command("show", odd))
    refused(command("list", odd))


def test_json_into_a_pipe_goes_through_it(small):
    os.mkfifo("pipe")
    received = []
    reader = threading.Thread(target=lambda: received.append(Path("pipe").read_text(encoding="utf-8")))
    reader.start()
    done = subprocess.run(
        [*LASTHOP, "run", "small.toml", "--seed", "1", "--json", "pipe"], capture_output=True, check=False
    )
    if not stat.S_ISFIFO(os.stat("pipe").st_mode):  # else the reader would wait for ever
        pytest.fail("the pipe was replaced by a file")
    reader.join(timeout=30)
    assert done.returncode == 0
    assert json.loads(received[0])["format"] == 1


def test_json_through_a_symbolic_link_keeps_the_link(command, small):
    (small.parent / "elsewhere").mkdir()
    os.symlink("elsewhere/result.json", "link.json")
    assert command("run", "small.toml", "--seed", 1, "--json", "link.json").returncode == 0
    assert os.path.islink("link.json")
    assert json.loads((small.parent / "elsewhere" / "result.json").read_text())["format"] == 1


@pytest.mark.parametrize("option", ["--out", "--json"])
def test_no_place_for_results_is_refused_before_anything_runs(command, small, option):
    refused(command("run", "small.toml", option, ""), option)
    refused(command("run", "small.toml", option, "small.toml/below"), "small.toml/below")
    if not ROOT_USER:
        (small.parent / "locked").mkdir(mode=0o555)
        refused(command("run", "small.toml", option, "locked/below"), "locked/below", "Permission denied")
    assert {path.name for path in small.parent.iterdir()} <= {"small.toml", "locked"}


def test_interval_beyond_the_end_is_refused(command, small):
    refused(command("run", "small.toml", "--interval", "5 s", "--out", "out"), "--interval", "longer than the run")
    assert not (small.parent / "out").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("line", [("run", "small.toml", "--seed", "1", "--json", "-"), ("self", "schema")])
def test_a_full_disk_is_one_sentence(small, line):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*LASTHOP, *line], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "No space left" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("line", [("run", "small.toml", "--seed", "1", "--json", "-"), ("list",), ("self", "schema")])
def test_a_reader_that_leaves_is_no_error_to_speak_of(small, line):
    process = subprocess.Popen([*LASTHOP, *line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    messages = process.stderr.read()
    assert process.wait(timeout=60) in (0, 1)
    assert "Traceback" not in messages and "Exception" not in messages and "BrokenPipe" not in messages


@pytest.mark.parametrize("signals", [["SIGTERM"], ["SIGHUP"], ["SIGINT", "SIGINT"]])
def test_however_it_is_stopped_finished_seeds_are_kept(small, signals):
    if "SIGHUP" in signals and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        pytest.skip("these tests run under nohup, which a run respects")
    line = [*LASTHOP, "run", "small.toml", "--seeds", "1000000", "--jobs", "1", "--json", "result.json", "--out", "out"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while "finished" not in (told := process.stderr.readline()):
        assert "warning" in told
    for name in signals:
        process.send_signal(getattr(signal, name))
        time.sleep(0.02)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in messages
    for file in (small.parent / "result.json", small.parent / "out" / "result.json"):
        document = json.loads(file.read_text())
        assert document["interrupted"] is True and document["runs"]
    assert not list(small.parent.rglob(".*"))


def test_a_title_that_a_terminal_would_obey_is_refused(small, command):
    small.write_text(small.read_text().replace('name = "small"', 'name = "small \\u001b[2J"'))
    ended = command("run", small)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "small.toml:1: name: it has control characters" in ended.stderr
