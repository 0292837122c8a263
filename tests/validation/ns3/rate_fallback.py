"""Saturated UDP uplink over 802.11b under AARF and ARF in ns-3.44: the oracle of rate control without TCP.

    python rate_fallback.py [--seeds 5]

prints lines of `tests/data/ns3.csv`: cell, quantity, mean, standard deviation, seeds, seconds; throughput in Mbit/s counts
IP packets of 1500 B.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys

from cell import PORT, Cell, begin, fill_arp, ns, received, run_for, sink
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
        client = ns.UdpClientHelper(ns.InetSocketAddress(cell.addresses.GetAddress(0), PORT).ConvertTo())
        client.SetAttribute("PacketSize", ns.UintegerValue(PAYLOAD_BYTES))
        client.SetAttribute("MaxPackets", ns.UintegerValue(0))
        client.SetAttribute("Interval", ns.TimeValue(ns.Seconds(interval_s)))
        client.Install(cell.nodes.Get(i + 1)).Start(ns.Seconds(interval_s * i / stations))
    fill_arp()
    run_for(WARMUP_S)
    count_frames()
    before = received(sinks)[0]
    run_for(SECONDS)
    bits = 8 * (received(sinks)[0] - before) * IP_BYTES / PAYLOAD_BYTES
    frames, again = counted()
    ns.Simulator.Destroy()
    return {"ip_mbps": bits / SECONDS / 1e6, "retries": again / frames}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    write = csv.writer(sys.stdout, lineterminator="\n").writerow
    for stations, kind in CELLS:
        runs = [measure(stations, kind, seed) for seed in range(1, given.seeds + 1)]
        for quantity in runs[0]:
            values = [run[quantity] for run in runs]
            name = f"{kind.lower()}, saturated UDP, {stations} stations"
            write(
                [
                    name,
                    quantity,
                    f"{statistics.mean(values):.4g}",
                    f"{statistics.stdev(values):.2g}",
                    len(runs),
                    f"{SECONDS:g}",
                ]
            )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
