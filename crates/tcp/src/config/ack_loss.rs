//! The `ack_loss` table: the reaction to lost ACKs. [hashimoto2008 §III]

use lasthop_registry::{params, words};

words! {
    /// The normal jump of the acknowledgement number.
    pub enum AckLossMode {
        /// As published: `normal_jump`, one segment for a receiver that acknowledges each.
        Paper = "paper",
        /// Learned from the connection.
        General = "general",
    }
}

words! {
    /// Period over which missing ACKs are counted.
    pub enum CountOver {
        /// A window of data.
        Window = "window",
        /// The smoothed RTT.
        Rtt = "rtt",
    }
}

words! {
    /// Effect of data loss or a timeout on a pending halving.
    pub enum Pending {
        /// It is dropped.
        Cancel = "cancel",
        /// It happens when its time has come.
        Keep = "keep",
    }
}

params! {
    /// Reaction to lost ACKs. [hashimoto2008 §III]
    pub struct AckLoss {
        /// ACKs that may be missing in a window; more halve the congestion window.
        pub threshold: u32 = 1,
        /// Which jump of the acknowledgement number is normal: paper (as `normal_jump` says), or general (learned).
        pub mode: AckLossMode = AckLossMode::Paper,
        /// Segments that an ACK normally acknowledges, in mode paper: 1, or 2 for delayed ACKs.
        pub normal_jump: u32 = 1,
        /// Period over which missing ACKs are counted: window (of data), or rtt.
        pub count_over: CountOver = CountOver::Window,
        /// Halving sets ssthresh as well, so that congestion avoidance follows.
        pub set_ssthresh: bool = true,
        /// Effect of data loss or a timeout on a pending halving: cancel, or keep.
        pub on_data_loss: Pending = Pending::Cancel,
    }
    check |params, path| {
        if params.normal_jump == 0 {
            return Err(lasthop_registry::ParamError::new(format!("{path}.normal_jump"), "at least 1"));
        }
        Ok(())
    }
}
