//! Every failure ends in one sentence with its place.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::objects::{self, cubic, newreno};
use lasthop_bpf::Object;
use lasthop_tcp::Profile;
use lasthop_tcp::congestion_control::{AckSample, Context, GaveUp};
use lasthop_units::{Duration, Time};

/// One of the faulty controllers.
fn faulty(name: &str) -> Object {
    let mut object = Object::read(&objects::bytes("faulty.bpf.o"), "faulty.bpf.o").unwrap();
    object.choose(name).unwrap();
    object
}

/// The message of a check.
fn complaint(name: &str) -> String {
    faulty(name).check().unwrap_err().to_string()
}

/// The message after an ACK has stopped it.
fn failure(name: &str) -> String {
    let context = Context::new(&Profile::Linux.config(), 1);
    let mut controller = Arc::new(faulty(name)).controller(&context).unwrap();
    let ack = AckSample {
        now: Time::ZERO + Duration::from_millis(1),
        acked_segments: 20,
        total_delivered: 20,
        snd_una: 1,
        ..AckSample::default()
    };
    let thrown = catch_unwind(AssertUnwindSafe(|| controller.on_ack(&ack))).unwrap_err();
    assert!(thrown.is::<GaveUp>());
    controller.failure().unwrap().to_string()
}

#[test]
fn an_endless_loop_is_stopped() {
    let expected = "faulty.bpf.o: the loop at faulty.bpf.c:25 (endless_avoid) did not end after 1,000,000 instructions";
    assert_eq!(failure("endless"), expected);
}

#[test]
fn a_store_outside_of_an_array_is_stopped() {
    let expected = "faulty.bpf.o: faulty.bpf.c:32 (outside_avoid): writes 8 B at 80 of .bss, which has 32 B";
    assert_eq!(failure("outside"), expected);
}

#[test]
fn a_null_pointer_is_stopped() {
    let expected = "faulty.bpf.o: faulty.bpf.c:38 (null_avoid): writes 4 B at a null pointer";
    assert_eq!(failure("null"), expected);
}

#[test]
fn a_frame_has_512_bytes() {
    let expected =
        "faulty.bpf.o: faulty.bpf.c:72 (deep_avoid): writes 1 B outside of the 512 B of stack that a function has";
    assert_eq!(failure("deep"), expected);
}

#[test]
fn a_store_that_the_kernel_forbids_is_refused_before_it_runs() {
    let sentence = |line| {
        format!(
            "faulty.bpf.o: tcp_sock.snd_una is written at faulty.bpf.c:{line}, which the kernel lets no controller do"
        )
    };
    assert_eq!(complaint("forbidden"), sentence(44));
    assert_eq!(complaint("hidden"), sentence(51), "without a record of its name too");
}

#[test]
fn a_field_that_is_not_filled_is_refused_by_its_name() {
    let said = complaint("unknown");
    assert!(said.starts_with("faulty.bpf.o: ack_sample.in_flight is read at faulty.bpf.c:57; lasthop does not know it; lasthop fills: tcp_sock.snd_cwnd, "), "{said}");
}

#[test]
fn a_function_that_is_not_there_is_refused_by_its_name() {
    assert_eq!(
        complaint("missing"),
        "faulty.bpf.o: kfunc bbr_init is used at faulty.bpf.c:63; lasthop does not have it"
    );
}

#[test]
fn hooks_that_the_kernel_asks_for_must_be_there() {
    assert_eq!(complaint("incomplete"), "faulty.bpf.o: incomplete has no hook cong_avoid or cong_control");
    let error = faulty("endless").choose("cubic").unwrap_err().to_string();
    assert!(error.starts_with("faulty.bpf.o: has no controller \"cubic\"; it has: endless, outside, "), "{error}");
}

#[test]
fn settings_are_named_and_bounded() {
    let mut object = newreno();
    object.with("beta", 700).unwrap();
    assert_eq!(object.describe().settings, [("beta".to_string(), 700)]);
    let error = object.with("beta", -1).unwrap_err().to_string();
    assert_eq!(error, "newreno.bpf.o: beta = -1 does not fit: it may be 0 to 4294967295");
    let error = cubic().with("gamma", 1).unwrap_err().to_string();
    let expected = "cubic.bpf.o: has no whole number `const volatile` called \"gamma\"; it has: beta, c, fast_convergence, reno_friendly, hystart";
    assert_eq!(error, expected);
}

#[test]
fn error_for_a_wrong_file_describes_an_object() {
    let said = |bytes: &[u8]| Object::read(bytes, "x.o").unwrap_err().to_string();
    assert_eq!(said(b""), "x.o: is not an ELF file; a .bpf.o comes from clang -O2 -g -target bpf");
    let mut other = objects::bytes("newreno.bpf.o");
    other[18] = 62;
    assert_eq!(said(&other), "x.o: is compiled for machine 62, not for BPF (247)");
}
