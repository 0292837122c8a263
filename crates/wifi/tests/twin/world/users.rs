//! Exchanges with several users: the access point's turns, the stations' answers, and MU EDCA.

use super::World;
use crate::twin::Config;
use crate::twin::air::{Kind, Transmission};
use crate::twin::ampdu::Aggregation;
use crate::twin::node::{Awaited, Pending};
use crate::twin::users::{Acknowledged, Asking, Owed, Use, Users, choose_stations, choose_use, units};

/// The receiver of a frame for several.
const ALL: usize = usize::MAX;
const AP: usize = 0;

impl Config {
    fn users(&self) -> &Users {
        self.users.as_ref().expect("an access point serves several users")
    }
}

impl World<'_> {
    // ---- The way to the medium ----

    /// Notes whether the access point has anything to contend for.
    pub(super) fn refresh_wants(&mut self) {
        let Some(users) = &self.config.users else { return };
        let n = &mut self.nodes[AP];
        let (ap, function) = (n.access_point.as_mut().expect("it is one"), &mut n.functions[users.category]);
        let has_data = ap.clients.iter().any(|of| of.waiting > 0 || of.agreement.has_more());
        function.wants = Some(has_data || ap.asks);
    }

    /// Gives a packet that has come to the access point to its receiver.
    pub(super) fn sort_arrival(&mut self, node: usize, which: usize) {
        let stations = self.nodes.len() - 1;
        let n = &mut self.nodes[node];
        let Some(ap) = &mut n.access_point else { return };
        let to = 1 + ap.packets % stations;
        ap.packets += 1;
        if ap.serves != Some(to) {
            n.functions[which].queue.pop_back();
            ap.clients[to].waiting += 1;
        }
        self.refresh_wants();
    }

    /// Lets the access point contend to ask, if it is time and it has nothing to send.
    pub(super) fn request_access(&mut self) {
        let Some(users) = &self.config.users else { return };
        let ap = self.nodes[AP].access_point.as_mut().expect("it is one");
        if ap.next_request != Some(self.now) {
            return;
        }
        ap.next_request = users.access_request_ns.map(|after| self.now + after);
        ap.asks = true;
        let function = &self.nodes[AP].functions[users.category];
        let had_none = !function.has_frame() && !function.holds;
        self.refresh_wants();
        if had_none {
            self.wait_if_busy(AP, users.category);
        }
    }

    /// Gives functions whose timer ends their own parameters again.
    pub(super) fn end_mu_edca(&mut self) {
        let Some(users) = &self.config.users else { return };
        for node in 0..self.nodes.len() {
            if self.nodes[node].mu_edca_until != Some(self.now) {
                continue;
            }
            self.nodes[node].mu_edca_until = None;
            let own = self.nodes[node].config.edca.expect("it has functions")[users.category];
            let function = &mut self.nodes[node].functions[users.category];
            function.space_ns = self.config.sifs_ns + own.aifsn * self.config.slot_ns;
            (function.cw_min, function.cw_max) = (own.cw_min, own.cw_max);
            function.cw = function.cw.clamp(own.cw_min, own.cw_max);
            function.not_before = self.now;
            if !self.nodes[node].is_busy && !self.air.is_sending(node) {
                self.plan(node);
            }
        }
    }

    fn start_mu_edca(&mut self, node: usize) {
        let Some(of) = self.config.users().mu_edca else { return };
        let n = &mut self.nodes[node];
        n.mu_edca_until = Some(self.now + of.timer_ns);
        let function = &mut n.functions[self.config.users().category];
        function.space_ns = self.config.sifs_ns + of.aifsn * self.config.slot_ns;
        if of.aifsn > 0 {
            (function.cw_min, function.cw_max) = (of.cw_min, of.cw_max);
            function.cw = function.cw.clamp(of.cw_min, of.cw_max);
        }
    }

    /// Whether MU EDCA keeps the function of `node` from contending.
    pub(super) fn is_held(&self, node: usize, which: usize) -> bool {
        let held = |of: &Users| of.category == which && of.mu_edca.is_some_and(|of| of.aifsn == 0);
        self.nodes[node].mu_edca_until.is_some() && self.config.users.as_ref().is_some_and(held)
    }

    // ---- The access point ----

    /// Begins the exchange of an access point that has won the medium.
    pub(super) fn begin_with_users(&mut self) {
        let users = self.config.users();
        let waiting: Vec<usize> = self.with_data();
        let ap = self.nodes[AP].access_point.as_mut().expect("it is one");
        ap.asks = false;
        let has_reports = ap.clients.iter().any(|of| of.reported > 0);
        let turn = match users.uplink {
            true => choose_use(self.now, !waiting.is_empty(), has_reports, users.bsrp),
            false => Use::Queue,
        };
        match turn {
            Use::Queue => {
                let chosen = choose_stations(self.now, &waiting, users.max_users, users.width_mhz);
                self.begin_downlink(&chosen);
            }
            Use::Question => self.begin_question(),
            Use::Data => {
                let (length, pending) = self.data_trigger(self.now).expect("the first exchange has room");
                self.nodes[AP].owed.length_ns = length;
                self.transmit(AP, Kind::Trigger, ALL, pending.duration);
            }
        }
    }

    /// Places of the stations for which data wait.
    fn with_data(&self) -> Vec<usize> {
        let clients = &self.nodes[AP].access_point.as_ref().expect("it is one").clients;
        let waits = |node: &usize| clients[*node].waiting > 0 || clients[*node].agreement.has_more();
        (1..clients.len()).filter(waits).map(|node| node - 1).collect()
    }

    /// Time of the TXOP from `at` on.
    fn left(&self, at: u64) -> u64 {
        self.nodes[AP].txop_ends.map_or(u64::MAX, |ends| ends.saturating_sub(at))
    }

    fn plain(&self) -> &Aggregation {
        self.config.aggregation.as_ref().expect("there are agreements")
    }

    fn begin_downlink(&mut self, places: &[usize]) {
        let (c, users) = (self.config, self.config.users());
        let sifs = c.sifs_ns;
        let chosen: Vec<usize> = places.iter().map(|place| place + 1).collect();
        let (tones, count) = units(users.width_mhz, chosen.len());
        assert_eq!(count, chosen.len(), "each user has a unit");
        let t_ack = self.plain().t_block_ack_ns;
        if let [to] = chosen[..] {
            let longest = self.left(self.now).saturating_sub(sifs + t_ack);
            let plain = self.plain().clone();
            self.take(to, &plain, longest, true);
            self.asking().of = Some(Use::Queue);
            self.asking().users = chosen;
            // The function has the agreement and the packets of its receiver while the TXOP lasts.
            self.lend(to);
            let length = self.plain().duration_ns(self.sending(AP));
            let until = self.reserves_until(AP, self.now, length);
            return self.transmit(AP, Kind::Data, to, until - self.now - length);
        }
        let (extra, after) = match users.acknowledged {
            Acknowledged::MuBar => {
                let asks = users.mu_bar_ns(count);
                (0, sifs + asks + sifs + users.answer_ack_ns(tones, count))
            }
            Acknowledged::Aggregated => {
                let trigger = 4 + users.mu_bar_bytes(1);
                (trigger.next_multiple_of(4), sifs + users.answer_ack_ns(tones, count))
            }
            Acknowledged::Bar => {
                let one = sifs + t_ack;
                (0, one + (count as u64 - 1) * (sifs + self.plain().t_request_ns + one))
            }
        };
        let limits = users.limits(self.plain(), tones, count, false, extra);
        let longest = users.longest_ns.min(self.left(self.now).saturating_sub(after));
        let mut parts = Vec::new();
        let mut psdus = Vec::new();
        for &to in &chosen {
            assert!(limits.durations_ns[0] <= longest, "each user has room for an MPDU");
            self.take(to, &limits, longest, false);
            let sending = &self.client(to).agreement.sending;
            psdus.push(users.psdu_bytes(sending.len()) + extra);
            parts.push((to, sending.iter().map(|m| m.number).collect()));
        }
        *self.asking() = Asking { of: Some(Use::Queue), users: chosen, tones, next: 1 };
        let length = users.times.mu_ns(tones, &psdus);
        self.nodes[AP].owed.length_ns = length;
        self.transmit(AP, Kind::Mu, ALL, after);
        let t = self.air.ongoing.last_mut().expect("it is on the air");
        (t.parts, t.unit) = (parts, Some((tones, 0)));
        let end = self.now + length;
        match users.acknowledged {
            Acknowledged::MuBar => {
                let asks = users.mu_bar_ns(count);
                self.nodes[AP].owed.length_ns = asks;
                let duration = sifs + users.answer_ack_ns(tones, count);
                self.nodes[AP].pending = Some(Pending { at: end + sifs, kind: Kind::MuBar, to: ALL, duration });
            }
            Acknowledged::Aggregated => self.wait_for(Kind::TbAck, end),
            Acknowledged::Bar => self.wait_for(Kind::BlockAck, end),
        }
    }

    fn wait_for(&mut self, kind: Kind, end: u64) {
        let timeout =
            if kind == Kind::BlockAck { self.config.ack_timeout_ns } else { self.config.users().tb_timeout_ns };
        self.nodes[AP].awaited = Some(Awaited { kind, since: end, over: end, deadline: Some(end + timeout) });
    }

    fn asking(&mut self) -> &mut Asking {
        &mut self.nodes[AP].access_point.as_mut().expect("it is one").asking
    }

    fn client(&mut self, node: usize) -> &mut crate::twin::users::Client {
        &mut self.nodes[AP].access_point.as_mut().expect("it is one").clients[node]
    }

    /// Takes the MPDUs of one user out of its queue.
    fn take(&mut self, to: usize, limits: &Aggregation, longest_ns: u64, must: bool) {
        let client = self.client(to);
        let taken = client.agreement.compose(limits, client.waiting, longest_ns, must);
        client.waiting -= taken;
    }

    fn lend(&mut self, to: usize) {
        let n = &mut self.nodes[AP];
        let ap = n.access_point.as_mut().expect("it is one");
        let (client, function) = (&mut ap.clients[to], &mut n.functions[n.active]);
        std::mem::swap(&mut client.agreement, function.agreement.as_mut().expect("it sends A-MPDUs"));
        let waiting = std::mem::take(&mut client.waiting);
        function.queue.extend((0..waiting).map(|_| 0));
        function.peers = vec![to];
        ap.serves = Some(to);
    }

    /// Gives the receiver of PPDUs for one its own back.
    pub(super) fn take_back(&mut self) {
        let n = &mut self.nodes[AP];
        let Some(ap) = &mut n.access_point else { return };
        let Some(to) = ap.serves.take() else { return };
        let (client, function) = (&mut ap.clients[to], &mut n.functions[n.active]);
        std::mem::swap(&mut client.agreement, function.agreement.as_mut().expect("it sends A-MPDUs"));
        client.waiting += function.queue.drain(..).count() as u64;
        self.refresh_wants();
    }

    /// Lets the access point ask again if reports name data, after an exchange in which it has asked.
    fn ask_on(&mut self) {
        let of = self.asking().of;
        let ap = self.nodes[AP].access_point.as_mut().expect("it is one");
        ap.asks |= of.is_some_and(|of| of != Use::Queue) && ap.clients.iter().any(|of| of.reported > 0);
    }

    fn begin_question(&mut self) {
        let users = self.config.users();
        let stations = self.nodes.len() - 1;
        let ap = self.nodes[AP].access_point.as_mut().expect("it is one");
        let (tones, count) = units(users.width_mhz, stations.min(users.max_users));
        let asked: Vec<usize> = (0..count).map(|n| 1 + (ap.turn + n) % stations).collect();
        ap.turn = (ap.turn + count) % stations;
        ap.asking = Asking { of: Some(Use::Question), users: asked, tones, ..Asking::default() };
        let duration = self.config.sifs_ns + users.null_ns(tones, count);
        self.nodes[AP].owed.length_ns = users.trigger_ns(count, false);
        self.transmit(AP, Kind::Bsrp, ALL, duration);
    }

    /// A trigger for data that is sent at `at`, with its length; nothing if no data fit.
    fn data_trigger(&mut self, at: u64) -> Option<(u64, Pending)> {
        let users = self.config.users();
        let sifs = self.config.sifs_ns;
        let stations = self.nodes.len() - 1;
        let clients = &self.nodes[AP].access_point.as_ref().expect("it is one").clients;
        let is_asked = |place: &usize| !users.bsrp || clients[place + 1].reported > 0;
        let waiting: Vec<usize> = (0..stations).filter(is_asked).collect();
        let chosen = choose_stations(self.now, &waiting, users.max_users, users.width_mhz);
        let (tones, count) = units(users.width_mhz, chosen.len());
        let (trigger, ack) = (users.trigger_ns(count, true), users.multi_ack_ns(count));
        let room = users.longest_ns.min(self.left(at).saturating_sub(trigger + sifs + sifs + ack));
        let needed = |place: &usize| users.needed_bytes(clients[place + 1].reported);
        let needed = chosen.iter().map(needed).max().expect("some are asked");
        let longest = users.times.tb_longest_ns(tones, count, room)?;
        let length = longest.min(users.times.tb_ns(tones, count, needed));
        let nodes = chosen.iter().map(|place| place + 1).collect();
        *self.asking() = Asking { of: Some(Use::Data), users: nodes, tones, ..Asking::default() };
        let duration = sifs + length + sifs + ack;
        Some((trigger, Pending { at, kind: Kind::Trigger, to: ALL, duration }))
    }

    /// Continues when all answers to a trigger have ended.
    pub(super) fn after_answers(&mut self) {
        let users = self.config.users();
        let sifs = self.config.sifs_ns;
        self.nodes[AP].awaited = None;
        let asking = self.asking().clone();
        match asking.of.expect("it has asked") {
            Use::Queue => {
                for &node in &asking.users {
                    self.settle(node);
                }
                self.end_exchange();
            }
            Use::Question => {
                let ap = self.nodes[AP].access_point.as_mut().expect("it is one");
                let reports = ap.clients.iter().any(|of| of.reported > 0);
                let at = self.now + sifs;
                let follows = self.nodes[AP].txop_ends.is_some() && reports;
                let next = if follows { self.data_trigger(at) } else { None };
                match next {
                    Some((length, pending)) => {
                        self.nodes[AP].owed.length_ns = length;
                        self.nodes[AP].pending = Some(pending);
                    }
                    None => self.end_exchange(),
                }
            }
            Use::Data => {
                let ap = self.nodes[AP].access_point.as_mut().expect("it is one");
                let with_data: Vec<usize> =
                    asking.users.iter().copied().filter(|&node| ap.clients[node].answered).collect();
                if with_data.is_empty() {
                    return self.end_exchange();
                }
                self.nodes[AP].owed.length_ns = users.multi_ack_ns(with_data.len());
                let at = self.now + sifs;
                // It reserves what answers of all would have needed.
                let duration = users.multi_ack_ns(asking.users.len()) - users.multi_ack_ns(with_data.len());
                self.nodes[AP].pending = Some(Pending { at, kind: Kind::MultiAck, to: ALL, duration });
            }
        }
    }

    /// Handles the answer of one user to downlink data.
    fn settle(&mut self, node: usize) {
        let (active, now, limit) = (self.nodes[AP].active, self.now, self.config.retry_limit);
        let recipient = self.nodes[node].recipients[AP][active].clone();
        let client = self.client(node);
        if std::mem::take(&mut client.answered) {
            client.agreement.acknowledge(now, &recipient, limit);
        } else {
            client.agreement.count_failure(now, limit);
        }
    }

    /// Whether `node` waits for the BlockAck of one user after another.
    pub(super) fn is_asked_in_turn(&self, node: usize) -> bool {
        self.nodes[node].access_point.as_ref().is_some_and(|ap| ap.serves.is_none())
    }

    /// Handles a BlockAck for the access point of one user after another.
    pub(super) fn take_block_ack(&mut self, from: usize) {
        self.nodes[AP].awaited = None;
        self.client(from).answered = true;
        let asking = self.asking().clone();
        self.settle(from);
        let users = &asking.users;
        if asking.next >= users.len() {
            return self.end_exchange();
        }
        self.asking().next += 1;
        let (sifs, plain) = (self.config.sifs_ns, self.plain());
        let one = sifs + plain.t_block_ack_ns;
        let after = (users.len() - asking.next - 1) as u64;
        let duration = one + after * (sifs + plain.t_request_ns + one);
        let at = self.now + sifs;
        self.nodes[AP].pending = Some(Pending { at, kind: Kind::BlockAckReq, to: users[asking.next], duration });
    }

    /// Ends an exchange in which somebody has answered.
    pub(super) fn end_exchange(&mut self) {
        self.ask_on();
        *self.asking() = Asking::default();
        let active = self.nodes[AP].active;
        self.nodes[AP].functions[active].reset_window();
        self.refresh_wants();
        self.end_txop(AP);
    }

    /// Handles an exchange of the access point that nobody has answered.
    pub(super) fn lose_users(&mut self) {
        self.take_back();
        self.ask_on();
        let asking = std::mem::take(self.asking());
        let (active, limit, now) = (self.nodes[AP].active, self.config.retry_limit, self.now);
        if asking.of == Some(Use::Queue) {
            for node in asking.users {
                self.client(node).agreement.count_failure(now, limit);
            }
        }
        self.nodes[AP].functions[active].widen_window(limit);
        self.refresh_wants();
        self.end_txop(AP);
    }

    // ---- Stations ----

    /// Notes what the frame of a station reports at the access point.
    pub(super) fn take_report(&mut self, t: &Transmission) {
        if let Some(report) = t.report {
            self.client(t.from).reported = report;
        }
    }

    /// Bytes that wait at a station, as it reports them.
    pub(super) fn report(&self, node: usize) -> Option<u64> {
        let users = self.config.users.as_ref()?;
        let function = &self.nodes[node].functions[users.category];
        let again = function.agreement.as_ref().map_or(0, |a| a.again());
        Some(users.times.report((function.waiting().min(self.aggregation().window) + again) * users.mpdu_bytes()))
    }

    /// Answers a trigger, or a PPDU for several with a trigger within.
    fn answer(&mut self, node: usize, t: &Transmission, kind: Kind, owed: Owed) {
        let used = self.config.sifs_ns + owed.length_ns;
        let at = t.end + self.config.sifs_ns;
        assert!(self.nodes[node].pending.is_none(), "one response at a time");
        self.nodes[node].owed = owed;
        self.nodes[node].pending = Some(Pending { at, kind, to: AP, duration: t.duration - used });
    }

    /// Handles a frame for several that names `node`.
    pub(super) fn receive_for_several(&mut self, node: usize, t: &Transmission) {
        let users = self.config.users();
        let place = t.parts.iter().position(|part| part.0 == node).expect("it is named");
        let count = t.parts.len();
        let tones = t.unit.map_or(0, |unit| unit.0);
        let owed = |length_ns: u64| Owed { tones, place, users: count, length_ns };
        match t.kind {
            Kind::Mu => {
                for &number in &t.parts[place].1 {
                    let window = self.aggregation().window;
                    let recipient = &mut self.nodes[node].recipients[AP][t.function];
                    recipient.take(self.now, number);
                    let passed = recipient.pass(window);
                    self.pass_on(AP, node, passed);
                }
                match users.acknowledged {
                    Acknowledged::MuBar => {}
                    Acknowledged::Aggregated => {
                        self.answer(node, t, Kind::TbAck, owed(users.answer_ack_ns(tones, count)));
                    }
                    Acknowledged::Bar if place == 0 => self.respond(node, Kind::BlockAck, t),
                    Acknowledged::Bar => {}
                }
            }
            Kind::MuBar => self.answer(node, t, Kind::TbAck, owed(users.answer_ack_ns(tones, count))),
            Kind::Bsrp => {
                self.nodes[node].report = self.report(node);
                self.answer(node, t, Kind::TbNull, owed(users.null_ns(tones, count)));
            }
            Kind::Trigger => {
                let length = t.duration - 2 * self.config.sifs_ns - users.multi_ack_ns(count);
                let limits = users.limits(self.plain(), tones, count, true, 0);
                let function = &mut self.nodes[node].functions[users.category];
                let waiting = function.waiting();
                let agreement = function.agreement.as_mut().expect("it sends A-MPDUs");
                let can = agreement.sending.is_empty();
                let taken = if can { agreement.compose(&limits, waiting, length, false) } else { 0 };
                let has_data = can && !agreement.sending.is_empty();
                function.queue.drain(..function.queue.len().min(taken as usize));
                self.nodes[node].report = self.report(node);
                let kind = if has_data { Kind::TbData } else { Kind::TbNull };
                self.answer(node, t, kind, owed(length));
            }
            Kind::MultiAck => {
                let active = users.category;
                let recipient = self.nodes[AP].recipients[node][active].clone();
                let (now, limit) = (self.now, self.config.retry_limit);
                let function = &mut self.nodes[node].functions[active];
                let agreement = function.agreement.as_mut().expect("it sends A-MPDUs");
                if agreement.acknowledge(now, &recipient, limit) > 0 {
                    self.start_mu_edca(node);
                }
            }
            other => unreachable!("{other:?} is for one"),
        }
    }

    /// Handles an answer at the access point.
    pub(super) fn receive_answer(&mut self, t: &Transmission) {
        self.take_report(t);
        self.client(t.from).answered = matches!(t.kind, Kind::TbAck | Kind::TbData);
        for &number in &t.mpdus {
            let window = self.aggregation().window;
            let recipient = &mut self.nodes[AP].recipients[t.from][t.function];
            recipient.take(self.now, number);
            let passed = recipient.pass(window);
            self.pass_on(t.from, AP, passed);
        }
    }

    /// Completes a frame that has just been put on the air.
    pub(super) fn complete(&mut self, node: usize, kind: Kind) {
        if self.config.users.is_none() {
            return;
        }
        let category = self.config.users().category;
        let owed = self.nodes[node].owed;
        let end = self.air.ongoing.last().expect("it is on the air").end;
        let names: Vec<(usize, Vec<u64>)> = match kind {
            Kind::MuBar | Kind::Bsrp | Kind::Trigger => {
                self.asking().users.iter().map(|user| (*user, Vec::new())).collect()
            }
            Kind::MultiAck => {
                let ap = self.nodes[AP].access_point.as_mut().expect("it is one");
                let answered = |user: &&usize| ap.clients[**user].answered;
                ap.asking.users.iter().filter(answered).map(|user| (*user, Vec::new())).collect()
            }
            _ => Vec::new(),
        };
        let tones = if node == AP { self.asking().tones } else { 0 };
        let report = self.nodes[node].report;
        let mut mpdus = Vec::new();
        if kind == Kind::TbData {
            let agreement = self.nodes[node].functions[category].agreement.as_ref().expect("it sends A-MPDUs");
            mpdus = agreement.sending.iter().map(|m| m.number).collect();
        }
        let t = self.air.ongoing.last_mut().expect("it is on the air");
        match kind {
            Kind::TbAck | Kind::TbNull | Kind::TbData => {
                (t.unit, t.function) = (Some((owed.tones, owed.place)), category);
                t.report = report.filter(|_| kind != Kind::TbAck);
                t.mpdus = mpdus;
            }
            Kind::Data if node != AP => t.report = report,
            Kind::MuBar | Kind::Bsrp | Kind::Trigger | Kind::MultiAck => (t.parts, t.unit) = (names, Some((tones, 0))),
            _ => {}
        }
        match kind {
            Kind::MuBar => self.wait_for(Kind::TbAck, end),
            Kind::Bsrp => self.wait_for(Kind::TbNull, end),
            Kind::Trigger => self.wait_for(Kind::TbData, end),
            Kind::MultiAck => {
                for client in &mut self.nodes[AP].access_point.as_mut().expect("it is one").clients {
                    client.answered = false;
                }
            }
            _ => {}
        }
    }
}
