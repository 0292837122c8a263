//! The loop between a network and real hosts: due events, packets from hosts, and the wait for either.
//!
//! It has no system calls; clock and hosts are a [`HostIo`]. Events are handled at their own time and not at that of
//! waking, so one late waking delays nothing else: only the hand-over of packets to hosts is late, and that is
//! measured.

use std::collections::BTreeMap;

use lasthop_observe::{FlowId, NodeId, Watcher};
use lasthop_scenario::emulation::{AirEvent, Arrives, Emulation, KernelView, StackFrame, StackRate, Stray};
use lasthop_units::{Duration, Time};

use crate::lateness::Lateness;

/// A clock, and the hosts that follow it.
pub trait HostIo {
    /// The reason why it cannot go on.
    type Error;

    /// The time since the run began.
    fn now(&mut self) -> Time;

    /// The time since the run began; the last reading if no time can have passed since.
    fn stamp(&mut self) -> Time {
        self.now()
    }

    /// Returns whether the run ends early.
    fn is_over(&self) -> bool {
        false
    }

    /// The next packet that a host has sent, with the node it was sent at: a station, or an AP for the server behind it.
    ///
    /// # Errors
    /// The host is gone.
    fn take(&mut self) -> Result<Option<(NodeId, Vec<u8>)>, Self::Error>;

    /// Hands a packet to the host at a node; false if it has no room.
    ///
    /// # Errors
    /// The host is gone.
    fn give(&mut self, node: NodeId, packet: &[u8]) -> Result<bool, Self::Error>;

    /// The next packet or frame of a Wi-Fi stack of the hosts' own.
    ///
    /// # Errors
    /// The host is gone.
    fn take_from_stack(&mut self) -> Result<Option<FromStack>, Self::Error> {
        Ok(None)
    }

    /// Hands a packet to the Wi-Fi stack of an access point, at its wire; false if it has no room.
    ///
    /// # Errors
    /// The host is gone.
    fn give_to_access_point(&mut self, ap: NodeId, packet: &[u8]) -> Result<bool, Self::Error> {
        self.give(ap, packet)
    }

    /// Reports an event on the air to the Wi-Fi stacks of the hosts.
    ///
    /// # Errors
    /// The hosts are gone.
    fn on_air(&mut self, at: Time, event: &AirEvent) -> Result<(), Self::Error> {
        let _ = (at, event);
        Ok(())
    }

    /// Returns once a host has sent a packet or `until` has come, perhaps earlier.
    ///
    /// # Errors
    /// Waiting for hosts is impossible.
    fn wait(&mut self, until: Time) -> Result<(), Self::Error>;

    /// Adds the present state of real flows according to the kernels.
    ///
    /// # Errors
    /// The kernels cannot be queried, or something that the run needs has ended.
    fn look(&mut self, into: &mut Vec<(FlowId, KernelView)>) -> Result<(), Self::Error>;
}

/// A packet or frame of a Wi-Fi stack of a host's own.
pub enum FromStack {
    /// an IP packet that a station has sent or received, in passing
    Seen {
        /// whether the station has sent it
        sent: bool,
        /// the packet
        bytes: Vec<u8>,
    },
    /// an IP packet that an access point passes on to its wire
    AtAccessPoint {
        /// the packet
        bytes: Vec<u8>,
    },
    /// a frame of a radio
    Frame(FrameSent),
}

/// A frame that the radio of a host has sent.
#[derive(Clone, Debug)]
pub struct FrameSent {
    /// its number, unlike any before it
    pub number: u32,
    /// its sender
    pub from: NodeId,
    /// its receiver, if that is a node of the run
    pub to: Option<NodeId>,
    /// whether it is for all that hear it
    pub is_for_all: bool,
    /// time until it may be sent, if it is for all
    pub delay: Duration,
    /// its user priority
    pub tid: u8,
    /// its bytes, without the FCS
    pub bytes: Vec<u8>,
    /// the centre of its channel in MHz, if that is known
    pub mhz: Option<u32>,
    /// the rates of its attempts, in order
    pub rates: Vec<StackRate>,
}

/// Results of the loop.
#[derive(Clone, Debug, Default)]
pub struct Driven {
    /// packets that hosts have sent
    pub taken: u64,
    /// packets that were handed to hosts
    pub given: u64,
    /// packets that hosts had no room for
    pub refused: u64,
    /// packets that did not enter the network, by reason
    pub strays: BTreeMap<Stray, u64>,
    /// delay of the hand-over of packets to hosts
    pub lateness: Lateness,
    /// digest over times, nodes and bytes of all deliveries
    pub digest: u64,
    /// frames of radios
    pub frames: u64,
    /// frames among them for a node to which their sender has no link
    pub unlinked: u64,
}

/// Time between two progress reports.
const TOLD_EVERY: Duration = Duration::from_millis(10);
/// Packets that are taken before due events are handled again.
const AT_A_TIME: usize = 64;

/// Drives `emulation` to its end over `host_io`, and queries kernels every `interval`. `progress` receives the time
/// reached.
///
/// # Errors
/// Those of `host_io`, and a failure of a watcher.
pub fn drive<O: Watcher, G: HostIo>(
    emulation: &mut Emulation<O>,
    host_io: &mut G,
    interval: Duration,
    progress: &mut dyn FnMut(Time),
) -> Result<Driven, G::Error> {
    let mut driver = Driver { driven: Driven::default(), views: Vec::new() };
    let end = emulation.end();
    let mut look_at = Time::ZERO + interval;
    let mut tell_at = Time::ZERO;
    loop {
        let now = host_io.now();
        if now >= end {
            break;
        }
        if now >= tell_at {
            progress(now);
            tell_at = now + TOLD_EVERY;
        }
        while look_at <= now {
            driver.deliver_until(look_at, emulation, host_io)?;
            driver.look(emulation, host_io)?;
            look_at += interval;
        }
        driver.deliver_until(now, emulation, host_io)?;
        if emulation.observer().failure().is_some() {
            break;
        }
        if host_io.is_over() {
            emulation.end_here();
            break;
        }
        if driver.take_from_stack(emulation, host_io)? | driver.take(emulation, host_io)? {
            continue;
        }
        let due = emulation.next_at().unwrap_or(end).min(end).min(look_at);
        host_io.wait(due)?;
    }
    driver.deliver_until(emulation.end(), emulation, host_io)?;
    Ok(driver.driven)
}

struct Driver {
    driven: Driven,
    views: Vec<(FlowId, KernelView)>,
}

impl Driver {
    /// Handles events due before or at `until`, one by one, and hands over packets that arrive.
    fn deliver_until<O: Watcher, G: HostIo>(
        &mut self,
        until: Time,
        emulation: &mut Emulation<O>,
        host_io: &mut G,
    ) -> Result<(), G::Error> {
        while let Some(at) = emulation.next_at().filter(|at| *at <= until) {
            if emulation.run_until(at + Duration::from_nanos(1)) {
                // The end of the run; events due at that time are not part of it.
                break;
            }
            self.hand_over(emulation, host_io)?;
        }
        emulation.run_until(until);
        self.hand_over(emulation, host_io)
    }

    fn hand_over<O: Watcher, G: HostIo>(
        &mut self,
        emulation: &mut Emulation<O>,
        host_io: &mut G,
    ) -> Result<(), G::Error> {
        for delivery in emulation.deliveries() {
            self.driven.digest = digest(self.driven.digest, delivery.at, delivery.node, &delivery.bytes);
            let is_taken = match delivery.door {
                Arrives::AtHost => host_io.give(delivery.node, &delivery.bytes)?,
                Arrives::AtAccessPoint => host_io.give_to_access_point(delivery.node, &delivery.bytes)?,
            };
            if is_taken {
                self.driven.given += 1;
            } else {
                self.driven.refused += 1;
            }
            self.driven.lateness.add(host_io.stamp().since(delivery.at));
        }
        for (at, event) in emulation.air_events() {
            if let AirEvent::Arrived { number, node, .. } = event {
                self.driven.digest = digest(self.driven.digest, at, node, &number.to_le_bytes());
            }
            host_io.on_air(at, &event)?;
        }
        Ok(())
    }

    /// Takes the packets and frames of Wi-Fi stacks of the hosts' own; true if there were some.
    fn take_from_stack<O: Watcher, G: HostIo>(
        &mut self,
        emulation: &mut Emulation<O>,
        host_io: &mut G,
    ) -> Result<bool, G::Error> {
        let mut any = false;
        while let Some(from_stack) = host_io.take_from_stack()? {
            any = true;
            let now = host_io.stamp();
            let counted = match from_stack {
                FromStack::Seen { sent, bytes } => emulation.see_at_station(sent, bytes),
                FromStack::AtAccessPoint { bytes } => emulation.take_at_access_point(now, bytes),
                FromStack::Frame(sent) => {
                    self.send(now, &sent, emulation, host_io)?;
                    Ok(())
                }
            };
            if let Err(stray) = counted {
                *self.driven.strays.entry(stray).or_default() += 1;
            }
        }
        Ok(any)
    }

    fn send<O: Watcher, G: HostIo>(
        &mut self,
        now: Time,
        sent: &FrameSent,
        emulation: &mut Emulation<O>,
        host_io: &mut G,
    ) -> Result<(), G::Error> {
        self.driven.frames += 1;
        let FrameSent { number, from, to, tid, ref bytes, mhz, ref rates, is_for_all, delay } = *sent;
        let frame = StackFrame { number, from, to: to.unwrap_or(from), tid, bytes, mhz, rates };
        if is_for_all {
            emulation.send_group_frame(now + delay, &frame);
        } else if to.is_none() || !emulation.send_frame(now, &frame) {
            self.driven.unlinked += 1;
            host_io.on_air(now, &AirEvent::Done { number, acknowledged: false, tries: [1, 0, 0, 0], ampdu: None })?;
        }
        Ok(())
    }

    /// Takes packets that hosts have sent; true if there may be more.
    fn take<O: Watcher, G: HostIo>(&mut self, emulation: &mut Emulation<O>, host_io: &mut G) -> Result<bool, G::Error> {
        for _ in 0..AT_A_TIME {
            let Some((node, packet)) = host_io.take()? else { return Ok(false) };
            self.driven.taken += 1;
            let now = host_io.stamp();
            if let Err(stray) = emulation.take(now, node, packet) {
                *self.driven.strays.entry(stray).or_default() += 1;
            }
        }
        Ok(true)
    }

    fn look<O: Watcher, G: HostIo>(&mut self, emulation: &mut Emulation<O>, host_io: &mut G) -> Result<(), G::Error> {
        host_io.look(&mut self.views)?;
        self.views.drain(..).for_each(|(flow, view)| emulation.note(flow, &view));
        Ok(())
    }
}

/// Adds a delivery to a digest: FNV-1a over words of eight bytes. [Fowler, Noll, Vo]
fn digest(before: u64, at: Time, node: NodeId, bytes: &[u8]) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    // The product alone carries no bits from higher to lower positions.
    let mix = |digest: u64, word: u64| ((digest ^ word).wrapping_mul(PRIME)).rotate_left(29);
    let (words, tail) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..tail.len()].copy_from_slice(tail);
    let head = [at.as_nanos(), u64::from(node.0), bytes.len() as u64];
    let of_packet = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    head.into_iter().chain(of_packet).fold(if before == 0 { BASIS } else { before }, mix)
}
