"""Ten NewReno uploads over 802.11b at a fixed 11 Mbit/s: scenarios/khademi2011-uplink-11b.toml for ns-3.44."""

from cell import Cell, arguments, ns, run_and_print

PORT = 5000
given = arguments(stations=10)

# 1448 bytes, 12 of timestamps and 40 of headers; ns-3's own TCP otherwise, with buffers that do not bind.
ns.Config.SetDefault("ns3::TcpL4Protocol::SocketType", ns.TypeIdValue(ns.TypeId.LookupByName("ns3::TcpNewReno")))
ns.Config.SetDefault("ns3::TcpSocket::SegmentSize", ns.UintegerValue(1448))
for buffer in ("SndBufSize", "RcvBufSize"):
    ns.Config.SetDefault(f"ns3::TcpSocket::{buffer}", ns.UintegerValue(4 << 20))

cell = Cell(given.stations, "80211b", "DsssRate11Mbps", infrastructure=True)

server = ns.NodeContainer(1)
ns.InternetStackHelper().Install(server)
wire = ns.PointToPointHelper()
wire.SetDeviceAttribute("DataRate", ns.StringValue("100Mbps"))
wire.SetChannelAttribute("Delay", ns.StringValue("50ms"))
wire.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns.QueueSizeValue(ns.QueueSize("1000p")))
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
    sinks.Add(sink.Install(server))
    source = ns.BulkSendHelper("ns3::TcpSocketFactory", ns.InetSocketAddress(wired.GetAddress(0), PORT + i).ConvertTo())
    source.SetAttribute("MaxBytes", ns.UintegerValue(0))
    source.SetAttribute("SendSize", ns.UintegerValue(1448))
    source.Install(cell.stations.Get(i)).Start(ns.Seconds(1 + 0.1 * i / given.stations))

run_and_print(given, sinks)
