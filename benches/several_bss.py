"""Scenarios of several BSSs on one channel of 802.11a, each with an access point and five saturated stations.

The access points stand on a line. A metre apart everybody hears everybody; 30 m apart each hears its neighbours, and those
at the ends do not hear one another. `python benches/several_bss.py` writes the files of `benches/scenarios` again.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "scenarios"
STATIONS = 5
# File names, with the number of BSSs and the metres between them.
FILES = {"bss-1": (1, 30), "bss-20-near": (20, 1), "bss-20-apart": (20, 30)}

HEAD = """\
name = "{name}"
description = "{bsss} BSSs of 802.11a on one channel, {apart_m} m apart: an access point and {stations} saturated stations each"
duration = "10 s"
warmup = "1 s"

[channel]
path_loss = "log_distance"
"""
BSS = """
[[bss]]
name = "bss{number}"
standard = "802.11a"
rate_control = {{ kind = "fixed", rate = "54 Mbit/s" }}
ap = {{ position = ["{x_m} m", "0 m"], queue = {{ kind = "fifo", limit = "50 packets" }} }}

[[station]]
name = "bss{number}-"
bss = "bss{number}"
count = {stations}
distance = "5 m"
queue = "backpressure"
"""
TAIL = """
[[flow]]
station = "*"
direction = "up"
transport = "udp"
rate = "saturated"
packet_size = "1500 B"
"""


def text(name: str, bsss: int, apart_m: float) -> str:
    """The scenario of so many BSSs at that distance from one another, in metres."""
    head = HEAD.format(name=name, bsss=bsss, apart_m=apart_m, stations=STATIONS)
    each = (BSS.format(number=n + 1, x_m=n * apart_m, stations=STATIONS) for n in range(bsss))
    return head + "".join(each) + TAIL


def write() -> None:
    """Writes the files again."""
    for name, (bsss, apart_m) in FILES.items():
        (FOLDER / f"{name}.toml").write_text(text(name, bsss, apart_m), encoding="utf-8")


if __name__ == "__main__":
    write()
