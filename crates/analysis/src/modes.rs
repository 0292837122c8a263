//! Modes and outcomes of the frames of a link, as a model of the link needs them.
//!
//! ```text
//!              | MPDU | MPDU | MPDU |   BlockAck      answered: MPDUs missing in the BlockAck were lost alone, to noise
//!              | MPDU | MPDU | MPDU |                 unanswered: all were lost at once, to a collision or to noise
//! ```

use std::collections::BTreeMap;

use lasthop_units::{Duration, Time};
use serde_json::{Value as Json, json};

use crate::durations::Sending;
use crate::waiting::Sent;

/// MPDUs of a large A-MPDU; all of fewer may well be lost one by one.
const LARGE: u64 = 4;
/// Interval in which the modes of a link are counted together, to show changes over time.
const INTERVAL: Duration = Duration::from_millis(100);
/// Maximum number of intervals, three hours; later ones are left out.
const MOST_INTERVALS: usize = 108_000;

/// A data PPDU whose attempt has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tried<'a> {
    pub sent: &'a Sent,
    /// since measuring began
    pub since: Duration,
    pub mpdus: &'a [u16],
    pub acknowledged: u32,
}

/// Counts of one mode.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ModeTally {
    pub attempts: u64,
    pub unanswered: u64,
    pub mpdus: u64,
    /// for answered A-MPDUs of at least [`LARGE`] MPDUs: their number, their MPDUs, and the MPDUs not acknowledged
    pub large_answered: u64,
    pub mpdus_answered: u64,
    pub mpdus_lost_alone: u64,
    pub rate_bps: u64,
    /// attempts with one MPDU, and those of them that were not answered
    pub single: u64,
    pub single_unanswered: u64,
}

/// A limit that A-MPDUs run into: the maximum seen, and its count.
#[derive(Clone, Copy, Debug, Default)]
struct Most {
    value: u64,
    times: u64,
}

impl Most {
    fn see(&mut self, value: u64) {
        match value.cmp(&self.value) {
            std::cmp::Ordering::Greater => *self = Most { value, times: 1 },
            std::cmp::Ordering::Equal => self.times += 1,
            std::cmp::Ordering::Less => {}
        }
    }
    fn to_json(self) -> Json {
        json!([self.value, self.times])
    }
}

/// How soon A-MPDUs that were lost as a whole are sent again: at once, or behind others that hardware had prepared before.
///
/// ```text
/// | 1 2 3 | lost  | 1 2 3 |            at once
/// | 1 2 3 | lost  | 4 5 6 |  | 1 2 3 | behind one
/// ```
#[derive(Clone, Copy, Debug, Default)]
struct Repeats {
    /// the first MPDU of one that was lost, and the PPDUs since
    lost: Option<(u16, u64)>,
    count: u64,
    between: u64,
}

impl Repeats {
    /// Later ones repeat nothing: the MPDUs were given up, or not heard.
    const MOST: u64 = 8;

    fn see(&mut self, mpdus: &[u16], is_answered: bool) {
        if let Some((number, between)) = self.lost {
            let is_repeat = mpdus.contains(&number);
            self.lost = (!is_repeat && between < Self::MOST).then_some((number, between + 1));
            self.count += u64::from(is_repeat);
            self.between += if is_repeat { between } else { 0 };
        }
        if let (None, [first, _, ..], false) = (self.lost, mpdus, is_answered) {
            self.lost = Some((*first, 0));
        }
    }
}

/// Counts of one link.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkModes {
    modes: BTreeMap<Sending, ModeTally>,
    most_mpdus: Most,
    most_bytes: Most,
    longest: Option<Duration>,
    /// attempts that followed an exchange of the same sender without a backoff: a TXOP continued
    in_txop: u64,
    /// attempts after RTS and CTS, the bytes of the shortest of them, and of the longest without
    after_rts: u64,
    shortest_after_rts: Option<u32>,
    longest_without_rts: u32,
    /// MPDUs sent again although they were acknowledged: their sender missed the answer
    answers_unheard: u64,
    latest_answered: Option<u16>,
    repeats: Repeats,
    /// consecutive attempts at the current frame, and a count of frames by number of attempts
    tries: u32,
    latest_tried: Option<u16>,
    most_tries: u32,
    /// by interval: MPDUs by rate
    track: BTreeMap<usize, BTreeMap<u64, u32>>,
    /// the track was too long
    has_no_track: bool,
}

impl LinkModes {
    /// Counts an attempt that has ended.
    pub(crate) fn count(&mut self, tried: &Tried<'_>) {
        let (sent, mpdus, is_answered) = (tried.sent, tried.mpdus.len() as u64, tried.acknowledged > 0);
        if let Some((sending, rate)) = sent.mode {
            self.count_mode(sending, rate.as_bps(), tried);
        }
        self.repeats.see(tried.mpdus, is_answered);
        self.most_mpdus.see(mpdus);
        self.most_bytes.see(sent.psdu_bytes.into());
        self.longest = self.longest.max(sent.duration);
        self.in_txop += u64::from(sent.follows_own_exchange);
        if sent.follows_rts {
            self.after_rts += 1;
            let shortest = self.shortest_after_rts.map_or(sent.psdu_bytes, |bytes| bytes.min(sent.psdu_bytes));
            self.shortest_after_rts = Some(shortest);
        } else {
            self.longest_without_rts = self.longest_without_rts.max(sent.psdu_bytes);
        }
        self.follow(tried, is_answered);
    }

    /// Counts an attempt in its mode.
    fn count_mode(&mut self, sending: Sending, rate_bps: u64, tried: &Tried<'_>) {
        let mode = self.modes.entry(sending).or_default();
        let (mpdus, is_answered) = (tried.mpdus.len() as u64, tried.acknowledged > 0);
        mode.attempts += 1;
        mode.mpdus += mpdus;
        mode.unanswered += u64::from(!is_answered);
        mode.rate_bps = rate_bps;
        if is_answered && mpdus >= LARGE {
            mode.large_answered += 1;
            mode.mpdus_answered += mpdus;
            mode.mpdus_lost_alone += mpdus - u64::from(tried.acknowledged).min(mpdus);
        }
        if mpdus == 1 {
            mode.single += 1;
            mode.single_unanswered += u64::from(!is_answered);
        }
        let interval = (tried.since.as_nanos() / INTERVAL.as_nanos()) as usize;
        if interval < MOST_INTERVALS {
            *self.track.entry(interval).or_default().entry(rate_bps).or_default() += mpdus as u32;
        }
    }

    /// The rate of most MPDUs in each interval; none without MPDUs.
    fn rates_over_time(&self) -> Vec<Option<u64>> {
        let most = |rates: &BTreeMap<u64, u32>| rates.iter().max_by_key(|(_, mpdus)| **mpdus).map(|(rate, _)| *rate);
        (0..self.intervals()).map(|interval| self.track.get(&interval).and_then(most)).collect()
    }

    /// The intervals of its rates over time.
    pub(crate) fn intervals(&self) -> usize {
        let has_track = self.modes.len() > 1 && !self.has_no_track;
        self.track.keys().next_back().filter(|_| has_track).map_or(0, |last| last + 1)
    }

    /// Forgets its rates over time.
    pub(crate) fn forget_track(&mut self) {
        (self.track, self.has_no_track) = (BTreeMap::new(), true);
    }

    /// Follows a frame that is sent alone over its attempts.
    fn follow(&mut self, tried: &Tried<'_>, is_answered: bool) {
        let [number] = *tried.mpdus else {
            (self.latest_answered, self.latest_tried) = (None, None);
            return;
        };
        self.answers_unheard += u64::from(tried.sent.has_retry && self.latest_answered == Some(number));
        self.latest_answered = is_answered.then_some(number);
        self.tries = if self.latest_tried == Some(number) && tried.sent.has_retry { self.tries + 1 } else { 1 };
        self.latest_tried = Some(number);
        self.most_tries = self.most_tries.max(self.tries);
    }

    /// Its form in the document.
    pub(crate) fn to_json(&self) -> Json {
        let modes: Vec<Json> = self.modes.iter().map(|(sending, tally)| mode_json(sending, tally)).collect();
        json!({
            "modes": modes,
            "mpdus_in_ampdu_most": self.most_mpdus.to_json(),
            "psdu_bytes_most": self.most_bytes.to_json(),
            "ppdu_longest_s": self.longest.map(Duration::as_secs_f64),
            "attempts_in_txop": self.in_txop,
            "attempts_after_rts": self.after_rts,
            "psdu_bytes_after_rts_least": self.shortest_after_rts,
            "psdu_bytes_without_rts_most": self.longest_without_rts,
            "answers_unheard": self.answers_unheard,
            "ampdus_repeated": self.repeats.count,
            "ppdus_before_repeats": self.repeats.between,
            "tries_most": self.most_tries,
            "rate_interval_s": INTERVAL.as_secs_f64(),
            "rates_over_time_bps": Some(self.rates_over_time()).filter(|rates| !rates.is_empty()),
        })
    }
}

fn mode_json(sending: &Sending, tally: &ModeTally) -> Json {
    let mut row = sending.to_json();
    let counts = json!({
        "attempts": tally.attempts,
        "unanswered": tally.unanswered,
        "mpdus": tally.mpdus,
        "rate_bps": tally.rate_bps,
        "large_answered": tally.large_answered,
        "mpdus_answered": tally.mpdus_answered,
        "mpdus_lost_alone": tally.mpdus_lost_alone,
        "single": tally.single,
        "single_unanswered": tally.single_unanswered,
    });
    if let (Json::Object(row), Json::Object(counts)) = (&mut row, counts) {
        row.extend(counts);
    }
    row
}

/// The owner of the latest exchange, and its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LatestExchange(Option<(u32, Time)>);

impl LatestExchange {
    pub(crate) fn ended(&mut self, by: u32, at: Time) {
        self.0 = Some((by, at));
    }

    /// Whether `by` continues at `at` before any node could have counted down: less than SIFS and a slot later.
    pub(crate) fn is_followed(&self, by: u32, at: Time, within: Duration) -> bool {
        self.0.is_some_and(|(owner, end)| owner == by && at.since(end) < within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_units::DataRate;

    fn sent(has_retry: bool) -> Sent {
        Sent {
            mode: Some((Sending::example(), DataRate::from_100kbps(540))),
            psdu_bytes: 1500,
            duration: Some(Duration::from_micros(300)),
            has_retry,
            follows_own_exchange: false,
            follows_rts: false,
        }
    }

    fn count(link: &mut LinkModes, mpdus: &[u16], acknowledged: u32, has_retry: bool) {
        link.count(&Tried { sent: &sent(has_retry), since: Duration::ZERO, mpdus, acknowledged });
    }

    #[test]
    fn isolated_losses_differ_from_simultaneous_losses() {
        let mut link = LinkModes::default();
        count(&mut link, &[1, 2, 3, 4], 3, false);
        count(&mut link, &[4, 5, 6, 7], 0, true);
        count(&mut link, &[4, 5], 1, true);
        let mode = link.modes.values().next().unwrap();
        assert_eq!((mode.attempts, mode.unanswered, mode.mpdus), (3, 1, 10));
        assert_eq!((mode.large_answered, mode.mpdus_answered, mode.mpdus_lost_alone, mode.single), (1, 4, 1, 0));
        assert_eq!((link.most_mpdus.value, link.most_mpdus.times), (4, 2));
        assert_eq!(link.track.len(), 1);
        let other = Sent { mode: Some((Sending::example().alike()[0], DataRate::from_100kbps(60))), ..sent(false) };
        link.count(&Tried { sent: &other, since: INTERVAL * 2, mpdus: &[9], acknowledged: 1 });
        assert_eq!(link.rates_over_time(), [Some(54_000_000), None, Some(6_000_000)]);
        link.forget_track();
        assert_eq!(link.to_json()["rates_over_time_bps"], Json::Null);
    }

    #[test]
    fn a_frame_that_comes_again_after_its_answer_shows_that_the_answer_was_lost() {
        let mut link = LinkModes::default();
        count(&mut link, &[7], 0, false);
        count(&mut link, &[7], 1, true);
        assert_eq!(link.answers_unheard, 0);
        count(&mut link, &[7], 1, true);
        assert_eq!((link.answers_unheard, link.most_tries), (1, 3));
        // Another frame, and a frame with the same number 4096 frames later, are separate.
        count(&mut link, &[8], 1, false);
        count(&mut link, &[8], 1, false);
        assert_eq!((link.answers_unheard, link.most_tries), (1, 3));
    }

    #[test]
    fn a_lost_ampdu_is_repeated_at_once_or_behind_those_that_were_prepared() {
        let of = |ppdus: &[(&[u16], bool)]| {
            let mut repeats = Repeats::default();
            ppdus.iter().for_each(|(mpdus, is_answered)| repeats.see(mpdus, *is_answered));
            (repeats.count, repeats.between)
        };
        assert_eq!(of(&[(&[1, 2], false), (&[1, 2], true)]), (1, 0));
        assert_eq!(of(&[(&[1, 2], false), (&[3, 4], true), (&[1, 2, 5], true)]), (1, 1));
        // Twice lost: twice repeated. A frame that is sent alone is no A-MPDU, and given up MPDUs never come again.
        assert_eq!(of(&[(&[1, 2], false), (&[1, 2], false), (&[1, 2], true)]), (2, 0));
        assert_eq!(of(&[(&[1], false), (&[1], true)]), (0, 0));
        let given_up: Vec<(&[u16], bool)> =
            std::iter::once((&[1, 2][..], false)).chain([(&[3, 4][..], true); 12]).collect();
        assert_eq!(of(&given_up), (0, 0));
    }

    #[test]
    fn an_exchange_is_followed_by_its_owner_alone_and_soon() {
        let mut latest = LatestExchange::default();
        let (at, within) = (Time::from_nanos(1_000_000), Duration::from_micros(25));
        assert!(!latest.is_followed(1, at, within));
        latest.ended(1, at);
        assert!(latest.is_followed(1, at + Duration::from_micros(16), within));
        assert!(!latest.is_followed(2, at + Duration::from_micros(16), within));
        assert!(!latest.is_followed(1, at + Duration::from_micros(43), within));
    }
}
