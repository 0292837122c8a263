"""The tables of docs/kernel.md on the Wi-Fi of a kernel, beside ours: rate control, the queues of stations, saturated cells."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from statistics import mean
from typing import Any

import links
import saturated
import txqs
from lasthop.data.confidence import difference
from lasthop.kernel.emulation import EmulationError, find_kernel
from versions import for_each_kernel

GOODPUT, SOJOURN, SHARE = 0.05, 0.10, 0.02
LINKS = """\
mac80211 of a patched kernel, over the simulated air, and the simulation, five seeds each (`tests/kernel/oracle/links.py`): four CUBIC downloads over 802.11n, 20 MHz,
unless a row names others; `collisions` are uploads of six stations. Hardware holds 128 packets. The kernel is first in each cell, differences have a 95 % interval, goodput is to agree
within 5 %. `alike`: the common part of the distributions of airtime over rates. Rates are in Mbit/s.

| link | goodput | | mean rate | MPDUs | lost, % | behind RTS, % | alike, % | |
|---|---|---|---|---|---|---|---|---|
"""
TXQS = """\
Four downloads to each of two fast stations (MCS 7) and a slow one (MCS 1) over 802.11n: mac80211's TXQs, and ours (`tests/kernel/oracle/txqs.py`), above 128 packets of hardware, below a kernel's
TCP. Four seeds of 6 s, kernel first. Delays from the server, 95 % in ms, are to agree within 10 %, the slow station's share of airtime within 2 points.

| scheduler | goodput | | slow share, % | | delay, fast | | delay, slow | | drops | | |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""
CELLS = """\
CUBIC uploads over 802.11n, one of each station, no noise (`tests/kernel/oracle/saturated.py`): frames of a kernel and simulated ones in the same air. Three seeds of 2 s, kernel first. Goodput and
collisions are to agree within 5 % or their interval. The first seed, run again beside busy loops, had the same digest.

| cell | goodput | | attempts that collide, % | | airtime of data, % | MPDUs | mean rate | CPU s a second | |
|---|---|---|---|---|---|---|---|---|---|
"""


def apart(sides: dict[str, list[dict[str, Any]]], key: str, *, relative: bool = True) -> tuple[float, float]:
    """Ours less the kernel's, and half of its interval; relative to the kernel's mean unless told otherwise."""
    theirs, ours = ({run["seed"]: run[key] for run in sides[side]} for side in ("kernel", "ours"))
    found = difference(theirs, ours)
    if found is None:
        raise ValueError(f"no seed has {key} on both sides")
    scale = mean(theirs.values()) if relative else 1.0
    return found.estimate.mean / scale, (found.estimate.half_width or 0.0) / scale


def means(sides: dict[str, list[dict[str, Any]]], key: str, scale: float, digits: int) -> str:
    """The kernel's mean, then ours."""
    return " ".join(f"{mean(run[key] for run in sides[side]) * scale:.{digits}f}" for side in ("kernel", "ours"))


def distribution(found: list[dict[str, Any]]) -> dict[str, float]:
    """The mean distribution of airtime over rates."""
    rates = sorted({rate for run in found for rate in run["airtime"]})
    return {rate: mean(run["airtime"].get(rate, 0.0) for run in found) for rate in rates}


def link_rows(kept: dict[str, Any]) -> Iterator[str]:
    """A row of each link."""
    for name, sides in kept["links"].items():
        by, half = apart(sides, "goodput_bps")
        alike = links.overlap(distribution(sides["kernel"]), distribution(sides["ours"]))
        cells = [
            *(name, means(sides, "goodput_bps", 1e-6, 2), f"{100 * by:+.1f} ± {100 * half:.1f} %"),
            *(means(sides, "mean_data_rate_bps", 1e-6, 1), means(sides, "mpdus", 1, 1)),
            *(means(sides, "lost", 100, 1), means(sides, "behind_rts", 100, 1), f"{100 * alike:.0f}"),
            "pass" if abs(by) <= GOODPUT else "out",
        ]
        yield f"| {' | '.join(cells)} |\n"


def txq_rows(kept: dict[str, Any]) -> Iterator[str]:
    """A row of each scheduler."""
    for name, sides in kept["cases"].items():
        share, half = apart(sides, "slow_share", relative=False)
        row, out = [name, means(sides, "goodput_bps", 1e-6, 2), interval(*apart(sides, "goodput_bps"))], []
        row += [means(sides, "slow_share", 100, 1), f"{100 * share:+.1f} ± {100 * half:.1f}"]
        out += ["share"] if abs(share) > SHARE else []
        for station in ("fast", "slow"):
            delay = apart(sides, f"{station}_p95_s")
            row += [means(sides, f"{station}_p95_s", 1e3, 1), interval(*delay)]
            out += [f"delay, {station}"] if abs(delay[0]) > SOJOURN else []
        row += [means(sides, "drops", 1, 0), interval(*apart(sides, "drops"))]
        row.append(f"out: {', '.join(out)}" if out else "pass")
        yield f"| {' | '.join(row)} |\n"


def cell_rows(kept: dict[str, Any]) -> Iterator[str]:
    """A row of each cell."""
    for name, sides in kept["cells"].items():
        goodput, collisions = apart(sides, "goodput_bps"), apart(sides, "collision_probability")
        agrees = [abs(by) <= max(GOODPUT, half) for by, half in (goodput, collisions)]
        row = [
            *(name, means(sides, "goodput_bps", 1e-6, 2), interval(*goodput)),
            *(means(sides, "collision_probability", 100, 1), interval(*collisions)),
            *(means(sides, "data_airtime", 100, 1), means(sides, "mpdus", 1, 1)),
            *(means(sides, "mean_data_rate_bps", 1e-6, 1), f"{sides['cpu_s_per_s']:.1f}"),
            "pass" if all(agrees) else "out",
        ]
        yield f"| {' | '.join(row)} |\n"


def interval(by: float, half: float) -> str:
    """A difference and half of its interval."""
    return f"{100 * by:+.1f} ± {100 * half:.1f} %"


def record() -> None:
    """Has a kernel with a Wi-Fi stack do everything again, if there is one; otherwise what is kept stays."""
    try:
        find_kernel(os.environ.get("LASTHOP_KERNEL", "own"), wifi=True)
    except EmulationError as error:
        sys.stderr.write(f"kernel: {error}\n")
        return
    for part in (links, txqs, saturated):
        part.main([])


def texts() -> dict[str, str]:
    """The headings of the tables that are kept, with their texts."""
    return {
        "In virtual time: rate control": for_each_kernel("links", LINKS, link_rows) + LINKS_NOTES,
        "In virtual time: queues of stations": for_each_kernel("txqs", TXQS, txq_rows) + TXQS_NOTES,
        "In virtual time: saturated cells": for_each_kernel("cells", CELLS, cell_rows) + CELLS_NOTES,
    }


LINKS_NOTES = """
Known differences:

- **Sudden death**: ours learns the result of each PPDU. If an A-MPDU of over 30 MPDUs is lost to a collision, first in its window, another rate follows: 135 and 243 Mbit/s have
  5 % of the airtime of `802.11ac, 40 MHz`. The kernel learns of all attempts once a frame is done: 0.4 %.
- **Age of rates**: frames of the kernel have the rates of the time when their radio took them, up to 128 frames before; ours chooses as it sends. This would explain `fading`, which changes
  each 50 ms, and `802.11a` (54 Mbit/s: 3.9 % of the airtime, ours 2.2 %); no experiment has shown it.
- A tenth more PPDUs of ours are behind an RTS; the cause was not found.
"""
TXQS_NOTES = """
Known differences, most of the radios:

- **Turns**: a patched radio takes a station's frames until AQL or its room stops it, then sends it 3.1 A-MPDUs in a row; ours takes a packet a turn (1.02).
- **Shares**: the patch charges each frame 40 us of preamble, which twelve fast frames or two slow ones share on the air: with AQL 970/(970 + 2 * 4.30 * 193) = 36.8 %. Without AQL the cause was not found.
- **AQL**: 6.12 does not limit the airtime pending for all, 6.18 and ours do: 17 ms here. A limit of 24 ms (`aql_high = "19 ms"`) adds 8 ms to the fast stations' delay.
"""
CELLS_NOTES = """
Simulated stations have `queue = "airtime_fq_codel"`. The default, `"backpressure"`, fills their hardware: A-MPDUs of seven MPDUs, where TCP small queues leave a kernel's flow four, and 35 Mbit/s.
With `minstrel_ht` the kernel's rates are a tenth lower; why was not found.
"""
