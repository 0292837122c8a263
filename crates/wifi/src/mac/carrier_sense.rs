//! What each receiver is doing: which PPDU it receives, and which it notices.
//!
//! ```text
//!            a PPDU begins
//!  free ────────────────────────► receiving it ──► its end: free
//!    ▲   heard from cca_preamble on,   │
//!    │   and loud enough among others  ├── a much stronger one begins: receiving that, if `late` allows
//!    └─────────────────────────────────┴── sends itself: receives nothing
//! ```
//!
//! A receiver locks on a PPDU that begins while it neither sends nor receives, if the PPDU reaches
//! `cca_preamble`, nothing else that it hears is on the air, and of those that begin together it is the
//! strongest; two of equal strength both spoil and hold it. With capture it locks on one that exceeds
//! the sum of all else by the threshold, and leaves for that what it was receiving where
//! [`LateCapture`] says so.
//!
//! It notices what it is locked on, to its end, and otherwise energy: a PPDU that lifts the sum of all
//! powers to `cca_energy` is noticed as long as the sum stays there [802.11-2020 §17.3.10.6]. A PPDU whose
//! preamble was missed, as the receiver was sending or receiving then, is thus noticed by its energy only.
//! Left out: secondary channels, spatial reuse.

use lasthop_observe::NodeId;
use lasthop_registry::words;
use lasthop_units::{Db, Time};

use crate::channel::{Channel, Matrix};

words! {
    /// When a receiver leaves the frame that it receives for one that begins later and is stronger.
    pub enum LateCapture {
        /// never
        Off = "off",
        /// during preamble and PHY header of the first [Kochut et al. 2004], as ns-3 has it
        Preamble = "preamble",
        /// at any time, as receivers that restart [Lee et al. 2007]
        AnyTime = "any_time",
    }
}

/// When a frame survives others that overlap it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capture {
    /// it is this much stronger than all of them together
    pub threshold: Db,
    /// whether it may be the later one
    pub late: LateCapture,
}

impl Capture {
    /// Whether `signal` exceeds `others` by the threshold; powers in milliwatts.
    pub(crate) fn captures(&self, signal: f64, others: f64) -> bool {
        10.0 * libm::log10(signal / others) >= self.threshold.0
    }
}

/// A PPDU as it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    pub from: NodeId,
    pub start: Time,
    /// When preamble and PHY header are over.
    pub header_ends: Time,
    pub end: Time,
}

/// What a view makes of a PPDU that begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Noticed {
    /// The PPDU is noticed.
    pub begins: bool,
    /// So many that were noticed before are not any more, as the receiver has turned from them; only where `begins`.
    pub forgotten: u32,
}

/// A PPDU on the air at a receiver.
#[derive(Clone, Copy, Debug)]
struct Present {
    ppdu: Begun,
    power_mw: f64,
    locked: bool,
    /// When the receiver left it for one that captured it.
    left_at: Time,
    noticed: bool,
}

impl Present {
    fn new(ppdu: &Begun, power_mw: f64) -> Self {
        Present { ppdu: *ppdu, power_mw, locked: false, left_at: Time::NEVER, noticed: false }
    }
}

/// A receiver.
#[derive(Clone, Debug, Default)]
struct Receiver {
    present: Vec<Present>,
    sends_until: Time,
}

/// All receivers of a medium; none where nodes share views.
pub(crate) struct CarrierSense {
    receivers: Vec<Receiver>,
    capture: Option<Capture>,
}

impl CarrierSense {
    pub(crate) fn new(channel: &Channel, capture: Option<Capture>) -> Self {
        let receivers = if let Channel::Matrix(matrix) = channel { matrix.nodes() } else { 0 };
        CarrierSense { receivers: vec![Receiver::default(); receivers], capture }
    }

    /// A PPDU begins; to be called once for each view.
    pub(crate) fn begins(&mut self, channel: &Channel, view: usize, begun: &Begun) -> Noticed {
        match channel {
            Channel::Uniform { .. } => Noticed { begins: channel.hears(begun.start, view, begun.from), forgotten: 0 },
            Channel::Matrix(matrix) => self.receivers[view].begins(matrix, self.capture, view, begun),
        }
    }

    /// A PPDU of `from` ends, or has ended; to be called once for each view, after what was received of it is
    /// settled: how many PPDUs that the view has noticed it does not notice any more.
    pub(crate) fn ends(&mut self, channel: &Channel, view: usize, from: NodeId) -> u32 {
        match channel {
            Channel::Uniform { .. } => u32::from(channel.hears(Time::ZERO, view, from)),
            Channel::Matrix(matrix) => self.receivers[view].ends(matrix, from),
        }
    }

    /// Whether `view` notices the PPDU that `from` is sending.
    pub(crate) fn notices(&self, channel: &Channel, view: usize, from: NodeId) -> bool {
        match channel {
            Channel::Uniform { .. } => channel.hears(Time::ZERO, view, from),
            Channel::Matrix(_) => self.receivers[view].of(from).is_some_and(|p| p.noticed),
        }
    }

    /// Whether `receiver` is locked on the PPDU that `from` is sending.
    pub(crate) fn is_locked_on(&self, receiver: NodeId, from: NodeId) -> bool {
        self.receivers[receiver.index()].of(from).is_some_and(|p| p.locked)
    }
}

impl Receiver {
    fn of(&self, from: NodeId) -> Option<&Present> {
        self.present.iter().find(|p| p.ppdu.from == from)
    }

    fn begins(&mut self, matrix: &Matrix, capture: Option<Capture>, view: usize, begun: &Begun) -> Noticed {
        if begun.from.index() == view {
            return self.sends(matrix, begun);
        }
        let power_mw = matrix.power_mw(begun.start, begun.from, NodeId(view as u32));
        if power_mw < matrix.audible_mw() {
            return Noticed::default();
        }
        let now = begun.start;
        if self.present.is_empty() && self.sends_until <= now {
            // Alone on the air: there is nothing to settle.
            let locked = power_mw >= matrix.preamble_mw;
            let noticed = locked || power_mw >= matrix.energy_mw;
            self.present.push(Present { locked, noticed, ..Present::new(begun, power_mw) });
            return Noticed { begins: noticed, forgotten: 0 };
        }
        self.present.push(Present::new(begun, power_mw));
        if self.sends_until <= now {
            self.lock(matrix, capture, now);
        }
        let energy = self.energy_mw(now) >= matrix.energy_mw;
        let latest = self.present.last_mut().expect("it was put there");
        latest.noticed = latest.locked || energy;
        let (begins, turned) = (latest.noticed, latest.locked);
        Noticed { begins, forgotten: if turned { self.forget(matrix, now) } else { 0 } }
    }

    /// The node of this receiver sends: it receives nothing, and what goes on afterwards is energy to it.
    fn sends(&mut self, matrix: &Matrix, begun: &Begun) -> Noticed {
        let now = begun.start;
        self.sends_until = begun.end;
        self.present.iter_mut().filter(|p| p.ppdu.end > now).for_each(|p| p.locked = false);
        let forgotten = self.forget(matrix, now);
        self.present.push(Present { noticed: true, ..Present::new(begun, 0.0) });
        Noticed { begins: true, forgotten }
    }

    /// Settles on which of the PPDUs that begin now the receiver locks, and what it leaves for them; anew with each.
    fn lock(&mut self, matrix: &Matrix, capture: Option<Capture>, now: Time) {
        for p in self.present.iter_mut().filter(|p| p.left_at == now) {
            (p.locked, p.left_at) = (true, Time::NEVER);
        }
        let silence = !self.on_air(now).any(|p| p.ppdu.start < now);
        let free = self.on_air(now).filter(|p| p.locked && p.ppdu.start < now).all(|p| may_turn_from(p, capture, now));
        let strongest = self.on_air(now).map(|p| p.power_mw).fold(0.0, f64::max);
        let sum = self.energy_mw(now);
        let mut turned = false;
        for p in self.present.iter_mut().filter(|p| p.ppdu.start == now && p.power_mw >= matrix.preamble_mw) {
            let captures = || free && capture.is_some_and(|c| c.captures(p.power_mw, sum - p.power_mw));
            p.locked = if silence { p.power_mw == strongest } else { captures() };
            turned |= p.locked;
        }
        for p in self.present.iter_mut().filter(|p| turned && p.locked && p.ppdu.start < now && p.ppdu.end > now) {
            (p.locked, p.left_at) = (false, now);
        }
    }

    /// Stops noticing what is neither received nor, together with all else, loud enough; how many that are.
    fn forget(&mut self, matrix: &Matrix, now: Time) -> u32 {
        if self.energy_mw(now) >= matrix.energy_mw {
            return 0;
        }
        let mut forgotten = 0;
        for p in self.present.iter_mut().filter(|p| p.ppdu.end > now && p.noticed && !p.locked && p.power_mw > 0.0) {
            p.noticed = false;
            forgotten += 1;
        }
        forgotten
    }

    fn ends(&mut self, matrix: &Matrix, from: NodeId) -> u32 {
        let Some(index) = self.present.iter().position(|p| p.ppdu.from == from) else { return 0 };
        let ended = self.present.swap_remove(index);
        if self.present.is_empty() {
            return u32::from(ended.noticed);
        }
        u32::from(ended.noticed) + self.forget(matrix, ended.ppdu.end)
    }

    /// What of others is on the air at `now`.
    fn on_air(&self, now: Time) -> impl Iterator<Item = &Present> {
        self.present.iter().filter(move |p| p.ppdu.end > now && p.power_mw > 0.0)
    }

    fn energy_mw(&self, now: Time) -> f64 {
        self.on_air(now).map(|p| p.power_mw).sum()
    }
}

/// Whether a receiver may leave the first of two.
fn may_turn_from(first: &Present, capture: Option<Capture>, now: Time) -> bool {
    capture.is_some_and(|capture| match capture.late {
        LateCapture::Off => false,
        LateCapture::Preamble => now < first.ppdu.header_ends,
        LateCapture::AnyTime => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::CcaLevels;
    use lasthop_units::{Dbm, Duration};

    /// Node 0 listens; node n is heard there at `levels[n - 1]` dBm. Headers last 20 us.
    struct Cell {
        channel: Channel,
        sense: CarrierSense,
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
            Cell { sense: CarrierSense::new(&channel, capture), channel }
        }
        fn begins(&mut self, from: u32, start: u64, end: u64) -> (bool, u32) {
            let (start, end) = (us(start), us(end));
            let header_ends = start + Duration::from_micros(20);
            let begun = Begun { from: NodeId(from), start, header_ends, end };
            let noticed = self.sense.begins(&self.channel, 0, &begun);
            (noticed.begins, noticed.forgotten)
        }
        fn ends(&mut self, from: u32) -> u32 {
            self.sense.ends(&self.channel, 0, NodeId(from))
        }
        fn locked(&self) -> Vec<u32> {
            (1..self.sense.receivers.len() as u32).filter(|&from| self.sense.is_locked_on(RX, NodeId(from))).collect()
        }
    }

    #[test]
    fn a_preamble_is_noticed_from_its_level_on_and_what_has_none_from_that_of_energy() {
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
    fn what_begins_while_a_receiver_sends_is_energy_to_it() {
        let mut cell = Cell::new(&[-70.0, -60.0], None);
        assert_eq!(cell.begins(0, 0, 100), (true, 0));
        assert_eq!((cell.begins(1, 50, 300), cell.begins(2, 60, 300)), ((false, 0), (true, 0)));
        assert!(cell.locked().is_empty());
        // One that it was receiving is lost when it sends, and at -70 dBm not noticed any more.
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
        // A third together with the second: its preamble meets the second and is missed.
        assert_eq!((cell.begins(3, 200, 400), cell.locked()), ((true, 0), vec![]));
        assert_eq!((cell.ends(2), cell.ends(3)), (1, 0));
    }

    #[test]
    fn of_those_that_begin_together_the_strongest_is_received() {
        let mut cell = Cell::new(&[-70.0, -65.0, -68.0], None);
        assert_eq!((cell.begins(1, 0, 100).0, cell.locked()), (true, vec![1]));
        // The first has been left: at -70 dBm it is not noticed any more.
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
            // What is left is at -70 dBm not noticed for itself, but as part of the energy.
            assert_eq!(cell.begins(2, start, 200), (true, 0), "{late:?} {start} {level}");
            assert_eq!(cell.locked(), [if captured { 2 } else { 1 }], "{late:?} {start} {level}");
        }
    }

    #[test]
    fn a_receiver_that_receives_nothing_locks_on_what_exceeds_all_else() {
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
}
