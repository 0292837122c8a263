"""Counts the data frames of all nodes, and those that are sent again, in compiled code."""

from __future__ import annotations

import cppyy

cppyy.cppdef("""
namespace lasthop {
uint64_t frames, repeated;
void OnTransmission(ns3::Ptr<const ns3::Packet> packet, double) {
    ns3::WifiMacHeader header;
    packet->PeekHeader(header);
    if (header.IsData()) { ++frames; repeated += header.IsRetry(); }
}
void Count() {
    frames = repeated = 0;
    ns3::Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/Phy/PhyTxBegin",
                                       ns3::MakeCallback(&OnTransmission));
}
}
""")


def count_frames() -> None:
    """From now on."""
    cppyy.gbl.lasthop.Count()


def counted() -> tuple[int, int]:
    """Data frames, and those of them that carry the retry bit."""
    return cppyy.gbl.lasthop.frames, cppyy.gbl.lasthop.repeated
