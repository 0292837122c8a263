//! The driver's view of a run's hosts and of the clock.

use std::os::fd::AsFd;

use lasthop_observe::{FlowId, NodeId};
use lasthop_scenario::emulation::{AirEvent, KernelView};
use lasthop_units::{Duration, Time};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::hosts::{Device, Hosts};
use super::options::Machine;
use crate::clock::{monotonic_ns, timespec};
use crate::driver::{FromStack, HostIo};
use crate::error::{Context as _, Error, Result};

/// The longest packet.
const LONGEST: usize = 65_535;

/// Hosts and the monotonic clock.
pub(super) struct LiveIo<'a> {
    hosts: &'a mut Hosts,
    zero_ns: u64,
    spin: Duration,
    /// the last reading of the clock
    now_ns: u64,
    /// true if no time passes unless the clock is read, so that the last reading is valid
    clock_is_frozen: bool,
    /// the host of each node, by node number
    host_of: Vec<Option<usize>>,
    /// hosts whose devices had packets after the last wait
    ready: Vec<usize>,
    buffer: Vec<u8>,
    is_over: bool,
}

impl<'a> LiveIo<'a> {
    /// Time zero is `zero_ns` of the monotonic clock; the last `spin` before a deadline is not slept.
    pub(super) fn new(hosts: &'a mut Hosts, zero_ns: u64, spin: Duration, machine: Machine) -> LiveIo<'a> {
        let clock_is_frozen = machine == Machine::Guest;
        let nodes = hosts.list.iter().map(|host| host.node.index() + 1).max().unwrap_or(0);
        let mut host_of = vec![None; nodes];
        hosts.list.iter().enumerate().for_each(|(place, host)| host_of[host.node.index()] = Some(place));
        LiveIo {
            hosts,
            zero_ns,
            spin,
            now_ns: 0,
            clock_is_frozen,
            host_of,
            ready: Vec::new(),
            buffer: vec![0; LONGEST],
            is_over: false,
        }
    }
}

impl LiveIo<'_> {
    fn since_zero(&self) -> Time {
        // Before time zero the time is zero: no event is due then.
        Time::from_nanos(self.now_ns.saturating_sub(self.zero_ns))
    }
}

impl HostIo for LiveIo<'_> {
    type Error = Error;

    fn now(&mut self) -> Time {
        self.now_ns = monotonic_ns();
        self.since_zero()
    }

    fn stamp(&mut self) -> Time {
        // In a guest the clock moves by a step at each reading, and otherwise only while all processes wait.
        if self.clock_is_frozen { self.since_zero() } else { self.now() }
    }

    fn take(&mut self) -> Result<Option<(NodeId, Vec<u8>)>> {
        while let Some(&place) = self.ready.last() {
            let host = &self.hosts.list[place];
            if let Device::Tun(tun) = &host.device
                && let Some(length) = tun.read(&mut self.buffer)?
            {
                return Ok(Some((host.node, self.buffer[..length].to_vec())));
            }
            self.ready.pop();
        }
        Ok(None)
    }

    fn take_from_stack(&mut self) -> Result<Option<FromStack>> {
        let Some(stack) = &mut self.hosts.stack else { return Ok(None) };
        // A packet is seen before the frame that carries it.
        for host in &self.hosts.list {
            if let Device::Tap(tap) = &host.device
                && let Some((length, sent)) = tap.next(&mut self.buffer)?
            {
                return Ok(Some(FromStack::Seen { sent, bytes: self.buffer[..length].to_vec() }));
            }
        }
        for ap in &self.hosts.access_points {
            if let Some(length) = ap.wire.read(&mut self.buffer)? {
                return Ok(Some(FromStack::AtAccessPoint { bytes: self.buffer[..length].to_vec() }));
            }
        }
        stack.learn()?;
        Ok(stack.next()?.map(FromStack::Frame))
    }

    fn give_to_access_point(&mut self, ap: NodeId, packet: &[u8]) -> Result<bool> {
        // Behind the wire a switch has learned the way to the station.
        let ap = self.hosts.stack.as_ref().map_or(ap, |stack| stack.way_to(packet, ap));
        self.hosts.access_points[ap.index()].wire.write(packet)
    }

    fn on_air(&mut self, at: Time, event: &AirEvent) -> Result<()> {
        self.hosts.stack.as_mut().map_or(Ok(()), |stack| stack.on_air(at, event))
    }

    fn give(&mut self, node: NodeId, packet: &[u8]) -> Result<bool> {
        let place = self.host_of.get(node.index()).copied().flatten();
        let place =
            place.ok_or_else(|| Error::new(format!("node {} has no host that a packet could go to", node.0)))?;
        match &self.hosts.list[place].device {
            Device::Tun(tun) => tun.write(packet),
            Device::Tap(_) => Err(Error::new(format!("node {} takes packets over its radio alone", node.0))),
        }
    }

    fn wait(&mut self, until: Time) -> Result<()> {
        let until_ns = self.zero_ns + until.as_nanos();
        let sleep = until_ns.saturating_sub(self.now_ns).saturating_sub(self.spin.as_nanos());
        let hosts = &self.hosts.list;
        let of_hosts = hosts.iter().map(|host| host.device.as_fd());
        let of_stack = self.hosts.access_points.iter().map(|ap| ap.wire.as_fd());
        let all = of_hosts.chain(of_stack).chain(self.hosts.stack.iter().flat_map(|stack| stack.watched()));
        let mut watched: Vec<PollFd<'_>> = all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        match poll(&mut watched, Some(&timespec(sleep))) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error).context(|| "hosts cannot be waited for".to_owned()),
        }
        let has_packets = |watched: &PollFd<'_>| watched.revents().contains(PollFlags::IN);
        self.ready.extend((0..hosts.len()).rev().filter(|&place| has_packets(&watched[place])));
        if self.ready.is_empty() && self.spin > Duration::ZERO {
            while monotonic_ns() < until_ns {
                std::hint::spin_loop();
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn look(&mut self, into: &mut Vec<(FlowId, KernelView)>) -> Result<()> {
        for views in self.hosts.list.iter_mut().filter_map(|host| host.views.as_mut()) {
            views.look(into)?;
        }
        if self.hosts.is_over()? {
            self.is_over = true;
        }
        self.hosts.traffic.failure().map_or(Ok(()), |sentence| Err(Error::new(sentence)))
    }
}
