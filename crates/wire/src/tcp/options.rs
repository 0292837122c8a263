//! TCP options. [RFC 9293 §3.2]

use crate::cursor::Cursor;
use crate::error::{Error, Fault};

/// The timestamps option. [RFC 7323 §3.2]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval.
    pub value: u32,
    /// TSecr.
    pub echo: u32,
}

/// The AccECN option: up to three counters of bytes, modulo 2^24, one for each ECN codepoint that they were received
/// with. [RFC 9768 §3.2.3]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcn {
    /// True if the counter of ECT(1) comes first.
    pub ect1_first: bool,
    /// The counters in their order: ECT(0), CE, ECT(1), or the other way round. No counter follows an absent one.
    pub counters: [Option<u32>; 3],
}

/// Up to four SACK blocks: each from its left edge up to, not including, its right edge. [RFC 2018 §3]
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); 4],
    count: u8,
}

/// The options of a header that are known here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions<'a> {
    /// Maximum segment size in bytes. [RFC 9293 §3.7.1]
    pub mss: Option<u16>,
    /// Shift of the window. [RFC 7323 §2.2]
    pub window_scale: Option<u8>,
    /// SACK permitted. [RFC 2018 §2]
    pub sack_permitted: bool,
    /// Timestamps. [RFC 7323 §3.2]
    pub timestamps: Option<Timestamps>,
    /// SACK. [RFC 2018 §3]
    pub sack: SackBlocks,
    /// The content of the first option of MPTCP, which [`Mptcp::read`](super::Mptcp::read) reads. [RFC 8684 §3]
    pub mptcp: Option<&'a [u8]>,
    /// AccECN. [RFC 9768 §3.2.3]
    pub acc_ecn: Option<AccEcn>,
    /// Fast Open: a cookie of 4 to 16 bytes, or none in a request for one. [RFC 7413 §4.1.1]
    pub fast_open: Option<&'a [u8]>,
}

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const MPTCP: u8 = 30;
const FAST_OPEN: u8 = 34;
/// Kind of the option with ECT(0) first. [RFC 9768 §3.2.3]
const ACC_ECN_0: u8 = 172;
/// Kind of the option with ECT(1) first. [RFC 9768 §3.2.3]
const ACC_ECN_1: u8 = 174;

impl SackBlocks {
    /// The first four of `blocks`.
    pub fn new(blocks: impl IntoIterator<Item = (u32, u32)>) -> SackBlocks {
        let mut sack = SackBlocks::default();
        for (place, block) in sack.blocks.iter_mut().zip(blocks) {
            *place = block;
            sack.count += 1;
        }
        sack
    }

    /// The blocks in their order.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl core::fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl AccEcn {
    /// The counters that are present.
    fn present(&self) -> impl Iterator<Item = u32> {
        self.counters.into_iter().map_while(|counter| counter)
    }

    fn read(ect1_first: bool, mut value: Cursor<'_>) -> Result<AccEcn, Error> {
        let mut counters = [None; 3];
        for counter in &mut counters {
            if !value.rest().is_empty() {
                let [high, middle, low] = value.array("AccECN counter")?;
                *counter = Some(u32::from_be_bytes([0, high, middle, low]));
            }
        }
        Ok(AccEcn { ect1_first, counters })
    }
}

impl<'a> TcpOptions<'a> {
    /// Reads options that fill a header, or their beginning if they were `cut_off`. Unknown options are skipped; if one
    /// comes twice, the last counts.
    ///
    /// # Errors
    /// If an option does not fit and was not cut off, or if its length is impossible.
    pub(super) fn parse(bytes: &'a [u8], cut_off: bool) -> Result<TcpOptions<'a>, Error> {
        let mut options = TcpOptions::default();
        let mut at = Cursor::new(bytes);
        while !at.rest().is_empty() {
            match at.u8("TCP option")? {
                END => break,
                NOP => {}
                kind => match options.read(kind, &mut at) {
                    Err(Error { fault: Fault::Short { .. }, .. }) if cut_off => break,
                    read => read?,
                },
            }
        }
        Ok(options)
    }

    /// Reads an option from its length on.
    fn read(&mut self, kind: u8, at: &mut Cursor<'a>) -> Result<(), Error> {
        let place = at.at();
        let length = at.u8("TCP option length")?;
        let wrong = |rule| Err(Error::value(place, "TCP option length", length, rule));
        if length < 2 {
            return wrong("it is 2 or more");
        }
        let value = at.take(usize::from(length) - 2, "TCP option")?;
        match (kind, value) {
            (MSS, &[high, low]) => self.mss = Some(u16::from_be_bytes([high, low])),
            (WINDOW_SCALE, &[shift]) => self.window_scale = Some(shift),
            (SACK_PERMITTED, []) => self.sack_permitted = true,
            (TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => {
                let (value, echo) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
                self.timestamps = Some(Timestamps { value, echo });
            }
            (SACK, blocks) if matches!(blocks.len(), 8 | 16 | 24 | 32) => {
                self.sack = SackBlocks::new(blocks.as_chunks::<8>().0.iter().map(|&[a, b, c, d, e, f, g, h]| {
                    (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]))
                }));
            }
            (ACC_ECN_0 | ACC_ECN_1, counters) if matches!(counters.len(), 0 | 3 | 6 | 9) => {
                self.acc_ecn = Some(AccEcn::read(kind == ACC_ECN_1, Cursor::new(counters))?);
            }
            (MPTCP, content) => self.mptcp = self.mptcp.or(Some(content)),
            (FAST_OPEN, cookie) if cookie.len() <= 16 => self.fast_open = Some(cookie),
            (MSS | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS | SACK | FAST_OPEN | ACC_ECN_0 | ACC_ECN_1, _) => {
                return wrong("it is that of its kind");
            }
            _ => {}
        }
        Ok(())
    }

    /// Bytes of the options in the header of a SYN or of another segment.
    pub(super) fn length(&self, syn: bool) -> usize {
        let mut length = 0;
        self.each(|_, value| {
            let option = 2 + value.len();
            length += if syn { option } else { option.next_multiple_of(4) };
        });
        length.next_multiple_of(4)
    }

    /// Appends the options: on a SYN packed, with zeros at their end; otherwise each ends at a whole word, with NOPs
    /// before it.
    pub(super) fn append(&self, syn: bool, out: &mut Vec<u8>) {
        let start = out.len();
        self.each(|kind, value| {
            let option = 2 + value.len();
            if !syn {
                out.resize(out.len() + option.next_multiple_of(4) - option, NOP);
            }
            out.extend_from_slice(&[kind, option as u8]);
            out.extend_from_slice(value);
        });
        out.resize(start + (out.len() - start).next_multiple_of(4), END);
    }

    /// Passes kind and value of each option to `take`.
    fn each(&self, mut take: impl FnMut(u8, &[u8])) {
        if let Some(mss) = self.mss {
            take(MSS, &mss.to_be_bytes());
        }
        if self.sack_permitted {
            take(SACK_PERMITTED, &[]);
        }
        if let Some(Timestamps { value, echo }) = self.timestamps {
            take(TIMESTAMPS, [value, echo].map(u32::to_be_bytes).as_flattened());
        }
        if let Some(shift) = self.window_scale {
            take(WINDOW_SCALE, &[shift]);
        }
        if let Some(content) = self.mptcp {
            take(MPTCP, content);
        }
        if let Some(cookie) = self.fast_open {
            take(FAST_OPEN, cookie);
        }
        if let Some(acc_ecn) = self.acc_ecn {
            let mut counters = [0; 9];
            let mut length = 0;
            for counter in acc_ecn.present() {
                counters[length..length + 3].copy_from_slice(&counter.to_be_bytes()[1..]);
                length += 3;
            }
            take(if acc_ecn.ect1_first { ACC_ECN_1 } else { ACC_ECN_0 }, &counters[..length]);
        }
        if !self.sack.is_empty() {
            let mut edges = [[0; 4]; 8];
            for (pair, (left, right)) in edges.chunks_exact_mut(2).zip(self.sack.as_slice()) {
                pair.copy_from_slice(&[left.to_be_bytes(), right.to_be_bytes()]);
            }
            take(SACK, edges[..2 * self.sack.as_slice().len()].as_flattened());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(options: &TcpOptions<'_>, syn: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        options.append(syn, &mut bytes);
        assert_eq!(bytes.len(), options.length(syn));
        assert_eq!(TcpOptions::parse(&bytes, false), Ok(*options));
        bytes
    }

    #[test]
    fn options_of_a_syn_are_packed() {
        let timestamps = Some(Timestamps { value: 0x0102_0304, echo: 0 });
        let options = TcpOptions {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps,
            ..TcpOptions::default()
        };
        // 4 + 2 + 10 + 3 = 19, and a zero.
        assert_eq!(written(&options, true), [2, 4, 5, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 3, 3, 7, 0]);
    }

    #[test]
    fn other_options_end_at_whole_words() {
        let timestamps = Some(Timestamps { value: 1, echo: 2 });
        let sack = SackBlocks::new([(0x10, 0x20), (u32::MAX, 5)]);
        let options = TcpOptions { timestamps, sack, ..TcpOptions::default() };
        let bytes = written(&options, false);
        assert_eq!(bytes[..12], [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        assert_eq!(bytes[12..], [1, 1, 5, 18, 0, 0, 0, 0x10, 0, 0, 0, 0x20, 255, 255, 255, 255, 0, 0, 0, 5]);
        let full = TcpOptions { sack: SackBlocks::new([(1, 2); 9]), ..TcpOptions::default() };
        assert_eq!((full.sack.as_slice().len(), written(&full, false).len()), (4, 36));
    }

    #[test]
    fn acc_ecn_has_as_many_counters_as_are_there() {
        let acc_ecn = |ect1_first, counters| TcpOptions {
            acc_ecn: Some(AccEcn { ect1_first, counters }),
            ..TcpOptions::default()
        };
        // 2 + 9 = 11, and a NOP before it.
        let all = acc_ecn(true, [Some(0x01_0203), Some(4), Some(5)]);
        assert_eq!(written(&all, false), [1, 174, 11, 1, 2, 3, 0, 0, 4, 0, 0, 5]);
        assert_eq!(written(&acc_ecn(false, [Some(7), None, None]), false), [1, 1, 1, 172, 5, 0, 0, 7]);
        assert_eq!(written(&acc_ecn(false, [None; 3]), false), [1, 1, 172, 2]);
    }

    #[test]
    fn a_cookie_may_be_asked_for_or_given() {
        assert_eq!(written(&TcpOptions { fast_open: Some(&[]), ..TcpOptions::default() }, true), [34, 2, 0, 0]);
        assert_eq!(written(&TcpOptions { fast_open: Some(&[9; 8]), ..TcpOptions::default() }, true)[..3], [34, 10, 9]);
    }

    #[test]
    fn unknown_options_are_skipped_and_impossible_ones_refused() {
        let bytes = [253, 4, 1, 2, NOP, 3, 3, 9, END, 2];
        assert_eq!(TcpOptions::parse(&bytes, false), Ok(TcpOptions { window_scale: Some(9), ..TcpOptions::default() }));
        for (bytes, message) in [
            (&[1, 8, 1][..], "byte 2: TCP option length is 1, but it is 2 or more"),
            (&[8], "byte 1: TCP option length: of 1 bytes there are 0"),
            (&[8, 10, 0], "byte 2: TCP option: of 8 bytes there are 1"),
            (&[3, 4, 0, 0], "byte 1: TCP option length is 4, but it is that of its kind"),
            (&[5, 9, 0, 0, 0, 0, 0, 0, 0], "byte 1: TCP option length is 9, but it is that of its kind"),
        ] {
            assert_eq!(TcpOptions::parse(bytes, false).unwrap_err().to_string(), message);
        }
    }
}
