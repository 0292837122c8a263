//! The scoreboard of a recipient under a Block Ack agreement: the MPDUs received, as BlockAcks report them.
//! [802.11-2020 §10.25.6.3]
//!
//! ```text
//!            start                     start + size
//! received     |1 1 0 1 1 1 0 … 0 1|        a later MPDU becomes the last, and moves the start
//! ```

use lasthop_wire::ieee80211::Bitmap;

/// MPDUs covered by a long bitmap.
const LONGEST: u64 = 256;
/// Words of a long bitmap.
const WORDS: usize = 4;

/// The latest MPDUs that have arrived, under full state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scoreboard {
    /// Sequence number of the first bit, never wrapped.
    start: u64,
    /// Bits from the start on, the lowest bit first.
    arrived: [u64; WORDS],
}

impl Scoreboard {
    /// Notes an MPDU that has arrived, if BlockAcks cover `size` MPDUs.
    pub(crate) fn receive(&mut self, sequence: u64, size: u64) {
        if sequence >= self.start + size {
            self.move_to(sequence + 1 - size);
        }
        if let Some(place) = sequence.checked_sub(self.start) {
            self.arrived[(place / 64) as usize] |= 1 << (place % 64);
        }
    }

    /// Moves the start after a BlockAckReq.
    pub(crate) fn request(&mut self, start: u64) {
        if start > self.start {
            self.move_to(start);
        }
    }

    fn move_to(&mut self, start: u64) {
        let by = start - self.start;
        self.start = start;
        if by >= LONGEST {
            self.arrived = [0; WORDS];
            return;
        }
        let (words, bits) = ((by / 64) as usize, by % 64);
        let word = |place: usize| self.arrived.get(place).copied().unwrap_or(0);
        self.arrived = std::array::from_fn(|place| {
            let (low, high) = (word(place + words), word(place + words + 1));
            if bits == 0 { low } else { low >> bits | high << (64 - bits) }
        });
    }

    /// The start and the bitmap, for 64 MPDUs or for 256.
    pub(crate) fn told(&self, size: u64) -> (u64, Bitmap) {
        let bitmap = if size <= 64 { Bitmap::Of64(self.arrived[0]) } else { Bitmap::Of256(self.arrived) };
        (self.start, bitmap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sequence numbers in a bitmap, without the wrap.
    fn told(board: &Scoreboard, size: u64) -> Vec<u64> {
        let (start, bitmap) = board.told(size);
        (0..size).filter(|offset| bitmap.contains(*offset as u16)).map(|offset| start + offset).collect()
    }

    #[test]
    fn arrivals_out_of_order_are_reported_in_order() {
        let mut board = Scoreboard::default();
        for sequence in [0, 3, 1, 63] {
            board.receive(sequence, 64);
        }
        assert_eq!(told(&board, 64), [0, 1, 3, 63]);
        assert_eq!(board.told(64), (0, Bitmap::Of64(0b1011 | 1 << 63)));
    }

    #[test]
    fn later_mpdu_moves_the_start_and_late_mpdu_is_not_reported() {
        let mut board = Scoreboard::default();
        for sequence in [0, 3, 64, 67, 1] {
            board.receive(sequence, 64);
        }
        assert_eq!((board.start, told(&board, 64)), (4, vec![64, 67]));
        board.receive(4000, 64);
        assert_eq!((board.start, told(&board, 64)), (3937, vec![4000]));
    }

    #[test]
    fn a_request_moves_it_forward_only() {
        let mut board = Scoreboard::default();
        (0..10).for_each(|sequence| board.receive(sequence, 256));
        board.request(7);
        board.request(3);
        assert_eq!((board.start, told(&board, 256)), (7, vec![7, 8, 9]));
    }

    #[test]
    fn scoreboard_equals_a_plain_list_of_arrivals() {
        let mut draw = 12345_u64;
        for size in [64, 256] {
            let (mut board, mut start, mut all) = (Scoreboard::default(), 0_u64, std::collections::BTreeSet::new());
            let mut next = 0_u64;
            for _ in 0..5000 {
                draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let sequence = (next + (draw >> 33) % 90).saturating_sub(30);
                next = next.max(sequence);
                if draw >> 60 == 0 {
                    board.request(sequence);
                    start = start.max(sequence);
                } else {
                    board.receive(sequence, size);
                    all.insert(sequence);
                    start = start.max((sequence + 1).saturating_sub(size));
                    all.retain(|s| *s >= start);
                }
                // A request may come before the MPDUs it is about.
                all.retain(|s| *s >= start);
                assert_eq!(told(&board, size), all.range(start..start + size).copied().collect::<Vec<_>>());
            }
        }
    }
}
