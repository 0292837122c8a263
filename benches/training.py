"""The runs by which a profile-guided engine is trained: neither the benchmark's seeds nor its numbers of stations.

What is common is weighed by simulated time: about a CPU second each of TCP over single frames, saturation, A-MPDUs both
ways, a matrix channel and an office; less of recordings, captures, their analysis and controllers of one's own. Code that
none of these runs reach is compiled for size. Runs on the engine that `import lasthop` finds; takes some CPU seconds,
instrumented several times as long.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import lasthop
from lasthop.foreign.analysis import analyze

ROOT = Path(__file__).resolve().parent.parent
SEED = 1001
FIXED_11B = ("bss.rate_control", '{ kind = "fixed", rate = "11 Mbit/s" }')
# Scenario file, seconds, settings applied over it, and whether an account of time is kept.
TRAINING = (
    ("scenarios/khademi2011-uplink-11b.toml", 120, (FIXED_11B, ("station.0.count", "8")), False),
    ("scenarios/khademi2011-uplink-11b.toml", 60, (("station.0.count", "5"), ("tcp.profile", "linux")), False),
    ("scenarios/khademi2011-uplink-11b.toml", 30, (FIXED_11B, ("station.0.count", "9")), True),
    ("benches/scenarios/uplink-11g.toml", 30, (("station.0.count", "8"),), False),
    ("scenarios/saturation-11a.toml", 40, (("station.0.count", "15"),), False),
    ("scenarios/saturation-11a.toml", 20, (("station.0.count", "70"),), False),
    ("scenarios/saturation-11n.toml", 12, (("station.0.count", "6"),), False),
    ("scenarios/download-11n.toml", 6, (("station.0.count", "3"),), False),
    ("scenarios/download-11n.toml", 4, (("flow.0.direction", "up"),), False),
    ("scenarios/tcp-ndown.toml", 9, (("bss.ap.queue", "airtime_fq_codel"),), False),
    ("scenarios/office-11ax.toml", 6, (("station.0.count", "3"),), False),
    ("benches/scenarios/bss-20-apart.toml", 0.7, (), False),
)
# Runs that are recorded and captured: scenario file, seconds.
WATCHED = (
    ("scenarios/download-11n.toml", 2),
    ("scenarios/office-11ax.toml", 0.5),
    ("scenarios/khademi2011-uplink-11b.toml", 5),
)
# Controllers of one's own, each for a download.
CONTROLLERS = ROOT / "examples" / "controllers"
OWN = (
    {"kind": "bpf", "object": str(CONTROLLERS / "bpf" / "cubic.bpf.o")},
    {"kind": "python", "file": str(CONTROLLERS / "python" / "cubic.py"), "class": "Cubic"},
)


def train() -> None:
    """Runs all of them."""
    for file, seconds, settings, explain in TRAINING:
        scenario = _for(file, seconds)
        for path, value in settings:
            scenario = scenario.set(path, value)
        lasthop.run(scenario, [SEED], jobs=1, interval_s=None, explain=explain, progress=False)
    for choice in OWN:
        scenario = _for("scenarios/download-11n.toml", 2).set("tcp.congestion_control", choice)
        lasthop.run(scenario, [SEED], jobs=1, progress=False)
    for file, seconds in WATCHED:
        with TemporaryDirectory() as directory:
            lasthop.run(
                _for(file, seconds), [SEED], jobs=1, interval_s=0.1, record="all", pcap=directory, progress=False
            )
            captures = sorted(Path(directory).rglob("*.pcapng"))
            air = [capture for capture in captures if capture.name == "air.pcapng"]
            for files in (air, captures):
                analyze(files, record=["ppdu"])


def _for(file: str, seconds: float) -> lasthop.Scenario:
    """The scenario for so many simulated seconds."""
    return lasthop.load(ROOT / file).set("duration", f"{seconds} s").set("warmup", f"{seconds / 4} s")


if __name__ == "__main__":
    train()
