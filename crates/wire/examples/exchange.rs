//! Writes a capture: an A-MPDU of two segments and the BlockAck for it, each frame cut off after 128 bytes.
//!
//! `cargo run -p lasthop-wire --example exchange -- FILE.pcapng`

use std::io::{self, Write};

use lasthop_wire::capture::{Interface, LinkType, Name, NamedAddress, PacketOptions};
use lasthop_wire::ieee80211::{Bitmap, BlockAck, Data, Delimiter, FrameFlags, QosControl, SequenceControl};
use lasthop_wire::ip::{Ipv4, protocol};
use lasthop_wire::radiotap::{AmpduStatus, Channel, Flags, Mcs, Timestamp};
use lasthop_wire::tcp::{TcpFlags, TcpOptions, Timestamps};
use lasthop_wire::{EtherType, MacAddress, Payload, PcapNg, Radiotap, Tcp, append_fcs, append_llc_snap};

const AP: MacAddress = MacAddress::local(1);
const STATION: MacAddress = MacAddress::local(2);
const SERVER: MacAddress = MacAddress::local(3);
/// Bytes of a packet that are stored.
const SNAP: u32 = 128;
/// Payload of a segment in bytes.
const PAYLOAD: u16 = 1448;
/// Bytes of the FCS.
const FCS: usize = 4;

/// The radiotap header of a frame that began at `time_ns`.
fn radio(time_ns: u64) -> Radiotap {
    Radiotap {
        tsft_us: Some(time_ns / 1000),
        flags: Some(Flags::FCS_AT_END),
        channel: Some(Channel { mhz: 5180, flags: Channel::GHZ_5 | Channel::OFDM }),
        signal_dbm: Some(-50),
        timestamp: Some(Timestamp::ppdu_start_ns(time_ns)),
        ..Radiotap::default()
    }
}

/// Appends a frame with a segment whose payload is zeros, without payload and FCS; returns the length of the frame.
fn append_segment(number: u16, sequence: u32, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    let frame = Data {
        sequence: SequenceControl::whole(number),
        qos: Some(QosControl::default()),
        duration_us: 48,
        ..Data::to_ap(STATION, AP, SERVER)
    };
    let tcp = Tcp {
        source_port: 40_000,
        destination_port: 5201,
        sequence,
        acknowledgement: 1,
        flags: TcpFlags::ACK,
        window: 502,
        urgent: 0,
        options: TcpOptions { timestamps: Some(Timestamps { value: 7, echo: 3 }), ..TcpOptions::default() },
    };
    let ip = Ipv4 {
        protocol: protocol::TCP,
        source: [10, 0, 0, 2].into(),
        destination: [10, 0, 0, 1].into(),
        payload_length: tcp.header_length() as u16 + PAYLOAD,
        ..Ipv4::default()
    };
    frame.append(out);
    append_llc_snap(EtherType::IPV4, out);
    ip.append(out);
    tcp.append(&ip.addresses(), Payload::zeros(PAYLOAD.into()), out);
    out.len() - start + usize::from(PAYLOAD) + FCS
}

/// Writes the exchange.
fn write(writer: impl Write) -> io::Result<impl Write> {
    let mut file = PcapNg::new(writer)?;
    let address = |last| NamedAddress::V4([10, 0, 0, last].into());
    file.names([Name { address: address(1), name: "server" }, Name { address: address(2), name: "sta1" }])?;
    let link_type = LinkType::RADIOTAP;
    let air = file.interface(&Interface { link_type, snap_length: SNAP, name: Some("air"), ..Interface::default() })?;
    let mut bytes = Vec::new();
    for number in 0..2_u16 {
        bytes.clear();
        let start = 1_000_000;
        let mcs = Some(Mcs::mixed(7, 20, false));
        let mut frame = Vec::new();
        let length = append_segment(number, 1 + u32::from(number * PAYLOAD), &mut frame);
        let delimiter = Delimiter { end_of_frame: false, length: length as u16 };
        let delimiter_crc = Some(delimiter.bytes()[2]);
        let ampdu =
            Some(AmpduStatus { reference: 1, is_last: Some(number == 1), delimiter_crc, ..AmpduStatus::default() });
        let radiotap = Radiotap { mcs, ampdu, ..radio(start) };
        let original_length = radiotap.length() + length;
        radiotap.append(&mut bytes);
        bytes.extend_from_slice(&frame);
        bytes.resize(original_length - FCS, 0);
        let options = PacketOptions { packet_id: Some(number.into()), ..PacketOptions::default() };
        file.packet(air, start, original_length as u32, &bytes, &options)?;
    }
    bytes.clear();
    let start = 1_420_000;
    Radiotap { rate_500kbps: Some(48), ..radio(start) }.append(&mut bytes);
    let frame = bytes.len();
    let bitmap = Bitmap::Of64(0b11);
    let flags = FrameFlags::NONE;
    BlockAck { flags, receiver: STATION, transmitter: AP, bitmap, ..BlockAck::default() }.append(&mut bytes);
    append_fcs(&mut bytes, frame);
    file.packet(air, start, bytes.len() as u32, &bytes, &PacketOptions::default())?;
    file.finish()
}

fn main() -> io::Result<()> {
    for path in std::env::args_os().skip(1) {
        write(io::BufWriter::new(std::fs::File::create(path)?))?.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_wire::capture::{Record, Records};
    use lasthop_wire::ieee80211::{Frame, fcs_is_good};

    #[test]
    fn a_frame_that_was_cut_off_keeps_its_length_and_a_short_one_its_fcs() {
        let mut file = Vec::new();
        drop(write(&mut file).unwrap());
        let packets: Vec<_> = Records::new(&file)
            .filter_map(|record| match record.unwrap() {
                Record::Packet(packet) => Some(packet),
                _ => None,
            })
            .collect();
        assert_eq!(packets.iter().map(|packet| packet.bytes.len()).collect::<Vec<_>>()[..2], [128, 128]);
        let (radiotap, frame) = Radiotap::parse(packets[1].bytes).unwrap();
        assert_eq!(radiotap.ampdu.unwrap().is_last, Some(true));
        // 26 of the MAC, 8 of LLC and SNAP, 20 + 32 of IP and TCP, 1448 of payload, 4 of the FCS.
        let header = packets[1].bytes.len() - frame.len();
        assert_eq!(packets[1].original_length as usize - header, 26 + 8 + 52 + 1448 + 4);
        let (_, last) = Radiotap::parse(packets[2].bytes).unwrap();
        assert_eq!(fcs_is_good(last, last.len()), Some(true));
        assert!(matches!(Frame::parse(last), Ok(Frame::BlockAck(block_ack)) if block_ack.acknowledges(1)));
    }
}
