//! Sizes of frequently used types, for the test that checks them; not part of the interface.

use crate::access::function::Function;
use crate::access::view::View;
use crate::air::on_air::Transmission;
use crate::environment::MediumEvent;
use crate::exchange::Exchange;
use crate::layout::Node;
use crate::ppdu::Ppdu;
use crate::sender::Sender;
use crate::sender::frame::Frame;

/// Names and sizes in bytes; `B` is the body of packets.
pub fn sizes_in_bytes<B>() -> Vec<(&'static str, usize)> {
    vec![
        ("MediumEvent", size_of::<MediumEvent>()),
        ("Ppdu", size_of::<Ppdu>()),
        ("Transmission", size_of::<Transmission>()),
        ("Function", size_of::<Function>()),
        ("Exchange", size_of::<Exchange>()),
        ("Sender", size_of::<Sender<B>>()),
        ("Frame", size_of::<Frame<B>>()),
        ("Node", size_of::<Node>()),
        ("View", size_of::<View>()),
    ]
}
