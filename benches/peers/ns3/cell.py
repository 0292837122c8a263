"""One access point with stations round it, for ns-3.44's Python bindings; the scenarios use this file.

Nothing of Python runs while ns-3 simulates: it only builds the scenario and reads the counters.
"""

from __future__ import annotations

import argparse
import resource

from ns import ns


def arguments(stations: int, queue: str = "50p") -> argparse.Namespace:
    """What every scenario takes, times in seconds; every MAC has a queue of `queue`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--stations", type=int, default=stations)
    parser.add_argument("--duration", type=float, default=10)
    parser.add_argument("--warmup", type=float, default=2)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    ns.RngSeedManager.SetRun(given.seed)
    # No lifetime in the MAC's queue, which is the only one.
    ns.Config.SetDefault("ns3::WifiMacQueue::MaxSize", ns.QueueSizeValue(ns.QueueSize(queue)))
    ns.Config.SetDefault("ns3::WifiMacQueue::MaxDelay", ns.TimeValue(ns.Seconds(1000)))
    return given


class Cell:
    """The access point and its stations; every frame arrives everywhere with the same power."""

    def __init__(self, stations: int, standard: str, rate: str, *, infrastructure: bool) -> None:
        self.ap, self.stations = ns.NodeContainer(1), ns.NodeContainer(stations)
        channel = ns.YansWifiChannelHelper()
        channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel")
        channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", ns.DoubleValue(-50))
        self._phy = ns.YansWifiPhyHelper()
        self._phy.SetChannel(channel.Create())
        self._wifi = ns.WifiHelper()
        self._wifi.SetStandard(getattr(ns, f"WIFI_STANDARD_{standard}"))
        if standard == "80211n":
            self._set_40_mhz_and_two_streams()
        self._wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", ns.StringValue(rate))
        for nodes in (self.ap, self.stations):
            mobility = ns.MobilityHelper()
            mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel")
            mobility.Install(nodes)
        kinds = ("ns3::ApWifiMac", "ns3::StaWifiMac") if infrastructure else ("ns3::AdhocWifiMac", "ns3::AdhocWifiMac")
        self.ap_device, self.station_devices = self._devices(kinds[0], self.ap), self._devices(kinds[1], self.stations)
        internet = ns.InternetStackHelper()
        internet.Install(self.ap)
        internet.Install(self.stations)
        self.ap_address = self._address(self.ap_device)
        self.station_addresses = self._address(self.station_devices)

    def _set_40_mhz_and_two_streams(self) -> None:
        """300 Mbit/s with HtMcs15; the TXOP limit of best effort is 0 as ns-3 has it."""
        self._phy.Set("ChannelSettings", ns.StringValue("{0, 40, BAND_5GHZ, 0}"))
        for number in ("Antennas", "MaxSupportedTxSpatialStreams", "MaxSupportedRxSpatialStreams"):
            self._phy.Set(number, ns.UintegerValue(2))
        ns.Config.SetDefault("ns3::HtConfiguration::ShortGuardIntervalSupported", ns.BooleanValue(True))

    def _devices(self, mac_type: str, nodes: ns.NodeContainer) -> ns.NetDeviceContainer:
        mac = ns.WifiMacHelper()
        mac.SetType(mac_type, "Ssid", ns.SsidValue(ns.Ssid("bench")))
        return self._wifi.Install(self._phy, mac, nodes)

    def _address(self, devices: ns.NetDeviceContainer) -> ns.Ipv4InterfaceContainer:
        if not hasattr(self, "_addresses"):
            self._addresses = ns.Ipv4AddressHelper()
            self._addresses.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.0.0"))
        interfaces = self._addresses.Assign(devices)
        # The default queue discipline, FQ-CoDel, would come before the MAC's queue.
        ns.TrafficControlHelper().Uninstall(devices)
        return interfaces


def run_and_print(given: argparse.Namespace, sinks: ns.ApplicationContainer) -> None:
    """Runs to the end; prints the CPU time at the end of the warm-up and at the end, and the goodput between."""
    neighbours = ns.NeighborCacheHelper()
    neighbours.PopulateNeighborCache()
    run_for(given.warmup)
    # Before the clock is read: the bindings compile what they call when they call it first.
    before = delivered(sinks)
    print_cpu()
    run_for(given.duration - given.warmup)
    print_cpu()
    print("goodput_bps", 8 * (delivered(sinks) - before) / (given.duration - given.warmup))
    ns.Simulator.Destroy()


def run_for(seconds: float) -> None:
    """Goes on for so much simulated time."""
    ns.Simulator.Stop(ns.Seconds(seconds))
    ns.Simulator.Run()


def print_cpu() -> None:
    """What this process has used so far, start-up included."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    print("cpu_s", used.ru_utime + used.ru_stime)


def delivered(sinks: ns.ApplicationContainer) -> int:
    """Bytes that the sinks have received."""
    return sum(sinks.Get(i).GetObject[ns.PacketSink]().GetTotalRx() for i in range(sinks.GetN()))
