"""What `lasthop emulate` carries: data of its own, programs, simulated flows beside them; and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from emulator import CELL, UPLOADS, emulate, runs_of, some_kernel_or_skip
from test_mistakes import refused

# Six stations, four seconds, all of which are measured.
WIDE = CELL.replace("count = 2", "count = 6").replace('"1500 ms"', '"4 s"').replace('"500 ms"', '"0 s"')
# Slow start puts up to 90 packets of curl's 172 into the queue of the AP, how many depends on the kernel; the usual queue has 50.
FLOWS = """\
[bss.ap]
queue = { kind = "fifo", limit = "200 packets" }

[[flow]]
name = "sized"
station = "sta1"
direction = "up"
size = "100 kB"
repeat = 3

[[flow]]
name = "slow"
station = "sta2"
direction = "both"
rate = "400 kbit/s"
start = "1 s"

[[flow]]
name = "modelled"
station = "sta3"
direction = "up"
application = "simulated"
rate = "400 kbit/s"

[[flow]]
name = "curl"
station = "sta4"
direction = "down"
application = { kind = "curl", size = "250 kB" }

[[flow]]
name = "talk"
station = "sta5"
direction = "up"
[flow.application]
kind = "command"
client = "echo from {station} to {server} {port}; exec python3 client.py {server} {port}"
server = "exec python3 server.py {server} {port}"
"""
CLIENT = """\
import socket, sys, time
time.sleep(0.5)
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
connection.sendall(bytes(50_000))
connection.shutdown(socket.SHUT_WR)
print(connection.recv(9).decode())
"""
SERVER = """\
import socket, sys
connection, _ = socket.create_server((sys.argv[1], int(sys.argv[2]))).accept()
count = sum(len(data) for data in iter(lambda: connection.recv(9999), b""))
connection.sendall(str(count).encode())
print(count)
"""
IPERF3 = '[[flow]]\nstation = "sta6"\ndirection = "down"\napplication = { kind = "iperf3", duration = "1 s" }\n'
STRAY = """\
import socket
stray = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(3):
    stray.sendto(b"x", ("10.9.9.9", 9))
"""


class Carried(NamedTuple):
    """What came of a run."""

    flows: dict[str, dict[str, Any]]
    """by their ids"""
    printed: Path
    """the folder of what programs have printed"""
    told: str
    """what the command has said"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with scenarios and programs, on a machine that has virtual time."""
    some_kernel_or_skip()
    directory = tmp_path_factory.mktemp("flows")
    (directory / "cell.toml").write_text(UPLOADS)
    (directory / "client.py").write_text(CLIENT)
    (directory / "server.py").write_text(SERVER)
    (directory / "stray.py").write_text(STRAY)
    commands = FLOWS.replace("client.py", str(directory / "client.py")).replace(
        "server.py", str(directory / "server.py")
    )
    (directory / "flows.toml").write_text(f"{WIDE}\n{commands}")
    (directory / "iperf3.toml").write_text(f"{WIDE}\n{IPERF3}")
    return directory


@pytest.fixture(scope="module")
def carried(place: Path) -> Carried:
    """Every kind of flow at once."""
    for program in ("curl", "python3"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    done = emulate("flows.toml", "--out", "flows", cwd=place)
    assert done.returncode == 0, done.stderr
    (run,) = runs_of(place / "flows/result.json")
    return Carried({flow["id"]: flow for flow in run["flows"]}, place / "flows/programs/seed-1", done.stderr)


def test_a_size_is_carried_again_and_again(carried):
    flow = carried.flows["sta1.sized"]
    assert flow["transfers_completed"] == 3
    assert flow["bytes_delivered"] == 300_000
    # 69 segments with windows of 10, 20 and 40, over 20 ms of wire, after a handshake.
    assert 0.08 < flow["completion_time_s"] < 0.3


def test_a_rate_is_kept_from_its_start_on_both_ways(carried):
    for end in ("up", "down"):
        flow = carried.flows[f"sta2.slow.{end}"]
        # 400 kbit/s for three seconds.
        assert flow["bytes_delivered"] == pytest.approx(150_000, rel=0.05)


def test_simulated_flows_share_the_medium(carried):
    assert carried.flows["sta3.modelled"]["bytes_delivered"] == pytest.approx(200_000, rel=0.05)


def test_curl_fetches_its_size(carried):
    flow = carried.flows["sta4.curl"]
    # And what HTTP says before it.
    assert 250_000 <= flow["bytes_delivered"] < 251_000
    assert flow["segments_retransmitted"] == 0


def test_a_command_has_a_server_and_values_for_its_braces(carried):
    assert carried.flows["sta5.talk"]["bytes_delivered"] == 50_000
    assert (carried.printed / "sta5.talk.client.out").read_text() == "from 10.1.0.6 to 10.0.0.1 50005\n50000\n"
    assert (carried.printed / "sta5.talk.server.out").read_text() == "50000\n"
    assert "sta5.talk runs at sta5: " in carried.told and "sta5.talk runs at the server behind ap: " in carried.told


@pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not installed")
def test_iperf3_runs_at_both_ends(place):
    done = emulate("iperf3.toml", "--out", "iperf3", cwd=place)
    assert done.returncode == 0, done.stderr
    (run,) = runs_of(place / "iperf3/result.json")
    (flow,) = run["flows"]
    (printed,) = (place / "iperf3/programs/seed-1").glob("*.client.out")
    told = json.loads(printed.read_text()) if printed.read_text().startswith("{") else None
    # Some 20 Mbit/s for one second; iperf3 itself reports the bytes received.
    assert flow["bytes_delivered"] > 1_500_000
    assert told is None or told["end"]["sum_received"]["bytes"] <= flow["bytes_delivered"]


def test_a_command_of_the_command_line_prints_and_ends_the_run(place):
    line = ("--station", "sta2", "--", "sh", "-c", "cat /proc/net/fib_trie; printf '%s{port}' ends; echo why >&2")
    done = emulate("cell.toml", "--set", "duration=100 s", "--json", "ended.json", *line, cwd=place)
    assert done.returncode == 0, done.stderr
    assert "10.1.0.3" in done.stdout and "10.1.0.2" not in done.stdout
    assert "ends{port}" in done.stdout, "braces of the command line are the command's own"
    assert "why\n" in done.stderr
    (run,) = runs_of(place / "ended.json")
    # The measured time is the actual one, not 100 s.
    assert run["totals"]["goodput_bps"] >= 0 and run["simulator"]["certificate"]["deliveries"] < 10_000


def test_a_program_that_fails_makes_the_run_invalid_with_its_last_words(place):
    line = ("--station", "sta1", "--", "sh", "-c", "echo first >&2; echo last words >&2; exit 3")
    done = emulate("cell.toml", "--json", "failed.json", *line, cwd=place)
    assert done.returncode == 1
    sentence = "the client of sta1.command ended with status 3: last words"
    assert f"seed 1 is not valid: {sentence}" in done.stderr
    (run,) = runs_of(place / "failed.json")
    assert run["simulator"]["certificate"]["faults"] == [sentence]


def test_packets_of_no_flow_are_reported(place):
    done = emulate(
        "cell.toml", "--json", "strays.json", "--station", "sta1", "--", "python3", place / "stray.py", cwd=place
    )
    assert done.returncode == 0, done.stderr
    (run,) = runs_of(place / "strays.json")
    assert run["simulator"]["certificate"]["strays"] == {"for no host of the scenario": 3}
    assert "warning: seed 1: 3 packets for no host of the scenario were left out" in done.stderr


MISTAKES = {
    "a station that is not there": (
        ("--station", "nope", "--", "true"),
        ('--station: there is no station "nope"', "sta1, sta2"),
    ),
    "a shell at none": (("--shell", "nope"), ('--shell: there is no station "nope"',)),
    "a station without a command": (("--station", "sta1"), ("--station", "after --")),
    "a command without a station": (("--", "true"), ("--station", "after --")),
    "a kernel of real time": (("--kernel", "own", "--time", "real"), ("--kernel", "real time")),
    "a kernel that is not there": (("--kernel", "/no/such/kernel"), ("/no/such/kernel", "No such file")),
    "a file that is not a kernel": (("--kernel", "/bin/true"), ("/bin/true is not a User Mode Linux kernel",)),
    "a shell in virtual time": (("--shell", "sta1", "--time", "virtual"), ("--shell", "--time real")),
    "several seeds of one command": (("--seeds", "2", "--station", "sta1", "--", "true"), ("--seeds", "--seed")),
    "a controller that no kernel has": (
        ("--set", "tcp.congestion_control=compound"),
        ("compound", "cubic", 'application = "simulated"'),
    ),
    "no flow for a kernel": (
        ("--set", "flow.0.traffic=web", "--set", "flow.0.direction=down"),
        ("bulk data over TCP", "`lasthop run`"),
    ),
    "a build of a scenario": (("--build-kernel",), ("--build-kernel",)),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence_and_nothing_runs(tmp_path, command, mistake, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cell.toml").write_text(UPLOADS)
    arguments, words = MISTAKES[mistake]
    refused(command("emulate", "cell.toml", "--json", "out.json", *arguments), *words)
    assert [file.name for file in tmp_path.iterdir()] == ["cell.toml"]
