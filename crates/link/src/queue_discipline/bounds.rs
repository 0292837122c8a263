//! Bounds of parameters that several disciplines share.

use lasthop_registry::{Amount, ParamError};
use lasthop_units::Bytes;

/// Refuses parameters that the queues of single flows cannot work with.
pub(super) fn check_flows(flows: u32, quantum: Bytes, path: &str) -> Result<(), ParamError> {
    if flows == 0 || flows > 65_536 {
        return Err(ParamError::new(format!("{path}.flows"), "from 1 to 65536 queues"));
    }
    if quantum.0 == 0 || quantum.0 > 1 << 20 {
        return Err(ParamError::new(format!("{path}.quantum"), ("from 1 B to 1 MiB", "a full-size frame has 1514 B")));
    }
    Ok(())
}

/// Returns whether a packet of `more` bytes fits below a limit, in addition to these packets and bytes.
#[inline]
pub(crate) fn has_room(limit: Amount, (packets, bytes): (u32, u64), more: u32) -> bool {
    match limit {
        Amount::Unlimited => true,
        Amount::Packets(limit) => u64::from(packets) < limit,
        Amount::Bytes(limit) => bytes + u64::from(more) <= limit,
    }
}

/// Refuses a limit that admits nothing.
pub(super) fn check_limit(limit: Amount, path: &str) -> Result<(), ParamError> {
    if matches!(limit, Amount::Packets(0) | Amount::Bytes(0)) {
        return Err(ParamError::new(
            format!("{path}.limit"),
            ("a queue without room drops everything", "at least 1 packet"),
        ));
    }
    Ok(())
}
