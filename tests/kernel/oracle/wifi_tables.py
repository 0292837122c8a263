"""The table of docs/kernel.md on the rate control of a kernel's Wi-Fi, beside ours."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from statistics import mean
from typing import Any

import links
from lasthop.data.confidence import difference
from lasthop.kernel.emulation import EmulationError, find_kernel
from versions import for_each_kernel

GOODPUT = 0.05
LINKS = """\
mac80211 of a patched kernel, over the simulated air, and the simulation, five seeds each (`tests/kernel/oracle/links.py`): four CUBIC downloads over 802.11n, 20 MHz,
unless a row names others; `collisions` are uploads of six stations. Hardware holds 128 packets. The kernel is first in each cell, differences have a 95 % interval, goodput is to agree
within 5 %. `alike`: the common part of the distributions of airtime over rates. Rates are in Mbit/s.

| link | goodput | | mean rate | MPDUs | lost, % | behind RTS, % | alike, % | |
|---|---|---|---|---|---|---|---|---|
"""


def apart(sides: dict[str, list[dict[str, Any]]], key: str) -> tuple[float, float]:
    """Ours less the kernel's, and half of its interval, relative to the kernel's mean."""
    theirs, ours = ({run["seed"]: run[key] for run in sides[side]} for side in ("kernel", "ours"))
    found = difference(theirs, ours)
    if found is None:
        raise ValueError(f"no seed has {key} on both sides")
    scale = mean(theirs.values())
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


def record() -> None:
    """Has a kernel with a Wi-Fi stack do everything again, if there is one; otherwise what is kept stays."""
    try:
        find_kernel(os.environ.get("LASTHOP_KERNEL", "own"), wifi=True)
    except EmulationError as error:
        sys.stderr.write(f"kernel: {error}\n")
        return
    links.main([])


def text() -> tuple[str, str]:
    """Heading and text of what is kept."""
    return "In virtual time: rate control", for_each_kernel("links", LINKS, link_rows) + LINKS_NOTES


LINKS_NOTES = """
Known differences:

- **Sudden death**: ours learns the result of each PPDU. If an A-MPDU of over 30 MPDUs is lost to a collision, first in its window, another rate follows: 135 and 243 Mbit/s have
  5 % of the airtime of `802.11ac, 40 MHz`. The kernel learns of all attempts once a frame is done: 0.4 %.
- **Age of rates**: frames of the kernel have the rates of the time when their radio took them, up to 128 frames before; ours chooses as it sends. This would explain `fading`, which changes
  each 50 ms, and `802.11a` (54 Mbit/s: 3.9 % of the airtime, ours 2.2 %); no experiment has shown it.
- A tenth more PPDUs of ours are behind an RTS; the cause was not found.
"""
