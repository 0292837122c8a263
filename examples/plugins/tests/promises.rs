//! The conformance rules of lasthop's own controllers and queues, applied to these.

use lasthop_conformance::{cc, queue};
use lasthop_link::QueueDiscipline;
use lasthop_plugins_example::{aimd, head_drop};
use lasthop_tcp::congestion_control::Context;

#[test]
fn controller_keeps_the_promises_of_all() {
    let maker = aimd::maker(aimd::Params::default());
    let build = |context: &Context| maker(context);
    let failures = cc::suite(&cc::Candidate::new("aimd", &build));
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_controller_that_keeps_too_much_is_found() {
    let maker = aimd::maker(aimd::Params { keep: 0.95, ..aimd::Params::default() });
    let build = |context: &Context| maker(context);
    assert!(!cc::suite(&cc::Candidate::new("aimd", &build)).is_empty(), "it promises a half by saying nothing");
}

#[test]
fn queue_keeps_the_promises_of_all() {
    let build = |_| -> Box<dyn QueueDiscipline<u64>> { Box::new(head_drop::HeadDrop::new(&Default::default())) };
    let failures = queue::suite(&queue::Candidate::new("head_drop", &build));
    assert!(failures.is_empty(), "{failures:#?}");
}
