//! Ping: small datagrams at equal intervals that the other end sends back at once.
//!
//! The same as Flent's `ping` data in every test: an ICMP echo of 56 bytes every 200 ms. Round trips are counted at
//! the sender of the request; a request without an answer is lost. The direction of the flow is that of the request.
//! ICMP and UDP both have headers of 8 bytes, so that it represents Flent's UDP pings too.

use lasthop_registry::ParamError;
use lasthop_units::{Bytes, Duration};

use super::bounds::LONGEST;
use super::source::{Offer, Source};

lasthop_registry::params! {
    /// Parameters of `ping`.
    pub struct Params {
        /// Time between requests.
        pub interval: Duration = Duration::from_millis(200),
        /// Payload of the datagram, without the headers of 28 B.
        pub payload: Bytes = Bytes(56),
    }
    check |this, path| {
        if this.interval < Duration::from_micros(10) || this.interval > LONGEST {
            return Err(ParamError::new(format!("{path}.interval"), "from 10 us to 1000000 s between requests"));
        }
        if !(1..=2268).contains(&this.payload.0) {
            return Err(ParamError::new(format!("{path}.payload"), "a ping has from 1 to 2268 B, so that it fits a frame"));
        }
        Ok(())
    }
}

/// Packets of equal size at equal intervals, the first at once.
pub(crate) struct Steady {
    bytes: u32,
    interval: Duration,
    next: Duration,
}

impl Steady {
    /// Writes of `bytes` every `interval`.
    pub(crate) fn new(bytes: u32, interval: Duration) -> Steady {
        Steady { bytes, interval, next: Duration::ZERO }
    }
}

impl Source for Steady {
    fn next(&mut self) -> Option<Offer> {
        let offer = Offer { at: self.next, bytes: self.bytes };
        self.next += self.interval;
        Some(offer)
    }
}
