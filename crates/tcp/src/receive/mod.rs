//! The receiving half: reassembly, the ACK policy, and the window offered.

mod ack_policy;
mod adaptive;
mod autotune;
mod byte_counters;
mod ecn_echo;
mod memory;
mod reassembly;
mod report;
mod window;

use lasthop_units::{Duration, Ecn, Time};

use crate::config::{AccEcnOption, ArrivalRules, Autotune, Config, ReceiveWindow};
use crate::congestion_control::Needs;
use crate::counters::Counters;
use crate::ecn::Feedback;
use crate::ranges::Range;
use crate::segment::{AccEcn, Flags, HEADERS, SackBlock, SackBlocks, Segment};
use crate::sequence::Numbering;
use ack_policy::AckSchedule;
use adaptive::Arrival;
use autotune::{Progress, Tuning};
use byte_counters::ByteCounters;
use ecn_echo::{EcnEcho, Reaction};
use reassembly::Reassembly;
use window::{Room, Window};

pub(crate) use ack_policy::Owed;
pub(crate) use adaptive::Pace;

/// The application's treatment of data in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Application {
    /// Reads it at once.
    Reads,
    /// Leaves it in the buffer until a read: so many bytes so far.
    Pauses { unread: u64 },
}

/// A segment's text, as offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text {
    pub start: u64,
    pub length: u32,
    pub flags: Flags,
    pub ecn: Ecn,
    /// its FIN leaves the own direction open, so that the application may still answer
    pub fin_may_wait: bool,
    /// by the echoed timestamp, if that is measured
    pub rtt: Option<Duration>,
    pub pace: Pace,
}

impl Text {
    fn end(&self) -> u64 {
        self.start + u64::from(self.length)
    }
    fn has_fin(&self) -> bool {
        self.flags.contains(Flags::FIN)
    }
}

/// An ACK of data that came before marks began or ended. [RFC 8257 §3.2]
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlierAck {
    pub nxt: u64,
    pub flags: Flags,
}

/// The receiving half of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    numbering: Numbering,
    reassembly: Reassembly,
    schedule: AckSchedule,
    application: Application,
    window: Window,
    tuning: Option<Box<Tuning>>,
    echo: EcnEcho,
    earlier: Option<EarlierAck>,
    /// last duplicate range, if duplicates are reported [RFC 2883]
    duplicate: Option<Range>,
    reports_duplicates: bool,
    rules: ArrivalRules,
    /// offset of the peer's FIN, once seen
    fin_at: Option<u64>,
    /// TS.Recent [RFC 7323 §4.3]
    recent_timestamp: u32,
    /// timestamp echoed last, so that each gives one sample
    last_echo: u32,
    /// Last.ACK.sent
    last_ack_sent: u64,
    /// time of the last data, or of the opening of the connection
    last_data: Option<Time>,
}

impl Receiver {
    pub fn new(config: &Config) -> Self {
        Receiver {
            numbering: Numbering::default(),
            reassembly: Reassembly::default(),
            schedule: AckSchedule::new(config),
            application: Application::Reads,
            window: Window::new(config),
            tuning: match &config.receive_window {
                ReceiveWindow::Fixed(_) => None,
                // A SYN counts with the full capacity of a segment.
                ReceiveWindow::Autotune(autotune) => {
                    let mss = config.payload_bytes() + config.timestamp_bytes();
                    Some(Box::new(tuning(config, autotune, mss, config.timestamp_bytes())))
                }
            },
            echo: EcnEcho::Off,
            earlier: None,
            duplicate: None,
            reports_duplicates: config.dsack,
            rules: config.arrival_rules,
            fin_at: None,
            recent_timestamp: 0,
            last_echo: 0,
            last_ack_sent: 0,
            last_data: None,
        }
    }

    /// Takes in the peer's SYN: numbering begins.
    pub fn begin(&mut self, numbering: Numbering, timestamp: Option<u32>) {
        self.numbering = numbering;
        self.reassembly = Reassembly::starting_at(1);
        self.window.begin(1);
        self.last_ack_sent = 1;
        self.recent_timestamp = timestamp.unwrap_or(0);
    }

    /// Begins the window with whole segments of `mss` bytes: the peer's SYN came first.
    pub fn begin_window(&mut self, config: &Config, mss: u32) {
        if let ReceiveWindow::Autotune(autotune) = &config.receive_window {
            // The unused capacity of a segment is taken by timestamps.
            let option_bytes = config.payload_bytes() + config.timestamp_bytes() - mss;
            self.tuning = Some(Box::new(tuning(config, autotune, mss, option_bytes)));
            self.resize();
        }
    }

    /// Turns off scaling in this direction, as the peer does not scale windows. [RFC 7323 §2.2]
    pub fn without_scaling(&mut self) {
        self.window.without_scaling();
    }

    /// Sets the reports of marks; `syn_ack_ecn` is the ECN field of the peer's SYN+ACK, if this side opened.
    pub fn negotiate_ecn(
        &mut self,
        needs: Needs,
        feedback: Feedback,
        syn_ack_ecn: Option<Ecn>,
        option: Option<AccEcnOption>,
    ) {
        let fixed_order = self.rules != ArrivalRules::Rfc9293;
        let bytes = option.map(|policy| ByteCounters::new(policy, fixed_order));
        self.echo = EcnEcho::new(needs, feedback, syn_ack_ecn, bytes);
    }

    /// Takes in a segment without text or FIN.
    pub fn note_control(&mut self, ecn: Ecn) {
        self.echo.on_control(ecn);
    }
    /// Has the next ACK report how a repeated SYN+ACK arrived.
    pub fn note_syn_ack_again(&mut self, ecn: Ecn) {
        self.echo.on_syn_ack_again(ecn);
    }
    /// Takes note of an AccECN option of the peer.
    pub fn note_accecn(&mut self) {
        if let Some(bytes) = self.echo.bytes_mut() {
            bytes.on_peer_option();
        }
    }
    /// Changes which segments carry the AccECN option.
    pub fn set_accecn_option(&mut self, policy: AccEcnOption) {
        if let Some(bytes) = self.echo.bytes_mut() {
            bytes.set_policy(policy);
        }
    }
    /// The AccECN option of a SYN+ACK.
    pub fn first_accecn(&self) -> Option<AccEcn> {
        self.echo.bytes().and_then(ByteCounters::first)
    }
    /// True if data is to leave room for the AccECN option.
    pub fn fills_data_with_accecn(&self) -> bool {
        self.echo.bytes().is_some_and(ByteCounters::fills_data)
    }
    /// True if the next segment is to carry the AccECN option.
    pub fn owes_accecn(&self, now: Time, srtt: Option<Duration>) -> bool {
        self.echo.bytes().is_some_and(|bytes| bytes.is_due(now, srtt))
    }
    /// The AccECN option within `space` bytes, and the SACK blocks with it, at most `blocks`.
    pub fn place_accecn(&mut self, now: Time, space: u32, blocks: usize) -> (SackBlocks, Option<AccEcn>) {
        let Some(bytes) = self.echo.bytes() else { return (self.reports(blocks), None) };
        let (kept, option) = bytes.place(space, blocks);
        let with_duplicate = kept > 0 && self.duplicate.is_some();
        if let (Some(option), Some(bytes)) = (&option, self.echo.bytes_mut()) {
            bytes.on_sent(now, option, with_duplicate);
        }
        (if kept > 0 { self.reports(kept) } else { SackBlocks::NONE }, option)
    }

    pub fn numbering(&self) -> Numbering {
        self.numbering
    }
    /// RCV.NXT
    pub fn nxt(&self) -> u64 {
        self.reassembly.next()
    }
    pub fn scale(&self) -> u8 {
        self.window.scale()
    }
    pub fn owed(&self) -> Owed {
        if self.earlier.is_some() { Owed::Pure } else { self.schedule.owed() }
    }
    pub fn recent_timestamp(&self) -> u32 {
        self.recent_timestamp
    }
    /// True once the peer's FIN was reached in order.
    pub fn is_finished(&self) -> bool {
        self.fin_at.is_some_and(|fin| self.nxt() > fin)
    }
    /// End of the reported data: the right edge of the highest block, if there is one.
    pub fn highest_held(&self) -> Option<u64> {
        self.reassembly.highest()
    }

    /// Bytes from the end of the data in order to the end of the data held.
    fn out_of_order_bytes(&self) -> u64 {
        self.highest_held().map_or(0, |end| end - self.nxt())
    }

    /// Bytes of the application that are in order.
    fn in_order_bytes(&self) -> u64 {
        self.nxt().saturating_sub(1 + u64::from(self.is_finished()))
    }

    /// Bytes in order that the application has not taken.
    pub fn unread_bytes(&self) -> u64 {
        match self.application {
            Application::Reads => 0,
            Application::Pauses { unread } => unread,
        }
    }

    /// Bytes handed to the application.
    pub fn delivered_bytes(&self) -> u64 {
        self.in_order_bytes() - self.unread_bytes()
    }

    /// Acceptability of a segment. [RFC 9293 §3.10.7.4, first step] Linux accepts all segments that reach into the
    /// range from the last ACK to the end of the window, so that an ACK that data overtook counts. A segment that ends
    /// beyond the window is taken in whole if nothing is unread and else refused, except for a FIN. Older kernels took
    /// it always.
    pub fn is_acceptable(&self, start: u64, segment: &Segment) -> bool {
        let nxt = self.nxt();
        let end = self.window.end(nxt);
        let length = segment.sequence_length();
        if self.rules != ArrivalRules::Rfc9293 {
            let is_near = start + u64::from(length) >= self.last_ack_sent && start <= end;
            let fin = u64::from(segment.flags.contains(Flags::FIN));
            let fits = start + u64::from(length) <= end + fin || self.unread_bytes() == 0;
            return is_near && (fits || self.rules == ArrivalRules::Linux313);
        }
        if length == 0 {
            return if end == nxt { start == nxt } else { nxt <= start && start < end };
        }
        let last = start + u64::from(length) - 1;
        (nxt <= start && start < end) || (nxt <= last && last < end)
    }

    /// Remembers a timestamp. [RFC 7323 §4.3]
    pub fn note_timestamp(&mut self, value: u32, start: u64) {
        if !self.is_too_old(value) && start <= self.last_ack_sent {
            self.recent_timestamp = value;
        }
    }

    /// Protection against wrapped sequence numbers: true if the timestamp is older. [RFC 7323 §5.3] Some stacks send 0
    /// on their SYN: nothing is older than that.
    pub fn is_too_old(&self, value: u32) -> bool {
        self.recent_timestamp != 0 && (value.wrapping_sub(self.recent_timestamp) as i32) < 0
    }

    /// True if the receiver measures the round-trip time and this echo is new.
    pub fn wants_rtt(&mut self, echo: u32) -> bool {
        self.tuning.is_some() && core::mem::replace(&mut self.last_echo, echo) != echo
    }

    /// Takes note that the connection is open.
    pub fn note_open(&mut self, now: Time) {
        self.last_data = Some(now);
        if let Some(tuning) = &mut self.tuning {
            tuning.on_open();
        }
        self.resize();
    }

    /// True if text from `start` up to `end` is next in order and inside the window, and nothing is missing, unread or at an
    /// end; marks are not asked for.
    #[inline(always)]
    pub fn expects(&self, start: u64, end: u64) -> bool {
        let is_next = start == self.nxt() && end <= self.window.end(start) && !self.reassembly.has_gap();
        is_next && self.fin_at.is_none() && self.application == Application::Reads
    }

    /// Takes in text that is [expected](Self::expects), of a peer whose marks are not read: as [`take`](Self::take).
    #[inline(always)]
    pub fn take_expected(&mut self, now: Time, text: &Text, counters: &mut Counters) {
        self.last_data = Some(now);
        counters.segments_received += 1;
        self.reassembly.advance(text.end());
        self.follow(now, text, true);
        if self.schedule.acknowledges_each() {
            self.schedule.on_each();
        } else {
            let arrival = self.arrival(now, text);
            self.schedule.on_in_order(&arrival);
        }
    }

    /// Takes in the text and FIN of an acceptable segment. [RFC 9293 §3.10.7.4, seventh and eighth step]
    pub fn take(&mut self, now: Time, text: &Text, counters: &mut Counters) {
        if text.length > 0 {
            self.last_data = Some(now);
        }
        counters.segments_received += u64::from(text.length > 0);
        let nxt = self.nxt();
        let end = text.end();
        let window_end = self.taken_below(text, end);
        if text.has_fin() && self.fin_at.is_none() && end < window_end.max(nxt + 1) {
            self.fin_at = Some(end);
        }
        let fin_here = u64::from(text.has_fin() && self.fin_at == Some(end));
        let end = (end + fin_here).min(window_end);
        if end <= nxt || (text.start > nxt && text.start >= end) {
            counters.segments_duplicate += u64::from(text.length > 0);
            self.echo.on_data_again(text.ecn, text.length);
            return self.refuse_text(text.start, text.end() + fin_here);
        }
        if text.start > nxt {
            self.take_out_of_order(now, text, end, counters);
        } else {
            self.take_in_order(now, end, text);
        }
    }

    /// The offset below which an acceptable text, which ends at `end`, is taken. Linux takes the whole of a text that
    /// begins in the window; behind a closed one only a FIN alone, which takes no memory; older kernels did not.
    fn taken_below(&self, text: &Text, end: u64) -> u64 {
        let nxt = self.nxt();
        let window_end = self.window.end(nxt);
        let is_bare_fin = text.length == 0 && text.start == nxt;
        let whole = match self.rules {
            ArrivalRules::Rfc9293 => false,
            ArrivalRules::Linux => text.start < window_end || is_bare_fin,
            ArrivalRules::Linux313 => text.start < window_end,
        };
        if whole { window_end.max(end + 1) } else { window_end }
    }

    /// Takes note of a text with nothing new, or nothing that fits; `end` includes its FIN.
    pub fn refuse_text(&mut self, start: u64, end: u64) {
        self.note_duplicate(start, end.min(self.nxt()));
        self.schedule.on_nothing_new(self.window_of_last_ack());
    }

    fn note_duplicate(&mut self, start: u64, end: u64) {
        if self.reports_duplicates && start < end {
            self.duplicate = Some(Range { start, end });
            if let Some(bytes) = self.echo.bytes_mut() {
                bytes.on_duplicate();
            }
        }
    }

    fn take_out_of_order(&mut self, now: Time, text: &Text, end: u64, counters: &mut Counters) {
        self.note_marks(text);
        let held = self.reassembly.hold(text.start, end);
        counters.segments_out_of_order += u64::from(held.is_new && text.length > 0);
        counters.segments_duplicate += u64::from(!held.is_new && text.length > 0);
        if let Some(twice) = held.duplicate {
            self.note_duplicate(twice.start, twice.end);
        }
        self.schedule.on_out_of_order(now, self.reassembly.next(), &text.pace);
        if held.is_new && text.length > 0 {
            self.hold_memory(text);
        }
    }

    /// Accounts for a text out of order: it shows the share of payload too, lets the window grow, and takes memory.
    fn hold_memory(&mut self, text: &Text) {
        let (offered, out_of_order) = (self.window_of_last_ack(), self.out_of_order_bytes());
        let Some(tuning) = &mut self.tuning else { return };
        let memory = tuning.measure(text.length, offered);
        if tuning.open(text.length, 0) {
            self.schedule.hasten();
        }
        tuning.hold(text.end(), memory, out_of_order);
        self.resize();
    }

    fn take_in_order(&mut self, now: Time, end: u64, text: &Text) {
        let before = self.nxt();
        self.note_duplicate(text.start, before);
        self.note_marks(text);
        let had_gap = self.reassembly.has_gap();
        if had_gap && let Some(twice) = self.reassembly.held_below(end) {
            self.note_duplicate(twice.start, twice.end);
        }
        let all_read = self.unread_bytes() == 0;
        self.reassembly.advance(end);
        let finished = self.is_finished();
        if let Application::Pauses { unread } = &mut self.application {
            *unread += self.reassembly.next() - before - u64::from(finished);
        }
        self.follow(now, text, all_read);
        if finished && self.rules != ArrivalRules::Rfc9293 {
            // Data beyond the FIN, and the duplicate to report, are forgotten.
            self.duplicate = None;
        }
        if finished && !had_gap && text.fin_may_wait {
            self.schedule.on_end(now, text.length, &text.pace);
            return;
        }
        if had_gap || finished {
            self.schedule.on_gap_or_end();
        }
        if self.schedule.acknowledges_each() {
            self.schedule.on_each();
        } else if text.length > 0 && !had_gap {
            let arrival = self.arrival(now, text);
            self.schedule.on_in_order(&arrival);
        }
    }

    /// Adapts the buffer to arrivals and reading; `all_read`: nothing was unread before this text.
    fn follow(&mut self, now: Time, text: &Text, all_read: bool) {
        let offered = self.window_of_last_ack();
        let Some(tuning) = &mut self.tuning else { return };
        let nxt = self.reassembly.next();
        // Options may take room from every segment, so that a full one is shorter than the agreed size.
        let rtt = text.rtt.filter(|_| text.length >= self.schedule.full_segment());
        tuning.on_data(now, rtt, all_read, nxt, offered);
        let waits = self.application != Application::Reads;
        let memory = tuning.measure(text.length, offered);
        if waits && text.length > 0 {
            tuning.memory.queue(text.end(), memory);
        }
        tuning.memory.advance(nxt, waits);
        // The text is counted before it is read.
        if tuning.open(text.length, if waits { 0 } else { memory }) {
            self.schedule.hasten();
        }
        if self.application == Application::Reads {
            // Offset 0 is the peer's SYN.
            self.tune(now, text.end() - 1);
        }
        self.resize();
    }

    /// Tunes the buffer when waiting data is read; `read`: bytes so far, its first segment included.
    fn tune(&mut self, now: Time, read: u64) {
        let read = read.min(self.in_order_bytes());
        let (unread, out_of_order) = (self.in_order_bytes() - read, self.out_of_order_bytes());
        if let Some(tuning) = &mut self.tuning {
            tuning.on_read(now, &Progress { read, unread, out_of_order });
        }
    }

    fn resize(&mut self) {
        if let Some(tuning) = &self.tuning {
            self.window.set_capacity(tuning.limit());
        }
    }

    /// The use of the buffer.
    fn room(&self) -> Room {
        match &self.tuning {
            None => Room::Unread(self.unread_bytes()),
            Some(tuning) => Room::Memory(tuning.room()),
        }
    }

    /// RCV.WND as the last ACK had it.
    fn window_of_last_ack(&self) -> u64 {
        self.window.end(self.last_ack_sent) - self.last_ack_sent
    }

    #[inline(always)]
    fn arrival(&self, now: Time, text: &Text) -> Arrival {
        let window = self.window_of_last_ack();
        Arrival {
            now,
            length: text.length,
            push: text.flags.contains(Flags::PSH),
            window,
            room: self.window.offered(self.nxt()),
            edge_moves: self.window.moves_on(self.room(), window),
            all_read: self.application == Application::Reads,
            pace: text.pace,
        }
    }

    fn note_marks(&mut self, text: &Text) {
        let nxt = self.nxt();
        match self.echo.on_data(text.ecn, text.flags, text.length) {
            Reaction::Nothing => {}
            Reaction::Tell => self.schedule.on_mark(self.window_of_last_ack()),
            Reaction::TellApart(flags) => {
                if self.schedule.is_pending() && self.earlier.is_none() {
                    self.earlier = Some(EarlierAck { nxt, flags });
                }
                self.schedule.on_gap_or_end();
            }
        }
    }

    /// Owes an ACK whatever the policy, e.g. in answer to a window probe.
    pub fn owe_ack(&mut self) {
        self.schedule.on_question();
    }
    /// Owes the first ACK of a connection: soon, but data may carry it.
    pub fn owe_handshake_ack(&mut self) {
        self.schedule.on_gap_or_end();
    }
    /// Time until which an ACK may be withheld; `None` if none is.
    pub fn withheld_until(&self) -> Option<Time> {
        self.schedule.withheld_until()
    }
    pub fn on_delayed_ack_timeout(&mut self, now: Time, rto: Duration) {
        self.schedule.on_timeout(now, rto);
    }
    /// Lets one ACK replace up to `most` of data out of order.
    pub fn compress_acks(&mut self, most: u32) {
        self.schedule.compress(most);
    }
    pub fn on_data_sent(&mut self, now: Time) {
        self.schedule.on_data_sent(now);
    }

    /// An ACK of data from before marks began or ended.
    pub fn take_earlier_ack(&mut self) -> Option<EarlierAck> {
        self.earlier.take()
    }
    /// The window field of such an ACK.
    pub fn field_at(&self, nxt: u64) -> u16 {
        self.window.field_at(nxt)
    }

    /// Flags that report marks.
    pub fn ecn_flags(&self) -> Flags {
        self.echo.flags()
    }

    /// Takes note of a segment with ACK sent; `is_pure` ones settle one duplicate. Returns the window field.
    pub fn on_ack_sent(&mut self, is_pure: bool, on_syn: bool) -> u16 {
        let (nxt, room) = (self.nxt(), self.room());
        self.last_ack_sent = nxt;
        self.schedule.on_ack_sent(is_pure);
        if !on_syn {
            self.echo.on_ack_sent();
        }
        self.window.offer(nxt, room, on_syn)
    }

    /// The window field of the first SYN.
    pub fn first_window(&self) -> u16 {
        self.window.capacity().min(window::LARGEST_FIELD) as u16
    }

    /// True if there is something to report by SACK.
    pub fn has_reports(&self) -> bool {
        self.duplicate.is_some() || self.reassembly.has_gap()
    }

    /// Number of blocks that there are to report.
    pub fn report_count(&self) -> usize {
        self.reassembly.block_count() + usize::from(self.duplicate.is_some())
    }

    /// At most `most` blocks: the last duplicate first, which is reported once [RFC 2883 §4], then the ranges held,
    /// newest first [RFC 2018 §4].
    pub fn reports(&mut self, most: usize) -> SackBlocks {
        let Some(twice) = self.duplicate.take() else { return self.reassembly.blocks(most, self.numbering) };
        let mut blocks = SackBlocks::NONE;
        let number = |offset| self.numbering.number(offset);
        blocks.push(SackBlock { left: number(twice.start), right: number(twice.end) });
        for block in self.reassembly.blocks(most - 1, self.numbering).as_slice() {
            blocks.push(*block);
        }
        blocks
    }

    /// Pauses reading: the application reads only by [`read`](Self::read).
    pub fn pause(&mut self) {
        if self.application == Application::Reads {
            self.application = Application::Pauses { unread: 0 };
        }
    }

    /// Takes up to `bytes` for the application; their number. The peer is told if the window opens much.
    pub fn read(&mut self, now: Time, bytes: u64) -> u64 {
        let first_end = self.tuning.as_ref().and_then(|tuning| tuning.memory.first_end());
        let Application::Pauses { unread } = &mut self.application else { return 0 };
        let taken = bytes.min(*unread);
        *unread -= taken;
        let left = *unread;
        if taken > 0 {
            let read = self.delivered_bytes();
            self.tune(now, first_end.map_or(read, |end| read.min(end - 1)));
            self.release_memory();
            self.resize();
            self.schedule.on_read(left == 0);
            self.tell_of_window();
        }
        taken
    }

    /// Reads all there is, and goes on reading.
    pub fn resume(&mut self) {
        if let Application::Pauses { .. } = self.application {
            self.application = Application::Reads;
            self.release_memory();
            self.tell_of_window();
        }
    }

    /// Frees the memory of data that has been read. Offset 0 is the peer's SYN.
    fn release_memory(&mut self) {
        let read = 1 + self.delivered_bytes();
        if let Some(tuning) = &mut self.tuning {
            tuning.memory.release(read);
        }
    }

    fn tell_of_window(&mut self) {
        if !self.is_finished() && self.window.opens(self.nxt(), self.room()) {
            self.schedule.on_gap_or_end();
        }
    }
}

/// The tuning of a window. Linux learns the share of payload in memory since 6.6.
fn tuning(config: &Config, autotune: &Autotune, mss: u32, option_bytes: u32) -> Tuning {
    let learns = config.arrival_rules != ArrivalRules::Linux313;
    Tuning::new(autotune, mss, HEADERS + option_bytes, learns)
}
