//! Learns the normal advance of the acknowledgement number; see `ack_loss`.

/// Largest jump that is told apart, in segments.
pub(super) const LARGEST_JUMP: usize = 64;
/// Least number of ACKs from which a median is taken.
const FEW: u32 = 4;
/// ACKs before a single segment counts as normal.
const CERTAIN: u32 = 64;

/// ACKs by their jump in segments.
pub(super) type Jumps = [u16; LARGEST_JUMP + 1];

/// An ACK that moved forward.
pub(super) struct Heard {
    pub jump: usize,
    /// an ACK is missing before it
    pub is_later: bool,
    pub snd_una: u64,
    pub snd_nxt: u64,
}

/// The jump that acknowledged the median segment of the last round trip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Learned {
    /// 0 before the first ACK
    jump: u32,
    /// half of the segments or more were acknowledged by an ACK that another is missing before
    hides: bool,
    /// a round trip is over; before, the value learned so far holds
    is_settled: bool,
    /// ACKs so far, as far as their number matters
    acks: u32,
    /// ACKs of this round trip
    round: Jumps,
    round_acks: u32,
    /// segments of it whose ACK echoes a later one than the first
    round_later: u32,
    round_end: u64,
}

impl Learned {
    pub fn new() -> Learned {
        let round = [0; LARGEST_JUMP + 1];
        Learned {
            jump: 0,
            hides: false,
            is_settled: false,
            acks: 0,
            round,
            round_acks: 0,
            round_later: 0,
            round_end: 0,
        }
    }

    pub fn begin_round(&mut self, snd_nxt: u64) {
        let round = [0; LARGEST_JUMP + 1];
        *self = Learned { round, round_acks: 0, round_later: 0, round_end: snd_nxt, ..*self };
    }

    pub fn hear(&mut self, ack: Heard) {
        let jump = ack.jump;
        self.acks = (self.acks + 1).min(CERTAIN);
        self.round[jump] = self.round[jump].saturating_add(1);
        self.round_acks += 1;
        self.round_later += if ack.is_later { jump as u32 } else { 0 };
        if ack.snd_una > self.round_end && self.round_acks >= FEW {
            self.learn();
            self.begin_round(ack.snd_nxt);
        } else if !self.is_settled {
            self.take_in();
        }
    }

    /// Learns of this round trip as far as it has come, if it had enough ACKs.
    pub fn learn(&mut self) {
        if self.round_acks >= FEW {
            self.take_in();
            self.is_settled = true;
        }
    }

    fn take_in(&mut self) {
        let all = self.round_segments();
        let mut covered = 0;
        let half = self.round.iter().enumerate().position(|row| {
            covered += segments(row);
            covered > 0 && 2 * covered >= all
        });
        self.jump = half.map_or(1, |jump| jump as u32);
        self.hides = 2 * self.round_later >= all;
    }

    fn round_segments(&self) -> u32 {
        self.round.iter().enumerate().map(segments).sum()
    }

    pub fn normal_jump(&self) -> u32 {
        let least = if self.acks < CERTAIN { 2 } else { 1 };
        self.jump.max(least)
    }

    /// True if missing ACKs are normal: something on the way leaves them out.
    pub fn hides(&self) -> bool {
        self.hides
    }
}

/// Segments that a row of the table stands for.
fn segments((jump, &acks): (usize, &u16)) -> u32 {
    jump as u32 * u32::from(acks)
}
