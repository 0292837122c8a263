//! The receiving half: reassembly, what is acknowledged when, and the window offered.

mod ack_policy;
mod reassembly;
mod report;

use lasthop_units::Time;

use crate::config::Config;
use crate::counters::Counters;
use crate::segment::SackBlocks;
use crate::sequence::Numbering;
use ack_policy::AckSchedule;
use reassembly::Reassembly;

pub(crate) use ack_policy::Owed;

/// What the application does with data that is in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Application {
    /// Takes it at once.
    Reads,
    /// Leaves it in the buffer: so many bytes so far.
    Pauses { unread: u64 },
}

/// A segment's text, as offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text {
    pub start: u64,
    pub length: u32,
    pub fin: bool,
}

/// The receiving half of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    numbering: Numbering,
    reassembly: Reassembly,
    schedule: AckSchedule,
    application: Application,
    /// offset of the peer's FIN, once seen
    fin_at: Option<u64>,
    /// largest window, in bytes
    capacity: u64,
    /// shift of the window field that the own SYN offers
    scale: u8,
    /// first offset beyond what was offered
    advertised_end: u64,
    /// payload of a full segment, for silly windows
    mss: u32,
    /// TS.Recent [RFC 7323 §4.3]
    recent_timestamp: u32,
    /// Last.ACK.sent
    last_ack_sent: u64,
}

impl Receiver {
    pub fn new(config: &Config) -> Self {
        let capacity = config.receive_window_bytes();
        let scale = (0..14).find(|shift| capacity >> shift <= u64::from(u16::MAX)).unwrap_or(14);
        Receiver {
            numbering: Numbering::default(),
            reassembly: Reassembly::default(),
            schedule: AckSchedule::new(config),
            application: Application::Reads,
            fin_at: None,
            capacity: if config.window_scaling { capacity } else { capacity.min(u64::from(u16::MAX)) },
            scale: if config.window_scaling { scale } else { 0 },
            advertised_end: 0,
            mss: config.payload_bytes(),
            recent_timestamp: 0,
            last_ack_sent: 0,
        }
    }

    /// The peer's SYN: numbering begins.
    pub fn begin(&mut self, numbering: Numbering, timestamp: Option<u32>) {
        self.numbering = numbering;
        self.reassembly = Reassembly::starting_at(1);
        self.advertised_end = 1;
        self.last_ack_sent = 1;
        self.recent_timestamp = timestamp.unwrap_or(0);
    }

    /// The peer does not scale windows, so neither does this side. [RFC 7323 §2.2]
    pub fn without_scaling(&mut self) {
        self.scale = 0;
        self.capacity = self.capacity.min(u64::from(u16::MAX));
    }

    pub fn numbering(&self) -> Numbering {
        self.numbering
    }
    /// RCV.NXT
    pub fn nxt(&self) -> u64 {
        self.reassembly.next()
    }
    pub fn scale(&self) -> u8 {
        self.scale
    }
    pub fn owed(&self) -> Owed {
        self.schedule.owed()
    }
    pub fn recent_timestamp(&self) -> u32 {
        self.recent_timestamp
    }
    /// The peer's FIN was reached in order.
    pub fn is_finished(&self) -> bool {
        self.fin_at.is_some_and(|fin| self.nxt() > fin)
    }

    /// Bytes handed to the application.
    pub fn delivered_bytes(&self) -> u64 {
        let unread = match self.application {
            Application::Reads => 0,
            Application::Pauses { unread } => unread,
        };
        self.nxt().saturating_sub(1 + u64::from(self.is_finished())) - unread
    }

    /// First offset beyond the window. It never moves back, and not by small steps. [RFC 9293 §3.8.6.2.2]
    fn window_end(&self) -> u64 {
        let Application::Pauses { unread } = self.application else { return self.nxt() + self.capacity };
        let end = self.nxt() + self.capacity.saturating_sub(unread);
        let step = u64::from(self.mss).min(self.capacity / 2).max(1);
        if end >= self.advertised_end + step { end } else { self.advertised_end.max(self.nxt()) }
    }

    /// The window field of the next segment; `shift` is 0 on a SYN.
    fn window_field(&self, shift: u8) -> u16 {
        ((self.window_end() - self.nxt()) >> shift).min(u64::from(u16::MAX)) as u16
    }

    /// Acceptability of a segment. [RFC 9293 §3.10.7.4, first step]
    pub fn is_acceptable(&self, start: u64, length: u32) -> bool {
        let nxt = self.nxt();
        let end = self.advertised_end.max(nxt);
        if length == 0 {
            return if end == nxt { start == nxt } else { nxt <= start && start < end };
        }
        let last = start + u64::from(length) - 1;
        (nxt <= start && start < end) || (nxt <= last && last < end)
    }

    /// Remembers a timestamp. [RFC 7323 §4.3]
    pub fn note_timestamp(&mut self, value: u32, start: u64) {
        let is_newer = value.wrapping_sub(self.recent_timestamp) as i32 >= 0;
        if is_newer && start <= self.last_ack_sent {
            self.recent_timestamp = value;
        }
    }

    /// Protection against wrapped sequence numbers: true if the timestamp is older. [RFC 7323 §5.3]
    pub fn is_too_old(&self, value: u32) -> bool {
        (value.wrapping_sub(self.recent_timestamp) as i32) < 0
    }

    /// Takes in the text and FIN of an acceptable segment. [RFC 9293 §3.10.7.4, seventh and eighth step]
    pub fn take(&mut self, now: Time, text: Text, counters: &mut Counters) {
        counters.segments_received += u64::from(text.length > 0);
        let end = text.start + u64::from(text.length);
        if text.fin && self.fin_at.is_none() && end < self.advertised_end.max(self.nxt() + 1) {
            self.fin_at = Some(end);
        }
        let fin_here = u64::from(text.fin && self.fin_at == Some(end));
        let end = (end + fin_here).min(self.advertised_end.max(self.nxt()));
        if end <= self.nxt() {
            counters.segments_duplicate += u64::from(text.length > 0);
            self.schedule.on_nothing_new();
            return;
        }
        if text.start > self.nxt() {
            let is_new = self.reassembly.hold(text.start, end);
            counters.segments_out_of_order += u64::from(is_new && text.length > 0);
            counters.segments_duplicate += u64::from(!is_new && text.length > 0);
            self.schedule.on_out_of_order();
            return;
        }
        self.take_in_order(now, end, text);
    }

    fn take_in_order(&mut self, now: Time, end: u64, text: Text) {
        let before = self.nxt();
        let had_gap = self.reassembly.has_gap();
        self.reassembly.advance(end);
        let finished = self.is_finished();
        if let Application::Pauses { unread } = &mut self.application {
            *unread += self.reassembly.next() - before - u64::from(finished);
        }
        if had_gap || finished {
            self.schedule.on_gap_or_end();
        } else {
            self.schedule.on_in_order(now, text.length);
        }
    }

    /// An ACK must go out whatever the policy, e.g. in answer to an unacceptable segment.
    pub fn owe_ack(&mut self) {
        self.schedule.on_nothing_new();
    }
    /// The first ACK of a connection: soon, but data may carry it.
    pub fn owe_handshake_ack(&mut self) {
        self.schedule.on_gap_or_end();
    }
    /// Time until which an ACK may be withheld; `None` if none is.
    pub fn withheld_until(&self) -> Option<Time> {
        self.schedule.withheld_until()
    }
    pub fn on_delayed_ack_timeout(&mut self) {
        self.schedule.on_timeout();
    }

    /// A segment with ACK goes out; `is_pure` ones settle one duplicate, others none. Returns the window field.
    pub fn on_ack_sent(&mut self, is_pure: bool, on_syn: bool) -> u16 {
        let shift = if on_syn { 0 } else { self.scale };
        let field = self.window_field(shift);
        self.advertised_end = self.advertised_end.max(self.nxt() + (u64::from(field) << shift));
        self.last_ack_sent = self.nxt();
        self.schedule.on_ack_sent(is_pure);
        field
    }

    /// SACK blocks, newest first, at most `most`. [RFC 2018 §4]
    pub fn sack_blocks(&self, most: usize) -> SackBlocks {
        self.reassembly.blocks(most, self.numbering)
    }
    pub fn has_gap(&self) -> bool {
        self.reassembly.has_gap()
    }

    /// The application stops reading.
    pub fn pause(&mut self) {
        if self.application == Application::Reads {
            self.application = Application::Pauses { unread: 0 };
        }
    }

    /// The application reads all there is, and goes on; the peer is told if the window opens much.
    pub fn resume(&mut self) {
        let Application::Pauses { .. } = self.application else { return };
        self.application = Application::Reads;
        let step = u64::from(self.mss).min(self.capacity / 2).max(1);
        if self.window_end() >= self.advertised_end + step {
            self.schedule.on_gap_or_end();
        }
    }
}
