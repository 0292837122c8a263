"""A measured link in the formats of emulators: Mahimahi's delivery opportunities, netem's settings, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from .measure import PACKET_BYTES, Link

MS_NS = 1_000_000


def mahimahi(link: Link) -> str:
    """A trace for mm-link: a line for each packet of up to 1500 B that the link can deliver, with its millisecond.

    The trace repeats from its last line, so a link that is idle at the end loses that time.
    """
    # A line of 0 is allowed, but a trace may not end with it.
    return "".join(f"{max(1, -(-t // MS_NS))}\n" for t in link.delivered_ns)


def netem(links: Sequence[Link], interval_ns: int) -> str:
    """A shell script that makes tc-netem follow the link: rate and loss of each interval, delay of the wire.

    `DEV` is the device for packets going up, `DOWN_DEV` the one for packets going down (an ifb device, or the other
    end).
    """
    lines = [
        "#!/bin/sh",
        f"# The link of station {links[0].station}, by `lasthop export link`; a step each {interval_ns / MS_NS:g} ms, then again from the start.",
        "# Needs root, and a sleep that takes fractions. DEV=eth0 DOWN_DEV=ifb0 sh FILE",
        "set -e",
        *(f': "${{{_device(link)}:?the device for packets going {link.direction}}}"' for link in links),
        *(
            f'tc qdisc replace dev "${_device(link)}" root netem delay {link.wire_delay_ns / MS_NS:g}ms limit 1000'
            for link in links
        ),
        "step() {",
        *(
            f'    tc qdisc change dev "${_device(link)}" root netem delay {link.wire_delay_ns / MS_NS:g}ms limit 1000 '
            f'rate "${{{n}}}kbit" loss "${{{n + 1}}}%"'
            for n, link in zip(range(1, 99, 2), links, strict=False)
        ),
        f"    sleep {interval_ns / 1e9:g}",
        "}",
        "while :; do",
        *(f"    step {' '.join(step)}" for step in _steps(links, interval_ns)),
        "done",
    ]
    return "\n".join(lines) + "\n"


def _device(link: Link) -> str:
    return "DEV" if link.direction == "up" else "DOWN_DEV"


def _steps(links: Sequence[Link], interval_ns: int) -> Iterator[list[str]]:
    columns = [binned(link, interval_ns) for link in links]
    for row in zip(*columns, strict=True):
        yield [word for delivered, lost in row for word in _rate_and_loss(delivered, lost, interval_ns)]


def _rate_and_loss(delivered: int, lost: int, interval_ns: int) -> tuple[str, str]:
    """Rate in kbit/s, at least 1 as netem takes 0 for no limit, and loss in per cent."""
    rate_kbps = delivered * PACKET_BYTES * 8 * 1e6 / interval_ns
    return f"{max(1, round(rate_kbps))}", f"{100 * lost / max(1, lost + delivered):.4g}"


def binned(link: Link, interval_ns: int) -> list[tuple[int, int]]:
    """Packets delivered and lost in each whole interval."""
    bins = [[0, 0] for _ in range(link.length_ns // interval_ns)]
    for which, times in enumerate((link.delivered_ns, link.lost_ns)):
        for t in times:
            if t // interval_ns < len(bins):
                bins[t // interval_ns][which] += 1
    return [(delivered, lost) for delivered, lost in bins]


def document(links: Sequence[Link]) -> str:
    """All directions of a link as JSON."""
    directions = {
        link.direction: {
            "length_s": link.length_ns / 1e9,
            "rate_bps": link.rate_bps,
            "loss": link.loss,
            "wire_delay_s": link.wire_delay_ns / 1e9,
            "delivered_ns": link.delivered_ns,
            "lost_ns": link.lost_ns,
        }
        for link in links
    }
    return json.dumps({"format": 1, "station": links[0].station, "packet_bytes": PACKET_BYTES, **directions}) + "\n"
