//! Objects against recorded traces of the kernel's own controllers.

use crate::objects::{against, cubic, newreno, trace};
use lasthop_conformance::cc::replay::{Tolerance, replay};

const SEQUENCES: [&str; 5] = ["s1_const40", "s2_sin60", "s3_queue20", "s4_small120", "s5_big100"];

#[test]
fn our_cubic_differs_from_the_kernel_where_the_built_in_one_does() {
    for (kind, hystart) in [("cubic", 0), ("cubic_hystart", 1)] {
        for sequence in SEQUENCES {
            let name = format!("{kind}.{sequence}");
            let mut object = cubic();
            object.with("hystart", hystart).unwrap();
            let ours = against(&name, object);
            let built_in = replay(&trace(&name), &trace(&name).subject().unwrap().0, Tolerance::EXACT);
            println!("   built in: {built_in}");
            assert_eq!((ours.rows, ours.exact), (built_in.rows, built_in.exact), "{name}: {ours:?}");
            assert_eq!(ours.rows, ours.within, "{name}: {ours:?}");
        }
    }
}

#[test]
fn newreno_has_the_windows_of_the_kernel() {
    for sequence in SEQUENCES {
        let name = format!("reno.{sequence}");
        let report = against(&name, newreno());
        assert_eq!(report.rows, report.exact, "{name}: {report:?}");
    }
}
