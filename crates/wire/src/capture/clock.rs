//! Time stamps of an interface. [draft-ietf-opsawg-pcapng §4.2, if_tsresol and if_tsoffset]

/// Resolution and offset of an interface's time stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Resolution in the encoding of the file: n for 10^-n s; 128 + n for 2^-n s.
    pub resolution: u8,
    /// Seconds to add.
    pub offset_s: i64,
}

impl Default for Clock {
    /// Microseconds, the default of files.
    fn default() -> Self {
        Clock { resolution: 6, offset_s: 0 }
    }
}

const NS: u128 = 1_000_000_000;

impl Clock {
    /// Nanoseconds.
    pub const NANOSECONDS: Clock = Clock { resolution: 9, offset_s: 0 };

    /// The time in ns since 1970 of a count of units, rounded down; `None` beyond the year 2262 and before 1677.
    pub fn ns(&self, ticks: u64) -> Option<i64> {
        let power = u32::from(self.resolution & 0x7f);
        let scaled = u128::from(ticks) * NS;
        let ns = if self.resolution & 0x80 != 0 {
            scaled >> power
        } else {
            // No count of 64 bits reaches 10^39 / 10^9.
            10_u128.checked_pow(power).map_or(0, |units| scaled / units)
        };
        let offset = i128::from(self.offset_s) * NS as i128;
        i64::try_from(i128::try_from(ns).ok()?.checked_add(offset)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_turned_into_nanoseconds() {
        let ns = |resolution, offset_s, ticks| Clock { resolution, offset_s }.ns(ticks);
        assert_eq!(ns(9, 0, 1_234_567_890), Some(1_234_567_890));
        assert_eq!(ns(6, 0, 1_234_567), Some(1_234_567_000));
        assert_eq!(ns(0, -3, 1), Some(-2_000_000_000));
        assert_eq!(ns(12, 1, 1_999), Some(1_000_000_001));
        // 1536 / 1024 s
        assert_eq!(ns(128 + 10, 0, 1536), Some(1_500_000_000));
        assert_eq!((ns(127, 0, u64::MAX), ns(255, 0, u64::MAX)), (Some(0), Some(0)));
        assert_eq!((ns(0, 0, u64::MAX), ns(9, i64::MAX, 0), ns(9, i64::MIN, 0)), (None, None, None));
        assert_eq!((ns(9, 0, i64::MAX as u64), ns(9, 0, 1 << 63)), (Some(i64::MAX), None));
    }
}
