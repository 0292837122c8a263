//! The fall of the window to ssthresh: at once, by every second ACK, or in proportion to delivered data.
//!
//! Source: RFC 6937 §3.1 with the slow-start bound of RFC 9937 §6, which Linux has; rate halving as in Linux before 3.2. RFC 9937
//! takes RecoverFS, the data that may still be delivered, for the share of delivered data that is sent, where Linux takes the
//! window: the two differ if the window was not full, or if an earlier ACK has reported data by SACK.

/// A reduction of the window that is under way. All in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reduction {
    /// the window as it stands now
    pub cwnd: u32,
    /// the window when the reduction began, or the data in flight [RFC 9937 §6, RecoverFS]
    base: u32,
    /// delivered since then [RFC 6937 §3, prr_delivered]
    delivered: u32,
    /// sent since then [RFC 6937 §3, prr_out]
    pub out: u32,
    /// rate halving: an ACK that has not yet counted
    half: bool,
}

impl Reduction {
    /// A reduction that begins at a window of `cwnd` segments and sends a share of `base` segments.
    pub fn from(cwnd: u32, base: u32) -> Reduction {
        Reduction { cwnd, base, ..Reduction::default() }
    }

    /// Reduces after `delivered` more segments, with so many in `flight`; `is_well`: something was acknowledged and
    /// nothing more lost. [RFC 6937 §3.1]
    pub fn reduce_in_proportion(&mut self, delivered: u32, flight: u32, ssthresh: u32, is_well: bool) {
        self.delivered += delivered;
        let count = if flight > ssthresh {
            let share = (u64::from(ssthresh) * u64::from(self.delivered)).div_ceil(u64::from(self.base.max(1)));
            share as i64 - i64::from(self.out)
        } else {
            let bound = i64::from(self.delivered) - i64::from(self.out);
            let bound = bound.max(i64::from(delivered)) + i64::from(is_well);
            bound.min(i64::from(ssthresh - flight))
        };
        // The first retransmission leaves whatever the window.
        let count = count.max(i64::from(self.out == 0));
        self.cwnd = (i64::from(flight) + count) as u32;
    }

    /// One segment less for every second ACK, and at most one more than in `flight`.
    pub fn halve_rate(&mut self, flight: u32, ssthresh: u32) {
        self.half = !self.half;
        if !self.half && self.cwnd > ssthresh {
            self.cwnd -= 1;
        }
        self.cwnd = self.cwnd.min(flight + 1);
    }
}
