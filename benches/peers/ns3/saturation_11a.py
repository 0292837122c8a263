"""Saturated UDP uplink over 802.11a at 54 Mbit/s: scenarios/saturation-11a.toml for ns-3.44.

Without association and beacons; the frames, their acknowledgements and the contention are the same.
"""

from cell import Cell, arguments, ns, run_and_print

PORT = 5000
PAYLOAD_BYTES = 1472
# A third more than the capacity of the cell keeps every queue full, with few packets made only to be dropped.
OFFERED_BPS = 40e6

given = arguments(stations=20)
cell = Cell(given.stations, "80211a", "OfdmRate54Mbps", infrastructure=False)

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
