//! Finds out that ACKs are missing, from how the acknowledgement number jumps; see `ack_loss`.

use lasthop_units::{Duration, Time};

use crate::config::{AckLoss, AckLossMode, CountOver, Pending};

/// Jumps are told apart up to so many segments.
const LARGEST_JUMP: usize = 64;
/// ACKs of which a median is taken at least.
const FEW: u32 = 4;
/// ACKs before a single segment counts as normal.
const CERTAIN: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Armed,
    Waiting { until: Time },
    Disarmed { until: Time },
}

/// What one ACK looks like to the watcher.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sighting {
    pub now: Time,
    /// segments that the acknowledgement number advanced by
    pub jump: u32,
    /// its echo is as old as the first of them: none was acknowledged before
    pub is_first: bool,
    pub dsack: bool,
    /// data is being recovered
    pub in_recovery: bool,
    pub srtt: Duration,
    pub snd_una: u64,
    pub snd_nxt: u64,
}

/// What the watcher found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// ACKs missing before this one
    pub missing: u32,
    pub halve: bool,
}

/// Watches the acknowledgement number.
#[derive(Clone, Debug)]
pub(super) struct AckWatch {
    pub params: AckLoss,
    state: State,
    /// ACKs of this window, by their jump
    jumps: [u16; LARGEST_JUMP + 1],
    window_end: u64,
    window_ends_at: Time,
    /// duplicate ACKs since the number advanced last
    duplicates: u32,
    learned: Learned,
}

/// The jump that acknowledged the median segment of the last round trip.
#[derive(Clone, Copy, Debug)]
struct Learned {
    /// 0 before the first ACK
    jump: u32,
    /// a round trip is over; before, `jump` is the median so far
    is_settled: bool,
    /// ACKs so far, as far as that matters
    acks: u32,
    /// ACKs of this round trip, by their jump
    round: [u16; LARGEST_JUMP + 1],
    round_acks: u32,
    round_end: u64,
}

impl Learned {
    fn new() -> Learned {
        Learned { jump: 0, is_settled: false, acks: 0, round: [0; LARGEST_JUMP + 1], round_acks: 0, round_end: 0 }
    }

    fn begin_round(&mut self, snd_nxt: u64) {
        *self = Learned { round: [0; LARGEST_JUMP + 1], round_acks: 0, round_end: snd_nxt, ..*self };
    }

    fn hear(&mut self, jump: usize, ack: &Sighting) {
        self.acks = (self.acks + 1).min(CERTAIN);
        self.round[jump] = self.round[jump].saturating_add(1);
        self.round_acks += 1;
        if ack.snd_una > self.round_end && self.round_acks >= FEW {
            self.learn();
            self.begin_round(ack.snd_nxt);
        } else if !self.is_settled {
            self.jump = self.median();
        }
    }

    /// Learns of this round trip as far as it has come, if it had enough ACKs.
    fn learn(&mut self) {
        if self.round_acks >= FEW {
            self.jump = self.median();
            self.is_settled = true;
        }
    }

    fn median(&self) -> u32 {
        let segments = |(jump, &acks): (usize, &u16)| jump as u32 * u32::from(acks);
        let all: u32 = self.round.iter().enumerate().map(segments).sum();
        let mut covered = 0;
        let half = self.round.iter().enumerate().position(|row| {
            covered += segments(row);
            covered > 0 && 2 * covered >= all
        });
        half.map_or(1, |jump| jump as u32)
    }

    fn normal_jump(&self) -> u32 {
        let least = if self.acks < CERTAIN { 2 } else { 1 };
        self.jump.max(least)
    }
}

impl AckWatch {
    pub fn new(params: &AckLoss) -> Self {
        AckWatch {
            params: params.clone(),
            state: State::Armed,
            jumps: [0; LARGEST_JUMP + 1],
            window_end: 0,
            window_ends_at: Time::ZERO,
            duplicates: 0,
            learned: Learned::new(),
        }
    }

    /// Takes in an ACK.
    pub fn on_ack(&mut self, ack: &Sighting) -> Found {
        let is_general = self.params.mode == AckLossMode::General;
        if ack.in_recovery {
            self.disarm(ack.now, ack.srtt);
        }
        let duplicates = if ack.jump == 0 { self.duplicates + 1 } else { 0 };
        let duplicates_before = core::mem::replace(&mut self.duplicates, duplicates);
        let missing = if ack.jump == 0 { 0 } else { self.take(ack, duplicates_before) };
        match self.state {
            State::Disarmed { until } if ack.now >= until => self.arm(ack),
            State::Disarmed { .. } => {}
            State::Waiting { .. } if is_general && ack.dsack => self.arm(ack),
            State::Waiting { until } if ack.now >= until => {
                self.learned.learn();
                let halve = !is_general || self.missing() > self.params.threshold;
                self.arm(ack);
                return Found { missing, halve };
            }
            State::Waiting { .. } => {}
            State::Armed => {
                if self.missing() > self.params.threshold {
                    self.state = State::Waiting { until: ack.now + ack.srtt };
                    self.learned.begin_round(ack.snd_nxt);
                }
            }
        }
        Found { missing, halve: false }
    }

    /// Data is lost: for one RTT jumps mean nothing.
    fn disarm(&mut self, now: Time, rtt: Duration) {
        if self.params.on_data_loss == Pending::Keep && matches!(self.state, State::Waiting { .. }) {
            return;
        }
        self.state = State::Disarmed { until: now + rtt };
    }

    fn arm(&mut self, ack: &Sighting) {
        self.state = State::Armed;
        self.begin_window(ack);
    }

    fn begin_window(&mut self, ack: &Sighting) {
        self.jumps = [0; LARGEST_JUMP + 1];
        self.window_end = ack.snd_nxt;
        self.window_ends_at = ack.now + ack.srtt;
    }

    fn window_is_over(&self, ack: &Sighting) -> bool {
        match self.params.count_over {
            CountOver::Window => ack.snd_una > self.window_end,
            CountOver::Rtt => ack.now >= self.window_ends_at,
        }
    }

    /// Counts a jump; the ACKs that it hides.
    fn take(&mut self, ack: &Sighting, duplicates: u32) -> u32 {
        if self.state == State::Armed && self.window_is_over(ack) {
            self.begin_window(ack);
        }
        let jump = (ack.jump as usize).min(LARGEST_JUMP);
        if self.params.mode == AckLossMode::Paper {
            self.count(jump);
            return self.hidden(jump, self.params.normal_jump);
        }
        self.learned.hear(jump, ack);
        let normal = self.learned.normal_jump();
        if ack.is_first {
            return 0;
        }
        // A duplicate ACK came for each of these.
        let jump = jump.saturating_sub(duplicates as usize * normal as usize);
        self.count(jump);
        self.hidden(jump, normal)
    }

    fn count(&mut self, jump: usize) {
        if !matches!(self.state, State::Disarmed { .. }) {
            self.jumps[jump] = self.jumps[jump].saturating_add(1);
        }
    }

    fn normal_jump(&self) -> u32 {
        match self.params.mode {
            AckLossMode::Paper => self.params.normal_jump,
            AckLossMode::General => self.learned.normal_jump(),
        }
    }

    /// ACKs hidden by a jump; none while disarmed.
    fn hidden(&self, jump: usize, normal: u32) -> u32 {
        if matches!(self.state, State::Disarmed { .. }) { 0 } else { (jump as u32).saturating_sub(1) / normal }
    }

    /// ACKs missing in this window, by what is normal now.
    fn missing(&self) -> u32 {
        let normal = self.normal_jump();
        self.jumps
            .iter()
            .enumerate()
            .map(|(jump, &acks)| (jump as u32).saturating_sub(1) / normal * u32::from(acks))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    /// A sender of 20 segments in flight: each ACK covers `jump`, `spacing` apart.
    struct Feed {
        watch: AckWatch,
        now: Time,
        una: u64,
        missing: u32,
        halvings: Vec<Time>,
    }

    impl Feed {
        fn new(params: AckLoss) -> Feed {
            Feed { watch: AckWatch::new(&params), now: Time::ZERO, una: 0, missing: 0, halvings: Vec::new() }
        }

        fn ack(&mut self, jump: u32) -> &mut Feed {
            self.see(jump, |_| {})
        }

        fn see(&mut self, jump: u32, change: impl Fn(&mut Sighting)) -> &mut Feed {
            self.now += Duration::from_millis(5 * u64::from(jump.max(1)));
            self.una += u64::from(jump) * 1000;
            let mut seen = Sighting {
                now: self.now,
                jump,
                is_first: false,
                dsack: false,
                in_recovery: false,
                srtt: RTT,
                snd_una: self.una,
                snd_nxt: self.una + 20_000,
            };
            change(&mut seen);
            let found = self.watch.on_ack(&seen);
            self.missing += found.missing;
            if found.halve {
                self.halvings.push(self.now);
            }
            self
        }

        fn acks(&mut self, jump: u32, count: u32) -> &mut Feed {
            (0..count).for_each(|_| {
                self.ack(jump);
            });
            self
        }
    }

    fn paper() -> AckLoss {
        AckLoss::default()
    }

    fn general() -> AckLoss {
        AckLoss { mode: AckLossMode::General, ..AckLoss::default() }
    }

    #[test]
    fn one_missing_ack_is_allowed_and_two_halve_one_rtt_later() {
        let mut one = Feed::new(paper());
        one.acks(1, 10).ack(2).acks(1, 100);
        assert_eq!((one.missing, one.halvings.len()), (1, 0));
        let mut two = Feed::new(paper());
        two.acks(1, 10).ack(3);
        let seen = two.now;
        two.acks(1, 100);
        assert_eq!((two.missing, two.halvings.len()), (2, 1));
        assert_eq!(two.halvings[0], seen + RTT);
    }

    #[test]
    fn missing_acks_are_counted_within_one_window() {
        // 20 segments are in flight: the second is missing 30 later
        let mut feed = Feed::new(paper());
        feed.acks(1, 10).ack(2).acks(1, 30).ack(2).acks(1, 100);
        assert_eq!((feed.missing, feed.halvings.len()), (2, 0));
    }

    #[test]
    fn a_data_loss_cancels_what_waits_and_disarms_for_one_rtt() {
        let mut feed = Feed::new(paper());
        feed.acks(1, 10).ack(3).see(0, |seen| seen.in_recovery = true);
        feed.ack(10).acks(1, 100);
        assert_eq!((feed.missing, feed.halvings.len()), (2, 0), "the jump of ten is the recovery's");
        feed.ack(3).acks(1, 100);
        assert_eq!(feed.halvings.len(), 1, "armed again");
        let mut keeps = Feed::new(AckLoss { on_data_loss: Pending::Keep, ..paper() });
        keeps.acks(1, 10).ack(3).see(0, |seen| seen.in_recovery = true).acks(1, 100);
        assert_eq!(keeps.halvings.len(), 1);
    }

    #[test]
    fn delayed_acks_trigger_the_paper_and_not_the_general_mode() {
        let mut published = Feed::new(paper());
        published.acks(2, 100);
        assert!(published.halvings.len() > 3);
        let mut told = Feed::new(AckLoss { normal_jump: 2, ..paper() });
        told.acks(2, 300);
        assert_eq!(told.halvings.len(), 0);
        let mut learns = Feed::new(general());
        learns.acks(1, 16).acks(2, 300);
        assert_eq!((learns.missing, learns.halvings.len()), (0, 0));
    }

    #[test]
    fn skipped_acks_are_learned_within_the_time_of_waiting() {
        // every fourth segment from some time on: five ACKs in a window of twenty
        let mut feed = Feed::new(general());
        feed.acks(1, 16).acks(2, 100).acks(4, 300);
        assert_eq!(feed.halvings.len(), 0);
    }

    #[test]
    fn the_general_mode_finds_lost_acks_of_any_ratio() {
        for ratio in [1, 2, 4] {
            let mut feed = Feed::new(general());
            feed.acks(ratio, 200);
            assert_eq!(feed.halvings.len(), 0, "{ratio}");
            feed.ack(3 * ratio).acks(ratio, 100);
            assert_eq!((feed.missing, feed.halvings.len()), (2, 1), "{ratio}");
        }
    }

    #[test]
    fn an_ack_that_echoes_its_first_segment_hides_none() {
        let mut feed = Feed::new(general());
        feed.acks(1, 200).see(6, |seen| seen.is_first = true).acks(1, 100);
        assert_eq!((feed.missing, feed.halvings.len()), (0, 0));
    }

    #[test]
    fn reordering_of_data_is_no_loss_of_acks() {
        // Two duplicates came before the hole was filled.
        let mut feed = Feed::new(general());
        feed.acks(1, 200).ack(0).ack(0).ack(3).acks(1, 100);
        assert_eq!(feed.missing, 0);
        // A DSACK while waiting.
        let mut feed = Feed::new(general());
        feed.acks(1, 200).ack(4).see(0, |seen| seen.dsack = true).acks(1, 100);
        assert_eq!(feed.halvings.len(), 0);
    }

    #[test]
    fn heavy_ack_loss_keeps_on_halving() {
        // Every second ACK is lost by chance: jumps of 1, 2, 3 and so on with halving frequency.
        let mut feed = Feed::new(general());
        let mut state = 1u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            feed.ack(1 + (state >> 33).trailing_ones().min(8));
        }
        // 4000 segments of 5 ms: 200 RTTs; at most every second RTT, since each halving waits for one.
        assert!(feed.halvings.len() > 50, "{}", feed.halvings.len());
    }
}
