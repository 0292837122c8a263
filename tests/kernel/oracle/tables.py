"""Writes what real kernels and lasthop did beside each other into docs/kernel.md.

`tables.py` has guests do everything again, which takes a quarter of an hour of one core; `tables.py --kept` makes the tables of what is
kept in recorded/. Status 77 where no kernel for virtual time has been built: then the page stays as it is.
"""

from __future__ import annotations

import math
import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))
import air
import cake
import pacing
import paths
import queues
import wifi_tables
import windows
from lasthop.data.confidence import difference
from lasthop.kernel.emulation import EmulationError, find_kernel
from versions import for_each_kernel

from page import put

GOODPUT, DELAY, DROPS, WINDOW, GAP = 0.05, 0.10, 0.15, 0.01, 0.05
# Of a last window that still grows at the end of the download.
GROWING, DOWNLOAD_S = 0.05, 4

AIR = """\
Two uploads and a download over 802.11g at 24 Mbit/s, FIFOs of 60 packets, 10 ms of wire, 20 s of which 5 s are warm-up
(`tests/kernel/oracle/air.toml`). The same bulk flows were carried by a kernel's sockets (`lasthop emulate`) and by the profile of
its version. Each cell has the kernel first, then the profile. Goodput is in Mbit/s, with the half-width of its 95 % interval; window, in segments, and RTT, in ms, are those of the uploads: median and 95 %. `dctcp_marked`: the uploads' queues mark
what waits for over 20 ms. The goodput of all flows, which the medium decides where it is saturated, and those of the uploads and of
the download are each to agree within 5 %.

| control | all flows | | up | | down | | window | RTT | sent again, % | |
|---|---|---|---|---|---|---|---|---|---|---|
"""
AIR_NOTES = """
Known differences:

- **PSH**: ours was recorded before it set PSH on the last segment of each send, as kernels do; the ACK that this draws would explain the rows that are out. The random
  paths below have it.
- `dctcp_marked` compares nothing: when this was recorded, only the sender had DCTCP in `lasthop emulate`, so a listener with another control did not agree to
  ECN.
- A TUN takes all that is sent, so that neither TSQ nor a drop in the sender's own queue acts; the profile is told this too.
"""
QUEUES = """\
Four CUBIC flows and datagrams through a kernel's router, in virtual time: `tbf` of 20 Mbit/s with the
discipline as its child, ACKs come back after 20 ms, 20 s. The same arrivals were then replayed through ours behind an equal
token bucket (`crates/link/examples/replay_arrivals.rs`); means of ten seeds. Delays are from arrival to departure, in
ms. Mean and 95 % are to agree within 10 %, drops within 15 %. The replay is open: arrivals follow the kernel's drops.

| discipline | packets | mean: kernel | ours | | 95 %: kernel | ours | | drops: kernel | ours | | |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""
QUEUES_NOTES = """
Ours is told what the set-up does: `tbf` takes a packet out of its child before there are tokens for it, which SFQ still
counts against its limit and RED in its average. A timer of a kernel that ticks at 100 Hz fires one tick late, so that PIE which
is told 20 ms calculates every 30 ms (`tc -s` shows a new probability each 30.2 ms).

Known differences:

- **CoDel takes one step of Newton's method** where ours takes the square root. After the second drop of a series a kernel
  waits for 100/2 = 50 ms and ours for 100/sqrt(2) = 70.7 ms; later waits are alike. With such a step ours has 111 of the 112
  drops of `codel` in 6 s; without it, the series part at the third drop.
- **`fq_codel` looks at the bytes of all flows** where it asks whether hardly any queue is left, ours at those of the flow. With both as in
  Linux, each of 10,972 packets in 6 s has the same fate and leaves within 0.5 us of the kernel's time.
"""
CAKE = """\
As above, through `cake` of a kernel, in virtual time, and through ours (`tests/kernel/oracle/cake.py`); means of five seeds. CAKE shapes to
20 Mbit/s by itself, except for `unlimited`, a child of `tbf`. `hosts`: one flow to a host, five to another, `dual-dsthost`. `tins`: flows with CS1, DF, AF41 and EF,
`diffserv4`. Mean and 95 % are to agree within 10 %, drops within 15 %.

| settings | packets | mean: kernel | ours | | 95 %: kernel | ours | | drops: kernel | ours | | |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""
CAKE_FLOWS = """
Mean delays of each flow of `tins` and of `hosts`, in ms, kernel first:

| | {numbers} |
|---|{rule}|
"""
CAKE_NOTES = """
In the first two rows every drop is the same, and all but a few packets leave within 1 us of the kernel's time. Known differences:

- `hosts`: the 95 % of the five flows that share a host is longer than the kernel's; the cause was not found. The order of turns parts after some thousand packets.
- The 95 % of `tins` is at the edge between the packets of CS1, which wait 40 ms, and the others; each flow's mean agrees within 5 %. The first packet out of order
  there comes within 1 us of the moment from which its tin may send.
"""
PATHS = """\
Twenty paths drawn by a seed (`tests/kernel/oracle/paths.py`), each with two seeds of 10 s, by a kernel and by its profile, with accurate ECN where the kernel has it. Goodput is in Mbit/s and to agree within 5 %; RTTs in ms.

| standard | stations | wire, Mbit/s | delay, ms | queue | control | window | direction | goodput: kernel | ours | | RTT: kernel | ours | marks: kernel | ours | drops: kernel | ours | |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""
PATHS_NOTES = """
Downloads of DCTCP over a saturated 802.11g are 5 to 6 % below the kernel's: ours repairs about twice as many losses of the access point's queue. DCTCP behind
`dualpi2` has 4.6 times as many marks in the kernel. The causes were not found.
"""
WINDOWS = """\
A download over 802.11g at 54 Mbit/s and 25 ms of wire, NewReno, `receive_window = "autotune"`
(`tests/kernel/oracle/download.toml`): what the station's segments offer, by a kernel and by its profile. The queue drops nothing and
NewReno's slow start fills it, so that a window of up to 6 MiB of memory is bounded by that, whatever the seed; one of 32 MiB still grows at
the end. The first window is to agree within 1 %, the last within 1 % or 5 %. When it grows depends on when segments come, which chance decides.

| | in the SYN, B | after ten segments, B | last, B | half of it at, s | 99 % at, s | steps | |
|---|---|---|---|---|---|---|---|
"""
PACING = """\
A sender with CUBIC and a bottleneck of 20 Mbit/s and 50 ms: a kernel in a guest, under `fq` or paced by TCP
itself (`SO_MAX_PACING_RATE`), and the profile with `pacing = "on"` (`tests/kernel/oracle/wire.toml`). A burst is what leaves
within 20 us. Gaps from one burst to the next are in us: 10 %, median, 90 %. Slow start is the first 0.5 s, avoidance 3 s to
8 s. In avoidance the median gap and the rate are to agree within 5 % with `fq`.

| device takes | sender | phase | segments/s | segments of a burst | gaps | |
|---|---|---|---|---|---|---|
"""
PACING_NOTES = """
In avoidance an ACK lets two segments go, which `fq` sends 259 us apart: cwnd/srtt x 1.2. TCP's own pacing, and the profile's, let the second go 10 us sooner.
Over a device that takes single segments the kernel spaces those too, as `min_burst = 1` does in avoidance; in slow start bursts of the profile are larger. With
offload they are smaller than the kernel's, and as much more often; why was not found.
"""


def verdict(*agrees: bool) -> str:
    """A word for the last column."""
    return "pass" if all(agrees) else "out"


def of(run: dict[str, float], key: str) -> float:
    """A quantity of a run; `total_bps` is that of all flows."""
    return run["up_bps"] + run["down_bps"] if key == "total_bps" else run[key]


def off_by(sides: list[list[float]]) -> float:
    """Half of the 95 % interval of ours over the kernel's, as a share of the kernel's mean; the runs are no pairs."""
    theirs, ours = sides
    found = difference(dict(enumerate(theirs)), dict(enumerate(ours, start=len(theirs))))
    half = found.estimate.half_width if found else None
    return half / mean(theirs) if half is not None else math.nan


def air_rows(kept: dict[str, Any]) -> Iterator[str]:
    """A row for each control."""
    for name, sides in kept["controls"].items():

        def means(key: str, scale: float = 1, sides: Any = sides) -> list[float]:
            return [mean(of(run, key) for run in sides[side]) * scale for side in ("kernel", "profile")]

        cells, out = [], []
        for part in ("total", "up", "down"):
            theirs, ours = means(f"{part}_bps", 1e-6)
            off = ours / theirs - 1
            width = off_by([[of(run, f"{part}_bps") * 1e-6 for run in sides[side]] for side in ("kernel", "profile")])
            cells += [f"{theirs:.2f} {ours:.2f}", f"{100 * off:+.1f} ± {100 * width:.1f} %"]
            out += [part] if abs(off) > GOODPUT else []
        for digits, unit, key, scale in ((0, "segments", "cwnd", 1), (0, "s", "rtt", 1e3)):
            median, high = (means(f"{key}_{quantile}_{unit}", scale) for quantile in ("p50", "p95"))
            pairs = zip(median, high, strict=True)
            cells.append(", ".join(f"{low:.{digits}f} to {top:.{digits}f}" for low, top in pairs))
        cells.append(" ".join(f"{value:.2f}" for value in means("retransmitted", 100)))
        yield f"| {name} | {' | '.join(cells)} | {'out: ' + ', '.join(out) if out else 'pass'} |\n"


def queue_rows(kept: dict[str, Any]) -> Iterator[str]:
    """A row for each discipline."""
    for name, found in kept["disciplines"].items():
        theirs, cells, agrees = found["kernel"], [], []
        quantities = (("delay_mean_s", 1e3, 2, DELAY), ("delay_p95_s", 1e3, 2, DELAY), ("dropped", 1, 0, DROPS))
        for key, scale, digits, tolerance in quantities:
            ours = mean(run[key] for run in found["ours"])
            off = ours / theirs[key] - 1
            agrees.append(abs(off) <= tolerance)
            cells += [f"{theirs[key] * scale:.{digits}f}", f"{ours * scale:.{digits}f}", f"{100 * off:+.1f} %"]
        yield f"| {name} | {theirs['packets']} | {' | '.join(cells)} | {verdict(*agrees)} |\n"


def cake_rows(kept: dict[str, Any]) -> Iterator[str]:
    """A row for each case, then a table of those whose flows differ."""
    yield from queue_rows({"disciplines": kept["cases"]})
    yield from cake_flow_rows(kept)


def cake_flow_rows(kept: dict[str, Any]) -> Iterator[str]:
    """A row for each case whose flows differ."""
    names = ("tins", "hosts")
    flows = [flow for flow in max((kept["cases"][name]["delay_mean_s"] for name in names), key=len) if flow != "-1"]
    yield CAKE_FLOWS.format(numbers=" | ".join(flows), rule="|".join("---" for _ in flows))
    for name in names:
        found = kept["cases"][name]["delay_mean_s"]
        cells = (" ".join(f"{1e3 * side:.2f}" for side in found[flow]) if flow in found else "" for flow in flows)
        yield f"| {name} | {' | '.join(cells)} |\n"


def grows(window: dict[str, Any]) -> bool:
    """Whether a window still grew at the end."""
    return bool(window["full_s"] > 0.9 * DOWNLOAD_S)


def window_rows(kept: dict[str, Any]) -> Iterator[str]:
    """A row for each side."""
    theirs = kept["windows"]["kernel"]
    for side, found in kept["windows"].items():
        sizes = [found[key] for key in ("offered_bytes", "after_flight_bytes", "final_bytes")]
        agrees = [
            abs(size / theirs[key] - 1) <= (GROWING if key == "final_bytes" and grows(theirs) else WINDOW)
            for key, size in found.items()
            if key.endswith("_bytes")
        ]
        times = [f"{found[key]:.2f}" for key in ("half_s", "full_s")]
        word = "" if side == "kernel" else verdict(*agrees)
        yield f"| {side} | {' | '.join(f'{size:,}' for size in sizes)} | {' | '.join(times)} | {found['steps']} | {word} |\n"


def pace_rows(kept: dict[str, Any]) -> Iterator[str]:
    """A row for each device, sender and phase."""
    for device, senders in kept["devices"].items():
        reference = senders["kernel, fq"]["avoidance"]
        for sender, phases in senders.items():
            for phase, found in phases.items():
                gaps = ", ".join(f"{found[f'gap_{quantile}_s'] * 1e6:.0f}" for quantile in ("p10", "p50", "p90"))
                agrees = [abs(found[key] / reference[key] - 1) <= GAP for key in ("segments_hz", "gap_p50_s")]
                word = verdict(*agrees) if phase == "avoidance" and sender.startswith("profile") else ""
                burst = f"{found['segments_hz']:.0f} | {found['burst_mean']:.2f}"
                yield f"| {device} | {sender} | {phase} | {burst} | {gaps} | {word} |\n"


def path_rows(kept: dict[str, Any]) -> Iterator[str]:
    """A row of each path."""
    for path in kept["paths"]:
        told = tomllib.loads(path["text"])
        (station,), (flow,), wire, tcp = told["station"], told["flow"], told["wired"], told["tcp"]
        kernel, ours = path["kernel"], path["ours"]
        off = ours["goodput_bps"] / kernel["goodput_bps"] - 1
        cells = [
            *(told["bss"]["standard"], station["count"], wire["rate"].split()[0], wire["delay"].split()[0]),
            *(wire["queue"]["kind"], tcp["congestion_control"], tcp["receive_window"], flow["direction"]),
            *(f"{side['goodput_bps'] / 1e6:.2f}" for side in (kernel, ours)),
            f"{100 * off:+.1f} %",
            *(f"{side['rtt_s'] * 1e3:.1f}" for side in (kernel, ours)),
            *(f"{side[key]:g}" for key in ("marks", "drops") for side in (kernel, ours)),
            verdict(abs(off) <= paths.OUTLIER),
        ]
        yield f"| {' | '.join(map(str, cells))} |\n"


def write() -> None:
    """The sections, of what is kept."""
    put("In virtual time: congestion controls over the air", for_each_kernel("air", AIR, air_rows) + AIR_NOTES)
    put("In virtual time: queue disciplines", for_each_kernel("queues", QUEUES, queue_rows) + QUEUES_NOTES)
    put("In virtual time: CAKE", for_each_kernel("cake", CAKE, cake_rows) + CAKE_NOTES)
    put("In virtual time: random paths", for_each_kernel("paths", PATHS, path_rows) + PATHS_NOTES)
    for heading, text in wifi_tables.texts().items():
        put(heading, text)
    put("In virtual time: the receive window", for_each_kernel("windows", WINDOWS, window_rows))
    put("In virtual time: pace", for_each_kernel("pacing", PACING, pace_rows) + PACING_NOTES)


def main() -> int:
    """Has guests do everything again, unless told not to, and writes."""
    if sys.argv[1:] != ["--kept"]:
        name = os.environ.get("LASTHOP_KERNEL", "own")
        try:
            find_kernel(name)
        except EmulationError as error:
            sys.stderr.write(f"kernel: {error}\n")
            return 77
        air.main([], name)
        queues.main([])
        cake.main([])
        windows.main()
        pacing.main()
        out = paths.main([])
        wifi_tables.record()
    else:
        out = 0
    write()
    return out


if __name__ == "__main__":
    sys.exit(main())
