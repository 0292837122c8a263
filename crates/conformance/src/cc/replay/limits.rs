//! Limits for the numbers of a trace: those of TCP. A controller computes with them unchecked, so a file from elsewhere
//! must not bring others.

use core::ops::RangeInclusive;

/// Payload of a segment in all traces, in bytes.
pub(super) const MSS: u32 = 1448;

/// Segments in a window: those of 1 GiB, the largest that can be offered [RFC 7323 §2.3].
pub(super) const WINDOW: u64 = (1 << 30) / MSS as u64;
/// Segments in all, and the largest counter of a kernel.
pub(super) const SEGMENTS: u64 = u32::MAX as u64;
/// Time of a row: a day, in µs.
pub(super) const TIME_US: u64 = 86_400_000_000;
/// An RTT, and the time between two ACKs: Linux' longest timeout, 120 s, in µs.
pub(super) const RTT_US: u64 = 120_000_000;
/// ACKs of a whole trace: the work of a replay.
pub(super) const ACKS: u64 = 20_000_000;

/// Congestion windows in segments.
pub(super) const CWND: RangeInclusive<f64> = 1.0..=WINDOW as f64;
/// Slow-start thresholds in segments: up to the kernels' value for none.
pub(super) const SSTHRESH: RangeInclusive<f64> = 0.0..=i32::MAX as f64;

/// The number, if it is in the range; NaN never is.
///
/// # Errors
/// A sentence with the range.
pub(super) fn within<T: PartialOrd + core::fmt::Display>(
    name: &str,
    number: T,
    range: RangeInclusive<T>,
) -> Result<T, String> {
    if range.contains(&number) {
        return Ok(number);
    }
    Err(format!("{name} = {number} is out of range: it may be {} to {}", range.start(), range.end()))
}
