//! Settings of the receiving half: ACK policies, the window offered, ECN.

use lasthop_registry::{
    Amount, Field, Kind, ParamError, Parameter, Parameters, Shape, Value, params, read_table, table_to_value, words,
    wrong_type,
};
use lasthop_units::{Bytes, Unit};

/// The time at which data is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// At once.
    EverySegment,
    /// Every second full segment, or after a time.
    Delayed,
    /// Every `skip + 1` segments, or after a time. \[gopal2005\]
    Skip(Skip),
}

impl AckPolicy {
    /// Most segments in order that an ACK covers where no ACK is lost.
    pub(crate) fn normal_jump(&self) -> u32 {
        match self {
            AckPolicy::EverySegment => 1,
            AckPolicy::Delayed => 2,
            AckPolicy::Skip(skip) => skip.skip + 1,
        }
    }
}

/// ACK skipping. \[gopal2005\]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skip {
    /// ACKs left out between two that are sent.
    pub skip: u32,
    /// Segments in order before the first ACK is left out.
    pub start_after: Segments,
}

/// The most ACKs left out in a row: a longer pause outlasts any window.
const MOST_SKIPPED: u32 = 1000;

params! {
    struct SkipTable {
        /// Number of ACKs left out between two that are sent, from 0 to 1000.
        skip: u32 = 1,
        /// Number of segments in order that are each acknowledged before the first ACK is left out; "0 segments": none.
        start_after: Segments = Segments(10),
    }
    check |table, path| {
        if table.skip > MOST_SKIPPED {
            let why = (format!("{} ACKs in a row outlast any window", table.skip), format!("at most {MOST_SKIPPED}"));
            return Err(ParamError::new(format!("{path}.skip"), why));
        }
        Ok(())
    }
}

params! {
    struct NoKeys {}
}

const POLICIES: [&str; 3] = ["every_segment", "delayed", "skip"];

/// Shape of a table of `kind` with the keys of `P`.
fn table_of<P: Parameters>(kind: &str, help: &str) -> Shape {
    let word = Shape::Words(vec![kind.into()]);
    let kind = Field { name: "kind", help: help.into(), shape: word, default: None };
    Shape::Table(std::iter::once(kind).chain(P::fields()).collect())
}

impl Parameter for AckPolicy {
    fn shape() -> Shape {
        let words = POLICIES.iter().map(|word| word.to_string()).collect();
        let skip = table_of::<SkipTable>("skip", "One ACK for skip + 1 segments. [gopal2005]");
        Shape::AnyOf(vec![Shape::Words(words), skip])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        let empty = Value::Table(Vec::new());
        let (kind, table, place) = match value {
            Value::Table(_) => (value.get("kind"), value, format!("{path}.kind")),
            _ => (Some(value), &empty, path.to_string()),
        };
        let Some(Value::Text(kind)) = kind else {
            return Err(ParamError::new(
                place,
                (Kind::Missing("an ACK policy is needed".into()), format!("one of: {}", POLICIES.join(", "))),
            ));
        };
        let plain = |policy| read_table(NoKeys::default(), table, path, &["kind"]).map(|_| policy);
        match kind.as_str() {
            "every_segment" => plain(AckPolicy::EverySegment),
            "delayed" => plain(AckPolicy::Delayed),
            "skip" => {
                let SkipTable { skip, start_after } = read_table(SkipTable::default(), table, path, &["kind"])?;
                Ok(AckPolicy::Skip(Skip { skip, start_after }))
            }
            _ => Err(ParamError::new(
                place,
                Kind::UnknownName {
                    of: "ACK policy".into(),
                    name: kind.clone(),
                    known: POLICIES.map(String::from).into(),
                },
            )),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(match *self {
            AckPolicy::EverySegment => Value::text("every_segment"),
            AckPolicy::Delayed => Value::text("delayed"),
            AckPolicy::Skip(Skip { skip, start_after }) => {
                table_to_value(Some("skip"), &SkipTable { skip, start_after })
            }
        })
    }
}

const SEGMENTS: &[Unit] = &[("segments", 1.0), ("segment", 1.0)];

/// A number of segments: "10 segments".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segments(pub u64);

impl Parameter for Segments {
    fn shape() -> Shape {
        Shape::Quantity { what: "a number of segments", example: "10 segments", units: SEGMENTS }
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        let text = match value {
            Value::Text(text) => text.trim(),
            _ => "",
        };
        let number = text.strip_suffix("segments").or_else(|| text.strip_suffix("segment"));
        number
            .and_then(|number| number.trim().parse().ok())
            .map(Segments)
            .ok_or_else(|| ParamError::new(path, wrong_type("a number of segments like \"10 segments\"", value)))
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::text(format!("{} segments", self.0)))
    }
}

words! {
    /// Kind of delay for `ack = "delayed"`.
    pub enum DelayedAck {
        /// Every second full segment, or after a fixed time.
        Fixed = "fixed",
        /// As in Linux: quick ACKs at the start and after trouble, a delay that follows the gaps between segments.
        Adaptive = "adaptive",
    }
}

words! {
    /// Use of explicit congestion notification.
    pub enum EcnUse {
        /// Neither requested nor agreed to.
        Off = "off",
        /// Agreed to if the peer requests it.
        Passive = "passive",
        /// Requested.
        On = "on",
        /// Requested with a count of marked packets. [RFC 9768]
        Accurate = "accurate",
        /// As "passive", and agreed to with a count of marked packets if the peer requests that.
        PassiveAccurate = "passive_accurate",
        /// As "on", and agreed to with a count of marked packets if the peer requests that.
        OnAccurate = "on_accurate",
    }
}

words! {
    /// Segments that carry the AccECN option. [RFC 9768 §3.2.3]
    pub enum AccEcnOption {
        /// None.
        Off = "off",
        /// The first of a connection, those after a change of the ECN field, reports of marks, and three in a round trip.
        Minimal = "minimal",
        /// All in which it fits, until it seems to hinder them.
        Full = "full",
        /// All in which it fits.
        Persist = "persist",
    }
}

words! {
    /// Reading of a count of marks that may have wrapped.
    #[derive(Default)]
    pub enum AceWraps {
        /// As many marks as fit the count.
        #[default]
        Safest = "safest",
        /// As many as fit, unless ACKs cover many segments as a rule: then the fewest.
        Likely = "likely",
    }
}

words! {
    /// Rules for unacceptable segments.
    pub enum ArrivalRules {
        /// As standardised.
        Rfc9293 = "rfc9293",
        /// As in a current Linux kernel: answers to segments without data are limited.
        Linux = "linux",
        /// As in Linux 3.13: some segments get no answer, and data may end beyond the window.
        Linux313 = "linux-3.13",
    }
}

/// The largest window that a receiver offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveWindow {
    /// Always the same.
    Fixed(Amount),
    /// A window that follows the sender's use of it.
    Autotune(Autotune),
}

params! {
    /// A receive buffer that grows with the sender's use of it. [Fisk, Feng 2001]
    #[derive(Copy, Eq)]
    pub struct Autotune {
        /// Buffer at the start; half of it is offered at first: `tcp_rmem`, second value.
        pub initial: Bytes = Bytes(131_072),
        /// Largest buffer: `tcp_rmem`, third value. The share of it that holds payload is offered.
        pub max: Bytes = Bytes(6_291_456),
    }
    check |autotune, path| {
        if autotune.initial.0 < 2048 {
            return Err(ParamError::new(format!("{path}.initial"), "at least 2048 B"));
        }
        if autotune.initial > autotune.max {
            return Err(ParamError::new(format!("{path}.max"), "smaller than initial"));
        }
        Ok(())
    }
}

impl Autotune {
    /// The window that a SYN offers: whole segments, as many as its field can express.
    pub(crate) fn first_window(&self, mss: u64) -> u64 {
        let possible = (self.initial.0 / 2).min(u64::from(u16::MAX));
        if possible > mss { possible / mss * mss } else { possible }
    }
}

impl Parameter for ReceiveWindow {
    fn shape() -> Shape {
        let autotune = table_of::<Autotune>("autotune", "A window that follows what the sender can use.");
        Shape::AnyOf(vec![Amount::shape(), Shape::Words(vec!["autotune".into()]), autotune])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Text(word) if word == "autotune" => Ok(ReceiveWindow::Autotune(Autotune::default())),
            Value::Table(_) if value.get("kind") == Some(&Value::text("autotune")) => {
                read_table(Autotune::default(), value, path, &["kind"]).map(ReceiveWindow::Autotune)
            }
            _ => Amount::parse(value, path).map(ReceiveWindow::Fixed).map_err(|error| error.or(", or \"autotune\"")),
        }
    }
    fn to_value(&self) -> Option<Value> {
        match self {
            ReceiveWindow::Fixed(amount) => amount.to_value(),
            ReceiveWindow::Autotune(autotune) => Some(table_to_value(Some("autotune"), autotune)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(entries: &[(&str, Value)]) -> Value {
        Value::Table(entries.iter().map(|(key, value)| (key.to_string(), value.clone())).collect())
    }

    fn ack(entries: &[(&str, Value)]) -> Result<AckPolicy, String> {
        AckPolicy::parse(&table(entries), "tcp.ack").map_err(|e| e.to_string())
    }

    #[test]
    fn skipping_reads_as_a_table_or_by_its_name() {
        let kind = ("kind", Value::text("skip"));
        let ten = Segments(10);
        assert_eq!(
            AckPolicy::parse(&Value::text("skip"), "ack"),
            Ok(AckPolicy::Skip(Skip { skip: 1, start_after: ten }))
        );
        let some = [kind.clone(), ("skip", Value::Integer(3)), ("start_after", Value::text("0 segments"))];
        assert_eq!(ack(&some), Ok(AckPolicy::Skip(Skip { skip: 3, start_after: Segments(0) })));
        let none = [kind, ("skip", Value::Integer(0))];
        assert_eq!(ack(&none), Ok(AckPolicy::Skip(Skip { skip: 0, start_after: ten })));
    }

    #[test]
    fn mistakes_in_skipping_are_named() {
        let with = |key, value| ack(&[("kind", Value::text("skip")), (key, value)]).unwrap_err();
        assert_eq!(
            with("skip", Value::Integer(-1)),
            "tcp.ack.skip: -1 is out of range; a whole number from 0 to 4294967295"
        );
        assert_eq!(
            with("skip", Value::Integer(5000)),
            "tcp.ack.skip: 5000 ACKs in a row outlast any window; at most 1000"
        );
        let bare = with("start_after", Value::Integer(10));
        assert!(bare.starts_with("tcp.ack.start_after: expected a number of segments"), "{bare}");
        assert!(with("skp", Value::Integer(1)).contains("did you mean \"skip\""));
        let plain = ack(&[("kind", Value::text("delayed")), ("skip", Value::Integer(1))]).unwrap_err();
        assert!(plain.starts_with("tcp.ack.skip: unknown key"), "{plain}");
        assert!(ack(&[("skip", Value::Integer(1))]).unwrap_err().contains("an ACK policy is needed"));
        let unknown = AckPolicy::parse(&Value::text("delay"), "tcp.ack").unwrap_err().to_string();
        assert!(unknown.starts_with("tcp.ack: unknown ACK policy \"delay\"; did you mean \"delayed\""), "{unknown}");
    }

    #[test]
    fn a_window_that_tunes_itself_reads_with_and_without_sizes() {
        let read = |value: &Value| ReceiveWindow::parse(value, "w").map_err(|e| e.to_string());
        assert_eq!(read(&Value::text("autotune")), Ok(ReceiveWindow::Autotune(Autotune::default())));
        let max = table(&[("kind", Value::text("autotune")), ("max", Value::text("1 MiB"))]);
        let expected = Autotune { max: Bytes(1 << 20), ..Autotune::default() };
        assert_eq!(read(&max), Ok(ReceiveWindow::Autotune(expected)));
        let small = table(&[("kind", Value::text("autotune")), ("max", Value::text("64 KiB"))]);
        assert_eq!(read(&small).unwrap_err(), "w.max: smaller than initial");
        assert!(read(&Value::text("much")).unwrap_err().ends_with("or \"autotune\""));
    }
}
