//! Data to several stations.

use lasthop_observe::{NodeId, Outcome};
use lasthop_units::{Bytes, Duration, Time};

use super::parts::Answer;
use crate::air::on_air::Transmission;
use crate::air::received::Reception;
use crate::environment::Environment;
use crate::exchange::{Start, User};
use crate::ids::{ExchangeId, FunctionId};
use crate::medium::Medium;
use crate::multi_user::schedule::{Around, Turn, Waiting, best_number, units};
use crate::multi_user::{Acknowledge, Last, MultiUserKind, Plan, shares, sizes};
use crate::phy::{ModeId, Phy, Ru, RuPart, frame_size};
use crate::ppdu::{Part, Ppdu, PpduKind, To};
use crate::sender::psdu::{Grant, Tried};

impl<B: Send + 'static> Medium<B> {
    /// The first PPDU of an access point that may serve several users.
    #[inline(never)]
    pub(crate) fn first_of_several(
        &mut self,
        now: Time,
        id: FunctionId,
        exchange: ExchangeId,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        if let Some(trigger) = self.trigger(now, id, exchange) {
            return Some(trigger);
        }
        let sender = &mut self.senders[id.index()];
        let chosen = sender.choose(now, &self.layout, &mut self.books, env);
        let ppdu = chosen.and_then(|first| {
            let several = self.downlink(now, id, exchange, first, env);
            several.or_else(|| self.alone(now, id, exchange, first, env))
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
        let facts = self.functions[id.index()];
        self.note_users(facts.by, |users| users.note(Last::Downlink, None));
        let first = Grant::first(facts.by, now, self.exchanges[exchange].txop_ends);
        let data = self.next_data(now, exchange, &Grant { agreement: Some(agreement), ..first }, env)?;
        let announces = facts.may_announce || self.exchanges[exchange].user.psdu.rts;
        Some(if announces { self.announced(now, data) } else { data })
    }

    /// Data for the station of an agreement and others, if there are others.
    fn downlink(
        &mut self,
        now: Time,
        id: FunctionId,
        exchange: ExchangeId,
        first: usize,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        let by = self.functions[id.index()].by;
        let bss = self.layout.bss_of(by);
        let of = bss.multi_user.filter(|of| of.downlink)?;
        let (sender, users) = (&mut self.senders[id.index()], &self.users[self.layout.node(by).bss as usize]);
        let station = sender.station_of(first);
        if self.layout.node(by).backpressured {
            sender.take_from_sockets(now, 64 * of.max_users as usize, env);
        }
        if !sender.goes_with_others(first) || users.stations().binary_search(&station).is_err() {
            return None;
        }
        let most = of.max_users.saturating_sub(1) as usize;
        let others = sender.others(station, users.stations(), users.in_turn(Turn::Downlink), most);
        let (_, mut served) = units(bss.phy.channel_width(), &of, others.len() + 1);
        if of.kind == MultiUserKind::Airtime {
            let mode = sender.mode_of(station).unwrap_or_else(|| bss.phy.allowed_modes()[0]);
            let all = std::iter::once(station).chain(others.iter().copied());
            let waiting: Vec<Waiting> = all
                .map(|station| {
                    let mode = sender.mode_of(station).unwrap_or(mode);
                    Waiting { mode, bytes: sender.waiting(station, 256) }
                })
                .collect();
            let around = around(&bss.phy, &waiting, bss.aggregation?.max_duration, of.acknowledge);
            served = best_number(&bss.phy, &waiting, of.max_users, &around, true);
        }
        if served < 2 {
            return None;
        }
        if let Some(least) = of.least_bytes {
            let all = || std::iter::once(station).chain(others.iter().copied().take(served - 1));
            if all().map(|station| sender.waiting(station, 64)).sum::<u64>() < least.0 {
                return None;
            }
        }
        let mut agreements = vec![first];
        for station in others {
            if agreements.len() == served {
                break;
            }
            let found = sender.agreement_of_station(now, station, &self.layout, &mut self.books, env);
            agreements.extend(found.filter(|place| sender.goes_with_others(*place)));
        }
        let (ru, served) = units(bss.phy.channel_width(), &of, agreements.len());
        agreements.truncate(served);
        if served < 2 {
            return None;
        }
        let made = self.data_of_several(now, exchange, (by, &agreements, ru, of.acknowledge), env);
        if made == 0 {
            return None;
        }
        let last = self.exchanges[exchange].users().last().and_then(|user| user.station());
        self.note_users(by, |users| {
            users.note(Last::Downlink, None);
            last.into_iter().for_each(|station| users.has_served(Turn::Downlink, station));
        });
        Some(self.downlink_ppdu(now, exchange, ru, of.acknowledge))
    }

    /// Fills the PSDUs of agreements for units of a size; returns the number of users, which may be fewer.
    fn data_of_several(
        &mut self,
        now: Time,
        exchange: ExchangeId,
        (by, agreements, ru, acknowledge): (NodeId, &[usize], Ru, Acknowledge),
        env: &mut impl Environment<B>,
    ) -> usize {
        let bss = self.layout.bss_of(by);
        let (phy, id) = (&bss.phy, self.exchanges[exchange].user.sender);
        let sender = &mut self.senders[id.index()];
        let mut users: Vec<User> = Vec::with_capacity(agreements.len());
        for &agreement in agreements {
            let mut user = User { ru, ..User::of(id, by) };
            sender.begin_on_ru(now, (by, agreement), (bss, &mut self.links), &mut user.psdu, env);
            users.push(user);
        }
        let modes: Vec<ModeId> = users.iter().map(|user| user.psdu.part.mode).collect();
        let limits = bss.aggregation.expect("a station with Block Ack makes A-MPDUs");
        let answers = self.answers_last(by, &modes, ru, acknowledge);
        let bss = self.layout.bss_of(by);
        let left = self.exchanges[exchange].txop_ends.map_or(limits.max_duration, |ends| ends.since(now + answers));
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
        let count = users.len();
        let of = &mut self.exchanges[exchange];
        let mut users = users.into_iter();
        if let Some(first) = users.next() {
            of.user = first;
        }
        of.others = users.collect();
        count
    }

    /// The PPDU of users whose PSDUs are filled.
    fn downlink_ppdu(&mut self, now: Time, exchange: ExchangeId, ru: Ru, acknowledge: Acknowledge) -> Ppdu {
        let of = &mut self.exchanges[exchange];
        let phy = self.layout.phy_of(of.by);
        if of.others.is_empty() {
            // The data of the others did not fit.
            let psdu = &mut of.user.psdu;
            psdu.airtime = phy.ppdu_duration(psdu.part.mode, Bytes(u64::from(psdu.part.bytes)));
            return psdu.ppdu(now, phy.sifs(), exchange);
        }
        of.plan = Plan::Downlink { acknowledge, asked: 0 };
        let asks = asked_within(acknowledge);
        let part = |user: &User| {
            let Part { mode, bytes, .. } = user.psdu.part;
            RuPart { mode, ru, psdu: Bytes(u64::from(bytes) + asks.0) }
        };
        let parts: Vec<RuPart> = of.users().map(part).collect();
        let airtime = phy.he_mu_duration(&parts);
        for user in of.users_mut() {
            user.psdu.airtime = airtime;
            user.psdu.part.ru = Some(ru);
        }
        let modes: Vec<ModeId> = parts.iter().map(|part| part.mode).collect();
        let by = of.by;
        let parts: Vec<Part> = of.users().map(|user| user.psdu.part).collect();
        let reserves_until = now + airtime + self.answers_last(by, &modes, ru, acknowledge);
        let more = Some(self.air.keep_parts(&parts[1..]));
        Ppdu {
            kind: PpduKind::Ampdu,
            first: parts[0],
            more,
            airtime,
            reserves_until,
            exchange,
            initiator: by,
            of_several: true,
        }
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
        ended: &Transmission,
        acknowledge: Acknowledge,
        asked: u32,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        let ppdu = &ended.ppdu;
        match (ppdu.kind, acknowledge) {
            (PpduKind::Ampdu, _) => {
                self.take_up_data(now, ppdu, env);
                match acknowledge {
                    Acknowledge::MuBar => Some(self.mu_bar(now, ppdu)),
                    Acknowledge::Aggregated => {
                        let answers = self.block_acks(now, ppdu, |user| user.heard == Some(Reception::Decoded));
                        answers.or_else(|| self.end_downlink(now, ppdu, env))
                    }
                    Acknowledge::Bar => self.single_block_ack(ppdu, 0).or_else(|| self.end_downlink(now, ppdu, env)),
                }
            }
            (PpduKind::MuBar, _) => {
                self.hear_trigger(now, ended);
                let answers = self.block_acks(now, ppdu, |user| user.heard == Some(Reception::Decoded));
                answers.or_else(|| self.end_downlink(now, ppdu, env))
            }
            (PpduKind::BlockAckReq, _) => {
                let station = ppdu.first.to.one()?;
                let heard = self.air.reception(now, ended, &ppdu.first, station);
                self.exchanges[ppdu.exchange].user_mut(asked as usize).heard = Some(heard);
                self.single_block_ack(ppdu, asked as usize).or_else(|| self.end_downlink(now, ppdu, env))
            }
            (PpduKind::BlockAck, Acknowledge::Bar) => {
                let heard = self.air.reception(now, ended, &ppdu.first, ppdu.first.to.one()?);
                let of = &mut self.exchanges[ppdu.exchange];
                of.user_mut(asked as usize).heard = Some(heard);
                if heard != Reception::Decoded {
                    return self.end_downlink(now, ppdu, env);
                }
                self.settle_user(now, ppdu, asked as usize, Answer::Came, env);
                let next = asked + 1;
                if next as usize > self.exchanges[ppdu.exchange].others.len() {
                    return self.end_downlink(now, ppdu, env);
                }
                self.exchanges[ppdu.exchange].plan = Plan::Downlink { acknowledge, asked: next };
                Some(self.block_ack_req(now, ppdu, next as usize))
            }
            _ => self.end_downlink(now, ppdu, env),
        }
    }

    /// Passes data that have arrived to the recipients.
    pub(super) fn take_up_data(&mut self, now: Time, ppdu: &Ppdu, env: &mut impl Environment<B>) {
        let of = &self.exchanges[ppdu.exchange];
        for user in of.users().filter(|user| user.heard == Some(Reception::Decoded) && !user.psdu.lengths.is_empty()) {
            let (id, decoded) = (user.sender, &user.received.decoded);
            self.senders[id.index()].receive_ampdu(now, id, &user.psdu, decoded, &mut self.books, env);
        }
    }

    /// The trigger that all users of a downlink PPDU answer.
    fn mu_bar(&mut self, now: Time, data: &Ppdu) -> Ppdu {
        let phy = self.layout.phy_of(data.initiator);
        let users = 1 + self.exchanges[data.exchange].others.len() as u64;
        let (mode, bytes) = (phy.control_response_mode(data.first.mode), sizes::mu_bar(users));
        let airtime = phy.ppdu_duration(mode, bytes);
        let first = Part { to: To::Nobody, mode, bytes: bytes.0 as u32, ru: None, ..data.first };
        let reserves_until = data.reserves_until.max(now);
        Ppdu { kind: PpduKind::MuBar, first, more: None, airtime, reserves_until, ..*data }
    }

    /// The BlockAckReq to a user.
    fn block_ack_req(&mut self, now: Time, before: &Ppdu, place: usize) -> Ppdu {
        let of = &mut self.exchanges[before.exchange];
        let (by, part) = (of.by, of.user_mut(place).psdu.part);
        let phy = self.layout.phy_of(by);
        let (mode, bytes) = (phy.control_response_mode(part.mode), frame_size::BLOCK_ACK_REQ);
        let first = Part { mode, bytes: bytes.0 as u32, ru: None, ..part };
        let (kind, airtime) = (PpduKind::BlockAckReq, phy.ppdu_duration(mode, bytes));
        Ppdu { kind, first, more: None, airtime, reserves_until: before.reserves_until.max(now), ..*before }
    }

    /// The BlockAck of one user, if it has decoded what asks for it.
    fn single_block_ack(&mut self, asks: &Ppdu, place: usize) -> Option<Ppdu> {
        let of = &mut self.exchanges[asks.exchange];
        let by = of.by;
        let user = of.user_mut(place);
        let part = user.psdu.part;
        let station = part.to.one().filter(|_| user.heard == Some(Reception::Decoded))?;
        let phy = self.layout.phy_of(by);
        let (mode, bytes) = (phy.control_response_mode(part.mode), phy.block_ack_bytes());
        let first = Part { from: station, to: To::One(by), link: part.link, mode, bytes: bytes.0 as u32, ru: None };
        let (kind, airtime) = (PpduKind::BlockAck, phy.block_ack_duration(part.mode));
        Some(Ppdu { kind, first, more: None, airtime, ..*asks })
    }

    /// Ends a downlink exchange: users whose BlockAck came are done, the others try again.
    fn end_downlink(&mut self, now: Time, last: &Ppdu, env: &mut impl Environment<B>) -> Option<Ppdu> {
        let together =
            !matches!(self.exchanges[last.exchange].plan, Plan::Downlink { acknowledge: Acknowledge::Bar, .. });
        let answered = last.kind == PpduKind::BlockAck;
        let (of, mut any) = (&self.exchanges[last.exchange], false);
        let users = 1 + of.others.len();
        let open: Vec<bool> = of.users().map(|user| !user.psdu.lengths.is_empty()).collect();
        any |= open.iter().any(|open| !open);
        for place in (0..users).filter(|place| open[*place]) {
            let heard = self.exchanges[last.exchange].user_mut(place).heard;
            let came = together && answered && heard == Some(Reception::Decoded);
            let answer =
                if came { Answer::Came } else { Answer::Lost(heard.map_or(Outcome::Collision, Reception::outcome)) };
            any |= came;
            self.settle_user(now, last, place, answer, env);
        }
        self.end_of_several(now, last, any, env);
        None
    }

    /// Reports the result of a user of a downlink exchange to its sender. Time is shared by tones.
    fn settle_user(&mut self, now: Time, last: &Ppdu, place: usize, answer: Answer, env: &mut impl Environment<B>) {
        let of = &mut self.exchanges[last.exchange];
        let (by, spent) = (of.by, now.since(of.began));
        let share = shares(spent, of.users().map(|user| user.ru.tones())).nth(place).unwrap_or(spent);
        let user = of.user_mut(place);
        let bss = self.layout.bss_of(by);
        let snr = user.psdu.part.to.one().and_then(|to| self.air.snr_of(now, to, by));
        let began = Time::from_nanos(now.as_nanos() - share.as_nanos());
        let with = (bss, &mut self.links, &mut self.books);
        let sender = &mut self.senders[user.sender.index()];
        match answer {
            Answer::Came => {
                let tried = Tried { outcome: Outcome::Success, lost_to: user.lost_to, began, snr };
                sender.ampdu_acknowledged(now, &mut user.psdu, &tried, with, env);
            }
            Answer::Lost(outcome) => {
                let outcome = if outcome == Outcome::Success { Outcome::Collision } else { outcome };
                let tried = Tried { outcome, lost_to: user.lost_to, began, snr };
                sender.keeping_failures(|sender| sender.ampdu_lost(now, &mut user.psdu, &tried, with, env));
            }
        }
    }

    /// Ends an exchange with several users that an access point has won, and lets it contend again.
    pub(super) fn end_of_several(&mut self, now: Time, last: &Ppdu, any: bool, env: &mut impl Environment<B>) {
        let start = self.exchanges[last.exchange].start;
        self.exchanges.end(last.exchange);
        let Start::Won(id) = start else { return };
        if any {
            self.access.succeeded(id);
        } else {
            self.access.failed(id);
        }
        let waits = !any && self.after_loss.sender_waits_ack_timeout() && last.from() == last.initiator;
        let apart = waits.then(|| self.counts_after_timeout(now, id, last));
        self.contend_again(now, id, apart, env);
    }
}

/// Times of the exchanges between which a scheduler chooses, with a mean backoff.
fn around(phy: &Phy, waiting: &[Waiting], longest: Duration, acknowledge: Acknowledge) -> Around {
    let (sifs, mode) = (phy.sifs(), waiting[0].mode);
    let contends = phy.difs() + phy.slot() * u64::from(phy.cw_min() / 2);
    let header = phy.header_duration(mode);
    let control = phy.control_response_mode(mode);
    let together = sifs + phy.he_tb_duration(&[RuPart { mode, ru: Ru::Tones242, psdu: phy.block_ack_bytes() }]);
    let asks = sifs + phy.ppdu_duration(control, sizes::mu_bar(waiting.len() as u64));
    let answers = match acknowledge {
        Acknowledge::Aggregated => together,
        Acknowledge::MuBar => asks + together,
        Acknowledge::Bar => (sifs * 2 + phy.block_ack_duration(mode) * 2) * waiting.len() as u64,
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
