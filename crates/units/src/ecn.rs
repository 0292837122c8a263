//! The ECN field of an IP header.

/// The congestion field of the IP header, two bits. [RFC 3168 §5, RFC 9331 §4.1]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not support marks: a queue drops instead.
    #[default]
    NotEct = 0b00,
    /// The transport supports marks, those of L4S.
    Ect1 = 0b01,
    /// The transport supports marks.
    Ect0 = 0b10,
    /// The packet has met congestion.
    Ce = 0b11,
}

impl Ecn {
    /// The bits as in the header.
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// From the two lowest bits, as in the header.
    pub const fn from_bits(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// True if a queue may mark instead of dropping.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_read_back() {
        for bits in 0..4 {
            assert_eq!(Ecn::from_bits(bits).bits(), bits);
        }
        assert!(Ecn::Ce.is_capable() && !Ecn::NotEct.is_capable());
    }
}
