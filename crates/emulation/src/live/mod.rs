//! A scenario over the kernels of its hosts: they are set up, their traffic is started, and the network is driven to its end.
//!
//! `hosts` sets up hosts, their devices, and their programs. `host_io` shows them to the driver. `options` has the caller's
//! options. `stack` has the Wi-Fi stack of a kernel, `daemons` its hostapd and wpa_supplicant, `roams` the access points of
//! its stations. `verdict` decides whether the run can be trusted.

mod daemons;
mod host_io;
mod hosts;
mod options;
mod programs;
mod roams;
mod settled;
mod stack;
mod verdict;
mod views;

use lasthop_observe::Watcher;
use lasthop_scenario::emulation::{Carried, Carrier, Emulation, EmulationPlan};

use crate::driver::drive;
use crate::error::Error;
use host_io::LiveIo;
use hosts::Hosts;
pub use options::{Machine, Options};
pub use settled::settle;

/// Carries the flows of a plan on the kernels of this process's network namespaces.
pub struct Live<'a> {
    plan: &'a EmulationPlan,
    options: Options,
}

impl<'a> Live<'a> {
    /// An emulation of the flows of `plan`.
    pub fn new(plan: &'a EmulationPlan, options: Options) -> Live<'a> {
        Live { plan, options }
    }
}

impl Carrier for Live<'_> {
    fn carry<O: Watcher>(&mut self, emulation: &mut Emulation<O>) -> Result<Carried, String> {
        let sentence = |error: Error| error.to_string();
        let Live { plan, options } = self;
        let mut hosts = Hosts::set_up(plan, options).map_err(sentence)?;
        let signal = |from, to| emulation.signal_at_start(from, to);
        hosts.join(plan, &signal).map_err(sentence)?;
        let zero_ns = hosts.begin().map_err(sentence)?;
        if let Some(stack) = &mut hosts.stack {
            stack.carry_early(zero_ns, &signal).map_err(sentence)?;
            stack.end_of_early(&signal).map_err(sentence)?;
        }
        let mut host_io = LiveIo::new(&mut hosts, zero_ns, options.spin, options.machine);
        let driven = drive(emulation, &mut host_io, options.interval, &mut *options.progress).map_err(sentence)?;
        let certificate = verdict::of(&driven, &mut hosts, plan, options.machine).map_err(sentence)?;
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        let stack = hosts.stack.as_ref().map(|stack| stack.report(&driven));
        Ok(Carried { time: options.machine.time(), kernel, digest: driven.digest, certificate, stack })
    }
}
