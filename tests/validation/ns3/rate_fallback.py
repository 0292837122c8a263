"""Saturated UDP uplink over 802.11b under AARF and ARF in ns-3.44: the oracle of rate control without TCP.

    python rate_fallback.py [--seeds 5]

prints lines of `tests/data/ns3.csv`: cell, quantity, mean, standard deviation, seeds, seconds; throughput in Mbit/s counts
IP packets of 1500 B.
"""

from __future__ import annotations

from functools import partial

import rows
from cell import PORT, Cell, begin, fill_arp, ns, received, run_for, sink, source
from frames import count_frames, counted

WARMUP_S, SECONDS = 5.0, 60.0
PAYLOAD_BYTES, IP_BYTES = 1472, 1500
# A third more than 11 Mbit/s carry, for all stations together.
OFFERED_BPS = 8e6
CELLS = [(2, "Aarf"), (5, "Aarf"), (10, "Aarf"), (10, "Arf")]


def measure(stations: int, kind: str, seed: int) -> dict[str, float]:
    """One seed."""
    begin(seed)
    cell = Cell(stations, "80211b", {"kind": f"{kind}WifiManager"}, infrastructure=False)
    sinks = sink(cell.nodes.Get(0), "Udp", PORT)
    interval_s = stations * 8 * PAYLOAD_BYTES / OFFERED_BPS
    for i in range(stations):
        source(
            cell.nodes.Get(i + 1),
            cell.addresses.GetAddress(0),
            PORT,
            payload_bytes=PAYLOAD_BYTES,
            interval_s=interval_s,
            start_s=interval_s * i / stations,
        )
    fill_arp()
    run_for(WARMUP_S)
    count_frames()
    before = received(sinks)[0]
    run_for(SECONDS)
    bits = 8 * (received(sinks)[0] - before) * IP_BYTES / PAYLOAD_BYTES
    frames, again = counted()
    ns.Simulator.Destroy()
    return {"ip_mbps": bits / SECONDS / 1e6, "retries": again / frames}


def name_of(stations: int, kind: str) -> str:
    """The cell's name in the table."""
    return f"{kind.lower()}, saturated UDP, {stations} stations"


if __name__ == "__main__":
    rows.main(((name_of(*of), SECONDS, partial(measure, *of)) for of in CELLS), seeds=5)
