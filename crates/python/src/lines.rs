//! JSON with a line for each entry, in the form of Python's `json` with an indent of two.

use std::io::{self, Write};

use serde_core::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::to_writer;

/// A value at a depth.
pub(crate) fn lines(value: &impl Serialize, depth: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let written = value.serialize(&mut Serializer::with_formatter(&mut out, Lines { depth, has_entries: false }));
    written.expect("a vector takes all bytes, and keys are text");
    out
}

struct Lines {
    depth: usize,
    /// Whether the open table or list has an entry: an empty one stays on its line.
    has_entries: bool,
}

impl Lines {
    fn open(&mut self) {
        self.depth += 1;
        self.has_entries = false;
    }

    fn begin_line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        const SPACES: &[u8; 64] = &[b' '; 64];
        writer.write_all(b"\n")?;
        let mut left = 2 * self.depth;
        while left > 0 {
            let some = left.min(SPACES.len());
            writer.write_all(&SPACES[..some])?;
            left -= some;
        }
        Ok(())
    }

    fn entry<W: ?Sized + Write>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        if !is_first {
            writer.write_all(b",")?;
        }
        self.begin_line(writer)
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, sign: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.has_entries {
            self.begin_line(writer)?;
        }
        writer.write_all(sign)
    }
}

impl Formatter for Lines {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let mut text = [0; 32];
        let mut rest = &mut text[..];
        to_writer(&mut rest, &value)?;
        let left = rest.len();
        write_number(writer, std::str::from_utf8(&text[..text.len() - left]).expect("a number is text"))
    }
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open();
        writer.write_all(b"[")
    }
    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.entry(writer, first)
    }
    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_entries = true;
        Ok(())
    }
    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open();
        writer.write_all(b"{")
    }
    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }
    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.entry(writer, first)
    }
    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_entries = true;
        Ok(())
    }
}

/// Converts a number from Rust's notation to that of Python's `repr`: the digits are the same, the fewest that are read
/// back as the same number, but exponents have a sign and two digits, and begin at 1e-05 and 1e+16.
fn write_number<W: ?Sized + Write>(writer: &mut W, number: &str) -> io::Result<()> {
    let (sign, size) = number.strip_prefix('-').map_or(("", number), |size| ("-", size));
    let (digits, power) = match size.split_once('e') {
        Some((mantissa, power)) => (mantissa.to_string(), power.parse().expect("a number has a whole exponent")),
        None if size.starts_with("0.0000") => scientific(&size["0.".len()..]),
        None => return writer.write_all(number.as_bytes()),
    };
    let (direction, power): (char, i32) = if power < 0 { ('-', -power) } else { ('+', power) };
    write!(writer, "{sign}{digits}e{direction}{power:02}")
}

/// The digits after the point of a number below 1, as a mantissa and a power of ten.
fn scientific(decimals: &str) -> (String, i32) {
    let digits = decimals.trim_start_matches('0');
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    (format!("{first}{point}{rest}"), -((decimals.len() - digits.len() + 1) as i32))
}
