//! The congestion controls of the stack itself, as its own code has them.
//!
//! The stack's BBR is left out: it draws from the machine's entropy, so that a seed would not repeat its results.

use std::sync::Arc;

use lasthop_registry::registry;
use lasthop_tcp::congestion_control::Algorithm;
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};

registry! {
    /// Congestion control of the stack's own.
    pub enum StackControl as "stack_control" {
        /// The CUBIC of quinn-proto, without HyStart.
        quinn_cubic => QuinnCubic: source "quinn-proto 0.11.19", status "unverified: the stack's own code";
        /// The NewReno of quinn-proto.
        quinn_newreno => QuinnNewreno: source "quinn-proto 0.11.19", status "unverified: the stack's own code";
    }
    planned:
}

impl StackControl {
    /// Makes the stack's controllers, which begin with so many bytes.
    pub(crate) fn factory(&self, initial_window: u64) -> Arc<dyn ControllerFactory + Send + Sync> {
        match self {
            StackControl::QuinnCubic(_) => {
                let mut config = CubicConfig::default();
                config.initial_window(initial_window);
                Arc::new(config)
            }
            StackControl::QuinnNewreno(_) => {
                let mut config = NewRenoConfig::default();
                config.initial_window(initial_window);
                Arc::new(config)
            }
        }
    }
}

/// A controller of lasthop's, or of the stack's own.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// lasthop's, or a user's
    Ours(Algorithm),
    /// the stack's
    Stack(StackControl),
}

impl Control {
    /// Its name in scenario files.
    pub fn name(&self) -> &str {
        match self {
            Control::Ours(algorithm) => algorithm.name(),
            Control::Stack(control) => control.name(),
        }
    }

    /// Its validation; see [`Algorithm::validation`].
    pub fn validation(&self) -> &'static str {
        match self {
            Control::Ours(algorithm) => algorithm.validation(),
            Control::Stack(_) => "unverified",
        }
    }
}
