"""The cells of `../cells.py` in ns-3.44: goodput of each group in Mbit/s and the share of repeated data frames.

    python contention.py [--seeds 5] [--only WORDS]

prints lines of `tests/data/ns3.csv`: cell, quantity, mean, standard deviation, seeds, seconds.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import rows
from cell import PORT, Cell, begin, fill_arp, ns, received, run_for, sink, source
from frames import count_frames, counted

sys.path.insert(0, str(Path(__file__).parents[1]))
from cells import CATEGORIES, CELLS, DSCP, MODES, UDP_HEADERS
from cells import Cell as Description

# Nothing is sent until then.
BEFORE_S = 0.1
LINK = 0
TIDS = {"bk": 1, "be": 0, "vi": 5, "vo": 6}
WARMUP_S = 1.0
# More than the channel carries: the total offered rate of a group, so that any group could have it all.
SATURATION_BPS = {"a54": 45e6, "a6": 8e6, "b11": 10e6, "n65": 60e6}


def measure(cell: Description, seed: int) -> dict[str, float]:
    """One seed."""
    begin(seed)
    standard, rate, _ = MODES[cell.mode]
    ns.Config.SetDefault("ns3::WifiMac::FrameRetryLimit", ns.UintegerValue(cell.attempts or 65535))
    for category in CATEGORIES:
        ns.Config.SetDefault(f"ns3::WifiMac::{category.upper()}_MaxAmpduSize", ns.UintegerValue(0))
    ns.Config.SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", ns.UintegerValue(0 if cell.rts else 65535))
    members = [(group, i) for group in cell.groups for i in range(group.count)]
    hidden = {(a, b): 300.0 for a in range(1, len(members) + 1) for b in range(1, a)} if cell.hidden else {}
    # RTS go at the rate of the responses, where they would go at 6 Mbit/s.
    control = {"ControlMode": "OfdmRate24Mbps"} if cell.mode == "a54" else {}
    manager = {"kind": "ConstantRateWifiManager", "DataMode": rate, **control}
    network = Cell(
        len(members),
        standard,
        manager,
        infrastructure=False,
        losses=hidden,
        prepare=lambda phy, mac: _prepare(phy, cell),
    )
    sinks = ns.ApplicationContainer()
    for number, (group, _) in enumerate(members, start=1):
        network.phy(number).SetTxPowerStart(16 - group.weaker_db)
        network.phy(number).SetTxPowerEnd(16 - group.weaker_db)
        sender, target = (number, 0) if group.direction == "up" else (0, number)
        sinks.Add(sink(network.nodes.Get(target), "Udp", PORT + number))
        bits = 8 * (group.packet_bytes - UDP_HEADERS)
        interval_s = (
            bits / (group.offered_mbps * 1e6) if group.offered_mbps else group.count * bits / SATURATION_BPS[cell.mode]
        )
        source(
            network.nodes.Get(sender),
            network.addresses.GetAddress(target),
            PORT + number,
            payload_bytes=group.packet_bytes - UDP_HEADERS,
            interval_s=interval_s,
            start_s=BEFORE_S + interval_s * (number / len(members) + seed * 0.618 % 1),
            tos=DSCP[group.category][1],
        )
    fill_arp()
    # Settings of a MAC before its initialisation are lost.
    run_for(BEFORE_S / 2)
    for node in range(len(members) + 1):
        _access(network, node, cell)
    run_for(WARMUP_S)
    count_frames()
    before = received(sinks)
    run_for(cell.seconds)
    after = received(sinks)
    frames, again = counted()
    ns.Simulator.Destroy()
    found: dict[str, float] = {}
    for (group, _), a, b in zip(members, before, after, strict=True):
        found[group.name] = found.get(group.name, 0.0) + 8e-6 * (b - a) / cell.seconds
    return {**found, "retries": again / frames}


def _prepare(phy, cell: Description) -> None:
    if cell.has_edca:
        phy.Set("ChannelSettings", ns.StringValue("{36, 20, BAND_5GHZ, 0}"))
    if cell.capture:
        phy.SetErrorRateModel("ns3::NistErrorRateModel")
    if cell.capture == "preamble":
        phy.SetFrameCaptureModel("ns3::SimpleFrameCaptureModel")


def _access(network: Cell, node: int, cell: Description) -> None:
    """AIFSN, contention window and TXOP limit of every category, or of the DCF."""
    mac = network.mac(node)
    aifsn = cell.ap_aifsn if node == 0 else None
    if not cell.has_edca:
        if aifsn is not None:
            mac.GetTxop().SetAifsn(aifsn, LINK)
        return
    for category, edca in cell.edca.items():
        function = mac.GetQosTxop(TIDS[category])
        function.SetMinCw(edca.cw_min, LINK)
        function.SetMaxCw(edca.cw_max, LINK)
        function.SetAifsn(edca.aifsn if aifsn is None else aifsn, LINK)
        function.SetTxopLimit(ns.MicroSeconds(edca.txop_us), LINK)


if __name__ == "__main__":
    rows.main(((cell.name, cell.seconds, partial(measure, cell)) for cell in CELLS), seeds=5)
