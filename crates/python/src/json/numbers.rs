//! Numbers in Python's notation.

/// Converts a number from Rust's notation to that of Python's `repr`: the digits are the same, the fewest that are read
/// back as the same number, but exponents have a sign and two digits, and begin at 1e-05 and 1e+16.
#[inline(always)]
pub(crate) fn push_number(out: &mut Vec<u8>, number: &str) {
    let bytes = number.as_bytes();
    let is_plain = bytes.len() < 4 || !(bytes.contains(&b'e') || is_small(bytes));
    if is_plain { out.extend_from_slice(bytes) } else { push_power(out, number) }
}

/// Whether it begins with 0.0000.
fn is_small(bytes: &[u8]) -> bool {
    bytes.strip_prefix(b"-").unwrap_or(bytes).starts_with(b"0.0000")
}

#[cold]
fn push_power(out: &mut Vec<u8>, number: &str) {
    let (sign, size) = number.strip_prefix('-').map_or(("", number), |size| ("-", size));
    let (digits, power) = match size.split_once('e') {
        Some((mantissa, power)) => (mantissa.to_string(), power.parse().expect("a number has a whole exponent")),
        None => scientific(&size["0.".len()..]),
    };
    let (direction, power): (char, i32) = if power < 0 { ('-', -power) } else { ('+', power) };
    out.extend_from_slice(format!("{sign}{digits}e{direction}{power:02}").as_bytes());
}

/// The digits after the point of a number below 1, as a mantissa and a power of ten.
fn scientific(decimals: &str) -> (String, i32) {
    let digits = decimals.trim_start_matches('0');
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    (format!("{first}{point}{rest}"), -((decimals.len() - digits.len() + 1) as i32))
}
