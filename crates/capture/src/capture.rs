//! The observer that writes captures.

use std::collections::BTreeMap;
use std::path::Path;

use lasthop_observe::detail::{Detail, FrameFacts, Mpdu, PacketFacts, Passage, PpduKind, PpduStart};
use lasthop_observe::{End, NodeId, Observer, Outcome, Record, Watcher};
use lasthop_units::Time;
use lasthop_wire::capture::{PacketFlags, PacketOptions};
use lasthop_wire::ieee80211::Bitmap;
use lasthop_wire::{EtherType, Ethernet, Radiotap};

use crate::airborne::{Agreed, Airborne, Content, Hearing, Named, Queue};
use crate::ccmp::PacketNumbers;
use crate::files::{Captured, Files, Which};
use crate::frame::{Built, build_control, build_data};
use crate::numbering::Numbering;
use crate::own_frames::OwnFrames;
use crate::packet::append_packet;
use crate::packets::{Held, Packets};
use crate::radio;
use crate::scoreboard::Scoreboard;
use crate::site::Site;

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;

/// Sender, receiver and TID.
type Agreement = (NodeId, NodeId, u8);

/// Writes the captures of a run.
pub struct Capture {
    site: Site,
    /// bytes of a frame that are stored
    snap: usize,
    files: Files,
    packets: Packets,
    frames: OwnFrames,
    queue: Queue,
    numbering: Numbering,
    packet_numbers: PacketNumbers,
    boards: BTreeMap<Agreement, Scoreboard>,
    /// the TID of the latest A-MPDU or BlockAckReq from one node to another
    asked: BTreeMap<(NodeId, NodeId), u8>,
    /// number of PPDUs written so far
    ppdus: u32,
    /// lowest TSFT of the next PPDU
    tsft_us: u64,
    /// a frame under construction
    built: Built,
    /// the frame with its radiotap header
    bytes: Vec<u8>,
}

/// The question of an MU-BAR to a station.
fn asked_of(tid: u8, start: u64) -> Agreed {
    Agreed { tid, start, bitmap: Bitmap::default() }
}

/// A frame of a PPDU, for all files that contain it.
struct Shared<'a> {
    ppdu: &'a Airborne,
    radiotap: Radiotap,
    /// true if its receiver decoded it
    is_good: bool,
    /// the reason why not
    comment: Option<&'static str>,
}

fn why(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Success => None,
        Outcome::Collision => Some("lost to a collision"),
        Outcome::Interference => Some("lost to interference"),
        Outcome::Interferer => Some("lost to an interferer"),
        Outcome::Noise => Some("lost to noise"),
        Outcome::Unknown => Some("lost"),
    }
}

impl Capture {
    /// Begins the captures of a run in a `folder`, which is created; `snap` bytes of each frame are stored, or all for
    /// 0.
    ///
    /// # Errors
    /// A sentence with the file that cannot be written, and the reason.
    pub fn new(site: Site, folder: &Path, snap: u32) -> Result<Capture, String> {
        let radiotap = radio::longest(site.bss.iter().any(|bss| bss.several_users));
        let snaps = if snap == 0 { [0; 2] } else { [snap + radiotap, snap] };
        let files = Files::begin(folder, &site, snaps)?;
        Ok(Capture {
            packets: Packets::new(site.flows.len()),
            frames: OwnFrames::default(),
            site,
            snap: if snap == 0 { usize::MAX } else { snap as usize },
            files,
            queue: Queue::default(),
            numbering: Numbering::default(),
            packet_numbers: PacketNumbers::default(),
            boards: BTreeMap::new(),
            asked: BTreeMap::new(),
            ppdus: 0,
            tsft_us: 0,
            built: Built::default(),
            bytes: Vec::new(),
        })
    }

    /// Writes the rest of the files. PPDUs that have not ended are in no file.
    ///
    /// # Errors
    /// A sentence with the file that cannot be written, and the reason.
    pub fn close(mut self) -> Result<(), String> {
        let rest: Vec<_> = self.queue.rest().collect();
        rest.iter().for_each(|ppdu| self.write(ppdu));
        self.files.finish()
    }

    fn packet_at_host(&mut self, at: Time, held: &Held) {
        let facts = &held.facts;
        if facts.sent {
            self.packets.send(held.clone());
        }
        if facts.up != facts.sent {
            self.write_wired(at, held);
        }
    }

    /// Writes a packet at a server.
    fn write_wired(&mut self, at: Time, held: &Held) {
        let facts = &held.facts;
        let station = Site::mac(self.site.flows[facts.flow.index()].station);
        let (source, destination) = if facts.up { (station, Site::SERVER_MAC) } else { (Site::SERVER_MAC, station) };
        let bytes = &mut self.bytes;
        bytes.clear();
        Ethernet { destination, source, vlan: None, ether_type: EtherType::IPV4 }.append(bytes);
        append_packet(&self.site, held, facts.ecn, bytes);
        let original_length = ETHERNET + facts.bytes as usize;
        bytes.resize(original_length.min(self.snap), 0);
        let flags = Some(if facts.up { PacketFlags::INBOUND } else { PacketFlags::OUTBOUND });
        let options = PacketOptions { flags, ..PacketOptions::default() };
        self.files.put(Which::Server, &Captured { time_ns: at.as_nanos(), original_length, bytes, options });
    }

    fn ppdu_starts(&mut self, at: Time, start: PpduStart) {
        let agreed = if start.kind == PpduKind::BlockAck { self.block_ack(&start) } else { None };
        let frame = if start.kind == PpduKind::Beacon { self.frames.next_of(start.node, start.bytes) } else { None };
        self.queue.begin(at, start, agreed, frame);
    }

    /// The content of a BlockAck that begins.
    fn block_ack(&self, start: &PpduStart) -> Option<Agreed> {
        let (by, to) = (start.node, start.to?);
        let tid = *self.asked.get(&(to, by))?;
        let board = self.boards.get(&(to, by, tid)).copied().unwrap_or_default();
        let (start, bitmap) = board.told(self.window_of(by));
        Some(Agreed { tid, start, bitmap })
    }

    /// A frame for several stations names one.
    fn names(&mut self, node: NodeId, named: Named) {
        let (tid, station) = (named.agreed.tid, named.station);
        let board = station.and_then(|station| self.boards.get(&(station, node, tid))).copied().unwrap_or_default();
        let window = self.window_of(node);
        let Some(ppdu) = self.queue.of(node, 0) else { return };
        let agreed = if ppdu.start.kind == PpduKind::MultiStaBlockAck {
            let (start, bitmap) = board.told(window);
            Agreed { tid, start, bitmap }
        } else {
            named.agreed
        };
        ppdu.named.push(Named { agreed, ..named });
    }

    fn window_of(&self, node: NodeId) -> u64 {
        u64::from(self.site.bss_of(node).block_ack_window)
    }

    fn mpdu(&mut self, mpdu: Mpdu) {
        let window = self.window_of(mpdu.node);
        let Some(ppdu) = self.queue.of(mpdu.node, mpdu.part) else { return };
        let first = ppdu.packets.len();
        ppdu.contents.push(Content { mpdu, first });
        if let (Some(sequence), Some(to)) = (mpdu.sequence, ppdu.start.to) {
            self.asked.insert((mpdu.node, to), mpdu.tid);
            let board = self.boards.entry((mpdu.node, to, mpdu.tid)).or_default();
            if mpdu.decoded {
                board.receive(sequence, window);
            }
        }
    }

    fn requests(&mut self, node: NodeId, tid: u8, start: u64) {
        let Some(ppdu) = self.queue.of(node, 0) else { return };
        ppdu.agreed = Some(Agreed { tid, start, bitmap: Bitmap::default() });
        if let Some(to) = ppdu.start.to {
            self.asked.insert((node, to), tid);
        }
    }

    /// Handles the end of a PPDU; a BlockAckReq that was decoded has moved the scoreboard.
    fn ppdu_ends(&mut self, end: End, part: u32) {
        let Some(ppdu) = self.queue.of(end.node, part) else { return };
        ppdu.end = Some(end);
        if let (PpduKind::BlockAckReq, Some(agreed), Some(to)) = (ppdu.start.kind, ppdu.agreed, ppdu.start.to)
            && end.decoded > 0
        {
            self.boards.entry((end.node, to, agreed.tid)).or_default().request(agreed.start);
        }
    }

    fn told(&mut self, node: NodeId, by_all: bool) {
        self.queue.told(node, by_all);
        while let Some(ppdu) = self.queue.next() {
            self.write(&ppdu);
            self.queue.give_back(ppdu);
        }
    }

    fn write(&mut self, ppdu: &Airborne) {
        self.ppdus = self.ppdus.wrapping_add(1);
        // Readers take frames with one TSFT for those of one PPDU.
        let tsft_us = self.tsft_us.max(ppdu.at.as_nanos() / 1000);
        self.tsft_us = tsft_us + 1;
        let radiotap = Radiotap { tsft_us: Some(tsft_us), ..radio::of_ppdu(&ppdu.start, ppdu.at, &self.site) };
        let end = ppdu.end.expect("what has been told of has ended");
        let mut lost_to = end.lost_to.and_then(why);
        if !matches!(ppdu.start.kind, PpduKind::Data | PpduKind::Ampdu) {
            let number = if ppdu.start.kind == PpduKind::Beacon { self.numbering.beacon(ppdu.start.node) } else { 0 };
            build_control(&self.site, ppdu, number, self.snap, &mut self.built);
            let ampdu = radio::place_alone(&ppdu.start, self.ppdus, self.built.original_length as u32);
            let radiotap = Radiotap { ampdu, ..radiotap };
            return self.share(&Shared { ppdu, radiotap, is_good: end.decoded > 0, comment: lost_to });
        }
        let count = ppdu.contents.len();
        for (place, content) in (1..).zip(&ppdu.contents) {
            let mpdu = &content.mpdu;
            let bss = self.site.bss_of(ppdu.start.node);
            let ampdu = radio::place(&ppdu.start, bss, self.ppdus, mpdu.bytes, place == count);
            let has_qos = |to: &NodeId| self.site.has_qos(ppdu.start.node, *to);
            let traffic = ppdu.start.to.filter(has_qos).map(|to| (to, mpdu.tid));
            let number = match mpdu.sequence.filter(|_| traffic.is_some()) {
                Some(sequence) => (sequence % 4096) as u16,
                None => self.numbering.data(ppdu.start.node, traffic, mpdu.again),
            };
            let ends = (ppdu.start.node, ppdu.start.to.unwrap_or(ppdu.start.node));
            let packet_number = bss.protected.then(|| self.packet_numbers.of(ends, mpdu.tid, number, mpdu.again));
            build_data(&self.site, ppdu, content, (number, packet_number), self.snap, &mut self.built);
            let radiotap = Radiotap { ampdu, ..radiotap };
            // The cause is known for the whole, or for the first MPDU that was lost.
            let comment = if mpdu.decoded { None } else { lost_to };
            if end.decoded > 0 && comment.is_some() {
                lost_to = None;
            }
            self.share(&Shared { ppdu, radiotap, is_good: mpdu.decoded, comment });
        }
    }

    /// Writes the frame that was built to all files that contain it.
    fn share(&mut self, frame: &Shared<'_>) {
        let start = &frame.ppdu.start;
        let at_receiver = start.to.and_then(|to| frame.ppdu.heard.iter().find(|hearing| hearing.by == to));
        let comment = frame.comment;
        let options = PacketOptions { comment, ..PacketOptions::default() };
        if frame.is_good {
            self.put(Which::Air, frame, at_receiver.map(|h| h.signal_dbm), options);
        } else {
            let options = PacketOptions { flags: Some(PacketFlags::CRC_ERROR), ..options };
            self.built.flip_fcs();
            self.put_bad(frame, at_receiver.map(|h| h.signal_dbm), options);
            self.built.flip_fcs();
        }
        let flags = |flags| PacketOptions { flags: Some(flags), ..PacketOptions::default() };
        self.put(Which::Node(start.node), frame, None, flags(PacketFlags::OUTBOUND));
        if let (Some(true), Some(_), Some(to)) = (frame.ppdu.told, start.unit, start.to) {
            // A part is received by its own user only.
            if frame.is_good {
                self.put(Which::Node(to), frame, None, flags(PacketFlags::INBOUND));
            }
        } else if frame.ppdu.told == Some(true) {
            for node in (0..self.site.nodes.len() as u32).map(NodeId) {
                if node != start.node && self.site.bss_of(node).medium == start.channel {
                    self.put(Which::Node(node), frame, None, flags(PacketFlags::INBOUND));
                }
            }
        }
        for hearing in frame.ppdu.heard.iter().filter(|hearing| hearing.decoded) {
            // The MPDUs that another node has decoded are not drawn, but it has decoded at least one.
            if frame.is_good || Some(hearing.by) != start.to {
                self.put(Which::Node(hearing.by), frame, Some(hearing.signal_dbm), flags(PacketFlags::INBOUND));
            }
        }
    }

    fn put(&mut self, which: Which, frame: &Shared<'_>, signal_dbm: Option<i8>, options: PacketOptions<'_>) {
        self.put_as(which, frame, radio::received(&frame.radiotap, signal_dbm, true), options);
    }

    fn put_bad(&mut self, frame: &Shared<'_>, signal_dbm: Option<i8>, options: PacketOptions<'_>) {
        self.put_as(Which::Air, frame, radio::received(&frame.radiotap, signal_dbm, false), options);
    }

    fn put_as(&mut self, which: Which, frame: &Shared<'_>, radiotap: Radiotap, options: PacketOptions<'_>) {
        let bytes = &mut self.bytes;
        bytes.clear();
        radiotap.append(bytes);
        let original_length = bytes.len() + self.built.original_length;
        bytes.extend_from_slice(&self.built.bytes);
        self.files.put(which, &Captured { time_ns: frame.ppdu.at.as_nanos(), original_length, bytes, options });
    }

    #[inline(never)]
    fn read(&mut self, at: Time, detail: &Detail) {
        match *detail {
            Detail::PpduStarts(start) => self.ppdu_starts(at, start),
            Detail::PpduEnds(end) => self.ppdu_ends(end, 0),
            Detail::PartEnds { part, end } => self.ppdu_ends(end, part),
            Detail::Names { node, station, unit, mcs, streams, tid, start, answer } => {
                self.names(node, Named { station, unit, mcs, streams, agreed: asked_of(tid, start), answer });
            }
            Detail::Reports { node, queue_size } => {
                if let Some(ppdu) = self.queue.of(node, 0) {
                    ppdu.queue_size = Some(queue_size);
                }
            }
            Detail::Mpdu(mpdu) => self.mpdu(mpdu),
            Detail::Holds { node, part, flow, up, packet, ecn } => {
                let own = self.frames.get((flow, up, packet));
                let held = own.or_else(|| self.packets.get(flow, up, packet).cloned());
                if let (Some(held), Some(ppdu)) = (held, self.queue.of(node, part)) {
                    ppdu.packets.push((held, ecn));
                }
            }
            Detail::Requests { node, tid, start } => self.requests(node, tid, start),
            Detail::Tuned { ap, channel, number, mhz } => self.site.tune(ap, channel, (number, mhz)),
            Detail::Heard { node, part, by, power, decoded } => {
                let signal_dbm = power.0.round().clamp(-128.0, 127.0) as i8;
                if let Some(ppdu) = self.queue.of(node, part) {
                    ppdu.heard.push(Hearing { by, signal_dbm, decoded });
                }
            }
            Detail::Told { node, by_all } => self.told(node, by_all),
            Detail::Packet(facts) => self.packet_at_host(at, &Held::of_zeros(facts)),
            Detail::Passes { what: Passage::MacDone, flow, up, packet, .. } => {
                if !self.frames.forget((flow, up, packet)) {
                    self.packets.mac_done(flow, up, packet);
                }
            }
            Detail::Passes { what: Passage::Received, flow, up, packet, .. } => self.packets.arrive(flow, up, packet),
            Detail::Passes { .. } | Detail::Carries { .. } | Detail::Backoff { .. } | Detail::Burst { .. } => {}
            Detail::Stands { .. } | Detail::Segment(_) | Detail::Quic(_) | Detail::QuicLost { .. } => {}
        }
    }
}

impl Observer for Capture {
    const READS_DETAILS: bool = true;
    const READS_FRAMES: bool = true;

    #[inline(always)]
    fn observe(&mut self, _: Time, record: Record) {
        if let Record::Dropped { flow, layer, arrived, up, packet, .. } = record
            && !self.frames.forget((flow, up, packet))
        {
            self.packets.drop(flow, up, packet, layer, arrived);
        }
    }

    #[inline(always)]
    fn detail(&mut self, at: Time, detail: Detail) {
        self.read(at, &detail);
    }

    fn packet(&mut self, at: Time, facts: &PacketFacts, payload: &[u8]) {
        self.packet_at_host(at, &Held::with_payload(*facts, payload));
    }

    fn frame(&mut self, facts: &FrameFacts, bytes: &[u8]) {
        self.frames.add(facts, bytes);
    }
}

impl Watcher for Capture {
    fn failure(&self) -> Option<&str> {
        self.files.failure()
    }
}
