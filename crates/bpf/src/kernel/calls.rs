//! The functions of the kernel.
//!
//! Reno's are here [RFC 5681 §3.1, docs/model/congestion-control-rules.md]; those of CUBIC and DCTCP are lasthop's own
//! controllers ([`Borrowed`](super::Borrowed)).

use super::Kernel;

use crate::memory::Memory;
use crate::program::{Kfunc, address, region};
use crate::socket::Field;

/// The least window after a loss, in segments. [RFC 5681 §3.1 (4)]
const LEAST: u32 = 2;

impl Kernel {
    /// Calls a function of the kernel.
    ///
    /// # Errors
    /// A part of a sentence, if the first argument is not a socket.
    pub fn call(&mut self, kfunc: Kfunc, memory: &mut Memory, arguments: &[u64; 5]) -> Result<u64, String> {
        if arguments[0] != address(region::SOCKET, 0) {
            return Err(format!("calls {} with something that is not a socket", kfunc.name()));
        }
        let (second, third) = (arguments[1] as u32, arguments[2] as u32);
        Ok(match kfunc {
            Kfunc::RenoSsthresh => u64::from((self.socket.get32(memory, Field::SndCwnd) >> 1).max(LEAST)),
            Kfunc::RenoUndo => self.socket.get(memory, Field::SndCwnd).max(self.socket.get(memory, Field::PriorCwnd)),
            Kfunc::SlowStart => u64::from(self.slow_start(memory, second)),
            Kfunc::CongAvoidAi => self.add_one_per(memory, second, third),
            Kfunc::RenoCongAvoid => self.reno(memory, third),
            Kfunc::CubicInit => self.cubic_init(memory),
            Kfunc::CubicSsthresh => self.cubic_ssthresh(memory),
            Kfunc::CubicCongAvoid => self.cubic_cong_avoid(memory, third),
            Kfunc::CubicState => self.cubic_state(memory, second as u8),
            Kfunc::CubicEvent => self.cubic_event(second),
            Kfunc::CubicAcked => self.cubic_acked(memory),
            Kfunc::DctcpInit => self.dctcp_init(),
            Kfunc::DctcpUpdate => self.dctcp_update(),
            Kfunc::DctcpSsthresh => self.dctcp_ssthresh(memory),
            Kfunc::DctcpState => self.dctcp_state(memory, second as u8),
            Kfunc::DctcpEvent => self.dctcp_event(memory, second),
            Kfunc::DctcpUndo => self.dctcp_undo(memory),
        })
    }

    /// Slow start: a segment for each acknowledged, up to ssthresh; returns the rest of them. [RFC 5681 §3.1]
    fn slow_start(&self, memory: &mut Memory, acked: u32) -> u32 {
        let socket = &self.socket;
        let (cwnd, clamp) = (socket.get32(memory, Field::SndCwnd), socket.get32(memory, Field::SndCwndClamp));
        let grown = cwnd.saturating_add(acked).min(socket.get32(memory, Field::SndSsthresh));
        socket.set(memory, Field::SndCwnd, u64::from(grown.min(clamp)));
        acked.wrapping_sub(grown.wrapping_sub(cwnd))
    }

    /// A segment for each `per` acknowledged; credit from a larger price buys one at most.
    fn add_one_per(&self, memory: &mut Memory, per: u32, acked: u32) -> u64 {
        let socket = &self.socket;
        let (per, count) = (per.max(1), socket.get32(memory, Field::SndCwndCnt));
        let (due, credit) = if count >= per { (1, 0) } else { (0, count) };
        let credit = credit.saturating_add(acked);
        let grown = socket.get32(memory, Field::SndCwnd).saturating_add(due + credit / per);
        let clamp = socket.get32(memory, Field::SndCwndClamp);
        socket.set(memory, Field::SndCwndCnt, u64::from(credit % per));
        socket.set(memory, Field::SndCwnd, u64::from(grown.min(clamp)));
        0
    }

    fn reno(&self, memory: &mut Memory, acked: u32) -> u64 {
        let socket = &self.socket;
        if socket.get(memory, Field::IsCwndLimited) == 0 {
            return 0;
        }
        let in_slow_start = socket.get32(memory, Field::SndCwnd) < socket.get32(memory, Field::SndSsthresh);
        let left = if in_slow_start { self.slow_start(memory, acked) } else { acked };
        if left > 0 {
            self.add_one_per(memory, socket.get32(memory, Field::SndCwnd), left);
        }
        0
    }
}
