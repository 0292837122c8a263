//! Helpers of the kernel, by number. [uapi/linux/bpf.h]

use super::Kernel;
use crate::memory::{Memory, Refused};
use crate::program::{MapKind, Program, map_of, place};

macro_rules! helpers {
    ($( $helper:ident = $number:literal, $name:literal; )*) => {
        /// A helper.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Helper { $( $helper ),* }

        impl Helper {
            pub fn numbered(number: i64) -> Option<Helper> {
                match number { $( $number => Some(Helper::$helper), )* _ => None }
            }

            pub fn name(self) -> &'static str {
                match self { $( Helper::$helper => $name ),* }
            }
        }
    };
}

helpers! {
    Lookup = 1, "bpf_map_lookup_elem";
    Update = 2, "bpf_map_update_elem";
    Delete = 3, "bpf_map_delete_elem";
    Nanoseconds = 5, "bpf_ktime_get_ns";
    Print = 6, "bpf_trace_printk";
    Random = 7, "bpf_get_prandom_u32";
    Processor = 8, "bpf_get_smp_processor_id";
    SetOption = 49, "bpf_setsockopt";
    GetOption = 57, "bpf_getsockopt";
    StorageGet = 107, "bpf_sk_storage_get";
    StorageDelete = 108, "bpf_sk_storage_delete";
    ReadKernel = 113, "bpf_probe_read_kernel";
    SendAck = 116, "bpf_tcp_send_ack";
    Jiffies = 118, "bpf_jiffies64";
    BootNanoseconds = 125, "bpf_ktime_get_boot_ns";
    RingOutput = 130, "bpf_ringbuf_output";
    RingReserve = 131, "bpf_ringbuf_reserve";
    RingSubmit = 132, "bpf_ringbuf_submit";
    RingDiscard = 133, "bpf_ringbuf_discard";
    ToTcpSocket = 137, "bpf_skc_to_tcp_sock";
    CoarseNanoseconds = 160, "bpf_ktime_get_coarse_ns";
    PrintMany = 177, "bpf_trace_vprintk";
}

/// The outcome of a call of a helper, if it is not a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HelperFault {
    Refused(Refused),
    /// a part of a sentence
    Misused(&'static str),
}

impl From<Refused> for HelperFault {
    fn from(refused: Refused) -> Self {
        HelperFault::Refused(refused)
    }
}

/// With this flag a socket's value is created where there is none. [uapi/linux/bpf.h]
const CREATE: u64 = 1;

/// The kernel's code for an unsupported operation: -EOPNOTSUPP.
const NOT_SUPPORTED: u64 = -95i64 as u64;

type Answer = Result<u64, HelperFault>;

impl Kernel {
    pub fn help(&mut self, program: &Program, helper: Helper, memory: &mut Memory, arguments: &[u64; 5]) -> Answer {
        let &[first, second, third, fourth, _] = arguments;
        Ok(match helper {
            Helper::Lookup => {
                let (map, key) = key_of(program, memory, first, second)?;
                self.copied = key.len();
                self.maps.find(program, map, key).unwrap_or(0)
            }
            Helper::Update => self.update(program, memory, arguments)?,
            Helper::Delete => {
                let (map, key) = key_of(program, memory, first, second)?;
                self.copied = key.len();
                self.maps.remove(map, key)
            }
            Helper::Nanoseconds | Helper::BootNanoseconds | Helper::CoarseNanoseconds => self.now.as_nanos(),
            Helper::Jiffies => self.now.as_nanos() / self.context.tick.as_nanos().max(1),
            Helper::Random => u64::from(self.draws.bits()),
            Helper::Processor | Helper::Print | Helper::PrintMany | Helper::SendAck => 0,
            Helper::SetOption | Helper::GetOption => NOT_SUPPORTED,
            Helper::ToTcpSocket => first,
            Helper::StorageGet => self.storage(program, memory, first, third, fourth)?,
            Helper::StorageDelete => self.maps.forget(map_number(program, first)?),
            Helper::ReadKernel => {
                let size = second as u32 as usize;
                let read = memory.read(third, size)?.to_vec();
                self.copied = size;
                memory.write(first, size)?.copy_from_slice(&read);
                0
            }
            Helper::RingOutput => {
                memory.read(second, usize::try_from(third).unwrap_or(usize::MAX))?;
                map_number(program, first)?;
                self.records += 1;
                0
            }
            Helper::RingReserve => self.maps.reserve(program, map_number(program, first)?, second).unwrap_or(0),
            Helper::RingSubmit | Helper::RingDiscard => {
                self.records += u64::from(helper == Helper::RingSubmit);
                let region = place(first).0;
                let map = program.map_regions.iter().position(|&of| of as u64 == region);
                self.maps.submit(
                    map.ok_or(HelperFault::Misused("submits something that is not a record of a ring buffer"))?,
                );
                0
            }
        })
    }

    fn update(&mut self, program: &Program, memory: &mut Memory, arguments: &[u64; 5]) -> Answer {
        let &[first, second, third, flags, _] = arguments;
        let (map, key) = key_of(program, memory, first, second)?;
        let size = program.maps[map].value_size;
        let value = memory.read(third, size)?.to_vec();
        self.copied = key.len() + size;
        Ok(match self.maps.place(program, map, key, flags) {
            Ok(to) => {
                memory.write(to, size)?.copy_from_slice(&value);
                0
            }
            Err(error) => error,
        })
    }

    fn storage(&mut self, program: &Program, memory: &mut Memory, map: u64, initial: u64, flags: u64) -> Answer {
        let map = map_number(program, map)?;
        let Some((found, is_new)) = self.maps.storage(program, map, flags & CREATE != 0) else { return Ok(0) };
        if is_new {
            let size = program.maps[map].value_size;
            self.copied = size;
            let value = if initial == 0 { vec![0; size] } else { memory.read(initial, size)?.to_vec() };
            memory.write(found, size)?.copy_from_slice(&value);
        }
        Ok(found)
    }
}

fn map_number(program: &Program, handle: u64) -> Result<usize, HelperFault> {
    map_of(handle)
        .filter(|&map| map < program.maps.len())
        .ok_or(HelperFault::Misused("hands over something that is not a map"))
}

/// A map and the key that an address points to.
fn key_of<'m>(program: &Program, memory: &'m Memory, handle: u64, key: u64) -> Result<(usize, &'m [u8]), HelperFault> {
    let map = map_number(program, handle)?;
    if !matches!(program.maps[map].kind, MapKind::Array | MapKind::Hash) {
        return Err(HelperFault::Misused("looks up a key in a map that has none"));
    }
    Ok((map, memory.read(key, program.maps[map].key_size)?))
}
