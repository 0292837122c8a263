//! Preambles of DSSS frames.

use lasthop_registry::words;

words! {
    /// Preamble and PLCP header of DSSS frames. [802.11-2020 §16.2.2]
    pub enum Preamble {
        /// 192 us
        Long = "long",
        /// 96 us; frames of 1 Mbit/s keep the long one
        Short = "short",
    }
}
