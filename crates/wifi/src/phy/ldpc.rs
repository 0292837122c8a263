//! The LDPC code of HE: whether coding needs one segment more than the bits of a PPDU fill.
//! [802.11ax-2021 §27.3.12.5.2; 802.11-2020 §19.3.11.7.5]
//!
//! The last symbol is filled in quarters (segments). Codewords are shortened and punctured to fit. If too much would be
//! punctured, another segment is sent, which counts only if it begins a symbol.

use super::code_rate::CodeRate;

/// The longest codeword, in bits; the others have a third and two thirds of it.
const CODEWORD: u32 = 1944;

/// The code of a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LdpcCode {
    /// Numerator and denominator of the code rate.
    rate: (u32, u32),
    /// N_CBPS: coded bits in a symbol.
    symbol: u32,
    /// N_CBPS,short and N_DBPS,short: coded and data bits in a segment that is not the last.
    segment: (u32, u32),
}

impl LdpcCode {
    /// The code of a mode with `symbol` coded bits in a symbol and `segment` in a segment.
    pub(super) const fn new(rate: CodeRate, symbol: u32, segment: u32) -> Self {
        LdpcCode { rate: rate.fraction(), symbol, segment: (segment, rate.of(segment)) }
    }

    /// N_SYM: symbols for `bits` of SERVICE and PSDU, of which a symbol holds `data`.
    pub(super) fn symbols(&self, bits: u32, data: u32) -> u32 {
        // N_SYM,init; then a_init - 1, the segments filled before the last one.
        let symbols = bits.div_ceil(data);
        let last = bits - (symbols - 1) * data;
        let filled = (last - 1) / self.segment.1;
        if filled < 3 {
            // There is room for another segment in the same symbol.
            return symbols;
        }
        // The last segment fills the symbol: N_pld and N_avbits are those of whole symbols.
        symbols + u32::from(self.punctures_too_much(symbols * data, symbols * self.symbol))
    }

    /// Returns whether `payload` bits in `available` coded bits would lose too much. [802.11-2020 §19.3.11.7.5, step d]
    fn punctures_too_much(&self, payload: u32, available: u32) -> bool {
        let (k, n) = self.rate;
        let (codewords, length) = self.codewords(payload, available);
        if codewords >= 10 {
            // Less than one codeword is left over: a tenth of the bits, so of the parity bits, or less.
            return false;
        }
        let all = codewords * length;
        let shortened = (all / n * k).saturating_sub(payload);
        let punctured = all.saturating_sub(available + shortened);
        let parity = all / n * (n - k);
        // N_punc > 0.1 parity and N_shrt < 1.2 N_punc R / (1 - R), or N_punc > 0.3 parity.
        let much = 10 * punctured > parity
            && 10 * u64::from(shortened) * u64::from(n - k) < 12 * u64::from(punctured) * u64::from(k);
        much || 10 * punctured > 3 * parity
    }

    /// N_CW and L_LDPC. [802.11-2020 Table 19-16]
    fn codewords(&self, payload: u32, available: u32) -> (u32, u32) {
        let (k, n) = self.rate;
        // Returns whether the payload and this many bits at the share of parity fit.
        let roomy = |bits: u32| available >= payload + bits * (n - k) / n;
        match available {
            0..=648 => (1, if roomy(912) { 1296 } else { 648 }),
            649..=1296 => (1, if roomy(1464) { 1944 } else { 1296 }),
            1297..=1944 => (1, 1944),
            1945..=2592 => (2, if roomy(2916) { 1944 } else { 1296 }),
            _ => (payload.div_ceil(CODEWORD / n * k), CODEWORD),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 MHz, one stream, BPSK 1/2: 234 coded and 117 data bits in a symbol, 60 and 30 in a segment.
    const SLOW: LdpcCode = LdpcCode::new(CodeRate::Half, 234, 60);
    /// 80 MHz, two streams, 1024-QAM 5/6.
    const FAST: LdpcCode = LdpcCode::new(CodeRate::FiveSixths, 19_600, 4800);

    #[test]
    fn a_last_symbol_with_room_for_a_segment_is_enough() {
        // 117 bits a symbol: 90 bits of the last one are three segments.
        assert_eq!(SLOW.symbols(117 + 90, 117), 2);
    }

    #[test]
    fn full_symbol_with_too_much_puncturing_adds_another() {
        // Two symbols: 234 data bits in 468 coded ones, in a codeword of 648: 468 < 234 + 912 / 2. Shortened by
        // 324 - 234 = 90 bits, punctured by 648 - 468 - 90 = 90 of 324 parity bits: more than a tenth, and 90 < 1.2 * 90.
        assert_eq!(SLOW.symbols(234, 117), 3);
        // Five symbols: 585 in 1170 coded bits, one codeword of 1296: shortened by 63, punctured by 63 of 648: 9.7 %.
        assert_eq!(SLOW.symbols(585, 117), 5);
        // Ten: 1170 in 2340, two codewords of 1296: shortened by 126, punctured by 126 of 1296.
        assert_eq!(SLOW.symbols(1170, 117), 10);
    }

    #[test]
    fn long_frames_never_ask_for_another() {
        // 9 codewords or more: less than a codeword is left over, 1/9 or less of the parity bits at 16 symbols and more.
        for symbols in 16..400 {
            assert_eq!(FAST.symbols(16_333 * symbols, 16_333), symbols);
        }
    }
}
