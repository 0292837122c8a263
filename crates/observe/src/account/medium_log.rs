//! The holder of the medium, as nodes with the same hearing notice it: a step function of time, kept as a log.
//!
//! ```text
//! exchanges     ├─ a ─┤   ├─── b ───┤
//!                           ├─ c ─┤
//! log        free │ a │ free │   b   │ free …      of several, the earliest has the medium
//! ```
//! Waiting flows look the log up when they stop waiting, not at every change. A code stands for the holder of a
//! segment: 0 for none, then rivals in the order of their first exchanges ([`Rivals`]).

use lasthop_units::{Duration, Time};

use super::term::Rival;
use crate::{LinkId, NodeId};

/// No exchange has the medium.
pub(super) const FREE: u32 = 0;

/// Flag of an exchange whose outcome is not known yet; the rest of the code is its initiator.
const IN_PROGRESS: u32 = 1 << 31;

/// Rivals by code.
#[derive(Clone, Default)]
pub(super) struct Rivals {
    names: Vec<Rival>,
    of_links: Vec<u32>,
    of_several: Vec<u32>,
    collisions: u32,
    beacons: u32,
}

impl Rivals {
    /// The code of a rival.
    pub fn code(&mut self, rival: Rival) -> u32 {
        let known = match rival {
            Rival::Collisions => &mut self.collisions,
            Rival::Beacons => &mut self.beacons,
            Rival::Link(LinkId(link)) => place_in(&mut self.of_links, link),
            Rival::Several(NodeId(ap)) => place_in(&mut self.of_several, ap),
        };
        if *known == 0 {
            self.names.push(rival);
            *known = self.names.len() as u32;
        }
        *known
    }

    /// The number of codes, including that of a free medium.
    pub fn codes(&self) -> usize {
        self.names.len() + 1
    }

    /// The rival with this code.
    pub fn name(&self, code: usize) -> Option<Rival> {
        code.checked_sub(1).map(|place| self.names[place])
    }
}

fn place_in(codes: &mut Vec<u32>, place: u32) -> &mut u32 {
    let place = place as usize;
    if codes.len() <= place {
        codes.resize(place + 1, 0);
    }
    &mut codes[place]
}

/// The end of a period of the medium, and its holder.
#[derive(Clone, Copy)]
struct Segment {
    until: Time,
    /// The number of the exchange, in the order of starts.
    number: u32,
    code: u32,
}

/// A place in the log, for one flow.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub position: u64,
    /// How often the medium had become free before the present free period.
    turns: u32,
}

/// The medium as some nodes notice it.
#[derive(Clone)]
pub(super) struct MediumLog {
    /// The initiator and number of the exchange that has it.
    holder: Option<(NodeId, u32)>,
    since: Time,
    entries: Vec<Segment>,
    /// The position of the first segment in the log.
    first: u64,
    /// How often it has become free.
    turns: u32,
    /// Total time of each rival until `since`, by code; for hearing that several nodes share.
    clocks: Option<Vec<u64>>,
}

impl MediumLog {
    /// A free medium; `shared`: several nodes have this hearing.
    pub fn new(since: Time, shared: bool) -> MediumLog {
        let clocks = shared.then(|| vec![0]);
        MediumLog { holder: None, since, entries: Vec::new(), first: 0, turns: 1, clocks }
    }

    pub fn holder(&self) -> Option<NodeId> {
        self.holder.map(|(node, _)| node)
    }

    pub fn since(&self) -> Time {
        self.since
    }

    /// Total time of each rival, by code, up to the last change.
    pub fn clocks(&self) -> Option<&[u64]> {
        self.clocks.as_deref()
    }

    /// Whether the exchange `number` would have the medium if it were noticed now.
    pub fn yields_to(&self, number: u32) -> bool {
        self.holder.is_none_or(|(_, holds)| number < holds)
    }

    /// `next` has the medium from now on. `code`: the holder until now, if known; otherwise returns the position of the
    /// segment, whose code must follow.
    pub fn turn(&mut self, now: Time, code: Option<u32>, next: Option<(NodeId, u32)>) -> Option<u64> {
        let (number, unknown) = self.holder.map_or((0, FREE), |(node, number)| (number, IN_PROGRESS | node.0));
        if let (Some(clocks), Some(code)) = (&mut self.clocks, code) {
            let code = code as usize;
            if clocks.len() <= code {
                clocks.resize(code + 1, 0);
            }
            clocks[code] += now.since(self.since).as_nanos();
        }
        self.entries.push(Segment { until: now, number, code: code.unwrap_or(unknown) });
        self.since = now;
        self.holder = next;
        self.turns = self.turns.wrapping_add(u32::from(next.is_none()));
        code.is_none().then(|| self.end() - 1)
    }

    /// Sets the holder at a position.
    pub fn resolve(&mut self, position: u64, code: u32) {
        if let Some(place) = position.checked_sub(self.first) {
            self.entries[place as usize].code = code;
        }
    }

    /// Restarts the books.
    pub fn start(&mut self, now: Time) {
        self.forget();
        self.since = now;
        if let Some(clocks) = &mut self.clocks {
            clocks.fill(0);
        }
    }

    /// Clears the log; all flows have looked it up to its end.
    pub fn forget(&mut self) {
        self.first = self.end();
        self.entries.clear();
    }

    /// The number of segments in the log.
    pub fn length(&self) -> usize {
        self.entries.len()
    }

    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// The current position.
    pub fn mark(&self) -> Mark {
        Mark { position: self.end(), turns: self.turns.wrapping_sub(u32::from(self.holder.is_none())) }
    }

    /// The number of segments that have ended since `mark`.
    pub fn passed(&self, mark: Mark) -> usize {
        (self.end() - mark.position) as usize
    }

    /// The code of the holder from `mark` until now, if there was only one and it is known.
    #[inline(always)]
    pub fn only_one_since(&self, mark: Mark, now: Time) -> Option<usize> {
        let last = self.entries.last().filter(|_| self.passed(mark) == 1 && self.since == now)?;
        Taken(last.code).by().ok()
    }

    /// Whether it was free at any time since `mark`, even for an instant.
    pub fn was_free_since(&self, mark: Mark) -> bool {
        self.turns != mark.turns
    }

    fn now_code(&self) -> u32 {
        self.holder.map_or(FREE, |(node, _)| IN_PROGRESS | node.0)
    }

    /// Reports the holders of the medium, with nanoseconds, from `from`, where the log was at `mark`, until `now`.
    #[inline(always)]
    pub fn look_up(&self, from: Time, mark: Mark, now: Time, mut tell: impl FnMut(Taken, u64)) {
        let mut last = from;
        let mut logged = self.entries[(mark.position - self.first) as usize..].iter();
        let mut is_past = true;
        while is_past {
            let segment = logged.next();
            is_past = segment.is_some();
            let (until, code) = segment.map_or_else(|| (now, self.now_code()), |segment| (segment.until, segment.code));
            tell(Taken(code), until.since(last).as_nanos());
            last = until;
        }
    }

    /// The same with the numbers of exchanges, for [`look_up_both`].
    fn segments(&self, mark: Mark, now: Time) -> impl Iterator<Item = Segment> {
        let open = Segment { until: now, number: self.holder.map_or(0, |h| h.1), code: self.now_code() };
        self.entries[(mark.position - self.first) as usize..].iter().copied().chain([open])
    }
}

/// The same as [`MediumLog::look_up`] with packets at two nodes: while the medium is free for either of them nothing waits,
/// else both wait for the exchange that began first.
pub(super) fn look_up_both(
    logs: [&MediumLog; 2],
    from: Time,
    marks: [Mark; 2],
    now: Time,
) -> impl Iterator<Item = (Taken, u64)> {
    let [mut a, mut b] = [0, 1].map(|side| logs[side].segments(marks[side], now));
    let (mut left, mut right) = (a.next(), b.next());
    let mut last = from;
    std::iter::from_fn(move || {
        // Both end together, now.
        let (l, r) = (left?, right?);
        let until = l.until.min(r.until);
        let code = match (l.code, r.code) {
            (FREE, _) | (_, FREE) => FREE,
            _ if r.number < l.number => r.code,
            _ => l.code,
        };
        if l.until == until {
            left = a.next();
        }
        if r.until == until {
            right = b.next();
        }
        let nanos = until.since(last).as_nanos();
        last = until;
        Some((Taken(code), nanos))
    })
}

/// A holder of the medium.
#[derive(Clone, Copy)]
pub(super) struct Taken(u32);

impl Taken {
    /// The code, or the initiator of an exchange in progress.
    #[inline]
    pub fn by(self) -> Result<usize, NodeId> {
        if self.0 & IN_PROGRESS == 0 { Ok(self.0 as usize) } else { Err(NodeId(self.0 & !IN_PROGRESS)) }
    }
}

/// A duration of this many nanoseconds, after subtractions.
pub(super) fn duration(nanos: u64) -> Duration {
    debug_assert!(nanos < 1 << 63, "more was taken away than there was");
    Duration::from_nanos(nanos)
}
