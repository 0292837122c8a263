//! Demands of a controller on its endpoint.
//!
//! Shared code looks at these and never at the name of a controller, so that a controller from elsewhere is treated as
//! a built-in one.

/// The kind of report by which a controller learns of marks, whatever the key `ecn` says.
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

/// Demands of a controller on its endpoint: pacing, delivery rates, reports of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Segments leave at the controller's rate: data leaves when it is due, not when a device polls for it.
    pub paced: bool,
    /// Samples of delivery rates, which the recovery machine `rfc` does not take.
    pub rate_samples: bool,
    /// The reports of marks.
    pub marks: MarkReports,
    /// Data carries ECT(1), the identifier of L4S. [RFC 9331 §4.1]
    pub is_scalable: bool,
    /// A mark may reduce the window less than a loss. [RFC 8511 §3]
    pub eases_marks: bool,
}

impl Needs {
    /// No demands beyond the duties of every endpoint.
    pub const NONE: Needs = Needs {
        paced: false,
        rate_samples: false,
        marks: MarkReports::AsConfigured,
        is_scalable: false,
        eases_marks: false,
    };

    /// True if the controller depends on marks: retransmissions are ECN-capable too, as a queue that marks all other
    /// packets would drop them each time.
    pub fn lives_on_marks(&self) -> bool {
        self.marks != MarkReports::AsConfigured
    }
}
