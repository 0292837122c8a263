//! DualPI2: a queue for L4S packets with marks at a shallow threshold, and one for the others, coupled by PI².
//!
//! ```text
//!  ECT(1), CE ──► L4S queue ────► step or ramp ──► max ──► mark ─┐
//!                                                  ▲ k·p'        ├──► weighted round robin ──► out
//!  ECT(0), not ECT ──► classic queue ──► PI: p' ───┴─ p'² ──► mark or drop ─┘
//! ```
//!
//! Source: RFC 9332 appendix A; the law is in [`law::dual`](super::law::dual). Two presets: the values and details that
//! the RFC and tc-dualpi2(8) document for Linux, and the RFC's own. The time of a queue is the sojourn time of its
//! packet at the head, in both. Left out: other classifiers than the ECN field, and the memory limit.

use lasthop_observe::DropReason;
use lasthop_registry::{Amount, ParamError, params, words};
use lasthop_units::{Duration, Ecn, Packets, Probability, Time};

use super::backlog::{Backlog, Slot};
use super::by_class::{ByClass, Service};
use super::interface::{Drop, QueueDiscipline, Wanted};
use super::law::Verdict;
use super::law::dual::{Backlogs, Class, Dual, Early, Passing, Ramp, Settings};
use super::law::pi2::{self, Overload};
use crate::{Packet, PacketMeta};

words! {
    /// The source of the values that are not given.
    pub enum Preset {
        /// The defaults of sch_dualpi2, as its manual page has them.
        Linux = "linux",
        /// The parameters of the RFC's pseudo-code. [RFC 9332 §A.1]
        Rfc9332 = "rfc9332",
    }
}

params! {
    /// Parameters of `dualpi2`.
    pub struct Params {
        /// Source of the values that are not given: linux (tc-dualpi2(8)), or rfc9332 (RFC 9332 §A.1).
        pub preset: Preset = Preset::Linux,
        /// Largest backlog of both queues, in packets or in bytes; a packet that would exceed it is dropped at the tail.
        pub limit: Amount = Amount::Packets(10_000),
        /// Queueing delay to keep in the classic queue. [RFC 9332 §A.1]
        pub target: Duration = Duration::from_millis(15),
        /// How often the base probability is calculated, at least 1 us: 16 ms with linux, 15 ms with rfc9332. [RFC 9332 §A.1]
        pub t_update: Option<Duration> = None,
        /// Integral gain in Hz: 0.16 with linux, 0.15 with rfc9332. [RFC 9332 §A.1]
        pub alpha: Option<f64> = None,
        /// Proportional gain in Hz: 3.2 with linux, 3 with rfc9332. [RFC 9332 §A.1]
        pub beta: Option<f64> = None,
        /// Coupling factor, from 1 to 64: the marks of L4S packets per unit of the base probability. [RFC 9332 §2.1]
        pub coupling: f64 = 2.0,
        /// Delay in the L4S queue above which packets are marked: 1 ms with linux, 800 us with rfc9332. [RFC 9332 §A.1]
        pub step: Option<Duration> = None,
        /// Delay beyond the step in which the probability of such a mark rises to 1: 0 s with linux, a step; 400 us with
        /// rfc9332, a ramp. [RFC 9332 §A.1]
        pub range: Option<Duration> = None,
        /// Packets in the L4S queue up to which none is marked for its delay: 0 with linux, 1 with rfc9332. [RFC 9332 §A.2]
        pub min_qlen_step: Option<Packets> = None,
        /// The classic queue's share of the bytes while both have packets: 0.1 with linux, 1/16 with rfc9332. [RFC 9332 §A.2]
        pub classic_share: Option<Probability> = None,
        /// At the top of the coupled probability: drop in both queues, or mark and let the queue grow to its limit. [RFC 9332 §4.2.2]
        pub overload: Overload = Overload::Drop,
        /// Where the base probability applies: dequeue, or enqueue. [tc-dualpi2(8)]
        pub drop: Early = Early::Dequeue,
    }
    check |this, path| {
        super::bounds::check_limit(this.limit, path)?;
        if this.limit == Amount::Unlimited && this.overload == Overload::Mark {
            return Err(ParamError::new(format!("{path}.limit"), ("with overload = \"mark\" only the limit drops packets", "a limit")));
        }
        this.settings().check(path)
    }
}

/// A packet of the greatest size: the space that is always left, and half of Linux's least backlog. [RFC 9332 §A.1]
const MTU: u32 = 1500;

impl Params {
    /// The settings of the law.
    pub(super) fn settings(&self) -> Settings {
        let (of_linux, ms) = (self.preset == Preset::Linux, Duration::from_millis);
        let pi2 = pi2::Settings {
            target: self.target,
            t_update: self.t_update.unwrap_or(if of_linux { ms(16) } else { ms(15) }),
            alpha: self.alpha.unwrap_or(if of_linux { 0.16 } else { 0.15 }),
            beta: self.beta.unwrap_or(if of_linux { 3.2 } else { 3.0 }),
            coupling: self.coupling,
            overload: self.overload,
        };
        let ramp = Ramp {
            from: self.step.unwrap_or(if of_linux { ms(1) } else { Duration::from_micros(800) }),
            range: self.range.unwrap_or(if of_linux { Duration::ZERO } else { Duration::from_micros(400) }),
            packets: self
                .min_qlen_step
                .map_or(u32::from(!of_linux), |packets| packets.0.min(u64::from(u32::MAX)) as u32),
        };
        let classic_share = self.classic_share.map_or(if of_linux { 0.1 } else { 1.0 / 16.0 }, Probability::get);
        let least_bytes = if of_linux { 2 * u64::from(MTU) } else { 0 };
        Settings { pi2, ramp, classic_share, least_bytes, early: self.drop }
    }
}

/// The queue of a packet. [RFC 9332 §A.1, Figure 3]
pub(super) fn class_of(packet: &PacketMeta) -> Class {
    if matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce) { Class::L4s } else { Class::Classic }
}

/// Two FIFOs, for L4S packets and for classic ones, with coupled active queue management.
pub struct DualPi2<B> {
    settings: Settings,
    /// `limit`: the backlog of both queues beyond which an arrival is dropped at the tail [RFC 9332 §A.1]
    limit: Amount,
    /// `lq` and `cq`, by class: the L4S queue and the classic one, each a FIFO [RFC 9332 §A.1]
    waiting: [Backlog<B>; 2],
    /// p' with the probabilities that follow from it, the marks by delay, and the turns of the queues [RFC 9332 §A.1]
    law: Dual,
    /// packets marked, of both classes
    marks: u64,
    /// when packets left, by which marks after bursts of service are counted apart
    service: Service,
    /// waits and marks of each class
    by_class: ByClass,
}

impl<B> DualPi2<B> {
    /// Two empty queues.
    pub fn new(params: &Params) -> Self {
        let settings = params.settings();
        let waiting = [Backlog::default(), Backlog::default()];
        let (law, limit) = (Dual::new(&settings), params.limit);
        DualPi2 { settings, limit, waiting, law, marks: 0, service: Service::default(), by_class: ByClass::default() }
    }

    fn of(&self, class: Class) -> &Backlog<B> {
        &self.waiting[class as usize]
    }

    fn bytes(&self) -> u64 {
        self.waiting.iter().map(Backlog::bytes).sum()
    }

    fn backlogs(&self) -> Backlogs {
        let head = |class| self.of(class).oldest().map(|head| self.of(class).meta(head).enqueued_at);
        Backlogs { heads: [head(Class::L4s), head(Class::Classic)], bytes: self.bytes() }
    }

    /// The queue to serve and its first packet that is wanted, and whether the other one has such a packet too.
    #[inline]
    fn next(&mut self, wanted: Wanted) -> Option<(Class, Slot, bool)> {
        let [l4s, classic] = &mut self.waiting;
        match (l4s.find(wanted), classic.find(wanted)) {
            (Some(l4s), Some(classic)) => {
                let class = self.law.turn();
                Some((class, if class == Class::L4s { l4s } else { classic }, true))
            }
            (Some(l4s), None) => Some((Class::L4s, l4s, false)),
            (None, Some(classic)) => Some((Class::Classic, classic, false)),
            (None, None) => None,
        }
    }
}

impl<B: Send> QueueDiscipline<B> for DualPi2<B> {
    fn enqueue(&mut self, now: Time, mut packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        let backlogs = self.backlogs();
        self.law.catch_up(&self.settings, now, &backlogs);
        if !self.has_room(packet.meta.bytes) {
            dropped.push((packet, DropReason::QueueFull));
            return;
        }
        let class = class_of(&packet.meta);
        let (packets, is_capable) = (self.of(class).packets(), packet.meta.ecn.is_capable());
        let passing = Passing { class, sojourn: Duration::ZERO, packets, is_capable };
        match self.law.on_arrival(&self.settings, passing, &backlogs) {
            Verdict::Forward => {}
            Verdict::Mark => {
                self.marks += u64::from(packet.meta.mark());
                self.by_class.marked_at_arrival(class);
            }
            Verdict::Drop => {
                dropped.push((packet, DropReason::Early));
                return;
            }
        }
        self.waiting[class as usize].push(packet);
    }

    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        loop {
            let backlogs = self.backlogs();
            self.law.catch_up(&self.settings, now, &backlogs);
            let (class, place, contended) = self.next(wanted)?;
            let packets = self.of(class).packets();
            let mut packet = self.waiting[class as usize].take(place);
            if contended {
                self.law.served(&self.settings, class, packet.meta.bytes);
            }
            let sojourn = now.since(packet.meta.enqueued_at);
            let passing = Passing { class, sojourn, packets, is_capable: packet.meta.ecn.is_capable() };
            let verdict = self.law.on_departure(&self.settings, passing, &backlogs);
            if verdict == Verdict::Drop {
                dropped.push((packet, DropReason::Early));
                continue;
            }
            self.service.at(now);
            self.by_class.left(now, class, &packet.meta, verdict == Verdict::Mark, &self.service);
            if verdict == Verdict::Mark {
                self.marks += u64::from(packet.meta.mark());
            }
            return Some(packet);
        }
    }

    fn waiting_for(&self, wanted: Wanted, most: usize) -> usize {
        let l4s = self.of(Class::L4s).count(wanted, most);
        l4s + self.of(Class::Classic).count(wanted, most - l4s)
    }

    fn packets(&self) -> u32 {
        self.waiting.iter().map(Backlog::packets).sum()
    }

    fn tcp_acks(&self) -> u32 {
        self.waiting.iter().map(Backlog::tcp_acks).sum()
    }

    /// In bytes, a packet of the greatest size must fit, so that large packets are not at a disadvantage. [RFC 9332 §A.1]
    fn has_room(&self, bytes: u32) -> bool {
        super::has_room(self.limit, (self.packets(), self.bytes()), bytes.max(MTU))
    }

    fn set_target(&mut self, target: Duration) {
        self.settings.pi2.target = target;
    }

    fn marks(&self) -> u64 {
        self.marks
    }

    fn by_class(&self) -> Option<&ByClass> {
        Some(&self.by_class)
    }

    fn start(&mut self) {
        self.by_class = ByClass::default();
    }
}
