//! Traffic of applications, one file each.
//!
//! An application that only sends is a [`Source`]: its writes have fixed times and sizes, independent of their
//! delivery. Web pages, video and transfers respond to arrivals; their files have the part that is independent of
//! the network, and `hosts/exchange_flow` drives it.

mod bounds;
mod clock;
mod distribution;
mod e_model;
mod playout;
mod source;

use lasthop_registry::registry;

pub(crate) use clock::{Clock, Clocked};
pub(crate) use playout::Call;
pub(crate) use source::{Offer, Source};

registry! {
    /// The choice `traffic = "…"`.
    pub enum TrafficKind as "traffic" {
        /// Sends as much as the transport takes, or at the flow's rate.
        bulk => Bulk: source "FTP of ns-2, BulkSend of ns-3, iperf3", status "unit tests";
        /// Sends at the flow's rate for a while, then is silent for a while.
        on_off => OnOff: source "OnOffApplication of ns-3, Exponential of ns-2", status "unit tests";
        /// Packets, or transfers of the flow's `size`, as a Poisson process whose mean is the flow's rate.
        poisson => Poisson: source "—", status "unit tests";
        /// One direction of a call: frames of a codec, a playout buffer, and quality by the E-model.
        voip => Voip: source "ITU-T G.107, G.113, P.59", status "unit tests";
        /// Pages of several objects, with reading time between them.
        web => Web: source "NGMN 2008 (3GPP's HTTP model)", status "unit tests";
        /// Segments of a film with a playback buffer that may stall.
        video => Video: source "DASH; Yin et al. 2015", status "unit tests";
        /// Packets as a file lists them.
        trace => Trace: source "—", status "unit tests";
        /// Small datagrams that the other end returns.
        ping => Ping: source "ping, as Flent runs it", status "unit tests";
    }
    planned:
}

impl TrafficKind {
    /// Whether its application sends at equal intervals; `rated`: the flow has a rate.
    pub(crate) fn is_of_constant_rate(&self, rated: bool) -> bool {
        match self {
            TrafficKind::Bulk(_) => rated,
            TrafficKind::OnOff(_) | TrafficKind::Voip(_) | TrafficKind::Ping(_) => true,
            TrafficKind::Poisson(_) | TrafficKind::Web(_) | TrafficKind::Video(_) | TrafficKind::Trace(_) => false,
        }
    }

    /// Whether its application always has data, unless a rate bounds it.
    pub(crate) fn never_pauses(&self) -> bool {
        matches!(self, TrafficKind::Bulk(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_units::Duration;

    /// All writes of `source` in its first `seconds`.
    pub(super) fn offers(source: &mut dyn Source, seconds: u64) -> Vec<Offer> {
        std::iter::from_fn(|| source.next()).take_while(|o| o.at < Duration::from_secs(seconds)).collect()
    }

    /// Bits offered in `seconds`, divided by their length.
    pub(super) fn rate_bps(source: &mut dyn Source, seconds: u64) -> f64 {
        offers(source, seconds).iter().map(|o| f64::from(o.bytes) * 8.0).sum::<f64>() / seconds as f64
    }
}
