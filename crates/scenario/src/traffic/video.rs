//! A film in segments: the player's requests, its buffer, and its stalls.
//!
//! One segment is requested at a time, the next when the last has arrived and the buffer has room for it. The film
//! begins, and continues after a stall, when the buffer holds `startup`. With a `ladder` of bitrates each segment has
//! the highest bitrate below the harmonic mean of the last five segments' throughputs, the first segment the lowest:
//! the rate-based rule of [Yin et al. 2015 §4]. Every segment has exactly the size given by its bitrate.
//!
//! Left out: separate audio, variable bitrates, seeking, and players that drop a segment which comes too slowly.

use std::collections::VecDeque;

use lasthop_registry::{Kind, params, refuse};
use lasthop_units::{Bytes, DataRate, Duration, Time};

use super::bounds::{LARGEST, LONGEST};

/// Number of throughputs in the prediction. [Yin et al. 2015 §7.1]
const REMEMBERED: usize = 5;

params! {
    /// Parameters of `video`.
    pub struct Params {
        /// Bitrate of the film, if there is no ladder.
        pub bitrate: Option<DataRate> = None,
        /// Bitrates to choose from, ascending.
        pub ladder: Option<Vec<DataRate>> = None,
        /// Playing time of a segment.
        pub segment: Duration = Duration::from_secs(4),
        /// Largest playing time in the buffer.
        pub buffer: Duration = Duration::from_secs(30),
        /// Playing time in the buffer from which the player starts, or continues after a stall.
        pub startup: Duration = Duration::from_secs(4),
        /// Size of a request.
        pub request: Bytes = Bytes(328),
    }
    check |this, path| {
        if this.bitrate.is_some() && this.ladder.is_some() {
            return refuse(path, "bitrate", (Kind::NoEffect("has no effect beside a `ladder`".into()), "keep one of the two"));
        }
        let ladder = this.bitrates();
        if ladder.is_empty() || ladder.iter().any(|rate| !(1_000..=10_000_000_000).contains(&rate.as_bps())) {
            let key = if this.ladder.is_some() { "ladder" } else { "bitrate" };
            return refuse(path, key, "a film has from 1 kbit/s to 10 Gbit/s");
        }
        if ladder.windows(2).any(|pair| pair[0] >= pair[1]) {
            return refuse(path, "ladder", "bitrates ascend, each above the one before");
        }
        if this.segment < Duration::from_millis(10) || this.segment > LONGEST {
            return refuse(path, "segment", "from 10 ms to 1000000 s");
        }
        if this.buffer < this.segment || this.buffer > LONGEST {
            return refuse(path, "buffer", "has to hold one segment at least, and 1000000 s at most");
        }
        if this.startup > this.buffer {
            return refuse(path, "startup", "more than the buffer holds: the film would never begin");
        }
        if !(Bytes(1)..=LARGEST).contains(&this.request) {
            return refuse(path, "request", "from 1 B to 1000000 GB");
        }
        Ok(())
    }
}

impl Params {
    /// The bitrates, ascending.
    fn bitrates(&self) -> Vec<DataRate> {
        match (&self.ladder, self.bitrate) {
            (Some(ladder), _) => ladder.clone(),
            (None, bitrate) => vec![bitrate.unwrap_or(DataRate::from_bps(5_000_000))],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// start of the wait for the buffer to fill: before the film, or in a stall
    Waiting(Time),
    /// start of playing, and the film in the buffer then
    Playing(Time, Duration),
}

/// The player's next step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Next {
    /// a segment of this many bytes, now
    Request(u64),
    /// a wait until this time, when there is room
    WaitUntil(Time),
}

/// A player.
#[derive(Clone, Debug)]
pub(crate) struct Player {
    params: Params,
    ladder: Vec<DataRate>,
    throughputs: VecDeque<f64>,
    state: State,
    /// Film in the buffer while waiting.
    waiting_film: Duration,
    began_at: Time,
    started_playing: Option<Duration>,
    /// Beginnings and ends of past stalls.
    stalls: Vec<(Time, Time)>,
    requested_at: Time,
    rung: usize,
    /// Times and rungs of the segments that arrived.
    segments: Vec<(Time, usize)>,
}

/// The summary of a film between two times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Watched {
    pub stalls: u64,
    pub stall_time_s: f64,
    pub startup_delay_s: Option<f64>,
    pub segments: u64,
    pub bitrate_mean_bps: Option<f64>,
    pub switches: u64,
}

impl Player {
    /// A player that is switched on at `now`.
    pub(crate) fn new(params: Params, now: Time) -> Player {
        Player {
            ladder: params.bitrates(),
            params,
            throughputs: VecDeque::new(),
            state: State::Waiting(now),
            waiting_film: Duration::ZERO,
            began_at: now,
            started_playing: None,
            stalls: Vec::new(),
            requested_at: now,
            rung: 0,
            segments: Vec::new(),
        }
    }

    /// Film in the buffer, and the time since which it is empty.
    fn film(&self, now: Time) -> (Duration, Option<Time>) {
        match self.state {
            State::Waiting(_) => (self.waiting_film, None),
            State::Playing(since, film) => {
                let played = now.since(since);
                let empty = (played > film).then(|| since + film);
                (film.saturating_sub(played), empty)
            }
        }
    }

    /// The next step while no segment is in flight.
    pub(crate) fn next(&mut self, now: Time) -> Next {
        let (film, _) = self.film(now);
        let full = film + self.params.segment;
        if full > self.params.buffer {
            return Next::WaitUntil(now + (full - self.params.buffer));
        }
        self.requested_at = now;
        self.rung = self.choose();
        let bits = self.ladder[self.rung].as_bps() as f64 * self.params.segment.as_secs_f64();
        Next::Request(((bits / 8.0) as u64).max(1))
    }

    /// The highest bitrate below the prediction.
    fn choose(&self) -> usize {
        if self.throughputs.is_empty() {
            return 0;
        }
        let inverse: f64 = self.throughputs.iter().map(|t| 1.0 / t).sum();
        let predicted = self.throughputs.len() as f64 / inverse;
        self.ladder.iter().rposition(|rate| (rate.as_bps() as f64) <= predicted).unwrap_or(0)
    }

    /// The requested segment, with this many bytes, has arrived.
    pub(crate) fn on_segment(&mut self, now: Time, bytes: u64) {
        let took = now.since(self.requested_at).as_secs_f64().max(1e-9);
        self.throughputs.push_back(bytes as f64 * 8.0 / took);
        if self.throughputs.len() > REMEMBERED {
            self.throughputs.pop_front();
        }
        self.segments.push((now, self.rung));
        let (film, empty) = self.film(now);
        if let Some(since) = empty {
            self.state = State::Waiting(since);
        }
        let film = film + self.params.segment;
        match self.state {
            State::Playing(..) => self.state = State::Playing(now, film),
            State::Waiting(since) if film >= self.params.startup => self.begin(now, since, film),
            State::Waiting(_) => self.waiting_film = film,
        }
    }

    fn begin(&mut self, now: Time, since: Time, film: Duration) {
        match self.started_playing {
            None => self.started_playing = Some(now.since(self.began_at)),
            Some(_) => self.stalls.push((since, now)),
        }
        self.waiting_film = Duration::ZERO;
        self.state = State::Playing(now, film);
    }

    /// The stall in progress at `now`, if any.
    fn present_stall(&self, now: Time) -> Option<(Time, Time)> {
        let since = match self.state {
            State::Waiting(since) => self.started_playing.map(|_| since),
            State::Playing(..) => self.film(now).1,
        };
        since.map(|since| (since, now))
    }

    /// The summary from `from` to `now`; the startup delay is included whenever it was.
    pub(crate) fn report(&self, from: Time, now: Time) -> Watched {
        let stalls = || self.stalls.iter().copied().chain(self.present_stall(now)).filter(|&(_, end)| end > from);
        let counted = || self.segments.iter().filter(|(at, _)| *at >= from);
        let segments = counted().count();
        let bits: f64 = counted().map(|&(_, rung)| self.ladder[rung].as_bps() as f64).sum();
        let rungs: Vec<usize> = counted().map(|&(_, rung)| rung).collect();
        Watched {
            stalls: stalls().count() as u64,
            // An empty sum of floats is minus zero.
            stall_time_s: stalls().fold(0.0, |sum, (start, end)| sum + end.since(start.max(from)).as_secs_f64()),
            startup_delay_s: self.started_playing.map(Duration::as_secs_f64),
            segments: segments as u64,
            bitrate_mean_bps: (segments > 0).then(|| bits / segments as f64),
            switches: rungs.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays for `seconds` over a link of `bps` without delay. Returns the summary from time 0.
    fn watch(params: Params, bps: f64, seconds: u64) -> Watched {
        let mut now = Time::ZERO;
        let mut player = Player::new(params, now);
        let end = Time::ZERO + Duration::from_secs(seconds);
        loop {
            match player.next(now) {
                Next::WaitUntil(at) => now = at,
                Next::Request(bytes) => {
                    now += Duration::from_secs_f64(bytes as f64 * 8.0 / bps);
                    if now < end {
                        player.on_segment(now, bytes);
                    }
                }
            }
            if now >= end {
                return player.report(Time::ZERO, end);
            }
        }
    }

    fn film(mbps: u64) -> Params {
        Params { bitrate: Some(DataRate::from_bps(mbps * 1_000_000)), ..Params::default() }
    }

    #[test]
    fn a_link_faster_than_the_film_never_stalls_it() {
        let watched = watch(film(4), 5e6, 200);
        // The first segment of 4 s takes 4 x 4/5 s.
        assert_eq!((watched.stalls, watched.stall_time_s, watched.startup_delay_s), (0, 0.0, Some(3.2)));
    }

    #[test]
    fn a_link_slower_than_the_film_stalls_it_for_the_difference() {
        // 16 Mbit take 5 s at 3.2 Mbit/s: the film begins at 5 s and then stalls for 1 s in every 5.
        let watched = watch(film(4), 3.2e6, 205);
        assert_eq!(watched.startup_delay_s, Some(5.0));
        // Segments at 10, 15, …, 200 s each end a stall of 1 s; the stall from 204 s is in progress at the end.
        assert_eq!((watched.stalls, watched.segments), (40, 40));
        assert!((watched.stall_time_s - 40.0).abs() < 1e-6, "{}", watched.stall_time_s);
    }

    #[test]
    fn a_full_buffer_waits_until_there_is_room() {
        let mut player = Player::new(Params { buffer: Duration::from_secs(6), ..film(4) }, Time::ZERO);
        assert_eq!(player.next(Time::ZERO), Next::Request(2_000_000));
        let second = Time::ZERO + Duration::from_secs(1);
        player.on_segment(second, 2_000_000);
        // 4 s have arrived and are played from 1 s on: there is room for 4 s more when 2 s are left.
        assert_eq!(player.next(second), Next::WaitUntil(Time::ZERO + Duration::from_secs(3)));
        assert_eq!(player.next(Time::ZERO + Duration::from_secs(3)), Next::Request(2_000_000));
    }

    #[test]
    fn a_ladder_takes_the_highest_rung_that_the_link_carries() {
        let rungs = [1, 2, 4, 8].map(|m| DataRate::from_bps(m * 1_000_000)).to_vec();
        let watched = watch(Params { ladder: Some(rungs), ..Params::default() }, 5e6, 400);
        // The lowest first, 4 Mbit/s from then on.
        assert_eq!((watched.stalls, watched.switches), (0, 1));
        let n = watched.segments as f64;
        assert!((watched.bitrate_mean_bps.unwrap() - (4e6 * (n - 1.0) + 1e6) / n).abs() < 1.0);
    }
}
