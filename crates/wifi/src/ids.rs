//! Numbers with which the air, channel access and the senders refer to one another's objects.
//!
//! While a station has one radio, a channel access function and its sender have the same number, so no table is looked
//! up.

macro_rules! id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) struct $name(pub u32);

        impl $name {
            pub(crate) const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
id!(
    /// A channel access function of a radio: the one of DCF, or one of the four of EDCA. Those of a radio are
    /// consecutive, in order of falling priority.
    FunctionId
);
id!(
    /// The queue, frames and agreements of a station in one access category.
    SenderId
);
id!(
    /// A frame exchange in progress.
    ExchangeId
);

/// A PPDU on the air; the low bits are its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TxId(pub u32);

impl FunctionId {
    /// The sender whose packets it contends for.
    pub(crate) const fn sender(self) -> SenderId {
        SenderId(self.0)
    }
}
