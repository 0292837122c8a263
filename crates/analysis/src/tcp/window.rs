//! The window that a receiver advertises. [RFC 9293 §3.8.6, RFC 7323 §2]

use lasthop_wire::tcp::TcpFlags;

use crate::packet::Segment;

/// The window of one receiver, from its segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReceiveWindow {
    /// shift of this end and of the other, from their SYNs; none if no SYN was seen
    shifts: [Option<Option<u8>>; 2],
    latest: Option<u64>,
    /// whether the latest window was zero
    is_zero: bool,
}

/// The window in bytes, if known, and whether it has just closed.
pub(crate) type Advertised = (Option<u64>, bool);

/// The windows of a receiver over time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowTally {
    pub least: Option<u64>,
    pub most: u64,
    sum: f64,
    count: u64,
    /// number of times that the window closed
    pub zero: u64,
    /// segments with an unknown window, as the handshake was not seen
    pub unscaled: u64,
}

/// The greatest shift. [RFC 7323 §2.3]
const GREATEST_SHIFT: u8 = 14;

impl ReceiveWindow {
    /// A SYN of the receiver, or of the other end, passes.
    pub(crate) fn syn(&mut self, segment: &Segment, is_own: bool) {
        if is_own && !segment.flags.contains(TcpFlags::ACK) {
            // A new connection.
            *self = ReceiveWindow::default();
        }
        self.shifts[usize::from(!is_own)] = Some(segment.window_scale);
    }

    /// The window of a receiver's segment in bytes, if known.
    pub(crate) fn told(&mut self, segment: &Segment) -> Option<u64> {
        // The window of a SYN is not scaled.
        let shift = if segment.flags.contains(TcpFlags::SYN) { Some(0) } else { self.shift() };
        let window = shift.map(|shift| u64::from(segment.window) << shift.min(GREATEST_SHIFT));
        // Zero is zero in any scale.
        self.latest = if segment.window == 0 { Some(0) } else { window };
        self.latest
    }

    /// Both ends must have offered scaling.
    fn shift(&self) -> Option<u8> {
        let [Some(own), Some(other)] = self.shifts else { return None };
        Some(own.filter(|_| other.is_some()).unwrap_or(0))
    }

    /// The latest window in bytes.
    pub(crate) fn latest(&self) -> Option<u64> {
        self.latest
    }

    /// Whether the window has closed with the latest segment.
    pub(crate) fn has_closed(&mut self) -> bool {
        let was_zero = std::mem::replace(&mut self.is_zero, self.latest == Some(0));
        self.is_zero && !was_zero
    }
}

impl WindowTally {
    /// Counts a segment's window, and whether it had just closed.
    pub(crate) fn add(&mut self, (window, has_closed): Advertised) {
        self.zero += u64::from(has_closed);
        let Some(window) = window else {
            self.unscaled += 1;
            return;
        };
        self.least = Some(self.least.map_or(window, |least| least.min(window)));
        self.most = self.most.max(window);
        self.sum += window as f64;
        self.count += 1;
    }

    /// Mean over the segments with a known window.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(flags: TcpFlags, window: u16, window_scale: Option<u8>) -> Segment {
        Segment { flags, window, window_scale, ..Segment::default() }
    }

    #[test]
    fn window_is_scaled_if_both_syns_scale_and_known_if_both_were_seen() {
        let (syn, ack) = (TcpFlags::SYN, TcpFlags::ACK);
        let told = |own: Option<Option<u8>>, other: Option<Option<u8>>| {
            let mut window = ReceiveWindow::default();
            own.into_iter().for_each(|scale| window.syn(&segment(syn, 0, scale), true));
            other.into_iter().for_each(|scale| window.syn(&segment(syn, 0, scale), false));
            window.told(&segment(ack, 100, None))
        };
        assert_eq!(told(Some(Some(7)), Some(Some(2))), Some(12_800));
        assert_eq!(told(Some(Some(7)), Some(None)), Some(100));
        assert_eq!(told(Some(Some(7)), None), None);
    }

    #[test]
    fn a_window_that_stays_closed_has_closed_once() {
        let (mut window, mut tally) = (ReceiveWindow::default(), WindowTally::default());
        for told in [5, 0, 0, 9, 0] {
            let bytes = window.told(&segment(TcpFlags::SYN, told, None));
            tally.add((bytes, window.has_closed()));
        }
        assert_eq!((tally.zero, tally.least, tally.most, tally.mean()), (2, Some(0), 9, Some(14.0 / 5.0)));
    }
}
