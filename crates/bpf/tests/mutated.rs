//! Objects with bytes changed, cut off or made up: an error, a failure or a run, and never a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::objects::bytes;
use lasthop_bpf::Object;
use lasthop_engine::Stream;
use lasthop_tcp::congestion_control::{
    AckSample, CongestionCause, CongestionControl, CongestionEvent, Context, GaveUp, Moment, Prior,
};
use lasthop_tcp::{Config, Profile};
use lasthop_units::{Duration, Time};

const OBJECTS: [&str; 3] = ["cubic.bpf.o", "newreno.bpf.o", "maps.bpf.o"];

/// Reads an object, and lets it run through every event if it can; true if it could be read.
fn exercise(bytes: &[u8]) -> bool {
    let Ok(object) = Object::read(bytes, "mutated.bpf.o") else { return false };
    let description = object.describe();
    assert!(!description.to_string().is_empty());
    let config: Config = Profile::Linux.config();
    let Ok(mut controller) = Arc::new(object).controller(&Context::new(&config, 1)) else { return true };
    let outcome = catch_unwind(AssertUnwindSafe(|| events(&mut *controller)));
    if let Err(thrown) = outcome {
        assert!(thrown.is::<GaveUp>(), "a panic");
        let sentence = controller.failure().expect("whoever gives up says why");
        assert!(sentence.starts_with("mutated.bpf.o: ") && !sentence.contains('\n'), "{sentence}");
    }
    true
}

fn events(controller: &mut dyn CongestionControl) {
    let at =
        |ms| Moment { now: Time::ZERO + Duration::from_millis(ms), snd_una: 1, snd_nxt: 20_000, app_limited: false };
    let event = |ms, cause| CongestionEvent {
        now: at(ms).now,
        cause,
        window: controller_window(ms),
        flight_bytes: 10_000,
        repeated: false,
        snd_una: 1,
        snd_nxt: 20_000,
        total_lost: 1,
    };
    controller.on_established(&at(1), Some(Duration::from_millis(30)));
    controller.on_transmit_start(&at(2));
    for ms in 3..40 {
        let acked = AckSample {
            now: at(ms).now,
            acked_segments: 2,
            acked_bytes: 2896,
            rtt_sample: Some(Duration::from_millis(20 + ms)),
            snd_una: 1 + 2896 * ms,
            snd_nxt: 20_000 + 2896 * ms,
            ..AckSample::default()
        };
        controller.on_ack(&acked);
        match ms {
            10 => controller.on_congestion(&event(ms, CongestionCause::Loss)),
            15 => controller.on_recovery_exit(&at(ms)),
            20 => controller.on_timeout(&event(ms, CongestionCause::Timeout)),
            25 => controller.on_spurious(&at(ms), &Prior { cwnd: 20.0, ssthresh: 15.0 }),
            30 => controller.on_idle(10.0),
            _ => {}
        }
        assert!(controller.cwnd() >= 1.0 && controller.ssthresh() >= 0.0);
    }
}

fn controller_window(ms: u64) -> f64 {
    ms as f64 + 10.0
}

#[test]
fn the_objects_themselves_run() {
    for name in OBJECTS {
        assert!(exercise(&bytes(name)), "{name}");
    }
}

#[test]
fn flipped_bytes_never_panic() {
    let mut stream = Stream::new(1, "mutations", 0);
    for name in OBJECTS {
        let whole = bytes(name);
        let mut read = 0;
        for _ in 0..1500 {
            let mut mutated = whole.clone();
            for _ in 0..=stream.up_to(2) {
                let at = stream.up_to(mutated.len() as u32 - 1) as usize;
                mutated[at] = stream.up_to(255) as u8;
            }
            read += u32::from(exercise(&mutated));
        }
        assert!(read > 300, "{name}: {read} could be read");
    }
}

#[test]
fn changed_instructions_never_panic() {
    let mut stream = Stream::new(1, "instructions", 0);
    for name in OBJECTS {
        let whole = bytes(name);
        // The code lies at the front of a file, behind its header.
        for _ in 0..1500 {
            let mut mutated = whole.clone();
            for _ in 0..=stream.up_to(1) {
                let at = 0x40 + stream.up_to(599) as usize;
                mutated[at] = stream.up_to(255) as u8;
            }
            exercise(&mutated);
        }
    }
}

#[test]
fn cut_files_and_noise_are_errors() {
    let mut stream = Stream::new(1, "cuts", 0);
    let whole = bytes("newreno.bpf.o");
    for len in (0..whole.len()).step_by(37) {
        // The missing part of the last table may be padding.
        assert!(!exercise(&whole[..len]) || len > whole.len() / 2, "{len}");
        if let Err(error) = Object::read(&whole[..len], "cut.bpf.o") {
            let error = error.to_string();
            assert!(error.starts_with("cut.bpf.o: ") && !error.contains('\n'), "{error}");
        }
    }
    for len in [0, 1, 64, 4096] {
        let mut noise: Vec<u8> = (0..len).map(|_| stream.up_to(255) as u8).collect();
        assert!(Object::read(&noise, "noise").is_err());
        for (to, from) in noise.iter_mut().zip(&whole[..64]) {
            *to = *from;
        }
        assert!(Object::read(&noise, "noise").is_err());
    }
}

/// The number of 64 bits at a place.
fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// The start of the header of a section.
fn header(bytes: &[u8], name: &str) -> usize {
    let (table, names) = (number(bytes, 40), usize::from(bytes[62]));
    let names = number(bytes, table + 64 * names + 24);
    let is_wanted = |at: &usize| {
        let name_at = names + u32::from_le_bytes(bytes[*at..at + 4].try_into().unwrap()) as usize;
        bytes[name_at..].starts_with(name.as_bytes()) && bytes[name_at + name.len()] == 0
    };
    (table..bytes.len()).step_by(64).find(is_wanted).unwrap()
}

#[test]
fn section_without_bytes_counts_for_every_type() {
    for kind in [0, 8] {
        let mut large = bytes("faulty.bpf.o");
        let at = header(&large, ".bss");
        large[at + 4] = kind;
        large[at + 32..at + 40].copy_from_slice(&(1u64 << 60).to_le_bytes());
        let error = Object::read(&large, "large.bpf.o").unwrap_err().to_string();
        assert_eq!(error, "large.bpf.o: has more than 16777216 B of data without bits");
    }
}

#[test]
fn a_section_table_at_the_end_of_all_numbers_is_an_error() {
    let mut far = bytes("newreno.bpf.o");
    for table in [u64::MAX, u64::MAX - 3, u64::MAX - 63, u64::MAX - 64] {
        far[40..48].copy_from_slice(&table.to_le_bytes());
        let error = Object::read(&far, "far.bpf.o").unwrap_err().to_string();
        assert!(error.starts_with("far.bpf.o: the ELF file is cut off: 64 B at "), "{error}");
    }
}

#[test]
fn a_variable_without_bytes_cannot_be_set() {
    const INT: u32 = 1 << 24;
    let mut empty = bytes("newreno.bpf.o");
    let at = header(&empty, ".BTF");
    let (from, len) = (number(&empty, at + 24), number(&empty, at + 32));
    for at in (from..from + len - 8).step_by(4) {
        if empty[at..at + 4] == INT.to_le_bytes() && empty[at + 4..at + 8] == 4u32.to_le_bytes() {
            empty[at + 4..at + 8].fill(0);
        }
    }
    let mut object = Object::read(&empty, "empty.bpf.o").unwrap();
    let error = object.with("beta", 700).unwrap_err().to_string();
    assert_eq!(error, "empty.bpf.o: has no whole number `const volatile` called \"beta\"; it has none");
}
