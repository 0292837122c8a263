//! The Queue Size subfield of QoS Control that a station sends to its access point [802.11ax-2021 §9.2.4.5.6].
//!
//! Its two highest bits are the scaling factor, the other six the unscaled value:
//!
//! | scaling factor | bytes |
//! |--:|---|
//! | 0 | 16 value |
//! | 1 | 1024 + 256 value |
//! | 2 | 17,408 + 2048 value |
//! | 3 | 148,480 + 32,768 value; value 62: more than with 61; value 63: unknown |
//!
//! Before 802.11ax, and in ns-3, it counts units of 256 bytes; 254: more, 255: unknown.

/// First length and unit of each scaling factor.
const SCALES: [(u64, u64); 4] = [(0, 16), (1024, 256), (17_408, 2048), (148_480, 32_768)];
/// The value for more than the largest length.
const MORE: u64 = 62;

/// The meaning of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueSize {
    /// of 802.11ax
    Scaled,
    /// of units of 256 bytes
    Plain,
}

impl QueueSize {
    /// The field for a length, rounded up.
    pub(crate) fn field(self, bytes: u64) -> u8 {
        if self == QueueSize::Plain {
            return bytes.div_ceil(256).min(254) as u8;
        }
        for (scale, (first, unit)) in (0u8..).zip(SCALES) {
            let value = bytes.saturating_sub(first).div_ceil(unit);
            if value < 64 && (scale < 3 || value < MORE) {
                return scale << 6 | value as u8;
            }
        }
        3 << 6 | MORE as u8
    }

    /// The length of which an access point knows by a field; of one for more than the largest, one unit more.
    pub(crate) fn bytes(self, field: u8) -> u64 {
        if self == QueueSize::Plain {
            return u64::from(field) * 256;
        }
        let (first, unit) = SCALES[usize::from(field >> 6)];
        first + unit * u64::from(field & 0x3f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_round_up_to_the_units_of_their_scale() {
        let of = |bytes| QueueSize::Scaled.bytes(QueueSize::Scaled.field(bytes));
        // The largest length of each scale, and one byte more.
        assert_eq!([0, 1, 1008, 1009].map(of), [0, 16, 1008, 1024]);
        assert_eq!([1025, 17_152, 17_153].map(of), [1280, 17_152, 17_408]);
        assert_eq!([146_432, 146_433].map(of), [146_432, 148_480]);
        // 148,480 + 61 · 32,768: the largest.
        assert_eq!(of(2_147_328), 2_147_328);
        assert_eq!(QueueSize::Scaled.field(2_147_329), 0b1111_1110);
        for bytes in (0..3_000_000).step_by(101) {
            assert!(of(bytes) >= bytes.min(2_147_329), "{bytes}");
        }
    }

    #[test]
    fn plain_field_counts_units_of_256_bytes() {
        let of = |bytes| QueueSize::Plain.field(bytes);
        assert_eq!([0, 1, 256, 257, 64_768, 65_025, 9_000_000].map(of), [0, 1, 1, 2, 253, 254, 254]);
    }
}
