//! Frames in the air, and the nodes that can decode them.

use super::{Carrier, Config};

/// The kinds of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Rts,
    Cts,
    /// A frame or an A-MPDU.
    Data,
    Ack,
    BlockAck,
    BlockAckReq,
    CfEnd,
    /// Data for several users.
    Mu,
    MuBar,
    Bsrp,
    Trigger,
    /// Answers to triggers.
    TbAck,
    TbNull,
    TbData,
    MultiAck,
}

impl Kind {
    /// Whether it answers a frame of the holder of a TXOP.
    pub fn is_answer(self) -> bool {
        matches!(self, Kind::Cts | Kind::Ack | Kind::BlockAck) || self.is_triggered()
    }

    /// Whether it answers a trigger.
    pub fn is_triggered(self) -> bool {
        matches!(self, Kind::TbAck | Kind::TbNull | Kind::TbData)
    }
}

/// A frame on its way, and its state at each node so far.
#[derive(Clone, Debug)]
pub struct Transmission {
    pub from: usize,
    pub to: usize,
    pub kind: Kind,
    pub start: u64,
    pub end: u64,
    /// The Duration field: the time for which the exchange goes on after `end`.
    pub duration: u64,
    /// Function of its sender, for data and RTS, and number of its frame.
    pub function: usize,
    /// With a BlockAckReq the number that it announces.
    pub number: u64,
    /// Numbers of its MPDUs, if it is an A-MPDU.
    pub mpdus: Vec<u64>,
    /// Its parts for several users: receivers and numbers of MPDUs; or the stations that a trigger or a BlockAck names.
    pub parts: Vec<(usize, Vec<u64>)>,
    /// Tones and place of its unit, if it answers a trigger or is for several.
    pub unit: Option<(u32, usize)>,
    /// Bytes that wait at its sender.
    pub report: Option<u64>,
    /// Times, with their ends, at which the node could not receive it for other signals, or did not follow it.
    pub spoiled: Vec<Vec<(u64, u64)>>,
    /// True if the node sent during a part of it.
    pub missed: Vec<bool>,
    /// True if the node is receiving it: the node heard nothing else when it began, or it is the strongest of those
    /// that began together, or it captured the receiver.
    pub locked: Vec<bool>,
    /// True if the node notices it.
    pub noticed: Vec<bool>,
    /// Time since which the node has listened to it without a break; `None`: the node does not listen now.
    pub listened_since: Vec<Option<u64>>,
    /// True if the node has missed its beginning and recognises it nevertheless.
    pub recognised: Vec<bool>,
}

/// All frames now on their way.
#[derive(Default)]
pub struct Air {
    pub ongoing: Vec<Transmission>,
    /// Nodes that sense bursts, which lift the sum of powers to the level of energy; empty without interferers.
    pub has_energy: Vec<bool>,
}

impl Transmission {
    /// Whether `node` takes it for the response to its own frame that ended at `since`: it began a SIFS after that, or at
    /// most a slot later. [802.11-2020 §10.3.2.11]
    pub fn may_be_response(&self, config: &Config, node: usize, since: u64) -> bool {
        let in_time = since..=since + config.sifs_ns + config.slot_ns;
        self.from != node && self.noticed[node] && (in_time.contains(&self.start) || self.recognised[node])
    }

    /// Which of its MPDUs `node` decodes; a frame by itself counts as one.
    pub fn decoded(&self, config: &Config, node: usize) -> Vec<bool> {
        let heard = node != self.from && config.hears[node][self.from] && !self.missed[node];
        match &config.aggregation {
            _ if !heard => vec![false; self.mpdus.len().max(1)],
            Some(of) if !self.mpdus.is_empty() => {
                of.intact(self.mpdus.len(), (self.start, self.end), &self.all_spoiled(config, node))
            }
            _ => vec![self.all_spoiled(config, node).is_empty()],
        }
    }
}

impl Transmission {
    /// Whether it answers the same trigger as `other`, on a unit of its own.
    fn is_beside(&self, other: &Transmission) -> bool {
        self.kind.is_triggered() && other.kind.is_triggered() && self.start == other.start
    }

    /// Times at which `node` could not receive it, for whatever reason.
    fn all_spoiled(&self, config: &Config, node: usize) -> Vec<(u64, u64)> {
        let bursts = config.interferers.iter().flat_map(|of| of.spoil(config, node, self));
        self.spoiled[node].iter().copied().chain(bursts).collect()
    }
}

impl Air {
    pub fn is_sending(&self, node: usize) -> bool {
        self.ongoing.iter().any(|t| t.from == node)
    }

    /// Returns whether a frame of others is in the air that `node` notices, or energy.
    pub fn is_busy_at(&self, node: usize) -> bool {
        self.ongoing.iter().any(|t| t.from != node && t.noticed[node]) || self.has_energy.get(node) == Some(&true)
    }

    /// Settles which frames nodes listen to and notice; to be called when a frame has begun or ended, and when a
    /// [recognition](Air::next_recognition) is due. Returns the nodes that have recognised a frame just now.
    pub fn settle_carrier(&mut self, config: &Config, now: u64) -> Vec<usize> {
        let mut found = Vec::new();
        for node in 0..config.nodes.len() {
            let heard = |t: &Transmission| t.from != node && config.hears[node][t.from];
            let sending = self.is_sending(node);
            let deaf = sending || self.ongoing.iter().any(|t| t.from != node && t.locked[node]);
            let energy = |t: &Transmission| config.carrier.as_ref().map_or(1.0, |c| linear(c.power_db[t.from][node]));
            let frames: f64 = self.ongoing.iter().filter(|t| heard(t)).map(energy).sum();
            let bursts = config.interferers.as_ref().map_or(0.0, |of| of.power_at(node, now));
            let (sum, with_bursts) = (frames, frames + bursts);
            if let Some(carrier) = config.carrier.as_ref().filter(|_| config.interferers.is_some()) {
                self.has_energy.resize(config.nodes.len(), false);
                self.has_energy[node] = bursts > 0.0 && with_bursts >= linear(carrier.energy_db);
            }
            for t in self.ongoing.iter_mut().filter(|t| heard(t)) {
                let Some(carrier) = &config.carrier else {
                    t.noticed[node] = true;
                    continue;
                };
                t.listened_since[node] = if deaf { None } else { t.listened_since[node].or(Some(now)) };
                t.recognised[node] &= !sending;
                if carrier.recognises(t, node).is_some_and(|at| at <= now) {
                    t.recognised[node] = true;
                    found.push(node);
                }
                t.noticed[node] = t.locked[node] || t.recognised[node] || sum >= linear(carrier.energy_db);
            }
        }
        found
    }

    /// The next time at which a frame under way will be recognised.
    pub fn next_recognition(&self, config: &Config) -> Option<u64> {
        let carrier = config.carrier.as_ref()?;
        let of = |t: &Transmission| (0..config.nodes.len()).filter_map(|n| carrier.recognises(t, n)).min();
        self.ongoing.iter().filter_map(of).min()
    }

    /// Returns whether `node` hears a frame that may yet prove to be the response to its own that ended at `since`.
    pub fn may_be_response(&self, config: &Config, node: usize, since: u64) -> bool {
        self.ongoing.iter().any(|t| t.may_be_response(config, node, since))
    }

    /// Locks receivers; to be called when transmissions have started.
    pub fn lock_receivers(&mut self, config: &Config, now: u64) {
        for node in 0..config.nodes.len() {
            let sending = self.is_sending(node);
            let heard = self.heard(config, node);
            if sending {
                for &i in &heard {
                    self.ongoing[i].missed[node] = true;
                    self.ongoing[i].locked[node] = false;
                }
            } else {
                self.lock(config, node, &heard, now);
            }
        }
    }

    /// Notes from when to when nodes cannot receive; to be called when transmissions have started or ended.
    pub fn spoil_receptions(&mut self, config: &Config, now: u64) {
        for node in 0..config.nodes.len() {
            let heard = self.heard(config, node);
            for &i in &heard {
                let beside = |j: usize| self.ongoing[i].is_beside(&self.ongoing[j]);
                let others: Vec<usize> = heard.iter().copied().filter(|&j| j != i && !beside(j)).collect();
                let follows = self.ongoing[i].locked[node];
                let survives = follows && (others.is_empty() || self.captures(config, node, i, &others));
                let end = self.ongoing[i].end;
                let spoiled = &mut self.ongoing[i].spoiled[node];
                match spoiled.last_mut().filter(|s| s.1 == end) {
                    None if !survives => spoiled.push((now, end)),
                    Some(last) if survives => last.1 = now,
                    _ => {}
                }
            }
        }
    }

    fn heard(&self, config: &Config, node: usize) -> Vec<usize> {
        let is_heard = |t: &Transmission| t.from != node && config.hears[node][t.from];
        (0..self.ongoing.len()).filter(|&i| is_heard(&self.ongoing[i])).collect()
    }

    /// Decides on which of the frames that begin now `node` locks, and which frame it leaves for them.
    fn lock(&mut self, config: &Config, node: usize, heard: &[usize], now: u64) {
        let (new, old): (Vec<usize>, Vec<usize>) = heard.iter().copied().partition(|&i| self.ongoing[i].start == now);
        let powers = config.capture.as_ref().map(|c| &c.power_db).or(config.carrier.as_ref().map(|c| &c.power_db));
        let power = |air: &Air, i: usize| powers.map_or(0.0, |of| of[air.ongoing[i].from][node]);
        let late = config.capture.as_ref().map_or(0, |c| c.late_ns);
        let stays = old.iter().any(|&i| self.ongoing[i].locked[node] && now - self.ongoing[i].start >= late);
        let bursts = config.interferers.as_ref().map_or(0.0, |of| of.power_at(node, now) * linear(of.header_db));
        let chosen = |air: &Air, i: usize| {
            if bursts > 0.0 && linear(power(air, i)) < bursts {
                return false;
            }
            let others: Vec<usize> = heard.iter().copied().filter(|&j| j != i).collect();
            match old.is_empty() {
                true => others.iter().all(|&j| power(air, j) <= power(air, i)),
                false => !stays && air.captures(config, node, i, &others),
            }
        };
        let chosen: Vec<usize> = new.into_iter().filter(|&i| chosen(self, i)).collect();
        if !chosen.is_empty() {
            old.iter().for_each(|&i| self.ongoing[i].locked[node] = false);
        }
        chosen.iter().for_each(|&i| self.ongoing[i].locked[node] = true);
    }

    fn captures(&self, config: &Config, node: usize, one: usize, others: &[usize]) -> bool {
        let Some(capture) = &config.capture else { return false };
        let power = |i: usize| linear(capture.power_db[self.ongoing[i].from][node]);
        let sum: f64 = others.iter().map(|&i| power(i)).sum();
        power(one) >= sum * linear(capture.threshold_db)
    }
}

pub fn linear(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

impl Carrier {
    /// Time at which `node` will have listened to `t` for long enough, without a break.
    fn recognises(&self, t: &Transmission, node: usize) -> Option<u64> {
        let loud = self.mid_packet_db.is_some_and(|least| self.power_db[t.from][node] >= least);
        let at = t.listened_since[node].filter(|_| loud && !t.recognised[node])? + self.mid_packet_ns;
        (at < t.end).then_some(at)
    }
}
