//! Objects keep the rules of all controllers.

use std::sync::Arc;

use crate::objects::{cubic, newreno};
use lasthop_bpf::Object;
use lasthop_conformance::cc::{Candidate, RULES};
use lasthop_tcp::Profile;
use lasthop_tcp::congestion_control::{Algorithm, CongestionControl, Context, newreno as built_in_newreno};

/// Checks an object against the promises of a built-in controller.
fn hold(object: Object, promises: &Algorithm) {
    let object = Arc::new(object);
    let build = |context: &Context| -> Box<dyn CongestionControl> {
        object.controller(context).unwrap_or_else(|error| panic!("{error}"))
    };
    let candidate = Candidate { name: object.name().to_string(), ..Candidate::registered(promises, &build) };
    for rule in RULES {
        let first = rule.seeds.start;
        if let Err(failure) = (rule.test)(&candidate, first..first + 2) {
            panic!("{}: {failure}", rule.name);
        }
    }
}

#[test]
fn cubic_keeps_the_rules() {
    hold(cubic(), &Profile::Linux.config().congestion_control);
}

#[test]
fn newreno_keeps_the_rules() {
    let era = built_in_newreno::NewrenoEra::Linux;
    hold(newreno(), &Algorithm::Newreno(built_in_newreno::Params { era, ..Default::default() }));
}
