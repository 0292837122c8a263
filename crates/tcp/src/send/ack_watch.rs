//! Finds missing ACKs, from the jumps of the acknowledgement number; see `ack_loss`.

use lasthop_units::{Duration, Time};

use super::ack_jumps::{Heard, Jumps, LARGEST_JUMP, Learned};
use crate::config::{AckLoss, AckLossMode, CountOver, Pending};

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Armed,
    Waiting { until: Time },
    Disarmed { until: Time },
}

/// The tick in which the segment that an ACK echoes was sent: the first that it covers itself. [RFC 7323 §4.3]
#[derive(Clone, Copy, Debug)]
pub(super) struct Tick {
    pub ends: Time,
    pub length: Duration,
}

impl Tick {
    fn has(self, sent_at: Time) -> bool {
        sent_at < self.ends && self.ends.since(sent_at) <= self.length
    }

    fn is_after(self, sent_at: Time) -> bool {
        sent_at < self.ends && !self.has(sent_at)
    }
}

/// The facts of one ACK for the watcher.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sighting {
    pub now: Time,
    /// segments that the acknowledgement number advanced by
    pub jump: u32,
    /// time at which the first of them was sent
    pub head_sent_at: Time,
    /// tick of the echoed timestamp
    pub echo: Option<Tick>,
    pub dsack: bool,
    /// data is being recovered
    pub in_recovery: bool,
    pub srtt: Duration,
    pub snd_una: u64,
    pub snd_nxt: u64,
}

impl Sighting {
    /// True if none of the data that it covers was acknowledged before, except data of the same tick.
    fn is_first(&self) -> bool {
        self.echo.is_some_and(|tick| tick.has(self.head_sent_at))
    }

    /// True if an ACK is missing before it: a part of the data that it covers was acknowledged already.
    fn is_later(&self) -> bool {
        self.echo.is_some_and(|tick| tick.is_after(self.head_sent_at))
    }
}

/// The findings of the watcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// ACKs missing before this one
    pub missing: u32,
    pub halve: bool,
    /// whether this ACK would have shown the loss of the one before it
    pub would_show: Option<bool>,
}

/// Watches the acknowledgement number.
#[derive(Clone, Debug)]
pub(super) struct AckWatch {
    pub params: AckLoss,
    state: State,
    /// ACKs of this window
    jumps: Jumps,
    /// those of them that are certain to hide one
    later: Jumps,
    window_end: u64,
    window_ends_at: Time,
    /// duplicate ACKs since the number advanced last
    duplicates: u32,
    /// the last ACK that moved forward: its jump, and the time at which the first segment that it covers was sent
    previous: Option<(u32, Time)>,
    learned: Learned,
}

impl AckWatch {
    pub fn new(params: &AckLoss) -> Self {
        AckWatch {
            params: params.clone(),
            state: State::Armed,
            jumps: [0; LARGEST_JUMP + 1],
            later: [0; LARGEST_JUMP + 1],
            window_end: 0,
            window_ends_at: Time::ZERO,
            duplicates: 0,
            previous: None,
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
        let would_show = if ack.jump == 0 || missing > 0 { None } else { self.would_show(ack) };
        if ack.jump > 0 {
            self.previous = Some((ack.jump, ack.head_sent_at));
        }
        match self.state {
            State::Disarmed { until } if ack.now >= until => self.arm(ack),
            State::Disarmed { .. } => {}
            State::Waiting { .. } if is_general && ack.dsack => self.arm(ack),
            State::Waiting { until } if ack.now >= until => {
                self.learned.learn();
                let halve = !is_general || self.missing() > self.params.threshold;
                self.arm(ack);
                return Found { missing, halve, would_show };
            }
            State::Waiting { .. } => {}
            State::Armed => {
                if self.missing() > self.params.threshold {
                    self.state = State::Waiting { until: ack.now + ack.srtt };
                    self.learned.begin_round(ack.snd_nxt);
                }
            }
        }
        Found { missing, halve: false, would_show }
    }

    /// Data is lost: for one RTT jumps are not counted.
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
        self.later = [0; LARGEST_JUMP + 1];
        self.window_end = ack.snd_nxt;
        self.window_ends_at = ack.now + ack.srtt;
    }

    fn window_is_over(&self, ack: &Sighting) -> bool {
        match self.params.count_over {
            CountOver::Window => ack.snd_una > self.window_end,
            CountOver::Rtt => ack.now >= self.window_ends_at,
        }
    }

    /// Counts a jump; returns the ACKs that it hides.
    fn take(&mut self, ack: &Sighting, duplicates: u32) -> u32 {
        if self.state == State::Armed && self.window_is_over(ack) {
            self.begin_window(ack);
        }
        let jump = (ack.jump as usize).min(LARGEST_JUMP);
        if self.params.mode == AckLossMode::Paper {
            return self.count(jump, self.params.normal_jump, false);
        }
        let (snd_una, snd_nxt) = (ack.snd_una, ack.snd_nxt);
        self.learned.hear(Heard { jump, is_later: ack.is_later(), snd_una, snd_nxt });
        if ack.is_first() {
            return 0;
        }
        let normal = self.learned.normal_jump();
        // A duplicate ACK arrived for each of these.
        let jump = jump.saturating_sub(duplicates as usize * normal as usize);
        self.count(jump, normal, jump > 0 && ack.is_later())
    }

    /// Counts a jump; returns the ACKs that it hides, none while disarmed.
    fn count(&mut self, jump: usize, normal: u32, is_later: bool) -> u32 {
        if matches!(self.state, State::Disarmed { .. }) {
            return 0;
        }
        let of = if is_later { &mut self.later } else { &mut self.jumps };
        of[jump] = of[jump].saturating_add(1);
        hidden(jump, normal).max(u32::from(is_later && !self.learned.hides()))
    }

    fn normal_jump(&self) -> u32 {
        match self.params.mode {
            AckLossMode::Paper => self.params.normal_jump,
            AckLossMode::General => self.learned.normal_jump(),
        }
    }

    /// True if this ACK would have shown the loss of the one before: both would have been one jump with its echo.
    fn would_show(&self, ack: &Sighting) -> Option<bool> {
        let (jump, head_sent_at) = self.previous?;
        if matches!(self.state, State::Disarmed { .. }) {
            return Some(false);
        }
        let both = Sighting { jump: jump.saturating_add(ack.jump), head_sent_at, ..*ack };
        let hides = hidden(both.jump as usize, self.normal_jump()) > 0;
        Some(match self.params.mode {
            AckLossMode::Paper => hides,
            AckLossMode::General => !both.is_first() && (hides || both.is_later() && !self.learned.hides()),
        })
    }

    /// ACKs missing in this window, by the present normal jump.
    fn missing(&self) -> u32 {
        let normal = self.normal_jump();
        let least = u32::from(!self.learned.hides());
        let hidden_by = |jumps: &Jumps, least: u32| -> u32 {
            jumps.iter().enumerate().map(|(jump, &acks)| hidden(jump, normal).max(least) * u32::from(acks)).sum()
        };
        hidden_by(&self.jumps, 0) + hidden_by(&self.later, least)
    }
}

/// ACKs that a jump hides by its length.
fn hidden(jump: usize, normal: u32) -> u32 {
    (jump as u32).saturating_sub(1) / normal
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
        would_show: Option<bool>,
        halvings: Vec<Time>,
    }

    impl Feed {
        fn new(params: AckLoss) -> Feed {
            Feed {
                watch: AckWatch::new(&params),
                now: Time::ZERO,
                una: 0,
                missing: 0,
                would_show: None,
                halvings: Vec::new(),
            }
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
                head_sent_at: self.now,
                echo: None,
                dsack: false,
                in_recovery: false,
                srtt: RTT,
                snd_una: self.una,
                snd_nxt: self.una + 20_000,
            };
            change(&mut seen);
            let found = self.watch.on_ack(&seen);
            self.missing += found.missing;
            self.would_show = found.would_show;
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

    /// The tick of a millisecond that begins so long after `sent_at`.
    fn tick_after(sent_at: Time, ms: u64) -> Tick {
        Tick { ends: sent_at + Duration::from_millis(ms + 1), length: Duration::from_millis(1) }
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
    fn data_loss_cancels_pending_reactions_and_disarms_for_one_rtt() {
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
        feed.acks(1, 200).see(6, |seen| seen.echo = Some(tick_after(seen.head_sent_at, 0))).acks(1, 100);
        assert_eq!((feed.missing, feed.halvings.len()), (0, 0));
    }

    #[test]
    fn an_ack_that_echoes_a_later_segment_hides_one_however_small_its_jump() {
        // A receiver of one segment an ACK or of two: the jump of two is normal, and its echo is of the second.
        let mut feed = Feed::new(general());
        for _ in 0..100 {
            feed.see(2, |seen| seen.echo = Some(tick_after(seen.head_sent_at, 0)));
            feed.see(1, |seen| seen.echo = Some(tick_after(seen.head_sent_at, 0)));
        }
        assert_eq!(feed.missing, 0);
        for _ in 0..2 {
            feed.see(2, |seen| seen.echo = Some(tick_after(seen.head_sent_at, 5)));
        }
        feed.acks(1, 100);
        assert_eq!((feed.missing, feed.halvings.len()), (2, 1));
    }

    #[test]
    fn filtered_acks_are_learned_despite_their_echo() {
        // Something on the way drops every second ACK of two segments from now on, as cake's ack-filter may.
        let mut feed = Feed::new(general());
        feed.acks(2, 100);
        for _ in 0..300 {
            feed.see(4, |seen| seen.echo = Some(tick_after(seen.head_sent_at, 10)));
        }
        assert_eq!(feed.halvings.len(), 0);
    }

    #[test]
    fn echo_from_before_the_first_segment_is_ignored() {
        // A probe was retransmitted, and its first copy is acknowledged.
        let mut feed = Feed::new(general());
        feed.acks(2, 100).see(2, |seen| seen.echo = Some(Tick { ends: seen.head_sent_at, length: RTT })).acks(2, 20);
        assert_eq!(feed.missing, 0);
    }

    #[test]
    fn each_ack_shows_whether_a_loss_would_be_visible() {
        let mut feed = Feed::new(general());
        feed.acks(2, 100);
        // jumps alone: 2 and 2 would be 4, which hides one; 1 and 1 would be 2
        assert_eq!(feed.ack(2).would_show, Some(true));
        assert_eq!(feed.ack(1).ack(1).would_show, Some(false));
        // of one tick with the one before: nothing would show
        let shared = tick_after(feed.now, 50);
        let within = |feed: &mut Feed, ms: u64| {
            feed.see(2, |seen| {
                seen.head_sent_at = shared.ends - Duration::from_micros(ms * 100);
                seen.echo = Some(shared);
            })
            .would_show
        };
        within(&mut feed, 9);
        assert_eq!(within(&mut feed, 1), Some(false));
        assert_eq!(feed.see(1, |seen| seen.echo = Some(tick_after(seen.head_sent_at, 0))).would_show, Some(true));
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
