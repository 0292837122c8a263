//! Parts of a word, with a bit for known parts.

/// The part of `word` under `mask`, moved down to bit 0.
pub(super) const fn part(word: u16, mask: u16) -> u16 {
    (word & mask) >> mask.trailing_zeros()
}

/// `value` moved up under `mask`; excess bits are cut off.
pub(super) const fn placed(value: u16, mask: u16) -> u16 {
    value << mask.trailing_zeros() & mask
}

/// A field that is represented by a number of 16 bits.
pub(super) trait Part: Copy {
    /// The number.
    fn number(self) -> u16;
    /// The field with a number that fits it.
    fn of(number: u16) -> Self;
}

impl Part for bool {
    fn number(self) -> u16 {
        self.into()
    }
    fn of(number: u16) -> Self {
        number != 0
    }
}

impl Part for u8 {
    fn number(self) -> u16 {
        self.into()
    }
    fn of(number: u16) -> Self {
        number as u8
    }
}

impl Part for u16 {
    fn number(self) -> u16 {
        self
    }
    fn of(number: u16) -> Self {
        number
    }
}

/// A field of an array of words: the word and bit for known, the word and bits of the value.
#[derive(Clone, Copy)]
pub(super) struct KnownBits {
    pub(super) known: (usize, u16),
    pub(super) value: (usize, u16),
}

impl KnownBits {
    /// The field, if it is known.
    pub(super) fn get<T: Part, const N: usize>(self, words: &[u16; N]) -> Option<T> {
        let known = words[self.known.0] & self.known.1 != 0;
        known.then(|| T::of(part(words[self.value.0], self.value.1)))
    }

    /// Writes the field, if it is known.
    pub(super) fn put<T: Part, const N: usize>(self, words: &mut [u16; N], value: Option<T>) {
        if let Some(value) = value {
            words[self.known.0] |= self.known.1;
            words[self.value.0] |= placed(value.number(), self.value.1);
        }
    }
}
