//! Data to several stations.

use lasthop_observe::NodeId;
use lasthop_units::{Bytes, Duration, Time};

use crate::aggregation::left_of_txop;
use crate::environment::Environment;
use crate::exchange::{FunctionFacts, User};
use crate::ids::{ExchangeId, FunctionId};
use crate::medium::Medium;
use crate::multi_user::scheduler::{Around, Offer, Turn, Waiting};
use crate::multi_user::{Acknowledge, Order, Plan, sizes, units};
use crate::phy::{ModeId, Phy, Ru, RuPart, frame_size};
use crate::ppdu::{Part, Ppdu, PpduKind};
use crate::sender::psdu::Grant;

impl<B: Send + 'static> Medium<B> {
    /// The first PPDU of an access point that may serve several users, and that has contended to ask them or for its data.
    #[inline(never)]
    pub(crate) fn first_of_several(
        &mut self,
        now: Time,
        id: FunctionId,
        (exchange, asks): (ExchangeId, bool),
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        // Otherwise it has counted a post-backoff.
        let by = self.functions[id.index()].by;
        self.note_users(by, |users| users.accessed = now);
        let contended = asks || self.senders[id.index()].is_backlogged();
        // With ns-3, BlockAckReqs are no turns of the scheduler.
        let contended = contended && (asks || !self.owes_request(id));
        if let Some(trigger) = contended.then(|| self.trigger(now, id, exchange)).flatten() {
            return Some(trigger);
        }
        let sender = &mut self.senders[id.index()];
        let chosen = sender.choose_agreement(now, &self.layout, &mut self.books, env);
        let ppdu = chosen.and_then(|first| match self.downlink(now, id, exchange, first, env) {
            Chosen::Several(ppdu) => Some(ppdu),
            Chosen::One(agreement) => self.alone(now, id, exchange, agreement, env),
        });
        if self.senders[id.index()].take_queue_to_report() {
            self.report_queue(now, self.functions[id.index()].by, env);
        }
        if ppdu.is_none() {
            self.exchanges.end(exchange);
        }
        ppdu
    }

    /// A PPDU of one user, for an agreement that was chosen.
    fn alone(
        &mut self,
        now: Time,
        id: FunctionId,
        exchange: ExchangeId,
        agreement: usize,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        let FunctionFacts { by, may_announce, .. } = self.functions[id.index()];
        if !(self.layout.bss_of(by).asks_as_ns3 && self.senders[id.index()].owes_request(agreement)) {
            self.note_users(by, |users| users.scheduler.on_turn(now, Turn::Queue));
        }
        let first = Grant::first(by, now, self.exchanges[exchange].txop_ends);
        let ppdu = self.first_data(now, exchange, may_announce, &Grant { agreement: Some(agreement), ..first }, env);
        let station = self.senders[id.index()].station_of(agreement);
        let bytes = self.exchanges[exchange].user.psdu.lengths.iter().map(|bytes| u64::from(*bytes)).sum();
        self.note_users(by, |users| users.grants(now, station, bytes));
        ppdu
    }

    /// Returns whether an access point that asks as ns-3 does has a BlockAckReq to send.
    fn owes_request(&self, id: FunctionId) -> bool {
        self.layout.bss_of(self.functions[id.index()].by).asks_as_ns3 && self.senders[id.index()].owes_any_request()
    }

    /// Data for the station of an agreement and others, as the scheduler chooses.
    fn downlink(
        &mut self,
        now: Time,
        id: FunctionId,
        exchange: ExchangeId,
        first: usize,
        env: &mut impl Environment<B>,
    ) -> Chosen {
        let alone = Chosen::One(first);
        let by = self.functions[id.index()].by;
        let bss = self.layout.bss_of(by);
        let (Some(of), Some(limits)) = (bss.multi_user.filter(|of| of.downlink), bss.aggregation) else { return alone };
        let (sender, users) = (&mut self.senders[id.index()], &mut self.users[self.layout.node(by).bss as usize]);
        let station = sender.station_of(first);
        if self.layout.node(by).backpressured {
            sender.take_from_sockets(now, 64 * of.max_users as usize, env);
        }
        if !sender.goes_with_others(first) || users.place_of(station).is_none() {
            return alone;
        }
        let others = sender.others(station, users.stations(), users.in_turn(Order::Downlink));
        // With ns-3, data for one go as those for several do.
        let least = if bss.asks_as_ns3 { 1 } else { 2 };
        if others.len() + 1 < least {
            return alone;
        }
        let mode = sender.mode_of(station).unwrap_or_else(|| bss.phy.allowed_modes()[0]);
        let waits = |station: NodeId| {
            let mode = sender.mode_of(station).unwrap_or(mode);
            let place = users.place_of(station)?;
            Some(Waiting { station, place, mode, bytes: sender.waiting(station, 256) })
        };
        let mut waiting: Vec<Waiting> = std::iter::once(station).chain(others).filter_map(waits).collect();
        users.keep_first_rank(&mut waiting);
        let (most, phy) = (of.max_users, &*bss.phy);
        let around = around(phy, mode, waiting.len().min(most as usize), limits.max_duration, of.acknowledge);
        let offer = Offer { now, phy, waiting: &waiting, most, around, is_known: true };
        let chosen = users.scheduler.downlink(&offer);
        let (_, served) = units(phy.channel_width(), most, chosen.len());
        let chosen: Vec<Waiting> = chosen.iter().map(|user| waiting[*user]).collect();
        let bytes = || chosen.iter().take(served).map(|user| sender.waiting(user.station, 64)).sum::<u64>();
        let are_few = of.least_bytes.is_some_and(|least| bytes() < least.0);
        let wanted = if served < least || are_few { &chosen[..chosen.len().min(1)] } else { &chosen[..] };
        let mut agreements = Vec::new();
        for user in wanted {
            if agreements.len() == served.max(1) {
                break;
            }
            if user.station == station {
                agreements.push(first);
                continue;
            }
            let found = sender.agreement_of_station(now, user.station, &self.layout, &mut self.books, env);
            agreements.extend(found.filter(|place| sender.goes_with_others(*place)));
        }
        let (ru, served) = units(phy.channel_width(), most, agreements.len());
        agreements.truncate(served);
        if agreements.len() < least {
            return Chosen::One(agreements.first().copied().unwrap_or(first));
        }
        let users = self.data_of_several(now, exchange, (by, &agreements, ru, of.acknowledge), env);
        if users.is_empty() {
            return alone;
        }
        let stations: Vec<(NodeId, u64)> = users
            .iter()
            .filter_map(|user| {
                let bytes = user.psdu.lengths.iter().map(|bytes| u64::from(*bytes)).sum();
                Some((user.station()?, bytes))
            })
            .collect();
        self.note_users(by, |users| users.have_turn(now, Turn::Queue, &stations));
        let ppdu = self.downlink_ppdu(now, exchange, users, of.acknowledge);
        self.note_users(by, |users| users.has_sent(ppdu.airtime, &stations));
        Chosen::Several(ppdu)
    }

    /// Fills the PSDUs of agreements for units of a size; returns the users, who may be fewer.
    fn data_of_several(
        &mut self,
        now: Time,
        exchange: ExchangeId,
        (by, agreements, ru, acknowledge): (NodeId, &[usize], Ru, Acknowledge),
        env: &mut impl Environment<B>,
    ) -> Vec<User> {
        let bss = self.layout.bss_of(by);
        let (phy, id) = (&bss.phy, self.exchanges[exchange].user.sender);
        let sender = &mut self.senders[id.index()];
        let mut users: Vec<User> = Vec::with_capacity(agreements.len());
        for &agreement in agreements {
            let mut user = User { ru, ..User::of(id, by) };
            sender.begin_on_ru(by, agreement, &mut user.psdu);
            sender.choose_mode(now, agreement, bss, &mut self.links, &mut user.psdu, env);
            users.push(user);
        }
        let modes: Vec<ModeId> = users.iter().map(|user| user.psdu.part.mode).collect();
        let limits = bss.aggregation.expect("a station with Block Ack makes A-MPDUs");
        let answers = self.answers_last(by, &modes, ru, acknowledge);
        let left = |ends| left_of_txop(now, ends, answers);
        let left = self.exchanges[exchange].txop_ends.map_or(limits.max_duration, left);
        let longest = left.min(limits.max_duration).min(phy.max_ppdu_duration(modes[0]));
        let overhead = phy.ru_overhead(&modes, ru, false);
        let data = if longest > overhead { longest - overhead } else { Duration::ZERO };
        let asks = asked_within(acknowledge);
        let sender = &mut self.senders[id.index()];
        users.retain_mut(|user| {
            let most = phy.longest_on_ru(user.psdu.part.mode, ru, data, false);
            let most = Bytes(most.0.saturating_sub(asks.0));
            let fits = sender.fill_on_ru(now, most, bss, &mut self.books, &mut user.psdu, env);
            if !fits {
                sender.put_back(&user.psdu);
            }
            fits
        });
        users
    }

    /// The PPDU of users whose PSDUs are filled.
    fn downlink_ppdu(
        &mut self,
        now: Time,
        exchange: ExchangeId,
        mut users: Vec<User>,
        acknowledge: Acknowledge,
    ) -> Ppdu {
        let of = &mut self.exchanges[exchange];
        let (by, ru) = (of.by, users[0].ru);
        let phy = self.layout.phy_of(by);
        if users.len() == 1 && !self.layout.bss_of(by).asks_as_ns3 {
            // The data of the others did not fit.
            of.serve(users, Plan::Single);
            return of.user.psdu.ppdu(now, phy.sifs(), exchange);
        }
        let asks = asked_within(acknowledge);
        let part = |user: &User| {
            let Part { mode, bytes, .. } = user.psdu.part;
            RuPart { mode, ru, psdu: Bytes(u64::from(bytes) + asks.0) }
        };
        let parts: Vec<RuPart> = users.iter().map(part).collect();
        let airtime = phy.he_mu_duration(&parts);
        for user in &mut users {
            user.psdu.airtime = airtime;
            user.psdu.part.ru = Some(ru);
        }
        let modes: Vec<ModeId> = parts.iter().map(|part| part.mode).collect();
        let parts: Vec<Part> = users.iter().map(|user| user.psdu.part).collect();
        of.serve(users, Plan::Downlink { acknowledge, asked: 0 });
        let first = Ppdu { of_several: true, ..of.user.psdu.ppdu(now, phy.sifs(), exchange) };
        let reserves_until = now + airtime + self.answers_last(by, &modes, ru, acknowledge);
        let ppdu = self.ppdu_of(PpduKind::Ampdu, &parts, airtime, &Ppdu { reserves_until, ..first });
        ppdu.expect("it has users")
    }

    /// Time from the end of a downlink PPDU to the end of its last acknowledgement.
    fn answers_last(&self, by: NodeId, modes: &[ModeId], ru: Ru, acknowledge: Acknowledge) -> Duration {
        let phy = self.layout.phy_of(by);
        let (sifs, users) = (phy.sifs(), modes.len() as u64);
        let control = phy.control_response_mode(modes[0]);
        let together = || sifs + self.block_acks_last(by, ru, modes);
        match acknowledge {
            Acknowledge::Aggregated => together(),
            Acknowledge::MuBar => sifs + phy.ppdu_duration(control, sizes::mu_bar(users)) + together(),
            Acknowledge::Bar => {
                let answer = sifs + phy.block_ack_duration(modes[0]);
                answer + (sifs + phy.ppdu_duration(control, frame_size::BLOCK_ACK_REQ) + answer) * (users - 1)
            }
        }
    }

    /// Handles the end of a PPDU of a downlink exchange; returns the one that follows.
    pub(super) fn step_of_downlink(
        &mut self,
        now: Time,
        ppdu: &Ppdu,
        acknowledge: Acknowledge,
        asked: u32,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        let answers = match (ppdu.kind, acknowledge) {
            (PpduKind::Ampdu, _) => {
                self.take_up_data(now, ppdu, env);
                match acknowledge {
                    Acknowledge::MuBar => {
                        let users = self.exchanges[ppdu.exchange].users().count() as u64;
                        let (bytes, mode) = (sizes::mu_bar(users), ppdu.first.mode);
                        Some(self.for_all_users(PpduKind::MuBar, bytes, mode, ppdu))
                    }
                    Acknowledge::Aggregated => self.block_acks(ppdu),
                    Acknowledge::Bar => self.single_block_ack(ppdu, 0),
                }
            }
            (PpduKind::MuBar, _) => self.block_acks(ppdu),
            (PpduKind::BlockAckReq, _) => self.single_block_ack(ppdu, asked as usize),
            (PpduKind::BlockAck, Acknowledge::Bar) => self.next_request(now, ppdu, asked as usize, env),
            _ => None,
        };
        answers.or_else(|| self.end_downlink(now, ppdu, env))
    }

    /// The BlockAckReq to the next user, if the BlockAck of the one before has come, and there is another.
    fn next_request(&mut self, now: Time, before: &Ppdu, asked: usize, env: &mut impl Environment<B>) -> Option<Ppdu> {
        if !self.exchanges[before.exchange].user_mut(asked).has_heard() {
            return None;
        }
        self.settle_user(now, before, asked, true, env);
        let (of, next) = (&mut self.exchanges[before.exchange], asked + 1);
        of.plan = Plan::Downlink { acknowledge: Acknowledge::Bar, asked: next as u32 };
        let part = of.others.get(asked)?.psdu.part;
        let phy = self.layout.phy_of(of.by);
        let (mode, bytes) = (phy.control_response_mode(part.mode), frame_size::BLOCK_ACK_REQ);
        let first = Part { mode, bytes: bytes.0 as u32, ru: None, ..part };
        let (kind, airtime) = (PpduKind::BlockAckReq, phy.ppdu_duration(mode, bytes));
        Some(Ppdu { kind, first, more: None, airtime, ..*before })
    }

    /// The BlockAck of one user, if it has decoded the PPDU that asks for it.
    fn single_block_ack(&mut self, asks: &Ppdu, place: usize) -> Option<Ppdu> {
        let user = self.exchanges[asks.exchange].user_mut(place);
        let first = user.psdu.part;
        let station = first.to.one().filter(|_| user.has_heard())?;
        Some(self.response(PpduKind::BlockAck, &Ppdu { first, ..*asks }, station))
    }

    /// Ends a downlink exchange: users whose BlockAck came are done, the others try again.
    fn end_downlink(&mut self, now: Time, last: &Ppdu, env: &mut impl Environment<B>) -> Option<Ppdu> {
        let of = &self.exchanges[last.exchange];
        let together = !matches!(of.plan, Plan::Downlink { acknowledge: Acknowledge::Bar, .. });
        let answered = together && last.kind == PpduKind::BlockAck;
        // Users that were asked one by one, and have answered, are done already.
        let open: Vec<Option<bool>> =
            of.users().map(|user| (!user.psdu.lengths.is_empty()).then(|| answered && user.has_heard())).collect();
        let any = open.iter().any(|came| came.unwrap_or(true));
        for (place, came) in open.into_iter().enumerate() {
            if let Some(came) = came {
                self.settle_user(now, last, place, came, env);
            }
        }
        self.end_of_several(now, last, any, env);
        None
    }
}

/// The users of a downlink exchange.
enum Chosen {
    /// the agreement of the only one
    One(usize),
    /// the PPDU for several
    Several(Ppdu),
}

/// Times of the exchanges between which a scheduler chooses, with a mean backoff.
fn around(phy: &Phy, mode: ModeId, users: usize, longest: Duration, acknowledge: Acknowledge) -> Around {
    let sifs = phy.sifs();
    let contends = phy.difs() + phy.slot() * u64::from(phy.cw_min() / 2);
    let header = phy.header_duration(mode);
    let control = phy.control_response_mode(mode);
    let together = sifs + phy.he_tb_duration(&[RuPart { mode, ru: Ru::Tones242, psdu: phy.block_ack_bytes() }]);
    let asks = sifs + phy.ppdu_duration(control, sizes::mu_bar(users as u64));
    let answers = match acknowledge {
        Acknowledge::Aggregated => together,
        Acknowledge::MuBar => asks + together,
        Acknowledge::Bar => (sifs * 2 + phy.block_ack_duration(mode) * 2) * users as u64,
    };
    let sig_b = Duration::from_micros(8);
    Around {
        longest,
        one: contends + header + sifs + phy.block_ack_duration(mode),
        several: contends + header + sig_b + answers,
    }
}

/// Bytes of the trigger within the data of each user.
fn asked_within(acknowledge: Acknowledge) -> Bytes {
    match acknowledge {
        Acknowledge::Aggregated => frame_size::padded(frame_size::ampdu_subframe(sizes::mu_bar(1))),
        Acknowledge::MuBar | Acknowledge::Bar => Bytes(0),
    }
}
