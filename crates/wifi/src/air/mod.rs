//! The air: the PPDUs being sent, and the nodes that notice and decode them. It knows radios and PPDUs, but no queues
//! and no backoffs.
//!
//! `on_air`: PPDUs being sent; `energy`: bursts of interferers. `carrier_sense`: the state of each receiver; `hearing`: receivers that sense alike.
//! `reception`: decoding; `interference`: a signal among others; `received`: possible results.

pub(crate) mod carrier_sense;
pub(crate) mod energy;
pub(crate) mod hearing;
pub(crate) mod interference;
pub(crate) mod on_air;
pub(crate) mod received;
pub(crate) mod reception;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_observe::NodeId;
use lasthop_units::{Db, Duration, Time};

use crate::channel::{Channel, Hearer, milliwatts};
use crate::ids::TxId;
use crate::interferer::Interferers;
use crate::phy::error_model::ErrorModel;
use crate::phy::{ModulationClass, Phy, Ru};
use crate::ppdu::{MoreParts, Part, Ppdu};
use carrier_sense::{Begun, Capture, CarrierSense, Heard, Noticed, Signal};
use energy::Energy;
use hearing::Hearing;
use interference::{Memory, Other, Span, Success};
use on_air::{Overlap, Transmission};

/// More than the channels that BSSs can have one after another, in all bands.
const MOST_CHANNELS: usize = 64;

/// A radio: the BSS, channel and transmitter state.
pub(crate) struct Radio {
    /// The BSS in whose table of modes it sends.
    pub bss: u32,
    pub channel: u32,
    pub is_ap: bool,
    /// True if its transmitter is on.
    pub transmitting: bool,
}

/// All that is on the air, and all radios.
pub(crate) struct Air {
    radios: Vec<Radio>,
    /// the PHY of each BSS
    phys: Vec<Arc<Phy>>,
    channel: Channel,
    /// For each radio, the views that may notice its PPDUs, if each node has a view of its own.
    hearers: Vec<Arc<[Hearer]>>,
    noise_mw_per_hz: f64,
    sense: CarrierSense,
    pub hearing: Hearing,
    capture: Option<Capture>,
    error_model: Box<dyn ErrorModel>,
    judged_by: JudgedBy,
    /// True if subcarriers or antennas fade apart: the power alone is then no bound on the SINR.
    is_spread: bool,
    /// The least power in milliwatts that each mode of each BSS needs, if that decides.
    sensitivity_mw: Vec<Vec<f64>>,
    memory: Memory,
    successes: Vec<Success>,
    /// The signals around one under evaluation.
    others: Vec<Other>,
    /// Random stream of each receiver.
    noise: Vec<Stream>,
    /// PPDUs being sent, by channel.
    on_air: Vec<Vec<Transmission>>,
    /// Number of these on each channel.
    on_channel: Vec<u32>,
    /// For each channel with a single view, a summary of the PPDUs on the air if all of them are disturbed.
    crowds: Vec<Option<Crowd>>,
    /// Number of PPDUs so far.
    begun: u32,
    /// Number of low bits of the number of a PPDU that hold its channel.
    channel_bits: u32,
    /// Parts of PPDUs beyond the first; index 0 and empty entries are unused.
    parts: Vec<Vec<Part>>,
    /// Unused lists of overlaps, for reuse.
    spare: Vec<Vec<Overlap>>,
    /// Bursts of interferers, if there are any.
    pub energy: Option<Box<Energy>>,
}

/// PPDUs on a channel that are all disturbed.
#[derive(Clone, Copy, Debug)]
struct Crowd {
    earliest_start: Time,
    latest_start: Time,
    first_end: Time,
}

/// Criterion that decides whether a frame without overlap is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JudgedBy {
    /// the error model, by the SINR
    Sinr,
    /// its power alone
    Power,
    /// the error model, by other things
    Else,
}

/// Configuration of an air.
pub(crate) struct AirConfig {
    pub radios: Vec<Radio>,
    pub phys: Vec<Arc<Phy>>,
    pub channel: Channel,
    pub noise_mw_per_hz: f64,
    pub sense: CarrierSense,
    pub capture: Option<Capture>,
    pub error_model: Box<dyn ErrorModel>,
    pub noise: Vec<Stream>,
    pub interferers: Interferers,
    pub seed: u64,
}

/// The parts of a PPDU; `more` are those beyond the first.
fn parts_of<'a>(more: &'a [Vec<Part>], ppdu: &'a Ppdu) -> impl Iterator<Item = &'a Part> + Clone {
    let more = ppdu.more.map_or(&[][..], |MoreParts(place)| &more[place.get() as usize]);
    std::iter::once(&ppdu.first).chain(more)
}

/// The radios that send a PPDU, each once.
#[inline(always)]
fn senders_of<'a>(more: &'a [Vec<Part>], ppdu: &'a Ppdu) -> impl Iterator<Item = NodeId> + 'a {
    let first = ppdu.first.from;
    std::iter::once(first).chain(parts_of(more, ppdu).map(|part| part.from).filter(move |from| *from != first))
}

impl Air {
    pub(crate) fn new(config: AirConfig) -> Air {
        let model = &config.error_model;
        let judged_by = match (model.needs_sinr(), model.is_none()) {
            (true, _) => JudgedBy::Sinr,
            (false, true) => JudgedBy::Power,
            (false, false) => JudgedBy::Else,
        };
        let needs = |phy: &Arc<Phy>| phy.modes().iter().map(|mode| milliwatts(mode.sensitivity)).collect();
        let hearers = config.channel.hearers();
        let spaces = |node: NodeId| {
            let phy = &config.phys[config.radios[node.index()].bss as usize];
            (phy.slot(), phy.difs(), phy.bandwidth_hz())
        };
        let channels: Vec<u32> = config.radios.iter().map(|radio| radio.channel).collect();
        let interferers = Some(config.interferers).filter(|of| !of.is_empty());
        let energy = interferers.map(|of| Box::new(Energy::new(of, &channels, config.seed)));
        // Members of a group would not sense bursts alike.
        let senses = |a, b| energy.is_none() && spaces(a) == spaces(b);
        let hearing = Hearing::new(&config.channel, &hearers, senses);
        let channels = config.radios.iter().map(|radio| radio.channel as usize + 1).max().unwrap_or(0);
        let turns_channels = matches!(&config.channel, Channel::Matrix(matrix) if matrix.turns_channels());
        let most_channels = if turns_channels { MOST_CHANNELS } else { channels };
        Air {
            radios: config.radios,
            sensitivity_mw: config.phys.iter().map(needs).collect(),
            phys: config.phys,
            hearers,
            judged_by,
            is_spread: matches!(&config.channel, Channel::Matrix(matrix) if matrix.is_spread()),
            channel: config.channel,
            noise_mw_per_hz: config.noise_mw_per_hz,
            sense: config.sense,
            hearing,
            capture: config.capture,
            error_model: config.error_model,
            memory: Memory::new(),
            successes: Vec::new(),
            others: Vec::new(),
            noise: config.noise,
            on_air: vec![Vec::new(); channels],
            on_channel: vec![0; channels],
            crowds: vec![None; channels],
            begun: 0,
            channel_bits: most_channels.next_power_of_two().trailing_zeros(),
            parts: vec![Vec::new()],
            spare: Vec::new(),
            energy,
        }
    }

    /// Begins the burst of an interferer that is due; see [`Energy::begin`].
    pub(crate) fn burst_begins(&mut self, now: Time, by: u32) -> (Begun, Option<Time>) {
        let open_since = self.on_air.iter().flatten().map(|ppdu| ppdu.start).min().unwrap_or(now);
        self.energy.as_mut().expect("who sends bursts is an interferer").begin(now, by, open_since)
    }

    /// Begins a burst in a view; returns whether it is noticed there.
    pub(crate) fn notice_burst(&mut self, view: usize, by: u32, begun: &Begun) -> bool {
        let energy = self.energy.as_ref().expect("who sends bursts is an interferer");
        let power_mw = energy.power_of_last(by, NodeId(view as u32));
        self.sense.energy_begins(view, power_mw, begun)
    }

    /// Returns whether `view` takes the PPDU that `from` is sending for a frame.
    pub(crate) fn notices_frame(&self, view: usize, from: NodeId) -> bool {
        self.sense.notices_frame(view, from)
    }

    /// Returns whether a burst has been on the air during a PPDU.
    #[inline(always)]
    fn meets_burst(&self, ended: &Transmission) -> bool {
        self.energy.as_ref().is_some_and(|energy| energy.is_in(Span { from: ended.start, to: ended.end }))
    }

    /// Raises the powers of later PPDUs of a node.
    pub(crate) fn set_gain(&mut self, now: Time, node: NodeId, gain: Db) {
        if let Channel::Matrix(matrix) = &mut self.channel {
            matrix.set_gain(now, node, gain);
        }
    }

    /// Moves radios that send nothing to another channel. Returns the end of the last PPDU that is on the air there, of which
    /// they know nothing.
    pub(crate) fn move_to(&mut self, now: Time, nodes: &[NodeId], channel: u32) -> Option<Time> {
        let Channel::Matrix(matrix) = &mut self.channel else {
            unreachable!("nodes that move have views of their own")
        };
        let place = channel as usize;
        assert!(place < MOST_CHANNELS, "{place} channels are more than all bands have");
        if self.on_air.len() <= place {
            self.on_air.resize_with(place + 1, Vec::new);
            self.on_channel.resize(place + 1, 0);
            self.crowds.resize(place + 1, None);
        }
        for node in nodes {
            let radio = &mut self.radios[node.index()];
            assert!(!radio.transmitting, "node {} changed its channel while it was sending", node.0);
            radio.channel = channel;
            matrix.set_channel(now, *node, channel);
        }
        self.on_air[place].iter().map(|ppdu| ppdu.end).max()
    }

    /// The reason for which the error model cannot continue, if it cannot.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.error_model.failure()
    }

    /// Returns whether nodes share views: all on a channel hear one another.
    #[inline(always)]
    pub(crate) fn is_uniform(&self) -> bool {
        self.channel.is_uniform()
    }

    pub(crate) fn channel_of(&self, node: NodeId) -> u32 {
        self.radios[node.index()].channel
    }

    #[inline(always)]
    pub(crate) fn phy_of(&self, node: NodeId) -> &Phy {
        &self.phys[self.radios[node.index()].bss as usize]
    }

    /// Returns whether the transmitter of a radio is on.
    #[inline(always)]
    pub(crate) fn is_sending(&self, node: NodeId) -> bool {
        self.radios[node.index()].transmitting
    }

    /// PPDUs on a channel now.
    pub(crate) fn count_on(&self, channel: u32) -> u32 {
        self.on_channel[channel as usize]
    }

    /// The PPDU that `from` is sending.
    pub(crate) fn sent_by(&self, from: NodeId) -> Option<&Ppdu> {
        self.on_air[self.channel_of(from) as usize].iter().map(|t| &t.ppdu).find(|ppdu| ppdu.from() == from)
    }

    /// Keeps the parts of a PPDU beyond the first.
    pub(crate) fn keep_parts(&mut self, parts: &[Part]) -> MoreParts {
        let place = (1..self.parts.len()).find(|&place| self.parts[place].is_empty()).unwrap_or(self.parts.len());
        self.parts.resize(self.parts.len().max(place + 1), Vec::new());
        self.parts[place].extend_from_slice(parts);
        MoreParts(NonZeroU32::new(place as u32).expect("the place 0 is nobody's"))
    }

    /// The parts of a PPDU.
    pub(crate) fn parts<'a>(&'a self, ppdu: &'a Ppdu) -> impl Iterator<Item = &'a Part> + Clone {
        parts_of(&self.parts, ppdu)
    }

    /// Returns whether several radios send a PPDU.
    #[inline(always)]
    pub(crate) fn has_several_senders(&self, ppdu: &Ppdu) -> bool {
        ppdu.more.is_some() && self.parts(ppdu).any(|part| part.from != ppdu.first.from)
    }

    /// Returns whether a radio sends a part of a PPDU.
    #[inline(always)]
    pub(crate) fn sends_part(&self, node: NodeId, ppdu: &Ppdu) -> bool {
        node == ppdu.first.from || (ppdu.more.is_some() && self.parts(ppdu).any(|part| part.from == node))
    }

    /// The factor by which the noise in a part's unit is less than in the whole channel, if its sender has all its power in
    /// that unit: stations do, an access point spreads its power over all units.
    fn gain(&self, ppdu: &Ppdu, part: &Part) -> f64 {
        let triggered = part.ru.filter(|_| part.from != ppdu.initiator);
        let whole = self.phy_of(part.from).channel_width().map(Ru::whole);
        match (triggered, whole) {
            (Some(ru), Some(whole)) => f64::from(whole.tones()) / f64::from(ru.tones()),
            _ => 1.0,
        }
    }

    /// Puts a PPDU on the air at `at`; returns its number and its end.
    ///
    /// # Panics
    /// If one of its radios is sending already.
    #[inline(always)]
    pub(crate) fn begin(&mut self, at: Time, ppdu: Ppdu) -> (TxId, Time) {
        self.switch_on(&ppdu);
        let channel = self.channel_of(ppdu.from());
        let id = TxId(self.begun << self.channel_bits | channel);
        self.begun = self.begun.wrapping_add(1);
        let end = at + ppdu.airtime;
        let new =
            Transmission { id, ppdu, start: at, end, is_disturbed: false, came_second: false, overlaps: Vec::new() };
        let on_channel = &mut self.on_air[channel as usize];
        if on_channel.is_empty() {
            on_channel.push(new);
        } else {
            if self.channel.is_uniform() { self.begin_in_crowd(new) } else { self.begin_among_others(new) }
        }
        (id, end)
    }

    /// Switches the transmitters of a PPDU on. For a PPDU that nothing can overlap this is enough, with
    /// [`switch_off`](Self::switch_off) at its end.
    ///
    /// # Panics
    /// If one of its radios is sending already.
    #[inline(always)]
    pub(crate) fn switch_on(&mut self, ppdu: &Ppdu) {
        self.switch(ppdu, true);
        self.on_channel[self.radios[ppdu.from().index()].channel as usize] += 1;
    }

    /// Switches the transmitters of a PPDU off.
    #[inline(always)]
    pub(crate) fn switch_off(&mut self, ppdu: &Ppdu) {
        self.switch(ppdu, false);
        self.on_channel[self.radios[ppdu.from().index()].channel as usize] -= 1;
    }

    /// Switches the transmitters of a PPDU on, or off.
    #[inline(always)]
    fn switch(&mut self, ppdu: &Ppdu, on: bool) {
        self.switch_one(ppdu.first.from, on);
        if ppdu.more.is_some() {
            self.switch_others(ppdu, on);
        }
    }

    #[inline(always)]
    fn switch_one(&mut self, from: NodeId, on: bool) {
        let was_on = std::mem::replace(&mut self.radios[from.index()].transmitting, on);
        assert!(!on || !was_on, "node {} began to send while it was sending", from.0);
        assert!(on || was_on, "node {} ended what it was not sending", from.0);
    }

    #[inline(never)]
    fn switch_others(&mut self, ppdu: &Ppdu, on: bool) {
        let others: Vec<NodeId> = senders_of(&self.parts, ppdu).skip(1).collect();
        others.into_iter().for_each(|from| self.switch_one(from, on));
    }

    /// Does the same as [`begin`](Self::begin) for a PPDU that joins a crowd shared by all of its channel: the others
    /// do not change.
    fn begin_in_crowd(&mut self, mut new: Transmission) {
        let channel = self.radios[new.ppdu.from().index()].channel as usize;
        let at = new.start;
        let Some(crowd) = self.crowds[channel].as_mut().filter(|c| c.first_end > at && c.latest_start <= at) else {
            self.begin_among_others(new);
            let own = &self.on_air[channel];
            let starts = || own.iter().map(|o| o.start);
            self.crowds[channel] = own.iter().all(|o| o.is_disturbed).then(|| Crowd {
                earliest_start: starts().min().unwrap_or(at),
                latest_start: starts().max().unwrap_or(at),
                first_end: own.iter().map(|o| o.end).min().unwrap_or(at),
            });
            return;
        };
        (crowd.latest_start, crowd.first_end) = (at, crowd.first_end.min(new.end));
        (new.is_disturbed, new.came_second) = (true, crowd.earliest_start < at);
        self.on_air[channel].push(new);
    }

    fn begin_among_others(&mut self, mut new: Transmission) {
        let (at, from, end) = (new.start, new.ppdu.from(), new.end);
        let uniform = self.channel.is_uniform();
        let on_channel = &mut self.on_air[self.radios[from.index()].channel as usize];
        for other in on_channel.iter_mut().filter(|o| o.end > at) {
            (new.is_disturbed, other.is_disturbed) = (true, true);
            new.came_second |= other.start < at;
            other.came_second |= at < other.start;
            if uniform {
                continue;
            }
            if new.overlaps.capacity() == 0 {
                new.overlaps = self.spare.pop().unwrap_or_default();
            }
            let (start, stop) = (other.start, other.end);
            new.overlaps.extend(senders_of(&self.parts, &other.ppdu).map(|node| Overlap { node, start, end: stop }));
            if other.overlaps.capacity() == 0 {
                other.overlaps = self.spare.pop().unwrap_or_default();
            }
            other.overlaps.extend(senders_of(&self.parts, &new.ppdu).map(|node| Overlap { node, start: at, end }));
        }
        on_channel.push(new);
    }

    /// Takes a PPDU off the air.
    #[inline(always)]
    pub(crate) fn end(&mut self, id: TxId) -> Transmission {
        let channel = id.0 & ((1 << self.channel_bits) - 1);
        let on_channel = &mut self.on_air[channel as usize];
        let index = on_channel.iter().position(|t| t.id == id).expect("a PPDU that ends is on the air");
        let ended = on_channel.swap_remove(index);
        self.switch_off(&ended.ppdu);
        ended
    }

    /// Frees a PPDU that has ended, once nothing more is looked up about it.
    #[inline(always)]
    pub(crate) fn forget(&mut self, mut ended: Transmission) {
        if ended.overlaps.capacity() > 0 {
            ended.overlaps.clear();
            self.spare.push(ended.overlaps);
        }
        if let Some(MoreParts(place)) = ended.ppdu.more {
            self.parts[place.get() as usize].clear();
        }
    }

    /// Returns whether a frame may survive others that overlap it.
    pub(crate) fn captures(&self) -> bool {
        self.capture.is_some()
    }

    /// The number of PPDUs on the air that `node` notices as it leaves the view of its group: it senses again all that has
    /// begun since the last silence.
    pub(crate) fn sense_again(&mut self, group: usize, node: NodeId) -> u32 {
        let Channel::Matrix(matrix) = &self.channel else { return 0 };
        let (view, mut noticed) = (node.index(), 0);
        for one in &self.hearing.groups[group].on_air {
            let power_mw = matrix.power_mw(one.begun.start, one.begun.from, node);
            let found = self.sense.begins(view, power_mw, &one.begun);
            assert!(found.ask_at.is_none(), "PPDUs that a group senses alike need no recognition");
            noticed = noticed + u32::from(found.begins) - found.forgotten;
        }
        for one in self.hearing.groups[group].on_air.iter().filter(|one| one.has_ended) {
            if let Some(heard) = self.sense.heard(view, one.begun.from) {
                noticed -= self.sense.ends(view, heard);
            }
        }
        noticed
    }

    /// Views that may notice PPDUs of `from`, if each node has a view of its own.
    #[inline(always)]
    pub(crate) fn hearers(&self, from: NodeId) -> Arc<[Hearer]> {
        Arc::clone(&self.hearers[from.index()])
    }

    /// The same for a PPDU that began `at` a time and has several senders, whose powers add up.
    #[inline(never)]
    pub(crate) fn hearers_of_several(&self, at: Time, ppdu: &Ppdu) -> Arc<[Hearer]> {
        let Channel::Matrix(matrix) = &self.channel else { return self.hearers(ppdu.from()) };
        let mut powers: BTreeMap<u32, f64> = BTreeMap::new();
        for from in senders_of(&self.parts, ppdu) {
            for hearer in &*self.hearers[from.index()] {
                let power_mw =
                    if matrix.is_varying() { matrix.power_mw(at, from, NodeId(hearer.view)) } else { hearer.power_mw };
                *powers.entry(hearer.view).or_default() += power_mw;
            }
        }
        powers.into_iter().map(|(view, power_mw)| Hearer { view, power_mw }).collect()
    }

    /// Effect of a PPDU that begins on one of these views. `several`: several senders share the power.
    #[inline(always)]
    pub(crate) fn notice(&mut self, by: &Hearer, begun: &Begun, several: bool) -> Noticed {
        let power_mw = match &self.channel {
            Channel::Matrix(matrix) if matrix.is_varying() && !several => {
                matrix.power_mw(begun.start, begun.from, NodeId(by.view))
            }
            _ => by.power_mw,
        };
        self.sense.begins(by.view as usize, power_mw, begun)
    }

    /// The start of a PPDU as receivers see it.
    pub(crate) fn begun(&self, at: Time, ppdu: &Ppdu) -> Begun {
        let phy = self.phy_of(ppdu.from());
        let (from, mode) = (ppdu.from(), ppdu.first.mode);
        let signal = if phy.mode(mode).class == ModulationClass::Dsss { Signal::Dsss } else { Signal::Ofdm };
        Begun { from, start: at, header_ends: at + phy.rx_start_delay(mode), end: at + ppdu.airtime, signal }
    }

    /// Returns whether `view` notices the PPDU that `from` is sending, if each node has a view of its own.
    pub(crate) fn notices(&self, view: usize, from: NodeId) -> bool {
        self.sense.notices(view, from)
    }

    /// The reception at `view` of the PPDU of `from` that ends now, if `view` has heard it.
    #[inline(always)]
    pub(crate) fn heard(&self, view: usize, from: NodeId) -> Option<Heard> {
        self.sense.heard(view, from)
    }

    /// Reports PPDUs that `view` now recognises without their preambles; see [`CarrierSense::recognises`].
    pub(crate) fn recognise(&mut self, view: usize, now: Time, tell: impl FnMut(NodeId, bool)) -> Option<Time> {
        self.sense.recognises(view, now, tell)
    }

    /// Ends a PPDU that `view` has heard; returns the number of noticed PPDUs that it notices no longer.
    #[inline(always)]
    pub(crate) fn lose(&mut self, view: usize, heard: Heard) -> u32 {
        self.sense.ends(view, heard)
    }

    /// Returns whether a PPDU that began a slot ago or earlier goes on at `node`, which has missed its preamble.
    pub(crate) fn misses(&self, node: NodeId, now: Time, slot: Duration) -> bool {
        self.sense.misses(node, now, slot)
    }
}
