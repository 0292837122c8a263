//! A first look at all captures: who is there, and which flows. What is measured needs to know both beforehand.

use std::collections::BTreeMap;
use std::net::IpAddr;

use lasthop_wire::MacAddress;
use lasthop_wire::ieee80211::{Data, Frame};
use lasthop_wire::tcp::TcpFlags;

use crate::durations::Sending;
use crate::frame::{End, Heard, Packet, Seen, Transport, packets_of, read};
use crate::input::Captured;

/// A connection: its ends in order, and whether it is of TCP.
pub(crate) type Connection = (End, End, bool);

/// The connection of a packet, and whether the packet goes from its first end to its second.
pub(crate) fn connection_of(packet: &Packet) -> (Connection, bool) {
    let is_tcp = matches!(packet.transport, Transport::Tcp(_));
    match packet.from <= packet.to {
        true => ((packet.from, packet.to, is_tcp), true),
        false => ((packet.to, packet.from, is_tcp), false),
    }
}

/// What a file holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileSeen {
    pub packets: u64,
    pub heard: u64,
    pub wired: u64,
    /// packets that do not parse
    pub unread: u64,
}

/// Somebody who sends frames.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeSeen {
    pub is_ap: bool,
    /// of a station, the BSSID of its latest data frame
    pub bssid: Option<MacAddress>,
}

/// What goes one way over a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaySeen {
    pub bytes: u64,
    /// packets with data
    pub packets: u64,
    /// for each file, when the first data passed there
    pub first_data_ns: BTreeMap<usize, i64>,
    /// it opened the connection
    pub opens: bool,
}

/// All that was seen.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub files: Vec<FileSeen>,
    pub nodes: BTreeMap<MacAddress, NodeSeen>,
    /// centre frequencies in MHz
    pub channels: Vec<u16>,
    pub stations: BTreeMap<IpAddr, MacAddress>,
    /// by connection: a number in the order of appearance, and both ways
    pub connections: BTreeMap<Connection, (usize, [WaySeen; 2])>,
    pub span_ns: Option<(i64, i64)>,
    /// the latest frame: how it was sent, and its bytes
    pub latest_frame: Option<(Sending, u32)>,
}

impl Survey {
    pub(crate) fn new(files: usize) -> Survey {
        Survey { files: vec![FileSeen::default(); files], ..Survey::default() }
    }

    pub(crate) fn look(&mut self, file: usize, captured: &Captured) {
        let at = captured.time_ns;
        let (first, last) = self.span_ns.unwrap_or((at, at));
        self.span_ns = Some((first.min(at), last.max(at)));
        self.files[file].packets += 1;
        match read(captured) {
            Ok(Seen::Air(heard)) => {
                self.files[file].heard += 1;
                self.latest_frame = Sending::of(&heard.radiotap).map(|sending| (sending, heard.length));
                if heard.is_good {
                    self.look_at_frame(file, at, &heard);
                }
            }
            Ok(Seen::Wired(packet)) => {
                self.files[file].wired += 1;
                self.look_at_packet(file, at, &packet);
            }
            Ok(Seen::Other) => {}
            Err(_) => self.files[file].unread += 1,
        }
    }

    fn look_at_frame(&mut self, file: usize, at: i64, heard: &Heard<'_>) {
        if let Some(channel) = heard.radiotap.channel
            && !self.channels.contains(&channel.mhz)
        {
            self.channels.push(channel.mhz);
        }
        match &heard.frame {
            Frame::Data(data) => self.look_at_data(file, at, data),
            Frame::Beacon(beacon) => self.nodes.entry(beacon.transmitter).or_default().is_ap = true,
            _ => {}
        }
    }

    fn look_at_data(&mut self, file: usize, at: i64, data: &Data<'_>) {
        let Some(bssid) = data.bssid() else { return };
        self.nodes.entry(bssid).or_default().is_ap = true;
        let station = if data.address_2 == bssid { data.address_1 } else { data.address_2 };
        let is_station = station != bssid && !station.is_group();
        if is_station {
            self.nodes.entry(station).or_default().bssid = Some(bssid);
        }
        packets_of(data, |packet| {
            if is_station {
                let own = if data.address_2 == bssid { packet.to.0 } else { packet.from.0 };
                self.stations.insert(own, station);
            }
            self.look_at_packet(file, at, &packet);
        });
    }

    fn look_at_packet(&mut self, file: usize, at: i64, packet: &Packet) {
        let number = self.connections.len();
        let (connection, is_first_way) = connection_of(packet);
        let (_, ways) = self.connections.entry(connection).or_insert_with(|| (number, Default::default()));
        let way = &mut ways[usize::from(!is_first_way)];
        let bytes = match &packet.transport {
            Transport::Udp { bytes } => *bytes,
            Transport::Tcp(segment) => {
                way.opens |= segment.flags.contains(TcpFlags::SYN) && !segment.flags.contains(TcpFlags::ACK);
                segment.payload
            }
        };
        if bytes > 0 {
            way.bytes += u64::from(bytes);
            way.packets += 1;
            way.first_data_ns.entry(file).or_insert(at);
        }
    }
}
