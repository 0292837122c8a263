"""Flows of a real kernel and simulated ones in one cell: none is lost on the way, and the medium treats both alike."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lasthop.kernel.emulation import EmulationError, find_kernel

# A TUN device accepts all packets of a kernel, so that small queues have no effect, and does not report drops in the
# queue of the station. Simulated senders in which both act would have 6.5 to 7.8 Mbit/s each, the kernel's 4.3 to 5.7.
MIXED = """\
name = "mixed"
duration = "12 s"
warmup = "4 s"

[bss]
standard = "802.11g"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }

[[station]]
name = "real"
count = 2

[[station]]
name = "simulated"
count = 2

[wired]
rate = "100 Mbit/s"
delay = "10 ms"

[tcp]
profile = "linux"
congestion_control = "cubic"
receive_window = "1000 packets"
small_queue = "off"
local_drop = "unnoticed"

[[flow]]
station = "real*"
direction = "up"

[[flow]]
station = "simulated*"
direction = "up"
application = "simulated"
"""


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """The run, and what the command has said."""
    for choice in ("own", "stock"):
        try:
            find_kernel(choice)
            break
        except EmulationError as error:
            reason = error.sentence
    else:
        pytest.skip(reason)
    folder: Path = tmp_path_factory.mktemp("mixed")
    (folder / "mixed.toml").write_text(MIXED)
    line = (sys.executable, "-m", "lasthop", "emulate", "mixed.toml", "--kernel", choice, "--json", "mixed.json")
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads((folder / "mixed.json").read_text())["runs"]
    return run, done.stderr


def goodputs(run: dict[str, Any], kind: str) -> list[float]:
    """Of the flows of one kind, in bit/s."""
    return [flow["goodput_bps"] for flow in run["flows"] if flow["station"].startswith(kind)]


def jain(values: list[float]) -> float:
    """Jain's index."""
    return sum(values) ** 2 / (len(values) * sum(value**2 for value in values))


def test_a_mixed_run_conserves_packets_and_is_valid(emulated: tuple[dict[str, Any], str]) -> None:
    # A network that loses or doubles a packet ends its run with an error, and so would a stray one end its validity.
    run, said = emulated
    certificate = run["simulator"]["certificate"]
    assert "seed 1 is valid" in said
    assert certificate["valid"] and certificate["tun_drops"] == 0 and not certificate["strays"]


def test_the_medium_treats_real_and_simulated_flows_alike(emulated: tuple[dict[str, Any], str]) -> None:
    run, _ = emulated
    real, simulated = goodputs(run, "real"), goodputs(run, "simulated")
    assert len(real) == len(simulated) == 2
    assert jain([*real, *simulated]) >= 0.95
    # Four uploads alone have 24 Mbit/s there, whoever carries them.
    assert sum((*real, *simulated)) == pytest.approx(24e6, rel=0.05)


def test_quantities_that_no_kernel_has_exist_for_simulated_flows_alone(emulated: tuple[dict[str, Any], str]) -> None:
    run, _ = emulated
    told = {flow["id"]: {key for key, value in flow.items() if value is not None} for flow in run["flows"]}
    assert {"goodput_bps", "cwnd_mean_segments"} <= told["real1.up"]
    assert told["real1.up"] < told["simulated1.up"]
