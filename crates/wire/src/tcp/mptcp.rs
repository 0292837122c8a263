//! The options of MPTCP that name a connection. [RFC 6824 §3.1, §3.2; RFC 8684 §3.1, §3.2]

use super::token;

/// An option of MPTCP that opens a subflow; others are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mptcp {
    /// MP_CAPABLE: the first subflow of a connection.
    Capable {
        /// 0 or 1.
        version: u8,
        /// The sender's key; a SYN of version 1 has none.
        key: Option<u64>,
    },
    /// MP_JOIN of a SYN: a further subflow.
    Join {
        /// The token of the connection, at the receiver.
        token: u32,
    },
    /// MP_JOIN of the other segments of a handshake.
    JoinAnswer,
}

impl Mptcp {
    const CAPABLE: u8 = 0;
    const JOIN: u8 = 1;

    /// Reads the content of an option; `None` if it opens no subflow or has an unknown version.
    pub fn read(content: &[u8]) -> Option<Mptcp> {
        let (subtype, low) = (content.first()? >> 4, content[0] & 0x0f);
        match (subtype, content) {
            (Mptcp::CAPABLE, &[_, _]) if low == 1 => Some(Mptcp::Capable { version: 1, key: None }),
            // The sender's key is the first, also where the receiver's follows.
            (Mptcp::CAPABLE, &[_, _, a, b, c, d, e, f, g, h, ..]) if low <= 1 => {
                Some(Mptcp::Capable { version: low, key: Some(u64::from_be_bytes([a, b, c, d, e, f, g, h])) })
            }
            (Mptcp::JOIN, &[_, _, a, b, c, d, _, _, _, _]) => {
                Some(Mptcp::Join { token: u32::from_be_bytes([a, b, c, d]) })
            }
            (Mptcp::JOIN, _) if matches!(content.len(), 14 | 22) => Some(Mptcp::JoinAnswer),
            _ => None,
        }
    }

    /// The token by which further subflows name the connection at the owner of a key.
    pub fn token(version: u8, key: u64) -> u32 {
        if version == 0 { token::sha1(key) } else { token::sha256(key) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_open_subflows_have_keys_and_tokens() {
        let key: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
        let capable = |version, key| Some(Mptcp::Capable { version, key });
        let number = 0x0102_0304_0506_0708;
        assert_eq!(Mptcp::read(&[0x01, 0x01]), capable(1, None));
        assert_eq!(Mptcp::read(&[&[0x00, 0x01][..], &key].concat()), capable(0, Some(number)));
        assert_eq!(Mptcp::read(&[&[0x01, 0x01][..], &key, &[9; 8], &[0, 5]].concat()), capable(1, Some(number)));
        assert_eq!(Mptcp::read(&[0x10, 2, 0, 0, 1, 0, 7, 7, 7, 7]), Some(Mptcp::Join { token: 256 }));
        assert_eq!(Mptcp::read(&[&[0x10, 2][..], &[0; 12]].concat()), Some(Mptcp::JoinAnswer));
        // A DSS, an unknown version, and an empty option.
        assert_eq!((Mptcp::read(&[0x20, 1, 0, 0]), Mptcp::read(&[0x02, 1]), Mptcp::read(&[])), (None, None, None));
        assert_eq!(Mptcp::token(1, number), 0x6684_0dda);
    }
}
