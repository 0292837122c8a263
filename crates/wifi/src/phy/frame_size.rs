//! Sizes of what a MAC puts round its payload, in bytes. [802.11-2020 §9.2, §9.3]

use lasthop_units::Bytes;

/// MAC header of a data frame without QoS: three addresses. [802.11-2020 §9.3.2.1]
pub const DATA_HEADER: Bytes = Bytes(24);
/// LLC and SNAP headers before an IP packet. [802.11-2020 Annex M; RFC 1042]
pub const LLC_SNAP: Bytes = Bytes(8);
/// Frame check sequence. [802.11-2020 §9.2.4.8]
pub const FCS: Bytes = Bytes(4);
/// Ack frame with its FCS. [802.11-2020 §9.3.1.4]
pub const ACK: Bytes = Bytes(14);
/// CTS frame with its FCS. [802.11-2020 §9.3.1.3]
pub const CTS: Bytes = Bytes(14);
/// RTS frame with its FCS. [802.11-2020 §9.3.1.2]
pub const RTS: Bytes = Bytes(20);

/// The MPDU that carries an IP packet: header, LLC/SNAP, packet, FCS.
pub const fn data_mpdu(packet: Bytes) -> Bytes {
    Bytes(DATA_HEADER.0 + LLC_SNAP.0 + packet.0 + FCS.0)
}
