//! Limits of one call of a hook.

/// Instructions.
pub(crate) const LIMIT: u32 = 1_000_000;
/// Bytes of stack of one call, and calls within calls.
pub(crate) const FRAME_BYTES: usize = 512;
pub(crate) const MOST_FRAMES: usize = 8;
pub(crate) const STACK_BYTES: usize = FRAME_BYTES * MOST_FRAMES;
