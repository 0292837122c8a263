//! Who has the medium, as nodes with the same hearing notice it: a step function of time, kept as a log.
//!
//! ```text
//! exchanges     ├─ a ─┤   ├─── b ───┤
//!                           ├─ c ─┤
//! log        free │ a │ free │   b   │ free …      of several the one that began first has it
//! ```
//! Flows that wait look the log up when they cease to wait, not whenever it changes. Whose exchange a segment was stands
//! there as a code: 0 for nobody, then the rivals in the order in which they were first met ([`Rivals`]).

use lasthop_units::{Duration, Time};

use super::term::Rival;
use crate::{LinkId, NodeId};

/// Nobody has the medium.
pub(super) const FREE: u32 = 0;

/// An exchange has it whose outcome is not known yet; the rest of the code is the node that began it.
const IN_PROGRESS: u32 = 1 << 31;

/// Rivals by the codes that stand for them.
#[derive(Clone, Default)]
pub(super) struct Rivals {
    names: Vec<Rival>,
    of_links: Vec<u32>,
    collisions: u32,
    beacons: u32,
}

impl Rivals {
    /// The code of a rival.
    pub fn code(&mut self, rival: Rival) -> u32 {
        let known = match rival {
            Rival::Collisions => &mut self.collisions,
            Rival::Beacons => &mut self.beacons,
            Rival::Link(LinkId(link)) => {
                let link = link as usize;
                if self.of_links.len() <= link {
                    self.of_links.resize(link + 1, 0);
                }
                &mut self.of_links[link]
            }
        };
        if *known == 0 {
            self.names.push(rival);
            *known = self.names.len() as u32;
        }
        *known
    }

    /// How many codes there are, that of nobody among them.
    pub fn codes(&self) -> usize {
        self.names.len() + 1
    }

    /// Whom a code stands for.
    pub fn name(&self, code: usize) -> Option<Rival> {
        code.checked_sub(1).map(|place| self.names[place])
    }
}

/// Who had the medium, and until when.
#[derive(Clone, Copy)]
struct Segment {
    until: Time,
    /// Exchanges are numbered in the order in which they begin.
    number: u32,
    code: u32,
}

/// A place in the log, for one flow.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub position: u64,
    /// How often the medium had become free, not counted that it is.
    turns: u32,
}

/// What some nodes notice of the medium.
#[derive(Clone)]
pub(super) struct Ear {
    /// Whose exchange has it, and the number of that.
    holder: Option<(NodeId, u32)>,
    since: Time,
    log: Vec<Segment>,
    /// The position of the first segment that is kept.
    first: u64,
    /// How often it has become free.
    turns: u32,
    /// How long each has had it until `since`, by code; for hearing that several nodes share.
    clocks: Option<Vec<u64>>,
}

impl Ear {
    /// A free medium; `shared`: several nodes have this hearing.
    pub fn new(since: Time, shared: bool) -> Ear {
        let clocks = shared.then(|| vec![0]);
        Ear { holder: None, since, log: Vec::new(), first: 0, turns: 1, clocks }
    }

    pub fn holder(&self) -> Option<NodeId> {
        self.holder.map(|(node, _)| node)
    }

    pub fn since(&self) -> Time {
        self.since
    }

    /// How long each rival has had it, by code, up to the last change.
    pub fn clocks(&self) -> Option<&[u64]> {
        self.clocks.as_deref()
    }

    /// Whether `number` would have the medium if it were noticed now.
    pub fn yields_to(&self, number: u32) -> bool {
        self.holder.is_none_or(|(_, holds)| number < holds)
    }

    /// `next` has the medium from now on. `code`: who has had it, if it is known; else the position of the segment, whose
    /// code is to follow.
    pub fn turn(&mut self, now: Time, code: Option<u32>, next: Option<(NodeId, u32)>) -> Option<u64> {
        let (number, unknown) = self.holder.map_or((0, FREE), |(node, number)| (number, IN_PROGRESS | node.0));
        if let (Some(clocks), Some(code)) = (&mut self.clocks, code) {
            let code = code as usize;
            if clocks.len() <= code {
                clocks.resize(code + 1, 0);
            }
            clocks[code] += now.since(self.since).as_nanos();
        }
        self.log.push(Segment { until: now, number, code: code.unwrap_or(unknown) });
        self.since = now;
        self.holder = next;
        self.turns = self.turns.wrapping_add(u32::from(next.is_none()));
        code.is_none().then(|| self.end() - 1)
    }

    /// Tells who it was that had the medium at a position.
    pub fn resolve(&mut self, position: u64, code: u32) {
        if let Some(place) = position.checked_sub(self.first) {
            self.log[place as usize].code = code;
        }
    }

    /// The books begin again.
    pub fn start(&mut self, now: Time) {
        self.forget();
        self.since = now;
        if let Some(clocks) = &mut self.clocks {
            clocks.fill(0);
        }
    }

    /// Drops the log: all have looked it up to its end.
    pub fn forget(&mut self) {
        self.first = self.end();
        self.log.clear();
    }

    /// How many segments are kept.
    pub fn length(&self) -> usize {
        self.log.len()
    }

    fn end(&self) -> u64 {
        self.first + self.log.len() as u64
    }

    /// The present.
    pub fn mark(&self) -> Mark {
        Mark { position: self.end(), turns: self.turns.wrapping_sub(u32::from(self.holder.is_none())) }
    }

    /// How many segments have ended since `mark`.
    pub fn passed(&self, mark: Mark) -> usize {
        (self.end() - mark.position) as usize
    }

    /// Who has had it all the time from `mark` to the present, by code, if that is one, who is known.
    #[inline(always)]
    pub fn only_one_since(&self, mark: Mark, now: Time) -> Option<usize> {
        let last = self.log.last().filter(|_| self.passed(mark) == 1 && self.since == now)?;
        Taken(last.code).by().ok()
    }

    /// Whether it was free at any time since `mark`, for however short.
    pub fn was_free_since(&self, mark: Mark) -> bool {
        self.turns != mark.turns
    }

    fn now_code(&self) -> u32 {
        self.holder.map_or(FREE, |(node, _)| IN_PROGRESS | node.0)
    }

    /// Tells who has had the medium, and for how many nanoseconds, from `from`, where the log stood at `mark`, until `now`.
    #[inline(always)]
    pub fn look_up(&self, from: Time, mark: Mark, now: Time, mut tell: impl FnMut(Taken, u64)) {
        let mut last = from;
        let mut logged = self.log[(mark.position - self.first) as usize..].iter();
        let mut is_past = true;
        while is_past {
            let segment = logged.next();
            is_past = segment.is_some();
            let (until, code) = segment.map_or_else(|| (now, self.now_code()), |segment| (segment.until, segment.code));
            tell(Taken(code), until.since(last).as_nanos());
            last = until;
        }
    }

    /// The same with whose exchange it was, for [`look_up_both`].
    fn segments(&self, mark: Mark, now: Time) -> impl Iterator<Item = Segment> {
        let open = Segment { until: now, number: self.holder.map_or(0, |h| h.1), code: self.now_code() };
        self.log[(mark.position - self.first) as usize..].iter().copied().chain([open])
    }
}

/// As [`Ear::look_up`] where packets wait at two nodes: who of them has a free medium is not kept waiting, else both wait for
/// the exchange that began first.
pub(super) fn look_up_both(
    ears: [&Ear; 2],
    from: Time,
    marks: [Mark; 2],
    now: Time,
) -> impl Iterator<Item = (Taken, u64)> {
    let [mut a, mut b] = [0, 1].map(|side| ears[side].segments(marks[side], now));
    let (mut left, mut right) = (a.next(), b.next());
    let mut last = from;
    std::iter::from_fn(move || {
        // Both end together, with the present.
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

/// Who had the medium.
#[derive(Clone, Copy)]
pub(super) struct Taken(u32);

impl Taken {
    /// By code, or the node that began an exchange that is in progress.
    #[inline]
    pub fn by(self) -> Result<usize, NodeId> {
        if self.0 & IN_PROGRESS == 0 { Ok(self.0 as usize) } else { Err(NodeId(self.0 & !IN_PROGRESS)) }
    }
}

/// A duration of so many nanoseconds, which may stand for one to be taken away.
pub(super) fn duration(nanos: u64) -> Duration {
    debug_assert!(nanos < 1 << 63, "more was taken away than there was");
    Duration::from_nanos(nanos)
}
