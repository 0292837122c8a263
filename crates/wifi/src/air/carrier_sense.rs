//! State of each receiver: the PPDU it receives, and the PPDUs it notices.
//!
//! ```text
//!            a PPDU begins
//!  free ────────────────────────► receiving it ──► its end: free
//!    ▲   heard from cca_preamble on,   │
//!    │   and loud enough among others  ├── a much stronger one begins: receiving that, if `late` allows
//!    └─────────────────────────────────┴── sends itself: receives nothing
//! ```
//!
//! A receiver locks on a PPDU that begins while it neither sends nor receives, if the PPDU reaches `cca_preamble`, no
//! other audible PPDU is on the air, and it is the strongest of those that begin together; two of equal strength both
//! spoil each other and hold the receiver. With capture it locks on one that exceeds the sum of all others by the
//! threshold, and abandons the PPDU it was receiving if [`LateCapture`] says so.
//!
//! It notices the PPDU it is locked on, to its end, and otherwise energy: a PPDU that lifts the sum of all powers to
//! `cca_energy` is noticed as long as the sum stays there [802.11-2020 §17.3.10.6]. A PPDU whose preamble was missed,
//! because the receiver was sending or receiving then, is thus noticed by its energy only. The exception is a receiver
//! that recognises an OFDM signal by its guard intervals: from a separate power on, once it has listened for
//! aCCAMidTime, it notices that PPDU too, to its end.
//!
//! ```text
//!  sends | listens, aCCAMidTime | notices the PPDU that began meanwhile, until it ends or the receiver sends again
//! ```
//!
//! A burst of an interferer is energy only: no receiver locks on it. A PPDU that begins during bursts is found if it is
//! stronger than all of them together (`energy`).
//!
//! Left out: separate carrier sense on secondary channels, spatial reuse.

use lasthop_observe::NodeId;
use lasthop_registry::words;
use lasthop_units::{Db, Dbm, Duration, Time};

use crate::channel::{Channel, milliwatts};

/// Ratio of a signal to the sum of interferers from which on its preamble is found and its header read: 4 dB.
pub(super) const LEGIBLE_SIR: f64 = 2.511_886_431_509_58;

/// aCCAMidTime: the time that a receiver listens until it recognises a PPDU whose preamble it has missed.
/// [802.11-2020 Table 21-29; 802.11ax-2021 Table 27-54]
const MID_PACKET_TIME: Duration = Duration::from_micros(25);

words! {
    /// Time at which a receiver may leave the frame that it receives for one that begins later and is stronger.
    pub enum LateCapture {
        /// never
        Off = "off",
        /// during preamble and PHY header of the first [Kochut et al. 2004], as in ns-3
        Preamble = "preamble",
        /// at any time, as receivers that restart [Lee et al. 2007]
        AnyTime = "any_time",
    }
}

/// Conditions under which a frame survives others that overlap it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capture {
    /// ratio by which it must exceed the sum of all of them
    pub threshold: Db,
    /// condition under which the later frame may capture
    pub late: LateCapture,
}

impl Capture {
    /// Returns whether `signal` exceeds `others` by the threshold; powers in milliwatts.
    pub(crate) fn captures(&self, signal: f64, others: f64) -> bool {
        10.0 * libm::log10(signal / others) >= self.threshold.0
    }
}

/// The kind of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// a PPDU whose symbols have guard intervals, by which it can be recognised without its preamble
    Ofdm,
    /// any other PPDU
    Dsss,
    /// a burst of an interferer
    Energy,
}

/// A PPDU as it begins, or a burst.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    pub from: NodeId,
    pub start: Time,
    /// Time at which preamble and PHY header are over.
    pub header_ends: Time,
    pub end: Time,
    pub signal: Signal,
}

/// Effect on a view of a PPDU that begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Noticed {
    /// True if the PPDU is noticed.
    pub begins: bool,
    /// Number of PPDUs noticed before that are noticed no longer, as the receiver has turned from them; only if
    /// `begins`.
    pub forgotten: u32,
    /// Time at which to call [`recognises`](CarrierSense::recognises) for PPDUs that the view has missed.
    pub ask_at: Option<Time>,
    /// True if it is noticed only because bursts of interferers add to its energy: it is no frame to the receiver.
    pub as_energy: bool,
}

/// A PPDU on the air at a receiver.
#[derive(Clone, Copy, Debug)]
struct Present {
    ppdu: Begun,
    power_mw: f64,
    locked: bool,
    /// Time at which the receiver left it for one that captured it.
    left_at: Time,
    noticed: bool,
    /// True if it is noticed only together with bursts.
    as_energy: bool,
    /// True if it was recognised by its guard intervals: noticed whatever its energy.
    recognised: bool,
    /// True if another PPDU that reaches the receiver has been on the air at the same time.
    overlaid: bool,
}

impl Present {
    fn new(ppdu: &Begun, power_mw: f64) -> Self {
        let (locked, noticed, recognised, overlaid) = (false, false, false, false);
        let as_energy = false;
        Present { ppdu: *ppdu, power_mw, locked, left_at: Time::NEVER, noticed, as_energy, recognised, overlaid }
    }

    fn is_ofdm(&self) -> bool {
        self.ppdu.signal == Signal::Ofdm
    }

    /// Returns whether it is a burst of an interferer.
    fn is_burst(&self) -> bool {
        self.ppdu.signal == Signal::Energy
    }
}

/// A PPDU that ends, as a receiver has heard it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    /// Its index among the PPDUs on the air there.
    place: usize,
    /// True if the receiver is locked on it to its end.
    pub locked: bool,
    /// True if the receiver notices it, too.
    pub received: bool,
    /// True if another PPDU that reaches the receiver has overlapped it.
    pub overlaid: bool,
    pub power_mw: f64,
}

impl Heard {
    /// A PPDU that was alone on the air.
    pub(crate) fn alone(power_mw: f64) -> Heard {
        Heard { place: 0, locked: true, received: true, overlaid: false, power_mw }
    }
}

/// PPDUs on the air at a receiver when a PPDU begins.
struct Among {
    /// True if all of them begin together.
    silence: bool,
    strongest_mw: f64,
    /// Sum of all, bursts of interferers included.
    sum_mw: f64,
    /// Sum of these bursts.
    bursts_mw: f64,
}

impl Among {
    /// Returns whether a preamble of this power is found among the bursts of interferers.
    fn finds(&self, power_mw: f64) -> bool {
        power_mw >= LEGIBLE_SIR * self.bursts_mw
    }
}

/// Powers in milliwatts from which on a receiver notices a signal.
#[derive(Clone, Copy, Debug)]
struct Levels {
    preamble_mw: f64,
    energy_mw: f64,
}

/// A receiver.
#[derive(Clone, Debug)]
struct Receiver {
    present: Vec<Present>,
    sends_until: Time,
    /// End of the last PPDU that it was receiving.
    received_until: Time,
    /// Power from which on it recognises a PPDU without its preamble; infinite: never.
    recognises_from_mw: f64,
    /// Time of its next check for such PPDUs.
    ask_at: Option<Time>,
}

/// All receivers of a medium; none if nodes share views.
pub(crate) struct CarrierSense {
    receivers: Vec<Receiver>,
    levels: Levels,
    capture: Option<Capture>,
}

impl CarrierSense {
    /// Builds the receivers. `recognises_from`: for each node, the power from which on it recognises a PPDU without its
    /// preamble.
    pub(crate) fn new(
        channel: &Channel,
        capture: Option<Capture>,
        recognises_from: impl IntoIterator<Item = Option<Dbm>>,
    ) -> Self {
        let receiver = |from: Option<Dbm>| Receiver {
            present: Vec::new(),
            sends_until: Time::ZERO,
            received_until: Time::ZERO,
            recognises_from_mw: from.map_or(f64::INFINITY, milliwatts),
            ask_at: None,
        };
        match channel {
            Channel::Uniform { .. } => {
                CarrierSense { receivers: Vec::new(), levels: Levels { preamble_mw: 0.0, energy_mw: 0.0 }, capture }
            }
            Channel::Matrix(matrix) => CarrierSense {
                receivers: recognises_from.into_iter().map(receiver).collect(),
                levels: Levels { preamble_mw: matrix.preamble_mw, energy_mw: matrix.energy_mw },
                capture,
            },
        }
    }

    /// Begins a PPDU that reaches `view` with `power_mw`; to be called once for each view that may hear it.
    #[inline(always)]
    pub(crate) fn begins(&mut self, view: usize, power_mw: f64, begun: &Begun) -> Noticed {
        let (receiver, levels) = (&mut self.receivers[view], &self.levels);
        if begun.from.index() == view {
            return receiver.sends(levels, begun);
        }
        if power_mw < levels.preamble_mw.min(levels.energy_mw) {
            return Noticed::default();
        }
        if receiver.present.is_empty() && receiver.sends_until <= begun.start {
            // It is alone on the air: there is nothing to decide.
            let locked = power_mw >= levels.preamble_mw;
            let noticed = locked || power_mw >= levels.energy_mw;
            receiver.present.push(Present { locked, noticed, ..Present::new(begun, power_mw) });
            return Noticed { begins: noticed, ..Noticed::default() };
        }
        receiver.begins_among_others(levels, self.capture, power_mw, begun)
    }

    /// Begins a burst of an interferer that reaches `view` with `power_mw`; returns whether the view notices it.
    pub(crate) fn energy_begins(&mut self, view: usize, power_mw: f64, begun: &Begun) -> bool {
        // It may make the weakest preamble illegible.
        if power_mw * LEGIBLE_SIR < self.levels.preamble_mw.min(self.levels.energy_mw) {
            return false;
        }
        let receiver = &mut self.receivers[view];
        receiver.present.push(Present::new(begun, power_mw));
        let noticed = receiver.energy_mw(begun.start) >= self.levels.energy_mw;
        if let Some(latest) = receiver.present.last_mut() {
            latest.noticed = noticed;
        }
        noticed
    }

    /// Reports to `tell` the senders of PPDUs that `view` now recognises without their preambles and had not noticed
    /// before, with whether they were noticed as energy, together with bursts. Called at the time it set; returns the time of the next call.
    pub(crate) fn recognises(&mut self, view: usize, now: Time, tell: impl FnMut(NodeId, bool)) -> Option<Time> {
        self.receivers[view].recognises(now, tell)
    }

    /// Returns whether a PPDU that began a slot ago or earlier goes on at `node`, strong enough for its preamble to be
    /// received, but unnoticed, since `node` has missed its preamble.
    pub(crate) fn misses(&self, node: NodeId, now: Time, slot: Duration) -> bool {
        let preamble_mw = self.levels.preamble_mw;
        let missed =
            |p: &Present| !p.noticed && !p.is_burst() && p.power_mw >= preamble_mw && p.ppdu.start + slot <= now;
        self.receivers.get(node.index()).is_some_and(|receiver| receiver.on_air(now).any(missed))
    }

    /// The reception at `view` of the PPDU that `from` has sent until now, if `view` has heard it.
    #[inline(always)]
    pub(crate) fn heard(&self, view: usize, from: NodeId) -> Option<Heard> {
        let present = &self.receivers[view].present;
        let (place, p) = present.iter().enumerate().find(|(_, p)| p.ppdu.from == from)?;
        let &Present { locked, noticed, overlaid, power_mw, .. } = p;
        Some(Heard { place, locked, received: noticed && locked, overlaid, power_mw })
    }

    /// Ends a PPDU that `view` has heard, after its reception is settled; returns the number of noticed PPDUs that the
    /// view notices no longer.
    #[inline(always)]
    pub(crate) fn ends(&mut self, view: usize, heard: Heard) -> u32 {
        self.receivers[view].ends(&self.levels, heard.place)
    }

    /// Returns whether `view` notices the PPDU that `from` is sending.
    pub(crate) fn notices(&self, view: usize, from: NodeId) -> bool {
        self.receivers[view].of(from).is_some_and(|p| p.noticed)
    }

    /// Returns whether `view` takes the PPDU that `from` is sending for a frame.
    pub(crate) fn notices_frame(&self, view: usize, from: NodeId) -> bool {
        self.receivers[view].of(from).is_some_and(|p| p.noticed && !p.as_energy)
    }

    /// Returns whether `receiver` is locked on the PPDU that `from` is sending.
    pub(crate) fn is_locked_on(&self, receiver: NodeId, from: NodeId) -> bool {
        self.receivers[receiver.index()].of(from).is_some_and(|p| p.locked)
    }
}

impl Receiver {
    fn of(&self, from: NodeId) -> Option<&Present> {
        self.present.iter().find(|p| p.ppdu.from == from)
    }

    #[inline(never)]
    fn begins_among_others(
        &mut self,
        levels: &Levels,
        capture: Option<Capture>,
        power_mw: f64,
        begun: &Begun,
    ) -> Noticed {
        let now = begun.start;
        self.present.push(Present::new(begun, power_mw));
        let among = self.among(now);
        self.overlay(now);
        if self.sends_until <= now {
            match capture {
                Some(capture) => self.lock_with_capture(levels, capture, now, &among),
                None => self.lock(levels, now, &among),
            }
        }
        let latest = self.present.last_mut().expect("it was put there");
        latest.noticed = latest.locked || among.sum_mw >= levels.energy_mw;
        latest.as_energy = !latest.locked && among.sum_mw - among.bursts_mw < levels.energy_mw;
        let (begins, turned, as_energy) = (latest.noticed, latest.locked, latest.as_energy);
        let forgotten = if turned { self.forget(levels, now, among.sum_mw) } else { 0 };
        Noticed { begins, forgotten, ask_at: self.ask_earlier(now), as_energy }
    }

    /// Starts a transmission of this receiver's node: it receives nothing, and PPDUs that outlast it are energy to it.
    fn sends(&mut self, levels: &Levels, begun: &Begun) -> Noticed {
        let now = begun.start;
        self.sends_until = begun.end;
        for p in self.present.iter_mut().filter(|p| p.ppdu.end > now) {
            (p.locked, p.recognised) = (false, false);
        }
        let forgotten = self.forget(levels, now, self.energy_mw(now));
        self.present.push(Present { noticed: true, ..Present::new(begun, 0.0) });
        Noticed { begins: true, forgotten, ask_at: self.ask_earlier(now), as_energy: false }
    }

    /// The time from which on it listens, as far as is known: it neither sends nor receives.
    fn listens_from(&self) -> Time {
        let receives_until = self.present.iter().filter(|p| p.locked).map(|p| p.ppdu.end).max();
        self.sends_until.max(self.received_until).max(receives_until.unwrap_or(Time::ZERO))
    }

    /// The time at which the first of the PPDUs it has missed will be recognised, if it lasts that long.
    fn next_known(&self, now: Time) -> Option<Time> {
        if self.recognises_from_mw == f64::INFINITY {
            return None;
        }
        let listens_from = self.listens_from();
        let is_missed = |p: &&Present| p.is_ofdm() && !p.locked && !p.recognised;
        let missed = self.on_air(now).filter(|p| p.power_mw >= self.recognises_from_mw).filter(is_missed);
        let known = missed.map(|p| (p.ppdu.start.max(listens_from) + MID_PACKET_TIME, p.ppdu.end));
        known.filter(|(at, end)| at < end).map(|(at, _)| at).min()
    }

    /// The time of the next check, if it is earlier than the one set before.
    fn ask_earlier(&mut self, now: Time) -> Option<Time> {
        let next = self.next_known(now)?;
        let is_earlier = self.ask_at.is_none_or(|at| next < at);
        if is_earlier {
            self.ask_at = Some(next);
        }
        self.ask_at.filter(|_| is_earlier)
    }

    fn recognises(&mut self, now: Time, mut tell: impl FnMut(NodeId, bool)) -> Option<Time> {
        if self.ask_at != Some(now) {
            return None;
        }
        self.ask_at = None;
        let (listens_from, from_mw) = (self.listens_from(), self.recognises_from_mw);
        for p in self.present.iter_mut().filter(|p| p.is_ofdm() && !p.locked && p.power_mw >= from_mw) {
            let known = p.ppdu.start.max(listens_from) + MID_PACKET_TIME <= now && p.ppdu.end > now;
            if !known || std::mem::replace(&mut p.recognised, true) {
                continue;
            }
            let (was_noticed, was_energy) = (p.noticed, p.noticed && p.as_energy);
            (p.noticed, p.as_energy) = (true, false);
            if !was_noticed || was_energy {
                tell(p.ppdu.from, was_energy);
            }
        }
        self.ask_earlier(now)
    }

    /// Decides on which of the PPDUs that begin now the receiver locks; called for each of them. A PPDU that began
    /// earlier holds the receiver, or spoils those that begin.
    fn lock(&mut self, levels: &Levels, now: Time, among: &Among) {
        if !among.silence {
            return;
        }
        for p in self.beginning(levels, now) {
            p.locked = p.power_mw == among.strongest_mw && among.finds(p.power_mw);
        }
    }

    /// Does the same as [`lock`](Self::lock), and also decides which PPDU the receiver leaves for them.
    fn lock_with_capture(&mut self, levels: &Levels, capture: Capture, now: Time, among: &Among) {
        for p in self.present.iter_mut().filter(|p| p.left_at == now) {
            (p.locked, p.left_at) = (true, Time::NEVER);
        }
        let free = self.on_air(now).filter(|p| p.locked && p.ppdu.start < now).all(|p| may_turn_from(p, capture, now));
        let &Among { silence, strongest_mw, sum_mw, bursts_mw } = among;
        let mut turned = false;
        for p in self.beginning(levels, now) {
            let captures = || free && capture.captures(p.power_mw, sum_mw - bursts_mw - p.power_mw);
            let stands_out = if silence { p.power_mw == strongest_mw } else { captures() };
            p.locked = stands_out && among.finds(p.power_mw);
            turned |= p.locked;
        }
        for p in self.present.iter_mut().filter(|p| turned && p.locked && p.ppdu.start < now && p.ppdu.end > now) {
            (p.locked, p.left_at) = (false, now);
        }
    }

    /// PPDUs that begin now, strong enough for their preambles.
    fn beginning(&mut self, levels: &Levels, now: Time) -> impl Iterator<Item = &mut Present> {
        let preamble_mw = levels.preamble_mw;
        let begins = move |p: &&mut Present| p.ppdu.start == now && p.power_mw >= preamble_mw && !p.is_burst();
        self.present.iter_mut().filter(begins)
    }

    /// Stops noticing PPDUs that are neither received nor, together with all others, strong enough; returns their
    /// number.
    fn forget(&mut self, levels: &Levels, now: Time, sum_mw: f64) -> u32 {
        if sum_mw >= levels.energy_mw {
            return 0;
        }
        let mut forgotten = 0;
        let by_energy = |p: &&mut Present| p.noticed && !p.locked && !p.recognised && p.power_mw > 0.0;
        for p in self.present.iter_mut().filter(|p| p.ppdu.end > now).filter(by_energy) {
            p.noticed = false;
            forgotten += 1;
        }
        forgotten
    }

    #[inline(always)]
    fn ends(&mut self, levels: &Levels, place: usize) -> u32 {
        let ended = &self.present[place];
        let (end, noticed, locked) = (ended.ppdu.end, u32::from(ended.noticed), ended.locked);
        if locked {
            self.received_until = end;
        }
        if self.present.len() == 1 {
            self.present.clear();
            return noticed;
        }
        self.present.swap_remove(place);
        noticed + self.forget(levels, end, self.energy_mw(end))
    }

    /// PPDUs of others on the air at `now`.
    fn on_air(&self, now: Time) -> impl Iterator<Item = &Present> {
        self.present.iter().filter(move |p| p.ppdu.end > now && p.power_mw > 0.0)
    }

    fn energy_mw(&self, now: Time) -> f64 {
        self.on_air(now).map(|p| p.power_mw).sum()
    }

    /// Marks the latest PPDU and the others that have not ended as overlapping.
    fn overlay(&mut self, now: Time) {
        let Some((latest, others)) = self.present.split_last_mut() else { return };
        for other in others.iter_mut().filter(|o| o.ppdu.end > now && o.power_mw > 0.0 && !o.is_burst()) {
            (latest.overlaid, other.overlaid) = (true, true);
        }
    }

    /// The PPDUs that one beginning now meets, itself included.
    fn among(&self, now: Time) -> Among {
        let mut among = Among { silence: true, strongest_mw: 0.0, sum_mw: 0.0, bursts_mw: 0.0 };
        for p in self.on_air(now) {
            if p.is_burst() {
                (among.sum_mw, among.bursts_mw) = (among.sum_mw + p.power_mw, among.bursts_mw + p.power_mw);
                continue;
            }
            among.silence &= p.ppdu.start >= now;
            among.strongest_mw = among.strongest_mw.max(p.power_mw);
            among.sum_mw += p.power_mw;
        }
        among
    }
}

/// Returns whether a receiver may leave the first of two.
fn may_turn_from(first: &Present, capture: Capture, now: Time) -> bool {
    match capture.late {
        LateCapture::Off => false,
        LateCapture::Preamble => now < first.ppdu.header_ends,
        LateCapture::AnyTime => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::{CcaLevels, Matrix};
    use lasthop_units::{Dbm, Duration};

    /// Node 0 listens; node n is heard there at `levels[n - 1]` dBm. Headers last 20 us.
    struct Cell {
        channel: Channel,
        sense: CarrierSense,
        ask_at: Option<Time>,
    }

    const RX: NodeId = NodeId(0);

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_micros(us)
    }

    impl Cell {
        fn new(levels: &[f64], capture: Option<(f64, LateCapture)>) -> Cell {
            let cca = CcaLevels { preamble: Dbm(-82.0), energy: Dbm(-62.0) };
            let power = |tx: NodeId, rx: NodeId| Dbm(if rx == RX && tx != RX { levels[tx.index() - 1] } else { -50.0 });
            let channel = Channel::Matrix(Matrix::new(levels.len() + 1, cca, power));
            let capture = capture.map(|(db, late)| Capture { threshold: Db(db), late });
            let nodes = vec![None; levels.len() + 1];
            Cell { sense: CarrierSense::new(&channel, capture, nodes), channel, ask_at: None }
        }
        /// A listener that recognises OFDM PPDUs by their guard intervals from this power in dBm on.
        fn recognising(levels: &[f64], from: f64) -> Cell {
            let mut cell = Cell::new(levels, None);
            cell.sense.receivers[0].recognises_from_mw = milliwatts(Dbm(from));
            cell
        }
        fn begins(&mut self, from: u32, start: u64, end: u64) -> (bool, u32) {
            let (start, end) = (us(start), us(end));
            let header_ends = start + Duration::from_micros(20);
            let begun = Begun { from: NodeId(from), start, header_ends, end, signal: Signal::Ofdm };
            let Channel::Matrix(matrix) = &self.channel else { unreachable!("powers differ") };
            let noticed = self.sense.begins(0, matrix.power_mw(start, NodeId(from), RX), &begun);
            self.ask_at = noticed.ask_at.or(self.ask_at);
            (noticed.begins, noticed.forgotten)
        }
        /// The time of the listener's next check, and the senders of the PPDUs that it recognises then.
        fn recognised(&mut self) -> Option<(Time, Vec<u32>)> {
            let (at, mut known) = (self.ask_at.take()?, Vec::new());
            self.ask_at = self.sense.recognises(0, at, |node, _| known.push(node.0));
            Some((at, known))
        }
        fn ends(&mut self, from: u32) -> u32 {
            self.sense.heard(0, NodeId(from)).map_or(0, |heard| self.sense.ends(0, heard))
        }
        fn locked(&self) -> Vec<u32> {
            (1..self.sense.receivers.len() as u32).filter(|&from| self.sense.is_locked_on(RX, NodeId(from))).collect()
        }
    }

    #[test]
    fn preamble_and_energy_have_their_own_cca_levels() {
        for (level, noticed) in [(-82.0, true), (-82.1, false)] {
            assert_eq!(Cell::new(&[level], None).begins(1, 0, 100).0, noticed);
        }
        // The preamble of the second is missed, as the first is received. -62.1 and -70 dBm are -61.4 together, and
        // without the first too little; -63 and -70 are -62.2.
        for (level, noticed, let_go) in [(-62.0, true, 1), (-62.1, true, 2), (-63.0, false, 1)] {
            let mut cell = Cell::new(&[-70.0, level], None);
            assert_eq!(cell.begins(1, 0, 100), (true, 0));
            assert_eq!(cell.begins(2, 50, 200), (noticed, 0));
            assert_eq!((cell.locked(), cell.ends(1)), (vec![1], let_go));
        }
    }

    #[test]
    fn ppdu_that_begins_while_a_receiver_sends_is_energy() {
        let mut cell = Cell::new(&[-70.0, -60.0], None);
        assert_eq!(cell.begins(0, 0, 100), (true, 0));
        assert_eq!((cell.begins(1, 50, 300), cell.begins(2, 60, 300)), ((false, 0), (true, 0)));
        assert!(cell.locked().is_empty());
        // A PPDU that it was receiving is lost when it sends, and at -70 dBm noticed no longer.
        let mut cell = Cell::new(&[-70.0], None);
        assert_eq!((cell.begins(1, 0, 300), cell.locked()), ((true, 0), vec![1]));
        assert_eq!((cell.begins(0, 50, 100), cell.locked()), ((true, 1), vec![]));
        assert_eq!((cell.ends(0), cell.ends(1)), (1, 0));
    }

    #[test]
    fn powers_add_up_to_energy() {
        // Two of -64.9 dBm make -61.9; the first is received, the second noticed while both are there.
        let mut cell = Cell::new(&[-64.9, -64.9, -64.9], None);
        assert_eq!((cell.begins(1, 0, 100).0, cell.begins(2, 50, 300).0), (true, true));
        assert_eq!(cell.ends(1), 2);
        // A third begins while the second is on the air, so its preamble is missed.
        assert_eq!((cell.begins(3, 200, 400), cell.locked()), ((true, 0), vec![]));
        assert_eq!((cell.ends(2), cell.ends(3)), (1, 0));
    }

    #[test]
    fn of_those_that_begin_together_the_strongest_is_received() {
        let mut cell = Cell::new(&[-70.0, -65.0, -68.0], None);
        assert_eq!((cell.begins(1, 0, 100).0, cell.locked()), (true, vec![1]));
        // The first has been left: at -70 dBm it is noticed no longer.
        assert_eq!((cell.begins(2, 0, 100), cell.locked()), ((true, 1), vec![2]));
        assert_eq!((cell.begins(3, 0, 100).0, cell.locked()), (false, vec![2]));
        let mut alike = Cell::new(&[-70.0, -70.0], None);
        assert!(alike.begins(1, 0, 100).0 && alike.begins(2, 0, 100).0);
        assert_eq!(alike.locked(), [1, 2]);
    }

    #[test]
    fn the_later_and_stronger_frame_is_captured_where_that_is_allowed() {
        use LateCapture::{AnyTime, Off, Preamble};
        for (late, start, level, captured) in [
            (Off, 5, -40.0, false),
            (Preamble, 5, -59.9, true),
            (Preamble, 5, -60.1, false),
            (Preamble, 19, -59.9, true),
            (Preamble, 20, -40.0, false),
            (AnyTime, 90, -59.9, true),
            (AnyTime, 90, -60.1, false),
        ] {
            let mut cell = Cell::new(&[-70.0, level], Some((10.0, late)));
            cell.begins(1, 0, 100);
            // At -70 dBm the PPDU that was left is not noticed by itself, but as part of the energy.
            assert_eq!(cell.begins(2, start, 200), (true, 0), "{late:?} {start} {level}");
            assert_eq!(cell.locked(), [if captured { 2 } else { 1 }], "{late:?} {start} {level}");
        }
    }

    #[test]
    fn idle_receiver_locks_on_a_preamble_that_exceeds_all_other_signals() {
        // The second is missed as the first is received; when that is over, a third 10 dB above the second is not.
        for (third, locked) in [(-59.9, vec![3]), (-60.1, vec![])] {
            let mut cell = Cell::new(&[-70.0, -70.0, third], Some((10.0, LateCapture::Off)));
            cell.begins(1, 0, 100);
            cell.begins(2, 50, 500);
            cell.ends(1);
            cell.begins(3, 200, 400);
            assert_eq!(cell.locked(), locked);
        }
    }

    #[test]
    fn missed_ppdu_is_recognised_after_a_ccamidtime() {
        // The receiver sends until 100 us; it recognises a PPDU at -72 dBm at 125 us, one at -72.1 dBm never.
        for (level, known) in [(-72.0, Some((us(125), vec![1]))), (-72.1, None)] {
            let mut cell = Cell::recognising(&[level], -72.0);
            cell.begins(0, 0, 100);
            assert_eq!(cell.begins(1, 0, 300), (false, 0));
            assert_eq!(cell.recognised(), known, "{level}");
            assert_eq!(cell.ends(0), 1);
            assert_eq!(cell.ends(1), u32::from(known.is_some()));
        }
        // A PPDU that ends by then is not recognised.
        let mut cell = Cell::recognising(&[-70.0], -72.0);
        cell.begins(0, 0, 100);
        cell.begins(1, 0, 125);
        assert_eq!(cell.recognised(), None);
    }

    #[test]
    fn a_receiver_does_not_listen_while_it_sends_or_receives() {
        // It receives the first until 100 us, so it recognises the second, which begins meanwhile, at 125 us.
        let mut cell = Cell::recognising(&[-70.0, -71.0], -72.0);
        cell.begins(1, 0, 100);
        assert_eq!(cell.begins(2, 50, 400), (false, 0));
        assert_eq!(cell.ends(1), 1);
        assert_eq!(cell.recognised(), Some((us(125), vec![2])));
        // Its own PPDU from 200 to 260 us makes it start over, and forget.
        assert_eq!(cell.begins(0, 200, 260), (true, 1));
        assert_eq!((cell.recognised(), cell.ends(0)), (Some((us(285), vec![2])), 1));
        // It sends again before the check, which is then later.
        let mut cell = Cell::recognising(&[-70.0], -72.0);
        cell.begins(0, 0, 100);
        cell.begins(1, 0, 400);
        cell.ends(0);
        cell.begins(0, 116, 160);
        assert_eq!(cell.recognised(), Some((us(125), vec![])));
        assert_eq!(cell.recognised(), Some((us(185), vec![1])));
    }

    #[test]
    fn recognised_ppdu_stays_noticed_when_energy_falls() {
        // -64 and -65 dBm are -61.5 together: noticed by energy. When the first ends, the second is already recognised.
        let mut cell = Cell::recognising(&[-64.0, -65.0], -72.0);
        cell.begins(0, 0, 100);
        assert_eq!((cell.begins(1, 0, 300), cell.begins(2, 10, 400)), ((false, 0), (true, 0)));
        cell.ends(0);
        assert_eq!(cell.recognised(), Some((us(125), vec![1])));
        assert_eq!((cell.ends(1), cell.ends(2)), (1, 1));
    }
}
