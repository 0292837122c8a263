//! Two endpoints and a path between them, under a virtual clock.
#![allow(dead_code)]

use lasthop_engine::Scheduler;
use lasthop_tcp::{Config, Endpoint, Segment};
use lasthop_units::{Duration, Time};

/// One of the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    Client,
    Server,
}

/// The path's treatment of a segment.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    Pass,
    Drop,
    Late(Duration),
    Twice(Duration),
}

/// A segment as it left an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: Time,
    pub from: End,
    pub segment: Segment,
    pub dropped: bool,
}

pub type Path = Box<dyn FnMut(&Sent, u64) -> Fate>;

/// The world. `path` is called for every segment, with its number in its direction.
pub struct World {
    pub now: Time,
    pub client: Endpoint,
    pub server: Endpoint,
    /// one way
    pub delay: Duration,
    /// time that a full segment takes on the way from the client
    pub service: Duration,
    pub path: Path,
    /// effect of a queue on the way on the ECN field of the client's segments
    pub mark: Box<dyn FnMut(&mut Segment)>,
    /// change of each segment that arrives, at either end
    pub edit: fn(&mut Segment),
    pub log: Vec<Sent>,
    counts: [u64; 2],
    busy_until: Time,
    /// segments under way, each with its destination
    events: Scheduler<(End, Segment)>,
}

impl World {
    pub fn new(client: &Config, server: &Config, iss: [u32; 2]) -> World {
        World {
            now: Time::ZERO,
            client: Endpoint::new(client, iss[0]),
            server: Endpoint::new(server, iss[1]),
            delay: Duration::from_millis(50),
            service: Duration::ZERO,
            path: Box::new(|_, _| Fate::Pass),
            mark: Box::new(|_| ()),
            edit: |_| (),
            log: Vec::new(),
            counts: [0; 2],
            busy_until: Time::ZERO,
            events: Scheduler::new(),
        }
    }

    /// Both ends alike.
    pub fn alike(config: &Config) -> World {
        World::new(config, config, [1000, 2000])
    }

    /// Opens the connection; the application of the client writes `bytes`.
    pub fn open(&mut self, bytes: u64) {
        self.server.listen();
        self.client.connect(self.now);
        self.client.write(bytes);
        self.transmit(End::Client);
    }

    pub fn endpoint(&mut self, end: End) -> &mut Endpoint {
        match end {
            End::Client => &mut self.client,
            End::Server => &mut self.server,
        }
    }

    /// Polls an endpoint until it has nothing to send.
    pub fn transmit(&mut self, from: End) {
        loop {
            let now = self.now;
            let wants = self.endpoint(from).wants_transmit(now);
            let Some(segment) = self.endpoint(from).poll_transmit(now) else {
                assert!(!wants, "it wanted to send, and then did not");
                break;
            };
            assert!(wants, "it sent {segment:?} without wanting to");
            self.carry(from, segment);
        }
    }

    fn carry(&mut self, from: End, mut segment: Segment) {
        let mut sent = Sent { at: self.now, from, segment, dropped: false };
        let count = &mut self.counts[from as usize];
        *count += 1;
        let fate = (self.path)(&sent, *count - 1);
        sent.dropped = matches!(fate, Fate::Drop);
        self.log.push(sent);
        if from == End::Client {
            (self.mark)(&mut segment);
        }
        let mut leaves = self.now;
        if from == End::Client && segment.payload > 0 && !sent.dropped {
            leaves = self.busy_until.max(self.now) + self.service;
            self.busy_until = leaves;
        }
        let to = if from == End::Client { End::Server } else { End::Client };
        let arrives = leaves + self.delay;
        match fate {
            Fate::Drop => {}
            Fate::Pass => self.events.at(arrives, (to, segment)),
            Fate::Late(extra) => self.events.at(arrives + extra, (to, segment)),
            Fate::Twice(extra) => {
                self.events.at(arrives, (to, segment));
                self.events.at(arrives + extra, (to, segment));
            }
        }
    }

    /// Runs the next event; false if none will ever come, or none before `end`.
    pub fn step(&mut self, end: Time) -> bool {
        let arrival = self.events.next_at().unwrap_or(Time::NEVER);
        let timers = self.client.poll_timeout().min(self.server.poll_timeout());
        let next = arrival.min(timers);
        if next.is_never() || next > end {
            return false;
        }
        assert!(next >= self.now, "time goes back");
        self.now = next;
        if arrival <= timers {
            let (_, (to, mut segment)) = self.events.next_before(Time::NEVER).expect("a segment is under way");
            (self.edit)(&mut segment);
            self.endpoint(to).handle_segment(next, &segment);
            self.transmit(to);
        } else {
            for end in [End::Client, End::Server] {
                if self.endpoint(end).poll_timeout() <= next {
                    self.endpoint(end).handle_timeout(next);
                    self.transmit(end);
                    let timeout = self.endpoint(end).poll_timeout();
                    assert!(timeout > next, "a timer that is due after all was done: {timeout}");
                }
            }
        }
        true
    }

    pub fn run_until(&mut self, end: Time) {
        while self.step(end) {}
        self.now = self.now.max(end);
    }

    pub fn run_for(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }

    /// Runs until nothing is left to do; the client closes after its data, the server after that.
    pub fn run_to_the_end(&mut self) {
        let end = self.now + Duration::from_secs(100_000);
        self.client.close(self.now);
        self.transmit(End::Client);
        let mut closed = false;
        while self.step(end) {
            if !closed && self.server.state() == lasthop_tcp::State::CloseWait {
                closed = true;
                self.server.close(self.now);
                self.transmit(End::Server);
            }
        }
    }

    /// Data segments of the client so far: time, byte of the stream, length, and whether dropped.
    pub fn data(&self) -> Vec<(Time, u64, u32, bool)> {
        let syn = self.log[0].segment.seq;
        let data = self.log.iter().filter(|sent| sent.from == End::Client && sent.segment.payload > 0);
        data.map(|s| (s.at, s.segment.seq.distance_from(syn) as u64 - 1, s.segment.payload, s.dropped)).collect()
    }

    /// Segments of `end` since `from`, in the log.
    pub fn since(&self, from: usize, end: End) -> Vec<Sent> {
        self.log[from..].iter().filter(|sent| sent.from == end).copied().collect()
    }
}

/// A path that drops the given numbers of data segments of the client (from 0, retransmissions counted too).
pub fn drop_data(numbers: &'static [u64]) -> Path {
    let mut count = 0;
    Box::new(move |sent, _| {
        if sent.from == End::Server || sent.segment.payload == 0 {
            return Fate::Pass;
        }
        count += 1;
        if numbers.contains(&(count - 1)) { Fate::Drop } else { Fate::Pass }
    })
}

/// SplitMix64, for paths that need many draws.
pub struct Random(pub u64);
impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}
