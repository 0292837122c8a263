"""TCP uploads over 802.11b under AARF, ARF or 11 Mbit/s, for ns-3.44: its TCP, one attribute at a time.

    python uploads.py --stations 10 --seeds 5 --set ns3::TcpSocketBase::MinRto=200ms

prints a line for each seed: goodput, Jain's index, the mean share of flows that deliver nothing in a second, and the
share of data frames that carry the retry bit.
"""

from __future__ import annotations

import argparse

from cell import PORT, Cell, address, begin, fill_arp, ns, received, run_for, sink
from frames import count_frames, counted

WARMUP_S = 10
MANAGERS = {
    "aarf": {"kind": "AarfWifiManager"},
    "arf": {"kind": "ArfWifiManager"},
    "fixed": {"kind": "ConstantRateWifiManager", "DataMode": "DsssRate11Mbps", "ControlMode": "DsssRate2Mbps"},
}
DEFAULTS = {
    "ns3::TcpL4Protocol::SocketType": "ns3::TcpNewReno",
    # 1448 bytes, 12 of timestamps and 40 of headers; buffers that do not bind.
    "ns3::TcpSocket::SegmentSize": "1448",
    "ns3::TcpSocket::SndBufSize": str(4 << 20),
    "ns3::TcpSocket::RcvBufSize": str(4 << 20),
}


def measure(
    stations: int, manager: str, delay: str, start_s: float, seed: int, seconds: float, queue: str
) -> tuple[float, float, float, float]:
    """Goodput in bit/s, Jain's index, the share of silent flows, and that of repeated frames."""
    begin(seed, queue)
    cell = Cell(stations, "80211b", MANAGERS[manager], infrastructure=True)
    server = ns.NodeContainer(1)
    ns.InternetStackHelper().Install(server)
    wire = ns.PointToPointHelper()
    wire.SetDeviceAttribute("DataRate", ns.StringValue("100Mbps"))
    wire.SetChannelAttribute("Delay", ns.StringValue(delay))
    wire.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns.QueueSizeValue(ns.QueueSize("1000p")))
    wired = address(wire.Install(server.Get(0), cell.nodes.Get(0)), "10.1.0.0", "255.255.255.0")
    routing = ns.Ipv4StaticRoutingHelper()
    for i in range(1, stations + 1):
        routing.GetStaticRouting(cell.nodes.Get(i).GetObject[ns.Ipv4]()).SetDefaultRoute(
            cell.addresses.GetAddress(0), 1
        )
    routing.GetStaticRouting(server.Get(0).GetObject[ns.Ipv4]()).SetDefaultRoute(wired.GetAddress(1), 1)
    sinks = ns.ApplicationContainer()
    for i in range(stations):
        sinks.Add(sink(server, "Tcp", PORT + i))
        source = ns.BulkSendHelper(
            "ns3::TcpSocketFactory", ns.InetSocketAddress(wired.GetAddress(0), PORT + i).ConvertTo()
        )
        source.SetAttribute("MaxBytes", ns.UintegerValue(0))
        source.SetAttribute("SendSize", ns.UintegerValue(1448))
        # The stations have associated after a second.
        source.Install(cell.nodes.Get(i + 1)).Start(ns.Seconds(1 + start_s * i / stations))
    fill_arp()
    run_for(WARMUP_S)
    count_frames()
    first = last = received(sinks)
    silent = 0
    for _ in range(int(seconds)):
        run_for(1)
        now = received(sinks)
        silent += sum(a == b for a, b in zip(last, now, strict=True))
        last = now
    ns.Simulator.Destroy()
    shares = [b - a for a, b in zip(first, last, strict=True)]
    jain = sum(shares) ** 2 / (stations * sum(s * s for s in shares))
    frames, again = counted()
    return 8 * sum(shares) / seconds, jain, silent / (stations * int(seconds)), again / frames


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--stations", type=int, default=10)
    parser.add_argument("--manager", choices=MANAGERS, default="aarf")
    parser.add_argument("--delay", default="50ms", help="one way, wired")
    parser.add_argument("--start", type=float, default=0.1, help="flows start over so many seconds")
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--queue", default="50p")
    parser.add_argument("--set", action="append", default=[], metavar="ATTRIBUTE=VALUE")
    given = parser.parse_args()
    for name, value in [*DEFAULTS.items(), *(item.split("=", 1) for item in given.set)]:
        ns.Config.SetDefault(name, ns.StringValue(value))
    for seed in range(1, given.seeds + 1):
        numbers = measure(given.stations, given.manager, given.delay, given.start, seed, given.seconds, given.queue)
        print(seed, *(f"{number:.4g}" for number in numbers), flush=True)


if __name__ == "__main__":
    main()
