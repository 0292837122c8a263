//! The quantities of a run, as data: each quantity has one row, with its name, its scope, its unit and its meaning.
//!
//! [`quantities!`](crate::quantities) declares the rows beside the code that computes the values. Each row makes a
//! constant whose type has the scope, the type of the values and where they appear, so that a value fits only the right
//! place.

use std::marker::PhantomData;

/// The kind of entity that a quantity belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// all flows together
    Totals,
    /// the channels
    Medium,
    /// a flow
    Flow,
    /// a node
    Node,
    /// a directed link
    Link,
    /// the interface queue of a node
    Queue,
    /// a direction of an AP's wired link
    Wire,
    /// the simulator itself
    Simulator,
}

impl Scope {
    /// Every scope, in the order of listings.
    pub const ALL: [Scope; 8] = [
        Scope::Totals,
        Scope::Medium,
        Scope::Flow,
        Scope::Node,
        Scope::Link,
        Scope::Queue,
        Scope::Wire,
        Scope::Simulator,
    ];

    /// The word for one entity.
    pub const fn word(self) -> &'static str {
        match self {
            Scope::Totals => "totals",
            Scope::Medium => "medium",
            Scope::Flow => "flow",
            Scope::Node => "node",
            Scope::Link => "link",
            Scope::Queue => "queue",
            Scope::Wire => "wire",
            Scope::Simulator => "simulator",
        }
    }

    /// Its table in a run of the result file.
    pub const fn table(self) -> &'static str {
        match self {
            Scope::Flow => "flows",
            Scope::Node => "nodes",
            Scope::Link => "links",
            Scope::Queue => "queues",
            Scope::Wire => "wires",
            Scope::Totals | Scope::Medium | Scope::Simulator => self.word(),
        }
    }

    /// The placeholder in a dotted name between the table and the quantity; `None` if there is one row.
    pub const fn entity(self) -> Option<&'static str> {
        match self {
            Scope::Flow => Some("ID"),
            Scope::Node => Some("NAME"),
            Scope::Link => Some("NODE.PEER"),
            Scope::Queue => Some("NODE"),
            Scope::Wire => Some("AP.up|down"),
            Scope::Totals | Scope::Medium | Scope::Simulator => None,
        }
    }
}

/// The kind of number of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// a number of items
    Count,
    /// an amount, such as a length of time
    Amount,
    /// the value at an instant
    Level,
    /// a mean
    Mean,
    /// the smallest value
    Minimum,
    /// the greatest value
    Maximum,
    /// a quantile
    Quantile,
    /// a measure of the variation of values
    Variation,
    /// an amount per time
    Rate,
    /// a part of a whole, from 0 to 1
    Fraction,
    /// a relative frequency of events, from 0 to 1
    Probability,
    /// an index from 0 to 1
    Index,
    /// a value on a scale of its own
    Score,
    /// several values
    List,
}

impl Kind {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Count => "count",
            Kind::Amount => "amount",
            Kind::Level => "level",
            Kind::Mean => "mean",
            Kind::Minimum => "minimum",
            Kind::Maximum => "maximum",
            Kind::Quantile => "quantile",
            Kind::Variation => "variation",
            Kind::Rate => "rate",
            Kind::Fraction => "fraction",
            Kind::Probability => "probability",
            Kind::Index => "index",
            Kind::Score => "score",
            Kind::List => "list",
        }
    }

    /// The greatest possible value, if the kind has one.
    pub const fn bound(self) -> Option<f64> {
        match self {
            Kind::Fraction | Kind::Probability | Kind::Index => Some(1.0),
            _ => None,
        }
    }
}

/// The unit in which a quantity is stored, and the one in which people read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// none
    One,
    /// bit/s, read as Mbit/s
    BitsPerSecond,
    /// bytes
    Bytes,
    /// seconds, read as seconds: durations that people notice
    Seconds,
    /// seconds, read as milliseconds: delays in the network
    Delay,
    /// packets
    Packets,
    /// TCP segments
    Segments,
}

impl Unit {
    /// The stored unit.
    pub const fn word(self) -> &'static str {
        match self {
            Unit::One => "",
            Unit::BitsPerSecond => "bit/s",
            Unit::Bytes => "B",
            Unit::Seconds | Unit::Delay => "s",
            Unit::Packets => "packets",
            Unit::Segments => "segments",
        }
    }
}

/// How a number is shown to people.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// the unit
    pub unit: &'static str,
    /// factor from the stored number
    pub scale: f64,
    /// digits after the decimal point
    pub decimals: u32,
}

/// The row of a quantity.
#[derive(Debug)]
pub struct Definition {
    /// its key in results, e.g. `goodput_bps`
    pub name: &'static str,
    /// its name in tables and on axes, e.g. "goodput"
    pub label: &'static str,
    /// its scope
    pub scope: Scope,
    /// its kind of number
    pub kind: Kind,
    /// its unit
    pub unit: Unit,
    /// the type of its values
    pub form: Form,
    /// where it appears
    pub presence: Presence,
    /// the only transport, traffic or node that has it, e.g. "voip"; `None` if all have it
    pub only: Option<&'static str>,
    /// its definition
    pub meaning: &'static str,
}

impl Definition {
    /// The display form of its values.
    pub const fn shown(&self) -> Shown {
        let (unit, scale, decimals) = match (self.unit, self.kind) {
            (Unit::BitsPerSecond, _) => ("Mbit/s", 1e-6, 3),
            (Unit::Seconds, _) => ("s", 1.0, 3),
            (Unit::Delay, Kind::Variation) => ("ms", 1e3, 2),
            (Unit::Delay, _) => ("ms", 1e3, 1),
            (Unit::Bytes, _) => ("B", 1.0, 0),
            (Unit::Packets, _) => ("packets", 1.0, 1),
            (Unit::Segments, _) => ("segments", 1.0, 1),
            (Unit::One, Kind::Fraction) => ("%", 100.0, 2),
            (Unit::One, Kind::Probability | Kind::Index) => ("", 1.0, 4),
            (Unit::One, Kind::Score | Kind::Mean) => ("", 1.0, 2),
            (Unit::One, _) => ("", 1.0, 1),
        };
        Shown { unit, scale, decimals }
    }

    /// Its dotted name in a result, with a word in place of the entity; `None` for a time series only.
    pub fn path(&self) -> Option<String> {
        let entity = self.scope.entity().map_or(String::new(), |entity| format!("{entity}."));
        self.presence.in_summary().then(|| format!("{}.{entity}{}", self.scope.table(), self.name))
    }

    /// Whether `other` is the same quantity: names are unique within a scope.
    pub fn is(&self, other: &Definition) -> bool {
        self.scope == other.scope && self.name == other.name
    }
}

/// The type of a quantity's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// whole numbers
    Count,
    /// numbers
    Number,
    /// lists of numbers
    List,
}

/// Where a quantity appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// in the summary of a run
    Summary,
    /// as a time series
    Series,
    /// both
    Both,
    /// as a time series that is left out if it was zero throughout
    RareSeries,
    /// in the summary, and as such a time series
    BothRare,
    /// in the summary of a run whose scenario has the feature switched on
    Feature,
}

impl Presence {
    /// Whether the summary of a run has it.
    pub const fn in_summary(self) -> bool {
        !matches!(self, Presence::Series | Presence::RareSeries)
    }
    /// Whether each row of the summary has its key, if the quantity is not for some entities only.
    pub const fn in_every_row(self) -> bool {
        matches!(self, Presence::Summary | Presence::Both | Presence::BothRare)
    }
    /// Whether it has a time series.
    pub const fn in_series(self) -> bool {
        !matches!(self, Presence::Summary | Presence::Feature)
    }
    /// Whether its time series is left out if it was zero throughout.
    pub const fn is_rare(self) -> bool {
        matches!(self, Presence::RareSeries | Presence::BothRare)
    }
}

/// The scopes as types.
pub mod scope {
    use super::Scope;

    /// A scope as a type.
    pub trait Scoped {
        /// the scope
        const SCOPE: Scope;
    }

    macro_rules! scopes {
        ($($name:ident),*) => { $(
            #[doc = concat!("[`Scope::", stringify!($name), "`] as a type.")]
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}
            impl Scoped for $name {
                const SCOPE: Scope = Scope::$name;
            }
        )* };
    }
    scopes!(Totals, Medium, Flow, Node, Link, Queue, Wire, Simulator);
}

/// The places where a quantity appears as types.
pub mod presence {
    use super::Presence;

    /// A presence as a type.
    pub trait Present {
        /// the presence
        const PRESENCE: Presence;
    }
    /// It is in the summary.
    pub trait InSummary: Present {}
    /// Its key is in every row.
    pub trait InEveryRow: InSummary {}
    /// Its key is in the rows of runs with its feature.
    pub trait OfFeature: InSummary {}
    /// It has a time series.
    pub trait InSeries: Present {}
    /// It has a time series that is left out if it was zero throughout.
    pub trait InRareSeries: Present {}

    macro_rules! presences {
        ($($name:ident: $($place:ident),*;)*) => { $(
            #[doc = concat!("[`Presence::", stringify!($name), "`] as a type.")]
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}
            impl Present for $name {
                const PRESENCE: Presence = Presence::$name;
            }
            $( impl $place for $name {} )*
        )* };
    }
    presences! {
        Summary: InSummary, InEveryRow;
        Series: InSeries;
        Both: InSummary, InEveryRow, InSeries;
        RareSeries: InRareSeries;
        BothRare: InSummary, InEveryRow, InRareSeries;
        Feature: InSummary, OfFeature;
    }
}

/// A quantity of scope `S` with values of type `V`, which appears where `P` says.
#[derive(Debug)]
pub struct Quantity<S, V, P> {
    definition: &'static Definition,
    types: PhantomData<(S, V, P)>,
}

impl<S, V, P> Clone for Quantity<S, V, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, V, P> Copy for Quantity<S, V, P> {}

impl<S, V, P> Quantity<S, V, P> {
    /// The quantity of a row; [`quantities!`](crate::quantities) calls it with the types of the row.
    #[doc(hidden)]
    pub const fn of(definition: &'static Definition) -> Self {
        Quantity { definition, types: PhantomData }
    }
    /// Its row.
    pub const fn definition(&self) -> &'static Definition {
        self.definition
    }
}

/// Declares quantities, a row each: the doc comment is the definition; then follow the name of the constant, the scope,
/// the type of the values (`u64`, `f64` or `Vec<f64>`), where it [appears](Presence), the key in results, the kind, the
/// unit, the name in tables, and after `only` the only entities that have it.
///
/// ```
/// use lasthop_observe::{Row, scope};
/// lasthop_observe::quantities! {
///     /// Mean opinion score. [G.107]
///     MOS: Flow, f64, Summary => "mos", Score, One, "MOS", only "voip";
/// }
/// let mut row: Row<scope::Flow> = Row::default();
/// row.put(MOS, 4.1);
/// assert_eq!(row.get(MOS), Some(4.1));
/// assert_eq!(QUANTITIES[0].meaning, "Mean opinion score. [G.107]");
/// ```
///
/// A quantity of another scope, or a value of another type, does not compile:
/// ```compile_fail
/// lasthop_observe::quantities! {
///     /// Drops.
///     DROPS: Node, u64, Summary => "drops", Count, Packets, "drops";
/// }
/// let mut row: lasthop_observe::Row<lasthop_observe::scope::Flow> = Default::default();
/// row.put(DROPS, 1);
/// ```
#[macro_export]
macro_rules! quantities {
    ($(
        $(#[doc = $meaning:literal])+
        $constant:ident: $scope:ident, $value:ty, $presence:ident
            => $name:literal, $kind:ident, $unit:ident, $label:literal $(, only $only:literal)?;
    )+) => {
        $(
            $(#[doc = $meaning])+
            pub const $constant: $crate::Quantity<$crate::scope::$scope, $value, $crate::presence::$presence> =
                $crate::Quantity::of(&$crate::Definition {
                    name: $name,
                    label: $label,
                    scope: <$crate::scope::$scope as $crate::scope::Scoped>::SCOPE,
                    kind: $crate::Kind::$kind,
                    unit: $crate::Unit::$unit,
                    form: <$value as $crate::Value>::FORM,
                    presence: <$crate::presence::$presence as $crate::presence::Present>::PRESENCE,
                    only: $crate::only!($($only)?),
                    meaning: concat!($($meaning),+).trim_ascii(),
                });
        )+

        /// The quantities of this file, in the order of listings.
        pub const QUANTITIES: &[&$crate::Definition] = &[$( $constant.definition() ),+];
    };
}

/// An optional word.
#[doc(hidden)]
#[macro_export]
macro_rules! only {
    () => {
        None
    };
    ($word:literal) => {
        Some($word)
    };
}
