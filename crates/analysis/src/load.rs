//! The load of a flow: the times of its data and its idle time; and the path beyond the air.

use std::collections::VecDeque;

use lasthop_observe::Histogram;
use lasthop_units::{Duration, Time};
use lasthop_wire::tcp::TcpFlags;
use serde_json::{Value as Json, json};

use crate::packet::Segment;

/// Number of writes that are kept; a flow with more has no list.
const MOST_WRITES: usize = 200_000;
/// Data within this time are one write of the application.
const ONE_WRITE: Duration = Duration::from_millis(1);
/// A flow is bulk if it is idle for less than 1/20 of its time.
const BULK: u64 = 20;
/// The turnaround if the time to the server and back is unknown.
const UNKNOWN_WAIT: Duration = Duration::from_millis(300);
/// Number of time stamps that await their echo.
const MOST_STAMPS: usize = 4096;
const QUANTILES: [f64; 4] = [0.05, 0.5, 0.95, 0.99];

/// Counts of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Load {
    first: Option<Time>,
    last: Option<Time>,
    /// packets with new data, and their bytes
    packets: u64,
    bytes: u64,
    largest: u32,
    writes: Vec<(Time, u64)>,
    has_more_writes: bool,
    /// time without outstanding data between the first data and the last, in which the acknowledgement had long reached
    /// the sender
    idle: Duration,
    pub has_timestamps: bool,
    pub has_sack: bool,
    /// time at which a connection was opened
    opened: Option<Time>,
    ends: u64,
    turnaround: Turnaround,
}

impl Load {
    /// New data pass the point of capture nearest to their sender, after `idle` without outstanding data.
    pub(crate) fn data(&mut self, at: Time, bytes: u32, idle: Duration) {
        if self.first.is_some() && idle > self.turnaround.longest_wait() {
            self.idle += idle;
        }
        self.first.get_or_insert(at);
        self.last = Some(at);
        self.packets += 1;
        self.bytes += u64::from(bytes);
        self.largest = self.largest.max(bytes);
        match self.writes.last_mut() {
            Some((begin, sum)) if at.since(*begin) < ONE_WRITE => *sum += u64::from(bytes),
            _ => self.write(at, bytes),
        }
    }

    fn write(&mut self, at: Time, bytes: u32) {
        if self.writes.len() < MOST_WRITES {
            self.writes.push((at, bytes.into()));
        } else {
            self.has_more_writes = true;
        }
    }

    /// A connection is opened.
    pub(crate) fn opens(&mut self, at: Time) {
        self.opened.get_or_insert(at);
    }

    /// A datagram passes.
    pub(crate) fn datagram(&mut self, at: Time, bytes: u32) {
        self.first.get_or_insert(at);
        self.last = Some(at);
        self.packets += 1;
        self.bytes += u64::from(bytes);
        self.largest = self.largest.max(bytes);
        self.write(at, bytes);
    }

    /// A segment passes the sniffer of the air, from the station or to it.
    pub(crate) fn over_the_air(&mut self, at: Time, segment: &Segment, from_station: bool) {
        self.has_timestamps |= segment.timestamps.is_some();
        self.has_sack |= segment.sack.iter().any(Option::is_some);
        self.ends += u64::from(segment.flags.contains(TcpFlags::FIN));
        self.turnaround.pass(at, segment, from_station);
    }

    /// Whether data was outstanding nearly always.
    fn is_bulk(&self) -> bool {
        let span = self.first.zip(self.last).map_or(Duration::ZERO, |(first, last)| last.since(first));
        self.idle.as_nanos() * BULK < span.as_nanos()
    }

    /// Its form in the document; writes are those of flows that pause.
    pub(crate) fn to_json(&self, mss: u32) -> Json {
        let seconds = |time: Option<Time>| time.map(|time| time.as_secs_f64());
        let writes: Vec<Json> = self.writes.iter().map(|(at, bytes)| json!([at.as_secs_f64(), bytes])).collect();
        let samples = &self.turnaround.samples;
        json!({
            "opened_s": seconds(self.opened),
            "first_s": seconds(self.first),
            "last_s": seconds(self.last),
            "packets": self.packets,
            "bytes": self.bytes,
            "payload_most_bytes": self.largest.max(mss),
            "idle_s": self.idle.as_secs_f64(),
            "has_timestamps": self.has_timestamps,
            "has_sack": self.has_sack,
            "fins": self.ends,
            "writes": if self.has_more_writes || self.is_bulk() { Json::Null } else { Json::Array(writes) },
            "turnaround_min_s": self.turnaround.least.map(Duration::as_secs_f64),
            "turnaround_mean_s": samples.mean_s(),
            "turnaround_quantiles": QUANTILES.map(|p| json!([p, samples.quantile_s(p)])),
            "turnarounds": self.turnaround.count,
        })
    }
}

/// The time from the air to the server and back to the air: twice the wire, plus the queue of the AP.
///
/// A packet of the station is matched with the server's first one that echoes its time stamp [RFC 7323 §3], counted
/// from the first packet with that stamp: with coarse stamps, never less than the path; and an opening SYN with its
/// answer.
#[derive(Clone, Debug, Default)]
struct Turnaround {
    stamps: VecDeque<(u32, Time)>,
    opened: Option<Time>,
    latest_stamp: Option<u32>,
    least: Option<Duration>,
    samples: Histogram,
    count: u64,
}

impl Turnaround {
    fn pass(&mut self, at: Time, segment: &Segment, from_station: bool) {
        let is_syn = segment.flags.contains(TcpFlags::SYN);
        if from_station {
            if is_syn {
                self.opened = Some(at);
                self.stamps.clear();
                self.latest_stamp = None;
            }
            let Some(stamps) = segment.timestamps else { return };
            let is_new = self.latest_stamp.is_none_or(|latest| (stamps.value.wrapping_sub(latest) as i32) > 0);
            if is_new {
                self.latest_stamp = Some(stamps.value);
                self.stamps.push_back((stamps.value, at));
                if self.stamps.len() > MOST_STAMPS {
                    self.stamps.pop_front();
                }
            }
            return;
        }
        if let Some(opened) = self.opened.take() {
            self.sample(at.since(opened));
        }
        let Some(stamps) = segment.timestamps else { return };
        while let Some(&(value, passed)) = self.stamps.front() {
            match stamps.echo.wrapping_sub(value) as i32 {
                0 => {
                    self.stamps.pop_front();
                    self.sample(at.since(passed));
                }
                later if later > 0 => drop(self.stamps.pop_front()),
                _ => break,
            }
        }
    }

    /// Data near the receiver passes a round trip after its cause: for that time nothing need be outstanding there.
    fn longest_wait(&self) -> Duration {
        self.samples.mean_s().map_or(UNKNOWN_WAIT, |mean_s| Duration::from_secs_f64(2.0 * mean_s))
    }

    fn sample(&mut self, took: Duration) {
        self.least = Some(self.least.map_or(took, |least| least.min(took)));
        self.samples.add(took);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_wire::tcp::Timestamps;

    fn ms(at: u64) -> Time {
        Time::from_nanos(at * 1_000_000)
    }
    fn stamped(value: u32, echo: u32) -> Segment {
        let timestamps = Some(Timestamps { value, echo });
        Segment {
            seq: 0,
            ack: 0,
            flags: TcpFlags::ACK,
            payload: 0,
            header: 32,
            window: 0,
            window_scale: None,
            timestamps,
            sack: [None; 4],
            mptcp: None,
        }
    }

    #[test]
    fn the_way_beyond_the_air_is_from_a_stamp_to_its_first_echo() {
        let mut load = Load::default();
        load.over_the_air(ms(100), &stamped(7, 0), true);
        load.over_the_air(ms(101), &stamped(7, 0), true);
        load.over_the_air(ms(105), &stamped(8, 0), true);
        load.over_the_air(ms(120), &stamped(50, 7), false);
        load.over_the_air(ms(121), &stamped(50, 7), false);
        load.over_the_air(ms(140), &stamped(52, 8), false);
        assert_eq!((load.turnaround.least, load.turnaround.count), (Some(Duration::from_millis(20)), 2));
    }

    #[test]
    fn data_that_come_together_are_one_write() {
        let mut load = Load::default();
        for (at, idle) in [(10, 5), (10, 0), (30, 15), (900, 860)] {
            load.data(ms(at), 1000, Duration::from_millis(idle));
        }
        assert_eq!(load.writes, [(ms(10), 2000), (ms(30), 1000), (ms(900), 1000)]);
        // The time before the first data is not a pause of the flow, nor is the time for an answer.
        assert_eq!((load.idle, load.packets, load.bytes), (Duration::from_millis(860), 4, 4000));
    }
}
