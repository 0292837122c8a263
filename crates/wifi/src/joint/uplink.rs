//! Data of several stations, which a trigger asks for.
//!
//! A station that decodes a trigger for it answers unless its NAV is set by someone else. In an HE TB PPDU it sends with its
//! whole power in its unit, whose noise is less: power control is left out. A station with nothing to send sends a QoS Null.

use lasthop_link::AirtimeUse;
use lasthop_observe::NodeId;
use lasthop_units::{Bytes, Duration, Time};

use crate::aggregation::left_of_txop;
use crate::edca::AccessCategory;
use crate::environment::{Environment, MediumEvent};
use crate::exchange::User;
use crate::ids::{ExchangeId, FunctionId, SenderId};
use crate::medium::{Errand, Medium};
use crate::multi_user::random_access::Contender;
use crate::multi_user::scheduler::{Around, Offer, Turn, Waiting, Won};
use crate::multi_user::{MultiUser, Order, Plan, shares, sizes, units};
use crate::phy::{ModeId, Phy, Ru, RuPart, frame_size};
use crate::ppdu::{Part, Ppdu, PpduKind, To};
use crate::rate_control::FrameInfo;
use crate::sender::psdu::Psdu;

/// Bytes that a station is given time for if nothing is known of its queue.
const UNKNOWN_BACKLOG: u64 = 2000;
/// The same with ns-3: `UlPsduSize` of its `RrMultiUserScheduler`.
const NS3_UNKNOWN_BACKLOG: u64 = 500;

impl<B: Send + 'static> Medium<B> {
    /// The trigger that an access point sends now, if it serves stations rather than its own queue.
    pub(super) fn trigger(&mut self, now: Time, id: FunctionId, exchange: ExchangeId) -> Option<Ppdu> {
        let by = self.functions[id.index()].by;
        let node = self.layout.node(by);
        let of = self.layout.bss_of(by).multi_user?;
        let (bss, is_best_effort) = (node.bss as usize, node.function_of(0) == id);
        if !is_best_effort || !of.uplink || self.users[bss].stations().is_empty() {
            return None;
        }
        let (has_data, users) = (self.senders[id.index()].is_backlogged(), &mut self.users[bss]);
        users.forget(now);
        let turn = users.scheduler.turn(&Won { now, has_data, reported: &users.reported });
        match turn {
            Turn::Queue => None,
            Turn::Question if of.bsrp => self.questions(now, (by, exchange), &of),
            Turn::Question | Turn::Data => self.basic_trigger(now, now, (by, exchange), &of),
        }
    }

    /// Users for stations of an access point in units of a size.
    fn asked_users(&self, by: NodeId, stations: &[NodeId], ru: Ru) -> Vec<User> {
        let user = |station: &NodeId| {
            let node = self.layout.node(*station);
            let id = SenderId(node.function_of(0).0);
            let mut user = User { ru, ..User::of(id, *station) };
            let (to, link) = self.layout.way(*station, *station);
            debug_assert!(to == by, "a station is asked by its access point");
            let part = Part { from: *station, to: To::One(by), link, mode: ModeId(0), bytes: 0, ru: Some(ru) };
            user.psdu.part = part;
            user
        };
        stations.iter().map(user).collect()
    }

    /// Opens units of a trigger to stations that it does not name and that have data, in the slowest mode.
    fn open_units(&mut self, exchange: ExchangeId, (by, named, ru): (NodeId, &[NodeId], Ru), open: usize) {
        if open == 0 {
            return;
        }
        let mode = slowest(self.layout.phy_of(by));
        let all = self.users[self.layout.node(by).bss as usize].stations();
        let others = all.iter().copied().filter(|station| !named.contains(station) && self.backlog_of(*station) > 0);
        let mut users = self.asked_users(by, &others.collect::<Vec<_>>(), ru);
        for user in &mut users {
            (user.is_random, user.psdu.part.mode) = (true, mode);
        }
        let exchange = &mut self.exchanges[exchange];
        exchange.others.extend(users);
        exchange.units += open as u32;
    }

    /// Returns which users of a trigger answer it. A station without a name that draws no open unit is no user any more.
    fn answering(&mut self, now: Time, asks: &Ppdu) -> Vec<bool> {
        let by = asks.initiator;
        let mut answering: Vec<bool> =
            self.exchanges[asks.exchange].users().map(|user| self.answers_trigger(now, user, by)).collect();
        let (of, users) = (&mut self.exchanges[asks.exchange], &mut self.users[self.layout.node(by).bss as usize]);
        let named = of.users().filter(|user| !user.is_random).count();
        let mut may_answer = answering[1..].iter();
        of.others.retain_mut(|user| {
            let may_answer = *may_answer.next().expect("each user has an entry");
            if !user.is_random {
                return true;
            }
            let contender = user.station().filter(|_| may_answer).and_then(|station| users.contender(station));
            let Some(unit) = contender.and_then(Contender::count) else { return false };
            user.unit = named as u32 + unit;
            true
        });
        answering.truncate(named);
        answering.resize(of.users().count(), true);
        answering
    }

    /// Notes which stations were heard in units that they drew.
    fn note_random_access(&mut self, ppdu: &Ppdu) {
        let users = &mut self.users[self.layout.node(ppdu.initiator).bss as usize];
        for user in self.exchanges[ppdu.exchange].users().filter(|user| user.is_random) {
            if let Some(contender) = user.station().and_then(|station| users.contender(station)) {
                contender.has_sent(user.has_heard());
            }
        }
    }

    /// The trigger that asks stations for the lengths of their queues (BSRP).
    fn questions(&mut self, now: Time, (by, exchange): (NodeId, ExchangeId), of: &MultiUser) -> Option<Ppdu> {
        let (bss, phy) = (self.layout.node(by).bss as usize, self.layout.phy_of(by));
        let users = &self.users[bss];
        let (ru, served) = units(phy.channel_width(), of.max_users, users.stations().len() + open_units(of));
        let open = open_units(of).min(served - 1);
        let stations: Vec<NodeId> = users.in_turn(Order::Question).take(served - open).collect();
        let mode = self.mode_of_nulls(now, by, &stations);
        let phy = self.layout.phy_of(by);
        let answers = phy.he_tb_duration(&vec![RuPart { mode, ru, psdu: sizes::QOS_NULL }; served]);
        let mut users = self.asked_users(by, &stations, ru);
        users.iter_mut().for_each(|user| user.psdu.part.mode = mode);
        self.exchanges[exchange].serve(users, Plan::Questions);
        self.open_units(exchange, (by, &stations, ru), open);
        let bytes = sizes::bsrp(stations.len() as u64 + u64::from(open > 0));
        let trigger = self.trigger_ppdu(now, exchange, PpduKind::Bsrp, bytes, answers);
        self.note_users(by, |users| {
            users.scheduler.on_turn(now, Turn::Question);
            stations.last().into_iter().for_each(|station| users.has_served(Order::Question, *station));
        });
        Some(trigger)
    }

    /// The trigger that asks stations for data, sent `at` a time.
    fn basic_trigger(
        &mut self,
        now: Time,
        at: Time,
        (by, exchange): (NodeId, ExchangeId),
        of: &MultiUser,
    ) -> Option<Ppdu> {
        let users = &self.users[self.layout.node(by).bss as usize];
        let asks_all = !of.bsrp && !self.layout.bss_of(by).asks_as_ns3;
        let is_wanted = |s: &NodeId| asks_all || users.backlog(*s) > 0 || users.is_unknown(*s);
        let wanted: Vec<NodeId> = users.in_turn(Order::Uplink).filter(is_wanted).collect();
        let mut waiting: Vec<Waiting> = wanted.iter().filter_map(|station| self.waits_at(now, *station, by)).collect();
        self.users[self.layout.node(by).bss as usize].keep_first_rank(&mut waiting);
        if waiting.is_empty() {
            return None;
        }
        let phy = &*self.layout.bss_of(by).phy;
        let others = phy.difs() + self.trigger_lasts(by, sizes::basic_trigger(4)) * 2 + phy.sifs() * 2;
        let longest = self.layout.bss_of(by).aggregation?.max_duration;
        let around = Around { longest, one: others, several: others };
        let offer = Offer { now, phy, waiting: &waiting, most: of.max_users, around, is_known: of.bsrp };
        let chosen = self.users[self.layout.node(by).bss as usize].scheduler.uplink(&offer);
        let open = if of.bsrp { 0 } else { open_units(of) };
        let (ru, served) = units(phy.channel_width(), of.max_users, chosen.len() + open);
        let open = open.min(served.saturating_sub(1));
        let chosen: Vec<Waiting> = chosen.iter().take(served - open).map(|user| waiting[*user]).collect();
        if chosen.is_empty() {
            return None;
        }
        let stations: Vec<NodeId> = chosen.iter().map(|user| user.station).collect();
        let mut asked = self.asked_users(by, &stations, ru);
        let mut data = Duration::ZERO;
        for (user, &Waiting { mode, bytes, .. }) in asked.iter_mut().zip(&chosen) {
            user.psdu.part.mode = mode;
            let lasts = phy.he_tb_duration(&[RuPart { mode, ru, psdu: Bytes(bytes) }]);
            data = data.max(lasts - phy.ru_overhead(&[mode], ru, true));
        }
        let modes: Vec<ModeId> = asked.iter().map(|user| user.psdu.part.mode).collect();
        let overhead = phy.ru_overhead(&modes, ru, true);
        let bytes = sizes::basic_trigger(asked.len() as u64 + u64::from(open > 0));
        let answer =
            self.several_last(by, sizes::multi_sta_block_ack((asked.len() + open) as u64, phy.block_ack_window()));
        let around = self.trigger_lasts(by, bytes) + phy.sifs() * 2 + answer;
        let limits = self.layout.bss_of(by).aggregation?;
        let longest = limits.max_duration.min(phy.max_ppdu_duration(modes[0]));
        let left = |ends| left_of_txop(at, ends, around).min(longest);
        let left = self.exchanges[exchange].txop_ends.map_or(longest, left);
        if left <= overhead {
            return None;
        }
        let data = phy.whole_symbols(data.min(left - overhead));
        let lasts = overhead + data;
        self.exchanges[exchange].serve(asked, Plan::Uplink { data });
        self.open_units(exchange, (by, &stations, ru), open);
        let trigger =
            self.trigger_ppdu(at, exchange, PpduKind::Trigger, bytes, lasts + self.layout.phy_of(by).sifs() + answer);
        let phy = self.layout.phy_of(by);
        let granted = |user: &Waiting| (user.station, phy.longest_on_ru(user.mode, ru, data, true).0.min(user.bytes));
        let granted: Vec<(NodeId, u64)> = chosen.iter().map(granted).collect();
        self.note_users(by, |users| users.have_turn(now, Turn::Data, &granted));
        Some(trigger)
    }

    /// Data of a station, as far as its access point knows, in the mode that this orders: the one of its own data to the
    /// station, as with ns-3.
    fn waits_at(&mut self, now: Time, station: NodeId, by: NodeId) -> Option<Waiting> {
        let mode = self.ordered_mode(now, station, by);
        let users = &self.users[self.layout.node(by).bss as usize];
        let (place, known) = (users.place_of(station)?, users.backlog(station));
        let unknown = if self.layout.bss_of(by).asks_as_ns3 { NS3_UNKNOWN_BACKLOG } else { UNKNOWN_BACKLOG };
        Some(Waiting { station, place, mode, bytes: if known > 0 { known } else { unknown } })
    }

    /// The mode that an access point orders for the data of a station.
    fn ordered_mode(&mut self, now: Time, station: NodeId, by: NodeId) -> ModeId {
        let (_, link) = self.layout.way(by, station);
        let info = FrameInfo { now, bytes: Bytes(1500), aggregates: true, retry: 0, packet: 0 };
        let mode = self.links.control(link).rates_for(&info).first();
        let phy = self.layout.phy_of(by);
        if phy.mode(mode).mcs.is_some() { mode } else { slowest(phy) }
    }

    /// The mode of triggers for data and for lengths of queues.
    fn mode_of_triggers(&self, by: NodeId) -> ModeId {
        let phy = self.layout.phy_of(by);
        if self.layout.bss_of(by).asks_as_ns3 {
            return phy.lowest_basic_mode();
        }
        phy.control_response_mode(fastest(phy))
    }

    /// Time on the air of such a trigger.
    fn trigger_lasts(&self, by: NodeId, bytes: Bytes) -> Duration {
        self.layout.phy_of(by).ppdu_duration(self.mode_of_triggers(by), bytes)
    }

    /// Time on the air of a frame of an access point for several stations.
    fn several_last(&self, by: NodeId, bytes: Bytes) -> Duration {
        let phy = self.layout.phy_of(by);
        phy.ppdu_duration(phy.control_response_mode(fastest(phy)), bytes)
    }

    /// A trigger, which reserves the medium for `then` after a SIFS.
    fn trigger_ppdu(&self, at: Time, exchange: ExchangeId, kind: PpduKind, bytes: Bytes, then: Duration) -> Ppdu {
        let of = &self.exchanges[exchange];
        let (phy, mode) = (self.layout.phy_of(of.by), self.mode_of_triggers(of.by));
        let airtime = phy.ppdu_duration(mode, bytes);
        let Part { link, .. } = of.user.psdu.part;
        let first = Part { from: of.by, to: To::Nobody, link, mode, bytes: bytes.0 as u32, ru: None };
        let reserves_until = at + airtime + phy.sifs() + then;
        Ppdu { kind, first, more: None, airtime, reserves_until, exchange, initiator: of.by, of_several: true }
    }

    /// Handles the end of a PPDU of an uplink exchange; returns the one that follows.
    pub(super) fn step_of_uplink(
        &mut self,
        now: Time,
        ppdu: &Ppdu,
        plan: Plan,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        match (ppdu.kind, plan) {
            (PpduKind::Bsrp | PpduKind::Trigger, _) => {
                let answers = match plan {
                    Plan::Uplink { data } => self.triggered_data(now, ppdu, data, env),
                    _ => self.reports(now, ppdu, env),
                };
                answers.or_else(|| self.end_uplink(now, ppdu, false, env))
            }
            (PpduKind::Ampdu, Plan::Questions) => {
                self.note_random_access(ppdu);
                let any = self.take_up_reports(now, ppdu);
                let next = self.data_after_reports(now, ppdu);
                next.or_else(|| self.end_uplink(now, ppdu, any, env))
            }
            (PpduKind::Ampdu, _) => {
                self.note_random_access(ppdu);
                self.take_up_data(now, ppdu, env);
                let any = self.take_up_reports(now, ppdu);
                let next = self.multi_sta_block_ack(now, ppdu);
                next.or_else(|| self.end_uplink(now, ppdu, any, env))
            }
            // The Multi-STA BlockAck.
            _ => self.end_uplink(now, ppdu, true, env),
        }
    }

    /// Returns whether the station of a user answers a trigger: it has decoded it, and no one else has reserved the medium.
    fn answers_trigger(&self, now: Time, user: &User, by: NodeId) -> bool {
        let Some(station) = user.station().filter(|_| user.has_heard()) else { return false };
        let free = self.air.is_uniform() || self.access.view(self.access.view_of(station)).answers_rts(now, by);
        free && !self.air.is_sending(station) && self.stations[station.index()].response.is_none()
    }

    /// The HE TB PPDU of those users that answer, in which each has these symbols.
    fn triggered(&mut self, asks: &Ppdu, answering: &[bool], airtime: Duration) -> Option<Ppdu> {
        let of = &mut self.exchanges[asks.exchange];
        let mut parts = Vec::new();
        for (user, _) in of.users_mut().zip(answering).filter(|(_, answers)| **answers) {
            user.psdu.airtime = airtime;
            parts.push(user.psdu.part);
        }
        self.ppdu_of(PpduKind::Ampdu, &parts, airtime, asks)
    }

    /// The lengths of their queues, from those that answer.
    fn reports(&mut self, now: Time, asks: &Ppdu, env: &mut impl Environment<B>) -> Option<Ppdu> {
        let by = asks.initiator;
        let answering = self.answering(now, asks);
        let phy = self.layout.phy_of(by);
        let of = &mut self.exchanges[asks.exchange];
        let (mode, count) = (of.user.psdu.part.mode, of.units as usize);
        let part = RuPart { mode, ru: of.user.ru, psdu: sizes::QOS_NULL };
        let airtime = phy.he_tb_duration(&vec![part; count]);
        for (user, _) in of.users_mut().zip(&answering).filter(|(_, answers)| **answers) {
            (user.psdu.part.mode, user.psdu.part.bytes) = (mode, sizes::QOS_NULL.0 as u32);
        }
        for place in (0..answering.len()).filter(|place| answering[*place]) {
            self.note_queued(now, asks.exchange, place, env);
        }
        self.triggered(asks, &answering, airtime)
    }

    /// Bytes that wait at a station for its access point. Packets in a queue or at a socket count as far as a Block Ack
    /// window holds them: no trigger can ask for more.
    fn backlog_of(&self, station: NodeId) -> u64 {
        let most = usize::from(self.layout.phy_of(station).block_ack_window());
        let own = self.layout.node(station).functions.clone();
        own.map(|id| self.senders[id as usize].waiting(station, most)).sum()
    }

    /// Notes how much waits at the station of a user besides the MPDUs that it has now, for their QoS Control fields. If stations
    /// are asked for data, sockets that wait to be pulled count as far as a Block Ack window holds their packets.
    #[inline(never)]
    pub(crate) fn note_queued(&mut self, now: Time, id: ExchangeId, place: usize, env: &mut impl Environment<B>) {
        let user = self.exchanges[id].user_mut(place);
        let sent: u64 = user.psdu.lengths.iter().map(|bytes| u64::from(*bytes)).sum();
        let Some(station) = user.station() else { return };
        let bss = self.layout.bss_of(station);
        let most = usize::from(bss.phy.block_ack_window());
        if bss.multi_user.is_some_and(|of| of.uplink) {
            for id in self.layout.node(station).functions.clone() {
                self.senders[id as usize].take_from_sockets(now, most, env);
            }
        }
        self.exchanges[id].user_mut(place).queued = self.backlog_of(station).saturating_sub(sent);
    }

    /// Notes how much is left at a station whose data `ap` has decoded, as their QoS Control fields say.
    #[inline(always)]
    pub(crate) fn note_backlog(&mut self, now: Time, data: &Ppdu, ap: NodeId) {
        if !self.users[self.layout.node(ap).bss as usize].stations().is_empty() && data.from() != ap {
            self.note_backlog_of(now, data, ap);
        }
    }

    #[inline(never)]
    fn note_backlog_of(&mut self, now: Time, data: &Ppdu, ap: NodeId) {
        if !self.layout.bss_of(ap).asks_as_ns3 {
            let left = self.exchanges[data.exchange].user.queued;
            self.note_users(ap, |users| users.reports(now, data.from(), left));
        }
    }

    /// Notes the lengths that have arrived; returns whether any has.
    fn take_up_reports(&mut self, now: Time, ppdu: &Ppdu) -> bool {
        let by_nulls_alone = self.layout.bss_of(ppdu.initiator).asks_as_ns3;
        let heard = || self.exchanges[ppdu.exchange].users().filter(|user| user.has_heard());
        let reports = |user: &&User| !by_nulls_alone || user.is_null();
        let arrived: Vec<(NodeId, u64)> =
            heard().filter(reports).filter_map(|user| Some((user.station()?, user.queued))).collect();
        let any = heard().next().is_some();
        for (station, bytes) in arrived {
            self.note_users(ppdu.initiator, |users| users.reports(now, station, bytes));
        }
        any
    }

    /// The mode of QoS Nulls that are sent together: the slowest; with ns-3 the slowest in which these stations would send data.
    fn mode_of_nulls(&mut self, now: Time, by: NodeId, stations: &[NodeId]) -> ModeId {
        let slow = slowest(self.layout.phy_of(by));
        if !self.layout.bss_of(by).asks_as_ns3 {
            return slow;
        }
        let modes: Vec<ModeId> = stations.iter().map(|station| self.ordered_mode(now, *station, by)).collect();
        modes.into_iter().min().unwrap_or(slow)
    }

    /// The trigger for data that follows reports in the same TXOP, if one has room.
    fn data_after_reports(&mut self, now: Time, ppdu: &Ppdu) -> Option<Ppdu> {
        let by = ppdu.initiator;
        let of = self.layout.bss_of(by).multi_user?;
        let at = now + self.layout.phy_of(by).sifs();
        let ends = self.exchanges[ppdu.exchange].txop_ends?;
        if at >= ends || !self.users[self.layout.node(by).bss as usize].has_reports() {
            return None;
        }
        self.exchanges[ppdu.exchange].began = at;
        self.basic_trigger(now, at, (by, ppdu.exchange), &of)
    }

    /// Data of those that answer a trigger: of the access category of highest priority that has some.
    fn triggered_data(
        &mut self,
        now: Time,
        asks: &Ppdu,
        data: Duration,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        let (by, exchange) = (asks.initiator, asks.exchange);
        let answering = self.answering(now, asks);
        for place in (0..answering.len()).filter(|place| answering[*place]) {
            let user = self.exchanges[exchange].user_mut(place);
            let (Some(station), ru, mode) = (user.station(), user.ru, user.psdu.part.mode) else { continue };
            let mut psdu = std::mem::replace(&mut user.psdu, Psdu::new(station));
            let part = psdu.part;
            let mut sent = None;
            let bss = self.layout.bss_of(by);
            let most = usize::from(bss.phy.block_ack_window());
            for id in self.layout.node(station).functions.clone() {
                let sender = &mut self.senders[id as usize];
                sender.take_from_sockets(now, most, env);
                let Some(agreement) = sender.choose_agreement(now, &self.layout, &mut self.books, env) else {
                    continue;
                };
                if bss.asks_as_ns3 && sender.owes_request(agreement) {
                    sender.begin_on_ru(station, agreement, &mut psdu);
                    (psdu.kind, psdu.part.mode) = (PpduKind::BlockAckReq, mode);
                    psdu.part.bytes = frame_size::BLOCK_ACK_REQ.0 as u32;
                    sent = Some(SenderId(id));
                    break;
                }
                if !sender.goes_with_others(agreement) {
                    continue;
                }
                sender.begin_on_ru(station, agreement, &mut psdu);
                psdu.part.mode = mode;
                let longest = bss.phy.longest_on_ru(mode, ru, data, true);
                if sender.fill_on_ru(now, longest, bss, &mut self.books, &mut psdu, env) {
                    sent = Some(SenderId(id));
                    break;
                }
            }
            if let Some(id) = sent {
                self.exchanges[exchange].user_mut(place).sender = id;
                psdu.part.ru = Some(ru);
                if self.senders[id.index()].take_queue_to_report() {
                    self.report_queue(now, station, env);
                }
            } else {
                psdu.clear();
                psdu.part = Part { bytes: sizes::QOS_NULL.0 as u32, ..part };
            }
            self.exchanges[exchange].user_mut(place).psdu = psdu;
            self.note_queued(now, exchange, place, env);
        }
        let phy = self.layout.phy_of(by);
        let of = &self.exchanges[exchange];
        let modes: Vec<ModeId> = of.users().map(|user| user.psdu.part.mode).collect();
        let airtime = phy.ru_overhead(&modes, of.user.ru, true) + data;
        self.triggered(asks, &answering, airtime)
    }

    /// The acknowledgement to all whose data have arrived, if any have: a QoS Null asks for none.
    fn multi_sta_block_ack(&mut self, now: Time, ppdu: &Ppdu) -> Option<Ppdu> {
        let by = ppdu.initiator;
        let window = self.layout.phy_of(by).block_ack_window();
        let arrived = self.exchanges[ppdu.exchange].users().filter(|user| user.is_acknowledged()).count();
        self.charge_users(now, ppdu);
        let bytes = sizes::multi_sta_block_ack(arrived as u64, window);
        let mode = fastest(self.layout.phy_of(by));
        (arrived > 0).then(|| self.for_all_users(PpduKind::MultiStaBlockAck, bytes, mode, ppdu))
    }

    /// Charges stations for their shares of a PPDU whose data have arrived.
    fn charge_users(&mut self, now: Time, ppdu: &Ppdu) {
        let by = ppdu.initiator;
        let of = &self.exchanges[ppdu.exchange];
        let spent = now.since(of.began);
        let sent: Vec<&User> = of.users().filter(|user| user.heard.is_some()).collect();
        let charged: Vec<(SenderId, AirtimeUse)> = sent
            .iter()
            .zip(shares(spent, sent.iter().map(|user| user.ru.tones())))
            .filter_map(|(user, airtime)| {
                let station = user.station()?;
                let rate = self.layout.phy_of(by).mode(user.psdu.part.mode).rate;
                let place = user.sender.0 - self.layout.node(station).functions.start;
                let id = SenderId(self.layout.node(by).functions.start + place);
                Some((id, AirtimeUse { station, up: true, airtime, rate }))
            })
            .collect();
        for (id, used) in charged {
            let sender = &mut self.senders[id.index()];
            if sender.counts_airtime() {
                sender.on_airtime(now, &used);
            }
        }
    }

    /// Ends an uplink exchange: MPDUs whose acknowledgement came are done, the others are tried again.
    fn end_uplink(&mut self, now: Time, last: &Ppdu, any: bool, env: &mut impl Environment<B>) -> Option<Ppdu> {
        let of = &self.exchanges[last.exchange];
        // It acknowledges MPDUs that have arrived, and answers BlockAckReqs.
        let came = |user: &User| {
            let acknowledges = user.is_request() || user.received.decoded.contains(&true);
            last.kind == PpduKind::MultiStaBlockAck && user.has_heard() && acknowledges
        };
        let results: Vec<(bool, SenderId, bool, bool)> =
            of.users().map(|user| (!user.is_null(), user.sender, came(user), user.is_request())).collect();
        for (place, (_, sender, came, asks)) in results.into_iter().enumerate().filter(|(_, (sent, ..))| *sent) {
            self.settle_user(now, last, place, came, env);
            let function = FunctionId(sender.0);
            if came && !asks {
                self.use_mu_edca(now, function, env);
            }
            if !self.refill(now, function, env) && !self.has_errand(function) {
                self.access.stand_down(function);
            }
            self.request_access(now, function, env);
        }
        let by = last.initiator;
        let users = &mut self.users[self.layout.node(by).bss as usize];
        if !users.may_have_data() {
            users.scheduler.on_turn(now, Turn::Data);
        } else if users.scheduler.asks_on() {
            self.add_errand(by, Errand::Question);
        }
        self.end_of_several(now, last, any, env);
        None
    }

    /// Gives a function the parameters of MU EDCA until its timer ends, since an MPDU for a Basic Trigger was
    /// acknowledged. [802.11ax-2021 §26.2.7]
    fn use_mu_edca(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        let by = self.functions[id.index()].by;
        let Some(all) = self.layout.bss_of(by).mu_edca else { return };
        let place = (id.0 - self.layout.node(by).functions.start) as usize;
        let place = if self.layout.node(by).has_edca() { place } else { AccessCategory::Be.index() };
        let Some(of) = all[place] else { return };
        let until = now + of.timer;
        self.functions[id.index()].mu_edca_until = until;
        env.schedule(until, MediumEvent::MuEdcaEnds { function: id.0 });
        if of.aifsn == 0 {
            self.access.hold(now, id, until, env);
            self.note_held(now, id, true, env);
        } else {
            self.access.set_mu_edca(now, id, &of, env);
        }
    }

    /// Ends the time of MU EDCA of a function, if it was not prolonged.
    pub(crate) fn mu_edca_ends(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        if self.functions[id.index()].mu_edca_until == now {
            self.access.end_mu_edca(now, id, env);
            self.note_held(now, id, false, env);
        }
    }

    /// Lets an access point ask for the medium, so that it can ask its stations.
    pub(crate) fn asks_stations(&mut self, now: Time, bss: usize, env: &mut impl Environment<B>) {
        let (ap, of) = (self.layout.bss[bss].ap, self.layout.bss[bss].multi_user);
        let Some(interval) = of.and_then(|of| of.access_request) else { return };
        let since = if self.layout.bss[bss].asks_as_ns3 { self.users[bss].accessed } else { now };
        if since < now && now.since(since) < interval {
            env.schedule(since + interval, MediumEvent::AsksStations(bss as u32));
            return;
        }
        env.schedule(now + interval, MediumEvent::AsksStations(bss as u32));
        self.add_errand(ap, Errand::Question);
        self.request_access(now, self.layout.node(ap).function_of(0), env);
    }
}

/// Units of a trigger for stations that it does not name.
fn open_units(of: &MultiUser) -> usize {
    of.random_access.map_or(0, |of| of.units as usize)
}

/// The slowest mode with an MCS.
fn slowest(phy: &Phy) -> ModeId {
    phy.allowed_modes().iter().copied().find(|id| phy.mode(*id).mcs.is_some()).unwrap_or(phy.allowed_modes()[0])
}

/// The fastest mode for data.
fn fastest(phy: &Phy) -> ModeId {
    phy.allowed_modes()[phy.allowed_modes().len() - 1]
}
