//! The LDPC code of HE: whether coding needs a segment more than the bits of a PPDU fill.
//! [802.11ax-2021 §27.3.12.5.2; 802.11-2020 §19.3.11.7.5]
//!
//! The last symbol is filled in quarters (segments). Codewords are shortened and punctured to fit;
//! where too much would be punctured, another segment is sent, which counts only if it begins a symbol.

use super::CodeRate;

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

    /// N_SYM: symbols for `bits` of SERVICE and PSDU, `data` of them fitting a symbol.
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

    /// Whether `payload` bits in `available` coded bits would lose too much. [802.11-2020 §19.3.11.7.5, step d]
    fn punctures_too_much(&self, payload: u32, available: u32) -> bool {
        let (k, n) = self.rate;
        let (codewords, length) = self.codewords(payload, available);
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
        // Whether payload and so many bits at the share of parity fit.
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
