"""Saturated UDP uplink over 802.11n at 300 Mbit/s with A-MPDUs: scenarios/saturation-11n.toml for ns-3.44.

Without association and beacons; the frames, their acknowledgements and the contention are the same.
"""

from cell import Cell, arguments, ns, run_and_print

PORT = 5000
PAYLOAD_BYTES = 1472
# A third more than the capacity of the cell keeps every queue full, with few packets made only to be dropped.
OFFERED_BPS = 350e6

# An A-MPDU takes 42 packets, and those in flight count.
given = arguments(stations=10, queue="200p")
cell = Cell(given.stations, "80211n", "HtMcs15", infrastructure=False)

sink = ns.PacketSinkHelper("ns3::UdpSocketFactory", ns.InetSocketAddress(ns.Ipv4Address.GetAny(), PORT).ConvertTo())
sinks = sink.Install(cell.ap)

interval_s = given.stations * PAYLOAD_BYTES * 8 / OFFERED_BPS
source = ns.UdpClientHelper(ns.InetSocketAddress(cell.ap_address.GetAddress(0), PORT).ConvertTo())
source.SetAttribute("PacketSize", ns.UintegerValue(PAYLOAD_BYTES))
source.SetAttribute("MaxPackets", ns.UintegerValue(0))
source.SetAttribute("Interval", ns.TimeValue(ns.Seconds(interval_s)))
for i in range(given.stations):
    source.Install(cell.stations.Get(i)).Start(ns.Seconds(interval_s * i / given.stations))

run_and_print(given, sinks)
