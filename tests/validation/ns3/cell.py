"""One BSS for ns-3.44's Python bindings, of which the programs beside this file are made.

Every frame arrives everywhere with the same power unless `losses` says otherwise. There is no queue discipline above
the MAC's queue, no lifetime in it, and ARP is filled. Nothing of Python runs while ns-3 simulates.
"""

from __future__ import annotations

from ns import ns

PORT = 5000
LOSS_DB = 40.0
"""Between two nodes that are not named: 16 dBm arrive as -24 dBm, at any rate without bit errors."""


def begin(seed: int, queue: str = "50p") -> None:
    """A new simulation with the draws of `seed`."""
    ns.RngSeedManager.SetRun(seed)
    ns.Ipv4AddressGenerator.Reset()
    ns.Config.SetDefault("ns3::WifiMacQueue::MaxSize", ns.QueueSizeValue(ns.QueueSize(queue)))
    ns.Config.SetDefault("ns3::WifiMacQueue::MaxDelay", ns.TimeValue(ns.Seconds(1000)))


class Cell:
    """The access point, node 0, and its stations, 1 and on."""

    def __init__(
        self,
        stations: int,
        standard: str,
        manager: dict[str, str],
        *,
        infrastructure: bool,
        losses: dict[tuple[int, int], float] | None = None,
        prepare=lambda phy, mac: None,
    ) -> None:
        self.nodes = ns.NodeContainer(stations + 1)
        mobility = ns.MobilityHelper()
        mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel")
        mobility.Install(self.nodes)
        self._phy = ns.YansWifiPhyHelper()
        self._phy.SetChannel(self._channel(losses or {}))
        self._mac = ns.WifiMacHelper()
        prepare(self._phy, self._mac)
        self._wifi = ns.WifiHelper()
        self._wifi.SetStandard(getattr(ns, f"WIFI_STANDARD_{standard}"))
        given = [part for key, value in manager.items() if key != "kind" for part in (key, ns.StringValue(value))]
        self._wifi.SetRemoteStationManager(f"ns3::{manager['kind']}", *given)
        kinds = ["ApWifiMac", "StaWifiMac"] if infrastructure else ["AdhocWifiMac", "AdhocWifiMac"]
        self.devices = ns.NetDeviceContainer()
        for i in range(stations + 1):
            self._mac.SetType(f"ns3::{kinds[i > 0]}", "Ssid", ns.SsidValue(ns.Ssid("cell")))
            self.devices.Add(self._wifi.Install(self._phy, self._mac, self.nodes.Get(i)))
        # Otherwise every run would draw the same for the MAC, whatever the seed.
        ns.WifiHelper.AssignStreams(self.devices, 100)
        ns.InternetStackHelper().Install(self.nodes)
        self.addresses = address(self.devices, "10.0.0.0", "255.255.0.0")

    def _channel(self, losses: dict[tuple[int, int], float]):
        # A matrix has no distances, so that propagation takes no time.
        matrix = ns.CreateObject[ns.MatrixPropagationLossModel]()
        matrix.SetDefaultLoss(LOSS_DB)
        for (one, other), loss in losses.items():
            ends = [self.nodes.Get(i).GetObject[ns.MobilityModel]() for i in (one, other)]
            matrix.SetLoss(*ends, loss, True)
        channel = ns.CreateObject[ns.YansWifiChannel]()
        channel.SetPropagationLossModel(matrix)
        channel.SetPropagationDelayModel(ns.CreateObject[ns.ConstantSpeedPropagationDelayModel]())
        return channel

    def mac(self, node: int):
        return self._device(node).GetMac()

    def phy(self, node: int):
        return self._device(node).GetPhy()

    def _device(self, node: int):
        return ns.DynamicCast[ns.WifiNetDevice](self.devices.Get(node))


def address(devices, base: str, mask: str):
    """Gives the devices addresses, and takes away FQ-CoDel, which would come before their queue."""
    addresses = ns.Ipv4AddressHelper()
    addresses.SetBase(ns.Ipv4Address(base), ns.Ipv4Mask(mask))
    interfaces = addresses.Assign(devices)
    ns.TrafficControlHelper().Uninstall(devices)
    return interfaces


def sink(node, kind: str, port: int):
    """What takes in all that arrives at a port."""
    local = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), port).ConvertTo()
    return ns.PacketSinkHelper(f"ns3::{kind}SocketFactory", local).Install(node)


def source(node, address, port: int, *, payload_bytes: int, interval_s: float, start_s: float, tos: int = 0) -> None:
    """A node that sends a datagram to an address at equal intervals, without an end."""
    client = ns.UdpClientHelper(ns.InetSocketAddress(address, port).ConvertTo())
    client.SetAttribute("PacketSize", ns.UintegerValue(payload_bytes))
    client.SetAttribute("MaxPackets", ns.UintegerValue(0))
    client.SetAttribute("Interval", ns.TimeValue(ns.Seconds(interval_s)))
    client.SetAttribute("Tos", ns.UintegerValue(tos))
    client.Install(node).Start(ns.Seconds(start_s))


def fill_arp() -> None:
    ns.NeighborCacheHelper().PopulateNeighborCache()


def run_for(seconds: float) -> None:
    """Goes on for so much simulated time."""
    ns.Simulator.Stop(ns.Seconds(seconds))
    ns.Simulator.Run()


def received(sinks) -> list[int]:
    """Bytes of payload that each sink has taken in."""
    return [sinks.Get(i).GetObject[ns.PacketSink]().GetTotalRx() for i in range(sinks.GetN())]
