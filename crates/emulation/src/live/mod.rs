//! A scenario over the kernels of its hosts: they are set up, their traffic is started, and the network is driven to its end.
//!
//! `field` sets up hosts, their devices, and their programs. `ground` shows it to the driver. `ways` holds the caller's
//! options. `verdict` says whether the run can be trusted.

mod field;
mod ground;
mod programs;
mod settled;
mod verdict;
mod views;
mod ways;

use lasthop_observe::Watcher;
use lasthop_scenario::emulation::{Carried, Carrier, Emulation, EmulationPlan};

use crate::driver::drive;
use crate::error::Error;
use field::Field;
use ground::LiveGround;
pub use settled::settle;
pub use ways::{Place, Ways};

/// Carries the flows of a plan on the kernels of this process's network namespaces.
pub struct Live<'a> {
    plan: &'a EmulationPlan,
    ways: Ways,
}

impl<'a> Live<'a> {
    /// An emulation of the flows of `plan`.
    pub fn new(plan: &'a EmulationPlan, ways: Ways) -> Live<'a> {
        Live { plan, ways }
    }
}

impl Carrier for Live<'_> {
    fn carry<O: Watcher>(&mut self, emulation: &mut Emulation<O>) -> Result<Carried, String> {
        let sentence = |error: Error| error.to_string();
        let Live { plan, ways } = self;
        let mut field = Field::set_up(plan, ways).map_err(sentence)?;
        let zero_ns = field.begin().map_err(sentence)?;
        let mut ground = LiveGround::new(&mut field, zero_ns, ways.spin, ways.place);
        let driven = drive(emulation, &mut ground, ways.interval, &mut *ways.progress).map_err(sentence)?;
        let certificate = verdict::of(&driven, &mut field, plan, ways.place).map_err(sentence)?;
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        Ok(Carried { time: ways.place.time(), kernel, digest: driven.digest, certificate })
    }
}
