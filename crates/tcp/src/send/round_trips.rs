//! The count of round trips: each ends when data is acknowledged that was sent after the end of the one before.

/// Round trips so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrips {
    /// the present one ends when data behind this offset is acknowledged
    end: u64,
    count: u32,
}

impl RoundTrips {
    /// Handles an acknowledgement of all before `una`, with all before `nxt` sent. Returns the count.
    pub fn acknowledged(&mut self, una: u64, nxt: u64) -> u64 {
        if una > self.end {
            self.end = nxt;
            self.count += 1;
        }
        self.count.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_takes_a_window_of_acknowledgements_however_full_it_is() {
        let mut trips = RoundTrips::default();
        // A window of four segments of 100 bytes, each ACK of one releases another.
        let counts: Vec<u64> = (1..=9).map(|acked| trips.acknowledged(100 * acked, 100 * (acked + 3))).collect();
        // The first ends with the first ACK, when 400 are sent; the next behind 400, when 800 are.
        assert_eq!(counts, [1, 1, 1, 1, 2, 2, 2, 2, 3]);
    }

    #[test]
    fn duplicates_end_no_round_trip() {
        let mut trips = RoundTrips::default();
        trips.acknowledged(100, 400);
        assert_eq!(trips.acknowledged(400, 700), 1);
        assert_eq!(trips.acknowledged(400, 800), 1);
        assert_eq!(trips.acknowledged(500, 800), 2);
    }
}
