//! The A-MPDUs that the hardware below a driver holds.

use std::collections::VecDeque;

use lasthop_units::{Duration, Time};

use super::agreement::HeldBy;
use super::psdu::{Psdu, Tried};
use super::rates::Rates;
use crate::config::Driver;
use crate::ids::SenderId;

/// An A-MPDU in the hardware.
pub(super) struct Prepared {
    /// its number
    pub batch: u32,
    pub psdu: Psdu,
    /// its place in the chain of rates
    pub rates: Rates,
}

/// An A-MPDU that has been on the air, and whose completion is still to be reported.
pub(super) struct Ended {
    pub of: Prepared,
    pub tried: Tried,
    /// end of its exchange
    pub at: Time,
    pub is_answered: bool,
}

/// The A-MPDUs of an access category that the hardware holds.
pub(super) struct Hardware {
    pub sender: SenderId,
    pub driver: Driver,
    pub ready: VecDeque<Prepared>,
    pub on_air: Option<Prepared>,
    pub ended: VecDeque<Ended>,
    /// number of A-MPDUs built so far
    pub batches: u32,
    /// most A-MPDUs that it holds
    most: usize,
    /// completion of the latest batch
    due: Time,
}

impl Hardware {
    /// The hardware of a driver that prepares A-MPDUs.
    pub(super) fn of(sender: SenderId, driver: Driver) -> Option<Hardware> {
        let most = driver.aggregates? as usize;
        let (ready, ended) = (VecDeque::new(), VecDeque::new());
        Some(Hardware { sender, driver, ready, on_air: None, ended, batches: 0, most, due: Time::ZERO })
    }

    /// The time at which an A-MPDU whose exchange ends now is completed.
    pub(super) fn completes_at(&mut self, now: Time) -> Time {
        if !self.driver.batched || self.ended.is_empty() {
            self.due = now + self.driver.completion;
        }
        self.due
    }

    pub(super) fn has_place(&self) -> bool {
        let held = self.ready.len() + usize::from(self.on_air.is_some()) + self.ended.len();
        held < self.most
    }

    /// The holder of the MPDUs of the A-MPDU that is being built.
    pub(super) fn builder(&self) -> HeldBy {
        HeldBy::Hardware(self.batches)
    }

    /// The time of the exchange of the next A-MPDU, if it is for the agreement of `psdu` and ends in time.
    pub(super) fn next_takes(&self, at: Time, ends: Time, sifs: Duration, psdu: &Psdu) -> Option<Duration> {
        let next = &self.ready.front().filter(|next| next.psdu.agreement == psdu.agreement)?.psdu;
        let exchange = next.airtime + sifs + next.response;
        (at + exchange <= ends).then_some(exchange)
    }
}
