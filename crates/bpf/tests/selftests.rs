//! The kernel's own struct_ops selftests, if they were compiled: `LASTHOP_BPF_SELFTESTS` is a folder with
//! `bpf_cubic.bpf.o`, `bpf_dctcp.bpf.o`, `bpf_cc_cubic.bpf.o`. Without it these tests pass with a note that they were
//! skipped.

use crate::objects::against;
use lasthop_bpf::Object;

/// An object of that folder.
fn selftest(name: &str) -> Option<Object> {
    let Some(folder) = std::env::var_os("LASTHOP_BPF_SELFTESTS") else {
        eprintln!("skipped: LASTHOP_BPF_SELFTESTS is not set");
        return None;
    };
    let bytes = std::fs::read(std::path::Path::new(&folder).join(name)).unwrap();
    Some(Object::read(&bytes, name).unwrap())
}

#[test]
fn all_three_find_their_needs() {
    for name in ["bpf_cubic.bpf.o", "bpf_dctcp.bpf.o", "bpf_cc_cubic.bpf.o"] {
        if let Some(object) = selftest(name) {
            object.check().unwrap();
        }
    }
}

/// Compares an object of that folder with recordings; it must follow every row.
fn follows(name: &str, kind: &str, sequences: &[&str]) {
    for sequence in sequences {
        let Some(object) = selftest(name) else { return };
        let report = against(&format!("{kind}.{sequence}"), object);
        assert_eq!(report.rows, report.exact, "{kind}.{sequence}: {report:?}");
    }
}

/// Unlike ours it has the kernel's own cube root. With an RTT that swings (s2) it leaves slow start an ACK later than the recorded
/// kernel, whose rows our CUBIC follows there: the object begins a round trip of HyStart in `cong_avoid`, after the sample of that ACK.
#[test]
fn the_kernels_cubic_follows_the_kernels_traces() {
    follows("bpf_cubic.bpf.o", "cubic_hystart", &["s1_const40", "s3_queue20", "s4_small120", "s5_big100"]);
}

#[test]
fn the_kernels_dctcp_follows_the_kernels_traces() {
    let all = ["s1_const40", "s2_sin60", "s3_queue20", "s4_small120", "s5_big100", "s6_ecn20"];
    follows("bpf_dctcp.bpf.o", "dctcp", &all);
}
