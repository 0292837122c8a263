//! PPDUs of several users: parts that begin together, on resource units, and share the time of the whole by their tones.
//!
//! A capture has the parts one after the other, so that the whole is known with the first PPDU that is not among them.

use lasthop_observe::{LinkId, Record};
use lasthop_units::{Duration, Time};

use crate::events::{Event, Events};
use crate::ppdu::Kind;
use crate::site::id;
use crate::unit::Unit;

/// Parts of one PPDU begin within this time by any clock, and no other PPDU follows so soon: the preamble of HE and a symbol
/// are longer. [802.11ax-2021 §27.3.11]
pub(crate) const TOGETHER: Duration = Duration::from_micros(40);

/// A part that is on the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub start: Time,
    pub end: Time,
    pub unit: Unit,
    pub channel: u32,
    pub kind: Kind,
    /// its sender, if that is known
    pub node: Option<u32>,
    pub link: Option<LinkId>,
}

/// The parts of the latest PPDU of several users.
#[derive(Default)]
pub(crate) struct Parts(Vec<Part>);

impl Parts {
    /// Whether a part belongs to the same PPDU as those before it.
    pub(crate) fn go_on_with(&self, part: &Part) -> bool {
        self.0.first().is_some_and(|first| {
            let apart = part.start.since(first.start).max(first.start.since(part.start));
            (first.unit.is_triggered, first.channel) == (part.unit.is_triggered, part.channel) && apart < TOGETHER
        })
    }

    pub(crate) fn push(&mut self, part: Part) {
        self.0.push(part);
    }

    /// The beginning of the PPDU, of which events are not told yet.
    pub(crate) fn since(&self) -> Option<Time> {
        self.0.iter().map(|part| part.start).min()
    }

    /// The whole is there: its events, and to `spent` each part with its share of the time within `window`.
    pub(crate) fn settle(&mut self, window: (Time, Time), events: &mut Events, mut spent: impl FnMut(&Part, Duration)) {
        let Some(start) = self.since() else { return };
        let end = self.0.iter().map(|part| part.end).fold(start, Time::max);
        let channel = self.0[0].channel;
        events.push(start, Event::OnAir { channel, begins: true });
        events.push(end, Event::OnAir { channel, begins: false });
        let all: u32 = self.0.iter().map(|part| u32::from(part.unit.tones)).sum();
        let within = end.min(window.1).since(start.max(window.0));
        let mut before = 0;
        for part in self.0.drain(..) {
            let tones = u32::from(part.unit.tones);
            spent(&part, within.part(before, before + tones, all));
            if let Some(node) = part.node {
                let (node, link) = (id(node), part.link);
                events.push(start, Event::Told(Record::PartOn { node, link, before, tones, all }));
                events.push(end, Event::Told(Record::PartOff { node, link }));
            }
            before += tones;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_share_the_time_by_tones() {
        let (us, mut parts) = (|us| Time::ZERO + Duration::from_micros(us), Parts::default());
        let part = |start, node, unit| Part {
            start: us(start),
            end: us(start + 1000),
            unit: Unit { is_triggered: true, tones: unit },
            channel: 0,
            kind: Kind::Data,
            node: Some(node),
            link: None,
        };
        parts.push(part(100, 1, 26));
        assert!(parts.go_on_with(&part(101, 2, 106)) && !parts.go_on_with(&part(1116, 2, 106)));
        parts.push(part(101, 2, 106));
        let (mut events, mut shares) = (Events::default(), Vec::new());
        parts.settle((Time::ZERO, us(2000)), &mut events, |part, share| shares.push((part.node, share.as_nanos())));
        // 1001 us of both: 26 of 132 tones, and 106.
        assert_eq!(shares, [(Some(1), 197_166), (Some(2), 803_834)]);
        let told = std::iter::from_fn(|| events.pop_before(Time::NEVER)).map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(told, [us(100), us(100), us(100), us(1101), us(1101), us(1101)]);
        assert!(parts.since().is_none());
    }
}
