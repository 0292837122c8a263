//! Words of bits with names.

/// Gives a tuple struct with a word of bits the two methods common to all of them.
macro_rules! bit_set {
    ($name:ident) => {
        impl $name {
            /// True if all bits of `other` are set.
            pub const fn contains(self, other: $name) -> bool {
                self.0 & other.0 == other.0
            }

            /// These bits and those of `other`.
            #[must_use]
            pub const fn with(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }
        }
    };
}

pub(crate) use bit_set;
