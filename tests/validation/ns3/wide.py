"""The networks of `../networks.py` in ns-3.44: goodput of each BSS in Mbit/s.

    python wide.py [--seeds 3] [--only WORDS]

prints lines of `tests/data/ns3_networks.csv`: network, quantity, mean, standard deviation, seeds, seconds.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import rows
from cell import PORT, address, begin, fill_arp, ns, received, run_for, sink, source

sys.path.insert(0, str(Path(__file__).parents[1]))
from cells import CATEGORIES, DSCP, UDP_HEADERS
from networks import NETWORKS, PACKET_BYTES, QUEUE_PACKETS, Link, Network

BEFORE_S = 0.1
LINK = 0
TIDS = {"bk": 1, "be": 0, "vi": 5, "vo": 6}
GREATEST_AMPDU = {"802.11n": 65535, "802.11ac": 1048575, "802.11ax": 6500631}
# Channels whose first 20 MHz are channel 36.
CENTRES = {20: 36, 40: 38, 80: 42}
# More than the channel carries.
OVERLOAD = 1.2


def measure(network: Network, seed: int) -> dict[str, float]:
    """One seed."""
    begin(seed, f"{QUEUE_PACKETS}p")
    set_defaults(network.link)
    nodes = ns.NodeContainer(len(network.aps) + len(network.stations))
    place(nodes, network)
    devices = install(nodes, network)
    ns.WifiHelper.AssignStreams(devices, 100)
    ns.InternetStackHelper().Install(nodes)
    addresses = address(devices, "10.0.0.0", "255.255.0.0")
    sinks = ns.ApplicationContainer()
    for number, station in enumerate(network.stations):
        sinks.Add(sink(nodes.Get(station.bss), "Udp", PORT + number))
        bits = 8 * (PACKET_BYTES - UDP_HEADERS)
        in_bss = sum(other.bss == station.bss for other in network.stations)
        # Each category could have all.
        sharers = in_bss if len({other.category for other in network.stations}) == 1 else 1
        interval_s = bits * sharers / (OVERLOAD * network.link.bps)
        phase = number / len(network.stations) + seed * 0.618 % 1
        source(
            nodes.Get(len(network.aps) + number),
            addresses.GetAddress(station.bss),
            PORT + number,
            payload_bytes=PACKET_BYTES - UDP_HEADERS,
            interval_s=interval_s,
            start_s=BEFORE_S + interval_s * phase,
            tos=DSCP[station.category][1],
        )
    fill_arp()
    # Settings of a MAC before its initialisation are lost.
    run_for(BEFORE_S / 2)
    for node in range(nodes.GetN()):
        mac = ns.DynamicCast[ns.WifiNetDevice](devices.Get(node)).GetMac()
        for category in CATEGORIES:
            mac.GetQosTxop(TIDS[category]).SetTxopLimit(ns.MicroSeconds(0), LINK)
    run_for(network.warmup - BEFORE_S / 2)
    before = received(sinks)
    run_for(network.seconds)
    after = received(sinks)
    ns.Simulator.Destroy()
    found: dict[str, float] = {}
    for station, a, b in zip(network.stations, before, after, strict=True):
        name = station.category if len({s.category for s in network.stations}) > 1 else f"b{station.bss}"
        found[name] = found.get(name, 0.0) + 8e-6 * (b - a) / network.seconds
    return {"total": sum(found.values()), **found}


def set_defaults(link: Link) -> None:
    """Attempts of a frame, and sizes of A-MPDUs and A-MSDUs."""
    ns.Config.SetDefault("ns3::WifiMac::FrameRetryLimit", ns.UintegerValue(7))
    ns.Config.SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", ns.UintegerValue(4692480))
    for category in CATEGORIES:
        ampdu = link.ampdu_bytes or GREATEST_AMPDU[link.standard]
        ns.Config.SetDefault(f"ns3::WifiMac::{category.upper()}_MaxAmpduSize", ns.UintegerValue(ampdu))
        ns.Config.SetDefault(f"ns3::WifiMac::{category.upper()}_MaxAmsduSize", ns.UintegerValue(link.amsdu_bytes or 0))


def place(nodes, network: Network) -> None:
    """Where APs and stations are, and where they go."""
    places = [*network.aps, *(station.place for station in network.stations)]
    targets = [*(None for _ in network.aps), *(station.walks_to for station in network.stations)]
    for number, (start, target) in enumerate(zip(places, targets, strict=True)):
        if target is None:
            model = ns.CreateObject[ns.ConstantPositionMobilityModel]()
            model.SetPosition(ns.Vector(start[0], start[1], 0))
        else:
            model = ns.CreateObject[ns.WaypointMobilityModel]()
            for at_s, (x, y) in ((0.0, start), (network.warmup, start), (network.warmup + network.seconds, target)):
                model.AddWaypoint(ns.Waypoint(ns.Seconds(at_s), ns.Vector(x, y, 0)))
        nodes.Get(number).AggregateObject(model)


def install(nodes, network: Network):
    """The Wi-Fi devices of all nodes, on one channel or round one primary channel."""
    delay = ns.CreateObject[ns.ConstantSpeedPropagationDelayModel]()
    loss = ns.CreateObject[ns.LogDistancePropagationLossModel]()
    if not network.widths_mhz:
        channel = ns.CreateObject[ns.YansWifiChannel]()
        channel.SetPropagationLossModel(loss)
        channel.SetPropagationDelayModel(delay)
        return install_some(nodes, network.link, ns.YansWifiPhyHelper(), channel)
    # To a YansWifiPhy a channel of another width is another channel.
    channel = ns.CreateObject[ns.MultiModelSpectrumChannel]()
    channel.AddPropagationLossModel(loss)
    channel.SetPropagationDelayModel(delay)
    bss_of = [*range(len(network.aps)), *(station.bss for station in network.stations)]
    devices = ns.NetDeviceContainer()
    for number, bss in enumerate(bss_of):
        width_mhz = network.widths_mhz[bss]
        link = network.link._replace(channel=CENTRES[width_mhz], width_mhz=width_mhz)
        devices.Add(install_some(ns.NodeContainer(nodes.Get(number)), link, ns.SpectrumWifiPhyHelper(), channel))
    return devices


def install_some(nodes, link: Link, phy, channel):
    """Devices of one width."""
    phy.SetChannel(channel)
    phy.Set("ChannelSettings", ns.StringValue(f"{{{link.channel}, {link.width_mhz}, BAND_5GHZ, 0}}"))
    for name in ("Antennas", "MaxSupportedTxSpatialStreams", "MaxSupportedRxSpatialStreams"):
        phy.Set(name, ns.UintegerValue(link.streams))
    phy.SetErrorRateModel("ns3::NistErrorRateModel")
    wifi = ns.WifiHelper()
    wifi.SetStandard(getattr(ns, f"WIFI_STANDARD_{link.standard.replace('.', '')}"))
    if link.standard == "802.11ax":
        wifi.ConfigHeOptions("GuardInterval", ns.TimeValue(ns.NanoSeconds(link.gi_ns)))
    else:
        wifi.ConfigHtOptions("ShortGuardIntervalSupported", ns.BooleanValue(link.gi_ns == 400))
    mode = {"802.11n": "Ht", "802.11ac": "Vht", "802.11ax": "He"}[link.standard]
    if link.minstrel:
        wifi.SetRemoteStationManager("ns3::MinstrelHtWifiManager")
    else:
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", ns.StringValue(f"{mode}Mcs{link.mcs}"))
    mac = ns.WifiMacHelper()
    mac.SetType("ns3::AdhocWifiMac", "Ssid", ns.SsidValue(ns.Ssid("cell")))
    return wifi.Install(phy, mac, nodes)


if __name__ == "__main__":
    rows.main(((network.name, network.seconds, partial(measure, network)) for network in NETWORKS), seeds=3)
