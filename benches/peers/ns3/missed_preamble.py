"""A station that sends as a long PPDU of another begins, for ns-3.44's Python bindings: does it defer to the rest of it?

Node 0 sends an A-MPDU of 4 MPDUs, 4.7 ms, to node 2; node 1, which begins to send at the same instant, so that it misses
the preamble, has another short frame for node 2 every 300 us. Printed is when each begins a PPDU, from what ns-3 captures
at both. Controls: `--late` lets node 1 have its first frame only when the A-MPDU is under way, so that it has received the
preamble; `--burst` makes the A-MPDU shorter; `--cca-sensitivity` moves the level from which on ns-3 notices a PPDU.
"""

from __future__ import annotations

import argparse
import gc
import struct
import tempfile
from collections import Counter
from pathlib import Path

from ns import ns

# Log-distance path loss with exponent 3 and 46.6777 dB at 1 m, the values of ns-3.
TX_DBM, REFERENCE_DB, EXPONENT = 16.0, 46.6777, 3.0
MEET_S, BURST, BURST_BYTES, SHORT_BYTES, EVERY_S, SHORT = 1.0, 5, 1000, 60, 300e-6, 16


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--power", type=float, nargs="+", default=[-70.0], help="of nodes 0 and 1 at each other, dBm")
    parser.add_argument("--width", type=int, default=20, help="MHz")
    parser.add_argument("--standard", default="80211ax")
    parser.add_argument("--mode", default="HeMcs0")
    parser.add_argument("--burst", type=int, default=BURST, help="frames of 1000 B that node 0 has at once")
    parser.add_argument("--cca-sensitivity", type=float, help="ns-3's CcaSensitivity in dBm, if not its default of -82")
    parser.add_argument("--late", action="store_true")
    return parser.parse_args()


def frames(path: Path) -> list[tuple[float, bytes]]:
    """Time and MPDU of each record of a capture with radiotap headers."""
    data, found, at = path.read_bytes(), [], 24
    while at < len(data):
        seconds, micros, length, _ = struct.unpack_from("<IIII", data, at)
        record = data[at + 16 : at + 16 + length]
        found.append((seconds + micros * 1e-6, record[struct.unpack_from("<H", record, 2)[0] :]))
        at += 16 + length
    return found


def run(given: argparse.Namespace, power_dbm: float, folder: Path) -> list[bytes]:
    nodes = ns.NodeContainer(3)
    # Nodes 0 and 1 are at the distance at which they hear each other at this power; node 2 is between them.
    distance = 10 ** ((TX_DBM - REFERENCE_DB - power_dbm) / (10 * EXPONENT))
    places = ns.CreateObject[ns.ListPositionAllocator]()
    for x in (0.0, distance, distance / 2):
        places.Add(ns.Vector(x, 0.0, 0.0))
    mobility = ns.MobilityHelper()
    mobility.SetPositionAllocator(places)
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel")
    mobility.Install(nodes)
    channel = ns.YansWifiChannelHelper()
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel")
    channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel", "Exponent", ns.DoubleValue(EXPONENT))
    phy = ns.YansWifiPhyHelper()
    phy.SetChannel(channel.Create())
    phy.Set("ChannelSettings", ns.StringValue(f"{{0, {given.width}, BAND_5GHZ, 0}}"))
    for key in ("TxPowerStart", "TxPowerEnd"):
        phy.Set(key, ns.DoubleValue(TX_DBM))
    if given.cca_sensitivity is not None:
        phy.Set("CcaSensitivity", ns.DoubleValue(given.cca_sensitivity))
    phy.SetPcapDataLinkType(ns.WifiPhyHelper.DLT_IEEE802_11_RADIO)
    wifi = ns.WifiHelper()
    wifi.SetStandard(getattr(ns, f"WIFI_STANDARD_{given.standard}"))
    control = "OfdmRate6Mbps"
    wifi.SetRemoteStationManager(
        "ns3::ConstantRateWifiManager", "DataMode", ns.StringValue(given.mode), "ControlMode", ns.StringValue(control)
    )
    mac = ns.WifiMacHelper()
    mac.SetType("ns3::AdhocWifiMac")
    devices = wifi.Install(phy, mac, nodes)
    ns.PacketSocketHelper().Install(nodes)
    phy.EnablePcap(str(folder / "node"), devices)

    def send(node: int, start_s: float, size: int, count: int, interval_s: float) -> None:
        address = ns.PacketSocketAddress()
        address.SetSingleDevice(devices.Get(node).GetIfIndex())
        address.SetPhysicalAddress(devices.Get(2).GetAddress())
        address.SetProtocol(1)
        client = ns.CreateObject[ns.PacketSocketClient]()
        client.SetAttribute("PacketSize", ns.UintegerValue(size))
        client.SetAttribute("MaxPackets", ns.UintegerValue(count))
        client.SetAttribute("Interval", ns.TimeValue(ns.Seconds(interval_s)))
        client.SetRemote(address)
        nodes.Get(node).AddApplication(client)
        client.SetStartTime(ns.Seconds(start_s))

    # Block Ack agreements first.
    for node in (0, 1):
        send(node, 0.1 + 0.2 * node, SHORT_BYTES, 5, 0.01)
    send(0, MEET_S, BURST_BYTES, given.burst, 0.0)
    send(1, MEET_S + (1e-3 if given.late else 0.0), SHORT_BYTES, SHORT, EVERY_S)
    ns.Simulator.Stop(ns.Seconds(MEET_S + 0.1))
    ns.Simulator.Run()
    own = [bytes.fromhex(str(devices.Get(i).GetAddress())[-17:].replace(":", "")) for i in range(2)]
    ns.Simulator.Destroy()
    return own


def report(power_dbm: float, own: list[bytes], captured: list[list[tuple[float, bytes]]]) -> None:
    """When each node began to send after both had something, with the number of MPDUs where that is not one."""
    told = []
    for address, of_node in zip(own, captured, strict=True):
        mine = Counter(round(1e6 * (at - MEET_S)) for at, mpdu in of_node if at >= MEET_S and mpdu[10:16] == address)
        told.append(" ".join(f"{at}" + (f" (of {n})" if n > 1 else "") for at, n in sorted(mine.items())[:16]))
    print(f"{power_dbm:6.1f} dBm: node 0 at {told[0]} us; node 1 at {told[1]} us", flush=True)


if __name__ == "__main__":
    given = arguments()
    for power_dbm in given.power:
        with tempfile.TemporaryDirectory() as folder:
            own = run(given, power_dbm, Path(folder))
            # ns-3 writes the rest of its captures once its nodes have no references left.
            gc.collect()
            report(power_dbm, own, [frames(Path(folder) / f"node-{i}-0.pcap") for i in range(2)])
