//! What a controller needs of the endpoint that it works in.
//!
//! Code that all controllers share asks this, never for a name, so that a controller from elsewhere is treated as one of
//! ours.

/// How marks are reported to a controller, whatever the key `ecn` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkReports {
    /// as `ecn` says
    #[default]
    AsConfigured,
    /// by the flag ECE, which follows the marks packet by packet [RFC 8257 §3.2]
    EachPacket,
    /// by a counter of marked packets [RFC 9768 §3.2]
    Counted,
}

/// What a controller asks of the endpoint that it works in: pacing, delivery rates, how marks are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Segments leave at its rate, so that its data leaves when it is due and not when a device asks for it.
    pub paced: bool,
    /// Samples of delivery rates, which the recovery machine `rfc` does not take.
    pub rate_samples: bool,
    /// How marks are reported.
    pub marks: MarkReports,
    /// Data carries ECT(1), the identifier of L4S. [RFC 9331 §4.1]
    pub is_scalable: bool,
    /// It may take less of a mark than of a loss. [RFC 8511 §3]
    pub eases_marks: bool,
}

impl Needs {
    /// Nothing beyond what every endpoint does.
    pub const NONE: Needs = Needs {
        paced: false,
        rate_samples: false,
        marks: MarkReports::AsConfigured,
        is_scalable: false,
        eases_marks: false,
    };

    /// It lives on marks: what is sent again is ECN-capable too, as a queue that marks all others would drop it again and
    /// again.
    pub fn lives_on_marks(&self) -> bool {
        self.marks != MarkReports::AsConfigured
    }
}
