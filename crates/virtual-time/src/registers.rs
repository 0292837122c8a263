//! Vector registers of a traced process, on processors with more of them than the kernel knows.
//!
//! User Mode Linux 6.1 has a buffer of a fixed size for the extended state of its processes. Reading a larger state is cut off
//! there; writing a part of it is refused by the host (`EFAULT`), e.g. on processors with AMX, and then no process starts. So a
//! part that is written here replaces the beginning of the present state, and the whole is written.

/// The most bytes of extended state: AVX-512 and AMX have 11,008.
#[cfg_attr(test, expect(dead_code, reason = "its user interposes system calls, which tests do not"))]
pub const LARGEST: usize = 16 * 1024;

/// The whole state: `part`, then the rest of the `present` state. A `part` that is the whole already needs no other.
pub fn completed<'a>(part: &[u8], present: &'a mut [u8]) -> Option<&'a mut [u8]> {
    if part.len() >= present.len() {
        return None;
    }
    present[..part.len()].copy_from_slice(part);
    Some(present)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_replaces_the_beginning() {
        let mut present = [1, 2, 3, 4];
        assert_eq!(completed(&[9, 8], &mut present), Some([9, 8, 3, 4].as_mut_slice()));
    }

    #[test]
    fn a_whole_state_is_written_as_it_is() {
        assert_eq!(completed(&[9, 8], &mut [1, 2]), None);
    }
}
