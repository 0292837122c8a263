"""Uploads and downloads of several users in ns-3.44: OFDMA by its round robin, triggers, and MU EDCA.

    python several_users.py [--seeds 3] [--only "TCP up"]

prints lines of `tests/data/ns3.csv`: cell, quantity, mean, standard deviation, seeds, seconds. A cell is the traffic, its
direction, the number of stations, and what is switched on. All take about 20 minutes of CPU time. 802.11ax at 80 MHz, MCS 5 and a guard interval of 3.2 us, windows of 64
MPDUs; stations on a circle of 1 m. The access point is the other end of all flows.

Each station has sent and received some datagrams before the load begins, so that all Block Ack agreements are there: ns-3 answers an
ADDBA request by best effort, so that a station which MU EDCA keeps from contending answers none, and gets its TCP ACKs one by one.
"""

from __future__ import annotations

import math
from functools import partial

import rows
from cell import PORT, ns, received, run_for, sink

LOAD_FROM_S = 1.0
MEASURED_FROM_S = 1.5
SECONDS = 2.0
PAYLOAD_BYTES = 1448
OFFERED_BPS = 244_000_000
COLUMNS = {
    "off": None,
    "downlink": {"EnableUlOfdma": False, "EnableBsrp": False},
    "downlink, bar": {"EnableUlOfdma": False, "EnableBsrp": False},
    "downlink, aggregated": {"EnableUlOfdma": False, "EnableBsrp": False},
    "uplink": {"EnableUlOfdma": True, "EnableBsrp": False},
    "BSRP": {"EnableUlOfdma": True, "EnableBsrp": True},
    "MU EDCA": {"EnableUlOfdma": True, "EnableBsrp": True},
}
SEQUENCES = {"downlink, bar": "DL_MU_BAR_BA_SEQUENCE", "downlink, aggregated": "DL_MU_AGGREGATE_TF"}
# What the traffic and direction can show: UDP downloads need no triggers, and uploads no downlink.
SHOWN = {
    ("UDP", "down"): ("off", "downlink", "downlink, bar", "downlink, aggregated"),
    ("TCP", "down"): ("off", "downlink", "uplink", "BSRP", "MU EDCA"),
    ("UDP", "up"): ("off", "BSRP", "MU EDCA"),
    ("TCP", "up"): ("off", "BSRP", "MU EDCA"),
}
MU_EDCA_TIMER = "106496us"
ACCESS_REQUEST = "10ms"


def measure(udp: bool, up: bool, stations: int, column: str, seed: int) -> dict[str, float]:
    """One seed: the payload of all flows in Mbit/s."""
    ns.RngSeedManager.SetRun(seed)
    ns.Ipv4AddressGenerator.Reset()
    set_defaults(column)
    nodes = ns.NodeContainer(stations + 1)
    place(nodes, stations)
    devices = install(nodes, column, up)
    ns.WifiHelper.AssignStreams(devices, 100)
    ns.InternetStackHelper().Install(nodes)
    addresses = ns.Ipv4AddressHelper()
    addresses.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.255.0"))
    interfaces = addresses.Assign(devices)
    sinks = ns.ApplicationContainer()
    for station in range(1, stations + 1):
        greet(nodes, interfaces, station)
        source, target = (station, 0) if up else (0, station)
        kind = "Udp" if udp else "Tcp"
        sinks.Add(sink(nodes.Get(target), kind, PORT + station))
        to = ns.InetSocketAddress(interfaces.GetAddress(target), PORT + station).ConvertTo()
        load = udp_load(to, OFFERED_BPS // stations) if udp else tcp_load(to)
        load.Install(nodes.Get(source)).Start(ns.Seconds(LOAD_FROM_S))
    run_for(MEASURED_FROM_S)
    before = received(sinks)
    run_for(SECONDS)
    after = received(sinks)
    ns.Simulator.Destroy()
    return {"goodput_mbps": 8e-6 * (sum(after) - sum(before)) / SECONDS}


def udp_load(to, bps: int):
    """Datagrams at equal intervals."""
    load = ns.OnOffHelper("ns3::UdpSocketFactory", to)
    load.SetAttribute("OnTime", ns.StringValue("ns3::ConstantRandomVariable[Constant=1]"))
    load.SetAttribute("OffTime", ns.StringValue("ns3::ConstantRandomVariable[Constant=0]"))
    load.SetAttribute("PacketSize", ns.UintegerValue(PAYLOAD_BYTES))
    load.SetAttribute("DataRate", ns.DataRateValue(ns.DataRate(bps)))
    return load


def tcp_load(to):
    """A socket whose buffer is never empty. `OnOffApplication` refills it at its own rate, so that aggregates are shorter."""
    load = ns.BulkSendHelper("ns3::TcpSocketFactory", to)
    load.SetAttribute("MaxBytes", ns.UintegerValue(0))
    load.SetAttribute("SendSize", ns.UintegerValue(PAYLOAD_BYTES))
    return load


def set_defaults(column: str) -> None:
    """Block Ack, TCP, and the parameters of MU EDCA."""
    ns.Config.SetDefault("ns3::WifiMac::MpduBufferSize", ns.UintegerValue(64))
    ns.Config.SetDefault("ns3::TcpSocket::SegmentSize", ns.UintegerValue(PAYLOAD_BYTES))
    sequence = SEQUENCES.get(column, "DL_MU_TF_MU_BAR")
    ns.Config.SetDefault("ns3::WifiDefaultAckManager::DlMuAckSequenceType", ns.StringValue(sequence))
    timer = MU_EDCA_TIMER if column == "MU EDCA" else "0us"
    for category in ("Be", "Bk", "Vi", "Vo"):
        ns.Config.SetDefault(f"ns3::HeConfiguration::{category}MuEdcaTimer", ns.StringValue(timer))


def place(nodes, stations: int) -> None:
    """The access point is in the middle: a station at its place would capture it."""
    for number in range(stations + 1):
        model = ns.CreateObject[ns.ConstantPositionMobilityModel]()
        angle = 2 * math.pi * number / stations
        at = (0.0, 0.0) if number == 0 else (math.cos(angle), math.sin(angle))
        model.SetPosition(ns.Vector(*at, 0.0))
        nodes.Get(number).AggregateObject(model)


def install(nodes, column: str, up: bool):
    """The Wi-Fi devices: node 0 is the access point."""
    channel = ns.CreateObject[ns.MultiModelSpectrumChannel]()
    channel.AddPropagationLossModel(ns.CreateObject[ns.LogDistancePropagationLossModel]())
    channel.SetPropagationDelayModel(ns.CreateObject[ns.ConstantSpeedPropagationDelayModel]())
    phy = ns.SpectrumWifiPhyHelper()
    phy.SetChannel(channel)
    phy.Set("ChannelSettings", ns.StringValue("{0, 80, BAND_5GHZ, 0}"))
    wifi = ns.WifiHelper()
    wifi.SetStandard(ns.WIFI_STANDARD_80211ax)
    mode = ns.StringValue("HeMcs5")
    control = ns.StringValue("OfdmRate24Mbps")
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", mode, "ControlMode", control)
    wifi.ConfigHeOptions("GuardInterval", ns.TimeValue(ns.NanoSeconds(3200)))
    mac = ns.WifiMacHelper()
    scheduler = COLUMNS[column]
    if scheduler is not None:
        given = [part for key, value in scheduler.items() for part in (key, ns.BooleanValue(value))]
        interval = ns.TimeValue(ns.Time(ACCESS_REQUEST if up else "0ms"))
        mac.SetMultiUserScheduler("ns3::RrMultiUserScheduler", *given, "AccessReqInterval", interval)
    ssid = ns.SsidValue(ns.Ssid("cell"))
    devices = ns.NetDeviceContainer()
    for number in range(nodes.GetN()):
        if number == 0:
            mac.SetType("ns3::ApWifiMac", "EnableBeaconJitter", ns.BooleanValue(False), "Ssid", ssid)
        else:
            mac = ns.WifiMacHelper() if number == 1 else mac
            mac.SetType("ns3::StaWifiMac", "Ssid", ssid)
        devices.Add(wifi.Install(phy, mac, nodes.Get(number)))
    return devices


def greet(nodes, interfaces, station: int) -> None:
    """A few datagrams each way."""
    for source, target, at in ((station, 0, 0.2), (0, station, 0.5)):
        port = PORT + 1000 + station
        sink(nodes.Get(target), "Udp", port)
        to = ns.InetSocketAddress(interfaces.GetAddress(target), port).ConvertTo()
        client = ns.UdpClientHelper(to)
        client.SetAttribute("PacketSize", ns.UintegerValue(40))
        client.SetAttribute("MaxPackets", ns.UintegerValue(6))
        client.SetAttribute("Interval", ns.TimeValue(ns.MilliSeconds(3)))
        client.Install(nodes.Get(source)).Start(ns.Seconds(at + 0.02 * station))


def cells():
    """Uploads ask with access requests, so that triggers do not depend on data of the access point."""
    for (kind, way), columns in SHOWN.items():
        for stations in (4, 8):
            for column in columns:
                name = f"{kind} {way}, {stations} stations, {column}"
                yield name, SECONDS, partial(measure, kind == "UDP", way == "up", stations, column)


if __name__ == "__main__":
    rows.main(cells(), seeds=3)
