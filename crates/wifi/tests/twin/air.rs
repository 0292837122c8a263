//! What is in the air, and who can decode it.

use super::Config;

/// The kinds of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Rts,
    Cts,
    Data,
    Ack,
}

/// A frame on its way, and what has become of it at each node so far.
#[derive(Clone, Debug)]
pub struct Transmission {
    pub from: usize,
    pub to: usize,
    pub kind: Kind,
    pub start: u64,
    pub end: u64,
    /// The Duration field: until when after `end` the exchange goes on.
    pub duration: u64,
    /// Which function of its sender, for data and RTS, and which frame of that.
    pub function: usize,
    pub number: u64,
    /// Stronger than all else that the node heard meanwhile.
    pub clear: Vec<bool>,
    /// The node sent during some of it.
    pub missed: Vec<bool>,
    /// The node is receiving it: it heard nothing else when it began, or of what began together this is the
    /// strongest, or it captured the receiver.
    pub locked: Vec<bool>,
}

/// All frames now on their way.
#[derive(Default)]
pub struct Air {
    pub ongoing: Vec<Transmission>,
}

impl Air {
    pub fn is_sending(&self, node: usize) -> bool {
        self.ongoing.iter().any(|t| t.from == node)
    }

    /// Whether anything of others is in the air at `node`.
    pub fn is_busy_at(&self, config: &Config, node: usize) -> bool {
        self.ongoing.iter().any(|t| t.from != node && config.hears[node][t.from])
    }

    /// Whether `node` hears something that may yet prove to be the response to its frame that ended at
    /// `since`: it began a SIFS after that, or at most a slot later [802.11-2020 §10.3.2.11].
    pub fn may_be_response(&self, config: &Config, node: usize, since: u64) -> bool {
        let audible = |t: &&Transmission| t.from != node && config.hears[node][t.from];
        let in_time = since..=since + config.sifs_ns + config.slot_ns;
        self.ongoing.iter().filter(audible).any(|t| in_time.contains(&t.start))
    }

    /// To be called when transmissions have started: locks receivers, spoils the receptions that cannot go on.
    pub fn spoil_receptions(&mut self, config: &Config, now: u64) {
        for node in 0..config.nodes.len() {
            let sending = self.is_sending(node);
            let heard: Vec<usize> = (0..self.ongoing.len())
                .filter(|&i| self.ongoing[i].from != node && config.hears[node][self.ongoing[i].from])
                .collect();
            if sending {
                for &i in &heard {
                    self.ongoing[i].missed[node] = true;
                    self.ongoing[i].locked[node] = false;
                }
            } else {
                self.lock(config, node, &heard, now);
            }
            for &i in &heard {
                let others: Vec<usize> = heard.iter().copied().filter(|&j| j != i).collect();
                let survives =
                    others.is_empty() || (self.ongoing[i].locked[node] && self.captures(config, node, i, &others));
                if !survives {
                    self.ongoing[i].clear[node] = false;
                }
            }
        }
    }

    /// On which of the frames that begin now `node` locks, and what it leaves for them.
    fn lock(&mut self, config: &Config, node: usize, heard: &[usize], now: u64) {
        let (new, old): (Vec<usize>, Vec<usize>) = heard.iter().copied().partition(|&i| self.ongoing[i].start == now);
        let power =
            |air: &Air, i: usize| config.capture.as_ref().map_or(0.0, |c| c.power_db[air.ongoing[i].from][node]);
        let late = config.capture.as_ref().map_or(0, |c| c.late_ns);
        let stays = old.iter().any(|&i| self.ongoing[i].locked[node] && now - self.ongoing[i].start >= late);
        let chosen = |air: &Air, i: usize| {
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
        let linear = |i: usize| libm::pow(10.0, capture.power_db[self.ongoing[i].from][node] / 10.0);
        let sum: f64 = others.iter().map(|&i| linear(i)).sum();
        linear(one) >= sum * libm::pow(10.0, capture.threshold_db / 10.0)
    }
}
