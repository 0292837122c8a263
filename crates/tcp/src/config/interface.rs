//! Keys about the sender's own interface.

use lasthop_registry::{ParamError, Parameter, Shape, Value, words};
use lasthop_units::Duration;

/// The data of a connection that may wait in the queue of its own host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmallQueue {
    /// All that the window allows.
    Off,
    /// As much as Linux lets wait at an interface of this kind.
    On,
    /// The data that leaves in this time.
    For(Duration),
}

impl SmallQueue {
    /// The data that may wait, as a time; Linux takes `usual` for interfaces of this kind.
    pub(crate) fn time(self, usual: Duration) -> Option<Duration> {
        match self {
            SmallQueue::Off => None,
            SmallQueue::On => Some(usual),
            SmallQueue::For(time) => Some(time),
        }
    }
}

impl Parameter for SmallQueue {
    fn shape() -> Shape {
        Shape::AnyOf(vec![Shape::Words(vec!["off".into(), "on".into()]), Duration::shape()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Text(word) if word == "off" => Ok(SmallQueue::Off),
            Value::Text(word) if word == "on" => Ok(SmallQueue::On),
            _ => Duration::parse(value, path).map(SmallQueue::For).map_err(|error| error.or(", \"on\" or \"off\"")),
        }
    }
    fn to_value(&self) -> Option<Value> {
        match self {
            SmallQueue::Off => Some(Value::text("off")),
            SmallQueue::On => Some(Value::text("on")),
            SmallQueue::For(time) => time.to_value(),
        }
    }
}

words! {
    /// Reaction of a sender to a packet that its own host's queue refuses.
    pub enum LocalDrop {
        /// The window falls at once, as by a congestion mark.
        Cwr = "cwr",
        /// No reaction: the packet is found lost like any other.
        Unnoticed = "unnoticed",
    }
}

words! {
    /// Segments that the host of a receiver joins before TCP sees them.
    pub enum ReceiveOffload {
        /// None: TCP takes each segment by itself.
        Off = "off",
        /// Those in order that came at one instant, as the MPDUs of an A-MPDU do; up to 64 KiB.
        Ampdu = "ampdu",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_queue_reads_as_a_word_or_a_duration() {
        let read = |word: &str| SmallQueue::parse(&Value::text(word), "tcp.small_queue");
        assert_eq!(read("off"), Ok(SmallQueue::Off));
        assert_eq!(read("on"), Ok(SmallQueue::On));
        assert_eq!(read("8 ms"), Ok(SmallQueue::For(Duration::from_millis(8))));
        assert!(read("8").unwrap_err().to_string().contains("\"on\" or \"off\""));
    }
}
