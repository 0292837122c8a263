//! Bounds of parameters that several applications share.

use lasthop_units::{Bytes, Duration};

/// The longest time that a parameter may have: that of the longest run.
pub(super) const LONGEST: Duration = Duration::from_secs(1_000_000);

/// The most that is asked or answered at once: so much that ten thousand of it can be counted.
pub(super) const LARGEST: Bytes = Bytes(1_000_000_000_000_000);
