//! Facts that a configuration hands to its controller.

use lasthop_registry::Switch;

use super::Config;
use crate::congestion_control::{Algorithm, Context, Draws, Needs};

impl Context {
    /// A controller's context on a connection with this configuration and initial sequence number.
    pub fn new(config: &Config, iss: u32) -> Context {
        Context {
            initial_window: f64::from(config.initial_window),
            initial_ssthresh: match config.initial_ssthresh {
                Switch::Off => f64::INFINITY,
                Switch::On(segments) => f64::from(segments),
            },
            mss_bytes: config.payload_bytes(),
            growth: config.growth,
            tick: config.controller_tick,
            abe: config.abe,
            draws: Draws::seeded(u64::from(iss)),
        }
    }
}

impl Algorithm {
    /// The demands of this controller, with its parameters, on its endpoint.
    pub fn needs(&self) -> Needs {
        self.build(&Context::new(&Config::default(), 0)).needs()
    }
}
