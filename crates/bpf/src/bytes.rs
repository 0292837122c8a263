//! Numbers and names in bytes from elsewhere; nothing is read beyond their end.

use crate::error::Fallible;

/// Bytes, with their name in errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a> {
    pub bytes: &'a [u8],
    what: &'static str,
}

impl<'a> Bytes<'a> {
    pub fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Bytes { bytes, what }
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// So many bytes from `at` on.
    pub fn part(&self, at: usize, len: usize) -> Fallible<&'a [u8]> {
        let end = at.checked_add(len).filter(|&end| end <= self.bytes.len());
        let cut = || format!("{} is cut off: {len} B at {at}, of {} B", self.what, self.bytes.len());
        Ok(&self.bytes[at..end.ok_or_else(cut)?])
    }

    fn number<const N: usize>(&self, at: usize) -> Fallible<[u8; N]> {
        Ok(self.part(at, N)?.try_into().expect("as long as asked for"))
    }

    pub fn u8(&self, at: usize) -> Fallible<u8> {
        Ok(self.part(at, 1)?[0])
    }

    pub fn u16(&self, at: usize) -> Fallible<u16> {
        Ok(u16::from_le_bytes(self.number(at)?))
    }

    pub fn u32(&self, at: usize) -> Fallible<u32> {
        Ok(u32::from_le_bytes(self.number(at)?))
    }

    pub fn u64(&self, at: usize) -> Fallible<u64> {
        Ok(u64::from_le_bytes(self.number(at)?))
    }

    /// A 64-bit offset or length, as an index.
    pub fn index(&self, at: usize) -> Fallible<usize> {
        let number = self.u64(at)?;
        usize::try_from(number).map_err(|_| format!("{} has an offset of {number}", self.what))
    }

    /// The text from `at` to the next zero.
    pub fn text(&self, at: usize) -> Fallible<String> {
        let rest = self.bytes.get(at..).ok_or_else(|| format!("{} has no name at {at}", self.what))?;
        let end =
            rest.iter().position(|&byte| byte == 0).ok_or_else(|| format!("{} has a name without end", self.what))?;
        Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
    }
}
