//! Fields of a TCP segment over IPv4.

/// Number of bytes of TCP data in an IPv4 packet.
pub fn data_bytes(packet: &[u8]) -> usize {
    let header = usize::from(packet[0] & 15) * 4;
    packet.len() - header - usize::from(packet[header + 12] >> 4) * 4
}
