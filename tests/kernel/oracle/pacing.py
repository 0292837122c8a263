"""The pace of a sender, of a kernel under fq(8) and of the `linux` profile with `tcp.pacing = "on"`.

Both send over a bottleneck of 20 Mbit/s behind which ACKs come back after 50 ms: the kernel in a guest, the profile in
wire.toml. What a sender hands over within 20 us is one burst. A device that takes single segments, as a TUN does, gives
bursts of one; one with segmentation offload takes what the pacing rate sends in a millisecond, which is what the profile
models. What was found is kept in recorded/pacing.json.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy
import versions
from capture import sent_by
from guest import carried_out
from lasthop.kernel.emulation import Kernel, find_kernel
from order import Order
from records import segments

HERE = Path(__file__).parent
SCENARIO = HERE / "wire.toml"
SERVER = "10.0.0.1"
SEGMENT = 1448
BURST_S = 20e-6
SPANS = {"slow start": (0.0, 0.5), "avoidance": (3.0, 8.0)}
# The kernel's bucket counts Ethernet frames, the wire of a scenario IP packets.
PATH = Order("pfifo limit 100", 20_000_000 * 1514 // 1500, delay_ms=50, duration_s=8.5, flows=1)
# By device: orders of the guest, and settings of the scenario.
WAYS: dict[str, dict[str, dict[str, object]]] = {
    "single segments": {
        "kernel, fq": {"sender_discipline": "fq"},
        "kernel, paced by TCP": {"paced": True},
        "profile, min_burst = 1": {"tcp.min_burst": 1},
    },
    "segmentation offload": {
        "kernel, fq": {"sender_discipline": "fq", "segments_at_once": 44},
        "profile": {},
    },
}


@dataclass(frozen=True)
class Pace:
    """How a sender sent in a span of time."""

    segments_hz: float
    burst_mean: float
    """segments that left together"""
    gap_p10_s: float
    """from one burst to the next"""
    gap_p50_s: float
    gap_p90_s: float


def pace(sent: Iterable[tuple[int, int]], span_s: tuple[float, float]) -> Pace:
    """Of segments by time in ns and bytes of data, from the first one on."""
    data = numpy.array(list(sent))
    at = (data[:, 0] - data[0, 0]) / 1e9
    inside = (at >= span_s[0]) & (at < span_s[1])
    at, count = at[inside], float(data[inside, 1].sum()) / SEGMENT
    gaps = numpy.diff(at)
    gaps = gaps[gaps >= BURST_S]
    quantiles = (float(value) for value in numpy.quantile(gaps, (0.1, 0.5, 0.9)))
    return Pace(count / (span_s[1] - span_s[0]), count / (len(gaps) + 1), *quantiles)


def by_kernel(kernel: Kernel, changes: dict[str, object]) -> list[tuple[int, int]]:
    """What a sender in a guest hands to its device."""
    with carried_out(Order(**{**asdict(PATH), **changes}), kernel) as folder:
        return [(it.at_ns, it.payload) for it in segments(folder / "in.bin") if not it.outgoing and it.payload]


def by_profile(kernel: Kernel, changes: dict[str, object]) -> list[tuple[int, int]]:
    """What the server of the scenario hands to its wire, with ticks as this kernel's."""
    settings = [*versions.settings(kernel), *(f"{key}={value}" for key, value in changes.items())]
    laid = [part for text in settings for part in ("--set", text)]
    with tempfile.TemporaryDirectory() as folder:
        called = (sys.executable, "-m", "lasthop", "run", SCENARIO, "--seed", "1", "--pcap", folder, *laid)
        subprocess.run(called, check=True, capture_output=True)
        sent = sent_by(Path(folder) / "server.pcapng", SERVER)
        return [(segment.at_ns, segment.payload) for segment, _ in sent if segment.payload]


def compare(kernel: Kernel) -> dict[str, dict[str, dict[str, Pace]]]:
    """The paces by device, by who sends and by span of time."""
    found: dict[str, dict[str, dict[str, Pace]]] = {}
    for device, senders in WAYS.items():
        found[device] = {}
        for sender, changes in senders.items():
            sent = by_kernel(kernel, changes) if sender.startswith("kernel") else by_profile(kernel, changes)
            found[device][sender] = {name: pace(sent, span) for name, span in SPANS.items()}
    return found


def main() -> None:
    """Compares and keeps what came of it."""
    kernel = find_kernel(os.environ.get("LASTHOP_KERNEL", "own"))
    found = compare(kernel)
    told = {
        device: {sender: {span: asdict(it) for span, it in spans.items()} for sender, spans in senders.items()}
        for device, senders in found.items()
    }
    file = versions.kept_file("pacing", kernel.version)
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        json.dumps({"kernel": kernel.version, "date": str(datetime.date.today()), "devices": told}, indent=1) + "\n"
    )
    for device, senders in found.items():
        for sender, spans in senders.items():
            sys.stdout.writelines(f"{device} | {sender} | {span}: {it}\n" for span, it in spans.items())


if __name__ == "__main__":
    main()
