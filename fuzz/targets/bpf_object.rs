//! A compiled congestion control: a sentence, or a controller that runs until it fails with one.
#![no_main]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lasthop_bpf::Object;
use lasthop_tcp::Profile;
use lasthop_tcp::congestion_control::{AckSample, Context, GaveUp, Moment};
use lasthop_units::{Duration, Time};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let object = match Object::read(bytes, "object") {
        Ok(object) => object,
        Err(error) => return assert!(!error.to_string().contains('\n'), "{error}"),
    };
    drop(object.describe().to_string());
    let Ok(mut controller) = Arc::new(object).controller(&Context::new(&Profile::Linux.config(), 1)) else { return };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        controller.on_established(&Moment { now: Time::ZERO, snd_una: 1, snd_nxt: 1, app_limited: false }, None);
        for ms in 1..4 {
            let now = Time::ZERO + Duration::from_millis(ms);
            controller.on_ack(&AckSample { now, acked_segments: 2, snd_una: 2000 * ms, ..AckSample::default() });
        }
    }));
    if let Err(thrown) = outcome {
        assert!(thrown.is::<GaveUp>() && controller.failure().is_some());
    }
});
