//! The content of a script, line by line: the tree made by the parser.

/// A whole script.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    /// `--name=value` lines at the top.
    pub options: Vec<(String, String)>,
    /// The shell lines before the first event.
    pub set_up: Option<(usize, String)>,
    pub events: Vec<ScriptEvent>,
}

/// One line with a time.
#[derive(Clone, Debug)]
pub(crate) struct ScriptEvent {
    /// line of the file, from 1
    pub line: usize,
    pub when: When,
    pub action: Action,
}

/// The latest time in a script, in microseconds: a day. Keepalives and the longest timeouts of TCP fit into it.
pub(crate) const LATEST_US: i64 = 86_400_000_000;

/// The time of an event, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum When {
    At(i64),
    /// after the event before it
    After(i64),
    Between(i64, i64),
    /// after the event before it
    BetweenAfter(i64, i64),
    AnyTime,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// a packet of the peer
    Inbound(Packet),
    /// a packet that the endpoint is to send
    Outbound(Packet),
    Call(Call),
    Shell(String),
    Code(String),
}

/// A packet; the simulator does not model `Foreign` ones.
#[derive(Clone, Debug)]
pub(crate) enum Packet {
    Tcp(Tcp),
    Foreign(String),
}

/// The ECN field of the IP header that a script expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EcnMark {
    Exactly(u8),
    /// ECT(0) or ECT(1)
    EitherEct,
}

#[derive(Clone, Debug)]
pub(crate) struct Tcp {
    pub ecn: Option<EcnMark>,
    pub ports: Option<(u16, u16)>,
    /// letters in the order of the script, a dot for ACK
    pub flags: String,
    pub seq: u32,
    pub payload: u32,
    pub ack: u32,
    pub window: Option<u16>,
    pub urgent: u16,
    /// `None`: any
    pub options: Option<Vec<TcpOption>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TcpOption {
    Nop,
    Eol,
    Mss(u16),
    WindowScale(u8),
    SackPermitted,
    Sack(Vec<(u32, u32)>),
    Timestamps {
        value: u32,
        echo: u32,
    },
    /// counters in their order
    AccEcn {
        ect1_first: bool,
        counters: Vec<u32>,
    },
    /// an option that the simulator does not model
    Foreign(String),
}

/// A system call with its expected result.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub name: String,
    pub arguments: Vec<Expr>,
    /// microseconds: the time at which a waiting call is to return
    pub end: Option<i64>,
    pub result: Expr,
    pub error: Option<String>,
}

/// An expression in the arguments of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Ellipsis,
    Int(i64),
    Word(String),
    Text(String),
    Or(Vec<Expr>),
    List(Vec<Expr>),
    /// `{a=1, b=2}`, or `{…, 40}` with empty names
    Fields(Vec<(String, Expr)>),
    /// `htons(8080)`
    Function(String, Vec<Expr>),
}

impl Expr {
    /// The value of a field of `{…}`.
    pub fn field(&self, name: &str) -> Option<&Expr> {
        let Expr::Fields(fields) = self else { return None };
        fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}
