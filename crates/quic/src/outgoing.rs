//! Data on its way into the stack: it waits for the handshake, and for room in the send buffer of its stream.

use std::sync::LazyLock;

use bytes::Bytes;
use quinn_proto::{Connection, Dir, StreamId};

/// The directions of a stream that a client opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the server.
    One,
    /// To the server and back.
    Both,
}

impl Way {
    pub(crate) fn dir(self) -> Dir {
        match self {
            Way::One => Dir::Uni,
            Way::Both => Dir::Bi,
        }
    }
}

/// Data that waits for room in the send buffer of its stream, or for the handshake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub(crate) way: Way,
    /// once it is open
    pub(crate) stream: Option<StreamId>,
    /// `None`: always more
    pub(crate) left: Option<u64>,
    /// it is the last data of its stream
    pub(crate) ends: bool,
}

/// Zeros that all writes share.
static ZEROS: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(vec![0; 1 << 20]));

impl Outgoing {
    /// Whether some of it waits.
    pub(crate) fn waits(&self) -> bool {
        self.left != Some(0)
    }

    /// Writes on; true if all is written, and the stream has its end.
    pub(crate) fn is_written(&mut self, connection: &mut Connection) -> bool {
        if self.stream.is_none() {
            self.stream = connection.streams().open(self.way.dir());
        }
        let Some(id) = self.stream else { return false };
        while self.waits() {
            let most = self.left.map_or(ZEROS.len(), |left| left.min(ZEROS.len() as u64) as usize);
            match connection.send_stream(id).write_chunks(&mut [ZEROS.slice(..most)]) {
                Ok(written) if written.bytes > 0 => {
                    self.left = self.left.map(|left| left - written.bytes as u64);
                }
                _ => return false,
            }
        }
        if !self.ends {
            return false;
        }
        // A stream that the peer no longer wants has no end either.
        let _ = connection.send_stream(id).finish();
        true
    }
}
