//! A built-in rate control as a policy: it learns of attempts from the quantities that an agent sees, and sets the retry chain of a link.
//!
//! A decision is an attempt. The rate control is asked for a chain when the MAC would ask: after a frame or A-MPDU that was
//! acknowledged, and once its chain is used up. A knob gives an entry its rate; of several modes with one rate the knob takes the simplest.
//! No knob of a link protects an entry by RTS.

use lasthop_observe::metric::frames;
use lasthop_registry::params;
use lasthop_units::{Bytes, Time};
use lasthop_wifi::phy::ModeId;
use lasthop_wifi::rate_control::{FrameInfo, RateChain, RateControl, RateControlKind, TxStatus};

use super::interface::{Observed, Policy};

params! {
    /// Parameters.
    pub struct Params {
        /// The algorithm; default: the link's own rate control.
        pub algorithm: Option<RateControlKind> = None,
    }
}

/// The quantities that it sees of its link, in the order of [`OfLink::places`].
pub(crate) const QUANTITIES: [&str; 5] = [
    frames::LINK_FRAMES_SENT.definition().name,
    frames::LINK_DATA_RATE_MEAN.definition().name,
    frames::LINK_MPDUS_MEAN.definition().name,
    frames::MPDU_LOSS.definition().name,
    frames::RETRIES.definition().name,
];

/// The length of a frame with a full packet, which decides no choice but that of `ideal`.
const FULL_FRAME: Bytes = Bytes(1536);

/// A rate control with the facts of its link.
pub(crate) struct OfLink {
    pub control: Box<dyn RateControl>,
    /// the modes of the link with their rates in bit/s
    pub modes: Vec<(ModeId, f64)>,
    /// whether its sender makes A-MPDUs
    pub aggregates: bool,
    /// places of its quantities in an observation
    pub places: [usize; QUANTITIES.len()],
    /// places of its knobs among the controls: of each entry its rate and its attempts
    pub entries: Vec<(usize, usize)>,
    /// place of the knob that keeps a probe to one MPDU, with its greatest value
    pub max_mpdus: Option<(usize, f64)>,
}

/// A rate control that acts through knobs.
pub(super) struct Sender {
    of: OfLink,
    chain: Option<RateChain>,
    /// attempts of the chain so far
    tried: u32,
    /// attempts at the frame so far
    retries: u32,
    /// entries that have a rate from here
    entries_set: usize,
}

impl Sender {
    pub(super) fn new(of: OfLink) -> Sender {
        Sender { of, chain: None, tried: 0, retries: 0, entries_set: 0 }
    }

    fn rate_of(&self, mode: ModeId) -> f64 {
        self.of.modes.iter().find(|(known, _)| *known == mode).map_or(0.0, |(_, rate)| *rate)
    }

    /// The mode of an attempt: the one of the chain if it has this rate, else one that has it.
    fn mode_at(&self, rate_bps: f64) -> ModeId {
        let apart = |mode: ModeId| (self.rate_of(mode) - rate_bps).abs();
        let planned = self.chain.and_then(|chain| chain.mode_of_attempt(self.tried));
        if let Some(mode) = planned.filter(|mode| apart(*mode) < 1.0) {
            return mode;
        }
        let nearest = self.of.modes.iter().map(|(mode, _)| *mode).min_by(|a, b| apart(*a).total_cmp(&apart(*b)));
        nearest.expect("a link has a mode")
    }

    /// Learns of an attempt. Returns whether the MAC goes on with the chain.
    fn learn(&mut self, now: Time, [rate_bps, mpdus, lost, retried]: [f64; 4]) -> bool {
        if !self.of.aggregates && retried == 0.0 {
            // The frame before was given up, or this is the first one.
            (self.tried, self.retries) = (0, 0);
        }
        let mode = self.mode_at(rate_bps);
        let mpdus = (mpdus.round() as u32).max(1);
        let acknowledged = (f64::from(mpdus) * (1.0 - lost)).round() as u32;
        let success = acknowledged > 0;
        self.of.control.on_tx_status(&TxStatus { now, mode, success, mpdus, acknowledged, rts: false, snr: None });
        self.tried += 1;
        self.retries = if success { 0 } else { self.retries + 1 };
        !success && self.chain.is_some_and(|chain| chain.entry_of_attempt(self.tried).is_some())
    }

    fn ask(&mut self, now: Time, values: &mut [f64]) {
        let (aggregates, retry) = (self.of.aggregates, self.retries);
        let chain = self.of.control.rates_for(&FrameInfo { now, bytes: FULL_FRAME, aggregates, retry, packet: 0 });
        self.chain = Some(chain);
        self.tried = 0;
        let entries = chain.entries();
        self.entries_set = self.entries_set.max(entries.len());
        // An entry that an earlier chain has set repeats the last one.
        for (place, (rate, tries)) in self.of.entries.iter().enumerate().take(self.entries_set) {
            let entry = entries.get(place).unwrap_or(&entries[entries.len() - 1]);
            values[*rate] = self.rate_of(entry.mode);
            values[*tries] = if place < entries.len() { f64::from(entry.tries) } else { 1.0 };
        }
        if let Some((place, most)) = self.of.max_mpdus {
            values[place] = if chain.is_probe() { 1.0 } else { most };
        }
    }
}

impl Policy for Sender {
    fn act(&mut self, observed: &Observed<'_>, values: &mut [f64]) {
        let number = |which: usize| {
            let place = self.of.places[which];
            if observed.absent[place] { 0.0 } else { observed.values[place] }
        };
        let attempts = number(0);
        let goes_on = match attempts {
            0.0 => self.chain.is_some(),
            1.0 => self.learn(observed.now, [1, 2, 3, 4].map(number)),
            // Those before the first decision.
            _ => false,
        };
        if !goes_on {
            self.ask(observed.now, values);
        }
    }

    fn failure(&self) -> Option<&str> {
        self.of.control.failure()
    }
}
