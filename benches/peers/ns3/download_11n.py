"""CUBIC downloads to two stations over 802.11n at 300 Mbit/s: scenarios/download-11n.toml for ns-3.44."""

from cell import Cell, arguments, ns, run_and_print

PORT = 5000
# The MAC's queue, below 1000 packets at the access point; those in flight count.
given = arguments(stations=2, queue="100p")

# 1448 bytes, 12 of timestamps and 40 of headers; ns-3's own TCP otherwise, with buffers that do not bind.
ns.Config.SetDefault("ns3::TcpL4Protocol::SocketType", ns.TypeIdValue(ns.TypeId.LookupByName("ns3::TcpCubic")))
ns.Config.SetDefault("ns3::TcpSocket::SegmentSize", ns.UintegerValue(1448))
for buffer in ("SndBufSize", "RcvBufSize"):
    ns.Config.SetDefault(f"ns3::TcpSocket::{buffer}", ns.UintegerValue(4 << 20))

cell = Cell(given.stations, "80211n", "HtMcs15", infrastructure=True)
above = ns.TrafficControlHelper()
above.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", ns.QueueSizeValue(ns.QueueSize("1000p")))
above.Install(cell.ap_device)

server = ns.NodeContainer(1)
ns.InternetStackHelper().Install(server)
wire = ns.PointToPointHelper()
wire.SetDeviceAttribute("DataRate", ns.StringValue("1Gbps"))
wire.SetChannelAttribute("Delay", ns.StringValue("1ms"))
wire.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns.QueueSizeValue(ns.QueueSize("10000p")))
devices = wire.Install(server.Get(0), cell.ap.Get(0))
addresses = ns.Ipv4AddressHelper()
addresses.SetBase(ns.Ipv4Address("10.1.0.0"), ns.Ipv4Mask("255.255.255.0"))
wired = addresses.Assign(devices)
ns.TrafficControlHelper().Uninstall(devices)

routing = ns.Ipv4StaticRoutingHelper()
for i in range(given.stations):
    routes = routing.GetStaticRouting(cell.stations.Get(i).GetObject[ns.Ipv4]())
    routes.SetDefaultRoute(cell.ap_address.GetAddress(0), 1)
routing.GetStaticRouting(server.Get(0).GetObject[ns.Ipv4]()).SetDefaultRoute(wired.GetAddress(1), 1)

# The stations have associated after a second.
sinks = ns.ApplicationContainer()
for i in range(given.stations):
    sink = ns.PacketSinkHelper(
        "ns3::TcpSocketFactory", ns.InetSocketAddress(ns.Ipv4Address.GetAny(), PORT + i).ConvertTo()
    )
    sinks.Add(sink.Install(cell.stations.Get(i)))
    source = ns.BulkSendHelper(
        "ns3::TcpSocketFactory", ns.InetSocketAddress(cell.station_addresses.GetAddress(i), PORT + i).ConvertTo()
    )
    source.SetAttribute("MaxBytes", ns.UintegerValue(0))
    source.SetAttribute("SendSize", ns.UintegerValue(1448))
    source.Install(server.Get(0)).Start(ns.Seconds(1 + 0.1 * i / given.stations))

run_and_print(given, sinks)
