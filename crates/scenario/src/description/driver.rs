//! The driver below the queues of a node: one by its name, or a table.

use lasthop_link::{AirtimeSource, Below, Held, Serving};
use lasthop_registry::{Kind, ParamError, Parameter, Shape, Value, params, refuse, words};
use lasthop_units::{Duration, Packets};
use lasthop_wifi::Driver;

/// More packets are taken for a typing error.
const MOST_PACKETS: u64 = 65_536;

words! {
    /// Drivers that are known by name.
    pub(crate) enum KnownDriver {
        /// none: an A-MPDU is made when the medium is won, and its result is known at once
        Ideal = "ideal",
        /// ath9k of Linux: two A-MPDUs in the hardware, or eight single frames, and their completion at once
        Ath9k = "ath9k",
        /// mt76 of Linux (mt7915): firmware that makes A-MPDUs, with 8128 packets in all, limited by their airtime
        Mt76 = "mt76",
        /// iwlwifi of Linux: firmware that makes A-MPDUs, with 224 packets for each station and TID (802.11ax: 896), and
        /// completions in batches of 2.048 ms
        Iwlwifi = "iwlwifi",
    }
}

params! {
    /// A driver by its properties.
    pub(crate) struct DriverTable {
        /// Most A-MPDUs of an access category that the driver prepares and the hardware holds, from their building to their
        /// completion; default: 2, unless the hardware holds packets.
        pub aggregates: Option<u32> = None,
        /// Most packets of an access category that driver and hardware hold, in place of A-MPDUs: those are made when the
        /// medium is won.
        pub packets: Option<Packets> = None,
        /// The same, for each station and TID.
        pub packets_each: Option<Packets> = None,
        /// Serve stations and TIDs in turn, not the packets in their order; always with `packets_each`.
        pub in_turn: bool = false,
        /// Time from the end of an exchange to its completion, which the driver learns.
        pub completion: Duration = Duration::ZERO,
        /// Report completions in batches: with the first that waits, `completion` after its end.
        pub batched: bool = false,
    }
    check |this, path| {
        let count = [this.aggregates.is_some(), this.packets.is_some(), this.packets_each.is_some()];
        if count.iter().filter(|is_given| **is_given).count() > 1 {
            let message = "aggregates, packets and packets_each are three kinds of hardware";
            return refuse(path, if this.packets.is_some() { "packets" } else { "packets_each" }, (Kind::Conflict(message.into()), "keep one of them"));
        }
        if this.aggregates.is_some_and(|aggregates| !(1..=64).contains(&aggregates)) {
            return refuse(path, "aggregates", "from 1 to 64 A-MPDUs");
        }
        for (key, limit) in [("packets", this.packets), ("packets_each", this.packets_each)] {
            if limit.is_some_and(|limit| !(1..=MOST_PACKETS).contains(&limit.0)) {
                return refuse(path, key, "from 1 to 65536 packets");
            }
        }
        if this.in_turn && this.packets.is_none() && this.packets_each.is_none() {
            return refuse(path, "in_turn", ("the hardware holds A-MPDUs", "set packets, or remove this key"));
        }
        if this.completion > Duration::from_secs(1) {
            return refuse(path, "completion", "at most 1 s");
        }
        Ok(())
    }
}

/// A driver that a scenario chose.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DriverChoice {
    Known(KnownDriver),
    Table(DriverTable),
}

/// A driver, as the layers of a node see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeDriver {
    /// for the MAC; `None`: ideal
    pub mac: Option<Driver>,
    /// for the queue
    pub below: Below,
}

/// The node for which a driver is made.
#[derive(Clone, Copy)]
pub(crate) struct DrivenNode {
    pub makes_ampdus: bool,
    /// MPDUs of a Block Ack window of its BSS
    pub block_ack_window: u16,
}

impl NodeDriver {
    /// No driver.
    pub(crate) const IDEAL: NodeDriver = NodeDriver { mac: None, below: Below::IDEAL };

    /// Hardware for which the driver prepares A-MPDUs.
    fn of_aggregates(aggregates: u32) -> NodeDriver {
        NodeDriver { mac: Some(at_once(Some(aggregates))), below: Below::IDEAL }
    }

    /// Hardware with packets.
    pub(crate) fn of_packets(packets: u32, serving: Serving) -> NodeDriver {
        NodeDriver { mac: Some(at_once(None)), below: below(packets, serving) }
    }

    /// The same for an AP, which pulls from no socket: a FIFO whose packets are completed at once is a matter of its queue.
    pub(crate) fn of_ap(self) -> NodeDriver {
        let is_fifo = self.below.held.is_some_and(|held| held.serving == Serving::Fifo);
        let mac = self.mac.filter(|driver| !is_fifo || *driver != at_once(None));
        NodeDriver { mac, ..self }
    }

    /// The same with late completions.
    fn completed(mut self, completion: Duration, batched: bool) -> NodeDriver {
        self.mac = self.mac.map(|driver| Driver { completion, batched, ..driver });
        self
    }
}

fn at_once(aggregates: Option<u32>) -> Driver {
    Driver { aggregates, completion: Duration::ZERO, batched: false }
}

fn below(packets: u32, serving: Serving) -> Below {
    Below { held: Some(Held { packets, serving }), ..Below::IDEAL }
}

impl DriverChoice {
    /// Returns whether it is that of no system.
    pub(crate) fn is_ideal(&self) -> bool {
        *self == DriverChoice::Known(KnownDriver::Ideal)
    }

    /// Returns whether it is for A-MPDUs only.
    pub(crate) fn needs_ampdus(&self) -> bool {
        matches!(self, DriverChoice::Table(table) if table.packets.is_none() && table.packets_each.is_none())
    }

    /// The driver of a node.
    pub(crate) fn driver(&self, node: DrivenNode) -> NodeDriver {
        match self {
            DriverChoice::Known(known) => known.driver(node),
            DriverChoice::Table(table) => table.driver(),
        }
    }
}

impl KnownDriver {
    fn driver(&self, node: DrivenNode) -> NodeDriver {
        match self {
            KnownDriver::Ideal => NodeDriver::IDEAL,
            // `ATH_AGGR_MIN_QDEPTH`: one A-MPDU in the air, and one that is ready. `ATH_NON_AGGR_MIN_QDEPTH`.
            KnownDriver::Ath9k if node.makes_ampdus => NodeDriver::of_aggregates(2),
            KnownDriver::Ath9k => NodeDriver::of_packets(8, Serving::Fifo),
            // mt7915: `MT7915_TOKEN_SIZE` less `MT76_TOKEN_FREE_THR`.
            KnownDriver::Mt76 => NodeDriver::of_packets(8192 - 64, Serving::Turns),
            KnownDriver::Iwlwifi => {
                // An eighth of `IWL_DEFAULT_QUEUE_SIZE`, or of `IWL_MIN_256_BA_QUEUE_SIZE_HE`, stays free. `IWL_HOST_INT_TIMEOUT_DEF`.
                let slots = if node.block_ack_window > 64 { 1024 } else { 256 };
                let held = NodeDriver::of_packets(slots / 8 * 7, Serving::EachInTurn);
                let below = Below { airtime: AirtimeSource::None, ..held.below };
                NodeDriver { below, ..held }.completed(Duration::from_micros(64 * 32), true)
            }
        }
    }
}

impl DriverTable {
    fn driver(&self) -> NodeDriver {
        let of_packets = |packets: Packets, serving| NodeDriver::of_packets(packets.0 as u32, serving);
        let serving = if self.in_turn { Serving::Turns } else { Serving::Fifo };
        let held = match (self.packets, self.packets_each) {
            (Some(packets), _) => of_packets(packets, serving),
            (None, Some(packets)) => of_packets(packets, Serving::EachInTurn),
            (None, None) => NodeDriver::of_aggregates(self.aggregates.unwrap_or(2)),
        };
        held.completed(self.completion, self.batched)
    }
}

impl Parameter for DriverChoice {
    fn shape() -> Shape {
        Shape::AnyOf(vec![KnownDriver::shape(), DriverTable::shape()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Table(_) => DriverTable::parse(value, path).map(DriverChoice::Table),
            _ => KnownDriver::parse(value, path).map(DriverChoice::Known),
        }
    }
    fn to_value(&self) -> Option<Value> {
        match self {
            DriverChoice::Known(known) => known.to_value(),
            DriverChoice::Table(table) => table.to_value(),
        }
    }
}
