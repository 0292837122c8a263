//! Bounds of parameters that several applications share.

use lasthop_units::{Bytes, Duration};

/// The longest time of a parameter: that of the longest run.
pub(super) const LONGEST: Duration = Duration::from_secs(1_000_000);

/// The largest request or answer: ten thousand of it can still be counted.
pub(super) const LARGEST: Bytes = Bytes(1_000_000_000_000_000);
