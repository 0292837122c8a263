//! The rate controls of all links, and the latest choice of each.

use lasthop_observe::{LinkId, Outcome, Record};
use lasthop_units::Time;

use crate::environment::Environment;
use crate::phy::{ModeId, Phy};
use crate::rate_control::{FrameInfo, RateChain, RateControl, TxStatus};

/// The latest choice of a link's rate control, and its result.
#[derive(Clone, Copy, Debug)]
struct Memory {
    first: Option<ModeId>,
    outcome: Outcome,
}

/// A chain from outside in place of a rate control.
struct Held(RateChain);

impl RateControl for Held {
    fn rates_for(&mut self, _: &FrameInfo) -> RateChain {
        self.0
    }
    fn on_tx_status(&mut self, _: &TxStatus) {}
}

/// The rate control of each link.
pub(crate) struct Links {
    controls: Vec<Box<dyn RateControl>>,
    memory: Vec<Memory>,
}

impl Links {
    pub(crate) fn new(controls: Vec<Box<dyn RateControl>>) -> Links {
        let memory = vec![Memory { first: None, outcome: Outcome::Success }; controls.len()];
        Links { controls, memory }
    }

    #[inline(always)]
    pub(crate) fn control(&mut self, link: LinkId) -> &mut dyn RateControl {
        &mut *self.controls[link.index()]
    }

    /// Sends every later frame of a link by `chain`, whatever its rate control would choose.
    pub(crate) fn hold(&mut self, link: LinkId, chain: RateChain) {
        self.controls[link.index()] = Box::new(Held(chain));
    }

    /// The first rate control that cannot go on, with the reason.
    pub(crate) fn failure(&self) -> Option<(LinkId, &str)> {
        (0..).zip(&self.controls).find_map(|(link, control)| Some((LinkId(link), control.failure()?)))
    }

    /// Remembers the outcome of the latest attempt on a link.
    #[inline(always)]
    pub(crate) fn last_outcome(&mut self, link: LinkId, outcome: Outcome) {
        self.memory[link.index()].outcome = outcome;
    }

    /// Notes that the rate control of a link has chosen `chain`; reports a change of its first rate, except for probes,
    /// with the outcome before it.
    pub(crate) fn note_rate<B>(
        &mut self,
        now: Time,
        link: LinkId,
        chain: &RateChain,
        phy: &Phy,
        env: &mut impl Environment<B>,
    ) {
        if chain.is_probe() {
            return;
        }
        let (memory, first) = (&mut self.memory[link.index()], chain.first());
        if let Some(before) = memory.first.replace(first)
            && before != first
        {
            let down = phy.mode(first).rate < phy.mode(before).rate;
            let rate = phy.mode(first).rate;
            env.observe(now, Record::RateChange { link, rate, down, after: memory.outcome });
        }
    }
}
