//! iperf3: bulk data over TCP, and the report that iperf3 makes of it.

use lasthop_registry::{Kind, refuse};
use lasthop_units::{Bytes, Duration};

/// Largest value of iperf3's `--time`, in seconds.
const LONGEST_S: u64 = 86_400;
/// Largest value of iperf3's `--parallel`.
const MOST_STREAMS: u32 = 128;

lasthop_registry::params! {
    /// Parameters of `iperf3`.
    pub struct Params {
        /// Time for which it sends, in whole seconds; without it and `size`, to the end of the run.
        pub duration: Option<Duration> = None,
        /// Number of bytes to send, instead of a duration.
        pub size: Option<Bytes> = None,
        /// Number of parallel connections, from 1 to 128.
        pub parallel: u32 = 1,
    }
    check |this, path| {
        if this.duration.is_some() && this.size.is_some() {
            return refuse(path, "size", (Kind::Conflict("duration and size both say when iperf3 ends".into()), "keep one of them"));
        }
        if let Some(duration) = this.duration
            && !(duration.as_nanos().is_multiple_of(1_000_000_000) && (1..=LONGEST_S).contains(&seconds(duration)))
        {
            return refuse(path, "duration", (format!("{duration} is not a duration for iperf3"), format!("give whole seconds, from 1 s to {LONGEST_S} s")));
        }
        if this.size == Some(Bytes(0)) {
            return refuse(path, "size", ("a transfer of 0 B moves nothing", "at least 1 B"));
        }
        if !(1..=MOST_STREAMS).contains(&this.parallel) {
            return refuse(path, "parallel", (format!("{} connections", this.parallel), format!("from 1 to {MOST_STREAMS}")));
        }
        Ok(())
    }
}

/// Whole seconds, rounded up.
pub(crate) fn seconds(time: Duration) -> u64 {
    time.as_nanos().div_ceil(1_000_000_000)
}
