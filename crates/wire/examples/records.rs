//! Prints a capture, one line for each packet.
//!
//! `cargo run -p lasthop-wire --example records -- FILE.pcapng`

use lasthop_wire::capture::{LinkType, Packet, Reader, Record};
use lasthop_wire::ieee80211::{self, Frame};
use lasthop_wire::tcp::Segment;
use lasthop_wire::{Error, EtherType, Ethernet, Radiotap, Tcp, ip, parse_llc_snap};

/// A packet in words.
fn told(packet: &Packet<'_>) -> Result<String, Error> {
    match packet.link_type {
        LinkType::ETHERNET => {
            let (header, payload) = Ethernet::parse(packet.bytes)?;
            told_network(header.ether_type, payload)
        }
        LinkType::RADIOTAP => {
            let (radiotap, bytes) = Radiotap::parse(packet.bytes)?;
            let length = packet.original_length as usize - (packet.bytes.len() - bytes.len());
            let frame = if radiotap.has_fcs() { ieee80211::split_fcs(bytes, length).0 } else { bytes };
            told_frame(frame)
        }
        LinkType::IEEE_802_11 => told_frame(packet.bytes),
        LinkType::RAW_IP => told_ip(packet.bytes),
        LinkType(other) => Ok(format!("link type {other}")),
    }
}

/// A frame of 802.11 in words.
fn told_frame(bytes: &[u8]) -> Result<String, Error> {
    match Frame::parse(bytes)? {
        Frame::Data(data) => match parse_llc_snap(data.body) {
            Ok(Some((ether_type, payload))) => told_network(ether_type, payload),
            _ => Ok(format!("data from {} to {}", data.source(), data.destination())),
        },
        frame => Ok(format!("{frame:?}")),
    }
}

/// The payload of a link, in words.
fn told_network(ether_type: EtherType, payload: &[u8]) -> Result<String, Error> {
    match ether_type {
        EtherType::IPV4 | EtherType::IPV6 => told_ip(payload),
        EtherType(other) => Ok(format!("type {other:04x}")),
    }
}

/// A packet of IP in words.
fn told_ip(bytes: &[u8]) -> Result<String, Error> {
    let (header, payload) = ip::Ip::parse(bytes)?;
    let (from, to) = (header.addresses().source(), header.addresses().destination());
    if header.protocol() != ip::protocol::TCP || header.is_later_fragment() {
        return Ok(format!("{from} to {to}, protocol {}", header.protocol()));
    }
    let Segment { header: tcp, header_length, .. } = Tcp::parse(payload)?;
    let length = header.payload_length().saturating_sub(header_length);
    Ok(format!(
        "{from} to {to}: seq {} ack {} length {length} {:?}",
        tcp.sequence, tcp.acknowledgement, tcp.options.sack
    ))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let mut reader = Reader::new(std::fs::File::open(path)?);
        while let Some(record) = reader.record()? {
            if let Record::Packet(packet) = record {
                let words = told(&packet).unwrap_or_else(|error| error.to_string());
                println!("{:?} {words}", packet.time_ns);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_wire::Payload;
    use lasthop_wire::capture::PacketOptions;

    #[test]
    fn segment_is_read_without_its_payload() {
        let segment = Tcp { sequence: 7, ..Tcp::default() };
        let header = ip::Ipv4 { protocol: 6, payload_length: 1020, ..ip::Ipv4::default() };
        let mut bytes = Vec::new();
        header.append(&mut bytes);
        segment.append(&header.addresses(), Payload::zeros(1000), &mut bytes);
        let packet = Packet {
            interface: 0,
            link_type: LinkType::RAW_IP,
            time_ns: None,
            original_length: 1040,
            bytes: &bytes,
            options: PacketOptions::default(),
        };
        assert_eq!(told(&packet), Ok("0.0.0.0 to 0.0.0.0: seq 7 ack 0 length 1000 []".to_owned()));
    }
}
