//! The Wi-Fi stack of a kernel: its radios, its daemons, and the frames on the modelled air.
//!
//! Before time zero the frames of radios go over an air of their own, on which one follows the other without contention and
//! no frame is lost: stations join their access points there.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::Path;

use lasthop_observe::NodeId;
use lasthop_scenario::emulation::{AirEvent, Association, LiveNode, Roam, Site, StackPlan, StackReport};
use lasthop_units::{Duration, Time};
use netlink_packet_route::link::State;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd};

use super::daemons::{self, DEVICE, Daemon};
use super::roams::{Roamed, Roams};
use crate::clock::{monotonic_ns, timespec};
use crate::device::{Announcements, RadioFrame, Radios, address_of};
use crate::driver::{Driven, FrameSent};
use crate::error::{Context, Error, Result};
use crate::host::{Namespace, Netlink};

/// Time that stations may take to join.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two looks whether they have.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Before the run a frame takes this long, and each of its bytes as long as at 6 Mbit/s, with the space and the
/// acknowledgement after it.
const EACH_FRAME: Duration = Duration::from_micros(114);
const EACH_BYTE: Duration = Duration::from_nanos(1333);
/// The signal in dBm of a node at another at time zero; none if it hears nothing.
pub(super) type SignalAtStart<'a> = &'a dyn Fn(NodeId, NodeId) -> Option<i8>;
/// Frames that are kept at most for their receivers after their senders are done with them.
const KEPT: u32 = 8192;

/// A frame under way.
struct Held {
    frame: RadioFrame,
    is_done: bool,
    has_arrived: bool,
}

/// A station that joins.
struct Joining {
    node: NodeId,
    name: String,
    ap: String,
    netlink: Netlink,
    took: Option<Duration>,
    /// the access point that it joined first
    joined: Option<NodeId>,
}

/// An access point whose stations may roam.
struct RoamedAt {
    ap: NodeId,
    announcements: Announcements,
    netlink: Netlink,
}

/// The Wi-Fi stack of a kernel.
pub(super) struct Stack {
    radios: Radios,
    daemons: Vec<Daemon>,
    stations: Vec<Joining>,
    nodes: BTreeMap<[u8; 6], NodeId>,
    names: Vec<String>,
    roams: Roams,
    /// access points whose stations may roam
    roamed: Vec<RoamedAt>,
    /// by station: the access point through which the switch behind the wire reaches it
    switch: BTreeMap<NodeId, NodeId>,
    held: BTreeMap<u32, Held>,
    last: u32,
    began_ns: u64,
    /// before the run: frames with the times of their ends
    early: VecDeque<(u64, RadioFrame)>,
    free_ns: u64,
}

impl Stack {
    /// Makes the radios of all nodes and starts their daemons.
    pub(super) fn set_up(
        plan: &StackPlan,
        nodes: &[LiveNode],
        namespaces: &[&Namespace],
        files: &Path,
        environment: &[(OsString, OsString)],
    ) -> Result<Stack> {
        let cell = |node: &LiveNode| node.ap.unwrap_or(node.node).index();
        let streams = nodes.iter().map(|node| plan.cells[cell(node)].streams).collect();
        let radios = Radios::make(namespaces, streams)?;
        let began_ns = monotonic_ns();
        let mut daemons = Vec::new();
        let mut stations = Vec::new();
        for (node, namespace) in nodes.iter().zip(namespaces) {
            let mut netlink = Netlink::open(namespace)?;
            let prefix = if node.ap.is_some() { ALL_PREFIX } else { STATIONS_PREFIX };
            netlink.add_address(DEVICE, Site::address(node.node), prefix)?;
            daemons.push(daemons::start(node, namespace, plan, files, environment)?);
            if let Some(ap) = node.ap {
                let (name, ap) = (node.name.clone(), nodes[ap.index()].name.clone());
                stations.push(Joining { node: node.node, name, ap, netlink, took: None, joined: None });
            }
        }
        let roaming = nodes.iter().zip(namespaces).filter(|(node, _)| node.ap.is_none() && plan.roams(node.node));
        let roamed = roaming.map(|(node, namespace)| {
            let (announcements, netlink) = (Announcements::open(namespace)?, Netlink::open(namespace)?);
            Ok(RoamedAt { ap: node.node, announcements, netlink })
        });
        Ok(Stack {
            roamed: roamed.collect::<Result<_>>()?,
            names: nodes.iter().map(|node| node.name.clone()).collect(),
            roams: Roams::new(plan.cells.len(), nodes.len()),
            switch: BTreeMap::new(),
            radios,
            daemons,
            stations,
            nodes: nodes.iter().map(|node| (address_of(node.node), node.node)).collect(),
            held: BTreeMap::new(),
            last: 0,
            began_ns,
            early: VecDeque::new(),
            free_ns: 0,
        })
    }

    /// Whether its radios leave frames in mac80211's queues.
    pub(super) fn holds_back(&self) -> bool {
        self.radios.holds_back
    }

    /// Waits until all stations have joined.
    ///
    /// # Errors
    /// A daemon has ended, or a station does not join.
    pub(super) fn join(&mut self, signal: SignalAtStart<'_>) -> Result<()> {
        loop {
            self.carry_early(monotonic_ns() + LOOK_EVERY.as_nanos(), signal)?;
            self.daemons.iter_mut().try_for_each(Daemon::check)?;
            let now_ns = monotonic_ns();
            let took = Duration::from_nanos(now_ns - self.began_ns);
            let roams = &self.roams;
            for station in self.stations.iter_mut().filter(|station| station.took.is_none()) {
                if station.netlink.operating_state(DEVICE)? == State::Up {
                    (station.took, station.joined) = (Some(took), roams.access_point_of(station.node));
                }
            }
            let Some(missing) = self.stations.iter().position(|station| station.took.is_none()) else { return Ok(()) };
            if took > PATIENCE {
                let (station, aps) = (&self.stations[missing], self.daemons.len() - self.stations.len());
                return Err(Error::new(format!(
                    "{} has not joined {} within {PATIENCE}; its wpa_supplicant: {}",
                    station.name,
                    station.ap,
                    self.daemons[aps + missing].last_words()
                )));
            }
        }
    }

    /// Carries frames over the air before the run until this time in nanoseconds of the clock.
    pub(super) fn carry_early(&mut self, until_ns: u64, signal: SignalAtStart<'_>) -> Result<()> {
        loop {
            let now_ns = monotonic_ns();
            while let Some(frame) = self.radios.next()? {
                let takes = EACH_FRAME + EACH_BYTE * frame.bytes.len() as u64;
                self.free_ns = self.free_ns.max(now_ns) + takes.as_nanos();
                self.early.push_back((self.free_ns, frame));
            }
            while self.early.front().is_some_and(|(ends_ns, _)| *ends_ns <= now_ns)
                && let Some((_, frame)) = self.early.pop_front()
            {
                self.end_early(&frame, signal)?;
            }
            self.learn()?;
            if now_ns >= until_ns {
                return Ok(());
            }
            let next_ns = self.early.front().map_or(until_ns, |(ends_ns, _)| (*ends_ns).min(until_ns));
            let mut watched = [PollFd::from_borrowed_fd(self.radios.as_fd(), PollFlags::IN)];
            match poll(&mut watched, Some(&timespec(next_ns.saturating_sub(now_ns)))) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error).context(|| "radios cannot be waited for".to_owned()),
            }
        }
    }

    /// Ends the air before the run: frames on it arrive now.
    pub(super) fn end_of_early(&mut self, signal: SignalAtStart<'_>) -> Result<()> {
        while let Some((_, frame)) = self.early.pop_front() {
            self.end_early(&frame, signal)?;
        }
        self.learn()
    }

    fn end_early(&mut self, frame: &RadioFrame, signal: SignalAtStart<'_>) -> Result<()> {
        let to = self.nodes.get(&frame.receiver()).copied();
        let others = self.nodes.values().copied().filter(|node| *node != frame.from);
        let to_all = frame.receiver()[0] & 1 != 0;
        for node in others.filter(|node| to_all || Some(*node) == to).collect::<Vec<_>>() {
            let Some(dbm) = signal(frame.from, node) else { continue };
            self.radios.deliver(frame, node, dbm)?;
        }
        let is_heard = to.is_some_and(|to| signal(frame.from, to).is_some());
        if let Some(to) = to.filter(|_| is_heard) {
            self.roams.acknowledged(Time::ZERO, frame.from, to, &frame.bytes);
        }
        self.radios.report(frame, is_heard, [1, 0, 0, 0], None)
    }

    /// Reads the announcements of access points to the switch behind their wires. Behind a bridge addresses would stay; here a
    /// station and its new router have each other's at once, without ARP.
    pub(super) fn learn(&mut self) -> Result<()> {
        for RoamedAt { ap, announcements, netlink } in &mut self.roamed {
            while let Some(address) = announcements.next()? {
                let Some(station) = self.nodes.get(&address) else { continue };
                let before = self.switch.insert(*station, *ap);
                if before.is_some_and(|before| before != *ap)
                    && let Some(of) = self.stations.iter_mut().find(|of| of.node == *station)
                {
                    of.netlink.set_neighbour(DEVICE, Site::SERVER, address_of(*ap))?;
                    netlink.set_neighbour(DEVICE, Site::address(*station), address)?;
                }
            }
        }
        Ok(())
    }

    /// The access point to which the switch behind the wire of `ap` passes a packet.
    pub(super) fn way_to(&self, packet: &[u8], ap: NodeId) -> NodeId {
        const DESTINATION: std::ops::Range<usize> = 16..20;
        let Some(destination) = packet.get(DESTINATION) else { return ap };
        let mut ways = self.switch.iter();
        ways.find(|(station, _)| Site::address(**station).octets() == destination).map_or(ap, |(_, to)| *to)
    }

    /// All that has to be watched for frames and announcements.
    pub(super) fn watched(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [self.radios.as_fd()].into_iter().chain(self.roamed.iter().map(|of| of.announcements.as_fd()))
    }

    /// The next frame that a radio has sent.
    pub(super) fn next(&mut self) -> Result<Option<FrameSent>> {
        let Some(frame) = self.radios.next()? else { return Ok(None) };
        self.last = self.last.wrapping_add(1);
        let sent = FrameSent {
            number: self.last,
            from: frame.from,
            to: self.nodes.get(&frame.receiver()).copied(),
            is_for_all: frame.is_for_all(),
            // The clocks of all radios agree, so that access points would send their beacons at one moment.
            delay: frame.beacon_interval().map_or(Duration::ZERO, |interval| {
                interval * u64::from(frame.from.0) / (self.daemons.len() - self.stations.len()) as u64
            }),
            tid: frame.tid(),
            bytes: frame.bytes.clone(),
            mhz: frame.mhz(),
            rates: frame.rates.clone(),
        };
        if let Some(to) = sent.to {
            self.roams.sent(sent.from, to, &frame.bytes);
        }
        self.held.insert(self.last, Held { frame, is_done: false, has_arrived: false });
        Ok(Some(sent))
    }

    /// Reports an event on the air to the kernel.
    pub(super) fn on_air(&mut self, at: Time, event: &AirEvent) -> Result<()> {
        match event {
            AirEvent::Arrived { number, node, signal } => {
                let Some(held) = self.held.get_mut(number) else { return Ok(()) };
                held.has_arrived = true;
                self.radios.deliver(&held.frame, *node, *signal)?;
                self.roams.arrived(at, held.frame.from, *node, &held.frame.bytes);
                self.drop_if_over(*number);
            }
            AirEvent::Done { number, acknowledged, tries, ampdu } => {
                let Some(held) = self.held.get_mut(number) else { return Ok(()) };
                held.is_done = true;
                self.radios.report(&held.frame, *acknowledged, *tries, *ampdu)?;
                if let Some(to) = self.nodes.get(&held.frame.receiver()).filter(|_| *acknowledged) {
                    self.roams.acknowledged(at, held.frame.from, *to, &held.frame.bytes);
                }
                self.drop_if_over(*number);
            }
            AirEvent::Heard { number, by } => {
                let Some(held) = self.held.remove(number) else { return Ok(()) };
                let receiver = self.nodes.get(&held.frame.receiver()).copied();
                let to_all = held.frame.receiver()[0] & 1 != 0;
                for (node, signal) in by.iter().filter(|(node, _)| to_all || Some(*node) == receiver) {
                    self.radios.deliver(&held.frame, *node, *signal)?;
                }
                self.radios.report(&held.frame, false, [1, 0, 0, 0], None)?;
            }
        }
        Ok(())
    }

    fn drop_if_over(&mut self, number: u32) {
        if self.held.get(&number).is_some_and(|held| held.is_done && held.has_arrived) {
            self.held.remove(&number);
        }
        // A frame that was given up may wait in its receiver's buffer, or not.
        while let Some(oldest) = self.held.first_entry()
            && oldest.get().is_done
            && *oldest.key() + KEPT < self.last
        {
            oldest.remove();
        }
    }

    /// The stations and their access points, and the counts of the run.
    pub(super) fn report(&self, driven: &Driven) -> StackReport {
        let of = |station: &Joining| Association {
            station: station.name.clone(),
            ap: station.joined.map_or_else(|| station.ap.clone(), |ap| self.names[ap.index()].clone()),
            took: station.took.unwrap_or_default(),
        };
        let associations = self.stations.iter().map(of).collect();
        let name = |node: NodeId| self.names[node.index()].clone();
        let roam = |one: &Roamed| Roam {
            station: name(one.station),
            from: name(one.from),
            to: name(one.to),
            at: one.at.since(Time::ZERO),
            fast_transition: one.fast_transition,
            gap: one.gap,
        };
        let roams = self.roams.list.iter().map(roam).collect();
        StackReport { associations, roams, frames: driven.frames, unlinked: driven.unlinked }
    }

    /// The first daemon that has ended, in a sentence.
    pub(super) fn fault(&mut self) -> Option<String> {
        self.daemons.iter_mut().find_map(|daemon| daemon.check().err()).map(|error| error.to_string())
    }
}

/// Bits of the network of all addresses of a scenario, and of an access point's stations.
pub(super) const ALL_PREFIX: u8 = 8;
const STATIONS_PREFIX: u8 = 16;
