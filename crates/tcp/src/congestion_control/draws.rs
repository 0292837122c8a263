//! Random draws of a controller: a stream of its own, or one that a trace was recorded with.

/// A stream of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// splitmix64 from a seed. [Steele, Lea, Flood 2014]
    Seeded(u64),
    /// xorshift32, shifts 13, 17, 5, never 0. [Marsaglia 2003]
    Xorshift32(u32),
    /// Every draw is this number.
    Always(u32),
}

impl Draws {
    /// A stream from a seed.
    pub const fn seeded(seed: u64) -> Draws {
        Draws::Seeded(seed)
    }

    /// A recorded generator from its first state.
    pub const fn xorshift32(state: u32) -> Draws {
        Draws::Xorshift32(state)
    }

    /// The next number, any of 32 bits.
    pub fn bits(&mut self) -> u32 {
        match self {
            Draws::Seeded(state) => {
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                (mixed >> 32) as u32 ^ mixed as u32
            }
            Draws::Xorshift32(state) => {
                *state ^= *state << 13;
                *state ^= *state >> 17;
                *state ^= *state << 5;
                *state
            }
            Draws::Always(number) => *number,
        }
    }

    /// A number from 0 to `end` - 1; a fixed draw is taken as it is, cut to that range.
    pub fn below(&mut self, end: u32) -> u32 {
        match self {
            Draws::Always(number) => (*number).min(end.saturating_sub(1)),
            _ => ((u64::from(self.bits()) * u64::from(end)) >> 32) as u32,
        }
    }

    /// A number from 0 up to 1.
    pub fn unit(&mut self) -> f64 {
        f64::from(self.bits()) / 4_294_967_296.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_below_the_end_is_drawn_and_no_other() {
        let mut draws = Draws::seeded(1);
        let mut seen = [0; 7];
        (0..7000).for_each(|_| seen[draws.below(7) as usize] += 1);
        assert!(seen.iter().all(|&count| count > 850 && count < 1150), "{seen:?}");
    }

    #[test]
    fn xorshift32_begins_as_published() {
        // Marsaglia 2003, page 4: from 2463534242 comes 723471715.
        assert_eq!(Draws::xorshift32(2_463_534_242).bits(), 723_471_715);
    }
}
