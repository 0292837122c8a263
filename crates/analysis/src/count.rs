//! Counts of packets by direction, as protocol analysers have them: retransmissions and empty segments included.

use serde_json::{Map, Value as Json, json};

/// A packet, for counting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// bytes of payload
    pub bytes: u32,
    /// its payload was sent before
    pub is_retransmission: bool,
    /// a SYN or a FIN that was sent before
    pub is_repeated: bool,
}

/// Packets of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub packets: u64,
    pub with_data: u64,
    /// payload, retransmissions included
    pub bytes: u64,
    pub retransmissions: u64,
    /// SYNs and FINs among the packets that were sent before
    pub repeated: u64,
}

impl Count {
    pub(crate) fn add(&mut self, counted: Counted) {
        self.packets += 1;
        self.with_data += u64::from(counted.bytes > 0);
        self.bytes += u64::from(counted.bytes);
        self.retransmissions += u64::from(counted.is_retransmission);
        self.repeated += u64::from(counted.is_repeated);
    }

    /// Its form in the document.
    pub(crate) fn to_json(self, is_tcp: bool) -> Map<String, Json> {
        let mut row = Map::new();
        row.insert("packets_seen".into(), json!(self.packets));
        row.insert("packets_with_data_seen".into(), json!(self.with_data));
        row.insert("bytes_seen".into(), json!(self.bytes));
        if is_tcp {
            row.insert("retransmissions_seen".into(), json!(self.retransmissions));
            row.insert("syn_fin_retransmissions_seen".into(), json!(self.repeated));
        }
        row
    }
}

/// Packets of both transports in both directions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// by transport (UDP, TCP) and direction (down, up)
    counts: [[Count; 2]; 2],
}

impl Counts {
    pub(crate) fn add(&mut self, is_tcp: bool, is_up: bool, counted: Counted) {
        self.counts[usize::from(is_tcp)][usize::from(is_up)].add(counted);
    }

    pub(crate) fn of(&self, is_tcp: bool, is_up: bool) -> Count {
        self.counts[usize::from(is_tcp)][usize::from(is_up)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_counted_by_transport_and_direction() {
        let mut counts = Counts::default();
        counts.add(true, true, Counted { bytes: 100, is_retransmission: true, is_repeated: false });
        counts.add(true, true, Counted { is_repeated: true, ..Counted::default() });
        let expected = Count { packets: 2, with_data: 1, bytes: 100, retransmissions: 1, repeated: 1 };
        assert_eq!((counts.of(true, true), counts.of(true, false)), (expected, Count::default()));
        assert_eq!(counts.of(false, true).to_json(false).len(), 3);
    }
}
