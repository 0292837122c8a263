//! Compares a packet with the one that the script expects.
//!
//! The rules are those of packetdrill: control bits, numbers, payload, options in their order, the window and the ECN
//! field where they are stated. The value of a TSval is compared only where `--tcp_ts_tick_usecs` gives the length of a
//! tick; a TSecr must be right always, which packetdrill does not require.

use lasthop_units::Ecn;

use crate::packetdrill::script::{EcnMark, Tcp, TcpOption};
use crate::packetdrill::wire::flags_of;

/// Tolerance for timestamps, in ticks; `None`: they are not compared.
pub(crate) type TimestampTolerance = Option<u32>;

/// The first difference from the expectation, if any.
pub(crate) fn difference(expected: &Tcp, seen: &Tcp, ecn: Ecn, timestamps: TimestampTolerance) -> Option<String> {
    let field =
        |name: &str, expected: u32, seen: u32| (expected != seen).then(|| format!("{name} is {seen}, not {expected}"));
    if flags_of(&expected.flags) != flags_of(&seen.flags) {
        return Some(format!("the flags are {}, not {}", named(&seen.flags), named(&expected.flags)));
    }
    field("the sequence number", expected.seq, seen.seq)
        .or_else(|| field("the payload", expected.payload, seen.payload))
        .or_else(|| field("ack", expected.ack, seen.ack))
        .or_else(|| expected.window.and_then(|window| field("win", window.into(), seen.window.unwrap_or(0).into())))
        .or_else(|| expected.ecn.and_then(|mark| wrong_mark(mark, ecn)))
        .or_else(|| expected.options.as_ref().and_then(|options| wrong_options(options, seen, timestamps)))
}

fn named(flags: &str) -> &str {
    if flags.is_empty() { "none" } else { flags }
}

fn wrong_mark(mark: EcnMark, seen: Ecn) -> Option<String> {
    let fits = match mark {
        EcnMark::Exactly(bits) => seen.bits() == bits,
        EcnMark::EitherEct => matches!(seen, Ecn::Ect0 | Ecn::Ect1),
    };
    (!fits).then(|| format!("the ECN field is {seen:?}"))
}

fn wrong_options(expected: &[TcpOption], seen: &Tcp, timestamps: TimestampTolerance) -> Option<String> {
    let seen = seen.options.as_deref().unwrap_or(&[]);
    let fits = expected.len() == seen.len() && expected.iter().zip(seen).all(|(a, b)| fits(a, b, timestamps));
    (!fits).then(|| "the options differ".to_string())
}

fn fits(expected: &TcpOption, seen: &TcpOption, tolerance: TimestampTolerance) -> bool {
    match (expected, seen) {
        (TcpOption::Timestamps { value: stated, echo: stated_echo }, TcpOption::Timestamps { value, echo }) => {
            stated_echo == echo && tolerance.is_none_or(|ticks| value.abs_diff(*stated) <= ticks)
        }
        (expected, seen) => expected == seen,
    }
}
