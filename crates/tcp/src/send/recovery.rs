//! The sender's phases between losses.
//!
//! ```text
//!              3 duplicate ACKs, or SACK says lost
//!      ┌──────────────────────────────────────────┐
//!    Open ◄──────── ACK of `recover` ─────── FastRecovery
//!      ▲ └─ timeout ─► AfterTimeout ◄─ timeout ───┘
//!      └── ACK of `recover` ──┘
//! ```
//! Source: RFC 6582 §3.2, RFC 6675 §5. `linux` is the other machine.

/// The phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No loss is known.
    #[default]
    Open,
    /// Repairs losses reported by duplicate ACKs or SACK.
    FastRecovery,
    /// Retransmits all data that was outstanding at a timeout, in slow start.
    AfterTimeout,
}

/// The phase and its state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recovery {
    pub phase: Phase,
    /// SND.NXT at the last loss: its acknowledgement ends the phase; `None` before the first.
    pub recover: Option<u64>,
    pub duplicate_acks: u32,
    /// NewReno: the window above cwnd, in bytes. [RFC 6582 §3.2 (2), (3)]
    pub inflation: i64,
    /// The next retransmission does not wait for the window.
    pub retransmit_now: bool,
    /// NewReno: partial ACKs in this recovery.
    pub partial_acks: u32,
    /// SACK: the newest segment was retransmitted in this recovery.
    pub rescued: bool,
}

/// Duplicate ACKs that limited transmit answers with new data. [RFC 3042 §2]
const LIMITED_TRANSMIT: u32 = 2;

impl Recovery {
    /// Bytes beyond cwnd that may be outstanding without SACK.
    pub fn extra_window(&self, mss: u32, limited_transmit: bool) -> i64 {
        match self.phase {
            Phase::FastRecovery => self.inflation,
            Phase::Open if limited_transmit => i64::from(self.duplicate_acks.min(LIMITED_TRANSMIT) * mss),
            _ => 0,
        }
    }

    /// Fast retransmit. [RFC 6582 §3.2 (2), RFC 6675 §5 (4)]
    pub fn begin(&mut self, nxt: u64, mss: u32) {
        self.phase = Phase::FastRecovery;
        self.recover = Some(nxt);
        self.inflation = i64::from(self.duplicate_acks) * i64::from(mss);
        self.retransmit_now = true;
        self.partial_acks = 0;
        self.rescued = false;
    }

    /// [RFC 6582 §3.2 (4), RFC 6675 §5.1]
    pub fn on_timeout(&mut self, nxt: u64) {
        *self =
            Recovery { phase: Phase::AfterTimeout, recover: Some(nxt), retransmit_now: true, ..Recovery::default() };
    }

    /// Takes in an ACK of a part of the data outstanding at the loss. [RFC 6582 §3.2 (3)]
    pub fn on_partial_ack(&mut self, acked_bytes: u64, mss: u32) {
        self.inflation -= acked_bytes as i64;
        if acked_bytes >= u64::from(mss) {
            self.inflation += i64::from(mss);
        }
        self.retransmit_now = true;
        self.partial_acks += 1;
    }

    /// Ends the phase: all is acknowledged.
    pub fn end(&mut self) {
        *self = Recovery { recover: self.recover, ..Recovery::default() };
    }
}
