//! A null cipher of the size of AES-128-GCM: a tag of 16 zero bytes, and headers in the clear.
//! A capture therefore shows packet numbers and frames. [RFC 9001 §5]

use bytes::BytesMut;
use quinn_proto::crypto::{AeadKey, CryptoError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair, Keys, PacketKey};

/// The length of an authentication tag, and of the sample that header protection takes. [RFC 9001 §5.3, §5.4.3]
pub(crate) const TAG: usize = 16;

struct Clear;

impl HeaderKey for Clear {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}
    fn encrypt(&self, _: usize, _: &mut [u8]) {}
    fn sample_size(&self) -> usize {
        TAG
    }
}

impl PacketKey for Clear {
    fn encrypt(&self, _: u64, packet: &mut [u8], _: usize) {
        let end = packet.len();
        packet[end - TAG..].fill(0);
    }
    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(length);
        Ok(())
    }
    fn tag_len(&self) -> usize {
        TAG
    }
    // No limit: a key is never updated.
    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }
    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

/// The keys of one packet number space.
pub(crate) fn keys() -> Keys {
    Keys { header: KeyPair { local: Box::new(Clear), remote: Box::new(Clear) }, packet: packet_keys() }
}

/// The keys after an update.
pub(crate) fn packet_keys() -> KeyPair<Box<dyn PacketKey>> {
    KeyPair { local: Box::new(Clear), remote: Box::new(Clear) }
}

/// Signs stateless resets, which a simulated path does not cause.
pub(crate) struct ResetKey;

impl HmacKey for ResetKey {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        signature.fill(0);
        signature.iter_mut().zip(data).for_each(|(place, byte)| *place = *byte);
    }
    fn signature_len(&self) -> usize {
        32
    }
    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut own = [0; 32];
        self.sign(data, &mut own);
        if own == signature { Ok(()) } else { Err(CryptoError) }
    }
}

/// Seals tokens, which the server does not send.
pub(crate) struct TokenKey;

impl HandshakeTokenKey for TokenKey {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Unsealed)
    }
}

struct Unsealed;

impl AeadKey for Unsealed {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Ok(data)
    }
}
