//! Sizes of the fields that a MAC adds to its payload, in bytes. [802.11-2020 §9.2, §9.3]

use lasthop_units::Bytes;

/// MAC header of a data frame without QoS: three addresses. [802.11-2020 §9.3.2.1]
pub const DATA_HEADER: Bytes = Bytes(24);
/// MAC header of a QoS data frame: additionally QoS Control. [802.11-2020 §9.2.4.5]
pub const QOS_DATA_HEADER: Bytes = Bytes(26);
/// LLC and SNAP headers before an IP packet. [802.11-2020 Annex M; RFC 1042]
pub const LLC_SNAP: Bytes = Bytes(8);
/// Frame check sequence. [802.11-2020 §9.2.4.8]
pub const FCS: Bytes = Bytes(4);
/// Header and MIC of CCMP, around the body of a data frame. [802.11-2020 §12.5.3.2]
pub const CCMP: Bytes = Bytes(8 + 8);
/// Ack frame with its FCS. [802.11-2020 §9.3.1.4]
pub const ACK: Bytes = Bytes(14);
/// CTS frame with its FCS. [802.11-2020 §9.3.1.3]
pub const CTS: Bytes = Bytes(14);
/// RTS frame with its FCS. [802.11-2020 §9.3.1.2]
pub const RTS: Bytes = Bytes(20);
/// CF-End frame with its FCS. [802.11-2020 §9.3.1.6]
pub const CF_END: Bytes = Bytes(20);
/// BlockAckReq frame, compressed, with its FCS. [802.11-2020 §9.3.1.7.2]
pub const BLOCK_ACK_REQ: Bytes = Bytes(24);
/// Delimiter before each MPDU of an A-MPDU. [802.11-2020 §9.7.1]
pub const AMPDU_DELIMITER: Bytes = Bytes(4);
/// Header of each subframe of an A-MSDU: two addresses and a length. [802.11-2020 §9.3.2.2.2]
pub const AMSDU_SUBFRAME_HEADER: Bytes = Bytes(14);

/// BlockAck frame, compressed, with a bitmap for `window` frames and its FCS: 32 bytes for 64 frames, 56 for
/// 256. [802.11-2020 §9.3.1.8.2; 802.11ax-2021 §9.3.1.8.2]
pub const fn block_ack(window: u16) -> Bytes {
    // Frame Control, Duration, two addresses, BA Control, starting sequence number; bitmap; FCS.
    let bitmap = if window <= 64 { 8 } else { 32 };
    Bytes(2 + 2 + 12 + 2 + 2 + bitmap + FCS.0)
}

/// A length filled up to a multiple of four, as for MPDUs in an A-MPDU and subframes of an A-MSDU, except the last.
/// [802.11-2020 §9.7.1, §9.3.2.2.2]
pub const fn padded(length: Bytes) -> Bytes {
    Bytes(length.0.next_multiple_of(4))
}

/// The QoS MPDU that carries an IP packet: header, LLC/SNAP, packet, FCS.
pub const fn qos_data_mpdu(packet: Bytes) -> Bytes {
    Bytes(QOS_DATA_HEADER.0 + LLC_SNAP.0 + packet.0 + FCS.0)
}

/// The subframe of an A-MSDU that carries an IP packet, without padding.
pub const fn amsdu_subframe(packet: Bytes) -> Bytes {
    Bytes(AMSDU_SUBFRAME_HEADER.0 + LLC_SNAP.0 + packet.0)
}

/// The PSDU of an MPDU that is the last, or the only one, of an A-MPDU.
pub const fn ampdu_subframe(mpdu: Bytes) -> Bytes {
    Bytes(AMPDU_DELIMITER.0 + mpdu.0)
}

/// The MPDU that carries an IP packet: header, LLC/SNAP, packet, FCS.
pub const fn data_mpdu(packet: Bytes) -> Bytes {
    Bytes(DATA_HEADER.0 + LLC_SNAP.0 + packet.0 + FCS.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ampdu_of_42_packets_is_the_longest_below_65535_bytes() {
        // Each MPDU has 26 + 8 + 1500 + 4 = 1538 bytes, with delimiter and padding 1544; the last has no padding.
        let subframe = ampdu_subframe(qos_data_mpdu(Bytes(1500)));
        assert_eq!(subframe, Bytes(1542));
        let ampdu = |n: u64| (n - 1) * padded(subframe).0 + subframe.0;
        assert_eq!((ampdu(42), ampdu(43)), (64_846, 66_390));
    }

    #[test]
    fn block_acks_grow_with_their_bitmap() {
        assert_eq!((block_ack(64), block_ack(256), BLOCK_ACK_REQ), (Bytes(32), Bytes(56), Bytes(24)));
    }

    #[test]
    fn an_amsdu_subframe_of_a_packet_has_22_bytes_more() {
        assert_eq!((amsdu_subframe(Bytes(1500)), padded(amsdu_subframe(Bytes(1500)))), (Bytes(1522), Bytes(1524)));
    }
}
