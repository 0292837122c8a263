//! Tables of a recording: their columns, and rows that are not handed over yet.

use lasthop_units::{DataRate, Duration, Time};

use super::quic::LossTrigger;
use crate::detail::{CaState, Host, Passage, PpduKind, QuicFrameKind, QuicSpace};
use crate::{DropReason, FlowId, Hold, LinkId, NodeId, Outcome, QueueLayer};

/// The value for none, among numbers of four bytes.
pub const NONE: u32 = u32::MAX;

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// times in nanoseconds, of eight bytes, increasing
    Times,
    /// lengths of time in nanoseconds, of eight bytes
    Nanoseconds,
    /// whole numbers of eight bytes
    Large,
    /// whole numbers of four bytes
    Whole,
    /// whole numbers of four bytes that increase from row to row
    Serial,
    /// real numbers, as the bits of their eight bytes; NaN for none
    Real,
    /// 0 or 1, in four bytes
    Truth,
    /// indices of these words, in four bytes
    Words(&'static [&'static str]),
    /// nodes, by number
    Nodes,
    /// flows, by number
    Flows,
    /// links, by number
    Links,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// its name
    pub name: &'static str,
    /// its content
    pub cells: Cells,
    /// whether a row may be without a value
    pub optional: bool,
    /// meaning of its values
    pub meaning: &'static str,
}

/// A table of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// its name
    pub name: &'static str,
    /// meaning of a row
    pub meaning: &'static str,
    /// its columns, in order
    pub columns: &'static [Column],
}

/// The values of a column, a number for each row.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// numbers of four bytes; [`NONE`] for no value
    Four(&'a [u32]),
    /// numbers of eight bytes; `u64::MAX` or NaN for none
    Eight(&'a [u64]),
}

/// Rows of a table, column by column.
#[derive(Debug)]
pub struct Batch<'a> {
    /// its table
    pub table: &'static Table,
    /// number of rows
    pub rows: usize,
    /// its columns
    pub columns: Vec<Values<'a>>,
}

/// Takes rows of a recording as they come.
pub trait Sink: Send {
    /// Takes rows of one table, which follow its earlier ones.
    ///
    /// # Errors
    /// A sentence that says why they cannot be kept; then nothing more is handed over.
    fn take(&mut self, batch: &Batch<'_>) -> Result<(), String>;

    /// No more rows come.
    ///
    /// # Errors
    /// Those of [`take`](Self::take).
    fn finish(&mut self) -> Result<(), String>;
}

/// The number type of a column.
pub(super) trait Raw: Copy {
    fn values(column: &[Self]) -> Values<'_>;
}
impl Raw for u32 {
    fn values(column: &[u32]) -> Values<'_> {
        Values::Four(column)
    }
}
impl Raw for u64 {
    fn values(column: &[u64]) -> Values<'_> {
        Values::Eight(column)
    }
}

/// A value of a row.
pub(super) trait Cell: Copy {
    type Raw: Raw;
    const CELLS: Cells;
    const OPTIONAL: bool = false;
    fn raw(self) -> Self::Raw;
}

/// A number that increases from row to row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Serial(pub u32);

macro_rules! cells {
    ($($type:ty as $raw:ty, $cells:expr, |$value:ident| $of:expr;)+) => { $(
        impl Cell for $type {
            type Raw = $raw;
            const CELLS: Cells = $cells;
            #[inline(always)]
            fn raw(self) -> $raw {
                let $value = self;
                $of
            }
        }
    )+ };
}
cells! {
    Time as u64, Cells::Times, |time| time.as_nanos();
    Duration as u64, Cells::Nanoseconds, |time| time.as_nanos();
    DataRate as u64, Cells::Large, |rate| rate.as_bps();
    u64 as u64, Cells::Large, |number| number;
    u32 as u32, Cells::Whole, |number| number;
    Serial as u32, Cells::Serial, |number| number.0;
    f64 as u64, Cells::Real, |number| number.to_bits();
    bool as u32, Cells::Truth, |truth| u32::from(truth);
    NodeId as u32, Cells::Nodes, |node| node.0;
    FlowId as u32, Cells::Flows, |flow| flow.0;
    LinkId as u32, Cells::Links, |link| link.0;
}

impl<T: Cell<Raw = u32>> Cell for Option<T> {
    type Raw = u32;
    const CELLS: Cells = T::CELLS;
    const OPTIONAL: bool = true;
    #[inline(always)]
    fn raw(self) -> u32 {
        self.map_or(NONE, T::raw)
    }
}

impl Cell for Option<Duration> {
    type Raw = u64;
    const CELLS: Cells = Cells::Nanoseconds;
    const OPTIONAL: bool = true;
    #[inline(always)]
    fn raw(self) -> u64 {
        self.map_or(u64::MAX, Duration::as_nanos)
    }
}

/// A real number that may be missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Perhaps(pub Option<f64>);

impl Cell for Perhaps {
    type Raw = u64;
    const CELLS: Cells = Cells::Real;
    const OPTIONAL: bool = true;
    #[inline(always)]
    fn raw(self) -> u64 {
        self.0.unwrap_or(f64::NAN).to_bits()
    }
}

/// The cause of a frame's loss.
#[derive(Clone, Copy, Debug)]
pub(super) enum Loss {
    Collision,
    Noise,
    Interference,
    Interferer,
}

impl Loss {
    pub(super) fn of(outcome: Outcome) -> Option<Loss> {
        match outcome {
            Outcome::Success | Outcome::Unknown => None,
            Outcome::Collision => Some(Loss::Collision),
            Outcome::Noise => Some(Loss::Noise),
            Outcome::Interference => Some(Loss::Interference),
            Outcome::Interferer => Some(Loss::Interferer),
        }
    }
}

/// An event of a QUIC packet at an end.
#[derive(Clone, Copy, Debug)]
pub(super) enum QuicEvent {
    Sent,
    Received,
    /// its sender declares it lost
    Lost,
}

/// Words for the variants of an enum, in their order.
macro_rules! words {
    ($($type:ident { $($variant:ident = $word:literal),+ $(,)? })+) => { $(
        impl Cell for $type {
            type Raw = u32;
            const CELLS: Cells = Cells::Words(&[$($word),+]);
            #[inline(always)]
            fn raw(self) -> u32 {
                // As many places as words, in the same order.
                #[repr(u32)]
                enum Place { $($variant),+ }
                match self { $($type::$variant => Place::$variant as u32),+ }
            }
        }
    )+ };
}
words! {
    PpduKind {
        Rts = "RTS", Cts = "CTS", CtsToSelf = "CTS-to-self", Data = "data", Ack = "Ack", Ampdu = "A-MPDU",
        BlockAck = "BlockAck", BlockAckReq = "BlockAckReq", Beacon = "beacon", CfEnd = "CF-End",
        MuBar = "MU-BAR", Bsrp = "BSRP", Trigger = "trigger", MultiStaBlockAck = "Multi-STA BlockAck", QosNull = "QoS Null",
    }
    Outcome { Success = "success", Collision = "collision", Noise = "noise", Interference = "interference", Interferer = "interferer", Unknown = "unknown" }
    Loss { Collision = "collision", Noise = "noise", Interference = "interference", Interferer = "interferer" }
    CaState {
        Open = "Open", Disorder = "Disorder", Cwr = "CWR", Recovery = "Recovery", Loss = "Loss",
    }
    Host { Station = "station", Server = "server" }
    QuicSpace { Initial = "initial", Handshake = "handshake", Application = "1RTT" }
    QuicEvent { Sent = "sent", Received = "received", Lost = "lost" }
    LossTrigger { ReorderingThreshold = "reordering_threshold", TimeThreshold = "time_threshold" }
    QuicFrameKind {
        Padding = "padding", Ping = "ping", Ack = "ack", ResetStream = "reset_stream", StopSending = "stop_sending",
        Crypto = "crypto", NewToken = "new_token", Stream = "stream", MaxData = "max_data",
        MaxStreamData = "max_stream_data", MaxStreams = "max_streams", DataBlocked = "data_blocked",
        StreamDataBlocked = "stream_data_blocked", StreamsBlocked = "streams_blocked",
        NewConnectionId = "new_connection_id", RetireConnectionId = "retire_connection_id",
        PathChallenge = "path_challenge", PathResponse = "path_response", ConnectionClose = "connection_close",
        HandshakeDone = "handshake_done", Unknown = "unknown",
    }
    Passage {
        Sent = "sent", QueueIn = "queue_in", QueueOut = "queue_out", MacDone = "mac_done", WireIn = "wire_in",
        WireOut = "wire_out", Received = "received",
    }
    DropReason {
        QueueFull = "queue_full", Early = "early", AckFiltered = "ack_filtered", Lost = "lost",
        RetryLimit = "retry_limit", ReorderTimeout = "reorder_timeout",
    }
    QueueLayer { Interface = "interface", Mac = "mac", WiredUp = "wired_up", WiredDown = "wired_down" }
    Hold {
        Application = "application", Opening = "opening", CongestionWindow = "congestion_window",
        ReceiveWindow = "receive_window", Pacing = "pacing", Device = "device",
    }
}

/// Rows waiting to be handed over.
pub(super) trait Rows {
    type Row;
    const TABLE: &'static Table;
    fn push(&mut self, row: Self::Row);
    fn len(&self) -> usize;
    /// The first `rows` rows.
    fn first(&self, rows: usize) -> Batch<'_>;
    /// Removes the first `rows` rows.
    fn forget(&mut self, rows: usize);
}

/// Declares a table: its name, then a row for each column, whose doc comment is its meaning.
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        $name:literal: $row:ident, $rows:ident, $table:ident {
            $( $(#[doc = $meaning:literal])+ $column:ident: $type:ty, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy)]
        pub(super) struct $row {
            $( pub $column: $type, )+
        }

        /// Rows of it.
        #[derive(Default)]
        pub(super) struct $rows {
            $( pub $column: Vec<<$type as Cell>::Raw>, )+
        }

        /// Its definition.
        pub static $table: Table = Table {
            name: $name,
            meaning: concat!($($about),+).trim_ascii(),
            columns: &[ $( Column {
                name: stringify!($column),
                cells: <$type as Cell>::CELLS,
                optional: <$type as Cell>::OPTIONAL,
                meaning: concat!($($meaning),+).trim_ascii(),
            } ),+ ],
        };

        impl Rows for $rows {
            type Row = $row;
            const TABLE: &'static Table = &$table;
            #[inline]
            fn push(&mut self, row: $row) {
                $( self.$column.push(row.$column.raw()); )+
            }
            fn len(&self) -> usize {
                [$( self.$column.len() ),+][0]
            }
            fn first(&self, rows: usize) -> Batch<'_> {
                let columns = vec![$( Raw::values(&self.$column[..rows]) ),+];
                Batch { table: Self::TABLE, rows, columns }
            }
            fn forget(&mut self, rows: usize) {
                $( self.$column.drain(..rows); )+
            }
        }
    };
}
pub(super) use table;
