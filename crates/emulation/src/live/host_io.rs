//! The driver's view of a run's hosts and of the clock.

use std::os::fd::AsFd;

use lasthop_observe::{FlowId, NodeId};
use lasthop_scenario::emulation::KernelView;
use lasthop_units::{Duration, Time};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::hosts::Hosts;
use super::options::Machine;
use crate::clock::{monotonic_ns, timespec};
use crate::driver::HostIo;
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
            if let Some(length) = host.tun.read(&mut self.buffer)? {
                return Ok(Some((host.node, self.buffer[..length].to_vec())));
            }
            self.ready.pop();
        }
        Ok(None)
    }

    fn give(&mut self, node: NodeId, packet: &[u8]) -> Result<bool> {
        let place = self.host_of.get(node.index()).copied().flatten();
        let place =
            place.ok_or_else(|| Error::new(format!("node {} has no host that a packet could go to", node.0)))?;
        self.hosts.list[place].tun.write(packet)
    }

    fn wait(&mut self, until: Time) -> Result<()> {
        let until_ns = self.zero_ns + until.as_nanos();
        let sleep = until_ns.saturating_sub(self.now_ns).saturating_sub(self.spin.as_nanos());
        let hosts = &self.hosts.list;
        let mut watched: Vec<PollFd<'_>> =
            hosts.iter().map(|host| PollFd::from_borrowed_fd(host.tun.as_fd(), PollFlags::IN)).collect();
        match poll(&mut watched, Some(&timespec(sleep))) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error).context(|| "hosts cannot be waited for".to_owned()),
        }
        let has_packets = |watched: &PollFd<'_>| watched.revents().contains(PollFlags::IN);
        self.ready.extend((0..watched.len()).rev().filter(|&place| has_packets(&watched[place])));
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
